"""The options of reading: one record behind all signatures."""

import inspect
import io
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest

from isinglass import IsingNetwork, as_table, read_parts, read_table
from isinglass.data.options import FileOptions, ReadOptions, ValueOptions
from isinglass.errors import DataError


def defaults(record):
    return {field.name: field.default for field in fields(record)}


def test_the_fields_of_the_records_are_keyword_arguments():
    of_values, of_files, of_parts = (
        {name: parameter.default for name, parameter in inspect.signature(function).parameters.items()}
        for function in (as_table, read_table, read_parts)
    )
    assert [next(iter(each)) for each in (of_values, of_files, of_parts)] == ["X", "path", "X"]
    assert of_values.items() >= defaults(ValueOptions).items()
    assert of_values.keys() - defaults(ValueOptions) == {"X", "sample_weight"}
    assert of_files.items() >= defaults(ReadOptions).items()
    assert of_files.keys() == {"path", "labels", "value_labels", *defaults(ValueOptions), *defaults(FileOptions)}
    assert of_parts.items() >= defaults(FileOptions).items()
    refused = {"kinds", "scores", "reverse", "covariates", "combine_indicators", "guess", "labels", "value_labels"}
    assert of_files.keys() - of_parts == {"path", *refused}
    with pytest.raises(TypeError, match=r"read_table\(\) got an unexpected keyword argument 'delimeter'"):
        read_table("a.csv", delimeter=",")
    with pytest.raises(DataError, match="delimiter must be text; got 3"):
        read_table("a.csv", delimiter=3)
    with pytest.raises(TypeError, match=r"as_table\(\) too many positional arguments"):
        as_table([[0, 1]], None, "counts")


def test_an_estimator_states_its_own_options():
    table = IsingNetwork(kinds="ordinal", na_values=[99], missing="drop").as_table([[1, 0], [2, 99], [3, 1]])
    assert table.variables.kinds == ("ordinal", "binary")
    assert (table.n_missing, table.n_dropped) == (1, 1)


@pytest.mark.parametrize("labels", [["men", "women"], {"a": ["men", "women"]}, {"a": {1: "men"}, "b": "women"}])
def test_labels_of_values_are_mappings(labels):
    with pytest.raises(
        DataError, match=r'value_labels must be such as \{"gender": \{1: "men", 2: "women"\}\}; got .*men'
    ):
        read_table(io.StringIO("a,b\n1,0\n2,1\n"), value_labels=labels)


@pytest.mark.parametrize("option", [{"delimiter": ";"}, {"columns": [0]}, {"header": False}])
def test_options_of_files_are_refused_for_arrays(option):
    with pytest.raises(DataError, match=f"{next(iter(option))} applies only to parts that are files"):
        read_parts([np.eye(3), np.ones((2, 3))], **option)


@pytest.mark.parametrize("table", [np.eye(3), pd.DataFrame(np.eye(3), columns=list("abc")), None, 3])
def test_one_table_is_no_table_in_parts(table):
    with pytest.raises(
        DataError,
        match=rf"blocks of rows, each of them a table; got {type(table).__name__}, whose entry 0 is .* as_table",
    ):
        read_parts(table)


def test_sets_have_one_order():
    words = {f"word {k}" for k in range(50)}
    for given in (words, frozenset(words)):  # in the order of hashes, which differs from run to run
        assert ValueOptions(na_values=given).na_values == tuple(sorted(words))
        assert ValueOptions(na_values={"a": given}).na_values == {"a": tuple(sorted(words))}
    assert ValueOptions(na_values={"x", -1, 99}).na_values == (-1, 99, "x")


def test_pairs_are_mappings():
    given = {"a": ("low", ("high", "top")), "b": (None, "x"), "c": {"y": 1, "n": 0}}
    known = {"a": {"low": 0, "high": 1, "top": 1}, "b": {"x": 1}, "c": {"y": 1, "n": 0}}
    assert ValueOptions(encode=given).encode == known
    assert ValueOptions(encode={"a": ("low", "middle", "high")}).encode == {"a": {"low": 0, "middle": 1, "high": 2}}


