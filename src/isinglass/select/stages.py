"""One stage of the two-stage estimate: the networks of a path, what each was scored by, and the choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from isinglass.arrays import FloatArray, Frozen
from isinglass.results import Path, Solution
from isinglass.selection_records import StageRecord

USUAL_END = 0.01
"""Last alpha over first of a grid as other programs have it; a choice beyond it counts as an extension."""


class Scored(NamedTuple):
    """A network and what it was scored by."""

    solution: Solution
    deviance: float  # −2·logPL
    price: float  # of its edges

    @property
    def score(self) -> float:
        """The criterion."""
        return self.deviance + self.price


@dataclass(frozen=True, eq=False, repr=False)
class Stage(Frozen):
    """One stage: a path of convex problems, what it was scored by, and the choice."""

    path: Path  #: solutions in order of decreasing alpha, each with its certificate
    scores: FloatArray  #: the criterion; smaller is better
    deviances: FloatArray  #: −2·logPL of the solutions: the criterion without the price of their edges
    index: int  #: the first with the smallest score
    criterion: str  #: what the scores are
    #: pairs are penalized in proportion to ``1 / abs(coupling of stage 1) ** exponent``; 0 is stage 1 itself
    exponent: float
    #: cross-validated gain in log pseudo-likelihood per row over independent columns; NaN where it was not needed
    held_out: FloatArray
    lead_errors: FloatArray  #: standard error of what this gain is ahead of that of the choice of the EBIC

    @classmethod
    def of(cls, scored: Sequence[Scored], tol: float, criterion: str, exponent: float) -> Stage:
        """Return the stage of some networks."""
        ordered = sorted(scored, key=lambda network: -network.solution.alpha)
        scores, deviances = (
            np.array([getattr(network, name) for network in ordered]) for name in ("score", "deviance")
        )
        index = int(scores.argmin())
        path = Path(tuple(network.solution for network in ordered), tol=tol)
        unknown = np.full((2, len(path)), np.nan)
        return cls(path, scores, deviances, index, criterion, exponent, *unknown)

    @property
    def scored(self) -> list[Scored]:
        """The networks with their scores."""
        prices = self.scores - self.deviances
        return [Scored(*network) for network in zip(self.path, self.deviances, prices, strict=True)]

    @property
    def solution(self) -> Solution:
        """The choice of the criterion."""
        return self.path.solutions[self.index]

    @property
    def record(self) -> StageRecord:
        """What it tried, chose and proves."""
        chosen = self.solution
        return StageRecord(
            criterion=self.criterion,
            exponent=self.exponent,
            n_alphas=len(self.path),
            alpha=chosen.alpha,
            n_edges=chosen.n_edges,
            score=float(self.scores[self.index]),
            held_out=float(self.held_out[self.index]),
            kkt_residual=chosen.kkt_residual,
            duality_gap=chosen.duality_gap,
            converged=bool(chosen.converged),
        )

    def unjudged(self) -> Stage:
        """Return the stage without what held-out rows say."""
        held_out, lead_errors = np.full((2, len(self.path)), np.nan)
        return replace(self, held_out=held_out, lead_errors=lead_errors)

    def judged(self, index: int, gain: float, lead_error: float) -> Stage:
        """Return the stage with what held-out rows say about one network."""
        held_out, lead_errors = self.held_out.copy(), self.lead_errors.copy()
        held_out[index], lead_errors[index] = gain, lead_error
        return replace(self, held_out=held_out, lead_errors=lead_errors)

    def with_network(self, scored: Scored) -> tuple[Stage, int]:
        """Return the stage with a network in its place on the path, or in that of a rough solution; and the place."""
        alphas, alpha = self.path.alphas, scored.solution.alpha
        place, after = int(np.count_nonzero(alphas > alpha)), int(np.count_nonzero(alphas >= alpha))

        def put(known: FloatArray, value: float) -> FloatArray:
            return np.concatenate([known[:place], [value], known[after:]])

        held_out, lead_error = (
            known[place] if place < after else np.nan for known in (self.held_out, self.lead_errors)
        )
        stage = replace(
            self,
            path=Path((*self.path[:place], scored.solution, *self.path[after:]), tol=self.path.tol),
            scores=put(self.scores, scored.score),
            deviances=put(self.deviances, scored.deviance),
            index=self.index + (place == after <= self.index),
            held_out=put(self.held_out, held_out),
            lead_errors=put(self.lead_errors, lead_error),
        )
        return stage, place

    def __repr__(self) -> str:
        solution = self.solution
        return (
            f"Stage({self.criterion}, exponent {self.exponent:g}: alpha={solution.alpha:.6g}, number {self.index} of "
            f"{len(self.path)}, {solution.n_edges} edges, {'converged' if solution.converged else 'NOT converged'})"
        )


def alphas_below(stage: Stage, number: int) -> str:
    """Return what a search that ended early has left out of a stage, counted from 1, in words."""
    return f"alphas of stage {number} below {stage.path[-1].alpha:.3g}"
