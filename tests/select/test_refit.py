import importlib

import numpy as np
import objectives as objective
import pytest
from networks import by_pair, refit_edges

from isinglass import Solution, as_table, edge_tests, ising_path, refit, simulate
from isinglass.data.parts.read_parts import cut_into_parts
from isinglass.errors import (
    ConstantColumnWarning,
    ConvergenceWarning,
    DataError,
    LimitError,
    SeparationError,
    suppress_warnings,
)
from isinglass.select.refit import nearly_free
from isinglass.solve.rows import PartedRows

sandwich = importlib.import_module("isinglass.select.sandwich")
refit_module = importlib.import_module("isinglass.select.refit")


def support(p, pairs):
    couplings = np.zeros((p, p))
    for s, t in pairs:
        couplings[s, t] = couplings[t, s] = 1.0
    return Solution.from_dense(0.1, couplings, np.zeros(p))


CHAIN = simulate.chain_network(4, strength=1.2, fields="balanced")
PAIRS = [(0, 1), (1, 2), (2, 3)]


@pytest.fixture(scope="module")
def table():
    return simulate.exact_sample(CHAIN, 400, random_state=1)


def naive_sandwich(found, X, weights):
    """Return H⁻¹ K H⁻¹ by finite differences of the gradient of one row at a time."""
    p, edges = X.shape[1], found.edge_index

    def mean_gradient(parameters, row):
        couplings = np.zeros((p, p))
        couplings[tuple(edges.T)] = parameters[p:]
        couplings += couplings.T
        eta = parameters[:p] + couplings @ row
        r = 1 / (1 + np.exp(-eta)) - row
        return np.r_[r, [r[s] * row[t] + r[t] * row[s] for s, t in edges]]

    center = np.r_[found.solution.fields, found.edge_values]
    hessian, outer = np.zeros((len(center),) * 2), np.zeros((len(center),) * 2)
    for row, weight in zip(X.astype(float), weights, strict=True):
        g = mean_gradient(center, row)
        outer += weight * np.outer(g, g)
        for k, unit in enumerate(np.eye(len(center)) * 1e-5):
            hessian[k] += weight * (mean_gradient(center + unit, row) - mean_gradient(center - unit, row)) / 2e-5
    inverse = np.linalg.inv(hessian)
    return inverse @ outer @ inverse


@pytest.mark.parametrize("weighted", [False, True])
def test_errors_equal_naive_ones(table, weighted):
    weights = np.random.default_rng(0).integers(0, 4, 60) if weighted else np.ones(60)
    X = table[:60]
    found = refit(X, support(4, PAIRS), sample_weight=weights if weighted else None)
    expected = naive_sandwich(found, X, weights)
    np.testing.assert_allclose(found.field_errors, np.sqrt(np.diag(expected))[:4], rtol=1e-5)
    np.testing.assert_allclose(found.edge_errors, np.sqrt(np.diag(expected))[4:], rtol=1e-5)


def test_rows_come_in_blocks(table, monkeypatch):
    whole = refit(table, support(4, PAIRS))
    monkeypatch.setattr(sandwich, "_ROWS_PER_BLOCK", 7)
    np.testing.assert_allclose(refit(table, support(4, PAIRS)).edge_errors, whole.edge_errors, rtol=1e-9)


def test_weights_are_repeated_rows(table):
    weights = np.random.default_rng(3).integers(0, 3, len(table))
    a = refit(table, support(4, PAIRS), sample_weight=weights)
    b = refit(np.repeat(table, weights, axis=0), support(4, PAIRS))
    np.testing.assert_allclose(a.edge_values, b.edge_values, rtol=1e-7)
    np.testing.assert_allclose(a.edge_errors, b.edge_errors, rtol=1e-7)


def test_estimate_is_stationary_and_keeps_the_support(table):
    found = refit(table, support(4, PAIRS))
    edge, node = objective.gradient(table, found.solution.couplings, found.solution.fields)
    assert np.abs(node).max() < 1e-9
    assert np.abs(edge[tuple(found.edge_index.T)]).max() < 1e-9
    assert found.solution.edge_index.tolist() == found.edge_index.tolist() == [list(pair) for pair in PAIRS]
    assert found.solution.converged
    penalized = ising_path(table, [0.05])[0]
    assert (np.abs(refit(table, penalized).edge_values) > np.abs(penalized.edge_values)).all()


@pytest.mark.long
def test_errors_match_the_spread_over_replications():
    rng = np.random.default_rng(11)
    runs = [refit(simulate.exact_sample(CHAIN, 400, random_state=rng), support(4, PAIRS)) for _ in range(400)]
    estimates = np.array([np.r_[run.solution.fields, run.edge_values] for run in runs])
    errors = np.array([np.r_[run.field_errors, run.edge_errors] for run in runs])
    # The spread of 400 replications has a relative error of 1 / sqrt(800) = 3.5 %; four of these, and a small bias.
    np.testing.assert_allclose(np.sqrt((errors**2).mean(axis=0)), estimates.std(axis=0, ddof=1), rtol=0.16)
    truth = np.r_[CHAIN.fields, CHAIN.couplings[tuple(np.transpose(PAIRS))]]
    covered = (np.abs(estimates - truth) <= 1.96 * errors).mean()
    assert 0.93 <= covered <= 0.97  # 2800 intervals


