"""What the estimators share: reading tables, holding a `Fit`, and passing questions on to it.

They are dataclasses, whose generated ``__init__`` stores every parameter as it is, as scikit-learn asks. The records of
settings behind an estimator (`ReadOptions`, `Method` with its selector, `Run`) have fields of the same names: `fit`
makes these records, and they check what they are given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted, validate_data

from isinglass.arguments import Options, RandomSource
from isinglass.arrays import AnyArray, FloatArray
from isinglass.data import AnyTable, TableLike
from isinglass.data.as_table import open_table
from isinglass.data.completion import complete
from isinglass.data.containers import as_frame
from isinglass.data.meaning.known_columns import comparable_names
from isinglass.data.options import Encode, ReadOptions
from isinglass.data.parts.blocks import is_in_parts
from isinglass.data.parts.parted_table import is_read
from isinglass.data.table import Kinds
from isinglass.errors import ArgumentError, DataError, plural, setting
from isinglass.evaluate.prediction import fill_most_probable
from isinglass.fit import Fit
from isinglass.fitted import FittedNetwork
from isinglass.names import tidy_name
from isinglass.penalties import Penalty
from isinglass.select.method import Method
from isinglass.select.selector import Selector
from isinglass.select.settings import Run

if TYPE_CHECKING:

    class _ScikitLearn:
        """The types of scikit-learn's base classes, which have none: a base of unknown type lets any argument pass."""

        def get_params(self, deep: bool = True) -> Options: ...
        def set_params(self, **parameters: object) -> Self: ...
        def set_fit_request(self, *, sample_weight: bool | str | None = ...) -> Self: ...
        def set_score_request(self, *, sample_weight: bool | str | None = ...) -> Self: ...
        def set_output(self, *, transform: str | None = None) -> Self: ...
        def fit_transform(
            self, X: TableLike, y: object = None, **options: object
        ) -> Any: ...  # Any: as for `transform`
        def __sklearn_tags__(self) -> Any: ...  # Any: scikit-learn has no types
        def __repr__(self, *limits: int) -> str: ...

else:

    class _ScikitLearn(TransformerMixin, BaseEstimator):
        """scikit-learn's base classes."""


