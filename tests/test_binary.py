import numpy as np
import pytest

from isinglass.binary import check_penalty_weights, check_sample_weight, to_binary
from isinglass.errors import DataError

TABLE = np.array([[0, 1, 1], [1, 0, 1]])


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int8, np.int64, np.uint32, np.float16, np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_number_type_and_order_gives_the_same_bytes(dtype, order):
    X = np.array(TABLE, dtype=dtype, order=order)
    X.flags.writeable = False
    before = X.copy()
    codes = to_binary(X)
    assert codes.dtype == np.uint8
    assert codes.flags.c_contiguous
    assert codes.tolist() == TABLE.tolist()
    assert (before == X).all()


def test_lists_strides_and_single_cells():
    assert to_binary([[True]]).tolist() == [[1]]
    assert to_binary(np.tile(TABLE, (2, 2))[::2, ::-2]).flags.c_contiguous


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (
            [[0, 2], [1, 3]],
            r"X must hold only 0 and 1; got 2, 3 in column 1 \(first in row 0\)\. Say which is 1, .*{3: 1, 2: 0}",
        ),
        ([[0.0, 0.5]], r"got 0\.5 in column 1 .*binarize"),
        ([[0.0, 1.0], [np.nan, 1.0]], r"no missing cells; got NaN in column 0 \(row 1; 1 missing.*missing=\"zero\""),
        ([[-1, 1], [1, -1]], 'got -1 in column 0 .*It looks like ±1 spins: pass coding="spins"'),
        (np.array([[0, 7]], dtype=np.uint8), "got 7 in column 1"),
        ([[np.inf, 0]], "got inf in column 0"),
        (np.arange(2, 12).reshape(-1, 1), "got 2, 3, 4, 5, 6, … in column 0"),
        ([["Yes"], ["No"]], r"got 'No', 'Yes' in column 0 .*encode={'Yes': 1, 'No': 0}, or pass encode=\"auto\""),
        ([["a"], ["b"], ["c"]], "got 'a', 'b', 'c' in column 0 .*None stands for missing"),
        (np.array([[0, None]], dtype=object), "got NaN in column 1"),
        (np.array([[1 + 2j]]), "got dtype complex128. Complex data not supported"),
        ([0, 1], r"1 dimension\(s\). Reshape your data: X.reshape\(-1, 1\) if it is one column"),
        (np.zeros((2, 2, 2)), r"3 dimension\(s\)"),
        (3, r"0 dimension\(s\)"),
        ([[0, 1], [1]], "rows of different lengths"),
        ("votes.csv", r"got the text 'votes.csv'. To read a file use isinglass.read_table"),
        (np.zeros((0, 3)), r"got 0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required"),
        (np.zeros((3, 0)), r"got 0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required"),
    ],
)
def test_bad_tables_are_explained(X, message):
    with pytest.raises(DataError, match=message):
        to_binary(X)


def test_bad_data_is_a_value_error():
    with pytest.raises(ValueError, match="X must"):
        to_binary([[2]])


def test_sample_weight_is_returned_raw():
    assert check_sample_weight(None, 3) is None
    weight = check_sample_weight([0, 2, 1], 3)
    assert weight is not None
    assert weight.dtype == np.float64
    assert weight.tolist() == [0, 2, 1]


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 2], r"one value per row \(3,\); got shape \(2,\)"),
        ([[1, 2, 3]], r"got shape \(1, 3\)"),
        (1.0, r"got shape \(\)"),
        ([1, -2, 3], "finite and not negative; got .*-2"),
        ([1, np.nan, 3], "finite and not negative; got .*nan"),
        ([1, np.inf, 3], "finite and not negative; got .*inf"),
        ([0, 0, 0], "sample_weight must have a positive sum; got only weights of zero"),
    ],
)
def test_bad_sample_weight(weight, message):
    with pytest.raises(DataError, match=message):
        check_sample_weight(weight, 3)


def test_penalty_weights_pass_through():
    assert check_penalty_weights(None, 2) is None
    assert check_penalty_weights("standardized", 2) == "standardized"
    matrix = [[np.nan, np.inf], [np.inf, -1.0]]  # the diagonal means nothing and is not looked at
    assert check_penalty_weights(matrix, 2)[0, 1] == np.inf


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("standardised", "must be None, \"standardized\" or a symmetric matrix; got 'standardised'"),
        (np.ones((3, 3)), r"shape \(2, 2\); got \(3, 3\)"),
        ([1.0], r"shape \(2, 2\); got \(1,\)"),
        ([[0, -1], [-1, 0]], r"in \[0, inf\]"),
        ([[0, np.nan], [np.nan, 0]], r"in \[0, inf\]"),
        ([[0, 1], [2, 0]], "penalty_weights must be symmetric"),
    ],
)
def test_bad_penalty_weights(weights, message):
    with pytest.raises(DataError, match=message):
        check_penalty_weights(weights, 2)
