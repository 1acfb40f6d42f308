"""Tables of text: every number that is not 0 is shown as such, and a table without rows or columns is shown."""

import numpy as np

from isinglass.text_tables import Columns


def test_small_numbers_are_not_shown_as_zero():
    shown = repr(Columns(edge=np.array(["a–b", "b–c", "c–d", "d–e"]), p=np.array([1.23e-8, -0.0004, 0.0, 0.25])))
    assert [line.split()[1] for line in shown.splitlines()] == ["p", "1.2e-08", "-0.0004", "0.000", "0.250"]


def test_a_table_says_how_many_more_rows_there_are():
    assert [repr(Columns(k=np.arange(n))).splitlines()[-1] for n in (30, 31, 32)] == [
        "29",
        "… and 1 more row",
        "… and 2 more rows",
    ]


def test_tables_without_rows_or_columns():
    assert repr(Columns(source=np.empty(0), target=np.empty(0))) == "source  target"
    assert repr(Columns()) == ""
