"""Axes to draw on, and text that any font can show."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, TypeVar
from unicodedata import category

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.gridspec import GridSpec
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from isinglass.arguments import check_positive
from isinglass.errors import ArgumentError, DataError
from isinglass.show.palette import NAMED

Kind = TypeVar("Kind")
PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}
"""For every text that holds a name: a dollar sign is a dollar sign."""
_MISSING = "\ufffd"
PRINT = 300.0
"""Dots per inch of figures for print: sizes of small letters are rounded to dots."""
FILLED = 0.9
"""Share of the width and height of a figure from which on axes fill it."""
MILLIMETERS = 25.4  # in an inch
NARROW, SMALL = 5.0, 7.0
"""Inches below which a figure is narrow, and the size of its letters in points."""
CLOSER = 0.6
"""Height on paper of a figure with one row for each node or edge, as a share of that on a screen."""


def axes_or_new(
    ax: Axes | None, size: tuple[float, float], *, fill: bool = False, rows: bool = False, dpi: float | None = None
) -> Axes:
    """Return the given axes, or those of a new figure of ``size`` inches that is managed by pyplot.

    ``fill`` makes them as large as the figure, for drawings without scales. With ``rows``, whose number the height
    depends on, a figure that the given axes fill grows.
    """
    if ax is not None:
        if not isinstance(ax, Axes):
            raise DataError(f"ax must be matplotlib axes; got {type(ax).__name__}. Pass one of an array of axes.")
        if not fill and fills_figure(ax):
            _make_room(ax, CLOSER * size[1] if rows else 0.0)
        return ax
    from matplotlib import pyplot

    if not fill:
        return pyplot.subplots(figsize=size, layout="constrained")[1]
    return pyplot.figure(figsize=size, dpi=dpi, layout="none").add_axes((0.01, 0.01, 0.98, 0.98))


def fills_figure(ax: Axes) -> bool:
    """Tell whether axes fill a figure of their own, as those of `paper_axes` do."""
    figure, place = ax.figure.canvas.figure, ax.get_position()
    return figure.get_layout_engine() is None and figure.axes == [ax] and min(place.width, place.height) > FILLED


def is_narrow(ax: Axes) -> bool:
    """Tell whether the figure is about as wide as one column of a journal."""
    return bool(ax.figure.canvas.figure.get_figwidth() < NARROW)


def _make_room(ax: Axes, height: float) -> None:
    """Leave room for scales and their names around axes that fill a figure, which grows to at least this height."""
    figure = ax.figure.canvas.figure
    ax.set_subplotspec(GridSpec(1, 1, figure=figure)[0])
    figure.set_layout_engine("constrained")
    figure.set_figheight(max(figure.get_figheight(), height))
    if is_narrow(ax):
        ax.tick_params(labelsize=SMALL)
        ax.xaxis.label.set_fontsize(SMALL + 1.0)
        ax.yaxis.label.set_fontsize(SMALL + 1.0)


def listed_axes(axes: Any, count: int, what: str) -> NDArray[Any]:
    """Return the axes that were given, of which there must be one for each of something."""
    listed = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
    if len(listed) != count:
        raise ArgumentError("axes", f"must be one for each of {count} {what}", len(listed))
    return listed


def expect(result: Any, kind: type[Kind], maker: str) -> Kind:
    """Return a result if it is of the kind that a function returns."""
    if not isinstance(result, kind):
        raise DataError(f"result must be a {kind.__name__}, as {maker} returns it; got {type(result).__name__}.")
    return result


def ink() -> str:
    """Return the color in which the current style draws lines: black on white, white on black."""
    return to_hex(rcParams["axes.edgecolor"])


def any_color(color: Any) -> str:
    """Return ``#rrggbb`` of a name of our palette or of anything that matplotlib takes for a color."""
    if isinstance(color, str) and color in NAMED:
        return NAMED[color]
    try:
        return to_hex(color)
    except (TypeError, ValueError):
        raise DataError(f"a color must be one that matplotlib knows; got {color!r}.") from None


