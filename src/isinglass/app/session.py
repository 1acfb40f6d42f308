"""What the server knows: the table, what was chosen about it, jobs and results. All tabs show the same."""

from __future__ import annotations

import io
import re
import shutil
import threading
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from typing import IO, Any

from isinglass.app.jobs import Job, Jobs
from isinglass.app.recipe import ENDINGS, FIGURES, RESAMPLED, Choices, Recipe, command_text

MOST_BYTES = 1 << 30  # of a table
CHUNK = 1 << 20
EXAMPLES = {
    "mood.csv": "Questionnaire: 500 people, 10 yes/no questions about mood, a few answers missing (made up)",
    "senate.csv": "U.S. Senate: 100 senators, 279 votes of 2006",
}
READING = "Reading the table"
TITLES = {"fit": "Fit", "bootstrap": "Bootstrap", "compare": "Comparison of groups", "figure": "Figure"}
FOLDERS = {"fit": "", "bootstrap": "-bootstrap", "compare": "-groups", "figure": "-figures"}


class RequestError(Exception):
    """What was asked for is refused; the message says why."""

    def __init__(self, message: str, status: HTTPStatus = HTTPStatus.BAD_REQUEST) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Result:
    """What a job has made, and how."""

    recipe: Recipe
    job: str  # a key of TITLES
    said: str  # by the commands
    made: int  # version of the state that had it first

    def files(self, folder: Path) -> dict[str, Path]:
        """Return its files by their names for the page."""
        place = folder / f"{self.recipe.stem}{FOLDERS[self.job]}"
        found = [place / self.recipe.figure_file] if self.job == "figure" else sorted(place.iterdir())
        found += [folder / f"{self.recipe.stem}.html"] if self.job == "fit" else []
        return {path.relative_to(folder).as_posix(): path for path in found if path.is_file()}


