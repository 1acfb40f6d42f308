"""One open table: what was found in it, the choices about it, and its results."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from isinglass.app.jobs import Job
from isinglass.app.recipe import Choices, Recipe

LAYOUTS = itertools.count(1)


class OpenTable:
    """A table in a folder of its own.

    Choices that change what values mean require another inspection of the table. They are *settled* when the last
    inspection was made with the same meaning. At most one inspection is under way.
    """

    def __init__(self, recipe: Recipe, folder: Path) -> None:
        self.folder = folder
        self.settled = recipe  # what the last inspection found, and choices that agree with it
        self.wanted = recipe.choices  # the choices now
        self.layout = 0  # another number for every table, because places mean other columns; 0 before the inspection
        self.inspection: Job | None = None  # the one under way
        self.pending: str | None = None  # kind of the job to start when the choices are settled
        self.results: dict[str, Job] = {}  # by key; all of one fit

    @property
    def recipe(self) -> Recipe:
        """The choices now, with what the last inspection found."""
        return replace(self.settled, choices=self.wanted)

    @property
    def is_settled(self) -> bool:
        """Whether what the last inspection found holds for the choices now."""
        return self.wanted == self.settled.choices

    def is_current(self, key: str) -> bool:
        """Tell whether there is a result with this key, and it is of the choices now."""
        job = self.results.get(key)
        return job is not None and job.recipe.arguments(job.kind) == self.recipe.arguments(job.kind)

    def inspect(self) -> Job:
        """Return the inspection to start."""
        self.inspection = Job("look", self.recipe, self.folder)
        return self.inspection

    def choose(self, choices: Choices) -> Job | None:
        """Apply choices, and return the inspection to start, if one is needed and none is under way."""
        self.wanted = choices
        if self.recipe.commands("look") == self.settled.commands("look"):
            self.settled = self.recipe
            return None
        return self.inspect() if self.inspection is None else None

    def accept(self, inspection: Job) -> None:
        """Take over what an inspection found."""
        table, choices = json.loads(inspection.output), inspection.recipe.choices
        if not self.layout:
            self.layout = next(LAYOUTS)
            self.wanted = choices = replace(choices, weights=table["weights"])
        self.settled = replace(inspection.recipe, table=table, choices=choices)

    def refuse(self, inspection: Job) -> str:
        """Undo the choices with which the table could not be read, keep those of other kinds, and say why."""
        before = self.settled.choices
        self.wanted = replace(self.wanted, kinds=before.kinds, codes=before.codes)
        return f"The last choice of a kind or a code was undone; other choices are kept. {inspection.error}"

    def new_job(self, kind: str) -> Job:
        """Return a job in a new folder, with the file and the results that it starts from: it changes no other."""
        job = Job(kind, self.recipe, Path(tempfile.mkdtemp(dir=self.folder)))
        paths = {self.settled.file: self.folder / self.settled.file}
        for key in job.sources:
            paths |= self.results[key].files()
        for name, path in paths.items():
            target = job.folder / name
            target.parent.mkdir(exist_ok=True)
            try:
                os.link(path, target)
            except OSError:  # some file systems have no links
                shutil.copyfile(path, target)
        return job

    def store(self, job: Job) -> None:
        """Add a result, in place of the one before and of all that was made from that."""
        replaced = [one for one in self.results.values() if one.key == job.key or job.key in one.sources]
        self.results = {key: one for key, one in self.results.items() if one not in replaced} | {job.key: job}
        for one in replaced:
            shutil.rmtree(one.folder, ignore_errors=True)

    def files(self) -> dict[str, Path]:
        """Return the files of all results, by their names for the page: the report is that of the last job."""
        return {name: path for job in self.results.values() for name, path in job.files().items()}
