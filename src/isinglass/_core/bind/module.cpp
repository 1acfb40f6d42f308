// Python bindings: arrays and numbers in, arrays and numbers out; the interpreter lock is released inside.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bind/arrays.hpp"
#include "bind/bindings.hpp"
#include "problems/problem.hpp"

using namespace isinglass;

namespace {

Penalty::Kind kind_of(const std::optional<Matrix>& penalty, bool standardized, size_t p) {
    require(p <= tuning::MAX_FEATURES, "too many columns");
    require(!penalty || (penalty->shape(0) == p && penalty->shape(1) == p), "one penalty weight per pair");
    if (penalty) return Penalty::Kind::matrix;
    return standardized ? Penalty::Kind::standardized : Penalty::Kind::equal;
}

void make_problem(Problem* place, const Bytes& X, const std::optional<Vector>& weights,
                  const std::optional<Matrix>& penalty, bool standardized, int n_threads, size_t most_bytes,
                  const std::optional<Codes>& ranges, const std::optional<Vector>& widths,
                  const std::optional<Codes>& modelled) {
    const TableView given = to_given(X, weights, ranges, widths, modelled);
    const Penalty::Kind kind = kind_of(penalty, standardized, X.shape(1));
    nb::gil_scoped_release release;
    new (place) Problem(given, kind, penalty ? penalty->data() : nullptr, n_threads, most_bytes);
}

// The interpreter lock stays: rows in Python are called, and destroyed if that fails.
void make_problem_on(Problem* place, nb::object given, const std::optional<Matrix>& penalty, bool standardized,
                     int n_threads) {
    std::unique_ptr<Rows> rows = python_rows(given);
    const size_t p = rows->margins().mean.size();
    const Penalty::Kind kind = kind_of(penalty, standardized, p);
    if (rows->scans()) {
        if (penalty)
            given.attr("penalize")(*penalty);
        else if (standardized)
            given.attr("penalize")(give(rows->margins().sd));
        else
            given.attr("penalize")(nb::none());
    }
    new (place) Problem(std::move(rows), nb::cast<int>(given.attr("n_distinct")()), kind,
                        penalty ? penalty->data() : nullptr, n_threads);
}

std::vector<State> solve(Problem& problem, const PairArray& array, const std::vector<double>& alphas, double kkt_tol,
                         double gap_tol, int max_iter) {
    const std::vector<Pair> pairs = to_pairs(array, problem.n_features());
    nb::gil_scoped_release release;
    std::vector<State> states;
    for (double alpha : alphas) states.push_back(problem.solver().solve(pairs, alpha, {kkt_tol, gap_tol, max_iter}));
    return states;
}

// The solutions at alphas, the next part of a path that goes on to `next`.
std::vector<State> follow(Problem& problem, const std::vector<double>& alphas, double next, double tol, int max_iter,
                          double strictness) {
    std::vector<State> states;
    for (size_t k = 0; k < alphas.size(); ++k)
        states.push_back(problem.solver().follow(alphas[k], k + 1 < alphas.size() ? alphas[k + 1] : next,
                                                 {tol, max_iter, strictness}));
    return states;
}

// Goes to a point: edges with their coefficients, and fields of all columns or, with categories, of all of these.
void place(Problem& problem, double alpha, const PairArray& edges, const Vector& values, const Vector& fields) {
    State point{alpha, {fields.data(), fields.data() + fields.shape(0)}, {}, to_pairs(edges, problem.n_features())};
    const size_t n_categories = problem.solver().newton().fields_of_categories().size();
    require(fields.shape(0) == (n_categories ? n_categories : problem.n_features()),
            "one field per column or category");
    require(std::ranges::is_sorted(point.edges, std::ranges::less_equal{}), "pairs in their order, each once");
    point.values.assign(values.data(), values.data() + values.shape(0));
    require(problem.solver().newton().coefficients_of(point.edges) == point.values.size(), "the values of all pairs");
    nb::gil_scoped_release release;
    problem.solver().place(alpha, point);
}

auto gradient(Problem& problem, const PairArray& array) {
    const std::vector<Pair> pairs = to_pairs(array, problem.n_features());
    return give(unlocked([&] { return problem.solver().gradient(pairs); }));
}

// Threads that end at their next look for signals, which Python handles in its main thread alone.
std::vector<unsigned long> stopping;  // under the interpreter lock

// Runs Python's signal handlers; true if one of them raised or this thread is to stop: an exception is then pending.
bool is_interrupted() {
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) return true;
    if (std::find(stopping.begin(), stopping.end(), PyThread_get_thread_ident()) == stopping.end()) return false;
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    return true;
}

