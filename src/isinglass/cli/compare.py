"""isinglass compare: whether groups of rows have the same network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from isinglass.atomic import write_text
from isinglass.cli.command import command
from isinglass.cli.console import Console
from isinglass.cli.descriptions import describe_imputation, describe_solution, fields, records
from isinglass.cli.estimate import ESTIMATE, Estimate
from isinglass.cli.grammar import spell_column
from isinglass.cli.option_table import TABLE
from isinglass.cli.output import OutputFolder, write_results
from isinglass.cli.reading import READING, Reading
from isinglass.errors import plural
from isinglass.json_text import JsonObject

if TYPE_CHECKING:
    from isinglass.select import GroupComparison

FILES = ["edges.csv", "nodes.csv", "groups.csv", "report.html", "methods.txt"]


@command("compare", TABLE, bundles=[ESTIMATE, READING], general="strict as_json")
def compare(
    console: Console,
    table: str,
    groups: str | int,
    paired: str | int | None,
    n_resamples: int | None,
    reselect: bool | None,
    checkpoint: str | None,
    output: Path | None,
    force: bool,
    estimate: Estimate,
    reading: Reading,
) -> None:
    """Test whether groups of rows have the same network.

    A permutation test: shuffles the group labels of TABLE many times and compares the networks each time by their
    largest difference in a coupling, their global strength, each edge and the strength of each node. Prints the edges
    with their p-values as CSV. TABLE may be - for stdin.

    With -o, writes edges.csv, nodes.csv, groups.csv, report.html with the networks side by side, methods.txt with a
    paragraph for the methods section of a paper, and run.json to a folder. --value-labels gender=1=men,2=women names
    the groups.
    """
    from isinglass.select.group_comparison import compare_groups
    from isinglass.show.report import write_comparison
    from isinglass.show.report.methods import describe_comparison

    if groups == paired:
        raise click.UsageError("--groups and --paired must be different columns.")
    folder = None if output is None else OutputFolder(output, FILES, force=force, inputs=[table])
    keys = [groups] if paired is None else [groups, paired]
    data = reading.with_defaults(labels=keys).read_to_fit(console, table)
    column = spell_column(groups)
    console.restart_clock()
    found = compare_groups(
        data,
        data.labels[str(groups)],
        estimate.method,
        paired=None if paired is None else data.labels[str(paired)],
        n_permutations=n_resamples or 1000,
        reselect=bool(reselect),
        random_state=estimate.seed,
        run=estimate.run(console, checkpoint=checkpoint),
    )
    again = "penalty selected again in every permutation" if found.reselect else "penalty selected on all rows and kept"
    settings = {
        "Table": reading.describe(data, table),
        "Method": estimate.summarize(f", {again}"),
        **describe_imputation(found.missing, data.shape[1], "from one two-stage network of all rows, ignoring groups"),
        **_describe_groups(found, column),
    }
    draft = describe_comparison(found)
    tables = {"edges.csv": found.edges(), "nodes.csv": found.nodes(), "groups.csv": found.pairs()}
    record = {
        **estimate.describe(data),
        **_record(found),
        "methods": draft.text,
        "citation": draft.references,
        **dict(zip(("edges", "nodes", "pairs"), map(records, tables.values()), strict=True)),
    }

    def write(here: Path) -> None:
        write_comparison(found, here / "report.html", title=f"Networks by {column}")
        write_text(str(draft), here / "methods.txt")

    write_results(console, folder, settings, _describe(found), tables, record, write)


def _record(found: GroupComparison) -> JsonObject:
    """Return what was found, as --json prints it."""
    each = zip(found.groups, found.n_rows, found.solutions, strict=True)
    return {
        **fields(found, "n_permutations", "paired", "reselect", "covariates"),
        "groups": [{"group": group, "n_rows": n, **describe_solution(network)} for group, n, network in each],
        **fields(found, "structure", "p_structure", "global_strengths", "strength", "p_strength"),
    }


def _describe_groups(found: GroupComparison, column: str) -> dict[str, str]:
    """Say in words what was compared."""
    sizes = ", ".join(f"{group} ({n} rows)" for group, n in zip(found.groups, found.n_rows, strict=True))
    n_unlabeled = 0 if found.missing is None else found.missing.n_unlabeled
    lacking = "a group or a subject" if found.paired else "a group"
    left_out = f"; {plural(n_unlabeled, 'row')} without {lacking} left out" if n_unlabeled else ""
    return {
        "Groups": f"{column}: {sizes}{'; paired' if found.paired else ''}{left_out}",
        **({"Adjusted for": ", ".join(found.covariates)} if found.covariates else {}),
        "Permutations": f"{found.n_permutations}" + ("" if found.seed is None else f", seed {found.seed}"),
    }


def _describe(found: GroupComparison) -> dict[str, str]:
    """Say in words what was found."""
    from isinglass.select.group_comparison_result import LEVEL

    different = int((found.edge_p_family <= LEVEL).sum())
    verb = "differs" if 1 in (different, len(found.edge_index)) else "differ"
    strengths = ", ".join(
        f"{value:.4g} in {group}" for group, value in zip(found.groups, found.global_strengths, strict=True)
    )
    facts = {
        "Structure": f"largest difference in a coupling {found.structure:.4g}, p = {found.p_structure:.4g}",
        "Strength": f"{strengths}; difference {found.strength:.4g}, p = {found.p_strength:.4g}",
        "Edges": f"{different} of {plural(len(found.edge_index), 'edge')} {verb} at family-wise p ≤ {LEVEL:g}",
    }
    if found.least_p > LEVEL:
        permutations = plural(found.n_permutations, "permutation")
        facts["Caution"] = f"no p can be below {found.least_p:.2g} with {permutations}; take 1000"
    return facts
