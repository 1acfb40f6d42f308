"""Networks of columns with more than two values: every category is a point, on a line or at the corner of a simplex."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import FloatArray, read_only
from isinglass.data.coding import KINDS
from isinglass.data.table import CategoryTable, read_codes
from isinglass.errors import ArgumentError, DataError, setting
from isinglass.names import check_names
from isinglass.network import Network, canonical_edges


def corners(n_categories: int) -> FloatArray:
    """Return the corners of a regular simplex with edges of length 1, centered: one row per category."""
    points = np.zeros((n_categories, n_categories - 1))
    for k in range(1, n_categories):  # Helmert's contrasts
        points[:k, k - 1], points[k, k - 1] = 1.0, -k
        points[:, k - 1] /= np.sqrt(2.0 * k * (k + 1.0))
    return points


@dataclass(frozen=True, eq=False)
class Points:
    """The categories of all columns, one after the other, and the coordinates that a cell is known to others by.

    A column with scores has one coordinate, its score. A nominal one has a coordinate per category: 1 for that of the
    cell and 0 for the others. Columns of cells, ``n`` of them, are rows of the table.
    """

    starts: NDArray[np.intp]  # (p,), the first category of a column
    column: NDArray[np.intp]  # (T,), the column of a category
    coordinate: NDArray[np.intp]  # (T,), the coordinate of a category
    factor: FloatArray  # (T,), its score, or 1
    first: NDArray[np.intp]  # (p,), the first coordinate of a column
    on_line: NDArray[np.bool_]  # (p,), whether it has scores

    @classmethod
    def of(cls, scores: Sequence[FloatArray | None], sizes: Sequence[int]) -> Points:
        """Return where everything stands, given the scores and the number of categories of every column."""
        counts = np.asarray(sizes, dtype=np.intp)
        on_line = np.array([score is not None for score in scores])
        widths = np.where(on_line, 1, counts)
        starts, first = (np.concatenate([[0], np.cumsum(each)[:-1]]).astype(np.intp) for each in (counts, widths))
        column = np.repeat(np.arange(len(counts)), counts)
        within = np.arange(len(column)) - starts[column]
        coordinate = first[column] + np.where(on_line[column], 0, within)
        factors = [np.ones(q) if score is None else score for score, q in zip(scores, counts.tolist(), strict=True)]
        return cls(starts, column, coordinate, np.concatenate(factors).astype(np.float64), first, on_line)

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates of all columns."""
        return int(self.coordinate[-1]) + 1

    def seen(self, codes: NDArray[np.uint8]) -> NDArray[np.intp]:
        """Return the category of every cell, shape (p, n)."""
        return np.asarray(self.starts[:, None] + codes.T)

    def place(self, seen: NDArray[np.intp]) -> FloatArray:
        """Return the coordinates of cells, shape (coordinates, n)."""
        placed = np.zeros((self.n_coordinates, seen.shape[1]))
        placed[self.coordinate[seen], np.arange(seen.shape[1])] = self.factor[seen]
        return placed

    def logits(self, fields: FloatArray, eta: FloatArray) -> FloatArray:
        """Return the field of every category plus what the rest of the row says for it, shape (T, n).

        Of several networks at once if there is an axis in front; so do the sums below.
        """
        return np.asarray(fields[..., None] + self.factor[:, None] * eta[..., self.coordinate, :])

    def log_softmax(self, logits: FloatArray) -> FloatArray:
        """Return the logarithms of probabilities that sum to 1 within every column, shape (T, n)."""
        return np.asarray(logits - self.log_sums(logits)[..., self.column, :])

    def log_sums(self, logits: FloatArray) -> FloatArray:
        """Return log Σ exp over the categories of every column, shape (p, n)."""
        top = np.maximum.reduceat(logits, self.starts, axis=-2)
        total = np.add.reduceat(np.exp(logits - top[..., self.column, :]), self.starts, axis=-2)
        return np.asarray(top + np.log(total))

    def couplings(
        self, edge_index: NDArray[np.int32], edge_values: FloatArray, blocks: Sequence[FloatArray]
    ) -> sp.csr_array:
        """Return the blocks of a network as a symmetric matrix over coordinates."""
        s, t = self.first[edge_index.T]
        if self.on_line.all():
            rows, columns, values = s, t, edge_values
        else:
            shapes = np.array([block.shape for block in blocks], dtype=np.intp).reshape(-1, 2)
            cells = shapes.prod(axis=1)
            edge = np.repeat(np.arange(len(cells)), cells)
            within = np.arange(len(edge)) - np.repeat(np.cumsum(cells) - cells, cells)
            down, across = np.divmod(within, shapes[edge, 1])
            rows, columns = s[edge] + down, t[edge] + across
            values = np.concatenate([block.ravel() for block in blocks]) if blocks else np.empty(0)
        ends = np.r_[rows, columns], np.r_[columns, rows]
        return sp.csr_array((np.r_[values, values], ends), shape=(self.n_coordinates,) * 2)