@dataclass(kw_only=True, eq=False, repr=False)
class IsingEstimator(FittedNetwork, _ScikitLearn):
    """A network that is estimated from a table; each class describes its parameters.

    Attributes
    ----------
    fit_ : Fit
        The complete result: the path that was searched, standard errors, counts of pairs, how the table was read, ….
    network_ : Network
        Couplings, fields and names; ``couplings_`` is the dense matrix of couplings, made on demand.
    alpha_ : float
        The penalty; NaN where every column has its own.
    converged_ : bool
        Whether the network is proved optimal to ``tol``; ``fit_.solution`` has the certificate.
    n_iter_ : int
        Number of steps of the solver.
    n_features_in_ : int
        Number of columns; ``feature_names_in_`` has their names, if all names are strings.
    """

    tol: float = 1e-7
    max_iter: int = 100
    kinds: Kinds | None = None
    scores: Mapping[Any, ArrayLike] | None = None
    missing: str = "error"
    encode: Encode = None
    binarize: float | Mapping[Any, float] | None = None
    na_values: Sequence[Any] | None = None
    reverse: Sequence[str | int] | None = None
    weight_kind: str | None = None
    covariates: Sequence[str | int] | None = None

    _estimator: ClassVar[str] = "joint"  # how pairs are estimated, see `Method`
    _selector_class: ClassVar[type[Selector]]  # what chooses the penalty

    def fit(self, X: TableLike, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Estimate the network of a table.

        Parameters
        ----------
        X : array, data frame, sparse matrix, list of rows or table, shape (n_samples, n_features)
            A table whose values are 0 and 1, or have a meaning by the parameters of the estimator. It is neither
            modified nor stored. `IsingNetwork`, `IsingLasso` and `IsingLassoEBIC` also take a table in parts, as
            `isinglass.read_parts` does.
        y : None
            Ignored; every column is both predictor and response.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights; by default those of the table.
        """
        table = self.as_table(X, sample_weight)
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)  # another fit may not set it
        if is_read(X) or is_in_parts(X):
            self.n_features_in_ = table.shape[1]
            if table.variables.named:
                self.feature_names_in_ = np.array(table.names, dtype=object)
        else:
            validate_data(self, X, skip_check_array=True)
        self._check_folds(table, X)
        self._set_attributes(self.method.fit(table, run=Run(**self._parameters_of(Run))))
        return self

    def _check_folds(self, table: AnyTable, X: TableLike) -> None:
        """Refuse folds that this table cannot have."""

    def _set_attributes(self, fit: Fit) -> None:
        self.fit_ = fit
        self.network_ = fit.network
        self.alpha_ = fit.solution.alpha
        self.converged_ = fit.solution.converged
        self.n_iter_ = fit.solution.n_iter

    @property
    def couplings_(self) -> FloatArray:
        """Dense symmetric coupling matrix, made on demand; see `Network.couplings`."""
        return self._record.network.couplings

    @property
    def method(self) -> Method:
        """The `Method` with the settings of this estimator, which `bootstrap` and other functions use."""
        selector = self._selector()
        of_selector = self._parameters_of(type(selector))  # whose rule is not that of regressions
        settings = {name: value for name, value in self._parameters_of(Method).items() if name not in of_selector}
        return Method(self._estimator, selector, **settings)

    def _selector(self) -> Selector:
        return self._selector_class(**self._parameters_of(self._selector_class))

    def _parameters_of(self, record: type) -> Options:
        """Return the parameters that are fields of a record of settings, under the same names."""
        names = {field.name for field in fields(record)}
        return {name: value for name, value in vars(self).items() if name in names}

    def as_table(self, X: TableLike, sample_weight: ArrayLike | None = None) -> AnyTable:
        """Return a table as `fit` reads it."""
        stated = {name: value for name, value in self._parameters_of(ReadOptions).items() if value is not None}
        return open_table(X, ReadOptions(**stated), sample_weight)

    def _open(self, X: TableLike, *, missing: str | None = None, sample_weight: ArrayLike | None = None) -> AnyTable:
        """Return a table read like that of `fit`, whose columns are the same in the same order."""
        check_is_fitted(self)
        if is_in_parts(X):
            table: AnyTable = self.fit_.read(X, missing=missing, sample_weight=sample_weight, by_name=False)
            self._check_names(table.names if table.variables.named else None)
            return table
        if is_read(X):
            self._check_names(X.names if X.variables.named else None)
        elif getattr(X, "ndim", 2) == 2:  # others are refused when they are read
            frame = as_frame(X)
            labels = () if frame is None else tuple(map(tidy_name, frame.columns))
            if labels not in self.fit_.coding.called:  # scikit-learn does not know other names that columns had
                validate_data(self, X, reset=False, skip_check_array=True)  # it compares labels that are text
            if frame is not None:
                X = frame  # an Arrow stream is converted once
                self._check_names(None if labels == tuple(map(str, range(len(labels)))) else labels)
        return self.fit_.read(X, missing=missing, sample_weight=sample_weight)

    def _check_names(self, own: Sequence[str] | None) -> None:
        """Refuse columns with other names than those of fit."""
        variables = self.network_.variables
        names, known = comparable_names(own, variables.names if variables.named else None, variables.n_features)
        if names is None or known is None or tuple(names) in (tuple(known), *self.fit_.coding.called):
            return
        unknown = [name for name in names if name not in set(known)]
        shown = f"the unknown column {unknown[0]!r}" if unknown else "other columns or another order"
        raise DataError(f"{setting('X')} must have the columns of fit in the same order; got {shown}.")

    @property
    def _record(self) -> Fit:
        check_is_fitted(self)
        return self.fit_

    def score(self, X: TableLike, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean log pseudo-likelihood per row; larger is better. Rows that are dropped do not count.

        The columns are those of `fit` alone; rows count by ``sample_weight``, or by the weights of a `Table`.
        """
        return self._record.mean_score(self._open(X, sample_weight=sample_weight))

    def transform(self, X: TableLike) -> Any:  # Any: a frame of the kind of X, or an array
        """Return a table with its missing cells filled by their most probable values; the others stay as they are.

        Of a `Table`, as in `impute`, its categories. Whether cells may be missing is decided by ``missing``.
        """
        record, table = self._record, self._open_every_row(X).whole()
        filled = fill_most_probable(table, record.network, record.occurs, record.coding.columns)
        return complete(X, filled, table, record.coding)

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> AnyArray:
        """Return the names of the columns; other ``input_features`` than those of `fit` are refused."""
        names = np.array(self._record.network.names, dtype=object)
        given = names if input_features is None else np.asarray(input_features, dtype=object)
        is_other = self.network_.variables.named and list(map(tidy_name, given)) != names.tolist()
        if len(given) != len(names) or is_other:
            raise ArgumentError(
                "input_features", f"must be the {len(names)} columns of fit in the same order", list(given)
            )
        return given

    def __sklearn_is_fitted__(self) -> bool:
        return "fit_" in vars(self)

    def __repr__(self, *limits: int) -> str:
        text = super().__repr__(*limits)
        if "fit_" not in vars(self):
            return text
        state = "converged" if self.converged_ else "NOT converged"
        edges, columns = plural(self.network_.n_edges, "edge"), plural(self.network_.n_nodes, "column")
        return f"{text}, fitted: {edges} among {columns}, {state}"

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
    """A network of the joint pseudo-likelihood."""

    penalty_weights: Penalty = None
    n_threads: int | None = None
    device: str | None = None


@dataclass(kw_only=True, eq=False, repr=False)
class ResamplingEstimator(JointEstimator):
    """A network whose penalty is chosen by parts of the rows."""

    random_state: RandomSource = 0
    n_jobs: int | None = None
