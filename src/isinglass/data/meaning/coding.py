"""How the values of a table are read: a rule for every column, and `Coding`, the record of all of them."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, chain, pairwise
from typing import Any, Self, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from isinglass.arguments import require
from isinglass.arrays import AnyArray
from isinglass.data.meaning.values import NO_ANSWER, Value, as_float, is_among, is_number, spell_out
from isinglass.errors import DataError, setting
from isinglass.names import default_names
from isinglass.variables import Variables, check_variable

MISSING_CHOICES = ("error", "impute", "zero", "drop")
ABSENT, UNKNOWN = -1, -2
"""What stands for a missing cell, and for a value without meaning, among the numbers of categories."""
Cells: TypeAlias = AnyArray
"""An array of values of one type, or of objects."""
Codes: TypeAlias = NDArray[np.integer]  # the numbers of categories, of the smallest type that holds them


@dataclass(frozen=True, kw_only=True)
class _Rule:
    """What all rules share: values that stand for a missing cell."""

    missing: tuple[Value, ...] = ()  # words as they are spelled, numbers however these are spelled

    @cached_property
    def _missing(self) -> frozenset[Value]:
        return spell_out(self.missing)

    @property
    def n_categories(self) -> int:
        """How many categories there are."""
        raise NotImplementedError

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
        added = [value for value in values if value not in self._missing]
        return replace(self, missing=(*self.missing, *added)) if added else self

    def read(
        self, values: Sequence[Value], labels: Mapping[Value, Value] | None = None, blanks: Collection[str] = ()
    ) -> Codes:
        """Return what values of any type stand for: this is the only place that says so for a single value.

        ``labels`` are what their source calls some of them. ``blanks`` are words for a missing cell there, unless they
        stand for a category here.
        """
        called = labels or {}
        codes, gone = self._find(values, called), self._missing
        for k in range(len(values)) if gone else np.flatnonzero(codes == UNKNOWN).tolist():
            either = values[k], called.get(values[k])
            is_gone = values[k] is None or any(is_among(each, gone) for each in either)
            if is_gone or (codes[k] == UNKNOWN and any(each in blanks for each in either)):
                codes[k] = ABSENT
        return codes

    def convert(self, numbers: Cells) -> Codes:
        """Return what an array of numbers stands for; NaN for a missing cell."""
        codes = self._place(numbers)
        if numbers.dtype.kind == "f":
            codes[np.isnan(numbers)] = ABSENT
        gone = [number for number in self._missing if is_number(number)]
        if gone:
            codes[np.isin(numbers, gone)] = ABSENT
        return codes

    def _find(self, values: Sequence[Value], labels: Mapping[Value, Value]) -> Codes:
        """Return the categories of values that are not missing; of numbers, unless another rule says more."""
        return self._place(np.array([as_float(value) for value in values], dtype=np.float64))

    def _place(self, numbers: Cells) -> Codes:
        """Return the categories of numbers."""
        raise NotImplementedError


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
    # whether the entries are words that were found, not stated: then the word None is an answer, not a blank
    has_found_words: bool = field(default=False, repr=False)

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

    def read(
        self, values: Sequence[Value], labels: Mapping[Value, Value] | None = None, blanks: Collection[str] = ()
    ) -> Codes:
        """Return what values stand for."""
        return super().read(values, labels, set(blanks) - {NO_ANSWER} if self.has_found_words else blanks)

    def _find(self, values: Sequence[Value], labels: Mapping[Value, Value]) -> Codes:
        """Return the categories of values; those of their labels, where the entries are labels."""
        are_meant = {value for value, label in labels.items() if self.labels or label in self.entries}
        found = (
            self.entries.get(labels[value], UNKNOWN) if value in are_meant else self._codes.get(value, UNKNOWN)
            for value in values
        )
        return np.fromiter(found, self.dtype, len(values))

    def _place(self, numbers: Cells) -> Codes:
        codes: Codes = np.full(numbers.shape, UNKNOWN, dtype=self.dtype)
        for value, code in self._codes.items():
            if is_number(value):
                codes[numbers == value] = code
        return codes


@dataclass(frozen=True)
class Cut(_Rule):
    """Numbers above a threshold stand for 1, the others for 0."""

    threshold: float

    kind, scores, values, n_categories = "binary", (0.0, 1.0), (0, 1), 2

    def _place(self, numbers: Cells) -> Codes:
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
    is_whole: bool = False  # whether all numbers of that column are whole

    kind = "continuous"

    def __post_init__(self) -> None:
        q = len(self.values)
        require(3 <= q == len(self.scores) == len(self.bounds) + 1 <= 256, "A continuous column has 3 to 256 steps.")
        for points in (self.bounds, self.values, self.scores):
            ascending = all(a < b for a, b in pairwise(points)) and all(map(math.isfinite, points))
            require(ascending, "The steps of a continuous column are finite numbers in ascending order.")
        fits = len(self.means) == len(self.quartiles) == q and all(
            len(five) == 5
            and five[0] <= mean <= five[-1]
            and list(five) == sorted(five)
            and all(map(math.isfinite, five))
            for mean, five in zip(self.means, self.quartiles, strict=True)
        )
        require(fits, "Every step of a continuous column has a mean, between the smallest and the largest number.")

    @classmethod
    def around(cls, values: Sequence[float], scores: tuple[float, ...]) -> Steps:
        """Return the rule by which numbers belong to the nearest of the values that stand for the steps.

        Nothing is known of the numbers within a step: they are taken to be evenly spread, or the value itself where the
        values are all whole numbers from the first to the last.
        """
        bounds = tuple((a + b) / 2 for a, b in pairwise(values))
        ends = (2 * values[0] - bounds[0], *bounds, 2 * values[-1] - bounds[-1])
        is_whole = all(isinstance(value, int) for value in values) and values[-1] - values[0] == len(values) - 1
        spans = zip(values, values, strict=True) if is_whole else pairwise(ends)
        quartiles = tuple(tuple(np.linspace(a, b, 5).tolist()) for a, b in spans)
        return cls(bounds, tuple(values), scores, tuple(map(float, values)), quartiles, is_whole=is_whole)

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

    def _place(self, numbers: Cells) -> Codes:
        places = np.searchsorted(self.bounds, np.asarray(numbers, dtype=np.float64), side="right")
        codes: Codes = np.asarray(places, dtype=self.dtype)
        codes[~np.isfinite(numbers)] = UNKNOWN
        return codes


@dataclass(frozen=True)
class Indicators(Levels):
    """A column made of indicator columns: a category for each, and perhaps one for rows in which none is 1."""

    members: tuple[str, ...] = ()  # the indicator columns
    rules: tuple[Levels | Cut | Steps, ...] = ()  # what their values mean


Rule: TypeAlias = Levels | Cut | Steps
BITS = Levels({0: 0, 1: 1})


def contradict(one: Rule, other: Rule) -> bool:
    """Tell whether a value that two rules know stands for different things: other thresholds, or other categories."""
    if isinstance(one, Cut) or isinstance(other, Cut):
        thresholds = {rule.threshold for rule in (one, other) if isinstance(rule, Cut)}
        return len(thresholds) > 1 or not all(isinstance(rule, Cut) or rule.is_plain for rule in (one, other))
    if isinstance(one, Steps) or isinstance(other, Steps):
        return False  # their steps are compared as categories
    shared = [value for value in one.entries if value in other.entries]
    pairs = {(one.entries[value], other.entries[value]) for value in shared}
    return len(pairs) > len({mine for mine, _ in pairs})


@dataclass(frozen=True)
class Layout:
    """What was found out about the file or array that a coding was made for, and holds for others."""

    # where the columns were, from 0, and how many there were, row names apart; None if these are all, in their order
    numbers: tuple[int, ...] | None = None
    width: int | None = None
    names: tuple[str, ...] | None = None  # what the columns were called, if the user gave them other names
    id_column: str | int | None = None  # name or number of the column that names the rows
    weights: str | None = None  # name of the column of row weights
    has_header: bool | None = None  # whether the first line of a text names the columns
    delimiter: str | None = None  # what separates the fields of a text
    decimal: str | None = None  # what separates the decimals of its numbers

    def number_in_file(self, number: int) -> int:
        """Return the number of a column without name in the file, row names included."""
        return number + (isinstance(self.id_column, int) and number >= self.id_column)


NO_FILE = Layout()


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
    layout : Layout, optional
        What was found out about the file, if the table came from one.
    """

    names: tuple[str, ...] | None
    columns: tuple[Levels | Cut | Steps | Indicators, ...]
    missing: str = "error"
    covariate: tuple[bool, ...] = ()
    layout: Layout = NO_FILE

    def __post_init__(self) -> None:
        require(
            len(self.covariate) in (0, len(self.columns)), "A coding says of every column whether it is a covariate."
        )
        is_choice = self.missing in MISSING_CHOICES
        require(is_choice, f"Missing cells are read as 'error', 'impute', 'zero' or 'drop', not as {self.missing!r}.")
        numbers, width = self.layout.numbers, self.layout.width
        if numbers is not None:
            fits = len(numbers) == self._ends[-1] and width is not None and all(0 <= j < width for j in numbers)
            require(fits, "A coding has a number below the width of its table for every column, or none.")

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

        def some(entries: Sequence[Any]) -> tuple[Any, ...]:  # Any: of any type
            return tuple(entries[j] for j in columns)

        ends = self._ends
        numbers, names = self.layout.numbers or range(ends[-1]), self.layout.names
        sources = [k for j in columns for k in range(ends[j], ends[j + 1])]
        layout = replace(
            self.layout,
            numbers=tuple(numbers[k] for k in sources),
            width=self.layout.width or ends[-1],
            names=None if names is None else tuple(names[k] for k in sources),
        )
        return replace(
            self,
            names=None if self.names is None else some(self.names),
            columns=some(self.columns),
            covariate=some(self.covariate) if self.covariate else (),
            layout=layout,
        )

    def with_names(self, names: Sequence[str]) -> Coding:
        """Return the coding with other names of the columns; tables may still have those that they had."""
        known = self.layout.names or self.expand().names
        return replace(self, names=tuple(names), layout=replace(self.layout, names=known))

    def without_weights(self) -> Coding:
        """Return the coding by which no column is taken for row weights."""
        return replace(self, layout=replace(self.layout, weights=None))

    @property
    def called(self) -> list[tuple[str, ...]]:
        """What the columns of another table may be called: as in the source, before the user gave names, or as here."""
        return [names for names in (self.layout.names, self.expand().names) if names]

    @property
    def _ends(self) -> list[int]:
        """Where the columns of the source that each column is made of end and those of the next begin, from 0."""
        sizes = (len(rule.members) if isinstance(rule, Indicators) else 1 for rule in self.columns)
        return [0, *accumulate(sizes)]

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

    def expand(self) -> Coding:
        """Return the coding of the columns of the source, with indicator columns as such."""
        if not any(isinstance(rule, Indicators) for rule in self.columns):
            return self
        rules = (rule.rules if isinstance(rule, Indicators) else (rule,) for rule in self.columns)
        return Coding(tuple(chain(*self.members)), tuple(chain(*rules)), self.missing, layout=self.layout)


