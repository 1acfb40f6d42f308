"""Frozen results: what the path functions return, with the certificate of every solution."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, Self, TypeVar, overload

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from isinglass.arguments import require
from isinglass.arrays import AnyArray, FloatArray, Frozen, Mask, read_only
from isinglass.data import AnyTable
from isinglass.json_text import JsonObject
from isinglass.network import Network
from isinglass.variables import Variables

Value = TypeVar("Value")
Counts = NDArray[np.int64]
MOST_PATTERNS = 10
"""Patterns of missing cells that a record lists."""


class Attribute(Generic[Value]):
    """An attribute that is computed from others: a property that type checkers know the value of."""

    def __init__(self, compute: Callable[..., Value], doc: str) -> None:
        self.compute, self.__doc__ = compute, doc

    @overload
    def __get__(self, record: None, owner: type) -> Self: ...

    @overload
    def __get__(self, record: object, owner: type) -> Value: ...

    def __get__(self, record: object | None, owner: type) -> Self | Value:
        return self if record is None else self.compute(record)


@dataclass(frozen=True, eq=False, repr=False)
class Solution(Frozen):
    """The network at one ``alpha``, with its certificate: a bound on its distance from the optimum.

    Parameters
    ----------
    network : Network
        The network. Its parts are also attributes of the solution: ``fields``, ``edge_index``, ``edge_values``,
        ``names``, ``couplings``.
    alpha : float
        Penalty strength (the paper's λ).
    objective : float
        F(Θ), loss plus penalty.
    kkt_residual : float
        Largest violation of the optimality conditions over all pairs and fields.
    duality_gap : float
        F(Θ) minus a lower bound of the minimum of F.
    certified_zeros : int
        Number of pairs proved to be zero in every optimum.
    n_iter : int
        Newton steps, or iterations of the method that produced it.
    n_screened : int
        Pairs that never entered the working set.
    converged : bool
        Whether the relative gap and the KKT residual are both at most the tolerance.
    alphas_per_node : ndarray of shape (n_features,), optional
        Only where every node chose a penalty of its own (``alpha`` is then NaN); NaN for constant columns.
    """

    network: Network
    alpha: float
    objective: float = float("nan")
    kkt_residual: float = float("nan")
    duality_gap: float = float("nan")
    certified_zeros: int = 0
    n_iter: int = 0
    n_screened: int = 0
    converged: bool = False
    alphas_per_node: FloatArray | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        require(not self.alpha < 0.0, f"The penalty strength of a network is not negative; got {self.alpha}.")

    @classmethod
    def from_dense(
        cls,
        alpha: float,
        couplings: FloatArray,
        fields: FloatArray,
        variables: Variables | None = None,
        *,
        objective: float = float("nan"),
        kkt_residual: float = float("nan"),
        duality_gap: float = float("nan"),
        certified_zeros: int = 0,
        n_iter: int = 0,
        converged: bool = False,
    ) -> Solution:
        """Keep the non-zero upper triangle of a dense coupling matrix of two-valued columns."""
        index = np.argwhere(np.triu(couplings, 1))
        network = Network(fields, index, couplings[index[:, 0], index[:, 1]], variables=variables)
        proof = objective, kkt_residual, duality_gap, certified_zeros
        return cls(network, float(alpha), *proof, n_iter=n_iter, converged=converged)

    # Parts of the network, under their names there.
    fields = Attribute[FloatArray](lambda self: self.network.fields, "θ_ss.")
    edge_index = Attribute[NDArray[np.int32]](lambda self: self.network.edge_index, "Pairs s < t that have an edge.")
    edge_values = Attribute[FloatArray](lambda self: self.network.edge_values, "θ_st of these pairs.")
    names = Attribute[tuple[str, ...]](lambda self: self.network.names, "Names of the nodes.")
    n_features = Attribute[int](lambda self: self.network.n_features, "Number of nodes, isolated ones included.")
    n_edges = Attribute[int](lambda self: self.network.n_edges, "Number of non-zero couplings.")
    couplings = Attribute[FloatArray](lambda self: self.network.couplings, "Dense symmetric coupling matrix.")
    couplings_sparse = Attribute[sp.csr_array](
        lambda self: self.network.couplings_sparse, "The same, in compressed rows."
    )

    def without_covariates(self) -> Solution:
        """Return the solution with the network of the variables that are modeled."""
        smaller = self.network.without_covariates()
        return self if smaller is self.network else replace(self, network=smaller)

    def with_names(self, names: Sequence[str] | None) -> Solution:
        """Return the same solution with other names of the nodes; None keeps those it has."""
        return self if names is None else replace(self, network=self.network.with_names(names))

    def __repr__(self) -> str:
        state = "converged" if self.converged else "NOT converged"
        return (
            f"Solution(alpha={self.alpha:.6g}: {self.n_edges} edges among {self.network.n_nodes} nodes, {state}, "
            f"objective={self.objective:.8g}, kkt_residual={self.kkt_residual:.1e}, "
            f"duality_gap={self.duality_gap:.1e})"
        )


def solution_of(found: object) -> Solution | None:
    """Return a solution, or that of a fit or an estimator; None of what has none."""
    for name in ("solution_", "solution"):
        found = getattr(found, name, found)
    return found if isinstance(found, Solution) else None


@dataclass(frozen=True, eq=False, repr=False)
class Path(Sequence[Solution]):
    """Solutions along decreasing ``alpha``; diagnostics are also available as columns.

    Parameters
    ----------
    solutions : tuple of Solution
        One per alpha, from the sparse end to the dense end.
    tol : float
        The tolerance their ``converged`` refers to.
    """

    solutions: tuple[Solution, ...]
    tol: float = float("nan")

    def _column(self, name: str) -> AnyArray:
        return read_only(np.array([getattr(solution, name) for solution in self.solutions]))

    alphas = Attribute[FloatArray](lambda self: self._column("alpha"), "Penalty strengths, decreasing.")
    n_edges = Attribute[Counts](lambda self: self._column("n_edges"), "Edges per alpha.")
    objective = Attribute[FloatArray](lambda self: self._column("objective"), "F per alpha.")
    kkt_residual = Attribute[FloatArray](lambda self: self._column("kkt_residual"), "KKT residual per alpha.")
    duality_gap = Attribute[FloatArray](lambda self: self._column("duality_gap"), "Duality gap per alpha.")
    certified_zeros = Attribute[Counts](lambda self: self._column("certified_zeros"), "Proved zeros per alpha.")
    n_iter = Attribute[Counts](lambda self: self._column("n_iter"), "Iterations per alpha.")
    n_screened = Attribute[Counts](lambda self: self._column("n_screened"), "Pairs screened out per alpha.")
    converged = Attribute[Mask](lambda self: self._column("converged"), "Whether each solution converged.")

    def without_covariates(self) -> Path:
        """Return the path with networks of the variables that are modeled."""
        return replace(self, solutions=tuple(solution.without_covariates() for solution in self))

    def with_names(self, names: Sequence[str] | None) -> Path:
        """Return the same path with other names of the nodes; None keeps those it has."""
        return replace(self, solutions=tuple(solution.with_names(names) for solution in self))

    def __len__(self) -> int:
        return len(self.solutions)

    @overload
    def __getitem__(self, index: int) -> Solution: ...

    @overload
    def __getitem__(self, index: slice) -> Path: ...

    def __getitem__(self, index: int | slice) -> Solution | Path:
        if isinstance(index, slice):
            return Path(self.solutions[index], tol=self.tol)
        return self.solutions[index]

    def __repr__(self) -> str:
        if not self.solutions:
            return "Path(empty)"
        first, last = self.solutions[0], self.solutions[-1]
        return (
            f"Path({len(self)} alphas {first.alpha:.4g} … {last.alpha:.4g}, "
            f"{first.n_edges} … {last.n_edges} edges among {last.network.n_nodes} nodes, "
            f"{int(sum(s.converged for s in self))} of {len(self)} converged, "
            f"largest kkt_residual={max(s.kkt_residual for s in self):.1e})"
        )


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
    dense_end : float
        The choice that the first two subsamples proposed; the last alpha if they were not asked.
    n_extensions : int
        How often the grid had to be followed further than they proposed.
    n_fits, n_fits_saved : int
        Fits of a subsample at an alpha, and the number of fits saved (negative if extensions cost more than that).
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
    dense_end: float
    n_extensions: int
    n_fits: int
    n_fits_saved: int
    n_constant: int

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
            f"Stability(alpha={self.alpha:.6g}: number {self.index} of {len(self.alphas)}, "
            f"instability={self.monotone[self.index]:.3g} (threshold {self.threshold:g}), "
            f"{self.n_subsamples} subsamples of {self.subsample_size} rows, {self.n_fits} fits, "
            f"{self.n_fits_saved} saved)"
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence(Frozen):
    """The curve by which a penalty was chosen."""

    kind: str  #: extended BIC, where smaller is better; or log pseudo-likelihood of held-out rows, where larger is
    alphas: FloatArray  #: the curve
    values: FloatArray
    choice: int  #: number of the alpha that was chosen
    errors: FloatArray | None = None  #: standard errors of the values
    #: what the criterion was set to: gamma and relaxed, or the rule; of two stages the reason of the choice
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.kind in ("ebic", "score"), f"The kind of a curve is 'ebic' or 'score', not {self.kind!r}.")
        shapes = self.values.shape == self.alphas.shape and (
            self.errors is None or self.errors.shape == self.alphas.shape
        )
        require(
            shapes and 0 <= self.choice < len(self.alphas), "A curve has one value per alpha, and chooses one of them."
        )


Reason = Literal["ebic", "prediction", "empty", "time"]
"""Why the two-stage estimate took a network: it has the smallest EBIC; it is the sparsest that predicts well, because
that one does not; there is none, as stage 1 found no edges or no network predicts better than no edges; or the time
was spent."""


@dataclass(frozen=True, kw_only=True)
class StageRecord:
    """What one stage of the two-stage estimate tried, chose and proves."""

    criterion: str  #: what chose in it, "aic" or "ebic"
    #: pairs are penalized in proportion to ``1 / abs(coupling of stage 1) ** exponent``; 0 is stage 1 itself
    exponent: float
    n_alphas: int  #: networks that were compared
    alpha: float  #: penalty of the choice, its number of edges, and the value of the criterion
    n_edges: int
    score: float
    #: its cross-validated gain in log pseudo-likelihood per row over independent columns; NaN where it was not needed
    held_out: float
    extended: bool  #: whether it lies below a hundredth of the first alpha, the usual end of a grid
    kkt_residual: float  #: its certificate
    duality_gap: float
    converged: bool


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


@dataclass(frozen=True, eq=False, kw_only=True)
class Selection(Frozen):
    """What a penalty was chosen from, and by what; empty where it was given."""

    path: Path | None = None  #: the networks along the penalty
    evidence: Evidence | None = None  #: the curve by which the penalty was chosen
    stability: Stability | None = None  #: how well the subsamples agree
    stages: TwoStageRecord | None = None  #: what each stage of the default estimate chose, and why
    #: what the time limit (``Run.max_time``) left out, in words; such a fit may differ from one run to the next
    left_out: str = ""

    def require_fit(self, n_features: int) -> None:
        """Refuse a network with another number of columns."""
        same = self.path is None or all(solution.n_features == n_features for solution in self.path)
        require(same, "All networks along the path of a fit have the same columns.")
        shares = () if self.stability is None else self.stability.edge_frequencies
        square = all(each.shape == (n_features, n_features) for each in shares)
        require(square, "The stability of a fit has one share for every pair of columns.")

    def without_covariates(self, is_modelled: Mask) -> Selection:
        """Return the same of the variables that are modeled."""
        stability = self.stability and self.stability.take(np.flatnonzero(is_modelled))
        return replace(self, path=None if self.path is None else self.path.without_covariates(), stability=stability)


@dataclass(frozen=True, eq=False, kw_only=True)
class Refits(Frozen):
    """Couplings estimated without penalty on the edges of a network, with standard errors; NaN where infinite.

    Norms where a pair has more than one parameter. Couplings with covariates are in the order of
    ``network.covariate_pairs``.
    """

    edges: FloatArray  #: the couplings of the edges, and their standard errors
    edge_errors: FloatArray
    covariates: FloatArray  #: those with covariates
    covariate_errors: FloatArray

    def require_fit(self, n_edges: int, n_covariate_pairs: int) -> None:
        """Refuse a network with other numbers of couplings."""
        of_edges = self.edges.shape == self.edge_errors.shape == (n_edges,)
        require(of_edges, f"The refits of a fit are vectors of {n_edges} numbers, one per edge.")
        of_others = self.covariates.shape == self.covariate_errors.shape == (n_covariate_pairs,)
        require(of_others, f"Its refits with covariates are vectors of {n_covariate_pairs} numbers.")
        negative = (self.edge_errors < 0).any() or (self.covariate_errors < 0).any()
        require(not negative, "Standard errors are not negative.")


def hole_patterns(gone: Mask, most: int) -> tuple[Mask, NDArray[np.intp], int]:
    """Return the columns that are missing together: patterns with a hole, the most frequent first, and their rows.

    At most ``most`` of them; the third value is how many there are.

    Examples
    --------
    >>> patterns, counts, n_patterns = hole_patterns(np.array([[1, 0], [0, 0], [1, 0], [1, 1]], dtype=bool), 1)
    >>> patterns.tolist(), counts.tolist(), n_patterns
    ([[True, False]], [2], 2)
    """
    bits, counts = np.unique(np.packbits(gone, axis=1), axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    order = order[bits[order].any(axis=1)]
    patterns = np.unpackbits(bits[order[:most]], axis=1, count=gone.shape[1]).astype(bool)
    return read_only(patterns), counts[order[:most]], len(order)


@dataclass(frozen=True, eq=False, kw_only=True)
class Missing(Frozen):
    """Which cells of a table were missing, and how they were treated."""

    treatment: str  #: "impute", "zero" or "drop"
    n_rows: int  #: rows of the table, those that were left out included
    n_cells: int  #: missing cells
    n_left_out: int = 0  #: rows left out: those without any answer ("impute"), or with a missing cell ("drop")
    n_holed: int = 0  #: rows that stayed and have a missing cell
    n_patterns: int = 0  #: sets of columns that are missing together
    #: share of missing cells of every column, in the rows that stayed; None where these have none left
    column_shares: FloatArray | None = None
    patterns: NDArray[np.bool_] | None = None  #: the most frequent of these sets, (n_shown, n_features)
    pattern_counts: NDArray[np.intp] | None = None  #: and the number of rows of each
    n_imputations: int = 0  #: "impute": completed tables
    settled: int = -1  #: round in which the network that cells are drawn from stopped moving; -1 if it never did
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
        counts = (self.n_rows, self.n_cells, self.n_left_out, self.n_holed, self.n_patterns, self.n_imputations)
        require(min(counts) >= 0, "The counts of missing cells are not negative.")

    def describes(self, n_features: int, n_edges: int) -> bool:
        """Tell whether the entries fit these numbers of columns and edges."""
        columns, edges = (self.column_shares, self.column_information), (self.edge_information, self.edge_noise)
        shown = 0 if self.pattern_counts is None else len(self.pattern_counts)
        return (
            all(part is None or part.shape == (n_features,) for part in columns)
            and all(part is None or part.shape == (n_edges,) for part in edges)
            and (self.patterns is None or self.patterns.shape == (shown, n_features))
        )

    @classmethod
    def of(cls, table: AnyTable) -> Missing | None:
        """Return what became of missing cells when a table was read; None if there were none to be filled or dropped.

        Examples
        --------
        >>> from isinglass import as_table
        >>> found = Missing.of(as_table([[1, 0], [None, 1], [0, 1]], missing="drop"))
        >>> found.treatment, found.n_cells, found.n_rows, found.n_left_out
        ('drop', 1, 3, 1)
        """
        treatment = table.missing_treatment
        if treatment not in ("zero", "drop"):
            return None
        if table.is_whole and table.filled is not None:
            return cls(treatment=treatment, **cls.count(table.filled))
        n_rows = len(table) + table.n_dropped
        return cls(treatment=treatment, n_rows=n_rows, n_cells=table.n_missing, n_left_out=table.n_dropped)

    @staticmethod
    def count(gone: NDArray[np.bool_]) -> JsonObject:
        """Return the entries of a record that count the missing cells of the rows that stayed."""
        patterns, counts, n_patterns = hole_patterns(gone, MOST_PATTERNS)
        return {
            "n_rows": len(gone),
            "n_cells": int(gone.sum()),
            "n_holed": int(gone.any(axis=1).sum()),
            "n_patterns": n_patterns,
            "column_shares": gone.mean(axis=0),
            "patterns": patterns,
            "pattern_counts": counts,
        }
