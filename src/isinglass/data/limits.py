"""How large a table may be, checked before the memory is taken."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from isinglass.errors import DataError, LimitError

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """Bounds on a table that is read from a file.

    Parameters
    ----------
    max_rows, max_columns : int
        Of the table in the file.
    max_bytes : int
        Of the file, of what it decompresses to, and of the table, which takes one byte per cell.

    Examples
    --------
    >>> Limits(max_rows=10).check_shape(11, 2)
    Traceback (most recent call last):
    isinglass.errors.LimitError: max_rows must be at least the number of rows; got 10 for a table of 11 or more. ...
    """

    max_rows: int = 10_000_000
    max_columns: int = 100_000
    max_bytes: int = 2**32

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise DataError(f"{field.name} must be an integer of at least 1; got {value!r}.")

    def check_shape(self, n_rows: int, n_columns: int) -> None:
        """Refuse a table with too many rows, columns or cells."""
        for limit, count, what in (
            (self.max_rows, n_rows, "rows"),
            (self.max_columns, n_columns, "columns"),
        ):
            if count > limit:
                raise LimitError(
                    f"max_{what} must be at least the number of {what}; got {limit} for a table of {count} or more. "
                    f"Raise max_{what} if the file is what it should be."
                )
        self.check_bytes(n_rows * n_columns, "a table with one byte per cell")

    def check_bytes(self, n_bytes: int, what: str) -> None:
        """Refuse more bytes than allowed."""
        if n_bytes > self.max_bytes:
            raise LimitError(
                f"max_bytes must be at least the size of the data; got {self.max_bytes} for {what} of {n_bytes} bytes "
                "or more. Raise max_bytes if the file is what it should be."
            )
