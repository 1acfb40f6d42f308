"""What the rows of ``senate_findings`` say: figure, tables and verdicts."""

from __future__ import annotations

from paper import figures, markdown, published
from paper.contract import Claim, Row, Verdict
from paper.senators import CHAFEE, EIGHTY_PERCENT, NELSON, PARTY_COLORS, PARTY_NAMES, short_names
from paper.summary import group, where

LEVEL = 0.001
"""Largest p-value that counts as a finding about the whole network."""
UNUSUAL = 0.05
"""Largest p-value that counts as unusual for one senator: a rank in a party of 44 cannot have one below 1/44."""


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
positive edges: his share, its rank in the party, and the largest share of any other member. Two tests of either.
*Rank* is the probability of so high a rank if the members of his party were exchangeable, (1 + members with at least
his share) / members, ties counted against him. *Blind* is the probability of so large a share if his ties did not look
at party (the others' parties permuted). *Held* is the share of subsamples of {EIGHTY_PERCENT} roll calls in which more
than half of his ties goes there. {edgeless_sentence(rows)}

{senator_table(rows)}
"""


def edgeless_sentence(rows: list[Row]) -> str:
    """Say at which λ one of the two has no positive edge, so that he has no share."""
    found = [
        f"{name} at λ = {alpha:g}"
        for alpha in group(rows, "alpha")
        for name in (CHAFEE, NELSON)
        if not pick(rows, name, alpha)["edges"]
    ]
    return f"No positive edge at all: {', '.join(found)}." if found else ""


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
    """Return Chafee and Nelson at every λ, by weight and by edges."""
    lines = []
    for alpha in group(rows, "alpha"):
        for name in (CHAFEE, NELSON):
            row = pick(rows, name, alpha)
            for measure in MEASURES:
                lines.append([f"{alpha:g}", name, MEASURES[measure], *senator_line(row, measure)])
    header = ["λ", "senator", "by", "share", "rank", "next", "p: rank", "p: blind", "held"]
    return markdown.table(header, lines, text_columns=3)


MEASURES = {"": "weight", "edge_": "edges"}
"""Prefix of a senator's columns and what they measure."""


def senator_line(row: Row, measure: str) -> list[str]:
    """Return what is known of one senator by one measure; nothing where he has no edge."""
    if not row["edges"]:
        return ["no edge", *["–"] * 5]
    number = f" of {row['edges']}" if measure else ""
    return [
        f"{100 * own_share(row, measure):.0f} %{number}",
        f"{row[f'{measure}rank']} of {row['peers']}",
        f"{100 * row[f'{measure}next']:.0f} %",
        f"{row[f'{measure}rank_p']:.3f}",
        f"{row[f'{measure}p_value']:.4f}",
        f"{100 * row[f'{measure}held']:.0f} %",
    ]


def own_share(row: Row, measure: str) -> float:
    """Return a senator's share on the other side."""
    return row["edge_share" if measure else "value"]


def claims(rows: list[Row]) -> list[Claim]:
    """Judge the findings, and what the paper only states."""
    return [judge_party(rows), judge_chafee(rows), judge_nelson(rows), judge_states(rows)]


def judge_party(rows: list[Row]) -> Claim:
    """Ask whether the network divides into parties."""
    row, pairs = pick(rows, "edges within a party"), pick(rows, "same party joined")
    weight = pick(rows, "weight within a party")
    verdict = Verdict.NOT if row["p_value"] > LEVEL else Verdict.REPRODUCED if share(row) >= 0.9 else Verdict.REMARK
    finding = (
        f"{100 * share(row):.1f} % of the {row['of']:.0f} positive edges join members of one party, {row['value']:.0f} "
        f"against {row['expected']:.0f} ± {row['spread']:.0f} with permuted parties (p = {row['p_value']:.4f}; "
        f"{100 * share(weight):.1f} % of the weight, p = {weight['p_value']:.4f}); {100 * share(pairs):.0f} % of the "
        "pairs of one party are joined."
    )
    rule = (
        f"reproduced if p ≤ {LEVEL} by number of edges and at least 90 % of the positive edges stay within a party, "
        f"with a remark if p ≤ {LEVEL} alone, else not."
    )
    return Claim(
        "The senators divide into a Democratic and a Republican cluster", "Figure of the Senate", verdict, finding, rule
    )


def judge_chafee(rows: list[Row]) -> Claim:
    """Ask whether Chafee is closer to the Democrats, and has more connections to them."""
    row = pick(rows, CHAFEE)
    text = "Chafee, a Republican, is closer and has more connections to Democrats"
    finding = lean_finding(row, "senators of other parties")
    return Claim(text, "Section on real data", lean_verdict(row), finding, LEAN_RULE)


def judge_nelson(rows: list[Row]) -> Claim:
    """Ask whether Ben Nelson is closer to the Republicans."""
    row = pick(rows, NELSON)
    text = "Ben Nelson, a Democrat, is closer to Republicans and has connections with them"
    return Claim(text, "Section on real data", lean_verdict(row), lean_finding(row, "Republicans"), LEAN_RULE)


LEAN_RULE = (
    "reproduced if more than half of his positive weight and more than half of his positive edges lead to the other "
    f"side, with a remark if one of the two does, else not. Unusual: p ≤ {UNUSUAL}."
)


def lean_verdict(row: Row) -> Verdict:
    """Return the verdict of the rule above."""
    leaning = sum(own_share(row, measure) > 0.5 for measure in MEASURES)
    return (Verdict.NOT, Verdict.REMARK, Verdict.REPRODUCED)[leaning]


def lean_finding(row: Row, others: str) -> str:
    """Say how far a senator leans to the other side, how that compares with his party, and how firm it is."""
    if not row["edges"]:
        return f"He has no positive edge at λ = {row['alpha']:g}."
    shares = {measure: own_share(row, measure) for measure in MEASURES}
    joint = "and" if (shares[""] > 0.5) == (shares["edge_"] > 0.5) else "but"
    ranks = ", ".join(
        f"by {by} {rank_words(row, measure)} (p = {row[f'{measure}rank_p']:.3f})" for measure, by in MEASURES.items()
    )
    blind = " and ".join(f"{row[f'{measure}p_value']:.4f} by {by}" for measure, by in MEASURES.items())
    held = " and ".join(f"{100 * row[f'{measure}held']:.0f} % by {by}" for measure, by in MEASURES.items())
    return (
        f"{100 * shares['']:.0f} % of his positive weight {joint} {100 * shares['edge_']:.0f} % of his {row['edges']} "
        f"positive edges lead to {others}. Of the {row['peers']} {PARTY_NAMES[row['party']]}s he is {ranks}. Ties "
        f"blind to party would lean as much with probability {blind}. More than half goes there in {held} of the "
        f"subsamples. {lean_words(row)}"
    )


def rank_words(row: Row, measure: str) -> str:
    """Return a rank in words, with the largest share of the others."""
    rank, following = row[f"{measure}rank"], 100 * row[f"{measure}next"]
    if rank == 1 and row[f"{measure}next"] < own_share(row, measure):
        return f"the first, the next has {following:.0f} %"
    return f"number {rank}, the largest other share is {following:.0f} %"


def lean_words(row: Row) -> str:
    """Say what the two tests together mean."""
    unusual = [by for measure, by in MEASURES.items() if row[f"{measure}rank_p"] <= UNUSUAL]
    leaning = [by for measure, by in MEASURES.items() if row[f"{measure}p_value"] <= UNUSUAL]
    party = f"For his party that is unusual by {' and by '.join(unusual)}" if unusual else "For his party it is usual"
    if leaning:
        return f"{party}, and by {' and by '.join(leaning)} it is more than ties blind to party would show."
    return f"{party}; it is no more than ties blind to party would show."


def judge_states(rows: list[Row]) -> Claim:
    """Ask whether senators of one state have more connections, beyond what party explains."""
    test, state = pick(rows, "edges within a state"), pick(rows, "same state joined")
    weight = pick(rows, "weight within a state")
    both, party, every = (pick(rows, f"{name} joined") for name in ("same party and state", "same party", "all pairs"))
    verdict = Verdict.REPRODUCED if test["p_value"] <= LEVEL else Verdict.NOT
    finding = (
        f"{100 * share(state):.0f} % of the {state['of']} pairs of one state are joined by a positive edge against "
        f"{100 * share(every):.0f} % of all pairs; of those who also share the party {100 * share(both):.0f} % against "
        f"{100 * share(party):.0f} % of all pairs of one party. With states permuted within parties there would be "
        f"{test['expected']:.1f} ± {test['spread']:.1f} such edges instead of {test['value']:.0f} (p = "
        f"{test['p_value']:.4f}; by weight p = {weight['p_value']:.4f})."
    )
    rule = f"reproduced if p ≤ {LEVEL} by number of edges with states permuted within parties, else not."
    text = "Senators of the same party and of the same state tend to have more connections"
    return Claim(text, "Section on real data", verdict, finding, rule)
