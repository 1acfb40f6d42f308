"""One look for all figures: a palette that the color-blind can tell apart, one mark and line per method."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import matplotlib as mpl

mpl.use("Agg")

from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from paper.files import whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

SETTINGS = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e3e3e3",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
}


class Style(NamedTuple):
    """How a method is drawn; the label is its name in every figure and table."""

    label: str
    color: str
    marker: str
    line: str = "-"


# Okabe and Ito's palette. Our implementation of a method and glmnet's own share a color and differ by line.
METHODS = {
    "isinglass": Style("isinglass", "#000000", "o"),
    "isinglass-nodewise": Style("isinglass, node-wise", "#56B4E9", "P"),
    "bmn": Style("BMN (our kernels)", "#D55E00", "s"),
    "bmn-plain": Style("BMN (plain NumPy)", "#D55E00", "s", "--"),
    "plg": Style("PLG (re-implemented)", "#0072B2", "^"),
    "plg-glmnet": Style("PLG (glmnet in R)", "#0072B2", "v", "--"),
    "nlr": Style("NLR (re-implemented)", "#009E73", "D"),
    "nlr-glmnet": Style("NLR (glmnet in R)", "#009E73", "d", "--"),
    "nlr-and": Style("NLR, AND", "#009E73", "D"),
    "nlr-or": Style("NLR, OR", "#CC79A7", "d", "--"),
    "exact": Style("exact likelihood", "#E69F00", "X"),
}


def label(method: str) -> str:
    """Return the name of a method in figures and tables."""
    return METHODS[method].label


def shade(place: float) -> Any:
    """Return the color at a place between 0 and 1 of a scale that darkens evenly, for ordered curves."""
    return mpl.colormaps["viridis"](place)


@contextmanager
def look() -> Iterator[None]:
    """Draw with the look of this study, and leave that of others alone."""
    with mpl.rc_context(SETTINGS):
        yield


def new_figure(n_columns: int = 1, n_rows: int = 1, *, size: tuple[float, float], **options: Any) -> tuple[Figure, Any]:
    """Return a figure with its grid of axes, always two-dimensional; ``options`` as for ``Figure.subplots``."""
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, squeeze=False, **options)


def draw_line(axes: Axes, method: str, x: Any, y: Any, **options: Any) -> None:
    """Draw one method's curve in its style."""
    style = METHODS[method]
    settings = {"color": style.color, "marker": style.marker, "linestyle": style.line, "label": style.label}
    axes.plot(x, y, **settings | options)


def log_axis(axis: Axis, places: Sequence[float] | None = None) -> None:
    """Make an axis logarithmic with plain numbers: at the given places, or at 1, 2 and 5 of every decade."""
    (axis.axes.set_xscale if axis.axis_name == "x" else axis.axes.set_yscale)("log")
    axis.set_major_locator(FixedLocator(places) if places is not None else LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def add_legend(figure: Figure, axes: Axes, *, columns: int = 4) -> None:
    """Put one legend for all panels below them, with as many columns as the width takes."""
    handles, labels = axes.get_legend_handles_labels()
    fitting = max(1, int(figure.get_figwidth() / (0.8 + 0.065 * max(map(len, labels)))))
    figure.legend(handles, labels, loc="outside lower center", ncols=min(columns, fitting))


def save(figure: Figure, path: Path) -> None:
    """Write a PNG file without dates, so that equal figures are equal files."""
    with whole(path) as file:
        figure.savefig(file, format="png", dpi=130, metadata={"Software": None})
