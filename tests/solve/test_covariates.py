"""Pairs without a penalty, and covariates, where columns have categories."""

import numpy as np
import pytest
import slow_objective as objective
from networks import make_table
from scipy.optimize import minimize
from scipy.special import logsumexp

from isinglass import Method, Network, ising_path, load, nodewise_path, refit, simulate
from isinglass._core import free_ridge
from isinglass.conditionals import log_scores
from isinglass.errors import ConstantColumnWarning, DataError

KINDS = ("binary", "ordinal", "nominal", "continuous")


def draw(seed, n=300):
    """Columns of every kind that depend on a column of steps and on one of three groups: the last two."""
    rng = np.random.default_rng(seed)
    age, group = rng.integers(0, 9, n), rng.integers(0, 3, n)
    z = (age - 4) / 3 + 0.7 * (group == 1)
    binary = rng.random((n, 2)) < 1 / (1 + np.exp(-z[:, None]))
    scale = np.clip(np.round(z + rng.normal(size=n) + 1.5), 0, 3)
    nominal = np.where(rng.random(n) < 0.4, group, rng.integers(0, 3, n))
    steps = np.clip(np.round(2 * z + 2 * rng.normal(size=n) + 4), 0, 8)
    return np.column_stack([binary, scale, nominal, steps, age, group]).astype(np.uint8)


def mixed(seed, n=300, covariates=(5, 6), **known):
    kinds = ["binary", "binary", "ordinal", "nominal", "continuous", "continuous", "nominal"]
    table = make_table(draw(seed, n), kinds, **known)
    return table.with_variables(table.variables.with_covariates(list(covariates)))


def check_certificates(table, path, penalty_weights=None):
    """Whether objective, residual and gap are those of the NumPy twin."""
    twin = objective.of(table, penalty_weights=penalty_weights)
    for solution in path:
        assert solution.converged
        alpha, network = solution.alpha, solution.network
        assert solution.objective == pytest.approx(twin.value(network, alpha), abs=1e-12)
        assert twin.kkt_residual(network, alpha) == pytest.approx(solution.kkt_residual, rel=1e-3, abs=1e-10)
        assert twin.duality_gap(network, alpha) <= solution.duality_gap * 1.01 + 1e-12


