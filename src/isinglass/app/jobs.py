"""Jobs, one at a time: a queue, and the child process that does them and can be ended at once."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Job:
    """Something to do, and how far it is."""

    number: int
    title: str
    request: dict[str, Any]  # for the worker
    finish: Callable[[Job], None]  # called when it is done, whether or not there was an error
    visible: bool = True  # whether the page lists it
    state: str = "waiting"  # then running, then done, failed or stopped
    text: str = ""  # what is being done
    count: int = 0  # steps done
    total: int | None = None  # of so many
    said: str = ""  # what the commands said
    error: str = ""
    answer: dict[str, Any] = field(default_factory=dict)
    _began: float = 0.0
    _stage: float = 0.0  # when the running count began
    _took: float = 0.0

    @property
    def is_open(self) -> bool:
        """Whether it is running or waiting."""
        return self.state in ("waiting", "running")

    def begin(self) -> None:
        """Note the time."""
        self.state, self._began = "running", time.monotonic()
        self._stage = self._began

    def end(self, state: str, error: str = "") -> None:
        """Note how it ended."""
        self._took = time.monotonic() - self._began if self._began else 0.0
        self.state, self.error = state, error

    def hear(self, answer: dict[str, Any]) -> None:
        """Take a report of the worker."""
        if "text" in answer:
            if answer["count"] < self.count:
                self._stage = time.monotonic()
            self.text, self.count, self.total = answer["text"], answer["count"], answer["total"]
        self.said += answer.get("said", "")
        if "step" in answer:
            self.text, self.count, self.total = self.request["commands"][answer["step"]][0], 0, None
            self._stage = time.monotonic()

    @property
    def seconds_left(self) -> float | None:
        """About how long it will take, by what it took so far; None if that is unknown."""
        if not self.total or not self.count:
            return None
        return (time.monotonic() - self._stage) * (self.total - self.count) / self.count

    def record(self) -> dict[str, Any]:
        """Return what the page shows."""
        shown = {name: getattr(self, name) for name in ("number", "title", "state", "text", "count", "total", "error")}
        running = self.state == "running"
        seconds = time.monotonic() - self._began if running else self._took
        return {**shown, "seconds": seconds, "left": self.seconds_left if running else None, "said": self.said}


class Jobs:
    """The queue, and the thread that works it off; ``changed`` is notified whenever something is different."""

    def __init__(self, changed: threading.Condition) -> None:
        self._changed = changed
        self.jobs: list[Job] = []
        self._numbers = itertools.count(1)
        self._closed = False
        self._worker: subprocess.Popen[str] | None = None
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def add(self, title: str, request: dict[str, Any], finish: Callable[[Job], None], **more: Any) -> Job:
        """Put a job at the end of the queue; the lock is held."""
        job = Job(next(self._numbers), title, request, finish, **more)
        self.jobs = [*(one for one in self.jobs if one.is_open), job] if job.visible else [*self.jobs, job]
        self._changed.notify_all()
        return job

    def stop(self, number: int | None = None) -> None:
        """Stop a job, or all; the lock is held. What runs is ended at once."""
        for job in self.jobs:
            if number in (None, job.number) and job.is_open:
                if job.state == "running":
                    self._kill()
                job.end("stopped")
        self._changed.notify_all()

    def close(self) -> None:
        """End the worker; nothing runs afterwards."""
        with self._changed:
            self._closed = True
            self.stop()
            self._kill()
        self._thread.join(timeout=5)

    def _kill(self) -> None:
        if self._worker is not None and self._worker.poll() is None:
            if hasattr(os, "killpg"):
                os.killpg(self._worker.pid, signal.SIGKILL)
            else:
                self._worker.kill()

    def _work(self) -> None:
        """Do one job after the other; a new worker takes the place of one that has ended."""
        while not self._closed:
            with suppress(BrokenPipeError), _start_worker() as worker:
                self._worker = worker
                while (job := self._next()) is not None:
                    assert worker.stdin is not None
                    assert worker.stdout is not None
                    worker.stdin.write(json.dumps(job.request) + "\n")
                    worker.stdin.flush()
                    if not any(self._hear(job, json.loads(line)) for line in worker.stdout):
                        break  # the worker has ended
                else:
                    self._kill()
            with self._changed:
                if job is not None and job.state == "running":
                    job.end("failed", "The process that did this has ended. Perhaps there was not enough memory.")
                    job.finish(job)
                self._changed.notify_all()

    def _next(self) -> Job | None:
        """Wait for a job and begin it; None when there will be no more."""
        with self._changed:
            waiting: list[Job] = []
            while not self._closed and not waiting:
                waiting = [job for job in self.jobs if job.state == "waiting"]
                if not waiting:
                    self._changed.wait()
            if self._closed:
                return None
            waiting[0].begin()
            self._changed.notify_all()
            return waiting[0]

    def _hear(self, job: Job, answer: dict[str, Any]) -> bool:
        """Take what the worker says about its job, and tell whether it is done."""
        with self._changed:
            if job.state == "running":
                job.hear(answer)
            if "done" in answer and job.state == "running":
                job.answer = answer
                job.end("failed" if "error" in answer else "done", answer.get("error", ""))
                job.finish(job)
            self._changed.notify_all()
            return "done" in answer


def _start_worker() -> subprocess.Popen[str]:
    environment = {name: value for name, value in os.environ.items() if name != "FORCE_COLOR"}
    return subprocess.Popen(
        [sys.executable, "-m", "isinglass.app.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        env={**environment, "NO_COLOR": "1", "MPLBACKEND": "Agg"},
        start_new_session=True,  # Ctrl-C is for the server, which ends the worker
    )
