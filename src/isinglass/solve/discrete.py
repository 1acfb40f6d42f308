"""Tables of categories made ready for the solver: scores on a line in steps of one byte, or category numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass._core import Problem, max_features, path_bytes
from isinglass.arrays import Bytes, FloatArray, Mask, read_only
from isinglass.data import CategoryTable, check_penalty_weights
from isinglass.data.levels import MOST_STEPS, whole_steps
from isinglass.errors import ArgumentError, LimitError, setting
from isinglass.machine import memory_for, thread_count, within_memory
from isinglass.names import check_names
from isinglass.network import Network
from isinglass.objective.reduced import NEGLIGIBLE, Penalty, refuse_vanishing
from isinglass.results import Solution
from isinglass.solve.estimable import as_solution, warn_constant
from isinglass.variables import Variables

if TYPE_CHECKING:
    from isinglass._core._native import State

_PER_COEFFICIENT = 130  # bytes, for either column of a pair
_PER_PAIR_OF_CATEGORIES, _PER_CELL = 4, 24  # bytes that every table takes; measured


def refuse_free(name: str) -> ArgumentError:
    """Return the error of a pair without a penalty: of such an optimum nobody could tell how far away it is."""
    remedy = "Use a small value; refit estimates the edges of a network without a penalty."
    return ArgumentError(name, "must be positive where columns have categories", 0.0, remedy)


def _steps(column: int, scores: FloatArray) -> Bytes:
    """Return the scores as whole numbers of equal steps from the smallest."""
    found = whole_steps(scores - scores.min(), 0.0)
    if found is None:
        rule = f"must be multiples of one step, at most {MOST_STEPS} of them, for column {column}"
        raise ArgumentError("scores", rule, scores.tolist(), "Round them.")
    return found[0].astype(np.uint8)


@dataclass(frozen=True)
class Scaled:
    """A table as the solver takes it: the columns that vary, scores scaled to a range of 1; and the way back."""

    table: CategoryTable
    weight: FloatArray | None  # raw; 0 where it cannot matter
    shares: tuple[FloatArray, ...]  # weight of every category
    columns: NDArray[np.intp]  # those that vary
    widths: FloatArray  # of all columns: largest distance of two scores
    n_rows: float
    names: tuple[str, ...]
    points: Bytes  # of the columns that vary: scores in equal steps, or category numbers
    ranges: Bytes  # the largest step; 0: without an order

    @classmethod
    def of(cls, table: CategoryTable, weight: FloatArray | None, *, quiet: bool = False) -> Scaled:
        """Scale the columns that vary; name the others in one warning, unless ``quiet``."""
        if table.shape[1] > max_features:
            raise LimitError(f"{setting('X')} must have at most {max_features} columns; got {table.shape[1]}.")
        if weight is not None:
            weight = np.where(weight > NEGLIGIBLE * weight.max(), weight, 0.0)
        raw = np.ones(len(table.codes)) if weight is None else weight
        n_rows = float(raw.sum())
        shares = tuple(np.bincount(x, raw, q) / n_rows for x, q in zip(table.codes.T, table.n_categories, strict=True))
        varies = np.array([np.count_nonzero(share) > 1 for share in shares])
        columns = np.flatnonzero(varies)
        widths = np.array([1.0 if score is None else np.ptp(score) for score in table.scores])
        names = check_names(table.names, len(varies))
        points = np.empty((len(table.codes), len(columns)), dtype=np.uint8)
        ranges = np.zeros(len(columns), dtype=np.uint8)
        for k, s in enumerate(columns.tolist()):
            score, points[:, k] = table.scores[s], table.codes[:, s]
            if score is not None:
                steps = _steps(s, score)
                points[:, k], ranges[k] = steps[points[:, k]], steps.max()
        if not varies.all() and not quiet:
            always = [known[int(share.argmax())] for known, share in zip(table.categories, shares, strict=True)]
            warn_constant(np.flatnonzero(~varies), always, names)
        return cls(table, weight, shares, columns, widths, n_rows, names, points, ranges)

    @cached_property
    def variables(self) -> Variables:
        """What the columns are."""
        return self.table.variables

    @property
    def on_line(self) -> Mask:
        """Which columns have scores."""
        return self.variables.has_scores

    @cached_property
    def means(self) -> FloatArray:
        """Mean score of every column; 0 if it is nominal."""
        pairs = zip(self.shares, self.table.scores, strict=True)
        return np.array([0.0 if score is None else float(share @ score) for share, score in pairs])

    @cached_property
    def _layout(self) -> _Layout:
        return _Layout.of(self)

    @cached_property
    def _seen(self) -> NDArray[np.intp]:
        """Number of categories that occur, of every column."""
        return np.array([np.count_nonzero(share) for share in self.shares])

    def fields(self, solved: ArrayLike, centers: Sequence[FloatArray] | FloatArray | None) -> FloatArray:
        """Return the field of every category but the first of its column.

        The solver's belong to centered scores, of the categories that occur, in their order.
        A category that does not occur gets half a row. ``centers``: what the neighbors' mean scores add to the
        predictor of every column; for a nominal one, of every category.
        """
        layout, points = self._layout, self.variables
        fields = layout.logs.copy()
        if len(layout.places) == len(np.asarray(solved)):
            fields[layout.places] = solved
        fields += np.where(layout.is_solved, 0.0, (fields - layout.logs)[layout.firsts])
        if isinstance(centers, np.ndarray):
            fields -= points.factor * centers[points.column]
        elif centers is not None:
            sizes = zip(centers, self.shares, strict=True)
            fields -= points.factor * np.concatenate([np.broadcast_to(center, len(share)) for center, share in sizes])
        fields -= fields[points.starts][points.column]
        return fields[points.is_later]

    def centers(
        self, nodes: Sequence[int], neighbors: Sequence[int], blocks: Iterable[FloatArray], rows: Sequence[int], n: int
    ) -> list[FloatArray]:
        """Return what neighbors' mean scores add to the predictor of every column, in n rows; blocks name theirs."""
        sizes = zip(self.on_line, self.shares, strict=True)
        centers = [np.zeros((n, 1 if line else len(share))) for line, share in sizes]
        for s, t, block, k in zip(nodes, neighbors, blocks, rows, strict=True):
            if self.on_line[t]:
                centers[s][k] += (block[:, 0] if s < t else block[0]) * self.means[t]
        return centers

    def block(self, s: int, t: int, values: FloatArray) -> FloatArray:
        """Return B of a pair s < t. The solver has a table of the categories that occur.

        A category that does not occur has zeros. Entries add up to zero over a nominal side; the solver's do to
        rounding.
        """
        scores = self.table.scores
        sides = [np.flatnonzero(self.shares[k]) if scores[k] is None else np.zeros(1, dtype=np.intp) for k in (s, t)]
        table = values.reshape(len(sides[0]), len(sides[1]))
        for axis, k in enumerate((s, t)):
            if scores[k] is None:
                table = (table - table.mean(axis=axis, keepdims=True)) * np.sqrt(0.5)
        block = np.zeros([len(self.shares[k]) if scores[k] is None else 1 for k in (s, t)])
        block[np.ix_(*sides)] = table / (self.widths[s] * self.widths[t])
        return block

    def blocks(self, edges: NDArray[np.integer[Any]], values: FloatArray) -> list[FloatArray]:
        """Return B of every pair s < t, given the solver's numbers, pair after pair."""
        if self.on_line.all():  # no loop over pairs, which would take as long as a small fit
            return list(read_only((values / self.widths[edges].prod(axis=1)).reshape(-1, 1, 1)))
        sizes = np.where(self.on_line, 1, self._seen)[edges].prod(axis=1)  # what the solver has for every pair
        parts = np.split(values, np.cumsum(sizes)[:-1])
        return [read_only(self.block(s, t, part)) for (s, t), part in zip(edges.tolist(), parts, strict=False)]

    @cached_property
    def dimensions(self) -> NDArray[np.intp]:
        """Number m of every column: 1 on a line, else the categories that occur less one."""
        return np.asarray(np.where(self.on_line, 1, np.maximum(self._seen - 1, 1)))

    def spread(self) -> FloatArray:
        """Return the standard deviation of every column's points."""
        squares = [
            share[1:] @ np.cumsum(share)[:-1] if score is None else share @ (score - share @ score) ** 2
            for share, score in zip(self.shares, self.table.scores, strict=True)
        ]
        return np.sqrt(squares)


