"""What a report is about, read from whatever the caller has and checked once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import scipy  # its parts are loaded when they are needed
from numpy.typing import NDArray

from isinglass.arguments import is_whole
from isinglass.arrays import FloatArray
from isinglass.categories import CategoryNetwork
from isinglass.counts import summarize
from isinglass.data import BinaryTable, CategoryTable, read_binary
from isinglass.data.conversion import refuse_holes
from isinglass.errors import ArgumentError, DataError, setting
from isinglass.evaluate.nodes import node_table as measure_nodes
from isinglass.export.annotated import plain_value
from isinglass.fit import Fit
from isinglass.names import by_node
from isinglass.network import Network, as_network
from isinglass.results import Evidence, Missing, Path, Solution, Stability
from isinglass.show.palette import color_groups
from isinglass.show.report.curve import read_curve
from isinglass.show.report.methods import describe_fit

Table: TypeAlias = BinaryTable | CategoryTable
SAME_ALPHA = 1e-9
"""Relative difference up to which two alphas are one."""


@dataclass(frozen=True, eq=False)
class Contents:
    """Everything a page shows, in one form."""

    names: tuple[str, ...]  # the nodes
    # the networks along the slider, from sparse to dense; a single one if there is no path
    solutions: tuple[Solution, ...]
    selected: int  # which of them the report is about
    tol: float  # tolerance that ``converged`` refers to; NaN if unknown
    stability: Stability | None  # how far subsamples agreed
    curve: dict[str, Any] | None  # what the alpha was read from
    node_columns: dict[str, list[Any]]  # further columns of the tables; the edges' are by pair of node numbers
    edge_columns: dict[str, dict[tuple[int, int], Any]]
    groups: tuple[str | None, ...]  # the group of every node; empty if there are none
    group_colors: dict[str, str]  # the color of every group, in the order of the legend
    null_objective: float  # objective without edges; NaN if unknown
    n_rows: float | None  # rows of the table
    sum_of_weights: float | None  # the sum of their weights; None where every row counts once
    # what the certificate is about: one optimum of all couplings, one regression per node, the exact likelihood, or how
    # far a method stopped from an optimum that it does not prove
    proof: str
    rule: str | None  # how two coefficients became one coupling, with the proof "nodewise"
    title: str  # texts
    notes: tuple[str, ...] = ()
    settings: dict[str, str] = field(default_factory=dict)
    command: str | None = None
    methods: str | None = None
    shares: tuple[FloatArray, ...] | None = None  # of the values of every node
    edge_counts: Mapping[tuple[int, int], NDArray[Any]] = field(
        default_factory=dict
    )  # rows by category, where there are more than two
    missing: Missing | None = None  # where cells were missing, and what was done


def gather(
    result: Any,
    *,
    X: Any,
    names: Sequence[str] | None,
    path: Path | None,
    selected: int | float | None,
    solution: Solution | None,
    stability: Stability | None,
    criterion: Any,
    node_table: Any,
    edge_table: Any,
    groups: Any,
    group_colors: Mapping[Any, str] | None,
    title: str,
    notes: str | Iterable[str],
    settings: Mapping[str, Any] | None,
    command: str | None,
    wording: Any = None,
) -> Contents:
    """Read the arguments of ``build_report``; what a fitted estimator knows stands in for what was not given."""
    known = _Known.of(result)
    path = known.path if path is None else path
    solution = known.solution if solution is None else solution
    stability = known.stability if stability is None else stability
    model = as_network(result, names)
    wanted = _wanted(selected, solution, stability, criterion)
    solutions, index = _line_up(model, path, solution, wanted)
    table = None if X is None else _read_rows(X, model, result)
    if node_table is None and table is not None:
        node_table = measure_nodes(model, table)
    shares, edge_counts = known.shares, known.edge_counts
    if shares is None and table is not None:  # those of the fit come first: the caller may have left weights out
        _, marginals, counts = summarize(table, model.edge_index)
        shares, edge_counts = _shares(marginals), _by_pair(model, counts)
    members = _read_groups(groups, model.names)
    return Contents(
        names=tuple(model.names),
        solutions=solutions,
        selected=index,
        tol=known.tol if path is None else path.tol,
        stability=stability,
        curve=read_curve(stability, criterion, known.evidence),
        node_columns=_kinds(model)
        | _wording(wording, model.names)
        | _node_columns(node_table, model.names)
        | _holes(known.missing),
        edge_columns=_edge_columns(known.edge_table, model.names) | _edge_columns(edge_table, model.names),
        groups=members,
        group_colors=_colors(members, group_colors),
        null_objective=_null_objective(solutions, shares),
        **known.count_rows(table),
        proof=known.proof,
        rule=known.rule,
        title=str(title),
        notes=(notes,) if isinstance(notes, str) else tuple(str(note) for note in notes),
        settings={
            str(name): str(value)
            for name, value in (known.settings if settings is None else settings).items()
            if value is not None
        },
        command=None if command is None else str(command),
        methods=known.methods,
        missing=known.missing,
        shares=shares,
        edge_counts=edge_counts,
    )


@dataclass(frozen=True, eq=False)
class _Known:
    """What the network itself brings along: everything for a fitted estimator, little for a model."""

    path: Path | None = None
    solution: Solution | None = None
    stability: Stability | None = None
    evidence: Evidence | None = None
    edge_table: Any = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    n_rows: float | None = None
    is_weighted: bool = False
    tol: float = float("nan")
    proof: str = "joint"
    rule: str | None = None
    methods: str | None = None
    shares: tuple[FloatArray, ...] | None = None
    edge_counts: Mapping[tuple[int, int], NDArray[Any]] = field(default_factory=dict)
    missing: Missing | None = None

    @classmethod
    def of(cls, result: Any) -> _Known:
        if isinstance(result, Solution):
            return cls(solution=result, proof="joint" if result.alphas_per_node is None else "nodewise")
        fit = getattr(result, "fit_", result)
        if not isinstance(fit, Fit):
            return cls()
        said = {"method": fit.method, "choice": fit.chosen, **fit.settings}
        if hasattr(result, "get_params"):
            said = {"estimator": type(result).__name__, **result.get_params(deep=False)}
        return cls(
            path=fit.path,
            solution=fit.solution,
            stability=fit.stability,
            evidence=fit.evidence,
            edge_table=fit.edges(),
            settings=said,
            n_rows=fit.n_rows,
            is_weighted=any(counts.dtype.kind == "f" for counts in _listed(fit.edge_counts)),
            tol=fit.tol,
            proof=fit.method if fit.proves else "published",
            rule=fit.settings.get("rule", "and") if fit.method == "nodewise" else None,
            methods=describe_fit(fit),
            shares=_shares(fit.marginals),
            edge_counts=_by_pair(fit.network, fit.edge_counts),
            missing=fit.missing,
        )

    def count_rows(self, table: Table | None) -> dict[str, float | None]:
        """Return the number of rows and the sum of their weights, as far as they are known."""
        if table is None:
            # What an estimator knows is the sum; counts that are no whole numbers tell that there were weights.
            return (
                {"n_rows": None, "sum_of_weights": self.n_rows}
                if self.is_weighted
                else {
                    "n_rows": self.n_rows,
                    "sum_of_weights": None,
                }
            )
        total = self.n_rows
        if total is None and table.sample_weight is not None:
            total = float(table.sample_weight.sum())
        unequal = table.sample_weight is not None or (total is not None and total != len(table))
        return {"n_rows": len(table), "sum_of_weights": total if unequal else None}


# ------------------------------------------------------------------------------------------- the networks


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
    model: Network, path: Path | None, solution: Solution | None, wanted: int | float | None
) -> tuple[tuple[Solution, ...], int]:
    """Return the networks along the slider and the number of the selected one, which is among them."""
    solutions: tuple[Solution, ...]
    if path is None or len(path) == 0:
        alone = solution if solution is not None else Solution(model, np.nan)
        solutions, index = (alone,), 0
    else:
        solutions, index = _find(tuple(path), model, solution, wanted)
    for other in solutions:
        if other.n_features != model.n_features:
            raise DataError(
                f"{setting('path')} must have {model.n_features} nodes, as the network has; got {other.n_features}."
            )
    chosen = solutions[index]
    difference = abs(chosen.couplings_sparse - model.couplings_sparse).max()
    if difference > 1e-9 * max(1.0, model.weights.max(initial=0.0)):
        raise DataError(
            f"result must be the network at the selected alpha ({chosen.alpha:.6g}); got couplings that differ by "
            f"{difference:.3g}. Pass the Solution of that alpha, or leave the path out."
        )
    return solutions, index


def _find(
    solutions: tuple[Solution, ...], model: Network, solution: Solution | None, wanted: int | float | None
) -> tuple[tuple[Solution, ...], int]:
    alphas = np.array([each.alpha for each in solutions])
    if wanted is None:
        same = [k for k, each in enumerate(solutions) if each.network.with_names(model.names) == model]
        if not same:
            raise DataError("selected must be given where the network is not on the path; got None.")
        return solutions, same[0]
    if is_whole(wanted):
        if not -len(solutions) <= wanted < len(solutions):
            raise ArgumentError("selected", f"must be a number on the path of {len(solutions)} alphas", wanted)
        return solutions, int(wanted) % len(solutions)
    near = np.flatnonzero(np.abs(alphas - wanted) <= SAME_ALPHA * max(abs(float(wanted)), 1e-300))
    if len(near):
        return solutions, int(near[0])
    if solution is not None and solution.alpha == wanted:  # fitted by itself: it gets its place among the others
        place = int((alphas > wanted).sum())
        return (*solutions[:place], solution, *solutions[place:]), place
    raise ArgumentError("selected", "must be an alpha of the path or a number on it", wanted, "Pass its Solution too.")


def _null_objective(solutions: tuple[Solution, ...], shares: tuple[FloatArray, ...] | None) -> float:
    """Return the objective without edges: that of an empty network, or the sum of the columns' entropies."""
    empty = [each.objective for each in solutions if each.n_edges == 0 and np.isfinite(each.objective)]
    if empty:
        return float(empty[0])
    return float("nan") if shares is None else float(sum(scipy.special.entr(share).sum() for share in shares))


