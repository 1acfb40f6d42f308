"""Color-blind-safe colors (Okabe and Ito 2008) for files, figures and pages.

Blue and vermillion are for the sign of an edge, gray for edges without a sign, purple for edges between groups (in
figures only); the colors of groups begin with the others.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeAlias

from isinglass.arrays import plain_value
from isinglass.errors import ArgumentError, DataError, listed
from isinglass.names import NodeValues, by_node

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


def read_groups(
    groups: NodeValues | None, chosen: GroupColors | None, names: Sequence[str]
) -> tuple[list[str | None], dict[str | None, str]]:
    """Return the group of every node, None for none, and the color of every group, in the order of first occurrence."""
    if groups is None:
        if chosen is not None:
            raise DataError("group_colors must come with groups, one per node; got None.")
        return [None] * len(names), {None: NEUTRAL}
    if not isinstance(chosen, Mapping | None):
        raise ArgumentError("group_colors", "must be a mapping of groups to colors", chosen)
    members = [_name_group(group) for group in by_node(groups, names, "groups")]
    found = dict.fromkeys(members)
    given: dict[str | None, str] = {None: NEUTRAL}
    given |= {_name_group(group): read_color(color) for group, color in (chosen or {}).items()}
    others, unknown = [group for group in found if group not in given], [group for group in given if group not in found]
    if unknown not in ([], [None]) and others:  # misspelled; otherwise the colors are for other networks, too
        known = listed(list(map(repr, found)))
        raise ArgumentError("group_colors", f"must be colors of groups that occur ({known})", unknown[-1])
    free = [color for color in GROUPS if color not in {given.get(group) for group in found}] or list(GROUPS)
    colors = given | {group: free[k % len(free)] for k, group in enumerate(others)}
    return members, {group: colors[group] for group in found}


def _name_group(group: object) -> str | None:
    """Return how a group is called; a column of whole numbers with a hole has 1.0 in place of 1."""
    plain = plain_value(group)
    if not isinstance(plain, Hashable):
        raise ArgumentError("groups", "must be texts or numbers", group)
    if isinstance(plain, float) and plain.is_integer():
        return str(int(plain))
    return None if plain is None else str(plain)
