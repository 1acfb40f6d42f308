"""Headers and row names of text files, told by stated rules."""

import pytest

from isinglass.data.cells import Vocabulary
from isinglass.data.header import lay_out
from isinglass.data.limits import Limits
from isinglass.data.text import find_delimiter, read_records
from isinglass.errors import DataError


def sheet_of(text, header="auto"):
    data = text.encode()
    return lay_out(read_records(data, find_delimiter(data), Limits()), Vocabulary(), header)


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("a,b\n0,1\n", ["a", "b"]),
        ("0,1\n1,1\n", None),
        ("Q1,Q2\nYes,No\nNo,No\n", ["Q1", "Q2"]),
        ("Yes,No\nNo,No\nYes,Yes\n", None),  # its words come again below
        ("Yes,No\nNo,Yes\nYes,Yes\n", None),  # and this one in the other column
        ("Yes,No\nNo,Yes\n", None),
        ("a,b\nc,a\nd,b\nc,b\n", None),
        ("who,a,b,c\na,0,1,1\nb,1,0,1\nc,1,1,0\n", ["who", "a", "b", "c"]),  # row names may be those of the columns
        (",a,b\na,0,1\nb,1,0\n", ["", "a", "b"]),
        ("a,,\n0,1,0\n0,1,1\n", ["a", "", ""]),
        ("r1,,\nr2,1,1\n", None),  # an empty row with a name
        (",,\n0,1,1\n", None),
        ("r1,0,1\nr2,1,1\n", None),  # the first column may hold row names
        ("who,a,b\nr1,0,1\nr2,1,1\n", ["who", "a", "b"]),
        ("1,2,3\n0,1,1\n1,1,0\n", ["1", "2", "3"]),  # not 0/1, while everything below is
        ("0,1,2\n0,1,1\n", ["0", "1", "2"]),
        ("0.3,1.5\n0.1,2.5\n", None),  # numbers to be cut
        ("2,3\n3,2\n", None),
        (",a\n0,1\n1,0\n", ["", "a"]),
        ("NA,1\n1,0\n", None),
        ("a,b,c,Yes\n0,1,1,Yes\n1,1,0,No\n", ["a", "b", "c", "Yes"]),
        ("a\n0\n1\n", ["a"]),
        ("TRUE,FALSE\nFALSE,TRUE\n", None),
        ('"  a\n b ",c\n0,1\n', ["a b", "c"]),
        ("a b\nr1 0 1\nr2 1 1\n", ["", "a", "b"]),
    ],
)
def test_header(text, header):
    assert sheet_of(text).names == header


def test_header_can_be_said():
    assert sheet_of("0,1\n1,1\n", header=True).names == ["0", "1"]
    sheet = sheet_of("a,b\n0,1\n", header=False)
    assert sheet.names is None
    assert sheet.column_words(0) == ["a", "0"]
    assert sheet.describe_row(1) == "row 2, line 2"
    assert sheet_of("a,b\n0,1\n").describe_row(0) == "row 1, line 2"


def test_a_header_without_rows():
    for text in ("a,b\n", "a,b"):
        with pytest.raises(DataError, match=r"a table with rows; got a header only\. Pass header=False"):
            sheet_of(text)
    assert sheet_of("0,1").shape == (1, 2)


def test_trailing_delimiters():
    assert sheet_of("a,b,\n0,1,\n1,0,\n").names == ["a", "b"]
    assert sheet_of("0,1,\n1,0,\n").shape == (2, 2)
    assert sheet_of("a,b,\n0,1,\n1,0,1\n").names == ["a", "b", ""]  # it holds something
    assert sheet_of("a,b,c\n0,1,\n1,0,\n").names == ["a", "b", "c"]  # it has a name


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (",a\n0,1\n1,0\n", 0),
        ("id,a\n0,1\n1,0\n", 0),
        ("ID,a\n5,1\n5,0\n", 0),
        ("who,a\nx,1\ny,0\nz,0\n", 0),
        ("who,a\nx,1\ny,0\n", None),  # two values could be data
        ("who,a\nx,1\ny,0\nx,0\n", None),  # not all different
        ("who,a\nx,1\nNA,0\nz,0\n", None),
        ("nr,a\n11,1\n12,0\n13,1\n", 0),
        ("nr,a\n11,1\n13,0\n12,1\n", None),  # numbers out of order may be data, or a mistake
        ("x1,x2\n0.1,1\n0.2,0\n0.3,1\n", None),
        ("a,who\n1,x\n0,y\n0,z\n", None),  # only the first column is looked at
        ("who\nx\ny\nz\n", None),  # nothing would be left
        ("a b\nr1 0 1\nr2 1 1\n", 0),
    ],
)
def test_row_names(text, found):
    assert sheet_of(text).find_id_column(numbers_are_data=False) == found


def test_numbers_are_not_row_names_where_they_can_be_data():
    text = "nr,a\n11,1\n12,0\n13,1\n"
    assert sheet_of(text).find_id_column(numbers_are_data=True) is None
