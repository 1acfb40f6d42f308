"""The choices of the user about a table, as arguments of `read_table`, as command lines and as Python code."""

from __future__ import annotations

import itertools
import re
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Any, Literal, TypeVar

from isinglass.cli.reading import kinds_by_key, spell_reading
from isinglass.json_text import JsonObject

JOBS: JsonObject = tomllib.loads(files("isinglass.app").joinpath("jobs.toml").read_text(encoding="utf-8"))
FIGURES: JsonObject = JOBS.pop("figures")
MOST_RESAMPLES = 100_000
V = TypeVar("V")
_CODE = re.compile(r"[^\s=](?:[^\n\r=]{0,98}[^\s=])?")  # of a missing answer; = separates it from its column


@dataclass(frozen=True)
class Choices:
    """The choices of the user; columns are given by their places in the file."""

    kinds: Mapping[int, Literal["ordinal", "nominal", "continuous"]] = field(default_factory=dict)
    left_out: Sequence[int] = ()
    covariates: Sequence[int] = ()  # adjusted for
    codes: Mapping[int, Sequence[str]] = field(default_factory=dict)  # of missing answers; -1: in all columns
    missing: Literal["impute", "drop", "zero"] = "impute"
    weights: int | None = None
    weight_kind: Literal["sampling", "counts"] | None = None
    groups: int | None = None
    row_names: bool = True  # whether a column that seems to name the rows does
    resamples: int = 1000
    figure: str = "network"
    ending: Literal["pdf", "svg", "png"] = "pdf"  # of the figure's file

    @classmethod
    def read(cls, record: Any, n_columns: int, before: Choices | None = None) -> Choices:  # Any: what a page sent
        """Return choices that a page sent, and those before where it sent none; ValueError says what is wrong.

        Kinds and codes are sent for some columns, and None where there are none any more.
        """
        from isinglass.storage import DamagedError, make_record

        known = vars(before or cls())
        try:  # JSON makes text of the places
            sent = {**known, **record}
            for name in ("kinds", "codes"):
                merged = known[name] | {int(j): each for j, each in sent[name].items()}
                sent[name] = {j: each for j, each in merged.items() if each is not None}
            found = make_record(cls, sent)
        except (TypeError, AttributeError, DamagedError) as error:
            raise ValueError(f"These choices are not valid: {error}.") from None
        places = [*found.kinds, *found.left_out, *found.covariates, *(j for j in found.codes if j != -1)]
        places += [j for j in (found.weights, found.groups) if j is not None]
        if not all(0 <= j < n_columns for j in places):
            raise ValueError("The table has no such column.")
        if not all(_CODE.fullmatch(word) for words in found.codes.values() for word in words):
            raise ValueError("A code for missing answers must be a short word without '='.")
        if not 1 <= found.resamples <= MOST_RESAMPLES or found.figure not in FIGURES:
            raise ValueError(f"Choose 1 to {MOST_RESAMPLES} resamples, and one of the figures {', '.join(FIGURES)}.")
        return found

    def without(self, refused: Choices, kept: Choices) -> Choices:
        """Return these choices with the kinds and codes of ``kept`` in place of those that were refused."""
        kinds, codes = (
            _restore(getattr(self, name), getattr(refused, name), getattr(kept, name)) for name in ("kinds", "codes")
        )
        # A column that cannot be read unless its kind is chosen is left out again.
        unused = [j for j in kept.left_out if j in refused.kinds and j not in kinds and j not in self.left_out]
        return replace(self, kinds=kinds, codes=codes, left_out=[*self.left_out, *unused])


def _restore(now: Mapping[int, V], refused: Mapping[int, V], kept: Mapping[int, V]) -> dict[int, V]:
    """Return the entries as they are now; one that was refused, and not changed since, as it was before."""
    found = {j: kept.get(j) if now.get(j) == refused.get(j) else now.get(j) for j in {*now, *refused, *kept}}
    return {j: each for j, each in found.items() if each is not None}


