import io

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isinglass import IsingModel
from isinglass.export import write_graphml
from isinglass.show.palette import NEGATIVE, POSITIVE, channels

NAMES = ['say "no"', "</data><script>", "", "R&D", "🙂", "\x00\x1b\ufffe", " a\tb\r\nc ", "n" * 10_000]


@pytest.fixture
def model():
    rng = np.random.default_rng(0)
    upper = np.triu(rng.normal(size=(8, 8)) * (rng.random((8, 8)) < 0.6), 1)
    return IsingModel(upper + upper.T, rng.normal(size=8), names=NAMES)


def written(model, **options):
    stream = io.StringIO()
    write_graphml(model, stream, **options)
    return stream.getvalue()


def read(text):
    return networkx.parse_graphml(text)


def test_networkx_reads_everything(model):
    attributes = {
        "party": ["R", "D", None, "I", "", "R", "D", "R"],
        "age": [50, 2**40, None, 1, 2, 3, 4, 5],
        "seats": [1, 2, 3, 4, 5, 6, 7, 8],
        "score": [0.5, None, float("-inf"), 1.0, 2.0, 3.0, 4.0, 5.0],
        "present": [True, False, None, True, True, True, True, True],
    }
    frequency = np.abs(model.couplings) / 9
    text = written(model, node_attributes=attributes, edge_attributes={"stability": frequency})
    graph = read(text)
    assert not graph.is_directed()
    for k, data in enumerate(graph.nodes[f"n{k}"] for k in range(8)):
        assert data["field"] == model.fields[k]
        assert data["degree"] == (model.couplings[k] != 0).sum()
        for attribute, values in attributes.items():
            if values[k] is None:
                assert attribute not in data
            else:
                assert data[attribute] == values[k]
                assert type(data[attribute]) is type(values[k])
    assert graph.number_of_edges() == model.n_edges
    for one, two, data in graph.edges(data=True):
        coupling = model.couplings[int(one[1:]), int(two[1:])]
        assert data["coupling"] == coupling
        assert data["weight"] == abs(coupling)
        assert data["sign"] == np.sign(coupling)
        color = POSITIVE if coupling > 0 else NEGATIVE
        assert data["color"] == color
        assert tuple(data[c] for c in "rgb") == channels(color)
        assert data["stability"] == frequency[int(one[1:]), int(two[1:])]
    assert 'attr.name="age" attr.type="long"' in text  # more than 32 bits
    assert 'attr.name="seats" attr.type="int"' in text


def test_name_and_label_are_the_names(model):
    graph = read(written(model))
    names = [graph.nodes[f"n{k}"]["name"] for k in range(8)]
    assert names == [graph.nodes[f"n{k}"]["label"] for k in range(8)]
    assert names[5] == "␀␛\ufffd"  # XML has no such characters
    assert [*names[:5], *names[6:]] == [*NAMES[:5], *NAMES[6:]]


@given(st.lists(st.text(st.characters(exclude_categories=[])), min_size=1, max_size=6, unique=True))
def test_any_names_give_a_file_that_opens(names):
    p = len(names)
    model = IsingModel(np.ones((p, p)) - np.eye(p), np.zeros(p), names=names)
    graph = read(written(model, node_attributes={"text": names}))
    assert graph.number_of_nodes() == p
    assert graph.number_of_edges() == p * (p - 1) // 2
    assert all(data["text"] == data["label"] for _, data in graph.nodes(data=True))


def test_colors_and_places(model):
    positions = np.random.default_rng(1).normal(size=(8, 2))
    graph = read(written(model, node_attributes={"side": ["u", "v"] * 4}, color_by="side", positions=positions))
    for k in range(8):
        data = graph.nodes[f"n{k}"]
        assert tuple(data[c] for c in "rgb") == channels(data["color"])
        np.testing.assert_allclose([data["x"], data["y"]], 1000 * positions[k])
    assert len({data["color"] for _, data in graph.nodes(data=True)}) == 2


def test_no_key_is_one_that_gephi_takes_for_a_label(model):
    many = {f"a{k}": range(8) for k in range(20)}
    text = written(model, node_attributes=many)
    assert 'id="d3"' not in text
    assert 'id="d7"' not in text


@pytest.mark.parametrize("p", [1, 2])
def test_networks_without_edges(p):
    graph = read(written(IsingModel(np.zeros((p, p)), np.zeros(p))))
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (p, 0)
