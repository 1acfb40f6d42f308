// Arrays across the border to Python, shared by the bindings.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <utility>
#include <vector>

#include "rows/table.hpp"

namespace isinglass {

namespace nb = nanobind;

using Bytes = nb::ndarray<const uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
using Line = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Codes = Line<uint8_t>;
using PairArray = nb::ndarray<const int32_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;

inline std::vector<Pair> to_pairs(const PairArray& array, int n_features) {
    std::vector<Pair> pairs(array.shape(0));
    for (size_t k = 0; k < pairs.size(); ++k) {
        pairs[k] = {array(k, 0), array(k, 1)};
        if (pairs[k].s < 0 || pairs[k].s >= pairs[k].t || pairs[k].t >= n_features)
            throw std::invalid_argument("pairs must satisfy 0 <= s < t < n_features");
    }
    return pairs;
}

// Of columns with categories: steps of scores up to their range, and what a range stands for.
inline void check_categories(const Bytes& X, const Codes& ranges, const Vector& widths) {
    const size_t p = X.shape(1);
    if (ranges.shape(0) != p || widths.shape(0) != p) throw std::invalid_argument("one range per column");
    for (size_t s = 0; s < p; ++s)
        if (!(widths(s) > 0)) throw std::invalid_argument("widths must be positive");
    for (size_t i = 0; i < X.shape(0) * p; ++i)
        if (ranges(i % p) > 0 && X.data()[i] > ranges(i % p))
            throw std::invalid_argument("steps beyond the range");
}

// Hands a vector's memory to NumPy.
template <class T, class Shape>
auto to_numpy(std::vector<T>&& values, std::initializer_list<size_t> shape) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, Shape>(reinterpret_cast<Shape*>(kept->data()), shape, owner);
}

template <class T>
auto give(std::vector<T> values) {
    const size_t size = values.size();
    return to_numpy<T, T>(std::move(values), {size});
}

inline auto pairs_to_numpy(std::vector<Pair> pairs) {
    static_assert(sizeof(Pair) == 2 * sizeof(int32_t));
    const size_t count = pairs.size();
    return to_numpy<Pair, int32_t>(std::move(pairs), {count, 2});
}

inline auto doubles_to_numpy(std::vector<double> values) {
    const size_t count = values.size();
    return to_numpy<double, double>(std::move(values), {count});
}

}  // namespace isinglass
