#include "lasso/working_set.hpp"

#include <algorithm>

namespace isinglass {
namespace {

// Single precision must not make a block indefinite, and its diagonal divides: a ridge a few roundings above
// zero. (With a tenth of it, badly conditioned tables stall; measured.)
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
    slot_gradient.assign(edge.size(), 0.0);
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
    if (old_s.size() == n_edges())
        for (size_t e = 0; e < n_edges(); ++e) {
            slot_gradient[slot_s[e]] = old_gradient[old_s[e]];
            if (is_shared) slot_gradient[slot_t[e]] = old_gradient[old_t[e]];
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
        is_operator[node] = is_dense && 2.0 * inner_degree[node] > widest_block;
        if (is_operator[node]) {
            operators.push_back(node);
            continue;
        }
        for (int k = 0; k < inner_degree[node]; ++k, floats += block_stride(node))
            row[offset[node] + k] = floats;
    }
    has_operators = !operators.empty();
    if (blocks.size() < floats) blocks.resize(floats + floats / 4);
    if (b.size() < edge.size()) {
        b.resize(edge.size() * 2);
        diagonal.resize(edge.size() * 2);
    }
    b[null_slot()] = diagonal[null_slot()] = 0;
    curve.resize(n_nodes);
    is_made.assign(n_nodes, 0);
}

size_t WorkingSet::block_bytes() const {
    size_t floats = 0;
    for (int node : nodes) floats += static_cast<size_t>(inner_degree[node]) * block_stride(node);
    return floats * sizeof(float);
}

Block WorkingSet::block_of(int node) {
    const int first = offset[node];
    float* G = is_operator[node] || inner_degree[node] == 0 ? nullptr : blocks.data() + row[first];
    return {first_node + node, inner_of(node),          G,           block_stride(node),
            b.data() + first,  diagonal.data() + first, &curve[node]};
}

void WorkingSet::finish_block(int node) {
    curve[node] = std::max(curve[node], 1e-30);
    is_made[node] = 1;
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
