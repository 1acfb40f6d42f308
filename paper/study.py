"""Run the cells of an item: finished ones come from the cache, the others are computed and kept.

A cell's rows are written to a file of their own as soon as they are there, under a name made of the cell and the
item's version, so a run that was killed loses only the cells it was working on. Cells that are not timed share the
cores; timed ones run one after the other in this process, with nothing beside them.
"""

from __future__ import annotations

import datetime
import hashlib
import importlib.metadata
import json
import os
import platform
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any

from paper import glmnet
from paper.files import ROOT, write_text

Cell = dict[str, Any]
"""Plain values (text, numbers, flags) that say what one cell computes, its seed included: the key of the cache."""
Row = dict[str, Any]
"""One line of an item's table: plain values by column."""

SINGLE = {"ISINGLASS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Environment of the command and its workers: the cells share the cores, not their kernels."""
QUIET = 5.0
"""Seconds between two lines of progress."""


@dataclass(frozen=True)
class Config:
    """Settings of one run: the page is written beside the folder ``out``, under its name with ``.md`` appended."""

    quick: bool = False
    seed: int = 2017
    jobs: int = 1
    out: Path = ROOT / "docs" / "paper"
    cache: Path = ROOT / "paper" / ".cache"

    @property
    def page(self) -> Path:
        """Where the rendered page goes."""
        return self.out.with_name(f"{self.out.name}.md")


def name_of(item: ModuleType) -> str:
    """Return the stem of an item's files."""
    return item.__name__.rpartition(".")[2]


def run(item: ModuleType, config: Config) -> list[Row]:
    """Return the rows of all cells of an item, in the order of its cells."""
    cells = item.cells(config)
    missing = [cell for cell in cells if not cell_file(item, cell, config.cache).exists()]
    started = shown = time.monotonic()
    for done, _ in enumerate(compute(item, missing, config), 1):
        now, rest = time.monotonic(), len(missing) - done
        if now - shown > QUIET or not rest:
            shown, text = now, f"{now - started:.0f} s, about {(now - started) / done * rest:.0f} s left"
            print(f"{name_of(item)}: {len(cells) - rest} of {len(cells)} cells, {text}", file=sys.stderr, flush=True)
    return [row for content in read_cells(item, config) for row in content["rows"]]


def read_cells(item: ModuleType, config: Config) -> list[dict[str, Any]]:
    """Return what was kept of every cell of a finished item."""
    files = [cell_file(item, cell, config.cache) for cell in item.cells(config)]
    return [json.loads(file.read_text(encoding="utf-8")) for file in files]


def cell_file(item: ModuleType, cell: Cell, cache: Path) -> Path:
    """Return where the rows of a cell are kept."""
    key = json.dumps([item.VERSION, cell], sort_keys=True, allow_nan=False)
    return cache / name_of(item) / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.json"


def compute(item: ModuleType, cells: list[Cell], config: Config) -> Iterator[Cell]:
    """Compute and keep the cells, and yield each as it is finished."""
    jobs = 1 if item.TIMED else min(config.jobs, len(cells))
    if jobs <= 1:
        for cell in cells:
            keep_cell(item.__name__, cell, config.cache)
            yield cell
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        tasks = {pool.submit(keep_cell, item.__name__, cell, config.cache): cell for cell in cells}
        try:
            for task in as_completed(tasks):
                task.result()
                yield tasks[task]
        finally:  # an interrupt or a failure does not wait for what has not begun
            pool.shutdown(wait=True, cancel_futures=True)


def keep_cell(module: str, cell: Cell, cache: Path) -> None:
    """Compute one cell and write its rows; runs in a worker, hence the name instead of the module."""
    item, started = import_module(module), time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # whether a fit converged is a column of its rows
            rows = item.run_cell(dict(cell))
    except Exception as error:
        error.add_note(f"in the cell {cell!r} of {module}")
        raise
    content = {"cell": cell, "seconds": time.perf_counter() - started, "rows": rows, "made_with": describe_machine()}
    write_text(cell_file(item, cell, cache), json.dumps(content))


def describe_cells(item: ModuleType, config: Config) -> dict[str, Any]:
    """Return how long the cells of a finished item took, and everything they were computed with, whenever that was."""
    contents = read_cells(item, config)
    facts = [content["made_with"] for content in contents if "made_with" in content]
    names = dict.fromkeys(name for fact in facts for name in fact if name != "load")
    return {
        "cells": len(contents),
        "cells_without_facts": len(contents) - len(facts),
        "seconds_in_cells": round(sum(content["seconds"] for content in contents), 1),
        "largest_load": max((fact["load"] for fact in facts if fact["load"] is not None), default=None),
        "made_with": {name: list(dict.fromkeys(fact.get(name) for fact in facts)) for name in names},
    }


# ------------------------------------------------------------------------------------------- the machine


def describe_machine() -> dict[str, str | int | float | None]:
    """Return date, versions, processor and load in one level, as they are kept with every cell."""
    load = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
    today = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d")
    return {"date": today, **describe_software(), **describe_hardware(), "load": load}


def describe_software() -> dict[str, str | None]:
    """Return the versions that enter the results; None for R and glmnet where they are not installed."""
    names = ("numpy", "scipy", "matplotlib", "isinglass")
    found: dict[str, str | None] = {"python": platform.python_version()}
    return found | {name: importlib.metadata.version(name) for name in names} | glmnet.versions()


def describe_hardware() -> dict[str, str | int]:
    """Return the processor's name and the number of cores that may be used."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if "model name" in line]
    return {"cpu": models[0] if models else platform.processor() or platform.machine(), "cores": available_cores()}


def available_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
