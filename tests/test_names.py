import numpy as np
import pandas as pd
import polars as pl
import pytest

from isinglass.column_keys import name_ranges
from isinglass.errors import ArgumentError, DataError
from isinglass.names import Origin, by_node, check_names, default_names

NAMES = ("tea", "milk", "rain")


@pytest.mark.parametrize(
    "values",
    [
        {"rain": 3, "tea": 1, "milk": 2},
        pd.Series({"rain": 3, "tea": 1, "milk": 2}),
        pd.Series([2, 3, 1], index=["milk", "rain", "tea"]),
        pd.Series([1, 2, 3]),  # its index only counts
        pl.Series([1, 2, 3]),
        np.array([1, 2, 3]),
        (1, 2, 3),
    ],
)
def test_labels_are_joined_and_the_rest_goes_by_position(values):
    assert by_node(values, NAMES, "groups") == [1, 2, 3]


def test_nodes_that_are_not_mentioned_have_nothing():
    assert by_node({"milk": 2}, NAMES, "groups") == [None, 2, None]
    assert by_node(pd.Series({"milk": 2}), NAMES, "groups") == [None, 2, None]


def test_nodes_without_names_go_by_number():
    names = default_names(3)
    assert by_node(pd.Series(["c", "a"], index=[2, 0]), names, "groups") == ["a", None, "c"]
    assert by_node({"x2": "c", "x0": "a"}, names, "groups") == ["a", None, "c"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"sun": 1},
            "groups must be labeled by the names of the nodes .*got 'sun', which is not a node. Pass",
        ),
        (pd.Series([1, 2, 3], index=[0, 1, 5]), "got 0, which is not a node"),
        (pd.Series([1, 2], index=["tea", "tea"]), "got 'tea' twice"),
        ([1, 2], r"groups must have one entry per node \(3\); got 2"),
        (pd.Series([1, 2]), r"groups must have one entry per node \(3\); got 2"),
        ("abc", "groups must have one entry per node, by name or in order; got 'abc'"),
        (7, "by name or in order; got 7"),
        ({1, 2, 3}, "by name or in order; got {1, 2, 3}"),
        (np.array(3), "by name or in order; got array"),
        (pd.DataFrame(np.eye(3), columns=list(NAMES)), "by name or in order"),
    ],
)
def test_what_cannot_be_joined_is_refused(values, message):
    with pytest.raises(DataError, match=message):
        by_node(values, NAMES, "groups")


def test_default_names_exist_once():
    assert check_names(None, 3) is default_names(3)


def test_three_neighbors_and_more_are_a_range():
    keys = ["a", "b", 2, "d", "e", "f:g", "h", "i"]
    assert name_ranges(keys, [0, 1, 2, 4, 5, 6, 7]) == ["a:#3", "e:i"]
    assert name_ranges(keys, [0, 1, 3]) == ["a", "b", "d"]
    assert name_ranges(["#3", "b", "#1"], [0, 1, 2]) == ["#3", "b", "#1"]  # names that read as numbers


def test_options_count_columns_where_no_name_is_a_number_sign():
    here, named = (
        Origin(3, names, has_number_labels=False, places=range(3)) for names in (["a", "b", "c"], ["#2", "b", "c"])
    )
    assert here.find("#2", "drop") == here.find_all("#2", "drop")[0] == 1
    assert named.find("#2", "drop") == 0
    with pytest.raises(DataError, match="which has 3; got number 8"):
        here.find("#9", "drop")


@pytest.mark.parametrize("end", ["12", "#0", "#" + "9" * 4400])
def test_a_range_that_does_not_end_at_a_column_is_shown(end):
    here = Origin(2, ["a", "b"], has_number_labels=False, places=range(2))
    with pytest.raises(ArgumentError, match=f"got '{end[:9]}") as refused:
        here.find_all(f"a:{end}", "drop")
    assert len(str(refused.value)) < 600
