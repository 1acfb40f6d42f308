"""What missing cells cost: networks from tables with holes, imputed, zeroed or dropped, against the complete table.

    python benchmarks/missing.py recovery --draws 20     errors and AUC, MCAR, MAR and MNAR
    python benchmarks/missing.py coverage --draws 200    95 % intervals of refitted couplings
    python benchmarks/missing.py groups --draws 120      level of the test of groups
    python benchmarks/missing.py time                    seconds
    python benchmarks/missing.py recovery --quick        two draws, to see that it runs
    python benchmarks/missing.py table --store FILE      the means over the stored draws

Each prints one JSON object a line. With --store FILE they are added to that file, and draws that it has are not run
again. docs/missing.md has the tables.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from networks import make_table
from numpy.random import Generator
from numpy.typing import NDArray

from isinglass import Fixed, Method, Run, Table, bootstrap, compare_groups, impute, ising_path, simulate
from isinglass.network import Network
from isinglass.results import Solution
from isinglass.select.pooling import pool

Cells = NDArray[np.uint8]
Mask = NDArray[np.bool_]

SHARE = 0.2
DRIVERS = 5
FEWER = (0.8, 0.66)
"""Shares of the complete rows for comparison: as many as cells are left, and as rows with two given columns."""


def mcar(X: Table, rng: Generator) -> Mask:
    """Let every cell be missing with the same probability."""
    return rng.random(X.shape) < SHARE


def mar(X: Table, rng: Generator) -> Mask:
    """Let a 1 in one of the first columns, which are never missing, make some others eight times as likely to be."""
    driver = X[:, np.arange(X.shape[1]) % DRIVERS]
    low = SHARE * X.shape[1] / (X.shape[1] - DRIVERS) / (1 + 7 * X[:, :DRIVERS].mean())
    gone = rng.random(X.shape) < np.where(driver == 1, 8 * low, low)
    gone[:, :DRIVERS] = False
    return gone


def mnar(X: Table, rng: Generator) -> Mask:
    """Let a 1 be four times as likely to be missing as a 0."""
    low = SHARE / (1 + 3 * X.mean())
    return rng.random(X.shape) < np.where(X == 1, 4 * low, low)


MECHANISMS: dict[str, Callable[[Table, Generator], Mask]] = {"MCAR": mcar, "MAR": mar, "MNAR": mnar}


def with_holes(X: Table, gone: Mask) -> NDArray[np.float64]:
    """Return the table with NaN in the missing cells."""
    return np.where(gone, np.nan, X)


def entry_auc(truth: Network, X: Any) -> float:
    """Return how well pairs with an edge are ranked before others by the alpha at which they enter the path."""
    entered = np.zeros((truth.n_features,) * 2)
    for solution in reversed(list(ising_path(X, 40))):
        entered[tuple(solution.edge_index.T)] = solution.alpha
    upper = np.triu_indices(truth.n_features, 1)
    is_edge, score = truth.couplings[upper] != 0, entered[upper]
    more = (score[is_edge][:, None] > score[~is_edge]).mean()
    return float(more + 0.5 * (score[is_edge][:, None] == score[~is_edge]).mean())


def judge(truth: Network, X: Any, solution: Solution) -> dict[str, float]:
    """Return AUC, relative error, edges, and bias of the true couplings and of the fields."""
    upper = np.triu_indices(truth.n_features, 1)
    true, found = truth.couplings[upper], solution.couplings[upper]
    edges = true != 0
    return {
        "auc": entry_auc(truth, X),
        "error": float(np.linalg.norm(found - true) / np.linalg.norm(true)),
        "n_edges": int((found != 0).sum()),
        "shrinkage": float((np.sign(true[edges]) * found[edges]).sum() / np.abs(true[edges]).sum()),
        "field_bias": float((solution.fields - truth.fields).mean()),
    }


def study_recovery(draw: int, p: int = 30, n: int = 1000) -> Iterator[dict[str, Any]]:
    """Yield one row per mechanism and treatment."""
    truth = simulate.random_network(p, 0.1, coupling_range=(-2.0, 2.0), random_state=draw)
    X = simulate.gibbs_sample(truth, n, burn_in=500, thin=20, random_state=draw)
    complete_row = {"draw": draw, "mechanism": "", "treatment": "complete"}
    yield complete_row | judge(truth, X, Method().choose(X).solution)
    for some in FEWER:
        fewer = {"draw": draw, "mechanism": "", "treatment": f"{some:.0%} of the rows", "kept": int(some * n)}
        yield fewer | judge(truth, X[: int(some * n)], Method().choose(X[: int(some * n)]).solution)
    for name, mechanism in MECHANISMS.items():
        gone = mechanism(X, np.random.default_rng(1000 + draw))
        known = {"draw": draw, "mechanism": name, "share": float(gone.mean())}
        begin = time.perf_counter()
        imputed = impute(with_holes(X, gone))
        found = Method().choose(imputed.table)
        took = {
            "seconds": time.perf_counter() - begin,
            "rounds": imputed.record.n_rounds,
            "settled": imputed.record.settled,
        }
        yield known | {"treatment": "impute", **judge(truth, imputed.table, found.solution), **took}
        zeroed = np.where(gone, 0, X).astype(np.uint8)
        yield known | {"treatment": "zero", **judge(truth, zeroed, Method().choose(zeroed).solution)}
        whole = X[~gone.any(axis=1)]
        dropped = known | {"treatment": "drop", "kept": len(whole)}
        yield dropped | (judge(truth, whole, Method().choose(whole).solution) if len(whole) > 1 else {})


def study_coverage(draw: int, n_boot: int, p: int = 8, n: int = 500) -> Iterator[dict[str, Any]]:
    """Yield how many intervals of one table hold the truth, by Rubin's rules and by the bootstrap."""
    truth = simulate.random_network(p, 0.35, coupling_range=(-1.5, 1.5), random_state=1)
    penalty = np.where(truth.couplings != 0, 1.0, np.inf)
    fixed, true = Method(selector=Fixed(0.01 / n), penalty_weights=penalty), truth.edge_values
    X = simulate.exact_sample(truth, n, random_state=draw)
    holes = with_holes(X, mcar(X, np.random.default_rng(5000 + draw)))
    imputed = impute(holes)
    # Of the true edges: one that is estimated as 0 has an interval, too.
    pooled = pool(imputed, replace(fixed.choose(imputed.table).solution, network=truth))
    row = {"draw": draw, "n": len(true), "information": float(pooled.edge_information.mean())}
    yield row | held("rubin", *pooled.edge_intervals().T, true)
    if n_boot:
        found = bootstrap(holes, fixed, n_boot=n_boot, random_state=draw, run=Run(progress=False))
        yield row | held("bootstrap", found.edge_quantiles[0], found.edge_quantiles[-1], true)


