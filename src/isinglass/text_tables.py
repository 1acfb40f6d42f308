"""Tables of text, and columns that are shown as such tables."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import AnyArray, Frozen

SHOWN_ROWS = 30  # in the repr of a table


def join_words(words: Sequence[str]) -> str:
    """Return "a", "a and b" or "a, b and c"."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


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
        return show_columns(self, "rows")


class NodeColumns(Frozen, ABC):
    """Columns with one entry per node, shown as a table."""

    names: tuple[str, ...]

    @property
    @abstractmethod
    def columns(self) -> Mapping[str, Sequence[object] | NDArray[np.generic]]:
        """All columns by name, ready for a data frame."""

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return show_columns({name.replace("_", " "): column for name, column in self.columns.items()}, "nodes")


def show_columns(columns: Mapping[str, Sequence[object] | NDArray[np.generic]], of: str, most: int = SHOWN_ROWS) -> str:
    """Return the first rows of some columns as a table, and how many more there are."""
    n_rows = min(map(len, columns.values()), default=0)
    rows = [[_cell(column[k]) for column in columns.values()] for k in range(min(n_rows, most))]
    return text_table(list(columns), rows) + (f"\n… and {n_rows - most} more {of}" if n_rows > most else "")


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as lines of text: its first column to the left, the others to the right."""
    lines = [header, *rows]
    widths = [max(len(line[c]) for line in lines) for c in range(len(header))]
    return "\n".join(
        "  ".join(line[c].rjust(width) if c else line[c].ljust(width) for c, width in enumerate(widths))
        for line in lines
    )


def _cell(value: object) -> str:
    """Return three decimals of a number, or two digits of one that would be shown as 0; "–" for NaN."""
    if not isinstance(value, float):
        return str(value)
    if math.isnan(value):
        return "–"
    return f"{value:.2g}" if 0.0 < abs(value) < 0.001 else f"{value:.3f}"
