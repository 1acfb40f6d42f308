"""What values mean: codebooks, the choice of the value that is 1, and the rules for numbers."""

import ast
import itertools
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isinglass.data import as_table
from isinglass.data.column import number_objects
from isinglass.data.meaning.coding import Coding
from isinglass.data.meaning.rules import BITS, Cut, Levels
from isinglass.errors import DataError


def auto(column, **options):
    table = as_table(pd.DataFrame({"a": column}), encode="auto", **options)
    return table.codes[:, 0].tolist(), table.encoding.get("a")


@pytest.mark.parametrize(
    ("column", "pair"),
    [
        (["yes", "no"], ("no", "yes")),
        (["YES", "No"], ("No", "YES")),
        (["Nay", "Yea"], ("Nay", "Yea")),
        (["disagree", "agree"], ("disagree", "agree")),  # not the order of the alphabet
        (["incorrect", "correct"], ("incorrect", "correct")),
        (["T", "F"], ("F", "T")),
        (["b", "a"], ("a", "b")),
        ([2, 1], (1, 2)),
        ([0.5, -3.0], (-3.0, 0.5)),
        ([Decimal(1), Decimal(2)], (Decimal(1), Decimal(2))),
        (pd.Categorical(["hi", "lo"], categories=["lo", "hi"], ordered=True), ("lo", "hi")),
        (pd.Categorical(["no", "yes"], categories=["yes", "no"], ordered=True), ("yes", "no")),
        (pd.Categorical(["no", "yes"], categories=["yes", "no"]), ("no", "yes")),
        (pd.Categorical(["b", "a"], categories=["b", "a"]), ("b", "a")),
        (pd.Categorical(["c", "a"], categories=["c", "b", "a"]), ("c", "a")),
        (pd.Categorical(["b", "b"], categories=["b", "a"]), ("b", "a")),  # only one of the two was observed
    ],
)
def test_which_value_is_one(column, pair):
    bits, encoding = auto(column)
    assert encoding == pair
    assert bits == [pair.index(value) for value in column]


@pytest.mark.parametrize(
    "column",
    [[0, 1], [True, False], [0.0, 1.0], [1, 1], [0, 0], ["0", "1"], ["1", "1.0"], [1, "0"], ["True", "False"]],
)
def test_bits_stay_bits(column):
    assert auto(column) == ([int(value in (1, "1", "1.0", "True")) for value in column], None)


@pytest.mark.parametrize(
    "column",
    [
        pd.Categorical([1, 0, 1], categories=[1, 0]),
        pd.Categorical([True, False, True], categories=[True, False]),
        pd.Categorical([1, 0], categories=[1, 0], ordered=True),
        pd.Categorical([1, 1], categories=[1, 0]),
        pd.Categorical([1, 0], categories=[2, 1, 0]),
    ],
)
def test_bits_stay_bits_whatever_the_order_of_their_categories(column):
    assert auto(column) == ([int(value) for value in column], None)


@pytest.mark.parametrize(
    ("words", "declared"),
    [(["yes", "yes"], ["yes", "no"]), (["1", "1"], ["1", "0"])],  # the other word was not observed
)
def test_words_of_known_meaning_need_not_all_be_observed(words, declared):
    assert auto(pd.Categorical(words, categories=declared)) == ([1, 1], (declared[1], declared[0]))


@pytest.mark.parametrize(
    "column",
    [
        *(
            [0, -9, 0],
            [1, 9],
            [1.0, 99.0],
            [0, -1],
            [1, "-"],
            ["0", "-"],
            ["0", "-9"],
        ),  # one may be no answer
        pd.Categorical([0, -9], categories=[-9, 0]),
        *(["Yes", "yes", "Yes"], ["a ", "A"]),  # spellings of one thing
    ],
)
def test_two_values_that_may_be_one_are_refused(column):
    is_declared = isinstance(column, pd.Categorical)
    for options in ({"encode": "auto"}, {})[: 2 - is_declared]:
        with pytest.raises(DataError, match=r"in column 'a'.* Say what its values mean .*encode=.*None"):
            as_table(pd.DataFrame({"a": column}), **options)


@pytest.mark.parametrize(
    "column",
    [["x" * 500, "y"], [np.inf, 0.5], [-np.inf, 2.0], [0.12345678901, 3.0], [2, 10**50], [Decimal(2), Decimal(3)]],
)
def test_suggestions_are_python_or_left_out(column):
    with pytest.raises(DataError) as caught:
        as_table(pd.DataFrame({"a": column}, dtype=object))
    found = re.search(r"encode=(\{.*?\})", str(caught.value))
    if found is not None and "…" not in found[1]:
        assert set(ast.literal_eval(found[1])) == set(column)
    assert str(caught.value).count("'") % 2 == 0


def test_the_order_of_the_rows_does_not_matter():
    for values in itertools.permutations(["b", "a", "a"]):
        for frame in (
            pd.DataFrame({"a": values}),
            pl.DataFrame({"a": values}),
            pl.DataFrame({"a": values}, schema={"a": pl.Categorical}),
            pa.table({"a": pa.array(values).dictionary_encode()}),
        ):
            table = as_table(frame, encode="auto")
            assert table.codes[:, 0].tolist() == ["ab".index(value) for value in values]
    declared = pl.DataFrame({"a": ["a", "b"]}, schema={"a": pl.Enum(["b", "a"])})
    assert as_table(declared, encode="auto").encoding == {"a": ("b", "a")}


