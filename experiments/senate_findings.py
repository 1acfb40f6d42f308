"""What the Senate network shows: parties, states, Chafee and Ben Nelson, each against permuted labels and subsamples.

Only positive edges count, as in the paper's figure. "The other side" of a Republican is everybody who is not one; of
everybody else it is the Republicans.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from experiments import figures, markdown, published, study
from experiments.contract import Cell, Claim, Config, Row, Verdict
from experiments.senators import PARTY_COLORS, PARTY_NAMES, short_names
from experiments.summary import group, where
from isinglass import ising_path
from isinglass.datasets import Senate109, load_senate109
from isinglass.metrics import GroupMixing, mixing_by_group, mixing_test
from isinglass.records import Solution

NAME = "senate_findings"
TITLE = "Senate: what the network shows"
VERSION = 2
TIMED = False

ALPHAS = (0.03, published.SENATE_LAMBDA, 0.12, 0.18)
"""The paper's λ and others, up to what StARS chooses with its standard settings."""
CHAFEE, NELSON = "CHAFEE (R RI)", "NELSON (D NE)"
SUBSAMPLE = 223
"""Rows of a subsample, 80 % of the roll calls."""
LEVEL = 0.001
"""Largest p-value that counts as a finding."""


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
        rows = np.sort(rng.choice(len(senate.X), SUBSAMPLE, replace=False))
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


# ------------------------------------------------------------------------------------------- what the rows say


def pick(rows: list[Row], what: str, alpha: float = published.SENATE_LAMBDA) -> Row:
    """Return one row."""
    return where(rows, what=what, alpha=alpha)[0]


def share(row: Row) -> float:
    """Return a count as a share."""
    return row["value"] / row["of"]


def senators(rows: list[Row], alpha: float = published.SENATE_LAMBDA) -> list[Row]:
    """Return the rows of the senators."""
    return [row for row in where(rows, alpha=alpha) if row["party"] is not None]


def draw(rows: list[Row]) -> figures.Figure:
    """Draw the tests of parties and states, and every senator's ties to the other side."""
    figure, grid = figures.new_figure(2, size=(9.2, 4.2), width_ratios=(1, 1.35))
    draw_tests(grid[0, 0], rows)
    draw_senators(grid[0, 1], rows)
    return figure


def draw_tests(axes: figures.Axes, rows: list[Row]) -> None:
    """Draw shares of joined pairs."""
    names = ["all pairs joined", "same party joined", "same state joined", "same party and state joined"]
    values = [100 * share(pick(rows, name)) for name in names]
    labels = [name.removesuffix(" joined").replace("party and state", "party\nand state") for name in names]
    axes.barh(labels, values, color=["#999999", "#7a7a7a", "#5b5b5b", "#3c3c3c"], height=0.6)
    for k, (name, value) in enumerate(zip(names, values, strict=True)):
        row = pick(rows, name)
        axes.annotate(
            f"{value:.0f} %  ({row['value']} of {row['of']})",
            (value, k),
            (4, 0),
            textcoords="offset points",
            va="center",
        )
    axes.set(xlim=(0, 140), xlabel="pairs of senators joined by a positive edge (%)", xticks=range(0, 101, 25))
    axes.invert_yaxis()
    axes.grid(visible=False)


def draw_senators(axes: figures.Axes, rows: list[Row]) -> None:
    """Draw the share of edges and of weight to the other side, one point per senator."""
    for party, found in group(senators(rows), "party").items():
        x, y = ([100 * row[name] for row in found] for name in ("edge_share", "value"))
        axes.plot(x, y, "o", color=PARTY_COLORS[party], markersize=5, alpha=0.7, label=PARTY_NAMES[party])
    found = senators(rows)
    for name, row in zip(short_names([row["what"] for row in found]), found, strict=True):
        if row["value"] > 0.15:
            side = {"xytext": (-6, 4), "ha": "right"} if row["edge_share"] < 0.5 < row["value"] else {"xytext": (6, -3)}
            axes.annotate(name, (100 * row["edge_share"], 100 * row["value"]), textcoords="offset points", **side)
    none = sum(row["value"] == 0 for row in found)
    axes.annotate(f"{none} senators", (0, 0), xytext=(14, -3), textcoords="offset points", color="#555555")
    axes.axhline(50, color="#888888", linewidth=0.9, linestyle="--")
    axes.axvline(50, color="#888888", linewidth=0.9, linestyle="--")
    axes.set(xlim=(-3, 100), ylim=(-3, 100))
    axes.set(xlabel="positive edges to the other side (%)", ylabel="positive weight to the other side (%)")
    axes.legend(frameon=False, loc="lower right")


