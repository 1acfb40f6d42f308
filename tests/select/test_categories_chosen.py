"""Choosing networks of columns with categories: scores, EBIC, two stages, cross-validation, StARS, refit."""

import warnings
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from choices import cross_validate, gain, isingfit, select_ebic, stars, two_stage
from networks import log_probabilities, make_network, make_table, refit_edges, split_fields
from reference_discrete import Discrete, parts

from isinglass import EBIC, CrossValidation, Method, as_table, ising_path, nodewise_path, refit, simulate
from isinglass.conditionals import row_scores
from isinglass.data import category_counts, column_sd
from isinglass.errors import DataError, IsinglassWarning, SeparationError
from isinglass.results import Solution
from isinglass.select import compare_criteria, ebic
from isinglass.select.sandwich import Support, newton, sandwich_errors
from isinglass.select.scoring import aic_price, edge_price


def draw(network, n_rows, seed=0):
    """Rows of a small network, by listing all states."""
    states = np.array(list(product(*(range(q) for q in network.variables.sizes))), dtype=np.uint8)
    chance = np.exp(-network.energy(states))
    return states[np.random.default_rng(seed).choice(len(states), n_rows, p=chance / chance.sum())]


def ordinal_chain(p=6, q=4, strength=0.4):
    scores = [np.arange(q, dtype=float)] * p
    middle = (q - 1) / 2
    edges = [[s, s + 1] for s in range(p - 1)]
    degree = np.bincount(np.ravel(edges), minlength=p)
    fields = [-strength * degree[s] * middle * (scores[s] - 0.0) for s in range(p)]
    return make_network(fields, scores, edges, np.full(p - 1, strength))


def mixed_network():
    """One nominal, one ordinal, one binary and one nominal column."""
    nominal = np.array([[1.0, -0.5, -0.5], [-0.5, 0.2, 0.3], [-0.5, 0.3, 0.2]])
    blocks = [[[0.8], [-0.3], [-0.5]], nominal, [[0.5]]]
    fields = [[0, 0.3, -0.2], [0, 0.1, 0.2], [0, -0.4], [0, 0.2, 0.1]]
    scores = [None, np.arange(3.0), np.arange(2.0), None]
    return make_network(fields, scores, [[0, 1], [0, 3], [1, 2]], blocks=blocks)


CHAIN = ordinal_chain()
ORDINAL = make_table(draw(CHAIN, 800), "ordinal")
MIXED = make_table(draw(mixed_network(), 500), ["nominal", "ordinal", "binary", "nominal"])


# ------------------------------------------------------------------------------------------- scores


def test_row_scores_are_the_loss_of_the_slow_twin():
    network = mixed_network()
    twin = Discrete(MIXED.codes, MIXED.variables.kinds, MIXED.variables.sizes)
    theta, _ = twin.null()
    for pair, block in zip(network.edge_index.tolist(), network.blocks, strict=True):
        s, t = pair
        sides = [phi if phi.shape[1] > 1 else None for phi in (twin.scores[s], twin.scores[t])]
        left, right = (np.ones((1, 1)) if side is None else 2 * side for side in sides)
        theta[s, t] = left.T @ block @ right
    loss = twin.loss(theta, split_fields(network))
    np.testing.assert_allclose(-row_scores(network, MIXED.codes).mean(), loss, rtol=1e-12)
    some = row_scores(network, MIXED.codes, columns=np.array([1, 3]))
    logs = log_probabilities(network, MIXED)
    rows = np.arange(len(MIXED))
    by_hand = sum(logs[s][rows, MIXED.codes[:, s]] for s in (1, 3))
    np.testing.assert_allclose(some, by_hand, rtol=1e-12)


def test_counts_and_spreads_of_columns():
    weight = np.random.default_rng(0).random(len(MIXED))
    table = MIXED.with_weight(weight)
    for s, counts in enumerate(table.variables.split(category_counts(table))):
        assert counts.tolist() == pytest.approx([weight[MIXED.codes[:, s] == k].sum() for k in range(len(counts))])
    twin = Discrete(MIXED.codes, MIXED.variables.kinds, MIXED.variables.sizes, sample_weight=weight)
    np.testing.assert_allclose(column_sd(table), twin.sd, rtol=1e-12)
    np.testing.assert_allclose(table.variables.ranges, twin.widths, rtol=1e-12)


# ------------------------------------------------------------------------------------------- EBIC


