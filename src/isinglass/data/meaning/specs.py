"""What is stated and known about the columns of a table before their values have a meaning.

`specify` sorts the options by column, and `ColumnSpec.read_as` says what a column is read as: what an option states
about it by name goes before what one states for all columns, then comes the type that the source declares, and then
what the values show.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from isinglass.arguments import as_ordered, check_word
from isinglass.arrays import FloatArray
from isinglass.data.column import Column
from isinglass.data.meaning.recognition import MANY_LEVELS, no_answers
from isinglass.data.meaning.rules import Cut, Levels, Rule
from isinglass.data.meaning.values import Value, is_bit, is_finite, is_number, read_cell, read_word
from isinglass.data.options import Binarize, Encode, ValueOptions, by_column
from isinglass.data.source import Source
from isinglass.data.table import Kinds
from isinglass.errors import ArgumentError, DataError, setting
from isinglass.variables import KINDS


@dataclass(frozen=True)
class Statement:
    """What the option ``encode`` says about the values of a column, in one of three ways.

    ``{"a": {"Yes": 1, "No": 0}}`` speaks of column a (``by_name``); ``{"Yes": 1, "No": 0}`` of every column in which
    these values occur; ``"auto"`` of every column of two values (``is_auto``), which the package puts in order.
    """

    numbers: Mapping[Value, Value] = field(default_factory=dict)  # by value; None for a missing cell
    by_name: bool = False
    is_auto: bool = False

    @property
    def missing(self) -> list[Value]:
        """The values that stand for a missing cell: those of ``{"refused": None}``."""
        return [value for value, number in self.numbers.items() if number is None]

    @property
    def answers(self) -> dict[Value, Value]:
        """The numbers of the other values."""
        return {value: number for value, number in self.numbers.items() if number is not None}


@dataclass(frozen=True, eq=False)
class ColumnSpec:
    """A column before its values have a meaning: what the user states about it, and what it is itself."""

    source: Source
    place: int  # in the source
    label: Hashable  # name or number
    kind: str | None  # stated by the user, by name or for all columns, or implied by the scores
    scores: Value  # numbers, a mapping of values to numbers, or "normal"
    encode: Statement
    cut: Cut | None  # a threshold
    is_reversed: bool
    missing: Collection[Value]  # values that `na_values` makes missing
    is_covariate: bool

    @property
    def read_as(self) -> str:
        """The kind by whose rules the column is read; "binary" is any column of two values.

        A threshold makes two values. Then counts the kind that is stated; then "auto", for a column of two values;
        then what `encode` says of its values, which are two unless a kind is stated; then the kind that its type in the
        source declares; then its values: numbers of a covariate, and many numbers with fractions, are continuous.
        """
        if self.cut is not None or self.kind is not None:
            return self.kind or "binary"
        if self.is_encoded or (self.encode.is_auto and len(self.values) <= 2):
            return "binary"
        declared = None if self.source.block is not None else self.column.declared
        if declared is not None:
            return declared
        if self.is_measured:
            return "continuous"
        if not self.is_covariate or all(map(is_bit, self.values)):
            return "binary"
        return "continuous" if len(self.values) > 2 and all(map(is_number, self.values)) else "nominal"

    @property
    def is_measured(self) -> bool:
        """Whether the values can only be numbers: many with fractions. Of an array, one type holds for all columns."""
        block = self.source.block
        if self.source.is_array or (block is not None and block.dtype.kind != "f") or not self.column.has_fractions:
            return False
        return len(self.values) > MANY_LEVELS and all(map(is_number, self.values))

    @property
    def is_open(self) -> bool:
        """Whether nothing but its values says what the column is."""
        is_stated = self.kind is not None or self.cut is not None or self.is_encoded or self.is_covariate
        return not is_stated and (self.source.block is not None or self.column.declared is None)

    @cached_property
    def column(self) -> Column:
        """Its cells, with labels in place of the values if all have one.

        0 and 1 keep their values, unless `encode` speaks of the labels. Of labels for 1 and 2, 1 is the first category,
        also where 2 never occurs. Numbers beside texts in a nominal column are texts, too: 170, 171a.
        """
        column = use_labels(self._raw) if self.category_labels else self._raw
        if self.kind != "nominal" or self.encode.by_name or column.values is None:
            return column
        are_numbers = {is_number(value) for value in column.distinct if is_number(value) or isinstance(value, str)}
        return column.spelled() if len(are_numbers) > 1 else column

    @cached_property
    def _raw(self) -> Column:
        """Its cells as the source has them; words that `encode` speaks of are not blank."""
        column = self.source.column(self.place)
        stated = column.blanks.intersection(self.encode.numbers)
        return replace(column, blanks=column.blanks - stated) if stated else column

    @cached_property
    def category_labels(self) -> Mapping[Value, Value]:
        """The values with their labels, where the labels are the categories: 1 is "men", 2 "women"; else nothing."""
        raw, stated = self._raw, self.encode.numbers
        if not raw.labels:
            return {}
        answers = answers_of(raw)
        if any(label in stated for label in answers.values()):
            return answers if is_all_labeled(raw) else {}
        all_are_stated = bool(stated) and set(raw.distinct) <= stated.keys()
        present = set(raw.distinct)
        are_bits = present <= {0, 1} and (not present or 0 in answers or answers.keys() <= {0, 1})
        return answers if is_all_labeled(raw) and not are_bits and not all_are_stated else {}

    @cached_property
    def values(self) -> list[Value]:
        """The values that occur."""
        return self.column.distinct

    @property
    def kept_values(self) -> list[Value]:
        """The values that occur, without those that `encode` makes missing."""
        missing = self.encode.missing
        return [value for value in self.values if value not in missing]

    @property
    def numbers(self) -> FloatArray:
        """The numbers among its cells, row by row."""
        return np.array([cell for cell in self.column.entries.tolist() if is_number(cell)], dtype=np.float64)

    @property
    def is_encoded(self) -> bool:
        """Whether `encode` speaks of its values: it names the column, or one of them."""
        stated = self.encode.numbers
        return self.encode.by_name or (bool(stated) and any(value in stated for value in self.values))

    @property
    def where(self) -> str:
        """What messages call it."""
        return self.source.where(self.place)

    def finish(self, rule: Rule) -> Rule:
        """Return a rule with all that holds for other tables: labels, and values that stand for a missing cell."""
        if isinstance(rule, Levels) and self.category_labels:
            rule = replace(rule, labels=self.category_labels)
        return self.with_missing(rule).with_missing(self.encode.missing)

    def with_missing(self, rule: Rule) -> Rule:
        """Return a rule with the values that `na_values` declares missing; the same rule if it has them."""
        return rule.with_missing([read_word(value, self.source.decimal) for value in self.missing])


def answers_of(column: Column) -> dict[Value, Value]:
    """Return its labels in the order of the values, without those that stand for a missing cell and do not occur."""
    present = set(column.distinct)
    ordered = sorted(column.labels, key=lambda value: (isinstance(value, str), value))
    labels = {value: column.labels[value] for value in ordered if not column.is_gone(value)}
    return {value: label for value, label in labels.items() if value in present or not no_answers([label])}


def is_all_labeled(column: Column) -> bool:
    """Tell whether all values that occur have a label."""
    return bool(column.labels) and answers_of(column).keys() >= set(column.distinct)


def use_labels(column: Column) -> Column:
    """Return the column with labels in place of its values, which all have one."""
    answers = answers_of(column)
    values = [answers.get(value) for value in column.values or ()]
    return Column(column.cells, values, categories=tuple(dict.fromkeys(answers.values())))


def specify(source: Source, stated: ValueOptions) -> list[ColumnSpec]:
    """Return what is stated about every column; where two options contradict each other, that which names it counts."""
    _check_forms(stated)
    named_kinds, scores = _list_kinds(stated.kinds, source), source.locate(stated.scores or {}, "scores")
    statements, cuts = _list_statements(stated.encode, source), _list_cuts(stated.binarize, source)
    missing = stated.missing_in(source)
    reversed_columns = source.locate(dict.fromkeys(stated.reverse), "reverse")
    covariates = source.locate(dict.fromkeys(stated.covariates), "covariates")
    for_all = stated.kinds if isinstance(stated.kinds, str) else None
    cuts_are_named = isinstance(stated.binarize, Mapping)
    specs = []
    for j, label in enumerate(source.labels):
        points = scores.get(j)
        implied = None if points is None else "continuous" if isinstance(points, str) else "ordinal"
        named = named_kinds.get(j) or implied
        spec = ColumnSpec(
            source,
            place=j,
            label=label,
            kind=named or (None if cuts_are_named and j in cuts else for_all),
            scores=points,
            encode=statements[j],
            cut=None if named and not cuts_are_named else cuts.get(j),
            is_reversed=j in reversed_columns,
            missing=missing.get(j, ()),
            is_covariate=j in covariates,
        )
        specs.append(spec)
    return specs


def _check_forms(stated: ValueOptions) -> None:
    """Refuse options of the wrong form, and a threshold for all columns beside what values mean."""
    encode = stated.encode
    if stated.scores is not None and not isinstance(stated.scores, Mapping):
        raise ArgumentError("scores", 'must be a mapping of columns to numbers or "normal"', stated.scores)
    of_columns = isinstance(encode, Mapping) and any(isinstance(each, Mapping | tuple) for each in encode.values())
    is_clear = isinstance(encode, Mapping) and encode and (by_column(encode) or not of_columns)
    if encode is not None and encode != "auto" and not is_clear:
        allowed = 'None, "auto", a mapping such as {"Yes": 1, "No": 0}, or one of these per column'
        raise ArgumentError("encode", f"must be {allowed}", encode)
    if encode is not None and stated.binarize is not None and not isinstance(stated.binarize, Mapping):
        raise DataError(
            f"{setting('encode', *(['auto'] if encode == 'auto' else []))} and {setting('binarize')} must not be "
            f"combined, unless {setting('binarize')} names columns."
        )


def _list_statements(encode: Encode, source: Source) -> list[Statement]:
    """Return what `encode` says about each column; words are read as the cells of the column are."""
    by_key = dict(encode) if by_column(encode) else {None: encode}
    others = by_key.pop(None, None)  # what holds for columns that are not named
    named, decimal = source.locate(by_key, "encode"), source.decimal or "."
    statements = []
    for j in range(source.shape[1]):
        numbers = named.get(j, others)
        if not isinstance(numbers, Mapping):
            statements.append(Statement(is_auto=numbers == "auto"))
            continue
        if source.column(j).declared is None:
            numbers = {read_cell(word, decimal) if isinstance(word, str) else word: n for word, n in numbers.items()}
        statements.append(Statement(numbers, by_name=j in named))
    return statements


def _list_cuts(binarize: Binarize, source: Source) -> dict[int, Cut]:
    """Return the thresholds of columns."""
    if binarize is not None and not isinstance(binarize, Mapping):
        binarize = dict.fromkeys(range(source.shape[1]), binarize)
    thresholds = source.locate(binarize or {}, "binarize")
    for threshold in thresholds.values():
        if isinstance(threshold, bool | np.bool_) or not is_finite(threshold):
            raise ArgumentError("binarize", "must be None or a finite number", threshold)
    return {j: Cut(float(threshold)) for j, threshold in thresholds.items()}


def _list_kinds(stated: Kinds | None, source: Source) -> dict[int, str]:
    """Return the kinds of columns that have one of their own, in a list or a mapping; check that for all."""
    if stated is None or isinstance(stated, str):
        if stated is not None:
            check_word("kinds", stated, KINDS)
        return {}
    if isinstance(stated, Mapping):
        kinds = source.locate(stated, "kinds")
    else:
        p, entries = source.shape[1], as_ordered("kinds", stated, "must be one word, an entry per column, or a mapping")
        if len(entries) != p:
            name = source.layout.id_column
            row_names = (
                f"Column {name!r} names the rows, unless {setting('id_column', None)}." if name is not None else ""
            )
            raise ArgumentError("kinds", f"must have one entry per column ({p})", len(entries), row_names)
        kinds = {j: entry for j, entry in enumerate(entries) if entry is not None}
    for kind in kinds.values():
        check_word("kinds", kind, KINDS)
    return kinds
