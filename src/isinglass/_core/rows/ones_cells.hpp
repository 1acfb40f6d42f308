// A table with few ones as lists of them instead of cells.
//
// A row in which neither a node nor one of its neighbors is 1 says nothing about that node but its offset: all such
// rows are one row with their summed weight. The others, few where ones are rare, are the node's local table, a small
// one that the kernels work on as on any other. All calls cost as much as the ones that they touch, and no call as much
// as the cells.
#pragma once

#include <initializer_list>
#include <limits>
#include <span>
#include <vector>

#include "rows/recipe_storage.hpp"

namespace isinglass {

double share_of_ones(const Table& table);

class OnesCells {
 public:
    // The table is not needed any more afterwards.
    OnesCells(Workers& workers, const Table& table);

    const Margins& margins() const { return margins_; }
    double total() const { return total_; }
    // Sums run one after the other, and the weight of all others is at worst a difference of two such sums.
    double rounding() const { return (2.0 * n_rows_ + 32) * std::numeric_limits<double>::epsilon() / 2; }
    // All rows of a local table, however many.
    static int gram_rows(int) { return std::numeric_limits<int>::max() / 2; }
    Overlap overlap(const Pair& pair, int worker);
    NodeView make(int node, const Recipe& recipe, const NeighborColumns& also, int worker);
    NodeView view(int node, const Recipe& recipe, const NeighborColumns& also, int worker) {
        return make(node, recipe, also, worker);
    }
    // What is asked for costs less without being on the node's rows.
    NodeView renew(int node, const Recipe& recipe, const NeighborColumns&, int worker) {
        return make(node, recipe, {}, worker);
    }
    void collect(const NodeView&, int, const Recipe&, const NeighborColumns& asked, double* out, int worker) const {
        for (int j = 0; j < asked.count; ++j) out[j] = moment(local_[worker], asked.column[j]);
    }
    void gradient(int node, const Recipe& recipe, const NeighborColumns& asked, double* out, int worker) {
        collect(make(node, recipe, {}, worker), node, recipe, asked, out, worker);
    }
    static void sums(const NodeView& view, const double* a, const NeighborColumns& asked, double* out,
                     Scratch& scratch) {
        kernels().dots(view.source->list(asked, scratch.columns), a, out);
    }
    ResidualDrift drift(int node, const Recipe& now, const Recipe& before, int worker);
    double all_pairs(const std::vector<Recipe>& now, int first, int last, float* band);

 private:
    // Of one node: its rows, those where it is 1 first, and after them all others as one row.
    struct LocalTable final : ColumnSource {
        // As bytes on these rows, which have all of the columns' ones.
        ColumnList list(const NeighborColumns& neighbors, std::vector<const uint8_t*>& found) const override;
        NodeRows node_rows() const { return {x.data(), w.data(), inverse_w.data(), size, n_equal}; }
        size_t others() const { return rows.size(); }
        const OnesCells* owner = nullptr;
        std::vector<int> rows;
        std::vector<int> where;  // of every row of the table: its place among them, or -1
        int size = 0;            // with the row of all others, padded
        int n_equal = 0;
        Buffer<double> eta, wr, w, inverse_w;
        Buffer<float> reference;
        Buffer<uint8_t> x;
        mutable Buffer<uint8_t> cells;
        std::vector<double> moments;  // of all columns
    };
    std::span<const int> ones(int column) const {
        return {rows_.data() + column_begin_[column], rows_.data() + column_begin_[column + 1]};
    }
    std::span<const int> ones_of(int row) const {
        return {columns_.data() + row_begin_[row], columns_.data() + row_begin_[row + 1]};
    }
    void look(LocalTable& local, int node, std::initializer_list<NeighborColumns> neighbors) const;
    double weight_outside(const LocalTable& local, double inside) const;
    NodeView pass_local(LocalTable& local, const Recipe& recipe) const;
    double moment(const LocalTable& local, int column) const;
    void sum_moments(LocalTable& local, float* out) const;

    Workers& workers_;
    const Margins margins_;
    const int n_rows_;
    std::vector<double> w_, inverse_w_;
    const double total_;
    const bool is_equal_;  // all weights are
    std::vector<size_t> column_begin_, row_begin_;
    std::vector<int> rows_, columns_;  // the ones, by column and by row
    std::vector<LocalTable> local_;    // one per thread
};

}  // namespace isinglass
