"""Comments and titles above the table of a text or a sheet, and the lines that Qualtrics writes."""

import io
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest

from isinglass import read_table
from isinglass.data.files.preamble import blank_comments
from isinglass.errors import DataError, DataWarning, suppress_warnings


@pytest.mark.parametrize(
    ("text", "shown", "count"),
    [
        ("# made by hand\n\n# twice\na,b\n0,1\n", "\n\n\na,b\n0,1\n", 2),
        ("# made by hand, twice\na,b\n0,1\n", "\na,b\n0,1\n", 1),  # as many fields as the header
        ("# a,b\n0,1\n1,1\n", " a,b\n0,1\n1,1\n", 0),  # as numpy.savetxt writes a header
        ("# by hand\r\n\r\n# a b c\r\n0 1 0\r\n1 1 1\r\n", "\r\n\r\n a b c\r\n0 1 0\r\n1 1 1\r\n", 1),
        ("# \n0,1\n1,1\n", "\n0,1\n1,1\n", 1),
        ("# by hand\n#a,b\n0,1\n1,1\n", "\n#a,b\n0,1\n1,1\n", 1),
        ("#,a\n1,0\n2,1\n", "#,a\n1,0\n2,1\n", 0),
        ("a,b\n#1,1\n", "a,b\n#1,1\n", 0),
        ("#1,0\n#2,1\n", "#1,0\n#2,1\n", 0),
        ("# by hand\nwho,a\n#1,1\n", "\nwho,a\n#1,1\n", 1),  # a name of a row
        ('# by hand\nwho,a\n"x\n# y",1\n', '\nwho,a\n"x\n# y",1\n', 1),  # within a field
        ("sep=;\na;b\n0;1\n", "\na;b\n0;1\n", 1),  # as Excel has it
        ('"sep=,"\r\n# by hand\r\na,b\r\n0,1\r\n', "\r\n\r\na,b\r\n0,1\r\n", 2),
        ("sep=1,b\n0,1\n", "sep=1,b\n0,1\n", 0),
    ],
)
def test_comments(text, shown, count):
    assert blank_comments(text.encode()) == (shown.encode(), count)


@pytest.mark.parametrize("delimiter", [" ", ",", "\t"])
def test_a_header_of_numpy_names_the_columns(delimiter):
    file = io.StringIO()
    np.savetxt(file, [[1, 0, 1], [0, 1, 1], [1, 1, 0], [0, 0, 1]], header=delimiter.join("abc"), delimiter=delimiter)
    table = read_table(io.StringIO(file.getvalue()))
    assert (table.names, table.shape) == (("a", "b", "c"), (4, 3))
    assert read_table(io.StringIO(file.getvalue()), header=False).shape == (4, 3)


def test_a_comment_among_the_rows_is_refused_by_its_line():
    for n_rows in (1, 1000):
        text = "# by hand\na,b\n" + "0,1\n" * n_rows + "# again\n1,1\n"
        with pytest.raises(DataError, match=rf"got 1 field in line {n_rows + 3}, .*\. It looks like a comment: remove"):
            read_table(io.StringIO(text))


TABLE = "a,b,c\n1,0,1\n0,1,1\n1,1,0\n"


@pytest.mark.parametrize(
    ("text", "count", "said"),
    [
        ("Survey 2020,,\n,,\n" + TABLE, 2, "The 2 lines above the header are taken for titles .* If they hold"),
        (
            "Survey 2020\n\n" + TABLE,
            1,
            "The line above the header is taken for a title .* If it holds data, pass header",
        ),
        ("sep=;\n" + TABLE.replace(",", ";"), 1, None),
        (TABLE, 0, None),
    ],
)
def test_titles_above_the_header_are_left_out(text, count, said):
    with pytest.warns(DataWarning, match=said) if said else nullcontext():
        table = read_table(io.StringIO(text))
    read_table(io.StringIO(text), encode=table.coding)  # says nothing again
    assert table.names == ("a", "b", "c")
    assert table.codes.tolist() == [[1, 0, 1], [0, 1, 1], [1, 1, 0]]
    assert table.detected.get("comments") == (str(count) if count else None)
    broken = io.StringIO(text.replace("0", "7"))
    with suppress_warnings(DataWarning), pytest.raises(DataError, match=f"line {text.count(chr(10)) - 1}"):
        read_table(broken)


