"""isinglass plot: figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.attributes_file import Attributes
from isinglass.cli.command import command
from isinglass.cli.console import Console
from isinglass.cli.models import Loaded
from isinglass.cli.option_table import MAYBE_TABLE, MODEL, one_of
from isinglass.cli.output import output_file, require_matplotlib, write_file
from isinglass.cli.reading import READING_AGAIN, Reading, require_table

if TYPE_CHECKING:
    from types import ModuleType

    from matplotlib.axes import Axes

    from isinglass.data import Table
    from isinglass.select import Bootstrap

ENDINGS = (".png", ".svg", ".pdf")
FOLLOWED = 50  # alphas of a path that the fit did not make


@dataclass(frozen=True)
class Request:
    """What a figure is made of."""

    loaded: Loaded
    data: Table | None
    groups: list[str | None] | None  # of the nodes, for the colors and for bridges
    width: float | None  # in millimeters
    bootstrap: Path | None  # the folder of resamples

    def resamples(self, kind: str = "rows") -> Bootstrap:
        """Return the resamples that `isinglass bootstrap` wrote."""
        if self.bootstrap is None:
            maker = f"`isinglass bootstrap TABLE --kind {kind} -o FOLDER`"
            raise click.UsageError(f"This figure needs --bootstrap FOLDER, which {maker} writes.")
        return self.loaded.resamples(self.bootstrap, kind)


def _path(plot: ModuleType, ask: Request, ax: Axes | None) -> Axes:
    """Draw the path of the fit, or one made from the table."""
    fit = ask.loaded.fit
    if fit is None:
        raise click.UsageError("MODEL is a network alone, which has no path to draw: a fit of a table has one.")
    path = fit.selection.path
    if path is None and not ask.loaded.can_follow:
        raise click.UsageError(
            "MODEL has a penalty for each node, and no path to draw. Fit it with --method joint, or select one penalty "
            "for all nodes with --select cv or --select stars."
        )
    if path is None:
        if ask.data is None:
            raise click.UsageError(
                "MODEL was fitted at one penalty and has no path to draw. Fit it without --alpha, or add TABLE, "
                "the table of the fit."
            )
        path = ask.loaded.follow(ask.data, FOLLOWED)
    return plot.path(path.without_covariates(), ax, alpha=fit.solution.alpha)  # type: ignore[no-any-return]


def _check(plot: ModuleType, ask: Request, ax: Axes | None) -> Axes:
    """Draw the network's rows compared with those of the table."""
    if ask.data is None:
        raise click.UsageError("This figure needs TABLE, the table of the fit.")
    from isinglass.evaluate.checking import check_model

    return plot.check(check_model(ask.data, ask.loaded.result), ax)  # type: ignore[no-any-return]


def _centrality(plot: ModuleType, ask: Request, ax: Axes | None) -> Axes:
    from isinglass.evaluate.centrality import BRIDGES, MEASURES

    result = ask.loaded.network if ask.bootstrap is None else ask.resamples()
    measures = MEASURES if ask.groups is None else (*MEASURES, *BRIDGES)
    first: Axes = plot.centrality(result, of=measures, communities=ask.groups, width=ask.width or 180.0)[0]
    return first


# Name -> function of the module that draws, the request, and axes. Any: that module, and what it returns.
KINDS: dict[str, Callable[[Any, Request, Axes | None], Any]] = {
    "network": lambda plot, ask, ax: plot.network(ask.loaded.network, ax, groups=ask.groups),
    "centrality": _centrality,
    "path": _path,
    "bootstrap": lambda plot, ask, ax: plot.bootstrap_intervals(ask.resamples(), ax),
    "differences": lambda plot, ask, ax: plot.bootstrap_differences(ask.resamples(), ax),
    "strength-differences": lambda plot, ask, ax: plot.bootstrap_differences(ask.resamples(), ax, of="strength"),
    "check": _check,
    "stability": lambda plot, ask, ax: plot.stability(ask.resamples("case-drop"), ax),
}
# What only some of them use.
USED_BY = {
    "TABLE": ("path", "check"),
    "--attributes": ("network", "centrality"),
    "--bootstrap": ("centrality", "bootstrap", "differences", "strength-differences", "stability"),
}

KIND = click.Argument(["kind"], type=one_of(*KINDS), metavar="KIND")


@command("plot", KIND, MODEL, MAYBE_TABLE, bundles=[READING_AGAIN], general="")
def plot(
    console: Console,
    kind: str,
    model: str,
    table: str | None,
    output: Path | None,
    attributes: str | None,
    width: float | None,
    bootstrap: Path | None,
    reading: Reading,
) -> None:
    r"""Draw a figure of MODEL, the folder or the model.npz that `fit` wrote, to the file -o: .png, .svg or .pdf.

    \b
      network               nodes and edges
      centrality            measures of every node (with --bootstrap: intervals)
      path                  couplings along the penalty (after --alpha: add TABLE)
      check                 rows simulated from the network against those of TABLE
      bootstrap             interval of every edge over resamples
      differences           which edges differ
      strength-differences  which nodes differ in strength
      stability             measures as rows are dropped (CS-coefficients)

    The last four show what `isinglass bootstrap TABLE --kind all -o FOLDER` found: add --bootstrap FOLDER.

    Without -o the file is KIND.png; -o - prints the PNG. The functions of isinglass.plot in Python have more
    options: sizes, rings, positions, colors of edges.
    """
    output = output_file(output, f"{kind}.png", ENDINGS, [model, table, attributes])
    for word, given in (("TABLE", table), ("--attributes", attributes), ("--bootstrap", bootstrap)):
        if given is not None and kind not in USED_BY[word]:
            raise click.UsageError(f"{word} is for {', '.join(USED_BY[word])}; the figure {kind} does not use it.")
    require_table(table, reading)
    require_matplotlib()
    loaded = Loaded.open(model)
    groups = Attributes.read(attributes, loaded.network.variables).groups
    data = None if table is None else loaded.read_fitted(console, loaded.recall(reading), table)
    ask = Request(loaded, data, groups, width, bootstrap)
    from isinglass.show import plot as figures
    from isinglass.show.plot.canvas import figure_bytes

    def draw() -> Axes:
        ax = None if width is None or kind == "centrality" else figures.paper_axes(width)
        return KINDS[kind](figures, ask, ax)  # type: ignore[no-any-return]

    write_file(console, output, figure_bytes(draw, ".png" if output is None else output.suffix.lower()))
