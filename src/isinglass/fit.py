"""The result of a fit with its settings, as a record: what model files store and reports show."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from isinglass._core import free_ridge
from isinglass.arguments import Options, require
from isinglass.arrays import FloatArray, Frozen, Mask
from isinglass.data import AnyTable, Coding, TableLike, as_table
from isinglass.data.options import for_another_file
from isinglass.data.parts.blocks import is_in_parts
from isinglass.data.parts.read_parts import read_like
from isinglass.errors import plural
from isinglass.evaluate.partial_correlations import conditional_variances, partial_correlations, warn_beyond_one
from isinglass.evaluate.prediction import score_rows
from isinglass.fitted import FittedNetwork
from isinglass.matching import match_categories, require_same
from isinglass.network import Network
from isinglass.records import Missing, Refits, Selection, TableSummary
from isinglass.results import Solution
from isinglass.select.imputation import Imputation
from isinglass.select.method import Method
from isinglass.select.scoring import sum_scores
from isinglass.select.selector import Choice
from isinglass.storage import NOT_STORED


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Fit(FittedNetwork, Frozen):
    """The result of a fit, with its settings; what a fitted estimator holds as ``fit_``.

    Parameters
    ----------
    solution : Solution
        The network, with names, and its certificate.
    method : Method
        How it was estimated, and what chose its penalty.
    data : TableSummary
        Numbers of rows, shares of categories and counts behind the edges.
    coding : Coding
        How the table was read.
    reading : mapping
        The options of `read_table` that the table was read with; empty for a table in memory.
    selection : Selection
        What the penalty was chosen from and by: path, evidence, stability, stages; empty if it was given.
    refits : Refits, optional
        The couplings estimated without penalty on the same edges, with standard errors; two-stage estimate only.
    edge_q : ndarray of shape (n_edges,), optional
        q-values of the edges (`isinglass.edge_tests`), if ``fdr`` was set; NaN for those that could not be tested.
    missing : Missing, optional
        Which cells of the table were missing, and how they were treated.
    choice : Choice, optional
        The complete result of the selector, such as the scores of single folds. Not stored in files.
    imputation : Imputation, optional
        The completed table. Not stored in files.
    """

    solution: Solution
    method: Method
    data: TableSummary
    coding: Coding
    reading: Mapping[str, Any] = field(default_factory=dict)
    selection: Selection = field(default_factory=Selection)
    refits: Refits | None = None
    edge_q: FloatArray | None = None
    missing: Missing | None = None
    choice: Choice | None = field(default=None, metadata=NOT_STORED)
    imputation: Imputation | None = field(default=None, metadata=NOT_STORED)

    def __post_init__(self) -> None:
        super().__post_init__()
        network, data, selection = self.network, self.data, self.selection
        p, sizes = network.n_features, network.variables.sizes
        require(len(self.coding.columns) == p, "The coding of a fit has one rule per column.")
        lengths = {"category": int(sizes.sum()), "column": p, "edge": network.n_edges}
        lengths["coupling with a covariate"] = len(network.covariate_pairs)
        for name, array in self._arrays():
            fits = array is None or array.shape == (lengths[name],)
            require(fits, f"Estimates, shares and q-values of a fit have one entry per {name} ({lengths[name]}).")
        if self.missing is not None and self.missing.patterns is not None:
            counts = self.missing.pattern_counts
            fits = counts is not None and self.missing.patterns.shape == (len(counts), p)
            require(fits, "A pattern of missing cells has one entry per column.")
        fits = [table.shape for table in data.pair_counts] == [*map(tuple, sizes[network.edge_index].tolist())]
        require(fits, "The counts of a fit are those of the categories at the edges of its network.")
        fits = all(solution.network.n_features == p for solution in selection.path or ())
        require(fits, "All networks along the path of a fit have the same columns.")
        fits = selection.stability is None or {each.shape for each in selection.stability.edge_frequencies} <= {(p, p)}
        require(fits, "The stability of a fit has one share for every pair of columns.")

    def _arrays(self) -> Iterator[tuple[str, FloatArray | None]]:
        """Yield the arrays of a fit with what they have one entry for."""
        yield from (("category", self.data.shares), ("column", self.data.conditional_variances), ("edge", self.edge_q))
        if (refits := self.refits) is not None:
            yield from (("edge", refits.edges), ("edge", refits.edge_errors))
            yield "coupling with a covariate", refits.covariates
            yield "coupling with a covariate", refits.covariate_errors
        if (missing := self.missing) is not None:
            yield from (("column", missing.column_shares), ("column", missing.column_information))
            yield from (("edge", missing.edge_information), ("edge", missing.edge_noise))

    @classmethod
    def of(cls, method: Method, choice: Choice, table: AnyTable) -> Fit:
        """Put a choice together with the sums over the rows of its table."""
        network = choice.solution.network
        data = TableSummary.of(table, network, conditional_variances(table, network))
        warn_beyond_one(network, partial_correlations(network, data.conditional_variances))
        return cls(
            solution=choice.solution,
            method=method,
            data=data,
            coding=table.coding,
            reading={} if table.is_whole else table.file_options,
            selection=choice.selection,
            choice=choice,
        )

    @property
    def chosen_by(self) -> str:
        """What chose the penalty, in words, with the number of folds that there were."""
        selector, stages = self.method.selector, self.selection.stages
        return selector.words_for(stages.n_folds) if stages else selector.words

    @property
    def network(self) -> Network:
        """The network by itself."""
        return self.solution.network

    @property
    def n_infinite(self) -> int:
        """Number of edges whose estimate without a penalty is infinite; 0 where no edge has a standard error."""
        unknown = np.isnan(self.refits.edge_errors) if self.refits is not None else np.empty(0, dtype=bool)
        return 0 if unknown.all() else int(unknown.sum())

    @property
    def occurs(self) -> Mask:
        """Which categories occur in the table of the fit, in the flat layout of the variables."""
        return self.data.shares > 0.0

    def read(
        self, X: TableLike, *, missing: str | None = None, sample_weight: ArrayLike | None = None, by_name: bool = True
    ) -> AnyTable:
        """Return another table, read as that of the fit was read.

        Columns are found by name, and others are ignored; with ``by_name=False`` they are in the order of the fit. The
        column of row weights of the file of the fit is one again where ``X`` has it and no ``sample_weight`` is given.
        ``missing`` is what becomes of missing cells, by default what the fit did.
        """
        coding, missing = self.coding if by_name else replace(self.coding, names=None), missing or self.coding.missing
        if is_in_parts(X):
            missing = "error" if missing == "impute" else missing
            table: AnyTable = read_like(X, self.reading, sample_weight, coding, missing)
        else:
            table = as_table(X, sample_weight, encode=coding, missing=missing)
        ours = self.network.variables
        if not table.is_whole:
            require_same(table.variables, ours)
            return table
        return table.with_variables(ours) if match_categories(table.variables, ours) else table

    def reading_again(self) -> Options:
        """Return the options by which `read_table` reads another file as that of the fit was read."""
        known = for_another_file(self.reading)
        return {**known, "missing": self.coding.missing, "encode": self.coding}

    def score(self, X: TableLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean log pseudo-likelihood per row; larger is better. Rows that are dropped do not count.

        Of rows with missing cells, that of the observed ones (`score_samples`).

        Rows count by ``sample_weight``; by default by the weights of a `Table`, or by the column of weights of the file
        of the fit, where ``X`` has a column of this name.
        """
        return self.mean_score(self._open(X, sample_weight=sample_weight))

    def mean_score(self, table: AnyTable) -> float:
        """Return the mean log pseudo-likelihood per row of a table that was read like that of the fit."""
        if table.holes is not None:
            return float(np.average(score_rows(table, self.network, self.occurs), weights=table.sample_weight))
        return float(table.sum_rows(sum_scores, self.network) / table.total_weight)

    @property
    def _record(self) -> Fit:
        return self

    def _open(self, X: TableLike, *, missing: str | None = None, sample_weight: ArrayLike | None = None) -> AnyTable:
        """Return a table; a fit to complete rows takes missing cells, too."""
        chosen = missing or ("impute" if self.coding.missing == "error" else None)
        return self.read(X, missing=chosen, sample_weight=sample_weight)

    def facts(self) -> dict[str, str]:
        """Return in words what was found: the network, its penalty, how stages chose it, and its certificate."""
        signs, solution = self.network.edge_signs, self.solution
        words = {1: "positive", -1: "negative", **({0: "without a sign"} if (signs == 0).any() else {})}
        kinds = [f"{int((signs == sign).sum())} {word}" for sign, word in words.items()]
        alpha = "one per node" if math.isnan(solution.alpha) else f"{solution.alpha:.6g}"
        gap = f"objective {solution.objective:.4g}, duality gap {solution.duality_gap:.1e}, "
        gap = "" if math.isnan(solution.duality_gap) else gap
        facts = {
            "Network": f"{solution.n_edges} of {plural(self.network.n_pairs, 'possible edge')} ({', '.join(kinds)}) "
            f"among {plural(self.network.n_nodes, 'column')}, {plural(self.data.n_observations, 'row')}",
            "Penalty": f"{alpha} ({self.chosen_by})",
        }
        if self.network.variables.has_covariates:
            given = ", ".join(self.network.variables.covariates)
            facts["Adjusted for"] = f"{given} (couplings unpenalized apart from a ridge of {free_ridge:g})"
        if self.selection.stages:
            facts["Stages"] = self.selection.stages.describe(solution.n_edges)
        if self.edge_q is not None and self.method.fdr is not None:
            found = int((self.edge_q <= self.method.fdr).sum())
            facts["Error rate"] = (
                f"{found} of {plural(len(self.edge_q), 'edge')} at a false discovery rate of {self.method.fdr:g}"
            )
            if n_untested := int(np.isnan(self.edge_q).sum()):
                facts["Error rate"] += f"; {n_untested} could not be tested (infinite or too rare)"
        if self.n_infinite:
            facts["No standard error"] = f"{plural(self.n_infinite, 'edge')} (infinite without a penalty)"
        if self.selection.left_out:
            facts["Left out"] = self.selection.left_out
        state = ("converged" if solution.converged else "NOT converged") + " to a relative tolerance of"
        facts["Certificate"] = f"{state} {self.method.tolerance:g}: {gap}KKT residual {solution.kkt_residual:.1e}"
        return facts

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.summary())}</pre>"

    @property
    def edge_attributes(self) -> dict[str, FloatArray]:
        """What is known of the edges beside their couplings, in the order of `edges`."""
        known = {
            "refitted": None if self.refits is None else self.refits.edges,
            "std_error": None if self.refits is None else self.refits.edge_errors,
            "q": self.edge_q,
            "partial_correlation": partial_correlations(self.network, self.data.conditional_variances),
            "missing_information": None if self.missing is None else self.missing.edge_information,
        }
        stability = self.selection.stability
        if stability is not None:
            shares = stability.edge_frequencies[stability.index][tuple(self.solution.edge_index.T)]
            known["stability"] = np.ravel(shares.toarray() if sp.issparse(shares) else shares)  # sparse where empty
        order = self.network.by_strength
        return {name: values[order] for name, values in known.items() if values is not None}

    def __repr__(self) -> str:
        return f"Fit({self.method.estimator}, {self.chosen_by}: {self.solution!r})"
