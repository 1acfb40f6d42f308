"""Tables of 0 and 1 and of categories: what they hold, what some of their rows keep, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from networks import make_table

from isinglass import Table, Variables, as_table, exact_path, ising_path, read_parts
from isinglass.data import category_counts, column_sd, pair_counts
from isinglass.errors import ArgumentError, DataError

X = np.array([[0, 1], [1, 1], [1, 0]], dtype=np.uint8)
BITS = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 0, 1]], dtype=np.uint8)
CODES = np.array([[0, 2, 1], [1, 0, 0], [0, 1, 2], [1, 2, 0]], dtype=np.uint8)


def test_rows_take_everything_with_them():
    weight = np.array([1.0, 2.0, 3.0])
    table = make_table(X, names=("a", "b"), row_names=("r", "s", "t"), sample_weight=weight)
    part = table[[2, 0]]
    assert part.codes.tolist() == [[1, 0], [0, 1]]
    assert (part.names, part.row_names) == (("a", "b"), ("t", "r"))
    assert part.sample_weight.tolist() == [3, 1]
    assert part.rows.tolist() == [2, 0]
    assert part[1:].rows.tolist() == [0]  # rows of the source, not of the part
    assert table[X[:, 0] == 1].row_names == ("s", "t")


def test_missing_cells_are_counted_in_the_rows_that_are_left():
    table = as_table([[0, None], [1, 1], [None, None]], missing="zero")
    assert (table.n_missing, table[[0, 1]].n_missing, table[1:2].n_missing) == (3, 1, 0)
    dropped = as_table([[0, None], [1, 1], [0, 1]], missing="drop")
    assert dropped[:1].n_missing == 1  # the cells that went with their rows


@pytest.mark.parametrize("rows", [0, (0, 1), (slice(None), 0), slice(0, 0), [], None])
def test_what_is_no_rows(rows):
    with pytest.raises(DataError, match="rows must be a slice, numbers or a mask"):
        make_table(X)[rows]


@pytest.mark.parametrize("rows", [[5], "a", [True]])
def test_rows_that_are_not_there(rows):
    with pytest.raises(IndexError, match="rows must be a slice, numbers or a mask"):
        make_table(X)[rows]


def test_it_is_an_array_where_one_is_expected():
    table = make_table(X)
    assert np.asarray(table) is table.codes
    assert np.array(table, dtype=float).dtype == float
    assert not np.shares_memory(np.array(table, copy=True), X)
    assert (len(table), table.shape) == (3, (3, 2))


def test_columns_are_made_contiguous():
    assert make_table(np.asfortranarray(X)).codes.flags.c_contiguous


def test_repr():
    assert repr(make_table(X)) == "Table(3 rows × 2 columns)"
    wide = make_table(np.zeros((1, 4), dtype=np.uint8), names=("a", "b", "c", "d"))
    assert repr(wide) == "Table(1 row × 4 columns: 'a', 'b', 'c', …)"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"codes": X.astype(int)}, r"codes must be a non-empty uint8 table; .*Use as_table\(X\)"),
        ({"codes": X + 1}, "column 0 has the categories 0 to 1; got 2"),
        ({"codes": X[0]}, "codes must be a non-empty uint8 table"),
        ({"codes": X[:0]}, "codes must be a non-empty uint8 table"),
        ({"variables": Variables.binary(3)}, "variables must be those of 2 columns; got 3"),
        ({"row_names": ("a",)}, r"row_names must have one entry per row \(3\); got 1"),
        ({"rows": np.arange(2)}, r"rows must have one entry per row \(3\); got 2"),
        ({"labels": {"group": (1,)}}, r"group must have one entry per row \(3\); got 1"),
        (
            {"filled": np.zeros((3, 1), dtype=bool)},
            r"filled must be an array of type bool and shape \(3, 2\); got bool \(3, 1\)",
        ),
        ({"holes": np.zeros((3, 2), dtype=int)}, r"holes must be an array of type bool and shape \(3, 2\); got int64"),
        (
            {"holes": np.zeros((3, 2), dtype=bool).tolist()},
            r"holes must be an array of type bool and shape \(3, 2\); got list",
        ),
        (
            {"numbers": np.zeros((3, 2), dtype=bool)},
            r"numbers must be an array of type float64 and shape \(3, 2\); got bool",
        ),
        ({"sample_weight": np.array([1.0, -1.0, 1.0])}, "sample_weight must be finite and not negative"),
        ({"weight_kind": "guess"}, "weight_kind must be"),
    ],
)
def test_nonsense_is_refused(fields, message):
    with pytest.raises(DataError, match=message):
        Table(**{"codes": X, **fields})


def mixed(**options):
    return make_table(CODES, ["binary", "ordinal", "nominal"], names=("a", "b", "c"), **options)


def test_kinds_scores_and_categories():
    table = mixed(categories=[("no", "yes"), ("low", "mid", "high"), ("x", "y", "z")])
    assert table.variables.kinds == ("binary", "ordinal", "nominal")
    assert table.variables.scores == ((0, 1), (0, 1, 2), None)
    assert table.variables.sizes.tolist() == [2, 3, 3]
    assert (table.shape, len(table), table.variables.is_binary) == ((4, 3), 4, False)
    assert np.array_equal(np.asarray(table), CODES)
    assert repr(table) == "Table(4 rows × 3 columns: 'a', 'b', 'c'; 1 binary, 1 ordinal, 1 nominal)"


def test_some_rows_keep_all_categories():
    weight = np.array([1.0, 2.0, 3.0, 4.0])
    table = mixed(sample_weight=weight, row_names=("p", "q", "r", "s"), labels={"group": (1, None, 2, 3)})
    part = table[[1, 3, 3]]
    assert part.variables.categories == table.variables.categories
    assert part.row_names == ("q", "s", "s")
    assert part.sample_weight.tolist() == [2, 4, 4]
    assert part.rows.tolist() == part.units.tolist() == [1, 3, 3]
    assert part.labels == {"group": (None, 3, 3)}
    assert part.codes.max(axis=0).tolist() == [1, 2, 0]
    with pytest.raises(DataError, match="leave a row"):
        table[[]]
    unused = mixed(sample_weight=np.array([0.0, 0.0, 0.5, 1.5]))
    with pytest.raises(DataError, match="must have a positive sum; got only weights of zero"):
        unused[:2]
    assert unused[1:3].sample_weight.tolist() == [0.0, 0.5]


def test_other_cells_are_as_many():
    table = mixed(sample_weight=np.arange(4.0))
    assert table.with_codes(CODES[::-1]).codes.tolist() == CODES[::-1].tolist()
    with pytest.raises(DataError, match=r"codes must have the shape \(4, 3\) of the table; got \(3, 3\)"):
        table.with_codes(CODES[1:])


def test_holes_are_refused_where_cells_are_used():
    holes = CODES == 2
    table = mixed(holes=holes, n_missing=3)
    assert table[:1].n_missing == 1
    with pytest.raises(DataError, match="imputed"):
        ising_path(table, [0.1])


def test_a_column_of_two_categories_is_binary():
    codes = CODES[:, :1].repeat(3, axis=1)
    table = make_table(codes, ("binary", "ordinal", "nominal"), categories=[(0, 1), ("no", "yes"), ("x", "y")])
    assert table.variables.kinds == ("binary",) * 3
    assert table.variables.is_binary
    assert table.encoding == {1: ("no", "yes"), 2: ("x", "y")}
    again = as_table([[0, "no", "y"], [1, "yes", "x"]], encode=table.coding)
    assert again.codes.tolist() == [[0, 0, 1], [1, 1, 0]]
    assert again.variables == table.variables
    stretched = make_table(codes, "ordinal", scores=[None, [0, 2], None])
    assert stretched.variables.kinds == ("binary", "ordinal", "binary")
    assert not stretched.variables.is_binary


def test_weights_are_given_once():
    weight = np.array([1.0, 2.0, 3.0, 4.0])
    table = as_table(mixed(), weight)
    assert table.sample_weight.tolist() == weight.tolist()
    assert table.total_weight == 10.0
    assert table.weight_range == (1.0, 4.0)
    assert table.with_weight(None).sample_weight is None
    assert table.above(2.0).sample_weight.tolist() == [3, 4]
    with pytest.raises(DataError, match="must not be given with a table that has its own weights"):
        as_table(table, weight)


def test_columns_take_everything_with_them():
    gone = CODES == 2
    table = mixed(holes=gone, n_missing=3, row_names=("p", "q", "r", "s"))
    part = table.take([2, 0])
    assert part.codes.tolist() == CODES[:, [2, 0]].tolist()
    assert part.codes.flags.c_contiguous
    assert (part.names, part.variables.kinds, part.n_missing) == (("c", "a"), ("nominal", "binary"), 1)
    assert part.row_names == table.row_names
    assert table.take(np.array([False, True, False])).variables == table.variables.take([1])
    words = as_table([["no", 1], ["yes", 0]], encode="auto").take([0])
    assert words.encoding == {0: ("no", "yes")}


def test_codes_are_those_of_other_variables_if_these_have_them():
    table = mixed()
    longer = Variables.of([2, 3, 5], ["binary", "ordinal", "nominal"])
    assert table.with_variables(longer).variables is longer
    with pytest.raises(DataError, match="column 1 has the categories 0 to 1; got 2"):
        table.with_variables(Variables.binary(3))
    with pytest.raises(DataError, match="one column per node"):
        table.with_variables(Variables.binary(2))


def test_a_read_table_is_no_table_of_fewer_variables():
    table = as_table(BITS)
    with pytest.raises(DataError, match="one column per node"):
        as_table(table, encode=as_table(X).coding)


def test_functions_of_two_values_say_so():
    with pytest.raises(DataError, match="ordinal column 'b' with 3 categories"):
        exact_path(mixed(), [0.1])


def test_new_names_are_those_of_the_coding():
    """A table is renamed with its coding, which finds the columns of other tables by name."""
    table = as_table(as_table([["y", "n"], ["n", "y"]], encode="auto", names=["a", "b"]), names=["c", "d"])
    assert table.coding.names == ("c", "d")
    again = as_table(pd.DataFrame({"d": ["y"], "c": ["n"]}), encode=table.coding)
    assert (again.names, again.codes.tolist()) == (("c", "d"), [[0, 1]])


@pytest.mark.parametrize("missing", ["impute", "zero"])
def test_some_cells_of_which_none_was_missing(missing):
    table = as_table(np.array([[0, 1.0], [np.nan, 1], [1, 0], [1, 1]]), missing=missing)
    assert (table.missing_treatment, table.n_missing) == (missing, 1)
    for part in (table[[0, 2, 3]], table.take([1])):
        assert (part.missing_treatment, part.n_missing, part.holes, part.filled) == (None, 0, None, None)
        assert part.without_holes() is part
    assert table[[1, 2]].missing_treatment == missing
    assert ising_path(table[[0, 2, 3]], [1.0])[0].n_edges == 0


def test_missing_cells_have_no_category():
    table = as_table(
        [[1, 0], [None, 1], [1, None]], missing="impute", sample_weight=[2.0, 3.0, 4.0], weight_kind="counts"
    )
    assert category_counts(table).tolist() == [0.0, 6.0, 2.0, 3.0]


@pytest.mark.parametrize("columns", [[], ["a"], [[0]], [3], np.array([0.0]), [True]])
def test_what_is_no_columns(columns):
    for table in (as_table(BITS), read_parts([BITS, BITS])):
        with pytest.raises(ArgumentError, match="columns must be numbers of some of the 3 columns, or a mask"):
            table.take(columns)


def test_columns_of_a_table_in_parts_are_chosen_as_those_of_another():
    whole, parts = as_table(np.vstack([BITS, BITS])), read_parts([BITS, BITS])
    for columns in ([0], [2, 0], [-1], [True, False, True]):
        assert np.array_equal(parts.take(columns).gather(), whole.take(columns))


@pytest.mark.parametrize("columns", [1, [1], -2, [-2], "b", ["b"], ["b:b"], np.int64(1)])
def test_covariates_are_named_as_in_options(columns):
    table = as_table(BITS, names=["a", "b", "c"])
    assert table.with_covariates(columns).variables.covariates == ("b",)
    assert as_table(BITS, names=["a", "b", "c"], covariates=columns).variables.covariates == ("b",)
    with pytest.raises(DataError, match="covariates must name a column of the table"):
        table.with_covariates(["bb"])


def test_what_is_no_names_and_no_categories():
    for rename in (lambda names: as_table(BITS, names=names), as_table(BITS).with_names):
        with pytest.raises(ArgumentError, match="names must be a list of strings"):
            rename(5)
    with pytest.raises(ArgumentError, match="categories must be"):
        Variables.of([[[1], [2], [3]]], ["nominal"])


def test_moments_of_tables_with_holes_are_refused():
    cells = np.array([[1, 0, 2], [1, 1, 0], [np.nan, 0, 1], [np.nan, 1, 0]])
    for table in (as_table(cells[:, :2], missing="impute"), as_table(cells, kinds={2: "nominal"}, missing="impute")):
        for moment in (column_sd, lambda table: pair_counts(table, np.array([[0, 1]]))):
            with pytest.raises(DataError, match="must have no missing cells here; got 2"):
                moment(table)