def test_errors_of_a_pair_are_those_of_its_two_by_two_table():
    # The log odds ratio has variance Σ 1/n whatever the estimator: pseudo-likelihood is exact for one pair.
    X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [30, 12, 8, 50], axis=0)
    found = refit(X, support(2, [(0, 1)]))
    assert found.edge_values[0] == pytest.approx(np.log(30 * 50 / (12 * 8)), abs=1e-7)
    assert found.edge_errors[0] == pytest.approx(np.sqrt(1 / 30 + 1 / 12 + 1 / 8 + 1 / 50), rel=1e-6)


def test_z_and_p_values(table):
    found = refit(table, support(4, PAIRS))
    from scipy.stats import norm

    z = found.edge_values / found.edge_errors
    np.testing.assert_allclose(found.edge_p, 2 * norm.sf(np.abs(z)))
    edges = found.edges()
    np.testing.assert_allclose(edges["z"], edges["coupling"] / edges["std_error"])
    np.testing.assert_array_equal(edges["p"], np.sort(found.edge_p))
    low, high = found.edge_intervals(0.9).T
    np.testing.assert_allclose((high - low) / 2, norm.ppf(0.95) * found.edge_errors)
    assert "std_error" in repr(found)
    with pytest.raises(ValueError, match="read-only"):
        found.edge_errors[0] = 0.0


def test_no_edges(table):
    found = refit(table, support(4, []))
    means = table.mean(axis=0)
    np.testing.assert_allclose(found.solution.fields, np.log(means / (1 - means)), rtol=1e-7)
    np.testing.assert_allclose(found.field_errors, 1 / np.sqrt(400 * means * (1 - means)), rtol=1e-6)
    assert len(found.edge_values) == 0
    assert repr(found).startswith("Refit(0 edges")


def test_separable_support_names_the_pair():
    X = np.repeat([[0, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1], [0, 0, 1]], 20, axis=0)  # 1 is never without 0
    with pytest.raises(SeparationError, match="columns 0 and 1 separate"):
        refit(X, support(3, [(0, 1)]))
    assert np.isfinite(refit(X, support(3, [(0, 2)])).edge_errors).all()


def test_constant_columns(table):
    X = np.column_stack([table, np.ones(len(table), dtype=np.uint8)])
    with pytest.raises(SeparationError, match="columns 1 and 4 is constant"):
        refit(X, support(5, [(0, 1), (1, 4)]))
    with pytest.warns(ConstantColumnWarning, match="column 4"):
        found = refit(X, support(5, PAIRS))
    alone = refit(table, support(4, PAIRS))
    np.testing.assert_allclose(found.edge_errors, alone.edge_errors, rtol=1e-7)
    assert np.isnan(found.field_errors).tolist() == [False] * 4 + [True]
    assert found.solution.fields[4] == pytest.approx(np.log(400.5 / 0.5))


