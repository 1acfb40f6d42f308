// The fields of a node with categories, one per category: kept at their optimum for the node's predictor.
#pragma once

#include <functional>
#include <vector>

#include "rows/dense.hpp"
#include "rows/kernels.hpp"

namespace isinglass {

// What a pass over a node's rows leaves, for every two of its q categories and in all.
struct CategorySums {
    explicit CategorySums(int n_categories = 0) { resize(n_categories); }
    void resize(int n_categories) {
        q = n_categories;
        given.assign(static_cast<size_t>(q) * q, 0.0), products.assign(given.size(), 0.0);
    }
    int q = 0;
    std::vector<double> given;     // q j + k: the weight that rows of category j give to another k
    std::vector<double> products;  // q k + l, l < k: sum w P_k P_l
    double loss = 0, curve = 0;    // curve: of the predictor
};

// The Hessian of the loss in the fields of all categories but the first.
std::vector<double> field_curvature(const CategorySums& sums);
// The same Hessian, factorized: that of a network of springs, whose elimination adds positive numbers only. Every digit
// of a step is then as good as those of the sums, however unequal these are.
class FieldFactor {
 public:
    FieldFactor() = default;
    FieldFactor(const std::vector<double>& products, int q);
    bool empty() const { return all_.empty(); }
    std::vector<double> step(const std::vector<double>& slopes) const;  // Newton's, in all fields but the first

 private:
    std::vector<double> tie_, all_;
};

// Passes over a node's rows: a pass returns the sums, always in the same place. Where there is a factor, that of an
// earlier call or none yet, it leaves the products out, and `complete` adds them.
struct FieldPasses {
    std::function<const CategorySums&()> pass;
    std::function<void()> complete = [] {};
    FieldFactor* factor = nullptr;
};

// sum_n w (P_k - [x = k]) of every category, and the largest of them relative to the weight of its terms.
struct FieldSlopes {
    std::vector<double> of;
    double size = 0;
};

// The fields to their optimum: the slopes that are left, and the sums.
struct Settled {
    FieldSlopes slopes;
    const CategorySums& sums;
};
Settled settle_fields(std::vector<double>& fields, const FieldPasses& passes);
// What the certificate takes from a node with such fields.
NodeSums summarize_fields(const Settled& settled);

}  // namespace isinglass
