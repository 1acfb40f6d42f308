#include "lasso/hessian.hpp"

namespace isinglass {

void Hessian::apply_operators(const std::vector<double>& v, const std::vector<int>& place, bool is_rough, float* out) {
    if (!set_.has_operators()) return;
    tasks_.resize(set_.operators().size());
    at_slot_.resize(set_.n_slots());
    for (size_t k = 0; k < tasks_.size(); ++k) {
        const int node = set_.operators()[k], first = set_.first_slot(node);
        tasks_[k] = {.node = set_.first_node() + node,
                     .inner = set_.inner_of(node),
                     .d = at_slot_.data() + first,
                     .center = 0,
                     .Hd = out + first,
                     .is_rough = is_rough};
    }
    rows_.products()->multiply(tasks_, [&](size_t k) {
        const int node = set_.operators()[k], first = set_.first_slot(node), count = set_.inner_degree(node);
        float* d = at_slot_.data() + first;
        for (int i = 0; i < count; ++i) d[i] = static_cast<float>(v[place[first + i]]);
        tasks_[k].center = dot(set_.b().data() + first, d, count) / set_.curve(node);
    });
}

void Hessian::multiply(const std::vector<double>& d, float* out) {
    ++n_products;
    apply_operators(d, set_.edges_of_slots(), false, out);
    at_slot_.resize(set_.n_slots());
    for (int node : set_.nodes()) {
        if (set_.is_operator(node)) continue;
        const int first = set_.first_slot(node), last = first + set_.inner_degree(node);
        for (int slot = first; slot < last; ++slot) at_slot_[slot] = static_cast<float>(d[set_.edge_of(slot)]);
        set_.multiply_block(node, at_slot_.data() + first, out + first);
    }
}

}  // namespace isinglass
