"""isinglass simulate: a random network and a table drawn from it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from isinglass.cli.console import Console, csv_text, format_seconds, plural
from isinglass.cli.options import ADVANCED, FORCE, SEED, Option, command, out_folder
from isinglass.cli.output import OutputFolder
from isinglass.cli.values import Number, OneOf

if TYPE_CHECKING:
    from isinglass.network import Network

FILES = ["table.csv", "truth.npz", "edges.csv"]
KINDS = ["random", "chain", "regular"]
COUNT = click.IntRange(min=1)


@command(
    "simulate",
    Option("--network", "kind", type=OneOf(KINDS), default="random", help="Kind of network."),
    Option("--nodes", "n_nodes", type=COUNT, default=20, help="Number of nodes: columns of the table."),
    Option("--rows", "n_samples", type=COUNT, default=1000, help="Number of rows."),
    Option(
        "--edge-probability", type=Number(0, 1), default=0.1, help="random: probability of an edge (and of a field)."
    ),
    Option("--degree", type=click.IntRange(min=0), default=4, help="regular: edges per node."),
    Option(
        "--strength",
        type=Number(),
        default=1.0,
        help="Size of the couplings; random: uniform between minus and plus this.",
    ),
    Option("--mixed", is_flag=True, help="Make half of the couplings negative (random: always)."),
    Option("--burn-in", type=click.IntRange(min=0), default=1000, section=ADVANCED, help="Sweeps to discard."),
    Option("--thin", type=COUNT, default=10, section=ADVANCED, help="Sweeps between rows."),
    SEED,
    out_folder("table.csv, truth.npz (the network), edges.csv"),
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
    random_state: int,
    output: Path | None,
    force: bool,
) -> None:
    """Draw a random network, and a table from it by Gibbs sampling.

    Prints the table as CSV; with -o, writes it to a folder together with the true network. Warns if the sampler mixes
    too slowly for the rows to represent the network.
    """
    from isinglass import simulate as simulation
    from isinglass.cli.descriptions import list_edges
    from isinglass.export import write_edges
    from isinglass.fit import save
    from isinglass.randomness import spawn_seeds

    folder = OutputFolder(output, FILES, force=force) if output else None
    at_network, at_check, at_rows = spawn_seeds(random_state, 3)
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
        record = {
            "network": kind,
            "seed": random_state,
            "nodes": list(model.names),
            "fields": model.fields,
        }
        console.write_json("simulate", {**record, "edges": list_edges(model), **({} if folder else {"rows": table})})
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
