"""Nominal columns at the size of a protein family: a simulated Potts model, the path down to its contacts, their ranks.

    python benchmarks/potts.py                        3600 × 160 with 21 letters and 300 contacts, ten alphas
    python benchmarks/potts.py --rows 600 --columns 30 --contacts 40    anything smaller

Prints one JSON object: seconds of the path alone, peak memory of the process, and for every alpha the edges, how many
of the planted contacts are among them, and the certificate; at the end how well the norms rank the contacts.
docs/discrete.md quotes it.
"""

from __future__ import annotations

import argparse
import json
import resource
import time

import numpy as np
from networks import make_table
from numpy.typing import NDArray

from isinglass import Network, Variables, ising_path
from isinglass.pairs import all_pairs
from isinglass.simulate.gibbs import Chains

SWEEPS = 100


def plant(n_columns: int, n_letters: int, n_contacts: int, strength: float, seed: int) -> Network:
    """Return a Potts model with ``n_contacts`` contacts, drawn from all pairs, and letters of unequal frequency."""
    rng = np.random.default_rng(seed)
    pairs = all_pairs(n_columns)
    contacts = pairs[np.sort(rng.choice(len(pairs), n_contacts, replace=False))]
    blocks = rng.normal(scale=strength, size=(n_contacts, n_letters, n_letters))
    for axis in (1, 2):
        blocks -= blocks.mean(axis=axis, keepdims=True)
    fields = rng.normal(size=(n_columns, n_letters))
    variables = Variables.of([n_letters] * n_columns, "nominal")
    return Network((fields - fields[:, :1])[:, 1:].ravel(), contacts, variables=variables, pair_parameters=list(blocks))


def draw(model: Network, n_rows: int, seed: int) -> NDArray[np.uint8]:
    """Return rows drawn by Gibbs sampling, one chain each."""
    rng = np.random.default_rng(seed)
    start = rng.integers(0, model.variables.sizes, size=(n_rows, model.n_features)).astype(np.uint8)
    chains = Chains(start, random_state=rng)
    chains.sweep(model, SWEEPS)
    return chains.table


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("rows", 3600), ("columns", 160), ("letters", 21), ("contacts", 300), ("alphas", 10)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--strength", type=float, default=0.6, help="standard deviation of a coupling")
    parser.add_argument("--ratio", type=float, default=0.19, help="last alpha over the first")
    asked = parser.parse_args()
    model = plant(asked.columns, asked.letters, asked.contacts, asked.strength, 1)
    X = draw(model, asked.rows, 2)
    table = make_table(X, "nominal", categories=[range(asked.letters)] * asked.columns)
    start = time.perf_counter()
    path = ising_path(table, asked.alphas, alpha_min_ratio=asked.ratio)
    seconds = time.perf_counter() - start
    planted = {tuple(pair) for pair in model.edge_index.tolist()}
    steps = []
    for solution in path:
        found = {tuple(pair) for pair in solution.edge_index.tolist()}
        right = len(found & planted)
        residuals = {"kkt": solution.kkt_residual, "gap": solution.duality_gap, "converged": bool(solution.converged)}
        steps.append({"alpha": solution.alpha, "edges": len(found), "contacts": right, **residuals})
    last = path[-1]
    strongest = last.edge_index[np.argsort(-last.edge_values)][: asked.contacts]
    ranked = sum(tuple(pair) in planted for pair in strongest.tolist())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    head = {"shape": [*X.shape, asked.letters], "seconds": round(seconds, 1), "peak_gb": round(peak, 2)}
    print(json.dumps({**head, "contacts_among_strongest": ranked, "path": steps}))


if __name__ == "__main__":
    main()
