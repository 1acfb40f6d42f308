"""The rules by which the values of a column become categories: as listed, by a threshold, or on a grid.

``read`` says what values of any type stand for, ``convert`` what an array of numbers does: the number of a category,
`ABSENT` for a missing cell, `UNKNOWN` for a value without meaning.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isinglass.arguments import require
from isinglass.arrays import AnyArray
from isinglass.data.meaning.values import (
    Value,
    as_float,
    is_among,
    is_number,
    respell,
    show_span,
    spell_out,
)
from isinglass.variables import check_variable

if TYPE_CHECKING:
    from isinglass.data.column import Column

ABSENT, UNKNOWN = -1, -2
"""What stands for a missing cell, and for a value without meaning, among the numbers of categories."""
Cells: TypeAlias = AnyArray
"""An array of values of one type, or of objects."""
Codes: TypeAlias = NDArray[np.integer]  # the numbers of categories, of the smallest type that holds them


@dataclass(frozen=True, kw_only=True)
class _Rule(ABC):
    """What all rules share: values that stand for a missing cell."""

    missing: tuple[Value, ...] = ()  # words as they are spelled, numbers however these are spelled

    @cached_property
    def _missing(self) -> frozenset[Value]:
        return spell_out(self.missing)

    @property
    @abstractmethod
    def n_categories(self) -> int:
        """How many categories there are."""

    @property
    def dtype(self) -> type[np.int8] | type[np.int16]:
        """The smallest type that holds its codes."""
        return np.int8 if self.n_categories < 128 else np.int16

    @property
    def is_plain(self) -> bool:
        """Whether 0 and 1 stand for themselves, and nothing else for a category."""
        return False

    @property
    def has_words(self) -> bool:
        """Whether a text stands for a category."""
        return False

    def with_missing(self, values: Collection[Value]) -> Self:
        """Return the rule by which more values stand for a missing cell."""
        added = [value for value in values if not is_among(value, self._missing)]
        return replace(self, missing=(*self.missing, *added)) if added else self

    def read(
        self, values: Sequence[Value], labels: Mapping[Value, Value] | None = None, blanks: Collection[str] = ()
    ) -> Codes:
        """Return what values of any type stand for: this is the only place that says so for a single value.

        ``labels`` are what their source calls some of them. ``blanks`` are words for a missing cell there, unless they
        stand for a category here.
        """
        labels = labels or {}
        codes = self._code_values(values, labels)
        for k, (value, code) in enumerate(zip(values, codes.tolist(), strict=True)):
            spellings = value, labels.get(value)
            is_blank = code == UNKNOWN and (value is None or any(word in blanks for word in spellings))
            if is_blank or (self._missing and any(is_among(word, self._missing) for word in spellings)):
                codes[k] = ABSENT
        return codes

    def convert(self, numbers: Cells) -> Codes:
        """Return what an array of numbers stands for; NaN for a missing cell."""
        codes, missing = self._code_numbers(numbers), [number for number in self._missing if is_number(number)]
        if numbers.dtype.kind == "b":
            missing = [truth for truth in (False, True) if is_among(truth, self._missing)]
        elif numbers.dtype.kind == "f":
            codes[np.isnan(numbers)] = ABSENT
        else:  # as floats, whole numbers beyond 2**53 would be equal to others
            missing = [int(number) for number in missing if as_float(number).is_integer()]
        for number in missing:
            codes[numbers == np.asarray(number)] = ABSENT  # a plain number would be rounded to their precision
        return codes

    def _code_values(self, values: Sequence[Value], labels: Mapping[Value, Value]) -> Codes:
        """Return the categories of values that are not missing; of numbers, unless another rule says more."""
        return self._code_numbers(np.array([as_float(value) for value in values], dtype=np.float64))

    @abstractmethod
    def _code_numbers(self, numbers: Cells) -> Codes:
        """Return the categories of numbers."""


@dataclass(frozen=True)
class Levels(_Rule):
    """A column of categories: the number of the category that every value stands for.

    Several values may stand for a category, and none for one of a binary column that never occurs.
    """

    entries: Mapping[Value, int]
    kind: str = "binary"
    scores: tuple[float, ...] | None = (0.0, 1.0)  # None for a nominal column
    is_reversed: bool = False  # whether the user asked for the last category first
    # what the values of the source were called, if the entries are labels: other sources may have the values alone
    labels: Mapping[Value, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_variable("of the coding", self.kind, self.n_categories, self.scores)
        codes, every = set(self.entries.values()), set(range(self.n_categories))
        fits = codes <= every and (self.kind == "binary" or codes == every)
        require(fits, "The values of a column stand for its categories, numbered from 0.")

    @cached_property
    def n_categories(self) -> int:
        """How many categories there are."""
        return 2 if self.kind == "binary" else len(set(self.entries.values()))

    @property
    def values(self) -> tuple[Value, ...]:
        """The first value of every category; None for one that has none."""
        first: dict[int, Any] = {}
        for value, number in self.entries.items():
            first.setdefault(number, value)
        return tuple(first.get(k) for k in range(self.n_categories))

    @property
    def pair(self) -> tuple[Value, Value]:
        """The values that stand for 0 and for 1; a tuple where there are several, None where there is none."""
        groups = [tuple(value for value, bit in self.entries.items() if bit == side) for side in (0, 1)]
        zero, one = (group[0] if len(group) == 1 else group or None for group in groups)
        return zero, one

    @property
    def is_plain(self) -> bool:
        """Whether 0 and 1 stand for themselves, and nothing else for a category."""
        return self is BITS or (self.kind == "binary" and self.pair == (0, 1))

    @cached_property
    def has_words(self) -> bool:
        """Whether a text stands for a category."""
        return any(isinstance(value, str) for value in self.entries)

    @cached_property
    def _codes(self) -> dict[Value, int]:
        """The category of every value, also without blanks around it; where values had labels, those of the labels."""
        stripped = {value.strip(): code for value, code in self.entries.items() if isinstance(value, str)}
        labeled = {value: self.entries.get(label, UNKNOWN) for value, label in self.labels.items()}
        return {**stripped, **self.entries, **labeled}

    def reversed(self) -> Levels:
        """Return the rule with the last category first, for an ordered column."""
        assert self.scores is not None
        ends, last = min(self.scores) + max(self.scores), self.n_categories - 1
        entries = sorted(((value, last - code) for value, code in self.entries.items()), key=lambda entry: entry[1])
        scores = tuple(ends - score for score in self.scores[::-1])
        return replace(self, entries=dict(entries), scores=scores, is_reversed=True)

    def _code_values(self, values: Sequence[Value], labels: Mapping[Value, Value]) -> Codes:
        """Return the categories of values; those of their labels, where the entries are labels."""
        labeled = {value: label for value, label in labels.items() if self.labels or label in self.entries}
        codes = self._codes | {value: self.entries.get(label, UNKNOWN) for value, label in labeled.items()}
        return np.fromiter((codes.get(value, UNKNOWN) for value in values), self.dtype, len(values))

    def _code_numbers(self, numbers: Cells) -> Codes:
        codes: Codes = np.full(numbers.shape, UNKNOWN, dtype=self.dtype)
        for value, code in self._codes.items():
            if is_number(value):
                codes[numbers == value] = code
        return codes


@dataclass(frozen=True)
class Cut(_Rule):
    """Numbers above a threshold stand for 1, the others for 0."""

    threshold: float

    kind: ClassVar[str] = "binary"
    scores: ClassVar[tuple[float, ...]] = (0.0, 1.0)
    values: ClassVar[tuple[Value, ...]] = (0, 1)
    n_categories = 2

    def _code_numbers(self, numbers: Cells) -> Codes:
        # An array, not a number: a number would be rounded to the precision of the table first.
        codes: Codes = np.asarray(np.greater(numbers, np.array([self.threshold])), dtype=self.dtype)
        codes[~np.isfinite(numbers)] = UNKNOWN
        return codes


@dataclass(frozen=True)
class Steps(_Rule):
    """A continuous column: numbers stand for the steps of a grid, those beyond its ends for the first and the last."""

    bounds: tuple[float, ...]  # between two steps, ascending; a number on one belongs to the step above
    values: tuple[float, ...]  # the middle of each step
    scores: tuple[float, ...]  # of each step, in standard deviations of the column that the grid was made for
    means: tuple[float, ...]  # of its numbers in each step, cut off at the ends, with the weights of the rows
    quartiles: tuple[tuple[float, ...], ...]  # of its numbers in each step: smallest, three quartiles, largest
    ends: tuple[float, float] = (-math.inf, math.inf)  # of the grid; of normal scores, quantiles of the numbers
    beyond: tuple[int, int] = (0, 0)  # rows below and above the ends, of that column
    is_normal: bool = False  # whether the scores are normal ones: quantiles of the ranks
    decimals: int | None = None  # of the numbers of that column; None if they have many

    kind: ClassVar[str] = "continuous"

    def __post_init__(self) -> None:
        q = len(self.values)
        fits = 3 <= q == len(self.scores) == len(self.bounds) + 1 == len(self.means) == len(self.quartiles) <= 256
        require(fits, "A continuous column has 3 to 256 steps, each with a mean and quartiles.")
        points = (self.bounds, self.values, self.scores)
        ascend = all(np.isfinite(each).all() and (np.diff(each) > 0).all() for each in points)
        require(ascend, "The steps of a continuous column are finite numbers in ascending order.")
        five, means = np.array(self.quartiles), np.array(self.means)
        fits = five.shape == (q, 5) and bool(np.isfinite(five).all() and (np.diff(five) >= 0).all())
        fits = fits and bool(((five[:, 0] <= means) & (means <= five[:, -1])).all())
        require(fits, "Every step of a continuous column has a mean, between the smallest and the largest number.")

    @classmethod
    def around(cls, values: Sequence[float], scores: tuple[float, ...]) -> Steps:
        """Return the rule by which numbers belong to the nearest of the values that stand for the steps.

        Nothing is known of the numbers within a step: they are taken to be evenly spread, or the value itself where the
        values are all whole numbers from the first to the last.
        """
        bounds = tuple((a + b) / 2 for a, b in pairwise(values))
        ends = (2 * values[0] - bounds[0], *bounds, 2 * values[-1] - bounds[-1])
        are_whole = all(isinstance(value, int) for value in values) and values[-1] - values[0] == len(values) - 1
        spans = zip(values, values, strict=True) if are_whole else pairwise(ends)
        decimals = 0 if are_whole else None
        quartiles = tuple(tuple(np.linspace(a, b, 5).tolist()) for a, b in spans)
        return cls(bounds, tuple(values), scores, tuple(map(float, values)), quartiles, decimals=decimals)

    @property
    def n_categories(self) -> int:
        """How many steps there are."""
        return len(self.values)

    @property
    def in_words(self) -> str:
        """How its numbers lie on the grid, and how many rows beyond its ends count for the end steps."""
        scale = "of normal scores " if self.is_normal else ""
        ends = f"{self.n_categories} steps {scale}from {show_span(self.values[0], self.values[-1])}"
        tails = [f"{n} {side}" for n, side in zip(self.beyond, ("below", "above"), strict=True) if n]
        return f"{ends}, {' and '.join(tails)} the grid" if tails else ends

    def _code_numbers(self, numbers: Cells) -> Codes:
        places = np.searchsorted(self.bounds, np.asarray(numbers, dtype=np.float64), side="right")
        codes: Codes = np.asarray(places, dtype=self.dtype)
        codes[~np.isfinite(numbers)] = UNKNOWN
        return codes


Rule: TypeAlias = Levels | Cut | Steps
BITS = Levels({0: 0, 1: 1})


def apply_rule(rule: Rule, column: Column) -> Codes:
    """Return what every cell of a column stands for."""
    rule = rule.with_missing(column.gone)
    if column.values is None and not rule.has_words:
        return rule.convert(column.cells)
    numbered = column.numbered()
    return np.asarray(_read_values(rule, numbered).take(numbered.cells))


def _read_values(rule: Rule, column: Column) -> Codes:
    """Return what every value stands for, and after them a missing cell, whose position is -1.

    A rule of words tells the texts 01 and 1 apart. A value that it does not know is read in the other way: a text as
    what it spells, a number as its text.
    """
    values = column.values or ()
    by_words = column.words is not None and rule.has_words and not column.labels
    compared = [word.strip() for word in column.words or ()] if by_words else values
    codes = rule.read([*compared, None], column.labels, column.blanks)
    unknown = np.flatnonzero(codes == UNKNOWN).tolist()
    if by_words:
        codes[unknown] = rule.read([values[k] for k in unknown])
    elif column.words is None:
        codes[unknown] = rule.read([respell(values[k]) for k in unknown])
    return codes


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
