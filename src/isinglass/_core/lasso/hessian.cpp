#include "lasso/hessian.hpp"

namespace isinglass {

void Hessian::multiply(const std::vector<double>& d, float* out) {
    ++n_products;
    apply_operators(d, [&](int slot) { return set_.edge_of(slot); }, false, out);
    for (int node : set_.nodes()) {
        if (set_.is_operator(node)) continue;
        const int first = set_.first_slot(node), last = first + set_.inner_degree(node);
        block_rows_.clear();
        factors_.clear();
        for (int slot = first; slot < last; ++slot)
            if (d[set_.edge_of(slot)] != 0.0) {
                block_rows_.push_back(set_.block_row(slot));
                factors_.push_back(static_cast<float>(d[set_.edge_of(slot)]));
            }
        const int length = set_.block_stride(node);
        std::fill(out + first, out + first + length, 0.0f);
        kernels().add_rows(block_rows_.data(), factors_.data(), static_cast<int>(block_rows_.size()), out + first,
                           length);
    }
}

}  // namespace isinglass
