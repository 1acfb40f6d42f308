// One logistic lasso per node, each along its own list of penalties:
//   F_s(beta) = sum_n w_n [log(1 + exp(eta_n)) - x_ns eta_n] + alpha sum_t omega_t |beta_t|,
//   eta_n = field + sum_{t != s} beta_t x_nt.
// Of columns with categories: the multinomial loss, and |beta_t| the norm of a block.
// The nodes share the table and nothing else: each is a problem of its own, run whole on one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "problems/problem.hpp"

namespace isinglass {

class Nodewise {
 public:
    Nodewise(const TableView& given, int n_threads);

    int n_features() const { return table_->n_features; }
    int n_distinct() const { return table_->n_distinct; }
    // Smallest alpha without penalized coefficients, for every node; omega holds one penalty weight per column, 0 for
    // one that every node has a free coefficient with. The options are those of the fit of free coefficients.
    std::vector<double> alpha_max(const double* omega, const PathOptions& options) const;
    // alphas: one row of n_alphas decreasing values per listed node. One list of states per node, with stops_early
    // ended where glmnet would (see is_flat in nodewise.cpp).
    std::vector<std::vector<State>> solve(const std::vector<int>& nodes, const double* alphas, int n_alphas,
                                          const double* omega, const PathOptions& options, bool stops_early) const;

 private:
    // Calls task(k, problem) for 0 <= k < count, each thread with a problem of its own.
    template <class Task>
    void each(size_t count, double work, const double* omega, Task task) const;

    const std::shared_ptr<const Table> table_;
    const int n_threads_;
};

}  // namespace isinglass
