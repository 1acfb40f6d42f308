import importlib
import itertools

import networkx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from isinglass import Network, Solution, Variables, as_table, bootstrap, compare_groups, refit, simulate
from isinglass.errors import DataError, LimitError
from isinglass.select import Bootstrap

bootstrap_module = importlib.import_module("isinglass.select.bootstrap")
spread_module = importlib.import_module("isinglass.select.bootstrap_result")


def made_of(couplings, network, dropped=None):
    """Return the result whose resamples have these couplings, of shape (n_boot, p, p)."""
    p = len(network)
    s, t = np.array(
        [pair for pair in itertools.combinations(range(p), 2) if couplings[:, *pair].any() or network[pair]]
    ).T
    return Bootstrap(
        "rows" if dropped is None else "case-drop",
        Solution.from_dense(0.1, network, np.zeros(p), Variables.binary(list("abcdefgh"[:p]))),
        np.column_stack([s, t]).astype(np.int32),
        sp.csc_array(couplings[:, s, t]),
        np.zeros((len(couplings), p)),
        np.full(len(couplings), 0.1),
        np.zeros(len(couplings)) if dropped is None else np.asarray(dropped),
    )


def random_couplings(rng, n_boot, p, share=0.6):
    upper = np.triu(rng.normal(size=(n_boot, p, p)) * (rng.random((n_boot, p, p)) < share), 1)
    return upper + upper.transpose(0, 2, 1)


@pytest.fixture(scope="module")
def drawn():
    rng = np.random.default_rng(0)
    network = random_couplings(rng, 1, 5)[0]
    couplings = network + 0.4 * random_couplings(rng, 40, 5, share=0.9)
    return couplings, network


@pytest.mark.parametrize("cells", [4_000_000, 60])
def test_quantiles_do_not_depend_on_the_size_of_blocks(drawn, cells, monkeypatch):
    monkeypatch.setattr(spread_module, "_CELLS_PER_BLOCK", cells)
    found = made_of(*drawn)
    for k, (s, t) in enumerate(found.edge_index):
        np.testing.assert_allclose(found.edge_quantiles[:, k], np.quantile(drawn[0][:, s, t], [0.025, 0.5, 0.975]))


@pytest.mark.parametrize(
    "of",
    [
        "strength",
        "expected_influence",
        "closeness",
        "betweenness",
        "bridge_strength",
        "bridge_expected_influence",
    ],
)
def test_a_resample_of_all_rows_has_the_measures_of_the_table(of, monkeypatch):
    """Norms, of pairs with a nominal column, have no sign."""
    kinds = ["nominal", "nominal", "binary", "binary", "binary"]
    model = simulate.category_network(simulate.chain_network(5, strength=-2.0), kinds, 3, random_state=0)
    table = simulate.exact_sample(model, 300, random_state=0)
    labels = ["one", "two", "one", "two", "one"] if of.startswith("bridge") else None
    monkeypatch.setattr(bootstrap_module, "DROP_SHARES", (0.001,))  # which drops no row
    found = bootstrap(table, 0.02, n_boot=2, kind="case-drop")
    whole = found.nodes(of, labels)[of]
    assert np.isnan(whole).tolist() == [kind == "nominal" and of.endswith("influence") for kind in kinds]
    assert np.ptp(whole[np.isfinite(whole)]) > 0
    np.testing.assert_allclose(found.node_draws(of, labels), [whole, whole], atol=1e-4)
    np.testing.assert_allclose(found.correlations(of, labels), 1.0, atol=1e-4)  # of the nodes that have the measure


@pytest.mark.parametrize(("of", "level"), [("edges", 0.95), ("edges", 0.5), ("strength", 0.9)])
def test_differences_by_plain_loops(drawn, of, level):
    couplings, network = drawn
    found = made_of(couplings, network).differences(of, level=level)
    pairs = [pair for pair in itertools.combinations(range(5), 2) if network[pair]]
    if of == "edges":
        items = [(network[s, t], couplings[:, s, t], f"{'abcde'[s]} – {'abcde'[t]}") for s, t in pairs]
    else:
        items = [(abs(network[s]).sum(), abs(couplings[:, s]).sum(axis=1), "abcde"[s]) for s in range(5)]
    table = pd.DataFrame(found)
    assert 0 < table["different"].sum() < len(table)
    for (one, other), row in zip(itertools.combinations(items, 2), table.to_dict("records"), strict=True):
        low, high = np.quantile(one[1] - other[1], [(1 - level) / 2, (1 + level) / 2])
        assert (row["first"], row["second"]) == (one[2], other[2])
        assert row["difference"] == pytest.approx(one[0] - other[0])
        assert (row["lower"], row["upper"]) == pytest.approx((low, high))
        assert row["different"] == (low > 0 or high < 0)


