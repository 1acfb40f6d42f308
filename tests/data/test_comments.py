"""Comments above the table of a text, and the lines that Qualtrics writes."""

import io

import pytest

from isinglass import read_table
from isinglass.errors import DataError

TABLE = "a,b,c\n1,0,1\n0,1,1\n1,1,0\n"


@pytest.mark.parametrize(
    ("above", "count"),
    [
        ("# made by hand\n\n# twice\n", 2),
        ("# made by hand, twice\r\n", 1),
        ("sep=,\n", 1),  # as Excel has it
        ('"sep=,"\r\n# by hand\r\n', 2),
        ("", 0),
    ],
)
def test_comments_are_left_out_and_counted_as_lines(above, count):
    table = read_table(io.StringIO(above + TABLE, newline=""))
    assert (table.names, table.codes.tolist()) == (("a", "b", "c"), [[1, 0, 1], [0, 1, 1], [1, 1, 0]])
    assert table.detected.get("comments") == (str(count) if count else None)
    with pytest.raises(DataError, match=rf"got 7 in column 'c' \(first in row 3, line {above.count(chr(10)) + 4}\)"):
        read_table(io.StringIO(above + TABLE.replace("1,1,0", "1,1,7"), newline=""))


@pytest.mark.parametrize("text", ["# a,b,c\n1,0,1\n0,1,1\n", "#1,0,1\n#2,1,1\n3,0,1\n", "#,a\n1,0\n2,1\n"])
def test_a_comment_that_may_be_a_header_or_a_row_is_refused(text):
    with pytest.raises(DataError, match=r"line 1 has as many fields as the table\. Remove the line if it is a comment"):
        read_table(io.StringIO(text))


def test_lines_with_a_mark_below_the_header_are_rows():
    assert len(read_table(io.StringIO("# by hand\nwho,a\n#1,1\n#2,0\n"), id_column=0)) == 2
    assert len(read_table(io.StringIO('# by hand\nwho,a\n"x\n# y",1\nz,0\n'), id_column=0)) == 2  # within a field


def test_a_comment_among_the_rows_is_refused_by_its_line():
    with pytest.raises(DataError, match=r"got 1 field in line 4, .*\. It looks like a comment: remove"):
        read_table(io.StringIO("# by hand\na,b\n0,1\n# again\n1,1\n"))


def test_lines_that_qualtrics_writes_below_the_header():
    quoted = '"How often, ""lately""?",Do you smoke?,"And\nnow?"'
    text = "\n".join(["Q1,Q2,Q3", quoted, ",".join(['"{""ImportId"":""QID1""}"'] * 3), "5,1,0", "2,0,1", "3,1,7", ""])
    table = read_table(io.StringIO(text), binarize={"Q1": 2.5, "Q3": 0.5})
    assert table.codes.tolist() == [[1, 1, 0], [0, 0, 1], [1, 1, 1]]
    assert table.variables.wording == ('How often, "lately"?', "Do you smoke?", "And now?")
    assert table.detected["comments"] == "2"
    with pytest.raises(DataError, match=r"got 7 in column 'Q3' \(first in row 3, line 7\)"):
        read_table(io.StringIO(text), binarize={"Q1": 2.5})
    with pytest.raises(DataError, match="a header and no rows"):
        read_table(io.StringIO("".join(text.splitlines(keepends=True)[:4])))
