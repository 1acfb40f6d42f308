// Rows of a table with few ones: lists of ones instead of cells, and recipes instead of predictors.
//
// A row in which neither a node nor one of its neighbors is 1 says nothing about that node but its offset:
// all such rows are one row with their summed weight. The others, few where ones are rare, are the node's
// view, a small table that the kernels work on as on any other. All calls cost as much as the ones that
// they touch, and no call as much as the cells.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "rows/pool.hpp"
#include "rows/recipes.hpp"
#include "rows/sums.hpp"

namespace isinglass {

double share_of_ones(const Table& table);

class SparseRows final : public RecipeRows {
 public:
    // The table is not needed any more afterwards.
    SparseRows(const Table& table, Pool& pool);

    const Margins& margins() const override { return margins_; }
    double rounding() const override;
    std::vector<Overlap> overlaps(std::span<const Pair> pairs) override;
    void move(std::span<const Move> tasks, bool afresh) override;
    void gradients(std::span<const Gradient> tasks) override;
    void blocks(std::span<const Block> tasks, Curvature curvature) override;
    void products(std::span<const Product> tasks) override;
    double divergence(std::span<const int> nodes, double c) override;
    double largest_predictor(std::span<const int> nodes) override;
    // Over all rows of the view, however many.
    std::vector<double> gram(int node, const Beside& beside, int most) override;
    void remember(std::span<const int> nodes) override;
    std::vector<Moved> drift(std::span<const int> nodes) override;
    double all_pairs(int first, int last, float* band) override;

    const Recipes& state() const override { return state_; }
    void restore(Recipes state) override { state_ = std::move(state); }

 private:
    // Of one node: its rows, those where it is 1 first, and after them all others as one row.
    struct View {
        std::vector<int> rows;
        std::vector<int> where;  // of every row of the table: its place among them, or -1
        int size = 0;            // with the row of all others, padded
        int n_equal = 0;
        Buffer<double> eta, wr, w, inverse_w, line, numbers;
        Buffer<float> curves, panels;
        Buffer<uint8_t> x, cells;
        std::vector<const uint8_t*> columns;
        std::vector<double> moments;  // of all columns
        std::vector<int> places;      // scratch of Recipe::change
        size_t others() const { return rows.size(); }
    };
    std::span<const int> ones(int column) const {
        return {rows_.data() + column_begin_[column], rows_.data() + column_begin_[column + 1]};
    }
    std::span<const int> columns(int row) const {
        return {columns_.data() + row_begin_[row], columns_.data() + row_begin_[row + 1]};
    }
    void look(View& view, int node, std::initializer_list<Beside> beside) const;
    double weight_outside(const View& view, double inside) const;
    NodeSums pass(View& view, const Recipe& recipe) const;
    NodeSums see(View& view, int node, const Recipe& recipe, const Beside& also) const;
    double moment(const View& view, int column) const;
    void sum_moments(View& view, float* out) const;
    const uint8_t* const* fill_cells(View& view, const Beside& beside) const;
    const float* curvatures(View& view, bool majorized) const;
    void multiply(const Product& task, View& view);

    const Kernels& kernels_;
    Pool& pool_;
    const int n_rows_;
    const Margins margins_;
    std::vector<double> w_, inverse_w_;
    bool is_equal_;  // all weights are
    double total_ = 0;
    std::vector<size_t> column_begin_, row_begin_;
    std::vector<int> rows_, columns_;  // the ones, by column and by row
    Recipes state_;
    std::vector<View> views_;  // one per thread
};

}  // namespace isinglass
