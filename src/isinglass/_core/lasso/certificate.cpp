#include "lasso/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rows/dense.hpp"
#include "tuning.hpp"

namespace isinglass {

using namespace tuning::certificate;

namespace {

// KL(x + c r || sigma) of one cell with this margin (the predictor in favor of the observed answer).
double cell_divergence(double margin, double c) {
    const double log_c = std::log(c), log_rest = std::log1p(-c);
    const double wrong = 1 / (1 + std::exp(margin)), z = log_rest - margin;
    const double softplus = std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z)));
    return std::max(c * log_c * wrong + (1 - c * wrong) * softplus, 0.0);
}

// sum_ns w_n KL(x_ns + c r_ns || sigma_ns)
double divergence(Rows& rows, const WorkingSet& set, const Point& point, double c) {
    if (c >= 1.0) return 0.0;
    if (c <= 0.0) return point.loss();  // KL(x || sigma) is the loss itself
    double sum = 0;
    std::vector<int> connected;
    for (int node = 0; node < set.n_nodes(); ++node) {
        const int column = set.first_node() + node;
        if (!point.is_isolated[node] || rows.has_categories()) {
            connected.push_back(column);
            continue;
        }
        // Constant predictor: two kinds of cells.
        sum += rows.margins().mean[column] * cell_divergence(point.fields[node], c) +
               rows.margins().rest[column] * cell_divergence(-point.fields[node], c);
    }
    return sum + std::max(rows.divergence(connected, c), 0.0);
}

// What keeps the residuals of a node from being feasible.
struct Infeasibility {
    double mass = 0;          // sum w |r|
    double share = 0;         // of the heavier side, to be taken off so that both weigh the same
    double moment_error = 0;  // by which balancing, rounding and repair move a pair moment, at most
    double size = 0;          // sum |theta| over its edges with a penalty and no ridge
    double repair = 0;        // norm of the change that makes moments zero where they must be
    double drift = 0;         // error of its predictor, with categories of the difference of two logits
    double slope = 0;         // error of a gradient that is not due to the predictor
};

std::vector<Infeasibility> find_infeasibilities(const Rows& rows, const WorkingSet& set, const Point& point,
                                                double alpha) {
    const double rounding = rows.rounding();
    std::vector<Infeasibility> infeasibilities(set.n_nodes());
    std::vector<double> sizes(set.n_nodes());  // free edges included
    for (size_t e = 0; e < set.n_edges(); ++e) {
        const double size = set.theta_norm(e);
        const bool is_limited = set.ridge() == 0.0 && alpha * set.omega(e) != 0.0;
        for (int node : set.ends(e)) {
            sizes[node] += size;
            if (is_limited) infeasibilities[node].size += size;
        }
    }
    for (int node = 0; node < set.n_nodes(); ++node) {
        const NodeSums& sums = point.sums[node];
        Infeasibility& infeasible = infeasibilities[node];
        infeasible.mass = sums.zeros + sums.ones;
        const double uneven = std::abs(sums.zeros - sums.ones), heavier = std::max(sums.zeros, sums.ones);
        infeasible.share = heavier > 0 ? std::min((uneven + 2 * rounding * heavier) / heavier, 1.0) : 0.0;
        infeasible.moment_error = uneven + 4 * rounding * infeasible.mass;
        infeasible.drift =
            UNIT * (2 * point.travel[node] + (set.degree(node) + 2) * (std::abs(point.fields[node]) + sizes[node]));
        if (!rows.has_categories()) continue;
        // Returned are fields for uncentered scores, and blocks in the unit of these scores: a sum over the neighbors
        // and a few operations more.
        const double size = sums.largest_field + sizes[node];
        infeasible.drift = 2 * UNIT * (2 * point.travel[node] + (2 * set.degree(node) + 16) * size);
        infeasible.share = std::min(std::max(infeasible.share, sums.share + 2 * rounding), 1.0);
        infeasible.slope = sums.largest_slope + 4 * rounding * infeasible.mass;
    }
    return infeasibilities;
}

