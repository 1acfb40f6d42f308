"""What a selection found, as a `Fit`: the one way from a table to the record that files, pages and estimators hold."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from isinglass.data import BinaryTable, holes_of, to_weighted
from isinglass.fit import Fit
from isinglass.results import Evidence, Path, Solution, Stability
from isinglass.select.criteria import EbicSelection
from isinglass.select.cv import CrossValidation
from isinglass.select.impute import Imputation, complete
from isinglass.select.method import method_of, path_function_of
from isinglass.select.pooling import pool
from isinglass.select.refit import errors_are_too_large
from isinglass.select.two_stage import TwoStage, describe_stages, network_ebic


def fit_table(
    table: BinaryTable,
    method: str = "joint",
    settings: Mapping[str, Any] | None = None,
    criterion: str | None = None,
    choice: Mapping[str, Any] | None = None,
    *,
    chosen: str | None = None,
    reading: Mapping[str, Any] | None = None,
    **run: Any,
) -> Fit:
    """Fit a table, and choose the penalty if there is a criterion.

    The table has its names and weights; holes are imputed. ``method``, ``settings``, ``criterion`` and ``choice`` are
    those of a `Fit`, ``chosen`` is the criterion in words, and ``reading`` the options of `read_table` that the table
    was read with. ``run`` has ``n_jobs``, ``progress`` and ``checkpoint`` of criteria that take them.
    """
    imputation = None if holes_of(table) is None else complete(table)
    rows = table if imputation is None else imputation.table
    asked: dict[str, Any] = {"method": method, "settings": settings or {}, "criterion": criterion}
    asked["choice"] = choice or {}
    found = as_fit(method_of(**asked)(rows, **run), rows, **asked, chosen=chosen, reading=reading)
    return found if imputation is None else with_imputation(found, imputation)


def with_imputation(found: Fit, imputation: Imputation) -> Fit:
    """Return a fit of a completed table that says how it was completed.

    If it has standard errors, they become those of Rubin's rules, which know of the missing cells.
    """
    missing = imputation.record
    if missing is None or found.solution.n_edges == 0 or imputation.n_imputations < 2:
        return replace(found, missing=missing)
    size = found.solution.n_features + found.solution.n_edges
    if errors_are_too_large(size, len(imputation.missing)):
        return replace(found, missing=missing)
    pooled = pool(imputation, found.solution)
    known = replace(
        missing,
        column_information=pooled.column_information,
        edge_information=pooled.edge_information,
        edge_noise=pooled.monte_carlo_errors[pooled.n_features :],
    )
    errors = None if found.edge_errors is None else pooled.edge_errors
    return replace(found, missing=known, edge_errors=errors)


def as_fit(
    result: Any, table: Any, *, chosen: str | None = None, reading: Mapping[str, Any] | None = None, **asked: Any
) -> Fit:
    """Put what a selection found together with the sums over the rows of its table.

    ``asked`` has ``method``, ``settings``, ``criterion`` and ``choice``, those of a `Fit`.
    """
    method, settings = asked["method"], asked["settings"]
    name = {"plg": "thresh", "bmn": "tolerance"}.get(method, "tol")
    default = inspect.signature(path_function_of(method, {})).parameters[name].default
    asked |= {"chosen": chosen or asked["criterion"] or "given", "reading": reading or {}}
    parts = _parts(result, table, method, settings)
    return Fit.of(table=table, tol=float(settings.get(name, default)), **asked, **parts)


def _parts(result: Any, table: BinaryTable, method: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the solution, and the path and the evidence where there are any."""
    if isinstance(result, Solution):
        return {"solution": result}
    if isinstance(result, Stability):
        alphas = result.alphas[: len(result.edge_frequencies)]
        path: Path = path_function_of(method, settings)(table, alphas)
        return {"solution": path.solutions[result.index], "path": path, "stability": result}
    found: dict[str, Any] = {"solution": result.solution, "path": result.path}
    curve: dict[str, Any] = {"alphas": result.path.alphas, "choice": result.index}
    if isinstance(result, EbicSelection):
        curve |= {"values": result.scores, "settings": {"gamma": result.gamma, "relaxed": result.relaxed}}
        return found | {"evidence": Evidence(kind="ebic", **curve)}
    if isinstance(result, CrossValidation):
        curve |= {"values": result.mean, "errors": result.standard_error, "settings": {"rule": result.rule}}
        return found | {"evidence": Evidence(kind="score", **curve)}
    assert isinstance(result, TwoStage)
    curve["values"] = network_ebic(result, *to_weighted(table, None))
    evidence = Evidence(kind="ebic", **curve, settings={"gamma": result.gamma, "relaxed": False})
    return found | {"evidence": evidence, "stages": describe_stages(result), "edge_errors": result.edge_errors}
