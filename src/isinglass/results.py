"""Frozen results: what the path functions return, with the certificate of every solution; and what has a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, overload

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import FloatArray, Frozen, read_only
from isinglass.data import AnyTable, TableLike
from isinglass.errors import ArgumentError, DataError, plural
from isinglass.network import Network
from isinglass.pairs import labels_of, read_matrix
from isinglass.variables import Variables

Entry = TypeVar("Entry", bound=np.generic)


@dataclass(frozen=True, eq=False, repr=False)
class Solution(Frozen):
    """The network at one ``alpha``, with its certificate: a bound on its distance from the optimum.

    Parameters
    ----------
    network : Network
        The network. What is asked for most is also an attribute of the solution: ``fields``, ``edge_index``,
        ``edge_values``, ``n_edges``, ``couplings``.
    alpha, objective : float
        Penalty strength (the paper's λ), and F(Θ), loss plus penalty.
    kkt_residual, duality_gap : float
        Largest violation of the optimality conditions over all pairs and fields, and F(Θ) minus a lower bound of the
        minimum of F.
    certified_zeros, n_screened : int
        Number of pairs proved to be zero in every optimum, and of those that never entered the working set.
    n_iter : int
        Newton steps, or iterations of the method that produced it.
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

    @classmethod
    def from_dense(
        cls, alpha: float, couplings: FloatArray, fields: FloatArray, variables: Variables | None = None
    ) -> Solution:
        """Keep the non-zero upper triangle of a dense coupling matrix of two-valued columns."""
        index = np.argwhere(np.triu(couplings, 1))
        network = Network(fields, index, couplings[index[:, 0], index[:, 1]], variables=variables)
        return cls(network, float(alpha))

    # Parts of the network, under their names there.
    @property
    def fields(self) -> FloatArray:
        """θ_ss."""
        return self.network.fields

    @property
    def edge_index(self) -> NDArray[np.int32]:
        """Pairs s < t that have an edge."""
        return self.network.edge_index

    @property
    def edge_values(self) -> FloatArray:
        """θ_st of these pairs."""
        return self.network.edge_values

    @property
    def n_edges(self) -> int:
        """Number of non-zero couplings."""
        return self.network.n_edges

    @property
    def couplings(self) -> FloatArray:
        """Dense symmetric coupling matrix; see `Network.couplings`."""
        return self.network.couplings

    def without_covariates(self) -> Solution:
        """Return the solution with the network of the variables that are modeled."""
        smaller = self.network.without_covariates()
        return self if smaller is self.network else replace(self, network=smaller)

    def with_names(self, names: Sequence[str] | None) -> Solution:
        """Return the same solution with other names of the nodes; None keeps those it has."""
        return self if names is None else replace(self, network=self.network.with_names(names))

    def __repr__(self) -> str:
        state = "converged" if self.converged else "NOT converged"
        size = f"{plural(self.n_edges, 'edge')} among {plural(self.network.n_nodes, 'node')}"
        return (
            f"Solution(alpha={self.alpha:.6g}: {size}, {state}, objective={self.objective:.8g}, "
            f"kkt_residual={self.kkt_residual:.1e}, duality_gap={self.duality_gap:.1e})"
        )


class _Column(Generic[Entry]):
    """An attribute of all solutions of a path, as an array."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.__doc__ = f"``{name}`` of every solution."

    def __get__(self, path: Path | None, owner: type[Path]) -> NDArray[Entry]:
        if path is None:
            return self  # type: ignore[return-value]  # of the class itself, which documentation looks at
        return read_only(np.array([getattr(solution, self.name) for solution in path.solutions]))


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

    alphas = _Column[np.float64]("alpha")  #: penalty strengths, decreasing
    n_edges = _Column[np.int64]("n_edges")
    objective = _Column[np.float64]("objective")
    kkt_residual = _Column[np.float64]("kkt_residual")
    duality_gap = _Column[np.float64]("duality_gap")
    certified_zeros = _Column[np.int64]("certified_zeros")
    n_iter = _Column[np.int64]("n_iter")
    n_screened = _Column[np.int64]("n_screened")
    converged = _Column[np.bool_]("converged")

    def without_covariates(self) -> Path:
        """Return the path with networks of the variables that are modeled."""
        return replace(self, solutions=tuple(solution.without_covariates() for solution in self))

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
            f"Path({plural(len(self), 'alpha')} {first.alpha:.4g} … {last.alpha:.4g}, "
            f"{first.n_edges} … {last.n_edges} edges among {last.network.n_nodes} nodes, "
            f"{int(sum(s.converged for s in self))} of {len(self)} converged, "
            f"largest kkt_residual={max(s.kkt_residual for s in self):.1e})"
        )


# --- what a function may be given for a network -----------------------------------------------------------------------


class HasNetwork(Protocol):
    """A solution or a fit."""

    @property
    def network(self) -> Network:
        """The network by itself."""


class HasFittedNetwork(Protocol):
    """A fitted estimator."""

    @property
    def network_(self) -> Network:
        """The network by itself."""


NetworkLike: TypeAlias = Network | HasNetwork | HasFittedNetwork | ArrayLike | sp.sparray | sp.spmatrix


def _inside(source: object, name: str) -> object:
    """Return the part of that name of an estimator, which has a fit, of a fit or of a solution."""
    for attribute in ("fit_", f"{name}_", name):
        source = getattr(source, attribute, source)
    return source


def as_network(source: NetworkLike) -> Network:
    """Return the network of a solution, a fit, an estimator or a matrix."""
    found = _inside(source, "network")
    if isinstance(found, Network):
        return found
    if isinstance(source, str | Mapping | Path) or not (hasattr(source, "__len__") or sp.issparse(source)):
        raise DataError(
            "network must be a Network, a Solution, a fitted estimator or a square matrix; got "
            f"{type(source).__name__}. Fit the estimator first, or take one point of a path."
        )
    index, values, fields = read_matrix(source, "network")
    return Network(fields, index, values, labels_of(source))


def solution_of(source: object) -> Solution | None:
    """Return a solution, or that of a fit or an estimator; None for what has none."""
    found = _inside(source, "solution")
    return found if isinstance(found, Solution) else None


def as_solution(source: object) -> Solution:
    """Return a solution, or that of a fit or an estimator."""
    found = solution_of(source)
    if found is None:
        raise ArgumentError("solution", "must be a Solution, a Fit or a fitted estimator", type(source).__name__)
    return found


def fit_of(source: object) -> Any:  # Any: a Fit, which is defined in a layer above, or None
    """Return the `Fit` that a result is, or that a fitted estimator has; None for anything else."""
    found = getattr(source, "fit_", source)
    return found if hasattr(found, "reading_again") else None


def read_for(source: NetworkLike, X: TableLike, sample_weight: ArrayLike | None = None) -> AnyTable:
    """Return a table of the columns of a network; a fit, or an estimator that has one, reads it as that of the fit."""
    return (fit_of(source) or as_network(source)).read(X, sample_weight=sample_weight)
