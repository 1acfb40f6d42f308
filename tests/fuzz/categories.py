"""Random tables with categories, sane and extreme: every returned certificate is recomputed in extended precision.

A claim is false if a solution is called converged and the recomputed KKT residual exceeds the tolerance, if a better
point refutes its duality gap, or if value or norms are not those of the returned numbers.
"""

import math
import sys
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import isolated
import numpy as np
from isolated import BELOW

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import extended
from networks import make_table, split_fields

from isinglass import Run, Table, TwoStage, as_table, ising_path, nodewise_path
from isinglass.errors import DataError, LimitError
from isinglass.select.task import Task
from isinglass.solve.nodewise import nodewise_alpha_max
from isinglass.solve.path import alpha_max

FLOOR = 1e-12  # smallest objective without edges that relative gaps are relative to
SLACK = 1e-9  # relative, of comparisons between double and extended precision
NOISE = 1e-17  # of an objective in extended precision
# A residual is a sum over rows in double precision. Its rounding, some 1e-14 for these tables, is far below a
# thousandth of the usual tolerances; the constant is for the strictest.
KKT_FACTOR, KKT_NOISE = 1 + 1e-3, 1e-13
# Of the objective and of norms: some hundred rounding errors. Where a column is determined by others the objective is a
# millionth of that without edges; it is then known to a rounding of the latter, in units of which gaps are judged.
CLOSE, ROUNDING = 1e-11, float(np.finfo(float).eps)


@dataclass(frozen=True)
class Case:
    """One table with everything a path function is given."""

    family: str
    table: Table
    weight: np.ndarray | None = None
    omega: np.ndarray | str | None = None
    ratios: tuple[float, ...] = (0.1,)  # alpha over alpha_max
    tol: float = 1e-7
    choice: bool = False  # whether to run the default choice instead


# ------------------------------------------------------------------------------------------- tables


def draw_kinds(rng, p):
    """Kinds of columns; some tables have one kind only."""
    kinds = ("ordinal", "nominal", "binary")
    chosen = [str(rng.choice(kinds))] * p if rng.random() < 0.4 else rng.choice(kinds, p).tolist()
    chosen[int(rng.integers(p))] = str(rng.choice(kinds[:2]))
    return chosen


def draw_columns(rng, n, kinds, most=6):
    """Columns that are random, copies, near copies, functions of each other, or constant but for a row or two."""
    X = np.zeros((n, len(kinds)), dtype=np.uint8)
    for s, kind in enumerate(kinds):
        q = 2 if kind == "binary" else int(rng.integers(3, most + 1))
        how = rng.choice(["random", "copy", "near", "function", "rare", "constant"], p=[0.35, 0.1, 0.2, 0.2, 0.1, 0.05])
        source = X[:, int(rng.integers(s))] if s else rng.integers(0, q, n)
        if how == "random":
            X[:, s] = rng.choice(q, n, p=rng.dirichlet(np.full(q, rng.choice([0.3, 1.0, 10.0]))))
        elif how in ("copy", "near"):
            X[:, s] = np.minimum(source, q - 1)
            if how == "near":
                rows = rng.integers(0, n, int(rng.integers(1, 3)))
                X[rows, s] = rng.integers(0, q, len(rows))
        elif how == "function":
            X[:, s] = rng.integers(0, q, 256)[source]
        elif how == "rare":
            X[rng.integers(0, n, int(rng.integers(1, 3))), s] = rng.integers(1, q)
    return X


def declare(rng, X, kinds, *, unused=0.0, scores=None):
    """A table; with some chance a column declares categories that do not occur, at the ends or in between."""
    codes, categories = X.copy(), []
    for s, kind in enumerate(kinds):
        q = max(int(codes[:, s].max()) + 1, 2 if kind == "binary" else 3)
        if kind != "binary" and rng.random() < unused:
            for _ in range(int(rng.integers(1, 3))):
                gap = int(rng.integers(0, q + 1))
                codes[:, s] += codes[:, s] >= gap
                q += 1
        categories.append(range(q))
    if scores is not None:
        scores = [scores(len(known)) if k == "ordinal" else None for known, k in zip(categories, kinds, strict=True)]
    return make_table(codes, kinds, scores=scores, categories=categories)


