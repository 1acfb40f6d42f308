// Python bindings of the node-wise solver: all nodes and alphas at once, as matrices and one flat list.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>

#include "bind/arrays.hpp"
#include "bind/bindings.hpp"
#include "problems/nodewise.hpp"

using namespace isinglass;

using Indices = nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Paths = std::vector<std::vector<State>>;

namespace {

struct NodePaths {
    Paths paths;
    size_t width;
};

// A member of every state, one row per node; NaN or 0 where a list ended early.
template <auto member, class T>
auto stack(const NodePaths& nodes) {
    const T missing = std::numeric_limits<T>::quiet_NaN();  // 0 for integers
    std::vector<T> values(nodes.paths.size() * nodes.width, missing);
    for (size_t k = 0; k < nodes.paths.size(); ++k)
        for (size_t i = 0; i < nodes.paths[k].size(); ++i)
            values[k * nodes.width + i] = static_cast<T>(std::invoke(member, nodes.paths[k][i]));
    return to_numpy<T, T>(std::move(values), {nodes.paths.size(), nodes.width});
}

template <class T, class Append>
auto join(const NodePaths& nodes, Append append) {
    std::vector<T> values;
    for (const auto& path : nodes.paths)
        for (const State& state : path) append(values, state);
    const size_t size = values.size();
    return to_numpy<T, T>(std::move(values), {size});
}

auto columns(const NodePaths& nodes) {
    return join<int32_t>(nodes, [](std::vector<int32_t>& values, const State& state) {
        for (const Pair& edge : state.edges) values.push_back(edge.t);
    });
}

auto values(const NodePaths& nodes) {
    return join<double>(nodes, [](std::vector<double>& values, const State& state) {
        values.insert(values.end(), state.values.begin(), state.values.end());
    });
}

// Of columns with categories: node after node, alpha after alpha.
auto category_fields(const NodePaths& nodes) {
    return join<double>(nodes, [](std::vector<double>& values, const State& state) {
        values.insert(values.end(), state.category_fields.begin(), state.category_fields.end());
    });
}

double field_of(const State& state) {
    return state.fields.front();
}

size_t count_of(const State& state) {
    return state.edges.size();
}

Nodewise* make_nodewise(const Bytes& X, const std::optional<Vector>& weights, int n_threads) {
    if (weights && weights->shape(0) != X.shape(0)) throw std::invalid_argument("one weight per row");
    nb::gil_scoped_release release;
    return new Nodewise(X.data(), weights ? weights->data() : nullptr, X.shape(0),
                        static_cast<int>(X.shape(1)), n_threads);
}

Nodewise* make_category_nodewise(const Bytes& X, const std::optional<Vector>& weights, const Codes& ranges,
                                 const Vector& widths, int n_threads) {
    if (weights && weights->shape(0) != X.shape(0)) throw std::invalid_argument("one weight per row");
    check_categories(X, ranges, widths);
    const size_t p = X.shape(1);
    nb::gil_scoped_release release;
    return new Nodewise(X.data(), weights ? weights->data() : nullptr, X.shape(0), static_cast<int>(p),
                        ranges.data(), {widths.data(), widths.data() + p}, n_threads);
}

void check_omega(const Nodewise& problem, const Vector& omega) {
    if (omega.shape(0) != static_cast<size_t>(problem.n_features()))
        throw std::invalid_argument("one penalty weight per column");
}

auto alpha_max(const Nodewise& problem, const Vector& omega) {
    check_omega(problem, omega);
    std::vector<double> top;
    {
        nb::gil_scoped_release release;
        top = problem.alpha_max(omega.data());
    }
    return doubles_to_numpy(std::move(top));
}

NodePaths solve(const Nodewise& problem, const Indices& nodes, const Matrix& alphas, const Vector& omega,
                double tol, int max_iter, double strictness, bool stops_early) {
    check_omega(problem, omega);
    if (alphas.shape(0) != nodes.shape(0)) throw std::invalid_argument("one row of alphas per node");
    const std::vector<int> listed(nodes.data(), nodes.data() + nodes.shape(0));
    for (int node : listed)
        if (node < 0 || node >= problem.n_features()) throw std::invalid_argument("nodes must be columns");
    const size_t width = alphas.shape(1);
    nb::gil_scoped_release release;
    return {problem.solve(listed, alphas.data(), static_cast<int>(width), omega.data(),
                          {tol, max_iter, strictness}, stops_early),
            width};
}

}  // namespace

void bind_nodewise(nb::module_& m) {
    constexpr auto OWNED = nb::rv_policy::automatic;  // arrays that hold their own memory
    nb::class_<NodePaths>(m, "NodePaths")
        .def_prop_ro("fields", &stack<field_of, double>, OWNED)
        .def_prop_ro("losses", &stack<&State::loss, double>, OWNED)
        .def_prop_ro("objectives", &stack<&State::objective, double>, OWNED)
        .def_prop_ro("kkt_residuals", &stack<&State::kkt_residual, double>, OWNED)
        .def_prop_ro("duality_gaps", &stack<&State::duality_gap, double>, OWNED)
        .def_prop_ro("largest_etas", &stack<&State::largest_eta, double>, OWNED)
        .def_prop_ro("n_iter", &stack<&State::n_iter, int32_t>, OWNED)
        .def_prop_ro("n_working", &stack<&State::n_working, int32_t>, OWNED)
        .def_prop_ro("counts", &stack<count_of, int32_t>, OWNED)
        .def_prop_ro("columns", &columns, OWNED)
        .def_prop_ro("category_fields", &category_fields, OWNED)
        .def_prop_ro("values", &values, OWNED);
    nb::class_<Nodewise>(m, "Nodewise")
        .def(nb::new_(&make_nodewise), nb::arg("X"), nb::arg("weights").none(), nb::arg("n_threads"))
        .def(nb::new_(&make_category_nodewise), nb::arg("X"), nb::arg("weights").none(), nb::arg("ranges"),
             nb::arg("widths"), nb::arg("n_threads"))
        .def_prop_ro("n_features", &Nodewise::n_features)
        .def_prop_ro("n_distinct", &Nodewise::n_distinct)
        .def("alpha_max", &alpha_max, nb::arg("penalty_weights"))
        .def("solve", &solve, nb::arg("nodes"), nb::arg("alphas"), nb::arg("penalty_weights"), nb::arg("tol"),
             nb::arg("max_iter"), nb::arg("strictness"), nb::arg("stops_early"));
}
