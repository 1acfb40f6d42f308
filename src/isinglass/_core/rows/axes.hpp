// The columns beside a node with an order as numbers on a line: (cell - origin) step. A column without an order is one
// such axis of 0 and 1 for each of its categories.
#pragma once

#include "rows/category_rows.hpp"

namespace isinglass {

class Axes {
 public:
    void list(const CategoryState& state, const NeighborColumns& neighbors) {
        axes_.clear(), cells_.clear(), columns_.clear();
        for (int k = 0; k < neighbors.count; ++k)
            for (const Axis& axis : state.axes[neighbors.column[k]]) {
                axes_.push_back(&axis), cells_.push_back(axis.cells), columns_.push_back(neighbors.column[k]);
            }
    }
    int count() const { return static_cast<int>(axes_.size()); }
    const std::vector<int>& columns() const { return columns_; }  // whose axes they are
    ColumnList cells(int n_rows) const { return {cells_.data(), count(), n_rows}; }
    double step(int j) const { return axes_[j]->step; }
    // A sum over rows of numbers times the axis, less its mean: from that with cells, and from the numbers alone.
    double centered(int j, double with_cells, double alone) const {
        return (with_cells - axes_[j]->mean * alone) * axes_[j]->step;
    }
    // Adds the axes times their coefficients to one number per row.
    void add(const double* coefficient, int n_rows, double* eta) {
        double offset = 0;
        scaled_.resize(axes_.size());
        for (int j = 0; j < count(); ++j) {
            scaled_[j] = coefficient[j] * step(j);
            offset -= scaled_[j] * axes_[j]->origin;
        }
        if (count() > 0) kernels().add_columns(cells(n_rows), scaled_.data(), offset, eta);
    }
    // The same for every axis; sum: of the numbers a.
    void dots(const double* a, int n_rows, double sum, double* out) const {
        kernels().dots(cells(n_rows), a, out);
        for (int j = 0; j < count(); ++j) out[j] = centered(j, out[j], sum);
    }

 private:
    std::vector<const Axis*> axes_;
    std::vector<const uint8_t*> cells_;
    std::vector<int> columns_;
    std::vector<double> scaled_;
};

}  // namespace isinglass
