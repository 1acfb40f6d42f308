"""The first reading of a table: the coding that options, declared types and values give, a rule for every column."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from isinglass.data.meaning.advice import remark_numbers, use_kind
from isinglass.data.meaning.coding import Coding, Guess, Layout
from isinglass.data.meaning.grid import find_grid
from isinglass.data.meaning.guards import check_guesses
from isinglass.data.meaning.guessing import guess_kinds
from isinglass.data.meaning.levels import find_levels, find_two_values
from isinglass.data.meaning.recognition import amounts
from isinglass.data.meaning.rules import ABSENT, Rule, Steps, apply_rule
from isinglass.data.meaning.specs import ColumnSpec, specify
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
    guesses = guess_kinds(specs) if stated.guess else {}
    if guesses:
        specs = _keep_guessed(specs, guesses)
    kinds = [spec.read_as for spec in specs]
    rules = [spec.finish(find_rule(spec, kind)) for spec, kind in zip(specs, kinds, strict=True)]
    if stated.missing == "drop":
        rules = _use_complete_rows(specs, rules)
    covariate = tuple(spec.is_covariate for spec in specs) if stated.covariates else ()
    places = [spec.place for spec in specs]
    names = None if source.names is None else tuple(source.names[j] for j in places)
    coding = Coding(names, tuple(rules), stated.missing, covariate, _lay_out(source, places))
    levels = [j for j, kind in enumerate(kinds) if kind != "binary"]
    measured = [j for j, spec in enumerate(specs) if spec.is_open and kinds[j] == "continuous"]
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


def _keep_guessed(specs: list[ColumnSpec], guesses: Mapping[Hashable, Guess]) -> list[ColumnSpec]:
    """Return the columns that are kept, with the kinds that were stated or are guessed; warn about the others."""
    guessed = [replace(spec, kind=guesses[spec.label].kind) if spec.label in guesses else spec for spec in specs]
    kept = [spec for spec in guessed if spec.kind is not None or spec.label not in guesses]
    if not kept:
        notes = [f"{called(label)} ({guess.note.rstrip('?')})" for label, guess in guesses.items()]
        values = chain.from_iterable(guess.values for guess in guesses.values())
        raise DataError(
            f"{setting('X')} must have a column that is a variable; a guess leaves out all: {listed(notes)}. State the "
            f"kinds of those that are variables ({setting('kinds')}).{remark_numbers(values, specs[0].source.decimal)}"
        )
    check_guesses(specs, guesses)
    return kept


def find_rule(spec: ColumnSpec, kind: str) -> Rule:
    """Return the rule of a column of a kind; a continuous one of two values has categories.

    Texts that were meant as numbers, such as 1,5, are refused by the grid, whose message says how to read them.
    """
    _check_options_fit(spec, kind)
    if kind == "binary":
        return find_two_values(spec)
    if kind == "continuous":
        has_amounts = not spec.is_encoded and bool(amounts(spec.values, spec.source.decimal))
        if len(spec.kept_values) > 2 or has_amounts:
            if spec.is_reversed:
                _refuse_reverse(spec, kind)
            return find_grid(spec)
        kind = "ordinal"
        _check_options_fit(spec, kind)  # two values have no normal scores
    rule = find_levels(spec, kind)
    if spec.is_reversed and rule.scores is None:
        _refuse_reverse(spec, kind)
    return rule.reversed() if spec.is_reversed else rule


def _check_options_fit(spec: ColumnSpec, kind: str) -> None:
    """Refuse a threshold, scores or a reversed order for a column whose kind has none."""
    scores, where = spec.scores, spec.where
    if kind != "binary" and spec.cut is not None:
        raise DataError(f"{setting('binarize')} and {setting('kinds')} must not name the same column; got {where}.")
    if isinstance(scores, str) and scores != "normal":
        raise ArgumentError("scores", f'must be numbers or "normal" for {where}', scores)
    needed = "continuous" if isinstance(scores, str) else "ordinal"
    if scores is not None and kind != needed:
        has_few = needed == "continuous" and len(spec.kept_values) < 3
        how = "has fewer than three values" if has_few else f"is {kind}"
        given = setting("normal_scores", python='scores="normal"') if needed == "continuous" else setting("scores")
        raise DataError(f"{given} must be for {needed} columns; got {where}, which {how}.")
    if spec.is_reversed and kind == "binary":
        _refuse_reverse(spec, kind)


def _refuse_reverse(spec: ColumnSpec, kind: str) -> None:
    """Refuse to reverse a column without ordered categories."""
    raise DataError(
        f"{setting('reverse')} must name columns of ordered categories; got {spec.where}, which is {kind}. Declare it "
        f"as one ({use_kind('ordinal', [spec.label])}), change the sign of numbers, or leave {setting('reverse')} out."
    )


def _use_complete_rows(specs: Sequence[ColumnSpec], rules: list[Rule]) -> list[Rule]:
    """Return the rules with the grids that the rows without missing cells have, where three numbers are left."""
    grids = [j for j, rule in enumerate(rules) if isinstance(rule, Steps)]
    if not grids:
        return rules
    cells = (
        apply_rule(rule, spec.source.column(spec.place)) != ABSENT for rule, spec in zip(rules, specs, strict=True)
    )
    kept, found = np.logical_and.reduce([*cells, ~specs[0].source.is_unlabeled]), list(rules)
    for j in grids if not kept.all() else ():
        if len(set(specs[j].column.entries[kept].tolist())) > 2:
            found[j] = specs[j].finish(find_grid(specs[j], kept))
    return found
