"""Tables in files of Stata, SPSS and SAS, with the labels of their values."""

from __future__ import annotations

import io
import math
import struct
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from isinglass.data.column import BLANKS, Column, as_spelled, number_objects
from isinglass.data.files.documents import BYTES_PER_OBJECT, Limits
from isinglass.data.meaning.values import Value, as_whole
from isinglass.data.source import Source
from isinglass.errors import DataError

_VARIABLE, _LABELS, _LABELED, _LINES, _EXTENSION = 2, 3, 4, 6, 7
"""Records in the dictionary of an SPSS file: a variable, value labels, the variables that have them, a text, others."""
_INTEGERS, _ENCODING = 3, 20
"""Extensions: numbers about the machine, and the name of the encoding."""


def load_survey(reader: str, data: bytes, limits: Limits) -> Source:
    """Read a file of Stata, SPSS or SAS by a function of pyreadstat, with the labels of its values."""
    try:
        import pyreadstat
    except ImportError:
        raise ImportError('reading this format needs pyreadstat: pip install "isinglass[io]"') from None
    if reader == "read_sav":
        _check_labels(data)
    read = getattr(pyreadstat, reader)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "survey"
        path.write_bytes(data)
        _, meta = read(path, metadataonly=True, output_format="dict")
        _check_survey(meta.number_rows or 0, meta.number_columns or 0, limits)
        columns, meta = read(path, output_format="dict", row_limit=limits.max_rows + 1)
    n_rows = len(next(iter(columns.values()))) if columns else 0
    if n_rows == 0:
        raise DataError(f"the file must be a table; got {len(columns)} column(s) and no rows.")
    _check_survey(n_rows, len(columns), limits)
    for name in (name for name in columns if meta.readstat_variable_types.get(name) == "float"):
        spelled = as_spelled(np.array(columns[name], dtype=np.float32)).tolist()
        columns[name] = [None if old is None else new for old, new in zip(columns[name], spelled, strict=True)]
    labeled = [_label(cells, meta.variable_value_labels.get(name, {})) for name, cells in columns.items()]
    wording = {name: label for name, label in meta.column_names_to_labels.items() if label}
    names = [name or "" for name in columns]  # damaged files can have nameless columns
    return Source((n_rows, len(names)), labeled.__getitem__).of_file(names=names, wording=wording)


def _check_labels(data: bytes) -> None:
    """Refuse an SPSS file with value labels that cannot be assigned: pyreadstat would end the process.

    A dictionary that is broken otherwise is left to pyreadstat, which says so.
    """
    with suppress(struct.error, IndexError, LookupError):
        texts, encoding = _labeled_texts(data)
        try:
            for text in texts:
                text.decode(encoding)
        except UnicodeDecodeError:
            raise DataError(f"the SPSS file is damaged: it has labeled texts that are not in {encoding}.") from None


def _labeled_texts(data: bytes) -> tuple[list[bytes], str]:
    """Return the texts that have labels in an SPSS file, and their encoding, from the records of its dictionary."""
    file, order = io.BytesIO(data), "<" if data[64:65] in (b"\2", b"\3") else ">"

    def integers(number: int) -> tuple[int, ...]:
        return struct.unpack(f"{order}{number}i", file.read(4 * number))

    encoding, values, texts = "cp1252", list[bytes](), list[bytes]()
    is_text: dict[int, bool] = {}  # by the number of a variable, which counts the segments of eight bytes before it
    segment = 1
    file.seek(176)  # below the head
    while True:
        kind, first = integers(2)
        if kind == _VARIABLE:
            width, (has_label, n_missing, *formats) = first, integers(4)
            if width > 255:
                raise DataError("the SPSS file is damaged: it has a variable of an impossible width.")
            if width >= 0:  # 0 is a number; -1 a further segment of the text before
                is_text[segment] = width > 0 or any(each >> 16 in (1, 2) for each in formats)
                segment += max(-(-width // 8), 1)
            file.read(8)  # its name
            file.read(-(-integers(1)[0] // 4) * 4 if has_label else 0)
            file.read(8 * abs(n_missing))
        elif kind == _LABELS:
            values = []
            for _ in range(first):
                values.append(file.read(8))
                file.read(file.read(1)[0] // 8 * 8 + 7)  # its label
        elif kind == _LABELED:
            named = integers(max(first, 0))
            if not is_text.keys() >= set(named):
                raise DataError("the SPSS file is damaged: it has value labels for variables that do not exist.")
            texts += values if any(is_text[each] for each in named) else []
        elif kind == _LINES:
            file.read(80 * first)
        elif kind == _EXTENSION:
            body = file.read(max(math.prod(integers(2)), 0))
            if first == _ENCODING:
                encoding = body.decode()
            elif first == _INTEGERS and body[28:32] == struct.pack(f"{order}i", 65001):
                encoding = "utf-8"
        else:
            return texts, encoding


def _check_survey(n_rows: int, n_columns: int, limits: Limits) -> None:
    limits.check_shape(n_rows, n_columns)
    limits.check_bytes(BYTES_PER_OBJECT * n_rows * n_columns, "the columns in memory")


def _label(cells: Sequence[Value], labels: dict[Value, Value]) -> Column:
    """Return a column with what its values are called; runs of blanks become one blank, as in messages."""
    column = number_objects(cells)
    values = [as_whole(value) if isinstance(value, float) else value for value in column.values or ()]
    values = [value if isinstance(value, str | int | float | None) else str(value) for value in values]  # such as dates
    short = {code: " ".join(label.split()) for code, label in labels.items() if isinstance(label, str)}
    labels = short if len(set(short.values())) == len(set(labels.values())) else labels
    return Column(column.cells, values, labels=labels, blanks=BLANKS) if labels else Column(column.cells, values).read()