def held(name: str, low: NDArray[Any], high: NDArray[Any], true: NDArray[Any]) -> dict[str, Any]:
    """Return how many intervals hold the true value, and their mean width."""
    return {"intervals": name, "held": int(((low <= true) & (true <= high)).sum()), "width": float((high - low).mean())}


def study_groups(draw: int, p: int = 5, n: int = 100) -> Iterator[dict[str, Any]]:
    """Yield p-values of two groups with one network, imputed from all rows, or each group from its own."""
    X = simulate.exact_sample(simulate.chain_network(p, strength=1.5, fields="balanced"), 2 * n, random_state=draw)
    groups, chance = np.repeat([0, 1], n), np.random.default_rng([draw, 1]).random(X.shape)
    options: dict[str, Any] = {"n_permutations": 19, "random_state": draw, "run": Run(n_jobs=1, progress=False)}
    for name, shares in (("30 % missing", (0.3, 0.3)), ("none and 8 % missing", (0.0, 0.08))):
        gone = chance < np.repeat(shares, n)[:, None]
        found = compare_groups(make_table(X, holes=gone), groups, 0.03, **options)
        yield {"draw": draw, "groups": name, "p": found.p_structure}
        yield {"draw": draw, "groups": f"{name}, strength", "p": found.p_strength}
    gone = chance < 0.3
    gone[gone.all(axis=1), 0] = False
    parts = [make_table(X[groups == k], holes=gone[groups == k]) for k in (0, 1)]
    whole = np.vstack([next(impute(part, n_imputations=1).tables()).codes for part in parts])
    found = compare_groups(whole, groups, 0.03, **options)
    yield {"draw": draw, "groups": "30 %, each group by itself", "p": found.p_structure}


