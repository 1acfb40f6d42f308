"""Groups of nodes: edges within and between them, against pair-by-pair counts and against all permutations."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isinglass.errors import DataError
from isinglass.network import Network
from isinglass.simulate import random_network
from paper import mixing
from paper.mixing import mixing_by_group, mixing_test

seeds = st.integers(0, 2**31)
TRUTH = np.array([[0, 1, 0, 2], [1, 0, -1, 0], [0, -1, 0, 0], [2, 0, 0, 0]], dtype=float)  # 01, 03, 12-


def random_groups(seed):
    rng = np.random.default_rng(seed)
    model = random_network(int(rng.integers(3, 9)), float(rng.uniform(0.2, 0.8)), random_state=rng)
    return model, rng.integers(0, 3, model.n_features).tolist(), rng


@given(seeds)
def test_mixing_counts_pair_by_pair(seed):
    model, groups, _ = random_groups(seed)
    for sign, keeps in (("positive", lambda v: v > 0), ("negative", lambda v: v < 0), ("all", lambda v: v != 0)):
        found = mixing_by_group(model, groups, sign=sign)
        pairs = list(itertools.combinations(range(model.n_features), 2))
        same = [(s, t) for s, t in pairs if groups[s] == groups[t]]
        edges = [(s, t) for s, t in pairs if keeps(model.couplings[s, t])]
        inside = [pair for pair in same if pair in edges]
        assert (found.n_edges, found.n_within, found.n_pairs_within) == (len(edges), len(inside), len(same))
        weights = [sum(abs(model.couplings[pair]) for pair in chosen) for chosen in (inside, edges)]
        expected = [len(inside) / len(edges), weights[0] / weights[1]] if edges else [math.nan] * 2
        np.testing.assert_allclose([found.within_edges, found.within_weight], expected)
        if same:
            assert found.joined_within == pytest.approx(len(inside) / len(same))
        for node in range(model.n_features):
            mine = [s + t - node for s, t in edges if node in (s, t)]
            away = [t for t in mine if groups[t] != groups[node]]
            share = len(away) / len(mine) if mine else math.nan
            assert found.outside_edges[node] == pytest.approx(share, nan_ok=True)
            heavy = (
                abs(model.couplings[node, away]).sum() / abs(model.couplings[node, mine]).sum() if mine else math.nan
            )
            assert found.outside_weight[node] == pytest.approx(heavy, nan_ok=True)
            assert found.node_edges[node].sum() == len(mine)


def test_mixing_combines_attributes_and_is_frozen():
    found = mixing_by_group(TRUTH, [("R", 1), ("R", 1), ("D", 1), ("R", 1)])
    assert found.groups == (("R", 1), ("D", 1))
    assert found.joined == pytest.approx(2 / 6)  # 01 and 03; 12 is negative
    assert (found.joined_within, found.joined_between) == (pytest.approx(2 / 3), 0.0)
    assert math.isnan(mixing_by_group(TRUTH, range(4)).joined_within)
    assert math.isnan(mixing_by_group(TRUTH, ["a"] * 4).joined_between)
    with pytest.raises(ValueError, match="read-only"):
        found.node_edges[0, 0] = 5


def test_permutations_equal_enumeration():
    groups = ["a", "a", "b", "b", "b"]
    network = np.zeros((5, 5))
    for s, t, value in ((0, 1, 2.0), (2, 3, 1.0), (3, 4, 0.5), (1, 2, 0.25)):
        network[s, t] = network[t, s] = value

    def within(labels, weighted):
        chosen = [network[s, t] for s, t in np.argwhere(np.triu(network)) if labels[s] == labels[t]]
        return sum(chosen) if weighted else len(chosen)

    for weighted in (False, True):
        every = np.array([within(labels, weighted) for labels in itertools.permutations(groups)])
        found = mixing_test(network, groups, weighted=weighted, n_permutations=20_000, random_state=0)
        assert found.observed == within(groups, weighted)
        assert found.expected == pytest.approx(every.mean(), abs=4 * every.std() / math.sqrt(20_000))
        assert found.spread == pytest.approx(every.std(), rel=0.05)
        exact = float(np.mean(every >= found.observed - 1e-9))
        assert found.p_value == pytest.approx(exact, abs=4 * math.sqrt(exact / 20_000))


def test_strata_hold_what_they_explain():
    rng = np.random.default_rng(0)
    stratum = np.repeat([0, 1], 20)
    network = np.triu((stratum[:, None] == stratum) & (rng.random((40, 40)) < 0.4), 1).astype(float)
    network += network.T
    groups = np.where(rng.random(40) < 0.9, stratum, 1 - stratum).tolist()  # follows the strata, nothing else
    assert mixing_test(network, groups, random_state=0).p_value < 0.001
    assert mixing_test(network, groups, strata=stratum.tolist(), random_state=0).p_value > 0.05
    alone = mixing_test(network, groups, strata=range(40), n_permutations=50, random_state=0)
    assert (alone.expected, alone.spread, alone.p_value) == (alone.observed, 0.0, 1.0)  # nothing can move


@pytest.mark.parametrize("stratified", [False, True])
def test_p_values_are_valid_under_the_null(stratified):
    rng = np.random.default_rng(1)
    p_values = []
    for _ in range(300):
        network = np.triu(rng.random((16, 16)) < 0.3, 1) * rng.random((16, 16))
        strata = rng.integers(0, 2, 16).tolist() if stratified else None
        groups = rng.integers(0, 4, 16).tolist()
        options = {"strata": strata, "weighted": True, "n_permutations": 99, "random_state": rng}
        test = mixing_test(network + network.T, groups, **options)
        p_values.append(test.p_value)
    for level in (0.05, 0.2, 0.5):
        assert np.mean(np.array(p_values) <= level) <= level + 4 * math.sqrt(level * (1 - level) / 300)
    assert np.mean(np.array(p_values) <= 0.5) > 0.35  # and it is not merely timid


def test_groups_are_joined_by_name():
    network = Network.from_couplings(TRUTH, names=list("abcd"))
    labels = pd.Series(["one", "two", "one", "two"], index=list("abcd"))
    expected = mixing_by_group(network, labels.tolist())
    for groups in (labels[::-1], labels[::-1].to_dict()):
        found = mixing_by_group(network, groups)
        assert found.groups == expected.groups
        np.testing.assert_array_equal(found.node_edges, expected.node_edges)


def test_permutations_in_pieces_are_the_same(monkeypatch):
    model, groups, _ = random_groups(5)
    strata = [node % 2 for node in range(model.n_features)]
    whole = mixing_test(model, groups, strata=strata, random_state=3)
    monkeypatch.setattr(mixing, "_LABELS_AT_ONCE", 100)
    pieces = mixing_test(model, groups, strata=strata, random_state=3)
    assert whole == pieces


def test_groups_are_checked():
    with pytest.raises(DataError, match=r"groups must have one entry per node \(4\); got 2"):
        mixing_by_group(TRUTH, [1, 2])
    with pytest.raises(DataError, match="groups must have one entry per node, by name or in order; got 'RRDD'"):
        mixing_by_group(TRUTH, "RRDD")
    with pytest.raises(DataError, match="sign must be one of positive, negative, all; got 'both'"):
        mixing_by_group(TRUTH, [1, 2, 1, 2], sign="both")
    with pytest.raises(DataError, match=r"strata must have one entry per node \(4\); got 1"):
        mixing_test(TRUTH, [1, 2, 1, 2], strata=[1])
    with pytest.raises(DataError, match="n_permutations must be an integer of at least 1; got 0"):
        mixing_test(TRUTH, [1, 2, 1, 2], n_permutations=0)