def test_a_single_value_is_0_unless_it_is_known_to_be_1():
    assert as_table([[2, 1, 0], [2, 2, 1]], encode="auto").codes.tolist() == [[0, 0, 0], [0, 1, 1]]
    assert as_table([[0, 1, 1], [1, 2, 1]], encode="auto").codes[:, 2].tolist() == [1, 1]
    assert as_table([["x", "yes"], ["x", "yes"]], encode="auto").encoding == {0: ("x", None), 1: (None, "yes")}


def test_three_values_are_too_many():
    with pytest.raises(DataError, match=r"got 'a', 'b', 'c' in column 'a'.*None}"):
        auto(["a", "b", "c"])
    with pytest.raises(DataError, match=r"got 1, 2, 3 in column 'a'.*binarize"):
        auto([1, 2, 3])


def test_missing_cells_are_not_a_value():
    assert auto(["a", None, "b"], missing="zero") == ([0, 0, 1], ("a", "b"))
    table = as_table(pd.DataFrame({"a": [None, None], "b": ["x", "y"]}), encode="auto", missing="zero")
    assert table.codes.tolist() == [[0, 0], [0, 1]]


def test_one_codebook_for_all_columns():
    frame = pd.DataFrame({"a": ["Yes", "No"], "b": [1, 0], "c": [None, "Yes"]})
    table = as_table(frame, encode={"Yes": 1, "No": 0}, missing="zero")
    assert table.codes.tolist() == [[1, 1, 0], [0, 0, 1]]
    assert table.encoding == {"a": ("No", "Yes"), "c": ("No", "Yes")}
    # A column that is 0/1, but has a value that is to be replaced, does not slip through.
    with pytest.raises(DataError, match="encode must say what every value means; got 0 in column 0"):
        as_table([[0], [1]], encode={1: 0, 2: 1})
    frame = pd.DataFrame({"aa": [1, 2], "b": [0, 1]})
    with pytest.raises(DataError, match="encode must say what every value means; got 0 in column 'b' "):
        as_table(frame, encode={1: 0, 2: 1})
    assert as_table(frame, encode={"aa": {1: 0, 2: 1}}).codes.tolist() == [[0, 0], [1, 1]]
    constant = as_table(pd.DataFrame({"a": [1.5, 1.5], "b": [0, 1]}), kinds={"a": "continuous"})
    with pytest.raises(DataError, match=r"declared or fitted, 1.5; got 2.5 in column 'a'"):
        as_table(pd.DataFrame({"a": [1.5, 2.5], "b": [0, 1]}), encode=constant.coding)
    with pytest.raises(DataError, match=r"got 'Maybe' in column 'a' \(first in row 1\)"):
        as_table(pd.DataFrame({"a": ["Yes", "Maybe"]}), encode={"Yes": 1, "No": 0})


def test_codebooks_of_single_columns():
    frame = pl.DataFrame({"a": ["x", "y"], "b": [1, 0], "c": [1, 2]})
    table = as_table(frame, encode={"a": {"x": 1, "y": 0}, "c": (2, 1)})
    assert table.codes.tolist() == [[1, 1, 1], [0, 0, 0]]
    with pytest.raises(DataError, match="got 'x', 'y' in column 'a'"):
        as_table(frame, encode={"c": (2, 1)})


def test_a_codebook_can_declare_values_missing():
    table = as_table([[1, 9], [2, 1]], encode={1: 0, 2: 1, 9: None}, missing="drop")
    assert table.codes.tolist() == [[1, 0]]
    assert table.rows.tolist() == [1]


cells = st.one_of(st.booleans(), st.integers(-3, 3), st.floats(allow_nan=False), st.integers(2**70, 2**71))
RULES = [BITS, Levels({-1: 0, 1: 1}), Levels({2: 0, "x": 1}, missing=(3,)), Cut(0.5), Cut(-2.0)]


@given(st.lists(cells, min_size=1), st.sampled_from(RULES))
def test_a_rule_treats_arrays_and_single_values_alike(values, rule):
    table = np.array([float(value) for value in values])
    assert rule.convert(table).tolist() == rule.read(table.tolist()).tolist()


def test_codings_are_checked():
    with pytest.raises(DataError, match="not as '\\?'"):
        Coding(("a", "b"), (BITS, Cut(0.5)), "?")
    with pytest.raises(DataError, match="numbered from 0"):
        Levels({1: 7})


HALF = 2.5


@given(st.lists(st.sampled_from([0, 1, HALF, None, "a", "b", float("nan"), pd.NA, pd.NaT, Decimal("NaN")])))
def test_distinct_values_are_those_that_are_not_missing(values):
    present = [value for value in values if isinstance(value, str | int) or value is HALF]
    assert number_objects(values).distinct == list(dict.fromkeys(present))
