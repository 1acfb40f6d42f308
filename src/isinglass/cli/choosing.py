"""How alpha is chosen: the criteria and their settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.options import ALPHAS, JOBS, SEED, Bundle, Number, Option, was_given

if TYPE_CHECKING:
    from isinglass.cli.console import Console
    from isinglass.cli.methods import Method
    from isinglass.data import BinaryTable
    from isinglass.results import Stability

__all__ = ["CHOOSING", "Choosing"]

SECTION = "Choosing alpha"
DEFAULT_ALPHAS, DEFAULT_RATIO = 30, 0.01
DEFAULT_FOLDS = {"two-stage": 5, "cv": 10}
# Option -> the criteria it belongs to. Seed and jobs are missing: other things use them, too.
OWNERS: dict[str, tuple[str, ...]] = {
    "alphas": ("two-stage", "stars", "ebic", "cv"),
    "alpha_min_ratio": ("stars", "ebic", "cv"),
    **dict.fromkeys(("n_subsamples", "subsample_size", "threshold"), ("stars",)),
    "gamma": ("two-stage", "ebic"),
    "relaxed": ("ebic",),
    "keep": ("two-stage",),
    "folds": ("two-stage", "cv"),
    "cv_rule": ("cv",),
}


@dataclass(frozen=True)
class Choosing:
    """Settings of the criteria.

    Parameters
    ----------
    alphas : int or list of float, optional
        Grid of all criteria.
    alpha_min_ratio : float, optional
        Last alpha over first of a counted grid.
    n_subsamples, subsample_size, threshold : int, int, float
        Of StARS.
    gamma, relaxed : float, bool
        Of the EBIC.
    keep : float, optional
        Of the two-stage estimate.
    folds : int, optional
        Of cross-validation, alone or in the two-stage estimate.
    cv_rule : str
        Of cross-validation.
    seed, n_jobs : int
        Of StARS and cross-validation.
    """

    alphas: int | list[float] | None
    alpha_min_ratio: float | None
    n_subsamples: int
    subsample_size: int | None
    threshold: float
    gamma: float
    relaxed: bool
    keep: float | None
    folds: int | None
    cv_rule: str
    seed: int
    n_jobs: int

    @property
    def grid(self) -> dict[str, Any]:
        """The alphas, as path functions and estimators take them."""
        return {"alphas": self.alphas or DEFAULT_ALPHAS, "alpha_min_ratio": self.alpha_min_ratio or DEFAULT_RATIO}

    @property
    def node_grid(self) -> dict[str, Any]:
        """What was said of the alphas of nodes that choose for themselves: a list of its own for each."""
        if isinstance(self.alphas, list):
            raise click.UsageError("--alphas must be a count where every node chooses for itself (nodewise, ebic).")
        if was_given("relaxed"):
            raise click.UsageError("--relaxed cannot be used where every node chooses for itself (nodewise, ebic).")
        given = {"alphas": self.alphas, "alpha_min_ratio": self.alpha_min_ratio}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def two_stage(self) -> dict[str, Any]:
        """The settings of the two-stage estimate, as its function and its estimator take them."""
        return {
            "alphas": self.alphas or DEFAULT_ALPHAS,
            "gamma": self.gamma,
            "keep": self.keep,
            "n_folds": self.n_folds("two-stage"),
            "random_state": self.seed,
        }

    @property
    def stars(self) -> dict[str, Any]:
        """The settings of StARS but the grid."""
        return {
            "n_subsamples": self.n_subsamples,
            "subsample_size": self.subsample_size,
            "threshold": self.threshold,
            "random_state": self.seed,
        }

    def n_folds(self, criterion: str) -> int:
        """Return the number of folds of a criterion."""
        return self.folds or DEFAULT_FOLDS[criterion]

    def run_stars(self, console: Console, data: BinaryTable, method: Method) -> Stability:
        """Return what StARS chooses."""
        from isinglass.select import stars

        return stars(
            data.X,
            alphas=self.grid["alphas"],
            **self.stars,
            path_function=method.with_settings(alpha_min_ratio=self.grid["alpha_min_ratio"]),
            sample_weight=data.sample_weight,
            n_jobs=self.n_jobs,
            progress=console.progress_wanted,
        )

    def refuse_unused(self, criterion: str | None) -> None:
        """Refuse what was said about another criterion than the one that chooses, or about any if alpha is given."""
        for parameter in click.get_current_context().command.params:
            owner = OWNERS.get(str(parameter.name))
            if owner is None or not was_given(str(parameter.name)):
                continue
            if criterion is None:
                raise click.UsageError(f"{parameter.opts[0]} belongs to the choice of alpha; got --alpha, so none.")
            if criterion not in owner:
                known = " or ".join(owner)
                raise click.UsageError(f"{parameter.opts[0]} belongs to --select {known}; got --select {criterion}.")
        if isinstance(self.alphas, list) and self.alpha_min_ratio is not None:
            raise click.UsageError("--alpha-min-ratio belongs to --alphas COUNT; got --alphas with the values.")

    def choose_alpha(
        self, console: Console, data: BinaryTable, method: Method, criterion: str
    ) -> tuple[float, Stability | None]:
        """Return the alpha that a criterion chooses, one for all nodes, and what StARS found."""
        from isinglass.select import cross_validate, select_ebic

        if criterion == "stars":
            stability = self.run_stars(console, data, method)
            return stability.alpha, stability
        path_function = method.with_settings(alpha_min_ratio=self.grid["alpha_min_ratio"])
        shared: dict[str, Any] = {"alphas": self.grid["alphas"], "path_function": path_function}
        shared["sample_weight"] = data.sample_weight
        if criterion == "ebic":
            with console.progress("EBIC"):
                return select_ebic(data.X, gamma=self.gamma, relaxed=self.relaxed, **shared).alpha, None
        found = cross_validate(
            data.X,
            n_folds=self.n_folds("cv"),
            rule=self.cv_rule,
            random_state=self.seed,
            n_jobs=self.n_jobs,
            progress=console.progress_wanted,
            **shared,
        )
        return found.alpha, None

    def describe(self, criterion: str, *, per_node: bool = False) -> str:
        """Say in words how the criterion was set; ``per_node``: every node chose an alpha of its own."""
        if criterion == "stars":
            return f"StARS, instability up to {self.threshold:g} over {self.n_subsamples} subsamples, seed {self.seed}"
        if criterion == "two-stage":
            return f"two-stage, gamma {self.gamma:g}, {self.n_folds(criterion)} folds, seed {self.seed}"
        if criterion == "ebic" and per_node:
            return f"EBIC of every node, gamma {self.gamma:g}"
        if criterion == "ebic":
            return f"EBIC, gamma {self.gamma:g}" + (", relaxed" if self.relaxed else "")
        return f'cross-validation, {self.n_folds("cv")} folds, rule "{self.cv_rule}", seed {self.seed}'


CHOOSING = Bundle(
    "choosing",
    Choosing,
    [
        Option(
            "--alphas",
            type=ALPHAS,
            section=SECTION,
            help="Number of log-spaced penalties from the smallest without edges down, or an explicit list.  "
            f"[default: {DEFAULT_ALPHAS}; nodewise, ebic: 100 for every node]",
        ),
        Option(
            "--alpha-min-ratio",
            type=Number(0, 1, min_open=True, max_open=True),
            section=SECTION,
            help="Last alpha over first, where --alphas is a count.  "
            f"[default: {DEFAULT_RATIO}; nodewise, ebic: 0.0001]",
        ),
        Option(
            "--subsamples",
            "n_subsamples",
            type=click.IntRange(min=2),
            default=20,
            show_default=True,
            section=SECTION,
            help="stars: number of subsamples.",
        ),
        Option(
            "--subsample-size",
            type=click.IntRange(min=2),
            section=SECTION,
            help="stars: rows in each.  [default: 10 √rows, or 80 % of up to 144]",
        ),
        Option(
            "--threshold",
            type=Number(0, 0.5),
            default=0.05,
            show_default=True,
            section=SECTION,
            help="stars: largest instability that counts as stable.",
        ),
        Option(
            "--gamma",
            type=Number(min=0),
            default=0.25,
            show_default=True,
            section=SECTION,
            help="two-stage, ebic: weight of the number of candidate networks; larger values choose fewer edges.",
        ),
        Option(
            "--relaxed/--no-relaxed",
            default=False,
            show_default=True,
            section=SECTION,
            help="ebic: judge networks by the unpenalized estimate on their edges.",
        ),
        Option(
            "--keep",
            type=Number(0, 1),
            section=SECTION,
            help="two-stage: share of the best cross-validated gain that the network must keep; 0 leaves the choice to "
            "the EBIC.  [default: 0.95; with no more rows than columns 0.85]",
        ),
        Option(
            "--folds",
            type=click.IntRange(min=2),
            section=SECTION,
            help="two-stage, cv: parts into which the rows are split.  [default: 5; cv: 10]",
        ),
        Option(
            "--cv-rule",
            type=click.Choice(["best", "1se"]),
            default="best",
            show_default=True,
            section=SECTION,
            help="cv: the best score, or the sparsest within one standard error.",
        ),
        SEED.under(SECTION),
        JOBS.under(SECTION),
    ],
)
