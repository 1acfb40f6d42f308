"""What a page says about categories: those of every node, and the tables of the edges between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import FloatArray
from isinglass.categories import CategoryNetwork
from isinglass.network import Network

MOST_CELLS = 200_000
"""Cells of tables that a page stores: those of the strongest edges come first."""
DIGITS = 6
"""Significant digits of the couplings in them."""


def describe_categories(network: Network, shares: Sequence[FloatArray] | None) -> dict[str, Any] | None:
    """Return kinds, labels, scores, fields and shares of the categories of every node; None if all are 0 and 1."""
    if not isinstance(network, CategoryNetwork):
        return None
    return {
        "kinds": list(network.kinds),
        "labels": [list(labels) for labels in network.labels],
        "scores": [None if score is None else score for score in network.scores],
        "fields": [_round(field) for field in network.category_fields],
        "shares": None if shares is None else [_round(share) for share in shares],
    }


def list_tables(
    network: Network, counts: Mapping[tuple[int, int], NDArray[Any]], stored: NDArray[np.int32]
) -> list[dict[str, Any] | None]:
    """Return block and counts of every stored pair that is an edge of the network, the strongest as far as they fit."""
    found: list[dict[str, Any] | None] = [None] * len(stored)
    if not isinstance(network, CategoryNetwork):
        return found
    place = {(s, t): k for k, (s, t) in enumerate(stored.tolist())}
    room = MOST_CELLS
    for k in network.by_strength.tolist():
        s, t = network.edge_index[k].tolist()
        block, count = network.blocks[k], counts.get((s, t))
        room -= block.size + (0 if count is None else count.size)
        if room < 0:
            break
        if (s, t) in place:
            signed = bool(network.is_signed[k])
            found[place[s, t]] = {"block": None if signed else [_round(row) for row in block], "counts": count}
    return found


def _round(values: FloatArray) -> list[float]:
    return [float(f"{value:.{DIGITS}g}") for value in values.tolist()]
