"""The default estimate: a lasso to see which pairs matter, a reweighted one to estimate them, a check by prediction.

Why it is built this way, and what it was measured against, is in docs/selection.md; the protocol of the measurements is
docs/choosing-protocol.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isinglass.arguments import RandomSource, check_count
from isinglass.arrays import FloatArray, Frozen
from isinglass.data import to_counted, units_of
from isinglass.errors import ArgumentError, ConstantColumnWarning, suppress_warnings
from isinglass.results import Path, Solution
from isinglass.select.contract import PathFunction
from isinglass.select.judging import EXPONENTS, SMALL, Judge, split_folds
from isinglass.select.refit import standard_errors
from isinglass.select.scoring import EdgePrice, edge_price
from isinglass.select.stages import Case, Stage
from isinglass.solve.path import ising_path

KEEP, KEEP_IF_FEW_ROWS = 0.95, 0.85
"""Share of the best cross-validated gain that the network must keep; the second with no more rows than columns."""
DOUBT = 2.0
"""Standard errors by which another network must predict better before the choice of the EBIC is given up."""


@dataclass(frozen=True, eq=False, repr=False)
class TwoStage(Frozen):
    """The network that the two-stage estimate chose, and how."""

    #: Stage 1, then stage 2 with full and, if that was needed, with gentle weights. Only stage 1 if that is empty.
    stages: tuple[Stage, ...]
    stage: int  #: where the network is: the number of the stage (from 0), and of the solution on its path
    index: int
    #: the network with the smallest EBIC of stage 2; the sparsest that keeps the share ``keep`` of the cross-validated
    #: gain, because that one does not; or none, because nothing predicts held-out rows better than no edges
    reason: str
    gamma: float  #: the settings that were used
    keep: float
    n_folds: int  #: of the cross-validation; 0 if there was none
    #: cross-validated log pseudo-likelihood per row of independent columns, which gains are gains over; NaN without
    #: cross-validation
    independent: float
    #: standard errors of the couplings; NaN where the unpenalized estimate is infinite, or if not asked for
    edge_errors: FloatArray = field(default_factory=lambda: np.empty(0))

    @property
    def path(self) -> Path:
        """The path that the network belongs to."""
        return self.stages[self.stage].path

    @property
    def solution(self) -> Solution:
        """The network, with its certificate."""
        return self.path.solutions[self.index]

    @property
    def held_out(self) -> float:
        """Its cross-validated log pseudo-likelihood per row; NaN if there was no cross-validation."""
        return self.independent + float(self.stages[self.stage].held_out[self.index])

    @property
    def alpha(self) -> float:
        """Its penalty, in the units of its stage."""
        return self.solution.alpha

    def __repr__(self) -> str:
        head = f"TwoStage({self.solution.n_edges} edges among {self.solution.n_features} nodes, by {self.reason})"
        return "\n".join([head, *(f"  {stage!r}" for stage in self.stages)])


def two_stage(
    X: ArrayLike,
    *,
    alphas: int | float | ArrayLike = 30,
    gamma: float = 0.25,
    keep: float | None = None,
    n_folds: int = 5,
    path_function: PathFunction = ising_path,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    errors: bool = True,
    random_state: RandomSource = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> TwoStage:
    """Choose and estimate a network: the default of this package.

    Stage 1 follows the lasso path to the alpha with the smallest AIC, dense enough to miss little. Stage 2 penalizes
    the pairs it found in proportion to 1 / abs(coupling), forbids all others, and takes the smallest extended BIC: few
    false edges, and strong couplings that are hardly shrunken. Then cross-validation asks whether that network keeps
    most of what can be predicted. If it clearly does not, because many weak dependencies are spread over the table, the
    sparsest network that does is taken instead: from stage 2, from stage 2 with weights 1 / sqrt(abs(coupling)), or
    from stage 1. The norm of its block takes the place of abs(coupling) where a pair has more than one parameter.

    Every network is the optimum of a convex problem and has its certificate. The number and the ends of the alphas
    hardly matter: the paths go as far as they need, and are filled in around the choice.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Table of 0 and 1, or a CategoryTable; a table that has weights brings them along.
    alphas : int, float or array-like, default 30
        How close the alphas of stage 1 are in a first pass: as this many from the smallest alpha without edges to its
        hundredth. Or these alphas themselves.
    gamma : float, default 0.25
        Weight of the number of candidate networks in the EBIC of stage 2; larger values choose fewer edges.
    keep : float, optional
        Share of the best cross-validated gain that the network must keep; 0 leaves the choice to the EBIC alone.
        Default 0.95, or 0.85 with no more rows than columns.
    n_folds : int, default 5
        Parts into which the rows are split; fewer if there are fewer rows.
    path_function : callable, default ising_path
        With the parameters ``penalty_weights`` and ``sample_weight``; use `functools.partial` to set others.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, as for `ebic`.
    groups : array-like of shape (n_samples,), optional
        Rows with equal entries stay in one fold; by default the copies of a row in a completed table. Without groups,
        the equal rows that a count stands for are divided among the folds.
    errors : bool, default True
        Whether to compute standard errors.
    random_state : int, Generator, RandomState, SeedSequence or None, default 0
        Seed of the folds.
    n_jobs, progress
        As for `bootstrap`, with folds instead of resamples.

    Examples
    --------
    >>> from isinglass import simulate
    >>> X = simulate.exact_sample(simulate.chain_network(6, strength=1.5, fields="balanced"), 1000, random_state=0)
    >>> found = two_stage(X)
    >>> found.solution.edge_index.tolist(), found.reason
    ([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]], 'ebic')
    """
    table, weight = to_counted(X, sample_weight)
    if keep is not None and not 0 <= keep <= 1:
        raise ArgumentError("keep", "must be from 0 to 1", keep)
    case = Case(table, weight, path_function)
    share = (KEEP if case.n_rows > table.shape[1] else KEEP_IF_FEW_ROWS) if keep is None else float(keep)
    price = edge_price(table, weight, gamma)
    units = units_of(X)
    labels = units if groups is None else groups
    folds = split_folds(table, weight, labels, check_count("n_folds", n_folds, least=2), random_state)
    first = case.search_first(alphas)
    jobs = 1 if math.prod(table.shape) < SMALL else n_jobs
    judge = Judge(case, first.solution, folds if share > 0 else [], jobs, progress)
    with suppress_warnings(ConstantColumnWarning):  # stage 1 has given it
        stages, number, index, reason = _decide(judge, first, price, share)
        found = TwoStage(tuple(stages), number, index, reason, float(gamma), share, len(judge.known), judge.independent)
        n_edges = found.solution.n_edges
        spread = standard_errors(found.solution, table, weight, units) if errors else np.full(n_edges, np.nan)
    return replace(found, edge_errors=spread)


def _decide(judge: Judge, first: Stage, price: EdgePrice, keep: float) -> tuple[list[Stage], int, int, str]:
    """Return the stages with their held-out gains, the place of the choice among them, and the reason for it."""
    if first.solution.n_edges == 0:
        return [first], 0, first.index, "empty"
    second = judge.case.search_second(first.solution, EXPONENTS[0], price)
    if not judge.folds:
        return [first, second], 1, second.index, "ebic"
    judge.reference = second.solution.alpha
    stages = judge.judge([first, second])
    gain = stages[1].held_out[second.index]
    best, error = judge.best(stages)
    if best - gain <= max((1.0 - keep) * best, DOUBT * error):
        return stages, 1, second.index, "ebic"
    if best == 0.0:
        return stages, 1, 0, "empty"
    gentle = judge.case.search_second(judge.first, EXPONENTS[1], price)
    stages += judge.judge([gentle])
    best, _ = judge.best(stages)
    good = [
        (stage.path[k].n_edges, -stage.held_out[k], number, k)
        for number, stage in enumerate(stages)
        for k in np.flatnonzero(stage.held_out >= keep * best).tolist()
    ]
    _, _, number, index = min(good)
    return stages, number, index, "prediction"


def network_ebic(found: TwoStage, table: Any, weight: FloatArray | None) -> FloatArray:
    """Return the extended BIC of the networks on the path that the network belongs to."""
    stage = found.stages[found.stage]
    price = edge_price(table, weight, found.gamma)
    return np.asarray(stage.deviances + [price.of(solution) for solution in stage.path])


def describe_stages(found: TwoStage) -> list[dict[str, Any]]:
    """Return what each stage tried, chose and proves, as plain values."""
    return [
        {
            "criterion": stage.criterion,
            "exponent": stage.exponent,
            "n_alphas": len(stage.path),
            "alpha": stage.solution.alpha,
            "n_edges": stage.solution.n_edges,
            "score": float(stage.scores[stage.index]),
            "held_out": float(stage.held_out[stage.index]),
            "extended": stage.extended,
            "kkt_residual": stage.solution.kkt_residual,
            "duality_gap": stage.solution.duality_gap,
            "converged": bool(stage.solution.converged),
            "network": number == found.stage,
            "reason": found.reason if number == found.stage else "",
        }
        for number, stage in enumerate(found.stages)
    ]
