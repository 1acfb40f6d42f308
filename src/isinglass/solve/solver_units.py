"""The parameters of columns with categories in the units of the solver, and back.

The solver has centered scores with a range of 1, which lie on equal steps, and only the categories that occur. The
numbers (K1) to (K4) are those of the equations in docs/math.md, "The units of the solver". Arrays over all categories
have the flat layout of the variables, and blocks of pairs lie one after the other.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import Bytes, FloatArray, Mask, read_only
from isinglass.data.meaning.scores import FARTHEST, whole_steps
from isinglass.errors import ArgumentError
from isinglass.network import Network
from isinglass.pairs import block_coordinates
from isinglass.variables import Variables


@dataclass(frozen=True)
class SolverUnits:
    """The units of the solver for one table: its scores, and which of its categories occur."""

    variables: Variables  # of all columns
    columns: NDArray[np.intp]  # where the columns that vary are among these
    counts: FloatArray  # weight of every category of all columns
    n_rows: float  # sum of the weights

    @cached_property
    def shares(self) -> FloatArray:
        """Share of every category of all columns."""
        return self.counts / np.add.reduceat(self.counts, self.variables.starts)[self.variables.column]

    @cached_property
    def means(self) -> FloatArray:
        """Mean score of every column, m; 0 if it is nominal."""
        sums = np.add.reduceat(self.shares * self.variables.factor, self.variables.starts)
        return np.where(self.variables.has_scores, sums, 0.0)

    # ------------------------------------------------------------------------------------------------------- cells

    def cells(self, codes: Bytes) -> tuple[Bytes, Bytes]:
        """Return the cells of the columns that vary in equal steps of their scores, and the largest step of each.

        Of a column without scores they stay as they are, and the largest step is 0. Unequal steps are refused.
        """
        cells, largest = codes.copy(), np.zeros(len(self.columns), dtype=np.uint8)
        for k, column in enumerate(self.columns.tolist()):
            scores = self.variables.score(column)
            if scores is None:
                continue
            steps = _whole_steps((scores - scores.min()).tobytes())
            if steps is None:
                rule = f"must be multiples of one step, at most {FARTHEST} of them, for column"
                rule = f"{rule} {self.variables.called(column)}"
                raise ArgumentError("scores", rule, scores.tolist(), "Round them.")
            cells[:, k], largest[k] = steps[codes[:, k]], steps.max()
        return cells, largest

    # ------------------------------------------------------------------------------------------------------ blocks

    def network_blocks(self, pairs: NDArray[np.integer], solved: FloatArray) -> FloatArray:
        """Return B of pairs s < t, given the blocks of the solver (K1, K2)."""
        ends = block_coordinates(self.variables, pairs)
        occurs = np.logical_and(*self._occurs[ends])
        blocks = np.zeros(len(occurs))
        blocks[occurs] = solved / self._scale[ends].prod(axis=0)[occurs]
        return blocks

    def solver_blocks(self, network: Network, kept: Mask) -> FloatArray:
        """Return the blocks of the solver of some pairs of a network: the inverse of `network_blocks`."""
        ends = block_coordinates(self.variables, network.pairs)
        used = np.logical_and(*self._occurs[ends]) & np.repeat(kept, self.variables.block_sizes(network.pairs))
        return np.asarray((network.pair_parameters * self._scale[ends].prod(axis=0))[used])

    @cached_property
    def _owner(self) -> NDArray[np.intp]:
        """Column of every coordinate."""
        return np.repeat(np.arange(self.variables.n_features), self.variables.widths)

    @cached_property
    def _occurs(self) -> Mask:
        """Which coordinates the solver has: not those of categories without an order that do not occur."""
        occurs = np.zeros(self.variables.n_coordinates, dtype=bool)
        occurs[self.variables.coordinate[self.counts > 0]] = True
        return occurs

    @cached_property
    def _scale(self) -> FloatArray:
        """Factor of every coordinate in K1 and K2: a block of the solver is B times those of its two sides."""
        return np.where(self.variables.has_scores, self.variables.ranges, np.sqrt(2.0))[self._owner]

    # ------------------------------------------------------------------------------------------------------ fields

    def network_fields(self, solved: ArrayLike, couplings: sp.csr_array) -> FloatArray:
        """Return the field of every category but the first of its column, given those of the solver (K3, K4).

        The solver has the categories that occur, in the order of their scores. ``couplings`` has B of every node and
        neighbor in the rows of the node, as `coordinate_matrix` has them.
        """
        variables = self.variables
        fields = self._log_shares.copy()
        fields[self.solved] = solved
        each = map(variables.split, (fields, fields - self._log_shares, self.counts > 0))
        for scores, field, h, occurs in zip(variables.scores, *each, strict=True):
            if 1 < occurs.sum() < len(occurs):
                field[~occurs] += _extrapolate(h, occurs, scores)
        fields -= self._centering(couplings)
        fields -= fields[variables.starts][variables.column]
        fields[~variables.is_modeled[variables.column]] = 0.0
        return fields[variables.is_later]

    def solver_fields(self, network: Network) -> FloatArray:
        """Return the fields of the solver of a network: the inverse of `network_fields`."""
        fields = network.category_fields + self._centering(network.coordinate_couplings)
        first = self.solved[np.unique(self.variables.column[self.solved], return_index=True)[1]]
        shift = np.zeros(self.variables.n_features)
        shift[self.variables.column[first]] = fields[first]
        return np.asarray((fields - shift[self.variables.column])[self.solved])

    def _centering(self, couplings: sp.csr_array) -> FloatArray:
        """Return Σ_t B_st(k, ·) m_t of every category k: what centering the scores of neighbors takes from a field."""
        taken = couplings @ self.means[self._owner]
        return np.asarray(self.variables.factor * taken[self.variables.coordinate])

    @cached_property
    def _log_shares(self) -> FloatArray:
        """Logarithm of the share of every category; half a row where it does not occur."""
        return np.log(np.maximum(self.shares, 0.5 / self.n_rows))

    @cached_property
    def solved(self) -> NDArray[np.intp]:
        """Where the fields of the solver are: categories that occur, of columns that vary, in the order of scores."""
        variables = self.variables
        rank = np.where(variables.has_scores[variables.column], variables.factor, 0.0)
        order = np.lexsort((np.arange(len(rank)), rank, variables.column))
        is_solved = (self.counts > 0) & np.isin(variables.column, self.columns)
        return order[is_solved[order]]


def _extrapolate(h: FloatArray, occurs: Mask, scores: tuple[float, ...] | None) -> FloatArray | float:
    """Return h at the categories of a column that do not occur, given it at those that do (K4)."""
    if scores is None:
        return float(h[occurs].mean())
    points, at = np.array(scores)[occurs], np.array(scores)[~occurs]
    near = np.argsort(np.abs(np.subtract.outer(at, points)), axis=1, kind="stable")[:, :3]
    parabola = (h[occurs][near] * lagrange_weights(points[near], at)).sum(axis=1)
    order = np.argsort(points)
    chord = np.interp(at, points[order], h[occurs][order], left=np.inf, right=np.inf)
    return np.asarray(np.minimum(parabola, chord + np.log(2.0)))


def lagrange_weights(points: FloatArray, at: FloatArray) -> FloatArray:
    """Return the weights of the values at some points in the polynomial through them, a row for each of ``at``."""
    weights = np.ones_like(points)
    for i, j in itertools.permutations(range(points.shape[1]), 2):
        weights[:, i] *= (at - points[:, j]) / (points[:, i] - points[:, j])
    return weights


@lru_cache(maxsize=1000)  # resamples, folds and imputations have the same scores
def _whole_steps(above: bytes) -> Bytes | None:
    """Return scores, given their distances from the lowest, as numbers of one step; None if there is no such step."""
    found = whole_steps(np.frombuffer(above), 0.0)
    return None if found is None else read_only(found[0].astype(np.uint8))
