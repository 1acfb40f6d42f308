"""How large a table may be, checked before the memory is taken."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property

from isinglass.archive import most_unpacked
from isinglass.arguments import check_count
from isinglass.errors import LimitError, setting

LARGEST = 2**32
"""Bytes, unless the user says otherwise."""
LONGEST_LINE = 2**26
BYTES_PER_ROW, BYTES_PER_CELL, BYTES_PER_WORD = 80, 8, 160
"""What text costs beside its own length if its cells have to be looked at one by one, about; words are counted once."""


@dataclass(frozen=True)
class Limits:
    """Bounds on a table that is read from a file.

    Examples
    --------
    >>> Limits(max_rows=10).check_shape(11, 2)
    Traceback (most recent call last):
    isinglass.errors.LimitError: max_rows must be at least the number of rows; got 10 for a table of 11 or more. ...
    >>> Limits().of_file(1000).n_bytes == 2**28
    True
    """

    max_rows: int = 10_000_000  # of the table in the file
    max_columns: int = 100_000
    # of the file, of what it unpacks to, and of the table, which takes one byte per cell. By default 4 GiB, and not
    # more than 25 times the size of the file or 256 MiB, whichever is larger: no small file takes much memory
    max_bytes: int | None = None
    size: int = LARGEST  # of the file

    def __post_init__(self) -> None:
        for field in fields(self):
            if field.name != "max_bytes" or self.max_bytes is not None:
                check_count(field.name, getattr(self, field.name), least=int(field.name != "size"), most=None)

    def of_file(self, size: int) -> Limits:
        """Return the limits for a file of this size."""
        return replace(self, size=size)

    @cached_property
    def n_bytes(self) -> int:
        """The limit in bytes that is in force."""
        return most_unpacked(self.size, LARGEST) if self.max_bytes is None else self.max_bytes

    def check_shape(self, n_rows: int, n_columns: int) -> None:
        """Refuse a table with too many rows, columns or cells."""
        for limit, count, what in (
            (self.max_rows, n_rows, "rows"),
            (self.max_columns, n_columns, "columns"),
        ):
            if count > limit:
                raise LimitError(
                    f"{setting(f'max_{what}')} must be at least the number of {what}; got {limit} for a table of "
                    f"{count} or more. "
                    f"Raise {setting(f'max_{what}')} if the file is what it should be."
                )
        self.check_bytes(n_rows * n_columns, "a table with one byte per cell")

    def check_text(self, *, n_rows: int = 0, n_cells: int = 0, n_words: int = 0) -> None:
        """Refuse text with more rows, cells or different words than there is room for."""
        for each, number, what in (
            (BYTES_PER_ROW, n_rows, "rows of text"),
            (BYTES_PER_CELL, n_cells, "cells of text"),
            (BYTES_PER_WORD, n_words, "different words"),
        ):
            self.check_bytes(each * number, f"{number} {what}, which take the room")

    def check_bytes(self, n_bytes: int, what: str) -> None:
        """Refuse more bytes than allowed."""
        if n_bytes > self.n_bytes:
            raise LimitError(
                f"{setting('max_bytes')} must be at least the size of the data; got {self.n_bytes} for {what} of "
                f"{n_bytes} bytes or more. Raise {setting('max_bytes')} if the file is what it should be."
            )
