"""One table, many containers, the same bits; and messages that say what to do."""

import io
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from networks import make_table
from scipy import sparse

import isinglass
from isinglass import EBIC, CrossValidation, Method, read_table
from isinglass.data import as_table
from isinglass.errors import ArgumentError, DataError, DataWarning


def to_binary(X):
    """Return the bytes of a table of 0 and 1."""
    table = as_table(X).without_holes()
    table.variables.require_two_values("X")
    return table.codes


TABLE = np.array([[0, 1, 1], [1, 0, 1]])


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int8, np.int64, np.uint32, np.float16, np.float32, np.longdouble])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_number_type_and_order_gives_the_same_bytes(dtype, order):
    X = np.array(TABLE, dtype=dtype, order=order)
    X.flags.writeable = False
    before = X.copy()
    codes = to_binary(X)
    assert codes.dtype == np.uint8
    assert codes.flags.c_contiguous
    assert codes.tolist() == TABLE.tolist()
    assert (before == X).all()


def test_lists_strides_and_single_cells():
    assert to_binary([[True]]).tolist() == [[1]]
    assert to_binary(np.tile(TABLE, (2, 2))[::2, ::-2]).flags.c_contiguous


@pytest.mark.parametrize("dtype", [np.uint8, bool])
def test_bytes_are_viewed_and_not_copied(dtype):
    X = TABLE.astype(dtype)
    assert np.shares_memory(to_binary(X), X)
    assert np.shares_memory(to_binary(make_table(X.view(np.uint8))), X)


def test_memory_mapped_files(tmp_path):
    np.save(tmp_path / "x.npy", TABLE.astype(np.uint8))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    codes = to_binary(mapped)
    assert np.shares_memory(codes, mapped)
    assert codes.tolist() == TABLE.tolist()


def containers(bits: np.ndarray) -> dict[str, object]:
    """Return the same bits in everything that can hold them."""
    names = [f"q{j}" for j in range(bits.shape[1])]
    frame = pd.DataFrame(bits, columns=names)
    columns = {name: bits[:, j] for j, name in enumerate(names)}
    mixed = {
        name: frame[name].astype(kind)
        for name, kind in zip(names, ["bool", "Int8", "category", "float32", "boolean"] * 9, strict=False)
    }
    kinds = {
        "lists": bits.tolist(),
        "objects": bits.astype(object),
        "masked": np.ma.array(bits),
        "pandas": frame,
        "pandas bool": frame.astype(bool),
        "pandas nullable": frame.astype("Int64"),
        "pandas nullable bool": frame.astype("boolean"),
        "pandas category": frame.astype("category"),
        "pandas arrow": frame.astype("int8[pyarrow]"),
        "pandas mixed": pd.DataFrame(mixed),
        "pandas sparse": frame.astype(pd.SparseDtype(int)),
        "pandas objects": frame.astype(object),
        "polars": pl.DataFrame(columns),
        "polars bool": pl.DataFrame({name: column.astype(bool) for name, column in columns.items()}),
        "pyarrow": pa.table(columns),
        "pyarrow bool": pa.table({name: column.astype(bool) for name, column in columns.items()}),
        "pyarrow batch": pa.table(columns).to_batches()[0],
        "pyarrow chunks": pa.concat_tables([pa.table(columns).slice(0, 1), pa.table(columns).slice(1)]),
        "Table": make_table(bits.astype(np.uint8)),
    }
    for form in ("csr", "csc", "coo", "bsr", "dia", "dok", "lil"):
        for dtype in (bool, np.int64, np.float64):
            for kind in ("array", "matrix"):
                kinds[f"{form}_{kind} {dtype.__name__}"] = getattr(sparse, f"{form}_{kind}")(bits.astype(dtype))
    return kinds


BITS = np.random.default_rng(0).integers(0, 2, size=(9, 7))


