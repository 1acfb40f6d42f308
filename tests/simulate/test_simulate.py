import re

import networkx
import numpy as np
import pytest
from hypothesis import strategies as st
from reference import Xoshiro, annealed_chain, gibbs_chain
from scipy import stats

from isinglass._core import GibbsSampler
from isinglass.arguments import spawn_seeds
from isinglass.errors import DataError, MixingWarning
from isinglass.network import Network
from isinglass.results import Solution
from isinglass.simulate import (
    chain_network,
    exact_sample,
    gibbs_diagnostics,
    gibbs_sample,
    graph_network,
    grid_network,
    random_network,
)
from isinglass.simulate.enumeration import moments, state_probabilities
from isinglass.simulate.gibbs import sampler_of
from isinglass.simulate.mixing import chain_statistics

seeds = st.integers(0, 2**31)


def degrees(model):
    return (model.couplings != 0).sum(axis=0)


def edge_set(model):
    return {tuple(pair) for pair in np.argwhere(np.triu(model.couplings, 1)).tolist()}


def state_numbers(X):
    return X.astype(np.int64) @ (1 << np.arange(X.shape[1]))


# ------------------------------------------------------------------------------------------- networks


def test_random_network_is_that_of_the_paper():
    p, probability = 60, 0.3
    model = random_network(p, probability, coupling_range=(-0.5, 2.0), random_state=1)
    np.testing.assert_array_equal(model.couplings, model.couplings.T)
    theta = model.theta[np.triu_indices(p)]
    n, share = len(theta), np.mean(theta != 0)
    assert abs(share - probability) < 4 * np.sqrt(probability * (1 - probability) / n)
    assert 0 < np.count_nonzero(model.fields) < p
    values = theta[theta != 0]
    assert stats.kstest(values, stats.uniform(-0.5, 2.5).cdf).pvalue > 1e-4
    assert (model.fields == random_network(p, probability, coupling_range=(-0.5, 2), random_state=1).fields).all()


def test_random_network_at_the_ends():
    assert random_network(5, 0.0, random_state=0).theta.any() == np.False_
    full = random_network(5, 1.0, random_state=0)
    assert full.n_edges == 10
    assert full.fields.all()
    assert random_network(1, 1.0, random_state=0).n_features == 1
    plain, unbalanced = (random_network(6, 0.5, unbalanced=flag, random_state=3) for flag in (False, True))
    assert unbalanced.fields[0] == 5.0
    np.testing.assert_array_equal(plain.fields[1:], unbalanced.fields[1:])
    np.testing.assert_array_equal(plain.couplings, unbalanced.couplings)


def test_chain():
    assert edge_set(chain_network(4)) == {(0, 1), (1, 2), (2, 3)}
    assert chain_network(1).n_edges == 0


def test_grid():
    grid = grid_network(2, 3)
    assert edge_set(grid) == {(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)}
    assert edge_set(grid_network(1, 4)) == edge_set(chain_network(4))
    assert grid_network(1, 1).n_edges == 0


def test_a_graph_of_networkx_becomes_a_network():
    graph = networkx.Graph([("b", "a"), ("b", "c")])
    graph.add_node("alone")
    model = graph_network(graph)
    assert model.names == ("b", "a", "c", "alone")
    assert edge_set(model) == {(0, 1), (0, 2)}


GENERATORS = {
    "chain": lambda **options: chain_network(9, **options),
    "grid": lambda **options: grid_network(3, 3, **options),
    "small world": lambda **options: graph_network(networkx.watts_strogatz_graph(10, 4, 0.3, seed=0), **options),
    "regular": lambda **options: graph_network(networkx.random_regular_graph(3, 10, seed=0), **options),
}


