// Bindings of the sampler: the caller's arrays of generators, states and rows are written in place.
#include "bind/arrays.hpp"
#include "bind/bindings.hpp"
#include "gibbs/gibbs.hpp"

using namespace isinglass;

namespace {

template <class T, int Dimensions>
using Array = nb::ndarray<T, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;
using Starts = Line<int64_t>;
using Indices = Line<int32_t>;
using Doubles = Line<double>;
using Words = Array<uint64_t, 2>;
using Bits = Array<uint8_t, 2>;
using Totals = Array<double, 1>;

Network to_network(const Starts& start, const Indices& neighbors, const Doubles& couplings, const Doubles& fields) {
    const int64_t p = static_cast<int64_t>(fields.shape(0)), count = static_cast<int64_t>(neighbors.shape(0));
    require(static_cast<int64_t>(start.shape(0)) == p + 1 && start(0) == 0 && start(p) == count,
            "start must have one entry per node and a last one, from 0 to the number of couplings");
    require(couplings.shape(0) == neighbors.shape(0), "one coupling per neighbor");
    for (int64_t s = 0; s < p; ++s) require(start(s) <= start(s + 1), "start must not decrease");
    for (int64_t k = 0; k < count; ++k) require(neighbors(k) >= 0 && neighbors(k) < p, "neighbors must be nodes");
    return {start.data(), neighbors.data(), couplings.data(), fields.data(), static_cast<int>(p)};
}

Chains to_chains(const Words& words, const Bits& states, size_t n_nodes) {
    require(words.shape(1) == 4 && words.shape(0) == states.shape(0), "four words per chain");
    require(states.shape(1) == n_nodes, "one state per node");
    return {words.data(), states.data(), static_cast<int>(words.shape(0))};
}

void check_offsets(const Starts& offsets, const Words& words, const Bits& rows, size_t n_nodes) {
    const size_t count = words.shape(0);
    require(offsets.shape(0) == count + 1 && offsets(0) == 0, "offsets must start at 0, one per chain and a last");
    for (size_t c = 0; c < count; ++c) require(offsets(c) <= offsets(c + 1), "offsets must not decrease");
    require(offsets(count) == static_cast<int64_t>(rows.shape(0)) && rows.shape(1) == n_nodes,
            "rows must have the shape the offsets say");
}

Cells to_cells(const Starts& start, const Indices& nodes, const Words& words, size_t n_nodes) {
    const size_t count = words.shape(0);
    require(start.shape(0) == count + 1 && start(0) == 0, "cells must start at 0, one per chain and a last");
    for (size_t c = 0; c < count; ++c) require(start(c) <= start(c + 1), "starts of cells must not decrease");
    require(start(count) == static_cast<int64_t>(nodes.shape(0)), "cells must end where the nodes do");
    for (size_t k = 0; k < nodes.shape(0); ++k)
        require(nodes(k) >= 0 && static_cast<size_t>(nodes(k)) < n_nodes, "cells must be nodes");
    return {start.data(), nodes.data()};
}

}  // namespace

void bind_gibbs(nb::module_& m) {
    m.def(
        "gibbs_start",
        [](const Words& words, const Bits& states) {
            flip_coins(to_chains(words, states, states.shape(1)), static_cast<int>(states.shape(1)));
        },
        nb::arg("words").noconvert(), nb::arg("states").noconvert());
    m.def(
        "gibbs_sweep",
        [](const Starts& start, const Indices& neighbors, const Doubles& couplings, const Doubles& fields,
           const Words& words, const Bits& states, int64_t n_sweeps, int n_threads) {
            const Network network = to_network(start, neighbors, couplings, fields);
            const Chains chains = to_chains(words, states, fields.shape(0));
            nb::gil_scoped_release release;
            sweep(network, chains, n_sweeps, n_threads);
        },
        nb::arg("start"), nb::arg("neighbors"), nb::arg("couplings"), nb::arg("fields"), nb::arg("words").noconvert(),
        nb::arg("states").noconvert(), nb::arg("n_sweeps"), nb::arg("n_threads"));
    m.def(
        "gibbs_record",
        [](const Starts& start, const Indices& neighbors, const Doubles& couplings, const Doubles& fields,
           const Words& words, const Bits& states, int64_t thin, const Starts& offsets, int64_t first, int64_t last,
           const Bits& rows, int n_threads) {
            const Network network = to_network(start, neighbors, couplings, fields);
            const Chains chains = to_chains(words, states, fields.shape(0));
            check_offsets(offsets, words, rows, fields.shape(0));
            require(first >= 0, "first must not be negative");
            nb::gil_scoped_release release;
            record(network, chains, thin, offsets.data(), first, last, rows.data(), n_threads);
        },
        nb::arg("start"), nb::arg("neighbors"), nb::arg("couplings"), nb::arg("fields"), nb::arg("words").noconvert(),
        nb::arg("states").noconvert(), nb::arg("thin"), nb::arg("offsets"), nb::arg("first"), nb::arg("last"),
        nb::arg("rows").noconvert(), nb::arg("n_threads"));
    m.def(
        "gibbs_sweep_cells",
        [](const Starts& start, const Indices& neighbors, const Doubles& couplings, const Doubles& fields,
           const Words& words, const Bits& states, const Starts& first_cell, const Indices& cells, int64_t n_sweeps,
           std::optional<Totals> totals, int n_threads) {
            const Network network = to_network(start, neighbors, couplings, fields);
            const Chains chains = to_chains(words, states, fields.shape(0));
            const Cells visited = to_cells(first_cell, cells, words, fields.shape(0));
            require(!totals || totals->shape(0) == cells.shape(0), "one total per cell");
            double* sums = totals ? totals->data() : nullptr;
            nb::gil_scoped_release release;
            sweep_cells(network, chains, visited, n_sweeps, sums, n_threads);
        },
        nb::arg("start"), nb::arg("neighbors"), nb::arg("couplings"), nb::arg("fields"), nb::arg("words").noconvert(),
        nb::arg("states").noconvert(), nb::arg("first_cell"), nb::arg("cells"), nb::arg("n_sweeps"),
        nb::arg("totals").none(), nb::arg("n_threads"));
}
