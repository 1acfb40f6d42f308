"""Which network: the method, what chooses the penalty, and the settings of both."""

from __future__ import annotations

import functools
import inspect
import os
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.console import plural
from isinglass.cli.options import ADVANCED, JOBS, SEED, Bundle, Option, under, was_given
from isinglass.cli.values import ALPHAS, Number, OneOf

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isinglass.cli.console import Console
    from isinglass.data import BinaryTable
    from isinglass.fit import Fit
    from isinglass.results import Path
    from isinglass.select.contract import Method, PathFunction

SECTION, METHOD_SECTION = "Selecting the penalty", "Method"
CRITERIA = ("two-stage", "stars", "ebic", "cv")
SEEDED = ("two-stage", "stars", "cv")
# Method -> in words.
METHODS = {
    "joint": "joint pseudo-likelihood",
    "nodewise": "one regression per column",
    "exact": "exact likelihood",
    "plg": "one stacked regression, as published (PLG)",
    "bmn": "Höfling and Tibshirani's algorithm (BMN)",
}
TOLERANCE = {"plg": "thresh", "bmn": "tolerance"}
STANDARDIZED: dict[str, dict[str, Any]] = {
    "joint": {"penalty_weights": "standardized"},
    "nodewise": {"standardize": True},
    "exact": {"penalty_weights": "standardized"},
}
PUBLISHED = ("plg", "bmn")  # they stop by rules of their own
REASONS = {
    "ebic": "the EBIC network is kept",
    "prediction": "that predicts too poorly: the sparsest network that keeps the gain is used instead",
    "empty": "nothing predicts held-out rows better than an empty network",
}


def _use(device: str, method: str) -> None:
    """Fit there from now on, in processes that are started for it, too."""
    from isinglass.solve.device import find_device

    if device != "cpu":
        if method != "joint":
            raise click.UsageError(f"--device works with joint, not with {method}.")
        find_device(device)
    os.environ["ISINGLASS_DEVICE"] = device


