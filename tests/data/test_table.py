"""Tables of 0 and 1 and of categories: what they hold, what some of their rows keep, and what is refused."""

import numpy as np
import pytest

from isinglass import BinaryTable, CategoryTable, ising_path, read_binary
from isinglass.data import holes_of, to_binary, to_weighted, units_of
from isinglass.errors import DataError

X = np.array([[0, 1], [1, 1], [1, 0]], dtype=np.uint8)
CODES = np.array([[0, 2, 1], [1, 0, 0], [0, 1, 2], [1, 2, 0]], dtype=np.uint8)


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


def mixed(**options):
    return CategoryTable(CODES, ["binary", "ordinal", "nominal"], names=("a", "b", "c"), **options)


def test_kinds_scores_and_categories():
    table = mixed(categories=[("no", "yes"), ("low", "mid", "high"), ("x", "y", "z")])
    assert table.kinds == ("binary", "ordinal", "nominal")
    assert table.scores[0].tolist() == [0, 1]
    assert table.scores[1].tolist() == [0, 1, 2]
    assert table.scores[2] is None
    assert table.variables.sizes.tolist() == [2, 3, 3]
    assert (table.shape, len(table), table.is_binary) == ((4, 3), 4, False)
    assert np.array_equal(np.asarray(table), CODES)
    assert repr(table) == "CategoryTable(4 rows × 3 columns: 'a', 'b', 'c'; 1 binary, 1 ordinal, 1 nominal)"
    with pytest.raises(ValueError, match="read-only"):
        table.scores[1][0] = 5


def test_some_rows_keep_all_categories():
    weight = np.array([1.0, 2.0, 3.0, 4.0])
    table = mixed(sample_weight=weight, row_names=("p", "q", "r", "s"), labels={"group": (1, None, 2, 3)})
    part = table[[1, 3, 3]]
    assert part.categories == table.categories
    assert part.row_names == ("q", "s", "s")
    assert part.sample_weight.tolist() == [2, 4, 4]
    assert part.rows.tolist() == units_of(part).tolist() == [1, 3, 3]
    assert part.labels == {"group": (None, 3, 3)}
    assert part.codes.max(axis=0).tolist() == [1, 2, 0]
    with pytest.raises(DataError, match="leave a row"):
        table[[]]


def test_holes_are_refused_where_cells_are_used():
    holes = CODES == 2
    table = mixed(holes=holes, n_missing=3)
    assert holes_of(table) is table.holes
    assert table[:1].n_missing == 1
    with pytest.raises(DataError, match="imputed"):
        ising_path(table, [0.1])


def test_a_column_of_two_categories_is_binary():
    codes = CODES[:, :1].repeat(3, axis=1)
    table = CategoryTable(codes, ("binary", "ordinal", "nominal"), categories=[(0, 1), ("no", "yes"), ("x", "y")])
    assert table.kinds == ("binary",) * 3
    plain = table.simplest()
    assert isinstance(plain, BinaryTable)
    assert np.array_equal(plain.X, codes)
    assert plain.encoding == {1: ("no", "yes"), 2: ("x", "y")}
    again = read_binary([[0, "no", "y"], [1, "yes", "x"]], encode=plain.coding)
    assert again.X.tolist() == [[0, 0, 1], [1, 1, 0]]
    stretched = CategoryTable(codes, "ordinal", scores=[None, [0, 2], None])
    assert stretched.kinds == ("binary", "ordinal", "binary")
    assert stretched.simplest() is stretched


def test_weights_come_apart_from_the_table():
    weight = np.array([1.0, 2.0, 3.0, 4.0])
    table, given = to_weighted(mixed(sample_weight=weight), None)
    assert given.tolist() == weight.tolist()
    assert isinstance(table, CategoryTable)
    assert table.sample_weight is None
    with pytest.raises(DataError, match="given once"):
        to_weighted(mixed(sample_weight=weight), weight)


def test_functions_of_two_values_say_so():
    for function in (to_binary, read_binary):
        with pytest.raises(DataError, match="ordinal column 'b' with 3 categories"):
            function(mixed())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"codes": CODES.astype(int)}, "uint8"),
        ({"codes": CODES[:0]}, "non-empty"),
        ({"kinds": "cardinal"}, "binary, ordinal or nominal"),
        ({"kinds": ["ordinal"]}, "one entry per column"),
        ({"kinds": "binary"}, "binary and must hold 0 and 1"),
        ({"scores": [None, [0, 1, 1], None]}, "different numbers"),
        ({"scores": [None, [0, 1], None]}, "one finite number"),
        ({"scores": [None, None, [0, 1, 2]]}, "must be None for the nominal"),
        ({"scores": [None]}, "one entry per column"),
        ({"categories": [(0, 1), ("low", "high"), (0, 1, 2)]}, "no other numbers"),
        ({"categories": [(0, 1), range(300), (0, 1, 2)]}, "2 to 256"),
        ({"holes": np.zeros((1, 1), dtype=bool)}, "shape of codes"),
        ({"row_names": ("p",)}, "one entry per row"),
    ],
)
def test_bad_tables(options, message):
    given = {"codes": CODES, "kinds": ["binary", "ordinal", "nominal"], **options}
    with pytest.raises(DataError, match=message):
        CategoryTable(**given)
