"""read_table: a file as a table."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from os import PathLike
from typing import IO

from isinglass.data.column import BLANKS, Column
from isinglass.data.files.cells import find_decimal, lay_out
from isinglass.data.files.documents import Document, Limits, name_of, open_document
from isinglass.data.files.formats import FORMATS, FORMATS_OF, explain_damage, find_format, load_table
from isinglass.data.files.preamble import blank_comments, blank_titles, take_wording, warn_of_titles
from isinglass.data.files.records import Records, read_records
from isinglass.data.files.row_names import name_rows
from isinglass.data.files.spreadsheets import load_excel
from isinglass.data.files.text import DELIMITERS, find_delimiter, to_utf8
from isinglass.data.meaning.coding import NO_FILE, Coding
from isinglass.data.meaning.conversion import convert_source
from isinglass.data.meaning.rules import Cells
from isinglass.data.meaning.value_labels import is_all_labeled, use_labels
from isinglass.data.meaning.values import read_word, spell_out
from isinglass.data.options import ReadOptions, takes
from isinglass.data.source import Source
from isinglass.data.table import Table
from isinglass.data.weights import find_known_weights, read_weights
from isinglass.errors import ArgumentError, DataError, LimitError, setting

AnyFile = str | PathLike[str] | IO[bytes] | IO[str]


@takes(ReadOptions)
def read_table(path: AnyFile, options: ReadOptions) -> Table:
    r"""Read a table from a file: columns of two values, of categories, or of numbers.

    Parameters
    ----------
    path : path, "-" or file object
        "-" is the standard input. Files compressed by gzip, bzip2 or xz are recognized by their first bytes.
    format : {"text", "npy", "npz", "parquet", "feather", "excel", "stata", "spss", "sas", "xport"}, optional
        Kind of file; by default detected from its first bytes and its ending. Excel files need python-calamine, those
        of Stata, SPSS and SAS pyreadstat (the extra ``io``).
    delimiter : str, optional
        What separates the fields of a text: one character, or "tab", "comma", "semicolon", "bar" or "blank" (any run
        of blanks and tabs). By default the one of these that splits the first lines most evenly.
    header : bool or "auto", default="auto"
        Whether the first line of a text names the columns. Unless False, titles above it are left out with a warning.
    id_column : str, int, None or "auto", default="auto"
        Column with row labels, which is not part of the table; None if there is none. "auto": the first column, if it
        is called id, index or the like, or has a different text or an ascending whole number in every row, unless
        another argument has its name. Numbers of columns do not count it, so it must be stated where they are given
        and it may be a variable.
    transpose : bool, default=False
        Set this if the file has one line per variable: rows and columns are exchanged, with their names, before the
        options below apply.
    columns, drop : sequence of str or int, optional
        The columns to keep, in this order, or to leave out; by name, number from 0 without row names, range
        ``"A1:A5"`` or pattern ``"A*"``.
    weights : str or int, optional
        The column that holds row weights; it becomes `Table.sample_weight`.
    weight_kind : {"sampling", "counts"}, optional
        What these weights stand for, as for `as_table`.
    labels : sequence of str or int, default=()
        Columns that are not variables, such as the group or the subject of each row; they become `Table.labels`.
        With ``missing="drop"``, rows that lack one are left out, too.
    value_labels : mapping, optional
        What the values of columns are called, such as ``{"gender": {1: "men", 2: "women"}}``; every value that occurs
        needs a label. Categories keep the order of the values. A variable of 0 and 1 keeps these.
    na_values : sequence or mapping, optional
        Spellings of a missing cell, or numbers that stand for one, besides an empty field, ``NA``, ``N/A``, ``n/a``,
        ``#N/A``, ``<NA>``, ``NaN``, ``nan``, ``NULL``, ``null``, ``.``, ``?`` and, except in columns of words,
        ``None``; as for `as_table`.
    encoding : str, default="utf-8"
        Encoding of a text that is read from bytes. UTF-16 with a byte order mark is detected.
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
    return read_source(path, options)[1]


