"""Tests of all pairs, and q-values of edges."""

import numpy as np
import pytest
from commands import read_csv, run, write_table
from networks import by_pair, make_table
from scipy.stats import false_discovery_control
from scipy.stats import t as student

from isinglass import IsingNetwork, Table, Variables, edge_tests, load, refit, simulate
from isinglass.errors import DataError, LimitError
from isinglass.network import Network
from isinglass.pairs import all_pairs
from isinglass.results import Solution
from isinglass.select.error_rates import edge_q

CHAIN = simulate.chain_network(8, strength=1.2, fields="balanced")
X = simulate.exact_sample(CHAIN, 800, random_state=0)
EMPTY = Network(np.linspace(-1, 1, 10), np.empty((0, 2), int), [])


def pairs(tests):
    return sorted(zip(tests["source"], tests["target"], strict=True))


def test_probabilities_are_those_of_the_complete_refit():
    found = by_pair(edge_tests(X))
    complete = Solution(Network(np.zeros(8), all_pairs(8), np.ones(28)), 0.0)
    again = refit(X, complete)
    share = ((800 - 8) / 800) ** 2  # a column's regression has a field and seven couplings
    np.testing.assert_allclose(found["refitted"], again.edge_values, atol=1e-3)  # a hundredth of a row of penalty
    np.testing.assert_allclose(found["std_error"] * np.sqrt(share), again.edge_errors, rtol=0.01)
    z = again.edge_values / again.edge_errors * np.sqrt(share)
    np.testing.assert_allclose(found["p"], 2 * student.sf(np.abs(z), 792), atol=2e-3)


def test_constant_columns_have_no_tests():
    found = edge_tests(np.ones((50, 3), dtype=int))
    assert np.isnan(found["p"]).all()


def test_q_values_by_hand():
    found = edge_tests(X)
    assert (np.diff(found["p"]) >= 0).all()
    ratios = found["p"] * 28 / np.arange(1, 29)
    expected = [min(ratios[k:].min(), 1.0) for k in range(28)]
    np.testing.assert_allclose(found["q"], expected)
    assert (found["q"] <= 0.1).sum() >= 7


def test_independent_columns_have_the_level_they_should():
    rejected = [
        (edge_tests(simulate.exact_sample(EMPTY, 300, random_state=seed))["p"] < 0.05).mean() for seed in range(20)
    ]
    assert 0.02 < np.mean(rejected) < 0.075  # 900 tests


def test_constant_columns_and_separation_claim_nothing():
    table = np.column_stack([X, np.zeros(800, int), X[:, 0]])
    found = edge_tests(table)
    assert not ((found["source"] == "x8") | (found["target"] == "x8")).any()  # constant
    copy = (found["source"] == "x0") & (found["target"] == "x9")
    for column in ("refitted", "std_error", "p", "q"):
        assert np.isnan(found[column][copy]).tolist() == [True]
    tested = np.isfinite(found["p"])
    assert tested.tolist() == [True] * (len(tested) - 15) + [False] * 15  # those of copies come last
    counted = false_discovery_control(np.nan_to_num(found["p"], nan=1.0))  # as a pair that is not found
    np.testing.assert_allclose(found["q"][tested], counted[tested])
    assert np.isnan(found["q"][~tested]).all()


def test_constant_columns_and_categories_that_do_not_occur_are_no_parameters():
    found, constant = map(by_pair, map(edge_tests, (X, np.column_stack([X, np.ones((800, 160), int)]))))
    np.testing.assert_allclose(constant["std_error"], found["std_error"], rtol=1e-6)
    np.testing.assert_allclose(constant["p"], found["p"], atol=1e-9)
    names, kinds = [f"x{k}" for k in range(8)], ["nominal"] * 8
    three, ten = (Variables.of([size] * 8, kinds, names=names) for size in (3, 10))
    codes = np.random.default_rng(0).integers(0, 3, (400, 8)).astype(np.uint8)
    seen, declared = (by_pair(edge_tests(Table(codes, variables))) for variables in (three, ten))
    np.testing.assert_allclose(declared["std_error"], seen["std_error"], rtol=1e-6)


