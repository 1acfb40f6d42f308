"""The objective of docs/math.md in plain NumPy: value, gradient, KKT residual, duality gap and proofs.

This is the yardstick, not the solver: the tests recompute here what the solver certifies. With row weights w normalized
to sum to one and penalty weights ω,

    F = Σ_n w_n Σ_s −log P(x_ns | the rest of the row)  +  α Σ_{s<t} ω_st ‖Θ_st‖        (docs/math.md)

A pair is *free* if ω = 0, *penalized* if 0 < ω < inf, *forbidden* if ω = inf or one of its columns is constant over the
rows with positive weight. F is extended-valued: a non-zero forbidden coupling makes the value, the KKT residual and the
gap infinite, a zero one is skipped in every sum. Categories that do not occur and constant columns are left out.

Legend: ``theta``, ``field``: Θ on the varying columns. ``edge``, ``node``: derivatives by couplings and by fields.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import scipy  # its parts are loaded when they are needed
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import FloatArray, Mask
from isinglass.data import Table, as_table
from isinglass.errors import SeparationError
from isinglass.matching import require_same
from isinglass.network import Network
from isinglass.penalties import EPSILON, Penalty, violations
from slow_objective.categories import Objective
from slow_objective.certificate import certify, null_point, profiled
from slow_objective.reduced import Reduced

Number = TypeVar("Number", bound=np.generic)

__all__ = ["Objective", "of"]


def of(X: ArrayLike, sample_weight: ArrayLike | None = None, *, penalty_weights: Penalty = None) -> Objective:
    """Return the objective of a table, which judges any network of its columns.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        A 0/1 or categorical table, or anything `as_table` accepts.
    sample_weight : array-like of shape (n_samples,), optional
        One weight per row.
    penalty_weights : None, "standardized" or symmetric matrix, default None
        ω in [0, inf], as for `isinglass.ising_path`.

    Examples
    --------
    >>> problem = of([[0, 0], [1, 1]])
    >>> round(problem.alpha_max(), 12)  # 2 |cov| = 2 · 1/4
    0.5
    >>> empty = Network([0.0, 0.0], [], [])
    >>> round(problem.value(empty), 6)  # 2 log 2
    1.386294
    >>> problem.kkt_residual(empty, 0.4)  # |g| = 0.5 at zero
    0.09999999999999998
    >>> problem.certified_zeros(empty, 0.6).tolist()
    [[False, True], [True, False]]
    """
    table = as_table(X, sample_weight).whole().without_holes()
    return (TwoValues if table.variables.is_binary else Objective)(table, penalty_weights)


class TwoValues(Objective):
    """F of a table of two-valued columns, with free edges and with a gap that holds in floating point.

    Rounding is part of the bound: it holds for the Θ, the weights and the penalties as given, of any size. At
    ``alpha=0`` every pair is free, as with ω = 0. Where the unpenalized optimum lies at infinity, the gap is then F(Θ):
    a valid but vacuous bound. Where free edges have no finite optimum otherwise, a SeparationError is raised.
    """

    def __init__(self, table: Table, penalty_weights: Penalty) -> None:
        self.variables = table.variables
        self.problem = Reduced.of(table, penalty_weights)

    def _restrict(self, network: Network) -> tuple[FloatArray, FloatArray, bool]:
        require_same(self.variables, network.variables)
        return self.problem.restrict(network)

    def _network(self, theta: FloatArray, field: FloatArray) -> Network:
        couplings, fields = self.problem.expand(theta, field)
        found = Network.from_couplings(couplings, fields)
        return Network.trusted(self.variables, found.fields, found.pairs, found.pair_parameters)

    def _widen(self, matrix: NDArray[Number]) -> NDArray[Number]:
        """Return a matrix over all columns, zero for those that are constant."""
        full: NDArray[Number] = np.zeros((self.problem.n_features,) * 2, dtype=matrix.dtype)
        full[np.ix_(self.problem.columns, self.problem.columns)] = matrix
        return full

    def value(self, network: Network, alpha: float = 0.0) -> float:
        """Return F(Θ); with ``alpha=0`` the mean negative log pseudo-likelihood per row."""
        theta, field, allowed = self._restrict(network)
        value = self.problem.value(theta, field, alpha)
        return value if allowed else float("inf")

    def gradient(self, network: Network) -> tuple[FloatArray, FloatArray]:
        """Return the derivatives of F without its penalty: g_st as a symmetric matrix and g_ss as a vector.

        Those of constant columns, which F does not contain, are zero.
        """
        theta, field, _ = self._restrict(network)
        edge, node = self.problem.gradient(self.problem.margin(theta, field))
        full = np.zeros(self.problem.n_features)
        full[self.problem.columns] = node
        return self._widen(edge), full

    def kkt_residual(self, network: Network, alpha: float) -> float:
        """Return the largest violation of the optimality conditions over all fields and pairs (docs/math.md)."""
        problem, (theta, field, allowed) = self.problem, self._restrict(network)
        limits, (edge, node) = problem.limits(alpha), problem.gradient(problem.margin(theta, field))
        violation = violations(theta, edge, limits)[problem.penalized | problem.free]
        return float(np.r_[np.abs(node), violation].max(initial=0.0)) if allowed else float("inf")

    def duality_gap(self, network: Network, alpha: float) -> float:
        """Return an upper bound of F(Θ) − min F from a feasible point of the dual (docs/math.md)."""
        theta, field, allowed = self._restrict(network)
        return _gap(self.problem.at(alpha), theta, field, alpha) if allowed else float("inf")

    def certified_zeros(self, network: Network, alpha: float) -> Mask:
        """Return the symmetric matrix of penalized pairs proved to be zero in *every* optimum."""
        problem, (theta, field, _) = self.problem, self._restrict(network)
        certificate = certify(problem, *profiled(problem, theta, field), alpha)
        # The dual is strongly concave: |a's moment| + sqrt(gap · (sd_s² + sd_t²)/2) < α ω_st (docs/math.md).
        variance = np.add.outer(problem.sd**2, problem.sd**2) * (1.0 + problem.rounding)
        reach = certificate.moments + np.sqrt(certificate.gap * variance / 2.0) * (1.0 + 4.0 * EPSILON)
        return self._widen(np.asarray(problem.penalized & (reach < problem.limits(alpha))))

    def alpha_max(self) -> float:
        """Return the smallest alpha at which every penalized coupling is zero; 0 if nothing is penalized.

        Also 0 if no pair depends on each other, up to rounding: if changing the weights in their last digits could make
        all columns independent.
        """
        problem = self.problem
        edge = _null_gradient(problem) if problem.free.any() else 2.0 * problem.covariance()
        return problem.largest_ratio(edge)

    def null_model(self) -> Network:
        """Return the optimum without penalized edges: logit means, or the fit of the free edges too."""
        return self._network(*null_point(self.problem))

    def profile(self, network: Network) -> Network:
        """Return Θ′: fields and free edges at their optimum given the penalized couplings, which stay (docs/math.md).

        Forbidden couplings are set to zero and constant columns get their smoothed field: Θ′ is always admissible.
        """
        theta, field, _ = self._restrict(network)
        return self._network(*profiled(self.problem, theta, field))


def _null_gradient(problem: Reduced) -> FloatArray:
    """Return g_st without penalized edges, exactly zero where it cannot be told from rounding."""
    margin = problem.margin(*null_point(problem))
    edge, node = problem.gradient(margin)
    noise = 4.0 * problem.rounding * problem.pair_sums(np.abs(problem.signed(margin)))
    return np.where(np.abs(edge) <= noise + np.add.outer(np.abs(node), np.abs(node)), 0.0, edge)


def _gap(problem: Reduced, theta: FloatArray, field: FloatArray, alpha: float) -> float:
    """Return F(Θ) − F(Θ′) + the gap of Θ′; the penalties of Θ and Θ′ are equal, so only margins differ."""
    try:
        best_theta, best_field = profiled(problem, theta, field)
    except SeparationError:
        if alpha > 0.0:  # then it is ω = 0 that asks for what does not exist
            raise
        return problem.value(theta, field, 0.0) * (1.0 + problem.rounding)
    best = problem.margin(best_theta, best_field)
    step = problem.margin(theta - best_theta, field - best_field)
    # log(1+exp(−m)) − log(1+exp(−m′)) = log1p(e′ expm1(m′−m)): exact for small steps, where the difference cancels.
    small = np.log1p(scipy.special.expit(-best) * np.expm1(-np.clip(step, -1.0, 1.0)))
    descent = np.where(np.abs(step) < 1.0, small, np.logaddexp(0.0, -best - step) - np.logaddexp(0.0, -best))
    drift = (len(field) + 2) * EPSILON * (problem.table @ np.abs(best_theta) + np.abs(best_field))
    descent += (problem.rounding + drift) * np.abs(descent)
    excess = max(float(problem.weight @ descent.sum(axis=1)), 0.0)
    # Far from the optimum the residuals of Θ itself may prove more than those of Θ′.
    direct = certify(problem, theta, field, alpha).gap
    return min(excess + certify(problem, best_theta, best_field, alpha).gap, direct)
