"""Run the cells of an item: those that are finished come from the cache, the others are computed and kept.

A cell's rows are written to a file of their own as soon as they are there, under a name made of the cell and the
item's version. A run that was killed therefore loses the cells that were being computed and nothing else. Cells that
are not timed share the cores; timed ones run one after the other in this process, with nothing beside them.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from paper import machine
from paper.contract import Cell, Config, Item, Row
from paper.tables import write_whole

SINGLE = {"ISINGLASS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""What a worker is started with: the cells share the cores, not their kernels."""
QUIET = 5.0
"""Seconds between two lines of progress where standard error is not a terminal."""


def run_item(item: Item, config: Config) -> list[Row]:
    """Return the rows of all cells of ``item``, in the order of its cells."""
    cells = item.cells(config)
    missing = [cell for cell in cells if not cell_file(item, cell, config.cache).exists()]
    if missing:
        progress = Progress(item.NAME, len(cells), len(cells) - len(missing))
        for _ in compute(item, missing, config):
            progress.advance()
        progress.close()
    found = [json.loads(cell_file(item, cell, config.cache).read_text(encoding="utf-8")) for cell in cells]
    return [row for content in found for row in content["rows"]]


def cell_file(item: Item, cell: Cell, cache: Path) -> Path:
    """Return where the rows of a cell are kept."""
    key = json.dumps([item.VERSION, cell], sort_keys=True, allow_nan=False)
    return cache / item.NAME / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.json"


def compute(item: Item, cells: list[Cell], config: Config) -> Iterator[Cell]:
    """Compute and keep the cells, and yield each as it is finished."""
    jobs = 1 if item.TIMED else min(config.jobs, len(cells))
    if jobs <= 1:
        for cell in cells:
            keep_cell(item.__name__, cell, config.cache)
            yield cell
        return
    with single_threads(), ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        tasks = {pool.submit(keep_cell, item.__name__, cell, config.cache): cell for cell in cells}
        try:
            for task in as_completed(tasks):
                task.result()
                yield tasks[task]
        finally:  # an interrupt or a failure does not wait for what has not begun
            pool.shutdown(wait=True, cancel_futures=True)


def keep_cell(module: str, cell: Cell, cache: Path) -> None:
    """Compute one cell and write its rows; runs in a worker, hence the name instead of the module."""
    item = import_module(module)
    started = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # whether a fit converged is a column of its rows
            rows = item.run_cell(dict(cell))
    except Exception as error:
        error.add_note(f"in the cell {cell!r} of {item.NAME}")
        raise
    content = {"cell": cell, "seconds": time.perf_counter() - started, "rows": rows, "made_with": machine.describe()}
    write_whole(cell_file(item, cell, cache), json.dumps(content))


def describe_cells(item: Item, config: Config) -> dict[str, Any]:
    """Return how long the cells of a finished item took, when they were computed and with what, whenever that was.

    Each fact is listed with all the values that its cells have; a cell of a file without facts has none.
    """
    files = [cell_file(item, cell, config.cache) for cell in item.cells(config)]
    contents = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    facts = [content["made_with"] for content in contents if "made_with" in content]
    loads = [fact["load"] for fact in facts if fact["load"] is not None]
    names = dict.fromkeys(name for fact in facts for name in fact if name != "load")
    return {
        "cells": len(contents),
        "cells_without_facts": len(contents) - len(facts),
        "seconds_in_cells": round(sum(content["seconds"] for content in contents), 1),
        "largest_load": max(loads, default=None),
        "made_with": {name: list(dict.fromkeys(fact.get(name) for fact in facts)) for name in names},
    }


def single_thread_environment() -> dict[str, str]:
    """Return the environment of a process that shall use one thread."""
    return {**os.environ, **SINGLE}


@contextmanager
def single_threads() -> Iterator[None]:
    """Let processes that are started meanwhile use one thread each."""
    before = {name: os.environ.get(name) for name in SINGLE}
    os.environ.update(SINGLE)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class Progress:
    """How many cells are done and how long the rest will take, on standard error."""

    def __init__(self, name: str, total: int, done: int) -> None:
        self.name, self.total, self.done, self.skipped = name, total, done, done
        self.started = self.shown = time.monotonic()
        self.live = sys.stderr.isatty()
        self._show(f", {done} of them finished before" if done else "")

    def advance(self) -> None:
        """Count one cell."""
        self.done += 1
        if self.live or time.monotonic() - self.shown > QUIET:
            elapsed = time.monotonic() - self.started
            left = elapsed / (self.done - self.skipped) * (self.total - self.done)
            self._show(f", {elapsed:.0f} s, about {left:.0f} s left")

    def close(self) -> None:
        """Say how long it took."""
        self._show(f", {time.monotonic() - self.started:.0f} s")
        if self.live:
            print(file=sys.stderr)

    def _show(self, text: str) -> None:
        self.shown = time.monotonic()
        line = f"{self.name}: {self.done} of {self.total} cells{text}"
        print(f"\r{line:<78}" if self.live else line, end="" if self.live else "\n", file=sys.stderr, flush=True)
