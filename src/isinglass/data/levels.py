"""What the values of a column mean: 0, 1 or missing."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.data.sources import Column, Grid
from isinglass.errors import ArgumentError, CellTypeError, DataError, setting

__all__ = [
    "MISSING",
    "Codebook",
    "Cut",
    "Levels",
    "Pair",
    "choose_pairs",
    "find_grid_levels",
    "find_levels",
    "read_encode",
]

_EACH = setting("encode", python="encode={…: 0, …: 1, …: None}")
_LEAVE_OUT = f"leave the column out ({setting('drop')})"
MISSING, BAD = 2, 3  # targets of a level beside 0 and 1

# Words whose meaning is known, 0 before 1; compared without regard to case.
_KNOWN = (
    ("no", "yes"),
    ("n", "y"),
    ("false", "true"),
    ("f", "t"),
    ("off", "on"),
    ("nay", "yea"),
    ("absent", "present"),
    ("negative", "positive"),
    ("disagree", "agree"),
    ("incorrect", "correct"),
    ("wrong", "right"),
    ("fail", "pass"),
    ("never", "ever"),
    ("-", "+"),
    ("0", "1"),
)


@dataclass(frozen=True, eq=False)
class Levels:
    """The distinct values of a column, and which of them every row holds.

    Parameters
    ----------
    values : list
        Distinct values in the order of their first row, numbers ascending; missing ones included.
    inverse : ndarray of int
        Position in `values` for every row.
    missing : ndarray of bool
        Which of them stand for a missing cell.
    """

    values: list[Any]
    inverse: NDArray[np.intp]
    missing: NDArray[np.bool_]

    @property
    def present(self) -> list[Any]:
        """The values that are not missing."""
        return [value for value, gone in zip(self.values, self.missing, strict=True) if not gone]


def find_levels(column: Column, where: str) -> Levels:
    """Return the distinct values of a column; ``where`` is what messages call it."""
    if column.values.dtype.kind != "O":
        unique, inverse = np.unique(column.values, return_inverse=True)
        values = unique.tolist()
        gone = np.isnan(unique) if unique.dtype.kind == "f" else np.zeros(len(unique), dtype=bool)
    else:
        positions: dict[Any, int] = {}
        inverse = np.empty(len(column.values), dtype=np.intp)
        for row, cell in enumerate(column.values):
            try:
                inverse[row] = positions.setdefault(cell, len(positions))
            except TypeError:
                raise CellTypeError(
                    f"X must hold numbers or text; got {show_value(cell)} in {where}. Every cell that is an argument "
                    f"must be a string or a number, not a {type(cell).__name__}."
                ) from None
        values = list(positions)
        gone = np.array([_is_missing(value) for value in values], dtype=bool)
    if column.masked is not None and column.masked.any():
        inverse = np.where(column.masked, len(values), inverse)
        values, gone = [*values, None], np.append(gone, True)
        used = np.isin(np.arange(len(values)), inverse)  # a value behind the mask only is not a value of the column
        renumber = np.cumsum(used) - 1
        values, gone, inverse = [v for v, u in zip(values, used, strict=True) if u], gone[used], renumber[inverse]
    return Levels(values, inverse, gone)


def find_grid_levels(grid: Grid, j: int) -> Levels:
    """Return the distinct values of a column whose cells have been numbered, without looking at each cell."""
    codes = grid.codes[:, j]
    few = len(grid.values) <= len(codes)  # else a count of all values, for every column, would take the time
    used = np.flatnonzero(np.bincount(codes, minlength=len(grid.values))) if few else np.unique(codes)
    positions: dict[Any, int] = {}
    place = np.array([positions.setdefault(grid.values[code], len(positions)) for code in used], dtype=np.intp)
    inverse = place[np.searchsorted(used, codes)]
    return Levels(list(positions), inverse, np.array([value is None for value in positions], dtype=bool))


def _is_missing(value: Any) -> bool:
    if value is None or value is np.ma.masked or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, float | np.floating) and math.isnan(value)


def is_number(value: Any) -> bool:
    """Tell whether a value can be compared with a threshold."""
    return isinstance(value, numbers.Number | np.bool_) and not isinstance(value, complex | np.complexfloating)


@dataclass(frozen=True)
class Pair:
    """Two numbers stand for 0 and 1: the bits themselves, or spins."""

    zero: int
    one: int

    def convert(self, values: NDArray[Any]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the bits of an array of numbers and where they mean nothing."""
        ones = values == self.one
        return ones, ~ones & (values != self.zero)

    def target(self, value: Any) -> int:
        """Return the bit of one value."""
        if not is_number(value) or value not in (self.zero, self.one):
            return BAD
        return int(value == self.one)


