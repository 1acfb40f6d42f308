import sys

import networkx
import numpy as np
import pytest

from isinglass import Network
from isinglass.export import to_networkx


@pytest.fixture
def model():
    couplings = np.zeros((4, 4))
    couplings[0, 1] = couplings[1, 0] = -2.0
    couplings[1, 2] = couplings[2, 1] = 0.5
    return Network.from_couplings(couplings, [0.1, 0.2, 0.3, 0.4], names=["a", "b", "c", "alone"])


def test_networkx(model):
    graph = to_networkx(model)
    assert list(graph) == ["a", "b", "c", "alone"]
    assert dict(graph.degree()) == {name: data["degree"] for name, data in graph.nodes(data=True)}
    strengths = {name: data["strength"] for name, data in graph.nodes(data=True)}
    assert dict(graph.degree(weight="weight")) == pytest.approx(strengths)
    assert graph.edges["a", "b"] == {"coupling": -2.0, "sign": -1, "weight": 2.0}


def test_one_line_writes_graphml(model, tmp_path):
    networkx.write_graphml(to_networkx(model), tmp_path / "network.graphml")
    again = networkx.read_graphml(tmp_path / "network.graphml")
    assert again.edges["a", "b"] == {"coupling": -2.0, "sign": -1, "weight": 2.0}


def test_a_missing_package_is_named(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match=r"networkx is not installed\. Install it: pip install"):
        to_networkx(model)
