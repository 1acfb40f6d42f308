"""The arguments of a report, checked and read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy  # its parts are loaded when they are needed
from numpy.typing import NDArray

from isinglass.arrays import FloatArray
from isinglass.data import Table
from isinglass.errors import ArgumentError, DataError, setting
from isinglass.export.attributes import list_columns, plain_value
from isinglass.fit import Fit, summarize
from isinglass.names import NodeValues, by_node
from isinglass.network import Network
from isinglass.results import Evidence, Missing, Path, Solution, Stability
from isinglass.show.palette import GroupColors, color_groups

SAME_ALPHA = 1e-9  # relative difference up to which two alphas are the same
COUNTED = {"degree", "strength", "expected_influence"}
"""Measures of nodes that the page computes itself, for every point of the path."""


def line_up(model: Network, path: Path | None, solution: Solution | None) -> tuple[tuple[Solution, ...], int]:
    """Return the networks along the slider, and the number of the selected one among them."""
    solutions = tuple(path or ())
    if not solutions:
        return (Solution(model, np.nan) if solution is None else solution,), 0
    for other in solutions:
        if other.n_features != model.n_features:
            raise DataError(
                f"{setting('path')} must have {model.n_features} nodes, as the network has; got {other.n_features}."
            )
    alphas = np.array([each.alpha for each in solutions])
    if solution is None or np.isnan(solution.alpha):
        same = [k for k, each in enumerate(solutions) if each.network.with_names(model.names) == model]
        if not same:
            raise DataError("result is not on the path. Pass the Solution with its alpha, or leave the path out.")
        return solutions, same[0]
    near = np.flatnonzero(np.abs(alphas - solution.alpha) <= SAME_ALPHA * max(abs(solution.alpha), 1e-300))
    if not len(near):
        place = int((alphas > solution.alpha).sum())
        return (*solutions[:place], solution, *solutions[place:]), place
    difference = abs(solutions[near[0]].couplings_sparse - model.couplings_sparse).max()
    if difference > 1e-9 * max(1.0, model.weights.max(initial=0.0)):
        raise DataError(
            f"result must be the network of the path at its alpha ({solution.alpha:.6g}); its couplings differ by "
            f"{difference:.3g}. Leave the path out."
        )
    return solutions, int(near[0])


def read_curve(stability: Stability | None, evidence: Evidence | None) -> dict[str, object] | None:
    """Return the curve that the penalty was chosen from, if there is one."""
    if stability is not None:
        told = ("alphas", "monotone", "threshold", "n_subsamples", "subsample_size")
        line = {name: getattr(stability, name) for name in told}
        return {"kind": "instability", "values": stability.instability, "choice": stability.index, **line}
    if evidence is None:
        return None
    line = {name: getattr(evidence, name) for name in ("kind", "alphas", "values", "choice")}
    return {**line, **evidence.settings, **({} if evidence.errors is None else {"errors": evidence.errors})}


def find_proof(result: object, fit: Fit | None) -> dict[str, str | None]:
    """Return the kind of certificate, and the rule that combined two regressions into one coupling."""
    if fit is not None:
        rule = fit.method.rule if fit.method.estimator == "nodewise" else None
        return {"kind": fit.method.estimator if fit.proves else "published", "rule": rule}
    nodewise = isinstance(result, Solution) and result.alphas_per_node is not None
    return {"kind": "nodewise" if nodewise else "joint", "rule": None}


def null_objective(solutions: tuple[Solution, ...], shares: tuple[FloatArray, ...] | None) -> float:
    """Return the objective without edges: that of an empty network, or the sum of the columns' entropies."""
    empty = [each.objective for each in solutions if each.n_edges == 0 and np.isfinite(each.objective)]
    if empty:
        return float(empty[0])
    return float("nan") if shares is None else float(sum(scipy.special.entr(share).sum() for share in shares))


def read_settings(given: Mapping[str, object] | None, result: object, fit: Fit | None) -> dict[str, str]:
    """Return what the network was made with, as texts."""
    if given is None:
        given = {} if fit is None else {"method": fit.method.estimator, "choice": fit.chosen, **fit.method.changed()}
        if fit is not None and hasattr(result, "get_params"):
            given = {"estimator": type(result).__name__, **result.get_params(deep=False)}
    return {str(name): str(value) for name, value in given.items() if value is not None}