def test_categories_that_do_not_occur_have_half_a_row():
    """As in every fit to these rows, whatever the network was whose edges are refitted."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (300, 3))
    table = as_table(X, kinds="nominal")
    without_edges = ising_path(table, [0.5])[0]
    for present in ([0, 1], [2]):
        rows = np.isin(X[:, 2], present)
        counts = np.maximum(np.bincount(X[rows, 2], minlength=3), 0.5)
        with suppress_warnings(ConstantColumnWarning):
            found = refit(table[rows], without_edges)
        np.testing.assert_allclose(found.solution.fields[4:], np.log(counts[1:] / counts[0]), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("ordinal", [False, True])
def test_a_missed_tolerance_is_said(table, ordinal):
    rows = as_table(table[1:] + table[:-1], kinds="ordinal") if ordinal else table
    with pytest.warns(ConvergenceWarning, match="tol=1e-300"):
        found = refit(rows, ising_path(rows, [0.05])[0], tol=1e-300)
    assert not found.solution.converged


def test_bad_inputs(table, monkeypatch):
    with pytest.raises(DataError, match="X must have the 3 columns"):
        refit(table, support(3, [(0, 1)]))
    with pytest.raises(DataError, match="tol must be"):
        refit(table, support(4, PAIRS), tol=-1.0)
    with pytest.raises(DataError, match="level must be"):
        refit(table, support(4, PAIRS)).edge_intervals(1.0)
    monkeypatch.setattr(refit_module, "MAX_PARAMETERS", 6)
    with pytest.raises(LimitError, match="at most 6 fields and edges for standard errors; got 7"):
        refit(table, support(4, PAIRS))


def test_errors_of_many_rows_in_parts_take_few_rounds(table, monkeypatch):
    """Of 4·10⁸ rows, the gap at a hundredth of a row is all rounding: no steps are made to reduce it."""
    weight, asked = np.full(len(table), 1e6), []
    ask = PartedRows.ask
    monkeypatch.setattr(
        PartedRows, "ask", lambda rows, *given, **some: asked.append(given) or ask(rows, *given, **some)
    )
    solution = support(4, PAIRS)
    parts = cut_into_parts(table, weight, 600)
    found = refit_edges(parts, solution)
    assert len(asked) < 40
    assert nearly_free(parts, solution).converged
    for one, two in zip(found, refit_edges(as_table(table, weight), solution), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-5)


@pytest.mark.parametrize("unit", [1e-4, 1e4])
def test_the_unit_of_scores_does_not_matter(unit):
    rng = np.random.default_rng(0)
    trait = rng.normal(size=300)
    X = np.column_stack([np.clip(np.round(trait + rng.normal(size=300) + 2.0), 0, 4) for _ in range(4)])
    tables = [as_table(X, kinds="ordinal", scores={j: k * np.arange(5.0) for j in range(4)}) for k in (1.0, unit)]
    solutions = [ising_path(table, [0.05 * k**2])[0] for table, k in zip(tables, (1.0, unit), strict=True)]
    plain, scaled = (refit(*each) for each in zip(tables, solutions, strict=True))
    assert plain.solution.converged
    assert scaled.solution.converged
    np.testing.assert_allclose(scaled.edge_values * unit**2, plain.edge_values, rtol=1e-6)
    np.testing.assert_allclose(scaled.edge_errors * unit**2, plain.edge_errors, rtol=1e-6)
    assert all(nearly_free(*each).converged for each in zip(tables, solutions, strict=True))
    near = [np.array(refit_edges(*each)) for each in zip(tables, solutions, strict=True)]
    np.testing.assert_allclose(near[1] * unit**2, near[0], rtol=1e-6)
    tests = [by_pair(edge_tests(table)) for table in tables]
    np.testing.assert_allclose(tests[1]["p"], tests[0]["p"], rtol=1e-4)


@pytest.mark.parametrize("kind", ["binary", "ordinal", "nominal"])
def test_where_the_nearly_free_estimate_starts_does_not_matter(kind):
    """A start may have edges that are not in the support, and lack some that are."""
    rng = np.random.default_rng(0)
    trait = rng.normal(size=500)
    X = np.column_stack([(trait + rng.normal(size=500) > cut).astype(int) for cut in (-1.0, -0.5, 0.0, 0.5, 1.0)])
    if kind != "binary":
        X = X + np.column_stack([(trait + rng.normal(size=500) > cut) for cut in (-0.4, 0.4, 0.0, 0.2, -0.2)])
    table = as_table(X, kinds=kind)
    without = np.ones((2, 5, 5))
    without[0, [0, 1], [1, 0]] = without[1, [2, 3], [3, 2]] = np.inf
    solution, other = (
        ising_path(rows, [0.02], penalty_weights=penalty)[0]
        for rows, penalty in zip((table, table[:250]), without, strict=True)
    )
    start = nearly_free(table[:250], other, 2.0).network
    pairs, begun = ({tuple(pair) for pair in network.pairs.tolist()} for network in (solution.network, start))
    assert pairs - begun
    assert begun - pairs
    for rows in (2.0, 0.01):
        near, far = nearly_free(table, solution, rows, start=start), nearly_free(table, solution, rows)
        assert near.converged
        assert {tuple(pair) for pair in near.edge_index.tolist()} <= pairs
        np.testing.assert_allclose(near.network.category_fields, far.network.category_fields, atol=2e-3)
        np.testing.assert_allclose(near.network.pair_parameters, far.network.pair_parameters, atol=2e-3)


def test_edges_of_all_kinds_are_in_the_order_of_their_p_values():
    """A pair of nominal columns has no z, and may be the surest of all."""
    rng = np.random.default_rng(1)
    first, weak = rng.integers(0, 3, size=600), rng.integers(0, 2, size=600)
    same = np.where(rng.random(600) < 0.6, first, rng.integers(0, 3, size=600))
    strong = np.where(rng.random(600) < 0.65, weak, rng.integers(0, 2, size=600))
    table = as_table(np.column_stack([first, same, weak, strong]), kinds=["nominal", "nominal", "binary", "binary"])
    edges = refit(table, ising_path(table, [0.01])[0]).edges()
    assert (np.diff(edges["p"]) >= 0).all()
    without, signed = np.flatnonzero(np.isnan(edges["z"])), np.flatnonzero(np.isfinite(edges["z"]))
    assert without[0] < signed[-1]
