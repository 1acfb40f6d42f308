"""read_table as users call it."""

import io
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from isinglass import Table, as_table, read_table
from isinglass.errors import DataError


def read(text, **options):
    return read_table(io.BytesIO(text.encode()), **options)


def test_identifiers_of_sixteen_digits_stay_apart():
    ids = [2**53 + k for k in range(3)]
    table = read("a,b\n" + "".join(f"{number},{k % 2}\n" for k, number in enumerate(ids * 2)), kinds="nominal")
    assert table.variables.categories[0] == tuple(ids)


tables = arrays(np.uint8, st.tuples(st.integers(1, 6), st.integers(2, 6)), elements=st.integers(0, 1))


@given(tables, st.sampled_from([",", ";", "\t", "|", " "]), st.booleans())
def test_what_pandas_and_numpy_write_comes_back(bits, delimiter, index):
    names = [f"q{j}" for j in range(bits.shape[1])]
    frame = pd.DataFrame(bits, columns=names, index=[f"r{i}" for i in range(len(bits))])
    table = read(frame.to_csv(sep=delimiter, index=index))
    assert table.codes.tobytes() == bits.tobytes()
    assert table.names == tuple(names)
    assert table.row_names == (tuple(frame.index) if index else None)
    file = io.BytesIO()
    np.savetxt(file, bits, delimiter=delimiter)  # 1.000000000000000000e+00
    assert read_table(io.BytesIO(file.getvalue()), id_column=None).codes.tobytes() == bits.tobytes()
    assert read(pl.DataFrame(bits, schema=names).write_csv(separator=delimiter)).codes.tobytes() == bits.tobytes()


@given(tables)
def test_options_of_the_whole_table(bits):
    spins = 2 * bits.astype(int) - 1
    lines = {
        "bits": bits,
        "spins": spins,
        "words": np.where(bits, "Yes", "No"),
        "codes": bits + 1,
        "truth": np.where(bits, "TRUE", "FALSE"),
    }
    text = {
        kind: "\n".join([",".join(f"q{j}" for j in range(bits.shape[1])), *[",".join(map(str, row)) for row in cells]])
        for kind, cells in lines.items()
    }
    plain = {"id_column": None}
    assert read(text["spins"], encode={-1: 0, 1: 1}, **plain).codes.tobytes() == bits.tobytes()
    assert read(text["spins"], binarize=0, **plain).codes.tobytes() == bits.tobytes()
    assert read(text["words"], encode={"Yes": 1, "No": 0}, **plain).codes.tobytes() == bits.tobytes()
    assert read(text["codes"], encode={"1": 0, "2": 1}, **plain).codes.tobytes() == bits.tobytes()
    assert read(text["truth"], **plain).codes.tobytes() == bits.tobytes()


def test_order_of_columns_weights_and_missing_rows():
    text = "id,w,a,b,c\nx,2,1,0,1\ny,1,0,NA,1\nz,0.5,0,1,0\n"
    table = read(text, weights="w", columns=["c", "b"], missing="drop")
    assert (table.names, table.row_names) == (("c", "b"), ("x", "z"))
    assert table.sample_weight.tolist() == [2, 0.5]
    assert table.rows.tolist() == [0, 2]
    assert read(text, drop=["b", "w"]).names == ("a", "c")
    assert read(text, drop=[0, 2]).names == ("a", "c")
    assert read(text, weights=0, drop=["b"]).sample_weight.tolist() == [2, 1, 0.5]


