"""Tables with categories in extended precision: against stored optima, the slow twin, and closed forms."""

import itertools

import extended
import numpy as np
import pytest
from networks import make_table, split_fields
from oracles import discrete_cases
from reference_discrete import Discrete, OneNode

from isinglass import ising_path
from isinglass.errors import ConvergenceWarning, suppress_warnings

KINDS = ("ordinal", "nominal", "binary", "nominal")
LEVELS = (4, 3, 2, 5)


def both(blocks):
    """Blocks of s < t in either order."""
    return {**blocks, **{(t, s): np.asarray(block).T for (s, t), block in blocks.items()}}


@pytest.mark.parametrize("case", discrete_cases(), ids=str)
def test_stored_optima_are_optima(case):
    table = make_table(case.X, case.kinds, categories=[range(q) for q in case.levels])
    blocks = both({pair: np.atleast_2d(block) for pair, block in case.blocks.items()})
    problem, *point = extended.categories(
        table.codes, table.variables.scores, case.fields, blocks, case.alpha, joint=True
    )
    assert float(problem.value(*point)[0]) == pytest.approx(case.objective, rel=1e-14)
    assert problem.kkt(*point) < 1e-14
    assert 0 <= problem.gap(*point) < 1e-13
    norms = extended.sizes(point[0])
    widths = [1.0 if score is None else np.ptp(score) for score in table.variables.scores]
    for (s, t), norm in case.norms.items():
        assert float(norms[s, t] / widths[s] / widths[t]) == pytest.approx(norm, rel=1e-12)


