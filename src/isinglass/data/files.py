"""read_table: a file as a table."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import IO

import numpy as np

from isinglass.arrays import FloatArray
from isinglass.data.cells import Vocabulary, lay_out
from isinglass.data.coding import Cells, Coding, by_column, is_number, show_value
from isinglass.data.conversion import convert_source
from isinglass.data.documents import Document, Limits, open_document
from isinglass.data.formats import guard, load_excel, load_feather, load_npy, load_npz, load_parquet, load_survey
from isinglass.data.guards import remark_decimals
from isinglass.data.options import Encode, ReadOptions, takes
from isinglass.data.source import Source
from isinglass.data.table import Table
from isinglass.data.text import blank_comments, blank_titles, find_delimiter, read_records, to_utf8
from isinglass.data.weights import scale_weights
from isinglass.errors import ArgumentError, DataError, LimitError, setting

_LOADERS: dict[str, Callable[[bytes, Limits], Source]] = {
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
_DELIMITERS = {"tab": "\t", "comma": ",", "semicolon": ";", "bar": "|", "blank": " ", "none": ""}


@takes(ReadOptions)
def read_table(path: str | PathLike[str] | IO[bytes] | IO[str], options: ReadOptions) -> Table:
    r"""Read a table from a file: columns of two values, of categories, or of numbers.

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
        Column with row labels, which is not part of the table; None if there is none. "auto" decides whether the first
        column is one, unless another argument names that column.
    transpose : bool, default=False
        Set this if the file has one line per variable: rows and columns are exchanged, with their names, before the
        options below apply.
    columns, drop : sequence of str or int, optional
        The columns to keep, in this order, or to leave out; by name, number from 0, range ``"A1:A5"`` or pattern
        ``"A*"``.
    weights : str or int, optional
        The column that holds row weights; it becomes `Table.sample_weight`.
    weight_kind : {"sampling", "counts"}, optional
        What these weights stand for, as for `as_table`.
    labels : sequence of str or int, default=()
        Columns that are not variables, such as the group or the subject of each row; they become `Table.labels`.
    value_labels : mapping, optional
        What the values of columns are called, such as ``{"gender": {1: "men", 2: "women"}}``; every value that occurs
        needs a label. Categories keep the order of the values. A variable of 0 and 1 keeps these.
    na_values : sequence or mapping, optional
        Spellings of a missing cell, or numbers that stand for one, besides an empty field, ``NA``, ``N/A``, ``n/a``,
        ``#N/A``, ``<NA>``, ``NaN``, ``nan``, ``NULL``, ``null``, ``.``, ``?`` and, except in columns of words,
        ``None``; as for `as_table`.
    encoding : str, default="utf-8"
        Encoding of a text. UTF-16 with a byte order mark is detected.
    decimal : {".", ","}, optional
        Decimal separator of numbers in a text file. By default the comma if it is not the delimiter and a column holds
        only such numbers, otherwise the point.
    sheet : str or int, optional
        Name or number from 0 of the sheet of a spreadsheet; by default the first with more than one row and column.
    kinds, scores : optional
        As for `as_table`.
    encode, binarize, reverse, covariates, missing, combine_indicators, names, guess : optional
        As for `as_table`. Words in ``encode`` are read as cells are: ``{"1": 0, "2": 1}`` means the numbers.
    max_rows, max_columns : int
        Largest numbers of rows and columns accepted: ten million and 100 000 by default.
    max_bytes : int, optional
        Largest size of the file, of its decompressed content, and of the table. By default 4 GiB; the decompressed
        content may also be at most 25 times the size of the file, or 256 MiB if that is more.

    Raises
    ------
    DataError
        If the file is not a table, or a value has no meaning; the message names row and column.
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
    return read_file(path, options)


