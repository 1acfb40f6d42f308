#include "nodewise.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lasso.hpp"
#include "pool.hpp"

namespace isinglass {
namespace {

constexpr double INNER = 0.02;  // the model is solved to this share of the current KKT residual
constexpr double CONTRACTION =
    0.05;  // the matrix is kept while a step shrinks the residual at least this much
constexpr double SUFFICIENT = 1e-4;   // share of the predicted decrease a step must bring
constexpr double ROUNDING = 1e-14;    // relative error of F that the line search forgives
constexpr int MAX_HALVINGS = 12;      // then the matrix is majorised: sigma (1 - sigma) <= 1/4
constexpr double STATIONARY = 1e-13;  // |g| of the intercept for a feasible dual point
constexpr int MAX_POLISH = 50;
constexpr double SMALLEST_CURVE = 1e-30;  // its inverse still fits single precision
constexpr double STEEPEST = 0.7;  // ratio of consecutive alphas down to which the strong rule is of use
constexpr double LOOSE = 0.1;     // alphas in between are solved to this share of their value
constexpr double SLACK = 1.5e-7;  // the reference residuals are kept in single precision, sum |w r| <= 1
constexpr double REFRESH = 0.3;   // share of the columns from which a new reference is no dearer
constexpr double SINGLE_THREAD_WORK = 1e6;  // rows x columns x nodes x alphas below which threads do not pay
constexpr int MIN_PATH = 5;                 // glmnet's mnlam
constexpr double MAX_DEVIANCE_RATIO = 0.999, MIN_DEVIANCE_GAIN = 1e-5;  // glmnet's devmax and fdev

constexpr double INFINITE = std::numeric_limits<double>::infinity();
constexpr double NOT_A_NUMBER = std::numeric_limits<double>::quiet_NaN();

double strong_threshold(double alpha, double previous) {
    return std::max(2 * alpha - previous, 0.0);
}

// A stop on the way down: an alpha of the list (k >= 0), or one in between so that no ratio is below
// STEEPEST.
struct Stop {
    double alpha;
    int k;
};

std::vector<Stop> find_stops(double top, const double* alphas, int n_alphas, bool in_between) {
    std::vector<Stop> stops;
    double previous = top;
    for (int k = 0; k < n_alphas; ++k) {
        if (alphas[k] < previous) {
            const double ratio = alphas[k] / previous;
            const int steps = in_between && ratio > 0
                                  ? static_cast<int>(std::ceil(std::log(ratio) / std::log(STEEPEST)))
                                  : 1;
            for (int i = 1; i < steps; ++i)
                stops.push_back({previous * std::pow(ratio, static_cast<double>(i) / steps), -1});
            previous = alphas[k];
        }
        stops.push_back({alphas[k], k});
    }
    return stops;
}

// Where glmnet ends a binomial path: hardly any deviance left, or hardly any gained.
bool is_flat(const std::vector<double>& losses, double null_loss) {
    const size_t m = losses.size();
    if (m < MIN_PATH) return false;
    const double explained = 1 - losses[m - 1] / null_loss,
                 gain = (losses[m - 2] - losses[m - 1]) / null_loss;
    return explained > MAX_DEVIANCE_RATIO || gain < MIN_DEVIANCE_GAIN;
}

}  // namespace

Nodewise::Nodewise(const uint8_t* X, const double* weights, size_t n_rows, int n_features, int n_threads)
    : kernels_(kernels()), table_(X, weights, n_rows, n_features), n_threads_(n_threads) {}

std::vector<double> Nodewise::alpha_max(const double* omega) const {
    const double work = static_cast<double>(table_.stride) * n_features() * n_features();
    Pool pool(work < SINGLE_THREAD_WORK ? 1 : n_threads_);
    std::vector<NodeFit> fits;
    for (int worker = 0; worker < pool.size(); ++worker) fits.emplace_back(table_, kernels_, omega);
    std::vector<double> top(n_features());
    pool.each(n_features(), [&](int node, int worker) { top[node] = fits[worker].start(node); });
    return top;
}

std::vector<NodePath> Nodewise::solve(const std::vector<int>& nodes, const double* alphas, int n_alphas,
                                      const double* omega, const NodeOptions& options) const {
    const double work = static_cast<double>(table_.stride) * n_features() * nodes.size() * n_alphas;
    Pool pool(work < SINGLE_THREAD_WORK ? 1 : n_threads_);
    std::vector<NodeFit> fits;
    for (int worker = 0; worker < pool.size(); ++worker) fits.emplace_back(table_, kernels_, omega);
    std::vector<NodePath> paths(nodes.size());
    pool.each(static_cast<int>(nodes.size()), [&](int k, int worker) {
        paths[k] = fits[worker].run(nodes[k], alphas + static_cast<size_t>(k) * n_alphas, n_alphas, options);
    });
    return paths;
}

NodeFit::NodeFit(const Table& table, const Kernels& kernels, const double* omega)
    : table_(table),
      kernels_(kernels),
      omega_(omega),
      stride_(table.stride),
      eta_(stride_),
      wr_(stride_),
      wv_(stride_),
      is_working_(table.n_features),
      model_(kernels),
      reference_(table.n_features),
      reference_wr_(stride_) {}

double NodeFit::start(int node) {
    node_ = node;
    // Ones and zeros are summed apart: a mean that rounds to 1 would have an infinite logit.
    double ones = 0, zeros = 0;
    for (int n = 0; n < table_.n_distinct; ++n) (table_.column(node)[n] ? ones : zeros) += table_.w[n];
    field_ = std::log(ones / zeros);
    columns_.clear(), bytes_.clear(), theta_.clear(), gradient_.clear(), found_.clear(), strength_.clear();
    std::fill(is_working_.begin(), is_working_.end(), 0);
    is_working_[node] = 1;  // never a predictor of itself
    is_stale_ = true;
    refresh_predictor();
    null_loss_ = sums_.loss;
    take_reference();
    double top = 0;
    for (int t = 0; t < table_.n_features; ++t)
        if (t != node) top = std::max(top, std::abs(reference_[t]) / omega_[t]);
    return top;
}

NodePath NodeFit::run(int node, const double* alphas, int n_alphas, const NodeOptions& options) {
    NodePath path;
    const double top = start(node);
    const std::vector<Stop> stops = find_stops(top, alphas, n_alphas, options.screening);
    const double first = stops.empty() ? top : std::min(stops.front().alpha, top);
    if (options.screening)
        find_above(strong_threshold(first, top));
    else
        adopt(survivors(-1.0));
    double previous = top;
    for (size_t i = 0; i < stops.size(); ++i) {
        const double alpha = stops[i].alpha, reached = std::min(alpha, top);
        const double next = i + 1 < stops.size() ? std::min(stops[i + 1].alpha, top) : reached;
        if (options.screening && alpha < top) adopt(survivors(strong_threshold(alpha, previous)));
        if (stops[i].k < 0) {
            newton(alpha, LOOSE * alpha, INFINITE, options.max_iter);
            find_above(strong_threshold(next, alpha));
        } else {
            record(alpha, solve(alpha, strong_threshold(next, reached), options), path);
            if (options.stops_early && is_flat(path.losses, null_loss_)) break;
        }
        previous = reached;
    }
    return path;
}

// The optimum over all columns: Newton on the working set until no column outside violates its condition.
// Leaves the columns above `threshold` or alpha in found_, for the next alpha.
NodeFit::Certificate NodeFit::solve(double alpha, double threshold, const NodeOptions& options) {
    const double kkt_tol = alpha == 0.0 ? std::min(options.tol, 2 * STATIONARY) : options.tol;
    const double gap_tol = options.tol * std::max(null_loss_, 1e-12);
    Certificate total;
    for (;;) {
        const Certificate found = newton(alpha, kkt_tol, gap_tol, options.max_iter - total.n_iter);
        total = {found.kkt, found.gap, total.n_iter + found.n_iter};
        if (!options.screening) return total;
        find_above(std::min(alpha, threshold));
        if (!add_violators(alpha)) return total;  // with no steps left, the next round only certifies
    }
}

NodeFit::Certificate NodeFit::newton(double alpha, double kkt_tol, double gap_tol, int max_iter) {
    limit_.resize(columns_.size());
    for (size_t j = 0; j < columns_.size(); ++j) limit_[j] = alpha * omega_[columns_[j]];
    Certificate now{kkt_residual(alpha), NOT_A_NUMBER, 0};
    for (;; ++now.n_iter) {
        if (now.kkt <= kkt_tol / 2 || now.n_iter >= max_iter) {
            if (std::isfinite(gap_tol)) {
                polish_field();
                now.kkt = kkt_residual(alpha);
                now.gap = duality_gap(alpha);
            }
            const bool reached = now.kkt <= kkt_tol / 2 && !(now.gap > gap_tol / 2);
            if (reached || now.n_iter >= max_iter) break;
        }
        if (is_stale_) assemble(false);
        const bool accepted = step(alpha, INNER * now.kkt);
        const double next = kkt_residual(alpha);
        is_stale_ = !accepted || is_majorised_ || next > CONTRACTION * now.kkt;
        if (!accepted) {
            if (is_majorised_) break;  // rounding: no step decreases F any more
            assemble(true);
            is_stale_ = false;
        }
        now.kkt = next;
    }
    return now;
}

// Makes these columns (increasing) the working set; every coefficient that is not zero must be among them.
void NodeFit::adopt(const std::vector<int>& columns) {
    if (columns == columns_) return;
    std::vector<double> theta(columns.size(), 0.0);
    for (size_t i = 0, j = 0; i < columns.size(); ++i) {
        while (j < columns_.size() && columns_[j] < columns[i]) ++j;
        if (j < columns_.size() && columns_[j] == columns[i]) theta[i] = theta_[j];
    }
    for (int t : columns_) is_working_[t] = 0;
    columns_ = columns;
    theta_ = std::move(theta);
    bytes_.clear();
    for (int t : columns_) {
        is_working_[t] = 1;
        bytes_.push_back(table_.column(t));
    }
    is_stale_ = true;
    refresh_predictor();
}

// The support and the columns whose gradient reaches the threshold, as far as they are known.
std::vector<int> NodeFit::survivors(double threshold) const {
    std::vector<int> columns;
    if (threshold < 0) {
        for (int t = 0; t < table_.n_features; ++t)
            if (t != node_) columns.push_back(t);
        return columns;
    }
    for (size_t j = 0; j < columns_.size(); ++j)
        if (theta_[j] != 0.0 || std::abs(gradient_[j]) >= threshold * omega_[columns_[j]])
            columns.push_back(columns_[j]);
    for (size_t i = 0; i < found_.size(); ++i)
        if (strength_[i] >= threshold) columns.push_back(found_[i]);
    std::sort(columns.begin(), columns.end());
    return columns;
}

bool NodeFit::add_violators(double alpha) {
    std::vector<int> columns;
    for (size_t i = 0; i < found_.size(); ++i)
        if (strength_[i] > alpha) columns.push_back(found_[i]);
    if (columns.empty()) return false;
    columns.insert(columns.end(), columns_.begin(), columns_.end());
    std::sort(columns.begin(), columns.end());
    adopt(columns);
    return true;
}

void NodeFit::take_reference() {
    chosen_bytes_.clear();
    for (int t = 0; t < table_.n_features; ++t) chosen_bytes_.push_back(table_.column(t));
    kernels_.dots(wr_.data(), chosen_bytes_.data(), table_.n_features, stride_, reference_.data());
    kernels_.narrow(wr_.data(), stride_, reference_wr_.data());
}

// Columns outside the working set with |g| >= threshold omega, in double precision. Since the reference, g_t
// has moved by at most norm sd_t + |shift| mean_t (Cauchy-Schwarz), norm = ||r - r_ref||_w: most columns need
// no new product.
void NodeFit::find_above(double threshold) {
    double square, shift;
    kernels_.distance(wr_.data(), reference_wr_.data(), table_.inverse_w.data(), stride_, &square, &shift);
    const double norm = std::sqrt(square);
    std::vector<int> candidates;
    for (int t = 0; t < table_.n_features; ++t)
        if (!is_working_[t] &&
            std::abs(reference_[t]) + norm * table_.sd[t] + std::abs(shift) * table_.mean[t] + SLACK >=
                threshold * omega_[t])
            candidates.push_back(t);
    if (static_cast<double>(candidates.size()) > REFRESH * table_.n_features) {
        take_reference();
        chosen_values_.clear();
        for (int t : candidates) chosen_values_.push_back(reference_[t]);
    } else {
        chosen_bytes_.clear();
        for (int t : candidates) chosen_bytes_.push_back(table_.column(t));
        chosen_values_.resize(candidates.size());
        kernels_.dots(wr_.data(), chosen_bytes_.data(), static_cast<int>(candidates.size()), stride_,
                      chosen_values_.data());
    }
    found_.clear();
    strength_.clear();
    for (size_t i = 0; i < candidates.size(); ++i) {
        const double strength = std::abs(chosen_values_[i]) / omega_[candidates[i]];
        if (strength < threshold) continue;
        found_.push_back(candidates[i]);
        strength_.push_back(strength);
    }
}

void NodeFit::pass() {
    sums_ = kernels_.node_pass(eta_.data(), table_.column(node_), table_.w.data(), stride_, table_.n_equal,
                               wr_.data(), wv_.data());
}

void NodeFit::evaluate() {
    gradient_.resize(bytes_.size());
    kernels_.dots(wr_.data(), bytes_.data(), static_cast<int>(bytes_.size()), stride_, gradient_.data());
}

// eta afresh from the parameters, so that rounding does not pile up along a path.
void NodeFit::refresh_predictor() {
    std::fill(eta_.data(), eta_.data() + stride_, field_);
    chosen_bytes_.clear();
    chosen_values_.clear();
    for (size_t j = 0; j < theta_.size(); ++j)
        if (theta_[j] != 0.0) {
            chosen_bytes_.push_back(bytes_[j]);
            chosen_values_.push_back(theta_[j]);
        }
    kernels_.add_columns(eta_.data(), 0.0, chosen_bytes_.data(), chosen_values_.data(),
                         static_cast<int>(chosen_values_.size()), stride_);
    pass();
    evaluate();
}

double NodeFit::kkt_residual(double alpha) const {
    double residual = std::abs(sums_.field);
    for (size_t j = 0; j < columns_.size(); ++j) {
        const double limit = alpha * omega_[columns_[j]], g = gradient_[j];
        residual = std::max(residual, kkt_violation(theta_[j], g, limit));
    }
    return residual;
}

double NodeFit::penalty(double alpha) const {
    double sum = 0;
    for (size_t j = 0; j < columns_.size(); ++j) sum += omega_[columns_[j]] * std::abs(theta_[j]);
    return alpha * sum;
}

void NodeFit::assemble(bool majorise) {
    if (majorise && quarter_w_.size() == 0) {
        quarter_w_.resize(stride_);
        for (int n = 0; n < stride_; ++n) quarter_w_[n] = static_cast<float>(table_.w[n] / 4);
    }
    is_majorised_ = majorise;
    curve_ = majorise ? 0.25 : std::max(sums_.curve, SMALLEST_CURVE);
    model_.assemble(majorise ? quarter_w_.data() : wv_.data(), bytes_, stride_);
}

// One Newton step with line search; false if no length decreases F enough (the point is then unchanged).
bool NodeFit::step(double alpha, double inner_tolerance) {
    const double before = sums_.loss + penalty(alpha);
    const size_t size = columns_.size();
    model_.gradient.resize(size);
    for (size_t j = 0; j < size; ++j) model_.gradient[j] = gradient_[j] - model_.b[j] * sums_.field / curve_;
    model_.minimise(theta_, limit_, inner_tolerance);
    double field_step = sums_.field;
    for (size_t j = 0; j < size; ++j) field_step += model_.b[j] * model_.d[j];
    field_step /= -curve_;
    const double predicted = predicted_change(field_step);
    const std::vector<double> start = theta_;
    double length = 1.0, moved = 0.0;
    for (int halving = 0; halving <= MAX_HALVINGS; ++halving, length /= 2) {
        shift(length - moved, field_step);
        moved = length;
        for (size_t j = 0; j < size; ++j) theta_[j] = start[j] + length * model_.d[j];
        const double after = sums_.loss + penalty(alpha);
        if (after <= before + SUFFICIENT * length * std::min(predicted, 0.0) + ROUNDING * before) {
            evaluate();
            return true;
        }
    }
    shift(-moved, field_step);
    theta_ = start;
    evaluate();
    return false;
}

double NodeFit::predicted_change(double field_step) const {
    double change = sums_.field * field_step;
    for (size_t j = 0; j < columns_.size(); ++j)
        change += gradient_[j] * model_.d[j] +
                  limit_[j] * (std::abs(theta_[j] + model_.d[j]) - std::abs(theta_[j]));
    return change;
}

// Moves intercept and predictor along the step; theta is the caller's.
void NodeFit::shift(double length, double field_step) {
    chosen_bytes_.clear();
    chosen_values_.clear();
    for (size_t j = 0; j < columns_.size(); ++j)
        if (model_.d[j] != 0.0) {
            chosen_bytes_.push_back(bytes_[j]);
            chosen_values_.push_back(length * model_.d[j]);
        }
    field_ += length * field_step;
    kernels_.add_columns(eta_.data(), length * field_step, chosen_bytes_.data(), chosen_values_.data(),
                         static_cast<int>(chosen_values_.size()), stride_);
    pass();
}

// The intercept to its minimum with the rest fixed, where the residuals are feasible in the dual: Newton in
// one dimension, kept inside the bracket that the sign of the derivative gives.
void NodeFit::polish_field() {
    double low = -INFINITE, high = INFINITE;
    bool moved = false;
    for (int round = 0; round < MAX_POLISH && std::abs(sums_.field) > STATIONARY; ++round) {
        (sums_.field > 0 ? high : low) = field_;
        double next = field_ - std::clamp(sums_.field / std::max(sums_.curve, SMALLEST_CURVE), -4.0, 4.0);
        if (!(next > low && next < high)) next = (low + high) / 2;
        const double change = next - field_;
        if (!std::isfinite(change) || change == 0.0) break;
        field_ = next;
        kernels_.add_columns(eta_.data(), change, nullptr, nullptr, 0, stride_);
        pass();
        moved = true;
    }
    if (moved) evaluate();
}

// Fenchel-Young, as in docs/math.md with one node. For alpha = 0 the residuals are feasible at a stationary
// point alone, and elsewhere no bound is known.
double NodeFit::duality_gap(double alpha) {
    if (alpha == 0.0 && kkt_residual(0.0) > STATIONARY) return NOT_A_NUMBER;
    double c = 1, gap = 0;
    for (size_t j = 0; j < columns_.size(); ++j)
        if (alpha > 0.0 && std::abs(gradient_[j]) > limit_[j])
            c = std::min(c, limit_[j] / std::abs(gradient_[j]));
    if (c < 1)
        gap = kernels_.divergence(eta_.data(), table_.column(node_), table_.w.data(), stride_, c, std::log(c),
                                  std::log1p(-c));
    for (size_t j = 0; j < columns_.size(); ++j)
        gap += limit_[j] * std::abs(theta_[j]) + c * gradient_[j] * theta_[j];
    return std::max(gap + c * sums_.field * field_, 0.0);
}

void NodeFit::record(double alpha, const Certificate& certificate, NodePath& path) const {
    path.fields.push_back(field_);
    path.losses.push_back(sums_.loss);
    path.objectives.push_back(sums_.loss + penalty(alpha));
    path.kkt_residuals.push_back(certificate.kkt);
    path.duality_gaps.push_back(certificate.gap);
    path.n_iter.push_back(certificate.n_iter);
    path.n_working.push_back(static_cast<int>(columns_.size()));
    int count = 0;
    for (size_t j = 0; j < columns_.size(); ++j) {
        if (theta_[j] == 0.0) continue;
        path.index.push_back(columns_[j]);
        path.value.push_back(theta_[j]);
        ++count;
    }
    path.n_coefficients.push_back(count);
    double largest = 0;
    if (alpha == 0.0)
        for (int n = 0; n < table_.n_distinct; ++n) largest = std::max(largest, std::abs(eta_[n]));
    path.largest_etas.push_back(largest);
}

}  // namespace isinglass