@pytest.mark.parametrize("kind", containers(BITS))
def test_every_container_gives_the_same_bytes(kind):
    X = containers(BITS)[kind]
    table = as_table(X)
    assert table.codes.tobytes() == BITS.astype(np.uint8).tobytes()
    assert table.shape == BITS.shape
    assert to_binary(X).tobytes() == table.codes.tobytes()
    named = kind.startswith(("pandas", "polars", "pyarrow"))
    assert table.variables.named == named
    assert not named or table.names == tuple(f"q{j}" for j in range(7))
    # With a threshold the same cells go through other code.
    if kind != "Table":
        assert (as_table(X, binarize=0.5).codes == BITS).all()
        assert (as_table(X, encode={0: 1, 1: 0}).codes == 1 - BITS).all()
        assert (as_table(X, encode="auto").codes == BITS).all()


def test_explicit_zeros_and_duplicates_of_a_sparse_matrix():
    stored = sparse.csr_array((np.array([0, 1, 0]), np.array([0, 1, 1]), np.array([0, 2, 3])), shape=(2, 2))
    assert to_binary(stored).tolist() == [[0, 1], [0, 0]]
    twice = sparse.coo_array(([1, -1, 1], ([0, 0, 0], [0, 0, 0])), shape=(1, 2))
    assert to_binary(twice).tolist() == [[1, 0]]
    unsummed = sparse.csr_array((np.array([1, 1]), np.array([0, 0]), np.array([0, 2])), shape=(1, 2))
    with pytest.raises(DataError, match="got 2 in column 0"):
        to_binary(unsummed)
    assert unsummed.nnz == 2  # the caller's matrix is as it was


@pytest.mark.parametrize(
    "call",
    [
        lambda X: isinglass.ising_path(X, alphas=[0.05])[0].couplings,
        lambda X: isinglass.nodewise_path(X, alphas=[0.02])[0].couplings,
        lambda X: isinglass.exact_path(X, alphas=[0.02])[0].couplings,
        lambda X: isinglass.objective.Objective(X).alpha_max(),
        lambda X: Method(selector=EBIC(3)).choose(X).solution.couplings,
        lambda X: Method(selector=CrossValidation(3, n_folds=2)).choose(X).mean,
        lambda X: isinglass.refit(X, isinglass.ising_path(BITS4, alphas=[0.05])[0]).edge_values,
    ],
)
def test_functions_of_the_package_take_every_container(call):
    expected = call(BITS4)
    for X in (pd.DataFrame(BITS4), pl.DataFrame(BITS4), sparse.csc_array(BITS4), as_table(BITS4)):
        got = call(X)
        assert np.array_equal(
            got.toarray() if sparse.issparse(got) else got,
            expected.toarray() if sparse.issparse(expected) else expected,
        )


