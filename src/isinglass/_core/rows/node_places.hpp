// A node with more than FEW_CATEGORIES ordered categories, as the kernels want it: side by side in places
// (kernels.hpp).
#pragma once

#include <memory>
#include <vector>

#include "rows/axes.hpp"
#include "rows/fields.hpp"

namespace isinglass {

class NodePlaces {
 public:
    explicit NodePlaces(const CategoryColumn& column);

    // A pass at these fields: residuals, curvatures and, unless null, margins of all rows; the sums without products.
    void pass(const NodeView& view, const std::vector<double>& fields, float* wv, double* margin, CategorySums& sums,
              Buffer<double>& scratch) const;
    // The products of these sums. With axes: returns the mixed derivatives of all fields but the first with them, a
    // row for each field.
    std::vector<double> complete(const NodeView& view, const std::vector<double>& fields, const Axes* axes,
                                 CategorySums& sums, Buffer<double>& scratch) const;

    FieldFactor factor;  // of the fields' curvature at some point before

 private:
    int ld() const { return static_cast<int>(number_.size()); }
    Places at(const std::vector<double>& fields, std::vector<double>& field) const;

    const double step_;
    bool in_steps_;
    std::vector<double> number_;
    std::vector<uint8_t> place_;
    std::vector<int> spot_;  // the place of every category
};

}  // namespace isinglass
