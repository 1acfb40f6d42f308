"""Comparing groups against slow twins, R's NetworkComparisonTest, and bad input."""

import functools
import re
from contextlib import nullcontext
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from choices import two_stage
from networks import make_table
from numpy.random import default_rng
from scipy.stats import false_discovery_control

from isinglass import (
    EBIC,
    Fixed,
    Method,
    Network,
    NodewiseIsingEBIC,
    PerNode,
    Run,
    as_table,
    compare_groups,
    impute,
    ising_path,
    simulate,
)
from isinglass.arguments import spawn_seeds
from isinglass.errors import ConstantColumnWarning, ConvergenceWarning, DataError, DataWarning
from isinglass.select import ImputationSettings
from isinglass.select.row_labels import by_value, labeled_rows

ISING_FIT = Method("nodewise", PerNode(), penalty_weights="standardized")
ORACLE = Path(__file__).parents[1] / "oracle_data" / "groups12"
ALPHA = 0.03


def chain(strength, p=6):
    return simulate.chain_network(p, strength=strength, fields="balanced")


@pytest.fixture(scope="module")
def two():
    """Two groups whose chains differ in one coupling's sign."""
    first = chain(1.5)
    values = first.edge_values.copy()
    values[2] *= -1
    second = Network(first.fields, first.edge_index, values)
    X = np.vstack([simulate.exact_sample(net, 300, random_state=k) for k, net in enumerate((first, second))])
    return X, np.repeat(["a", "b"], 300)


def slow_p_values(X, member, n_permutations, seed):
    """Return all p-values by dense matrices, one permutation after another."""

    def differences(parts):
        dense = [ising_path(X[rows], [ALPHA])[0].couplings for rows in parts]
        edges = np.max(dense, axis=0) - np.min(dense, axis=0)
        totals = [np.abs(np.triu(matrix)).sum() for matrix in dense]
        nodes = np.array([np.abs(matrix).sum(axis=0) for matrix in dense])
        return edges, max(totals) - min(totals), nodes.max(axis=0) - nodes.min(axis=0)

    groups = [np.flatnonzero(member == k) for k in np.unique(member)]
    edges, strength, nodes = differences(groups)
    drawn = []
    for seed_k in spawn_seeds(seed, n_permutations):
        shuffled = default_rng(seed_k).permutation(len(X))
        drawn.append(differences(np.split(shuffled, np.cumsum([len(rows) for rows in groups])[:-1])))
    share = lambda hits: (1 + np.sum(hits, axis=0)) / (1 + n_permutations)  # noqa: E731
    return {
        "structure": share([e.max() >= edges.max() - 1e-6 for e, _, _ in drawn]),
        "strength": share([s >= strength - 1e-6 for _, s, _ in drawn]),
        "edges": share([e >= edges - 1e-6 for e, _, _ in drawn]),
        "edges_family": share([e.max() >= edges - 1e-6 for e, _, _ in drawn]),
        "nodes": share([n >= nodes - 1e-6 for _, _, n in drawn]),
        "nodes_family": share([n.max() >= nodes - 1e-6 for _, _, n in drawn]),
    }


@pytest.mark.parametrize("n_groups", [2, 3])
def test_p_values_equal_those_of_dense_matrices(two, n_groups):
    X, _ = two
    member = np.arange(len(X)) * n_groups // len(X)
    found = compare_groups(X, member, ALPHA, n_permutations=60, random_state=5)
    slow = slow_p_values(X, member, 60, 5)
    assert found.p_structure == pytest.approx(slow["structure"])
    assert found.p_strength == pytest.approx(slow["strength"])
    np.testing.assert_allclose(found.edge_p_family, slow["edges_family"][tuple(found.edge_index.T)])
    assert found.edge_p_family.min() == found.p_structure
    edges, nodes = found.edges(), found.nodes()
    s, t, node = (
        [found.names.index(name) for name in names] for names in (edges["source"], edges["target"], nodes["name"])
    )
    np.testing.assert_allclose(edges["p"], slow["edges"][s, t])
    np.testing.assert_allclose(edges["p_family"], slow["edges_family"][s, t])
    np.testing.assert_allclose(nodes["p"], slow["nodes"][node])
    np.testing.assert_allclose(nodes["p_family"], slow["nodes_family"][node])
    np.testing.assert_allclose(nodes["q"], false_discovery_control(slow["nodes"])[node])
    upper = np.triu_indices(6, 1)
    q = np.zeros((6, 6))
    q[upper] = false_discovery_control(slow["edges"][upper])
    np.testing.assert_allclose(edges["q"], q[s, t])


