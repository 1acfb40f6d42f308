#include "lasso/working_set.hpp"

#include <algorithm>

namespace isinglass {
namespace {

// Single precision must not make a block indefinite, and its diagonal divides: a ridge a few roundings above zero.
// (With a tenth of it, badly conditioned tables stall; measured.)
float with_ridge(float diagonal) {
    return diagonal * (1 + 1e-6f) + 1e-30f;
}

}  // namespace

void WorkingSet::arrange() {
    degree.assign(n_nodes, 0);
    inner_degree.assign(n_nodes, 0);
    inner.clear();
    for (size_t e = 0; e < n_edges(); ++e) {
        ++degree[s[e]];
        inner_degree[s[e]] += is_inner[e];
        if (is_shared) ++degree[t[e]], inner_degree[t[e]] += is_inner[e];
        if (is_inner[e]) inner.push_back(static_cast<int>(e));
    }
    nodes.clear();
    offset.assign(n_nodes + 1, 0);
    for (int node = 0; node < n_nodes; ++node) {
        if (degree[node]) nodes.push_back(node);
        offset[node + 1] = offset[node] + (degree[node] + 15) / 16 * 16;
    }
    edge.assign(offset[n_nodes] + 1, -1);
    column.resize(edge.size());
    row.resize(edge.size());
    const std::vector<double> old_gradient = std::move(slot_gradient);
    const std::vector<int> old_s = std::move(slot_s), old_t = std::move(slot_t);
    std::vector<size_t> old_spot;
    old_spot.swap(spot);
    slot_s.resize(n_edges());
    slot_t.assign(n_edges(), null_slot());
    std::vector<int> next(offset.begin(), offset.end() - 1);
    for (const char turn : {1, 0})
        for (size_t e = 0; e < n_edges(); ++e) {
            if (is_inner[e] != turn) continue;
            slot_s[e] = next[s[e]]++;
            edge[slot_s[e]] = static_cast<int>(e);
            column[slot_s[e]] = t[e];
            if (!is_shared) continue;
            slot_t[e] = next[t[e]]++;
            edge[slot_t[e]] = static_cast<int>(e);
            column[slot_t[e]] = s[e];
        }
    if (has_groups) place_slots();
    slot_gradient.assign(n_numbers(), 0.0);
    const auto keep = [&](size_t e, int slot, int old) {
        const double* from = old_gradient.data() + (has_groups ? old_spot[old] : old);
        std::copy(from, from + size(e), slot_gradient.data() + at(slot));
    };
    if (old_s.size() == n_edges())
        for (size_t e = 0; e < n_edges(); ++e) {
            keep(e, slot_s[e], old_s[e]);
            if (is_shared) keep(e, slot_t[e], old_t[e]);
        }
    size_t floats = 0;
    is_operator.assign(n_nodes, 0);
    operators.clear();
    double sum = 0, squares = 0;
    for (int node : nodes) {
        sum += inner_degree[node];
        squares += static_cast<double>(inner_degree[node]) * inner_degree[node];
    }
    const bool is_dense = !needs_blocks && squares > widest_block * sum;
    for (int node : nodes) {
        is_operator[node] = has_groups ? inner_degree[node] > 0 : is_dense && 2.0 * inner_degree[node] > widest_block;
        if (is_operator[node]) {
            operators.push_back(node);
            continue;
        }
        for (int k = 0; k < inner_degree[node]; ++k, floats += block_stride(node)) row[offset[node] + k] = floats;
    }
    has_operators = !operators.empty();
    if (blocks.size() < floats) blocks.resize(floats + floats / 4);
    if (!has_groups && b.size() < edge.size()) b.resize(edge.size() * 2);
    if (diagonal.size() < n_numbers()) diagonal.resize(n_numbers() * 2);
    if (!has_groups) b[null_slot()] = 0;
    std::fill(diagonal.data() + at(null_slot()), diagonal.data() + n_numbers(), 0.0f);
    curve.resize(n_nodes);
    is_made.assign(n_nodes, 0);
}

// The null slot is as large as the largest group.
void WorkingSet::place_slots() {
    spot.assign(1, 0);
    size_t largest = 1;
    for (size_t slot = 0; slot + 1 < n_slots(); ++slot) {
        const size_t here = edge[slot] < 0 ? 0 : size(edge[slot]);
        largest = std::max(largest, here);
        spot.push_back(spot.back() + here);
    }
    spot.push_back(spot.back() + largest);
}

size_t WorkingSet::block_bytes() const {
    size_t floats = 0;
    for (int node : nodes) floats += static_cast<size_t>(inner_degree[node]) * block_stride(node);
    return floats * sizeof(float);
}

Block WorkingSet::block_of(int node) {
    const int first = offset[node];
    float* G = is_operator[node] || inner_degree[node] == 0 ? nullptr : blocks.data() + row[first];
    float* own_b = has_groups ? nullptr : b.data() + first;
    return {first_node + node, inner_of(node), G, block_stride(node), own_b, diagonal.data() + at(first), &curve[node]};
}

void WorkingSet::finish_block(int node) {
    curve[node] = std::max(curve[node], 1e-30);
    is_made[node] = 1;
    if (has_groups) {
        const int first = offset[node];
        for (size_t i = at(first); i < at(first + inner_degree[node]); ++i) diagonal[i] = with_ridge(diagonal[i]);
        return;
    }
    for (int k = 0; k < inner_degree[node]; ++k) {
        float& value = diagonal[offset[node] + k];
        if (is_operator[node]) {
            value = with_ridge(value);
            continue;
        }
        float& entry = blocks[row[offset[node] + k] + k];
        value = entry = with_ridge(entry);
    }
}

}  // namespace isinglass
