#include "problems/memory.hpp"

#include <algorithm>
#include <cstdio>

#include "tuning.hpp"

namespace isinglass {

using namespace tuning::memory;

size_t path_bytes(size_t n_distinct, size_t n_features, size_t n_pairs) {
    const double n = static_cast<double>(n_distinct), p = static_cast<double>(n_features),
                 working = static_cast<double>(n_pairs);
    const double degree = p > 0 ? 2 * working / p : 0;
    const double curvature = degree < OPERATOR_DEGREE || p <= 2 * OPERATOR_DEGREE
                                 ? PER_WORKING_BLOCK
                                 : std::max(PER_WORKING_BLOCK, PER_WORKING_ROW * n);
    return static_cast<size_t>(
        START + n * p * (PER_CELL + (p > tuning::screen::ALWAYS_FRESH_COLUMNS ? PER_CELL_REMEMBERED : 0)) +
        PER_PAIR * std::min(p * (p - 1) / 2, static_cast<double>(tuning::screen::MAX_REFERENCE_PAIRS)) +
        working * (PER_WORKING + curvature));
}

std::string TooLarge::message() const {
    char text[400];
    std::snprintf(text, sizeof text,
                  "Not enough memory: the estimate needs about %.3g GB with %zu pairs that may be edges, "
                  "and %.3g GB are free. Use a larger alpha, fewer columns, or a computer with more memory.",
                  static_cast<double>(bytes) / 1e9, n_pairs, static_cast<double>(most_bytes) / 1e9);
    return text;
}

void MemoryBudget::check(const WorkingSize& size) const {
    const size_t bytes = bytes_with(size);
    if (bytes > most_bytes) throw TooLarge{bytes, most_bytes, size.n_pairs};
}

MemoryBudget budget_of_pairs(size_t most_bytes, size_t n_distinct, size_t n_features) {
    return {most_bytes, [=](const WorkingSize& size) {
                return path_bytes(n_distinct, n_features, size.n_pairs) +
                       2 * std::min(size.block_bytes, tuning::working_set::MAX_BLOCK_BYTES);
            }};
}

MemoryBudget budget_with_groups(size_t most_bytes, size_t taken_by_rows) {
    return {most_bytes, [=](const WorkingSize& size) {
                const double lists = START + PER_COEFFICIENT * static_cast<double>(size.n_coefficients) +
                                     PER_WORKING * static_cast<double>(size.n_pairs);
                return taken_by_rows + static_cast<size_t>(lists) + 2 * size.block_bytes;
            }};
}

}  // namespace isinglass
