from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from isinglass.results import Path, Solution

COUPLINGS = np.array([[0, 1.5, 0], [1.5, 0, -0.5], [0, -0.5, 0]])
FIELDS = np.array([0.1, 0.2, 0.3])


def solution(alpha=0.1, **diagnostics):
    return replace(Solution.from_dense(alpha, COUPLINGS, FIELDS), **diagnostics)


def test_dense_and_sparse_round_trip():
    found = solution()
    assert found.edge_index.tolist() == [[0, 1], [1, 2]]
    assert found.edge_index.dtype == np.int32
    assert found.edge_values.tolist() == [1.5, -0.5]
    assert (found.network.n_features, found.n_edges) == (3, 2)
    np.testing.assert_array_equal(found.couplings, COUPLINGS)
    np.testing.assert_array_equal(found.network.couplings_sparse.toarray(), COUPLINGS)


def test_no_edges_and_one_node():
    empty = Solution.from_dense(0.5, np.zeros((1, 1)), np.array([2.0]))
    assert empty.n_edges == 0
    assert empty.edge_index.shape == (0, 2)
    assert empty.couplings.tolist() == [[0.0]]
    assert empty.network.couplings_sparse.shape == (1, 1)


def test_a_solution_is_frozen_and_does_not_share_the_callers_arrays():
    couplings, fields = COUPLINGS.copy(), FIELDS.copy()
    found = Solution.from_dense(0.1, couplings, fields)
    couplings[0, 1] = fields[0] = 9.0  # still writable, and not seen by the record
    assert found.couplings[0, 1] == 1.5
    assert found.fields[0] == 0.1
    for array in (found.fields, found.edge_index, found.edge_values, found.couplings):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(FrozenInstanceError):
        found.alpha = 1.0


def test_an_uncertified_solution_says_so():
    bare = solution()
    assert not bare.converged
    assert np.isnan([bare.objective, bare.kkt_residual, bare.duality_gap]).all()
    assert "NOT converged" in repr(bare)
    assert "2 edges among 3 nodes, converged" in repr(solution(converged=True))
    assert ": 1 edge among 2 nodes" in repr(Solution.from_dense(0.1, np.array([[0.0, 1.0], [1.0, 0.0]]), np.zeros(2)))


def test_path_is_a_sequence_with_columns():
    path = Path((solution(0.2, kkt_residual=1e-9, converged=True), solution(0.1, kkt_residual=1e-3)), 1e-6)
    assert len(path) == 2
    assert path[0].alpha == 0.2
    assert [s.alpha for s in path] == path.alphas.tolist() == [0.2, 0.1]
    assert [s.alpha for s in path[1:]] == [0.1]
    assert path[-1] in path
    assert path.n_edges.tolist() == [2, 2]
    assert path.converged.tolist() == [True, False]
    assert path.kkt_residual.tolist() == [1e-9, 1e-3]
    for name in ("objective", "duality_gap", "certified_zeros", "n_iter", "n_screened"):
        assert getattr(path, name).shape == (2,)
    with pytest.raises(ValueError, match="read-only"):
        path.alphas[0] = 1.0
    assert "1 of 2 converged" in repr(path)
    assert repr(Path(())) == "Path(empty)"
    assert repr(path).startswith("Path(2 alphas 0.2 … 0.1, ")
    assert repr(path[:1]).startswith("Path(1 alpha 0.2 … 0.2, ")
