"""Rows with categories: by listing all states, by Gibbs sampling, and from networks made for it."""

from itertools import product

import numpy as np
import pytest
from networks import make_network, make_table, split_fields

from isinglass import IsingLasso, Run, as_table, bootstrap, simulate
from isinglass.data import Table
from isinglass.errors import ArgumentError, DataError, LimitError
from isinglass.select import compare_groups, sample_size

MIXED = simulate.category_network(
    simulate.chain_network(4, strength=1.5), ["nominal", "ordinal", "binary", "nominal"], [3, 3, 2, 4], random_state=0
)


def probabilities(network):
    """P(x) of all states, from the definition."""
    states = np.array(list(product(*(range(q) for q in network.variables.sizes))))
    weights = np.empty(len(states))
    for n, x in enumerate(states):
        total = sum(field[k] for field, k in zip(split_fields(network), x, strict=True))
        for (s, t), block in zip(network.edge_index.tolist(), network.blocks, strict=True):
            left, right = (network.variables.score(node) for node in (s, t))
            term = block[x[s] if left is None else 0, x[t] if right is None else 0]
            term = term * (1.0 if left is None else left[x[s]]) * (1.0 if right is None else right[x[t]])
            total += term
        weights[n] = np.exp(total)
    return states, weights / weights.sum()


def shares(network, rows):
    """How often every state occurs."""
    codes = np.ravel_multi_index(np.asarray(rows).T, network.variables.sizes)
    return np.bincount(codes, minlength=int(network.variables.sizes.prod())) / len(rows)


@pytest.mark.parametrize("sampler", ["exact", "gibbs"])
def test_states_occur_as_often_as_they_should(sampler):
    if sampler == "exact":
        rows = simulate.exact_sample(MIXED, 20_000, random_state=1)
    else:
        rows = simulate.gibbs_sample(MIXED, 20_000, burn_in=30, n_chains=20_000, random_state=1)
    states, chance = probabilities(MIXED)
    assert isinstance(rows, Table)
    assert rows.variables == MIXED.variables
    found = shares(MIXED, rows)
    statistic = float((20_000 * (found - chance) ** 2 / chance).sum())
    assert statistic < len(states) - 1 + 5 * np.sqrt(2 * (len(states) - 1))


def test_chains_are_reproducible_and_start_where_they_are_told():
    one, two = (simulate.gibbs_sample(MIXED, 11, burn_in=2, n_chains=3, random_state=5) for _ in range(2))
    assert np.array_equal(np.asarray(one), np.asarray(two))
    still = make_network([[0, 90.0, 0], [0, 90.0]], [None, [0, 1]], [], blocks=[])
    rows = simulate.gibbs_sample(still, 4, burn_in=0, start=[2, 0], random_state=0)
    assert np.asarray(rows).tolist() == [[1, 1]] * 4
    with pytest.raises(DataError, match="start must hold the numbers of categories"):
        simulate.gibbs_sample(still, 4, start=[3, 0], random_state=0)
    with pytest.raises(DataError, match="start must have shape"):
        simulate.gibbs_sample(still, 4, start=[[1, 0]] * 3, n_chains=2, random_state=0)


def test_diagnostics_know_categories():
    assert simulate.gibbs_diagnostics(MIXED, n_samples=300, burn_in=300, random_state=0).mixed


def test_too_many_states_are_refused():
    large = simulate.category_network(simulate.chain_network(12), n_categories=5)
    with pytest.raises(LimitError, match="gibbs_sample"):
        simulate.exact_sample(large, 2)


