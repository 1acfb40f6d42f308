"""What the values of a column mean: the number of a category, or a missing cell; and `Coding`, how a table was read."""

from __future__ import annotations

import heapq
import math
import numbers
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, Self, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from isinglass.arguments import require
from isinglass.arrays import AnyArray
from isinglass.names import default_names
from isinglass.variables import Variables, check_variable

MISSING_CHOICES = ("error", "impute", "zero", "drop")
ABSENT, UNKNOWN = -1, -2
"""What stands for a missing cell, and for a value without meaning, among the numbers of categories."""
Value: TypeAlias = Any
"""A value of the source: a number, a text, a truth value, a date, or None for a missing cell."""
Cells: TypeAlias = AnyArray
"""An array of values of one type, or of objects."""
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_SWAPPED = str.maketrans(",.", ".,")
Codes: TypeAlias = NDArray[np.integer]  # the numbers of categories, of the smallest type that holds them


@dataclass(frozen=True)
class Levels:
    """A column of categories: the number that every value stands for, `ABSENT` if it stands for a missing cell.

    Several values may stand for a category, and none for one of a binary column that never occurs.
    """

    entries: Mapping[Value, int]
    kind: str = "binary"
    scores: tuple[float, ...] | None = (0.0, 1.0)  # None for a nominal column
    is_reversed: bool = False  # whether the user asked for the last category first

    def __post_init__(self) -> None:
        check_variable("of the coding", self.kind, self.n_categories, self.scores)
        codes = set(self.entries.values()) - {ABSENT}
        unused = set(range(self.n_categories)) - codes
        fits = codes <= set(range(self.n_categories)) and (self.kind == "binary" or not unused)
        require(fits, "The values of a column stand for its categories, numbered from 0.")

    @cached_property
    def n_categories(self) -> int:
        """How many categories there are."""
        return 2 if self.kind == "binary" else len(set(self.entries.values()) - {ABSENT})

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
    def dtype(self) -> type[np.int8] | type[np.int16]:
        """The smallest type that holds its codes."""
        return np.int8 if self.n_categories < 128 else np.int16

    @property
    def is_plain(self) -> bool:
        """Whether 0 and 1 stand for themselves, and nothing else for a category."""
        return self is BITS or (self.kind == "binary" and self.pair == (0, 1))

    def with_missing(self, values: Iterable[Hashable]) -> Levels:
        """Return the rule by which more values stand for a missing cell."""
        added = {value: ABSENT for value in values if value not in self.entries}
        return replace(self, entries={**self.entries, **added}) if added else self

    def read(self, values: Iterable[Hashable]) -> Codes:
        """Return what values of any type stand for."""
        return np.array([self.entries.get(value, UNKNOWN) for value in values], dtype=self.dtype)

    def convert(self, values: Cells) -> Codes:
        """Return what an array of numbers stands for."""
        codes: Codes = np.full(values.shape, UNKNOWN, dtype=self.dtype)
        for value, code in self.entries.items():
            if is_number(value):
                codes[values == value] = code
        return codes


class _NumberRule:
    """What the rules of numbers share: numbers that stand for a missing cell, and no meaning for other values."""

    missing: tuple[float, ...]

    def with_missing(self, values: Iterable[Hashable]) -> Self:
        """Return the rule by which more values stand for a missing cell."""
        return replace(self, missing=(*self.missing, *filter(is_number, values)))  # type: ignore[type-var]

    def read(self, values: Iterable[Value]) -> Codes:
        """Return what values of any type stand for."""
        return self.convert(np.array([_as_float(value) for value in values], dtype=np.float64))

    def convert(self, values: Cells) -> Codes:
        """Return what an array of numbers stands for."""
        codes = self._place(values)
        codes[~np.isfinite(values)] = UNKNOWN
        if self.missing:
            codes[np.isin(values, self.missing)] = ABSENT
        return codes

    def _place(self, values: Cells) -> Codes:
        """Return the categories of finite numbers."""
        raise NotImplementedError


@dataclass(frozen=True)
class Cut(_NumberRule):
    """Numbers above a threshold stand for 1, the others for 0."""

    threshold: float
    missing: tuple[float, ...] = ()  # numbers that stand for a missing cell

    kind, scores, values, dtype, n_categories, is_plain = "binary", (0.0, 1.0), (0, 1), np.int8, 2, False

    def _place(self, values: Cells) -> Codes:
        # An array, not a number: a number would be rounded to the precision of the table first.
        return np.asarray(np.greater(values, np.array([self.threshold])), dtype=self.dtype)