def study_time(quick: bool) -> Iterator[dict[str, Any]]:
    """Yield the seconds of an imputation and of the network of the completed table, with M = 10."""
    for p, n, share in [(30, 1000, 0.2)] if quick else [(30, 1000, 0.2), (200, 5000, 0.1)]:
        truth = simulate.random_network(p, 3.0 / p, coupling_range=(-2.0, 2.0), random_state=0)
        X = simulate.gibbs_sample(truth, n, burn_in=500, thin=20, random_state=0)
        holes = with_holes(X, np.random.default_rng(0).random(X.shape) < share)
        begin = time.perf_counter()
        imputed = impute(holes)
        middle = time.perf_counter()
        found = Method().choose(imputed.table)
        after = time.perf_counter()
        pool(imputed, found.solution)
        end = time.perf_counter()
        seconds = {"impute": middle - begin, "network": after - middle, "rubin": end - after, "all": end - begin}
        yield {"p": p, "n": n, "share": share, "rounds": imputed.record.n_rounds, "seconds": seconds}


def summarize(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the means over the stored draws: of each treatment, beside the complete table, and of each interval."""
    whole = {row["draw"]: row for row in rows if row.get("treatment") == "complete"}
    by_name: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        kind = next((kind for kind in ("intervals", "groups") if kind in row), None)
        names = (row["mechanism"], row["treatment"]) if kind is None else (row[kind],)
        by_name.setdefault(names, []).append(row)
    for names, some in by_name.items():
        if "groups" in some[0]:
            rejected = float(np.mean([row["p"] <= 0.05 for row in some]))
            yield {"groups": names[0], "draws": len(some), "rejected": rejected}
            continue
        if len(names) == 1:
            n, inside = sum(row["n"] for row in some), sum(row["held"] for row in some)
            others = {name: float(np.mean([row[name] for row in some])) for name in ("width", "information")}
            yield {"intervals": names[0], "tables": len(some), "held": inside, "n": n, "coverage": inside / n, **others}
            continue
        found = [row for row in some if "error" in row]
        line: dict[str, Any] = {"mechanism": names[0], "treatment": names[1], "draws": len(some), "fitted": len(found)}
        if "kept" in some[0]:
            line["kept"] = float(np.mean([row["kept"] for row in some]))
        for name in ("error", "auc"):
            ratios = [row[name] / whole[row["draw"]][name] for row in found]
            line |= {name: mean_of(found, name), f"{name}_ratio": float(np.mean(ratios)) if ratios else float("nan")}
            line[f"worst_{name}_ratio"] = (max if name == "error" else min)(ratios, default=float("nan"))
        yield line | {name: mean_of(found, name) for name in ("n_edges", "shrinkage", "field_bias")}


def mean_of(rows: list[dict[str, Any]], name: str) -> float:
    """Return the mean of an entry over some rows."""
    return float(np.mean([row[name] for row in rows])) if rows else float("nan")


def read_rows(store: Path | None) -> list[dict[str, Any]]:
    """Return the rows that a file holds."""
    if store is None or not store.exists():
        return []
    return [json.loads(line) for line in store.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    """Run one study and print what it found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", choices=["recovery", "coverage", "groups", "time", "table"])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="number of the first draw")
    parser.add_argument(
        "--resamples", type=int, default=200, help="of each table, for the coverage; 0: Rubin's rules only"
    )
    parser.add_argument("--store", type=Path, help="file that keeps the rows of finished draws")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    draws = 2 if options.quick else options.draws
    stored = read_rows(options.store)
    done = {row["draw"] for row in stored if "draw" in row}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if options.study in ("time", "table"):
            for row in study_time(options.quick) if options.study == "time" else summarize(stored):
                print(json.dumps(row), flush=True)
            return
        for draw in [draw for draw in range(options.first, options.first + draws) if draw not in done]:
            resamples = 20 if options.quick else options.resamples
            if options.study == "coverage":
                rows = study_coverage(draw, resamples)
            else:
                rows = study_recovery(draw) if options.study == "recovery" else study_groups(draw)
            lines = "".join(f"{json.dumps(row)}\n" for row in rows)
            print(lines, end="", flush=True)
            if options.store is not None:
                with options.store.open("a", encoding="utf-8") as stream:
                    stream.write(lines)


if __name__ == "__main__":
    main()
