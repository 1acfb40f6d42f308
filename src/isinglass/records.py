"""What a fit keeps beside its network: of its table, of the choice of the penalty, and of missing cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from isinglass.arguments import require
from isinglass.arrays import AnyArray, FloatArray, Frozen, Mask, read_only
from isinglass.data import AnyTable, category_counts, pair_counts
from isinglass.data.weights import per_unit
from isinglass.errors import plural
from isinglass.json_text import JsonObject
from isinglass.network import Network
from isinglass.results import Path

MOST_PATTERNS = 10
"""Patterns of missing cells that a record lists."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TableSummary(Frozen):
    """Sums over the rows of a table, for the columns and edges of a network."""

    n_rows: float  #: number of rows of criteria: the sum of counts, or the effective one with sampling weights
    #: number of observations, such as respondents: rows with a positive weight, or the sum of counts; completed copies
    #: of a row are one observation
    n_observations: int
    weight_kind: str | None = None  #: what the row weights stand for, "counts" or "sampling"; None if there are none
    shares: FloatArray  #: share of every category of every column, in the flat layout of the variables
    pair_counts: tuple[AnyArray, ...]  #: for each edge the number of rows by category of its first and second column
    #: geometric mean over rows of the variance of every continuous column given the rest, in squared units of its
    #: scores; NaN for other columns, None without continuous ones
    conditional_variances: FloatArray | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        require(0 < self.n_rows < float("inf"), "The number of rows of a fit is positive.")
        require(self.n_observations > 0, "The number of observations of a fit is positive.")
        known = self.weight_kind in (None, "counts", "sampling")
        require(known, f"Weights are 'counts' or 'sampling', not {self.weight_kind!r}.")

    @classmethod
    def of(cls, table: AnyTable, network: Network, conditional_variances: FloatArray | None = None) -> TableSummary:
        """Count the rows of a table."""
        counted = table.counted(quiet=True)
        n_observations, weight_kind = count_observations(table)
        return cls(
            n_rows=counted.total_weight,
            n_observations=n_observations,
            weight_kind=weight_kind,
            shares=category_shares(table),
            pair_counts=pair_counts(counted, network.edge_index),
            conditional_variances=conditional_variances,
        )


def category_shares(table: AnyTable) -> FloatArray:
    """Return the share of every category of every column."""
    counted = table.counted(quiet=True)
    return category_counts(counted) / counted.total_weight


def count_observations(table: AnyTable) -> tuple[int, str | None]:
    """Return the number of observations of a table, copies of a row being one, and what its weights stand for."""
    counted = table.counted(quiet=True)
    kind = counted.weight_kind
    if not counted.is_whole:
        if counted.weights is None:
            return len(counted), None
        n_rows, are_ones = round(counted.total_weight), counted.weights.largest == 1.0
        if kind == "counts":
            return n_rows, None if are_ones and n_rows == len(counted) else kind
        return counted.weights.n_positive, kind
    if counted.sample_weight is None:
        return len(counted), None
    own = per_unit(counted.sample_weight, counted.units)
    if kind == "counts":
        return round(float(own.sum())), None if np.allclose(own, 1.0) else kind
    return int(np.count_nonzero(own)), kind