@dataclass(frozen=True)
class Steps(_NumberRule):
    """A continuous column: numbers stand for the steps of a grid, those beyond its ends for the first and the last."""

    bounds: tuple[float, ...]  # between two steps, ascending; a number on one belongs to the step above
    values: tuple[float, ...]  # the number that stands for each step
    scores: tuple[float, ...]  # of each step, in standard deviations of the column that the grid was made for
    ends: tuple[float, float] = (-math.inf, math.inf)  # where the first step begins and the last one ends
    beyond: tuple[int, int] = (0, 0)  # rows below and above the ends, of that column
    missing: tuple[float, ...] = ()  # numbers that stand for a missing cell
    is_normal: bool = False  # whether the scores are normal ones: quantiles of the ranks

    kind, is_plain = "continuous", False

    def __post_init__(self) -> None:
        q = len(self.values)
        require(3 <= q == len(self.scores) == len(self.bounds) + 1 <= 256, "A continuous column has 3 to 256 steps.")
        for points in (self.bounds, self.values, self.scores):
            ascending = all(a < b for a, b in pairwise(points)) and all(map(math.isfinite, points))
            require(ascending, "The steps of a continuous column are finite numbers in ascending order.")

    @classmethod
    def around(cls, values: Sequence[float], scores: tuple[float, ...]) -> Steps:
        """Return the rule by which numbers belong to the nearest of the values that stand for the steps."""
        return cls(tuple((a + b) / 2 for a, b in pairwise(values)), tuple(values), scores)

    @property
    def n_categories(self) -> int:
        """How many steps there are."""
        return len(self.values)

    @property
    def in_words(self) -> str:
        """How its numbers lie on the grid."""
        scale = "of normal scores " if self.is_normal else ""
        ends = f"{self.n_categories} steps {scale}from {self.values[0]:g} to {self.values[-1]:g}"
        return ", ".join(filter(None, [ends, self.tails_in_words]))

    @property
    def tails_in_words(self) -> str:
        """How many rows are beyond the ends of the grid and count for its end steps; empty if none is."""
        tails = [f"{n} {side}" for n, side in zip(self.beyond, ("below", "above"), strict=True) if n]
        return f"{' and '.join(tails)} the grid" if tails else ""

    @property
    def dtype(self) -> type[np.int8] | type[np.int16]:
        """The smallest type that holds its codes."""
        return np.int8 if self.n_categories < 128 else np.int16

    def _place(self, values: Cells) -> Codes:
        numbers = np.asarray(values, dtype=np.float64)
        return np.asarray(np.searchsorted(self.bounds, numbers, side="right"), dtype=self.dtype)


@dataclass(frozen=True)
class Indicators(Levels):
    """A column made of indicator columns: a category for each, and perhaps one for rows in which none is 1."""

    members: tuple[str, ...] = ()  # the indicator columns
    rules: tuple[Levels | Cut | Steps, ...] = ()  # what their values mean


Rule: TypeAlias = Levels | Cut | Steps
BITS = Levels({0: 0, 1: 1})


@dataclass(frozen=True)
class Coding:
    """How the values of a table were read. ``as_table(X, encode=coding)`` reads another table in the same way.

    Parameters
    ----------
    names : tuple of str, optional
        Names of the columns; None if the table had none.
    columns : tuple of Levels, Cut or Steps
        What the values of each column mean.
    missing : {"error", "impute", "zero", "drop"}
        How missing cells were treated.
    covariate : tuple of bool, optional
        Which columns are covariates; none by default.
    """

    names: tuple[str, ...] | None
    columns: tuple[Levels | Cut | Steps | Indicators, ...]
    missing: str = "error"
    covariate: tuple[bool, ...] = ()

    def __post_init__(self) -> None:
        require(
            len(self.covariate) in (0, len(self.columns)), "A coding says of every column whether it is a covariate."
        )
        is_choice = self.missing in MISSING_CHOICES
        require(is_choice, f"Missing cells are read as 'error', 'impute', 'zero' or 'drop', not as {self.missing!r}.")

    @classmethod
    def of(cls, variables: Variables) -> Coding:
        """Return the coding of a table that holds the categories of these variables."""
        rules = (
            Steps.around(values, scores or ())
            if kind == "continuous"
            else Levels({value: k for k, value in enumerate(values) if value is not None}, kind, scores)
            for kind, values, scores in zip(variables.kinds, variables.categories, variables.scores, strict=True)
        )
        columns = (BITS,) * variables.n_features if variables.is_plain else tuple(rules)
        covariate = variables.covariate if variables.has_covariates else ()
        return cls(variables.names if variables.named else None, columns, covariate=covariate)

    @property
    def variables(self) -> Variables:
        """The variables of a table that is read with this coding."""
        if all(rule.is_plain or isinstance(rule, Cut) for rule in self.columns):
            variables = Variables.binary(len(self.columns) if self.names is None else self.names)
        else:
            kinds, scores, values = zip(*((rule.kind, rule.scores, rule.values) for rule in self.columns), strict=True)
            variables = Variables.of(values, kinds, scores, self.names)
        covariates = [j for j, is_covariate in enumerate(self.covariate) if is_covariate]
        return variables.with_covariates(covariates) if covariates else variables

    def take(self, columns: Sequence[int]) -> Coding:
        """Return the coding of some of the columns."""
        names = None if self.names is None else tuple(self.names[j] for j in columns)
        covariate = tuple(self.covariate[j] for j in columns) if self.covariate else ()
        return replace(self, names=names, columns=tuple(self.columns[j] for j in columns), covariate=covariate)

    @property
    def encoding(self) -> dict[Hashable, tuple[Value, Value]]:
        """The values that stand for 0 and 1, for each binary column of other values than 0 and 1 or a threshold."""
        labels: Sequence[Hashable] = range(len(self.columns)) if self.names is None else self.names
        levels = {label: rule for label, rule in zip(labels, self.columns, strict=True) if isinstance(rule, Levels)}
        return {label: rule.pair for label, rule in levels.items() if rule.kind == "binary" and not rule.is_plain}

    @property
    def members(self) -> list[tuple[str, ...]]:
        """The columns of the source that each column is made of: itself, or several indicators."""
        rule_of = zip(self.names or default_names(len(self.columns)), self.columns, strict=True)
        return [rule.members if isinstance(rule, Indicators) else (name,) for name, rule in rule_of]

    @property
    def words(self) -> set[str]:
        """The words that stand for a category, of any column of the source."""
        levels = [rule for rule in self.expand().columns if isinstance(rule, Levels)]
        pairs = chain.from_iterable(rule.entries.items() for rule in levels)
        return {value for value, code in pairs if isinstance(value, str) and code != ABSENT}

    def expand(self) -> Coding:
        """Return the coding of the columns of the source, with indicator columns as such."""
        rules = (rule.rules if isinstance(rule, Indicators) else (rule,) for rule in self.columns)
        return Coding(tuple(chain(*self.members)), tuple(chain(*rules)), self.missing)