def read_rows(X: Any, model: Network, fit: Fit | None) -> Table:
    """Return the table, read as that of the fit or, for a network by itself, as its columns are."""
    return model.table(X if fit is None or isinstance(X, np.ndarray) else fit.read(X)).without_holes()


def count_rows(fit: Fit | None, table: Table | None) -> dict[str, float | None]:
    """Return the number of rows, and how many they count as if they have weights, as far as these are known."""
    total = None if fit is None else fit.n_rows
    if table is None:
        # What a fit knows is the sum; counts that are no whole numbers tell that there were weights.
        weighted = fit is not None and any(each.dtype.kind == "f" for each in fit.pair_counts)
        return {"n_rows": None if weighted else total, "effective_rows": total if weighted else None}
    if total is None and table.scaled_weight is not None:
        total = float(table.scaled_weight.sum())
    unequal = table.sample_weight is not None or (total is not None and total != len(table))
    return {"n_rows": len(table), "effective_rows": total if unequal else None}


def count_values(
    fit: Fit | None, table: Table | None, model: Network
) -> tuple[tuple[FloatArray, ...] | None, dict[tuple[int, int], NDArray[Any]]]:
    """Return the share of every value of every node, and the rows by category of edges between categories."""
    if fit is not None:  # comes first: the caller may have left weights out
        shares, counts = fit.shares, fit.pair_counts
    elif table is not None:
        _, shares, counts = summarize(table, model.edge_index)
    else:
        return None, {}
    each = tuple(model.variables.split(np.clip(shares, 0.0, 1.0)))
    if model.variables.is_binary:
        return each, {}
    return each, dict(zip([(s, t) for s, t in model.edge_index.tolist()], counts, strict=True))


def node_columns(model: Network, wording: NodeValues | None, table: Any, missing: Missing | None) -> dict[str, Any]:
    """Return the columns of the table of nodes: kinds, wording, measures, and how much is missing."""
    found: dict[str, Any] = {}
    if not model.variables.is_binary:
        found = {"kind": model.kinds, "categories": model.variables.sizes}
    if wording is not None:
        texts = by_node(wording, model.names, "wording")
        found["wording"] = ["" if text is None else str(text) for text in texts]
    columns = _columns(table, "node_table")
    labels = columns.pop("names", columns.pop("name", None))
    if labels is not None and [str(label) for label in labels] != list(model.names):
        raise DataError("node_table must have the nodes of the network in the same order; got other names.")
    p = model.n_features
    for label, values in columns.items():
        if len(values) != p:
            raise DataError(f"node_table must have one row per node ({p}); {label!r} has {len(values)}.")
    found |= {label: values for label, values in columns.items() if label not in COUNTED}
    if missing is not None:
        holes = {"missing": missing.column_shares, "missing_information": missing.column_information}
        found |= {label: shares for label, shares in holes.items() if shares is not None}
    return found


def edge_columns(table: Any, names: Sequence[str]) -> dict[str, dict[tuple[int, int], Any]]:
    """Return the columns of a table of edges by pair of node numbers."""
    columns = _columns(table, "edge_table")
    if not columns:
        return {}
    if not {"source", "target"} <= columns.keys():
        raise DataError(f"edge_table must have the columns source and target; got {', '.join(columns)}.")
    number = {name: k for k, name in enumerate(names)}
    try:
        ends = [[number[str(name)] for name in columns.pop(side)] for side in ("source", "target")]
    except KeyError as error:
        raise ArgumentError("edge_table", "must name nodes of the network", error.args[0]) from None
    pairs = [(min(pair), max(pair)) for pair in zip(*ends, strict=True)]
    own = ("coupling", "sign", "weight", "stability")  # columns of the page, which follow the slider
    kept = [label for label in columns if label not in own]
    return {label: dict(zip(pairs, columns[label], strict=True)) for label in kept}


def _columns(table: Any, name: str) -> dict[str, list[Any]]:
    return {str(key): [plain_value(value) for value in values] for key, values in list_columns(table, name)}


def read_groups(
    groups: NodeValues | None, chosen: GroupColors | None, names: Sequence[str]
) -> tuple[list[str | None], dict[str, str]]:
    """Return the group of every node, none if nobody said, and the color of every group, in the order of the legend."""
    listed = [] if groups is None else [plain_value(member) for member in by_node(groups, names, "groups")]
    members = [None if member is None else str(member) for member in listed]
    colors = color_groups(members, {str(group): color for group, color in (chosen or {}).items()})
    return members, {str(group): color for group, color in colors.items() if group is not None}
