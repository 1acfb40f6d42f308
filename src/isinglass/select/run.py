"""How something is computed: threads, processes, device, progress, checkpoint and time limit."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from os import PathLike

from isinglass.arguments import check_count, check_flag, is_real, is_whole
from isinglass.errors import ArgumentError, DataError
from isinglass.select.settings import Settings
from isinglass.solve.device import check_device


@dataclass(frozen=True, eq=False, repr=False)
class Run(Settings):
    """How something is computed.

    These settings do not change the result, with two exceptions: a device agrees only to the tolerance, and a time
    limit can end the search early.

    Parameters
    ----------
    n_jobs : int, optional
        Fits to run in parallel, as in joblib; -1 uses all cores.
    n_threads : int, optional
        Threads of the kernels; by default ISINGLASS_NUM_THREADS, otherwise all cores.
    device : str, optional
        Where joint fits run: "cpu", or a GPU such as "cuda".
    progress : bool, optional
        Whether to show a progress bar on stderr; by default only if that is a terminal.
    checkpoint : path, optional
        Folder for finished tasks, from which an interrupted run resumes.
    max_time : float, optional
        Seconds after which the two-stage estimate returns the best network found; ``Fit.selection.left_out`` says
        what there was no time for, such as the standard errors of an imputed table. None by default.
    """

    n_jobs: int | None = None
    n_threads: int | None = None
    device: str | None = None
    progress: bool | None = None
    checkpoint: str | PathLike[str] | None = None
    max_time: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_time is not None and not (is_real(self.max_time) and self.max_time > 0):
            raise ArgumentError("max_time", "must be a positive number of seconds", self.max_time)
        if self.max_time is not None and self.checkpoint is not None:
            raise ArgumentError("max_time", "must be left out where a checkpoint resumes whole runs", self.max_time)
        if self.n_jobs is not None and (not is_whole(self.n_jobs) or self.n_jobs == 0):
            raise ArgumentError("n_jobs", "must be an integer other than 0", self.n_jobs, "-1 takes all cores.")
        if self.n_threads is not None:
            check_count("n_threads", self.n_threads, most=None)
        if self.device is not None:
            check_device(self.device)
        if self.progress is not None:
            check_flag("progress", self.progress)

    def deadline(self) -> float:
        """Return when a run that begins now has to end, by the clock `time.monotonic`."""
        return math.inf if self.max_time is None else time.monotonic() + self.max_time

    def check_for_many(self, random_state: object) -> None:
        """Refuse a time limit where many networks are estimated, and a checkpoint without a seed."""
        if self.max_time is not None:
            raise ArgumentError("max_time", "must be left out where many networks are estimated", self.max_time)
        self.require_seed(random_state)

    def refuse_checkpoint(self) -> None:
        """Refuse a checkpoint where nothing is resumed."""
        if self.checkpoint is not None:
            raise ArgumentError("checkpoint", "must be left out where nothing can be resumed", str(self.checkpoint))

    def require_seed(self, random_state: object) -> None:
        """Refuse a checkpoint of draws that the next run does not repeat."""
        if self.checkpoint is not None and random_state is None:
            raise DataError("A checkpoint needs a random_state: without one, the next run has other draws.")

    def inside(self, n_threads: int | None = None) -> Run:
        """Return the settings of a fit inside one of many tasks: no progress, and these threads unless they are set."""
        return Run(n_threads=self.n_threads or n_threads, device=self.device, progress=False)
