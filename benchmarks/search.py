"""How often the search of a stage finds the smallest criterion of the whole path, and what that does to the edges.

Small tables of random networks, of one common factor and of independent columns; docs/selection.md has the result.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from isinglass import Network, Solution, as_table, simulate
from isinglass.metrics import edge_confusion
from isinglass.select import Stage
from isinglass.select.scoring import edge_price
from isinglass.select.stages import StageSearch, first_stage, second_stage
from isinglass.select.task import Task

SMALLEST = 1e-3
"""Last alpha of a whole path over the first."""
EQUAL = 0.1
"""Difference in a criterion that does not count."""


def whole_path(search: StageSearch) -> Stage:
    """Return the stage of all lattice points."""
    ratio = search.descent.ratio
    alphas = search.task.alpha_max(search.penalty) * ratio ** np.arange(int(np.log(SMALLEST) / np.log(ratio)) + 1.0)
    return search.at(alphas)


def tables(kinds: str, count: int) -> Iterator[tuple[np.ndarray, Network | None]]:
    """Yield tables, each with the network that it was drawn from, if there is one."""
    rng = np.random.default_rng(1)
    for k in range(count):
        kind = kinds[k % len(kinds)]
        n_columns = int(rng.integers(5, 16) if kind == "f" else rng.integers(6, 31))
        n_rows = int(rng.integers(60, 500 if kind == "f" else 1001))
        if kind == "r":
            truth = simulate.random_network(n_columns, float(rng.choice([0.05, 0.1, 0.2])), random_state=k)
            yield np.asarray(simulate.gibbs_sample(truth, n_rows, random_state=k)), truth
        elif kind == "f":
            factor = rng.normal(size=(n_rows, 1)) * rng.uniform(0.5, 1.5)
            yield (factor + rng.logistic(size=(n_rows, n_columns)) > 0).astype(np.uint8), None
        else:
            yield (rng.random((n_rows, n_columns)) < rng.uniform(0.1, 0.5, n_columns)).astype(np.uint8), None


def compare_minima() -> None:
    """Print in how many tables a search ends at the smallest criterion, and how many networks it solves."""
    results: dict[str, list[tuple[bool, int, int]]] = {"stage 1": [], "stage 2": []}

    def note(stage: str, found: Stage, whole: Stage) -> None:
        equal = bool(found.scores.min() <= whole.scores.min() + EQUAL)
        results[stage].append((equal, len(found.path), len(whole.path)))

    for X, _ in tables("rfi", 300):
        task = Task(as_table(X))
        search = first_stage(task)
        first = search.search(30)
        note("stage 1", first, whole_path(search))
        if first.solution.n_edges:
            search = second_stage(task, first.solution, 1.0, edge_price(task.table, 0.25))
            note("stage 2", search.search(), whole_path(search))
    for stage, rows in results.items():
        equal, found, whole = np.mean(rows, axis=0)
        smallest = f"smallest in {equal * len(rows):.0f} of {len(rows)}"
        print(f"{stage}: {smallest}, {found:.1f} instead of {whole:.1f} networks")


def choose(task: Task, *, whole: bool) -> Solution:
    """Return the choice of both stages without the check by prediction."""
    search = first_stage(task)
    first = whole_path(search) if whole else search.search(30)
    if not first.solution.n_edges:
        return first.solution
    search = second_stage(task, first.solution, 1.0, edge_price(task.table, 0.25))
    return (whole_path(search) if whole else search.search()).solution


def compare_edges() -> None:
    """Print F1 and the number of false edges, by the search and by whole paths."""
    scores, n_false, n_pairs = [], np.zeros(2, dtype=int), 0
    for X, truth in tables("ri", 400):
        task = Task(as_table(X))
        found = [choose(task, whole=whole).network for whole in (False, True)]
        if truth is None:
            n_false += [network.n_edges for network in found]
            n_pairs += found[0].n_pairs
        elif truth.n_edges:
            scores.append([edge_confusion(network, truth).f1 for network in found])
    error = np.std(np.diff(scores, axis=1)) / np.sqrt(len(scores))
    means = np.mean(scores, axis=0).round(3)
    print(f"F1 in {len(scores)} tables: {means}, standard error of the difference {error:.3f}")
    print(f"false edges among {n_pairs} pairs: {n_false}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    compare_minima()
    compare_edges()
