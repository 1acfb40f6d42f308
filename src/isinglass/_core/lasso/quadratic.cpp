#include "lasso/quadratic.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lasso/lasso.hpp"
#include "tuning.hpp"

namespace isinglass {

using namespace tuning::quadratic;

namespace {

constexpr size_t LANES = 8;  // partial results side by side, in a fixed order, for the compiler to vectorize

double largest_of(const double* values, size_t n) {
    double largest[LANES] = {};
    size_t k = 0;
    for (; k + LANES <= n; k += LANES)
        for (size_t i = 0; i < LANES; ++i) {
            const double size = std::abs(values[k + i]);
            largest[i] = largest[i] < size ? size : largest[i];
        }
    for (; k < n; ++k) largest[0] = std::max(largest[0], std::abs(values[k]));
    return *std::max_element(largest, largest + LANES);
}

template <class T>
double dot(const T* a, const T* b, size_t n) {
    double sums[LANES] = {};
    size_t k = 0;
    for (; k + LANES <= n; k += LANES)
        for (size_t i = 0; i < LANES; ++i) sums[i] += static_cast<double>(a[k + i]) * b[k + i];
    for (; k < n; ++k) sums[0] += static_cast<double>(a[k]) * b[k];
    return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

}  // namespace

// body(first, last) for chunks of m entries, on all threads; what it returns, chunk by chunk.
template <class Body>
const std::vector<double>& Quadratic::each_chunk(size_t m, Body body) {
    parts_.resize((m + EDGES_PER_TASK - 1) / EDGES_PER_TASK);
    pool_.each(parts_.size(), [&](int chunk, int) {
        const size_t first = chunk * EDGES_PER_TASK;
        parts_[chunk] = body(first, std::min(first + EDGES_PER_TASK, m));
    });
    return parts_;
}

template <class Body>
double Quadratic::sum_over(size_t m, Body body) {
    const std::vector<double>& parts = each_chunk(m, body);
    return std::accumulate(parts.begin(), parts.end(), 0.0);
}

template <class Body>
double Quadratic::largest_over(size_t m, Body body) {
    const std::vector<double>& parts = each_chunk(m, body);
    return parts.empty() ? 0.0 : *std::max_element(parts.begin(), parts.end());
}

void Quadratic::reset() {
    const size_t m = set_.n_coefficients();
    d.assign(m, 0.0);
    gradient.resize(m);
    before_ = n_products;
    is_exhausted_ = false;
    is_rough_ = true;
    if (set_.has_groups()) return;
    if (slope_.size() < set_.n_slots()) {
        slope_.resize(set_.n_slots() * 2);
        product_.resize(set_.n_slots() * 2);
    }
    std::fill(slope_.data(), slope_.data() + set_.n_slots(), 0.0f);
    product_[set_.null_slot()] = 0;
    curvature_.resize(m);
    for (int e : set_.inner())
        curvature_[e] = static_cast<double>(set_.diagonal()[set_.slot_s(e)]) + set_.diagonal()[set_.slot_t(e)];
}

double Quadratic::slope(int e) const {
    return gradient[e] + slope_[set_.slot_s(e)] + slope_[set_.slot_t(e)];
}

void Quadratic::move(int e, double change) {
    d[e] += change;
    const float factor = static_cast<float>(change);
    const auto add_row = [&](int slot, int node) {
        const float* r = set_.block_row(slot);
        kernels_.add_rows(&r, &factor, 1, slope_.data() + set_.first_slot(node), set_.block_stride(node));
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
        n_products += groups_.minimize(gradient, alpha, tolerance, d);
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
            if (!face_step(alpha, tolerance)) break;
    }
}

void Quadratic::minimize_by_faces(double alpha, double tolerance) {
    double last = INFINITE;
    for (int round = 0; round < MAX_FACES; ++round) {
        const double violation = largest_over(set_.inner().size(), [&](size_t first, size_t last) {
            double largest = 0;
            for (size_t k = first; k < last; ++k) {
                const int e = set_.inner()[k];
                largest = std::max(largest, kkt_violation(set_.theta()[e] + d[e], slope(e), alpha * set_.omega(e)));
            }
            return largest;
        });
        is_exhausted_ = static_cast<double>(n_products - before_) > OPERATOR_PATIENCE * set_.mean_width();
        if (violation <= tolerance || is_exhausted_) return;
        if (violation > ROUGH_STEP * last) is_rough_ = false;
        last = violation;
        if (!violator_step(alpha, tolerance) && !gradient_step(alpha)) return;
    }
}

// Every edge to the minimum of its own parabola, the steps shortened until the model decreases.
bool Quadratic::gradient_step(double alpha) {
    const double before = value(alpha);
    const std::vector<double> kept = d;
    std::vector<double> slopes(set_.n_edges());
    for (int e : set_.inner()) slopes[e] = slope(e);
    for (double length = 1; length > SHORTEST_STEP; length /= 4) {
        for (int e : set_.inner()) {
            const double z = set_.theta()[e] + kept[e], h = curvature_[e] / length;
            const double target = soft_threshold(z - slopes[e] / h, alpha * set_.omega(e) / h);
            d[e] = target == 0.0 ? -set_.theta()[e] : kept[e] + (target - z);
        }
        rebuild_slopes();
        if (value(alpha) < before) return true;
    }
    d = kept;
    rebuild_slopes();
    return false;
}

void Quadratic::minimize_free(double alpha, double tolerance) {
    face_.clear();
    residual_.clear();
    for (int e : set_.inner()) {
        if (alpha * set_.omega(e) != 0.0) continue;
        face_.push_back(e);
        residual_.push_back(-slope(e));
    }
    solve_face(tolerance, 0.0);
    for (size_t k = 0; k < face_.size(); ++k) d[face_[k]] += x_[k];
    rebuild_slopes();
}

// The edges that are not zero and, with violators, those that want to leave it, each with the sign that it is to keep.
void Quadratic::form_face(double alpha, bool with_violators) {
    face_.clear(), side_.clear(), residual_.clear();
    for (int e : set_.inner()) {
        const double z = set_.theta()[e] + d[e], q = slope(e), limit = alpha * set_.omega(e);
        if (z == 0.0 && !(with_violators && std::abs(q) > limit)) continue;
        face_.push_back(e);
        side_.push_back(z == 0.0 ? -sign(q) : sign(z));
        residual_.push_back(-(q + limit * side_.back()));
    }
}

// Goes from kept along x_, every edge no further than zero; returns how far the first one gets, infinite if none ends
// there.
double Quadratic::stop_at_zero(double alpha, const std::vector<double>& kept, double length) {
    double first = INFINITE;
    for (size_t k = 0; k < face_.size(); ++k) {
        const int e = face_[k];
        const double z = set_.theta()[e] + kept[e], move = length * x_[k];
        if (alpha * set_.omega(e) > 0.0 && side_[k] * (z + move) <= 0.0) {
            first = std::min(first, z != 0.0 ? -z / x_[k] : 0.0);
            d[e] = -set_.theta()[e];
        } else {
            d[e] = kept[e] + move;
        }
    }
    rebuild_slopes();
    return first;
}

// To Newton's point on the face of the current signs, or no further than zero. If the model does not decrease that way,
// all edges end where the first one becomes zero, and it must; true if so.
bool Quadratic::face_step(double alpha, double tolerance) {
    form_face(alpha, false);
    solve_face(BLOCK_FACE * tolerance, 0.0);
    const double before = value(alpha);
    const std::vector<double> kept = d;
    const double first = stop_at_zero(alpha, kept, 1.0);
    if (first == INFINITE || value(alpha) <= before) return false;
    d = kept;
    for (size_t k = 0; k < face_.size(); ++k) {
        const int e = face_[k];
        const double z = set_.theta()[e] + d[e] + first * x_[k];
        // The edge that ends the step lands on zero exactly.
        d[e] = std::abs(z) <= 1e-12 * std::abs(x_[k]) ? -set_.theta()[e] : d[e] + first * x_[k];
    }
    rebuild_slopes();
    return true;
}

// The same with violators, where ending at the first sign change would be a crawl: shorter steps are tried instead.
// False if none decreases the model; nothing has changed then.
bool Quadratic::violator_step(double alpha, double tolerance) {
    form_face(alpha, true);
    solve_face(OPERATOR_FACE * tolerance, alpha);
    const double before = value(alpha);
    const std::vector<double> kept = d;
    for (double length = 1.0; length > SHORTEST_FACE; length /= 2) {
        const bool is_inside = stop_at_zero(alpha, kept, length) == INFINITE;
        if ((is_inside && length == 1.0) || value(alpha) <= before) return true;
    }
    d = kept;
    rebuild_slopes();
    return false;
}

// Whether the step to x_ ends on the other side of zero for some edge.
bool Quadratic::leaves_face(double alpha) const {
    for (size_t k = 0; k < face_.size(); ++k) {
        const int e = face_[k];
        if (alpha * set_.omega(e) > 0.0 && side_[k] * (set_.theta()[e] + d[e] + x_[k]) <= 0.0) return true;
    }
    return false;
}

// Conjugate gradients for H x = residual on the face, preconditioned by the diagonal and, if that takes long, by a
// factorization; leaves x in x_. With alpha: ends early on a face that will change anyhow.
void Quadratic::solve_face(double tolerance, double alpha) {
    const size_t m = face_.size();
    index_face();
    x_.assign(m, 0.0);
    direction_.assign(m + 1, 0.0);  // the last: of all edges that are not on the face
    scaled_.resize(m);
    product_face_.resize(m);
    factor_stride_ = 0;
    bool is_rough = alpha > 0.0 && is_rough_;
    if (is_rough) start_ = residual_;
    bool is_new = true;  // the metric, or the matrix: conjugacy starts anew
    double rz = 0, largest = largest_of(residual_.data(), m), check = FACE_CHECK * largest, renewal = RENEWED * largest;
    for (int step = 0; step < MAX_PRODUCTS && largest > tolerance; ++step) {
        poll_();
        if (alpha > 0.0 && largest <= check) {
            if (leaves_face(alpha)) return;
            check = FACE_CHECK * largest;
        }
        if (is_rough && largest <= renewal) {
            const double found = renew_residual();
            is_rough = found <= ROUGH_ERROR * largest;
            largest = found;
            renewal = RENEWED * largest;
            check = FACE_CHECK * largest;
        }
        if (step == FACTOR_PATIENCE) {
            factorize_face();
            is_new |= factor_stride_ > 0;
        }
        const double next = precondition();
        const double ratio = is_new ? 0.0 : next / rz;
        rz = next;
        is_new = false;
        each_chunk(m, [&](size_t first, size_t last) {
            for (size_t k = first; k < last; ++k) direction_[k] = scaled_[k] + ratio * direction_[k];
            return 0.0;
        });
        const double curvature = multiply(direction_, is_rough);
        if (!(curvature > 0)) {
            if (!is_rough) return;
            is_rough = false;
            is_new = true;
            largest = renew_residual();
            continue;
        }
        const double length = rz / curvature;
        largest = largest_over(m, [&](size_t first, size_t last) {
            for (size_t k = first; k < last; ++k) {
                x_[k] += length * direction_[k];
                residual_[k] -= length * product_face_[k];
            }
            return largest_of(residual_.data() + first, last - first);
        });
    }
}

// The residual at x_ by an accurate product; returns its largest entry.
double Quadratic::renew_residual() {
    x_.push_back(0.0);
    multiply(x_, false);
    x_.pop_back();
    return largest_over(x_.size(), [&](size_t first, size_t last) {
        for (size_t k = first; k < last; ++k) residual_[k] = start_[k] - product_face_[k];
        return largest_of(residual_.data() + first, last - first);
    });
}

// Which slots the face needs, once for all the products on it.
void Quadratic::index_face() {
    const int m = static_cast<int>(face_.size());
    face_of_.assign(set_.n_edges(), m);
    inverse_.resize(m);
    for (int k = 0; k < m; ++k) {
        face_of_[face_[k]] = k;
        inverse_[k] = 1 / curvature_[face_[k]];
    }
    face_nodes_.clear(), face_slots_.clear(), face_places_.clear(), face_rows_.clear();
    place_of_.resize(set_.n_slots());
    for (int node : set_.nodes()) {
        const int first = set_.first_slot(node), last = first + set_.inner_degree(node);
        if (set_.is_operator(node)) {
            for (int slot = first; slot < last; ++slot) place_of_[slot] = face_of_[set_.edge_of(slot)];
            continue;
        }
        const int begin = static_cast<int>(face_slots_.size());
        int reach = 0;
        for (int slot = first; slot < last; ++slot) {
            const int place = face_of_[set_.edge_of(slot)];
            if (place == m) continue;
            face_slots_.push_back(slot);
            face_places_.push_back(place);
            face_rows_.push_back(set_.block_row(slot));
            reach = slot - first + 1;
        }
        const int end = static_cast<int>(face_slots_.size());
        if (end > begin) face_nodes_.push_back({node, begin, end, (reach + 15) / 16 * 16});
    }
    factors_.resize(face_slots_.size());
}

// out = H_s d_s at the slots of every node that is an operator; d at a slot is v at its place.
template <class Place>
void Quadratic::apply_operators(const std::vector<double>& v, Place place, bool is_rough, float* out) {
    if (!set_.has_operators()) return;
    single_.assign(v.begin(), v.end());
    operators_.resize(set_.operators().size());
    slot_factors_.resize(set_.n_slots());
    pool_.each(operators_.size(), [&](int k, int) {
        const int node = set_.operators()[k], first = set_.first_slot(node), count = set_.inner_degree(node);
        float* factors = slot_factors_.data() + first;
        for (int i = 0; i < count; ++i) factors[i] = single_[place(first + i)];
        const double center = dot(set_.b().data() + first, factors, count) / set_.curve(node);
        operators_[k] = {set_.first_node() + node, set_.inner_of(node), factors, center, out + first, is_rough};
    });
    rows_.products()->multiply(operators_);
}

// product_face_ = H v; returns v H v. v has one entry more than the face, which is zero.
double Quadratic::multiply(const std::vector<double>& v, bool is_rough) {
    ++n_products;
    apply_operators(v, [&](int slot) { return place_of_[slot]; }, is_rough, product_.data());
    for (size_t k = 0; k < face_slots_.size(); ++k) factors_[k] = static_cast<float>(v[face_places_[k]]);
    for (const FaceNode& node : face_nodes_) {
        float* out = product_.data() + set_.first_slot(node.node);
        std::fill(out, out + node.reach, 0.0f);
        kernels_.add_rows(face_rows_.data() + node.begin, factors_.data() + node.begin, node.end - node.begin, out,
                          node.reach);
    }
    return sum_over(face_.size(), [&](size_t first, size_t last) {
        for (size_t k = first; k < last; ++k)
            product_face_[k] = static_cast<double>(product_[set_.slot_s(face_[k])]) + product_[set_.slot_t(face_[k])];
        return dot(v.data() + first, product_face_.data() + first, last - first);
    });
}

// Cholesky in single precision, where it costs no more than the products it saves. On strongly correlated columns those
// are dozens per face step; where this minimization has taken more already, they are taken to be as many again. An edge
// that depends on the ones before it gets its diagonal for a pivot, as if it were
// independent: each costs one product more.
void Quadratic::factorize_face() {
    const size_t m = face_.size(), stride = (m + 15) / 16 * 16;
    if (set_.has_operators()) return;
    double work = 0;
    for (const FaceNode& node : face_nodes_) work += static_cast<double>(node.end - node.begin) * node.reach;
    const double saved = std::max(FACTOR_COST, static_cast<double>(n_products - before_));
    if (static_cast<double>(m) * m * m / 6 > saved * work) return;
    if (factor_.size() < m * stride) factor_.resize(2 * m * stride);
    std::fill(factor_.data(), factor_.data() + m * stride, 0.0f);
    for (const FaceNode& node : face_nodes_)
        for (int i = node.begin; i < node.end; ++i) {
            float* u = factor_.data() + face_places_[i] * stride;
            const float* row = face_rows_[i] - set_.first_slot(node.node);
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
        if (!(u[i] > SMALLEST_PIVOT * diagonal)) {
            std::fill(u + i, u + stride, 0.0f);
            u[i] = diagonal;
        }
        const float inverse = 1.0f / std::sqrt(u[i]);
        for (size_t j = i; j < m; ++j) u[j] *= inverse;
    }
    factor_stride_ = static_cast<int>(stride);
}

// scaled_ = (U^T U)^-1 residual_, or the residual over the diagonal of H; returns residual_ . scaled_.
double Quadratic::precondition() {
    const size_t m = residual_.size(), stride = factor_stride_;
    if (stride == 0)
        return sum_over(m, [&](size_t first, size_t last) {
            for (size_t k = first; k < last; ++k) scaled_[k] = residual_[k] * inverse_[k];
            return dot(residual_.data() + first, scaled_.data() + first, last - first);
        });
    std::vector<double>& z = scaled_;
    z = residual_;
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
    return dot(residual_.data(), z.data(), m);
}

void Quadratic::rebuild_slopes() {
    ++n_products;
    apply_operators(d, [&](int slot) { return set_.edge_of(slot); }, false, slope_.data());
    for (int node : set_.nodes()) {
        if (set_.is_operator(node)) continue;
        const int first = set_.first_slot(node), last = first + set_.inner_degree(node);
        rows_of_.clear();
        factors_.clear();
        for (int slot = first; slot < last; ++slot)
            if (d[set_.edge_of(slot)] != 0.0) {
                rows_of_.push_back(set_.block_row(slot));
                factors_.push_back(static_cast<float>(d[set_.edge_of(slot)]));
            }
        const int length = set_.block_stride(node);
        std::fill(slope_.data() + first, slope_.data() + first + length, 0.0f);
        kernels_.add_rows(rows_of_.data(), factors_.data(), static_cast<int>(rows_of_.size()), slope_.data() + first,
                          length);
    }
}

double Quadratic::value(double alpha) {
    return sum_over(set_.inner().size(), [&](size_t first, size_t last) {
        double sum = 0;
        for (size_t k = first; k < last; ++k) {
            const int e = set_.inner()[k];
            const double Hd = static_cast<double>(slope_[set_.slot_s(e)]) + slope_[set_.slot_t(e)];
            // The change of the penalty, not the penalty: no cancellation against what stays.
            const double penalty = std::abs(set_.theta()[e] + d[e]) - std::abs(set_.theta()[e]);
            sum += d[e] * (gradient[e] + 0.5 * Hd) + alpha * set_.omega(e) * penalty;
        }
        return sum;
    });
}

}  // namespace isinglass
