"""isinglass plot: figures."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from isinglass.atomic import replacing
from isinglass.cli.console import Console, csv_text
from isinglass.cli.figures import require_matplotlib, save_figure
from isinglass.cli.groups import GROUPS, Attributes, Groups
from isinglass.cli.models import SAME_OPTIONS, Loaded
from isinglass.cli.options import ADVANCED, IN_FILE, JOBS, MODEL, SEED, Option, command, was_given
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

NO_PATH = "fit it with --method joint and without --alpha, or add TABLE, the table of the fit"
FOLLOWED = 50
"""Alphas of a path that the fit did not make."""
ENDINGS = (".png", ".svg", ".pdf")
PRINT, PRINT_DPI = "For print", 300


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
    from isinglass.evaluate.metrics import node_table

    columns, color_by = request.attributes
    settings, model = request.settings, request.loaded.model
    names = ("edge_color", "positive_only", "min_weight", "random_state", "inside", "sizes")
    ax = request.ax
    if ax is None and settings["width"] is not None:
        ax = request.plot.paper_axes(settings["width"])
    drawn: Axes = request.plot.network(
        model,
        ax,
        groups=None if color_by is None else columns[color_by],
        rings=node_table(model, request.table()).accuracy if settings["rings"] else None,
        positions=None if settings["positions"] is None else _read_positions(settings["positions"]),
        legend={"corner": True, "outside": "outside", "none": False}[settings["legend"]],
        **{name: settings[name] for name in names},
    )
    return drawn


def _centrality(request: Request) -> Axes:
    result = request.loaded.model if request.data is None else request.resamples()
    width = request.settings["width"] or 180.0
    drawn: Axes = request.plot.centrality(result, width=width)[0]
    return drawn


def _read_positions(file: str) -> dict[str, list[float]]:
    """Return the place of every node in a CSV file with the columns name, x and y, as --save-positions writes it."""
    from isinglass.errors import DataError

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
    with replacing(file) as stream:
        stream.write(text.encode())


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
    "centrality": _centrality,
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
        "--edge-color", type=OneOf(["sign", "group"]), default="sign", help="network: color edges by sign or by group."
    ),
    Option(
        "--min-weight", type=Number(min=0), default=0.0, show_default=False, help="network: leave out weaker edges."
    ),
    Option(
        "--width", type=Number(min=20, max=1000), metavar="MM", section=PRINT, help="Width of the figure: 85 or 180."
    ),
    Option("--inside", is_flag=True, section=PRINT, help="network: write labels into the nodes."),
    Option(
        "--sizes",
        type=OneOf(["strength", "expected_influence", "closeness", "betweenness"]),
        section=PRINT,
        help="network: measure shown by the area of a node.",
    ),
    Option(
        "--rings", is_flag=True, section=PRINT, help="network: rings show how well nodes are predicted (needs TABLE)."
    ),
    Option(
        "--legend",
        type=OneOf(["corner", "outside", "none"]),
        default="corner",
        section=PRINT,
        help="network: where the legend is.",
    ),
    Option("--positions", type=IN_FILE, metavar="FILE", section=PRINT, help="network: CSV file with name, x and y."),
    Option(
        "--save-positions",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        section=PRINT,
        help="network: write the node positions, for --positions of another figure.",
    ),
    Option("--truth", type=MODEL_FILE, metavar="MODEL", help="roc: the true network, such as a folder of simulate."),
    Option(
        *("-B", "--resamples", "n_boot"),
        type=click.IntRange(min=1),
        default=200,
        help="bootstrap, differences: number of resamples.",
    ),
    Option("--size", type=(Number(1, 100),) * 2, metavar="WIDTH HEIGHT", section=ADVANCED, help="In inches."),
    Option("--dpi", type=click.IntRange(20, 1000), default=150, section=ADVANCED, help="Dots per inch of a .png."),
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
    if output.suffix.lower() not in ENDINGS:
        raise click.BadParameter(f"{str(output)!r} must end in {', '.join(ENDINGS)}.", param_hint="'-o'")
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
    if console.as_json:
        console.write_json("plot", {"kind": kind, "model": model, "file": str(output)})
