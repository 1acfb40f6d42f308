"""Plain numbers are accepted or named."""

import numpy as np
import pytest

from isinglass.arguments import check_count, check_positive
from isinglass.errors import DataError


@pytest.mark.parametrize("value", [1, np.int64(1), np.uint8(1)])
def test_counts(value):
    assert check_count("n", value) == 1


@pytest.mark.parametrize("value", [0, -1, 1.0, True, "1", None, 2**31, float("nan")])
def test_what_is_no_count(value):
    with pytest.raises(DataError, match=r"n must be an integer of at least 1; got"):
        check_count("n", value)


def test_counts_have_a_least_value():
    assert check_count("n_folds", 2, least=2) == 2
    with pytest.raises(DataError, match=r"n_folds must be an integer of at least 2; got 1"):
        check_count("n_folds", 1, least=2)


@pytest.mark.parametrize("value", [1, 1e-300, np.float32(0.5), np.int8(3)])
def test_positive_numbers(value):
    assert check_positive("tol", value) == float(value)


@pytest.mark.parametrize("value", [0, -1.0, float("nan"), float("inf"), True, "1", None, [1.0]])
def test_what_is_not_positive(value):
    with pytest.raises(DataError, match=r"tol must be a positive number; got"):
        check_positive("tol", value)
