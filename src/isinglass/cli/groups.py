"""What is known about the nodes: a CSV file of attributes, such as parties or questionnaires."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from isinglass.cli.options import Bundle, Option, under
from isinglass.errors import DataError

WORDING = "wording"
"""The attribute that holds the wording of items, for the report; it gives no colors unless asked to."""


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
