"""Axes to draw on, and text that any font can show."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any
from unicodedata import category

from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.legend import Legend

from isinglass.errors import DataError
from isinglass.show.palette import NAMED

__all__ = ["PLAIN", "any_color", "axes_or_new", "ink", "readable", "write_legend"]

PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}
"""For every text that holds a name: a dollar sign is a dollar sign."""
_MISSING = "\ufffd"


def axes_or_new(ax: Axes | None, size: tuple[float, float], *, fill: bool = False) -> Axes:
    """Return the given axes, or those of a new figure of ``size`` inches that is managed by pyplot.

    ``fill`` makes them as large as the figure, for drawings without scales.
    """
    if ax is not None:
        if not isinstance(ax, Axes):
            raise DataError(f"ax must be matplotlib axes; got {type(ax).__name__}. Pass one of an array of axes.")
        return ax
    from matplotlib import pyplot

    if not fill:
        return pyplot.subplots(figsize=size, layout="constrained")[1]
    return pyplot.figure(figsize=size, layout="none").add_axes((0.01, 0.01, 0.98, 0.98))


def ink() -> str:
    """Return the colour in which the current style draws lines: black on white, white on black."""
    return to_hex(rcParams["axes.edgecolor"])


def any_color(color: Any) -> str:
    """Return ``#rrggbb`` of a name of our palette or of anything that matplotlib takes for a colour.

    Examples
    --------
    >>> any_color("red"), any_color("crimson")
    ('#d55e00', '#dc143c')
    """
    if isinstance(color, str) and color in NAMED:
        return NAMED[color]
    try:
        return to_hex(color)
    except (TypeError, ValueError):
        raise DataError(f"a colour must be one that matplotlib knows; got {color!r}.") from None


def readable(name: Any, longest: int = 30) -> str:
    r"""Return a name as one short line of characters that the current font has.

    White space becomes single spaces, invisible marks such as joiners are dropped, a name of more than ``longest``
    characters ends in an ellipsis, and characters without a glyph, such as emoji in most fonts, become the sign of an
    unknown character, one for each run of them.

    Examples
    --------
    >>> readable("two\nlines"), readable("abcdef", 4)
    ('two lines', 'abc…')
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
    handles, texts = zip(*entries, strict=True)
    legend = ax.legend(handles, [f"entry {k}" for k in range(len(texts))], **options)  # "_x" would be left out
    for shown, text in zip(legend.get_texts(), texts, strict=True):
        shown.set(text=text, **PLAIN)
    return legend


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
