"""Whether the first record of a text names its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from isinglass.data.meaning.values import Value, is_bit, is_number

# Headers of a first column that names the rows. pandas and R leave the header empty.
ID_NAMES = frozenset({"", "id", "index", "row", "rowname", "rownames", "row_names", "unnamed: 0", "__index_level_0__"})


@dataclass(frozen=True)
class FirstRecord:
    """The first record of a text, whose corner may be the name of a row, or that of a column of row names.

    Values are numbers, truth values, texts, or None for a missing cell. The only field of a record is no corner.
    """

    corner: Value  # its first field
    fields: Sequence[Value]  # the others
    below_corner: Sequence[Value]  # the different values below
    below: Sequence[Sequence[Value]]
    n_rows: int  # below it

    @classmethod
    def of(cls, values: Sequence[Value], below: Sequence[Sequence[Value]], n_rows: int) -> FirstRecord:
        """Return the record of these values above columns of others."""
        if len(values) < 2:
            return cls(None, values, (), below, n_rows)
        return cls(values[0], values[1:], below[0], below[1:], n_rows)

    @property
    def is_header(self) -> bool:
        """Whether it names the columns: the first rule that applies decides."""
        rules = (
            self._by_corner_called_id,
            self._by_single_text,
            self._by_texts,  # below are the rules for numbers and missing cells beside the corner
            self._by_empty_corner,
            self._by_counting_from_0,
            self._by_steps,
            self._by_distance,
        )
        verdicts = (rule() for rule in rules)
        return next(verdict for verdict in verdicts if verdict is not None)

    def _by_corner_called_id(self) -> bool | None:
        """Decide on id,1990,1991: the name of a column of row names is in no row."""
        return True if isinstance(self.corner, str) and self.corner and self.corner.casefold() in ID_NAMES else None

    def _by_single_text(self) -> bool | None:
        """Decide on "score" alone, or "Ann,,": a name stands above no texts."""
        if not isinstance(self.corner, str) or any(value is not None for value in self.fields):
            return None
        return not any(isinstance(value, str) for value in self.below_corner)

    def _by_texts(self) -> bool | None:
        """Decide on country,gdp,1990: whether the texts are names, and no answers such as those of Ann,yes,no.

        More than half of the texts stand above columns of numbers, as in who,age,weight above Ann,31,62; or more than
        half occur in no cell below, as in who,smokes above Ann,yes. Numbers among them are years in order.
        """
        pairs = zip(self.fields, self.below, strict=True)
        below = {value: cells for value, cells in pairs if isinstance(value, str)}
        if not below:
            return None
        numbers = [value for value in self.fields if is_number(value)]
        steps = np.diff(numbers)
        are_years = all(isinstance(value, int) for value in numbers) and ((steps > 0).all() or (steps < 0).all())
        if is_number(self.corner) or not are_years:
            return False
        n_above_numbers = sum(all(cell is None or is_number(cell) for cell in cells) for cells in below.values())
        has_row_names = self.corner is None or self._are_rows_named
        cells = chain(*self.below, () if has_row_names else self.below_corner)
        return 2 * max(n_above_numbers, len(below.keys() - set(cells))) > len(below)

    def _by_empty_corner(self) -> bool | None:
        """Decide on ,1990,1995: R and pandas leave the corner empty above row names."""
        are_names = all(map(is_number, self.fields)) and len({*self.fields}) == len(self.fields)
        return True if self.corner is None and self._are_rows_named and are_names else None

    def _by_counting_from_0(self) -> bool | None:
        """Decide on 0,1,2,3 as pandas writes it without row names: not all of a header occur below."""
        everything = [self.corner, *self.fields]
        if len(everything) < 4 or everything != list(range(len(everything))):
            return None
        return not all(_occur_below(everything, [self.below_corner, *self.below]))

    def _by_steps(self) -> bool | None:
        """Decide on country,1990,1991,1992: whether equal steps are names, and no scores as in Ann,10,20,30.

        They count items (item,1,2,3,4), stand beside the name of a column of numbers (age,1990,1991,1992 above
        31,5,6,7), or most of them do not occur below.
        """
        if not _are_steps(self.fields) or is_number(self.corner):
            return None
        count_items = len(self.fields) > 3 and list(self.fields[:2]) in ([0, 1], [1, 2])
        is_corner_above_numbers = self.corner is not None and all(map(is_number, self.below_corner))
        n_below = sum(_occur_below(self.fields, self.below))
        return count_items or is_corner_above_numbers or 2 * n_below < len(self.fields)

    def _by_distance(self) -> bool:
        """Decide on all others: names are unlike the cells below them."""
        return self._is_far_above or self._is_above_bits

    @property
    def _are_rows_named(self) -> bool:
        """Whether the cells below the corner differ, as names of rows do."""
        return 2 < self.n_rows == len({*self.below_corner} - {None})

    @property
    def _is_far_above(self) -> bool:
        """Whether all fields are numbers in equal steps, far above all cells below: 1990,1991,1992 above 5,3,4."""
        fields = [self.corner, *self.fields]
        cells = [cell for cell in chain(self.below_corner, *self.below) if cell is not None]
        if not cells or not _are_steps(fields) or not all(map(is_number, cells)):
            return False
        return bool(fields[0] > 2 * max(cells) - min(cells))

    @property
    def _is_above_bits(self) -> bool:
        """Whether there is another number than 0 and 1 above columns of these: 101,102 above 0,1."""
        are_bits = all(cell is None or is_bit(cell) for cell in chain(*self.below))
        return are_bits and any(value is not None and not is_bit(value) for value in self.fields)


def _occur_below(values: Sequence[Value], below: Sequence[Sequence[Value]]) -> list[bool]:
    """Tell of every field whether the same value occurs below it."""
    return [value in cells for value, cells in zip(values, below, strict=True)]


def _are_steps(values: Sequence[Value]) -> bool:
    """Tell whether these are at least three numbers that ascend in equal steps."""
    if len(values) < 3 or not all(map(is_number, values)):
        return False
    steps = np.diff(np.array(values, dtype=float))
    return bool(steps[0] > 0 and np.allclose(steps, steps[0], rtol=1e-6))
