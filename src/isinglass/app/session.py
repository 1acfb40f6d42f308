"""The state of the server, which all tabs show: the open table, the choices about it, jobs and results."""

from __future__ import annotations

import io
import shutil
import tempfile
import time
import zipfile
from importlib.resources import files
from pathlib import Path

from isinglass.app.controls import LABELS, OPTIONS
from isinglass.app.jobs import Changes, Job, JobQueue
from isinglass.app.open_table import OpenTable
from isinglass.app.recipe import FIGURES, JOBS, MOST_RESAMPLES, Choices, Recipe
from isinglass.cli.console import csv_text
from isinglass.json_text import JsonObject

MOST_BYTES = 1 << 30  # of a table
RESULT_JOBS = [kind for kind in JOBS if "targets" in JOBS[kind]]  # the others inspect a table
FIRST = {"fit": "Fit the network first.", "bootstrap": "Run the bootstrap first."}  # what other jobs start from
STALE = "The choices have changed since the fit. Fit again."
JOB_FIELDS = ("kind", "key", "sources", "number", "state", "text", "count", "total", "left", "error")
RESULT_FIELDS = ("kind", "key", "sources", "facts", "warnings")
"""What the page shows of jobs, and of results."""


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
            self._settle(choices)

    def _require_table(self) -> OpenTable:
        if not self.shown.layout:
            raise ValueError("Open a table first, and wait until its columns are shown.")
        return self.shown

    def _settle(self, choices: Choices) -> None:
        """Apply choices, and start the inspection that they need, or the job that waits for none."""
        table = self.shown
        inspection = table.choose(choices)
        if inspection is not None:
            self.inspections.start(inspection)
        elif table.is_settled and table.pending is not None:
            try:
                self._start(table.pending)
            except ValueError as error:
                self.problem = str(error)
            table.pending = None
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
                self.problem, table.pending = table.refuse(job), None
        self._settle(table.wanted)

    # Jobs

    def run(self, kind: str) -> None:
        """Start a fit, a bootstrap, a comparison of groups or a figure, when the table has been read as chosen."""
        if kind not in RESULT_JOBS:
            raise ValueError("Unknown job.")
        with self.changes:
            table = self._require_table()
            if table.is_settled:
                self._start(kind)
            else:
                table.pending = kind
                self.changes.notify_tabs()

    def _start(self, kind: str) -> None:
        """Start a job of the choices now, unless its result is there or on its way."""
        table = self.shown
        recipe, unfinished = table.recipe, {one.key: one for one in self.queue.jobs if one.is_open}
        for source in recipe.sources(kind):
            if source in unfinished or source not in table.results:
                raise ValueError(FIRST[source])
            if not table.is_current(source):
                raise ValueError(STALE)
        if kind == "compare" and recipe.choices.groups is None:
            raise ValueError("Choose the column that holds the groups first.")
        same = unfinished.get(recipe.key(kind))
        if same is not None:
            if same.recipe.commands(kind) != recipe.commands(kind):
                raise ValueError("This is running or waiting with other choices. Stop it first.")
        elif kind != "fit" or not table.is_current("fit"):  # which would replace itself, and all made from it
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
            "pending": table.pending,
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
