"""Networks of real tables at their width in print, measured: what is readable, what covers what."""

from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_rgb
from matplotlib.legend import Legend
from matplotlib.text import Annotation, Text

from isinglass import Network, ising_path, plot
from isinglass.datasets import load_senate109
from isinglass.show.layout import separate_circles
from isinglass.show.palette import NEGATIVE, POSITIVE
from isinglass.show.plot import arrange
from isinglass.show.plot.arrange import RING

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def networks():
    """Networks of 10, 25 and 60 senators by their votes, and of 150 votes by the senators."""
    senate = load_senate109()
    votes = senate.X.T[:, (senate.X.mean(axis=1) > 0.05) & (senate.X.mean(axis=1) < 0.95)]
    tables = {n: (senate.X[:, :n], senate.names[:n], 0.03) for n in (10, 25, 60)}
    tables[150] = np.ascontiguousarray(votes[:, :150]), [f"v{k}" for k in range(150)], 0.12
    return {n: ising_path(X, [alpha])[0].network.with_names(names) for n, (X, names, alpha) in tables.items()}


class Measured:
    """Where everything is, in points."""

    def __init__(self, ax, ring=1.0):
        ax.figure.draw_without_rendering()
        self.ax, self.pixel = ax, ax.figure.dpi / 72.0
        nodes = [c for c in ax.collections if isinstance(c, PathCollection) and c.zorder == 2]
        self.nodes = np.vstack([self.place(c.get_offsets()) for c in nodes])
        self.radii = np.concatenate([np.sqrt(np.broadcast_to(c.get_sizes(), len(c.get_offsets()))) for c in nodes]) / 2
        self.outer = ring * self.radii
        edges = next(c for c in ax.collections if isinstance(c, LineCollection))
        self.lines = [self.place(line) for line in edges.get_segments()]
        self.widths = edges.get_linewidths()
        self.labels = [text for text in ax.texts if text.get_text()]
        found = [ax.get_legend(), *(artist for artist in ax.artists if isinstance(artist, Legend))]
        self.legends = list({id(one): one for one in found if one is not None}.values())

    def place(self, points):
        return np.asarray(self.ax.transData.transform(np.asarray(points))) / self.pixel

    def box(self, artist):
        found = Text.get_window_extent(artist) if isinstance(artist, Text) else artist.get_window_extent()
        return found.extents / self.pixel

    def distances(self, line):
        """How far each node is from a line, along which there is a point at every half a point."""
        steps = [np.linspace(a, b, 2 + int(2 * np.hypot(*(b - a)))) for a, b in pairwise(line)]
        return np.hypot(*(self.nodes[:, None] - np.vstack(steps)).transpose(2, 0, 1)).min(axis=1)

    def crossings(self):
        """Every edge and node such that the edge runs over the node without joining it."""
        for k, (line, width) in enumerate(zip(self.lines, self.widths, strict=True)):
            ends = np.hypot(*(self.nodes[:, None] - line[[0, -1]]).transpose(2, 0, 1)).min(axis=1) < 1e-6
            yield from ((k, node) for node in np.flatnonzero((self.distances(line) < self.outer + width / 2) & ~ends))

    def under_legends(self):
        """Every node and edge that a legend covers."""
        for legend in map(self.box, self.legends):
            nearest = np.clip(self.nodes, legend[:2], legend[2:])
            yield from np.flatnonzero(np.hypot(*(self.nodes - nearest).T) < self.outer)
            for line in self.lines:
                x, y = np.vstack([np.linspace(a, b, 200) for a, b in pairwise(line)]).T
                if ((x > legend[0]) & (y > legend[1]) & (x < legend[2]) & (y < legend[3])).any():
                    yield line


SIZES = [(n, width, inside) for inside in (False, True) for width in (85, 180) for n in (10, 25, 60, 150)]
ROOMY = [(10, 180)]  # where names of senators fit into the nodes
QUICK = [(10, 85, False), (10, 180, True), (25, 85, True), (25, 180, False), (60, 85, True), (150, 180, False)]


@pytest.mark.parametrize(
    ("n", "width", "inside"), [pytest.param(*size, marks=[] if size in QUICK else pytest.mark.long) for size in SIZES]
)
def test_figures_are_readable_and_nothing_covers_another_thing(networks, n, width, inside):
    rings = np.linspace(0.2, 0.9, n) if inside and n == 25 else None
    ax = plot.network(networks[n], plot.paper_axes(width), inside=inside, rings=rings)
    found = Measured(ax, 1.0 if rings is None else RING)
    assert ax.figure.get_figwidth() == pytest.approx(width / 25.4)
    assert min(text.get_fontsize() for text in found.labels) >= 5.0
    for legend in found.legends:
        letters = [text.get_fontsize() for text in legend.get_texts()]
        assert min(letters) >= 5.0
        assert inside or max(letters) <= min(text.get_fontsize() for text in found.labels) + 1e-9
    assert list(found.under_legends()) == []
    if n <= 10 and not inside:
        assert list(found.crossings()) == []
    s, t = np.triu_indices(n, 1)
    assert (np.hypot(*(found.nodes[s] - found.nodes[t]).T) >= found.outer[s] + found.outer[t]).all()
    is_inside = not any(isinstance(text, Annotation) for text in found.labels)  # else there was no room
    assert (inside and (n, width) in ROOMY) <= is_inside <= inside
    if is_inside:
        assert len(found.labels) == n
        for text in found.labels:
            left, bottom, right, top = found.box(text)
            middle = np.array([(left + right) / 2, (bottom + top) / 2])
            node = np.hypot(*(found.nodes - middle).T).argmin()
            # Letters are lower than their line: about seven tenths of it.
            corner = np.array([right - left, 0.7 * (top - bottom)]) / 2
            assert np.hypot(*corner) <= 0.9 * found.radii[node]


