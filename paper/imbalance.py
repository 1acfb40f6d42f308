"""Unbalanced data, pass by pass: under which conditions node-wise regression slows down or fails, and why PLG does not.

Passes of coordinate descent are counted, not seconds: they are the same on every machine. A cell is one table, made
unbalanced in one way, and one variant of the algorithm. One variant is an intervention that tests an explanation.
glmnet's algorithm takes full Newton steps. It starts a node's regression from the fitted intercept, where an
unbalanced node has weights q(1−q) near 0 and a step can be as long as 1/q; it starts the stacked regression, which has
no intercept, from 0, where all weights are 1/4 and no step is long. "Start swapped" exchanges the two.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from isinglass import Network, ising_path, nodewise_path, simulate
from isinglass.errors import LimitError
from isinglass.solve.published.stacked import stacked_design
from paper import glmnet, published, study
from paper.contract import Cell, Config, Row
from paper.data import Table
from paper.imbalance_report import claims, draw, section
from paper.regressions import (
    FEWEST,
    OLDER_MIN_PROBABILITY,
    Outcome,
    Variant,
    fit_nodes,
    fit_stacked,
    joint_accuracy,
    node_accuracy,
)

__all__ = ["claims", "draw", "section"]

NAME = "imbalance"
TITLE = "Unbalanced data: where node-wise regression slows down, and why"
VERSION = 2
TIMED = False

ALPHAS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-7)
PROBABILITY = 0.3

DATA: dict[str, dict[str, Any]] = {
    "balanced": {"n_rare": 0},
    "paper": {},
    "θ_11 = 7": {"field": 7.0},
    "3 rare": {"n_rare": 3},
    "5 rare": {"n_rare": 5},
    "N = 200": {"n_samples": 200},
    "N = 5000": {"n_samples": 5000},
    "p = 25": {"p": 25},
}
"""How the tables are made; what is not said is the paper's: p = 10, N = 1000, θ_11 = 5."""
MAX_REDRAWS = 1000

VARIANTS: dict[str, Variant] = {
    "published": Variant({}),
    "standardised": Variant({"standardize": True}),
    "warm starts": Variant({}, warm=True),
    "older glmnet": Variant({"min_probability": OLDER_MIN_PROBABILITY}),
    "threshold 1e-5": Variant({"thresh": 1e-5}),
    "threshold 1e-10": Variant({"thresh": 1e-10}),
    "start swapped": Variant({}, swap=True),
}
"""Variants of the algorithm; ``imbalance_report.VARIANTS`` says what they are."""
IN_R = {"glmnet in R": "Newton", "bounded Hessian": "modified.Newton"}
"""glmnet's own, to confirm ours, and with an upper bound in place of the Hessian, an option that only R has."""
VARIED = ("paper", "5 rare")
"""Kinds of tables on which the variants are tried."""
VARIED_TRIALS = 10
SLOW_TRIALS = {"threshold 1e-10": 5, "start swapped": 5}


def cells(config: Config) -> list[Cell]:
    """Return one cell per table and variant."""
    trials = dict.fromkeys([*VARIANTS, *IN_R], VARIED_TRIALS) | SLOW_TRIALS | {"published": published.TRIALS}
    alphas = [1e-2, 1e-5] if config.quick else list(ALPHAS)
    wanted = [(data, "published") for data in (("balanced", *VARIED) if config.quick else DATA)]
    if config.quick:
        trials = {"published": 2, "start swapped": 1}
        wanted += [(VARIED[-1], "start swapped")]
    else:
        wanted += [(data, variant) for variant in [*VARIANTS, *IN_R][1:] for data in VARIED]
    return [
        {"data": data, "variant": variant, "trial": trial, "seed": config.seed, "alphas": alphas}
        for data, variant in wanted
        for trial in range(trials[variant])
    ]


def run(config: Config) -> list[Row]:
    """Return the rows of all cells."""
    return study.run_item(sys.modules[__name__], config)


