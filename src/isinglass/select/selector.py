"""What chooses the penalty: the base of all selectors, what they return, and those that have nothing to choose."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from isinglass.arguments import is_real
from isinglass.arrays import FloatArray, Frozen
from isinglass.errors import ArgumentError, DataError
from isinglass.results import Evidence, Path, Solution, Stability
from isinglass.select.settings import Settings, option, settings
from isinglass.select.task import Near, Task
from isinglass.solve.nodewise import choose_per_node, nodewise_at


@dataclass(frozen=True, eq=False, repr=False)
class Choice(Frozen):
    """The network that was chosen, and what it was chosen from and by."""

    solution: Solution  #: the network, with its certificate
    path: Path | None = None  #: the networks that it was chosen from; None if there was nothing to choose
    evidence: Evidence | None = None  #: the curve that the penalty was read from
    stability: Stability | None = None  #: how far subsamples agreed
    left_out: str = ""  #: what there was no time for, in words

    @property
    def alpha(self) -> float:
        """Its penalty; NaN if every node has its own."""
        return self.solution.alpha

    @property
    def index(self) -> int:
        """Its number on the path."""
        curve = self.evidence
        assert curve is not None
        return curve.choice

    @property
    def near(self) -> Near:
        """Where the fit of a similar table starts."""
        return Near(self.solution)

    @property
    def stage_records(self) -> list[dict[str, Any]] | None:
        """What each stage of the two-stage estimate tried, chose and proves; None for other selectors."""
        return None

    def __repr__(self) -> str:
        chosen = f"alpha={self.alpha:.6g}"
        if self.path is not None and self.evidence is not None:
            said = ", ".join(f"{name}={value}" for name, value in self.evidence.settings.items())
            value = f"{self.evidence.kind}={self.evidence.values[self.index]:.6g}"
            chosen = f"{said}: {chosen}, number {self.index} of {len(self.path)}, {value}"
        return f"{type(self).__name__}({chosen}, {self.solution.n_edges} edges)"


class Selector(Settings):
    """Base of what chooses the penalty: settings, and a choice made of a task."""

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

    def keep_penalty(self, solution: Solution, stages: list[dict[str, Any]] | None, scale: float) -> Selector:
        """Return what gives a network at the penalty of one that was chosen, times ``scale``."""
        if not math.isfinite(solution.alpha):
            raise DataError(
                "reselect=False needs a method with one penalty for all pairs; this one has none that could be kept. "
                "Pass reselect=True, or the penalty as a number."
            )
        return Fixed(scale * float(solution.alpha))


class Given(Selector):
    """Base of selectors that have nothing to choose."""

    counts_rows = False

    @property
    def words(self) -> str:
        """How it is set, in words."""
        return "given"

    def keep_penalty(self, solution: Solution, stages: list[dict[str, Any]] | None, scale: float) -> Selector:
        """Return itself: a given penalty stays as it is."""
        return self


@settings
class Fixed(Given):
    """A penalty that is given.

    Examples
    --------
    >>> from isinglass import Fixed, Method
    >>> Method(selector=Fixed(0.1)).choose([[0, 0], [1, 1], [0, 0], [1, 1], [0, 1]]).alpha
    0.1
    """

    name = "given"
    alpha: float = option(default=0.05, help="The penalty, the same for all pairs.")

    def __post_init__(self) -> None:
        if not is_real(self.alpha) or not (np.isfinite(self.alpha) and self.alpha >= 0):
            raise ArgumentError("alpha", "must be a finite number that is not negative", self.alpha)
        object.__setattr__(self, "alpha", float(self.alpha))

    def choose(self, task: Task) -> Choice:
        """Return the network at this penalty."""
        return FixedChoice.of(task.path([self.alpha], start=None if task.near is None else task.near.solution))


@dataclass(frozen=True, eq=False, repr=False)
class FixedChoice(Choice):
    """A network at given penalties, with the regressions behind it if there are any."""

    fitted: Path | None = None  #: the path of one network that the path function returned

    @classmethod
    def of(cls, fitted: Path) -> FixedChoice:
        """Return the first network of a path."""
        return cls(fitted.solutions[0], fitted=fitted)


@settings
class KeptStages(Given):
    """The two-stage estimate at given penalties: what it chose for another table."""

    name = "kept"
    first_alpha: float = option(default=0.0, help="Penalty of stage 1.")
    alpha: float = option(default=0.0, help="Penalty of the stage that the network belongs to.")
    exponent: float = option(default=1.0, help="Exponent of the weights of stage 2; 0 is stage 1 itself.")

    def choose(self, task: Task) -> Choice:
        """Return the network of the stages at these penalties."""
        near = task.near or Near(None, None)
        if not self.exponent:
            return Choice(task.stage([self.alpha], start=near.solution).solutions[0])
        first = task.stage([self.first_alpha], start=near.first).solutions[0]
        if not first.n_edges:
            return Choice(first)
        return Choice(task.stage([self.alpha], self.exponent, first, start=near.solution).solutions[0])


@settings
class PerNode(Selector):
    """Every node chooses a penalty of its own by the extended BIC: with standardized penalties R's IsingFit."""

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
        chosen: dict[str, Any] = {"gamma": self.gamma, "alpha_min_ratio": self.alpha_min_ratio}
        return FixedChoice.of(choose_per_node(task.table, self.alphas, **chosen, **_regressions(task)))

    def keep_penalty(self, solution: Solution, stages: list[dict[str, Any]] | None, scale: float) -> Selector:
        """Return what fits every node at its penalty times ``scale``."""
        assert solution.alphas_per_node is not None
        return GivenPerNode(tuple((scale * np.asarray(solution.alphas_per_node)).tolist()))


@settings
class GivenPerNode(Given):
    """Regressions at given penalties, one per node: what `PerNode` chose for another table."""

    name = "given per node"
    alphas: tuple[float, ...] = option(default=(), help="The penalty of every node; NaN for constant columns.")

    def choose(self, task: Task) -> Choice:
        """Return the network at these penalties."""
        alphas: FloatArray = np.array(self.alphas)
        return Choice(nodewise_at(task.table, alphas, **_regressions(task)))


def _regressions(task: Task) -> dict[str, Any]:
    """Return the options of regressions with a penalty per node."""
    paths = task.paths
    if paths.estimator != "nodewise":
        raise ArgumentError("estimator", 'must be "nodewise" for a penalty per node', paths.estimator)
    limits = {"tol": paths.tolerance, "max_iter": 100 if paths.max_iter is None else paths.max_iter}
    return {"rule": paths.rule, "standardize": paths.standardized, "n_threads": task.run.n_threads, **limits}
