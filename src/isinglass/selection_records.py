"""How a network was chosen: the curves, stages and subsamples that a fit keeps, and estimates without penalty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from isinglass.arguments import require
from isinglass.arrays import FloatArray, Frozen, Mask
from isinglass.errors import plural
from isinglass.results import Path


@dataclass(frozen=True, eq=False, repr=False)
class Stability(Frozen):
    """What `StARS` chose, and how well the subsamples agree along the grid.

    Parameters
    ----------
    alpha : float
        The choice: the smallest alpha whose ``monotone`` instability is at most ``threshold``.
    index : int
        Its number in ``alphas``.
    alphas : ndarray of shape (n_alphas,)
        The grid, decreasing.
    instability : ndarray of shape (n_alphas,)
        D, the mean over pairs of 2 f (1 − f); NaN where not all subsamples were run.
    monotone : ndarray of shape (n_alphas,)
        Largest D from the sparse end up to each alpha; NaN where not all subsamples were run.
    edge_frequencies : tuple of csr_array
        f, the share of subsamples with each pair, symmetric; one matrix for each alpha that all subsamples ran, from
        the sparse end.
    threshold : float
        Largest instability that counts as stable.
    subsample_size, n_subsamples : int
        Rows in a subsample, and number of subsamples.
    n_constant : int
        Subsamples in which a column is constant that varies in the table.
    """

    alpha: float
    index: int
    alphas: FloatArray
    instability: FloatArray
    monotone: FloatArray
    edge_frequencies: tuple[sp.csr_array, ...]
    threshold: float
    subsample_size: int
    n_subsamples: int
    n_constant: int

    @property
    def n_fits(self) -> int:
        """Number of fits of a subsample at an alpha."""
        return self.n_subsamples * len(self.edge_frequencies)

    def take(self, columns: NDArray[np.intp]) -> Stability:
        """Return the shares of pairs of some columns."""
        shares = tuple(sp.csr_array(each[columns][:, columns]) for each in self.edge_frequencies)
        return replace(self, edge_frequencies=shares)

    def __post_init__(self) -> None:
        super().__post_init__()
        curves = self.instability.shape == self.monotone.shape == self.alphas.shape
        require(curves, "The instability of StARS has one value per alpha.")
        on_grid = 0 <= self.index < len(self.edge_frequencies) <= len(self.alphas)
        require(on_grid, "The choice of StARS is one of the alphas that all subsamples ran.")

    def frequencies(self, index: int | None = None) -> FloatArray:
        """Return the share of subsamples with each pair as a dense symmetric matrix, at the choice or at an alpha."""
        shares = self.edge_frequencies[self.index if index is None else index]
        return np.asarray(shares.toarray(), dtype=np.float64)

    def __repr__(self) -> str:
        return (
            f"Stability(alpha={self.alpha:.6g}: number {self.index + 1} of {len(self.alphas)}, "
            f"instability={self.monotone[self.index]:.3g} (threshold {self.threshold:g}), "
            f"{self.n_subsamples} subsamples of {self.subsample_size} rows, {self.n_fits} fits)"
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence(Frozen):
    """The curve by which a penalty was chosen."""

    #: extended BIC, where smaller is better; or log pseudo-likelihood of held-out rows, where larger is
    kind: Literal["ebic", "score"]
    alphas: FloatArray  #: the penalties
    values: FloatArray  #: the value of the criterion at each
    choice: int  #: number of the alpha that was chosen
    errors: FloatArray | None = None  #: standard errors of the values
    #: what the criterion was set to: gamma, or the rule; of two stages the reason of the choice
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        curves = [self.values] if self.errors is None else [self.values, self.errors]
        same = all(curve.shape == self.alphas.shape for curve in curves)
        require(same and 0 <= self.choice < len(self.alphas), "A curve has one value per alpha, and chooses one.")


Reason = Literal["ebic", "prediction", "empty", "time"]
"""Why the two-stage estimate took a network: see `TwoStageChoice`."""
_CHOSEN: Mapping[Reason, str] = {
    "ebic": "by the EBIC",
    "prediction": "by prediction",
    "empty": "by prediction",
    "time": "when the time limit was reached",
}


@dataclass(frozen=True, kw_only=True)
class StageRecord:
    """What one stage of the two-stage estimate tried, chose and proves."""

    criterion: str  #: what chose in it, "aic" or "ebic"
    #: pairs are penalized in proportion to ``1 / abs(coupling of stage 1) ** exponent``; 0 is stage 1 itself
    exponent: float
    n_alphas: int  #: networks that were compared
    alpha: float  #: penalty of the choice
    n_edges: int  #: number of its edges
    score: float  #: its value of the criterion
    #: its cross-validated gain in log pseudo-likelihood per row over independent columns; NaN where it was not needed
    held_out: float
    kkt_residual: float  #: largest violation of its optimality conditions
    duality_gap: float  #: bound on how far its objective is above the minimum
    converged: bool  #: whether both are within the tolerance

    @property
    def name(self) -> str:
        """The criterion, and whether weights are weaker than those of the adaptive lasso."""
        return self.criterion.upper() + (" with weaker weights" if 0.0 < self.exponent < 1.0 else "")


@dataclass(frozen=True, kw_only=True)
class TwoStageRecord:
    """How the two-stage estimate came to its network."""

    each: tuple[StageRecord, ...]  #: stage 1, and stage 2 with full and, if that was needed, with gentle weights
    number: int  #: which of these the network is from, counted from 0
    reason: Reason  #: why it was taken
    keep: float  #: share of the best cross-validated gain that it had to keep
    n_folds: int  #: folds of the cross-validation; 0 if there was none
    n_sampled: int  #: rows of the sample that was searched and checked; 0: all rows

    def __post_init__(self) -> None:
        require(0 <= self.number < len(self.each), "The network of a two-stage estimate is from one of its stages.")

    @property
    def chosen(self) -> StageRecord:
        """The stage that the network is from."""
        return self.each[self.number]

    @property
    def ended_first(self) -> bool:
        """Whether stage 1 found no edges, so that there was no second stage and no check by prediction."""
        return self.each[0].n_edges == 0 and self.reason == "empty"

    def describe(self, n_edges: int) -> str:
        """Say in words what the stages found, and by what the network was chosen, which has ``n_edges``."""
        found = "; ".join(f"{stage.name}: {plural(stage.n_edges, 'edge')}" for stage in self.each)
        if self.ended_first:
            return f"{found}, so there was no second stage"
        return f"{found}; chosen {_CHOSEN[self.reason]}: {plural(n_edges, 'edge')}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Selection(Frozen):
    """What a penalty was chosen from, and by what; empty where it was given."""

    path: Path | None = None  #: the networks along the penalty
    evidence: Evidence | None = None  #: the curve by which the penalty was chosen
    stability: Stability | None = None  #: how well the subsamples agree
    stages: TwoStageRecord | None = None  #: what each stage of the default estimate chose, and why
    #: what the time limit (``Run.max_time``) left out, in words; such a fit may differ from one run to the next
    left_out: str = ""

    def without_covariates(self, is_modeled: Mask) -> Selection:
        """Return the same of the variables that are modeled."""
        stability = self.stability and self.stability.take(np.flatnonzero(is_modeled))
        return replace(self, path=None if self.path is None else self.path.without_covariates(), stability=stability)


@dataclass(frozen=True, eq=False, kw_only=True)
class Refits(Frozen):
    """Couplings estimated without penalty on the edges of a network, with standard errors; NaN where infinite.

    Norms where a pair has more than one parameter. Couplings with covariates are in the order of
    ``network.covariate_pairs``.
    """

    edges: FloatArray  #: the couplings of the edges
    edge_errors: FloatArray  #: their standard errors
    covariates: FloatArray  #: the couplings with covariates
    covariate_errors: FloatArray  #: their standard errors
