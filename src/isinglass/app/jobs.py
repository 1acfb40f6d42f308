"""A queue of jobs, run one at a time in a process that can be stopped at once."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from isinglass.app.recipe import JOBS, Recipe
from isinglass.json_text import JsonObject
from isinglass.machine.signals import OWN_GROUP

OPEN = ("waiting", "running")
SAID = {"state", "text", "count", "total", "left", "facts", "warnings", "error", "output"}
"""What the worker may say about a job."""
LOST = "The worker process stopped unexpectedly, possibly because memory ran out. Try again, or use a smaller table."


@dataclass(eq=False)
class Job:
    """A job and its progress."""

    kind: str  # a key of JOBS
    recipe: Recipe
    folder: Path  # of the table
    number: int = field(default_factory=itertools.count(1).__next__)
    began: float = 0.0
    state: str = "waiting"  # or running, done, failed, stopped
    text: str = ""  # what is being done
    count: int = 0  # steps done
    total: int | None = None  # steps in all
    left: float | None = None  # about how many seconds it will take, if that is known
    facts: list[list[str]] = field(default_factory=list)  # what the commands said, by name
    warnings: list[str] = field(default_factory=list)
    error: str = ""
    output: str = ""  # of the last command
    worker: subprocess.Popen[str] | None = None  # the process that runs it

    @property
    def key(self) -> str:
        """What the page calls its result: its kind, or the file of a figure."""
        return self.recipe.fill("{figure}.{ending}") if self.kind == "figure" else self.kind

    def files(self) -> dict[str, Path]:
        """Return the files that it has made, by their names for the page."""
        targets = [self.folder / self.recipe.fill(target) for target in JOBS[self.kind]["targets"]]
        paths = [path for target in targets for path in (sorted(target.iterdir()) if target.is_dir() else [target])]
        return {path.relative_to(self.folder).as_posix(): path for path in paths if path.is_file()}


class Jobs:
    """The queue; ``ended`` is called with a job that is done or has failed. All tabs show the same ``version``."""

    def __init__(self, ended: Callable[[Job], object]) -> None:
        self.jobs: list[Job] = []
        self.changed, self.version = threading.Condition(), 1
        self._ended, self._worker, self._closed = ended, _start_worker(), False
        self._line, self._aside = ThreadPoolExecutor(1), ThreadPoolExecutor(1)

    def tell(self) -> None:
        """Notify waiting requests of a change; the lock is held."""
        self.version += 1
        self.changed.notify_all()

    def add(self, job: Job, aside: bool = False) -> None:
        """Put a job at the end of the queue, and forget those that have ended; the lock is held.

        One that has failed is shown until it is tried again. A job ``aside`` does not wait for those in the queue.
        """
        aside = aside and any(one.state in OPEN for one in self.jobs)
        kept = (one for one in self.jobs if one.state in OPEN or (one.state == "failed" and one.key != job.key))
        self.jobs = [*kept, job]
        if aside:
            self._aside.submit(self._do_aside, job)
        else:
            self._line.submit(self._do, job)
        self.tell()

    def stop(self, number: int | None = None) -> None:
        """Stop a job, or all and forget them. What runs is ended at once."""
        with self.changed:
            for job in self.jobs:
                if number in (None, job.number) and job.state in OPEN:
                    if job.worker is not None:
                        job.worker.kill()
                    job.state = "stopped"
            self.jobs = self.jobs if number is not None else []
            self.tell()

    def close(self) -> None:
        """Stop all jobs and end the worker."""
        self._closed = True
        self.stop()
        self._line.shutdown()
        self._aside.shutdown()
        self._worker.kill()
        self._worker.communicate()

    def _do(self, job: Job) -> None:
        """Let the worker run a job; a worker that has ended is replaced."""
        if not self._run(job, self._worker):
            self._worker.communicate()
            if not self._closed:
                self._worker = _start_worker()

    def _do_aside(self, job: Job) -> None:
        """Let another worker run a job, and end it."""
        worker = _start_worker()
        self._run(job, worker)
        worker.kill()
        worker.communicate()

    def _run(self, job: Job, worker: subprocess.Popen[str]) -> bool:
        """Run a job unless it was stopped, and tell whether its worker can take the next one."""
        request = {"folder": str(job.folder), "commands": job.recipe.commands(job.kind)}
        with self.changed:
            if job.state != "waiting":
                return True
            job.state, job.began, job.worker = "running", time.monotonic(), worker
            self.tell()
        with suppress(BrokenPipeError):
            worker.stdin.write(json.dumps(request) + "\n")  # type: ignore[union-attr]
            worker.stdin.flush()  # type: ignore[union-attr]
            if any(self._hear(job, json.loads(line)) for line in worker.stdout):  # type: ignore[union-attr]
                return True
        self._hear(job, {"state": "failed", "error": LOST})
        return False

    def _hear(self, job: Job, news: JsonObject) -> bool:
        """Read a message about a job, and tell whether the job has ended and its worker can take the next one."""
        with self.changed:
            if job.state == "running":
                for name in SAID & news.keys():
                    setattr(job, name, news[name])
                if job.state not in OPEN:
                    self._ended(job)
                self.tell()
            return "state" in news and job.state != "stopped"


def _start_worker() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "isinglass.app.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        env={**os.environ, "NO_COLOR": "1"},
        **OWN_GROUP,  # Ctrl-C is for the server, which ends the worker
    )
