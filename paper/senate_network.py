"""Figure of the Senate: the network at the paper's λ by every method, drawn, and written for Gephi."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.colors import to_hex
from numpy.typing import NDArray

from isinglass import Network, export, layout, plot
from isinglass.datasets import load_senate109
from paper import figures, printed
from paper.evidence import judge
from paper.methods import FITS
from paper.study import Cell, Config, Row

VERSION = 1
TIMED = False

JOINT = ("isinglass", "plg", "bmn")
RULES = ("nlr_and", "nlr_or")
SHOWN = ("Chafee", "Nelson (NE)", "Jeffords")
"""Senators whose names are set in bold."""
GEXF = "senate_network.gexf"
PARTY_COLORS = {"R": "#c0392b", "D": "#2471a3", "I": "#1e8449"}
"""As in the paper: red, blue, green."""
PARTY_NAMES = {"R": "Republican", "D": "Democrat", "I": "Independent"}
SPELLED = {"MCCAIN": "McCain", "MCCONNELL": "McConnell", "DEWINE": "DeWine", "DEMINT": "DeMint"}


def short_names(names: Sequence[str]) -> list[str]:
    """Return surnames in ordinary spelling, with the state where two senators share one.

    The table has names such as ``NELSON (D NE)``.
    """
    surnames = [name.split(" (")[0] for name in names]
    states = [name.rstrip(")").split()[-1] for name in names]
    counts = Counter(surnames)
    return [
        SPELLED.get(surname, surname.title()) + (f" ({state})" if counts[surname] > 1 else "")
        for surname, state in zip(surnames, states, strict=True)
    ]


def cells(config: Config) -> list[Cell]:
    """Return the only cell; the miniature is the same."""
    return [{"alpha": printed.SENATE_LAMBDA, "seed": config.seed}]


def run_cell(cell: Cell) -> list[Row]:
    """Return one row per pair that has an edge by any method, with the coupling each gives it, and per field."""
    senate = load_senate109()
    X = np.array(senate.X)
    thetas = {method: FITS[method](X, cell["alpha"]).theta for method in JOINT}
    thetas |= dict(zip(RULES, merge(FITS["nlr"](X, cell["alpha"]).theta), strict=True))
    s, t = np.nonzero(np.triu(sum(np.abs(theta) for theta in thetas.values())))
    return [
        {"source": senate.names[i], "target": senate.names[j]}
        | {method: float(theta[i, j]) for method, theta in thetas.items()}
        for i, j in zip(s, t, strict=True)
    ]


def merge(theta: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the networks that AND and OR make of one regression per node: means of what is not zero."""
    both = (theta != 0) & (theta.T != 0)
    total = theta + theta.T
    return np.where(both, total / 2, 0.0), np.where(both, total / 2, total)


# ------------------------------------------------------------------------------------------- what the rows say


def theta_of(rows: pd.DataFrame, method: str) -> NDArray[np.float64]:
    """Return Θ of a method, fields on the diagonal."""
    names = list(load_senate109().names)
    upper = rows.pivot(index="source", columns="target", values=method).reindex(index=names, columns=names)
    theta = upper.fillna(0.0).to_numpy()
    return theta + np.triu(theta, 1).T


def facts(rows: pd.DataFrame) -> dict[str, Any]:
    """Return what the text says."""
    pairs = rows[rows["source"] != rows["target"]].drop(columns=["source", "target"])
    edges, optimum = pairs != 0, pairs["isinglass"] != 0
    table = pd.DataFrame(
        {
            "edges": edges.sum(),
            "positive": (pairs > 0).sum(),
            "shared with the optimum": edges.mul(optimum, axis=0).sum(),
            "different": edges.ne(optimum, axis=0).sum(),
        }
    ).loc[[*JOINT, *RULES]]
    different, total = int((edges["plg"] != edges["bmn"]).sum()), int(table["edges"]["bmn"])
    return {
        "table": table.rename(index=lambda name: figures.label(name.replace("_", "-"))).rename_axis("method"),
        "different": different,
        "total": total,
        "wrong": table["different"],
        "verdicts": {"same": judge(different == 0, different <= total / 20)},
    }


def draw(rows: pd.DataFrame) -> figures.Figure:
    """Draw the positive edges, nodes and edges colored by party as in the paper."""
    senate = load_senate109()
    figure, grid = figures.new_figure(size=(10.4, 5.4))
    axes = plot.network(
        Network.from_theta(theta_of(rows, "isinglass"), short_names(senate.names)),
        grid[0, 0],
        groups=[PARTY_NAMES[party] for party in senate.parties],
        group_colors={PARTY_NAMES[party]: color for party, color in PARTY_COLORS.items()},
        edge_color="group",
        positive_only=True,
    )
    for text in axes.texts:
        if text.get_text() in SHOWN:
            text.set_fontweight("bold")
    lines = axes.collections[0]  # the few ties between parties become thicker than the others
    across = [to_hex(color) not in PARTY_COLORS.values() for color in lines.get_colors()]
    lines.set_linewidths(np.where(across, 1.0 + 1.3 * np.array(lines.get_linewidths()), lines.get_linewidths()))
    return figure


def write_files(rows: pd.DataFrame, folder: Path) -> None:
    """Write the positive edges for Gephi, with parties, states, colors and positions: positive couplings attract."""
    senate, theta = load_senate109(), theta_of(rows, "isinglass")
    positive = np.maximum(theta, 0.0) * (1 - np.eye(len(theta)))
    edges = np.argwhere(np.triu(positive))
    export.write_network(
        Network.from_couplings(positive, theta.diagonal(), senate.names),
        folder / GEXF,
        node_attributes={"party": senate.parties, "state": senate.states},
        color_by="party",
        group_colors=PARTY_COLORS,
        positions=layout.force_layout(len(theta), edges, positive[tuple(edges.T)], random_state=0),
    )
