"""The result of a fit with its settings, as a record: what model files store and reports show."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from isinglass._core import free_ridge
from isinglass.arguments import Options, require
from isinglass.arrays import AnyArray, FloatArray, Frozen, Mask
from isinglass.data import AnyTable, Coding, Table, TableLike, as_table, category_counts, pair_counts
from isinglass.data.blocks import is_in_parts
from isinglass.data.coding import Value
from isinglass.data.options import for_another_file
from isinglass.data.parts import read_like
from isinglass.data.weights import per_unit
from isinglass.errors import DataError, setting
from isinglass.evaluate.numbers import conditional_variances, partial_correlations, warn_beyond_one
from isinglass.evaluate.prediction import score_rows
from isinglass.fitted import FittedNetwork
from isinglass.network import Network
from isinglass.pairs import symmetric_matrix
from isinglass.results import Evidence, Missing, Path, Reason, Solution, Stability, TwoStageRecord
from isinglass.select.imputation import Imputation
from isinglass.select.method import Method
from isinglass.select.scoring import sum_scores
from isinglass.select.selector import Choice
from isinglass.storage import NOT_STORED

REASONS: dict[Reason, str] = {
    "ebic": "the EBIC network is kept",
    "prediction": "the EBIC predicts held-out rows too poorly, so the sparsest network that predicts well is kept",
    "empty": "no network predicts held-out rows better than an empty one",
    "time": "the time limit was reached",
}
"""Why a network was taken, in words."""


def _edges(count: int) -> str:
    return f"{count} edge{'s' * (count != 1)}"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Fit(FittedNetwork, Frozen):
    """The result of a fit, with its settings; what a fitted estimator holds as ``fit_``.

    Parameters
    ----------
    solution : Solution
        The network, with names, and its certificate.
    method : Method
        How it was estimated, and what chose its penalty.
    tol : float
        The tolerance that ``converged`` refers to.
    n_rows : float
        Number of rows of criteria and counts: the sum of counts, or the effective number of rows with sampling weights.
    n_observations : int
        Number of observations, such as respondents: rows with a positive weight, or the sum of counts. Completed copies
        of a row are one observation.
    shares : ndarray
        Share of every category of every column, in the flat layout of the variables.
    pair_counts : tuple of ndarrays
        For each edge the number of rows by category of the first column and of the second.
    coding : Coding
        How the table was read.
    weight_kind : {"counts", "sampling"}, optional
        What the row weights of the table stand for; None if it had none.
    reading : mapping
        The options of `read_table` that the table was read with; empty for a table in memory.
    path : Path, optional
        The networks along the penalty, if there are any.
    evidence : Evidence, optional
        The curve by which the penalty was chosen.
    stability : Stability, optional
        How well the subsamples agree.
    stages : TwoStageRecord, optional
        What each stage of the default estimate chose, and why the network was taken.
    left_out : str
        What the time limit (``Run.max_time``) left out, in words. Such a fit may differ from one run to the next.
    edge_refits : ndarray of shape (n_edges,), optional
        The couplings of these edges estimated without penalty; norms where a pair has more parameters.
    edge_errors : ndarray of shape (n_edges,), optional
        Their standard errors.
    covariate_refits, covariate_errors : ndarray of shape (n_covariate_pairs,), optional
        The same for the couplings with covariates, in the order of ``network.covariate_pairs``.
    edge_q : ndarray of shape (n_edges,), optional
        q-values of the edges (`isinglass.edge_tests`), if ``fdr`` was set.
    missing : Missing, optional
        Which cells of the table were missing, and how they were treated.
    conditional_variances : ndarray of shape (n_features,), optional
        Geometric mean over rows of the variance of every continuous column given the rest, in squared units of its
        scores; NaN for other columns, None without continuous ones.
    choice : Choice, optional
        The complete result of the selector, such as the scores of single folds. Not stored in files.
    imputation : Imputation, optional
        The completed table. Not stored in files.
    """

    solution: Solution
    method: Method
    tol: float
    n_rows: float
    n_observations: int
    shares: FloatArray
    pair_counts: tuple[AnyArray, ...]  # whole numbers, or sums of weights
    coding: Coding
    weight_kind: str | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = None
    evidence: Evidence | None = None
    stability: Stability | None = None
    stages: TwoStageRecord | None = None
    left_out: str = ""
    edge_refits: FloatArray | None = None
    edge_errors: FloatArray | None = None
    covariate_refits: FloatArray | None = None
    covariate_errors: FloatArray | None = None
    edge_q: FloatArray | None = None
    missing: Missing | None = None
    conditional_variances: FloatArray | None = None
    choice: Choice | None = field(default=None, metadata=NOT_STORED)
    imputation: Imputation | None = field(default=None, metadata=NOT_STORED)

    def __post_init__(self) -> None:
        super().__post_init__()
        p, edges, variables = self.network.n_features, self.network.edge_index, self.network.variables
        require(0 < self.n_rows < float("inf"), "The number of rows of a fit is positive.")
        require(self.n_observations > 0, "The number of observations of a fit is positive.")
        known = self.weight_kind in (None, "counts", "sampling")
        require(known, f"Weights are 'counts' or 'sampling', not {self.weight_kind!r}.")
        require(len(self.coding.columns) == p, "The coding of a fit has one rule per column.")
        shapes = [tuple(sizes) for sizes in variables.sizes[edges].tolist()]
        fitting = self.shares.shape == variables.column.shape and [c.shape for c in self.pair_counts] == shapes
        require(fitting, "The shares and counts of a fit are those of the columns and edges of its network.")
        shares = self.shares
        require(((shares >= 0) & (shares <= 1 + 1e-12)).all(), "The shares of a fit are from 0 to 1.")
        counted = all((np.isfinite(c) & (c >= 0)).all() for c in self.pair_counts)
        require(counted, "The counts behind the edges are not negative.")
        n_couplings = len(self.network.covariate_pairs)
        lengths = dict.fromkeys(("edge_refits", "edge_errors", "edge_q"), (len(edges), "edge"))
        lengths |= dict.fromkeys(("covariate_refits", "covariate_errors"), (n_couplings, "coupling with a covariate"))
        lengths["conditional_variances"] = p, "column"
        for name, (length, of_what) in lengths.items():
            values = getattr(self, name)
            fitting = values is None or values.shape == (length,)
            require(fitting, f"The {name} of a fit must be a vector of {length} numbers, one per {of_what}.")
            signed = values is None or name.endswith("refits") or not (values < 0).any()
            require(signed, f"The {name} of a fit are not negative.")
        require(self.edge_q is None or (self.edge_q <= 1).all(), "The q-values of a fit are from 0 to 1.")
        same = self.path is None or all(solution.n_features == p for solution in self.path)
        require(same, "All networks along the path of a fit have the same columns.")
        square = self.stability is None or all(f.shape == (p, p) for f in self.stability.edge_frequencies)
        require(square, "The stability of a fit has one share for every pair of columns.")
        require(
            self.missing is None or self.missing.describes(p, len(edges)),
            "The record of missing cells has one entry per column, or per edge.",
        )

    @classmethod
    def of(cls, method: Method, choice: Choice, table: AnyTable) -> Fit:
        """Put a choice together with the sums over the rows of its table."""
        names, path = table.names if table.variables.named else None, None if choice.is_given else choice.path
        n_rows, shares, counts = summarize(table, choice.solution.edge_index)
        n_observations, weight_kind = count_observations(table)
        variances = conditional_variances(table, choice.solution.network)
        warn_beyond_one(
            choice.solution.network.with_names(names), partial_correlations(choice.solution.network, variances)
        )
        return cls(
            solution=choice.solution.with_names(names),
            method=method,
            tol=method.tolerance,
            n_rows=n_rows,
            n_observations=n_observations,
            weight_kind=weight_kind,
            shares=shares,
            pair_counts=counts,
            coding=table.coding,
            reading={} if table.is_whole else table.file_options,
            path=None if path is None else path.with_names(names),
            evidence=choice.evidence,
            stability=choice.stability,
            stages=choice.two_stage_record,
            left_out=choice.left_out,
            conditional_variances=variances,
            choice=choice,
        )

    @property
    def chosen(self) -> str:
        """What chose the penalty, in words."""
        return self.method.words

    @property
    def network(self) -> Network:
        """The network by itself."""
        return self.solution.network

    def without_covariates(self) -> Fit:
        """Return what is drawn, counted and compared: the fit of the variables that are modeled.

        It predicts nothing, as its fields are those for covariates whose scores are 0.
        """
        variables, missing = self.network.variables, self.missing
        if not variables.has_covariates:
            return self
        kept = np.flatnonzero(variables.is_modelled)
        if missing is not None:
            parts = ("column_shares", "column_information")
            shown = {name: getattr(missing, name) for name in parts if getattr(missing, name) is not None}
            patterns = None if missing.patterns is None else missing.patterns[:, kept]
            missing = replace(missing, patterns=patterns, **{name: values[kept] for name, values in shown.items()})
        return replace(
            self,
            solution=self.solution.without_covariates(),
            path=None if self.path is None else self.path.without_covariates(),
            shares=self.shares[variables.is_modelled[variables.column]],
            conditional_variances=None if self.conditional_variances is None else self.conditional_variances[kept],
            coding=self.coding.take(kept.tolist()),
            covariate_refits=None,
            covariate_errors=None,
            missing=missing,
            stability=None if self.stability is None else self.stability.take(kept),
        )

    @property
    def encoding(self) -> dict[Hashable, tuple[Value, Value]]:
        """For each column that was not 0/1 already: the two values that stand for 0 and 1."""
        return self.coding.encoding

    @property
    def occurs(self) -> Mask:
        """Which categories occur in the table of the fit, in the flat layout of the variables."""
        return self.shares > 0.0

    @property
    def marginals(self) -> FloatArray | None:
        """Share of ones in every column; None where a column has categories."""
        return self.shares[1::2] if self.network.variables.is_binary else None

    def read(
        self, X: TableLike, *, missing: str | None = None, sample_weight: ArrayLike | None = None, by_name: bool = True
    ) -> AnyTable:
        """Return another table, read as that of the fit was read.

        Columns are found by name, and others are ignored; with ``by_name=False`` they are in the order of the fit.
        ``missing`` is what becomes of missing cells, by default what the fit did.
        """
        coding, missing = self.coding if by_name else replace(self.coding, names=None), missing or self.coding.missing
        if is_in_parts(X):
            missing = "error" if missing == "impute" else missing
            table: AnyTable = read_like(X, self.reading, sample_weight, coding, missing)
        else:
            table = as_table(X, sample_weight, encode=coding, missing=missing)
        if table.shape[1] != self.network.n_features:
            columns = f"{self.network.n_features} columns"
            raise DataError(f"{setting('X')} must have the {columns} of the fit; got {table.shape[1]}.")
        ours, theirs = self.network.variables, table.variables
        if table.is_whole and theirs.is_plain and not ours.is_binary:  # its cells are values, not numbers of categories
            table = self._read_bits(table)
            theirs = table.variables
        as_codes = (ours.is_plain or theirs.is_plain) and ours.is_binary and theirs.is_binary
        if not as_codes and ours.categories != theirs.categories:
            raise DataError(
                f"{setting('X')} must have the categories of the fit in the same order; got others. Read it with the "
                "coding of the fit: as_table(frame, encode=fit.coding)."
            )
        return table

    def _read_bits(self, table: Table) -> Table:
        """Return a table of 0 and 1 as the array of its cells is read."""
        cells = table.codes if table.holes is None else np.where(table.holes, np.nan, table.codes)
        read = as_table(cells, encode=replace(self.coding, names=None), missing="impute").whole()
        known = {name: getattr(read, name) for name in ("codes", "variables", "read_by", "numbers")}
        return replace(table, **known)

    def reading_again(self) -> Options:
        """Return the options by which `read_table` reads another file as that of the fit was read."""
        known = for_another_file(self.reading, self.coding)
        return {**known, "missing": self.coding.missing, "encode": self.coding}

    def score(self, X: TableLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean log pseudo-likelihood per row; larger is better. Rows that are dropped do not count."""
        table = self.read(X, sample_weight=sample_weight)
        if table.holes is not None:
            return float(np.average(score_rows(table, self.network, self.occurs), weights=table.sample_weight))
        return float(table.sum_rows(sum_scores, self.solution) / table.total_weight)

    @property
    def _record(self) -> Fit:
        return self

    def _open(self, X: TableLike, *, missing: str | None = None, sample_weight: ArrayLike | None = None) -> AnyTable:
        return self.read(X, missing=missing, sample_weight=sample_weight)

    @property
    def every_row(self) -> str | None:
        """What becomes of missing cells where every row wants an answer: none can be dropped."""
        return "impute" if self.coding.missing == "drop" else None

    def facts(self) -> dict[str, str]:
        """Return in words what was found: the network, its penalty, how stages chose it, and its certificate."""
        signs, solution = self.network.edge_signs, self.solution
        kinds = [f"{int((signs == sign).sum())} {word}" for sign, word in ((1, "positive"), (-1, "negative"))]
        kinds += [f"{int((signs == 0).sum())} without a sign"] * bool((signs == 0).any())
        alpha = "one per node" if math.isnan(solution.alpha) else f"{solution.alpha:.6g}"
        gap = f"objective {solution.objective:.4g}, duality gap {solution.duality_gap:.1e}, "
        gap = "" if math.isnan(solution.duality_gap) else gap
        facts = {
            "Network": f"{solution.n_edges} of {self.network.n_pairs} possible edges ({', '.join(kinds)}) among "
            f"{self.network.n_nodes} columns, {self.n_observations} rows",
            "Penalty": f"{alpha} ({self.chosen})",
        }
        if self.network.variables.has_covariates:
            given = ", ".join(self.network.variables.covariates)
            facts["Adjusted for"] = f"{given} (couplings unpenalized apart from a ridge of {free_ridge:g})"
        if self.stages:
            each = []
            for stage in self.stages.each:
                weaker = " with weaker weights" if 0.0 < stage.exponent < 1.0 else ""  # for a better prediction
                each.append(f"{stage.criterion.upper()}{weaker} {_edges(stage.n_edges)}")
            kept = f" ({_edges(self.solution.n_edges)})" if self.stages.reason == "prediction" else ""
            why = "no second stage was needed" if self.stages.ended_first else REASONS[self.stages.reason]
            facts["Stages"] = f"{', then '.join(each)}; {why}{kept}"
        if self.edge_q is not None and self.method.fdr is not None:
            found = int((self.edge_q <= self.method.fdr).sum())
            facts["Error rate"] = (
                f"{found} of {len(self.edge_q)} edges at a false discovery rate of {self.method.fdr:g}"
            )
        if self.left_out:
            facts["Left out"] = self.left_out
        state = "converged" if solution.converged else "NOT converged"
        facts["Certificate"] = (
            f"{state} to a relative tolerance of {self.tol:g}: {gap}KKT residual {solution.kkt_residual:.1e}"
        )
        return facts

    def _repr_html_(self) -> str:
        names, rows = self._strongest(10)
        facts = [[name, text] for name, text in self.facts().items()]
        return _html_table([], facts) + _html_table(names, rows)

    def known_of_edges(self) -> dict[str, FloatArray]:
        """Return what is known of the edges beside their couplings."""
        known = {
            "refitted": self.edge_refits,
            "std_error": self.edge_errors,
            "q": self.edge_q,
            "partial_correlation": self.partial_correlations,
        }
        if self.missing is not None:
            known["missing_information"] = self.missing.edge_information
        if self.stability is not None:
            shares = self.stability.edge_frequencies[self.stability.index][tuple(self.solution.edge_index.T)]
            known["stability"] = np.ravel(shares.toarray() if sp.issparse(shares) else shares)  # sparse where empty
        return {name: values for name, values in known.items() if values is not None}

    @property
    def partial_correlations(self) -> FloatArray | None:
        """θ_st / √(κ_s κ_t) of every edge with κ_s = 1 / Var(x_s | rest); NaN unless both columns are continuous.

        None where no two columns of the network are continuous. The fit warns of one beyond 1.
        """
        return partial_correlations(self.network, self.conditional_variances)

    @property
    def edge_attributes(self) -> dict[str, sp.csr_array]:
        """What is known of the edges beside their couplings, as symmetric matrices."""
        model = self.network.without_covariates()
        edges, p = model.edge_index, model.n_features
        return {name: symmetric_matrix(edges, values, p) for name, values in self.known_of_edges().items()}

    @property
    def alphas(self) -> FloatArray | None:
        """The penalties that were compared, decreasing."""
        curve = self.evidence or self.stability
        return None if curve is None else curve.alphas

    @property
    def ebic_path(self) -> FloatArray | None:
        """The extended BIC of the networks along them."""
        return self.evidence.values if self.evidence is not None and self.evidence.kind == "ebic" else None

    def __repr__(self) -> str:
        return f"Fit({self.method.estimator}, {self.chosen}: {self.solution!r})"


def _html_table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def summarize(
    table: AnyTable, edge_index: NDArray[np.int32]
) -> tuple[float, FloatArray, tuple[AnyArray, ...]]:  # whole numbers, or sums of weights
    """Return the number of rows, the share of every category of every column, and the counts behind every edge."""
    counted = table.counted(quiet=True)
    n_rows = counted.total_weight
    return n_rows, category_counts(counted) / n_rows, pair_counts(counted, edge_index)


def count_observations(table: AnyTable) -> tuple[int, str | None]:
    """Return the number of observations of a table, copies of a row being one, and what its weights stand for."""
    counted = table.counted(quiet=True)
    kind = counted.weight_kind
    if not counted.is_whole:
        return round(counted.total_weight) if kind == "counts" else counted.shape[0], kind
    if counted.sample_weight is None:
        return len(counted), None
    own = per_unit(counted.sample_weight, counted.units)
    if kind == "counts":
        return round(float(own.sum())), None if np.allclose(own, 1.0) else kind
    return int(np.count_nonzero(own)), kind
