"""Paths over tables in parts: the same optimum, the same bits whoever computes, and workers that die on the way."""

import os
import signal
import time

import numpy as np
import objectives as objective
import pytest
import scipy.sparse
from choices import gain, select_ebic, stars, two_stage
from cluster import two_workers

from isinglass._core import CpuRows
from isinglass.data import PartedTable, Table, read_parts
from isinglass.data.parts import backends
from isinglass.errors import ConstantColumnWarning, DataError, LimitError, SeparationError, suppress_warnings
from isinglass.select import Fixed, Method
from isinglass.select.refit import refit
from isinglass.select.scoring import ebic
from isinglass.solve.nodewise import nodewise_path
from isinglass.solve.path import alpha_max, ising_path
from isinglass.solve.rows import PartedRows

P, N = 70, 900
ALPHAS = {"alphas": 6, "alpha_min_ratio": 0.1}


def make_table(seed=0, n=N, p=P):
    rng = np.random.default_rng(seed)
    X = (rng.random((n, p)) < rng.uniform(0.2, 0.8, size=p)).astype(np.uint8)
    X[:, 1::2] ^= X[:, : p // 2 * 2 : 2] & (rng.random((n, p // 2)) < 0.6)
    return X


X = make_table()
PARTS = [X[:300], X[300:420], X[420:]]


def bits(path):
    return [
        (each.alpha, each.objective, each.duality_gap, each.fields.tobytes(), each.edge_values.tobytes())
        for each in path
    ]


def assert_same(path, other):
    for one, two in zip(path, other, strict=True):
        assert two.converged
        assert two.objective == pytest.approx(one.objective, rel=1e-9)
        np.testing.assert_allclose(one.couplings, two.couplings, atol=1e-6)
        np.testing.assert_allclose(one.fields, two.fields, atol=1e-6)


@pytest.mark.parametrize("penalty", [None, "standardized"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_path_over_parts_is_the_path_over_the_table(penalty, weighted):
    weight = np.random.default_rng(1).random(N) + 0.1 if weighted else None
    blocks = None if weight is None else [weight[:300], weight[300:420], weight[420:]]
    whole = ising_path(X, sample_weight=weight, penalty_weights=penalty, **ALPHAS)
    parted = ising_path(PARTS, sample_weight=blocks, penalty_weights=penalty, **ALPHAS)
    assert_same(whole, parted)
    last = parted[-1]
    assert (
        objective.kkt_residual(
            X, last.couplings, last.fields, last.alpha, sample_weight=weight, penalty_weights=penalty
        )
        <= 1e-7
    )
    top = alpha_max(read_parts(PARTS, sample_weight=blocks), penalty_weights=penalty)
    assert top == pytest.approx(objective.alpha_max(X, weight, penalty_weights=penalty), rel=1e-12)


def test_constant_columns_and_negligible_weights_are_left_out_as_ever():
    table = X.copy()
    table[:, 3] = 1
    weight = np.ones(N)
    weight[:5], weight[400] = 0.0, 1e-30
    with suppress_warnings(ConstantColumnWarning):
        whole = ising_path(table, [0.03], sample_weight=weight)
        parted = ising_path(read_parts([table[:400], table[400:]], sample_weight=[weight[:400], weight[400:]]), [0.03])
    assert_same(whole, parted)


@pytest.mark.parametrize("share", [1e-20, 1e-40, 1e-60])
def test_a_part_may_weigh_next_to_nothing(share):
    weight = np.where(np.arange(N) < 400, 1.0, share)
    whole = ising_path(X, [0.03], sample_weight=weight)
    parted = ising_path(read_parts([X[:400], X[400:]], sample_weight=[weight[:400], weight[400:]]), [0.03])
    assert parted.converged.all()
    assert_same(whole, parted)


def test_a_large_table_is_worked_on_in_parts(monkeypatch):
    whole = ising_path(X, **ALPHAS)
    monkeypatch.setattr("isinglass.data.parts.read_parts.SMALL", X.size - 1)
    monkeypatch.setattr("isinglass.data.parts.read_parts.LARGE", X.size - 1)
    monkeypatch.setattr("isinglass.data.parts.read_parts.CELLS_OF_A_PART", 7000)
    assert_same(whole, ising_path(X, **ALPHAS))
    monkeypatch.setattr("isinglass.solve.reduction.LARGE", X.size - 1)
    with pytest.raises(LimitError, match="needs a penalty"):
        ising_path(X, [0.01, 0.0])


def test_a_wide_table_with_few_ones_is_worked_on_as_lists_of_ones(monkeypatch):
    rng = np.random.default_rng(0)
    rare = (rng.random((1000, 200)) < 0.012).astype(np.uint8)
    rare[:, 1::2] |= rare[:, ::2] & (rng.random((1000, 100)) < 0.5)
    weight = rng.integers(1, 4, 1000).astype(float)
    whole = ising_path(rare, [0.003, 0.001], sample_weight=weight)
    asked = []
    monkeypatch.setattr("isinglass.data.parts.read_parts.SMALL", rare.size - 1)
    monkeypatch.setattr("isinglass.data.parts.read_parts.SPARSE_COLUMNS", 200)
    monkeypatch.setattr("isinglass.data.parts.read_parts.CELLS_OF_A_PART", 80_000)
    monkeypatch.setattr("isinglass.solve.rows.CpuRows", lambda *given: asked.append(CpuRows(*given)) or asked[-1])
    to_array, largest = scipy.sparse.csr_array.toarray, []
    monkeypatch.setattr(
        scipy.sparse.csr_array, "toarray", lambda self: largest.append(np.prod(self.shape)) or to_array(self)
    )
    for table in (rare, scipy.sparse.csc_array(rare)):
        found = ising_path(table, [0.003, 0.001], sample_weight=weight)
        assert_same(whole, found)
        assert found[-1].n_edges > 60
    assert len(asked) == 8  # one row of zeros and three parts, twice
    assert all(rows.is_sparse() for rows in asked[1:4] + asked[5:])
    alpha_max(scipy.sparse.csr_array(rare), weight)
    assert max(largest) <= 80_000  # never dense as a whole
    with pytest.raises(DataError, match="sample_weight must"):
        ising_path(scipy.sparse.csr_array(rare), [0.003], sample_weight=np.full(1000, np.nan))


def test_separation_is_found_over_all_parts():
    table = np.array([[0, 0], [1, 1], [1, 1], [0, 0], [0, 0], [1, 1]], dtype=np.uint8)
    with pytest.raises(SeparationError):
        ising_path([table[:3], table[3:]], [0.0])
    free = np.vstack([table, [[0, 1], [1, 0]]]).astype(np.uint8)
    np.testing.assert_allclose(
        ising_path([free[:4], free[4:]], [0.0])[0].edge_values, ising_path(free, [0.0])[0].edge_values, atol=1e-6
    )


def test_rows_that_are_read_again_each_time_give_the_same_bits(monkeypatch, tmp_path):
    names = []
    for k, part in enumerate(PARTS):
        names.append(tmp_path / f"{k}.csv")
        np.savetxt(names[-1], part, fmt="%d", delimiter=",")
    expected = bits(ising_path(read_parts(PARTS), [0.05]))
    for free, is_whole in ((1e5, True), (10.0, False)):
        monkeypatch.setattr(backends, "available_memory", lambda free=free: free)
        table = read_parts(names, header=False, client=False)
        assert (table.backend.is_whole, table.backend.is_roomy) == (is_whole, False)
        assert bits(ising_path(table, [0.05])) == expected
        assert all(not part.kept for part in table.backend.parts.values())


def test_two_problems_may_share_the_parts():
    table = read_parts(PARTS)
    one, two = (PartedRows(table, float(N), 1) for _ in range(2))
    nodes, empty, none = np.arange(P, dtype=np.int32), np.zeros(P + 1, dtype=np.int64), np.zeros(0, dtype=np.int32)
    for rows, offset in ((one, 0.5), (two, -1.0)):
        rows.move(nodes, np.full(P, offset), empty, none, np.zeros(0), empty, none, True)
    pairs = (np.array([0], dtype=np.int32), np.array([0, 1]), np.array([1], dtype=np.int32))
    for rows, offset in ((one, 0.5), (two, -1.0), (one, 0.5)):
        expected = ((1 / (1 + np.exp(-offset)) - X[:, 0]) @ X[:, 1]) / N
        assert rows.gradients(*pairs)[0] == pytest.approx(expected, abs=1e-14)
    assert one.rounds == 3


# --- what chooses and judges networks ---------------------------------------------------------------------------------


def test_criteria_and_refits_over_parts_equal_those_of_the_table():
    path, table = ising_path(X, **ALPHAS), read_parts(PARTS)
    np.testing.assert_allclose(ebic(table, path), ebic(X, path), rtol=1e-9)
    assert select_ebic(table, alphas=6).index == select_ebic(X, alphas=6).index
    one, two = refit(X, path[2]), refit(table, path[2])
    np.testing.assert_allclose(one.edge_errors, two.edge_errors, rtol=1e-6)
    fits = [Method(selector=Fixed(path[3].alpha)).fit(each) for each in (Table(X), table)]
    np.testing.assert_array_equal(fits[0].data.pair_counts, fits[1].data.pair_counts)
    np.testing.assert_allclose(fits[0].data.shares, fits[1].data.shares, rtol=1e-14)


def test_the_two_stage_estimate_over_parts():
    table = make_table(3, 600, 12)
    parts = [table[:150], table[150:500], table[500:]]
    whole, parted = two_stage(table), two_stage(parts)
    np.testing.assert_array_equal(whole.solution.edge_index, parted.solution.edge_index)
    np.testing.assert_allclose(whole.solution.edge_values, parted.solution.edge_values, atol=1e-6)
    errors = [Method().fit(each).refits.edge_errors for each in (table, parts)]
    np.testing.assert_allclose(*errors, rtol=1e-4)
    assert parted.n_folds == 5
    assert gain(parted) == pytest.approx(gain(whole), rel=0.1)  # other folds
    with pytest.raises(DataError, match="groups cannot be given for a table in parts"):
        two_stage(parts, groups=np.arange(600))
    for function in (stars, nodewise_path):
        with pytest.raises(DataError, match="got a table in parts"):
            function(read_parts(parts))


# --- workers ----------------------------------------------------------------------------------------------------------


def n_held(dask_worker):
    """On a worker: how many results it keeps for the client, parts among them."""
    return len(dask_worker.data)


def test_workers_give_the_bits_of_one_process():
    expected = bits(ising_path(read_parts(PARTS), [0.05, 0.02]))
    with two_workers(processes=False):
        table = read_parts(PARTS)
        assert isinstance(table, PartedTable)
        assert bits(ising_path(table, [0.05, 0.02])) == expected
        assert len(set(table.backend.home.values())) == 2


@pytest.mark.long
def test_workers_give_the_bits_of_one_process_also_when_one_dies_and_another_comes(tmp_path):
    expected = bits(ising_path(read_parts(PARTS), **ALPHAS))
    rare = (np.random.default_rng(0).random((600, 200)) < 0.01).astype(np.uint8)
    rare_parts = [np.ascontiguousarray(rare[k::3, rare.any(axis=0)]) for k in range(3)]
    rare_expected = bits(ising_path(read_parts(rare_parts), [0.003]))
    with two_workers():
        import distributed

        client = distributed.get_client()
        table = read_parts(PARTS)
        assert isinstance(table, PartedTable)
        assert bits(ising_path(table, **ALPHAS)) == expected
        killed = []

        def kill(solution):
            if solution.n_edges and not killed:
                killed.append(sorted(client.run(os.getpid).items())[0][1])
                os.kill(killed[0], signal.SIGKILL)
                client.cluster.scale(3)

        assert bits(ising_path(table, callback=kill, **ALPHAS)) == expected
        assert killed
        client.wait_for_workers(3)
        assert bits(ising_path(table, **ALPHAS)) == expected
        deadline = time.monotonic() + 60  # a busy scheduler counts a killed worker, or lets another one read a part
        while len(set(table.backend.home.values())) < 3 and time.monotonic() < deadline:
            assert ising_path(table, [0.05])[0].converged
        assert len(set(table.backend.home.values())) == 3  # the one that was added has parts now
        assert bits(ising_path(read_parts(rare_parts), [0.003])) == rare_expected
        assert any(client.run(n_held).values())
        del table
        deadline = time.monotonic() + 20
        while any(client.run(n_held).values()) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not any(client.run(n_held).values())  # workers forget what nobody uses any more
        for k, part in enumerate(PARTS):
            np.savetxt(tmp_path / f"{k}.csv", part if k != 1 else part + 1, fmt="%d", delimiter=",")
        with pytest.raises(DataError, match=r"part 1 \(.*1\.csv\): .*got 2"):
            read_parts(f"{tmp_path}/*.csv", header=False)
        import dask.array

        blocks = dask.array.from_array(X, chunks=(300, P))
        assert bits(ising_path(blocks, [0.05])) == bits(ising_path([X[:300], X[300:600], X[600:]], [0.05]))
