"""False discovery rates and power of edges, on tables drawn from known networks of four kinds.

    python benchmarks/error_rates.py [--quick]

The edges that `edge_tests` finds at a false discovery rate of 0.1, the default network, and, for the first tables of
each kind, the edges that at least 80 % of bootstrapped networks have.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from isinglass import Method, Network, bootstrap, edge_tests, exact, simulate
from isinglass.pairs import pair_keys

RATE, INCLUSION, RESAMPLES = 0.1, 0.8, 40


def draw(kind: str, seed: int) -> tuple[Network, object]:
    """Return a network and rows drawn from it."""
    if kind == "chain":
        model, n_rows = simulate.chain_network(15, strength=0.8, fields="balanced"), 500
    elif kind == "random":
        model, n_rows = simulate.random_network(18, edge_probability=0.15, random_state=seed), 600
    elif kind == "rare":
        pairs = [(s, s + 1) for s in range(14)] + [(0, 7), (3, 11)]
        model, n_rows = Network(np.full(15, -2.0), pairs, np.full(len(pairs), 0.9)), 800
    else:
        model, n_rows = simulate.category_network(simulate.chain_network(7, strength=0.8), "ordinal", 5), 500
    return model, exact.exact_sample(model, n_rows, random_state=seed)


def count(found: np.ndarray, model: Network) -> tuple[float, float]:
    """Return the share of false pairs among those found, and the share of true ones that are found."""
    p = model.n_features
    keys, true = (np.sort(pair_keys(np.asarray(pairs), p)) for pairs in (found, model.edge_index))
    hits = np.isin(keys, true).sum()
    return (len(keys) - hits) / max(len(keys), 1), hits / len(true)


def main(n_tables: int, n_fits: int, n_bootstraps: int) -> None:
    """Print realized rates with their standard errors."""
    print("kind,rule,tables,false_discovery_rate,std_error,power")
    for kind in ("chain", "random", "rare", "ordinal"):
        results: dict[str, list[tuple[float, float]]] = {"q <= 0.1": [], "default network": [], "inclusion >= 0.8": []}
        for seed in range(n_tables):
            model, X = draw(kind, seed)
            tests = edge_tests(X)
            names = np.array(model.names)
            ends = [np.argmax(names == tests[end][:, None], axis=1) for end in ("source", "target")]
            results["q <= 0.1"].append(count(np.column_stack(ends)[tests["q"] <= RATE], model))
            if seed < n_fits:
                network = Method(standard_errors=False).fit(X).network
                results["default network"].append(count(network.edge_index, model))
            if seed < n_bootstraps:
                found = bootstrap(X, n_boot=RESAMPLES, random_state=seed)
                results["inclusion >= 0.8"].append(count(found.edge_index[found.inclusion >= INCLUSION], model))
        for rule, rows in results.items():
            if rows:
                rates, power = np.array(rows).T
                error = rates.std(ddof=1) / np.sqrt(len(rates))
                print(f"{kind},{rule},{len(rows)},{rates.mean():.3f},{error:.3f},{power.mean():.3f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    warnings.simplefilter("ignore")
    main(*(10, 4, 2) if parser.parse_args().quick else (100, 20, 8))
