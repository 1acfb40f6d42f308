"""Single fits of every method, as published and ours, with the seconds of the fit alone.

All take the joint penalty; node-wise methods halve it. Nothing but the work of the method is timed: not the
certificate that the library measures on the results of its comparators, not the start of R.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from isinglass import ising_path, nodewise_path
from isinglass._core import Bmn
from isinglass.solve.published.glm import logistic_path
from isinglass.solve.published.stacked import stacked_design, unvectorise
from paper import glmnet
from paper.plain_bmn import PlainBmn

Table = NDArray[np.uint8]
FloatArray = NDArray[np.float64]

ROUNDS = 3
SLOW = 0.3  # seconds beyond which a fit is not repeated


@dataclass(frozen=True)
class Fit:
    """One estimate and what it took.

    Parameters
    ----------
    make_theta : callable
        Returns what ``theta`` keeps; the fit itself makes no dense matrix.
    seconds : float
        The fit, with the stacked design where the method builds one.
    n_iter : int
        Iterations in the method's own unit; the sum over nodes for node-wise methods.
    converged : bool
        The method's own verdict.
    design_seconds : float
        Part of ``seconds`` that went into the stacked design.
    rounds : int
        How many fits ``seconds`` is the median of.
    """

    make_theta: Callable[[], FloatArray]
    seconds: float
    n_iter: int
    converged: bool
    design_seconds: float = 0.0
    rounds: int = 1

    @cached_property
    def theta(self) -> FloatArray:
        """Θ with the fields on the diagonal. Node-wise: row s is the regression of column s, not symmetric."""
        return self.make_theta()


def fit_isinglass(X: Table, alpha: float, *, tol: float = 1e-7) -> Fit:
    """Fit with ``ising_path`` on one thread."""
    started = time.perf_counter()
    found = ising_path(X, [alpha], tol=tol, n_threads=1)[0]
    seconds = time.perf_counter() - started
    return Fit(lambda: found.couplings + np.diag(found.fields), seconds, found.n_iter, found.converged)


def fit_isinglass_nodewise(X: Table, alpha: float, *, tol: float = 1e-7) -> Fit:
    """Fit with ``nodewise_path`` on one thread."""
    started = time.perf_counter()
    path = nodewise_path(X, [alpha / 2], tol=tol, n_threads=1)
    seconds = time.perf_counter() - started
    n_iter = int(path.nodes.n_iter[0].sum())
    return Fit(
        lambda: path.asymmetric_couplings[0].toarray() + np.diag(path.fields[0]), seconds, n_iter, path[0].converged
    )


def fit_bmn(X: Table, alpha: float, *, tolerance: float = 1e-5, max_iter: int = 10_000) -> Fit:
    """Fit by Höfling and Tibshirani's algorithm, as ``baselines.bmn`` does."""
    p = X.shape[1]
    started = time.perf_counter()
    fields, edges, values, n_iter, *_, converged = Bmn(X, None).solve(alpha, tolerance, max_iter, max(100, p), False)
    seconds = time.perf_counter() - started

    def make_theta() -> FloatArray:
        theta = np.diag(fields)
        theta[edges[:, 0], edges[:, 1]] = theta[edges[:, 1], edges[:, 0]] = values
        return theta

    return Fit(make_theta, seconds, int(n_iter), bool(converged))


def fit_plain_bmn(X: Table, alpha: float, *, tolerance: float = 1e-5, max_iter: int = 10_000) -> Fit:
    """Fit by the same steps without merged rows and compiled kernels."""
    started = time.perf_counter()
    problem = PlainBmn(X, alpha)
    theta, converged = problem.solve(tolerance, max_iter)
    return Fit(lambda: theta, time.perf_counter() - started, problem.n_iter, converged)


def fit_plg(X: Table, alpha: float, *, thresh: float = 1e-7, max_iter: int = 100_000) -> Fit:
    """Fit by the paper's Algorithm 1 with our implementation of glmnet's algorithm, as ``baselines.plg`` does."""
    p = X.shape[1]
    started = time.perf_counter()
    design, response = stacked_design(X)
    built = time.perf_counter()
    found = logistic_path(
        design,
        response,
        [alpha * (p - 1) / (p * (p + 1))],
        penalty_factor=np.repeat([1.0, 0.0], [p * (p - 1) // 2, p]),
        intercept=False,
        thresh=thresh,
        max_iter=max_iter,
    )
    seconds = time.perf_counter() - started
    n_iter, converged = int(found.n_iter[0]), bool(found.converged[0])
    return Fit(lambda: unvectorise(found.coefficients[0]), seconds, n_iter, converged, built - started)


def fit_nlr(X: Table, alpha: float, *, thresh: float = 1e-7, max_iter: int = 100_000) -> Fit:
    """Fit one regression per node with our implementation of glmnet's algorithm."""
    p = X.shape[1]
    started = time.perf_counter()
    found = [
        logistic_path(np.delete(X, s, axis=1), X[:, s], [alpha / 2], thresh=thresh, max_iter=max_iter) for s in range(p)
    ]
    seconds = time.perf_counter() - started
    n_iter, converged = sum(int(path.n_iter[0]) for path in found), all(bool(path.converged[0]) for path in found)

    def make_theta() -> FloatArray:
        return np.array([np.insert(path.coefficients[0], s, path.intercepts[0]) for s, path in enumerate(found)])

    return Fit(make_theta, seconds, n_iter, converged)


def fit_glmnet(X: Table, alpha: float, *, mode: str, thresh: float = 1e-7, maxit: int = 100_000) -> Fit:
    """Fit with glmnet in R; the table must have been loaded, and the design is not built again.

    A node that glmnet refuses is no regression that failed to converge.
    """
    found = glmnet.session().fit(mode, alpha, thresh=thresh, maxit=maxit)
    converged = bool(np.isin(found.jerr, (0, glmnet.REFUSED)).all())
    return Fit(lambda: found.theta[0], float(found.seconds.sum()), int(found.passes.sum()), converged)


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


def stacked_bytes(n: int, p: int) -> float:
    """Return the size of the stacked design of a balanced table: a double and a row number for every entry."""
    return 12.0 * n * p * (1.0 + (p - 1) / 2.0)


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
    runnable = prepare(X, names)
    found: dict[str, list[Fit]] = {name: [] for name in runnable}
    for _ in range(rounds):
        for name in runnable:
            if not found[name] or found[name][0].seconds <= slow:
                found[name].append(FITS[name](X, alpha))
    return {
        name: replace(fits[0], seconds=float(np.median([fit.seconds for fit in fits])), rounds=len(fits))
        for name, fits in found.items()
    }
