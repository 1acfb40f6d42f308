"""One column as it came: what its cells are, fast and one by one."""

import numpy as np
import pytest

from isinglass.data.source import Column

COLUMNS = {
    "positions": Column(np.array([0, 1, -1, 2, 1]), ["a", None, 3.5]),
    "values that are no number": Column(np.array([0, 1, 0]), [float("nan"), 1.0]),
    "whole numbers": Column(np.array([1, 2, 3])),
    "numbers": Column(np.array([1.0, np.nan, 3.0])),
    "numbers, most of them missing": Column(np.array([np.nan, np.nan, 3.0])),
    "nothing": Column(np.empty(0, dtype=np.intp), ["a"]),
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_missing_cells_are_those_whose_entries_are_missing(column):
    one_by_one = [cell is None or cell != cell for cell in column.entries.tolist()]
    assert column.missing.tolist() == one_by_one
