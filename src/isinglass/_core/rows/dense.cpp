#include "rows/dense.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace isinglass {
namespace {

constexpr double SMALLEST = 1e-300;  // that divides

}  // namespace

// Column after column, so that rows are updated side by side.
void factorize(std::vector<double>& A, int d) {
    std::vector<double> column(d);
    for (int k = 0; k < d; ++k) {
        const double pivot = A[k * d + k] = std::sqrt(std::max(A[k * d + k], SMALLEST));
        for (int i = k + 1; i < d; ++i) {
            const double factor = column[i] = A[i * d + k] /= pivot;
            for (int j = k + 1; j <= i; ++j) A[i * d + j] -= factor * column[j];
        }
    }
}

void solve_lower(const std::vector<double>& L, int d, double* y, int count) {
    for (int i = 0; i < d; ++i) {
        double* own = y + static_cast<size_t>(i) * count;
        for (int k = 0; k < i; ++k)
            for (int j = 0; j < count; ++j) own[j] -= L[i * d + k] * y[static_cast<size_t>(k) * count + j];
        for (int j = 0; j < count; ++j) own[j] /= L[i * d + i];
    }
}

void solve_upper(const std::vector<double>& L, int d, double* y, int count) {
    for (int i = d; i-- > 0;) {
        double* own = y + static_cast<size_t>(i) * count;
        for (int k = i + 1; k < d; ++k)
            for (int j = 0; j < count; ++j) own[j] -= L[k * d + i] * y[static_cast<size_t>(k) * count + j];
        for (int j = 0; j < count; ++j) own[j] /= L[i * d + i];
    }
}

void solve_scaled(std::vector<double>& A, std::vector<double>& y) {
    const int d = static_cast<int>(y.size());
    std::vector<double> scale(d);
    for (int i = 0; i < d; ++i) {
        double& diagonal = A[static_cast<size_t>(i) * d + i];
        diagonal = std::max(diagonal, SMALLEST);
        scale[i] = 1 / std::sqrt(diagonal);
        y[i] *= scale[i];
        for (int j = 0; j <= i; ++j) A[static_cast<size_t>(i) * d + j] *= scale[i] * scale[j];
        diagonal += 8 * std::numeric_limits<double>::epsilon() * d;
    }
    factorize(A, d);
    solve_lower(A, d, y.data());
    solve_upper(A, d, y.data());
    for (int i = 0; i < d; ++i) y[i] *= scale[i];
}

}  // namespace isinglass
