// Python bindings of the node-wise solver: all nodes and alphas at once, as matrices and one flat list.
#include <functional>
#include <limits>

#include "bind/arrays.hpp"
#include "bind/bindings.hpp"
#include "problems/nodewise.hpp"

using namespace isinglass;

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
    return to_numpy<T>(std::move(values), {nodes.paths.size(), nodes.width});
}

// A list of numbers of every state, node after node and alpha after alpha.
template <auto member>
auto join(const NodePaths& nodes) {
    std::vector<double> values;
    for (const auto& path : nodes.paths)
        for (const State& state : path) values.insert(values.end(), (state.*member).begin(), (state.*member).end());
    return give(std::move(values));
}

auto columns(const NodePaths& nodes) {
    std::vector<int32_t> found;
    for (const auto& path : nodes.paths)
        for (const State& state : path)
            for (const Pair& edge : state.edges) found.push_back(edge.t);
    return give(std::move(found));
}

double field_of(const State& state) {
    return state.fields.front();
}

size_t count_of(const State& state) {
    return state.edges.size();
}

Nodewise* make_nodewise(const Bytes& X, const std::optional<Vector>& weights, int n_threads,
                        const std::optional<Codes>& ranges, const std::optional<Vector>& widths,
                        const std::optional<Codes>& modelled) {
    const TableView given = to_given(X, weights, ranges, widths, modelled);
    return unlocked([&] { return new Nodewise(given, n_threads); });
}

const double* to_omega(const Nodewise& problem, const Vector& omega) {
    require(omega.shape(0) == static_cast<size_t>(problem.n_features()), "one penalty weight per column");
    return omega.data();
}

auto alpha_max(const Nodewise& problem, const Vector& omega, double tol, int max_iter) {
    const double* weights = to_omega(problem, omega);
    return give(unlocked([&] { return problem.alpha_max(weights, {tol, max_iter, 0.0}); }));
}

NodePaths solve_nodes(const Nodewise& problem, const Line<int32_t>& nodes, const Matrix& alphas, const Vector& omega,
                      double tol, int max_iter, double strictness, bool stops_early) {
    const double* weights = to_omega(problem, omega);
    require(alphas.shape(0) == nodes.shape(0), "one row of alphas per node");
    const std::vector<int> listed(nodes.data(), nodes.data() + nodes.shape(0));
    for (int node : listed) require(node >= 0 && node < problem.n_features(), "nodes must be columns");
    const size_t width = alphas.shape(1);
    nb::gil_scoped_release release;
    return {problem.solve(listed, alphas.data(), static_cast<int>(width), weights, {tol, max_iter, strictness},
                          stops_early),
            width};
}

}  // namespace

void bind_nodewise(nb::module_& m) {
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
        .def_prop_ro("category_fields", &join<&State::category_fields>, OWNED)
        .def_prop_ro("values", &join<&State::values>, OWNED);
    nb::class_<Nodewise>(m, "Nodewise")
        .def(nb::new_(&make_nodewise), nb::arg("X"), nb::arg("weights").none(), nb::arg("n_threads"),
             nb::arg("ranges") = nb::none(), nb::arg("widths") = nb::none(), nb::arg("modelled") = nb::none())
        .def_prop_ro("n_features", &Nodewise::n_features)
        .def_prop_ro("n_distinct", &Nodewise::n_distinct)
        .def("alpha_max", &alpha_max, nb::arg("penalty_weights"), nb::arg("tol"), nb::arg("max_iter"))
        .def("solve", &solve_nodes, nb::arg("nodes"), nb::arg("alphas"), nb::arg("penalty_weights"), nb::arg("tol"),
             nb::arg("max_iter"), nb::arg("strictness"), nb::arg("stops_early"));
}