def read_file(path: str | PathLike[str] | IO[bytes] | IO[str], options: ReadOptions) -> Table:
    """Read a table from a file, as `read_table` does."""
    limits = Limits(options.max_rows, options.max_columns, options.max_bytes)
    vocabulary = Vocabulary.build(options.missing_everywhere, options.encode)
    document = open_document(path, limits)
    try:
        kind = _find_format(document, options.format)
        loaded, encode = _load(document, kind, options, vocabulary)
        document = replace(document, data=b"")  # what was read from it stays
        labelled = _name_rows(loaded, kind, options)
        turned = labelled.transpose() if options.transpose else labelled
        marked = turned.mark_missing(options.missing_in(turned))
        groups = [marked.find(key, "labels") for key in options.labels]
        labeled = marked.label_values(options.value_labels or {}, groups)
        whole = labeled if labeled is marked else labeled.mark_missing(options.missing_in(labeled))  # by label, too
        weight, labels, apart = _take_apart(whole, options)
        chosen = replace(_choose_columns(whole, options, apart), whole=whole)
        table = convert_source(_name_columns(chosen).named(options.names), replace(options, encode=encode))
        return _add_of_file(table, chosen, weight, labels, options.weight_kind)
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


def _load(document: Document, kind: str, options: ReadOptions, vocabulary: Vocabulary) -> tuple[Source, Encode]:
    """Return the table of a file, and what `encode` says about its values as they are read."""
    limits = document.limits
    if kind in ("text", "excel"):
        return _load_text(document, kind, options, vocabulary)
    raw = guard(kind, limits, lambda: _LOADERS[kind](document.data, limits))
    if raw.block is None:
        meant = options.encode.words if isinstance(options.encode, Coding) else set()
        raw = raw.mark_missing(dict.fromkeys(range(raw.shape[1]), vocabulary.missing - vocabulary.doubtful - meant))
    return raw, options.encode


def _load_text(document: Document, kind: str, options: ReadOptions, vocabulary: Vocabulary) -> tuple[Source, Encode]:
    delimiter, decimal, limits = options.delimiter, options.decimal, document.limits
    detected, separator, wording = {}, ";", dict[str, str]()
    if kind == "excel":
        records, detected["sheet"] = guard(
            kind, limits, lambda: load_excel(document.data, limits, options.sheet, options.header)
        )
    else:
        data, n_comments = blank_comments(to_utf8(document.data, options.encoding, limits))
        separator = find_delimiter(data) if delimiter is None else _DELIMITERS.get(delimiter, delimiter)
        if len(separator) > 1 or not separator.isascii() or separator in ('"', "\n", "\r", "\0"):
            raise ArgumentError("delimiter", f"must be one character or one of {tuple(_DELIMITERS)}", delimiter)
        data, n_titles, wording = blank_titles(data, separator, options.header)
        records = read_records(data, separator, limits)
        detected["delimiter"] = next((name for name, each in _DELIMITERS.items() if each == separator), separator)
        detected |= {"comments": str(n_comments + n_titles)} if n_comments + n_titles else {}
    if decimal == "," or (decimal is None and separator != ","):
        vocabulary = vocabulary.with_decimal(records.words) if decimal is None else replace(vocabulary, decimal=",")
        detected |= {"decimal": vocabulary.decimal} if vocabulary.decimal == "," else {}
    raw = lay_out(records, vocabulary, options.header)
    return replace(raw, detected=detected, described=wording), vocabulary.read_encode(options.encode)


def _name_rows(raw: Source, kind: str, options: ReadOptions) -> Source:
    """Return the table with the column of row names, if it has one, taken for these."""
    if options.id_column == "auto":
        place = None if kind in ("npy", "npz") else raw.find_id_column(numbers_are_data=options.binarize is not None)
        if place is not None and _is_variable(raw, place, options):
            place = None
    else:
        place = None if options.id_column is None else raw.find(options.id_column, "id_column")
    if place is None:
        return replace(raw, may_have_row_names=options.id_column == "auto" and raw.row_names is None)
    header = (raw.names and raw.names[place]) or f"column {place + 1}"
    spellings = raw.column(place).spellings
    return replace(raw.without(place), row_names=spellings, detected={**raw.detected, "id_column": header})


def _is_variable(raw: Source, place: int, options: ReadOptions) -> bool:
    """Tell whether options say what a column is, or a coding needs it."""
    coding = options.encode
    if isinstance(coding, Coding) and coding.names is None and raw.shape[1] <= len(coding.columns):
        return not options.transpose
    return raw.names is not None and raw.names[place] in _named_columns(options)