def read_source(path: AnyFile, options: ReadOptions) -> tuple[Source, Table]:
    """Return the table of a file before its values have a meaning, and what it means."""
    try:
        source = open_file(path, options)
        return source, convert_source(source, options)
    except (DataError, LimitError) as error:
        error.where = name_of(path)
        raise


def open_file(path: AnyFile, options: ReadOptions) -> Source:
    """Open a file, and tell its columns apart: row names, row weights, labels of rows, and those of the table."""
    loaded, kind = _load(path, options)
    named = name_rows(loaded, kind, options)
    whole = named.transpose() if options.transpose else named
    marked = whole.mark_missing(options.missing_in(whole))
    labels = {str(key): whole.origin.find(key, "labels") for key in options.labels}
    labeled = _label_values(marked, options, labels.values())
    weights = _find_weights(labeled, options, labels.values())
    weighted = labeled if weights is None else _weigh(labeled, weights)
    others = [*labels.values(), *([] if weights is None else [weights])]
    chosen = _choose_columns(weighted, options, others)
    apart = {name: _called_cells(labeled.column(j)) for name, j in labels.items()}
    return replace(_name_columns(chosen).named(options.names), apart=apart)


def _load(path: AnyFile, options: ReadOptions) -> tuple[Source, str]:
    """Return the table of a file as it was written, and the format of the file."""
    document = open_document(path, Limits(options.max_rows, options.max_columns, options.max_bytes))
    kind = find_format(document, options.format)
    if not isinstance(options.encode, Coding):  # the options of the first file may come with it
        for name, value in options.for_files.items():
            if kind not in FORMATS_OF.get(name, FORMATS):
                raise ArgumentError(name, f"must be left out for {kind} files", value)
    if kind in ("text", "excel"):
        return _load_text(document, kind, options), kind
    return load_table(kind, document), kind


def _load_text(document: Document, kind: str, options: ReadOptions) -> Source:
    """Return the table of a text or a spreadsheet; a coding knows names, header, delimiter and decimal separator."""
    coding = options.encode if isinstance(options.encode, Coding) else None
    known = NO_FILE if coding is None else coding.layout
    header = False if options.header == "auto" and known.has_header is False else options.header
    missing = BLANKS | spell_out([*options.missing_everywhere, *options.words_for_missing])
    if kind == "excel":
        with explain_damage(kind, document.limits):
            records = load_excel(document.data, document.limits, options.sheet, header, options.decimal, missing)
    else:
        records = _read_text(document, options, header, known.delimiter)
    if records.n_titles and coding is None:
        warn_of_titles(records.n_titles)
    decimal = options.decimal
    if decimal is None and records.delimiter == ",":
        decimal = "."
    elif decimal is None and records.delimiter is not None and known.delimiter not in (None, ","):
        decimal = known.decimal
    decimal = decimal or find_decimal(records.words, missing)
    return lay_out(records, header, decimal, missing, () if coding is None else coding.called)


def _read_text(document: Document, options: ReadOptions, header: bool | str, known: str | None) -> Records:
    """Return the records of a text, whose delimiter is the one ``known`` from another file if this splits it evenly."""
    encoding = "utf-8" if document.is_decoded else options.encoding
    data, n_comments = blank_comments(to_utf8(document.data, encoding, document.limits), header)
    delimiter = _choose_delimiter(data, options.delimiter, known)
    n_titles, wording = 0, dict[str, str]()
    if header:
        data, n_titles = blank_titles(data, delimiter)
        data, wording = take_wording(data, delimiter)
    detected = {"delimiter": next((name for name, each in DELIMITERS.items() if each == delimiter), delimiter)}
    if n_left_out := n_comments + n_titles + 2 * bool(wording):
        detected["comments"] = str(n_left_out)
    records = read_records(data, delimiter, document.limits)
    return replace(records, delimiter=delimiter, n_titles=n_titles, wording=wording, detected=detected)


def _choose_delimiter(data: bytes, stated: str | None, known: str | None) -> str:
    """Return the character that separates fields: as stated, or as found, by preference as in another file."""
    found = find_delimiter(data, known) if stated is None else stated
    delimiter = DELIMITERS.get(found, found)
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in ('"', "\n", "\r", "\0"):
        raise ArgumentError("delimiter", f"must be one character or one of {tuple(DELIMITERS)}", stated)
    return delimiter


