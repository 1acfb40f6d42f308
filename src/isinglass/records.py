"""Frozen results: what the path functions return, with the certificate of every solution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["Path", "Solution"]

FloatArray = NDArray[np.float64]


def read_only(array: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return ``array`` with writing switched off: a frozen record shares it, nobody changes it."""
    array.flags.writeable = False
    return array


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """The network at one ``alpha``, and the proof of how close to the optimum it is.

    Parameters
    ----------
    alpha : float
        Penalty strength (the paper's λ).
    fields : ndarray of shape (n_features,)
        θ_ss.
    edge_index : ndarray of int32, shape (n_edges, 2)
        Pairs (s, t) with s < t whose coupling is not zero, in lexicographic order.
    edge_values : ndarray of shape (n_edges,)
        θ_st of these pairs.
    objective : float
        F(Θ), loss plus penalty.
    kkt_residual : float
        Largest violation of the optimality conditions over all pairs and fields.
    duality_gap : float
        F(Θ) minus a lower bound of the minimum of F.
    certified_zeros : int
        Number of pairs proved to be zero in every optimum.
    n_iter : int
        Newton steps (or iterations of whichever method produced it).
    n_screened : int
        Pairs that never entered the working set.
    converged : bool
        Whether the relative gap and the KKT residual are both at most the tolerance.
    """

    alpha: float
    fields: FloatArray
    edge_index: NDArray[np.int32]
    edge_values: FloatArray
    objective: float = float("nan")
    kkt_residual: float = float("nan")
    duality_gap: float = float("nan")
    certified_zeros: int = 0
    n_iter: int = 0
    n_screened: int = 0
    converged: bool = False

    def __post_init__(self) -> None:
        for array in (self.fields, self.edge_index, self.edge_values):
            read_only(array)

    @classmethod
    def from_dense(cls, alpha: float, couplings: FloatArray, fields: FloatArray, **diagnostics: float) -> Solution:
        """Keep the non-zero upper triangle of a dense coupling matrix."""
        index = np.argwhere(np.triu(couplings, 1)).astype(np.int32)
        values = np.asarray(couplings[index[:, 0], index[:, 1]], dtype=np.float64)
        return cls(float(alpha), np.array(fields, dtype=np.float64), index, values, **diagnostics)  # type: ignore[arg-type]

    @property
    def n_features(self) -> int:
        """Number of nodes, isolated ones included."""
        return len(self.fields)

    @property
    def n_edges(self) -> int:
        """Number of non-zero couplings."""
        return len(self.edge_values)

    @cached_property
    def couplings(self) -> FloatArray:
        """Dense symmetric coupling matrix with zero diagonal, made on demand."""
        dense = np.zeros((self.n_features, self.n_features))
        s, t = self.edge_index.T
        dense[s, t] = dense[t, s] = self.edge_values
        return read_only(dense)  # type: ignore[return-value]

    @property
    def couplings_sparse(self) -> sp.csr_array:
        """Symmetric coupling matrix in compressed rows."""
        s, t = self.edge_index.T
        entries = (np.r_[self.edge_values, self.edge_values], (np.r_[s, t], np.r_[t, s]))
        return sp.csr_array(entries, shape=(self.n_features, self.n_features))

    def __repr__(self) -> str:
        state = "converged" if self.converged else "NOT converged"
        return (
            f"Solution(alpha={self.alpha:.6g}: {self.n_edges} edges among {self.n_features} nodes, {state}, "
            f"objective={self.objective:.8g}, kkt_residual={self.kkt_residual:.1e}, "
            f"duality_gap={self.duality_gap:.1e})"
        )


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
    tol: float = field(default=float("nan"))

    def _column(self, name: str) -> NDArray[np.generic]:
        return read_only(np.array([getattr(solution, name) for solution in self.solutions]))

    alphas = property(lambda self: self._column("alpha"), doc="Penalty strengths, decreasing.")
    n_edges = property(lambda self: self._column("n_edges"), doc="Edges per alpha.")
    objective = property(lambda self: self._column("objective"), doc="F per alpha.")
    kkt_residual = property(lambda self: self._column("kkt_residual"), doc="KKT residual per alpha.")
    duality_gap = property(lambda self: self._column("duality_gap"), doc="Duality gap per alpha.")
    certified_zeros = property(lambda self: self._column("certified_zeros"), doc="Proved zeros per alpha.")
    n_iter = property(lambda self: self._column("n_iter"), doc="Iterations per alpha.")
    n_screened = property(lambda self: self._column("n_screened"), doc="Pairs screened out per alpha.")
    converged = property(lambda self: self._column("converged"), doc="Whether each solution converged.")

    def __len__(self) -> int:
        return len(self.solutions)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]  # int -> Solution, slice -> tuple
        return self.solutions[index]

    def __iter__(self) -> Iterator[Solution]:
        return iter(self.solutions)

    def __repr__(self) -> str:
        if not self.solutions:
            return "Path(empty)"
        first, last = self.solutions[0], self.solutions[-1]
        return (
            f"Path({len(self)} alphas {first.alpha:.4g} … {last.alpha:.4g}, "
            f"{first.n_edges} … {last.n_edges} edges among {last.n_features} nodes, "
            f"{int(sum(s.converged for s in self))} of {len(self)} converged, "
            f"largest kkt_residual={max(s.kkt_residual for s in self):.1e})"
        )