@pytest.mark.parametrize("make", GENERATORS.values(), ids=GENERATORS)
def test_couplings_and_fields_of_every_graph(make):
    for options, allowed in [
        ({"strength": 0.7}, {0.7}),
        ({"couplings": "mixed", "strength": 0.7}, {-0.7, 0.7}),
        ({"strength": -1.5}, {-1.5}),
    ]:
        model = make(random_state=5, **options)
        np.testing.assert_array_equal(model.couplings, model.couplings.T)
        assert set(model.edges()["coupling"]) == allowed
        assert not model.fields.any()
    model = make(couplings="mixed", fields="balanced", random_state=5)
    np.testing.assert_allclose(moments(model).means, 0.5, atol=1e-12)
    assert make(couplings="mixed", random_state=7) == make(couplings="mixed", random_state=7)


def test_bad_requests_are_named(unseeded_draws):
    cases = [
        (lambda: random_network(0, 0.5), "n_nodes must be an integer of at least 1"),
        (lambda: random_network(3, 1.5), "edge_probability must be between 0 and 1"),
        (lambda: random_network(3, 0.5, coupling_range=(1, -1)), "the lower one first"),
        (lambda: random_network(3, 0.5, coupling_range=(1, 2, 3)), r"must have the shape \(2,\)"),
        (lambda: random_network(3, 0.5, coupling_range=(0, np.inf)), "coupling_range must be finite"),
        (lambda: random_network(3, "a"), "edge_probability must be a finite number"),
        (lambda: chain_network(3, couplings="strong"), 'couplings must be one of "ferromagnetic"'),
        (lambda: chain_network(3, fields="none"), 'fields must be one of "zero", "balanced"'),
        (lambda: graph_network(np.eye(3)), "graph must be a graph of networkx with at least one node; got 'ndarray'"),
        (lambda: graph_network(networkx.Graph()), "graph must be a graph of networkx with at least one node"),
        (lambda: graph_network(networkx.MultiGraph([(0, 1), (0, 1)])), "graph must be undirected, without loops"),
        (lambda: graph_network(networkx.Graph([(0, 0)])), "graph must be undirected, without loops"),
        (lambda: graph_network(networkx.DiGraph([(0, 1)])), "graph must be undirected, without loops"),
        (lambda: gibbs_sample(chain_network(3), 0), "n_samples must be an integer of at least 1"),
        (lambda: gibbs_sample(chain_network(3), 5, burn_in=-1), "burn_in must be an integer of at least 0"),
        (lambda: gibbs_sample(chain_network(3), 5, thin=0), "thin must be an integer of at least 1"),
        (lambda: gibbs_sample(chain_network(3), 5, n_chains=6), "n_chains must be at most 5"),
        (lambda: gibbs_sample(chain_network(3), 5, n_threads=0), "n_threads must be an integer of at least 1"),
        (lambda: gibbs_sample(chain_network(3), 5, random_state="x"), "random_state must be a non-negative integer"),
        (lambda: gibbs_sample(chain_network(3), 5, random_state=-1), "random_state must be a non-negative integer"),
        (lambda: gibbs_sample(chain_network(3), 5, start=[0, 1]), "start must have shape"),
        (lambda: gibbs_sample(chain_network(3), 5, start="zeros"), "start must have shape .*; got 'zeros'"),
        (lambda: gibbs_sample(chain_network(3), 5, start=[0, 1, 2]), "start must hold the numbers of categories"),
        (lambda: gibbs_sample(chain_network(3), 5, start=[0, 1, np.nan]), "start must hold the numbers of categories"),
        (lambda: gibbs_diagnostics(chain_network(3), n_chains=1), "n_chains must be an integer of at least 2"),
    ]
    for call, message in cases:
        with pytest.raises(DataError, match=message):
            call()


# ------------------------------------------------------------------------------------------- the generator


def test_generator_gives_the_published_numbers():
    twin = Xoshiro([1, 2, 3, 4])
    assert [twin.next() for _ in range(4)] == [41943041, 58720359, 3588806011781223, 3591011842654386]


