"""Rows on a device against NumPy and the CPU's; on this processor unless a device is marked for."""

import numpy as np
import pytest
from reference import NumpyRows

from isinglass._core import Problem
from isinglass.errors import DataError
from isinglass.solve import device as device_module
from isinglass.solve.device import find_device, rows_on

torch = pytest.importorskip("torch")
from isinglass.solve.device_rows import DeviceRows  # noqa: E402 - it needs PyTorch

HAS_CUDA = torch.cuda.is_available()
CUDA = pytest.param("cuda", marks=[pytest.mark.device, pytest.mark.skipif(not HAS_CUDA, reason="no CUDA device")])
DEVICES = ["cpu", CUDA]


def random_table(seed, n, p):
    rng = np.random.default_rng(seed)
    X = (rng.random((n, p)) < rng.uniform(0.1, 0.9, size=p)).astype(np.uint8)
    X[:, 1::2] ^= X[:, : p // 2 * 2 : 2] & (rng.random((n, p // 2)) < 0.5)
    X[0], X[1] = 0, 1  # every column varies
    return X


def weights_of(kind, n):
    rng = np.random.default_rng(2)
    return {"equal": None, "alike": rng.uniform(1.0, 1.9, n), "apart": np.exp(2.0 * rng.normal(size=n))}[kind]


def moved_rows(rows, p):
    rng = np.random.default_rng(0)
    nodes = np.arange(p, dtype=np.int32)
    empty, none = np.zeros(p + 1, dtype=np.int64), np.zeros(0, dtype=np.int32)
    first = rows.move(nodes, rng.normal(size=p), empty, none, np.zeros(0), empty, none, True)
    some = rng.permutation(nodes)[: p // 2]
    begin = np.concatenate([[0], np.cumsum(rng.integers(0, 7, len(some)))])
    columns = rng.integers(0, p, begin[-1]).astype(np.int32)
    coefficients = rng.normal(size=len(columns))
    second = rows.move(some, rng.normal(size=len(some)), begin, columns, coefficients, begin, columns, False)
    return first, second, (some, begin, columns)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", ["equal", "alike", "apart"])
def test_every_call_equals_numpy(kind, device):
    p, n = 37, 300
    X, weight = random_table(4, n, p), weights_of(kind, n)
    twin, rows = NumpyRows(X, weight, 0.0, 1), rows_on(find_device(device), X, weight)
    assert rows.n_distinct() == n
    np.testing.assert_allclose(rows.margins(), twin.margins(), rtol=1e-12)
    one, two = moved_rows(twin, p), moved_rows(rows, p)
    for a, b in zip(one[:2], two[:2], strict=True):
        np.testing.assert_allclose(a[0], b[0], rtol=1e-11)
        np.testing.assert_allclose(a[1], b[1], atol=1e-14)
    tasks = two[2]
    np.testing.assert_allclose(rows.gradients(*tasks), twin.gradients(*tasks), atol=1e-14)
    rng = np.random.default_rng(3)
    for majorized in (False, True):
        for call in ("blocks", "diagonals"):
            for a, b in zip(*(getattr(each, call)(*tasks, majorized) for each in (twin, rows)), strict=True):
                np.testing.assert_allclose(a, b, atol=5e-7, rtol=5e-5)
        d, centers = rng.normal(size=len(tasks[2])).astype(np.float32), rng.normal(size=len(tasks[0]))
        np.testing.assert_allclose(
            rows.products(*tasks, d, centers), twin.products(*tasks, d, centers), atol=5e-6, rtol=1e-4
        )
    nodes = np.arange(p, dtype=np.int32)
    assert rows.divergence(nodes, 0.7) == pytest.approx(twin.divergence(nodes, 0.7), rel=1e-11)
    assert rows.largest_predictor(nodes) == pytest.approx(twin.largest_predictor(nodes), rel=1e-12)
    np.testing.assert_allclose(rows.gram(3, nodes[:5]), twin.gram(3, nodes[:5]), rtol=1e-11)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("penalty", ["equal", "standardized", "matrix"])
@pytest.mark.parametrize("kind", ["equal", "alike", "apart"])
def test_a_scan_misses_no_pair_and_certifies_none_that_fails(kind, penalty, device):
    p, n = 150, 260
    X, weight = random_table(7, n, p), weights_of(kind, n)
    twin, rows = NumpyRows(X, weight, 0.0, 1), rows_on(find_device(device), X, weight)
    moved_rows(twin, p), moved_rows(rows, p)
    s, t = np.triu_indices(p, 1)
    ones, zeros = twin.margins()
    sd = np.sqrt(ones * zeros)
    omega, given = {"equal": (np.ones(len(s)), None), "standardized": (sd[s] + sd[t], sd)}.get(penalty, (None, None))
    if penalty == "matrix":
        given = np.exp(np.random.default_rng(0).normal(size=(p, p)))
        given = given + given.T
        given[0, 1] = given[1, 0] = np.inf
        given[0, 2] = given[2, 0] = 0.0
        omega = given[s, t]
    rows.penalize(given)
    R = np.column_stack([twin.residual(node) for node in range(p)])
    g = np.abs((R.T @ twin.X + twin.X.T @ R)[s, t])
    allowed = np.isfinite(omega)
    ratio = g[allowed & (omega > 0)] / omega[allowed & (omega > 0)]
    assert ratio.max() * (1 - 1e-2) <= rows.largest() <= ratio.max()
    for share in (0.9, 0.5, 0.2):
        threshold, extra, alpha, scale, gap = share * ratio.max(), 1e-5, 0.6 * ratio.max(), 0.9, 1e-4
        pairs, certified = rows.scan(threshold, extra, alpha, scale, gap)
        found = set(map(tuple, pairs.tolist()))
        assert pairs.tolist() == sorted(map(list, found))
        with np.errstate(invalid="ignore"):
            needed = allowed & (g + extra >= threshold * omega)
            near = allowed & (g + extra + 2e-3 >= threshold * omega)
            proved = scale * (g + extra) + np.sqrt(gap / 2 * (sd[s] ** 2 + sd[t] ** 2)) < alpha * omega
        assert set(zip(s[needed].tolist(), t[needed].tolist(), strict=True)) <= found
        assert found <= set(zip(s[near].tolist(), t[near].tolist(), strict=True))
        assert 0.9 * np.count_nonzero(allowed & proved) <= certified <= np.count_nonzero(allowed & proved)


@pytest.mark.parametrize("has_triton", [True, False])
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", ["equal", "apart"])
def test_the_solver_finds_the_same_optima_on_a_device(kind, device, has_triton, monkeypatch):
    if not has_triton:
        monkeypatch.setattr(device_module, "has_package", lambda name: name != "triton")
    p, n = 60, 300
    X, weight = random_table(8, n, p), weights_of(kind, n)
    results = []
    for problem in (
        Problem(X, weight, None, True, 1),
        *(Problem(rows_on(find_device(device), X, weight), None, True, 1) for _ in range(2)),
    ):
        alphas = (np.geomspace(0.9, 0.1, 6) * problem.alpha_max()).tolist()
        results.append(problem.follow(alphas, alphas[-1], 1e-8, 100, 1.0))
        for state in results[-1]:
            assert max(state.kkt_residual, state.duality_gap / problem.null_objective) <= 1e-8
    for whole, one, again in zip(*results, strict=True):
        assert one.edges.tolist() == whole.edges.tolist()
        np.testing.assert_allclose(one.values, whole.values, atol=1e-5)
        assert one.objective == pytest.approx(whole.objective, rel=1e-8)
        assert one.values.tobytes() == again.values.tobytes()
        # The last gap may be several times larger, and with it the radius of what is certified.
        assert 0.99 * whole.certified_zeros <= one.certified_zeros <= p * (p - 1) // 2 - len(one.values)


def test_little_room_means_smaller_blocks_and_the_same_answers(monkeypatch):
    X = random_table(4, 300, 37)
    answers = []
    for room in (2**28, 1):
        monkeypatch.setattr(DeviceRows, "_room", lambda self, room=room: room)
        rows = DeviceRows(X, None, find_device("cpu"))
        first, second, tasks = moved_rows(rows, 37)
        rows.penalize(None)
        answers.append([*first, *second, *rows.blocks(*tasks, False), *rows.scan(0.05, 0.0, 0.1, 1.0, 0.0)])
    for one, other in zip(*answers, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)


def test_devices_that_do_not_exist_are_refused(monkeypatch):
    with pytest.raises(DataError, match=r"device must be .* got 'cupboard'"):
        find_device("cupboard")
    if not HAS_CUDA:
        with pytest.raises(DataError, match="PyTorch finds none"):
            find_device("cuda")
    monkeypatch.setattr(device_module, "has_package", lambda name: False)
    with pytest.raises(DataError, match=r"Install isinglass\[gpu\]"):
        find_device("cuda")
