"""Completed tables: observed cells are the user's own, whatever they stand for."""

import csv
import io
import json
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from commands import run

from isinglass import Fixed, IsingLasso, Method, as_table, load, save
from isinglass.errors import DataError

RNG = np.random.default_rng(0)
AGE = RNG.integers(18, 95, 200)
FRAME = pd.DataFrame(
    {
        "merged": RNG.integers(1, 5, 200),
        "spelled": np.array(["Yes", "yes", "No"])[RNG.integers(0, 3, 200)],
        "age": AGE,
        "size": RNG.normal(size=200).round(4) + AGE / 40,
        "old": RNG.integers(10, 70, 200),
        "flag": RNG.integers(0, 2, 200).astype(bool),
        "who": [f"person {k}" for k in range(200)],
    }
)
COLUMNS = list(FRAME.columns[:-1])
READING = {
    "kinds": {"merged": "ordinal", "age": "continuous", "size": "continuous"},
    "encode": {"merged": {1: 1, 2: 1, 3: 2, 4: 3}, "spelled": {"Yes": 1, "yes": 1, "No": 0}},
    "binarize": {"old": 30},
}
HOLED = FRAME.astype({"merged": "Int64", "age": "Int64", "flag": "boolean"})
for place, column in enumerate(["merged", "spelled", "age", "size", "flag"]):
    HOLED.loc[5 * place : 5 * place + 8, column] = None
GONE = HOLED.isna().to_numpy()


@pytest.fixture(scope="module")
def net():
    return IsingLasso(0.02, missing="impute", **READING).fit(FRAME[COLUMNS])


def test_a_complete_frame_comes_back_as_it_is(net):
    for filled in (net.transform(FRAME[COLUMNS]), net.impute(FRAME[COLUMNS])):
        pd.testing.assert_frame_equal(filled, FRAME[COLUMNS])
    pd.testing.assert_frame_equal(net.fit_.impute(FRAME), FRAME)


@pytest.mark.parametrize("options", [{}, {"method": "gibbs", "random_state": 0}])
def test_only_missing_cells_of_frames_are_filled(net, options):
    for frame in (HOLED, pl.DataFrame(HOLED.astype(object).where(~GONE, None).to_dict("list"))):
        filled = net.fit_.impute(frame, **options)
        assert type(filled) is type(frame)
        rows, before = (np.array(each.to_numpy(), dtype=object) for each in (filled, frame))
        assert (rows[~GONE] == before[~GONE]).all()
        assert all(value == value and value is not None for value in rows[GONE])
        assert all(float(value).is_integer() for value in rows[:, 2])  # ages are whole
        kinds = [filled[name].dtype for name in COLUMNS]
        assert kinds == [frame[name].dtype for name in COLUMNS]


def test_only_missing_cells_of_arrays_are_filled(net):
    cells = HOLED[COLUMNS].astype(object).where(~GONE[:, :-1], None).to_numpy()
    filled = net.fit_.impute(cells)
    assert (filled[~GONE[:, :-1]] == cells[~GONE[:, :-1]]).all()
    ages = FRAME[["age", "size"]].to_numpy()
    assert (IsingLasso(0.1, kinds="continuous").fit(ages).impute(ages) == ages).all()


@pytest.mark.parametrize("decimals", [1, 2, 12])
def test_filled_numbers_have_the_decimals_of_their_column(decimals):
    numbers = np.random.default_rng(2).normal(170, 10, size=(200, 3)).round(decimals)
    frame = pd.DataFrame(numbers, columns=list("abc"))
    frame.loc[:9, "a"] = np.nan
    filled = IsingLasso(0.1, kinds="continuous", missing="impute").fit(frame).impute(frame)["a"][:10]
    assert ((filled.round(decimals) == filled).all(), (filled.round(2) == filled).any()) == (decimals < 3, decimals < 3)


def test_filled_numbers_do_not_depend_on_the_other_rows_that_are_filled():
    rng = np.random.default_rng(0)
    shares = rng.beta(0.5, 0.5, 500)
    frame = pd.DataFrame({"a": shares.round(3), "b": (shares + rng.normal(0, 0.1, 500)).round(3)})
    fit = IsingLasso(0.01, kinds="continuous").fit(frame).fit_
    holed = pd.DataFrame({"a": [0.0, np.nan, 0.123], "b": [0.31, 0.42, 0.2]})  # whole, missing, three decimals
    together, alone = fit.impute(holed)["a"][1], fit.impute(holed[1:2])["a"].item()
    assert together == alone == fit.impute(holed[:2])["a"][1] == round(fit.predict(holed)[1, 0], 3)
    assert 0.1 < alone < 0.9


