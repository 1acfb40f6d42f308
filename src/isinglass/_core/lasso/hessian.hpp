// Products with the Hessian of a working set whose edges have one coefficient each: a sum over nodes, of which each has
// a block or is an operator. A product is given by slot; that of an edge is the sum of its two slots.
#pragma once

#include <vector>

#include "lasso/working_set.hpp"

namespace isinglass {

class Hessian {
 public:
    Hessian(const WorkingSet& set, Rows& rows) : set_(set), rows_(rows) {}

    int64_t n_products = 0;  // so far
    // out = H_s d_s at the inner slots of every node; d has a number for every edge.
    void multiply(const std::vector<double>& d, float* out);
    // The same at the nodes that are operators; d at a slot is v at its place. is_rough: see Product.
    void apply_operators(const std::vector<double>& v, const std::vector<int>& place, bool is_rough, float* out);

 private:
    const WorkingSet& set_;
    Rows& rows_;
    std::vector<float> at_slot_;
    std::vector<Product> tasks_;
};

}  // namespace isinglass
