"""Fit a fixed list of tables, to see whether a change of the code changes a result.

``python tools/same_fits.py before.npz`` stores the networks and certificates of the list, and
``python tools/same_fits.py --compare before.npz after.npz`` compares two such files from one kind of processor: fits of
two-valued columns must agree to the bit, those with categories to 1e-9.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterable

import numpy as np
import pandas as pd

import isinglass as ig

CLOSE = 1e-9
CERTIFICATE = ("alpha", "objective", "kkt_residual", "duality_gap", "certified_zeros", "n_iter")
Arrays = dict[str, np.ndarray]


def main() -> str | None:
    """Store the list, or compare two stored ones; return what differs."""
    parser = argparse.ArgumentParser(
        description="Fit a fixed list of tables, to see whether a change changes a result."
    )
    parser.add_argument("store", nargs="?", help="where to store the fits (.npz)")
    parser.add_argument("--compare", nargs=2, metavar=("BEFORE", "AFTER"), help="compare two such files")
    chosen = parser.parse_args()
    if chosen.compare:
        return compare(*(dict(np.load(name)) for name in chosen.compare))
    if chosen.store is None:
        parser.error("name a file to store the fits in, or two to compare")
    warnings.simplefilter("ignore")
    np.savez(chosen.store, **two_values() | categories())
    return None


def compare(one: Arrays, two: Arrays) -> str | None:
    """Return the names of the arrays that differ, None if there are none."""
    differ = sorted(one.keys() ^ two.keys())
    for name in sorted(one.keys() & two.keys()):
        x, y = one[name], two[name]
        if x.shape != y.shape:
            same = False
        elif name.startswith("categories"):
            same = bool(np.abs(x - y).max(initial=0.0) <= CLOSE)
        else:
            same = x.tobytes() == y.tobytes()
        if not same:
            differ.append(name)
    return f"{len(differ)} of {len(one)} arrays differ: {', '.join(differ[:20])}" if differ else None


def of_network(name: str, network: ig.Network) -> Arrays:
    """Return the parts of a network."""
    fields = network.category_fields if name.startswith("categories") else network.fields
    return {f"{name}.fields": fields, f"{name}.edges": network.edge_index, f"{name}.values": network.edge_values}


def of_path(name: str, path: Iterable[ig.Solution]) -> Arrays:
    """Return the networks of a path, with their certificates where columns have two values."""
    found: Arrays = {}
    for k, solution in enumerate(path):
        found |= of_network(f"{name}.{k}", solution.network)
        if not name.startswith("categories"):
            found[f"{name}.{k}.certificate"] = np.array([getattr(solution, part) for part in CERTIFICATE])
    return found


def factors(n: int, p: int, n_factors: int, seed: int) -> np.ndarray:
    """Return a table of 0 and 1 with some latent factors."""
    rng = np.random.default_rng(seed)
    eta = rng.normal(size=(n, n_factors)) @ rng.normal(size=(n_factors, p))
    return (eta + rng.logistic(size=(n, p)) > rng.normal(size=p)).astype(np.uint8)


def likert(n: int, p: int, q: int, seed: int) -> np.ndarray:
    """Return answers from 0 to q − 1 with one latent factor."""
    rng = np.random.default_rng(seed)
    answers = rng.normal(size=(n, 1)) + rng.normal(size=(n, p)) + (q - 1) / 2
    return np.clip(np.round(answers), 0, q - 1).astype(np.uint8)


def two_values() -> Arrays:
    """Return paths, selections and bootstraps of tables of 0 and 1."""
    rng = np.random.default_rng(7)
    senate = ig.datasets.load_senate109().X
    small, medium, wide = factors(120, 9, 2, 1), factors(400, 40, 3, 2), factors(60, 90, 3, 3)
    weights, counts = rng.exponential(size=400), rng.integers(0, 4, 400).astype(float)
    penalty = rng.uniform(0.2, 3, (40, 40))
    penalty = penalty + penalty.T
    penalty[0, 1] = penalty[1, 0] = 0.0
    penalty[2, 3] = penalty[3, 2] = np.inf
    np.fill_diagonal(penalty, 0.0)
    constant = medium.copy()
    constant[:, 5] = 1
    paths = {
        "senate": ig.ising_path(senate, 12),
        "wide": ig.ising_path(wide, 8),
        "small": ig.ising_path(small, 20),
        "weighted": ig.ising_path(medium, 8, sample_weight=weights),
        "standardized": ig.ising_path(medium, 6, penalty_weights="standardized"),
        "penalties": ig.ising_path(medium, 6, penalty_weights=penalty),
        "constant": ig.ising_path(constant, 5),
        "long": ig.ising_path(factors(9000, 24, 2, 5), 8),
        "exact": ig.exact_path(small, 6),
        "nodewise": ig.nodewise_path(medium, 6),
    }
    fits = {
        "nodewise ebic": ig.Method("nodewise", ig.Fixed(0.025)).fit(medium),
        "default senate": ig.IsingNetwork().fit(senate),
        "default": ig.IsingNetwork().fit(medium),
        "default counts": ig.IsingNetwork().fit(medium, sample_weight=counts),
        "default wide": ig.IsingNetwork().fit(wide),
        "ebic": ig.IsingLassoEBIC().fit(medium),
        "cv": ig.IsingLassoCV().fit(medium),
        "stars": ig.IsingLassoStARS(random_state=0).fit(medium),
        "lasso": ig.IsingLasso(0.05).fit(medium),
    }
    found: Arrays = {}
    for name, path in paths.items():
        found |= of_path(f"path {name}", path)
    for name, fit in fits.items():
        found |= of_network(name, getattr(fit, "network_", None) or fit.network)
    draws = {
        "bootstrap": ig.bootstrap(small, n_boot=20, random_state=0),
        "bootstrap with edges": ig.bootstrap(medium[:, :12], n_boot=20, random_state=0),
        "bootstrap counts": ig.bootstrap(medium, 0.05, n_boot=10, random_state=0, sample_weight=counts),
    }
    for name, drawn in draws.items():
        found |= {f"{name}.pairs": drawn.edge_index, f"{name}.draws": drawn.draws.toarray()}
    return found


def categories() -> Arrays:
    """Return paths and a selection of tables with categories."""
    answers = likert(300, 8, 5, 11)
    mixed = np.column_stack([answers[:, :3], answers[:, 3:6] > 2, answers[:, 6:]]).astype(np.uint8)
    kinds = ["ordinal"] * 3 + ["binary"] * 3 + ["nominal"] * 2
    frame = pd.DataFrame({f"q{j}": pd.Categorical(answers[:, j] + 1, ordered=True) for j in range(6)})
    found = of_network("categories default", ig.IsingNetwork().fit(frame).network_)
    found |= of_path("categories ordinal", ig.ising_path(answers, 6, kinds="ordinal"))
    found |= of_path("categories nominal", ig.ising_path(likert(300, 5, 4, 12), 5, kinds="nominal"))
    return found | of_path("categories mixed", ig.ising_path(mixed, 5, kinds=kinds))


if __name__ == "__main__":
    sys.exit(main())
