"""Tables in parts: the fit on workers beside the fit in memory, how time grows with rows, and the largest tables.

    .venv/bin/python benchmarks/parts.py workers            # 6 000 000 × 100 from 24 Parquet files
    .venv/bin/python benchmarks/parts.py growth             # 250 000 to 4 000 000 rows, in parts
    .venv/bin/python benchmarks/parts.py sparse             # 500 000 × 2000, 2 % ones
    .venv/bin/python benchmarks/parts.py cells              # 30 000 000 × 100 in memory
    .venv/bin/python benchmarks/parts.py whole --rows 2000000 --columns 50   # bytes per cell and per pair, not in parts
    .venv/bin/python benchmarks/parts.py workers --rows 60000   # anything smaller

Prints one JSON object per measurement; docs/scale.md quotes the full sizes. Times are of the clock, around the path
alone; memory is the peak of the process, parents and workers apart.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import isinglass
from isinglass import ising_path, read_parts

RATIO = 0.3  # alpha over the smallest alpha without edges


def peak_gb() -> float:
    """Return the largest resident size of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def chain(n_rows: int, n_columns: int, seed: int) -> NDArray[np.uint8]:
    """Return rows of a chain in which a column depends on the two before it; sampled exactly, column by column."""
    rng = np.random.default_rng(seed)
    columns = np.zeros((n_columns, n_rows), dtype=np.uint8)
    for j in range(n_columns):
        before = columns[j - 1] if j > 0 else 0
        second = columns[j - 2] if j > 1 else 0
        share = 1 / (1 + np.exp(0.8 - np.array([0.0, 1.0, 0.7, 1.7])))  # by what the two are
        columns[j] = rng.random(n_rows) < share[before + 2 * second]
    return np.ascontiguousarray(columns.T)


def write_files(folder: pathlib.Path, n_rows: int, n_columns: int, n_files: int) -> None:
    """Write the chain as Parquet files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for number in range(n_files):
        rows = chain(n_rows // n_files, n_columns, number)
        names = [f"x{j}" for j in range(n_columns)]
        pq.write_table(pa.table(dict(zip(names, rows.T, strict=True))), folder / f"part{number:03}.parquet")


def measure(table: object, alphas: object) -> tuple[isinglass.Solution, dict[str, float]]:
    """Return the last solution of a path, and the seconds it took by the clock and of this process's threads."""
    start, used = time.perf_counter(), time.process_time()
    path = ising_path(table, alphas)  # type: ignore[arg-type]
    return path[-1], {"seconds": time.perf_counter() - start, "processor": time.process_time() - used}


def say(**found: object) -> None:
    """Print one measurement."""
    print(json.dumps(found), flush=True)


def describe(solution: isinglass.Solution) -> dict[str, object]:
    """Return what is said of every solution."""
    return {
        "edges": solution.n_edges,
        "steps": solution.n_iter,
        "converged": bool(solution.converged),
        "kkt": solution.kkt_residual,
        "gap": solution.duality_gap,
    }


def on_workers(folder: pathlib.Path, alpha: float, out: pathlib.Path) -> None:
    """Fit the files on two workers of 3 GB, the client beside them."""
    from dask.distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": "3GB", "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        start = time.perf_counter()
        table = read_parts(str(folder / "*.parquet"))
        reading = time.perf_counter() - start
        ising_path(table, [2 * alpha])  # the parts are on the workers from here on
        solution, seconds = measure(table, [alpha])
        workers = list(client.run(peak_gb).values())
    say(
        what="workers",
        **seconds,
        reading=reading,
        client_gb=peak_gb(),
        workers_gb=workers,
        **describe(solution),
    )
    np.savez(out, edges=solution.edge_index, values=solution.edge_values)


def in_memory(folder: pathlib.Path, alpha: float, out: pathlib.Path) -> None:
    """Fit the same rows in one process with two threads."""
    import pyarrow.parquet as pq

    files = sorted(folder.glob("*.parquet"))
    X = np.concatenate([np.column_stack([c.to_numpy() for c in pq.read_table(f).columns]) for f in files])
    solution, seconds = measure(np.ascontiguousarray(X), [alpha])
    say(what="memory", **seconds, gb=peak_gb(), **describe(solution))
    np.savez(out, edges=solution.edge_index, values=solution.edge_values)


