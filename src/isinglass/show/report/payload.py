"""The data of a page as plain lists and numbers, small enough to travel inside it."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from isinglass.categories import CategoryNetwork
from isinglass.pairs import pair_keys, pairs_of, spread
from isinglass.randomness import RandomSource
from isinglass.results import Missing, Solution, Stability
from isinglass.show.layout import force_layout
from isinglass.show.report.contents import SAME_ALPHA, Contents
from isinglass.show.report.crosstabs import describe_categories, list_tables
from isinglass.show.report.methods import citation
from isinglass.version import __version__

FORMAT = 1
"""Version of this layout."""
DIGITS = 6
"""Significant digits of couplings off the selected network, whose own are exact."""
NEGATIVE_PULL = 0.1
"""Share of their strength with which negative edges attract in the drawing: enough to keep their nodes in sight."""


def make_payload(contents: Contents, *, max_edges: int, random_state: RandomSource) -> dict[str, Any]:
    """Return what the page's script reads."""
    stored = _stored_pairs(contents.solutions, contents.selected, max_edges)
    selected = contents.solutions[contents.selected].network
    payload = {
        "format": FORMAT,
        "title": contents.title,
        "notes": list(contents.notes),
        "n_rows": contents.n_rows,
        "sum_of_weights": contents.sum_of_weights,
        "nodes": _nodes(contents, random_state),
        "categories": describe_categories(selected, contents.shares),
        "groups": [{"name": name, "color": color} for name, color in contents.group_colors.items()],
        "path": _path(contents, stored),
        "edge_columns": _edge_columns(contents, stored),
        "edge_tables": list_tables(selected, contents.edge_counts, pairs_of(stored, len(contents.names))),
        "curve": contents.curve,
        "missing": _missing(contents.missing),
        "certificate": _certificate(contents),
        "settings": contents.settings,
        "command": contents.command,
        "methods": contents.methods,
        "citation": citation(),
        "versions": {
            "isinglass": __version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "python": platform.python_version(),
        },
    }
    plain: dict[str, Any] = to_plain(payload)
    return plain


def to_plain(value: Any) -> Any:
    """Return the value with nothing in it but what JSON has: NumPy's types unpacked, NaN and infinity as None.

    Examples
    --------
    >>> to_plain({"a": np.arange(2), "b": float("nan"), "c": [np.float64(0.5), True]})
    {'a': [0, 1], 'b': None, 'c': [0.5, True]}
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _round(values: NDArray[np.float64]) -> list[float]:
    """Return the values with a few significant digits; what is not zero stays so."""
    return [float(f"{value:.{DIGITS}g}") for value in values.tolist()]


# ------------------------------------------------------------------------------------------- nodes


def _nodes(contents: Contents, random_state: RandomSource) -> dict[str, Any]:
    xy = _positions(contents, random_state)
    network = contents.solutions[contents.selected].network
    numbers = {name: k for k, name in enumerate(contents.group_colors)}
    columns = {label: values for label, values in contents.node_columns.items() if label not in _COUNTED}
    return {
        "names": list(contents.names),
        "groups": [-1 if group is None else numbers[group] for group in contents.groups],
        "x": xy[:, 0].round(4),
        "y": xy[:, 1].round(4),
        "fields": None if isinstance(network, CategoryNetwork) else network.fields,
        "columns": [{"label": label, "values": values} for label, values in columns.items()],
    }


_COUNTED = {"degree", "strength", "expected_influence"}  # by the page itself, for every point of the path


def _positions(contents: Contents, random_state: RandomSource) -> NDArray[np.float64]:
    """Lay out the selected network; if it has no edges, the densest."""
    drawn = contents.solutions[contents.selected]
    if drawn.n_edges == 0:
        drawn = max(contents.solutions, key=lambda solution: solution.n_edges)
    pull = np.where(drawn.edge_values > 0, drawn.edge_values, -NEGATIVE_PULL * drawn.edge_values)
    return force_layout(drawn.n_features, drawn.edge_index, pull, random_state=random_state)


# ------------------------------------------------------------------------------------------- the path


def _stored_pairs(solutions: tuple[Solution, ...], selected: int, max_edges: int) -> NDArray[np.int64]:
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


def _path(contents: Contents, stored: NDArray[np.int64]) -> dict[str, Any]:
    """Return the couplings of every stored pair from the alpha at which it enters to the last at which it is there."""
    solutions = contents.solutions
    s, t = pairs_of(stored, len(contents.names)).T
    table = np.array([spread(each.edge_values, _keys(each), stored) for each in solutions]).T  # pairs × alphas
    present = table != 0.0
    first = present.argmax(axis=1)
    end = len(solutions) - present[:, ::-1].argmax(axis=1)
    pairs = np.unique(np.concatenate([_keys(solution) for solution in solutions]))
    return {
        "alphas": [solution.alpha for solution in solutions],
        "per_node": solutions[contents.selected].alphas_per_node is not None,
        "selected": contents.selected,
        "n_edges": [solution.n_edges for solution in solutions],
        "n_pairs": len(pairs),
        "s": s,
        "t": t,
        "first": first,
        "values": [_round(row[a:b]) for row, a, b in zip(table, first, end, strict=True)],
        "exact": table[:, contents.selected],
        "signed": solutions[contents.selected].network.has_sign(np.column_stack([s, t])),
    }


def _edge_columns(contents: Contents, stored: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Return further columns of the edge table, in the order of the stored pairs."""
    s, t = pairs_of(stored, len(contents.names)).T
    columns = []
    if contents.stability is not None:
        columns.append(_shares(contents.stability, contents.solutions[contents.selected].alpha, s, t))
    pairs = list(zip(s.tolist(), t.tolist(), strict=True))
    network = contents.solutions[contents.selected].network
    if isinstance(network, CategoryNetwork):
        kinds = [f"{network.kinds[a]} – {network.kinds[b]}" for a, b in pairs]
        columns.append({"label": "kinds", "field": "kinds", "values": kinds})
    for label, by_pair in contents.edge_columns.items():
        columns.append({"label": label, "field": label, "values": [by_pair.get(pair) for pair in pairs]})
    return [column for column in columns if len(column["values"])]


