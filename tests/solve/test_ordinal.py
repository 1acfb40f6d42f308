"""Columns with ordered categories: the stored optima, certificates recomputed by the slow twin, symmetries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from networks import make_table, split_fields
from oracles import discrete_cases
from reference_discrete import Discrete, assert_certified, parts

from isinglass import ising_path
from isinglass.errors import ConstantColumnWarning, DataError


def likert(rng, n, levels, strength=0.8):
    """Ordered answers that share a latent trait; every category occurs."""
    trait = rng.normal(size=(n, 2)) @ rng.normal(size=(2, len(levels))) * strength + rng.normal(size=(n, len(levels)))
    X = np.column_stack(
        [np.searchsorted(np.quantile(x, np.arange(1, q) / q), x) for x, q in zip(trait.T, levels, strict=True)]
    )
    X[: max(levels)] = np.minimum(np.arange(max(levels))[:, None], np.array(levels) - 1)
    return X


def ordinal_cases():
    nominal = [case for case in discrete_cases() if "nominal" in case.kinds and max(case.levels) > 2]
    return [case for case in discrete_cases() if case not in nominal]


@pytest.mark.parametrize("case", ordinal_cases(), ids=str)
@pytest.mark.parametrize("screened", [False, True])
def test_stored_optima_are_reached(case, screened, monkeypatch):
    if screened:
        monkeypatch.setattr("isinglass.solve.alphas.ALL_PAIRS_UP_TO", 1)
    solution = ising_path(case.X, [case.alpha], kinds=case.kinds, tol=1e-10)[0]
    assert solution.objective == pytest.approx(case.objective, abs=1e-10)
    couplings = solution.couplings
    assert {tuple(pair) for pair in solution.edge_index.tolist()} == set(case.norms)
    for pair, norm in case.norms.items():
        assert abs(couplings[pair]) == pytest.approx(norm, abs=1e-6)
        assert couplings[pair] == pytest.approx(case.blocks[pair].item(), abs=1e-6)
    for mine, stored in zip(split_fields(solution.network), case.fields, strict=True):
        np.testing.assert_allclose(mine, stored, atol=1e-6)
    top = ising_path(case.X, 2, kinds=case.kinds)[0]
    assert (top.alpha, top.n_edges) == (pytest.approx(case.alpha_max, rel=1e-9), 0)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.floats(0.003, 0.9), st.sampled_from(["plain", "standardized", "matrix"]))
def test_certificates_are_those_of_the_slow_twin(seed, share, penalty):
    rng = np.random.default_rng(seed)
    levels = rng.integers(2, 6, size=rng.integers(2, 7)).tolist()
    X = likert(rng, int(rng.integers(20, 120)), levels)
    weight = rng.integers(1, 4, len(X)).astype(float) if rng.random() < 0.5 else None
    p = len(levels)
    omega = np.exp(rng.normal(size=(p, p)))
    omega = np.triu(omega, 1) + np.triu(omega, 1).T
    reference = Discrete(X, ["ordinal"] * p, levels, sample_weight=weight)
    if max(levels) == 2:
        return
    if penalty == "standardized":
        reference.omega = reference.standardized()
    elif penalty == "matrix":
        reference.omega = omega
    given_weights = {"plain": None, "standardized": "standardized", "matrix": omega}[penalty]
    with pytest.MonkeyPatch.context() as patch:
        if rng.random() < 0.5:
            patch.setattr("isinglass.solve.alphas.ALL_PAIRS_UP_TO", 1)
        alphas = [reference.alpha_max() * share, reference.alpha_max() * share / 3]
        path = ising_path(X, alphas, kinds="ordinal", sample_weight=weight, penalty_weights=given_weights)
    assert_certified(reference, path)


def test_many_categories_and_scores_in_unequal_steps():
    """The node's pass has one body for up to eight categories in equal steps, one for others, one for any number."""
    rng = np.random.default_rng(12)
    mood, levels = rng.normal(size=300), [12, 8, 9, 4, 3]
    answers = [mood + rng.normal(size=300) for _ in levels]
    cuts = [np.quantile(answer, np.arange(1, q) / q) for answer, q in zip(answers, levels, strict=True)]
    X = np.column_stack([np.digitize(answer, cut) for answer, cut in zip(answers, cuts, strict=True)])
    reference = Discrete(X, ["ordinal"] * 5, levels, scores=[None, None, None, [0, 1, 2, 5], None])
    path = ising_path(X, 5, kinds="ordinal", scores={3: [0, 1, 2, 5]}, alpha_min_ratio=0.005)
    assert path[-1].n_edges == 10
    assert_certified(reference, path)


