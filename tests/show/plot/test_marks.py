import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from isinglass.show.plot.labels import boxes_at, place_labels

NO_EDGES = np.empty((0, 2))


def overlap(one, two):
    """Tell whether two boxes have an area in common, written out."""
    return one[0] < two[2] and two[0] < one[2] and one[1] < two[3] and two[1] < one[3]


def random_problem(n, seed, spread):
    rng = np.random.default_rng(seed)
    return rng.normal(scale=spread, size=(n, 2)), rng.uniform([10, 6], [80, 12], size=(n, 2)), rng.uniform(2, 5, size=n)


@given(st.integers(0, 40), st.integers(0, 1000), st.sampled_from([1.0, 30.0, 300.0]))
def test_labels_never_overlap_and_stay_inside(n, seed, spread):
    anchors, sizes, radii = random_problem(n, seed, spread)
    bounds = (-300.0, -300.0, 300.0, 300.0)
    centers, placed = place_labels(anchors, sizes, radii, bounds, order=np.arange(n), edges=NO_EDGES)
    boxes = boxes_at(centers, sizes)[placed]
    for k, one in enumerate(boxes):
        assert not any(overlap(one, two) for two in boxes[:k])
        assert np.abs(one).max() <= 300


@given(st.integers(1, 30), st.integers(0, 1000))
def test_a_label_stands_outside_its_node(n, seed):
    anchors, sizes, radii = random_problem(n, seed, 200.0)
    centers, placed = place_labels(anchors, sizes, radii, (-1e4, -1e4, 1e4, 1e4), order=np.arange(n), edges=NO_EDGES)
    assert placed.all()
    for box, anchor, radius in zip(boxes_at(centers, sizes), anchors, radii, strict=True):
        assert not overlap(box, [*(anchor - 0.999 * radius), *(anchor + 0.999 * radius)])


def test_lonely_labels_touch_their_nodes():
    anchors, sizes, radii = np.array([[0.0, 0.0], [500.0, 0.0]]), np.full((2, 2), [40.0, 8.0]), np.full(2, 3.0)
    centers, _ = place_labels(anchors, sizes, radii, (-1e4, -1e4, 1e4, 1e4), order=np.arange(2), edges=NO_EDGES)
    gaps = np.abs(centers - anchors) - sizes / 2 - radii[:, None]
    np.testing.assert_allclose(gaps.max(axis=1), 0.0, atol=1e-9)


def test_other_nodes_are_not_covered_where_there_is_room():
    anchors = np.array([[0.0, 0.0], [12.0, 0.0]])  # the second one is where a label on the right would be
    sizes, radii = np.array([[20.0, 8.0], [20.0, 8.0]]), np.full(2, 3.0)
    centers, _ = place_labels(anchors, sizes, radii, (-1e3, -1e3, 1e3, 1e3), order=np.arange(2), edges=NO_EDGES)
    for box in boxes_at(centers, sizes):
        assert not any(overlap(box, [*(anchor - 2.9), *(anchor + 2.9)]) for anchor in anchors)


def test_a_label_does_not_stand_between_two_nodes():
    anchors = np.array([[0.0, 0.0], [70.0, 0.0], [-400.0, 0.0]])  # away from the middle of them is to the right
    sizes, radii = np.full((3, 2), [60.0, 8.0]), np.full(3, 3.0)
    centers, _ = place_labels(anchors, sizes, radii, (-1e3, -1e3, 1e3, 1e3), order=np.arange(3), edges=NO_EDGES)
    own = boxes_at(centers, sizes)[0]
    own_gap, other_gap = (np.maximum(own[:2] - node, node - own[2:]).max() for node in anchors[:2])
    assert own_gap == 3.0
    assert other_gap > 6.0


def test_the_last_in_order_go_without():
    n = 60
    anchors, sizes, radii = np.zeros((n, 2)), np.full((n, 2), [60.0, 10.0]), np.full(n, 3.0)
    order = np.arange(n)[::-1]
    _, placed = place_labels(anchors, sizes, radii, (-100.0, -40.0, 100.0, 40.0), order=order, edges=NO_EDGES)
    assert 0 < placed.sum() < n
    assert placed[order[: placed.sum()]].all()


def test_the_same_every_time():
    problem = random_problem(40, 0, 60.0)
    one, two = (
        place_labels(*problem, (-300.0, -300.0, 300.0, 300.0), order=np.arange(40), edges=NO_EDGES) for _ in range(2)
    )
    np.testing.assert_array_equal(one[0], two[0])
