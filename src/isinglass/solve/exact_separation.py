"""Whether the unpenalized optimum of the exact likelihood is finite, and a pair that separates the table if not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import FloatArray
from isinglass.errors import SeparationError
from isinglass.separation import solve_program
from isinglass.solve.exact_likelihood import Likelihood, log_weights

_LP_TOL = 1e-7  # of the linear programming solver


def refuse_separation(problem: Likelihood, penalty: FloatArray) -> None:
    """Raise if the optimum over fields and unpenalized pairs lies at infinity."""
    free = np.flatnonzero(penalty == 0)
    if (free < problem.n_varying).all():  # varying columns always have a finite field
        return
    worst = separating_statistic(problem, free)
    if worst is not None:
        pair = problem.reduction.columns[[nodes[worst - problem.n_varying] for nodes in problem.pairs]].tolist()
        raise SeparationError.of_pair(*map(problem.reduction.variables.called, pair))


def separating_statistic(problem: Likelihood, free: NDArray[np.intp]) -> int | None:
    """Return the statistic of a pair whose unpenalized estimate is infinite, or None."""
    observed = np.flatnonzero(problem.empirical)
    rows = (observed[:, None] >> np.arange(problem.n_varying) & 1).astype(bool)
    for k in free[free >= problem.n_varying]:  # cheap and sufficient: an empty cell of the pair's own 2×2 table
        s, t = (nodes[k - problem.n_varying] for nodes in problem.pairs)
        if len(np.unique(2 * rows[:, s] + rows[:, t])) < 4:
            return int(k)
    direction = _separating_direction(problem, free)
    if direction is None:
        return None
    return int(free[np.argmax(np.where(free < problem.n_varying, 0.0, np.abs(direction)))])


def _separating_direction(problem: Likelihood, free: NDArray[np.intp]) -> FloatArray | None:
    """Return δ ≠ 0 over the free statistics t with δ·t(x) largest at every observed row, or None.

    Such a δ exists if and only if the likelihood has no finite maximum: the observed moments lie on a face of the
    polytope of all moments. Observed rows must tie, so δ lives in the null space of their differences (usually {0}).
    Among those a linear program maximizes δ·(t(observed) − mean of t over all states), which is 0 only for δ = 0; the
    states it violates are added until there are none.
    """
    states = np.flatnonzero(problem.empirical)
    observed = _statistics_of(states, problem.masks[free])
    anchor = observed[0]
    # Through the Gram matrix of small integers: exact entries, and its size does not grow with the rows.
    values, vectors = np.linalg.eigh((observed - anchor).T @ (observed - anchor))
    basis = vectors[:, values <= 1e-9 * max(1.0, float(values[-1]))]
    if basis.shape[1] == 0:
        return None
    uniform = np.where(free < problem.n_varying, 0.5, 0.25)
    profit = (anchor - uniform) @ basis
    cut_states = np.unique(states[:, None] ^ (1 << np.arange(problem.n_varying)))  # neighbors: good first cuts
    while True:
        cuts = (_statistics_of(cut_states, problem.masks[free]) - anchor) @ basis
        direction = basis @ solve_program(profit, cuts)
        if float((anchor - uniform) @ direction) <= _LP_TOL:
            return None
        theta = np.zeros(len(problem.masks))
        theta[free] = direction
        excess = log_weights(*problem.unpack(theta)) - float(anchor @ direction)
        worst = np.argpartition(-excess, min(200, len(excess)) - 1)[:200]
        added = np.setdiff1d(worst[excess[worst] > _LP_TOL], cut_states)
        if not added.size:  # nothing violated beyond what the program itself tolerates
            return direction
        cut_states = np.concatenate([cut_states, added])


def _statistics_of(states: NDArray[np.intp], masks: NDArray[np.int64]) -> FloatArray:
    return np.asarray((states[:, None] & masks) == masks, dtype=np.float64)
