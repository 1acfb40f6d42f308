import functools
import importlib
from dataclasses import dataclass, field

import networkx
import numpy as np
import pytest

from isinglass import Solution, bootstrap, ising_path, simulate
from isinglass.errors import DataError
from isinglass.randomness import spawn_seeds
from isinglass.select import Bootstrap, select_ebic

bootstrap_module = importlib.import_module("isinglass.select.bootstrap")
CHAIN = simulate.chain_network(4, strength=1.2, fields="balanced")


@pytest.fixture(scope="module")
def table():
    return simulate.exact_sample(CHAIN, 200, random_state=1)


def resamples(X, alpha, n_boot, random_state):
    """Return the couplings of every resample, by plain loops."""
    for seed in spawn_seeds(random_state, n_boot):
        rows = np.sort(np.random.default_rng(seed).integers(0, len(X), len(X)))
        yield ising_path(X[rows], [alpha])[0].couplings


@pytest.mark.parametrize("cells", [4_000_000, 30])
def test_summaries_by_plain_loops(table, cells, monkeypatch):
    monkeypatch.setattr(bootstrap_module, "_CELLS_PER_BLOCK", cells)
    found = bootstrap(table, 0.08, n_boot=20, random_state=0)
    couplings = np.array(list(resamples(table, 0.08, 20, 0)))
    network = ising_path(table, [0.08])[0]
    seen = [(s, t) for s in range(4) for t in range(s + 1, 4) if couplings[:, s, t].any() or network.couplings[s, t]]
    assert found.edge_index.tolist() == [list(pair) for pair in seen]
    for k, (s, t) in enumerate(seen):
        values = couplings[:, s, t]
        assert found.edge_values[k] == network.couplings[s, t]
        assert found.edge_means[k] == pytest.approx(values.mean(), rel=1e-12)
        assert found.inclusion[k] == (values != 0).mean()
        np.testing.assert_allclose(found.edge_quantiles[:, k], np.quantile(values, [0.025, 0.5, 0.975]), rtol=1e-12)
    strengths = np.abs(couplings).sum(axis=2)
    np.testing.assert_allclose(found.strengths, strengths, rtol=1e-12)
    np.testing.assert_allclose(found.strength, np.abs(network.couplings).sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.strength_quantiles, np.quantile(strengths, [0.025, 0.5, 0.975], axis=0))
    expected = [np.corrcoef(row, found.strength)[0, 1] for row in strengths]
    np.testing.assert_allclose(found.correlations, expected, rtol=1e-9)
    assert found.n_boot == 20
    assert not found.dropped.any()


def test_pairs_never_seen_are_not_stored(table):
    found = bootstrap(table, 0.12, n_boot=10, random_state=0)
    assert 0 < len(found.edge_index) < 6
    empty = bootstrap(table, 2.0, n_boot=5, random_state=0)
    assert empty.edge_index.shape == (0, 2)
    assert empty.edge_quantiles.shape == (3, 0)
    assert np.isnan(empty.correlations).all()
    assert repr(empty).startswith('Bootstrap("rows": 5 resamples, 0 pairs')


def test_intervals_cover():
    """Percentile intervals of the unpenalised estimate contain the truth about as often as they say."""
    model = simulate.chain_network(3, strength=1.0, fields="balanced")
    rng, covered = np.random.default_rng(5), []
    for _ in range(60):
        X = simulate.exact_sample(model, 300, random_state=rng)
        found = bootstrap(X, 0.0, n_boot=200, random_state=rng)
        low, _, high = found.edge_quantiles
        truth = model.couplings[tuple(found.edge_index.T)]
        covered += ((low <= truth) & (truth <= high)).tolist()
    assert len(covered) == 180
    # 95 % with a standard error of at most 2 % (three intervals of one table are nearly independent).
    assert 0.88 <= np.mean(covered) <= 0.99


def test_identical_bits_for_any_number_of_jobs(table):
    for kind in ("rows", "case-drop"):
        one, two = (bootstrap(table, 0.05, n_boot=15, kind=kind, random_state=3, n_jobs=n) for n in (1, 2))
        for name in ("edge_index", "edge_means", "edge_quantiles", "inclusion", "strengths", "dropped"):
            assert getattr(one, name).tobytes() == getattr(two, name).tobytes()


def test_seeds(table):
    run = functools.partial(bootstrap, table, 0.05, n_boot=5)
    assert run(random_state=1).strengths.tobytes() == run(random_state=1).strengths.tobytes()
    assert run(random_state=1).strengths.tobytes() != run(random_state=2).strengths.tobytes()
    longer = bootstrap(table, 0.05, n_boot=8, random_state=1)  # resample k does not depend on how many there are
    assert longer.strengths[:5].tobytes() == run(random_state=1).strengths.tobytes()


def test_fit_may_be_any_function(table):
    found = bootstrap(table, lambda X: select_ebic(X, alphas=[0.2, 0.05, 0.0]).solution, n_boot=5, random_state=0)
    assert found.solution.alpha == select_ebic(table, alphas=[0.2, 0.05, 0.0]).alpha
    assert "inclusion" in repr(found)


def test_case_drop_keeps_distinct_rows(table):
    sizes, whole = [], len(table)

    def fit(X):
        sizes.append(len(X))
        return ising_path(X, [0.05])[0]

    found = bootstrap(table, fit, n_boot=6, kind="case-drop", drop_shares=[0.25, 0.5], random_state=0)
    assert sizes == [whole, 150, 100, 150, 100, 150, 100]
    assert found.dropped.tolist() == [0.25, 0.5] * 3

    numbered = ((np.arange(64)[:, None] >> np.arange(6)) & 1).astype(np.uint8)
    rows = []
    bootstrap(
        numbered,
        lambda X: rows.append(X @ (1 << np.arange(6))) or Solution.from_dense(1.0, np.zeros((6, 6)), np.zeros(6)),
        n_boot=3,
        kind="case-drop",
        random_state=0,
    )
    assert all(len(set(kept)) == len(kept) for kept in rows)


