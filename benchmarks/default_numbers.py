"""How long the default takes on tables of every kind, beside the times that were asked for: some ten quiet minutes.

    PYTHONPATH=tests python benchmarks/default_numbers.py --tables DIR [--only senate six holes]

Elapsed seconds with all threads, and processor seconds beside them; the share of the possible gain is that of the best
network of a plain path, picked on the test rows. The tables of Lowd and Davis are read from DIR; all others are drawn
here. Small fits are repeated, and the fastest counts.
"""

from __future__ import annotations

import argparse
import math
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from choosing import best_plain, read_file, score
from isingfit import TABLES, time_isingfit
from networks import make_table
from numpy.typing import NDArray
from parts import write_files
from potts import draw, plant

from isinglass import IsingNetwork, Network, Run, Solution, Table, as_table, bootstrap, ising_path, read_parts, simulate
from isinglass.data import AnyTable
from isinglass.datasets import load_senate109
from isinglass.errors import IsinglassWarning, suppress_warnings
from isinglass.estimators.base import IsingEstimator
from isinglass.penalties import smoothed_field
from isinglass.solve.alphas import alpha_grid
from isinglass.solve.path import alpha_max

Codes = NDArray[np.uint8]
RESAMPLES = 20, 120


def fit(X: Codes | AnyTable) -> IsingEstimator:
    """Return the default network of a table."""
    with suppress_warnings(IsinglassWarning):
        return IsingNetwork().fit(X)


def time_fit(X: Codes | AnyTable, repeats: int = 1) -> tuple[float, float, int, IsingEstimator]:
    """Return elapsed and processor seconds of the fastest of some fits, the number of edges, and the fit."""
    found = []
    for _ in range(repeats):
        elapsed, processor = time.perf_counter(), time.process_time()
        fitted = fit(X)
        seconds = time.perf_counter() - elapsed, time.process_time() - processor
        found.append((*seconds, fitted.network_.n_edges, fitted))
    return min(found, key=lambda each: each[0])


def show(what: str, asked: str, X: Codes | Table, repeats: int = 1) -> None:
    """Time a table, and print a line."""
    elapsed, processor, n_edges, _ = time_fit(X, repeats)
    print(f"| {what} | {asked} | {elapsed:.2f} s, {processor:.2f} of processor time; {n_edges} edges |", flush=True)


# ------------------------------------------------------------------------------------------------------- tables


def answers(n_rows: int, n_columns: int, seed: int) -> NDArray[np.float64]:
    """Return numbers that depend on five factors, each on one of them, and a little on one that all share."""
    rng = np.random.default_rng(seed)
    loadings = rng.uniform(0.5, 1.0, n_columns) * rng.choice([-1.0, 1.0], n_columns)
    factors = rng.normal(size=(n_rows, 5))[:, np.arange(n_columns) % 5]
    return loadings * factors + 0.25 * rng.normal(size=(n_rows, 1)) + 0.9 * rng.normal(size=(n_rows, n_columns))


def six_levels(share_missing: float = 0.0) -> Table:
    """Return 2 400 answers to 25 questions with six levels, some of them missing."""
    numbers = answers(2400, 25, seed=0)
    cuts = np.quantile(numbers, [0.1, 0.3, 0.5, 0.7, 0.88], axis=0)
    levels = (numbers[:, :, None] > cuts.T).sum(axis=2).astype(float)
    levels[np.random.default_rng(1).random(levels.shape) < share_missing] = np.nan
    with suppress_warnings(IsinglassWarning):
        return as_table(levels, kinds="ordinal", missing="impute").whole()


def beside_nominal(field: float) -> tuple[Codes, Table]:
    """Return a chain of 265 two-valued columns, alone and beside 35 categories that depend on five of them."""
    rng = np.random.default_rng(2)
    chain = simulate.chain_network(265, strength=1.0, fields="balanced")
    model = Network(chain.fields + field, chain.edge_index, chain.edge_values)
    X = np.asarray(simulate.gibbs_sample(model, 1800, burn_in=50, n_chains=1800, random_state=3), dtype=np.uint8)
    group = np.where(rng.random(1800) < 0.6, X[:, ::60] @ [1, 2, 4, 8, 16], rng.integers(0, 35, 1800))
    return X, make_table(np.column_stack([group, X]), ["nominal", *["binary"] * 265])