class Session:
    """One table at a time, in a folder of its own below ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.changed = threading.Condition()
        self.version = 1
        self.jobs = Jobs(self.changed)
        self._tables = 0
        self._open(folder / "none", None)

    def _open(self, folder: Path, recipe: Recipe | None) -> None:
        """Take a new table, and forget what was known about the one before."""
        with self.changed:
            self.jobs.stop()
            shutil.rmtree(getattr(self, "here", folder / "none"), ignore_errors=True)
            self.here, self.recipe = folder, recipe
            self.table: dict[str, Any] = {}
            self.problem = ""  # why the table, or the last choice, could not be read
            self.results: dict[str, Result] = {}  # by job; figures by their files
            if recipe is not None:
                self._look(recipe, anew=True)

    def upload(self, name: str, stream: IO[bytes] | io.BufferedIOBase, size: int) -> None:
        """Keep a file of this many bytes in a new folder, and look at it."""
        if size > MOST_BYTES:
            raise RequestError(
                f"The app takes files up to {MOST_BYTES >> 30} GB. Use the command line for larger ones."
            )
        folder, kept = self._new_folder(), plain_name(name)
        with (folder / kept).open("xb") as file:
            while size and (piece := stream.read(min(size, CHUNK))):
                file.write(piece)
                size -= len(piece)
        if size:
            shutil.rmtree(folder)
            raise RequestError("The file did not arrive whole.")
        self._open(folder, Recipe(kept))

    def example(self, name: object) -> None:
        """Take one of the examples."""
        if not isinstance(name, str) or name not in EXAMPLES:
            raise RequestError("There is no such example.")
        folder = self._new_folder()
        with self.changed:
            request = {"do": "example", "name": name, "folder": str(folder)}
            self.jobs.add(READING, request, lambda job: self._open(folder, Recipe(name)), visible=False)

    def _new_folder(self) -> Path:
        with self.changed:
            self._tables += 1
            folder = self.folder / f"table{self._tables}"
        folder.mkdir()
        return folder

    def _look(self, recipe: Recipe, *, anew: bool) -> None:
        request = {"do": "look", "words": recipe.look(), "folder": str(self.here)}
        self.jobs.add(READING, request, lambda job: self._seen(job, recipe, anew), visible=False)
        self._touch()

    def _seen(self, job: Job, recipe: Recipe, anew: bool) -> None:
        """Take what was seen of a table; where it could not be read, what was chosen before stays."""
        self.problem = job.error
        if not job.error:
            self.table = job.answer["table"]
            columns = self.table["columns"]
            recipe = replace(recipe, columns=columns, named=self.table["named"])
            if anew:
                useless = frozenset(j for j, column in enumerate(columns) if column["kind"] is None)
                recipe = replace(recipe, choices=replace(recipe.choices, left_out=useless))
            self.recipe = recipe
        self._touch()

    def choose(self, record: object) -> None:
        """Take what was chosen; what values mean is looked at again."""
        with self.changed:
            recipe = self._ready()
            try:
                choices = Choices.read(record, len(recipe.columns))
            except ValueError as error:
                raise RequestError(str(error)) from None
            anew = choices.row_names != recipe.choices.row_names
            if anew:  # the places of all columns change
                choices = Choices(row_names=choices.row_names)
            new = replace(recipe, choices=choices)
            if new.look() != recipe.look():
                self._look(new, anew=anew)
                return
            self.recipe, self.problem = new, ""
            self._touch()

    def run(self, record: object) -> None:
        """Put a fit, a bootstrap, a comparison of groups or a figure into the queue, as chosen."""
        with self.changed:
            recipe, job = self._ready(), record.get("job") if isinstance(record, Mapping) else None
            if not isinstance(job, str) or job not in TITLES:
                raise RequestError("There is no such job.")
            if job != "fit" and ("fit" not in self.results or self.is_stale):
                raise RequestError("Fit the network first.")
            if job == "compare" and recipe.choices.groups is None:
                raise RequestError("Choose the column with the groups first.")
            if job == "figure" and recipe.choices.figure in RESAMPLED and "bootstrap" not in self.results:
                raise RequestError("This figure needs a bootstrap.")
            key = recipe.figure_file if job == "figure" else job
            if any(each.is_open and each.request.get("key") == key for each in self.jobs.jobs):
                raise RequestError("This is already running or waiting.")
            if job == "fit":
                self.results = {}
                for ending in (*FOLDERS.values(), ".html"):  # nothing of an earlier fit stays
                    place = self.here / f"{recipe.stem}{ending}"
                    place.unlink() if place.is_file() else shutil.rmtree(place, ignore_errors=True)
            request = {"do": "run", "commands": recipe.commands(job), "folder": str(self.here), "key": key}
            title = f"{TITLES[job]}: {FIGURES[recipe.choices.figure]}" if job == "figure" else TITLES[job]

            def finish(done: Job) -> None:
                if done.state == "done":
                    self.results[key] = Result(recipe, job, done.said, self.version)
                self._touch()

            self.jobs.add(title, request, finish)
            self._touch()

    def _ready(self) -> Recipe:
        if self.recipe is None or not self.table:
            raise RequestError("There is no table yet.")
        return self.recipe

    def stop(self, record: object) -> None:
        """Stop a job."""
        number = record.get("number") if isinstance(record, Mapping) else None
        if type(number) is not int:
            raise RequestError("Which job is to stop?")
        with self.changed:
            self.jobs.stop(number)
            self._touch()

    @property
    def is_stale(self) -> bool:
        """Whether something was chosen since the fit that changes it."""
        fit = self.results.get("fit")
        return fit is not None and self.recipe is not None and fit.recipe.said() != self.recipe.said()

    @property
    def busy(self) -> bool:
        """Whether something is running or waiting."""
        return any(job.is_open for job in self.jobs.jobs)

    def _touch(self) -> None:
        self.version += 1
        self.changed.notify_all()

    def state(self) -> dict[str, Any]:
        """Return everything that the page shows; the lock is held."""
        recipe, steps = self.recipe, {}
        if recipe is not None and self.table:
            jobs = [job for job in TITLES if job != "compare" or recipe.choices.groups is not None]
            steps = {job: {"command": command_text(recipe.commands(job)), "python": recipe.code(job)} for job in jobs}
        return {
            "version": self.version,
            "examples": EXAMPLES,
            "most_bytes": MOST_BYTES,
            "file": None if recipe is None else recipe.file,
            "problem": self.problem,
            "reading": any(job.is_open and job.title == READING for job in self.jobs.jobs),
            "table": self.table or None,
            "choices": None if recipe is None else recipe.choices.record(),
            "steps": steps,
            "jobs": [job.record() for job in self.jobs.jobs if job.visible],
            "stale": self.is_stale,
            "results": {
                key: {"said": each.said, "made": each.made, "files": list(each.files(self.here))}
                for key, each in self.results.items()
            },
            "figures": FIGURES,
            "endings": ENDINGS,
            "resampled": RESAMPLED,
        }

    def files(self) -> dict[str, Path]:
        """Return the files of all results, by their names for the page; nothing else is handed out."""
        return {name: path for each in self.results.values() for name, path in each.files(self.here).items()}

    def pack(self) -> bytes:
        """Return a zip of all files, with the commands and the code that make them again."""
        with self.changed:
            stream, results = io.BytesIO(), list(self.results.values())
            with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
                for name, path in self.files().items():
                    archive.write(path, name)
                commands = [command_text(each.recipe.commands(each.job)) + "\n" for each in results]
                archive.writestr("commands.sh", "".join(commands))
                archive.writestr("analysis.py", "\n".join(each.recipe.code(each.job) for each in results))
            return stream.getvalue()


def plain_name(name: str) -> str:
    """Return a name for a file of ours: letters, digits and a few marks of the name that it had, and its endings.

    Examples
    --------
    >>> plain_name("../../etc/passwd"), plain_name("My survey (2).SAV"), plain_name("-o.csv"), plain_name("..")
    ('passwd.txt', 'My-survey-2.SAV', 'o.csv', 'table.txt')
    """
    last = re.split(r"[/\\]", name)[-1][-80:]
    stem, *endings = (re.sub(r"[^\w]+", "-", part).strip("-_") for part in last.split("."))
    endings = [ending for ending in endings if ending] or ["txt"]
    return ".".join([stem or "table", *endings])
