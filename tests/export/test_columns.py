import numpy as np
import pandas as pd
import polars as pl
import pytest

from isinglass import Variables
from isinglass.errors import DataError
from isinglass.export.attributes import RESERVED, check_name, read_column, xml_type

BITS = Variables.of([2, 2], ["binary", "binary"])


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([True, False], "boolean", (True, False)),
        (np.array([True, False]), "boolean", (True, False)),
        ([1, None], "long", (1, None)),
        (np.arange(2, dtype=np.uint8), "long", (0, 1)),
        ([1, 2.5], "double", (1.0, 2.5)),
        ([2**63, 1], "double", (float(2**63), 1.0)),
        ([1.0, float("nan")], "double", (1.0, None)),
        ([True, 1], "string", ("True", "1")),
        (["a", 1], "string", ("a", "1")),
        (["a", ""], "string", ("a", "")),
        ([None, None], "string", (None, None)),
        (["a\ud800", "b"], "string", ("a\ufffd", "b")),
        (pd.Series([1, None], dtype="Int64"), "long", (1, None)),
        (pd.Series(["x", None], dtype="string"), "string", ("x", None)),
        (pd.Series([True, None], dtype="boolean"), "boolean", (True, None)),
        (pd.Series(["u", "v"], dtype="category"), "string", ("u", "v")),
        (pd.to_datetime(pd.Series(["2006-01-02", None])), "string", ("2006-01-02 00:00:00", None)),
        (pl.Series([1.5, None]), "double", (1.5, None)),
    ],
)
def test_kinds(values, kind, expected):
    column = read_column("a", values, 2)
    assert (xml_type(column), tuple(column)) == (kind, expected)
    for value in column:
        assert value is None or type(value) in (bool, int, float, str)


@pytest.mark.parametrize("values", ["ab", 3, [1], [1, 2, 3]])
def test_length_is_checked(values):
    with pytest.raises(DataError, match="attribute 'a' must"):
        read_column("a", values, 2)


@pytest.mark.parametrize("name", ["name", "Label", "WEIGHT", "id", "color", "x", "coupling", "degree", "source"])
def test_reserved_names(name):
    taken_by = [of for of in ("node", "edge") if name.lower() in RESERVED[of]]
    assert taken_by
    for of in taken_by:
        with pytest.raises(DataError, match="Rename"):
            check_name(name, of, BITS, [])


@pytest.mark.parametrize("name", ["", " ", 3, None])
def test_names_are_texts(name):
    with pytest.raises(DataError, match="must be a text that is not empty"):
        check_name(name, "node", BITS, [])


def test_names_that_become_equal_are_refused():
    taken = check_name("a\ud800", "node", BITS, [])
    with pytest.raises(DataError, match="another column has that name"):
        check_name("a\ud801", "node", BITS, [taken])
    with pytest.raises(DataError, match="another column has that name"):
        check_name("a␇", "node", BITS, [check_name("a\x07", "node", BITS, [])])  # in XML
    with pytest.raises(DataError, match="another column has that name, in upper or lower case"):
        check_name("PARTY", "edge", BITS, [check_name("Party", "edge", BITS, [])])