def test_agrees_with_network_comparison_test():
    """R's NetworkComparisonTest 2.2.3 with IsingFit, AND, gamma 0.25 (shared oracle)."""
    X = np.loadtxt(ORACLE / "X.csv", delimiter=",", dtype=np.uint8)
    groups = np.repeat([1, 2], 400)
    found = compare_groups(X, groups, ISING_FIT, reselect=True, n_permutations=40, random_state=0)
    for network, name in zip(found.networks, ("net1.csv", "net2.csv"), strict=True):
        np.testing.assert_allclose(network.couplings, np.loadtxt(ORACLE / name, delimiter=","), atol=1e-3)
    np.testing.assert_allclose(found.global_strengths, [1.451214, 1.624217], atol=1e-3)
    assert found.strength == pytest.approx(0.1730035, abs=1e-3)
    assert found.structure == pytest.approx(1.435807, abs=1e-3)
    assert found.p_structure == 1 / 41
    assert found.p_strength > 0.5  # 0.88 there


def test_the_reversed_coupling_is_found(two):
    X, groups = two
    found = compare_groups(X, groups, n_permutations=99, random_state=0)
    table = found.edges()
    assert found.p_structure == 1 / 100
    assert (table["source"][0], table["target"][0]) == ("x2", "x3")
    assert table["p_family"][0] == 1 / 100
    assert table["p_family"][1] > 0.05
    assert (table["difference"] == table["coupling in a"] - table["coupling in b"]).all()
    assert found.difference().couplings[2, 3] == table["difference"][0]
    assert found.difference("b", "a").couplings[2, 3] == -table["difference"][0]
    assert found.difference("b").couplings[2, 3] == found.difference(second="a").couplings[2, 3] < 0.0  # b minus a
    assert found.edge_p_between("b").min() == found.edge_p_between(second="a").min() == 1 / 100
    with pytest.raises(DataError, match='second must be one of "a", "b"; got \'z\''):
        found.difference("a", "z")
    with pytest.raises(DataError, match="second must be another group than the first one; got 'b'"):
        found.difference("b", "b")


def test_three_groups_one_of_which_differs(two):
    X, groups = two
    X, groups = np.vstack([X, simulate.exact_sample(chain(1.5), 300, random_state=9)]), np.r_[groups, ["c"] * 300]
    found = compare_groups(X, groups, ALPHA, n_permutations=99, random_state=0)
    table = found.pairs()
    assert found.groups == ("a", "b", "c")
    assert found.p_structure == 0.01
    by_pair = dict(zip(zip(table["first"], table["second"], strict=True), table["p_structure"], strict=True))
    assert by_pair["a", "b"] == by_pair["b", "c"] == 0.01
    assert by_pair["a", "c"] > 0.05
    for first, second in by_pair:
        differences = np.abs(found.difference(first, second).couplings[tuple(found.edge_index.T)])
        slow = [(1 + (found.null_structure >= each - 1e-6).sum()) / 100 for each in differences]
        np.testing.assert_allclose(found.edge_p_between(first, second), slow)
    assert found.edge_p_family.min() == 0.01  # some two groups differ
    assert found.edge_p_between("a", "c").min() > 0.05  # these two do not


DRAWN = ("null_structure", "null_strength", "null_nodes", "edges_reached", "nodes_reached")


def test_bits_do_not_depend_on_jobs_and_runs_resume(two, tmp_path, monkeypatch):
    X, groups = two
    run = functools.partial(compare_groups, X, groups, ALPHA, random_state=3)
    one, both = (run(n_permutations=60, run=Run(n_jobs=n_jobs)) for n_jobs in (1, 2))
    half = run(n_permutations=30, run=Run(n_jobs=2, checkpoint=tmp_path / "kept"))
    calls = []
    from isinglass.select import group_comparison

    permute = group_comparison._Test.permute
    monkeypatch.setattr(group_comparison._Test, "permute", lambda *a: calls.append(1) or permute(*a))
    longer = run(n_permutations=60, run=Run(checkpoint=tmp_path / "kept"))
    assert len(calls) == 30
    for name in DRAWN:
        assert (getattr(one, name) == getattr(both, name)).all()
        assert (getattr(one, name) == getattr(longer, name)).all()
    assert (half.null_structure == one.null_structure[:30]).all()
    with pytest.raises(DataError, match=r"differs in .*groups"):
        compare_groups(X, groups[::-1].copy(), ALPHA, random_state=3, run=Run(checkpoint=tmp_path / "kept"))


