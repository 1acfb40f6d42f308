"""isinglass compare: whether groups of rows have the same network."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.console import Console, format_seconds, plural
from isinglass.cli.estimate import ESTIMATE, Estimate
from isinglass.cli.options import FORCE, TABLE, Option, checkpoint_folder, command, out_folder
from isinglass.cli.output import OutputFolder, deliver
from isinglass.cli.reading import READING, Reading
from isinglass.cli.values import COLUMN

if TYPE_CHECKING:
    from isinglass.data import BinaryTable
    from isinglass.select import GroupComparison

FILES = ["edges.csv", "nodes.csv", "groups.csv", "report.html"]


@command(
    "compare",
    TABLE,
    Option("--by", type=COLUMN, required=True, help="Column with the group of each row."),
    Option(
        "--paired",
        type=COLUMN,
        help="Column with the subject of each row, where each has one row in every group: before and after.",
    ),
    Option(
        *("-B", "--permutations", "n_permutations"),
        type=click.IntRange(min=1),
        default=1000,
        help="Number of permutations.",
    ),
    Option(
        "--reselect/--keep-penalty",
        default=False,
        help="Select the penalty anew in every group and permutation, or keep that of all rows together.",
    ),
    checkpoint_folder("permutations"),
    out_folder(", ".join(FILES)),
    FORCE,
    bundles=[ESTIMATE, READING],
    strict=True,
)
def compare(
    console: Console,
    table: str,
    by: str | int,
    paired: str | int | None,
    output: Path | None,
    force: bool,
    estimate: Estimate,
    reading: Reading,
    **options: Any,
) -> None:
    """Test whether groups of rows have the same network.

    Shuffles the group labels of TABLE many times and compares the networks each time: the largest difference between
    couplings, global strength, every edge and the strength of every node. Prints the edges with their p-values as CSV;
    with -o, also writes the nodes, the groups, and a page with the networks side by side. TABLE may be - for stdin.
    """
    from isinglass.select.permutation import compare_groups

    folder = OutputFolder(output, FILES, force=force, inputs=[table]) if output else None
    keys = [by] if paired is None else [by, paired]
    data = _read(console, table, reading, keys)
    console.restart_clock()
    criterion = estimate.criterion
    found = compare_groups(
        data,
        data.labels[str(by)],
        estimate.function(criterion),
        paired=None if paired is None else data.labels[str(paired)],
        **estimate.run_options(console),
        **options,
    )
    again = "selected anew in every permutation" if options["reselect"] else "selected on all rows and kept"
    chosen = "alpha given" if criterion is None else f"{estimate.describe(criterion)}, {again}"
    facts = {
        "Table": reading.describe(data, table),
        "Method": f"{estimate}; {chosen}",
        **_describe_holes(data, paired is not None),
        **_describe(found, by),
        "Time": format_seconds(console.seconds),
    }
    tables = {"edges.csv": found.edges(), "nodes.csv": found.nodes(), "groups.csv": found.pairs()}
    deliver(
        *(console, "compare", folder, facts, ("Table", "Method", "Groups", "Permutations"), tables),
        record=lambda: _record(found, data, estimate),
        write=lambda here: _write_page(found, here / "report.html", f"Networks by {by}"),
    )


def _write_page(found: GroupComparison, file: Path, title: str) -> None:
    from isinglass.show.report import write_comparison

    write_comparison(found, file, title=title)


def _read(console: Console, table: str, reading: Reading, keys: list[str | int]) -> BinaryTable:
    """Return the table with its labels, without rows that lack one if rows with missing cells are dropped anyway."""
    from isinglass.errors import ArgumentError

    try:
        data = reading.replaced(labels=keys).read_to_fit(console, table)
    except ArgumentError as error:
        if error.argument != "labels":
            raise
        hint = "'--by'" if error.got == repr(keys[0]) else "'--paired'"
        raise click.BadParameter(f"{error.got} is not a column of the table. {error.remedy}", param_hint=hint) from None
    absent = [any(data.labels[str(key)][row] is None for key in keys) for row in range(len(data))]
    if reading.said.get("missing") != "drop" or not any(absent) or all(absent):
        return data
    kept = data[[row for row, missing in enumerate(absent) if not missing]]
    return replace(kept, n_dropped=data.n_dropped + sum(absent), n_missing=data.n_missing + sum(absent))


def _describe_holes(data: BinaryTable, paired: bool) -> dict[str, str]:
    """Say in words what was done about missing cells."""
    if data.holes is None:
        return {}
    empty = 0 if paired else int(data.holes.all(axis=1).sum())
    left = f"; {plural(empty, 'row')} without any answer left out" if empty else ""
    return {"Imputed": f"{data.holes.mean():.1%} of the cells, from the network of all rows, whatever the group{left}"}


def _describe(found: GroupComparison, by: str | int) -> dict[str, str]:
    """Say in words what was found."""
    sizes = ", ".join(f"{group} ({n} rows)" for group, n in zip(found.groups, found.n_rows, strict=True))
    different = int((found.edge_p_family <= 0.05).sum())
    strengths = ", ".join(f"{value:.4g}" for value in found.global_strengths)
    facts = {
        "Groups": f"{by}: {sizes}" + ("; paired" if found.paired else ""),
        "Permutations": str(found.n_permutations),
        "Structure": f"largest difference of a coupling {found.structure:.4g}, p = {found.p_structure:.4g}",
        "Strength": f"{strengths}; difference {found.strength:.4g}, p = {found.p_strength:.4g}",
        "Edges": f"{different} of {plural(len(found.edge_index), 'edge')} differ at family-wise p ≤ 0.05",
    }
    if found.n_constant:
        facts["Constant"] = f"a column is constant in a group in {plural(found.n_constant, 'permutation')}"
    return facts


def _record(found: GroupComparison, data: BinaryTable, estimate: Estimate) -> dict[str, Any]:
    from isinglass.cli import descriptions

    tables = {"edges": found.edges(), "nodes": found.nodes(), "pairs": found.pairs()}
    networks = [descriptions.describe_solution(solution) for solution in found.solutions]
    return {
        "table": descriptions.describe_table(data),
        "method": estimate.record,
        "n_permutations": found.n_permutations,
        "seed": estimate.seed,
        "paired": found.paired,
        "reselect": found.reselect,
        "groups": [
            {"group": group, "n_rows": n, **network}
            for group, n, network in zip(found.groups, found.n_rows, networks, strict=True)
        ],
        "structure": found.structure,
        "p_structure": found.p_structure,
        "global_strengths": found.global_strengths.tolist(),
        "strength": found.strength,
        "p_strength": found.p_strength,
        **{name: descriptions.records(columns) for name, columns in tables.items()},
    }
