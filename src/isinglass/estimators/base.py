"""What the estimators share: reading tables, holding a `Fit`, and passing questions on to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted, validate_data

from isinglass.arguments import RandomSource
from isinglass.arrays import Bytes, FloatArray
from isinglass.data import AnyTable, Coding, PartedTable, Table, TableLike, as_table, read_parts
from isinglass.data.blocks import is_in_parts
from isinglass.data.frames import complete_like
from isinglass.errors import DataError, setting
from isinglass.fit import Cells, Fit, Floats
from isinglass.network import Network
from isinglass.results import Path, Solution, Stability
from isinglass.select.imputation import Imputation
from isinglass.select.method import Method
from isinglass.select.selector import Choice, Selector
from isinglass.select.settings import Run

Penalty = ArrayLike | str | None
Kinds = str | Sequence[str] | Mapping[Any, str] | None
READING = ("kinds", "scores", "missing", "encode", "binarize", "na_values", "weight_kind", "covariates")
"""Parameters that say how a table is read."""
FOUND = (
    "alphas",
    "path",
    "evidence",
    "stability",
    "stages",
    "edge_refits",
    "edge_errors",
    "edge_q",
    "ebic_path",
    "missing",
)
"""Parts of a fit that not every estimator has."""
CERTIFICATE = ("kkt_residual", "duality_gap", "converged", "n_iter")


if TYPE_CHECKING:
    from isinglass.evaluate.checking import CheckOptions, ModelCheck
    from isinglass.evaluate.likelihood import LogPartition, PartitionOptions
    from isinglass.select.bootstrap_result import Bootstrap

    class _ScikitLearn:
        """The types of scikit-learn's base classes, which have none: a base of unknown type lets any argument pass."""

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **parameters: object) -> Self: ...
        def set_fit_request(self, *, sample_weight: bool | str | None = ...) -> Self: ...
        def set_score_request(self, *, sample_weight: bool | str | None = ...) -> Self: ...
        def set_output(self, *, transform: str | None = None) -> Self: ...
        def fit_transform(self, X: TableLike, y: object = None, **options: object) -> Any: ...
        def __sklearn_tags__(self) -> Any: ...
        def __repr__(self, *limits: int) -> str: ...

else:

    class _ScikitLearn(TransformerMixin, BaseEstimator):
        """scikit-learn's base classes."""


class Fitted:
    """The attributes that `fit` sets."""

    fit_: Fit
    network_: Network
    solution_: Solution
    alpha_: float
    kkt_residual_: float
    duality_gap_: float
    converged_: bool
    n_iter_: int
    n_rows_: float
    tol_: float
    shares_: FloatArray
    marginals_: FloatArray
    pair_counts_: tuple[NDArray[Any], ...]  # Any: whole numbers, or sums of weights
    coding_: Coding
    encoding_: dict[Any, tuple[Any, Any]]
    alphas_: FloatArray
    path_: Path
    stability_: Stability
    stages_: list[dict[str, Any]]
    edge_refits_: FloatArray
    edge_errors_: FloatArray
    edge_q_: FloatArray
    ebic_path_: FloatArray
    imputation_: Imputation
    n_features_in_: int
    feature_names_in_: NDArray[Any]


