"""Derivatives of the loss on the edges of a network.

The parameters are a field for every category that occurs, but the first of its column, and then for every pair of the
network, those with covariates included, the entries of Θ_st, one after the other: one for two columns with scores,
(q_s − 1)(q_t − 1) for two nominal ones, q being the categories that occur.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import Bytes, FloatArray, Mask
from isinglass.conditionals import log_probabilities, logits
from isinglass.data import AnyTable, are_counts, category_counts
from isinglass.data.counts import sd_of
from isinglass.network import Network
from isinglass.pairs import pair_keys, values_at
from isinglass.variables import Variables, corners

_ROWS_PER_BLOCK = 1024  # of which the scores of a thousand parameters stay in the memory that was just used


@dataclass(frozen=True, eq=False)
class LossSums:
    """Sums over rows, under their weights, of the derivatives of the loss."""

    loss: float
    gradient: FloatArray
    hessian: FloatArray
    outer: FloatArray  # of the rows' own gradients, under the weights of the sandwich


@dataclass(frozen=True, eq=False)
class Support:
    """Where the parameters of the edges of a network stand, for a table."""

    network: Network  # whose edges and scores are used
    occurs: Mask  # which categories occur, in the layout of the variables; so in what follows
    base: NDArray[np.intp]  # the first category that occurs in the same column
    place: NDArray[np.intp]  # place of the field of each category; -1 where there is none
    points: tuple[FloatArray, ...]  # (q, m) of each column; zero for categories that do not occur
    first: NDArray[np.intp]  # place of the first entry of every edge, and the number of all parameters
    units: FloatArray  # of each column, see `coupling_units`

    @classmethod
    def of(cls, table: AnyTable, network: Network) -> Support:
        """Give every parameter a place; a column that takes one value has none."""
        variables, counts = network.variables, category_counts(table)
        occurs = counts > 0.0
        base = np.array(
            [start + part.argmax() for start, part in zip(variables.starts, variables.split(occurs), strict=True)]
        )
        base = base[variables.column]
        has_field = occurs & (np.arange(len(base)) != base) & variables.is_modeled[variables.column]
        points = []
        for s, seen in enumerate(variables.split(occurs)):
            score, numbers = variables.score(s), np.flatnonzero(seen)
            point = np.zeros((len(seen), 1 if score is not None else max(len(numbers) - 1, 1)))
            point[numbers] = (
                score[numbers, None] if score is not None else corners(max(len(numbers), 2))[: len(numbers)]
            )
            points.append(point)
        m = np.array([point.shape[1] for point in points])
        cells = m[network.pairs].prod(axis=1)
        first = int(has_field.sum()) + np.concatenate([[0], np.cumsum(cells)]).astype(np.intp)
        place = np.where(has_field, np.cumsum(has_field) - 1, -1)
        return cls(network, occurs, base, place, tuple(points), first, coupling_units(counts, variables))

    @property
    def n_parameters(self) -> int:
        """Fields and entries of all edges."""
        return int(self.first[-1])

    @cached_property
    def wide_pairs(self) -> list[tuple[int, int, int]]:
        """Number and nodes of every edge with more than one parameter."""
        edges = self.network.pairs
        wide = np.flatnonzero(~self.network.variables.has_sign(edges))
        return [(k, *edges[k].tolist()) for k in wide.tolist()]

    def scale(self, units: FloatArray) -> FloatArray:
        """Return what every parameter is multiplied by when the scores of columns are in other units."""
        s, t = self.network.pairs.T
        return np.concatenate([np.ones(self.first[0]), np.repeat(units[s] * units[t], np.diff(self.first))])

    def entries(self, edge: int) -> NDArray[np.intp]:
        """Return the places of Θ_st of an edge, as a matrix."""
        s, t = self.network.pairs[edge]
        shape = self.points[s].shape[1], self.points[t].shape[1]
        return np.arange(self.first[edge], self.first[edge + 1]).reshape(shape)

    def read(self, network: Network) -> FloatArray:
        """Return the parameters of a network, whose edges are some of these."""
        values = np.zeros(self.n_parameters)
        fields, has_field = network.category_fields, self.place >= 0
        values[self.place[has_field]] = (fields - fields[self.base])[has_field]
        support = pair_keys(self.network.pairs, network.n_features)
        own = pair_keys(network.pairs, network.n_features)
        values[self.first[:-1]] = values_at(network.pair_values, own, support)
        blocks = network.variables.split_blocks(network.pairs, network.pair_parameters)
        block_by_pair = dict(zip(own.tolist(), blocks, strict=True))
        for edge, s, t in self.wide_pairs:
            block = block_by_pair.get(support[edge])
            (left, up), (right, down) = (self._sides(node) for node in (s, t))
            values[self.entries(edge)] = 0.0 if block is None else up * down * (left.T @ block @ right)
        return values

    def build(self, values: FloatArray, others: Network | None = None) -> Network:
        """Return the network with these parameters; categories that do not occur have the fields of another network.

        By default that is the network whose edges these are.
        """
        variables, own = self.network.variables, (others or self.network).category_fields
        fields = np.where(
            self.place >= 0, np.append(values, 0.0)[self.place], np.where(self.occurs, 0.0, own - own[self.base])
        )
        fields -= fields[variables.starts][variables.column]
        parameters = [value[None, None] for value in values[self.first[:-1]]]
        for edge, s, t in self.wide_pairs:
            parameters[edge] = self._sides(s)[0] @ values[self.entries(edge)] @ self._sides(t)[0].T
        flat = np.concatenate([*(block.ravel() for block in parameters), np.empty(0)])
        return Network(fields[variables.is_later], self.network.pairs, variables=variables, pair_parameters=flat)

    def _sides(self, node: int) -> tuple[FloatArray, float]:
        """Return L of B = L Θ Lᵀ for one side of a block, and the factor that undoes it."""
        return (np.ones((1, 1)), 1.0) if self.network.variables.has_scores[node] else (self.points[node], 2.0)

    def sums(self, values: FloatArray, table: AnyTable) -> LossSums:
        """Return the sums over the rows of a table at these parameters."""
        return LossSums(*table.sum_rows(_sum_rows, self, self.build(values), _square_weight(table)))

    @cached_property
    def _offsets(self) -> NDArray[np.intp]:
        """Number of the first coordinate of every column, and of all coordinates."""
        return np.cumsum([0, *(point.shape[1] for point in self.points)])

    @cached_property
    def _ends(self) -> NDArray[np.intp]:
        """Numbers of the two coordinates that every entry of an edge belongs to, shape (2, entries)."""
        s, t = np.repeat(self.network.pairs.T, np.diff(self.first), axis=1)
        place = np.arange(self.first[0], self.first[-1]) - np.repeat(self.first[:-1], np.diff(self.first))
        width = np.diff(self._offsets)[t]
        return np.stack([self._offsets[s] + place // width, self._offsets[t] + place % width])

    @cached_property
    def _neighbors(self) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Places of the entries of a node's edges, a row per coordinate of it, and the coordinates beside them."""
        left, right = self._ends
        ends = [(np.flatnonzero(left == own), np.flatnonzero(right == own)) for own in range(int(self._offsets[-1]))]
        places = [self.first[0] + np.concatenate(sides) for sides in ends]
        beside = [np.concatenate([right[firsts], left[seconds]]) for firsts, seconds in ends]
        return [(np.array(places[a:b]), beside[a]) for a, b in pairwise(self._offsets.tolist())]

    def add(
        self, codes: Bytes, w: FloatArray, squared: FloatArray, chances: FloatArray, hessian: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Add what some rows contribute to the Hessian; return what they add to gradient and outer products."""
        scores, split = np.zeros((self.n_parameters, len(w))), self.network.variables.split
        placed = np.vstack([point.T[:, codes[:, t]] for t, point in enumerate(self.points)])
        residuals = np.zeros_like(placed)
        around = zip(split(chances), split(self.place), self.points, self._neighbors, self._offsets, strict=False)
        for s, (P, fields, point, (entries, beside), offset) in enumerate(around):
            kept = np.flatnonzero(fields >= 0)
            if len(kept) == 0:
                continue
            here, design = fields[kept], placed[beside]
            mean = point.T @ P
            scores[here] = P[kept] - (codes[:, s] == kept[:, None])
            residuals[offset : offset + len(mean)] = mean - point.T[:, codes[:, s]]
            # The logit of category k has the derivatives 1 by its field and point_k ⊗ design by the entries of edges.
            places = np.concatenate([here, entries.ravel()])
            f, second = len(here), np.zeros((len(places), len(places)))
            second[:f, :f] = _field_derivatives(P, w)[np.ix_(kept, kept)]
            cross, second[f:, f:] = _edge_derivatives(point, P, mean, w, design)
            second[:f, f:], second[f:, :f] = cross[kept], cross[kept].T
            hessian[np.ix_(places, places)] += second
        return self._finish(scores, residuals, placed, w, squared)

    def add_two_values(
        self, codes: Bytes, w: FloatArray, squared: FloatArray, network: Network, hessian: FloatArray
    ) -> tuple[float, FloatArray, FloatArray]:
        """Do the same for columns of two values, all nodes at once; return the loss of the rows as well.

        It takes half of the time that columns one by one would.
        """
        x, fields = np.ascontiguousarray(codes.T, dtype=np.float64), self.place[1::2]
        eta = network.fields[:, None] + network.couplings_sparse @ x
        varies = fields >= 0
        eta[~varies] = np.inf  # a constant column is certain: no residual, no curvature
        small = np.exp(-np.abs(eta))
        chance = np.where(eta >= 0.0, 1.0, small) / (1.0 + small)
        residuals, curves = chance - x, w * small / (1.0 + small) ** 2
        residuals[~varies] = 0.0
        # −log σ of the log odds of what was observed
        loss = (np.log1p(small) + np.maximum(np.where(x > 0.0, -eta, eta), 0.0))[varies] @ w
        scores = np.zeros((self.n_parameters, len(w)))
        scores[fields[varies]] = residuals[varies]
        for s in np.flatnonzero(varies).tolist():
            entries, beside = self._neighbors[s]
            design = np.vstack([np.ones(len(w)), x[beside]])
            places = np.append(fields[s], entries[0])
            hessian[np.ix_(places, places)] += (curves[s] * design) @ design.T
        return float(loss.sum()), *self._finish(scores, residuals, x, w, squared)

    def _finish(
        self, scores: FloatArray, residuals: FloatArray, placed: FloatArray, w: FloatArray, squared: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the sum of the rows' scores, those of edges filled in, and of their outer products."""
        left, right = self._ends
        scores[self.first[0] :] = residuals[left] * placed[right] + residuals[right] * placed[left]
        gradient = scores @ w
        scores *= np.sqrt(squared)
        return gradient, scores @ scores.T  # of one array with itself, which takes half the time


def _field_derivatives(P: FloatArray, w: FloatArray) -> FloatArray:
    """Return the sum over rows of the covariances of the categories, of sums of one sign."""
    both = (w * P) @ P.T
    np.fill_diagonal(both, 0.0)
    return np.asarray(np.diag(both.sum(axis=1)) - both)


def _edge_derivatives(
    point: FloatArray, P: FloatArray, mean: FloatArray, w: FloatArray, design: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the sums over rows of the covariances of point_k ⊗ design with category k, and with themselves."""
    (q, d), m, weighted = point.shape, len(design), w * P
    if d == 1:  # scores
        apart = (point - point.T) @ P  # not from the mean: beside large couplings, nearly all is at one score
        return (weighted * apart) @ design.T, _moments((weighted * apart**2).sum(axis=0), design)
    means = (mean[:, None] * design).reshape(d * m, len(w))
    cross = (point[:, :, None] * (weighted @ design.T)[:, None]).reshape(q, -1) - weighted @ means.T
    sums = np.array([_moments(each, design) for each in weighted]).reshape(q, -1)
    squares = (point[:, :, None] * point[:, None]).reshape(q, -1).T @ sums
    moments = squares.reshape(d, d, m, m).transpose(0, 2, 1, 3).reshape(d * m, d * m)
    return cross, moments - _moments(w, means)


def _moments(w: FloatArray, design: FloatArray) -> FloatArray:
    """Return the weighted sum over rows of all products: of one array with itself, which takes half the time."""
    scaled = np.sqrt(w) * design
    return np.asarray(scaled @ scaled.T)


def coupling_units(counts: FloatArray, variables: Variables) -> FloatArray:
    """Return the unit in which the scores of every column are comparable, given `category_counts`.

    It is the distance of two categories, and twice the standard deviation of the scores of more: what is said about
    couplings in these units, in rows, does not depend on how scores are scaled.
    """
    spread_out = np.where(variables.sizes > 2, 2.0 * sd_of(counts, variables), variables.ranges)
    return np.where(variables.has_scores & (spread_out > 0.0), spread_out, 1.0)


def pair_units(table: AnyTable) -> FloatArray:
    """Return the product of the `coupling_units` of every two columns: penalty weights in which their scale cancels."""
    units = coupling_units(category_counts(table), table.variables)
    return np.multiply.outer(units, units)


def _square_weight(table: AnyTable) -> FloatArray | bool | None:
    """Return what the outer product of every row's score is weighted by in the variance of their sum.

    A row that was drawn with sampling weight w has the score w u and adds w² u uᵀ, a count of w equal rows adds w u uᵀ;
    copies of one row share its weight. A table in parts has weights of its own: whether these are squared.
    """
    if not table.is_whole:
        return table.weight_kind == "sampling"
    weight, units = table.sample_weight, table.units
    if weight is None:
        return None
    own = weight if units is None else np.asarray(np.bincount(units, weight), dtype=np.float64)[units]
    return weight if are_counts(own) else weight * own


def _sum_rows(
    codes: Bytes, weight: FloatArray | None, support: Support, network: Network, squares: FloatArray | bool | None
) -> tuple[float, FloatArray, FloatArray, FloatArray]:
    """Return the sums over rows; ``squares`` are the weights of the outer products, or whether to square the others."""
    raw = np.ones(len(codes)) if weight is None else weight
    if not isinstance(squares, np.ndarray):
        squares = raw**2 if squares else raw
    loss, variables, d = 0.0, network.variables, support.n_parameters
    gradient, hessian, outer = np.zeros(d), np.zeros((d, d)), np.zeros((d, d))
    for first in range(0, len(codes), _ROWS_PER_BLOCK):
        rows = first + np.flatnonzero(raw[first : first + _ROWS_PER_BLOCK])
        if variables.is_binary:
            added, slope, product = support.add_two_values(codes[rows], raw[rows], squares[rows], network, hessian)
            loss, gradient, outer = loss + added, gradient + slope, outer + product
            continue
        each = logits(network, codes[rows])
        each[~support.occurs] = -np.inf
        logs = log_probabilities(variables, each, codes[rows])
        chosen = np.take_along_axis(logs, variables.flat(codes[rows]), axis=0)
        loss -= float((chosen @ raw[rows]).sum())
        slope, product = support.add(codes[rows], raw[rows], squares[rows], np.exp(logs), hessian)
        gradient += slope
        outer += product
    return loss, gradient, hessian, outer