@pytest.mark.parametrize(
    ("method", "reselect"),
    [
        (None, False),
        (EBIC(alphas=10), False),
        (EBIC(alphas=10), True),
        (ISING_FIT, False),
        (NodewiseIsingEBIC(penalty_weights=None), False),
        (Method("nodewise", Fixed(0.02)), False),
    ],
)
def test_any_method_kept_or_chosen_again(two, method, reselect):
    X, groups = two
    found = compare_groups(X, groups, method, reselect=reselect, n_permutations=19, random_state=0)
    assert found.p_structure == 0.05
    assert found.reselect == reselect


def test_a_kept_penalty_is_that_of_all_rows_whatever_the_labels(two):
    X, groups = two
    mixed = default_rng(0).permutation(groups)
    pooled = two_stage(X)
    for labels in (groups, mixed):
        found = compare_groups(X, labels, n_permutations=1, random_state=0)
        assert found.solutions[0].alpha == pytest.approx(2.0 * pooled.alpha)  # of stage 2
        assert found.solutions[1].alpha == found.solutions[0].alpha


def test_paired_exchanges_within_subjects_only(two):
    X, groups = two
    subject = np.tile(np.arange(300), 2)
    order = default_rng(1).permutation(600)
    X, groups, subject = X[order], groups[order], subject[order]
    found = compare_groups(X, groups, ALPHA, paired=subject, n_permutations=25, random_state=2)
    assert found.paired
    renamed = compare_groups(X, groups, ALPHA, paired=[f"s{k}" for k in subject], n_permutations=25, random_state=2)
    np.testing.assert_array_equal(renamed.null_structure, found.null_structure)
    first = list(dict.fromkeys(subject.tolist()))
    place = {(label, who): k for k, (label, who) in enumerate(zip(groups, subject, strict=True))}
    rows = [[place[label, who] for who in first] for label in ("a", "b")]
    drawn = []
    for seed in spawn_seeds(2, 25):
        swapped = default_rng(seed).permuted(np.column_stack(rows), axis=1)
        nets = [ising_path(X[part], [ALPHA])[0].couplings for part in swapped.T]
        drawn.append(np.abs(nets[0] - nets[1]).max())
    np.testing.assert_allclose(found.null_structure, drawn, atol=1e-6)


def test_weights_count_as_repeated_rows_in_the_networks(two):
    X, groups = two
    weight = default_rng(0).integers(1, 4, len(X))
    found = compare_groups(X, groups, ALPHA, sample_weight=weight, n_permutations=1, random_state=0)
    rows = np.repeat(np.arange(len(X)), weight)
    wanted = compare_groups(X[rows], groups[rows], ALPHA, n_permutations=1, random_state=0)
    np.testing.assert_allclose(found.couplings(), wanted.couplings(), atol=1e-6)


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("weight", ["counts", "sampling"])
def test_rows_of_weight_zero_are_no_rows(two, weight, paired):
    X, groups = two
    kept, subject = np.flatnonzero(np.arange(300) >= 220), np.tile(np.arange(300), 2)
    kept = np.concatenate([kept, kept + 300]) if paired else np.concatenate([kept, np.arange(300, 600)])
    weights = np.zeros(600)
    weights[kept] = 1.0 if weight == "counts" else default_rng(0).gamma(5.0, size=len(kept))
    table = make_table(X, sample_weight=weights)
    options = {"n_permutations": 9, "random_state": 0}
    found = compare_groups(table, groups, ALPHA, paired=subject if paired else None, **options)
    left = compare_groups(table[kept], groups[kept], ALPHA, paired=subject[kept] if paired else None, **options)
    assert found.n_rows == left.n_rows == ((80, 80) if paired else (80, 300))
    np.testing.assert_allclose(found.null_strength, left.null_strength, rtol=1e-9)