@dataclass(frozen=True, init=False, eq=False, repr=False)
class CategoryNetwork(Network):
    """Distribution of p variables with categories, ordered or not.

    P(x) ∝ exp(Σ_s μ_s(x_s) + Σ_{s<t} e_st(x_s, x_t)). Category k of an ordinal or binary variable has the score φ_s(k).
    The term of two such variables is θ_st φ_s(x_s) φ_t(x_t): one coupling, with a sign. A nominal variable has no
    scores. The term of two of them is B_st(x_s, x_t), a table whose rows and columns sum to zero; that of a nominal and
    an ordinal variable is B_st(x_s) φ_t(x_t).

    Parameters
    ----------
    category_fields : sequence of arrays
        μ_s(k) for every category; the first of each is 0.
    scores : sequence of arrays
        φ_s(k); None for a nominal variable of three or more categories.
    edge_index : array-like of int, shape (n_edges, 2)
        Pairs of variables.
    edge_values : array-like of shape (n_edges,), optional
        The signed coupling of a pair with one parameter, per unit of both scores; of any other pair what is penalized,
        ‖Θ_st‖: 2‖B_st‖ for two nominal variables, √2‖B_st‖ for a nominal and an ordinal one. Not needed beside blocks.
    names : sequence of str, optional
        As for `Network`.
    kinds : sequence of {"binary", "ordinal", "nominal"}, optional
        Kind of every variable; by default nominal without scores, binary with the scores 0 and 1, ordinal else.
    categories : sequence of sequences, optional
        What the categories of every variable are called.
    blocks : sequence of arrays, optional
        B_st of every edge, of shape (q_s or 1) × (q_t or 1): a row or column per category of a nominal variable, one
        for any other. Needed where a pair has more than one parameter.

    Examples
    --------
    >>> network = CategoryNetwork([[0, 0.5, 0], [0, -1]], [[0, 1, 2], [0, 1]], [[0, 1]], [0.8])
    >>> network
    CategoryNetwork(2 nodes, 1 edge: x0–x1 +0.8)
    >>> [P.round(2).tolist() for P in network.category_probabilities([[2, 0]])]
    [[[0.27, 0.45, 0.27]], [[0.35, 0.65]]]
    >>> party = CategoryNetwork([[0, 0, 0], [0, 0]], [None, [0, 1]], [[0, 1]], blocks=[[[1], [0], [-1]]])
    >>> party.kinds, party.edges()["sign"].tolist(), party.edge_values
    (('nominal', 'binary'), [0], array([2.]))
    """

    category_fields: tuple[FloatArray, ...]
    scores: tuple[FloatArray | None, ...]
    kinds: tuple[str, ...]
    categories: tuple[tuple[Any, ...], ...] | None
    blocks: tuple[FloatArray, ...]

    def __init__(
        self,
        category_fields: Sequence[ArrayLike],
        scores: Sequence[ArrayLike | None],
        edge_index: ArrayLike,
        edge_values: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        *,
        kinds: Sequence[str] | None = None,
        categories: Sequence[Sequence[Any]] | None = None,
        blocks: Sequence[ArrayLike] | None = None,
    ) -> None:
        fields = tuple(read_only(np.array(field, dtype=np.float64)) for field in category_fields)
        points = tuple(None if score is None else read_only(np.array(score, dtype=np.float64)) for score in scores)
        if len(points) != len(fields) or not fields:
            raise DataError(f"scores must have one entry per node ({len(fields)}); got {len(points)}.")
        sizes = [len(field) for field in fields]
        for s, score in enumerate(points):
            if score is not None and len(score) != sizes[s]:
                raise DataError(f"scores must be one number per category of node {s} ({sizes[s]}); got {len(score)}.")
        if categories is not None and [len(values) for values in categories] != sizes:
            raise DataError("categories must have one entry per category of every node.")
        index, values, tables = _read_edges(edge_index, edge_values, blocks, points, sizes)
        self._hold(
            category_fields=fields,
            scores=points,
            kinds=_read_kinds(kinds, points),
            categories=None if categories is None else tuple(map(tuple, categories)),
            edge_index=index,
            edge_values=values,
            blocks=tables,
            names=check_names(names, len(fields)),
        )

    def refitted(
        self,
        category_fields: Sequence[FloatArray],
        edge_index: NDArray[np.int32],
        edge_values: FloatArray,
        blocks: Sequence[FloatArray],
    ) -> CategoryNetwork:
        """Return a network of the same nodes, of the solver's own arrays: `Network.trusted` for categories."""
        nodes = {name: getattr(self, name) for name in ("scores", "kinds", "categories", "names", "points")}
        fitted = {"category_fields": tuple(category_fields), "edge_index": edge_index, "edge_values": edge_values}
        return CategoryNetwork.trusted(**nodes, **fitted, blocks=tuple(blocks))

    @property  # type: ignore[misc]
    def fields(self) -> NoReturn:
        """There is no single number: a column has one field per category, in ``category_fields``."""
        raise DataError(
            "a network with more than two categories has one field per category (category_fields); this function takes "
            "columns of 0 and 1 only."
        )

    @property
    def n_categories(self) -> NDArray[np.intp]:
        """Number of categories of every node."""
        return np.array([len(field) for field in self.category_fields], dtype=np.intp)

    def has_sign(self, pairs: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """Tell which pairs of nodes, shape (n_pairs, 2), have one parameter, and so a sign."""
        on_line = np.array([score is not None for score in self.scores])
        return np.asarray(on_line[pairs].all(axis=1))

    @cached_property
    def is_signed(self) -> NDArray[np.bool_]:
        """Which edges have one parameter, and so a sign."""
        return read_only(self.has_sign(self.edge_index))

    @property
    def labels(self) -> tuple[tuple[str, ...], ...]:
        """What the categories of every node are called, as texts; their numbers if nobody said."""
        named = self.categories or [range(len(field)) for field in self.category_fields]
        return tuple(tuple(str(value) for value in values) for values in named)

    def table(self, X: ArrayLike) -> CategoryTable:
        """Return a table of category numbers as one with the categories of this network."""
        codes = self.read_codes(X)
        if isinstance(X, CategoryTable):
            return X
        numbers = tuple(tuple(range(len(field))) for field in self.category_fields)
        return CategoryTable(codes, self.kinds, self.scores, self.categories or numbers, names=self.names)

    def category_log_probabilities(self, X: ArrayLike) -> list[FloatArray]:
        """Return log P(x_s = k | the rest of the row) for every column s: one array (n_samples, categories) each."""
        points, logits = self.points, self.logits(self.read_codes(X))
        return [np.ascontiguousarray(part.T) for part in np.split(points.log_softmax(logits), points.starts[1:])]

    def category_probabilities(self, X: ArrayLike) -> list[FloatArray]:
        """Return P(x_s = k | the rest of the row) for every column s: one array (n_samples, categories) each."""
        return [np.exp(logs) for logs in self.category_log_probabilities(X)]

    def log_pseudolikelihood(self, X: ArrayLike) -> FloatArray:
        """Return Σ_s log P(x_s | the rest) of every row, shape (n_samples,)."""
        return np.asarray(self.cell_scores(self.read_codes(X)).sum(axis=0))

    def cell_scores(self, codes: NDArray[np.uint8]) -> FloatArray:
        """Return log P(x_s | the rest of the row) of every cell of a table of category numbers, one row per column."""
        logits = self.logits(codes)
        chosen = np.take_along_axis(logits, self.points.seen(codes), axis=0)
        return np.asarray(chosen - self.points.log_sums(logits))

    def energy(self, X: ArrayLike) -> FloatArray:
        """Return the energy of every row, with P(x) = exp(−energy(x) − Ψ); shape (n_samples,)."""
        codes = self.read_codes(X)
        seen = self.points.seen(codes)
        chosen = np.take_along_axis(self.logits(codes), seen, axis=0)
        # Each pair is in two logits, each field in one.
        return np.asarray(-0.5 * (chosen + flat_fields(self)[seen]).sum(axis=0))

    def logits(self, table: NDArray[Any]) -> FloatArray:
        """Return μ_s(k) plus what the rest of a row says for category k: one row per category of all columns."""
        eta = self._couplings @ self.points.place(self.points.seen(table))
        return self.points.logits(flat_fields(self), eta)

    @cached_property
    def points(self) -> Points:
        """Where the categories of all columns stand in flat arrays."""
        return Points.of(self.scores, [len(field) for field in self.category_fields])

    @cached_property
    def _couplings(self) -> sp.csr_array:
        return self.points.couplings(self.edge_index, self.edge_values, self.blocks)

    def read_codes(self, X: ArrayLike) -> NDArray[np.uint8]:
        """Return the category numbers of a table, which must fit the nodes."""
        codes = read_codes(X)
        if codes.shape[1] != self.n_features:
            raise DataError(f"{setting('X')} must have one column per node ({self.n_features}); got {codes.shape[1]}.")
        over = np.flatnonzero(codes.max(axis=0, initial=0) >= self.n_categories)
        if len(over):
            s, last = over[0], self.n_categories[over[0]] - 1
            raise DataError(f"column {self.names[s]!r} has categories 0 to {last}; got {codes[:, s].max()}.")
        return codes


def flat_fields(network: Network) -> FloatArray:
    """Return the fields of a network of any kind as one array: one per node, or one per category of all nodes."""
    return np.concatenate(network.category_fields) if isinstance(network, CategoryNetwork) else network.fields


def block_scale(score_s: Any, score_t: Any) -> float:
    """Return ‖Θ_st‖ / ‖B_st‖ of a pair with these scores: 2 for two nominal columns, √2 for one, else 1."""
    return (1.0, float(np.sqrt(2.0)), 2.0)[(score_s is None) + (score_t is None)]


def block_values(
    scores: Sequence[Any], edge_index: NDArray[np.integer[Any]], blocks: Sequence[FloatArray]
) -> FloatArray:
    """Return what stands for the blocks of pairs: the coupling of one with one parameter, ‖Θ‖ of any other."""
    values = [
        block.item() if block.size == 1 else block_scale(scores[s], scores[t]) * float(np.sqrt((block * block).sum()))
        for (s, t), block in zip(edge_index.tolist(), blocks, strict=True)
    ]
    return np.array(values, dtype=np.float64)


def _read_kinds(kinds: Sequence[str] | None, scores: Sequence[FloatArray | None]) -> tuple[str, ...]:
    if kinds is None:
        kinds = [
            "nominal" if score is None else "binary" if score.tolist() == [0.0, 1.0] else "ordinal" for score in scores
        ]
    for kind, score in zip(kinds, scores, strict=True):
        if kind not in KINDS or (kind == "nominal") != (score is None):
            raise ArgumentError("kinds", "must be nominal for nodes without scores, binary or ordinal else", kind)
    return tuple(kinds)


def _read_edges(
    edge_index: ArrayLike,
    edge_values: ArrayLike | None,
    blocks: Sequence[ArrayLike] | None,
    scores: Sequence[FloatArray | None],
    sizes: Sequence[int],
) -> tuple[NDArray[np.int32], FloatArray, tuple[FloatArray, ...]]:
    """Return the pairs s < t in order, their values and their blocks, without those that are zero."""
    given = np.asarray(edge_index, dtype=np.int64).reshape(-1, 2)
    if blocks is None:
        if edge_values is None:
            raise DataError("edge_values or blocks must be given.")
        index, values = canonical_edges(given, edge_values, len(sizes))
        if any(scores[s] is None for s in np.unique(index).tolist()):
            raise DataError("blocks must be given where a node is nominal with three or more categories.")
        return index, values, tuple(read_only(values.reshape(-1, 1, 1)))
    tables = [np.array(block, dtype=np.float64) for block in blocks]
    index, places = canonical_edges(given, np.arange(1.0, len(tables) + 1.0), len(sizes))
    order = places.astype(np.intp) - 1
    swapped = given[:, 0] > given[:, 1]
    found = [tables[k].T if swapped[k] else tables[k] for k in order.tolist()]
    for (s, t), block in zip(index.tolist(), found, strict=True):
        shape = tuple(sizes[node] if scores[node] is None else 1 for node in (s, t))
        if block.shape != shape or not np.isfinite(block).all():
            raise DataError(f"blocks must be finite, of shape {shape} for the pair ({s}, {t}); got {block.shape}.")
    values = block_values(scores, index, found)
    if edge_values is not None:
        stated = np.asarray(edge_values, dtype=np.float64)[order]
        if not np.allclose(stated, values, rtol=1e-9, atol=0.0):
            raise DataError("edge_values must be those of the blocks: the coupling, or the norm of Theta.")
        values = stated
    kept = np.flatnonzero(values != 0.0)
    return index[kept], values[kept], tuple(read_only(np.ascontiguousarray(found[k])) for k in kept.tolist())
