"""The layout draws what is connected together, and never breaks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform

from isinglass import ising_path
from isinglass.datasets import load_senate109
from isinglass.errors import DataError
from isinglass.show import layout
from isinglass.show.layout import force_layout


def clique(first: int, size: int) -> list[list[int]]:
    return [[first + a, first + b] for a in range(size) for b in range(a)]


def random_edges(n_nodes: int, n_edges: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    pairs = np.column_stack(np.triu_indices(n_nodes, 1))
    return pairs[rng.choice(len(pairs), n_edges, replace=False)]


@st.composite
def graphs(draw):
    n_nodes = draw(st.integers(1, 25))
    node = st.integers(0, n_nodes - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=60))
    weight = st.floats(-1e300, 1e300, allow_nan=False)
    return n_nodes, edges, draw(st.lists(weight, min_size=len(edges), max_size=len(edges)))


@given(graphs())
def test_positions_are_finite_bounded_centered_and_distinct(graph):
    n_nodes, edges, weights = graph
    xy = force_layout(n_nodes, edges, weights)
    assert xy.shape == (n_nodes, 2)
    assert xy.dtype == np.float64
    assert np.isfinite(xy).all()
    np.testing.assert_allclose(xy.min(axis=0), -xy.max(axis=0), atol=1e-12)
    assert np.abs(xy).max() == (1.0 if n_nodes > 1 else 0.0)
    assert n_nodes == 1 or pdist(xy).min() > 1e-4


def test_no_nodes():
    assert force_layout(0, []).shape == (0, 2)


def test_a_seed_decides_everything():
    edges = random_edges(30, 60)
    np.testing.assert_array_equal(force_layout(30, edges), force_layout(30, edges, random_state=0))
    assert not np.array_equal(force_layout(30, edges), force_layout(30, edges, random_state=1))


def test_a_common_factor_and_the_order_of_a_pair_do_not_matter():
    edges = random_edges(20, 40)
    weights = np.random.default_rng(1).random(40) + 0.1
    xy = force_layout(20, edges, weights)
    np.testing.assert_array_equal(force_layout(20, edges[:, ::-1], weights), xy)
    np.testing.assert_array_equal(force_layout(20, edges, 1024.0 * weights), xy)


@pytest.mark.parametrize("n_nodes", [60, layout.REPELLING + 1000])
def test_connected_nodes_are_nearer(n_nodes):
    edges = random_edges(n_nodes, 2 * n_nodes)
    xy = force_layout(n_nodes, edges)
    joined = np.linalg.norm(xy[edges[:, 0]] - xy[edges[:, 1]], axis=1)
    assert joined.mean() < 0.7 * pdist(xy).mean()


def test_the_stronger_edge_is_shorter():
    ring = [[k, (k + 1) % 12] for k in range(12)]
    xy = force_layout(12, ring, [20.0] + 11 * [1.0])
    lengths = [np.linalg.norm(xy[a] - xy[b]) for a, b in ring]
    assert np.argmin(lengths) == 0


def test_two_cliques_with_a_bridge_stand_apart():
    xy = force_layout(20, [*clique(0, 10), *clique(10, 10), [9, 10]])
    distances = squareform(pdist(xy))
    assert distances[:10, :10].max() < distances[:9, 11:].min()


def boxes_overlap(a: np.ndarray, b: np.ndarray) -> bool:
    return bool(((a.min(axis=0) <= b.max(axis=0)) & (b.min(axis=0) <= a.max(axis=0))).all())


def test_components_and_isolated_nodes_have_places_of_their_own():
    parts = [range(12), range(12, 20), range(20, 22), range(22, 40)]  # the last are isolated
    edges = [*clique(0, 12), *clique(12, 8), [20, 21]]
    xy = force_layout(40, edges)
    places = [xy[list(part)] for part in parts]
    assert not any(boxes_overlap(places[a], places[b]) for a in range(4) for b in range(a))
    isolated = places[-1]
    assert isolated[:, 1].max() < min(place[:, 1].min() for place in places[:-1])
    # In rows: equal heights, equal steps.
    for height in np.unique(isolated[:, 1].round(9)):
        steps = np.diff(np.sort(isolated[isolated[:, 1].round(9) == height, 0]))
        np.testing.assert_allclose(steps, steps[:1].repeat(len(steps)))


def test_weights_that_are_not_positive_do_not_attract():
    edges, weights = [[0, 1], [1, 2], [3, 4]], [1.0, 1.0, -1.0]
    np.testing.assert_array_equal(force_layout(5, edges, weights), force_layout(5, edges[:2]))
    np.testing.assert_array_equal(force_layout(5, [*edges, [2, 2]], [1.0, 1.0, 0.0, 5.0]), force_layout(5, edges[:2]))


def test_a_sample_repels_about_as_all_nodes_do():
    rng = np.random.default_rng(0)
    xy, mass = rng.normal(size=(2000, 2)), 1.0 + rng.random(2000)
    samples = [layout._repel(xy, mass, rng)[0] for _ in range(20)]
    gap = xy[:, None] - xy
    stiff = mass[:, None] * mass * ((gap**2).sum(axis=2) + 1e-9) ** -1.5
    np.fill_diagonal(stiff, 0.0)
    exact, mean = (stiff[:, :, None] * gap).sum(axis=1), np.mean(samples, axis=0)
    cosine = (exact * mean).sum(axis=1) / np.linalg.norm(exact, axis=1) / np.linalg.norm(mean, axis=1)
    assert np.median(cosine) > 0.9


def test_senate_splits_into_parties_with_chafee_and_ben_nelson_between():
    senate = load_senate109()
    network = ising_path(senate.X, alphas=[0.06])[0]
    positive = network.edge_values > 0
    xy = force_layout(100, network.edge_index[positive], network.edge_values[positive])
    party = np.array(senate.parties)
    centers = {name: np.median(xy[party == name], axis=0) for name in "RD"}
    axis = centers["D"] - centers["R"]
    share = (xy - centers["R"]) @ axis / (axis @ axis)  # 0 at the Republicans' center, 1 at the Democrats'
    chafee = next(k for k, name in enumerate(senate.names) if name.startswith("CHAFEE"))
    nelson = next(k for k, name in enumerate(senate.names) if name.startswith("NELSON") and senate.states[k] == "NE")
    between = np.isin(np.arange(100), [chafee, nelson])
    assert share[(party == "R") & ~between].max() < share[(party == "D") & ~between].min()
    assert share[chafee] == share[party == "R"].max()
    assert share[nelson] == share[party == "D"].min()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, []), "n_nodes must be"),
        ((2, [[0, 2]]), r"edge_index must name nodes from 0 to 1; got \[0, 2\]"),
        ((2, [[-1, 1]]), "edge_index must name nodes"),
        ((2, [0, 1]), r"edge_index must be integers of shape \(n_pairs, 2\)"),
        ((2, [[0.0, 1.0]]), "edge_index must be integers"),
        ((2, [[0, 1]], [1.0, 2.0]), r"edge_weights must have the shape \(1,\); got \(2,\)"),
        ((2, [[0, 1]], [np.nan]), "edge_weights must be finite"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    with pytest.raises(DataError, match=message):
        force_layout(*arguments)


def test_bad_options_are_refused():
    with pytest.raises(DataError, match="random_state must be"):
        force_layout(2, [[0, 1]], random_state="seed")
