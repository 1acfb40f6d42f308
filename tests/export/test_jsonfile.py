import inspect
import io
import json
import math

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isinglass import Network, Solution
from isinglass.export import write_network


def random_model(p, seed, names=None):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.normal(size=(p, p)) * (rng.random((p, p)) < 0.6), 1)
    return Network.from_couplings(upper + upper.T, rng.normal(size=p), names=names)


def to_json(model, **options):
    stream = io.StringIO()
    write_network(model, stream, "json", **options)
    return stream.getvalue().rstrip("\n")


def strict(text):
    """Parse JSON without the constants that only Python knows."""
    return json.loads(text, parse_constant=lambda constant: pytest.fail(constant))


@given(st.integers(1, 8), st.integers(0, 50))
def test_the_network_is_read_back(p, seed):
    model = random_model(p, seed)
    found = strict(to_json(model))
    assert (found["kind"], found["version"]) == ("isinglass network", 1)
    couplings = np.zeros((p, p))
    for edge in found["edges"]:
        couplings[edge["source"], edge["target"]] = couplings[edge["target"], edge["source"]] = edge["coupling"]
        assert edge["weight"] == abs(edge["coupling"])
    nodes = found["nodes"]
    assert [node["id"] for node in nodes] == list(range(p))
    assert (
        Network.from_couplings(couplings, [node["field"] for node in nodes], [node["name"] for node in nodes]) == model
    )


@given(st.lists(st.text(st.characters(exclude_categories=[])), min_size=1, max_size=5, unique=True))
def test_any_names(names):
    model = Network.from_couplings(np.zeros((len(names), len(names))), np.zeros(len(names)), names=names)
    found = strict(to_json(model).encode().decode())
    for node, name in zip(found["nodes"], names, strict=True):
        assert len(node["name"]) == len(name)


def test_networkx_reads_it():
    model = random_model(6, 0)
    keyword = "edges" if "edges" in inspect.signature(networkx.node_link_graph).parameters else "link"  # before 3.4
    data = strict(to_json(model, node_attributes={"a": list("uvwxyz")}))
    graph = networkx.node_link_graph(data, **{keyword: "edges"})
    assert graph.number_of_edges() == model.n_edges
    assert graph.nodes[5]["a"] == "z"
    for s, t, data in graph.edges(data=True):
        assert data["coupling"] == model.couplings[s, t]


def test_what_json_cannot_hold():
    model = random_model(3, 0)
    nodes = strict(to_json(model, node_attributes={"a": [math.inf, -math.inf, math.nan]}))["nodes"]
    assert [node["a"] for node in nodes] == [None, None, None]


def test_the_certificate_travels_along():
    empty = Network(np.zeros(2), [], [])
    solution, hopeless = (
        Solution(empty, 0.1, kkt_residual=1e-9, converged=True),
        Solution(empty, 0.0, duality_gap=math.inf),
    )
    assert strict(to_json(hopeless))["graph"]["duality_gap"] is None
    assert strict(to_json(solution))["graph"] == {"alpha": 0.1, "kkt_residual": 1e-9, "converged": True}


def test_colors_and_places():
    model, positions = random_model(2, 0), [[0.25, -1.0], [1.0, 0.5]]
    options = {"node_attributes": {"side": ["u", None]}, "color_by": "side", "positions": positions}
    nodes = strict(to_json(model, **options))["nodes"]
    assert [[node["x"], node["y"]] for node in nodes] == positions
    assert nodes[0]["color"] != nodes[1]["color"]


def test_one_line_per_node_and_edge():
    model = random_model(4, 1)
    assert len(to_json(model).splitlines()) == 4 + model.n_edges + 5
