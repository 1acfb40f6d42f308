// Arrays across the border to Python, shared by the bindings.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
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

inline void require(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

inline std::vector<Pair> to_pairs(const PairArray& array, int n_features) {
    std::vector<Pair> pairs(array.shape(0));
    for (size_t k = 0; k < pairs.size(); ++k) {
        pairs[k] = {array(k, 0), array(k, 1)};
        require(pairs[k].s >= 0 && pairs[k].s < pairs[k].t && pairs[k].t < n_features,
                "pairs must satisfy 0 <= s < t < n_features");
    }
    return pairs;
}

// A table from Python; with categories: steps of scores up to their range, and what a range stands for.
inline TableView to_given(const Bytes& X, const std::optional<Vector>& weights, const std::optional<Codes>& ranges = {},
                          const std::optional<Vector>& widths = {}, const std::optional<Codes>& modelled = {}) {
    const size_t p = X.shape(1);
    require(!weights || weights->shape(0) == X.shape(0), "one weight per row");
    require(ranges.has_value() == widths.has_value(), "ranges come with widths");
    require(!modelled || (ranges && modelled->shape(0) == p), "covariates have ranges");
    if (ranges) {
        require(ranges->shape(0) == p && widths->shape(0) == p, "one range per column");
        for (size_t s = 0; s < p; ++s) require((*widths)(s) > 0, "widths must be positive");
    }
    return {X.data(),
            weights ? weights->data() : nullptr,
            X.shape(0),
            static_cast<int>(p),
            ranges ? ranges->data() : nullptr,
            widths ? widths->data() : nullptr,
            modelled ? modelled->data() : nullptr};
}

// What work() returns, without the interpreter lock.
template <class Work>
auto unlocked(Work work) {
    const nb::gil_scoped_release release;
    return work();
}

// Hands a vector's memory to NumPy.
template <class Shape, class T>
auto to_numpy(std::vector<T>&& values, std::initializer_list<size_t> shape) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, Shape>(reinterpret_cast<Shape*>(kept->data()), shape, owner);
}
template <class T>
auto give(std::vector<T> values) {
    const size_t size = values.size();
    return to_numpy<T>(std::move(values), {size});
}
inline auto give(std::vector<Pair> pairs) {
    static_assert(sizeof(Pair) == 2 * sizeof(int32_t));
    const size_t count = pairs.size();
    return to_numpy<int32_t>(std::move(pairs), {count, 2});
}

// A property: a copy of a member.
template <class Owner, auto member>
auto copy_of(const Owner& owner) {
    return give(owner.*member);
}
constexpr auto OWNED = nb::rv_policy::automatic;  // arrays that hold their own memory

}  // namespace isinglass