def ebic_by_hand(table, solution, gamma):
    """The EBIC with the parameters that every edge uses, from the gradient of the slow twin."""
    twin = Discrete(table.codes, table.variables.kinds, table.variables.sizes, sample_weight=table.sample_weight)
    theta, fields = parts(twin, solution)
    slopes = twin.gradient(theta, fields)[0]
    n_parameters = 0.0
    for s, t in solution.edge_index.tolist():
        m, n = theta[s, t].shape
        norm, curvature = np.linalg.norm(theta[s, t]), 2 * twin.sd[s] ** 2 / m * twin.sd[t] ** 2 / n
        n_parameters += 1 + (m * n - 1) * norm / (norm + np.linalg.norm(slopes[s, t]) / curvature)
    n_rows = table.total_weight
    price = 2 * n_parameters * np.log(n_rows) + 4 * gamma * solution.n_edges * np.log(twin.p - 1)
    return price + 2 * n_rows * twin.loss(theta, fields)


@pytest.mark.parametrize("counts", [None, np.random.default_rng(0).integers(0, 3, 500).astype(float)])
def test_ebic_counts_the_parameters_in_use_and_its_gamma_term_once_per_edge(counts):
    table = MIXED.with_weight(counts)
    for solution in (Solution(mixed_network(), 0.1), *ising_path(table, [0.1, 0.02])):
        assert ebic(table, solution, gamma=0.5) == pytest.approx(ebic_by_hand(table, solution, 0.5), rel=1e-9)


@pytest.mark.parametrize(("keep", "stage"), [(0.0, 1), (1.0, 0)])
def test_the_curve_of_two_stages_is_the_ebic(keep, stage):
    """Of the chosen network, solved in full; the others are solved roughly, and so are their slopes."""
    rng = np.random.default_rng(5)
    common = rng.integers(0, 4, (400, 1))
    table = make_table(np.where(rng.random((400, 5)) < 0.35, common, rng.integers(0, 4, (400, 5))), "nominal")
    found = two_stage(table, keep=keep)
    assert found.stage == stage
    values, choice = found.evidence.values, found.evidence.choice
    assert values[choice] == pytest.approx(ebic(table, found.solution), rel=1e-7)
    assert values == pytest.approx(ebic(table, found.path), rel=1e-3)


def test_a_category_that_does_not_occur_costs_nothing():
    codes = MIXED.codes.copy()
    codes[codes[:, 0] == 2, 0] = 1
    fewer = make_table(codes, MIXED.variables.kinds, categories=MIXED.variables.categories)
    solution = Solution(mixed_network(), 0.1)
    price, less = (edge_price(table, 0.0).of(solution) for table in (MIXED, fewer))
    assert price - less == pytest.approx(2 * np.log(500) * (1 + 2))


UNUSED = {"lowest": (0, 2), "middle": (2, 1), "top": (4, 3)}  # the category before which some are declared, how many


@pytest.mark.parametrize("kind", ["ordinal", "nominal"])
@pytest.mark.parametrize("place", UNUSED)
@pytest.mark.filterwarnings("ignore::isinglass.errors.GridEndWarning")
def test_categories_that_are_declared_and_never_occur_change_no_choice(kind, place):
    start, n_unused = UNUSED[place]
    rng = np.random.default_rng(3)
    answers = rng.normal(size=(150, 2)) @ rng.normal(size=(2, 6)) + rng.normal(size=(150, 6)) + 1.5
    codes = np.clip(np.round(answers), 0, 3).astype(np.uint8)
    declared = np.where(codes < start, codes, codes + n_unused).astype(np.uint8)
    used = sorted({*range(4 + n_unused)} - {*range(start, start + n_unused)})
    scores = [np.array(used, dtype=float)] * 6 if kind == "ordinal" else None  # distances are those of all categories
    tables = make_table(codes, kind, scores), make_table(declared, kind, categories=[4 + n_unused] * 6)
    one, two = (Method().fit(table) for table in tables)
    assert one.solution.alpha == pytest.approx(two.solution.alpha, rel=1e-6)
    np.testing.assert_array_equal(one.network.edge_index, two.network.edge_index)
    np.testing.assert_allclose(one.network.edge_values, two.network.edge_values, rtol=1e-5)
    np.testing.assert_allclose(
        one.refits.edge_errors, two.refits.edge_errors, rtol=1e-3
    )  # of estimates to the tolerance
    assert two.network.variables.sizes.tolist() == [4 + n_unused] * 6
    few, many = (select_ebic(table, alphas=[0.3, 0.1, 0.03]) for table in tables)
    np.testing.assert_allclose(few.evidence.values, many.evidence.values, rtol=1e-6)
    few, many = (cross_validate(table, alphas=[0.3, 0.1, 0.03], n_folds=3) for table in tables)
    np.testing.assert_allclose(few.scores, many.scores, rtol=1e-6)