@pytest.mark.parametrize("widest", [1, 2, 9], ids=["equal steps", "some steps missing", "most steps missing"])
@pytest.mark.parametrize("r", [0.6, 0.999])
def test_many_steps(widest, r):
    """Powers of one exponential where steps are equal and fields do not span too much, else one for each category."""
    rng = np.random.default_rng(13)
    first, noise = rng.normal(size=(2, 300))
    columns = np.column_stack([first, r * first + np.sqrt(1 - r**2) * noise, first + noise, noise])
    X = np.column_stack([np.unique(np.round(x * 6), return_inverse=True)[1] for x in columns.T])
    levels = (X.max(axis=0) + 1).tolist()
    scores = [[0, *np.cumsum(rng.integers(1, widest + 1, q - 1)).tolist()] for q in levels]
    reference = Discrete(X, ["ordinal"] * 4, levels, scores=scores)
    path = ising_path(make_table(X, "ordinal", scores=scores), 6, alpha_min_ratio=0.01)
    assert min(levels) > 20
    assert path[-1].n_edges > 2
    assert_certified(reference, path, rounding=1e-7)  # of predictors in the hundreds


def test_the_slow_twin_finds_the_same_network():
    X = likert(np.random.default_rng(3), 150, [5, 3, 2, 4])
    reference = Discrete(X, ["ordinal"] * 4, [5, 3, 2, 4])
    solution = ising_path(X, [0.1], kinds="ordinal", tol=1e-11)[0]
    theta, fields = reference.solve(0.1)
    for (s, t), value in theta.items():
        assert solution.couplings[s, t] == pytest.approx(value.item(), abs=1e-8)
    for mine, expected in zip(split_fields(solution.network), fields, strict=True):
        np.testing.assert_allclose(mine, expected, atol=1e-7)


def test_two_categories_are_binary():
    X = likert(np.random.default_rng(4), 200, [2] * 8)
    binary = ising_path(X, 8, tol=1e-10)
    declared = ising_path(X, 8, tol=1e-10, kinds={0: "ordinal", 3: "nominal"})
    assert declared[0].network.variables.is_binary
    assert all(a.network == b.network for a, b in zip(binary, declared, strict=True))
    table = make_table(X, "ordinal")
    table.variables.__dict__["is_binary"] = False  # through the rows of categories
    for one, other in zip(binary, ising_path(table, 8, tol=1e-10), strict=True):
        assert other.objective == pytest.approx(one.objective, rel=1e-11)
        np.testing.assert_allclose(other.couplings, one.couplings, atol=1e-8)
        np.testing.assert_allclose([field[1] for field in split_fields(other.network)], one.fields, atol=1e-8)


def test_reversing_a_column_flips_signs_only():
    X = likert(np.random.default_rng(5), 300, [5, 4, 3, 2, 6])
    turned = X.copy()
    turned[:, 1] = 3 - X[:, 1]
    sign = np.array([1, -1, 1, 1, 1])
    for one, other in zip(*(ising_path(table, 6, kinds="ordinal", tol=1e-10) for table in (X, turned)), strict=True):
        assert other.objective == pytest.approx(one.objective, rel=1e-11)
        np.testing.assert_allclose(other.couplings, one.couplings * np.multiply.outer(sign, sign), atol=1e-8)


def test_threads_change_no_bit_and_screening_changes_nothing(monkeypatch):
    X = likert(np.random.default_rng(6), 900, [4, 5, 3] * 12)
    paths = [ising_path(X, 8, alpha_min_ratio=0.1, kinds="ordinal", n_threads=n, tol=1e-9) for n in (1, 2, 3)]
    for one, two, three in zip(*paths, strict=True):
        assert one.edge_values.tobytes() == two.edge_values.tobytes() == three.edge_values.tobytes()
        assert one.duality_gap == two.duality_gap == three.duality_gap
    assert (paths[0].n_screened[:4] > 0).all()
    monkeypatch.setattr("isinglass.solve.alphas.STRICTNESS", 0.0)
    for one, other in zip(paths[0], ising_path(X, 8, alpha_min_ratio=0.1, kinds="ordinal", tol=1e-9), strict=True):
        assert one.objective == pytest.approx(other.objective, rel=1e-9)
        np.testing.assert_allclose(one.couplings, other.couplings, atol=1e-5)
        assert one.certified_zeros <= 36 * 35 // 2 - one.n_edges


def test_the_unit_of_a_score_drops_out_when_standardized():
    X = likert(np.random.default_rng(7), 250, [4, 3, 5])
    plain = ising_path(X, 5, kinds="ordinal", penalty_weights="standardized", tol=1e-10)
    scaled = ising_path(
        X, 5, kinds="ordinal", scores={0: [1.0, 1.5, 2.0, 2.5]}, penalty_weights="standardized", tol=1e-10
    )
    for one, other in zip(plain, scaled, strict=True):
        unit = np.array([2.0, 1.0, 1.0])
        np.testing.assert_allclose(other.couplings, one.couplings * np.multiply.outer(unit, unit), atol=1e-8)


