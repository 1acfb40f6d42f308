"""Unpenalized estimates on a support and their standard errors, for tables with categories.

The parameters are a field for every category that occurs, but the first of its column, and then for every edge the
entries of Θ_st, one after the other: one for two columns on a line, (q_s − 1)(q_t − 1) for two nominal ones, q being
the categories that occur.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # its parts are loaded when they are needed
from numpy.typing import NDArray

from isinglass.arrays import FloatArray
from isinglass.data import Table, category_counts
from isinglass.errors import DataError, SeparationError
from isinglass.network import Network
from isinglass.results import Solution
from isinglass.select.tables import square_weight
from isinglass.variables import corners

LEAST_INFORMATION = 0.05
"""Information on a coupling, in rows, below which its estimate counts as infinite..."""
RIDGE = 1e-3 * LEAST_INFORMATION
"""...and what is added where nothing is left, in floating point."""
_STEPS, _HALVINGS = 50, 30  # of Newton's method, and of one step
_ROWS_PER_BLOCK = 4096


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over rows, under their weights, of the derivatives of the loss."""

    loss: float
    gradient: FloatArray
    hessian: FloatArray
    outer: FloatArray  # of the rows' own gradients, under the weights of the sandwich


@dataclass(frozen=True, eq=False)
class Support:
    """Where the parameters of the edges of a network stand, for a table."""

    network: Network  # whose edges and scores are used
    seen: tuple[NDArray[np.bool_], ...]  # which categories of each column occur
    points: tuple[FloatArray, ...]  # (q, m) of each column; zero for categories that do not occur
    fields: tuple[NDArray[np.intp], ...]  # place of the field of each category; -1 where there is none
    first: NDArray[np.intp]  # place of the first entry of every edge, and the number of all parameters

    @classmethod
    def of(cls, network: Network, table: Table) -> Support:
        """Give every parameter a place; a column that takes one value has none."""
        seen = tuple(table.variables.split(category_counts(table) > 0))
        points, fields, size = [], [], 0
        for s in range(network.n_features):
            score = network.variables.score(s)
            occurs = np.flatnonzero(seen[s])
            point = np.zeros((len(seen[s]), 1 if score is not None else max(len(occurs) - 1, 1)))
            point[occurs] = score[occurs, None] if score is not None else corners(max(len(occurs), 2))[: len(occurs)]
            place = np.full(len(seen[s]), -1, dtype=np.intp)
            place[occurs[1:]] = size + np.arange(len(occurs) - 1)
            size += len(occurs) - 1
            points.append(point)
            fields.append(place)
        m = np.array([point.shape[1] for point in points])
        cells = m[network.edge_index].prod(axis=1)
        first = size + np.concatenate([[0], np.cumsum(cells)]).astype(np.intp)
        return cls(network, seen, tuple(points), tuple(fields), first)

    @property
    def n_parameters(self) -> int:
        """Fields and entries of all edges."""
        return int(self.first[-1])

    def entries(self, edge: int) -> NDArray[np.intp]:
        """Return the places of Θ_st of an edge, as a matrix."""
        s, t = self.network.edge_index[edge]
        shape = self.points[s].shape[1], self.points[t].shape[1]
        return np.arange(self.first[edge], self.first[edge + 1]).reshape(shape)

    def read(self, network: Network) -> FloatArray:
        """Return the parameters of a network, whose edges are some of these."""
        values = np.zeros(self.n_parameters)
        every = network.variables.split(network.category_fields)
        for place, field, seen in zip(self.fields, every, self.seen, strict=True):
            values[place[place >= 0]] = field[place >= 0] - field[seen.argmax()]
        known = {(s, t): block for (s, t), block in zip(network.edge_index.tolist(), network.blocks, strict=True)}
        for edge, (s, t) in enumerate(self.network.edge_index.tolist()):
            block = known.get((s, t))
            if block is not None:
                (left, up), (right, down) = (self._sides(node) for node in (s, t))
                values[self.entries(edge)] = up * down * (left.T @ block @ right)
        return values

    def build(self, values: FloatArray) -> Network:
        """Return the network with these parameters; categories that do not occur keep the fields they have."""
        net, every, blocks = self.network, [], []
        own = net.variables.split(net.category_fields)
        for place, field, seen in zip(self.fields, own, self.seen, strict=True):
            base = field - field[seen.argmax()]
            new = np.where(place >= 0, values[place], np.where(seen, 0.0, base))
            every.append(new[1:] - new[0])
        for edge, (s, t) in enumerate(net.edge_index.tolist()):
            blocks.append(self._sides(s)[0] @ values[self.entries(edge)] @ self._sides(t)[0].T)
        return Network(every, net.edge_index, variables=net.variables, parameters=blocks)

    def _sides(self, node: int) -> tuple[FloatArray, float]:
        """Return L of B = L Θ Lᵀ for one side of a block, and the factor that undoes it."""
        return (np.ones((1, 1)), 1.0) if self.network.variables.has_scores[node] else (self.points[node], 2.0)

    def sums(self, values: FloatArray, table: Table) -> Sums:
        """Return the sums over the rows of a table at these parameters."""
        network, d = self.build(values), self.n_parameters
        raw, known = table.unit_weight, square_weight(table)
        squares = known if isinstance(known, np.ndarray) else raw
        absent = ~np.concatenate(self.seen)
        total = Sums(0.0, np.zeros(d), np.zeros((d, d)), np.zeros((d, d)))
        for first in range(0, len(table), _ROWS_PER_BLOCK):
            rows = slice(first, first + _ROWS_PER_BLOCK)
            kept = raw[rows] > 0.0
            w, squared, codes = raw[rows][kept], squares[rows][kept], table.codes[rows][kept]
            logits = network.logits(codes)
            logits[absent] = -np.inf
            logs = network.variables.log_softmax(logits)
            chosen = np.take_along_axis(logs, network.variables.flat(codes), axis=0)
            part = self._add(total, codes, w, squared, np.exp(logs))
            total = Sums(total.loss - float((chosen @ w).sum()), *part)
        return total

    def _add(
        self, total: Sums, codes: NDArray[np.uint8], w: FloatArray, squared: FloatArray, chances: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Add what some rows contribute to gradient, Hessian and outer products."""
        scores, hessian = np.zeros((len(w), self.n_parameters)), total.hessian
        placed = [point[codes[:, t]] for t, point in enumerate(self.points)]
        parts = self.network.variables.split(chances)
        for s, (P, fields, point) in enumerate(zip(parts, self.fields, self.points, strict=True)):
            kept = np.flatnonzero(fields >= 0)
            if len(kept) == 0:
                continue
            features = np.hstack([np.eye(len(fields))[:, kept], point])  # of a category: its field, its coordinates
            f, width = len(kept), features.shape[1]
            mean = P.T @ features
            residual = mean - features[codes[:, s]]
            squares = P.T @ (features[:, :, None] * features[:, None, :]).reshape(len(fields), -1)
            spread = w[:, None, None] * (squares.reshape(-1, width, width) - mean[:, :, None] * mean[:, None, :])
            here = fields[kept]
            scores[:, here] = residual[:, :f]
            hessian[np.ix_(here, here)] += spread[:, :f, :f].sum(axis=0)
            places, design = self._neighbors(s, placed)
            for a, place in enumerate(places):
                scores[:, place] += residual[:, [f + a]] * design
                cross = spread[:, :f, f + a].T @ design
                hessian[np.ix_(here, place)] += cross
                hessian[np.ix_(place, here)] += cross.T
                for b, other in enumerate(places):
                    hessian[np.ix_(place, other)] += design.T @ (spread[:, f + a, f + b, None] * design)
        return total.gradient + w @ scores, hessian, total.outer + scores.T @ (squared[:, None] * scores)

    def _neighbors(self, s: int, placed: list[FloatArray]) -> tuple[NDArray[np.intp], FloatArray]:
        """Return the entries of a node's edges, one row per coordinate of it, and the neighbors' coordinates."""
        index = self.network.edge_index
        entries: list[NDArray[np.intp]] = [np.empty((self.points[s].shape[1], 0), dtype=np.intp)]
        design = [np.empty((len(placed[s]), 0))]
        for edge in np.flatnonzero((index == s).any(axis=1)).tolist():
            is_first = index[edge, 0] == s
            places = self.entries(edge)
            entries.append(places if is_first else places.T)
            design.append(placed[int(index[edge, 1 if is_first else 0])])
        return np.hstack(entries), np.hstack(design)


@dataclass(frozen=True, eq=False)
class BlockErrors:
    """Standard errors of edges and fields, and Wald's test that all parameters of an edge are zero."""

    edges: FloatArray  # of the coupling, or of the norm of Θ to first order; NaN where the estimate is infinite
    fields: FloatArray  # of all categories, one column after the other; NaN where there is no parameter
    chi2: FloatArray  # Wald's statistic of every edge
    dimensions: NDArray[np.intp]  # its degrees of freedom: the parameters of the edge


def network_of(solution: Solution) -> Network:
    """Return the network of a solution, which must have categories."""
    if solution.network.variables.is_binary:
        raise DataError("solution must be a network with categories for this table; got one of columns of 0 and 1.")
    return solution.network


def block_errors(support: Support, values: FloatArray, sums: Sums, *, ridge: float = 0.0) -> BlockErrors:
    """Return the sandwich standard errors at some parameters; a ridge where there may be no information left."""
    inverse = scipy.linalg.inv(sums.hessian + ridge * np.eye(len(sums.hessian)))
    covariance = inverse @ sums.outer @ inverse
    known = 1.0 / np.diag(inverse) >= LEAST_INFORMATION
    variances = np.where(known, np.diag(covariance), np.nan)
    n_edges = len(support.first) - 1
    edges, chi2 = np.full((2, n_edges), np.nan)
    for edge in range(n_edges):
        places = np.arange(support.first[edge], support.first[edge + 1])
        theta, spread = values[places], covariance[np.ix_(places, places)]
        norm = float(np.linalg.norm(theta))
        if not known[places].all() or norm == 0.0:
            continue
        edges[edge] = np.sqrt(max(float(theta @ spread @ theta), 0.0)) / norm
        chi2[edge] = float(theta @ np.linalg.lstsq(spread, theta, rcond=None)[0])
    fields = [np.where(place >= 0, np.sqrt(variances)[place], np.nan) for place in support.fields]
    return BlockErrors(edges, np.concatenate(fields), chi2, np.diff(support.first))


def newton(support: Support, values: FloatArray, table: Table, tol: float) -> tuple[FloatArray, Solution]:
    """Return the optimum without penalty on a support, by Newton's method from a start that is close.

    Its KKT residual is that of the fields and entries of the support; it has no duality gap.
    """
    n_rows, sums = table.total_weight, support.sums(values, table)
    residual = np.inf
    for _ in range(_STEPS):
        residual = float(np.abs(sums.gradient).max(initial=0.0)) / n_rows
        _refuse_separation(support, sums)
        if residual <= tol:
            break
        step = scipy.linalg.solve(sums.hessian, sums.gradient, assume_a="pos")
        length = 1.0
        for _ in range(_HALVINGS):
            ahead = support.sums(values - length * step, table)
            if ahead.loss <= sums.loss + 1e-12 * abs(sums.loss):
                break
            length /= 2.0
        values, sums = values - length * step, ahead
    return values, Solution(
        support.build(values), 1.0, objective=sums.loss / n_rows, kkt_residual=residual, converged=residual <= tol
    )


def _refuse_separation(support: Support, sums: Sums) -> None:
    """Raise if there is next to no information left on an entry of the support."""
    left = 1.0 / np.diag(scipy.linalg.inv(sums.hessian + RIDGE * np.eye(len(sums.hessian))))[support.first[0] :]
    if not len(left) or left.min() >= LEAST_INFORMATION:
        return
    place = int(support.first[0] + left.argmin())
    edge = int(np.searchsorted(support.first, place, side="right")) - 1
    s, t = (support.network.names[node] for node in support.network.edge_index[edge])
    raise SeparationError(
        f"the unpenalized optimum must be finite; columns {s!r} and {t!r} separate the table, and their coupling "
        "grows without bound. Merge rare categories, or keep a penalty: a path with alpha > 0."
    )