@dataclass(kw_only=True, eq=False, repr=False)
class IsingEstimator(Fitted, _ScikitLearn):
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
    random_state : int, Generator, RandomState, SeedSequence or None, default 0
        Seed of the folds and subsamples.
    n_jobs : int, optional
        Folds or subsamples to run in parallel, as in joblib; -1: all cores. The result does not depend on it.
    n_threads : int, optional
        Threads of the kernels; default all cores, or what ISINGLASS_NUM_THREADS says. The result does not depend on it.
    device : str, optional
        Where to fit: "cpu", or a GPU such as "cuda" (`ising_path`); default what ISINGLASS_DEVICE says.
    kinds : {"binary", "ordinal", "nominal", "continuous"}, one of these per column, or a mapping, optional
        Which columns have categories, and whether these have an order. Columns that are categorical by their type need
        none.
    scores : mapping, optional
        Where the categories of ordinal columns lie, by name or number of the column.
    missing : {"error", "impute", "zero", "drop"}, default "error"
        What to do with missing cells: refuse them, draw them from the network, take them as 0, or leave out their rows.
    encode : mapping or "auto", optional
        What values mean, such as ``{"yes": 1, "no": 0}``; "auto" finds the two values of every column.
    binarize : float or mapping, optional
        Numbers above this threshold are 1, the others 0.
    na_values : sequence, optional
        Further values that stand for a missing cell, such as 99.
    weight_kind : {"sampling", "counts"}, optional
        What ``sample_weight`` stands for; by default whole numbers are counts, and others sampling weights.
    covariates : sequence of str or int, optional
        Columns to adjust for, by name or number: conditioned on, not modelled, and no nodes of the network.

    Attributes
    ----------
    fit_ : Fit
        All that was found, as a plain record that knows nothing of scikit-learn. The attributes below are parts of it.
    network_ : Network
        Couplings, fields and names: the network by itself; ``couplings_`` (dense, made on demand) and ``fields_``.
    solution_ : Solution
        The network with its certificate: ``alpha_``, ``kkt_residual_``, ``duality_gap_``, ``converged_``, ``n_iter_``.
    alphas_, path_ : ndarray, Path
        The penalties it was chosen from, and the networks there, if it was chosen.
    pair_counts_ : tuple of ndarrays
        For each edge of `solution_` the number of rows by category of the first column and of the second.
    shares_ : ndarray
        Share of every category of every column; ``marginals_``, the shares of ones, where columns have two values;
        ``n_rows_``, the number of rows: the sum of the weights.
    coding_ : Coding
        How the table was read; ``encoding_`` has the values that stand for 0 and 1.
    n_features_in_ : int
        Number of columns; ``feature_names_in_``, their names, if they all have one that is a string.
    """

    tol: float = 1e-7
    max_iter: int = 100
    kinds: Kinds = None
    scores: Mapping[Any, ArrayLike] | None = None
    missing: str = "error"
    encode: object = None
    binarize: float | Mapping[Any, float] | None = None
    na_values: Sequence[Any] | None = None
    weight_kind: str | None = None
    covariates: Sequence[str | int] | None = None

    def fit(self, X: TableLike, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Estimate the network of a table.

        Parameters
        ----------
        X : array, data frame, sparse matrix, list of rows or table, shape (n_samples, n_features)
            A 0/1 or categorical table, or what the parameters for reading make one. Not modified, and not kept.
            `IsingNetwork`, `IsingLasso` and `IsingLassoEBIC` also take a table in parts, as `isinglass.read_parts`
            does. Missing cells are drawn from the network with ``missing="impute"``; ``imputation_`` says how.
        y : None
            Ignored; every column is both predictor and response.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights; by default those that the table brings along.
        """
        table = self.read_table(X, sample_weight)
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        if isinstance(X, Table | PartedTable) or is_in_parts(X):
            self.n_features_in_ = table.shape[1]
            if table.variables.named:
                self.feature_names_in_ = np.array(table.names, dtype=object)
        else:
            validate_data(self, X, skip_check_array=True)
        run = Run(**{name: getattr(self, name, None) for name in ("n_jobs", "n_threads", "device")})
        self._hold(self._prepare(table, X, y).fit(table, run=run))
        return self

    def _hold(self, fit: Fit) -> None:
        """Set the fitted attributes."""
        self.fit_, self.network_, self.solution_ = fit, fit.network, fit.solution
        self.alpha_, self.n_rows_, self.tol_ = fit.solution.alpha, fit.n_rows, fit.tol
        self.shares_, self.pair_counts_ = fit.shares, fit.pair_counts
        if fit.network.variables.is_binary:
            self.marginals_ = fit.marginals
        self.coding_, self.encoding_ = fit.coding, fit.encoding
        for name in CERTIFICATE:
            setattr(self, f"{name}_", getattr(fit.solution, name))
        for name in FOUND:
            if getattr(fit, name) is not None:
                setattr(self, f"{name}_", getattr(fit, name))
        if fit.solution.alphas_per_node is not None:
            self.alphas_per_node_ = fit.solution.alphas_per_node
        if fit.imputation is not None:
            self.imputation_ = fit.imputation
        if fit.choice is not None:
            self._hold_choice(fit.choice)

    def _hold_choice(self, choice: Choice) -> None:
        """Set the fitted attributes that only one estimator has."""

    @property
    def couplings_(self) -> FloatArray:
        """Dense symmetric coupling matrix, made on demand."""
        return self.network_.couplings

    @property
    def fields_(self) -> FloatArray:
        """Fields of the nodes."""
        return self.network_.fields

    @property
    def method(self) -> Method:
        """How the network is estimated, as plain settings: what `bootstrap` and others repeat."""
        raise NotImplementedError

    def _make(self, estimator: str, selector: Selector, *names: str) -> Method:
        """Return a method with the tolerances and further parameters of this estimator."""
        return Method(estimator, selector, **{name: getattr(self, name) for name in ("tol", "max_iter", *names)})

    def _prepare(self, table: AnyTable, X: TableLike, y: object) -> Method:
        """Return the method for one table."""
        return self.method

    def read_table(self, X: TableLike, sample_weight: ArrayLike | None = None) -> AnyTable:
        """Return a table as `fit` reads it."""
        how = {name: getattr(self, name) for name in READING}
        stated = {name: value for name, value in how.items() if value is not None}
        if isinstance(X, Table | PartedTable):
            stated = {name: value for name, value in stated.items() if name in ("weight_kind", "covariates")}
        elif is_in_parts(X):
            return read_parts(X, sample_weight=sample_weight, **stated)
        table: AnyTable = as_table(X, sample_weight, **stated)
        return table

    def _open(
        self,
        X: TableLike,
        *,
        missing: str | None = None,
        every_row: bool = False,
        sample_weight: ArrayLike | None = None,
    ) -> AnyTable:
        """Return a table read like that of `fit`, whose columns are the same in the same order.

        ``every_row``: each row wants an answer, and none is dropped.
        """
        check_is_fitted(self)
        if isinstance(X, Table | PartedTable):
            self._check_names(X)
        elif not is_in_parts(X) and getattr(X, "ndim", 2) == 2:  # others are refused when they are read
            validate_data(self, X, reset=False, skip_check_array=True)
        missing = self.fit_.every_row if every_row else missing
        table: AnyTable = self.fit_.read(X, missing=missing, sample_weight=sample_weight, by_name=False)
        if is_in_parts(X):
            self._check_names(table)
        return table

    def _check_names(self, table: AnyTable) -> None:
        known = vars(self).get("feature_names_in_")
        if not table.variables.named or known is None or tuple(table.names) == tuple(known):
            return
        unknown = [name for name in table.names if name not in set(known)]
        shown = f"the unknown column {unknown[0]!r}" if unknown else "other columns or another order"
        raise DataError(f"{setting('X')} must have the columns of fit in the same order; got {shown}.")

    def score_samples(self, X: TableLike) -> Floats:
        """Return the log pseudo-likelihood of every row; see `Fit.score_samples`."""
        table = self._open(X, every_row=True)
        return self.fit_._score(table)

    def score(self, X: TableLike, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean log pseudo-likelihood per row, the larger the better; of the rows that are not dropped."""
        table = self._open(X, sample_weight=sample_weight)
        return self.fit_._mean_score(table)

    def log_partition(self, **options: Unpack[PartitionOptions]) -> LogPartition:
        """Return log Z of the network with its error; see `Fit.log_partition`."""
        check_is_fitted(self)
        return self.fit_.log_partition(**options)

    def log_likelihood(
        self, X: TableLike, sample_weight: ArrayLike | None = None, *, partition: LogPartition | None = None
    ) -> float:
        """Return the mean log P(x) of whole rows; see `Fit.log_likelihood`."""
        return self.fit_._joint(self._open(X, sample_weight=sample_weight), partition)

    def check(
        self, X: TableLike, sample_weight: ArrayLike | None = None, **options: Unpack[CheckOptions]
    ) -> ModelCheck:
        """Tell whether rows simulated from the network look like those of a table; see `Fit.check`."""
        return self.fit_._check(self._open(X, sample_weight=sample_weight), options)

    def predict_proba(self, X: TableLike) -> Floats:
        """Return the conditional probability of every cell; see `Fit.predict_proba`.

        The result is as large as the dense table; a sparse one has to be made dense first.
        """
        if hasattr(X, "tocsr") and hasattr(X, "toarray"):
            raise DataError(
                f"{setting('X')} must be dense here, because the result has a value for every cell; got a sparse "
                f"{type(X).__name__}. Pass X.toarray(), or some of its rows at a time."
            )
        table = self._open(X, every_row=True)
        return self.fit_._probabilities(table)

    def predict(self, X: TableLike) -> Cells:
        """Return the most probable value of every cell given the rest of its row; see `Fit.predict`."""
        found = self.predict_proba(X)
        return self.fit_._most_probable(found)

    def predict_interval(self, X: TableLike, level: float = 0.95) -> FloatArray:
        """Return between which numbers the cells of continuous columns lie; see `Fit.predict_interval`."""
        return self.fit_._intervals(self._open(X, every_row=True).whole(), level)

    def transform(self, X: TableLike) -> Any:  # Any: a frame of the kind of X, or an array
        """Return the table with its missing cells filled by their most probable values; as `fit` reads it else."""
        table = self._open(X, every_row=True)
        return complete_like(X, self.fit_._fill(table.whole(), "conditional", False, 0, None))

    def get_feature_names_out(self, input_features: object = None) -> NDArray[Any]:
        """Return the names of the columns."""
        check_is_fitted(self)
        return np.array(self.network_.names, dtype=object)

    def impute(
        self,
        X: TableLike,
        *,
        method: str = "conditional",
        probabilities: bool = False,
        n_sweeps: int = 200,
        random_state: RandomSource = None,
    ) -> Any:  # Any: a frame of the kind of X, or an array
        """Fill the missing cells of a table given the observed ones; see `Fit.impute`."""
        table = self._open(X, missing="impute")
        return complete_like(X, self.fit_._fill(table.whole(), method, probabilities, n_sweeps, random_state))

    def sample(
        self, n_samples: int = 1, random_state: RandomSource = None, *, burn_in: int = 1000, thin: int = 10
    ) -> Bytes | Table:
        """Draw rows from the network; see `Fit.sample`."""
        check_is_fitted(self)
        return self.fit_.sample(n_samples, random_state, burn_in=burn_in, thin=thin)

    def edges(self) -> dict[str, NDArray[Any]]:
        """Return the edges as columns, largest absolute coupling first; ready for a data frame. See `Fit.edges`."""
        check_is_fitted(self)
        return self.fit_.edges()

    def plot(self, ax: object = None, **options: Any) -> Any:  # Any: axes of matplotlib, which is optional
        """Draw the network; see `Fit.plot`."""
        check_is_fitted(self)
        return self.fit_.plot(ax, **options)

    def report(
        self, filename: str | PathLike[str], X: TableLike | None = None, **options: Any
    ) -> None:  # Any: those of `build_report`
        """Write a self-contained HTML page about the network; see `Fit.report`."""
        check_is_fitted(self)
        self.fit_.report(filename, X, **options)

    def methods_text(self, bootstrap: Bootstrap | None = None, case_drops: Bootstrap | None = None) -> str:
        """Return a paragraph for the methods section of a paper; see `Fit.methods_text`."""
        check_is_fitted(self)
        return self.fit_.methods_text(bootstrap, case_drops)

    def summary(self, n_edges: int = 10) -> str:
        """Return in words what was found, and the strongest edges as a table."""
        check_is_fitted(self)
        return self.fit_.summary(n_edges)

    def __sklearn_is_fitted__(self) -> bool:
        return "fit_" in vars(self)

    def __repr__(self, *limits: int) -> str:
        text = super().__repr__(*limits)
        if "fit_" not in vars(self):
            return text
        state = "converged" if self.converged_ else "NOT converged"
        return f"{text}, fitted: {self.network_.n_edges} edges among {self.n_features_in_} columns, {state}"

    def _repr_html_(self) -> str:
        settings: str = estimator_html_repr(self)
        return settings + self.fit_._repr_html_() if "fit_" in vars(self) else settings

    def __sklearn_tags__(self) -> Any:  # Any: scikit-learn has no types
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.string = False
        tags.transformer_tags.preserves_dtype = []  # cells are 0 and 1, or as the table calls them
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class JointEstimator(IsingEstimator):
    """A network of the joint pseudo-likelihood; its parameters are among those of `IsingEstimator`."""

    penalty_weights: Penalty = None
    n_threads: int | None = None
    device: str | None = None


@dataclass(kw_only=True, eq=False, repr=False)
class ResamplingEstimator(JointEstimator):
    """A network whose penalty is chosen by parts of the rows."""

    random_state: RandomSource = 0
    n_jobs: int | None = None
