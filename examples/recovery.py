"""Print how well the selected networks agree with the truth as the number of rows grows.

Usage: python examples/recovery.py [replications]
"""

import sys

import networkx
import numpy as np

from isinglass import Network, simulate
from isinglass.metrics import edge_confusion
from isinglass.select import CrossValidation, Method, ebic

ROWS = (250, 500, 1000, 2000, 4000)
COLUMNS = ("EBIC", "CV best", "CV 1se", "two-stage")
ALPHAS = 30


def networks() -> dict[str, Network]:
    """Return three networks of 16 nodes in which every column is 1 in half of the rows."""
    mixed = {"couplings": "mixed", "strength": 1.0, "fields": "balanced", "random_state": 0}
    return {
        "chain of 16": simulate.chain_network(16, **mixed),
        "grid of 4 × 4": simulate.grid_network(4, 4, **mixed),
        "3-regular, 16 nodes": simulate.graph_network(networkx.random_regular_graph(3, 16, seed=0), **mixed),
    }


def score_choices(model: Network, n_rows: int, seed: np.random.SeedSequence) -> list[float]:
    """Draw rows, select, and return the F1 score of each criterion's choice."""
    draw, split = seed.spawn(2)
    X = simulate.exact_sample(model, n_rows, random_state=np.random.default_rng(draw))
    cv = Method(selector=CrossValidation(ALPHAS, n_folds=5, random_state=split)).choose(X)
    numbers = int(ebic(X, cv.path).argmin()), cv.best("best"), cv.best("1se")
    chosen = [*(cv.path[k] for k in numbers), Method().choose(X).solution]
    return [edge_confusion(found, model).f1 for found in chosen]


def main(n_replications: int) -> None:
    """Print one line per network and number of rows, as a Markdown table."""
    print(f"| network | rows | {' | '.join(COLUMNS)} |")
    print("|---|---:|" + "---:|" * len(COLUMNS))
    for name, model in networks().items():
        for n_rows in ROWS:
            seeds = np.random.SeedSequence(n_rows).spawn(n_replications)
            scores = np.mean([score_choices(model, n_rows, seed) for seed in seeds], axis=0)
            print(f"| {name} | {n_rows} | " + " | ".join(f"{score:.2f}" for score in scores) + " |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
