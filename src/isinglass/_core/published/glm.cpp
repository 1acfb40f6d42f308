#include "published/glm.hpp"

#include <algorithm>
#include <cmath>

#include "rows/pool.hpp"

namespace isinglass {

namespace {

// use(n, row, value) with the stored entries of a column: how many, and the row and the value of the i-th.
template <class Use>
auto with_entries(const Columns& x, int j, Use use) {
    const int64_t first = x.start ? x.start[j] : static_cast<int64_t>(j) * x.n_rows;
    const auto value = [v = x.values + first](int64_t i) { return v[i]; };
    if (!x.start) return use(x.n_rows, [](int64_t i) { return i; }, value);
    const int64_t count = x.start[j + 1] - first;
    const auto row = [rows = x.rows + first](int64_t i) { return rows[i]; };
    if (x.values) return use(count, row, value);
    return use(count, row, [](int64_t) { return 1.0; });
}

// Sums over the stored entries of a column, term(i, value); four partial sums hide the latency of the additions.
template <class Term>
double accumulate(const Columns& x, int j, Term term) {
    return with_entries(x, j, [&](int64_t count, auto row, auto value) {
        double sum[4] = {0, 0, 0, 0};
        int64_t i = 0;
        for (; i + 4 <= count; i += 4)
            for (int k = 0; k < 4; ++k) sum[k] += term(row(i + k), value(i + k));
        for (; i < count; ++i) sum[0] += term(row(i), value(i));
        return (sum[0] + sum[1]) + (sum[2] + sum[3]);
    });
}

template <class Action>
void visit(const Columns& x, int j, Action action) {
    with_entries(x, j, [&](int64_t count, auto row, auto value) {
        for (int64_t i = 0; i < count; ++i) action(row(i), value(i));
    });
}

double softplus(double eta) {
    return std::max(eta, 0.0) + std::log1p(std::exp(-std::abs(eta)));
}

double entropy_term(double y) {
    return y > 0.0 ? y * std::log(y) : 0.0;
}

// Looks for an interrupt before some of the columns or rows: before each it would take time.
void poll_columns(size_t k) {
    if (k % 16 == 0) Poll::here();
}

void poll_rows(size_t i) {
    if (i % 65536 == 0) Poll::here();
}

}  // namespace

double Columns::dot(int j, const double* a) const {
    return accumulate(*this, j, [a](int64_t i, double value) { return value * a[i]; });
}

double Columns::square(int j, const double* a) const {
    return accumulate(*this, j, [a](int64_t i, double value) { return value * value * a[i]; });
}

void Columns::add(int j, double c, double* out) const {
    visit(*this, j, [c, out](int64_t i, double value) { out[i] += c * value; });
}

void Columns::add_weighted(int j, double c, const double* v, double* out) const {
    visit(*this, j, [c, v, out](int64_t i, double value) { out[i] += c * value * v[i]; });
}

Lognet::Lognet(Columns columns, const double* y, const double* w, const double* factor, const double* mean,
               const double* scale, LognetSettings settings)
    : x_(columns), y_(y), w_(w), factor_(factor), mean_(mean), scale_(scale), settings_(settings) {
    const size_t n = x_.n_rows, q = x_.n_columns;
    b_.assign(q, 0.0), previous_b_.assign(q, 0.0), curvature_.assign(q, 0.0), first_.assign(q, 0.0);
    reach_.assign(q, 0.0), is_strong_.assign(q, 0), is_active_.assign(q, 0);
    eta_.assign(n, 0.0), v_.assign(n, 0.0), r_.assign(n, 0.0);
    double positive = 0, entropy = 0;
    for (size_t i = 0; i < n; ++i) {
        positive += w_[i] * y_[i];
        entropy += w_[i] * (entropy_term(y_[i]) + entropy_term(1.0 - y_[i]));
    }
    if (settings_.intercept) b0_ = std::log(positive / (1.0 - positive));
    // Half the null deviance per unit of weight, that of the intercept alone or of probabilities 1/2.
    limit_ = settings_.threshold * (softplus(b0_) - (settings_.intercept ? positive * b0_ : 0.0) + entropy);
    refresh_model();
    for (size_t j = 0; j < q; ++j) {
        poll_columns(j);
        if (scale_[j] > 0.0) reach_[j] = std::abs(gradient(static_cast<int>(j)));
    }
}

LognetState Lognet::solve(double lambda) {
    const int64_t before = n_passes_;
    int n_outer = 0;
    // The sequential strong rule. The first lambda has no predecessor, and 0 is put in its place, as glmnet does: the
    // rule then keeps too little, and the check of the left out columns repairs it.
    const double cut = 2.0 * lambda - previous_lambda_;
    for (int j = 0; j < x_.n_columns; ++j)
        if (!settings_.screen || factor_[j] == 0.0 || reach_[j] > cut * factor_[j]) admit(j);
    std::sort(strong_.begin(), strong_.end());
    previous_lambda_ = lambda;
    for (;;) {
        ++n_outer;
        previous_b0_ = b0_;
        for (int j : active_) previous_b_[j] = b_[j];
        refresh_curvatures();
        const bool reached = minimize_model(lambda);
        refresh_model();
        if (!reached) return state(before, n_outer, false);
        // Every weight is next to nothing: the quadratic model has nothing left to say.
        const double p = settings_.min_probability;
        if (sum_v_ <= (1.0 + p) * p * (1.0 - p)) return state(before, n_outer, false);
        if (has_settled() && !admit_violators(lambda)) return state(before, n_outer, true);
    }
}

// Sweeps until a full one over the strong columns moves nothing; false if the sweeps are used up.
bool Lognet::minimize_model(double lambda) {
    for (;;) {
        if (sweep(lambda, strong_) < limit_) return true;
        do
            if (n_passes_ > settings_.max_passes) return false;
        while (sweep(lambda, active_) >= limit_);
    }
}

double Lognet::sweep(double lambda, const std::vector<int>& order) {
    ++n_passes_;
    double largest = 0.0;
    for (size_t k = 0; k < order.size(); ++k) {
        const int j = order[k];
        poll_columns(k);
        if (curvature_[j] <= 0.0) continue;
        const double old = b_[j], pull = gradient(j) + curvature_[j] * old;
        const double excess = std::abs(pull) - lambda * factor_[j];
        b_[j] = excess > 0.0 ? std::copysign(excess, pull) / curvature_[j] : 0.0;
        const double change = b_[j] - old;
        if (change == 0.0) continue;
        largest = std::max(largest, curvature_[j] * change * change);
        const double step = change / scale_[j];
        x_.add_weighted(j, -step, v_.data(), r_.data());
        shift_ += step * mean_[j];
        sum_r_ -= step * (first_[j] - mean_[j] * sum_v_);
        if (!is_active_[j]) is_active_[j] = 1, active_.push_back(j);
    }
    return settings_.intercept ? std::max(largest, move_intercept()) : largest;
}

double Lognet::move_intercept() {
    const double change = sum_r_ / sum_v_;
    b0_ += change;
    shift_ -= change;
    sum_r_ = 0.0;
    return sum_v_ * change * change;
}

// sum_i z_ij (r_i + shift v_i): the residual of row i is r_i + shift v_i, so that subtracting a mean from a column,
// which changes every row, costs one number.
double Lognet::gradient(int j) const {
    return (x_.dot(j, r_.data()) + shift_ * first_[j] - mean_[j] * sum_r_) / scale_[j];
}

void Lognet::refresh_curvatures() {
    for (size_t k = 0; k < strong_.size(); ++k) {
        const int j = strong_[k];
        poll_columns(k);
        const double square = x_.square(j, v_.data());
        if (settings_.intercept) first_[j] = x_.dot(j, v_.data());  // else mean = 0 and it stays 0
        curvature_[j] = (square - mean_[j] * (2.0 * first_[j] - mean_[j] * sum_v_)) / (scale_[j] * scale_[j]);
    }
}

// eta, probabilities, weights and residuals of the current coefficients.
void Lognet::refresh_model() {
    double constant = b0_;
    for (int j : active_) constant -= b_[j] * mean_[j] / scale_[j];
    std::fill(eta_.begin(), eta_.end(), constant);
    for (size_t k = 0; k < active_.size(); ++k) {
        const int j = active_[k];
        poll_columns(k);
        if (b_[j] != 0.0) x_.add(j, b_[j] / scale_[j], eta_.data());
    }
    const double p = settings_.min_probability, farthest = std::log(1.0 / p - 1.0);
    sum_v_ = sum_r_ = shift_ = 0.0;
    for (size_t i = 0; i < eta_.size(); ++i) {
        poll_rows(i);
        const double e = std::exp(-std::abs(eta_[i]));
        double q = (eta_[i] < 0.0 ? e : 1.0) / (1.0 + e), v = e / ((1.0 + e) * (1.0 + e));
        // A saturated row fits exactly and keeps a small weight, so that the model stays bounded.
        if (std::abs(eta_[i]) > farthest) q = eta_[i] > 0.0 ? 1.0 : 0.0, v = p;
        v_[i] = w_[i] * v;
        r_[i] = w_[i] * (y_[i] - q);
        sum_v_ += v_[i];
        sum_r_ += r_[i];
    }
}

double Lognet::eta_loss() const {
    double loss = 0.0;
    for (size_t i = 0; i < eta_.size(); ++i) loss += w_[i] * (softplus(eta_[i]) - y_[i] * eta_[i]);
    return loss;
}

bool Lognet::has_settled() const {
    const double moved = b0_ - previous_b0_;
    if (settings_.intercept && sum_v_ * moved * moved >= limit_) return false;
    return std::none_of(active_.begin(), active_.end(), [this](int j) {
        const double change = b_[j] - previous_b_[j];
        return curvature_[j] * change * change >= limit_;
    });
}

void Lognet::admit(int j) {
    if (is_strong_[j] || !(scale_[j] > 0.0)) return;
    is_strong_[j] = 1;
    strong_.push_back(j);  // the caller sorts: sweeps go through the columns in their own order
}

bool Lognet::admit_violators(double lambda) {
    const size_t before = strong_.size();
    for (int j = 0; j < x_.n_columns; ++j) {
        poll_columns(j);
        if (is_strong_[j] || !(scale_[j] > 0.0)) continue;
        reach_[j] = std::abs(gradient(j));
        if (reach_[j] > lambda * factor_[j]) admit(j);
    }
    std::sort(strong_.begin(), strong_.end());
    return strong_.size() > before;
}

LognetState Lognet::state(int64_t passes_before, int n_outer, bool converged) const {
    LognetState result{b_,       b0_, eta_loss(), n_passes_ - passes_before, n_outer, static_cast<int>(strong_.size()),
                       converged};
    for (int j = 0; j < x_.n_columns; ++j) {
        if (b_[j] == 0.0) continue;
        result.b[j] /= scale_[j];
        result.intercept -= result.b[j] * mean_[j];
    }
    return result;
}

}  // namespace isinglass
