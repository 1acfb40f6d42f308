"""Indicator columns: how sets of them are found, and read as one nominal column each."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from isinglass._core import count_ones
from isinglass.arrays import Bytes, FloatArray, Mask
from isinglass.data.column import Column
from isinglass.data.meaning.coding import Coding
from isinglass.data.meaning.column_codes import apply_rule
from isinglass.data.meaning.recognition import scale_of
from isinglass.data.meaning.redundancy import ROWS_TO_SCREEN
from isinglass.data.meaning.refusals import refuse_values
from isinglass.data.meaning.rules import ABSENT, UNKNOWN, Levels, Rule
from isinglass.errors import DataError, DataWarning, setting, warn
from isinglass.names import unused_name
from isinglass.variables import MAX_CATEGORIES

if TYPE_CHECKING:
    from isinglass.data.source import Source
    from isinglass.data.table import Table

EXPECTED_ROWS = 5.0
"""Expected rows with both columns 1 from which on two columns that are never 1 together are taken for indicators."""


def combine_sets(coding: Coding, table: Table) -> Coding:
    """Return a coding with one nominal column for every set of indicators in a table that was read by ``coding``.

    It stands where the first indicator was. Rows in which no indicator is 1 have a category of their own.
    """
    variables = table.variables
    if variables.has_covariates:
        raise DataError(f"{setting('covariates')} and {setting('combine_indicators')} must not be combined.")
    is_binary = np.array([kind == "binary" for kind in variables.kinds])
    sets = indicator_sets(table.codes, is_binary, variables.names if variables.named else None)
    if not sets:
        warn(DataWarning(f"{setting('combine_indicators', True)} found no set of indicator columns."))
        return coding
    combined = {j for group in sets for j in group}
    singles = [[j] for j in range(variables.n_features) if j not in combined]
    groups = sorted([*sets, *singles])  # by their first columns
    taken = {variables.names[j] for [j] in singles}  # other tables are read by these
    names, rules = list[str](), list[Rule]()
    for group in groups:
        name, rule = variables.names[group[0]], coding.columns[group[0]]
        if len(group) > 1:
            common, words = split_names([variables.names[j] for j in group])
            gone = False if table.holes is None else table.holes[:, group]
            if not (table.codes[:, group] | gone).any(axis=1).all():
                words.append(unused_name("other", words))
            name, rule = unused_name(common, taken), Levels({word: k for k, word in enumerate(words)}, "nominal", None)
            taken.add(name)
        names.append(name)
        rules.append(rule)
    layout, members = replace(coding.layout, numbers=None, width=None, names=None), tuple(map(tuple, groups))
    return Coding(tuple(names), tuple(rules), coding.missing, layout=layout, single=coding, members=members)


def join_indicators(source: Source, coding: Coding) -> Source:
    """Return the columns of a coding; ``source`` has the single columns that they are made of."""

    def load(k: int) -> Column:
        places = coding.members[k]
        return source.column(places[0]) if len(places) == 1 else _join(source, places, coding, coding.columns[k].values)

    return replace(
        source,
        shape=(source.shape[0], len(coding.columns)),
        load=functools.cache(load),
        block=None,
        names=coding.names,
        chosen_from=None,
    )


def _join(source: Source, places: Sequence[int], coding: Coding, words: Sequence[object]) -> Column:
    """Return one column of words made of indicators; missing if no indicator is 1 and some are missing."""
    assert coding.single is not None
    bits = np.array([apply_rule(coding.single.columns[j], source.column(j)) for j in places])
    for j, codes in zip(places, bits, strict=True):
        if (codes == UNKNOWN).any():
            refuse_values(source, j, coding.single, np.flatnonzero(codes == UNKNOWN), None)
    n_ones = (bits == 1).sum(axis=0)
    gone = (bits == ABSENT).any(axis=0) & (coding.missing != "zero")
    is_complete = len(words) == len(places)  # no category for rows without an indicator
    for wrong, got in ((n_ones > 1, "several"), ((n_ones == 0) & ~gone & is_complete, "none")):
        if wrong.any():
            asked, row = "exactly" if is_complete else "at most", source.describe_row(int(wrong.argmax()))
            raise DataError(
                f"{setting('X')} must have {asked} one 1 in every row of the indicator columns "
                f"{source.labels[places[0]]!r} to {source.labels[places[-1]]!r}, as in the fitted table; got {got} in "
                f"{row}."
            )
    cells = np.where(n_ones == 1, (bits == 1).argmax(axis=0), np.where(gone, -1, len(words) - 1))
    return Column(cells, words)


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
    common = re.sub(r"[^\W_]*$", "", common) if separated else scale_of(common)
    words = [name[len(common) :] for name in names]
    shown = re.sub(r"[\W_]+$", "", common)
    if len(shown) < 2 - separated or not all(words):
        return f"{names[0]}:{names[-1]}", list(names)
    return shown, words


def indicator_sets(codes: Bytes, is_binary: Mask, names: Sequence[str] | None) -> list[list[int]]:
    """Return sets of neighboring columns with one 1 in every row, or with at most one.

    The latter only if they would be together in several rows by chance, and two of them only if they are named alike.
    A column and its complement are no set.
    """
    counts = np.zeros(codes.shape[1])
    if is_binary.any():
        two = codes if is_binary.all() else np.ascontiguousarray(codes[:, is_binary])
        counts[is_binary] = count_ones(two, None)[0]
    varied = np.flatnonzero((counts > 0) & (counts < len(codes)))
    stems = ["" if names is None else _stem(names[j]) for j in varied.tolist()]
    neighbors = _Neighbors(codes, varied, counts[varied], stems)
    sets = []
    start = 0
    while start < len(varied):
        end = neighbors.end_of_exact_set(start) or neighbors.end_of_exclusive_set(start)
        if end is not None:
            sets.append(varied[start:end].tolist())
        start = end or start + 1
    return sets


class _Neighbors:
    """Columns of 0 and 1 that vary, in the order of the table, among which sets of indicators are looked for."""

    def __init__(self, codes: Bytes, columns: NDArray[np.intp], ones: FloatArray, stems: Sequence[str]) -> None:
        self.codes, self.columns, self.stems = codes, columns, stems
        self.ones = [int(count) for count in ones]
        self.ones_before = np.concatenate([[0], np.cumsum(self.ones)])
        self.first_rows = np.packbits(codes[:ROWS_TO_SCREEN, columns], axis=0).T  # they rule out most sets

    def end_of_exact_set(self, start: int) -> int | None:
        """Return where a set ends of which every row has exactly one, None if none starts here."""
        n_rows, before = len(self.codes), self.ones_before
        end = int(np.searchsorted(before, before[start] + n_rows))  # where there are as many ones as rows
        if not 3 <= end - start < MAX_CATEGORIES or end == len(before) or before[end] != before[start] + n_rows:
            return None
        columns = self.columns[start:end]
        some_have_none = not self.codes[:ROWS_TO_SCREEN, columns].any(axis=1).all()
        return None if some_have_none or not self.codes[:, columns].any(axis=1).all() else end

    def end_of_exclusive_set(self, start: int) -> int | None:
        """Return where a set ends of which no row has two, None if none starts here."""
        n_rows = len(self.codes)
        n_ones, n_expected, seen = self.ones[start], 0.0, self.first_rows[start]
        end = start + 1
        while end < min(len(self.columns), start + MAX_CATEGORIES - 1):
            by_chance = n_ones * self.ones[end] / n_rows
            may_belong = by_chance >= EXPECTED_ROWS or self._are_named_alike(start, end)
            if not may_belong or self._meet(start, end, seen):
                break
            n_ones, n_expected, seen = n_ones + self.ones[end], n_expected + by_chance, seen | self.first_rows[end]
            end += 1
        enough = end - start > 2 or (end - start == 2 and self._are_named_alike(start, end - 1))
        return end if enough and n_expected >= 2 * EXPECTED_ROWS and n_ones < n_rows else None

    def _are_named_alike(self, one: int, other: int) -> bool:
        return self.stems[one] != "" and self.stems[one] == self.stems[other]

    def _meet(self, start: int, end: int, seen: NDArray[np.uint8]) -> bool:
        """Tell whether a row has a 1 in the column at ``end`` and in one before; ``seen``: which of the first rows."""
        if (seen & self.first_rows[end]).any():
            return True
        if len(self.codes) <= ROWS_TO_SCREEN:
            return False
        rows = self.codes[:, self.columns[end]] > 0
        return bool(self.codes[rows][:, self.columns[start:end]].any())


def _stem(name: str) -> str:
    """Return the part of a name before its last character that is neither a letter nor a digit."""
    return re.split(r"[\W_]+(?=[^\W_]*$)", name)[0] if re.search(r"[\W_]", name) else ""
