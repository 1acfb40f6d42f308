"""How often the check of a model flags a network that is right, and one that is not.

    python benchmarks/checks.py [--quick]

Right: the network that a table was drawn from, and the default network estimated from the table. Wrong: a network of
pairs with a small penalty on columns that share a drive, as neurons do.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from isinglass import Network, exact, ising_path, metrics, simulate
from isinglass.select import Method


def draw_model(seed: int) -> Network:
    """Return one of four kinds in turn, two of which are small enough to be enumerated."""
    kinds = (
        lambda: simulate.grid_network(4, 4, strength=1.0, fields="balanced"),
        lambda: simulate.random_network(18, edge_probability=0.2, random_state=seed),
        lambda: simulate.grid_network(5, 6, strength=0.8, couplings="mixed", fields="balanced", random_state=seed),
        lambda: simulate.random_network(30, edge_probability=0.1, random_state=seed),
    )
    return kinds[seed % 4]()


def draw_neurons(seed: int, n_rows: int = 3000) -> np.ndarray:
    """Return columns with a common drive."""
    rng = np.random.default_rng(seed)
    logits = -2.5 + 1.2 * rng.normal(size=(n_rows, 1)) + 0.3 * rng.normal(size=(n_rows, 50))
    return (rng.random((n_rows, 50)) < 1 / (1 + np.exp(-logits))).astype(np.uint8)


def main(n_tables: int, n_fits: int, n_neurons: int) -> None:
    """Print the shares of tables that are flagged."""
    flagged = {"true network": [], "default network": [], "dense network of neurons": []}
    for seed in range(n_tables):
        model = draw_model(seed)
        draw = exact.exact_sample if model.n_features <= 20 else simulate.gibbs_sample
        options = {} if model.n_features <= 20 else {"n_chains": 500}
        X = draw(model, 500, random_state=seed, **options)
        flagged["true network"].append(not metrics.check_model(X, model, random_state=seed).passed)
        if seed < n_fits:
            fit = Method(standard_errors=False).fit(X)
            flagged["default network"].append(not fit.check(X, random_state=seed).passed)
    for seed in range(n_neurons):
        X = draw_neurons(seed)
        network = ising_path(X, [0.0005])[0].network
        flagged["dense network of neurons"].append(not metrics.check_model(X, network, random_state=seed).passed)
    for name, found in flagged.items():
        print(f"{name}: {sum(found)} of {len(found)} tables flagged", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    warnings.simplefilter("ignore")
    main(*(8, 4, 2) if parser.parse_args().quick else (200, 40, 20))
