// Python bindings of Hoefling and Tibshirani's algorithm.
#include "bind/arrays.hpp"
#include "bind/bindings.hpp"
#include "published/bmn.hpp"

using namespace isinglass;

namespace {

Bmn* make_bmn(const Bytes& X, const std::optional<Vector>& weights) {
    const TableView given = to_given(X, weights);
    return unlocked([&] { return new Bmn(given); });
}

nb::tuple solve(Bmn& bmn, double alpha, double tolerance, int max_iter, int max_rounds, bool line_search) {
    BmnState state = unlocked([&] { return bmn.solve(alpha, {tolerance, max_iter, max_rounds, line_search}); });
    return nb::make_tuple(give(std::move(state.fields)), give(std::move(state.edges)), give(std::move(state.values)),
                          state.n_iter, state.n_rounds, state.n_pairs, state.step_size, state.converged);
}

}  // namespace

void bind_bmn(nb::module_& m) {
    nb::class_<Bmn>(m, "Bmn")
        .def(nb::new_(&make_bmn), nb::arg("X"), nb::arg("weights").none())
        .def("solve", &solve, nb::arg("alpha"), nb::arg("tolerance"), nb::arg("max_iter"), nb::arg("max_rounds"),
             nb::arg("line_search"));
}
