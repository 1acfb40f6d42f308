"""The file of --attributes: what is known of the nodes beside their names."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from isinglass.errors import DataError

if TYPE_CHECKING:
    from isinglass.variables import Variables

WORDING = "wording"  # the attribute with the wording of items, for the report; it gives no colors


@dataclass(frozen=True)
class Attributes:
    """What a file says about nodes, in their order: the first column gives the colors, unless it is the wording."""

    columns: Mapping[str, list[str | None]] = field(default_factory=dict)

    @classmethod
    def read(cls, file: str | None, variables: Variables, taken: Collection[str] | None = None) -> Attributes:
        """Return the attributes of the nodes among some variables; none without a file.

        The file is CSV with a header: the names of the nodes in the first column, attributes in the others. Nodes that
        it does not mention have no values; rows that mention no node are refused, because a misspelled name would go
        unnoticed. Where attributes become columns of a file that has others, ``taken``, so are names that it uses.
        """
        from isinglass.export.attributes import check_name

        if file is None:
            return cls()
        header, rows = _read_rows(file)
        nodes = variables.nodes
        for name in () if taken is None else header:
            try:
                check_name(name, "node", variables, taken or ())
            except DataError as error:
                error.where = file
                raise
        for row in rows:
            if row not in nodes:
                raise DataError(f"{file} must name nodes in its first column; {row!r} is not a node.")
        cells = [rows.get(node, [""] * len(header)) for node in nodes]
        return cls({name: [row[k] or None for row in cells] for k, name in enumerate(header)})

    @property
    def color_by(self) -> str | None:
        """The name of the attribute that gives the colors."""
        return next((name for name in self.columns if name != WORDING), None)

    @property
    def groups(self) -> list[str | None] | None:
        """The values of that attribute."""
        return None if self.color_by is None else self.columns[self.color_by]

    @property
    def wording(self) -> list[str | None] | None:
        """The wording of the items."""
        return self.columns.get(WORDING)


def _read_rows(file: str) -> tuple[list[str], dict[str, list[str]]]:
    """Return the names of the attributes, and the attributes of every node."""
    try:
        text = Path(file).read_text(encoding="utf-8-sig")
        delimiter = max(",;\t", key=text.partition("\n")[0].count)
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        (_, first), *lines = [(reader.line_num, [*map(str.strip, line)]) for line in reader if line] or [(1, [])]
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataError(f"{file} must be a CSV file in UTF-8; {error}.") from None
    if len(first) < 2:
        raise DataError(f"{file} must have a header with at least two columns: the name of the node, and an attribute.")
    header, rows = first[1:], {}
    if not all(header):
        raise DataError(f"{file} must name every attribute in its header; column {first.index('', 1) + 1} has no name.")
    if len({name.casefold() for name in header}) < len(header):
        raise DataError(f"{file} must have attributes with different names; got {', '.join(header)}.")
    for number, line in lines:
        if len(line) != len(first):
            raise DataError(f"{file}, line {number} must have {len(first)} cells; got {len(line)}.")
        if line[0] in rows:
            raise DataError(f"{file}, line {number} must be about another node; got {line[0]!r} again.")
        rows[line[0]] = line[1:]
    return header, rows
