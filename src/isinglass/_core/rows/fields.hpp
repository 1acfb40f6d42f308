// The fields of a node with categories, one per category: kept at their optimum for the node's predictor.
//
// A pass over the node's rows leaves q^2 + q^2 + 2 sums: the weight that rows of category j give to k (at
// q j + k), sum w P_k P_l for l < k (at q^2 + q k + l), the loss and the curvature of the predictor.
#pragma once

#include <functional>
#include <vector>

#include "rows/kernels.hpp"

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
// What the certificate takes from a node whose fields have these slopes.
NodeSums summarize_fields(const std::vector<double>& slopes, const double* sums);

// The fields to their optimum; pass() returns the sums, always in the same place. Returns the slopes that are left.
std::vector<double> settle_fields(std::vector<double>& fields, const std::function<const double*()>& pass);

}  // namespace isinglass