def test_a_reversed_association_of_nominal_columns_is_a_difference():
    """Equal norms, other blocks: a = b in one group, a = b + 1 in the other."""
    rng, n = default_rng(0), 200
    a, c = rng.integers(0, 3, 2 * n), rng.integers(0, 3, 2 * n)
    groups = np.repeat(["first", "second"], n)
    b = np.where(rng.random(2 * n) < 0.6, (a + (groups == "second")) % 3, rng.integers(0, 3, 2 * n))
    table = make_table(np.column_stack([a, b, c]), "nominal")
    found = compare_groups(table, groups, 0.02, n_permutations=39, random_state=0)
    assert found.p_structure == 1 / 40
    thetas = []
    for network in found.networks:  # Θ_01, the block in the coordinates of either column
        place = network.edge_index.tolist().index([0, 1])
        thetas.append(network.variables.split_blocks(network.edge_index, network.parameters)[place])
    wanted = 2.0 * np.linalg.norm(thetas[0] - thetas[1])
    norms = [2.0 * np.linalg.norm(theta) for theta in thetas]
    assert wanted > 3 * abs(norms[0] - norms[1])
    assert found.structure == pytest.approx(wanted)
    edges = found.edges()
    assert (edges["source"][0], edges["target"][0], edges["p_family"][0]) == ("x0", "x1", 1 / 40)
    assert edges["difference"][0] == pytest.approx(wanted)
    assert (edges["difference"] > 0).all()  # norms have no sign
    for difference in (found.difference(), found.difference("second", "first")):
        assert difference.edge_values.max() == pytest.approx(wanted)
        assert not difference.edge_signs.any()
    assert found.edge_p_between().min() == 1 / 40
    assert found.pairs()["p_structure"].tolist() == [1 / 40]


def test_names_and_columns_of_frames(two):
    X, groups = two
    columns = [f"item {k}" for k in range(6)]
    wanted = compare_groups(X, groups, ALPHA, n_permutations=9, random_state=0)
    for frame in (
        pd.DataFrame(X, columns=columns).assign(sex=pd.Categorical(groups)),
        pl.DataFrame(X, schema=columns).with_columns(sex=pl.Series(groups)),
    ):
        found = compare_groups(frame, "sex", ALPHA, n_permutations=9, random_state=0)
        assert found.names == tuple(columns)
        assert found.p_structure == wanted.p_structure
    table = make_table(X, names=tuple(columns), rows=np.arange(1, 601))
    assert compare_groups(table, ["z", *groups], ALPHA, n_permutations=1).n_rows == (300, 300)


def test_repr_names_what_differs(two):
    X, groups = two
    text = repr(compare_groups(X, groups, ALPHA, n_permutations=9, random_state=0))
    assert "a (300 rows), b (300 rows)" in text
    assert "no p can be below 0.1 with 9 permutations" in text
    assert re.search(r"\nx2 +x3 ", text)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["a"] * 8, "at least two groups; got 'a' in all 8 rows"),
        (["a"] * 7 + ["b"], "at least two rows each; got one row in 'b'"),
        (
            ["a", None, "a", "b", float("nan"), "b", "", "b"],
            r"none in 3 of 8 rows \(row 1, row 4, row 6\)",
        ),
        (["a", pd.NA, "a", "b", "b", "b", "b", "b"], "got none in 1 of 8 rows"),
        (["a", "b"], r"one entry per row \(8\); got 2 entries"),
        ("gender", "the name of a column of a data frame; got 'gender'"),
        (3, r"one entry per row \(8\); got 3"),
        (["a"], r"one entry per row \(8\); got 1 entry\."),
        (np.ones((8, 2)), r"one entry per row \(8\); got a table of shape \(8, 2\)"),
        (pd.DataFrame({"group": list("ababbaab")}), r"one entry per row \(8\); got a table of shape \(8, 1\)"),
        ([["a"]] * 8, r"one entry per row \(8\), not several"),
    ],
)
def test_bad_groups(groups, message):
    X = default_rng(0).integers(0, 2, (8, 3))
    with pytest.raises(DataError, match=message):
        compare_groups(X, groups, ALPHA, n_permutations=1)


def test_bad_pairs():
    X = default_rng(0).integers(0, 2, (8, 3))
    with pytest.raises(DataError, match=r"one row in every group; 2 of 4 subjects have more or fewer: '0', '3'"):
        compare_groups(X, list("aabbaabb"), ALPHA, paired=[0, 1, 0, 1, 2, 3, 2, 0], n_permutations=1)


def test_a_constant_column_is_named_with_its_value_where_the_first_cell_is_missing(two):
    X, groups = two
    holed = X.astype(float)
    holed[groups == "b", 4] = 1
    holed[np.flatnonzero(groups == "b")[0], 4] = np.nan
    holed = as_table(holed, missing="impute")
    with pytest.warns(ConstantColumnWarning, match=r"column 'x4' \(always 1\)"):
        compare_groups(holed, groups, ALPHA, n_permutations=1)


