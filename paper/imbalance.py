"""Unbalanced data, pass by pass: under which conditions node-wise regression slows down or fails, and why PLG does not.

Passes of coordinate descent are counted, not seconds: they are the same on every machine. A cell is one table, made
unbalanced in one way, and one variant of the algorithm. One variant is an intervention that tests an explanation.
glmnet's algorithm takes full Newton steps. It starts a node's regression from the fitted intercept, where an
unbalanced node has weights q(1−q) near 0 and a step can be as long as 1/q; it starts the stacked regression, which has
no intercept, from 0, where all weights are 1/4 and no step is long. "Start swapped" exchanges the two.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import linprog

from isinglass import Network, errors, simulate
from paper import figures, printed
from paper.data import Table, sample
from paper.evidence import judge, pick
from paper.glmnet import FEWEST
from paper.methods import FITS, MAX_ITER, WARM_STEPS, WARM_TOP, Fit, accuracy, prepare
from paper.published import stacked_design
from paper.study import Cell, Config, Row

VERSION = 2
TIMED = False

ALPHAS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-7)
SMALL = 1e-5
"""The smallest λ of the paper's range."""
PROBABILITY = 0.3
MATTERS = 2.0
"""Factor by which a variant must change the passes to matter."""
OLDER_MIN_PROBABILITY = 1e-5
"""From where on older versions of glmnet let a fitted probability count as 0 or 1."""

BALANCED, PAPER, SEVERAL = "balanced", "paper", "5 rare"
DATA: dict[str, dict[str, Any]] = {
    BALANCED: {"n_rare": 0},
    PAPER: {},
    "θ_11 = 7": {"field": 7.0},
    "3 rare": {"n_rare": 3},
    SEVERAL: {"n_rare": 5},
    "N = 200": {"n_samples": 200},
    "N = 5000": {"n_samples": 5000},
    "p = 25": {"p": 25},
}
"""How the tables are made; what is not said is the paper's: p = 10, N = 1000, θ_11 = 5."""
KINDS = {
    BALANCED: "balanced: θ_11 as the others",
    PAPER: "the paper's: θ_11 = 5",
    "θ_11 = 7": "rarer: θ_11 = 7",
    "3 rare": "three nodes with θ_ss = 5",
    SEVERAL: "five nodes with θ_ss = 5",
    "N = 200": "the paper's, N = 200",
    "N = 5000": "the paper's, N = 5000",
    "p = 25": "the paper's, p = 25",
}
MAX_REDRAWS = 1000

PUBLISHED, SWAPPED, OLDER, TIGHT = "published", "start swapped", "older glmnet", "threshold 1e-10"
VARIANTS: dict[str, dict[str, Any]] = {
    PUBLISHED: {},
    "standardized": {"standardize": True},
    "warm starts": {"warm": True},
    OLDER: {"min_probability": OLDER_MIN_PROBABILITY},
    "threshold 1e-5": {"thresh": 1e-5},
    TIGHT: {"thresh": 1e-10},
    SWAPPED: {"swap": True},
}
"""Variants of the algorithm; the text says what they are."""
IN_R = {"glmnet in R": "Newton", "bounded Hessian": "modified.Newton"}
"""glmnet's own, to confirm ours, and with an upper bound in place of the Hessian, an option that only R has."""
VARIED = {PAPER: "the paper's design", SEVERAL: "five rare nodes"}
"""Kinds of tables on which the variants are tried."""
VARIED_TRIALS = 10
SLOW_TRIALS = {TIGHT: 5, SWAPPED: 5}


def cells(config: Config) -> list[Cell]:
    """Return one cell per table and variant."""
    trials = dict.fromkeys([*VARIANTS, *IN_R], VARIED_TRIALS) | SLOW_TRIALS | {PUBLISHED: printed.TRIALS}
    alphas = [1e-2, SMALL] if config.quick else list(ALPHAS)
    wanted = [(data, PUBLISHED) for data in ((BALANCED, *VARIED) if config.quick else DATA)]
    if config.quick:
        trials = {PUBLISHED: 1, SWAPPED: 1}
        wanted += [(SEVERAL, SWAPPED)]
    else:
        wanted += [(data, variant) for variant in [*VARIANTS, *IN_R][1:] for data in VARIED]
    return [
        {"data": data, "variant": variant, "trial": trial, "seed": config.seed, "alphas": alphas}
        for data, variant in wanted
        for trial in range(trials[variant])
    ]