// A lower bound of the smallest eigenvalue of a matrix with unit diagonal: the trace of the inverse is at least 1 over
// it. Not positive: nothing is known. error: of its entries.
double smallest_eigenvalue(std::vector<double> A, int d, double error) {
    factorize(A, d);
    double trace = 0;
    for (int k = 0; k < d; ++k) {
        std::vector<double> column(d);
        column[k] = 1;
        solve_lower(A, d, column.data());
        for (double entry : column) trace += entry * entry;
    }
    return 0.5 / trace - d * error - 8.0 * d * d * UNIT;
}

// The norm of a change v zeta of a node's residuals, sum w v zeta^2 <= norm^2, that takes `missing` away from the
// moments of some of its edges and nothing from its field; infinite if none is known to exist.
double repair_norm(const std::vector<double>& gram, const std::vector<double>& missing, double share, double rounding) {
    const int d = static_cast<int>(missing.size()) + 1;
    std::vector<double> unit(gram), scale(d);
    double wanting = 0, longest = 0;
    for (int i = 0; i < d; ++i) {
        const double diagonal = gram[static_cast<size_t>(i) * d + i];
        if (!(diagonal > 0)) return INFINITE;
        scale[i] = 1 / std::sqrt(diagonal);
        longest += 1 / diagonal;
        // Not missing^2 / diagonal: squares of weights below 1e-160 are zero.
        if (i + 1 < d) wanting += (missing[i] * scale[i]) * (missing[i] * scale[i]);
    }
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j) unit[static_cast<size_t>(i) * d + j] *= scale[i] * scale[j];
    const double smallest = smallest_eigenvalue(std::move(unit), d, rounding);
    // Up to |zeta| = 1/4 the residuals stay feasible and the divergence at most doubles.
    if (!(smallest > 0) || share > 0.5 || !(std::sqrt(longest * wanting) <= 0.25 * smallest)) return INFINITE;
    return std::sqrt(wanting / smallest);
}

double moment_error_of(const WorkingSet& set, const std::vector<Infeasibility>& infeasibilities, size_t e) {
    double error = 0;
    for (int node : set.ends(e)) error += infeasibilities[node].moment_error;
    return error;
}

// Edges whose moment is made exactly zero: free ones, or also those whose penalty is so small that rounding alone would
// ask for a scale far below 1.
std::vector<char> find_zeroed(const WorkingSet& set, const std::vector<Infeasibility>& infeasibilities, double alpha,
                              bool with_negligible, Chunks& chunks) {
    std::vector<char> zeroed(set.n_edges());
    chunks.each_entry(set.n_edges(), [&](size_t e) {
        const double limit = alpha * set.omega(e);
        zeroed[e] = set.ridge() == 0.0 &&
                    (limit == 0.0 ||
                     (with_negligible && limit < NEGLIGIBLE_PENALTY * moment_error_of(set, infeasibilities, e)));
    });
    return zeroed;
}

// Makes the moments of these edges zero; false if that cannot be shown to be possible.
bool repair(Rows& rows, const WorkingSet& set, const Point& point, const std::vector<char>& zeroed,
            std::vector<Infeasibility>& infeasibilities) {
    const double rounding = rows.rounding();
    for (int node : set.nodes()) {
        std::vector<int> columns;
        std::vector<double> missing;
        for (int slot = set.first_slot(node); slot < set.first_slot(node) + set.degree(node); ++slot) {
            const int e = set.edge_of(slot);
            if (!zeroed[e]) continue;
            const double reach = set.gradient_norm(e) + moment_error_of(set, infeasibilities, e);
            columns.push_back(set.column_of(slot));
            missing.push_back(set.is_shared() ? reach / 2 : reach);
        }
        if (columns.empty()) continue;
        const NeighborColumns neighbors{columns.data(), static_cast<int>(columns.size())};
        const std::vector<double> gram = rows.gram(set.first_node() + node, neighbors);
        if (gram.empty()) return false;
        infeasibilities[node].repair = repair_norm(gram, missing, infeasibilities[node].share, rounding);
        if (!std::isfinite(infeasibilities[node].repair)) return false;
    }
    for (int node : set.nodes())
        infeasibilities[node].moment_error +=
            infeasibilities[node].repair * std::sqrt(point.sums[node].curve) * (1 + rounding);
    return true;
}

