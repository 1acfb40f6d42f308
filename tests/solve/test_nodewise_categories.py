"""Node-wise regressions of columns with categories: optimality per node, rules, the EBIC, the binary case."""

import json

import numpy as np
import pytest
from choices import isingfit
from commands import run
from networks import make_table
from reference_discrete import OneNode
from sklearn.base import clone

from isinglass import NodewiseIsingEBIC, load, nodewise_path
from isinglass.data import as_table
from isinglass.errors import ArgumentError
from isinglass.solve.nodewise import NodewiseSettings, network_at
from isinglass.solve.regressions import RULES

KINDS = ["nominal", "ordinal", "binary", "nominal", "ordinal"]
LEVELS = [4, 5, 2, 3, 3]


def answers(seed, n=150, levels=LEVELS):
    """Categories that hang together through one hidden number; nominal ones are shuffled."""
    rng = np.random.default_rng(seed)
    mood = rng.normal(size=n)
    columns = [np.digitize(mood + rng.normal(size=n), np.linspace(-1, 1, q - 1)) for q in levels]
    shuffled = [np.random.default_rng(0).permutation(q) for q in levels]
    return np.column_stack([column if k % 3 else shuffled[k][column] for k, column in enumerate(columns)])


def regression(reference, fits, k):
    """Theta and fields of one node's regression at alpha number k, as the slow twin wants them."""
    theta, fields = reference.null()
    estimates, variables = fits.estimates, fits.estimates.variables
    for at in np.flatnonzero((estimates.alpha == k) & (estimates.node == reference.node)):
        s, t = estimates.pairs[at].tolist()
        sides = (reference.scores[s], reference.scores[t])
        left, right = (np.eye(1) if phi.shape[1] == 1 else np.linalg.pinv(phi) for phi in sides)
        theta[s, t] = left @ estimates.blocks[at] @ right.T
    found = fits.fields[k][variables.column[variables.is_later] == reference.node]
    fields[reference.node] = np.append(0.0, found)
    return theta, fields


@pytest.mark.parametrize("kinds", ["ordinal", KINDS], ids=["ordinal", "mixed"])
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_regression_is_certified_and_the_slow_twin_agrees(kinds, standardize, weighted):
    X = answers(1)
    weight = np.random.default_rng(2).random(len(X)) if weighted else None
    path = nodewise_path(
        X, 4, kinds=kinds, standardize=standardize, sample_weight=weight, alpha_min_ratio=0.05, tol=1e-9
    )
    every = KINDS if kinds is KINDS else ["ordinal"] * 5
    top = 0.0
    for s in range(5):
        twin = OneNode(s, X, every, standardize=standardize, sample_weight=weight)
        top = max(top, twin.alpha_max())
        for k, alpha in enumerate(path.alphas):
            theta, fields = regression(twin, path.nodes, k)
            assert path.nodes.objectives[k, s] == pytest.approx(twin.objective(theta, fields, alpha), rel=1e-11)
            assert path.nodes.losses[k, s] == pytest.approx(twin.loss(theta, fields), rel=1e-11)
            residual = twin.kkt_residual(theta, fields, alpha)
            assert residual <= path.nodes.kkt_residuals[k, s] + 1e-12 <= 1e-9
            with np.errstate(divide="ignore"):
                gap = twin.gap(theta, fields, alpha)
            assert -1e-12 <= gap <= path.nodes.duality_gaps[k, s] + 1e-10
    assert path.alphas[0] == pytest.approx(top, rel=1e-11)
    assert path.converged.all()
    assert path[-1].n_edges > 5


def test_the_slow_twin_finds_the_same_regression():
    X = answers(3, n=80)
    path = nodewise_path(X, [0.03], kinds=KINDS, tol=1e-10)
    for s in (0, 1):
        twin = OneNode(s, X, KINDS)
        theta, fields = twin.solve(0.03, tol=1e-8)
        found, at = regression(twin, path.nodes, 0)
        for pair in twin.pairs:
            np.testing.assert_allclose(found[pair], theta[pair], atol=1e-5)
        np.testing.assert_allclose(at[s], fields[s], atol=1e-5)


def test_two_categories_give_the_binary_path():
    X = answers(4, n=200, levels=[2] * 6)
    X[:, 0] = 1 - X[:, 0]
    binary = nodewise_path(X, 8, tol=1e-11)
    for kind in ("ordinal", "nominal"):
        assert nodewise_path(X, 8, tol=1e-11, kinds=kind)[-1].network == binary[-1].network
    through_categories = make_table(X, "ordinal")
    through_categories.variables.__dict__["is_binary"] = False
    declared = nodewise_path(through_categories, 8, tol=1e-11)
    corners = make_table(X.astype(np.uint8), "nominal", categories=[(0, 1, 2)] * 6)  # the third never occurs
    for one, ordinal, nominal in zip(binary, declared, nodewise_path(corners, 8, tol=1e-11), strict=True):
        assert ordinal.edge_index.tolist() == nominal.edge_index.tolist() == one.edge_index.tolist()
        np.testing.assert_allclose(ordinal.edge_values, one.edge_values, atol=1e-9)
        np.testing.assert_allclose(nominal.edge_values, abs(one.edge_values), atol=1e-9)
        np.testing.assert_allclose(ordinal.network.fields, one.fields, atol=1e-9)
        assert ordinal.objective == pytest.approx(one.objective, rel=1e-11)


