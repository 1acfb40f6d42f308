"""The steps of Höfling and Tibshirani's algorithm, on the rows of the solver (`isinglass.solve.rows`).

Rounds: a working set (what is not zero, and the zeros that violate optimality most), solved by simultaneous
soft-thresholded steps of all its entries, each with its own bound of the curvature. Such a step can overshoot: every
``CHECK`` steps the objective is compared with the last accepted one, and the step size is halved if need be. There is
no check of optimality; the algorithm stops when nothing moves by more than the tolerance.
"""

from __future__ import annotations

import numpy as np

from isinglass._core import CpuRows
from isinglass.arrays import Bytes, FloatArray

CHECK = 50  # steps between two looks at the objective
SMALLEST_STEP = 1e-3  # below it a line search takes over
SUFFICIENT = 0.1  # share of the promised decrease a line search asks for
SHORTEST = 1e-5  # the line search then takes what it has
ADDED_PER_NODE = 4  # zeros that may join a working set, per column


class BmnSteps:
    """One table; ``solve`` starts from the fields alone, nothing is kept from one call to the next."""

    def __init__(self, X: Bytes, weight: FloatArray | None, tolerance: float, max_iter: int, max_rounds: int) -> None:
        self.rows, self.p = CpuRows(X, weight, 0.0, 1), X.shape[1]
        self.tolerance, self.max_iter, self.max_rounds = tolerance, max_iter, max_rounds
        self.mean = self.rows.margins()[0]
        self.nodes = np.arange(self.p, dtype=np.int32)
        # BMN compares log-likelihoods of the whole table.
        self.total = float(len(X)) if weight is None else float(weight.sum())

    def solve(self, alpha: float, line_search: bool) -> tuple[FloatArray, int, int, bool]:
        """Return Θ, the steps taken, the pairs of the last working set, and whether the rounds ended by themselves."""
        self.alpha, self.line_search, self.step_size, self.n_iter = alpha, line_search, 1.0, 0
        # The package puts +1 for every larger value, whatever its sign: not copied.
        theta = np.diag(np.clip(np.log(self.mean / (1.0 - self.mean)), -1.0, 1.0))
        self._arrange(np.argwhere(theta))
        converged = False
        for turn in range(self.max_rounds):
            if turn > 0:
                self._choose_working_set(theta)
            before = theta[self.s, self.t]
            values, is_done = self._run_round(before)
            theta[self.s, self.t] = values
            converged = is_done and turn > 0 and float(np.abs(values - before).max(initial=0.0)) < self.tolerance
            if converged or not is_done:
                break
        return theta + np.triu(theta, 1).T, self.n_iter, int(np.count_nonzero(~self.is_field)), converged

    def _arrange(self, entries: np.ndarray) -> None:
        """Take these entries of Θ, s ≤ t, for the working set, and list them by node as the rows want them."""
        self.s, self.t = entries.T
        self.is_field = self.s == self.t
        self.penalty = np.where(self.is_field, 0.0, self.alpha)
        self.bound = np.where(self.is_field, 0.25, 0.25 * (self.mean[self.s] + self.mean[self.t]))
        pairs = np.flatnonzero(~self.is_field)
        ends = np.concatenate([self.s[pairs], self.t[pairs]])
        order = np.argsort(ends, kind="stable")
        self.place = np.tile(pairs, 2)[order]
        self.columns = np.concatenate([self.t[pairs], self.s[pairs]])[order].astype(np.int32)
        self.begin = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=self.p))])

    def _evaluate(self, values: FloatArray) -> float:
        """Move the rows to these values; keep the gradient, return F."""
        fields = np.zeros(self.p)
        fields[self.s[self.is_field]] = values[self.is_field]
        listed = self.begin, self.columns
        sums, products = self.rows.move(self.nodes, fields, *listed, values[self.place], *listed, True)
        self.field_gradient = sums[:, 2] - sums[:, 3]
        pairs = np.bincount(self.place, products, minlength=len(values))
        self.gradient = np.where(self.is_field, self.field_gradient[self.s], pairs)
        return float(sums[:, 0].sum() + self.penalty @ np.abs(values))

    def _choose_working_set(self, theta: FloatArray) -> None:
        """Take what is not zero, and at most 4p zeros: those whose gradient exceeds the penalty most."""
        self._evaluate(theta[self.s, self.t])
        begin = np.arange(self.p + 1, dtype=np.int64) * self.p
        products = self.rows.gradients(self.nodes, begin, np.tile(self.nodes, self.p)).reshape(self.p, self.p)
        excess = np.abs(products + products.T) - self.alpha
        np.fill_diagonal(excess, np.abs(self.field_gradient))
        excess[theta != 0.0] = 0.0
        s, t = np.nonzero(np.triu(excess) > 0.0)
        steepest = np.argsort(-excess[s, t], kind="stable")[: ADDED_PER_NODE * self.p]
        self._arrange(np.concatenate([np.argwhere(theta), np.column_stack([s, t])[steepest]]))

    def _run_round(self, values: FloatArray) -> tuple[FloatArray, bool]:
        """Take steps until the largest change is at most the tolerance; False if the steps are used up."""
        value = self._evaluate(values)
        saved, saved_value = values, value
        taken = 0
        while taken < self.max_iter:
            self.n_iter += 1
            length = self.step_size / self.bound
            moved = values - length * self.gradient
            following = np.sign(moved) * np.maximum(np.abs(moved) - length * self.penalty, 0.0)
            if float(np.abs(following - values).max(initial=0.0)) <= self.tolerance:
                return following, True
            if self.line_search:
                following, value = self._search_line(values, following, value)
            else:
                value = self._evaluate(following)
                if taken % CHECK == 0:  # the log-likelihood may fall by the tolerance
                    if self.total * (value - saved_value) <= self.tolerance:
                        saved, saved_value = following, value
                    else:
                        taken -= CHECK  # the steps since then do not count
                        following, value = saved, self._evaluate(saved)
                        self.step_size *= 0.5
                        if self.step_size < SMALLEST_STEP:
                            self.line_search, self.step_size = True, 1.0
            values = following
            taken += 1
        return values, False

    def _search_line(self, values: FloatArray, following: FloatArray, value: float) -> tuple[FloatArray, float]:
        """Go back from a step until the decrease is a share of what the slope promises."""
        # At zero the penalty takes the sign of the descent, which is how BMN measures the promise.
        side = np.sign(np.where(values != 0.0, values, -self.gradient))
        slope = float((self.gradient + self.penalty * side) @ (following - values))
        length, reached = 1.0, self._evaluate(following)
        while reached > value + SUFFICIENT * length * slope and length / 2 >= SHORTEST:
            length /= 2
            following = values + 0.5 * (following - values)
            reached = self._evaluate(following)
        return following, reached
