import itertools

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from matplotlib.text import Text

from isinglass import Network, Solution, ising_path
from isinglass.datasets import load_senate109
from isinglass.errors import DataError
from isinglass.show.palette import BETWEEN, NEGATIVE, NEUTRAL, POSITIVE
from isinglass.show.plot import arrange, network
from isinglass.simulate import chain_network

mpl.use("Agg")

COLORS = {"R": "red", "D": "blue", "I": "green"}


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def senate():
    return load_senate109()


@pytest.fixture(scope="module")
def solution(senate):
    return ising_path(senate.X, alphas=[0.06])[0]


def random_model(p, seed=0, density=0.5, names=None):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.normal(size=(p, p)) * (rng.random((p, p)) < density), 1)
    return Network.from_couplings(upper + upper.T, rng.normal(size=p), names=names)


def nodes_of(ax):
    """Return where the nodes were drawn, whatever their group."""
    return np.vstack([found.get_offsets() for found in ax.collections if isinstance(found, PathCollection)])


def label_boxes(ax):
    return [Text.get_window_extent(text) for text in ax.texts]


def overlapping(boxes):
    return [
        (one, two)
        for one, two in itertools.combinations(boxes, 2)
        if min(one.x1, two.x1) > max(one.x0, two.x0) and min(one.y1, two.y1) > max(one.y0, two.y0)
    ]


@pytest.mark.parametrize("p", [1, 2, 3, 8, 25])
def test_one_segment_per_edge_and_one_point_per_node(p):
    model = random_model(p)
    ax = network(model)
    segments = ax.collections[0].get_segments()
    assert len(segments) == model.n_edges
    ends = {tuple(np.round(point, 9)) for segment in segments for point in segment[[0, -1]]}
    assert ends <= {tuple(np.round(point, 9)) for point in nodes_of(ax)}
    assert len(ax.texts) == p
    ax.figure.canvas.draw()


def test_widths_follow_the_couplings():
    model = random_model(12)
    edges = network(model).collections[0]
    weights = model.edges()["weight"].tolist()[::-1]  # the weakest is drawn first
    assert (np.diff(edges.get_linewidths()) > 0).all()
    assert len(set(weights)) == len(edges.get_linewidths())
    share = (edges.get_linewidths() - arrange.THINNEST) / (edges.get_linewidths()[-1] - arrange.THINNEST)
    np.testing.assert_allclose(share, np.array(weights) / max(weights))


def test_weak_edges_stay_visible_beside_a_strong_one():
    """On white paper, a difference of a quarter from the paper in some color is visible also in thin lines."""
    ax = network(Network([0, 0, 0], [[0, 1], [1, 2]], [14.0, 0.2]))
    *color, opacity = ax.collections[0].get_colors()[0]
    assert opacity * (1.0 - min(color)) > 0.25


def test_signs_have_colors_and_dashes():
    model = random_model(10)
    edges = network(model).collections[0]
    couplings = model.edges()["coupling"].tolist()[::-1]
    assert [to_hex(c) for c in edges.get_colors()] == [POSITIVE if c > 0 else NEGATIVE for c in couplings]
    assert [pattern is not None for _, pattern in edges.get_linestyles()] == [c < 0 for c in couplings]


def test_edges_are_colored_by_group():
    model, groups = random_model(9), list("aaabbbccc")
    ax = network(model, groups=groups, edge_color="group", group_colors={"a": "red"})
    place = {name: k for k, name in enumerate(model.names)}
    expected = []
    table = model.edges()
    for source, target in zip(table["source"][::-1], table["target"][::-1], strict=True):
        one, two = groups[place[source]], groups[place[target]]
        expected.append({"a": "#d55e00", "b": "#e69f00", "c": "#56b4e9"}[one] if one == two else BETWEEN)
    assert [to_hex(color) for color in ax.collections[0].get_colors()] == expected
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts[:-1] == ["a", "b", "c", "between groups", "negative coupling"]


def test_legend_says_what_there_is():
    def words(model, **options):
        legend = network(model, **options).get_legend()
        return legend and [text.get_text() for text in legend.get_texts()]

    both = Network.from_couplings([[0, 1, 0], [1, 0, -1], [0, -1, 0]], np.zeros(3))
    widest = f"widest: |coupling| {np.abs(both.couplings).max():.2g}"
    assert words(both) == ["positive coupling", "negative coupling", widest]
    assert words(both, positive_only=True)[:1] == ["positive coupling"]
    assert words(both, groups=["u", None, "u"]) == ["u", "no group", "positive coupling", "negative coupling", widest]
    assert words(both, legend=False) is None
    assert words(Network.from_couplings(np.zeros((3, 3)), np.zeros(3))) is None