def test_kernel_and_twin_have_the_same_generator():
    start = np.random.SeedSequence(5).generate_state(8, np.uint64).reshape(2, 4)
    words, states = start.copy(), np.empty((2, 301), dtype=np.uint8)
    sampler_of(Network.from_couplings(np.zeros((301, 301)), np.zeros(301))).start(words, states)
    for chain in range(2):
        twin = Xoshiro(start[chain])
        assert [twin.next() >> 63 for _ in range(301)] == states[chain].tolist()
        assert twin.words == words[chain].tolist()


def test_generator_is_uniform():
    # One node without edges redraws a coin of known bias at every sweep: threshold the stream at several places.
    n = 200_000
    for probability in (0.5, 0.1, 0.003, 0.9):
        model = Network.from_couplings([[0.0]], [np.log(probability / (1 - probability))])
        x = gibbs_sample(model, n, burn_in=0, random_state=11)[:, 0].astype(float)
        z = (x - probability) / np.sqrt(probability * (1 - probability))
        assert abs(z.sum()) < 4 * np.sqrt(n)
        for lag in (1, 2, 3, 7):
            assert abs(z[lag:] @ z[:-lag]) < 4 * np.sqrt(n - lag)


def test_chains_are_independent_of_each_other():
    n, model = 100_000, Network.from_couplings(np.zeros((2, 2)), np.zeros(2))
    X = gibbs_sample(model, 4 * n, burn_in=0, n_chains=4, random_state=2).reshape(4, n, 2)
    z = 2.0 * X.transpose(0, 2, 1).reshape(8, n) - 1
    correlations = (z @ z.T / n)[np.triu_indices(8, 1)]
    assert (np.abs(correlations) < 4 / np.sqrt(n)).all()


def test_random_state_in_all_its_forms(unseeded_draws):
    model = random_network(8, 0.5, random_state=0)

    def draw(random_state):
        return gibbs_sample(model, 40, burn_in=3, random_state=random_state).tolist()

    assert draw(4) == draw(4) == draw(np.int64(4)) == draw(np.random.default_rng(4)) == draw(np.random.SeedSequence(4))
    assert draw(4) != draw(5)
    assert draw(np.random.RandomState(4)) == draw(np.random.RandomState(4))
    for advanced in (np.random.default_rng(4), np.random.RandomState(4)):
        assert draw(advanced) != draw(advanced)
    assert draw(None) != draw(None)


# ------------------------------------------------------------------------------------------- the sampler


@pytest.mark.parametrize(("burn_in", "thin"), [(0, 1), (3, 1), (2, 3), (0, 2)])
def test_sampler_equals_its_slow_twin(burn_in, thin):
    model = random_network(9, 0.6, coupling_range=(-2, 2), random_state=3)
    X = gibbs_sample(model, 50, burn_in=burn_in, thin=thin, n_chains=2, random_state=8)
    for chain, seed in enumerate(spawn_seeds(8, 2)):
        words = seed.generate_state(4, np.uint64)
        rows = gibbs_chain(model.couplings, model.fields, 25, burn_in=burn_in, thin=thin, words=words)
        np.testing.assert_array_equal(X[25 * chain : 25 * (chain + 1)], rows)


@pytest.mark.parametrize("logit", [-12.0, -7.0, -1.0, 0.0, 1e-3, 3.0, 7.0, 12.0])
def test_the_quick_decision_is_the_exact_one(logit):
    # One draw in about a thousand needs the exponential; the first and the last bracket are infinite.
    n = 20_000
    X = gibbs_sample(Network.from_couplings([[0.0]], [logit]), n, burn_in=0, random_state=3)[:, 0]
    twin = Xoshiro(spawn_seeds(3, 1)[0].generate_state(4, np.uint64))
    twin.next()  # the start
    u = np.array([twin.uniform() for _ in range(n)])
    probability = 1 / (1 + np.exp(-logit))
    np.testing.assert_array_equal(X, u < probability)
    assert (np.floor(1024 * u) == np.floor(1024 * probability)).any()
    assert stats.kstest(u, "uniform").pvalue > 1e-4


