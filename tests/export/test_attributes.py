from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from isinglass import Network, Solution
from isinglass.errors import DataError
from isinglass.export.attributes import annotate


def random_model(p, seed, density=0.5):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.normal(size=(p, p)) * (rng.random((p, p)) < density), 1)
    return Network.from_couplings(upper + upper.T, rng.normal(size=p))


def test_facts_come_from_the_solution():
    model = random_model(5, 1)
    solution = Solution(model, 0.1, converged=True)
    estimator = SimpleNamespace(network_=model, solution_=solution)
    assert annotate(model).facts == {}
    assert annotate(solution).facts == annotate(estimator).facts == {"alpha": 0.1, "converged": True}


def test_a_wording_that_the_user_gives_stands_in_place_of_that_of_the_file():
    model = random_model(2, 1)
    worded = Network.trusted(
        replace(model.variables, wording=("I am sad", "I am tired")), model.fields, model.pairs, model.pair_parameters
    )
    assert tuple(annotate(worded).nodes["wording"]) == ("I am sad", "I am tired")
    nodes = annotate(worded, node_attributes={"Wording": ["sad", "tired"]}).nodes
    assert tuple(nodes["Wording"]) == ("sad", "tired")
    assert "wording" not in nodes


def test_attributes_with_labels_are_joined_by_name():
    model = Network(np.zeros(3), [[0, 1], [0, 2]], [2.0, 1.0], names=["a", "b", "c"])
    frame = pd.DataFrame({"party": ["C", "B", "A"]}, index=["c", "b", "a"])
    assert tuple(annotate(model, node_attributes=frame).nodes["party"]) == ("A", "B", "C")
    columns = {"party": {"c": "C", "a": "A"}, "age": pd.Series([3, 2, 1], index=["c", "b", "a"])}
    found = annotate(model, node_attributes=columns).nodes
    assert tuple(found["party"]) == ("A", None, "C")
    assert tuple(found["age"]) == (1, 2, 3)
    assert tuple(annotate(model, edge_attributes={"share": [0.2, None]}).edges["share"]) == (0.2, None)
    with pytest.raises(DataError, match="attribute 'party' must be labeled by the names of the nodes"):
        annotate(model, node_attributes={"party": pd.Series(["A"], index=["z"])})


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame, pa.table, pa.RecordBatch.from_pydict])
def test_attributes_from_mappings_and_frames(frame):
    model = random_model(3, 0)
    attributes = frame({"party": ["R", "D", "R"], "age": [1, 2, 3]})
    graph = annotate(model, node_attributes=attributes, color_by="party", group_colors={"R": "red"})
    assert (graph.nodes["party"], graph.nodes["age"]) == (["R", "D", "R"], [1, 2, 3])
    first, second, third = graph.nodes["color"]
    assert first == third == "#d55e00" != second


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"node_attributes": [1, 2, 3]}, "node_attributes must be a data frame or a mapping of columns; got list"),
        ({"node_attributes": {"degree": [1, 2, 3]}}, "Rename"),
        ({"edge_attributes": {"weight": [1]}}, "Rename"),
        ({"edge_attributes": {"share": np.eye(3)}}, "attribute 'share' must have one value in every cell; got array"),
        ({"node_attributes": {"t": np.arange(6).reshape(3, 2)}}, "attribute 't' must have one entry per node"),
        ({"node_attributes": {"t": [np.arange(2)] * 3}}, "attribute 't' must have one value in every cell"),
        ({"node_attributes": {"t": [["a"], ["b"], ["c"]]}}, r"attribute 't' must have one value .* got \['a'\]"),
        ({"edge_attributes": {"share": "abc"}}, "attribute 'share' must be a column of values; got 'abc'"),
        ({"edge_attributes": {"share": range(9)}}, "attribute 'share' must have one value for each of the . edges"),
        ({"color_by": "party"}, r"color_by must be one of the node attributes \(there are none\); got 'party'"),
        ({"group_colors": {"R": "red"}}, "must come with color_by"),
        ({"node_attributes": {"a": [1, "1", 2]}, "color_by": "a", "group_colors": {"3": "red"}}, "groups that occur"),
        ({"positions": np.zeros((2, 2))}, r"positions must have the shape \(3, 2\); got \(2, 2\)"),
        ({"color_by": ["party"]}, "color_by must be one of"),
        ({"positions": np.full((3, 2), np.nan)}, "positions must be finite"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(DataError, match=message):
        annotate(random_model(3, 0), **options)


def test_positions_by_name_are_pairs_of_any_kind():
    model = random_model(2, 0)
    for pair in (list, tuple, np.array):
        found = annotate(model, positions={"x1": pair([1.0, 2.0]), "x0": pair([3.0, 4.0])}).positions
        assert found.tolist() == [[3.0, 4.0], [1.0, 2.0]]
    with pytest.raises(DataError, match="positions must have a place for every node; got none for 'x0'"):
        annotate(model, positions={"x1": np.zeros(2)})


def test_ties_keep_the_order_of_the_nodes():
    model = Network.from_couplings([[0, 1, -1], [1, 0, 1], [-1, 1, 0]], np.zeros(3))
    assert annotate(model).pairs == [[0, 1], [0, 2], [1, 2]]
