"""Tables of ordered categories made ready for the solver: scores on a line, in steps of one byte."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass._core import Problem, max_features
from isinglass.categories import CategoryNetwork
from isinglass.data import CategoryTable, check_penalty_weights, check_sample_weight
from isinglass.errors import ArgumentError, DataError, LimitError, setting
from isinglass.names import check_names
from isinglass.objective.reduced import NEGLIGIBLE
from isinglass.pairs import symmetric_matrix
from isinglass.results import Solution
from isinglass.solve.estimable import as_solution, warn_constant
from isinglass.threads import thread_count

if TYPE_CHECKING:
    from isinglass._core._native import State

__all__ = ["OrdinalCase"]

FloatArray = NDArray[np.float64]

MOST_STEPS = 255
_CLOSE = 1e-9  # of a whole number of steps


def _points(table: CategoryTable) -> tuple[FloatArray, ...]:
    """Return the scores of every column, all of which must have some."""
    for s, score in enumerate(table.scores):
        if score is None:
            raise DataError(
                f"column {s} is nominal with {len(table.categories[s])} categories; columns without an order must have "
                "two categories so far. Declare it as ordinal, or turn it into columns of 0 and 1."
            )
    return tuple(score for score in table.scores if score is not None)


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
class OrdinalCase:
    """A table made ready: the compiled problem on the columns that vary, and the way back."""

    problem: Problem
    scores: tuple[FloatArray, ...]
    shares: tuple[FloatArray, ...]  # weight of every category
    columns: NDArray[np.intp]  # those that vary
    widths: FloatArray  # of all columns: largest minus smallest score
    n_rows: float
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    categories: tuple[tuple[Any, ...], ...]

    @classmethod
    def prepare(
        cls,
        table: CategoryTable,
        sample_weight: ArrayLike | None,
        penalty_weights: ArrayLike | str | None,
        n_threads: int | None,
    ) -> OrdinalCase:
        """Compile the columns that vary; name the others in one warning."""
        if table.shape[1] > max_features:
            raise LimitError(f"{setting('X')} must have at most {max_features} columns; got {table.shape[1]}.")
        scores = _points(table)
        weight = check_sample_weight(sample_weight, len(table.codes))
        if weight is not None:
            weight = np.where(weight > NEGLIGIBLE * weight.max(), weight, 0.0)
        raw = np.ones(len(table.codes)) if weight is None else weight
        n_rows = float(raw.sum())
        shares = tuple(np.bincount(table.codes[:, s], raw, len(score)) / n_rows for s, score in enumerate(scores))
        varies = np.array([np.count_nonzero(share) > 1 for share in shares])
        columns, widths = np.flatnonzero(varies), np.array([np.ptp(score) for score in scores])
        names = check_names(table.names, len(varies))
        steps = [_steps(int(s), scores[s]) for s in columns]
        if not varies.all():
            warn_constant(np.flatnonzero(~varies), [int(share.argmax()) for share in shares], names)
        penalty = check_penalty_weights(penalty_weights, len(varies))
        matrix = None
        if isinstance(penalty, np.ndarray):
            if (penalty[~np.eye(len(penalty), dtype=bool)] == 0).any():
                raise ArgumentError("penalty_weights", "must be positive where columns have categories", 0.0)
            inside = np.ix_(columns, columns)
            matrix = np.ascontiguousarray(penalty[inside] / np.multiply.outer(widths, widths)[inside])
        problem = Problem(
            np.column_stack([step[table.codes[:, s]] for step, s in zip(steps, columns, strict=True)])
            if len(columns)
            else np.zeros((len(table.codes), 0), dtype=np.uint8),
            weight,
            np.array([step.max() for step in steps], dtype=np.uint8),
            widths[columns],
            matrix,
            isinstance(penalty, str),
            thread_count(n_threads),
        )
        return cls(problem, scores, shares, columns, widths, n_rows, names, table.kinds, table.categories)

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
        values = state.values / (self.widths[edges[:, 0]] * self.widths[edges[:, 1]])
        p = len(self.scores)
        means = np.array([share @ score for share, score in zip(self.shares, self.scores, strict=True)])
        fields = self._fields(state.category_fields, symmetric_matrix(edges, values, p) @ means)
        known = {"kinds": self.kinds, "categories": self.categories}
        network = CategoryNetwork(fields, self.scores, edges, values, self.names, **known)
        return as_solution(network, state, self.problem, tol)

    def _fields(self, solved: FloatArray, centers: FloatArray) -> list[FloatArray]:
        """Return every field. The solver's belong to centered scores, of the categories that occur, in their order.

        A category that does not occur gets half a row.
        """
        fields, first = [], 0
        varying = set(self.columns.tolist())
        for s, (score, share) in enumerate(zip(self.scores, self.shares, strict=True)):
            seen = np.flatnonzero(share)
            field = np.log(np.maximum(share, 0.5 / self.n_rows))
            if s in varying:
                order = seen[np.argsort(score[seen])]
                field += solved[first] - field[order[0]]
                field[order] = solved[first : first + len(order)]
                first += len(order)
            field -= score * centers[s]
            fields.append(field - field[0])
        return fields
