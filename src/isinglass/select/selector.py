"""What chooses the penalty: the base of all selectors, what they return, and those that have nothing to choose."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from isinglass.arguments import Options, is_real
from isinglass.arrays import Frozen
from isinglass.errors import ArgumentError, DataError
from isinglass.json_text import JsonObject
from isinglass.results import Evidence, Path, Solution, Stability
from isinglass.select.settings import Settings, option, settings
from isinglass.select.stage_penalties import solve_stage
from isinglass.select.task import Task, WarmStart
from isinglass.solve.nodewise import choose_per_node, nodewise_at


@dataclass(frozen=True, eq=False, repr=False)
class Choice(Frozen):
    """The network that was chosen, and what it was chosen from and by."""

    path: Path  #: the networks that it was chosen from; it alone if its penalty was given
    index: int = 0  #: its number on the path
    evidence: Evidence | None = None  #: the curve that the penalty was read from
    stability: Stability | None = None  #: how far subsamples agreed
    left_out: str = ""  #: what there was no time for, in words

    @property
    def solution(self) -> Solution:
        """The network, with its certificate."""
        return self.path.solutions[self.index]

    @property
    def alpha(self) -> float:
        """Its penalty; NaN if every node has its own."""
        return self.solution.alpha

    @property
    def is_given(self) -> bool:
        """Whether there was nothing to choose."""
        return len(self.path) == 1 and self.evidence is None and self.stability is None

    @property
    def warm_start(self) -> WarmStart:
        """Where the fit of a similar table starts."""
        return WarmStart(self.solution)

    @property
    def stage_records(self) -> list[JsonObject] | None:
        """What each stage of the two-stage estimate tried, chose and proves; None for other selectors."""
        return None

    def __repr__(self) -> str:
        chosen = f"alpha={self.alpha:.6g}"
        if self.evidence is not None:
            said = ", ".join(f"{name}={value}" for name, value in self.evidence.settings.items())
            value = f"{self.evidence.kind}={self.evidence.values[self.index]:.6g}"
            chosen = f"{said}: {chosen}, number {self.index} of {len(self.path)}, {value}"
        return f"{type(self).__name__}({chosen}, {self.solution.n_edges} edges)"


class Selector(Settings):
    """Base class of the selectors: a record of settings, with a method that chooses the penalty of a task."""

    name: ClassVar[str]  # what files and the command line call it
    counts_rows: ClassVar[bool] = True  # whether the number of rows matters to it, and not only ratios of weights
    keeps_errors: ClassVar[bool] = False  # whether its couplings are hardly shrunken and have standard errors

    @property
    def words(self) -> str:
        """How it is set, in words."""
        raise NotImplementedError

    def choose(self, task: Task) -> Choice:
        """Return the network of a task."""
        raise NotImplementedError


@settings
class Fixed(Selector):
    """A penalty that is given, or that was chosen for another table.

    Examples
    --------
    >>> from isinglass import Fixed, Method
    >>> Method(selector=Fixed(0.1)).choose([[0, 0], [1, 1], [0, 0], [1, 1], [0, 1]]).alpha
    0.1
    """

    name = "given"
    counts_rows = False
    alpha: float | tuple[float, ...] = option(
        default=0.05, help="The penalty of all pairs; or that of every node's regression, NaN for constant columns."
    )
    first_alpha: float | None = option(
        default=None, help="The penalty of stage 1, where ``alpha`` is that of stage 2 of the two-stage estimate."
    )
    exponent: float = option(
        default=1.0, help="Exponent of the penalty weights of stage 2; 0: ``alpha`` is that of stage 1."
    )

    def __post_init__(self) -> None:
        if isinstance(self.alpha, tuple):
            return
        if not is_real(self.alpha) or not (np.isfinite(self.alpha) and self.alpha >= 0):
            raise ArgumentError("alpha", "must be a finite number that is not negative", self.alpha)
        object.__setattr__(self, "alpha", float(self.alpha))

    @classmethod
    def of(cls, solution: Solution, stages: list[JsonObject] | None, scale: float) -> Fixed:
        """Return the penalty of a network that was chosen, in these stages if there were any, times ``scale``."""
        if solution.alphas_per_node is not None:
            return cls(tuple((scale * np.asarray(solution.alphas_per_node)).tolist()))
        if not math.isfinite(solution.alpha):
            raise DataError(
                "reselect=False needs a method with one penalty for all pairs; this one has none that could be kept. "
                "Pass reselect=True, or the penalty as a number."
            )
        exponent = next((stage["exponent"] for stage in stages or () if stage["network"]), 0.0)
        if not stages:
            return cls(scale * float(solution.alpha))
        if not exponent:
            return cls(scale * float(solution.alpha), exponent=0.0)
        return cls(scale * float(solution.alpha), scale * stages[0]["alpha"], exponent)

    @property
    def words(self) -> str:
        """How it is set, in words."""
        return "given"

    def choose(self, task: Task) -> Choice:
        """Return the network at this penalty."""
        if isinstance(self.alpha, tuple):
            return Choice(nodewise_at(task.table.whole(), np.array(self.alpha), **_regressions(task)))
        known = task.warm_start
        start = None if known is None else known.solution
        if self.first_alpha is None:
            if self.exponent:
                return Choice(task.path([self.alpha], start=start))
            return Choice(solve_stage(task, [self.alpha], start=start))
        first = solve_stage(task, [self.first_alpha], start=None if known is None else known.first)
        if not first[0].n_edges:
            return Choice(first)
        return Choice(solve_stage(task, [self.alpha], self.exponent, first[0], start=start))


@settings
class PerNode(Selector):
    """Every node chooses its own penalty by the extended BIC; with standardized penalties this is R's IsingFit."""

    name = "per-node"
    alphas: int = option(default=100, help="Length of every node's list of penalties.")
    gamma: float = option(default=0.25, help="Weight of the number of candidate models; 0 is the BIC.")
    alpha_min_ratio: float | None = option(
        default=None, help="Last alpha over first alpha; by default 0.0001, or 0.01 with fewer rows than predictors."
    )

    @property
    def words(self) -> str:
        """How it is set, in words."""
        return f"EBIC of every node, gamma {self.gamma:g}"

    def choose(self, task: Task) -> Choice:
        """Return the network of regressions that each chose their penalty."""
        chosen: Options = {"gamma": self.gamma, "alpha_min_ratio": self.alpha_min_ratio}
        return Choice(choose_per_node(task.table.whole(), self.alphas, **chosen, **_regressions(task)))


def _regressions(task: Task) -> Options:
    """Return the options of regressions with a penalty per node."""
    paths = task.paths
    if paths.estimator != "nodewise":
        raise ArgumentError("estimator", 'must be "nodewise" for a penalty per node', paths.estimator)
    limits = {"tol": paths.tolerance, "max_iter": 100 if paths.max_iter is None else paths.max_iter}
    return {"rule": paths.rule, "standardize": paths.standardized, "n_threads": task.run.n_threads, **limits}
