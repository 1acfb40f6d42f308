"""The compiled backend against plain NumPy: gradients, screening bounds, every instruction set."""

import gc
import itertools
import json
import subprocess
import sys
import time
import weakref

import numpy as np
import objectives as objective
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernels import INSTRUCTION_SETS, run_with_kernels

from isinglass import _core, ising_path
from isinglass._core import Nodewise, Problem, count_ones
from isinglass.pairs import all_pairs


def random_table(seed, n, p):
    rng = np.random.default_rng(seed)
    X = (rng.random((n, p)) < rng.uniform(0.1, 0.9, size=p)).astype(np.uint8)
    X[:, 1::2] ^= X[:, : p // 2 * 2 : 2] & (rng.random((n, p // 2)) < 0.5)
    X[0], X[1] = 0, 1  # every column varies
    return X


def dense(p, state):
    couplings = np.zeros((p, p))
    s, t = state.edges.T
    couplings[s, t] = couplings[t, s] = state.values
    return couplings, state.fields


@pytest.mark.parametrize("p", [2, 3, 17, 70])
@pytest.mark.parametrize("weighted", [False, True])
def test_gradients_equal_numpy_at_a_point_of_the_path(p, weighted):
    X = random_table(p, 150, p)
    weight = np.random.default_rng(1).integers(0, 3, len(X)).astype(float) + np.eye(len(X))[:2].sum(axis=0)
    weight = weight if weighted else None
    problem = Problem(X, weight, None, False, 1)
    state = problem.solve(all_pairs(p), [0.4 * problem.alpha_max()], 1e-7, 1e-7, 50)[0]
    expected, _ = objective.gradient(X, *dense(p, state), sample_weight=weight)
    pairs = all_pairs(p)
    np.testing.assert_allclose(problem.gradient(pairs), expected[pairs[:, 0], pairs[:, 1]], atol=1e-14)


@pytest.mark.parametrize("kind", ["equal", "standardized", "matrix"])
def test_gradient_above_misses_nothing_while_the_point_moves(kind):
    p = 90
    X = random_table(5, 200, p)
    omega = np.exp(np.random.default_rng(0).normal(size=(p, p)))
    omega = np.triu(omega, 1) + np.triu(omega, 1).T
    omega[0, 1] = omega[1, 0] = 0.0
    omega[0, 2] = omega[2, 0] = np.inf
    penalty = omega if kind == "matrix" else None
    if kind != "matrix":
        sd = X.std(axis=0)
        omega = np.ones((p, p)) if kind == "equal" else np.add.outer(sd, sd)
    problem = Problem(X, None, penalty, kind == "standardized", 2)
    top = problem.alpha_max()
    pairs = all_pairs(p)
    weight = omega[pairs[:, 0], pairs[:, 1]]
    for alpha in np.geomspace(0.95, 0.3, 12) * top:
        above = problem.gradient_above(0.9 * alpha)
        found, strength = above.pairs, above.strength
        value = np.abs(problem.gradient(pairs))
        expected = np.isfinite(weight) & (value >= 0.9 * alpha * weight)
        assert found.tolist() == pairs[expected].tolist()
        with np.errstate(divide="ignore"):
            np.testing.assert_allclose(strength, (value / weight)[expected], rtol=1e-12)  # infinite for the free pair
        problem.solve(found, [alpha], 1e-6, np.inf, 50)  # the reference is now out of date


def test_alpha_max_is_the_closed_form():
    X = random_table(3, 300, 40)
    for standardized in (False, True):
        expected = objective.alpha_max(X, penalty_weights="standardized" if standardized else None)
        assert Problem(X, None, None, standardized, 1).alpha_max() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("flip", [(0, 0), (1, 0), (0, 1), (1, 1)])
@pytest.mark.parametrize("small", [1e-6, 1e-12, 1e-15, 1e-100])
def test_alpha_max_of_weights_over_decades_does_not_depend_on_the_coding(small, flip):
    X = np.array([[1, 0], [1, 1], [0, 1]], dtype=np.uint8) ^ np.array(flip, dtype=np.uint8)
    exact = 2.0 * small / (2.0 + small) ** 2
    top = Problem(X, np.array([1.0, 1.0, small]), None, False, 1).alpha_max()
    assert exact <= top <= exact * (1.0 + 1e-12)


@given(st.integers(0, 10**6), st.integers(1, 200), st.integers(1, 9))
def test_equal_rows_are_merged(seed, n, p):
    X = np.random.default_rng(seed).integers(0, 2, (n, p)).astype(np.uint8)
    weight = np.random.default_rng(seed).integers(0, 3, n).astype(float)
    assert Problem(X, None, None, False, 1).n_distinct == len(np.unique(X, axis=0))
    if weight.any():
        assert Problem(X, weight, None, False, 1).n_distinct == len(np.unique(X[weight > 0], axis=0))


def test_count_ones_sees_only_rows_of_positive_weight():
    X = np.array([[0, 1, 1], [1, 1, 0], [1, 0, 1]], dtype=np.uint8)
    ones, varies = count_ones(X, np.array([2.0, 1.0, 0.0]))
    assert ones.tolist() == [1.0, 3.0, 2.0]
    assert varies.tolist() == [True, False, True]
    assert count_ones(X, None)[1].all()


def test_bad_pairs_are_refused():
    problem = Problem(random_table(0, 20, 4), None, None, False, 1)
    for pair in ([1, 0], [2, 2], [-1, 2], [0, 4]):
        with pytest.raises(ValueError, match="0 <= s < t < n_features"):
            problem.gradient(np.array([pair], dtype=np.int32))


SOLVE = """
import json, sys
import numpy as np
from isinglass import ising_path
found = []
for table, settings in zip(sys.argv[1:4], json.loads(sys.argv[4])):
    path = ising_path(np.load(table), alphas=6, alpha_min_ratio=0.05, **settings)
    assert path.kkt_residual.max() <= 1e-7
    fields = [np.hstack(s.network.category_fields) if settings else s.fields for s in path]
    found.append([[s.couplings.tolist(), field.tolist()] for s, field in zip(path, fields)])
print(json.dumps(found))
"""


@pytest.mark.parametrize("name", INSTRUCTION_SETS)
def test_every_instruction_set_finds_the_same_optimum(name, tmp_path):
    answers = sum(random_table(seed, 150, 5) for seed in range(8))
    tables, settings = [random_table(11, 400, 45), answers, answers], [{}]
    settings += [{"kinds": kinds, "tol": 1e-9} for kinds in ("ordinal", "nominal")]
    files = [str(tmp_path / f"{k}.npy") for k in range(3)]
    for file, X in zip(files, tables, strict=True):
        np.save(file, X)
    found = json.loads(run_with_kernels(name, SOLVE, *files, json.dumps(settings)))
    for X, asked, there in zip(tables, settings, found, strict=True):
        here = ising_path(X, alphas=6, alpha_min_ratio=0.05, **asked)
        for (couplings, fields), solution in zip(there, here, strict=True):
            own = np.hstack(solution.network.category_fields) if asked else solution.fields
            np.testing.assert_allclose(couplings, solution.couplings, atol=2e-5)
            np.testing.assert_allclose(fields, own, atol=2e-5)


def test_the_widest_instruction_set_is_used_by_default():
    assert _core.instruction_set in {"portable", "v3", "v4"}


def test_the_penalty_matrix_is_released_with_the_problem():
    X = random_table(0, 30, 6)
    penalty = np.ones((6, 6))
    reference = weakref.ref(penalty)
    problem = Problem(X, None, penalty, False, 1)
    del penalty
    gc.collect()
    assert reference() is not None  # the problem reads it
    del problem
    gc.collect()
    assert reference() is None


def test_more_threads_than_can_be_had_are_not_fatal():
    X = random_table(1, 900, 60)
    problem = Problem(X, None, None, False, 300)
    assert problem.alpha_max() == pytest.approx(objective.alpha_max(X), rel=1e-12)


# --- nodes as operators -----------------------------------------------------------------------------------------------


def run(problem, alphas):
    """Screen, solve and check along alphas; return the states and what was found above."""
    states = []
    for alpha in alphas:
        pairs = problem.gradient_above(0.8 * alpha).pairs
        states += problem.solve(pairs, [alpha], 1e-9, 1e-9, 100)
    return states


@pytest.mark.parametrize("width", [0, 6], ids=["all nodes", "nodes of many neighbors"])
def test_nodes_as_operators_give_the_same_optimum(width):
    p = 40
    X = random_table(8, 300, p)
    blocks, operators = (Problem(X, None, None, False, 1) for _ in range(2))
    operators.set_widest_block(width)
    alphas = np.geomspace(0.9, 0.1, 6) * blocks.alpha_max()
    for one, other in zip(run(blocks, alphas), run(operators, alphas), strict=True):
        assert max(other.kkt_residual, other.duality_gap / blocks.null_objective) <= 1e-9
        assert other.objective == pytest.approx(one.objective, rel=1e-9)
        for a, b in zip(dense(p, one), dense(p, other), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-5)


# --- promises ---------------------------------------------------------------------------------------------------------


def test_fault_09_rows_made_to_collide_do_not_slow_the_merging():
    """Against a hash without a secret: these rows differ in the bits it drops, and it took seventy times as long."""
    n, p = 60_000, 24
    rng = np.random.default_rng(0)
    plain = rng.integers(0, 2, (n, p)).astype(np.uint8)
    crafted = flooding_rows(n)
    times = []
    for X in (plain, crafted):
        took = []
        for _ in range(3):
            start = time.process_time()
            problem = Problem(X, None, None, False, 1)
            took.append(time.process_time() - start)
        times.append(min(took))
        assert problem.n_distinct == len(np.unique(X @ (1 << np.arange(p)), axis=0))
    assert times[1] < 10 * times[0]


def flooding_rows(n):
    """Return distinct rows of 24 columns whose hashes, as version 0.1 computed them, share their low bits."""

    def mix(h):
        h ^= h >> np.uint64(32)
        h *= np.uint64(0xD6E8FEB86659FD93)
        return h ^ (h >> np.uint64(32))

    number = np.arange(1 << 23, dtype=np.uint64)
    h = np.full(len(number), 0x9E3779B97F4A7C15, dtype=np.uint64)
    for byte in range(3):
        bits = (number >> np.uint64(8 * byte)) & np.uint64(255)
        h = mix(h ^ bits * np.uint64(0x9FB21C651E98DF25))
    chosen = np.sort(np.argpartition((h & np.uint64((1 << 17) - 1)).astype(np.uint32), n)[:n])
    # The hash packed eight cells into a byte, the first into its lowest bit.
    return ((number[chosen, None] >> np.arange(24, dtype=np.uint64)) & np.uint64(1)).astype(np.uint8)


def test_independent_columns_have_no_penalty_that_admits_an_edge():
    X = np.array(list(itertools.product([0, 0, 1], repeat=3)), dtype=np.uint8)
    assert Problem(X, None, None, False, 1).alpha_max() == 0.0
    assert Nodewise(X, None, 1).alpha_max(np.ones(3), 1e-7, 100).tolist() == [0.0, 0.0, 0.0]
    weight = np.repeat([1e-3, 1.0, 1e3], 9) * np.tile([1.0, 3.0, 7.0], 9)
    assert Problem(X, weight, None, False, 1).alpha_max() < 1e-12


@pytest.mark.parametrize("kind", ["two categories", "nominal"])
def test_a_regression_does_not_know_which_one_came_before_it(kind):
    rng = np.random.default_rng(2)
    p = 70 if kind == "two categories" else 20
    X = (rng.normal(size=(400, 1)) + rng.normal(size=(400, p)) > 0).astype(np.uint8)
    categories = ()
    if kind == "nominal":
        X += (rng.normal(size=X.shape) > 0).astype(np.uint8)
        categories = np.zeros(p, np.uint8), np.ones(p)
    problem, omega = Nodewise(X, None, 1, *categories), np.ones(p)
    alphas = problem.alpha_max(omega, 1e-7, 100)[:, None] * np.geomspace(1, 0.001, 8)

    def figures(nodes):
        nodes = np.array(nodes, dtype=np.int32)
        solved = problem.solve(nodes, np.ascontiguousarray(alphas[nodes]), omega, 1e-7, 100, 1.0, False)
        return solved.n_iter, solved.losses, solved.duality_gaps

    together = figures(range(p))
    for node in (1, 5, 9, 19):
        for alone, among in zip(figures([node]), together, strict=True):
            np.testing.assert_array_equal(alone[0], among[node])


def test_cells_above_one_need_ranges():
    for value in (2, 255):
        X = np.zeros((5000, 3), dtype=np.uint8)
        X[-1, -1] = value
        with pytest.raises(ValueError, match="cells above 1"):
            _core.Problem(X, None, None, False, 1)
        with pytest.raises(ValueError, match="cells above 1"):
            _core.CpuRows(X, None, 0.0, 1, None, 0.0)


def test_cells_lie_within_the_range_of_their_column():
    X = np.zeros((5000, 3), dtype=np.uint8)
    X[-1] = 255, 1, 3
    widths = np.ones(3)
    for ranges in ([0, 1, 3], [255, 4, 3]):
        _core.Problem(X, None, None, False, 1, ranges=np.array(ranges, dtype=np.uint8), widths=widths)
    for ranges in ([254, 1, 3], [0, 1, 2]):
        with pytest.raises(ValueError, match="beyond the range"):
            _core.Problem(X, None, None, False, 1, ranges=np.array(ranges, dtype=np.uint8), widths=widths)


FORKED = """
import os, signal, time
import numpy as np
from isinglass import _core

X = np.random.default_rng(0).integers(0, 2, (900, 60), dtype=np.uint8)
problem = _core.Problem(X, None, None, False, 2)
top = problem.alpha_max()
time.sleep(0.2)  # the other thread goes to sleep, or does not: either way
child = os.fork()
if child == 0:
    signal.alarm(30)  # where it would wait for a thread that it does not have
    same = problem.alpha_max() == top
    del problem
    os._exit(0 if same else 1)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
assert problem.alpha_max() == top
raise SystemExit(abs(status))
"""


def test_a_forked_process_works_alone_on_a_problem_and_destroys_it():
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_a_point_has_each_pair_once():
    problem = _core.Problem(np.random.default_rng(0).integers(0, 2, (50, 3), dtype=np.uint8), None, None, False, 1)
    problem.alpha_max()
    twice = np.array([[0, 1], [0, 1], [1, 2]], dtype=np.int32)
    with pytest.raises(ValueError, match="each once"):
        problem.place(0.1, twice, np.ones(3), np.zeros(3))
