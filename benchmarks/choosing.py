"""Which default finds and predicts best: the study of docs/choosing-protocol.md.

Usage:
    python benchmarks/choosing.py simulations [--only A1 B2] [--quick]
    python benchmarks/choosing.py tables [--tables DIR] [--only nltcs digits] [--quick]
    python benchmarks/choosing.py permuted [--quick]
    python benchmarks/choosing.py counts [--tables DIR]

Every part prints a table in Markdown. The tables of Lowd and Davis, NAME.train.csv.gz and NAME.test.csv.gz, are read
from DIR; without it, those that come with scikit-learn and with this package are scored.
"""

from __future__ import annotations

import argparse
import functools
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import networkx
import numpy as np
from numpy.typing import NDArray

from isinglass import Network, PerNode, Solution, as_table, ising_path, simulate
from isinglass.datasets import load_senate109
from isinglass.objective import smoothed_field
from isinglass.select import EBIC, CrossValidation, Method, StARS, TwoStage, ebic
from isinglass.select.refit import nearly_free
from isinglass.solve.path import alpha_max

Table = NDArray[np.uint8]
Fit = Callable[[Table], Solution]

# ------------------------------------------------------------------------------------------- who competes

RATIO = 0.005  # smallest alpha over alpha_max


def fit_stars(X: Table) -> Solution:
    """Return the network of StARS."""
    return Method(selector=StARS()).choose(X).solution


def grid(X: Table) -> NDArray[np.float64]:
    """Return the alphas of a long path."""
    top = alpha_max(as_table(X))
    return np.geomspace(top, RATIO * top, 30)


def fit_relaxed(X: Table) -> Solution:
    """Return the network whose edges have the smallest EBIC at estimates that are almost unpenalized.

    Of consecutive alphas with these edges, that is the network at the smallest one.
    """
    table = as_table(X)
    path = ising_path(table, alpha_min_ratio=RATIO)
    index = int(ebic(table, [nearly_free(table, solution) for solution in path]).argmin())
    edges = path[index].edge_index
    while index + 1 < len(path) and np.array_equal(edges, path[index + 1].edge_index):
        index += 1
    return path[index]


RIVALS: dict[str, Fit] = {
    "plain EBIC": lambda X: Method(selector=EBIC(grid(X))).choose(X).solution,
    "relaxed EBIC": fit_relaxed,
    "StARS": fit_stars,
    "CV": lambda X: Method(selector=CrossValidation(grid(X))).choose(X).solution,
    "IsingFit": lambda X: Method("nodewise", PerNode(), penalty_weights="standardized").choose(X).solution,
    "two-stage, EBIC alone": lambda X: Method(selector=TwoStage(keep=0)).choose(X).solution,
    "two-stage": lambda X: Method().choose(X).solution,
}

# ------------------------------------------------------------------------------------------- what is simulated


def rare_network(seed: int) -> Network:
    """Return a random network whose fields make most columns rare."""
    signs = simulate.random_network(30, 0.08, coupling_range=(-1.0, 1.0), random_state=seed).couplings
    fields = np.random.default_rng(seed).uniform(-4.0, -2.2, 30)
    return Network.from_couplings(np.sign(signs), fields)


def signed_network(n_nodes: int, density: float, seed: int) -> Network:
    """Return a random network with couplings ±1 and fields zero."""
    found = simulate.random_network(n_nodes, density, random_state=seed).couplings
    return Network.from_couplings(np.sign(found), np.zeros(n_nodes))


HUBS = networkx.disjoint_union_all([networkx.star_graph(9)] * 4)
SETTINGS: dict[str, tuple[str, int, int, Callable[[int], Network]]] = {
    # name: what it is, rows, draws, network of a seed
    "A1": ("random .2, p 12", 500, 12, lambda k: simulate.random_network(12, 0.2, random_state=k)),
    "A2": ("random .2, p 25", 1000, 8, lambda k: simulate.random_network(25, 0.2, random_state=k)),
    "A3": ("random .08, p 40", 1000, 6, lambda k: simulate.random_network(40, 0.08, random_state=k)),
    "A4": ("random .08, p 40", 4000, 6, lambda k: simulate.random_network(40, 0.08, random_state=k)),
    "A5": ("random .02, p 100", 4000, 4, lambda k: simulate.random_network(100, 0.02, random_state=k)),
    "B1": ("chain ±1, p 16", 500, 6, lambda k: simulate.chain_network(16, couplings="mixed", random_state=k)),
    "B2": ("grid ±1, p 25", 2000, 6, lambda k: simulate.grid_network(5, 5, couplings="mixed", random_state=k)),
    "C1": ("hubs ±1, p 40", 1000, 5, lambda k: simulate.graph_network(HUBS, couplings="mixed", random_state=k)),
    "C2": (
        "scale-free, p 40",
        1000,
        5,
        lambda k: simulate.scale_free_network(40, 2, couplings="mixed", strength=0.6, random_state=k),
    ),
    "D": ("rare columns ±1, p 30", 2000, 5, rare_network),
    "E": ("random ±1, p 100", 80, 5, lambda k: signed_network(100, 0.02, k)),
}


