"""Derivatives of the loss on the edges of a network, Newton's method on them, and sandwich standard errors.

The parameters are a field for every category that occurs, but the first of its column, and then for every pair of the
network, those with covariates included, the entries of Θ_st, one after the other: one for two columns with scores,
(q_s − 1)(q_t − 1) for two nominal ones, q being the categories that occur. H is the Hessian of the sum of the rows'
losses under their weights, K the variance of the sum of their scores: a row that was drawn with sampling weight w has
the score w u and adds w² u uᵀ, a count of w equal rows adds w u uᵀ.
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
from isinglass.errors import SeparationError
from isinglass.network import Network
from isinglass.pairs import pair_keys, values_at
from isinglass.results import Solution
from isinglass.variables import Variables, corners

LEAST_INFORMATION = 0.05
"""Information on a parameter (in `coupling_units`), in rows, from which on its estimate is taken for finite."""
LEAST_LEFT = 0.7
"""Share of less information that a Newton step leaves if the estimate is finite; towards infinity, it leaves e⁻¹."""
RIDGE = 1e-3 * LEAST_INFORMATION
"""What is added to all information, in rows: some is then left in floating point."""
TINY = 1e-10
"""The same as a share of the information given all other parameters, where there may be less than `RIDGE`."""
_STEPS, _HALVINGS = 50, 30  # of Newton's method, and of one step
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
        has_field = occurs & (np.arange(len(base)) != base) & variables.is_modelled[variables.column]
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
    def _blocks(self) -> list[tuple[int, int, int]]:
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
        for edge, s, t in self._blocks:
            block = block_by_pair.get(support[edge])
            (left, up), (right, down) = (self._sides(node) for node in (s, t))
            values[self.entries(edge)] = 0.0 if block is None else up * down * (left.T @ block @ right)
        return values

    def build(self, values: FloatArray) -> Network:
        """Return the network with these parameters; categories that do not occur keep the fields they have."""
        variables, own = self.network.variables, self.network.category_fields
        fields = np.where(self.place >= 0, values[self.place], np.where(self.occurs, 0.0, own - own[self.base]))
        fields -= fields[variables.starts][variables.column]
        parameters = [value[None, None] for value in values[self.first[:-1]]]
        for edge, s, t in self._blocks:
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
            features = np.hstack([np.eye(len(fields))[:, kept], point])  # of a category: its field, its coordinates
            f, width = len(kept), features.shape[1]
            mean = features.T @ P
            residual = mean - features.T[:, codes[:, s]]
            squares = (features[:, :, None] * features[:, None, :]).reshape(len(fields), -1).T @ P
            covariance = w * (squares.reshape(width, width, -1) - mean[:, None] * mean)
            here, design = fields[kept], placed[beside]
            scores[here], residuals[offset : offset + width - f] = residual[:f], residual[f:]
            hessian[np.ix_(here, here)] += covariance[:f, :f].sum(axis=2)
            for a, place in enumerate(entries, f):
                cross = covariance[:f, a] @ design.T
                hessian[np.ix_(here, place)] += cross
                hessian[np.ix_(place, here)] += cross.T
                for b, other in enumerate(entries, f):
                    hessian[np.ix_(place, other)] += (covariance[a, b] * design) @ design.T
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


@dataclass(frozen=True, eq=False)
class Errors:
    """Standard errors of pairs, covariates included, and fields, and Wald's test that a pair's parameters are zero."""

    network: Network  # whose couplings and fields they are of
    pairs: FloatArray  # of the coupling, or of the norm of Θ to first order; NaN where the estimate is infinite
    fields: FloatArray  # in the layout of the network's fields; NaN where there is no parameter
    chi2: FloatArray  # Wald's statistic of every pair
    dimensions: NDArray[np.intp]  # its degrees of freedom: the parameters of the pair


def sandwich_errors(support: Support, network: Network, table: AnyTable, *, nearly_free: bool = False) -> Errors:
    """Return the errors H⁻¹ K H⁻¹ of a network with the edges of the support.

    ``nearly_free``: it is penalized by a fraction of a row, and its couplings may be infinite without. If there is
    little information on some, they are estimated again without penalty, and those that are infinite have NaN.
    """
    values = support.read(network)
    sums = support.sums(values, table)
    inverse, information = _invert(support, sums.hessian, RIDGE if nearly_free else 0.0)
    is_known = information >= (LEAST_INFORMATION if nearly_free else 0.0)
    if not is_known.all():
        values, sums, inverse, is_finite = _which_are_finite(support, values, sums, table)
        network, is_known = support.build(values), is_known | is_finite
    half = inverse @ sums.outer
    variances = np.where(is_known, np.einsum("ij,ij->i", half, inverse), np.nan)
    edges, theta = np.sqrt(variances[support.first[:-1]]), values[support.first[:-1]]
    chi2 = (theta / edges) ** 2
    for edge, _, _ in support._blocks:
        places = support.entries(edge).ravel()
        theta, own = values[places], half[places] @ inverse[:, places]
        norm = float(np.linalg.norm(theta))
        edges[edge] = chi2[edge] = np.nan
        if is_known[places].all() and norm > 0.0:
            edges[edge] = np.sqrt(max(float(theta @ own @ theta), 0.0)) / norm
            chi2[edge] = float(theta @ np.linalg.lstsq(own, theta, rcond=None)[0])
    fields = np.where(support.place >= 0, np.sqrt(np.append(variances, np.nan))[support.place], np.nan)
    return Errors(network, edges, fields[support.network.variables.is_later], chi2, np.diff(support.first))


def _invert(support: Support, hessian: FloatArray, ridge: float | FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the inverse of a Hessian, and the information on every parameter; ridge and information in its units."""
    scale = support.scale(support.units)
    scaled = hessian / scale
    scaled /= scale[:, None]
    scaled[np.diag_indices_from(scaled)] += ridge
    inverse = np.asarray(np.linalg.inv(scaled), dtype=np.float64)
    information = 1.0 / np.diag(inverse)
    inverse /= scale
    inverse /= scale[:, None]
    return inverse, information