def test_a_column_is_not_regressed_on_itself():
    cells = simulate.exact_sample(EMPTY, 50, random_state=0)
    assert len(edge_tests(cells)["p"]) > 0  # a regression has ten parameters: 50 rows are enough
    with pytest.raises(DataError, match="need at least 50 rows"):
        edge_tests(cells[:49])


def test_rare_pairs_are_not_tested():
    rare = Network(np.array([-4.0, -4.0, 0.0]), np.empty((0, 2), int), [])
    found = edge_tests(simulate.exact_sample(rare, 1000, random_state=0))
    assert pairs(found) == [("x0", "x2"), ("x1", "x2")]
    assert np.isnan(edge_q(found, Network(np.zeros(3), [[0, 1]], [1.0]))).tolist() == [True]


def test_columns_with_categories_and_weights():
    kinds = ["ordinal", "nominal"] * 2 + ["binary"]
    model = simulate.category_network(simulate.chain_network(5, strength=1.5), kinds, 3, random_state=0)
    table = simulate.exact_sample(model, 1500, random_state=0)
    tests = edge_tests(table)
    assert set(pairs(tests.take(tests["q"] <= 0.01))) >= {(f"x{k}", f"x{k + 1}") for k in range(4)}
    doubled = by_pair(edge_tests(X, sample_weight=np.full(800, 2)))
    twice = by_pair(edge_tests(np.repeat(X, 2, axis=0)))
    np.testing.assert_allclose(doubled["p"], twice["p"], rtol=1e-3, atol=1e-9)
    assert make_table(X, "ordinal").shape == X.shape


def test_edges_of_a_fit_have_the_q_values_of_their_pairs(tmp_path):
    net = IsingNetwork(fdr=0.1).fit(X)
    tests = edge_tests(X)
    q = dict(zip(zip(tests["source"], tests["target"], strict=True), tests["q"], strict=True))
    assert net.fit_.edge_q.tolist() == [q[f"x{s}", f"x{t}"] for s, t in net.network_.edge_index.tolist()]
    assert f"of {net.network_.n_edges} edges at a false discovery rate of 0.1" in net.summary()
    net.fit_.save(tmp_path / "model.npz")
    assert load(tmp_path / "model.npz").edges()["q"].tolist() == net.edges()["q"].tolist()
    assert "q" not in IsingNetwork().fit(X).edges()


def test_edges_that_could_not_be_tested_are_not_said_to_be_found_or_absent(tmp_path):
    noisy = np.where(np.random.default_rng(0).random(800) < 0.5, X[:, 1], X[:, 0])
    table = np.column_stack([X, X[:, 0] & noisy])  # 1 only where the first column is 1
    net = IsingNetwork(fdr=0.1).fit(table)
    lost = np.isnan(net.fit_.edge_q)
    assert [0, 8] in net.network_.edge_index[lost].tolist()
    assert np.isfinite(net.fit_.edge_q[~lost]).all()
    said = f"{lost.sum()} could not be tested (infinite or too rare)"
    assert said in net.summary()
    assert said in net.methods_text()
    n_infinite = int(np.isnan(net.fit_.refits.edge_errors).sum())
    assert 0 < n_infinite < net.network_.n_edges
    assert f"No standard error: {n_infinite} edge" in net.summary()
    assert f"There are none for {n_infinite} edge" in net.methods_text()
    net.fit_.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(load(tmp_path / "model.npz").edges()["q"], net.edges()["q"])


def test_the_command_line_writes_q(tmp_path):
    path = write_table(tmp_path / "table.csv")
    rows = read_csv(run("fit", path, "--fdr", "0.1").stdout)
    assert all(0 <= float(row["q"]) <= 1 for row in rows)


def test_what_is_refused():
    with pytest.raises(DataError, match=r"at least \d+ rows for these columns \(5 per parameter"):
        edge_tests(X[:30])
    with pytest.raises(LimitError, match="at most 20000 parameters; got 20301"):
        edge_tests(np.random.default_rng(0).integers(0, 2, (10, 201)))
    with pytest.raises(DataError, match="fdr must be above 0 and at most 1"):
        IsingNetwork(fdr=2).fit(X)
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    with pytest.raises(DataError, match="take imputed cells for observed ones"):
        IsingNetwork(fdr=0.1, missing="impute").fit(holes)
