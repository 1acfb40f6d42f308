"""Random tables of 0 and 1, sane and extreme: every returned certificate is recomputed in extended precision.

Counted per kind of table and path function: solutions, those not converged, and false claims of three kinds. A claim
that the recomputation cannot confirm is false if a better point refutes it, and ``open`` otherwise.
"""

import sys
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import isolated
import numpy as np
from isolated import BELOW

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import extended
import objectives as objective

from isinglass import exact_path, ising_path, nodewise_path
from isinglass.errors import DataError, LimitError, SeparationError
from isinglass.solve.exact_likelihood import exact_alpha_max
from isinglass.solve.nodewise import nodewise_alpha_max
from isinglass.solve.path import alpha_max

SLACK = 1e-9  # relative, of comparisons between double and extended precision
NOISE = 1e-17  # of an objective in extended precision
FLOOR = 1e-12  # smallest objective without edges that relative gaps are relative to


@dataclass(frozen=True)
class Case:
    """One table with everything a path function is given."""

    kind: str
    X: np.ndarray
    weight: np.ndarray | None
    omega: np.ndarray | None
    ratios: tuple[float, ...]  # alpha over alpha_max
    tol: float


@dataclass(frozen=True)
class Claim:
    """One certified problem: the recomputation, where it is, and what was claimed about it."""

    problem: object
    point: tuple
    kkt: float
    gap: float
    converged: bool
    scale: float
    empty: bool  # without edges where no edge can be
    below: bool  # whether rounding of the input may exceed a penalty


def draw_table(rng, n, p):
    """Columns of mixed balance, each depending on the one before."""
    X = rng.random((n, p)) < rng.uniform(0.1, 0.9, size=p)
    for s in range(1, p):
        X[:, s] ^= X[:, s - 1] & (rng.random(n) < rng.choice([0.0, 0.5, 0.9]))
    return X.astype(np.uint8)


