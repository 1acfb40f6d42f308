"""Joint likelihoods: log Z by sampling against the exact one, and held-out likelihoods of real tables.

    python benchmarks/likelihood.py networks            # 20 networks of 20 columns, 8 of 60
    python benchmarks/likelihood.py tables FOLDER ...   # NAME.train.csv.gz and NAME.test.csv.gz: 0/1, without a header

``--quick`` takes two networks of each kind.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from isinglass import Method, Network, metrics, simulate
from isinglass.evaluate.likelihood import sample_partition


def draw_network(n_columns: int, seed: int) -> Network:
    """Return one of four kinds in turn: random edges, a grid, a glass of both signs, and few strong hubs."""
    rng, rows = np.random.default_rng(seed), {20: 4, 60: 6}[n_columns]
    if seed % 4 == 0:
        return simulate.random_network(n_columns, edge_probability=3.0 / n_columns, random_state=seed)
    if seed % 4 == 1:
        return simulate.grid_network(rows, n_columns // rows, strength=1.0, fields="balanced")
    if seed % 4 == 2:
        return simulate.grid_network(
            rows, n_columns // rows, couplings="mixed", strength=2.0, fields="balanced", random_state=seed
        )
    pairs = [(hub, t) for hub in range(3) for t in range(3, n_columns)]
    return Network(rng.normal(-1.0, 0.5, n_columns), pairs, rng.normal(0.5, 0.5, len(pairs)))


def compare_networks(quick: bool) -> None:
    """Print the difference of the sampled log Z from the exact one, and the error that it states."""
    print("columns,seed,exact,difference,error,lower,upper,cpu_s")
    for n_columns, count in ((20, 20), (60, 8)):
        for seed in range(2 if quick else count):
            network = draw_network(n_columns, seed)
            true = metrics.log_partition(network).value
            started = time.process_time()
            found = sample_partition(network, 0.02, seed)
            spent = time.process_time() - started
            bounds = f"{found.lower - true:+.4f},{found.upper - true:+.4f}"
            difference = f"{found.value - true:+.4f},{found.error:.4f}"
            print(f"{n_columns},{seed},{true:.4f},{difference},{bounds},{spent:.1f}", flush=True)


def score_tables(folder: Path, names: list[str]) -> None:
    """Print held-out log-likelihoods of the default network."""
    print("table,rows,columns,edges,log_likelihood,error,how,pseudo,cpu_s,cpu_s_of_the_fit")
    for name in names:
        train, test = (
            np.loadtxt(folder / f"{name}.{part}.csv.gz", delimiter=",", dtype=np.uint8) for part in ("train", "test")
        )
        started = time.process_time()
        fit = Method(standard_errors=False).fit(train)
        fitted = time.process_time()
        partition = fit.network.log_partition()
        value = fit.log_likelihood(test)
        ended = time.process_time()
        print(
            f"{name},{len(train)},{train.shape[1]},{fit.network.n_edges},{value:.3f},{partition.error:.3f},"
            f"{'sampled' if partition.error else 'exact'},{fit.score(test):.3f},"
            f"{ended - started:.0f},{fitted - started:.0f}",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["networks", "tables"])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    if given.what == "networks":
        compare_networks(given.quick)
    else:
        score_tables(given.folder, given.names)
