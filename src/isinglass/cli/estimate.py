"""Which network: the method, what chooses the penalty, and the settings of both."""

from __future__ import annotations

import dataclasses
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.command import Bundle
from isinglass.cli.console import Console
from isinglass.cli.descriptions import METHODS, describe_table
from isinglass.cli.option_table import METHOD, OPTIONS, SELECTING, under
from isinglass.json_text import JsonObject

if TYPE_CHECKING:
    from isinglass.data import Table
    from isinglass.fit import Fit
    from isinglass.select import Run, Selector

CRITERIA = OPTIONS["select"].type.choices  # type: ignore[attr-defined]


class Estimate:
    """What the user said about the estimate, by the fields of `Method`, of its selectors and of `Run`.

    An option is the field that has its name. One of a selector belongs to the criteria whose selector has that field,
    and is refused with others.
    """

    def __init__(
        self,
        *,
        method: str,
        alpha: float | None,
        select: str | None,
        random_state: int,
        n_jobs: int,
        **values: Any,  # Any: options of the command line
    ) -> None:
        from isinglass.select import Method

        self.alpha, self.seed, self.n_jobs = alpha, random_state, n_jobs
        self.criterion, selector = _selector(method, alpha, select)  # None: the penalty is given
        said = {name: value for name, value in {"alpha": alpha, **values}.items() if value is not None}
        general = {name: said.pop(name) for name in [*said] if name in _fields(Method)}
        _refuse_others(said, self.criterion, selector)
        self._seeded = "random_state" in _fields(selector)
        chosen = selector(**said, **({"random_state": self.seed} if self._seeded else {}))
        self.method = Method(method, chosen, **general)
        self.record = {"name": method, **general}
        self._words = METHODS[method] + (", standardized penalty" if "penalty_weights" in general else "")

    def __str__(self) -> str:
        return self._words

    def run(self, console: Console, **more: Any) -> Run:  # Any: fields of a run
        """Return how something is run: the jobs, whether there is a bar, and more."""
        from isinglass.select import Run

        return Run(n_jobs=self.n_jobs, progress=console.progress_wanted, **more)

    def fit(
        self,
        console: Console,
        data: Table,
        *,
        device: str | None = None,
        max_time: float | None = None,
        fdr: float | None = None,
    ) -> Fit:
        """Fit at alpha, or at the one that the criterion chooses."""
        console.restart_clock()  # without the time that packages take to load
        with nullcontext() if self._seeded else console.progress("Fitting"):  # seeded criteria have a bar of their own
            return self.method.replace(fdr=fdr).fit(data, run=self.run(console, device=device, max_time=max_time))

    def describe(self, data: Table) -> JsonObject:
        """Return what was read and how networks were estimated from it, as --json prints it."""
        return {"table": describe_table(data), "method": self.record, "seed": self.seed}

    def summarize(self, again: str = "") -> str:
        """Say in words how networks are estimated many times; ``again`` is what happens to a selected penalty."""
        chosen = self.method.selector.words + again if self.alpha is None else f"alpha {self.alpha:g}, given"
        return f"{self}; {chosen}"


def _selector(method: str, alpha: float | None, select: str | None) -> tuple[str | None, type[Selector]]:
    """Return the criterion, None if the penalty is given, and the class of selectors that it stands for."""
    from isinglass.select import SELECTORS, Fixed, PerNode

    if alpha is not None:
        if select is not None:
            raise click.UsageError("Use either --alpha or --select, not both.")
        return None, Fixed
    criterion = select or ("two-stage" if method == "joint" else "ebic")
    if method != "joint" and criterion == "two-stage":
        raise click.UsageError(f"--select two-stage needs --method joint, not {method}.")
    return criterion, PerNode if (method, criterion) == ("nodewise", "ebic") else SELECTORS[criterion]


def _refuse_others(said: JsonObject, criterion: str | None, selector: type[Selector]) -> None:
    """Refuse an option that the selector does not have, and penalties for all nodes where each has its own."""
    from isinglass.select import SELECTORS, PerNode

    for name in (each for each in said if each not in _fields(selector)):
        option = OPTIONS[name].opts[0]
        if criterion is None:
            raise click.UsageError(
                f"{option} is used only to select a penalty, and --alpha sets it. Leave one of the two out."
            )
        of = " or ".join(each for each in CRITERIA if name in _fields(SELECTORS[each]))
        raise click.UsageError(f"{option} needs --select {of}, not {criterion}.")
    if selector is PerNode and isinstance(said.get("alphas"), list):
        raise click.UsageError(
            "--alphas must be a number of penalties here, because --method nodewise --select ebic makes a list for "
            "each node."
        )


def _fields(record: type) -> set[str]:
    """Return the names of the settings of a record."""
    return {field.name for field in dataclasses.fields(record)}


ESTIMATE = Bundle("estimate", Estimate, [*under(SELECTING, METHOD), "random_state", "n_jobs"])
"""For commands that estimate one network."""
