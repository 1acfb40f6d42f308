"""Tables where everything depends on everything: products on packed rows take the place of blocks."""

import numpy as np
import objectives as objective
import pytest
from reference import nodewise_violations

from isinglass import ising_path, nodewise_path
from isinglass._core import Problem
from isinglass.solve.path import alpha_max


def latent_table(n, p, rank, seed=0):
    rng = np.random.default_rng([seed, n, p])
    loadings, scores = rng.normal(size=(p, rank)) / np.sqrt(rank), rng.normal(size=(n, rank))
    odds = np.exp(1.7 * scores @ loadings.T - 1 + 0.8 * rng.normal(size=p))
    return (rng.random((n, p)) < odds / (1 + odds)).astype(np.uint8)


def with_width(width):
    """Stand in for Problem: nodes are operators from this many neighbors on."""

    def make(*args):
        problem = Problem(*args)
        problem.set_widest_block(width)
        return problem

    return make


def options(kind, n, p):
    rng = np.random.default_rng(3)
    if kind == "weights":
        return {"sample_weight": rng.integers(0, 4, n) + 1.0}
    if kind == "standardized":
        return {"penalty_weights": "standardized"}
    if kind == "matrix":
        omega = np.exp(rng.normal(scale=0.5, size=(p, p)))
        omega = np.triu(omega, 1) + np.triu(omega, 1).T
        omega[0, 1:3] = omega[1:3, 0] = 0.0  # free
        omega[4, 5:9] = omega[5:9, 4] = np.inf  # forbidden
        return {"penalty_weights": omega}
    return {}


@pytest.mark.parametrize(("kind", "width"), [("plain", 0), ("weights", 30), ("standardized", 30), ("matrix", 0)])
def test_products_and_blocks_find_the_same_certified_optimum(kind, width, monkeypatch):
    n, p = 250, 70
    X, extra = latent_table(n, p, 3), options(kind, n, p)
    monkeypatch.setattr("isinglass.solve.path.Problem", with_width(10**6))
    blocks = ising_path(X, alphas=8, alpha_min_ratio=0.02, **extra)
    monkeypatch.setattr("isinglass.solve.path.Problem", with_width(width))
    products = ising_path(X, alphas=8, alpha_min_ratio=0.02, **extra)
    assert products.converged.all()
    assert len(products[-1].edge_values) > 0.3 * p * (p - 1) / 2
    for one, other in zip(blocks, products, strict=True):
        residual = objective.kkt_residual(X, other.couplings, other.fields, other.alpha, **extra)
        assert residual == pytest.approx(other.kkt_residual, abs=1e-12)
        gap = objective.relative_gap(X, other.couplings, other.fields, other.alpha, **extra)
        assert gap <= 1e-7
        assert other.objective == pytest.approx(one.objective, rel=1e-10)


def test_a_wide_table_uses_products_and_threads_do_not_change_a_bit():
    X = latent_table(150, 140, 4)
    paths = [ising_path(X, alphas=10, alpha_min_ratio=0.01, n_threads=n_threads) for n_threads in (1, 2, 3)]
    assert len(paths[0][-1].edge_values) * 2 / 140 > 60  # wide enough
    for a, b, c in zip(*paths, strict=True):
        assert a.edge_values.tobytes() == b.edge_values.tobytes() == c.edge_values.tobytes()
        assert a.fields.tobytes() == b.fields.tobytes() == c.fields.tobytes()
        assert (a.duality_gap, a.kkt_residual) == (b.duality_gap, b.kkt_residual) == (c.duality_gap, c.kkt_residual)


def test_screening_changes_nothing_on_a_dense_table(monkeypatch):
    X = latent_table(150, 110, 4)
    screened = ising_path(X, alphas=10, alpha_min_ratio=0.01)
    monkeypatch.setattr("isinglass.solve.alphas.STRICTNESS", 0.0)
    whole = ising_path(X, alphas=10, alpha_min_ratio=0.01)
    for one, other in zip(screened, whole, strict=True):
        assert one.objective == pytest.approx(other.objective, rel=1e-10)
        np.testing.assert_allclose(one.couplings, other.couplings, atol=1e-3)


@pytest.mark.parametrize("standardize", [False, True])
def test_regressions_on_many_columns_are_certified(standardize):
    X = latent_table(300, 160, 4)
    path = nodewise_path(X, alphas=4, alpha_min_ratio=0.01, standardize=standardize)
    assert path.converged.all()
    omega = X.std(axis=0) if standardize else None
    for k, alpha in enumerate(path.alphas):
        coefficients = path.asymmetric_couplings[k].toarray()
        violations = nodewise_violations(X, coefficients, path.nodes.fields[k], alpha, omega=omega)
        assert np.all(violations <= 1.01 * path.nodes.kkt_residuals[k] + 1e-12)
    assert (coefficients != 0).sum(axis=1).max() > 60  # wide enough for products


def test_a_dense_table_does_not_crawl():
    """Steps that end at the first edge to reach zero took 2969 products here, and for ever on 600 × 900."""
    problem = Problem(latent_table(60, 90, 6), None, None, False, 1)
    problem.alpha_max()
    state = problem.follow([0.002], 0.002, 1e-7, 100, 1.0)[0]
    assert len(state.values) > 1900
    assert max(state.kkt_residual, state.duality_gap / problem.null_objective) <= 1e-7
    assert state.n_iter <= 10
    assert state.n_products <= 1500


def indicator_table(n, blocks, seed):
    """Columns that tell the categories of some variables, all of them or all but a hundredth of the rows."""
    rng = np.random.default_rng(seed)
    factors, columns = rng.normal(size=(n, 3)), []
    for block in range(blocks):
        z, q = factors @ rng.normal(size=3) + rng.normal(size=n), int(rng.integers(3, 8))
        category = np.searchsorted(np.quantile(z, np.sort(rng.random(q - 1))), z)
        if block % 2:
            category = np.where(rng.random(n) < 0.01, -1, category)
        columns += [category == k for k in range(q)] + [category < 2] * (block % 4 == 0)
    X = np.column_stack(columns).astype(np.uint8)
    return X[:, (X.mean(axis=0) > 0.003) & (X.mean(axis=0) < 0.997)]


@pytest.mark.parametrize("width", [8, None])
def test_no_alpha_takes_many_times_as_many_products_as_its_neighbors(width):
    X = indicator_table(800, 9, 6)
    top = alpha_max(X)
    strength = np.abs(ising_path(X, np.geomspace(top, 1e-5 * top, 20))[-1].couplings)
    omega = np.divide(1.0, strength, out=np.full_like(strength, np.inf), where=strength > 0)
    np.fill_diagonal(omega, 1.0)
    problem = Problem(X, None, omega, False, 1)
    if width is not None:
        problem.set_widest_block(width)
    alpha, total, counts = problem.alpha_max(), 0, []
    for k in range(100):
        state = problem.follow([alpha * 0.9**k], alpha * 0.9 ** (k + 1), 1e-7, 100, 1.0)[0]
        counts.append(state.n_products - total)
        total = state.n_products
    assert len(state.edges) > 300
    assert max(counts) < 500
