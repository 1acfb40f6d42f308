"""What is stated and known about the columns of a table before their values have a meaning."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from isinglass.arrays import FloatArray
from isinglass.data.column import Column
from isinglass.data.meaning.rules import Cut, Levels, Rule
from isinglass.data.meaning.value_labels import answers_of, has_named_categories, is_all_labeled, use_labels
from isinglass.data.meaning.values import Value, is_number, read_word
from isinglass.data.source import Source


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
    def has_numbers(self) -> bool:
        """Whether it gives numbers to values, perhaps of other columns only."""
        return self.by_name or bool(self.numbers)

    @property
    def missing(self) -> list[Value]:
        """The values that stand for a missing cell: those of ``{"refused": None}``."""
        return [value for value, number in self.numbers.items() if number is None]

    @property
    def answers(self) -> dict[Value, Value]:
        """The numbers of the other values."""
        return {value: number for value, number in self.numbers.items() if number is not None}

    def answers_among(self, values: Collection[Value]) -> dict[Value, Value]:
        """Return the numbers of the categories of a column of these values.

        A mapping for columns of several kinds, yes=1 and often=1, gives equal numbers to values of different columns:
        the categories of this one are then those that occur in it.
        """
        answers = self.answers
        if self.by_name or len(set(answers.values())) == len(answers):
            return answers
        return {value: number for value, number in answers.items() if value in values}


@dataclass(frozen=True, eq=False)
class ColumnSpec:
    """A column before its values have a meaning: what the user states about it, and what it is itself."""

    source: Source
    place: int  # in the source
    label: Hashable  # name or number
    kind: str | None  # stated by the user, or implied by the scores
    scores: Value  # numbers, a mapping of values to numbers, or "normal"
    encode: Statement
    cut: Cut | None  # a threshold
    is_reversed: bool
    missing: Collection[Value]  # values that `na_values` makes missing
    is_covariate: bool

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
        return answers if has_named_categories(raw) and not all_are_stated else {}

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
    def has_words(self) -> bool:
        """Whether a value that it keeps is a text."""
        return any(isinstance(value, str) for value in self.kept_values)

    @property
    def numbers(self) -> FloatArray:
        """The numbers among its cells, row by row."""
        return np.array([cell for cell in self.column.entries.tolist() if is_number(cell)], dtype=np.float64)

    @property
    def is_encoded(self) -> bool:
        """Whether `encode` speaks of its values: it names the column, or one of them."""
        return self.encode.by_name or any(value in self.encode.numbers for value in self.values)

    @property
    def source_kind(self) -> str | None:
        """The kind that its type in the source declares, such as a categorical of pandas; numbers declare none."""
        return None if self.source.block is not None else self.column.declared

    @property
    def known_kind(self) -> str | None:
        """The kind that is stated; else that of its type in the source, unless something is said about its values."""
        is_open = self.kind is None and self.cut is None and not self.encode.has_numbers
        return self.source_kind if is_open else self.kind

    @property
    def where(self) -> str:
        """What messages call it."""
        return self.source.where(self.place)

    def finish(self, rule: Rule) -> Rule:
        """Return a rule with all that holds for other tables: labels, and values that stand for a missing cell."""
        if isinstance(rule, Levels) and self.category_labels:
            rule = replace(rule, labels=self.category_labels)
        if isinstance(rule, Levels) and not self.is_encoded and rule.has_words:
            rule = replace(rule, has_found_words=True)
        return self.with_missing(rule).with_missing(self.encode.missing)

    def with_missing(self, rule: Rule) -> Rule:
        """Return a rule with the values that `na_values` declares missing; the same rule if it has them."""
        return rule.with_missing([read_word(value, self.source.decimal) for value in self.missing])
