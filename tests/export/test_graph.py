from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isinglass import IsingModel, Solution
from isinglass.errors import DataError
from isinglass.evaluate import metrics
from isinglass.export.graph import read_graph


def random_model(p, seed, density=0.5):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.normal(size=(p, p)) * (rng.random((p, p)) < density), 1)
    return IsingModel(upper + upper.T, rng.normal(size=p))


@given(st.integers(1, 9), st.integers(0, 99))
def test_agrees_with_the_model(p, seed):
    model = random_model(p, seed)
    graph = read_graph(model)
    listed = [(graph.names[s], graph.names[t], coupling) for s, t, coupling in graph.pairs()]
    assert listed == [tuple(edge) for edge in model.edges()]
    np.testing.assert_allclose(graph.strength, np.abs(model.couplings).sum(axis=1))
    np.testing.assert_array_equal(graph.degree, (model.couplings != 0).sum(axis=1))
    nodes = metrics.node_table(model, np.eye(p, dtype=int))
    np.testing.assert_allclose(graph.strength, nodes.strength)
    np.testing.assert_array_equal(graph.degree, nodes.degree)


def test_every_kind_of_result_gives_the_same_graph():
    model = random_model(5, 1)
    solution = Solution.from_dense(0.1, model.couplings, model.fields, converged=True)
    estimator = SimpleNamespace(model_=model, solution_=solution)
    graphs = [read_graph(network) for network in (model, solution, estimator)]
    for graph in graphs:
        assert list(graph.pairs()) == list(graphs[0].pairs())
        assert graph.names == ("x0", "x1", "x2", "x3", "x4")
    assert graphs[0].facts == {}
    assert graphs[1].facts == graphs[2].facts == {"alpha": 0.1, "converged": True}  # the others are not known


def test_zeros_that_a_solution_stores_are_no_edges():
    solution = Solution(1.0, np.zeros(3), np.array([[0, 1], [1, 2]], dtype=np.int32), np.array([0.0, 2.0]))
    assert list(read_graph(solution).pairs()) == [(1, 2, 2.0)]


def test_a_large_solution_does_not_become_dense():
    p = 200_000  # dense: 320 GB
    solution = Solution(1.0, np.zeros(p), np.array([[0, p - 1]], dtype=np.int32), np.array([2.0]))
    assert read_graph(solution).degree.sum() == 2


def test_names_replace_those_of_the_network():
    model = IsingModel([[0, 1], [1, 0]], [0, 0], names=["a", "b"])
    assert read_graph(model, names=["c", "d"]).names == ("c", "d")
    with pytest.raises(DataError, match="names must be different"):
        read_graph(model, names=["c", "c"])


@pytest.mark.parametrize("network", [np.eye(2), SimpleNamespace(), None, "model"])
def test_other_things_are_refused(network):
    with pytest.raises(DataError, match="network must be an IsingModel"):
        read_graph(network)


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame, pa.table, pa.RecordBatch.from_pydict])
def test_attributes_from_mappings_and_frames(frame):
    model = random_model(3, 0)
    attributes = frame({"party": ["R", "D", "R"], "age": [1, 2, 3]})
    graph = read_graph(model, node_attributes=attributes, color_by="party", group_colors={"R": "red"})
    assert {name: column.values for name, column in graph.node_columns.items()} == {
        "party": ("R", "D", "R"),
        "age": (1, 2, 3),
    }
    assert graph.node_colors[0] == graph.node_colors[2] == "#d55e00" != graph.node_colors[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"node_attributes": [1, 2, 3]}, "node_attributes must map names to columns"),
        ({"node_attributes": {"degree": [1, 2, 3]}}, "Rename"),
        ({"edge_attributes": {"weight": np.eye(3)}}, "Rename"),
        ({"color_by": "party"}, "color_by must be one of"),
        ({"group_colors": {"R": "red"}}, "must come with color_by"),
        ({"positions": np.zeros((2, 2))}, "positions must be finite"),
        ({"positions": np.full((3, 2), np.nan)}, "positions must be finite"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(DataError, match=message):
        read_graph(random_model(3, 0), **options)


def test_ties_keep_the_order_of_the_nodes():
    model = IsingModel([[0, 1, -1], [1, 0, 1], [-1, 1, 0]], np.zeros(3))
    assert read_graph(model).edge_index.tolist() == [[0, 1], [0, 2], [1, 2]]
