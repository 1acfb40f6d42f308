"""read_table: a file as a table."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import IO, Any

import numpy as np

from isinglass.arrays import FloatArray
from isinglass.data.cells import Vocabulary, read_word
from isinglass.data.coding import Cells, Value, by_column, is_number, show_value
from isinglass.data.containers import guard, load_excel, load_feather, load_npy, load_npz, load_parquet, load_survey
from isinglass.data.conversion import convert_source
from isinglass.data.documents import Document, Limits, open_document
from isinglass.data.guards import remark_decimals
from isinglass.data.preview import Guess
from isinglass.data.raw_table import RawTable, lay_out
from isinglass.data.rules import Binarize, Encode
from isinglass.data.table import Kinds, Scores, Table
from isinglass.data.text import blank_comments, find_delimiter, read_records, to_utf8
from isinglass.errors import ArgumentError, DataError, LimitError, setting

_LOADERS: dict[str, Callable[[bytes, Limits], RawTable]] = {
    "npy": load_npy,
    "npz": load_npz,
    "parquet": load_parquet,
    "feather": load_feather,
    **{kind: functools.partial(load_survey, kind) for kind in ("stata", "spss", "sas", "xport")},
}
FORMATS = ("text", *_LOADERS, "excel")
_MAGIC = (
    (b"\x93NUMPY", "npy"),
    (b"PK\x03\x04", "npz"),
    (b"PAR1", "parquet"),
    (b"ARROW1", "feather"),
    (b"<stata_dta>", "stata"),
    (b"$FL2", "spss"),
    (b"$FL3", "spss"),
    (b"\xd0\xcf\x11\xe0", "excel"),
    (b"\0" * 12 + b"\xc2\xea\x81\x60", "sas"),
    (b"HEADER RECORD*******LIB", "xport"),
)
_FOREIGN: tuple[tuple[tuple[bytes, ...], str], ...] = (
    ((b"rdx", b"x\n\x00\x00", b"a\n2\n", b"a\n3\n"), "a file of R. Save it with write.csv first"),
    ((b"%%matrixmarket",), "a Matrix Market file. Save it with scipy.sparse.save_npz(file, scipy.io.mmread(path))"),
    ((b"<!doctype", b"<html", b"<?xml"), "a web page or XML"),
)
_SUFFIXES = {".dta": "stata", ".sav": "spss", ".zsav": "spss", ".tsv": "text", ".csv": "text", ".txt": "text"}
FILE_OPTIONS = (
    *("format", "delimiter", "header", "id_column", "transpose", "weights", "weight_kind", "na_values"),
    *("encoding", "decimal", "sheet", "max_rows", "max_columns", "max_bytes"),
)
"""Options of `read_table` that hold for another file of the same kind; the coding says what columns and values mean."""
_DELIMITERS = {"tab": "\t", "comma": ",", "semicolon": ";", "bar": "|", "blank": " ", "none": ""}


def read_table(
    path: str | PathLike[str] | IO[Any],
    *,
    format: str | None = None,
    delimiter: str | None = None,
    header: bool | str = "auto",
    id_column: str | int | None = "auto",
    transpose: bool = False,
    columns: Sequence[str | int] | None = None,
    drop: Sequence[str | int] | None = None,
    weights: str | int | None = None,
    weight_kind: str | None = None,
    labels: Sequence[str | int] = (),
    na_values: Sequence[Value] | Mapping[str | int | None, Sequence[Value]] = (),
    encoding: str = "utf-8",
    decimal: str | None = None,
    sheet: str | int | None = None,
    kinds: Kinds | None = None,
    scores: Scores | None = None,
    reverse: Sequence[str | int] = (),
    covariates: Sequence[str | int] = (),
    encode: Encode = None,
    binarize: Binarize = None,
    missing: str = "error",
    combine_indicators: bool = False,
    guesses: dict[Hashable, Guess] | None = None,
    max_rows: int = 10_000_000,
    max_columns: int = 100_000,
    max_bytes: int | None = None,
) -> Table:
    r"""Read a table of 0 and 1, of values that stand for them, or of categories, from a file.

    Parameters
    ----------
    path : path, "-" or file object
        "-" is the standard input. Files compressed by gzip, bzip2 or xz are recognized by their first bytes.
    format : {"text", "npy", "npz", "parquet", "feather", "excel", "stata", "spss", "sas", "xport"}, optional
        Kind of file; by default detected from its first bytes and its ending. Excel files need python-calamine, those
        of Stata, SPSS and SAS pyreadstat (the extra ``io``).
    delimiter : str, optional
        What separates the fields of a text: one character, or "tab", "comma", "semicolon", "bar", "blank" (any run of
        blanks and tabs) or "none" (every character is a field). By default the one of these that splits the first
        lines most evenly.
    header : bool or "auto", default="auto"
        Whether the first line of a text names the columns.
    id_column : str, int, None or "auto", default="auto"
        Column with row labels, which is not part of the table; None if there is none. "auto" checks the first column,
        unless another argument names it.
    transpose : bool, default=False
        The file has a line per variable: exchange rows and columns, with their names, before anything below.
    columns, drop : sequence of str or int, optional
        The columns to keep, in this order, or to leave out; by name, or by number from 0.
    weights : str or int, optional
        The column that holds row weights; it becomes `Table.sample_weight`.
    weight_kind : {"sampling", "counts"}, optional
        What these weights stand for, as for `as_table`.
    labels : sequence of str or int, default=()
        Columns that are no variables, such as the group or the subject of each row; they become `Table.labels`.
    na_values : sequence or mapping, optional
        Spellings of a missing cell, or numbers that stand for one, besides an empty field, ``NA``, ``N/A``, ``n/a``,
        ``#N/A``, ``<NA>``, ``NaN``, ``nan``, ``NULL``, ``null``, ``None``, ``.`` and ``?``. A mapping gives such a
        sequence for each column that it names; under None, for all.
    encoding : str, default="utf-8"
        Encoding of a text. UTF-16 with a byte order mark is detected.
    decimal : {".", ","}, optional
        What separates the decimals of numbers in a text. By default the comma if it is no delimiter and a column holds
        only numbers of this kind, else the point.
    sheet : str or int, optional
        Name or number from 0 of the sheet of a spreadsheet; the first by default.
    kinds, scores : optional
        As for `as_table`. Keys may also be ranges of columns, ``"A1:A5"``, or patterns, ``"A*"``.
    reverse : sequence of str or int, default=()
        Ordered columns to turn, by name, number, range or pattern: the last category comes first.
    covariates : sequence of str or int, default=()
        Columns to adjust for, by name, number, range or pattern, as for `as_table`.
    encode, binarize, missing, combine_indicators : optional
        As for `as_table`. Words in ``encode`` are read as cells are: ``{"1": 0, "2": 1}`` means the numbers.
    guesses : dict, optional
        If given, columns about which nothing is stated are read as what they seem to be, or left out, and noted here.
    max_rows, max_columns : int
        Limits of the table in the file, ten million and 100 000.
    max_bytes : int, optional
        Limit of the file, of what it decompresses to, and of the table: by default 4 GiB, and for what a file expands
        to at most 25 times its size or 256 MiB, whichever is larger.

    Raises
    ------
    DataError
        If the file is not a table, or a cell does not stand for 0 or 1; the message names row and column.
    LimitError
        If the table exceeds a limit.
    OSError
        If the file cannot be opened.
    ImportError
        If the package that reads this format is not installed.

    Examples
    --------
    >>> import io
    >>> file = io.StringIO("who;rain;umbrella\nAnn;Yes;Yes\nBob;No;No\nEve;No;Yes\n")
    >>> table = read_table(file, encode="auto")
    >>> table
    Table(3 rows × 2 columns: 'rain', 'umbrella')
    >>> table.codes.tolist(), table.row_names
    ([[1, 1], [0, 0], [0, 1]], ('Ann', 'Bob', 'Eve'))
    """
    limits = Limits(max_rows, max_columns, max_bytes)
    stated = dict(na_values) if isinstance(na_values, Mapping) else {None: na_values}
    everywhere = stated.pop(None, ())
    gone = {key: values for key, values in stated.items() if key is not None}
    vocabulary = Vocabulary.build(everywhere, encode)
    if header != "auto" and not isinstance(header, bool):
        raise ArgumentError("header", 'must be True, False or "auto"', header)
    if decimal not in (None, ".", ","):
        raise ArgumentError("decimal", 'must be "." or ","', decimal)
    document = open_document(path, limits)
    try:
        kind = _find_format(document, format)
        detected: dict[str, str] = {}
        if kind in ("text", "excel"):
            raw, vocabulary, detected = _load_text(
                document, kind, (delimiter, encoding, sheet), header, vocabulary, decimal
            )
            encode = vocabulary.read_encode(encode)
        else:
            raw = guard(kind, document.limits, lambda: _LOADERS[kind](document.data, document.limits))
            if vocabulary.missing_numbers or (raw.block is None and raw.sparse is None):
                raw = raw.mark_missing(dict.fromkeys(range(raw.shape[1]), vocabulary.is_missing))
        document = replace(document, data=b"")  # what was read from it stays
        # After a transposition these arguments speak of other columns; numbers do not count row names.
        spoken_of = [
            weights,
            *(columns or ()),
            *(drop or ()),
            *labels,
            *covariates,
            *gone,
            *(encode if by_column(encode) else ()),
        ]
        named = () if transpose else {key for key in spoken_of if isinstance(key, str)}
        if id_column == "auto":
            numbered = binarize is not None
            names = None if kind in ("npy", "npz") else raw.find_id_column(numbers_are_data=numbered)
            names = None if names is None or (raw.names and raw.names[names] in named) else names
        else:
            names = None if id_column is None else raw.find(id_column, "id_column")
        if names is not None:
            detected["id_column"] = str(raw.names[names]) if raw.names else f"#{names + 1}"
            raw = replace(raw.without(names), row_names=raw.column(names).spellings)
        nameless = id_column == "auto" and raw.row_names is None and not transpose
        raw = raw.transpose() if transpose else raw
        for key, spellings in gone.items():
            raw = raw.mark_missing({raw.find(key, "na_values"): Vocabulary.build(spellings).is_missing})
        by_key = {"kinds": kinds, "scores": scores, "reverse": dict.fromkeys(reverse), "na_values": gone}
        by_key["covariates"] = dict.fromkeys(covariates)
        said = {name: _by_number(raw, each, name) for name, each in by_key.items() if isinstance(each, Mapping)}
        raw, weight, kept = _split(raw, weights, labels)
        raw = replace(_choose_columns(raw, columns, drop), may_have_row_names=nameless)
        place = {number: j for j, number in enumerate(raw.numbers)}
        said = {name: {place[k]: each[k] for k in each if k in place} for name, each in said.items()}
        absent = {j: [*everywhere, *said["na_values"].get(j, ())] for j in range(raw.shape[1])}
        table = convert_source(
            _name_columns(raw),
            kinds=said.get("kinds", kinds),
            scores=said.get("scores", scores),
            reverse=said["reverse"],
            covariates=list(said["covariates"]),
            encode=encode,
            binarize=binarize,
            missing=missing,
            combine_indicators=combine_indicators,
            na_values={j: [read_word(value) for value in values] for j, values in absent.items() if values},
            guesses=guesses,
        )
        table = table.with_variables(table.variables.with_wording(raw.described))
        rows = slice(None) if table.rows is None else table.rows
        known = {name: tuple(entries[rows]) for name, entries in kept.items()}
        given = None if weight is None else weight[rows]
        return replace(table, sample_weight=given, weight_kind=weight_kind, labels=known, detected=detected)
    except (DataError, LimitError) as error:
        error.where = document.name
        raise


def _find_format(document: Document, format: str | None) -> str:
    if format is not None:
        if format not in FORMATS:
            raise ArgumentError("format", f"must be one of {FORMATS}", format)
        return format
    for magic, kind in _MAGIC:
        if document.data.startswith(magic):
            return "excel" if kind == "npz" and b"xl/workbook" in document.data else kind
    for magics, what in _FOREIGN:
        if document.data[:64].lstrip().lower().startswith(magics):
            raise DataError(f"the file must be a table; got {what}.")
    return _SUFFIXES.get(document.suffix, "text")


def _load_text(
    document: Document,
    kind: str,
    how: tuple[str | None, str, str | int | None],
    header: bool | str,
    vocabulary: Vocabulary,
    decimal: str | None,
) -> tuple[RawTable, Vocabulary, dict[str, str]]:
    """Return the table of a text or of a sheet, how its words are read, and what was detected."""
    delimiter, encoding, sheet = how
    limits, found, mark = document.limits, {}, ";"
    if kind == "excel":
        records, found["sheet"] = guard(kind, limits, lambda: load_excel(document.data, limits, sheet))
    else:
        data, n_comments = blank_comments(to_utf8(document.data, encoding, limits))
        mark = find_delimiter(data) if delimiter is None else _DELIMITERS.get(delimiter, delimiter)
        if len(mark) > 1 or not mark.isascii() or mark in ('"', "\n", "\r", "\0"):
            raise ArgumentError("delimiter", f"must be one character or one of {tuple(_DELIMITERS)}", delimiter)
        records = read_records(data, mark, limits)
        found["delimiter"] = next((name for name, each in _DELIMITERS.items() if each == mark), mark)
        found |= {"comments": str(n_comments)} if n_comments else {}
    if decimal == "," or (decimal is None and mark != ","):
        vocabulary = vocabulary.with_decimal(records.words) if decimal is None else replace(vocabulary, decimal=",")
        found |= {"decimal": vocabulary.decimal} if vocabulary.decimal == "," else {}
    return lay_out(records, vocabulary, header), vocabulary, found


def _split(
    raw: RawTable, weights: str | int | None, labels: Sequence[str | int]
) -> tuple[RawTable, FloatArray | None, dict[str, Cells]]:
    """Take weights and labels out of a raw table; numbers of columns count all of them."""
    places = [raw.find(key, "labels") for key in labels]
    kept = {str(key): raw.column(j).entries for key, j in zip(labels, places, strict=True)}
    if weights is None:
        return raw.without(*places) if places else raw, None, kept
    place = raw.find(weights, "weights")
    if place in places:
        raise DataError(f"{setting('weights')} must be another column than {setting('labels')}; got {weights!r} twice.")
    values = raw.column(place).entries
    for row, value in enumerate(values):
        if not is_number(value) or not np.isfinite(float(value)) or value < 0:
            shown = "a missing cell" if value is None else show_value(value)
            raise DataError(
                f"{setting('weights')} must be finite and not negative; got {shown} in column {weights!r} "
                f"({raw.describe_row(row)}).{remark_decimals([value])}"
            )
    return raw.without(*places, place), values.astype(np.float64), kept


def _by_number(raw: RawTable, entries: Mapping[Any, Any], argument: str) -> dict[int, Any]:
    """Return what is said about columns by their numbers in the file, from names, numbers, ranges and patterns."""
    called = {
        key: entry if isinstance(entry, str) and argument == "kinds" else argument for key, entry in entries.items()
    }
    return {raw.numbers[j]: entry for key, entry in entries.items() for j in raw.find_all(key, called[key])}


def _choose_columns(raw: RawTable, columns: Sequence[str | int] | None, drop: Sequence[str | int] | None) -> RawTable:
    for argument, keys in (("columns", columns), ("drop", drop)):
        if isinstance(keys, str):
            raise DataError(f"{argument} must be a sequence of names or numbers; got the text {keys!r}.")
    if columns is None and drop is None:
        return raw
    left_out = {raw.find(key, "drop") for key in drop or ()}
    kept = list(range(raw.shape[1])) if columns is None else [raw.find(key, "columns") for key in columns]
    seen: set[int] = set()
    for key, j in zip(columns or (), kept, strict=columns is not None):
        if j in seen:
            raise DataError(f"{setting('columns')} must be different columns; got {key!r}, which came before.")
        seen.add(j)
    return raw.take([j for j in kept if j not in left_out])


def _name_columns(raw: RawTable) -> RawTable:
    """Return the raw table with a name for every column if it has names, after a check that none comes twice."""
    if raw.names is None:
        return raw
    places: dict[str, int] = {}
    for given, number in zip(raw.names, raw.numbers, strict=True):
        name = given or f"column {number + 1}"
        if name in places:
            raise DataError(
                f"the file must be a table with distinct column names; got {name!r} in columns {places[name] + 1} and "
                f"{number + 1}. Rename one, leave one out with {setting('drop', [number])}, or pass "
                f"{setting('header', False)}."
            )
        places[name] = number
    return replace(raw, names=list(places))
