"""What of a table can be estimated: rows with weight and columns that vary; and the way back to the whole table."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass._core import Problem, max_features, path_bytes
from isinglass.arrays import Bytes, FloatArray, Mask, read_only
from isinglass.data import AnyTable, PartedTable, category_counts
from isinglass.data.backends import RARE
from isinglass.data.counts import n_occurring, varying_among
from isinglass.data.parts import cut_into_parts
from isinglass.data.rules import MOST_STEPS, whole_steps
from isinglass.data.weights import check_sample_weight
from isinglass.errors import (
    ArgumentError,
    ConstantColumnWarning,
    DataWarning,
    LimitError,
    SeparationError,
    listed,
    setting,
    warn,
)
from isinglass.machine import available_memory, memory_for
from isinglass.network import Network
from isinglass.penalties import NEGLIGIBLE, smoothed_field
from isinglass.results import Solution
from isinglass.separation import find_separation
from isinglass.solve.seam import PartedRows
from isinglass.variables import Variables

if TYPE_CHECKING:
    from isinglass._core._native import State

LARGE = 500_000_000  # cells from which a table is worked on in parts, which takes 2 bytes per cell instead of 20
CELLS_THAT_FIT = 10_000_000  # cells up to which the free memory is not checked
SPARSE_COLUMNS = 1000  # columns from which on a table with few ones is worked on in parts too, as lists of ones
CELLS_OF_A_PART = 50_000_000
DETERMINED = 12.0  # log odds from one end of a covariate to the other from which it is said to determine a variable
_PER_COEFFICIENT = 130  # bytes, for either column of a pair
_PER_PAIR_OF_CATEGORIES, _PER_CELL = 4, 24  # bytes that every table of categories takes; measured


@dataclass(frozen=True)
class Reduction:
    """A table without its constant columns and without its rows of weight zero."""

    table: AnyTable  # the rows with weight and the columns that vary
    variables: Variables  # of all columns
    columns: NDArray[np.intp]  # where the varying columns are among these
    counts: FloatArray  # weight of every category of all columns
    n_rows: float  # sum of the weights

    @classmethod
    def of(cls, table: AnyTable, *, quiet: bool = False, parts: bool = False) -> Reduction:
        """Leave out what cannot be estimated; name constant columns in one warning, unless ``quiet``.

        ``parts``: whether the caller can work on a table in parts, which a large table is made into.
        """
        table, variables = table.without_holes(), table.variables
        if variables.n_features > max_features:
            raise LimitError(f"{setting('X')} must have at most {max_features} columns; got {variables.n_features}.")
        if not parts:
            table = table.whole()
        elif (
            table.is_whole
            and variables.is_binary
            and _is_large(table.shape, lambda: int(np.count_nonzero(table.codes)))
        ):
            table = cut_into_parts(table.codes, table.sample_weight, CELLS_OF_A_PART)
        n_rows = table.total_weight
        table = without_negligible(table)
        counts = category_counts(table)
        varies = varying_among(counts, variables)
        columns = varies.nonzero()[0]
        if len(columns) < len(varies):
            table = table.take(columns)
        reduction = cls(table, variables, columns, counts, n_rows)
        if not variables.is_binary:
            reduction.points  # noqa: B018 - scores that the solver does not take are refused before the warning
        if not quiet:
            warn_constant(variables, counts)
        return reduction

    @property
    def n_features(self) -> int:
        """Number of all columns, constant ones included."""
        return self.variables.n_features

    @cached_property
    def shares(self) -> FloatArray:
        """Share of every category of all columns."""
        return self.counts / np.add.reduceat(self.counts, self.variables.starts)[self.variables.column]

    @cached_property
    def means(self) -> FloatArray:
        """Mean score of every column; 0 if it is nominal."""
        sums = np.add.reduceat(self.shares * self.variables.factor, self.variables.starts)
        return np.where(self.variables.has_scores, sums, 0.0)

    @property
    def alpha_of_one_row(self) -> float:
        """The penalty that one row weighs as much as; with weights, one of the rows that these stand for."""
        return 1.0 / max(self.table.counted(quiet=True).total_weight, 1.0)

    # ------------------------------------------------------------------------------------------------ to the solver

    @cached_property
    def points(self) -> tuple[Bytes, Bytes]:
        """Of the columns that vary, with categories: scores in equal steps or category numbers; and the largest step.

        The largest step is 0 for a column without scores.
        """
        points = self.table.codes.copy()
        ranges = np.zeros(len(self.columns), dtype=np.uint8)
        for k, s in enumerate(self.columns.tolist()):
            score = self.variables.score(s)
            if score is not None and len(score) == 2 and score[0] < score[1]:
                ranges[k] = 1
            elif score is not None:
                steps = _steps(s, score)
                points[:, k], ranges[k] = steps[points[:, k]], steps.max()
        return points, ranges

    @property
    def modelled(self) -> Bytes | None:
        """Which of the columns that vary are modelled; None: all of them."""
        return self.variables.is_modelled[self.columns].astype(np.uint8) if self.variables.has_covariates else None

    def problem(
        self, penalty: FloatArray | None, standardized: bool, n_threads: int, relative: FloatArray | None = None
    ) -> Problem:
        """Return the compiled problem: over rows here, of two values or of categories, or over a table in parts.

        ``relative``: with categories, the ranges of the columns in the unit of their product.
        """
        if relative is not None:
            points, ranges = self.points
            p = len(ranges)
            sizes = np.where(ranges == 0, self.variables.sizes[self.columns], 1)
            _refuse_size(len(points), sizes)
            rows = len(points) * int(sizes.max(initial=1))
            needed = path_bytes(rows, p, p * (p - 1) // 2) + _PER_COEFFICIENT * int(sizes.sum()) ** 2
            given = points, self.table.sample_weight, penalty, standardized, n_threads
            return Problem(*given, memory_for(needed), ranges, relative, self.modelled)
        if not self.table.is_whole and len(self.columns):
            _check_pairs(self.table.shape[1])
            parts = PartedRows(self.table, self.table.total_weight, n_threads)
            return Problem(parts, penalty, standardized, n_threads)
        # Parts have no rows without a column.
        codes = self.table.codes if self.table.is_whole else np.empty((1, 0), dtype=np.uint8)
        n_rows, p = codes.shape
        most = memory_for(path_bytes(n_rows, p, p * (p - 1) // 2))
        return Problem(codes, self.table.sample_weight, penalty, standardized, n_threads, most)

    # ---------------------------------------------------------------------------------------------------- and back

    def network(self, state: State) -> Network:
        """Return the network of all columns, given the solution for the varying ones."""
        variables, values = self.variables, state.values
        if variables.is_binary:
            if len(state.fields) == self.n_features:
                return Network.trusted(variables, state.fields, state.edges, values)
            fields = self.constant_fields.copy()
            fields[self.columns] = state.fields
            return Network.trusted(variables, fields, self.columns[state.edges].astype(np.int32), values)
        edges = self.columns[state.edges].astype(np.int32).reshape(-1, 2)
        parameters = self.parameters(edges, values)
        s, t = edges.T
        centers = self.centers(np.r_[s, t], np.r_[t, s], np.r_[edges, edges], np.r_[parameters, parameters])
        fields = self.fields(state.category_fields, centers)
        return Network.trusted(variables, fields, edges, variables.block_values(edges, parameters), parameters)

    @cached_property
    def constant_fields(self) -> FloatArray:
        """Smoothed fields of two-valued columns that are constant; 0 elsewhere."""
        fields, ones = np.zeros(self.n_features), self.counts[1::2]
        constant = np.ones(self.n_features, dtype=bool)
        constant[self.columns] = False
        fields[constant] = smoothed_field(np.where(ones[constant] > 0, self.n_rows, 0.0), self.n_rows)
        return fields

    def point(self, network: Network) -> tuple[NDArray[np.int32], FloatArray, FloatArray]:
        """Return the edges of a network between columns that vary, in the solver's numbers, and the fields."""
        place = np.full(self.n_features, -1, dtype=np.int32)
        place[self.columns] = np.arange(len(self.columns))
        edges = place[network.pairs].reshape(-1, 2)
        kept = (edges >= 0).all(axis=1)
        variables, pairs = self.variables, network.pairs[kept]
        if variables.is_binary:
            return edges[kept], network.pair_values[kept], network.fields[self.columns]
        fields = np.zeros(len(self.columns))  # the solver finds those of categories
        is_single, sizes = variables.has_sign(pairs), self._widths[pairs].prod(axis=1)
        every = variables.block_sizes(network.pairs)
        first, place = (np.cumsum(every) - every)[kept], np.cumsum(sizes) - sizes
        values = np.empty(int(sizes.sum()))
        single = network.pair_parameters[first[is_single]]
        values[place[is_single]] = single * variables.ranges[pairs[is_single]].prod(axis=1)
        for k in np.flatnonzero(~is_single).tolist():
            s, t = pairs[k].tolist()
            shape = variables.block_shape(s, t)
            block = network.pair_parameters[first[k] : first[k] + math.prod(shape)].reshape(shape)
            values[place[k] : place[k] + sizes[k]] = self._table(s, t, block).ravel()
        return edges[kept], values, fields

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
        varies = np.zeros(self.n_features, dtype=bool)
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

    # ------------------------------------------------------------------------------------------ optima at infinity

    @property
    def log_spread(self) -> float:
        """Logarithm of the largest over the smallest weight."""
        least, most = self.table.weight_range
        return float(np.log(most / least))

    def refuse_separation(self, pairs: NDArray[np.int32]) -> None:
        """Raise if the optimum with these pairs of varying columns unpenalized lies at infinity."""
        if len(pairs) == 0:
            return
        if not self.table.is_whole and math.prod(self.table.shape) > LARGE:
            raise LimitError(
                f"every pair must be penalized in a table of more than {LARGE} cells; got one without penalty. "
                "Pass alphas above 0 and penalty weights above 0."
            )
        found = find_separation(self.table.distinct_rows(), pairs)
        if found is not None:
            s, t = (int(self.columns[node]) for node in found)
            raise SeparationError(
                f"the unpenalized optimum must be finite; columns {s} and {t} separate the table, so their "
                f"coupling grows without bound. Penalize that pair: alpha > 0 and a penalty weight > 0."
            )


