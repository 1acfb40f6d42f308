"""What the values of a column mean: 0, 1, missing, or a category; and `Coding`, how a whole table was read."""

from __future__ import annotations

import heapq
import math
import numbers
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isinglass.arguments import require
from isinglass.data.sources import UNTYPED, Column, Source
from isinglass.errors import ArgumentError, DataError, setting
from isinglass.names import default_names
from isinglass.variables import KINDS, Variables

MISSING, BAD = 2, 3  # what a value can stand for beside 0 and 1
ABSENT, UNKNOWN = -1, -2  # the same beside the number of a category

# Words whose meaning is known, 0 before 1; compared without regard to case.
_KNOWN = (
    *(("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("off", "on"), ("nay", "yea"), ("0", "1")),
    *(("absent", "present"), ("negative", "positive"), ("disagree", "agree"), ("incorrect", "correct")),
    *(("wrong", "right"), ("fail", "pass"), ("never", "ever"), ("-", "+")),
)


class _Bits:
    """A rule whose cells are bits."""

    missing_code: ClassVar[int] = MISSING
    bad_code: ClassVar[int] = BAD
    dtype: ClassVar[type] = np.uint8


@dataclass(frozen=True)
class Values(_Bits):
    """Every value has its entry: 0, 1 or `MISSING`."""

    entries: Mapping[Any, int]

    def __post_init__(self) -> None:
        require(set(self.entries.values()) <= {0, 1, MISSING}, "A value of a column with two values stands for 0 or 1.")

    def target(self, value: Any) -> int:
        """Return what one value stands for."""
        return self.entries.get(value, BAD)

    def convert(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return what an array of numbers stands for."""
        codes = np.full(values.shape, BAD, dtype=np.uint8)
        for value, code in self.entries.items():
            if is_number(value):
                codes[values == value] = code
        return codes

    @property
    def pair(self) -> tuple[Any, Any]:
        """The values that stand for 0 and for 1; a tuple where there are several, None where there is none."""
        groups = [tuple(value for value, bit in self.entries.items() if bit == side) for side in (0, 1)]
        zero, one = (group[0] if len(group) == 1 else group or None for group in groups)
        return zero, one


@dataclass(frozen=True)
class Cut(_Bits):
    """Numbers above a threshold stand for 1, the others for 0."""

    threshold: float

    def target(self, value: Any) -> int:
        """Return what one value stands for."""
        return int(value > self.threshold) if is_number(value) and value not in (math.inf, -math.inf) else BAD

    def convert(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return what an array of numbers stands for."""
        # An array, not a number: a number would be rounded to the precision of the table first.
        above = np.greater(values, np.array([self.threshold]))
        return np.where(np.isfinite(values), above, BAD).astype(np.uint8)


@dataclass(frozen=True)
class Levels:
    """A column of categories: its kind, the values that stand for them in the order of their numbers, their scores."""

    kind: str
    values: tuple[Any, ...]
    scores: tuple[float, ...] | None = None  # None for a nominal column
    missing: tuple[Any, ...] = ()  # values that stand for a missing cell

    missing_code: ClassVar[int] = ABSENT
    bad_code: ClassVar[int] = UNKNOWN
    dtype: ClassVar[type] = np.int16

    def __post_init__(self) -> None:
        q, scores = len(self.values), self.scores
        require(self.kind in KINDS, f"The kind of a column is one of {', '.join(KINDS)}, not {self.kind!r}.")
        require(2 <= q <= 256 and len(set(self.values)) == q, "A column has 2 to 256 different categories.")
        require((scores is None) == (self.kind == "nominal"), "A column has scores unless it is nominal.")
        different = scores is None or (len(set(scores)) == len(scores) == q and all(map(math.isfinite, scores)))
        require(different, "The scores of a column are one finite number per category, all different.")

    @cached_property
    def _numbers(self) -> dict[Any, int]:
        known = {value: k for k, value in enumerate(self.values) if value is not None}
        return {**known, **dict.fromkeys(self.missing, ABSENT)}

    def target(self, value: Any) -> int:
        """Return the number of the category that one value stands for."""
        return self._numbers.get(value, UNKNOWN)

    def convert(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return what an array of numbers stands for."""
        found, places = np.unique(values, return_inverse=True)
        return np.array([self.target(value) for value in found.tolist()], dtype=np.int16)[places]

    def simplest(self) -> Values:
        """Return the rule of a column with two categories."""
        return Values({value: MISSING if code == ABSENT else code for value, code in self._numbers.items()})


Rule: TypeAlias = Values | Cut


@dataclass(frozen=True)
class Indicators(Levels):
    """A column made of indicator columns: a category for each, and perhaps one for rows in which none is 1."""

    members: tuple[str, ...] = ()  # the indicator columns
    rules: tuple[Rule, ...] = ()  # what their values mean


AnyRule: TypeAlias = Values | Cut | Levels | Indicators
BITS = Values({0: 0, 1: 1})


@dataclass(frozen=True)
class Coding:
    """How a table was read. ``as_table(X, encode=coding)`` reads another one in the same way.

    Parameters
    ----------
    names : tuple of str, optional
        Names of the columns; None if the table had none.
    columns : tuple of Values or Cut
        What the values of each column mean.
    missing : {"error", "impute", "zero", "drop"}
        What became of missing cells.
    """

    names: tuple[str, ...] | None
    columns: tuple[AnyRule, ...]
    missing: str = "error"

    def __post_init__(self) -> None:
        known = self.missing in ("error", "impute", "zero", "drop")
        require(known, f"Missing cells are read as 'error', 'impute', 'zero' or 'drop', not as {self.missing!r}.")

    @classmethod
    def of(cls, variables: Variables) -> Coding:
        """Return the coding of a table that holds the categories of these variables."""
        if variables.is_plain:
            rules: tuple[AnyRule, ...] = (BITS,) * variables.n_features
        else:
            each = zip(variables.kinds, variables.categories, variables.scores, strict=True)
            rules = tuple(
                Values({value: k for k, value in enumerate(values) if value is not None})
                if kind == "binary"
                else Levels(kind, values, scores)
                for kind, values, scores in each
            )
        return cls(variables.names if variables.named else None, rules)

    @property
    def variables(self) -> Variables:
        """What the columns of a table are that is read by this coding."""
        if all(rule is BITS or isinstance(rule, Cut) or rule == BITS for rule in self.columns):
            return Variables.binary(len(self.columns) if self.names is None else self.names)
        kinds, scores, values = zip(*map(_describe, self.columns), strict=True)
        return Variables.of(values, kinds, scores, self.names)

    def take(self, columns: Sequence[int]) -> Coding:
        """Return the coding of some of the columns."""
        names = None if self.names is None else tuple(self.names[j] for j in columns)
        return replace(self, names=names, columns=tuple(self.columns[j] for j in columns))

    @property
    def encoding(self) -> dict[Hashable, tuple[Any, Any]]:
        """The values that stand for 0 and 1, for each column of other values than 0 and 1 or a threshold."""
        labels: Sequence[Hashable] = range(len(self.columns)) if self.names is None else self.names
        both = zip(labels, self.columns, strict=True)
        return {label: rule.pair for label, rule in both if isinstance(rule, Values) and rule != BITS}

    @property
    def has_levels(self) -> bool:
        """Whether a column has categories."""
        return any(isinstance(rule, Levels) for rule in self.columns)

    @property
    def members(self) -> list[tuple[str, ...]]:
        """The columns of the source that each column is made of: itself, or several indicators."""
        names = self.names or default_names(len(self.columns))
        each = zip(names, self.columns, strict=True)
        return [rule.members if isinstance(rule, Indicators) else (name,) for name, rule in each]

    def expand(self) -> Coding:
        """Return the coding of the columns of the source, with indicator columns as such."""
        rules = (rule.rules if isinstance(rule, Indicators) else (rule,) for rule in self.columns)
        return Coding(tuple(chain(*self.members)), tuple(chain(*rules)), self.missing)

    def simplest(self) -> Coding:
        """Return the same coding of columns that all have two categories, as that of a table of 0 and 1."""
        rules = (rule.simplest() if isinstance(rule, Levels) else rule for rule in self.columns)
        return replace(self, columns=tuple(rules))


def _describe(rule: AnyRule) -> tuple[str, tuple[float, ...] | None, tuple[Any, ...]]:
    """Return kind, scores and categories of a column."""
    if isinstance(rule, Levels):
        return rule.kind, rule.scores, rule.values
    if isinstance(rule, Cut):
        return "binary", None, (0, 1)
    codes = list(rule.entries.values())
    return "binary", None, tuple(list(rule.entries)[codes.index(k)] if k in codes else None for k in (0, 1))


def find_rules(source: Source, labels: Sequence[Hashable], encode: Any, binarize: Any) -> list[Rule]:
    """Return the rule of every column of 0 and 1 from the arguments ``encode`` and ``binarize``."""
    if isinstance(encode, Coding):
        return [rule for rule in encode.columns if not isinstance(rule, Levels)]
    is_auto = isinstance(encode, str) and encode == "auto"
    if binarize is not None and not isinstance(binarize, Mapping):
        if encode is None:
            return [_read_cut(binarize)] * len(labels)
        raise DataError(
            f"{setting('encode', *(['auto'] if is_auto else []))} and {setting('binarize')} must not be combined, "
            f"unless {setting('binarize')} names columns."
        )
    cuts = {label: _read_cut(cut) for label, cut in (binarize or {}).items()}
    rules: list[Rule] = [BITS] * len(labels)
    if is_auto:
        rules = _choose_pairs(
            source, [[] if label in cuts else source.column(j).distinct for j, label in enumerate(labels)]
        )
    elif encode is not None:
        if not isinstance(encode, Mapping) or not encode:
            allowed = 'None, "auto", a mapping such as {"Yes": 1, "No": 0}, or one of these per column'
            raise ArgumentError("encode", f"must be {allowed}", encode)
        if by_column(encode):
            rules = _spread(rules, {label: _read_values(entry) for label, entry in encode.items()}, labels, "encode")
        else:
            rules = [_read_values(encode)] * len(labels)
    return _spread(rules, cuts, labels, "binarize")


def _spread(rules: list[Rule], found: Mapping[Any, Rule], labels: Sequence[Hashable], argument: str) -> list[Rule]:
    known = set(labels)
    for label in found:
        if label not in known:
            raise ArgumentError(argument, f"must name columns of {setting('X')}", label, "There is no such column.")
    return [found.get(label, rule) for label, rule in zip(labels, rules, strict=True)]


def _read_cut(binarize: Any) -> Cut:
    if isinstance(binarize, bool | np.bool_) or not is_number(binarize) or not np.isfinite(binarize):
        raise ArgumentError("binarize", "must be None or a finite number", binarize)
    return Cut(float(binarize))


def by_column(encode: Any) -> bool:
    """Tell whether ``encode`` says something about each column by itself."""
    return isinstance(encode, Mapping) and all(isinstance(entry, Mapping | tuple) for entry in encode.values())


def _read_values(entry: Any) -> Values:
    if isinstance(entry, tuple):  # (zero, one)
        if len(entry) != 2:
            raise ArgumentError("encode", "must give two values (zero, one) for a column", entry)
        sides = [side if isinstance(side, tuple) else () if side is None else (side,) for side in entry]
        return Values({value: bit for bit, side in enumerate(sides) for value in side})
    for value, bit in entry.items():
        if bit is not None and bit not in (0, 1):
            raise ArgumentError("encode", f"must map {value!r} to 0, 1 or None (missing)", bit)
    return Values({value: MISSING if bit is None else int(bit) for value, bit in entry.items()})


def _choose_pairs(source: Source, levels: Sequence[list[Any]]) -> list[Rule]:
    """Choose which of two values is 1, for every column that is not 0/1 already.

    Ordered categories keep their order; then come words of known meaning, then the order of the categories, then
    ascending order. A column with one value follows another one that has it. Two values that cannot be told apart by
    rule, such as 0 and -9 or "Yes" and "yes", are refused.
    """
    pairs: list[tuple[Any, Any] | None] = []
    for j, values in enumerate(levels):
        column = source.column(j)
        two = list(column.categories) if column.categories is not None and len(column.categories) == 2 else values
        if len(two) > 2 or (len(two) == 2 and not column.ordered and is_unclear(two)):
            raise DataError(
                f"{setting('X')} must have two values of clear meaning in every column for "
                f"{setting('encode', 'auto')}; got {show_values(values)} in {source.where(j)}. "
                f"{SAY_ALL}{f' {SAY_KIND}' if len(two) > 2 else ''}{source.remark_column(j)}"
            )
        pairs.append(order_pair(two, column))
    known = [pair for pair in pairs if pair is not None]
    found = [pair or (_pair_of_single(levels[j], known) if levels[j] else (0, 1)) for j, pair in enumerate(pairs)]
    return [Values({value: bit for bit, value in enumerate(pair) if value is not None}) for pair in found]


_DROP = setting("drop", python="drop=[…] in read_table")
_ORDINAL, _NOMINAL = (setting(kind, python=f'kinds="{kind}"') for kind in ("ordinal", "nominal"))
SAY_KIND = f"If these are categories, say whether they have an order ({_ORDINAL}) or not ({_NOMINAL})."
SAY_ALL = (
    f"Say what each value means ({setting('encode', python='encode={…: 0, …: 1, …: None}')}), choose a threshold for "
    f"numbers ({setting('binarize', python='binarize=…')}), or leave the column out ({_DROP})."
)


def is_unclear(two: list[Any]) -> bool:
    """Tell whether values may be spellings of one thing, or one of them no answer: 0 and -9, "Yes" and "yes"."""
    words = [value.strip().casefold() if isinstance(value, str) else None for value in two]
    if None not in words:
        return words[0] == words[1] or (any(word in ("0", "1") for word in words) and set(words) != {"0", "1"})
    one_is_bit = _is_bit(two[0]) != _is_bit(two[1])
    return one_is_bit and set(two) not in ({1, 2}, {-1, 1})


def order_pair(two: list[Any], column: Column) -> tuple[Any, Any] | None:
    """Return (zero, one), None if there are no two values."""
    if len(two) < 2:
        return None
    if all(_is_bit(value) for value in two):
        return 0, 1  # whatever order its categories have
    if column.ordered:
        return two[0], two[1]
    if all(isinstance(value, str) for value in two):
        words = [value.strip().casefold() for value in two]
        for known in _KNOWN:
            if set(words) == set(known):
                return two[words.index(known[0])], two[words.index(known[1])]
    categories = column.categories
    zero, one = sorted(two, key=_rank) if categories is None else sorted(two, key=categories.index)
    return zero, one


def _pair_of_single(values: list[Any], others: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    """Return what the only value of a column stands for: as in other columns, if these agree, or by its meaning."""
    value = values[0]
    holders = {pair for pair in others if value in pair}
    if len(holders) == 1:
        return holders.pop()
    if _is_bit(value):
        return 0, 1
    word = value.strip().casefold() if isinstance(value, str) else None
    return (None, value) if any(word == one for _, one in _KNOWN) else (value, None)


def is_number(value: Any) -> bool:
    """Tell whether a value can be compared with a threshold."""
    return isinstance(value, numbers.Number | np.bool_) and not isinstance(value, complex | np.complexfloating)


def _is_bit(value: Any) -> bool:
    return is_number(value) and value in (0, 1)


def _rank(value: Any) -> tuple[bool, Any]:
    """Order numbers before everything else, text by its characters and other values by how they are written."""
    return (False, value) if is_number(value) else (True, value if isinstance(value, str) else repr(value))


def show_values(values: Iterable[Any], most: int = 5) -> str:
    """Write a few values for a message."""
    listed = heapq.nsmallest(most + 1, values, key=_rank)
    return ", ".join([*map(show_value, listed[:most]), *(["…"] if len(listed) > most else [])])


def show_value(value: Any) -> str:
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


def suggest(values: list[Any]) -> str:
    """Say what to do with a column of these values."""
    if values and all(is_number(value) and value in (-1, 1) for value in values):
        return f"For ±1 spins pass {setting('encode', {-1: 0, 1: 1})}."
    if len(values) > 2:
        return f"{SAY_ALL} {SAY_KIND}"
    if len(values) != 2 or is_unclear(values):
        return SAY_ALL
    zero, one = order_pair(values, UNTYPED) or values
    shown = [show_value(value) for value in (one, zero)]
    plain = all(
        isinstance(value, str | int | float) and "…" not in text and "inf" not in text and "an integer" not in text
        for value, text in zip((one, zero), shown, strict=True)
    )
    example = f", for example {setting('encode', {one: 1, zero: 0})}" if plain else ""
    return f"Say which is 1{example}, or read the table with {setting('encode', 'auto')}."
