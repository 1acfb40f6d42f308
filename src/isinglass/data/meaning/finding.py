"""The first reading of a table: the coding that options, declared types and values give, a rule for every column."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from isinglass.data.meaning.advice import kind_option
from isinglass.data.meaning.coding import Coding, Layout
from isinglass.data.meaning.column_codes import apply_rule
from isinglass.data.meaning.grid import find_grid
from isinglass.data.meaning.guards import check_guesses
from isinglass.data.meaning.guessing import Guess, guess_kinds
from isinglass.data.meaning.levels import find_levels, two_values
from isinglass.data.meaning.recognition import MANY_LEVELS, amounts
from isinglass.data.meaning.remarks import remark_numbers
from isinglass.data.meaning.rules import ABSENT, Levels, Rule, Steps
from isinglass.data.meaning.specify import specify
from isinglass.data.meaning.specs import ColumnSpec
from isinglass.data.meaning.values import as_float, is_number
from isinglass.data.options import ValueOptions
from isinglass.data.source import Source
from isinglass.errors import ArgumentError, DataError, called, listed, setting


@dataclass(frozen=True, eq=False)
class Finding:
    """The coding of a first reading, and what checks of its meaning ask about."""

    coding: Coding
    specs: Sequence[ColumnSpec]  # of its columns
    levels: Sequence[int]  # those of them that have categories, as the user says or the source declares
    measured: Sequence[int]  # those of them that are read as numbers because they can be nothing else
    guesses: Mapping[Hashable, Guess]  # about all columns, left out ones included


def find_coding(source: Source, stated: ValueOptions) -> Finding:
    """Return how a table is to be read: by what is stated, and what its columns show."""
    specs = specify(source, stated)
    _refuse_words(specs, stated)
    guesses = guess_kinds(specs) if stated.guess else {}
    if guesses:
        specs = _keep_guessed(specs, guesses)
    measured = _find_measured(specs)
    rules, levels = find_rules(specs, measured, drops_rows=stated.missing == "drop")
    covariate = tuple(spec.is_covariate for spec in specs) if stated.covariates else ()
    places = [spec.place for spec in specs]
    names = None if source.names is None else tuple(source.names[j] for j in places)
    coding = Coding(names, tuple(rules), stated.missing, covariate, _lay_out(source, places))
    return Finding(coding, specs, levels, measured, guesses)


def _lay_out(source: Source, places: Sequence[int]) -> Layout:
    """Return the layout of the columns of a source at some places."""
    origin, names = source.origin, source.layout.names
    numbers = tuple(origin.places[j] for j in places)
    are_all = numbers == tuple(range(origin.width))
    return replace(
        source.layout,
        numbers=None if are_all else numbers,
        width=None if are_all else origin.width,
        names=names and tuple(names[j] for j in places),
    )


def _refuse_words(specs: Sequence[ColumnSpec], stated: ValueOptions) -> None:
    """Refuse one or two texts in a column that an option calls continuous by its own name.

    Where one word is for many columns, those of two values are binary.
    """
    keys = [key for option in (stated.kinds, stated.scores) if isinstance(option, Mapping) for key in option]
    for spec in specs:
        if spec.kind != "continuous" or spec.is_encoded or len(spec.kept_values) > 2:
            continue
        places = [[*spec.source.locate({key: None}, "kinds")] for key in keys] if spec.has_words else []
        if [spec.place] in places:
            find_grid(spec)


def _keep_guessed(specs: list[ColumnSpec], guesses: Mapping[Hashable, Guess]) -> list[ColumnSpec]:
    """Return the columns that are kept, with the kinds that were stated or are guessed; warn about the others."""
    guessed = [replace(spec, kind=guesses[spec.label].kind) if spec.label in guesses else spec for spec in specs]
    kept = [spec for spec in guessed if spec.kind is not None or spec.label not in guesses]
    if not kept:
        notes = [f"{called(label)} ({guess.note.rstrip('?')})" for label, guess in guesses.items()]
        values = chain.from_iterable(guess.values for guess in guesses.values())
        remark = remark_numbers(values, specs[0].source.decimal)
        raise DataError(
            f"{setting('X')} must have a column that is a variable; a guess leaves out all: {listed(notes)}. State the "
            f"kinds of those that are variables ({setting('kinds')}).{remark}"
        )
    check_guesses(specs, guesses)
    return kept


def find_rules(
    specs: Sequence[ColumnSpec], measured: Sequence[int], *, drops_rows: bool = False
) -> tuple[list[Rule], list[int]]:
    """Return the rule of every column, and which columns have categories, as the user says or the source declares.

    ``measured``: columns that can only be numbers. ``drops_rows``: the grids of continuous columns are those of the
    rows without missing cells.
    """
    kinds = _find_kinds(specs) | dict.fromkeys(measured, "continuous")
    rules: dict[int, Rule] = {}
    for j, spec in enumerate(specs):
        _check_options_fit(spec, kinds.get(j))
        if j in kinds:
            rules[j] = _rule_of_kind(spec, kinds[j])
        if spec.is_reversed:
            rules[j] = _reverse(rules.get(j), spec)
    levels = list(rules)
    others = [j for j in range(len(specs)) if j not in rules]
    rules |= zip(others, two_values([specs[j] for j in others], only_bits=bool(levels)), strict=True)
    rules = {j: spec.finish(rules[j]) for j, spec in enumerate(specs)}
    if drops_rows and any(isinstance(rule, Steps) for rule in rules.values()):
        rules |= _grids_of_complete_rows(specs, rules)
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

    With encode="auto" these are all declared ones where no kind is stated and no more than two of their values occur.
    """
    kinds = {j: kind for j, spec in enumerate(specs) if (kind := spec.known_kind) not in (None, "binary")}
    are_pairs = all(spec.kind is None for spec in specs) and all(len(specs[j].values) <= 2 for j in kinds)
    return {j: kind for j, kind in kinds.items() if not (are_pairs and specs[j].encode.is_auto)}


