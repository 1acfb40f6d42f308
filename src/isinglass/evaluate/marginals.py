"""Probabilities of cells given the observed cells of their row, any number of them missing.

The missing cells of a row form components, those that the network connects with each other. Given the observed cells,
components are independent, and the states of each are summed over by elimination. Where the tables of that would be
too large, Gibbs draws take their place: of the missing cells, and of an observed cell beside them as well, since draws
conditioned on its value would leak it into its own prediction.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from isinglass.arguments import as_generator
from isinglass.arrays import Bytes, FloatArray, Mask
from isinglass.conditionals import log_conditionals, log_probabilities
from isinglass.errors import MixingWarning, warn
from isinglass.evaluate.elimination import Factor, elimination_order, pair_terms, sum_out
from isinglass.network import Network
from isinglass.simulate.gibbs import Chains, node_logits, restrict_to
from isinglass.simulate.mixing import dispersed_states

MOST_STATES = 2**14
"""Entries of a table up to which components are summed over."""
N_CHAINS, N_DRAWS, BURN_IN = 4, 100, 20
"""Chains for a row with a larger component, sweeps of each, and sweeps before these."""
MOST_ERROR = 0.03
"""Standard error of a probability, from how far the chains differ, that is reported."""
_ROWS_AT_ONCE = 4096
_ENTRIES_AT_ONCE = 2**21  # of all tables of one step of an elimination: 16 MB, of which a few are needed at a time

Rows = NDArray[np.intp]


def category_logs(codes: Bytes, missing: Mask | None, network: Network, possible: Mask | None = None) -> FloatArray:
    """Return log P(x_s = k | the observed cells of the other columns), in the flat layout of the variables.

    A missing cell has one of the categories that are ``possible``, by default any.
    """
    if missing is None or not missing.any():
        return log_conditionals(network, codes)
    cells = np.where(missing, 0, codes).astype(np.uint8)
    logs, holed = log_conditionals(network, cells), np.flatnonzero(missing.any(axis=1))
    allowed = np.ones(len(logs), dtype=bool) if possible is None else possible
    distinct, own = np.unique(np.hstack([cells, missing])[holed], axis=0, return_inverse=True)
    cells, missing = np.hsplit(distinct, 2)
    found, error = np.empty((len(logs), len(distinct))), 0.0
    for first in range(0, len(distinct), _ROWS_AT_ONCE):
        rows = slice(first, first + _ROWS_AT_ONCE)
        found[:, rows], own_error = _Marginals(cells[rows], missing[rows].astype(bool), network, allowed).compute()
        error = max(error, own_error)
    if error > MOST_ERROR:
        text = "Rows with many missing cells that are connected have probabilities from Gibbs draws"
        warn(MixingWarning(f"{text}, whose chains differ: standard errors are up to {error:.2g}."))
    logs[:, holed] = found[:, own.reshape(-1)]
    return logs


class _Marginals:
    """log P(x_s = k | the observed cells of the other columns) of some rows with missing cells."""

    def __init__(self, cells: Bytes, missing: Mask, network: Network, possible: Mask) -> None:
        self.cells, self.missing, self.network, self.possible = cells, missing, network, possible
        self.variables = variables = network.variables
        self.fields = variables.split(network.category_fields)
        self.allowed = [np.flatnonzero(part) for part in variables.split(possible)]
        self.terms: list[dict[int, FloatArray]] = [{} for _ in self.fields]  # e_st(k, l) by s, and then by t
        for (s, t), table in zip(network.pairs.tolist(), pair_terms(network), strict=True):
            self.terms[s][t], self.terms[t][s] = table, table.T
        self.logits = log_conditionals(network, cells)  # up to a constant per cell
        self.logs_by_column = variables.split(self.logits)  # views of them
        self.error = 0.0  # largest standard error of a probability, from how far chains differ

    def compute(self) -> tuple[FloatArray, float]:
        """Sum over the states of small components, and draw those of large ones; return logs and the largest error."""
        large = np.zeros_like(self.missing)
        for component, rows in _components(self.missing, self.network).items():
            edges = [
                (i, j) for i, j in combinations(range(len(component)), 2) if component[j] in self.terms[component[i]]
            ]
            found = elimination_order([len(self.allowed[s]) for s in component], edges, MOST_STATES)
            if found is None:
                large[rows[:, None], component] = True
            else:
                self._sum_out(component, rows, edges, *found)
        if large.any():
            self._draw(large)
        return log_probabilities(self.variables, self.logits, self.cells), self.error

    def _sum_out(
        self, component: tuple[int, ...], rows: Rows, edges: list[tuple[int, int]], order: list[int], n_states: int
    ) -> None:
        """Store the probabilities of a component's cells and add its contribution to the logits of neighboring cells.

        Both are log Σ exp over the states of the component in which a cell, of it or beside it, has a given category.
        """
        beside = sorted({t for s in component for t in self.terms[s]}.difference(component))
        choices = {s: self.allowed[s] for s in component} | {t: np.arange(len(self.fields[t])) for t in beside}
        ends = np.cumsum([len(categories) for categories in choices.values()]).tolist()
        places = {u: slice(end - len(choices[u]), end) for u, end in zip(choices, ends, strict=True)}
        pairs = []
        for i, j in edges:
            s, t = component[i], component[j]
            pairs.append(Factor((i, j), self.terms[s][t][np.ix_(choices[s], choices[t])]))
        self._forget(component, beside, rows)
        step = max(_ENTRIES_AT_ONCE // (ends[-1] * sum(len(choices[s]) for s in component)), 1)
        for some in np.split(rows, range(step, len(rows), step)):
            fields = [self._fields(s, some, choices[s], places).reshape(-1, len(choices[s])) for s in component]
            log_z = _log_sums(fields, pairs, order, n_states).reshape(len(some), -1).T
            for u, place in places.items():
                self.logs_by_column[u][np.ix_(choices[u], some)] += log_z[place]

    def _forget(self, component: tuple[int, ...], beside: list[int], rows: Rows) -> None:
        """Set the logits of a component's cells to 0, and remove what its missing cells, read as 0, added beside it."""
        for s in component:
            self.logs_by_column[s][:, rows] = -np.inf
            self.logs_by_column[s][np.ix_(self.allowed[s], rows)] = 0.0
            for t in self.terms[s].keys() & set(beside):
                self.logs_by_column[t][:, rows] -= self.terms[s][t][0][:, None]

    def _fields(self, s: int, rows: Rows, allowed: NDArray[np.intp], places: dict[int, slice]) -> FloatArray:
        """Return the fields of a missing cell given the observed ones, for rows with the same component.

        The axes are rows, cases and categories. A case is a category of a cell, of the component or beside it; the
        cases of a cell have their place.
        """
        seen = {t: terms[allowed].T for t, terms in self.terms[s].items() if not self.missing[rows[0], t]}
        field = np.tile(self.fields[s][allowed], (len(rows), 1))
        for t, terms in seen.items():
            field += terms[self.cells[rows, t]]
        cases = np.repeat(field[:, None], max(place.stop for place in places.values()), axis=1)
        for t, terms in seen.items():
            cases[:, places[t]] += terms - terms[self.cells[rows, t]][:, None]
        cases[:, places[s]] += np.where(np.eye(len(allowed), dtype=bool), 0.0, -np.inf)
        return cases

    def _draw(self, large: Mask) -> None:
        """Store the probabilities of cells in components that are too large, and of the observed cells beside them."""
        rng, n_columns = as_generator(0), large.shape[1]  # equal tables have equal answers
        rows = np.flatnonzero(large.any(axis=1))
        self._average(rows, self.missing[rows], large[rows], restrict_to(self.possible, self.network), rng)
        for s in np.flatnonzero(self.variables.is_modeled).tolist():
            rows = np.flatnonzero(large[:, list(self.terms[s])].any(axis=1) & ~self.missing[:, s])
            if len(rows):
                is_own = np.arange(n_columns) == s
                drawn = restrict_to(self.possible | is_own[self.variables.column], self.network)
                self._average(rows, self.missing[rows] | is_own, np.tile(is_own, (len(rows), 1)), drawn, rng)

    def _average(
        self, rows: Rows, drawn: Mask, wanted: Mask, network: Network, random_state: np.random.Generator
    ) -> None:
        """Store the mean of P(x_s | the rest) of the wanted cells over draws of the others."""
        start = dispersed_states(self.variables, N_CHAINS * len(rows), random_state)
        drawn, wanted = (np.tile(mask, (N_CHAINS, 1)) for mask in (drawn, wanted))
        start = np.where(drawn, start, np.tile(self.cells[rows], (N_CHAINS, 1)))
        chains = Chains(start, drawn, random_state=random_state)
        chains.sweep(network, BURN_IN)
        places = {s: np.flatnonzero(wanted[:, s]) for s in np.flatnonzero(wanted.any(axis=0)).tolist()}
        functions = node_logits(network, places)
        totals = {s: np.full((len(self.fields[s]), len(own)), -np.inf) for s, own in places.items()}  # logs of sums
        for _ in range(N_DRAWS):
            chains.sweep(network, 1)
            for (s, own), logits_of in zip(places.items(), functions, strict=True):
                logits = logits_of(chains.table, own).T
                totals[s] = np.logaddexp(totals[s], logits - np.logaddexp.reduce(logits, axis=0))
        for s, own in places.items():
            logs = totals[s].reshape(len(totals[s]), N_CHAINS, -1) - np.log(N_DRAWS)
            self.error = max(self.error, float(np.exp(logs).std(axis=1, ddof=1).max()) / N_CHAINS**0.5)
            mean = np.logaddexp.reduce(logs, axis=1) - np.log(N_CHAINS)
            self.logs_by_column[s][:, rows[own[: logs.shape[2]]]] = mean


