"""The choices of the user about a table, as arguments of `read_table`, as command lines and as Python code."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import PurePath
from typing import Any, Literal

from isinglass.cli.resampling import LEAST_DROPS
from isinglass.cli.settings import kinds_by_key, spell_reading
from isinglass.json_text import JsonObject

JOBS: JsonObject = tomllib.loads(files("isinglass.app").joinpath("jobs.toml").read_text(encoding="utf-8"))
FIGURES: JsonObject = JOBS.pop("figures")
MOST_RESAMPLES = 100_000


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
    resamples: int = 1000  # of the bootstrap
    permutations: int = 1000  # of the groups
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
        except (TypeError, AttributeError, ValueError, DamagedError) as error:
            raise ValueError("These choices are not valid.") from error
        places = [*found.kinds, *found.left_out, *found.covariates, *(j for j in found.codes if j != -1)]
        places += [j for j in (found.weights, found.groups) if j is not None]
        if not all(0 <= j < n_columns for j in places):
            raise ValueError("The table has no such column.")
        if not all(word.strip() for words in found.codes.values() for word in words):
            raise ValueError("A code for missing answers must not be blank.")
        for name, least in (("resamples", LEAST_DROPS), ("permutations", 1)):
            if not least <= vars(found)[name] <= MOST_RESAMPLES:
                raise ValueError(f"Choose {least} to {MOST_RESAMPLES} {name}.")
        if found.figure not in FIGURES:
            raise ValueError("Unknown figure.")
        return found


@dataclass(frozen=True)
class Recipe:
    """What a job needs to know: the file, what was found in it, and the choices about it."""

    name: str  # as the user calls the file, in commands and code to copy
    table: Mapping[str, Any] = field(default_factory=lambda: {"columns": []})  # what the worker found in it
    choices: Choices = Choices()
    row_names: bool = True  # whether a column that seems to name the rows does

    @property
    def file(self) -> str:
        """The name of the file on disk: no path, no option, allowed on every system, and always with an ending."""
        last = re.sub(r'[\x00-\x1f<>:"|?*]+', "-", re.split(r"[/\\]", self.name)[-1][-60:]).strip(" .-")
        stem, _, ending = last.partition(".")
        return last if stem and ending else f"{stem or 'table'}.txt"

    def fill(self, template: str, **more: str) -> str:
        """Return a template with what was chosen; ``stem`` begins the names of all results, and is not the file's."""
        stem = re.sub(r"\W+", "-", self.file.partition(".")[0]).strip("-") or "table"
        if PurePath(self.name).suffix.lower() in ("", ".html", ".npz"):  # as a folder, a report or a model has
            stem += "-network"
        return template.format(**{"file": self.file, "stem": stem, **vars(self.choices), **more})

    def key(self, job: str) -> str:
        """Return what the page calls the result of a job: its kind, or the file of a figure."""
        return self.fill("{figure}.{ending}") if job == "figure" else job

    def sources(self, job: str) -> list[str]:
        """Return the keys of the results that a job starts from."""
        if job != "figure":
            return [] if job == "fit" else ["fit"]
        return ["fit", "bootstrap"] if "needs" in FIGURES[self.choices.figure] else ["fit"]

    def is_used(self, j: int) -> bool:
        """Tell whether a column is a node or a covariate; one without a kind, or without answers, cannot be."""
        taken = (*self.choices.left_out, self.choices.groups, self.choices.weights)
        return j not in taken and self.table["columns"][j]["kind"] is not None

    def arguments(self, job: str = "fit") -> JsonObject:
        """Return the arguments of `read_table` for a job; a comparison takes the groups out itself."""
        chosen, columns = self.choices, self.table["columns"]
        keys = [column["key"] for column in columns]
        used = [j for j in range(len(keys)) if self.is_used(j)]
        left_out = {*range(len(keys))}.difference(used, [chosen.weights])
        unstated = [j for j in used if j in chosen.kinds or not columns[j]["stated"]]
        kinds = {j: chosen.kinds.get(j) or columns[j]["kind"] for j in unstated}
        labels = [chosen.groups] if job == "compare" and chosen.groups is not None else []
        arguments = {
            **self._meaning_arguments(kinds),
            "covariates": [keys[j] for j in used if j in chosen.covariates],
            "drop": [keys[j] for j in sorted(left_out.difference(labels))],
            "encode": "auto" if "binary" in kinds.values() else None,
            "missing": chosen.missing if any(columns[j]["missing"] for j in [*used, *labels]) else None,
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
        number = self.table.get("id_column")  # in a file without names, where numbers of columns do not count it
        return {"kinds": kinds_by_key(keys, kinds), "na_values": na_values} | (
            {} if self.row_names and number is None else {"id_column": number}
        )

    def commands(self, job: str, file: str | None = None) -> list[list[str]]:
        """Return the commands of a job, for the file on disk unless another name is given."""
        options = {
            "{meaning}": spell_reading(self._meaning_arguments(self.choices.kinds)),
            "{reading}": spell_reading(self.arguments(job)),
            "{needs}": self.fill(FIGURES[self.choices.figure].get("needs", "")).split(),
        }

        def expand(word: str) -> list[str]:
            return options[word] if word in options else [self.fill(word, file=file or self.file)]

        return [[each for word in line.split() for each in expand(word)] for line in JOBS[job]["commands"]]

    def command_text(self, job: str) -> str:
        """Return the commands of a job as they are typed into a shell, one per line."""
        file = f"./{self.name}" if self.name.startswith("-") else self.name  # no option
        return "\n".join(shlex.join(["isinglass", *words]) for words in self.commands(job, file))

    def code(self, job: str) -> str:
        """Return Python code that does the same as a job, after the code of the fit."""
        arguments = self.arguments(job)
        words = [repr(self.name), *(f"{name}={value!r}" for name, value in arguments.items())]
        table = f"read_table({', '.join(words)})"
        table = table if len(table) < 80 else "read_table(\n    " + ",\n    ".join(words) + ",\n)"
        rows = "fit.imputation.table" if arguments.get("missing") == "impute" else "table"
        drawing = FIGURES[self.choices.figure]["python"]
        return self.fill(JOBS[job]["python"], table=table, rows=rows, drawing=drawing)