BITS4 = np.random.default_rng(3).integers(0, 2, size=(40, 4))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (
            [[0, 2], [1, 3]],
            r"only 0 and 1; got 2, 3 in column 1 \(first in row 0\)\. If these are two answers, use encode",
        ),
        ([[0.0, 0.5]], r"got 0\.5 in column 1 .*If these are two answers"),
        ([[0.0, 1.0], [np.nan, 1.0]], r'no missing cells; got NaN in column 0 \(row 1; 1 missing.*missing="zero"'),
        ([[-1, 1], [1, -1]], r"got -1 in column 0 .*If these are two answers"),
        (np.array([[0, 7]], dtype=np.uint8), "got 7 in column 1"),
        ([[np.inf, 0]], "got inf in column 0"),
        (np.arange(2, 12).reshape(-1, 1), "got 2, 3, 4, 5, 6, … in column 0"),
        (
            [["Yes"], ["No"]],
            r"got 'No', 'Yes' in column 0 .*use encode=\"auto\"",
        ),
        ([["a"], ["b"], ["c"]], "got 'a', 'b', 'c' in column 0 .*None"),
        ([["x" * 500], ["y"]], "got 'x{35}…', 'y' in column 0 .*If these are two answers"),
        (np.array([[0, None]], dtype=object), "got one in column 1"),
        ([[0, 10**5000]], "got an integer of thousands of digits in column 1"),
        (np.array([["1970-01-01", "NaT"]], dtype="datetime64[D]"), "got dates in column 0"),
        (np.array([[1 + 2j]]), "got dtype complex128. Complex data not supported"),
        (sparse.csr_array(np.array([[1j]])), "got a sparse matrix of dtype complex128. Complex data not supported"),
        (np.arange(2), r"1 dimension\(s\). Reshape your data: numpy.reshape\(X, \(-1, 1\)\) if it is one column"),
        ([0, 1], r"Reshape your data: numpy.reshape\(X, \(-1, 1\)\) if it is one column"),
        (pd.Series([0, 1]), r"got Series with 1 dimension\(s\). Reshape your data"),
        (np.zeros((2, 2, 2)), r"3 dimension\(s\)"),
        (3, "array, a data frame or a sparse matrix; got int"),
        (None, "got NoneType"),
        ([], r"at least one row and one column; got 0 feature\(s\) \(shape=\(0,\)\)"),
        ({"a": [0, 1]}, r"got dict, whose values have names\. Pass pandas\.DataFrame\(X\)"),
        ([{"a": 0}, {"a": 1}], r"got list, whose values have names\. Pass pandas\.DataFrame\(X\)"),
        (np.zeros(2, dtype=[("a", int)]), r"got ndarray, whose values have names\. Pass pandas\.DataFrame\(X\)"),
        ([[0, 1], [1]], "or a list of rows; got a list whose rows differ in length or hold lists"),
        ([[0, 1], 1], "or a list of rows; got a list whose rows differ in length or hold lists"),
        ([[[0], 1], [1, 0]], "or a list of rows; got a list whose rows differ in length or hold lists"),
        (np.zeros((0, 3)), r"got 0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required"),
        (np.zeros((3, 0)), r"got 0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required"),
        (pd.DataFrame({"a": []}), r"got 0 sample\(s\)"),
        (pd.DataFrame({"Q3": [0, 4, 5]}), r"got 4, 5 in column 'Q3' \(first in row 1\)"),
        (pl.DataFrame({"Q3": ["a", "b"]}), "got 'a', 'b' in column 'Q3'"),
        (pl.DataFrame({"Q3": [-1, 1], "x": ["a", "b"]}), r"in column 'Q3'"),
        (sparse.csr_array([[0, 3], [2, 0]]), r"got 2 in column 0 \(first in row 1\).*…: None}"),
        (pl.LazyFrame({"a": [1]}), r"got the lazy frame polars.LazyFrame. Run its query first: X.collect\(\)"),
        (
            pd.DataFrame([[0, 1]], columns=["a", "a"]),
            "got DataFrame: Expected unique column names, got:\n- 'a' 2 times",
        ),
        (pa.table([[0], [1]], names=["a", "a"]), "got Table: Expected unique column names, got:\n- 'a' 2 times"),
        (pd.DataFrame([[0, 1]], columns=["1", 1]), "names of columns must be different from each other; got '1' twice"),
    ],
)
def test_bad_tables_are_explained(X, message):
    with pytest.raises(DataError, match=message):
        to_binary(X)


def test_bytes_are_text():
    yes, no = b"Yes", b"No"
    column = [yes, no, no, None]
    for X in (
        np.array([[yes, yes], [no, yes], [no, no]]),
        pd.DataFrame({"a": column, "b": [b"1", b"0", b"1", b"?"]}),
        pl.DataFrame({"a": column}),
        pa.table({"a": pa.array(column).dictionary_encode()}),
    ):
        table = as_table(X, encode="auto", missing="drop")
        assert table.codes[:, 0].tolist() == [1, 0, 0]
        assert table.variables.categories[0] == ("No", "Yes")


def test_bad_data_is_a_value_error():
    with pytest.raises(ValueError, match="X must"):
        to_binary([[2]])


def test_cells_that_are_neither_text_nor_number_are_a_type_error():
    # scikit-learn's check_dtype_object asks for this type and these words.
    with pytest.raises(TypeError, match=r"got \{.foo.: .bar.\} in column 1. .*argument must be .* string.* number"):
        to_binary(np.array([[1, {"foo": "bar"}]], dtype=object))


