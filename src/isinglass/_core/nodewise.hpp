// One logistic lasso per node, each along its own list of penalties:
//   F_s(beta) = sum_n w_n [log(1 + exp(eta_n)) - x_ns eta_n] + alpha sum_t omega_t |beta_t|,
//   eta_n = field + sum_{t != s} beta_t x_nt.
// The nodes share the table and nothing else, so that they run in any order on any number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels.hpp"
#include "node_model.hpp"
#include "table.hpp"

namespace isinglass {

struct NodeOptions {
    double tol;        // of the KKT residual, and of the duality gap relative to the null model's loss
    int max_iter;      // Newton steps per alpha
    bool screening;    // false: every other column is in the working set from the start
    bool stops_early;  // end a node's list where glmnet would: see is_flat in nodewise.cpp
};

// One node along its alphas; the vectors have one entry per alpha that was solved.
struct NodePath {
    std::vector<double> fields, losses, objectives, kkt_residuals, duality_gaps;
    std::vector<double> largest_etas;  // only where alpha = 0: a hint that the optimum is at infinity
    std::vector<int> n_iter, n_working, n_coefficients;
    std::vector<int> index;     // columns of the coefficients that are not zero, alpha after alpha
    std::vector<double> value;  // these coefficients
};

class Nodewise {
 public:
    Nodewise(const uint8_t* X, const double* weights, size_t n_rows, int n_features, int n_threads);

    int n_features() const { return table_.n_features; }
    int n_distinct() const { return table_.n_distinct; }
    // Smallest alpha without coefficients, for every node; omega holds one penalty weight per column.
    std::vector<double> alpha_max(const double* omega) const;
    // alphas: one row of n_alphas decreasing values per listed node.
    std::vector<NodePath> solve(const std::vector<int>& nodes, const double* alphas, int n_alphas,
                                const double* omega, const NodeOptions& options) const;

 private:
    const Kernels& kernels_;
    const Table table_;
    const int n_threads_;
};

// The working memory of one thread: the current point of one node and what is known about it.
class NodeFit {
 public:
    NodeFit(const Table& table, const Kernels& kernels, const double* omega);
    // The null model of a node, its gradient over all columns, and the smallest alpha that keeps it optimal.
    double start(int node);
    NodePath run(int node, const double* alphas, int n_alphas, const NodeOptions& options);

 private:
    struct Certificate {
        double kkt = 0, gap = 0;
        int n_iter = 0;
    };
    Certificate solve(double alpha, double threshold, const NodeOptions& options);
    Certificate newton(double alpha, double kkt_tol, double gap_tol, int max_iter);

    void adopt(const std::vector<int>& columns);
    void find_above(double threshold);
    void take_reference();
    std::vector<int> survivors(double threshold) const;
    bool add_violators(double alpha);

    void pass();
    void evaluate();
    void refresh_predictor();
    double kkt_residual(double alpha) const;
    double penalty(double alpha) const;
    void assemble(bool majorise);
    bool step(double alpha, double inner_tolerance);
    double predicted_change(double field_step) const;
    void shift(double length, double field_step);
    void polish_field();
    double duality_gap(double alpha);
    void record(double alpha, const Certificate& certificate, NodePath& path) const;

    const Table& table_;
    const Kernels& kernels_;
    const double* omega_;
    const int stride_;

    int node_ = 0;
    double field_ = 0, null_loss_ = 0;
    NodeSums sums_{};
    Buffer<double> eta_, wr_;
    Buffer<float> wv_;

    // The working set, in increasing order.
    std::vector<int> columns_;
    std::vector<const uint8_t*> bytes_;
    std::vector<double> theta_, gradient_, limit_;
    std::vector<char> is_working_;  // of every column

    NodeModel model_;
    double curve_ = 0;  // S when the model's matrix was made
    bool is_stale_ = true, is_majorised_ = false;
    Buffer<float> quarter_w_;

    // The gradient over all columns at an earlier point, with that point's residuals (see find_above).
    std::vector<double> reference_;
    Buffer<float> reference_wr_;
    std::vector<int> found_;  // columns outside the working set that may matter next
    std::vector<double> strength_;
    std::vector<const uint8_t*> chosen_bytes_;
    std::vector<double> chosen_values_;
};

}  // namespace isinglass