def _check_options_fit(spec: ColumnSpec, kind: str | None) -> None:
    """Refuse a threshold for a column of this kind, and scores that it cannot have; None: it has two values."""
    if kind is not None and spec.cut is not None:
        raise DataError(
            f"{setting('binarize')} and {setting('kinds')} must not name the same column; got {spec.where}."
        )
    scores, where, kind = spec.scores, spec.where, kind or spec.kind
    if scores is None:
        return
    if isinstance(scores, str):
        if scores != "normal":
            raise ArgumentError("scores", f'must be numbers or "normal" for {where}', scores)
        if kind != "continuous":
            normal = setting("normal_scores", python='scores="normal"')
            raise DataError(f"{normal} must be for continuous columns; got {where}, which is {kind}.")
    elif kind == "continuous":
        raise ArgumentError("scores", f'must be "normal" for {where}, which is continuous', scores)
    elif kind != "ordinal":
        raise DataError(f"{setting('scores')} must be for ordinal columns; got some for {where}, which is {kind}.")


def _rule_of_kind(spec: ColumnSpec, kind: str) -> Rule:
    """Return the rule of a column of a kind other than binary; a continuous one of two values has categories.

    Texts that were meant as numbers, such as 1,5, are refused by the grid, whose message says how to read them.
    """
    if kind != "continuous":
        return find_levels(spec, kind)
    has_amounts = not spec.is_encoded and bool(amounts(spec.values, spec.source.decimal))
    return find_grid(spec) if len(spec.kept_values) > 2 or has_amounts else find_levels(spec, "ordinal")


def _reverse(rule: Rule | None, spec: ColumnSpec) -> Levels:
    """Return the rule of an ordered column in the other direction; None: it is read as two values."""
    if isinstance(rule, Steps):
        raise DataError(
            f"{setting('reverse')} must name columns of ordered categories; got {spec.where}, which is "
            f"continuous. Change the sign of its values instead."
        )
    if isinstance(rule, Levels) and rule.scores is not None:
        return rule.reversed()
    remedy = f"Declare it as one ({kind_option('ordinal', [spec.label])})"
    if spec.cut is not None:
        remedy = f"Leave {setting('reverse')} or {setting('binarize')} out for it"
    elif rule is not None and spec.has_words and spec.column.categories is None:
        numbers = setting("encode", python="encode={…: 0, …: 1, …: 2}")
        remedy += f" and give each of its values a number ({numbers}), or use an ordered categorical"
    raise DataError(f"{setting('reverse')} must name columns with an order; got {spec.where}. {remedy}.")


def _grids_of_complete_rows(specs: Sequence[ColumnSpec], rules: Mapping[int, Rule]) -> dict[int, Rule]:
    """Return the grids of continuous columns for the rows that have no missing cell, if three numbers are left."""
    cells = (apply_rule(rules[j], spec.source.column(spec.place)) != ABSENT for j, spec in enumerate(specs))
    kept = np.logical_and.reduce([*cells, ~specs[0].source.is_unlabeled])
    grids = {j: spec for j, spec in enumerate(specs) if isinstance(rules[j], Steps)}
    enough = [j for j, spec in grids.items() if len(set(spec.column.entries[kept].tolist())) > 2]
    return {} if kept.all() else {j: specs[j].finish(find_grid(specs[j], kept)) for j in enough}