@pytest.mark.parametrize(
    "X",
    [
        [[0, 1], [None, 1], [1, None], [1, 0]],
        np.array([[0, 1], [np.nan, 1], [1, np.nan], [1, 0]]),
        np.ma.array([[0, 1], [7, 1], [1, 9], [1, 0]], mask=[[0, 0], [1, 0], [0, 1], [0, 0]]),
        np.ma.array([[0, 1], [7, 1], [1, 0], [1, 0]], mask=[[0, 0], [1, 0], [0, 1], [0, 0]], dtype=object),
        pd.DataFrame({"a": [0, None, 1, 1], "b": [1, 1, None, 0]}),
        pd.DataFrame({"a": [0, None, 1, 1], "b": [1, 1, None, 0]}, dtype="Int64"),
        pd.DataFrame({"a": [False, None, True, True], "b": [True, True, None, False]}, dtype="boolean"),
        pd.DataFrame({"a": [False, None, True, True], "b": [True, True, pd.NaT, False]}),
        pd.DataFrame({"a": pd.Categorical([0, None, 1, 1]), "b": [True, True, pd.NA, False]}),
        pl.DataFrame({"a": [0, None, 1, 1], "b": [1, 1, None, 0]}),
        pl.DataFrame({"a": [0, float("nan"), 1, 1], "b": [1, 1, None, 0]}, strict=False),
        pl.DataFrame({"a": [False, None, True, True], "b": [True, True, None, False]}),
        pa.table({"a": [0, None, 1, 1], "b": [True, True, None, False]}),
        sparse.csr_array(np.array([[0, 1], [np.nan, 1], [1, np.nan], [1, 0]])),
    ],
)
def test_missing_cells(X):
    filled = as_table(X, missing="zero")
    assert filled.codes.tolist() == [[0, 1], [0, 1], [1, 0], [1, 0]]
    assert (filled.n_missing, filled.rows) == (2, None)
    assert np.argwhere(filled.filled).tolist() == [[1, 0], [2, 1]]
    assert filled[2:].filled.tolist() == [[False, True], [False, False]]
    dropped = as_table(X, missing="drop")
    assert dropped.codes.tolist() == [[0, 1], [1, 0]]
    assert dropped.rows.tolist() == [0, 3]
    assert (dropped.n_missing, dropped.filled) == (2, None)
    with pytest.raises(DataError, match=r"got (one|NaN) in column ('a'|0) \(row 1; 2 missing"):
        as_table(X)
    # The policies hold for a threshold too.
    assert as_table(X, missing="drop", binarize=0.5).codes.tolist() == dropped.codes.tolist()
    assert as_table(X, missing="zero", binarize=-1).codes.tolist() == [[1, 1], [0, 1], [1, 0], [1, 1]]


ANSWERS = ["No", None, "Yes", "No"]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(ANSWERS),
        pd.Series(ANSWERS, dtype=object),
        pd.Series(ANSWERS, dtype="string"),
        pd.Series(ANSWERS, dtype="category"),
        pd.Series(ANSWERS, dtype=pd.ArrowDtype(pa.string())),
        pd.Series(ANSWERS, dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
        pl.Series(ANSWERS),
        pl.Series(ANSWERS, dtype=pl.Categorical),
        pl.Series(ANSWERS, dtype=pl.Enum(["No", "Yes"])),
        pa.array(ANSWERS),
        pa.array(ANSWERS).dictionary_encode(),
        pa.chunked_array([pa.array(ANSWERS[:2]).dictionary_encode(), pa.array(ANSWERS[2:]).dictionary_encode()]),
    ],
    ids=lambda column: f"{type(column).__module__} {getattr(column, 'dtype', None) or column.type}",
)
def test_missing_answers(column):
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[type(column).__module__.split(".")[0]]
    table = as_table(make({"a": column, "b": [0, 1, 1, 0]}), encode="auto", missing="zero")
    assert table.codes.tolist() == [[0, 0], [0, 1], [1, 1], [0, 0]]
    assert np.argwhere(table.filled).tolist() == [[1, 0]]
    assert table.encoding == {"a": ("No", "Yes")}


