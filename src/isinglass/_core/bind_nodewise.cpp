// Python bindings of the node-wise solver: all nodes and alphas at once, as matrices and one flat list.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <limits>
#include <optional>
#include <stdexcept>

#include "arrays.hpp"
#include "bindings.hpp"
#include "nodewise.hpp"

using namespace isinglass;

using Indices = nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

namespace {

// One row per node; the tail of a list that ended early holds `missing`.
template <class T>
auto stack(const std::vector<NodePath>& paths, std::vector<T> NodePath::* member, size_t width, T missing) {
    std::vector<T> values(paths.size() * width, missing);
    for (size_t k = 0; k < paths.size(); ++k)
        std::copy((paths[k].*member).begin(), (paths[k].*member).end(), values.begin() + k * width);
    return to_numpy<T, T>(std::move(values), {paths.size(), width});
}

template <class T>
auto join(const std::vector<NodePath>& paths, std::vector<T> NodePath::* member) {
    std::vector<T> values;
    size_t size = 0;
    for (const NodePath& path : paths) size += (path.*member).size();
    values.reserve(size);
    for (const NodePath& path : paths)
        values.insert(values.end(), (path.*member).begin(), (path.*member).end());
    return to_numpy<T, T>(std::move(values), {size});
}

Nodewise* make_nodewise(const Bytes& X, const std::optional<Vector>& weights, int n_threads) {
    if (weights && weights->shape(0) != X.shape(0)) throw std::invalid_argument("one weight per row");
    nb::gil_scoped_release release;
    return new Nodewise(X.data(), weights ? weights->data() : nullptr, X.shape(0),
                        static_cast<int>(X.shape(1)), n_threads);
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

nb::tuple solve(const Nodewise& problem, const Indices& nodes, const Matrix& alphas, const Vector& omega,
                double tol, int max_iter, bool screening, bool stops_early) {
    check_omega(problem, omega);
    if (alphas.shape(0) != nodes.shape(0)) throw std::invalid_argument("one row of alphas per node");
    const std::vector<int> listed(nodes.data(), nodes.data() + nodes.shape(0));
    for (int node : listed)
        if (node < 0 || node >= problem.n_features()) throw std::invalid_argument("nodes must be columns");
    const size_t width = alphas.shape(1);
    std::vector<NodePath> paths;
    {
        nb::gil_scoped_release release;
        paths = problem.solve(listed, alphas.data(), static_cast<int>(width), omega.data(),
                              {tol, max_iter, screening, stops_early});
    }
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    return nb::make_tuple(
        stack(paths, &NodePath::fields, width, nan), stack(paths, &NodePath::losses, width, nan),
        stack(paths, &NodePath::objectives, width, nan), stack(paths, &NodePath::kkt_residuals, width, nan),
        stack(paths, &NodePath::duality_gaps, width, nan), stack(paths, &NodePath::largest_etas, width, nan),
        stack(paths, &NodePath::n_iter, width, 0), stack(paths, &NodePath::n_working, width, 0),
        stack(paths, &NodePath::n_coefficients, width, 0), join(paths, &NodePath::index),
        join(paths, &NodePath::value));
}

}  // namespace

void bind_nodewise(nb::module_& m) {
    nb::class_<Nodewise>(m, "Nodewise")
        .def(nb::new_(&make_nodewise), nb::arg("X"), nb::arg("weights").none(), nb::arg("n_threads"))
        .def_prop_ro("n_features", &Nodewise::n_features)
        .def_prop_ro("n_distinct", &Nodewise::n_distinct)
        .def("alpha_max", &alpha_max, nb::arg("penalty_weights"))
        .def("solve", &solve, nb::arg("nodes"), nb::arg("alphas"), nb::arg("penalty_weights"), nb::arg("tol"),
             nb::arg("max_iter"), nb::arg("screening"), nb::arg("stops_early"));
}
