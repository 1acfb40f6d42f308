"""Independent tasks on all cores or on a cluster, by joblib, with a folder to resume from.

A task is a pure function of its arguments, usually the table and a seed: its result does not depend on where, when or
how often it runs. Where there is a checkpoint, it returns a mapping of names to the arrays that are stored there.
"""

from __future__ import annotations

import itertools
import logging
import sys
import threading
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from isinglass import errors
from isinglass.machine.threads import one_blas_thread, working
from isinglass.select.checkpoint import Checkpoint
from isinglass.select.progress import progress_line
from isinglass.select.settings import Run

logger = logging.getLogger("isinglass")

Result = TypeVar("Result")

ATTEMPTS = 3
"""How often the workers may be lost in a row, without one task finished in between, before we give up."""

COUNTED = (
    *(errors.ConstantColumnWarning, errors.ConvergenceWarning, errors.DataWarning),
    *(errors.FewColumnsWarning, errors.GridEndWarning),
)
"""Warnings that are counted, or were given for the whole table, where many tables are fitted."""


@one_blas_thread
def run_tasks(
    function: Callable[..., Result],
    arguments: Sequence[tuple[object, ...]],
    name: str = "tasks",
    description: str = "",
    *,
    run: Run = Run(),
    fingerprint: Mapping[str, object] | None = None,
    n_threads: int | None = None,
) -> list[Result]:
    """Return ``function(*a)`` for every ``a`` in ``arguments``, in order.

    ``name`` is that of the tasks in a checkpoint, and ``fingerprint`` holds the settings and data that the results
    depend on. ``n_threads``: run them in this number of threads of one process, instead of ``run.n_jobs``.
    """
    store = None if run.checkpoint is None else Checkpoint(run.checkpoint, fingerprint or {})
    n_threads = 1 if n_threads is None and _is_serial(run.n_jobs) else n_threads
    n_tasks, n_lost = len(arguments), 0
    stored: dict[int, Any] = {k: store.get(f"{name}/{k}") for k in range(n_tasks)} if store else {}
    results = {k: result for k, result in stored.items() if result is not None}
    with progress_line(description, n_tasks, run.progress) as line:
        line.update(advance=len(results))
        while missing := [k for k in range(n_tasks) if k not in results]:
            tasks = {k: partial(function, *arguments[k]) for k in missing}
            try:
                with closing(_run_batch(tasks, run.n_jobs, n_threads)) as finished:
                    for k, result in finished:
                        results[k], n_lost = result, 0
                        if store is not None:
                            results[k] = {key: np.asarray(value) for key, value in results[k].items()}
                            store.put(f"{name}/{k}", results[k])
                        line.update(advance=1)
            except _WorkersLostError as error:
                n_lost += 1
                _give_up_after(n_lost, error, n_tasks - len(results))
    return [results[k] for k in range(n_tasks)]


def task_run(run: Run) -> Run:
    """Return the settings of a fit inside one of the tasks of a run: next to others, its kernels get one thread."""
    if _is_serial(run.n_jobs):
        return run.inside()
    import joblib

    return run.inside(None if joblib.effective_n_jobs(run.n_jobs) == 1 else 1)


def _is_serial(n_jobs: int | None) -> bool:
    """Tell whether the tasks run here, one after the other: one job, and joblib is not loaded."""
    return n_jobs in (None, 1) and "joblib" not in sys.modules


class _WorkersLostError(Exception):
    """The backend failed, not a task."""


def _give_up_after(n_lost: int, error: _WorkersLostError, n_missing: int) -> None:
    """Raise what went wrong if the workers were lost too often; otherwise the missing tasks run again."""
    cause = error.__cause__ or error
    if n_lost == ATTEMPTS:
        cause.add_note(f"{n_missing} tasks are not finished; the workers were lost {ATTEMPTS} times in a row.")
        raise cause from None
    logger.warning("workers lost (%s): %d tasks run again", type(cause).__name__, n_missing)


@dataclass(frozen=True)
class _Outcome:
    """The result of a task, or its exception; anything else that comes back is an error of the worker."""

    number: int
    result: Any = None
    error: BaseException | None = None


def _attempt(
    batch: int, number: int, muted: tuple[type[errors.IsinglassWarning], ...], task: Callable[[], object]
) -> _Outcome:
    """Run a task of a batch, those that were started together, perhaps in another thread."""
    try:
        with working.task(batch), errors.suppress_warnings(*muted):
            return _Outcome(number, result=task())
    except (Exception, KeyboardInterrupt) as error:
        if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
            raise
        return _Outcome(number, error=error)


_Attempts = Sequence[Callable[[], _Outcome]]
_batch_numbers = itertools.count()


def _run_batch(
    tasks: Mapping[int, Callable[[], Result]], n_jobs: int | None, n_threads: int | None
) -> Generator[tuple[int, Result]]:
    """Yield the number and the result of every task as it finishes; an error ends those that still run."""
    batch, is_done = next(_batch_numbers), False
    attempts = [partial(_attempt, batch, k, errors.suppressed(), task) for k, task in tasks.items()]
    submitted = _run_by_joblib(attempts, n_jobs) if n_threads is None else _run_in_threads(attempts, n_threads)
    try:
        with closing(submitted) as outcomes:
            for outcome in outcomes:
                if outcome.error is not None:
                    outcome.error.add_note(f"in task {outcome.number}")
                    raise outcome.error
                yield outcome.number, outcome.result
        is_done = True
    finally:
        if not is_done:
            working.stop(batch)


def _run_in_threads(attempts: _Attempts, n_threads: int) -> Generator[_Outcome]:
    """Yield what the tasks come to in some threads of this process, which takes less time to start than joblib."""
    if n_threads == 1:
        yield from (attempt() for attempt in attempts)
        return
    pool = ThreadPoolExecutor(n_threads)
    try:
        for future in [pool.submit(copy_context().run, attempt) for attempt in attempts]:
            yield future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _run_by_joblib(attempts: _Attempts, n_jobs: int | None) -> Generator[_Outcome]:
    """Yield what the tasks come to in the workers of joblib."""
    import joblib  # 50 ms, as long as many a small fit

    settings = {"prefer": "threads"} | ({} if n_jobs is None else {"n_jobs": n_jobs})  # to joblib 1.3.0, None is 1
    for order in ("generator_unordered", "generator", "list"):  # what backends and versions of joblib can
        try:
            parallel = joblib.Parallel(return_as=order, **settings)
            break
        except ValueError:
            continue
    outcomes: Iterator[Any] = iter(())
    try:
        outcomes = iter(parallel(joblib.delayed(attempt)() for attempt in attempts))
        for outcome in outcomes:
            if not isinstance(outcome, _Outcome):  # Dask hands out the cancellation of a task as its result
                raise RuntimeError(f"a task ended without a result: {outcome!r}")
            yield outcome
    except (GeneratorExit, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # asyncio's CancelledError is no Exception
        raise _WorkersLostError from error
    finally:
        if hasattr(outcomes, "close"):
            with warnings.catch_warnings():  # joblib warns of tasks that were started and are no longer wanted
                warnings.simplefilter("ignore", UserWarning)
                outcomes.close()