def _lagrange(points: FloatArray, at: FloatArray) -> FloatArray:
    """Return the shares of the values at some points in the value of the polynomial through them, a row per ``at``."""
    share = np.ones_like(points)
    for i, j in itertools.permutations(range(points.shape[1]), 2):
        share[:, i] *= (at - points[:, j]) / (points[:, i] - points[:, j])
    return share


def _steps(column: int, scores: FloatArray) -> Bytes:
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


def _refuse_size(n_rows: int, sizes: NDArray[np.intp]) -> None:
    """Refuse a table whose moments alone, of all pairs of categories, would not fit into memory."""
    numbers = int(sizes.sum())
    needed = (_PER_PAIR_OF_CATEGORIES * numbers + _PER_CELL * n_rows) * numbers
    if needed > (free := memory_for(needed)):
        raise LimitError(
            f"A joint fit of {len(sizes)} columns with {numbers} categories in all needs about {needed / 1e9:.3g} GB "
            f"before the first edge, and {free / 1e9:.3g} GB are free. Fit node by node (nodewise_path), which takes "
            "one column at a time, merge rare categories, or leave columns out."
        )


def _check_pairs(p: int) -> None:
    """Refuse a table in parts whose pairs do not fit: their gradients are here, once as they come and once added up."""
    needed = 2 * path_bytes(1, p, 0)
    free = memory_for(needed)
    if needed > free:
        raise LimitError(
            f"The gradients of {p * (p - 1) // 2} pairs need about {needed / 1e9:.3g} GB of memory, "
            f"and {free / 1e9:.3g} GB are free. Use fewer columns, or a computer with more memory."
        )


