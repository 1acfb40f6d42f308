"""Frozen results: what the path functions return, with the certificate of every solution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from dataclasses import fields as dataclass_fields
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from isinglass.errors import ArgumentError
from isinglass.network import Network, read_only

__all__ = ["NodeFits", "NodewisePath", "Path", "Solution", "Stability", "symmetrise"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """The network at one ``alpha``, and the proof of how close to the optimum it is.

    Parameters
    ----------
    network : Network
        What was found. Its parts are attributes of the solution, too: ``fields``, ``edge_index``, ``edge_values``,
        ``names``, ``couplings``.
    alpha : float
        Penalty strength (the paper's λ).
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

    def __post_init__(self) -> None:
        if self.alphas_per_node is not None:
            read_only(self.alphas_per_node)

    @classmethod
    def from_dense(
        cls,
        alpha: float,
        couplings: FloatArray,
        fields: FloatArray,
        names: Sequence[str] | None = None,
        **diagnostics: Any,
    ) -> Solution:
        """Keep the non-zero upper triangle of a dense coupling matrix."""
        index = np.argwhere(np.triu(couplings, 1))
        network = Network(fields, index, couplings[index[:, 0], index[:, 1]], names)
        return cls(network, float(alpha), **diagnostics)

    @property
    def fields(self) -> FloatArray:
        """θ_ss."""
        return self.network.fields

    @property
    def edge_index(self) -> NDArray[np.int32]:
        """Pairs (s, t) with s < t whose coupling is not zero, in lexicographic order."""
        return self.network.edge_index

    @property
    def edge_values(self) -> FloatArray:
        """θ_st of these pairs."""
        return self.network.edge_values

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the nodes."""
        return self.network.names

    @property
    def n_features(self) -> int:
        """Number of nodes, isolated ones included."""
        return self.network.n_features

    @property
    def n_edges(self) -> int:
        """Number of non-zero couplings."""
        return self.network.n_edges

    @property
    def couplings(self) -> FloatArray:
        """Dense symmetric coupling matrix with zero diagonal, made on demand."""
        return self.network.couplings

    @property
    def couplings_sparse(self) -> sp.csr_array:
        """Symmetric coupling matrix in compressed rows."""
        return self.network.couplings_sparse

    def with_names(self, names: Sequence[str] | None) -> Solution:
        """Return the same solution with other names of the nodes; None keeps those it has."""
        return self if names is None else replace(self, network=self.network.with_names(names))

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

    def with_names(self, names: Sequence[str] | None) -> Path:
        """Return the same path with other names of the nodes; None keeps those it has."""
        return replace(self, solutions=tuple(solution.with_names(names) for solution in self))

    def __len__(self) -> int:
        return len(self.solutions)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]  # int -> Solution, slice -> Path
        found = self.solutions[index]
        return Path(found, tol=self.tol) if isinstance(index, slice) else found

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


RULES = ("and", "or", "mean", "min", "max")


def symmetrise(coefficients: sp.csr_array, rule: str) -> tuple[NDArray[np.int32], FloatArray]:
    """Return (edge_index, edge_values) of the network that ``rule`` makes of two estimates per pair.

    With a and b the coefficient of either column in the regression of the other:

    ======== ============================ ======================================================
    rule     an edge if                   its coupling
    ======== ============================ ======================================================
    "and"    both are non-zero            their mean (IsingFit's AND = TRUE)
    "or"     one is non-zero              the mean of those that are non-zero: nothing is halved
    "mean"   one is non-zero              (a + b) / 2 with zeros counted, so that a one-sided
                                          edge is halved (IsingFit's AND = FALSE)
    "min"    both are non-zero            the smaller in absolute value
    "max"    one is non-zero              the larger in absolute value
    ======== ============================ ======================================================

    Examples
    --------
    >>> one_sided = sp.csr_array([[0.0, 0.8], [0.0, 0.0]])
    >>> [symmetrise(one_sided, rule)[1].tolist() for rule in ("and", "or", "mean", "max")]
    [[], [0.8], [0.4], [0.8]]
    """
    entries = coefficients.tocoo()
    _, edges, values = _merge(np.zeros(entries.nnz, np.int64), entries.row, entries.col, entries.data, rule)
    return edges, values


def _merge(
    group: NDArray[np.int64], row: NDArray[Any], column: NDArray[Any], data: FloatArray, rule: str
) -> tuple[NDArray[np.int64], NDArray[np.int32], FloatArray]:
    """Return (group, edge_index, edge_values), sorted, of several matrices at once; entries name their group."""
    if rule not in RULES:
        raise ArgumentError("rule", f"must be one of {', '.join(RULES)}", rule)
    width = int(max(row.max(initial=0), column.max(initial=0))) + 1
    low, high = np.minimum(row, column), np.maximum(row, column)
    key = (group * width + low) * width + high
    pairs = np.unique(key)
    a, b = np.zeros(len(pairs)), np.zeros(len(pairs))
    upper = row < column
    a[np.searchsorted(pairs, key[upper])] = data[upper]
    b[np.searchsorted(pairs, key[~upper])] = data[~upper]
    values = _reconcile(a, b, rule)
    kept = values != 0.0
    rest, t = np.divmod(pairs[kept], width)
    which, s = np.divmod(rest, width)
    return which, np.column_stack([s, t]).astype(np.int32), values[kept]


def _reconcile(a: FloatArray, b: FloatArray, rule: str) -> FloatArray:
    both = (a != 0.0) & (b != 0.0)
    if rule in ("min", "max"):
        values = np.where((np.abs(a) < np.abs(b)) == (rule == "min"), a, b)
    else:
        values = np.where(both | (rule == "mean"), (a + b) / 2.0, a + b)
    return np.where(both, values, 0.0) if rule in ("and", "min") else values


@dataclass(frozen=True, eq=False, repr=False)
class NodeFits:
    """One logistic lasso per node and alpha: what a node-wise network is made of.

    Matrices have one row per alpha and one column per node. NaN (or no coefficient) stands for constant columns and
    for alphas at which a node's list had already ended.

    Parameters
    ----------
    alphas : ndarray of shape (n_alphas, n_features)
        Penalty of each fit; a node may have a list of its own.
    fields : ndarray of shape (n_alphas, n_features)
        Intercepts; for a constant column its smoothed log odds.
    losses, objectives : ndarray of shape (n_alphas, n_features)
        Mean negative log-likelihood of each node, without and with the penalty.
    kkt_residuals, duality_gaps : ndarray of shape (n_alphas, n_features)
        Certificate of each fit, over all other columns.
    n_iter, n_working, counts : ndarray of int, shape (n_alphas, n_features)
        Newton steps, predictors that were looked at, coefficients that are not zero.
    columns, values : ndarray
        These coefficients, node after node, and alpha after alpha within a node.
    null_losses : ndarray of shape (n_features,)
        Losses of the nodes without predictors: what the duality gap is relative to.
    n_rows : float
        Number of rows: the sum of the weights.
    names : tuple of str, optional
        Names of the nodes.
    """

    alphas: FloatArray
    fields: FloatArray
    losses: FloatArray
    objectives: FloatArray
    kkt_residuals: FloatArray
    duality_gaps: FloatArray
    n_iter: NDArray[np.int32]
    n_working: NDArray[np.int32]
    counts: NDArray[np.int32]
    columns: NDArray[np.int32]
    values: FloatArray
    null_losses: FloatArray
    n_rows: float
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for array in vars(self).values():
            if isinstance(array, np.ndarray):
                read_only(array)

    @cached_property
    def _owners(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The alpha number and the node of every coefficient."""
        counts = self.counts.T.ravel()
        node, alpha = np.divmod(np.repeat(np.arange(len(counts)), counts), len(self.counts))
        return alpha, node

    def take(self, choice: int | NDArray[np.intp]) -> NodeFits:
        """Return the fits at one alpha number, or at one for each node, as a list of length one."""
        alpha, node = self._owners
        picked = np.broadcast_to(choice, self.counts.shape[1]), np.arange(self.counts.shape[1])
        wanted = alpha == picked[0][node]
        values = {item.name: getattr(self, item.name) for item in dataclass_fields(self)}
        matrices = {name: value[picked][None] for name, value in values.items() if np.ndim(value) == 2}
        return replace(self, **matrices, columns=self.columns[wanted], values=self.values[wanted])

    def coefficients(self, k: int) -> sp.csr_array:
        """Return row s = the coefficients of node s's regression at alpha number k."""
        fits, n_features = self.take(k), self.counts.shape[1]
        indptr = np.r_[0, np.cumsum(fits.counts[0])]
        # Copies: scipy may sort or convert in place, and a frozen record shares its arrays.
        return sp.csr_array((fits.values, fits.columns, indptr), shape=(n_features, n_features), copy=True)

    def choose_ebic(self, gamma: float) -> NDArray[np.intp]:
        """Return for every node the alpha number with the smallest −2ℓ + J log N + 2γ J log(p−1)."""
        others = max(int(np.isfinite(self.losses[0]).sum()) - 1, 1)  # constant columns can be nobody's predictor
        price = np.log(self.n_rows) + 2.0 * gamma * np.log(others)
        criterion = 2.0 * self.n_rows * self.losses + price * self.counts
        return np.asarray(np.where(np.isnan(criterion), np.inf, criterion).argmin(axis=0))

    def select_ebic(self, gamma: float, rule: str, tol: float) -> Solution:
        """Return the network in which every node takes its own best alpha."""
        if not (np.isfinite(gamma) and gamma >= 0):
            raise ArgumentError("gamma", "must be finite and not negative", gamma)
        fits = self.take(self.choose_ebic(gamma))
        alphas = np.where(np.isfinite(fits.losses), fits.alphas, np.nan)[0]
        return replace(fits.solutions(rule, tol)[0], alpha=float("nan"), alphas_per_node=alphas)

    def solutions(self, rule: str, tol: float) -> list[Solution]:
        """Return the network at every alpha of a list that all nodes share."""
        n_alphas, n_features = self.counts.shape
        varying = np.isfinite(self.losses)
        kkt, gap = (np.where(varying, m, 0.0) for m in (self.kkt_residuals, self.duality_gaps))
        open_gap = ~(gap <= tol * np.maximum(self.null_losses, 1e-12))
        failed = np.asarray((open_gap | (kkt > tol)).any(axis=1))
        objective = np.where(varying, self.objectives, 0.0).sum(axis=1)
        n_screened = n_features * (n_features - 1) - self.n_working.sum(axis=1)
        alpha, node = self._owners
        which, edges, values = _merge(alpha, node, self.columns, self.values, rule)
        bounds = np.searchsorted(which, np.arange(n_alphas + 1))
        return [
            Solution(
                Network(
                    self.fields[k], edges[bounds[k] : bounds[k + 1]], values[bounds[k] : bounds[k + 1]], self.names
                ),
                alpha=float(self.alphas[k, 0]),
                objective=float(objective[k]),
                kkt_residual=float(kkt[k].max(initial=0.0)),
                duality_gap=float(gap[k].sum()),
                n_iter=int(self.n_iter[k].max(initial=0)),
                n_screened=int(n_screened[k]),
                converged=not failed[k],
            )
            for k in range(n_alphas)
        ]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class NodewisePath(Path):
    """A path of networks made of one regression per node, with the regressions themselves.

    The solutions hold the symmetrised couplings, and the certificate of the regressions behind them:
    ``objective`` and ``duality_gap`` are sums over nodes, ``kkt_residual`` and ``n_iter`` belong to the worst node,
    ``n_screened`` counts ordered pairs, ``certified_zeros`` is not computed.

    Parameters
    ----------
    solutions, tol
        As for Path.
    nodes : NodeFits
        The regressions.
    rule : str
        How two coefficients become one coupling; see ``symmetrise``.
    """

    nodes: NodeFits
    rule: str

    fields = property(lambda self: self.nodes.fields, doc="Intercepts, one row per alpha.")
    kkt_residuals = property(lambda self: self.nodes.kkt_residuals, doc="KKT residual per alpha and node.")

    @cached_property
    def asymmetric_couplings(self) -> tuple[sp.csr_array, ...]:
        """Coefficients per alpha: row s is the regression of column s on the others."""
        return tuple(self.nodes.coefficients(k) for k in range(len(self)))

    def select_ebic(self, gamma: float = 0.25, *, rule: str | None = None) -> Solution:
        """Return the network in which every node takes the alpha of this path with its smallest EBIC.

        The criterion is IsingFit's. So are the lists of alphas in ``nodewise_ebic``, one per node; here all nodes
        choose from the alphas of the path.
        """
        return self.nodes.select_ebic(gamma, rule or self.rule, self.tol)


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    """What ``stars`` chose, and how far the subsamples agreed along the grid.

    Parameters
    ----------
    alpha : float
        The choice: the smallest alpha whose ``monotone`` instability is at most ``threshold``.
    index : int
        Its number in ``alphas``.
    alphas : ndarray of shape (n_alphas,)
        The grid, decreasing.
    instability : ndarray of shape (n_alphas,)
        D, the mean over pairs of 2 f (1 − f); NaN where not all subsamples were run.
    monotone : ndarray of shape (n_alphas,)
        Largest D from the sparse end up to each alpha; NaN where not all subsamples were run.
    edge_frequencies : tuple of csr_array
        f, the share of subsamples with each pair, symmetric; one matrix for each alpha that all subsamples ran, from
        the sparse end.
    threshold : float
        Largest instability that counts as stable.
    subsample_size, n_subsamples : int
        Rows in a subsample, and number of subsamples.
    dense_end : float
        The choice that the first two subsamples proposed; the last alpha if they were not asked.
    n_extensions : int
        How often the grid had to be followed further than they proposed.
    n_fits, n_fits_saved : int
        Pairs of a subsample and an alpha that were fitted, and how many fewer than all of them this is
        (negative if extensions cost more than was left out).
    n_constant : int
        Subsamples in which a column is constant that varies in the table.
    """

    alpha: float
    index: int
    alphas: FloatArray
    instability: FloatArray
    monotone: FloatArray
    edge_frequencies: tuple[sp.csr_array, ...]
    threshold: float
    subsample_size: int
    n_subsamples: int
    dense_end: float
    n_extensions: int
    n_fits: int
    n_fits_saved: int
    n_constant: int

    def __post_init__(self) -> None:
        for array in (self.alphas, self.instability, self.monotone, *(f.data for f in self.edge_frequencies)):
            read_only(array)

    def frequencies(self, index: int | None = None) -> FloatArray:
        """Return the share of subsamples with each pair as a dense symmetric matrix, at the choice or at an alpha."""
        shares = self.edge_frequencies[self.index if index is None else index]
        return np.asarray(shares.toarray(), dtype=np.float64)

    def __repr__(self) -> str:
        return (
            f"Stability(alpha={self.alpha:.6g}: number {self.index} of {len(self.alphas)}, "
            f"instability={self.monotone[self.index]:.3g} (threshold {self.threshold:g}), "
            f"{self.n_subsamples} subsamples of {self.subsample_size} rows, {self.n_fits} fits, "
            f"{self.n_fits_saved} saved)"
        )
