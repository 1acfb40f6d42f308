"""Sandwich standard errors H⁻¹ K H⁻¹ on the edges of a network, which estimates are infinite, and Newton's method.

H is the Hessian of the sum of the rows' losses under their weights, K the variance of the sum of their scores.

The parameters are a field for every category that occurs, but the first of its column, and then for every pair of the
network, those with covariates included, the entries of Θ_st, one after the other: one for two columns with scores,
(q_s − 1)(q_t − 1) for two nominal ones, q being the categories that occur.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from isinglass.arrays import Bytes, FloatArray, Mask, count_within
from isinglass.conditionals import log_probabilities, logits
from isinglass.data import AnyTable, are_counts, category_counts
from isinglass.data.counts import sd_of
from isinglass.errors import SeparationError
from isinglass.matching import require_same
from isinglass.network import Network
from isinglass.pairs import pair_keys
from isinglass.results import Solution
from isinglass.variables import Variables

LEAST_INFORMATION = 0.05
"""Information on a parameter (in `coupling_units`), in rows, from which on its estimate is taken for finite."""
LEAST_LEFT = 0.7
"""Smallest ratio of information after and before a Newton step for a finite estimate; towards infinity, it is e⁻¹."""
RIDGE = 1e-3 * LEAST_INFORMATION
"""What is added to all information, in rows: some is then left in floating point."""
TINY = 1e-10
"""The same as a share of the information given all other parameters, where there may be less than `RIDGE`."""
_STEPS, _HALVINGS, _STEPS_TO_JUDGE = 50, 30, 8  # of Newton's method, of one step, and to tell what is finite
_ROWS_PER_BLOCK = 1024  # of which the scores of a thousand parameters stay in the memory that was just used


@dataclass(eq=False)
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
        """Give every parameter a place; a column that takes one value has none. The network must be of such tables."""
        require_same(table.variables, network.variables)
        variables, counts = network.variables, category_counts(table)
        occurs = counts > 0.0
        first_seen = [int(part.argmax()) for part in variables.split(occurs)]
        base = (variables.starts + first_seen)[variables.column]
        has_field = occurs & (np.arange(len(base)) != base) & variables.is_modeled[variables.column]
        points = tuple(_points(variables.score(s), part) for s, part in enumerate(variables.split(occurs)))
        m = np.array([point.shape[1] for point in points])
        cells = m[network.pairs].prod(axis=1)
        first = int(has_field.sum()) + np.concatenate([[0], np.cumsum(cells)]).astype(np.intp)
        place = np.where(has_field, np.cumsum(has_field) - 1, -1)
        return cls(network, occurs, base, place, points, first, coupling_units(counts, variables))

    @property
    def n_parameters(self) -> int:
        """Fields and entries of all edges."""
        return int(self.first[-1])

    @cached_property
    def wide_edges(self) -> list[int]:
        """Numbers of the edges with more than one parameter."""
        return np.flatnonzero(~self.network.variables.has_sign(self.network.pairs)).tolist()

    def scale(self, units: FloatArray) -> FloatArray:
        """Return what every parameter is multiplied by when the scores of columns are in other units."""
        s, t = self.network.pairs.T
        return np.concatenate([np.ones(self.first[0]), np.repeat(units[s] * units[t], np.diff(self.first))])

    def read(self, network: Network) -> FloatArray:
        """Return the parameters of a network, whose edges are some of these."""
        values = np.zeros(self.n_parameters)
        fields, has_field = network.category_fields, self.place >= 0
        values[self.place[has_field]] = (fields - fields[self.base])[has_field]
        pairs, variables = self.network.pairs, self.network.variables
        undo = np.repeat(variables.block_scale(pairs) ** 2, np.diff(self.first))
        values[self.first[0] :] = undo * (self._blocks.T @ network.parameters_at(pair_keys(pairs, network.n_features)))
        return values

    def build(self, values: FloatArray, others: Network | None = None) -> Network:
        """Return the network with these parameters; categories that do not occur have the fields of another network.

        By default that is the network whose edges these are.
        """
        variables, own = self.network.variables, (others or self.network).category_fields
        fields = np.where(
            self.place >= 0, np.append(values, 0.0)[self.place], np.where(self.occurs, 0.0, own - own[self.base])
        )
        fields, blocks = variables.fields_of(fields), self._blocks @ values[self.first[0] :]
        return Network(fields, self.network.pairs, variables=variables, pair_parameters=blocks)

    @cached_property
    def _blocks(self) -> sp.csr_array:
        """The blocks of all edges as a linear function of their parameters: B = L_s Θ L_tᵀ.

        L is 1 for a column with scores, else its points, for which LᵀL = 1/2.
        """
        if not self.wide_edges:
            return sp.csr_array(sp.identity(len(self.network.pairs)))
        sides = zip(self.points, self.network.variables.has_scores, strict=True)
        factors = [np.ones((1, 1)) if has_scores else point for point, has_scores in sides]
        return sp.csr_array(sp.block_diag([np.kron(factors[s], factors[t]) for s, t in self.network.pairs.tolist()]))

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
        sizes = np.diff(self.first)
        (s, t), place = np.repeat(self.network.pairs.T, sizes, axis=1), count_within(sizes)
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

    @cached_property
    def _contrasts(self) -> sp.csr_array:
        """The points of all columns as a matrix: a row per coordinate, a column per category."""
        return sp.csr_array(sp.block_diag([point.T for point in self.points]))

    def add(self, sums: LossSums, network: Network, codes: Bytes, w: FloatArray, squares: FloatArray) -> None:
        """Add what some rows contribute, with weights ``w``, in outer products ``squares``.

        Let π_s be the probabilities of the categories of column s given the rest of a row, and e_s indicate the one
        that it has. The loss −Σ_s log π_s(x_s) has the derivative π_s − e_s by the fields of s. By the entries of Θ_st
        it has r_s ⊗ z_t + z_s ⊗ r_t, where z_s = P_sᵀ e_s, r_s = P_sᵀ (π_s − e_s), and P_s are the points of column s.
        """
        variables, rows = network.variables, np.arange(len(codes))
        each = logits(network, codes)
        each[~self.occurs] = -np.inf
        log_pi = log_probabilities(variables, each, codes)
        flat = variables.flat(codes)
        sums.loss -= float((log_pi[flat, rows] @ w).sum())
        pi, e = np.exp(log_pi), np.zeros_like(log_pi)
        e[flat, rows] = 1.0
        z, residuals = self._contrasts @ e, pi - e
        around = zip(variables.split(pi), variables.split(self.place), self.points, self._neighbors, strict=True)
        for pi_s, fields, point, (entries, beside) in around:
            kept = np.flatnonzero(fields >= 0)
            if len(kept):
                places = np.concatenate([fields[kept], entries.ravel()])
                sums.hessian[np.ix_(places, places)] += _node_hessian(kept, point, pi_s, w, z[beside])
        gradients = np.empty((self.n_parameters, len(w)))  # of single rows
        has_field = self.place >= 0
        gradients[self.place[has_field]] = residuals[has_field]
        residuals[~np.logical_or.reduceat(has_field, variables.starts)[variables.column]] = 0.0  # not modeled
        r, (s, t) = self._contrasts @ residuals, self._ends
        gradients[self.first[0] :] = r[s] * z[t] + r[t] * z[s]
        sums.gradient += gradients @ w
        gradients *= np.sqrt(squares)
        sums.outer += gradients @ gradients.T  # of one array with itself, which takes half the time


def _points(score: FloatArray | None, occurs: Mask) -> FloatArray:
    """Return the points of the categories of a column that occur: scores, or corners of a simplex with sides of 1."""
    numbers = np.flatnonzero(occurs)
    if score is None:
        from scipy.linalg import helmert  # slow to import

        own = helmert(max(len(numbers), 2)).T[: len(numbers)] / np.sqrt(2.0)
    else:
        own = score[numbers, None]
    points = np.zeros((len(occurs), own.shape[1]))
    points[numbers] = own
    return points


def _node_hessian(
    kept: NDArray[np.intp], point: FloatArray, P: FloatArray, w: FloatArray, design: FloatArray
) -> FloatArray:
    """Return the second derivatives of a column's loss by the fields that are kept and the entries of its edges.

    The logit of category k has the derivatives 1 by its field and point_k ⊗ design by the entries, so these are
    covariances under the probabilities P of the categories, summed over rows with the weights w.
    """
    (q, d), m, weighted = point.shape, len(design), w * P
    both = weighted @ P.T
    np.fill_diagonal(both, 0.0)
    by_fields = np.diag(both.sum(axis=1)) - both  # sums of one sign
    # Point less mean, as a sum of differences of points: beside large couplings, nearly all P is at one of them.
    apart = np.tensordot(point[:, None] - point, P, axes=(1, 0))
    moved = weighted[:, None] * apart
    cross = (moved.reshape(q * d, len(w)) @ design.T).reshape(q, d * m)[kept]
    spread = np.einsum("kan,kbn->abn", moved, apart)
    products = np.array([(row[:, None] * design).reshape(d * m, len(w)) @ design.T for row in spread])
    by_entries = products.reshape(d, d, m, m).transpose(0, 2, 1, 3).reshape(d * m, d * m)
    return np.block([[by_fields[np.ix_(kept, kept)], cross], [cross.T, by_entries]])


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


def _square_weight(table: AnyTable) -> FloatArray | bool:
    """Return what the outer product of every row's score is weighted by in the variance of their sum.

    A row that was drawn with sampling weight w has the score w u and adds w² u uᵀ, a count of w equal rows adds w u uᵀ;
    copies of one row share its weight. A table in parts has weights of its own: whether these are squared.
    """
    if not table.is_whole:
        return table.weight_kind == "sampling"
    weight, units = table.unit_weight, table.units
    own = weight if units is None else np.asarray(np.bincount(units, weight), dtype=np.float64)[units]
    return weight if are_counts(own) else weight * own


def _sum_rows(
    codes: Bytes, weight: FloatArray | None, support: Support, network: Network, squares: FloatArray | bool
) -> tuple[float, FloatArray, FloatArray, FloatArray]:
    """Return the sums over rows; ``squares`` are the weights of the outer products, or whether to square the others."""
    own = np.ones(len(codes)) if weight is None else weight
    if isinstance(squares, bool):
        squares = own**2 if squares else own
    n = support.n_parameters
    sums = LossSums(0.0, np.zeros(n), np.zeros((n, n)), np.zeros((n, n)))
    for first in range(0, len(codes), _ROWS_PER_BLOCK):
        rows = first + np.flatnonzero(own[first : first + _ROWS_PER_BLOCK])
        support.add(sums, network, codes[rows], own[rows], squares[rows])
    return sums.loss, sums.gradient, sums.hessian, sums.outer


@dataclass(frozen=True, eq=False)
class Errors:
    """Standard errors of pairs, covariates included, and fields, and Wald's test that a pair's parameters are zero."""

    network: Network  # whose couplings and fields they are of
    pairs: FloatArray  # of the coupling, or of the norm of Θ to first order; NaN where the estimate is infinite
    fields: FloatArray  # in the layout of the network's fields; NaN where there is no parameter
    chi2: FloatArray  # Wald's statistic of every pair
    dimensions: NDArray[np.intp]  # its degrees of freedom: the parameters of the pair


@dataclass(frozen=True, eq=False)
class Iterate:
    """Parameters on the edges of a network, and the derivatives of the loss of a table there."""

    support: Support
    table: AnyTable
    values: FloatArray

    @cached_property
    def sums(self) -> LossSums:
        """Loss, gradient, Hessian and outer products, summed over the rows."""
        return self.support.sums(self.values, self.table)

    def invert(self, ridge: float | FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the inverse of the Hessian, and the information on every parameter, in whose units the ridge is."""
        scale = self.support.scale(self.support.units)
        scaled = self.sums.hessian / scale
        scaled /= scale[:, None]
        scaled[np.diag_indices_from(scaled)] += ridge
        inverse = np.asarray(np.linalg.inv(scaled), dtype=np.float64)
        information = 1.0 / np.diag(inverse)
        inverse /= scale
        inverse /= scale[:, None]
        return inverse, information

    @property
    def tiny(self) -> FloatArray:
        """The ridge for a Hessian that may be nearly singular."""
        return TINY * np.maximum(np.diag(self.sums.hessian) / self.support.scale(self.support.units) ** 2, TINY)

    def step(self, inverse: FloatArray) -> tuple[Iterate, bool]:
        """Return where a Newton step without penalty leads, and whether it was whole.

        It is halved until the loss does not rise; if it always does, this is where it began.
        """
        step = inverse @ self.sums.gradient
        for k in range(_HALVINGS):
            ahead = replace(self, values=self.values - step)
            if ahead.sums.loss <= self.sums.loss + 1e-12 * abs(self.sums.loss):
                return ahead, k == 0
            step /= 2.0
        return self, False

    def find_known(self) -> tuple[Iterate, FloatArray, Mask]:
        """Return parameters, the inverse of their Hessian, and which parameters have a finite estimate.

        These parameters are nearly free. Those with some information have a finite estimate. If there are others,
        Newton steps without penalty tell.
        """
        inverse, information = self.invert(RIDGE)
        is_known = information >= LEAST_INFORMATION
        if is_known.all():
            return self, inverse, is_known
        judged, inverse, is_finite = self.find_finite()
        return judged, inverse, is_known | is_finite

    def find_finite(self) -> tuple[Iterate, FloatArray, Mask]:
        """Return parameters a few Newton steps after nearly free ones, their inverse, and which of them are finite.

        Where columns separate the table, every step adds the same to a coupling and leaves e⁻¹ of the information on
        it. A finite coupling, however large, is nearly at its optimum after the first step: the second leaves all
        information. A shortened step says nothing, so the last one must be whole.
        """
        here = self
        for k in range(_STEPS_TO_JUDGE):
            inverse, before = here.invert(here.tiny)
            here, is_whole = here.step(inverse)
            if k > 0 and is_whole:
                break
        inverse, after = here.invert(here.tiny)
        stays = (after >= LEAST_LEFT * before) & (before >= LEAST_LEFT * after)
        return here, inverse, stays & (after > 100.0 * here.tiny) & is_whole  # more is left than the ridge