@pytest.mark.parametrize(
    ("options", "names", "weight"),
    [
        ({"weights": "weight"}, ("a", "b"), [1, 2, 3]),
        ({"drop": ["weight"]}, ("a", "b"), None),
        ({"columns": ["b", "weight"], "encode": {"weight": {1: 0, 2: 1, 3: 1}}}, ("b", "weight"), None),
        ({"encode": {"weight": {1: 0, 2: 1, 3: 1}}}, ("weight", "a", "b"), None),
        ({"kinds": {"weight": "ordinal"}}, ("weight", "a", "b"), None),
        ({"kinds": {"w*": "ordinal"}, "reverse": ["weight"]}, ("weight", "a", "b"), None),
        ({"scores": {"weight": [0, 1, 4]}}, ("weight", "a", "b"), None),
        ({"binarize": {"weight": 2}}, ("weight", "a", "b"), None),
        ({"covariates": "weight"}, ("weight", "a", "b"), None),
    ],
)
def test_a_column_that_is_called_by_its_name_does_not_name_the_rows(options, names, weight):
    table = read("weight,a,b\n1,0,1\n2,1,1\n3,1,0\n", **options)
    assert (table.names, table.row_names) == (names, None)
    assert (None if table.sample_weight is None else table.sample_weight.tolist()) == weight


def test_a_pattern_for_all_columns_does_not_make_row_names_a_variable():
    table = read("id,a,b\n1,1,3\n2,3,1\n3,2,2\n", kinds={"*": "ordinal"})
    assert (table.names, table.row_names) == (("a", "b"), ("1", "2", "3"))


def test_row_names_keep_their_spelling():
    assert read("id,a\n007,1\n1.0,0\n").row_names == ("007", "1.0")


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            "a,b\n0,1\n0,2\n",
            {},
            r"the stream: X must hold only 0 and 1; got 2 in column 'b' \(first in row 2, line 3\)",
        ),
        ("0,1\n0,1\n0,x\n", {}, r"got 'x' in column 2 of the file \(first in row 3, line 3\)"),
        ("a,b\n0,1\n0,NA\n", {}, r"got one in column 'b' \(row 2, line 3; 1 missing"),
        ("a,b\n0,1\n1,9\n", {}, r"Say what its values mean .*encode="),
        ("a,a\n0,1\n", {}, r"got 'a' twice\. Rename a column, or use drop=\[1\]"),
        ("id,a,b,a\nx,0,1,1\n", {}, "got 'a' twice"),
        ("a,b\n0,1\n", {"delimiter": "ab"}, "delimiter must be one character or one of"),
        ("a,b\n0,1\n", {"delimiter": '"'}, "delimiter must be one character"),
        ("a,b\n0,1\n", {"delimiter": "é"}, "delimiter must be one character"),
        ("a,b\n0,1\n", {"format": "xls"}, "format must be one of"),
        ("a,b\n0,1\n", {"header": 1}, 'header must be True, False or "auto"; got 1'),
        ("a,b\n0,1\n", {"columns": "ab"}, "columns must name a column of the table; got 'ab'"),
        ("a,b\n0,1\n", {"columns": []}, "must leave at least one column"),
        ("a,b\n0,1\n", {"columns": ["b", 1]}, "columns must not name a column twice; got 1 again"),
        ("a,c\n0,1\n", {"columns": ["c", "c"]}, "columns must not name a column twice; got 'c' again"),
        ("a,b\n0,1\n", {"id_column": "c"}, "id_column must name a column of the table; got 'c'"),
        (
            "a,w\n0,x\n",
            {"weights": "w"},
            r"weights must be finite and not negative; got 'x' in column 'w' \(row 1, line",
        ),
        ("a,w\n0,\n", {"weights": "w"}, "got a missing cell in column 'w'"),
        ("a,w\n0,-1\n", {"weights": "w"}, "got -1 in column 'w'"),
        ("a,w\n0,-1\n", {"weights": 1}, "got -1 in column 'w'"),
        ("a,w\n0,1e999\n", {"weights": "w"}, "got inf in column 'w'"),
        ("a,w\n0,0\n", {"weights": "w"}, "row weights must have a positive sum"),
        ("a,b\n0,1\n", {"missing": "no"}, 'missing must be "error"'),
        ("a,b\n", {}, "the file has a header and no rows"),
        ("", {}, "the file is empty"),
    ],
)
def test_messages(text, options, message):
    with pytest.raises(DataError, match=message):
        read(text, **options)


