import math

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st
from networks import make_network

from isinglass import Fixed, IsingLasso, Method, ising_path, refit
from isinglass.data import Table
from isinglass.errors import DataError
from isinglass.metrics import (
    EdgeConfusion,
    check_model,
    edge_confusion,
    node_table,
    relative_difference,
    roc_curve,
    weight_correlation,
)
from isinglass.network import Network
from isinglass.results import Path, Solution
from isinglass.simulate import chain_network, exact_sample, random_network
from isinglass.variables import Variables
from paper.published.stacked import vectorize

seeds = st.integers(0, 2**31)

TRUTH = np.array([[0, 1, 0, 2], [1, 0, -1, 0], [0, -1, 0, 0], [2, 0, 0, 0]], dtype=float)  # 01, 03, 12-
ESTIMATE = np.array([[0, 3, 1, 0], [3, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 0]], dtype=float)  # 01, 02, 12+


def upper(model):
    return model.couplings[np.triu_indices(model.n_features, 1)]


def pair_of_models(seed):
    rng = np.random.default_rng(seed)
    p = int(rng.integers(3, 9))
    return [random_network(p, float(rng.uniform(0.2, 0.8)), random_state=rng) for _ in range(2)]


# ------------------------------------------------------------------------------------------- edges


def test_values_by_hand():
    counts = edge_confusion(ESTIMATE, TRUTH)
    assert counts == EdgeConfusion(2, 1, 1, 2)
    assert counts.precision == counts.recall == pytest.approx(2 / 3)
    assert counts.false_positive_rate == pytest.approx(1 / 3)
    assert counts.f1 == pytest.approx(2 / 3)
    assert counts.mcc == pytest.approx((2 * 2 - 1) / 9)
    assert counts.hamming == 2
    assert weight_correlation(ESTIMATE, TRUTH) == pytest.approx(
        np.corrcoef([3, 1, 0, 1, 0, 0], [1, 0, 2, -1, 0, 0])[0, 1]
    )


@given(seed=seeds)
def test_scikit_learn_agrees(seed):
    estimate, truth = pair_of_models(seed)
    found, true = upper(estimate) != 0, upper(truth) != 0
    counts = edge_confusion(estimate, truth)
    (tn, fp), (fn, tp) = sklearn.metrics.confusion_matrix(true, found, labels=[False, True])
    assert counts == EdgeConfusion(tp, fp, fn, tn)
    if len({*true, *found}) == 2:  # scikit-learn warns of a single label
        assert counts.mcc == pytest.approx(sklearn.metrics.matthews_corrcoef(true, found), abs=1e-12)
    if tp + fp + fn:
        assert counts.f1 == pytest.approx(sklearn.metrics.f1_score(true, found, zero_division=0.0))
    assert counts.hamming == round(sklearn.metrics.hamming_loss(true, found) * len(true))
    if upper(estimate).any() and upper(truth).any():
        expected = np.corrcoef(upper(estimate), upper(truth))[0, 1]
        assert weight_correlation(estimate, truth) == pytest.approx(expected, abs=1e-12)


def test_empty_and_complete_networks():
    empty, full = np.zeros((3, 3)), np.ones((3, 3)) - np.eye(3)
    nothing = edge_confusion(empty, empty)
    assert nothing == EdgeConfusion(0, 0, 0, 3)
    assert nothing.f1 == 1.0
    assert nothing.mcc == 0.0
    assert math.isnan(nothing.precision)
    assert math.isnan(nothing.recall)
    assert math.isnan(edge_confusion(full, full).false_positive_rate)
    assert edge_confusion(full, empty).f1 == 0.0
    assert math.isnan(weight_correlation(empty, full))
    assert math.isnan(weight_correlation(full, full))
    assert edge_confusion([[0.0]], [[0.0]]) == EdgeConfusion(0, 0, 0, 0)
    assert math.isnan(weight_correlation([[0.0]], [[0.0]]))


