"""One fit: what a run found and what it was asked, as a plain record. Files hold it, and pages are made of it."""

from __future__ import annotations

import platform
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from isinglass.arguments import require
from isinglass.arrays import FloatArray, Frozen
from isinglass.data import Coding, Table, as_table, category_counts, pair_counts
from isinglass.errors import DataError
from isinglass.network import Network, symmetric_matrix
from isinglass.results import Evidence, Missing, Path, Solution, Stability
from isinglass.select.imputation import Imputation
from isinglass.select.method import Method
from isinglass.select.selector import Choice
from isinglass.storage import NOT_STORED, NotStorableError, write_record
from isinglass.version import __version__

KIND, VERSION = "isinglass model", 6
"""What the header of a model file says."""
EDGE_COUNTS = ("n11", "n10", "n01", "n00")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Fit(Frozen):
    """What one run found and what it was asked.

    What a fitted estimator calls ``solution_`` or ``path_`` has these names here, too: figures and pages take either.

    Parameters
    ----------
    solution : Solution
        The network, with names, and its certificate.
    method : Method
        How it was estimated, and what chose its penalty.
    tol : float
        The tolerance that ``converged`` refers to.
    n_rows : float
        Number of rows: the sum of counts, or the effective number of rows with sampling weights.
    shares : ndarray
        Share of every category of every column, in the flat layout of the variables.
    pair_counts : tuple of ndarrays
        For each edge the number of rows by category of the first column and of the second.
    coding : Coding
        How the table was read.
    reading : mapping
        The options of `read_table` that the table was read with.
    path : Path, optional
        The networks along the penalty, if there are any.
    evidence : Evidence, optional
        The curve that the penalty was read from.
    stability : Stability, optional
        How far subsamples agreed.
    stages : list of dict, optional
        What each stage of the default estimate chose.
    edge_errors : ndarray of shape (n_edges,), optional
        Standard errors of the couplings.
    missing : Missing, optional
        Where cells of the table were missing, and what was done about them.
    choice : Choice, optional
        All that the selector returned, such as the scores of single folds. Not in files.
    imputation : Imputation, optional
        The completed table. Not in files.
    """

    solution: Solution
    method: Method
    tol: float
    n_rows: float
    shares: FloatArray
    pair_counts: tuple[NDArray[Any], ...]  # whole numbers, or sums of weights
    coding: Coding
    reading: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = None
    evidence: Evidence | None = None
    stability: Stability | None = None
    stages: list[dict[str, Any]] | None = None
    edge_errors: FloatArray | None = None
    missing: Missing | None = None
    choice: Choice | None = field(default=None, metadata=NOT_STORED)
    imputation: Imputation | None = field(default=None, metadata=NOT_STORED)

    def __post_init__(self) -> None:
        super().__post_init__()
        p, edges, variables = self.network.n_features, self.network.edge_index, self.network.variables
        require(0 < self.n_rows < float("inf"), "The number of rows of a fit is positive.")
        require(len(self.coding.columns) == p, "The coding of a fit has one rule per column.")
        shapes = [tuple(sizes) for sizes in variables.sizes[edges].tolist()]
        fitting = self.shares.shape == variables.column.shape and [c.shape for c in self.pair_counts] == shapes
        require(fitting, "The shares and counts of a fit are those of the columns and edges of its network.")
        shares = self.shares
        require(((shares >= 0) & (shares <= 1 + 1e-12)).all(), "The shares of a fit are from 0 to 1.")
        counted = all((np.isfinite(c) & (c >= 0)).all() for c in self.pair_counts)
        require(counted, "The counts behind the edges are not negative.")
        errors = self.edge_errors
        require(
            errors is None or (errors.shape == (len(edges),) and not (errors < 0).any()),
            "A fit has one standard error per edge, which is not negative.",
        )
        same = self.path is None or all(solution.n_features == p for solution in self.path)
        require(same, "All networks along the path of a fit have the same columns.")
        square = self.stability is None or all(f.shape == (p, p) for f in self.stability.edge_frequencies)
        require(square, "The stability of a fit has one share for every pair of columns.")
        require(
            self.missing is None or self.missing.describes(p, len(edges)),
            "The record of missing cells has one entry per column, or per edge.",
        )

    @classmethod
    def of(cls, method: Method, choice: Choice, table: Table, **found: Any) -> Fit:
        """Put a choice together with the sums over the rows of its table."""
        names, path = table.names if table.variables.named else None, choice.path
        n_rows, shares, counts = summarize(table, choice.solution.edge_index)
        return cls(
            solution=choice.solution.with_names(names),
            method=method,
            tol=method.tolerance,
            n_rows=n_rows,
            shares=shares,
            pair_counts=counts,
            coding=table.reading,
            path=None if path is None else path.with_names(names),
            evidence=choice.evidence,
            stability=choice.stability,
            stages=choice.stage_records,
            choice=choice,
            **found,
        )

    @property
    def chosen(self) -> str:
        """What chose the penalty, in words."""
        return self.method.words

    @property
    def network(self) -> Network:
        """The network by itself."""
        return self.solution.network

    @property
    def encoding(self) -> dict[Hashable, tuple[Any, Any]]:
        """For each column that was not 0/1 already: the two values that stand for 0 and 1."""
        return self.coding.encoding

    @property
    def marginals(self) -> FloatArray:
        """Share of ones in every column, for columns of two values."""
        self.network.variables.require_two_values("The table of the fit")
        return self.shares[1::2]

    def read(self, X: Any, *, missing: str = "error") -> Table:
        """Read another table as that of the fit was read; columns are found by name, others are ignored."""
        table: Table = as_table(X, encode=self.coding, missing=missing)
        return table

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fit to a file that `isinglass.load` reads; see `isinglass.save`."""
        save(self, path)

    @property
    def proves(self) -> bool:
        """Whether the method proves its optimum: the published ones stop by rules of their own."""
        return self.method.proves

    def _known_of_edges(self) -> dict[str, FloatArray]:
        """Return what is known of the edges beside their couplings."""
        known = {"std_error": self.edge_errors}
        if self.missing is not None:
            known["missing_information"] = self.missing.edge_information
        if self.stability is not None:
            shares = self.stability.edge_frequencies[self.stability.index][tuple(self.solution.edge_index.T)]
            known["stability"] = np.ravel(shares.toarray() if sp.issparse(shares) else shares)  # sparse where empty
        return {name: values for name, values in known.items() if values is not None}

    @property
    def edge_attributes(self) -> dict[str, sp.csr_array]:
        """What is known of the edges beside their couplings, as symmetric matrices."""
        edges, p = self.solution.edge_index, self.solution.n_features
        return {name: symmetric_matrix(edges, values, p) for name, values in self._known_of_edges().items()}

    def edges(self) -> dict[str, NDArray[Any]]:
        """Return the edge table as columns, the largest absolute coupling first.

        Returns
        -------
        dict of str to ndarray
            - ``source``, ``target``: names of the two columns;
            - ``coupling``: θ_st, the log odds ratio given all other columns, its ``sign``, 1 or -1, and its absolute
              value, ``weight``;
            - ``std_error``: standard error of the unpenalized coupling, NaN where that is infinite; two stages only;
            - ``missing_information``: share of what complete cells would tell about the coupling; imputed tables only;
            - ``stability``: share of the subsamples with this edge at the chosen alpha; StARS only;
            - ``n11``, ``n10``, ``n01``, ``n00``: rows (sums of weights) in which source and target are 1 and 1, 1 and
              0, 0 and 1, 0 and 0; not for columns with categories, whose tables are in ``pair_counts``;
            - ``log_odds_ratio``: the marginal one, log (n11+½)(n00+½) / (n10+½)(n01+½), without regard to other
              columns; the halves keep it finite.
        """
        order = self.network.by_strength
        columns = self.network.edges() | {name: values[order] for name, values in self._known_of_edges().items()}
        if not self.network.variables.is_binary:
            return columns
        tables = np.array(self.pair_counts or np.empty((0, 4), np.int64)).reshape(-1, 4)[order]
        counts = tables[:, ::-1]  # 11, 10, 01, 00
        columns |= {name: counts[:, k].copy() for k, name in enumerate(EDGE_COUNTS)}
        logs = np.log(counts + 0.5)
        columns["log_odds_ratio"] = logs[:, 0] - logs[:, 1] - logs[:, 2] + logs[:, 3]
        return columns

    @property
    def alphas(self) -> FloatArray | None:
        """The penalties that were compared, decreasing."""
        curve = self.evidence or self.stability
        return None if curve is None else curve.alphas

    @property
    def ebic_path(self) -> FloatArray | None:
        """The extended BIC of the networks along them."""
        return self.evidence.values if self.evidence is not None and self.evidence.kind == "ebic" else None

    def __getattr__(self, name: str) -> Any:
        """Give what a fitted estimator has under its name there: ``solution_`` is ``solution``."""
        if name.endswith("_") and not name.startswith("_"):
            for record in (self, self.solution):
                value = getattr(record, name[:-1], None)
                if value is not None:
                    return value
        raise AttributeError(f"this fit has no {name!r}")

    def __repr__(self) -> str:
        return f"Fit({self.method.estimator}, {self.chosen}: {self.solution!r})"


def save(fitted: Any, path: str | PathLike[str]) -> None:
    """Write a `Fit`, a fitted estimator or a `Network` to a file that `load` reads.

    The same content gives the same bytes, and the file appears under its name when it is whole. Settings that a file
    cannot hold, such as a generator as ``random_state`` or a splitter as ``cv``, are left out, and the header names
    them under ``not_stored``. The values of the table that the fit has to remember must be numbers, text, or tuples or
    intervals of these.

    Parameters
    ----------
    fitted : Fit, estimator or Network
        What was found. Of an estimator, its ``fit_`` is written.
    path : path
        The file, usually ``something.npz``; one that exists is replaced.

    Examples
    --------
    >>> import tempfile
    >>> from isinglass import IsingLasso, load, save
    >>> net = IsingLasso(alpha=0.1).fit([[0, 0], [1, 1], [0, 0], [1, 1], [0, 1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(net, f"{folder}/net.npz")
    ...     again = load(f"{folder}/net.npz")
    >>> bool((again.network.couplings == net.couplings_).all()), again.method.estimator, again.solution.alpha
    (True, 'joint', 0.1)
    """
    record = getattr(fitted, "fit_", fitted)
    if not isinstance(record, Fit | Network):
        hint = " Fit it first." if hasattr(fitted, "get_params") else ""
        raise DataError(
            f"Only a fit, a fitted estimator or a network can be saved, not a {type(fitted).__name__}.{hint}"
        )
    versions = {"isinglass": __version__, "numpy": np.__version__, "python": platform.python_version()}
    try:
        write_record(path, record, KIND, VERSION, versions=versions)
    except NotStorableError as error:
        raise DataError(
            f"This cannot be saved, because {error}, and a file holds numbers and text only. Turn the values of the "
            "table into text before the fit."
        ) from None


def summarize(
    table: Table, edge_index: NDArray[np.int32]
) -> tuple[float, FloatArray, tuple[NDArray[Any], ...]]:  # Any: whole numbers, or sums of weights
    """Return the number of rows, the share of every category of every column, and the counts behind every edge."""
    counted = table.counted(quiet=True)
    n_rows = counted.total_weight
    return n_rows, category_counts(counted) / n_rows, pair_counts(counted, edge_index)
