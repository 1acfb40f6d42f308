"""isinglass simulate: a random network and a table drawn from it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from isinglass.cli.console import Console, csv_text, format_seconds, plural
from isinglass.cli.options import FORCE, SEED, Number, Option, command, out_folder
from isinglass.cli.output import OutputFolder

if TYPE_CHECKING:
    from isinglass.network import Network

__all__ = ["simulate"]

FILES = ["table.csv", "truth.npz", "edges.csv"]
KINDS = ["random", "chain", "regular"]
COUNT = click.IntRange(min=1)


@command(
    "simulate",
    Option("--network", "kind", type=click.Choice(KINDS), default="random", show_default=True, help="Kind of network."),
    Option(
        "--nodes", "n_nodes", type=COUNT, default=20, show_default=True, help="Number of nodes: columns of the table."
    ),
    Option("--rows", "n_samples", type=COUNT, default=1000, show_default=True, help="Number of rows."),
    Option(
        "--edge-probability",
        type=Number(0, 1),
        default=0.1,
        show_default=True,
        help="random: probability that a pair has an edge (and a node a field).",
    ),
    Option(
        "--degree",
        type=click.IntRange(min=0),
        default=4,
        show_default=True,
        help="regular: edges per node.",
    ),
    Option(
        "--strength",
        type=Number(),
        default=1.0,
        show_default=True,
        help="|coupling| of an edge; random: uniform between minus and plus this.",
    ),
    Option("--mixed", is_flag=True, help="Half of the couplings negative (random: always both signs)."),
    Option("--burn-in", type=click.IntRange(min=0), default=1000, show_default=True, help="Sweeps thrown away."),
    Option("--thin", type=COUNT, default=10, show_default=True, help="Sweeps from one row to the next."),
    SEED,
    out_folder("table.csv, truth.npz (the model) and edges.csv (its edges)"),
    FORCE,
)
def simulate(
    console: Console,
    kind: str,
    n_nodes: int,
    n_samples: int,
    edge_probability: float,
    degree: int,
    strength: float,
    mixed: bool,
    burn_in: int,
    thin: int,
    seed: int,
    output: Path | None,
    force: bool,
) -> None:
    """Draw a network, and a table from it by Gibbs sampling.

    The table goes to stdout as CSV, or with -o into a folder together with the true network. A warning tells where
    the sampler mixes so slowly that the rows do not represent the model.
    """
    from isinglass import simulate as simulation
    from isinglass.cli.results import list_edges
    from isinglass.export import write_edges
    from isinglass.export.modelfile import save
    from isinglass.randomness import spawn_seeds

    folder = OutputFolder(output, FILES, force=force) if output else None
    at_network, at_check, at_rows = spawn_seeds(seed, 3)
    model = _draw_network(kind, n_nodes, edge_probability, degree, strength, mixed, at_network)
    with console.progress("Sampling"):
        simulation.gibbs_diagnostics(model, burn_in=burn_in, thin=thin, random_state=at_check)
        table = simulation.gibbs_sample(model, n_samples, burn_in=burn_in, thin=thin, random_state=at_rows)
    text = csv_text(model.names, table.tolist())
    if folder is not None:
        with folder.filling() as here:
            (here / "table.csv").write_text(text, encoding="utf-8")
            save(model, here / "truth.npz")
            write_edges(model, here / "edges.csv")
    console.say_facts(
        {
            "Network": f"{kind}, {plural(model.n_features, 'node')}, {plural(model.n_edges, 'edge')}",
            "Table": plural(n_samples, "row"),
            "Time": format_seconds(console.seconds),
            **({"Wrote": folder.summary} if folder else {}),
        }
    )
    if console.as_json:
        edges = list_edges(model)
        record = {"network": kind, "seed": seed, "nodes": list(model.names), "fields": model.fields, "edges": edges}
        console.write_json("simulate", {**record, **({} if folder else {"rows": table})})
    elif folder is None:
        console.write(text)


def _draw_network(
    kind: str, nodes: int, edge_probability: float, degree: int, strength: float, mixed: bool, seed: object
) -> Network:
    """Call the function of the kind with the options it takes."""
    from isinglass import simulate as simulation

    if kind == "random":
        bounds = (-abs(strength), abs(strength))
        return simulation.random_network(nodes, edge_probability, coupling_range=bounds, random_state=seed)  # type: ignore[arg-type]
    functions = {
        "chain": (simulation.chain_network, ()),
        "regular": (simulation.random_regular_network, (degree,)),
    }
    function, arguments = functions[kind]
    couplings = "mixed" if mixed else "ferromagnetic"
    model: Network = function(  # type: ignore[operator]
        nodes, *arguments, couplings=couplings, strength=strength, fields="balanced", random_state=seed
    )
    return model