def run_cell(cell: Cell) -> list[Row]:
    """Fit one table at every penalty, node by node and stacked, as published or varied, and with isinglass."""
    table, n_redraws = make_rare_table(cell["trial"], cell["seed"], **DATA[cell["data"]])
    X, n_constant = drop_constant(table)
    key = {name: cell[name] for name in ("data", "variant", "trial")} | describe(X, n_constant, n_redraws)
    rows = []
    for alpha in cell["alphas"]:
        if cell["variant"] in IN_R:
            found = fit_in_r(X, alpha, IN_R[cell["variant"]])
        else:
            variant = VARIANTS[cell["variant"]]
            found = [report(X, alpha, name, fit(X, alpha, variant), variant) for name, fit in FITS.items()]
            found += ours(X, alpha) if cell["variant"] == "published" else []
        rows += [{**key, "alpha": alpha, **row} for row in found]
    return rows


# ------------------------------------------------------------------------------------------- tables


def make_table(
    trial: int, seed: int, *, p: int = 10, n_rare: int = 1, field: float = 5.0, n_samples: int = 1000, attempt: int = 0
) -> Table:
    """Return a table like ``data.paper_table``'s, with the field of the first ``n_rare`` nodes set.

    Another ``attempt`` is another chain of the same network; the first is that of ``data.paper_table``.
    """
    # Spawned, not appended to the entropy: [..., trial, 1] would be the second spawned seed, the first chain, again.
    seeds = np.random.SeedSequence([seed, p, round(1000 * PROBABILITY), trial]).spawn(2 + attempt)
    model = simulate.random_network(p, PROBABILITY, random_state=seeds[0])
    fields = model.fields.copy()
    fields[:n_rare] = field
    model = Network.from_couplings(model.couplings, fields)
    return simulate.gibbs_sample(model, n_samples, burn_in=1000, random_state=seeds[-1], n_threads=1)


def make_rare_table(trial: int, seed: int, *, n_rare: int = 1, **design: Any) -> tuple[Table, int]:
    """Return a table on which glmnet fits every node meant to be rare, and how many chains were discarded for it.

    Without this, a condition that makes nodes rarer would have tables in which the rare node is constant or refused,
    that is, none to study.
    """
    for attempt in range(MAX_REDRAWS + 1):
        X = make_table(trial, seed, n_rare=n_rare, **design, attempt=attempt)
        if (minorities(X)[:n_rare] >= FEWEST).all():
            return X, attempt
    raise LimitError(
        f"The rare nodes must have at least {FEWEST} rows of either kind; got fewer in each of {MAX_REDRAWS + 1} "
        f"chains of trial {trial} with n_rare={n_rare} and {design!r}. Lower the field or sample more rows."
    )


def drop_constant(X: Table) -> tuple[Table, int]:
    """Return the columns that vary and the number of the others, which every method leaves out."""
    varying = (X[0] != X).any(axis=0)
    return np.ascontiguousarray(X[:, varying]), int((~varying).sum())


def minorities(X: Table) -> NDArray[np.int64]:
    """Return the number of rows with the rarer value, column by column."""
    ones = X.sum(axis=0, dtype=np.int64)
    return np.minimum(ones, len(X) - ones)


