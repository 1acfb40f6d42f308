"""The state of the server: the table, the choices about it, jobs and results. All tabs show the same."""

from __future__ import annotations

import io
import json
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

MOST_BYTES = 1 << 30  # of a table
EXAMPLES = ("mood.csv", "senate.csv")
KINDS = [kind for kind in JOBS if "targets" in JOBS[kind]]  # of jobs that have a result
SHOWN = ("kind", "key", "number", "state", "text", "count", "total", "left", "error")  # of a job


class Session:
    """One table at a time, in its own folder below ``folder``. A request that cannot be met is a ValueError."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.here = folder, folder / "none"  # of all tables, of this one
        self.recipe = Recipe("")
        self.problem = ""  # why the table, or the last choice, could not be read
        self.results: dict[str, Job] = {}  # by key
        self.jobs = Jobs(self._ended)

    def upload(self, name: str, stream: io.BufferedIOBase, size: int) -> None:
        """Keep a file of this many bytes in a new folder, and look at it."""
        if size > MOST_BYTES:
            raise ValueError(f"The app takes files up to {MOST_BYTES >> 30} GB. Use the command line for larger ones.")
        content = stream.read(size)
        if len(content) < size:
            raise ValueError("The upload was incomplete. Choose the file again.")
        job = Job("look", Recipe(plain_name(name)), Path(tempfile.mkdtemp(dir=self.folder)))
        (job.folder / job.recipe.file).write_bytes(content)
        self._open(job)

    def example(self, name: str) -> None:
        """Take one of the examples."""
        if name not in EXAMPLES:
            raise ValueError("Unknown example.")
        self._open(Job("example", Recipe(name), Path(tempfile.mkdtemp(dir=self.folder))))

    def _open(self, job: Job) -> None:
        """Inspect a new table, and discard the state of the previous one."""
        with self.jobs.changed:
            self.jobs.stop()
            shutil.rmtree(self.here, ignore_errors=True)
            self.here, self.recipe, self.problem, self.results = job.folder, job.recipe, "", {}
            self.jobs.add(job)

    def _ended(self, job: Job) -> None:
        """Store a result, or the description of a table; if it could not be read, the previous choices are kept."""
        if job.kind not in KINDS:
            self.problem = job.error
        if job.state == "done" and job.kind in KINDS:
            self.results = {**(self.results if job.kind != "fit" else {}), job.key: job}
        elif job.state == "done":
            self.recipe = replace(job.recipe, table=json.loads(job.output))
            for one in self.jobs.jobs:  # those that wait were asked for with these choices
                if one.state == "waiting" and one.kind in KINDS:
                    one.recipe = replace(one.recipe, table=self.recipe.table)
            if not job.recipe.table["columns"]:  # seen for the first time
                useless = [j for j, column in enumerate(self.recipe.table["columns"]) if column["kind"] is None]
                self.recipe = replace(self.recipe, choices=replace(job.recipe.choices, left_out=useless))

    def choose(self, record: object) -> None:
        """Apply what the user changed; the table is inspected again if the meaning of values has changed."""
        with self.jobs.changed:
            newest = self._newest()
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
        looks = [job for job in self.jobs.jobs if job.kind not in KINDS and job.state in OPEN]
        return looks[-1] if looks else self

    def run(self, kind: str) -> None:
        """Put a fit, a bootstrap, a comparison of groups or a figure into the queue, as chosen."""
        with self.jobs.changed:
            recipe = self._ready()
            if kind not in KINDS:
                raise ValueError("Unknown job.")
            if kind != "fit" and not self._is_fitted():
                raise ValueError("Fit the network first.")
            if kind == "compare" and recipe.choices.groups is None:
                raise ValueError("Choose the column that holds the groups first.")
            job = Job(kind, recipe, self.here)
            if any(one.state in OPEN and one.key == job.key for one in self.jobs.jobs):
                raise ValueError("This is already running or waiting.")
            self.results = self.results if kind != "fit" else {}
            self.jobs.add(job)

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
        kinds = [kind for kind in KINDS if kind != "compare" or recipe.choices.groups is not None]
        return {
            "version": self.jobs.version,
            "most_bytes": MOST_BYTES,
            "figures": [[name, figure["title"], "needs" in figure] for name, figure in FIGURES.items()],
            "file": recipe.file,
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
    """Return a name for a file of ours: letters, digits and a few marks of the name that it had, and its endings.

    Examples
    --------
    >>> plain_name("../../etc/passwd"), plain_name("My survey (2).SAV"), plain_name("-o.csv"), plain_name("..")
    ('passwd.txt', 'My-survey-2.SAV', 'o.csv', 'table.txt')
    """
    last = re.split(r"[/\\]", name)[-1][-80:]
    stem, *endings = (re.sub(r"\W+", "-", part).strip("-_") for part in last.split("."))
    return ".".join([stem or "table", *(filter(None, endings) if any(endings) else ["txt"])])