def test_every_kind_of_network_is_read_the_same():
    model = random_network(7, 0.5, random_state=1)
    truth = random_network(7, 0.5, random_state=2)
    solution = Solution.from_dense(0.1, model.couplings, model.fields)
    kinds = [model, solution, model.theta, model.theta.tolist(), sp.csr_array(model.theta), sp.coo_matrix(model.theta)]
    for network in kinds:
        assert edge_confusion(network, truth) == edge_confusion(model, truth)
        assert edge_confusion(truth, network) == edge_confusion(truth, model)
        assert weight_correlation(network, truth) == weight_correlation(model, truth)
        assert relative_difference(network, model) == 0.0
        assert relative_difference(network, truth) == relative_difference(model, truth)
    adjacency = model.couplings != 0
    assert edge_confusion(adjacency, truth) == edge_confusion(model, truth)


def test_bad_networks_are_named():
    with pytest.raises(DataError, match="same number of nodes; got 4 and 3"):
        edge_confusion(TRUTH, np.zeros((3, 3)))
    with pytest.raises(DataError, match="must be symmetric"):
        edge_confusion(np.triu(TRUTH), TRUTH)
    with pytest.raises(DataError, match="must be symmetric"):
        edge_confusion(sp.csr_array(np.triu(TRUTH)), TRUTH)
    for bad in (TRUTH[:2], TRUTH[0], np.zeros((0, 0)), [["a"]]):
        with pytest.raises(DataError, match=r"network must be (a square matrix|an array of numbers)"):
            edge_confusion(bad, TRUTH)
    with pytest.raises(DataError, match=r"got Path. .* take one point of a path"):
        edge_confusion(ising_path(np.eye(4), [0.1]), TRUTH)
    with pytest.raises(DataError, match="network must be finite"):
        edge_confusion(TRUTH * np.nan, TRUTH)


@given(seed=seeds)
def test_relative_difference_is_that_of_the_vectorized_parameters(seed):
    a, b = pair_of_models(seed)
    one, two = vectorize(a.theta), vectorize(b.theta)
    if two.any():
        expected = np.linalg.norm(one - two) / np.linalg.norm(two)
        assert relative_difference(a, b) == pytest.approx(expected, abs=1e-12)


def test_relative_difference_by_hand_and_at_zero():
    # Only θ_12 and θ_22 differ, by 2 and 1; every pair counts once: ‖(2, 0, 1)‖ / ‖(2, 1, 2)‖.
    assert relative_difference(np.eye(2), [[1, 2], [2, 2]]) == pytest.approx(math.sqrt(5) / 3)
    assert relative_difference(np.zeros((2, 2)), np.zeros((2, 2))) == 0.0
    assert relative_difference(np.eye(2), np.zeros((2, 2))) == math.inf


# ------------------------------------------------------------------------------------------- ROC


def nested_path(scores, p):
    """One solution per threshold: the pairs whose score reaches it."""
    s, t = np.triu_indices(p, 1)
    solutions = []
    for alpha in np.unique(scores)[::-1]:
        couplings = np.zeros((p, p))
        couplings[s, t] = couplings[t, s] = scores >= alpha
        solutions.append(Solution.from_dense(float(alpha), couplings, np.zeros(p)))
    return Path(tuple(solutions))


