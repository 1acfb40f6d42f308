#include "quadratic.hpp"

#include <algorithm>
#include <cmath>

#include "lasso.hpp"

namespace isinglass {
namespace {

constexpr int MAX_ROUNDS = 20;     // of sweeps and face steps; the next Newton step copes with what is left
constexpr int ACTIVE_SWEEPS = 2;   // before the face step is tried
constexpr double SLOW = 0.2;       // a sweep that leaves more than this share of the violation is slow
constexpr int MAX_PRODUCTS = 200;  // of one face step

}  // namespace

void Quadratic::reset() {
    const size_t m = set_.n_edges();
    d.assign(m, 0.0);
    gradient.resize(m);
    if (slope_.size() < set_.n_slots()) {
        slope_.resize(set_.n_slots() * 2);
        product_.resize(set_.n_slots() * 2);
    }
    std::fill(slope_.data(), slope_.data() + set_.n_slots(), 0.0f);
    curvature_.resize(m);
    for (int e : set_.inner) {
        const int i = set_.slot_s[e], j = set_.slot_t[e];
        curvature_[e] = static_cast<double>(set_.block_row(i)[i - set_.offset[set_.s[e]]]) +
                        set_.block_row(j)[j - set_.offset[set_.t[e]]];
    }
}

double Quadratic::slope(int e) const {
    return gradient[e] + slope_[set_.slot_s[e]] + slope_[set_.slot_t[e]];
}

void Quadratic::move(int e, double change) {
    d[e] += change;
    const float factor = static_cast<float>(change);
    for (const auto& [slot, node] :
         {std::pair{set_.slot_s[e], set_.s[e]}, std::pair{set_.slot_t[e], set_.t[e]}}) {
        const float* r = set_.block_row(slot);
        kernels_.add_rows(&r, &factor, 1, slope_.data() + set_.offset[node], set_.block_stride(node));
    }
}

// One coordinate to its minimum; returns how much its optimality condition was violated.
double Quadratic::visit(int e, double alpha) {
    const double z = set_.theta[e] + d[e], limit = alpha * set_.omega[e], h = curvature_[e];
    const double q = slope(e);
    if (z == 0.0 && std::abs(q) <= limit) return 0.0;
    const double target = soft_threshold(z - q / h, limit / h);
    const double change = target - z;
    if (change == 0.0) return 0.0;
    move(e, change);
    if (target == 0.0) d[e] = -set_.theta[e];  // exactly, whatever the rounding of the sum
    return std::abs(change) * h;
}

double Quadratic::sweep(double alpha) {
    double violation = 0;
    for (int e : set_.inner) violation = std::max(violation, visit(e, alpha));
    return violation;
}

double Quadratic::sweep_active(double alpha) {
    double violation = 0;
    for (int e : set_.inner)
        if (set_.theta[e] + d[e] != 0.0) violation = std::max(violation, visit(e, alpha));
    return violation;
}

void Quadratic::minimise(double alpha, double tolerance) {
    for (int round = 0; round < MAX_ROUNDS; ++round) {
        double violation = sweep(alpha);
        if (violation <= tolerance) return;
        bool slow = false;
        for (int k = 0; k < ACTIVE_SWEEPS && violation > tolerance; ++k) {
            const double next = sweep_active(alpha);
            slow = next > SLOW * violation;
            violation = next;
        }
        if (violation > tolerance && slow) face_step(alpha, tolerance);
    }
}

void Quadratic::minimise_free(double alpha, double tolerance) {
    face_.clear();
    for (int e : set_.inner)
        if (alpha * set_.omega[e] == 0.0) face_.push_back(e);
    residual_.resize(face_.size());
    for (size_t k = 0; k < face_.size(); ++k) residual_[k] = -slope(face_[k]);
    solve_face(tolerance);
    for (size_t k = 0; k < face_.size(); ++k) d[face_[k]] += x_[k];
    rebuild_slopes();
}

// Newton's point on the face of the current signs. Edges that would change sign are set to zero; if the model
// does not decrease that way, the step is cut at the first sign change, where it must.
void Quadratic::face_step(double alpha, double tolerance) {
    face_.clear();
    residual_.clear();
    for (int e : set_.inner) {
        const double z = set_.theta[e] + d[e];
        if (z == 0.0) continue;
        face_.push_back(e);
        residual_.push_back(-(slope(e) + alpha * set_.omega[e] * sign(z)));
    }
    solve_face(0.3 * tolerance);
    const double before = value(alpha);
    const std::vector<double> kept = d;
    double longest = 1.0;
    for (size_t k = 0; k < face_.size(); ++k) {
        const int e = face_[k];
        const double z = set_.theta[e] + d[e];
        if (set_.omega[e] > 0.0 && alpha > 0.0 && z * (z + x_[k]) <= 0.0) {
            longest = std::min(longest, -z / x_[k]);
            d[e] = -set_.theta[e];
        } else {
            d[e] += x_[k];
        }
    }
    rebuild_slopes();
    if (longest == 1.0 || value(alpha) <= before) return;
    d = kept;
    for (size_t k = 0; k < face_.size(); ++k) {
        const int e = face_[k];
        const double z = set_.theta[e] + d[e] + longest * x_[k];
        // The edge that ends the step lands on zero exactly.
        d[e] = std::abs(z) <= 1e-12 * std::abs(x_[k]) ? -set_.theta[e] : d[e] + longest * x_[k];
    }
    rebuild_slopes();
}

// Conjugate gradients, preconditioned by the diagonal, for H x = residual on the face; leaves x in x_.
void Quadratic::solve_face(double tolerance) {
    const size_t m = face_.size();
    index_face();
    x_.assign(m, 0.0);
    direction_.resize(m);
    product_face_.resize(m);
    double rz = 0, largest = 0;
    for (size_t k = 0; k < m; ++k) {
        direction_[k] = residual_[k] / curvature_[face_[k]];
        rz += residual_[k] * direction_[k];
        largest = std::max(largest, std::abs(residual_[k]));
    }
    for (int step = 0; step < MAX_PRODUCTS && largest > tolerance; ++step) {
        multiply(direction_, product_face_);
        double curvature = 0;
        for (size_t k = 0; k < m; ++k) curvature += direction_[k] * product_face_[k];
        if (!(curvature > 0)) return;
        const double length = rz / curvature;
        double next = 0;
        largest = 0;
        for (size_t k = 0; k < m; ++k) {
            x_[k] += length * direction_[k];
            residual_[k] -= length * product_face_[k];
            next += residual_[k] * residual_[k] / curvature_[face_[k]];
            largest = std::max(largest, std::abs(residual_[k]));
        }
        const double ratio = next / rz;
        for (size_t k = 0; k < m; ++k)
            direction_[k] = residual_[k] / curvature_[face_[k]] + ratio * direction_[k];
        rz = next;
    }
}

// Which block rows the face needs, once for all the products on it.
void Quadratic::index_face() {
    face_of_.assign(set_.n_edges(), -1);
    for (size_t k = 0; k < face_.size(); ++k) face_of_[face_[k]] = static_cast<int>(k);
    face_nodes_.clear();
    face_rows_.clear();
    face_places_.clear();
    for (int node : set_.nodes) {
        const int first = set_.offset[node], begin = static_cast<int>(face_rows_.size());
        int reach = 0;
        for (int slot = first; slot < first + set_.inner_degree[node]; ++slot) {
            const int place = face_of_[set_.edge[slot]];
            if (place < 0) continue;
            face_rows_.push_back(set_.block_row(slot));
            face_places_.push_back(place);
            reach = slot - first + 1;
        }
        const int end = static_cast<int>(face_rows_.size());
        if (end > begin) face_nodes_.push_back({first, begin, end, (reach + 15) / 16 * 16});
    }
    factors_.resize(face_rows_.size());
}

// Hx on the face.
void Quadratic::multiply(const std::vector<double>& x, std::vector<double>& Hx) {
    for (const FaceNode& node : face_nodes_) {
        for (int k = node.begin; k < node.end; ++k) factors_[k] = static_cast<float>(x[face_places_[k]]);
        std::fill(product_.data() + node.first, product_.data() + node.first + node.reach, 0.0f);
        kernels_.add_rows(face_rows_.data() + node.begin, factors_.data() + node.begin, node.end - node.begin,
                          product_.data() + node.first, node.reach);
    }
    for (size_t k = 0; k < face_.size(); ++k)
        Hx[k] = static_cast<double>(product_[set_.slot_s[face_[k]]]) + product_[set_.slot_t[face_[k]]];
}

void Quadratic::rebuild_slopes() {
    for (int node : set_.nodes) {
        const int first = set_.offset[node], last = first + set_.inner_degree[node];
        rows_.clear();
        factors_.clear();
        for (int slot = first; slot < last; ++slot)
            if (d[set_.edge[slot]] != 0.0) {
                rows_.push_back(set_.block_row(slot));
                factors_.push_back(static_cast<float>(d[set_.edge[slot]]));
            }
        const int length = set_.block_stride(node);
        std::fill(slope_.data() + first, slope_.data() + first + length, 0.0f);
        kernels_.add_rows(rows_.data(), factors_.data(), static_cast<int>(rows_.size()),
                          slope_.data() + first, length);
    }
}

double Quadratic::value(double alpha) const {
    double sum = 0;
    for (int e : set_.inner) {
        const double Hd = static_cast<double>(slope_[set_.slot_s[e]]) + slope_[set_.slot_t[e]];
        // The change of the penalty, not the penalty: no cancellation against what stays.
        const double penalty = std::abs(set_.theta[e] + d[e]) - std::abs(set_.theta[e]);
        sum += d[e] * (gradient[e] + 0.5 * Hd) + alpha * set_.omega[e] * penalty;
    }
    return sum;
}

}  // namespace isinglass
