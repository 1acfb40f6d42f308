"""isinglass plot: figures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.console import Console
from isinglass.cli.figures import require_matplotlib, save_figure
from isinglass.cli.groups import GROUPS, Attributes, Groups
from isinglass.cli.models import MODEL, SAME_OPTIONS, Loaded
from isinglass.cli.options import IN_FILE, JOBS, MODEL_FILE, SEED, Number, Option, command
from isinglass.cli.output import check_target
from isinglass.cli.reading import READING, Reading

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

    from isinglass.data import BinaryTable
    from isinglass.results import Path as NetworkPath
    from isinglass.select import Bootstrap

__all__ = ["plot"]

NO_PATH = "fit it by --method joint without --alpha, so that there is a path, or add TABLE, the table of the fit"
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
    def names(self) -> tuple[str, ...]:
        """The names of the nodes."""
        return tuple(self.loaded.model.names)

    def known(self, attribute: str, remedy: str) -> Any:
        """Return the model if the fit left this attribute in it."""
        if not hasattr(self.loaded.network, attribute):
            raise click.UsageError(f"MODEL has nothing to draw this from: {remedy}.")
        return self.loaded.network

    def path(self) -> NetworkPath:
        """Return the path of the model: that of its fit, or one made from the table."""
        if hasattr(self.loaded.network, "path_") or self.data is None or not self.loaded.can_follow:
            path: NetworkPath = self.known("path_", NO_PATH).path_
            return path
        self.loaded.check_fitted_to(self.data, SAME_OPTIONS)
        return self.loaded.follow(self.data, FOLLOWED)

    def table(self) -> BinaryTable:
        """Return the table."""
        if self.data is None:
            raise click.UsageError("This figure needs TABLE, the table that the model was fitted to.")
        return self.data


def _network(request: Request) -> Axes:
    from isinglass.show.plot import network

    columns, color_by = request.attributes
    return network(
        request.loaded.model,
        request.ax,
        groups=None if color_by is None else columns[color_by],
        edge_color=request.settings["edge_color"],
        positive_only=request.settings["positive"],
        min_weight=request.settings["min_weight"],
        random_state=request.settings["seed"],
    )


def _strength(request: Request) -> Axes:
    from isinglass.show.plot import node_strength

    return node_strength(request.loaded.model, request.ax)


def _predictability(request: Request) -> Axes:
    from isinglass.evaluate.metrics import node_table
    from isinglass.show.plot import predictability

    data = request.table()
    return predictability(node_table(request.loaded.model, data), request.ax)


def _path(request: Request) -> Axes:
    from isinglass.show.plot import path

    return path(request.path(), request.ax, names=request.names, alpha=request.loaded.network.alpha_)


def _certificate(request: Request) -> Axes:
    from isinglass.show.plot import certificate

    return certificate(request.path(), request.ax)


def _instability(request: Request) -> Axes:
    from isinglass.show.plot import instability

    return instability(request.known("stability_", "fit it with --select stars").stability_, request.ax)


def _frequencies(request: Request) -> Axes:
    from isinglass.show.plot import edge_frequencies

    stability = request.known("stability_", "fit it with --select stars").stability_
    return edge_frequencies(stability, request.ax, names=request.names)


def _resamples(request: Request) -> Bootstrap:
    from isinglass.select.bootstrap import bootstrap

    fitted = request.known("solution_", "only the model of a fit says how it was fitted")
    request.loaded.check_fitted_to(request.table(), SAME_OPTIONS)
    return bootstrap(
        request.table(),
        fitted,
        n_boot=request.settings["resamples"],
        random_state=request.settings["seed"],
        n_jobs=request.settings["n_jobs"],
        progress=request.settings["progress"],
    )


def _bootstrap(request: Request) -> Axes:
    from isinglass.show.plot import bootstrap_intervals

    return bootstrap_intervals(_resamples(request), request.ax, names=request.names)


def _differences(request: Request, of: str = "edges") -> Axes:
    from isinglass.show.plot import bootstrap_differences

    return bootstrap_differences(_resamples(request), request.ax, of=of, names=request.names)


def _strength_differences(request: Request) -> Axes:
    return _differences(request, "strength")


def _roc(request: Request) -> Axes:
    from isinglass.evaluate.metrics import roc_curve
    from isinglass.show.plot import roc

    found = request.path()
    if request.settings["truth"] is None:
        raise click.UsageError("This figure needs --truth MODEL, the true network.")
    return roc(roc_curve(found, Loaded.open(request.settings["truth"]).model), request.ax)


KINDS: dict[str, Callable[[Request], Axes]] = {
    "network": _network,
    "strength": _strength,
    "predictability": _predictability,
    "path": _path,
    "certificate": _certificate,
    "instability": _instability,
    "frequencies": _frequencies,
    "bootstrap": _bootstrap,
    "differences": _differences,
    "strength-differences": _strength_differences,
    "roc": _roc,
}


@command(
    "plot",
    click.Argument(["kind"], type=click.Choice(list(KINDS)), metavar="KIND"),
    MODEL,
    click.Argument(["table"], type=IN_FILE, required=False),
    Option(
        "-o",
        "--output",
        type=click.Path(dir_okay=False, path_type=Path),
        required=True,
        metavar="FILE",
        help="The figure: .png, .svg or .pdf.",
    ),
    Option("--positive", is_flag=True, help="network: only the positive edges."),
    Option(
        "--edge-color",
        type=click.Choice(["sign", "group"]),
        default="sign",
        show_default=True,
        help="network: what the colours of the edges mean.",
    ),
    Option("--min-weight", type=Number(min=0), default=0.0, help="network: leave out weaker edges."),
    Option("--truth", type=MODEL_FILE, metavar="MODEL", help="roc: the true network, such as simulate's truth.npz."),
    Option(
        "-B",
        "--resamples",
        type=click.IntRange(min=1),
        default=200,
        show_default=True,
        help="bootstrap, differences: how many.",
    ),
    Option("--size", type=(Number(1, 100),) * 2, metavar="WIDTH HEIGHT", help="In inches."),
    Option("--dpi", type=click.IntRange(20, 1000), default=150, show_default=True, help="Dots per inch of a .png."),
    SEED,
    JOBS,
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
    r"""Draw a figure of MODEL, the model.npz of a fit.

    \b
      network               nodes and edges
      strength              the strength of every node
      predictability        how well every node is predicted (needs TABLE)
      path                  every coupling along the penalty (fitted without --alpha, or TABLE)
      certificate           how close to the optimum that is (the same)
      instability           how far subsamples disagree (fitted by --select stars)
      frequencies           the share of subsamples with each edge (the same)
      bootstrap             the interval of every edge over resamples (needs TABLE)
      differences           which edges differ over resamples (needs TABLE)
      strength-differences  which nodes differ in strength (the same)
      roc                   true edges against false ones (needs --truth, and a path)
    """
    if settings["edge_color"] == "group" and groups.groups is None:
        raise click.UsageError("--edge-color group needs --groups FILE, the attributes of the nodes.")
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
