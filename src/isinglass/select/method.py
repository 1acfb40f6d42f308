"""Whatever gives a network, as a method: numbers, estimators and selections, each also at a penalty that is kept."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isinglass.arrays import Bytes, FloatArray
from isinglass.errors import ArgumentError, DataError
from isinglass.fit import Fit
from isinglass.results import Solution
from isinglass.select.contract import Method, PathFunction, fixed_option, settings_of, with_threads
from isinglass.select.cv import cross_validate
from isinglass.select.ebic import select_ebic
from isinglass.select.stages import Case
from isinglass.select.stars import stars
from isinglass.select.two_stage import TwoStage, two_stage
from isinglass.solve.exact import exact_path
from isinglass.solve.nodewise import nodewise_at, nodewise_ebic, nodewise_path
from isinglass.solve.path import ising_path
from isinglass.solve.published.baselines import bmn, plg

RUN_SETTINGS: dict[str, Any] = {
    "n_jobs": None,
    "progress": False,
    "checkpoint": None,
    "n_threads": None,
    "errors": False,
}
"""Settings that do not change the network, and what they are inside a resample."""
PER_NODE = ("rule", "standardize", "tol", "max_iter")
"""Settings of `nodewise_ebic` that `nodewise_at` shares."""


def fit_at(
    X: ArrayLike, alpha: float, *, path_function: PathFunction = ising_path, sample_weight: ArrayLike | None = None
) -> Solution:
    """Return the network of a path function at one alpha.

    Examples
    --------
    >>> fit_at([[0, 0], [0, 1], [1, 1], [1, 1]], 0.1).n_edges
    1
    """
    return path_function(X, [alpha], sample_weight=sample_weight).solutions[0]


def path_function_of(method: str, settings: Mapping[str, Any]) -> PathFunction:
    """Return the path function of a method that a fit names, with its settings."""
    functions: dict[str, PathFunction] = {
        "joint": ising_path,
        "nodewise": nodewise_path,
        "exact": exact_path,
        "plg": plg,
        "bmn": bmn,
    }
    return functools.partial(functions[method], **settings) if settings else functions[method]


def method_of(method: str, settings: Mapping[str, Any], criterion: str | None, choice: Mapping[str, Any]) -> Method:
    """Return what gives the network of a fit, as a function of a table.

    The arguments are those of a `Fit`; without a criterion, ``choice`` has the alpha.

    Examples
    --------
    >>> method_of("joint", {}, None, {"alpha": 0.1})([[0, 0], [0, 1], [1, 1], [1, 1]]).n_edges
    1
    """
    path_function = path_function_of(method, settings)
    if criterion == "ebic" and method == "nodewise":
        # `nodewise_path` and its estimator standardize only if asked to.
        return functools.partial(nodewise_ebic, **{"standardize": False, **settings, **choice})
    functions: dict[str | None, Method] = {
        None: fit_at,
        "two-stage": two_stage,
        "stars": stars,
        "ebic": select_ebic,
        "cv": cross_validate,
    }
    options = dict(choice)
    if (
        criterion in ("ebic", "cv", "stars") and "alpha_min_ratio" in options
    ):  # a parameter of the path, not of the criterion
        path_function = functools.partial(path_function, alpha_min_ratio=options.pop("alpha_min_ratio"))
    return functools.partial(functions[criterion], path_function=path_function, **options)


def as_method(given: Any) -> Method:
    """Return the method that a number, an estimator (fitted or not), a fit or a function stands for.

    Examples
    --------
    >>> as_method(0.05).keywords
    {'alpha': 0.05}
    """
    if given is None:
        return two_stage
    if isinstance(given, Fit):
        return method_of(given.method, given.settings, given.criterion, given.choice)
    if not isinstance(given, type) and callable(getattr(given, "fit_function", None)):
        return given.fit_function  # type: ignore[no-any-return]  # a fit or an estimator that says what gives its network
    if callable(given) and not isinstance(given, type):
        return given  # type: ignore[no-any-return]
    number = isinstance(given, int | float | np.number) and not isinstance(given, bool)
    if not number or not (np.isfinite(given) and given >= 0):
        raise ArgumentError(
            "method", "must be an estimator, a function of a table, or an alpha that is finite and not negative", given
        )
    return functools.partial(fit_at, alpha=float(given))


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


def run_quickly(method: Method, n_threads: int | None) -> Method:
    """Return the method without bars, errors and jobs of its own, on so many threads (None: its own number)."""
    known = settings_of(method)
    changes = {name: value for name, value in RUN_SETTINGS.items() if name in known and name != "n_threads"}
    if n_threads is not None and "n_threads" in known:
        changes["n_threads"] = n_threads
    if "path_function" in known:
        changes["path_function"] = with_threads(_path_function(method), n_threads)
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
    if isinstance(result, Solution) and result.alphas_per_node is not None and _innermost(method) is nodewise_ebic:
        settings = {name: fixed_option(method, name) for name in PER_NODE}
        return _keep_per_node(result, settings, scale)
    alpha = getattr(result, "alpha", math.nan)
    if not math.isfinite(alpha) or "path_function" not in settings_of(method):
        name = getattr(method, "__name__", type(method).__name__)
        raise DataError(
            f"reselect=False needs a method with one penalty for all pairs, chosen along a path_function; got {name}. "
            "Pass reselect=True, or the penalty as a number."
        )
    return functools.partial(fit_at, alpha=scale * float(alpha), path_function=_path_function(method))


def _keep_per_node(solution: Solution, settings: Mapping[str, Any], scale: float) -> Method:
    """Return the regressions at the penalties that the nodes chose."""
    known = {name: value for name, value in settings.items() if value is not None}
    return functools.partial(nodewise_at, alphas=scale * np.asarray(solution.alphas_per_node), **known)


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
    case = Case(X, sample_weight, path_function)
    if exponent == 0.0:
        return case.follow(np.array([alpha])).solutions[0]
    first = case.follow(np.array([first_alpha])).solutions[0]
    return case.follow(np.array([alpha]), exponent, first).solutions[0] if first.n_edges else first


# ------------------------------------------------------------------------------------------- settings


def _path_function(method: Method) -> PathFunction:
    """Return the path function of a method: the one that was set, or its default."""
    fixed: PathFunction | None = fixed_option(method, "path_function")
    if fixed is not None:
        return fixed
    default: PathFunction = inspect.signature(_innermost(method)).parameters["path_function"].default
    return default


def _innermost(method: Method) -> Callable[..., Any]:
    """Return the function inside partial applications."""
    inner: Callable[..., Any] = method
    while isinstance(inner, functools.partial):
        inner = inner.func
    return inner
