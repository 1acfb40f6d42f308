"""How a table is read: the options of ``read_table``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.console import plural
from isinglass.cli.options import Bundle, Number, Option

if TYPE_CHECKING:
    from isinglass.cli.console import Console
    from isinglass.data import BinaryTable

__all__ = ["READING", "Reading"]

SECTION = "Reading the table"
REMEMBERED = (
    *("missing", "encode", "coding", "binarize", "weights", "columns", "drop", "transpose", "header", "id_column"),
    *("na_values", "delimiter", "encoding"),
)
"""Options that a model keeps, so that nobody has to give them twice."""


class EncodeType(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.4 on
    """What the two answers mean: ``Yes=1,No=0``, or ``auto``."""

    name = "encode"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Return what stands for the value in the help."""
        return "auto|YES=1,NO=0"

    def spell(self, value: Any) -> str:
        """Return the text that stands for a value."""
        if isinstance(value, str):
            return value
        return ",".join(f"{answer}={'' if bit is None else bit}" for answer, bit in value.items())

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read ``answer=1`` pairs; an answer that is worth nothing is missing."""
        if not isinstance(value, str) or value == "auto":
            return value
        meanings: dict[str, int | None] = {}
        for part in value.split(","):
            answer, equals, bit = part.rpartition("=")
            if not equals or bit not in ("0", "1", "") or answer in meanings:
                self.fail(f"{value!r} is neither auto nor a list such as Yes=1,No=0,Unknown=.", param, ctx)
            meanings[answer] = int(bit) if bit else None
        return meanings


class ColumnType(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.4 on
    """A column by its name, or by its number from 1, row names not counted: ``#3``."""

    name = "column"

    def spell(self, value: str | int) -> str:
        """Return the text that stands for a value."""
        return f"#{value + 1}" if isinstance(value, int) else value

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str | int:
        """Read ``#3`` as the third column, everything else as a name."""
        number = value[1:] if isinstance(value, str) and value.startswith("#") else ""
        return int(number) - 1 if number.isdecimal() and int(number) > 0 else value


COLUMN = ColumnType()


@dataclass(frozen=True)
class Reading:
    """How a table is read: what the user said, by the names of ``read_table``.

    Parameters
    ----------
    missing, encode, coding, binarize, weights, columns, drop, transpose, header, id_column, na_values, delimiter, \
    format, encoding, max_rows, max_columns, max_bytes
        As for ``read_table``; None or empty where nothing was said.
    """

    missing: str | None
    encode: Any
    coding: str
    binarize: float | None
    weights: str | int | None
    columns: tuple[str | int, ...]
    drop: tuple[str | int, ...]
    transpose: bool
    header: bool | None
    id_column: str | int
    na_values: tuple[str, ...]
    delimiter: str | None
    format: str | None
    encoding: str
    max_rows: int | None
    max_columns: int | None
    max_bytes: int | None

    @property
    def remembered(self) -> dict[str, Any]:
        """What was said about how the table is read, as far as it says how another copy of it is read."""
        said = {name: getattr(self, name) for name in REMEMBERED}
        return {name: value for name, value in said.items() if value not in (None, (), False, "auto", "bits", "utf-8")}

    def read_to_fit(self, console: Console, table: str) -> BinaryTable:
        """Return a table that can have edges: one column is the sign of a wrong delimiter, or a mistake."""
        from isinglass.errors import DataError

        data = self.read(console, table)
        if data.shape[1] < 2:
            raise DataError("The table must have at least two columns to have a network; got 1. Is --delimiter right?")
        return data

    def read(self, console: Console, table: str, *, missing: str = "error", encode: Any = None) -> BinaryTable:
        """Return the table; ``missing`` and ``encode`` are what holds if the user does not say it."""
        from isinglass.data.files import read_table

        limits = {name: getattr(self, name) for name in ("max_rows", "max_columns", "max_bytes")}
        with console.progress("Reading"):
            return read_table(
                table,
                missing=self.missing or missing,
                encode=self.encode or ({"-1": 0, "1": 1} if self.coding == "spins" else encode),
                binarize=self.binarize,
                transpose=self.transpose,
                header="auto" if self.header is None else self.header,
                id_column=None if self.id_column == "none" else self.id_column,
                delimiter=self.delimiter,
                weights=self.weights,
                columns=self.columns or None,
                drop=self.drop or None,
                na_values=self.na_values,
                format=self.format,
                encoding=self.encoding,
                **{name: limit for name, limit in limits.items() if limit is not None},
            )

    def refuse_weights(self, reason: str) -> None:
        """Refuse row weights where they have no meaning."""
        if self.weights is not None:
            raise click.UsageError(f"--weights cannot be used here: {reason}. Repeat a row that counts several times.")

    def describe_shape(self, data: BinaryTable, table: str) -> str:
        """Name the table and its size."""
        n, p = data.shape
        return f"{'stdin' if table == '-' else table}, {plural(n, 'row')} × {plural(p, 'column')}"

    def describe(self, data: BinaryTable, table: str) -> str:
        """Say in words what was read."""
        parts = [self.describe_shape(data, table)]
        if data.n_missing:
            done = "taken as 0" if data.filled is not None else f"dropped with {plural(data.n_dropped, 'row')}"
            parts.append(f"{plural(data.n_missing, 'missing cell')} {done}")
        if data.sample_weight is not None:
            parts.append(f"weights {self.weights!r}, sum {data.sample_weight.sum():.6g}")
        return ", ".join(parts)