def test_unusual_columns():
    assert read("a\n0\n1\n").codes.tolist() == [[0], [1]]  # one column
    assert read("a,b\n1,0\n1,1\n").codes[:, 0].tolist() == [1, 1]  # a constant one
    names = read('"a ""x""",<b>,🦜,"c,d"\n0,1,1,0\n1,1,0,0\n').names
    assert names == ('a "x"', "<b>", "🦜", "c,d")
    assert read("a,,c\n0,1,1\n1,0,0\n").names == ("a", "column 2", "c")  # a name for the nameless
    assert read(",".join(["x" * 10_000, "b"]) + "\n0,1\n").names == ("x" * 10_000, "b")
    assert read("a,b\n0,1\n", delimiter="comma").names == ("a", "b")


def test_the_result_can_be_used():
    table = read("a,b\n0,1\n1,1\n")
    assert isinstance(table, Table)
    assert table.codes.flags.c_contiguous


@pytest.mark.parametrize(("data", "package"), [(b"$FL2xxxx", "pyreadstat"), (b"\xd0\xcf\x11\xe0", "python-calamine")])
def test_what_extras_are_missing(monkeypatch, data, package):
    monkeypatch.setitem(sys.modules, package.replace("-", "_"), None)
    with pytest.raises(ImportError, match=rf'needs {package}: pip install "isinglass\[io\]"'):
        read_table(io.BytesIO(data))


def test_standard_input_and_no_needless_imports():
    code = (
        "import sys; from isinglass import read_table\n"
        "assert read_table('-').codes.tolist() == [[0, 1], [1, 1]]\n"
        "loaded = {name.split('.')[0] for name in sys.modules}\n"
        "sys.exit(bool(loaded & {'pandas', 'polars', 'pyreadstat', 'narwhals', 'sklearn'}))"
    )
    result = subprocess.run([sys.executable, "-c", code], input=b"a,b\n0,1\n1,1\n", check=False)
    assert result.returncode == 0


def test_missing_values_of_one_column(tmp_path):
    path = tmp_path / "survey.csv"
    path.write_text("a,b,c\n1,0,1\n9,1,9\n0,9,0\n")
    with pytest.raises(DataError, match="column 'b'"):
        read_table(path, missing="impute", na_values={"a": ["9"], "c": [9]})
    table = read_table(path, missing="impute", na_values={"a": ["9"], "c": [9], "b": ["9"]})
    assert np.argwhere(table.holes).tolist() == [[1, 0], [1, 2], [2, 1]]
    every = read_table(path, missing="impute", na_values={None: ["9"]})
    np.testing.assert_array_equal(every.holes, table.holes)
    for one in ({"a": 9, "b": "9", "c": (9,)}, {None: 9}):  # one value by itself
        np.testing.assert_array_equal(read_table(path, missing="impute", na_values=one).holes, table.holes)
    with pytest.raises(DataError, match="na_values"):
        read_table(path, na_values={"nobody": ["9"]})


def test_one_missing_word_of_one_column_is_a_word():
    frame = pd.DataFrame({"a": ["N", "NAV", "A", "N"], "b": [0, 1, 1, 0]})
    table = as_table(frame, encode={"a": {"N": 0, "A": 1}}, na_values={"a": "NAV"}, missing="impute")
    assert np.argwhere(table.holes).tolist() == [[1, 0]]
    assert table.codes[[0, 2, 3], 0].tolist() == [0, 1, 0]


