"""What commands read: a table, with the options of ``read_table``, and what is known about its columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.console import Console, plural
from isinglass.cli.options import ADVANCED, Bundle, Option, flag, under
from isinglass.cli.values import BINARIZE, COLUMN, COLUMNS, ENCODE, OneOf, files_of
from isinglass.errors import DataError

if TYPE_CHECKING:
    from isinglass.data import Table
    from isinglass.data.coding import Coding
    from isinglass.select.imputation import Imputation

FORMATS = ("text", "npy", "npz", "parquet", "feather", "excel", "stata", "spss", "sas", "xport")
OF_THE_FILE = ("format", "max_rows", "max_columns", "max_bytes")
"""Options that say nothing about another copy of the table."""
_DETECTED = {
    "delimiter": "fields separated by",
    "decimal": "decimals after",
    "comments": "lines of comment left out:",
    "sheet": "sheet",
    "id_column": "rows named by",
}
"""What was found out about a file, in words."""
LISTED = 12  # columns up to which each is named with what became 1


WORDING = "wording"  # the attribute with the wording of items, for the report; it gives no colors unless asked to


class Reading:
    """What the user said about a table, by the parameters of ``read_table``."""

    def __init__(
        self, *, transpose: bool, ordinal: Any = (), nominal: Any = (), combine_indicators: bool = False, **values: Any
    ) -> None:
        for name in ("columns", "drop", "reverse"):
            values[name] = tuple(key for keys in values.get(name, ()) for key in keys)
        values["na_values"] = _spellings(values["na_values"])
        values["transpose"], values["combine_indicators"] = transpose or None, combine_indicators or None
        values["kinds"] = _kinds(ordinal, nominal) or None
        self.said = {name: value for name, value in values.items() if value not in (None, ())}

    @property
    def remembered(self) -> dict[str, Any]:
        """What a model keeps, for nobody to say it twice."""
        return {name: value for name, value in self.said.items() if name not in OF_THE_FILE}

    def replaced(self, **changes: Any) -> Reading:
        """Return a copy with other settings; None removes one."""
        other = object.__new__(Reading)
        other.said = {name: value for name, value in {**self.said, **changes}.items() if value is not None}
        return other

    def with_defaults(self, **known: Any) -> Reading:
        """Return what the user said, and what is known where the user said nothing."""
        return self.replaced(**{**known, **self.said})

    def read_to_fit(self, console: Console, table: str, cluster: str | None = None) -> Table:
        """Return a table that can have edges: a single column usually means a wrong delimiter."""
        data = self.read(console, table, cluster)
        if data.shape[1] < 2:
            raise DataError("a network needs a table of at least two columns; got 1. Is --delimiter right?")
        return data

    def read(self, console: Console, table: str, cluster: str | None = None) -> Table:
        """Return the table: that of a pattern in parts, on the workers of a cluster if there is one."""
        from isinglass.data import read_parts
        from isinglass.data.files import read_table

        settings = dict(self.said)
        if settings.get("id_column") == "none":
            settings["id_column"] = None
        with console.progress("Reading"):
            if cluster is None and files_of(table) == [table]:
                return read_table(table, **settings)  # type: ignore[no-any-return]
            return read_parts(files_of(table), client=_connect(cluster), **settings)  # type: ignore[return-value]

    def describe_shape(self, data: Table, table: str) -> str:
        """Name the table and its size."""
        n, p = data.shape
        units = data.units
        if units is not None:
            n = len(set(units.tolist()))
        return f"{'stdin' if table == '-' else table}, {plural(n, 'row')} × {plural(p, 'column')}"

    def describe_file(self, data: Any) -> list[str]:
        """Say in words what was found out about the file and not said by the user."""
        found = getattr(data, "detected", {})
        return [
            f"{words} {found[name]!r}"
            for name, words in _DETECTED.items()
            if name in found and name not in self.said and found[name] != "comma"
        ]

    def describe(self, data: Table, table: str) -> str:
        """Say in words what was read."""
        parts = [self.describe_shape(data, table)]
        if data.n_missing:
            done = f"dropped with {plural(data.n_dropped, 'row')}"
            if getattr(data, "filled", None) is not None:
                done = "read as 0"
            elif not data.n_dropped:
                done = "imputed"
            parts.append(f"{plural(data.n_missing, 'missing cell')} {done}")
        parts += self.describe_file(data)
        if data.sample_weight is not None and "weights" in self.said:
            parts.append(f"weights {self.said['weights']!r}: {describe_weights(data)}")
        return ", ".join(parts)


def describe_weights(data: Any) -> str:
    """Say in words what the weights of the rows are taken for."""
    from isinglass.data.weights import kind_of

    scaled, total = data.scaled_weight, f"{data.sample_weight.sum():.6g}"
    if kind_of(scaled, data.units) == "counts":
        return f"counts of {total} rows"
    return f"sampling weights, sum {total}, worth {scaled.sum():.1f} rows of equal weight"


def _kinds(ordinal: tuple[Any, ...], nominal: tuple[Any, ...]) -> dict[Any, str]:
    """Return the kinds of the columns that were named."""
    found: dict[Any, str] = {}
    for kind, given in (("ordinal", ordinal), ("nominal", nominal)):
        for key in (key for keys in given for key in keys):
            if found.setdefault(key, kind) != kind:
                raise click.UsageError(f"--ordinal and --nominal both name {COLUMN.spell(key)}.")
    return found


def _spellings(texts: tuple[str, ...]) -> Any:
    """Return what is missing in all columns; by column, if some spelling is written COLUMN=TEXT."""
    found: dict[Any, list[str]] = {}
    for text in texts:
        column, _, word = text.rpartition("=")
        found.setdefault(COLUMN.convert(column, None, None) if column else None, []).append(word if column else text)
    return found if found.keys() - {None} else texts


def impute_holes(console: Console, data: Table) -> tuple[Table, Imputation | None]:
    """Return a table without holes, and how they were filled if there were any."""
    if data.holes is None:
        return data, None
    from isinglass.select.method import impute

    with console.progress("Imputing"):
        found = impute(data)
    return found.table, found


def describe_imputation(found: Imputation | None) -> dict[str, str]:
    """Say in words how missing cells were filled."""
    if found is None:
        return {}
    empty = f", {plural(found.n_empty, 'row')} without any answer left out" if found.n_empty else ""
    state = "settled" if found.converged else "NOT settled"
    return {
        "Imputed": f"{found.missing.mean():.1%} of the cells, {found.n_imputations} times, {state} after "
        f"{plural(found.n_rounds, 'round')} (Monte Carlo error {found.noise:.2g}){empty}"
    }


def _connect(cluster: str | None) -> Any:
    """Return a client of a Dask scheduler; False is this process."""
    if cluster is None:
        return False
    try:
        from distributed import Client
    except ImportError:
        raise click.UsageError("--cluster needs dask.distributed: install isinglass with the extra dask.") from None
    try:
        client = Client(cluster, timeout=20)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise click.UsageError(f"--cluster: no scheduler answers at {cluster!r} ({error}).") from None
    click.get_current_context().call_on_close(client.close)
    return client


def describe_coding(coding: Coding | None) -> dict[str, str]:
    """Return what became 1, unless the table had 0 and 1 to begin with: per column if there are few."""
    from isinglass.data.coding import BITS

    if coding is None or all(rule is BITS for rule in coding.columns):
        return {}
    labels = coding.names or [f"column {k + 1}" for k in range(len(coding.columns))]
    columns: dict[str, list[str]] = {}
    for label, rule in zip(labels, coding.columns, strict=True):
        columns.setdefault("0 and 1 as they are" if rule is BITS else _meaning(rule), []).append(str(label))
    shown = [
        f"{', '.join(names) if len(labels) <= LISTED else plural(len(names), 'column')}: {meaning}"
        for meaning, names in columns.items()
    ]
    return {"Values": "; ".join(shown[:LISTED]) + (f"; and {len(shown) - LISTED} more" if len(shown) > LISTED else "")}


def _meaning(rule: Any) -> str:
    """Say in words how a column is read."""
    from isinglass.data.coding import Cut, Levels

    if isinstance(rule, Cut):
        return f"1 above {rule.threshold:g}"
    if isinstance(rule, Levels) and rule.kind != "binary":
        words = [str(value) for value in rule.values]
        listed = words if len(words) <= LISTED else [*words[:2], "…", words[-1]]
        return f"{rule.kind}, {(' < ' if rule.kind == 'ordinal' else ', ').join(listed)}"
    zero, one = (
        "nothing" if side is None else " or ".join(map(str, side)) if isinstance(side, tuple) else str(side)
        for side in (rule.values if isinstance(rule, Levels) else rule.pair)
    )
    return f"{one} = 1, {zero} = 0"


@dataclass(frozen=True)
class Groups:
    """Where attributes of the nodes come from, and which of them gives the colors."""

    groups: str | None  # CSV file with a header: the names of the nodes in the first column, attributes in the others
    color_by: str | None  # the attribute; the first one by default

    def __post_init__(self) -> None:
        if self.color_by is not None and self.groups is None:
            raise click.UsageError("--color-by needs --groups FILE.")

    def read(self, names: Sequence[str]) -> tuple[dict[str, list[str | None]], str | None]:
        """Return the attributes in the order of ``names``, and which of them gives the colors.

        Nodes that the file does not mention have no values; rows that mention no node are refused, because a misspelt
        name would go unnoticed.
        """
        if self.groups is None:
            return {}, None
        header, rows = _read_rows(self.groups)
        known = set(names)
        for row in rows:
            if row not in known:
                raise DataError(f"{self.groups} must name nodes in its first column; {row!r} is not a node.")
        columns = {
            name: [rows[node][k] or None if node in rows else None for node in names] for k, name in enumerate(header)
        }
        if self.color_by is not None and self.color_by not in columns:
            listed = ", ".join(map(repr, header))
            raise click.BadParameter(f"{self.color_by!r} is not one of {listed}.", param_hint="'--color-by'")
        first = next((name for name in header if name != WORDING), None)
        return columns, self.color_by or first


def _read_rows(file: str) -> tuple[list[str], dict[str, list[str]]]:
    """Return the names of the attributes, and the attributes of every node."""
    try:
        with Path(file).open(encoding="utf-8-sig", newline="") as stream:
            text = stream.read()
        delimiter = max(",;\t", key=text.partition("\n")[0].count)
        lines = [line for line in csv.reader(io.StringIO(text), delimiter=delimiter, strict=True) if line]
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataError(f"{file} must be a CSV file in UTF-8; {error}.") from None
    if not lines or len(lines[0]) < 2:
        raise DataError(f"{file} must have a header with at least two columns: the name of the node, and an attribute.")
    header, rows = lines[0][1:], {}
    for number, line in enumerate(lines[1:], start=2):
        if len(line) != len(header) + 1 or line[0] in rows:
            raise DataError(f"{file}, line {number} must have {len(header) + 1} cells and a new name; got {line!r}.")
        rows[line[0]] = line[1:]
    return header, rows


CELLS = under(
    "Reading the table",
    Option(
        "--missing",
        OneOf("error", "impute", "zero", "drop"),
        "Missing cells: refuse them, draw them from the network, read them as 0, or drop their rows.",
        otherwise="error",
    ),
    Option(
        "--encode", ENCODE, "What the answers mean (Unknown= is missing); auto: detect the two answers of each column."
    ),
    Option("--binarize", BINARIZE, "Numbers above CUT become 1, others 0; or one cut per column: age=40,income=2e4."),
    Option("--weights", COLUMN, "Column with the weights of the rows."),
    Option("--drop", COLUMNS, "Leave these columns out: names, or #3 for the third one.", multiple=True),
    flag("--transpose", "The file has one line per variable."),
)
COLUMNS_TO_FIT = under(
    "Reading the table",
    Option(
        "--columns --column columns",
        COLUMNS,
        "Keep only these columns: names, or #3 for the third one. Quote a name with a comma: '\"a,b\",c'.",
        multiple=True,
    ),
    Option(
        "--ordinal",
        COLUMNS,
        "Columns of ordered categories, such as 1 to 5: names, ranges A1:A5, patterns 'A*', or #3.",
        multiple=True,
    ),
    Option(
        "--nominal", COLUMNS, "Columns of categories without an order: names, ranges, patterns, or #3.", multiple=True
    ),
)
FILE = under(
    ADVANCED,
    Option(
        "--weight-kind",
        OneOf("sampling", "counts"),
        "What the weights are: sampling weights, or how many equal rows a row stands for.",
        otherwise="counts if they are whole numbers",
    ),
    Option(
        "--header/--no-header", None, "Whether the first line holds column names.", default=None, otherwise="detected"
    ),
    Option("--id-column", COLUMN, 'Column with row labels, or "none".', otherwise="detected"),
    Option(
        "--na na_values",
        str,
        "Also read TEXT as missing, everywhere or in one column.",
        multiple=True,
        metavar="TEXT|COLUMN=TEXT",
    ),
    Option(
        "--delimiter",
        str,
        "Field separator: a character, tab, blank or none.",
        metavar="CHARACTER",
        otherwise="detected",
    ),
    Option("--reverse", COLUMNS, "Ordered columns to turn: the last category comes first.", multiple=True),
    Option("--format", OneOf(*FORMATS), "Kind of file.", otherwise="detected"),
    Option("--encoding", str, "Text encoding of the file.", otherwise="utf-8"),
    Option("--decimal", OneOf(".", ","), "What separates the decimals of numbers in a text.", otherwise="detected"),
    Option("--sheet", str, "Sheet of a spreadsheet.", otherwise="the first"),
    *(
        Option(f"--max-{what}", click.IntRange(1), f"Refuse tables with more {what}.")
        for what in ("rows", "columns", "bytes")
    ),
)
_COMBINE = flag("--combine-indicators", "Turn each set of indicator columns into one nominal column.")
READING = Bundle("reading", Reading, [*CELLS, *COLUMNS_TO_FIT, *FILE, *under(ADVANCED, _COMBINE)])
"""For a table to fit."""
READING_AGAIN = Bundle("reading", Reading, [*CELLS, *FILE])
"""For a table of a model, which knows its columns and their kinds."""
GROUPS = Bundle(
    "groups",
    Groups,
    under(
        "Nodes",
        Option(
            "--groups",
            click.Path(exists=True, dir_okay=False),
            "CSV file with node names, then attributes such as a group or the wording of an item.",
            metavar="FILE",
        ),
        Option("--color-by", str, "Color nodes by this attribute.", metavar="ATTRIBUTE", otherwise="the first"),
    ),
)
