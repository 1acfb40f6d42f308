"""What the user says about a table and about the estimate, as commands use it."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli import options
from isinglass.cli.command import Bundle
from isinglass.cli.console import Console
from isinglass.cli.descriptions import METHODS, describe_missing, describe_shape, describe_table, describe_weights
from isinglass.cli.grammar import Codes, ColumnKey, OfColumn, name_of, spell_column, spell_option
from isinglass.cli.options import OPTIONS, files_of, under
from isinglass.column_keys import name_ranges
from isinglass.errors import DataError, join_words
from isinglass.json_text import JsonObject

if TYPE_CHECKING:
    from isinglass.arguments import Options
    from isinglass.data import AnyTable, Table
    from isinglass.data.source import Source
    from isinglass.select import Run, Selector

CRITERIA = OPTIONS["select"].type.choices  # type: ignore[attr-defined]
_KINDS = ("ordinal", "nominal", "continuous")  # each an option
_LISTS = ("columns", "drop", "reverse", "normal_scores", "covariates", *_KINDS)  # options with lists, to be joined
_TAKEN = re.compile(r"(none|#\d+|column \d+|-.*)?")  # names that mean something else in some option
_AS_ALWAYS = ("comma", "first line")  # what is detected in most files


class Reading:
    """What the user said about a table, by the parameters of ``read_table``."""

    def __init__(
        self,
        *,
        na_values: Sequence[OfColumn[str]] = (),
        encode: Sequence[OfColumn[str | Codes]] = (),
        **values: Any,  # Any: as `read_table` has them
    ) -> None:
        values |= {name: tuple(key for keys in values.get(name, ()) for key in keys) for name in _LISTS}
        values["kinds"] = _join(
            "--ordinal, --nominal and --continuous", ((key, kind) for kind in _KINDS for key in values.pop(kind))
        )
        values["scores"] = dict.fromkeys(values.pop("normal_scores"), "normal")
        codes: dict[ColumnKey | None, list[str]] = {}
        for column, text in na_values:
            codes.setdefault(column, []).append(text)
        values["na_values"] = codes if codes.keys() - {None} else codes.get(None)
        answers = _join("--encode", encode)
        values["encode"] = answers[None] if answers.keys() == {None} else answers
        self.encodes_all = None in answers
        said = {name: value for name, value in values.items() if value not in (None, (), {})}
        self.said = said | {name: None for name in ("id_column", "weights") if said.get(name) == "none"}

    def with_defaults(self, **known: object) -> Reading:
        """Return what the user said, and what is known where the user said nothing."""
        other = copy(self)
        other.said = {**known, **self.said}
        return other

    def read_to_fit(self, console: Console, table: str) -> Table:
        """Return a table that can have edges: a file with a single column usually has another delimiter."""
        if "weight_kind" in self.said and "weights" not in self.said:
            raise click.UsageError("--weight-kind needs --weights.")
        data = self.read(console, table)
        if data.shape[1] < 2:
            raise DataError(
                f"{table}: a network needs at least two columns, apart from names, weights and groups of rows; got 1. "
                "Is --delimiter right?"
            )
        return data

    def read(self, console: Console, table: str) -> Table:
        """Return the table: that of a pattern in parts."""
        from isinglass.data.options import ReadOptions
        from isinglass.data.parts.read_parts import open_parts

        if files_of(table) == [table]:
            return self.read_source(console, table)[1]
        with console.progress("Reading"):
            return open_parts(files_of(table), ReadOptions(**self.said), None, client=False)  # type: ignore[return-value]

    def read_source(self, console: Console, table: str) -> tuple[Source, Table]:
        """Return the table before and after its values have a meaning."""
        from isinglass.data.files.read_table import read_source
        from isinglass.data.options import ReadOptions

        with console.progress("Reading"):
            return read_source(table, ReadOptions(**self.said))

    def describe_file(self, data: AnyTable) -> list[str]:
        """Say in words what was found out about the file and not said by the user."""
        found = getattr(data, "detected", {}).items()
        unsaid = {name: value for name, value in found if name not in self.said and value not in _AS_ALWAYS}
        return [f"{name.replace('_', ' ')} {value!r}" for name, value in unsaid.items()]

    def describe(self, data: Table, table: str, kept: str = "imputed") -> str:
        """Say in words what was read; ``kept`` is what becomes of missing cells that are still missing."""
        parts = [describe_shape(data, table), *describe_missing(data, kept), *self.describe_file(data)]
        if "weights" in self.said and data.counted(quiet=True).weight_kind is not None:
            parts.append(f"weights {self.said['weights']!r}: {describe_weights(data)}")
        return ", ".join(parts)


def _join(what: str, said: Iterable[OfColumn[object]]) -> dict[ColumnKey | None, object]:
    """Return what is said of columns by column, if it is said once of each."""
    found: dict[ColumnKey | None, object] = {}
    for column, value in said:
        if found.setdefault(column, value) != value:
            whom = "all columns" if column is None else spell_column(column)
            raise click.UsageError(f"{what} must say one thing about a column; got two about {whom}.")
    return found


def column_keys(names: Sequence[str]) -> list[ColumnKey]:
    """Return what options call columns: by name, else by number from 0, which depends on whether one names the rows."""
    counts = Counter(names)
    return [j if _TAKEN.fullmatch(name) or counts[name] > 1 else name for j, name in enumerate(names)]


def kinds_by_key(keys: Sequence[ColumnKey], kinds: Mapping[int, str | None]) -> dict[ColumnKey, str]:
    """Return the kinds of columns, given by place, by what options call these; three neighbors and more as a range."""
    found: dict[ColumnKey, str] = {}
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
    if name == "encode":
        return [] if value is None else [(name, (None, value))]
    if name == "scores":
        return [("normal_scores", list(value))]
    return [("groups", value[0])] if name == "labels" else [(name, value)] if value != [] else []


READING = Bundle("reading", Reading, under(options.READING, options.FILE))
"""For a table to fit."""
OF_A_FILE = ("missing", "weights", "weight_kind", "na_values", *under(options.FILE))
READING_AGAIN = Bundle("reading", Reading, OF_A_FILE)
"""For a table of a model, which knows its columns and what their values mean."""


def require_table(table: str | None, reading: Reading) -> None:
    """Refuse options that say how to read a table where none is given."""
    if table is None and reading.said:
        given = join_words([name_of(OPTIONS[name]) for name in reading.said])
        raise click.UsageError(f"No TABLE is given that could be read with {given}.")


class Estimate:
    """What the user said about the estimate, by the fields of `Method`, of its selectors and of `Run`.

    An option is the field that has its name. One of a selector belongs to the criteria whose selector has that field,
    and is refused with others.
    """

    def __init__(
        self,
        *,
        method: str,
        alpha: float | None,
        select: str | None,
        random_state: int,
        n_jobs: int,
        **values: Any,  # Any: options of the command line
    ) -> None:
        from isinglass.select import Method

        self.alpha, self.seed, self.n_jobs = alpha, random_state, n_jobs
        self.criterion, selector = _selector(method, alpha, select)  # None: the penalty is given
        said = {name: value for name, value in {"alpha": alpha, **values}.items() if value is not None}
        general = {name: said.pop(name) for name in [*said] if name in _fields(Method)}
        for name in said.keys() - _fields(selector):
            chosen = "--alpha" if self.criterion is None else f"--select {self.criterion}"
            raise click.UsageError(f"{OPTIONS[name].opts[0]} needs --select {_criteria_with(name)}, not {chosen}.")
        if "random_state" in _fields(selector):
            said["random_state"] = random_state
        self.method = Method(method, selector(**said), **general)
        self.record = {"name": method, **general}
        self._words = METHODS[method] + (", standardized penalty" if "penalty_weights" in general else "")

    def __str__(self) -> str:
        return self._words

    def run(self, console: Console, **more: Any) -> Run:  # Any: fields of a run
        """Return how something is run: the jobs, whether there is a bar, and more."""
        from isinglass.select import Run

        return Run(n_jobs=self.n_jobs, progress=False if console.quiet else None, **more)

    def describe(self, data: Table) -> JsonObject:
        """Return what was read and how networks were estimated from it, as --json prints it."""
        return {"table": describe_table(data), "method": self.record, "seed": self.seed}

    def summarize(self, again: str = "") -> str:
        """Say in words how networks are estimated many times; ``again`` is what happens to a selected penalty."""
        chosen = self.method.selector.words + again if self.alpha is None else f"alpha {self.alpha:g}, given"
        return f"{self}; {chosen}"


def _selector(method: str, alpha: float | None, select: str | None) -> tuple[str | None, type[Selector]]:
    """Return the criterion, None if the penalty is given, and the class of selectors that it stands for."""
    from isinglass.select import SELECTORS, Fixed, PerNode

    if alpha is not None:
        if select is not None:
            raise click.UsageError("Use either --alpha or --select, not both.")
        return None, Fixed
    criterion = select or ("two-stage" if method == "joint" else "ebic")
    if method != "joint" and criterion == "two-stage":
        raise click.UsageError(f"--select two-stage needs --method joint, not {method}.")
    return criterion, PerNode if (method, criterion) == ("nodewise", "ebic") else SELECTORS[criterion]


def _criteria_with(setting: str) -> str:
    """Return the criteria whose selectors have a setting."""
    from isinglass.select import SELECTORS

    return " or ".join(each for each in CRITERIA if setting in _fields(SELECTORS[each]))


def _fields(record: type) -> set[str]:
    """Return the names of the settings of a record."""
    return {field.name for field in dataclasses.fields(record)}


ESTIMATE = Bundle("estimate", Estimate, [*under(options.SELECTING, options.METHOD), "random_state", "n_jobs"])
"""For commands that estimate one network."""