@pytest.mark.parametrize(
    ("n", "width"), [(10, 85), (25, 85), (60, 180), pytest.param(150, 180, marks=pytest.mark.long)]
)
def test_short_labels_are_inside_by_themselves(networks, n, width):
    short = networks[n].with_names([f"Q{k}" for k in range(n)])
    found = Measured(plot.network(short, plot.paper_axes(width)))
    assert list(found.under_legends()) == []
    assert min(text.get_fontsize() for text in found.labels) >= 5.0
    centers = np.array([found.place([text.get_position()])[0] for text in found.labels])
    np.testing.assert_allclose(centers, found.nodes, atol=1e-6)  # in one scatter, in the order of the nodes
    if n <= 10:
        assert list(found.crossings()) == []
    beside = plot.network(short.with_names([f"Question {k}" for k in range(n)]), plot.paper_axes(width))
    assert Measured(beside).radii.max() < 0.7 * found.radii.max()


def test_short_labels_without_room_are_beside_small_nodes():
    chain = Network(np.zeros(80), [[k, k + 1] for k in range(79)], np.ones(79), [f"Q{k}" for k in range(80)])
    found, asked = (Measured(plot.network(chain, plot.paper_axes(30), inside=inside)) for inside in (None, False))
    assert all(isinstance(text, Annotation) for text in found.labels)
    np.testing.assert_allclose(found.radii, asked.radii)


def test_the_measurements_can_fail(networks):
    ax = plot.network(networks[10], plot.paper_axes(85))
    found = Measured(ax)
    assert list(found.crossings()) == []
    found.outer = found.outer + 20
    assert list(found.crossings())
    ax.legend([], loc="center")
    ax.get_legend().set_bbox_to_anchor((0, 0, 1, 1))
    found.box = lambda _: np.array([*found.nodes.min(axis=0), *found.nodes.max(axis=0)])
    assert list(found.under_legends())


def test_nodes_and_labels_grow_with_the_figure(networks):
    small, large = (Measured(plot.network(networks[25], plot.paper_axes(width))) for width in (85, 180))
    assert large.radii.min() > 1.5 * small.radii.max()
    assert large.labels[0].get_fontsize() > 1.3 * small.labels[0].get_fontsize()


def test_an_edge_goes_around_the_node_between_its_ends():
    line = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    ax = plot.network(Network(np.zeros(3), [[0, 1], [0, 2]], [1.0, 2.0]), positions=line)
    straight, bent = sorted(Measured(ax).lines, key=len)
    assert len(straight) == 2
    assert len(bent) > 2
    assert list(Measured(ax).crossings()) == []


def test_circles_move_apart_within_the_frame():
    rng = np.random.default_rng(1)
    points, radii, frame = rng.normal(scale=5, size=(40, 2)), rng.uniform(2, 6, 40), np.array([[-60, -50], [60, 50.0]])
    points[1] = points[0]
    moved = separate_circles(points, radii, arrange.AIR, frame)
    assert (moved - radii[:, None] >= frame[0] - 1e-9).all()
    assert (moved + radii[:, None] <= frame[1] + 1e-9).all()
    assert arrange.shrink_factor(moved, radii) == 1.0
    assert arrange.shrink_factor(points, radii) < 1.0


def test_weak_edges_fade(networks):
    edges = plot.network(networks[25]).collections[0]
    opacity = edges.get_colors()[:, 3]
    weights = np.sort(networks[25].weights)
    np.testing.assert_array_equal(np.argsort(opacity, kind="stable"), np.arange(len(weights)))
    assert opacity[-1] == pytest.approx(1.0)
    assert opacity[0] < 0.4 + weights[0] / weights[-1]


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_negative_edges_are_as_visible_as_positive_ones(style):
    """The difference in color from the paper, summed over all dots of an edge, in CIELAB."""
    seen = []
    for sign, color in ((1.0, POSITIVE), (-1.0, NEGATIVE)):
        with pyplot.style.context(style):
            two = Network(np.zeros(2), [[0, 1]], [sign])
            ax = plot.network(two, plot.paper_axes(85), labels=False, legend=False)
            ax.figure.canvas.draw()
            dots = np.asarray(ax.figure.canvas.buffer_rgba())[..., :3] / 255.0
            lab = to_lab(dots)
            middle = slice(len(dots[0]) // 3, 2 * len(dots[0]) // 3)
            paper = to_lab(np.array(to_rgb(ax.figure.get_facecolor())))
            seen.append(np.sqrt(((lab[:, middle] - paper) ** 2).sum(axis=-1)).sum())
            assert np.abs(to_lab(np.array(to_rgb(color))) - paper).max() > 40
    assert 0.9 < seen[1] / seen[0] < 1.3


def to_lab(rgb):
    """CIELAB of sRGB, D65."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    matrix = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = linear @ np.array(matrix).T / [0.9505, 1.0, 1.089]
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], axis=-1)
