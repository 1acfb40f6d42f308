"""Rows and fields of cells, drawn from one table: bars, intervals, how often edges occur, which of them differ."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex

from isinglass import Network, bootstrap, simulate, stars
from isinglass.errors import DataError
from isinglass.evaluate import metrics
from isinglass.show.palette import NEGATIVE, NEUTRAL, POSITIVE
from isinglass.show.plot import (
    bootstrap_differences,
    bootstrap_intervals,
    edge_frequencies,
    heat,
    node_strength,
    predictability,
    rows,
)

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def table():
    model = simulate.random_network(10, 0.3, random_state=0)
    return simulate.gibbs_sample(model, 200, random_state=0)


@pytest.fixture(scope="module")
def stability(table):
    return stars(table, alphas=8, n_subsamples=6, random_state=0, progress=False)


@pytest.fixture(scope="module")
def resamples(table):
    return bootstrap(table, 0.08, n_boot=90, random_state=0)


def words(labels):
    return [label.get_text() for label in labels]


# ------------------------------------------------------------------------------------------- heat map


def test_frequencies_are_shown_in_any_order(stability):
    shares = stability.frequencies()
    np.testing.assert_array_equal(edge_frequencies(stability, order="given").images[0].get_array(), shares)
    turned = list(range(10))[::-1]
    np.testing.assert_array_equal(
        edge_frequencies(stability, order=turned).images[0].get_array(), shares[np.ix_(turned, turned)]
    )
    ax = edge_frequencies(stability, names=[f"${k}" for k in range(10)])
    chosen = [int(text[1:]) for text in words(ax.get_yticklabels())]
    assert sorted(chosen) == list(range(10))
    assert words(ax.get_xticklabels()) == words(ax.get_yticklabels())
    np.testing.assert_array_equal(ax.images[0].get_array(), shares[np.ix_(chosen, chosen)])
    ax.figure.canvas.draw()


def test_similar_nodes_stand_side_by_side():
    blocks = np.kron(np.eye(2), np.ones((4, 4))) - np.eye(8)
    shuffled = np.random.default_rng(0).permutation(8)
    order = heat._order(blocks[np.ix_(shuffled, shuffled)], "similar")
    sides = [shuffled[k] // 4 for k in order]
    assert sides in ([0] * 4 + [1] * 4, [1] * 4 + [0] * 4)


def test_another_alpha(stability):
    ax = edge_frequencies(stability, index=1, order="given")
    np.testing.assert_array_equal(ax.images[0].get_array(), stability.frequencies(1))
    assert ax.get_title() == f"α = {stability.alphas[1]:.3g}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"index": 99}, "index must be at most"),
        ({"index": -1}, "index must be an integer of at least 0"),
        ({"order": "alphabetical"}, "order must be"),
        ({"order": [0, 1]}, "order must name every node"),
        ({"names": ["a"]}, "names must have one entry"),
    ],
)
def test_heat_map_options_are_checked(stability, options, message):
    with pytest.raises(DataError, match=message):
        edge_frequencies(stability, **options)
    assert plt.get_fignums() == []


# ------------------------------------------------------------------------------------------- bootstrap


def test_intervals_are_the_quantiles(resamples):
    ax = bootstrap_intervals(resamples, n_edges=5)
    lines, medians, estimates = ax.collections[:3]
    labels = words(ax.get_yticklabels())
    assert len(labels) == 5
    pairs = {f"x{s} – x{t}": k for k, (s, t) in enumerate(resamples.edge_index)}
    chosen = [pairs[label] for label in labels]
    strongest = np.sort(np.abs(resamples.edge_values))[-5:]
    np.testing.assert_allclose(np.sort(np.abs(resamples.edge_values[chosen])), strongest)
    low, median, high = resamples.edge_quantiles[:, chosen]
    for k, segment in enumerate(lines.get_segments()):
        np.testing.assert_allclose(segment, [[low[k], k], [high[k], k]])
    np.testing.assert_allclose(medians.get_offsets(), np.column_stack([median, range(5)]))
    np.testing.assert_allclose(estimates.get_offsets(), np.column_stack([resamples.edge_values[chosen], range(5)]))
    assert (np.diff(resamples.edge_values[chosen]) >= 0).all()
    ax.figure.canvas.draw()
    shares = words(ax.child_axes[0].get_yticklabels())
    assert shares == [f"{resamples.inclusion[k]:.0%}" for k in chosen]


def test_every_edge_is_drawn_and_what_is_not_is_counted(resamples, monkeypatch):
    ax = bootstrap_intervals(resamples)
    silent = (resamples.edge_values == 0) & (resamples.edge_quantiles == 0).all(axis=0)
    assert silent.any()
    assert len(words(ax.get_yticklabels())) == (~silent).sum() > 30
    assert ax.get_xlabel() == "coupling"
    few = bootstrap_intervals(resamples, n_edges=4)
    assert f"(the 4 strongest of {(~silent).sum()} pairs; {(~silent).sum() - 4} are not shown)" in few.get_xlabel()
    assert ax.figure.get_figheight() > few.figure.get_figheight()
    monkeypatch.setattr(rows, "MOST_ROWS", 1)
    assert len(words(bootstrap_intervals(resamples).get_yticklabels())) == resamples.solution.n_edges > 1


def test_a_figure_fits_into_a_file():
    heights = [rows._height(n) for n in (1, 60, 61, 500, 100_000)]
    assert max(heights) * 300 < 2**16
    assert heights[0] < heights[1]
    assert heights[3] < heights[4]


@pytest.mark.parametrize("of", ["edges", "strength"])
def test_differences_are_drawn_from_the_largest_down(resamples, of):
    ax = bootstrap_differences(resamples, of=of, level=0.8, names=[f"${k}" for k in range(10)])
    found = resamples.differences(of, level=0.8)
    order = np.argsort(-found.values, kind="stable")
    image = ax.images[0].get_array()
    assert image.shape == (len(order), len(order))
    assert image.mask.diagonal().all()
    assert image.mask.sum() == len(order)
    for a, i in enumerate(order):
        for b, j in enumerate(order):
            sign = 1 if found.lower[i, j] > 0 else -1 if found.upper[i, j] < 0 else 0
            assert a == b or image[a, b] == sign
    assert {-1, 0, 1} == set(image.compressed())
    labels = [found.labels[k].replace("x", "$") for k in order]
    assert words(ax.get_xticklabels()) == words(ax.get_yticklabels()) == labels
    ax.figure.canvas.draw()


def test_dropped_cases_have_no_differences(table):
    dropped = bootstrap(table, 0.08, n_boot=7, kind="case-drop", random_state=0)
    with pytest.raises(DataError, match='kind "rows"'):
        bootstrap_differences(dropped)
    with pytest.raises(DataError, match="must be a Bootstrap"):
        bootstrap_differences(table)


def test_colors_tell_the_sign(resamples):
    ax = bootstrap_intervals(resamples, n_edges=1000)
    values = np.asarray(ax.collections[2].get_offsets())[:, 0]
    expected = [NEUTRAL if v == 0 else POSITIVE if v > 0 else NEGATIVE for v in values]
    assert [to_hex(color) for color in ax.collections[2].get_facecolor()] == expected


def test_dropped_cases_have_no_intervals(table):
    dropped = bootstrap(table, 0.3, n_boot=4, kind="case-drop", random_state=0)
    with pytest.raises(DataError, match='must be a bootstrap of kind "rows"'):
        bootstrap_intervals(dropped)


def test_a_network_without_edges():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    empty = bootstrap(X, 5.0, n_boot=3, random_state=0)
    ax = bootstrap_intervals(empty)
    assert words(ax.get_yticklabels()) == []
    assert words(bootstrap_differences(empty).get_yticklabels()) == []
    ax.figure.canvas.draw()


# ------------------------------------------------------------------------------------------- bars


def test_strength_bars_add_up():
    rng = np.random.default_rng(0)
    upper = np.triu(rng.normal(size=(9, 9)), 1)
    model = Network.from_couplings(upper + upper.T, np.zeros(9), names=["$a$", "_b", *"cdefghi"])
    ax = node_strength(model, n_nodes=6)
    labels, widths = words(ax.get_yticklabels()), [bar.get_width() for bar in ax.patches]
    strength = dict(zip(model.names, np.abs(model.couplings).sum(axis=1), strict=True))
    positive = dict(zip(model.names, np.maximum(model.couplings, 0).sum(axis=1), strict=True))
    assert labels[::-1] == sorted(strength, key=strength.get, reverse=True)[:6]
    np.testing.assert_allclose(widths[:6], [positive[name] for name in labels])
    np.testing.assert_allclose(np.add(widths[:6], widths[6:]), [strength[name] for name in labels])
    np.testing.assert_allclose([bar.get_x() for bar in ax.patches[6:]], widths[:6])
    assert not any(label.get_parse_math() for label in ax.get_yticklabels())
    ax.figure.canvas.draw()
    assert words(ax.get_yticklabels()) == labels


@pytest.mark.parametrize("p", [1, 3])
def test_strength_without_edges(p):
    ax = node_strength(Network.from_couplings(np.zeros((p, p)), np.zeros(p)))
    assert [bar.get_width() for bar in ax.patches] == [0.0] * (2 * p)
    ax.figure.canvas.draw()


def test_predictability_bars(table):
    nodes = metrics.node_table(simulate.random_network(10, 0.3, random_state=0), table)
    ax = predictability(nodes, n_nodes=7)
    labels = words(ax.get_yticklabels())
    number = {name: k for k, name in enumerate(nodes.names)}
    chosen = [number[label] for label in labels]
    assert (np.diff(nodes.accuracy[chosen]) >= 0).all()
    assert nodes.accuracy[chosen].min() >= np.delete(nodes.accuracy, chosen).max()
    mean, gain = ax.patches[:7], ax.patches[7:]
    np.testing.assert_allclose([bar.get_width() for bar in mean], nodes.marginal_accuracy[chosen])
    ends = [bar.get_x() + (bar.get_width() if bar.get_hatch() is None else 0) for bar in gain]
    np.testing.assert_allclose(ends, nodes.accuracy[chosen])
    ax.figure.canvas.draw()


def test_a_network_that_misleads():
    X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [4, 1, 1, 4], axis=0)
    ax = predictability(metrics.node_table([[1.4, -2.8], [-2.8, 1.4]], X))  # the sign is wrong
    for bar in ax.patches[2:]:
        assert to_hex(bar.get_facecolor()) == NEGATIVE
        assert bar.get_x() == pytest.approx(0.2)
        assert bar.get_x() + bar.get_width() == pytest.approx(0.5)
    assert ax.get_xlim() == (0.0, 1.0)  # from 0.2 on, a bar that ends there would not be seen
    assert words(ax.get_legend().get_texts())[-1] == "lost by the network"


@pytest.mark.parametrize("draw", [edge_frequencies, bootstrap_intervals, predictability])
def test_other_things_are_refused(draw):
    with pytest.raises(DataError, match="result must be"):
        draw(3)


def test_axes_are_used(stability, resamples, table):
    figure, axes = plt.subplots(2, 2)
    model = simulate.random_network(10, 0.3, random_state=0)
    assert edge_frequencies(stability, axes[0, 0]) is axes[0, 0]
    assert bootstrap_intervals(resamples, axes[0, 1]) is axes[0, 1]
    assert node_strength(model, axes[1, 0]) is axes[1, 0]
    assert predictability(metrics.node_table(model, table), axes[1, 1]) is axes[1, 1]
    assert plt.get_fignums() == [figure.number]


def test_all_nodes_are_drawn_or_the_figure_says_how_many_are_not():
    model = Network(np.zeros(57), [[k, k + 1] for k in range(56)], np.ones(56))
    table = metrics.node_table(model, np.eye(57, dtype=int))
    for draw, result in ((node_strength, model), (predictability, table)):
        ax = draw(result)
        assert len(ax.get_yticks()) == 57
        assert "not shown" not in ax.get_xlabel()
        ax = draw(result, n_nodes=40)
        assert len(ax.get_yticks()) == 40
        assert "of 57 nodes; 17 are not shown" in ax.get_xlabel()
    large = Network(np.zeros(300), [[k, k + 1] for k in range(299)], np.ones(299))
    assert "the 200 strongest of 300 nodes; 100 are not shown" in node_strength(large).get_xlabel()


def test_edges_without_an_interval_are_counted():
    X = simulate.exact_sample(simulate.chain_network(6, strength=2.0, fields="balanced"), 200, random_state=0)
    found = bootstrap(X, 0.05, n_boot=10, random_state=0)
    assert "not shown" not in bootstrap_intervals(found).get_xlabel()
    assert "the 2 strongest of " in bootstrap_intervals(found, n_edges=2).get_xlabel()