def test_missing_cells_of_a_reversed_column_are_read_as_0():
    X = pd.DataFrame({"a": [1, 0, None, 1], "b": [0, 1, 1, 0]})
    table = as_table(X, kinds={"a": "ordinal"}, reverse=["a"], missing="zero")
    assert table.variables.categories[0] == (1, 0)
    assert [table.variables.categories[0][code] for code in table.codes[:, 0]] == [1, 0, 0, 1]


@pytest.mark.parametrize("kind", [pa.int8(), pa.float32(), pa.bool_(), pa.decimal128(4, 1)])
def test_missing_numbers_of_pyarrow(kind):
    column = pa.array([1, None, 0, 1], type=pa.int8()).cast(kind)
    for cells in (column, *([] if pa.types.is_decimal(kind) else [column.dictionary_encode()])):
        table = as_table(pa.table({"a": cells, "b": [0, 1, 1, 0]}), missing="drop")
        assert table.codes.tolist() == [[1, 0], [0, 1], [1, 0]]


def test_a_view_is_never_filled():
    X = np.ma.array(np.ones((2, 2), dtype=np.uint8), mask=[[0, 1], [0, 0]])
    assert as_table(X, missing="zero").codes.tolist() == [[1, 0], [1, 1]]
    assert X.data.tolist() == [[1, 1], [1, 1]]


def test_dropping_every_row_is_an_error():
    with pytest.raises(DataError, match='at least one row without missing cells for missing="drop"; got none'):
        as_table([[None, 1], [1, None]], missing="drop")


SPINS = {-1: 0, 1: 1}


def test_spins():
    assert as_table([[-1, 1], [1, 1]], encode=SPINS).codes.tolist() == [[0, 1], [1, 1]]
    assert as_table(pd.DataFrame({"a": [-1.0, 1.0]}), encode=SPINS).codes.tolist() == [[0], [1]]
    assert as_table(pd.DataFrame({"a": ["x", "y"], "b": [-1, 1]})[["b"]], encode=SPINS).codes.tolist() == [[0], [1]]
    assert as_table(sparse.csr_array([[-1, 1]]), encode=SPINS).codes.tolist() == [[0, 1]]
    for X in ([[0, 1]], sparse.csr_array([[0, 1]])):
        with pytest.raises(DataError, match="encode must say what every value means; got 0 in column 0"):
            as_table(np.vstack([X.toarray() if sparse.issparse(X) else X, [[-1, 1]]]), encode=SPINS)


@given(arrays(np.float64, (4, 3), elements=st.floats(-3, 3)), st.floats(-2, 2))
def test_threshold_is_strictly_greater_in_every_container(X, cut):
    expected = [[int(x > cut) for x in row] for row in X.tolist()]
    for table in (X, X.tolist(), X.astype(object), pd.DataFrame(X), pl.DataFrame(X), sparse.csr_array(X)):
        assert as_table(table, binarize=cut).codes.tolist() == expected


def test_threshold_is_not_rounded_to_the_precision_of_the_table():
    X = np.array([[0.1]], dtype=np.float32)  # means 0.1, though it is a little more
    assert (
        as_table(X, binarize=0.1).codes.tolist()
        == as_table(X.tolist(), binarize=float(X[0, 0])).codes.tolist()
        == [[0]]
    )
    assert as_table(X, binarize=np.nextafter(0.1, 0)).codes.tolist() == [[1]]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[np.inf, 0.0]], "finite numbers for binarize=0; got inf in column 0"),
        ([[0.0, np.nan]], "no missing cells; got NaN in column 1"),
        ([["a", 0.0]], "finite numbers for binarize=0; got 'a' in column 0"),
        (sparse.csr_array([[0.0, np.inf]]), "got inf in column 1"),
    ],
)
def test_bad_tables_for_a_threshold(X, message):
    with pytest.raises(DataError, match=message):
        as_table(X, binarize=0.0)