def test_columns_split_at_a_threshold_cannot_be_filled(net):
    holed = FRAME[COLUMNS].assign(old=FRAME["old"].mask(FRAME.index < 3))
    with pytest.raises(
        DataError, match="no missing cells in column 'old', whose numbers the fit only compares with 30"
    ):
        net.impute(holed)
    table = as_table(holed, encode=net.fit_.coding, missing="impute")
    assert set(net.impute(table)[:, 4]) == {0, 1}  # a table knows the side alone


def test_a_table_without_its_numbers_is_refused(net):
    with pytest.raises(DataError, match=r"must have its numbers; a Table has the steps of .* column 'age' alone"):
        net.impute(as_table(FRAME[COLUMNS], encode=net.fit_.coding, missing="error"))
    filled = net.impute(as_table(FRAME[COLUMNS], encode=net.fit_.coding, missing="impute"))
    assert (filled[:, 2] == FRAME["age"]).all()
    assert set(filled[:, 0]) == {1, 3, 4}  # of merged values the first


def test_files_keep_their_cells(net, tmp_path):
    save(net, tmp_path / "net.npz")
    assert load(tmp_path / "net.npz").coding.columns[2].decimals == 0
    HOLED[COLUMNS].to_csv(tmp_path / "t.csv", index=False)
    before = list(csv.reader(io.StringIO((tmp_path / "t.csv").read_text())))
    answer = run("predict", tmp_path / "net.npz", tmp_path / "t.csv", "--impute").stdout
    header, *rows = csv.reader(io.StringIO(answer))
    assert header == COLUMNS
    found, given = np.array(rows), np.array(before[1:])
    assert (found == given)[~GONE[:, :-1]].all()
    assert all(cell.isdecimal() for cell in found[:, [0, 2, 4]].ravel())


SPELLINGS = {
    "leading zeros": (["01", "02", "03"], "nominal"),
    "decimals": (["1.0", "2.0", "3.0"], "ordinal"),
    "digits": (["1.50", "2.50", "3.00"], "ordinal"),
    "blanks": (["1", " 2", "3 "], "nominal"),
    "capitals": (["TRUE", "FALSE"], "nominal"),
    "small letters": (["true", "false"], "binary"),
    "truth values": ([True, False], "binary"),
    "decimal commas": (["1,5", "2,5", "3"], "nominal"),
    "words": (["yes", "no", " maybe"], "nominal"),
    "whole numbers": ([1, 2, 3], "ordinal"),
    "fractions": ([1.0, 2.5, 3.0], "ordinal"),
}


@pytest.mark.parametrize(("cells", "kind"), SPELLINGS.values(), ids=SPELLINGS)
def test_filled_cells_are_spelled_as_the_column_spells_them(cells, kind):
    observed = [*cells, *cells, cells[0]]
    frame = pd.DataFrame(
        {"a": [*observed, None] * 10, "b": [*[0, 1] * 4, 1, 0][: len(observed) + 1] * 10}, dtype=object
    )
    fit = Method(selector=Fixed(0.1)).fit(as_table(frame, kinds={"a": kind}, missing="impute"))
    for filled in (
        fit.impute(frame)["a"],
        fit.impute(frame.to_numpy())[:, 0],
        fit.impute(frame.to_numpy().tolist())[:, 0],
    ):
        kept = np.asarray(frame["a"].notna())
        answer = np.asarray(filled).astype(object)
        assert answer[kept].tolist() == observed * 10
        assert {repr(cell) for cell in answer.tolist()} == {repr(cell) for cell in cells}


def test_intervals_are_filled_with_intervals():
    ages = pd.Series([20.0, 45.0, 70.0, np.nan, 45.0] * 20)
    frame = pd.DataFrame({"age": pd.cut(ages, [0, 30, 60, 90]), "old": [0, 0, 1, 1, 0] * 20})
    fit = Method(selector=Fixed(0.01)).fit(as_table(frame, missing="impute"))
    filled = fit.impute(frame)["age"]
    assert filled.dtype == frame["age"].dtype
    assert filled.notna().all()
    assert (filled == frame["age"])[frame["age"].notna()].all()