def random_problem(seed, *, standardized=False):
    """A table with scores in units of its range, and somewhere in the space of its parameters."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, q, 40) for q in LEVELS])
    X[: max(LEVELS)] = np.minimum(np.arange(max(LEVELS))[:, None], np.array(LEVELS) - 1)  # every category occurs
    weight = rng.uniform(0.2, 3.0, len(X))
    scores = [[0.0, 0.2, 0.7, 1.0], None, None, None]
    twin = Discrete(X, KINDS, LEVELS, sample_weight=weight, scores=scores)
    omega = "standardized" if standardized else None
    twin.omega = twin.standardized() if standardized else twin.omega
    theta = {pair: rng.normal(size=block.shape) for pair, block in twin.null()[0].items()}
    theta[0, 2][:] = 0.0
    table = make_table(X.astype(np.uint8), KINDS, scores=scores, categories=[range(q) for q in LEVELS])
    return rng, table, twin, theta, {"weight": weight, "omega": omega}


@pytest.mark.parametrize("standardized", [False, True])
def test_joint_numbers_are_those_of_the_slow_twin_anywhere(standardized):
    rng, table, twin, theta, options = random_problem(0, standardized=standardized)
    blocks = both({pair: block for pair, block in twin.blocks(theta).items() if theta[pair].any()})
    fields = [np.r_[0.0, rng.normal(size=q - 1)] for q in LEVELS]
    problem, *point = extended.categories(
        table.codes, table.variables.scores, fields, blocks, 0.05, joint=True, **options
    )
    assert float(problem.null()[0]) == pytest.approx(twin.objective(*twin.null(), 0.05), rel=1e-13)
    assert float(problem.value(*point)[0]) == pytest.approx(twin.objective(theta, fields, 0.05), rel=1e-13)
    assert float(problem.kkt(*point)[0]) == pytest.approx(twin.kkt_residual(theta, fields, 0.05), rel=1e-12)
    best = problem.stationary(*point)
    found = [row[:q].astype(float) for row, q in zip(best, LEVELS, strict=True)]
    assert max(np.abs(slope).max() for slope in twin.gradient(theta, [f - f[0] for f in found])[1]) < 1e-14
    gap = float(problem.gap(point[0], best)[0])
    assert gap == pytest.approx(twin.gap(theta, [f - f[0] for f in found], 0.05), rel=1e-12)
    more = float((problem.value(*point) - problem.value(point[0], best))[0])
    assert float(problem.gap(*point)[0]) == pytest.approx(gap + more, rel=1e-13)


@pytest.mark.parametrize("standardize", [False, True])
def test_node_numbers_are_those_of_the_slow_twin_anywhere(standardize):
    _, table, twin, theta, options = random_problem(1, standardized=standardize)
    known = {"levels": LEVELS, "sample_weight": options["weight"], "scores": [[0.0, 0.2, 0.7, 1.0], None, None, None]}
    blocks = both({pair: block for pair, block in twin.blocks(theta).items() if theta[pair].any()})
    fields = [np.zeros(q) for q in LEVELS]
    problem, *point = extended.categories(
        table.codes, table.variables.scores, fields, blocks, 0.05, joint=False, **options
    )
    best = problem.stationary(*point)
    found = [row[:q].astype(float) for row, q in zip(best, LEVELS, strict=True)]
    for s in range(4):
        node = OneNode(s, table.codes, KINDS, standardize=standardize, **known)
        mine = {pair: block * (s in pair) for pair, block in theta.items()}
        for what, point_fields in (("kkt", fields), ("value", fields), ("gap", found)):
            here = getattr(problem, what)(point[0], best if what == "gap" else point[1])[s]
            there = {"kkt": node.kkt_residual, "value": node.objective, "gap": node.gap}[what]
            assert float(here) == pytest.approx(there(mine, list(point_fields), 0.05), rel=1e-12)


@pytest.mark.parametrize(("q", "alpha"), [(3, 0.1), (5, 1e-4), (4, 1e-9)])
def test_the_optimum_of_two_equal_nominal_columns(q, alpha):
    """One number is to be found, the log odds d of being right: m exp(−d) / (1 + m exp(−d)) = α √m, m = q − 1."""
    m = q - 1
    miss = np.longdouble(alpha) * np.sqrt(np.longdouble(m))
    d = -np.log(miss / (m * (1 - miss)))
    table = make_table(np.repeat(np.arange(q, dtype=np.uint8), 2).reshape(q, 2), "nominal")
    fields = [np.zeros(q)] * 2
    for joint, share in ((True, 1), (False, 2)):
        blocks = both({(0, 1): (np.eye(q) - 1 / q) * float(d)})
        problem, *point = extended.categories(
            table.codes, table.variables.scores, fields, blocks, alpha / share, joint=joint
        )
        value = 2 * np.log1p(m * np.exp(-d)) + 2 * alpha * np.sqrt(np.longdouble(m)) * d
        assert float(problem.value(*point).sum()) == pytest.approx(float(value), rel=1e-15)
        assert problem.kkt(*point).max() < 1e-14 * miss
        assert 0 <= problem.gap(*point).sum() < 1e-14 * value  # d was rounded
        off = [np.r_[0.1, np.zeros(m)]] * 2
        problem, *point = extended.categories(
            table.codes, table.variables.scores, off, both({(0, 1): blocks[0, 1] * 1.01}), alpha, joint=True
        )
        assert problem.kkt(*point)[0] > 1e-3 * miss
        assert problem.gap(*point)[0] >= problem.value(*point)[0] - value > 0
        better = problem.improved(*point)
        assert problem.value(*better)[0] - value < 1e-6 * (problem.value(*point)[0] - value)


@pytest.mark.parametrize(("origin", "step"), [(0.0, 1.0), (1e9, 1.0), (-1e9, 1024.0), (2000.0, 2.0**-20)])
def test_scores_far_from_zero_are_taken_as_they_are(origin, step):
    """Two equal ordinal columns whose middle category does not occur: α = 1 / (1 + exp(θ D² / 2)), D the range."""
    codes = np.array([[0, 0], [2, 2]], dtype=np.uint8)
    theta = 0.5 / step**2  # times D² = 4 step² it is 2
    alpha = 4 * step**2 / (1 + np.exp(np.longdouble(1)))
    blocks = both({(0, 1): np.array([[theta]])})
    for lowest in (origin, 0.0):  # a table measures scores from the lowest one, and so do the fields of its networks
        scores = [lowest + step * np.arange(3)] * 2
        field = -2 * step * theta * (lowest + step)
        assert field * step == -(lowest + step)  # nothing was rounded
        for off in (0.0, 1e-3):
            fields = [np.array([0.0, 0.0, field + off])] * 2
            problem, *point = extended.categories(codes, scores, fields, blocks, alpha, joint=True)
            assert 1e-2 * off <= problem.kkt(*point)[0] < max(off, 1e-18)
            assert 1e-2 * off**2 <= problem.gap(*point)[0] < max(off, 1e-18)
    table = make_table(codes, "ordinal", scores=[origin + step * np.arange(3)] * 2)
    assert table.variables.scores == ((0.0, step, 2 * step),) * 2


def test_numbering_and_repetition_change_nothing():
    rng, table, twin, theta, _ = random_problem(2)
    blocks = twin.blocks(theta)
    fields = [rng.normal(size=q) for q in LEVELS]
    counts = rng.integers(1, 4, len(table))
    problem, *point = extended.categories(
        table.codes, table.variables.scores, fields, both(blocks), 0.02, joint=True, weight=counts
    )
    order = rng.permutation(LEVELS[1])
    codes = table.codes.copy()
    codes[:, 1] = np.argsort(order)[codes[:, 1]]
    other = make_table(
        np.repeat(codes, counts, axis=0), KINDS, scores=table.variables.scores, categories=table.variables.categories
    )
    renumbered = {
        (s, t): block[order if s == 1 else slice(None)][:, order if t == 1 else slice(None)]
        for (s, t), block in blocks.items()
    }
    fields[1] = fields[1][order]
    again, *there = extended.categories(other.codes, other.variables.scores, fields, both(renumbered), 0.02, joint=True)
    for what in ("value", "kkt", "gap"):
        expected = float(getattr(problem, what)(*point)[0])
        assert float(getattr(again, what)(*there)[0]) == pytest.approx(expected, rel=1e-15)


def test_categories_that_do_not_occur_and_constant_columns_are_left_out():
    _, table, twin, theta, _ = random_problem(3)
    blocks = {pair: block for pair, block in twin.blocks(theta).items() if theta[pair].any()}
    fields = [np.zeros(q) for q in LEVELS]
    problem, *point = extended.categories(table.codes, table.variables.scores, fields, both(blocks), 0.02, joint=True)
    codes = np.column_stack([table.codes + np.array([0, 1, 0, 0]), np.zeros(len(table))]).astype(np.uint8)
    longer = [*table.variables.categories[:1], range(LEVELS[1] + 1), *table.variables.categories[2:], range(3)]
    other = make_table(
        codes, (*KINDS, "nominal"), scores=[*table.variables.scores[:2], None, None, None], categories=longer
    )
    wider = {
        (s, t): np.insert(np.asarray(block), 0, 7.0 * (s == 1), axis=0)[slice(s != 1, None)]
        for (s, t), block in both(blocks).items()
    }
    wider = {(s, t): np.insert(block, 0, 0.0, axis=1)[:, slice(t != 1, None)] for (s, t), block in wider.items()}
    every = [fields[0], np.zeros(LEVELS[1] + 1), *fields[2:], np.zeros(3)]
    again, *there = extended.categories(other.codes, other.variables.scores, every, wider, 0.02, joint=True)
    for what in ("value", "kkt", "gap"):
        expected = float(getattr(problem, what)(*point)[0])
        assert float(getattr(again, what)(*there)[0]) == pytest.approx(expected, rel=1e-15)


def test_blocks_that_do_not_add_up_to_zero_are_the_same_model():
    """What a nominal side is off zero sums moves the fields; the recomputation judges the model that was returned."""
    rng, table, twin, theta, _ = random_problem(4)
    blocks = {pair: block + rng.normal() * (LEVELS[pair[0]] > 2) for pair, block in twin.blocks(theta).items()}
    blocks[1, 3] = blocks[1, 3] + rng.normal(size=(1, 5))
    fields = [np.zeros(q) for q in LEVELS]
    problem, *point = extended.categories(table.codes, table.variables.scores, fields, both(blocks), 0.02, joint=True)
    loss = -sum(np.log(column).mean() for column in network_probabilities(table, fields, blocks))
    penalty = 0.02 * np.triu(extended.sizes(point[0]), 1).sum()
    assert float(problem.value(*point)[0] - penalty) == pytest.approx(loss, rel=1e-13)


def network_probabilities(table, fields, blocks):
    """P(observed | rest) of every column, straight from the definition of the network."""
    found = []
    for s in range(table.shape[1]):
        logits = np.tile(fields[s], (len(table), 1)).astype(float)
        for (a, b), block in blocks.items():
            if s in (a, b):
                t, B = (b, block) if s == a else (a, block.T)
                left = np.eye(LEVELS[s]) if table.variables.score(s) is None else table.variables.score(s)[:, None]
                right = np.eye(LEVELS[t]) if table.variables.score(t) is None else table.variables.score(t)[:, None]
                logits += (left @ B @ right.T)[:, table.codes[:, t]].T
        P = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        found.append(P[np.arange(len(table)), table.codes[:, s]])
    return found


def test_groups_of_categories_that_hardly_mix_have_a_bound():
    """What crosses between the groups, {1} and {5, 6}, is far below the rounding error of what stays inside."""
    X = np.array([[5, 3], [6, 4], [6, 4], [1, 1], [6, 4], [6, 4]], dtype=np.uint8)
    scores = [np.array([0.0, 9.0, 12.0, 15.0, 24.0, 26.0, 28.0]), np.array([0.0, 3.0, 8.5, 11.5, 14.0])]
    with suppress_warnings(ConvergenceWarning):
        network = ising_path(make_table(X, "ordinal", scores=scores), [0.29], tol=1e-10)[0].network
    problem, *point = extended.categories(
        X, scores, split_fields(network), both({(0, 1): network.blocks[0]}), 0.29, joint=True
    )
    assert problem.kkt(*point)[0] < 1e-9
    assert 0 <= problem.gap(*point)[0] < 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_a_repaired_flow_is_a_circulation(seed):
    rng = np.random.default_rng(seed)
    q = int(rng.integers(2, 7))
    flow = (10.0 ** rng.uniform(-9, 0, (q, q))).astype(np.longdouble)
    flow = flow + flow.T
    np.fill_diagonal(flow, 0)
    flow *= 1 + 1e-12 * rng.normal(size=(q, q))
    kept = extended.repair(flow)
    assert (kept <= 1).all()
    assert (kept > 0.99).all()
    into, out = (flow * kept).sum(axis=0), (flow * kept).sum(axis=1)
    np.testing.assert_allclose((into - out).astype(float), 0, atol=1e-18 * float(flow.max()))
    for some in itertools.chain.from_iterable(itertools.combinations(range(q), k) for k in range(1, q)):
        inside = np.isin(np.arange(q), some)
        across = (flow * kept)[np.ix_(inside, ~inside)].sum()
        back = (flow * kept)[np.ix_(~inside, inside)].sum()
        assert abs(across - back) <= 1e-17 * across


def test_too_much_for_one_edge_of_the_tree_is_not_repaired():
    flow = np.array([[0, 1, 1], [1, 0, 1], [0, 0, 0]], dtype=np.longdouble)
    assert extended.repair(flow) is None


@pytest.mark.parametrize("rare", [1e-3, 1e-12, 1e-33])
def test_the_entropy_of_a_rare_category_is_not_lost_in_rounding(rare):
    codes, weight = np.array([[0], [1], [2]]), np.array([1.0, rare, rare])
    problem, *_ = extended.categories(codes, [None], [np.zeros(3)], {}, 0.1, joint=False, weight=weight)
    # −Σ p log p of p = (1, r, r) / (1 + 2 r)
    expected = np.log1p(2 * rare) - 2 * rare / (1 + 2 * rare) * np.log(rare)
    assert float(problem.null()[0]) == pytest.approx(expected, rel=1e-14, abs=0)
