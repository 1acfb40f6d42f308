"""Parameters of columns with categories in the numbers of the solver, and back.

The solver has scores with a range of 1 in equal steps, centered, and only the categories that occur.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import Bytes, FloatArray, Mask, read_only
from isinglass.data.counts import n_occurring
from isinglass.data.rules import MOST_STEPS, whole_steps
from isinglass.errors import ArgumentError
from isinglass.network import Network
from isinglass.variables import Variables


@dataclass(frozen=True)
class CategoryMap:
    """The parameters of a table with categories, as a network and as the solver has them."""

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
        """Mean score of every column; 0 if it is nominal."""
        sums = np.add.reduceat(self.shares * self.variables.factor, self.variables.starts)
        return np.where(self.variables.has_scores, sums, 0.0)

    def points(self, codes: Bytes) -> tuple[Bytes, Bytes]:
        """Return scores in equal steps or category numbers, and the largest step of every column that varies.

        The largest step is 0 for a column without scores.
        """
        points = codes.copy()
        ranges = np.zeros(len(self.columns), dtype=np.uint8)
        for k, s in enumerate(self.columns.tolist()):
            score = self.variables.score(s)
            if score is not None and len(score) == 2 and score[0] < score[1]:
                ranges[k] = 1
            elif score is not None:
                steps = _steps(self.variables.called(s), score)
                points[:, k], ranges[k] = steps[points[:, k]], steps.max()
        return points, ranges

    def fields(self, solved: ArrayLike, centers: FloatArray) -> FloatArray:
        """Return the field of every category but the first of its column.

        The solver's belong to centered scores, of the categories that occur, in the order of their scores. A category
        that does not occur gets the field at which about half a row is expected to have it. ``centers``: what the
        neighbors' mean scores add to each category.
        """
        logs, places = self._layout
        fields = logs.copy()
        fields[places] = solved
        unseen, near, share = self._half_rows
        fields[unseen] += ((fields - logs)[near] * share).sum(axis=1)
        fields -= centers
        fields -= fields[self.variables.starts][self.variables.column]
        fields[~self.variables.is_modelled[self.variables.column]] = 0.0
        return fields[self.variables.is_later]

    @cached_property
    def _layout(self) -> tuple[FloatArray, NDArray[np.intp]]:
        """Logarithms of shares, where a category that does not occur has half a row, and places of solved fields."""
        variables, occurs = self.variables, self.counts > 0
        rank = np.where(variables.has_scores[variables.column], variables.factor, 0.0)
        order = np.lexsort((np.arange(len(rank)), rank, variables.column))
        varies = np.zeros(self.variables.n_features, dtype=bool)
        varies[self.columns] = True
        is_solved = occurs & varies[variables.column]
        return np.log(np.maximum(self.shares, 0.5 / self.n_rows)), order[is_solved[order]]

    @cached_property
    def _half_rows(self) -> tuple[NDArray[np.intp], NDArray[np.intp], FloatArray]:
        """Categories that do not occur, up to three near each that do, and the shares of these in its field.

        A field less the logarithm of the share of its category is −log Σ_n exp(v η_n − A_n) up to a constant: a smooth,
        concave function of the score v. At scores that do not occur it is read from the parabola through the nearest.
        """
        variables, (_, places) = self.variables, self._layout
        missing = np.setdiff1d(np.flatnonzero(np.isin(variables.column, self.columns)), places)
        near, share = np.zeros((len(missing), 3), dtype=np.intp), np.zeros((len(missing), 3))
        for s in np.unique(variables.column[missing]).tolist():
            here, there = missing[variables.column[missing] == s], places[variables.column[places] == s]
            if variables.has_scores[s]:
                away = np.abs(np.subtract.outer(variables.factor[here], variables.factor[there]))
                found = there[np.argsort(away, axis=1, kind="stable")[:, :3]]
            else:
                found = np.full((len(here), 1), there[0])
            rows = np.ix_(variables.column[missing] == s, np.arange(found.shape[1]))
            near[rows], share[rows] = found, _lagrange(variables.factor[found], variables.factor[here])
        return missing, near, share

    def centers(
        self,
        nodes: NDArray[np.integer],
        neighbors: NDArray[np.integer],
        pairs: NDArray[np.integer],
        parameters: FloatArray,
    ) -> FloatArray:
        """Return what the mean scores of neighbors add to every category; a pair s < t has the block of both."""
        variables = self.variables
        sizes = variables.block_sizes(pairs)
        entry = np.repeat(np.arange(len(pairs)), sizes)
        within = np.arange(len(entry)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        # A neighbor with scores has one row or column: the entries are those of the node, one or one per category.
        used = variables.has_scores[neighbors[entry]]
        place, amount = (
            (variables.first[nodes[entry]] + within)[used],
            (parameters * self.means[neighbors[entry]])[used],
        )
        added = np.bincount(place, amount, variables.n_coordinates)
        return np.asarray(variables.factor * added[variables.coordinate])

    def parameters(self, edges: NDArray[np.integer], values: FloatArray) -> FloatArray:
        """Return B of pairs s < t, one after the other, given the solver's numbers for scores with a range of 1."""
        variables, is_single = self.variables, self.variables.has_sign(edges)
        solved, sizes = self._widths[edges].prod(axis=1), variables.block_sizes(edges)
        first, place = np.cumsum(solved) - solved, np.cumsum(sizes) - sizes
        parameters = np.empty(int(sizes.sum()))
        # No loop over pairs with one parameter, which would take as long as a small fit.
        parameters[place[is_single]] = values[first[is_single]] / variables.ranges[edges[is_single]].prod(axis=1)
        for k in np.flatnonzero(~is_single).tolist():
            s, t = edges[k].tolist()
            block = self._block(s, t, values[first[k] : first[k] + solved[k]])
            parameters[place[k] : place[k] + sizes[k]] = block.ravel()
        return parameters

    def solver_values(self, network: Network, kept: Mask) -> FloatArray:
        """Return the solver's numbers of some pairs of a network."""
        variables, pairs = self.variables, network.pairs[kept]
        is_single, sizes = variables.has_sign(pairs), self._widths[pairs].prod(axis=1)
        block_sizes = variables.block_sizes(network.pairs)
        first, place = (np.cumsum(block_sizes) - block_sizes)[kept], np.cumsum(sizes) - sizes
        values = np.empty(int(sizes.sum()))
        single = network.pair_parameters[first[is_single]]
        values[place[is_single]] = single * variables.ranges[pairs[is_single]].prod(axis=1)
        for k in np.flatnonzero(~is_single).tolist():
            s, t = pairs[k].tolist()
            shape = variables.block_shape(s, t)
            block = network.pair_parameters[first[k] : first[k] + math.prod(shape)].reshape(shape)
            values[place[k] : place[k] + sizes[k]] = self._table(s, t, block).ravel()
        return values

    @cached_property
    def _widths(self) -> NDArray[np.intp]:
        """Numbers that the solver has of a column: one if it has scores, else one per category that occurs."""
        return np.where(self.variables.has_scores, 1, n_occurring(self.counts, self.variables))

    def _block(self, s: int, t: int, values: FloatArray) -> FloatArray:
        """Return B of a pair s < t. The solver has a table of the categories that occur.

        A category that does not occur has zeros. Entries add up to zero over a nominal side; the solver's do to
        rounding.
        """
        variables, sides = self.variables, self._sides(s, t)
        table = values.reshape(len(sides[0]), len(sides[1]))
        for axis, k in enumerate((s, t)):
            if not variables.has_scores[k]:
                table = (table - table.mean(axis=axis, keepdims=True)) * np.sqrt(0.5)
        block = np.zeros(variables.block_shape(s, t))
        block[np.ix_(*sides)] = table / (variables.ranges[s] * variables.ranges[t])
        return block

    def _table(self, s: int, t: int, block: FloatArray) -> FloatArray:
        """Return the solver's table of a pair s < t, given B."""
        n_nominal = 2 - int(self.variables.has_scores[[s, t]].sum())
        scale = self.variables.ranges[s] * self.variables.ranges[t] * np.sqrt(2.0) ** n_nominal
        return np.asarray(block[np.ix_(*self._sides(s, t))] * scale)

    def _sides(self, s: int, t: int) -> list[NDArray[np.intp]]:
        """Return the categories of two columns that occur, or 0 where there are scores."""
        variables, occurs = self.variables, self._occurs
        return [np.zeros(1, np.intp) if variables.has_scores[k] else np.flatnonzero(occurs[k]) for k in (s, t)]

    @cached_property
    def _occurs(self) -> list[Mask]:
        return self.variables.split(self.counts > 0)


def _lagrange(points: FloatArray, at: FloatArray) -> FloatArray:
    """Return the shares of the values at some points in the value of the polynomial through them, a row per ``at``."""
    share = np.ones_like(points)
    for i, j in itertools.permutations(range(points.shape[1]), 2):
        share[:, i] *= (at - points[:, j]) / (points[:, i] - points[:, j])
    return share


def _steps(column: str, scores: FloatArray) -> Bytes:
    """Return the scores as whole numbers of equal steps from the smallest."""
    found = _known_steps((scores - scores.min()).tobytes())
    if found is None:
        rule = f"must be multiples of one step, at most {MOST_STEPS} of them, for column {column}"
        raise ArgumentError("scores", rule, scores.tolist(), "Round them.")
    return found


@lru_cache(maxsize=1000)  # resamples, folds and imputations have the same scores
def _known_steps(above: bytes) -> Bytes | None:
    found = whole_steps(np.frombuffer(above), 0.0)
    return None if found is None else read_only(found[0].astype(np.uint8))
