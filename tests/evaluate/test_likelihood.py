"""The joint likelihood: variable elimination against enumeration, sampling against variable elimination."""

import itertools
import math

import networkx
import numpy as np
import pytest

from isinglass import IsingNetwork, Network, Variables, exact, load, metrics, simulate
from isinglass.errors import DataError, MixingWarning
from isinglass.evaluate import elimination, likelihood
from isinglass.evaluate.elimination import eliminate, elimination_order, pair_terms
from isinglass.evaluate.likelihood import _AnnealedChains, _bennett, anneal, sample_partition
from isinglass.solve.states import log_sum, log_weights

MIXED = simulate.category_network(
    *(simulate.random_network(6, edge_probability=0.6, random_state=3), ["ordinal", "nominal", "binary"] * 2, 3),
    random_state=0,
)


def all_rows(network):
    return np.array(list(np.ndindex(*network.variables.sizes))).astype(np.uint8)


def enumerated(network):
    """Return log Z and the mean energy as sums over all rows, written down."""
    energies = network.energy(all_rows(network))
    log_z = np.log(np.exp(-energies).sum())
    return log_z, (np.exp(-energies - log_z) * energies).sum()


def order_of(network, *limit):
    return elimination_order(network.variables.sizes, network.edge_index.tolist(), *limit)


@pytest.mark.parametrize(
    "network",
    [
        Network([0.3], np.empty((0, 2), int), []),
        Network([1.0, -2.0, 0.5], np.empty((0, 2), int), []),
        simulate.random_network(9, edge_probability=0.5, random_state=1),
        simulate.random_network(10, edge_probability=1.0, random_state=2),
        simulate.chain_network(12, strength=-3.0),
        MIXED,
    ],
    ids=["one", "no edges", "random", "complete", "chain", "mixed"],
)
def test_elimination_is_enumeration(network):
    np.testing.assert_allclose(eliminate(network, order_of(network)[0]), enumerated(network), rtol=1e-10)


def test_a_dense_continuous_grid():
    network = simulate.category_network(simulate.chain_network(3, strength=1.0), "ordinal", 9)
    variables = Variables.of([9] * 3, "continuous")
    network = Network(network.fields, network.edge_index, network.edge_values, variables=variables)
    np.testing.assert_allclose(eliminate(network, [0, 1, 2]), enumerated(network), rtol=1e-10)


def test_terms_of_edges_are_the_energy():
    rows = all_rows(MIXED)
    fields = MIXED.variables.split(MIXED.category_fields)
    total = sum(field[rows[:, s]] for s, field in enumerate(fields))
    for (s, t), table in zip(MIXED.edge_index, pair_terms(MIXED), strict=True):
        total = total + table[rows[:, s], rows[:, t]]
    np.testing.assert_allclose(-total, MIXED.energy(rows), atol=1e-12)


def test_wide_networks_are_exact_where_they_are_thin():
    grid = simulate.grid_network(8, 40, strength=1.0, fields="balanced")
    turned = simulate.grid_network(40, 8, strength=1.0, fields="balanced")
    found = grid.log_partition()
    assert (found.error, found.energy_error) == (0.0, 0.0)
    assert found.value == pytest.approx(turned.log_partition().value, rel=1e-12)
    assert found.lower == found.value == found.upper


def test_orders_keep_tables_small():
    chain = simulate.graph_network(networkx.cycle_graph(50))
    assert sorted(order_of(chain, 8)[0]) == list(range(50))
    assert order_of(chain, 16)[1] == 8
    assert order_of(chain, 4) is None  # a ring needs three columns at a time
    complete = simulate.random_network(30, edge_probability=1.0, random_state=0)
    assert order_of(complete) is None


def largest_table(sizes, edges, order):
    """Return the entries of the largest table of an order, by joining the neighbors of every column that goes."""
    around, largest = [{t for edge in edges if s in edge for t in edge} - {s} for s in range(len(sizes))], 0
    for s in order:
        largest = max(largest, math.prod(sizes[t] for t in {s, *around[s]}))
        for t in around[s]:
            around[t] = (around[t] | around[s]) - {s, t}
    return largest


def test_a_graph_that_is_refused_early_has_no_order():
    rng, n_refused = np.random.default_rng(0), 0
    for _ in range(100):
        p = int(rng.integers(2, 6))
        sizes = rng.integers(int(rng.integers(1, 3)), 4, p).tolist()
        edges = [pair for pair in itertools.combinations(range(p), 2) if rng.random() < 0.8]
        limit = int(rng.integers(2, 20))
        least = min(largest_table(sizes, edges, order) for order in itertools.permutations(range(p)))
        around = [{t for edge in edges if s in edge for t in edge} - {s} for s in range(p)]
        fewest = max(math.log2(min(sizes)), 1e-9)
        is_refused = elimination._has_large_core(around, (math.log2(limit) + 1e-9) / fewest - 1)
        assert least > limit or not is_refused
        n_refused += is_refused
        found = elimination_order(sizes, edges, limit)
        if found is not None:
            assert found[1] == largest_table(sizes, edges, found[0]) <= limit
    assert n_refused > 5


