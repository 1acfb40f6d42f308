"""One regression per node, and the rules that make one network of the two estimates per pair.

Columns of 0 and 1 have logistic regressions (prepared in ``nodewise``), columns with categories multinomial ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from dataclasses import fields as dataclass_fields
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from isinglass._core import NodePaths, Nodewise
from isinglass.arrays import FloatArray, Frozen, Mask
from isinglass.data import CategoryTable
from isinglass.errors import ArgumentError
from isinglass.machine import thread_count
from isinglass.network import Network
from isinglass.objective.reduced import refuse_vanishing
from isinglass.results import Path, Solution
from isinglass.solve.discrete import Scaled, refuse_free
from isinglass.solve.path import ALL_PAIRS_UP_TO, STRICTNESS
from isinglass.variables import Variables

RULES = ("and", "or", "mean", "min", "max")


def symmetrize(coefficients: sp.csr_array, rule: str) -> tuple[NDArray[np.int32], FloatArray]:
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
    >>> [symmetrize(one_sided, rule)[1].tolist() for rule in ("and", "or", "mean", "max")]
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
    which, pairs, places = pair_up(group, row, column)
    a, b = (np.where(place < 0, 0.0, np.append(data, 0.0)[place]) for place in places)
    values = reconcile(a, b, rule)
    kept = values != 0.0
    return which[kept], pairs[kept], values[kept]


def pair_up(
    group: NDArray[np.int64], row: NDArray[Any], column: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int32], tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return (group, edge_index), sorted, and where the entries above and below the diagonal are; −1: nowhere."""
    width = int(max(row.max(initial=0), column.max(initial=0))) + 1
    low, high = np.minimum(row, column), np.maximum(row, column)
    key = (group * width + low) * width + high
    pairs = np.unique(key)
    above, below = np.full((2, len(pairs)), -1, dtype=np.intp)
    upper = row < column
    above[np.searchsorted(pairs, key[upper])] = np.flatnonzero(upper)
    below[np.searchsorted(pairs, key[~upper])] = np.flatnonzero(~upper)
    rest, t = np.divmod(pairs, width)
    which, s = np.divmod(rest, width)
    return which, np.column_stack([s, t]).astype(np.int32), (above, below)


def reconcile(a: FloatArray, b: FloatArray, rule: str) -> FloatArray:
    """Return what a rule makes of two estimates."""
    both = (a != 0.0) & (b != 0.0)
    if rule in ("min", "max"):
        values = np.where((np.abs(a) < np.abs(b)) == (rule == "min"), a, b)
    else:
        values = np.where(both | (rule == "mean"), (a + b) / 2.0, a + b)
    return np.where(both, values, 0.0) if rule in ("and", "min") else values


