"""What becomes of missing cells, and of values without a meaning: the last step of reading a table."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import FloatArray
from isinglass.data.coding import (
    ABSENT,
    UNKNOWN,
    Codes,
    Coding,
    Cut,
    Levels,
    Rule,
    Steps,
    Value,
    is_number,
    show_value,
    show_values,
)
from isinglass.data.rules import suggest
from isinglass.data.sources import Source
from isinglass.data.table import Table, refuse_holes
from isinglass.errors import DataError, DataWarning, setting, warn

SMALL = 20
"""Tables with fewer rows can be looked at, and need no warning."""
MANY_ROWS, MANY_CELLS, MOST_OF_A_COLUMN = 0.1, 0.05, 0.5
"""Share of the rows dropped, and of all cells or those of a column taken for 0, above which there is a warning."""
_SUGGESTED = 8  # most entries of a mapping that a message writes out


def settle(codes: Codes, source: Source, coding: Coding) -> Table:
    """Refuse what has no meaning, deal with the missing cells, and put the table together."""
    row_names = None if source.row_names is None else tuple(str(label) for label in source.row_names)
    numbers = _numbers(source, coding) if coding.missing == "impute" else None
    if codes.dtype == np.uint8 or codes.min() >= 0:
        return _make(codes, coding, row_names=row_names, numbers=numbers)
    bad = codes == UNKNOWN
    if bad.any():
        j = int(np.flatnonzero(bad.any(axis=0))[0])
        _refuse(source, j, coding.columns[j], int(np.flatnonzero(bad[:, j])[0]))
    gone = codes == ABSENT
    known: dict[str, Any] = {"n_missing": int(gone.sum())}
    if coding.missing == "error":
        _refuse_missing(gone, source, all(rule.kind == "binary" for rule in coding.columns))
    filled = np.where(gone, 0, codes)
    if coding.missing == "impute":
        refuse_holes(coding.variables, gone)
        return _make(filled, coding, row_names=row_names, holes=gone, numbers=numbers, **known)
    if coding.missing == "drop":
        rows = np.flatnonzero(~gone.any(axis=1))
        if len(rows) == 0:
            raise DataError(
                f"{setting('X')} must have a row without missing cells for {setting('missing', 'drop')}; got none. "
                f"Choose {setting('missing', 'impute')}, or leave out columns first."
            )
        _warn_dropped(gone, len(rows))
        kept = None if row_names is None else tuple(row_names[i] for i in rows)
        return _make(codes[rows], coding, row_names=kept, rows=rows, n_dropped=len(codes) - len(rows), **known)
    for j in np.flatnonzero(gone.any(axis=0)).tolist():
        if coding.columns[j].n_categories > 2:
            raise DataError(
                f"{setting('missing', 'zero')} must be for columns of 0 and 1; got a missing cell in "
                f"{source.where(j)}, which has categories. Choose {setting('missing', 'impute')} or "
                f"{setting('missing', 'drop')}."
            )
    _warn_zeroed(gone, source)
    return _make(filled, coding, row_names=row_names, filled=gone, **known)


def _numbers(source: Source, coding: Coding) -> FloatArray | None:
    """Return the numbers in the continuous columns, NaN elsewhere; None if there is no such column."""
    places = [j for j, rule in enumerate(coding.columns) if isinstance(rule, Steps)]
    if not places:
        return None
    found = np.full(source.shape, np.nan)
    for j in places:
        found[:, j] = [cell if is_number(cell) else np.nan for cell in source.column(j).entries.tolist()]
    return found


def _make(codes: Codes, coding: Coding, **known: Any) -> Table:  # Any: fields of a table
    """Return a table of bytes."""
    cells = codes.view(np.uint8) if codes.dtype == np.int8 else codes.astype(np.uint8, copy=False)
    return Table(cells, coding.variables, coding=coding, **known)


def _refuse_missing(gone: NDArray[np.bool_], source: Source, bits: bool) -> NoReturn:
    j = int(np.flatnonzero(gone.any(axis=0))[0])
    row = source.describe_row(int(np.flatnonzero(gone[:, j])[0]))
    zero = f"with {setting('missing', 'zero')} where a missing cell means 0, " if bits else ""
    raise DataError(
        f"{setting('X')} must have no missing cells; got NaN in {source.where(j)} ({row}; {int(gone.sum())} missing "
        f"cell(s) in all). Read the table with {setting('missing', 'impute')} to draw them from the network, {zero}or "
        f"with {setting('missing', 'drop')} to leave out its row."
    )


def _warn_dropped(gone: NDArray[np.bool_], n_kept: int) -> None:
    """Say what was left out, where that is much."""
    n_rows, n_dropped = len(gone), len(gone) - n_kept
    if n_rows >= SMALL and n_dropped > MANY_ROWS * n_rows:
        warn(
            DataWarning(
                f"{setting('missing', 'drop')} left out {n_dropped} of {n_rows} rows ({n_dropped / n_rows:.0%}) for "
                f"{int(gone.sum())} missing cells ({gone.mean():.1%}). The remaining rows may not be "
                f"representative. Choose {setting('missing', 'impute')} to use all answers."
            )
        )


def _warn_zeroed(gone: NDArray[np.bool_], source: Source) -> None:
    """Say what became 0, where that can hardly be meant: whole rows, or many cells of a column."""
    empty, shares = int(gone.all(axis=1).sum()), gone.mean(axis=0)
    worst = int(shares.argmax())
    said = []
    if empty and gone.shape[1] > 1:
        said.append(f"{empty} of {len(gone)} rows have no answer at all and are now rows of 0")
    if len(gone) >= SMALL and (shares.mean() > MANY_CELLS or shares[worst] > MOST_OF_A_COLUMN):
        said.append(
            f"{int(gone.sum())} missing cells ({gone.mean():.1%}) became 0, {shares[worst]:.0%} of the cells in "
            f"{source.where(worst)}"
        )
    if said:
        warn(
            DataWarning(
                f"{setting('missing', 'zero')}: {'; '.join(said)}. Unless a missing cell means 0, this hides "
                f"some dependencies and creates spurious ones. Choose {setting('missing', 'impute')}."
            )
        )


def _refuse(source: Source, j: int, rule: Rule, row: int) -> NoReturn:
    """Say which values of a column are wrong, and what to do about it."""
    values = source.column(j).distinct
    wrong = [value for value in values if rule.target(value) == UNKNOWN]
    where = f"got {show_values(wrong)} in {source.where(j)} (first in {source.describe_row(row)})"
    if isinstance(rule, Cut):
        raise DataError(
            f"{setting('X')} must hold finite numbers for {setting('binarize', rule.threshold)}; {where}. Leave "
            f"{setting('binarize')} out, or replace these values."
        )
    if isinstance(rule, Steps):
        raise DataError(
            f"{setting('X')} must hold finite numbers in a continuous column; {where}. Replace these values, or make "
            f"them missing ({setting('na_values', wrong[0])})."
        )
    if rule.kind != "binary":
        known = [value for value in rule.values if value is not None]
        raise DataError(
            f"{setting('X')} must have the categories that were declared or fitted; {where}, which has "
            f"{show_values(known)}. Declare all categories before the fit, with a categorical type or with encode, or "
            "make these cells missing."
        )
    if not rule.is_plain:
        remedy = _lacking_remedy(rule, wrong)
        raise DataError(f"{setting('encode')} must say what every value means; {where}, which it lacks. {remedy}")
    raise DataError(f"{setting('X')} must hold only 0 and 1; {where}. {suggest(values)}{source.remark_column(j)}")


def _lacking_remedy(rule: Levels, wrong: list[Value]) -> str:
    if len(rule.entries) == 1:
        return (
            f"It knows only {show_value(next(iter(rule.entries)))} there: the rows that it was found in had no other "
            "value. Encode the whole table at once, or pass a mapping."
        )
    whole = {value: None if bit == ABSENT else bit for value, bit in {**rule.entries, **dict.fromkeys(wrong)}.items()}
    plain = all(isinstance(value, str | int | float) and "…" not in show_value(value) for value in whole)
    if len(whole) > _SUGGESTED or not plain:
        return "Add them."
    return f"Add them, for example {setting('encode', whole)} if they are missing answers."
