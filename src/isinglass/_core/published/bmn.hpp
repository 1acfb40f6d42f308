// Hoefling and Tibshirani's pseudo-likelihood algorithm with the rules of their R package BMN, in our units.
//
// Rounds: a working set (what is not zero, and the zeros that violate optimality most), solved by simultaneous
// soft-thresholded steps of all its entries, each with its own bound of the curvature. Such a step can overshoot: every
// CHECK steps the objective is compared with the last accepted one, and a step size is halved if need be. There is no
// check of optimality; the algorithm stops when nothing moves by more than the tolerance.
#pragma once

#include <cstdint>
#include <vector>

#include "rows/kernels.hpp"
#include "rows/table.hpp"

namespace isinglass {

struct BmnSettings {
    double tolerance;
    int max_iter;  // steps per round
    int max_rounds;
    bool line_search;  // from the start
};

struct BmnState {
    std::vector<double> fields;
    std::vector<Pair> edges;
    std::vector<double> values;
    int64_t n_iter;
    int n_rounds, n_pairs;  // n_pairs: in the last working set
    double step_size;       // 0: the line search took over
    bool converged;
};

class Bmn {
 public:
    explicit Bmn(const TableView& given);
    BmnState solve(double alpha,
                   BmnSettings settings);  // from the fields alone: nothing is kept between calls

 private:
    void start();
    void choose_working_set();
    void add_entry(int s, int t);
    bool run_round();
    double evaluate(const std::vector<double>& values);
    void measure_gradient();
    double propose(std::vector<double>& next) const;
    void accept_or_halve(std::vector<double>& next, int& iteration);
    void search_line(std::vector<double>& next);
    double penalty_of(int k) const { return working_[k].s == working_[k].t ? 0.0 : alpha_; }
    double& entry(int s, int t) { return theta_[static_cast<size_t>(s) * p_ + t]; }
    ColumnList list(int s) const { return {columns_[s].data(), static_cast<int>(columns_[s].size()), table_.stride}; }
    double* eta(int s) { return eta_.data() + static_cast<size_t>(s) * table_.stride; }
    double* wr(int s) { return wr_.data() + static_cast<size_t>(s) * table_.stride; }

    const Kernels& kernels_;
    const Table table_;
    const int p_;
    double n_total_;  // sum of the raw weights: BMN compares log-likelihoods of the whole table
    double alpha_ = 0;
    BmnSettings settings_{};

    std::vector<double> theta_;  // s <= t: fields on the diagonal
    Buffer<double> eta_, wr_;
    std::vector<NodeSums> sums_;

    std::vector<Pair> working_;  // s == t: a field
    std::vector<double> values_, gradient_, saved_;
    std::vector<std::vector<const uint8_t*>> columns_;  // per node: the other ends of its working pairs
    std::vector<std::vector<int>> places_;              // ... and which entries of the working set they are
    double objective_ = 0, saved_objective_ = 0, step_size_ = 1;
    bool line_search_ = false;
    int64_t n_iter_ = 0;
};

}  // namespace isinglass
