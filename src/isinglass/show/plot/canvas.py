"""Axes, legends, text and files of figures; constrained layout makes room for scales and legends."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any
from unicodedata import category

import numpy as np
from matplotlib import rc_context, rcParams
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.legend import Legend

from isinglass.arguments import check_positive
from isinglass.arrays import AnyArray
from isinglass.errors import ArgumentError

PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}
"""Options of every text that holds a name: a dollar sign is not mathematics."""
PRINT = 300.0  # dots per inch of figures for print
MILLIMETERS = 25.4  # in an inch
NARROW, SMALL, USUAL = 5.0, 7.0, 9.0
"""Width in inches below which a figure is narrow, and font sizes in points in narrow figures and in others."""
# What a file would say about when and by what it was written: the same data give the same bytes.
METADATA = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None, "Producer": None}}


def axes_or_new(ax: Axes | None, size: tuple[float, float], *, grows: bool = False) -> Axes:
    """Return the given axes, or those of a new pyplot figure of ``size`` inches.

    If the figure ``grows``, one of `paper_axes` gets at least 0.6 times the height of a new one.
    """
    if ax is None:
        ax = new_figure(size).add_subplot()
    elif not isinstance(ax, Axes):
        raise ArgumentError("ax", "must be axes of matplotlib", ax)
    elif grows and is_alone(ax):
        figure = ax.figure.canvas.figure
        figure.set_figheight(max(figure.get_figheight(), 0.6 * size[1]))
    if is_narrow(ax):
        ax.tick_params(labelsize=SMALL)
        ax.xaxis.label.set_fontsize(SMALL + 1.0)
        ax.yaxis.label.set_fontsize(SMALL + 1.0)
    return ax


def new_figure(size: tuple[float, float]) -> Figure:
    """Return a new pyplot figure of ``size`` inches, for print unless it is a window."""
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=size, layout="constrained")
    if figure.canvas.required_interactive_framework is None:  # a window would be larger than the screen
        figure.set_dpi(PRINT)
    return figure


def paper_axes(width: float = 85.0, height: float | None = None) -> Axes:
    """Return the axes of a new figure of a given size on paper.

    Width and height are in millimeters: 85 is one column of most journals, 180 two. The default height is the width, or
    three quarters of it above 120. Scales and their labels take room inside the figure; what needs more height, such as
    a legend below a network or many rows, makes it higher, never wider.
    """
    wide = check_positive("width", width)
    tall = check_positive("height", (wide if wide <= 120 else 0.75 * wide) if height is None else height)
    ax = axes_or_new(None, (wide / MILLIMETERS, tall / MILLIMETERS))
    ax.figure.set_dpi(PRINT)
    return ax


def panels(
    axes: Sequence[Axes] | Axes | None, count: int, what: str, size: tuple[float, float], columns: int
) -> AnyArray:
    """Return the given axes, of which there must be ``count``, or those of a new figure with this many columns."""
    if axes is None:
        made = np.ravel(new_figure(size).subplots(-(-count // columns), columns))
        for unused in made[count:]:
            unused.remove()
        return made[:count]
    listed = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
    if len(listed) != count or not all(isinstance(ax, Axes) for ax in listed):
        raise ArgumentError("axes", f"must be axes of matplotlib, one for each of {count} {what}", axes)
    return listed


def is_alone(ax: Axes) -> bool:
    """Tell whether a figure has only these axes, and makes room for what is around them."""
    figure = ax.figure.canvas.figure
    return figure.axes == [ax] and figure.get_layout_engine() is not None


def is_narrow(ax: Axes | Figure) -> bool:
    """Tell whether the figure is about as wide as one column of a journal."""
    return bool(ax.figure.canvas.figure.get_figwidth() < NARROW)


def font_size(ax: Axes | Figure) -> float:
    """Return the font size of legends and names, in points."""
    return SMALL if is_narrow(ax) else USUAL


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
    handles, texts = [handle for handle, _ in entries], [text for _, text in entries]
    options = {"fontsize": font_size(ax), **options}
    legend = ax.legend(handles, [f"entry {k}" for k in range(len(texts))], **options)  # "_x" would be left out
    for shown, text in zip(legend.get_texts(), texts, strict=True):
        shown.set(text=text, **PLAIN)
    return legend


def write_below(ax: Axes, entries: Sequence[tuple[Artist, str]], font_size: float, title: str | None = None) -> None:
    """Write a legend below the axes, in as many columns as fit; a figure of these axes alone grows by its height."""
    figure = ax.figure.canvas.figure
    if figure.get_layout_engine() is None:
        figure.set_layout_engine("constrained")
    options: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (0.0, 0.0), "alignment": "left"}
    options |= {"fontsize": min(font_size, USUAL), "frameon": False, "borderaxespad": 0.2, "columnspacing": 1.2}
    options |= {"handlelength": 1.6, "handletextpad": 0.6, "labelspacing": 0.25}
    figure.draw_without_rendering()
    wide = write_legend(ax, entries, **options).get_window_extent().width
    n_columns = int(np.clip(ax.get_window_extent().width // max(wide, 1.0), 1, max(len(entries), 1)))
    legend = write_legend(ax, entries, ncols=n_columns, **options)
    if title is not None:
        legend.set_title(title)
        legend.get_title().set(fontsize=options["fontsize"], **PLAIN)
    if is_alone(ax):
        figure.set_figheight(figure.get_figheight() + legend.get_window_extent().height / figure.dpi)
    figure.draw_without_rendering()


def figure_bytes(draw: Callable[[], Axes], ending: str) -> bytes:
    """Return what ``draw`` draws, without a display, in the format of a file ending.

    The same data give the same bytes.
    """
    with rc_context({"svg.hashsalt": "isinglass", "backend": "Agg"}):
        from matplotlib import pyplot

        figure = draw().figure.canvas.figure  # the whole one, not a part of it
        content = io.BytesIO()
        try:
            figure.savefig(content, format=ending[1:], dpi=PRINT, metadata=METADATA[ending])
        finally:
            pyplot.close(figure)
        return content.getvalue()
