"""What options call columns: names, numbers such as ``#3``, and ranges of neighbors; loaded for help without NumPy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby


def read_column(word: str) -> str | int:
    """Read ``#3`` as the number of the third column, from 0, and everything else as a name."""
    number = word[1:] if word.startswith("#") else ""
    is_number = number.isdecimal() and len(number) < 20 and int(number) > 0  # of thousands of digits, int reads none
    return int(number) - 1 if is_number else word


def name_ranges(keys: Sequence[str | int], places: Iterable[int]) -> list[str | int]:
    """Return names or numbers of the columns at some places; three neighbors and more as a range."""
    found: list[str | int] = []
    for _, run in groupby(enumerate(sorted(places)), lambda item: item[1] - item[0]):
        near = [keys[place] for _, place in run]
        ends = {key if isinstance(key, str) else f"#{key + 1}": key for key in (near[0], near[-1])}
        are_clear = all(read_column(end) == key and not set(":*?[") & set(end) for end, key in ends.items())
        found += [":".join(ends)] if len(near) > 2 and are_clear else near
    return found