def draw_ratios(rng, decades):
    """One alpha, cold, or a path of a few, as shares of the smallest alpha without edges."""
    if rng.random() < 0.5:
        return (float(10.0 ** -rng.uniform(0, decades)),)
    return (1.0, *sorted((10.0 ** -rng.uniform(0, decades, 3)).tolist(), reverse=True))


def draw_likert(rng):
    """Ordinary questionnaires, answers that were never given included; mostly ordinal."""
    n, p, q = int(rng.integers(100, 401)), int(rng.integers(3, 8)), int(rng.integers(3, 8))
    latent = rng.normal(size=(n, 1)) * rng.uniform(0.3, 1.5, p) * rng.choice([-1, 1], p) + rng.normal(size=(n, p))
    X = np.clip(np.round(latent * q / 5 + rng.uniform(0.2, 0.8, p) * (q - 1)), 0, q - 1)
    low, high = [(0, q - 1), (1, q - 1), (0, q - 2), (1, q - 1)][rng.integers(4)]
    X = np.clip(X, low, max(high, low + 1)).astype(np.uint8)
    if rng.random() < 0.2:
        X[X[:, 0] == q // 2, 0] = low
    kinds = ["ordinal"] * p if rng.random() < 0.6 else draw_kinds(rng, p)
    half = np.median(X, axis=0)
    X = np.where([kind == "binary" for kind in kinds], half < X, X).astype(np.uint8)
    sizes = [2 if kind == "binary" else max(q, 3) for kind in kinds]
    table = make_table(X, kinds, categories=[range(size) for size in sizes])
    weight = [None, rng.integers(1, 5, n).astype(float), rng.exponential(size=n) + 0.05][
        rng.choice(3, p=[0.6, 0.2, 0.2])
    ]
    omega = "standardized" if rng.random() < 0.3 else None
    ratios = (0.3,) if rng.random() < 0.2 else tuple(np.geomspace(1.0, 10.0 ** -rng.uniform(1, 2), 6).tolist())
    return Case("likert", table, weight, omega, ratios, float(rng.choice([1e-6, 1e-7, 1e-8])))


def draw_tiny(rng):
    """Few rows, copies and near copies, one cold alpha or a short path."""
    kinds = draw_kinds(rng, int(rng.integers(2, 7)))
    X = draw_columns(rng, int(rng.integers(2, 12)), kinds)
    omega = "standardized" if rng.random() < 0.2 else None
    return Case("tiny", declare(rng, X, kinds, unused=0.1), None, omega, draw_ratios(rng, 4))


def draw_mixed(rng):
    """Up to forty rows of any kind."""
    kinds = draw_kinds(rng, int(rng.integers(2, 7)))
    X = draw_columns(rng, int(rng.integers(5, 41)), kinds, most=8)
    weight = rng.integers(1, 9, len(X)).astype(float) if rng.random() < 0.3 else None
    omega = "standardized" if rng.random() < 0.3 else None
    ratios = draw_ratios(rng, 3)
    return Case(
        "mixed", declare(rng, X, kinds, unused=0.1), weight, omega, ratios, float(rng.choice([1e-5, 1e-7, 1e-9]))
    )


def draw_separable(rng):
    """Columns that determine each other, with penalties down to next to nothing."""
    n, p = int(rng.integers(2, 16)), int(rng.integers(2, 5))
    kinds = draw_kinds(rng, p)
    base = rng.permutation(n) % int(rng.integers(2, 8))
    X = np.column_stack(
        [rng.permutation(8)[base] % (2 if kind == "binary" else int(rng.integers(3, 9))) for kind in kinds]
    )
    if rng.random() < 0.5:
        X[rng.integers(n), rng.integers(p)] = 0
    return Case("separable", declare(rng, X.astype(np.uint8), kinds), None, None, draw_ratios(rng, 8))


def draw_unused(rng):
    """Categories that never occur, or once."""
    kinds = draw_kinds(rng, int(rng.integers(2, 6)))
    X = draw_columns(rng, int(rng.integers(4, 41)), kinds, most=4)
    for s, kind in enumerate(kinds):
        if kind != "binary" and rng.random() < 0.5:
            X[rng.integers(len(X)), s] = X[:, s].max() + 1
    weight = None
    if rng.random() < 0.2:  # rows without weight leave categories unused, too
        weight = (rng.random(len(X)) < 0.7).astype(float)
        weight[0] = 1.0
    return Case("unused", declare(rng, X, kinds, unused=0.8), weight, None, draw_ratios(rng, 3))


def draw_scores(rng):
    """Scores far from zero, of any unit, not evenly spaced, in any order."""
    kinds = ["ordinal", *draw_kinds(rng, int(rng.integers(1, 5)))]
    X = draw_columns(rng, int(rng.integers(5, 60)), kinds)

    def scores(q):
        steps = np.sort(rng.choice(min(40, 12 * q), q, replace=False)) if rng.random() < 0.5 else np.arange(q)
        if rng.random() < 0.2:
            steps = rng.permutation(steps)
        if rng.random() < 0.5:
            return steps * float(rng.choice([1.0, 0.1, 1000.0, 1e-3, 1e6, 2.0**-30]))
        offset = float(rng.choice([1.0, -3.0, 2000.0, 1e5, -1e7, 1e9]))  # exact with these units
        return steps * float(rng.choice([1.0, 0.5, 1000.0, 2.0**-10, 2.0**20])) + offset

    omega = "standardized" if rng.random() < 0.3 else None
    tol = float(rng.choice([1e-5, 1e-7, 1e-9, 1e-11], p=[0.2, 0.5, 0.2, 0.1]))
    family = "scores" if tol > 1e-10 else "strict"  # the bound of rounding errors is about 1e-11
    return Case(family, declare(rng, X, kinds, unused=0.1, scores=scores), None, omega, draw_ratios(rng, 3), tol)


def draw_weights(rng):
    """Row weights over up to thirteen decades, of any scale."""
    return draw_weighted_rows(rng, "weights", float(rng.choice([3, 8, 13])))


def draw_weighted_rows(rng, family, decades):
    kinds = draw_kinds(rng, int(rng.integers(2, 5)))
    X = draw_columns(rng, int(rng.integers(2, 20)), kinds)
    weight = 10.0 ** (-decades * rng.random(len(X)))
    if rng.random() < 0.3:
        weight = np.where(np.arange(len(X)) == rng.integers(len(X)), 1.0, 10.0**-decades)
    weight = weight * float(rng.choice([1e-100, 1.0, 1e250], p=[0.1, 0.8, 0.1]))
    omega = "standardized" if rng.random() < 0.4 else None
    return Case(family, declare(rng, X, kinds), weight, omega, draw_ratios(rng, 4))


def draw_penalties(rng):
    """Penalties over six decades, forbidden pairs."""
    return draw_weighted_pairs(rng, "penalties", float(rng.choice([1, 3])), 3)


def draw_vanishing(rng):
    """Weights or penalties over hundreds of decades, products that vanish: where couplings of hundreds are optimal."""
    if rng.random() < 0.5:
        return draw_weighted_rows(rng, "vanishing", float(rng.choice([40, 200])))
    return draw_weighted_pairs(rng, "vanishing", float(rng.choice([3, 30, 200])), float(rng.choice([3, 200])))


def draw_weighted_pairs(rng, family, decades, depth):
    kinds = draw_kinds(rng, int(rng.integers(2, 5)))
    X = draw_columns(rng, int(rng.integers(4, 30)), kinds)
    omega = np.triu(10.0 ** rng.uniform(-decades, decades, (len(kinds),) * 2), 1)
    if rng.random() < 0.3:
        omega = np.triu(np.where(rng.random(omega.shape) < 0.3, np.inf, omega), 1)
    omega = np.nan_to_num(omega, posinf=np.inf)
    omega = omega + omega.T + np.eye(len(omega))
    return Case(family, declare(rng, X, kinds), None, omega, draw_ratios(rng, depth))


def draw_numbers(rng, n, latent):
    """Numbers of one column: any marginal distribution of a normal variable, on the grid of a continuous column."""
    how = rng.choice(["normal", "skewed", "spike", "counts", "rounded"])
    if how == "skewed":
        return np.exp(rng.uniform(0.5, 2.5) * latent)
    if how == "spike":
        return np.where(latent < rng.uniform(-0.5, 1.0), 0.0, latent)
    if how == "counts":
        return np.floor(np.exp(latent) * rng.uniform(1, 12))
    return np.round(latent * rng.uniform(3, 20)) if how == "rounded" else latent


def draw_continuous(rng):
    """Continuous columns of many steps beside others: skewed, with spikes, nearly collinear, of few rows."""
    n, p = int(rng.integers(16, 41) if rng.random() < 0.4 else rng.integers(41, 161)), int(rng.integers(2, 6))
    kinds = ["continuous" if rng.random() < 0.6 else kind for kind in draw_kinds(rng, p)]
    kinds[int(rng.integers(p))] = "continuous"
    shared = rng.normal(size=n)
    columns = {}
    for s, kind in enumerate(kinds):
        r = float(rng.choice([0.0, 0.5, 0.9, 0.999], p=[0.3, 0.3, 0.2, 0.2])) * float(rng.choice([-1.0, 1.0]))
        latent = r * shared + math.sqrt(1 - r * r) * rng.normal(size=n)
        if kind == "continuous":
            columns[s] = draw_numbers(rng, n, latent)
        else:
            q = 2 if kind == "binary" else int(rng.integers(3, 9))
            columns[s] = np.searchsorted(np.sort(rng.normal(size=q - 1)), latent)
    scores = {s: "normal" for s, kind in enumerate(kinds) if kind == "continuous" and rng.random() < 0.2}
    table = as_table(np.column_stack(list(columns.values())), kinds=kinds, scores=scores or None)
    weight = rng.integers(1, 5, n).astype(float) if rng.random() < 0.2 else None
    omega = "standardized" if rng.random() < 0.3 else None
    return Case("continuous", table, weight, omega, draw_ratios(rng, 3), float(rng.choice([1e-5, 1e-7, 1e-8])))


def draw_free(rng):
    """Pairs without a penalty, some with penalties over decades, some forbidden."""
    kinds = draw_kinds(rng, int(rng.integers(2, 6)))
    X = draw_columns(rng, int(rng.integers(3, 60)), kinds)
    omega = np.triu(10.0 ** rng.uniform(-1, 1, (len(kinds),) * 2), 1)
    omega = np.triu(np.where(rng.random(omega.shape) < rng.choice([0.2, 0.6]), 0.0, omega), 1)
    omega = np.nan_to_num(np.triu(np.where(rng.random(omega.shape) < 0.1, np.inf, omega), 1), posinf=np.inf)
    weight = rng.exponential(size=len(X)) + 0.05 if rng.random() < 0.3 else None
    omega = omega + omega.T + np.eye(len(omega))
    return Case("free", declare(rng, X, kinds, unused=0.1), weight, omega, draw_ratios(rng, 3))


def draw_covariates(rng):
    """One to three columns that are conditioned on, of any kind, some of which determine others."""
    p = int(rng.integers(3, 7))
    kinds = draw_kinds(rng, p)
    if rng.random() < 0.2:
        kinds = ["binary"] * p
    X = draw_columns(rng, int(rng.integers(4, 60)), kinds, most=8)
    table = declare(rng, X, kinds, unused=0.1)
    given = rng.choice(p, int(rng.integers(1, min(p - 1, 3) + 1)), replace=False).tolist()
    weight = [None, rng.integers(1, 5, len(X)).astype(float), rng.exponential(size=len(X)) + 0.05][rng.integers(3)]
    omega = "standardized" if rng.random() < 0.3 else None
    return Case("covariates", table.with_covariates(given), weight, omega, draw_ratios(rng, 3))


def draw_choice(rng):
    """The default choice, on tables whose folds lose categories or whole columns."""
    kinds = draw_kinds(rng, int(rng.integers(2, 5)))
    X = draw_columns(rng, int(rng.integers(10, 60)), kinds, most=4)
    return Case("choice", declare(rng, X, kinds, unused=0.3), choice=True)


FAMILIES = {
    "likert": (draw_likert, 0.1),
    "continuous": (draw_continuous, 0.1),
    "tiny": (draw_tiny, 0.12),
    "mixed": (draw_mixed, 0.12),
    "separable": (draw_separable, 0.11),
    "free": (draw_free, 0.05),
    "covariates": (draw_covariates, 0.05),
    "unused": (draw_unused, 0.1),
    "scores": (draw_scores, 0.1),
    "weights": (draw_weights, 0.06),
    "penalties": (draw_penalties, 0.06),
    "vanishing": (draw_vanishing, 0.025),
    "choice": (draw_choice, 0.005),
}


EXTREME = {"vanishing", "strict"}  # where nothing can be proved, that must be said


def draw(seed, index):
    """Return the case with this number."""
    rng = np.random.default_rng([seed, index])
    names, pairs = list(FAMILIES), list(FAMILIES.values())
    return pairs[names.index(rng.choice(names, p=[share for _, share in pairs]))][0](rng)


# ------------------------------------------------------------------------------------------- claims


@dataclass
class Claim:
    """What was returned and said about it; arrays have one entry, or one per regression."""

    problem: extended.Categories
    point: tuple
    value: np.ndarray
    kkt: np.ndarray
    gap: np.ndarray
    converged: np.ndarray
    norms: list = field(default_factory=list)  # (said, recomputed)
    empty: bool = False  # without edges where no edge can be


def both_orders(pairs, blocks):
    """{(s, t): B} with either order of a pair, given blocks of s < t."""
    found = {}
    for (s, t), block in zip(pairs, blocks, strict=True):
        found[s, t], found[t, s] = block, block.T
    return found


def joint_claims(table, path, weight, omega, top=math.inf):
    """Yield what the solutions of a joint path claim."""
    for solution in path:
        network = solution.network
        pairs, every = (
            list(map(tuple, network.pairs.tolist())),
            network.variables.split_blocks(network.pairs, network.pair_parameters),
        )
        blocks = both_orders(pairs, every)
        problem, *point = extended.categories(
            *(table.codes, table.variables.scores, split_fields(network), blocks, solution.alpha),
            **{"joint": True, "weight": weight, "omega": omega, "covariate": table.variables.covariate},
        )
        norms = [
            (abs(float(value)), block_norm(table, pair, block))
            for pair, value, block in zip(pairs, network.pair_values, every, strict=True)
        ]
        one = (np.array([x]) for x in (solution.objective, solution.kkt_residual, solution.duality_gap))
        empty = solution.alpha >= top * (1 - 1e-12) and not pairs
        yield Claim(problem, tuple(point), *one, np.array([solution.converged]), norms, empty)


def node_claims(table, path, weight, omega, top=math.inf):
    """Yield what the regressions of a node-wise path claim, all nodes of an alpha together."""
    for k, solution in enumerate(path):
        fits = path.nodes.take(k)
        estimates, variables = fits.estimates, fits.estimates.variables
        ends = list(zip(estimates.node.tolist(), estimates.column.tolist(), strict=True))
        blocks = {(s, t): block if s < t else block.T for (s, t), block in zip(ends, estimates.blocks, strict=True)}
        flat = np.zeros(len(variables.column))
        flat[variables.is_later] = fits.fields[0]
        fields = variables.split(flat)
        problem, *point = extended.categories(
            *(table.codes, table.variables.scores, fields, blocks, solution.alpha),
            **{"joint": False, "weight": weight, "omega": omega, "covariate": table.variables.covariate},
        )
        said = np.isfinite(fits.losses[0])
        value, kkt, gap = (each[0][said] for each in (fits.objectives, fits.kkt_residuals, fits.duality_gaps))
        null = np.asarray(problem.null(), dtype=float)
        converged = solution.converged | ((kkt <= path.tol) & (gap <= path.tol * np.maximum(null, FLOOR)))
        norms = [
            (abs(float(x)), block_norm(table, (s, t), blocks[s, t]))
            for x, (s, t) in zip(estimates.values, ends, strict=True)
        ]
        empty = solution.alpha >= top * (1 - 1e-12) and not blocks
        yield Claim(problem, tuple(point), value, kkt, gap, converged, norms, empty)


def block_norm(table, pair, block):
    """‖Θ‖ of a pair, for scores as they were given."""
    nominal = sum(table.variables.scores[s] is None for s in pair)
    return math.sqrt(2.0) ** nominal * float(np.linalg.norm(block))


def judge(claim, tol):
    """Return the words that count a claim, those of all its regressions."""
    problem, point = claim.problem, claim.point
    words = ["solutions"] * len(claim.value)
    if problem.codes.shape[1] == 0:
        return words + ["not converged"] * int((~claim.converged).sum())
    missed, below = ~claim.converged, problem.below_rounding(tol)
    words += [BELOW] * int(below.sum()) + [f"{BELOW}, not converged"] * int((missed & below).sum())
    words += ["not converged"] * int((missed & ~below).sum())
    words += ["empty network not converged"] * (int((missed & ~below).sum()) if claim.empty else 0)
    if not np.isfinite(point[1]).all() or not np.isfinite(point[0]).all():
        return [*words, "FALSE: not a number"]
    value, kkt, gap, null = problem.value(*point), problem.kkt(*point), problem.gap(*point), problem.null()
    if np.isnan(value).any() or np.isnan(claim.value).any() or np.isnan(claim.gap).any() or np.isnan(claim.kkt).any():
        return [*words, "FALSE: not a number"]
    wrong = claim.converged & (kkt > tol * KKT_FACTOR + KKT_NOISE)
    words += ["FALSE: KKT residual"] * int(wrong.sum())
    allowed = np.where(claim.converged, tol * np.maximum(null, FLOOR), np.inf)
    # Rounding of a parameter moves the objective; parameters are up to 1e14 where a path did not converge.
    size = np.where(claim.converged, 0, max(float(np.abs(part).max(initial=0)) for part in point))
    allowance = CLOSE * value + ROUNDING * np.maximum(null, size) + np.minimum(SLACK * tol, 1e-3 * claim.gap)
    wrong = np.abs(claim.value - value) > allowance
    words += ["FALSE: objective"] * int(wrong.sum())
    words += ["FALSE: norm of a block"] * sum(abs(a - b) > CLOSE * b for a, b in claim.norms)
    worse = value > null + tol * np.maximum(null, FLOOR)
    words += ["worse than the empty network"] * int(worse.sum())
    claimed = np.minimum(claim.gap, allowed) * (1 + SLACK) + NOISE * value
    if (gap > claimed).any():
        better = problem.improved(*point)
        least = problem.value(*better)
        bound = np.maximum(value - gap, least - problem.gap(*better))
        refuted = value - least > claimed
        unproved = ~refuted & (value - bound > claimed)
        words += ["FALSE: gap"] * int(refuted.sum()) + ["open"] * int(unproved.sum())
    return words


def alphas_of(case, top):
    """Return the alphas of a case, decreasing and different; a count where nothing varies together."""
    return sorted({ratio * top for ratio in case.ratios}, reverse=True) if top > 0 else 3


def run_joint(case):
    options = {"sample_weight": case.weight, "penalty_weights": case.omega}
    top = alpha_max(case.table, **options)
    path = ising_path(case.table, alphas_of(case, top), **options, tol=case.tol)
    yield from ((claim, case.tol) for claim in joint_claims(case.table, path, case.weight, case.omega, top))


def run_nodewise(case):
    if isinstance(case.omega, np.ndarray):
        return
    options = {"sample_weight": case.weight, "standardize": case.omega is not None}
    top = nodewise_alpha_max(case.table, **options)
    path = nodewise_path(case.table, alphas_of(case, top), **options, tol=case.tol)
    yield from ((claim, case.tol) for claim in node_claims(case.table, path, case.weight, case.omega, top))


def run_choice(case):
    """Every path inside the default choice."""
    paths = []

    class Recorded(Task):
        def path(self, alphas, *, penalty=None, **options):
            found = super().path(alphas, penalty=penalty, **options)
            paths.append((self.table, found, self.table.sample_weight, penalty))
            return found

    TwoStage().choose(Recorded(case.table, run=Run(n_jobs=1)))
    for table, path, weight, omega in paths:
        yield from ((claim, path.tol) for claim in joint_claims(table, path, weight, omega))


def run_case(case):
    """Return counts by (path, family, word)."""
    counts = Counter({("all", case.family, "tables"): 1})
    runs = {"choice": run_choice} if case.choice else {"joint": run_joint, "nodewise": run_nodewise}
    for name, run_one in runs.items():
        try:
            with warnings.catch_warnings(), np.errstate(over="ignore", under="ignore"):
                warnings.simplefilter("ignore")
                for claim, tol in run_one(case):
                    counts.update((name, case.family, word) for word in judge(claim, tol))
        except (DataError, LimitError) as error:
            # Tables are valid: only penalties or weights beyond floating point may be refused.
            allowed = case.family in EXTREME
            kind = "refused" if allowed else "FALSE: refused"
            counts[name, case.family, f"{kind}: {error}"[:110]] += 1
        except Exception as error:  # a failure of the program; the next case still runs
            counts[name, case.family, f"FALSE: {type(error).__name__}: {error}"[:110]] += 1
    return counts


def family_of(seed, index):
    """Return the family of the case with this number."""
    return draw(seed, index).family


def run_numbered(seed, index):
    """Run the case with this number."""
    return run_case(draw(seed, index))


def run(seconds, seed, *, first=0, most=None):
    """Run cases until the time is over; return (counts, numbers of the cases with a false claim)."""
    return isolated.run_cases("categories", seconds, seed, first=first, most=most)


def complaints(counts, bad):
    """Return what breaks a promise, as sentences."""
    wrong = [
        f"{n} × {word} ({path}, {family})"
        for (path, family, word), n in counts.items()
        if "FALSE" in word or ("empty network" in word and family not in EXTREME)
    ]
    shares = (
        ("sane", ("likert", "choice"), 0.0),
        ("hard", sorted(set(FAMILIES) - {"likert", "choice"} - EXTREME), 1e-3),
    )
    for name, families, share in shares:
        total, missed = (
            sum(n for (_, family, found), n in counts.items() if family in families and found == word)
            for word in ("solutions", "not converged")
        )
        if missed > (max(1.0, share * total) if share else 0.0):  # one in a small sample says little about the share
            wrong.append(f"{missed} of {total} solutions of {name} tables not converged")
    return [*wrong, *([f"cases {bad[:20]}"] if bad else [])]
