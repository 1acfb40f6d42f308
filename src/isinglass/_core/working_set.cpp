#include "working_set.hpp"

#include <algorithm>

#include "lasso.hpp"

namespace isinglass {

void WorkingSet::arrange(int n_features, const Table& table) {
    degree.assign(n_features, 0);
    inner_degree.assign(n_features, 0);
    inner.clear();
    for (size_t e = 0; e < n_edges(); ++e) {
        ++degree[s[e]], ++degree[t[e]];
        inner_degree[s[e]] += is_inner[e];
        inner_degree[t[e]] += is_inner[e];
        if (is_inner[e]) inner.push_back(static_cast<int>(e));
    }
    nodes.clear();
    offset.assign(n_features + 1, 0);
    for (int node = 0; node < n_features; ++node) {
        if (degree[node]) nodes.push_back(node);
        offset[node + 1] = offset[node] + (degree[node] + 15) / 16 * 16;
    }
    edge.assign(offset[n_features], -1);
    column.assign(edge.size(), nullptr);
    row.assign(edge.size(), 0);
    slot_gradient.resize(edge.size());
    slot_s.resize(n_edges());
    slot_t.resize(n_edges());
    std::vector<int> next(offset.begin(), offset.end() - 1);
    for (const char turn : {1, 0})
        for (size_t e = 0; e < n_edges(); ++e) {
            if (is_inner[e] != turn) continue;
            slot_s[e] = next[s[e]]++;
            slot_t[e] = next[t[e]]++;
            edge[slot_s[e]] = edge[slot_t[e]] = static_cast<int>(e);
            column[slot_s[e]] = table.column(t[e]);
            column[slot_t[e]] = table.column(s[e]);
        }
    size_t floats = 0;
    for (int node : nodes)
        for (int k = 0; k < inner_degree[node]; ++k, floats += block_stride(node))
            row[offset[node] + k] = floats;
    if (blocks.size() < floats) blocks.resize(floats + floats / 2);
    if (b.size() < edge.size()) b.resize(edge.size() * 2);
    curve.resize(n_features);
    is_made.assign(n_features, 0);
}

void WorkingSet::assemble(int node, const float* wv, double S, int n_rows, float* scratch,
                          const Kernels& kernels) {
    const int d = inner_degree[node], ld = block_stride(node), first = offset[node];
    curve[node] = std::max(S, 1e-30);
    is_made[node] = 1;
    if (d == 0) return;
    float* G = blocks.data() + row[first];
    kernels.gram(wv, column.data() + first, d, n_rows, G, ld, b.data() + first, scratch);
    add_ridge(G, d, ld);
}

}  // namespace isinglass