def mutations() -> Codes:
    """Return 400 rows of 950 columns with 2 % ones, more in some rows than in others."""
    rng = np.random.default_rng(4)
    chances = np.clip(rng.gamma(2.0, 0.5, (400, 1)) * rng.gamma(2.0, 0.01, 950), 0.0, 0.5)
    return (rng.random((400, 950)) < chances).astype(np.uint8)


# ------------------------------------------------------------------------------------------------------ numbers


def share_of_gain(solution: Solution, train: Codes, test: Codes) -> float:
    """Return the share of the possible gain in the prediction of test rows."""
    nothing = np.empty((0, 2), dtype=np.int32), np.empty(0)
    null = score(Solution(Network(smoothed_field(train.sum(axis=0), len(train)), *nothing), 1.0), test)
    with suppress_warnings(IsinglassWarning):
        best, _ = best_plain(train, test)
    return (score(solution, test) - null) / (best - null)


def shares(folder: Path) -> None:
    """Print the shares of the possible gain on the smaller tables of Lowd and Davis."""
    for name in ("nltcs", "mushrooms", "dna"):
        train, test = read_file(folder, name)
        fitted = fit(train)
        share = share_of_gain(fitted.fit_.solution, train, test)
        print(f"| {name} | as before | {share:.4f} of the gain; {fitted.network_.n_edges} edges |", flush=True)


def counts(folder: Path) -> None:
    """Print whether the number of alphas changes the network."""
    tables: dict[str, Codes | Table] = {"six levels": six_levels()}
    tables |= {name: read_file(folder, name)[0] for name in ("nltcs", "mushrooms", "plants")}
    for name, X in tables.items():
        with suppress_warnings(IsinglassWarning):
            found = [IsingNetwork(alphas=count).fit(X).network_ for count in (20, 30, 50, 100)]
        same = len({network.edge_values.tobytes() for network in found}) == 1
        print(f"| {name}, 20, 30, 50, 100 alphas | the same network | {'to the bit' if same else 'NO'} |", flush=True)


def beside_isingfit(folder: Path) -> None:
    """Print the ratios to the regressions of IsingFit: eight columns of glmnet, scaled to all."""
    ratios = []
    for name in TABLES:
        path = folder / f"{name}.train.csv.gz"
        X = np.loadtxt(path, delimiter=",", dtype=np.uint8)
        varying = np.flatnonzero((X.sum(0) > 1) & (X.sum(0) < len(X) - 1))
        rival = time_isingfit(path, varying[np.linspace(0, len(varying) - 1, 8).astype(int)].tolist()) * len(varying)
        elapsed, processor, n_edges, fitted = time_fit(X, repeats=2 if name == "jester" else 1)
        ratios.append(rival / elapsed)
        share = share_of_gain(fitted.fit_.solution, *read_file(folder, name))
        own = f"{elapsed:.1f} s, {processor:.1f} of processor time; {n_edges} edges, {share:.4f} of the gain"
        print(f"| {name} | 4 × IsingFit, < 60 s | {ratios[-1]:.1f} × ({rival:.0f} s); {own} |", flush=True)
    mean = math.exp(statistics.mean(map(math.log, ratios)))
    print(f"| their geometric mean | 8 × | {mean:.1f} × |", flush=True)


def senate() -> None:
    """Time the votes of the Senate."""
    votes = load_senate109().votes
    show("Senate, 279 × 100", "0.6 s", np.where(np.isnan(votes), 0, votes).astype(np.uint8), repeats=5)


