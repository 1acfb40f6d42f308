"""Draw the pictures of the documentation: python docs/make_images.py [folder, default docs/images].

Two runs write the same bytes, with one version of matplotlib.
"""

import io
import sys
from itertools import combinations, pairwise
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from isinglass import Network, as_table, bootstrap, ising_path, metrics, nodewise_path, simulate
from isinglass.datasets import load_senate109
from isinglass.show import palette, plot

PARTIES = {"R": "Republican", "D": "Democrat", "I": "independent"}
PARTY_COLORS = {"Republican": "red", "Democrat": "blue", "independent": "green"}
ALPHA = 0.06


def main(folder: Path) -> None:
    """Write every picture."""
    mpl.use("Agg")
    folder.mkdir(parents=True, exist_ok=True)
    draw_senate(folder)
    draw_sleep(folder)
    draw_recovery(folder)
    draw_points(folder)


def draw_senate(folder: Path) -> None:
    """Draw what the page about plots says of the Senate."""
    senate = load_senate109()
    votes = as_table(senate.X, names=senate.names)
    path = ising_path(votes, alphas=30)
    solution = ising_path(votes, alphas=[ALPHA])[0]
    resamples = bootstrap(votes, ALPHA, n_boot=200, random_state=0)
    parties = [PARTIES[party] for party in senate.parties]
    ax = plot.network(
        solution,
        groups=parties,
        group_colors=PARTY_COLORS,
        edge_color="group",
        positive_only=True,
    )
    save(ax, folder / "senate.png", dpi=100)
    save(plot.path(path, alpha=ALPHA), folder / "path.png")
    save(plot.bootstrap_intervals(resamples, n_edges=20), folder / "bootstrap-intervals.png")


def draw_sleep(folder: Path) -> None:
    """Draw a small network with couplings of both signs."""
    names = ["lies awake", "wakes early", "tired", "naps", "coffee", "worries", "exercise", "good mood"]
    pairs = {(0, 2): 1.4, (1, 2): 1.1, (2, 3): 1.6, (2, 4): 0.9, (4, 0): 0.7, (5, 0): 1.8, (5, 7): -1.3, (6, 7): 1.0}
    pairs |= {(2, 7): -0.8, (6, 5): -0.5}
    theta = [[0.0] * len(names) for _ in names]
    for (s, t), coupling in pairs.items():
        theta[s][t] = theta[t][s] = coupling
    groups = ["night"] * 2 + ["day"] * 3 + ["mind", "day", "mind"]
    save(plot.network(Network.from_theta(theta, names), groups=groups), folder / "signs.png")


def draw_recovery(folder: Path) -> None:
    """Draw how well two methods find a random network."""
    model = simulate.random_network(30, 0.1, random_state=0)
    X = simulate.gibbs_sample(model, 500, random_state=0)
    curves = {
        "joint": metrics.roc_curve(ising_path(X, alphas=40), model),
        "node-wise": metrics.roc_curve(nodewise_path(X, alphas=40), model),
    }
    save(plot.roc(curves), folder / "roc.png")


def draw_points(folder: Path) -> None:
    """Draw the points that the categories of a column are: two, some on a line, the corners of a simplex."""
    line = np.array([[float(k), 0.0] for k in range(5)])
    triangle = np.array([[-0.5, -0.29], [0.5, -0.29], [0.0, 0.58]])
    solid = np.array([[-0.55, -0.2], [0.12, -0.5], [0.55, -0.1], [0.0, 0.6]])  # a tetrahedron, seen from the side
    columns = [
        (0.9, "binary", ["no", "yes"], line[:2] - [0.5, 0.0], "one number per pair,\nwith a sign"),
        (4.5, "ordinal", ["never", "rarely", "some-\ntimes", "often", "always"], line - [2.0, 0.0], "the same"),
        (8.1, "nominal", ["nay", "yea", "absent"], triangle, "a table per pair,\nno sign"),
        (10.4, "nominal, four", ["A", "C", "G", "T"], solid, "and so on"),
    ]
    ax = Figure(figsize=(9.6, 2.6)).add_axes((0.0, 0.0, 1.0, 1.0))
    for x, kind, names, points, said in columns:
        joined = list(pairwise(range(5))) if len(points) == 5 else list(combinations(range(len(points)), 2))
        draw_column(ax, names, points + np.array([x, 0.0]), joined)
        ax.text(x, 1.25, kind, ha="center", va="top", fontsize=12, weight="bold")
        ax.text(x, -0.95, said, ha="center", va="top", fontsize=10, color=palette.UNSIGNED)
    ax.set(xlim=(-0.3, 11.2), ylim=(-1.55, 1.45), aspect="equal")
    ax.axis("off")
    save(ax, folder / "points.png", dpi=90)


def draw_column(ax: Axes, names: list[str], points: NDArray[np.float64], joined: list[tuple[int, int]]) -> None:
    """Draw the categories of one column, with a line between those that are at distance 1."""
    for k, other in joined:
        ax.plot(*points[[k, other]].T, color=palette.NEUTRAL, linewidth=1.5, zorder=1)
    x, y = points[[0, 1]].mean(axis=0)
    ax.text(x, y - 0.08, "1", ha="center", va="top", fontsize=10)
    ax.scatter(*points.T, s=90, color=palette.POSITIVE, zorder=2)
    for name, (x, y) in zip(names, points, strict=True):
        below = y < 0
        ax.text(x, y + (-0.16 if below else 0.15), name, ha="center", va="top" if below else "bottom", fontsize=11)


def save(ax: Axes, path: Path, dpi: int = 75) -> None:
    """Write one picture in 256 colors, a third of the size, and without the names of programs."""
    picture = io.BytesIO()
    ax.figure.savefig(picture, dpi=dpi)
    Image.open(picture).convert("RGB").quantize(256, method=Image.Quantize.FASTOCTREE).save(path, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "images")
