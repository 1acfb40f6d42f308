// What a joint path takes from the memory, known before it is taken.
#pragma once

#include <cstddef>
#include <functional>
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

// A working set that is to be made; block_bytes: of the blocks of the one before it, where all nodes need one.
struct WorkingSize {
    size_t n_pairs = 0, n_coefficients = 0, block_bytes = 0;
};

// What a problem may take, and what it takes with a working set.
struct MemoryBudget {
    size_t most_bytes = ANY_SIZE;
    std::function<size_t(const WorkingSize&)> bytes_with = [](const WorkingSize&) { return size_t{0}; };
    void check(const WorkingSize& size) const;  // refuses it if that is too much
};
// Pairs have one coefficient each.
MemoryBudget budget_of_pairs(size_t most_bytes, size_t n_distinct, size_t n_features);
// Pairs have groups of coefficients; the rows take so many bytes.
MemoryBudget budget_with_groups(size_t most_bytes, size_t taken_by_rows);

}  // namespace isinglass
