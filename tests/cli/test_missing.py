"""Tables with holes on the command line: imputed in fit and report, shown by info, averaged over by predict."""

import json
from dataclasses import replace

import numpy as np
import pytest
from choices import two_stage
from commands import run

from isinglass import impute, load, read_table, save, simulate


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    truth = simulate.chain_network(5, strength=2.0, fields="balanced")
    cells = simulate.exact_sample(truth, 200, random_state=0).astype(str)
    cells[np.random.default_rng(0).random(cells.shape) < 0.15] = ""
    cells[7] = ""
    path = tmp_path_factory.mktemp("survey") / "survey.csv"
    path.write_text("\n".join([",".join("abcde"), *map(",".join, cells)]) + "\n")
    return path


def test_a_report_takes_the_table_of_a_fit_whose_imputation_was_cut(survey, tmp_path):
    run("fit", survey, "--missing", "impute", "--max-time", "1e-9", "-o", tmp_path / "net")
    fit = load(tmp_path / "net" / "model.npz")
    assert fit.missing.is_cut
    save(replace(fit, selection=replace(fit.selection, left_out="")), tmp_path / "net" / "model.npz")
    run("report", tmp_path / "net", survey, "-o", tmp_path / "page.html")


def test_fit_imputes_as_the_library_does(survey, tmp_path):
    result = run("fit", survey, "--missing", "impute", "-o", tmp_path / "net", "--json")
    table = read_table(survey, missing="impute")
    expected = two_stage(impute(table).table).solution
    found = json.loads(result.stdout)
    assert found["network"]["n_edges"] == expected.n_edges == 4
    assert found["table"]["n_rows"] == 200
    missing = found["missing"]
    gone = table.holes
    kept = gone[~gone.all(axis=1)]
    assert (missing["treatment"], missing["n_left_out"], missing["n_imputations"]) == ("impute", 1, 10)
    assert (missing["n_rows"], missing["n_cells"]) == (200, gone.sum())
    assert missing["column_shares"] == pytest.approx(kept.mean(axis=0))
    assert all(0 < share < 1 for share in missing["column_information"])
    assert all(0 < edge["missing_information"] < 1 for edge in found["edges"])
    assert "1 row without any answer left out" in result.stderr
    strongest = max(found["edges"], key=lambda edge: abs(edge["coupling"]))
    assert abs(strongest["coupling"]) == pytest.approx(np.abs(expected.edge_values).max())
    run("report", tmp_path / "net", survey, "-o", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert '"treatment":"impute"' in page
    assert f"Missing cells ({gone.sum()}, " in page  # in the paragraph for the methods section
    score = float(run("predict", tmp_path / "net", survey, "--score").stdout)
    assert -5 * np.log(2) < score < 0
    chances = run("predict", tmp_path / "net", survey).stdout.splitlines()
    assert len(chances) == 201


def test_info_shows_holes_by_column_and_pattern(survey):
    found = json.loads(run("info", survey, "--json").stdout)
    gone = read_table(survey, missing="impute").holes
    assert [column["missing"] for column in found["columns"]] == pytest.approx(gone.mean(axis=0))
    assert found["n_rows_with_holes"] == gone.any(axis=1).sum()
    assert found["n_missing_patterns"] == len({tuple(row) for row in gone[gone.any(axis=1)]})
    for pattern in found["missing_patterns"]:
        same = (gone == np.isin(list("abcde"), pattern["columns"])).all(axis=1)
        assert pattern["n_rows"] == same.sum()


def test_what_zero_and_drop_did_is_said(survey):
    assert "1 of 200 rows have no answer at all and are now rows of 0" in run("fit", survey, "--missing", "zero").stderr
    dropped = run("fit", survey, "--missing", "drop").stderr
    assert "left out" in dropped
    assert "--missing impute" in run("fit", survey, code=3).stderr


def test_spellings_of_missing_cells_by_column(tmp_path):
    table = tmp_path / "codes.csv"
    table.write_text("a,b\n0,9\n9,1\n1,0\n0,1\n")
    assert json.loads(run("info", table, "--na", "9", "--json").stdout)["n_missing"] == 2
    both = run("info", table, "--na", "a=9", "--na", "#2=9", "--json")
    assert [column["missing"] for column in json.loads(both.stdout)["columns"]] == [0.25, 0.25]
    assert "b       ordinal?  0 < 1 < 9" in run("info", table, "--na", "a=9").stdout  # its 9 may be an answer
    run("fit", table, "--alpha", "0.1", "--missing", "drop", "--na", "a=9", "--na", "b=9", "-o", tmp_path / "net")
    score = run("predict", tmp_path / "net", table, "--score")  # the model remembers
    assert float(score.stdout) < 0


def test_nothing_missing_gives_the_same_network(tmp_path):
    truth = simulate.chain_network(4, strength=2.0, fields="balanced")
    cells = simulate.exact_sample(truth, 100, random_state=0).astype(str)
    path = tmp_path / "whole.csv"
    path.write_text("\n".join([",".join("abcd"), *map(",".join, cells)]) + "\n")
    assert run("fit", path).stdout == run("fit", path, "--missing", "impute").stdout


def test_groups_of_a_table_with_holes(survey, tmp_path):
    lines = survey.read_text().splitlines()
    table = tmp_path / "grouped.csv"
    table.write_text("\n".join([f"{line},{'g' if k == 0 else k % 2}" for k, line in enumerate(lines)]) + "\n")
    words = ["compare", table, "--groups", "g", "-B", 9, "--alpha", 0.05, "--missing", "impute"]
    result = run(*words, "--json")
    found = json.loads(result.stdout)
    assert sum(group["n_rows"] for group in found["groups"]) == 199
    assert "ignoring groups" in result.stderr
    assert "1 row without any answer left out" in result.stderr
    assert run(*words, "-j", 1).stdout == run(*words, "-j", 2).stdout


@pytest.mark.parametrize(
    ("rows", "code", "message"),
    [
        (["0,,1", "1,,0", "1,,1", "0,,0"], 3, "got none in 'b'"),
        ([",,"] * 5, 3, "answer in every column"),
        ([*["0,1,1", "1,,0", "1,,1", "0,,0", ",,"] * 5], 0, "'b' (5 answers)"),
        ([*["0,1,1", "1,0,0"] * 20, *[",,1", "1,,", ",0,"] * 300], 0, "cells, 10 times"),
    ],
    ids=["a column without answers", "no answers", "a column with few", "most cells missing"],
)
def test_bad_tables_have_a_result_or_a_message(tmp_path, rows, code, message):
    path = tmp_path / "bad.csv"
    path.write_text("\n".join(["a,b,c", *rows]) + "\n")
    assert message in run("fit", path, "--missing", "impute", code=code).stderr


@pytest.mark.parametrize("weights", [("0.5", "1.5"), ("0", "1")])
def test_a_weighted_table_is_completed_again_as_in_the_fit(survey, tmp_path, weights):
    lines = survey.read_text().splitlines()
    rows = [f"{line},{weights[k % 2]}" for k, line in enumerate(lines[1:])]
    path = tmp_path / "weighted.csv"
    path.write_text("\n".join([lines[0] + ",w", *rows]) + "\n")
    words = ["--weights", "w", "--weight-kind", "sampling", "--missing", "impute"]
    run("fit", path, *words, "-o", tmp_path / "net")
    run("report", tmp_path / "net", path, "-o", tmp_path / "page.html")
    assert '"treatment":"impute"' in (tmp_path / "page.html").read_text()
