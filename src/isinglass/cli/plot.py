"""isinglass plot: figures."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.console import Console, csv_text
from isinglass.cli.models import Loaded
from isinglass.cli.options import ADVANCED, JOBS, MODEL, SEED, Option, command, flag, under, was_given
from isinglass.cli.output import METADATA, check_target, require_matplotlib, save_figure, write_file
from isinglass.cli.reading import GROUPS, READING_AGAIN, Groups, Reading
from isinglass.cli.values import IN_FILE, OUT_FILE, Number, OneOf
from isinglass.errors import DataError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from isinglass.data import Table
    from isinglass.network import Network
    from isinglass.select import Bootstrap

FOLLOWED = 50  # alphas of a path that the fit did not make
PRINT_DPI = 300


@dataclass(frozen=True)
class Request:
    """What a figure is made of."""

    loaded: Loaded
    data: Table | None
    attributes: tuple[dict[str, list[str | None]], str | None]  # of the nodes, and which of them gives the colors
    settings: dict[str, Any]

    @property
    def model(self) -> Network:
        """The network."""
        return self.loaded.model

    def known(self, attribute: str, remedy: str) -> Any:
        """Return what the fit left in the model."""
        if not hasattr(self.loaded.network, attribute):
            raise click.UsageError(f"MODEL does not hold what this figure shows: {remedy}.")
        return getattr(self.loaded.network, attribute)

    def path(self) -> Any:
        """Return the path of the model: that of its fit, or one made from the table."""
        if hasattr(self.loaded.network, "path_") or self.data is None or not self.loaded.can_follow:
            remedy = "fit it with --method joint and without --alpha, or add TABLE, the table of the fit"
            return self.known("path_", remedy)
        self.loaded.check_fitted_to(self.data)
        return self.loaded.follow(self.data, FOLLOWED)

    def table(self) -> Table:
        """Return the table."""
        if self.data is None:
            raise click.UsageError("This figure needs TABLE, the table that the model was fitted to.")
        return self.data

    def resamples(self) -> Bootstrap:
        """Fit resamples of the table as the model was fitted."""
        from isinglass.select.bootstrap import bootstrap

        self.known("solution_", "only the model of a fit knows how it was fitted")
        self.loaded.check_fitted_to(self.table())
        run = {name: self.settings[name] for name in ("n_boot", "random_state", "n_jobs", "progress")}
        return bootstrap(self.table(), self.loaded.network, **run)


def _network(plot: Any, ask: Request, ax: Axes | None) -> Any:
    from isinglass.evaluate.metrics import node_table

    columns, color_by = ask.attributes
    settings = ask.settings
    if ax is None and settings["width"] is not None:
        ax = plot.paper_axes(settings["width"])
    names = ("edge_color", "positive_only", "min_weight", "random_state", "inside", "sizes")
    return plot.network(
        ask.model,
        ax,
        groups=None if color_by is None else columns[color_by],
        rings=node_table(ask.table(), ask.model).accuracy if settings["rings"] else None,
        positions=None if settings["positions"] is None else _read_positions(settings["positions"]),
        legend={"corner": True, "outside": "outside", "none": False}[settings["legend"]],
        **{name: settings[name] for name in names},
    )


def _centrality(plot: Any, ask: Request, ax: Axes | None) -> Any:
    result = ask.model if ask.data is None else ask.resamples()
    return plot.centrality(result, width=ask.settings["width"] or 180.0)[0]


def _differences(of: str) -> Callable[[Any, Request, Axes | None], Any]:
    return lambda plot, ask, ax: plot.bootstrap_differences(ask.resamples(), ax, of=of, names=ask.model.names)


# Name -> function of the module that draws, the request, and axes.
KINDS: dict[str, Callable[[Any, Request, Axes | None], Any]] = {
    "network": _network,
    "centrality": _centrality,
    "path": lambda plot, ask, ax: plot.path(ask.path(), ax, names=ask.model.names, alpha=ask.loaded.network.alpha_),
    "bootstrap": lambda plot, ask, ax: plot.bootstrap_intervals(ask.resamples(), ax, names=ask.model.names),
    "differences": _differences("edges"),
    "strength-differences": _differences("strength"),
}


def _read_positions(file: str) -> dict[str, list[float]]:
    """Return the place of every node in a CSV file with the columns name, x and y, as --save-positions writes it."""
    with Path(file).open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    try:
        return {row["name"]: [float(row["x"]), float(row["y"])] for row in rows}
    except (KeyError, TypeError, ValueError):
        raise DataError(f"{file} must be a CSV file with the columns name, x and y.") from None


def _save_positions(file: Path, ask: Request) -> None:
    """Write where the nodes lie."""
    network = ask.model
    kept = network.weights >= ask.settings["min_weight"]
    if ask.settings["positive_only"]:
        kept &= network.edge_signs > 0
    places = ask.loaded.place_nodes(ask.settings["random_state"], kept)
    text = csv_text(
        ["name", "x", "y"], [[name, *place] for name, place in zip(network.names, places.tolist(), strict=True)]
    )
    write_file(str(file), text)


@command(
    "plot",
    click.Argument(["kind"], type=OneOf(*KINDS), metavar="KIND"),
    MODEL,
    click.Argument(["table"], type=IN_FILE, required=False),
    Option("-o --output", OUT_FILE, "The figure: .png, .svg or .pdf.", required=True, metavar="FILE"),
    flag("--positive positive_only", "network: only positive edges."),
    Option("--edge-color", OneOf("sign", "group"), "network: color edges by sign or by group.", default="sign"),
    Option("--min-weight", Number(min=0), "network: leave out weaker edges.", default=0.0, show_default=False),
    Option("-B --resamples n_boot", click.IntRange(1), "bootstrap, differences: number of resamples.", default=200),
    *under(
        "For print",
        Option("--width", Number(20, 1000), "Width of the figure: 85 or 180.", metavar="MM"),
        flag("--inside", "network: write labels into the nodes."),
        Option(
            "--sizes",
            OneOf("strength", "expected_influence", "closeness", "betweenness"),
            "network: measure shown by the area of a node.",
        ),
        flag("--rings", "network: rings show how well nodes are predicted (needs TABLE)."),
        Option("--legend", OneOf("corner", "outside", "none"), "network: where the legend is.", default="corner"),
        Option("--positions", IN_FILE, "network: CSV file with name, x and y.", metavar="FILE"),
        Option(
            "--save-positions",
            OUT_FILE,
            "network: write the node positions, for --positions of another figure.",
            metavar="FILE",
        ),
    ),
    *under(
        ADVANCED,
        Option("--size", (Number(1, 100),) * 2, "In inches.", metavar="WIDTH HEIGHT"),
        Option("--dpi", click.IntRange(20, 1000), "Dots per inch of a .png.", default=150),
        SEED,
        JOBS,
    ),
    bundles=[GROUPS, READING_AGAIN],
    as_json=False,
)
def plot(
    console: Console,
    kind: str,
    model: str,
    table: str | None,
    output: Path,
    size: tuple[float, float] | None,
    dpi: int,
    save_positions: Path | None,
    groups: Groups,
    reading: Reading,
    **settings: Any,
) -> None:
    r"""Draw a figure of MODEL, the folder or the model.npz that `fit` wrote.

    \b
      network               nodes and edges
      centrality            measures of every node side by side (with TABLE: intervals)
      path                  couplings along the penalty (fit without --alpha, or add TABLE)
      bootstrap             interval of every edge over resamples (needs TABLE)
      differences           which edges differ (needs TABLE)
      strength-differences  which nodes differ in strength (needs TABLE)
    """
    if settings["edge_color"] == "group" and groups.groups is None:
        raise click.UsageError("--edge-color group needs --groups FILE.")
    if output.suffix.lower() not in METADATA:
        raise click.BadParameter(f"{str(output)!r} must end in {', '.join(METADATA)}.", param_hint="'-o'")
    check_target(output, [model, table, groups.groups, settings["positions"]])
    require_matplotlib()
    loaded = Loaded.open(model)
    data = None if table is None else loaded.read_completed(console, loaded.recall(reading), table)
    settings["progress"] = console.progress_wanted
    ask = Request(loaded, data, groups.read(loaded.model.names), settings)
    from isinglass.show import plot as figures

    save_figure(
        lambda ax: KINDS[kind](figures, ask, ax),
        output,
        size=size,
        dpi=PRINT_DPI if settings["width"] is not None and not was_given("dpi") else dpi,
        fill=kind == "network",
    )
    if save_positions is not None:
        _save_positions(save_positions, ask)
    console.say_facts({"Wrote": f"{output}" + ("" if save_positions is None else f" and {save_positions}")})