@given(seed=seeds)
def test_auc_of_a_nested_path_is_that_of_its_scores(seed):
    rng = np.random.default_rng(seed)
    p = int(rng.integers(3, 8))
    truth = random_network(p, 0.5, random_state=rng)
    labels = upper(truth) != 0
    scores = rng.integers(1, 8, len(labels)).astype(float)  # with ties
    if labels.any() and not labels.all():
        curve = roc_curve(nested_path(scores, p), truth)
        assert curve.auc == pytest.approx(sklearn.metrics.roc_auc_score(labels, scores), abs=1e-12)
        fpr, tpr, _ = sklearn.metrics.roc_curve(labels, scores, drop_intermediate=False)
        expected = np.unique(np.column_stack([fpr, tpr]), axis=0)
        found = np.unique(np.column_stack([curve.fpr, curve.tpr]), axis=0)
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_ends_of_the_curve():
    curve = roc_curve([ESTIMATE], TRUTH)
    assert curve.fpr.tolist() == pytest.approx([0, 1 / 3, 1])
    assert curve.tpr.tolist() == pytest.approx([0, 2 / 3, 1])
    assert curve.auc == pytest.approx(1 / 9 + (2 / 3) * (2 / 3 + 1) / 2)
    assert curve.alphas[0] == math.inf
    assert np.isnan(curve.alphas[1:]).all()
    assert roc_curve([np.zeros_like(TRUTH)], TRUTH).auc == 0.5  # no information: the diagonal
    with pytest.raises(DataError, match="path must be a path, or a list of networks"):
        roc_curve([], TRUTH)
    assert repr(curve) == "RocCurve(auc=0.6667, 3 points)"
    with pytest.raises(ValueError, match="read-only"):
        curve.fpr[0] = 1


def test_curve_of_a_fitted_path():
    truth = chain_network(8, strength=2.0, fields="balanced")
    path = ising_path(exact_sample(truth, 2000, random_state=0), 20)
    curve = roc_curve(path, truth)
    assert len(curve.fpr) == 22
    assert curve.auc > 0.98
    assert (np.diff(curve.fpr) >= 0).all()
    assert sorted(curve.alphas[np.isfinite(curve.alphas)]) == sorted(path.alphas)
    assert curve.auc == roc_curve(path[::-1], truth).auc


def test_truth_without_contrast_is_refused():
    for truth, edges in ((np.zeros((3, 3)), 0), (np.ones((3, 3)), 3)):
        with pytest.raises(DataError, match=f"one pair with an edge and one without; got {edges} edges among 3"):
            roc_curve([], truth)
    with pytest.raises(DataError, match="same number of nodes"):
        roc_curve([np.zeros((3, 3))], TRUTH)
    with pytest.raises(DataError, match="path must be a path, or a list of networks; got 'Network'"):
        roc_curve(Network([0.0, 0.0], [], []), TRUTH)


# ------------------------------------------------------------------------------------------- nodes


def test_node_table_by_hand():
    model = Network.from_couplings([[0, 2, -1], [2, 0, 0], [-1, 0, 0]], [-1, 0, 0], names=["a", "b", "c"])
    X = np.array([[1, 1, 0], [0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 0, 0]])
    table = node_table(X, model)
    assert table["name"].tolist() == ["a", "b", "c"]
    assert table["degree"].tolist() == [2, 1, 1]
    assert table["strength"].tolist() == [3, 2, 1]
    assert table["expected_influence"].tolist() == [1, 2, -1]
    # η of a: 1, −2, 0, −1, −1: right, right, tie, right, wrong. b: 2, 0, 2, 0, 2. c: −1, 0, −1, 0, −1.
    np.testing.assert_allclose(table["accuracy"], [3.5 / 5, 3 / 5, 3 / 5])
    np.testing.assert_allclose(table["marginal_accuracy"], [3 / 5, 3 / 5, 3 / 5])
    np.testing.assert_allclose(table["normalized_accuracy"], [0.25, 0.0, 0.0], atol=1e-12)
    given_rest = [math.log1p(math.exp(-z)) for z in (1, 2, 0, 1, -1)]  # of a: z = ±η towards the observed value
    alone = -(3 * math.log(3 / 5) + 2 * math.log(2 / 5))
    assert table["deviance_explained"][0] == pytest.approx(1 - sum(given_rest) / alone)


