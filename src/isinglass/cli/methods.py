"""Which estimate: the method and its settings, as a path function."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.options import Bundle, Number, Option

if TYPE_CHECKING:
    from collections.abc import Callable

    from isinglass.data import BinaryTable
    from isinglass.results import Path
    from isinglass.select.contract import PathFunction

__all__ = ["METHOD", "Method"]

# Name -> module, path function, what its tolerance is called, and what it is in words.
METHODS = {
    "joint": ("solve.path", "ising_path", "tol", "joint pseudo-likelihood"),
    "nodewise": ("solve.nodewise", "nodewise_path", "tol", "one regression per column"),
    "exact": ("solve.exact", "exact_path", "tol", "exact likelihood"),
    "plg": ("solve.published", "plg", "thresh", "one stacked regression, as published (PLG)"),
    "bmn": ("solve.published", "bmn", "tolerance", "Höfling and Tibshirani's algorithm (BMN)"),
}
STANDARDISE: dict[str, dict[str, Any]] = {
    "joint": {"penalty_weights": "standardized"},
    "nodewise": {"standardize": True},
    "exact": {"penalty_weights": "standardized"},
}
PUBLISHED = {"plg", "bmn"}  # as published: they stop by rules of their own, and have no estimator
ONE_BY_ONE = {"joint", "bmn"}  # the methods that tell when a solution is found


@dataclass(frozen=True)
class Method:
    """A method and its settings.

    Parameters
    ----------
    method : str
        One of ``METHODS``.
    rule : str, optional
        How two regressions become one coupling; only for "nodewise".
    penalty_weights : str, optional
        "standardized" or None.
    tol : float, optional
        Tolerance; the method's own by default.
    max_iter : int, optional
        Iterations; the method's own number by default.
    """

    method: str
    rule: str | None
    penalty_weights: str | None
    tol: float | None
    max_iter: int | None

    def __post_init__(self) -> None:
        if self.rule is not None and self.method != "nodewise":
            raise click.UsageError(f"--rule belongs to --method nodewise; got --method {self.method}.")
        if self.penalty_weights is not None and self.method not in STANDARDISE:
            known = ", ".join(STANDARDISE)
            raise click.UsageError(f"--penalty-weights works with the methods {known}; got --method {self.method}.")

    @property
    def settings(self) -> dict[str, Any]:
        """What was set, by the names of the path function's parameters."""
        tolerance = METHODS[self.method][2]
        given = {"rule": self.rule, tolerance: self.tol, "max_iter": self.max_iter}
        weights = STANDARDISE[self.method] if self.penalty_weights is not None else {}
        return {name: value for name, value in given.items() if value is not None} | weights

    @property
    def path_function(self) -> PathFunction:
        """The path function with its settings."""
        return self.with_settings()

    @property
    def proves(self) -> bool:
        """Whether the tolerance is one of the certificate, not of the method's own stopping rule."""
        return self.method not in PUBLISHED

    def with_settings(self, **more: Any) -> PathFunction:
        """Return the path function with its settings and some more."""
        module, name, _, _ = METHODS[self.method]
        function: PathFunction = getattr(import_module(f"isinglass.{module}"), name)
        settings = self.settings | more
        return functools.partial(function, **settings) if settings else function

    def fit_path(
        self,
        data: BinaryTable,
        alphas: int | list[float],
        *,
        advance: Callable[[], None] | None = None,
        **settings: Any,
    ) -> Path:
        """Return the solutions along the alphas; ``advance`` is called after each, where the method can."""
        if advance is not None and self.method in ONE_BY_ONE:
            settings["callback"] = lambda solution: advance()
        return self.path_function(data, alphas, **settings)  # names and weights come along

    @property
    def record(self) -> dict[str, Any]:
        """The method and what was set, as --json has it."""
        return {"name": self.method, **self.settings}

    def __str__(self) -> str:
        weights = ", standardized penalty" if self.penalty_weights else ""
        rule = f', rule "{self.rule}"' if self.rule else ""
        return METHODS[self.method][3] + rule + weights


METHOD = Bundle(
    "method",
    Method,
    [
        Option(
            "--method",
            type=click.Choice(list(METHODS)),
            default="joint",
            show_default=True,
            section="Method",
            help="joint: pseudo-likelihood, proved optimal; nodewise: one regression per column; exact: the likelihood "
            "itself, for few columns; plg, bmn: earlier methods, as published.",
        ),
        Option(
            "--rule",
            type=click.Choice(["and", "or", "mean", "min", "max"]),
            section="Method",
            help="nodewise: how two coefficients become one coupling.  [default: and]",
        ),
        Option(
            "--penalty-weights",
            type=click.Choice(["standardized"]),
            section="Method",
            help="Penalise rare columns less: the sum of the two standard deviations.",
        ),
        Option(
            "--tol",
            type=Number(min=0, min_open=True),
            section="Method",
            help="Tolerance of the certificate.  [default: 1e-7; bmn: 1e-5]",
        ),
        Option("--max-iter", type=click.IntRange(min=1), section="Method", help="Iterations before giving up."),
    ],
)
