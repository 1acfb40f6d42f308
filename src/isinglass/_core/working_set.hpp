// The pairs a solve may change, arranged by node, with the blocks of the Hessian.
//
// Gradients are kept for the whole working set, second derivatives only for its inner edges: those that are
// not zero or are about to move. Screening keeps two to five times more pairs than end up in the model, and a
// block costs the square of its size.
//
// Node s has one slot per neighbour in the working set, inner ones first. Its block is the d_s x d_s matrix
//   G_s = X_s^T diag(w v_s) X_s - b_s b_s^T / S_s,   b_s = X_s^T (w v_s), S_s = sum w v_s:
// the field is profiled out (computed from centred columns, which is the same without cancellation). The
// Hessian of the edges is the sum of the embedded blocks.
#pragma once

#include <vector>

#include "kernels.hpp"
#include "table.hpp"

namespace isinglass {

struct WorkingSet {
    // Edges in lexicographic order, each with its two slots.
    std::vector<int> s, t, slot_s, slot_t;
    std::vector<double> theta, omega, gradient;
    std::vector<char> is_inner;
    std::vector<int> inner;  // edges that have second derivatives

    // Slots, node after node; every node starts at a multiple of 16 so that rows are padded alike.
    std::vector<int> nodes;   // those with a slot
    std::vector<int> offset;  // first slot of each node
    std::vector<int> degree, inner_degree;
    std::vector<int> edge;               // of a slot; -1 in the padding
    std::vector<const uint8_t*> column;  // of the slot's neighbour
    std::vector<double> slot_gradient;   // sum_n w r_s x_t

    Buffer<float> blocks, b;
    std::vector<size_t> row;    // of a slot, in blocks
    std::vector<double> curve;  // S_s when the blocks were made
    std::vector<char> is_made;  // the block of a node belongs to its present slots

    size_t n_edges() const { return s.size(); }
    size_t n_slots() const { return edge.size(); }
    int block_stride(int node) const { return (inner_degree[node] + 15) / 16 * 16; }
    const float* block_row(int slot) const { return blocks.data() + row[slot]; }

    void clear() { s.clear(), t.clear(), theta.clear(), omega.clear(); }
    // Fills the slots once s, t and is_inner are known.
    void arrange(int n_features, const Table& table);
    // Makes the block of one node from its curvatures wv.
    void assemble(int node, const float* wv, double S, int n_rows, float* scratch, const Kernels& kernels);
};

}  // namespace isinglass