def rare_nodes(X: Table) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which nodes are rare, and which of them share a rare row with another rare one.

    Rare is a node that glmnet accepts and of whose rows at most one in twenty has the rarer value; a node that glmnet
    refuses is rare as a partner.
    """
    few = minorities(X)
    scarce = few <= len(X) / 20
    rarer = np.where(X.mean(axis=0) > 0.5, X == 0, X == 1) & scarce
    together = rarer.T.astype(np.int64) @ rarer.astype(np.int64)
    np.fill_diagonal(together, 0)
    rare = scarce & (few >= FEWEST)
    return rare, rare & (together > 0).any(axis=1)


def describe(X: Table, n_constant: int, n_redraws: int) -> Row:
    """Return how unbalanced a table is, and whether its regressions would be separated without a penalty."""
    (n, p), rare = X.shape, int(minorities(X).argmin())
    joint = None
    if n * p <= 10_000:  # the linear programme of larger tables takes too long
        design, response = stacked_design(X)
        joint = is_separated(design.toarray(), response)
    return {
        "n_constant": n_constant,
        "n_redraws": n_redraws,
        "minority": int(minorities(X).min()),
        "n_refused": int((minorities(X) < FEWEST).sum()),
        "node_separated": is_separated(np.column_stack([np.delete(X, rare, axis=1), np.ones(n)]), X[:, rare]),
        "joint_separated": joint,
    }


def is_separated(design: NDArray[Any], response: NDArray[Any]) -> bool:
    """Tell whether some coefficients put every response on its side, so that without penalty they grow for ever."""
    rows = np.unique(np.column_stack([design, response]).astype(np.float64), axis=0)
    margins = (2.0 * rows[:, -1:] - 1.0) * rows[:, :-1]
    found = linprog(-margins.sum(axis=0), A_ub=-margins, b_ub=np.zeros(len(margins)), bounds=(-1.0, 1.0))
    return bool(-found.fun > 1e-7)


# ------------------------------------------------------------------------------------------- fits

FITS = {"nlr": fit_nodes, "plg": fit_stacked}


def report(X: Table, alpha: float, method: str, found: Outcome, variant: Variant) -> Row:
    """Return a row; its accuracy only where the objective is the common one."""
    row = count(X, method, found.passes, found.converged) | {"newton_steps": int(found.newton_steps.max())}
    if variant.settings.get("standardize"):
        return row
    measure = node_accuracy if method == "nlr" else joint_accuracy
    return row | {"epsilon": measure(X, found.theta, alpha)[1]}


def count(X: Table, method: str, passes: NDArray[Any], converged: NDArray[np.bool_]) -> Row:
    """Return what all methods of glmnet's kind have in common."""
    row: Row = {
        "method": method,
        # A pass of the stacked regression visits every column of every node's regression once.
        "table_passes": float(passes.mean()),
        "converged": bool(converged.all()),
    }
    if method == "plg":
        return row
    failed = ~converged & (minorities(X) >= FEWEST)
    rare, meeting = rare_nodes(X)
    return row | {
        "rare_passes": int(passes[minorities(X).argmin()]),
        "n_failed_accepted": int(failed.sum()),
        "n_alone": int((rare & ~meeting).sum()),
        "n_failed_alone": int((failed & rare & ~meeting).sum()),
        "n_meeting": int(meeting.sum()),
        "n_failed_meeting": int((failed & meeting).sum()),
        "n_failed_common": int((failed & ~rare).sum()),
    }


def fit_in_r(X: Table, alpha: float, hessian: str) -> list[Row]:
    """Fit with glmnet in R, where nodes that it refuses count neither as passes nor as failures."""
    session = glmnet.session()
    if session is None:
        return []
    session.load(X)
    rows = []
    for method, mode in (("nlr", "nodewise"), ("plg", "stacked")):
        found = session.fit(mode, alpha, hessian=hessian)
        rows.append(count(X, method, found.passes, (found.jerr == 0) | (found.jerr == glmnet.REFUSED)))
    return rows


def ours(X: Table, alpha: float) -> list[Row]:
    """Fit with isinglass; its iterations are Newton steps."""
    nodes, joint = nodewise_path(X, [alpha / 2], n_threads=1), ising_path(X, [alpha], n_threads=1)[0]
    theta = nodes.asymmetric_couplings[0].toarray() + np.diag(nodes.fields[0])
    found = [
        ("isinglass-nodewise", nodes[0].converged, nodes.nodes.n_iter[0], node_accuracy(X, theta, alpha)),
        (
            "isinglass",
            joint.converged,
            np.array([joint.n_iter]),
            joint_accuracy(X, joint.couplings + np.diag(joint.fields), alpha),
        ),
    ]
    return [
        {
            "method": method,
            "converged": converged,
            "newton_steps": int(steps.max()),
            "epsilon": epsilon,
        }
        for method, converged, steps, (_, epsilon) in found
    ]
