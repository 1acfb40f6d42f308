"""What the estimators share: reading tables, holding a `Fit`, and everything a fitted network can answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_is_fitted

from isinglass.arguments import RandomSource
from isinglass.arrays import Bytes, FloatArray
from isinglass.data import AnyTable, PartedTable, Table, as_table, read_parts
from isinglass.data.blocks import Block, is_in_parts
from isinglass.data.parts import read_like
from isinglass.errors import ArgumentError, DataError, setting
from isinglass.estimators.frames import complete_like, kind_of, make_frame
from isinglass.evaluate.imputation import cell_probabilities, fill_cells, label_cells, score_rows
from isinglass.fit import Fit
from isinglass.network import Network
from isinglass.select.method import Method
from isinglass.select.selector import Selector
from isinglass.select.settings import Run
from isinglass.simulate import gibbs_sample
from isinglass.solve.exact import can_enumerate, exact_sample


class IsingEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A network that is estimated from a table.

    Parameters that several estimators have:

    Parameters
    ----------
    alphas : int, float or array-like
        Number of log-spaced penalties from ``alpha_max`` down to a hundredth of it, or an explicit list.
    penalty_weights : None, "standardized" or symmetric matrix, default None
        Weight of each pair's penalty: 1; the sum of the two standard deviations; or given, where 0 leaves a pair
        unpenalized and inf forbids it.
    tol : float, default 1e-7
        Bound on the relative duality gap and on the KKT residual over all pairs.
    max_iter : int, default 100
        Newton steps per alpha.
    random_state : int, Generator, RandomState, SeedSequence or None
        Seed of the folds and subsamples.
    n_jobs : int, optional
        Folds or subsamples to run in parallel, as in joblib; -1: all cores. The result does not depend on it.
    n_threads : int, optional
        Threads of the kernels; default all cores, or what ISINGLASS_NUM_THREADS says. The result does not depend on it.
    device : str, optional
        Where to fit: "cpu", or a graphics processor such as "cuda" (`ising_path`); default what ISINGLASS_DEVICE says.
    reading : mapping, optional
        Options of `read_categories` for tables that are not 0/1 yet, such as ``{"encode": "auto", "missing": "drop"}``
        or ``{"kinds": {"age": "ordinal", "party": "nominal"}}``. Columns that are categorical by their type need none.

    Attributes
    ----------
    fit_ : Fit
        All that was found, as a plain record that knows nothing of scikit-learn: ``fit_.save(path)`` writes it to a
        file. The attributes below, and ``path_``, ``stability_``, ``stages_`` where there are any, are parts of it.
    network_ : Network
        Couplings, fields and names: the network by itself; ``couplings_`` (dense, made on demand) and ``fields_``.
    solution_ : Solution
        The network with its certificate: ``alpha_``, ``kkt_residual_``, ``duality_gap_``, ``converged_``, ``n_iter_``.
    alphas_ : ndarray of shape (n_alphas,)
        The penalties it was chosen from, if it was chosen.
    pair_counts_ : tuple of ndarrays
        Rows with 11, 10, 01 and 00 in the two columns of each edge of `solution_`.
    marginals_ : ndarray of shape (n_features,)
        Share of ones in every column; ``n_rows_``, the number of rows: the sum of the weights.
    coding_ : Coding
        How the table was read; ``encoding_`` has the values that stand for 0 and 1.
    n_features_in_ : int
        Number of columns; ``feature_names_in_``, their names, if they all have one that is a string.
    """

    reading: Mapping[str, Any] | None

    fit_: Fit

    _estimator = "joint"  # how pairs are estimated
    _settings: tuple[str, ...] = ("penalty_weights", "tol", "max_iter")

    def _keep(self, parameters: Mapping[str, Any]) -> None:
        """Keep the parameters of the constructor as they are, under their names, as scikit-learn wants it."""
        self.__dict__.update({name: value for name, value in parameters.items() if name != "self"})

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Estimate the network of a table.

        Parameters
        ----------
        X : array, data frame, sparse matrix, list of rows, Table or CategoryTable, shape (n_samples, n_features)
            Bytes of 0 and 1 or of categories, or what ``reading`` makes that. Not modified, and not kept.
            `IsingNetwork`, `IsingLasso` and `IsingLassoEBIC` also take a table in parts, as `isinglass.read_parts`
            does. Missing cells that were read with ``missing="impute"`` are drawn by `isinglass.impute`;
            ``imputation_`` says how.
        y : None
            Ignored; every column is both predictor and response.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights; by default those that a Table brings along.
        """
        table = self.read_table(X, sample_weight)
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        self._remember_columns(X, table)
        self._block = table.block if isinstance(table, PartedTable) else None
        run = Run(**{name: getattr(self, name, None) for name in ("n_jobs", "n_threads", "device")})
        self.fit_ = self._prepare(table, X, y).fit(table, run=run)
        if self.fit_.imputation is not None:
            self.imputation_ = self.fit_.imputation
        self._frame_kind = kind_of(X)
        return self

    @property
    def method(self) -> Method:
        """How the network is estimated, as plain settings: what `bootstrap` and others repeat."""
        return Method(self._estimator, self._selector(), **{name: getattr(self, name) for name in self._settings})

    def read_table(self, X: Any, sample_weight: ArrayLike | None = None) -> Any:
        """Return a table as `fit` reads it."""
        return _open_table(X, sample_weight, **(self.reading or {}))

    def _selector(self) -> Selector:
        """Return what chooses the penalty."""
        raise NotImplementedError

    def _prepare(self, table: Any, X: Any, y: Any) -> Method:
        """Return the method for one table."""
        return self.method

    def _remember_columns(self, X: Any, table: AnyTable) -> None:
        if isinstance(X, Table) or isinstance(table, PartedTable):
            if table.variables.named:
                self.feature_names_in_ = np.array(table.names, dtype=object)
        else:
            _check_feature_names(self, X, reset=True)
        self.n_features_in_ = table.shape[1]

    def __getattr__(self, name: str) -> Any:
        """Give parts of `fit_` under their names: ``alpha_`` is ``fit_.solution.alpha``."""
        if name.endswith("_") and not name.startswith("_") and "fit_" in vars(self):
            return getattr(self.fit_, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def score_samples(self, X: Any) -> Any:
        """Return the log pseudo-likelihood of every row of a table like that of `fit`, Σ_s log P(x_s | the rest).

        Of a table in parts: a list, an array per part. Where cells are missing (``missing="impute"``) the sum is over
        the observed ones, and missing ones are averaged over by Gibbs draws.
        """
        table = self._read(X)
        if table.holes is not None:
            return score_rows(table, self.fit_.network)
        return _ask_rows(table, "log_pseudolikelihood", self.fit_.network)

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean log pseudo-likelihood per row, the larger the better; of the rows that are not dropped.

        The arguments are those of `fit`, with the same columns in the same order.
        """
        table = self._read(X, drops=True, sample_weight=sample_weight)
        if table.holes is not None:
            return float(np.average(score_rows(table, self.fit_.network), weights=table.sample_weight))
        return float(table.sum_rows(_sum_rows, self.fit_.network) / table.total_weight)

    def predict_proba(self, X: Any) -> Any:
        """Return P(x_s = 1 | the rest of the row) for every cell; column s holds that of column s, not of a class.

        If the network has categories: a list with one array per column, of shape (n_samples, n_categories), of the
        probabilities of its categories (``network_.categories``).

        Every cell has an answer, so the result is as large as the dense table; a sparse one has to be made dense first.
        Of a table in parts: a list, an array per part. Missing cells (``missing="impute"``) are averaged over by Gibbs
        draws, and have a probability as well.
        """
        if hasattr(X, "tocsr") and hasattr(X, "toarray"):
            raise DataError(
                f"{setting('X')} must be dense here, because the result has a value for every cell; got a sparse "
                f"{type(X).__name__}. Pass X.toarray(), or some of its rows at a time."
            )
        table = self._read(X)
        if table.holes is None and table.variables.is_binary:
            return _ask_rows(table, "conditional_probabilities", self.fit_.network)  # perhaps in parts
        return cell_probabilities(table.whole(), self.fit_.network)

    def predict(self, X: Any) -> Any:
        """Return the more probable value of every cell given the rest of its row; 0 where both are equally so.

        If the network has categories, the most probable ones, as they are called in the table. Of a table in parts: a
        list, an array per part.
        """
        found = self.predict_proba(X)
        if not self.network_.variables.is_binary:
            return label_cells(np.column_stack([P.argmax(axis=1) for P in found]), self.network_.variables)
        parts = [(part > 0.5).astype(np.uint8) for part in (found if isinstance(found, list) else [found])]
        return parts if isinstance(found, list) else parts[0]

    def impute(
        self,
        X: Any,
        *,
        method: str = "conditional",
        probabilities: bool = False,
        n_sweeps: int = 200,
        random_state: RandomSource = None,
    ) -> Any:
        """Fill the missing cells of a table given the observed ones, which stay as they are.

        Parameters
        ----------
        X : as for `fit`
            The same columns in the same order. Missing are NaN, None, NA and masked cells, and the ``holes`` or
            ``filled`` cells of a Table.
        method : {"conditional", "gibbs"}, default "conditional"
            "conditional": the most probable value given the observed cells of the row; other missing cells are averaged
            over by Gibbs draws.
            "gibbs": a draw from the distribution of the missing cells given the observed ones; draw several times to
            see how uncertain the cells are.
        probabilities : bool, default False
            With "conditional", put the probability of a 1 into the missing cells, instead of 0 or 1.
        n_sweeps : int, default 200
            Sweeps over the missing cells of "gibbs".
        random_state : int, Generator, RandomState, SeedSequence or None
            Seed of "gibbs".

        Returns
        -------
        DataFrame, Bytes or ndarray of shape (n_samples, n_features)
            A frame of the kind of ``X`` with its columns (and the index of pandas), an array for everything else; in
            0/1 coding, whatever the coding of ``X``. If the network has categories, these as they are called.
        """
        check_is_fitted(self)
        if method not in ("conditional", "gibbs"):
            raise ArgumentError("method", 'must be "conditional" or "gibbs"', method)
        table = self._read(X, missing="impute")
        draws = None if method == "conditional" else {"n_sweeps": n_sweeps, "random_state": random_state}
        filled = fill_cells(table.whole(), self.network_, probabilities=probabilities, draws=draws)
        return complete_like(X, filled)

    def sample(
        self, n_samples: int = 1, random_state: RandomSource = None, *, burn_in: int = 1000, thin: int = 10
    ) -> Any:
        """Draw rows from the network: independent ones by enumeration up to 20 columns, else a Gibbs chain.

        ``burn_in`` and ``thin`` are sweeps of the chain before the first row, and from one row to the next. Whether
        they are enough depends on the network: `isinglass.simulate.gibbs_diagnostics` tells.
        """
        check_is_fitted(self)
        if can_enumerate(self.network_):
            return exact_sample(self.network_, n_samples, random_state=random_state)
        return gibbs_sample(self.network_, n_samples, burn_in=burn_in, thin=thin, random_state=random_state)

    def edges(self) -> Any:
        """Return the edges as a table, largest absolute coupling first; its columns are those of `Fit.edges`.

        A frame of the kind that `fit` had, a NumPy structured array for everything else.
        """
        check_is_fitted(self)
        return make_frame(self._frame_kind, self.fit_.edges())

    def __sklearn_is_fitted__(self) -> bool:
        return "fit_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = (self.reading or {}).get("missing", "error") != "error"
        tags.input_tags.string = False
        return tags

    def _read(
        self, X: Any, *, missing: str | None = None, drops: bool = False, sample_weight: ArrayLike | None = None
    ) -> AnyTable:
        """Return a table read like that of `fit`; unless asked to, it never drops rows: every one wants an answer."""
        check_is_fitted(self)
        self._check_columns(X)
        before = self.fit_.coding.missing
        never_drops = before == "drop" and not drops
        how = missing or (("error" if is_in_parts(X) else "impute") if never_drops else before)
        coding = replace(self.fit_.coding, names=None)  # columns are in the order of fit
        table = _open_table(X, sample_weight, vars(self).get("_block"), encode=coding, missing=how)
        ours, theirs = self.network_.variables, table.variables
        if isinstance(X, Table) and not (ours.is_plain or theirs.is_plain) and ours.categories != theirs.categories:
            raise DataError(
                f"{setting('X')} must have the categories of fit in the same order; got others. Read it with the "
                "coding of the fit: as_table(frame, encode=net.coding_)."
            )
        if isinstance(table, PartedTable):
            self._check_columns(table)
        _check_n_features(self, table, reset=False)
        gone = table.filled if table.holes is None else table.holes
        if missing is None and never_drops and gone is not None:
            raise DataError(
                f"{setting('X')} must have no missing cells here, because every row has an answer and none can be "
                f"dropped; got {int(gone.sum())} (NaN). Fill them with impute, or drop these rows first."
            )
        return table

    def _check_columns(self, X: Any) -> None:
        """Refuse other columns before their cells are looked at, where they have names or can be counted."""
        if is_in_parts(X):
            return  # of the parts, when they have been read
        if not isinstance(X, Table | PartedTable):
            _check_feature_names(self, X, reset=False)
        elif X.variables.named and "feature_names_in_" in vars(self) and X.names != tuple(self.feature_names_in_):
            unknown = [name for name in X.names if name not in set(self.feature_names_in_)]
            shown = f"the unknown column {unknown[0]!r}" if unknown else "other columns or another order"
            raise DataError(f"{setting('X')} must have the columns of fit in the same order; got {shown}.")
        if len(getattr(X, "shape", ())) == 2:
            _check_n_features(self, X, reset=False)
        elif isinstance(X, list | tuple) and X and hasattr(X[0], "__len__"):
            _check_n_features(self, np.empty((1, len(X[0]))), reset=False)


def _open_table(X: Any, sample_weight: ArrayLike | None, like: Block | None = None, **reading: Any) -> AnyTable:
    """Return a table, whole or in parts, with the weights of its rows; the options are not for a Table.

    ``like``: how the parts of another table were read, if it came in parts.
    """
    if is_in_parts(X):
        if like is not None:
            return read_like(X, like, sample_weight, **reading)
        return read_parts(X, sample_weight=sample_weight, **reading)
    table: AnyTable = as_table(X, sample_weight, **({} if isinstance(X, Table | PartedTable) else reading))
    return table


def _sum_rows(table: Bytes, weight: FloatArray | None, network: Network) -> float:
    """Return the log pseudo-likelihood of some rows under their weights."""
    rows = network.log_pseudolikelihood(table)
    return float(rows.sum() if weight is None else weight @ rows)


def _ask_rows(table: AnyTable, question: str, network: Network) -> Any:
    """Return what a network says about the rows of a table: an array, or a list of arrays of its parts."""
    if isinstance(table, PartedTable):
        return table.each(_answer_rows, question, network)
    return getattr(network, question)(table)


def _answer_rows(table: Bytes, weight: FloatArray | None, question: str, network: Network) -> Any:
    return getattr(network, question)(table)
