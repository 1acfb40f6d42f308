"""The seam over a table in parts: every call of the solver is one round of messages to the parts."""

from __future__ import annotations

import hashlib
import logging
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isinglass._core import RecipeRows
from isinglass.data.hosts import BYTES_OF_A_ONE, RARE, Part
from isinglass.data.parts import PartedTable, RowsMeant, rows_of
from isinglass.solve.seam import SumRows

logger = logging.getLogger("isinglass")

CHANGES = ("move", "remember", "diagonals")  # calls that change what the rows know
LOST = "not here any more"
BYTES_KEPT = 20  # per row of a node that keeps predictor, residuals and remembered residuals
BYTES_OTHER = 3  # per cell: the compiled table, its bits, and the bytes that it is made of
ROUNDS_TOLD = 100  # rounds between two messages about progress; each round by itself is told at level DEBUG
FEW_CELLS = 1_000_000  # of a part up to which threads cost more than they save


class PartedRows(SumRows):
    """The rows of a table in parts.

    A part keeps its compiled rows between calls. What they know about the past is a few numbers per edge, the same for
    all parts: one row of zeros, kept here, knows as much. From that a part is made again when its worker was lost.
    ``total`` is the sum of all weights; ``n_threads`` is for this process, workers of Dask have their own number.
    """

    def __init__(self, table: PartedTable, total: float, n_threads: int) -> None:
        super().__init__(range(len(table.sizes)))
        self.host = table.host
        self.recipe = _Recipe.of(table, total, n_threads)
        self.shadow = RecipeRows(np.zeros((1, table.shape[1]), dtype=np.uint8), None, 1.0, 1, 0)
        self.turn = 0
        self.n_rows = len(table)
        self.rounds = self.sent = self.received = 0
        self.host.settle()

    def ask(self, call: str, *arguments: Any, only: Sequence[int] | None = None) -> list[Any]:
        """Send one call to all parts, or to some, and collect the answers in order."""
        asked = self.parts if only is None else only
        each = self.host.each(_answer, (self.recipe.key, self.recipe.owner, self.turn, call, arguments), only=asked)
        answers = dict(zip(asked, each, strict=True))
        lost = [k for k, answer in answers.items() if isinstance(answer, str) and answer == LOST]
        if lost:
            again = (self.recipe, self.shadow.state(), self.turn, call, arguments)
            answers |= dict(zip(lost, self.host.each(_make_and_answer, again, only=lost), strict=True))
        if call in CHANGES:
            self.turn += 1
            getattr(self.shadow, call)(*arguments)
        found = list(answers.values())
        self._count(call, arguments, found)
        return found

    def _count(self, call: str, arguments: tuple[Any, ...], answers: list[Any]) -> None:
        sent, received = _size(arguments) * len(answers), _size(answers)
        self.rounds += 1
        self.sent += sent
        self.received += received
        logger.debug(
            "round %d: %s over %d rows in %d parts, %d bytes sent, %d received",
            *(self.rounds, call, self.n_rows, len(answers), sent, received),
        )
        if self.rounds % ROUNDS_TOLD == 0:
            logger.info("%r", self)

    def __repr__(self) -> str:
        return (
            f"{self.n_rows} rows in {len(self.parts)} parts: {self.rounds} rounds, {self.sent} bytes sent, "
            f"{self.received} received"
        )


@dataclass(frozen=True)
class _Recipe:
    """How the compiled rows of a part are made, and for whom; equal keys give equal rows."""

    chosen: RowsMeant
    columns: Any
    total: float
    n_threads: int
    key: str
    owner: str

    @classmethod
    def of(cls, table: PartedTable, total: float, n_threads: int) -> _Recipe:
        columns = b"" if table.columns is None else table.columns.tobytes()
        key = f"{table.meant!r} {total!r} {hashlib.sha256(columns).hexdigest()}"
        return cls(table.meant, table.columns, total, n_threads, key, uuid.uuid4().hex)


@dataclass
class _Kept:
    """Compiled rows beside their part, whose they are and how many changes they have seen."""

    rows: RecipeRows
    n_bytes: int
    owner: str = ""
    turn: int = -1


def _answer(part: Part, key: str, owner: str, turn: int, call: str, arguments: tuple[Any, ...]) -> Any:
    """Where the part is: answer a call, if the rows are here and have seen all that came before."""
    kept = part.kept.get(key)
    if kept is None or (kept.owner, kept.turn) != (owner, turn):
        return LOST
    answer = getattr(kept.rows, call)(*arguments)
    kept.turn += call in CHANGES
    return answer


def _make_and_answer(
    part: Part, recipe: _Recipe, state: tuple[Any, ...], turn: int, call: str, arguments: tuple[Any, ...]
) -> Any:
    """Where the part is: compile its rows, or take those of an earlier problem, bring them up to date, and answer."""
    if recipe.key not in part.kept:
        part.kept.clear()
        part.kept[recipe.key] = _compile(part, recipe)
    kept = part.kept[recipe.key]
    kept.rows.restore(state)
    kept.owner, kept.turn = recipe.owner, turn
    return _answer(part, recipe.key, recipe.owner, turn, call, arguments)


def _compile(part: Part, recipe: _Recipe) -> _Kept:
    table, weight = rows_of(part, recipe.chosen, recipe.columns)
    room = part.room - BYTES_OTHER * table.size
    n_kept = int(np.clip(room // (BYTES_KEPT * len(table)), 0, table.shape[1]))
    n_threads = min(recipe.n_threads, part.n_threads) if table.size > FEW_CELLS else 1
    rows = RecipeRows(table, weight, recipe.total, n_threads, n_kept, RARE)
    if rows.is_sparse():
        return _Kept(rows, BYTES_OF_A_ONE * int(np.count_nonzero(table)))
    return _Kept(rows, 2 * table.size + BYTES_KEPT * len(table) * n_kept)


def _size(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if isinstance(value, tuple | list):
        return sum(map(_size, value))
    return 8
