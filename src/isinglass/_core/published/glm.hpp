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

// The columns of the design, compressed or dense; the memory belongs to the caller.
struct Columns {
    const int64_t* start;  // compressed: n_columns + 1 positions; null: dense, column after column
    const int32_t* rows;
    const double* values;  // null: every stored value is 1
    int n_rows, n_columns;

    double dot(int j, const double* a) const;                                // sum_i x_ij a_i
    double square(int j, const double* a) const;                             // sum_i x_ij^2 a_i
    void add(int j, double c, double* out) const;                            // out_i += c x_ij
    void add_weighted(int j, double c, const double* v, double* out) const;  // out_i += c v_i x_ij
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