@pytest.mark.parametrize("seed", range(3))
def test_sampling_agrees_with_enumeration(seed):
    network = simulate.random_network(20, edge_probability=0.4, random_state=seed)
    found = sample_partition(network, 0.02, seed)
    assert abs(found.value - log_sum(log_weights(network.couplings, network.fields))) < 0.05
    assert found.error <= 0.02
    probabilities = exact.state_probabilities(network)
    entropy = -(probabilities * np.log(probabilities)).sum()
    assert abs(found.entropy - entropy) < 5 * found.entropy_error


def test_sampling_columns_with_categories():
    found = sample_partition(MIXED, 0.02)
    log_z, energy = enumerated(MIXED)
    assert abs(found.value - log_z) < max(4 * found.error, 0.02)
    assert abs(found.energy - energy) < 5 * found.energy_error


def test_both_directions_bound_log_z_on_average():
    # From exact rows of either end the means of exp(sum) are ratios of partition functions, and means of sums bounds.
    network, n = simulate.grid_network(4, 4, strength=2.0, couplings="mixed", fields="balanced", random_state=0), 4000
    ratio = log_sum(log_weights(network.couplings, network.fields)) - 16 * np.log(2.0)
    fair = np.random.default_rng(0).integers(0, 2, (n, 16), dtype=np.uint8)
    rows, seed = exact.exact_sample(network, n, random_state=1), np.random.SeedSequence(2)
    betas = np.linspace(0.0, 1.0, 11)
    up, down = (
        _AnnealedChains(network, np.zeros(32), start, seed, 1).run(steps)
        for start, steps in ((fair, betas), (rows, betas[::-1]))
    )
    for sums, expected in ((up, ratio), (down, -ratio)):
        weights = np.exp(sums - expected)
        assert weights.mean() == pytest.approx(1.0, abs=4 * weights.std() / np.sqrt(n))
    assert up.mean() < ratio - 0.1 < ratio + 0.1 < -down.mean()


def test_bennett_joins_normal_sums():
    # Sums N(c − v/2, v) one way and N(c + v/2, v) the other way satisfy Crooks' relation with log Z / Z₀ = c.
    rng = np.random.default_rng(0)
    runs = [_bennett(rng.normal(2.0, 2.0, 400), rng.normal(6.0, 2.0, 400), np.arange(400)) for _ in range(100)]
    values, errors = np.array(runs).T
    assert values.mean() == pytest.approx(4.0, abs=4 * values.std() / np.sqrt(100))
    assert errors.mean() == pytest.approx(values.std(), rel=0.25)


def test_the_error_knows_that_chains_back_begin_where_others_ended():
    grid = simulate.grid_network(5, 5, strength=4.0, fields="balanced")
    log_z = grid.log_partition().value
    runs = [anneal(grid, 1000, 100, seed, 1) for seed in range(40)]
    off, errors = np.array([(run.value - log_z, run.error) for run in runs]).T
    assert np.sqrt((off**2).mean()) < 1.3 * np.sqrt((errors**2).mean())
    assert (np.abs(off) < 3 * errors).all()


def test_seeds_and_threads():
    network = simulate.random_network(25, edge_probability=1.0, random_state=0)
    one, two = (metrics.log_partition(network, tol=1.0, n_threads=n) for n in (1, 2))
    assert one == two
    assert one != metrics.log_partition(network, tol=1.0, random_state=1)


def test_a_poor_estimate_is_warned_about(monkeypatch):
    monkeypatch.setattr(likelihood, "_FIRST_SWEEPS", 10)
    magnet = simulate.grid_network(30, 30, strength=3.0, couplings="mixed", fields="balanced", random_state=0)
    with pytest.warns(MixingWarning, match="known to ±"):
        sample_partition(magnet, tol=100.0)


def test_likelihood_of_networks_fits_and_files(tmp_path):
    model = simulate.chain_network(5, strength=2.0, fields="balanced")
    X, test = (simulate.exact_sample(model, n, random_state=n) for n in (500, 200))
    net = IsingNetwork().fit(X)
    found = net.log_likelihood(test)
    logs = np.log(exact.state_probabilities(net.network_)[test @ (1 << np.arange(5))])
    assert found == pytest.approx(logs.mean(), rel=1e-10)
    net.fit_.save(tmp_path / "model.npz")
    for other in (net.fit_, load(tmp_path / "model.npz")):
        assert other.log_likelihood(test) == pytest.approx(found, rel=1e-12)
    weight = np.arange(200.0)
    expected = np.average(logs, weights=weight)
    assert net.log_likelihood(test, weight) == pytest.approx(expected, rel=1e-10)
    assert net.log_likelihood([test[:100], test[100:]]) == pytest.approx(found, rel=1e-10)  # in parts


def test_what_is_refused():
    with pytest.raises(DataError, match="tol must be a positive number"):
        metrics.log_partition(MIXED, tol=0)
    holes = np.where(np.eye(5), np.nan, 1.0)
    net = IsingNetwork(missing="impute").fit(simulate.exact_sample(simulate.chain_network(5), 50, random_state=0))
    with pytest.raises(DataError, match="no missing cells"):
        net.log_likelihood(holes)
