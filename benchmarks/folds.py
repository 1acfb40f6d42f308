"""How well one or two Newton steps stand in for the exact folds that the default judges its networks by.

    python benchmarks/folds.py --tables DIR [--only plants jester] [--rows 1600]

The default runs once per table. All networks that it judged are then fitted to every fold in other ways: exactly, to
looser tolerances than the default's 1e-4, and by one or two Newton steps from the network of all rows on its own edges,
with the penalty weights of stage 2 from the approximate stage 1 of the fold. The table that is printed has, for each
way, the largest error of a gain over independent columns, relative to the best gain, beside the tolerance of the choice
(5 %); whether the best network is still the best one; and the processor seconds of the fits that folds consist of.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import expit

from isinglass import Method, Network, Run, Solution
from isinglass.arrays import Bytes, FloatArray
from isinglass.conditionals import row_scores
from isinglass.data import Table, as_table
from isinglass.select import TwoStageChoice
from isinglass.select.folds import split_rows
from isinglass.select.prediction_check import without_edges
from isinglass.select.stages import pair_weights, solve_stage
from isinglass.select.task import Task

TABLES = ("nltcs", "mushrooms", "dna", "adult", "plants", "connect4", "jester", "baudio", "moviereview")
TOLERANCES = (1e-7, 1e-4, 1e-3, 1e-2)
MOST_DENSE = 4000
"""Parameters up to which the Hessian is a matrix; beyond, conjugate gradients."""


def newton(X: Bytes, start: Solution, penalties: FloatArray, n_steps: int) -> Solution | None:
    """Return Newton steps on the edges of a network with their signs kept; None where there is no such step.

    ``penalties``: alpha times the weight of every edge.
    """
    edges, p, n = start.edge_index, X.shape[1], len(X)
    s, t = edges.T
    table = X.astype(np.float64)
    values, fields, signs = start.edge_values.copy(), start.network.fields.copy(), np.sign(start.edge_values)

    def spread(values: FloatArray) -> FloatArray:
        matrix = np.zeros((p, p))
        matrix[s, t] = matrix[t, s] = values
        return matrix

    for _ in range(n_steps):
        sigma = expit(table @ spread(values) + fields)
        cross = (sigma - table).T @ table / n
        gradient = np.r_[(sigma - table).mean(axis=0), (cross + cross.T)[s, t] + penalties * signs]
        curve = sigma * (1.0 - sigma)
        step = solve(table, curve, s, t, spread, gradient)
        if step is None or not np.isfinite(step).all():
            return None
        fields, values = fields - step[:p], values - step[p:]
    return Solution(Network(fields, edges, values), start.alpha)


def solve(
    table: FloatArray,
    curve: FloatArray,
    s: NDArray[np.int32],
    t: NDArray[np.int32],
    spread: Callable[[FloatArray], FloatArray],
    gradient: FloatArray,
) -> FloatArray | None:
    """Return the Newton step: the Hessian of the pseudo-likelihood on some edges, and all fields, inverted."""
    (n, p), n_edges = table.shape, len(s)
    if p + n_edges <= MOST_DENSE:
        hessian = np.zeros((p + n_edges, p + n_edges))
        for node in range(p):
            own = np.flatnonzero((s == node) | (t == node))
            columns = np.column_stack([np.ones(n), table[:, np.where(s[own] == node, t[own], s[own])]])
            places = np.r_[node, p + own]
            hessian[np.ix_(places, places)] += columns.T @ (curve[:, node, None] * columns) / n
        try:
            return cho_solve(cho_factor(hessian), gradient)
        except LinAlgError:
            return None

    def product(d: FloatArray) -> FloatArray:
        moved = curve * (table @ spread(d[p:]) + d[:p])
        cross = moved.T @ table / n
        return np.r_[moved.mean(axis=0), (cross + cross.T)[s, t]]

    cross = curve.T @ table / n
    diagonal = np.maximum(np.r_[curve.mean(axis=0), (cross + cross.T)[s, t]], 1e-12)
    size = (p + n_edges,) * 2
    found, status = cg(
        LinearOperator(size, product),
        gradient,
        rtol=1e-5,
        maxiter=500,
        M=LinearOperator(size, lambda d: d / diagonal),
    )
    return found if status == 0 else None


def gains(fits: Sequence[Solution | None], held: Table, alone: Solution) -> FloatArray:
    """Return the summed gains of networks over independent columns on the rows that a fold holds out."""
    codes = np.asarray(held)
    base = row_scores(alone.network, codes).sum()
    return np.array([np.nan if fit is None else row_scores(fit.network, codes).sum() - base for fit in fits])


def study(X: Bytes) -> tuple[TwoStageChoice, dict[str, FloatArray], dict[str, float], list[float]]:
    """Return the choice; gains per row and processor seconds of every way; Newton steps of the default's folds."""
    begin = time.process_time()
    choice = Method().choose(X, run=Run(n_threads=1))
    seconds = {"default": time.process_time() - begin}
    assert isinstance(choice, TwoStageChoice)
    wanted = [
        (stage.exponent, stage.path[i]) for stage in choice.stages for i in np.flatnonzero(~np.isnan(stage.held_out))
    ]
    table = as_table(X).whole()
    first, task, rng = choice.stages[0].solution, Task(table, run=Run(n_threads=1)), np.random.default_rng(0)
    found: dict[str, FloatArray] = {}
    steps: list[float] = []
    for part in split_rows(table, None, choice.n_folds, rng):
        training, held = (task.on(side) for side in part)
        alone, rows = without_edges(training), np.asarray(training.table)
        for tol in TOLERANCES:
            begin = time.process_time()
            rough: Task = training.replace(paths=training.paths.replace(tol=tol))
            lasso = solve_stage(rough, first.alpha, start=first)
            fits = [solve_stage(rough, one.alpha, exponent, lasso, start=one) for exponent, one in wanted]
            name = f"to {tol:g}"
            seconds[name] = seconds.get(name, 0.0) + time.process_time() - begin
            found[name] = found.get(name, 0.0) + gains(fits, held.table, alone)
            if tol == 1e-4:
                steps += [fit.n_iter for fit in fits]
        for n_steps in (1, 2):
            begin = time.process_time()
            lasso = newton(rows, first, first.alpha * pair_weights(task, first.edge_index), n_steps)
            fits = [approximate(task, rows, one, exponent, lasso, n_steps) for exponent, one in wanted]
            name = f"{n_steps} step{'s' * (n_steps > 1)}"
            seconds[name] = seconds.get(name, 0.0) + time.process_time() - begin
            found[name] = found.get(name, 0.0) + gains(fits, held.table, alone)
    return choice, {name: each / len(X) for name, each in found.items()}, seconds, steps


