"""What selection asks of a path function: ``path_function(X, alphas, *, sample_weight=None) -> Path``, and alpha_max.

Options of a path function are set with ``functools.partial(path_function, option=value)``.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from isinglass.errors import DataError
from isinglass.results import Path, Solution

__all__ = ["PathFunction", "alpha_max_of", "fixed_option", "parameters_of", "solution_of", "with_threads"]

PathFunction = Callable[..., Path]


def alpha_max_of(path_function: PathFunction) -> Callable[..., float]:
    """Return the function of a table that says where the path function's grid starts.

    A partial application keeps the ``alpha_max`` of the function inside it, called with those of the fixed options
    that it knows.

    Examples
    --------
    >>> from isinglass import nodewise_path
    >>> table = [[0, 0], [1, 1], [0, 1], [1, 1]]
    >>> option = functools.partial(nodewise_path, standardize=True, tol=1e-9)
    >>> alpha_max_of(nodewise_path)(table), round(alpha_max_of(option)(table), 4)
    (0.125, 0.2887)
    """
    options: dict[str, Any] = {}
    inner: Any = path_function
    while isinstance(inner, functools.partial) and not hasattr(inner, "alpha_max"):
        options = {**inner.keywords, **options}
        inner = inner.func
    found: Callable[..., float] | None = getattr(inner, "alpha_max", None)
    if found is None:
        raise DataError(
            f"path_function must have an attribute alpha_max when alphas is a number; got {path_function!r}. "
            "Pass the values of alpha instead."
        )
    known = parameters_of(found)
    return functools.partial(found, **{name: value for name, value in options.items() if name in known})


def with_threads(path_function: PathFunction, n_threads: int | None) -> PathFunction:
    """Return the path function with ``n_threads`` set, if it has such a parameter that is not set yet."""
    fixed = path_function.keywords if isinstance(path_function, functools.partial) else {}
    if n_threads is None or "n_threads" in fixed or "n_threads" not in parameters_of(path_function):
        return path_function
    return functools.partial(path_function, n_threads=n_threads)


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


def solution_of(fit: Callable[..., Any], X: Any, groups: Any = None) -> Solution:
    """Return the network that a fit finds in a table: what it returns, or the ``solution`` of that.

    A fit is any function of a table, such as ``functools.partial(two_stage, errors=False)``. If it has a parameter
    ``groups``, it gets the original number of every row, so that copies of a row stay together in its folds.
    """
    options = {} if groups is None or "groups" not in parameters_of(fit) else {"groups": groups}
    found = fit(X, **options)
    return getattr(found, "solution", found)  # type: ignore[no-any-return]


def parameters_of(function: Callable[..., object]) -> set[str]:
    """Return the names of the parameters of a function, none if it does not tell."""
    try:
        return set(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # some compiled functions do not tell
        return set()
