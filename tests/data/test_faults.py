"""Small faults of reading that were found by attack, each by its number."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from isinglass import as_table
from isinglass.errors import DataError


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
