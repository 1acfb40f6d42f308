import math

import numpy as np
import pytest
from choices import select_ebic

from isinglass import EBIC, Method, Path, Solution, as_table, ising_path, nodewise_path, simulate
from isinglass.errors import ConstantColumnWarning, DataError, DataWarning, GridEndWarning
from isinglass.select import Fixed, ebic

# Four rows of three columns, and one coupling: small enough to write every term down.
X = np.array([[0, 0, 1], [1, 1, 0], [1, 1, 1], [0, 1, 0]])
NETWORK = Solution.from_dense(0.1, np.array([[0, 1.5, 0], [1.5, 0, 0], [0, 0, 0]]), np.array([-1.0, 0.5, 0.0]))


def by_hand(gamma, weights=(1, 1, 1, 1), columns=(0, 1, 2)):
    total = 0.0
    for row, weight in zip(X.tolist(), weights, strict=True):
        logits = [-1.0 + 1.5 * row[1], 0.5 + 1.5 * row[0], 0.0]
        for s in columns:
            one = 1.0 / (1.0 + math.exp(-logits[s]))
            total += weight * math.log(one if row[s] else 1.0 - one)
    return -2.0 * total + 2 * 1 * (math.log(sum(weights)) + 2 * gamma * math.log(len(columns) - 1))


@pytest.mark.parametrize("gamma", [0.0, 0.25, 0.5])
def test_value_by_hand(gamma):
    assert ebic(X, NETWORK, gamma=gamma) == pytest.approx(by_hand(gamma), rel=1e-13)


def test_value_in_plain_numbers():
    # Without fields and edges each of the 12 cells has probability one half.
    empty = Solution.from_dense(1.0, np.zeros((3, 3)), np.zeros(3))
    assert ebic(X, empty) == pytest.approx(24 * math.log(2), rel=1e-14)


def test_weights_are_repeated_rows():
    weights = np.array([2, 1, 0, 3])
    value = ebic(X, NETWORK, sample_weight=weights)
    assert value == pytest.approx(by_hand(0.25, weights), rel=1e-13)
    assert value == pytest.approx(ebic(np.repeat(X, weights, axis=0), NETWORK), rel=1e-13)


def test_a_row_of_weight_zero_may_have_a_category_of_its_own():
    chain = simulate.chain_network(4, strength=2.0, fields="balanced")
    rows = np.array(simulate.exact_sample(chain, 400, random_state=0))
    rows[0, 3] = 2
    method = Method(selector=EBIC())
    found = method.choose(as_table(rows, np.arange(400) > 0, kinds={3: "nominal"}))
    expected = method.choose(as_table(rows[1:], kinds={3: "nominal"}))
    assert found.solution.n_edges == expected.solution.n_edges >= 3
    np.testing.assert_allclose(found.evidence.values, expected.evidence.values, rtol=1e-6)


def test_sampling_weights_have_no_scale():
    weight = np.array([0.5, 1.5, 0.0, 1.25])
    effective = weight.sum() ** 2 / (weight**2).sum()
    value = by_hand(0.25, weight * effective / weight.sum())
    assert ebic(X, NETWORK, sample_weight=weight) == pytest.approx(value, rel=1e-13)  # no warning
    for scale in (0.4, 4.1):  # the sum is 1.3 and 13.3 over three rows
        with pytest.warns(DataWarning, match=r"over 3 rows and are treated as sampling weights"):
            found = ebic(X, NETWORK, sample_weight=scale * weight)
        assert found == pytest.approx(value, rel=1e-13)
    stated = as_table(X, weight_kind="sampling")
    assert ebic(stated, NETWORK, sample_weight=4 * weight) == pytest.approx(value, rel=1e-13)  # whole, but stated
    assert ebic(stated, NETWORK, sample_weight=[7, 7, 7, 7]) == pytest.approx(ebic(X, NETWORK), rel=1e-13)


def test_constant_columns_do_not_count():
    weights = np.array([0, 1, 1, 1])  # column 1 is constant in the rows that count
    assert ebic(X, NETWORK, sample_weight=weights) == pytest.approx(by_hand(0.25, weights, columns=(0, 2)), rel=1e-13)


