import itertools
import math
import warnings

import extended
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from isinglass import IsingLasso
from isinglass.errors import ConstantColumnWarning, ConvergenceWarning, DataError, LimitError
from isinglass.exact import MAX_NODES, exact_sample, moments, state_probabilities
from isinglass.network import Network
from isinglass.simulate import category_network, chain_network
from isinglass.solve.exact_likelihood import (
    Likelihood,
    Point,
    exact_alpha_max,
    exact_path,
    fit_fields,
    match_means,
    minimize,
    mixture_divergence,
    mixture_share,
)
from isinglass.solve.states import log_sum, log_weights

seeds = st.integers(0, 2**31)


def log_partition(model):
    return log_sum(log_weights(model.couplings, model.fields))


def random_model(seed, p=None, scale=1.0):
    rng = np.random.default_rng(seed)
    p = int(rng.integers(1, 7)) if p is None else p
    upper = np.triu(rng.normal(scale=scale, size=(p, p)), 1)
    couplings = upper + upper.T
    return Network.from_couplings(couplings, rng.normal(scale=scale, size=p) - couplings.sum(axis=1) / 2)


def random_table(seed, n, p, scale=1.0):
    return exact_sample(random_model(seed, p, scale), n, random_state=seed)


def varies(X):
    return (X.min(axis=0) < X.max(axis=0)).all()


def states(p):
    """All states in the documented order: bit s of the position is x_s."""
    return [tuple(k >> s & 1 for s in range(p)) for k in range(2**p)]


def naive_weight(model, x):
    total = 0.0
    for s in range(len(x)):
        total += model.fields[s] * x[s]
        for t in range(s):
            total += model.couplings[s, t] * x[s] * x[t]
    return math.exp(total)


# ------------------------------------------------------------------------------------------- one model


@settings(deadline=None, max_examples=30)
@given(seed=seeds)
def test_brute_force_confirms_partition_function_probabilities_and_moments(seed):
    model = random_model(seed)
    p = model.n_features
    weights = [naive_weight(model, x) for x in states(p)]
    total = sum(weights)
    assert log_partition(model) == pytest.approx(math.log(total), abs=1e-12)
    np.testing.assert_allclose(state_probabilities(model), np.array(weights) / total, rtol=1e-11)
    pairs = np.zeros((p, p))
    for weight, x in zip(weights, states(p), strict=True):
        for s, t in itertools.product(range(p), repeat=2):
            pairs[s, t] += weight / total * x[s] * x[t]
    np.testing.assert_allclose(moments(model).pairs, pairs, rtol=1e-11)
    np.testing.assert_allclose(moments(model).means, np.diag(pairs), rtol=1e-11)


@settings(deadline=None, max_examples=20)
@given(seed=seeds)
def test_conditionals_follow_from_the_joint_probabilities(seed):
    model = random_model(seed)
    probabilities = dict(zip(states(model.n_features), state_probabilities(model), strict=True))
    conditionals = model.conditional_probabilities(list(probabilities))
    for row, x in zip(conditionals, probabilities, strict=True):
        for s in range(len(x)):
            one, zero = (probabilities[(*x[:s], value, *x[s + 1 :])] for value in (1, 0))
            assert row[s] == pytest.approx(one / (one + zero), rel=1e-9)


def test_the_log_probability_of_a_row_is_minus_its_energy_minus_log_z():
    model = random_model(1, p=4)
    X = exact_sample(model, 5, random_state=0)
    rows = -model.energy(X) - log_partition(model)
    probabilities = dict(zip(states(4), state_probabilities(model), strict=True))
    np.testing.assert_allclose(rows, [math.log(probabilities[tuple(x)]) for x in X.tolist()], rtol=1e-10)


