"""One fit: what a run found and what it was asked, as a plain record. Files hold it, and pages are made of it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from isinglass.data import BinaryTable, count_columns, count_rows, over_rows
from isinglass.network import Network, read_only
from isinglass.pairs import symmetric_matrix
from isinglass.results import Path, Solution, Stability

__all__ = ["Evidence", "Fit", "count_edges", "edge_columns"]

FloatArray = NDArray[np.float64]

COUNTS = ("n11", "n10", "n01", "n00")
CELLS_AT_ONCE = 1 << 22


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """The curve that a penalty was read from.

    Parameters
    ----------
    kind : {"ebic", "score"}
        Extended BIC, where smaller is better; or log pseudo-likelihood of held-out rows, where larger is.
    alphas, values : ndarray of shape (n_alphas,)
        The curve.
    choice : int
        Number of the alpha that was chosen.
    errors : ndarray of shape (n_alphas,), optional
        Standard errors of the values.
    settings : mapping
        What the criterion was set to: gamma and relaxed, or the rule.
    """

    kind: str
    alphas: FloatArray
    values: FloatArray
    choice: int
    errors: FloatArray | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for array in (self.alphas, self.values, self.errors):
            if array is not None:
                read_only(array)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Fit:
    """What one run found and what it was asked.

    It knows nothing of scikit-learn. What a fitted estimator calls ``solution_``, ``path_`` or ``stability_`` can be
    read here under these names, too, so that figures and pages take either.

    Parameters
    ----------
    solution : Solution
        The network, with names, and its certificate.
    method : {"joint", "nodewise", "exact", "plg", "bmn"}
        How it was estimated.
    settings : mapping
        What the method was set to, by the parameters of its path function.
    criterion : str, optional
        What chose the penalty; None if it was given.
    choice : mapping
        What the criterion was set to, by the parameters of its function; or ``alpha``.
    chosen : str
        The criterion in words.
    tol : float
        The tolerance that ``converged`` refers to.
    n_rows : float
        Number of rows: the sum of their weights.
    marginals : ndarray of shape (n_features,)
        Share of ones in every column.
    edge_counts : ndarray of shape (n_edges, 4)
        Rows with 11, 10, 01 and 00 in the two columns of each edge.
    encoding : mapping
        For each column that was not 0/1 already: the two values that stand for 0 and 1.
    reading : mapping
        The options of `read_table` that the table was read with.
    path : Path, optional
        The networks along the penalty, if there are any.
    evidence : Evidence, optional
        The curve that the penalty was read from.
    stability : Stability, optional
        How far subsamples agreed.
    stages : list of dict, optional
        What each stage of the default estimate chose.
    edge_errors : ndarray of shape (n_edges,), optional
        Standard errors of the couplings.
    """

    solution: Solution
    method: str
    settings: Mapping[str, Any]
    criterion: str | None
    choice: Mapping[str, Any]
    chosen: str
    tol: float
    n_rows: float
    marginals: FloatArray
    edge_counts: NDArray[Any]
    encoding: Mapping[Hashable, tuple[Any, Any]] = field(default_factory=dict)
    reading: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = None
    evidence: Evidence | None = None
    stability: Stability | None = None
    stages: list[dict[str, Any]] | None = None
    edge_errors: FloatArray | None = None

    def __post_init__(self) -> None:
        for array in (self.marginals, self.edge_counts, self.edge_errors):
            if array is not None:
                read_only(array)

    @classmethod
    def of(cls, solution: Solution, table: BinaryTable, **found: Any) -> Fit:
        """Put a solution together with the sums over the rows of its table."""
        weight, names = table.sample_weight, table.names
        n_rows = count_rows(table.X, weight)
        path = found.pop("path", None)
        return cls(
            solution=solution.with_names(names),
            n_rows=n_rows,
            marginals=count_columns(table.X, weight)[0] / n_rows,
            edge_counts=over_rows(count_edges, table.X, weight, solution.edge_index),
            encoding=dict(table.encoding),
            path=None if path is None else path.with_names(names),
            **found,
        )

    @property
    def network(self) -> Network:
        """The network by itself."""
        return self.solution.network

    @property
    def proves(self) -> bool:
        """Whether the method proves its optimum: the published ones stop by rules of their own."""
        return self.method not in ("plg", "bmn")

    @property
    def edge_attributes(self) -> dict[str, sp.csr_array]:
        """What is known of the edges beside their couplings, as symmetric matrices."""
        found: dict[str, sp.csr_array] = {}
        if self.edge_errors is not None:
            found["std_error"] = symmetric_matrix(self.solution.edge_index, self.edge_errors, self.solution.n_features)
        if self.stability is not None:
            found["stability"] = self.stability.edge_frequencies[self.stability.index]
        return found

    def edges(self) -> dict[str, NDArray[Any]]:
        """Return the edge table as columns, the largest absolute coupling first."""
        shares = None if self.stability is None else self.stability.edge_frequencies[self.stability.index]
        return edge_columns(self.network, self.edge_counts, shares, self.edge_errors)

    def __getattr__(self, name: str) -> Any:
        """Give what a fitted estimator has under its name there: ``solution_`` is ``solution``."""
        plain = name[:-1]
        if name.endswith("_") and not name.startswith("_"):
            known = {item.name for item in fields(self)} | {"network"}
            value = getattr(self, plain) if plain in known else getattr(self.solution, plain, None)
            if value is not None:
                return value
        raise AttributeError(f"this fit has no {name!r}")

    def __repr__(self) -> str:
        return f"Fit({self.method}, {self.chosen}: {self.solution!r})"


def count_edges(table: NDArray[np.uint8], weight: FloatArray | None, edge_index: NDArray[np.int32]) -> NDArray[Any]:
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


def edge_columns(
    network: Network, counts: NDArray[Any], frequencies: sp.csr_array | None, errors: FloatArray | None
) -> dict[str, NDArray[Any]]:
    """Return the edge table of a network with all that a fit knows of its edges."""
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
    return columns