def test_a_category_that_does_not_occur_is_left_out():
    X = likert(np.random.default_rng(8), 200, [4, 3, 3])
    wide = X.copy()
    wide[:, 0] = np.array([0, 1, 3, 4])[X[:, 0]]
    expected = ising_path(X, [0.05], kinds="ordinal", scores={0: [0, 1, 3, 4]}, tol=1e-10)[0]
    found = ising_path(make_table(wide.astype(np.uint8), "ordinal"), [0.05], tol=1e-10)[0]
    np.testing.assert_allclose(found.couplings, expected.couplings, atol=1e-9)
    seen = split_fields(found.network)[0][[0, 1, 3, 4]]
    np.testing.assert_allclose(seen, split_fields(expected.network)[0], atol=1e-7)
    assert split_fields(found.network)[0][2] < seen.min()
    read = ising_path(wide, [0.05], kinds="ordinal", tol=1e-10)[0]  # numbers lie where they are
    assert read.network.categories[0] == (0, 1, 3, 4)
    assert read.edge_values.tobytes() == expected.edge_values.tobytes()


def test_half_a_row_is_expected_in_a_category_that_does_not_occur():
    """Where columns depend strongly on each other, fields are far from the logarithms of shares."""
    rng = np.random.default_rng(18)
    trait = rng.normal(size=(400, 1)) + 0.3 * rng.normal(size=(400, 3))
    codes = np.clip(np.round(4.0 * trait) + 12, 2, 22).astype(np.uint8)
    codes = codes[~np.isin(codes[:, 0], [2, 3, 11, 12, 22])]  # gaps in the middle and at both ends
    network = ising_path(make_table(codes, "ordinal", categories=[range(25)] * 3), [0.01])[0].network
    fields, eta = split_fields(network), codes @ network.couplings
    for s in range(3):
        odds = np.exp(fields[s] + np.arange(25) * eta[:, [s]])
        occurs = np.bincount(codes[:, s], minlength=25) > 0
        expected = (odds / odds[:, occurs].sum(axis=1, keepdims=True)).sum(axis=0)
        np.testing.assert_allclose(expected[occurs], np.bincount(codes[:, s], minlength=25)[occurs], rtol=1e-4)
        assert (~occurs).sum() >= 4
        assert ((expected[~occurs] > 0.25) & (expected[~occurs] < 0.6)).all()


def test_probabilities_of_categories():
    X = likert(np.random.default_rng(9), 200, [4, 3, 2])
    reference = Discrete(X, ["ordinal"] * 3, [4, 3, 2])
    solution = ising_path(X, [0.05], kinds="ordinal")[0]
    expected = reference.probabilities(*parts(reference, solution))
    for mine, other in zip(solution.network.probabilities(X), expected, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-12)
    with pytest.raises(DataError, match=r"0, 1, 2, 3; got 4 in column 0"):
        solution.network.probabilities([[4, 0, 0]])


def test_constant_columns_and_bad_tables():
    X = likert(np.random.default_rng(10), 60, [3, 4, 2])
    X[:, 1] = 2
    with pytest.warns(ConstantColumnWarning, match="column 1"):
        solution = ising_path(X, [0.05], kinds="ordinal")[0]
    assert not (solution.edge_index == 1).any()
    assert solution.network.categories[1] == (2, None)
    assert split_fields(solution.network)[1].argmax() == 0
    for kinds, scores, message in [
        ("binary", None, "must hold only 0 and 1"),
        ("cardinal", None, "kinds must be one of"),
        (["ordinal"], None, "one entry per column"),
        ({"y": "ordinal"}, None, "The table has no names"),
        ({}, None, "must hold only 0 and 1"),
        ("ordinal", {0: [0, 1]}, "one finite number"),
        ("ordinal", {0: [0, 1, 1]}, "all different"),
        ("ordinal", {0: [0, 1, np.pi]}, "multiples of one step"),
    ]:
        with pytest.raises(DataError, match=message):
            ising_path(X, [0.05], kinds=kinds, scores=scores)
    for bad, message in (
        (X.astype(float) * np.nan, "missing cells"),
        (X.astype(float) + np.inf, "finite numbers"),
        (X.astype(str) + np.array("a"), "needs an order"),
        (X.astype(float) ** 3.3, "multiples of one step"),
    ):
        with pytest.raises(DataError, match=message):
            ising_path(bad, [0.05], kinds="ordinal")
    whole = likert(np.random.default_rng(10), 60, [3, 4, 2])
    with pytest.raises(DataError, match="positive"):
        ising_path(whole, [0.05, 0.0], kinds="ordinal")