def _log_sums(fields: list[FloatArray], pairs: list[Factor], order: list[int], n_states: int) -> FloatArray:
    """Return log Σ exp over the states of a component in every case, given the fields of its cells in each."""
    block, sums = max(_ENTRIES_AT_ONCE // n_states, 1), []
    for first in range(0, len(fields[0]), block):
        singles = [Factor((i,), field[first : first + block]) for i, field in enumerate(fields)]
        sums.append(sum_out(order, [*singles, *pairs])[0].log_weight)
    return np.concatenate(sums)


def _components(missing: Mask, network: Network) -> dict[tuple[int, ...], Rows]:
    """Return the columns of every component of missing cells, and the rows that have it."""
    row, column = np.nonzero(missing)
    number = np.cumsum(missing).reshape(missing.shape) - 1  # of every missing cell
    ends = [number[missing[:, pair].all(axis=1)][:, pair] for pair in network.pairs]
    s, t = np.concatenate([np.empty((0, 2), dtype=np.intp), *ends]).T
    places = s.astype(np.int32), t.astype(np.int32)  # earlier versions of SciPy find components with no others
    graph = sp.coo_array((np.ones(len(s)), places), shape=(len(row), len(row)))
    from scipy.sparse.csgraph import connected_components

    label = connected_components(graph, directed=False)[1]
    order = np.argsort(label, kind="stable")
    found: dict[tuple[int, ...], list[int]] = {}
    for cells in np.split(order, np.flatnonzero(np.diff(label[order])) + 1):
        found.setdefault(tuple(column[cells].tolist()), []).append(row[cells[0]])
    return {columns: np.array(rows) for columns, rows in found.items()}
