import matplotlib as mpl
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex

from isinglass import Path, Solution, Stability, ising_path, simulate
from isinglass.errors import DataError
from isinglass.evaluate import metrics
from isinglass.objective import value
from isinglass.show.palette import NEGATIVE, POSITIVE
from isinglass.show.plot import certificate, curves, instability, path, roc

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
    for ax in (path(solutions), certificate(solutions)):
        left, right = ax.get_xlim()
        assert left > solutions.alphas.max() > solutions.alphas.min() > right > 0
        assert ax.get_xscale() == "log"


def test_the_strongest_pairs_are_named(solutions):
    names = ["$a", "_b", *"cdefgh"]
    ax = path(solutions, names=names, n_labels=3)
    last = sorted(
        ((abs(c), s, t) for (s, t), c in zip(solutions[-1].edge_index, solutions[-1].edge_values, strict=True)),
        reverse=True,
    )
    assert [text.get_text() for text in ax.texts] == [f"{names[s]} – {names[t]}" for _, s, t in last[:3]]
    ax.figure.canvas.draw()
    assert len(path(solutions, n_labels=0).texts) == 0


def test_a_choice_is_marked(solutions):
    marked = lines_of(path(solutions, alpha=0.1))["choice"]
    assert list(marked.get_xdata()) == [0.1, 0.1]


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


@given(st.lists(st.floats(-5, 5), max_size=12), st.floats(0.01, 2))
def test_spread(values, apart):
    moved = curves._spread(values, apart)
    order = np.argsort(values, kind="stable")
    assert (np.diff(moved[order]) >= apart - 1e-9).all()
    assert moved.sum() == pytest.approx(sum(values), abs=1e-6)
    if (np.diff(np.sort(values)) >= apart).all():
        np.testing.assert_allclose(moved, values, atol=1e-9)


# ------------------------------------------------------------------------------------------- instability


@pytest.fixture
def stability():
    alphas = np.array([0.4, 0.3, 0.2, 0.1, 0.05])
    values = np.array([0.0, 0.02, 0.01, 0.09, np.nan])
    return Stability(
        alpha=0.2,
        index=2,
        alphas=alphas,
        instability=values,
        monotone=np.array([0.0, 0.02, 0.02, 0.09, np.nan]),
        edge_frequencies=tuple(sp.csr_array((3, 3)) for _ in range(4)),
        threshold=0.05,
        subsample_size=10,
        n_subsamples=20,
        dense_end=0.1,
        n_extensions=0,
        n_fits=80,
        n_fits_saved=20,
        n_constant=0,
    )


def test_instability_marks_choice_and_threshold(stability):
    ax = instability(stability)
    lines = lines_of(ax)
    np.testing.assert_array_equal(lines["instability"].get_ydata(), stability.instability)
    np.testing.assert_array_equal(lines["largest so far"].get_ydata(), stability.monotone)
    assert list(lines["threshold"].get_ydata()) == [0.05, 0.05]
    assert (list(lines["choice"].get_xdata()), list(lines["choice"].get_ydata())) == ([0.2], [0.02])
    assert list(lines["chosen alpha"].get_xdata()) == [0.2, 0.2]
    left, right = ax.get_xlim()
    assert left > 0.4 > 0.1 > right > 0.05  # what was not run is not shown
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["instability", "largest so far", "threshold 0.05", "choice: α = 0.2"]
    ax.figure.canvas.draw()


def test_an_estimator_will_do(stability, solutions):
    class Fitted:
        stability_ = stability
        path_ = solutions

    assert len(instability(Fitted()).lines) == 5
    assert len(path(Fitted()).collections) == 1


# ------------------------------------------------------------------------------------------- certificate


def test_certificate_is_that_of_the_path(table, solutions):
    lines = lines_of(certificate(solutions))
    floor = curves.FLOOR
    np.testing.assert_array_equal(lines["KKT residual"].get_ydata(), np.maximum(solutions.kkt_residual, floor))
    assert list(lines["tolerance"].get_ydata()) == [solutions.tol] * 2
    null = value(table, np.zeros((8, 8)), np.log(table.mean(axis=0) / (1 - table.mean(axis=0))), alpha=0.0)
    shown = lines["relative gap"].get_ydata()
    assert (shown >= np.maximum(solutions.duality_gap, floor) / null * (1 - 1e-9)).all()
    assert "not converged" not in lines
    assert certificate(solutions).get_yscale() == "log"


def test_what_did_not_converge_is_marked():
    def solution(alpha, residual):
        return Solution.from_dense(
            alpha,
            np.zeros((2, 2)),
            np.zeros(2),
            objective=2.0,
            kkt_residual=residual,
            duality_gap=0.0,
            converged=residual < 1e-3,
        )

    ax = certificate(Path((solution(1.0, 0.0), solution(0.5, 0.25)), tol=1e-3))
    lines = lines_of(ax)
    assert (list(lines["not converged"].get_xdata()), list(lines["not converged"].get_ydata())) == ([0.5], [0.25])
    assert lines["relative gap"].get_ydata().tolist() == [curves.FLOOR] * 2
    ax.figure.canvas.draw()


def test_a_path_that_knows_no_certificate():
    unknown = Path((Solution.from_dense(1.0, np.zeros((2, 2)), np.zeros(2)),))
    ax = certificate(unknown)
    assert "tolerance" not in lines_of(ax)
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
    assert len(roc([curve, curve, curve]).lines) == 4
    assert len(roc(curve).lines) == 2
    ax.figure.canvas.draw()


@pytest.mark.parametrize(
    ("draw", "wrong"),
    [
        (path, None),
        (path, Path(())),
        (certificate, "path"),
        (instability, "stability"),
        (roc, {}),
        (roc, [1]),
        (roc, "curve"),
    ],
)
def test_other_things_are_refused(draw, wrong):
    with pytest.raises(DataError, match="result must be"):
        draw(wrong)
    assert plt.get_fignums() == []
