"""The state of the server: the table, the choices about it, jobs and results. All tabs show the same."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import tempfile
import time
import zipfile
from dataclasses import replace
from pathlib import Path

from isinglass.app.jobs import OPEN, Job, Jobs
from isinglass.app.recipe import FIGURES, JOBS, Choices, Recipe
from isinglass.json_text import JsonObject
from isinglass.text_tables import join_words

MOST_BYTES = 1 << 30  # of a table
EXAMPLES = ("mood.csv", "senate.csv")
WITH_RESULTS = [kind for kind in JOBS if "targets" in JOBS[kind]]  # of jobs that have a result
SHOWN = ("kind", "key", "number", "state", "text", "count", "total", "left", "error")  # of a job


class Session:
    """One table at a time, in its own folder below ``folder``. A request that cannot be met is a ValueError."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.here = folder, folder / "none"  # of all tables, of this one
        self.recipe = Recipe("")
        self.problem = ""  # why the table, or the last choice, could not be read
        self.results: dict[str, Job] = {}  # by key; all of one fit
        self.jobs = Jobs(self._ended)
        self._openings = 0  # tables that were chosen, of which the last one is shown
        self._opening: Job | None = None  # the inspection of a table that is to replace this one

    def upload(self, name: str, stream: io.BufferedIOBase, size: int) -> None:
        """Keep a file of this many bytes in a new folder, and look at it, unless another one was chosen meanwhile."""
        if size > MOST_BYTES:
            raise ValueError(f"The app takes files up to {MOST_BYTES >> 30} GB. Use the command line for larger ones.")
        opening = self._begin_opening()
        content = stream.read(size)
        if len(content) < size:
            raise ValueError("The upload was incomplete. Choose the file again.")
        job = Job("look", Recipe(plain_name(name)), Path(tempfile.mkdtemp(dir=self.folder)))
        (job.folder / job.recipe.file).write_bytes(content)
        self._open(job, opening)

    def example(self, name: str) -> None:
        """Take one of the examples."""
        if name not in EXAMPLES:
            raise ValueError("Unknown example.")
        self._open(Job("example", Recipe(name), Path(tempfile.mkdtemp(dir=self.folder))), self._begin_opening())

    def _begin_opening(self) -> int:
        with self.jobs.changed:
            self._openings += 1
            return self._openings

    def _open(self, job: Job, opening: int) -> None:
        """Inspect a new table, beside what is being done with the one that is shown."""
        with self.jobs.changed:
            if opening != self._openings:
                shutil.rmtree(job.folder)
                raise ValueError(f"Another table was chosen while {job.recipe.file} was sent.")
            if self._opening is not None:
                self.jobs.stop(self._opening.number)
                shutil.rmtree(self._opening.folder, ignore_errors=True)
            self._opening, self.problem = job, ""
            self.jobs.add(job, aside=True)

    def _opened(self, job: Job) -> None:
        """Show a new table, and discard the state of the previous one; keep that if the new one cannot be read."""
        self._opening = None
        if job.state == "done":
            self.jobs.stop()
            shutil.rmtree(self.here, ignore_errors=True)
            self.here, self.results = job.folder, {}
            self._describe(job)
        else:
            shutil.rmtree(job.folder, ignore_errors=True)
            self.problem = job.error

    def _ended(self, job: Job) -> None:
        """Store a result, or the description of a table; a choice with which it cannot be read is taken back."""
        if job is self._opening:
            self._opened(job)
        elif job.kind in WITH_RESULTS:
            if job.state == "done":
                self._store(job)
        elif job.state == "done":
            self._describe(job)
        else:
            self._take_back(job)

    def _store(self, job: Job) -> None:
        """Add a result to those of the same fit; a new fit replaces all."""
        if job.kind == "fit":
            if "fit" in self.results:
                shutil.rmtree(self.results["fit"].folder, ignore_errors=True)
            self.results = {}
        self.results = {**self.results, job.key: job}

    def _describe(self, job: Job) -> None:
        """Take over the table as it was read now, and the choices with which it was read."""
        self.recipe = replace(job.recipe, table=json.loads(job.output))
        for one in self.jobs.jobs:  # those that wait were asked for with these choices
            if one.state == "waiting" and one.kind in WITH_RESULTS:
                one.recipe = replace(one.recipe, table=self.recipe.table)
        if not job.recipe.table["columns"]:  # seen for the first time
            useless = [j for j, column in enumerate(self.recipe.table["columns"]) if column["kind"] is None]
            weights = self.recipe.table["weights"]  # as the command line proposes
            self.recipe = replace(self.recipe, choices=replace(job.recipe.choices, left_out=useless, weights=weights))

    def _take_back(self, job: Job) -> None:
        """Undo the choice with which the table cannot be read, and say so; what else was chosen since is kept."""
        self.problem, kept, refused = job.error, self.recipe.choices, job.recipe.choices
        if job.recipe.layout != self.recipe.layout:
            return
        columns = self.recipe.table["columns"]
        names = [f"“{columns[j]['name']}”" for j, kind in refused.kinds.items() if kept.kinds.get(j) != kind]
        if names:
            self.problem = f"The kind of {join_words(names)} was not changed; other choices are kept. {job.error}"
        self.recipe = replace(self.recipe, choices=refused.without(refused, kept))
        for one in self.jobs.jobs:
            if one.state == "waiting" and one.kind not in WITH_RESULTS and one.recipe.layout == self.recipe.layout:
                one.recipe = replace(one.recipe, choices=one.recipe.choices.without(refused, kept))

    def choose(self, record: object, layout: int | None = None) -> None:
        """Apply what the user changed; the table is inspected again if the meaning of values has changed.

        ``layout`` is that of the columns which the user saw.
        """
        with self.jobs.changed:
            newest = self._newest()
            if layout not in (None, newest.recipe.layout):
                raise ValueError("The columns have changed meanwhile. Choose again.")
            recipe = self._ready()
            new = replace(recipe, choices=Choices.read(record, len(recipe.table["columns"]), recipe.choices))
            if new.choices.row_names != recipe.choices.row_names:  # the places of all columns change
                new = Recipe(recipe.file, choices=Choices(row_names=new.choices.row_names))
            self.problem = ""
            if new.commands("look") != recipe.commands("look"):
                self.jobs.add(Job("look", new, self.here))
            else:
                newest.recipe = new
                self.jobs.tell()

    def _newest(self) -> Job | Session:
        """Return what holds the last choices: the last job that inspects the table, if one is open."""
        looks = [job for job in self.jobs.jobs if job.kind not in WITH_RESULTS and job.state in OPEN]
        return next((job for job in reversed(looks) if job is not self._opening), self)

    def run(self, kind: str) -> None:
        """Put a fit, a bootstrap, a comparison of groups or a figure into the queue, as chosen."""
        with self.jobs.changed:
            recipe = self._ready()
            if kind not in WITH_RESULTS:
                raise ValueError("Unknown job.")
            unfinished = {one.key: one for one in self.jobs.jobs if one.state in OPEN}
            if kind != "fit" and ("fit" in unfinished or not self._is_fitted()):
                raise ValueError("Fit the network first.")
            if kind == "compare" and recipe.choices.groups is None:
                raise ValueError("Choose the column that holds the groups first.")
            job = Job(kind, recipe, self.here)
            if job.key not in unfinished:
                job.folder = self._folder_of_fit() if kind == "fit" else self.results["fit"].folder
                self.jobs.add(job)
            elif unfinished[job.key].recipe.commands(kind) != recipe.commands(kind):
                raise ValueError("This is running or waiting with other choices. Stop it first.")
            self.problem = ""

    def _folder_of_fit(self) -> Path:
        """Return a new folder with the table: the results of the fit before stay until there are new ones."""
        folder, file = Path(tempfile.mkdtemp(dir=self.here)), self.recipe.file
        try:
            os.link(self.here / file, folder / file)
        except OSError:  # some file systems have no links
            shutil.copyfile(self.here / file, folder / file)
        return folder

    def _ready(self) -> Recipe:
        recipe = self._newest().recipe
        if not recipe.table["columns"]:
            raise ValueError("Open a table first, and wait until its columns are shown.")
        return recipe

    def _is_fitted(self) -> bool:
        """Tell whether there is a network of what is chosen now."""
        fit = self.results.get("fit")
        return fit is not None and fit.recipe.arguments() == self._newest().recipe.arguments()

    def files(self) -> dict[str, Path]:
        """Return the files of all results, by their names for the page; nothing else is handed out."""
        return {name: path for job in self.results.values() for name, path in job.files().items()}

    def state(self) -> JsonObject:
        """Return everything that the page shows; the lock is held."""
        recipe, now = self.recipe, time.monotonic()
        jobs = [{name: getattr(job, name) for name in SHOWN} | {"seconds": now - job.began} for job in self.jobs.jobs]
        kinds = [kind for kind in WITH_RESULTS if kind != "compare" or recipe.choices.groups is not None]
        return {
            "version": self.jobs.version,
            "most_bytes": MOST_BYTES,
            "figures": [[name, figure["title"], "needs" in figure] for name, figure in FIGURES.items()],
            "file": recipe.file,
            "layout": recipe.layout,  # of the columns of the table
            "is_moving": self._newest().recipe.layout != recipe.layout,  # whether they will have other places
            "problem": self.problem,
            "table": recipe.table if recipe.table["columns"] else None,
            "choices": vars(self._newest().recipe.choices),
            "codes_read": recipe.choices.codes,  # which the values of the table do not hold
            "steps": {kind: {"command": recipe.command_text(kind), "python": recipe.code(kind)} for kind in kinds},
            "jobs": jobs,
            "stale": not self._is_fitted(),
            "results": {
                key: {"facts": job.facts, "warnings": job.warnings, "made": job.number, "files": [*job.files()]}
                for key, job in self.results.items()
            },
        }

    def pack(self) -> bytes:
        """Return a zip of all files, with the commands and the code that make them again."""
        stream, results = io.BytesIO(), self.results.values()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, path in self.files().items():
                archive.write(path, name)
            archive.writestr("commands.sh", "".join(f"{job.recipe.command_text(job.kind)}\n" for job in results))
            archive.writestr("analysis.py", "\n".join(job.recipe.code(job.kind) for job in results))
        return stream.getvalue()


def plain_name(name: str) -> str:
    """Return a name for a file of ours: letters, digits and a few marks of the name that it had, and its endings."""
    last = re.split(r"[/\\]", name)[-1][-80:]
    stem, *endings = (re.sub(r"\W+", "-", part).strip("-_") for part in last.split("."))
    return ".".join([stem or "table", *(filter(None, endings) if any(endings) else ["txt"])])
