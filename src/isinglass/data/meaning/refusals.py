"""Why cells are refused: the column, its values, a row, and what to do; and what became of missing cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import Mask
from isinglass.data.column import BLANKS
from isinglass.data.meaning import advice
from isinglass.data.meaning.coding import Coding
from isinglass.data.meaning.recognition import ROWS_TO_JUDGE, are_dates
from isinglass.data.meaning.rules import Cut, Levels, Steps
from isinglass.data.meaning.values import is_missing, show_value, show_values
from isinglass.data.source import Source
from isinglass.errors import DataError, DataWarning, plural, setting, warn

DROPPED_SHARE, ZERO_SHARE, ZERO_SHARE_OF_COLUMN = 0.1, 0.05, 0.5
"""Share of the rows dropped, and of all cells or those of a column taken for 0, above which there is a warning."""


def refuse_values(source: Source, j: int, coding: Coding, rows: NDArray[np.intp], *, is_known: bool) -> NoReturn:
    """Say which values of a column are wrong, those in some rows, and what to do about it.

    ``is_known``: the coding is that of another table.
    """
    rule, row, column = coding.columns[j], int(rows[0]), source.column(j)
    labels = column.labels if isinstance(rule, Levels) and rule.labels else {}
    wrong = [labels.get(value, value) for value in dict.fromkeys(column.entries[rows])]
    make_gone, remark = advice.make_missing(wrong[:1]), advice.remark_numbers(wrong, source.decimal)
    remedy, holds = f"Replace these values, or make them missing ({make_gone}).", ""
    if isinstance(rule, Cut):
        must = f"{setting('X')} must hold finite numbers for {setting('binarize', rule.threshold)}"
    elif isinstance(rule, Steps):
        must = f"{setting('X')} must hold finite numbers in a continuous column"
    elif not rule.is_plain:
        known = show_values(value for value in rule.values if value is not None)
        must = f"{setting('X')} must hold the values that were declared or fitted, {known}"
        if rule.kind == "binary" and not is_known:
            must = f"{setting('encode')} must say what every value means"
        remedy = f"Say before the fit what every value means ({advice.ENCODE}), or make these missing ({make_gone})."
    else:
        must = f"{setting('X')} must hold only 0 and 1"
        if not is_known or source.is_part:
            remedy = advice.settle(column.distinct, source.labels[j], in_parts=source.is_part)
            remark = advice.remark_column(source, j)
            remark += advice.PROPOSALS if len(column.distinct) > 2 and not source.is_part else ""
            holds = f", which holds {show_values(column.distinct)}" if len(column.distinct) > len(wrong) else ""
    may_be_name = isinstance(wrong[0], str) or len(rows) == 1  # such as a year
    if row == 0 and source.layout.has_header is False and may_be_name and advice.HEADER not in remark:
        remark += advice.HEADER
    shown = "dates" if are_dates(wrong) else show_values(wrong)
    raise DataError(
        f"{must}; got {shown} in {source.where(j)} (first in {source.describe_row(row)}){holds}. {remedy}{remark}"
    )


def refuse_missing(gone: Mask, source: Source, *, has_only_bits: bool) -> NoReturn:
    """Say where a cell is missing, and what can become of missing cells."""
    j = int(np.flatnonzero(gone.any(axis=0))[0])
    row = int(np.flatnonzero(gone[:, j])[0])
    cell = source.column(j).as_given[row]
    is_stated = not (is_missing(cell) or str(cell).strip() in BLANKS)
    got = f"{show_value(cell)}, which stands for one," if is_stated else "NaN" if isinstance(cell, float) else "one"
    zero = f"{setting('missing', 'zero')} where a missing cell means 0, " if has_only_bits else ""
    impute = "" if source.is_part else f"{setting('missing', 'impute')} to draw them from the network, "
    place = f"{source.where(j)} ({source.describe_row(row)}; {plural(int(gone.sum()), 'missing cell')} in all)"
    raise DataError(
        f"{setting('X')} must have no missing cells; got {got} in {place}. Choose {impute}{zero}or "
        f"{setting('missing', 'drop')} to leave out their rows."
    )


def refuse_zeros(gone: Mask, source: Source, coding: Coding) -> None:
    """Refuse missing cells of columns with categories where these are read as 0."""
    for j in np.flatnonzero(gone.any(axis=0)).tolist():
        if coding.columns[j].n_categories > 2:
            raise DataError(
                f"{setting('missing', 'zero')} works only for columns of 0 and 1; there is a missing cell in "
                f"{source.where(j)}, which has categories. Choose {setting('missing', 'impute')} or "
                f"{setting('missing', 'drop')}."
            )


def complete_rows(gone: Mask, is_unlabeled: Mask, source: Source) -> NDArray[np.intp]:
    """Return the rows without missing cells and with all labels, of which there must be one."""
    rows = np.flatnonzero(~gone.any(axis=1) & ~is_unlabeled)
    if len(rows) == 0 and is_unlabeled.all():
        raise DataError(f"{setting('labels')} must have an entry in at least one row; got none.")
    if len(rows) == 0:
        empty = np.flatnonzero(gone.all(axis=0)).tolist()
        reason = f": {source.where(empty[0])} has no answers at all" if empty else ""
        refuse_incomplete(f"none{reason}. Leave out columns first, or choose {setting('missing', 'impute')}.")
    warn_dropped(gone.shape, len(gone) - len(rows), int(gone.sum()), int(is_unlabeled.sum()))
    return rows


def refuse_incomplete(got: str) -> NoReturn:
    """Refuse a table without a complete row whose incomplete rows are to be left out."""
    raise DataError(
        f"{setting('X')} must have at least one row without missing cells for {setting('missing', 'drop')}; got {got}"
    )


def warn_dropped(shape: tuple[int, ...], n_dropped: int, n_missing: int, n_unlabeled: int = 0) -> None:
    """Say what was left out: rows without a label, or many with missing cells."""
    n_rows, n_columns = shape
    if n_rows < ROWS_TO_JUDGE or (n_dropped <= DROPPED_SHARE * n_rows and not n_unlabeled):
        return
    reasons = [f"{plural(n_missing, 'missing cell')} ({n_missing / (n_rows * n_columns):.1%})"] if n_missing else []
    reasons += [plural(n_unlabeled, "missing group label")] if n_unlabeled else []
    warn(
        DataWarning(
            f"{setting('missing', 'drop')} left out {n_dropped} of {n_rows} rows ({n_dropped / n_rows:.0%}) for "
            f"{' and '.join(reasons)}. The remaining rows may not be representative."
        )
    )


def warn_zeroed(n_rows: int, n_missing: NDArray[np.intp], n_empty: int, where: Callable[[int], str]) -> None:
    """Say what became 0, where that can hardly be meant: whole rows, or many cells of a column.

    ``n_missing`` are the missing cells of every column, and ``n_empty`` the rows that have no others.
    """
    shares = n_missing / n_rows
    worst = int(shares.argmax())
    said = []
    if n_empty and len(shares) > 1:
        said.append(f"{n_empty} of {n_rows} rows have no answer at all and are now rows of 0")
    if n_rows >= ROWS_TO_JUDGE and (shares.mean() > ZERO_SHARE or shares[worst] > ZERO_SHARE_OF_COLUMN):
        cells = f"{n_missing.sum()} missing cells ({shares.mean():.1%})"
        said.append(f"{cells} became 0, {shares[worst]:.0%} of the cells in {where(worst)}")
    if said:
        warn(
            DataWarning(
                f"{setting('missing', 'zero')}: {'; '.join(said)}. Unless a missing cell means 0, this hides some "
                f"dependences and creates spurious ones."
            )
        )
