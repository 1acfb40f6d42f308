"""The options of reading: one record behind all signatures."""

import inspect
from dataclasses import fields

import numpy as np
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
    assert of_values.keys() - defaults(ValueOptions) == {"X", "sample_weight", "variables"}
    assert of_files.items() >= defaults(ReadOptions).items()
    assert of_files.keys() == {"path", "labels", "value_labels", *defaults(ValueOptions), *defaults(FileOptions)}
    assert of_parts.items() >= defaults(FileOptions).items()
    refused = {"kinds", "scores", "reverse", "covariates", "combine_indicators", "guess", "labels", "value_labels"}
    assert of_files.keys() - of_parts == {"path", *refused}
    with pytest.raises(TypeError, match="delimeter"):
        read_table("a.csv", delimeter=",")
    with pytest.raises(TypeError, match="positional"):
        as_table([[0, 1]], None, "counts")


def test_an_estimator_states_its_own_options():
    table = IsingNetwork(kinds="ordinal", na_values=[99], missing="drop").as_table([[1, 0], [2, 99], [3, 1]])
    assert table.variables.kinds == ("ordinal", "binary")
    assert (table.n_missing, table.n_dropped) == (1, 1)


@pytest.mark.parametrize("option", [{"delimiter": ";"}, {"columns": [0]}, {"header": False}])
def test_options_of_files_are_refused_for_arrays(option):
    with pytest.raises(DataError, match=f"{next(iter(option))} applies only to parts that are files"):
        read_parts([np.eye(3), np.ones((2, 3))], **option)


def test_pairs_are_mappings():
    given = {"a": ("low", ("high", "top")), "b": (None, "x"), "c": {"y": 1, "n": 0}}
    known = {"a": {"low": 0, "high": 1, "top": 1}, "b": {"x": 1}, "c": {"y": 1, "n": 0}}
    assert ValueOptions(encode=given).encode == known
    assert ValueOptions(encode={"a": ("low", "middle", "high")}).encode == {"a": {"low": 0, "middle": 1, "high": 2}}
