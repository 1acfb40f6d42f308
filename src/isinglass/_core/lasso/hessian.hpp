// Products with the Hessian of a working set whose edges have one coefficient each: a sum over nodes, of which each has
// a block or is an operator. A product is given by slot; that of an edge is the sum of its two slots.
#pragma once

#include <vector>

#include "lasso/working_set.hpp"

namespace isinglass {

class Hessian {
 public:
    Hessian(const WorkingSet& set, Rows& rows, Pool& pool) : set_(set), rows_(rows), pool_(pool) {}

    int64_t n_products = 0;  // so far
    // out = H_s d_s at the inner slots of every node; d has a number for every edge.
    void multiply(const std::vector<double>& d, float* out);
    // The same at the nodes that are operators; d at a slot is v at its place. is_rough: see Product.
    template <class Place>
    void apply_operators(const std::vector<double>& v, Place place, bool is_rough, float* out) {
        if (!set_.has_operators()) return;
        tasks_.resize(set_.operators().size());
        at_slot_.resize(set_.n_slots());
        pool_.each(tasks_.size(), [&](int k, int) {
            const int node = set_.operators()[k], first = set_.first_slot(node), count = set_.inner_degree(node);
            float* factors = at_slot_.data() + first;
            for (int i = 0; i < count; ++i) factors[i] = static_cast<float>(v[place(first + i)]);
            const double center = dot(set_.b().data() + first, factors, count) / set_.curve(node);
            tasks_[k] = {set_.first_node() + node, set_.inner_of(node), factors, center, out + first, is_rough};
        });
        rows_.products()->multiply(tasks_);
    }

 private:
    const WorkingSet& set_;
    Rows& rows_;
    Pool& pool_;
    std::vector<float> at_slot_, factors_;
    std::vector<Product> tasks_;
    std::vector<const float*> block_rows_;
};

}  // namespace isinglass
