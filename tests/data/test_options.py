"""The options of reading: one record behind all signatures."""

import inspect
from dataclasses import fields

import numpy as np
import pytest

from isinglass import IsingNetwork, read_parts, read_table
from isinglass.data.options import ReadOptions
from isinglass.errors import DataError

DEFAULTS = {field.name: field.default for field in fields(ReadOptions)}


def test_the_fields_of_the_record_are_keyword_arguments():
    shown = [inspect.signature(function).parameters for function in (read_table, read_parts)]
    assert [next(iter(each)) for each in shown] == ["path", "X"]
    assert all({name: each[name].default for name in DEFAULTS} == DEFAULTS for each in shown)
    assert shown[1].keys() - shown[0].keys() == {"X", "sample_weight", "client"}
    with pytest.raises(TypeError, match="delimeter"):
        read_table("a.csv", delimeter=",")


def test_an_estimator_states_its_own_options():
    table = IsingNetwork(kinds="ordinal", na_values=[99], missing="drop").read_table([[1, 0], [2, 99], [3, 1]])
    assert table.variables.kinds == ("ordinal", "binary")
    assert (table.n_missing, table.n_dropped) == (1, 1)


@pytest.mark.parametrize("option", [{"delimiter": ";"}, {"columns": [0]}, {"header": False}, {"labels": ["a"]}])
def test_options_of_files_are_refused_for_arrays(option):
    with pytest.raises(DataError, match=f"{next(iter(option))} applies only to parts that are files"):
        read_parts([np.eye(3), np.ones((2, 3))], **option)