class Estimate:
    """What the user said about the estimate, by the parameters of the library's functions."""

    def __init__(self, *, method: str, random_state: int, n_jobs: int, device: str | None, **values: Any) -> None:
        self.method, self.seed, self.n_jobs = method, random_state, n_jobs
        self.said = {name: value for name, value in values.items() if value is not None}
        if "rule" in self.said and method != "nodewise":
            raise click.UsageError(f"--rule needs --method nodewise, not {method}.")
        if "penalty_weights" in self.said and method not in STANDARDIZED:
            raise click.UsageError(f"--penalty-weights works with {', '.join(STANDARDIZED)}, not with {method}.")
        if device is not None:
            _use(device, method)

    # ------------------------------------------------------------------------------------- method

    @property
    def settings(self) -> dict[str, Any]:
        """What was set, by the parameters of the path function."""
        names = {"rule": "rule", "tol": TOLERANCE.get(self.method, "tol"), "max_iter": "max_iter"}
        given = {names[name]: self.said[name] for name in names if name in self.said}
        return given | (STANDARDIZED[self.method] if "penalty_weights" in self.said else {})

    @property
    def path_function(self) -> PathFunction:
        """The path function with its settings."""
        from isinglass.select.method import path_function_of

        return path_function_of(self.method, self.settings)

    @property
    def grid_function(self) -> PathFunction:
        """The path function with its settings and the ratio of its grid."""
        grid = {name: self.said[name] for name in ("alpha_min_ratio",) if name in self.said}
        return functools.partial(self.path_function, **grid) if grid else self.path_function

    @property
    def proves(self) -> bool:
        """Whether the tolerance is one of the certificate, not of the method's own stopping rule."""
        return self.method not in PUBLISHED

    @property
    def record(self) -> dict[str, Any]:
        """The method and what was set, as --json has it."""
        return {"name": self.method, **self.settings}

    def __str__(self) -> str:
        rule = f', rule "{self.said["rule"]}"' if "rule" in self.said else ""
        return METHODS[self.method] + rule + (", standardized penalty" if "penalty_weights" in self.said else "")

    # ------------------------------------------------------------------------------------- criterion

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
            if not option.of or not was_given(str(option.name)) or chosen in option.of:
                continue
            if chosen is None:
                raise click.UsageError(f"{option.opts[0]} is about selecting a penalty, and --alpha gives one.")
            raise click.UsageError(f"{option.opts[0]} needs --select {' or '.join(option.of)}, not {chosen}.")
        if isinstance(self.said.get("alphas"), list) and "alpha_min_ratio" in self.said:
            raise click.UsageError("--alpha-min-ratio needs --alphas COUNT, not a list of penalties.")
        return chosen

    def choice(self, criterion: str | None) -> dict[str, Any]:
        """Return the settings of a criterion by the parameters of its function; or alpha."""
        if criterion is None:
            return {"alpha": self.said["alpha"]}
        if criterion == "ebic" and self.method == "nodewise":
            if isinstance(self.said.get("alphas"), list):
                raise click.UsageError("--alphas must be a count here: with nodewise and ebic every node has its own.")
            if "relaxed" in self.said:
                raise click.UsageError("--relaxed is not available with --method nodewise --select ebic.")
        found = {
            "rule" if option.name == "cv_rule" else str(option.name): self.said[str(option.name)]
            for option in SETTINGS
            if criterion in option.of and option.name in self.said
        }
        return found | ({"random_state": self.seed} if criterion in SEEDED else {})

    def function(self, criterion: str | None, **more: Any) -> Method:
        """Return the fit as a function of a table, to be repeated on resamples; it can be pickled."""
        from isinglass.select.method import method_of

        return method_of(self.method, self.settings, criterion, {**self.choice(criterion), **more})

    def run_options(self, console: Console) -> dict[str, Any]:
        """Return what long runs take beside a table and a method: the seed, the jobs, and whether there is a bar."""
        return {"random_state": self.seed, "n_jobs": self.n_jobs, "progress": console.progress_wanted}

    def fit(self, console: Console, data: BinaryTable, reading: dict[str, Any]) -> Fit:
        """Fit at alpha, or at the one that the criterion chooses; ``reading`` is how the table was read."""
        from isinglass.select.outcome import fit_table

        criterion = self.criterion
        console.restart_clock()  # without the time that packages take to load
        run = {"n_jobs": self.n_jobs, "progress": console.progress_wanted} if criterion in SEEDED else {}
        # Criteria that are seeded have a bar of their own.
        with constants_named(data), nullcontext() if run else console.progress("Fitting"):
            return fit_table(
                data,
                self.method,
                self.settings,
                criterion,
                self.choice(criterion),
                chosen=self.describe(criterion),
                reading=reading,
                **run,
            )

    def fit_path(self, console: Console, data: BinaryTable) -> Path:
        """Return the solutions along the alphas."""
        given: dict[str, Any] = {name: self.said[name] for name in ("alphas", "alpha_min_ratio") if name in self.said}
        function = self.path_function
        console.restart_clock()
        alphas = given.get("alphas", inspect.signature(function).parameters["alphas"].default)
        with console.progress("Path", total=alphas if isinstance(alphas, int) else len(alphas)) as advance:
            if "callback" in inspect.signature(function).parameters and self.method != "nodewise":
                given["callback"] = lambda solution: advance()  # called once for each solution
            return function(data, **given)

    def describe(self, criterion: str | None) -> str:
        """Say in words how the criterion was set."""
        if criterion is None:
            return "given"
        every_node = criterion == "ebic" and self.method == "nodewise"
        function = inspect.signature(self.function(criterion))
        chosen = {name: parameter.default for name, parameter in function.parameters.items()} | self.choice(criterion)
        if criterion == "stars":
            where = f"instability up to {chosen['threshold']:g} over {chosen['n_subsamples']} subsamples"
            return f"StARS, {where}, seed {self.seed}"
        if criterion == "two-stage":
            return f"two-stage, gamma {chosen['gamma']:g}, {chosen['n_folds']} folds, seed {self.seed}"
        if criterion == "ebic":
            return f"EBIC{' of every node' if every_node else ''}, gamma {chosen['gamma']:g}" + (
                ", relaxed" if chosen.get("relaxed") else ""
            )
        return f'cross-validation, {chosen["n_folds"]} folds, rule "{chosen["rule"]}", seed {self.seed}'


@contextmanager
def constants_named(data: BinaryTable) -> Iterator[None]:
    """Warn of constant columns by their names, once, and not again inside the block, where names may be unknown."""
    from isinglass.data.table import RowTable
    from isinglass.errors import ConstantColumnWarning, suppress_warnings
    from isinglass.solve.estimable import name_constant

    if not isinstance(data, RowTable):  # in parts: its rows are read by the fit alone
        yield
        return
    name_constant(data, data.sample_weight)
    with suppress_warnings(ConstantColumnWarning):
        yield


