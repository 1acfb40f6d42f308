"""The Senate's missing votes: imputed from the network, against counted as nay as in the paper."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from isinglass import Network, Run, impute, ising_path
from isinglass.datasets import load_senate109
from isinglass.pairs import pair_keys, pairs_of, values_at
from paper import figures, printed
from paper.evidence import pick
from paper.study import Cell, Config, Row

VERSION = 1
TIMED = False

KINDS = {"paper": f"λ = {printed.SENATE_LAMBDA}"}


def cells(config: Config) -> list[Cell]:
    """Return one cell: the network at the paper's λ."""
    few = 2 if config.quick else 10
    return [{"kind": kind, "seed": config.seed, "n_imputations": few} for kind in KINDS]


def run_cell(cell: Cell) -> list[Row]:
    """Return every pair with an edge in one of the two networks, and its couplings."""
    senate = load_senate109()
    imputed = impute(senate.votes, n_imputations=cell["n_imputations"], random_state=cell["seed"], run=Run(n_threads=1))
    tables: tuple[Any, Any] = (senate.X, imputed.table)
    networks = [ising_path(table, [printed.SENATE_LAMBDA], n_threads=1)[0].network for table in tables]
    absent = np.isnan(senate.votes)
    most = int(absent.sum(axis=0).argmax())
    common = {
        "kind": cell["kind"],
        "rounds": imputed.record.n_rounds,
        "missing": int(absent.sum()),
        "votes": absent.size,
        "rollcalls": len(absent),
        "absentee": senate.names[most],
        "missed": int(absent[:, most].sum()),
    }
    return [common | row for row in compare(*networks, senate.names)]


def compare(nay: Network, imputed: Network, names: tuple[str, ...]) -> list[Row]:
    """Return the couplings of all pairs that have an edge in either network."""
    keys = [pair_keys(network.edge_index, len(names)) for network in (nay, imputed)]
    every = np.unique(np.concatenate(keys))
    first, second = (
        values_at(network.edge_values, key, every) for network, key in zip((nay, imputed), keys, strict=True)
    )
    return [
        {"first": names[s], "second": names[t], "nay": float(a), "imputed": float(b)}
        for (s, t), a, b in zip(pairs_of(every, len(names)).tolist(), first, second, strict=True)
    ]


def facts(rows: pd.DataFrame) -> dict[str, Any]:
    """Return what the text says."""
    return {
        **rows[["missing", "votes", "rollcalls", "absentee", "missed"]].iloc[0],
        "kinds": {name: describe(pick(rows, kind=kind)) for kind, name in KINDS.items()},
    }


def describe(rows: pd.DataFrame) -> dict[str, Any]:
    """Return the counts of edges that stay, go and come, and the strongest of those that change."""
    nay, imputed = rows["nay"] != 0, rows["imputed"] != 0
    gone, new = rows[nay & ~imputed], rows[imputed & ~nay]
    signs = int((np.sign(rows["nay"]) * np.sign(rows["imputed"]) < 0).sum())
    return {
        "nay": int(nay.sum()),
        "imputed": int(imputed.sum()),
        "both": int((nay & imputed).sum()),
        "gone": strongest(gone, "nay"),
        "new": strongest(new, "imputed"),
        "n_gone": len(gone),
        "n_new": len(new),
        "signs": signs,
        "correlation": float(rows["nay"].corr(rows["imputed"])),
    }


def strongest(rows: pd.DataFrame, column: str, count: int = 3) -> list[str]:
    """Return the strongest edges in words."""
    order = rows[column].abs().sort_values(ascending=False, kind="stable").index[:count]
    return [f"{row.first}–{row.second} ({getattr(row, column):+.2f})" for row in rows.loc[order].itertuples()]


def draw(rows: pd.DataFrame) -> figures.Figure:
    """Draw the couplings of the two networks against each other."""
    figure, grid = figures.new_figure(1, size=(4.6, 4.2))
    for axes, (kind, name) in zip(grid[0], KINDS.items(), strict=True):
        found = pick(rows, kind=kind)
        low, high = found[["nay", "imputed"]].to_numpy().min(), found[["nay", "imputed"]].to_numpy().max()
        axes.plot([low, high], [low, high], color="#aaaaaa", linewidth=0.8)
        axes.plot(found["nay"], found["imputed"], "o", markersize=3, color="#30506d", alpha=0.6)
        axes.set(xlabel="coupling, missing votes counted as nay", ylabel="imputed", title=name)
    return figure
