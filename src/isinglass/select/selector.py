"""What chooses the penalty: the base of all selectors, what they return, and those that have nothing to choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from isinglass.arguments import Options, check_count, check_not_negative
from isinglass.arrays import Frozen
from isinglass.data import AnyTable
from isinglass.errors import ArgumentError, join_words, plural
from isinglass.results import Path, Solution
from isinglass.select.settings import Settings
from isinglass.select.task import Task, WarmStart
from isinglass.selection_records import Evidence, Selection, Stability, TwoStageRecord
from isinglass.solve.following import MAX_STEPS
from isinglass.solve.nodewise import NodewiseSolver


@dataclass(frozen=True, eq=False, repr=False)
class Choice(Frozen):
    """The network that was chosen, and what it was chosen from and by."""

    path: Path  #: the networks that it was chosen from; it alone if its penalty was given
    index: int = 0  #: its number on the path
    evidence: Evidence | None = None  #: the curve that the penalty was read from
    stability: Stability | None = None  #: how far subsamples agreed
    left_out: tuple[str, ...] = ()  #: what there was no time for, in words

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
    def selection(self) -> Selection:
        """What a `Fit` keeps."""
        return Selection(
            path=None if self.is_given else self.path,
            evidence=self.evidence,
            stability=self.stability,
            stages=self.two_stage_record,
            left_out=join_words(self.left_out),
        )

    @property
    def warm_start(self) -> WarmStart:
        """Where the solver starts in a similar table."""
        return WarmStart(self.solution)

    def fixed(self, scale: float = 1.0) -> Selector:
        """Return the selector at the penalty that was chosen, times ``scale``."""
        per_node = self.solution.alphas_per_node
        if per_node is not None:
            return FixedPerNode(tuple((scale * np.asarray(per_node)).tolist()))
        return Fixed(scale * float(self.alpha))

    @property
    def two_stage_record(self) -> TwoStageRecord | None:
        """What each stage of the two-stage estimate tried, chose and proves; None for other selectors."""
        return None

    def __repr__(self) -> str:
        chosen = "a penalty per node" if np.isnan(self.alpha) else f"alpha={self.alpha:.6g}"
        if self.evidence is not None:
            said = ", ".join(f"{name}={value}" for name, value in self.evidence.settings.items())
            value = f"{self.evidence.kind}={self.evidence.values[self.index]:.6g}"
            chosen = f"{said}: {chosen}, number {self.index + 1} of {len(self.path)}, {value}"
        return f"{type(self).__name__}({chosen}, {plural(self.solution.n_edges, 'edge')})"


class Selector(Settings):
    """Base class of the selectors: a record of settings, with a method that chooses the penalty of a task."""

    name: ClassVar[str]  # what files and the command line call it
    is_given: ClassVar[bool] = False  # whether there is nothing to choose, so that only ratios of row weights matter
    keeps_time: ClassVar[bool] = False  # whether it returns the best network so far when the time is spent
    keeps_tasks: ClassVar[bool] = False  # whether a checkpoint keeps what it has finished
    keeps_errors: ClassVar[bool] = False  # whether its couplings are hardly shrunken and have standard errors

    @property
    def words(self) -> str:
        """How it is set, in words."""
        raise NotImplementedError

    def words_for(self, n_folds: int) -> str:
        """Return the same for the number of folds that there were."""
        return self.words

    def check(self, table: AnyTable) -> None:
        """Raise for a table that these settings are not for, before its missing cells are imputed."""

    def choose(self, task: Task) -> Choice:
        """Return the network of a task."""
        raise NotImplementedError


class Given(Selector):
    """Base class of the selectors that have nothing to choose."""

    is_given = True

    @property
    def words(self) -> str:
        """How it is set, in words."""
        return "given"

    def changed(self) -> Options:
        """Return all fields: what is given has no default that goes without saying."""
        return self.items()


@dataclass(frozen=True, eq=False, repr=False)
class Fixed(Given):
    """A penalty that is given.

    Parameters
    ----------
    alpha : float, default 0.05
        The penalty of all pairs.

    Examples
    --------
    >>> from isinglass import Fixed, Method
    >>> Method(selector=Fixed(0.1)).choose([[0, 0], [1, 1], [0, 0], [1, 1], [0, 1]]).alpha
    0.1
    """

    name = "given"
    alpha: float = 0.05

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", check_not_negative("alpha", self.alpha))

    def choose(self, task: Task) -> Choice:
        """Return the network at this penalty."""
        warm_start = task.warm_start
        return Choice(task.path([self.alpha], start=None if warm_start is None else warm_start.solution))


@dataclass(frozen=True, eq=False, repr=False)
class FixedPerNode(Given):
    """Penalties of the regressions of nodes, which were chosen for another table."""

    name = "given-per-node"
    alphas: tuple[float, ...]  #: one for each node, NaN for constant columns

    def choose(self, task: Task) -> Choice:
        """Return the network at these penalties."""
        return Choice(_regressions(task).at(task.table.whole(), self.alphas))


@dataclass(frozen=True, eq=False, repr=False)
class PerNode(Selector):
    """Every node chooses its own penalty by the extended BIC; with standardized penalties this is R's IsingFit.

    Parameters
    ----------
    alphas : int, default 100
        Length of every node's list of penalties, which ends at 0.0001 of its largest one, or at 0.01 with fewer rows
        than predictors.
    gamma : float, default 0.25
        Weight of the number of candidate models; 0 is the BIC.

    Examples
    --------
    >>> from isinglass import Method
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.integers(0, 2, (2, 500))
    >>> isingfit = Method("nodewise", PerNode(), penalty_weights="standardized")
    >>> network = isingfit.choose(np.column_stack([a, b, a ^ (rng.random(500) < 0.2)])).solution
    >>> network.edge_index.tolist(), network.alphas_per_node.shape
    ([[0, 2]], (3,))
    """

    name = "per-node"
    alphas: int = 100
    gamma: float = 0.25

    def __post_init__(self) -> None:
        check_count("alphas", self.alphas, least=2)
        check_not_negative("gamma", self.gamma)

    @property
    def words(self) -> str:
        """How it is set, in words."""
        return f"EBIC of every node, gamma {self.gamma:g}"

    def choose(self, task: Task) -> Choice:
        """Return the network of regressions that each chose their penalty."""
        return Choice(_regressions(task).choose(task.table.whole(), self.alphas, self.gamma))


def _regressions(task: Task) -> NodewiseSolver:
    """Return how regressions with a penalty per node are solved."""
    paths = task.paths
    if paths.estimator != "nodewise":
        raise ArgumentError("estimator", 'must be "nodewise" for a penalty per node', paths.estimator)
    max_iter = MAX_STEPS if paths.max_iter is None else paths.max_iter
    return NodewiseSolver(paths.rule, paths.standardized, paths.tolerance, max_iter, task.run.n_threads)
