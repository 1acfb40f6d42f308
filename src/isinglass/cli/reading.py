"""How a table is read: the options of ``read_table``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.options import Bundle, Option

if TYPE_CHECKING:
    from isinglass.binary import BinaryTable
    from isinglass.cli.console import Console

__all__ = ["READING", "Reading"]

SECTION = "Reading the table"


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


@dataclass(frozen=True)
class Reading:
    """How a table is read.

    Parameters
    ----------
    missing, encode, coding, binarize, transpose, header, id_column, delimiter, weights, drop
        As for ``read_table``.
    """

    missing: str | None
    encode: Any
    coding: str
    binarize: float | None
    transpose: bool
    header: bool | None
    id_column: str | None
    delimiter: str | None
    weights: str | None
    drop: tuple[str, ...]
    na: tuple[str, ...]

    def read(self, console: Console, table: str, *, missing: str = "error", encode: Any = None) -> BinaryTable:
        """Return the table; ``missing`` and ``encode`` are what holds if the user does not say it."""
        from isinglass.tables import read_table

        with console.progress("Reading"):
            return read_table(
                table,
                missing=self.missing or missing,
                encode=self.encode or encode,
            )

    def refuse_weights(self, reason: str) -> None:
        """Refuse row weights where they have no meaning."""
        if self.weights is not None:
            raise click.UsageError(f"--weights cannot be used here: {reason}. Repeat a row that counts several times.")

    def describe(self, data: BinaryTable, table: str) -> str:
        """Say in words what was read."""
        n, p = data.shape
        parts = [f"{'stdin' if table == '-' else table}, {n} rows × {p} columns"]
        if data.n_missing:
            done = "taken as 0" if data.filled is not None else "dropped with their rows"
            parts.append(f"{data.n_missing} missing cells {done}")
        if data.sample_weight is not None:
            parts.append(f"weights {self.weights!r}, sum {data.sample_weight.sum():.6g}")
        return ", ".join(parts)
