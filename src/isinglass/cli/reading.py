"""How a table is read: the options of ``read_table``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.console import plural
from isinglass.cli.options import ADVANCED, Bundle, Option, under
from isinglass.cli.values import BINARIZE, COLUMN, COLUMNS, ENCODE, OneOf, files_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isinglass.cli.console import Console
    from isinglass.data import BinaryTable
    from isinglass.data.coding import Coding
    from isinglass.select.impute import Imputation

SECTION = "Reading the table"
OF_THE_FILE = ("format", "max_rows", "max_columns", "max_bytes")
"""Options that say nothing about another copy of the table."""
LISTED = 12
"""Columns up to which each is named with what became 1."""


class Reading:
    """What the user said about a table, by the parameters of ``read_table``."""

    def __init__(self, **values: Any) -> None:
        for name in ("columns", "drop"):
            values[name] = tuple(key for keys in values[name] for key in keys)
        values["na_values"] = _spellings(values["na_values"])
        kinds = _kinds(values.pop("ordinal"), values.pop("nominal"))
        self.said = {name: value for name, value in values.items() if value not in (None, ())}
        if kinds:
            self.said["kinds"] = kinds
        if not values["transpose"]:
            del self.said["transpose"]

    @property
    def remembered(self) -> dict[str, Any]:
        """What a model keeps, for nobody to say it twice."""
        return {name: value for name, value in self.said.items() if name not in OF_THE_FILE}

    def replaced(self, **changes: Any) -> Reading:
        """Return a copy with other settings; None removes one."""
        other = object.__new__(Reading)
        other.said = {name: value for name, value in {**self.said, **changes}.items() if value is not None}
        return other

    def read_to_fit(self, console: Console, table: str, cluster: str | None = None) -> BinaryTable:
        """Return a table that can have edges: a single column usually means a wrong delimiter."""
        from isinglass.errors import DataError

        data = self.read(console, table, cluster)
        if data.shape[1] < 2:
            raise DataError("a network needs a table of at least two columns; got 1. Is --delimiter right?")
        return data

    def read(self, console: Console, table: str, cluster: str | None = None) -> BinaryTable:
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

    def describe_shape(self, data: BinaryTable, table: str) -> str:
        """Name the table and its size."""
        from isinglass.data import units_of

        n, p = data.shape
        units = units_of(data)
        if units is not None:
            n = len(set(units.tolist()))
        return f"{'stdin' if table == '-' else table}, {plural(n, 'row')} × {plural(p, 'column')}"

    def describe(self, data: BinaryTable, table: str) -> str:
        """Say in words what was read."""
        parts = [self.describe_shape(data, table)]
        if data.n_missing:
            done = f"dropped with {plural(data.n_dropped, 'row')}"
            if getattr(data, "filled", None) is not None:
                done = "read as 0"
            elif not data.n_dropped:
                done = "imputed"
            parts.append(f"{plural(data.n_missing, 'missing cell')} {done}")
        if data.sample_weight is not None and "weights" in self.said:
            parts.append(f"weights {self.said['weights']!r}, sum {data.sample_weight.sum():.6g}")
        return ", ".join(parts)


def _kinds(ordinal: tuple[Any, ...], nominal: tuple[Any, ...]) -> dict[Any, str]:
    """Return the kinds of the columns that were named."""
    both = {"ordinal": ordinal, "nominal": nominal}
    found: dict[Any, str] = {}
    for kind, given in both.items():
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


def impute_holes(console: Console, data: BinaryTable) -> tuple[BinaryTable, Imputation | None]:
    """Return a table without holes, and how they were filled if there were any."""
    from isinglass.data import holes_of

    if holes_of(data) is None:
        return data, None
    from isinglass.select.impute import complete

    with console.progress("Imputing"):
        found = complete(data)
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
    from isinglass.data.coding import BITS, Cut, Levels

    if coding is None or all(rule is BITS for rule in coding.columns):
        return {}
    labels = coding.names or [f"column {k + 1}" for k in range(len(coding.columns))]
    columns: dict[str, list[str]] = {}
    for label, rule in zip(labels, coding.columns, strict=True):
        if rule is BITS:
            meaning = "0 and 1 as they are"
        elif isinstance(rule, Cut):
            meaning = f"1 above {rule.threshold:g}"
        elif isinstance(rule, Levels) and rule.kind != "binary":
            meaning = f"{rule.kind}, {_levels(rule.values, ' < ' if rule.kind == 'ordinal' else ', ')}"
        elif isinstance(rule, Levels):
            meaning = f"{_values(rule.values[1])} = 1, {_values(rule.values[0])} = 0"
        else:
            zero, one = rule.pair
            meaning = f"{_values(one)} = 1, {_values(zero)} = 0"
        columns.setdefault(meaning, []).append(str(label))
    shown = [
        f"{', '.join(names) if len(labels) <= LISTED else plural(len(names), 'column')}: {meaning}"
        for meaning, names in columns.items()
    ]
    return {"Values": "; ".join(shown[:LISTED]) + (f"; and {len(shown) - LISTED} more" if len(shown) > LISTED else "")}


def _levels(values: tuple[Any, ...], between: str) -> str:
    """List the categories of a column, the ends of many."""
    words = [str(value) for value in values]
    return between.join(words if len(words) <= LISTED else [*words[:2], "…", words[-1]])


def _values(side: Any) -> str:
    if side is None:
        return "nothing"
    return " or ".join(map(str, side)) if isinstance(side, tuple) else str(side)


def with_defaults(reading: Reading, known: Mapping[str, Any]) -> Reading:
    """Return what the user said, and what is known where the user said nothing."""
    return reading.replaced(**{name: value for name, value in known.items() if name not in reading.said})


READING = Bundle(
    "reading",
    Reading,
    [
        *under(
            SECTION,
            Option(
                "--missing",
                type=OneOf(["error", "impute", "zero", "drop"]),
                otherwise="error",
                help="Missing cells: refuse them, draw them from the network, read them as 0, or drop their rows.",
            ),
            Option(
                "--encode",
                type=ENCODE,
                help="What the answers mean (Unknown= is missing); auto: detect the two answers of each column.",
            ),
            Option(
                "--binarize",
                type=BINARIZE,
                help="Numbers above CUT become 1, others 0: in all columns, or with a cut for each: age=40,income=2e4.",
            ),
            Option(
                "--ordinal",
                type=COLUMNS,
                multiple=True,
                help="Columns of ordered categories, such as 1 to 5: names, ranges A1:A5, patterns 'A*', or #3.",
            ),
            Option(
                "--nominal",
                type=COLUMNS,
                multiple=True,
                help="Columns of categories without an order: names, ranges, patterns, or #3.",
            ),
            Option("--weights", type=COLUMN, help="Column with the weights of the rows."),
            Option(
                *("--columns", "--column", "columns"),
                type=COLUMNS,
                multiple=True,
                help="Keep only these columns: names, or #3 for the third one. Quote a name with a comma: '\"a,b\",c'.",
            ),
            Option("--drop", type=COLUMNS, multiple=True, help="Leave these columns out."),
            Option("--transpose", is_flag=True, help="The file has one line per variable."),
        ),
        *under(
            ADVANCED,
            Option(
                "--header/--no-header",
                default=None,
                otherwise="detected",
                help="Whether the first line holds column names.",
            ),
            Option("--id-column", type=COLUMN, otherwise="detected", help='Column with row labels, or "none".'),
            Option(
                *("--na", "na_values"),
                multiple=True,
                metavar="TEXT|COLUMN=TEXT",
                help="Also read TEXT as missing, everywhere or in one column.",
            ),
            Option(
                "--delimiter",
                metavar="CHARACTER",
                otherwise="detected",
                help="Field separator: a character, tab, blank or none.",
            ),
            Option(
                "--format",
                type=OneOf(["text", "npy", "npz", "parquet", "feather", "stata", "spss"]),
                otherwise="detected",
                help="Kind of file.",
            ),
            Option("--encoding", otherwise="utf-8", help="Text encoding of the file."),
            *(
                Option(f"--max-{what}", type=click.IntRange(min=1), help=f"Refuse tables with more {what}.")
                for what in ("rows", "columns", "bytes")
            ),
        ),
    ],
)
