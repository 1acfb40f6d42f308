"""Rows in Python: what the solver asks of the rows of a table, rows as a sum of parts, and those of a table in parts.

``Problem(rows, …)`` runs the same Newton, screening and certificate on any object with the methods of ``SumRows``:
``_core.CpuRows`` on this computer, a device, workers of a cluster, parts on disk.
"""

from __future__ import annotations

import hashlib
import logging
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isinglass._core import CpuRows
from isinglass.arrays import Bytes, FloatArray
from isinglass.data.parts.backends import BYTES_OF_A_ONE, RARE, Part
from isinglass.data.parts.parted_table import PartedTable, RowSelection

logger = logging.getLogger("isinglass")

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
Places = NDArray[np.int64]
Answer: TypeAlias = Any  # of a call by name: arrays, numbers or tuples of them

_BYTES_AT_ONCE = 1e9  # of gradients of all pairs that wait to be added
_ADDITION = 1.2e-7  # of one single-precision addition to a sum of at most 2
CHANGES = ("move", "remember", "diagonals")  # calls that change what the rows know
BYTES_KEPT = 20  # per row of a node that keeps predictor, residuals and remembered residuals
BYTES_OTHER = 3  # per cell: the compiled table, its bits, and the bytes that it is made of
FEW_CELLS = 1_000_000  # of a part up to which threads cost more than they save


