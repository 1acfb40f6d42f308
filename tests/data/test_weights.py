import numpy as np
import pytest

from isinglass.data import check_penalty_weights, check_sample_weight
from isinglass.errors import DataError


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
