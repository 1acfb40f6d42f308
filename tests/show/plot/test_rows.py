"""Bootstrap intervals of edges, and which edges or nodes differ."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex

from isinglass import as_table, bootstrap, simulate
from isinglass.errors import DataError
from isinglass.show.palette import NEGATIVE, NEUTRAL, POSITIVE
from isinglass.show.plot import bootstrap_differences, bootstrap_intervals, figures

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
def resamples(table):
    return bootstrap(as_table(table, names=[f"${k}" for k in range(10)]), 0.08, n_boot=90, random_state=0)


def words(labels):
    return [label.get_text() for label in labels]


# ------------------------------------------------------------------------------------------- bootstrap


def test_intervals_are_the_quantiles(resamples):
    ax = bootstrap_intervals(resamples, n_edges=5)
    lines, medians, estimates = ax.collections[:3]
    labels = words(ax.get_yticklabels())
    assert len(labels) == 5
    pairs = {f"${s} – ${t}": k for k, (s, t) in enumerate(resamples.edge_index)}
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


def test_a_figure_says_how_many_pairs_it_leaves_out(resamples):
    silent = (resamples.edge_values == 0) & (resamples.edge_quantiles == 0).all(axis=0)
    total = int((~silent).sum())
    assert silent.any()
    assert 30 < total <= figures.MOST_ROWS
    whole, part = bootstrap_intervals(resamples), bootstrap_intervals(resamples, n_edges=15)
    assert whole.get_xlabel() == "coupling"
    assert len(words(whole.get_yticklabels())) == total
    assert {*words(part.get_yticklabels())} < {*words(whole.get_yticklabels())}
    assert f"(15 of {total} pairs; {total - 15} are not shown)" in part.get_xlabel()
    assert whole.figure.get_figheight() > part.figure.get_figheight()
    with pytest.raises(DataError, match="n_edges must be"):
        bootstrap_intervals(resamples, n_edges=0)


def test_a_figure_fits_into_a_file():
    heights = [figures.row_height(n) for n in (1, 60, 61, 500, 100_000)]
    assert max(heights) * 300 < 2**16
    assert heights[0] < heights[1]
    assert heights[3] < heights[4]


@pytest.mark.parametrize("of", ["edges", "strength"])
def test_differences_are_drawn_from_the_largest_down(resamples, of):
    ax = bootstrap_differences(resamples, of=of, level=0.8)
    found = resamples.differences(of, level=0.8)
    solution = resamples.solution
    values = solution.edge_values if of == "edges" else solution.network.strength
    order = np.argsort(-values, kind="stable")
    signs = np.zeros((len(values), len(values)))
    signs[np.triu_indices(len(values), 1)] = (found["lower"] > 0) * 1 - (found["upper"] < 0) * 1
    image = ax.collections[0].get_array()
    assert image.shape == (len(order), len(order))
    assert image.mask.diagonal().all()
    assert image.mask.sum() == len(order)
    for a, i in enumerate(order):
        for b, j in enumerate(order):
            assert a == b or image[a, b] == signs[i, j] - signs[j, i]
    assert {-1, 0, 1} == set(image.compressed())
    assert words(ax.get_legend().get_texts()) == ["row larger", "row smaller", "not decided at level 0.8"]
    if ax.texts:
        assert words(ax.texts) == [f"{value:.2f}" for value in values[order]]
    assert of == "edges" or ax.texts
    names = np.array(solution.network.names)
    every = [" – ".join(names[pair]) for pair in solution.edge_index] if of == "edges" else names.tolist()
    labels = [every[k] for k in order]
    assert words(ax.get_xticklabels()) == words(ax.get_yticklabels()) == labels
    ax.figure.canvas.draw()


def test_dropped_cases_have_no_differences(table):
    dropped = bootstrap(table, 0.08, n_boot=10, kind="case-drop", random_state=0)
    with pytest.raises(DataError, match='kind "rows"'):
        bootstrap_differences(dropped)


def test_colors_tell_the_sign(resamples):
    ax = bootstrap_intervals(resamples, n_edges=1000)
    values = np.asarray(ax.collections[2].get_offsets())[:, 0]
    expected = [NEUTRAL if v == 0 else POSITIVE if v > 0 else NEGATIVE for v in values]
    assert [to_hex(color) for color in ax.collections[2].get_facecolor()] == expected


def test_dropped_cases_have_no_intervals(table):
    dropped = bootstrap(table, 0.3, n_boot=10, kind="case-drop", random_state=0)
    with pytest.raises(DataError, match='must be a bootstrap of kind "rows"'):
        bootstrap_intervals(dropped)


def test_a_network_without_edges():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    empty = bootstrap(X, 5.0, n_boot=3, random_state=0)
    ax = bootstrap_intervals(empty)
    assert words(ax.get_yticklabels()) == []
    assert words(bootstrap_differences(empty).get_yticklabels()) == []
    ax.figure.canvas.draw()


def test_few_edges_leave_room_for_what_their_shares_are(table):
    ax = bootstrap_intervals(bootstrap(table[:, :2], 0.01, n_boot=100, random_state=0))
    figure = ax.figure
    figure.draw_without_rendering()
    label = ax.child_axes[0].yaxis.label.get_window_extent()
    assert label.y0 >= 0
    assert label.y1 <= figure.bbox.height


def test_axes_are_used(resamples):
    figure, axes = plt.subplots(1, 2)
    assert bootstrap_intervals(resamples, axes[0]) is axes[0]
    assert bootstrap_differences(resamples, axes[1]) is axes[1]
    assert plt.get_fignums() == [figure.number]


def test_edges_without_an_interval_are_counted():
    X = simulate.exact_sample(simulate.chain_network(6, strength=2.0, fields="balanced"), 200, random_state=0)
    found = bootstrap(X, 0.05, n_boot=10, random_state=0)
    assert "not shown" not in bootstrap_intervals(found).get_xlabel()
    assert "(2 of " in bootstrap_intervals(found, n_edges=2).get_xlabel()
