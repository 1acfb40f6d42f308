"""What the Senate network shows: parties, states, Chafee and Ben Nelson, each against permuted labels and subsamples.

Only positive edges count, as in the paper's figure. "The other side" of a Republican is everybody who is not one; of
everybody else it is the Republicans.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isinglass import Solution, ising_path
from isinglass.datasets import Senate109, load_senate109
from paper import figures, printed
from paper.evidence import Verdict, judge, pick
from paper.mixing import mixing_by_group, mixing_test
from paper.senate_lambda import EIGHTY_PERCENT
from paper.senate_network import PARTY_COLORS, PARTY_NAMES, short_names
from paper.study import Cell, Config, Row

VERSION = 2
TIMED = False

ALPHAS = (0.03, printed.SENATE_LAMBDA, 0.12, 0.18)
"""The paper's λ and others; the last is above every λ that StARS chooses with its standard settings."""
CHAFEE, NELSON = "CHAFEE (R RI)", "NELSON (D NE)"
TESTS = ("edges within a party", "weight within a party", "edges within a state", "weight within a state")
JOINED = ("all pairs", "same party", "same state", "same party and state")
LEVEL = 0.001
"""Largest p-value that counts as a finding about the whole network."""
UNUSUAL = 0.05
"""Largest p-value that counts as unusual for one senator: a rank in a party of 44 cannot have one below 1/44."""


def cells(config: Config) -> list[Cell]:
    """Return one cell per λ."""
    n_permutations, n_subsamples = (999, 10) if config.quick else (9999, 200)
    sizes = {"n_permutations": n_permutations, "n_subsamples": n_subsamples}
    return [
        {"alpha": alpha, "seed": config.seed, **sizes}
        for alpha in ((printed.SENATE_LAMBDA,) if config.quick else ALPHAS)
    ]


def run_cell(cell: Cell) -> list[Row]:
    """Measure the findings in the network at one λ."""
    senate, rng = load_senate109(), np.random.default_rng([cell["seed"], round(1e6 * cell["alpha"])])
    network = ising_path(senate.X, [cell["alpha"]], n_threads=1)[0]
    rows = [*count_edges(network, senate), *test_groups(network, senate, cell["n_permutations"], rng)]
    rows += describe_senators(network, senate, cell["n_permutations"], rng)
    held = hold_in_subsamples(senate, cell["alpha"], cell["n_subsamples"], rng)
    return [{"alpha": cell["alpha"], **row, **held.get(row["what"], {})} for row in rows]


# ------------------------------------------------------------------------------------------- measuring


