"""isinglass plot: figures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.console import Console
from isinglass.cli.figures import require_matplotlib, save_figure
from isinglass.cli.groups import GROUPS, Attributes, Groups
from isinglass.cli.models import SAME_OPTIONS, Loaded
from isinglass.cli.options import ADVANCED, IN_FILE, JOBS, MODEL, SEED, Option, command
from isinglass.cli.output import check_target
from isinglass.cli.reading import READING, Reading
from isinglass.cli.values import MODEL_FILE, Number, OneOf

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

    from isinglass.data import BinaryTable
    from isinglass.results import Path as NetworkPath
    from isinglass.results import Stability
    from isinglass.select import Bootstrap

__all__ = ["plot"]

NO_PATH = "fit it with --method joint and without --alpha, or add TABLE, the table of the fit"
FOLLOWED = 50
"""Alphas of a path that the fit did not make."""
ENDINGS = (".png", ".svg", ".pdf")


@dataclass(frozen=True)
class Request:
    """What a figure is made of."""

    loaded: Loaded
    data: BinaryTable | None
    attributes: Attributes
    settings: dict[str, Any]
    ax: Axes | None

    @property
    def plot(self) -> Any:
        """The functions that draw."""
        from isinglass.show import plot

        return plot

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the nodes."""
        return tuple(self.loaded.model.names)

    def known(self, attribute: str, remedy: str) -> Any:
        """Return what the fit left in the model."""
        if not hasattr(self.loaded.network, attribute):
            raise click.UsageError(f"MODEL does not hold what this figure shows: {remedy}.")
        return getattr(self.loaded.network, attribute)

    def path(self) -> NetworkPath:
        """Return the path of the model: that of its fit, or one made from the table."""
        if hasattr(self.loaded.network, "path_") or self.data is None or not self.loaded.can_follow:
            return self.known("path_", NO_PATH)  # type: ignore[no-any-return]
        self.loaded.check_fitted_to(self.data, SAME_OPTIONS)
        return self.loaded.follow(self.data, FOLLOWED)

    def stability(self) -> Stability:
        """Return what StARS found."""
        return self.known("stability_", "fit it with --select stars")  # type: ignore[no-any-return]

    def table(self) -> BinaryTable:
        """Return the table."""
        if self.data is None:
            raise click.UsageError("This figure needs TABLE, the table that the model was fitted to.")
        return self.data

    def resamples(self) -> Bootstrap:
        """Fit resamples of the table as the model was fitted."""
        from isinglass.select.bootstrap import bootstrap

        self.known("solution_", "only the model of a fit knows how it was fitted")
        self.loaded.check_fitted_to(self.table(), SAME_OPTIONS)
        run = {name: self.settings[name] for name in ("n_boot", "random_state", "n_jobs", "progress")}
        return bootstrap(self.table(), self.loaded.network, **run)


def _network(request: Request) -> Axes:
    columns, color_by = request.attributes
    names = ("edge_color", "positive_only", "min_weight", "random_state")
    drawn: Axes = request.plot.network(
        request.loaded.model,
        request.ax,
        groups=None if color_by is None else columns[color_by],
        **{name: request.settings[name] for name in names},
    )
    return drawn


def _predictability(request: Request) -> Axes:
    from isinglass.evaluate.metrics import node_table

    drawn: Axes = request.plot.predictability(node_table(request.loaded.model, request.table()), request.ax)
    return drawn


def _roc(request: Request) -> Axes:
    from isinglass.evaluate.metrics import roc_curve

    found = request.path()
    if request.settings["truth"] is None:
        raise click.UsageError("This figure needs --truth MODEL, the true network.")
    drawn: Axes = request.plot.roc(roc_curve(found, Loaded.open(request.settings["truth"]).model), request.ax)
    return drawn


