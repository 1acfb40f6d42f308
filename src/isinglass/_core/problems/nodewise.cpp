#include "problems/nodewise.hpp"

#include <algorithm>

#include "tuning.hpp"

namespace isinglass {

using namespace tuning::nodewise;

namespace {

// Where glmnet ends a binomial path: hardly any deviance left, or hardly any gained.
bool is_flat(const std::vector<State>& states, double null_loss) {
    const size_t m = states.size();
    if (m < MIN_PATH) return false;
    const double explained = 1 - states[m - 1].loss / null_loss,
                 gain = (states[m - 2].loss - states[m - 1].loss) / null_loss;
    return explained > MAX_DEVIANCE_RATIO || gain < MIN_DEVIANCE_GAIN;
}

}  // namespace

Nodewise::Nodewise(const TableView& given, int n_threads)
    : table_(std::make_shared<Table>(given)), n_threads_(n_threads) {}

template <class Task>
void Nodewise::each(size_t count, double work, const double* omega, Task task) const {
    Poll poll;
    Pool pool(work < SINGLE_THREAD_WORK ? 1 : n_threads_, poll), alone(1, poll);
    const Penalty penalty(Penalty::Kind::per_column, omega, n_features());
    std::vector<std::unique_ptr<Rows>> rows;
    std::vector<std::unique_ptr<PathSolver>> problems;
    for (int worker = 0; worker < pool.size(); ++worker) {
        rows.push_back(make_rows(table_, Holds::one_node, alone));
        problems.push_back(std::make_unique<PathSolver>(*rows.back(), penalty, alone, PathSolver::Kind::one_node));
    }
    pool.each(count, [&](int k, int worker) { task(k, *problems[worker]); });
}

std::vector<double> Nodewise::alpha_max(const double* omega, const PathOptions& options) const {
    std::vector<double> top(n_features());
    each(top.size(), static_cast<double>(table_->stride) * n_features() * n_features(), omega,
         [&](int node, PathSolver& problem) {
             problem.start(node);
             problem.fit_null(options.tol, options.max_iter);
             top[node] = problem.alpha_max();
         });
    return top;
}

std::vector<std::vector<State>> Nodewise::solve(const std::vector<int>& nodes, const double* alphas, int n_alphas,
                                                const double* omega, const PathOptions& options,
                                                bool stops_early) const {
    std::vector<std::vector<State>> paths(nodes.size());
    each(nodes.size(), static_cast<double>(table_->stride) * n_features() * nodes.size() * n_alphas, omega,
         [&](int k, PathSolver& problem) {
             const double* own = alphas + static_cast<size_t>(k) * n_alphas;
             problem.start(nodes[k]);
             problem.fit_null(options.tol, options.max_iter);
             problem.alpha_max();
             for (int i = 0; i < n_alphas; ++i) {
                 paths[k].push_back(problem.follow(own[i], own[std::min(i + 1, n_alphas - 1)], options));
                 if (stops_early && is_flat(paths[k], problem.newton().null_objective())) break;
             }
         });
    return paths;
}

}  // namespace isinglass
