// The coefficients a solve may change, arranged by node, with the blocks of the Hessian.
//
// A coefficient (edge) has a slot at node s and, where both ends share it, a second one at node t; else the second slot
// is the null slot, which reads as zero everywhere. A node has one slot per neighbor in the working set, inner ones
// first.
//
// Gradients are kept for the whole working set, second derivatives only for its inner edges: those that are not zero or
// are about to move. Screening keeps two to five times more pairs than end up in the model, and a block costs the
// square of its size. The Hessian of the edges is the sum of the nodes' embedded matrices, each a block (see Block in
// rows.hpp) or, where that would cost too much, an operator.
//
// An edge has one coefficient or, where a column has no order (has_groups), a group of them, penalized by its norm.
// What there is one of per edge or slot is then indexed by first() or at(), and all nodes are operators.
#pragma once

#include <vector>

#include "lasso/lasso.hpp"
#include "rows/rows.hpp"
#include "tuning.hpp"

namespace isinglass {

struct WorkingSet {
    int n_nodes = 0, first_node = 0;                       // node k of the set is column first_node + k
    bool is_shared = true;                                 // edges have two slots
    int widest_block = tuning::working_set::WIDEST_BLOCK;  // nodes with a wider neighborhood are operators
    bool needs_blocks = false;                             // operators have failed to get anywhere
    bool has_groups = false;

    // Edges in lexicographic order: s is a node of the set, t a column and, if shared, a node as well.
    std::vector<int> s, t, slot_s, slot_t;
    std::vector<double> theta, omega, gradient;
    std::vector<size_t> place, spot;  // with groups: where coefficients of edges, numbers of slots begin
    std::vector<char> is_inner;
    std::vector<int> inner;  // edges that have second derivatives

    // Slots, node after node; every node starts at a multiple of 16 so that rows are padded alike. The last one is the
    // null slot.
    std::vector<int> nodes;   // those with a slot
    std::vector<int> offset;  // first slot of each node
    std::vector<int> degree, inner_degree;
    std::vector<int> edge;              // of a slot; -1 in the padding
    std::vector<int> column;            // of the slot's neighbor
    std::vector<double> slot_gradient;  // sum_n w r_s x_t

    Buffer<float> blocks, b, diagonal;
    std::vector<size_t> row;        // of a slot, in blocks
    std::vector<double> curve;      // S_s when the blocks were made
    std::vector<char> is_made;      // the matrix of a node belongs to its present slots
    std::vector<char> is_operator;  // of a node: products on the rows instead of a block

    std::vector<int> operators;  // these nodes
    bool has_operators = false;

    size_t n_edges() const { return s.size(); }
    Pair pair(size_t e) const { return {first_node + s[e], t[e]}; }  // of columns
    // Moves e, at first 0, on to this pair; false if it is not in the set. Pairs are asked for in their order.
    bool find(const Pair& wanted, size_t& e) const {
        while (e < n_edges() && pair(e) < wanted) ++e;
        return e < n_edges() && pair(e) == wanted;
    }
    size_t first(size_t e) const { return has_groups ? place[e] : e; }
    size_t size(size_t e) const { return has_groups ? place[e + 1] - place[e] : 1; }
    size_t at(size_t slot) const { return has_groups ? spot[slot] : slot; }
    size_t n_coefficients() const { return theta.size(); }
    size_t n_numbers() const { return has_groups ? spot.back() : n_slots(); }
    double theta_norm(size_t e) const { return norm(theta.data() + first(e), size(e)); }
    double gradient_norm(size_t e) const { return norm(gradient.data() + first(e), size(e)); }
    size_t block_bytes() const;  // if no node were an operator
    size_t n_slots() const { return edge.size(); }
    int null_slot() const { return static_cast<int>(n_slots()) - 1; }
    int block_stride(int node) const { return (inner_degree[node] + 15) / 16 * 16; }
    const float* block_row(int slot) const { return blocks.data() + row[slot]; }
    NeighborColumns inner_of(int node) const { return {column.data() + offset[node], inner_degree[node]}; }

    // Fills the slots once s, t, gradient and is_inner are known; gradients of slots move along.
    void arrange();
    // What the rows are asked for to make the matrix of one node, and what is left to do then.
    Block block_of(int node);
    void finish_block(int node);

 private:
    void place_slots();
};

}  // namespace isinglass