def recovery(found: Solution, truth: Network) -> tuple[float, float, float]:
    """Return F1 of the edges, relative error of the couplings, and share of wrong signs among true edges found."""
    edges, true = found.couplings != 0, truth.couplings != 0
    both = edges & true
    f1 = 2.0 * both.sum() / max(edges.sum() + true.sum(), 1)
    error = np.linalg.norm(found.couplings - truth.couplings) / np.linalg.norm(truth.couplings)
    wrong = (np.sign(found.couplings) != np.sign(truth.couplings))[both].mean() if both.any() else 0.0
    return float(f1), float(error), float(wrong)


def run_simulations(only: list[str] | None, quick: bool) -> None:
    """Print F1 / relative error of every rival in every setting."""
    print("| setting | rows | " + " | ".join(RIVALS) + " |\n|---|---:|" + "---:|" * len(RIVALS))
    for name, (what, n_rows, draws, network) in SETTINGS.items():
        if only and name not in only:
            continue
        cells, wrong = [], []
        tables = []
        for seed in range(2 if quick else draws):
            truth = network(seed)
            tables.append((truth, simulate.gibbs_sample(truth, n_rows, burn_in=500, thin=2, random_state=seed)))
        for fit in RIVALS.values():
            f1, error, signs = np.mean([recovery(fit(X), truth) for truth, X in tables], axis=0)
            cells.append(f"{f1:.2f} / {error:.2f}")
            wrong.append(signs)
        print(f"| {name}: {what} | {n_rows} | " + " | ".join(cells) + f" | wrong signs {max(wrong):.3f}", flush=True)


# ------------------------------------------------------------------------------------------- which tables are scored


def split(V: Table, n_train: int | None = None) -> tuple[Table, Table]:
    """Return two thirds of the rows to train, or ``n_train`` of them, and the other third to test."""
    rows = np.random.default_rng(0).permutation(len(V))
    third = len(V) // 3
    train = rows[third:] if n_train is None else rows[third : third + n_train]
    return np.ascontiguousarray(V[train]), np.ascontiguousarray(V[rows[:third]])


def read_file(folder: Path, name: str, n_train: int | None = None) -> tuple[Table, Table]:
    """Return training and test rows of a table of Lowd and Davis."""
    parts = [np.loadtxt(folder / f"{name}.{part}.csv.gz", delimiter=",", dtype=np.uint8) for part in ("train", "test")]
    return parts[0][:n_train], parts[1]


def bundled_tables() -> Iterator[tuple[str, Callable[[], tuple[Table, Table]]]]:
    """Yield the tables that come with scikit-learn and with this package."""
    from sklearn.datasets import load_breast_cancer, load_digits

    ink = (load_digits().data > 7).astype(np.uint8)
    numbers = load_breast_cancer().data
    cancer = (numbers > np.median(numbers, axis=0)).astype(np.uint8)
    votes = np.asarray(load_senate109().X)
    yield "digits", lambda: split(ink)
    yield "digits, 50 rows", lambda: split(ink, 50)
    yield "cancer", lambda: split(cancer)
    yield "cancer, 25 rows", lambda: split(cancer, 25)
    yield "senate", lambda: split(votes)
    yield "senate transposed", lambda: split(np.ascontiguousarray(votes.T))


def all_tables(folder: Path | None) -> dict[str, Callable[[], tuple[Table, Table]]]:
    """Return the tables by name, those for tuning first."""
    found: dict[str, Callable[[], tuple[Table, Table]]] = {}
    if folder is not None:
        for name, n_train in (
            *(("nltcs", None), ("mushrooms", None), ("mushrooms", 90), ("dna", None), ("dna", 120)),
            *(("plants", None), ("plants", 60), ("jester", None), ("jester", 60)),
        ):
            label = name if n_train is None else f"{name}, {n_train} rows"
            found[label] = functools.partial(read_file, folder, name, n_train)
    return found | dict(bundled_tables())


