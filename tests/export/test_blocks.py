"""Networks whose columns have categories: edges without a sign, blocks, kinds and labels in every format."""

import csv
import io
import json
from xml.etree import ElementTree

import networkx
import numpy as np
import pytest
from networks import make_network

from isinglass import Network
from isinglass.errors import DataError
from isinglass.export import to_networkx, write_network
from isinglass.show.palette import SIGNS
from isinglass.variables import Variables

LABELS = (("a, b", '<b>"x"</b>', "=1+1"), ("never", "some", "often"), (0, 1), ("p", "q", "r", "s"))
BLOCKS = {
    (0, 1): [[1.0], [0.0], [-1.0]],
    (0, 3): [[3.0, -1.0, -1.0, -1.0], [-3.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]],
    (1, 2): [[-0.25]],
}


@pytest.fixture
def network():
    fields = [[0, 0.1, 0.2], [0, -1, 1], [0, 0.5], [0, 0, 0, 0]]
    scores = [None, [0, 1, 3], [0, 1], None]
    return make_network(
        fields,
        scores,
        list(BLOCKS),
        names=["pet", "mood & sleep", "rain", "route"],
        categories=LABELS,
        blocks=list(BLOCKS.values()),
    )


def rows(format, network, **options):
    stream = io.StringIO(newline="")
    write_network(network, stream, format, **options)
    return list(csv.reader(io.StringIO(stream.getvalue(), newline=""), strict=True))


def test_edges_have_a_sign_where_they_have_one_number(network):
    table = network.edges()
    assert table["sign"].tolist() == [0, 0, -1]
    norms = [2 * np.linalg.norm(BLOCKS[0, 3]), np.sqrt(2) * np.linalg.norm(BLOCKS[0, 1]), 0.25]
    np.testing.assert_allclose(table["weight"], norms)
    np.testing.assert_allclose(table["coupling"], [*norms[:2], -0.25])
    assert [row[3] for row in rows("edges", network)] == ["sign", "0", "0", "-1"]


def test_a_table_for_print_tells_norms_from_couplings(network, tmp_path):
    write_network(network, tmp_path / "edges.md", format="edges")
    head, _, *lines = (tmp_path / "edges.md").read_text(encoding="utf-8").splitlines()
    assert head == "| Node | Neighbor | Edge weight | Sign |"
    assert [line.split(" | ")[3] for line in lines] == ["0 |", "0 |", "−1 |"]
    write_network(network, tmp_path / "blocks.md", format="blocks")
    head = (tmp_path / "blocks.md").read_text(encoding="utf-8").partition("\n")[0]
    assert head == "| Node | Neighbor | Node category | Neighbor category | Edge weight |"


def test_blocks_hold_every_two_categories_of_every_edge(network):
    header, *lines = rows("blocks", network)
    assert header == ["source", "target", "source_category", "target_category", "coupling"]
    names, labels = network.names, [[str(label) for label in column] for column in LABELS]
    expected = {}
    for (s, t), block in BLOCKS.items():
        for a, line in enumerate(block):
            for b, coupling in enumerate(line):
                categories = [labels[node][k] if node in (0, 3) else "" for node, k in ((s, a), (t, b))]
                expected[names[s], names[t], *categories] = coupling
    assert len(lines) == len(expected) == 3 + 12 + 1
    assert {tuple(line[:4]): float(line[4]) for line in lines} == expected


def test_blocks_of_a_binary_network_are_its_couplings():
    lines = rows("blocks", Network([0, 0], [[0, 1]], [1.5], names=["rain", "wind"]))
    assert lines[1:] == [["rain", "wind", "", "", "1.5"]]


def test_nodes_have_kinds_and_categories_and_no_field(network):
    header, *lines = rows("nodes", network)
    assert header == ["name", "kind", "categories", "degree", "strength"]
    assert [line[1] for line in lines] == ["nominal", "ordinal", "binary", "nominal"]
    assert lines[1][2] == "never | some | often"


def test_gexf_has_kinds_and_gray_edges(network):
    stream = io.StringIO()
    write_network(network, stream, "gexf")
    root = ElementTree.fromstring(stream.getvalue())
    space = {"g": "http://www.gexf.net/1.2draft", "v": "http://www.gexf.net/1.2draft/viz"}
    colors = [
        "#" + "".join(f"{int(color.get(part)):02x}" for part in "rgb")
        for color in root.iterfind(".//g:edge/v:color", space)
    ]
    assert colors == [SIGNS[0], SIGNS[0], SIGNS[-1]]
    assert float(root.find(".//g:edge", space).get("weight")) == pytest.approx(2 * np.linalg.norm(BLOCKS[0, 3]))
    graph = networkx.read_gexf(io.BytesIO(stream.getvalue().encode()))
    kinds = {data["label"]: data["kind"] for _, data in graph.nodes(data=True)}
    assert kinds == dict(zip(network.names, network.kinds, strict=True))
    assert {data["categories"] for _, data in graph.nodes(data=True)} >= {" | ".join(LABELS[0])}


def test_json_holds_the_whole_network(network):
    stream = io.StringIO()
    write_network(network, stream, "json")
    found = json.loads(stream.getvalue())
    nodes, edges = found["nodes"], found["edges"]
    blocks = {(edge["source"], edge["target"]): edge.get("block", [[edge["coupling"]]]) for edge in edges}
    again = make_network(
        [node["fields"] for node in nodes],
        [node["scores"] for node in nodes],
        list(blocks),
        names=[node["name"] for node in nodes],
        categories=[LABELS[2] if k == 2 else node["categories"] for k, node in enumerate(nodes)],
        blocks=list(blocks.values()),
    )
    assert again == network
    assert nodes[2]["categories"] == ["0", "1"]


def test_networkx_takes_kinds_and_writes_graphml(network, tmp_path):
    graph = to_networkx(network)
    assert graph.nodes["pet"]["kind"] == "nominal"
    assert graph.edges["pet", "route"]["sign"] == 0
    networkx.write_graphml(graph, tmp_path / "network.graphml")
    assert networkx.read_graphml(tmp_path / "network.graphml").nodes["rain"]["kind"] == "binary"


@pytest.mark.parametrize("name", ["kind", "Categories", "fields"])
def test_names_that_the_files_use_are_refused(network, name):
    with pytest.raises(DataError, match="cannot be called"):
        write_network(network, io.StringIO(), "nodes", node_attributes={name: range(4)})
    rows("nodes", Network([0.0], [], []), node_attributes={name: [1]})  # of 0/1 columns they are free


def test_json_has_no_text_for_a_category_without_a_value():
    variables = Variables(("a", "b"), ("binary", "ordinal"), (("yes", None), (1, 2, 3)), ((0.0, 1.0), (0.0, 1.0, 2.0)))
    stream = io.StringIO()
    write_network(Network(np.zeros(3), [], [], variables=variables), stream, "json")
    assert [node["categories"] for node in json.loads(stream.getvalue())["nodes"]] == [["yes", None], ["1", "2", "3"]]
