"""The earlier methods as fitted networks: what the command line saves of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.data import BinaryTable
from isinglass.errors import ArgumentError, ConstantColumnWarning, suppress_warnings
from isinglass.estimators.base import IsingEstimator, check_alpha
from isinglass.fit import Fit
from isinglass.results import Path, Solution
from isinglass.select.contract import PathFunction
from isinglass.solve.published.baselines import bmn, plg

__all__ = ["PublishedIsing"]

TOLERANCES = {"plg": "thresh", "bmn": "tolerance"}
"""What each method calls the tolerance of its own stopping rule."""


class PublishedIsing(IsingEstimator):
    """Ising network by an earlier method, as published, which stops by a rule of its own.

    The certificate says how far from the optimum of the joint objective that was; ``converged_`` is the method's own
    verdict and proves nothing.

    Parameters
    ----------
    alpha : float, default 0.05
        Penalty strength.
    method : {"plg", "bmn"}, default "plg"
        One stacked regression, or the algorithm of Höfling and Tibshirani.
    tol : float, optional
        Tolerance of the method's own rule; by default 1e-7 and 1e-5.
    max_iter : int, optional
        Iterations; by default the method's own number.
    missing, encode, coding, binarize
        As for `IsingLasso`.

    Examples
    --------
    >>> PublishedIsing(alpha=0.1).fit([[0, 0], [1, 1], [0, 0], [1, 1], [0, 1]]).solution_.n_edges
    1
    """

    _path_settings = ()

    def __init__(
        self,
        alpha: float = 0.05,
        *,
        method: str = "plg",
        tol: float | None = None,
        max_iter: int | None = None,
        missing: str = "error",
        encode: Any = None,
        coding: str = "bits",
        binarize: float | None = None,
    ) -> None:
        self.alpha = alpha
        self.method = method
        self.tol = tol
        self.max_iter = max_iter
        self.missing = missing
        self.encode = encode
        self.coding = coding
        self.binarize = binarize

    @property
    def settings(self) -> dict[str, Any]:
        """What was set, by the names of the path function's parameters."""
        given = {TOLERANCES[self.method]: self.tol, "max_iter": self.max_iter}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def fit_(self) -> Fit:
        """All that was found, with the settings by the names of the method."""
        return replace(super().fit_, settings=self.settings)

    def path_function(self, X: Any, alphas: Any, **settings: Any) -> Path:
        """Return the path of the method, with the settings of this estimator."""
        function: PathFunction = plg if self.method == "plg" else bmn
        return function(X, alphas, **self.settings, **settings)

    def _estimate(
        self, table: BinaryTable, weight: NDArray[np.float64] | None, y: Any
    ) -> tuple[Solution, dict[str, Any]]:
        if self.method not in TOLERANCES:
            raise ArgumentError("method", 'must be "plg" or "bmn"', self.method)
        with suppress_warnings(ConstantColumnWarning):
            path = self.path_function(table.X, [check_alpha(self.alpha)], sample_weight=weight)
        return path.solutions[0], {"tol_": float(path.tol)}