def constructed(correlated):
    """Return a case-drop result in which the given share of resamples keeps the order of strengths, per share."""
    solution = Solution.from_dense(0.1, np.array([[0, 3.0, 0], [3.0, 0, 1.0], [0, 1.0, 0]]), np.zeros(3))
    same, reversed_ = np.array([3.0, 4.0, 1.0]), np.array([3.0, 1.0, 4.0])
    strengths, dropped = [], []
    for share, good in correlated.items():
        strengths += [same] * good + [reversed_] * (100 - good)
        dropped += [share] * 100
    empty = np.zeros(0)
    index = np.zeros((0, 2), np.int32)
    shares = np.array(dropped)
    return Bootstrap(
        "case-drop", solution, index, empty, empty, np.zeros((3, 0)), empty, np.array(strengths), shares, 0
    )


def test_cs_coefficient_on_a_constructed_example():
    found = constructed({0.1: 100, 0.3: 98, 0.5: 95, 0.6: 94, 0.7: 40})
    assert found.cs_coefficient() == 0.5
    assert found.cs_coefficient(probability=0.94) == 0.6
    assert found.cs_coefficient(probability=0.97) == 0.3
    assert constructed({0.1: 90, 0.3: 20}).cs_coefficient() == 0.0
    assert "CS-coefficient of strength: 0.5" in repr(found)
    assert found.correlations[0] == 1.0
    assert found.correlations[-1] < 0


def test_missing_correlations_count_as_too_small(table):
    found = bootstrap(table, 2.0, n_boot=14, kind="case-drop", random_state=0)
    assert np.isnan(found.correlations).all()
    assert found.cs_coefficient() == 0.0


def test_cs_coefficient_of_a_clear_network():
    model = simulate.graph_network(networkx.star_graph(5), strength=2.0, fields="balanced")
    X = simulate.exact_sample(model, 1000, random_state=0)
    found = bootstrap(X, 0.02, n_boot=70, kind="case-drop", random_state=0)
    assert found.cs_coefficient() == 0.7


def test_column_that_is_constant_in_a_resample(table):
    X = np.column_stack([table, np.zeros(len(table), dtype=np.uint8)])
    X[17, 4] = 1
    found = bootstrap(X, 0.05, n_boot=30, random_state=0)
    assert 0 < found.n_constant < 30  # a row is absent with probability 1/e


@dataclass(frozen=True)
class Counted:
    """A fit that counts its calls, which are no part of what it is."""

    calls: list = field(default_factory=list, compare=False)

    def __call__(self, X):
        self.calls.append(len(X))
        return ising_path(X, [0.05])[0]


def test_checkpoint_resumes_refuses_and_prolongs(table, tmp_path):
    file, fit = tmp_path / "boot", Counted()
    calls = fit.calls
    first = bootstrap(table, fit, n_boot=5, random_state=0, checkpoint=file)
    assert len(calls) == 6
    longer = bootstrap(table, fit, n_boot=8, random_state=0, checkpoint=file)
    assert len(calls) == 6 + 1 + 3  # the whole table, and the three new resamples
    assert longer.strengths[:5].tobytes() == first.strengths.tobytes()
    with pytest.raises(DataError, match="random_state"):
        bootstrap(table, fit, n_boot=5, random_state=1, checkpoint=file)
    with pytest.raises(DataError, match="differs in X"):
        bootstrap(table[:-1], fit, n_boot=5, random_state=0, checkpoint=file)


def test_checkpoint_tells_functions_of_one_name_apart(table, tmp_path):
    def fit_at(alpha):
        return lambda X: ising_path(X, [alpha])[0]

    bootstrap(table, fit_at(0.05), n_boot=3, random_state=0, checkpoint=tmp_path / "boot.npz")
    with pytest.raises(DataError, match="differs in fit"):
        bootstrap(table, fit_at(0.06), n_boot=3, random_state=0, checkpoint=tmp_path / "boot.npz")


@pytest.mark.parametrize(
    ("fit", "options", "message"),
    [
        (0.05, {"n_boot": 0}, "n_boot must be"),
        (0.05, {"kind": "pairs"}, 'kind must be "rows" or "case-drop"'),
        (0.05, {"kind": "case-drop", "drop_shares": [0.5, 1.0]}, "drop_shares must be between 0 and 1"),
        (0.05, {"kind": "case-drop", "drop_shares": []}, "not empty"),
        (0.05, {"kind": "case-drop", "drop_shares": [0.999]}, "drop_shares must leave at least one of 200 rows"),
        (-0.05, {}, "fit must be a function of a table, or an alpha"),
        ("0.05", {}, "fit must be a function of a table, or an alpha"),
        (True, {}, "fit must be a function of a table, or an alpha"),
        (lambda X: ising_path(X, [0.1]), {}, "fit must return a Solution; got Path"),
        (lambda X: ising_path(X[:, :3], [0.1])[0], {}, "all 4 columns; got 3"),
    ],
)
def test_bad_inputs(table, fit, options, message):
    with pytest.raises(DataError, match=message):
        bootstrap(table, fit, **({"n_boot": 2} | options))


def test_cs_coefficient_needs_dropped_cases(table):
    with pytest.raises(DataError, match='kind must be "case-drop" for a CS-coefficient'):
        bootstrap(table, 0.05, n_boot=2, random_state=0).cs_coefficient()
    with pytest.raises(DataError, match="probability must be above 0"):
        constructed({0.1: 100}).cs_coefficient(probability=0.0)
