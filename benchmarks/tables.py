"""Speed of `read_table` on text beside pandas, polars and pyarrow.

``python benchmarks/tables.py --pyarrow`` prints how much more processor time than pyarrow it takes for 1 000 000 × 50
answers, as digits and as words: the median ratio of alternating runs, and both times. pyarrow infers the types.
``python benchmarks/tables.py`` prints a table and writes docs/benchmarks/tables.csv. All readers take turns on the same
files in the same run, and the median counts. Ours finds delimiter, header and row names, checks every cell and returns
bytes; the others are told the layout where they need it, and are timed for reading alone ("frame") and for reading
with conversion to bytes ("bytes"), which is closer to what ours does.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import machine
import numpy as np
import pandas as pd
import polars as pl
import pyarrow
import pyarrow.csv

from isinglass import read_table

RESULTS = Path(__file__).resolve().parents[1] / "docs" / "benchmarks" / "tables.csv"
N_ROWS, N_COLUMNS, REPEATS = 4000, 1000, 15
LARGE_ROWS, LARGE_COLUMNS, LARGE_REPEATS = 1_000_000, 50, 5


def write_files(folder: Path, n_rows: int, n_columns: int) -> dict[str, Path]:
    """Write the same bits with a header alone, with row names as pandas writes them, and as answers."""
    bits = np.random.default_rng(0).integers(0, 2, size=(n_rows, n_columns), dtype=np.uint8)
    frame = pd.DataFrame(bits, columns=[f"q{j}" for j in range(n_columns)])
    files = {kind: folder / f"{kind.replace(' ', '_')}.csv" for kind in ("bits", "bits and row names", "answers")}
    frame.to_csv(files["bits"], index=False)
    frame.to_csv(files["bits and row names"])
    frame.replace({0: "No", 1: "Yes"}).to_csv(files["answers"], index=False)
    return files


def readers(kind: str, path: Path) -> dict[str, Callable[[], object]]:
    """Return what is timed; everything that returns bytes returns the same ones."""
    answers, index = kind == "answers", 0 if kind == "bits and row names" else None

    def pandas_bytes() -> object:
        frame = pd.read_csv(path, index_col=index)
        return ((frame == "Yes") if answers else frame).to_numpy(np.uint8)

    def polars_bytes() -> object:
        frame = pl.read_csv(path)
        frame = frame if index is None else frame[:, 1:]
        return np.ascontiguousarray((frame == "Yes" if answers else frame).to_numpy(), dtype=np.uint8)

    return {
        "isinglass": lambda: read_table(path, encode={"Yes": 1, "No": 0} if answers else None).codes,
        "pandas, frame": lambda: pd.read_csv(path, index_col=index),
        "pandas, bytes": pandas_bytes,
        "polars, frame": lambda: pl.read_csv(path),
        "polars, bytes": polars_bytes,
    }


def measure(calls: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Return the median seconds of every reader; they take turns, so that a slow moment hits all of them."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    tables = {name: call() for name, call in calls.items() if "frame" not in name}  # also warms the file cache
    reference = np.asarray(tables["isinglass"])
    assert all(np.array_equal(table, reference) for table in tables.values())
    for _ in range(repeats):
        for name, call in calls.items():
            begin = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - begin)
    return {name: statistics.median(values) for name, values in seconds.items()}


def compare_with_pyarrow(folder: Path, n_rows: int, n_columns: int, repeats: int) -> None:
    """Print the ratio of processor times to pyarrow's, for columns of five digits and of five words."""
    answers = np.random.default_rng(0).integers(0, 5, size=(n_rows, n_columns), dtype=np.uint8)
    for name, words, kind in (
        ("digits", ["1", "2", "3", "4", "5"], "ordinal"),
        ("words", ["never", "rarely", "sometimes", "often", "always"], "nominal"),
    ):
        path = folder / f"{name}.csv"
        header = [f"q{j}" for j in range(n_columns)]
        columns = {
            label: pd.Categorical.from_codes(codes, words) for label, codes in zip(header, answers.T, strict=True)
        }
        pd.DataFrame(columns).to_csv(path, index=False)
        times = []
        for _ in range(repeats + 1):
            begin = time.process_time()
            read_table(path, kinds=kind)
            middle = time.process_time()
            pyarrow.csv.read_csv(path)
            times.append((middle - begin, time.process_time() - middle))
        ours, theirs = (statistics.median(seconds) for seconds in zip(*times[1:], strict=True))  # the first warms up
        ratios = sorted(one / other for one, other in times[1:])
        spread = f"{statistics.median(ratios):.2f} times pyarrow ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        print(f"{name:7} {spread}: {ours:.2f} s and {theirs:.2f} s")
        path.unlink()


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=N_ROWS)
    parser.add_argument("--columns", type=int, default=N_COLUMNS)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--pyarrow", action="store_true", help="compare with pyarrow on a large table only")
    options = parser.parse_args()
    when, load = machine.now(), machine.load_average()
    if options.pyarrow:
        large = options.rows if options.rows != N_ROWS else LARGE_ROWS
        with tempfile.TemporaryDirectory() as folder:
            compare_with_pyarrow(Path(folder), large, LARGE_COLUMNS, LARGE_REPEATS)
        print(f"{machine.cpu_model()}; load at the start {load:.2f}; pyarrow {pyarrow.__version__}; {when}")
        return
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for kind, path in write_files(Path(folder), options.rows, options.columns).items():
            for name, seconds in measure(readers(kind, path), options.repeats).items():
                rows.append([kind, options.rows, options.columns, name, f"{seconds:.4f}"])
                print(f"{kind:20} {name:15} {seconds * 1e3:8.1f} ms")
    print(f"{machine.cpu_model()}; load at the start {load:.2f}; pandas {pd.__version__}, polars {pl.__version__}")
    partial = options.output.with_suffix(".partial")
    with partial.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["table", "rows", "columns", "reader", "seconds", "date", "load", "cpu"])
        writer.writerows([*row, when, f"{load:.2f}", machine.cpu_model()] for row in rows)
    partial.replace(options.output)


if __name__ == "__main__":
    main()
