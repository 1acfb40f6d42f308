#include "published/bmn.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "lasso/lasso.hpp"
#include "rows/pool.hpp"

namespace isinglass {

namespace {

constexpr int CHECK = 50;               // steps between two looks at the objective
constexpr double SMALLEST_STEP = 1e-3;  // below it a line search takes over
constexpr double SUFFICIENT = 0.1;      // share of the promised decrease a line search asks for
constexpr double SHORTER = 0.5;
constexpr double SHORTEST = 1e-5;  // the line search then takes what it has
constexpr int ADDED_PER_NODE = 4;  // zeros that may join a working set, per column

double sum_of(const TableView& given) {
    if (!given.weights) return static_cast<double>(given.n_rows);
    return std::accumulate(given.weights, given.weights + given.n_rows, 0.0);
}

}  // namespace

Bmn::Bmn(const TableView& given)
    : kernels_(kernels()),
      table_(given),
      p_(given.n_features),
      n_total_(sum_of(given)),
      theta_(static_cast<size_t>(p_) * p_),
      eta_(static_cast<size_t>(p_) * table_.stride),
      wr_(eta_.size()),
      sums_(p_),
      columns_(p_),
      places_(p_) {}

BmnState Bmn::solve(double alpha, BmnSettings settings) {
    alpha_ = alpha;
    settings_ = settings;
    start();
    bool converged = false;
    int round = 0;
    for (; round < settings_.max_rounds && !converged; ++round) {
        if (round > 0) choose_working_set();
        const std::vector<double> before = values_;
        const bool stopped = run_round();
        double change = 0.0;
        for (size_t k = 0; k < values_.size(); ++k) {
            change = std::max(change, std::abs(values_[k] - before[k]));
            entry(working_[k].s, working_[k].t) = values_[k];
        }
        if (!stopped) break;
        converged = round > 0 && change < settings_.tolerance;
    }
    const auto n_pairs = std::count_if(working_.begin(), working_.end(), [](const Pair& e) { return e.s != e.t; });
    BmnState state{{}, {}, {}, n_iter_, round, static_cast<int>(n_pairs), line_search_ ? 0.0 : step_size_, converged};
    for (int s = 0; s < p_; ++s) {
        state.fields.push_back(entry(s, s));
        for (int t = s + 1; t < p_; ++t)
            if (entry(s, t) != 0.0) state.edges.push_back({s, t}), state.values.push_back(entry(s, t));
    }
    return state;
}

// The fields logit(mean), at most 1 in size. BMN puts +1 for every larger value, whatever its sign: not copied.
void Bmn::start() {
    std::fill(theta_.begin(), theta_.end(), 0.0);
    working_.clear();
    values_.clear();
    for (int s = 0; s < p_; ++s) {
        columns_[s].clear(), places_[s].clear();
        entry(s, s) = std::clamp(std::log(table_.margins.mean[s] / (1.0 - table_.margins.mean[s])), -1.0, 1.0);
        if (entry(s, s) != 0.0) add_entry(s, s);
    }
    step_size_ = 1.0;
    line_search_ = settings_.line_search;
    n_iter_ = 0;
}

void Bmn::add_entry(int s, int t) {
    if (s != t) {
        columns_[s].push_back(table_.column(t)), places_[s].push_back(static_cast<int>(working_.size()));
        columns_[t].push_back(table_.column(s)), places_[t].push_back(static_cast<int>(working_.size()));
    }
    working_.push_back({s, t});
    values_.push_back(entry(s, t));
}

// The non-zeros, and at most 4p zeros: those whose gradient exceeds the penalty most.
void Bmn::choose_working_set() {
    evaluate(values_);
    std::vector<const uint8_t*> every(p_);
    for (int s = 0; s < p_; ++s) every[s] = table_.column(s);
    std::vector<double> products(static_cast<size_t>(p_) * p_);
    for (int s = 0; s < p_; ++s, Poll::here())
        kernels_.dots({every.data(), p_, table_.stride}, wr(s), products.data() + static_cast<size_t>(s) * p_);
    struct Candidate {
        double excess;
        int s, t;
    };
    std::vector<Candidate> candidates;
    working_.clear(), values_.clear();
    for (int s = 0; s < p_; ++s) columns_[s].clear(), places_[s].clear();
    for (int s = 0; s < p_; ++s)
        for (int t = s; t < p_; ++t) {
            if (entry(s, t) != 0.0) {
                add_entry(s, t);
                continue;
            }
            const double g =
                s == t ? sums_[s].field
                       : products[static_cast<size_t>(s) * p_ + t] + products[static_cast<size_t>(t) * p_ + s];
            const double excess = std::abs(g) - (s == t ? 0.0 : alpha_);
            if (excess > 0.0) candidates.push_back({excess, s, t});
        }
    const size_t count = std::min(candidates.size(), static_cast<size_t>(ADDED_PER_NODE) * p_);
    std::partial_sort(candidates.begin(), candidates.begin() + count, candidates.end(),
                      [](const Candidate& a, const Candidate& b) {
                          return a.excess != b.excess ? a.excess > b.excess : std::pair(a.s, a.t) < std::pair(b.s, b.t);
                      });
    for (size_t k = 0; k < count; ++k) add_entry(candidates[k].s, candidates[k].t);
}

// Steps until the largest change is at most the tolerance; false if the steps are used up.
bool Bmn::run_round() {
    std::vector<double> next(values_.size());
    objective_ = saved_objective_ = evaluate(values_);
    saved_ = values_;
    for (int iteration = 0; iteration < settings_.max_iter; ++iteration) {
        ++n_iter_;
        measure_gradient();
        const double change = propose(next);
        if (change <= settings_.tolerance) {
            values_ = std::move(next);
            return true;
        }
        if (line_search_)
            search_line(next);
        else if (iteration % CHECK == 0)
            accept_or_halve(next, iteration);
        else
            evaluate(next);
        values_ = next;
    }
    return false;
}

// Moves eta, residuals and sums to the given entries; returns F there.
double Bmn::evaluate(const std::vector<double>& values) {
    double objective = 0.0;
    std::vector<double> coefficients;
    for (size_t k = 0; k < values.size(); ++k) objective += penalty_of(static_cast<int>(k)) * std::abs(values[k]);
    std::vector<double> fields(p_, 0.0);
    for (size_t k = 0; k < values.size(); ++k)
        if (working_[k].s == working_[k].t) fields[working_[k].s] = values[k];
    for (int s = 0; s < p_; ++s, Poll::here()) {
        coefficients.resize(places_[s].size());
        for (size_t k = 0; k < coefficients.size(); ++k) coefficients[k] = values[places_[s][k]];
        std::fill(eta(s), eta(s) + table_.stride, fields[s]);
        if (!coefficients.empty()) kernels_.add_columns(list(s), coefficients.data(), 0.0, eta(s));
        sums_[s] = kernels_.node_pass(table_.rows(s), eta(s), wr(s));
        objective += sums_[s].loss;
    }
    return objective;
}

void Bmn::measure_gradient() {
    gradient_.assign(working_.size(), 0.0);
    std::vector<double> products;
    for (int s = 0; s < p_; ++s, Poll::here()) {
        products.resize(places_[s].size());
        kernels_.dots(list(s), wr(s), products.data());
        for (size_t k = 0; k < products.size(); ++k) gradient_[places_[s][k]] += products[k];
    }
    for (size_t k = 0; k < working_.size(); ++k)
        if (working_[k].s == working_[k].t) gradient_[k] = sums_[working_[k].s].field;
}

// All entries at once, each against its own bound of the curvature (the weights of a logistic model are at most 1/4);
// returns the largest change.
double Bmn::propose(std::vector<double>& next) const {
    double largest = 0.0;
    for (size_t k = 0; k < working_.size(); ++k) {
        const auto [s, t] = working_[k];
        const double length = step_size_ / (s == t ? 0.25 : 0.25 * (table_.margins.mean[s] + table_.margins.mean[t]));
        next[k] = soft_threshold(values_[k] - length * gradient_[k], length * penalty_of(static_cast<int>(k)));
        largest = std::max(largest, std::abs(next[k] - values_[k]));
    }
    return largest;
}

// Every CHECK steps: keep the point if the objective has not risen since the last kept one, else go back to that one
// with half the step. As in BMN the log-likelihood is that of the whole table and may fall by the tolerance.
void Bmn::accept_or_halve(std::vector<double>& next, int& iteration) {
    objective_ = evaluate(next);
    if (n_total_ * (objective_ - saved_objective_) <= settings_.tolerance) {
        saved_ = next;
        saved_objective_ = objective_;
        return;
    }
    iteration -= CHECK;  // the steps since then do not count against max_iter
    next = saved_;
    objective_ = evaluate(next);
    step_size_ *= SHORTER;
    if (step_size_ < SMALLEST_STEP) line_search_ = true, step_size_ = 1.0;
}

// Backtracks from the proposed point until the decrease is a share of what the slope promises.
void Bmn::search_line(std::vector<double>& next) {
    double slope = 0.0;
    for (size_t k = 0; k < next.size(); ++k) {
        // At zero the penalty takes the sign of the descent, which is how BMN measures the promise.
        const double side = values_[k] != 0.0 ? values_[k] : -gradient_[k];
        const double g =
            gradient_[k] + penalty_of(static_cast<int>(k)) * (side > 0.0 ? 1.0 : (side < 0.0 ? -1.0 : 0.0));
        slope += g * (next[k] - values_[k]);
    }
    double length = 1.0, reached = evaluate(next);
    while (reached > objective_ + SUFFICIENT * length * slope) {
        length *= SHORTER;
        if (length < SHORTEST) break;
        for (size_t k = 0; k < next.size(); ++k) next[k] = values_[k] + SHORTER * (next[k] - values_[k]);
        reached = evaluate(next);
    }
    objective_ = reached;
}

}  // namespace isinglass
