"""Paths that start from a network: the same solutions, however far away it is."""

import numpy as np
import objectives as objective
import pytest
import slow_objective

from isinglass import Network, Path, Solution, as_table, ising_path, simulate
from isinglass._core import Problem
from isinglass.errors import ArgumentError, ConstantColumnWarning

RNG = np.random.default_rng(0)
TRAITS = RNG.normal(size=(600, 3))
SCORES = TRAITS @ RNG.normal(size=(3, 8)) + RNG.normal(size=(600, 8))
KINDS = {
    "binary": ["binary"] * 8,
    "ordinal": ["ordinal"] * 5 + ["binary"] * 3,
    "nominal": ["nominal"] * 3 + ["ordinal"] * 3 + ["binary"] * 2,
}
WIDE = simulate.gibbs_sample(simulate.random_network(45, 0.1, random_state=1), 800, burn_in=200, random_state=1)
ALPHAS = [0.08, 0.03, 0.01]


def make(kind):
    """Return a table with columns of these kinds."""
    n_categories = [2 if one == "binary" else 4 for one in KINDS[kind]]
    codes = np.column_stack(
        [np.digitize(column, [-1, 0, 1][:n]) for column, n in zip(SCORES.T, n_categories, strict=True)]
    )
    codes = np.minimum(codes, np.array(n_categories) - 1)
    return as_table(codes, kinds=dict(enumerate(KINDS[kind])))


def assert_same(path, other):
    """Compare two paths."""
    assert path.converged.all()
    for one, two in zip(path, other, strict=True):
        assert one.edge_index.tolist() == two.edge_index.tolist()
        np.testing.assert_allclose(one.network.parameters, two.network.parameters, atol=2e-4)
        assert one.objective == pytest.approx(two.objective, rel=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_another_table_is_a_start(kind):
    table = make(kind)
    part = table[np.arange(450)]
    whole, cold = ising_path(table, ALPHAS), ising_path(part, ALPHAS)
    assert_same(ising_path(part, ALPHAS, start=whole[1]), cold)


@pytest.mark.parametrize("table", [WIDE, make("ordinal")], ids=["screened", "ordinal"])
def test_a_solution_is_its_own_start(table):
    cold = ising_path(table, ALPHAS)
    again = Path(tuple(ising_path(table, [solution.alpha], start=solution)[0] for solution in cold), tol=cold.tol)
    assert_same(again, cold)
    assert again.n_iter.sum() <= len(ALPHAS) < cold.n_iter.sum()


def test_a_start_of_nearly_deterministic_columns_has_its_fields():
    # Without those of the start, the fields are looked for too far away: a dozen steps instead of none.
    x = np.random.default_rng(0).normal(size=(400, 1))
    table = as_table(np.column_stack([x, np.exp(x), x > 0.5, np.round(x)]), kinds="continuous")
    (solution,) = ising_path(table, [1e-5])
    (again,) = ising_path(table, [1e-5], start=solution)
    assert np.abs(solution.couplings).max() > 50
    assert again.converged
    assert again.n_iter <= 2
    np.testing.assert_allclose(again.objective, solution.objective, rtol=1e-6)


def test_columns_whose_pairs_are_all_forbidden_have_fields_of_their_own():
    table = make("ordinal")
    p = table.shape[1]
    start = ising_path(table, [ALPHAS[-1]])[0]
    omega = np.ones((p, p))
    omega[0, 1:] = omega[1:, 0] = np.inf
    cold, warm = (ising_path(table, [0.05], penalty_weights=omega, start=each)[0] for each in (None, start))
    np.testing.assert_allclose(warm.network.fields, cold.network.fields, atol=1e-6)
    judge = slow_objective.of(table, penalty_weights=omega)
    assert judge.value(warm.network, 0.05) == pytest.approx(warm.objective, rel=1e-12)


def test_a_network_that_is_wrong_changes_nothing():
    wrong = RNG.normal(size=(45, 45)) * 2
    start = Solution.from_dense(0.0, np.triu(wrong, 1) + np.triu(wrong, 1).T, RNG.normal(size=45))
    assert_same(ising_path(WIDE, ALPHAS, start=start), ising_path(WIDE, ALPHAS))


def test_forbidden_pairs_and_constant_columns_are_left_out():
    weights = np.ones((45, 45))
    weights[0, 1:] = weights[1:, 0] = np.inf
    start, table = ising_path(WIDE, [0.01])[0], WIDE.copy()
    assert (start.edge_index == 0).any()
    table[:, 3] = 1
    with pytest.warns(ConstantColumnWarning):
        found = ising_path(table, ALPHAS, penalty_weights=weights, start=start)
    with pytest.warns(ConstantColumnWarning):
        assert_same(found, ising_path(table, ALPHAS, penalty_weights=weights))
    assert not np.isin(found[-1].edge_index, [0, 3]).any()


def test_an_empty_start_and_the_certificate():
    start = Solution(Network(np.zeros(45), [], []), np.inf)
    found = ising_path(WIDE, [0.02], start=start)
    assert_same(found, ising_path(WIDE, [0.02]))
    residual = objective.kkt_residual(WIDE, found[0].couplings, found[0].fields, 0.02)
    assert residual <= 1e-7


def test_a_start_has_a_penalty():
    network = ising_path(WIDE, [0.1])[0].network
    with pytest.raises(ArgumentError, match="start must be a Solution"):
        ising_path(WIDE, [0.1], start=network)


def test_a_start_at_a_larger_alpha_is_followed_from_there(monkeypatch):
    """Without stops on the way, a dense table of 237 rows and 66 columns took more than a hundred times as long."""
    reached, place = [], Problem.place
    monkeypatch.setattr(
        Problem, "place", lambda self, alpha, *point: reached.append(alpha) or place(self, alpha, *point)
    )
    path = ising_path(WIDE, ALPHAS)
    for start, alpha, expected in ((0, 0.01, 0.08), (2, 0.03, 0.03), (1, 0.03, 0.03)):
        again = ising_path(WIDE, [alpha], start=path[start])
        assert again[0].objective == pytest.approx(path[ALPHAS.index(alpha)].objective, rel=1e-7)
        assert reached.pop() == pytest.approx(expected)


def test_a_start_of_other_columns_is_refused():
    start = ising_path(WIDE[:, :3], [0.1])[0]
    with pytest.raises(ArgumentError, match=f"start must have one node per column .{WIDE.shape[1]}.; got 3"):
        ising_path(WIDE, [0.1], start=start)


@pytest.mark.parametrize("kind", ["ordinal", "nominal"])
def test_a_start_with_other_categories_is_refused(kind):
    start = ising_path(make(kind), [0.1])[0]
    for other in {"binary", "ordinal", "nominal"} - {kind}:
        with pytest.raises(ArgumentError, match="start must have the kinds and numbers of categories of the table"):
            ising_path(make(other), [0.1], start=start)
