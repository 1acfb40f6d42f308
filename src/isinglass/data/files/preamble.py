"""The lines of a text that are not rows of its table: comments and titles above it, and what Qualtrics writes below."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice

from isinglass.data.column import BLANKS
from isinglass.data.files.header import FirstRecord
from isinglass.data.files.text import SAMPLE_RECORDS, find_delimiter, offset_of_line, separate, split
from isinglass.data.meaning.values import Value, read_cell, read_number
from isinglass.errors import DataWarning, setting, warn

_SAMPLE_BYTES = 1 << 20  # that the wording of many questions may take


def blank_comments(data: bytes, header: bool | str = "auto") -> tuple[bytes, int]:
    """Return text whose comments are blank lines, and their number: lines that begin with #, above the table.

    If there is no header below them, the last may be it, as numpy.savetxt writes it: ``# a,b`` has as many fields as a
    row. Otherwise lines that have as many are rows. Excel's first line ``sep=;`` is a comment.
    """
    count = 0
    if stated := re.match(rb'(?i)"?sep=[^\r\n]"?(?=[\r\n])', data):
        data, count = data[stated.end() :], 1
    comments = re.match(rb"(?:[\r\n]*#[^\r\n]*)+", data)
    if comments is None:
        return data, count
    end = comments.end()  # where the table begins
    rest = data[end : end + _SAMPLE_BYTES]
    delimiter = find_delimiter(rest)
    below = [record for _, record in _first_records(rest, delimiter)]
    if not below:
        return data, count
    n_marks = 0
    if len(below[0]) > 1 and not _is_header(below):
        last = re.split(rb"[\r\n]", comments[0])[-1]
        names = [record for _, record in _first_records(last[1:], delimiter)]
        if last.startswith(b"# ") and list(map(len, names)) == [len(below[0])] and _is_header(names + below):
            end, n_marks = (end - len(last), 1) if header else (end, 0)
        else:
            lines = _first_records(data[:end], delimiter)
            end = next((offset_of_line(data, line - 1) for line, record in lines if len(record) == len(below[0])), end)
    return _blank(data, 0, end + n_marks), count + len(re.findall(rb"[^\r\n]+", data[:end]))


def blank_titles(data: bytes, delimiter: str) -> tuple[bytes, int]:
    """Return text whose titles above the header are blank lines, and their number."""
    records = _first_records(data, delimiter)
    count = count_titles([record for _, record in records])
    return _blank(data, 0, offset_of_line(data, records[count - 1][0])) if count else data, count


def count_titles(records: Sequence[Sequence[str]]) -> int:
    """Return how many records are titles: at most one field each, above a header of three or more different words."""
    for k, record in enumerate(records):
        fields = [field for field in record if field.strip()]
        if len(fields) > 1:
            are_words = len(set(fields)) == len(fields) and all(read_number(field.strip()) is None for field in fields)
            return k if k and len(fields) > 2 and are_words and _is_header(records[k:]) else 0
    return 0


def warn_of_titles(count: int) -> None:
    """Warn that lines above the header are left out."""
    taken = "line above the header is taken for a title and left out. If it holds"
    if count > 1:
        taken = f"{count} lines above the header are taken for titles and left out. If they hold"
    warn(DataWarning(f"The {taken} data, pass {setting('header', False)}."))


def take_wording(data: bytes, delimiter: str) -> tuple[bytes, dict[str, str]]:
    """Return text without the two lines that Qualtrics writes below the header, and the wording of columns by name.

    The first line has the wording of the questions, the second one identifiers.
    """
    records = _first_records(data, delimiter, 3)
    if len(records) < 3 or not all(field.startswith('{"ImportId"') for field in records[2][1]):
        return data, {}
    (header_line, names), (_, texts), (last_line, _) = records
    wording = {" ".join(name.split()): " ".join(text.split()) for name, text in zip(names, texts, strict=False)}
    return _blank(data, offset_of_line(data, header_line), offset_of_line(data, last_line)), wording


def _first_records(data: bytes, delimiter: str, most: int = SAMPLE_RECORDS) -> list[tuple[int, list[str]]]:
    """Return the first records, each with the number of its last line."""
    records: list[tuple[int, list[str]]] = []
    with suppress(csv.Error):  # the sample may end within quotes
        records.extend(islice(split(separate(data[:_SAMPLE_BYTES], delimiter), delimiter), most))
    return records


def _is_header(records: Sequence[Sequence[str]]) -> bool:
    """Tell whether the first of some records names columns, judged by the others of its length."""
    first, *others = ([_read(field) for field in record] for record in records if len(record) == len(records[0]))
    below = list(zip(*others, strict=True)) or [() for _ in first]
    return FirstRecord.of(first, below, len(others)).is_header


def _read(field: str) -> Value:
    """Return what a field stands for, None for a missing cell."""
    value = read_cell(field)
    return None if value in BLANKS else value


def _blank(data: bytes, start: int, end: int) -> bytes:
    """Return text whose lines from one offset to another are blank."""
    return data[:start] + re.sub(rb"[^\r\n]+", b"", data[start:end]) + data[end:]
