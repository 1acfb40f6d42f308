#include "lasso/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace isinglass {
namespace {

// KL(x + c r || sigma) of one cell with this margin (the predictor in favour of the observed answer).
double cell_divergence(double margin, double c) {
    const double log_c = std::log(c), log_rest = std::log1p(-c);
    const double wrong = 1 / (1 + std::exp(margin)), z = log_rest - margin;
    const double softplus = std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z)));
    return c * log_c * wrong + (1 - c * wrong) * softplus;
}

// sum_ns w_n KL(x_ns + c r_ns || sigma_ns)
double divergence(Rows& rows, const WorkingSet& set, const Point& point, double c) {
    if (c >= 1.0) return 0.0;
    if (c <= 0.0) return point.loss();  // KL(x || sigma) is the loss itself
    double sum = 0;
    std::vector<int> connected;
    for (int node = 0; node < set.n_nodes; ++node) {
        const int column = set.first_node + node;
        if (!point.is_isolated[node]) {
            connected.push_back(column);
            continue;
        }
        // Constant predictor: two kinds of cells.
        sum += rows.margins().mean[column] * cell_divergence(point.fields[node], c) +
               rows.margins().rest[column] * cell_divergence(-point.fields[node], c);
    }
    return sum + rows.divergence(connected, c);
}

double dual_scale(const WorkingSet& set, double alpha) {
    double c = 1;
    for (size_t e = 0; e < set.n_edges(); ++e) {
        const double limit = alpha * set.omega[e], g = std::abs(set.gradient[e]);
        if (limit > 0 && g > limit) c = std::min(c, limit / g);
    }
    return c;
}

}  // namespace

double Point::loss() const {
    double sum = 0;
    for (const NodeSums& node : sums) sum += node.loss;
    return sum;
}

double penalty_of(const WorkingSet& set, double alpha) {
    double sum = 0;
    for (size_t e = 0; e < set.n_edges(); ++e) sum += set.omega[e] * std::abs(set.theta[e]);
    return alpha * sum;
}

Certificate certify(Rows& rows, const WorkingSet& set, const Point& point, double alpha) {
    const double c = dual_scale(set, alpha);
    double gap = divergence(rows, set, point, c), stray = 0, free_stray = 0, size = 1;
    for (size_t e = 0; e < set.n_edges(); ++e) {
        gap += alpha * set.omega[e] * std::abs(set.theta[e]) + c * set.gradient[e] * set.theta[e];
        if (alpha * set.omega[e] == 0.0) free_stray = std::max(free_stray, std::abs(set.gradient[e]));
        size += 2 * std::abs(set.theta[e]);
    }
    for (int node = 0; node < set.n_nodes; ++node) {
        if (!point.is_isolated[node]) gap += c * point.sums[node].field * point.fields[node];
        stray = std::max(stray, std::abs(point.sums[node].field));
        size += std::abs(point.fields[node]);
    }
    gap = std::max(gap, 0.0);
    // Away from a stationary point of the free edges nothing is feasible.
    if (free_stray > 10 * STATIONARY) gap = std::numeric_limits<double>::quiet_NaN();
    // Fields and free edges are stationary only up to rounding, so that the dual point is feasible only up to
    // rounding, and the gap itself is a sum of rounded terms.
    const double rounding = 1e-15 * size * (1 + point.loss() + penalty_of(set, alpha));
    return {c, gap, gap + 2 * std::max(stray, free_stray) * size + rounding};
}

int64_t count_certified(const WorkingSet& set, const Margins& margins, const Certificate& certificate,
                        double alpha) {
    int64_t count = 0;
    for (size_t e = 0; e < set.n_edges(); ++e) {
        const double sd_s = set.is_shared ? margins.sd[set.s[e]] : 0.0, sd_t = margins.sd[set.t[e]];
        const double radius = std::sqrt(certificate.proof_gap * (sd_s * sd_s + sd_t * sd_t) / 2);
        count += certificate.scale * std::abs(set.gradient[e]) + radius < alpha * set.omega[e];
    }
    return count;
}

}  // namespace isinglass
