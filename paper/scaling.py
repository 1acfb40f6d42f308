"""Beyond the paper: time and memory for hundreds and thousands of columns, and where each method stops."""

from __future__ import annotations

import json
import math
import os
import select
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from typing import Any

import numpy as np

from paper import figures, glmnet, markdown, study
from paper.contract import ROOT, Cell, Claim, Config, Row, Verdict
from paper.methods import stacked_bytes
from paper.summary import column, geometric_mean, group, original, where

NAME = "scaling"
TITLE = "Beyond the paper: larger networks"
VERSION = 4
TIMED = True

SIZES = (100, 300, 1000, 3000)
METHODS = ("isinglass", "isinglass-nodewise", "nlr", "nlr-glmnet", "plg", "plg-glmnet", "bmn")
N_SAMPLES = 1000
DEGREE = 5.0
"""Expected neighbours of a node: that of the paper's networks with p = 25, P = 0.2."""
LIMIT_SECONDS = 60.0
LIMIT_BYTES = 8_000_000_000
READY = 300.0
"""Seconds until a table must have been drawn and loaded, whatever the machine is doing."""
SHORT = 5.0
"""Fits shorter than this are measured on several tables."""
TRIALS = 3
OUT_OF_MEMORY = ("MemoryError", "ArrayMemoryError", "bad_alloc", "cannot allocate", "allocate memory", "LimitError")
STACKED_COPIES = 2
"""A solver keeps at least the design as built and its own form of it."""


def cells(config: Config) -> list[Cell]:
    """Return one cell per method: it goes up in p until it is stopped."""
    sizes, limit, trials = (SIZES[:2], 5.0, 1) if config.quick else (SIZES, LIMIT_SECONDS, TRIALS)
    common = {"seed": config.seed, "limit": limit, "max_bytes": LIMIT_BYTES, "trials": trials}
    common["N"] = 300 if config.quick else N_SAMPLES
    names = [name for name in METHODS if glmnet.versions()["glmnet"] or not name.endswith("glmnet")]
    return [{"method": name, "sizes": list(sizes), **common} for name in names]


def run_cell(cell: Cell) -> list[Row]:
    """Measure one method from the smallest table to the largest that it manages."""
    rows: list[Row] = []
    for p in cell["sizes"]:
        key = {"method": cell["method"], "p": p, "N": cell["N"], "lambda": penalty(p, cell["N"])}
        key |= {"limit_seconds": cell["limit"], "limit_gb": cell["max_bytes"] / 1e9}
        if rows and rows[-1]["reason"]:
            rows.append({**key, "trial": 0, "reason": f"not tried: stopped at p = {first_stop(rows)}"})
            continue
        for trial in range(cell["trials"]):
            rows.append({**key, "trial": trial, **measure(cell, p, trial)})
            if rows[-1]["reason"] or rows[-1]["seconds"] > SHORT:
                break
    return rows


def penalty(p: int, n: int) -> float:
    """Return λ: half the size that the gradients of absent edges reach, so that the networks are not too sparse.

    For balanced columns the gradient of an absent edge has the spread 2·¼/√N, and the largest of m normal variables is
    about √(2 log m) times their spread.
    """
    return float(f"{0.25 * math.sqrt(2 * math.log(p * (p - 1) / 2) / n):.4g}")


def first_stop(rows: list[Row]) -> int:
    """Return the p at which a method was stopped."""
    return next(row["p"] for row in rows if row["reason"])


