import sys
import types

import numpy as np
import pytest

from isinglass import IsingModel
from isinglass.export import to_igraph, to_networkx


@pytest.fixture
def model():
    couplings = np.zeros((4, 4))
    couplings[0, 1] = couplings[1, 0] = -2.0
    couplings[1, 2] = couplings[2, 1] = 0.5
    return IsingModel(couplings, [0.1, 0.2, 0.3, 0.4], names=["a", "b", "c", "alone"])


def test_networkx(model):
    graph = to_networkx(model, node_attributes={"party": ["R", None, "D", "I"]}, edge_attributes={"f": np.ones((4, 4))})
    assert list(graph) == ["a", "b", "c", "alone"]
    assert dict(graph.degree()) == {name: data["degree"] for name, data in graph.nodes(data=True)}
    strengths = {name: data["strength"] for name, data in graph.nodes(data=True)}
    assert dict(graph.degree(weight="weight")) == pytest.approx(strengths)
    assert graph.edges["a", "b"] == {"coupling": -2.0, "sign": -1, "weight": 2.0, "f": 1.0}
    assert "party" not in graph.nodes["b"]
    assert graph.nodes["c"]["party"] == "D"


class FakeGraph:
    """As much of igraph.Graph as we use: columns of vertices and edges."""

    def __init__(self, n, edges, directed):
        self.n, self.edges, self.directed, self.vs, self.es = n, edges, directed, {}, {}


def check_igraph(graph, model):
    assert list(graph.vs["name"]) == list(model.names)
    assert list(graph.vs["field"]) == model.fields.tolist()
    assert list(graph.vs["party"]) == ["R", None, "D", "I"]
    assert list(graph.es["coupling"]) == [-2.0, 0.5]
    assert list(graph.es["weight"]) == [2.0, 0.5]
    assert list(graph.es["sign"]) == [-1, 1]


def test_igraph_by_its_interface(model, monkeypatch):
    module = types.ModuleType("igraph")
    module.Graph = FakeGraph
    monkeypatch.setitem(sys.modules, "igraph", module)
    graph = to_igraph(model, node_attributes={"party": ["R", None, "D", "I"]})
    check_igraph(graph, model)
    assert (graph.n, graph.edges, graph.directed) == (4, [[0, 1], [1, 2]], False)


def test_igraph_itself(model):
    pytest.importorskip("igraph")  # GPL: not a dependency, not even of the tests
    graph = to_igraph(model, node_attributes={"party": ["R", None, "D", "I"]})
    check_igraph(graph, model)
    assert graph.get_edgelist() == [(0, 1), (1, 2)]


@pytest.mark.parametrize(("convert", "package"), [(to_networkx, "networkx"), (to_igraph, "igraph")])
def test_a_missing_package_is_named(model, monkeypatch, convert, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=f"{package} is not installed. Install it: pip install"):
        convert(model)