def test_twin_from_a_given_start():
    model, start = grid_network(3, 3, strength=1.5, fields="balanced"), np.arange(9) % 2
    X = gibbs_sample(model, 20, burn_in=0, start=start, random_state=8)
    words = spawn_seeds(8, 1)[0].generate_state(4, np.uint64)
    rows = gibbs_chain(model.couplings, model.fields, 20, burn_in=0, thin=1, words=words, start=start)
    np.testing.assert_array_equal(X, rows)
    np.testing.assert_array_equal(X, gibbs_sample(model, 20, burn_in=0, start=[start], random_state=8))


def test_burn_in_and_thin_count_sweeps():
    model = random_network(12, 0.4, random_state=1)
    every = gibbs_sample(model, 60, burn_in=0, random_state=0)  # row k is the state after k + 1 sweeps
    np.testing.assert_array_equal(gibbs_sample(model, 10, burn_in=50, random_state=0), every[50:])
    np.testing.assert_array_equal(gibbs_sample(model, 20, burn_in=0, thin=3, random_state=0), every[2::3])
    np.testing.assert_array_equal(gibbs_sample(model, 10, burn_in=20, thin=4, random_state=0), every[23::4])


def test_zero_burn_in_is_one_sweep_from_the_start():
    # Node 0 copies node 1, node 1 flips a coin between unequal neighbors, node 2 copies the new node 1. A second
    # sweep would let node 0 follow the coin.
    model = Network.from_couplings([[0, 80.0, 0], [80.0, 0, 80.0], [0, 80.0, 0]], [-40.0, -80.0, -40.0])
    first = gibbs_sample(model, 200, burn_in=0, n_chains=200, start=[0, 1, 0], random_state=0)
    assert first[:, 0].tolist() == [1] * 200
    assert 60 < first[:, 1].sum() < 140
    np.testing.assert_array_equal(first[:, 1], first[:, 2])


def test_bits_do_not_depend_on_threads(monkeypatch):
    model = random_network(15, 0.3, random_state=2)
    options = {"burn_in": 7, "thin": 2, "n_chains": 5, "random_state": 1}
    X = gibbs_sample(model, 103, n_threads=1, **options)
    for n_threads in (2, 3, 8, None):
        np.testing.assert_array_equal(X, gibbs_sample(model, 103, n_threads=n_threads, **options))
    monkeypatch.setenv("ISINGLASS_NUM_THREADS", "4")
    np.testing.assert_array_equal(X, gibbs_sample(model, 103, **options))


def test_rows_are_chain_after_chain():
    model = random_network(6, 0.5, random_state=2)
    X = gibbs_sample(model, 11, n_chains=3, random_state=1)
    assert X.dtype == np.uint8
    assert X.shape == (11, 6)
    assert X.flags.c_contiguous
    # 11 = 4 + 4 + 3, and a chain does not depend on how many there are.
    np.testing.assert_array_equal(X[:4], gibbs_sample(model, 4, n_chains=1, random_state=1))
    np.testing.assert_array_equal(X[4:8], gibbs_sample(model, 8, n_chains=2, random_state=1)[4:])


def test_a_solution_can_be_sampled():
    model = random_network(10, 0.4, random_state=2)
    solution = Solution.from_dense(0.1, model.couplings, model.fields)
    np.testing.assert_array_equal(gibbs_sample(model, 30, random_state=1), gibbs_sample(solution, 30, random_state=1))
    assert gibbs_diagnostics(solution, random_state=0).ess.shape == (10,)


def test_extreme_parameters_do_not_overflow():
    model = Network.from_couplings([[0, 1e300, 0], [1e300, 0, 0], [0, 0, 0]], [-1e299, -1e299, -800.0])
    X = gibbs_sample(model, 200, burn_in=0, start=[1, 1, 1], random_state=0)
    assert X.tolist() == [[1, 1, 0]] * 200
    assert gibbs_sample(model, 50, burn_in=0, start=[0, 0, 0], random_state=0).max() == 0
    saturated = Network.from_couplings(np.zeros((2, 2)), [800.0, -800.0])
    assert gibbs_sample(saturated, 1000, random_state=0).mean(axis=0).tolist() == [1.0, 0.0]