class SumRows:
    """Rows as a sum of parts, added in the order of the parts: the bits do not depend on where a part is computed.

    Its methods are what the solver asks of rows: a table with a predictor η and weighted residuals w·r, r = σ(η) − x,
    for every column (node). A call is one batch. ``nodes`` lists columns; what belongs to each of them lies in a flat
    array, that of ``nodes[k]`` from ``begin[k]`` to ``begin[k + 1]``, and answers come in the same order. Weights are
    normalized to sum 1 over all rows, of which a part holds some (``CpuRows(X, weights, total, …)``).

    Rows that look at all pairs at once, such as `device_rows.DeviceRows`, have ``penalize``, ``scan`` and ``largest``
    in place of ``remember``, ``drift`` and ``all_pairs``.
    """

    def __init__(self, parts: Sequence[Any]) -> None:  # Any: rows with these methods, or numbers of parts elsewhere
        self.parts = parts

    def ask(self, call: str, *arguments: object, only: Sequence[int] | None = None) -> list[Answer]:
        """Return the answer of every part, or of some, in order: the place for messages to other processes."""
        parts = self.parts if only is None else [self.parts[k] for k in only]
        return [getattr(part, call)(*arguments) for part in parts]

    def n_distinct(self) -> int:
        """Return the number of rows held, equal ones counted once if they are merged."""
        return sum(self.ask("n_distinct"))

    def margins(self) -> tuple[FloatArray, FloatArray]:
        """Return the weight of the ones and of the zeros of every column."""
        ones, zeros = zip(*self.ask("margins"), strict=True)
        return _total(ones), _total(zeros)

    @cached_property
    def n_columns(self) -> int:
        """Columns of the table."""
        return len(self.margins()[0])

    def rounding(self) -> float:
        """Bound the relative error of a sum over rows of terms of one sign, their own rounding included."""
        each = self.ask("rounding")
        return float(max(each)) + len(each) * float(np.finfo(np.float64).eps)

    def move(
        self, nodes: Ints, offsets: FloatArray, moved_begin: Places, moved: Ints, coefficients: FloatArray,
        asked_begin: Places, asked: Ints, afresh: bool,
    ) -> tuple[FloatArray, FloatArray]:  # fmt: skip
        """Add offset + Σ coefficient·x to each node's predictor, or start it from there (``afresh``).

        Return loss, Σwσ(1−σ), Σwσ over the zeros and Σw(1−σ) over the ones of each node (one row per node),
        and the gradients Σ w r x of the columns asked for.
        """
        each = self.ask("move", nodes, offsets, moved_begin, moved, coefficients, asked_begin, asked, afresh)
        return _total([sums for sums, _ in each]), _total([gradients for _, gradients in each])

    def gradients(self, nodes: Ints, begin: Places, columns: Ints) -> FloatArray:
        """Return Σ w r_node x_column."""
        return _total(self.ask("gradients", nodes, begin, columns))

    def blocks(self, nodes: Ints, begin: Places, columns: Ints, majorized: bool) -> tuple[Floats, Floats, FloatArray]:
        """Return each node's Gram matrix of columns centered with the curvatures v = wσ(1−σ), Σ v x and Σ v.

        The matrices lie one after the other, row by row. ``majorized``: v = w/4 instead.
        """
        degree = np.diff(begin)
        node = np.repeat(np.arange(len(nodes)), degree**2)
        place = np.arange(len(node)) - np.repeat(np.cumsum(degree**2) - degree**2, degree**2)
        left, right = (begin[node] + part for part in np.divmod(place, degree[node]))
        return _merge(self.ask("blocks", nodes, begin, columns, majorized), begin, left, right)

    def diagonals(
        self, nodes: Ints, begin: Places, columns: Ints, majorized: bool
    ) -> tuple[Floats, Floats, FloatArray]:
        """Return the diagonals only, Σ v x and Σ v, and keep columns and curvatures for ``products``."""
        each = np.arange(len(columns))
        return _merge(self.ask("diagonals", nodes, begin, columns, majorized), begin, each, each)

    def products(self, nodes: Ints, begin: Places, columns: Ints, d: Floats, centers: FloatArray) -> Floats:
        """Return Σ v x (Xd − center) with the columns and curvatures of the last ``diagonals``."""
        return _total(self.ask("products", nodes, begin, columns, d, centers)).astype(np.float32)

    def divergence(self, nodes: Ints, c: float) -> float:
        """Return Σ w KL(x + c·r ‖ σ) over these nodes, for 0 < c < 1."""
        return float(sum(self.ask("divergence", nodes, c)))

    def largest_predictor(self, nodes: Ints) -> float:
        """Return the largest absolute η of these nodes."""
        return float(max(self.ask("largest_predictor", nodes)))

    def gram(self, node: int, columns: Ints) -> FloatArray:
        """Return Zᵀ diag(wσ(1−σ)) Z, rounded down, Z = [columns, 1]."""
        return _total(self.ask("gram", node, columns))

    def remember(self, nodes: Ints) -> None:
        """Remember these nodes' residuals for ``drift``."""
        self.ask("remember", nodes)

    def drift(self, nodes: Ints) -> FloatArray:
        """Return Σ(w r − w r_ref)²/w and Σ(w r − w r_ref) of each node."""
        return _total(self.ask("drift", nodes))

    def all_pairs(self, first: int, last: int) -> tuple[Floats, float]:
        """Return the gradients of the pairs (s, t), first ≤ s < last, s < t, and a bound of their error."""
        p, n_parts = self.n_columns, len(self.parts)
        total = np.zeros((last - first) * (2 * p - first - last - 1) // 2, dtype=np.float32)
        slack = n_parts * _ADDITION
        at_once = max(int(_BYTES_AT_ONCE // max(total.nbytes, 1)), 1)
        for k in range(0, n_parts, at_once):
            for band, bound in self.ask("all_pairs", first, last, only=range(k, min(k + at_once, n_parts))):
                total += band
                slack += bound
        return total, slack


def _count_rows(codes: Bytes, weight: FloatArray | None) -> int:
    return len(codes)


def _total(answers: Sequence[Answer]) -> FloatArray:
    total = np.array(answers[0], dtype=np.float64)
    for answer in answers[1:]:
        total += answer
    return total


def _merge(each: list[Answer], begin: Places, left: Places, right: Places) -> tuple[Floats, Floats, FloatArray]:
    """Add matrices that are each centered at their part's means m_k.

    About the common means m a part's matrix is larger by S_k (m_k − m)(m_k − m)ᵀ, a sum without cancellation.
    ``left`` and ``right`` say where row and column of every entry are among all columns.
    """
    node = np.repeat(np.arange(len(begin) - 1), np.diff(begin))
    curve = _total([curve for _, _, curve in each])
    b = _total([b for _, b, _ in each])
    mean = _quotient(b, curve[node])
    values = np.zeros(len(left))
    for matrix, own_b, own_curve in each:
        off = np.where(own_curve[node] > 0, _quotient(own_b, own_curve[node]) - mean, 0.0)
        values += matrix + own_curve[node[left]] * off[left] * off[right]
    return values.astype(np.float32), b.astype(np.float32), curve


def _quotient(above: FloatArray, below: FloatArray) -> FloatArray:
    return np.divide(above, below, out=np.zeros(len(above)), where=below > 0)


class Lost:
    """In place of an answer: the part has no rows of the version that was asked for."""


Version: TypeAlias = tuple[str, int]  # of the state of compiled rows: a problem, and how many changes it has made


class PartedRows(SumRows):
    """The rows of a table in parts: every call of the solver is one round of messages to the parts.

    A part keeps compiled rows between calls, under the key of the recipe they were made by, and the version of their
    state. A message names both. A part that has no such rows, because its worker was lost or another problem has used
    them, answers `Lost` and is asked again with recipe and state. The state is a few numbers per edge, the same for all
    parts: ``here``, one row of zeros in this process, goes through the same changes and has it.

    ``total`` is the sum of all weights; ``n_threads`` is for this process, workers of Dask have their own number.
    """

    def __init__(self, table: PartedTable, total: float, n_threads: int) -> None:
        weighted = table.sizes if table.weights is None else table.each(_count_rows)
        super().__init__(np.flatnonzero(weighted).tolist())
        self.backend = table.backend
        self.recipe = _Recipe(table.selection, table.columns, total, n_threads)
        self.here = CpuRows(np.zeros((1, table.shape[1]), dtype=np.uint8), None, 1.0, 1, 0)
        self.version: Version = uuid.uuid4().hex, 0
        self.n_columns = table.shape[1]  # known without a round of messages
        self.n_rows = len(table)
        self.rounds = 0
        self.backend.settle()

    def ask(self, call: str, *arguments: object, only: Sequence[int] | None = None) -> list[Answer]:
        """Send one call to all parts, or to some, and collect the answers in order."""
        asked = self.parts if only is None else [self.parts[k] for k in only]
        message = self.recipe.key, self.version, call, arguments
        answers = dict(zip(asked, self.backend.each(_answer, message, only=asked), strict=True))
        lost = [k for k, answer in answers.items() if isinstance(answer, Lost)]
        if lost:
            again = self.recipe, self.here.state()
            answers |= dict(zip(lost, self.backend.each(_answer, (*message, again), only=lost), strict=True))
        if call in CHANGES:
            getattr(self.here, call)(*arguments)
        self.version = _next(self.version, call)
        self.rounds += 1
        logger.debug("round %d: %s over %d rows in %d parts", self.rounds, call, self.n_rows, len(answers))
        return list(answers.values())


@dataclass(frozen=True)
class _Recipe:
    """How the compiled rows of a part are made."""

    chosen: RowSelection
    columns: NDArray[np.intp] | None
    total: float
    n_threads: int

    @cached_property
    def key(self) -> str:
        """What equal rows have in common."""
        columns = b"" if self.columns is None else self.columns.tobytes()
        return f"{self.chosen!r} {self.total!r} {hashlib.sha256(columns).hexdigest()}"

    def compile(self, part: Part) -> _Kept:
        """Make the rows of a part."""
        table, weight = self.chosen.rows(part, self.columns)
        room = part.room - BYTES_OTHER * table.size
        n_kept = int(np.clip(room // (BYTES_KEPT * len(table)), 0, table.shape[1]))
        n_threads = min(self.n_threads, part.n_threads) if table.size > FEW_CELLS else 1
        rows = CpuRows(table, weight, self.total, n_threads, n_kept, RARE)
        if rows.is_sparse():
            return _Kept(rows, BYTES_OF_A_ONE * int(np.count_nonzero(table)))
        return _Kept(rows, 2 * table.size + BYTES_KEPT * len(table) * n_kept)


@dataclass
class _Kept:
    """Compiled rows of a part."""

    rows: CpuRows
    n_bytes: int
    version: Version | None = None  # None: a call was not finished


def _answer(
    part: Part,
    key: str,
    version: Version,
    call: str,
    arguments: tuple[object, ...],
    again: tuple[_Recipe, tuple[object, ...]] | None = None,
) -> Answer:
    """Run by the worker of a part: answer a call if its rows are up to date, or (``again``) after making them so."""
    kept = part.kept.get(key)
    if again is not None:
        recipe, state = again
        if kept is None:
            part.kept.clear()
            kept = part.kept[key] = recipe.compile(part)
        kept.rows.restore(state)
    elif kept is None or kept.version != version:
        return Lost()
    kept.version = None  # of rows that an exception leaves halfway
    answer = getattr(kept.rows, call)(*arguments)
    kept.version = _next(version, call)
    return answer


def _next(version: Version, call: str) -> Version:
    """Return the version of rows after a call."""
    problem, n_changes = version
    return problem, n_changes + (call in CHANGES)