def test_enumeration_takes_whatever_has_a_network():
    X = random_table(0, 100, 4)
    net = IsingLasso(alpha=0.05).fit(X)
    for one in (net, net.fit_, net.fit_.solution):
        np.testing.assert_array_equal(state_probabilities(one), state_probabilities(net.network_))
        np.testing.assert_array_equal(moments(one).pairs, moments(net.network_).pairs)
        drawn = [exact_sample(each, 20, random_state=0) for each in (one, net.network_)]
        np.testing.assert_array_equal(*drawn)


def test_large_parameters_do_not_overflow():
    model = Network.from_couplings([[0, 2e4], [2e4, 0]], [-1e4, -1e4])
    assert log_partition(model) == pytest.approx(math.log(2))
    assert state_probabilities(model).tolist() == pytest.approx([0.5, 0, 0, 0.5])


def test_samples_have_the_moments_of_the_model():
    model, n = random_model(7, p=6), 40_000
    X = exact_sample(model, n, random_state=1)
    assert X.dtype == np.uint8
    assert X.shape == (n, 6)
    expected = moments(model).pairs
    error = np.sqrt(expected * (1 - expected) / n)
    assert (np.abs(X.T.astype(float) @ X / n - expected) < 4.5 * error).all()


def test_sample_frequencies_of_all_states():
    model, n = random_model(8, p=3), 40_000
    X = exact_sample(model, n, random_state=2)
    share = np.bincount(X @ [1, 2, 4], minlength=8) / n
    expected = state_probabilities(model)
    assert (np.abs(share - expected) < 4.5 * np.sqrt(expected * (1 - expected) / n)).all()


def test_random_state_in_all_its_forms(unseeded_draws):
    model = random_model(3, p=5)
    first = exact_sample(model, 50, random_state=4)
    np.testing.assert_array_equal(first, exact_sample(model, 50, random_state=4))
    np.testing.assert_array_equal(first, exact_sample(model, 50, random_state=np.random.default_rng(4)))
    legacy = np.random.RandomState(4)
    one, two = (exact_sample(model, 50, random_state=legacy) for _ in range(2))
    np.testing.assert_array_equal(one, exact_sample(model, 50, random_state=np.random.RandomState(4)))
    assert (one != two).any()
    assert exact_sample(model, 3).shape == (3, 5)
    for bad in ("seed", -1, 1.5):
        with pytest.raises(DataError, match="random_state must be a non-negative integer"):
            exact_sample(model, 3, random_state=bad)
    for bad in (0, -1, 2.0, True):
        with pytest.raises(DataError, match="n_samples must be an integer of at least 1; got"):
            exact_sample(model, bad)


def test_impossible_states_are_never_drawn():
    model = Network.from_couplings([[0, 0], [0, 0]], [800.0, -800.0])
    assert exact_sample(model, 1000, random_state=0).mean(axis=0).tolist() == [1.0, 0.0]


def test_more_than_the_limit_is_refused():
    p = MAX_NODES + 1
    model = Network.from_couplings(np.zeros((p, p)), np.zeros(p))
    message = "number of nodes must be at most 20 for enumeration; got 21. "
    for function in (state_probabilities, moments):
        with pytest.raises(LimitError, match=rf"{message}Estimate them from rows that simulate\.gibbs_sample draws"):
            function(model)
    with pytest.raises(LimitError, match=r"at most 1048576 states.*Use simulate\.gibbs_sample"):
        exact_sample(model, 1)
    X = np.random.default_rng(0).integers(0, 2, (30, p))
    with pytest.raises(LimitError, match=f"{message}Use ising_path"):
        exact_path(X)
    with pytest.raises(LimitError, match=f"{message}Use ising_path"):
        exact_alpha_max(X)


@pytest.mark.parametrize("kind", ["ordinal", "nominal"])
def test_categories_are_refused(kind):
    model = category_network(random_model(0, 3), ["binary", kind, "binary"], 3, random_state=0)
    message = f"The network must have columns of two values here; got the {kind} column 1 with 3 categories"
    for function in (state_probabilities, moments):
        with pytest.raises(DataError, match=message):
            function(model)


