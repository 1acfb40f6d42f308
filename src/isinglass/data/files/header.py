"""What names the columns and the rows of a file: its first record and its first column, or neither."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np

from isinglass.data.meaning.values import AMOUNT, Value, is_bit, is_number
from isinglass.data.source import Source

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

    @property
    def is_header(self) -> bool:
        """Whether it names the columns: as the first rule says that applies."""
        answers = (rule(self) for rule in _RULES)
        return next((answer for answer in answers if answer is not None), False)


def _is_id_name(record: FirstRecord) -> bool | None:
    """Yes if the corner is what a column of row names is called."""
    is_name = isinstance(record.corner, str) and record.corner.casefold() in ID_NAMES
    return True if is_name and record.corner else None


def _stands_alone(record: FirstRecord) -> bool | None:
    """Yes if the corner alone has text: it names its column, or an empty row if there are texts below it."""
    if not isinstance(record.corner, str) or any(value is not None for value in record.fields):
        return None
    return not any(isinstance(value, str) for value in record.below_corner)


def _has_names(record: FirstRecord) -> bool | None:
    """Yes if texts are names, perhaps with years among them: no number comes first, and they differ from those below.

    More than half of them must stand above columns of numbers, or occur nowhere below; where the first column may hold
    row names, nowhere in the others.
    """
    if not any(isinstance(value, str) for value in record.fields):
        return None
    numbers = [value for value in record.fields if is_number(value)]
    steps = np.diff(numbers)
    are_years = all(isinstance(value, int) for value in numbers) and ((steps > 0).all() or (steps < 0).all())
    if is_number(record.corner) or not are_years:
        return False
    texts = {value: cells for value, cells in zip(record.fields, record.below, strict=True) if isinstance(value, str)}
    n_above_numbers = sum(all(cell is None or is_number(cell) for cell in cells) for cells in texts.values())
    n_different = len({*record.below_corner} - {None})
    has_row_names = record.corner is None or 2 < record.n_rows == n_different
    occurring = {*chain.from_iterable(record.below), *(() if has_row_names else record.below_corner)}
    return 2 * max(n_above_numbers, len(texts.keys() - occurring)) > len(texts)


def _counts_columns(record: FirstRecord) -> bool | None:
    """Yes if the fields are 0, 1, 2, … as pandas writes them, unless each occurs below."""
    values, below = [record.corner, *record.fields], [record.below_corner, *record.below]
    if len(values) < 4 or values != list(range(len(values))):
        return None
    return not all(value in cells for value, cells in zip(values, below, strict=True))


def _has_steps(record: FirstRecord) -> bool | None:
    """Yes if numbers in equal steps beside the corner are years or numbers of items; most of a row occur below.

    They are names in any case if they count from 0 or 1, or below a name of numbers.
    """
    if is_number(record.corner) or not _are_steps(record.fields):
        return None
    n_below = sum(value in cells for value, cells in zip(record.fields, record.below, strict=True))
    are_counted = len(record.fields) > 3 and list(record.fields[:2]) in ([0, 1], [1, 2])
    is_above_numbers = record.corner is not None and all(map(is_number, record.below_corner))
    return are_counted or is_above_numbers or 2 * n_below < len(record.fields)


def _is_far_above(record: FirstRecord) -> bool | None:
    """Yes if numbers in equal steps are far above all others, as years are."""
    values = [record.corner, *record.fields]
    cells = [cell for cell in chain(record.below_corner, *record.below) if cell is not None]
    if not cells or not _are_steps(values) or not all(map(is_number, cells)):
        return None
    return True if values[0] > 2 * max(cells) - min(cells) else None


def _is_above_bits(record: FirstRecord) -> bool | None:
    """Yes if other numbers are above columns of 0 and 1."""
    are_bits = all(cell is None or is_bit(cell) for cell in chain.from_iterable(record.below))
    return are_bits and any(value is not None and not is_bit(value) for value in record.fields)


_RULES: tuple[Callable[[FirstRecord], bool | None], ...] = (
    *(_is_id_name, _stands_alone, _has_names),
    *(_counts_columns, _has_steps, _is_far_above, _is_above_bits),  # all fields beside the corner are numbers
)
"""In this order; a rule that returns None does not apply."""


def _are_steps(values: Sequence[Value]) -> bool:
    """Tell whether these are at least three numbers that ascend in equal steps."""
    if len(values) < 3 or not all(map(is_number, values)):
        return False
    steps = np.diff(np.array(values, dtype=float))
    return bool(steps[0] > 0 and np.allclose(steps, steps[0], rtol=1e-6))


def find_row_names(table: Source, *, numbers_are_data: bool) -> int | None:
    """Return the column that names the rows: as the file itself declares, or the first one, if it looks like that.

    It does if its header says so, or if it has more than two values, all different and none missing, and more than
    half of them are text other than amounts such as $1,200 or 84%, or all are whole numbers in ascending order;
    numbers only if they cannot be data.
    """
    if table.shape[1] < 2:
        return None
    if table.row_names_at is not None:
        return table.row_names_at
    if table.names is not None and table.names[0].strip().casefold() in ID_NAMES:
        return 0
    column, n_rows = table.column(0), table.shape[0]
    if n_rows < 3 or len(column.distinct) < n_rows:  # the same value in two rows, or a missing one
        return None
    values = column.entries.tolist()
    n_texts = sum(isinstance(value, str) and not AMOUNT.fullmatch(value) for value in values)
    if 2 * n_texts > n_rows:  # fewer, beside numbers, are values that cannot be read
        return 0
    whole = all(isinstance(value, int) or (isinstance(value, float) and value.is_integer()) for value in values)
    ascending = whole and all(before < after for before, after in pairwise(values))
    return 0 if ascending and not numbers_are_data else None