def test_shrunken_blocks_use_fewer_parameters():
    price = aic_price(MIXED)
    solution = Solution(mixed_network(), 0.1)
    free, tight = (price.of(solution, np.full(3, penalty)) for penalty in (0.0, 1e9))
    assert (free, tight) == (pytest.approx(4 * 7), pytest.approx(4 * 3))
    assert 4 * 3 < price.of(solution, np.full(3, 0.05)) < 4 * 7
    assert edge_price(MIXED, 0.5).of(solution, np.zeros(3)) == pytest.approx(edge_price(MIXED, 0.5).of(solution))


def make_letters(n_rows, n_columns, n_letters, seed=0):
    """Return columns of letters, each but the first drawn given the one before it."""
    rng = np.random.default_rng(seed)
    codes = np.zeros((n_rows, n_columns), dtype=np.uint8)
    for t in range(n_columns):
        logits = np.log(rng.dirichlet(np.full(n_letters, 2.0)) + 1e-3) + np.zeros((n_rows, 1))
        if t:
            logits = logits + rng.normal(size=(n_letters, n_letters))[codes[:, t - 1]] * 1.5
        codes[:, t] = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    return codes


def test_pairs_with_many_parameters_are_found():
    """All 100 parameters of a pair, at the price of each, would leave no edge."""
    table = make_table(make_letters(500, 8, 11), "nominal")
    found = two_stage(table, keep=0)
    assert found.solution.edge_index.tolist() == [[k, k + 1] for k in range(7)]
    shuffled = np.column_stack([np.random.default_rng(k).permutation(c) for k, c in enumerate(table.codes.T)])
    assert two_stage(make_table(shuffled, "nominal")).solution.n_edges == 0


# ------------------------------------------------------------------------------------------- two stages


def test_two_stages_find_the_ordinal_chain():
    found = two_stage(ORDINAL)
    assert found.solution.edge_index.tolist() == CHAIN.edge_index.tolist()
    assert found.solution.converged
    np.testing.assert_allclose(found.solution.edge_values, 0.4, atol=4 * Method().fit(ORDINAL).refits.edge_errors.max())
    first, second = found.stages
    np.testing.assert_allclose(second.scores, ebic(ORDINAL, second.path), rtol=1e-9)
    plain = ebic(ORDINAL, first.path, gamma=0.0) - 2.0 * np.log(len(ORDINAL)) * first.path.n_edges
    np.testing.assert_allclose(first.scores, plain + 4.0 * first.path.n_edges, rtol=1e-9)


def test_two_stages_do_not_depend_on_jobs_and_take_weights():
    weight = np.random.default_rng(3).integers(0, 3, len(ORDINAL)).astype(float)
    alone = two_stage(ORDINAL, sample_weight=weight, alphas=10)
    beside = two_stage(ORDINAL, sample_weight=weight, alphas=10, n_jobs=2)
    assert np.array_equal(alone.solution.edge_values, beside.solution.edge_values)
    brought = make_table(ORDINAL.codes, "ordinal", sample_weight=weight)
    assert two_stage(brought, alphas=10).solution.network == alone.solution.network


def test_folds_in_threads_change_no_bit():
    table = ORDINAL[np.arange(150)]
    found = [two_stage(table, alphas=8, n_threads=n) for n in (1, 2, 4)]
    for stage in range(len(found[0].stages)):
        assert len({each.stages[stage].held_out.tobytes() for each in found}) == 1
    assert np.isfinite(gain(found[0]))
    assert len({each.solution.edge_values.tobytes() for each in found}) == 1


def test_a_binary_table_gives_the_same_stages_as_one_with_categories():
    X = np.random.default_rng(0).integers(0, 2, (300, 5)).astype(np.uint8)
    X[:, 1] = X[:, 0] ^ (np.random.default_rng(1).random(300) < 0.2)
    plain, other = two_stage(X), two_stage(make_table(X, "ordinal"))
    np.testing.assert_allclose(other.solution.couplings, plain.solution.couplings, atol=1e-5)
    errors = [refit_edges(as_table(table), plain.solution)[1] for table in (X, make_table(X, "ordinal"))]
    np.testing.assert_allclose(errors[1], errors[0], rtol=1e-3)
    assert gain(other) == pytest.approx(gain(plain), abs=1e-5)


