"""read_table: a file as a table."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from os import PathLike
from typing import IO

from isinglass.data.column import BLANKS, Column
from isinglass.data.files.documents import Document, Limits, name_of, open_document, to_utf8
from isinglass.data.files.formats import FORMATS, explain_damage, find_format
from isinglass.data.files.header import find_decimal, lay_out, name_rows
from isinglass.data.files.spreadsheets import load_excel
from isinglass.data.files.text import Records, read_text
from isinglass.data.meaning.coding import NO_FILE, Coding, Layout
from isinglass.data.meaning.conversion import convert_source
from isinglass.data.meaning.rules import Cells
from isinglass.data.meaning.specs import is_all_labeled, use_labels
from isinglass.data.meaning.values import Value, read_word, spell_out
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
        Whether the first line of a text names the columns. "auto": it does if it has no number and none of its
        fields occurs again below in its column, and is a row if all do; other lines of text are refused. Names that
        are numbers need a first field such as "id", or an empty one above row names. A line with one field less than
        the others is a header.
    id_column : str, int, None or "auto", default="auto"
        Column with row labels, which is not part of the table; None if there is none. "auto": the index that Parquet
        and Feather files declare, else the first column, if it is called id, index or the like, or has different cells
        in all rows (more than two), most of them text other than amounts, unless another argument has its name.
        Numbers of columns do not count it.
    columns, drop : sequence of str or int, optional
        The columns to keep, in this order, or to leave out; by name, number from 0 without row names, range
        ``"A1:A5"`` or pattern ``"A*"``.
    weights : str or int, optional
        The column that holds row weights; it becomes `Table.sample_weight`.
    labels : sequence of str or int, default=()
        Columns that are not variables, such as the group or the subject of each row; they become `Table.labels`.
        With ``missing="drop"``, rows that lack one are left out, too.
    value_labels : mapping, optional
        What the values of columns are called, such as ``{"gender": {1: "men", 2: "women"}}``; every value that occurs
        needs a label. Categories keep the order of the values. A variable of 0 and 1 keeps these.
    na_values : sequence or mapping, optional
        As for `as_table`, besides an empty field, ``NA``, ``N/A``, ``n/a``, ``#N/A``, ``<NA>``, ``NaN``, ``nan``,
        ``NULL``, ``null``, ``.``, ``?`` and, except in columns of words, ``None``.
    encoding : str, default="utf-8"
        Encoding of a text that is read from bytes. UTF-16 with a byte order mark is detected.
    decimal : {".", ","}, optional
        Decimal separator of numbers in texts. By default the comma if it is not the delimiter of a text file and a
        column holds only such numbers, otherwise the point.
    sheet : str or int, optional
        Name or number from 0 of the sheet of a spreadsheet; by default the first with more than one row and column.
    encode, kinds, scores, binarize, reverse, covariates, missing, combine_indicators, names, weight_kind, guess
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
    whole = _load(path, options)
    marked = whole.mark_missing(options.missing_in(whole))
    labels = {str(key): whole.origin.find(key, "labels") for key in options.labels}
    labeled = _label_values(marked, options, labels.values())
    weights = _find_weights(labeled, options, labels.values())
    weighted = labeled if weights is None else _weigh(labeled, weights)
    others = [*labels.values(), *([] if weights is None else [weights])]
    chosen = _choose_columns(weighted, options, others)
    if chosen.names is not None:
        names = [name or f"column {chosen.number(j)}" for j, name in enumerate(chosen.names)]
        chosen = replace(chosen, names=names)
    apart = {name: _called_cells(labeled.column(j)) for name, j in labels.items()}
    return replace(chosen.named(options.names), apart=apart)


def _load(path: AnyFile, options: ReadOptions) -> Source:
    """Return the table of a file as it was written, with its row names."""
    document = open_document(path, Limits(options.max_rows, options.max_columns, options.max_bytes))
    is_again = isinstance(options.encode, Coding)  # the options of the first file may come with it
    kind = find_format(document, options.format, {} if is_again else options.for_files)
    load = FORMATS[kind].load
    if load is None:
        return name_rows(_load_records(document, kind, options), kind, options)
    with explain_damage(kind, document.limits):
        loaded = load(document.data, document.limits)
    return name_rows(loaded, kind, options)


def _load_records(document: Document, kind: str, options: ReadOptions) -> Source:
    """Return the table of a text or a spreadsheet; a coding knows names, header, delimiter and decimal separator."""
    coding = options.encode if isinstance(options.encode, Coding) else None
    known = NO_FILE if coding is None else coding.layout
    missing = BLANKS | spell_out([*options.missing_everywhere, *options.words_for_missing])
    if kind == "excel":
        decimal = options.decimal or "."
        with explain_damage(kind, document.limits):
            records = load_excel(document.data, document.limits, options.sheet, decimal)
    else:
        text = to_utf8(document.data, "utf-8" if document.is_decoded else options.encoding, document.limits)
        records = read_text(text, options.delimiter, known.delimiter, document.limits)
        decimal = options.decimal or _find_decimal(records, known, missing)
    header = False if options.header == "auto" and known.has_header is False else options.header
    return lay_out(records, header, decimal, missing, () if coding is None else coding.called)


def _find_decimal(records: Records, known: Layout, missing: Collection[Value]) -> str:
    """Return what separates decimals in a text: as in the file that a coding was made for, or as is found."""
    if records.delimiter == ",":
        return "."
    known_decimal = known.decimal if known.delimiter not in (None, ",") else None
    return known_decimal or find_decimal((words for _, words in records.columns), missing)


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