def split_sparse(X: object, sample_weight: ArrayLike | None) -> PartedTable | None:
    """Return a large sparse matrix as a table in parts, never dense as a whole; None if it is something else."""
    if not (hasattr(X, "tocsr") and hasattr(X, "nnz") and hasattr(X, "shape") and _is_large(X.shape, lambda: X.nnz)):
        return None
    return cut_into_parts(X.tocsr(), check_sample_weight(sample_weight, X.shape[0]), CELLS_OF_A_PART)


def _is_large(shape: tuple[int, int], count_ones: Callable[[], int]) -> bool:
    """Tell whether a table is better worked on in parts: it is large, memory has no room for it, or ones are rare."""
    (n_rows, n_features), size = shape, math.prod(shape)
    if size <= CELLS_THAT_FIT:
        return False
    if size > LARGE or path_bytes(n_rows, n_features, 0) > available_memory():
        return True
    return n_features >= SPARSE_COLUMNS and count_ones() < RARE * size


def without_negligible(table: AnyTable) -> AnyTable:
    """Leave out rows whose weight cannot matter."""
    return table.above(NEGLIGIBLE * table.weight_range[1])


def as_solution(network: Network, state: State, problem: Problem, alpha: float, tol: float) -> Solution:
    """Return a network with the certificate of the state that it was made of."""
    p = network.n_features
    gap_tol = tol * max(problem.null_objective, 1e-12)
    return Solution(
        network,
        alpha=alpha,
        objective=state.objective,
        kkt_residual=state.kkt_residual,
        duality_gap=state.duality_gap,
        certified_zeros=state.certified_zeros,
        n_iter=state.n_iter,
        n_screened=p * (p - 1) // 2 - state.n_working,
        converged=state.kkt_residual <= tol and state.duality_gap <= gap_tol,
    )