def _find_weights(source: Source, options: ReadOptions, labels: Collection[int]) -> int | None:
    """Return the column of row weights: as stated, or that of the fit, if it is here and not among the ``labels``."""
    stated, known = options.weights, find_known_weights(source, options.encode)
    if stated is None:
        return None if known in labels else known
    of_fit = isinstance(options.encode, Coding) and options.encode.layout.weights == stated
    if of_fit and known is None:
        remedy = f"If it has none, pass {setting('weights', None)}."
        raise DataError(f"the table must have the row weights of the fit, {stated!r}. {remedy}")
    place = source.origin.find(stated, "weights")
    if place in labels:
        raise ArgumentError("weights", f"and {setting('labels')} must be different columns", stated)
    return place


def _label_values(marked: Source, options: ReadOptions, apart: Collection[int]) -> Source:
    """Return the table in which the values of some columns have labels: all, unless they are 0 and 1.

    All of columns ``apart``, which are no variables.
    """
    by_place = {
        j: {read_word(value): label for value, label in entries.items()}
        for j, entries in marked.locate(options.value_labels or {}, "value_labels").items()
    }

    def label(j: int, column: Column) -> Column:
        if j not in by_place:
            return column
        unknown = [value for value in column.distinct if value not in by_place[j]]
        if unknown and (j in apart or not set(column.distinct) <= {0, 1}):
            raise ArgumentError(
                "value_labels", f"must label every value of {marked.where(j)}", unknown[0], "Add its label."
            )
        return replace(column.numbered(), labels=by_place[j])

    return marked.changed(label) if by_place else marked


def _weigh(table: Source, place: int) -> Source:
    """Return the table with the row weights that are in one of its columns."""
    name = None if table.names is None else table.names[place]
    return replace(table, weight=read_weights(table, place), layout=replace(table.layout, weights=name))


def _called_cells(column: Column) -> Cells:
    """Return the cells of a column that is no variable, called by their labels if every value has one."""
    return (use_labels(column) if is_all_labeled(column) else column).entries


def _choose_columns(source: Source, options: ReadOptions, apart: Collection[int]) -> Source:
    """Return the columns of the network and the covariates: not those ``apart``; numbers count all columns."""
    columns, drop = options.columns, options.drop
    if columns is None and drop is None and options.names is None and not apart:
        return source
    left_out = {*apart, *(j for key in drop or () for j in source.origin.find_all(key, "drop"))}
    kept: dict[int, None] = {} if columns is not None else dict.fromkeys(range(source.shape[1]))
    for key in columns or ():
        places = source.origin.find_all(key, "columns")
        if kept.keys() & places:
            raise DataError(f"{setting('columns')} must not name a column twice; got {key!r} again.")
        kept |= dict.fromkeys(places)
    for key in options.covariates:
        places = source.origin.find_all(key, "covariates")
        if left_out.intersection(places):
            raise DataError(f"{setting('covariates')} names {key!r}, which is left out of the table by another option.")
        kept |= dict.fromkeys(places)
    return source.choose([j for j in kept if j not in left_out])


def _name_columns(source: Source) -> Source:
    """Return the table with a name for every column if it has names, after a check that none comes twice."""
    if source.names is None:
        return source
    places: dict[str, int] = {}
    for j, header in enumerate(source.names):
        name = header or f"column {source.number(j)}"
        if name in places:
            place = source.origin.places[j]
            leave_out = setting("drop", place, python=f"drop=[{place}]")
            has_header = source.layout.has_header and not source.is_transposed
            raise DataError(
                f"the file must be a table with distinct column names; got {name!r} in "
                f"{'rows' if source.is_transposed else 'columns'} {source.number(places[name])} and "
                f"{source.number(j)}. Rename one, or leave one out with {leave_out}"
                + (f", or pass {setting('header', False)}." if has_header else ".")
            )
        places[name] = j
    return replace(source, names=list(places))