# ------------------------------------------------------------------------------------------- the page


def section(rows: list[Row]) -> str:
    """Return the numbers of the three findings, at the paper's λ and at others."""
    edges, positive = pick(rows, "edges"), pick(rows, "positive edges")
    return f"""\
At λ = {published.SENATE_LAMBDA} the network has {edges["value"]} edges among {edges["of"]} pairs,
{positive["value"]} of them positive. Permutation tests keep the network and deal the labels out anew: parties among all
senators, states among the senators of one party, so that what party explains is left out.

{test_table(rows)}
Pairs of senators joined by a positive edge:

{joined_table(rows)}
Ties to the other side (of a Republican: to all others; of the others: to Republicans), by weight and by number of
positive edges; rank in the party by weight, and the largest share of any other member. *If blind* is the probability of
so large a share if his ties did not look at party (the others' parties permuted); *held* is the share of subsamples of
{SUBSAMPLE} roll calls in which more than half of his weight goes there.

{senator_table(rows)}
"""


def test_table(rows: list[Row]) -> str:
    """Return the permutation tests at every λ."""
    lines = []
    for alpha in group(rows, "alpha"):
        for what in ("edges within a party", "weight within a party", "edges within a state", "weight within a state"):
            row = pick(rows, what, alpha)
            lines.append(
                [
                    f"{alpha:g}",
                    what,
                    f"{row['value']:.0f} of {row['of']:.0f}"
                    if what.startswith("edges")
                    else f"{row['value']:.1f} of {row['of']:.1f}",
                    f"{100 * share(row):.1f} %",
                    f"{row['expected']:.1f} ± {row['spread']:.1f}",
                    f"{row['p_value']:.4f}",
                ]
            )
    return markdown.table(["λ", "", "observed", "share", "permuted: mean ± sd", "p"], lines, text_columns=2)


def joined_table(rows: list[Row]) -> str:
    """Return the shares of joined pairs at every λ."""
    names = ("all pairs joined", "same party joined", "same state joined", "same party and state joined")
    lines = [
        [
            f"{alpha:g}",
            *(
                f"{row['value']} of {row['of']} ({100 * share(row):.0f} %)"
                for row in (pick(found, name, alpha) for name in names)
            ),
        ]
        for alpha, found in group(rows, "alpha").items()
    ]
    return markdown.table(["λ", *(name.removesuffix(" joined") for name in names)], lines, text_columns=0)


def senator_table(rows: list[Row]) -> str:
    """Return Chafee and Nelson at every λ."""
    lines = []
    for alpha in group(rows, "alpha"):
        for name in (CHAFEE, NELSON):
            row = pick(rows, name, alpha)
            lines.append(
                [
                    f"{alpha:g}",
                    name,
                    f"{100 * row['value']:.0f} %",
                    f"{100 * row['edge_share']:.0f} % of {row['edges']}",
                    f"{row['rank']} of {row['peers']}",
                    f"{100 * row['next']:.0f} %",
                    f"{row['p_value']:.3f}",
                    f"{100 * row['held']:.0f} %",
                ]
            )
    header = ["λ", "senator", "by weight", "by edges", "rank", "next", "if blind", "held"]
    return markdown.table(header, lines, text_columns=2)


def claims(rows: list[Row]) -> list[Claim]:
    """Judge the findings, and what the paper only states."""
    return [judge_party(rows), judge_chafee(rows), judge_nelson(rows), judge_states(rows)]