@pytest.mark.parametrize("penalty", [None, "standardized"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_certificate_with_covariates_is_that_of_the_twin(penalty, weighted):
    weight = np.random.default_rng(0).exponential(size=300) + 0.1 if weighted else None
    table = mixed(1, sample_weight=weight)
    check_certificates(table, ising_path(table, 8, penalty_weights=penalty), penalty)


@pytest.mark.parametrize("pair", [(0, 1), (0, 2), (1, 3), (2, 3), (2, 4), (3, 6), (4, 5)])
def test_the_certificate_of_a_free_pair_is_that_of_the_twin(pair):
    table = mixed(2, covariates=())
    omega = np.ones((7, 7))
    omega[pair] = omega[pair[::-1]] = 0.0
    path = ising_path(table, 6, penalty_weights=omega)
    assert all(pair in map(tuple, solution.edge_index.tolist()) for solution in path)
    check_certificates(table, path, omega)


def test_the_gradient_of_the_twin_is_that_of_differences():
    table = mixed(3)
    network = ising_path(table, [0.01])[0].network
    (edge, _), variables = objective.of(table).gradient(network), table.variables
    pairs, starts = (
        network.pairs,
        np.cumsum(variables.block_sizes(network.pairs)) - variables.block_sizes(network.pairs),
    )
    signed = np.flatnonzero(variables.has_sign(pairs)).tolist()
    assert (pairs[signed] == 5).any()
    assert network.is_edge[signed].any()
    for k in signed:
        values = []
        for step in (-1e-5, 1e-5):
            parameters = network.pair_parameters.copy()
            parameters[starts[k]] += step
            moved = Network(network.fields, pairs, variables=variables, pair_parameters=parameters)
            values.append(-moved.log_pseudolikelihood(table.codes).mean())
        s, t = variables.first[pairs[k]]
        assert (values[1] - values[0]) / 2e-5 == pytest.approx(edge[s, t], abs=1e-8)


def multinomial(y, design, weight):
    """Unpenalized multinomial regression of y on a design: coefficients, the first category 0. Twin of the null fit."""
    q, d = int(y.max()) + 1, design.shape[1]

    def value(x):
        logits = np.column_stack([np.zeros(len(y)), design @ x.reshape(q - 1, d).T])
        logs = logits - logsumexp(logits, axis=1, keepdims=True)
        residual = np.exp(logs)
        residual[np.arange(len(y)), y] -= 1.0
        return -weight @ logs[np.arange(len(y)), y], ((weight[:, None] * residual[:, 1:]).T @ design).ravel()

    found = minimize(value, np.zeros((q - 1) * d), jac=True, method="BFGS", options={"gtol": 1e-10, "maxiter": 5000})
    return found.fun, found.x.reshape(q - 1, d)


@pytest.mark.parametrize("estimate", [ising_path, nodewise_path])
def test_without_edges_the_couplings_are_those_of_unpenalized_regressions(estimate):
    table = mixed(4)
    X, variables = table.codes, table.variables
    network = estimate(table, [1e3])[0].network
    assert network.n_edges == 0
    assert len(network.covariate_pairs) == 10
    dummies = np.eye(3)[X[:, 6]][:, 1:]
    age = variables.score(5)[X[:, 5]]
    design = np.column_stack([np.ones(len(X)), age, dummies])
    weight = np.full(len(X), 1.0 / len(X))
    losses = -log_scores(network, X).mean(axis=1)
    for s in (0, 1, 3):  # columns whose regression on covariates is a plain one; others share a coefficient
        loss, coefficients = multinomial(X[:, s].astype(int), design, weight)
        assert losses[s] == pytest.approx(loss, abs=1e-9)
        logs = network.log_conditionals(X)[variables.starts[s] : variables.starts[s] + variables.sizes[s]]
        np.testing.assert_allclose((logs[1:] - logs[0]).T, design @ coefficients.T, atol=2e-4)
    assert (losses[5:] == 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_an_independent_optimizer_finds_no_better_point(kind):
    """Every pair free or forbidden: a smooth problem, minimized by L-BFGS in coordinates of its own."""
    X = draw(5, n=120)[:, {"binary": [0, 1, 5], "ordinal": [2, 0, 5], "nominal": [3, 0, 5]}.get(kind, [4, 0, 5])]
    table = make_table(X, [kind, "binary", "continuous"])
    table = table.with_variables(table.variables.with_covariates([2]))
    omega = np.zeros((3, 3))
    solution = ising_path(table, [1.0], penalty_weights=omega, tol=1e-9)[0]
    twin, variables = objective.of(table, penalty_weights=omega), table.variables
    network, pairs = solution.network, solution.network.pairs
    assert len(pairs) == 3
    size = len(network.fields)

    def value(x):
        blocks = variables.split_blocks(pairs, x[size:])
        for k, (s, t) in enumerate(pairs.tolist()):
            for axis, node in enumerate((s, t)):
                if not variables.has_scores[node]:
                    blocks[k] = blocks[k] - blocks[k].mean(axis=axis, keepdims=True)
        flat = np.concatenate([block.ravel() for block in blocks])
        return twin.value(Network(x[:size], pairs, variables=variables, pair_parameters=flat), 1.0)

    start = np.zeros(size + len(network.pair_parameters)) + 1e-3
    found = minimize(value, start, method="BFGS", options={"gtol": 1e-7})
    assert solution.converged
    assert found.fun >= solution.objective - solution.duality_gap - 1e-12
    assert found.fun == pytest.approx(solution.objective, abs=1e-6)


def test_the_ridge_is_part_of_the_objective_and_cannot_matter():
    table = mixed(6)
    solution = ising_path(table, [1e3])[0]
    network = solution.network
    ranges = table.variables.ranges[network.covariate_pairs].prod(axis=1)
    ridge = free_ridge / 2 * ((ranges * network.covariate_values) ** 2).sum()
    loss = -solution.network.log_pseudolikelihood(table.codes).mean()
    assert solution.objective - loss == pytest.approx(ridge, rel=1e-4)
    assert 0 < ridge < 1e-6 * solution.objective


def test_a_covariate_explains_what_it_causes():
    """Columns that share a cause and nothing else: edges without it, none with it."""
    rng = np.random.default_rng(7)
    cause = rng.integers(0, 8, 1000)
    X = (rng.random((1000, 6)) < 1 / (1 + np.exp(-0.9 * (cause[:, None] - 3.5)))).astype(np.uint8)
    X = np.column_stack([X, cause]).astype(np.uint8)
    table = make_table(X, ["binary"] * 6 + ["continuous"])
    alone = Method(standard_errors=False).fit(make_table(X[:, :6]))
    adjusted = Method(standard_errors=False).fit(
        table.with_variables(table.variables.with_covariates([6])),
    )
    assert alone.network.n_edges >= 10
    assert adjusted.network.n_edges <= 1
    assert len(adjusted.network.covariate_edges()["variable"]) == 6


@pytest.mark.filterwarnings("ignore::isinglass.errors.ConstantColumnWarning")
def test_a_constant_covariate_changes_nothing():
    codes = draw(8)
    codes[:, 5] = 3
    kinds = ["binary", "binary", "ordinal", "nominal", "continuous", "continuous", "nominal"]
    table = make_table(codes, kinds, categories=[2, 2, 4, 3, 9, 9, 3])
    both, one = (table.with_variables(table.variables.with_covariates(given)) for given in ([5, 6], [6]))
    with pytest.warns(ConstantColumnWarning):
        found = ising_path(both, 5)
    np.testing.assert_allclose(found.alphas, ising_path(one, 5).alphas, rtol=1e-9)
    assert 5 not in found[-1].network.pairs
    assert 5 not in ising_path(one, 5)[-1].network.pairs


@pytest.mark.parametrize("kind", ["ordinal", "nominal"])
def test_a_covariate_that_determines_a_column_has_a_finite_coupling(kind):
    rng = np.random.default_rng(9)
    given = rng.integers(0, 3, 200)
    X = np.column_stack([given > 0, rng.integers(0, 2, (200, 2)), given]).astype(np.uint8)
    table = make_table(X, ["binary"] * 3 + [kind])
    table = table.with_variables(table.variables.with_covariates([3]))
    path = ising_path(table, 5)
    assert path.converged.all()
    largest = np.abs(path[-1].network.covariate_values).max() * table.variables.ranges[3]
    assert 10 < largest < 80
    check_certificates(table, path)


def test_the_result_does_not_depend_on_threads():
    table = mixed(10, n=800)
    one, two = (ising_path(table, 6, n_threads=threads) for threads in (1, 2))
    assert [solution.network for solution in one] == [solution.network for solution in two]
    one, two = (nodewise_path(table, 6, n_threads=threads) for threads in (1, 2))
    assert [solution.network for solution in one] == [solution.network for solution in two]


def test_a_path_that_starts_elsewhere_ends_at_the_same_networks():
    table = mixed(11)
    path = ising_path(table, 6)
    for one in path:
        other = ising_path(table, [one.alpha], start=path[-1])[0]
        np.testing.assert_allclose(one.network.covariate_values, other.network.covariate_values, atol=1e-5)
        assert abs(one.objective - other.objective) <= one.duality_gap + other.duality_gap + 1e-12


def test_nodewise_regressions_have_covariates_and_covariates_have_none():
    table = mixed(12)
    path = nodewise_path(table, 5)
    assert path.converged.all()
    assert np.isnan(path.nodes.losses[:, 5:]).all()
    for solution in path:
        assert (solution.network.covariate_pairs[:, 1] >= 5).all()
        assert len(solution.network.covariate_pairs) == 10


def test_a_refit_keeps_the_covariates():
    table = mixed(13)
    solution = ising_path(table, 8)[-1]
    found = refit(table, solution)
    assert len(found.edge_values) == len(found.edge_errors) == solution.n_edges
    assert len(found.solution.network.covariate_pairs) == 10
    start = found.solution.network.log_pseudolikelihood(table.codes).mean()
    assert start > solution.network.log_pseudolikelihood(table.codes).mean()


def test_a_network_sets_covariates_apart(tmp_path):
    table = mixed(14)
    fit = Method().fit(table)
    network = fit.network
    assert network.n_nodes == 5
    assert network.n_pairs == 10
    assert network.n_features == 7
    assert not (network.edge_index >= 5).any()
    assert (network.degree[5:] == 0).all()
    smaller = network.without_covariates()
    assert smaller.names == network.names[:5]
    assert np.array_equal(smaller.edge_values, network.edge_values)
    fit.save(tmp_path / "model.npz")
    assert load(tmp_path / "model.npz").network == network
    with pytest.raises(DataError, match="must not join two covariates"):
        Network(network.fields, [[5, 6]], variables=network.variables, pair_parameters=[[[1.0, 0.0, -1.0]]])


def test_a_network_with_covariates_has_no_joint_distribution():
    network = ising_path(mixed(15), [0.1])[0].network
    for sample in (simulate.gibbs_sample, simulate.exact_sample):
        with pytest.raises(DataError, match="needs a distribution of every column"):
            sample(network, 10)