def measure(cell: Cell, p: int, trial: int) -> dict[str, Any]:
    """Fit once in a process of its own; a reason instead of numbers where it is refused or ended."""
    needed = STACKED_COPIES * stacked_bytes(cell["N"], p) if cell["method"].startswith("plg") else 0.0
    if needed > cell["max_bytes"]:
        return {"reason": f"memory: about {needed / 1e9:.0f} GB, limit {cell['max_bytes'] / 1e9:.0f} GB"}
    job = {"p": p, "trial": trial, "alpha": penalty(p, cell["N"]), "degree": DEGREE}
    job |= {name: cell[name] for name in ("method", "seed", "N", "max_bytes")}
    with tempfile.TemporaryDirectory(prefix="scaling-") as scratch:
        worker = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "paper.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            text=True,
            env={**study.single_thread_environment(), "TMPDIR": scratch},
            start_new_session=True,
        )
        try:
            return read_answer(worker, job, cell["limit"])
        finally:
            end(worker)


def read_answer(worker: subprocess.Popen[str], job: dict[str, Any], limit: float) -> dict[str, Any]:
    """Hand over the job and return what the worker measured, or the reason why there is nothing."""
    worker.stdin.write(json.dumps(job))
    worker.stdin.close()
    try:
        if read_line(worker, READY).strip() != "start":
            return {"reason": describe_failure(last_line(worker), job["max_bytes"])}
        answer = read_line(worker, limit + 1.0)
    except TimeoutError:
        return {"reason": f"time: more than {limit:.0f} s"}
    if not answer:
        return {"reason": describe_failure(last_line(worker), job["max_bytes"])}
    return {"reason": None, **json.loads(answer)}


def describe_failure(message: str, max_bytes: int) -> str:
    """Return the reason for a worker's end by what it said last: memory in the words of Python, C++ and R, or else."""
    if any(words in message for words in OUT_OF_MEMORY):
        return f"memory: more than {max_bytes / 1e9:.0f} GB"
    return f"failed: {message}"


def end(worker: subprocess.Popen[str]) -> None:
    """End a worker and the R it may have started: left alone, that one would go on and disturb the next fit."""
    with suppress(ProcessLookupError):
        os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()
    for pipe in (worker.stdin, worker.stdout, worker.stderr):
        pipe.close()


def read_line(worker: subprocess.Popen[str], limit: float) -> str:
    """Read a line that must come within ``limit`` seconds; empty if the worker ended."""
    ready, _, _ = select.select([worker.stdout], [], [], limit)
    if not ready:
        raise TimeoutError
    return worker.stdout.readline()


def last_line(worker: subprocess.Popen[str]) -> str:
    """Return what a worker that failed said last."""
    lines = worker.stderr.read().strip().splitlines()
    return lines[-1][:200] if lines else "no message"


def run(config: Config) -> list[Row]:
    """Return the rows of all methods."""
    return study.run_item(sys.modules[__name__], config)


# ------------------------------------------------------------------------------------------- what the rows say


def finished(rows: list[Row], method: str) -> dict[int, list[Row]]:
    """Return the rows with numbers of one method by p."""
    return group([row for row in where(rows, method=method) if row.get("seconds") is not None], "p")


def draw(rows: list[Row]) -> figures.Figure:
    """Draw time and memory against p; a cross where a method was stopped."""
    figure, grid = figures.new_figure(2, size=(9.4, 4.2))
    for name, axes in (("seconds", grid[0, 0]), ("peak_mb", grid[0, 1])):
        for method in group(rows, "method"):
            found = finished(rows, method)
            means = [geometric_mean(column(trials, name)) for trials in found.values()]
            if found:
                figures.draw_line(axes, method, list(found), means)
        figures.log_axis(axes.xaxis, sorted(group(rows, "p")))
        axes.set(yscale="log", xlabel="p")
    mark_limits(grid[0, 0], rows)
    grid[0, 0].set_ylabel("seconds of one fit")
    figures.log_axis(grid[0, 1].yaxis)
    grid[0, 1].set_ylabel("peak memory of the process, MB")
    figures.add_legend(figure, grid[0, 1])
    return figure