def resamples() -> None:
    """Time resamples of the questionnaire by two jobs, and scale them to a thousand.

    The difference of many and few resamples has no part of the fit of the whole table and of starting processes.
    """
    table, seconds = six_levels(), []
    for reselect, asked in ((True, 360), (False, 90)):
        taken = []
        for n_boot in RESAMPLES:
            start = time.perf_counter()
            with suppress_warnings(IsinglassWarning):
                bootstrap(table, n_boot=n_boot, reselect=reselect, run=Run(n_jobs=2, progress=False))
            taken.append(time.perf_counter() - start)
        few, many = RESAMPLES
        seconds.append((taken[1] - taken[0]) / (many - few))
        what = f"1 000 resamples of it, {'default' if reselect else 'penalty kept'}"
        own = f"{1000 * seconds[-1]:.0f} s (from {few} and {many} resamples, two jobs)"
        print(f"| {what} | {asked} s | {own} |", flush=True)
    print(f"| default over penalty kept | 2 × | {seconds[0] / seconds[1]:.2f} × |", flush=True)


def time_path(X: Codes | Table, alphas: NDArray[np.float64]) -> float:
    """Return processor seconds of a path on one thread."""
    start = time.process_time()
    with suppress_warnings(IsinglassWarning):
        ising_path(X, alphas, n_threads=1)
    return time.process_time() - start


def nominal() -> None:
    """Time paths of two-valued columns with and without a nominal one, in turns."""
    for name, field in (("half ones", 0.0), ("few ones", -2.0)):
        alone, beside = beside_nominal(field)
        alphas = alpha_grid(alpha_max(alone), 10, alpha_min_ratio=0.2)
        pairs = [(time_path(alone, alphas), time_path(beside, alphas)) for _ in range(5)]
        ratio = statistics.median(two / one for one, two in pairs)
        seconds = f"{pairs[-1][0]:.2f} and {pairs[-1][1]:.2f} s"
        print(f"| 35 categories beside 265 two-valued, {name} | 3 × | {ratio:.1f} × ({seconds}) |", flush=True)


def letters() -> None:
    """Time sequences of 21 letters with 150 contacts."""
    X = draw(plant(95, 21, 150, 0.6, 1), 1300, 2)
    table = make_table(X, "nominal", categories=[range(21)] * 95)
    elapsed, processor, n_edges, _ = time_fit(table)
    own = f"{elapsed:.0f} s, {processor:.0f} of processor time; {n_edges} edges"
    print(f"| 21 letters, 1 300 × 95 | 120 s, not empty | {own} |", flush=True)


def in_parts() -> None:
    """Time 10⁷ rows in 20 Parquet files on two workers, which are given 3 GB each, from the files to the fit."""
    from dask.distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": "3GB", "dashboard_address": ":0"}
    with tempfile.TemporaryDirectory() as folder, LocalCluster(**options) as cluster, Client(cluster):
        write_files(Path(folder), 10_000_000, 50, 20)
        start = time.perf_counter()
        table = read_parts(f"{folder}/*.parquet")
        reading = time.perf_counter() - start
        elapsed, processor, n_edges, _ = time_fit(table)
    own = (
        f"{reading:.0f} s of reading, {elapsed:.0f} s, {processor:.0f} of processor time in the client; {n_edges} edges"
    )
    print(f"| 10⁷ × 50 in parts, two workers | 300 s | {own} |", flush=True)


def main() -> None:
    """Print a line per number."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=Path, required=True)
    numbers: dict[str, Callable[[], None]] = {
        "senate": senate,
        "six": lambda: show("six levels, 2 400 × 25", "1.5 s", six_levels(), repeats=3),
        "holes": lambda: show("the same, 1 % imputed", "5 s", six_levels(0.01), repeats=2),
        "bootstrap": resamples,
        "nominal": nominal,
        "rare": lambda: show("mutations, 400 × 950, 2 % ones", "15 s", mutations()),
        "letters": letters,
        "counts": lambda: counts(options.tables),
        "shares": lambda: shares(options.tables),
        "isingfit": lambda: beside_isingfit(options.tables),
        "parts": in_parts,  # last: Dask leaves one thread to the process that starts a LocalCluster
    }
    parser.add_argument("--only", nargs="+", default=list(numbers), choices=list(numbers))
    options = parser.parse_args()
    print("| table | asked | measured |\n|---|---|---|")
    for name in options.only:
        numbers[name]()


if __name__ == "__main__":
    main()
