"""What commands read: a table, with the options of ``read_table``, and what is known about its columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli import option_table
from isinglass.cli.command import Bundle
from isinglass.cli.console import Console
from isinglass.cli.descriptions import describe_missing, describe_shape, describe_weights
from isinglass.cli.grammar import Codes, OfColumn, name_of, spell_column, spell_option
from isinglass.cli.option_table import OPTIONS, files_of, under
from isinglass.column_keys import name_ranges
from isinglass.errors import DataError, join_words

if TYPE_CHECKING:
    from isinglass.arguments import Options
    from isinglass.data import AnyTable, Table
    from isinglass.data.source import Source

_DETECTED = {
    "delimiter": "fields separated by",
    "decimal": "decimals after",
    "comments": "lines left out:",
    "sheet": "sheet",
    "header": "header",
    "id_column": "row labels from",
}
"""What was found out about a file, in words."""
_KINDS = ("ordinal", "nominal", "continuous")  # each an option
_TAKEN = re.compile(r"(none|#\d+|column \d+|-.*)?")  # names that mean something else in some option


class Reading:
    """What the user said about a table, by the parameters of ``read_table``."""

    def __init__(
        self,
        *,
        na_values: Sequence[OfColumn[str]] = (),
        encode: Sequence[OfColumn[str | Codes]] = (),
        **values: Any,  # Any: as `read_table` has them
    ) -> None:
        for name in ("columns", "drop", "reverse", "normal_scores", "covariates", *_KINDS):
            values[name] = tuple(key for keys in values.get(name, ()) for key in keys)
        values["kinds"] = _kinds({kind: values.pop(kind) for kind in _KINDS})
        values["scores"] = dict.fromkeys(values.pop("normal_scores"), "normal")
        values["na_values"] = _join_missing(na_values)
        values["value_labels"] = _join_labels(values.get("value_labels", ()))
        values["encode"] = _join_answers(encode)
        self.encodes_all = any(column is None for column, _ in encode)
        said = {name: value for name, value in values.items() if value not in (None, (), {})}
        self.said = said | {name: None for name in ("id_column", "weights") if said.get(name) == "none"}

    def with_defaults(self, **known: object) -> Reading:
        """Return what the user said, and what is known where the user said nothing."""
        other = copy(self)
        other.said = {**known, **self.said}
        return other

    def read_to_fit(self, console: Console, table: str) -> Table:
        """Return a table that can have edges: a file with a single column usually has another delimiter."""
        data = self.read(console, table)
        if data.shape[1] < 2:
            layout = data.coding.layout
            width = (layout.width or 1) + (layout.id_column is not None)
            rest = (
                f"only 1 of the {width} in the file is left: the others are dropped, or hold labels, weights or groups."
            )
            got = rest if width > 1 else "the file has 1. Is --delimiter right?"
            raise DataError(f"A network needs at least two columns, and {got}")
        return data

    def read(self, console: Console, table: str) -> Table:
        """Return the table: that of a pattern in parts."""
        from isinglass.data.files.read_table import read_table
        from isinglass.data.options import ReadOptions
        from isinglass.data.parts.read_parts import open_parts

        with console.progress("Reading"):
            if files_of(table) == [table]:
                return read_table(table, **self.said)
            options = ReadOptions(**self.said)
            return open_parts(files_of(table), options, None, client=False)  # type: ignore[return-value]

    def read_source(self, console: Console, table: str) -> tuple[Source, Table]:
        """Return the table before and after its values have a meaning."""
        from isinglass.data.files.read_table import read_source
        from isinglass.data.options import ReadOptions

        with console.progress("Reading"):
            return read_source(table, ReadOptions(**self.said))

    def describe_file(self, data: AnyTable) -> list[str]:
        """Say in words what was found out about the file and not said by the user."""
        found = getattr(data, "detected", {})
        return [
            "no header"
            if (name, found[name]) == ("header", "none")
            else f"{words} {found[name] if name == 'comments' else repr(found[name])}"
            for name, words in _DETECTED.items()
            if name in found and name not in self.said and found[name] not in ("comma", "first line")
        ]

    def describe(self, data: Table, table: str, kept: str = "imputed") -> str:
        """Say in words what was read; ``kept`` is what becomes of missing cells that are still missing."""
        parts = [describe_shape(data, table), *describe_missing(data, kept), *self.describe_file(data)]
        if "weights" in self.said and data.counted(quiet=True).weight_kind is not None:
            parts.append(f"weights {self.said['weights']!r}: {describe_weights(data)}")
        return ", ".join(parts)


def _kinds(columns: Mapping[str, Sequence[str | int]]) -> dict[str | int, str]:
    """Return the kinds of the columns that were named."""
    found: dict[str | int, str] = {}
    for kind, keys in columns.items():
        for key in keys:
            if found.setdefault(key, kind) != kind:
                raise click.UsageError(f"--{found[key]} and --{kind} both name {spell_column(key)}.")
    return found


def _join_missing(texts: Sequence[OfColumn[str]]) -> Sequence[str] | dict[str | int | None, list[str]]:
    """Return what is missing in all columns; by column, if some text is said of one."""
    found: dict[str | int | None, list[str]] = {}
    for column, text in texts:
        found.setdefault(column, []).append(text)
    return found if found.keys() - {None} else tuple(found.get(None, ()))


def _join_answers(meanings: Sequence[OfColumn[str | Codes]]) -> object:
    """Return what answers mean: in all columns, or in the columns that are named and, under None, in the others."""
    found: dict[str | int | None, object] = {}
    for column, codes in meanings:
        if column in found:
            whom = "all columns" if column is None else spell_column(column)
            raise click.UsageError(f"--encode may be repeated, but not for the same column; got {whom} twice.")
        found[column] = codes
    return found[None] if found.keys() == {None} else found or None


def _join_labels(named: Sequence[tuple[str | int, Mapping[str, str]]]) -> dict[str | int, dict[str, str]]:
    """Return the labels of values by column; several options may name one column."""
    found: dict[str | int, dict[str, str]] = {}
    for column, labels in named:
        known = found.setdefault(column, {})
        for value, label in labels.items():
            if known.setdefault(value, label) != label:
                raise click.UsageError(f"--value-labels names the value {value!r} of {spell_column(column)} twice.")
    return found


def column_keys(names: Sequence[str]) -> list[str | int]:
    """Return what options call columns: by name, else by number from 0, which depends on whether one names the rows."""
    counts = Counter(names)
    return [j if _TAKEN.fullmatch(name) or counts[name] > 1 else name for j, name in enumerate(names)]


def kinds_by_key(keys: Sequence[str | int], kinds: Mapping[int, str | None]) -> dict[str | int, str]:
    """Return the kinds of columns, given by place, by what options call these; three neighbors and more as a range."""
    found: dict[str | int, str] = {}
    for kind in _KINDS:
        found |= dict.fromkeys(name_ranges(keys, [j for j, each in kinds.items() if each == kind]), kind)
    return found


def spell_reading(said: Options) -> list[str]:
    """Return arguments that a `Reading` holds as words of the command line, of which it makes the same arguments."""
    given = [option for argument in said.items() for option in _options_for(*argument)]
    return [word for name, value in given for word in spell_option(OPTIONS[name], value)]


def _options_for(name: str, value: Any) -> list[tuple[str, object]]:  # Any: as `read_table` has it
    """Return the options that stand for an argument, with their values; some are given once per column."""
    if name == "kinds":
        keys = {kind: [key for key, each in value.items() if each == kind] for kind in _KINDS}
        return [(kind, each) for kind, each in keys.items() if each]
    if name == "na_values":
        by_column = value.items() if isinstance(value, Mapping) else [(None, value)]
        return [(name, (key, str(code))) for key, codes in by_column for code in codes]
    if name == "scores":
        return [("normal_scores", list(value))]
    return [("groups", value[0])] if name == "labels" else [(name, value)] if value != [] else []


READING = Bundle("reading", Reading, under(option_table.READING, option_table.ADVANCED))
"""For a table to fit."""
OF_A_FILE = "missing weights weight_kind header id_column na_values delimiter encoding decimal sheet"
READING_AGAIN = Bundle("reading", Reading, OF_A_FILE.split())
"""For a table of a model, which knows its columns and what their values mean."""


def require_table(table: str | None, reading: Reading) -> None:
    """Refuse options that say how to read a table where none is given."""
    if table is None and reading.said:
        given = join_words([name_of(OPTIONS[name]) for name in reading.said])
        raise click.UsageError(f"No TABLE is given that could be read with {given}.")