@pytest.fixture(scope="module", params=[12, pytest.param(60, marks=pytest.mark.long)])
def of_a_chain(request):
    """Resamples of tables of a chain, hardly penalized."""
    rng = np.random.default_rng(5)
    tables = (simulate.exact_sample(CHAIN, 300, random_state=rng) for _ in range(request.param))
    return [bootstrap(X, 1e-6, n_boot=100, random_state=rng) for X in tables]


CHAIN = simulate.chain_network(3, strength=1.0, fields="balanced")


def test_intervals_cover(of_a_chain):
    """Percentile intervals of a fit that is hardly penalized contain the truth about as often as they say."""
    covered = []
    for found in of_a_chain:
        low, _, high = found.edge_quantiles
        truth = CHAIN.couplings[tuple(found.edge_index.T)]
        covered += ((low <= truth) & (truth <= high)).tolist()
    assert len(covered) == 3 * len(of_a_chain)
    # 95 % with a standard error of at most 2 % for sixty tables (three intervals of one are nearly independent).
    error = 0.02 * np.sqrt(60 / len(of_a_chain))
    assert 0.95 - 3.5 * error <= np.mean(covered) <= 0.95 + 2 * error


def test_difference_test_holds_its_level(of_a_chain):
    """Edges that are equally strong in truth differ in about one of twenty tables; clearly different ones always do."""

    def differ(found, first, second):
        return {(row[0], row[1]): row[-1] for row in zip(*found.differences().values(), strict=True)}[first, second]

    false = [differ(found, "x0 – x1", "x1 – x2") for found in of_a_chain]
    error = 0.028 * np.sqrt(60 / len(of_a_chain))
    assert np.mean(false) <= 0.05 + 2.8 * error  # 5 % with this standard error
    strong = simulate.exact_sample(Network([-1, 0, -1], [[0, 2], [1, 2]], [2.5, 0.5]), 1500, random_state=0)
    assert differ(bootstrap(strong, 1e-6, n_boot=100, random_state=0), "x0 – x2", "x1 – x2")


def test_correlations_by_plain_loops(drawn):
    couplings, network = drawn
    found = made_of(couplings, network)
    upper = np.triu_indices(5, 1)
    for k, matrix in enumerate(couplings):
        for of, mine, whole in (
            ("strength", abs(matrix).sum(axis=0), abs(network).sum(axis=0)),
            ("expected_influence", matrix.sum(axis=0), network.sum(axis=0)),
            ("edges", matrix[upper], network[upper]),
        ):
            assert found.correlations(of)[k] == pytest.approx(np.corrcoef(mine, whole)[0, 1], rel=1e-9)
    with pytest.raises(DataError, match="of must be one of strength"):
        found.correlations("degree")


def test_edges_that_are_all_alike_have_no_correlation():
    network = 0.3 * (1 - np.eye(3))
    found = made_of(np.array([network, np.triu(network, 1) + np.tril(network, -1) * 1.0]), network)
    assert np.isnan(found.correlations("edges")).all()


def constructed(correlated):
    """Return a case-drop result in which the given share of resamples keeps the order of strengths, per share."""
    network = np.array([[0, 3.0, 0], [3.0, 0, 1.0], [0, 1.0, 0]])
    other = np.array([[0, 0, 3.0], [0, 0, 1.0], [3.0, 1.0, 0]])  # strengths 3, 1, 4 in place of 3, 4, 1
    couplings = [[network] * good + [other] * (100 - good) for good in correlated.values()]
    return made_of(np.concatenate(couplings), network, np.repeat(list(correlated), 100))