def test_relabeling_and_reversing_change_nothing_else():
    X = answers(5)
    other, order = X.copy(), np.array([2, 0, 3, 1])
    other[:, 0], other[:, 1] = order[X[:, 0]], 4 - X[:, 1]
    for one, two in zip(*(nodewise_path(table, 6, kinds=KINDS, tol=1e-10) for table in (X, other)), strict=True):
        assert two.edge_index.tolist() == one.edge_index.tolist()
        assert two.objective == pytest.approx(one.objective, rel=1e-11)
        np.testing.assert_allclose(abs(two.edge_values), abs(one.edge_values), atol=1e-7)
        for (s, t), block, moved in zip(one.edge_index, one.network.blocks, two.network.blocks, strict=True):
            back = moved[order] if s == 0 else moved
            np.testing.assert_allclose(-back if 1 in (s, t) else back, block, atol=1e-7)


def test_threads_change_no_bit():
    X = np.hstack([answers(seed, n=500) for seed in range(3)])
    paths = [nodewise_path(X, 6, kinds=KINDS * 3, n_threads=n) for n in (1, 2, 3)]
    for name in ("objectives", "duality_gaps", "fields"):
        assert len({getattr(path.nodes, name).tobytes() for path in paths}) == 1
    for name in ("alpha", "node", "column", "parameters"):
        assert len({getattr(path.nodes.estimates, name).tobytes() for path in paths}) == 1


@pytest.mark.parametrize("rule", RULES)
def test_rules_are_about_blocks(rule):
    path = nodewise_path(answers(6), 8, kinds=KINDS, rule=rule)
    found = path.nodes.estimates
    for k, solution in enumerate(path):
        estimates = {}
        for at in np.flatnonzero(found.alpha == k):
            estimates.setdefault(tuple(found.pairs[at].tolist()), []).append(found.blocks[at])
        expected = {}
        for pair, blocks in estimates.items():
            if rule != "and" or len(blocks) == 2:
                expected[pair] = sum(blocks) / (2 if rule == "mean" else len(blocks))
        assert [tuple(pair) for pair in solution.edge_index.tolist()] == sorted(expected)
        for pair, block in zip(solution.edge_index.tolist(), solution.network.blocks, strict=True):
            np.testing.assert_allclose(block, expected[tuple(pair)], atol=1e-15)
    assert any(len(blocks) == 1 for blocks in estimates.values()) or path.n_edges.max() == 10


def test_the_ebic_counts_parameters():
    X = answers(7)
    path = nodewise_path(X, 12, kinds=KINDS)
    m, fits = np.array([3, 1, 1, 2, 1]), path.nodes
    estimates = fits.estimates
    chosen = fits.choose_ebic(0.5)
    for s in range(5):
        scores = []
        for k in range(12):
            beside = estimates.column[(estimates.alpha == k) & (estimates.node == s)]
            price = np.log(150) * (m[s] * m[beside]).sum() + 2 * 0.5 * np.log(4) * len(beside)
            scores.append(2 * 150 * fits.losses[k, s] + price)
        assert chosen[s] == int(np.argmin(scores))


def test_every_node_with_its_own_list_and_the_same_at_given_penalties():
    table = as_table(answers(8), kinds=KINDS)
    network = isingfit(table, 20)
    assert network.alphas_per_node.shape == (5,)
    again = network_at(table, network.alphas_per_node, NodewiseSettings())[0]
    assert again.edge_index.tolist() == network.edge_index.tolist()
    np.testing.assert_allclose(again.edge_values, network.edge_values, atol=1e-4)


def test_given_penalties_with_a_covariate_which_has_none():
    table = as_table(answers(8), kinds=KINDS, covariates=[1])
    network = isingfit(table, 20)
    assert np.isnan(network.alphas_per_node).tolist() == [False, True, False, False, False]
    again = network_at(table, network.alphas_per_node, NodewiseSettings())[0]
    assert again.edge_index.tolist() == network.edge_index.tolist()


def test_constant_columns_and_categories_that_do_not_occur():
    X = answers(9)
    X[:, 2] = 1
    X[X[:, 1] == 2, 1] = 3
    table = make_table(X.astype(np.uint8), ["nominal", "ordinal", "ordinal", "nominal", "ordinal"], categories=None)
    with pytest.warns(UserWarning, match="constant"):
        path = nodewise_path(table, [0.02], rule="or")
    assert 2 not in path[0].edge_index
    assert all(np.isfinite(field).all() for field in [path[0].fields])
    P = path[0].network.probabilities(X)
    assert 0.9 < P[1].sum(axis=1).min() <= P[1].sum(axis=1).max() < 1.1


def test_unpenalized_regressions_are_refused():
    with pytest.raises(ArgumentError, match="must be positive in regressions"):
        nodewise_path(answers(10), [0.1, 0.0], kinds=KINDS)


@pytest.mark.parametrize(
    "estimator", [NodewiseIsingEBIC(20, kinds=KINDS), NodewiseIsingEBIC(5, rule="or", kinds=KINDS)]
)
def test_estimator_and_file(estimator, tmp_path):
    X = answers(11, n=300)
    net = clone(estimator).fit(X)
    assert not net.network_.variables.is_binary
    assert [P.shape for P in net.predict_proba(X[:4])] == [(4, q) for q in LEVELS]
    net.fit_.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    assert again.method.estimator == "nodewise"
    assert again.solution.network == net.network_


@pytest.mark.parametrize("choice", [["--select", "ebic"], ["--alpha", "0.03"]])
def test_command(choice, tmp_path):
    X = answers(12, n=300)
    table = tmp_path / "table.csv"
    table.write_text("a,b,c,d,e\n" + "\n".join(",".join(map(str, row)) for row in X.tolist()) + "\n")
    folder = tmp_path / "out"
    kinds = ["--nominal", "a,d", "--ordinal", "b,e"]
    run("fit", str(table), *kinds, "--method", "nodewise", *choice, "-o", str(folder))
    assert json.loads((folder / "run.json").read_text())
    assert "a" in (folder / "edges.csv").read_text()