def test_names():
    frame = pd.DataFrame([[0, 1], [1, 0]], columns=["b", "a"], index=["x", "y"])
    table = as_table(frame)
    assert (table.names, table.row_names) == (("b", "a"), ("x", "y"))
    assert as_table(frame, names=["c", "d"]).names == ("c", "d")
    assert as_table(frame, names=["c", "d"], missing="drop").row_names == ("x", "y")
    assert not as_table(pd.DataFrame([[0, 1]])).variables.named  # the numbers that pandas gives by default
    assert as_table(pd.DataFrame([[0, 1]], columns=[5, 6])).names == ("5", "6")
    assert as_table(pd.DataFrame([[0]], columns=pd.MultiIndex.from_tuples([("a", 1)]))).names == ("('a', 1)",)
    assert as_table(table, names=["c", "d"]).names == ("c", "d")
    assert as_table(pd.DataFrame({"a": [1, None]}, index=["x", "y"]), missing="drop").row_names == ("x",)


def test_a_coding_reads_another_table_in_the_same_way():
    frame = pd.DataFrame({"a": ["Agree", "Disagree"], "b": [1, 2], "c": [0, 1]})
    first = as_table(frame, encode="auto")
    assert first.encoding == {"a": ("Disagree", "Agree"), "b": (1, 2)}
    # By name, in whatever order, whatever else there is; by place where there are no names.
    other = pd.DataFrame({"z": ["?"], "c": [1], "b": [2], "a": ["Agree"]})
    again = as_table(other, encode=first.coding)
    assert (again.names, again.codes.tolist()) == (("a", "b", "c"), [[1, 1, 1]])
    assert as_table([["Disagree", 1, 0]], encode=first.coding).codes.tolist() == [[0, 0, 0]]
    with pytest.raises(DataError, match="'Perhaps' in column 'a'"):
        as_table(other.replace({"Agree": "Perhaps"}), encode=first.coding)
    with pytest.raises(DataError, match="'b' cannot be found"):
        as_table(other[["a", "c"]], encode=first.coding)
    with pytest.raises(DataError, match="the 3 columns of the fitted table or network; got 2"):
        as_table([[0, 1]], encode=first.coding)


def test_several_values_with_one_meaning():
    frame = pd.DataFrame({"a": ["Agree", "Disagree"]})
    table = as_table(frame, encode={"Agree": 1, "Strongly agree": 1, "Disagree": 0, "?": None})
    assert table.encoding == {"a": ("Disagree", ("Agree", "Strongly agree"))}
    assert as_table([["Strongly agree"]], names=["a"], encode=table.encoding).codes.tolist() == [[1]]
    gone = as_table([["?"]], names=["a"], encode=replace(table.coding, missing="zero"), missing="zero")
    assert gone.n_missing == 1


