"""Sets of indicator columns as one column of categories each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import Bytes, Mask
from isinglass.data.meaning.coding import Coding
from isinglass.data.meaning.redundancy import indicator_sets
from isinglass.data.meaning.rules import Indicators
from isinglass.data.table import Table
from isinglass.errors import DataError, DataWarning, called_row, setting, warn
from isinglass.names import unused_name


def combine_indicators(table: Table) -> Table:
    """Return the table with every set of indicator columns as one nominal column, where the first of them was."""
    variables = table.variables
    is_binary = np.array([kind == "binary" for kind in variables.kinds])
    sets = indicator_sets(table.codes, is_binary, variables.names if variables.named else None)
    if not sets:
        warn(DataWarning(f"{setting('combine_indicators', True)} found no set of indicator columns."))
        return table
    rules, names = dict(enumerate(table.coding.columns)), list(variables.names)
    combined = {j for group, _ in sets for j in group}
    taken = {name for j, name in enumerate(names) if j not in combined}  # other tables are read by these names
    for group, in_every_row in sets:
        members = [names[j] for j in group]
        common, words = split_names(members)
        gone = False if table.holes is None else table.holes[:, group]
        if not in_every_row and not (table.codes[:, group] | gone).any(axis=1).all():
            words.append(unused_name("other", words))
        parts = tuple(rules[j] for j in group)
        rules[group[0]] = Indicators(
            {word: k for k, word in enumerate(words)}, "nominal", None, members=tuple(members), rules=parts
        )
        names[group[0]] = unused_name(common, taken)
        taken.add(names[group[0]])
    left_out = {j for group, _ in sets for j in group[1:]}
    kept = [j for j in range(len(names)) if j not in left_out]
    first = {group[0]: group for group, _ in sets}
    layout = table.coding.take([j for k in kept for j in first.get(k, [k])]).layout
    columns = tuple(rules[j] for j in kept)
    return combine(table, Coding(tuple(names[j] for j in kept), columns, table.coding.missing, layout=layout))


def combine(table: Table, coding: Coding) -> Table:
    """Return a table of the columns that a coding is made of as one of its columns."""
    place = {name: j for j, name in enumerate(table.names)}
    codes = np.zeros((len(table), len(coding.columns)), dtype=np.uint8)
    marks: dict[str, Any] = {  # Any: fields of the record
        name: None if getattr(table, name) is None else np.zeros(codes.shape, bool) for name in ("holes", "filled")
    }
    for k, (members, rule) in enumerate(zip(coding.members, coding.columns, strict=True)):
        columns = [place[name] for name in members]
        cells = table.codes[:, columns]
        answered = cells.sum(axis=1) > 0
        if isinstance(rule, Indicators):
            may_have_one = answered if table.holes is None else answered | table.holes[:, columns].any(axis=1)
            _check_rows(cells, rule, may_have_one, table.rows)
            codes[:, k] = np.where(answered, cells.argmax(axis=1), len(rule.values) - 1)
        else:
            codes[:, k] = cells[:, 0]
        for name, mark in marks.items():
            if mark is not None:
                gone = getattr(table, name)[:, columns].any(axis=1)
                mark[:, k] = gone & ~answered if isinstance(rule, Indicators) else gone
    holes = marks["holes"]
    n_missing = table.n_missing if holes is None else int(holes.sum())
    holes = holes if holes is not None and holes.any() else None
    if holes is not None:
        codes[holes] = 0
    marks["holes"] = holes
    if table.numbers is not None:
        marks["numbers"] = table.numbers[:, [place[members[0]] for members in coding.members]]
    return replace(table, codes=codes, variables=coding.variables, read_by=coding, n_missing=n_missing, **marks)


def _check_rows(cells: Bytes, rule: Indicators, may_have_one: Mask, rows: NDArray[np.intp] | None) -> None:
    """Refuse rows with several indicators, and those with none where every row of the fit had one."""
    every_row = len(rule.values) == len(rule.members)  # no category for rows without an indicator
    several = np.flatnonzero(cells.sum(axis=1, dtype=np.intp) > 1)
    none = np.flatnonzero(~may_have_one) if every_row else several[:0]
    if len(several) or len(none):
        row, number = (several[0], "several") if len(several) else (none[0], "none")
        where = called_row(int(row if rows is None else rows[row]))
        asked = "exactly one 1" if every_row else "at most one 1"
        raise DataError(
            f"{setting('X')} must have {asked} in every row of the indicator columns {rule.members[0]!r} to "
            f"{rule.members[-1]!r}, as in the fitted table; got {number} in {where}."
        )


def split_names(names: Sequence[str]) -> tuple[str, list[str]]:
    """Return the common part of the names of indicators, and what each has beside it.

    Examples
    --------
    >>> split_names(["color_red", "color_rose"]), split_names(["age10", "age12"]), split_names(["x3", "x4", "x5"])
    (('color', ['red', 'rose']), ('age', ['10', '12']), ('x3:x5', ['x3', 'x4', 'x5']))
    """
    pairs = zip(min(names), max(names), strict=False)
    common = "".join(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    separated = re.search(r"[\W_]", common) is not None
    common = re.sub(r"[^\W_]*$", "", common) if separated else common.rstrip("0123456789")
    words = [name[len(common) :] for name in names]
    shown = re.sub(r"[\W_]+$", "", common)
    if len(shown) < 2 - separated or not all(words):
        return f"{names[0]}:{names[-1]}", list(names)
    return shown, words
