"""What the criteria share: the score of every row, checked options, and the warning at the ends of a grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import FloatArray
from isinglass.categories import CategoryNetwork
from isinglass.errors import DataError, GridEndWarning, setting, warn
from isinglass.results import Path, Solution

__all__ = ["check_width", "row_scores", "sum_scores", "warn_at_grid_end"]


CELLS_AT_ONCE = 4_000_000
"""Cells whose scores exist at a time: some 30 bytes each."""
FEW = 100
"""Columns up to which several networks are dense matrices one after the other."""


def row_scores(solution: Solution, table: Any, columns: NDArray[np.intp] | slice = slice(None)) -> FloatArray:
    """Return Σ_s log P(x_s | the rest) of every row, over all columns s or over those given.

    The table is one of bytes, or a CategoryTable where the network has categories.

    Examples
    --------
    >>> empty = Solution.from_dense(1.0, np.zeros((2, 2)), np.zeros(2))
    >>> row_scores(empty, np.array([[0, 1], [1, 1]], dtype=np.uint8)).round(6).tolist()  # 2 log ½
    [-1.386294, -1.386294]
    """
    scores = np.empty(len(table))
    network = solution.network
    if isinstance(network, CategoryNetwork):
        codes = network.read_codes(table)
        step = max(CELLS_AT_ONCE // len(network.points.column), 1)
        for first in range(0, len(codes), step):
            scores[first : first + step] = network.cell_scores(codes[first : first + step])[columns].sum(axis=0)
        return scores
    step = max(CELLS_AT_ONCE // table.shape[1], 1)
    for first in range(0, len(table), step):
        some = np.asarray(table[first : first + step]).T
        logits = solution.fields[:, None] + solution.couplings_sparse @ some.astype(np.float64)
        # log P(x_s | rest) = −log(1 + exp(∓η)); logaddexp has no overflow where exp(η) would.
        cells = np.logaddexp(0.0, (1.0 - 2.0 * some[columns]) * logits[columns])
        scores[first : first + step] = -cells.sum(axis=0)
    return scores


def path_scores(solutions: Sequence[Solution], table: Any) -> FloatArray:
    """Return `row_scores` of several networks of one table, a row for each.

    Where columns have categories all at once: a network of a small table has fewer cells than NumPy has to do before
    it begins.
    """
    networks = [solution.network for solution in solutions]
    lines = [network for network in networks if isinstance(network, CategoryNetwork) and network.points.on_line.all()]
    if not networks or len(lines) < len(networks) or len(lines[0].points.starts) > FEW:
        return np.array([row_scores(solution, table) for solution in solutions])
    codes, points = lines[0].read_codes(table), lines[0].points
    seen, p = points.seen(codes), len(points.starts)
    placed, scores = points.place(seen), np.empty((len(lines), len(codes)))
    step = max(CELLS_AT_ONCE // max(len(points.column) * len(codes), p * p), 1)
    for first in range(0, len(lines), step):
        some = lines[first : first + step]
        couplings = np.zeros((len(some), p, p))
        for matrix, network in zip(couplings, some, strict=True):
            s, t = network.edge_index.T
            matrix[s, t] = matrix[t, s] = network.edge_values
        fields = np.array([np.concatenate(network.category_fields) for network in some])
        logits = points.logits(fields, couplings @ placed)
        chosen = np.take_along_axis(logits, seen[None], axis=1)
        scores[first : first + step] = (chosen - points.log_sums(logits)).sum(axis=1)
    return scores


def sum_scores(table: Any, weight: FloatArray | None, solution: Solution, columns: NDArray[np.intp] | slice) -> float:
    """Return the sum of `row_scores` under the weights."""
    rows = row_scores(solution, table, columns)
    return float(rows.sum() if weight is None else weight @ rows)


def warn_at_grid_end(path: Path, index: int, criterion: str) -> None:
    """Warn if the best alpha may lie beyond the grid.

    The sparse end is no end if its network is empty: every larger alpha gives the same network. Neither is alpha = 0,
    nor the single value of a grid that leaves no choice.
    """
    chosen = path[index]
    if len(path) == 1:
        return
    if index == 0 and chosen.n_edges:
        end, remedy = "sparse", "larger"
    elif index == len(path) - 1 and chosen.alpha > 0.0:
        end, remedy = "dense", "smaller"
    else:
        return
    warn(
        GridEndWarning(
            f"the {criterion} choice alpha={chosen.alpha:.6g} is the {end} end of the grid; a better one may lie "
            "beyond. "
            f"Pass {setting('alphas')} that reach {remedy} values."
        )
    )


def check_width(solution: Solution, table: Any) -> None:
    """Refuse a table that does not have one column per node."""
    if table.shape[1] != solution.n_features:
        raise DataError(
            f"X must have one column per node ({solution.n_features}); got {table.shape[1]}. "
            "Pass the table the network was estimated from, with its columns in the same order."
        )
