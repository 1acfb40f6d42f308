"""One fit, whichever method and criterion: what fit, demo and bootstrap share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.options import Option
from isinglass.cli.wording import plural

if TYPE_CHECKING:
    from types import ModuleType

    from isinglass.binary import BinaryTable
    from isinglass.cli.choosing import Choosing
    from isinglass.cli.console import Console
    from isinglass.cli.methods import Method
    from isinglass.model import IsingModel
    from isinglass.records import Solution, Stability

__all__ = ["ALPHA", "SELECT", "Fitted", "criterion_of", "describe_fit", "fit_network"]

CRITERIA = ("stars", "ebic", "cv")
DEFAULT = "ebic"
"""Relaxed, it finds the true edges of small and of large networks (docs/trusting.md). StARS leaves out most where
columns are few, and cross-validation keeps false ones."""
ALPHA = Option("--alpha", type=click.FloatRange(min=0), metavar="A", help="The penalty; then nothing is chosen.")
SELECT = Option(
    "--select",
    type=click.Choice(CRITERIA),
    help="Choose alpha by stability (stars), information (ebic) or prediction (cv).  [default: ebic]",
)


@dataclass(frozen=True)
class Fitted:
    """A network and how it came about.

    Parameters
    ----------
    network : fitted estimator or IsingModel
        What can be saved; the published methods have no estimator.
    model : IsingModel
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
    model: IsingModel
    solution: Solution
    tol: float
    chosen: str
    stability: Stability | None = None
    proved: bool = True

    @property
    def edge_attributes(self) -> dict[str, Any]:
        """What is known of the edges beside their couplings: the share of subsamples with each."""
        return {} if self.stability is None else {"stability": self.stability.edge_frequencies[self.stability.index]}


def criterion_of(alpha: float | None, select: str | None) -> str | None:
    """Return the criterion that chooses, None if alpha is given."""
    if alpha is not None and select is not None:
        raise click.UsageError("--alpha and --select exclude each other: an alpha that is given is not chosen.")
    return None if alpha is not None else select or DEFAULT


def fit_network(
    console: Console, data: BinaryTable, method: Method, choosing: Choosing, alpha: float | None, criterion: str | None
) -> Fitted:
    """Fit at alpha, or at the one that the criterion chooses."""
    chosen = "given" if criterion is None else choosing.describe(criterion, method)
    if not method.proves:
        return _fit_published(console, data, method, choosing, alpha, criterion, chosen)
    from isinglass import estimators  # which takes longer than most fits

    console.restart_clock()
    estimator = _estimator(estimators, console, data, method, choosing, alpha, criterion)
    # StARS and cross-validation show a bar of their own.
    if criterion in ("stars", "cv") and method.method == "joint":
        estimator.fit(data)
    else:
        with console.progress("Fitting"):
            estimator.fit(data)
    # Nothing depends on these, so that the model file must not either.
    estimator.set_params(**{name: None for name in ("n_jobs", "progress") if name in estimator.get_params()})
    stability = getattr(estimator, "stability_", None)
    return Fitted(estimator, estimator.model_, estimator.solution_, estimator.tol, chosen, stability)


def _estimator(
    estimators: ModuleType,
    console: Console,
    data: BinaryTable,
    method: Method,
    choosing: Choosing,
    alpha: float | None,
    criterion: str | None,
) -> Any:
    """Return the estimator that does it, not yet fitted."""
    settings = method.settings
    if method.method == "nodewise" and criterion == "ebic":  # every node chooses for itself, as IsingFit does
        return estimators.NodewiseIsing(criterion="ebic", gamma=choosing.gamma, **choosing.node_grid, **settings)
    if method.method == "joint" and criterion is not None:
        runs = {"random_state": choosing.seed, "n_jobs": choosing.n_jobs, "progress": console.progress_wanted}
        kinds: dict[str, tuple[Any, dict[str, Any]]] = {
            "stars": (
                estimators.IsingLassoStARS,
                {
                    "n_subsamples": choosing.n_subsamples,
                    "subsample_size": choosing.subsample_size,
                    "threshold": choosing.threshold,
                    **runs,
                },
            ),
            "ebic": (estimators.IsingLassoEBIC, {"gamma": choosing.gamma, "relaxed": choosing.relaxed}),
            "cv": (estimators.IsingLassoCV, {"cv": choosing.folds, "rule": choosing.cv_rule, **runs}),
        }
        kind, options = kinds[criterion]
        return kind(**choosing.grid, **options, **settings)
    if criterion is not None:
        alpha = choosing.choose_alpha(console, data, method, criterion)
    at_one = {"joint": "IsingLasso", "nodewise": "NodewiseIsing", "exact": "ExactIsing"}[method.method]
    return getattr(estimators, at_one)(alpha=alpha, **settings)


def _fit_published(
    console: Console,
    data: BinaryTable,
    method: Method,
    choosing: Choosing,
    alpha: float | None,
    criterion: str | None,
    chosen: str,
) -> Fitted:
    from isinglass.model import IsingModel

    console.restart_clock()
    if criterion is not None:
        alpha = choosing.choose_alpha(console, data, method, criterion)
    assert alpha is not None  # given, or chosen
    with console.progress("Fitting"):
        path = method.fit_path(data, [alpha])
    model = IsingModel.from_solution(path[0], data.names)
    return Fitted(model, model, path[0], path.tol, chosen, proved=False)


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
        **judge([solution], found.tol, proved=found.proved),
    }
