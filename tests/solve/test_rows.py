"""Rows written in Python below the compiled solver, rows of this computer above it, and sums of parts."""

from functools import partial
from itertools import pairwise

import numpy as np
import objectives as objective
import pytest
from reference import NumpyRows

from isinglass._core import CpuRows, Problem
from isinglass.pairs import all_pairs
from isinglass.solve.rows import SumRows

CUTS = [[1], [37, 38, 150]]


def random_table(seed, n, p):
    rng = np.random.default_rng(seed)
    X = (rng.random((n, p)) < rng.uniform(0.1, 0.9, size=p)).astype(np.uint8)
    X[:, 1::2] ^= X[:, : p // 2 * 2 : 2] & (rng.random((n, p // 2)) < 0.5)
    X[0], X[1] = 0, 1  # every column varies
    return X


def random_weight(n):
    return np.exp(np.random.default_rng(2).normal(size=n))


def in_parts(X, weight, cuts, rows=CpuRows, n_threads=1):
    total = float(len(X)) if weight is None else float(weight.sum())
    bounds = [0, *cuts, len(X)]
    return SumRows(
        [rows(X[a:b], None if weight is None else weight[a:b], total, n_threads) for a, b in pairwise(bounds)]
    )


def dense(p, state):
    couplings = np.zeros((p, p))
    s, t = state.edges.T
    couplings[s, t] = couplings[t, s] = state.values
    return couplings, state.fields


def follow(problem, shares):
    """The certified solutions at these shares of alpha_max."""
    alphas = (shares * problem.alpha_max()).tolist()
    return problem.follow(alphas, alphas[-1], 1e-9, 100, 1.0)


def assert_same_optima(p, whole, other, shares):
    assert other.alpha_max() == pytest.approx(whole.alpha_max(), rel=1e-12)
    assert other.null_objective == pytest.approx(whole.null_objective, rel=1e-13)
    states = list(zip(follow(whole, shares), follow(other, shares), strict=True))
    for one, two in states:
        assert max(two.kkt_residual, two.duality_gap / whole.null_objective) <= 1e-9
        assert two.objective == pytest.approx(one.objective, rel=1e-9)
        for a, b in zip(dense(p, one), dense(p, two), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-5)
        # A reference that has drifted proves less than a fresh one, a larger gap less than a smaller one.
        assert 0.99 * one.certified_zeros - 3 <= two.certified_zeros <= p * (p - 1) // 2 - len(two.values)
    return states[-1][1]


# --- every call: the compiled rows against NumPy ----------------------------------------------------------------------


def moved_rows(rows, p, seed=0):
    """Start all predictors, then move some of them; return what the calls answered."""
    rng = np.random.default_rng(seed)
    nodes = np.arange(p, dtype=np.int32)
    empty, none = np.zeros(p + 1, dtype=np.int64), np.zeros(0, dtype=np.int32)
    first = rows.move(nodes, rng.normal(size=p), empty, none, np.zeros(0), empty, none, True)
    some = nodes[::2].copy()
    begin = np.arange(len(some) + 1, dtype=np.int64) * 3
    columns = rng.integers(0, p, 3 * len(some)).astype(np.int32)
    coefficients = rng.normal(size=len(columns))
    second = rows.move(some, rng.normal(size=len(some)), begin, columns, coefficients, begin, columns, False)
    return first, second, (some, begin, columns)


@pytest.mark.parametrize("n", [200, 3000])  # of the longer table, the compiled rows are merged
@pytest.mark.parametrize("weighted", [False, True])
def test_every_call_of_the_compiled_rows_equals_numpy(weighted, n):
    p = 21
    X = random_table(4, n, p)
    weight = random_weight(n) if weighted else None
    twin, rows = NumpyRows(X, weight, 0.0, 1), CpuRows(X, weight, 0.0, 1)
    summed = in_parts(X, weight, [50, 51])
    lean = [CpuRows(X, weight, 0.0, 2, n_kept) for n_kept in (0, 5, p)]
    lean += [CpuRows(X, weight, 0.0, n_threads, 0, 1.0) for n_threads in (1, 2)]
    assert [rows.is_sparse() for rows in lean] == [False] * 3 + [True] * 2
    rng = np.random.default_rng(3)
    for other in (rows, summed, *lean):
        one, two = moved_rows(twin, p), moved_rows(other, p)
        for a, b in zip(one[:2], two[:2], strict=True):
            np.testing.assert_allclose(a[0], b[0], rtol=1e-12)
            np.testing.assert_allclose(a[1], b[1], atol=1e-14)
        tasks = two[2]
        np.testing.assert_allclose(twin.gradients(*tasks), other.gradients(*tasks), atol=1e-14)
        for majorized in (False, True):
            for call in ("blocks", "diagonals"):
                for a, b in zip(*(getattr(each, call)(*tasks, majorized) for each in (twin, other)), strict=True):
                    np.testing.assert_allclose(a, b, atol=2e-7, rtol=2e-5)
            d, centers = rng.normal(size=len(tasks[2])).astype(np.float32), rng.normal(size=len(tasks[0]))
            a, b = twin.products(*tasks, d, centers), other.products(*tasks, d, centers)
            np.testing.assert_allclose(a, b, atol=2e-6)
        nodes = np.arange(p, dtype=np.int32)
        assert other.divergence(nodes, 0.7) == pytest.approx(twin.divergence(nodes, 0.7), rel=1e-12)
        assert other.largest_predictor(nodes) == pytest.approx(twin.largest_predictor(nodes), rel=1e-12)
        np.testing.assert_allclose(other.gram(3, nodes[:5]), twin.gram(3, nodes[:5]), rtol=1e-11)
        for first, last in ((0, p - 1), (3, 7), (5, 5)):
            (band, bound), (exact, _) = other.all_pairs(first, last), twin.all_pairs(first, last)
            assert np.abs(band - exact).max(initial=0.0) <= bound < 1e-4
        for each in (twin, other):
            each.remember(nodes)
            moved_rows(each, p, seed=5)
        np.testing.assert_allclose(other.drift(nodes), twin.drift(nodes), atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_rows_merged_and_parted_again_equal_numpy(seed):
    """Neighborhoods that grow beyond what can be merged, shrink to nothing and start afresh."""
    p, n = 20, 2500
    rng = np.random.default_rng(seed)
    X = random_table(seed, n, p)
    twin, rows = (kind(X, random_weight(n), 0.0, 1) for kind in (NumpyRows, CpuRows))
    nodes = np.arange(p, dtype=np.int32)
    at = np.zeros((p, p))
    for step in range(25):
        afresh = step % 9 == 0
        some = nodes if afresh else np.flatnonzero(rng.random(p) < 0.6).astype(np.int32)
        moved, values, asked = [], [], []
        for node in some:
            at[node] *= not afresh
            known = np.flatnonzero(at[node])
            if step % 5 == 4 and len(known):  # back to zero, up to rounding
                moved.append(known)
                values.append(-at[node, known])
            else:
                moved.append(rng.permutation(np.delete(nodes, node))[: rng.integers(0, 4 if step < 15 else 12)])
                values.append(rng.normal(size=len(moved[-1])))
            at[node, moved[-1]] += values[-1]
            at[node, np.abs(at[node]) < 1e-15] = 0
            asked.append(np.union1d(np.flatnonzero(at[node]), rng.integers(0, p, 2)))
        ends = [np.cumsum([0, *map(len, each)]) for each in (moved, asked)]
        moved, asked = (np.concatenate(each).astype(np.int32) for each in (moved, asked))
        offsets, values = rng.normal(size=len(some)), np.concatenate(values)
        a, b = (each.move(some, offsets, ends[0], moved, values, ends[1], asked, afresh) for each in (twin, rows))
        np.testing.assert_allclose(a[0], b[0], rtol=1e-11)
        np.testing.assert_allclose(a[1], b[1], atol=1e-13)
        for a, b in zip(*(each.blocks(some, ends[1], asked, False) for each in (twin, rows)), strict=True):
            np.testing.assert_allclose(a, b, atol=2e-7, rtol=2e-5)
        assert rows.divergence(nodes, 0.7) == pytest.approx(twin.divergence(nodes, 0.7), rel=1e-11)
        if step % 4 == 2:
            np.testing.assert_allclose(rows.drift(nodes), twin.drift(nodes), atol=1e-6)
            (band, bound), (exact, _) = rows.all_pairs(0, p - 1), twin.all_pairs(0, p - 1)
            assert np.abs(band - exact).max() <= bound < 1e-4
        if step % 4 == 0:
            for each in (twin, rows):
                each.remember(nodes)


def test_rows_no_more_than_patterns_are_padded_to_equal_numpy():
    """Sixteen rows of many columns: merged or not, there are sixteen numbers to a node."""
    n, p = 16, 1900
    X = random_table(1, n, p)
    twin, rows = (kind(X, None, 0.0, 1) for kind in (NumpyRows, CpuRows))
    for each in (twin, rows):
        moved_rows(each, p)
    alone = np.arange(1, 80, 2, dtype=np.int32)  # nodes that no column was added to
    begin = np.arange(len(alone) + 1, dtype=np.int64) * 2
    columns = np.random.default_rng(2).integers(0, p, begin[-1]).astype(np.int32)
    np.testing.assert_allclose(rows.gradients(alone, begin, columns), twin.gradients(alone, begin, columns), atol=1e-14)
    solution = follow(Problem(X, None, None, False, 1), np.array([0.9]))[0]
    assert objective.kkt_residual(X, *dense(p, solution), solution.alpha) <= 1.01e-9


def test_a_product_with_no_columns_is_empty():
    X = random_table(1, 50, 4)
    rows = CpuRows(X, None, 0.0, 1)
    moved_rows(rows, 4)
    nodes, begin, none = np.array([1], dtype=np.int32), np.zeros(2, dtype=np.int64), np.zeros(0, dtype=np.int32)
    rows.diagonals(nodes, begin, none, False)
    assert len(rows.products(nodes, begin, none, np.zeros(0, dtype=np.float32), np.zeros(1))) == 0


def test_gradients_of_all_pairs_wait_for_few_parts_at_a_time(monkeypatch):
    X = random_table(4, 200, 21)
    whole = in_parts(X, None, [50, 51, 90]).all_pairs(2, 19)
    asked = []

    class Asked(SumRows):
        def ask(self, call, *arguments, only=None):
            asked.append((call, only))
            return super().ask(call, *arguments, only=only)

    monkeypatch.setattr("isinglass.solve.rows._BYTES_AT_ONCE", 2 * whole[0].nbytes)
    found = Asked(in_parts(X, None, [50, 51, 90]).parts).all_pairs(2, 19)
    assert asked == [("margins", None), ("all_pairs", range(2)), ("all_pairs", range(2, 4))]
    assert bits(found) == bits(whole)


@pytest.mark.parametrize("rows", [CpuRows, partial(CpuRows, n_kept=0)], ids=["kept", "recipes"])
def test_the_bound_of_all_pairs_grows_neither_with_the_parts_nor_with_the_rows(rows):
    X = random_table(5, 40_000, 20)
    short, long, parted = (
        in_parts(some, None, cuts, rows=rows).all_pairs(0, 20)[1]
        for some, cuts in ((X[:1000], []), (X, []), (X, range(1000, 40_000, 1000)))
    )
    assert long == pytest.approx(short, rel=1e-12)
    assert parted <= long + 40 * 1.2e-7  # what adding the parts in single precision may round


def bits(answer):
    """Everything in an answer, to the bit."""
    if isinstance(answer, tuple):
        return tuple(bits(each) for each in answer)
    return answer.tobytes() if isinstance(answer, np.ndarray) else answer


@pytest.mark.parametrize("rare", [0.0, 1.0], ids=["cells", "lists of ones"])
@pytest.mark.parametrize("weighted", [False, True])
def test_lean_rows_answer_the_same_bits_whatever_they_keep_and_after_they_were_made_again(weighted, rare):
    p, n = 21, 3000
    X = random_table(4, n, p)
    weight = random_weight(n) if weighted else None
    nodes = np.arange(p, dtype=np.int32)
    d, centers = np.linspace(-1, 1, 33).astype(np.float32), np.linspace(0, 1, 11)
    answers = []
    for n_kept, again in ((0, False), (5, False), (p, False), (0, True), (7, True)):
        rows = CpuRows(X, weight, 0.0, 1 + n_kept % 2, n_kept, rare)
        tasks = moved_rows(rows, p)[2]
        rows.remember(nodes)
        moved_rows(rows, p, seed=3)
        rows.diagonals(*tasks, False)
        moved_rows(rows, p, seed=5)
        if again:
            state = rows.state()
            rows = CpuRows(X, weight, 0.0, 1, p - n_kept, rare)
            rows.restore(state)
        answers.append(
            bits(
                (
                    rows.products(*tasks, d, centers),
                    rows.drift(nodes),
                    rows.gradients(*tasks),
                    rows.blocks(*tasks, False),
                    rows.all_pairs(0, p - 1),
                    rows.divergence(nodes, 0.5),
                    moved_rows(rows, p, seed=6)[:2],
                    rows.state()[0],
                )
            )
        )
    assert all(answer == answers[0] for answer in answers)


def test_a_state_of_another_table_is_refused():
    X = random_table(0, 20, 4)
    state = CpuRows(random_table(0, 20, 5), None, 0.0, 1, 0).state()
    rows = CpuRows(X, None, 0.0, 1, 0)
    with pytest.raises(ValueError, match="per column"):
        rows.restore(state)
    offsets, begin, _, _ = rows.state()[0]
    wrong = (offsets, np.r_[begin[:-1], 1], np.array([9], dtype=np.int32), np.ones(1))
    with pytest.raises(ValueError, match="lie in the table"):
        rows.restore((wrong, *rows.state()[1:]))


def test_what_does_not_fit_the_table_is_refused():
    X = random_table(0, 20, 4)
    rows = CpuRows(X, None, 0.0, 1)
    nodes, begin, columns = np.array([0], dtype=np.int32), np.array([0, 1]), np.array([9], dtype=np.int32)
    with pytest.raises(ValueError, match="lie in the table"):
        rows.gradients(nodes, begin, columns)
    with pytest.raises(ValueError, match="divide the columns"):
        rows.gradients(nodes, begin[:1], nodes)
    with pytest.raises(ValueError, match="remembered"):
        rows.drift(nodes)
    with pytest.raises(RuntimeError, match="diagonal first"):
        rows.products(nodes, begin, nodes, np.ones(1, dtype=np.float32), np.zeros(1))
    for table, weight in ((X[:0], None), (X, np.zeros(len(X)))):
        with pytest.raises(ValueError, match="a part must have"):
            CpuRows(table, weight, 1.0, 1)


# --- the solver on such rows ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cuts", CUTS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_as_a_sum_of_parts_give_the_optimum_of_the_whole_table(cuts, weighted):
    p = 40
    X = random_table(8, 300, p)
    weight = random_weight(300) if weighted else None
    whole, summed = Problem(X, weight, None, True, 1), Problem(in_parts(X, weight, cuts), None, True, 1)
    last = assert_same_optima(p, whole, summed, np.geomspace(0.9, 0.05, 8))
    pairs = all_pairs(p)
    expected, _ = objective.gradient(X, *dense(p, last), sample_weight=weight)
    np.testing.assert_allclose(summed.gradient(pairs), expected[pairs[:, 0], pairs[:, 1]], atol=1e-13)


@pytest.mark.parametrize("cuts", CUTS, ids=str)
def test_a_fixed_partition_gives_the_same_bits_for_any_number_of_threads(cuts):
    X = random_table(9, 900, 60)
    results = []
    for n_threads in (1, 2, 3):
        problem = Problem(in_parts(X, None, cuts, n_threads=n_threads), None, False, n_threads)
        states = follow(problem, np.geomspace(0.9, 0.2, 5))
        results.append([(state.fields.tobytes(), state.values.tobytes(), state.duality_gap) for state in states])
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("width", [0, 6], ids=["all nodes", "nodes of many neighbors"])
def test_operators_on_parts_give_the_same_optimum(width):
    p = 40
    X = random_table(8, 300, p)
    whole, summed = Problem(X, None, None, False, 1), Problem(in_parts(X, None, [37, 150]), None, False, 1)
    summed.set_widest_block(width)
    assert_same_optima(p, whole, summed, np.geomspace(0.9, 0.1, 6))


@pytest.mark.parametrize("width", [0, None], ids=["products", "blocks"])
@pytest.mark.parametrize("weighted", [False, True])
def test_lean_rows_give_the_optimum_of_the_whole_table(width, weighted):
    p = 70
    X = random_table(8, 400, p)
    weight = random_weight(400) if weighted else None
    whole = Problem(X, weight, None, False, 1)
    lean = Problem(CpuRows(X, weight, 0.0, 2, 9), None, False, 1)
    if width is not None:
        lean.set_widest_block(width)
    assert_same_optima(p, whole, lean, np.geomspace(0.9, 0.1, 6))


def rare_table(n, p):
    """Rows with few ones, some of them the same in pairs of columns."""
    rng = np.random.default_rng(2)
    X = (rng.random((n, p)) < 0.03).astype(np.uint8)
    X[:, 1::2] |= X[:, ::2] & (rng.random((n, p // 2)) < 0.5)
    return X


@pytest.mark.parametrize("width", [0, None], ids=["products", "blocks"])
@pytest.mark.parametrize("weighted", [False, True])
def test_lists_of_ones_give_the_optimum_of_the_whole_table(width, weighted):
    p, n = 70, 3000
    X = rare_table(n, p)
    weight = random_weight(n) if weighted else None
    total = float(n) if weight is None else weight.sum()
    parts = [
        CpuRows(X[a:b], None if weight is None else weight[a:b], total, 2, 0, 0.1) for a, b in ((0, 900), (900, n))
    ]
    assert all(part.is_sparse() for part in parts)
    summed = Problem(SumRows(parts), None, False, 1)
    if width is not None:
        summed.set_widest_block(width)
    assert_same_optima(p, Problem(X, weight, None, False, 1), summed, np.geomspace(0.9, 0.05, 6))


def test_rows_whose_weight_a_difference_would_lose():
    """All but the rows without ones weigh next to nothing, or they themselves do."""
    p, n = 12, 400
    X = rare_table(n, p)
    nodes = np.arange(p, dtype=np.int32)
    for light in (X.any(axis=1), ~X.any(axis=1)):
        weight = np.where(light, 1e-14, 1.0)
        rows, twin = CpuRows(X, weight, 0.0, 1, 0, 0.5), NumpyRows(X, weight, 0.0, 1)
        for a, b in zip(moved_rows(rows, p)[:2], moved_rows(twin, p)[:2], strict=True):
            np.testing.assert_allclose(a[0], b[0], rtol=1e-11)
            np.testing.assert_allclose(a[1], b[1], rtol=1e-11)
        assert rows.divergence(nodes, 0.3) == pytest.approx(twin.divergence(nodes, 0.3), rel=1e-11)


@pytest.mark.parametrize("kind", ["equal", "standardized", "matrix"])
@pytest.mark.parametrize("scans", [False, True])
def test_rows_in_numpy_give_the_optimum_of_the_compiled_ones(kind, scans):
    p = 70
    X = random_table(6, 250, p)
    matrix = None
    if kind == "matrix":
        matrix = np.exp(0.3 * np.random.default_rng(0).normal(size=(p, p)))
        matrix = np.triu(matrix, 1) + np.triu(matrix, 1).T
        matrix[0, 1] = matrix[1, 0] = np.inf
    rows = (ScanningRows if scans else NumpyRows)(X, None, 0.0, 1)
    whole, other = (Problem(*table, matrix, kind == "standardized", 1) for table in ((X, None), (rows,)))
    assert_same_optima(p, whole, other, np.geomspace(0.9, 0.3, 5))


class ScanningRows(NumpyRows):
    """Rows that look at all pairs themselves."""

    def penalize(self, omega):
        p = self.X.shape[1]
        vector = np.full(p, 0.5) if omega is None else omega
        self.omega = (np.add.outer(vector, vector) if vector.ndim == 1 else vector)[np.triu_indices(p, 1)]

    def all_pairs(self, first, last):
        raise AssertionError("such rows are never asked for a band")

    def scan(self, threshold, extra, alpha, scale, gap):
        p = self.X.shape[1]
        g = np.abs(NumpyRows.all_pairs(self, 0, p)[0]) + extra
        s, t = np.triu_indices(p, 1)
        ones, zeros = self.margins()
        radius = np.sqrt(gap / 2 * (ones[s] * zeros[s] + ones[t] * zeros[t]))
        is_allowed = np.isfinite(self.omega)
        certified = np.count_nonzero(is_allowed & (scale * g + radius < alpha * np.where(is_allowed, self.omega, 1)))
        found = is_allowed & (g >= threshold * np.where(is_allowed, self.omega, 1))
        return np.column_stack([s, t])[found].astype(np.int32), certified

    def largest(self):
        g = np.abs(NumpyRows.all_pairs(self, 0, self.X.shape[1])[0])
        return float(((g - 1e-6)[self.omega > 0] / self.omega[self.omega > 0]).max())


def test_a_reference_in_bands_finds_what_a_whole_one_finds():
    p = 90
    X = random_table(5, 200, p)
    whole, banded = Problem(X, None, None, False, 2), Problem(X, None, None, False, 2)
    banded.set_largest_reference(7 * p)
    assert_same_optima(p, whole, banded, np.geomspace(0.95, 0.3, 8))


def test_an_error_in_the_rows_reaches_the_caller():
    class Broken(NumpyRows):
        def gradients(self, nodes, begin, columns):
            raise OSError("the part is gone")

    class Short(NumpyRows):
        def gradients(self, nodes, begin, columns):
            return np.zeros(len(columns) + (len(columns) > 0))

    X = random_table(6, 60, 8)
    pairs = all_pairs(8)
    with pytest.raises(OSError, match="the part is gone"):
        Problem(Broken(X, None, 0.0, 1), None, False, 1).solve(pairs, [0.01], 1e-7, 1e-7, 50)
    with pytest.raises(ValueError, match=r"rows\.gradients must answer with flat arrays"):
        Problem(Short(X, None, 0.0, 1), None, False, 1).solve(pairs, [0.01], 1e-7, 1e-7, 50)