SCALES = pd.DataFrame({"a": [1, 2, 3, 9] * 3, "b": [3, 1, 2, 1] * 3, "c": [0.5, 1.5] * 6, "d": ["x", "y", "z"] * 4})
STATED = {
    "kinds": {"a": "ordinal", "b": "ordinal", "d": "nominal"},
    "na_values": {"a": 9},
    "scores": {"b": [0, 1, 3]},
    "reverse": ["a", "b"],
    "binarize": {"c": 1.0},
    "encode": {"d": {"x": 0, "y": 1, "z": 2, "w": 2}},
    "missing": "impute",
}
SAME = [
    *({name: value} for name, value in STATED.items() if name in ("kinds", "na_values", "missing")),
    {"kinds": {"[ab]": "ordinal"}},
    {"kinds": {"a:b": "ordinal", 3: "nominal"}},
    {"encode": "auto"},
]
OTHERS = [
    *({name: STATED[name]} for name in ("scores", "encode", "reverse", "binarize")),
    {"kinds": {"d": "ordinal"}},
    {"kinds": {"a:b": "nominal"}},
    {"na_values": [9]},
    {"na_values": {"a": [9, 3]}},
    {"scores": {"b": [0, 1, 2]}},
    {"scores": {"b": {1: 0, 2: 2, 3: 3}}},
    {"reverse": ["a", "c"]},
    {"binarize": {"c": 0.5}},
    {"binarize": {"a": 1.0}},
    {"encode": {"d": {"x": 0, "y": 2, "z": 1, "w": 1}}},
    {"encode": {"d": {"x": 0, "y": 1, "z": 2}}},
    {"encode": {"c": {0.5: 0, 1.5: 1}}},
    {"encode": {"a": {1: 0, 2: 1, 3: 5, 9: None}}},
    {"encode": {"a": {1: 0, 2: 1, 3: 2, 9: 3}}},
    {"encode": {"yes": 1, "no": 0}},
    {"combine_indicators": True},
]


@pytest.mark.parametrize("again", SAME)
def test_options_by_which_a_table_was_read_may_be_given_again(again):
    table = as_table(SCALES, **STATED)
    assert as_table(table, **again) is table
    if "encode" not in again:
        read = as_table(SCALES, **{"encode": table.coding, "missing": "impute", **again})
        assert np.array_equal(read.codes, table.codes)


@pytest.mark.parametrize("other", OTHERS)
def test_options_by_which_a_table_was_not_read_are_refused(other):
    """They have no effect any more: beside a table, and beside a coding that says what the values mean."""
    table, (option,) = as_table(SCALES, **STATED), other
    with pytest.raises(DataError, match=f"{option} must be given where the table is read"):
        as_table(table, **other)
    if option not in ("encode", "na_values"):
        with pytest.raises(DataError, match=f"{option} must be given where the table is read"):
            as_table(SCALES, encode=table.coding, missing="impute", **other)


def test_covariates_may_be_chosen_after_the_reading():
    table = as_table(SCALES, **STATED)
    coding = as_table(SCALES, **{**STATED, "missing": "drop"}).coding
    assert as_table(table, covariates=["b:c"]).variables.covariates == ("b", "c")
    assert as_table(SCALES, encode=coding, missing="drop", covariates=["[bc]"]).variables.covariates == ("b", "c")


def test_missing_values_with_a_decimal_comma_may_be_given_again():
    text = "a;b\n0;1,5\n1;2,5\n1;3,5\n0;9,5\n"
    table = read_table(io.StringIO(text), kinds={"b": "ordinal"}, na_values=["9,5"], missing="impute")
    assert as_table(table, na_values=["9,5"]) is table
    with pytest.raises(DataError, match="na_values must be given where"):
        as_table(table, na_values=["3,5"])


@pytest.mark.parametrize("option", ["na_values", "covariates", "reverse", "labels", "columns", "drop"])
def test_none_is_the_default_of_options_that_name_several(option):
    assert read_table(io.StringIO("a,b\n0,1\n1,0\n"), **{option: None}).names == ("a", "b")
    if option in ("na_values", "covariates", "reverse"):
        assert as_table([[0, 1], [1, 0]], **{option: None}).shape == (2, 2)


def test_a_table_is_also_given_by_the_name_of_its_argument():
    X = np.array([[0, 1], [1, 0]])
    assert read_table(path=io.StringIO("a,b\n0,1\n1,0\n"), drop="b").names == ("a",)
    assert as_table(X=X, names=["a", "b"]).names == ("a", "b")
    assert len(read_parts(X=[X, X])) == 4
    for stated in ({}, {"path": "a.csv", "drops": 1}):
        with pytest.raises(
            TypeError, match=r"^read_table\(\) (missing a required .*'path'|got an unexpected .*'drops')"
        ):
            read_table(**stated)
    with pytest.raises(TypeError, match=r"^read_table\(\) multiple values for argument 'path'"):
        read_table("a.csv", path="b.csv")