def test_cs_coefficient_on_a_constructed_example():
    found = constructed({0.1: 100, 0.3: 98, 0.5: 95, 0.6: 94, 0.7: 40})
    assert found.cs_coefficient() == found.cs_coefficient("edges") == 0.5
    assert found.cs_coefficient(probability=0.94) == 0.6
    assert found.cs_coefficient(probability=0.97) == 0.3
    assert constructed({0.1: 90, 0.3: 20}).cs_coefficient() == 0.0
    assert constructed({0.1: 100, 0.3: 20, 0.5: 98}).cs_coefficient() == 0.1  # by chance enough at a larger share
    assert constructed({0.1: 20, 0.3: 98}).cs_coefficient() == 0.0
    assert "CS-coefficients: strength 0.50" in repr(found)
    assert "edges 0.50" in repr(found)
    assert found.correlations()[0] == 1.0
    assert found.correlations()[-1] < 0
    drops = found.drops()
    assert drops["dropped"].tolist() == [0.1, 0.3, 0.5, 0.6, 0.7]
    assert drops["strength"][0] == drops["edges_q5"][0] == 1.0
    last = found.correlations()[-1]
    assert drops["strength"][3] == pytest.approx(0.94 + 0.06 * last)


def test_missing_correlations_count_as_too_small():
    X = simulate.exact_sample(simulate.chain_network(4, strength=1.2, fields="balanced"), 200, random_state=1)
    found = bootstrap(X, 2.0, n_boot=14, kind="case-drop", random_state=0)
    assert np.isnan(found.correlations()).all()
    assert found.cs_coefficient() == found.cs_coefficient("edges") == 0.0
    assert np.isnan(found.drops()["strength"]).all()
    assert found.cs_coefficients() == {}
    assert "CS-coefficients: none, because the network has no edges" in repr(found)


def test_cs_coefficient_of_a_clear_network():
    model = simulate.graph_network(networkx.star_graph(5), strength=2.0, fields="balanced")
    X = simulate.exact_sample(model, 1000, random_state=0)
    found = bootstrap(X, 0.02, n_boot=70, kind="case-drop", random_state=0)
    assert found.cs_coefficient() == found.cs_coefficient("edges") == 0.75
    assert repr(found).endswith("Caution: 7 subsets per share of rows left out are few; take more")


def test_what_a_kind_does_not_have(drawn, monkeypatch):
    rows, drops = made_of(*drawn), constructed({0.1: 100})
    with pytest.raises(DataError, match='kind must be "case-drop" for a CS-coefficient'):
        rows.cs_coefficient()
    with pytest.raises(DataError, match='kind must be "case-drop"'):
        rows.drops()
    with pytest.raises(DataError, match='kind must be "rows" for a test of differences'):
        drops.differences()
    with pytest.raises(DataError, match="probability must be above 0"):
        drops.cs_coefficient(probability=0.0)
    with pytest.raises(DataError, match="level must be between 0 and 1"):
        rows.differences(level=1.0)
    with pytest.raises(DataError, match='of must be "edges" or "strength"'):
        rows.differences("nodes")
    monkeypatch.setattr(spread_module, "MAX_COMPARED", 3)
    with pytest.raises(LimitError, match="At most 3 nodes"):
        rows.differences("strength")


def test_nominal_columns_have_no_expected_influence_to_be_stable():
    answers = np.random.default_rng(0).integers(0, 3, (120, 3))
    answers[:, 1] = answers[:, 0]
    table = as_table(answers, kinds="nominal")
    found = bootstrap(table, 0.05, n_boot=10, kind="case-drop")
    assert sorted(found.cs_coefficients()) == ["betweenness", "closeness", "edges", "strength"]
    drops = found.drops()
    assert np.isnan(drops["expected_influence"]).all()
    assert np.isfinite(drops["strength"]).all()


def test_one_pair_is_not_called_pairs():
    X = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5 + [[0, 0], [1, 1]] * 10
    found = bootstrap(X, 0.1, n_boot=1)
    assert repr(found).startswith('Bootstrap("rows": 1 resample, 1 pair with an edge at least once among 2 nodes)')
    assert repr(refit(X, found.solution)).startswith("Refit(1 edge among 2 nodes, unpenalized)")
    groups = compare_groups(X, [0, 0, 0, 0, 1] * 8, 0.1, n_permutations=1)
    assert "Groups: 0 (32 rows), 1 (8 rows)\n  Permutations: 1, seed 0\n" in repr(groups)