@dataclass(frozen=True, eq=False, kw_only=True)
class Missing(Frozen):
    """Which cells of a table were missing, and how they were treated."""

    treatment: str  #: "impute", "zero" or "drop"
    n_rows: int  #: rows of the table, those that were left out included
    n_cells: int  #: missing cells
    n_unlabeled: int = 0  #: rows that were left out because their group label is missing
    #: rows left out: those without any answer ("impute"), or with a missing cell or group label ("drop")
    n_left_out: int = 0
    n_holed: int = 0  #: rows that stayed and have a missing cell
    n_patterns: int = 0  #: sets of columns that are missing together
    #: share of missing cells of every column, in the rows that stayed; None where these have none left
    column_shares: FloatArray | None = None
    patterns: NDArray[np.bool_] | None = None  #: the most frequent of these sets, (n_shown, n_features)
    pattern_counts: NDArray[np.intp] | None = None  #: and the number of rows of each
    n_imputations: int = 0  #: "impute": completed tables
    settled: int = -1  #: round in which the network that cells are drawn from stopped moving; -1 if it never did
    is_cut: bool = False  #: whether a time limit ended the rounds
    noise: float = 0.0  #: root mean square Monte Carlo error of its parameters
    changes: FloatArray | None = None  #: root mean square by which they changed, round by round
    #: share of missing information of fields and of couplings, and the Monte Carlo errors of unpenalized couplings;
    #: NaN where there is no estimate, None where they were not computed
    column_information: FloatArray | None = None
    edge_information: FloatArray | None = None
    edge_noise: FloatArray | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        known = self.treatment in ("impute", "zero", "drop")
        require(known, f"Missing cells are treated by 'impute', 'zero' or 'drop', not by {self.treatment!r}.")

    @property
    def n_rounds(self) -> int:
        """Rounds of stochastic EM."""
        return 0 if self.changes is None else len(self.changes)

    @classmethod
    def of(cls, table: AnyTable) -> Missing | None:
        """Return what became of missing cells when a table was read; None if none were filled or dropped."""
        treatment = table.missing_treatment
        if treatment == "impute" and table.n_unlabeled and table.holes is None and table.drawn is None:
            treatment = "drop"  # no cell was missing, but labels of rows were
        if treatment not in ("zero", "drop"):
            return None
        if table.is_whole and table.filled is not None:
            return cls(treatment=treatment, **cls.count(table.filled))
        return cls(
            treatment=treatment,
            n_rows=len(table) + table.n_dropped,
            n_cells=table.n_missing,
            n_unlabeled=table.n_unlabeled,
            n_left_out=table.n_dropped,
        )

    @staticmethod
    def count(gone: Mask, n_empty: int = 0) -> JsonObject:
        """Return the counts of a record, given the missing cells of the rows that stayed.

        ``n_empty``: rows without any answer, which were left out.
        """
        bits, counts = np.unique(np.packbits(gone, axis=1), axis=0, return_counts=True)
        order = np.argsort(-counts, kind="stable")
        order = order[bits[order].any(axis=1)]  # patterns with a hole, the most frequent first
        shown = order[:MOST_PATTERNS]
        return {
            "n_rows": len(gone) + n_empty,
            "n_cells": int(gone.sum()) + n_empty * gone.shape[1],
            "n_left_out": n_empty,
            "n_holed": int(gone.any(axis=1).sum()),
            "n_patterns": len(order),
            "column_shares": gone.mean(axis=0),
            "patterns": read_only(np.unpackbits(bits[shown], axis=1, count=gone.shape[1]).astype(bool)),
            "pattern_counts": counts[shown],
        }


@dataclass(frozen=True, eq=False, repr=False)
class Stability(Frozen):
    """What `StARS` chose, and how well the subsamples agree along the grid.

    Parameters
    ----------
    alpha, index : float, int
        The choice, the smallest alpha whose ``monotone`` instability is at most ``threshold``, and its number.
    alphas, instability, monotone : ndarray of shape (n_alphas,)
        The grid, decreasing; D, the mean over pairs of 2 f (1 − f); and the largest D from the sparse end up to each
        alpha. NaN where not all subsamples were run.
    edge_frequencies : tuple of csr_array
        f, the share of subsamples with each pair, symmetric; one matrix for each alpha that all subsamples ran, from
        the sparse end.
    threshold : float
        Largest instability that counts as stable.
    subsample_size, n_subsamples, n_constant : int
        Rows in a subsample, number of subsamples, and of those in which a column is constant that varies in the table.
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

    def __post_init__(self) -> None:
        super().__post_init__()
        curves = self.instability.shape == self.monotone.shape == self.alphas.shape
        require(curves, "The instability of StARS has one value per alpha.")
        on_grid = 0 <= self.index < len(self.edge_frequencies) <= len(self.alphas)
        require(on_grid, "The choice of StARS is one of the alphas that all subsamples ran.")

    @property
    def n_fits(self) -> int:
        """Number of fits of a subsample at an alpha."""
        return self.n_subsamples * len(self.edge_frequencies)

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
