"""Which record of a text file is a header, and how its fields become cells."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.data.cells import NA_VALUES, Vocabulary
from isinglass.data.coding import is_number
from isinglass.data.sheet import ID_NAMES, Sheet
from isinglass.data.sources import Grid
from isinglass.data.text import Records
from isinglass.errors import DataError, setting


def lay_out(records: Records, vocabulary: Vocabulary, header: bool | str) -> Sheet:
    """Interpret the fields and split off the header."""
    values = [vocabulary.read(word) for word in records.words]
    headed = _has_header(records, values, vocabulary) if header == "auto" else bool(header)
    missing_corner = len(records.first) < records.codes.shape[1]
    names = ["", *records.first] if missing_corner else records.first
    if headed or missing_corner:
        codes, words, start = records.codes, records.words, 1
    else:
        codes, words, values = _prepend(records, values, vocabulary)
        start = 0
    if len(codes) == 0:
        raise DataError(
            f"the file must be a table with rows; got a header only. Pass {setting('header', False)} if it holds data."
        )
    sheet = Sheet.of_grid(
        Grid(codes, values),
        names=[" ".join(name.split()) for name in names] if start else None,
        words=words,
        describe_row=lambda row: f"row {row + 1}, line {records.line_of(row + start)}",
    )
    last = codes.shape[1] - 1  # without name and values where lines end with a delimiter
    empty = last > 0 and not any(sheet.column_words(last)) and not (sheet.names and sheet.names[last])
    return sheet.without(last) if empty else sheet


def _has_header(records: Records, values: list[Any], vocabulary: Vocabulary) -> bool:
    """Tell whether the first record names the columns; a first column is left aside, it may hold row names.

    It does if more than half of its texts occur nowhere below, row names apart; or, if it has no text, if it holds a
    number other than 0 and 1 while everything below is 0, 1 or missing. Of a record that is empty but for its first
    field, that field decides: a text is a name, unless there is text below it as well, which would be row names.
    """
    codes = records.codes
    columns = range(1 if codes.shape[1] > 1 else 0, codes.shape[1])
    if len(records.first) < codes.shape[1]:
        return True
    read = [vocabulary.read(records.first[j]) for j in columns]
    texts = [(j, value) for j, value in zip(columns, read, strict=True) if isinstance(value, str)]
    if texts:
        positions: dict[str, list[int]] = {text: [] for _, text in texts}
        for position, value in enumerate(values):
            if isinstance(value, str) and value in positions:
                positions[value].append(position)
        used = _used_codes(records, values) if any(positions.values()) else None
        fresh = sum(used is None or not used[positions[text]].any() for _, text in texts)
        return 2 * fresh > len(texts)
    if _are_names(records):
        return True
    if codes.shape[1] > 1 and all(value is None for value in read):
        named = isinstance(vocabulary.read(records.first[0]), str)
        return named and not any(isinstance(values[code], str) for code in np.unique(codes[:, 0]))
    other = any(value is not None and value not in (0, 1) for value in read)
    bits = np.array([value is None or (is_number(value) and value in (0, 1)) for value in values], dtype=bool)
    return other and bool(bits[codes[:, columns]].all())


def _are_names(records: Records) -> bool:
    """Tell whether spellings of a missing cell are names: NA, nan and null, all different and none of them below."""
    first = [word.strip() for word in records.first]
    if len(first) < 2 or not all(word in NA_VALUES and word for word in first) or len(set(first)) < len(first):
        return False
    searched = [position for position, word in enumerate(records.words) if word.strip() in first]
    return not np.isin(records.codes, searched).any()


def _used_codes(records: Records, values: list[Any]) -> NDArray[np.bool_]:
    """Tell which words are cells, not only names of rows."""
    codes = records.codes
    named = codes.shape[1] > 1 and (
        records.first[0].strip().casefold() in ID_NAMES
        or (len(codes) > 2 and len(np.unique(codes[:, 0])) == len(codes))
    )
    used = np.zeros(len(values), dtype=bool)
    for j in range(int(named), codes.shape[1]):  # by column: a copy of the whole would be large
        used[codes[:, j]] = True
    return used


def _prepend(records: Records, values: list[Any], vocabulary: Vocabulary) -> tuple[Any, list[str], list[Any]]:
    """Return codes, words and values with the first record in front."""
    positions: dict[str, int] = {}
    searched = set(records.first)
    for position, word in enumerate(records.words):
        if word in searched:
            positions.setdefault(word, position)
    words, values = list(records.words), list(values)
    first = []
    for word in records.first:
        if word not in positions:
            positions[word] = len(words)
            words.append(word)
            values.append(vocabulary.read(word))
        first.append(positions[word])
    dtype = records.codes.dtype if len(words) <= 256 else np.int32
    return np.vstack([np.array([first], dtype=dtype), records.codes.astype(dtype, copy=False)]), words, values
