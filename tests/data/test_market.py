"""Matrix Market files: what scipy writes and reads, and what nobody should."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.io import mmread, mmwrite

from isinglass import read_table
from isinglass.errors import DataError, LimitError

SPARSE = b"%%MatrixMarket matrix coordinate pattern general\n"
DENSE = b"%%MatrixMarket matrix array integer general\n"


@given(
    arrays(np.int64, st.tuples(st.integers(1, 5), st.integers(1, 5)), elements=st.integers(0, 1)),
    st.booleans(),
    st.sampled_from([None, "real", "integer", "pattern"]),
    st.booleans(),
)
def test_what_scipy_writes_is_read_as_scipy_reads_it(bits, dense, field, symmetric):
    if symmetric:
        bits = bits[: min(bits.shape), : min(bits.shape)]
        bits = bits | bits.T
    file = io.BytesIO()
    mmwrite(file, bits if dense else sparse.coo_array(bits), field=None if dense else field, comment="one\ntwo")
    expected = mmread(io.BytesIO(file.getvalue()))
    expected = expected.toarray() if sparse.issparse(expected) else expected
    assert expected.tolist() == bits.tolist()
    assert read_table(io.BytesIO(file.getvalue())).X.tolist() == bits.tolist()


def test_missing_cells_and_other_values():
    text = b"%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 nan\n2 1 1\n2 2 1\n"
    assert read_table(io.BytesIO(text), missing="zero").X.tolist() == [[0, 0], [1, 1]]
    spins = b"%%MatrixMarket matrix array real general\n2 1\n-1\n1\n"
    assert read_table(io.BytesIO(spins), coding="spins").X.tolist() == [[0], [1]]


def test_entries_that_come_twice_add_up():
    with pytest.raises(DataError, match=r"got 2 in column 1 of the file \(first in row 1\)"):
        read_table(io.BytesIO(SPARSE + b"2 2 2\n1 1\n1 1\n"))


def test_an_empty_matrix_is_a_table_of_zeros():
    assert read_table(io.BytesIO(SPARSE + b"2 3 0\n")).X.tolist() == [[0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (SPARSE, r"must give its size in 3 numbers; got b''"),
        (SPARSE + b"2 2\n", "must give its size in 3 numbers"),
        (SPARSE + b"2 -2 1\n1 1\n", "must give its size in 3 numbers"),
        (SPARSE + b"2 2 1" + b"0" * 30 + b"\n1 1\n", "must give its size in 3 numbers"),
        (b"%%MatrixMarket matrix\n2 2 1\n1 1\n", "must start with the banner"),
        (b"%%MatrixMarket vector array real general\n2 2\n", "must start with the banner"),
        (b"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 0 1\n", "Complex data not supported"),
        (b"%%MatrixMarket matrix array real skew-symmetric\n1 1\n0\n", "got 'real', 'skew-symmetric'"),
        (b"%%MatrixMarket matrix array real symmetric\n1 2\n0\n", "square to be symmetric; got 1 rows and 2"),
        (SPARSE + b"2 2 999999\n1 1\n", "fewer than the 999999 entries announced"),
        (SPARSE + b"2 2 1\n1 1\n2 2\n", "got 2 entries where 1 are announced"),
        (SPARSE + b"2 2 1\n1 x\n", "entries that cannot be read"),
        (SPARSE + b"2 2 1\n1 1 1\n", r"2 number\(s\) per entry; got 3"),
        (SPARSE + b"2 2 1\n3 1\n", r"in 2 rows and 2 columns; got the place \(3.0, 1.0\) in entry 1"),
        (SPARSE + b"2 2 1\n0 1\n", "got the place"),
        (SPARSE + b"2 2 1\n1.5 1\n", "got the place"),
        (SPARSE + b"2 2 1\nnan 1\n", "got the place"),
        (DENSE + b"4 3\n0\n1\n0\n1\n1\n0\n0\n1\n1\n1\n1\n0\x11", "entries that cannot be read"),  # crashes scipy 1.17
        (DENSE + b"1 2\n0\n5\n", "got 5 in column 2 of the file"),
        (DENSE + b"0 3\n", r"0 sample\(s\)"),
    ],
)
def test_bad_files(data, message):
    with pytest.raises(DataError, match=message):
        read_table(io.BytesIO(data), format="mtx")


@pytest.mark.parametrize(
    ("data", "limit"),
    [
        (SPARSE + b"9000000 90000 1\n1 1\n", "max_bytes"),
        (DENSE + b"9000000 90000\n1\n", "max_bytes"),
        (SPARSE + b"999999999999 2 1\n1 1\n", "max_rows"),
        (SPARSE + b"2 999999999999 1\n1 1\n", "max_columns"),
    ],
)
def test_matrices_that_claim_to_be_huge_are_not_allocated(data, limit):
    with pytest.raises(LimitError, match=limit):
        read_table(io.BytesIO(data))
