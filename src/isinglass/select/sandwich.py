"""Sandwich standard errors H⁻¹ K H⁻¹ on the edges of a network, which estimates are infinite, and Newton's method.

H is the Hessian of the sum of the rows' losses under their weights, K the variance of the sum of their scores: a row
that was drawn with sampling weight w has the score w u and adds w² u uᵀ, a count of w equal rows adds w u uᵀ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import FloatArray, Mask
from isinglass.data import AnyTable
from isinglass.errors import SeparationError
from isinglass.network import Network
from isinglass.results import Solution
from isinglass.select.derivatives import LossSums, Support

LEAST_INFORMATION = 0.05
"""Information on a parameter (in `coupling_units`), in rows, from which on its estimate is taken for finite."""
LEAST_LEFT = 0.7
"""Smallest ratio of information after and before a Newton step for a finite estimate; towards infinity, it is e⁻¹."""
RIDGE = 1e-3 * LEAST_INFORMATION
"""What is added to all information, in rows: some is then left in floating point."""
TINY = 1e-10
"""The same as a share of the information given all other parameters, where there may be less than `RIDGE`."""
_STEPS, _HALVINGS, _STEPS_TO_JUDGE = 50, 30, 8  # of Newton's method, of one step, and to tell what is finite


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
    start = support.read(network)
    ridge, least = (RIDGE, LEAST_INFORMATION) if nearly_free else (0.0, 0.0)
    values, sums, inverse, is_known = _find_known(support, start, support.sums(start, table), table, ridge, least)
    if values is not start:
        network = support.build(values)
    half = inverse @ sums.outer
    variances = np.einsum("ij,ij->i", half, inverse)
    variances = np.where(is_known & (variances > 0.0), variances, np.nan)  # below: rounding of a singular matrix
    edges, theta = np.sqrt(variances[support.first[:-1]]), values[support.first[:-1]]
    chi2 = (theta / edges) ** 2
    for edge, _, _ in support.wide_pairs:
        places = support.entries(edge).ravel()
        theta, own = values[places], half[places] @ inverse[:, places]
        norm = float(np.linalg.norm(theta))
        edges[edge] = chi2[edge] = np.nan
        if is_known[places].all() and norm > 0.0:
            edges[edge] = np.sqrt(max(float(theta @ own @ theta), 0.0)) / norm
            chi2[edge] = float(theta @ np.linalg.lstsq(own, theta, rcond=None)[0])
    fields = np.where(support.place >= 0, np.sqrt(np.append(variances, np.nan))[support.place], np.nan)
    return Errors(network, edges, fields[support.network.variables.is_later], chi2, np.diff(support.first))


def _find_known(
    support: Support, values: FloatArray, sums: LossSums, table: AnyTable, ridge: float, least: float
) -> tuple[FloatArray, LossSums, FloatArray, Mask]:
    """Return parameters, their sums and the inverse of the Hessian, and which parameters have a finite estimate.

    Those with the information ``least`` have one. If there are others, Newton steps without penalty tell.
    """
    inverse, information = _invert(support, sums.hessian, ridge)
    is_known = information >= least
    if is_known.all():
        return values, sums, inverse, is_known
    values, sums, inverse, is_finite = _which_are_finite(support, values, sums, table)
    return values, sums, inverse, is_known | is_finite


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
    """Return parameters a few Newton steps after nearly free ones, their sums and inverse, and which are finite.

    Where columns separate the table, every step adds the same to a coupling and leaves e⁻¹ of the information on it. A
    finite coupling, however large, is nearly at its optimum after the first step: the second leaves all information. A
    shortened step says nothing, so the last one must be whole.
    """
    for k in range(_STEPS_TO_JUDGE):
        inverse, before = _invert(support, sums.hessian, _tiny(support, sums))
        values, sums, is_whole = _step(support, values, sums, table, inverse)
        if k > 0 and is_whole:
            break
    ridge = _tiny(support, sums)
    inverse, after = _invert(support, sums.hessian, ridge)
    stays = (after >= LEAST_LEFT * before) & (before >= LEAST_LEFT * after)
    return values, sums, inverse, stays & (after > 100.0 * ridge) & is_whole  # more is left than the ridge


def _tiny(support: Support, sums: LossSums) -> FloatArray:
    """Return the ridge for a Hessian that may be nearly singular."""
    return TINY * np.maximum(np.diag(sums.hessian) / support.scale(support.units) ** 2, TINY)


def _step(
    support: Support, values: FloatArray, sums: LossSums, table: AnyTable, inverse: FloatArray
) -> tuple[FloatArray, LossSums, bool]:
    """Return parameters and sums after a Newton step without penalty, and whether it was whole.

    It is halved until the loss does not rise; if it always does, they are those before the step.
    """
    step = inverse @ sums.gradient
    for k in range(_HALVINGS):
        ahead = support.sums(values - step, table)
        if ahead.loss <= sums.loss + 1e-12 * abs(sums.loss):
            return values - step, ahead, k == 0
        step /= 2.0
    return values, sums, False


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
        before = sums
        values, sums, _ = _step(support, values, sums, table, _invert(support, sums.hessian, 0.0)[0])
        if sums is before:  # no step lowers the loss: what is left is rounding
            break
    free, loss = support.build(values, start), sums.loss / n_rows
    return Solution(free, 1.0, objective=loss, kkt_residual=residual, converged=residual <= tol)


def _refuse_separation(support: Support, values: FloatArray, sums: LossSums, table: AnyTable) -> None:
    """Raise if the optimum without penalty is infinite, given parameters with next to none."""
    is_known = _find_known(support, values, sums, table, RIDGE, LEAST_INFORMATION)[3]
    infinite = support.first[0] + np.flatnonzero(~is_known[support.first[0] :])
    if len(infinite):
        edge = int(np.searchsorted(support.first, infinite[0], side="right")) - 1
        raise SeparationError.of_pair(*map(support.network.variables.called, support.network.pairs[edge].tolist()))
