"""The state of the server, which all tabs show: the open table, the choices about it, jobs and results."""

from __future__ import annotations

import io
import itertools
import json
import os
import shutil
import tempfile
import threading
import time
import zipfile
from contextlib import suppress
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from isinglass.app.controls import LABELS, OPTIONS
from isinglass.app.jobs import Changes, Job, JobQueue
from isinglass.app.recipe import FIGURES, JOBS, MOST_RESAMPLES, Choices, Recipe
from isinglass.cli.console import csv_text
from isinglass.json_text import JsonObject

MOST_BYTES = 1 << 30  # of a table
TOO_LARGE = f"The app takes files up to {MOST_BYTES >> 30} GB. Use the command line for larger ones."
RESULT_JOBS = [kind for kind in JOBS if "targets" in JOBS[kind]]  # the others inspect a table
FIRST = {"fit": "Fit the network first.", "bootstrap": "Run the bootstrap first."}  # what other jobs start from
JOB_FIELDS = ("kind", "key", "sources", "number", "state", "text", "count", "total", "left", "error")
RESULT_FIELDS = ("kind", "key", "sources", "facts", "warnings")
"""What the page shows of jobs, and of results."""
LAYOUTS = itertools.count(1)


class OpenTable:
    """A table in a folder of its own, what an inspection found in it with the choices about it, and its results."""

    def __init__(self, recipe: Recipe, folder: Path, layout: int = 0) -> None:
        self.recipe, self.folder = recipe, folder
        self.layout = layout  # another number for every table, because places mean other columns; 0 if there is none
        self.results: dict[str, Job] = {}  # by key; all of one fit

    def is_current(self, key: str) -> bool:
        """Tell whether there is a result with this key, and it is of the choices now."""
        job = self.results.get(key)
        return job is not None and job.recipe.arguments(job.kind) == self.recipe.arguments(job.kind)

    def new_job(self, kind: str) -> Job:
        """Return a job in a new folder, with the file and the results that it starts from: it changes no other."""
        job = Job(kind, self.recipe, Path(tempfile.mkdtemp(dir=self.folder)))
        paths = {self.recipe.file: self.folder / self.recipe.file}
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


