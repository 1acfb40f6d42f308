"""Queues of jobs: the jobs of one run one at a time, in a process that is ended to stop one at once."""

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

WORKER_FIELDS = {"state", "text", "count", "total", "left", "facts", "warnings", "error", "output"}
"""Fields of a job that the worker may set."""
LOST = "The worker process stopped unexpectedly, possibly because memory ran out. Try again, or use a smaller table."


@dataclass(eq=False)
class Job:
    """A job and its progress."""

    kind: str  # a key of JOBS
    recipe: Recipe
    folder: Path  # with the file
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

    @property
    def is_open(self) -> bool:
        """Whether it is still to end."""
        return self.state in ("waiting", "running")

    @property
    def key(self) -> str:
        """What the page calls its result: its kind, or the file of a figure."""
        return self.recipe.key(self.kind)

    @property
    def sources(self) -> list[str]:
        """Keys of the results that it starts from."""
        return self.recipe.sources(self.kind)

    def files(self) -> dict[str, Path]:
        """Return the files that it has made, by their names for the page."""
        targets = [self.folder / self.recipe.fill(target) for target in JOBS[self.kind]["targets"]]
        paths = [path for target in targets for path in (sorted(target.iterdir()) if target.is_dir() else [target])]
        return {path.relative_to(self.folder).as_posix(): path for path in paths if path.is_file()}


class Changes(threading.Condition):
    """The lock of the state that all tabs show, and the number of its version, for which requests wait."""

    def __init__(self) -> None:
        super().__init__()
        self.version = 1

    def notify_tabs(self) -> None:
        """Tell waiting requests that there is another version; the lock is held."""
        self.version += 1
        self.notify_all()


class JobQueue:
    """Jobs in the order in which they were started; ``on_end`` is called with one that is done or has failed.

    The lock is held by callers of all methods but `close`, and when ``on_end`` is called.
    """

    def __init__(self, changes: Changes, on_end: Callable[[Job], object]) -> None:
        self.jobs: list[Job] = []
        self._changes, self._on_end = changes, on_end
        self._worker, self._thread, self._is_closed = _start_worker(), ThreadPoolExecutor(1), False

    def start(self, job: Job) -> None:
        """Run a job after those that were started before, and forget those that have ended.

        One that has failed is shown until it is tried again.
        """
        kept = (one for one in self.jobs if one.is_open or (one.state == "failed" and one.key != job.key))
        self.jobs = [*kept, job]
        self._thread.submit(self._run, job)
        self._changes.notify_tabs()

    def stop(self, job: Job) -> None:
        """Stop a job that has not ended; what runs is ended at once."""
        if job.state == "running":
            self._worker.kill()
        if job.is_open:
            job.state = "stopped"
            self._changes.notify_tabs()

    def clear(self) -> None:
        """Stop and forget all jobs."""
        for job in self.jobs:
            self.stop(job)
        self.jobs = []

    def close(self) -> None:
        """Stop all jobs and end the worker."""
        with self._changes:
            self._is_closed = True
            self.clear()
        self._thread.shutdown()
        self._end_worker()

    def _run(self, job: Job) -> None:
        """Let the worker run a job unless it was stopped; a worker that has ended is replaced."""
        with self._changes:
            if job.state != "waiting":
                return
            job.state, job.began = "running", time.monotonic()
            self._changes.notify_tabs()
        request = {"folder": str(job.folder), "commands": job.recipe.commands(job.kind)}
        with suppress(BrokenPipeError):
            self._worker.stdin.write(json.dumps(request) + "\n")  # type: ignore[union-attr]
            self._worker.stdin.flush()  # type: ignore[union-attr]
            for line in self._worker.stdout:  # type: ignore[union-attr]
                if line.endswith("\n"):  # else the worker was ended while it wrote
                    self._update(job, json.loads(line))
                if job.state in ("done", "failed"):
                    return
        self._end_worker()
        with self._changes:  # before the next job can run, and be stopped
            if not self._is_closed:
                self._worker = _start_worker()
        self._update(job, {"state": "failed", "error": LOST})

    def _end_worker(self) -> None:
        self._worker.kill()
        self._worker.communicate()

    def _update(self, job: Job, news: JsonObject) -> None:
        """Store what the worker sent about a job, unless that was stopped."""
        with self._changes:
            if job.state == "running":
                for name in WORKER_FIELDS & news.keys():
                    setattr(job, name, news[name])
                if not job.is_open:
                    self._on_end(job)
                self._changes.notify_tabs()


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
