"""isinglass simulate: a random network and a table drawn from it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.console import Console, csv_text, plural
from isinglass.cli.descriptions import records
from isinglass.cli.options import ADVANCED, SEED, Option, command, flag, under
from isinglass.cli.output import deliver, out_folder
from isinglass.cli.values import Number, OneOf

if TYPE_CHECKING:
    from isinglass.network import Network

FILES = ["table.csv", "truth.npz", "edges.csv"]


@command(
    "simulate",
    Option("--network kind", OneOf("random", "chain"), "Kind of network.", default="random"),
    Option("--nodes n_nodes", click.IntRange(1), "Number of nodes: columns of the table.", default=20),
    Option("--rows n_samples", click.IntRange(1), "Number of rows.", default=1000),
    Option("--edge-probability", Number(0, 1), "random: probability of an edge (and of a field).", default=0.1),
    Option("--strength", Number(), "Size of the couplings; random: uniform between minus and plus this.", default=1.0),
    flag("--mixed", "Make half of the couplings negative (random: always)."),
    SEED,
    *under(
        ADVANCED,
        Option("--burn-in", click.IntRange(0), "Sweeps to discard.", default=1000),
        Option("--thin", click.IntRange(1), "Sweeps between rows.", default=10),
    ),
    bundles=[out_folder("table.csv, truth.npz (the network), edges.csv")],
)
def simulate(
    console: Console,
    kind: str,
    n_samples: int,
    burn_in: int,
    thin: int,
    random_state: int,
    open_folder: Any,
    **drawn: Any,
) -> None:
    """Draw a random network, and a table from it by Gibbs sampling.

    Prints the table as CSV; with -o, writes it to a folder together with the true network. Warns if the sampler mixes
    too slowly for the rows to represent the network.
    """
    from isinglass.arguments import spawn_seeds
    from isinglass.export import write_network
    from isinglass.model_file import save
    from isinglass.simulate import gibbs_diagnostics, gibbs_sample

    folder = open_folder(FILES)
    at_network, at_check, at_rows = spawn_seeds(random_state, 3)
    model = _draw_network(kind, at_network, **drawn)
    with console.progress("Sampling"):
        gibbs_diagnostics(model, burn_in=burn_in, thin=thin, random_state=at_check)
        table = gibbs_sample(model, n_samples, burn_in=burn_in, thin=thin, random_state=at_rows)

    def write(here: Path) -> None:
        save(model, here / "truth.npz")
        write_network(model, here / "edges.csv")

    facts = {
        "Network": f"{kind}, {plural(model.n_features, 'node')}, {plural(model.n_edges, 'edge')}",
        "Table": plural(n_samples, "row"),
    }
    record = {
        "network": kind,
        "seed": random_state,
        "nodes": model.names,
        "fields": model.fields,
        "edges": records(model.edges()),
        **({} if folder else {"rows": table}),
    }
    deliver(console, folder, facts, {"table.csv": csv_text(model.names, table.tolist())}, record, write=write)


def _draw_network(
    kind: str, seed: Any, *, n_nodes: int, edge_probability: float, strength: float, mixed: bool
) -> Network:
    """Call the function of the kind with the options it takes."""
    from isinglass.simulate import chain_network, random_network

    if kind == "random":
        bounds = (-abs(strength), abs(strength))
        return random_network(n_nodes, edge_probability, coupling_range=bounds, random_state=seed)
    options: dict[str, Any] = {"strength": strength, "fields": "balanced", "random_state": seed}
    return chain_network(n_nodes, couplings="mixed" if mixed else "ferromagnetic", **options)
