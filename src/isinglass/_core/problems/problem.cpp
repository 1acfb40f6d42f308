#include "problems/problem.hpp"

#include <algorithm>
#include <cmath>

#include "rows/category_rows.hpp"
#include "tuning.hpp"

namespace isinglass {

using namespace tuning::path;

namespace {

// |g| / omega from which a pair is kept at alpha, g being that at the alpha before. The sequential strong rule: if g
// moves no faster than alpha (it usually does not), a pair below this stays below alpha.
double strong_threshold(double alpha, double previous) {
    return std::max(2 * alpha - previous, SMALLEST_KEPT * alpha);
}

// From one alpha down to another, no ratio below steepest: a large step would put many pairs into the working set that
// the first edges explain away.
std::vector<double> stops_between(double from, double to, double steepest) {
    std::vector<double> stops;
    if (0 < to && to < from && to / from > 0 && steepest > 0) {
        const int steps = static_cast<int>(std::ceil(std::log(to / from) / std::log(steepest)));
        for (int k = 1; k < steps; ++k) stops.push_back(from * std::pow(to / from, static_cast<double>(k) / steps));
    }
    stops.push_back(to);
    return stops;
}

}  // namespace

PathSolver::PathSolver(Rows& rows, const Penalty& penalty, Pool& pool, Kind kind)
    : kind_(kind),
      n_features_(static_cast<int>(rows.margins().mean.size())),
      newton_(rows, penalty, pool, kind == Kind::joint ? n_features_ : 1, kind == Kind::joint),
      screen_(rows, newton_, penalty, pool, kind == Kind::joint) {}

void PathSolver::start(int node) {
    node_ = node;
    newton_.start(node);
    screen_.start(node);
}

double PathSolver::alpha_max() {
    top_ = screen_.alpha_max();
    newton_.set_top(screen_.top());
    begin(From::null_model, top_, 0);
    return top_;
}

void PathSolver::place(double alpha, const State& point) {
    newton_.place(point.edges, point.values, point.fields);
    begin(From::placed_point, alpha, point.edges.size());
}

void PathSolver::begin(From from, double reached, size_t n_edges) {
    from_ = from;
    reached_ = std::min(reached, top_);
    is_dense_ =
        kind_ == Kind::joint && static_cast<double>(n_edges) > DENSE_SHARE * n_features_ * (n_features_ - 1) / 2;
}

State PathSolver::solve(const std::vector<Pair>& pairs, double alpha, const Tolerances& tolerances) {
    const WorkingSet& set = newton_.set();
    budget_.check({pairs.size(), newton_.coefficients_with(pairs), set.needs_blocks() ? set.block_bytes() : 0});
    newton_.adopt(pairs);
    return newton_.run(alpha, tolerances);
}

State PathSolver::follow(double alpha, double next, const PathOptions& options) {
    const From from = from_;
    State state = descend(alpha, next, options);
    // A point from elsewhere may be too far away for any number of steps, the solution before for as many as were
    // taken.
    const bool may_mislead = from == From::placed_point || (from == From::path && state.n_iter < options.max_iter);
    if (state.converged || !may_mislead) return state;
    newton_.clear();
    screen_.forget();
    begin(From::null_model, top_, 0);
    State again = descend(alpha, next, options);
    again.n_iter += state.n_iter;
    state.n_iter = again.n_iter;
    return again.objective <= state.objective || again.converged ? again : state;
}

State PathSolver::descend(double alpha, double next, const PathOptions& options) {
    const bool screens = options.strictness > 0;
    const double steepest = screens ? STEEPEST : alpha < COLD_RATIO * top_ ? STEEP_RATIO : 0;
    const std::vector<double> stops = stops_between(reached_, alpha, steepest);
    find_first(stops.front(), options);
    for (size_t k = 0; k + 1 < stops.size(); ++k) {
        const State stop = solve_roughly(found_.pairs, stops[k], options);
        // Rounding hides penalties as small as this one: stops at smaller ones would take as long and gain nothing.
        const bool is_last = !stop.converged && stop.n_iter < options.max_iter;
        if (screens) look(stops[k], is_last ? alpha : stops[k + 1], options.strictness);
        if (is_last) break;
    }
    State state = solve_checked(alpha, next, steepest, options);
    if (screens && kind_ == Kind::joint) state.certified_zeros += screen_.certified_outside();
    state.converged = state.kkt_residual <= options.tol && state.duality_gap <= newton_.largest_gap(options.tol);
    begin(From::path, alpha, state.edges.size());
    return state;
}

// The pairs to begin with; on a path they are known.
void PathSolver::find_first(double first_stop, const PathOptions& options) {
    if (from_ == From::path) return;
    if (options.strictness == 0) {
        found_ = every_pair();
        return;
    }
    // Roughly first, on its own edges: another table has others. (To a share of alpha, which may be 0.)
    if (from_ == From::placed_point && reached_ > 0) solve_roughly({}, reached_, options);
    look(INFINITE, first_stop, options.strictness);
}

State PathSolver::solve_roughly(const std::vector<Pair>& pairs, double alpha, const PathOptions& options) {
    return solve(pairs, alpha, {STOP_TOLERANCE * alpha, INFINITE, options.max_iter});
}

// Solves and checks all pairs, until none is missing.
State PathSolver::solve_checked(double alpha, double next, double steepest, const PathOptions& options) {
    std::vector<Pair> working = found_.pairs;
    // No smaller than the rounding of gradients: the empty network of independent columns has no residual but that.
    const double kkt =
        alpha > 0 ? std::min(options.tol, std::max(LARGEST_RESIDUAL * alpha, tuning::STATIONARY)) : options.tol;
    State state = solve(working, alpha, {kkt, options.tol, options.max_iter});
    while (options.strictness > 0) {
        look(alpha, stops_between(alpha, next, steepest).front(), options.strictness);
        const std::vector<Pair> missing = violators(alpha);
        if (missing.empty()) break;
        working.insert(working.end(), missing.begin(), missing.end());
        const int n_iter = state.n_iter;  // with no steps left, the next round only certifies
        state = solve(working, alpha, {kkt, options.tol, options.max_iter - n_iter});
        state.n_iter += n_iter;
    }
    return state;
}

std::optional<State> PathSolver::fit_null(double tol, int max_iter) {
    const std::vector<Pair> pairs = free_pairs();
    if (pairs.empty()) return {};
    State state = solve(pairs, 1.0, {tol, tol, max_iter});
    newton_.mark_null();
    screen_.forget();
    return state;
}

PairList PathSolver::every_pair() const {
    PairList list;
    for (int s = 0; s < n_features_; ++s)
        for (int t = 0; t < n_features_; ++t)
            if (kind_ == Kind::joint ? s < t : s == node_ && t != node_) list.pairs.push_back({s, t});
    return list;
}

// Finds what the next alpha begins with, and every pair that violates this one.
void PathSolver::look(double alpha, double next, double strictness) {
    const double threshold = strictness * strong_threshold(next, std::min(alpha, top_));
    found_ = gradient_above(std::min(threshold, alpha) * (is_dense_ ? DENSE_THRESHOLD : 1.0));
}

// Pairs above alpha that the working set lacks; both are sorted.
std::vector<Pair> PathSolver::violators(double alpha) const {
    std::vector<Pair> pairs;
    size_t e = 0;
    for (size_t k = 0; k < found_.pairs.size(); ++k)
        if (!newton_.set().find(found_.pairs[k], e) && !(found_.values[k] <= alpha)) pairs.push_back(found_.pairs[k]);
    return pairs;
}

std::unique_ptr<Rows> make_rows(std::shared_ptr<const Table> table, Holds holds, Pool& pool) {
    if (table->ranges.empty()) return kept_rows(pool, std::move(table), holds);
    return std::make_unique<CategoryRows>(std::move(table), holds, pool);
}

Problem::Problem(const TableView& given, Penalty::Kind kind, const double* penalty, int n_threads, size_t most_bytes)
    : n_features_(given.n_features) {
    const auto table = std::make_shared<const Table>(given);
    n_distinct_ = table->n_distinct;
    const bool is_small = static_cast<size_t>(n_distinct_) * n_features_ < SINGLE_THREAD_CELLS;
    pool_ = std::make_unique<Pool>(is_small ? 1 : n_threads, poll_);
    const bool has_groups = std::count(table->ranges.begin(), table->ranges.end(), 0) > 0;  // nominal columns
    const MemoryBudget budget =
        has_groups ? budget_with_groups(most_bytes, category_bytes(*table, pool_->size()))
                   : budget_of_pairs(most_bytes, static_cast<size_t>(n_distinct_), static_cast<size_t>(n_features_));
    budget.check({});
    rows_ = make_rows(table, Holds::all_nodes, *pool_);
    if (given.widths && kind == Penalty::Kind::equal) {
        for (int s = 0; s < n_features_; ++s) inverse_widths_.push_back(1 / given.widths[s]);
        kind = Penalty::Kind::product, penalty = inverse_widths_.data();
    }
    begin(kind, penalty);
    solver_->set_budget(budget);
}

Problem::Problem(std::unique_ptr<Rows> rows, int n_distinct, Penalty::Kind kind, const double* penalty, int n_threads)
    : n_features_(static_cast<int>(rows->margins().mean.size())),
      n_distinct_(n_distinct),
      pool_(std::make_unique<Pool>(n_threads, poll_)),
      rows_(std::move(rows)) {
    begin(kind, penalty);
}

void Problem::begin(Penalty::Kind kind, const double* penalty) {
    const double* values = kind == Penalty::Kind::standardized ? rows_->margins().sd.data() : penalty;
    penalty_ = std::make_unique<Penalty>(kind, values, n_features_);
    solver_ = std::make_unique<PathSolver>(*rows_, *penalty_, *pool_, PathSolver::Kind::joint);
    solver_->start(0);
}

}  // namespace isinglass