def test_a_weight_that_stands_for_a_missing_cell_is_refused(tmp_path):
    path = tmp_path / "survey.npy"
    np.save(path, np.array([[0, 1, 2], [1, 1, 99]]))
    assert read_table(path, weights=2).sample_weight.tolist() == [2.0, 99.0]
    for gone in ([99], {2: [99]}):
        with pytest.raises(DataError, match=r"weights must be .*got a missing cell in column 2 \(row 2\)"):
            read_table(path, weights=2, na_values=gone)


def test_numbers_of_columns_count_all_of_the_file(tmp_path):
    """Weights and labels are taken out, and still count: a number means the same column in every argument."""
    file = tmp_path / "table.csv"
    file.write_text("w,a,g,b,c\n" + "2,0,x,1,3\n1,1,y,0,1\n1,1,x,1,2\n")
    known = {"weights": 0, "labels": [2], "kinds": {4: "ordinal"}}
    assert read_table(file, **known).names == ("a", "b", "c")
    assert read_table(file, **known, drop=[1]).names == ("b", "c")
    assert read_table(file, **known, columns=[4, 3]).names == ("c", "b")


def test_columns_and_drop_take_ranges_and_patterns():
    text = "A1,A2,B1,A3,sex\n0,1,1,0,1\n1,1,0,0,0\n"
    kept = read_table(io.StringIO(text), columns=["sex", "A1:B1"])
    assert kept.names == ("sex", "A1", "A2", "B1")
    assert kept.codes.tolist() == [[1, 0, 1, 1], [0, 1, 1, 0]]
    assert read_table(io.StringIO(text), drop=["A*"]).names == ("B1", "sex")
    with pytest.raises(DataError, match="columns must not name a column twice; got 'A2' again"):
        read_table(io.StringIO(text), columns=["A1:B1", "A2"])
    with pytest.raises(DataError, match="drop must name a range from left to right; got 'B1:A1'"):
        read_table(io.StringIO(text), drop=["B1:A1"])


@pytest.mark.parametrize("by_name", [True, False])
def test_one_column_may_be_given_as_a_word_or_a_number(by_name):
    text = "who,a,b,c\nAnn,1,3,9\nBob,2,1,1\nAnn,3,2,0\n"
    who, b, c = ("who", "b", "c") if by_name else (0, 2, 3)
    table = read_table(io.StringIO(text), id_column=None, labels=who, kinds="ordinal", reverse=b, drop=c, covariates=b)
    assert table.labels == {str(who): ("Ann", "Bob", "Ann")}
    assert table.variables.categories == ((1, 2, 3), (3, 2, 1))
    assert table.variables.covariates == ("b",)
    table = read_table(io.StringIO(text), columns=c, na_values="9" if by_name else 9, missing="drop")
    assert (table.names, table.n_missing) == (("c",), 1)
    assert read_table(
        io.StringIO(text), id_column=None, drop=iter([who, "a", b]), na_values=9, missing="zero"
    ).shape == (3, 1)


@pytest.mark.parametrize("guess", [False, True])
def test_encode_may_name_only_columns_that_are_left_out(guess):
    file = io.StringIO("a,b,c\nNo,0,1\nYes,1,1\nNo,1,0\n")
    table = read_table(file, encode={"a": ("No", "Yes")}, drop=["a"], guess=guess)
    assert table.codes.tolist() == [[0, 1], [1, 1], [1, 0]]


def test_a_blank_word_has_a_meaning_only_in_the_column_that_encode_names():
    text = "smoke,mood,bit\nNA,good,0\nyes,bad,NA\nNA,NA,1\nyes,good,0\nyes,bad,1\n"
    encode = {"smoke": {"NA": 0, "yes": 1}}
    table = read_table(io.StringIO(text), encode=encode, kinds={"mood": "nominal"}, missing="impute")
    assert table.codes[:, 0].tolist() == [0, 1, 0, 1, 1]
    assert np.argwhere(table.holes).tolist() == [[1, 2], [2, 1]]
    assert table.variables.categories[1] == ("bad", "good")
    again = read_table(io.StringIO(text), encode=table.coding, missing="impute")
    assert np.array_equal(again.codes, table.codes)
    assert np.array_equal(again.holes, table.holes)