NOMINAL_CHAIN = simulate.category_network(simulate.chain_network(5, strength=2.0), "nominal", 3, random_state=0)
NOMINAL = simulate.exact_sample(NOMINAL_CHAIN, 600, random_state=0)


def test_two_stages_find_the_nominal_chain_and_do_not_care_how_categories_are_numbered():
    found = two_stage(NOMINAL, alphas=15)
    assert found.solution.edge_index.tolist() == NOMINAL_CHAIN.edge_index.tolist()
    errors = refit_edges(NOMINAL, found.solution)[1]
    assert found.solution.converged
    np.testing.assert_allclose(found.solution.edge_values, NOMINAL_CHAIN.edge_values, atol=4 * errors.max())
    codes = NOMINAL.codes.copy()
    codes[:, 1] = np.array([2, 0, 1], dtype=np.uint8)[codes[:, 1]]
    other = two_stage(make_table(codes, "nominal"), alphas=15)
    np.testing.assert_allclose(other.solution.edge_values, found.solution.edge_values, rtol=1e-4)
    again = refit_edges(make_table(codes, "nominal"), other.solution)[1]
    np.testing.assert_allclose(again, errors, rtol=1e-3)
    free = refit(NOMINAL, found.solution)
    assert (free.edge_p < 1e-6).all()
    assert np.isnan(free.edges()["z"]).all()


def test_mixed_tables_are_chosen_from():
    mixed = simulate.category_network(
        simulate.chain_network(5, strength=2.0),
        ["nominal", "ordinal", "binary", "ordinal", "nominal"],
        [3, 4, 2, 3, 3],
        random_state=1,
    )
    found = two_stage(simulate.exact_sample(mixed, 800, random_state=0), alphas=15)
    assert found.solution.edge_index.tolist() == mixed.edge_index.tolist()


@pytest.mark.filterwarnings("ignore::isinglass.errors.GridEndWarning")
def test_a_nominal_level_that_a_fold_lacks_is_normal():
    codes = NOMINAL.codes[:90, :3].copy()
    codes[:, 0] = np.minimum(codes[:, 0], 1)
    codes[11, 0] = 2
    table = make_table(codes, "nominal")
    cv = cross_validate(table, alphas=5, n_folds=4, random_state=0)
    assert np.isfinite(cv.scores).all()
    assert np.isfinite(gain(two_stage(table, alphas=6)))


# ------------------------------------------------------------------------------------------- resampling


def rare_level():
    """A table with a category that one row has, and another that only the first half has."""
    codes = ORDINAL.codes[:120, :4].copy()
    codes[:, 0] = np.minimum(codes[:, 0], 2)
    codes[7, 0] = 3
    return make_table(codes, "ordinal")


@pytest.mark.filterwarnings("ignore::isinglass.errors.GridEndWarning")
def test_a_level_that_a_fold_lacks_is_normal():
    table = rare_level()
    cv = cross_validate(table, alphas=8, n_folds=5, random_state=0)
    assert np.isfinite(cv.scores).all()
    found = two_stage(table, alphas=8)
    assert np.isfinite(gain(found))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsinglassWarning)
        assert stars(table, alphas=6, n_subsamples=4, random_state=0).n_subsamples == 4


@pytest.mark.filterwarnings("ignore::isinglass.errors.GridEndWarning")
def test_cross_validation_scores_are_those_of_a_slow_twin():
    splits = [(np.arange(400), np.arange(400, 800)), (np.arange(400, 800), np.arange(400))]
    cv = cross_validate(ORDINAL, alphas=[0.3, 0.1], splits=splits)
    for k, (train, held) in enumerate(splits):
        path = ising_path(ORDINAL[train], [0.3, 0.1])
        for j, solution in enumerate(path):
            rows = solution.network.log_pseudolikelihood(ORDINAL.codes[held])
            assert cv.scores[k, j] == pytest.approx(rows.mean(), rel=1e-12)


@pytest.mark.filterwarnings("ignore::isinglass.errors.FewColumnsWarning", "ignore::isinglass.errors.GridEndWarning")
def test_stars_counts_edges():
    table = make_table(draw(ordinal_chain(5, 3, 1.0), 600), "ordinal")
    found = stars(table, alphas=12, n_subsamples=6, threshold=0.1, random_state=0)
    shares = found.frequencies(len(found.edge_frequencies) - 1)
    chain = np.abs(np.subtract.outer(np.arange(5), np.arange(5))) == 1
    assert (shares[chain] == 1.0).all()
    assert found.alpha > 0
    compared = compare_criteria(ORDINAL, {"EBIC": EBIC(6), "CV": CrossValidation(6, n_folds=3)}, n_folds=3)
    assert np.isfinite(compared["held_out"]).all()


