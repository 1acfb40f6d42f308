// Rows on this computer for tables with a nominal column, whose categories have no order: each is a corner of a regular
// simplex with edge length 1. Other columns have their categories on a line, as in OrdinalRows.
//
// The corners are written as e_k / sqrt 2 in as many dimensions as there are categories. A block of coefficients then
// is a table with an entry per category, and its norm is that of coordinates in the simplex: fields are free and
// probabilities add up to 1, hence gradients, and all that is made of them, add up to zero over a nominal side.
// Categories that do not occur are left out.
//
// A node's predictor has one number per category (on a line: one), row after row. What a neighbor adds is
// the row of a small table that its category selects; gradients and products with the Hessian are collected in such
// tables. No column of 0 and 1 is ever stored, and no block of second derivatives.
#pragma once

#include "rows/category_rows.hpp"

namespace isinglass {

class NominalRows final : public CategoryRows, public ProductRows {
 public:
    // The table holds scores in equal steps from 0, up to ranges, or, where the range is 0, category numbers.
    NominalRows(std::shared_ptr<const Table> table, const uint8_t* ranges, Holds holds, Pool& pool);
    // What such rows take, before they take it.
    static size_t bytes(const Table& table, const uint8_t* ranges, int n_threads);

    double rounding() const override;
    std::vector<Overlap> overlaps(std::span<const Pair> pairs) override;
    void blocks(std::span<const Block> tasks, Curvature curvature) override;
    ProductRows* operators() override { return this; }
    void products(std::span<const Product> tasks) override;
    double all_pairs(int first, int last, float* band) override;
    std::vector<ResidualDrift> drift(std::span<const int> nodes) override;
    bool has_groups() const override { return true; }
    int width(int column) const override { return columns_[column].width; }
    void project(const Pair& pair, double* block) const override;

 private:
    struct Column {
        int q, width;  // categories that occur, and numbers of a predictor: as many, or one on a line
        int ld, lead;  // the same, padded
        double unit;   // a nominal category is the point unit e_k
        std::vector<double> share, score;  // score: empty if nominal, else padded
        std::vector<float> single_score;
        size_t wide;  // where its rows of ld numbers begin
    };
    struct Node {
        std::vector<double> L;  // factor of the curvature of the fields
        bool is_majorized = false;
        std::vector<uint8_t> likeliest;  // category of a row, at the probabilities of products
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
        std::vector<double> sums, padded;
    };
    Column describe(int column, int range);
    const uint8_t* codes(int column) const { return codes_.data() + static_cast<size_t>(column) * stride_; }
    float* probabilities(int node) { return P_.data() + columns_[node].wide; }
    int index(int s, int t, int k, int l) const;
    template <class T, class U>
    void fill_table(int node, int t, const U* block, T* table) const;
    template <class T, class U>
    void read_table(int node, int t, const T* table, const double* shift, U* block) const;
    template <class T>
    void lay_out(int node, const NeighborColumns& neighbors, Tabled& scratch, Tables<T>& tables) const;
    void pass(int node, int worker) override;
    const double* own_odds(int node, int worker) override;
    const double* sums(int node, int worker) override;
    void add_columns(const Move& task, bool afresh, int worker) override;
    void collect(const NodeView& view, int node, const NeighborColumns& asked, double* out, int worker) override;
    void make_curvature(const Block& task, Curvature curvature, int worker);
    void bound_curvature(int node, Tabled& scratch) const;
    Curve curve(int node, Tabled& scratch);
    void multiply(const Product& task, Tabled& scratch);
    size_t halves_of(int node, int begin, int end, std::vector<int>& columns) const;
    void read_diagonal(const Block& task, Tabled& scratch) const;

    std::vector<Column> columns_;
    std::vector<Node> nodes_;
    size_t n_wide_ = 0;  // numbers of P_
    Buffer<uint8_t> codes_;
    Buffer<float> P_, w_;
    std::vector<Tabled> tabled_;  // scratch of every thread
};

}  // namespace isinglass
