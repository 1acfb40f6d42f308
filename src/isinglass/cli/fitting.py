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
    from isinglass.select.cv import CrossValidation
    from isinglass.select.ebic import EbicSelection
    from isinglass.select.two_stage import TwoStage

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
    from isinglass.errors import ConstantColumnWarning, suppress_warnings
    from isinglass.fit import Fit
    from isinglass.solve.estimable import count_and_name

    alone = method.method == "nodewise" and criterion == "ebic"  # every node chooses for itself, as IsingFit does
    chosen = "given" if criterion is None else choosing.describe(criterion, per_node=alone)
    choice = choice_of(method, choosing, alpha, criterion)
    console.restart_clock()
    count_and_name(data, data.sample_weight)
    with suppress_warnings(ConstantColumnWarning):
        found: dict[str, Any] = {}
        if criterion is not None and method.method != "joint" and not alone:
            alpha, found["stability"] = choosing.choose_alpha(console, data, method, criterion)
        found |= _run(console, data, method, choosing, alpha, None if alpha is not None else criterion)
    return Fit.of(
        found.pop("solution"),
        data,
        method=method.method,
        settings=method.settings,
        criterion=criterion,
        choice=choice,
        chosen=chosen,
        reading=reading or {},
        **found,
    )


def _run(
    console: Console, data: BinaryTable, method: Method, choosing: Choosing, alpha: float | None, criterion: str | None
) -> dict[str, Any]:
    """Return the parts of a fit: the solution, its tolerance, and what the criterion found."""
    run = fit_function(method, choosing, alpha, criterion)  # names and weights come along with the table
    if criterion is None:
        with console.progress("Fitting"):
            path = method.path_function(data, [alpha])
        return {"solution": path[0], "tol": float(path.tol)}
    if method.method == "nodewise":
        with console.progress("Fitting"):
            return {"solution": run(data), "tol": method.tol or 1e-7}
    if criterion == "ebic":
        with console.progress("Fitting"):
            return _from_ebic(run(data))
    # These show a bar of their own.
    found = run(data, n_jobs=choosing.n_jobs, progress=console.progress_wanted)
    if criterion == "stars":
        alphas = found.alphas[: len(found.edge_frequencies)]
        path = method.path_function(data, alphas)
        return {"solution": path[found.index], "path": path, "stability": found, "tol": float(path.tol)}
    return _from_cv(found) if criterion == "cv" else _from_stages(found, data)


def _from_ebic(found: EbicSelection) -> dict[str, Any]:
    from isinglass.fit import Evidence

    evidence = Evidence(
        kind="ebic",
        alphas=found.path.alphas,
        values=found.scores,
        choice=found.index,
        settings={"gamma": found.gamma, "relaxed": found.relaxed},
    )
    return {"solution": found.solution, "path": found.path, "evidence": evidence, "tol": float(found.path.tol)}


def _from_cv(found: CrossValidation) -> dict[str, Any]:
    from isinglass.fit import Evidence

    evidence = Evidence(
        kind="score",
        alphas=found.alphas,
        values=found.mean,
        errors=found.standard_error,
        choice=found.index,
        settings={"rule": found.rule},
    )
    return {"solution": found.solution, "path": found.path, "evidence": evidence, "tol": float(found.path.tol)}


def _from_stages(found: TwoStage, data: BinaryTable) -> dict[str, Any]:
    from isinglass.fit import Evidence
    from isinglass.select.two_stage import describe_stages, network_ebic

    evidence = Evidence(
        kind="ebic",
        alphas=found.path.alphas,
        values=network_ebic(found, data.X, data.sample_weight),
        choice=found.index,
        settings={"gamma": found.gamma, "relaxed": False},
    )
    return {
        "solution": found.solution,
        "path": found.path,
        "evidence": evidence,
        "tol": float(found.path.tol),
        "stages": describe_stages(found),
        "edge_errors": found.edge_errors,
    }


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