MODELS = {
    "random": random_network(12, 0.4, random_state=1),
    "unbalanced": random_network(10, 0.5, unbalanced=True, random_state=2),
    "dense": random_network(8, 1.0, coupling_range=(-2, 2), random_state=3),
    "ring": graph_network(networkx.cycle_graph(11), strength=1.5, fields="balanced"),
    "grid": grid_network(3, 4, couplings="mixed", strength=1.2, random_state=4),
    "star": graph_network(networkx.star_graph(8), strength=-1.0),
    "regular": graph_network(
        networkx.random_regular_graph(3, 12, seed=5), couplings="mixed", fields="balanced", random_state=5
    ),
    "scale-free": graph_network(
        networkx.barabasi_albert_graph(12, 2, seed=6), couplings="mixed", fields="balanced", random_state=6
    ),
    "single": Network.from_couplings([[0.0]], [-1.0]),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_means_and_pair_moments_are_those_of_the_model(model):
    # One row of each of many chains: independent draws, so that the standard errors are known.
    n = 4000  # the whole distribution of a small network is looked at more closely below
    X = gibbs_sample(model, n, burn_in=200, n_chains=n, random_state=17).astype(float)
    expected = moments(model).pairs
    error = np.sqrt(expected * (1 - expected) / n)
    assert (np.abs(X.T @ X / n - expected) < 4 * error).all()


@pytest.mark.parametrize("name", ["ring", *(pytest.param(name, marks=pytest.mark.long) for name in ("random", "grid"))])
def test_one_long_chain_has_the_moments_of_the_model(name):
    model, n = MODELS[name], 100_000
    X = gibbs_sample(model, n, random_state=5)
    s, t = np.triu_indices(model.n_features)
    draws = (X[:, s] & X[:, t]).reshape(1, n, -1)
    expected = moments(model).pairs[s, t]
    error = np.sqrt(expected * (1 - expected) / chain_statistics(draws)[0])
    assert (np.abs(draws[0].mean(axis=0) - expected) < 4 * error).all()


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_one_sweep_leaves_the_distribution_alone(seed):
    model, n = random_network(5, 0.8, coupling_range=(-3, 3), random_state=seed), 30_000
    expected = n * state_probabilities(model)
    limit = stats.chi2.ppf(1 - 1e-4, len(expected) - 1)

    def distance(start):
        X = gibbs_sample(model, n, burn_in=0, n_chains=n, start=start, random_state=seed)
        return ((np.bincount(state_numbers(X), minlength=32) - expected) ** 2 / expected).sum()

    assert distance(exact_sample(model, n, random_state=seed)) < limit
    assert distance(None) > limit  # and the test would notice: coin flips are not there yet after one sweep


def test_kernel_refuses_wrong_shapes():
    start, neighbors, couplings = np.array([0, 1, 2]), np.array([1, 0], dtype=np.int32), np.ones(2)
    sampler = GibbsSampler(start, neighbors, couplings, np.zeros(2))
    words, states, rows = np.ones((1, 4), dtype=np.uint64), np.zeros((1, 2), dtype=np.uint8), np.zeros((4, 2), np.uint8)
    sampler.record(words, states, 0, 1, np.array([0, 4]), rows, 1)
    with pytest.raises(ValueError, match="neighbors must be nodes"):
        GibbsSampler(start, np.array([1, 2], dtype=np.int32), couplings, np.zeros(2))
    with pytest.raises(ValueError, match="start must have the places"):
        GibbsSampler(np.array([0, 3, 2]), neighbors, couplings, np.zeros(2))
    with pytest.raises(ValueError, match="one coupling per neighbor"):
        GibbsSampler(start, neighbors, np.ones(3), np.zeros(2))
    with pytest.raises(ValueError, match="one state per node"):
        sampler.start(words, np.zeros((1, 3), dtype=np.uint8))
    with pytest.raises(ValueError, match="four words per chain"):
        sampler.start(np.ones((2, 4), dtype=np.uint64), states)
    with pytest.raises(ValueError, match="offsets must have the places"):
        sampler.record(words, states, 0, 1, np.array([0, 5]), rows, 1)
    with pytest.raises(ValueError, match="one field of base per node"):
        sampler.anneal(words, states, np.zeros(3), np.ones(2), np.zeros(1), 1)
    with pytest.raises(ValueError, match="one sum per chain"):
        sampler.anneal(words, states, np.zeros(2), np.ones(2), np.zeros(2), 1)
    with pytest.raises(TypeError):  # a copy would swallow what is written
        sampler.start(words, states.astype(np.int64))


@pytest.mark.parametrize("n_threads", [1, 3])
def test_annealed_chains_equal_their_slow_twin(n_threads):
    model, n_chains, rng = random_network(9, 0.6, coupling_range=(-2, 2), random_state=3), 5, np.random.default_rng(8)
    rows, words = rng.integers(0, 2, (n_chains, 9), np.uint8), rng.integers(0, 2**64, (n_chains, 4), np.uint64)
    base, betas = rng.normal(size=9), np.array([0.0, 0.1, 0.4, 0.7, 0.9, 1.0, 1.0, 0.6])
    expected = [
        annealed_chain(model.couplings, model.fields, base, row, betas, seed)
        for row, seed in zip(rows, words, strict=True)
    ]
    sums = np.empty(n_chains)
    sampler_of(model).anneal(words, rows, base, betas, sums, n_threads)
    np.testing.assert_array_equal(rows, [row for row, _ in expected])
    np.testing.assert_allclose(sums, [total for _, total in expected], rtol=1e-12)


# ------------------------------------------------------------------------------------------- diagnostics


def test_diagnostics_accept_what_mixes():
    found = gibbs_diagnostics(random_network(25, 0.5, random_state=0), random_state=1)
    assert re.fullmatch(r"MixingDiagnostics\(4 chains, mixed: largest split-R̂ 1[.\d]* .*\)", repr(found))
    assert found.mixed
    assert found.largest_rhat < 1.02
    assert found.smallest_ess > 800
    assert found.n_chains == 4
    again = gibbs_diagnostics(random_network(25, 0.5, random_state=0), random_state=1, n_threads=1)
    np.testing.assert_array_equal(found.ess, again.ess)
    with pytest.raises(ValueError, match="read-only"):
        found.ess[0] = 1


@pytest.mark.parametrize("strength", [3.0, 20.0])
def test_a_magnet_is_seen_not_to_mix(strength):
    model = grid_network(8, 8, strength=strength, fields="balanced")
    with pytest.warns(MixingWarning, match=r"1000 burn-in sweeps do not .*n_samples, or weaken the couplings\."):
        found = gibbs_diagnostics(model, random_state=0)
    assert not found.mixed
    assert found.largest_rhat > 2


def test_too_few_effective_draws_are_seen():
    model = chain_network(10, strength=2.0, fields="balanced")
    said = r"smallest effective sample size \d+\.?\d* of 32 rows \(at least 40\).* use exact_sample"
    with pytest.warns(MixingWarning, match=said):
        gibbs_diagnostics(model, n_samples=8, random_state=0)
    assert gibbs_diagnostics(model, random_state=0).mixed


def test_nodes_that_never_change_say_nothing():
    found = gibbs_diagnostics(Network.from_couplings(np.zeros((3, 3)), [0.0, 60.0, -60.0]), random_state=0)
    assert np.isnan(found.rhat).tolist() == [False, True, True]
    assert found.mixed
    frozen = gibbs_diagnostics(Network.from_couplings([[0.0]], [60.0]), random_state=0)
    assert frozen.largest_rhat == 1.0
    assert frozen.mixed
