#include "lasso/quadratic.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lasso/lasso.hpp"
#include "tuning.hpp"

namespace isinglass {

using namespace tuning::quadratic;

void Quadratic::reset() {
    const size_t m = set_.n_coefficients();
    d.resize(m), gradient.resize(m);
    chunks_.each_entry(m, [&](size_t i) { d[i] = 0.0; });
    before_ = hessian_.n_products;
    is_exhausted_ = false;
    is_rough_ = true;
    if (set_.has_groups()) return;
    if (slope_.size() < set_.n_slots()) slope_.resize(set_.n_slots() * 2);
    curvature_.resize(m);
    chunks_.each_entry(set_.n_slots(), [&](size_t slot) { slope_[slot] = 0.0f; });
    each_inner([&](int e) {
        curvature_[e] = static_cast<double>(set_.diagonal()[set_.slot_s(e)]) + set_.diagonal()[set_.slot_t(e)];
    });
}

void Quadratic::keep() {
    kept_.resize(d.size());
    chunks_.each_entry(d.size(), [&](size_t i) { kept_[i] = d[i]; });
}

double Quadratic::slope(int e) const {
    return gradient[e] + slope_[set_.slot_s(e)] + slope_[set_.slot_t(e)];
}

void Quadratic::move(int e, double change) {
    d[e] += change;
    const float factor = static_cast<float>(change);
    const auto add_row = [&](int slot, int node) {
        const float* r = set_.block_row(slot);
        kernels().add_rows(&r, &factor, 1, slope_.data() + set_.first_slot(node), set_.block_stride(node));
    };
    add_row(set_.slot_s(e), set_.s(e));
    if (set_.is_shared()) add_row(set_.slot_t(e), set_.t(e));
}

// One coordinate to its minimum; returns how much its optimality condition was violated.
double Quadratic::visit(int e, double alpha) {
    const double z = set_.theta()[e] + d[e], limit = alpha * set_.omega(e), h = curvature_[e];
    const double q = slope(e);
    if (z == 0.0 && std::abs(q) <= limit) return 0.0;
    const double target = soft_threshold(z - q / h, limit / h);
    const double change = target - z;
    if (change == 0.0) return 0.0;
    move(e, change);
    if (target == 0.0) d[e] = -set_.theta()[e];  // exactly, whatever the rounding of the sum
    return std::abs(change) * h;
}

double Quadratic::sweep(double alpha, bool only_active) {
    double violation = 0;
    for (int e : set_.inner())
        if (!only_active || set_.theta()[e] + d[e] != 0.0) violation = std::max(violation, visit(e, alpha));
    poll_();
    return violation;
}

void Quadratic::minimize(double alpha, double tolerance) {
    if (set_.has_groups()) {
        n_group_products_ += groups_.minimize(gradient, alpha, tolerance, d);
        return;
    }
    set_.has_operators() ? minimize_by_faces(alpha, tolerance) : minimize_by_sweeps(alpha, tolerance);
}

void Quadratic::minimize_by_sweeps(double alpha, double tolerance) {
    for (int round = 0; round < MAX_ROUNDS; ++round) {
        double violation = sweep(alpha, false);
        if (violation <= tolerance) return;
        bool slow = false;
        for (int k = 0; k < ACTIVE_SWEEPS && violation > tolerance; ++k) {
            const double next = sweep(alpha, true);
            slow = next > SLOW_SWEEP * violation;
            violation = next;
        }
        if (violation <= tolerance || !slow) continue;
        // Where columns are alike every step ends early, at the edge that is smallest: the next goes on without it,
        // before a sweep can bring it back.
        for (int cut = 0; cut < MAX_CUTS; ++cut)
            if (!face_step(alpha, tolerance) || hessian_.n_products - before_ > MAX_MODEL_PRODUCTS) break;
        if (hessian_.n_products - before_ > MAX_MODEL_PRODUCTS) return;
    }
}

void Quadratic::minimize_by_faces(double alpha, double tolerance) {
    double last = INFINITE;
    for (int round = 0; round < MAX_FACES; ++round) {
        const double violation = chunks_.largest_entry(set_.inner().size(), [&](size_t k) {
            const int e = set_.inner()[k];
            return kkt_violation(set_.theta()[e] + d[e], slope(e), alpha * set_.omega(e));
        });
        is_exhausted_ = static_cast<double>(hessian_.n_products - before_) > OPERATOR_PATIENCE * set_.mean_width();
        if (violation <= tolerance || is_exhausted_) return;
        if (violation > ROUGH_STEP * last) is_rough_ = false;
        last = violation;
        if (!violator_step(alpha, tolerance) && !gradient_step(alpha)) return;
    }
}

// Every edge to the minimum of its own parabola, the steps shortened until the model decreases.
bool Quadratic::gradient_step(double alpha) {
    const double before = value(alpha);
    keep();
    std::vector<double> slopes(set_.n_edges());
    for (int e : set_.inner()) slopes[e] = slope(e);
    for (double length = 1; length > SHORTEST_STEP; length /= 4) {
        for (int e : set_.inner()) {
            const double z = set_.theta()[e] + kept_[e], h = curvature_[e] / length;
            const double target = soft_threshold(z - slopes[e] / h, alpha * set_.omega(e) / h);
            d[e] = target == 0.0 ? -set_.theta()[e] : kept_[e] + (target - z);
        }
        rebuild_slopes();
        if (value(alpha) < before) return true;
    }
    d = kept_;
    rebuild_slopes();
    return false;
}

void Quadratic::minimize_free(double alpha, double tolerance) {
    std::vector<int> free;
    for (int e : set_.inner())
        if (alpha * set_.omega(e) == 0.0) free.push_back(e);
    face_.resize(free.size());
    for (size_t k = 0; k < free.size(); ++k) face_.set(k, {free[k], 0.0, 0.0, true}, -slope(free[k]));
    solve_face(tolerance, false);
    for (size_t k = 0; k < face_.size(); ++k) d[face_[k].edge] += face_.x()[k];
    rebuild_slopes();
}

// The edges that are not zero and, with violators, those that want to leave it, each with the sign that it is to keep.
void Quadratic::form_face(double alpha, bool with_violators) {
    const std::vector<int>& inner = set_.inner();
    const std::vector<int> found = chunks_.find(inner.size(), [&](size_t k) {
        const int e = inner[k];
        return set_.theta()[e] + d[e] != 0.0 || (with_violators && std::abs(slope(e)) > alpha * set_.omega(e));
    });
    face_.resize(found.size());
    chunks_.each_entry(found.size(), [&](size_t k) {
        const int e = inner[found[k]];
        const double z = set_.theta()[e] + d[e], q = slope(e), limit = alpha * set_.omega(e);
        const double side = z == 0.0 ? -sign(q) : sign(z);
        face_.set(k, {e, side, z, !(limit > 0.0)}, -(q + limit * side));
    });
}

// may_change: where operators cost a product for every step, a face that will change need not be solved to the end.
void Quadratic::solve_face(double tolerance, bool may_change) {
    face_.solve({tolerance, may_change, may_change && is_rough_, curvature_.data(), before_});
}

// Goes from kept_ along the step, every edge no further than zero; returns how far the first one gets, infinite if none
// ends there.
double Quadratic::stop_at_zero(double length) {
    const std::vector<double>& parts = chunks_.each(face_.size(), [&](size_t begin, size_t end) {
        double first = INFINITE;
        for (size_t k = begin; k < end; ++k) {
            const auto& [e, side, z, may_cross] = face_[k];
            const double step = face_.x()[k], move = length * step;
            const bool crosses = !may_cross && side * (z + move) <= 0.0;
            d[e] = crosses ? -set_.theta()[e] : kept_[e] + move;
            if (crosses) first = std::min(first, z != 0.0 ? -z / step : 0.0);
        }
        return first;
    });
    const double first = parts.empty() ? INFINITE : *std::min_element(parts.begin(), parts.end());
    rebuild_slopes();
    return first;
}

// To Newton's point on the face of the current signs, or no further than zero. If the model does not decrease that way,
// all edges end where the first one becomes zero, and it must; true if so.
bool Quadratic::face_step(double alpha, double tolerance) {
    form_face(alpha, false);
    solve_face(BLOCK_FACE * tolerance, false);
    const double before = value(alpha);
    keep();
    const double first = stop_at_zero(1.0);
    if (first == INFINITE || value(alpha) <= before) return false;
    d = kept_;
    for (size_t k = 0; k < face_.size(); ++k) {
        const int e = face_[k].edge;
        const double step = face_.x()[k], z = set_.theta()[e] + d[e] + first * step;
        // The edge that ends the step lands on zero exactly.
        d[e] = std::abs(z) <= 1e-12 * std::abs(step) ? -set_.theta()[e] : d[e] + first * step;
    }
    rebuild_slopes();
    return true;
}

// The same with violators, where ending at the first sign change would be a crawl: shorter steps are tried instead.
// False if none decreases the model; nothing has changed then.
bool Quadratic::violator_step(double alpha, double tolerance) {
    form_face(alpha, true);
    solve_face(OPERATOR_FACE * tolerance, true);
    const double before = value(alpha);
    keep();
    for (double length = 1.0; length > SHORTEST_FACE; length /= 2) {
        const bool is_inside = stop_at_zero(length) == INFINITE;
        if ((is_inside && length == 1.0) || value(alpha) <= before) return true;
    }
    d = kept_;
    rebuild_slopes();
    return false;
}

double Quadratic::value(double alpha) {
    return chunks_.sum_entries(set_.inner().size(), [&](size_t k) {
        const int e = set_.inner()[k];
        const double Hd = static_cast<double>(slope_[set_.slot_s(e)]) + slope_[set_.slot_t(e)];
        // The change of the penalty, not the penalty: no cancellation against what stays.
        const double penalty = std::abs(set_.theta()[e] + d[e]) - std::abs(set_.theta()[e]);
        return d[e] * (gradient[e] + 0.5 * Hd) + alpha * set_.omega(e) * penalty;
    });
}

}  // namespace isinglass
