"""Figure of the Senate: the network at the paper's λ by every method, drawn, and written for Gephi."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import to_hex
from numpy.typing import NDArray

from isinglass import Network
from isinglass.datasets import Senate109, load_senate109
from isinglass.export import write_gexf
from isinglass.show import plot
from isinglass.show.layout import force_layout
from paper import figures, markdown, published, study
from paper.contract import Cell, Claim, Config, Row, Verdict
from paper.methods import FITS
from paper.senators import PARTY_COLORS, PARTY_NAMES, short_names

NAME = "senate_network"
TITLE = "Senate: the network"
VERSION = 1
TIMED = False

JOINT = ("isinglass", "plg", "bmn")
RULES = ("nlr_and", "nlr_or")
SHOWN = ("Chafee", "Nelson (NE)", "Jeffords")
"""Senators whose names are set in bold."""
GEXF = f"{NAME}.gexf"


def cells(config: Config) -> list[Cell]:
    """Return the only cell; the miniature is the same."""
    return [{"alpha": published.SENATE_LAMBDA, "seed": config.seed}]


def run_cell(cell: Cell) -> list[Row]:
    """Return one row per pair that has an edge by any method, with the coupling each gives it, and per field."""
    senate = load_senate109()
    X = np.array(senate.X)
    thetas = {method: FITS[method](X, cell["alpha"]).theta for method in JOINT}
    thetas |= dict(zip(RULES, merge(FITS["nlr"](X, cell["alpha"]).theta), strict=True))
    s, t = np.nonzero(np.triu(sum(np.abs(theta) for theta in thetas.values())))
    return [
        {
            "source": senate.names[i],
            "target": senate.names[j],
            **{method: float(theta[i, j]) for method, theta in thetas.items()},
        }
        for i, j in zip(s, t, strict=True)
    ]


def merge(theta: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the networks that AND and OR make of one regression per node: means of what is not zero."""
    both = (theta != 0) & (theta.T != 0)
    total = theta + theta.T
    return np.where(both, total / 2, 0.0), np.where(both, total / 2, total)


def run(config: Config) -> list[Row]:
    """Return the rows."""
    return study.run_item(sys.modules[__name__], config)


# ------------------------------------------------------------------------------------------- what the rows say


def couplings_of(rows: list[Row], method: str, senate: Senate109) -> NDArray[np.float64]:
    """Return Θ of a method, fields on the diagonal."""
    place = {name: k for k, name in enumerate(senate.names)}
    theta = np.zeros((len(place), len(place)))
    for row in rows:
        i, j = place[row["source"]], place[row["target"]]
        theta[i, j] = theta[j, i] = row[method]
    return theta


def positions_of(theta: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return where the senators are drawn: positive couplings attract."""
    positive = np.triu(np.maximum(theta, 0.0), 1)
    index = np.argwhere(positive)
    return force_layout(len(theta), index, positive[tuple(index.T)], random_state=0)


def draw(rows: list[Row]) -> figures.Figure:
    """Draw the positive edges, nodes and edges coloured by party as in the paper."""
    senate = load_senate109()
    theta = couplings_of(rows, "isinglass", senate)
    figure, grid = figures.new_figure(size=(10.4, 5.4))
    axes = plot.network(
        Network.from_theta(theta, short_names(senate.names)),
        grid[0, 0],
        groups=[PARTY_NAMES[party] for party in senate.parties],
        group_colors={PARTY_NAMES[party]: color for party, color in PARTY_COLORS.items()},
        edge_color="group",
        positive_only=True,
    )
    emphasise(axes)
    return figure


def emphasise(axes: Any) -> None:
    """Set the three names in bold, and draw the few ties between parties thicker than the others."""
    for text in axes.texts:
        if text.get_text() in SHOWN:
            text.set_fontweight("bold")
    lines = axes.collections[0]
    parties = set(PARTY_COLORS.values())
    across = np.array([to_hex(color) not in parties for color in lines.get_colors()])
    lines.set_linewidths(np.where(across, 1.0 + 1.3 * np.array(lines.get_linewidths()), lines.get_linewidths()))


def write_files(rows: list[Row], folder: Path) -> None:
    """Write the positive edges for Gephi, with parties, states, colours and positions."""
    senate = load_senate109()
    theta = couplings_of(rows, "isinglass", senate)
    positive = np.where(theta > 0, theta, 0.0)
    np.fill_diagonal(positive, 0.0)
    write_gexf(
        Network.from_couplings(positive, theta.diagonal(), senate.names),
        folder / GEXF,
        node_attributes={"party": senate.parties, "state": senate.states},
        color_by="party",
        group_colors=PARTY_COLORS,
        positions=positions_of(theta),
    )


# ------------------------------------------------------------------------------------------- the page


def section(rows: list[Row]) -> str:
    """Return how the methods' networks compare."""
    senate = load_senate109()
    exact = couplings_of(rows, "isinglass", senate)
    upper = np.triu_indices(len(exact), 1)
    lines = []
    for method in (*JOINT, *RULES):
        found = couplings_of(rows, method, senate)[upper]
        edges, ours = found != 0, exact[upper] != 0
        lines.append(
            [
                label(method),
                int(edges.sum()),
                int((found > 0).sum()),
                int((edges & ours).sum()),
                int((edges != ours).sum()),
            ]
        )
    header = ["method", "edges", "positive", "shared with the optimum", "different"]
    return f"""\
The network at λ = {published.SENATE_LAMBDA}, positive edges only, as the paper shows it. The width of a line grows with
the coupling, ties between parties are thicker, and the force layout that places the senators does not know the parties.
[{GEXF}](paper/{GEXF}) is the same network for Gephi.

{markdown.table(header, lines)}
"""


def label(method: str) -> str:
    """Return the name of a method."""
    return figures.label(method.replace("_", "-"))


def claims(rows: list[Row]) -> list[Claim]:
    """Judge that PLG and BMN give the same network."""
    senate = load_senate109()
    exact, plg, bmn = (couplings_of(rows, method, senate) for method in JOINT)
    upper = np.triu_indices(len(exact), 1)
    different = int(((plg != 0) != (bmn != 0))[upper].sum())
    total = int((bmn[upper] != 0).sum())
    verdict = Verdict.REPRODUCED if different == 0 else Verdict.REMARK if different <= total / 20 else Verdict.NOT
    wrong = {name: int(((theta != 0) != (exact != 0))[upper].sum()) for name, theta in (("PLG", plg), ("BMN", bmn))}
    finding = (
        f"At λ = {published.SENATE_LAMBDA} the networks of PLG and BMN differ in {different} of {total} edges; PLG "
        f"differs from the certified optimum in {wrong['PLG']}, BMN in {wrong['BMN']}."
    )
    rule = (
        "reproduced if PLG and BMN have the same edges, with a remark if they differ in at most 5 % of them, else not."
    )
    return [Claim("PLG and BMN learn the same Senate network", "Section on real data", verdict, finding, rule)]
