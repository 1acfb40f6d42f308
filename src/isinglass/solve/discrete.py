"""Tables of categories made ready for the solver: scores on a line in steps of one byte, or category numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass._core import Problem, max_features, path_bytes
from isinglass.categories import CategoryNetwork
from isinglass.data import CategoryTable, check_penalty_weights, check_sample_weight
from isinglass.data.category_table import MOST_STEPS
from isinglass.errors import ArgumentError, LimitError, setting
from isinglass.memory import memory_for, within_memory
from isinglass.names import check_names
from isinglass.objective.reduced import NEGLIGIBLE
from isinglass.pairs import symmetric_matrix
from isinglass.results import Solution
from isinglass.solve.estimable import as_solution, warn_constant
from isinglass.threads import thread_count

if TYPE_CHECKING:
    from isinglass._core._native import State

__all__ = ["DiscreteCase"]

FloatArray = NDArray[np.float64]

_CLOSE = 1e-9  # of a whole number of steps
_PER_COEFFICIENT = 130  # bytes, for either column of a pair


def _steps(column: int, scores: FloatArray) -> NDArray[np.uint8]:
    """Return the scores as whole numbers of equal steps from the smallest."""
    above = scores - scores.min()
    smallest = above[above > 0].min()
    for parts in range(1, MOST_STEPS + 1):
        steps = above / (smallest / parts)
        if steps.max() > MOST_STEPS + 0.5:
            break
        if np.abs(steps - steps.round()).max() <= _CLOSE * steps.max():
            whole: NDArray[np.uint8] = steps.round().astype(np.uint8)
            return whole
    raise ArgumentError(
        "scores",
        f"must be multiples of one step, at most {MOST_STEPS} of them, for column {column}",
        scores.tolist(),
        "Round them.",
    )


@dataclass(frozen=True)
class DiscreteCase:
    """A table made ready: the compiled problem on the columns that vary, and the way back."""

    problem: Problem
    table: CategoryTable
    shares: tuple[FloatArray, ...]  # weight of every category
    columns: NDArray[np.intp]  # those that vary
    widths: FloatArray  # of all columns: largest distance of two scores
    n_rows: float
    names: tuple[str, ...]

    @classmethod
    def prepare(
        cls,
        table: CategoryTable,
        sample_weight: ArrayLike | None,
        penalty_weights: ArrayLike | str | None,
        n_threads: int | None,
    ) -> DiscreteCase:
        """Compile the columns that vary; name the others in one warning."""
        if table.shape[1] > max_features:
            raise LimitError(f"{setting('X')} must have at most {max_features} columns; got {table.shape[1]}.")
        weight = check_sample_weight(sample_weight, len(table.codes))
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
        ranges = np.zeros(len(columns), dtype=np.uint8)  # 0: without an order
        for k, s in enumerate(columns.tolist()):
            score, points[:, k] = table.scores[s], table.codes[:, s]
            if score is not None:
                steps = _steps(s, score)
                points[:, k], ranges[k] = steps[points[:, k]], steps.max()
        if not varies.all():
            always = [known[int(share.argmax())] for known, share in zip(table.categories, shares, strict=True)]
            warn_constant(np.flatnonzero(~varies), always, names)
        penalty = check_penalty_weights(penalty_weights, len(varies))
        with within_memory():
            problem = Problem(
                points,
                weight,
                ranges,
                widths[columns],
                _scaled(penalty, columns, widths),
                isinstance(penalty, str),
                thread_count(n_threads),
                memory_for(_most_bytes(len(points), np.where(ranges == 0, table.n_categories[columns], 1))),
            )
        return cls(problem, table, shares, columns, widths, n_rows, names)

    def fit_null(self, tol: float, max_iter: int) -> float:
        """Return the smallest alpha without edges."""
        return self.problem.alpha_max()

    def check(self, grid: FloatArray) -> None:
        """Refuse alphas that this problem has no solver for."""
        if grid[-1] == 0.0:
            raise ArgumentError("alphas", "must be positive where columns have categories", 0.0)

    def solution(self, state: State, tol: float) -> Solution:
        """Put the solution of the varying columns back into the whole table, for scores as they were given."""
        edges = self.columns[state.edges].astype(np.int32).reshape(-1, 2)
        known: dict[str, Any] = {"kinds": self.table.kinds, "categories": self.table.categories}
        values = None
        if any(score is None for score in self.table.scores):
            known["blocks"] = self._blocks(edges, state.values)
            centers = self._centers(edges, known["blocks"])
        else:  # one number per pair: no tables, which would take as long as a small fit
            values = state.values / self.widths[edges].prod(axis=1)
            pairs = zip(self.shares, self.table.scores, strict=True)
            means = [float(share @ score) for share, score in pairs if score is not None]
            centers = list(symmetric_matrix(edges, values, len(means)) @ np.array(means))
        fields = self._fields(state.category_fields, centers)
        network = CategoryNetwork(fields, self.table.scores, edges, values, self.names, **known)
        return as_solution(network, state, self.problem, tol)

    def _blocks(self, edges: NDArray[np.int32], values: FloatArray) -> list[FloatArray]:
        """Return B of every edge. The solver has one table after the other, of the categories that occur.

        A category that does not occur has zeros. Entries add up to zero over a nominal side; the solver's do to
        rounding.
        """
        scores, blocks, first = self.table.scores, [], 0
        for pair in edges.tolist():
            sides = [np.flatnonzero(self.shares[s]) if scores[s] is None else np.zeros(1, dtype=np.intp) for s in pair]
            table = values[first : first + len(sides[0]) * len(sides[1])].reshape(len(sides[0]), len(sides[1]))
            first += table.size
            for axis, s in enumerate(pair):
                if scores[s] is None:
                    table = (table - table.mean(axis=axis, keepdims=True)) * np.sqrt(0.5)
            block = np.zeros([len(self.shares[s]) if scores[s] is None else 1 for s in pair])
            block[np.ix_(*sides)] = table / self.widths[pair].prod()
            blocks.append(block)
        return blocks

    def _centers(self, edges: NDArray[np.int32], blocks: list[FloatArray]) -> list[FloatArray]:
        """Return what the mean scores of a column's neighbors add to its predictor."""
        scores = self.table.scores
        means = [0.0 if score is None else share @ score for share, score in zip(self.shares, scores, strict=True)]
        centers = [
            np.zeros(len(share) if score is None else 1) for share, score in zip(self.shares, scores, strict=True)
        ]
        for (s, t), block in zip(edges.tolist(), blocks, strict=True):
            if scores[t] is not None:
                centers[s] += block[:, 0] * means[t]
            if scores[s] is not None:
                centers[t] += block[0] * means[s]
        return centers

    def _fields(self, solved: FloatArray, centers: list[FloatArray]) -> list[FloatArray]:
        """Return every field. The solver's belong to centered scores, of the categories that occur, in their order.

        A category that does not occur gets half a row.
        """
        fields, first = [], 0
        varying = set(self.columns.tolist())
        for s, (score, share) in enumerate(zip(self.table.scores, self.shares, strict=True)):
            seen = np.flatnonzero(share)
            field = np.log(np.maximum(share, 0.5 / self.n_rows))
            if s in varying:
                order = seen if score is None else seen[np.argsort(score[seen])]
                field += solved[first] - field[order[0]]
                field[order] = solved[first : first + len(order)]
                first += len(order)
            field -= centers[s] if score is None else score * centers[s]
            fields.append(field - field[0])
        return fields


def _scaled(penalty: FloatArray | str | None, columns: NDArray[np.intp], widths: FloatArray) -> FloatArray | None:
    """Return given penalty weights for scores that are scaled to a range of 1."""
    if not isinstance(penalty, np.ndarray):
        return None
    if (penalty[~np.eye(len(penalty), dtype=bool)] == 0).any():
        raise ArgumentError("penalty_weights", "must be positive where columns have categories", 0.0)
    inside = np.ix_(columns, columns)
    return np.ascontiguousarray(penalty[inside] / np.multiply.outer(widths, widths)[inside])


def _most_bytes(n_rows: int, sizes: NDArray[np.intp]) -> int:
    """Return what a network of all pairs would take."""
    p, numbers = len(sizes), int(sizes.sum())
    return path_bytes(n_rows * int(sizes.max(initial=1)), p, p * (p - 1) // 2) + _PER_COEFFICIENT * numbers**2
