"""Score everybody's Θ with our objective: F, relative duality gap, edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from adapters import Measurement
from numpy.typing import NDArray
from problems import Problem
from scipy.sparse.linalg import norm

LARGEST = 2000  # columns beyond which p × p doubles in NumPy are no longer cheap: the solver's certificate is quoted
SCORED = 10  # alphas scored per path


@dataclass(frozen=True)
class Score:
    """F and relative gap at the scored alphas, and the edges at the last one."""

    objective: NDArray[np.float64]
    relative_gap: NDArray[np.float64]
    edges: int

    def relative_error(self, reference: Score | None) -> float:
        """Largest (F − F_ours)/F_ours over the scored alphas; NaN without a reference."""
        if reference is None:
            return float("nan")
        return float(np.max((self.objective - reference.objective) / reference.objective))


def theta_error(found: Measurement, reference: Measurement | None) -> float:
    """Largest ‖Θ − Θ_ours‖ / ‖Θ_ours‖ (Frobenius, fields on the diagonal) along the path; NaN without a reference."""
    if reference is None:
        return float("nan")
    worst = 0.0
    for k, ours in enumerate(reference.couplings):
        mean = (found.couplings[k] + found.couplings[k].T) / 2
        difference = np.hypot(norm(mean - ours), np.linalg.norm(found.fields[k] - reference.fields[k]))
        worst = max(worst, difference / np.hypot(norm(ours), np.linalg.norm(reference.fields[k])))
    return float(worst)


def scored_alphas(n_alphas: int) -> NDArray[np.intp]:
    """Return the indices of the scored alphas: evenly spread, the last included."""
    return np.unique(np.linspace(0, n_alphas - 1, min(n_alphas, SCORED)).round().astype(np.intp))


def score(problem: Problem, found: Measurement) -> Score:
    """Evaluate F and the gap; node-wise estimates are first replaced by the mean of the two directions."""
    last = found.couplings[-1]
    edges = int(((last + last.T) != 0).nnz // 2)
    chosen = scored_alphas(len(problem.alphas))
    if problem.X.shape[1] > LARGEST:
        return _quote_certificate(problem, found, chosen, edges)
    from isinglass import Network, objective

    judge, values, gaps = objective.Objective(problem.X), [], []
    for k in chosen:
        dense = found.couplings[k].toarray()
        network, alpha = Network.from_couplings((dense + dense.T) / 2, found.fields[k]), float(problem.alphas[k])
        values.append(judge.value(network, alpha))
        gaps.append(judge.relative_gap(network, alpha))
    return Score(np.array(values), np.array(gaps), edges)


def _quote_certificate(problem: Problem, found: Measurement, chosen: NDArray[np.intp], edges: int) -> Score:
    """Use what the solver itself certified; NaN for a rival that certifies nothing."""
    if found.certificate is None:
        return Score(np.full(len(chosen), np.nan), np.full(len(chosen), np.nan), edges)
    mean = problem.X.mean(axis=0)
    mean = mean[(mean > 0) & (mean < 1)]
    null_value = -float(np.sum(mean * np.log(mean) + (1 - mean) * np.log1p(-mean)))
    value, gap = found.certificate[0, chosen], found.certificate[1, chosen]
    return Score(value, gap / max(null_value, 1e-12), edges)