def test_deviance_of_a_fit_is_over_the_categories_of_the_entropy():
    rng = np.random.default_rng(0)
    one = rng.choice([0, 1, 2, 3, 5, 8, 13, 14, 15, 28, 29], 60)
    X = np.column_stack([one, np.clip(one + rng.integers(-1, 2, 60), 0, 29)])
    table = Table(X.astype(np.uint8), Variables.of([30, 30], "ordinal"))
    fit = Method(selector=Fixed(1e-3)).fit(table)
    found = node_table(table, fit)
    for s in range(2):
        counts = np.bincount(X[:, s], minlength=30)
        share = counts[counts > 0] / 60
        own = fit.network.fields.reshape(2, 29)[s]
        scores = table.variables.score(s)
        logits = np.append(0.0, own) + np.outer(fit.network.edge_values[0] * scores[X[:, 1 - s]], scores)
        logits = logits[:, counts > 0]
        chosen = logits[np.arange(60), np.searchsorted(np.flatnonzero(counts), X[:, s])]
        deviance = (np.logaddexp.reduce(logits, axis=1) - chosen).mean()
        assert found["deviance_explained"][s] == pytest.approx(1 + deviance / (share @ np.log(share)), rel=1e-9)


def test_node_table_in_every_kind_and_with_weights():
    model = random_network(6, 0.5, random_state=3)
    X = exact_sample(model, 60, random_state=0)
    weight = np.random.default_rng(0).integers(0, 4, 60)
    expected = node_table(np.repeat(X, weight, axis=0), model)
    for network in (model, Solution.from_dense(0.1, model.couplings, model.fields), model.theta):
        found = node_table(X, network, sample_weight=1e300 * weight)
        for name in list(expected)[1:]:
            np.testing.assert_allclose(found[name], expected[name], rtol=1e-10, atol=1e-12)
    rows = model.log_pseudolikelihood(X)
    means = X.mean(axis=0)
    null = -(means * np.log(means) + (1 - means) * np.log(1 - means))
    unexplained = (1 - node_table(X, model)["deviance_explained"]) @ null
    assert unexplained == pytest.approx(-rows.mean())


def test_flipping_the_coding_of_a_column_changes_no_prediction():
    J = np.array([[0, 0.5, 0], [0.5, 0, -0.25], [0, -0.25, 0]])
    flip = np.array([1, -1, 1])
    X = exact_sample(Network.from_spins(J, np.zeros(3)), 50, random_state=1)
    one = node_table(X, Network.from_spins(J, np.zeros(3)))
    two = node_table(np.where(flip > 0, X, 1 - X), Network.from_spins(J * np.outer(flip, flip), np.zeros(3)))
    for name in ("accuracy", "marginal_accuracy", "normalized_accuracy", "deviance_explained"):
        np.testing.assert_allclose(one[name], two[name], atol=1e-12)


def test_constant_columns_and_perfect_predictions():
    model = Network.from_couplings([[0, 90.0, 0], [90.0, 0, 0], [0, 0, 0]], [-45.0, -45.0, 900.0])
    table = node_table([[0, 0, 1], [1, 1, 1]], model)
    assert table["accuracy"].tolist() == [1, 1, 1]
    np.testing.assert_allclose(table["normalized_accuracy"], [1, 1, np.nan])
    np.testing.assert_allclose(table["deviance_explained"], [1, 1, np.nan])
    weighted = node_table([[0, 0, 1], [1, 1, 1], [0, 1, 0]], model, sample_weight=[1, 1, 0])
    np.testing.assert_allclose(weighted["normalized_accuracy"], table["normalized_accuracy"])


def test_table_is_readable():
    table = node_table([[0, 1, 0], [1, 1, 0]], chain_network(3))
    lines = repr(table).splitlines()
    assert lines[0].split("  ")[0].strip() == "name"
    assert [line.split()[0] for line in lines[1:]] == ["x0", "x1", "x2"]
    assert len({len(line) for line in lines}) == 1
    assert "expected_influence" in lines[0]
    assert list(table)[:3] == ["name", "degree", "strength"]
    many = node_table(np.eye(40), chain_network(40))
    assert repr(many).splitlines()[-1] == "… and 10 more rows"
    with pytest.raises(DataError, match="X must have the 3 columns of the fitted table or network; got 2"):
        node_table([[0, 1]], chain_network(3))