def score(network: Solution, test: Table) -> float:
    """Return the mean log pseudo-likelihood per row."""
    eta = network.fields + test @ network.couplings
    return float(-np.logaddexp(0.0, (1.0 - 2.0 * test) * eta).sum(axis=1).mean())


def best_plain(train: Table, test: Table) -> tuple[float, int]:
    """Return the best test score along a plain path, and its number of edges; past the best by far it stops."""
    seen: list[tuple[float, float, int]] = []

    def look(solution: Solution) -> bool:
        seen.append((score(solution, test), solution.alpha, solution.n_edges))
        return solution.alpha > 0.25 * max(seen)[1]

    ising_path(train, 60, alpha_min_ratio=0.0005, callback=look)
    best = max(seen)
    return best[0], best[2]


def run_tables(folder: Path | None, only: list[str] | None, quick: bool) -> None:
    """Print the share of the gain and the number of edges of every rival on every table."""
    fits = {name: fit for name, fit in RIVALS.items() if not quick or name.startswith("two-stage")}
    print("| table | rows × columns | best plain | " + " | ".join(fits) + " | seconds of two-stage |")
    print("|---|---|---:|" + "---:|" * (len(fits) + 1))
    for name, make in all_tables(folder).items():
        if only and not any(name.startswith(word) for word in only):
            continue
        train, test = make()
        ones = train.sum(axis=0)
        empty = Solution(Network(smoothed_field(ones, len(train)), np.empty((0, 2), np.int32), np.empty(0)), 1.0)
        null = score(empty, test)
        best, n_best = best_plain(train, test)
        cells = []
        for fit in fits.values():
            start = time.perf_counter()
            network = fit(train)
            seconds = time.perf_counter() - start
            cells.append(f"{(score(network, test) - null) / (best - null):.2f}, {network.n_edges}")
        shape = f"{train.shape[0]} × {train.shape[1]}"
        print(f"| {name} | {shape} | {n_best} | " + " | ".join(cells) + f" | {seconds:.1f} |", flush=True)


# ------------------------------------------------------------------------------------------- no structure, and counts


def run_permuted(quick: bool) -> None:
    """Print the share of pairs that become edges when every column is shuffled by itself."""
    rng = np.random.default_rng(0)
    edges, pairs, shares = 0, 0, []
    for seed in range(20 if quick else 200):
        p, n_rows = int(rng.integers(5, 41)), int(rng.integers(500, 2001))
        model = simulate.random_network(p, 0.15, random_state=seed)
        X = simulate.gibbs_sample(model, n_rows, burn_in=200, random_state=seed)
        X = np.column_stack([rng.permutation(column) for column in X.T])
        found = Method().choose(X).solution.n_edges
        edges, pairs = edges + found, pairs + p * (p - 1) // 2
        shares.append(found / (p * (p - 1) / 2))
    print(
        f"{len(shares)} shuffled tables: {edges} edges among {pairs} pairs ({edges / pairs:.3%}); mean of the tables "
        f"{np.mean(shares):.3%}, tables with an edge {np.mean(np.array(shares) > 0):.0%}"
    )


def run_counts(folder: Path | None) -> None:
    """Print the edges of the default for several numbers of alphas."""
    print("| table | 20 | 30 | 50 | 100 |\n|---|---:|---:|---:|---:|")
    tables = {"senate": lambda: np.asarray(load_senate109().X)}
    if folder is not None:
        tables |= {name: lambda name=name: read_file(folder, name)[0] for name in ("nltcs", "plants", "jester")}
    for name, make in tables.items():
        X = make()
        counts = [Method(selector=TwoStage(n)).choose(X).solution.n_edges for n in (20, 30, 50, 100)]
        print(f"| {name} | " + " | ".join(map(str, counts)) + " |", flush=True)


def main() -> None:
    """Run one part of the study."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["simulations", "tables", "permuted", "counts"])
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--quick", action="store_true")
    words = parser.parse_args()
    warnings.simplefilter("ignore")
    if words.part == "simulations":
        run_simulations(words.only, words.quick)
    elif words.part == "tables":
        run_tables(words.tables, words.only, words.quick)
    elif words.part == "permuted":
        run_permuted(words.quick)
    else:
        run_counts(words.tables)


if __name__ == "__main__":
    main()
