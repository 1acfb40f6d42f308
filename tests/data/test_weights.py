import functools

import numpy as np
import pytest

from isinglass import two_stage
from isinglass.data import check_penalty_weights, check_sample_weight
from isinglass.errors import DataError, DataWarning
from isinglass.select import cross_validate, select_ebic


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


@pytest.mark.filterwarnings("ignore::isinglass.errors.GridEndWarning")
def test_counts_of_a_contingency_table_are_named_where_folds_would_hold_out_all_rows_of_a_kind():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.uint8)
    counts = np.array([40.0, 10.0, 10.0, 40.0])
    for choose in (two_stage, functools.partial(cross_validate, n_folds=2, alphas=[0.1, 0.05])):
        with pytest.warns(DataWarning, match=r"counts of equal rows: whole numbers, 25 on average"):
            choose(X, sample_weight=counts)
    assert two_stage(np.repeat(X, counts.astype(int), axis=0)).solution.n_edges == 1  # what the warning recommends
    assert select_ebic(X, sample_weight=counts).solution.n_edges == 1
    two_stage(np.vstack([X, X[:1]]), sample_weight=np.r_[counts, 5.0])  # rows that are equal: a sample with weights
