#include "newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lasso.hpp"

namespace isinglass {
namespace {

constexpr double INNER = 0.02;        // the model is solved to this share of the current KKT residual
constexpr double CONTRACTION = 0.05;  // blocks are kept while a step shrinks the residual at least this much
constexpr double NEAR = 0.98;  // edges whose gradient exceeds this share of the penalty become inner ones
constexpr size_t GROWTH = 4;   // edges per node that may become inner at once
constexpr int EARLY = 2;       // steps after which the whole working set is looked at in any case
constexpr double UNCHANGED = 0.02;  // a block is kept while its curvatures have changed by no larger a share
constexpr int STAGNATION = 40;      // steps without progress after which the best that can be had is returned
constexpr double PROGRESS = 0.9;    // a residual this much smaller than the best so far is progress
constexpr double DRIFT = 1e-3;      // share of the tolerance that rounding of predictors may take
constexpr double SLOW = 0.2;        // a step that leaves more than this share of the residual is slow
constexpr double SUFFICIENT = 1e-4;   // share of the predicted decrease a step must bring
constexpr double ROUNDING = 1e-14;    // relative error of F that the line search forgives
constexpr int MAX_HALVINGS = 12;      // then the blocks are majorised: sigma (1 - sigma) <= 1/4
constexpr double STATIONARY = 1e-13;  // |g| of fields and free edges for a feasible dual point
constexpr int MAX_POLISH = 50;

}  // namespace

std::vector<State> Problem::solve(std::vector<Pair> pairs, const std::vector<double>& alphas,
                                  Tolerances tolerances) {
    newton_->adopt(std::move(pairs));
    std::vector<State> states;
    for (double alpha : alphas) states.push_back(newton_->run(alpha, tolerances));
    return states;
}

Newton::Newton(Problem& problem)
    : problem_(problem),
      model_(set_, problem.kernels_),
      field_steps_(problem.n_features()),
      travel_(problem.n_features()),
      scratch_(problem.pool_.size()) {}

// Sorted, without repetitions and forbidden pairs.
void Newton::adopt(std::vector<Pair> pairs) {
    set_.clear();
    const auto less = [](const Pair& a, const Pair& b) { return a.s != b.s ? a.s < b.s : a.t < b.t; };
    const auto same = [](const Pair& a, const Pair& b) { return a.s == b.s && a.t == b.t; };
    pairs.insert(pairs.end(), problem_.support_.begin(), problem_.support_.end());
    std::sort(pairs.begin(), pairs.end(), less);
    pairs.erase(std::unique(pairs.begin(), pairs.end(), same), pairs.end());
    size_t known = 0;
    for (const Pair& pair : pairs) {
        const double omega = problem_.omega(pair.s, pair.t);
        if (!std::isfinite(omega)) continue;
        set_.s.push_back(pair.s);
        set_.t.push_back(pair.t);
        set_.omega.push_back(omega);
        const bool is_known = known < problem_.support_.size() && same(problem_.support_[known], pair);
        set_.theta.push_back(is_known ? problem_.support_values_[known++] : 0.0);
    }
    set_.is_inner.resize(set_.n_edges());
    for (size_t e = 0; e < set_.n_edges(); ++e) set_.is_inner[e] = set_.theta[e] != 0.0;
    set_.gradient.resize(set_.n_edges());
    set_.arrange(problem_.n_features(), problem_.table_);
    problem_.last_pairs_.clear();
    for (size_t e = 0; e < set_.n_edges(); ++e) problem_.last_pairs_.push_back({set_.s[e], set_.t[e]});
    release_nodes();
    complete_gradient(true);
}

// Nodes that have left the working set go back to their field alone; the others keep their predictor.
void Newton::release_nodes() {
    problem_.pool_.each(problem_.n_features(), [&](int node, int) {
        if (set_.degree[node] == 0 && !problem_.is_isolated_[node]) problem_.isolate(node);
        problem_.is_isolated_[node] = set_.degree[node] == 0;
    });
}

// Everything that follows from a node's predictor; of its gradient only the inner slots.
void Newton::evaluate(int node) {
    problem_.pass(node);
    const int first = set_.offset[node];
    problem_.kernels_.dots(problem_.wr(node), set_.column.data() + first, set_.inner_degree[node],
                           problem_.table_.stride, set_.slot_gradient.data() + first);
}

// The outer slots too, so that the whole working set can be looked at.
void Newton::complete_gradient(bool inner_too) {
    problem_.pool_.each(static_cast<int>(set_.nodes.size()), [&](int k, int) {
        const int node = set_.nodes[k], done = inner_too ? 0 : set_.inner_degree[node];
        const int first = set_.offset[node] + done;
        problem_.kernels_.dots(problem_.wr(node), set_.column.data() + first, set_.degree[node] - done,
                               problem_.table_.stride, set_.slot_gradient.data() + first);
    });
    gather_gradient();
}

void Newton::gather_gradient() {
    for (size_t e = 0; e < set_.n_edges(); ++e)
        set_.gradient[e] = set_.slot_gradient[set_.slot_s[e]] + set_.slot_gradient[set_.slot_t[e]];
}

// Takes the edges that are about to move into the blocks, the steepest first; false if there is none outside.
// Needs the complete gradient. No more than a few per node at once: after a large change of alpha most of the
// edges that look ready are explained away by the first ones.
bool Newton::widen(double alpha, double share) {
    std::vector<std::pair<double, int>> found;
    for (size_t e = 0; e < set_.n_edges(); ++e) {
        const double limit = share * alpha * set_.omega[e], g = std::abs(set_.gradient[e]);
        if (!set_.is_inner[e] && g > limit)
            found.push_back({limit > 0 ? -g / limit : -HUGE_VAL, static_cast<int>(e)});
    }
    if (found.empty()) return false;
    const size_t most = std::max(set_.inner.size(), GROWTH * set_.nodes.size());
    if (found.size() > most) {
        std::nth_element(found.begin(), found.begin() + most, found.end());
        found.resize(most);
    }
    for (const auto& [strength, e] : found) set_.is_inner[e] = 1;
    rearrange();
    return true;
}

// New places for the slots after is_inner has changed; the gradients move along.
void Newton::rearrange() {
    const std::vector<int> old_s = set_.slot_s, old_t = set_.slot_t;
    const std::vector<double> old_gradient = set_.slot_gradient;
    set_.arrange(problem_.n_features(), problem_.table_);
    for (size_t e = 0; e < set_.n_edges(); ++e) {
        set_.slot_gradient[set_.slot_s[e]] = old_gradient[old_s[e]];
        set_.slot_gradient[set_.slot_t[e]] = old_gradient[old_t[e]];
    }
}

double Newton::violation(size_t e, double alpha) const {
    return kkt_violation(set_.theta[e], set_.gradient[e], alpha * set_.omega[e]);
}

double Newton::inner_residual(double alpha) const {
    double residual = 0;
    for (int node : set_.nodes) residual = std::max(residual, std::abs(problem_.sums_[node].field));
    for (int e : set_.inner) residual = std::max(residual, violation(e, alpha));
    return residual;
}

// Over the whole working set; needs the complete gradient.
double Newton::kkt_residual(double alpha) const {
    double residual = inner_residual(alpha);
    for (size_t e = 0; e < set_.n_edges(); ++e) residual = std::max(residual, violation(e, alpha));
    return residual;
}

bool Newton::has_free(double alpha) const {
    return std::any_of(set_.omega.begin(), set_.omega.end(),
                       [&](double omega) { return alpha * omega == 0.0; });
}

State Newton::run(double alpha, const Tolerances& tolerances) {
    const double target = tolerances.kkt / 2;
    const double gap_target = tolerances.gap * std::max(problem_.null_objective_, 1e-12) / 2;
    double gap = std::numeric_limits<double>::quiet_NaN();
    bool stale = true, look = false;  // look: at the edges that are not inner
    bool last = false;
    widen(alpha, NEAR);
    double kkt = kkt_residual(alpha), best = kkt;
    int n_iter = 0, since_best = 0;
    for (;; ++n_iter) {
        last = last || n_iter == tolerances.max_iter || since_best == STAGNATION;
        if (kkt <= target || last) {
            if (std::isfinite(gap_target)) finish(alpha, tolerances.kkt);
            complete_gradient(false);
            kkt = kkt_residual(alpha);
            if (std::isfinite(gap_target)) gap = duality_gap(alpha, scale(alpha));
            if (last || (kkt <= target && !(gap > gap_target))) break;
            look = true;
        } else if (look) {
            complete_gradient(false);
            kkt = kkt_residual(alpha);
        }
        const bool wider = look && widen(alpha, NEAR);
        look = wider || n_iter < EARLY;
        if (stale || wider) assemble(false);
        const bool accepted = step(alpha, INNER * kkt, false);
        if (!accepted && majorised_) {
            last = true;  // rounding: no step decreases F any more
            continue;
        }
        const double next = inner_residual(alpha);
        stale = !accepted || majorised_ || next > CONTRACTION * kkt;
        if (!accepted) {
            std::fill(set_.is_made.begin(), set_.is_made.end(), 0);
            assemble(true);
            stale = false;
        }
        // Slow: small curvatures may matter that the share of change does not see, so every block is remade.
        if (next > SLOW * kkt) std::fill(set_.is_made.begin(), set_.is_made.end(), 0);
        kkt = next;
        since_best = kkt < PROGRESS * best ? 0 : since_best + 1;
        best = since_best == 0 ? kkt : best;
    }
    return record(alpha, kkt, gap, n_iter);
}

// What is returned is the parameters, so the certificate must be theirs: where updates could have moved the
// predictors away from them by a noticeable part of the tolerance, they are computed afresh. Then fields and
// free edges are made stationary.
void Newton::finish(double alpha, double tolerance) {
    const double unit = std::numeric_limits<double>::epsilon();
    for (int node : set_.nodes)
        if (!(unit * travel_[node] <= DRIFT * tolerance)) {
            rebuild_predictors();
            break;
        }
    polish(alpha);
}

// eta = field + sum_t theta_t x_t, and what follows from it.
void Newton::rebuild_predictors() {
    problem_.pool_.each(static_cast<int>(set_.nodes.size()), [&](int k, int) {
        const int node = set_.nodes[k];
        std::vector<const uint8_t*> columns;
        std::vector<double> values;
        for (int slot = set_.offset[node]; slot < set_.offset[node] + set_.inner_degree[node]; ++slot) {
            columns.push_back(set_.column[slot]);
            values.push_back(set_.theta[set_.edge[slot]]);
        }
        double* eta = problem_.eta(node);
        std::fill(eta, eta + problem_.table_.stride, problem_.fields_[node]);
        problem_.kernels_.add_columns(eta, 0.0, columns.data(), values.data(),
                                      static_cast<int>(values.size()), problem_.table_.stride);
        travel_[node] = 0;
        evaluate(node);
    });
    gather_gradient();
}

void Newton::assemble(bool majorise) {
    const int stride = problem_.table_.stride;
    if (majorise && quarter_w_.size() == 0) {
        quarter_w_.resize(stride);
        for (int n = 0; n < stride; ++n) quarter_w_[n] = static_cast<float>(problem_.table_.w[n] / 4);
    }
    majorised_ = majorise;
    const int largest = *std::max_element(set_.inner_degree.begin(), set_.inner_degree.end());
    const size_t scratch_size = gram_scratch(largest);
    for (auto& scratch : scratch_)
        if (scratch.size() < scratch_size) scratch.resize(scratch_size);
    if (made_from_.size() == 0) made_from_.resize(problem_.wv_.size());
    problem_.pool_.each(static_cast<int>(set_.nodes.size()), [&](int k, int worker) {
        const int node = set_.nodes[k];
        const float* wv = majorise ? quarter_w_.data() : problem_.wv(node);
        const double S = majorise ? 0.25 : problem_.sums_[node].curve;
        float* before = made_from_.data() + static_cast<size_t>(node) * stride;
        if (set_.is_made[node] && problem_.kernels_.change(wv, before, stride) <= UNCHANGED * S) return;
        std::copy(wv, wv + stride, before);
        set_.assemble(node, wv, S, stride, scratch_[worker].data(), problem_.kernels_);
    });
}

// The gradient of the edges once the fields follow to their minimum of the model.
void Newton::profile_gradient() {
    for (int e : set_.inner) {
        const int s = set_.s[e], t = set_.t[e];
        model_.gradient[e] = set_.gradient[e] -
                             set_.b[set_.slot_s[e]] * problem_.sums_[s].field / set_.curve[s] -
                             set_.b[set_.slot_t[e]] * problem_.sums_[t].field / set_.curve[t];
    }
}

void Newton::find_field_steps() {
    for (int node : set_.nodes) {
        double sum = problem_.sums_[node].field;
        for (int slot = set_.offset[node]; slot < set_.offset[node] + set_.inner_degree[node]; ++slot)
            sum += set_.b[slot] * model_.d[set_.edge[slot]];
        // A field that is at its minimum, with no edge moving, stays: the node then costs nothing.
        field_steps_[node] = std::abs(sum) <= STATIONARY / 10 ? 0.0 : -sum / set_.curve[node];
    }
}

double Newton::predicted_change(double alpha) const {
    double change = 0;
    for (int e : set_.inner) {
        const double theta = set_.theta[e], d = model_.d[e];
        change += set_.gradient[e] * d + alpha * set_.omega[e] * (std::abs(theta + d) - std::abs(theta));
    }
    for (int node : set_.nodes) change += problem_.sums_[node].field * field_steps_[node];
    return change;
}

double Newton::penalty(double alpha) const {
    double sum = 0;
    for (size_t e = 0; e < set_.n_edges(); ++e) sum += set_.omega[e] * std::abs(set_.theta[e]);
    return alpha * sum;
}

// Moves along the step: fields, predictors and everything that follows from them; theta is the caller's.
void Newton::shift(double length) {
    problem_.pool_.each(static_cast<int>(set_.nodes.size()), [&](int k, int) {
        const int node = set_.nodes[k];
        std::vector<const uint8_t*> columns;
        std::vector<double> values;
        for (int slot = set_.offset[node]; slot < set_.offset[node] + set_.inner_degree[node]; ++slot)
            if (model_.d[set_.edge[slot]] != 0.0) {
                columns.push_back(set_.column[slot]);
                values.push_back(length * model_.d[set_.edge[slot]]);
            }
        if (columns.empty() && field_steps_[node] == 0.0) return;
        for (double value : values) travel_[node] += std::abs(value);
        travel_[node] += std::abs(length * field_steps_[node]);
        problem_.fields_[node] += length * field_steps_[node];
        problem_.kernels_.add_columns(problem_.eta(node), length * field_steps_[node], columns.data(),
                                      values.data(), static_cast<int>(values.size()), problem_.table_.stride);
        evaluate(node);
    });
}

// One Newton step with line search; false if no length decreases F enough (the point is then unchanged).
bool Newton::step(double alpha, double inner_tolerance, bool free_only) {
    const double before = problem_.smooth_loss() + penalty(alpha);
    model_.reset();
    profile_gradient();
    free_only ? model_.minimise_free(alpha, inner_tolerance) : model_.minimise(alpha, inner_tolerance);
    find_field_steps();
    const double predicted = predicted_change(alpha);
    const std::vector<double> start = set_.theta, start_fields = problem_.fields_;
    double length = 1.0, moved = 0.0;
    for (int halving = 0; halving <= MAX_HALVINGS; ++halving, length /= 2) {
        shift(length - moved);
        moved = length;
        for (size_t e = 0; e < start.size(); ++e) set_.theta[e] = start[e] + length * model_.d[e];
        const double after = problem_.smooth_loss() + penalty(alpha);
        if (after <= before + SUFFICIENT * length * std::min(predicted, 0.0) + ROUNDING * before) {
            gather_gradient();
            return true;
        }
    }
    set_.theta = start;
    problem_.fields_ = start_fields;
    rebuild_predictors();  // not by stepping back: the step may have been enormous
    return false;
}

// Fields and free edges to their minimum with the rest fixed: the dual point is feasible only there.
void Newton::polish(double alpha) {
    if (!has_free(alpha)) {
        problem_.pool_.each(static_cast<int>(set_.nodes.size()),
                            [&](int k, int) { polish_field(set_.nodes[k]); });
        gather_gradient();
        return;
    }
    for (int round = 0; round < MAX_POLISH; ++round) {
        double largest = 0;
        for (int node : set_.nodes) largest = std::max(largest, std::abs(problem_.sums_[node].field));
        for (size_t e = 0; e < set_.n_edges(); ++e)
            if (alpha * set_.omega[e] == 0.0) largest = std::max(largest, std::abs(set_.gradient[e]));
        if (largest <= STATIONARY) return;
        assemble(false);
        if (!step(alpha, INNER * largest, true)) return;
    }
}

// Newton in one dimension, kept inside the bracket that the sign of the derivative gives.
void Newton::polish_field(int node) {
    double low = -std::numeric_limits<double>::infinity(), high = -low;
    double& field = problem_.fields_[node];
    double* eta = problem_.eta(node);
    for (int round = 0; round < MAX_POLISH; ++round) {
        const NodeSums& sums = problem_.sums_[node];
        if (std::abs(sums.field) <= STATIONARY) break;
        (sums.field > 0 ? high : low) = field;
        double next = field - std::clamp(sums.field / sums.curve, -4.0, 4.0);
        if (!(next > low && next < high)) next = (low + high) / 2;
        const double change = next - field;
        if (!std::isfinite(change) || change == 0.0) break;
        field = next;
        problem_.kernels_.add_columns(eta, change, nullptr, nullptr, 0, problem_.table_.stride);
        evaluate(node);
    }
}

// The largest c <= 1 for which c r is feasible in the dual.
double Newton::scale(double alpha) const {
    double c = 1;
    for (size_t e = 0; e < set_.n_edges(); ++e) {
        const double limit = alpha * set_.omega[e];
        if (limit > 0 && std::abs(set_.gradient[e]) > limit)
            c = std::min(c, limit / std::abs(set_.gradient[e]));
    }
    return c;
}

double Newton::duality_gap(double alpha, double c) {
    double gap = problem_.divergence(c);
    for (size_t e = 0; e < set_.n_edges(); ++e)
        gap += alpha * set_.omega[e] * std::abs(set_.theta[e]) + c * set_.gradient[e] * set_.theta[e];
    for (int node : set_.nodes) gap += c * problem_.sums_[node].field * problem_.fields_[node];
    return std::max(gap, 0.0);
}

// The gap a proof may rely on: fields and free edges are stationary only up to rounding, so that the dual
// point is feasible only up to rounding, and the gap itself is a sum of rounded terms.
double Newton::proof_gap(double alpha, double gap) const {
    double stray = 0, size = 1;
    for (int node = 0; node < problem_.n_features(); ++node) {
        stray = std::max(stray, std::abs(problem_.sums_[node].field));
        size += std::abs(problem_.fields_[node]);
    }
    for (size_t e = 0; e < set_.n_edges(); ++e) {
        if (alpha * set_.omega[e] == 0.0) stray = std::max(stray, std::abs(set_.gradient[e]));
        size += 2 * std::abs(set_.theta[e]);
    }
    return gap + 2 * stray * size + 1e-15 * size * (1 + problem_.smooth_loss() + penalty(alpha));
}

State Newton::record(double alpha, double kkt, double gap, int n_iter) {
    State state{alpha, problem_.fields_, {},    {}, problem_.smooth_loss() + penalty(alpha), kkt, gap, 0,
                0,     set_.n_edges(),   n_iter};
    const double c = scale(alpha), safe_gap = proof_gap(alpha, gap);
    for (size_t e = 0; e < set_.n_edges(); ++e) {
        const double sd_s = problem_.table_.sd[set_.s[e]], sd_t = problem_.table_.sd[set_.t[e]];
        const double radius = std::sqrt(safe_gap * (sd_s * sd_s + sd_t * sd_t) / 2);
        state.certified_zeros += c * std::abs(set_.gradient[e]) + radius < alpha * set_.omega[e];
        if (set_.theta[e] == 0.0) continue;
        state.edges.push_back({set_.s[e], set_.t[e]});
        state.values.push_back(set_.theta[e]);
    }
    if (has_free(alpha))
        for (int node : set_.nodes)
            for (int n = 0; n < problem_.table_.n_distinct; ++n)
                state.largest_eta = std::max(state.largest_eta, std::abs(problem_.eta(node)[n]));
    problem_.support_ = state.edges;
    problem_.support_values_ = state.values;
    problem_.last_scale_ = c;
    problem_.last_gap_ = safe_gap;
    return state;
}

}  // namespace isinglass