def test_a_column_constant_in_one_group_is_named(two):
    X, groups = two
    X = X.copy()
    X[groups == "b", 4] = 1
    with pytest.warns(ConstantColumnWarning, match=r"constant in group 'b': column 'x4' \(always 1\)"):
        found = compare_groups(X, groups, ALPHA, n_permutations=9, random_state=0)
    assert not (found.networks[1].edge_index == 4).any()


# ------------------------------------------------------------------------------------------- missing cells


@pytest.fixture(scope="module")
def holed(two):
    X, groups = two
    gone = default_rng(3).random(X.shape) < 0.15
    gone[[5, 400]] = True
    return make_table(X, holes=gone), groups, gone


def test_holes_are_imputed_once_and_copies_stay_with_their_row(holed):
    """Against a slow twin: the completed table, whose rows carry their copies from group to group."""
    table, groups, gone = holed
    found = compare_groups(table, groups, ALPHA, n_permutations=20, random_state=4, run=Run(n_jobs=1))
    kept = np.flatnonzero(~gone.all(axis=1))
    assert found.n_rows == (299, 299)
    completed = impute(table[kept], n_imputations=5).table
    copies = {row: np.flatnonzero(completed.rows == row) for row in kept}

    def couplings(rows):
        some = np.concatenate([copies[row] for row in rows])
        return ising_path(completed.codes[some], [ALPHA], sample_weight=completed.sample_weight[some])[0].couplings

    def structure(parts):
        return np.abs(couplings(parts[0]) - couplings(parts[1])).max()

    observed = structure([kept[groups[kept] == group] for group in "ab"])
    assert found.structure == pytest.approx(observed, abs=1e-5)
    drawn = [structure(np.split(default_rng(s).permutation(kept), [299])) for s in spawn_seeds(4, 20)]
    np.testing.assert_allclose(found.null_structure, drawn, atol=1e-5)
    assert found.p_structure == pytest.approx(1 / 21)


def test_a_completed_table_is_refused(holed):
    table, groups, _ = holed
    completed = impute(table, n_imputations=2).table
    with pytest.raises(DataError, match=r"X must have every row once; got completed copies .* with its missing cells"):
        compare_groups(completed, groups[completed.rows], ALPHA, n_permutations=1)


@pytest.mark.parametrize("paired", [False, True])
def test_groups_that_lose_different_shares_of_cells_are_refused(two, paired):
    X, groups = two
    subject = np.tile(np.arange(300), 2) if paired else None
    uniform = default_rng(3).random(X.shape)
    shares = r"within 10 percentage points; got 0\.0% in 'a', [34]\d\.\d% in 'b'\. Leave out columns"
    for share, message in ((0.4, shares), (0.08, None)):
        table = make_table(X, holes=uniform < np.where(groups == "a", 0.0, share)[:, None])
        with nullcontext() if message is None else pytest.raises(DataError, match=message):
            compare_groups(table, groups, ALPHA, paired=subject, n_permutations=1, random_state=0)


def test_holes_do_not_depend_on_jobs(holed):
    table, groups, _ = holed
    compare = functools.partial(compare_groups, table, groups, ALPHA, n_permutations=30, random_state=0)
    one, two = (compare(run=Run(n_jobs=n_jobs)) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.null_structure, two.null_structure)
    np.testing.assert_array_equal(one.edges_reached, two.edges_reached)


def test_the_penalty_of_an_imputed_table_is_kept(holed):
    table, groups, _ = holed
    found = compare_groups(table, groups, n_permutations=2, random_state=0, run=Run(n_jobs=1))
    whole = two_stage(impute(table, n_imputations=5).table)
    assert found.solutions[0].alpha == pytest.approx(2.0 * whole.alpha, rel=0.2)


def test_a_pair_with_an_empty_row_keeps_its_place(holed):
    table, groups, _ = holed
    subject = np.tile(np.arange(300), 2)
    found = compare_groups(table, groups, ALPHA, paired=subject, n_permutations=9, random_state=0, run=Run(n_jobs=1))
    assert found.n_rows == (300, 300)
    assert found.p_structure == pytest.approx(0.1)