# ------------------------------------------------------------------------------------------- categories


def _read_rows(X: Any, model: Network, result: Any) -> Table:
    """Return the table, read as that of the fit or, for a network by itself, as its columns are."""
    fit = getattr(result, "fit_", result)
    if not isinstance(model, CategoryNetwork):
        return refuse_holes(read_binary(X))
    read = fit.read(X) if isinstance(fit, Fit) and not isinstance(X, CategoryTable) else X
    table: Table = refuse_holes(model.table(read))
    return table


def _kinds(model: Network) -> dict[str, list[Any]]:
    """Return kind and number of categories of every node as columns."""
    if not isinstance(model, CategoryNetwork):
        return {}
    return {"kind": list(model.kinds), "categories": model.n_categories.tolist()}


def _shares(marginals: Any) -> tuple[FloatArray, ...]:
    """Return the share of every value of every column; ``marginals`` are those of a fit."""
    if isinstance(marginals, tuple):
        return marginals
    ones = np.clip(marginals, 0.0, 1.0)
    return tuple(np.column_stack([1.0 - ones, ones]))


def _listed(counts: Any) -> tuple[NDArray[Any], ...]:
    return counts if isinstance(counts, tuple) else (counts,)


def _by_pair(network: Network, counts: Any) -> dict[tuple[int, int], NDArray[Any]]:
    """Return the tables of categories by edge; nothing where columns are 0 and 1."""
    if not isinstance(counts, tuple):
        return {}
    return dict(zip([(s, t) for s, t in network.edge_index.tolist()], counts, strict=True))


