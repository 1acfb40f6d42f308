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
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import FloatArray
from isinglass.data import PartedTable, are_counts, to_counted, units_of
from isinglass.errors import ArgumentError, DataError, LimitError
from isinglass.results import Path

PathFunction = Callable[..., Path]
Method = Callable[..., Any]
MOST_CELLS = 1 << 33
"""Of a table of all rows that counts stand for."""
MOST_EXACT = 10**9
"""Rows up to which NumPy draws from the multivariate hypergeometric distribution."""


def unwrap(function: Callable[..., Any]) -> tuple[Callable[..., Any], dict[str, Any]]:
    """Return the function inside partial applications, and what they have set."""
    options: dict[str, Any] = {}
    while isinstance(function, functools.partial):
        options = {**function.keywords, **options}
        function = function.func
    return function, options


def alpha_max_of(path_function: PathFunction) -> Callable[..., float]:
    """Return the function of a table that says where the path function's grid starts.

    A partial application keeps the ``alpha_max`` of the function inside it, called with those of the fixed options
    that it knows.
    """
    inner, options = (path_function, {}) if hasattr(path_function, "alpha_max") else unwrap(path_function)
    found: Callable[..., float] | None = getattr(inner, "alpha_max", None)
    if found is None:
        constraint = "must have an attribute alpha_max when alphas is a number"
        raise ArgumentError("path_function", constraint, path_function, "Pass the values of alpha instead.")
    known = parameters_of(found)
    return functools.partial(found, **{name: value for name, value in options.items() if name in known})


def with_option(path_function: PathFunction, name: str, value: Any) -> PathFunction:
    """Return the path function with a parameter set, unless it has none of that name, it is set, or the value None."""
    if value is None or name in unwrap(path_function)[1] or name not in parameters_of(path_function):
        return path_function
    return functools.partial(path_function, **{name: value})


def fixed_option(path_function: PathFunction, name: str) -> Any:
    """Return what a partial application has set a parameter to, None if nothing."""
    return unwrap(path_function)[1].get(name)


def parameters_of(function: Callable[..., object]) -> set[str]:
    """Return the names of the parameters of a function, none if it does not tell."""
    try:
        return set(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # some compiled functions do not tell
        return set()


def settings_of(method: Method) -> set[str]:
    """Return the names of the parameters of a method, and of what is fixed in it."""
    return parameters_of(method) | set(unwrap(method)[1])


def run_method(
    method: Method, table: Any, *, sample_weight: FloatArray | None = None, groups: NDArray[Any] | None = None
) -> Any:
    """Return what a method makes of a table.

    Rows are repeated as often as their weight says where the method has no weights, or draws rows itself and therefore
    has to see each of them (it has a parameter ``subsample_size``).
    """
    known = settings_of(method)
    if sample_weight is not None and ("sample_weight" not in known or "subsample_size" in known):
        if not are_counts(sample_weight):
            raise DataError("method must have a parameter sample_weight, because the weights are not whole numbers.")
        rows = repeated_rows(sample_weight, table.shape[1])
        table, sample_weight = table[rows], None
        groups = rows if groups is None else groups[rows]
    options = {"sample_weight": sample_weight, "groups": groups}
    return method(table, **{name: value for name, value in options.items() if value is not None and name in known})


def whole_rows(X: Any, sample_weight: ArrayLike | None) -> tuple[Any, FloatArray | None, NDArray[np.intp]]:
    """Return a table that must not be in parts, its weights, and the unit of every row: copies of a row share one."""
    table, weight = to_counted(X, sample_weight)
    if isinstance(table, PartedTable):
        table.refuse()
    copies = units_of(X)
    return table, weight, np.arange(len(table)) if copies is None else copies


def repeated_rows(counts: FloatArray, n_columns: int) -> NDArray[np.intp]:
    """Return the number of every row as often as its count says, where the rows have to be seen one by one."""
    n_rows = float(counts.sum())
    if n_rows * n_columns > MOST_CELLS:
        raise LimitError(
            f"the rows that counts stand for must have at most {MOST_CELLS:.3g} cells where they are drawn one by one; "
            f"got {n_rows:.3g} rows of {n_columns} columns. Take a sample of them."
        )
    return np.repeat(np.arange(len(counts)), np.rint(counts).astype(np.intp))


def divide_counts(weight: FloatArray | None, n_folds: int, rng: np.random.Generator) -> list[FloatArray] | None:
    """Return how many of the equal rows that each row stands for every fold holds out; None where rows stand for one.

    The folds are as equal in number as possible, but for tables of a billion rows.
    """
    if weight is None or weight.max() <= 1.0 or not are_counts(weight):
        return None
    left, held = np.rint(weight).astype(np.int64), []
    for folds in range(n_folds, 1, -1):
        if left.sum() < MOST_EXACT:
            part = rng.multivariate_hypergeometric(left, int(left.sum()) // folds, method="marginals")
        else:
            part = rng.binomial(left, 1.0 / folds)
        held.append(part.astype(np.float64))
        left = left - part
    return [*held, left.astype(np.float64)]


def take_part(table: Any, weight: FloatArray | None, part: NDArray[Any]) -> tuple[Any, FloatArray | None]:
    """Return some rows and their weights: rows by number, or as many of each as an array of floats says."""
    if part.dtype.kind == "f":
        rows = np.flatnonzero(part)
        return table[rows], part[rows]
    return table[part], None if weight is None else weight[part]


def labels_of(groups: ArrayLike | None, n_rows: int) -> NDArray[Any]:
    """Return the group of every row, by default its number."""
    labels = np.arange(n_rows) if groups is None else np.asarray(groups)
    if labels.shape != (n_rows,):
        raise DataError(f"groups must have one entry per row ({n_rows},); got shape {labels.shape}.")
    return labels