// What a node adds to the gap: its residuals are not quite those of the point.
double node_cost(const Infeasibility& infeasible, const NodeSums& sums, double c, double rounding) {
    double cost = infeasible.share * sums.loss + c * infeasible.moment_error * infeasible.size;
    const double kept = c * (1 - infeasible.share);
    if (infeasible.repair > 0)
        cost += c * infeasible.repair * (0.81 * std::sqrt(1 - kept) - 0.5 * std::log(kept) + 2 * infeasible.repair);
    // Of the cells: rounding of the divergence, and of the predictors behind it.
    cost += (1 - c) * infeasible.mass * (32 * UNIT + infeasible.drift) +
            2 * sums.curve * infeasible.drift * infeasible.drift;
    if (infeasible.slope > 0)
        cost += 2 * infeasible.mass * infeasible.drift * infeasible.drift +
                (1 - c) * infeasible.mass * (rounding + 256 * UNIT);
    return cost;
}

// What an edge with a ridge adds to the gap: the square of what is missing to optimality, over twice the ridge, because
// the penalty with it is strongly convex.
double ridge_cost(const WorkingSet& set, size_t e, double alpha, double moment_error) {
    const double missing = set.violation(e, alpha), limit = alpha * set.omega(e);
    const double roundings = (8 + static_cast<double>(set.size(e))) * UNIT;
    const double reach = missing + moment_error + roundings * (missing + limit + set.ridge() * set.theta_norm(e));
    return reach * reach / (2 * set.ridge()) * (1 + roundings);
}

// What an edge adds to the gap.
double edge_cost(const Rows& rows, const WorkingSet& set, size_t e, double alpha, double c, bool is_zeroed,
                 const std::vector<Infeasibility>& infeasibilities) {
    if (set.ridge() > 0.0) return ridge_cost(set, e, alpha, moment_error_of(set, infeasibilities, e));
    const double limit = alpha * set.omega(e), size = set.theta_norm(e);
    if (size == 0.0) return 0.0;
    double moment = 0;
    for (size_t i = set.first(e), end = i + set.size(e); i < end && !is_zeroed; ++i)
        moment += c * set.gradient()[i] * set.theta()[i];
    const double roundings = rows.has_categories() ? 16.0 + 4.0 * static_cast<double>(set.size(e)) : 8.0;
    return std::max(limit * size + moment, 0.0) + roundings * UNIT * limit * size;
}

// The bound that follows when the moments of these edges are made zero.
Certificate prove(Rows& rows, const WorkingSet& set, const Point& point, double alpha, double top,
                  const std::vector<char>& zeroed, std::vector<Infeasibility> infeasibilities, Chunks& chunks) {
    const double rounding = rows.rounding();
    // The residuals 0 are feasible, so that the gap is at most F.
    const double value = (point.loss() + penalty_of(set, alpha, chunks)) * (1 + 2 * rounding);
    const bool is_feasible = repair(rows, set, point, zeroed, infeasibilities);
    double moment_error = 0, gradient_error = 0;
    for (const Infeasibility& each : infeasibilities) {
        moment_error = std::max(moment_error, each.moment_error);
        gradient_error = std::max(gradient_error, each.mass * std::min(each.drift, 1.0) + each.slope);
    }
    if (set.is_shared()) gradient_error *= 2;
    if (!is_feasible)
        return {0, value, moment_error, gradient_error};  // nothing is proved but that the gap is at most F
    const bool has_ridge = set.ridge() > 0.0;
    const std::vector<double>& scales = chunks.each(set.n_edges(), [&](size_t first, size_t last) {
        double least = 1;
        for (size_t e = first; e < last; ++e) {
            const double limit = alpha * set.omega(e) * (1 - (3 + static_cast<double>(set.size(e))) * UNIT);
            const double reach = set.gradient_norm(e) + moment_error_of(set, infeasibilities, e);
            if (!std::isfinite(reach)) return 0.0;  // nothing is known of this gradient
            if (!zeroed[e] && !has_ridge && reach > limit) least = std::min(least, limit / reach);
        }
        return least;
    });
    double c = scales.empty() ? 1.0 : *std::min_element(scales.begin(), scales.end());
    const double n_edges =
        chunks.sum_entries(set.n_edges(), [&](size_t e) { return set.theta_norm(e) != 0.0 || zeroed[e] ? 1.0 : 0.0; });
    const bool is_plain = !has_ridge && n_edges == 0.0;  // no edge, no repair, no ridge
    // Balanced residuals of constant predictors are no larger than those of the means.
    if (is_plain && alpha > 0) c = std::max(c, alpha < top ? alpha / top * (1 - 4 * UNIT) : 1.0);
    const double spread = divergence(rows, set, point, c) * (1 + rounding);
    double gap = chunks.sum(set.n_edges(), [&](size_t first, size_t last) {
        double sum = first == 0 ? spread : 0.0;
        for (size_t e = first; e < last; ++e) sum += edge_cost(rows, set, e, alpha, c, zeroed[e], infeasibilities);
        return sum;
    });
    if (set.n_edges() == 0) gap = spread;
    for (int node = 0; node < set.n_nodes(); ++node)
        gap += node_cost(infeasibilities[node], point.sums[node], c, rounding);
    gap *= 1 + (static_cast<double>(set.n_edges()) + set.n_nodes() + 16) * UNIT;
    return {c, gap < value ? gap : value, moment_error, gradient_error};
}

}  // namespace