def test_the_record_of_missing_cells_is_of_the_rows_that_stayed(holed):
    table, groups, gone = holed
    how = {"n_permutations": 1, "run": Run(n_jobs=1)}
    method = Method(selector=Fixed(ALPHA), imputation=ImputationSettings(n_imputations=5))
    found, fit = compare_groups(table, groups, method, **how).missing, method.fit(table)
    for name in ("n_rows", "n_cells", "n_left_out", "n_holed", "n_patterns", "column_shares", "pattern_counts"):
        np.testing.assert_array_equal(getattr(found, name), getattr(fit.missing, name), name)
    assert (found.n_imputations, found.settled) == (5, fit.missing.settled)
    assert len(found.changes) == len(fit.missing.changes)
    paired = compare_groups(table, groups, method, paired=np.tile(np.arange(300), 2), **how).missing
    assert (paired.n_left_out, paired.n_holed) == (0, gone.any(axis=1).sum())


def test_cells_are_drawn_as_the_method_says(holed):
    table, groups, _ = holed
    how = ImputationSettings(max_rounds=2, random_state=7)
    with pytest.warns(ConvergenceWarning, match="has not converged after 2 rounds"):
        found = compare_groups(table, groups, Method(selector=Fixed(ALPHA), imputation=how), n_permutations=1)
    assert (found.missing.n_imputations, found.missing.settled, len(found.missing.changes)) == (5, -1, 2)


def test_nothing_missing_gives_the_same_bits(two):
    X, groups = two
    table = as_table(X, missing="impute")
    one, other = (compare_groups(rows, groups, ALPHA, n_permutations=9, random_state=0) for rows in (X, table))
    np.testing.assert_array_equal(one.null_structure, other.null_structure)


def test_permuted_groups_are_fitted_as_observed_ones():
    """With the penalty chosen in every group, the differences of permutations are those of fresh fits."""
    rng = default_rng(0)
    X = rng.integers(0, 2, (240, 5))
    X[:, 1] = X[:, 0] ^ (rng.random(240) < 0.2)
    found = compare_groups(X, np.arange(240) % 2, reselect=True, n_permutations=3, random_state=4)
    for k, seed in enumerate(spawn_seeds(4, 3)):
        parts = np.split(default_rng(seed).permutation(240), 2)
        networks = [Method().fit(X[np.sort(part)]).network.couplings for part in parts]
        np.testing.assert_allclose(found.null_structure[k], np.abs(networks[0] - networks[1]).max(), rtol=1e-9)


def test_labels_that_read_alike_are_refused():
    labels = [1, "1"] * 20
    with pytest.raises(DataError, match="groups must not have labels that read alike; got 1, '1'"):
        compare_groups(default_rng(0).integers(0, 2, (40, 3)), labels, 0.1, n_permutations=1)


def test_labels_may_come_from_a_generator():
    X = default_rng(0).integers(0, 2, (40, 3))
    assert compare_groups(X, (k % 2 for k in range(40)), 0.1, n_permutations=1).n_rows == (20, 20)


def test_infinity_is_a_label():
    X = default_rng(0).integers(0, 2, (40, 3))
    found = compare_groups(X, np.where(np.arange(40) % 2, 1.0, np.inf), 0.1, n_permutations=1)
    assert found.groups == ("1", "inf")
    orders = permutations(["nan", "3", "10", "nobs"])  # of a set, the order depends on the run
    assert {tuple(sorted(order, key=by_value)) for order in orders} == {("3", "10", "nan", "nobs")}


@pytest.mark.parametrize("missing", ["impute", "drop", "error"])
def test_rows_without_a_group_are_left_out_where_cells_may_be_missing(missing):
    table = as_table(np.random.default_rng(0).integers(0, 2, (40, 3)), missing=missing)
    groups = [None, np.nan, *["a", "b"] * 19]
    if missing == "error":
        with pytest.raises(DataError, match=r'none in 2 of 40 rows .* Leave these rows out, .* missing="drop"'):
            labeled_rows(table, {"groups": groups})
        return
    with pytest.warns(DataWarning, match="left out 2 of 40 rows without an entry for groups"):
        labeled, (labels,) = labeled_rows(table, {"groups": groups})
    assert labeled.codes.tolist() == table.codes[2:].tolist()
    found = compare_groups(labeled, labels, ALPHA, n_permutations=1)
    assert found.n_rows == (19, 19)
    record = found.missing
    assert (record.treatment, record.n_cells, record.n_unlabeled, record.n_left_out) == ("drop", 0, 2, 2)
