"""Single fits of every method, as published and ours, with the seconds of the fit alone, and what a fit is worth.

All take the joint penalty; node-wise methods halve it. Only the work of the method is timed: neither the certificate
that the library measures on the results of its comparators, nor the start of R.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass import Network, ising_path, metrics, nodewise_path, objective
from paper import glmnet, published
from paper.data import Table
from paper.plain_bmn import PlainBmn
from paper.published.bmn_steps import BmnSteps  # a certificate takes longer than a small fit
from paper.published.stacked import unvectorize

FloatArray = NDArray[np.float64]

NODEWISE = ("isinglass-nodewise", "nlr", "nlr-glmnet")
ROUNDS = 3
SLOW = 0.3
"""Seconds beyond which a fit is not repeated."""
MAX_ITER = 100_000
"""Passes of coordinate descent a regression may use: glmnet's limit."""
WARM_STEPS, WARM_TOP = 40, 0.5
"""Penalties on the way down to the one asked for, from the largest at which a 0/1 table can have an edge."""
NOTHING_ENTERS = 1e3
"""A penalty beyond which every regression on 0/1 columns has its unpenalized coefficients only."""


@dataclass(frozen=True)
class Fit:
    """One estimate and what it took; arrays have one entry per regression.

    ``iterations`` are in the unit of the method, ``met`` says whether its stopping rule was met, ``seconds`` is the
    median of ``rounds`` fits and includes the ``design_seconds`` that went into a stacked design.
    """

    make_theta: Callable[[], FloatArray]
    seconds: float
    iterations: NDArray[np.int64]
    met: NDArray[np.bool_]
    newton_steps: NDArray[np.int64] | None = None
    design_seconds: float = 0.0
    rounds: int = 1

    @cached_property
    def theta(self) -> FloatArray:
        """Θ with the fields on the diagonal. Node-wise: row s is the regression of column s, not symmetric."""
        return self.make_theta()

    @property
    def n_iter(self) -> int:
        """Iterations of all regressions together."""
        return int(self.iterations.sum())

    @property
    def converged(self) -> bool:
        """Whether every regression met its stopping rule."""
        return bool(self.met.all())


def fit_isinglass(X: Table, alpha: float, *, tol: float = 1e-7) -> Fit:
    """Fit with ``ising_path`` on one thread."""
    started = time.perf_counter()
    found = ising_path(X, [alpha], tol=tol, n_threads=1)[0]
    seconds = time.perf_counter() - started
    steps, met = np.array([found.n_iter]), np.array([found.converged])
    return Fit(lambda: found.couplings + np.diag(found.fields), seconds, steps, met, newton_steps=steps)


def fit_isinglass_nodewise(X: Table, alpha: float, *, tol: float = 1e-7) -> Fit:
    """Fit with ``nodewise_path`` on one thread."""
    started = time.perf_counter()
    path = nodewise_path(X, [alpha / 2], tol=tol, n_threads=1)
    seconds = time.perf_counter() - started
    steps, met = path.nodes.n_iter[0], np.array([path[0].converged])
    return Fit(lambda: nodewise_theta(path), seconds, steps, met, newton_steps=steps)


def nodewise_theta(path: Any) -> FloatArray:
    """Return the first regressions of a path, one per row, the intercepts on the diagonal."""
    return path.asymmetric_couplings[0].toarray() + np.diag(path.nodes.fields[0])


def fit_bmn(X: Table, alpha: float, *, tolerance: float = 1e-5, max_iter: int = 10_000) -> Fit:
    """Fit by Höfling and Tibshirani's algorithm, as ``published.bmn`` does."""
    started = time.perf_counter()
    limits = (max_iter, max(100, X.shape[1]))
    theta, n_iter, _, converged = BmnSteps(X, None, tolerance, *limits).solve(alpha, False)
    return Fit(lambda: theta, time.perf_counter() - started, np.array([n_iter]), np.array([converged]))