def test_twenty_nodes_are_within_the_limit():
    model = Network.from_couplings(np.zeros((20, 20)), np.zeros(20))
    assert log_partition(model) == pytest.approx(20 * math.log(2))


# ------------------------------------------------------------------------------------------- the path


def naive_objective(X, couplings, fields, alpha, omega, weight=None):
    """Exact penalized objective by a loop over states; constant columns must not be present."""
    p = X.shape[1]
    model = Network.from_couplings(couplings, fields)
    weight = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=float)
    psi = math.log(sum(naive_weight(model, x) for x in states(p)))
    loss = psi + np.average(model.energy(X), weights=weight)
    return loss + alpha * sum(
        omega[s, t] * abs(couplings[s, t]) for t in range(p) for s in range(t) if np.isfinite(omega[s, t])
    )


def independent_optimum(X, alpha, omega, weight=None):
    """L-BFGS-B with θ = θ⁺ − θ⁻, gradient from a dense table of states and statistics."""
    p = X.shape[1]
    s, t = np.triu_indices(p, 1)
    table = np.array(states(p), dtype=float)
    stats = np.hstack([table, table[:, s] * table[:, t]])
    weight = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=float)
    rows = np.hstack([X, X[:, s] * X[:, t]]).astype(float)
    target = weight @ rows / weight.sum()
    m = len(s)
    forbidden = np.isinf(omega[s, t])
    penalty = np.where(forbidden, 0.0, alpha * np.where(forbidden, 0.0, omega[s, t]))

    def value(split):
        fields, plus, minus = split[:p], split[p : p + m], split[p + m :]
        theta = np.concatenate([fields, plus - minus])
        scores = stats @ theta
        psi = np.logaddexp.reduce(scores)
        g = np.exp(scores - psi) @ stats - target
        gradient = np.concatenate([g[:p], g[p:] + penalty, -g[p:] + penalty])
        return psi - theta @ target + penalty @ (plus + minus), gradient

    bounds = [(None, None)] * p + [(0, 0) if f else (0, None) for f in forbidden] * 2
    options = {"maxiter": 20_000, "maxfun": 50_000, "ftol": 1e-16, "gtol": 1e-10, "maxcor": 30}
    found = optimize.minimize(value, np.zeros(p + 2 * m), jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    couplings = np.zeros((p, p))
    couplings[s, t] = couplings[t, s] = found.x[p : p + m] - found.x[p + m :]
    return found.fun, couplings, found.x[:p]


@pytest.mark.parametrize(("p", "n", "seed"), [(4, 60, 0), (5, 40, 1), (6, 200, 2), (6, 40, 4)])
def test_agrees_with_an_independent_optimizer(p, n, seed):
    X = random_table(seed, n, p)
    omega = np.ones((p, p))
    path = exact_path(X, exact_alpha_max(X) * np.array([0.7, 0.3, 0.1]))
    assert path.converged.all()
    assert path.n_edges[-1] > path.n_edges[0] > 0
    for solution in path:
        value, couplings, fields = independent_optimum(X, solution.alpha, omega)
        np.testing.assert_allclose(solution.couplings, couplings, atol=1e-6)
        np.testing.assert_allclose(solution.fields, fields, atol=1e-6)
        assert solution.objective == pytest.approx(value, abs=1e-10)
        naive = naive_objective(X, solution.couplings, solution.fields, solution.alpha, omega)
        assert solution.objective == pytest.approx(naive, abs=1e-10)


def test_agrees_with_it_for_row_and_pair_weights():
    X = random_table(5, 120, 5)
    weight = np.random.default_rng(0).uniform(0, 2, 120)
    omega = np.array(
        [[0, 1, 1, 2, 1], [1, 0, np.inf, 1, 0.5], [1, np.inf, 0, 1, 1], [2, 1, 1, 0, 1], [1, 0.5, 1, 1, 0]]
    )
    top = exact_alpha_max(X, weight, penalty_weights=omega)
    path = exact_path(X, [top, 0.4 * top], sample_weight=weight, penalty_weights=omega)
    assert path.converged.all()
    assert path[0].n_edges == 0
    assert path[1].couplings[1, 2] == 0  # ω = inf
    for solution in path:
        _, couplings, fields = independent_optimum(X, solution.alpha, omega, weight)
        np.testing.assert_allclose(solution.couplings, couplings, atol=2e-6)
        np.testing.assert_allclose(solution.fields, fields, atol=2e-6)
    just_below = exact_path(X, 0.99 * top, sample_weight=weight, penalty_weights=omega)
    assert just_below.n_edges.tolist() == [1]


@settings(deadline=None, max_examples=20)
@given(seed=seeds)
def test_exactly_zero_at_alpha_max_and_not_just_below(seed):
    rng = np.random.default_rng(seed)
    X = random_table(seed, int(rng.integers(10, 60)), int(rng.integers(2, 6)))
    if not varies(X):
        return
    top = exact_alpha_max(X)
    covariance = np.abs(np.cov(X.T, bias=True))[np.triu_indices(X.shape[1], 1)]
    assert top == pytest.approx(covariance.max(), abs=1e-14)
    if top < 1e-3:
        return
    at, below = exact_path(X, [top])[0], exact_path(X, [0.99 * top])[0]
    assert at.n_edges == 0
    assert at.converged
    np.testing.assert_allclose(at.fields, np.log(X.mean(axis=0) / (1 - X.mean(axis=0))), atol=1e-12)
    assert below.n_edges > 0
    assert below.converged


def test_standardized_penalty_weights():
    X = random_table(4, 100, 4)
    sd = X.std(axis=0)
    covariance = np.abs(np.cov(X.T, bias=True))
    expected = (covariance / np.add.outer(sd, sd))[np.triu_indices(4, 1)].max()
    assert exact_alpha_max(X, penalty_weights="standardized") == pytest.approx(expected)
    by_name = exact_path(X, 4, penalty_weights="standardized")
    by_matrix = exact_path(X, 4, penalty_weights=np.add.outer(sd, sd))
    np.testing.assert_allclose(by_name[-1].couplings, by_matrix[-1].couplings, atol=1e-8)


@settings(deadline=None, max_examples=15)
@given(seed=seeds)
def test_moments_match_up_to_alpha(seed):
    """The KKT conditions, read as what the model reproduces of the table."""
    X = random_table(seed, 50, 5)
    if not varies(X):
        return
    for solution in exact_path(X, 4, alpha_min_ratio=0.001):
        found = moments(solution.network).pairs
        mismatch = found - X.T.astype(float) @ X / len(X)
        np.testing.assert_allclose(np.diag(mismatch), 0, atol=1e-12)
        assert np.abs(mismatch).max() <= solution.alpha + 1e-10
        s, t = solution.edge_index.T
        np.testing.assert_allclose(mismatch[s, t], -solution.alpha * np.sign(solution.edge_values), atol=1e-10)


def test_weights_equal_repeated_rows():
    X = random_table(12, 40, 5)
    weight = np.random.default_rng(3).integers(0, 4, 40)
    weighted = exact_path(X, 6, sample_weight=weight)
    repeated = exact_path(np.repeat(X, weight, axis=0), 6)
    scaled = exact_path(X, 6, sample_weight=1e300 * weight)
    np.testing.assert_allclose(weighted.alphas, repeated.alphas, rtol=1e-12)
    for one, two, three in zip(weighted, repeated, scaled, strict=True):
        np.testing.assert_allclose(one.couplings, two.couplings, atol=1e-8)
        np.testing.assert_allclose(one.fields, two.fields, atol=1e-8)
        np.testing.assert_allclose(one.couplings, three.couplings, atol=1e-8)


def test_permuted_columns_and_flipped_coding_are_equivariant():
    X = random_table(13, 80, 5)
    order = np.array([3, 0, 4, 1, 2])
    plain, permuted = exact_path(X, 5), exact_path(X[:, order], 5)
    flipped_table = X.copy()
    flipped_table[:, 2] = 1 - flipped_table[:, 2]
    flipped = exact_path(flipped_table, 5)
    sign = np.where(np.arange(5) == 2, -1, 1)
    for one, two, three in zip(plain, permuted, flipped, strict=True):
        np.testing.assert_allclose(one.couplings[np.ix_(order, order)], two.couplings, atol=1e-8)
        np.testing.assert_allclose(one.couplings, three.couplings * np.outer(sign, sign), atol=1e-8)


def test_warm_starts_do_not_change_the_answer():
    X = random_table(14, 60, 6)
    path = exact_path(X, 8)
    for solution in (path[3], path[7]):
        cold = exact_path(X, float(solution.alpha))[0]
        np.testing.assert_allclose(cold.couplings, solution.couplings, atol=1e-8)


# ------------------------------------------------------------------------------------------- certificate


def naive_gap(X, couplings, fields, alpha):
    """Primal minus entropy of the mixture of table and model, state by state; means must match."""
    p = X.shape[1]
    model = Network.from_couplings(couplings, fields)
    table = X.tolist()
    empirical = np.array([table.count(list(x)) / len(table) for x in states(p)])
    probabilities = state_probabilities(model)
    mismatch = moments(model).pairs - X.T.astype(float) @ X / len(X)
    off = np.abs(mismatch[np.triu_indices(p, 1)]).max()
    c = min(1.0, alpha / off)
    q = (1 - c) * empirical + c * probabilities
    entropy = -sum(v * math.log(v) for v in q if v > 0)
    return naive_objective(X, couplings, fields, alpha, np.ones((p, p))) - entropy


@settings(deadline=None, max_examples=20)
@given(seed=seeds)
def test_gap_is_primal_minus_dual_and_bounds_the_distance_to_the_optimum(seed):
    rng = np.random.default_rng(seed)
    X = random_table(seed, 40, 4)
    if not varies(X):
        return
    problem = Likelihood.of(X, None, None)
    alpha = float(rng.uniform(0.01, 0.1))
    # A point that is not optimal but matches the means, as the certificate needs.
    theta = np.concatenate([np.zeros(4), rng.normal(scale=0.3, size=6)])
    penalty = np.concatenate([np.zeros(4), np.full(6, alpha)])
    forbidden = np.concatenate([np.zeros(4), np.full(6, np.inf)])
    empty, _ = minimize(Point(problem, forbidden, 0 * theta), tol=1e-9, max_iter=9)
    theta[:4] = empty.theta[:4]
    point = fit_fields(Point(problem, penalty, theta))
    theta, proof = point.theta, point.certify()
    gap = proof["duality_gap"]
    assert proof["kkt_residual"] > 1e-4  # it is not the optimum
    assert gap == pytest.approx(naive_gap(X, *problem.decode(theta), alpha), abs=1e-10)
    best = exact_path(X, alpha, tol=1e-10)[0]
    assert point.objective - best.objective <= gap + 1e-12
    assert best.duality_gap <= 1e-9


def test_certified_zeros_are_zero_and_nearly_complete():
    X = random_table(15, 100, 6)
    path = exact_path(X, 12)
    assert (path.certified_zeros + path.n_edges <= 15).all()
    assert (path.certified_zeros + path.n_edges)[1:].mean() > 14  # a proof, not a formality
    assert (path.duality_gap >= 0).all()


def test_a_gap_of_zero_proves_nothing_about_edges_on_their_bound():
    X = random_table(6, 100, 6)
    for seed in range(5):
        path = exact_path(random_table(seed, 100, 6), 15)
        assert (path.certified_zeros + path.n_edges <= 15).all()
    assert exact_path(X, 3).tol == 1e-7


def test_non_convergence_is_reported_with_residual_tolerance_and_remedy():
    X = random_table(16, 60, 6)
    with pytest.warns(ConvergenceWarning, match=r"1 of 1 solutions.*tol=1e-07.*kkt_residual=.*Increase max_iter"):
        path = exact_path(X, 1e-3, max_iter=1)
    assert not path.converged.any()
    assert path.kkt_residual[0] > 1e-7
    best = exact_path(X, 1e-3)[0]
    assert 0 <= path[0].objective - best.objective <= path[0].duality_gap  # the certificate holds anyway


def test_the_gap_is_vacuous_where_the_dual_point_is_not_feasible():
    X = random_table(16, 60, 6)
    problem = Likelihood.of(X, None, None)
    point = Point(problem, problem.penalty(0.1), np.ones(21))
    proof = point.certify()
    assert proof["duality_gap"] == pytest.approx(point.objective, rel=1e-12)
    assert proof["certified_zeros"] == 0
    assert proof["kkt_residual"] > 0.1


# ------------------------------------------------------------------------------------------- degenerate tables


def test_constant_columns_keep_their_place():
    X = random_table(17, 50, 4)
    wide = np.insert(np.insert(X, 1, 1, axis=1), 4, 0, axis=1)
    with pytest.warns(ConstantColumnWarning, match=r"columns 1 \(always 1\), 4 \(always 0\)") as caught:
        path = exact_path(wide, 5)
    assert len(caught) == 1
    plain = exact_path(X, 5)
    keep = [0, 2, 3, 5]
    for one, two in zip(path, plain, strict=True):
        np.testing.assert_array_equal(one.couplings[np.ix_(keep, keep)], two.couplings)
        assert not one.couplings[[1, 4]].any()
        assert one.fields[1] == pytest.approx(math.log(50.5 / 0.5))
        assert one.fields[4] == pytest.approx(math.log(0.5 / 50.5))
        assert one.objective == two.objective
    assert exact_alpha_max(wide) == exact_alpha_max(X)  # and without a warning


def test_constant_where_the_weight_is_positive():
    X = np.array([[0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0]])
    with pytest.warns(ConstantColumnWarning, match=r"column 0 \(always 0\)"):
        path = exact_path(X, 0.05, sample_weight=[2, 2, 2, 0])
    assert path[0].fields[0] == pytest.approx(math.log(0.5 / 6.5))  # N is the sum of the raw weights


def test_nothing_varies_at_all():
    with pytest.warns(ConstantColumnWarning):
        path = exact_path(np.ones((3, 2)))
    assert path.alphas.tolist() == [0.0]
    assert path.converged.all()
    assert path[0].fields.tolist() == pytest.approx([math.log(3.5 / 0.5)] * 2)


def test_one_column():
    path = exact_path([[0], [1], [1], [1]])
    assert path.alphas.tolist() == [0.0]
    assert path[0].converged
    assert path[0].fields[0] == pytest.approx(math.log(3))


def test_uncorrelated_columns_have_the_null_model_as_certified_solution():
    path = exact_path([[0, 0], [0, 1], [1, 0], [1, 1]])
    assert path.alphas.tolist() == [0.0]
    assert path[0].converged
    assert path[0].n_edges == 0


def test_duplicate_and_complementary_columns_and_fewer_rows_than_columns():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (30, 6))
    X[:, 1], X[:, 2] = X[:, 0], 1 - X[:, 0]
    assert exact_path(X, 10, alpha_min_ratio=1e-5).converged.all()
    assert exact_path(X, 1e-9).converged.all()  # cold, far away: the sweeps alone stall here
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantColumnWarning)
        assert exact_path(rng.integers(0, 2, (4, 9)), 6).converged.all()
    assert exact_path([[0, 1], [1, 0]], 5).converged.all()


