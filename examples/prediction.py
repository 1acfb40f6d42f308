"""Print how well networks predict cells that were not used in the fit, compared with the share of ones in each column.

Usage: python examples/prediction.py
"""

import networkx
import numpy as np
from sklearn.model_selection import KFold

from isinglass import IsingLassoCV, simulate
from isinglass.datasets import load_senate109

Table = np.ndarray
ALPHAS = np.geomspace(0.3, 0.01, 20)


def main() -> None:
    """Print three tables, in Markdown."""
    print_scores("Senate, every vote given the others of the same roll call", senate())
    print_scores("simulated network, every cell given the others of its row", simulated())
    print_scores("Senate, one vote in five hidden", hidden_votes())


def senate() -> dict[str, tuple[Table, Table]]:
    """Predict the roll calls of each fifth from the others."""
    X = load_senate109().X
    share, network = np.empty(X.shape), np.empty(X.shape)
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        share[test] = smoothed_share(X[train])
        network[test] = fit(X[train]).predict_proba(X[test])
    return {"share of ones": (share, X), "network": (network, X)}


def simulated() -> dict[str, tuple[Table, Table]]:
    """Learn 40 columns from 500 rows, predict 5000 further ones, and compare with the network they come from."""
    truth = simulate.graph_network(
        networkx.random_regular_graph(3, 40, seed=0), couplings="mixed", strength=1.5, fields="balanced", random_state=0
    )
    X = simulate.gibbs_sample(truth, 5500, thin=20, random_state=0)
    train, test = X[:500], X[500:]
    share = np.broadcast_to(smoothed_share(train), test.shape)
    network = fit(train).predict_proba(test)
    return {
        "share of ones": (share, test),
        "network": (network, test),
        "the true network": (truth.conditional_probabilities(test), test),
    }


def hidden_votes() -> dict[str, tuple[Table, Table]]:
    """Learn from 200 roll calls, hide cells of the others at random, and fill them in."""
    X = np.random.default_rng(0).permutation(load_senate109().X)
    train, test = X[:200], X[200:]
    hidden = np.random.default_rng(1).random(test.shape) < 0.2
    table = np.where(hidden, np.nan, test)
    net = fit(train)
    share = np.broadcast_to(smoothed_share(train), test.shape)
    filled = net.fit_.predict_proba(table)
    return {"share of ones": (share[hidden], test[hidden]), "impute": (filled[hidden], test[hidden])}


def fit(X: Table) -> IsingLassoCV:
    """Choose the penalty by cross-validation within these rows."""
    return IsingLassoCV(ALPHAS, cv=5, random_state=0).fit(X)


def smoothed_share(X: Table) -> Table:
    """Return (n₁ + ½) / (N + 1) of every column: finite scores also where it is constant."""
    return (X.sum(axis=0) + 0.5) / (len(X) + 1)


def print_scores(title: str, predictions: dict[str, tuple[Table, Table]]) -> None:
    """Print mean log-likelihood, Brier score and accuracy per cell."""
    print(f"| {title} | log-likelihood | Brier score | accuracy |\n|---|---:|---:|---:|")
    for name, (chance, X) in predictions.items():
        log_likelihood = np.log(np.where(X == 1, chance, 1 - chance)).mean()
        brier, accuracy = ((chance - X) ** 2).mean(), ((chance > 0.5) == X).mean()
        print(f"| {name} | {log_likelihood:.3f} | {brier:.3f} | {accuracy:.1%} |")
    print()


if __name__ == "__main__":
    main()