def test_edges_can_be_left_out():
    model = random_model(12)
    couplings = model.edges()["coupling"]

    def count(**options):
        return len(network(model, **options).collections[0].get_segments())

    assert count(positive_only=True) == (couplings > 0).sum()


def test_a_network_is_drawn_in_the_same_way_again():
    model = random_model(15)
    one, two = network(model), network(model)
    np.testing.assert_array_equal(nodes_of(one), nodes_of(two))
    assert [t.get_position() for t in one.texts] == [t.get_position() for t in two.texts]


def test_given_positions_are_kept_and_not_stretched():
    model = random_model(8)
    angle = np.arange(8) * np.pi / 4
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    _, ax = plt.subplots(figsize=(9, 3))
    network(model, ax, positions=circle, groups=range(8))
    np.testing.assert_allclose(nodes_of(ax), circle)
    pixels = ax.transData.transform(circle)
    radii = np.hypot(*(pixels - pixels.mean(axis=0)).T)
    np.testing.assert_allclose(radii, radii.mean())


def test_groups_beyond_the_palette_differ_in_shape():
    p = 16
    ax = network(Network.from_couplings(np.zeros((p, p)), np.zeros(p)), groups=range(p))
    looks = {(to_hex(c.get_facecolor()[0]), c.get_paths()[0].vertices.tobytes()) for c in ax.collections[1 : p + 1]}
    assert len(looks) == p


def test_labels_of_the_senate_do_not_collide(senate, solution):
    ax = network(solution.network.with_names(senate.names), groups=senate.parties, positive_only=True)
    assert sorted(text.get_text() for text in ax.texts) == sorted(senate.names)  # nobody is left out
    for dpi in (60, 100, 200):
        ax.figure.set_dpi(dpi)
        ax.figure.canvas.draw()
        boxes = label_boxes(ax)
        assert overlapping([*boxes, ax.get_legend().get_window_extent()]) == []
        frame = ax.get_window_extent().padded(1)
        assert all(frame.contains(*corner) for box in boxes for corner in box.corners())


def test_the_collision_check_can_fail():
    ax = network(random_model(30, names=[f"a long name {k}" for k in range(30)]))
    for text in ax.texts:
        text.set_position((0, 0))
        text.set_fontsize(12)
    assert overlapping(label_boxes(ax))


def test_the_senate_shows_two_parties_with_chafee_and_nelson_between(senate, solution):
    ax = network(solution, groups=senate.parties, positive_only=True, group_colors=COLORS, labels=False)
    republicans, democrats = (np.asarray(ax.collections[1 + list("RDI").index(party)].get_offsets()) for party in "RD")
    axis = democrats.mean(axis=0) - republicans.mean(axis=0)
    along_r, along_d = (points @ axis / np.linalg.norm(axis) for points in (republicans, democrats))
    names = {party: [n for n, p in zip(senate.names, senate.parties, strict=True) if p == party] for party in "RD"}
    assert names["R"][along_r.argmax()] == "CHAFEE (R RI)"
    assert names["D"][along_d.argmin()] == "NELSON (D NE)"
    rest_r, rest_d = (np.sort(along_r)[:-1], np.sort(along_d)[1:])
    assert rest_r.max() < rest_d.min()  # a gap between the parties, but for these two


def test_hostile_names_are_drawn_as_text():
    names = ["$x_1$ $", "_hidden", "</script>", "é", "n" * 10_000, "", "\x00", "two\nlines"]
    ax = network(random_model(8, names=names), groups=["$g$", "_g"] * 4)
    ax.figure.canvas.draw()
    shown = {text.get_text() for text in ax.texts}
    assert {"$x_1$ $", "_hidden", "</script>", "é", "n" * 29 + "…", "two lines"} <= shown
    assert not any(text.get_parse_math() for text in ax.texts)
    assert [text.get_text() for text in ax.get_legend().get_texts()][:2] == ["$g$", "_g"]


def test_missing_groups_and_frames():
    groups = pd.Series(["a", np.nan, None, "a"])
    ax = network(random_model(4), groups=groups)
    assert [len(found.get_offsets()) for found in ax.collections if isinstance(found, PathCollection)] == [2, 2]
    assert [text.get_text() for text in ax.get_legend().get_texts()][:2] == ["a", "no group"]


