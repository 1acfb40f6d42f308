import pytest

from isinglass.data.limits import Limits
from isinglass.errors import DataError, LimitError


def test_the_limits_themselves_are_allowed():
    limits = Limits(max_rows=10, max_columns=5, max_bytes=50)
    limits.check_shape(10, 5)
    limits.check_bytes(50, "a file")


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((11, 1), "max_rows must be at least the number of rows; got 10 for a table of 11"),
        ((1, 6), "max_columns must be at least the number of columns; got 5 for a table of 6"),
        ((10, 5), "max_bytes must be at least the size of the data; got 49 for a table with one byte per cell of 50"),
    ],
)
def test_more_is_refused(shape, message):
    with pytest.raises(LimitError, match=message):
        Limits(10, 5, 49).check_shape(*shape)


@pytest.mark.parametrize("value", [0, -1, 1.5, True, None, "9"])
def test_limits_are_counts(value):
    with pytest.raises(DataError, match=r"max_rows must be an integer of at least 1; got"):
        Limits(max_rows=value)
