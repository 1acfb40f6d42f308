import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex

from isinglass import Path, Solution, as_table, ising_path, metrics, simulate
from isinglass.errors import DataError
from isinglass.show.palette import NEGATIVE, POSITIVE
from isinglass.show.plot import check, paper_axes, path, roc

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def table():
    model = simulate.random_network(8, 0.3, random_state=0)
    return simulate.gibbs_sample(model, 200, random_state=0)


@pytest.fixture(scope="module")
def solutions(table):
    return ising_path(table, alphas=12)


def lines_of(ax):
    return {line.get_label(): line for line in ax.lines}


# ------------------------------------------------------------------------------------------- path


def test_path_draws_every_coupling(solutions):
    ax = path(solutions)
    dense = np.array([solution.couplings for solution in solutions])
    s, t = np.nonzero(np.triu((dense != 0).any(axis=0), 1))
    segments = ax.collections[0].get_segments()
    assert len(segments) == len(s) > 5
    for segment, one, two in zip(segments, s, t, strict=True):
        np.testing.assert_array_equal(segment[:, 0], solutions.alphas)
        np.testing.assert_array_equal(segment[:, 1], dense[:, one, two])
    colors = [to_hex(color) for color in ax.collections[0].get_colors()]
    assert colors == [POSITIVE if dense[-1, one, two] >= 0 else NEGATIVE for one, two in zip(s, t, strict=True)]


def test_penalties_fall_from_left_to_right(solutions):
    ax = path(solutions)
    left, right = ax.get_xlim()
    assert left > solutions.alphas.max() > solutions.alphas.min() > right > 0
    assert ax.get_xscale() == "log"


def test_the_strongest_pairs_are_named(table):
    names = ["$a", "_b", *"cdefgh"]
    solutions = ising_path(as_table(table, names=names), alphas=12)
    ax = path(solutions, n_labels=3)
    last = sorted(
        ((abs(c), s, t) for (s, t), c in zip(solutions[-1].edge_index, solutions[-1].edge_values, strict=True)),
        reverse=True,
    )
    assert {text.get_text() for text in ax.texts} == {f"{names[s]} – {names[t]}" for _, s, t in last[:3]}
    assert (np.diff([text.xyann[1] for text in ax.texts]) < 0).all()  # from the largest down
    ax.figure.canvas.draw()
    assert len(path(solutions, n_labels=0).texts) == 0


def test_a_choice_is_marked(solutions):
    marked = lines_of(path(solutions, alpha=0.1))["choice"]
    assert list(marked.get_xdata()) == [0.1, 0.1]


@pytest.mark.parametrize(("width", "size"), [(85, 7.0), (180, 9.0)])
def test_texts_of_narrow_figures_are_small(solutions, table, width, size):
    ax = path(solutions, paper_axes(width), alpha=solutions.alphas[6])
    assert [text.get_fontsize() for text in ax.texts if text.get_text().startswith("α")] == [size]
    legend = check(metrics.check_model(table, solutions[6]), paper_axes(width)).get_legend()
    assert {text.get_fontsize() for text in legend.get_texts()} == {size}


def test_alpha_zero_gets_a_linear_axis(table):
    ax = path(ising_path(table, alphas=[0.2, 0.1, 0.0]))
    assert ax.get_xscale() == "linear"
    assert ax.get_xlim()[1] < 0
    ax.figure.canvas.draw()


@pytest.mark.parametrize("p", [1, 3])
def test_paths_without_edges(p):
    empty = Path(tuple(Solution.from_dense(a, np.zeros((p, p)), np.zeros(p)) for a in (1.0, 0.5)), tol=1e-7)
    ax = path(empty)
    assert len(ax.collections[0].get_segments()) == 0
    ax.figure.canvas.draw()


# ------------------------------------------------------------------------------------------- ROC


def test_roc(solutions):
    truth = simulate.random_network(8, 0.3, random_state=0)
    curve = metrics.roc_curve(solutions, truth)
    ax = roc({"$joint$": curve, "_other": curve})
    for line in ax.lines[:2]:
        np.testing.assert_array_equal(line.get_xdata(), curve.fpr)
        np.testing.assert_array_equal(line.get_ydata(), curve.tpr)
    assert ax.lines[0].get_linestyle() != ax.lines[1].get_linestyle()
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == [f"$joint$ (AUC {curve.auc:.3f})", f"_other (AUC {curve.auc:.3f})"]
    assert len(roc(curve).lines) == 2
    ax.figure.canvas.draw()


@pytest.mark.parametrize(
    ("draw", "wrong"),
    [
        (path, None),
        (path, Path(())),
        (path, "path"),
        (roc, {}),
        (roc, [1]),
        (roc, "curve"),
    ],
)
def test_other_things_are_refused(draw, wrong):
    with pytest.raises(DataError, match="result must be"):
        draw(wrong)
    assert plt.get_fignums() == []