def count_edges(network: Solution, senate: Senate109) -> list[Row]:
    """Return the numbers of edges and of positive ones, and how many pairs are joined by a positive one."""
    both = list(zip(senate.parties, senate.states, strict=True))
    p = network.network.n_features
    groups = dict(zip(JOINED, ([0] * p, senate.parties, senate.states, both), strict=True))
    found = {name: mixing_by_group(network, labels) for name, labels in groups.items()}
    return [
        {"what": "edges", "value": network.n_edges, "of": p * (p - 1) // 2},
        {"what": "positive edges", "value": int((network.edge_values > 0).sum()), "of": network.n_edges},
        *({"what": f"{name} joined", "value": m.n_within, "of": m.n_pairs_within} for name, m in found.items()),
    ]


def test_groups(network: Solution, senate: Senate109, n_permutations: int, rng: np.random.Generator) -> list[Row]:
    """Test that positive edges stay within parties, and within states when states are permuted within parties."""
    rows = []
    for name, groups, strata in (("party", senate.parties, None), ("state", senate.states, senate.parties)):
        mixing = mixing_by_group(network, groups)
        for measure, total in (("edges", mixing.n_edges), ("weight", mixing.node_weights.sum() / 2)):
            options = {"strata": strata, "weighted": measure == "weight", "n_permutations": n_permutations}
            found = mixing_test(network, groups, random_state=rng, **options)
            row = {"what": f"{measure} within a {name}", "value": found.observed, "of": float(total)}
            rows.append(row | {"expected": found.expected, "spread": found.spread, "p_value": found.p_value})
    return rows


def describe_senators(network: Solution, senate: Senate109, n_permutations: int, rng: np.random.Generator) -> list[Row]:
    """Return each senator's ties to the other side, by weight and by number, with two tests of either.

    ``rank_p`` (``edge_rank_p``) is the probability of at least his rank within his party if its members were
    exchangeable. ``p_value`` (``edge_p_value``) keeps his edges and his party and permutes the parties of the others:
    the probability of at least as large a share on the other side if his ties did not look at parties at all.
    """
    mixing, parties = mixing_by_group(network, senate.parties), np.array(senate.parties)
    edges, weight = other_side(mixing, mixing.node_edges), other_side(mixing, mixing.node_weights)
    positive = np.maximum(network.couplings, 0.0)
    rows = []
    for s, name in enumerate(senate.names):
        peers = np.flatnonzero((parties == parties[s]) & (np.arange(len(parties)) != s))
        ties = np.column_stack([positive[s], positive[s] > 0])
        blind = share_test(ties, parties, s, n_permutations, rng)
        rows.append(
            {
                "what": name,
                "party": senate.parties[s],
                "edges": int(mixing.node_edges[s].sum()),
                "peers": len(peers) + 1,
                **compare(weight[s], weight[peers], ("value", "rank", "next", "rank_p")),
                "p_value": blind[0],
                **compare(edges[s], edges[peers], ("edge_share", "edge_rank", "edge_next", "edge_rank_p")),
                "edge_p_value": blind[1],
            }
        )
    return rows


def compare(own: float, peers: NDArray[np.float64], names: Sequence[str]) -> Row:
    """Return a share, its rank among those of the party, the largest of the others, and the p-value of the rank.

    The p-value counts ties against him: (1 + others with at least his share) / members.
    """
    rank = int((peers > own).sum()) + 1
    at_least = 1 + int((peers >= own - 1e-12).sum())
    values = (float(own), rank, float(np.max(peers, initial=0.0)), at_least / (len(peers) + 1))
    return dict(zip(names, values, strict=True))


def other_side(mixing: Any, table: NDArray[np.generic]) -> NDArray[np.float64]:
    """Return each node's share on the other side; 0 for a node without positive edges."""
    republican = mixing.groups.index("R")
    to_republicans = table[:, republican].astype(float)
    total = table.sum(axis=1).astype(float)
    away = np.where(mixing.members == republican, total - to_republicans, to_republicans)
    return np.divide(away, total, out=np.zeros(len(total)), where=total > 0)


def share_test(
    ties: NDArray[np.float64], parties: NDArray[np.str_], s: int, n_permutations: int, rng: np.random.Generator
) -> list[float]:
    """Return the p-value of a senator's share on the other side for each column of ties, others' parties permuted."""
    others = np.delete(np.arange(len(parties)), s)
    republicans = np.tile(parties[others] == "R", (n_permutations, 1))
    opposite = rng.permuted(republicans, axis=1) != (parties[s] == "R")
    drawn = opposite @ ties[others]
    observed = ((parties[others] == "R") != (parties[s] == "R")) @ ties[others]
    return ((1 + np.count_nonzero(drawn >= observed - 1e-9, axis=0)) / (1 + n_permutations)).tolist()


def hold_in_subsamples(senate: Senate109, alpha: float, n_subsamples: int, rng: np.random.Generator) -> dict[str, Row]:
    """Return how often either leans to the other side in random subsamples of the roll calls: by weight, by edges."""
    leaning = {CHAFEE: np.zeros(2), NELSON: np.zeros(2)}
    for _ in range(n_subsamples):
        rows = np.sort(rng.choice(len(senate.X), EIGHTY_PERCENT, replace=False))
        mixing = mixing_by_group(ising_path(senate.X[rows], [alpha], n_threads=1)[0], senate.parties)
        shares = np.column_stack([other_side(mixing, mixing.node_weights), other_side(mixing, mixing.node_edges)])
        for name in leaning:
            leaning[name] += shares[senate.names.index(name)] > 0.5
    return {
        name: dict(zip(("held", "edge_held"), (counts / n_subsamples).tolist(), strict=True))
        for name, counts in leaning.items()
    }


# ------------------------------------------------------------------------------------------- what the rows say


def counts_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Return what is said about the whole network, by λ and name, with its share."""
    found = rows[rows["party"].isna()].set_index(["alpha", "what"])
    return found[["value", "of", "expected", "spread", "p_value"]].assign(share=found["value"] / found["of"])


def senators_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the senators by λ and name, each by weight and by edges."""
    found = rows.dropna(subset="party").rename(columns={"value": "share"})
    names = ["share", "rank", "next", "rank_p", "p_value", "held"]
    common = found[["alpha", "what", "party", "edges", "peers"]]
    weight = common.assign(by="weight").join(found[names])
    edges = common.assign(by="edges").join(found[[f"edge_{name}" for name in names]].set_axis(names, axis=1))
    return pd.concat([weight, edges]).sort_index(kind="stable").set_index(["alpha", "what", "by"])


def judge_lean(shares: pd.Series) -> Verdict:
    """Judge by how many of a senator's two shares on the other side are more than half."""
    return judge((shares > 0.5).all(), (shares > 0.5).any())


def facts(rows: pd.DataFrame) -> dict[str, Any]:
    """Return what the text says."""
    counts, senators = counts_of(rows), senators_of(rows)
    here, men = counts.loc[printed.SENATE_LAMBDA], senators.loc[printed.SENATE_LAMBDA]
    two = senators[senators.index.isin([CHAFEE, NELSON], level="what")]
    party, state = here.loc["edges within a party"], here.loc["edges within a state"]
    return {
        "eighty": EIGHTY_PERCENT,
        "parties": PARTY_NAMES,
        "here": here.T.to_dict(),
        "tests": counts[counts.index.isin(TESTS, level="what")],
        "joined": counts[counts.index.isin([f"{name} joined" for name in JOINED], level="what")],
        "both": two.sort_index(level=["alpha", "what"], sort_remaining=False, kind="stable"),
        "men": {name: men.loc[name].T.to_dict() for name in (CHAFEE, NELSON)},
        "verdicts": {
            "party": judge(party["p_value"] <= LEVEL and party["share"] >= 0.9, party["p_value"] <= LEVEL),
            "state": judge(state["p_value"] <= LEVEL),
            **{name: judge_lean(men.loc[name, "share"]) for name in (CHAFEE, NELSON)},
        },
    }


def draw(rows: pd.DataFrame) -> figures.Figure:
    """Draw the tests of parties and states, and every senator's ties to the other side."""
    figure, grid = figures.new_figure(2, size=(9.2, 4.2), width_ratios=(1, 1.35))
    draw_joined(grid[0, 0], counts_of(rows).loc[printed.SENATE_LAMBDA])
    draw_senators(grid[0, 1], pick(rows, alpha=printed.SENATE_LAMBDA).dropna(subset="party"))
    return figure


def draw_joined(axes: Any, counts: pd.DataFrame) -> None:
    """Draw shares of joined pairs."""
    found = counts.loc[[f"{name} joined" for name in JOINED]]
    labels = [name.replace("party and state", "party\nand state") for name in JOINED]
    axes.barh(labels, 100 * found["share"], color=["#999999", "#7a7a7a", "#5b5b5b", "#3c3c3c"], height=0.6)
    for k, row in enumerate(found.itertuples()):
        text = f"{100 * row.share:.0f} %  ({row.value:.0f} of {row.of:.0f})"
        axes.annotate(text, (100 * row.share, k), (4, 0), textcoords="offset points", va="center")
    axes.set(xlim=(0, 140), xlabel="pairs of senators joined by a positive edge (%)", xticks=range(0, 101, 25))
    axes.invert_yaxis()
    axes.grid(visible=False)


def draw_senators(axes: Any, found: pd.DataFrame) -> None:
    """Draw the share of edges and of weight to the other side, one point per senator."""
    for party, members in found.groupby("party", sort=False):
        style = {"color": PARTY_COLORS[party], "markersize": 5, "alpha": 0.7, "label": PARTY_NAMES[party]}
        axes.plot(100 * members["edge_share"], 100 * members["value"], "o", **style)
    for name, row in zip(short_names(found["what"]), found.itertuples(), strict=True):
        if row.value > 0.15:
            side = {"xytext": (-6, 4), "ha": "right"} if row.edge_share < 0.5 < row.value else {"xytext": (6, -3)}
            axes.annotate(name, (100 * row.edge_share, 100 * row.value), textcoords="offset points", **side)
    none = (found["value"] == 0).sum()
    axes.annotate(f"{none} senators", (0, 0), xytext=(14, -3), textcoords="offset points", color="#555555")
    axes.axhline(50, color="#888888", linewidth=0.9, linestyle="--")
    axes.axvline(50, color="#888888", linewidth=0.9, linestyle="--")
    axes.set(xlim=(-3, 100), ylim=(-3, 100))
    axes.set(xlabel="positive edges to the other side (%)", ylabel="positive weight to the other side (%)")
    axes.legend(frameon=False, loc="lower right")