@settings(deadline=None, max_examples=8)
@given(seed=seeds)
def test_tiny_penalties_on_separated_tables_converge(seed):
    """The optimum runs to infinity like log(1/alpha); a residual far below tol is then not small enough."""
    rng = np.random.default_rng(seed)
    X = (rng.random((30, 6)) < rng.uniform(0.1, 0.9, 6)).astype(int)
    X[:, 0] = X[:, 1] & X[:, 3]
    X[0], X[1] = 0, 1
    path = exact_path(X, 6, alpha_min_ratio=1e-8)
    assert path.converged.all()
    assert (path.duality_gap <= 1e-7 * path.objective[0]).all()


def test_rare_values_and_extreme_weights():
    X = np.zeros((1000, 3), dtype=int)
    X[0], X[1, 0], X[2, 1] = 1, 1, 1
    assert exact_path(X, 5).converged.all()
    path = exact_path([[0, 0], [1, 1], [0, 1]], 1e-3, sample_weight=[1e-17, 1.0, 1e-17])
    assert np.isfinite(path[0].fields).all()


@pytest.mark.parametrize(
    ("name", "without"),
    [
        ("alpha", lambda X: exact_path(X, [0.1, 0.0])),
        ("penalty_weights", lambda X: exact_path(X, 0.1, penalty_weights=[[0, 0, 1], [0, 0, 1], [1, 1, 0]])),
        ("penalty_weights", lambda X: exact_alpha_max(X, penalty_weights=np.zeros((3, 3)))),
    ],
)
def test_no_penalty_is_refused(name, without):
    with pytest.raises(DataError, match=rf"{name} must be positive for the exact likelihood; got 0\.0\. Use 1e-9"):
        without(random_table(11, 400, 3, scale=0.5))


