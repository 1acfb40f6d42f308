"""GraphML, in which the names of nodes are their ids."""

import io

import networkx
import numpy as np
import pytest
from commands import run, write_table
from hypothesis import assume, given
from hypothesis import strategies as st

from isinglass import Network, as_table
from isinglass.errors import DataError
from isinglass.export import write_network
from isinglass.export.escaping import xml_characters


def test_graphml_reads_back(tmp_path):
    names = ["tea & <milk>", "ünï 😀", "alone"]
    model = Network([0.5, 0.0, -1.0], [[0, 1]], [-1.5], names)
    write_network(model, tmp_path / "net.graphml", node_attributes={"cups": [3, None, 1]})
    graph = networkx.read_graphml(tmp_path / "net.graphml")
    assert list(graph.nodes) == names
    assert graph.edges[names[0], names[1]] == {"coupling": -1.5, "sign": -1, "weight": 1.5}
    assert graph.nodes["tea & <milk>"]["cups"] == 3
    assert "cups" not in graph.nodes[names[1]]


def read_back(names, **options):
    p = len(names)
    stream = io.StringIO()
    model = Network.from_couplings(np.ones((p, p)) - np.eye(p), np.zeros(p), names=names)
    write_network(model, stream, "graphml", **options)
    return networkx.read_graphml(io.BytesIO(stream.getvalue().encode()))


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["a\x07", "b"], ["a␇", "b"]),
        (["", " ", "\t", "a", " a ", "a\n", "a\r\n"], ["(no name)", " ", "\t", "a", " a ", "a\n", "a␍\n"]),
        (["=1+1", "a,b", '"', "<&>", "🙂", "n" * 10_000], ["=1+1", "a,b", '"', "<&>", "🙂", "n" * 10_000]),
    ],
)
def test_names_stay_different(names, shown):
    graph = read_back(names)
    assert list(graph.nodes) == shown
    assert graph.number_of_edges() == len(names) * (len(names) - 1) // 2


@pytest.mark.parametrize("names", [["a\x07", "a␇"], ["a\ud800", "a\ud801"]])
def test_names_that_would_become_equal_are_refused(names):
    with pytest.raises(DataError, match="names must differ in more than control characters"):
        read_back(names)


@given(st.lists(st.text(st.characters(exclude_categories=[])), min_size=1, max_size=6, unique=True))
def test_any_names_give_a_file_that_opens(names):
    written = [xml_characters(name) for name in names]
    assume(len({*written}) == len(names) and "(no name)" not in names)
    graph = read_back(names, node_attributes={"text": names})
    assert len(graph) == len(names)
    assert [len(data["text"]) for _, data in graph.nodes(data=True)] == [len(name) for name in names]


def test_values_of_every_kind_are_read_back():
    attributes = {"present": [True, False], "score": [float("inf"), None], "age": [2**40, -1], "party": ["", "D"]}
    nodes = read_back(["a", "b"], node_attributes=attributes).nodes
    assert nodes["a"] == {"field": 0.0, "degree": 1, "strength": 1.0, **{n: v[0] for n, v in attributes.items()}}
    assert "score" not in nodes["b"]
    assert nodes["b"]["present"] is False


def test_graphml_has_the_colors_of_groups(tmp_path):
    """Cytoscape maps the column `color` (docs/networks.md)."""
    model = Network([0.0, 0.0], [[0, 1]], [1.0], ["a", "b"])
    groups = {"node_attributes": {"party": ["R", "D"]}, "color_by": "party", "group_colors": {"R": "red", "D": "blue"}}
    write_network(model, tmp_path / "net.graphml", **groups)
    assert [node["color"] for _, node in networkx.read_graphml(tmp_path / "net.graphml").nodes(data=True)] == [
        *("#d55e00", "#0072b2")
    ]


def test_the_command_line_writes_graphml(tmp_path):
    run("fit", write_table(tmp_path / "table.csv"), "--alpha", "0.1", "-o", tmp_path / "fit")
    run("export", tmp_path / "fit", "-o", tmp_path / "net.graphml")
    assert networkx.read_graphml(tmp_path / "net.graphml").number_of_edges() > 0


def test_arrays_with_named_dimensions_are_refused():
    class DataArray:
        dims, coords = ("row", "column"), {}

        def __array__(self, dtype=None, copy=None):
            return np.eye(3)

    with pytest.raises(DataError, match=r"got DataArray, whose dimensions have names\. Pass X\.to_pandas\(\)"):
        as_table(DataArray())
