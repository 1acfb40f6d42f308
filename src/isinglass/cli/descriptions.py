"""What commands say about tables and fits, in words and as --json prints it; docs/cli.md describes the fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isinglass.cli.console import rows_of
from isinglass.errors import plural, times
from isinglass.json_text import JsonObject

if TYPE_CHECKING:
    from isinglass.data import AnyTable, Table
    from isinglass.data.meaning.coding import Coding
    from isinglass.records import Missing
    from isinglass.results import Solution


METHODS = {"joint": "joint pseudo-likelihood", "nodewise": "one regression per column", "exact": "exact likelihood"}
"""Estimators in words; a model from Python may have any."""
LISTED = 12  # columns that are named with what became 1, rather than counted


def fields(record: object, *names: str) -> JsonObject:
    """Return some attributes by name."""
    return {name: getattr(record, name) for name in names}


def describe_table(table: AnyTable) -> JsonObject:
    """Return what was read."""
    n, p = table.shape
    counted = table.counted(quiet=True)
    scaled = not table.is_whole and table.weights is not None  # those of parts
    record: JsonObject = {
        "n_rows": n,
        "n_columns": p,
        "n_missing": table.n_missing,
        "sum_of_weights": table.weights.total if scaled else table.total_weight,  # type: ignore[union-attr]
        "weight_kind": counted.weight_kind,
        "effective_rows": counted.total_weight,
        "encoding": {name: list(values) for name, values in table.encoding.items()},
    }
    variables = table.variables
    if not variables.is_binary:
        record["kinds"] = dict(zip(table.names, variables.kinds, strict=True))
        record["categories"] = dict(zip(table.names, map(list, variables.categories), strict=True))
    if variables.has_covariates:
        record["covariates"] = list(variables.covariates)
    return record


def describe_shape(data: Table, table: str) -> str:
    """Name a table and its size."""
    n, p = data.shape
    if data.units is not None:
        n = len(set(data.units.tolist()))
    given = len(data.variables.covariates)
    covariates = f" and {plural(given, 'covariate')}" if given else ""
    return f"{'stdin' if table == '-' else table}, {plural(n, 'row')} × {plural(p - given, 'column')}{covariates}"


def describe_missing(data: Table, kept: str) -> list[str]:
    """Say in words what became of missing cells, if there are some; ``kept``: of those that are still missing."""
    counts = {"missing cell": data.n_missing, "missing group label": data.n_unlabeled}
    gone = [plural(n, what) for what, n in counts.items() if n]
    done = {"zero": "read as 0", "drop": f"dropped with {plural(data.n_dropped, 'row')}"}
    return [f"{' and '.join(gone)} {done.get(data.missing_treatment or '', kept)}"] if gone else []


def describe_weights(data: AnyTable) -> str:
    """Say in words what the weights of the rows are taken for."""
    found = describe_table(data)
    if found["weight_kind"] == "counts":
        return f"counts of {found['sum_of_weights']:.6g} rows"
    effective = f"{found['effective_rows']:.1f} rows of equal weight"
    return f"sampling weights, sum {found['sum_of_weights']:.6g}, worth {effective}"


def describe_imputation(missing: Missing | None, n_columns: int, how: str = "") -> dict[str, str]:
    """Say in words how missing cells were filled, if they were; ``how`` replaces the number of rounds that it took."""
    if missing is None or missing.treatment != "impute":
        return {}
    share = missing.n_cells / (missing.n_rows * n_columns)
    state = "converged" if missing.settled >= 0 else "NOT converged"
    rounds = f"{times(missing.n_imputations)}, {state} in {plural(missing.n_rounds, 'round')}"
    empty = f", {plural(missing.n_left_out, 'row')} without any answer left out" if missing.n_left_out else ""
    return {"Imputed": f"{share:.1%} of the cells, {how or rounds}{empty}"}


def describe_coding(coding: Coding) -> dict[str, str]:
    """Say in words which answer became 1 in columns of two values that had others than 0 and 1."""
    from isinglass.data.meaning.rules import Cut, Levels

    numbers = coding.layout.numbers or range(len(coding.columns))
    labels = coding.names or [f"column {coding.layout.number_in_file(k) + 1}" for k in numbers]
    columns: dict[str, list[str]] = {}
    for label, rule in zip(labels, coding.columns, strict=True):
        if rule.kind != "binary" or rule.is_plain:
            continue
        if isinstance(rule, Cut):
            meaning = f"1 above {rule.threshold:g}"
        elif isinstance(rule, Levels):
            words = [" or ".join(map(str, side)) if isinstance(side, tuple) else str(side) for side in rule.pair]
            constant = None in rule.pair
            meaning = f"always {words[rule.pair[0] is None]}" if constant else f"{words[1]} = 1, {words[0]} = 0"
        columns.setdefault(meaning, []).append(str(label))
    shown = [
        f"{', '.join(names) if len(names) <= LISTED else plural(len(names), 'column')}: {meaning}"
        for meaning, names in columns.items()
    ]
    more = f"; and {len(shown) - LISTED} more" if len(shown) > LISTED else ""
    return {"Values": "; ".join(shown[:LISTED]) + more} if shown else {}


def describe_solution(solution: Solution) -> JsonObject:
    """Return the size of a network and its certificate."""
    signs = solution.network.edge_signs
    return {
        "alpha": solution.alpha,
        "n_edges": solution.n_edges,
        "n_positive": int((signs > 0).sum()),
        "n_negative": int((signs < 0).sum()),
        **fields(solution, "objective", "kkt_residual", "duality_gap", "certified_zeros", "n_iter"),
        "converged": bool(solution.converged),
    }


def records(columns: JsonObject) -> list[JsonObject]:
    """Return one record per row of some columns."""
    return [dict(zip(columns, row, strict=True)) for row in rows_of(columns)]
