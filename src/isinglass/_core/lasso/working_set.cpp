#include "lasso/working_set.hpp"

#include <algorithm>

namespace isinglass {
namespace {

// Of a diagonal entry, which divides.
float with_ridge(float diagonal) {
    return diagonal * (1 + tuning::working_set::RIDGE) + 1e-30f;
}

}  // namespace

void WorkingSet::start(int first_node) {
    first_node_ = first_node;
    needs_blocks_ = false;
    clear();
    arrange();
}

void WorkingSet::clear() {
    ends_.clear(), theta_.clear(), omega_.clear(), is_inner_.clear(), slots_.s.clear();
    place_.assign(1, 0);
}

void WorkingSet::add_edge(const Pair& pair, double omega, size_t size, const double* values) {
    ends_.push_back({pair.s - first_node_, pair.t});
    least_omega_ = omega_.empty() ? omega : std::min(least_omega_, omega);
    omega_.push_back(omega);
    theta_.resize(theta_.size() + size, 0.0);
    if (has_groups()) place_.push_back(theta_.size());
    if (values) set_theta(n_edges() - 1, values);
    is_inner_.push_back(theta_norm(n_edges() - 1) != 0.0);
}

void WorkingSet::make_inner(const std::vector<int>& edges) {
    for (int e : edges) is_inner_[e] = 1;
    arrange();
}

void WorkingSet::use_blocks() {
    needs_blocks_ = true;
    arrange();
}

void WorkingSet::move_theta(const std::vector<double>& start, double length, const std::vector<double>& d,
                            Chunks& chunks) {
    chunks.each_entry(inner_.size(), [&](size_t k) {
        const int e = inner_[k];
        for (size_t i = first(e), end = i + size(e); i < end; ++i) theta_[i] = start[i] + length * d[i];
    });
}

void WorkingSet::gather_gradient(Chunks& chunks) {
    chunks.each_entry(n_edges(), [&](size_t e) {
        const double *one = slots_.gradient.data() + at(slots_.s[e]), *other = slots_.gradient.data() + at(slots_.t[e]);
        double* sum = gradient_.data() + first(e);
        for (size_t i = 0; i < size(e); ++i) sum[i] = one[i] + other[i];
        for (size_t i = 0; ridge_ > 0 && i < size(e); ++i) sum[i] += ridge_ * theta_[first(e) + i];
    });
}

void WorkingSet::arrange() {
    gradient_.resize(n_coefficients());
    degree_.assign(n_nodes_, 0);
    inner_degree_.assign(n_nodes_, 0);
    inner_.clear(), outer_.clear();
    for (size_t e = 0; e < n_edges(); ++e) {
        for (int node : ends(e)) ++degree_[node], inner_degree_[node] += is_inner_[e];
        (is_inner_[e] ? inner_ : outer_).push_back(static_cast<int>(e));
    }
    nodes_.clear();
    first_slot_.assign(n_nodes_ + 1, 0);
    for (int node = 0; node < n_nodes_; ++node) {
        if (degree_[node]) nodes_.push_back(node);
        first_slot_[node + 1] = first_slot_[node] + (degree_[node] + 15) / 16 * 16;
    }
    std::swap(slots_, slots_before_);
    place_slots();
    slots_.gradient.assign(n_numbers(), 0.0);
    if (slots_before_.s.size() == n_edges()) keep_gradients(slots_before_);
    choose_operators();
    place_matrices();
}

// Inner edges first. With groups, the null slot is as large as the largest group.
void WorkingSet::place_slots() {
    edge_.assign(first_slot_[n_nodes_] + 1, -1);
    column_.resize(edge_.size());
    slots_.s.resize(n_edges());
    slots_.t.assign(n_edges(), null_slot());
    std::vector<int> next(first_slot_.begin(), first_slot_.end() - 1);
    const auto take = [&](int e, int node, int column) {
        const int slot = next[node]++;
        edge_[slot] = e;
        column_[slot] = column;
        return slot;
    };
    for (const std::vector<int>* edges : {&inner_, &outer_})
        for (int e : *edges) {
            slots_.s[e] = take(e, s(e), t(e));
            if (is_shared_) slots_.t[e] = take(e, t(e), s(e));
        }
    if (!has_groups()) return;
    slots_.spot.assign(1, 0);
    size_t largest = 1;
    for (size_t slot = 0; slot + 1 < n_slots(); ++slot) {
        const size_t here = edge_[slot] < 0 ? 0 : size(edge_[slot]);
        largest = std::max(largest, here);
        slots_.spot.push_back(slots_.spot.back() + here);
    }
    slots_.spot.push_back(slots_.spot.back() + largest);
}

// The same edges had other slots.
void WorkingSet::keep_gradients(const Slots& before) {
    const auto keep = [&](size_t e, int slot, int old) {
        const double* from = before.gradient.data() + (has_groups() ? before.spot[old] : old);
        std::copy(from, from + size(e), slots_.gradient.data() + at(slot));
    };
    for (size_t e = 0; e < n_edges(); ++e) {
        keep(e, slot_s(e), before.s[e]);
        if (is_shared_) keep(e, slot_t(e), before.t[e]);
    }
}

// Nodes that cannot have a block; without groups, wide ones where most are.
void WorkingSet::choose_operators() {
    double sum = 0, squares = 0;
    for (int node : nodes_) {
        if (!has_block(node)) continue;
        sum += inner_width(node);
        squares += static_cast<double>(inner_width(node)) * inner_width(node);
    }
    mean_width_ = sum > 0 ? squares / sum : 0;
    const bool may_be_operators = !has_groups() && !(needs_blocks_ && blocks_fit());
    const bool is_dense = may_be_operators && squares > static_cast<double>(widest_block_) * sum;
    is_operator_.assign(n_nodes_, 0);
    operators_.clear();
    for (int node : nodes_) {
        const bool is_wide = is_dense && 2.0 * inner_width(node) > widest_block_;
        is_operator_[node] = inner_degree_[node] > 0 && (is_wide || !has_block(node));
        if (is_operator_[node]) operators_.push_back(node);
    }
}

// Room for blocks, diagonals and b, none of them made yet.
void WorkingSet::place_matrices() {
    row_.resize(n_numbers());
    size_t floats = 0;
    for (int node : nodes_)
        for (int k = 0; !is_operator_[node] && k < inner_width(node); ++k, floats += block_stride(node))
            row_[at(first_slot_[node]) + k] = floats;
    if (blocks_.size() < floats) blocks_.resize(floats + floats / 4);
    if (b_.size() < n_numbers()) b_.resize(n_numbers() * 2);
    if (diagonal_.size() < n_numbers()) diagonal_.resize(n_numbers() * 2);
    b_[at(null_slot())] = 0;
    std::fill(diagonal_.data() + at(null_slot()), diagonal_.data() + n_numbers(), 0.0f);
    curve_.resize(n_nodes_);
    forget_matrices();
}

void WorkingSet::multiply_block(int node, const float* d, float* out) const {
    factors_.clear(), factor_rows_.clear();
    for (int k = 0; k < inner_width(node); ++k) {
        if (d[k] == 0.0f) continue;
        factors_.push_back(d[k]);
        factor_rows_.push_back(block_row(at(first_slot_[node]) + k));
    }
    std::fill(out, out + block_stride(node), 0.0f);
    const int count = static_cast<int>(factors_.size());
    kernels().add_rows(factor_rows_.data(), factors_.data(), count, out, block_stride(node));
}

size_t WorkingSet::block_bytes() const {
    size_t floats = 0;
    for (int node : nodes_)
        if (has_block(node)) floats += static_cast<size_t>(inner_width(node)) * block_stride(node);
    return floats * sizeof(float);
}

Block WorkingSet::block_of(int node) {
    const size_t first = at(first_slot_[node]);
    float* G = is_operator_[node] || inner_degree_[node] == 0 ? nullptr : blocks_.data() + row_[first];
    return {.node = first_node_ + node,
            .inner = inner_of(node),
            .G = G,
            .stride = block_stride(node),
            .b = b_.data() + first,
            .diagonal = diagonal_.data() + first,
            .curve = &curve_[node]};
}

void WorkingSet::finish_block(int node) {
    curve_[node] = std::max(curve_[node], 1e-30);
    is_made_[node] = 1;
    const size_t first = at(first_slot_[node]);
    for (int k = 0; k < inner_width(node); ++k) {
        float& value = diagonal_[first + k];
        if (is_operator_[node]) {
            value = with_ridge(value);
            continue;
        }
        float& entry = blocks_[row_[first + k] + k];
        if (const int e = has_groups() ? -1 : edge_[first + k]; e >= 0 && slots_.s[e] == static_cast<int>(first) + k)
            entry += static_cast<float>(ridge_);
        value = entry = with_ridge(entry);
    }
}

}  // namespace isinglass
