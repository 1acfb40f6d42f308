"""Columns with categories that are hard to certify: near copies, separation, odd scores, weights over decades."""

import numpy as np
import pytest
import slow_objective as objective
from networks import make_table

from isinglass import as_table, ising_path, nodewise_path
from isinglass._core import Problem
from isinglass.data import column_sd
from isinglass.errors import ArgumentError, ConvergenceWarning, DataError
from isinglass.solve.path import alpha_max

ANY_FLAG = pytest.mark.filterwarnings("ignore::isinglass.errors.ConvergenceWarning")


def table(codes, kinds, **known):
    return make_table(np.array(codes, dtype=np.uint8), kinds, **known)


def likert(n=200, p=4, low=0, high=3, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    answers = [np.clip(np.round(z + rng.normal(size=n) + 2), low, high) for _ in range(p)]
    return np.column_stack(answers).astype(np.uint8)


def test_a_refused_step_leaves_no_predictor_behind():
    codes = [
        *([0, 1, 1, 0, 0, 1], [0, 0, 0, 0, 0, 0], [1, 3, 2, 1, 1, 2]),
        *([0, 0, 0, 0, 0, 0], [1, 2, 1, 1, 1, 1], [1, 3, 2, 1, 1, 2]),
    ]
    near_copies = table(codes, ["nominal", "ordinal", "nominal", "ordinal", "nominal", "nominal"])
    alpha = 0.0037871263516555576
    cold = nodewise_path(near_copies, [alpha])
    warm = nodewise_path(near_copies, np.geomspace(0.4, alpha, 30))
    assert cold.converged.all()
    np.testing.assert_allclose(cold.nodes.objectives[0], warm.nodes.objectives[-1], rtol=1e-6)


POLLS = (  # opinion polls before an election: day, respondents, population, two shares, their difference, two events
    "10238j00 10248i00 102c9b00 2919bg00 21179g00 34200e00 40262a00 41189f00 50246g00 782c5700 70245f00 802c8a00 "
    "801i4000 e61a6a10 f4097c10 f1295a10 g0266e10 g82b6910 h1188e10 i1093811 i1296b11 j0285b11 j8289f11 j12a8c11 "
    "k116ai11 k91b8b11 k22b5811 l31a7b11 m6177e11 m8288e11 m0267f11 m0274b11 n0199e11 n017cj11 n11a8c11 n1179g11 "
    "n11c7911 p0177e11 p0235g11 p1076d11 p1187d11 p0277e11 q1178f11 qf1a4811 s726ai11 s0267f11 t51a7b11 u1179g11 "
    "v1199e11 v0267f11 w918bh11 w114bl11 801d7800 p1178f11 v115aj11 811d7800 p1178f11 p0178f11 v015aj11 801d7800 "
    "p1178f11 p1178f11 v115aj11 891d7800 v915aj11 p0178f11 v015aj11 p1178f11 v315aj11"
)


def test_a_singular_face_does_not_end_a_run():
    # A difference of two other columns, with next to no penalty: second derivatives are singular.
    codes = np.array([[int(digit, 36) for digit in row] for row in POLLS.split()], dtype=np.uint8)
    steps = (0.107, 0.279, 0, 0.357, 0.412, 0.272, 0, 0)
    kinds = ["ordinal", "ordinal", "nominal", "ordinal", "ordinal", "ordinal", "binary", "binary"]
    tops = codes.max(axis=0)
    scores = [[k * step for k in range(top + 1)] if step else None for top, step in zip(tops, steps, strict=True)]
    polls = table(codes, kinds, scores=scores, sample_weight=np.where(np.arange(69) < 52, 1.0, 0.1))
    omega = np.full((8, 8), np.inf)
    penalties = (
        *((0, 1, 6.7), (0, 2, 1.0), (0, 3, 45), (0, 4, 6.5), (0, 6, 0.014), (0, 7, 0.016), (1, 2, 4.6), (1, 3, 2.5)),
        *((1, 4, 5.0), (1, 6, 6.0), (1, 7, 5.0), (2, 3, 0.51), (2, 4, 0.36), (2, 6, 0.32), (2, 7, 0.71), (3, 4, 0.012)),
        *((3, 5, 0.0077), (3, 7, 3.4), (4, 5, 0.0089), (4, 6, 0.55), (4, 7, 0.74), (5, 6, 11)),
    )
    for s, t, penalty in penalties:
        omega[s, t] = omega[t, s] = penalty
    for alpha in (0.2, 0.1, 0.02):
        solution = ising_path(polls, [alpha], penalty_weights=omega)[0]
        assert solution.converged
        judge = objective.of(polls, penalty_weights=omega)
        assert judge.duality_gap(solution.network, alpha) <= solution.duality_gap + 1e-12


@pytest.mark.parametrize(
    ("codes", "alpha"),
    [([[0, 0], [1, 1], [2, 2], [3, 2], [4, 2]], 1e-8), ([[0, 0], [1, 1], [2, 2], [3, 2]], 3e-7)],
)
def test_the_certificate_is_that_of_the_returned_blocks(codes, alpha):
    separable = table(codes, "nominal")
    solution = ising_path(separable, [alpha])[0]
    again = objective.of(separable)
    assert solution.converged
    assert again.kkt_residual(solution.network, alpha) <= solution.kkt_residual
    assert again.duality_gap(solution.network, alpha) <= solution.duality_gap + 1e-14
    assert all(np.abs(block.sum(axis=axis)).max() < 1e-12 for block in solution.network.blocks for axis in (0, 1))


@pytest.mark.parametrize("alpha", [2.6285758727819774e-08, 1e-6])
def test_fields_between_groups_of_categories_that_hardly_mix(alpha):
    codes = [[0, 1], [1, 3], [0, 7], [0, 4], [0, 4], [0, 7], [0, 1], [1, 6], [1, 6], [1, 3], [1, 3], [0, 4], [1, 6]]
    separable = table(codes, ["binary", "nominal"])
    assert ising_path(separable, [alpha])[0].converged
    assert nodewise_path(separable, [alpha]).converged.all()


def test_categories_of_which_one_gives_decades_more_than_the_other():
    separable = table([[1, 7, 1], [0, 5, 0], [2, 4, 2], [3, 1, 1]], "ordinal")
    assert nodewise_path(separable, [2.836e-05]).converged.all()
    separable = table([[2, 1, 2], [5, 0, 0], [0, 3, 1], [1, 3, 2]], ["ordinal", "nominal", "ordinal"])
    assert ising_path(separable, [1.3713e-05])[0].converged


def test_steps_along_which_single_precision_has_no_curvature():
    nearly_copied = table([[1, 1, 0, 1], [0, 1, 0, 1], [0, 0, 1, 3]], ["nominal", "ordinal", "nominal", "ordinal"])
    assert nodewise_path(nearly_copied, [0.006307678779336255]).converged.all()
    codes = [[0, 0, 0, 4], [4, 4, 4, 6], [1, 1, 1, 4], [6, 5, 4, 4], [0, 4, 0, 6]]
    assert ising_path(table(codes, "ordinal"), [0.012038], tol=1e-5)[0].converged


@pytest.mark.parametrize(
    ("codes", "kinds", "alpha"),
    [
        ([[1, 3, 1], [1, 2, 1], [0, 5, 0], [1, 4, 0]], ["binary", "nominal", "binary"], 7.62e-09),
        (
            [[2, 4, 4, 0], [0, 0, 1, 0], [1, 0, 2, 5], [4, 0, 4, 0]],
            ["ordinal", "nominal", "ordinal", "ordinal"],
            0.00034409674444312054,
        ),
    ],
)
def test_the_curvature_of_a_category_that_is_all_but_certain(codes, kinds, alpha):
    assert ising_path(table(codes, kinds), [alpha])[0].converged


def test_rows_of_little_weight_that_are_predicted_wrongly():
    rng = np.random.default_rng(5)
    codes = np.column_stack([rng.integers(0, q, 17) for q in (4, 3, 5, 2)])
    heavy = np.where(rng.random(17) < 0.2, 1.0, 1e-13)
    hard = table(codes, ["ordinal", "ordinal", "nominal", "binary"])
    top = alpha_max(hard, heavy)
    assert ising_path(hard, [top * 0.75, top * 0.05], sample_weight=heavy).converged.all()


@pytest.mark.parametrize("is_flipped", [False, True])
@pytest.mark.parametrize(("kinds", "factor"), [("ordinal", 18.0), ("nominal", 6.0)])
@pytest.mark.parametrize("small", [1e-6, 1e-12, 1e-15])
def test_alpha_max_of_weights_over_decades(small, kinds, factor, is_flipped):
    codes = np.array([[0, 0], [0, 1], [0, 2], [1, 2], [2, 2]])
    if is_flipped:
        codes[:, 0] = 2 - codes[:, 0]
    exact = factor * small / (3.0 + 2.0 * small) ** 2  # from the covariances, by hand
    top = alpha_max(table(codes, kinds), [1.0, 1.0, 1.0, small, small])
    assert exact <= top <= exact * (1.0 + 1e-11)


@pytest.mark.parametrize("offset", [-3.0, 2000.0, 1e5, 1e9])
def test_an_offset_of_scores_changes_nothing(offset):
    plain, shifted = (table(likert(), "ordinal", scores=[np.arange(4.0) + by] * 4) for by in (0.0, offset))
    one, other = (ising_path(each, [0.05])[0] for each in (plain, shifted))
    assert other.converged
    assert one.network == other.network
    again = objective.of(shifted)
    assert again.kkt_residual(other.network, 0.05) <= other.kkt_residual
    assert again.value(other.network, 0.05) == pytest.approx(other.objective, rel=1e-13)


def test_decimal_scores_are_in_equal_steps_and_others_are_refused():
    plain = ising_path(table(likert(), "ordinal", scores=[[0, 1, 2, 3]] * 4), [0.05])[0]
    decimal = table(likert(), "ordinal", scores=[[1000.1, 1000.2, 1000.3, 1000.4]] * 4)
    assert ising_path(decimal, [0.0005])[0].edge_values == pytest.approx(plain.edge_values * 100, rel=1e-9)
    off = table(likert(), "ordinal", scores=[[0, 1, 2 + 1e-9, 3]] * 4)
    with pytest.raises(ArgumentError, match="multiples of one step"):
        ising_path(off, [0.05])


def test_the_lowest_category_need_not_occur():
    codes = likert(low=1, high=4)
    declared = ising_path(table(codes, "ordinal", categories=[range(5)] * 4), 10)
    without = ising_path(table(codes - 1, "ordinal"), 10)
    assert declared.converged.all()
    for one, other in zip(declared, without, strict=True):
        assert one.objective == pytest.approx(other.objective, rel=2e-7)
        assert one.edge_values == pytest.approx(other.edge_values, abs=1e-4)


@pytest.mark.parametrize("factor", [1000.0, 1e-3, 2.0**10, 2.0**-10])
def test_the_unit_of_scores_does_not_decide_what_has_converged(factor):
    one, other = (table(likert(), "ordinal", scores=[by * np.arange(4.0)] * 4) for by in (1.0, factor))
    alphas = np.array([0.1, 0.01])
    for solve in (ising_path, nodewise_path):
        plain, scaled = solve(one, alphas), solve(other, alphas * factor**2)
        assert scaled.converged.all()
        if np.frexp(factor)[0] == 0.5:  # a power of two: no rounding
            assert scaled.kkt_residual.tolist() == plain.kkt_residual.tolist()


def test_the_spread_of_a_column_with_a_rare_category():
    rare = table([[1, 1], [0, 2], [1, 1], [1, 1]], "nominal", categories=[range(3)] * 2)
    share = 1e-8 / (1.0 + 3e-8)
    spread = column_sd(rare.with_weight([1e-8, 1e-8, 1e-8, 1.0]))
    np.testing.assert_allclose(spread, np.sqrt(share * (1.0 - share)), rtol=1e-14)


def test_weights_that_all_but_vanish():
    two = table([[0, 0], [2, 3]], "nominal")
    joint = ising_path(two, [1e-3], sample_weight=[1e-16, 1.0], penalty_weights="standardized")[0]
    nodes = nodewise_path(two, [1e-3], sample_weight=[1e-16, 1.0], standardize=True)[0]
    assert joint.converged
    assert nodes.converged


@pytest.mark.parametrize("kinds", ["nominal", "ordinal"])
def test_penalties_that_vanish_are_refused(kinds):
    three = table([[0, 0], [2, 3], [1, 1]], kinds)
    with pytest.raises(DataError, match="cannot be told from no penalty"):
        ising_path(three, [1e-200], penalty_weights=np.full((2, 2), 1e-200))
    with pytest.raises(DataError, match="cannot be told from no penalty"):
        ising_path(three, [1e-310])
    with pytest.raises(DataError, match="cannot be told from no penalty"):
        nodewise_path(three, [1e-310])


@pytest.mark.parametrize("score_range", [0, 2], ids=["nominal", "ordinal"])
def test_work_does_not_grow_where_rounding_hides_the_penalty(score_range):
    """Each stop on the way to 1e-300 took as many steps as one at 1e-12, for nothing."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 3, (60, 4)).astype(np.uint8)
    codes[:, 1] = np.where(rng.random(60) < 0.5, codes[:, 0], codes[:, 1])
    products = []
    for alpha in (1e-12, 1e-60, 1e-300):
        problem = Problem(codes, None, None, False, 1, 1 << 30, np.full(4, score_range, dtype=np.uint8), np.ones(4))
        problem.alpha_max()
        products.append(problem.follow([alpha], alpha, 1e-7, 100, 0.0)[0].n_products)
    assert max(products) < 5 * products[0]


@pytest.mark.parametrize("path_function", [ising_path, nodewise_path])
def test_the_advice_at_penalties_that_are_too_small_is_true(path_function):
    three = table(likert(), "ordinal")
    with pytest.raises(ArgumentError, match="Use 1e-6 or more"):
        path_function(three, [0.0])
    assert path_function(three, [1e-6])[0].converged
    with pytest.warns(ConvergenceWarning, match="More steps would not help.* Stop the path at a larger alpha"):
        path_function(three, [1e-13])


@ANY_FLAG
def test_a_flagged_fit_is_no_worse_than_the_empty_network():
    codes = [
        *([2, 3, 3, 3, 3, 1], [1, 2, 2, 0, 2, 1], [2, 1, 1, 1, 1, 1], [0, 2, 2, 2, 2, 1]),
        *([1, 2, 2, 2, 2, 1], [1, 2, 2, 2, 2, 1], [1, 0, 0, 0, 0, 0], [0, 1, 1, 1, 1, 1]),
    ]
    scores = [None, [2000, 4000, 6000, 10000, 12000], [1, 3001, 9001, 11001], None, [0, 1, 2, 3], None]
    kinds = ["nominal", "ordinal", "ordinal", "nominal", "ordinal", "nominal"]
    hard = table(codes, kinds, scores=scores, categories=[range(q) for q in (4, 5, 4, 4, 4, 3)])
    empty = ising_path(hard, [1e9])[0].objective
    for alpha in (2.450873746730602e-08, 1e-6, 1e-4):
        assert ising_path(hard, [alpha])[0].objective <= empty * (1 + 1e-14)


def places(n, q, far, seed):
    """Names, regions and positions of places; the last names lie far from the others, each in a region of its own."""
    rng = np.random.default_rng(seed)
    name = rng.integers(0, q, n)
    name[-3 * far :] = q - far + np.arange(3 * far) // 3
    is_far = name >= q - far
    region = np.where(is_far, name - (q - far) + 1, 0)
    east = np.where(is_far, 60 + 20 * region, name % 6 * 2 + rng.integers(0, 4, n))
    north = np.where(is_far, 80 - 7 * region, name // 6 * 2 + rng.integers(0, 4, n))
    return np.column_stack([name, region, east, north])


@pytest.mark.parametrize("seed", [0, 11])
def test_many_categories_that_hardly_mix_are_certified(seed):
    data = as_table(places(250, 50, 2, seed), kinds=["nominal", "nominal", "continuous", "continuous"])
    path = ising_path(data, [0.02, 0.004, 0.001, 0.0005, 0.00025], tol=1e-4)
    assert path.converged.all()


def test_many_categories_in_a_row_are_certified():
    rng = np.random.default_rng(1)
    for q in (20, 60, 120):
        first = rng.permutation(np.arange(300) % q)
        second = np.clip(first + rng.integers(-1, 2, 300), 0, q - 1)
        row = as_table(np.column_stack([first, second]), kinds="ordinal")
        assert ising_path(row, [0.02], tol=1e-5, max_iter=45)[0].converged
