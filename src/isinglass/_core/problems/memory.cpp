#include "problems/memory.hpp"

#include <algorithm>
#include <cstdio>

namespace isinglass {
namespace {

constexpr double START = 4e6;     // threads and their scratch
constexpr double PER_CELL = 20;   // predictor, residual, pattern and byte of the table, rows padded
constexpr double REMEMBERED = 4;  // the residuals of the reference, with more columns than...
constexpr double FEW = 64;
constexpr double PER_PAIR = 4;     // the gradient of the reference...
constexpr double MOST_KEPT = 8e8;  // ...of at most so many pairs
// Of a pair in the working set: its lists, and either its share of blocks of second derivatives or two packed columns
// (see WorkingSet::arrange for which).
constexpr double PER_WORKING = 850, BLOCKS = 500, BITS = 0.625;
constexpr double WIDE = 25;  // mean degree from which the bits are counted
// Of a coefficient of a group: itself and its gradient, two slots, and the vectors of conjugate gradients.
constexpr double PER_COEFFICIENT = 260;

}  // namespace

size_t path_bytes(size_t n_distinct, size_t n_features, size_t n_pairs) {
    const double n = static_cast<double>(n_distinct), p = static_cast<double>(n_features),
                 working = static_cast<double>(n_pairs);
    const double degree = p > 0 ? 2 * working / p : 0;
    const double curvature = degree < WIDE || p <= 2 * WIDE ? BLOCKS : std::max(BLOCKS, BITS * n);
    return static_cast<size_t>(START + n * p * (PER_CELL + (p > FEW ? REMEMBERED : 0)) +
                               PER_PAIR * std::min(p * (p - 1) / 2, MOST_KEPT) + working * (PER_WORKING + curvature));
}

std::string TooLarge::message() const {
    char text[400];
    std::snprintf(text, sizeof text,
                  "the memory must hold the estimation; it needs about %.3g GB with %zu pairs that may be edges, "
                  "and %.3g GB are free. Use a larger alpha, fewer columns, or a computer with more memory.",
                  static_cast<double>(bytes) / 1e9, n_pairs, static_cast<double>(most_bytes) / 1e9);
    return text;
}

size_t group_bytes(size_t rows, size_t n_coefficients, size_t n_pairs) {
    return static_cast<size_t>(START + static_cast<double>(rows) +
                               PER_COEFFICIENT * static_cast<double>(n_coefficients) +
                               PER_WORKING * static_cast<double>(n_pairs));
}

void check_memory(size_t bytes, size_t n_pairs, size_t most_bytes) {
    if (bytes > most_bytes) throw TooLarge{bytes, most_bytes, n_pairs};
}

}  // namespace isinglass