@pytest.mark.parametrize("header", [False, "auto"])
@pytest.mark.parametrize("is_sheet", [False, True])
def test_a_row_of_answers_below_a_name_is_no_header(is_sheet, header, tmp_path):
    rows = [["Ann", "", ""], ["Bob", "yes", "no"], ["Eve", "no", "yes"], ["Joe", "no", "no"]]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(map(",".join, rows)))
    if is_sheet:
        path = tmp_path / "t.xlsx"
        pd.DataFrame(rows).to_excel(path, header=False, index=False)
    table = read_table(path, header=header, encode={"yes": 1, "no": 0}, missing="impute")
    assert table.row_names == ("Ann", "Bob", "Eve", "Joe")
    assert table.holes.tolist() == [[True, True], [False, False], [False, False], [False, False]]
    assert "comments" not in table.detected


@pytest.mark.parametrize("header", [False, "auto"])
def test_a_first_row_with_one_answer_is_no_title(header):
    rows = ["yes,,", "yes,no,yes", "no,no,yes", "yes,yes,no"]
    table = read_table(io.StringIO("\n".join(rows)), header=header, encode={"yes": 1, "no": 0}, missing="zero")
    assert table.codes.tolist() == [[1, 0, 0], [1, 0, 1], [0, 0, 1], [1, 1, 0]]


def test_the_wording_of_many_questions_is_found():
    names = [f"Q{k}" for k in range(300)]
    wording, marks = ["How often? " + 260 * "x"] * 300, ['"{""ImportId"":""QID1""}"'] * 300
    rows = [",".join(str((k + n) // 3 % 2) for k in range(300)) for n in range(6)]
    table = read_table(io.StringIO("\n".join([",".join(names), ",".join(wording), ",".join(marks), *rows])))
    assert table.shape == (6, 300)
    assert table.variables.wording[0].startswith("How often?")


def test_lines_that_qualtrics_writes_below_the_header():
    quoted = '"How often, ""lately""?",Do you smoke?,"And\nnow?"'
    text = "\n".join(["Q1,Q2,Q3", quoted, ",".join(['"{""ImportId"":""QID1""}"'] * 3), "5,1,0", "2,0,1", "3,1,7", ""])
    table = read_table(io.StringIO(text), binarize={"Q1": 2.5, "Q3": 0.5})
    assert table.codes.tolist() == [[1, 1, 0], [0, 0, 1], [1, 1, 1]]
    assert table.variables.wording == ('How often, "lately"?', "Do you smoke?", "And now?")
    assert table.detected["comments"] == "2"
    with pytest.raises(DataError, match=r"got 7 in column 'Q3' \(first in row 3, line 7\)"):
        read_table(io.StringIO(text), binarize={"Q1": 2.5})


def test_the_first_sheet_with_a_table_is_read(tmp_path):
    book = pytest.importorskip("openpyxl").Workbook()
    book.active.append(["See the sheet answers."])
    sheet = book.create_sheet("answers")
    for row in (["Survey 2020"], [], ["a", "b", "c"], [1, 0, 1], [0, 1, 7]):
        sheet.append(row)
    book.save(tmp_path / "t.xlsx")
    said = "The 2 lines above the header"
    with pytest.warns(DataWarning, match=said), pytest.raises(DataError, match=r"got 7 in column 'c' .*line 5\)"):
        read_table(tmp_path / "t.xlsx")
    with pytest.warns(DataWarning, match=said):
        table = read_table(tmp_path / "t.xlsx", encode={7: 0, 1: 1, 0: 0})
    assert table.detected["sheet"] == "answers"
