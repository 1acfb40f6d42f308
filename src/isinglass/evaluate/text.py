"""Tables of text, and records with one entry per node that are shown as such tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import Frozen

SHOWN_NODES = 30  # in the repr of a table


def join_words(words: Sequence[str]) -> str:
    """Return "a", "a and b" or "a, b and c"."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


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
        shown = {name: column for name, column in self.columns.items() if name != "community"}
        rows = [[_cell(column[k]) for column in shown.values()] for k in range(min(len(self), SHOWN_NODES))]
        more = f"\n… and {len(self) - SHOWN_NODES} more nodes" if len(self) > SHOWN_NODES else ""
        return text_table([name.replace("_", " ") for name in shown], rows) + more


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as lines of text: its first column to the left, the others to the right."""
    lines = [header, *rows]
    widths = [max(len(line[c]) for line in lines) for c in range(len(header))]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True))])
        for line in lines
    )


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
