"""GraphML, written by networkx."""

import networkx
import numpy as np
import pytest
from commands import run, write_table

from isinglass import Network, as_table
from isinglass.errors import DataError
from isinglass.export import write_network


def test_graphml_reads_back(tmp_path):
    names = ["tea & <milk>", "ünï 😀", "alone"]
    model = Network([0.5, 0.0, -1.0], [[0, 1]], [-1.5], names)
    write_network(model, tmp_path / "net.graphml", node_attributes={"cups": [3, None, 1]})
    graph = networkx.read_graphml(tmp_path / "net.graphml")
    assert list(graph.nodes) == names
    assert graph.edges[names[0], names[1]] == {"coupling": -1.5, "sign": -1, "weight": 1.5}
    assert graph.nodes["tea & <milk>"]["cups"] == 3
    assert "cups" not in graph.nodes[names[1]]


def test_graphml_has_pictures_of_control_characters(tmp_path):
    write_network(Network([0.0, 0.0], [[0, 1]], [1.0], ["a\x07", "b"]), tmp_path / "net.graphml")
    assert list(networkx.read_graphml(tmp_path / "net.graphml").nodes) == ["a\u2407", "b"]


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

    with pytest.raises(DataError, match=r"got DataArray of .*, whose dimensions have names. Pass X.to_pandas\(\)"):
        as_table(DataArray())