def test_one_value_per_alpha():
    table = simulate.exact_sample(simulate.chain_network(5), 200, random_state=0)
    path = ising_path(table, 6)
    scores = ebic(table, path)
    assert scores.shape == (6,)
    assert scores.tolist() == [ebic(table, point).item() for point in path] == ebic(table, list(path)).tolist()
    # At alpha_max the mean log pseudo-likelihood is minus the objective.
    assert scores[0] == pytest.approx(2 * 200 * path[0].objective, rel=1e-9)


def test_choice():
    table = simulate.exact_sample(simulate.chain_network(6, strength=1.5, fields="balanced"), 1000, random_state=3)
    found = select_ebic(table, alphas=30)
    assert found.index == found.evidence.values.argmin()
    assert found.alpha == found.path.alphas[found.index] == found.solution.alpha
    assert found.solution.edge_index.tolist() == [[k, k + 1] for k in range(5)]
    edges = [select_ebic(table, alphas=30, gamma=gamma).solution.n_edges for gamma in (0, 0.25, 0.5, 5)]
    assert edges == sorted(edges, reverse=True)
    assert "alpha=" in repr(found)
    with pytest.raises(ValueError, match="read-only"):
        found.evidence.values[0] = 0.0


def test_any_estimator():
    table = simulate.exact_sample(simulate.chain_network(4, strength=2.0, fields="balanced"), 500, random_state=4)
    found = select_ebic(table, alphas=20, estimator="nodewise")
    assert found.evidence.values.tolist() == ebic(table, nodewise_path(table, 20)).tolist()
    assert {(0, 1), (1, 2), (2, 3)} <= {tuple(pair) for pair in found.solution.edge_index.tolist()}


def test_ties_go_to_the_sparse_side():
    def empty(table, alphas):
        return Path(tuple(Solution.from_dense(a, np.zeros((3, 3)), np.zeros(3)) for a in (0.3, 0.2, 0.1)))

    assert select_ebic(X, function=empty).index == 0


def test_dense_end_is_reported():
    table = simulate.exact_sample(simulate.chain_network(4, strength=2.0, fields="balanced"), 500, random_state=4)
    with pytest.warns(GridEndWarning, match="EBIC choice alpha=0.2 is the dense end"):
        select_ebic(table, alphas=[0.3, 0.2])
    with pytest.warns(GridEndWarning, match="sparse end"):
        select_ebic(table, alphas=[0.01, 1e-5, 0.0], gamma=2.0)


def test_constant_column_is_named_once():
    table = np.column_stack([X, np.ones(4, dtype=int)])
    with pytest.warns(ConstantColumnWarning, match="column 3") as caught:
        found = select_ebic(np.repeat(table, 50, axis=0), alphas=[0.4, 0.3, 0.0001], gamma=100.0)
    assert len(caught) == 1
    assert np.isfinite(found.evidence.values).all()


@pytest.mark.parametrize("gamma", [-0.1, np.nan, np.inf, "a", None])
def test_gamma_is_checked(gamma):
    with pytest.raises(DataError, match=r"gamma must be (finite|a number)"):
        ebic(X, NETWORK, gamma=gamma)


def test_networks_must_be_solutions():
    for given in (NETWORK.network, [NETWORK.network], 3):
        with pytest.raises(DataError, match="path must be a Solution, a Fit, a fitted estimator, a Path or"):
            ebic(X, given)


def test_table_is_checked():
    with pytest.raises(DataError, match=r"one column per node \(3\); got 2"):
        ebic(X[:, :2], NETWORK)
    with pytest.raises(DataError, match="zero"):
        ebic(X, NETWORK, sample_weight=np.zeros(4))


def test_a_fit_has_the_ebic_of_its_solution():
    X = np.random.default_rng(0).integers(0, 2, (60, 3))
    fit = Method(selector=Fixed(0.05)).fit(X)
    assert ebic(X, fit) == ebic(X, fit.solution)
