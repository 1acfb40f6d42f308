"""Warnings about columns that depend on others exactly: indicators, copies, and what can be computed from others."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import FloatArray
from isinglass.data.meaning.advice import LISTED, drop, warn_about
from isinglass.data.meaning.indicators import indicator_sets
from isinglass.data.meaning.recognition import MOST_ROWS, ROWS_TO_JUDGE
from isinglass.data.meaning.redundancy import dependent_columns, linear_relations
from isinglass.data.meaning.rules import Steps
from isinglass.data.meaning.specs import ColumnSpec
from isinglass.data.table import Table
from isinglass.errors import called, listed, setting

MOST_COLUMNS = 300
"""Columns up to which sums of others are looked for."""


def check_columns(table: Table, labels: Sequence[Hashable], *, are_combined: bool = False) -> None:
    """Warn about sets of indicator columns, unless they are combined, and about columns that determine each other.

    ``labels`` are what options call the columns.
    """
    if len(table) >= ROWS_TO_JUDGE:
        codes, variables = table.codes, table.variables
        is_binary = np.array([kind == "binary" for kind in variables.kinds])
        if not are_combined:
            sets = indicator_sets(codes, is_binary, variables.names if variables.named else None)
            guard_indicators(_label(sets, labels))
        guard_copies(_label(dependent_columns(codes, is_binary, table.holes), labels))


def check_sums(table: Table, specs: Sequence[ColumnSpec]) -> None:
    """Warn about columns that can be computed from others, such as the total of some items.

    Relations between binary columns are those of indicators, which have a warning of their own.
    """
    variables, n_rows = table.variables, len(table)
    kinds = np.array(variables.kinds)
    columns = np.flatnonzero((kinds != "nominal") & variables.is_modeled)
    if n_rows >= ROWS_TO_JUDGE and len(columns) <= MOST_COLUMNS and (kinds[columns] != "binary").any():
        rows = np.unique(np.linspace(0, n_rows - 1, MOST_ROWS).astype(np.intp))
        found = [columns[group].tolist() for group in linear_relations(_numbers(table, specs, columns, rows))]
        sums = [group for group in found if (kinds[group] != "binary").any()]
        guard_sums(_label(sums, [spec.label for spec in specs]))


def _numbers(
    table: Table, specs: Sequence[ColumnSpec], columns: NDArray[np.intp], rows: NDArray[np.intp]
) -> FloatArray:
    """Return the numbers of columns on a grid and the scores of others, NaN for missing cells."""
    in_source, factors = rows if table.rows is None else table.rows[rows], table.variables.split(table.variables.factor)
    numbers = np.empty((len(rows), len(columns)))
    for k, j in enumerate(columns.tolist()):
        rule, spec = table.coding.columns[j], specs[j]
        if isinstance(rule, Steps) and not rule.is_normal:
            numbers[:, k] = spec.source.column(spec.place).numbers(in_source)
        else:
            numbers[:, k] = factors[j][table.codes[rows, j]]
    if table.missing_cells is not None:
        numbers[table.missing_cells[np.ix_(rows, columns)]] = np.nan
    return numbers


def _label(groups: Iterable[Sequence[int]], labels: Sequence[Hashable]) -> list[list[Hashable]]:
    """Return groups of columns as options call them."""
    return [[labels[j] for j in group] for group in groups]


def guard_indicators(sets: Sequence[Sequence[Hashable]]) -> None:
    """Columns of which at most one is 1 in any row."""
    if sets:
        members = list(chain(*sets))
        shown = [f"{called(group[0])} to {called(group[-1])} ({len(group)})" for group in sets]
        python = "as_table(…, combine_indicators=True), also in read_table"
        counted = "one variable" if len(sets) == 1 else f"{len(sets)} variables"
        text = (
            f"{len(members)} columns are indicators of {counted}, at most one of a set is 1 in any row: "
            f"{listed(shown, LISTED, sep='; ')}. Edges within a set hide those between variables: combine "
            f"each set into one column with {setting('combine_indicators', True, python=python)}."
        )
        warn_about(members, "indicator", text)


def guard_copies(groups: Sequence[Sequence[Hashable]]) -> None:
    """Columns of which each determines the others of its group: equal, opposite, or with other words for the same."""
    if groups:
        members = list(chain(*groups))
        shown = [listed(list(map(called, group)), LISTED, sep=" = ") for group in groups]
        redundant = [label for group in groups for label in group[1:]]
        text = (
            f"As read, {len(members)} columns determine each other in every row, like copies or opposites: "
            f"{listed(shown, LISTED, sep='; ', noun=' groups')}. Leave out all but one of each group "
            f"({drop(redundant)})."
        )
        warn_about(members, "duplicate", text)


def guard_sums(groups: Sequence[Sequence[Hashable]]) -> None:
    """Columns, each the first of a group, that can be computed from the others of the group."""
    if groups:
        computed = [group[0] for group in groups]
        shown = [f"{called(first)} from {listed([*map(called, others)], LISTED)}" for first, *others in groups]
        count, it = ("A column", "it") if len(groups) == 1 else (f"{len(groups)} columns", "each of them")
        text = (
            f"{count} can be computed from others, as a total or a difference can: "
            f"{listed(shown, LISTED, sep='; ')}. Given all others, none of these columns varies: their couplings grow "
            f"until the penalty stops them, their other edges are unreliable, and the fit takes long. Leave {it} out, "
            f"or one of the others ({drop(computed)})."
        )
        warn_about(computed, "computed", text)
