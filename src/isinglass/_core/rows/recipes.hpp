// Rows that know what their predictors are made of. A node's recipe is its offset and its coefficients: what
// the rows have to know about the past is recipes alone, a few numbers per edge. They can be sent, and rows
// that were lost are made again from them.
#pragma once

#include <vector>

#include "rows/rows.hpp"

namespace isinglass {

struct Recipe {
    double offset = 0;
    std::vector<int> column;
    std::vector<double> coefficient;

    Beside columns() const { return {column.data(), static_cast<int>(column.size())}; }
    // Adds a move. where: scratch, -1 for every column.
    void change(const Move& task, std::vector<int>& where) {
        offset += task.offset;
        for (size_t k = 0; k < column.size(); ++k) where[column[k]] = static_cast<int>(k);
        for (int k = 0; k < task.moved.count; ++k) {
            int& found = where[task.moved.column[k]];
            if (found < 0) {
                found = static_cast<int>(column.size());
                column.push_back(task.moved.column[k]);
                coefficient.push_back(0.0);
            }
            coefficient[found] += task.coefficient[k];
        }
        for (int each : column) where[each] = -1;
    }
};

// All there is to know: where the predictors are, where they were when residuals were remembered, and where
// the curvatures of products were taken (majorized: w / 4 instead).
struct Recipes {
    explicit Recipes(size_t n_nodes = 0)
        : now(n_nodes), remembered(n_nodes), modeled(n_nodes), majorized(n_nodes) {}
    std::vector<Recipe> now, remembered, modeled;
    std::vector<uint8_t> majorized;
};

class RecipeRows : public Rows {
 public:
    virtual const Recipes& state() const = 0;
    virtual void restore(Recipes state) = 0;
};

}  // namespace isinglass