def compare(n_rows: int, n_columns: int) -> None:
    """Fit on workers and in memory, in processes of their own, one after the other."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_files(folder, n_rows, n_columns, 24)
        sample = chain(min(n_rows, 100_000), n_columns, 0)
        alpha = RATIO * isinglass.objective.Objective(sample).alpha_max()
        for how in ("in-memory", "on-workers"):
            arguments = [how, "--folder", name, "--alpha", repr(alpha), "--out", str(folder / f"{how}.npz")]
            subprocess.run([sys.executable, __file__, *arguments], check=True)
        one, two = (np.load(folder / f"{how}.npz") for how in ("in-memory", "on-workers"))
        same = np.array_equal(one["edges"], two["edges"])
        difference = float(np.abs(one["values"] - two["values"]).max()) if same else None
        say(what="difference", same_edges=bool(same), couplings=difference)


def growth(n_rows: int, n_columns: int) -> None:
    """Fit a sixteenth of the rows, an eighth, …, all of them, always in parts of the same size."""
    part = n_rows // 64
    blocks = [chain(part, n_columns, number) for number in range(64)]
    alpha = RATIO * isinglass.objective.Objective(blocks[0]).alpha_max()
    for share in (16, 8, 4, 2, 1):
        table = read_parts(blocks[: 64 // share], client=False)
        solution, seconds = measure(table, [alpha])
        say(what="growth", rows=part * (64 // share), **seconds, gb=peak_gb(), **describe(solution))


def sparse(n_rows: int, n_columns: int) -> None:
    """Fit rare marks: every second column takes over a third of those of the column before it."""
    rng = np.random.default_rng(0)
    columns = []
    for j in range(n_columns):
        rows = rng.choice(n_rows, int(0.02 * n_rows), replace=False)
        if j % 2:
            taken = columns[-1][: len(rows) // 3]
            rows = np.unique(np.concatenate([taken, rows[: len(rows) - len(taken)]]))
        columns.append(rng.permutation(rows))
    lengths = np.array([len(rows) for rows in columns])
    X = sp.csc_array(
        (np.ones(lengths.sum(), dtype=np.uint8), np.concatenate(columns), np.concatenate([[0], np.cumsum(lengths)])),
        shape=(n_rows, n_columns),
    ).tocsr()
    start = peak_gb()
    solution, seconds = measure(X, [0.002])
    planted = {(j - 1, j) for j in range(1, n_columns, 2)}
    found = set(map(tuple, solution.edge_index.tolist()))
    say(
        what="sparse",
        **seconds,
        gb_before=start,
        gb=peak_gb(),
        planted_found=len(found & planted),
        **describe(solution),
    )


def cells(n_rows: int, n_columns: int) -> None:
    """Fit as many cells as 24 GB hold, from an array in memory."""
    X = np.empty((n_rows, n_columns), dtype=np.uint8)
    at_once = max(n_rows // 60, 1)
    for number, first in enumerate(range(0, n_rows, at_once)):
        X[first : first + at_once] = chain(len(X[first : first + at_once]), n_columns, number)
    alpha = RATIO * isinglass.objective.Objective(X[:at_once]).alpha_max()
    start = peak_gb()
    solution, seconds = measure(X, [alpha])
    say(what="cells", cells=X.size, **seconds, gb_before=start, gb=peak_gb(), **describe(solution))


def whole(n_rows: int, n_columns: int) -> None:
    """Fit a table as it is: bytes above those before the fit, per cell and per pair."""
    rng = np.random.default_rng(0)
    X = np.empty((n_rows, n_columns), dtype=np.uint8)
    for first in range(0, n_rows, 100_000):
        X[first : first + 100_000] = rng.random((len(X[first : first + 100_000]), n_columns)) < 0.4
    sample = X[:100_000, :200]
    share = 0.9 if n_columns > n_rows else RATIO * (len(sample) / n_rows) ** 0.5  # of what is noise alone
    alpha = share * isinglass.objective.Objective(sample).alpha_max()
    start = peak_gb()
    solution, seconds = measure(X, [alpha])
    taken = (peak_gb() - start) * 2**30
    pairs = n_columns * (n_columns - 1) / 2
    say(what="whole", **seconds, gb=peak_gb(), per_cell=taken / X.size, per_pair=taken / pairs, **describe(solution))


SIZES = {
    "workers": (compare, 6_000_000, 100),
    "growth": (growth, 4_000_000, 100),
    "sparse": (sparse, 500_000, 2000),
    "cells": (cells, 30_000_000, 100),
    "whole": (whole, 2_000_000, 50),
}


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=[*SIZES, "in-memory", "on-workers"])
    parser.add_argument("--rows", type=int)
    parser.add_argument("--columns", type=int)
    for name in ("folder", "out"):
        parser.add_argument(f"--{name}", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--alpha", type=float, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.what in SIZES:
        run, n_rows, n_columns = SIZES[asked.what]
        run(asked.rows or n_rows, asked.columns or n_columns)
    else:
        {"in-memory": in_memory, "on-workers": on_workers}[asked.what](asked.folder, asked.alpha, asked.out)


if __name__ == "__main__":
    main()
