"""Networks of columns with more than two values: every category is a point on a line, its score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.errors import ArgumentError, DataError, setting
from isinglass.names import check_names
from isinglass.network import Network, read_only

__all__ = ["KINDS", "CategoryNetwork", "read_categories"]

FloatArray = NDArray[np.float64]

KINDS = ("binary", "ordinal", "nominal")
MOST_CATEGORIES = 256


@dataclass(frozen=True, init=False, eq=False, repr=False)
class CategoryNetwork(Network):
    """Distribution of p variables with ordered categories.

    P(x) ∝ exp(Σ_s μ_s(x_s) + Σ_{s<t} θ_st φ_s(x_s) φ_t(x_t)): category k of variable s has the score φ_s(k), and two
    variables have one coupling per pair, with a sign. Scores 0 and 1 are those of a yes/no variable.

    Parameters
    ----------
    category_fields : sequence of arrays
        μ_s(k) for every category; the first of each is 0.
    scores : sequence of arrays
        φ_s(k).
    edge_index, edge_values, names
        As for `Network`; a coupling is per unit of both scores.

    Examples
    --------
    >>> network = CategoryNetwork([[0, 0.5, 0], [0, -1]], [[0, 1, 2], [0, 1]], np.array([[0, 1]]), np.array([0.8]))
    >>> network
    CategoryNetwork(2 nodes, 1 edge: x0–x1 +0.8)
    >>> [P.round(2).tolist() for P in network.category_probabilities([[2, 0]])]
    [[[0.27, 0.45, 0.27]], [[0.35, 0.65]]]
    """

    category_fields: tuple[FloatArray, ...]
    scores: tuple[FloatArray, ...]

    def __init__(
        self,
        category_fields: Sequence[ArrayLike],
        scores: Sequence[ArrayLike],
        edge_index: NDArray[np.int32],
        edge_values: FloatArray,
        names: Sequence[str] | None = None,
    ) -> None:
        parts = {
            "category_fields": tuple(read_only(np.array(field, dtype=np.float64)) for field in category_fields),
            "scores": tuple(read_only(np.array(score, dtype=np.float64)) for score in scores),
            "edge_index": read_only(np.array(edge_index, dtype=np.int32)),
            "edge_values": read_only(np.array(edge_values, dtype=np.float64)),
            "names": check_names(names, len(scores)),
        }
        for name, value in parts.items():
            object.__setattr__(self, name, value)

    @property  # type: ignore[misc]
    def fields(self) -> NoReturn:
        """There is no single number: a column has one field per category, in ``category_fields``."""
        raise DataError(
            "a network with more than two categories has one field per category (category_fields); what was called "
            "takes columns of 0 and 1 only."
        )

    def with_names(self, names: Sequence[str] | None) -> CategoryNetwork:
        """Return the same network with other names; None keeps those it has."""
        if names is None:
            return self
        return CategoryNetwork(self.category_fields, self.scores, self.edge_index, self.edge_values, names)

    def category_probabilities(self, X: ArrayLike) -> list[FloatArray]:
        """Return P(x_s = k | the rest of the row) for every column s: one array (n_samples, categories) each."""
        codes = read_categories(X)
        if codes.shape[1] != self.n_features:
            raise DataError(f"{setting('X')} must have one column per node ({self.n_features}); got {codes.shape[1]}.")
        for s, score in enumerate(self.scores):
            if len(codes) and codes[:, s].max() >= len(score):
                raise DataError(
                    f"column {self.names[s]!r} has categories 0 to {len(score) - 1}; got {codes[:, s].max()}."
                )
        points = np.column_stack([score[codes[:, s]] for s, score in enumerate(self.scores)])
        every = []
        for s, eta in enumerate(self.couplings_sparse @ points.T):
            logits = self.category_fields[s] + np.multiply.outer(eta, self.scores[s])
            odds = np.exp(logits - logits.max(axis=1, keepdims=True))
            every.append(odds / odds.sum(axis=1, keepdims=True))
        return every

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CategoryNetwork):
            return NotImplemented
        mine, theirs = self._parts(), other._parts()
        return self.names == other.names and len(mine) == len(theirs) and all(map(np.array_equal, mine, theirs))

    __hash__ = None  # holds arrays; equal networks need not be the same object

    def _parts(self) -> list[NDArray[Any]]:
        return [self.edge_index, self.edge_values, *self.scores, *self.category_fields]

    def __repr__(self) -> str:
        return f"Category{super().__repr__()}"


def read_categories(X: ArrayLike) -> NDArray[np.intp]:
    """Return a table of category numbers, whole numbers from 0."""
    table = np.asarray(X)
    if table.ndim != 2:
        raise DataError(f"{setting('X')} must have rows and columns; got shape {table.shape}.")
    try:
        numbers = table.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"{setting('X')} must hold the numbers of categories, 0, 1, 2, …, where {setting('kinds')} are given; got "
            f"dtype {table.dtype}. Number the categories first."
        ) from None
    with np.errstate(invalid="ignore"):
        bad = ~((numbers >= 0) & (numbers < MOST_CATEGORIES) & (numbers == np.floor(numbers)))
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ArgumentError(
            "X",
            f"must hold whole numbers from 0 to {MOST_CATEGORIES - 1} where kinds are given",
            table[row, column].item() if isinstance(table[row, column], np.generic) else table[row, column],
            f"See row {row}, column {column}.",
        )
    return numbers.astype(np.intp)
