// Sums and maxima over many numbers: side by side for the compiler to vectorize, chunk by chunk on all threads, and in
// an order that does not depend on their number.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "rows/pool.hpp"

namespace isinglass {

constexpr size_t SIDE_BY_SIDE = 8;

// NaN if one of them is: a gradient that is not known must not pass for a small one.
inline double larger(double one, double other) {
    return one < other || other != other ? other : one;
}

inline double largest_of(const double* values, size_t n) {
    double largest[SIDE_BY_SIDE] = {};
    size_t k = 0;
    for (; k + SIDE_BY_SIDE <= n; k += SIDE_BY_SIDE)
        for (size_t i = 0; i < SIDE_BY_SIDE; ++i) largest[i] = larger(largest[i], std::abs(values[k + i]));
    for (; k < n; ++k) largest[0] = larger(largest[0], std::abs(values[k]));
    return std::accumulate(largest, largest + SIDE_BY_SIDE, 0.0, larger);
}

template <class T>
double dot(const T* a, const T* b, size_t n) {
    double sums[SIDE_BY_SIDE] = {};
    size_t k = 0;
    for (; k + SIDE_BY_SIDE <= n; k += SIDE_BY_SIDE)
        for (size_t i = 0; i < SIDE_BY_SIDE; ++i) sums[i] += static_cast<double>(a[k + i]) * b[k + i];
    for (; k < n; ++k) sums[0] += static_cast<double>(a[k]) * b[k];
    return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
    return dot(a.data(), b.data(), a.size());
}

class Chunks {
 public:
    explicit Chunks(Pool& pool) : pool_(pool) {}

    // body(first, last) for chunks of m entries; what it returns, chunk by chunk.
    template <class Body>
    const std::vector<double>& each(size_t m, Body body) {
        parts_.resize((m + SIZE - 1) / SIZE);
        pool_.each(parts_.size(), [&](int chunk, int) {
            const size_t first = chunk * SIZE;
            parts_[chunk] = body(first, std::min(first + SIZE, m));
        });
        return parts_;
    }
    // body(k) for every entry.
    template <class Body>
    void each_entry(size_t m, Body body) {
        each(m, [&](size_t first, size_t last) {
            for (size_t k = first; k < last; ++k) body(k);
            return 0.0;
        });
    }
    // The sum of body(k), and the largest, which is no less than 0.
    template <class Body>
    double sum_entries(size_t m, Body body) {
        return sum(m, [&](size_t first, size_t last) {
            double sum = 0;
            for (size_t k = first; k < last; ++k) sum += body(k);
            return sum;
        });
    }
    template <class Body>
    double largest_entry(size_t m, Body body) {
        return largest(m, [&](size_t first, size_t last) {
            double largest = 0;
            for (size_t k = first; k < last; ++k) largest = larger(largest, body(k));
            return largest;
        });
    }
    // The entries that hold(k), in their order.
    template <class Holds>
    std::vector<int> find(size_t m, Holds holds) {
        const std::vector<double> counts = each(m, [&](size_t first, size_t last) {
            size_t count = 0;
            for (size_t k = first; k < last; ++k) count += holds(k);
            return static_cast<double>(count);
        });
        std::vector<size_t> begin(1, 0);
        for (double count : counts) begin.push_back(begin.back() + static_cast<size_t>(count));
        std::vector<int> found(begin.back());
        each(m, [&](size_t first, size_t last) {
            int* next = found.data() + begin[first / SIZE];
            for (size_t k = first; k < last; ++k)
                if (holds(k)) *next++ = static_cast<int>(k);
            return 0.0;
        });
        return found;
    }
    template <class Body>
    double sum(size_t m, Body body) {
        const std::vector<double>& parts = each(m, body);
        return std::accumulate(parts.begin(), parts.end(), 0.0);
    }
    template <class Body>
    double largest(size_t m, Body body) {
        const std::vector<double>& parts = each(m, body);
        return std::accumulate(parts.begin(), parts.end(), 0.0, larger);
    }

 private:
    static constexpr size_t SIZE = tuning::quadratic::EDGES_PER_TASK;
    Pool& pool_;
    std::vector<double> parts_;
};

}  // namespace isinglass
