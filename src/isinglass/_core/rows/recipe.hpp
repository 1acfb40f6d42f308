// What a node's predictor is made of: its offset and its coefficients, a few numbers per edge. They can be sent, and
// rows that were lost are made again from them.
#pragma once

#include <optional>
#include <vector>

#include "rows/rows.hpp"
#include "rows/sums.hpp"

namespace isinglass {

struct Recipe {
    double offset = 0;
    std::vector<int> column;
    std::vector<double> coefficient;

    NeighborColumns columns() const { return {column.data(), static_cast<int>(column.size())}; }
    // Adds a move. where: scratch, -1 for every column.
    void change(const Move& task, std::vector<int>& where);
    // Takes out columns whose coefficients are what rounding has left of zero.
    void forget_zeros();
    // The columns to merge rows by, at most so many: its own and, if there is room for them, these; none if there is
    // not even room for its own. They depend on nothing else, so that rows made again elsewhere give the same bits.
    std::optional<std::vector<int>> merged_by(const NeighborColumns& also, int most) const;
    // The predictor on rows of `source`, some of them from `row` on.
    void predict(const ColumnSource& source, int row, int rows, double* eta, Scratch& scratch) const;
};

// Where the predictors are, where they were when residuals were remembered, and where the curvatures of products were
// taken (majorized: w / 4 instead).
struct Recipes {
    explicit Recipes(size_t n_nodes = 0) : now(n_nodes), remembered(n_nodes), modeled(n_nodes), majorized(n_nodes) {}
    std::vector<Recipe> now, remembered, modeled;
    std::vector<uint8_t> majorized;
};

}  // namespace isinglass