def _named_columns(options: ReadOptions) -> set[Hashable]:
    """Return the columns that options name as something else than row names, by name or as the first of a range."""
    if options.transpose:  # the options speak of other columns
        return set()
    lists = (options.columns, options.drop, options.labels, options.covariates, options.reverse)
    stated = (options.kinds, options.scores, options.binarize, options.na_values)
    by_name = [each for each in stated if isinstance(each, Mapping)]
    by_name += [options.encode] if by_column(options.encode) else []
    coding = options.encode if isinstance(options.encode, Coding) else None
    known = () if coding is None or coding.names is None else coding.expand().names
    keys = {options.weights, *(key for keys in (*lists, *by_name, known) for key in keys or ())}
    return keys | {key.partition(":")[0] for key in keys if isinstance(key, str)}


def _take_apart(raw: Source, options: ReadOptions) -> tuple[FloatArray | None, dict[str, Cells], list[int]]:
    """Return the weights and the labels of a raw table, and the places of their columns."""
    labels, weights = options.labels, options.weights
    places = [raw.find(key, "labels") for key in labels]
    kept = {str(key): raw.column(j).entries for key, j in zip(labels, places, strict=True)}
    if weights is None:
        return None, kept, places
    place = raw.find(weights, "weights")
    if place in places:
        raise DataError(
            f"{setting('weights')} and {setting('labels')} must be different columns; got {weights!r} for both."
        )
    values = raw.column(place).entries
    for row, value in enumerate(values):
        if not is_number(value) or not np.isfinite(float(value)) or value < 0:
            shown = "a missing cell" if value is None else show_value(value)
            raise DataError(
                f"{setting('weights')} must be finite and not negative; got {shown} in column {weights!r} "
                f"({raw.describe_row(row)}).{remark_decimals([value])}"
            )
    return values.astype(np.float64), kept, [*places, place]


def _choose_columns(raw: Source, options: ReadOptions, apart: Sequence[int]) -> Source:
    """Return the columns of the network and the covariates: not those ``apart``; numbers count all columns."""
    columns, drop = options.columns, options.drop
    if columns is None and drop is None and not apart:
        return raw
    left_out = {*apart, *(j for key in drop or () for j in raw.find_all(key, "drop"))}
    kept: dict[int, None] = {} if columns is not None else dict.fromkeys(range(raw.shape[1]))
    for key in columns or ():
        places = raw.find_all(key, "columns")
        if kept.keys() & places:
            raise DataError(f"{setting('columns')} must not name a column twice; got {key!r} again.")
        kept |= dict.fromkeys(places)
    for key in options.covariates:
        places = raw.find_all(key, "covariates")
        if left_out.intersection(places):
            raise DataError(f"{setting('covariates')} names {key!r}, which is left out of the table by another option.")
        kept |= dict.fromkeys(places)
    return raw.take([j for j in kept if j not in left_out])


def _name_columns(raw: Source) -> Source:
    """Return the raw table with a name for every column if it has names, after a check that none comes twice."""
    if raw.names is None:
        return raw
    places: dict[str, int] = {}
    for header, number in zip(raw.names, raw.numbers, strict=True):
        name = header or f"column {number + 1}"
        if name in places:
            raise DataError(
                f"the file must be a table with distinct column names; got {name!r} in columns {places[name] + 1} and "
                f"{number + 1}. Rename one, leave one out with {setting('drop', [number])}, or pass "
                f"{setting('header', False)}."
            )
        places[name] = number
    return replace(raw, names=list(places))


def _add_of_file(
    table: Table, source: Source, weight: FloatArray | None, labels: Mapping[str, Cells], weight_kind: str | None
) -> Table:
    """Return a table with what the file has beside the cells of its variables."""
    rows = slice(None) if table.rows is None else table.rows
    row_weights = None if weight is None else weight[rows]
    if row_weights is not None and weight_kind is None:
        _, weight_kind = scale_weights(row_weights)
    return replace(
        table.with_variables(table.variables.with_wording(source.described)),
        sample_weight=row_weights,
        weight_kind=weight_kind,
        labels={name: tuple(entries[rows]) for name, entries in labels.items()},
        detected=source.detected,
    )
