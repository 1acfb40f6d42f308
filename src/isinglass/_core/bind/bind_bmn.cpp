// Python bindings of Hoefling and Tibshirani's algorithm.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <stdexcept>

#include "bind/arrays.hpp"
#include "bind/bindings.hpp"
#include "published/bmn.hpp"

using namespace isinglass;

namespace {

Bmn* make_bmn(const Bytes& X, const std::optional<Vector>& weights) {
    if (weights && weights->shape(0) != X.shape(0)) throw std::invalid_argument("one weight per row");
    nb::gil_scoped_release release;
    return new Bmn(X.data(), weights ? weights->data() : nullptr, X.shape(0), static_cast<int>(X.shape(1)));
}

nb::tuple solve(Bmn& bmn, double alpha, double tolerance, int max_iter, int max_rounds, bool line_search) {
    BmnState state;
    {
        nb::gil_scoped_release release;
        state = bmn.solve(alpha, {tolerance, max_iter, max_rounds, line_search});
    }
    return nb::make_tuple(doubles_to_numpy(std::move(state.fields)), pairs_to_numpy(std::move(state.edges)),
                          doubles_to_numpy(std::move(state.values)), state.n_iter, state.n_rounds,
                          state.n_pairs, state.step_size, state.converged);
}

}  // namespace

void bind_bmn(nb::module_& m) {
    nb::class_<Bmn>(m, "Bmn")
        .def(nb::new_(&make_bmn), nb::arg("X"), nb::arg("weights").none())
        .def("solve", &solve, nb::arg("alpha"), nb::arg("tolerance"), nb::arg("max_iter"),
             nb::arg("max_rounds"), nb::arg("line_search"));
}
