"""The default estimate: a lasso to see which pairs matter, a reweighted one to estimate them, a check by prediction.

Why it is built this way, and what it was measured against, is in docs/selection.md; the protocol of the measurements is
docs/choosing-protocol.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import check_count
from isinglass.arrays import read_only
from isinglass.categories import CategoryNetwork
from isinglass.data import (
    CategoryTable,
    PartedTable,
    check_scale,
    count_categories,
    count_columns,
    over_rows,
    to_weighted,
    units_of,
)
from isinglass.data.parts import Fold
from isinglass.errors import ArgumentError, ConstantColumnWarning, DataError, suppress_warnings
from isinglass.network import Network
from isinglass.objective import smoothed_field
from isinglass.randomness import RandomSource, as_generator
from isinglass.results import Path, Solution
from isinglass.select.contract import PathFunction, with_threads
from isinglass.select.pricing import EdgePrice, edge_price
from isinglass.select.refit import standard_errors
from isinglass.select.scoring import row_scores
from isinglass.select.stages import Case, Stage
from isinglass.select.tasks import kernel_threads, run_tasks
from isinglass.solve.path import ising_path

__all__ = ["TwoStage", "describe_stages", "network_ebic", "two_stage"]

Table = NDArray[np.uint8]
FloatArray = NDArray[np.float64]

EXPONENTS = (1.0, 0.5)
"""Of the weights in stage 2: full reweighting, and a gentle one if that predicts too badly."""
KEEP, KEEP_IF_FEW_ROWS = 0.95, 0.85
"""Share of the best cross-validated gain that the network must keep; the second with no more rows than columns."""
DOUBT = 2.0
"""Standard errors by which another network must predict better before the choice of the EBIC is given up."""
WIDEST = 30.0
"""Networks of stage 1 are judged by prediction from this multiple of its alpha down."""
SMALL = 20_000
"""Cells of a table whose folds are fitted before others could have been asked to help."""
THIN = 3
"""One in so many networks of stage 2 is judged by prediction, and the choice of the EBIC."""


@dataclass(frozen=True, eq=False, repr=False)
class TwoStage:
    """The network that the two-stage estimate chose, and how."""

    #: Stage 1, then stage 2 with full and, if that was needed, with gentle weights. Only stage 1 if that is empty.
    stages: tuple[Stage, ...]
    stage: int  #: where the network is: the number of the stage (from 0), and of the solution on its path
    index: int
    #: the network with the smallest EBIC of stage 2; the sparsest that keeps the share ``keep`` of the cross-validated
    #: gain, because that one does not; or none, because nothing predicts held-out rows better than no edges
    reason: str
    gamma: float  #: the settings that were used
    keep: float
    n_folds: int  #: of the cross-validation; 0 if there was none
    #: cross-validated log pseudo-likelihood per row of independent columns, which gains are gains over; NaN without
    #: cross-validation
    independent: float
    #: standard errors of the couplings; NaN where the unpenalized estimate is infinite, or if not asked for
    edge_errors: FloatArray = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        read_only(self.edge_errors)

    @property
    def path(self) -> Path:
        """The path that the network belongs to."""
        return self.stages[self.stage].path

    @property
    def solution(self) -> Solution:
        """The network, with its certificate."""
        return self.path.solutions[self.index]

    @property
    def held_out(self) -> float:
        """Its cross-validated log pseudo-likelihood per row; NaN if there was no cross-validation."""
        return self.independent + float(self.stages[self.stage].held_out[self.index])

    @property
    def alpha(self) -> float:
        """Its penalty, in the units of its stage."""
        return self.solution.alpha

    def __repr__(self) -> str:
        head = f"TwoStage({self.solution.n_edges} edges among {self.solution.n_features} nodes, by {self.reason})"
        return "\n".join([head, *(f"  {stage!r}" for stage in self.stages)])


def two_stage(
    X: ArrayLike,
    *,
    alphas: int | float | ArrayLike = 30,
    gamma: float = 0.25,
    keep: float | None = None,
    n_folds: int = 5,
    path_function: PathFunction = ising_path,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    errors: bool = True,
    random_state: RandomSource = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> TwoStage:
    """Choose and estimate a network: the default of this package.

    Stage 1 follows the lasso path to the alpha with the smallest AIC, dense enough to miss little. Stage 2 penalizes
    the pairs it found in proportion to 1 / abs(coupling), forbids all others, and takes the smallest extended BIC: few
    false edges, and strong couplings that are hardly shrunken. Then cross-validation asks whether that network keeps
    most of what can be predicted. If it clearly does not, because many weak dependencies are spread over the table, the
    sparsest network that does is taken instead: from stage 2, from stage 2 with weights 1 / sqrt(abs(coupling)), or
    from stage 1. The norm of its block takes the place of abs(coupling) where a pair has more than one parameter.

    Every network is the optimum of a convex problem and has its certificate. The number and the ends of the alphas
    hardly matter: the paths go as far as they need, and are filled in around the choice.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Table of 0 and 1, or a CategoryTable; a table that has weights brings them along.
    alphas : int, float or array-like, default 30
        How close the alphas of stage 1 are in a first pass: as this many from the smallest alpha without edges to its
        hundredth. Or these alphas themselves.
    gamma : float, default 0.25
        Weight of the number of candidate networks in the EBIC of stage 2; larger values choose fewer edges.
    keep : float, optional
        Share of the best cross-validated gain that the network must keep; 0 leaves the choice to the EBIC alone.
        Default 0.95, or 0.85 with no more rows than columns.
    n_folds : int, default 5
        Parts into which the rows are split; fewer if there are fewer rows.
    path_function : callable, default ising_path
        With the parameters ``penalty_weights`` and ``sample_weight``; use `functools.partial` to set others.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights; an integer weight equals repeated rows. The EBIC takes their sum for the number of rows.
    groups : array-like of shape (n_samples,), optional
        Rows with equal entries stay in one fold; by default the copies of a row in a completed table.
    errors : bool, default True
        Whether to compute standard errors.
    random_state : int, Generator, RandomState, SeedSequence or None, default 0
        Seed of the folds.
    n_jobs : int, optional
        Folds at the same time, as in joblib; -1 is all cores. The result does not depend on it.
    progress : bool, optional
        Whether to show a bar on stderr; default only if that is a terminal.

    Returns
    -------
    TwoStage

    Examples
    --------
    >>> from isinglass import simulate
    >>> X = simulate.exact_sample(simulate.chain_network(6, strength=1.5, fields="balanced"), 1000, random_state=0)
    >>> found = two_stage(X)
    >>> found.solution.edge_index.tolist(), found.reason
    ([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]], 'ebic')
    """
    table, weight = to_weighted(X, sample_weight)
    if keep is not None and not 0 <= keep <= 1:
        raise ArgumentError("keep", "must be from 0 to 1", keep)
    case = Case(table, weight, path_function)
    share = (KEEP if case.n_rows > table.shape[1] else KEEP_IF_FEW_ROWS) if keep is None else float(keep)
    price = edge_price(table, weight, gamma)
    units = units_of(X)
    if units is None:
        check_scale(table, weight)
    labels = units if groups is None else groups
    folds = _split(table, weight, labels, check_count("n_folds", n_folds, least=2), random_state)
    first = case.search_first(alphas)
    jobs = 1 if math.prod(table.shape) < SMALL else n_jobs
    judge = _Judge(case, first.solution, folds if share > 0 else [], jobs, progress)
    with suppress_warnings(ConstantColumnWarning):  # stage 1 has given it
        stages, number, index, reason = _decide(judge, first, price, share)
        found = TwoStage(tuple(stages), number, index, reason, float(gamma), share, len(judge.known), judge.independent)
        spread = standard_errors(found.solution, table, weight) if errors else np.full(found.solution.n_edges, np.nan)
    return replace(found, edge_errors=spread)


def _decide(judge: _Judge, first: Stage, price: EdgePrice, keep: float) -> tuple[list[Stage], int, int, str]:
    """Return the stages with their held-out gains, the place of the choice among them, and the reason for it."""
    if first.solution.n_edges == 0:
        return [first], 0, first.index, "empty"
    second = judge.case.search_second(first.solution, EXPONENTS[0], price)
    if not judge.folds:
        return [first, second], 1, second.index, "ebic"
    judge.reference = second.solution.alpha
    stages = judge.judge([first, second])
    gain = stages[1].held_out[second.index]
    best, error = judge.best(stages)
    if best - gain <= max((1.0 - keep) * best, DOUBT * error):
        return stages, 1, second.index, "ebic"
    if best == 0.0:
        return stages, 1, 0, "empty"
    gentle = judge.case.search_second(judge.first, EXPONENTS[1], price)
    stages += judge.judge([gentle])
    best, _ = judge.best(stages)
    good = [
        (stage.path[k].n_edges, -stage.held_out[k], number, k)
        for number, stage in enumerate(stages)
        for k in np.flatnonzero(stage.held_out >= keep * best).tolist()
    ]
    _, _, number, index = min(good)
    return stages, number, index, "prediction"


@dataclass
class _Judge:
    """Scores networks by rows that were left out: each fold repeats both stages on the other rows."""

    case: Case
    first: Solution
    folds: Sequence[NDArray[np.intp] | Fold]
    n_jobs: int | None
    progress: bool | None
    reference: float = 0.0
    """The alpha of the network that the EBIC chose in stage 2, which others are compared with row by row."""

    def __post_init__(self) -> None:
        self.known: list[dict[str, Any]] = []  # stage 1 and the reference in every fold, once they were fitted
        self.errors: list[FloatArray] = []  # standard errors of the differences from the reference, per stage

    @property
    def independent(self) -> float:
        """Held-out score per row of independent columns, NaN before anything was judged."""
        return self._mean("independent") if self.known else float("nan")

    def judge(self, stages: Sequence[Stage]) -> list[Stage]:
        """Return the stages with their held-out gains."""
        asked = [_judged(stage, self.first.alpha) for stage in stages]
        wanted = [(stage.exponent, stage.path.alphas[k]) for stage, k in zip(stages, asked, strict=True)]
        path_function = with_threads(self.case.path_function, kernel_threads(self.n_jobs))
        case = replace(self.case, path_function=path_function)
        known = self.known or [{} for _ in self.folds]
        alphas = (self.first.alpha, self.reference)
        tasks = [(case, held, alphas, wanted, before) for held, before in zip(self.folds, known, strict=True)]
        if isinstance(case.table, PartedTable):  # one after the other: the parts are what is worked on side by side
            self.known = [_score_fold(*task) for task in tasks]
        else:
            self.known = run_tasks(
                _score_fold, tasks, n_jobs=self.n_jobs, progress=self.progress, description="Cross-validation"
            )
        judged = []
        for number, (stage, k) in enumerate(zip(stages, asked, strict=True)):
            gains, errors = np.full((2, len(stage.path)), np.nan)
            gains[k] = self._mean(f"gain{number}")
            errors[k] = self._error(gains[k] - self._mean("reference"), f"square{number}")
            judged.append(replace(stage, held_out=gains))
            self.errors.append(errors)
        return judged

    def best(self, stages: Sequence[Stage]) -> tuple[float, float]:
        """Return the best gain, at least that of no edges, and the standard error of its lead over the reference."""
        gains = np.concatenate([stage.held_out for stage in stages])
        errors = np.concatenate(self.errors)
        place = int(np.nanargmax(gains))
        if gains[place] > 0.0:
            return float(gains[place]), float(errors[place])
        return 0.0, float(self._error(-self._mean("reference"), "square"))

    def _mean(self, name: str) -> Any:
        return sum(result[name] for result in self.known) / self.case.n_rows

    def _error(self, difference: Any, squares: str) -> Any:
        """Return the standard error of a mean difference, given the name of the sums of squares."""
        return np.sqrt(np.maximum(self._mean(squares) - difference**2, 0.0) / self.case.n_rows)


def _judged(stage: Stage, alpha: float) -> NDArray[np.intp]:
    """Return which solutions of a stage are worth judging: the choice, and enough others."""
    alphas = stage.path.alphas
    if stage.exponent == 0.0:
        wanted = stage.coarse & (alphas >= alpha) & (alphas <= WIDEST * alpha)
    else:
        wanted = np.arange(len(alphas)) % THIN == 0
    wanted[stage.index] = True
    return np.flatnonzero(wanted)


def _score_fold(
    case: Case,
    held_out: NDArray[np.intp] | Fold,
    alphas: tuple[float, float],
    wanted: Sequence[tuple[float, FloatArray]],
    known: dict[str, Any],
) -> dict[str, Any]:
    """Return gains over independent columns, summed over the rows held out, and squares of leads over the reference.

    The first time, stage 1 is fitted at its alpha, and the reference at that of stage 2; both are handed on.
    """
    training, held = case.split(held_out)
    results = dict(known)
    paths: list[Sequence[Solution]] = []
    with suppress_warnings(ConstantColumnWarning):
        for exponent, some in wanted:
            if exponent == 0.0:
                path = training.follow(np.union1d(some, alphas[:1]))
                results |= _as_arrays("first", path[-1])
                path = path[-len(some) :]
            else:
                path = training.follow(some, exponent, _as_solution("first", results, alphas[0], training.table))
            paths.append(path.solutions)
            if exponent == EXPONENTS[0]:
                chosen = [solution.alpha for solution in path].index(alphas[1])
                results |= _as_arrays("reference", path[chosen])
    independent = _without_edges(training)
    judged = independent, _as_solution("reference", results, alphas[1], training.table), paths
    results |= over_rows(_score_rows, held.table, held.weight, *judged)
    return results


def _score_rows(
    table: Any,
    weight: FloatArray | None,
    independent: Solution,
    reference: Solution,
    paths: Sequence[Sequence[Solution]],
) -> dict[str, Any]:
    """Return the sums over rows that a fold is judged by."""
    unit = np.ones(len(table)) if weight is None else weight
    alone = row_scores(independent, table)
    lead = row_scores(reference, table) - alone
    sums: dict[str, Any] = {"independent": unit @ alone, "reference": unit @ lead, "square": unit @ lead**2}
    for number, path in enumerate(paths):
        gains = [row_scores(solution, table) - alone for solution in path]
        sums[f"gain{number}"] = np.array([unit @ gain for gain in gains])
        sums[f"square{number}"] = np.array([unit @ (gain - lead) ** 2 for gain in gains])
    return sums


def _as_arrays(name: str, solution: Solution) -> dict[str, NDArray[Any]]:
    """Return a network as the arrays that tasks hand on."""
    network = solution.network
    if isinstance(network, CategoryNetwork):
        values, fields = [block.ravel() for block in network.blocks], np.concatenate(network.category_fields)
        edge_values = np.concatenate(values) if values else np.empty(0)
    else:
        edge_values, fields = network.edge_values, network.fields
    return {f"{name} edges": network.edge_index, f"{name} values": edge_values, f"{name} fields": fields}


def _as_solution(name: str, arrays: dict[str, NDArray[Any]], alpha: float, table: Any) -> Solution:
    edges, values, fields = (arrays[f"{name} {part}"] for part in ("edges", "values", "fields"))
    if not isinstance(table, CategoryTable):
        return Solution(Network(fields, edges, values), alpha)
    sizes = table.n_categories
    sides = np.where([score is None for score in table.scores], sizes, 1)[edges]
    blocks = [block.reshape(side) for block, side in zip(_cut(values, sides.prod(axis=1)), sides, strict=True)]
    return Solution(CategoryNetwork(_cut(fields, sizes), table.scores, edges, blocks=blocks), alpha)


def _cut(values: FloatArray, lengths: NDArray[Any]) -> list[FloatArray]:
    """Return consecutive parts of these lengths."""
    ends = np.cumsum(lengths)
    return [values[end - length : end] for end, length in zip(ends.tolist(), lengths.tolist(), strict=True)]


def _without_edges(case: Case) -> Solution:
    """Return the network of independent columns, with smoothed fields."""
    if isinstance(case.table, CategoryTable):
        logs = [np.log(counts + 0.5) for counts in count_categories(case.table, case.weight)]
        fields = [log - log[0] for log in logs]
        return Solution(CategoryNetwork(fields, case.table.scores, np.empty((0, 2), int), blocks=()), np.inf)
    ones = count_columns(case.table, case.weight)[0]
    return Solution(Network(smoothed_field(ones, case.n_rows), [], []), np.inf)


def _split(
    table: Any, weight: FloatArray | None, groups: ArrayLike | None, n_folds: int, random_state: RandomSource
) -> Sequence[NDArray[np.intp] | Fold]:
    """Return the rows that each fold holds out; rows of one group together, rows of weight zero nowhere."""
    if isinstance(table, PartedTable):
        if groups is not None:
            raise DataError("groups must be None for a table in parts; got groups. Keep a group within one row.")
        seed = int(as_generator(random_state).integers(2**32))
        return [Fold(seed, n_folds, k, held=True) for k in range(n_folds)]
    rows = np.arange(len(table)) if weight is None else np.flatnonzero(weight)
    labels = np.arange(len(table)) if groups is None else np.asarray(groups)
    if labels.shape != (len(table),):
        raise DataError(f"groups must have one entry per row ({len(table)},); got shape {labels.shape}.")
    known, group = np.unique(labels[rows], return_inverse=True)
    if len(known) < 2:
        return []
    parts = np.array_split(as_generator(random_state).permutation(len(known)), min(n_folds, len(known)))
    return [rows[np.isin(group, part)] for part in parts]


def network_ebic(found: TwoStage, table: Any, weight: FloatArray | None) -> FloatArray:
    """Return the extended BIC of the networks on the path that the network belongs to."""
    stage = found.stages[found.stage]
    price = edge_price(table, weight, found.gamma)
    return np.asarray(stage.deviances + [price.of(solution) for solution in stage.path])


def describe_stages(found: TwoStage) -> list[dict[str, Any]]:
    """Return what each stage tried, chose and proves, as plain values."""
    return [
        {
            "criterion": stage.criterion,
            "exponent": stage.exponent,
            "n_alphas": len(stage.path),
            "alpha": stage.solution.alpha,
            "n_edges": stage.solution.n_edges,
            "score": float(stage.scores[stage.index]),
            "held_out": float(stage.held_out[stage.index]),
            "extended": stage.extended,
            "kkt_residual": stage.solution.kkt_residual,
            "duality_gap": stage.solution.duality_gap,
            "converged": bool(stage.solution.converged),
            "network": number == found.stage,
            "reason": found.reason if number == found.stage else "",
        }
        for number, stage in enumerate(found.stages)
    ]