def has_near_duplicates(X):
    """Tell whether two columns agree, or disagree, in all rows but one in twenty (but one in a small table)."""
    spins = 2 * X.astype(int) - 1
    most = len(X) - 2 * max(1, len(X) // 20)
    return bool((np.abs(np.triu(spins.T @ spins, 1)) >= most).any())


def draw_penalty(rng, p, decades):
    matrix = np.triu(10.0 ** (decades * rng.uniform(-1, 1, size=(p, p))), 1)
    return matrix + matrix.T + np.eye(p)


def draw_sane(rng):
    """Weights within three decades, alpha ≥ 1e-4 alpha_max, tol ≥ 1e-8, no near-duplicates."""
    while True:
        X = draw_table(rng, int(rng.integers(6, 60)), int(rng.integers(2, 7)))
        if not has_near_duplicates(X):
            break
    weight = [None, rng.integers(1, 20, len(X)).astype(float), 10.0 ** rng.uniform(0, 3, len(X))][rng.integers(3)]
    omega = draw_penalty(rng, X.shape[1], 0.5) if rng.random() < 0.3 else None
    ratios = 10.0 ** -rng.uniform(0, 4, size=2)
    return Case("sane", X, weight, omega, (1.0, *ratios), float(rng.choice([1e-5, 1e-7, 1e-8])))


def draw_weights(rng):
    """Weights over up to thirteen decades, of any scale, on tables down to a single row."""
    X = draw_table(rng, int(rng.integers(1, 14)), int(rng.integers(1, 6)))
    decades = rng.uniform(3, 13)
    weight = np.ones(len(X))
    if rng.random() < 0.5:
        weight[rng.integers(len(X))] = 10.0**decades
    else:
        weight = 10.0 ** (decades * rng.random(len(X)))
    weight = weight * float(rng.choice([1e-250, 1.0, 1e250], p=[0.1, 0.8, 0.1]))
    if rng.random() < 0.1:
        weight[rng.integers(len(X))] = 0.0
    weight = weight if weight.any() else None
    return Case("weights", X, weight, None, (1.0, *(10.0 ** -rng.uniform(0, 3, size=2))), 1e-7)


def draw_penalties(rng):
    """Penalties far outside what the gradient can reach, on either side."""
    X = draw_table(rng, int(rng.integers(2, 30)), int(rng.integers(2, 6)))
    omega = draw_penalty(rng, X.shape[1], 3.0) * 10.0 ** rng.uniform(-100, 100)
    if rng.random() < 0.3:
        omega[np.triu_indices_from(omega)] = np.where(
            rng.random(len(np.triu_indices_from(omega)[0])) < 0.3, np.inf, 1.0
        )
        omega = np.triu(omega, 1) + np.triu(omega, 1).T + np.eye(len(omega))
    exponents = [rng.uniform(-4, 0), rng.uniform(-200, -4), rng.uniform(0, 100)]
    return Case("penalties", X, None, omega, tuple(10.0 ** np.array(exponents)), 1e-7)


def draw_duplicates(rng):
    """Near-duplicate columns, constant columns and separation, with weights over three decades."""
    n, p = int(rng.integers(4, 40)), int(rng.integers(2, 7))
    X = np.repeat((rng.random((n, 1)) < 0.5).astype(np.uint8), p, axis=1)
    X[rng.integers(0, n, p), np.arange(p)] ^= rng.random(p) < 0.8
    if rng.random() < 0.2:
        X[:, 0] = 1
    weight = 10.0 ** rng.uniform(0, 3, n) if rng.random() < 0.8 else None
    return Case("duplicates", X, weight, None, (0.6, *(10.0 ** -rng.uniform(0, 3, size=2))), 1e-7)


def draw_copies(rng):
    """FAULTS 6: many copies of one column with one flip each, and weights over three decades."""
    n, p = int(rng.integers(20, 80)), int(rng.integers(20, 60))
    X = np.repeat((rng.random((n, 1)) < 0.5).astype(np.uint8), p, axis=1)
    X[rng.integers(0, n, p), np.arange(p)] ^= 1
    return Case("copies", X, 10.0 ** rng.uniform(0, 3, n), None, (0.6, 0.3), 1e-7)


def draw_free(rng):
    """Free edges, and no penalty at all, where the optimum may be infinite."""
    X = draw_table(rng, int(rng.integers(8, 60)), int(rng.integers(2, 5)))
    omega = np.where(rng.random((X.shape[1],) * 2) < 0.4, 0.0, 1.0)
    omega = np.triu(omega, 1) + np.triu(omega, 1).T + np.eye(len(omega))
    weight = 10.0 ** (rng.choice([0.5, 3.0, 8.0]) * rng.random(len(X))) if rng.random() < 0.7 else None
    return Case("free", X, weight, omega, (0.5, 0.0), 1e-7)


def draw_hard(rng):
    """Few rows, log-normal weights, a tiny penalty."""
    X = draw_table(rng, int(rng.integers(6, 40)), int(rng.integers(3, 8)))
    return Case("hard", X, np.exp(6.0 * rng.normal(size=len(X))), None, (0.1, 1e-6), 1e-7)


KINDS = (draw_sane, draw_weights, draw_penalties, draw_duplicates, draw_copies, draw_free, draw_hard)
SHARES = (0.45, 0.2, 0.1, 0.12, 0.001, 0.05, 0.079)


def draw(seed, index):
    """Return the case with this number."""
    rng = np.random.default_rng([seed, index])
    return KINDS[rng.choice(len(KINDS), p=SHARES)](rng)


# ------------------------------------------------------------------------------------------- claims


def alphas_of(case, top):
    """Return the alphas of a case, decreasing and different; any one where nothing varies together."""
    return sorted({min(ratio * top, 1e250) for ratio in case.ratios}, reverse=True) if top > 0 else [0.1]


def is_below_rounding(case, alpha, node=None):
    """Whether a penalty is below what rounding may add to a moment of the model without edges, over the tolerance."""
    weight = np.ones(len(case.X)) if case.weight is None else case.weight / case.weight.max()
    share = weight @ case.X / weight.sum()
    misplaced = 2 * share * (1 - share)
    limit = np.finfo(float).eps / 2 / case.tol
    if node is not None:
        return bool(alpha < limit * misplaced[node])
    omega = np.ones((len(share),) * 2) if case.omega is None else case.omega
    low = (alpha * omega < limit * (misplaced[:, None] + misplaced)) & (alpha * omega > 0)
    return bool(np.triu(low, 1).any())


def joint_claims(case):
    """Yield what `ising_path` claims."""
    options = {"sample_weight": case.weight, "penalty_weights": case.omega}
    top = alpha_max(case.X, **options)
    path = ising_path(case.X, alphas_of(case, top), **options, tol=case.tol)
    scale = None
    for solution in path:
        problem, *point = extended.joint_matrices(
            case.X, solution.couplings, solution.fields, solution.alpha, weight=case.weight, omega=case.omega
        )
        if scale is None:
            free = case.omega is not None and (case.omega == 0).any()
            null = objective.null_model(case.X, **options) if free else None
            scale = objective.value(case.X, *null, sample_weight=case.weight) if free else problem.null()
        empty = solution.alpha >= top * (1 - 1e-12) and solution.n_edges == 0
        diagnostics = (solution.kkt_residual, solution.duality_gap, solution.converged)
        yield Claim(problem, point, *diagnostics, scale, empty, is_below_rounding(case, solution.alpha))


def node_claims(case):
    """Yield what every regression of `nodewise_path` claims."""
    top = nodewise_alpha_max(case.X, case.weight)
    path = nodewise_path(case.X, alphas_of(case, top), sample_weight=case.weight, tol=case.tol)
    fits = path.nodes
    for k, solution in enumerate(path):
        coefficients = path.asymmetric_couplings[k].toarray()
        for s in np.flatnonzero(np.isfinite(fits.losses[k])):
            problem, z = extended.node(
                case.X, s, coefficients[s], fits.fields[k, s], solution.alpha, weight=case.weight
            )
            gap, kkt, scale = fits.duality_gaps[k, s], fits.kkt_residuals[k, s], problem.null()
            converged = solution.converged or (kkt <= case.tol and gap <= case.tol * max(float(scale), FLOOR))
            empty = solution.alpha >= top * (1 - 1e-12) and not coefficients[s].any()
            below = is_below_rounding(case, solution.alpha, s)
            yield Claim(problem, (z,), kkt, gap, converged, scale, empty, below)


def exact_claims(case):
    """Yield what `exact_path` claims."""
    options = {"sample_weight": case.weight, "penalty_weights": case.omega}
    top = exact_alpha_max(case.X, **options)
    path = exact_path(case.X, alphas_of(case, top), **options, tol=case.tol)
    for solution in path:
        problem, z = extended.exact(
            case.X, solution.couplings, solution.fields, solution.alpha, weight=case.weight, omega=case.omega
        )
        empty = solution.alpha >= top * (1 - 1e-12) and solution.n_edges == 0
        diagnostics = (solution.kkt_residual, solution.duality_gap, solution.converged)
        below = is_below_rounding(case, solution.alpha)
        yield Claim(problem, (z,), *diagnostics, problem.null(), empty, below)


PATHS = {"joint": joint_claims, "nodewise": node_claims, "exact": exact_claims}
LARGEST_EXACT = 5  # columns: enumeration in Python takes its time...
EXACT_EVERY = 3  # ...so that only one table in three is solved exactly


def judge(claim, tol):
    """Return the words that count a claim: what it is, and what is wrong with it."""
    words = ["solutions", *([BELOW] if claim.below else [])]
    if not claim.converged:
        words.append(f"{BELOW}, not converged" if claim.below else "not converged")
        if claim.empty:
            words.append("empty network not converged")
    value, kkt, gap = (
        claim.problem.value(*claim.point),
        claim.problem.kkt(*claim.point),
        claim.problem.gap(*claim.point),
    )
    allowed = tol * max(claim.scale, FLOOR) if claim.converged else np.inf
    if not np.isfinite(value) or not np.isfinite(claim.kkt) or np.isnan(claim.gap):
        return [*words, "FALSE: not a number"]
    if kkt > claim.kkt * (1 + SLACK) + 1e-3 * tol or (claim.converged and kkt > tol * (1 + 1e-3)):
        words.append("FALSE: KKT residual")
    claimed = min(claim.gap, allowed)
    if gap > claimed * (1 + SLACK) + NOISE * value:
        excess = value - better_value(claim)
        words.append("FALSE: gap" if excess > claimed * (1 + SLACK) + NOISE * value else "open")
    return words


def better_value(claim):
    """Return the value of a point found by descent from the returned one."""
    problem, point = claim.problem, claim.point
    if isinstance(problem, extended.Joint):
        problem, z = problem.regression(*point)
        point = (z,)
    return problem.value(problem.improved(*point))


def run_case(case, *, exact=True):
    """Return counts by (path, kind, word)."""
    counts = Counter()
    for name, claims in PATHS.items():
        if name == "exact" and not (exact and case.X.shape[1] <= LARGEST_EXACT):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for claim in claims(case):
                    counts.update((name, case.kind, word) for word in judge(claim, case.tol))
        except (DataError, LimitError, SeparationError) as error:
            counts[name, case.kind, f"refused: {type(error).__name__}"] += 1
        except Exception as error:  # whatever else is a failure of the program, and the next case still runs
            counts[name, case.kind, f"FALSE: {type(error).__name__}: {error}"[:120]] += 1
    return counts


def family_of(seed, index):
    """Return the family of the case with this number."""
    return draw(seed, index).kind


def run_numbered(seed, index):
    """Run the case with this number."""
    case = draw(seed, index)
    with np.errstate(over="ignore", under="ignore"):
        return Counter({("all", case.kind, "tables"): 1}) + run_case(case, exact=index % EXACT_EVERY == 0)


def run(seconds, seed, *, first=0, most=None):
    """Run cases until the time is over; return (counts, numbers of the cases with a false claim)."""
    return isolated.run_cases("certificates", seconds, seed, first=first, most=most)


def complaints(counts, bad):
    """Return what breaks a promise, as sentences."""
    wrong = [f"{count} × {word} ({path}, {kind})" for (path, kind, word), count in counts.items() if "FALSE" in word]
    wrong += [f"{count} × {word} ({path}, {kind})" for (path, kind, word), count in counts.items() if "empty" in word]
    for kind, share in (("sane", 2e-4), ("copies", 0.0), ("duplicates", 0.0)):
        total = sum(counts[path, kind, "solutions"] for path in PATHS)
        missed = sum(counts[path, kind, "not converged"] for path in PATHS)
        if missed > share * total:
            wrong.append(f"{missed} of {total} {kind} solutions not converged")
    return [*wrong, *([f"cases {bad[:20]}"] if bad else [])]
