// Python bindings: arrays and numbers in, arrays and numbers out; the interpreter lock is released inside.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>

#include "arrays.hpp"
#include "bindings.hpp"
#include "problem.hpp"

namespace nb = nanobind;
using namespace isinglass;

using PairArray = nb::ndarray<const int32_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;

namespace {

std::vector<Pair> to_pairs(const PairArray& array, int n_features) {
    std::vector<Pair> pairs(array.shape(0));
    for (size_t k = 0; k < pairs.size(); ++k) {
        pairs[k] = {array(k, 0), array(k, 1)};
        if (pairs[k].s < 0 || pairs[k].s >= pairs[k].t || pairs[k].t >= n_features)
            throw std::invalid_argument("pairs must satisfy 0 <= s < t < n_features");
    }
    return pairs;
}

void make_problem(Problem* place, const Bytes& X, const std::optional<Vector>& weights,
                  const std::optional<Matrix>& penalty, bool standardized, int n_threads) {
    if (weights && weights->shape(0) != X.shape(0)) throw std::invalid_argument("one weight per row");
    if (penalty && (penalty->shape(0) != X.shape(1) || penalty->shape(1) != X.shape(1)))
        throw std::invalid_argument("one penalty weight per pair");
    if (X.shape(1) > MAX_FEATURES) throw std::invalid_argument("too many columns");
    const PenaltyKind kind =
        penalty ? PenaltyKind::matrix : (standardized ? PenaltyKind::standardized : PenaltyKind::equal);
    nb::gil_scoped_release release;
    new (place) Problem(X.data(), weights ? weights->data() : nullptr, X.shape(0),
                        static_cast<int>(X.shape(1)), kind, penalty ? penalty->data() : nullptr, n_threads);
}

nb::tuple to_tuple(State&& state) {
    return nb::make_tuple(state.alpha, doubles_to_numpy(std::move(state.fields)),
                          pairs_to_numpy(std::move(state.edges)), doubles_to_numpy(std::move(state.values)),
                          state.objective, state.kkt_residual, state.duality_gap, state.certified_zeros,
                          state.n_working, state.n_iter, state.largest_eta);
}

nb::list solve(Problem& problem, const PairArray& array, const std::vector<double>& alphas, double kkt_tol,
               double gap_tol, int max_iter) {
    std::vector<State> states;
    {
        std::vector<Pair> pairs = to_pairs(array, problem.n_features());
        nb::gil_scoped_release release;
        states = problem.solve(std::move(pairs), alphas, {kkt_tol, gap_tol, max_iter});
    }
    nb::list result;
    for (State& state : states) result.append(to_tuple(std::move(state)));
    return result;
}

nb::tuple gradient_above(Problem& problem, double threshold) {
    std::vector<Pair> pairs;
    std::vector<double> values;
    {
        nb::gil_scoped_release release;
        problem.gradient_above(threshold, pairs, values);
    }
    return nb::make_tuple(pairs_to_numpy(std::move(pairs)), doubles_to_numpy(std::move(values)), threshold);
}

auto gradient(Problem& problem, const PairArray& array) {
    std::vector<double> values;
    {
        const std::vector<Pair> pairs = to_pairs(array, problem.n_features());
        nb::gil_scoped_release release;
        values = problem.gradient(pairs);
    }
    return doubles_to_numpy(std::move(values));
}

// Weight of the ones of every column, and whether it takes both values in the rows of positive weight.
nb::tuple count_ones(const Bytes& X, const std::optional<Vector>& weights) {
    const size_t n_rows = X.shape(0), p = X.shape(1);
    std::vector<double> ones(p, 0.0);
    std::vector<uint8_t> seen(p, 0), varies(p);  // bit 0: a zero was seen; bit 1: a one
    {
        nb::gil_scoped_release release;
        for (size_t n = 0; n < n_rows; ++n) {
            const double w = weights ? (*weights)(n) : 1.0;
            if (w == 0.0) continue;
            const uint8_t* row = X.data() + n * p;
            for (size_t s = 0; s < p; ++s) {
                ones[s] += w * row[s];
                seen[s] |= static_cast<uint8_t>(1 + row[s]);
            }
        }
        for (size_t s = 0; s < p; ++s) varies[s] = seen[s] == 3;
    }
    return nb::make_tuple(doubles_to_numpy(std::move(ones)), to_numpy<uint8_t, bool>(std::move(varies), {p}));
}

}  // namespace

NB_MODULE(_native, m) {
    m.attr("instruction_set") = kernels().name;
    m.attr("max_features") = MAX_FEATURES;
    m.def("count_ones", &count_ones, nb::arg("X"), nb::arg("weights").none());
    bind_nodewise(m);
    bind_glm(m);
    bind_bmn(m);
    bind_gibbs(m);
    nb::class_<Problem>(m, "Problem")
        .def("__init__", &make_problem, nb::arg("X"), nb::arg("weights").none(), nb::arg("penalty").none(),
             nb::arg("standardized"), nb::arg("n_threads"), nb::keep_alive<1, 4>())
        .def_prop_ro("n_features", &Problem::n_features)
        .def_prop_ro("n_distinct", &Problem::n_distinct)
        .def_prop_ro("null_objective", &Problem::null_objective)
        .def("mark_null", &Problem::mark_null)
        .def("free_pairs", [](const Problem& problem) { return pairs_to_numpy(problem.free_pairs()); })
        .def("alpha_max", &Problem::alpha_max, nb::call_guard<nb::gil_scoped_release>())
        .def("gradient_above", &gradient_above, nb::arg("threshold"))
        .def("gradient", &gradient, nb::arg("pairs"))
        .def("solve", &solve, nb::arg("pairs"), nb::arg("alphas"), nb::arg("kkt_tol"), nb::arg("gap_tol"),
             nb::arg("max_iter"))
        .def("certified_outside", &Problem::certified_outside, nb::arg("alpha"),
             nb::call_guard<nb::gil_scoped_release>());
}
