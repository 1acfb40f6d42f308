"""Höfling and Tibshirani's algorithm as one would write it down: dense NumPy, every row, every pair in every step.

`paper.published.bmn` runs the same steps on merged rows with vectorized kernels. What the paper timed was neither,
but a package that computes every row; this version stands in for it where the cost of the algorithm is the question.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

CHECK = 50  # steps between two looks at the objective
SMALLEST_STEP = 1e-3  # below it a line search takes over
ADDED_PER_NODE = 4  # zeros that may join a working set, per column


class PlainBmn:
    """One problem; ``solve`` runs the rounds.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Table of 0 and 1 without constant columns.
    alpha : float
        The joint penalty.
    """

    def __init__(self, X: NDArray[np.uint8], alpha: float) -> None:
        self.X = X.astype(np.float64)
        self.n, self.p = X.shape
        mean = self.X.mean(axis=0)
        self.penalty = alpha * (1.0 - np.eye(self.p))
        self.curvature = 0.25 * (mean[:, None] + mean[None, :])
        np.fill_diagonal(self.curvature, 0.25)
        self.start = np.diag(np.clip(np.log(mean / (1.0 - mean)), -1.0, 1.0))
        self.step, self.line_search, self.n_iter = 1.0, False, 0

    def margins(self, theta: FloatArray) -> FloatArray:
        """Return η."""
        fields = theta.diagonal()
        return self.X @ (theta - np.diag(fields)) + fields

    def value(self, theta: FloatArray) -> float:
        """Return the objective; looked at now and then only."""
        eta = self.margins(theta)
        loss = np.maximum(eta, 0.0) + np.log1p(np.exp(-np.abs(eta))) - self.X * eta
        return float(loss.sum()) / self.n + float((self.penalty * np.abs(theta)).sum()) / 2.0

    def gradient(self, theta: FloatArray) -> FloatArray:
        """Return one entry per pair, those of the fields on the diagonal."""
        residual = (1.0 / (1.0 + np.exp(-self.margins(theta))) - self.X) / self.n
        products = residual.T @ self.X
        gradient = products + products.T
        np.fill_diagonal(gradient, residual.sum(axis=0))
        return gradient

    def solve(self, tolerance: float, max_iter: int) -> tuple[FloatArray, bool]:
        """Return Θ and whether the steps and the rounds stopped by themselves."""
        theta, working = self.start, self.start != 0.0
        for number in range(max(100, self.p)):
            if number > 0:
                working = self.choose_working_set(theta)
            found, stopped = self.run_round(theta, working, tolerance, max_iter)
            change, theta = float(np.abs(found - theta).max()), found
            if not stopped or (number > 0 and change < tolerance):
                return theta, stopped
        return theta, False

    def choose_working_set(self, theta: FloatArray) -> NDArray[np.bool_]:
        """Return what is not zero, and the zeros that violate optimality most."""
        gradient = self.gradient(theta)
        working = theta != 0.0
        s, t = np.triu_indices(self.p)
        excess = np.where(working, 0.0, np.abs(gradient) - self.penalty)[s, t]
        most = np.argsort(-excess, kind="stable")[: ADDED_PER_NODE * self.p]
        most = most[excess[most] > 0.0]
        working[s[most], t[most]] = working[t[most], s[most]] = True
        return working

    def run_round(
        self, theta: FloatArray, working: NDArray[np.bool_], tolerance: float, max_iter: int
    ) -> tuple[FloatArray, bool]:
        """Step until nothing moves by more than the tolerance; False if the steps are used up."""
        saved, saved_value, iteration = theta, self.value(theta), 0
        while iteration < max_iter:
            self.n_iter += 1
            gradient, length = self.gradient(theta), self.step / self.curvature
            target = theta - length * gradient
            target = np.sign(target) * np.maximum(np.abs(target) - length * self.penalty, 0.0)
            target = np.where(working, target, theta)
            if np.abs(target - theta).max() <= tolerance:
                return target, True
            if self.line_search:
                target = self.search_line(theta, gradient, target)
            elif iteration % CHECK == 0:
                value = self.value(target)
                if self.n * (value - saved_value) <= tolerance:
                    saved, saved_value = target, value
                else:
                    iteration, target = iteration - CHECK, saved
                    self.shorten()
            theta, iteration = target, iteration + 1
        return theta, False

    def shorten(self) -> None:
        """Halve the step size, or give up on it."""
        self.step /= 2.0
        if self.step < SMALLEST_STEP:
            self.line_search, self.step = True, 1.0

    def search_line(self, theta: FloatArray, gradient: FloatArray, target: FloatArray) -> FloatArray:
        """Backtrack until the decrease is a tenth of what the slope promises."""
        side = np.sign(np.where(theta != 0.0, theta, -gradient))
        slope = float(np.triu((gradient + self.penalty * side) * (target - theta)).sum())
        value, length = self.value(theta), 1.0
        while self.value(target) > value + 0.1 * length * slope and length >= 2e-5:
            length, target = length / 2.0, theta + 0.5 * (target - theta)
        return target
