"""Which network: the method, what chooses the penalty, and the settings of both."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.console import Console, plural
from isinglass.cli.descriptions import judge, shares_of
from isinglass.cli.options import ADVANCED, JOBS, SEED, Bundle, Option, under, was_given
from isinglass.cli.values import ALPHAS, Number, OneOf

if TYPE_CHECKING:
    from isinglass.data import BinaryTable
    from isinglass.fit import Fit
    from isinglass.results import Path
    from isinglass.select.contract import Method, PathFunction

# Criterion -> in words, with its settings.
CRITERIA = {
    "two-stage": "two-stage, gamma {gamma:g}, {n_folds} folds, seed {random_state}",
    "stars": "StARS, instability up to {threshold:g} over {n_subsamples} subsamples, seed {random_state}",
    "ebic": "EBIC{nodes}, gamma {gamma:g}",
    "cv": 'cross-validation, {n_folds} folds, rule "{rule}", seed {random_state}',
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


def criteria_of(option: Option) -> list[str]:
    """Return the criteria that an option belongs to: its help begins with them."""
    words = CRITERIA if option.name == "alphas" else str(option.help).partition(":")[0].split(", ")
    return [word for word in words if word in CRITERIA]


class Estimate:
    """What the user said about the estimate, by the parameters of the library's functions."""

    def __init__(self, *, method: str, random_state: int, n_jobs: int, device: str | None, **values: Any) -> None:
        self.method, self.seed, self.n_jobs = method, random_state, n_jobs
        self.said = said = {name: value for name, value in values.items() if value is not None}
        if "rule" in said and method != "nodewise":
            raise click.UsageError(f"--rule needs --method nodewise, not {method}.")
        if "penalty_weights" in said and method not in STANDARDIZED:
            raise click.UsageError(f"--penalty-weights works with {', '.join(STANDARDIZED)}, not with {method}.")
        names = {"rule": "rule", "tol": TOLERANCE.get(method, "tol"), "max_iter": "max_iter"}
        # What was set, by the parameters of the path function.
        self.settings: dict[str, Any] = {name: said[option] for option, name in names.items() if option in said}
        self._words = METHODS[method] + (f', rule "{said["rule"]}"' if "rule" in said else "")
        if "penalty_weights" in said:
            self.settings |= STANDARDIZED[method]
            self._words += ", standardized penalty"
        if device is not None:
            self._use(device)

    def _use(self, device: str) -> None:
        """Fit there from now on, in processes that are started for it, too."""
        from isinglass.solve.device import find_device

        if device != "cpu":
            if self.method != "joint":
                raise click.UsageError(f"--device works with joint, not with {self.method}.")
            find_device(device)
        os.environ["ISINGLASS_DEVICE"] = device

    def __str__(self) -> str:
        return self._words

    @property
    def record(self) -> dict[str, Any]:
        """The method and what was set, as --json has it."""
        return {"name": self.method, **self.settings}

    def path_function(self, *grid: str) -> PathFunction:
        """Return the path function with its settings, and what was said about its grid."""
        from isinglass.select.method import path_function_of

        function = path_function_of(self.method, self.settings)
        said = {name: self.said[name] for name in grid if name in self.said}
        return functools.partial(function, **said) if said else function

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
            of = criteria_of(option)
            if not of or not was_given(str(option.name)) or chosen in of:
                continue
            if chosen is None:
                raise click.UsageError(f"{option.opts[0]} is about selecting a penalty, and --alpha gives one.")
            raise click.UsageError(f"{option.opts[0]} needs --select {' or '.join(of)}, not {chosen}.")
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
            if criterion in criteria_of(option) and option.name in self.said
        }
        return found | ({"random_state": self.seed} if criterion in SEEDED else {})

    def function(self, criterion: str | None, **more: Any) -> Method:
        """Return the fit as a function of a table, to be repeated on resamples; it can be pickled."""
        from isinglass.select.method import method_of

        return method_of(self.method, self.settings, criterion, {**self.choice(criterion), **more})

    def run_options(self, console: Console) -> dict[str, Any]:
        """Return what long runs take beside a table, a method and a seed: the jobs, and whether there is a bar."""
        return {"n_jobs": self.n_jobs, "progress": console.progress_wanted}

    def fit(self, console: Console, data: BinaryTable, reading: dict[str, Any]) -> Fit:
        """Fit at alpha, or at the one that the criterion chooses; ``reading`` is how the table was read."""
        from isinglass.select.outcome import fit_table

        criterion = self.criterion
        console.restart_clock()  # without the time that packages take to load
        run = self.run_options(console) if criterion in SEEDED else {}
        words: dict[str, Any] = {"chosen": self.describe(criterion), "reading": reading}
        # Criteria that are seeded have a bar of their own.
        with constants_named(data), nullcontext() if run else console.progress("Fitting"):
            return fit_table(data, self.method, self.settings, criterion, self.choice(criterion), **words, **run)

    def fit_path(self, console: Console, data: BinaryTable) -> Path:
        """Return the solutions along the alphas."""
        function = self.path_function("alphas", "alpha_min_ratio")
        taken = inspect.signature(function).parameters
        alphas = taken["alphas"].default
        console.restart_clock()
        with console.progress("Path", total=alphas if isinstance(alphas, int) else len(alphas)) as advance:
            counted = "callback" in taken and self.method != "nodewise"  # called once for each solution
            return function(data, **({"callback": lambda solution: advance()} if counted else {}))

    def judge_path(self, path: Path, data: BinaryTable) -> dict[str, str]:
        """Say in words whether the fits of a path converged."""
        return judge(path.solutions, path.tol, shares_of(data), proved=self.method not in PUBLISHED)

    def describe(self, criterion: str | None) -> str:
        """Say in words how the criterion was set."""
        if criterion is None:
            return "given"
        parameters = inspect.signature(self.function(criterion)).parameters
        chosen = {name: parameter.default for name, parameter in parameters.items()} | self.choice(criterion)
        relaxed = ", relaxed" if criterion == "ebic" and chosen.get("relaxed") else ""
        nodes = " of every node" if self.method == "nodewise" else ""
        return CRITERIA[criterion].format(**chosen, nodes=nodes) + relaxed

    def summarize(self, again: str = "") -> str:
        """Say in words how networks are estimated many times; ``again`` is what happens to a selected penalty."""
        criterion = self.criterion
        return f"{self}; {'alpha given' if criterion is None else self.describe(criterion) + again}"


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