@dataclass(frozen=True)
class Cut:
    """Numbers above a threshold stand for 1, the others for 0."""

    threshold: float

    def convert(self, values: NDArray[Any]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the bits of an array of numbers and where they mean nothing."""
        # An array, not a number: a number would be rounded to the precision of the table first.
        return np.greater(values, np.array([self.threshold])), ~np.isfinite(values)

    def target(self, value: Any) -> int:
        """Return the bit of one value."""
        if not is_number(value) or value in (math.inf, -math.inf):
            return BAD
        return int(value > self.threshold)


@dataclass(frozen=True)
class Codebook:
    """Every value has its entry: 0, 1 or `MISSING`."""

    entries: Mapping[Any, int]

    def target(self, value: Any) -> int:
        """Return the bit of one value."""
        return self.entries.get(value, BAD)

    @property
    def pair(self) -> tuple[Any, Any]:
        """The values that stand for 0 and for 1; a tuple where there are several, None where there is none."""
        groups = [tuple(value for value, bit in self.entries.items() if bit == side) for side in (0, 1)]
        zero, one = (group[0] if len(group) == 1 else group or None for group in groups)
        return zero, one


def read_encode(encode: Any, labels: Iterable[Hashable]) -> dict[Hashable, Codebook] | Codebook:
    """Read the argument ``encode``: one codebook for all columns, or one for each column named."""
    if not isinstance(encode, Mapping) or not encode:
        raise ArgumentError(
            "encode", 'must be None, "auto", a mapping such as {"Yes": 1, "No": 0}, or one of these per column', encode
        )
    if all(isinstance(entry, Mapping | tuple) for entry in encode.values()):
        known = set(labels)
        for label in encode:
            if label not in known:
                raise DataError(f"{setting('encode')} must name columns of X; got {label!r}, which X does not have.")
        return {label: _read_codebook(entry) for label, entry in encode.items()}
    return _read_codebook(encode)


def _read_codebook(entry: Any) -> Codebook:
    if isinstance(entry, tuple):  # (zero, one), as BinaryTable.encoding has it
        if len(entry) != 2:
            raise ArgumentError("encode", "must give two values (zero, one) for a column", entry)
        sides = [side if isinstance(side, tuple) else () if side is None else (side,) for side in entry]
        return Codebook({value: bit for bit, side in enumerate(sides) for value in side})
    book = {}
    for value, bit in entry.items():
        if bit is not None and bit not in (0, 1):
            raise DataError(
                f"{setting('encode')} must map values to 0, 1 or None (missing); got {bit!r} for {value!r}."
            )
        book[value] = MISSING if bit is None else int(bit)
    return Codebook(book)


def choose_pairs(
    levels: Sequence[list[Any]],
    columns: Sequence[Column],
    where: Callable[[int], str],
    remark: Callable[[int], str] = lambda j: "",
) -> dict[int, Codebook]:
    """Choose which of two values is 1, for every column that is not 0/1 already.

    Ordered categories keep their order; then come words of known meaning, then the order of the categories, then
    ascending order. A column with one value follows the other columns that have it, if they agree. Two values that
    cannot be told apart by rule, such as 0 and -9 or "Yes" and "yes", are refused.
    """
    pairs: dict[int, tuple[Any, Any]] = {}
    single: list[int] = []
    for j, (values, column) in enumerate(zip(levels, columns, strict=True)):
        if len(values) > 2:
            raise DataError(
                f"{setting('X')} must have two values in every column for {setting('encode', 'auto')}; got "
                f"{show_values(values)} in {where(j)}. {many_values_remedy(values)}{remark(j)}"
            )
        doubt = None if column.ordered else doubt_about(_declared(values, column))
        if doubt is not None:
            raise DataError(
                f"{setting('X')} must have two values of clear meaning in every column for "
                f"{setting('encode', 'auto')}; got "
                f"{show_values(values)} in {where(j)}. {doubt}{remark(j)}"
            )
        pair = _ordered_pair(values, column)
        if pair is not None:
            pairs[j] = pair
        elif values:
            single.append(j)
    known = set(pairs.values())
    pairs.update({j: _pair_of_single(levels[j][0], known) for j in single})
    return {
        j: Codebook({value: bit for bit, value in enumerate(pair) if value is not None})
        for j, pair in pairs.items()
        if not _is_bits(pair)
    }


def _declared(values: list[Any], column: Column) -> list[Any]:
    """Return the two categories of a column, which may not all have been observed, or else its values."""
    categories = column.categories
    return list(categories) if categories is not None and len(categories) == 2 else values


def _ordered_pair(values: list[Any], column: Column) -> tuple[Any, Any] | None:
    two, categories = _declared(values, column), column.categories
    if len(two) == 2 and all(_is_bit(value) for value in two):
        return 0, 1  # whatever order its categories have
    if column.ordered and categories is not None and len(categories) == 2:
        return categories[0], categories[1]
    known = _known_pair(two)
    if known is not None:
        return known
    if categories is not None:
        two = [category for category in categories if category in two]
        return (two[0], two[1]) if len(two) == 2 else None
    if len(two) < 2:
        return None
    zero, one = sorted(two, key=_rank)
    return zero, one


def doubt_about(values: list[Any]) -> str | None:
    """Say why two values are no clear pair, and what to do; None if they are one.

    A 0 or 1 beside a word or beside a number such as -9 may be all the data there is, the other a missing cell: in
    ascending order the data would become the opposite of what they are. Spellings of one word are no two values.
    """
    if len(values) != 2:
        return None
    folded = [value.strip().casefold() if isinstance(value, str) else None for value in values]
    if folded[0] is not None and folded[0] == folded[1]:
        example = setting("encode", {_writable(value): 1 for value in values})
        return f"These are spellings of one word: say what they mean, for example {example}."
    numbers = [_as_number(value) for value in values]
    if all(number in (0, 1) for number in numbers) and any(isinstance(value, str) for value in values):
        if _known_pair(values) is not None:
            return None
        book = {_writable(value): int(number) for value, number in zip(values, numbers, strict=True)}
        return f"These are 0 and 1 in several spellings: pass {setting('encode', book)}."
    for k, (value, bit) in enumerate(zip(values, numbers, strict=True)):
        other, number = values[1 - k], numbers[1 - k]
        if bit not in (0, 1) or number in (0, 1):
            continue
        if number is None or looks_missing(number) or (bit == 0 and number == -1):
            return _missing_remedy([other], str if isinstance(value, str) else int)
    return None


def _as_number(value: Any) -> Any:
    """Return the number that a value is or spells, None for other text, NaN for values of other kinds."""
    if isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            return None
        return number if math.isfinite(number) else None
    return value if is_number(value) else math.nan


def _rank(value: Any) -> tuple[bool, Any]:
    """Order numbers before everything else, text by its characters and other values by how they are written."""
    return (False, value) if is_number(value) else (True, value if isinstance(value, str) else repr(value))


def _known_pair(values: list[Any]) -> tuple[Any, Any] | None:
    if len(values) != 2 or not all(isinstance(value, str) for value in values):
        return None
    folded = [value.strip().casefold() for value in values]
    for zero, one in _KNOWN:
        if sorted(folded) == sorted((zero, one)):
            first = folded.index(zero)
            return values[first], values[1 - first]
    return None


def _pair_of_single(value: Any, others: set[tuple[Any, Any]]) -> tuple[Any, Any]:
    holders = [pair for pair in others if value in pair]
    if len(holders) == 1:
        return holders[0]
    if _is_bit(value):
        return 0, 1
    word = value.strip().casefold() if isinstance(value, str) else None
    return (None, value) if any(word == one for _, one in _KNOWN) else (value, None)


def _is_bit(value: Any) -> bool:
    return is_number(value) and value in (0, 1)


def _is_bits(pair: tuple[Any, Any]) -> bool:
    return all(is_number(value) for value in pair) and pair == (0, 1)


def show_values(values: Iterable[Any], most: int = 5) -> str:
    """Write a few values for a message."""
    shown: list[str] = []
    for value in sorted(values, key=_rank):
        if len(shown) == most:
            shown.append("…")
            break
        shown.append(show_value(value))
    return ", ".join(shown)


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


def write_value(value: Any) -> str | None:
    """Write a value as Python reads it, for a suggestion; None if it is too long, not finite, or of another kind."""
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, float):
        if not math.isfinite(plain):
            return None
        return show_value(plain)
    if not isinstance(plain, str | int):
        return None
    text = show_value(plain)
    try:
        return text if text == repr(plain) else None
    except ValueError:  # an integer of more digits than Python writes
        return None


def looks_missing(value: Any) -> bool:
    """Tell whether a number is one that surveys use for missing answers, such as -9, 7, 99 or 888."""
    return is_number(value) and (value < -1 or (value >= 7 and set(show_value(value)) <= set("789")))


def many_values_remedy(values: list[Any]) -> str:
    """Say what to do with a column of more than two values."""
    others = [value for value in values if not _is_bit(value)]
    if len(others) < len(values) and all(looks_missing(value) for value in others):
        return _missing_remedy(others)
    if all(is_number(value) for value in values):
        return (
            f"Choose a threshold ({setting('binarize', python='binarize=…')}), say what each value means ({_EACH}), or "
            f"{_LEAVE_OUT}."
        )
    return f"Say what each value means ({_EACH}), or {_LEAVE_OUT}."


def _missing_remedy(others: list[Any], bit: type[str] | type[int] = int) -> str:
    """Say what to do with values that may stand for missing answers beside 0 and 1, which are numbers or text."""
    book = setting("encode", {bit(0): 0, bit(1): 1} | {_writable(value): None for value in others})
    return (
        f"If this stands for a missing answer, pass {book} and {setting('missing', 'zero')} or "
        f"{setting('missing', 'drop')}."
    )


def _writable(value: Any) -> Any:
    """Return a value for a suggestion; "…" in place of one that cannot be written there."""
    if write_value(value) is None:
        return "…"
    plain = value.item() if isinstance(value, np.generic) else value
    return int(plain) if isinstance(plain, float) and plain.is_integer() else plain
