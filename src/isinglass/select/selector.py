"""What chooses the penalty: the base of all selectors, what they return, and those of penalties that are given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from isinglass.arguments import Options, check_count, check_not_negative, is_real
from isinglass.arrays import Frozen
from isinglass.data import AnyTable
from isinglass.errors import ArgumentError, join_words, plural
from isinglass.records import Evidence, Selection, Stability
from isinglass.results import Path, Solution
from isinglass.select.settings import Settings
from isinglass.select.task import Task, WarmStart
from isinglass.solve.alphas import MAX_STEPS
from isinglass.solve.nodewise import NodewiseSettings, choose_per_node, network_at


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
    def selection(self) -> Selection:
        """What a `Fit` keeps."""
        is_given = len(self.path) == 1 and self.evidence is None and self.stability is None
        path, left_out = None if is_given else self.path, join_words(self.left_out)
        return Selection(path=path, evidence=self.evidence, stability=self.stability, left_out=left_out)

    @property
    def warm_start(self) -> WarmStart:
        """Where the solver starts in a similar table."""
        return WarmStart(self.solution)

    def fixed(self, scale: float = 1.0) -> Selector:
        """Return the selector at the penalty that was chosen, times ``scale``."""
        per_node = self.solution.alphas_per_node
        return Fixed(scale * self.alpha if per_node is None else tuple((scale * np.asarray(per_node)).tolist()))

    def __repr__(self) -> str:
        chosen = "a penalty per node" if np.isnan(self.alpha) else f"alpha={self.alpha:.6g}"
        if self.evidence is not None:
            value = f"{self.evidence.kind}={self.evidence.values[self.index]:.6g}"
            chosen = f"{chosen}, number {self.index + 1} of {len(self.path)}, {value}"
        return f"{type(self).__name__}({chosen}, {plural(self.solution.n_edges, 'edge')})"


class Selector(Settings):
    """Base class of the selectors: a record of settings, with a method that chooses the penalty of a task."""

    name: ClassVar[str]  # what files and the command line call it
    is_given: ClassVar[bool] = False  # whether there is nothing to choose, so that only ratios of row weights matter
    has_stages: ClassVar[bool] = False  # whether its network is of two stages, whose edges are estimated again
    keeps_time: ClassVar[bool] = False  # whether it returns the best network so far when the time is spent
    keeps_tasks: ClassVar[bool] = False  # whether a checkpoint keeps what it has finished

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


@dataclass(frozen=True, eq=False, repr=False)
class Fixed(Selector):
    """A penalty that is given.

    Parameters
    ----------
    alpha : float or tuple of float, default 0.05
        The penalty of all pairs; or of the regression of every node, NaN for constant columns.

    Examples
    --------
    >>> from isinglass import Fixed, Method
    >>> Method(selector=Fixed(0.1)).choose([[0, 0], [1, 1], [0, 0], [1, 1], [0, 1]]).alpha
    0.1
    """

    name = "given"
    is_given = True
    alpha: float | tuple[float, ...] = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.alpha, tuple):
            check_not_negative("alpha", self.alpha)
        elif not all(is_real(alpha) and (alpha != alpha or 0 <= alpha < np.inf) for alpha in self.alpha):
            raise ArgumentError("alpha", "must be finite and not negative, or NaN", self.alpha)

    @property
    def words(self) -> str:
        """How it is set, in words."""
        return "given"

    def changed(self) -> Options:
        """Return the fields that say something: the penalty has no default that goes without saying."""
        return {"alpha": self.alpha, **super().changed()}

    def choose(self, task: Task) -> Choice:
        """Return the network at these penalties."""
        if isinstance(self.alpha, tuple):
            return Choice(network_at(task.table.whole(), self.alpha, _regressions(task)))
        return Choice(task.path([self.alpha], start=task.warm_start.solution))


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
        super().__post_init__()
        check_count("alphas", self.alphas, least=2)
        check_not_negative("gamma", self.gamma)

    @property
    def words(self) -> str:
        """How it is set, in words."""
        return f"EBIC of every node, gamma {self.gamma:g}"

    def choose(self, task: Task) -> Choice:
        """Return the network of regressions that each chose their penalty."""
        return Choice(choose_per_node(task.table.whole(), self.alphas, self.gamma, _regressions(task)))


def _regressions(task: Task) -> NodewiseSettings:
    """Return how regressions with a penalty per node are solved."""
    paths = task.paths
    if paths.estimator != "nodewise":
        raise ArgumentError("estimator", 'must be "nodewise" for a penalty per node', paths.estimator)
    max_iter = MAX_STEPS if paths.max_iter is None else paths.max_iter
    return NodewiseSettings(paths.rule, paths.standardized, paths.tolerance, max_iter, task.run.n_threads)
