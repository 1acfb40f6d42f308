// The fields of a node with categories, one per category: kept at their optimum for the node's predictor.
//
// A pass over the node's rows leaves q^2 + q^2 + 2 sums: the weight that rows of category j give to k (at
// q j + k), sum w P_k P_l for l < k (at q^2 + q k + l), the loss and the curvature of the predictor.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "rows/kernels.hpp"
#include "tuning.hpp"

namespace isinglass {

// A = L L^T in place, the lower triangle; d x d.
void factorize(std::vector<double>& A, int d);
void solve_lower(const std::vector<double>& L, int d, double* y);  // y <- L^-1 y
void solve_upper(const std::vector<double>& L, int d, double* y);  // y <- L^-T y

// The Hessian of the loss in the fields of all categories but the first; products: the second q^2 sums.
std::vector<double> field_curvature(const double* products, int q);
// Newton's step in all fields but the first: the Hessian is that of a network of springs, whose elimination adds
// positive numbers only. Every digit of the step is then as good as those of the sums, however unequal these are.
std::vector<double> field_step(const double* products, const std::vector<double>& slopes);
// sum_n w (P_k - [x = k]) of every category.
std::vector<double> field_slopes(const double* confusion, int q);
// The largest slope relative to the weight of its terms.
double relative_size(const std::vector<double>& slopes, const double* confusion);
// What the certificate takes from a node whose fields have these slopes.
NodeSums summarize_fields(const std::vector<double>& slopes, const double* sums);

// How much of what categories give to each other must be taken back for the slopes to vanish, at most, and a step of
// the fields that makes it less (empty: none is needed, or there are more categories than it is worth it for).
struct FieldImprovement {
    double share;
    std::vector<double> step;
};
FieldImprovement improve_fields(const double* sums, int q);

// The fields to their optimum: Newton's method, halved while the loss does not fall. pass() fills the sums. Returns the
// slopes that are left.
template <class Pass>
std::vector<double> settle_fields(std::vector<double>& fields, const double* sums, Pass pass) {
    const int q = static_cast<int>(fields.size());
    const double* loss = sums + 2 * q * q;
    pass();
    std::vector<double> slopes = field_slopes(sums, q);
    double before = std::numeric_limits<double>::infinity();
    for (int step = 0; step < tuning::fields::MAX_STEPS; ++step) {
        const double size = relative_size(slopes, sums);
        // Rounding: Newton's method would have gained digits.
        const bool is_stuck = size < tuning::fields::ROUNDED && size > before / 2;
        if (size <= tuning::STATIONARY || is_stuck) break;
        before = size;
        const std::vector<double> change = field_step(sums + q * q, slopes), start = fields;
        const double bound = *loss * (1 + 1e-14);
        for (double length = 1; length > tuning::fields::SHORTEST_SHARE; length /= 2) {
            for (int k = 1; k < q; ++k)
                fields[k] = start[k] -
                            std::clamp(length * change[k], -tuning::fields::LONGEST_STEP, tuning::fields::LONGEST_STEP);
            pass();
            if (*loss <= bound) break;
        }
        slopes = field_slopes(sums, q);
    }
    // Where few rows tell some categories from others, what is left of the slopes may be much to those.
    FieldImprovement found = improve_fields(sums, q);
    for (int step = 0; step < tuning::fields::MAX_IMPROVEMENTS && !found.step.empty(); ++step) {
        const std::vector<double> start = fields;
        for (int k = 1; k < q; ++k)
            fields[k] -= std::clamp(found.step[k], -tuning::fields::LONGEST_STEP, tuning::fields::LONGEST_STEP);
        pass();
        FieldImprovement next = improve_fields(sums, q);
        if (!(next.share < found.share / 2)) {
            if (!(next.share < found.share)) fields = start, pass();
            break;
        }
        found = std::move(next);
    }
    return field_slopes(sums, q);
}

}  // namespace isinglass
