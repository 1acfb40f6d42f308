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
// What there is one of per edge or slot is then indexed by first() or at(), and nodes whose column has no order are
// operators.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "lasso/chunks.hpp"
#include "lasso/lasso.hpp"
#include "rows/rows.hpp"
#include "tuning.hpp"

namespace isinglass {

class WorkingSet {
 public:
    // groups: null where every edge has one coefficient. ridge: of every edge, part of its gradient.
    WorkingSet(int n_nodes, bool is_shared, const GroupRows* groups, double ridge)
        : n_nodes_(n_nodes), is_shared_(is_shared), groups_(groups), ridge_(ridge) {
        start(0);
    }

    // Nodes with a wider neighborhood are operators; from the next arrangement on.
    void set_widest_block(int width) { widest_block_ = width; }

    // No edges; node k of the set is column first_node + k.
    void start(int first_node);
    // No edges; until arrange() there are edges and no slots.
    void clear();
    // The next edge, in lexicographic order; values: null for zeros. An edge that is not zero is an inner one.
    void add_edge(const Pair& pair, double omega, size_t size, const double* values);
    // Fills the slots; their gradients move along if no edge was added.
    void arrange();
    void make_inner(const std::vector<int>& edges);
    // Operators have failed to get anywhere: blocks from now on, in every set where they fit.
    void use_blocks();
    bool blocks_fit() const { return block_bytes() <= tuning::working_set::MAX_BLOCK_BYTES; }
    void set_theta(std::vector<double> theta) { theta_ = std::move(theta); }
    void set_theta(size_t e, const double* values) { std::copy(values, values + size(e), theta_.data() + first(e)); }
    // theta = start + length d, over the inner edges.
    void move_theta(const std::vector<double>& start, double length, const std::vector<double>& d, Chunks& chunks);
    // Where rows put the gradients of slots; gather_gradient() adds both slots of every edge.
    double* gradient_at(int slot) { return slots_.gradient.data() + at(slot); }
    void gather_gradient(Chunks& chunks);
    // What the rows are asked for to make the matrix of one node, and what is left to do then.
    Block block_of(int node);
    void finish_block(int node);
    void forget_matrices() { is_made_.assign(n_nodes_, 0); }

    // Edges: s is a node of the set, t a column and, if shared, a node as well.
    int n_nodes() const { return n_nodes_; }
    int first_node() const { return first_node_; }
    bool is_shared() const { return is_shared_; }
    bool has_groups() const { return groups_ != nullptr; }
    int s(size_t e) const { return ends_[e][0]; }
    int t(size_t e) const { return ends_[e][1]; }
    std::span<const int> ends(size_t e) const { return {ends_[e].data(), is_shared_ ? 2u : 1u}; }  // that are nodes
    Pair pair(size_t e) const { return {first_node_ + s(e), t(e)}; }                               // of columns
    double omega(size_t e) const { return omega_[e]; }
    bool has_free(double alpha) const { return n_edges() > 0 && alpha * least_omega_ == 0.0; }
    double ridge() const { return ridge_; }
    bool is_inner(size_t e) const { return is_inner_[e]; }
    size_t n_edges() const { return ends_.size(); }
    // Moves e, at first 0, on to this pair; false if it is not in the set. Pairs are asked for in their order.
    bool find(const Pair& wanted, size_t& e) const {
        while (e < n_edges() && pair(e) < wanted) ++e;
        return e < n_edges() && pair(e) == wanted;
    }
    const std::vector<int>& inner() const { return inner_; }  // edges that have second derivatives

    // Coefficients, edge after edge.
    const std::vector<double>& theta() const { return theta_; }
    const std::vector<double>& gradient() const { return gradient_; }
    size_t n_coefficients() const { return theta_.size(); }
    size_t first(size_t e) const { return has_groups() ? place_[e] : e; }
    size_t size(size_t e) const { return has_groups() ? place_[e + 1] - place_[e] : 1; }
    double theta_norm(size_t e) const { return norm(theta_.data() + first(e), size(e)); }
    double gradient_norm(size_t e) const { return norm(gradient_.data() + first(e), size(e)); }
    double violation(size_t e, double alpha) const {
        return kkt_violation(theta_.data() + first(e), gradient_.data() + first(e), size(e), alpha * omega_[e]);
    }

