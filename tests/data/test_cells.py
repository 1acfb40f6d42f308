import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isinglass import read_table
from isinglass.data.cells import NA_VALUES, Vocabulary
from isinglass.data.coding import is_one_of
from isinglass.data.options import ReadOptions


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("0", 0), ("1", 1), (" 1 ", 1), ("1.0", 1), ("+1", 1), ("1e0", 1), (".5", 0.5), ("-1", -1), ("007", 7),
        ("TRUE", True), ("False", False), ("true", True),
        ("Yes", "Yes"), ("T", "T"), ("1_0", "1_0"), ("0x1", "0x1"), ("inf", "inf"), ("1,0", "1,0"), ("١", "١"),
        ("1e", "1e"), ("-", "-"), ("--1", "--1"), ("-9", -9),
        *((word, None) for word in NA_VALUES), ("  ", None), (" NA ", None),
    ],
)  # fmt: skip
def test_words(word, value):
    read = Vocabulary().read(word)
    assert read == value
    assert type(read) is type(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_that_python_writes_is_read_back(number):
    assert Vocabulary().read(repr(number)) == number


@given(st.text())
def test_nothing_breaks_it(word):
    value = Vocabulary().read(word)
    assert value is None or isinstance(value, bool | int | float) or value == word.strip()


def test_more_spellings():
    vocabulary = Vocabulary.build([-9, "refused", "99"])
    assert [vocabulary.read(w) for w in ("-9", "-9.0", "refused", "99.00", "NA", "9")] == [None] * 5 + [9]
    is_missing = is_one_of([-9, "refused", "99"])
    assert all(map(is_missing, (-9.0, 99, " refused", "99", "-9", np.int8(99))))
    assert not any(map(is_missing, (1, "9", "Refused", "", None)))
    assert ReadOptions(na_values="refused").na_values == ("refused",)


def test_what_encode_names_is_not_missing():
    assert Vocabulary.build([], {"?": 1, "0": 0}).read("?") == "?"
    assert Vocabulary.build([], {"Q1": {".": 0}}).read(".") == "."
    assert Vocabulary.build([], {"Q1": {"": 0, "?": 1, "x": 1}}).read("?") == "?"
    assert Vocabulary.build([-9], {"-9": 0}).read("-9") == -9


def test_words_in_encode_are_read_like_cells():
    vocabulary = Vocabulary()
    assert vocabulary.read_encode({"1": 0, "2": 1, "x": None}) == {1: 0, 2: 1, "x": None}
    assert vocabulary.read_encode({"Q": {"1": 0}, "R": {"1": 0, "2": 1}}) == {"Q": {1: 0}, "R": {1: 0, 2: 1}}
    assert vocabulary.read_encode("auto") == "auto"


def test_decimal_commas():
    words = Vocabulary(decimal=",")
    assert [words.read(word) for word in ("1,5", "-,5", "2", "1.5", "1,5e1", "1,2,3")] == [
        1.5,
        -0.5,
        2,
        "1.5",
        15,
        "1,2,3",
    ]
    assert Vocabulary().with_decimal([["0", "1"], ["a", "1,5"], ["1", "2,5", "NA"]]).decimal == ","
    assert Vocabulary().with_decimal([["0", "1"], ["a", "1,5"], ["1,2,3", "1,2"]]).decimal == "."


@pytest.mark.parametrize("first", ["None,0", "some,1", "many,0"])
def test_the_first_row_is_read_as_the_others_are(first):
    rows = [first, *(row for row in ("None,0", "some,1", "many,0") if row != first)]
    table = read_table(io.StringIO("\n".join(rows)), header=False, id_column=None, kinds={0: "nominal"})
    assert table.variables.categories[0] == ("None", "many", "some")
    assert [table.variables.categories[0][code] for code in table.codes[:, 0]] == [row.split(",")[0] for row in rows]


def test_the_only_word_of_a_column_in_the_first_row():
    table = read_table(io.StringIO("some,1\nNone,0\nNone,1"), header=False, encode={0: ("None", "some")})
    assert table.codes.tolist() == [[1, 1], [0, 0], [0, 1]]
    auto = read_table(io.StringIO("some,1\nNone,0\nNone,1"), header=False, encode="auto")
    assert set(auto.coding.columns[0].entries) == {"None", "some"}