class Session:
    """The table that is shown, and the one that is to replace it. A request that cannot be met is a ValueError."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder  # of all tables
        self.changes = Changes()
        self.queue = JobQueue(self.changes, self._on_job_end)  # jobs that make results of the table that is shown
        self.inspections = JobQueue(self.changes, lambda job: None)  # which do not wait for a long bootstrap
        self.choosing = threading.Lock()  # one choice after the other
        self.shown = OpenTable(Recipe(""), folder / "none")
        self.opening: Job | None = None  # the inspection of the table that is to be shown
        self.problem = ""  # why that could not be read

    def close(self) -> None:
        """Stop all jobs."""
        self.queue.close()
        self.inspections.close()

    # Opening a table: what is shown stays, and its jobs go on, until the new one has been read.

    def upload(self, name: str, stream: io.BufferedIOBase, size: int) -> None:
        """Open a file of this many bytes."""
        if size > MOST_BYTES:
            raise ValueError(TOO_LARGE)
        content = stream.read(size)
        if len(content) < size:
            raise ValueError("The upload was incomplete. Choose the file again.")
        self._open(Recipe(name), content)

    def open_file(self, path: str) -> None:
        """Open a file of this computer; the page says why it cannot be read."""
        with suppress(ValueError), Path(path).open("rb") as file:
            self.upload(path, file, Path(path).stat().st_size)

    def example(self, name: str) -> None:
        """Open one of the examples."""
        from isinglass.datasets import load_senate109  # with NumPy, for which the first page does not wait

        if name == "mood.csv":
            content = files(__package__).joinpath(name).read_bytes()
        elif name == "senate.csv":
            senate = load_senate109()
            content = csv_text(senate.names, senate.X.tolist()).encode()
        else:
            raise ValueError("Unknown example.")
        self._open(Recipe(name), content)

    def open_again(self, first_column: str) -> None:
        """Open the table that is shown with its first column as the names of the rows, or as a variable."""
        recipe = self._require_table().recipe
        content = (self.shown.folder / recipe.file).read_bytes()
        self._open(Recipe(recipe.name, row_names=first_column == "names"), content)

    def _open(self, recipe: Recipe, content: bytes) -> None:
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        job = Job("look", recipe, folder)
        try:
            (folder / recipe.file).write_bytes(content)
            with self.changes:
                if self.opening is not None:
                    self.inspections.stop(self.opening)
                self.problem, self.opening = "", job
                found = self._inspect(job)
                self.queue.clear()
                self.inspections.clear()
                shutil.rmtree(self.shown.folder, ignore_errors=True)
                recipe = replace(recipe, table=found, choices=replace(recipe.choices, weights=found["weights"]))
                self.shown, self.opening = OpenTable(recipe, folder, next(LAYOUTS)), None
                self.changes.notify_tabs()
        except (ValueError, OSError) as error:
            shutil.rmtree(folder, ignore_errors=True)
            with self.changes:
                if self.opening is job:
                    self.problem, self.opening = str(error), None
                    self.changes.notify_tabs()
            raise

    def _inspect(self, job: Job) -> JsonObject:
        """Return what an inspection finds, when it has ended; the lock is held, but not while it runs."""
        self.inspections.start(job)
        self.changes.wait_for(lambda: not job.is_open)
        if job.state != "done":
            raise ValueError(job.error or "Another table was opened meanwhile.")
        return dict(json.loads(job.output))

    def choose(self, record: object, layout: int | None = None) -> None:
        """Apply what the user changed, if the table can be read so; ``layout`` is that of the columns they saw."""
        with self.choosing, self.changes:
            table = self._require_table()
            if layout not in (None, table.layout):
                raise ValueError("The columns have changed meanwhile. Choose again.")
            choices = Choices.read(record, len(table.recipe.table["columns"]), table.recipe.choices)
            recipe = replace(table.recipe, choices=choices)
            if recipe.commands("look") != table.recipe.commands("look"):
                recipe = replace(recipe, table=self._inspect(Job("look", recipe, table.folder)))
            table.recipe, self.problem = recipe, ""
            self.changes.notify_tabs()

    def _require_table(self) -> OpenTable:
        if not self.shown.layout:
            raise ValueError("Open a table first, and wait until its columns are shown.")
        return self.shown

    # Jobs

    def run(self, kind: str) -> None:
        """Start a fit, a bootstrap, a comparison of groups or a figure, unless its result is there or on its way."""
        if kind not in RESULT_JOBS:
            raise ValueError("Unknown job.")
        with self.changes:
            table = self._require_table()
            if self._is_reading:
                raise ValueError("A table is being read. Try again when it has been read.")
            recipe, unfinished = table.recipe, {one.key: one for one in self.queue.jobs if one.is_open}
            for source in recipe.sources(kind):
                if source in unfinished or source not in table.results:
                    raise ValueError(FIRST[source])
                if not table.is_current(source):
                    raise ValueError("The choices have changed since the fit. Fit again.")
            if kind == "compare" and recipe.choices.groups is None:
                raise ValueError("Choose the column that holds the groups first.")
            same = unfinished.get(recipe.key(kind))
            if same is not None and same.recipe.commands(kind) != recipe.commands(kind):
                raise ValueError("This is running or waiting with other choices. Stop it first.")
            if same is None and not (kind == "fit" and table.is_current("fit")):  # which would replace itself
                self.queue.start(table.new_job(kind))

    @property
    def _is_reading(self) -> bool:
        return any(job.is_open for job in self.inspections.jobs)

    def stop(self, number: int) -> None:
        """Stop a job."""
        with self.changes:
            for job in self.queue.jobs:
                if job.number == number:
                    self.queue.stop(job)

    def _on_job_end(self, job: Job) -> None:
        if job.state == "done":
            self.shown.store(job)

    # What the page gets

    def read_file(self, name: str) -> bytes | None:
        """Return the content of a file of the results, of which the page knows the name; no other is handed out."""
        with self.changes:  # no new result removes it meanwhile
            path = self.shown.files().get(name)
            return None if path is None else path.read_bytes()

    def state(self) -> JsonObject:
        """Return everything that the page shows; the lock is held."""
        table, recipe, now = self.shown, self.shown.recipe, time.monotonic()
        kinds = [kind for kind in RESULT_JOBS if kind != "compare" or recipe.choices.groups is not None]
        return {
            "version": self.changes.version,
            "most_bytes": MOST_BYTES,
            "most_resamples": MOST_RESAMPLES,
            "labels": LABELS,
            "options": OPTIONS,
            "figures": [[name, figure["title"], "needs" in figure] for name, figure in FIGURES.items()],
            "file": recipe.name,
            "layout": table.layout,
            "row_names": recipe.row_names,
            "is_reading": self._is_reading,
            "is_opening": self.opening is not None,
            "problem": self.problem,
            "table": recipe.table if table.layout else None,
            "choices": vars(recipe.choices),
            "codes_read": recipe.choices.codes,  # which the values of the table do not hold
            "steps": {kind: {"command": recipe.command_text(kind), "python": recipe.code(kind)} for kind in kinds},
            "jobs": [
                {name: getattr(job, name) for name in JOB_FIELDS} | {"seconds": now - job.began}
                for job in self.queue.jobs
            ],
            "stale": not table.is_current("fit"),
            "results": {
                key: {
                    **{name: getattr(job, name) for name in RESULT_FIELDS},
                    "made": job.number,
                    "files": [*job.files()],
                    "stale": not table.is_current(key),
                }
                for key, job in table.results.items()
            },
        }

    def pack(self) -> bytes:
        """Return a zip of all files, with the commands and the code that make them again."""
        stream = io.BytesIO()
        with self.changes, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            results = self.shown.results.values()
            for name, path in self.shown.files().items():
                archive.write(path, name)
            archive.writestr("commands.sh", "".join(f"{job.recipe.command_text(job.kind)}\n" for job in results))
            archive.writestr("analysis.py", "\n".join(job.recipe.code(job.kind) for job in results))
        return stream.getvalue()