def test_edges_are_as_easy_to_find_as_those_of_balanced_yes_no_columns():
    """The information on an edge at independence, ‖Θ‖² v_s v_t / (m_s m_t), is θ²/16 for every kind."""
    binary = simulate.chain_network(2, strength=0.8)
    mixed = ["nominal", "ordinal"]
    for kinds, sizes in (("ordinal", [5, 3]), ("nominal", [4, 3]), (mixed, [3, 4]), ("binary", [2, 2])):
        network = simulate.category_network(binary, kinds, sizes, random_state=0)
        (value,) = network.edge_values
        total = value**2
        for score, q in zip(network.variables.scores, network.variables.sizes.tolist(), strict=True):
            m, variance = (q - 1, 0.5 * (1 - 1 / q)) if score is None else (1, np.var(score))
            total *= variance / m
        assert total == pytest.approx(0.8**2 / 16)
    ordinal = simulate.category_network(simulate.chain_network(4, strength=2.0), n_categories=4)
    matrix = simulate.category_network(simulate.chain_network(4, strength=2.0).couplings, n_categories=4)
    np.testing.assert_array_equal(matrix.edge_values, ordinal.edge_values)  # whatever a network is given as
    states, chance = probabilities(ordinal)
    for s in range(4):
        share = np.bincount(states[:, s], chance)
        assert share == pytest.approx(share[::-1])
        assert share == pytest.approx([0.25] * 4, abs=0.06)


def test_continuous_columns_carry_as_much_information_and_are_balanced():
    network = simulate.category_network(simulate.chain_network(3, strength=2.0), "continuous", 5)
    assert network.edge_values == pytest.approx([0.5, 0.5])  # 2 / 4, in standard deviations
    states, chance = probabilities(network)
    for s in range(3):
        share = np.bincount(states[:, s], chance)
        assert share == pytest.approx(share[::-1])


def test_bad_requests_are_named():
    chain = simulate.chain_network(3)
    with pytest.raises(ArgumentError, match="kinds"):
        simulate.category_network(chain, "color")
    for counts in ([3, 4], 2.5, [3, 1, 3]):
        with pytest.raises(DataError, match="n_categories"):
            simulate.category_network(chain, n_categories=counts)
    given = IsingLasso(0.01).fit(as_table(np.tile([[0, 0], [1, 1], [1, 0], [0, 1]], (20, 1)), covariates=[1]))
    with pytest.raises(DataError, match="the covariate 'x1' has"):
        simulate.category_network(given)


# ------------------------------------------------------------------------------------------- what rests on it

ORDINAL = simulate.category_network(simulate.chain_network(4, strength=2.0), n_categories=3)


def test_sample_sizes_of_an_ordinal_network():
    study = sample_size(ORDINAL, [100, 800], 0.15, n_repeats=4, random_state=0)
    few, many = study.sizes()["correlation"]
    assert few < many
    assert many > 0.9


def test_bootstrap_of_an_ordinal_table():
    table = simulate.exact_sample(ORDINAL, 300, random_state=0)
    found = bootstrap(table, 0.1, n_boot=12, random_state=0)
    assert found.fields.shape == (12, 8)
    chain = [k for k, (s, t) in enumerate(found.edge_index.tolist()) if t == s + 1]
    assert (found.inclusion[chain] == 1.0).all()
    assert found.node_draws("expected_influence").shape == (12, 4)
    assert found.node_draws("closeness").shape == (12, 4)
    again = bootstrap(table, 0.1, n_boot=12, random_state=0, run=Run(n_jobs=2))
    assert np.array_equal(found.draws.toarray(), again.draws.toarray())


def test_groups_of_an_ordinal_table():
    one = simulate.exact_sample(ORDINAL, 150, random_state=0)
    reverse = simulate.category_network(simulate.chain_network(4, strength=-2.0), n_categories=3)
    other = simulate.exact_sample(reverse, 150, random_state=1)
    table = make_table(np.concatenate([one.codes, other.codes]), "ordinal")
    found = compare_groups(table, ["a"] * 150 + ["b"] * 150, 0.1, n_permutations=19, random_state=0)
    assert found.p_structure == 0.05
    assert found.difference().edge_values[0] > 0


def test_bootstrap_reads_frames_as_the_estimator_does():
    pandas = pytest.importorskip("pandas")
    table = simulate.exact_sample(ORDINAL, 200, random_state=0)
    frame = pandas.DataFrame({f"item{s}": table.codes[:, s] for s in range(4)})
    found = bootstrap(frame, IsingLasso(0.1, kinds="ordinal"), n_boot=4, random_state=0)
    plain = bootstrap(table, 0.1, n_boot=4, random_state=0)
    np.testing.assert_allclose(found.edge_values, plain.edge_values)
    np.testing.assert_allclose(found.draws.toarray(), plain.draws.toarray(), atol=1e-9)
