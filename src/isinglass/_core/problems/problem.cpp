#include "problems/problem.hpp"

#include <numeric>

#include "rows/cpu_rows.hpp"
#include "rows/sum_rows.hpp"

namespace isinglass {
namespace {

constexpr size_t SINGLE_THREAD_CELLS = 26000;  // below, a second thread costs more than it saves (measured)

}  // namespace

Problem::Problem(Rows& rows, const Penalty& penalty, Pool& pool, Kind kind)
    : newton_(rows, penalty, pool, kind == Kind::joint ? static_cast<int>(rows.margins().mean.size()) : 1,
              kind == Kind::joint),
      screen_(rows, penalty, pool, kind == Kind::joint) {}

void Problem::start(int node) {
    newton_.start(node);
    screen_.start(node);
}

void Problem::mark_null() {
    newton_.mark_null();
    screen_.forget();
}

double Problem::alpha_max() {
    const double top = screen_.alpha_max(newton_.set(), newton_.certificate().stray);
    newton_.set_top(screen_.top());
    return top;
}

State Problem::solve(const std::vector<Pair>& pairs, double alpha, const Tolerances& tolerances) {
    newton_.adopt(pairs);
    return newton_.run(alpha, tolerances);
}

std::vector<State> Problem::solve(const std::vector<Pair>& pairs, const std::vector<double>& alphas,
                                  const Tolerances& tolerances) {
    newton_.adopt(pairs);
    std::vector<State> states;
    for (double alpha : alphas) states.push_back(newton_.run(alpha, tolerances));
    return states;
}

int64_t Problem::certified_outside(double alpha) {
    return screen_.certified_outside(alpha, newton_.set(), newton_.certificate());
}

Joint::Joint(const uint8_t* X, const double* weights, size_t n_rows, int n_features, Penalty::Kind kind,
             const double* penalty, int n_threads, const std::vector<size_t>& parts)
    : n_features_(n_features) {
    double total = 0;
    if (!parts.empty())
        total = weights ? std::accumulate(weights, weights + n_rows, 0.0) : static_cast<double>(n_rows);
    std::vector<size_t> bounds{0};
    bounds.insert(bounds.end(), parts.begin(), parts.end());
    bounds.push_back(n_rows);
    std::vector<std::shared_ptr<const Table>> tables;
    for (size_t k = 0; k + 1 < bounds.size(); ++k) {
        const double* own = weights ? weights + bounds[k] : nullptr;
        tables.push_back(std::make_shared<Table>(X + bounds[k] * n_features, own, bounds[k + 1] - bounds[k],
                                                 n_features, total));
        n_distinct_ += tables.back()->n_distinct;
    }
    const bool is_small = static_cast<size_t>(n_distinct_) * n_features < SINGLE_THREAD_CELLS;
    pool_ = std::make_unique<Pool>(is_small ? 1 : n_threads, poll_);
    std::vector<std::unique_ptr<Rows>> made;
    for (const auto& table : tables)
        made.push_back(std::make_unique<CpuRows>(table, CpuRows::Holds::all_nodes, *pool_));
    rows_ = parts.empty() ? std::move(made.front()) : std::make_unique<SumRows>(std::move(made));
    const double* values = kind == Penalty::Kind::standardized ? rows_->margins().sd.data() : penalty;
    penalty_ = std::make_unique<Penalty>(kind, values, n_features);
    problem_ = std::make_unique<Problem>(*rows_, *penalty_, *pool_, Problem::Kind::joint);
    problem_->start(0);
}

std::vector<Pair> Joint::free_pairs() const {
    std::vector<Pair> pairs;
    if (penalty_->may_be_free())
        for (int s = 0; s < n_features_; ++s)
            for (int t = s + 1; t < n_features_; ++t)
                if ((*penalty_)(s, t) == 0.0) pairs.push_back({s, t});
    return pairs;
}

}  // namespace isinglass
