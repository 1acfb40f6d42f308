"""Probabilities of cells given the observed cells of their row, whatever is missing in it.

The missing cells of a row form components, those that the network connects with each other. Given the observed cells,
components are independent, and each is summed over all of its states. Where these are too many, Gibbs draws take their
place: of the missing cells, and of an observed cell beside them as well, since draws that had seen its value would
predict it too well.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from isinglass.arguments import as_generator
from isinglass.arrays import Bytes, FloatArray, Mask
from isinglass.conditionals import log_probabilities
from isinglass.evaluate.elimination import pair_terms
from isinglass.network import Network
from isinglass.simulate.completions import Completions, among, node_logits

MOST_STATES = 2**10
"""States of a component up to which it is summed over."""
N_DRAWS, BURN_IN = 200, 20
"""Sweeps over a component with more, and sweeps before these."""
_ROWS_AT_ONCE = 4096

Rows = NDArray[np.intp]


def category_probabilities(
    codes: Bytes, missing: Mask | None, network: Network, possible: Mask | None = None
) -> FloatArray:
    """Return P(x_s = k | the observed cells of the other columns), in the flat layout of the variables.

    A missing cell has one of the categories that are ``possible``, by default any.

    Examples
    --------
    >>> model = Network.from_couplings([[0, 2.0], [2.0, 0]], [-1.0, 0.0])
    >>> gone = np.array([[True, False]])
    >>> category_probabilities(np.array([[0, 1]]), gone, model)[1::2].round(3).tolist()
    [[0.731], [0.731]]
    """
    if missing is None or not missing.any():
        return np.exp(network.log_conditionals(codes))
    cells = np.where(missing, 0, codes).astype(np.uint8)
    logs, holed = network.log_conditionals(cells), np.flatnonzero(missing.any(axis=1))
    allowed = np.ones(len(logs), dtype=bool) if possible is None else possible
    for first in range(0, len(holed), _ROWS_AT_ONCE):
        rows = holed[first : first + _ROWS_AT_ONCE]
        logs[:, rows] = _Marginals(cells[rows], missing[rows], network, allowed).logs
    return np.exp(logs)


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
        self.logits = network.log_conditionals(cells)  # up to a constant per cell
        self.logs_by_column = variables.split(self.logits)  # views of them
        large = np.zeros_like(missing)
        for component, rows in _components(missing, network).items():
            if math.prod(len(self.allowed[s]) for s in component) <= MOST_STATES:
                self._sum_out(component, rows)
            else:
                large[rows[:, None], component] = True
        if large.any():
            self._draw(large)

    @property
    def logs(self) -> FloatArray:
        return log_probabilities(self.variables, self.logits, self.cells)

    def _sum_out(self, component: tuple[int, ...], rows: Rows) -> None:
        """Put the probabilities of the cells of a component, and what it adds to the logits of the cells beside it."""
        states = np.array(list(itertools.product(*(self.allowed[s] for s in component))))
        weights = np.zeros((len(rows), len(states)))
        beside: dict[int, FloatArray] = {}  # what each state adds to the categories of a column beside the component
        for s, own in zip(component, states.T, strict=True):
            weights += self.fields[s][own]
            for t, terms in self.terms[s].items():
                if t in component:  # from both ends
                    weights += 0.5 * terms[own, states[:, component.index(t)]]
                    continue
                beside[t] = beside.get(t, 0.0) + terms[own]
                self.logs_by_column[t][:, rows] -= terms[0][:, None]  # the category that stood in the missing cell
        for t, added in beside.items():
            weights += added[:, self.cells[rows, t]].T
        chances = np.exp(weights - _log_sum(weights)[:, None])
        for s, own in zip(component, states.T, strict=True):
            shares = np.array([chances[:, own == k].sum(axis=1) for k in range(len(self.fields[s]))])
            with np.errstate(divide="ignore"):
                self.logs_by_column[s][:, rows] = np.log(shares)
        for t, added in beside.items():
            without = weights - added[:, self.cells[rows, t]].T
            self.logs_by_column[t][:, rows] += [_log_sum(without + each) for each in added.T]

    def _draw(self, large: Mask) -> None:
        """Put the probabilities of cells in components that are too large, and of the observed cells beside them."""
        rng, n_columns = as_generator(0), large.shape[1]  # equal tables have equal answers
        rows = np.flatnonzero(large.any(axis=1))
        self._average(rows, self.missing[rows], large[rows], among(self.possible, self.network), rng)
        for s in np.flatnonzero(self.variables.is_modelled).tolist():
            rows = np.flatnonzero(large[:, list(self.terms[s])].any(axis=1) & ~self.missing[:, s])
            if len(rows):
                is_own = np.arange(n_columns) == s
                drawn = among(self.possible | is_own[self.variables.column], self.network)
                self._average(rows, self.missing[rows] | is_own, np.tile(is_own, (len(rows), 1)), drawn, rng)

    def _average(
        self, rows: Rows, drawn: Mask, wanted: Mask, network: Network, random_state: np.random.Generator
    ) -> None:
        """Put the mean of P(x_s | the rest) of the wanted cells over draws of the others."""
        chains = Completions(self.cells[rows], drawn, random_state=random_state)
        chains.sweep(network, BURN_IN)
        places = {s: np.flatnonzero(wanted[:, s]) for s in np.flatnonzero(wanted.any(axis=0)).tolist()}
        functions = node_logits(network, places)
        totals = {s: np.zeros((len(self.fields[s]), len(own))) for s, own in places.items()}
        for _ in range(N_DRAWS):
            chains.sweep(network, 1)
            for (s, own), logits_of in zip(places.items(), functions, strict=True):
                logits = logits_of(chains.table, own)
                totals[s] += np.exp(logits - _log_sum(logits)[:, None]).T
        for s, own in places.items():
            with np.errstate(divide="ignore"):
                self.logs_by_column[s][:, rows[own]] = np.log(totals[s])


def _components(missing: Mask, network: Network) -> dict[tuple[int, ...], Rows]:
    """Return the columns of every component of missing cells, and the rows that have it."""
    row, column = np.nonzero(missing)
    number = np.cumsum(missing).reshape(missing.shape) - 1  # of every missing cell
    ends = [number[missing[:, pair].all(axis=1)][:, pair] for pair in network.pairs]
    s, t = np.concatenate([np.empty((0, 2), dtype=np.intp), *ends]).T
    graph = sp.coo_array((np.ones(len(s)), (s, t)), shape=(len(row), len(row)))
    from scipy.sparse.csgraph import connected_components

    label = connected_components(graph, directed=False)[1]
    order = np.argsort(label, kind="stable")
    found: dict[tuple[int, ...], list[int]] = {}
    for cells in np.split(order, np.flatnonzero(np.diff(label[order])) + 1):
        found.setdefault(tuple(column[cells].tolist()), []).append(row[cells[0]])
    return {columns: np.array(rows) for columns, rows in found.items()}


def _log_sum(logs: FloatArray) -> FloatArray:
    """Return log Σ exp over the last axis."""
    top = logs.max(axis=-1)
    return np.asarray(top + np.log(np.exp(logs - top[..., None]).sum(axis=-1)))
