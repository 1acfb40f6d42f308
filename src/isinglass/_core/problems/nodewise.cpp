#include "problems/nodewise.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rows/cpu_rows.hpp"

namespace isinglass {
namespace {

constexpr double STEEPEST = 0.7;  // ratio of consecutive alphas down to which the strong rule is of use
constexpr double LOOSE = 0.1;     // alphas in between are solved to this share of their value
constexpr double SINGLE_THREAD_WORK = 1e6;  // rows x columns x nodes x alphas below which threads do not pay
constexpr int MIN_PATH = 5;                 // glmnet's mnlam
constexpr double MAX_DEVIANCE_RATIO = 0.999, MIN_DEVIANCE_GAIN = 1e-5;  // glmnet's devmax and fdev
constexpr double INFINITE = std::numeric_limits<double>::infinity();

double strong_threshold(double alpha, double previous) {
    return std::max(2 * alpha - previous, 0.0);
}

// A stop on the way down: an alpha of the list, or one in between so that no ratio is below STEEPEST.
struct Stop {
    double alpha;
    bool is_wanted;
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
                stops.push_back({previous * std::pow(ratio, static_cast<double>(i) / steps), false});
            previous = alphas[k];
        }
        stops.push_back({alphas[k], true});
    }
    return stops;
}

// Where glmnet ends a binomial path: hardly any deviance left, or hardly any gained.
bool is_flat(const std::vector<State>& states, double null_loss) {
    const size_t m = states.size();
    if (m < MIN_PATH) return false;
    const double explained = 1 - states[m - 1].loss / null_loss,
                 gain = (states[m - 2].loss - states[m - 1].loss) / null_loss;
    return explained > MAX_DEVIANCE_RATIO || gain < MIN_DEVIANCE_GAIN;
}

std::vector<Pair> with_strength(const PairList& found, double threshold) {
    std::vector<Pair> pairs;
    for (size_t k = 0; k < found.pairs.size(); ++k)
        if (found.values[k] >= threshold) pairs.push_back(found.pairs[k]);
    return pairs;
}

// Pairs above alpha that the working set lacks; both are sorted.
std::vector<Pair> violators(const PairList& found, double alpha, const WorkingSet& set) {
    std::vector<Pair> pairs;
    size_t e = 0;
    for (size_t k = 0; k < found.pairs.size(); ++k) {
        while (e < set.n_edges() && set.t[e] < found.pairs[k].t) ++e;
        const bool is_known = e < set.n_edges() && set.t[e] == found.pairs[k].t;
        if (!is_known && found.values[k] > alpha) pairs.push_back(found.pairs[k]);
    }
    return pairs;
}

// The algorithm of ising_path for one node: screen, solve on the working set, check, certify.
std::vector<State> follow(Problem& problem, int node, int n_features, const double* alphas, int n_alphas,
                          const NodeOptions& options) {
    problem.start(node);
    std::vector<State> states;
    const double top = problem.alpha_max(), null_loss = problem.newton().null_objective();
    const std::vector<Stop> stops = find_stops(top, alphas, n_alphas, options.screening);
    std::vector<Pair> working;
    PairList found;
    if (options.screening)
        found = problem.gradient_above(
            strong_threshold(stops.empty() ? top : std::min(stops.front().alpha, top), top));
    else
        for (int t = 0; t < n_features; ++t)
            if (t != node) working.push_back({node, t});
    double previous = top;
    for (size_t i = 0; i < stops.size(); ++i) {
        const double alpha = stops[i].alpha, reached = std::min(alpha, top);
        const double next = i + 1 < stops.size() ? std::min(stops[i + 1].alpha, top) : reached;
        const double keep = std::min(strong_threshold(next, reached), alpha);
        if (options.screening && alpha < top)
            working = with_strength(found, strong_threshold(alpha, previous));
        if (!stops[i].is_wanted) {
            problem.solve(working, alpha, {LOOSE * alpha, INFINITE, options.max_iter});
            found = problem.gradient_above(keep);
        } else {
            State state;
            for (int n_iter = 0;;) {
                state = problem.solve(working, alpha, {options.tol, options.tol, options.max_iter - n_iter});
                n_iter = state.n_iter += n_iter;
                if (!options.screening) break;
                found = problem.gradient_above(keep);
                const std::vector<Pair> missing = violators(found, alpha, problem.newton().set());
                if (missing.empty()) break;  // with no steps left, the next round only certifies
                working.insert(working.end(), missing.begin(), missing.end());
            }
            states.push_back(std::move(state));
            if (options.stops_early && is_flat(states, null_loss)) break;
        }
        previous = reached;
    }
    return states;
}

}  // namespace

Nodewise::Nodewise(const uint8_t* X, const double* weights, size_t n_rows, int n_features, int n_threads)
    : table_(std::make_shared<Table>(X, weights, n_rows, n_features)), n_threads_(n_threads) {}

template <class Task>
void Nodewise::each(size_t count, double work, const double* omega, Task task) const {
    Poll poll;
    Pool pool(work < SINGLE_THREAD_WORK ? 1 : n_threads_, poll), alone(1, poll);
    const Penalty penalty(Penalty::Kind::per_column, omega, n_features());
    std::vector<std::unique_ptr<CpuRows>> rows;
    std::vector<std::unique_ptr<Problem>> problems;
    for (int worker = 0; worker < pool.size(); ++worker) {
        rows.push_back(std::make_unique<CpuRows>(table_, CpuRows::Holds::one_node, alone));
        problems.push_back(std::make_unique<Problem>(*rows.back(), penalty, alone, Problem::Kind::one_node));
    }
    pool.each(count, [&](int k, int worker) { task(k, *problems[worker]); });
}

std::vector<double> Nodewise::alpha_max(const double* omega) const {
    std::vector<double> top(n_features());
    each(top.size(), static_cast<double>(table_->stride) * n_features() * n_features(), omega,
         [&](int node, Problem& problem) {
             problem.start(node);
             top[node] = problem.alpha_max();
         });
    return top;
}

std::vector<std::vector<State>> Nodewise::solve(const std::vector<int>& nodes, const double* alphas,
                                                int n_alphas, const double* omega,
                                                const NodeOptions& options) const {
    std::vector<std::vector<State>> paths(nodes.size());
    each(nodes.size(), static_cast<double>(table_->stride) * n_features() * nodes.size() * n_alphas, omega,
         [&](int k, Problem& problem) {
             paths[k] = follow(problem, nodes[k], n_features(), alphas + static_cast<size_t>(k) * n_alphas,
                               n_alphas, options);
         });
    return paths;
}

}  // namespace isinglass
