"""Centralities and communities against networkx on the same weights."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from isinglass import Network, bootstrap, metrics, simulate
from isinglass.errors import DataError
from isinglass.evaluate.centrality import BRIDGES, MEASURES, centrality


def draw(p, share, seed, unit=False):
    """Return a network with isolated nodes and several components now and then; unit weights have many ties."""
    rng = np.random.default_rng(seed)
    s, t = np.triu_indices(p, 1)
    kept = rng.random(len(s)) < share
    values = np.where(rng.random(kept.sum()) < 0.3, -1.0, 1.0) * (1.0 if unit else rng.uniform(0.1, 2, kept.sum()))
    return Network(np.zeros(p), np.column_stack([s, t])[kept], values)


def as_graph(network):
    graph = nx.Graph()
    graph.add_nodes_from(range(network.n_features))
    for (s, t), value in zip(network.edge_index.tolist(), network.edge_values.tolist(), strict=True):
        graph.add_edge(s, t, weight=abs(value), signed=value, length=1 / abs(value))
    return graph


@pytest.mark.parametrize(
    ("p", "share", "unit"),
    [(2, 1.0, False), (3, 1.0, True), (12, 0.15, False), (12, 0.4, True), (30, 0.1, True), (57, 0.2, False)],
)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_measures_equal_those_of_networkx(p, share, unit, seed):
    network = draw(p, share, seed, unit)
    graph = as_graph(network)
    found = centrality(network)
    wanted = {
        "strength": dict(graph.degree(weight="weight")),
        "expected_influence": dict(graph.degree(weight="signed")),
        "closeness": nx.closeness_centrality(graph, distance="length"),
        "betweenness": nx.betweenness_centrality(graph, weight="length"),
    }
    assert tuple(found) == ("name", *MEASURES)
    for name, values in wanted.items():
        np.testing.assert_allclose(found[name], [values[k] for k in range(p)], atol=1e-12, err_msg=name)


@pytest.mark.parametrize("weak", [1e-9, 1e-11, 1e-14])
def test_edges_of_very_different_lengths_have_one_direction(weak):
    """On a path, and on a triangle whose third edge is no shortest path, the middle is between the two ends."""
    path = np.array([[0, weak, 0], [weak, 0, 1], [0, 1, 0]])
    triangle = path + np.array([[0, 0, weak / 2], [0, 0, 0], [weak / 2, 0, 0]])
    for couplings in (path, triangle):
        network = Network.from_couplings(couplings, np.zeros(3))
        assert centrality(network)["betweenness"].tolist() == [0.0, 1.0, 0.0]


def test_bridges_are_sums_over_edges_to_other_communities():
    network = draw(12, 0.4, 3)
    labels = ["a"] * 5 + ["b"] * 5 + [None, None]
    found = centrality(network, labels)
    other = np.array([[a != b or a is None for b in labels] for a in labels])
    np.testing.assert_allclose(found["bridge_strength"], (np.abs(network.couplings) * other).sum(axis=1))
    np.testing.assert_allclose(found["bridge_expected_influence"], (network.couplings * other).sum(axis=1))
    shuffled = pd.Series(labels, index=network.names).sample(frac=1, random_state=0)
    np.testing.assert_array_equal(centrality(network, shuffled)["bridge_strength"], found["bridge_strength"])
    assert list(found) == ["name", "community", *MEASURES, *BRIDGES]
    once = centrality(network, iter(labels))
    np.testing.assert_array_equal(once["bridge_strength"], found["bridge_strength"])
    assert once["community"].tolist() == found["community"].tolist()


def test_a_network_without_edges_has_no_central_nodes():
    for name, values in list(centrality(Network([0.0, 0.0, 0.0], [], [])).items())[1:]:
        assert (values == 0).all(), name


def test_communities_are_those_of_networkx_and_reproducible():
    network = Network(np.zeros(40), *_blocks())
    first, second = (metrics.communities(network, random_state=4) for _ in range(2))
    assert (first == second).all()
    assert (first == np.repeat([0, 1, 2, 3], 10)).all()


def _blocks():
    rng = np.random.default_rng(0)
    s, t = np.triu_indices(40, 1)
    inside = s // 10 == t // 10
    kept = rng.random(len(s)) < np.where(inside, 0.7, 0.05)
    return np.column_stack([s, t])[kept], np.where(inside, 1.0, -0.5)[kept]


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_labels_of_communities_mean_the_same_everywhere(missing):
    """The number 1 and the text "1" are two communities, and every node without one is alone."""
    network = draw(6, 1.0, 3)
    labels = [1, "1", 1, "1", missing, missing]
    inside = np.abs(network.couplings[[0, 1, 2, 3], [2, 3, 0, 1]])
    strength = network.strength - np.r_[inside, 0.0, 0.0]
    by_name = dict(zip(network.names[3::-1], labels[3::-1], strict=True))
    for given in (labels, by_name):
        np.testing.assert_allclose(centrality(network, given)["bridge_strength"], strength)


def test_nodes_without_positive_edges_are_alone():
    found = metrics.communities(Network([0.0] * 3, [[0, 1]], [-1.0]))
    assert sorted(found) == [0, 1, 2]
    assert sorted(metrics.communities(Network([0.0] * 3, [[0, 1]], [-1.0]), positive_only=False)) == [0, 0, 1]


def test_stability_of_every_measure():
    X = simulate.exact_sample(simulate.chain_network(6, strength=2.0, fields="balanced"), 800, random_state=0)
    dropped = bootstrap(X, 0.02, n_boot=21, kind="case-drop", random_state=0)
    labels = list("aaabbb")
    for of in (*MEASURES, *BRIDGES):
        draws = dropped.node_draws(of, labels)
        slow = [centrality(_resampled(dropped, k), labels)[of] for k in range(21)]
        np.testing.assert_allclose(draws, slow, atol=1e-12)
        assert 0.0 <= dropped.cs_coefficient(of, communities=labels) <= 0.75
        assert dropped.nodes(of, iter(labels))[of] == pytest.approx(centrality(dropped.solution, labels)[of])


def _resampled(found, k):
    return Network(found.fields[k], found.edge_index, found.draws.toarray()[k], found.names)


def test_bad_arguments():
    network = draw(5, 1.0, 0)
    X = simulate.exact_sample(network, 50, random_state=0)
    found = bootstrap(X, 0.1, n_boot=10, kind="case-drop", random_state=0)
    with pytest.raises(DataError, match="of must be one of strength"):
        found.correlations("fame")
    with pytest.raises(DataError, match="communities must be given"):
        found.cs_coefficient("bridge_strength")
    with pytest.raises(DataError, match="resolution must be a positive number"):
        metrics.communities(network, resolution=0.0)
    with pytest.raises(DataError, match=r"communities must have one entry per node \(5\); got 2"):
        centrality(network, [0, 1])
