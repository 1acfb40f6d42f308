"""Small faults of reading that were found by attack, each by its number."""

import io
import re
import subprocess
import sys
import tomllib
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from isinglass import as_table, read_table
from isinglass.errors import DataError, DataWarning, suppress_warnings


def test_fault_11_import_star_needs_no_matplotlib():
    code = "import sys; sys.modules['matplotlib'] = None\nfrom isinglass import *\nising_path, read_table, report"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_fault_11_almost_one_is_shown_as_it_is():
    with pytest.raises(DataError, match=r"only 0 and 1; got 0\.9999999999999999 in column 0"):
        as_table(np.array([[0.9999999999999999], [0.0]]))
    with pytest.raises(DataError, match=r"got 0\.5 in column 0"):
        as_table(np.array([[0.5], [0.0]]))


def test_house_7_rows_without_an_answer_are_named():
    with pytest.warns(UserWarning, match="1 of 3 rows have no answer at all and are now rows of 0"):
        as_table([[0, 1], [None, None], [1, None]], missing="zero")
    table = as_table([[0, 1], [None, None], [1, None]], missing="drop")
    assert (len(table), table.n_dropped, table.n_missing) == (1, 2, 3)


def test_house_8_advice_can_be_followed(tmp_path):
    from commands import error_line, run

    (tmp_path / "t.csv").write_text("who,a,b\n3,1,0\n1,0,1\n2,1,1\n")
    assert "--id-column '#1'" in error_line(run("fit", tmp_path / "t.csv", code=3))
    run("info", tmp_path / "t.csv", "--id-column", "#1")
    (tmp_path / "d.csv").write_text("a,b,b\n1,1,0\n0,0,1\n")
    assert "--drop '#3'" in error_line(run("info", tmp_path / "d.csv", code=3))
    run("info", tmp_path / "d.csv", "--drop", "#3")


def test_a_file_without_header_of_which_a_column_was_dropped_is_read_again(tmp_path):
    from commands import run

    rows = np.random.default_rng(0).integers(0, 2, (60, 4))
    rows[:, 1] = np.arange(60) % 7
    (tmp_path / "t.csv").write_text("\n".join(",".join(map(str, row)) for row in rows))
    run("fit", tmp_path / "t.csv", "--drop", "#2", "-o", tmp_path / "net")
    assert "60 rows × 3 columns" in run("predict", tmp_path / "net", tmp_path / "t.csv").stderr


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


def test_columns_without_names_are_called_as_options_call_them(tmp_path):
    from commands import run

    (tmp_path / "t.csv").write_text("".join(f"p{n * 7 % 40},{n % 2},{n // 2 % 2}\n" for n in range(40)))
    shown = run("info", tmp_path / "t.csv", "--id-column", "none")
    assert [line.split()[0] for line in shown.stdout.splitlines()[1:3]] == ["#1", "#2"]


def test_fault_11_the_source_distribution_has_what_its_tests_read():
    root = Path(__file__).resolve().parents[2]
    left_out = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["scikit-build"]["sdist"]["exclude"]
    sources = [file.read_text() for file in (root / "tests").rglob("*.py")]
    # Folders of the root: what follows another folder is within that.
    assert [name for name in left_out if any(re.search(rf'(?<!") / "{name}"', source) for source in sources)] == []
