// Small symmetric systems in double precision.
#pragma once

#include <vector>

namespace isinglass {

// A = L L^T in place, the lower triangle; d x d. A pivot that is not positive becomes the smallest that divides.
void factorize(std::vector<double>& A, int d);
// y <- L^-1 y and y <- L^-T y; y: d rows of `count` numbers.
void solve_lower(const std::vector<double>& L, int d, double* y, int count = 1);
void solve_upper(const std::vector<double>& L, int d, double* y, int count = 1);
// y <- A^-1 y by the lower triangle of A, which is scaled to a diagonal of ones and a few roundings first.
void solve_scaled(std::vector<double>& A, std::vector<double>& y);

}  // namespace isinglass
