"""One fit, whichever method and criterion: what fit, demo and bootstrap share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.console import plural
from isinglass.cli.options import Number, Option

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from isinglass.cli.choosing import Choosing
    from isinglass.cli.console import Console
    from isinglass.cli.methods import Method
    from isinglass.data import BinaryTable
    from isinglass.fit import Fit

__all__ = [
    "ALPHA",
    "SELECT",
    "criterion_of",
    "describe_fit",
    "fit_function",
    "fit_network",
]

CRITERIA = ("two-stage", "stars", "ebic", "cv")
DEFAULT, DEFAULT_ELSEWHERE = "two-stage", "ebic"
"""What chooses by default: with the joint method, and with the others, which have no penalty weights per pair."""
REASONS = {
    "ebic": "the network is that of the EBIC",
    "prediction": "that predicts too badly, so the network is the sparsest that keeps the gain",
    "empty": "nothing predicts held-out rows better than no edges",
}
ALPHA = Option("--alpha", type=Number(min=0), metavar="A", help="Use this penalty instead of choosing one.")
SELECT = Option(
    "--select",
    type=click.Choice(CRITERIA),
    help="Choose the network in two stages, or one penalty by stability (stars), information (ebic) or prediction "
    "(cv).  [default: two-stage; other methods than joint: ebic]",
)


def criterion_of(alpha: float | None, select: str | None, choosing: Choosing, method: Method) -> str | None:
    """Return the criterion that chooses, None if alpha is given; refuse the settings of others."""
    if alpha is not None and select is not None:
        raise click.UsageError("--alpha and --select exclude each other: an alpha that is given is not chosen.")
    if select == "two-stage" and method.method != "joint":
        raise click.UsageError(f"--select two-stage belongs to --method joint; got --method {method.method}.")
    default = DEFAULT if method.method == "joint" else DEFAULT_ELSEWHERE
    criterion = None if alpha is not None else select or default
    choosing.refuse_unused(criterion)
    return criterion


def fit_network(
    console: Console,
    data: BinaryTable,
    method: Method,
    choosing: Choosing,
    alpha: float | None,
    criterion: str | None,
    reading: Mapping[str, Any] | None = None,
) -> Fit:
    """Fit at alpha, or at the one that the criterion chooses; ``reading`` is how the table was read."""
    from contextlib import nullcontext

    from isinglass.errors import ConstantColumnWarning, suppress_warnings
    from isinglass.select.outcome import fit_table
    from isinglass.solve.estimable import count_and_name

    alone = method.method == "nodewise" and criterion == "ebic"  # every node chooses for itself, as IsingFit does
    chosen = "given" if criterion is None else choosing.describe(criterion, per_node=alone)
    barred = criterion in ("two-stage", "stars", "cv")  # these show a bar of their own
    run = {"n_jobs": choosing.n_jobs, "progress": console.progress_wanted} if barred else {}
    console.restart_clock()
    count_and_name(data, data.sample_weight)
    with suppress_warnings(ConstantColumnWarning), nullcontext() if barred else console.progress("Fitting"):
        return fit_table(
            data,
            method.method,
            method.settings,
            criterion,
            choice_of(method, choosing, alpha, criterion),
            chosen=chosen,
            reading=reading,
            **run,
        )


def fit_function(method: Method, choosing: Choosing, alpha: float | None, criterion: str | None) -> Callable[..., Any]:
    """Return the fit that the options ask for as a function of a table, to be repeated on resamples.

    It is a method in the sense of ``isinglass.select.contract``; its network of the whole table is that of
    `fit_network`. It can be pickled.
    """
    from isinglass.select.method import method_of

    return method_of(method.method, method.settings, criterion, choice_of(method, choosing, alpha, criterion))


def choice_of(method: Method, choosing: Choosing, alpha: float | None, criterion: str | None) -> dict[str, Any]:
    """Return the settings of the criterion by the parameters of its function; or alpha."""
    if criterion is None:
        return {"alpha": alpha}
    if criterion == "two-stage":
        return choosing.two_stage
    if criterion == "stars":
        return {**choosing.grid, **choosing.stars}
    if criterion == "ebic" and method.method == "nodewise":
        return {"gamma": choosing.gamma, **choosing.node_grid}
    if criterion == "ebic":
        return {**choosing.grid, "gamma": choosing.gamma, "relaxed": choosing.relaxed}
    folds = choosing.n_folds("cv")
    return {**choosing.grid, "n_folds": folds, "rule": choosing.cv_rule, "random_state": choosing.seed}


def describe_fit(found: Fit) -> dict[str, str]:
    """Return the facts of a fit for the summary."""
    from isinglass.cli.results import judge

    solution = found.solution
    n_pairs = solution.n_features * (solution.n_features - 1) // 2
    n_positive = int((solution.edge_values > 0).sum())
    alpha = "one per node" if solution.alpha != solution.alpha else f"{solution.alpha:.6g}"  # NaN: each node its own
    return {
        "Alpha": f"{alpha} ({found.chosen})",
        "Network": f"{plural(solution.n_edges, 'edge')} among {plural(n_pairs, 'pair')}, {n_positive} positive, "
        f"{solution.n_edges - n_positive} negative",
        **_describe_stages(found.stages or []),
        **judge([solution], found.tol, proved=found.proves),
    }


def _describe_stages(stages: list[dict[str, Any]]) -> dict[str, str]:
    """Return in words what each stage chose, and why the network is the one it is."""
    if not stages:
        return {}
    said = [f"{stage['criterion'].upper()} {plural(stage['n_edges'], 'edge')}" for stage in stages]
    reason = next(stage["reason"] for stage in stages if stage["network"])
    return {"Stages": f"{', then '.join(said)}; {REASONS[reason]}"}
