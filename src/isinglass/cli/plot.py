"""isinglass plot: figures."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.console import Console, csv_text
from isinglass.cli.groups import GROUPS, Groups
from isinglass.cli.models import Loaded
from isinglass.cli.options import ADVANCED, JOBS, MODEL, SEED, Option, command, flag, under, was_given
from isinglass.cli.output import METADATA, check_target, require_matplotlib, save_figure, write_file
from isinglass.cli.reading import READING_AGAIN, Reading
from isinglass.cli.values import IN_FILE, MODEL_FILE, OUT_FILE, Number, OneOf
from isinglass.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

    from isinglass.data import BinaryTable
    from isinglass.select import Bootstrap

FOLLOWED = 50
"""Alphas of a path that the fit did not make."""
PRINT_DPI = 300


@dataclass(frozen=True)
class Request:
    """What a figure is made of."""

    loaded: Loaded
    data: BinaryTable | None
    attributes: tuple[dict[str, list[str | None]], str | None]  # of the nodes, and which of them gives the colors
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

    def path(self) -> Any:
        """Return the path of the model: that of its fit, or one made from the table."""
        if hasattr(self.loaded.network, "path_") or self.data is None or not self.loaded.can_follow:
            remedy = "fit it with --method joint and without --alpha, or add TABLE, the table of the fit"
            return self.known("path_", remedy)
        self.loaded.check_fitted_to(self.data)
        return self.loaded.follow(self.data, FOLLOWED)

    def stability(self) -> Any:
        """Return what StARS found."""
        return self.known("stability_", "fit it with --select stars")

    def table(self) -> BinaryTable:
        """Return the table."""
        if self.data is None:
            raise click.UsageError("This figure needs TABLE, the table that the model was fitted to.")
        return self.data

    def measures(self) -> Any:
        """Return how well the nodes are predicted, and their other measures."""
        from isinglass.evaluate.metrics import node_table

        return node_table(self.loaded.model, self.table())

    def resamples(self) -> Bootstrap:
        """Fit resamples of the table as the model was fitted."""
        from isinglass.select.bootstrap import bootstrap

        self.known("solution_", "only the model of a fit knows how it was fitted")
        self.loaded.check_fitted_to(self.table())
        run = {name: self.settings[name] for name in ("n_boot", "random_state", "n_jobs", "progress")}
        return bootstrap(self.table(), self.loaded.network, **run)


def _network(ask: Request) -> Any:
    columns, color_by = ask.attributes
    settings = ask.settings
    ax = ask.ax
    if ax is None and settings["width"] is not None:
        ax = ask.plot.paper_axes(settings["width"])
    names = ("edge_color", "positive_only", "min_weight", "random_state", "inside", "sizes")
    return ask.plot.network(
        ask.loaded.model,
        ax,
        groups=None if color_by is None else columns[color_by],
        rings=ask.measures().accuracy if settings["rings"] else None,
        positions=None if settings["positions"] is None else _read_positions(settings["positions"]),
        legend={"corner": True, "outside": "outside", "none": False}[settings["legend"]],
        **{name: settings[name] for name in names},
    )


def _centrality(ask: Request) -> Any:
    result = ask.loaded.model if ask.data is None else ask.resamples()
    return ask.plot.centrality(result, width=ask.settings["width"] or 180.0)[0]


def _read_positions(file: str) -> dict[str, list[float]]:
    """Return the place of every node in a CSV file with the columns name, x and y, as --save-positions writes it."""
    with Path(file).open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    try:
        return {row["name"]: [float(row["x"]), float(row["y"])] for row in rows}
    except (KeyError, TypeError, ValueError):
        raise DataError(f"{file} must be a CSV file with the columns name, x and y.") from None


def _save_positions(file: Path, request: Request) -> None:
    """Write where the nodes lie."""
    network = request.loaded.model
    kept = network.weights >= request.settings["min_weight"]
    if request.settings["positive_only"]:
        kept &= network.edge_signs > 0
    places = request.loaded.place_nodes(request.settings["random_state"], kept)
    text = csv_text(
        ["name", "x", "y"], [[name, *place] for name, place in zip(network.names, places.tolist(), strict=True)]
    )
    write_file(str(file), text)


def _roc(ask: Request) -> Any:
    from isinglass.evaluate.metrics import roc_curve

    found = ask.path()
    if ask.settings["truth"] is None:
        raise click.UsageError("This figure needs --truth MODEL, the true network.")
    return ask.plot.roc(roc_curve(found, Loaded.open(ask.settings["truth"]).model), ask.ax)


def _differences(of: str) -> Callable[[Request], Any]:
    return lambda ask: ask.plot.bootstrap_differences(ask.resamples(), ask.ax, of=of, names=ask.names)


KINDS: dict[str, Callable[[Request], Any]] = {
    "network": _network,
    "centrality": _centrality,
    "strength": lambda ask: ask.plot.node_strength(ask.loaded.model, ask.ax),
    "predictability": lambda ask: ask.plot.predictability(ask.measures(), ask.ax),
    "path": lambda ask: ask.plot.path(ask.path(), ask.ax, names=ask.names, alpha=ask.loaded.network.alpha_),
    "certificate": lambda ask: ask.plot.certificate(ask.path(), ask.ax),
    "instability": lambda ask: ask.plot.instability(ask.stability(), ask.ax),
    "frequencies": lambda ask: ask.plot.edge_frequencies(ask.stability(), ask.ax, names=ask.names),
    "bootstrap": lambda ask: ask.plot.bootstrap_intervals(ask.resamples(), ask.ax, names=ask.names),
    "differences": _differences("edges"),
    "strength-differences": _differences("strength"),
    "roc": _roc,
}


@command(
    "plot",
    click.Argument(["kind"], type=OneOf(*KINDS), metavar="KIND"),
    MODEL,
    click.Argument(["table"], type=IN_FILE, required=False),
    Option("-o --output", OUT_FILE, "The figure: .png, .svg or .pdf.", required=True, metavar="FILE"),
    flag("--positive positive_only", "network: only positive edges."),
    Option("--edge-color", OneOf("sign", "group"), "network: color edges by sign or by group.", default="sign"),
    Option("--min-weight", Number(min=0), "network: leave out weaker edges.", default=0.0, show_default=False),
    Option("--truth", MODEL_FILE, "roc: the true network, such as a folder of simulate.", metavar="MODEL"),
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
    if output.suffix.lower() not in METADATA:
        raise click.BadParameter(f"{str(output)!r} must end in {', '.join(METADATA)}.", param_hint="'-o'")
    check_target(output, [model, table, groups.groups, settings["positions"]])
    require_matplotlib()
    loaded = Loaded.open(model)
    data = None if table is None else loaded.read_completed(console, loaded.recall(reading), table)
    attributes = groups.read(loaded.model.names)
    settings["progress"] = console.progress_wanted
    save_figure(
        lambda ax: KINDS[kind](Request(loaded, data, attributes, settings, ax)),
        output,
        size=size,
        dpi=PRINT_DPI if settings["width"] is not None and not was_given("dpi") else dpi,
        fill=kind == "network",
    )
    if save_positions is not None:
        _save_positions(save_positions, Request(loaded, data, attributes, settings, None))
    console.say_facts({"Wrote": f"{output}" + ("" if save_positions is None else f" and {save_positions}")})