@dataclass(frozen=True)
class Guess:
    """A column about which nothing was stated, and which is not 0 and 1."""

    place: int  # among the columns, left out ones included
    kind: str | None  # what it is taken for; None: it is left out
    note: str  # why it is left out
    values: tuple[Value, ...]  # that occur
    n_missing: int


def by_column(encode: object) -> TypeGuard[Mapping[Hashable, Any]]:  # Any: a mapping, or a pair (zero, one)
    """Tell whether ``encode`` says something about each column by itself."""
    return isinstance(encode, Mapping) and all(isinstance(entry, Mapping | tuple) for entry in encode.values())


def is_number(value: object) -> TypeGuard[float]:
    """Tell whether a value can be compared with a threshold."""
    return isinstance(value, numbers.Number | np.bool_) and not isinstance(value, complex | np.complexfloating)


def _as_float(value: object) -> float:
    """Return a number as it is compared with others; NaN for what is none."""
    try:
        return float(value) if is_number(value) else math.nan
    except OverflowError:
        return math.inf


def is_bit(value: object) -> bool:
    """Tell whether a value is 0 or 1."""
    return is_number(value) and value in (0, 1)


def rank(value: object) -> tuple[bool, Any]:  # Any: what can be compared
    """Order numbers before everything else, text by its characters and other values by how they are written."""
    return (False, value) if is_number(value) else (True, value if isinstance(value, str) else repr(value))


def show_values(values: Iterable[object], most: int = 5) -> str:
    """Write a few values for a message."""
    listed = heapq.nsmallest(most + 1, values, key=rank)
    return ", ".join([*map(show_value, listed[:most]), *(["…"] if len(listed) > most else [])])


def show_value(value: object) -> str:
    """Write one value for a message."""
    plain = value.item() if isinstance(value, np.generic) else value
    try:
        short = isinstance(plain, float) and (math.isnan(plain) or float(f"{plain:g}") == plain)
        text = f"{plain:g}" if short else repr(plain)  # 0.9999999999999999 is not 1
    except ValueError:  # an integer of more digits than Python writes
        text = "an integer of thousands of digits"
    if len(text) <= 40:
        return text
    return text[:36] + "…" + text[-1] if isinstance(plain, str) else text[:37] + "…"


def read_number(word: str, decimal: str = ".") -> float | int | None:
    """Return the number that a word spells, None if it spells none."""
    if decimal == ",":
        word = word.translate(_SWAPPED)
    if not _NUMBER.fullmatch(word):
        return None
    number = float(word)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def is_one_of(values: Collection[Value]) -> Callable[[Value], bool]:
    """Return a function that tells whether a value is one of some: words as spelled, numbers however spelled."""
    words, numbers = {str(value).strip() for value in values}, {read_word(value) for value in values}
    return lambda value: value.strip() in words if isinstance(value, str) else value in numbers


def read_word(value: object) -> object:
    """Return the number that a text spells, or the value as it is."""
    number = read_number(value.strip()) if isinstance(value, str) else None
    return value if number is None else number