def test_a_value_that_a_table_lacks_is_filled_as_its_cells_are(tmp_path):
    text = "a;b;c\n" + "true;1,50;0\nfalse;2,25;1\ntrue;3,00;1\nfalse;1,50;0\n" * 20
    (tmp_path / "t.csv").write_text(text)
    run("fit", tmp_path / "t.csv", "--ordinal", "b", "--alpha", "0.001", "-o", tmp_path / "net")
    (tmp_path / "holed.csv").write_text("a;b;c\ntrue;;1\ntrue;1,50;0\n;1,50;0\n")
    printed = run("predict", tmp_path / "net", tmp_path / "holed.csv", "--impute")
    first, second, third = list(csv.reader(io.StringIO(printed.stdout)))[1:]
    assert second == ["true", "1,50", "0"]
    assert third[0] in ("true", "0")  # the file has no cell that says false
    assert first[1] in ("2,25", "3")


def test_files_print_their_own_spelling_and_json_has_their_numbers(tmp_path):
    rows = ["01,1.50,TRUE", "02,2.00,FALSE", "03,1.50,TRUE", ",2.00,", "01,,FALSE"]
    (tmp_path / "t.csv").write_text("\n".join(["code,size,flag", *rows * 20]) + "\n")
    words = ("--nominal", "code", "--ordinal", "size", "--missing", "impute", "--alpha", "0.1")
    run("fit", tmp_path / "t.csv", *words, "-o", tmp_path / "net")
    call = ("predict", tmp_path / "net", tmp_path / "t.csv", "--impute")
    printed = run(*call).stdout.splitlines()[1:]
    assert [printed[k] for k in (0, 1, 2)] == rows[:3]
    columns = [set(column) for column in zip(*csv.reader(printed), strict=True)]
    assert columns == [{"01", "02", "03"}, {"1.50", "2.00"}, {"TRUE", "FALSE"}]
    assert json.loads(run(*call, "--json").stdout)["cells"][:2] == [[1, 1.5, "TRUE"], [2, 2, "FALSE"]]


def test_missing_bytes_are_filled_with_bytes():
    frame = pd.DataFrame({"a": [b"yes", b"no", None, b"no"] * 10, "b": [1, 0, 0, 1] * 10})
    fit = Method(selector=Fixed(0.1)).fit(as_table(frame, encode="auto", missing="impute"))
    assert set(fit.impute(frame)["a"]) == {b"yes", b"no"}


def test_a_frame_whose_columns_were_named_anew_is_completed():
    cells = np.random.default_rng(0).integers(0, 2, size=(60, 3)).astype(float)
    frame = pd.DataFrame(cells, columns=list("abc")).mask(np.arange(180).reshape(60, 3) % 17 == 0)
    fit = Method(selector=Fixed(0.1)).fit(as_table(frame, names=["x", "y", "z"], missing="impute"))
    completed = fit.impute(frame)
    assert list(completed) == list("abc")
    assert not completed.isna().any(axis=None)


PRICES = [None if k % 7 == 0 else Decimal(k % 5) / 4 for k in range(60)]
WORDS = [None if k % 7 == 0 else "xyz"[k % 3] for k in range(60)]


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pl.Series(PRICES, dtype=pl.Decimal(10, 2)), "nominal"),
        (pl.Series(PRICES, dtype=pl.Decimal(10, 2)), "continuous"),
        (pa.array(PRICES, type=pa.decimal128(10, 2)), "continuous"),
        (pd.Series(PRICES, dtype=pd.ArrowDtype(pa.decimal128(10, 2))), "continuous"),
        (pl.Series([None if price is None else int(4 * price) for price in PRICES], dtype=pl.Int8), "ordinal"),
        (pl.Series(WORDS, dtype=pl.Categorical), "nominal"),
        (pl.Series(WORDS, dtype=pl.Enum(["y", "x", "z"])), "ordinal"),
        (pa.array(WORDS, type=pa.large_string()), "nominal"),
        (pa.array(WORDS, type=pa.string_view()), "nominal"),
    ],
    ids=lambda value: value if isinstance(value, str) else str(getattr(value, "dtype", None) or value.type),
)
def test_columns_of_any_library_keep_their_type(column, kind):
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[type(column).__module__.split(".")[0]]
    frame = make({"a": column, "b": [k % 2 for k in range(60)]})
    filled = Method(selector=Fixed(0.1)).fit(as_table(frame, kinds={"a": kind}, missing="impute")).impute(frame)
    before, after = frame["a"], filled["a"]
    assert list(getattr(filled, "column_names", filled.columns)) == ["a", "b"]
    if isinstance(frame, pa.Table):
        assert after.type == before.type
        before, after = before.to_pylist(), after.to_pylist()
    else:
        assert after.dtype == before.dtype
    pairs = list(zip(before, after, strict=True))
    assert all(new == old for k, (old, new) in enumerate(pairs) if k % 7)
    assert not pd.isna([new for _, new in pairs]).any()
