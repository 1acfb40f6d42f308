"""The regressions behind NLR and PLG, by glmnet's algorithm, with its choices as options and its passes counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass import ising_path, nodewise_path, objective
from isinglass.evaluate import metrics
from isinglass.solve.published.glm import logistic_path
from isinglass.solve.published.stacked import stacked_design, unvectorise
from paper.data import Table

FloatArray = NDArray[np.float64]

NOTHING_ENTERS = 1e3
"""A penalty beyond which every regression on 0/1 columns has its unpenalised coefficients only."""
STEPS = 40
"""Penalties on the way from ``TOP`` down to the one asked for, with warm starts."""
TOP = 0.5
"""The largest joint penalty with an edge that a 0/1 table can have."""


MAX_ITER = 100_000
"""Passes of coordinate descent a regression may use: glmnet's limit."""
OLDER_MIN_PROBABILITY = 1e-5
"""From where on older versions of glmnet let a fitted probability count as 0 or 1."""
FEWEST = 2
"""Rows of either kind that a response must have: glmnet refuses one with fewer."""


@dataclass(frozen=True)
class Variant:
    """How the algorithm is run; the defaults are the published way.

    Parameters
    ----------
    settings : dict
        Options of ``glm.logistic_path``: standardize, thresh, min_probability, max_iter.
    warm : bool
        Come down a list of penalties instead of starting at the one asked for; passes are then those of the whole list.
    swap : bool
        Exchange the starting points: nodes start from 0, the stacked regression from its fitted fields.
    """

    settings: dict[str, Any]
    warm: bool = False
    swap: bool = False


@dataclass(frozen=True)
class Outcome:
    """One network and what it took, regression by regression.

    Parameters
    ----------
    theta : ndarray of shape (p, p)
        Node-wise: row s is the regression of column s, its intercept on the diagonal. Stacked: symmetric.
    passes, newton_steps : ndarray of int
        Passes of coordinate descent and quadratic models, one entry per regression.
    converged : ndarray of bool
        Whether the stopping rule was met.
    """

    theta: FloatArray
    passes: NDArray[np.int64]
    newton_steps: NDArray[np.int64]
    converged: NDArray[np.bool_]


def fit_nodes(X: Table, alpha: float, variant: Variant) -> Outcome:
    """Fit one regression per node at the joint penalty ``alpha``."""
    p = X.shape[1]
    found = [_solve(*_node_problem(X, s, variant.swap), 0.5, alpha, variant, lead=False) for s in range(p)]
    vectors, passes, steps, converged = zip(*found, strict=True)
    theta = np.array([np.insert(vector[: p - 1], s, vector[p - 1]) for s, vector in enumerate(vectors)])
    return Outcome(theta, np.array(passes), np.array(steps), np.array(converged))


def fit_stacked(X: Table, alpha: float, variant: Variant) -> Outcome:
    """Fit the stacked regression at the joint penalty ``alpha``."""
    p = X.shape[1]
    settings = {"intercept": False, "penalty_factor": np.repeat([1.0, 0.0], [p * (p - 1) // 2, p])}
    scale = (p - 1) / (p * (p + 1))
    vector, *counts = _solve(*stacked_design(X), settings, scale, alpha, variant, lead=variant.swap)
    return Outcome(unvectorise(vector), *(np.array([count]) for count in counts))


def _node_problem(X: Table, s: int, from_zero: bool) -> tuple[FloatArray, FloatArray, dict[str, Any]]:
    """Return design, response and settings of a node; from zero, the intercept is a column like any other."""
    others, response = np.delete(X, s, axis=1).astype(np.float64), X[:, s].astype(np.float64)
    if not from_zero:
        return others, response, {}
    factor = np.repeat([1.0, 0.0], [others.shape[1], 1])
    with_ones = np.column_stack([others, np.ones(len(X))])
    return with_ones, response, {"intercept": False, "penalty_factor": factor, "rescale_factors": False}


def _solve(
    design: Any,
    response: FloatArray,
    settings: dict[str, Any],
    scale: float,
    alpha: float,
    variant: Variant,
    *,
    lead: bool,
) -> tuple[FloatArray, int, int, bool]:
    """Return coefficients (then the intercept, if there is one), passes, Newton steps and the verdict."""
    if variant.warm:
        penalties = np.geomspace(TOP, alpha, STEPS)
    else:
        penalties = np.array([NOTHING_ENTERS, alpha] if lead else [alpha])
    path = logistic_path(design, response, scale * penalties, **settings, **{"max_iter": MAX_ITER, **variant.settings})
    counted = slice(None) if variant.warm else slice(-1, None)
    vector = path.coefficients[-1]
    if settings.get("intercept", True):
        vector = np.r_[vector, path.intercepts[-1]]
    passes, steps = int(path.n_iter[counted].sum()), int(path.n_outer[counted].sum())
    return vector, passes, steps, bool(path.converged[-1])


# ------------------------------------------------------------------------------------------- accuracy


def node_accuracy(X: Table, theta: FloatArray, alpha: float) -> tuple[float, float]:
    """Return how far one regression per node is from its optimum: (Σ F − Σ F*) / Σ F_null, and ‖Θ − Θ*‖ / ‖Θ*‖."""
    path = nodewise_path(X, [alpha / 2], tol=1e-9, n_threads=1)
    best = path.asymmetric_couplings[0].toarray() + np.diag(path.fields[0])
    coefficients = theta - np.diag(theta.diagonal())
    logits = X @ coefficients.T + theta.diagonal()
    loss = np.logaddexp(0.0, (1.0 - 2.0 * X) * logits).mean(axis=0).sum()
    value = float(loss + alpha / 2 * np.abs(coefficients).sum())
    excess = (value - float(np.sum(path.nodes.objectives[0]))) / float(path.nodes.null_losses.sum())
    return excess, float(np.linalg.norm(theta - best) / np.linalg.norm(best))


def joint_accuracy(X: Table, theta: FloatArray, alpha: float) -> tuple[float, float]:
    """Return how far a network is from the joint optimum: (F − F*) / F_null, and the paper's ε to it."""
    best = ising_path(X, [alpha], tol=1e-9, n_threads=1)[0]
    fields = theta.diagonal().copy()
    value = objective.value(X, theta - np.diag(fields), fields, alpha)
    means = X.mean(axis=0)
    null = -float(np.sum(means * np.log(means) + (1 - means) * np.log1p(-means)))
    return (value - best.objective) / null, metrics.relative_difference(theta, best)
