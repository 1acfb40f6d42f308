// Arrays across the border to Python, shared by the bindings.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "rows/table.hpp"

namespace isinglass {

namespace nb = nanobind;

using Bytes = nb::ndarray<const uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Hands a vector's memory to NumPy.
template <class T, class Shape>
auto to_numpy(std::vector<T>&& values, std::initializer_list<size_t> shape) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, Shape>(reinterpret_cast<Shape*>(kept->data()), shape, owner);
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