def approximate(
    task: Task, rows: Bytes, one: Solution, exponent: float, lasso: Solution | None, n_steps: int
) -> Solution | None:
    """Return the approximate fit of one network of stage 1 or 2."""
    if lasso is None:
        return None
    weights = pair_weights(task, one.edge_index)
    if exponent:
        s, t = one.edge_index.T
        weights = weights / np.maximum(np.abs(np.asarray(lasso.network.couplings)[s, t]), 1e-12) ** exponent
    return newton(rows, one, one.alpha * weights, n_steps)


def main() -> None:
    """Print a line per table and way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=Path, required=True)
    parser.add_argument("--only", nargs="+", default=TABLES)
    parser.add_argument("--rows", type=int, default=None, help="largest number of rows")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| table | rows × columns | networks | way | largest error of a gain | best kept | s | of the default's |")
    print("|---|---|---:|---|---:|---|---:|---:|")
    for name in options.only:
        X = np.loadtxt(options.tables / f"{name}.train.csv.gz", delimiter=",", dtype=np.uint8)[: options.rows]
        _, found, seconds, steps = study(np.asarray(as_table(X)))
        exact = found.pop("to 1e-07")
        for way, each in found.items():
            there = np.isfinite(each)
            error = f"{np.abs(each - exact)[there].max() / exact.max():.2%}" if there.any() else "–"
            kept = "yes" if there.all() and each.argmax() == exact.argmax() else "no"
            share = seconds[way] / seconds["default"]
            size = f"{len(X)} × {X.shape[1]}"
            fitted = f"{there.sum()} of {len(exact)}"
            print(f"| {name} | {size} | {fitted} | {way} | {error} | {kept} | {seconds[way]:.1f} | {share:.0%} |")
        print(f"    {np.mean(steps):.1f} Newton steps per exact fit to 1e-4; {exact}", flush=True)


if __name__ == "__main__":
    main()