// Weight of the ones of every column, and whether it takes both values in the rows of positive weight.
nb::tuple ones_of(const Bytes& X, const std::optional<Vector>& weights) {
    const TableView given = to_given(X, weights);
    Ones found = unlocked([&] { return count_ones(given); });
    return nb::make_tuple(give(std::move(found.weight)), to_numpy<bool>(std::move(found.varies), {X.shape(1)}));
}

}  // namespace

NB_MODULE(_native, m) {
    using Release = nb::call_guard<nb::gil_scoped_release>;
    m.attr("instruction_set") = kernels().name;
    m.attr("max_features") = tuning::MAX_FEATURES;
    m.attr("free_ridge") = tuning::FREE_RIDGE;
    Poll::is_interrupted = is_interrupted;
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const Interrupted&) {  // Python's exception is pending already
        } catch (const TooLarge& refused) {
            PyErr_SetString(PyExc_MemoryError, refused.message().c_str());
        }
    });
    m.def("path_bytes", &path_bytes, nb::arg("n_distinct"), nb::arg("n_features"), nb::arg("n_pairs"));
    m.def("stop_threads", [](std::vector<unsigned long> idents) { stopping = std::move(idents); }, nb::arg("idents"));
    m.def("count_ones", &ones_of, nb::arg("X"), nb::arg("weights").none());
    bind_nodewise(m);
    bind_gibbs(m);
    bind_rows(m);
    bind_words(m);
    nb::class_<State>(m, "State")
        .def_ro("alpha", &State::alpha)
        .def_prop_ro("fields", &copy_of<State, &State::fields>, OWNED)
        .def_prop_ro("category_fields", &copy_of<State, &State::category_fields>, OWNED)
        .def_prop_ro("edges", &copy_of<State, &State::edges>, OWNED)
        .def_prop_ro("values", &copy_of<State, &State::values>, OWNED)
        .def_ro("objective", &State::objective)
        .def_ro("kkt_residual", &State::kkt_residual)
        .def_ro("duality_gap", &State::duality_gap)
        .def_ro("converged", &State::converged)
        .def_ro("certified_zeros", &State::certified_zeros)
        .def_ro("n_working", &State::n_working)
        .def_ro("n_products", &State::n_products)
        .def_ro("n_iter", &State::n_iter)
        .def_ro("largest_eta", &State::largest_eta);
    nb::class_<PairList>(m, "PairList")
        .def_prop_ro("pairs", &copy_of<PairList, &PairList::pairs>, OWNED)
        .def_prop_ro("strength", &copy_of<PairList, &PairList::values>, OWNED);
    nb::class_<Problem>(m, "Problem")
        .def("__init__", &make_problem, nb::arg("X"), nb::arg("weights").none(), nb::arg("penalty").none(),
             nb::arg("standardized"), nb::arg("n_threads"), nb::arg("most_bytes") = ANY_SIZE,
             nb::arg("ranges") = nb::none(), nb::arg("widths") = nb::none(), nb::arg("modelled") = nb::none(),
             nb::keep_alive<1, 4>())
        .def("__init__", &make_problem_on, nb::arg("rows"), nb::arg("penalty").none(), nb::arg("standardized"),
             nb::arg("n_threads"), nb::keep_alive<1, 3>())
        .def_prop_ro("n_features", &Problem::n_features)
        .def_prop_ro("n_distinct", &Problem::n_distinct)
        .def_prop_ro("null_objective", [](Problem& problem) { return problem.solver().newton().null_objective(); })
        .def(
            "set_widest_block", [](Problem& problem, int width) { problem.solver().newton().set_widest_block(width); },
            nb::arg("width"))
        .def(
            "set_largest_reference",
            [](Problem& problem, size_t pairs) { problem.solver().set_largest_reference(pairs); }, nb::arg("pairs"))
        .def("free_pairs", [](Problem& problem) { return give(problem.solver().free_pairs()); })
        .def(
            "fit_null",
            [](Problem& problem, double tol, int max_iter) { return problem.solver().fit_null(tol, max_iter); },
            nb::arg("tol"), nb::arg("max_iter"), Release())
        .def(
            "alpha_max", [](Problem& problem) { return problem.solver().alpha_max(); }, Release())
        .def(
            "gradient_above",
            [](Problem& problem, double threshold) { return problem.solver().gradient_above(threshold); },
            nb::arg("threshold"), Release())
        .def("gradient", &gradient, nb::arg("pairs"))
        .def("solve", &solve, nb::arg("pairs"), nb::arg("alphas"), nb::arg("kkt_tol"), nb::arg("gap_tol"),
             nb::arg("max_iter"))
        .def("place", &place, nb::arg("alpha"), nb::arg("edges"), nb::arg("values"), nb::arg("fields"))
        .def("follow", &follow, nb::arg("alphas"), nb::arg("next"), nb::arg("tol"), nb::arg("max_iter"),
             nb::arg("strictness"), Release());
}