# ------------------------------------------------------------------------------------------- refit


def test_derivatives_are_those_of_finite_differences():
    weight = np.random.default_rng(0).random(len(MIXED)) + 0.5
    table = replace(MIXED, sample_weight=weight)
    support = Support.of(table, mixed_network())
    values = support.read(mixed_network())
    assert support.build(values).edge_values == pytest.approx(mixed_network().edge_values)
    sums, step = support.sums(values, table), 1e-5
    assert sums.loss == pytest.approx(-weight @ mixed_network().log_pseudolikelihood(MIXED), rel=1e-12)
    for k in range(support.n_parameters):
        shift = np.zeros(support.n_parameters)
        shift[k] = step
        above, below = (support.sums(values + sign * shift, table) for sign in (1, -1))
        assert sums.gradient[k] == pytest.approx((above.loss - below.loss) / (2 * step), abs=1e-4)
        np.testing.assert_allclose(sums.hessian[k], (above.gradient - below.gradient) / (2 * step), atol=1e-4)


def test_refit_of_two_categories_is_the_binary_one():
    X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [40, 10, 10, 40], axis=0).astype(np.uint8)
    table = make_table(X, "ordinal")
    found = refit(table, ising_path(table, [0.1])[0])
    assert found.edge_values == pytest.approx([np.log(16)])
    assert found.edge_errors == pytest.approx([0.5])
    assert found.edges()["z"] == pytest.approx([np.log(16) / 0.5])
    plain = refit(X, ising_path(X, [0.1])[0])
    assert found.edge_p == pytest.approx(plain.edge_p, rel=1e-6)
    assert found.solution.converged
    assert "1 edge among 2 nodes" in repr(found)


def test_refit_of_two_nominal_columns_is_the_table_of_their_log_odds():
    counts = np.array([[30, 10, 5], [8, 25, 12], [6, 9, 40]])
    cells = np.array([[s, t] for s in range(3) for t in range(3)], dtype=np.uint8)
    table = make_table(np.repeat(cells, counts.ravel(), axis=0), "nominal")
    logs = np.log(counts)
    block = logs - logs.mean(axis=0) - logs.mean(axis=1, keepdims=True) + logs.mean()
    near = block + 0.1 * np.outer([1, -1, 0], [0, 1, -1])
    start = make_network([[0, 0, 0]] * 2, [None, None], [[0, 1]], blocks=[near])
    support = Support.of(table, start)
    free = newton(support, start, table, 1e-12)
    np.testing.assert_allclose(free.network.blocks[0], block, atol=1e-9)
    errors = sandwich_errors(support, free.network, table)
    # Of the likelihood of a 3 × 3 table: the variance of a contrast of log counts is Σ contrast² / count.
    contrast = block / np.linalg.norm(block)
    variance = (contrast**2 / counts).sum()
    assert errors.pairs == pytest.approx([2 * np.sqrt(variance)], rel=1e-3)
    assert errors.dimensions.tolist() == [4]


def test_refit_says_what_it_cannot_do():
    codes = np.array([[0, 0], [0, 0], [1, 1], [1, 1], [2, 2], [2, 2]] * 5, dtype=np.uint8)
    apart = make_table(codes, "ordinal")
    with pytest.raises(SeparationError, match="separate"):
        refit(apart, ising_path(apart, [0.1])[0])
    with pytest.raises(DataError, match="categories"):
        refit(ORDINAL, Solution.from_dense(0.1, np.zeros((6, 6)), np.zeros(6)))


@pytest.mark.parametrize("kind", ["ordinal", "nominal"])
@pytest.mark.parametrize(
    "choose",
    [
        *(two_stage, select_ebic, isingfit, lambda table: cross_validate(table, n_folds=3)),
        *(lambda table: ising_path(table, 30)[0], lambda table: nodewise_path(table, 30)[0]),
    ],
)
def test_columns_that_vary_with_no_other_give_an_empty_network(kind, choose):
    independent = make_table(np.array(list(product(range(3), range(4))), dtype=np.uint8), kind)
    found = choose(independent)
    solution = getattr(found, "solution", found)
    assert (solution.n_edges, solution.converged) == (0, True)
    assert solution.alphas_per_node is not None or solution.alpha > 0.0


def test_stars_of_one_column_has_one_alpha():
    one = make_table(np.arange(12, dtype=np.uint8)[:, None] % 3, "ordinal")
    assert stars(one, random_state=0).alphas.tolist() == [1 / 12]