@dataclass(frozen=True)
class _Layout:
    """What fields are made of, category after category of all columns."""

    logs: FloatArray  # logarithms of shares; half a row for a category that does not occur
    places: NDArray[np.intp]  # where the solver's fields belong
    is_solved: Mask  # which are among these
    firsts: NDArray[np.intp]  # the first category that the solver has of its column

    @classmethod
    def of(cls, scaled: Scaled) -> _Layout:
        scores, lengths = scaled.table.scores, [len(share) for share in scaled.shares]
        orders = []
        for start, score, share in zip(scaled.variables.starts, scores, scaled.shares, strict=True):
            seen = np.flatnonzero(share)
            orders.append(start + (seen if score is None else seen[np.argsort(score[seen])]))
        places = np.concatenate([*(orders[s] for s in scaled.columns.tolist()), np.empty(0, dtype=np.intp)])
        is_solved = np.zeros(sum(lengths), dtype=bool)
        is_solved[places.astype(np.intp)] = True
        logs = np.log(np.maximum(np.concatenate(scaled.shares), 0.5 / scaled.n_rows))
        return cls(logs, places.astype(np.intp), is_solved, np.repeat([order[0] for order in orders], lengths))


@dataclass(frozen=True)
class DiscreteCase:
    """A table made ready: the compiled problem on the columns that vary, and the way back."""

    cell_cost: ClassVar[int] = 10  # of what a cell of 0 and 1 costs, about
    problem: Problem
    scaled: Scaled
    unit: float  # what alpha is divided by, and penalty weights multiplied: iterations do not depend on units of scores
    least: float  # smallest penalty weight of a pair, in the solver's units

    @classmethod
    def prepare(
        cls, table: CategoryTable, weight: FloatArray | None, penalty_weights: Penalty, n_threads: int | None
    ) -> DiscreteCase:
        """Compile the columns that vary; name the others in one warning."""
        scaled = Scaled.of(table, weight)
        columns, widths = scaled.columns, scaled.widths
        penalty = check_penalty_weights(penalty_weights, len(widths))
        matrix = None
        widest = np.sort(widths[columns])[-2:]
        unit = float(widest.prod()) if len(widest) == 2 and not isinstance(penalty, str) else 1.0
        relative = widths[columns] / np.sqrt(unit)
        inverse = 1.0 / relative  # for scores that are scaled to a range of 1
        if isinstance(penalty, np.ndarray):
            if (penalty[~np.eye(len(penalty), dtype=bool)] == 0).any():
                raise refuse_free("penalty_weights")
            matrix = np.ascontiguousarray(penalty[np.ix_(columns, columns)] * inverse * inverse[:, None])
            least = matrix[~np.eye(len(matrix), dtype=bool)].min(initial=np.inf)
        else:
            each = inverse if penalty is None else scaled.spread()[columns] / widths[columns]
            lowest = np.partition(each, 1)[:2] if len(each) > 1 else np.full(2, np.inf)
            least = lowest.prod() if penalty is None else lowest.sum()
        sizes = np.where(scaled.ranges == 0, table.n_categories[columns], 1)
        _refuse_size(len(scaled.points), sizes)
        most = memory_for(_most_bytes(len(scaled.points), sizes))
        given, categories = (scaled.points, scaled.weight, matrix), (scaled.ranges, relative)
        with within_memory():
            problem = Problem(*given, isinstance(penalty, str), thread_count(n_threads), most, *categories)
        return cls(problem, scaled, unit, float(least))

    @property
    def alpha_at_zero(self) -> float:
        """The alpha of a path where no alpha gives an edge: the penalty of one row, because none must be zero."""
        return self.unit / len(self.scaled.points)

    def fit_null(self, tol: float, max_iter: int) -> float:
        """Return the smallest alpha without edges."""
        with within_memory():
            return self.problem.alpha_max() * self.unit

    def check(self, grid: FloatArray) -> None:
        """Refuse alphas that this problem has no solver for."""
        if grid[-1] == 0.0:
            raise refuse_free("alphas")
        refuse_vanishing(float(grid[-1]) / self.unit, np.array([self.least]))

    def solution(self, state: State, alpha: float, tol: float) -> Solution:
        """Put the solution of the varying columns back into the whole table, for scores as they were given."""
        scaled = self.scaled
        edges = scaled.columns[state.edges].astype(np.int32).reshape(-1, 2)
        if scaled.on_line.all():  # one number per pair: no tables, which would take as long as a small fit
            values = state.values / scaled.widths[edges].prod(axis=1)
            (s, t), means = edges.T, scaled.means
            added = [np.bincount(s, values * means[t], len(means)), np.bincount(t, values * means[s], len(means))]
            fields = scaled.fields(state.category_fields, np.asarray(added[0] + added[1], dtype=np.float64))
            parameters = values
        else:
            blocks = scaled.blocks(edges, state.values)
            parameters = np.concatenate([*(block.ravel() for block in blocks), np.empty(0)])
            values = scaled.variables.block_values(edges, parameters)
            both = edges.ravel().tolist(), edges[:, ::-1].ravel().tolist(), [block for block in blocks for _ in (0, 1)]
            centers = scaled.centers(*both, [0] * edges.size, 1)
            fields = scaled.fields(state.category_fields, [center[0] for center in centers])
        network = Network.trusted(scaled.variables, fields, edges, values, parameters)
        return as_solution(network, state, self.problem, alpha, tol)


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


def _most_bytes(n_rows: int, sizes: NDArray[np.intp]) -> int:
    """Return what a network of all pairs would take."""
    p, numbers = len(sizes), int(sizes.sum())
    return path_bytes(n_rows * int(sizes.max(initial=1)), p, p * (p - 1) // 2) + _PER_COEFFICIENT * numbers**2
