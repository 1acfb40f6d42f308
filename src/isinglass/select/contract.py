"""What selection asks of a path function, and resampling of a method.

A path function is ``path_function(X, alphas, *, sample_weight=None) -> Path`` and has an ``alpha_max``.

A method is ``method(X, *, sample_weight=None, groups=None)`` and returns a Solution or a record with a ``solution``:
`two_stage`, `select_ebic`, or a function of the user, which may lack the keywords. Rows of one group stay in one fold.

Options of either are set with ``functools.partial(function, option=value)``: it can be pickled, and told from others.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import ArgumentError, DataError
from isinglass.results import Path

PathFunction = Callable[..., Path]
Method = Callable[..., Any]


def alpha_max_of(path_function: PathFunction) -> Callable[..., float]:
    """Return the function of a table that says where the path function's grid starts.

    A partial application keeps the ``alpha_max`` of the function inside it, called with those of the fixed options
    that it knows.

    Examples
    --------
    >>> from isinglass import nodewise_path
    >>> table = [[0, 0], [1, 1], [0, 1], [1, 1]]
    >>> option = functools.partial(nodewise_path, standardize=True, tol=1e-9)
    >>> round(alpha_max_of(nodewise_path)(table), 4), round(alpha_max_of(option)(table), 4)
    (0.125, 0.2887)
    """
    options: dict[str, Any] = {}
    inner: Any = path_function
    while isinstance(inner, functools.partial) and not hasattr(inner, "alpha_max"):
        options = {**inner.keywords, **options}
        inner = inner.func
    found: Callable[..., float] | None = getattr(inner, "alpha_max", None)
    if found is None:
        raise ArgumentError(
            "path_function",
            "must have an attribute alpha_max when alphas is a number",
            path_function,
            "Pass the values of alpha instead.",
        )
    known = parameters_of(found)
    return functools.partial(found, **{name: value for name, value in options.items() if name in known})


def with_threads(path_function: PathFunction, n_threads: int | None) -> PathFunction:
    """Return the path function with ``n_threads`` set, if it has such a parameter that is not set yet."""
    return path_function if n_threads is None else with_option(path_function, "n_threads", n_threads)


def with_option(path_function: PathFunction, name: str, value: Any) -> PathFunction:
    """Return the path function with a parameter set, if it has such a one that is not set yet.

    Examples
    --------
    >>> with_option(functools.partial(sorted, reverse=True), "reverse", False)([1, 2])
    [2, 1]
    """
    fixed = path_function.keywords if isinstance(path_function, functools.partial) else {}
    if name in fixed or name not in parameters_of(path_function):
        return path_function
    return functools.partial(path_function, **{name: value})


def fixed_option(path_function: PathFunction, name: str) -> Any:
    """Return what a partial application has set a parameter to, None if nothing.

    Examples
    --------
    >>> fixed_option(functools.partial(print, end="!"), "end"), fixed_option(print, "end")
    ('!', None)
    """
    inner: Any = path_function
    while isinstance(inner, functools.partial):
        if name in inner.keywords:
            return inner.keywords[name]
        inner = inner.func
    return None


def parameters_of(function: Callable[..., object]) -> set[str]:
    """Return the names of the parameters of a function, none if it does not tell."""
    try:
        return set(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # some compiled functions do not tell
        return set()


def run_method(
    method: Method,
    table: Any,
    *,
    sample_weight: NDArray[np.float64] | None = None,
    groups: NDArray[Any] | None = None,
) -> Any:
    """Return what a method makes of a table.

    Rows are repeated as often as their weight says where the method has no weights, or draws rows itself and therefore
    has to see each of them (it has a parameter ``subsample_size``).
    """
    known = settings_of(method)
    if sample_weight is not None and ("sample_weight" not in known or "subsample_size" in known):
        times = np.rint(sample_weight).astype(np.intp)
        if not np.array_equal(times, sample_weight):
            raise DataError("method must have a parameter sample_weight, because the weights are not whole numbers.")
        rows = np.repeat(np.arange(len(table)), times)
        table, sample_weight = table[rows], None
        groups = rows if groups is None else groups[rows]
    options = {"sample_weight": sample_weight, "groups": groups}
    return method(table, **{name: value for name, value in options.items() if value is not None and name in known})


def settings_of(method: Method) -> set[str]:
    """Return the names of the parameters of a method, and of what is fixed in it."""
    known, inner = parameters_of(method), method
    while isinstance(inner, functools.partial):
        known |= set(inner.keywords)
        inner = inner.func
    return known
