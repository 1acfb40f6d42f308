"""Which network: the method, what chooses the penalty, and the settings of both."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.console import Console, plural
from isinglass.cli.descriptions import judge, shares_of
from isinglass.cli.options import ADVANCED, JOBS, SEED, Bundle, Option, under, was_given
from isinglass.cli.values import ALPHAS, Number, OneOf

if TYPE_CHECKING:
    from isinglass.data import Table
    from isinglass.fit import Fit
    from isinglass.results import Path
    from isinglass.select.method import Method
    from isinglass.select.settings import Run

# Criterion -> the options that it takes.
CRITERIA = {
    "two-stage": ("alphas", "gamma", "keep", "n_folds"),
    "stars": ("alphas", "threshold", "n_subsamples", "subsample_size", "alpha_min_ratio"),
    "ebic": ("alphas", "gamma", "relaxed", "alpha_min_ratio"),
    "cv": ("alphas", "n_folds", "cv_rule", "alpha_min_ratio"),
}
SEEDED = ("two-stage", "stars", "cv")
# Method -> in words.
METHODS = {
    "joint": "joint pseudo-likelihood",
    "nodewise": "one regression per column",
    "exact": "exact likelihood",
    "plg": "one stacked regression, as published (PLG)",
    "bmn": "Höfling and Tibshirani's algorithm (BMN)",
}
PUBLISHED = ("plg", "bmn")  # they stop by rules of their own
STANDARDIZED = ("joint", "nodewise", "exact")  # methods with a standardized penalty
REASONS = {
    "ebic": "the EBIC network is kept",
    "prediction": "that predicts too poorly: the sparsest network that keeps the gain is used instead",
    "empty": "nothing predicts held-out rows better than an empty network",
}


class Estimate:
    """What the user said about the estimate, by the fields of `Method` and its selectors."""

    def __init__(self, *, method: str, random_state: int, n_jobs: int, device: str | None, **values: Any) -> None:
        self.method, self.seed, self.n_jobs, self.device = method, random_state, n_jobs, device
        self.said = said = {name: value for name, value in values.items() if value is not None}
        if "rule" in said and method != "nodewise":
            raise click.UsageError(f"--rule needs --method nodewise, not {method}.")
        if "penalty_weights" in said and method not in STANDARDIZED:
            raise click.UsageError(f"--penalty-weights works with {', '.join(STANDARDIZED)}, not with {method}.")
        if device not in (None, "cpu"):
            if method != "joint":
                raise click.UsageError(f"--device works with joint, not with {method}.")
            from isinglass.solve.device import find_device

            find_device(device)
        names = ("rule", "tol", "max_iter", "penalty_weights")
        self.settings: dict[str, Any] = {name: said[name] for name in names if name in said}
        self._words = METHODS[method] + (f', rule "{said["rule"]}"' if "rule" in said else "")
        if "penalty_weights" in said:
            self._words += ", standardized penalty"

    def __str__(self) -> str:
        return self._words

    @property
    def record(self) -> dict[str, Any]:
        """The method and what was set, as --json has it."""
        return {"name": self.method, **self.settings}

    @property
    def criterion(self) -> str | None:
        """What chooses the penalty; None if it was given. Settings of other criteria are refused."""
        alpha, select = self.said.get("alpha"), self.said.get("select")
        if alpha is not None and select is not None:
            raise click.UsageError("--alpha and --select exclude each other.")
        if select == "two-stage" and self.method != "joint":
            raise click.UsageError(f"--select two-stage needs --method joint, not {self.method}.")
        chosen = None if alpha is not None else select or ("two-stage" if self.method == "joint" else "ebic")
        for option in SETTINGS:
            of = [criterion for criterion, names in CRITERIA.items() if option.name in names]
            if not of or not was_given(str(option.name)) or chosen in of:
                continue
            if chosen is None:
                raise click.UsageError(f"{option.opts[0]} is about selecting a penalty, and --alpha gives one.")
            raise click.UsageError(f"{option.opts[0]} needs --select {' or '.join(of)}, not {chosen}.")
        if isinstance(self.said.get("alphas"), list) and "alpha_min_ratio" in self.said:
            raise click.UsageError("--alpha-min-ratio needs --alphas COUNT, not a list of penalties.")
        return chosen

    def to_method(self, criterion: str | None, **more: Any) -> Method:
        """Return the method with this criterion; ``more`` are other settings of it."""
        from isinglass.select import SELECTORS, Fixed, Method

        if criterion is None:
            return Method(self.method, Fixed(self.said["alpha"]), **self.settings, **more)
        per_node = criterion == "ebic" and self.method == "nodewise"
        if per_node and isinstance(self.said.get("alphas"), list):
            raise click.UsageError("--alphas must be a count here: with nodewise and ebic every node has its own.")
        if per_node and "relaxed" in self.said:
            raise click.UsageError("--relaxed is not available with --method nodewise --select ebic.")
        said = {name.removeprefix("cv_"): self.said[name] for name in CRITERIA[criterion] if name in self.said}
        if criterion in SEEDED:
            said["random_state"] = self.seed
        selector = SELECTORS["per-node" if per_node else criterion](**said)
        return Method(self.method, selector, **self.settings, **more)

    def run(self, console: Console) -> Run:
        """Return how fits are run."""
        from isinglass.select.settings import Run

        return Run(**self.run_options(console), device=self.device)

    def run_options(self, console: Console) -> dict[str, Any]:
        """Return what long runs take beside a table, a method and a seed: the jobs, and whether there is a bar."""
        return {"n_jobs": self.n_jobs, "progress": console.progress_wanted}

    def fit(self, console: Console, data: Table, reading: dict[str, Any]) -> Fit:
        """Fit at alpha, or at the one that the criterion chooses; ``reading`` is how the table was read."""
        from dataclasses import replace

        criterion = self.criterion
        method, run = self.to_method(criterion), self.run(console)
        console.restart_clock()  # without the time that packages take to load
        # Criteria that are seeded have a bar of their own.
        with nullcontext() if criterion in SEEDED else console.progress("Fitting"):
            return replace(method.fit(data, run=run), reading=reading)

    def fit_path(self, console: Console, data: Table) -> Path:
        """Return the solutions along the alphas."""
        alphas = self.said.get("alphas", 30 if self.method == "exact" else 50)
        from isinglass.select.task import PathSettings

        paths, run = PathSettings(self.method, **self.settings), self.run(console)
        console.restart_clock()
        with console.progress("Path", total=alphas if isinstance(alphas, int) else len(alphas)) as advance:
            counted = self.method not in ("nodewise", "exact")  # they call nothing before they have ended
            callback = (lambda solution: advance()) if counted else None
            return paths.path(
                data, alphas, alpha_min_ratio=self.said.get("alpha_min_ratio"), callback=callback, run=run
            )

    def judge_path(self, path: Path, data: Table) -> dict[str, str]:
        """Say in words whether the fits of a path converged."""
        return judge(path.solutions, path.tol, shares_of(data), proved=self.method not in PUBLISHED)

    def summarize(self, again: str = "") -> str:
        """Say in words how networks are estimated many times; ``again`` is what happens to a selected penalty."""
        criterion = self.criterion
        return f"{self}; {'alpha given' if criterion is None else self.to_method(criterion).words + again}"


def describe_fit(found: Fit) -> dict[str, str]:
    """Return the facts of a fit for the summary."""
    solution = found.solution
    n_pairs = solution.n_features * (solution.n_features - 1) // 2
    signs = solution.network.edge_signs
    n_positive, n_negative = int((signs > 0).sum()), int((signs < 0).sum())
    unsigned = f", {int((signs == 0).sum())} without a sign" if (signs == 0).any() else ""
    alpha = "one per node" if solution.alpha != solution.alpha else f"{solution.alpha:.6g}"  # NaN: each node its own
    facts = {
        "Alpha": f"{alpha} ({found.chosen})",
        "Network": f"{plural(solution.n_edges, 'edge')} among {plural(n_pairs, 'pair')}, {n_positive} positive, "
        f"{n_negative} negative{unsigned}",
    }
    if found.stages:
        said = [f"{stage['criterion'].upper()} {plural(stage['n_edges'], 'edge')}" for stage in found.stages]
        reason = next(stage["reason"] for stage in found.stages if stage["network"])
        facts["Stages"] = f"{', then '.join(said)}; {REASONS[reason]}"
    return facts | judge([solution], found.tol, found.shares, proved=found.proves)


SELECTION = under(
    "Selecting the penalty",
    Option(
        "--alphas",
        ALPHAS,
        "Number of log-spaced penalties from alpha_max down, or an explicit list.",
        otherwise="30; --path: 50; nodewise with ebic: 100 per node",
    ),
    Option("--gamma", Number(min=0), "two-stage, ebic: higher values select fewer edges.", otherwise=0.25),
    Option("--folds n_folds", click.IntRange(2), "two-stage, cv: number of folds.", otherwise="5; cv: 10"),
    Option(
        "--cv-rule", OneOf("best", "1se"), "cv: best score, or sparsest within one standard error.", otherwise="best"
    ),
    Option("--threshold", Number(0, 0.5), "stars: largest instability that counts as stable.", otherwise=0.05),
    SEED,
    JOBS,
)
FINE_POINTS = under(
    ADVANCED,
    Option(
        "--alpha-min-ratio",
        Number(0, 1, min_open=True, max_open=True),
        "stars, ebic, cv: smallest penalty over alpha_max, if --alphas is a count.",
        otherwise="0.01; nodewise with ebic: 0.0001",
    ),
    Option("--subsamples n_subsamples", click.IntRange(2), "stars: number of subsamples.", otherwise=20),
    Option(
        *("--subsample-size", click.IntRange(2), "stars: rows per subsample."),
        otherwise="10 √rows, or 80 % of up to 144",
    ),
    Option("--relaxed/--no-relaxed", None, "ebic: score each network by its unpenalized estimate.", default=None),
    Option(
        "--keep",
        Number(0, 1),
        "two-stage: share of the best cross-validated gain to keep; 0 leaves the choice to the EBIC.",
        otherwise="0.95; 0.85 if there are no more rows than columns",
    ),
)
METHOD = under(
    "Method",
    Option(
        "--method",
        OneOf(*METHODS),
        "joint: pseudo-likelihood, certified optimal; nodewise: one regression per column, as IsingFit; "
        "exact: full likelihood, up to 20 columns; plg, bmn: earlier algorithms, as published.",
        default="joint",
    ),
    Option(
        "--rule",
        OneOf("and", "or", "mean", "min", "max"),
        "nodewise: how the two coefficients of a pair become one coupling.",
        otherwise="and",
    ),
    Option("--penalty-weights", OneOf("standardized"), "Penalize as if columns were standardized: rare columns less."),
)
SOLVER = under(
    ADVANCED,
    Option("--tol", Number(min=0, min_open=True), "Tolerance of the certificate.", otherwise="1e-7; bmn: 1e-5"),
    Option("--max-iter", click.IntRange(1), "Iterations before giving up."),
    Option(
        "--device",
        str,
        "joint: where to fit, cpu or a graphics processor such as cuda.",
        metavar="NAME",
        otherwise="ISINGLASS_DEVICE, else cpu",
    ),
)
SETTINGS = [*SELECTION, *FINE_POINTS]
ALPHA = Option("--alpha", Number(min=0), "Use this penalty instead of selecting one.", metavar="A")
SELECT = Option(
    "--select",
    OneOf(*CRITERIA),
    "Criterion: two-stage estimate, stability (stars), information (ebic) or prediction (cv).",
    otherwise="two-stage; methods other than joint: ebic",
)
ESTIMATE = Bundle("estimate", Estimate, [ALPHA, SELECT, *SETTINGS, *METHOD, *SOLVER])
"""For commands that estimate one network."""
SELECTING = Bundle("estimate", Estimate, [each for each in ESTIMATE.options[2:] if each.name != "cv_rule"])
"""For a command that tries all criteria, both rules of cross-validation included."""