# ------------------------------------------------------------------------------------------- arguments


def test_alphas_in_any_order_and_as_counts():
    X = random_table(18, 50, 3)
    assert exact_path(X, [0.01, 0.05, 0.03]).alphas.tolist() == [0.05, 0.03, 0.01]
    assert len(exact_path(X, 0.02)) == 1
    counted = exact_path(X, 3, alpha_min_ratio=0.1)
    assert counted.alphas[0] == exact_alpha_max(X)
    assert counted.alphas[-1] == pytest.approx(0.1 * counted.alphas[0])
    assert counted.n_edges[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tol": 0.0}, r"tol must be a positive number; got 0\.0"),
        ({"tol": float("nan")}, "tol must be a positive number; got nan"),
        ({"tol": "small"}, "tol must be a positive number; got 'small'"),
        ({"max_iter": 0}, "max_iter must be an integer of at least 1; got 0"),
        ({"max_iter": 1.5}, r"max_iter must be an integer of at least 1; got 1\.5"),
        ({"alphas": -1.0}, r"alphas must be finite and not negative; got -1\.0"),
        ({"alphas": 0}, "alphas must be a count of at least 1; got 0"),
        ({"alpha_min_ratio": 2.0}, "alpha_min_ratio must be between 0 and 1"),
        ({"sample_weight": [0, 0, 0, 0]}, "only weights of zero"),
        ({"sample_weight": [1, 1]}, "one value per row"),
        ({"penalty_weights": np.ones((3, 3))}, r"penalty_weights must have shape \(2, 2\)"),
        ({"penalty_weights": "sd"}, "penalty_weights must be None"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(DataError, match=message):
        exact_path([[0, 0], [1, 1], [0, 1], [1, 0]], **arguments)


@pytest.mark.parametrize(
    "X", [[[0, 2]], [[-1, 1]], [[np.nan, 1]], [["Yes", "No"]], [0, 1], np.zeros((0, 2)), np.zeros((2, 0))]
)
def test_bad_tables_are_refused(X):
    with pytest.raises(DataError, match="X must"):
        exact_path(X)
    with pytest.raises(DataError, match="X must"):
        exact_alpha_max(X)


# ------------------------------------------------------------------------------------------- weights over many decades


@pytest.mark.parametrize("heavy", [[0, 0, 0], [1, 1, 1], [1, 0, 1]])
def test_fault_03_exact_certificates_hold_with_one_row_of_weight_1e13(heavy):
    X = np.vstack([heavy, [1, 1, 1], [1, 0, 0], [0, 1, 0]])
    weight = [1e13, 1, 1, 1]
    path = exact_path(X, 6, sample_weight=weight)
    assert path.converged.all()
    assert path.n_edges[-1] > 0
    for solution in path:
        problem, z = extended.exact(X, solution.couplings, solution.fields, solution.alpha, weight=weight)
        assert problem.gap(z) <= solution.duality_gap
        assert solution.duality_gap <= 1e-7 * float(problem.null())


def test_fault_05_independent_columns_have_the_null_model_for_a_path():
    X = list(itertools.product([0, 0, 1], repeat=3))
    assert exact_alpha_max(X) == 0
    path = exact_path(X, 6)
    assert path.alphas.tolist() == [0]
    assert path.converged.all()


def test_fault_11_a_penalty_that_underflows_is_refused_by_exact_path():
    with pytest.raises(DataError, match="cannot be told from no penalty"):
        exact_path([[0, 0], [0, 1], [1, 1]], [1e-200], penalty_weights=np.full((2, 2), 1e-200))


def test_a_callback_sees_every_solution_and_may_end_the_path():
    X, seen = exact_sample(chain_network(4, strength=1.0), 200, random_state=0), []
    whole = exact_path(X, 6, callback=seen.append)
    assert seen == list(whole)
    short = exact_path(X, 6, callback=lambda solution: solution.n_edges == 0)
    assert short.n_edges.tolist() == whole.n_edges[: len(short)].tolist()
    assert (short.n_edges > 0).sum() == 1


# ------------------------------------------------------------------- the steps of the certificate (docs/math.md)


def random_states(seed, n=3):
    """Return the probabilities of all states of a random model, and the matrix of states."""
    rng = np.random.default_rng(seed)
    couplings = np.triu(rng.normal(size=(n, n)), 1)
    weights = log_weights(couplings + couplings.T, rng.normal(size=n))
    return weights - log_sum(weights), (np.arange(1 << n)[:, None] >> np.arange(n)) & 1


@pytest.mark.parametrize("seed", range(5))
def test_e2_moving_states_matches_the_means_at_the_stated_cost(seed):
    log_p, states = random_states(seed)
    p, rng = np.exp(log_p), np.random.default_rng(seed)
    off = rng.normal(scale=0.01, size=3)
    share, cost = match_means(log_p, np.abs(off))
    moved = p.copy()
    for s, mismatch in enumerate(off):  # to a mean that is larger by ``mismatch``
        source = states[:, s] == (mismatch < 0)
        fraction = abs(mismatch) / p[source].sum()
        moved[source] -= fraction * p[source]
        moved[np.flatnonzero(source) ^ (1 << s)] += fraction * p[source]
    np.testing.assert_allclose(moved @ states - p @ states, off, atol=1e-15)
    assert 0 < np.abs(moved - p).sum() <= 2 * share
    assert 0 < (moved * np.log(moved / p)).sum() <= cost


def test_e3_the_scale_is_the_largest_that_keeps_moments_within_their_penalties():
    penalty, reach = np.array([0.2, 0.1]), np.array([0.1, 0.4])  # of pairs with a penalty
    assert mixture_share(reach, penalty) == pytest.approx(0.25, rel=1e-12)
    assert mixture_share(reach / 4, penalty) == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("c", [0.3, 0.9999])
def test_e4_the_divergence_of_the_mixture_is_bounded_closely_from_above(c):
    log_p, _ = random_states(3)
    p, empirical = np.exp(log_p), np.random.default_rng(0).dirichlet(np.ones(8))
    mixture = (1 - c) * empirical + c * p
    expected = (mixture * np.log(mixture / p)).sum()
    assert expected <= mixture_divergence(empirical, log_p, c) <= expected * (1 + 1e-3)
