"""Pictures of networks with categories: edges without a sign are gray and say so, blocks are drawn."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex
from networks import make_network

from isinglass import Path, Solution
from isinglass.metrics import centrality
from isinglass.show import plot
from isinglass.show.palette import NEGATIVE, UNSIGNED
from isinglass.show.plot.drawing import node_values

mpl.use("Agg")
BLOCK = np.array([[1.0], [0.5], [-1.5]])


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def make(scale=1.0):
    return make_network(
        [[0, 0, 0], [0, 0, 0], [0, 0]],
        [None, [0, 1, 2], [0, 1]],
        [[0, 1], [1, 2]],
        names=["pet_$x", "mood", "rain"],
        categories=[["cat", "dog", "<none>"], [0, 1, 2], [0, 1]],
        blocks=[scale * BLOCK, [[-0.7]]],
    )


@pytest.fixture
def network():
    return make()


def test_edges_without_a_sign_are_gray_and_the_legend_says_so(network):
    ax = plot.network(network)
    lines = ax.collections[0]
    assert [to_hex(color) for color in lines.get_colors()] == [NEGATIVE, UNSIGNED]  # the weakest first
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["negative coupling", "no sign: norm of a table", "widest: |coupling| or norm 2.6"]
    assert len(plot.network(network, positive_only=True).collections[0].get_segments()) == 0


def test_a_path_has_norms(network):
    path = Path((Solution(make(0.5), 0.2), Solution(network, 0.1)), tol=1e-7)
    ax = plot.path(path)
    assert [to_hex(color) for color in ax.collections[0].get_colors()] == [UNSIGNED, NEGATIVE]
    norm = np.sqrt(2) * np.linalg.norm(BLOCK)
    np.testing.assert_allclose(ax.collections[0].get_segments()[0][:, 1], [norm / 2, norm])
    assert ax.get_ylabel() == "coupling, or norm (gray)"


def test_measures_take_norms(network):
    found = centrality(network, ["a", "b", "a"])
    norm = np.sqrt(2) * np.linalg.norm(BLOCK)
    np.testing.assert_allclose(found["strength"], [norm, norm + 0.7, 0.7])
    np.testing.assert_allclose(found["expected_influence"], [np.nan, -0.7, -0.7])
    np.testing.assert_allclose(found["bridge_strength"], [norm, norm + 0.7, 0.7])
    np.testing.assert_allclose(found["bridge_expected_influence"], [np.nan, -0.7, -0.7])
    np.testing.assert_allclose(centrality(network, ["a", "b", "b"])["bridge_expected_influence"], [np.nan, np.nan, 0])
    (ax,) = plot.centrality(network, of="expected_influence")
    assert next(label.get_text() for label in ax.get_yticklabels()) == "pet_$x"  # without a point, below the others
    np.testing.assert_allclose(ax.lines[0].get_xdata(), [np.nan, -0.7, -0.7])
    assert len(plot.centrality(network)) == 4


def test_a_node_without_a_measure_is_drawn_as_the_smallest(network):
    np.testing.assert_allclose(node_values("expected_influence", network, "sizes"), [-0.7, -0.7, -0.7])
    nodes = plot.network(network, sizes="expected_influence").collections[1]
    assert len(set(nodes.get_sizes())) == 1
