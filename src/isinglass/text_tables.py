"""Tables of text, and columns that are shown as such tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import AnyArray
from isinglass.errors import plural

AnyColumns: TypeAlias = Mapping[str, Sequence[object] | NDArray[np.generic]]  # of equal length, by name
SHOWN_ROWS = 30  # in the repr of a table


class Columns(dict[str, AnyArray]):
    """Columns of equal length by name, ready for a data frame, shown as a table.

    Examples
    --------
    >>> Columns(source=np.array(["tea", "rain"]), coupling=np.array([0.5, -1.25]))
    source  coupling
    tea        0.500
    rain      -1.250
    """

    def take(self, rows: NDArray[np.generic]) -> Columns:
        """Return some rows, in this order."""
        return Columns({name: column[rows] for name, column in self.items()})

    def __repr__(self) -> str:
        return show_columns(self, "row")


def show_columns(columns: AnyColumns, row: str, most: int = SHOWN_ROWS) -> str:
    """Return the first rows of some columns as a table, and how many more there are; ``row`` is what one of them is."""
    padded: list[list[str]] = []
    for name, column in columns.items():
        texts = [name, *map(cell_text, column[:most])]
        width = max(map(len, texts))
        padded.append([text.rjust(width) if padded else text.ljust(width) for text in texts])
    lines = ["  ".join(cells) for cells in zip(*padded, strict=True)]
    n_more = min(map(len, columns.values()), default=0) - most
    return "\n".join([*lines, f"… and {plural(n_more, f'more {row}')}"] if n_more > 0 else lines)


def cell_text(value: object) -> str:
    """Return three decimals of a number, or two digits of one that would be shown as 0; "–" for NaN."""
    if not isinstance(value, float):
        return str(value)
    if math.isnan(value):
        return "–"
    return f"{value:.2g}" if 0.0 < abs(value) < 0.001 else f"{value:.3f}"
