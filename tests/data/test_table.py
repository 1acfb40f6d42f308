"""The record of a binary table."""

import numpy as np
import pytest

from isinglass import BinaryTable, read_binary
from isinglass.errors import DataError

X = np.array([[0, 1], [1, 1], [1, 0]], dtype=np.uint8)


def test_rows_take_everything_with_them():
    table = BinaryTable(X, ("a", "b"), ("r", "s", "t"), np.array([1.0, 2.0, 3.0]))
    part = table[[2, 0]]
    assert part.X.tolist() == [[1, 0], [0, 1]]
    assert (part.names, part.row_names) == (("a", "b"), ("t", "r"))
    assert part.sample_weight.tolist() == [3, 1]
    assert part.rows.tolist() == [2, 0]
    assert part[1:].rows.tolist() == [0]  # rows of the source, not of the part
    assert table[X[:, 0] == 1].row_names == ("s", "t")


def test_missing_cells_are_counted_in_the_rows_that_are_left():
    table = read_binary([[0, None], [1, 1], [None, None]], missing="zero")
    assert (table.n_missing, table[[0, 1]].n_missing, table[1:2].n_missing) == (3, 1, 0)
    dropped = read_binary([[0, None], [1, 1], [0, 1]], missing="drop")
    assert dropped[:1].n_missing == 1  # the cells that went with their rows


@pytest.mark.parametrize("rows", [0, (0, 1), (slice(None), 0), slice(0, 0), [], None])
def test_what_is_no_rows(rows):
    with pytest.raises(DataError, match="rows must be a slice, numbers or a mask"):
        BinaryTable(X)[rows]


@pytest.mark.parametrize("rows", [[5], "a", [True]])
def test_rows_that_are_not_there(rows):
    with pytest.raises(IndexError, match="rows must be a slice, numbers or a mask"):
        BinaryTable(X)[rows]


def test_it_is_an_array_where_one_is_expected():
    table = BinaryTable(X)
    assert np.asarray(table) is table.X
    assert np.array(table, dtype=float).dtype == float
    assert not np.shares_memory(np.array(table, copy=True), X)
    assert (len(table), table.shape) == (3, (3, 2))


def test_columns_are_made_contiguous():
    assert BinaryTable(np.asfortranarray(X)).X.flags.c_contiguous


def test_repr():
    assert repr(BinaryTable(X)) == "BinaryTable(3 rows × 2 columns)"
    wide = BinaryTable(np.zeros((1, 4), dtype=np.uint8), ("a", "b", "c", "d"))
    assert repr(wide) == "BinaryTable(1 rows × 4 columns: 'a', 'b', 'c', …)"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"X": X.astype(int)}, r"X must be a non-empty uint8 table of 0 and 1; .*Use read_binary\(X\)"),
        ({"X": X + 1}, "X must be a non-empty uint8 table"),
        ({"X": X[0]}, "X must be a non-empty uint8 table"),
        ({"X": X[:0]}, "X must be a non-empty uint8 table"),
        ({"names": ("a",)}, "names must have one entry per node"),
        ({"names": ("a", "a")}, "names must be different from each other"),
        ({"row_names": ("a",)}, r"row_names must have one entry per row \(3\); got 1"),
        ({"rows": np.arange(2)}, r"rows must have one entry per row \(3\); got 2"),
        ({"filled": np.zeros((3, 1), dtype=bool)}, r"filled must have the shape of X, \(3, 2\); got \(3, 1\)"),
        ({"sample_weight": np.array([1.0, -1.0, 1.0])}, "sample_weight must be finite and not negative"),
    ],
)
def test_nonsense_is_refused(fields, message):
    with pytest.raises(DataError, match=message):
        BinaryTable(**{"X": X, **fields})