@dataclass(frozen=True, eq=False, repr=False)
class NodeFits(Frozen):
    """One logistic lasso per node and alpha: what a node-wise network is made of.

    Matrices have one row per alpha and one column per node. NaN (or no coefficient) stands for constant columns and
    for alphas at which a node's list had already ended.
    """

    alphas: FloatArray  #: penalty of each fit; a node may have a list of its own
    fields: FloatArray  #: intercepts; for a constant column its smoothed log odds
    losses: FloatArray  #: mean negative log-likelihood of each node, without and with the penalty
    objectives: FloatArray
    kkt_residuals: FloatArray  #: certificate of each fit, over all other columns
    duality_gaps: FloatArray
    n_iter: NDArray[np.int32]  #: newton steps, predictors that were looked at, coefficients that are not zero
    n_working: NDArray[np.int32]
    counts: NDArray[np.int32]
    columns: NDArray[np.int32]  #: these coefficients, node after node, and alpha after alpha within a node
    values: FloatArray
    null_losses: FloatArray  #: losses of the nodes without predictors: what the duality gap is relative to
    n_rows: float  #: number of rows: the sum of the weights
    names: tuple[str, ...] | None = None  #: names of the nodes

    @cached_property
    def _owners(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The alpha number and the node of every coefficient."""
        return _owners(self.counts)

    def take(self, choice: int | NDArray[np.intp]) -> Self:
        """Return the fits at one alpha number, or at one for each node, as a list of length one."""
        alpha, node = self._owners
        picked = np.broadcast_to(choice, self.counts.shape[1]), np.arange(self.counts.shape[1])
        wanted = alpha == picked[0][node]
        values = {item.name: getattr(self, item.name) for item in dataclass_fields(self)}
        matrices = {name: value[picked][None] for name, value in values.items() if getattr(value, "ndim", 0) == 2}
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
        criterion = 2.0 * self.n_rows * self.losses + self._prices(gamma, others)
        return np.asarray(np.where(np.isnan(criterion), np.inf, criterion).argmin(axis=0))

    def _prices(self, gamma: float, others: int) -> FloatArray:
        """Return what the coefficients of every fit cost in the EBIC."""
        return np.asarray((np.log(self.n_rows) + 2.0 * gamma * np.log(others)) * self.counts)

    def select_ebic(self, gamma: float, rule: str, tol: float) -> Solution:
        """Return the network in which every node takes its own best alpha."""
        if not (np.isfinite(gamma) and gamma >= 0):
            raise ArgumentError("gamma", "must be finite and not negative", gamma)
        fits = self.take(self.choose_ebic(gamma))
        alphas = np.where(np.isfinite(fits.losses), fits.alphas, np.nan)[0]
        return replace(fits.solutions(rule, tol)[0], alpha=float("nan"), alphas_per_node=alphas)

    def solutions(self, rule: str, tol: float) -> list[Solution]:
        """Return the network at every alpha of a list that all nodes share."""
        n_features = self.counts.shape[1]
        varying = np.isfinite(self.losses)
        kkt, gap = (np.where(varying, m, 0.0) for m in (self.kkt_residuals, self.duality_gaps))
        open_gap = ~(gap <= tol * np.maximum(self.null_losses, 1e-12))
        failed = np.asarray((open_gap | (kkt > tol)).any(axis=1))
        objective = np.where(varying, self.objectives, 0.0).sum(axis=1)
        n_screened = n_features * (n_features - 1) - self.n_working.sum(axis=1)
        return [
            Solution(
                network,
                alpha=float(self.alphas[k, 0]),
                objective=float(objective[k]),
                kkt_residual=float(kkt[k].max(initial=0.0)),
                duality_gap=float(gap[k].sum()),
                n_iter=int(self.n_iter[k].max(initial=0)),
                n_screened=int(n_screened[k]),
                converged=not failed[k],
            )
            for k, network in enumerate(self._networks(rule))
        ]

    def _networks(self, rule: str) -> list[Network]:
        """Return what a rule makes of the two estimates of every pair, for every alpha."""
        alpha, node = self._owners
        which, edges, values = _merge(alpha, node, self.columns, self.values, rule)
        bounds = np.searchsorted(which, np.arange(len(self.counts) + 1))
        parts = [slice(first, last) for first, last in pairwise(bounds.tolist())]
        return [Network(self.fields[k], edges[part], values[part], self.names) for k, part in enumerate(parts)]


def _owners(counts: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the alpha number and the node of every coefficient."""
    node, alpha = np.divmod(np.repeat(np.arange(counts.size), counts.T.ravel()), len(counts))
    return alpha, node


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CategoryNodeFits(NodeFits):
    """One penalized multinomial regression per node and alpha.

    ``values`` holds the signed coupling of a pair with one parameter and ‖Θ‖ of any other. A column has one field per
    category, so that ``fields`` is NaN.
    """

    blocks: tuple[FloatArray, ...]  #: B of every coefficient, with a row for each category of the lower column
    category_fields: FloatArray  #: one row per alpha, a column per category but the first of every node
    dimensions: NDArray[np.intp]  #: m of every column
    variables: Variables  #: the nodes

    def take(self, choice: int | NDArray[np.intp]) -> Self:
        """Return the fits at one alpha number, or at one for each node, as a list of length one."""
        alpha, node = self._owners
        picked = np.broadcast_to(choice, self.counts.shape[1])
        wanted = np.flatnonzero(alpha == picked[node])
        node_of = self.variables.column[self.variables.is_later]
        fields = self.category_fields[picked[node_of], np.arange(len(node_of))][None]
        blocks = tuple(self.blocks[k] for k in wanted.tolist())
        return replace(super().take(choice), blocks=blocks, category_fields=fields)

    def _prices(self, gamma: float, others: int) -> FloatArray:
        """Return log N for every parameter of a fit, m_s · m_t for each neighbor, and 2γ log(p−1) for each neighbor."""
        alpha, node = self._owners
        n_parameters = np.zeros(self.counts.shape)
        np.add.at(n_parameters, (alpha, node), self.dimensions[node] * self.dimensions[self.columns])
        return np.asarray(np.log(self.n_rows) * n_parameters + 2.0 * gamma * np.log(others) * self.counts)

    def _networks(self, rule: str) -> list[Network]:
        alpha, node = self._owners
        group, pairs, (upper, lower) = pair_up(alpha, node, self.columns)
        bounds = np.searchsorted(group, np.arange(len(self.counts) + 1))
        found = [*self.blocks, None]  # the last for those that are nowhere
        both = zip(upper.tolist(), lower.tolist(), strict=True)
        merged = [_merge_blocks(found[k], found[j], rule) for k, j in both]
        networks: list[Network] = []
        for k in range(len(self.counts)):
            kept = [e for e in range(bounds[k], bounds[k + 1]) if merged[e].any()]
            parameters = np.concatenate([*(merged[e].ravel() for e in kept), np.empty(0)])
            values = self.variables.block_values(pairs[kept], parameters)
            networks.append(
                Network.trusted(self.variables, self.category_fields[k].copy(), pairs[kept], values, parameters)
            )
        return networks


def _merge_blocks(a: FloatArray | None, b: FloatArray | None, rule: str) -> FloatArray:
    """Return the block that ``rule`` makes of the two estimates of a pair; None is an estimate of zero."""
    there = [block for block in (a, b) if block is not None]
    zero = np.zeros_like(there[0])
    first, second = (zero if block is None else block for block in (a, b))
    if first.size == 1:
        return np.asarray(reconcile(first, second, rule))
    if len(there) < 2 and rule in ("and", "min"):
        return zero
    if rule in ("min", "max"):
        return min(first, second, key=np.linalg.norm) if rule == "min" else max(first, second, key=np.linalg.norm)
    return (first + second) / (2.0 if rule == "mean" else float(len(there)))


@dataclass(frozen=True)
class Nodes:
    """A table made ready for node-wise regressions: the compiled problem on the columns that vary, and the way back."""

    problem: Nodewise
    varying: NDArray[np.intp]  # where the columns that vary are in the table
    omega: FloatArray  # penalty weight of each of these
    units: FloatArray  # of all columns: what alpha is divided by
    null_losses: FloatArray  # 0 for constant columns
    n_rows: float  # the sum of the weights
    names: tuple[str, ...] | None

    @property
    def n_features(self) -> int:
        """Number of columns, constant ones included."""
        return len(self.units)

    @property
    def alphas_at_zero(self) -> FloatArray:
        """An alpha of one row for nodes that vary with no other, to which every positive one gives no coefficients."""
        return self.units / max(self.n_rows, 1.0)

    def alpha_max(self) -> FloatArray:
        """Return each varying node's smallest alpha without coefficients."""
        return np.asarray(self.problem.alpha_max(self.omega) * self.units[self.varying])

    def solve(self, alphas: FloatArray, tol: float, max_iter: int, *, stops_early: bool) -> NodeFits:
        """Run the regressions, one row of alphas per column of the whole table, and put them back into it."""
        nodes = np.arange(len(self.varying), dtype=np.int32)
        grids = alphas[self.varying] / self.units[self.varying, None]
        strictness = STRICTNESS if len(nodes) > ALL_PAIRS_UP_TO else 0.0
        paths = self.problem.solve(nodes, grids, self.omega, tol, max_iter, strictness, stops_early)
        missing = dict.fromkeys(("losses", "objectives", "kkt_residuals", "duality_gaps"), np.nan)
        missing |= dict.fromkeys(("n_iter", "n_working", "counts"), 0)
        known: dict[str, Any] = {name: self.spread(getattr(paths, name), value) for name, value in missing.items()}
        known |= {"alphas": alphas.T, "columns": self.varying[paths.columns].astype(np.int32)}
        return self.collect(paths, known | {name: getattr(self, name) for name in ("null_losses", "n_rows", "names")})

    def spread(self, matrix: NDArray[Any], missing: float) -> NDArray[Any]:
        """Return a matrix of the varying columns with one row per alpha and one column per column of the table."""
        whole = np.full((matrix.shape[1], self.n_features), missing, dtype=matrix.dtype)
        whole[:, self.varying] = matrix.T
        return whole

    def collect(self, paths: NodePaths, known: dict[str, Any]) -> NodeFits:
        """Return the regressions, given what those of all kinds of columns share."""
        raise NotImplementedError


@dataclass(frozen=True)
class CategoryNodes(Nodes):
    """A table of categories made ready.

    The solver's scores have a range of 1. A penalty α‖Θ_st‖ then is α/(D_s D) · D/D_t · ‖Θ‖ with D the largest range,
    and with standardized columns, α D_s sd_t ‖Θ_st‖, it is α · sd_t/D_t · ‖Θ‖.
    """

    scaled: Scaled

    @classmethod
    def prepare(
        cls, table: CategoryTable, weight: FloatArray | None, standardize: bool, n_threads: int | None, quiet: bool
    ) -> CategoryNodes:
        """Compile the columns that vary; name the others in one warning, unless ``quiet``."""
        scaled = Scaled.of(table, weight, quiet=quiet)
        columns, widths = scaled.columns, scaled.widths
        problem = Nodewise(scaled.points, scaled.weight, thread_count(n_threads), scaled.ranges, widths[columns])
        widest = widths[columns].max(initial=0.0)  # iterations do not depend on the units of scores
        omega = scaled.spread()[columns] / widths[columns] if standardize else widest / widths[columns]
        null_losses = [-float(share[share > 0] @ np.log(share[share > 0])) for share in scaled.shares]
        units = np.ones(len(widths)) if standardize else widths * widest
        return cls(problem, columns, omega, units, np.array(null_losses), scaled.n_rows, table.names, scaled)

    def solve(self, alphas: FloatArray, tol: float, max_iter: int, *, stops_early: bool) -> NodeFits:
        """Run the regressions; all of them need a penalty."""
        lowest = np.nanmin(alphas[self.varying] / self.units[self.varying, None], initial=np.inf)
        if lowest == 0.0:
            raise refuse_free("alphas")
        refuse_vanishing(float(lowest), self.omega)
        return super().solve(alphas, tol, max_iter, stops_early=stops_early)

    def collect(self, paths: NodePaths, known: dict[str, Any]) -> CategoryNodeFits:
        """Return the regressions for scores as they were given."""
        scaled = self.scaled
        alpha, node = _owners(known["counts"])
        pairs = np.sort(np.column_stack([node, known["columns"]]), axis=1)
        blocks = scaled.blocks(pairs, paths.values)
        lists = node.tolist(), known["columns"].tolist(), blocks, alpha.tolist()
        n_alphas = len(known["counts"])
        centers = scaled.centers(*lists, n_alphas)
        solved = self._solved_fields(paths.category_fields, np.isfinite(known["losses"]))
        fields = [scaled.fields(solved[k], [center[k] for center in centers]) for k in range(n_alphas)]
        return CategoryNodeFits(
            **known,
            fields=np.full(known["counts"].shape, np.nan),
            values=scaled.variables.block_values(pairs, np.concatenate([*(b.ravel() for b in blocks), np.empty(0)])),
            blocks=tuple(blocks),
            category_fields=np.array(fields),
            dimensions=scaled.dimensions,
            variables=scaled.variables,
        )

    def _solved_fields(self, solved: FloatArray, is_solved: Mask) -> FloatArray:
        """Return the solver's fields, which come node after node, with a row for each alpha; a list may end early."""
        found, first = [np.empty((len(is_solved), 0))], 0
        for s in self.varying.tolist():
            size = int(np.count_nonzero(self.scaled.shares[s]))
            rows = np.full((len(is_solved), size), np.nan)
            last = first + size * int(is_solved[:, s].sum())
            rows[is_solved[:, s]] = solved[first:last].reshape(-1, size)
            found.append(rows)
            first = last
        return np.hstack(found)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class NodewisePath(Path):
    """A path of networks made of one regression per node, with the regressions themselves.

    The solutions hold the symmetrized couplings, and the certificate of the regressions behind them:
    ``objective`` and ``duality_gap`` are sums over nodes, ``kkt_residual`` and ``n_iter`` belong to the worst node,
    ``n_screened`` counts ordered pairs, ``certified_zeros`` is not computed.

    Parameters
    ----------
    solutions, tol
        As for Path.
    nodes : NodeFits
        The regressions.
    rule : str
        How two coefficients become one coupling; see ``symmetrize``.
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
