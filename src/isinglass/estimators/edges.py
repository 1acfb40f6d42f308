"""The table of edges: couplings beside what the two columns look like on their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from isinglass.estimators.frames import make_frame
from isinglass.network import Network

__all__ = ["count_edges", "edge_table"]

COUNTS = ("n11", "n10", "n01", "n00")
CELLS_AT_ONCE = 1 << 22


def count_edges(
    table: NDArray[np.uint8], weight: NDArray[np.float64] | None, edge_index: NDArray[np.int32]
) -> NDArray[Any]:
    """Return the rows (or their weights) with 11, 10, 01 and 00 in the columns of every edge; whole if the weights are.

    Examples
    --------
    >>> count_edges(np.array([[1, 1], [1, 0], [0, 0]], dtype=np.uint8), None, np.array([[0, 1]], dtype=np.int32))
    array([[1, 1, 0, 1]])
    """
    whole = weight is None or bool((weight == np.rint(weight)).all() and weight.sum() < 2**53)
    unit = np.ones(len(table)) if weight is None else weight
    counts = np.empty((len(edge_index), 4))
    columns = table.T.astype(bool)
    step = max(1, CELLS_AT_ONCE // len(table))
    for first in range(0, len(edge_index), step):
        some = slice(first, first + step)
        s, t = columns[edge_index[some, 0]], columns[edge_index[some, 1]]
        # Four sums rather than one and differences: these are never negative by rounding.
        counts[some] = np.column_stack([both @ unit for both in (s & t, s & ~t, ~s & t, ~(s | t))])
    return counts.astype(np.int64) if whole else counts


def edge_table(
    network: Network,
    counts: NDArray[Any],
    frequencies: sp.csr_array | None,
    errors: NDArray[np.float64] | None,
    kind: str | None,
) -> Any:
    """Return the edges, largest absolute coupling first, as a frame of the given kind."""
    order = network.by_strength
    columns = network.edges()
    if errors is not None:
        columns["std_error"] = errors[order]
    if frequencies is not None:
        s, t = network.edge_index[order].T
        columns["stability"] = np.asarray(frequencies[s, t]).ravel()
    chosen = counts[order]
    columns |= {name: chosen[:, k].copy() for k, name in enumerate(COUNTS)}
    logs = np.log(chosen + 0.5)
    columns["log_odds_ratio"] = logs[:, 0] - logs[:, 1] - logs[:, 2] + logs[:, 3]
    return make_frame(kind, columns)
