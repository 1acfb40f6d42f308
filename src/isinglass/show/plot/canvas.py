"""Axes, legends and text of figures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Literal
from unicodedata import category

import numpy as np
from matplotlib import rcParams
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.gridspec import GridSpec
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.transforms import Bbox

from isinglass.arguments import check_positive
from isinglass.arrays import AnyArray
from isinglass.errors import ArgumentError, DataError
from isinglass.show.palette import NAMED

PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}
"""Options of every text that holds a name: a dollar sign is not mathematics."""
_MISSING = "\ufffd"
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


def is_narrow(ax: Axes) -> bool:
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
    if len(listed) != count:
        raise ArgumentError("axes", f"must be one for each of {count} {what}", len(listed))
    return listed


def ink() -> str:
    """Return the line color of the current style: black on white, white on black."""
    return to_hex(rcParams["axes.edgecolor"])


def any_color(color: Any) -> str:  # Any: what a user passes
    """Return ``#rrggbb`` for a name of our palette or any color of matplotlib."""
    if isinstance(color, str) and color in NAMED:
        return NAMED[color]
    try:
        return to_hex(color)
    except (TypeError, ValueError):
        raise DataError(f"a color must be one that matplotlib knows; got {color!r}.") from None


def readable(name: object, longest: int = 30) -> str:
    """Return a name as one short line; runs of characters that the font lacks become U+FFFD."""
    start = str(name)[: 10 * longest]
    text = " ".join("".join(character for character in start if category(character) != "Cf").split())
    if len(text) > longest or len(str(name)) > 10 * longest:
        text = text[: longest - 1] + "…"
    known = _glyphs(tuple(FontProperties().get_family()))
    missing = _MISSING if ord(_MISSING) in known else "?"
    shown = "".join(character if ord(character) in known else missing for character in text)
    return re.sub(re.escape(missing) + "{2,}", lambda _: missing, shown)


def write_legend(
    ax: Axes, entries: Iterable[tuple[Artist | None, str]], **options: Any
) -> Legend:  # Any: those of matplotlib
    """Add a legend whose texts may hold dollar signs and leading underscores."""
    if is_narrow(ax):
        options = {"fontsize": SMALL, **options}
    handles, texts = zip(*entries, strict=True)
    legend = ax.legend(handles, [f"entry {k}" for k in range(len(texts))], **options)  # "_x" would be left out
    for shown, text in zip(legend.get_texts(), texts, strict=True):
        shown.set(text=text, **PLAIN)
    return legend


def write_below(ax: Axes, blocks: Iterable[Iterable[tuple[Artist | None, str]]], font_size: float) -> None:
    """Write legends below the axes, in as many columns as fit; a figure that the axes fill grows by their height.

    A legend whose handles are all None is a list of texts.
    """
    figure = ax.figure.canvas.figure
    box, height = ax.get_window_extent(), 0.0
    for entries in blocks:
        above = ax.get_legend()
        height += _legend_at(ax, list(entries), height, box, font_size).get_window_extent().height
        if above is not None:
            ax.add_artist(above)  # axes keep the last legend only
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


def _legend_at(ax: Axes, entries: list[tuple[Artist | None, str]], below: float, box: Bbox, font_size: float) -> Legend:
    """Return a legend at a distance of ``below`` dots from the axes."""
    is_list = all(handle is None for handle, _ in entries)
    handles = [(Line2D([], [], linestyle="none") if handle is None else handle, text) for handle, text in entries]
    options: dict[str, Any] = {
        "loc": "upper left",
        "bbox_to_anchor": (0.0, -below / box.height),
        "fontsize": min(font_size, 5.5 if len(entries) > 40 else 6.5 if len(entries) > 12 else 9.0),
        "frameon": False,
        "borderaxespad": 0.2,
        "handlelength": 0.0 if is_list else 1.6,
        "handletextpad": 0.0 if is_list else 0.6,
        "columnspacing": 1.2,
        "labelspacing": 0.25,
    }
    wide = write_legend(ax, handles, **options).get_window_extent().width
    return write_legend(ax, handles, ncols=int(max(1, min(len(handles), box.width // max(wide, 1.0)))), **options)


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


@lru_cache(maxsize=8)
def _glyphs(families: tuple[str, ...]) -> frozenset[int]:
    """Return the characters that fonts of these families have."""
    known: set[int] = set()
    for family in families:
        try:
            known.update(get_font(findfont(FontProperties(family=[family]), fallback_to_default=False)).get_charmap())
        except ValueError:  # not installed: matplotlib skips it, too
            continue
    return frozenset(known or get_font(findfont(FontProperties())).get_charmap())