@dataclass(frozen=True)
class Guess:
    """A column about which nothing was stated, and which is not 0 and 1."""

    place: int  # among the columns, left out ones included
    kind: str | None  # what it is taken for; None: it is left out
    note: str  # why it is left out
    values: tuple[Value, ...]  # that occur
    n_missing: int


def comparable_names(
    names: Sequence[str] | None, known: Sequence[str] | None, width: int
) -> tuple[Sequence[str] | None, Sequence[str] | None]:
    """Return the names of a frame and those of the table it is read like, None where there are none.

    In order, the labels 0, 1, 2, … of a frame are no names. They are names where the other side has them in another
    order: then they say which column is which.
    """
    counted = [str(place) for place in range(width)]
    if names is None:
        return (counted if known is not None and {*known} <= {*counted} else None), known
    return names, counted if known is None and {*names} == {*counted} else known


def find_columns(called: Sequence[Sequence[str]], names: Sequence[str]) -> list[int]:
    """Return the places of columns among the names of a table; ``called``: what they may be called, likeliest first."""
    places = {name: place for place, name in enumerate(names)}
    for wanted in called:
        if places.keys() >= set(wanted):
            return [places[name] for name in wanted]
    absent = next(name for name in called[-1] if name not in places)
    raise DataError(f"{setting('X')} must have the columns of the fitted table; {absent!r} cannot be found.")


def by_column(encode: object) -> TypeGuard[Mapping[Hashable, Any]]:  # Any: a mapping, or a pair (zero, one)
    """Tell whether ``encode`` says something about single columns; under None is what holds for the others."""
    return isinstance(encode, Mapping) and all(
        isinstance(entry, Mapping | tuple) or (key is None and entry == "auto") for key, entry in encode.items()
    )
