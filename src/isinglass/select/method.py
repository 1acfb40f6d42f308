"""Whatever gives a network, as a method: numbers, estimators and selections, each also at a penalty that is kept."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import is_real
from isinglass.arrays import Bytes, FloatArray
from isinglass.data import to_weighted
from isinglass.errors import (
    ArgumentError,
    ConstantColumnWarning,
    ConvergenceWarning,
    DataError,
    DataWarning,
    GridEndWarning,
    suppress_warnings,
)
from isinglass.fit import Fit
from isinglass.results import Solution
from isinglass.select.contract import Method, PathFunction, run_method, settings_of, unwrap, with_option
from isinglass.select.criteria import select_ebic
from isinglass.select.cv import cross_validate
from isinglass.select.stages import Case
from isinglass.select.stars import stars
from isinglass.select.two_stage import TwoStage, two_stage
from isinglass.solve.exact import exact_path
from isinglass.solve.nodewise import nodewise_at, nodewise_ebic, nodewise_path
from isinglass.solve.path import ising_path
from isinglass.solve.published.baselines import bmn, plg

RUN_SETTINGS = {"n_jobs": None, "progress": False, "checkpoint": None, "errors": False}
"""Settings that do not change the network, and what they are inside a resample; threads are set beside them."""
PATH_FUNCTIONS: dict[str, PathFunction]
PATH_FUNCTIONS = {"joint": ising_path, "nodewise": nodewise_path, "exact": exact_path, "plg": plg, "bmn": bmn}
"""By the names of methods in a fit."""
ONE_PATH: dict[str | None, Method] = {"stars": stars, "ebic": select_ebic, "cv": cross_validate}
"""Criteria that choose from one path."""
PER_NODE = ("rule", "standardize", "tol", "max_iter")
"""Settings of `nodewise_ebic` that `nodewise_at` shares."""
COUNTED = (ConstantColumnWarning, ConvergenceWarning, DataWarning, GridEndWarning)
"""Warnings that are counted, or were given for the whole table, where many tables are fitted."""


def fit_at(
    X: ArrayLike, alpha: float, *, path_function: PathFunction = ising_path, sample_weight: ArrayLike | None = None
) -> Solution:
    """Return the network of a path function at one alpha."""
    return path_function(X, [alpha], sample_weight=sample_weight).solutions[0]


def path_function_of(method: str, settings: Mapping[str, Any]) -> PathFunction:
    """Return the path function of a method that a fit names, with its settings."""
    return functools.partial(PATH_FUNCTIONS[method], **settings) if settings else PATH_FUNCTIONS[method]


def method_of(method: str, settings: Mapping[str, Any], criterion: str | None, choice: Mapping[str, Any]) -> Method:
    """Return what gives the network of a fit, from its own words; without a criterion, ``choice`` has the alpha."""
    path_function = path_function_of(method, settings)
    if criterion == "ebic" and method == "nodewise":
        # `nodewise_path` and its estimator standardize only if asked to.
        return functools.partial(nodewise_ebic, **{"standardize": False, **settings, **choice})
    options = dict(choice)
    if criterion in ONE_PATH and "alpha_min_ratio" in options:  # a parameter of the path, not of the criterion
        path_function = functools.partial(path_function, alpha_min_ratio=options.pop("alpha_min_ratio"))
    functions: dict[str | None, Method] = {None: fit_at, "two-stage": two_stage, **ONE_PATH}
    return functools.partial(functions[criterion], path_function=path_function, **options)


def as_method(given: Any) -> Method:
    """Return the method that a number, an estimator (fitted or not), a fit or a function stands for."""
    if given is None:
        return two_stage
    if isinstance(given, Fit):
        return method_of(given.method, given.settings, given.criterion, given.choice)
    if is_real(given) and np.isfinite(given) and given >= 0:
        return functools.partial(fit_at, alpha=float(given))
    wanted: Any = getattr(given, "fit_function", given)  # what an estimator says gives its network
    if callable(wanted) and not isinstance(given, type):
        return wanted  # type: ignore[no-any-return]
    raise ArgumentError(
        "method", "must be an estimator, a function of a table, or an alpha that is finite and not negative", given
    )


def solution_of(result: Any, method: Method, table: Any, sample_weight: FloatArray | None = None) -> Solution:
    """Return the network of a result; where that is an alpha only, as of `stars`, fit the table there."""
    for name in ("solution", "solution_"):
        result = getattr(result, name, result)
    if not isinstance(result, Solution) and hasattr(result, "alpha") and "path_function" in settings_of(method):
        result = fit_at(table, result.alpha, path_function=_path_function(method), sample_weight=sample_weight)
    if not isinstance(result, Solution):
        raise DataError(
            f"method must return a Solution, or a record that has one; got {type(result).__name__}. Take one point of "
            "a path, such as lambda X: ising_path(X, [0.05])[0]."
        )
    if result.n_features != table.shape[1]:
        raise DataError(f"method must return a network of all {table.shape[1]} columns; got {result.n_features} nodes.")
    return result


def fit_quietly(
    method: Method, table: Any, weight: FloatArray | None = None, groups: NDArray[Any] | None = None
) -> Solution:
    """Return the network that a method gives one of many tables."""
    with suppress_warnings(*COUNTED):
        result = run_method(method, table, sample_weight=weight, groups=groups)
        return solution_of(result, method, table, weight)


def failed(solution: Solution) -> bool:
    """Tell whether a certificate did not reach its tolerance; a network without one has not failed."""
    return not solution.converged and not math.isnan(solution.kkt_residual)


def run_quickly(method: Method, n_threads: int | None) -> Method:
    """Return the method without bars, errors and jobs of its own, on so many threads (None: its own number)."""
    known = settings_of(method)
    changes: dict[str, Any] = {name: value for name, value in RUN_SETTINGS.items() if name in known}
    if n_threads is not None and "n_threads" in known:
        changes["n_threads"] = n_threads
    if "path_function" in known:
        changes["path_function"] = with_option(_path_function(method), "n_threads", n_threads)
    return functools.partial(method, **changes) if changes else method


def keep_penalty(method: Method, result: Any, scale: float = 1.0) -> Method:
    """Return the method at the penalty that it chose for a table, times ``scale``; a given penalty stays as it is."""
    if isinstance(method, functools.partial) and method.func is fit_at:
        return method
    if isinstance(result, TwoStage):
        return functools.partial(
            _fit_stages,
            first_alpha=scale * result.stages[0].solution.alpha,
            alpha=scale * result.alpha,
            exponent=result.stages[result.stage].exponent,
            path_function=_path_function(method),
        )
    inner, options = unwrap(method)
    if isinstance(result, Solution) and result.alphas_per_node is not None and inner is nodewise_ebic:
        shared = {name: options[name] for name in PER_NODE if options.get(name) is not None}
        return functools.partial(nodewise_at, alphas=scale * np.asarray(result.alphas_per_node), **shared)
    alpha = getattr(result, "alpha", math.nan)
    if not math.isfinite(alpha) or "path_function" not in settings_of(method):
        name = getattr(method, "__name__", type(method).__name__)
        raise DataError(
            f"reselect=False needs a method with one penalty for all pairs, chosen along a path_function; got {name}. "
            "Pass reselect=True, or the penalty as a number."
        )
    return functools.partial(fit_at, alpha=scale * float(alpha), path_function=_path_function(method))


def _fit_stages(
    X: Bytes,
    *,
    first_alpha: float,
    alpha: float,
    exponent: float,
    path_function: PathFunction,
    sample_weight: FloatArray | None = None,
) -> Solution:
    """Return the network of the two-stage estimate at given penalties."""
    case = Case(*to_weighted(X, sample_weight), path_function)
    first = case.follow([first_alpha if exponent else alpha]).solutions[0]
    return case.follow([alpha], exponent, first).solutions[0] if exponent and first.n_edges else first


def _path_function(method: Method) -> PathFunction:
    """Return the path function of a method: the one that was set, or its default."""
    inner, options = unwrap(method)
    found: PathFunction = options.get("path_function") or inspect.signature(inner).parameters["path_function"].default
    return found
