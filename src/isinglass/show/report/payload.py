"""The parts of a page as plain lists and numbers, small enough to travel inside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.arguments import RandomSource
from isinglass.arrays import FloatArray
from isinglass.network import Network, pair_keys, pairs_of, spread
from isinglass.results import Missing, Solution, Stability
from isinglass.show.layout import force_layout
from isinglass.show.report.contents import SAME_ALPHA

DIGITS = 6  # significant digits of couplings off the selected network, whose own are exact, and of tables of categories
NEGATIVE_PULL = 0.1
"""Share of their strength with which negative edges attract in the drawing: enough to keep their nodes in sight."""
MOST_CELLS = 200_000  # cells of tables that a page stores: those of the strongest edges come first


def _round(values: FloatArray) -> list[float]:
    """Return the values with a few significant digits; what is not zero stays so."""
    return [float(f"{value:.{DIGITS}g}") for value in values.tolist()]


def place_nodes(solutions: Sequence[Solution], selected: int, random_state: RandomSource) -> dict[str, object]:
    """Lay out the selected network, or the densest if it has no edges; its fields, where a node has one, come along."""
    drawn = network = solutions[selected]
    if drawn.n_edges == 0:
        drawn = max(solutions, key=lambda solution: solution.n_edges)
    pull = np.where(drawn.edge_values > 0, drawn.edge_values, -NEGATIVE_PULL * drawn.edge_values)
    xy = force_layout(drawn.n_features, drawn.edge_index, pull, random_state=random_state).round(4)
    two_values = network.network.variables.is_binary
    return {"x": xy[:, 0], "y": xy[:, 1], "fields": network.fields if two_values else None}


def stored_pairs(solutions: Sequence[Solution], selected: int, max_edges: int) -> NDArray[np.int64]:
    """Return s · p + t of the pairs that the page keeps, in order.

    If they are too many: those of the selected network before others, strong before weak there; then those that enter
    the path early.
    """
    keys = [_keys(solution) for solution in solutions]
    every, place = np.unique(np.concatenate(keys), return_inverse=True)
    if len(every) <= max_edges:
        return every
    entered = np.full(len(every), len(solutions))
    np.minimum.at(entered, place, np.repeat(np.arange(len(solutions)), [len(each) for each in keys]))
    strength = np.zeros(len(every))
    strength[np.searchsorted(every, keys[selected])] = np.abs(solutions[selected].edge_values)
    return np.sort(every[np.lexsort((every, entered, -strength))[:max_edges]])


def _keys(solution: Solution) -> NDArray[np.int64]:
    return pair_keys(solution.edge_index, solution.n_features)


def describe_path(solutions: Sequence[Solution], selected: int, stored: NDArray[np.int64]) -> dict[str, object]:
    """Return the couplings of every stored pair from the alpha at which it enters to the last at which it is there."""
    shown = solutions[selected]
    pairs = pairs_of(stored, shown.n_features)
    table = np.array([spread(each.edge_values, _keys(each), stored) for each in solutions]).T  # pairs × alphas
    present = table != 0.0
    first = present.argmax(axis=1)
    end = len(solutions) - present[:, ::-1].argmax(axis=1)
    return {
        "alphas": [solution.alpha for solution in solutions],
        "per_node": shown.alphas_per_node is not None,
        "selected": selected,
        "n_edges": [solution.n_edges for solution in solutions],
        "n_pairs": len(np.unique(np.concatenate([_keys(solution) for solution in solutions]))),
        "s": pairs[:, 0],
        "t": pairs[:, 1],
        "first": first,
        "values": [_round(row[a:b]) for row, a, b in zip(table, first, end, strict=True)],
        "exact": table[:, selected],
        "signed": shown.network.has_sign(pairs),
    }


def edge_columns(
    shown: Solution,
    stability: Stability | None,
    further: Mapping[str, Mapping[tuple[int, int], Any]],
    stored: NDArray[np.int64],
) -> list[dict[str, object]]:
    """Return further columns of the edge table, in the order of the stored pairs."""
    if not len(stored):
        return []
    s, t = pairs_of(stored, shown.n_features).T
    pairs = list(zip(s.tolist(), t.tolist(), strict=True))
    columns: list[tuple[Any, ...]] = []
    if stability is not None:
        # At the alpha nearest to the selected one that all subsamples were run at.
        known = stability.alphas[: len(stability.edge_frequencies)]
        nearest = int(np.abs(known - (shown.alpha if np.isfinite(shown.alpha) else stability.alpha)).argmin())
        at = f"{known[nearest]:.4g}"
        same = np.isclose(known[nearest], shown.alpha, rtol=SAME_ALPHA, atol=0.0)
        words = ("in subsamples", "stability") if same else (f"in subsamples at α = {at}", f"stability_at_alpha_{at}")
        columns.append((*words, np.asarray(stability.edge_frequencies[nearest][s, t]).ravel()))
    network = shown.network
    if not network.variables.is_binary:
        columns.append(("kinds", "kinds", [f"{network.kinds[a]} – {network.kinds[b]}" for a, b in pairs]))
    columns += [(label, label, [by_pair.get(pair) for pair in pairs]) for label, by_pair in further.items()]
    return [dict(zip(("label", "field", "values"), column, strict=True)) for column in columns]


def describe_categories(network: Network, shares: Sequence[FloatArray] | None) -> dict[str, object] | None:
    """Return kinds, labels, scores, fields and shares of the categories of every node; None if all are 0 and 1."""
    variables = network.variables
    if variables.is_binary:
        return None
    return {
        "kinds": network.kinds,
        "labels": network.labels,
        "scores": variables.scores,
        "fields": [_round(field) for field in variables.split(network.category_fields)],
        "shares": None if shares is None else [_round(share) for share in shares],
    }


def list_tables(
    network: Network, counts: Mapping[tuple[int, int], NDArray[Any]], stored: NDArray[np.int64]
) -> list[dict[str, object] | None]:
    """Return block and counts of every stored pair that is an edge of the network, the strongest as far as they fit."""
    found: list[dict[str, object] | None] = [None] * len(stored)
    if network.variables.is_binary:
        return found
    place = {(s, t): k for k, (s, t) in enumerate(pairs_of(stored, network.n_features).tolist())}
    room, blocks = MOST_CELLS, network.blocks
    for k in network.by_strength.tolist():
        s, t = network.edge_index[k].tolist()
        block, count = blocks[k], counts.get((s, t))
        room -= block.size + (0 if count is None else count.size)
        if room < 0:
            break
        if (s, t) in place:
            signed = bool(network.is_signed[k])
            found[place[s, t]] = {"block": None if signed else [_round(row) for row in block], "counts": count}
    return found


def describe_missing(missing: Missing | None) -> dict[str, object] | None:
    """Return the holes of the table and what was done; those of the columns are among the columns of the nodes."""
    if missing is None:
        return None
    counted = ("treatment", "n_rows", "n_cells", "n_left_out", "n_holed", "n_patterns", "n_imputations", "settled")
    patterns = [] if missing.patterns is None else [np.flatnonzero(pattern) for pattern in missing.patterns]
    counts = [] if missing.pattern_counts is None else missing.pattern_counts.tolist()
    return {
        **{name: getattr(missing, name) for name in (*counted, "noise")},
        "n_rounds": 0 if missing.changes is None else len(missing.changes),
        "edge_information": [] if missing.edge_information is None else missing.edge_information,
        "patterns": [{"columns": columns, "n_rows": count} for columns, count in zip(patterns, counts, strict=True)],
    }


def describe_certificate(solutions: Sequence[Solution], proof: Mapping[str, Any]) -> dict[str, object]:
    """Return the proof of every network along the slider."""

    def each(*names: str) -> dict[str, object]:
        return {name: [getattr(solution, name) for solution in solutions] for name in names}

    null, gaps = proof["null_objective"], np.array([solution.duality_gap for solution in solutions])
    return {
        **proof,
        **each("objective", "kkt_residual", "duality_gap"),
        "relative_gap": gaps / (max(null, 1e-12) if np.isfinite(null) else np.nan),
        **each("certified_zeros", "n_iter", "n_screened", "converged"),
    }
