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
using Words = Array<uint64_t, 2>;
using Bits = Array<uint8_t, 2>;
using Sums = Array<double, 1>;

// Refuses starts that are not those of one part of `size` entries after the other, one part per `count`.
void check_starts(const Starts& starts, size_t count, size_t size, const char* message) {
    bool holds = starts.shape(0) == count + 1 && starts(0) == 0 && starts(count) == static_cast<int64_t>(size);
    for (size_t k = 0; holds && k < count; ++k) holds = starts(k) <= starts(k + 1);
    require(holds, message);
}

void check_nodes(const Indices& nodes, size_t n_nodes, const char* message) {
    for (size_t k = 0; k < nodes.shape(0); ++k)
        require(nodes(k) >= 0 && static_cast<size_t>(nodes(k)) < n_nodes, message);
}

// A network whose arrays stay alive as long as its sampler.
class Sampler {
 public:
    Sampler(Starts start, Indices neighbors, Vector couplings, Vector fields)
        : start_(std::move(start)),
          neighbors_(std::move(neighbors)),
          couplings_(std::move(couplings)),
          fields_(std::move(fields)) {
        check_starts(start_, n_nodes(), neighbors_.shape(0),
                     "start must have the places of the neighbors of each node");
        require(couplings_.shape(0) == neighbors_.shape(0), "one coupling per neighbor");
        check_nodes(neighbors_, n_nodes(), "neighbors must be nodes");
    }

    void start(const Words& words, const Bits& states) const {
        flip_coins(to_chains(words, states), static_cast<int>(n_nodes()));
    }
    void record(const Words& words, const Bits& states, int64_t burn_in, int64_t thin, const Starts& offsets,
                const Bits& rows, int n_threads) const {
        const Chains chains = to_chains(words, states);
        check_starts(offsets, words.shape(0), rows.shape(0), "offsets must have the places of the rows of each chain");
        require(rows.shape(1) == n_nodes(), "one column of rows per node");
        nb::gil_scoped_release release;
        isinglass::record(network(), chains, burn_in, thin, offsets.data(), rows.data(), n_threads);
    }
    void redraw(const Words& words, const Bits& states, const Starts& first_cell, const Indices& cells,
                int64_t n_sweeps, int n_threads) const {
        const Chains chains = to_chains(words, states);
        check_starts(first_cell, words.shape(0), cells.shape(0),
                     "first_cell must have the places of the cells of each chain");
        check_nodes(cells, n_nodes(), "cells must be nodes");
        nb::gil_scoped_release release;
        isinglass::redraw(network(), chains, {first_cell.data(), cells.data()}, n_sweeps, n_threads);
    }
    void anneal(const Words& words, const Bits& states, const Vector& base, const Vector& betas, const Sums& sums,
                int n_threads) const {
        const Chains chains = to_chains(words, states);
        require(base.shape(0) == n_nodes(), "one field of base per node");
        require(sums.shape(0) == words.shape(0), "one sum per chain");
        const int64_t n_betas = static_cast<int64_t>(betas.shape(0));
        nb::gil_scoped_release release;
        isinglass::anneal(network(), chains, base.data(), betas.data(), n_betas, sums.data(), n_threads);
    }

 private:
    size_t n_nodes() const { return fields_.shape(0); }
    Network network() const {
        return {start_.data(), neighbors_.data(), couplings_.data(), fields_.data(), static_cast<int>(n_nodes())};
    }
    Chains to_chains(const Words& words, const Bits& states) const {
        require(words.shape(1) == 4 && words.shape(0) == states.shape(0), "four words per chain");
        require(states.shape(1) == n_nodes(), "one state per node");
        return {words.data(), states.data(), static_cast<int>(words.shape(0))};
    }

    Starts start_;
    Indices neighbors_;
    Vector couplings_, fields_;
};

}  // namespace

void bind_gibbs(nb::module_& m) {
    const auto words = nb::arg("words").noconvert(), states = nb::arg("states").noconvert();
    nb::class_<Sampler>(m, "GibbsSampler")
        .def(nb::init<Starts, Indices, Vector, Vector>(), nb::arg("start"), nb::arg("neighbors"), nb::arg("couplings"),
             nb::arg("fields"))
        .def("start", &Sampler::start, words, states)
        .def("record", &Sampler::record, words, states, nb::arg("burn_in"), nb::arg("thin"), nb::arg("offsets"),
             nb::arg("rows").noconvert(), nb::arg("n_threads"))
        .def("redraw", &Sampler::redraw, words, states, nb::arg("first_cell"), nb::arg("cells"), nb::arg("n_sweeps"),
             nb::arg("n_threads"))
        .def("anneal", &Sampler::anneal, words, states, nb::arg("base"), nb::arg("betas"), nb::arg("sums").noconvert(),
             nb::arg("n_threads"));
}