# ------------------------------------------------------------------------------------------- tables and groups


def _columns(table: Any, name: str) -> dict[str, list[Any]]:
    """Return a table as lists by name: a mapping, a record with one, a data frame, or a structured array."""
    if table is None:
        return {}
    columns = getattr(table, "columns", table)
    if isinstance(columns, Mapping):
        return {str(key): _cells(values) for key, values in columns.items()}
    if isinstance(table, np.ndarray):
        columns = table.dtype.names
    elif hasattr(table, "column_names"):  # a Table of pyarrow
        columns = table.column_names
    try:
        return {str(key): _cells(table[key]) for key in columns}
    except (TypeError, KeyError, IndexError):
        raise ArgumentError(name, "must be a data frame or a mapping of columns", table) from None


def _cells(values: Any) -> list[Any]:
    values = values.to_pylist() if hasattr(values, "to_pylist") else values  # pyarrow's cells are objects
    return [plain_value(value) for value in values]


def _wording(wording: Any, names: Sequence[str]) -> dict[str, list[Any]]:
    """Return the wording of the items behind the nodes as a column."""
    if wording is None:
        return {}
    return {"wording": ["" if text is None else str(text) for text in by_node(wording, names, "wording")]}


def _holes(missing: Missing | None) -> dict[str, list[Any]]:
    """Return how much of every column is missing, as columns."""
    if missing is None:
        return {}
    found = {"missing": missing.column_shares, "missing_information": missing.column_information}
    return {label: shares.tolist() for label, shares in found.items() if shares is not None}


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
        raise ArgumentError("edge_table", "must name nodes of the network", error.args[0]) from None
    pairs = [(min(pair), max(pair)) for pair in zip(*ends, strict=True)]
    # The page has its own columns for these, which follow the slider.
    kept = {
        label: values for label, values in columns.items() if label not in ("coupling", "sign", "weight", "stability")
    }
    return {label: dict(zip(pairs, values, strict=True)) for label, values in kept.items()}


def _read_groups(groups: Any, names: Sequence[str]) -> tuple[str | None, ...]:
    if groups is None:
        return ()
    members = [plain_value(member) for member in by_node(groups, names, "groups")]
    return tuple(None if member is None else str(member) for member in members)


def _colors(groups: tuple[str | None, ...], chosen: Mapping[Any, str] | None) -> dict[str, str]:
    colors = color_groups(groups, {str(group): color for group, color in (chosen or {}).items()})
    return {str(group): color for group, color in colors.items() if group is not None}
