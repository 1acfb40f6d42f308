"""Files of Stata and SPSS."""

import datetime
import gzip

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from isinglass import read_table
from isinglass.data import worker
from isinglass.errors import DataError, LimitError

FRAME = pd.DataFrame(
    {
        "person": ["Ann", "Bob", "Eve", "Joe"],
        "votes": [1.0, 2.0, 2.0, 1.0],
        "smokes": [0.0, 1.0, 1.0, 0.0],
        "sings": [1.0, np.nan, 2.0, 2.0],
    }
)
LABELS = {"votes": {1: "Yes", 2: "No"}, "smokes": {0: "No", 1: "Yes"}, "sings": {1: "never", 2: "often"}}


@pytest.fixture(params=["sav", "zsav", "dta"])
def survey(request, tmp_path):
    path = tmp_path / f"survey.{request.param}"
    if request.param == "dta":
        pyreadstat.write_dta(FRAME, path, variable_value_labels=LABELS)
    else:
        pyreadstat.write_sav(FRAME, path, variable_value_labels=LABELS, compress=request.param == "zsav")
    return path


def test_labels_say_which_value_is_one(survey):
    table = read_table(survey, encode="auto", missing="drop")
    assert table.row_names == ("Ann", "Eve", "Joe")
    # Yes is 1 although its code is the smaller one; 0/1 stays; of "never" and "often" the smaller code is 0.
    assert table.encoding == {"votes": ("No", "Yes"), "sings": ("never", "often")}
    assert table.X.tolist() == [[1, 0, 0], [0, 1, 1], [1, 0, 1]]


def test_values_can_be_mapped_by_their_labels(survey):
    table = read_table(survey, encode={"Yes": 1, "No": 0}, columns=["votes", "smokes"])
    assert table.X.tolist() == [[1, 0], [0, 1], [0, 1], [1, 0]]


def test_without_instructions_the_error_shows_the_labels(survey):
    with pytest.raises(DataError, match=r"got 'No', 'Yes' in column 'votes' \(first in row 1\)"):
        read_table(survey)


def test_compressed_once_more(survey, tmp_path):
    packed = tmp_path / f"{survey.name}.gz"
    packed.write_bytes(gzip.compress(survey.read_bytes()))
    assert read_table(packed, columns=["smokes"]).X.tolist() == [[0], [1], [1], [0]]


def test_limits_and_damage(survey):
    with pytest.raises(LimitError, match="max_rows"):
        read_table(survey, max_rows=3)
    with pytest.raises(LimitError, match="max_columns"):
        read_table(survey, max_columns=3)
    survey.write_bytes(survey.read_bytes()[:300])
    with pytest.raises(DataError, match=r"cannot read this (spss|stata) file"):
        read_table(survey)


def test_values_without_a_label_stay_numbers(tmp_path):
    path = tmp_path / "t.sav"
    frame = pd.DataFrame({"q": [1.0, 9.0, 2.0], "r": [0.0, 1.0, 1.0]})
    pyreadstat.write_sav(frame, path, variable_value_labels={"q": {1: "Yes", 2: "No"}})
    with pytest.raises(DataError, match="got 2, 9 in column 'q'"):
        read_table(path)
    assert read_table(path, encode={1: 1, 2: 0, 9: None, 0: 0}, missing="zero").X.tolist() == [[1, 0], [0, 1], [0, 1]]


def test_a_file_that_crashes_the_library_is_one_clear_error(survey, monkeypatch, tmp_path):
    crash = tmp_path / "crash.py"
    crash.write_text("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    monkeypatch.setattr(worker, "__file__", str(crash))
    with pytest.raises(DataError, match=r"cannot read this \w+ file: it ends the program that reads it"):
        read_table(survey)


def test_dates_are_text(tmp_path):
    path = tmp_path / "t.sav"
    pyreadstat.write_sav(pd.DataFrame({"q": [0, 1], "day": [datetime.date(2020, 1, 2)] * 2}), path)
    with pytest.raises(DataError, match="got '2020-01-02' in column 'day'"):
        read_table(path)
    assert read_table(path, drop=["day"]).X.tolist() == [[0], [1]]


def test_an_empty_survey(tmp_path):
    path = tmp_path / "t.sav"
    pyreadstat.write_sav(FRAME[["smokes"]].iloc[:0], path)
    with pytest.raises(DataError, match="no rows"):
        read_table(path)
