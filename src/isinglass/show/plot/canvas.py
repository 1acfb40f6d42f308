"""Axes, legends and text of figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal
from unicodedata import category

import numpy as np
from matplotlib import rcParams
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.legend import Legend

from isinglass.arguments import check_positive
from isinglass.arrays import AnyArray
from isinglass.errors import ArgumentError

PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}
"""Options of every text that holds a name: a dollar sign is not mathematics."""
PRINT = 300.0  # dots per inch of figures for print
FILLED = 0.9  # axes that take more than this share of the width and height fill their figure
MILLIMETERS = 25.4  # in an inch
NARROW, SMALL = 5.0, 7.0  # width in inches below which a figure is narrow, and its font size in points
CLOSER = 0.6  # height of a figure with one row per node or edge on paper, relative to that on a screen


def axes_or_new(ax: Axes | None, size: tuple[float, float], *, fill: bool = False, rows: bool = False) -> Axes:
    """Return the given axes, or those of a new pyplot figure of ``size`` inches, for print unless it is a window.

    ``fill`` is for drawings without scales: the axes fill the figure. With ``rows`` the height depends on the number of
    rows, and a figure that the given axes fill grows to it.
    """
    if ax is not None:
        if not isinstance(ax, Axes):
            raise ArgumentError("ax", "must be axes of matplotlib", ax)
        if not fill and fills_figure(ax):
            _make_room(ax, CLOSER * size[1] if rows else 0.0)
        return ax
    figure = _new_figure(size, "none" if fill else "constrained")
    return figure.add_axes((0.01, 0.01, 0.98, 0.98)) if fill else figure.add_subplot()


def _new_figure(size: tuple[float, float], layout: Literal["constrained", "none"]) -> Figure:
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=size, layout=layout)
    if figure.canvas.required_interactive_framework is None:  # a window would be larger than the screen
        figure.set_dpi(PRINT)
    return figure


def fills_figure(ax: Axes) -> bool:
    """Tell whether axes are alone in a figure and fill it, as those of `paper_axes` do."""
    figure, place = ax.figure.canvas.figure, ax.get_position()
    return figure.get_layout_engine() is None and figure.axes == [ax] and min(place.width, place.height) > FILLED


def is_narrow(ax: Axes | Figure) -> bool:
    """Tell whether the figure is about as wide as one column of a journal."""
    return bool(ax.figure.canvas.figure.get_figwidth() < NARROW)


def _make_room(ax: Axes, height: float) -> None:
    """Make room for scales around axes that fill a figure, and make the figure at least this high."""
    figure = ax.figure.canvas.figure
    ax.set_subplotspec(GridSpec(1, 1, figure=figure)[0])
    figure.set_layout_engine("constrained")
    figure.set_figheight(max(figure.get_figheight(), height))
    if is_narrow(ax):
        ax.tick_params(labelsize=SMALL)
        ax.xaxis.label.set_fontsize(SMALL + 1.0)
        ax.yaxis.label.set_fontsize(SMALL + 1.0)


def panels(
    axes: Sequence[Axes] | Axes | None,
    count: int,
    what: str,
    size: tuple[float, float],
    columns: int,
    layout: Literal["constrained", "none"] = "constrained",
) -> AnyArray:
    """Return the given axes, of which there must be ``count``, or those of a new figure with this many columns."""
    if axes is None:
        made = np.ravel(_new_figure(size, layout).subplots(-(-count // columns), columns))
        for unused in made[count:]:
            unused.remove()
        return made[:count]
    listed = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
    if len(listed) != count or not all(isinstance(ax, Axes) for ax in listed):
        raise ArgumentError("axes", f"must be axes of matplotlib, one for each of {count} {what}", axes)
    return listed


def ink() -> str:
    """Return the line color of the current style: black on white, white on black."""
    return to_hex(rcParams["axes.edgecolor"])


def readable(name: object, longest: int = 30) -> str:
    """Return a name as one short line without control characters."""
    start = " ".join(str(name)[: 10 * longest].split())
    text = "".join(character for character in start if not category(character).startswith("C"))
    return text if len(text) <= longest and len(str(name)) <= 10 * longest else text[: longest - 1] + "…"


def write_legend(
    ax: Axes | Figure,
    entries: Sequence[tuple[Artist, str]],
    **options: Any,  # Any: those of matplotlib
) -> Legend:
    """Add a legend to axes or a figure, whose texts may hold dollar signs and leading underscores."""
    if is_narrow(ax):
        options = {"fontsize": SMALL, **options}
    handles, texts = [handle for handle, _ in entries], [text for _, text in entries]
    legend = ax.legend(handles, [f"entry {k}" for k in range(len(texts))], **options)  # "_x" would be left out
    for shown, text in zip(legend.get_texts(), texts, strict=True):
        shown.set(text=text, **PLAIN)
    return legend


def write_below(ax: Axes, entries: Sequence[tuple[Artist, str]], font_size: float, title: str | None = None) -> None:
    """Write a legend below the axes, in as many columns as fit; a figure that the axes fill grows by its height."""
    figure, box = ax.figure.canvas.figure, ax.get_window_extent()
    options: dict[str, Any] = {
        "loc": "upper left",
        "bbox_to_anchor": (0.0, 0.0),
        "fontsize": min(font_size, 6.5 if len(entries) > 12 else 9.0),
        "frameon": False,
        "borderaxespad": 0.2,
        "handlelength": 1.6,
        "handletextpad": 0.6,
        "columnspacing": 1.2,
        "labelspacing": 0.25,
    }
    wide = write_legend(ax, entries, **options).get_window_extent().width
    n_columns = int(np.clip(box.width // max(wide, 1.0), 1, max(len(entries), 1)))
    legend = write_legend(ax, entries, ncols=n_columns, **options)
    if title is not None:
        legend.set_title(title)
        legend.get_title().set(fontsize=options["fontsize"], **PLAIN)
        legend.set_alignment("left")
    height = legend.get_window_extent().height
    height = 1.04 * height + 3.0 * figure.dpi / 72.0  # letters are a little larger at other numbers of dots per inch
    share, inches = height / box.height, height / figure.dpi
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()
        return
    place, (width, tall) = ax.get_position(), figure.get_size_inches()
    if fills_figure(ax):
        grown = tall + inches
        figure.set_size_inches(width, grown)
        ax.set_position((place.x0, (place.y0 * tall + inches) / grown, place.width, place.height * tall / grown))
    else:
        share = min(share, 0.7) * place.height
        ax.set_position((place.x0, place.y0 + share, place.width, place.height - share))


def paper_axes(width: float = 85.0, height: float | None = None) -> Axes:
    """Return axes that fill a new figure of a given size on paper.

    Width and height are in millimeters: 85 is one column of most journals, 180 two. The default height is the width, or
    three quarters of it above 120. Scales and their labels take room inside the figure; what needs more height, such as
    a legend below a network or many rows, makes it higher, never wider.
    """
    wide = check_positive("width", width)
    tall = check_positive("height", (wide if wide <= 120 else 0.75 * wide) if height is None else height)
    ax = axes_or_new(None, (wide / MILLIMETERS, tall / MILLIMETERS), fill=True)
    ax.figure.set_dpi(PRINT)
    return ax
