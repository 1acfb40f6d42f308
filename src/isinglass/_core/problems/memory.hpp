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

// The same where pairs have groups of coefficients and the rows take so many bytes by themselves.
size_t group_bytes(size_t rows, size_t n_coefficients, size_t n_pairs);

// Thrown instead of taking more than there is.
struct TooLarge {
    size_t bytes, most_bytes, n_pairs;
    std::string message() const;
};
void check_memory(size_t bytes, size_t n_pairs, size_t most_bytes);

}  // namespace isinglass
