// The L1-penalized logistic regression of the paper's comparator, by glmnet's published algorithm.
//
//   minimize over b0, b:  -sum_i w_i [y_i eta_i - log(1 + exp(eta_i))] + lambda sum_j factor_j |b_j|
//   eta_i = b0 + sum_j b_j z_ij,   z_ij = (x_ij - mean_j) / scale_j,   sum_i w_i = 1
//
// Outer loop: the quadratic model at the current point, weights v_i = w_i q_i (1 - q_i). Inner loop: cyclic coordinate
// descent on it, one sweep over the columns that passed the strong rule, then sweeps over the ones that were ever
// non-zero. Columns are centered without being copied: see Lognet::gradient.
//
// A library of its own, which paper/published/lognet.py compiles and calls.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace {

struct Interrupted {};

// Asks Python from time to time whether to go on.
struct Poll {
    int (*is_interrupted)();
    mutable std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();

    void operator()() const {
        const auto now = std::chrono::steady_clock::now();
        if (now - last < std::chrono::milliseconds(20)) return;
        last = now;
        if (is_interrupted()) throw Interrupted();
    }
};

double softplus(double eta) {
    return std::max(eta, 0.0) + std::log1p(std::exp(-std::abs(eta)));
}

double entropy_term(double y) {
    return y > 0.0 ? y * std::log(y) : 0.0;
}

// The columns of the design, compressed; the memory belongs to the caller.
struct Columns {
    const int64_t* start;  // n_columns + 1 positions
    const int32_t* rows;
    const double* values;  // null: every stored value is 1
    int n_rows, n_columns;

    // action(row, value) for the stored entries of a column.
    template <class Action>
    void each(int j, Action action) const {
        for (int64_t k = start[j]; k < start[j + 1]; ++k) action(rows[k], values ? values[k] : 1.0);
    }
    // The sum of term(row, value) over them; four partial sums hide the latency of the additions.
    template <class Term>
    double sum(int j, Term term) const {
        double sums[4] = {};
        int64_t k = start[j];
        for (; k + 4 <= start[j + 1]; k += 4)
            for (int i = 0; i < 4; ++i) sums[i] += term(rows[k + i], values ? values[k + i] : 1.0);
        for (; k < start[j + 1]; ++k) sums[0] += term(rows[k], values ? values[k] : 1.0);
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
};

struct LognetSettings {
    double threshold;        // bound of the largest v_j change_j^2, relative to the null deviance
    int64_t max_passes;      // sweeps in all
    double min_probability;  // a fitted probability nearer than this to 0 or 1 is set to it
    bool intercept, screen;
};

struct LognetState {
    std::vector<double> b;  // on the scale of the design
    double intercept, loss;
    int64_t n_passes;
    int n_outer, n_strong;
    bool converged;
};

// Solves for one lambda after another; every solution starts the next.
class Lognet {
 public:
    // y, w, factor, mean and scale belong to the caller; a column of scale 0 is left out.
    Lognet(Columns columns, const double* y, const double* w, const double* factor, const double* mean,
           const double* scale, LognetSettings settings, Poll poll);
    LognetState solve(double lambda);

 private:
    bool minimize_model(double lambda);
    double sweep(double lambda, const std::vector<int>& order);
    double move_intercept();
    double gradient(int j) const;
    void refresh_curvatures();
    void refresh_model();
    double eta_loss() const;
    bool has_settled() const;
    void admit(int j);
    bool admit_violators(double lambda);
    LognetState state(int64_t passes_before, int n_outer, bool converged) const;
    // Looks for an interrupt before some of the columns or rows: before each it would take time.
    void poll_columns(size_t k) const {
        if (k % 16 == 0) poll_();
    }
    void poll_rows(size_t i) const {
        if (i % 65536 == 0) poll_();
    }

    const Columns x_;
    const double *y_, *w_, *factor_, *mean_, *scale_;
    const LognetSettings settings_;
    const Poll poll_;
    double limit_;  // threshold times null deviance

    double b0_ = 0, previous_b0_ = 0, previous_lambda_ = 0;
    std::vector<double> b_, previous_b_;
    std::vector<double> eta_, v_,
        r_;  // r = w (y - q) - v * (change of eta since the model was made), but for
    double shift_ = 0, sum_r_ = 0,
           sum_v_ = 0;                       // ... shift * v, which centering adds to every row; sum of the whole
    std::vector<double> curvature_, first_;  // sum v z^2 and sum v x of the strong columns
    std::vector<double> reach_;              // |gradient| when last looked at
    std::vector<int> strong_, active_;       // in order of entry; strong is sorted
    std::vector<char> is_strong_, is_active_;
    int64_t n_passes_ = 0;
};

Lognet::Lognet(Columns columns, const double* y, const double* w, const double* factor, const double* mean,
               const double* scale, LognetSettings settings, Poll poll)
    : x_(columns), y_(y), w_(w), factor_(factor), mean_(mean), scale_(scale), settings_(settings), poll_(poll) {
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
        x_.each(j, [&](int row, double value) { r_[row] -= step * value * v_[row]; });
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
    const double moment = x_.sum(j, [&](int row, double value) { return value * r_[row]; });
    return (moment + shift_ * first_[j] - mean_[j] * sum_r_) / scale_[j];
}

void Lognet::refresh_curvatures() {
    for (size_t k = 0; k < strong_.size(); ++k) {
        const int j = strong_[k];
        poll_columns(k);
        const double square = x_.sum(j, [&](int row, double value) { return value * value * v_[row]; });
        if (settings_.intercept)  // else mean = 0 and it stays 0
            first_[j] = x_.sum(j, [&](int row, double value) { return value * v_[row]; });
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
        const double c = b_[j] / scale_[j];
        if (c != 0.0) x_.each(j, [&](int row, double value) { eta_[row] += c * value; });
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

}  // namespace

extern "C" {

// The arrays belong to the caller and must stay. Null: interrupted.
void* lognet_new(const int64_t* start, const int32_t* rows, const double* values, int n_rows, int n_columns,
                 const double* y, const double* w, const double* factor, const double* mean, const double* scale,
                 double threshold, int64_t max_passes, double min_probability, int intercept, int screen,
                 int (*is_interrupted)()) {
    try {
        return new Lognet({start, rows, values, n_rows, n_columns}, y, w, factor, mean, scale,
                          {threshold, max_passes, min_probability, intercept != 0, screen != 0}, Poll{is_interrupted});
    } catch (...) {
        return nullptr;
    }
}

void lognet_delete(void* lognet) {
    delete static_cast<Lognet*>(lognet);
}

// b: coefficients; numbers: intercept, loss, passes, quadratic models, strong columns, whether it converged. Returns
// whether it was interrupted.
int lognet_solve(void* lognet, double lambda, double* b, double* numbers) {
    try {
        const LognetState state = static_cast<Lognet*>(lognet)->solve(lambda);
        std::copy(state.b.begin(), state.b.end(), b);
        const double found[] = {state.intercept,
                                state.loss,
                                static_cast<double>(state.n_passes),
                                static_cast<double>(state.n_outer),
                                static_cast<double>(state.n_strong),
                                state.converged ? 1.0 : 0.0};
        std::copy(std::begin(found), std::end(found), numbers);
        return 0;
    } catch (...) {
        return 1;
    }
}
}
