"""What each criterion chooses for one table, side by side."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from isinglass.data import TableLike, as_table
from isinglass.errors import ArgumentError, ConstantColumnWarning, suppress_warnings
from isinglass.select.folds import take_part
from isinglass.select.method import MethodLike, as_method
from isinglass.select.parallel import COUNTED
from isinglass.select.path_selectors import EBIC, CrossValidation
from isinglass.select.scoring import ebic, held_out_sums
from isinglass.select.settings import Run
from isinglass.select.task import Task
from isinglass.select.two_stage import TwoStage
from isinglass.solve.reduction import name_constant
from isinglass.text_tables import Columns


def compare_criteria(
    X: TableLike,
    methods: Mapping[str, MethodLike] | None = None,
    *,
    n_folds: int = 10,
    sample_weight: ArrayLike | None = None,
    run: Run = Run(),
) -> Columns:
    """Compare what several criteria choose for one table.

    The result has one row per criterion. Columns are ``criterion``, ``alpha`` (NaN if every node has its own),
    ``edges``, ``positive_edges``, ``ebic`` of the chosen network with gamma 0.25, and ``held_out``: the mean log
    pseudo-likelihood of rows that were left out, by networks at the penalty that was chosen for all rows.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        A 0/1 or categorical table, or anything that is read as one.
    methods : mapping from str to Method, selector, estimator or float, optional
        The criteria by name, by default two-stage, EBIC and cross-validation with both rules; a number is
        a penalty that was chosen elsewhere.
    n_folds : int, default 10
        Folds of the column ``held_out``, and of the default criteria.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, as for `bootstrap`.
    run : Run, optional
        How it is run, without checkpoint and time limit.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.integers(0, 2, (2, 500))
    >>> X = np.column_stack([a, b, a ^ (rng.random(500) < 0.2)])
    >>> compare_criteria(X, {"EBIC": EBIC([0.2, 0.1, 0.02, 0.01, 0.0]), "mine": 0.05})
    criterion  alpha  edges  positive_edges      ebic  held_out
    EBIC       0.010      1               1  1681.501    -1.681
    mine       0.050      1               1  1695.532    -1.692
    """
    run.refuse_checkpoint()
    run.refuse_max_time()
    table, folds = as_table(X, sample_weight).without_holes().counted().whole(), CrossValidation(n_folds=n_folds)
    if methods is None:
        methods = {"two-stage": TwoStage(), "EBIC": EBIC(), "CV best": folds, "CV 1se": folds.replace(rule="1se")}
    if not isinstance(methods, Mapping) or not methods:
        raise ArgumentError("methods", "must be a dict of one or more methods by name", methods)
    name_constant(table)
    held_out = np.zeros(len(methods))
    with suppress_warnings(ConstantColumnWarning):  # each of them would name the columns again
        chosen = [(method, method.choose(table, run=run)) for method in map(as_method, methods.values())]
    solutions, fixed = [choice.solution for _, choice in chosen], [method.at(choice) for method, choice in chosen]
    with suppress_warnings(*COUNTED):
        for training, held in folds.split(Task(table))[0]:
            again = [method.choose(take_part(table, training), run=run).solution for method in fixed]
            held_out += held_out_sums(table, take_part(table, held).whole(), again)
    return Columns(
        criterion=np.array(list(methods), dtype=object),
        alpha=np.array([solution.alpha for solution in solutions]),
        edges=np.array([solution.n_edges for solution in solutions]),
        positive_edges=np.array([int((solution.edge_values > 0).sum()) for solution in solutions]),
        ebic=ebic(table, solutions),
        held_out=held_out / table.total_weight,
    )
