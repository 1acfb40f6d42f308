"""What can be asked of a fitted network: the methods that a `Fit` and a fitted estimator have in common."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from isinglass.arguments import RandomSource, check_count, check_path
from isinglass.arrays import AnyArray, Bytes, FloatArray
from isinglass.conditionals import energies, ones_given_rest, row_scores
from isinglass.data import AnyTable, Table, TableLike
from isinglass.data.completion import complete
from isinglass.errors import ArgumentError, DataError, MixingWarning, setting, suppress_warnings, warn
from isinglass.evaluate.marginals import category_logs
from isinglass.evaluate.prediction import (
    among_occurring,
    cell_probabilities,
    central_intervals,
    expected_values,
    fill_drawn,
    fill_most_probable,
    label_cells,
    put_numbers,
    score_rows,
)
from isinglass.network import Network
from isinglass.pairs import strongest_first
from isinglass.simulate.enumeration import can_enumerate, exact_sample
from isinglass.simulate.gibbs import gibbs_sample, restrict_to
from isinglass.simulate.mixing import gibbs_diagnostics
from isinglass.text_tables import Columns, show_columns
from isinglass.variables import Variables

if TYPE_CHECKING:
    from isinglass.evaluate.checking import ModelCheck
    from isinglass.fit import Fit
    from isinglass.names import NodeValues
    from isinglass.select.bootstrap_result import Bootstrap

Floats = FloatArray | list[FloatArray]
Cells = AnyArray | list[AnyArray]  # values of the source
"""Of a table in parts: a list, an array per part. With more than two categories, probabilities: one per column."""
_PROBED_ROWS = 100  # of each chain that looks whether samples depend on the start
_COMPARED_ROWS, _FAR = 200, 5.0  # rows that a chain is taken to be worth, and standard errors that are too many
SUMMARY = ("source", "target", "coupling", "refitted", "std_error", "q", "partial_correlation", "stability")
"""Columns of the edges that a summary shows."""


class FittedNetwork:
    """A network that was fitted to a table, and can read other tables in the same way.

    Where a method takes a table in parts and has a result for every row or cell, that is a list, an array per part.
    Missing cells are summed over, or averaged over Gibbs draws where they have too many joint states; estimators refuse
    them unless they are fitted with another ``missing`` than "error", but their ``fit_`` takes them.
    """

    @property
    def _record(self) -> Fit:
        """The result of the fit."""
        raise NotImplementedError

    def _open(self, X: TableLike, *, missing: str | None = None, sample_weight: ArrayLike | None = None) -> AnyTable:
        """Return a table, read as that of the fit was read; ``missing`` is what becomes of missing cells."""
        raise NotImplementedError

    def _open_every_row(self, X: TableLike) -> AnyTable:
        """Return a table of which no row is dropped, because every row wants an answer."""
        return self._open(X, missing="impute" if self._record.coding.missing == "drop" else None)

    def score_samples(self, X: TableLike) -> Floats:
        """Return the log pseudo-likelihood of every row, Σ_s log P(x_s | the rest), over its observed cells s."""
        table, record = self._open_every_row(X), self._record
        if table.is_whole:
            return score_rows(table, record.network, record.occurs)
        return table.each(_score_part, record.network)

    def log_likelihood(self, X: TableLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean log P(x) of whole rows, in nats, the larger the better: the joint likelihood.

        It needs log Z, which `Network.log_partition` computes once, exactly or by sampling. `score` is the log
        pseudo-likelihood, Σ_s log P(x_s | the rest), which is larger and needs no log Z. Here, in `predict_proba` and
        in `score` a category that does not occur in the table of the fit has about the probability that half a row
        gives it (a nominal one at most that), so that rows that have it get a finite value; `sample` and `impute` never
        draw it.
        """
        table, network = self._open(X, sample_weight=sample_weight), self._record.network
        total = table.without_holes().sum_rows(_sum_energies, network)
        return -float(total / table.total_weight) - network.log_partition().value

    def check(
        self,
        X: TableLike,
        sample_weight: ArrayLike | None = None,
        *,
        n_simulated: int = 10_000,
        level: float = 0.05,
        random_state: RandomSource = 0,
        n_threads: int | None = None,
    ) -> ModelCheck:
        """Compare rows simulated from the network with those of a table, such as the table of the fit.

        It compares the shares of ones, of pairs and triples of ones, and the number of ones per row. A correct network
        fails the check for at most 5 % of tables. Parameters as for `isinglass.metrics.check_model`;
        `isinglass.plot.check` draws the result.
        """
        from isinglass.evaluate.checking import check_model

        table = self._open(X, sample_weight=sample_weight).whole()
        return check_model(
            table, self._record, n_simulated=n_simulated, level=level, random_state=random_state, n_threads=n_threads
        )

    def predict_proba(self, X: TableLike) -> Floats:
        """Return P(x_s = 1 | the rest of the row) for every cell, missing ones too, in the columns of the table.

        If columns have more than two categories or are covariates: a list with one array per column, of shape
        (n_samples, n_categories), of the probabilities of its categories (``network.categories``). The result is as
        large as the dense table; a sparse one has to be made dense first.
        """
        if hasattr(X, "tocsr") and hasattr(X, "toarray"):
            raise DataError(
                f"{setting('X')} must be dense here, because the result has a value for every cell; got a sparse "
                f"{type(X).__name__}. Pass X.toarray(), or some of its rows at a time."
            )
        table, record = self._open_every_row(X), self._record
        if table.is_whole:
            return cell_probabilities(table, record.network, record.occurs)
        return table.each(_ask_part, record.network)

    def predict(self, X: TableLike) -> Cells:
        """Return the most probable value of every cell given the rest of its row, as ``network.categories`` has it.

        There intervals, dates and other categories of a frame are texts, texts of numbers are numbers, and truth values
        0 and 1; `impute` has cells as the table has them. For a continuous column, the expected number: the means of
        the numbers in its steps in the table of the fit, weighted by the probabilities of the steps. If two values are
        equally probable, the first; those that do not occur in the table of the fit are left out.
        """
        found, record = self.predict_proba(X), self._record
        variables = record.network.variables
        if variables.is_binary:
            parts = found if isinstance(found, list) else [found]
            best_of_parts = [_label((part > 0.5).astype(np.uint8), variables) for part in parts]
            return best_of_parts if isinstance(found, list) else best_of_parts[0]
        chance = among_occurring(list(found), variables, record.occurs)
        best = _label(np.column_stack([P.argmax(axis=1) for P in chance]), variables)
        return put_numbers(best, expected_values(chance, record.coding.columns))

    def predict_interval(self, X: TableLike, level: float = 0.95) -> FloatArray:
        """Return prediction intervals of probability ``level`` for the cells of continuous columns.

        Given the rest of the row, at most half of the remaining probability is below the interval, and at most half
        above. Its ends are numbers of the table of the fit: the smallest, a quartile or the largest of a step. Shape
        (n_samples, n_features, 2); NaN in columns that are not continuous.
        """
        table, record = self._open_every_row(X).whole(), self._record
        variables = record.network.variables
        chance = np.exp(category_logs(np.asarray(table), table.holes, record.network, record.occurs))
        parts = among_occurring([part.T for part in variables.split(chance)], variables, record.occurs)
        return central_intervals(parts, record.coding.columns, level)

    def impute(
        self, X: TableLike, *, method: str = "conditional", n_sweeps: int = 200, random_state: RandomSource = None
    ) -> Any:  # Any: a frame of the kind of X, or an array
        """Fill the missing cells of a table given the observed ones, which stay as they are.

        Parameters
        ----------
        X : table
            The columns of the fit. NaN, None, NA and masked cells are missing, and the cells that a `Table` marks as
            such.
        method : {"conditional", "gibbs"}, default "conditional"
            "conditional": the most probable value given the observed cells of the row; of a continuous column the
            expected one, rounded to the decimals of that column in the table of the fit.
            "gibbs": a draw from the distribution of the missing cells given the observed ones; draw several times to
            see how uncertain the cells are.
        n_sweeps : int, default 200
            Sweeps over the missing cells of "gibbs".
        random_state : int, Generator, RandomState, SeedSequence or None
            Seed of "gibbs".

        Returns
        -------
        DataFrame or ndarray of shape (n_samples, n_features)
            A frame of the kind of ``X`` with its columns in their order (and the index of pandas), those that are not
            in the fit unchanged; an array in the order of the fit for everything else. Observed cells are those of
            ``X``, not their categories; a column keeps its type if the filled cells allow it. Categories that do not
            occur in the table of the fit are not filled in. A `Table` has
            categories in place of cells, and the result has the first value of each; where a column of it is
            continuous it must have been read with ``missing="impute"``, which keeps numbers. Missing cells of a column
            that a threshold splits (``binarize``) are refused: no number is known for them.
        """
        if method not in ("conditional", "gibbs"):
            raise ArgumentError("method", 'must be "conditional" or "gibbs"', method)
        record, table = self._record, self._open(X, missing="impute").whole()
        asked = table, record.network, record.occurs, record.coding.columns
        if method == "gibbs":
            cells = fill_drawn(*asked, n_sweeps=n_sweeps, random_state=random_state)
        else:
            cells = fill_most_probable(*asked)
        return complete(X, cells, table, record.coding)

    def sample(
        self, n_samples: int = 1, random_state: RandomSource = None, *, burn_in: int = 1000, thin: int = 10
    ) -> Bytes | Table:
        """Draw rows from the network: independent ones by enumeration up to 20 columns, else a Gibbs chain.

        ``burn_in`` and ``thin`` are sweeps of the chain before the first row, and from one row to the next. Whether
        they are enough depends on the network: a MixingWarning is given if a few other chains, started from all zeros,
        from all ones and at random, disagree with each other, or if the shares of categories differ from those in the
        table of the fit. `check` compares more. Categories that do not occur there are not drawn.
        """
        record = self._record
        network = restrict_to(record.occurs, record.network)
        if can_enumerate(network):
            rows = exact_sample(network, n_samples, random_state=random_state)
        else:
            rows = gibbs_sample(network, n_samples, burn_in=burn_in, thin=thin, random_state=random_state)
            _warn_unless_mixed(network, burn_in, thin)
        _warn_if_unlike(np.asarray(rows), network.variables, record.data.shares, record.data.n_rows)
        return rows

    def plot(self, ax: Any = None, *, groups: NodeValues | None = None) -> Any:  # Any: of matplotlib, which is optional
        """Draw the network and return the axes; `isinglass.plot.network` has more options.

        ``groups`` is the group of every node, in order or by name, which decides its color.
        """
        record = self._record  # of an estimator that is not fitted, an error, with and without matplotlib
        from isinglass.show import plot

        return plot.network(record, ax, groups=groups)

    def report(
        self,
        filename: str | PathLike[str],
        X: TableLike | None = None,
        *,
        groups: NodeValues | None = None,
        title: str | None = None,
    ) -> None:
        """Write a self-contained HTML page about the network; `isinglass.report.write_report` has more options.

        ``X`` is the table of the fit, for the predictability of nodes; ``groups`` is the group of every node, in order
        or by name, which decides its color.
        """
        from isinglass.show.report import write_report

        write_report(self._record, check_path("filename", filename), X=X, groups=groups, title=title)

    def methods_text(self, *bootstraps: Bootstrap, check: ModelCheck | None = None) -> str:
        """Return a paragraph for the methods section of a paper: data, estimate, and choice of the penalty.

        The paragraph also describes ``bootstraps`` of the same table, with the CS-coefficients of those of kind
        "case-drop", and what ``check`` found, if they are given.
        """
        from isinglass.show.report.methods import describe_fit

        return describe_fit(self._record, *bootstraps, check=check).text

    def summary(self, n_edges: int = 10) -> str:
        """Return a summary as text: the network, its penalty, its certificate, and the strongest edges."""
        check_count("n_edges", n_edges, least=0)
        facts = [f"{name}: {text}" for name, text in self._record.facts().items()]
        columns = self._summary_columns(n_edges)
        return "\n".join([*facts, "", show_columns(columns, "edge", n_edges)] if columns else facts)

    def _summary_columns(self, n_edges: int) -> Columns:
        """Return the columns of the edge table that a summary shows, without those that are NaN in its first rows."""
        known = {name: values for name, values in self.edges().items() if name in (*SUMMARY, "log_odds_ratio")}
        return Columns({name: each for name, each in known.items() if any(one == one for one in each[:n_edges])})

    def edges(self) -> Columns:
        """Return the edge table as columns for a data frame, the largest absolute coupling (edge weight) first.

        Returns
        -------
        Columns
            A dict of arrays that prints as a table:

            - ``source``, ``target``: names of the two columns;
            - ``coupling``: θ_st, the edge weight (the log odds ratio given all other columns); its ``sign``, 1 or -1;
              and its absolute value, ``weight``;
            - ``refitted``: the coupling estimated on these edges without penalty, so without shrinkage, and its
              standard error, ``std_error``; NaN where the estimate is infinite; two-stage estimate only;
            - ``partial_correlation``: of two continuous columns, NaN for other pairs; if there are such columns;
            - ``q``: the smallest false discovery rate at which the pair is found, NaN where that could not be tested
              (an infinite estimate, or rare values); if ``fdr`` was set;
            - ``missing_information``: share of the information about the coupling that is lost to missing cells;
              imputed tables only;
            - ``stability``: share of the subsamples with this edge at the chosen alpha; StARS only;
            - ``n11``, ``n10``, ``n01``, ``n00``: rows in which source and target are 1 and 1, 1 and 0, 0 and 1, 0 and
              0; where rows have weights, sums of counts, or of sampling weights scaled to the effective number of
              rows; not where a node has other values, whose tables are in ``pair_counts``;
            - ``log_odds_ratio``: the marginal log odds ratio, log (n11+½)(n00+½) / (n10+½)(n01+½), which ignores the
              other columns; the halves keep it finite.
        """
        record = self._record
        drawn = record.network.without_covariates()
        columns = drawn.edges() | record.edge_attributes
        if drawn.variables.is_binary:
            tables = np.array(record.data.pair_counts or np.empty((0, 4), np.int64)).reshape(-1, 4)[drawn.by_strength]
            n00, n01, n10, n11 = np.ascontiguousarray(tables.T)
            columns |= {"n11": n11, "n10": n10, "n01": n01, "n00": n00}
            logs = [np.log(counts + 0.5) for counts in (n11, n10, n01, n00)]
            columns["log_odds_ratio"] = logs[0] - logs[1] - logs[2] + logs[3]
        return Columns(columns)

    def covariate_edges(self) -> Columns:
        """Return the couplings of variables with covariates as columns; see `Network.covariate_edges`.

        The default also has ``refitted``, the estimate in which the edges are not penalized either, and its standard
        error, ``std_error``; NaN where it is infinite.
        """
        record = self._record
        columns, refits = record.network.covariate_edges(), record.refits
        if refits is not None and record.network.variables.has_covariates:
            order = strongest_first(record.network.covariate_values)
            columns |= {"refitted": refits.covariates[order], "std_error": refits.covariate_errors[order]}
        return columns

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fit to a file that `isinglass.load` reads; see `isinglass.save`."""
        from isinglass.model_file import save

        save(self._record, path)


def _label(codes: AnyArray, variables: Variables) -> AnyArray:
    return codes if variables.is_plain else label_cells(codes, variables)


def _score_part(table: Bytes, weight: FloatArray | None, network: Network) -> FloatArray:
    return row_scores(network, table)


def _ask_part(table: Bytes, weight: FloatArray | None, network: Network) -> FloatArray:
    return ones_given_rest(network, table)


def _sum_energies(table: Bytes, weight: FloatArray | None, network: Network) -> float:
    found = energies(network, table)
    return float(found.sum() if weight is None else weight @ found)


def _warn_unless_mixed(network: Network, burn_in: int, thin: int) -> None:
    """Warn about a sample of one chain if a few other chains, from different starts, disagree with each other."""
    with suppress_warnings(MixingWarning):  # what is said here is about the sample
        found = gibbs_diagnostics(network, n_samples=_PROBED_ROWS, burn_in=burn_in, thin=thin)
    if not found.mixed:
        message = (
            f"The chain has not mixed after {burn_in} sweeps: {found.words} of {4 * _PROBED_ROWS} "
            f"rows of four other chains. The rows depend on its starting values. Raise {setting('burn_in')}, or "
            "fit a sparser network."
        )
        warn(MixingWarning(message))


def _warn_if_unlike(rows: Bytes, variables: Variables, shares: FloatArray, n_rows: float) -> None:
    """Warn about drawn rows in which categories have other shares than in the table of the fit, of ``n_rows`` rows."""
    if len(rows) < _COMPARED_ROWS:
        return
    found = np.bincount(variables.flat(rows).ravel(), minlength=len(shares)) / len(rows)
    known = np.minimum(shares, 1.0)
    pooled, size = (found + known) / 2, min(_COMPARED_ROWS, n_rows)  # rows of a chain are worth fewer than they are
    far = np.abs(found - known) > _FAR * np.sqrt(2 * pooled * (1 - pooled) / size)
    if far.any():
        worst = int(np.argmax(np.where(far, np.abs(found - known), 0.0)))
        where = variables.called(int(variables.column[worst]))
        message = (
            f"The samples do not look like the table of the fit: a category of {where} has a "
            f"share of {found[worst]:.3g}, in the table {known[worst]:.3g} ({int(far.sum())} of {len(far)} shares "
            "differ). Fit a sparser network, and run check(X)."
        )
        warn(MixingWarning(message))
