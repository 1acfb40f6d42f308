"""What tables in parts answer where a `Table` in memory knows single rows and cells."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import ClassVar, Literal, NoReturn, Self

from isinglass.data.meaning.coding import Guess
from isinglass.errors import DataError


class RowsElsewhere:
    """The rows of a table that are not in the memory of this process: nothing is known of single ones.

    What may be asked of any table has an answer here; what needs the rows is refused.
    """

    is_whole: ClassVar[Literal[False]] = False
    n_unlabeled: ClassVar[Literal[0]] = 0
    guesses: ClassVar[Mapping[Hashable, Guess]] = {}
    row_names: ClassVar[None] = None
    rows: ClassVar[None] = None
    units: ClassVar[None] = None  # no row is a copy
    holes: ClassVar[None] = None  # no cell is to be imputed
    drawn: ClassVar[None] = None  # or was imputed

    def bare(self) -> Self:
        """Return the table, of whose single rows nothing is known."""
        return self

    def without_holes(self) -> Self:
        """Return the table, in which no cell is missing."""
        return self

    def counted(self, *, quiet: bool = False) -> Self:
        """Return the table, whose weights were scaled when it was read."""
        return self

    def whole(self) -> NoReturn:
        """Refuse: the rows are needed in memory."""
        raise DataError(
            "X must be in memory here; got a table in parts. Joint paths, the two-stage estimate, EBIC, refits, "
            "predictions and scores accept parts; for everything else, read the table, or a sample of its rows, "
            "into memory."
        )

    def _refuse(self, *asked: object, **how: object) -> NoReturn:
        self.whole()

    codes = unit_weight = weighted_rows = property(_refuse)
    with_weight = __getitem__ = __iter__ = __array__ = _refuse