def judge_party(rows: list[Row]) -> Claim:
    """Ask whether the network divides into parties."""
    row, pairs = pick(rows, "edges within a party"), pick(rows, "same party joined")
    verdict = Verdict.NOT if row["p_value"] > LEVEL else Verdict.REPRODUCED if share(row) >= 0.9 else Verdict.REMARK
    finding = (
        f"{100 * share(row):.1f} % of the {row['of']:.0f} positive edges join members of one party, {row['value']:.0f} "
        f"against {row['expected']:.0f} ± {row['spread']:.0f} with permuted parties (p = {row['p_value']:.4f}); "
        f"{100 * share(pairs):.0f} % of the pairs of one party are joined."
    )
    rule = (
        f"reproduced if p ≤ {LEVEL} and at least 90 % of the positive edges stay within a party, with a remark if p ≤ "
        f"{LEVEL} alone, else not."
    )
    return Claim(
        "The senators divide into a Democratic and a Republican cluster", "Figure of the Senate", verdict, finding, rule
    )


def judge_chafee(rows: list[Row]) -> Claim:
    """Ask whether Chafee is closer to the Democrats, and has more connections to them."""
    row = pick(rows, CHAFEE)
    verdict = lean_verdict(row)
    finding = (
        f"{100 * row['value']:.0f} % of his positive weight but {100 * row['edge_share']:.0f} % of his {row['edges']} "
        f"positive edges lead to senators of other parties: the largest share of the {row['peers']} Republicans, the "
        f"next has {100 * row['next']:.0f} %. More than half of the weight does in {100 * row['held']:.0f} % of the "
        f"subsamples. Ties blind to party would lean as much with probability {row['p_value']:.2f}: he stands between "
        "the parties rather than within the other one."
    )
    text = "Chafee, a Republican, is closer and has more connections to Democrats"
    return Claim(text, "Section on real data", verdict, finding, LEAN_RULE)


def judge_nelson(rows: list[Row]) -> Claim:
    """Ask whether Ben Nelson is closer to the Republicans."""
    row = pick(rows, NELSON)
    finding = (
        f"{100 * row['value']:.0f} % of his positive weight and {100 * row['edge_share']:.0f} % of his {row['edges']} "
        f"positive edges lead to Republicans, the largest share of the {row['peers']} Democrats (the next has "
        f"{100 * row['next']:.0f} %); in {100 * row['held']:.0f} % of the subsamples it is more than half."
    )
    text = "Ben Nelson, a Democrat, is closer to Republicans and has connections with them"
    return Claim(text, "Section on real data", lean_verdict(row), finding, LEAN_RULE)


LEAN_RULE = (
    "reproduced if more than half of his positive weight and more than half of his positive edges lead to the other "
    "side, with a remark if one of the two does, else not."
)


def lean_verdict(row: Row) -> Verdict:
    """Return the verdict of the rule above."""
    leaning = (row["value"] > 0.5) + (row["edge_share"] > 0.5)
    return (Verdict.NOT, Verdict.REMARK, Verdict.REPRODUCED)[leaning]


def judge_states(rows: list[Row]) -> Claim:
    """Ask whether senators of one state have more connections, beyond what party explains."""
    test, state = pick(rows, "edges within a state"), pick(rows, "same state joined")
    both, party, every = (pick(rows, f"{name} joined") for name in ("same party and state", "same party", "all pairs"))
    verdict = Verdict.REPRODUCED if test["p_value"] <= LEVEL else Verdict.NOT
    finding = (
        f"{100 * share(state):.0f} % of the {state['of']} pairs of one state are joined by a positive edge against "
        f"{100 * share(every):.0f} % of all pairs; of those who also share the party {100 * share(both):.0f} % against "
        f"{100 * share(party):.0f} % of all pairs of one party. With states permuted within parties there would be "
        f"{test['expected']:.1f} ± {test['spread']:.1f} such edges instead of {test['value']:.0f} (p = "
        f"{test['p_value']:.4f})."
    )
    rule = f"reproduced if p ≤ {LEVEL} with states permuted within parties, else not."
    text = "Senators of the same party and of the same state tend to have more connections"
    return Claim(text, "Section on real data", verdict, finding, rule)
