#include "lasso/face.hpp"

#include "lasso/lasso.hpp"
#include "tuning.hpp"

namespace isinglass {

using namespace tuning::quadratic;

void Face::solve(const Goal& goal) {
    begin(goal.curvature);
    bool is_rough = goal.is_rough, is_new = true;  // the metric, or the matrix: conjugacy starts anew
    double largest = largest_of(b_.data(), size()), look_at = FACE_CHECK * largest, renew_at = RENEWED * largest;
    for (int step = 0; step < MAX_PRODUCTS && largest > goal.tolerance; ++step) {
        poll_();
        if (goal.ends_at_crossing && largest <= look_at) {
            if (crosses_zero()) return;
            look_at = FACE_CHECK * largest;
        }
        if (is_rough && largest <= renew_at) {
            const double found = find_residual();
            is_rough = found <= ROUGH_ERROR * largest;
            largest = found;
            renew_at = RENEWED * largest;
            look_at = FACE_CHECK * largest;
        }
        if (step == FACTOR_PATIENCE) is_new |= factorize(goal.n_products_before);
        turn(is_new);
        is_new = false;
        const double curvature = multiply(direction_, is_rough);
        if (curvature > 0) {
            largest = advance(rz_ / curvature);
        } else {
            if (!is_rough) return;
            is_rough = false;
            is_new = true;
            largest = find_residual();
        }
    }
}

// x = 0, and which slots the face needs, once for all the products on it.
void Face::begin(const double* curvature) {
    const int m = static_cast<int>(size());
    for (std::vector<double>* each : {&x_, &residual_, &scaled_, &product_, &inverse_}) each->resize(m);
    direction_.resize(m + 1), slots_of_.resize(m);
    direction_[m] = 0;  // of all edges that are not on the face
    factor_stride_ = 0;
    if (at_slots_.size() < set_.n_slots()) at_slots_.resize(set_.n_slots() * 2);
    at_slots_[set_.null_slot()] = 0;
    place_of_edge_.resize(set_.n_edges());
    chunks_.each_entry(set_.n_edges(), [&](size_t e) { place_of_edge_[e] = m; });
    chunks_.each_entry(m, [&](size_t k) {
        x_[k] = direction_[k] = 0;
        residual_[k] = b_[k];
        const int e = members_[k].edge;
        inverse_[k] = 1 / curvature[e];
        place_of_edge_[e] = static_cast<int>(k);
        slots_of_[k] = {set_.slot_s(e), set_.slot_t(e)};
    });
    nodes_.clear(), slots_.clear(), places_.clear(), block_rows_.clear();
    place_of_.resize(set_.n_slots());
    pool_.each(set_.operators().size(), [&](int k, int) {
        const int node = set_.operators()[k], first = set_.first_slot(node), last = first + set_.inner_degree(node);
        for (int slot = first; slot < last; ++slot) place_of_[slot] = place_of_edge_[set_.edge_of(slot)];
    });
    for (int node : set_.nodes()) {
        if (set_.is_operator(node)) continue;
        const int first = set_.first_slot(node), last = first + set_.inner_degree(node);
        const int begin = static_cast<int>(slots_.size());
        int reach = 0;
        for (int slot = first; slot < last; ++slot) {
            const int place = place_of_edge_[set_.edge_of(slot)];
            if (place == m) continue;
            slots_.push_back(slot);
            places_.push_back(place);
            block_rows_.push_back(set_.block_row(slot));
            reach = slot - first + 1;
        }
        const int end = static_cast<int>(slots_.size());
        if (end > begin) nodes_.push_back({node, begin, end, (reach + 15) / 16 * 16});
    }
    factors_.resize(slots_.size());
}

bool Face::crosses_zero() {
    return chunks_.largest_entry(size(), [&](size_t k) {
        const bool crosses = !members_[k].may_cross && members_[k].sign * (members_[k].start + x_[k]) <= 0.0;
        return crosses ? 1.0 : 0.0;
    }) > 0.0;
}

// product_ = H v; returns v H v. v has one entry more than the face, which is zero.
double Face::multiply(const std::vector<double>& v, bool is_rough) {
    ++hessian_.n_products;
    hessian_.apply_operators(v, place_of_, is_rough, at_slots_.data());
    for (size_t k = 0; k < slots_.size(); ++k) factors_[k] = static_cast<float>(v[places_[k]]);
    for (const Node& node : nodes_) {
        float* out = at_slots_.data() + set_.first_slot(node.node);
        std::fill(out, out + node.reach, 0.0f);
        kernels().add_rows(block_rows_.data() + node.begin, factors_.data() + node.begin, node.end - node.begin, out,
                           node.reach);
    }
    return chunks_.sum(size(), [&](size_t first, size_t last) {
        for (size_t k = first; k < last; ++k)
            product_[k] = static_cast<double>(at_slots_[slots_of_[k][0]]) + at_slots_[slots_of_[k][1]];
        return dot(v.data() + first, product_.data() + first, last - first);
    });
}

// The residual at x by an accurate product; returns its largest entry.
double Face::find_residual() {
    x_.push_back(0.0);
    multiply(x_, false);
    x_.pop_back();
    return chunks_.largest(size(), [&](size_t first, size_t last) {
        for (size_t k = first; k < last; ++k) residual_[k] = b_[k] - product_[k];
        return largest_of(residual_.data() + first, last - first);
    });
}

// Cholesky in single precision, where it costs no more than the products it saves; true if so. On strongly correlated
// columns those are dozens per face step; where this model has taken more already, they are taken to be as many again.
// An edge that depends on the ones before it gets its diagonal for a pivot, as if it were independent: each costs one
// product more.
bool Face::factorize(int64_t n_products_before) {
    const size_t m = size(), stride = (m + 15) / 16 * 16;
    if (set_.has_operators() || m > MAX_FACTOR) return false;
    double work = 0;
    for (const Node& node : nodes_) work += static_cast<double>(node.end - node.begin) * node.reach;
    const double saved = std::max(FACTOR_COST, static_cast<double>(hessian_.n_products - n_products_before));
    if (static_cast<double>(m) * m * m / 6 > saved * work) return false;
    if (factor_.size() < m * stride) factor_.resize(m * stride + m * stride / 4);
    std::fill(factor_.data(), factor_.data() + m * stride, 0.0f);
    for (const Node& node : nodes_)
        for (int i = node.begin; i < node.end; ++i) {
            float* u = factor_.data() + places_[i] * stride;
            const float* row = block_rows_[i] - set_.first_slot(node.node);
            for (int j = i; j < node.end; ++j) u[places_[j]] += row[slots_[j]];
        }
    std::vector<float> scale(m);
    std::vector<const float*> above;
    for (size_t i = 0; i < m; ++i) {
        poll_();
        float* u = factor_.data() + i * stride;
        const size_t start = i / 16 * 16;  // what is left of the diagonal is never read
        above.clear();
        for (size_t k = 0; k < i; ++k) {
            const float* row = factor_.data() + k * stride;
            above.push_back(row + start);
            scale[k] = -row[i];
        }
        const float diagonal = u[i];
        kernels().add_rows(above.data(), scale.data(), static_cast<int>(i), u + start,
                           static_cast<int>(stride - start));
        if (!(u[i] > SMALLEST_PIVOT * diagonal)) {
            std::fill(u + i, u + stride, 0.0f);
            u[i] = diagonal;
        }
        const float inverse = 1.0f / std::sqrt(u[i]);
        for (size_t j = i; j < m; ++j) u[j] *= inverse;
    }
    factor_stride_ = stride;
    return true;
}

// scaled_ = (U^T U)^-1 residual_, or the residual over the diagonal of H; returns residual_ . scaled_.
double Face::precondition() {
    const size_t m = size(), stride = factor_stride_;
    if (stride == 0)
        return chunks_.sum(m, [&](size_t first, size_t last) {
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

// The next direction, conjugate to those before it unless is_new.
void Face::turn(bool is_new) {
    const double before = rz_;
    rz_ = precondition();
    const double ratio = is_new ? 0.0 : rz_ / before;
    chunks_.each_entry(size(), [&](size_t k) { direction_[k] = scaled_[k] + ratio * direction_[k]; });
}

// Along the direction; returns the largest entry of the residual.
double Face::advance(double length) {
    return chunks_.largest(size(), [&](size_t first, size_t last) {
        for (size_t k = first; k < last; ++k) {
            x_[k] += length * direction_[k];
            residual_[k] -= length * product_[k];
        }
        return largest_of(residual_.data() + first, last - first);
    });
}

}  // namespace isinglass
