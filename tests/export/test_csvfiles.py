import csv
import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isinglass import Network
from isinglass.export import write_network

NAMES = ['say "no"', "a, b", "", " padded ", "line\r\nbreak", "🙂 <b>&amp;</b>", "=1+1", "n" * 10_000]


def written(format, model, **options):
    stream = io.StringIO(newline="")
    write_network(model, stream, format, **options)
    return stream.getvalue()


def rows(text):
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


@pytest.fixture
def model():
    rng = np.random.default_rng(0)
    upper = np.triu(rng.normal(size=(8, 8)) * (rng.random((8, 8)) < 0.6), 1)
    return Network.from_couplings(upper + upper.T, rng.normal(size=8), names=NAMES)


def test_edges_are_read_back(model):
    header, *found = rows(written("edges", model))
    assert header == ["source", "target", "coupling", "sign", "weight"]
    table = model.edges()
    expected = list(zip(table["source"], table["target"], table["coupling"], strict=True))
    assert [(s, t, float(c)) for s, t, c, *_ in found] == expected
    for _, _, coupling, sign, weight in found:
        assert float(weight) == abs(float(coupling))
        assert sign == ("1" if float(coupling) > 0 else "-1")


def test_pandas_reads_the_same_edges(model, tmp_path):
    write_network(model, tmp_path / "edges.csv")
    frame = pd.read_csv(tmp_path / "edges.csv", keep_default_na=False)
    pd.testing.assert_frame_equal(frame, pd.DataFrame(model.edges()))


def test_attributes_follow_their_edges(model):
    place = {name: k for k, name in enumerate(NAMES)}
    table = pd.DataFrame(model.edges())
    products = table["source"].map(place) * table["target"].map(place)
    attributes = pd.DataFrame({"stability": table["weight"] / 10, "product": products})
    header, *found = rows(written("edges", model, edge_attributes=attributes))
    assert header[-2:] == ["stability", "product"]
    for source, target, _, _, weight, share, product in found:
        assert float(share) == pytest.approx(float(weight) / 10)
        assert int(product) == place[source] * place[target]


def test_nodes_in_order_with_attributes(model):
    attributes = {"party": ["R", None, "D"] + ["I"] * 5, "young": [True] * 8}
    header, *found = rows(written("nodes", model, node_attributes=attributes))
    assert header == ["name", "field", "degree", "strength", "party", "young"]
    assert [row[0] for row in found] == NAMES
    assert [float(row[1]) for row in found] == model.fields.tolist()
    assert [int(row[2]) for row in found] == (model.couplings != 0).sum(axis=1).tolist()
    assert [row[4] for row in found[:3]] == ["R", "", "D"]
    assert {row[5] for row in found} == {"true"}


@given(st.integers(1, 7), st.integers(0, 50))
def test_matrix_is_read_back(p, seed):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.normal(size=(p, p)) * (rng.random((p, p)) < 0.5), 1)
    model = Network.from_couplings(upper + upper.T, rng.normal(size=p), names=NAMES[:p])
    header, *found = rows(written("matrix", model))
    assert header == ["", *model.names] == ["", *(row[0] for row in found)]
    matrix = np.array([row[1:] for row in found], dtype=float)
    assert Network.from_couplings(matrix, model.fields, model.names) == model


def test_an_empty_network_has_a_header():
    model = Network.from_couplings([[0.0]], [0.0])
    assert written("edges", model) == "source,target,coupling,sign,weight\n"
    assert written("matrix", model) == '"",x0\nx0,0.0\n'


def test_bytes_are_the_same_every_time(model, tmp_path):
    for name in ("one", "two"):
        write_network(model, tmp_path / name, "edges")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert b"\r\n" not in (tmp_path / "one").read_bytes().replace(b"line\r\nbreak", b"")
