#include "problems/problem.hpp"

#include "rows/cpu_rows.hpp"

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
    const double top = screen_.alpha_max(newton_.set(), newton_.certificate());
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
             const double* penalty, int n_threads)
    : n_features_(n_features) {
    const auto table = std::make_shared<const Table>(X, weights, n_rows, n_features);
    n_distinct_ = table->n_distinct;
    const bool is_small = static_cast<size_t>(n_distinct_) * n_features < SINGLE_THREAD_CELLS;
    pool_ = std::make_unique<Pool>(is_small ? 1 : n_threads, poll_);
    rows_ = std::make_unique<CpuRows>(table, CpuRows::Holds::all_nodes, *pool_);
    begin(kind, penalty);
}

Joint::Joint(std::unique_ptr<Rows> rows, int n_distinct, Penalty::Kind kind, const double* penalty,
             int n_threads)
    : n_features_(static_cast<int>(rows->margins().mean.size())),
      n_distinct_(n_distinct),
      pool_(std::make_unique<Pool>(n_threads, poll_)),
      rows_(std::move(rows)) {
    begin(kind, penalty);
}

void Joint::begin(Penalty::Kind kind, const double* penalty) {
    const double* values = kind == Penalty::Kind::standardized ? rows_->margins().sd.data() : penalty;
    penalty_ = std::make_unique<Penalty>(kind, values, n_features_);
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
