"""Color-blind-safe colors (Okabe and Ito 2008) for files, figures and pages.

Blue and vermillion are for the sign of an edge, purple for edges between groups, gray for edges without a sign; the
colors of groups begin with the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from isinglass.errors import DataError

GroupColors: TypeAlias = Mapping[Any, object]  # Any: a group may be any value; keys of mappings are invariant

NAMED: Mapping[str, str] = {
    "black": "#000000",
    "orange": "#e69f00",
    "sky blue": "#56b4e9",
    "green": "#009e73",
    "yellow": "#f0e442",
    "blue": "#0072b2",
    "vermillion": "#d55e00",
    "red": "#d55e00",  # the red of this palette
    "purple": "#cc79a7",
    "gray": "#bbbbbb",  # not Okabe and Ito's; lighter, as purple looks gray without green cones
}
POSITIVE, NEGATIVE, BETWEEN, NEUTRAL = NAMED["blue"], NAMED["vermillion"], NAMED["purple"], NAMED["gray"]
UNSIGNED = "#6b7075"  # darker than nodes without a group, which the edges end in
SIGNS: Mapping[int, str] = {1: POSITIVE, -1: NEGATIVE, 0: UNSIGNED}
"""Color of an edge by its sign; 0 for those that have none."""
GROUPS = tuple(NAMED[name] for name in ("orange", "sky blue", "green", "yellow", "black", "blue", "vermillion"))
"""Colors of groups in the order of use; they repeat for more groups."""


def read_color(color: object) -> str:
    """Return ``#rrggbb`` for a name of this palette or for such a text."""
    if isinstance(color, str):
        if color in NAMED:
            return NAMED[color]
        if re.fullmatch(r"#[0-9a-fA-F]{6}", color):
            return color.lower()
    raise DataError(f"a color must be #rrggbb or one of {', '.join(NAMED)}; got {color!r}.")


def channels(color: str) -> tuple[int, int, int]:
    """Return red, green and blue of ``#rrggbb``."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def color_groups(groups: Iterable[object], chosen: GroupColors | None = None) -> dict[object, str]:
    """Return a color for every group, in the order in which the groups first occur."""
    given = {group: read_color(color) for group, color in (chosen or {}).items()}
    found = dict.fromkeys(groups)
    free = [color for color in GROUPS if color not in given.values()] or list(GROUPS)
    others = [group for group in found if group is not None and group not in given]
    colors = {group: free[k % len(free)] for k, group in enumerate(others)} | given
    return {group: colors.get(group, NEUTRAL) for group in found}
