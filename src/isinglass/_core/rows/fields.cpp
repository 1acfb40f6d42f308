#include "rows/fields.hpp"

#include <cmath>

namespace isinglass {
namespace {

constexpr double EPSILON = std::numeric_limits<double>::epsilon();

// The spanning tree of the categories whose edges have the most weight to give, either way: categories in the order in
// which they joined, and whom each joined.
struct Tree {
    std::vector<int> order, parent;
};

Tree widest_tree(const double* confusion, int q) {
    Tree tree{{0}, std::vector<int>(q, 0)};
    const auto width = [&](int j, int k) { return std::min(confusion[q * j + k], confusion[q * k + j]); };
    std::vector<char> is_in(q, 0);
    is_in[0] = 1;
    while (static_cast<int>(tree.order.size()) < q) {
        int best = -1;
        for (int k = 0; k < q; ++k) {
            if (is_in[k]) continue;
            for (int j : tree.order)
                if (width(j, k) > width(tree.parent[k], k)) tree.parent[k] = j;
            if (best < 0 || width(tree.parent[k], k) > width(tree.parent[best], best)) best = k;
        }
        is_in[best] = 1;
        tree.order.push_back(best);
    }
    return tree;
}

}  // namespace

void factorize(std::vector<double>& A, int d) {
    for (int i = 0; i < d; ++i)
        for (int j = 0; j <= i; ++j) {
            double sum = A[i * d + j];
            for (int k = 0; k < j; ++k) sum -= A[i * d + k] * A[j * d + k];
            A[i * d + j] = i == j ? std::sqrt(std::max(sum, 1e-300)) : sum / A[j * d + j];
        }
}

void solve_lower(const std::vector<double>& L, int d, double* y) {
    for (int i = 0; i < d; ++i) {
        for (int k = 0; k < i; ++k) y[i] -= L[i * d + k] * y[k];
        y[i] /= L[i * d + i];
    }
}

void solve_upper(const std::vector<double>& L, int d, double* y) {
    for (int i = d; i-- > 0;) {
        for (int k = i + 1; k < d; ++k) y[i] -= L[k * d + i] * y[k];
        y[i] /= L[i * d + i];
    }
}

// What leaves one category arrives at another, so that the diagonal is a sum of the rest.
std::vector<double> field_curvature(const double* products, int q) {
    const int d = q - 1;
    std::vector<double> H(static_cast<size_t>(d) * d);
    for (int k = 1; k < q; ++k) {
        double sum = 0;
        for (int l = 0; l < q; ++l) {
            if (l == k) continue;
            const double product = products[q * std::max(k, l) + std::min(k, l)];
            sum += product;
            if (l > 0) H[(k - 1) * d + l - 1] = -product;
        }
        H[(k - 1) * d + k - 1] = sum * (1 + 4 * EPSILON);
    }
    return H;
}

std::vector<double> field_slopes(const double* confusion, int q) {
    std::vector<double> slopes(q);
    for (int j = 0; j < q; ++j)
        for (int k = 0; k < q; ++k)
            if (j != k) slopes[k] += confusion[q * j + k], slopes[j] -= confusion[q * j + k];
    return slopes;
}

double relative_size(const std::vector<double>& slopes, const double* confusion) {
    const int q = static_cast<int>(slopes.size());
    double largest = 0;
    for (int k = 0; k < q; ++k) {
        double terms = 1e-300;
        for (int j = 0; j < q; ++j)
            if (j != k) terms += confusion[q * j + k] + confusion[q * k + j];
        largest = std::max(largest, std::abs(slopes[k]) / terms);
    }
    return largest;
}

// The fields' slopes vanish if weight is carried along a tree of the
// categories: what those behind an edge (j, k) have too much of goes from k to j in the rows of j. No pair's gradient
// changes by more than the sum of these, and the divergence by no more than twice the loss times the largest share of
// what is there that is taken (docs/discrete.md). Two sums of one sign that differ by as much say the same.
NodeSums summarize_fields(const std::vector<double>& slopes, const double* sums) {
    const int q = static_cast<int>(slopes.size());
    double mass = 0, moved = 0, share = 0, largest = 0;
    for (int k = 0; k < q; ++k) {
        for (int j = 0; j < q; ++j) mass += j == k ? 0.0 : sums[q * j + k];
        largest = std::max(largest, std::abs(slopes[k]));
    }
    const auto [order, parent] = widest_tree(sums, q);
    std::vector<double> excess = slopes;
    for (int i = q - 1; i > 0; --i) {
        const int k = order[i], j = parent[k];
        const double there = excess[k] > 0 ? sums[q * j + k] : sums[q * k + j];
        moved += std::abs(excess[k]);
        share = std::max(share, std::abs(excess[k]) / std::max(there, 1e-300));
        excess[j] += excess[k];
    }
    const double uneven = std::min(std::max(moved, 2 * share * mass) * (1 + 8 * q * EPSILON), mass);
    const bool is_settled = relative_size(slopes, sums) <= STATIONARY_FIELD;
    return {sums[2 * q * q], is_settled ? 0.0 : largest, sums[2 * q * q + 1], mass, mass - uneven, 0, largest};
}

}  // namespace isinglass