def warn_constant(variables: Variables, counts: FloatArray) -> None:
    """Name the columns with one category in one warning, given the weight of every category."""
    constant = np.flatnonzero(~varying_among(counts, variables)).tolist()
    if not constant:
        return
    ends = variables.starts + variables.sizes
    first = [(s, int(counts[variables.starts[s] : ends[s]].argmax())) for s in constant]
    shown = listed([f"{variables.called(s)} (always {_value(variables.categories[s][k], k)})" for s, k in first])
    one = len(constant) == 1
    what = f"column {shown} is constant: it gets" if one else f"columns {shown} are constant: they get"
    warn(ConstantColumnWarning(f"{what} no edges."))


def _value(value: object, code: int) -> str:
    return str(value if isinstance(value, str | int | float) else code)


def name_constant(table: AnyTable) -> None:
    """Name constant columns in one warning."""
    warn_constant(table.variables, category_counts(without_negligible(table)))


def warn_determined(network: Network) -> None:
    """Name covariates that almost determine variables, one warning each: only the ridge keeps such couplings finite."""
    if network.adjustment is None:
        return
    variables, index = network.variables, network.adjustment.edge_index
    reach = np.abs(network.adjustment.edge_values) * variables.ranges[index].prod(axis=1)
    determined: dict[int, list[int]] = {}
    for s, t in index[reach > DETERMINED].tolist():
        given, other = (s, t) if variables.covariate[s] else (t, s)
        determined.setdefault(given, []).append(other)
    for given, others in determined.items():
        shown = listed([variables.called(other) for other in others])
        remedy = "Leave one of them out, or merge rare categories."
        if len(others) > 1:
            remedy = (
                "If it was computed from these columns, such as their sum, compute it from others, or leave it out."
            )
        what = f"column {shown}" if len(others) == 1 else f"columns {shown}"
        finite = "only a ridge of 1e-9 keeps the coupling finite"
        warn(DataWarning(f"the covariate {variables.called(given)} almost determines {what}: {finite}. {remedy}"))


def refuse_free(name: str) -> ArgumentError:
    """Return the error of a path that ends without a penalty."""
    remedy = (
        "Use a small value; penalty weights of 0 leave single pairs free, and refit estimates the edges of a network "
        "without a penalty."
    )
    return ArgumentError(name, "must be positive where columns have categories", 0.0, remedy)
