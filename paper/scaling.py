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
import pandas as pd

from paper import figures, glmnet, study
from paper.evidence import geometric_mean, judge, original, pick
from paper.files import ROOT
from paper.page import number, seconds
from paper.study import Cell, Config, Row

VERSION = 4
TIMED = True

SIZES = (100, 300, 1000, 3000)
METHODS = ("isinglass", "isinglass-nodewise", "nlr", "nlr-glmnet", "plg", "plg-glmnet", "bmn")
N_SAMPLES = 1000
DEGREE = 5.0
"""Expected neighbors of a node: that of the paper's networks with p = 25, P = 0.2."""
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
    sizes, limit, trials = (SIZES[:1], 5.0, 1) if config.quick else (SIZES, LIMIT_SECONDS, TRIALS)
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
        stopped = [row["p"] for row in rows if row["reason"]]
        if stopped:
            rows.append({**key, "trial": 0, "reason": f"not tried: stopped at p = {stopped[0]}"})
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


def stacked_bytes(n: int, p: int) -> float:
    """Return the size of the stacked design of a balanced table: a double and a row number for every entry."""
    return 12.0 * n * p * (1.0 + (p - 1) / 2.0)


def measure(cell: Cell, p: int, trial: int) -> Row:
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
            env={**os.environ, **study.SINGLE, "TMPDIR": scratch},
            start_new_session=True,
        )
        try:
            return read_answer(worker, job, cell["limit"])
        finally:
            end(worker)


def read_answer(worker: subprocess.Popen[str], job: dict[str, Any], limit: float) -> Row:
    """Hand over the job and return what the worker measured, or the reason why there is nothing."""
    worker.stdin.write(json.dumps(job))
    worker.stdin.close()
    try:
        answer = read_line(worker, READY).strip()
        if answer == "start":
            answer = read_line(worker, limit + 1.0)
    except TimeoutError:
        return {"reason": f"time: more than {limit:.0f} s"}
    return {"reason": None, **json.loads(answer)} if answer else {"reason": describe_failure(worker, job["max_bytes"])}


def describe_failure(worker: subprocess.Popen[str], max_bytes: int) -> str:
    """Return the reason for a worker's end by what it said last: memory in the words of Python, C++ and R, or else."""
    message = (worker.stderr.read().strip() or "no message").splitlines()[-1][:200]
    if any(words in message for words in OUT_OF_MEMORY):
        return f"memory: more than {max_bytes / 1e9:.0f} GB"
    return f"failed: {message}"


def end(worker: subprocess.Popen[str]) -> None:
    """End a worker and the R it may have started: left alone, R would go on and disturb the next fit."""
    with suppress(ProcessLookupError):
        os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()
    for pipe in (worker.stdin, worker.stdout, worker.stderr):
        pipe.close()


def read_line(worker: subprocess.Popen[str], limit: float) -> str:
    """Read a line that must come within ``limit`` seconds; empty if the worker ended."""
    if not select.select([worker.stdout], [], [], limit)[0]:
        raise TimeoutError
    return worker.stdout.readline()


# ------------------------------------------------------------------------------------------- what the rows say


def describe(mean: pd.Series) -> str:
    """Return time and memory, or why there are none."""
    return mean.reason if math.isnan(mean.seconds) else f"{seconds(mean.seconds)}, {number(mean.megabytes)} MB"


def facts(rows: pd.DataFrame) -> dict[str, Any]:
    """Return what the text says."""
    sizes, plg = rows["p"].unique(), original(rows, "plg")
    means = rows.groupby(["method", "p"], sort=False).agg(
        seconds=("seconds", geometric_mean), megabytes=("peak_mb", "mean"), reason=("reason", "first")
    )
    table = means.apply(describe, axis=1).unstack("p").reindex(rows["method"].unique())
    reached = rows.dropna(subset="seconds").groupby("method")["p"].max().reindex([plg, "isinglass"], fill_value=0)
    stopped = pick(rows, method=plg).dropna(subset="reason")
    ours = pick(rows, method="isinglass")
    return {
        "sizes": sizes,
        "first": rows.iloc[0],
        "penalties": rows.groupby("p")["lambda"].first(),
        "edges": ours.groupby("p")["n_edges"].mean().dropna(),
        "tables": rows["trial"].max() + 1,
        "table": table.rename(index=figures.label).rename_axis(None),
        "plg": plg,
        "reached": reached,
        "stopped": None if stopped.empty else stopped.iloc[0],
        "verdicts": {"scales": judge(reached[plg] == sizes[-1], reached[plg] > sizes[0])},
    }


def draw(rows: pd.DataFrame) -> figures.Figure:
    """Draw time and memory against p; a cross where a method was stopped."""
    figure, grid = figures.new_figure(2, size=(9.4, 4.2))
    finished = rows.dropna(subset="seconds")
    for name, axes in (("seconds", grid[0, 0]), ("peak_mb", grid[0, 1])):
        means = np.exp(np.log(finished[name]).groupby([finished["method"], finished["p"]], sort=False).mean())
        for method in finished["method"].unique():
            figures.draw_line(axes, method, means[method].index, means[method])
        figures.log_axis(axes.xaxis, sorted(rows["p"].unique()))
        axes.set(yscale="log", xlabel="p")
    mark_limits(grid[0, 0], rows)
    grid[0, 0].set_ylabel("seconds of one fit")
    figures.log_axis(grid[0, 1].yaxis)
    grid[0, 1].set_ylabel("peak memory of the process, MB")
    figures.add_legend(figure, grid[0, 1])
    return figure


def mark_limits(axes: Any, rows: pd.DataFrame) -> None:
    """Put a cross at the top of the panel where a method was stopped, the crosses of one p side by side."""
    axes.margins(y=0.15)
    stopped = rows.dropna(subset="reason")
    top = 2.0 * rows["seconds"].max()
    for p, found in stopped[~stopped["reason"].astype(str).str.startswith("not tried")].groupby("p"):
        for k, row in enumerate(found.itertuples()):
            place = p * 1.12 ** (k - (len(found) - 1) / 2)
            style = figures.METHODS[row.method]
            marker = "x" if style.line == "-" else "+"
            axes.plot(place, top, marker=marker, color=style.color, markersize=7, linestyle="")
            word = row.reason.split(":")[0]
            axes.annotate(word, (place, top), (0, 6), textcoords="offset points", ha="center", fontsize=6, rotation=45)
