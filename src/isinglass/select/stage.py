"""One stage of the default estimate: the networks of its path, what they were scored by, and the choice."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from isinglass.arrays import FloatArray, read_only
from isinglass.errors import plural
from isinglass.results import Path, Solution
from isinglass.selection_records import StageRecord


class Scored(NamedTuple):
    """A network and what it was scored by."""

    solution: Solution
    deviance: float  # −2·logPL
    price: float  # of its edges
    #: cross-validated gain in log pseudo-likelihood per row over independent columns; NaN where it was not needed
    held_out: float = math.nan

    @property
    def score(self) -> float:
        """The criterion."""
        return self.deviance + self.price


def best_of(scored: Sequence[Scored]) -> int:
    """Return the number of the first network with the smallest score; 0 if there is none."""
    return min(range(len(scored)), key=lambda k: scored[k].score, default=0)


@dataclass(frozen=True, eq=False, repr=False)
class Stage:
    """One stage: a path of convex problems, what it was scored by, and the choice."""

    networks: tuple[Scored, ...]  #: in order of decreasing alpha
    #: pairs are penalized in proportion to ``1 / abs(coupling of stage 1) ** exponent``; 0 is stage 1 itself
    exponent: float
    tol: float  #: of the solutions that were only compared

    @property
    def criterion(self) -> str:
        """What the scores are."""
        return "ebic" if self.exponent else "aic"

    @cached_property
    def index(self) -> int:
        """The number of the first network with the smallest score."""
        return best_of(self.networks)

    @cached_property
    def path(self) -> Path:
        """The solutions, each with its certificate."""
        return Path(tuple(network.solution for network in self.networks), tol=self.tol)

    @cached_property
    def scores(self) -> FloatArray:
        """The criterion; smaller is better."""
        return read_only(np.array([network.score for network in self.networks], dtype=np.float64))

    @cached_property
    def held_out(self) -> FloatArray:
        """Cross-validated gain in log pseudo-likelihood per row over independent columns; NaN where not needed."""
        return read_only(np.array([network.held_out for network in self.networks], dtype=np.float64))

    @property
    def solution(self) -> Solution:
        """The choice of the criterion."""
        return self.networks[self.index].solution

    @property
    def record(self) -> StageRecord:
        """What it tried, chose and proves."""
        best, chosen = self.networks[self.index], self.solution
        return StageRecord(
            criterion=self.criterion,
            exponent=self.exponent,
            n_alphas=len(self.networks),
            alpha=chosen.alpha,
            n_edges=chosen.n_edges,
            score=float(best.score),
            held_out=float(best.held_out),
            kkt_residual=chosen.kkt_residual,
            duality_gap=chosen.duality_gap,
            converged=bool(chosen.converged),
        )

    def with_gains(self, gains: Mapping[int, float]) -> Stage:
        """Return the stage with the gains of some networks, by their numbers."""
        networks = enumerate(self.networks)
        return replace(self, networks=tuple(one._replace(held_out=gains.get(k, math.nan)) for k, one in networks))

    def with_network(self, scored: Scored) -> tuple[Stage, int]:
        """Return the stage with a network in its place on the path, or in that of a rough solution; and the place."""
        alphas, alpha = self.path.alphas, scored.solution.alpha
        place, after = int(np.count_nonzero(alphas > alpha)), int(np.count_nonzero(alphas >= alpha))
        for rough in self.networks[place:after]:
            scored = scored._replace(held_out=rough.held_out)
        return replace(self, networks=(*self.networks[:place], scored, *self.networks[after:])), place

    def __repr__(self) -> str:
        solution, place = self.solution, f"number {self.index + 1} of {len(self.networks)}"
        state = "converged" if solution.converged else "NOT converged"
        chosen = f"alpha={solution.alpha:.6g}, {place}, {plural(solution.n_edges, 'edge')}, {state}"
        return f"Stage({self.criterion}, exponent {self.exponent:g}: {chosen})"


def alphas_below(stage: Stage, number: int) -> str:
    """Return what a search that ended early has left out of a stage, counted from 1, in words."""
    return f"alphas of stage {number} below {stage.path[-1].alpha:.3g}"
