"""Recovery of simulated networks of ordinal and nominal columns, and what the wrong kind costs.

    python benchmarks/discrete.py                                  # quick: one draw, 250 and 1000 rows
    python benchmarks/discrete.py --draws 3 --rows 250 500 1000    # as in docs/discrete.md

Every line is a mean over draws: F1 of the edges that the default choice finds, and the log pseudo-likelihood of fresh
rows as a share of what the true network gains over independent columns.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from isinglass import simulate
from isinglass.data import CategoryTable
from isinglass.evaluate.metrics import f1_score
from isinglass.select import two_stage

NODES, CATEGORIES, STRENGTH = 8, 4, 1.2


def truths(seed):
    """Yield the networks that rows are drawn from: a chain and a random graph, ordinal and nominal."""
    chain = simulate.chain_network(NODES, couplings="mixed", strength=STRENGTH, random_state=seed)
    random = simulate.random_network(NODES, 0.25, coupling_range=(0.8, 1.6), random_state=seed)
    for kind in ("ordinal", "nominal"):
        for name, graph in (("chain", chain), ("random", random)):
            yield kind, name, simulate.category_network(graph, kind, CATEGORIES, random_state=seed)


def measure(truth, kind, n_rows, seed):
    """Return F1, the share of the gain on fresh rows, edges and seconds, with all columns declared as ``kind``."""
    rows, fresh = (
        simulate.gibbs_sample(truth, n, burn_in=200, n_chains=n, random_state=seed + 1000 * k)
        for k, n in enumerate((n_rows, 4000))
    )
    start = time.perf_counter()
    found = two_stage(CategoryTable(rows.codes, kind, categories=rows.categories), errors=False).solution
    seconds = time.perf_counter() - start
    counts = [np.bincount(rows.codes[:, s], minlength=CATEGORIES) + 0.5 for s in range(NODES)]
    alone = sum(np.log(count / count.sum())[fresh.codes[:, s]] for s, count in enumerate(counts)).mean()
    gain = found.network.log_pseudolikelihood(fresh.codes).mean() - alone
    best = truth.log_pseudolikelihood(fresh.codes).mean() - alone
    return f1_score(found, truth), gain / best, found.n_edges, seconds


def main() -> None:
    """Print one line per network, number of rows and kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--rows", type=int, nargs="+", default=[250, 1000])
    parser.add_argument("--graphs", nargs="+", default=["chain"], choices=["chain", "random"])
    asked = parser.parse_args()
    print("truth    graph   rows  declared  F1    gain  edges  seconds", flush=True)
    for n_rows in asked.rows:
        lines: dict[tuple[str, str, str], list[tuple[float, ...]]] = {}
        for seed in range(asked.draws):
            for kind, name, truth in truths(seed):
                for declared in ("ordinal", "nominal") if name in asked.graphs else ():
                    lines.setdefault((kind, name, declared), []).append(measure(truth, declared, n_rows, seed))
        for (kind, name, declared), results in lines.items():
            f1, gain, edges, seconds = np.mean(results, axis=0)
            text = f"{kind:8s} {name:6s} {n_rows:5d}  {declared:8s}  {f1:.2f}  {gain:5.2f}  {edges:5.1f}  {seconds:.2f}"
            print(text, flush=True)


if __name__ == "__main__":
    main()
