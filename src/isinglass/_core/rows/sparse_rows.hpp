// Rows of a table with few ones: lists of ones instead of cells, and recipes instead of predictors.
//
// A row in which neither a node nor one of its neighbors is 1 says nothing about that node but its offset: all such
// rows are one row with their summed weight. The others, few where ones are rare, are the node's local, a small table
// that the kernels work on as on any other. All calls cost as much as the ones that
// they touch, and no call as much as the cells.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "rows/local_rows.hpp"

namespace isinglass {

double share_of_ones(const Table& table);

class SparseRows final : public RecipeBase {
 public:
    // The table is not needed any more afterwards.
    SparseRows(const Table& table, Pool& pool);

    double rounding() const override;
    std::vector<Overlap> overlaps(std::span<const Pair> pairs) override;
    // Over all rows of the local, however many.
    std::vector<double> gram(int node, const NeighborColumns& neighbors, int most) override;
    std::vector<ResidualDrift> drift(std::span<const int> nodes) override;
    double all_pairs(int first, int last, float* band) override;

 private:
    // Of one node: its rows, those where it is 1 first, and after them all others as one row.
    struct LocalTable final : ColumnSource {
        // As bytes on these rows, which have all of the columns' ones.
        const uint8_t* const* list(const NeighborColumns& neighbors, std::vector<const uint8_t*>& found) const override;
        const SparseRows* owner = nullptr;
        std::vector<int> rows;
        std::vector<int> where;  // of every row of the table: its place among them, or -1
        int size = 0;            // with the row of all others, padded
        int n_equal = 0;
        Buffer<double> eta, wr, w, inverse_w;
        Buffer<float> reference;
        Buffer<uint8_t> x;
        mutable Buffer<uint8_t> cells;
        std::vector<double> moments;  // of all columns
        size_t others() const { return rows.size(); }
    };
    std::span<const int> ones(int column) const {
        return {rows_.data() + column_begin_[column], rows_.data() + column_begin_[column + 1]};
    }
    std::span<const int> ones_of(int row) const {
        return {columns_.data() + row_begin_[row], columns_.data() + row_begin_[row + 1]};
    }
    void look(LocalTable& local, int node, std::initializer_list<NeighborColumns> neighbors) const;
    double weight_outside(const LocalTable& local, double inside) const;
    NodeSums pass(LocalTable& local, const Recipe& recipe) const;
    double moment(const LocalTable& local, int column) const;
    void sum_moments(LocalTable& local, float* out) const;
    NodeView make(int node, const Recipe& recipe, const NeighborColumns& also, int worker) override;
    void collect(const NodeView& view, int node, const NeighborColumns& asked, double* out, int worker) override;

    const int n_rows_;
    std::vector<double> w_, inverse_w_;
    bool is_equal_;  // all weights are
    std::vector<size_t> column_begin_, row_begin_;
    std::vector<int> rows_, columns_;  // the ones, by column and by row
    std::vector<LocalTable> local_;    // one per thread
};

}  // namespace isinglass