KINDS: dict[str, Callable[[Request], Axes]] = {
    "network": _network,
    "strength": lambda ask: ask.plot.node_strength(ask.loaded.model, ask.ax),
    "predictability": _predictability,
    "path": lambda ask: ask.plot.path(ask.path(), ask.ax, names=ask.names, alpha=ask.loaded.network.alpha_),
    "certificate": lambda ask: ask.plot.certificate(ask.path(), ask.ax),
    "instability": lambda ask: ask.plot.instability(ask.stability(), ask.ax),
    "frequencies": lambda ask: ask.plot.edge_frequencies(ask.stability(), ask.ax, names=ask.names),
    "bootstrap": lambda ask: ask.plot.bootstrap_intervals(ask.resamples(), ask.ax, names=ask.names),
    "differences": lambda ask: ask.plot.bootstrap_differences(ask.resamples(), ask.ax, of="edges", names=ask.names),
    "strength-differences": lambda ask: ask.plot.bootstrap_differences(
        ask.resamples(), ask.ax, of="strength", names=ask.names
    ),
    "roc": _roc,
}


@command(
    "plot",
    click.Argument(["kind"], type=OneOf(list(KINDS)), metavar="KIND"),
    MODEL,
    click.Argument(["table"], type=IN_FILE, required=False),
    Option(
        *("-o", "--output"),
        type=click.Path(dir_okay=False, path_type=Path),
        required=True,
        metavar="FILE",
        help="The figure: .png, .svg or .pdf.",
    ),
    Option("--positive", "positive_only", is_flag=True, help="network: only positive edges."),
    Option(
        "--edge-color",
        type=OneOf(["sign", "group"]),
        default="sign",
        show_default=True,
        help="network: color edges by sign or by group.",
    ),
    Option("--min-weight", type=Number(min=0), default=0.0, help="network: leave out weaker edges."),
    Option("--truth", type=MODEL_FILE, metavar="MODEL", help="roc: the true network, such as a folder of simulate."),
    Option(
        *("-B", "--resamples", "n_boot"),
        type=click.IntRange(min=1),
        default=200,
        show_default=True,
        help="bootstrap, differences: number of resamples.",
    ),
    Option("--size", type=(Number(1, 100),) * 2, metavar="WIDTH HEIGHT", section=ADVANCED, help="In inches."),
    Option(
        "--dpi",
        type=click.IntRange(20, 1000),
        default=150,
        show_default=True,
        section=ADVANCED,
        help="Dots per inch of a .png.",
    ),
    SEED.under(ADVANCED),
    JOBS.under(ADVANCED),
    bundles=[GROUPS, READING],
)
def plot(
    console: Console,
    kind: str,
    model: str,
    table: str | None,
    output: Path,
    size: tuple[float, float] | None,
    dpi: int,
    groups: Groups,
    reading: Reading,
    **settings: Any,
) -> None:
    r"""Draw a figure of MODEL, the folder or the model.npz that `fit` wrote.

    \b
      network               nodes and edges
      strength              strength of every node
      predictability        how well each node is predicted (needs TABLE)
      path                  couplings along the penalty (fit without --alpha, or add TABLE)
      certificate           distance from the optimum along the penalty (the same)
      instability           how much subsamples disagree (fit with --select stars)
      frequencies           share of subsamples with each edge (the same)
      bootstrap             interval of every edge over resamples (needs TABLE)
      differences           which edges differ (needs TABLE)
      strength-differences  which nodes differ in strength (needs TABLE)
      roc                   true against false edges (needs --truth, and a path)
    """
    if settings["edge_color"] == "group" and groups.groups is None:
        raise click.UsageError("--edge-color group needs --groups FILE.")
    if output.suffix.lower() not in ENDINGS:
        raise click.BadParameter(f"{str(output)!r} must end in {', '.join(ENDINGS)}.", param_hint="'-o'")
    check_target(output, [model, table, groups.groups])
    require_matplotlib()
    loaded = Loaded.open(model)
    data = None if table is None else loaded.read_table(console, loaded.recall(reading), table)
    attributes = groups.read(loaded.model.names)
    settings["progress"] = console.progress_wanted
    save_figure(
        lambda ax: KINDS[kind](Request(loaded, data, attributes, settings, ax)),
        output,
        size=size,
        dpi=dpi,
        fill=kind == "network",
    )
    console.say_facts({"Wrote": str(output)})
    if console.as_json:
        console.write_json("plot", {"kind": kind, "model": model, "file": str(output)})