def describe_fit(found: Fit) -> dict[str, str]:
    """Return the facts of a fit for the summary."""
    from isinglass.cli.descriptions import judge

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
    return facts | judge([solution], found.tol, found.marginals, proved=found.proves)


SETTINGS = [
    *under(
        SECTION,
        Option(
            "--alphas",
            type=ALPHAS,
            of=CRITERIA,
            otherwise="30; --path: 50; nodewise with ebic: 100 per node",
            help="Number of log-spaced penalties from alpha_max down, or an explicit list.",
        ),
        Option(
            "--gamma",
            type=Number(min=0),
            of=("two-stage", "ebic"),
            otherwise=0.25,
            help="two-stage, ebic: penalty on large networks; higher values select fewer edges.",
        ),
        Option(
            "--folds",
            "n_folds",
            type=click.IntRange(min=2),
            of=("two-stage", "cv"),
            otherwise="5; cv: 10",
            help="two-stage, cv: number of cross-validation folds.",
        ),
        Option(
            "--cv-rule",
            type=OneOf(["best", "1se"]),
            of=("cv",),
            otherwise="best",
            help="cv: the best score, or the sparsest network within one standard error of it.",
        ),
        Option(
            "--threshold",
            type=Number(0, 0.5),
            of=("stars",),
            otherwise=0.05,
            help="stars: largest instability that counts as stable.",
        ),
        SEED,
        JOBS,
    ),
    *under(
        ADVANCED,
        Option(
            "--alpha-min-ratio",
            type=Number(0, 1, min_open=True, max_open=True),
            of=("stars", "ebic", "cv"),
            otherwise="0.01; nodewise with ebic: 0.0001",
            help="Smallest penalty over alpha_max, if --alphas is a count.",
        ),
        Option(
            "--subsamples",
            "n_subsamples",
            type=click.IntRange(min=2),
            of=("stars",),
            otherwise=20,
            help="stars: number of subsamples.",
        ),
        Option(
            "--subsample-size",
            type=click.IntRange(min=2),
            of=("stars",),
            otherwise="10 √rows, or 80 % of up to 144",
            help="stars: rows per subsample.",
        ),
        Option(
            "--relaxed/--no-relaxed",
            default=None,
            of=("ebic",),
            help="ebic: score each network by its unpenalized estimate.",
        ),
        Option(
            "--keep",
            type=Number(0, 1),
            of=("two-stage",),
            otherwise="0.95; 0.85 if there are no more rows than columns",
            help="two-stage: share of the best cross-validated gain to keep; 0 leaves the choice to the EBIC.",
        ),
    ),
]
METHOD = [
    *under(
        METHOD_SECTION,
        Option(
            "--method",
            type=OneOf(list(METHODS)),
            default="joint",
            help="joint: pseudo-likelihood, certified optimal; nodewise: one regression per column, as IsingFit; "
            "exact: full likelihood, up to 20 columns; plg, bmn: earlier algorithms, as published.",
        ),
        Option(
            "--rule",
            type=OneOf(["and", "or", "mean", "min", "max"]),
            otherwise="and",
            help="nodewise: how the two coefficients of a pair become one coupling.",
        ),
        Option(
            "--penalty-weights",
            type=OneOf(["standardized"]),
            help="Penalize as if columns were standardized: rare columns less.",
        ),
    ),
    *under(
        ADVANCED,
        Option(
            "--tol",
            type=Number(min=0, min_open=True),
            otherwise="1e-7; bmn: 1e-5",
            help="Tolerance of the certificate.",
        ),
        Option("--max-iter", type=click.IntRange(min=1), help="Iterations before giving up."),
        Option(
            "--device",
            metavar="NAME",
            otherwise="ISINGLASS_DEVICE, else cpu",
            help="joint: where to fit, cpu or a graphics processor such as cuda.",
        ),
    ),
]
ALPHA = Option("--alpha", type=Number(min=0), metavar="A", help="Use this penalty instead of selecting one.")
SELECT = Option(
    "--select",
    type=OneOf(CRITERIA),
    otherwise="two-stage; methods other than joint: ebic",
    help="Criterion: two-stage estimate, stability (stars), information (ebic) or prediction (cv).",
)
ESTIMATE = Bundle("estimate", Estimate, [ALPHA, SELECT, *SETTINGS, *METHOD])
"""For commands that estimate one network."""
SELECTING = Bundle("estimate", Estimate, [*SETTINGS, *METHOD])
"""For a command that tries all criteria."""
