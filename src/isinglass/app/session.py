"""What the server knows: the table, what was chosen about it, jobs and results. All tabs show the same."""

from __future__ import annotations

import io
import re
import shutil
import threading
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from typing import IO, Any

from isinglass.app.jobs import Job, Jobs
from isinglass.app.recipe import ENDINGS, FIGURES, RESAMPLED, Choices, Column, Recipe, command_text

MOST_BYTES = 1 << 30  # of a table
CHUNK = 1 << 20
EXAMPLES = {
    "mood.csv": "Questionnaire: 500 people, 10 yes/no questions about mood, a few answers missing (made up)",
    "senate.csv": "U.S. Senate: 100 senators, 279 votes of 2006",
}


READING = "Reading the table"
TITLES = {"fit": "Fit", "bootstrap": "Bootstrap", "compare": "Comparison of groups", "figure": "Figure"}


class RequestError(Exception):
    """What was asked for is refused; the message says why."""

    def __init__(self, message: str, status: HTTPStatus = HTTPStatus.BAD_REQUEST) -> None:
        super().__init__(message)
        self.status = status


@dataclass
class Result:
    """What a job made: its files by the names under which the page asks for them, and how."""

    recipe: Recipe
    commands: list[list[str]]
    code: str
    said: str = ""  # by the commands
    made: int = 0  # version of the state that had it first


