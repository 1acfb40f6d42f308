"""How often intervals of 95 % hold the true coupling, with row weights of every kind.

    python benchmarks/coverage.py            1 500 intervals of each kind, as docs/trusting.md has them
    python benchmarks/coverage.py --quick    200 of each

The network is known beforehand: a chain of 6 columns. Kinds of weights: none; exponential sampling weights that have
nothing to do with the rows; sampling weights that undo a design in which half of the rows are drawn less often, which
half depending on what they hold; counts of the rows of a contingency table.
"""

from __future__ import annotations

import argparse

import numpy as np

from isinglass import Fixed, Method, as_table, bootstrap, ising_path, refit, simulate
from isinglass.penalties import penalty_on

MODEL = simulate.chain_network(6, strength=1.0, fields="balanced")
N_ROWS, TABLES = 600, 300
KINDS = ("none", "sampling", "informative", "counts")


def draw(kind: str, seed: int):
    """Return a table and its weights."""
    rng = np.random.default_rng([seed, 1])
    X = simulate.exact_sample(MODEL, 3 * N_ROWS if kind == "informative" else N_ROWS, random_state=seed)
    if kind == "sampling":
        return as_table(X, weight_kind="sampling"), rng.exponential(size=N_ROWS)
    if kind == "informative":  # rows with two ones side by side are drawn with a quarter of the probability
        chance = np.where(X[:, 0] & X[:, 1], 0.2, 0.8)
        drawn = rng.random(len(X)) < chance
        return as_table(X[drawn], weight_kind="sampling"), 1.0 / chance[drawn]
    if kind == "counts":
        cells, counts = np.unique(X, axis=0, return_counts=True)
        return as_table(cells, weight_kind="counts"), counts
    return X, None


def measure(kind: str, n_tables: int, seed: int = 0, n_boot: int = 0) -> float:
    """Return the share of intervals that hold the true coupling: of `refit`, or of the bootstrap if ``n_boot``."""
    held = []
    for number in range(n_tables):
        X, weight = draw(kind, 10_000 * seed + number)
        if n_boot:
            method = Method(selector=Fixed(1e-6), penalty_weights=penalty_on(MODEL.edge_index, MODEL.n_features, 1.0))
            found = bootstrap(X, method, n_boot=n_boot, sample_weight=weight, random_state=number)
            lower, _, upper = found.edge_quantiles
        else:
            network = ising_path(X, [0.02], sample_weight=weight, penalty_weights=penalty_on(MODEL.edge_index, 6, 1.0))
            lower, upper = refit(X, network[0], sample_weight=weight).edge_intervals().T
        held.append((lower <= MODEL.edge_values) & (MODEL.edge_values <= upper))
    return float(np.mean(held))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    tables = 40 if parser.parse_args().quick else TABLES
    print("weights      refit  bootstrap")
    for kind in KINDS:
        print(f"{kind:<11} {measure(kind, tables):6.1%} {measure(kind, tables, n_boot=200):10.1%}", flush=True)