def test_nodes_with_categories_are_measured_as_by_hand():
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.integers(0, 3, 60), rng.integers(0, 4, 60), rng.integers(0, 2, 60)]).astype(np.uint8)
    weight = rng.integers(0, 3, 60).astype(np.float64)
    network = make_network(
        [[0, 0.3, -0.2], [0, 0.1, 0.2, -0.5], [0, 0.4]],
        [None, [0, 1, 2, 3], [0, 1]],
        [[0, 1], [0, 2], [1, 2]],
        blocks=[[[0.5], [0.1], [-0.6]], [[0.2], [0.3], [-0.5]], [[0.4]]],
    )
    found = node_table(codes, network, weight)
    P = network.probabilities(codes)
    for s in range(3):
        share = np.array([weight[codes[:, s] == k].sum() for k in range(P[s].shape[1])]) / weight.sum()
        right = deviance = 0.0
        for n in range(60):  # no two categories are equally probable here
            right += weight[n] * (P[s][n].argmax() == codes[n, s])
            deviance -= weight[n] * np.log(P[s][n, codes[n, s]])
        entropy = -(share * np.log(share)).sum()
        assert found["accuracy"][s] == pytest.approx(right / weight.sum())
        assert found["marginal_accuracy"][s] == pytest.approx(share.max())
        assert found["deviance_explained"][s] == pytest.approx(1 - deviance / weight.sum() / entropy)
        scores = network.variables.score(s)
        if scores is None:
            assert np.isnan(found["r_squared"][s])
        else:
            cells, expected = scores[codes[:, s]], P[s] @ scores
            mean = np.average(cells, weights=weight)
            explained = 1 - np.average((cells - expected) ** 2, weights=weight) / np.average(
                (cells - mean) ** 2, weights=weight
            )
            assert found["r_squared"][s] == pytest.approx(explained)
    np.testing.assert_allclose(found["strength"], network.strength)


def test_ties_of_categories_count_their_share():
    codes = np.array([[0, 0], [1, 1], [2, 0]], dtype=np.uint8)
    network = make_network([[0, 0, 0], [0, 0]], [None, [0, 1]], [], [])
    np.testing.assert_allclose(node_table(codes, network)["accuracy"], [1 / 3, 1 / 2])


def test_a_frame_is_read_as_that_of_the_fit():
    trait = np.random.default_rng(0).normal(size=300)
    noise = np.random.default_rng(1).normal(size=(300, 3))
    answers = 1 + np.digitize(trait[:, None] + noise, [-1, 0, 1, 2])
    frame = pd.DataFrame(answers, columns=["a", "b", "c"])  # answers 1 to 5 are the categories 0 to 4
    net = IsingLasso(0.05, kinds="ordinal").fit(frame)
    expected = node_table(Table((answers - 1).astype(np.uint8), net.network_.variables), net.network_)
    for fitted in (net, net.fit_):
        np.testing.assert_array_equal(node_table(frame, fitted)["accuracy"], expected["accuracy"])
    few, network = frame.clip(upper=4), net.network_
    for measure in (node_table, check_model, lambda X, _: refit(X, net.fit_.solution)):
        assert repr(measure(few.to_numpy(), network)) == repr(measure(few, network))
    words = IsingLasso(0.05, encode="auto").fit(frame > 3)
    agree = pd.DataFrame(np.where(frame > 3, "yes", "no"), columns=frame.columns)
    spoken = IsingLasso(0.05, encode={"no": 0, "yes": 1}).fit(agree)
    np.testing.assert_array_equal(node_table(agree, spoken)["accuracy"], node_table(frame > 3, words)["accuracy"])


def test_a_node_without_edges_explains_exactly_nothing():
    X = np.random.default_rng(0).random((777, 6)) < [0.1, 0.2, 0.3, 0.37, 0.61, 0.9]
    share = X.mean(axis=0)
    table = node_table(X.astype(int), np.diag(np.log(share / (1 - share))))
    assert not table["deviance_explained"].any()
    assert not table["r_squared"].any()
