"""What the Senate network shows: parties, states, Chafee and Ben Nelson, each against permuted labels and subsamples.

Only positive edges count, as in the paper's figure. "The other side" of a Republican is everybody who is not one; of
everybody else it is the Republicans.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isinglass import ising_path
from isinglass.datasets import Senate109, load_senate109
from isinglass.evaluate.metrics import GroupMixing, mixing_by_group, mixing_test
from isinglass.results import Solution
from paper import published, study
from paper.contract import Cell, Config, Row
from paper.senate_findings_report import claims, draw, section
from paper.senators import CHAFEE, EIGHTY_PERCENT, NELSON

__all__ = ["claims", "draw", "section"]

NAME = "senate_findings"
TITLE = "Senate: what the network shows"
VERSION = 2
TIMED = False

ALPHAS = (0.03, published.SENATE_LAMBDA, 0.12, 0.18)
"""The paper's λ and others; the last is above every λ that StARS chooses with its standard settings."""


def cells(config: Config) -> list[Cell]:
    """Return one cell per λ."""
    alphas = (published.SENATE_LAMBDA,) if config.quick else ALPHAS
    sizes = (
        {"n_permutations": 999, "n_subsamples": 10} if config.quick else {"n_permutations": 9999, "n_subsamples": 200}
    )
    return [{"alpha": alpha, "seed": config.seed, **sizes} for alpha in alphas]


def run_cell(cell: Cell) -> list[Row]:
    """Measure the findings in the network at one λ."""
    senate, rng = load_senate109(), np.random.default_rng([cell["seed"], round(1e6 * cell["alpha"])])
    network = ising_path(senate.X, [cell["alpha"]], n_threads=1)[0]
    rows = [*count_edges(network, senate), *test_groups(network, senate, cell["n_permutations"], rng)]
    rows += describe_senators(network, senate, cell["n_permutations"], rng)
    held = hold_in_subsamples(senate, cell["alpha"], cell["n_subsamples"], rng)
    return [{"alpha": cell["alpha"], **row, **held.get(row["what"], {})} for row in rows]


def run(config: Config) -> list[Row]:
    """Return the rows of all λ."""
    return study.run_item(sys.modules[__name__], config)


# ------------------------------------------------------------------------------------------- measuring


def count_edges(network: Solution, senate: Senate109) -> list[Row]:
    """Return the numbers of edges and of positive ones, and how many pairs are joined by a positive one."""
    same = {
        "all pairs": mixing_by_group(network, [0] * network.n_features),
        "same party": mixing_by_group(network, senate.parties),
        "same state": mixing_by_group(network, senate.states),
        "same party and state": mixing_by_group(network, by_party_and_state(senate)),
    }
    rows: list[Row] = [
        {"what": "edges", "value": network.n_edges, "of": network.n_features * (network.n_features - 1) // 2},
        {"what": "positive edges", "value": int((network.edge_values > 0).sum()), "of": network.n_edges},
    ]
    rows += [
        {"what": f"{name} joined", "value": found.n_within, "of": found.n_pairs_within} for name, found in same.items()
    ]
    return rows


def test_groups(network: Solution, senate: Senate109, n_permutations: int, rng: np.random.Generator) -> list[Row]:
    """Test that positive edges stay within parties, and within states when states are permuted within parties."""
    tests = {"party": (senate.parties, None), "state": (senate.states, senate.parties)}
    rows = []
    for name, (groups, strata) in tests.items():
        mixing = mixing_by_group(network, groups)
        for measure, weighted in (("edges", False), ("weight", True)):
            found = mixing_test(
                network, groups, strata=strata, weighted=weighted, n_permutations=n_permutations, random_state=rng
            )
            total = mixing.node_weights.sum() / 2 if weighted else mixing.n_edges
            rows.append(
                {
                    "what": f"{measure} within a {name}",
                    "value": found.observed,
                    "of": float(total),
                    "expected": found.expected,
                    "spread": found.spread,
                    "p_value": found.p_value,
                }
            )
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


def other_side(mixing: GroupMixing, table: NDArray[np.generic]) -> NDArray[np.float64]:
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


def by_party_and_state(senate: Senate109) -> list[tuple[str, str]]:
    """Return both attributes of every senator as one."""
    return list(zip(senate.parties, senate.states, strict=True))
