"""What the cells of a column stand for by a rule of a coding."""

from __future__ import annotations

import numpy as np

from isinglass.data.column import Column
from isinglass.data.meaning.rules import UNKNOWN, Codes, Rule
from isinglass.data.meaning.values import respell


def apply_rule(rule: Rule, column: Column) -> Codes:
    """Return what every cell of a column stands for."""
    rule = rule.with_missing(column.gone)
    if column.values is None and not rule.has_words:
        return rule.convert(column.cells)
    numbered = column.numbered()
    return np.asarray(_convert_values(rule, numbered).take(numbered.cells))


def _convert_values(rule: Rule, column: Column) -> Codes:
    """Return what every value stands for, and after them a missing cell, whose position is -1.

    A rule of words tells the texts 01 and 1 apart. A value that it does not know is read in the other way: a text as
    what it spells, a number as its text.
    """
    values = column.values or ()
    by_words = column.words is not None and rule.has_words and not column.labels
    compared = [word.strip() for word in column.words or ()] if by_words else values
    codes = rule.read([*compared, None], column.labels, column.blanks)
    unknown = np.flatnonzero(codes == UNKNOWN).tolist()
    if by_words:
        codes[unknown] = rule.read([values[k] for k in unknown])
    elif column.words is None:
        codes[unknown] = rule.read([respell(values[k]) for k in unknown])
    return codes