class Session:
    """One table at a time, in a folder of its own below ``folder``, which is removed with the session."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.changed = threading.Condition()
        self.version = 1
        self.jobs = Jobs(self.changed)
        self._tables = 0
        self._clear()

    def _clear(self) -> None:
        self.recipe: Recipe | None = None
        self.table: dict[str, Any] = {}
        self.problem = ""  # why the table, or the last choice, could not be read
        self.seconds = 0.0  # that a fit will take
        self.results: dict[str, Result] = {}
        self.here = self.folder / f"table{self._tables}"

    def close(self) -> None:
        """Stop everything."""
        self.jobs.close()

    # Reading a table

    def upload(self, name: str, stream: IO[bytes] | io.BufferedIOBase, size: int) -> None:
        """Keep a file of this many bytes in a new folder, and look at it."""
        if size > MOST_BYTES:
            raise RequestError(
                f"The app takes files up to {MOST_BYTES >> 30} GB. Use the command line for larger ones."
            )
        folder = self._new_folder()
        kept = plain_name(name)
        with (folder / kept).open("xb") as file:
            while size:
                piece = stream.read(min(size, CHUNK))
                if not piece:
                    shutil.rmtree(folder)
                    raise RequestError("The file did not arrive whole.")
                file.write(piece)
                size -= len(piece)
        self._open(folder, kept)

    def example(self, name: object) -> None:
        """Take one of the examples."""
        if not isinstance(name, str) or name not in EXAMPLES:
            raise RequestError("There is no such example.")
        folder = self._new_folder()
        with self.changed:
            request = {"do": "example", "name": name, "folder": str(folder)}
            self.jobs.add(READING, request, lambda job: self._open(folder, name), visible=False)

    def _new_folder(self) -> Path:
        with self.changed:
            self._tables += 1
            folder = self.folder / f"table{self._tables}"
        folder.mkdir()
        return folder

    def _open(self, folder: Path, name: str) -> None:
        """Look at a table; what was known about the one before is forgotten."""
        with self.changed:
            self.jobs.stop()
            before = self.here
            self._clear()
            self.here, self.recipe = folder, Recipe(name)
            shutil.rmtree(before, ignore_errors=True)
            self._look(self.recipe, anew=True)

    def _look(self, recipe: Recipe, *, anew: bool) -> None:
        request = {"do": "look", "words": recipe.look(), "folder": str(self.here)}
        self.jobs.add(READING, request, lambda job: self._seen(job, recipe, anew), visible=False)
        self._touch()

    def _seen(self, job: Job, recipe: Recipe, anew: bool) -> None:
        """Take what was seen of a table; where it could not be read, what was chosen before stays."""
        if request_folder(job) != self.here:
            return
        self.problem = job.error
        if not job.error:
            table = job.answer["table"]
            columns = [Column(each["name"], each["kind"], each["stated"]) for each in table["columns"]]
            recipe = replace(recipe, columns=columns, named=table["named"], has_holes=table["n_missing"] > 0)
            if anew:
                recipe = replace(recipe, choices=recipe.choices.guessed(columns))
                request = {"do": "estimate", "folder": str(self.here)}
                self.jobs.add("Estimate", request, self._estimated, visible=False)
            self.recipe, self.table = recipe, table
        self._touch()

    def _estimated(self, job: Job) -> None:
        self.seconds = float(job.answer.get("seconds", 0.0))
        self._touch()

    # Choosing and running

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
            recipe = self._ready()
            job = record.get("job") if isinstance(record, Mapping) else None
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
                self._forget()
            result = Result(recipe, recipe.commands(job), recipe.code(job))
            request = {"do": "run", "commands": result.commands, "folder": str(self.here), "key": key}
            title = f"{TITLES[job]}: {FIGURES[recipe.choices.figure]}" if job == "figure" else TITLES[job]
            self.jobs.add(title, request, self._keep(key, result), expected=self.seconds if job == "fit" else 0.0)
            self._touch()

    def _ready(self) -> Recipe:
        if self.recipe is None or not self.table:
            raise RequestError("There is no table yet.")
        return self.recipe

    def _keep(self, key: str, result: Result) -> Callable[[Job], None]:
        def finish(job: Job) -> None:
            if job.state == "done" and request_folder(job) == self.here:
                result.said, result.made = job.said, self.version
                self.results[key] = result
            self._touch()

        return finish

    def _forget(self) -> None:
        """Remove the results of an earlier fit."""
        recipe = self.results["fit"].recipe if "fit" in self.results else None
        self.results = {}
        if recipe is not None:
            for suffix in ("", "-bootstrap", "-groups", "-figures"):
                shutil.rmtree(self.here / f"{recipe.stem}{suffix}", ignore_errors=True)
            (self.here / f"{recipe.stem}.html").unlink(missing_ok=True)

    def stop(self, record: object) -> None:
        """Stop a job."""
        number = record.get("number") if isinstance(record, Mapping) else None
        if type(number) is not int:
            raise RequestError("Which job is to stop?")
        with self.changed:
            self.jobs.stop(number)
            self._touch()

    # What the page shows

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
        recipe = self.recipe
        known = recipe is not None and bool(self.table)
        shown: dict[str, Any] = {
            "version": self.version,
            "examples": EXAMPLES,
            "most_bytes": MOST_BYTES,
            "file": None if recipe is None else recipe.file,
            "problem": self.problem,
            "reading": any(job.is_open and job.title == READING for job in self.jobs.jobs),
            "table": self.table if known else None,
            "jobs": [job.record() for job in self.jobs.jobs if job.visible],
            "seconds": self.seconds,
            "stale": self.is_stale,
            "results": {key: self._result(key, result) for key, result in self.results.items()},
            "figures": FIGURES,
            "endings": ENDINGS,
            "resampled": RESAMPLED,
        }
        if known and recipe is not None:
            shown["choices"] = recipe.choices.record()
            jobs = [job for job in TITLES if job != "compare" or recipe.choices.groups is not None]
            steps = {job: (command_text(recipe.commands(job)), recipe.code(job)) for job in jobs}
            shown["steps"] = {job: {"command": command, "python": code} for job, (command, code) in steps.items()}
        return shown

    def _result(self, key: str, result: Result) -> dict[str, Any]:
        names = [name for name, path in self.files().items() if path.is_relative_to(self._place(key, result))]
        return {"said": result.said, "made": result.made, "files": names, "report": f"{result.recipe.stem}.html"}

    def _place(self, key: str, result: Result) -> Path:
        """Return the file or folder that a result is in."""
        stem = result.recipe.stem
        places = {"fit": stem, "bootstrap": f"{stem}-bootstrap", "compare": f"{stem}-groups"}
        return self.here / places.get(key, f"{stem}-figures/{key}")

    def files(self) -> dict[str, Path]:
        """Return the files of the results, by their names for the page; nothing else is handed out."""
        found: dict[str, Path] = {}
        for key, result in self.results.items():
            place = self._place(key, result)
            for path in sorted(place.iterdir()) if place.is_dir() else [place]:
                if path.is_file() and not path.name.startswith("."):
                    found[path.relative_to(self.here).as_posix()] = path
            if key == "fit":
                found[f"{result.recipe.stem}.html"] = self.here / f"{result.recipe.stem}.html"
        return found

    def pack(self) -> bytes:
        """Return a zip of all files, with the commands and the code that make them again."""
        with self.changed:
            files, results = self.files(), list(self.results.values())
            stream = io.BytesIO()
            with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
                for name, path in files.items():
                    archive.write(path, name)
                archive.writestr("commands.sh", "".join(command_text(each.commands) + "\n" for each in results))
                archive.writestr("analysis.py", "\n".join(each.code for each in results))
            return stream.getvalue()


def request_folder(job: Job) -> Path:
    """Return the folder that a job works in."""
    return Path(job.request["folder"])


def plain_name(name: str) -> str:
    """Return a name for a file of ours: letters, digits and a few marks of the name that it had, and its endings.

    Examples
    --------
    >>> plain_name("../../etc/passwd"), plain_name("My survey (2).SAV"), plain_name("-o.csv"), plain_name("..")
    ('passwd.txt', 'My-survey-2.SAV', 'o.csv', 'table.txt')
    """
    last = re.split(r"[/\\]", name)[-1][-80:]
    stem, *endings = (re.sub(r"[^\w]+", "-", part).strip("-_") for part in last.split("."))
    endings = [ending for ending in endings if ending][-2:] or ["txt"]
    return ".".join([stem or "table", *endings])
