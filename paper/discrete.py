"""Other discrete networks, which the paper mentions and does not try: whether a stacked logistic regression fits them.

Two of them: yes/no variables with interactions of three nodes, and variables with three states. The pseudo-likelihood
is computed once from its definition, conditional by conditional, and once as the loss of a stacked regression.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

from paper import figures, published
from paper.evidence import judge
from paper.study import Cell, Config, Row

VERSION = 3
TIMED = False

FloatArray = NDArray[np.float64]

SAME = 1e-6
"""Relative difference up to which two values count as equal."""
BINARY, STATES = "two states, interactions of three", "three states"


def cells(config: Config) -> list[Cell]:
    """Return one cell per kind of network."""
    return [{"network": name, "p": 5 if config.quick else 7, "seed": config.seed} for name in (BINARY, STATES)]


def run_cell(cell: Cell) -> list[Row]:
    """Compare losses at a random point, and minima where the regression is a logistic one."""
    rng = np.random.default_rng([cell["seed"], cell["p"]])
    pairs = check_binary(cell["p"], rng) if cell["network"] == BINARY else check_states(cell["p"], rng)
    return [
        {
            "network": cell["network"],
            "what": what,
            "pseudo_likelihood": one,
            "stacked": two,
            "difference": abs(one - two) / abs(one),
        }
        for what, one, two in pairs
    ]


# ------------------------------------------------------------------------------------------- three-way interactions


def check_binary(
    p: int, rng: np.random.Generator, n_samples: int = 500, penalty: float = 0.02
) -> list[tuple[str, float, float]]:
    """Return the loss at a random point and the penalized minimum, directly and by the stacked regression."""
    terms = [term for order in (2, 3) for term in itertools.combinations(range(p), order)]
    X = rng.integers(0, 2, (n_samples, p)).astype(float)
    X[:, -1] = X[:, 0] * X[:, 1] + rng.random(n_samples) > 0.7  # something that takes three nodes to say
    design, response = stack_terms(X, terms)
    point = rng.normal(0, 0.5, design.shape[1])
    found = published.logistic_path(
        design,
        response,
        penalty / p,
        penalty_factor=np.repeat([1.0, 0.0], [len(terms), p]),
        rescale_factors=False,
        intercept=False,
        thresh=1e-14,
        max_iter=1_000_000,
    )
    best = found.coefficients[0]
    stacked = p * logistic_loss(design, response, best) + penalty * np.abs(best[: len(terms)]).sum()
    return [
        ("loss", direct_loss(X, terms, point), p * logistic_loss(design, response, point)),
        ("penalized minimum", minimize_directly(X, terms, penalty), float(stacked)),
    ]


def stack_terms(X: FloatArray, terms: list[tuple[int, ...]]) -> tuple[sp.csc_array, FloatArray]:
    """Return the stacked design with a column for every term: row (s, n) holds the product of its other nodes."""
    n, p = X.shape
    blocks = []
    for s in range(p):
        columns = [X[:, [t for t in term if t != s]].prod(axis=1) if s in term else np.zeros(n) for term in terms]
        blocks.append(np.column_stack([*columns, np.tile(np.arange(p) == s, (n, 1))]))
    return sp.csc_array(np.vstack(blocks)), X.T.ravel()


def direct_loss(X: FloatArray, terms: list[tuple[int, ...]], point: FloatArray) -> float:
    """Return the mean negative log pseudo-likelihood from its definition: energies with each node flipped."""
    p = X.shape[1]

    def energy(rows: FloatArray) -> FloatArray:
        values = np.column_stack([*(rows[:, list(term)].prod(axis=1) for term in terms), rows])
        return values @ point

    total = np.zeros(len(X))
    for s in range(p):
        zero, one = X.copy(), X.copy()
        zero[:, s], one[:, s] = 0.0, 1.0
        total += np.logaddexp(energy(zero), energy(one)) - energy(X)
    return float(total.mean())


def minimize_directly(X: FloatArray, terms: list[tuple[int, ...]], penalty: float) -> float:
    """Return the penalized minimum by a general optimizer that knows nothing of the stacked design."""
    m, p = len(terms), X.shape[1]
    features = [
        np.column_stack([X[:, [t for t in term if t != s]].prod(axis=1) * (s in term) for term in terms])
        for s in range(p)
    ]

    def value(split: FloatArray) -> tuple[float, FloatArray]:
        theta, fields = split[:m] - split[m : 2 * m], split[2 * m :]
        loss, slope, field_slope = 0.0, np.zeros(m), np.zeros(p)
        for s in range(p):
            logits = fields[s] + features[s] @ theta
            residual = expit(logits) - X[:, s]
            loss += float(np.mean(np.logaddexp(0.0, logits) - X[:, s] * logits))
            slope += residual @ features[s] / len(X)
            field_slope[s] = residual.mean()
        return loss + penalty * split[: 2 * m].sum(), np.r_[slope + penalty, penalty - slope, field_slope]

    bounds = [(0, None)] * (2 * m) + [(None, None)] * p
    options = {"maxiter": 20_000, "maxfun": 50_000, "ftol": 1e-15, "gtol": 1e-9}
    found = minimize(value, np.zeros(2 * m + p), jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return float(found.fun)


def logistic_loss(design: Any, response: FloatArray, point: FloatArray) -> float:
    """Return the mean logistic loss."""
    logits = design @ point
    return float(np.mean(np.logaddexp(0.0, logits) - response * logits))


# ------------------------------------------------------------------------------------------- three states


def check_states(p: int, rng: np.random.Generator, n_samples: int = 200, q: int = 3) -> list[tuple[str, float, float]]:
    """Return the loss at a random point, directly and as a softmax over stacked rows.

    There is no logistic loss to compare with: a softmax over three states is not one, whatever the design.
    """
    X = rng.integers(0, q, (n_samples, p))
    fields = rng.normal(0, 0.5, (p, q))
    couplings = rng.normal(0, 0.5, (p, q, p, q))
    couplings = couplings + couplings.transpose(2, 3, 0, 1)
    direct, softmax = 0.0, 0.0
    for s in range(p):
        others = [t for t in range(p) if t != s]
        design = one_hot(X, s, q)
        coefficients = np.concatenate([couplings[s][:, t] for t in others], axis=1)
        scores = fields[s] + design @ coefficients.T  # one column of the stacked regression per state
        chosen = np.arange(n_samples), X[:, s]
        softmax += float(np.mean(logsumexp(scores, axis=1) - scores[chosen]))
        direct += conditional_loss(X, s, fields, couplings)
    return [("softmax loss", direct, softmax)]


def one_hot(X: NDArray[np.int64], s: int, q: int) -> FloatArray:
    """Return the indicators of all states of all nodes but one."""
    return np.column_stack([X[:, t] == a for t in range(X.shape[1]) if t != s for a in range(q)]).astype(float)


def conditional_loss(X: NDArray[np.int64], s: int, fields: FloatArray, couplings: FloatArray) -> float:
    """Return the mean of −log P(x_s | the rest), from the energies of the rows with every state of node s."""
    p, q = fields.shape
    energies = np.zeros((len(X), q))
    for a in range(q):
        rows = X.copy()
        rows[:, s] = a
        for n, row in enumerate(rows):
            energies[n, a] = sum(fields[t, row[t]] for t in range(p)) + sum(
                couplings[t, row[t], u, row[u]] for t in range(p) for u in range(t + 1, p)
            )
    chosen = np.arange(len(X)), X[:, s]
    return float(np.mean(logsumexp(energies, axis=1) - energies[chosen]))


# ------------------------------------------------------------------------------------------- what the rows say


def facts(rows: pd.DataFrame) -> dict[str, Any]:
    """Return what the text says."""
    table = rows.set_index(["network", "what"]).rename_axis(["network", ""])
    fits = (rows["difference"] <= SAME).groupby(rows["network"]).all()
    return {
        "table": table,
        "binary": fits[BINARY],
        "stacks": fits[STATES],
        "minimum": table["difference"][BINARY, "penalized minimum"],
        "verdicts": {"applies": judge(False, fits[BINARY])},
    }


def draw(rows: pd.DataFrame) -> figures.Figure:
    """Draw the relative differences."""
    figure, grid = figures.new_figure(size=(6.8, 2.2))
    axes, places = grid[0, 0], range(len(rows))
    values = rows["difference"].clip(lower=1e-16)
    axes.scatter(values, places, color=np.where(values <= SAME, "#0072B2", "#D55E00"), zorder=3)
    axes.axvline(SAME, color="#888888", linewidth=0.9, linestyle="--")
    axes.set_yticks(places, labels=rows["network"] + ":\n" + rows["what"])
    axes.set(xscale="log", xlabel="pseudo-likelihood and stacked regression: relative difference")
    axes.set(ylim=(len(rows) - 0.5, -0.5))
    return figure
