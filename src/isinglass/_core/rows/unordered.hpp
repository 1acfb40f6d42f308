// Categories without an order: each is a corner of a regular simplex with edge length 1.
//
// The corners are written as e_k / sqrt 2 in as many dimensions as there are categories. A block of coefficients then
// is a table with an entry per category, and its norm is that of coordinates in the simplex: fields are free and
// probabilities add up to 1, hence gradients, and all that is made of them, add up to zero over a side without an
// order. Categories that do not occur are left out.
//
// A node's predictor has one number per category, row after row. What a neighbor adds is the row of a small table that
// its category selects; gradients and products with the Hessian are collected in such tables. No column of 0 and 1 is
// ever stored, and no block of second derivatives.
#pragma once

#include "rows/category_rows.hpp"

namespace isinglass {

class Unordered final : public NodeLoss {
 public:
    Unordered(CategoryState& state, Holds holds);

    void add_columns(const Move& task, bool afresh, int worker) override;
    const double* pass(int node, int worker) override;
    const double* odds(int node, int worker) override;
    void collect(int node, const NeighborColumns& asked, double* out, int worker) override;
    void prepare_blocks(std::span<const Block>) override;
    void block(const Block& task, Curvature curvature, int worker) override;
    void product(const Product& task, int worker) override;

 private:
    // A node's curvature, where its block was made.
    struct Node {
        std::vector<double> L;  // factor of the curvature of the fields
        bool is_majorized = false;
        std::vector<uint8_t> likeliest;  // category of a row, at the probabilities of products
        size_t begin = 0;                // of these
    };
    // One table per neighbor: a row of numbers, as a node's predictor has them, for each of its categories.
    template <class T>
    struct Tables {
        Buffer<T> data;
        std::vector<T*> of;
        size_t numbers = 0;
    };
    struct Tabled {
        std::vector<const uint8_t*> codes;  // of the neighbors
        std::vector<size_t> begin;          // of their blocks
        Tables<double> wide;
        Tables<float> single;
        Buffer<double> P, margin, room;
        Buffer<float> z, weights;
        std::vector<double> sums, fields;
    };
    const CategoryColumn& column(int s) const { return state_.columns[s]; }
    const uint8_t* codes(int column) const { return codes_.data() + static_cast<size_t>(column) * state_.stride; }
    float* probabilities(int node) { return P_.data() + nodes_[node].begin; }
    int width(int s) const { return state_.columns[s].width(); }
    int index(int s, int t, int k, int l) const;
    template <class T, class U>
    void fill_table(int node, int t, const U* block, T* table) const;
    template <class T, class U>
    void read_table(int node, int t, const T* table, const double* shift, U* block) const;
    template <class T>
    void lay_out(int node, const NeighborColumns& neighbors, Tabled& scratch, Tables<T>& tables) const;
    template <class T>
    CodeTables<T> tables_of(int node, const Tabled& scratch, const Tables<T>& tables) const;
    template <class T, class Gather>
    void gather(int node, const Tabled& scratch, const Tables<T>& tables, Gather kernel, T* out) const;
    void bound_curvature(int node, Tabled& scratch) const;
    Curve curve(int node, Tabled& scratch);
    void read_diagonal(const Block& task, Tabled& scratch) const;

    CategoryState& state_;
    std::vector<Node> nodes_;
    size_t n_probabilities_ = 0;
    Buffer<uint8_t> codes_;  // category numbers
    Buffer<float> P_, w_;
    std::vector<Tabled> tabled_;  // scratch of every thread
};

}  // namespace isinglass