def test_labels_follow_a_dark_style():
    with plt.style.context("dark_background"):
        ax = network(random_model(3), inside=False)
        halo = ax.texts[0].get_path_effects()[0]
        assert to_hex(ax.texts[0].get_color()) == "#ffffff"
        assert halo._gc["foreground"] == to_hex(ax.figure.get_facecolor()) == "#000000"
        assert to_hex(ax.collections[1].get_edgecolor()[0]) == "#ffffff"


def test_labels_can_be_chosen_or_left_out():
    model = random_model(3)
    assert len(network(model, labels=False).texts) == 0
    assert {text.get_text() for text in network(model, labels=["a", "b", "c"]).texts} == {"a", "b", "c"}
    assert {len(text.get_text()) for text in network(model, labels=["n" * 50] * 3).texts} == {30}


def test_every_kind_of_result():
    model = random_model(5)
    solution = Solution.from_dense(0.1, model.couplings, model.fields)
    for result in (model, solution):
        assert len(network(result).collections[0].get_segments()) == model.n_edges


@pytest.mark.parametrize("layout", ["constrained", "tight", None])
def test_a_figure_with_its_own_layout_keeps_labels_apart(layout):
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout=layout)
    axes[0].plot([0, 1])
    axes[0].set_ylabel("something wide\nbeside it")
    network(random_model(20, density=0.15), axes[1])
    figure.canvas.draw()
    assert overlapping(label_boxes(axes[1])) == []


def test_nothing_but_a_new_figure_is_left_behind():
    before = dict(mpl.rcParams)
    figure = mpl.figure.Figure()
    network(random_model(4), figure.subfigures(1, 2)[0].add_subplot())
    assert plt.get_fignums() == []
    network(random_model(4))
    assert len(plt.get_fignums()) == 1
    assert dict(mpl.rcParams) == before


def test_nodes_without_groups_are_gray():
    ax = network(random_model(4))
    assert to_hex(ax.collections[1].get_facecolor()[0]) == NEUTRAL


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"edge_color": "party"}, 'edge_color must be one of "sign", "group"'),
        ({"edge_color": np.array(["sign"])}, 'edge_color must be one of "sign", "group"'),
        ({"legend": np.array([True, False])}, "legend must be True or False"),
        ({"positive_only": np.array([True, False])}, "positive_only must be True or False"),
        ({"inside": "yes"}, "inside must be True or False"),
        ({"ax": "left"}, "ax must be axes of matplotlib; got 'left'"),
        ({"edge_color": "group"}, "Pass groups as well"),
        ({"groups": ["a"]}, "groups must have one entry per node"),
        ({"groups": "abc"}, "groups must have one entry per node"),
        ({"group_colors": {"a": "red"}}, "group_colors must come with groups"),
        ({"groups": list("aab"), "group_colors": {"a": "no such color"}}, "a color must be #rrggbb or one of"),
        ({"groups": list("aab"), "group_colors": {"A": "red"}}, r"groups that occur \('a', 'b'\); got 'A'"),
        ({"groups": [[1], [1], [2]]}, r"groups must be texts or numbers; got \[1\]"),
        ({"labels": ["a"]}, r"labels must have one entry per node \(3\); got 1"),
        ({"labels": "abc"}, "labels must have one entry per node, by name or in order; got 'abc'"),
        ({"labels": None}, "labels must have one entry per node, by name or in order; got None"),
        ({"positions": [[0, 0]]}, r"positions must have the shape \(3, 2\); got \(1, 2\)"),
        ({"positions": pd.Index(["a", "b", "c"])}, "positions must be an array of numbers; got Index"),
        ({"positions": [[0, 0], [0, 1], [1, np.nan]]}, "positions must be finite; got nan"),
        (
            {"sizes": "strengh"},
            'sizes must be one of "strength", "expected_influence", "closeness", "betweenness"; got',
        ),
        ({"sizes": [[1], [2], [3]]}, r"sizes must have the shape \(3,\)"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(DataError, match=message):
        network(random_model(3), **options)
    assert plt.get_fignums() == []


def test_panels_side_by_side_have_letters_of_one_size():
    axes = plt.figure(figsize=(9, 5), layout="constrained").subplots(1, 2)
    long = [f"label {k}" for k in range(16)]
    sizes = [network(chain_network(16), ax, labels=long).texts[0].get_fontsize() for ax in axes]
    assert sizes[0] == pytest.approx(sizes[1], rel=0.05)
