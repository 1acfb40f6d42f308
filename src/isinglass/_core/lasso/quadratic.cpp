#include "lasso/quadratic.hpp"

#include <algorithm>
#include <cmath>

#include "lasso/lasso.hpp"

namespace isinglass {
namespace {

constexpr int MAX_ROUNDS = 20;      // of sweeps and face steps; the next Newton step copes with what is left
constexpr int ACTIVE_SWEEPS = 2;    // before the face step is tried
constexpr double SLOW = 0.2;        // a sweep that leaves more than this share of the violation is slow
constexpr int MAX_PRODUCTS = 200;   // of one face step
constexpr int PATIENCE = 6;         // products before the matrix of the face may be factorised
constexpr double FACTOR_COST = 70;  // products that a factorisation may cost
constexpr float SMALLEST_PIVOT = 1e-6f;  // relative to the diagonal: below, single precision has nothing left

double largest_of(const std::vector<double>& values) {
    double largest = 0;
    for (double value : values) largest = std::max(largest, std::abs(value));
    return largest;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
    return sum;
}

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
    product_[set_.null_slot()] = 0;
    curvature_.resize(m);
    for (int e : set_.inner)
        curvature_[e] = static_cast<double>(set_.diagonal[set_.slot_s[e]]) + set_.diagonal[set_.slot_t[e]];
}

double Quadratic::slope(int e) const {
    return gradient[e] + slope_[set_.slot_s[e]] + slope_[set_.slot_t[e]];
}

void Quadratic::move(int e, double change) {
    d[e] += change;
    const float factor = static_cast<float>(change);
    const auto add_row = [&](int slot, int node) {
        const float* r = set_.block_row(slot);
        kernels_.add_rows(&r, &factor, 1, slope_.data() + set_.offset[node], set_.block_stride(node));
    };
    add_row(set_.slot_s[e], set_.s[e]);
    if (set_.is_shared) add_row(set_.slot_t[e], set_.t[e]);
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

double Quadratic::sweep(double alpha, bool only_active) {
    double violation = 0;
    for (int e : set_.inner)
        if (!only_active || set_.theta[e] + d[e] != 0.0) violation = std::max(violation, visit(e, alpha));
    poll_();
    return violation;
}

void Quadratic::minimise(double alpha, double tolerance) {
    set_.has_operators ? minimise_by_faces(alpha, tolerance) : minimise_by_sweeps(alpha, tolerance);
}

void Quadratic::minimise_by_sweeps(double alpha, double tolerance) {
    for (int round = 0; round < MAX_ROUNDS; ++round) {
        double violation = sweep(alpha, false);
        if (violation <= tolerance) return;
        bool slow = false;
        for (int k = 0; k < ACTIVE_SWEEPS && violation > tolerance; ++k) {
            const double next = sweep(alpha, true);
            slow = next > SLOW * violation;
            violation = next;
        }
        if (violation > tolerance && slow) face_step(alpha, tolerance, false);
    }
}

void Quadratic::minimise_by_faces(double alpha, double tolerance) {
    for (int round = 0; round < MAX_ROUNDS; ++round) {
        double violation = 0;
        for (int e : set_.inner)
            violation =
                std::max(violation, kkt_violation(set_.theta[e] + d[e], slope(e), alpha * set_.omega[e]));
        if (violation <= tolerance || !face_step(alpha, tolerance, true)) return;
    }
}

void Quadratic::minimise_free(double alpha, double tolerance) {
    face_.clear();
    residual_.clear();
    for (int e : set_.inner) {
        if (alpha * set_.omega[e] != 0.0) continue;
        face_.push_back(e);
        residual_.push_back(-slope(e));
    }
    solve_face(tolerance);
    for (size_t k = 0; k < face_.size(); ++k) d[face_[k]] += x_[k];
    rebuild_slopes();
}

// Newton's point on the face of the current signs; violators are edges at zero that want to leave it. Edges
// that would change sign are set to zero; if the model does not decrease that way, the step is cut at the
// first sign change, where it must (but for violators: false, and nothing has changed).
bool Quadratic::face_step(double alpha, double tolerance, bool with_violators) {
    face_.clear(), side_.clear(), residual_.clear();
    for (int e : set_.inner) {
        const double z = set_.theta[e] + d[e], q = slope(e), limit = alpha * set_.omega[e];
        if (z == 0.0 && !(with_violators && std::abs(q) > limit)) continue;
        face_.push_back(e);
        side_.push_back(z == 0.0 ? -sign(q) : sign(z));
        residual_.push_back(-(q + limit * side_.back()));
    }
    solve_face(0.3 * tolerance);
    const double before = value(alpha);
    const std::vector<double> kept = d;
    double longest = 1.0;
    bool is_cut = false;
    for (size_t k = 0; k < face_.size(); ++k) {
        const int e = face_[k];
        const double z = set_.theta[e] + d[e];
        if (alpha * set_.omega[e] > 0.0 && side_[k] * (z + x_[k]) <= 0.0) {
            if (z != 0.0) longest = std::min(longest, -z / x_[k]);
            d[e] = -set_.theta[e];
            is_cut = true;
        } else {
            d[e] += x_[k];
        }
    }
    rebuild_slopes();
    if (!is_cut || value(alpha) <= before) return true;
    d = kept;
    for (size_t k = 0; k < face_.size(); ++k) {
        const int e = face_[k];
        const double start = set_.theta[e] + d[e], z = start + longest * x_[k];
        // The edge that ends the step lands on zero exactly.
        const bool is_zero = std::abs(z) <= 1e-12 * std::abs(x_[k]) || (start == 0.0 && side_[k] * z < 0.0);
        d[e] = is_zero ? -set_.theta[e] : d[e] + longest * x_[k];
    }
    rebuild_slopes();
    if (!with_violators || value(alpha) < before) return true;
    d = kept;
    rebuild_slopes();
    return false;
}

// Conjugate gradients for H x = residual on the face, preconditioned by the diagonal and, if that takes long,
// by a factorisation; leaves x in x_.
void Quadratic::solve_face(double tolerance) {
    const size_t m = face_.size();
    index_face();
    x_.assign(m, 0.0);
    direction_.assign(m, 0.0);
    product_face_.resize(m);
    factor_stride_ = 0;
    double rz = 0;
    for (int step = 0; step < MAX_PRODUCTS && largest_of(residual_) > tolerance; ++step) {
        poll_();
        if (step == PATIENCE) factorise_face();
        precondition();
        const double next = dot(residual_, scaled_);
        // A new metric starts anew.
        const double ratio = step == 0 || (step == PATIENCE && factor_stride_ > 0) ? 0.0 : next / rz;
        for (size_t k = 0; k < m; ++k) direction_[k] = scaled_[k] + ratio * direction_[k];
        rz = next;
        multiply();
        const double curvature = dot(direction_, product_face_);
        if (!(curvature > 0)) return;
        const double length = rz / curvature;
        for (size_t k = 0; k < m; ++k) {
            x_[k] += length * direction_[k];
            residual_[k] -= length * product_face_[k];
        }
    }
}

// Which slots the face needs, once for all the products on it.
void Quadratic::index_face() {
    face_of_.assign(set_.n_edges(), -1);
    for (size_t k = 0; k < face_.size(); ++k) face_of_[face_[k]] = static_cast<int>(k);
    face_nodes_.clear(), face_slots_.clear(), face_places_.clear(), face_columns_.clear(), face_rows_.clear();
    for (int node : set_.nodes) {
        const int first = set_.offset[node], begin = static_cast<int>(face_slots_.size());
        int reach = 0;
        for (int slot = first; slot < first + set_.inner_degree[node]; ++slot) {
            const int place = face_of_[set_.edge[slot]];
            if (place < 0) continue;
            face_slots_.push_back(slot);
            face_places_.push_back(place);
            face_columns_.push_back(set_.column[slot]);
            face_rows_.push_back(set_.is_operator[node] ? nullptr : set_.block_row(slot));
            reach = slot - first + 1;
        }
        const int end = static_cast<int>(face_slots_.size());
        if (end > begin) face_nodes_.push_back({node, begin, end, (reach + 15) / 16 * 16});
    }
    factors_.resize(face_slots_.size());
    products_.resize(face_slots_.size());
}

// product_face_ = H direction_
void Quadratic::multiply() {
    for (size_t k = 0; k < face_slots_.size(); ++k)
        factors_[k] = static_cast<float>(direction_[face_places_[k]]);
    operators_.clear();
    for (const FaceNode& node : face_nodes_) {
        const int count = node.end - node.begin;
        if (set_.is_operator[node.node]) {
            double centre = 0;
            for (int k = node.begin; k < node.end; ++k)
                centre += static_cast<double>(set_.b[face_slots_[k]]) * factors_[k];
            operators_.push_back({set_.first_node + node.node,
                                  {face_columns_.data() + node.begin, count},
                                  factors_.data() + node.begin,
                                  centre / set_.curve[node.node],
                                  products_.data() + node.begin});
            continue;
        }
        float* out = product_.data() + set_.offset[node.node];
        std::fill(out, out + node.reach, 0.0f);
        kernels_.add_rows(face_rows_.data() + node.begin, factors_.data() + node.begin, count, out,
                          node.reach);
    }
    if (!operators_.empty()) {
        rows_.products(operators_);
        for (const FaceNode& node : face_nodes_)
            if (set_.is_operator[node.node])
                for (int k = node.begin; k < node.end; ++k) product_[face_slots_[k]] = products_[k];
    }
    for (size_t k = 0; k < face_.size(); ++k)
        product_face_[k] =
            static_cast<double>(product_[set_.slot_s[face_[k]]]) + product_[set_.slot_t[face_[k]]];
}

// Cholesky in single precision, where it costs no more than the products it saves. On strongly correlated
// columns those are dozens per face step.
void Quadratic::factorise_face() {
    const size_t m = face_.size(), stride = (m + 15) / 16 * 16;
    double work = 0;
    for (const FaceNode& node : face_nodes_) {
        if (set_.is_operator[node.node]) return;
        work += static_cast<double>(node.end - node.begin) * node.reach;
    }
    if (static_cast<double>(m) * m * m / 6 > FACTOR_COST * work) return;
    if (factor_.size() < m * stride) factor_.resize(2 * m * stride);
    std::fill(factor_.data(), factor_.data() + m * stride, 0.0f);
    for (const FaceNode& node : face_nodes_)
        for (int i = node.begin; i < node.end; ++i) {
            float* u = factor_.data() + face_places_[i] * stride;
            const float* row = face_rows_[i] - set_.offset[node.node];
            for (int j = i; j < node.end; ++j) u[face_places_[j]] += row[face_slots_[j]];
        }
    std::vector<float> scale(m);
    for (size_t i = 0; i < m; ++i) {
        float* u = factor_.data() + i * stride;
        const size_t start = i / 16 * 16;  // what is left of the diagonal is never read
        rows_of_.clear();
        for (size_t k = 0; k < i; ++k) {
            const float* above = factor_.data() + k * stride;
            rows_of_.push_back(above + start);
            scale[k] = -above[i];
        }
        const float diagonal = u[i];
        kernels_.add_rows(rows_of_.data(), scale.data(), static_cast<int>(i), u + start,
                          static_cast<int>(stride - start));
        if (!(u[i] > SMALLEST_PIVOT * diagonal)) return;
        const float inverse = 1.0f / std::sqrt(u[i]);
        for (size_t j = i; j < m; ++j) u[j] *= inverse;
    }
    factor_stride_ = static_cast<int>(stride);
}

// scaled_ = (U^T U)^-1 residual_, or the residual over the diagonal of H.
void Quadratic::precondition() {
    const size_t m = residual_.size(), stride = factor_stride_;
    std::vector<double>& z = scaled_;
    z = residual_;
    if (stride == 0) {
        for (size_t k = 0; k < m; ++k) z[k] /= curvature_[face_[k]];
        return;
    }
    for (size_t k = 0; k < m; ++k) {
        const float* u = factor_.data() + k * stride;
        z[k] /= u[k];
        for (size_t j = k + 1; j < m; ++j) z[j] -= z[k] * u[j];
    }
    for (size_t k = m; k-- > 0;) {
        const float* u = factor_.data() + k * stride;
        double sum = z[k];
        for (size_t j = k + 1; j < m; ++j) sum -= u[j] * z[j];
        z[k] = sum / u[k];
    }
}

void Quadratic::rebuild_slopes() {
    operators_.clear();
    factors_.resize(set_.n_slots());
    for (int node : set_.nodes) {
        const int first = set_.offset[node], count = set_.inner_degree[node];
        float* factors = factors_.data() + first;
        rows_of_.clear();
        if (set_.is_operator[node]) {
            double centre = 0;
            for (int k = 0; k < count; ++k) {
                factors[k] = static_cast<float>(d[set_.edge[first + k]]);
                centre += static_cast<double>(set_.b[first + k]) * factors[k];
            }
            operators_.push_back({set_.first_node + node, set_.inner_of(node), factors,
                                  centre / set_.curve[node], slope_.data() + first});
            continue;
        }
        for (int slot = first; slot < first + count; ++slot)
            if (d[set_.edge[slot]] != 0.0) {
                factors[rows_of_.size()] = static_cast<float>(d[set_.edge[slot]]);
                rows_of_.push_back(set_.block_row(slot));
            }
        const int length = set_.block_stride(node);
        std::fill(slope_.data() + first, slope_.data() + first + length, 0.0f);
        kernels_.add_rows(rows_of_.data(), factors, static_cast<int>(rows_of_.size()), slope_.data() + first,
                          length);
    }
    if (!operators_.empty()) rows_.products(operators_);
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
