// Rows on this computer for columns with categories, two or more: the table as bytes, a line per node, and for every
// node a loss (two_values.cpp, ordered.cpp, unordered.cpp).
//
// A node has one field per category, always at its optimum for the node's predictor. Each move ends with Newton's
// method on the fields (fields.hpp), and second derivatives have them profiled out. What is left of their gradient is
// in NodeSums.
#pragma once

#include <memory>
#include <stdexcept>

#include "rows/fields.hpp"
#include "rows/merged_lines.hpp"
#include "rows/two_value_rows.hpp"

namespace isinglass {

// The categories of a column that occur, in the order of their values: points on a line, scaled to a range of 1 and
// centered, so that everything above the seam is as for 0 and 1; or, without an order, corners of a simplex.
struct CategoryColumn {
    CategoryColumn(const Table& table, int column);

    int q() const { return static_cast<int>(value.size()); }
    bool is_ordered() const { return !score.empty(); }
    int width() const { return is_ordered() ? 1 : q(); }  // numbers of a point
    int ld() const { return q() <= 4 ? 4 : (q() + 7) / 8 * 8; }
    int lead() const { return is_ordered() ? 1 : ld(); }  // numbers of a row's predictor, padded
    double point(double of) const { return (of - center) * step; }
    // Cells are 0 and 1.
    bool has_two_values() const { return q() == 2 && value[0] == 0 && value[1] == 1 && step == 1; }

    std::vector<double> value, share, score;
    double center = 0, step = 0;  // of scores
    double unit;                  // a category without an order is the point unit e_k
    bool is_modelled;             // else a covariate: a neighbor of others, without a loss of its own
};

// The rows of a column of two values that have the rarer one; its score, and that of the other.
struct RareRows {
    std::vector<int> rows;
    double score = 0, other = 0;
    double apart() const { return score - other; }
    RowList list(int ld) const { return {rows.data(), static_cast<int>(rows.size()), ld}; }
};

// A column of cells that stand for the numbers (cell - origin) step; mean: of the cells.
struct Axis {
    const uint8_t* cells;
    double step, origin, mean;
};

// What losses work on: the table and the state of its nodes.
struct CategoryState {
    CategoryState(std::shared_ptr<const Table> table, Holds holds, Pool& pool);
    NodeView view(int node) { return lines.view_rows(node); }
    // The numbers of a column's categories, in tables with a column that has no order.
    const uint8_t* codes(int column) const { return numbers.data() + static_cast<size_t>(column) * stride; }
    bool has_order() const {
        return std::all_of(columns.begin(), columns.end(),
                           [](const CategoryColumn& each) { return each.is_ordered(); });
    }

    const std::shared_ptr<const Table> table;
    const int stride;
    Workers workers;
    const std::vector<CategoryColumn> columns;
    MergedLines lines;                        // of columns of 0 and 1, nodes may be merged
    std::vector<std::vector<double>> fields;  // of every node
    std::vector<std::vector<double>> shift;   // the same: sum w r
    Buffer<uint8_t> numbers;
    Buffer<uint8_t> indicators;           // of the categories of columns without an order, column after column
    std::vector<std::vector<Axis>> axes;  // of every column: its own, or one for each of these
    void make_axes();
    std::vector<RareRows> rare;  // of every column of two values, in tables with a column that has no order
};

// How nodes turn predictors into residuals and second derivatives.
class NodeLoss {
 public:
    virtual ~NodeLoss() = default;
    virtual void add_columns(const Move& task, bool afresh, int worker) = 0;
    // Residuals at the node's predictor and fields, and sums.
    virtual const CategorySums& pass(int node, int worker) = 0;
    virtual FieldPasses passes(int node, int worker) {
        return {[this, node, worker]() -> const CategorySums& { return pass(node, worker); }};
    }
    // The log odds of the observed category, on rows whose weights are given with them.
    struct Odds {
        NodeRows rows;
        const double* of;
    };
    virtual Odds odds(int node, int worker) = 0;
    // sum_n w r x of these columns.
    virtual void collect(int node, const NeighborColumns& asked, double* out, int worker) = 0;
    // Without G: what goes beside products.
    virtual void block(const Block& task, Curvature curvature, int worker) = 0;
    virtual void product(const Product&, int) { throw std::logic_error("a node with a block has no products"); }
};

std::unique_ptr<NodeLoss> two_value_loss(CategoryState& state);
std::unique_ptr<NodeLoss> ordered_loss(CategoryState& state);
std::unique_ptr<NodeLoss> unordered_loss(CategoryState& state, Holds holds);

class CategoryRows final : public Rows, public ProductRows, public GroupRows {
 public:
    // The table has ranges (see TableView).
    CategoryRows(std::shared_ptr<const Table> table, Holds holds, Pool& pool);

    const Margins& margins() const override { return margins_; }
    double rounding() const override;
    double null_field(int) const override { return 0; }  // the fields are the rows'
    void move(std::span<const Move> tasks, bool afresh) override;
    void gradients(std::span<const Gradient> tasks) override;
    void blocks(std::span<const Block> tasks, Curvature curvature) override;
    // Where all columns have an order, nodes are not worth being operators.
    ProductRows* products() override { return unordered_ ? this : nullptr; }
    void multiply(std::span<const Product> tasks, const Fill& fill) override;
    double divergence(std::span<const int> nodes, double c) override;
    void remember(std::span<const int> nodes) override;
    std::vector<ResidualDrift> drift(std::span<const int> nodes) override;
    double all_pairs(int first, int last, float* band) override;
    bool has_categories() const override { return true; }
    std::vector<double> category_fields(int first, int last) const override;
    void set_category_fields(int first, std::span<const double> fields) override;
    bool has_precise_blocks() const override { return true; }
    PreciseBlock precise_block(int node, const NeighborColumns& neighbors) override;
    const GroupRows* groups() const override { return unordered_ ? this : nullptr; }
    int width(int column) const override { return state_.columns[column].width(); }
    bool has_block(int node) const override { return state_.columns[node].is_ordered(); }
    void project(const Pair& pair, double* block) const override;

 private:
    NodeLoss& loss(int node) {
        const CategoryColumn& column = state_.columns[node];
        if (!column.is_modelled) return *none_;
        return !column.is_ordered() ? *unordered_ : column.has_two_values() ? *two_values_ : *ordered_;
    }
    bool is_on_line(int column) const { return state_.columns[column].is_ordered(); }
    NodeSums settle(int node, int worker);
    void choose_fields(int node, bool has_neighbors, int worker);
    void find_probabilities(int node, int row, std::vector<double>& P);
    double gradients_on_lines(int first, int last, float* band);
    void norms_of_groups(int first, int last, float* band);

    CategoryState state_;
    Pool& pool_;
    Margins margins_;
    std::unique_ptr<NodeLoss> two_values_, ordered_, unordered_, none_;  // null: no node has it
    Buffer<uint8_t> ones_;
};

// What rows of a table with a column that has no order take, before they take it.
size_t category_bytes(const Table& table, int n_threads);

}  // namespace isinglass
