"""Recovery of simulated networks of ordinal and nominal columns, and what the wrong kind costs.

    python benchmarks/discrete.py                                                  # quick: one draw of a chain
    python benchmarks/discrete.py --draws 10 --graphs chain random --rows 250 500 1000 2000 4000   # docs/discrete.md

Every line is a mean over draws: F1 of the edges that the default choice finds, the share of draws in which these are
the true ones, and the log pseudo-likelihood of fresh rows as a share of what the true network gains over independent
columns.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from networks import make_table

from isinglass import Network, simulate
from isinglass.metrics import edge_confusion
from isinglass.select import Method

CATEGORIES = 4
KINDS = ("ordinal", "nominal")


def make_graph(name, seed):
    """Return the couplings of a chain of 8 nodes, or of a random graph of 12 with ten edges on average."""
    if name == "chain":
        return simulate.chain_network(8, couplings="mixed", strength=1.2, random_state=seed)
    drawn = simulate.random_network(12, 0.15, coupling_range=(0.8, 1.6), random_state=seed)
    signs = np.random.default_rng([seed, 1]).choice([-1.0, 1.0], drawn.n_edges)
    return Network(drawn.fields, drawn.edge_index, drawn.edge_values * signs)


def measure(truth, kind, n_rows, seed):
    """Return F1, whether all edges are right, the share of the gain on fresh rows, edges and seconds, as ``kind``."""
    rows, fresh = (
        simulate.gibbs_sample(truth, n, burn_in=200, n_chains=n, random_state=seed + 1000 * k)
        for k, n in enumerate((n_rows, 4000))
    )
    start = time.process_time()
    found = Method().choose(make_table(rows.codes, kind, categories=rows.categories)).solution
    seconds = time.process_time() - start
    counts = [np.bincount(column, minlength=CATEGORIES) + 0.5 for column in rows.codes.T]
    alone = sum(np.log(count / count.sum())[fresh.codes[:, s]] for s, count in enumerate(counts)).mean()
    gain = found.network.log_pseudolikelihood(fresh).mean() - alone
    best = truth.log_pseudolikelihood(fresh).mean() - alone
    score = edge_confusion(found, truth).f1
    return score, score == 1.0, gain / best, found.n_edges, seconds


def main() -> None:
    """Print one line per network, number of rows and kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--rows", type=int, nargs="+", default=[250, 1000])
    parser.add_argument("--graphs", nargs="+", default=["chain"], choices=["chain", "random"])
    asked = parser.parse_args()
    print("graph   truth    declared  rows  F1     exact  gain   edges  seconds", flush=True)
    for n_rows in asked.rows:
        for name in asked.graphs:
            lines: dict[tuple[str, str], list[tuple[float, ...]]] = {}
            for seed in range(asked.draws):
                for kind in KINDS:
                    truth = simulate.category_network(make_graph(name, seed), kind, CATEGORIES, random_state=seed)
                    for declared in KINDS:
                        lines.setdefault((kind, declared), []).append(measure(truth, declared, n_rows, seed))
            for (kind, declared), results in lines.items():
                f1, exact, gain, edges, seconds = np.mean(results, axis=0)
                text = f"{name:6s}  {kind:8s} {declared:8s} {n_rows:5d}  {f1:.3f}  {exact:4.2f}  {gain:6.3f}"
                print(f"{text}  {edges:5.1f}  {seconds:.2f}", flush=True)


if __name__ == "__main__":
    main()