def run_cell(cell: Cell) -> list[Row]:
    """Fit one table at every penalty, node by node and stacked, as published or varied, and with isinglass."""
    table, n_redraws = make_rare_table(cell["trial"], cell["seed"], **DATA[cell["data"]])
    X, n_constant = drop_constant(table)
    key = {name: cell[name] for name in ("data", "variant", "trial")}
    key |= {"n_constant": n_constant, "n_redraws": n_redraws, **describe(X)}
    return [
        {**key, "alpha": alpha, **row} for alpha in cell["alphas"] for row in fit_variant(X, alpha, cell["variant"])
    ]


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
    fields = np.r_[np.full(n_rare, field), model.fields[n_rare:]]
    return sample(Network.from_couplings(model.couplings, fields), n_samples, seeds[-1])


def make_rare_table(trial: int, seed: int, *, n_rare: int = 1, **design: Any) -> tuple[Table, int]:
    """Return a table on which glmnet fits every node meant to be rare, and how many chains were discarded for it.

    Without this, a condition that makes nodes rarer would have tables in which the rare node is constant or refused,
    that is, none to study.
    """
    for attempt in range(MAX_REDRAWS + 1):
        X = make_table(trial, seed, n_rare=n_rare, **design, attempt=attempt)
        if (minorities(X)[:n_rare] >= FEWEST).all():
            return X, attempt
    raise errors.LimitError(
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


def describe(X: Table) -> Row:
    """Return how unbalanced a table is, and whether its regressions would be separated without a penalty."""
    (n, p), rare = X.shape, int(minorities(X).argmin())
    joint = None
    if n * p <= 10_000:  # the linear program of larger tables takes too long
        design, response = stacked_design(X)
        joint = is_separated(design.toarray(), response)
    return {
        "minority": int(minorities(X).min()),
        "n_refused": int((minorities(X) < FEWEST).sum()),
        "node_separated": is_separated(np.column_stack([np.delete(X, rare, axis=1), np.ones(n)]), X[:, rare]),
        "joint_separated": joint,
    }


def is_separated(design: NDArray[Any], response: NDArray[Any]) -> bool:
    """Tell whether some coefficients put every response on its side, so that without penalty they grow forever."""
    rows = np.unique(np.column_stack([design, response]).astype(np.float64), axis=0)
    margins = (2.0 * rows[:, -1:] - 1.0) * rows[:, :-1]
    found = linprog(-margins.sum(axis=0), A_ub=-margins, b_ub=np.zeros(len(margins)), bounds=(-1.0, 1.0))
    return bool(-found.fun > 1e-7)


# ------------------------------------------------------------------------------------------- fits


def fit_variant(X: Table, alpha: float, variant: str) -> list[Row]:
    """Return the rows of one table, penalty and variant; none where it takes R and there is none."""
    if variant in IN_R:
        names = prepare(X, ["nlr-glmnet", "plg-glmnet"])
        return [count(X, name[:3], FITS[name](X, alpha, hessian=IN_R[variant])) for name in names]
    settings, rows = VARIANTS[variant], []
    for method in ("nlr", "plg"):
        fit = FITS[method](X, alpha, **settings)
        row = count(X, method, fit) | {"newton_steps": int(fit.newton_steps.max())}
        if "standardize" not in settings:  # its penalties are others, and so is its optimum
            row["epsilon"] = accuracy(X, method, fit.theta, alpha)[1]
        rows.append(row)
    for method in ("isinglass-nodewise", "isinglass") if variant == PUBLISHED else ():
        fit = FITS[method](X, alpha)
        steps, epsilon = int(fit.iterations.max()), accuracy(X, method, fit.theta, alpha)[1]
        rows.append({"method": method, "converged": fit.converged, "newton_steps": steps, "epsilon": epsilon})
    return rows


def count(X: Table, method: str, fit: Fit) -> Row:
    """Return passes and failures of NLR or PLG; nodes that glmnet refuses are not among the failures it is given."""
    row: Row = {
        "method": method,
        # A pass of the stacked regression visits every column of every node's regression once.
        "table_passes": float(fit.iterations.mean()),
        "converged": fit.converged,
    }
    if method == "plg":
        return row
    failed = ~fit.met & (minorities(X) >= FEWEST)
    rare, meeting = rare_nodes(X)
    return row | {
        "rare_passes": int(fit.iterations[minorities(X).argmin()]),
        "n_failed_accepted": int(failed.sum()),
        "n_alone": int((rare & ~meeting).sum()),
        "n_failed_alone": int((failed & rare & ~meeting).sum()),
        "n_meeting": int(meeting.sum()),
        "n_failed_meeting": int((failed & meeting).sum()),
        "n_failed_common": int((failed & ~rare).sum()),
    }


# ------------------------------------------------------------------------------------------- what the rows say


def summarize(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the tables of every kind, variant and method: how many, their passes, failures and errors."""
    flags = {
        "redrawn": rows["n_redraws"] > 0,
        "refused": rows["n_refused"] > 0,
        "failed": ~rows["converged"],
    }
    found = rows.assign(**flags, failed_accepted=rows["n_failed_accepted"] > 0)
    return found.groupby(["data", "variant", "method"]).agg(
        tables=("trial", "size"),
        minority=("minority", "median"),
        redrawn=("redrawn", "sum"),
        separated=("node_separated", "sum"),
        refused=("refused", "sum"),
        rare_median=("rare_passes", "median"),
        rare_mean=("rare_passes", "mean"),
        passes=("table_passes", "mean"),
        failed=("failed", "sum"),
        failed_accepted=("failed_accepted", "sum"),
        epsilon=("epsilon", "median"),
    )


def side_by_side(summary: pd.DataFrame) -> pd.DataFrame:
    """Return NLR and PLG beside each other, for every kind and variant."""
    return pd.concat({name: summary.xs(name, level="method") for name in ("nlr", "plg")}, axis=1)


def tried(rows: pd.DataFrame, data: str, variant: str) -> pd.DataFrame:
    """Return a variant beside the published algorithm, on the tables of one kind tried with both."""
    found = pick(rows, data=data, alpha=SMALL)
    found = found[found["variant"].isin([PUBLISHED, variant])]
    both = found["trial"].isin(pick(found, variant=variant)["trial"])
    return summarize(found[both]).droplevel("data")


def swap_effect(failed: pd.Series) -> str:
    """Return in one word what exchanging the starting points does to the failures, by variant and method."""
    if failed.empty or not failed.any():
        return "unknown"
    change = {method: failed[SWAPPED, method] - failed[PUBLISHED, method] for method in ("nlr", "plg")}
    if change["plg"] > 0 and change["nlr"] <= 0:
        return "exchanged"
    return "untouched" if change["plg"] == change["nlr"] == 0 else "partly"


def causes(rows: pd.DataFrame, summary: pd.DataFrame) -> dict[str, Any]:
    """Return what the rows say to each step of the explanation."""
    nodes = pick(rows, variant=PUBLISHED, method="nlr", alpha=SMALL)
    known = nodes[nodes["node_separated"]]["joint_separated"].dropna().astype(bool)
    failing = nodes[~nodes["converged"]]["newton_steps"]
    return {
        "separated": pick(nodes, data=PAPER).groupby("node_separated")["rare_passes"].median(),
        "joint": (int(known.sum()), len(known)),
        "one": summary.loc[PAPER, PUBLISHED],
        "tight": summary.loc[PAPER, TIGHT].loc["plg"] if (PAPER, TIGHT) in summary.index.droplevel("method") else None,
        "meeting": nodes.filter(regex="^n_").sum().astype(int),
        "steps": (int(failing.min()), int(failing.max())) if len(failing) else None,
    }


def facts(rows: pd.DataFrame) -> dict[str, Any]:
    """Return what the text says."""
    summary = summarize(pick(rows, alpha=SMALL))
    both = side_by_side(summary)
    kinds = both.xs(PUBLISHED, level="variant")
    kinds = kinds.loc[[data for data in KINDS if data in kinds.index]]
    trouble = (kinds["nlr", "failed_accepted"] > 0) | (kinds["nlr", "passes"] > kinds["plg", "passes"])
    swapped = tried(rows, SEVERAL, SWAPPED)
    older = {text: tried(rows, data, OLDER) for data, text in VARIED.items()}
    older = {text: found.xs("nlr", level="method") for text, found in older.items() if len(found)}
    changed = [found["passes"][OLDER] / found["passes"][PUBLISHED] for found in older.values()]
    other = [found["failed"][OLDER] != found["failed"][PUBLISHED] for found in older.values()]
    ours = rows[rows["method"].str.startswith("isinglass")]["converged"]
    effect = swap_effect(swapped["failed"])
    return {
        "fewest": FEWEST,
        "max_iter": f"{MAX_ITER:,}",
        "warm": {"steps": WARM_STEPS, "top": WARM_TOP},
        "ours": (int(ours.sum()), len(ours)),
        "kinds": kinds,
        "trouble": trouble[trouble].index.tolist(),
        "variants": both.loc[
            [(data, name) for name in [*VARIANTS, *IN_R] for data in VARIED if (data, name) in both.index]
        ].swaplevel(),
        "older": older,
        "older_matters": any(other) or any(not 1 / MATTERS <= factor <= MATTERS for factor in changed),
        "swapped": swapped,
        "effect": effect,
        "verdicts": {"reason": judge(effect == "untouched", effect != "exchanged")},
        **causes(rows, summary),
    }


# ------------------------------------------------------------------------------------------- figure


def draw(rows: pd.DataFrame) -> figures.Figure:
    """Draw passes with one rare node and with five, what the fits are worth, and the swapped starts."""
    figure, grid = figures.new_figure(2, 2, size=(9.0, 7.4))
    means = rows.groupby(["data", "variant", "method", "alpha"])[["table_passes", "rare_passes"]].mean()
    draw_passes(grid[0, 0], means)
    draw_tables(grid[0, 1], pick(rows, data=SEVERAL, variant=PUBLISHED), means.loc[SEVERAL, PUBLISHED])
    draw_accuracy(grid[1, 0], pick(rows, data=PAPER))
    draw_starts(grid[1, 1], tried(rows, SEVERAL, SWAPPED))
    for axes in grid.ravel()[:3]:
        axes.set(xscale="log", yscale="log", xlabel="λ")
        axes.invert_xaxis()
        axes.legend(frameon=False, fontsize=8, loc="lower right" if axes is grid[1, 0] else "best")
    return figure


def draw_passes(axes: Any, means: pd.DataFrame) -> None:
    """Draw the paper's design against balanced tables."""
    for method in ("nlr", "plg"):
        name, style = method.upper(), figures.METHODS[method]
        look = {"color": style.color, "marker": style.marker}
        axes.plot(means.loc[PAPER, PUBLISHED, method]["table_passes"][::-1], label=name, **look)
        look |= {"linestyle": ":", "alpha": 0.6, "markersize": 3.5}
        axes.plot(
            means.loc[BALANCED, PUBLISHED, method]["table_passes"][::-1], label=f"{name}, balanced tables", **look
        )
    look = {"color": figures.METHODS["nlr"].color, "marker": "x", "linestyle": "--"}
    axes.plot(means.loc[PAPER, PUBLISHED, "nlr"]["rare_passes"][::-1], label="NLR, the rare node alone", **look)
    axes.set(title="One rare node: the paper's design", ylabel="passes over the table (mean)")


def draw_tables(axes: Any, rows: pd.DataFrame, means: pd.DataFrame) -> None:
    """Draw every table with five rare nodes."""
    rng = np.random.default_rng(0)
    for method, shift in (("nlr", 1.12), ("plg", 1 / 1.12)):
        color, found = figures.METHODS[method].color, pick(rows, method=method)
        for converged, look in ((True, {"s": 9, "marker": "o", "linewidths": 0}), (False, CROSS)):
            some = pick(found, converged=converged)
            x = some["alpha"] * shift * np.exp(rng.uniform(-0.12, 0.12, len(some)))
            axes.scatter(x, some["table_passes"], color=color, alpha=0.65, **look)
        axes.plot(means.loc[method]["table_passes"][::-1], color=color, label=f"{method.upper()}, mean")
    axes.scatter([], [], color="#555555", label="not converged", **CROSS)
    axes.set(title="Five rare nodes: every table", ylabel="passes over the table")


CROSS = {"s": 22, "marker": "x", "linewidths": 1.1}


def draw_accuracy(axes: Any, rows: pd.DataFrame) -> None:
    """Draw how far from the optimum the fits stop: the median of ε, which may be huge where a fit failed."""
    medians = rows.groupby(["variant", "method", "alpha"])["epsilon"].median()
    medians = medians[medians > 1e-13]  # nothing entered: exact
    lines = [(method, variant) for method in ("nlr", "plg") for variant in (PUBLISHED, TIGHT)]
    for method, variant in [*lines, ("isinglass", PUBLISHED)]:
        if variant in medians:
            style = figures.METHODS[method]
            line, text = ("-", "default threshold") if variant == PUBLISHED else ("--", TIGHT)
            label = method if method == "isinglass" else f"{method.upper()}, {text}"
            axes.plot(
                medians[variant, method][::-1], label=label, linestyle=line, color=style.color, marker=style.marker
            )
    axes.axhline(1, color="#888888", linewidth=0.8)
    axes.set(title="One rare node: error of what is returned", ylabel="ε to the optimum (median)")
    axes.set_ylim(bottom=1e-12)


def draw_starts(axes: Any, found: pd.DataFrame) -> None:
    """Draw the share of tables on which everything converged, by starting point."""
    bars = [(method, variant) for method in ("nlr", "plg") for variant in (PUBLISHED, SWAPPED)]
    labels = []
    for k, (method, variant) in enumerate(bars):
        total, good = found["tables"][variant, method], (found["tables"] - found["failed"])[variant, method]
        height, own = 100 * good / total, variant == PUBLISHED
        axes.bar(k, height, color=figures.METHODS[method].color, alpha=1 if own else 0.5)
        axes.annotate(f"{good} of {total}", (k, height), (0, 3), textcoords="offset points", ha="center")
        start = "null model" if (method == "nlr") == own else "zero"
        labels.append(f"{method.upper()}\nfrom {start}" + ("\n(published)" if own else ""))
    axes.set_xticks(range(len(bars)), labels=labels)
    axes.set(ylim=(0, 115), ylabel="tables converged (%)")
    axes.set(title=f"Five rare nodes, λ = {SMALL:g}: where the fit starts")
    axes.grid(visible=False, axis="x")
