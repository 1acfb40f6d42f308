import io
from xml.etree import ElementTree

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isinglass import Network
from isinglass.datasets import load_senate109
from isinglass.export import write_network
from isinglass.show.palette import NEGATIVE, POSITIVE, channels
from isinglass.solve.path import ising_path

NAMES = ['say "no"', "</script><script>alert(1)</script>", "", "R&D", "🙂", "\x00\x1b\ufffe", "a\tb\r\nc", "n" * 10_000]
VIZ = "{http://www.gexf.net/1.2draft/viz}"


@pytest.fixture
def model():
    rng = np.random.default_rng(0)
    upper = np.triu(rng.normal(size=(8, 8)) * (rng.random((8, 8)) < 0.6), 1)
    return Network.from_couplings(upper + upper.T, rng.normal(size=8), names=NAMES)


def written(model, **options):
    stream = io.StringIO()
    write_network(model, stream, "gexf", **options)
    return stream.getvalue()


def read(text):
    return networkx.read_gexf(io.BytesIO(text.encode()))


def test_networkx_reads_everything(model):
    attributes = {
        "party": ["R", "D", None, "I", "", "R", "D", "R"],
        "age": [50, 2**40, None, 1, 2, 3, 4, 5],
        "score": [0.5, None, float("inf"), 1.0, 2.0, 3.0, 4.0, 5.0],
        "present": [True, False, None, True, True, True, True, True],
    }
    frequency = model.edges()["weight"] / 9
    graph = read(written(model, node_attributes=attributes, edge_attributes={"stability": frequency}))
    assert not graph.is_directed()
    assert list(graph) == [f"n{k}" for k in range(8)]
    for k, (name, data) in enumerate(graph.nodes(data=True)):
        assert name == f"n{k}"
        assert data["field"] == model.fields[k]
        assert data["degree"] == (model.couplings[k] != 0).sum()
        assert data["strength"] == pytest.approx(np.abs(model.couplings[k]).sum())
        for attribute, values in attributes.items():
            if values[k] is None:
                assert attribute not in data
            else:
                assert data[attribute] == values[k]
                assert type(data[attribute]) is type(values[k])
    assert graph.number_of_edges() == model.n_edges
    for one, two, data in graph.edges(data=True):
        s, t = int(one[1:]), int(two[1:])
        assert data["coupling"] == model.couplings[s, t]
        assert data["weight"] == abs(model.couplings[s, t])
        assert data["sign"] == np.sign(model.couplings[s, t])
        assert data["color"] == (POSITIVE if model.couplings[s, t] > 0 else NEGATIVE)
        assert data["stability"] == data["weight"] / 9


def test_labels_are_the_names(model):
    labels = [data["label"] for _, data in read(written(model)).nodes(data=True)]
    assert labels[5] == "␀␛\ufffd"  # XML has no such characters
    assert labels[6] == NAMES[6].replace("\r", "␍")
    assert [*labels[:5], *labels[7:]] == [*NAMES[:5], *NAMES[7:]]


@given(st.lists(st.text(st.characters(exclude_categories=[])), min_size=1, max_size=6, unique=True))
def test_any_names_give_a_file_that_opens(names):
    p = len(names)
    model = Network.from_couplings(np.ones((p, p)) - np.eye(p), np.zeros(p), names=names)
    graph = read(written(model, node_attributes={"text": names}))
    assert graph.number_of_nodes() == p
    assert graph.number_of_edges() == p * (p - 1) // 2
    assert all(data["text"] == data["label"] for _, data in graph.nodes(data=True))


def test_colors_and_places(model):
    positions = np.random.default_rng(1).normal(size=(8, 2))
    parties = ["R", "D"] * 4
    text = written(
        model,
        node_attributes={"party": parties},
        color_by="party",
        group_colors={"R": "red", "D": "blue"},
        positions=positions,
    )
    for k, (_, data) in enumerate(read(text).nodes(data=True)):
        color = {"R": "#d55e00", "D": "#0072b2"}[parties[k]]
        assert data["color"] == color
        assert tuple(data["viz"]["color"][c] for c in "rgb") == channels(color)
        np.testing.assert_allclose([data["viz"]["position"][axis] for axis in "xy"], 1000 * positions[k])
    edges = [element for element in ElementTree.fromstring(text).iter() if element.tag.endswith("}edge")]
    shown = [tuple(int(edge.find(f"{VIZ}color").get(c)) for c in "rgb") for edge in edges]
    couplings = model.edges()["coupling"].tolist()
    assert shown == [channels(POSITIVE if coupling > 0 else NEGATIVE) for coupling in couplings]


def test_weights_are_never_negative(model):
    root = ElementTree.fromstring(written(model))
    weights = [float(edge.get("weight")) for edge in root.iter() if edge.tag.endswith("}edge")]
    assert min(weights) > 0
    assert model.edges()["coupling"].min() < 0


@pytest.mark.parametrize("p", [1, 2])
def test_networks_without_edges(p):
    graph = read(written(Network.from_couplings(np.zeros((p, p)), np.zeros(p))))
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (p, 0)


def test_the_senate(tmp_path):
    senate = load_senate109()
    network = ising_path(senate.X, alphas=[0.06])[0].network.with_names(senate.names)
    attributes = {"party": senate.parties, "state": senate.states}
    for name in ("one.gexf", "two.gexf"):
        write_network(network, tmp_path / name, node_attributes=attributes, color_by="party")
    assert (tmp_path / "one.gexf").read_bytes() == (tmp_path / "two.gexf").read_bytes()
    graph = networkx.read_gexf(tmp_path / "one.gexf", relabel=True)
    assert set(graph) == set(senate.names)
    assert graph.number_of_edges() == network.n_edges
    assert graph.nodes["NELSON (D NE)"]["state"] == "NE"