def readable(name: Any, longest: int = 30) -> str:
    """Return a name as one short line of characters that the current font has.

    White space becomes single spaces, invisible marks are dropped, a long name ends in an ellipsis, and each run of
    characters without a glyph, such as emoji in most fonts, becomes the sign of an unknown character.
    """
    start = str(name)[: 10 * longest]  # enough, however long it is
    text = " ".join("".join(character for character in start if category(character) != "Cf").split())
    if len(text) > longest or len(str(name)) > 10 * longest:
        text = text[: longest - 1] + "…"
    known = _glyphs(tuple(FontProperties().get_family()))
    missing = _MISSING if ord(_MISSING) in known else "?"
    shown = "".join(character if ord(character) in known else missing for character in text)
    return re.sub(re.escape(missing) + "{2,}", lambda _: missing, shown)


def write_legend(ax: Axes, entries: Iterable[tuple[Any, str]], **options: Any) -> Legend:
    """Add a legend whose texts are shown as they are, dollar signs and leading underscores included."""
    if is_narrow(ax):
        options = {"fontsize": SMALL, **options}
    handles, texts = zip(*entries, strict=True)
    legend = ax.legend(handles, [f"entry {k}" for k in range(len(texts))], **options)  # "_x" would be left out
    for shown, text in zip(legend.get_texts(), texts, strict=True):
        shown.set(text=text, **PLAIN)
    return legend


def explain_colors(ax: Axes, image: Any, label: str, **options: Any) -> None:
    """Add a scale of colors beside the axes, in small letters where the figure is narrow."""
    bar = ax.figure.colorbar(image, ax=ax, **options)
    bar.set_label(label, fontsize=SMALL if is_narrow(ax) else None)
    if is_narrow(ax):
        bar.ax.tick_params(labelsize=SMALL)


def write_below(ax: Axes, blocks: Iterable[Iterable[tuple[Any, str]]]) -> None:
    """Write legends below the axes, each in as many columns as fit; a figure that the axes fill grows by their height.

    A block whose handles are all None is a list of texts.
    """
    figure = ax.figure.canvas.figure
    box, height = ax.get_window_extent(), 0.0
    for entries in blocks:
        legend = _legend_at(ax, list(entries), height, box)
        height += legend.get_window_extent().height
        ax.add_artist(legend)
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


def _legend_at(ax: Axes, entries: list[tuple[Any, str]], below: float, box: Any) -> Legend:
    """Return a legend so many dots below the axes."""
    is_list = all(handle is None for handle, _ in entries)
    handles = [(Line2D([], [], linestyle="none") if handle is None else handle, text) for handle, text in entries]
    narrow = box.width / ax.figure.dpi < NARROW
    options: dict[str, Any] = {
        "loc": "upper left",
        "bbox_to_anchor": (0.0, -below / box.height),
        "fontsize": 5.5 if len(entries) > 40 else 6.5 if len(entries) > 12 or narrow else 9.0,
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

    Drawings with scales leave room for these inside it. What needs more height than there is, such as a legend below a
    network or a row for each of 57 nodes, makes the figure higher, never wider.

    Parameters
    ----------
    width : float, default 85
        In millimeters: one column of most journals; 180 is two.
    height : float, optional
        In millimeters; as high as wide by default, or three quarters of a width above 120.

    Examples
    --------
    >>> paper_axes(180).figure.get_size_inches().round(2).tolist()
    [7.09, 5.31]
    """
    wide = check_positive("width", width)
    tall = check_positive("height", (wide if wide <= 120 else 0.75 * wide) if height is None else height)
    return axes_or_new(None, (wide / MILLIMETERS, tall / MILLIMETERS), fill=True, dpi=PRINT)


@lru_cache(maxsize=8)
def _glyphs(families: tuple[str, ...]) -> frozenset[int]:
    """Return the characters that a list of fonts can draw."""
    known: set[int] = set()
    for family in families:
        try:
            known.update(get_font(findfont(FontProperties(family=[family]), fallback_to_default=False)).get_charmap())
        except ValueError:  # matplotlib skips a font that is not installed, too
            continue
    return frozenset(known or get_font(findfont(FontProperties())).get_charmap())