@dataclass(frozen=True)
class Recipe:
    """A table, the choices about it, and the names of its results, which are derived from the name of the file."""

    file: str  # its name, of letters, digits, dots and hyphens
    table: Mapping[str, Any] = field(default_factory=lambda: {"columns": []})  # what the worker saw of it
    choices: Choices = Choices()
    layout: int = field(default_factory=itertools.count(1).__next__)  # another one where places mean other columns

    def fill(self, template: str, **more: str) -> str:
        """Return a template with what was chosen; ``stem`` is the name of the file without its endings."""
        return template.format(file=self.file, stem=self.file.partition(".")[0], **vars(self.choices), **more)

    def arguments(self, job: str = "fit") -> JsonObject:
        """Return the arguments of `read_table` for a job; a comparison takes the groups out itself."""
        chosen, columns = self.choices, self.table["columns"]
        keys = [column["key"] for column in columns]
        left_out = {*chosen.left_out, *(() if chosen.groups is None else (chosen.groups,))} - {chosen.weights}
        nodes = [j for j in range(len(keys)) if j not in {*left_out, chosen.weights}]
        unstated = [j for j in nodes if j in chosen.kinds or not columns[j]["stated"]]
        kinds = {j: chosen.kinds.get(j) or columns[j]["kind"] for j in unstated}
        labels = [chosen.groups] if job == "compare" and chosen.groups is not None else []
        arguments = {
            **self._meaning_arguments(kinds),
            "covariates": [keys[j] for j in nodes if j in chosen.covariates],
            "drop": [keys[j] for j in sorted(left_out.difference(labels))],
            "encode": "auto" if "binary" in kinds.values() else None,
            "missing": chosen.missing if any(columns[j]["missing"] for j in [*nodes, *labels]) else None,
            "labels": [keys[j] for j in labels],
        }
        if chosen.weights is not None:
            arguments |= {"weights": keys[chosen.weights], "weight_kind": chosen.weight_kind}
        return {name: value for name, value in arguments.items() if value not in (None, [], {}) or name == "id_column"}

    def _meaning_arguments(self, kinds: Mapping[int, str | None]) -> JsonObject:
        """Return the arguments that say what the values of columns mean."""
        chosen, keys = self.choices, [column["key"] for column in self.table["columns"]]
        codes = {None if j < 0 else keys[j]: list(words) for j, words in chosen.codes.items() if words}
        na_values = codes if codes.keys() - {None} else codes.get(None, [])
        return {"kinds": kinds_by_key(keys, kinds), "na_values": na_values} | (
            {} if chosen.row_names else {"id_column": None}
        )

    def commands(self, job: str) -> list[list[str]]:
        """Return the commands of a job."""
        several = {
            "{meaning}": spell_reading(self._meaning_arguments(self.choices.kinds)),
            "{reading}": spell_reading(self.arguments(job)),
            "{needs}": self.fill(FIGURES[self.choices.figure].get("needs", "")).split(),
        }
        lines = [line.split() for line in JOBS[job]["commands"]]
        words = {word: [self.fill(word)] for line in lines for word in line if word not in several} | several
        return [[each for word in line for each in words[word]] for line in lines]

    def command_text(self, job: str) -> str:
        """Return the commands of a job as they are typed into a shell, one per line."""
        return "\n".join(shlex.join(["isinglass", *words]) for words in self.commands(job))

    def code(self, job: str) -> str:
        """Return Python code that does the same as a job, after the code of the fit."""
        arguments = self.arguments(job)
        words = [repr(self.file), *(f"{name}={value!r}" for name, value in arguments.items())]
        table = f"read_table({', '.join(words)})"
        table = table if len(table) < 80 else "read_table(\n    " + ",\n    ".join(words) + ",\n)"
        rows = "fit.imputation.table" if arguments.get("missing") == "impute" else "table"
        drawing = FIGURES[self.choices.figure]["python"]
        return self.fill(JOBS[job]["python"], table=table, rows=rows, drawing=drawing)
