import warnings

import numpy as np
import pytest
from scipy.stats import spearmanr

from isinglass import Fixed, Method, Network, Path, Solution, conditionals, ising_path, simulate
from isinglass.conditionals import row_scores
from isinglass.data import as_table
from isinglass.errors import GridEndWarning
from isinglass.select import scoring as choice
from isinglass.select.scoring import prediction_scores


def solution(alpha, n_edges):
    couplings = np.zeros((4, 4))
    couplings[np.triu_indices(4, 1)] = np.arange(6) < n_edges
    return Solution.from_dense(alpha, couplings + couplings.T, np.zeros(4))


def test_rows_are_scored_in_blocks(monkeypatch):
    model = simulate.random_network(6, 0.5, random_state=0)
    X = simulate.exact_sample(model, 30, random_state=1)
    whole, sizes, log_scores = model.log_pseudolikelihood(X), [], conditionals.log_scores
    parts = sum(row_scores(model, X, columns=np.array([column])) for column in range(6))
    np.testing.assert_allclose(parts, whole, rtol=1e-13)
    fit = Method(selector=Fixed(0.1)).fit(X)
    expected = fit.score_samples(X)
    monkeypatch.setattr(conditionals, "CELLS_AT_ONCE", 6 * 7)
    monkeypatch.setattr(conditionals, "log_scores", lambda *given: sizes.append(len(given[1])) or log_scores(*given))
    np.testing.assert_allclose(model.log_pseudolikelihood(X), whole, rtol=1e-13)
    np.testing.assert_allclose(fit.score_samples(X), expected, rtol=1e-13)
    assert sizes == 2 * [7, 7, 7, 7, 2]


def continuous_network():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 4)) @ rng.normal(size=(4, 4))
    X[:, 3] = X[:, 3] > 0.0
    table = as_table(X, kinds={0: "continuous", 1: "continuous", 2: "continuous"})
    return np.asarray(table), ising_path(table, 5).solutions[-1].network


def test_prediction_scores_judge_continuous_columns_by_their_order():
    codes, fitted = continuous_network()
    placed = [np.array(points)[column] for points, column in zip(fitted.variables.scores, codes.T, strict=True)]
    expected = row_scores(fitted, codes, columns=np.array([3])).mean()
    for s in range(3):
        predictor = sum(fitted.couplings[s, t] * placed[t] for t in range(4))
        r = spearmanr(predictor, placed[s]).statistic
        expected += -0.5 * np.sign(r) * np.log(1.0 - r**2)
    found = prediction_scores(codes, fitted, np.ones(60))
    assert found.mean() == pytest.approx(expected, rel=1e-12)


def test_prediction_scores_know_no_fields_and_no_scale_of_continuous_columns():
    codes, fitted = continuous_network()
    network, codes = fitted, codes.copy()
    codes[:, 3] = 0  # of the column of two values, which is judged by its probabilities, both would matter
    moved = Network(
        network.fields + 1.0, network.edge_index, 0.5 * network.pair_parameters, variables=network.variables
    )
    apart = [
        prediction_scores(codes, one, np.ones(60)) - row_scores(one, codes, columns=np.array([3]))
        for one in (network, moved)
    ]
    np.testing.assert_allclose(*apart, rtol=1e-9)
    reversed_ = Network(network.fields, network.edge_index, -network.pair_parameters, variables=network.variables)
    opposite = prediction_scores(codes, reversed_, np.ones(60)) - row_scores(reversed_, codes, columns=np.array([3]))
    np.testing.assert_allclose(opposite, -apart[0], rtol=1e-9)


def test_prediction_scores_of_weighted_rows_are_those_of_repeated_ones():
    codes, fitted = continuous_network()
    unit = np.random.default_rng(4).integers(1, 4, 60)
    weighted = prediction_scores(codes, fitted, unit.astype(float))
    repeated = prediction_scores(np.repeat(codes, unit, axis=0), fitted, np.ones(unit.sum()))
    np.testing.assert_allclose(np.repeat(weighted, unit), repeated, rtol=1e-9)


def test_prediction_scores_are_finite_where_all_that_weigh_have_one_value():
    codes, fitted = continuous_network()
    weight = (codes[:, 3] == codes[0, 3]).astype(float)
    assert np.isfinite(prediction_scores(codes, fitted, weight)).all()


def test_a_perfect_order_has_a_finite_score():
    codes = np.repeat(np.arange(4, dtype=np.uint8)[:, None], 2, axis=1)
    variables = as_table(codes.astype(float), kinds="continuous").variables
    perfect = Network(np.zeros(6), [[0, 1]], [3.0], variables=variables)
    assert np.isfinite(prediction_scores(codes, perfect, np.ones(4))).all()
    assert prediction_scores(codes[:1], perfect, np.ones(1)).tolist() == [0.0]


def test_row_scores_do_not_overflow():
    network = Network.from_couplings([[0, 1e4], [1e4, 0]], [-5e3, -5e3])
    assert row_scores(network, np.array([[0, 1]], dtype=np.uint8)).tolist() == [-1e4]


@pytest.mark.parametrize(
    ("grid", "index", "end"),
    [
        ([(0.3, 0), (0.2, 1), (0.1, 2)], 1, None),
        ([(0.3, 0), (0.2, 1), (0.1, 2)], 2, "dense"),
        ([(0.3, 1), (0.2, 1), (0.1, 2)], 0, "sparse"),
        ([(0.3, 0), (0.2, 1), (0.1, 2)], 0, None),  # empty: every larger alpha gives the same
        ([(0.3, 0), (0.2, 1), (0.0, 2)], 2, None),  # nothing below 0
        ([(0.3, 2)], 0, None),  # no choice
    ],
)
def test_warning_at_the_ends(grid, index, end):
    path = Path(tuple(solution(*point) for point in grid))
    if end is None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            choice.warn_at_grid_end(path, index, "EBIC")
        return
    with pytest.warns(GridEndWarning, match=f"EBIC choice alpha=0.[13] is the {end} end"):
        choice.warn_at_grid_end(path, index, "EBIC")