def mark_limits(axes: Any, rows: list[Row]) -> None:
    """Put a cross at the top of the panel where a method was stopped, the crosses of one p side by side."""
    axes.margins(y=0.15)
    stopped = [row for row in rows if row["reason"] and not row["reason"].startswith("not tried")]
    top = 2.0 * max(column(rows, "seconds"))
    for p, found in group(stopped, "p").items():
        for k, row in enumerate(found):
            place = p * 1.12 ** (k - (len(found) - 1) / 2)
            style = figures.METHODS[row["method"]]
            axes.plot(
                place, top, marker="x" if style.line == "-" else "+", color=style.color, markersize=7, linestyle=""
            )
            word = row["reason"].split(":")[0]
            axes.annotate(word, (place, top), (0, 6), textcoords="offset points", ha="center", fontsize=6, rotation=45)


# ------------------------------------------------------------------------------------------- the page


def section(rows: list[Row]) -> str:
    """Return times and memory, and why methods stopped."""
    sizes, first = list(group(rows, "p")), rows[0]
    penalties = ", ".join(f"{found[0]['lambda']:g} for p = {p}" for p, found in group(rows, "p").items())
    ours, tables = finished(rows, "isinglass"), 1 + max(column(rows, "trial"))
    edges = ", ".join(f"{np.mean(column(found, 'n_edges')):.0f}" for found in ours.values())
    lines = [[figures.label(m), *(describe(rows, m, p) for p in sizes)] for m in group(rows, "method")]
    return f"""\
One fit at one λ on tables with N = {first["N"]} rows from random networks with {DEGREE:g} neighbours per node on
average, couplings uniform on [−1, 1] as in the paper (its P would make every node a neighbour of hundreds). λ is
half the size that gradients of absent edges reach: {penalties}, which gives {edges} edges.
The fields are not drawn but chosen such that every column is 1 in half of the rows: no column is rare, as some are in
the paper's networks.
Each fit has a process of its own with one thread, {first["limit_seconds"]:.0f} seconds and
{first["limit_gb"]:.0f} GB of address space (R the same); the stacked design of PLG is refused beforehand when
{STACKED_COPIES} copies of it would not fit. Fits shorter than {SHORT:g} s are measured on up to {tables} tables
(geometric mean). Memory is the peak of the process, Python or R and the table included. Before, each process has
fitted a small table. Building the stacked design is part of the time of the re-implemented PLG, not of the one in R.

{markdown.table(["", *(f"p = {p}" for p in sizes)], lines)}
"""


def describe(rows: list[Row], method: str, p: int) -> str:
    """Return time and memory of a method at one p, or why there are none."""
    found = where(rows, method=method, p=p)
    times, memory = column(found, "seconds"), column(found, "peak_mb")
    if not times:
        return str(found[0]["reason"]) if found else "–"
    return f"{markdown.seconds(geometric_mean(times))}, {markdown.number(float(np.mean(memory)))} MB"


def claims(rows: list[Row]) -> list[Claim]:
    """Judge whether PLG scales."""
    sizes = sorted(group(rows, "p"))
    plg = original(rows, "plg")
    reached = {method: max(finished(rows, method), default=0) for method in (plg, "isinglass")}
    verdict = (
        Verdict.REPRODUCED if reached[plg] == sizes[-1] else Verdict.REMARK if reached[plg] > sizes[0] else Verdict.NOT
    )
    stopped = [row for row in where(rows, method=plg) if row["reason"]]
    finding = f"{figures.label(plg)} manages p = {reached[plg]} within the limits"
    finding += f" and stops at p = {stopped[0]['p']} ({stopped[0]['reason']})" if stopped else ""
    finding += f"; isinglass manages p = {reached['isinglass']}."
    rule = (
        f"reproduced if PLG manages every p up to {sizes[-1]} within {rows[0]['limit_seconds']:.0f} s and "
        f"{rows[0]['limit_gb']:.0f} GB, with a remark if it manages more than p = {sizes[0]}, else not."
    )
    return [Claim("PLG is a candidate for scalable and efficient learning", "Conclusion", verdict, finding, rule)]
