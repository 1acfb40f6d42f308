"""Which cells of a table were missing, and how they were treated: what a fit keeps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isinglass.arguments import require
from isinglass.arrays import FloatArray, Frozen, Mask, read_only
from isinglass.data import AnyTable
from isinglass.json_text import JsonObject

MOST_PATTERNS = 10
"""Patterns of missing cells that a record lists."""


def hole_patterns(gone: Mask, most: int) -> tuple[Mask, NDArray[np.intp], int]:
    """Return the columns that are missing together: patterns with a hole, the most frequent first, and their rows.

    At most ``most`` of them; the third value is how many there are.
    """
    bits, counts = np.unique(np.packbits(gone, axis=1), axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    order = order[bits[order].any(axis=1)]
    patterns = np.unpackbits(bits[order[:most]], axis=1, count=gone.shape[1]).astype(bool)
    return read_only(patterns), counts[order[:most]], len(order)


@dataclass(frozen=True, eq=False, kw_only=True)
class Missing(Frozen):
    """Which cells of a table were missing, and how they were treated."""

    treatment: str  #: "impute", "zero" or "drop"
    n_rows: int  #: rows of the table, those that were left out included
    n_cells: int  #: missing cells
    n_unlabeled: int = 0  #: rows that were left out because their group label is missing
    #: rows left out: those without any answer ("impute"), or with a missing cell or group label ("drop")
    n_left_out: int = 0
    n_holed: int = 0  #: rows that stayed and have a missing cell
    n_patterns: int = 0  #: sets of columns that are missing together
    #: share of missing cells of every column, in the rows that stayed; None where these have none left
    column_shares: FloatArray | None = None
    patterns: NDArray[np.bool_] | None = None  #: the most frequent of these sets, (n_shown, n_features)
    pattern_counts: NDArray[np.intp] | None = None  #: and the number of rows of each
    n_imputations: int = 0  #: "impute": completed tables
    settled: int = -1  #: round in which the network that cells are drawn from stopped moving; -1 if it never did
    is_cut: bool = False  #: whether a time limit ended the rounds
    noise: float = 0.0  #: root mean square Monte Carlo error of its parameters
    changes: FloatArray | None = None  #: root mean square by which they changed, round by round
    #: share of missing information of fields and of couplings, and the Monte Carlo errors of unpenalized couplings;
    #: NaN where there is no estimate, None where they were not computed
    column_information: FloatArray | None = None
    edge_information: FloatArray | None = None
    edge_noise: FloatArray | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        known = self.treatment in ("impute", "zero", "drop")
        require(known, f"Missing cells are treated by 'impute', 'zero' or 'drop', not by {self.treatment!r}.")

    @property
    def n_rounds(self) -> int:
        """Rounds of stochastic EM."""
        return 0 if self.changes is None else len(self.changes)

    @classmethod
    def of(cls, table: AnyTable) -> Missing | None:
        """Return what became of missing cells when a table was read; None if there were none to be filled or dropped.

        Examples
        --------
        >>> from isinglass import as_table
        >>> found = Missing.of(as_table([[1, 0], [None, 1], [0, 1]], missing="drop"))
        >>> found.treatment, found.n_cells, found.n_rows, found.n_left_out
        ('drop', 1, 3, 1)
        """
        treatment = table.missing_treatment
        if treatment == "impute" and table.n_unlabeled and table.holes is None and table.drawn is None:
            treatment = "drop"  # no cell was missing, but labels of rows were
        if treatment not in ("zero", "drop"):
            return None
        if table.is_whole and table.filled is not None:
            return cls(treatment=treatment, **cls.count(table.filled))
        return cls(
            treatment=treatment,
            n_rows=len(table) + table.n_dropped,
            n_cells=table.n_missing,
            n_unlabeled=table.n_unlabeled,
            n_left_out=table.n_dropped,
        )

    @staticmethod
    def count(gone: NDArray[np.bool_], n_empty: int = 0) -> JsonObject:
        """Return the counts of a record, given the missing cells of the rows that stayed.

        ``n_empty``: rows without any answer, which were left out.
        """
        patterns, counts, n_patterns = hole_patterns(gone, MOST_PATTERNS)
        return {
            "n_rows": len(gone) + n_empty,
            "n_cells": int(gone.sum()) + n_empty * gone.shape[1],
            "n_left_out": n_empty,
            "n_holed": int(gone.any(axis=1).sum()),
            "n_patterns": n_patterns,
            "column_shares": gone.mean(axis=0),
            "patterns": patterns,
            "pattern_counts": counts,
        }
