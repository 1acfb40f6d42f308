"""The result of a fit with its settings, as a record: what model files store and reports show."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from isinglass._core import free_ridge
from isinglass.arguments import Options, require
from isinglass.arrays import FloatArray, Frozen, Mask
from isinglass.data import AnyTable, Coding, Table, TableLike, as_table
from isinglass.data.options import for_another_file
from isinglass.data.parts.blocks import is_in_parts
from isinglass.data.parts.read_parts import read_like
from isinglass.errors import plural
from isinglass.evaluate.numbers import partial_correlations, warn_beyond_one
from isinglass.evaluate.prediction import score_rows
from isinglass.fitted import FittedNetwork
from isinglass.matching import check_width, match_categories, require_same
from isinglass.missing_record import Missing
from isinglass.network import Network
from isinglass.results import Solution
from isinglass.select.imputation import Imputation
from isinglass.select.method import Method
from isinglass.select.scoring import sum_scores
from isinglass.select.selector import Choice
from isinglass.selection_records import Refits, Selection
from isinglass.storage import NOT_STORED
from isinglass.table_summary import TableSummary
from isinglass.text_tables import cell_text


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
        network, data, refits, missing, selection = self.network, self.data, self.refits, self.missing, self.selection
        p, sizes = network.n_features, network.variables.sizes
        require(len(self.coding.columns) == p, "The coding of a fit has one rule per column.")
        covariate = "coupling with a covariate"
        lengths = {"category": int(sizes.sum()), "column": p, "edge": network.n_edges}
        lengths[covariate] = len(network.covariate_pairs)
        arrays = [("category", data.shares), ("column", data.conditional_variances), ("edge", self.edge_q)]
        if refits is not None:
            arrays += [("edge", refits.edges), ("edge", refits.edge_errors)]
            arrays += [(covariate, refits.covariates), (covariate, refits.covariate_errors)]
        if missing is not None:
            arrays += [("column", missing.column_shares), ("column", missing.column_information)]
            arrays += [("edge", missing.edge_information), ("edge", missing.edge_noise)]
            shown = 0 if missing.pattern_counts is None else len(missing.pattern_counts)
            patterns = missing.patterns is None or missing.patterns.shape == (shown, p)
            require(patterns, "A pattern of missing cells has one entry per column.")
        for name, array in arrays:
            one_each = array is None or array.shape == (lengths[name],)
            require(one_each, f"Estimates, shares and q-values of a fit have one entry per {name} ({lengths[name]}).")
        counted = [counts.shape for counts in data.pair_counts] == [*map(tuple, sizes[network.edge_index].tolist())]
        require(counted, "The counts of a fit are those of the categories at the edges of its network.")
        same = selection.path is None or all(solution.network.n_features == p for solution in selection.path)
        require(same, "All networks along the path of a fit have the same columns.")
        frequencies = () if selection.stability is None else selection.stability.edge_frequencies
        square = all(each.shape == (p, p) for each in frequencies)
        require(square, "The stability of a fit has one share for every pair of columns.")

    @classmethod
    def of(cls, method: Method, choice: Choice, table: AnyTable) -> Fit:
        """Put a choice together with the sums over the rows of its table."""
        network = choice.solution.network
        data = TableSummary.of(table, network)
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

    def without_covariates(self) -> Fit:
        """Return what is drawn, counted and compared: the fit of the variables that are modeled.

        It predicts nothing, as its fields are those for covariates whose scores are 0.
        """
        variables, missing = self.network.variables, self.missing
        if not variables.has_covariates:
            return self
        kept = np.flatnonzero(variables.is_modeled)
        if missing is not None:
            parts = ("column_shares", "column_information")
            shown = {name: getattr(missing, name) for name in parts if getattr(missing, name) is not None}
            patterns = None if missing.patterns is None else missing.patterns[:, kept]
            missing = replace(missing, patterns=patterns, **{name: values[kept] for name, values in shown.items()})
        none = np.empty(0)
        return replace(
            self,
            solution=self.solution.without_covariates(),
            data=self.data.without_covariates(self.network),
            selection=self.selection.without_covariates(variables.is_modeled),
            coding=self.coding.take(kept.tolist()),
            refits=self.refits and replace(self.refits, covariates=none, covariate_errors=none),
            missing=missing,
        )

    @property
    def n_infinite(self) -> int:
        """Number of edges whose estimate without a penalty is infinite; 0 where no edge has a standard error."""
        known = np.isfinite(self.refits.edge_errors) if self.refits is not None else np.empty(0, dtype=bool)
        return int((~known).sum()) if known.any() else 0

    @property
    def occurs(self) -> Mask:
        """Which categories occur in the table of the fit, in the flat layout of the variables."""
        return self.data.shares > 0.0

    @property
    def marginals(self) -> FloatArray | None:
        """Share of ones in every column; None where a column has categories."""
        return self.data.shares[1::2] if self.network.variables.is_binary else None

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
        if table.variables.is_plain and not ours.is_binary:  # its cells are values, not numbers of categories
            check_width(table.shape[1], ours)
            table = self._read_bits(table)
        return table.with_variables(ours) if match_categories(table.variables, ours) else table

    def _read_bits(self, table: Table) -> Table:
        """Return a table of 0 and 1 as the array of its cells is read."""
        cells = table.codes if table.holes is None else np.where(table.holes, np.nan, table.codes)
        read = as_table(cells, encode=replace(self.coding, names=None), missing="impute").whole()
        known = {name: getattr(read, name) for name in ("codes", "variables", "read_by", "numbers")}
        return replace(table, **known)

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
        kinds = [f"{int((signs == sign).sum())} {word}" for sign, word in ((1, "positive"), (-1, "negative"))]
        kinds += [f"{int((signs == 0).sum())} without a sign"] * bool((signs == 0).any())
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
        columns = self._summary_columns(10)
        facts = "".join(_html_row("td", fact) for fact in self.facts().items())
        edges = zip(*(map(cell_text, column[:10]) for column in columns.values()), strict=True)
        rows = _html_row("th", columns) + "".join(_html_row("td", edge) for edge in edges)
        return f"<table>{facts}</table><table>{rows}</table>"

    def known_of_edges(self) -> dict[str, FloatArray]:
        """Return what is known of the edges beside their couplings."""
        known = {
            "refitted": None if self.refits is None else self.refits.edges,
            "std_error": None if self.refits is None else self.refits.edge_errors,
            "q": self.edge_q,
            "partial_correlation": self.partial_correlations,
        }
        if self.missing is not None:
            known["missing_information"] = self.missing.edge_information
        stability = self.selection.stability
        if stability is not None:
            shares = stability.edge_frequencies[stability.index][tuple(self.solution.edge_index.T)]
            known["stability"] = np.ravel(shares.toarray() if sp.issparse(shares) else shares)  # sparse where empty
        return {name: values for name, values in known.items() if values is not None}

    @property
    def partial_correlations(self) -> FloatArray | None:
        """θ_st / √(κ_s κ_t) of every edge with κ_s = 1 / Var(x_s | rest); NaN unless both columns are continuous.

        None where no two columns of the network are continuous. The fit warns of one beyond 1.
        """
        return partial_correlations(self.network, self.data.conditional_variances)

    @property
    def edge_attributes(self) -> dict[str, FloatArray]:
        """What is known of the edges beside their couplings, in the order of `edges`."""
        order = self.network.without_covariates().by_strength
        return {name: values[order] for name, values in self.known_of_edges().items()}

    @property
    def alphas(self) -> FloatArray | None:
        """The penalties that were compared, decreasing."""
        curve = self.selection.evidence or self.selection.stability
        return None if curve is None else curve.alphas

    @property
    def ebic_path(self) -> FloatArray | None:
        """The extended BIC of the networks along them."""
        evidence = self.selection.evidence
        return evidence.values if evidence is not None and evidence.kind == "ebic" else None

    def __repr__(self) -> str:
        return f"Fit({self.method.estimator}, {self.chosen_by}: {self.solution!r})"


def _html_row(tag: str, cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"