def _shares(stability: Stability, alpha: float, s: NDArray[np.int32], t: NDArray[np.int32]) -> dict[str, Any]:
    """Return how often subsamples had these pairs, at the alpha nearest to the selected one that they were run at."""
    known = stability.alphas[: len(stability.edge_frequencies)]
    nearest = int(np.abs(known - (alpha if np.isfinite(alpha) else stability.alpha)).argmin())
    differs = not np.isclose(known[nearest], alpha, rtol=SAME_ALPHA, atol=0.0)
    where = f" at α = {known[nearest]:.4g}" if differs else ""
    field = f"stability_at_alpha_{known[nearest]:.4g}" if differs else "stability"
    return {
        "label": f"in subsamples{where}",
        "field": field,
        "values": np.asarray(stability.edge_frequencies[nearest][s, t]).ravel(),
    }


# ------------------------------------------------------------------------------------------- missing cells


def _missing(missing: Missing | None) -> dict[str, Any] | None:
    """Return the holes of the table and what was done; those of the columns are among the columns of the nodes."""
    if missing is None:
        return None
    counted = ("treatment", "n_rows", "n_cells", "n_left_out", "n_holed", "n_patterns", "n_imputations", "settled")
    patterns = [] if missing.patterns is None else [np.flatnonzero(pattern) for pattern in missing.patterns]
    counts = [] if missing.pattern_counts is None else missing.pattern_counts.tolist()
    return {
        **{name: getattr(missing, name) for name in counted},
        "noise": missing.noise,
        "n_rounds": 0 if missing.changes is None else len(missing.changes),
        "edge_information": [] if missing.edge_information is None else missing.edge_information,
        "patterns": [{"columns": columns, "n_rows": count} for columns, count in zip(patterns, counts, strict=True)],
    }


# ------------------------------------------------------------------------------------------- the proof


def _certificate(contents: Contents) -> dict[str, Any]:
    """Return the proof of every network along the slider."""
    solutions = contents.solutions
    gaps = np.array([solution.duality_gap for solution in solutions])
    null = contents.null_objective
    return {
        "kind": contents.proof,
        "rule": contents.rule,
        "tol": contents.tol,
        "null_objective": null,
        "objective": [solution.objective for solution in solutions],
        "kkt_residual": [solution.kkt_residual for solution in solutions],
        "duality_gap": gaps,
        "relative_gap": gaps / max(null, 1e-12) if np.isfinite(null) else np.full(len(gaps), np.nan),
        "certified_zeros": [solution.certified_zeros for solution in solutions],
        "n_iter": [solution.n_iter for solution in solutions],
        "n_screened": [solution.n_screened for solution in solutions],
        "converged": [solution.converged for solution in solutions],
    }
