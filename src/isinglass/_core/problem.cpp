#include "problem.hpp"

#include <cmath>

#include "newton.hpp"

namespace isinglass {
namespace {

constexpr size_t SINGLE_THREAD_CELLS = 26000;  // below, a second thread costs more than it saves (measured)

// KL(x + c r || sigma) of one cell with this margin (the predictor in favour of the observed answer).
double cell_divergence(double margin, double c, double log_c, double log_rest) {
    const double wrong = 1 / (1 + std::exp(margin)), z = log_rest - margin;
    const double softplus = std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z)));
    return c * log_c * wrong + (1 - c * wrong) * softplus;
}

}  // namespace

Problem::Problem(const uint8_t* X, const double* weights, size_t n_rows, int n_features, PenaltyKind kind,
                 const double* penalty, int n_threads)
    : kernels_(kernels()),
      table_(X, weights, n_rows, n_features),
      kind_(kind),
      penalty_(penalty),
      pool_(static_cast<size_t>(table_.stride) * n_features < SINGLE_THREAD_CELLS ? 1 : n_threads),
      eta_(static_cast<size_t>(table_.stride) * n_features),
      wr_(eta_.size()),
      wv_(eta_.size()),
      fields_(n_features),
      sums_(n_features),
      is_isolated_(n_features, 0),
      drift_norm_(n_features),
      drift_shift_(n_features),
      sd_(table_.sd.begin(), table_.sd.end()),
      mean_(table_.mean.begin(), table_.mean.end()) {
    pool_.each(n_features, [this](int s, int) { isolate(s); });
    newton_ = std::make_unique<Newton>(*this);
    mark_null();
}

Problem::~Problem() = default;

void Problem::mark_null() {
    null_objective_ = smooth_loss();
    has_reference_ = false;
}

// The node without edges: its field is the log odds of its column, its predictor is constant.
void Problem::isolate(int s) {
    fields_[s] = std::log(table_.mean[s]) - std::log(table_.rest[s]);
    double* e = eta(s);
    for (int n = 0; n < table_.stride; ++n) e[n] = fields_[s];
    pass(s);
    is_isolated_[s] = 1;
}

double Problem::omega(int s, int t) const {
    switch (kind_) {
        case PenaltyKind::equal:
            return 1.0;
        case PenaltyKind::standardized:
            return table_.sd[s] + table_.sd[t];
        default:
            return penalty_[static_cast<size_t>(s) * table_.n_features + t];
    }
}

std::vector<Pair> Problem::free_pairs() const {
    std::vector<Pair> pairs;
    if (kind_ == PenaltyKind::matrix)
        for (int s = 0; s < n_features(); ++s)
            for (int t = s + 1; t < n_features(); ++t)
                if (omega(s, t) == 0.0) pairs.push_back({s, t});
    return pairs;
}

double Problem::smooth_loss() const {
    double sum = 0;
    for (const NodeSums& node : sums_) sum += node.loss;
    return sum;
}

double Problem::divergence(double c) {
    if (c >= 1.0) return 0.0;
    if (c <= 0.0) return smooth_loss();  // KL(x || sigma) is the loss itself
    const double log_c = std::log(c), log_rest = std::log1p(-c);
    std::vector<double> parts(n_features());
    pool_.each(n_features(), [&](int s, int) {
        if (!is_isolated_[s]) {
            parts[s] = kernels_.divergence(eta(s), table_.column(s), table_.w.data(), table_.stride, c, log_c,
                                           log_rest);
            return;
        }
        // Constant predictor: two kinds of cells.
        parts[s] = table_.mean[s] * cell_divergence(fields_[s], c, log_c, log_rest) +
                   table_.rest[s] * cell_divergence(-fields_[s], c, log_c, log_rest);
    });
    double sum = 0;
    for (double part : parts) sum += part;
    return sum;
}

}  // namespace isinglass