READING = Bundle(
    "reading",
    Reading,
    [
        Option(
            "--missing",
            type=click.Choice(["error", "zero", "drop"]),
            section=SECTION,
            help="Missing cells: refuse them, take them as 0, or leave out their rows.  [default: error]",
        ),
        Option(
            "--encode",
            type=EncodeType(),
            section=SECTION,
            help="What the answers mean (Unknown= is missing); auto: find the two answers of every column.",
        ),
        Option(
            "--coding",
            type=click.Choice(["bits", "spins"]),
            default="bits",
            show_default=True,
            section=SECTION,
            help="Numbers are 0 and 1, or -1 and 1.",
        ),
        Option("--binarize", type=Number(), metavar="CUT", section=SECTION, help="Numbers above CUT are 1, others 0."),
        Option("--weights", type=COLUMN, section=SECTION, help="Column that holds the weights of the rows."),
        Option(
            "--column",
            "columns",
            type=COLUMN,
            multiple=True,
            section=SECTION,
            help="Keep this column (name, or #3: the third beside the row names); repeatable.",
        ),
        Option("--drop", type=COLUMN, multiple=True, section=SECTION, help="Leave this column out; repeatable."),
        Option("--transpose", is_flag=True, section=SECTION, help="The file has one line per column of the table."),
        Option(
            "--header/--no-header",
            default=None,
            section=SECTION,
            help="Whether the first line names the columns.  [default: told by its cells]",
        ),
        Option(
            "--id-column",
            type=COLUMN,
            default="auto",
            section=SECTION,
            help="Column that names the rows; none: there is none.  [default: told by its cells]",
        ),
        Option(
            "--na",
            "na_values",
            multiple=True,
            metavar="TEXT",
            section=SECTION,
            help="One more spelling of a missing cell.",
        ),
        Option(
            "--delimiter",
            metavar="CHARACTER",
            section=SECTION,
            help="Between cells: a character, tab, blank or none.  [default: told by the first lines]",
        ),
        Option(
            "--format",
            type=click.Choice(["text", "npy", "npz", "parquet", "feather", "stata", "spss"]),
            section=SECTION,
            help="Kind of file.  [default: told by its first bytes and its name]",
        ),
        Option("--encoding", default="utf-8", show_default=True, section=SECTION, help="Encoding of a text."),
        # Only the message that a limit was exceeded leads to these.
        *(Option(f"--max-{what}", type=click.IntRange(min=1), hidden=True) for what in ("rows", "columns", "bytes")),
    ],
)