double Point::loss() const {
    double sum = 0;
    for (const NodeSums& node : sums) sum += node.loss;
    return sum;
}

double penalty_of(const WorkingSet& set, double alpha, Chunks& chunks) {
    const size_t n = set.n_edges();
    const double sum = chunks.sum_entries(n, [&](size_t e) { return set.omega(e) * set.theta_norm(e); });
    if (set.ridge() == 0.0) return alpha * sum;
    return alpha * sum +
           chunks.sum_entries(n, [&](size_t e) { return set.ridge() / 2 * set.theta_norm(e) * set.theta_norm(e); });
}

Certificate certify(Rows& rows, const WorkingSet& set, const Point& point, double alpha, double top, Chunks& chunks) {
    const std::vector<Infeasibility> infeasibilities = find_infeasibilities(rows, set, point, alpha);
    const std::vector<char> free = find_zeroed(set, infeasibilities, alpha, false, chunks),
                            negligible = find_zeroed(set, infeasibilities, alpha, true, chunks);
    const Certificate plain = prove(rows, set, point, alpha, top, free, infeasibilities, chunks);
    if (negligible == free) return plain;
    const Certificate other = prove(rows, set, point, alpha, top, negligible, infeasibilities, chunks);
    return other.gap < plain.gap ? other : plain;
}

// With a constant predictor, the rows with x_t = 1 hold a share of the sum over all rows, up to the covariance; that
// sum has a rounding error, and the field another.
double covariance_error(const Rows& rows, const NodeSums& node, int column, double rounding) {
    const double share = rows.has_categories() ? 1.0 : rows.margins().mean[column];
    return share * (std::abs(node.zeros - node.ones) + 2 * rounding * (node.zeros + node.ones));
}

bool is_zero(const Certificate& certificate, double gradient, const std::pair<double, double>& sd, double limit) {
    const double radius = std::sqrt(certificate.gap * (sd.first * sd.first + sd.second * sd.second) / 2) * (1 + 1e-9);
    return certificate.scale * gradient + radius < limit;
}

int64_t count_certified(const WorkingSet& set, const Margins& margins, const Certificate& certificate, double alpha,
                        double slack_share) {
    int64_t count = 0;
    const double moment_error = slack_share > 0 ? 0 : certificate.moment_error;
    for (size_t e = 0; e < set.n_edges(); ++e)
        count += is_zero(certificate, set.gradient_norm(e) + 2 * moment_error,
                         {set.is_shared() ? margins.sd[set.s(e)] : 0.0, margins.sd[set.t(e)]},
                         alpha * set.omega(e) * (1 + slack_share));
    return count;
}

}  // namespace isinglass