    // Slots, node after node; every node starts at a multiple of 16 so that rows are padded alike. The last one is the
    // null slot.
    int slot_s(size_t e) const { return slots_.s[e]; }
    int slot_t(size_t e) const { return slots_.t[e]; }
    const std::vector<int>& nodes() const { return nodes_; }  // those with a slot
    int first_slot(int node) const { return first_slot_[node]; }
    int degree(int node) const { return degree_[node]; }
    int inner_degree(int node) const { return inner_degree_[node]; }
    int edge_of(int slot) const { return edge_[slot]; }  // -1 in the padding
    const std::vector<int>& edges_of_slots() const { return edge_; }
    int column_of(int slot) const { return column_[slot]; }  // the neighbor's
    size_t at(size_t slot) const { return has_groups() ? slots_.spot[slot] : slot; }
    size_t n_slots() const { return edge_.size(); }
    size_t n_numbers() const { return has_groups() ? slots_.spot.back() : n_slots(); }
    int null_slot() const { return static_cast<int>(n_slots()) - 1; }
    NeighborColumns columns_of(int first_slot, int count) const { return {column_.data() + first_slot, count}; }
    NeighborColumns inner_of(int node) const { return columns_of(first_slot_[node], inner_degree_[node]); }

    // Matrices.
    const Buffer<float>& b() const { return b_; }
    const Buffer<float>& diagonal() const { return diagonal_; }
    double curve(int node) const { return curve_[node]; }            // S_s when the blocks were made
    bool is_made(int node) const { return is_made_[node]; }          // its matrix belongs to its present slots
    bool is_operator(int node) const { return is_operator_[node]; }  // products on the rows instead of a block
    const std::vector<int>& operators() const { return operators_; }
    bool has_operators() const { return !operators_.empty(); }
    size_t block_bytes() const;                                          // of all nodes that can have one
    bool needs_blocks() const { return has_groups() || needs_blocks_; }  // even where nodes are wide
    double mean_width() const { return mean_width_; }                    // of blocks, on average over their rows
    int inner_width(int node) const {                                    // numbers of its inner slots
        return static_cast<int>(at(first_slot_[node] + inner_degree_[node]) - at(first_slot_[node]));
    }
    int block_stride(int node) const { return (inner_width(node) + 15) / 16 * 16; }
    const float* block_row(size_t number) const { return blocks_.data() + row_[number]; }
    // out = G d for the block of a node; out has room for block_stride() numbers. One thread at a time: it has scratch.
    void multiply_block(int node, const float* d, float* out) const;

 private:
    bool has_block(int node) const { return !has_groups() || groups_->has_block(first_node_ + node); }
    void place_slots();
    struct Slots {
        std::vector<int> s, t;         // of an edge
        std::vector<size_t> spot;      // with groups: where the numbers of a slot begin
        std::vector<double> gradient;  // of these numbers
    };
    void keep_gradients(const Slots& before);
    void choose_operators();
    void place_matrices();

    const int n_nodes_;
    const bool is_shared_;           // edges have two slots
    const GroupRows* const groups_;  // null where every edge has one coefficient
    const double ridge_;
    int first_node_ = 0;
    int widest_block_ = tuning::working_set::WIDEST_BLOCK;
    bool needs_blocks_ = false;
    double mean_width_ = 0;
    double least_omega_ = 0;

    std::vector<std::array<int, 2>> ends_;
    Slots slots_, slots_before_;  // those of the last arrangement, whose memory serves the next one
    std::vector<double> theta_, omega_, gradient_;
    std::vector<size_t> place_;  // with groups: where coefficients of edges begin
    std::vector<char> is_inner_;
    std::vector<int> inner_, outer_, nodes_, first_slot_, degree_, inner_degree_, edge_, column_;
    Buffer<float> blocks_, b_, diagonal_;
    std::vector<size_t> row_;  // of a number of a slot, in blocks
    std::vector<double> curve_;
    std::vector<char> is_made_, is_operator_;
    std::vector<int> operators_;
    mutable std::vector<float> factors_;  // of a product, and the rows of the block that they multiply
    mutable std::vector<const float*> factor_rows_;
};

}  // namespace isinglass
