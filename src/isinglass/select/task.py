"""How pairs are estimated, and one table to be estimated: what every selector is given."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from isinglass.arguments import Options, check_count, check_positive, check_word
from isinglass.arrays import AnyArray, FloatArray, read_only
from isinglass.data import AnyTable
from isinglass.errors import ArgumentError, ConstantColumnWarning, suppress_warnings
from isinglass.penalties import check_penalty_weights, refuse_labels
from isinglass.results import Path, Solution
from isinglass.select.folds import RowSet, take_part
from isinglass.select.settings import Alphas, Run, Settings
from isinglass.solve.alphas import TOLERANCE
from isinglass.solve.exact_likelihood import exact_alpha_max, exact_path
from isinglass.solve.nodewise import nodewise_alpha_max, nodewise_path
from isinglass.solve.path import alpha_max, ising_path
from isinglass.solve.regressions import RULES

# The path of every estimator, and the largest alpha of its grid.
ESTIMATORS: dict[str, tuple[Callable[..., Path], Callable[..., float]]] = {
    "joint": (ising_path, alpha_max),
    "nodewise": (nodewise_path, nodewise_alpha_max),
    "exact": (exact_path, exact_alpha_max),
}
LOOSE = 1e-3
"""Tolerance of solutions that are compared and not returned; their objectives are wrong by far less. With 1e-2 the AIC
near its minimum is wrong by as much as its neighbors differ."""


@dataclass(frozen=True, eq=False, repr=False)
class PathSettings(Settings):
    """How the couplings of pairs are estimated at one penalty after the other.

    Parameters
    ----------
    estimator : {"joint", "nodewise", "exact"}, default "joint"
        The pseudo-likelihood; one regression per column; or the likelihood, up to 20 columns.
    penalty_weights, tol, max_iter
        As for `ising_path`; tol is 1e-7 by default.
    rule : {"and", "or", "mean"}, default "and"
        Node-wise: how the two coefficients of a pair become one coupling.
    """

    estimator: str = "joint"
    _: KW_ONLY
    penalty_weights: Any = None  # Any: None, "standardized" or a matrix of any form
    rule: str = "and"
    tol: float | None = None
    max_iter: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_word("estimator", self.estimator, ESTIMATORS)
        check_word("rule", self.rule, RULES)
        if self.tol is not None:
            check_positive("tol", self.tol)
        if self.max_iter is not None:
            check_count("max_iter", self.max_iter)
        if self.estimator != "nodewise" and self.rule != "and":
            raise ArgumentError("rule", 'must be left out unless the estimator is "nodewise"', self.rule)
        if isinstance(self.penalty_weights, str):
            check_penalty_weights(self.penalty_weights, 0)
        elif self.penalty_weights is not None:
            refuse_labels(self.penalty_weights)
            object.__setattr__(self, "penalty_weights", read_only(np.array(self.penalty_weights)))

    @property
    def tolerance(self) -> float:
        """The tolerance that ``converged`` refers to."""
        return TOLERANCE if self.tol is None else self.tol

    @property
    def n_ends(self) -> int:
        """How often the objective counts a pair: once, or from both of its ends."""
        return 1 if self.estimator == "exact" else 2

    @property
    def standardized(self) -> bool:
        """Whether regressions are penalized as if columns had unit standard deviation."""
        weights = self.penalty_weights
        if weights is None or (isinstance(weights, str) and weights == "standardized"):
            return weights is not None
        raise ArgumentError("penalty_weights", 'must be None or "standardized" for node-wise regressions', weights)


@dataclass(frozen=True, eq=False)
class WarmStart:
    """Networks of a similar table that the solver starts from; what is chosen does not depend on them."""

    solution: Solution | None = None
    first: Solution | None = None  # of stage 1, if there are two


COLD_START = WarmStart()


@dataclass(frozen=True, eq=False)
class Task:
    """A table to choose a network for, how its pairs are estimated, and how that is run."""

    table: AnyTable  # with its weights
    paths: PathSettings = PathSettings()
    groups: AnyArray | None = None  # rows with equal entries stay in one fold
    run: Run = Run()
    warm_start: WarmStart = COLD_START
    deadline: float = math.inf  # of the clock `time.monotonic`

    def __post_init__(self) -> None:
        estimator, device = self.paths.estimator, self.run.device
        if estimator != "joint" and device not in (None, "cpu"):
            raise ArgumentError("device", f"must be left out for the estimator {estimator!r}", device)

    def path(
        self,
        alphas: Alphas,
        *,
        penalty: FloatArray | None = None,
        callback: Callable[[Solution], object] | None = None,
        start: Solution | Sequence[Solution] | None = None,
    ) -> Path:
        """Return the solutions along decreasing alpha, with these penalty weights if they are given.

        ``callback`` is called with each of them. The joint estimator starts from ``start``, see `ising_path`.
        """
        paths = self.paths
        options: dict[str, Any] = {"tol": paths.tolerance, "callback": callback, **self._penalty_options(penalty)}
        if paths.max_iter is not None:
            options["max_iter"] = paths.max_iter
        if paths.estimator != "exact":
            options["n_threads"] = self.run.n_threads
        if paths.estimator == "joint":
            options |= {"device": self.run.device, "start": start}
        if paths.estimator == "nodewise":
            options["rule"] = paths.rule
        with suppress_warnings(ConstantColumnWarning):
            return ESTIMATORS[paths.estimator][0](self.table, alphas, **options)

    def alpha_max(self, penalty: FloatArray | None = None) -> float:
        """Return the smallest alpha without penalized edges."""
        with suppress_warnings(ConstantColumnWarning):
            return float(ESTIMATORS[self.paths.estimator][1](self.table, **self._penalty_options(penalty)))

    def _penalty_options(self, penalty: FloatArray | None) -> Options:
        """Return what the functions of the estimator are told about penalties."""
        if self.paths.estimator == "nodewise":
            return {"standardize": self.paths.standardized}
        return {"penalty_weights": self.paths.penalty_weights if penalty is None else penalty}

    @cached_property
    def n_rows(self) -> float:
        """Number of rows: the sum of the weights."""
        return self.table.total_weight

    @property
    def has_few_rows(self) -> bool:
        """Whether there are no more rows than columns."""
        return self.n_rows <= self.table.shape[1]

    @property
    def is_late(self) -> bool:
        """Whether the time that was given is spent."""
        return time.monotonic() > self.deadline

    def on(self, part: RowSet) -> Task:
        """Return the task of some of the rows."""
        return replace(self, table=take_part(self.table, part))

    def loosened(self) -> Task:
        """Return the same task with a tolerance for solutions that are only compared."""
        return replace(self, paths=self.paths.replace(tol=max(self.paths.tolerance, LOOSE)))
