"""What the estimators share: reading tables, naming the attributes, and everything a fitted network can answer."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_feature_names, _check_n_features, _num_samples, check_is_fitted

from isinglass.arguments import is_real
from isinglass.data import BinaryTable, check_sample_weight, read_binary
from isinglass.data.reading import convert_source
from isinglass.data.sources import Source, open_source
from isinglass.errors import ArgumentError, DataError, setting
from isinglass.estimators.edges import count_edges, edge_table
from isinglass.estimators.frames import complete_like, kind_of
from isinglass.evaluate.imputation import fill_missing
from isinglass.fit import Evidence, Fit
from isinglass.network import Network
from isinglass.randomness import RandomSource
from isinglass.results import Path, Solution, Stability
from isinglass.simulate import gibbs_sample
from isinglass.solve.estimable import count_and_name
from isinglass.solve.exact import MAX_NODES, exact_sample

__all__ = ["IsingEstimator", "check_alpha"]

FloatArray = NDArray[np.float64]
Table = NDArray[np.uint8]
METHODS = ("conditional", "gibbs")


class IsingEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A network that is estimated from a table: subclasses say how, in ``_estimate``."""

    missing: str
    encode: Any
    coding: str
    binarize: float | None

    network_: Network
    solution_: Solution

    # What kind of fit this is, for `fit_`.
    _method = "joint"
    _path_settings: tuple[str, ...] = ("penalty_weights", "tol", "max_iter")
    _criterion: str | None = None
    _choice_settings: tuple[str, ...] = ("alpha",)

    # ------------------------------------------------------------------------------------- fitting

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Estimate the network of a table.

        Parameters
        ----------
        X : array, data frame, sparse matrix, list of rows or BinaryTable, shape (n_samples, n_features)
            Table of 0 and 1, or what ``encode``, ``coding`` or ``binarize`` makes 0 and 1. Not modified, and not kept.
        y : None
            Ignored; every column is both predictor and response.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights; by default those that a BinaryTable brings along.

        Returns
        -------
        self
            The fitted estimator.
        """
        table = read_binary(X, missing=self.missing, **self._meaning())
        weight = _weights_of(X, table, sample_weight)
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        self._remember_columns(X, table)
        self._encoded_before = isinstance(X, BinaryTable)
        n_rows = float(len(table) if weight is None else weight.sum())
        marginals = count_and_name(table, weight) / n_rows
        solution, found = self._estimate(table, weight, y)
        self._remember_solution(
            solution,
            table.names,
            n_rows=n_rows,
            marginals=marginals,
            encoding=table.encoding,
            edge_counts=count_edges(table.X, weight, solution.edge_index),
        )
        for name, value in found.items():
            setattr(self, name, value.with_names(table.names) if isinstance(value, Path) else value)
        self._frame_kind = kind_of(X)
        return self

    def _estimate(self, table: BinaryTable, weight: FloatArray | None, y: Any) -> tuple[Solution, dict[str, Any]]:
        """Return the network, and further attributes by name."""
        raise NotImplementedError

    def _remember_columns(self, X: Any, table: BinaryTable) -> None:
        if isinstance(X, BinaryTable):
            if X.names is not None:
                self.feature_names_in_ = np.array(X.names, dtype=object)
        else:
            _check_feature_names(self, X, reset=True)
        self.n_features_in_ = table.shape[1]

    def _remember_solution(
        self,
        solution: Solution,
        names: Sequence[str] | None,
        *,
        n_rows: float,
        marginals: FloatArray,
        encoding: Mapping[Hashable, tuple[Any, Any]],
        edge_counts: NDArray[Any],
    ) -> None:
        """Set the attributes that all estimators have; a model file does so too."""
        self.solution_ = solution.with_names(names)
        self.network_ = self.solution_.network
        self.alpha_ = solution.alpha
        self.fields_ = self.network_.fields
        self.kkt_residual_, self.duality_gap_ = solution.kkt_residual, solution.duality_gap
        self.converged_, self.n_iter_ = solution.converged, solution.n_iter
        self.n_rows_, self.marginals_ = n_rows, marginals
        self.encoding_ = dict(encoding)
        self.edge_counts_ = edge_counts

    @property
    def fit_(self) -> Fit:
        """All that was found, as a plain record that knows nothing of scikit-learn."""
        check_is_fitted(self)
        found: dict[str, Any] = {
            name: getattr(self, f"{name}_", None) for name in ("path", "stability", "stages", "edge_errors")
        }
        settings = {name: getattr(self, name) for name in self._path_settings}
        criterion = self._criterion or getattr(self, "criterion", None)
        return Fit(
            solution=self.solution_,
            method=getattr(self, "method", self._method),
            settings={name: value for name, value in settings.items() if value is not None},
            criterion=criterion,
            choice=self._choice(),
            chosen=criterion or "given",
            tol=getattr(self, "tol_", getattr(self, "tol", float("nan"))),
            n_rows=self.n_rows_,
            marginals=self.marginals_,
            edge_counts=self.edge_counts_,
            encoding=self.encoding_,
            evidence=self._evidence(),
            **found,
        )

    def _choice(self) -> dict[str, Any]:
        """Return the settings of the criterion, by the parameters of its function."""
        return {name: getattr(self, name) for name in self._choice_settings}

    def _evidence(self) -> Evidence | None:
        """Return the curve that the penalty was read from."""
        if not hasattr(self, "alphas_"):
            return None
        alphas: FloatArray = self.alphas_
        shared: dict[str, Any] = {"alphas": alphas, "choice": int(np.abs(alphas - self.alpha_).argmin())}
        if hasattr(self, "ebic_path_"):
            settings = {name: getattr(self, name) for name in ("gamma", "relaxed")}
            return Evidence(kind="ebic", values=self.ebic_path_, settings=settings, **shared)
        if hasattr(self, "cv_results_"):
            values, errors = (self.cv_results_[f"{name}_test_score"] for name in ("mean", "standard_error"))
            settings = {"rule": getattr(self, "rule", None)}
            return Evidence(kind="score", values=values, errors=errors, settings=settings, **shared)
        return None

    @property
    def couplings_(self) -> FloatArray:
        """Dense symmetric coupling matrix with zero diagonal, made on demand."""
        return self.network_.couplings

    # ------------------------------------------------------------------------------------- what rows look like

    def score_samples(self, X: Any) -> FloatArray:
        """Return the log pseudo-likelihood of every row, Σ_s log P(x_s | the rest of the row).

        Parameters
        ----------
        X : array, data frame, sparse matrix, list of rows or BinaryTable, shape (n_samples, n_features)
            The columns of `fit`, in the same order.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        table = self._read(X)
        return self.network_.log_pseudolikelihood(table.X)

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean log pseudo-likelihood per row; larger is better.

        With ``missing="drop"`` the mean is over the rows without missing cells.

        Parameters
        ----------
        X : array, data frame, sparse matrix, list of rows or BinaryTable, shape (n_samples, n_features)
            The columns of `fit`, in the same order.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights; by default those that a BinaryTable brings along.

        Returns
        -------
        float
        """
        table = self._read(X, missing=self.missing)
        weight = _weights_of(X, table, sample_weight)
        return float(np.average(self.network_.log_pseudolikelihood(table.X), weights=weight))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return P(x_s = 1 | the rest of the row) for every cell.

        Parameters
        ----------
        X : array, data frame, list of rows or BinaryTable, shape (n_samples, n_features)
            The columns of `fit`, in the same order. Every cell has an answer, so that the result is as large as the
            dense table; a sparse one has to be made dense first.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Column s holds the probability that column s is 1, not that of a class.
        """
        _refuse_sparse(X)
        table = self._read(X)
        return self.network_.conditional_probabilities(table.X)

    def predict(self, X: Any) -> Table:
        """Return the more probable value of every cell given the rest of its row; 0 where both are equally so.

        Parameters
        ----------
        X : array, data frame, list of rows or BinaryTable, shape (n_samples, n_features)
            As for `predict_proba`.

        Returns
        -------
        ndarray of uint8, shape (n_samples, n_features)
        """
        return (self.predict_proba(X) > 0.5).astype(np.uint8)

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
        X : array, data frame, sparse matrix, list of rows or BinaryTable, shape (n_samples, n_features)
            The columns of `fit`, in the same order. Missing are NaN, None, NA and masked cells, whatever the parameter
            ``missing`` says, and the cells that a BinaryTable says were ``filled``.
        method : {"conditional", "gibbs"}, default "conditional"
            "conditional": the more probable value. Other missing cells of the row stand in with their probabilities,
            from the marginals to a fixed point (mean field), which is exact where no two of them are neighbours.
            "gibbs": a draw from the distribution of the missing cells given the observed ones; draw several times to
            see how uncertain the cells are.
        probabilities : bool, default False
            Put the probability of a 1 into the missing cells, instead of 0 or 1; with "gibbs", its mean over the
            second half of the sweeps.
        n_sweeps : int, default 200
            Sweeps over the missing cells of "gibbs".
        random_state : int, Generator, RandomState, SeedSequence or None
            Seed of "gibbs".

        Returns
        -------
        DataFrame, Table or ndarray of shape (n_samples, n_features)
            A frame of the kind of ``X`` with its columns (and the index of pandas), an array for everything else; in
            0/1 coding, whatever the coding of ``X``.
        """
        check_is_fitted(self)
        if method not in METHODS:
            raise ArgumentError("method", 'must be "conditional" or "gibbs"', method)
        table = self._read(X, missing="zero")
        draws = None if method == "conditional" else {"n_sweeps": n_sweeps, "random_state": random_state}
        filled = fill_missing(self.network_, table, self.marginals_, probabilities=probabilities, draws=draws)
        return complete_like(X, filled)

    def sample(
        self, n_samples: int = 1, random_state: RandomSource = None, *, burn_in: int = 1000, thin: int = 10
    ) -> Table:
        """Draw rows from the network: independent ones by enumeration up to 20 columns, else a Gibbs chain.

        Parameters
        ----------
        n_samples : int, default 1
            Number of rows.
        random_state : int, Generator, RandomState, SeedSequence or None
            Seed.
        burn_in, thin : int, default 1000 and 10
            Sweeps of the chain before the first row, and from one row to the next. Whether they are enough depends on
            the network: `isinglass.simulate.gibbs_diagnostics` tells.

        Returns
        -------
        ndarray of uint8, shape (n_samples, n_features)
        """
        check_is_fitted(self)
        if self.network_.n_features <= MAX_NODES:
            return exact_sample(self.network_, n_samples, random_state=random_state)
        return gibbs_sample(self.network_, n_samples, burn_in=burn_in, thin=thin, random_state=random_state)

    # ------------------------------------------------------------------------------------- the network

    def edges(self) -> Any:
        """Return the edges as a table, largest absolute coupling first.

        Returns
        -------
        DataFrame, Table or structured array
            A frame of the kind that `fit` had, a NumPy structured array for everything else. Columns:

            - ``source``, ``target``: names of the two columns, ``x0``, ``x1``, … if they have none;
            - ``coupling``: θ_st, the log odds ratio given all other columns, its ``sign``, 1 or -1, and its absolute
              value, ``weight``;
            - ``std_error``: standard error of the unpenalised coupling, NaN where that is infinite (IsingNetwork only);
            - ``stability``: share of the subsamples with this edge at the chosen alpha (IsingLassoStARS only);
            - ``n11``, ``n10``, ``n01``, ``n00``: rows (sums of weights) in which source and target are 1 and 1, 1 and
              0, 0 and 1, 0 and 0;
            - ``log_odds_ratio``: the marginal one, log (n11+½)(n00+½) / (n10+½)(n01+½), without regard to other
              columns; the halves keep it finite, and are small beside counts of rows: rescale weights to mean 1.
        """
        check_is_fitted(self)
        stability: Stability | None = getattr(self, "stability_", None)
        shares = None if stability is None else stability.edge_frequencies[stability.index]
        errors = getattr(self, "edge_errors_", None)
        return edge_table(self.network_, self.edge_counts_, shares, errors, self._frame_kind)

    # ------------------------------------------------------------------------------------- scikit-learn

    def __sklearn_is_fitted__(self) -> bool:
        return "network_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing in ("zero", "drop")
        tags.input_tags.string = False
        return tags

    # ------------------------------------------------------------------------------------- reading

    def _read(self, X: Any, *, missing: str | None = None) -> BinaryTable:
        """Return a table like that of `fit`; unless asked to, it never drops rows: every one wants an answer."""
        check_is_fitted(self)
        self._check_columns(X)
        keeps_rows = missing is None and self.missing == "drop"
        how = "zero" if keeps_rows else missing or self.missing
        table = X if isinstance(X, BinaryTable) else self._convert(open_source(X), how)
        _check_n_features(self, table, reset=False)
        if keeps_rows and table.filled is not None:
            raise DataError(
                f"{setting('X')} must have no missing cells here, because every row has an answer and none can "
                f"be dropped; got {int(table.filled.sum())} (NaN). Fill them with impute, or drop these rows "
                "first."
            )
        return table

    def _meaning(self) -> dict[str, Any]:
        """Return what the parameters say about values, as `read_binary` takes it."""
        if self.coding not in ("bits", "spins"):
            raise DataError(f'coding must be "bits" (0 and 1) or "spins" (-1 and 1); got {self.coding!r}.')
        if self.coding == "spins" and (self.encode is not None or self.binarize is not None):
            raise DataError('encode, coding="spins" and binarize must not be combined; got more than one of them.')
        return {"encode": {-1: 0, 1: 1} if self.coding == "spins" else self.encode, "binarize": self.binarize}

    def _convert(self, source: Source, missing: str) -> BinaryTable:
        """Read values as in the table of `fit`, where "auto" found their meaning or a BinaryTable brought it along."""
        parameters = self._meaning()
        if self._encoded_before or (isinstance(self.encode, str) and self.encode == "auto"):
            parameters["encode"] = self._known_encode(source)
        if self._encoded_before and self.encoding_:  # the other parameters had no part in that table
            parameters["binarize"] = None
        return convert_source(source, names=None, missing=missing, **parameters)

    def _known_encode(self, source: Source) -> dict[Hashable, tuple[Any, Any]] | None:
        """Return what the values of the columns mean; columns are found by place, as one table may have no names."""
        n_columns = source.shape[1]
        if not self.encoding_ or n_columns != self.n_features_in_:
            return None  # a table of another width will be refused for that
        places = {name: k for k, name in enumerate(self.network_.names)}
        labels: Sequence[Hashable] = range(n_columns) if source.names is None else [str(name) for name in source.names]
        return {
            labels[label if isinstance(label, int) else places[str(label)]]: pair
            for label, pair in self.encoding_.items()
        }

    def _check_columns(self, X: Any) -> None:
        """Refuse other columns before their cells are looked at, where they have names or can be counted."""
        if isinstance(X, BinaryTable):
            self._check_names(X.names)
        else:
            _check_feature_names(self, X, reset=False)
        if len(getattr(X, "shape", ())) == 2:
            _check_n_features(self, X, reset=False)

    def _check_names(self, names: tuple[str, ...] | None) -> None:
        """Do for a BinaryTable what scikit-learn does for frames."""
        known = tuple(getattr(self, "feature_names_in_", ()))
        if names is None or not known or names == known:
            return
        unknown = [name for name in names if name not in set(known)]
        shown = f"the unknown column {unknown[0]!r}" if unknown else "other columns or another order"
        raise DataError(f"{setting('X')} must have the columns of fit in the same order; got {shown}.")


def check_alpha(alpha: Any) -> float:
    """Return ``alpha`` as a float if it can be a penalty strength."""
    number = is_real(alpha)
    if not number or not (np.isfinite(alpha) and alpha >= 0):
        raise ArgumentError("alpha", "must be a finite number that is not negative", alpha)
    return float(alpha)


def _weights_of(X: Any, table: BinaryTable, sample_weight: ArrayLike | None) -> FloatArray | None:
    """Return the weights of the rows that were read."""
    if sample_weight is None:
        return table.sample_weight
    if table.sample_weight is not None:
        raise DataError("sample_weight must be given once; got it beside a table that has weights of its own.")
    if isinstance(X, BinaryTable) or table.rows is None:
        return check_sample_weight(sample_weight, len(table))
    weight = check_sample_weight(sample_weight, _num_samples(X))
    assert weight is not None
    return check_sample_weight(weight[table.rows], len(table))


def _refuse_sparse(X: Any) -> None:
    if hasattr(X, "tocsr") and hasattr(X, "toarray"):
        raise DataError(
            f"{setting('X')} must be dense here, because the result has a value for every cell; got a sparse "
            f"{type(X).__name__}. Pass X.toarray(), or some of its rows at a time."
        )
