"""A rule for every column: as the user says, as the source declares, or as the values show."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from isinglass.arrays import FloatArray, Mask
from isinglass.data.meaning.advice import DROP, kind_option, make_missing
from isinglass.data.meaning.grid import equal_steps, normal_steps
from isinglass.data.meaning.guards import guard_measured
from isinglass.data.meaning.levels import find_levels
from isinglass.data.meaning.recognition import MANY_LEVELS, amounts
from isinglass.data.meaning.rules import ABSENT, BITS, Levels, Rule, Steps
from isinglass.data.meaning.specs import ColumnSpec
from isinglass.data.meaning.two_values import two_values
from isinglass.data.meaning.values import as_float, is_finite, is_number, show_values
from isinglass.errors import ArgumentError, DataError, setting


def find_rules(specs: Sequence[ColumnSpec], *, drops_rows: bool = False) -> tuple[list[Rule], list[int]]:
    """Return the rule of every column, and which columns have categories, as the user says or the source declares.

    ``drops_rows``: the grids of continuous columns are those of the rows without missing cells.
    """
    measured = _find_measured(specs)
    kinds = _find_kinds(specs) | dict.fromkeys(measured, "continuous")
    rules: dict[int, Rule] = {}
    for j, spec in enumerate(specs):
        _check_options_fit(spec, kinds.get(j))
        if j in kinds:
            rules[j] = _rule_of_kind(spec, kinds[j])
        if spec.is_reversed:
            rules[j] = _reverse(rules.get(j, BITS), spec)
    levels = list(rules)
    others = [j for j in range(len(specs)) if j not in rules]
    rules |= zip(others, two_values([specs[j] for j in others], only_bits=bool(levels)), strict=True)
    rules = {j: spec.finish(rules[j]) for j, spec in enumerate(specs)}
    if drops_rows and any(isinstance(rule, Steps) for rule in rules.values()):
        rules |= _grids_of_complete_rows(specs, rules)
    if measured:
        guard_measured({specs[j].label: rules[j] for j in measured})
    return list(rules.values()), levels


def _find_measured(specs: Sequence[ColumnSpec]) -> list[int]:
    """Return the columns that can only be numbers; of an array, or of whole numbers, one type holds for all columns."""
    source = specs[0].source
    is_open = not source.is_array and (source.block is None or source.block.dtype.kind == "f")
    return [j for j, spec in enumerate(specs) if is_open and _must_be_numeric(spec)]


def _must_be_numeric(spec: ColumnSpec) -> bool:
    """Tell whether nothing is stated about a column, and it has fractions, and too many numbers for categories."""
    if spec.known_kind is not None or spec.cut is not None or spec.encode.by_name or not spec.column.has_fractions:
        return False
    values = spec.values
    is_numeric = len(values) > MANY_LEVELS and all(map(is_number, values))
    return is_numeric and not all(as_float(value).is_integer() for value in values)


def _find_kinds(specs: Sequence[ColumnSpec]) -> dict[int, str]:
    """Return the kinds of columns, stated or declared; none of those that are read as two values.

    Where no kind is stated and no categorical column has more than two categories, these are all columns.
    """
    kinds = {j: kind for j, spec in enumerate(specs) if (kind := spec.known_kind) not in (None, "binary")}
    is_stated = any(spec.kind is not None for spec in specs)
    return kinds if is_stated or any(_has_more(specs[j]) for j in kinds) else {}


def _has_more(spec: ColumnSpec) -> bool:
    """Tell whether a categorical column has more than two categories; with encode="auto", more than two that occur."""
    categories = spec.column.categories
    return len(spec.values if categories is None or spec.encode.is_auto else categories) > 2


def _check_options_fit(spec: ColumnSpec, kind: str | None) -> None:
    """Refuse a threshold for a column of this kind, and scores that it cannot have; None: it has two values."""
    if kind is not None and spec.cut is not None:
        raise DataError(
            f"{setting('binarize')} and {setting('kinds')} must not name the same column; got {spec.where}."
        )
    scores, where, kind = spec.scores, spec.where, kind or spec.kind
    if scores is None:
        return
    if kind == "continuous":
        if not (isinstance(scores, str) and scores == "normal"):
            raise ArgumentError("scores", f'must be "normal" for {where}, which is continuous', scores)
    elif isinstance(scores, str):
        constraint = f'must be numbers for {where}, which is {kind}; "normal" is for continuous columns'
        raise ArgumentError("scores", constraint, scores)
    elif kind != "ordinal":
        raise DataError(f"{setting('scores')} must be for ordinal columns; got some for {where}, which is {kind}.")


def _rule_of_kind(spec: ColumnSpec, kind: str) -> Rule:
    """Return the rule of a column of a kind other than binary; a continuous one of two values has categories.

    Texts that were meant as numbers, such as 1,5, are refused by the grid, whose message says how to read them.
    """
    if kind != "continuous":
        return find_levels(spec, kind)
    has_amounts = not spec.is_encoded and bool(amounts(spec.values, spec.source.decimal))
    return _grid(spec) if len(spec.kept_values) > 2 or has_amounts else find_levels(spec, "ordinal")


def _reverse(rule: Rule, spec: ColumnSpec) -> Levels:
    """Return the rule of an ordered column in the other direction."""
    if not isinstance(rule, Levels):
        raise DataError(
            f"{setting('reverse')} must name columns of ordered categories; got {spec.where}, which is "
            f"continuous. Change the sign of its values instead."
        )
    if rule.scores is None or rule is BITS:
        raise DataError(
            f"{setting('reverse')} must name columns with an order; got {spec.where}. "
            + (
                f"Leave {setting('reverse')} or {setting('binarize')} out for it."
                if spec.cut is not None
                else f"Declare it as one ({kind_option('ordinal', [spec.label])})."
            )
        )
    return rule.reversed()


def _grids_of_complete_rows(specs: Sequence[ColumnSpec], rules: Mapping[int, Rule]) -> dict[int, Rule]:
    """Return the grids of continuous columns for the rows that have no missing cell, if three numbers are left."""
    cells = (spec.source.column(spec.place).convert(rules[j]) != ABSENT for j, spec in enumerate(specs))
    kept = np.logical_and.reduce([*cells, ~specs[0].source.is_unlabeled])
    grids = {j: spec for j, spec in enumerate(specs) if isinstance(rules[j], Steps)}
    enough = [j for j, spec in grids.items() if len(set(spec.column.entries[kept].tolist())) > 2]
    return {} if kept.all() else {j: specs[j].finish(_grid(specs[j], kept)) for j in enough}


def _grid(spec: ColumnSpec, rows: Mask | slice = slice(None)) -> Steps:
    """Return the grid of a continuous column, as these rows have it."""
    numbers, weight = _finite_numbers(spec, rows)
    if np.ptp(numbers) > 0:
        try:
            if spec.scores == "normal":
                return normal_steps(numbers, weight)
            return equal_steps(numbers, weight, is_fine=spec.is_covariate)
        except DataError:  # steps that are not apart
            pass
    raise DataError(
        f"{spec.where} must hold numbers that differ by more than rounding to be continuous; got "
        f"{show_values(set(numbers.tolist()))}. Subtract a number near them, or leave the column out ({DROP})."
    )


def _finite_numbers(spec: ColumnSpec, rows: Mask | slice) -> tuple[FloatArray, FloatArray | None]:
    """Return the numbers in some rows of a column, without missing cells, and the weights of their rows."""
    missing, weights = {None, *spec.encode.missing}, spec.source.weight
    cells = spec.column.entries[rows].tolist()
    there = [k for k, cell in enumerate(cells) if cell not in missing]
    numbers = [cells[k] for k in there]
    not_finite = [number for number in numbers if not is_finite(number)]
    if not_finite:
        remedy = f"Make these cells missing ({make_missing(not_finite[:1])}), or leave"
        if len(not_finite) == len(numbers):
            remedy = "Declare it as nominal, or leave" if isinstance(not_finite[0], str) else "Leave"
        raise DataError(
            f"{spec.where} must hold finite numbers to be continuous; got {show_values(set(not_finite))}. "
            f"{remedy} the column out ({DROP}).{spec.remark}"
        )
    if not math.isfinite(max(numbers) - min(numbers)):
        raise DataError(
            f"{spec.where} must hold numbers whose differences are finite; got {show_values(set(numbers))}."
        )
    return np.array(numbers, dtype=np.float64), None if weights is None else weights[rows][there]
