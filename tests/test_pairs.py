import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from isinglass.pairs import pair_keys, pairs_of, spread, symmetric_matrix


@given(st.integers(2, 8), st.integers(0, 2**31))
def test_pairs_against_a_dense_matrix(p, seed):
    rng = np.random.default_rng(seed)
    dense = np.triu(rng.normal(size=(p, p)) * (rng.random((p, p)) < 0.5), 1)
    pairs = np.argwhere(dense).astype(np.int32)
    keys = pair_keys(pairs, p)
    assert (np.diff(keys) > 0).all()
    np.testing.assert_array_equal(pairs_of(keys, p).reshape(-1, 2), pairs)
    matrix = symmetric_matrix(pairs, dense[tuple(pairs.T)], p)
    np.testing.assert_array_equal(matrix.toarray(), dense + dense.T)
    assert matrix.has_sorted_indices
    over = np.unique(rng.integers(0, p * p, 10))
    np.testing.assert_array_equal(spread(dense[tuple(pairs.T)], keys, over), dense.ravel()[over])


def test_keys_do_not_overflow():
    p = 100_000
    assert pair_keys(np.array([[p - 2, p - 1]], dtype=np.int32), p).tolist() == [(p - 2) * p + p - 1]
