import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isinglass.errors import DataError
from isinglass.solve.alphas import alpha_grid


@settings(deadline=None, max_examples=50)
@given(
    alpha_max=st.floats(1e-6, 1e3),
    count=st.integers(2, 60),
    ratio=st.floats(1e-6, 0.9),
)
def test_counted_grid_is_geometric_from_exactly_alpha_max(alpha_max, count, ratio):
    grid = alpha_grid(alpha_max, count, alpha_min_ratio=ratio)
    assert grid[0] == alpha_max
    assert len(grid) == count
    assert grid.dtype == np.float64
    assert (np.diff(grid) < 0).all()
    np.testing.assert_allclose(grid[1:] / grid[:-1], ratio ** (1 / (count - 1)))


def test_an_integer_is_a_count_and_a_float_is_a_value():
    assert alpha_grid(0.3, 1, alpha_min_ratio=0.1).tolist() == [0.3]
    assert alpha_grid(0.3, np.int64(1), alpha_min_ratio=0.1).tolist() == [0.3]
    assert alpha_grid(0.3, np.array(1), alpha_min_ratio=0.1).tolist() == [0.3]
    assert alpha_grid(0.3, 1.0, alpha_min_ratio=0.1).tolist() == [1.0]
    assert alpha_grid(0.3, np.float32(0.5), alpha_min_ratio=0.1).tolist() == [0.5]
    assert alpha_grid(0.3, [1], alpha_min_ratio=0.1).tolist() == [1.0]


def test_values_come_out_decreasing_and_the_input_is_untouched():
    values = np.array([0.1, 0.0, 0.5, 2.0])
    assert alpha_grid(0.3, values, alpha_min_ratio=0.1).tolist() == [2.0, 0.5, 0.1, 0.0]
    assert values.tolist() == [0.1, 0.0, 0.5, 2.0]
    assert not np.signbit(alpha_grid(0.3, [-0.0], alpha_min_ratio=0.1)[0])


def test_nothing_varies():
    assert alpha_grid(0.0, 30, alpha_min_ratio=0.1).tolist() == [0.0]
    assert alpha_grid(0.0, [0.2], alpha_min_ratio=0.1).tolist() == [0.2]


@pytest.mark.parametrize(
    ("alphas", "message"),
    [
        (0, "alphas must be a count of at least 1; got 0"),
        (-3, "alphas must be a count of at least 1; got -3"),
        (True, "alphas must be a count, a value or a list of values; got True"),
        ("30", "alphas must be a count, a value or a list of values; got '30'"),
        (None, "alphas must be a count, a value or a list of values; got None"),
        ([0.1, "a"], "alphas must be a count, a value or a list of values"),
        ([[0.1], [0.1, 0.2]], "alphas must be a count, a value or a list of values"),
        ([], "alphas must be a count, a value or a list of values"),
        ([[0.1, 0.2]], "alphas must be a count, a value or a list of values"),
        (-0.1, r"alphas must be finite and not negative; got -0\.1"),
        ([0.1, np.nan], "alphas must be finite and not negative; got nan"),
        (np.inf, "alphas must be finite and not negative; got inf"),
        ([0.1, 0.2, 0.1], r"alphas must be different from each other; got 0\.1 twice"),
    ],
)
def test_bad_alphas_are_named(alphas, message):
    with pytest.raises(DataError, match=message):
        alpha_grid(0.3, alphas, alpha_min_ratio=0.1)


@pytest.mark.parametrize("ratio", [0.0, 1.0, -1.0, float("nan")])
def test_bad_ratio(ratio):
    with pytest.raises(DataError, match="alpha_min_ratio must be between 0 and 1"):
        alpha_grid(0.3, 5, alpha_min_ratio=ratio)


@pytest.mark.parametrize("alpha_max", [-1.0, float("nan"), float("inf")])
def test_bad_alpha_max(alpha_max):
    with pytest.raises(DataError, match="alpha_max must be finite and not negative"):
        alpha_grid(alpha_max, 5, alpha_min_ratio=0.1)


def test_grid_finer_than_floats_is_refused():
    with pytest.raises(DataError, match="whose alphas differ"):
        alpha_grid(5e-324, 5, alpha_min_ratio=0.1)
