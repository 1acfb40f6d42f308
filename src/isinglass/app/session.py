"""The state of the server, which all tabs show: the open table, the choices about it, jobs and results."""

from __future__ import annotations

import io
import itertools
import json
import os
import shutil
import tempfile
import time
import zipfile
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from isinglass.app.controls import LABELS, OPTIONS
from isinglass.app.jobs import Changes, Job, JobQueue
from isinglass.app.recipe import FIGURES, JOBS, MOST_RESAMPLES, Choices, Recipe
from isinglass.cli.console import csv_text
from isinglass.json_text import JsonObject

MOST_BYTES = 1 << 30  # of a table
RESULT_JOBS = [kind for kind in JOBS if "targets" in JOBS[kind]]  # the others inspect a table
FIRST = {"fit": "Fit the network first.", "bootstrap": "Run the bootstrap first."}  # what other jobs start from
JOB_FIELDS = ("kind", "key", "sources", "number", "state", "text", "count", "total", "left", "error")
RESULT_FIELDS = ("kind", "key", "sources", "facts", "warnings")
"""What the page shows of jobs, and of results."""
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


class Session:
    """The table that is shown, and the one that is to replace it. A request that cannot be met is a ValueError."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder  # of all tables
        self.changes = Changes()
        self.queue = JobQueue(self.changes, self._on_job_end)  # jobs that make results of the table that is shown
        self.inspections = JobQueue(self.changes, self._on_inspection_end)  # which do not wait for a long bootstrap
        self.shown = OpenTable(Recipe(""), folder / "none")
        self.opening: OpenTable | None = None  # is shown when it has been inspected
        self.problem = ""  # why a table, or the last choice, could not be read

    def close(self) -> None:
        """Stop all jobs."""
        self.queue.close()
        self.inspections.close()

    # Opening a table: what is shown stays, and its jobs go on, until the new one has been read.

    def upload(self, name: str, stream: io.BufferedIOBase, size: int) -> None:
        """Open a file of this many bytes."""
        if size > MOST_BYTES:
            raise ValueError(f"The app takes files up to {MOST_BYTES >> 30} GB. Use the command line for larger ones.")
        content = stream.read(size)
        if len(content) < size:
            raise ValueError("The upload was incomplete. Choose the file again.")
        self._open(Recipe(name), content)

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
        recipe = self._require_table().settled
        content = (self.shown.folder / recipe.file).read_bytes()
        self._open(Recipe(recipe.name, row_names=first_column == "names"), content)

    def _open(self, recipe: Recipe, content: bytes) -> None:
        table = OpenTable(recipe, Path(tempfile.mkdtemp(dir=self.folder)))
        try:
            (table.folder / recipe.file).write_bytes(content)
        except OSError:
            shutil.rmtree(table.folder)
            raise
        with self.changes:
            if self.opening is not None and self.opening.inspection is not None:
                self.inspections.stop(self.opening.inspection)
                shutil.rmtree(self.opening.folder, ignore_errors=True)
            self.problem, self.opening = "", table
            self.inspections.start(table.inspect())

    def _end_opening(self, table: OpenTable, inspection: Job) -> None:
        self.opening = None
        if inspection.state == "failed":
            shutil.rmtree(table.folder, ignore_errors=True)
            self.problem = inspection.error
            return
        self.queue.clear()
        self.inspections.clear()
        shutil.rmtree(self.shown.folder, ignore_errors=True)
        table.inspection = None
        table.accept(inspection)
        self.shown = table

    # Choices

    def choose(self, record: object, layout: int | None = None) -> None:
        """Apply what the user changed; ``layout`` is that of the columns which the user saw."""
        with self.changes:
            table = self._require_table()
            if layout not in (None, table.layout):
                raise ValueError("The columns have changed meanwhile. Choose again.")
            choices = Choices.read(record, len(table.settled.table["columns"]), table.wanted)
            self.problem = ""
            self._inspect_if_needed(choices)

    def _require_table(self) -> OpenTable:
        if not self.shown.layout:
            raise ValueError("Open a table first, and wait until its columns are shown.")
        return self.shown

    def _inspect_if_needed(self, choices: Choices) -> None:
        """Apply choices, and start the inspection that they need, if any."""
        inspection = self.shown.choose(choices)
        if inspection is not None:
            self.inspections.start(inspection)
        self.changes.notify_tabs()

    def _on_inspection_end(self, job: Job) -> None:
        """Accept what was found, or undo what was refused; then go on with what was chosen meanwhile."""
        if self.opening is not None and job is self.opening.inspection:
            self._end_opening(self.opening, job)
            return
        table = self.shown
        table.inspection = None
        if not table.is_settled:  # else what it was for has been taken back
            if job.state == "done":
                table.accept(job)
            else:
                self.problem = table.refuse(job)
        self._inspect_if_needed(table.wanted)

    # Jobs

    def run(self, kind: str) -> None:
        """Start a fit, a bootstrap, a comparison of groups or a figure, unless its result is there or on its way."""
        if kind not in RESULT_JOBS:
            raise ValueError("Unknown job.")
        with self.changes:
            table = self._require_table()
            if not table.is_settled:
                raise ValueError("The table is being read with the last choices. Try again when it has been read.")
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
        table, recipe, now = self.shown, self.shown.settled, time.monotonic()
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
            "is_reading": any(job.is_open for job in self.inspections.jobs),
            "is_opening": self.opening is not None,
            "problem": self.problem,
            "table": recipe.table if table.layout else None,
            "choices": vars(table.wanted),
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