def sandwich_errors(support: Support, network: Network, table: AnyTable, *, nearly_free: bool = False) -> Errors:
    """Return the errors H⁻¹ K H⁻¹ of a network with the edges of the support.

    ``nearly_free``: it is penalized by a fraction of a row, and its couplings may be infinite without. If there is
    little information on some, they are estimated again without penalty, and those that are infinite have NaN.
    """
    found = start = Iterate(support, table, support.read(network))
    if nearly_free:
        found, inverse, is_known = start.find_known()
    else:
        inverse, is_known = start.invert(0.0)[0], np.ones(support.n_parameters, dtype=bool)
    half, values = inverse @ found.sums.outer, found.values
    variances = np.einsum("ij,ij->i", half, inverse)
    variances = np.where(is_known & (variances > 0.0), variances, np.nan)  # below: rounding of a singular matrix
    edges, theta = np.sqrt(variances[support.first[:-1]]), values[support.first[:-1]]
    chi2 = (theta / edges) ** 2
    for edge in support.wide_edges:
        places = slice(*support.first[edge : edge + 2].tolist())
        theta, own = values[places], half[places] @ inverse[:, places]
        norm = float(np.linalg.norm(theta))
        edges[edge] = chi2[edge] = np.nan
        if is_known[places].all() and norm > 0.0:
            edges[edge] = np.sqrt(max(float(theta @ own @ theta), 0.0)) / norm
            chi2[edge] = float(theta @ np.linalg.lstsq(own, theta, rcond=None)[0])
    fields = np.where(support.place >= 0, np.sqrt(np.append(variances, np.nan))[support.place], np.nan)
    own_network = network if found is start else support.build(values)
    return Errors(own_network, edges, fields[support.network.variables.is_later], chi2, np.diff(support.first))


def newton(support: Support, start: Network, table: AnyTable, tol: float) -> Solution:
    """Return the optimum without penalty on a support, by Newton's method from a nearly free estimate.

    Its KKT residual is that of the fields and entries of the support, with scores of range 1; it has no duality gap.
    """
    here = Iterate(support, table, support.read(start))
    n_rows, variables = table.total_weight, support.network.variables
    infinite = support.first[0] + np.flatnonzero(~here.find_known()[2][support.first[0] :])
    if len(infinite):
        edge = int(np.searchsorted(support.first, infinite[0], side="right")) - 1
        raise SeparationError.of_pair(*map(variables.called, support.network.pairs[edge].tolist()))
    ranges = support.scale(variables.ranges)
    for _ in range(_STEPS):
        residual = float(np.abs(here.sums.gradient / ranges).max(initial=0.0)) / n_rows
        if residual <= tol:
            break
        ahead, _ = here.step(here.invert(0.0)[0])
        if ahead is here:  # no step lowers the loss: what is left is rounding
            break
        here = ahead
    free, loss = support.build(here.values, start), here.sums.loss / n_rows
    return Solution(free, 1.0, objective=loss, kkt_residual=residual, converged=residual <= tol)