@pytest.mark.parametrize("drop", [None, ["c"]])
def test_options_name_columns_as_the_file_does_beside_new_names(drop):
    text = "a,b,c\n0,1,0\n1,2,0\n0,3,1\n1,2,1\n"
    names = ["x", "y", "z"][: 3 if drop is None else 2]
    table = read_table(io.StringIO(text), names=names, kinds={"b": "ordinal"}, drop=drop)
    assert (table.names, table.variables.kinds[1]) == (tuple(names), "ordinal")


@pytest.mark.parametrize("spelling", ["9,9", "9.9", 9.9])
def test_numbers_of_a_missing_cell_are_spelled_as_in_the_file(spelling):
    text = "a;b;c\n0;1,5;0\n1;2,5;0\n0;9,9;1\n1;2,5;1\n0;3,5;1\n"
    table = read_table(io.StringIO(text), na_values=[spelling], kinds={"b": "ordinal"}, missing="impute")
    assert table.variables.categories[1] == (1.5, 2.5, 3.5)
    assert np.argwhere(table.holes).tolist() == [[2, 1]]
    again = read_table(io.StringIO(text), encode=table.coding, missing="impute")
    assert np.array_equal(again.holes, table.holes)


def test_a_truth_value_can_stand_for_a_missing_cell():
    text = "a,b\n0,TRUE\n1,x\n1,y\n0,x\n"
    table = read_table(io.StringIO(text), na_values=["TRUE"], kinds={"b": "nominal"}, missing="impute")
    assert table.codes[:, 0].tolist() == [0, 1, 1, 0]
    assert np.argwhere(table.holes).tolist() == [[0, 1]]
    again = read_table(io.StringIO(text), encode=table.coding, missing="impute")
    assert np.array_equal(again.holes, table.holes)


@pytest.mark.parametrize("number", [0, 1, "0", "1"])
def test_a_number_that_is_missing_is_no_truth_value(number):
    text = "a,b\nTRUE,5\nFALSE,1\nTRUE,0\nFALSE,1\nTRUE,7"
    table = read_table(io.StringIO(text), na_values=[number], kinds={"b": "nominal"}, missing="impute")
    assert np.argwhere(table.holes).tolist() == ([[2, 1]] if int(number) == 0 else [[1, 1], [3, 1]])
    frame = pd.DataFrame({"a": [True, False, True], "b": [number, 5, 6]})
    for cells in (frame, frame.astype({"a": object}), frame.to_numpy()):
        holes = as_table(cells, na_values=[number], missing="impute", kinds="nominal").holes
        assert np.argwhere(holes).tolist() == [[0, 1]]


@pytest.mark.parametrize("truth", [True, "TRUE", "true", np.True_])
def test_a_truth_value_that_is_missing_is_no_number(truth):
    frame = pd.DataFrame({"a": [True, False, False], "b": [1, 5, 6]})
    for cells in (frame, frame.astype({"a": object}), frame.to_numpy()):
        holes = as_table(cells, na_values=[truth], missing="impute", kinds="nominal").holes
        assert np.argwhere(holes).tolist() == [[0, 0]]


@pytest.mark.parametrize("kind", ["nominal", "ordinal"])
def test_numbers_are_one_however_they_are_spelled_and_texts_are_not(kind):
    numbers, texts = ["01", "1", "02", "2.0"] * 5, ["01", "1", "02", "171a"] * 5
    for read in (
        lambda cells: read_table(io.StringIO("\n".join(["a", *cells])), kinds=kind),
        lambda cells: as_table(pd.DataFrame({"a": cells}), kinds=kind),
    ):
        assert read(numbers).variables.categories == ((1, 2),)
        if kind == "nominal":
            assert read(texts).variables.categories == (("01", "02", "1", "171a"),)
