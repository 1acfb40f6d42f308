"""Columns of two values: which of the two stands for 0, and which for 1."""

from __future__ import annotations

from collections.abc import Sequence

from isinglass.data.column import Column
from isinglass.data.meaning.advice import SAY_VALUES, say_kind
from isinglass.data.meaning.recognition import is_unclear
from isinglass.data.meaning.rules import BITS, Levels, Rule
from isinglass.data.meaning.specs import ColumnSpec
from isinglass.data.meaning.values import Value, is_bit, rank, show_values
from isinglass.errors import ArgumentError, DataError, setting

# Words whose meaning is known, 0 before 1; compared without regard to case.
_KNOWN = (
    *(("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("off", "on"), ("nay", "yea"), ("0", "1")),
    *(("absent", "present"), ("negative", "positive"), ("disagree", "agree"), ("incorrect", "correct")),
    *(("wrong", "right"), ("fail", "pass"), ("never", "ever"), ("-", "+")),
)
Pair = tuple[Value, Value]
"""The values that stand for 0 and for 1; None for one that never occurs."""


def two_values(specs: Sequence[ColumnSpec], *, only_bits: bool) -> list[Rule]:
    """Return the rule of every column of two values; ``only_bits``: other numbers in `encode` are for other columns."""
    auto = [spec for spec in specs if spec.cut is None and spec.encode.is_auto]
    pairs = dict(zip(auto, _choose_pairs(auto), strict=True))
    return [spec.cut or pairs.get(spec) or _read_bits(spec, only_bits=only_bits) for spec in specs]


def _read_bits(spec: ColumnSpec, *, only_bits: bool) -> Levels:
    """Return the rule that `encode` states; what it does not speak of, and is 0 and 1 already, stays as it is."""
    if not spec.encode.has_numbers:
        return BITS
    bits = spec.encode.answers
    if only_bits and not spec.encode.by_name:
        bits = {value: bit for value, bit in bits.items() if bit in (0, 1)}
    for value, bit in bits.items():
        if bit not in (0, 1):
            remedy = f"Columns with more categories are declared with {setting('ordinal')}."
            missing = setting("encode", {value: None}, python="None")
            raise ArgumentError("encode", f"must map {value!r} to 0, 1 or missing ({missing})", bit, remedy)
    if not spec.encode.by_name and not any(value in bits for value in spec.values) and all(map(is_bit, spec.values)):
        return BITS
    return Levels({value: int(bit) for value, bit in bits.items()})


def _choose_pairs(specs: Sequence[ColumnSpec]) -> list[Rule]:
    """Choose which of two values is 1, for every column that is not 0/1 already.

    Ordered categories keep their order; then come words of known meaning, then the order of the categories, then
    ascending order. A column with one value follows another one that has it. Two values that cannot be told apart by
    rule, such as 0 and -9 or "Yes" and "yes", are refused.
    """
    pairs: list[Pair | None] = []
    for spec in specs:
        column, values = spec.column, spec.values
        two = list(column.categories) if column.categories is not None and len(column.categories) == 2 else values
        if len(two) > 2 or (len(two) == 2 and column.declared != "ordinal" and is_unclear(two)):
            raise DataError(
                f"{setting('X')} must have two values of clear meaning in every column for "
                f"{setting('encode', 'auto')}; got {show_values(values)} in {spec.where}. "
                f"{SAY_VALUES}{f' {say_kind(in_parts=spec.source.is_part)}' if len(two) > 2 else ''}{spec.remark}"
            )
        pairs.append(order_pair(two, column) if len(two) == 2 else None)
    clear_pairs = [pair for pair in pairs if pair is not None]
    chosen = [pair or _pair_of_single(spec.values, clear_pairs) for spec, pair in zip(specs, pairs, strict=True)]
    return [Levels({value: bit for bit, value in enumerate(pair) if value is not None}) for pair in chosen]


def pair_of(values: list[Value], column: Column, kind: str) -> Pair:
    """Return which of at most two categories stands for 0, and which for 1."""
    if len(values) < 2:
        return _pair_of_single(values, [])
    return order_pair(values, column) if kind == "nominal" else (values[0], values[1])


def order_pair(two: list[Value], column: Column) -> Pair:
    """Return which of two values of a column stands for 0, and which for 1."""
    if all(is_bit(value) for value in two):
        return 0, 1  # in any order of its categories
    if column.declared == "ordinal":
        return two[0], two[1]
    if all(isinstance(value, str) for value in two):
        words = [value.strip().casefold() for value in two]
        for known_words in _KNOWN:
            if set(words) == set(known_words):
                return two[words.index(known_words[0])], two[words.index(known_words[1])]
    categories = column.categories
    zero, one = sorted(two, key=rank) if categories is None else sorted(two, key=categories.index)
    return zero, one


def _pair_of_single(values: list[Value], others: list[Pair]) -> Pair:
    """Return what the only value of a column stands for: as in other columns, if these agree, or by its meaning."""
    if not values:
        return 0, 1
    value = values[0]
    holders = {pair for pair in others if value in pair}
    if len(holders) == 1:
        return holders.pop()
    if is_bit(value):
        return 0, 1
    word = value.strip().casefold() if isinstance(value, str) else None
    return (None, value) if any(word == one for _, one in _KNOWN) else (value, None)