def _which_are_finite(
    support: Support, values: FloatArray, sums: LossSums, table: AnyTable
) -> tuple[FloatArray, LossSums, FloatArray, Mask]:
    """Return parameters two Newton steps after nearly free ones, their sums and inverse, and which are finite.

    Where columns separate the table, every step adds the same to a coupling and leaves e⁻¹ of the information on it. A
    finite coupling, however large, is nearly at its optimum after the first step: the second leaves all information.
    """
    values, sums = _step(support, values, sums, table, _invert(support, sums.hessian, _tiny(support, sums))[0])
    inverse, before = _invert(support, sums.hessian, _tiny(support, sums))
    values, sums = _step(support, values, sums, table, inverse)
    ridge = _tiny(support, sums)
    inverse, after = _invert(support, sums.hessian, ridge)
    stays = (after >= LEAST_LEFT * before) & (before >= LEAST_LEFT * after)
    return values, sums, inverse, stays & (after > 100.0 * ridge)  # what is left is not the ridge alone


def _tiny(support: Support, sums: LossSums) -> FloatArray:
    """Return the ridge for a Hessian that may be nearly singular."""
    return TINY * np.maximum(np.diag(sums.hessian) / support.scale(support.units) ** 2, TINY)


def _step(
    support: Support, values: FloatArray, sums: LossSums, table: AnyTable, inverse: FloatArray
) -> tuple[FloatArray, LossSums]:
    """Return parameters and sums after a Newton step without penalty, halved until the loss does not rise.

    If it always does, they are those before the step.
    """
    step = inverse @ sums.gradient
    for _ in range(_HALVINGS):
        ahead = support.sums(values - step, table)
        if ahead.loss <= sums.loss + 1e-12 * abs(sums.loss):
            return values - step, ahead
        step /= 2.0
    return values, sums


def newton(support: Support, start: Network, table: AnyTable, tol: float) -> Solution:
    """Return the optimum without penalty on a support, by Newton's method from a nearly free estimate.

    Its KKT residual is that of the fields and entries of the support, with scores of range 1; it has no duality gap.
    """
    values, n_rows = support.read(start), table.total_weight
    sums = support.sums(values, table)
    _refuse_separation(support, values, sums, table)
    ranges = support.scale(support.network.variables.ranges)
    residual = np.inf
    for _ in range(_STEPS):
        residual = float(np.abs(sums.gradient / ranges).max(initial=0.0)) / n_rows
        if residual <= tol:
            break
        values, sums = _step(support, values, sums, table, _invert(support, sums.hessian, 0.0)[0])
    return Solution(
        support.build(values), 1.0, objective=sums.loss / n_rows, kkt_residual=residual, converged=residual <= tol
    )


def _refuse_separation(support: Support, values: FloatArray, sums: LossSums, table: AnyTable) -> None:
    """Raise if the optimum without penalty is infinite, given parameters with next to none."""
    is_known = _invert(support, sums.hessian, RIDGE)[1] >= LEAST_INFORMATION
    if is_known.all():
        return
    is_known |= _which_are_finite(support, values, sums, table)[3]
    infinite = support.first[0] + np.flatnonzero(~is_known[support.first[0] :])
    if len(infinite):
        edge = int(np.searchsorted(support.first, infinite[0], side="right")) - 1
        raise SeparationError.of_pair(*map(support.network.variables.called, support.network.pairs[edge].tolist()))
