"""Rows simulated from a network against the rows of a table."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import hypergeom

from isinglass import IsingLasso, IsingNetwork, Network, exact, ising_path, metrics, plot, simulate
from isinglass.data import Table, as_table
from isinglass.errors import ConstantColumnWarning, DataError, MixingWarning
from isinglass.evaluate.checking import _compare, _split_points, _tails
from isinglass.select import Fixed, Method
from isinglass.variables import Variables

MODEL = simulate.grid_network(4, 4, strength=1.0, fields="balanced")
LARGE = simulate.grid_network(5, 6, strength=0.8, fields="balanced")


def neurons(seed, n_rows=3000):
    """Columns with a common drive, whose dense network of pairs fires all at once."""
    rng = np.random.default_rng(seed)
    logits = -2.5 + 1.2 * rng.normal(size=(n_rows, 1)) + 0.3 * rng.normal(size=(n_rows, 50))
    return (rng.random((n_rows, 50)) < 1 / (1 + np.exp(-logits))).astype(np.uint8)


@pytest.mark.parametrize(("n_tables", "most"), [(10, 2), pytest.param(40, 5, marks=pytest.mark.long)])
def test_a_right_network_is_rarely_flagged(n_tables, most):
    flagged = [
        not metrics.check_model(
            exact.exact_sample(MODEL, 300, random_state=k), MODEL, random_state=k, n_simulated=1000
        ).passed
        for k in range(n_tables)
    ]
    # At a level of 5 %, 3 or more of 10 have a probability of 0.012, and 6 or more of 40 one of 0.014.
    assert sum(flagged) <= most


def test_chains_of_a_larger_network():
    X = simulate.gibbs_sample(LARGE, 1000, n_chains=100, random_state=0)
    found = metrics.check_model(X, LARGE)
    assert found.mixed
    assert found.passed, found
    assert found.effective_size > 1000
    assert [one.what for one in found.comparisons] == ["means", "pairs", "triples", "counts"]


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_a_dense_network_of_neurons_is_flagged(seed):
    X = neurons(seed)
    found = metrics.check_model(X, ising_path(X, [0.0005])[0])
    assert not found.passed
    assert found.simulated_range[1] > found.score_range[1] == X.sum(axis=1).max()
    assert "do not reproduce" in found.sentence
    assert f"rows of the data {found.score_range[0]} to {found.score_range[1]}" in found.sentence
    assert re.search(r"rows with \d+ or more ones", found.sentence)
    assert "median" not in found.sentence


def test_each_comparison_finds_its_own_difference():
    rng = np.random.default_rng(0)
    fair = Network(np.zeros(6), np.empty((0, 2), int), [])
    X = rng.integers(0, 2, (2000, 6))
    X[:, 5] = X[:, 3] ^ X[:, 4]  # every pair is independent, and their triple is not
    found = metrics.check_model(X, fair)
    assert found["means"].n_flagged == found["pairs"].n_flagged == 0
    assert found["triples"].columns[found["triples"].flagged].tolist() == [[3, 4, 5]]
    assert "1 of 20 triples (x4–x5–x6" in found.sentence or "1 of 20 triples (x3–x4–x5" in found.sentence
    X = rng.integers(0, 2, (2000, 6))
    X[:, 1] = np.where(rng.random(2000) < 0.3, X[:, 0], X[:, 1])
    pairs = metrics.check_model(X, fair)["pairs"]
    assert pairs.columns[pairs.flagged].tolist() == [[0, 1]]


def test_shares_are_those_of_the_rows():
    X = exact.exact_sample(MODEL, 500, random_state=0)
    found = metrics.check_model(X, MODEL)
    np.testing.assert_allclose(found["means"].observed, X.mean(axis=0))
    for what in ("pairs", "triples"):
        one = found[what]
        np.testing.assert_allclose(one.observed, [X[:, list(c)].all(axis=1).mean() for c in one.columns])
    counts = found["counts"]
    np.testing.assert_allclose(counts.observed, [(X.sum(axis=1) >= k).mean() for k in counts.columns[:, 0]])
    weighted = metrics.check_model(as_table(X, np.arange(500) % 3), MODEL)
    np.testing.assert_allclose(weighted["means"].observed, np.average(X, axis=0, weights=np.arange(500) % 3))
    pairs = X[:, weighted["pairs"].columns].all(axis=2)
    np.testing.assert_allclose(weighted["pairs"].observed, np.average(pairs, axis=0, weights=np.arange(500) % 3))


def test_probabilities_are_hypergeometric():
    same = _compare("means", np.arange(1)[:, None], np.array([0.5]), np.array([0.5]), (100, 1000), 0.05)
    assert same.p_values[0] == 1.0
    far = _compare("means", np.arange(1)[:, None], np.array([0.4]), np.array([0.2]), (100, 1000), 0.05)
    assert far.p_values[0] == pytest.approx(2 * hypergeom(1100, 240, 100).sf(39))
    assert far.flagged.tolist() == [True]


def test_tails_are_those_of_scipy():
    rng = np.random.default_rng(0)
    for n, m in ((1, 1000), (30, 1000), (5000, 20_000)):
        ones = rng.integers(1, n + m, 200)
        ours = rng.integers(np.maximum(0, ones - m), np.minimum(n, ones) + 1)
        drawn = hypergeom(n + m, ones, n)
        smaller = np.where(ours * (n + m) <= ones * n, drawn.cdf(ours), drawn.sf(ours - 1))
        np.testing.assert_allclose(_tails(ours, ones, n, m), smaller, rtol=1e-7, atol=1e-300)


def test_columns_with_categories():
    kinds = ["ordinal", "nominal", "binary"] * 2
    model = simulate.category_network(simulate.chain_network(6, strength=1.5), kinds, 4, random_state=0)
    X = exact.exact_sample(model, 600, random_state=0)
    assert metrics.check_model(X, model).passed
    assert "above the median" in metrics.check_model(X, model).sentence
    empty = Network(model.fields, [], variables=model.variables, pair_parameters=[])
    assert not metrics.check_model(X, empty).passed


@pytest.mark.parametrize("kind", ["ordinal", "nominal"])
def test_columns_are_split_where_the_repeated_rows_are(kind):
    """The weights move the median and the most frequent value; a row of weight 0 counts for nothing."""
    model = simulate.category_network(simulate.chain_network(3, strength=1.0), kind, 3, random_state=0)
    rows, counts = np.array([[1, 0, 2], [2, 1, 1], [2, 2, 0], [0, 0, 0], [0, 0, 0]]), [1000, 60, 60, 0, 0]
    weighted = metrics.check_model(Table(rows.astype(np.uint8), model.variables, counts), model)
    repeated = metrics.check_model(Table(np.repeat(rows, counts, axis=0).astype(np.uint8), model.variables), model)
    for one, other in zip(weighted.comparisons, repeated.comparisons, strict=True):
        np.testing.assert_array_equal(one.expected, other.expected, err_msg=one.what)
        np.testing.assert_allclose(one.observed, other.observed, rtol=1e-12, err_msg=one.what)


@pytest.mark.parametrize("kind", ["ordinal", "nominal"])
def test_rounding_of_weights_does_not_move_a_split(kind):
    """Three rows of weight 0.1 weigh as much as one of 0.3, though their floating-point sum is larger."""
    model = simulate.category_network(simulate.chain_network(1), kind, 3, random_state=0)
    codes = np.array([[0], [1], [1], [1]], dtype=np.uint8)
    weight = np.array([0.3, 0.1, 0.1, 0.1])
    assert weight[1:].sum() > weight[0]
    assert _split_points(codes, weight, model).tolist() == [0]


def test_categories_that_never_occur_are_not_simulated():
    a, b = [k % 2 for k in range(20)], [k // 2 % 2 for k in range(20)]
    table = Table(np.column_stack([a, b]).astype(np.uint8), Variables.of([6, 2], ["nominal", "binary"]))
    fit = Method(selector=Fixed(1.0)).fit(table)
    means = fit.check(table)["means"].expected
    assert means[0] == pytest.approx(
        0.5, abs=0.025
    )  # five standard errors; 10.5 of 23 rows if each category had half a row
    np.testing.assert_array_equal(metrics.check_model(table, fit)["means"].expected, means)


def test_fits_and_seeds():
    X = exact.exact_sample(MODEL, 600, random_state=1)
    net = IsingNetwork().fit(X)
    assert net.check(X).passed
    one, two = net.fit_.check(X), metrics.check_model(X, net.network_, n_threads=1)
    np.testing.assert_array_equal(one["triples"].expected, two["triples"].expected)
    with pytest.raises(DataError, match='comparison must be one of "means", "pairs", "triples", "counts"; got \'x\''):
        one["x"]
    with pytest.raises(DataError, match="n_simulated must be an integer of at least 1000"):
        net.check(X, n_simulated=10)
    with pytest.raises(DataError, match="level must be between 0 and 1"):
        net.check(X, level=1)


def test_the_figure_has_one_point_per_share():
    import matplotlib as mpl

    mpl.use("Agg")
    found = metrics.check_model(exact.exact_sample(MODEL, 500, random_state=0), MODEL)
    ax = plot.check(found)
    drawn = sum(len(points.get_offsets()) for points in ax.collections if hasattr(points, "get_sizes"))
    assert drawn == sum(len(one.observed) for one in found.comparisons)
    assert "means: 0 of 16 not reproduced" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_samples_warn_if_the_chain_has_not_mixed_or_the_rows_are_others():
    X = neurons(0)
    dense = IsingLasso(alpha=0.0005).fit(X)
    with pytest.warns(MixingWarning) as caught:
        dense.sample(500, random_state=0)
    messages = " ".join(str(one.message) for one in caught)
    assert "has not mixed" in messages or "do not look like the table" in messages


@pytest.mark.filterwarnings("error")
def test_samples_of_a_column_whose_share_exceeds_1_by_rounding():
    X = exact.exact_sample(MODEL, 300, random_state=0)
    X[:, 0] = 1
    with pytest.warns(ConstantColumnWarning):
        fit = Method(selector=Fixed(0.2)).fit(X)
    rounded = replace(fit.data, shares=np.where(fit.data.shares == 1.0, 1.0 + 1e-13, fit.data.shares))
    assert replace(fit, data=rounded).sample(300, random_state=0)[:, 0].all()


@pytest.mark.filterwarnings("error")
def test_samples_of_good_networks_do_not_warn():
    X = simulate.gibbs_sample(LARGE, 1000, n_chains=100, random_state=0)
    net = IsingNetwork().fit(X)
    assert net.sample(500, random_state=0).shape == (500, 30)
