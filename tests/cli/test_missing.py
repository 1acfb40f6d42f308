"""Tables with holes on the command line: imputed in fit, select and report, shown by info, averaged over by predict."""

import json

import numpy as np
import pytest
from commands import run

from isinglass import complete, read_table, simulate, two_stage


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    truth = simulate.chain_network(5, strength=2.0, fields="balanced")
    cells = simulate.exact_sample(truth, 200, random_state=0).astype(str)
    cells[np.random.default_rng(0).random(cells.shape) < 0.15] = ""
    cells[7] = ""
    path = tmp_path_factory.mktemp("survey") / "survey.csv"
    path.write_text("\n".join([",".join("abcde"), *map(",".join, cells)]) + "\n")
    return path


def test_fit_imputes_as_the_library_does(survey, tmp_path):
    result = run("fit", survey, "--missing", "impute", "-o", tmp_path / "net", "--json")
    table = read_table(survey, missing="impute")
    expected = two_stage(complete(table).table).solution
    found = json.loads(result.stdout)
    assert found["network"]["n_edges"] == expected.n_edges == 4
    assert found["table"]["n_rows"] == 200
    assert "1 row without any answer left out" in result.stderr
    strongest = max(found["edges"], key=lambda edge: abs(edge["coupling"]))
    assert abs(strongest["coupling"]) == pytest.approx(np.abs(expected.edge_values).max())
    run("report", tmp_path / "net", survey, "-o", tmp_path / "page.html")
    score = float(run("predict", tmp_path / "net", survey, "--score").stdout)
    assert -5 * np.log(2) < score < 0
    chances = run("predict", tmp_path / "net", survey).stdout.splitlines()
    assert len(chances) == 201


def test_info_shows_holes_by_column_and_pattern(survey):
    found = json.loads(run("info", survey, "--json").stdout)
    gone = read_table(survey, missing="impute").holes
    assert found["missing_by_column"] == pytest.approx(dict(zip("abcde", gone.mean(axis=0), strict=True)))
    assert found["n_rows_with_holes"] == gone.any(axis=1).sum()
    assert found["n_rows_without_answer"] == 1
    for pattern in found["missing_patterns"]:
        same = (gone == np.isin(list("abcde"), pattern["columns"])).all(axis=1)
        assert pattern["n_rows"] == same.sum()


def test_what_zero_and_drop_did_is_said(survey):
    assert "1 of 200 rows have no answer at all and are now rows of 0" in run("fit", survey, "--missing", "zero").stderr
    dropped = run("fit", survey, "--missing", "drop").stderr
    assert "left out" in dropped
    assert "--missing impute" in dropped
    assert "--missing impute" in run("fit", survey, code=3).stderr
