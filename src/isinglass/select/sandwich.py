"""Sandwich standard errors H⁻¹ K H⁻¹ on the edges of a network, which estimates are infinite, and Newton's method.

H is the Hessian of the sum of the rows' losses under their weights, K the variance of the sum of their scores: a row
that was drawn with sampling weight w has the score w u and adds w² u uᵀ, a count of w equal rows adds w u uᵀ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

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
