"""One fit, whichever method and criterion: what fit, demo and bootstrap share."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.options import Number, Option
from isinglass.cli.wording import plural

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from isinglass.cli.choosing import Choosing
    from isinglass.cli.console import Console
    from isinglass.cli.methods import Method
    from isinglass.data import BinaryTable
    from isinglass.network import Network
    from isinglass.results import Solution, Stability

__all__ = [
    "ALPHA",
    "SELECT",
    "Fitted",
    "criterion_of",
    "describe_fit",
    "edge_attributes",
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


@dataclass(frozen=True)
class Fitted:
    """A network and how it came about.

    Parameters
    ----------
    network : fitted estimator
        What can be saved.
    model : Network
        The network by itself.
    solution : Solution
        With the certificate.
    tol : float
        The tolerance it refers to.
    chosen : str
        How alpha was chosen, in words.
    stability : Stability, optional
        What StARS found, if it chose.
    proved : bool
        Whether the tolerance is one of the certificate.
    """

    network: Any
    model: Network
    solution: Solution
    tol: float
    chosen: str
    stability: Stability | None = None
    proved: bool = True

    @property
    def edge_attributes(self) -> dict[str, Any]:
        """What is known of the edges beside their couplings: standard errors, or the share of subsamples with each."""
        return edge_attributes(self.network)


def edge_attributes(network: Any) -> dict[str, Any]:
    """Return what a fitted estimator knows of its edges beside their couplings, as symmetric matrices."""
    found: dict[str, Any] = {}
    errors, stability = (getattr(network, name, None) for name in ("edge_errors_", "stability_"))
    if errors is not None:
        import scipy.sparse as sp

        (s, t), p = network.solution_.edge_index.T, network.solution_.n_features
        both = sp.coo_array(([*errors, *errors], ([*s, *t], [*t, *s])), shape=(p, p))
        found["std_error"] = both.tocsr()
    if stability is not None:
        found["stability"] = stability.edge_frequencies[stability.index]
    return found


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
    console: Console, data: BinaryTable, method: Method, choosing: Choosing, alpha: float | None, criterion: str | None
) -> Fitted:
    """Fit at alpha, or at the one that the criterion chooses."""
    alone = method.method == "nodewise" and criterion == "ebic"  # every node chooses for itself, as IsingFit does
    chosen = "given" if criterion is None else choosing.describe(criterion, per_node=alone)
    from isinglass import estimators  # which takes longer than most fits

    console.restart_clock()
    stability: Stability | None = None
    if criterion is not None and method.method != "joint" and not alone:
        alpha, stability = choosing.choose_alpha(console, data, method, criterion)
    estimator = _estimator(estimators, console, method, choosing, alpha, criterion)
    # These show a bar of their own.
    if criterion in ("two-stage", "stars", "cv") and method.method == "joint":
        estimator.fit(data)
    else:
        with console.progress("Fitting"):
            estimator.fit(data)
    # Nothing depends on these, so that the model file must not either.
    estimator.set_params(**{name: None for name in ("n_jobs", "progress") if name in estimator.get_params()})
    if stability is not None:
        estimator.stability_ = stability  # the model file and the table of edges have it from here
    stability = getattr(estimator, "stability_", None)
    tol = getattr(estimator, "tol_", estimator.tol)
    return Fitted(estimator, estimator.network_, estimator.solution_, tol, chosen, stability, method.proves)


def fit_function(method: Method, choosing: Choosing, alpha: float | None, criterion: str | None) -> Callable[..., Any]:
    """Return the fit that the options ask for as a function of a table, to be repeated on resamples.

    It is a method in the sense of ``isinglass.select.contract``; its network of the whole table is that of
    `fit_network`. It can be pickled.
    """
    from isinglass.select import cross_validate, select_ebic, stars, two_stage
    from isinglass.select.method import fit_at

    if criterion is None:
        assert alpha is not None
        return functools.partial(fit_at, alpha=alpha, path_function=method.path_function)
    if criterion == "two-stage":
        return functools.partial(two_stage, path_function=method.path_function, **choosing.two_stage)
    if criterion == "stars":
        return functools.partial(stars, path_function=method.path_function, **choosing.grid, **choosing.stars)
    if criterion == "ebic" and method.method == "nodewise":
        from isinglass.solve.nodewise import nodewise_ebic

        settings = {"standardize": False, **method.settings}  # the default of `nodewise_path`, and of its estimator
        return functools.partial(nodewise_ebic, gamma=choosing.gamma, **choosing.node_grid, **settings)
    shared: dict[str, Any] = {
        "alphas": choosing.grid["alphas"],
        "path_function": method.with_settings(alpha_min_ratio=choosing.grid["alpha_min_ratio"]),
    }
    if criterion == "ebic":
        return functools.partial(select_ebic, gamma=choosing.gamma, relaxed=choosing.relaxed, **shared)
    return functools.partial(
        cross_validate,
        n_folds=choosing.n_folds("cv"),
        rule=choosing.cv_rule,
        random_state=choosing.seed,
        **shared,
    )


def _estimator(
    estimators: ModuleType,
    console: Console,
    method: Method,
    choosing: Choosing,
    alpha: float | None,
    criterion: str | None,
) -> Any:
    """Return the estimator that does it, not yet fitted."""
    settings = method.settings
    if not method.proves:
        from isinglass.estimators.published import PublishedIsing

        return PublishedIsing(alpha, method=method.method, tol=method.tol, max_iter=method.max_iter)  # type: ignore[arg-type]
    if method.method == "nodewise" and criterion == "ebic":
        return estimators.NodewiseIsing(criterion="ebic", gamma=choosing.gamma, **choosing.node_grid, **settings)
    if method.method == "joint" and criterion is not None:
        runs = {"random_state": choosing.seed, "n_jobs": choosing.n_jobs, "progress": console.progress_wanted}
        if criterion == "two-stage":
            return estimators.IsingNetwork(**settings, **(runs | choosing.two_stage))
        kinds: dict[str, tuple[Any, dict[str, Any]]] = {
            "stars": (
                estimators.IsingLassoStARS,
                runs | choosing.stars,
            ),
            "ebic": (estimators.IsingLassoEBIC, {"gamma": choosing.gamma, "relaxed": choosing.relaxed}),
            "cv": (estimators.IsingLassoCV, {"cv": choosing.n_folds("cv"), "rule": choosing.cv_rule, **runs}),
        }
        kind, options = kinds[criterion]
        return kind(**choosing.grid, **options, **settings)
    at_one = {"joint": "IsingLasso", "nodewise": "NodewiseIsing", "exact": "ExactIsing"}[method.method]
    return getattr(estimators, at_one)(alpha=alpha, **settings)


def describe_fit(found: Fitted) -> dict[str, str]:
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
        **_describe_stages(getattr(found.network, "stages_", [])),
        **judge([solution], found.tol, proved=found.proved),
    }


def _describe_stages(stages: list[dict[str, Any]]) -> dict[str, str]:
    """Return in words what each stage chose, and why the network is the one it is."""
    if not stages:
        return {}
    said = [f"{stage['criterion'].upper()} {plural(stage['n_edges'], 'edge')}" for stage in stages]
    reason = next(stage["reason"] for stage in stages if stage["network"])
    return {"Stages": f"{', then '.join(said)}; {REASONS[reason]}"}
