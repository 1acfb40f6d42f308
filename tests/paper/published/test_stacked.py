import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from isinglass.errors import DataError, LimitError
from isinglass.network import Network
from paper.published import stacked as design_module
from paper.published.stacked import edge_position, stacked_design, unvectorize, vectorize


def naive_design(X):
    """The paper's formulas with its own 1-based indices, one entry at a time."""
    X = np.asarray(X)
    n, p = X.shape
    m = p * (p - 1) // 2
    dense, response = np.zeros((n * p, m + p)), np.zeros(n * p)
    for s in range(1, p + 1):
        for row in range(1, n + 1):
            i = n * (s - 1) + row
            for t in range(1, p + 1):
                if t != s:
                    j = min(s, t) + (max(s, t) - 2) * (max(s, t) - 1) // 2
                    dense[i - 1, j - 1] = X[row - 1, t - 1]
            dense[i - 1, m + s - 1] = 1
            response[i - 1] = X[row - 1, s - 1]
    return dense, response


def test_worked_example_of_three_nodes_and_two_rows():
    X = [[1, 0, 1], [0, 1, 1]]
    design, response = stacked_design(X)
    # columns θ12 θ13 θ23 θ11 θ22 θ33
    by_hand = [
        [0, 1, 0, 1, 0, 0],  # node 1, row 1: x2 = 0, x3 = 1
        [1, 1, 0, 1, 0, 0],  # node 1, row 2: x2 = 1, x3 = 1
        [1, 0, 1, 0, 1, 0],  # node 2, row 1: x1 = 1, x3 = 1
        [0, 0, 1, 0, 1, 0],  # node 2, row 2: x1 = 0, x3 = 1
        [0, 1, 0, 0, 0, 1],  # node 3, row 1: x1 = 1, x2 = 0
        [0, 0, 1, 0, 0, 1],  # node 3, row 2: x1 = 0, x2 = 1
    ]
    assert design.toarray().tolist() == by_hand
    assert response.tolist() == [1, 0, 0, 1, 1, 1]
    theta = [[11, 12, 13], [12, 22, 23], [13, 23, 33]]
    assert vectorize(theta).tolist() == [12, 13, 23, 11, 22, 33]
    assert (design @ vectorize(theta)).tolist() == [11 + 13, 11 + 12 + 13, 22 + 12 + 23, 22 + 23, 33 + 13, 33 + 23]


tables = st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(0, 2**31)).map(
    lambda spec: np.random.default_rng(spec[2]).integers(0, 2, spec[:2])
)


@settings(deadline=None, max_examples=50)
@given(X=tables)
def test_equals_the_papers_formula_entry_by_entry(X):
    design, response = stacked_design(X)
    dense, expected = naive_design(X)
    assert isinstance(design, sp.csc_array)
    assert design.has_canonical_format
    np.testing.assert_array_equal(design.toarray(), dense)
    np.testing.assert_array_equal(response, expected)
    assert design.nnz == np.count_nonzero(dense)  # no stored zeros
    assert design.indices.dtype == np.int32


@settings(deadline=None, max_examples=50)
@given(X=tables, seed=st.integers(0, 2**31))
def test_its_logistic_likelihood_is_the_pseudolikelihood(X, seed):
    p = X.shape[1]
    theta = np.random.default_rng(seed).normal(size=(p, p))
    theta = theta + theta.T
    design, response = stacked_design(X)
    linear = design @ vectorize(theta)
    logistic = response @ linear - np.logaddexp(0, linear).sum()
    pseudo = Network.from_theta(theta).log_pseudolikelihood(X).sum()
    assert logistic == pytest.approx(pseudo, rel=1e-12, abs=1e-12)


@settings(deadline=None, max_examples=30)
@given(p=st.integers(1, 12), seed=st.integers(0, 2**31))
def test_vectorize_and_unvectorize_are_inverse(p, seed):
    theta = np.random.default_rng(seed).normal(size=(p, p))
    theta = theta + theta.T
    vector = vectorize(theta)
    np.testing.assert_array_equal(unvectorize(vector), theta)
    for s in range(p):
        assert vector[p * (p - 1) // 2 + s] == theta[s, s]
        for t in range(s):
            assert vector[edge_position(s, t)] == vector[edge_position(t, s)] == theta[s, t]


def test_edge_position_is_the_papers_formula_minus_one():
    for s in range(1, 9):
        for t in range(1, 9):
            if s != t:
                paper = min(s, t) + (max(s, t) - 2) * (max(s, t) - 1) // 2
                assert edge_position(s - 1, t - 1) == paper - 1
    assert sorted(edge_position(s, t) for t in range(9) for s in range(t)) == list(range(36))


@pytest.mark.parametrize("pair", [(1, 1), (-1, 2), (0, -3)])
def test_bad_edge_position(pair):
    with pytest.raises(DataError, match="s and t must be two different nodes"):
        edge_position(*pair)


def test_bad_vectors_and_matrices():
    with pytest.raises(DataError, match=r"vector must have length p\(p\+1\)/2"):
        unvectorize([1.0, 2.0])
    with pytest.raises(DataError, match="vector must have length"):
        unvectorize([])
    with pytest.raises(DataError, match="vector must have length"):
        unvectorize(np.zeros((1, 3)))
    with pytest.raises(DataError, match="theta must be symmetric"):
        vectorize([[0, 1], [2, 0]])
    with pytest.raises(DataError, match=r"theta must be a square matrix.*\(2, 3\)"):
        vectorize(np.zeros((2, 3)))
    with pytest.raises(DataError, match="theta must be a square matrix"):
        vectorize(np.zeros((0, 0)))
    with pytest.raises(DataError, match="X must hold only 0 and 1"):
        stacked_design([[0, 2]])


def test_the_announced_size_is_the_size():
    X = np.random.default_rng(0).integers(0, 2, (40, 7))
    design, response = stacked_design(X)
    taken = design.data.nbytes + design.indices.nbytes + design.indptr.nbytes + response.nbytes
    stacked_design(X, max_bytes=taken)
    with pytest.raises(LimitError, match=r"at most .* GiB; got 280 × 28 taking .* GiB. Use ising_path"):
        stacked_design(X, max_bytes=taken - 1)


def test_a_design_that_does_not_fit_is_refused_before_it_is_built():
    X = np.ones((1000, 1000), dtype=np.uint8)  # 10⁹ entries, 12 GB
    with pytest.raises(LimitError, match=r"1000000 × 500500 taking 11\.2 GiB"):
        stacked_design(X, max_bytes=4 * 2**30)
    with pytest.raises(LimitError, match=r"taking 11\.2 GiB"):
        stacked_design(X)


def test_the_memory_that_is_left_is_a_limit(monkeypatch):
    monkeypatch.setattr(design_module, "available_memory", lambda: 2048)
    with pytest.raises(LimitError, match="The stacked design must be at most"):
        stacked_design(np.ones((10, 10)))
