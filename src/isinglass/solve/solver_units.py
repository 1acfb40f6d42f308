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
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import Bytes, FloatArray, Mask, read_only
from isinglass.data.counts import n_occurring
from isinglass.data.meaning.scores import MOST_STEPS, whole_steps
from isinglass.errors import ArgumentError
from isinglass.network import Network
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

    def steps_of(self, column: int) -> Bytes | None:
        """Return the scores of a column as numbers of equal steps; None without scores. Refuse unequal steps."""
        scores = self.variables.score(column)
        if scores is None:
            return None
        steps = _whole_steps((scores - scores.min()).tobytes())
        if steps is None:
            rule = f"must be multiples of one step, at most {MOST_STEPS} of them, for column"
            rule = f"{rule} {self.variables.called(column)}"
            raise ArgumentError("scores", rule, scores.tolist(), "Round them.")
        return steps

    def check_scores(self) -> None:
        """Refuse scores that the solver does not take."""
        for column in self.columns.tolist():
            self.steps_of(column)

    def cells(self, codes: Bytes) -> tuple[Bytes, Bytes]:
        """Return the cells of the columns that vary in steps, or as they are without scores; and the largest steps.

        The largest step is 0 for a column without scores.
        """
        cells, largest = codes.copy(), np.zeros(len(self.columns), dtype=np.uint8)
        for k, column in enumerate(self.columns.tolist()):
            steps = self.steps_of(column)
            if steps is not None:
                cells[:, k], largest[k] = steps[codes[:, k]], steps.max()
        return cells, largest

    # ------------------------------------------------------------------------------------------------------ blocks

    def network_blocks(self, pairs: NDArray[np.integer], solved: FloatArray) -> FloatArray:
        """Return B of pairs s < t, given the blocks of the solver (K1, K2)."""
        variables, is_single = self.variables, self.variables.has_sign(pairs)
        (starts, _), (places, total) = _layout(self._widths[pairs]), _layout(variables.widths[pairs])
        blocks = np.empty(total)
        # No loop over pairs with one parameter, which would take as long as a small fit.
        blocks[places[is_single]] = solved[starts[is_single]] / variables.ranges[pairs[is_single]].prod(axis=1)
        for k in np.flatnonzero(~is_single).tolist():
            s, t = pairs[k].tolist()
            rows, columns = self._occurring(s), self._occurring(t)
            theta = solved[starts[k] : starts[k] + len(rows) * len(columns)].reshape(len(rows), len(columns))
            for axis, side in enumerate((s, t)):
                if not variables.has_scores[side]:  # the solver's entries add up to zero up to rounding
                    theta = (theta - theta.mean(axis=axis, keepdims=True)) * np.sqrt(0.5)
            block = np.zeros(variables.block_shape(s, t))
            block[np.ix_(rows, columns)] = theta / (variables.ranges[s] * variables.ranges[t])
            blocks[places[k] : places[k] + block.size] = block.ravel()
        return blocks

    def solver_blocks(self, network: Network, kept: Mask) -> FloatArray:
        """Return the blocks of the solver of some pairs of a network: the inverse of `network_blocks`."""
        variables, pairs = self.variables, network.pairs[kept]
        is_single, scale = variables.has_sign(pairs), variables.block_scale(pairs)
        starts = _layout(variables.widths[network.pairs])[0][kept]
        places, total = _layout(self._widths[pairs])
        solved = np.empty(total)
        single = network.pair_parameters[starts[is_single]]
        solved[places[is_single]] = single * variables.ranges[pairs[is_single]].prod(axis=1)
        for k in np.flatnonzero(~is_single).tolist():
            s, t = pairs[k].tolist()
            shape = variables.block_shape(s, t)
            block = network.pair_parameters[starts[k] : starts[k] + shape[0] * shape[1]].reshape(shape)
            theta = block[np.ix_(self._occurring(s), self._occurring(t))]
            theta = theta * (variables.ranges[s] * variables.ranges[t] * scale[k])
            solved[places[k] : places[k] + theta.size] = theta.ravel()
        return solved

    @cached_property
    def _widths(self) -> NDArray[np.intp]:
        """Coordinates that the solver has of a column: one if it has scores, else one per category that occurs."""
        return np.where(self.variables.has_scores, 1, n_occurring(self.counts, self.variables))

    def _occurring(self, column: int) -> NDArray[np.intp]:
        """Return the coordinates of a column that the solver has."""
        if self.variables.has_scores[column]:
            return np.zeros(1, np.intp)
        start, size = self.variables.starts[column], self.variables.sizes[column]
        return np.flatnonzero(self.counts[start : start + size] > 0)

    # ------------------------------------------------------------------------------------------------------ fields

    def network_fields(self, solved: ArrayLike, centering: FloatArray) -> FloatArray:
        """Return the field of every category but the first of its column, given those of the solver (K3, K4).

        The solver has the categories that occur, in the order of their scores; ``centering`` is that of `centering`.
        """
        variables = self.variables
        fields = self._log_shares.copy()
        fields[self._solved] = solved
        unseen, near, weights, ends, at_ends = self._parabolas
        above = fields - self._log_shares
        chord = np.where(ends[:, 0] == ends[:, 1], np.inf, (above[ends] * at_ends).sum(axis=1))
        fields[unseen] += np.minimum((above[near] * weights).sum(axis=1), chord + np.log(2.0))
        fields -= centering
        fields -= fields[variables.starts][variables.column]
        fields[~variables.is_modeled[variables.column]] = 0.0
        return fields[variables.is_later]

    def solver_fields(self, network: Network) -> FloatArray:
        """Return the fields of the solver of a network: the inverse of `network_fields`."""
        fields = network.category_fields + self.centering_of(network.pairs, network.pair_parameters)
        first = self._solved[np.unique(self.variables.column[self._solved], return_index=True)[1]]
        shift = np.zeros(self.variables.n_features)
        shift[self.variables.column[first]] = fields[first]
        return np.asarray((fields - shift[self.variables.column])[self._solved])

    def centering_of(self, pairs: NDArray[np.integer], blocks: FloatArray) -> FloatArray:
        """Return the centering of the blocks of pairs s < t, which serve both of their nodes."""
        s, t = pairs.T
        return self.centering(np.r_[s, t], np.r_[t, s], np.r_[pairs, pairs], np.r_[blocks, blocks])

    def centering(
        self, nodes: NDArray[np.integer], neighbors: NDArray[np.integer], pairs: NDArray[np.integer], blocks: FloatArray
    ) -> FloatArray:
        """Return Σ_t B_st(k, ·) m_t of every category k: what centering the scores of neighbors takes from a field.

        Each estimate is a block B of a node and its neighbor, whose pair s < t says which side has the rows.
        """
        variables = self.variables
        sizes = variables.block_sizes(pairs)
        estimate = np.repeat(np.arange(len(pairs)), sizes)
        within = np.arange(len(estimate)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        # A neighbor with scores has one row or column: the entries are those of the node, one or one per category.
        used = variables.has_scores[neighbors[estimate]]
        coordinate = (variables.first[nodes[estimate]] + within)[used]
        amount = (blocks * self.means[neighbors[estimate]])[used]
        added = np.bincount(coordinate, amount, variables.n_coordinates)
        return np.asarray(variables.factor * added[variables.coordinate])

    @cached_property
    def _log_shares(self) -> FloatArray:
        """Logarithm of the share of every category; half a row where it does not occur."""
        return np.log(np.maximum(self.shares, 0.5 / self.n_rows))

    @cached_property
    def _solved(self) -> NDArray[np.intp]:
        """Where the fields of the solver are: categories that occur, of columns that vary, in the order of scores."""
        variables = self.variables
        rank = np.where(variables.has_scores[variables.column], variables.factor, 0.0)
        order = np.lexsort((np.arange(len(rank)), rank, variables.column))
        is_solved = (self.counts > 0) & np.isin(variables.column, self.columns)
        return order[is_solved[order]]

    @cached_property
    def _parabolas(self) -> tuple[NDArray[np.intp], NDArray[np.intp], FloatArray, NDArray[np.intp], FloatArray]:
        """Categories that do not occur, up to three near each that do, and Lagrange's weights of these (K4).

        Of a nominal column, all that occur, with equal weights. The same follows for the two scores on either side;
        where there is none on one side, both are one.
        """
        variables = self.variables
        unseen = np.setdiff1d(np.flatnonzero(np.isin(variables.column, self.columns)), self._solved)
        most = max(3, int(self._widths[variables.column[unseen]].max(initial=0)))
        near, weights = np.zeros((len(unseen), most), dtype=np.intp), np.zeros((len(unseen), most))
        ends, at_ends = np.zeros((len(unseen), 2), dtype=np.intp), np.zeros((len(unseen), 2))
        for s in np.unique(variables.column[unseen]).tolist():
            here, there = (places[variables.column[places] == s] for places in (unseen, self._solved))
            rows = variables.column[unseen] == s
            if variables.has_scores[s]:
                distance = np.abs(np.subtract.outer(variables.factor[here], variables.factor[there]))
                closest = there[np.argsort(distance, axis=1, kind="stable")[:, :3]]
                shares = lagrange_weights(variables.factor[closest], variables.factor[here])
                rank = np.searchsorted(variables.factor[there], variables.factor[here])
                is_between = (rank > 0) & (rank < len(there))
                between = np.flatnonzero(rows)[is_between]
                ends[between] = there[np.stack([rank - 1, rank], axis=1)[is_between]]
                at_ends[between] = lagrange_weights(variables.factor[ends[between]], variables.factor[unseen[between]])
            else:
                closest, shares = there, np.full(len(there), 1.0 / len(there))
            entries = np.ix_(rows, np.arange(closest.shape[-1]))
            near[entries], weights[entries] = closest, shares
        return unseen, near, weights, ends, at_ends


def lagrange_weights(points: FloatArray, at: FloatArray) -> FloatArray:
    """Return the weights of the values at some points in the polynomial through them, a row for each of ``at``."""
    weights = np.ones_like(points)
    for i, j in itertools.permutations(range(points.shape[1]), 2):
        weights[:, i] *= (at - points[:, j]) / (points[:, i] - points[:, j])
    return weights


def _layout(widths: NDArray[np.integer]) -> tuple[NDArray[np.intp], int]:
    """Return where blocks begin that lie one after the other, given the widths of their two sides; and their size."""
    sizes = widths.prod(axis=1, dtype=np.intp)
    return np.cumsum(sizes) - sizes, int(sizes.sum())


@lru_cache(maxsize=1000)  # resamples, folds and imputations have the same scores
def _whole_steps(above: bytes) -> Bytes | None:
    """Return scores, given their distances from the lowest, as numbers of one step; None if there is no such step."""
    found = whole_steps(np.frombuffer(above), 0.0)
    return None if found is None else read_only(found[0].astype(np.uint8))
