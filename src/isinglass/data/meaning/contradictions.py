"""What contradicts a coding: options that it was not made by, and rules by which values mean something else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NoReturn

from isinglass.data.column import number_objects
from isinglass.data.meaning.coding import Coding
from isinglass.data.meaning.column_codes import apply_rule
from isinglass.data.meaning.rules import ABSENT, Cut, Levels, Rule, Steps
from isinglass.data.meaning.scores import scores_from_lowest
from isinglass.data.meaning.specify import specify
from isinglass.data.meaning.specs import Statement
from isinglass.data.meaning.values import Value, is_number
from isinglass.data.options import ValueOptions, by_column
from isinglass.data.source import Source
from isinglass.errors import DataError, setting


def refuse_other(source: Source, coding: Coding, stated: ValueOptions) -> None:
    """Refuse options about values that a coding was not made by: it has been decided what these mean.

    ``source`` has the columns that the coding reads; its cells are not looked at. Options that agree with it pass.
    """
    encode = None if isinstance(stated.encode, Coding) else stated.encode
    asked = replace(stated, encode=encode, covariates=(), names=None, guess=False)
    if not asked.about_columns:
        return
    if asked.combine_indicators and coding.single is None:
        _refuse("combine_indicators", "the table")
    specs, rules = specify(source, asked), coding.of_source.columns
    for spec, rule in zip(specs, rules, strict=True):
        # Scores and numbers of values are stated for the direction before the column was reversed.
        read = rule.reversed() if isinstance(rule, Levels) and rule.is_reversed else rule
        agrees = {
            "scores": spec.scores is None or _has_scores(read, spec.scores),
            "kinds": spec.kind in (None, rule.kind) or (rule.kind == "binary" and not isinstance(rule, Cut)),
            "binarize": spec.cut is None or (isinstance(rule, Cut) and rule.threshold == spec.cut.threshold),
            "reverse": not spec.is_reversed or (isinstance(rule, Levels) and rule.is_reversed),
            "na_values": spec.with_missing(rule) is rule,
            "encode": not spec.encode.has_numbers or _has_meaning(read, spec.encode),
        }
        for option, holds in agrees.items():
            if not holds:
                _refuse(option, spec.where)
    if isinstance(encode, Mapping) and not by_column(encode):  # which may pass over a column, but not over all
        stated_values = list(specs[0].encode.answers)
        if stated_values and all((apply_rule(rule, number_objects(stated_values)) < 0).all() for rule in rules):
            _refuse("encode", "the table")


def _refuse(option: str, what: str) -> NoReturn:
    raise DataError(
        f"{setting(option)} must be given where the table is read (as_table, read_table); {what} was read without it, "
        "or with another. Read the table again with it, or leave it out."
    )


def _has_scores(rule: Rule, scores: Value) -> bool:
    """Tell whether a rule has these scores of its categories, given in order or by value; "normal" for a grid."""
    if isinstance(scores, str):
        return isinstance(rule, Steps) and rule.is_normal
    points = [scores.get(value) for value in rule.values] if isinstance(scores, Mapping) else scores
    try:
        return rule.kind == "ordinal" and tuple(scores_from_lowest(points, rule.n_categories, "")) == rule.scores
    except DataError:
        return False


def _has_meaning(rule: Rule, encode: Statement) -> bool:
    """Tell whether values stand for what `encode` says: missing cells, or categories in the order of their numbers.

    Unless it names the column, it speaks of other columns, too, and may know none of the values of this one.
    """
    stated = list(encode.numbers)
    codes = dict(zip(stated, apply_rule(rule, number_objects(stated)).tolist(), strict=True))
    if any(codes[value] != ABSENT for value in encode.missing):
        return False
    numbers = {value: number for value, number in encode.answers.items() if encode.by_name or codes[value] >= 0}
    if not numbers:
        return True
    return _has_order(rule, numbers, codes) if isinstance(rule, Levels) else not encode.by_name


def _has_order(rule: Levels, numbers: Mapping[Value, Value], codes: Mapping[Value, int]) -> bool:
    """Tell whether the numbers of all values of a rule give the order of its categories, and the scores it has."""
    points = set(numbers.values())
    if not all(map(is_number, points)) or not rule.entries.keys() <= numbers.keys():
        return False
    order = [0, 1] if rule.kind == "binary" and points <= {0, 1} else sorted(points)
    if rule.kind == "ordinal" and not _has_scores(rule, order):
        return False
    return all(codes[value] == order.index(number) for value, number in numbers.items())


def contradict(one: Rule, other: Rule) -> bool:
    """Tell whether a value that two rules know stands for different things: other thresholds, or other categories.

    The numbers of categories may differ: no, yes and no, maybe, yes do not contradict each other.
    """
    if isinstance(one, Cut) or isinstance(other, Cut):
        thresholds = {rule.threshold for rule in (one, other) if isinstance(rule, Cut)}
        return len(thresholds) > 1 or not all(isinstance(rule, Cut) or rule.is_plain for rule in (one, other))
    if isinstance(one, Steps) or isinstance(other, Steps):
        return False  # their steps are compared as categories
    pairs = {(category, other.entries[value]) for value, category in one.entries.items() if value in other.entries}
    return len(pairs) > len({mine for mine, _ in pairs})  # one of its categories is two of the other rule
