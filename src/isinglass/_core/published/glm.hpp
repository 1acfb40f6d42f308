// The L1-penalized logistic regression of the paper's comparator, by glmnet's published algorithm.
//
//   minimize over b0, b:  -sum_i w_i [y_i eta_i - log(1 + exp(eta_i))] + lambda sum_j factor_j |b_j|
//   eta_i = b0 + sum_j b_j z_ij,   z_ij = (x_ij - mean_j) / scale_j,   sum_i w_i = 1
//
// Outer loop: the quadratic model at the current point, weights v_i = w_i q_i (1 - q_i). Inner loop: cyclic coordinate
// descent on it, one sweep over the columns that passed the strong rule, then sweeps over the ones that were ever
// non-zero. Columns are centered without being copied: see Lognet::gradient.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace isinglass {

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
           const double* scale, LognetSettings settings);
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

    const Columns x_;
    const double *y_, *w_, *factor_, *mean_, *scale_;
    const LognetSettings settings_;
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

}  // namespace isinglass
