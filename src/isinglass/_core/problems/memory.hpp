// What a joint path takes from the memory, known before it is taken.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

namespace isinglass {

constexpr size_t ANY_SIZE = std::numeric_limits<size_t>::max();

// Bytes at the peak, the table excluded, where so many pairs are in the working set. Measured: no less than is taken,
// and at most twice as much (tests/solve/test_memory.py).
size_t path_bytes(size_t n_distinct, size_t n_features, size_t n_pairs);

// Thrown instead of taking more than there is.
struct TooLarge {
    size_t bytes, most_bytes, n_pairs;
    std::string message() const;
};

// What a problem may take, and what is known of it before its working sets.
struct MemoryBudget {
    size_t most_bytes = ANY_SIZE, n_distinct = 0, n_features = 0;
    size_t taken_by_rows = 0;  // where pairs have groups of coefficients; else 0
    // Refuses a working set of so many pairs and coefficients; block_bytes: of the blocks of the last one.
    void check(size_t n_pairs, size_t n_coefficients, size_t block_bytes) const;
};

}  // namespace isinglass