def test_thresholds_of_single_columns():
    frame = pd.DataFrame({"age": [20, 70], "score": [1.5, 0.5], "votes": [0, 1]})
    table = as_table(frame, binarize={"age": 50, "score": 1.0})
    assert table.codes.tolist() == [[0, 1, 0], [1, 0, 1]]
    assert as_table(frame[::-1], encode=table.coding).codes.tolist() == [[1, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"missing": "ignore"}, 'missing must be "error", "impute", "zero" or "drop"; got \'ignore\''),
        ({"binarize": "0.5"}, "binarize must be None or a finite number; got '0.5'"),
        ({"binarize": np.nan}, "binarize must be None or a finite number; got nan"),
        ({"binarize": True}, "binarize must be None or a finite number; got True"),
        ({"binarize": 0, "encode": {0: 1, 1: 0}}, "must not be combined"),
        ({"binarize": {7: 0.5}}, "binarize must name a column of the table, which has 2; got number 7"),
        ({"binarize": 0, "encode": "auto"}, "must not be combined"),
        ({"encode": "yes"}, "encode must be None, \"auto\", a mapping .*; got 'yes'"),
        ({"encode": {}}, "got {}"),
        ({"encode": {1: 2}}, "encode must map 1 to 0, 1 or missing .*; got 2"),
        ({"encode": {"z": {"a": 1}}}, "encode must name a column of the table; got 'z'"),
        ({"kinds": {"z": "ordinal"}}, "^kinds must name a column of the table; got 'z'"),
        ({"kinds": {7: "nominal"}}, "^kinds must name a column of the table, which has 2; got number 7"),
        ({"encode": {0: (1, 2, 3)}}, "encode must map 3 to 0, 1 or missing .*; got 2"),
        ({"names": "ab"}, "names must be a list of strings, .*; got 'ab'"),
        ({"names": ["a"]}, r"one entry per variable \(2\); got 1"),
        ({"names": ["a", "a"]}, "names must be different from each other"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(DataError, match=message):
        as_table([[0, 1]], **options)


def test_arrays_do_not_load_narwhals():
    code = (
        "import sys; from isinglass.data import as_table; from scipy.sparse import csr_array\n"
        "as_table([[0, 1]]); as_table(csr_array([[0, 1]])); sys.exit('narwhals' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("missing", ["error", "drop"])
def test_bytes_that_are_bits_are_read_as_every_other_table_is(missing):
    X = np.array([[0, 1, 0], [1, 1, 0]], dtype=np.uint8)
    short, long = (as_table(table, missing=missing) for table in (X, X.astype(np.int64)))
    assert np.shares_memory(short.codes, X)
    np.testing.assert_array_equal(short.codes, long.codes)
    assert short.coding == long.coding
    for name in ("names", "row_names", "sample_weight", "rows", "n_missing", "filled", "n_dropped", "holes"):
        assert getattr(short, name) == getattr(long, name), name
    for bad in (X + 1, X[:0], X[0]):
        with pytest.raises(DataError):
            as_table(bad)


def test_one_column_to_reverse_may_be_given_as_a_text():
    frame = pd.DataFrame({"ab": [0, 1, 2, 2], "a": [2, 1, 0, 1], "b": [0, 0, 1, 2]})
    found = as_table(frame, kinds="ordinal", reverse="ab")
    assert found.codes.T.tolist() == [[2, 1, 0, 0], [2, 1, 0, 1], [0, 0, 1, 2]]


@pytest.mark.parametrize("cell", ["0", ""], ids=["complete", "a hole"])
def test_rows_without_a_label_are_counted_apart_from_missing_cells(cell):
    lines = [f"{k % 2},{k // 2 % 2},{k // 4 % 2},{'' if k < 20 else 'mw'[k % 2]}" for k in range(60)]
    lines[40] = f"0,1,{cell},m"
    with pytest.warns(DataWarning, match="left out") as caught:
        table = read_table(io.StringIO("\n".join(["a,b,c,g", *lines])), labels=["g"], missing="drop")
    n_cells = int(cell == "")
    assert len(table) == 40 - n_cells
    assert (table.n_missing, table.n_unlabeled, table.n_dropped) == (n_cells, 20, 60 - len(table))
    cells = "1 missing cell (0.6%) and " if n_cells else ""
    assert f"of 60 rows ({(20 + n_cells) / 60:.0%}) for {cells}20 missing group labels. The" in str(caught[0].message)
    fit = Method().fit(table)
    assert (fit.missing.n_cells, fit.missing.n_unlabeled, fit.missing.n_left_out) == (n_cells, 20, 20 + n_cells)
    assert f"Rows with {cells}20 missing group labels were left out ({20 + n_cells} of 60)." in fit.methods_text()
    with pytest.raises(DataError, match="must have an entry in at least one row"):
        read_table(io.StringIO("a,b,g\n0,1,\n1,0,\n"), labels=["g"], missing="drop")


def test_encode_speaks_of_columns_or_of_values_and_not_of_both():
    frame = pd.DataFrame({"a": [1, 2] * 20, "b": [1, 0] * 20})
    for encode in ({"a": (1, 2), "b": 1}, {"a": {1: 0, 2: 1}, 1: 1, 0: 0}):
        with pytest.raises(ArgumentError, match=r"encode must be .* a mapping such as .*, or one of these per column"):
            as_table(frame, encode=encode)
    assert as_table(frame, encode={"a": (1, 2), None: "auto"}).codes.tolist() == [[0, 1], [1, 0]] * 20


@pytest.mark.parametrize("labels", [["a ", "a"], [1, "1"]])
def test_names_that_look_alike_are_refused(labels):
    with pytest.raises(DataError, match=r"got '[a1]' twice\. Rename a column\. Blanks around a name do not count"):
        as_table(pd.DataFrame([[0, 1], [1, 0]], columns=labels))