def fit_plain_bmn(X: Table, alpha: float, *, tolerance: float = 1e-5, max_iter: int = 10_000) -> Fit:
    """Fit by the same steps without merged rows and compiled kernels."""
    started = time.perf_counter()
    problem = PlainBmn(X, alpha)
    theta, converged = problem.solve(tolerance, max_iter)
    return Fit(lambda: theta, time.perf_counter() - started, np.array([problem.n_iter]), np.array([converged]))


# ------------------------------------------------------------------------------------------- glmnet's algorithm


def fit_plg(X: Table, alpha: float, *, swap: bool = False, warm: bool = False, **settings: Any) -> Fit:
    """Fit by the paper's Algorithm 1 with our implementation of glmnet's algorithm, as ``published.plg`` does.

    With ``swap`` it starts from its fitted fields instead of 0; ``warm`` comes down a list of penalties instead of
    starting at the one asked for, and counts the passes of the whole list. ``settings`` are those of ``logistic_path``.
    """
    p = X.shape[1]
    started = time.perf_counter()
    design, response = published.stacked_design(X)
    built = time.perf_counter()
    settings |= {"intercept": False, "penalty_factor": np.repeat([1.0, 0.0], [p * (p - 1) // 2, p])}
    path = _descend(design, response, (p - 1) / (p * (p + 1)), alpha, settings, warm=warm, lead=swap)
    seconds = time.perf_counter() - started
    passes, steps, met = _counts([path], warm)
    return Fit(lambda: unvectorize(path.coefficients[-1]), seconds, passes, met, steps, built - started)


def fit_nlr(X: Table, alpha: float, *, swap: bool = False, warm: bool = False, **settings: Any) -> Fit:
    """Fit one regression per node with our implementation of glmnet's algorithm.

    With ``swap`` it starts from 0 instead of the fitted intercept, which becomes a column like any other.
    """
    n, p = X.shape
    if swap:
        settings |= {"intercept": False, "penalty_factor": np.repeat([1.0, 0.0], [p - 1, 1]), "rescale_factors": False}
    started = time.perf_counter()
    paths = []
    for s in range(p):
        others = np.delete(X, s, axis=1)
        design = np.column_stack([others, np.ones(n)]) if swap else others
        paths.append(_descend(design, X[:, s], 0.5, alpha, settings, warm=warm))
    seconds = time.perf_counter() - started

    def make_theta() -> FloatArray:
        found = [(path.coefficients[-1], path.intercepts[-1]) for path in paths]
        pairs = [(vector[: p - 1], vector[p - 1] if swap else intercept) for vector, intercept in found]
        return np.array([np.insert(vector, s, intercept) for s, (vector, intercept) in enumerate(pairs)])

    passes, steps, met = _counts(paths, warm)
    return Fit(make_theta, seconds, passes, met, steps)


def _descend(
    design: Any, response: Any, scale: float, alpha: float, settings: dict[str, Any], *, warm: bool, lead: bool = False
) -> Any:
    """Return the path that ends at a penalty; with ``lead`` it starts where no penalized coefficient enters."""
    penalties = np.geomspace(WARM_TOP, alpha, WARM_STEPS) if warm else [NOTHING_ENTERS, alpha] if lead else [alpha]
    return published.logistic_path(design, response, scale * np.array(penalties), **{"max_iter": MAX_ITER, **settings})


def _counts(paths: Sequence[Any], warm: bool) -> tuple[NDArray[Any], ...]:
    """Return passes, Newton steps and verdict of every regression; of its last penalty only, unless all count."""
    counted = slice(None) if warm else slice(-1, None)
    passes, steps = (
        [int(count[counted].sum()) for count in counts]
        for counts in ((path.n_iter for path in paths), (path.n_outer for path in paths))
    )
    return np.array(passes), np.array(steps), np.array([bool(path.converged[-1]) for path in paths])


def fit_glmnet(X: Table, alpha: float, *, mode: str, **settings: Any) -> Fit:
    """Fit with glmnet in R; the table must have been loaded, and the design is not built again.

    A node that glmnet refuses is not a regression that failed to converge.
    """
    found = glmnet.session().fit(mode, alpha, **settings)
    met = np.isin(found.jerr, (0, glmnet.REFUSED))
    return Fit(lambda: found.theta[0], float(found.seconds.sum()), found.passes, met)


FITS: dict[str, Callable[..., Fit]] = {
    "isinglass": fit_isinglass,
    "isinglass-nodewise": fit_isinglass_nodewise,
    "bmn": fit_bmn,
    "bmn-plain": fit_plain_bmn,
    "plg": fit_plg,
    "plg-glmnet": partial(fit_glmnet, mode="stacked"),
    "nlr": fit_nlr,
    "nlr-glmnet": partial(fit_glmnet, mode="nodewise"),
}
"""Every method by the name it has in rows and in ``figures.METHODS``."""


def prepare(X: Table, names: Sequence[str], *, max_bytes: int | None = None) -> list[str]:
    """Return the methods that can run here, with the table loaded into R if one of them needs it."""
    running = glmnet.session() if any(name.endswith("glmnet") for name in names) else None
    if running is not None:
        running.load(X, stacked="plg-glmnet" in names, max_bytes=max_bytes)
    return [name for name in names if running is not None or not name.endswith("glmnet")]


def time_fits(
    X: Table, alpha: float, names: Sequence[str], *, rounds: int = ROUNDS, slow: float = SLOW
) -> dict[str, Fit]:
    """Fit with every method in turn, ``rounds`` times, and return each with the median of its seconds.

    The methods take turns so that whatever else the machine does meanwhile falls on all of them. A method whose first
    fit takes longer than ``slow`` seconds is not repeated.
    """
    found: dict[str, list[Fit]] = {name: [] for name in prepare(X, names)}
    for _ in range(rounds):
        for name, fits in found.items():
            if not fits or fits[0].seconds <= slow:
                fits.append(FITS[name](X, alpha))
    return {
        name: replace(fits[0], seconds=float(np.median([fit.seconds for fit in fits])), rounds=len(fits))
        for name, fits in found.items()
    }


# ------------------------------------------------------------------------------------------- accuracy


def accuracy(X: Table, method: str, theta: FloatArray, alpha: float) -> tuple[float, float]:
    """Return how far a fit is from the optimum of its own problem: excess of the objective, and ε.

    The excess is relative to the objective of the network without edges.
    """
    return (_nodewise_accuracy if method in NODEWISE else _joint_accuracy)(X, theta, alpha)


def _nodewise_accuracy(X: Table, theta: FloatArray, alpha: float) -> tuple[float, float]:
    path = nodewise_path(X, [alpha / 2], tol=1e-9, n_threads=1)
    best = nodewise_theta(path)
    coefficients = theta - np.diag(theta.diagonal())
    logits = X @ coefficients.T + theta.diagonal()
    loss = np.logaddexp(0.0, (1.0 - 2.0 * X) * logits).mean(axis=0).sum()
    value = float(loss + alpha / 2 * np.abs(coefficients).sum())
    excess = (value - float(np.sum(path.nodes.objectives[0]))) / float(path.nodes.null_losses.sum())
    return excess, float(np.linalg.norm(theta - best) / np.linalg.norm(best))


def _joint_accuracy(X: Table, theta: FloatArray, alpha: float) -> tuple[float, float]:
    best = ising_path(X, [alpha], tol=1e-9, n_threads=1)[0]
    means = X.mean(axis=0)
    null = -float(np.sum(means * np.log(means) + (1 - means) * np.log1p(-means)))
    return (value_of(X, theta, alpha) - best.objective) / null, metrics.relative_difference(theta, best)


def value_of(X: Table, theta: FloatArray, alpha: float) -> float:
    """Return the joint objective."""
    return objective.Objective(X).value(Network.from_theta(theta), alpha)
