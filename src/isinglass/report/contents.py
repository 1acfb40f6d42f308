"""What a report is about, read from whatever the caller has and checked once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr

from isinglass import metrics
from isinglass.binary import to_binary
from isinglass.errors import DataError
from isinglass.model import IsingModel
from isinglass.records import Path, Solution, Stability

__all__ = ["Contents", "gather"]

FloatArray = NDArray[np.float64]

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A7A7A")
"""Colours of groups, after Okabe and Ito: they differ for colour-blind readers too. No yellow, which white swallows."""
SAME_ALPHA = 1e-9
"""Relative difference up to which two alphas are one."""


@dataclass(frozen=True, eq=False)
class Contents:
    """Everything a page shows, in one form.

    Parameters
    ----------
    names : tuple of str
        The nodes.
    solutions : tuple of Solution
        The networks along the slider, from sparse to dense; a single one if there is no path.
    selected : int
        Which of them the report is about.
    tol : float
        Tolerance that ``converged`` refers to; NaN if unknown.
    stability, criterion : object or None
        What chose the alpha: a Stability, or a selection by EBIC or cross-validation.
    node_columns, edge_columns : dict
        Further columns of the tables; the edges' are by pair of node numbers.
    groups : tuple of str or None
        The group of every node; empty if there are none.
    group_colors : dict
        The colour of every group, in the order of the legend.
    null_objective : float
        Objective without edges; NaN if unknown.
    n_rows : int or None
        Rows of the table.
    title, notes, settings, command
        Texts.
    """

    names: tuple[str, ...]
    solutions: tuple[Solution, ...]
    selected: int
    tol: float
    stability: Stability | None
    criterion: Any
    node_columns: dict[str, list[Any]]
    edge_columns: dict[str, dict[tuple[int, int], Any]]
    groups: tuple[str | None, ...]
    group_colors: dict[str, str]
    null_objective: float
    n_rows: int | None
    title: str
    notes: tuple[str, ...] = ()
    settings: dict[str, str] = field(default_factory=dict)
    command: str | None = None


def gather(
    result: Any,
    *,
    X: ArrayLike | None,
    names: Sequence[str] | None,
    path: Path | None,
    selected: int | float | None,
    solution: Solution | None,
    stability: Stability | None,
    criterion: Any,
    node_table: Any,
    edge_table: Any,
    groups: Mapping[str, Any] | Sequence[Any] | None,
    group_colors: Mapping[Any, str] | None,
    title: str,
    notes: str | Iterable[str],
    settings: Mapping[str, Any] | None,
    command: str | None,
) -> Contents:
    """Read the arguments of ``build_report``; what a fitted estimator knows stands in for what was not given."""
    if hasattr(result, "model_"):
        path = path if path is not None else getattr(result, "path_", None)
        solution = solution if solution is not None else getattr(result, "solution_", None)
        stability = stability if stability is not None else getattr(result, "stability_", None)
        criterion = criterion if criterion is not None else getattr(result, "ebic_path_", None)
        settings = settings if settings is not None else _parameters(result)
    elif isinstance(result, Solution):
        solution = result
    model = _model_of(result, names)
    wanted = _wanted(selected, solution, stability, criterion)
    solutions, index = _line_up(model, path, solution, wanted)
    table = None if X is None else to_binary(X)
    if node_table is None and table is not None:
        node_table = metrics.node_table(model, table)
    group_names = _read_groups(groups, model.names)
    return Contents(
        names=tuple(model.names),
        solutions=solutions,
        selected=index,
        tol=float(getattr(path, "tol", np.nan)),
        stability=stability,
        criterion=criterion,
        node_columns=_node_columns(node_table, model.names),
        edge_columns=_edge_columns(edge_table, model.names),
        groups=group_names,
        group_colors=_colors(group_names, group_colors),
        null_objective=_null_objective(table, solutions),
        n_rows=None if table is None else len(table),
        title=str(title),
        notes=(notes,) if isinstance(notes, str) else tuple(str(note) for note in notes),
        settings={str(name): str(value) for name, value in (settings or {}).items()},
        command=None if command is None else str(command),
    )


# ------------------------------------------------------------------------------------------- the networks


def _model_of(result: Any, names: Sequence[str] | None) -> IsingModel:
    found = getattr(result, "model_", result)
    if isinstance(found, Solution):
        return IsingModel.from_solution(found, names)
    if not isinstance(found, IsingModel):
        raise DataError(f"result must be an IsingModel, a Solution or a fitted estimator; got {result!r}.")
    return found if names is None else IsingModel(found.couplings, found.fields, names)


def _parameters(estimator: Any) -> dict[str, Any]:
    parameters = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    return {"estimator": type(estimator).__name__, **parameters}


def _wanted(
    selected: int | float | None, solution: Solution | None, stability: Stability | None, criterion: Any
) -> int | float | None:
    """Return the number or the alpha of the selected network, from the first who knows it."""
    if selected is not None:
        return selected
    for source in (solution, stability, criterion):
        if source is not None and np.isfinite(source.alpha):
            return float(source.alpha)
    return None


def _line_up(
    model: IsingModel, path: Path | None, solution: Solution | None, wanted: int | float | None
) -> tuple[tuple[Solution, ...], int]:
    """Return the networks along the slider and the number of the selected one, which is among them."""
    solutions: tuple[Solution, ...]
    if path is None or len(path) == 0:
        alone = solution if solution is not None else Solution.from_dense(np.nan, model.couplings, model.fields)
        solutions, index = (alone,), 0
    else:
        solutions, index = _find(tuple(path), model, solution, wanted)
    for other in solutions:
        if other.n_features != model.n_features:
            raise DataError(f"path must have {model.n_features} nodes, as the network has; got {other.n_features}.")
    chosen = solutions[index]
    difference = np.abs(chosen.couplings - model.couplings).max()
    if difference > 1e-9 * max(1.0, np.abs(model.couplings).max()):
        raise DataError(
            f"result must be the network at the selected alpha ({chosen.alpha:.6g}); got couplings that differ by "
            f"{difference:.3g}. Pass the Solution of that alpha, or leave the path out."
        )
    return solutions, index


def _find(
    solutions: tuple[Solution, ...], model: IsingModel, solution: Solution | None, wanted: int | float | None
) -> tuple[tuple[Solution, ...], int]:
    alphas = np.array([each.alpha for each in solutions])
    if wanted is None:
        same = [k for k, each in enumerate(solutions) if np.array_equal(each.couplings, model.couplings)]
        if not same:
            raise DataError("selected must be given where the network is not on the path; got None.")
        return solutions, same[0]
    if isinstance(wanted, int | np.integer) and not isinstance(wanted, bool):
        if not -len(solutions) <= wanted < len(solutions):
            raise DataError(f"selected must be a number on the path of {len(solutions)} alphas; got {wanted!r}.")
        return solutions, int(wanted) % len(solutions)
    near = np.flatnonzero(np.abs(alphas - wanted) <= SAME_ALPHA * max(abs(float(wanted)), 1e-300))
    if len(near):
        return solutions, int(near[0])
    if solution is not None and solution.alpha == wanted:  # fitted by itself: it gets its place among the others
        place = int((alphas > wanted).sum())
        return (*solutions[:place], solution, *solutions[place:]), place
    raise DataError(f"selected must be an alpha of the path or a number on it; got {wanted!r}. Pass its Solution too.")


def _null_objective(table: NDArray[np.uint8] | None, solutions: tuple[Solution, ...]) -> float:
    empty = [each.objective for each in solutions if each.n_edges == 0 and np.isfinite(each.objective)]
    if empty:  # without edges the objective is the sum of the columns' entropies, with weights or without
        return float(empty[0])
    if table is None:
        return float("nan")
    means = table.mean(axis=0)
    return float((entr(means) + entr(1.0 - means)).sum())


# ------------------------------------------------------------------------------------------- tables and groups


def _columns(table: Any, name: str) -> dict[str, list[Any]]:
    """Return a table as lists by name: a mapping, a record with a mapping of columns, or a data frame."""
    if table is None:
        return {}
    columns = getattr(table, "columns", table)
    if isinstance(columns, Mapping):
        return {str(key): list(values) for key, values in columns.items()}
    try:
        return {str(key): list(table[key]) for key in columns}
    except (TypeError, KeyError, IndexError):
        raise DataError(f"{name} must be a data frame or a mapping of columns; got {table!r}.") from None


def _node_columns(table: Any, names: Sequence[str]) -> dict[str, list[Any]]:
    columns = _columns(table, "node_table")
    labels = columns.pop("names", columns.pop("name", None))
    if labels is not None and [str(label) for label in labels] != list(names):
        raise DataError("node_table must have the nodes of the network in the same order; got other names.")
    for label, values in columns.items():
        if len(values) != len(names):
            raise DataError(f"node_table must have one row per node ({len(names)}); {label!r} has {len(values)}.")
    return columns


def _edge_columns(table: Any, names: Sequence[str]) -> dict[str, dict[tuple[int, int], Any]]:
    columns = _columns(table, "edge_table")
    if not columns:
        return {}
    if not {"source", "target"} <= columns.keys():
        raise DataError(f"edge_table must have the columns source and target; got {', '.join(columns)}.")
    number = {name: k for k, name in enumerate(names)}
    try:
        ends = [[number[str(name)] for name in columns.pop(side)] for side in ("source", "target")]
    except KeyError as error:
        raise DataError(f"edge_table must name nodes of the network; got {error.args[0]!r}.") from None
    pairs = [(min(pair), max(pair)) for pair in zip(*ends, strict=True)]
    # The page has its own columns for these, which follow the slider.
    kept = {label: values for label, values in columns.items() if label not in ("coupling", "sign", "stability")}
    return {label: dict(zip(pairs, values, strict=True)) for label, values in kept.items()}


def _read_groups(groups: Mapping[str, Any] | Sequence[Any] | None, names: Sequence[str]) -> tuple[str | None, ...]:
    if groups is None:
        return ()
    if isinstance(groups, str):
        raise DataError(f"groups must be a mapping from names or a list, one entry per node; got {groups!r}.")
    if isinstance(groups, Mapping):
        unknown = [name for name in groups if name not in set(names)]
        if unknown:
            raise DataError(f"groups must be keyed by the names of nodes; got {unknown[0]!r}.")
        members = [groups.get(name) for name in names]
    else:
        members = list(groups)
        if len(members) != len(names):
            raise DataError(f"groups must have one entry per node ({len(names)}); got {len(members)}.")
    return tuple(None if member is None else str(member) for member in members)


def _colors(groups: tuple[str | None, ...], given: Mapping[Any, str] | None) -> dict[str, str]:
    colors = {str(name): color for name, color in (given or {}).items()}
    for color in colors.values():
        if not (isinstance(color, str) and re.fullmatch(r"#([0-9a-fA-F]{3}){1,2}|[a-zA-Z]+", color)):
            raise DataError(f"group_colors must be colours such as '#0072B2' or 'teal'; got {color!r}.")
    present = list(dict.fromkeys(group for group in groups if group is not None))
    order = [name for name in colors if name in present] + [name for name in present if name not in colors]
    free = [color for color in PALETTE if color not in colors.values()] or list(PALETTE)
    new = [name for name in order if name not in colors]
    colors |= {name: free[k % len(free)] for k, name in enumerate(new)}
    return {name: colors[name] for name in order}
