"""isinglass info, the options that say how a table is read, and tables that are refused."""

import gzip
import os
import re
from types import SimpleNamespace

import numpy as np
import objectives as objective
import pytest
from commands import NAMES, data_error, draw_rows, error_line, read_csv, read_json, run, write_csv, write_table

from isinglass import Method, _core, ising_path
from isinglass.cli import info as table_info

X = draw_rows()


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write_table(tmp_path_factory.mktemp("tables") / "table.csv")


def facts(text: str) -> dict[str, str]:
    """Return the lines below the table of columns."""
    lines = text.partition("\n\n")[2].splitlines()
    return {line.split()[0]: line.split(maxsplit=1)[1] for line in lines if not line.startswith("      ")}


# ------------------------------------------------------------------------------------------- info


def test_info_counts(tmp_path):
    columns = {
        "a": [0, 1, 0, 1, 0, 1, 1, 0] * 5,
        "not a": [1, 0, 1, 0, 1, 0, 0, 1] * 5,
        "rare": [1] + [0] * 39,
        "always": [1] * 40,
        "free": [0, 0, 1, 1] * 10,
    }
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    rows[3][4] = "NA"
    table = write_csv(tmp_path / "t.csv", list(columns), rows)
    record = read_json(run("info", table, "--json").stdout, "info")
    assert record["n_rows"] == 40
    assert record["n_columns"] == 5
    assert record["n_missing"] == 1
    assert record["constant_columns"] == ["always"]
    assert [column["name"] for column in record["columns"] if "duplicate" in column["notes"]] == ["a", "not a"]
    assert record["alpha_max"] is None
    assert record["n_distinct_rows"] == len({tuple(row) for row in rows})
    text = facts(run("info", table).stdout)
    assert text["Rows"].startswith("40, ")
    assert text["Constant"] == "1: always"
    assert text["Missing"] == "1 cell (0.5%) in 1 row"
    assert record["estimate"]["bytes"] == _core.path_bytes(record["n_distinct_rows"], 5, 0)
    assert "with all pairs" in text["Memory"]
    assert re.fullmatch(r"about [\d.]+ m?s for the default fit without standard errors", text["Time"])


def test_info_of_numbers(tmp_path):
    rng = np.random.default_rng(0)
    score = rng.normal(size=600)
    rows = [[*row, int(row[1] > 0)] for row in zip(rng.integers(18, 98, 600), score.round(4), strict=True)]
    table = write_csv(tmp_path / "n.csv", ["age", "score", "high"], rows)
    shown = run("info", table)
    lines = shown.stdout.splitlines()
    assert lines[0].split() == ["Column", "Kind", "Values", "Missing", "Notes"]
    assert lines[1].split()[:2] == ["age", "continuous?"]
    assert re.search(r"grid \S+ to \S+, 6 values beyond", shown.stdout)
    assert "Fit needs" in shown.stdout
    assert "--continuous age,score" in " ".join(shown.stdout.split())
    names = ["length of the sepal (cm)", "width of the sepal (cm)", "length of the petal (cm)", "kind"]
    other = write_csv(
        tmp_path / "long.csv", names, [[*row[:2], row[0] / 7, "abc"[k % 3]] for k, row in enumerate(rows)]
    )
    needed = "--nominal kind --continuous 'length of the sepal (cm):length of the petal (cm)'"
    assert f"Fit needs  {needed}\n" in run("info", other).stdout  # on one line, to be copied
    text = facts(shown.stdout)
    assert text["Kinds"] == "1 binary, 2 continuous"
    assert "Never" not in text
    record = read_json(run("info", table, "--json").stdout, "info")
    assert record["estimate"]["n_tried"] in (250, 500, 600)


def test_info_of_weights(tmp_path):
    table = write_csv(tmp_path / "w.csv", ["a", "b", "w"], [[0, 1, 3], [1, 0, 1], [1, 1, 0]])
    record = read_json(run("info", table, "--weights", "w", "--json").stdout, "info")
    assert record["sum_of_weights"] == 4.0
    assert (record["effective_rows"], record["weight_kind"]) == (4.0, "counts")
    assert record["constant_columns"] == []
    options = "--weights", "w", "--weight-kind"
    assert "Weights    counts of 4 rows\n" in run("info", table, *options, "counts").stdout
    said = "sampling weights, sum 4, worth 1.6 rows of equal weight"
    assert said in run("info", table, *options, "sampling").stdout
    record = read_json(run("info", table, *options, "sampling", "--json").stdout, "info")
    assert (record["effective_rows"], record["weight_kind"]) == (pytest.approx(16 / 10), "sampling")


def test_info_has_the_smallest_penalty_without_edges(table):
    record = read_json(run("info", table, "--json").stdout, "info")
    assert record["alpha_max"] == pytest.approx(objective.alpha_max(X), rel=1e-12)


def test_info_counts_only_observed_cells(tmp_path):
    rng = np.random.default_rng(0)
    twin = rng.integers(0, 2, 60)
    cells = np.array([np.ones(60), rng.integers(0, 2, 60), twin, twin]).T.astype(object)
    cells[rng.random(cells.shape) < 0.3] = ""
    cells[:, 3] = cells[:, 2]
    binary = write_csv(tmp_path / "binary.csv", ["always", "b", "c", "twin"], cells.tolist())
    record = read_json(run("info", binary, "--json").stdout, "info")
    assert record["constant_columns"] == ["always"]
    assert [column["name"] for column in record["columns"] if "duplicate" in column["notes"]] == ["c", "twin"]
    assert record["n_distinct_rows"] == len({tuple(row) for row in cells.tolist()})
    text = facts(run("info", binary).stdout)
    assert text["Kinds"] == "4 binary"
    assert "alpha_max" not in text


def test_info_extrapolates_the_time_of_fits_to_more_and_more_rows(tmp_path, monkeypatch):
    """Fits of n rows take n ** 1.25 milliseconds by this clock."""
    clock, sizes = [0.0], []

    def fit(self, rows, *, run):
        sizes.append(len(rows))
        clock[0] += len(rows) ** 1.25 / 1000
        return SimpleNamespace(selection=SimpleNamespace(left_out=""))

    monkeypatch.setattr(Method, "fit", fit)
    monkeypatch.setattr(table_info, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    monkeypatch.setattr(table_info, "TRIAL", 3.0)
    table = write_csv(tmp_path / "t.csv", ["a", "b"], np.random.default_rng(0).integers(0, 2, (4000, 2)).tolist())
    estimate = read_json(run("info", table, "--json").stdout, "info")["estimate"]
    assert (sizes, estimate["n_tried"], estimate["finished"]) == ([250, 500], 500, True)
    assert estimate["seconds"] == pytest.approx(500**1.25 / 1000 * 8)


def test_info_says_that_trials_of_imputed_tables_have_no_standard_errors(tmp_path):
    holed = X.astype(float)
    holed[::9, 1] = np.nan
    np.savetxt(tmp_path / "holes.csv", holed, fmt="%g", delimiter=",")
    time = facts(run("info", tmp_path / "holes.csv", "--missing", "impute").stdout)["Time"]
    assert " for the default fit without standard errors" in time


def test_info_does_not_take_a_trial_cut_short_for_a_fit(table, monkeypatch):
    monkeypatch.setattr(table_info, "TRIAL", 1e-9)
    text = facts(run("info", table).stdout)["Time"]
    n_rows = min(len(X), table_info.TRIAL_ROWS)
    assert re.fullmatch(rf"more than [\d.]+ m?s for the default fit( \(estimated from a fit to {n_rows} rows\))?", text)
    estimate = read_json(run("info", table, "--json").stdout, "info")["estimate"]
    assert (estimate["n_tried"], estimate["finished"]) == (n_rows, False)


def test_info_of_fewer_than_two_columns(tmp_path):
    one = write_csv(tmp_path / "one.csv", ["x"], [[value] for value in (1.5, 2.7, 3.1, 4.9, 5.3, 2.2)])
    assert "a network needs at least two columns" in run("info", one).stdout
    none = write_csv(tmp_path / "none.csv", ["nr", "name"], [[f"p{k}", "abcdef"[k] * 2] for k in range(6)])
    assert "leaves out all: 'name' (names rows)" in data_error("info", none)


def test_info_of_a_table_in_which_nothing_varies():
    text = run("info", "-", stdin="a,b\n1,1\n1,1\n").stdout
    assert facts(text)["Constant"] == "2: a, b"
    assert facts(text)["Time"] == "nothing to fit"
    assert facts(text)["alpha_max"].startswith("0, ")


def test_names_cannot_command_the_terminal(tmp_path):
    table = write_csv(tmp_path / "t.csv", ["\x1b[2Jgone", "b"], [[1, 0], [1, 1]])
    text = run("info", table).stdout
    assert "\x1b" not in text
    assert "\\x1b[2Jgone" in text


# ------------------------------------------------------------------------------------------- how it is read


def objectives(*words: object, **options: object) -> list[float]:
    record = read_json(run("fit", *words, "--alpha", "0.1", "--json", **options).stdout, "fit")
    return [record["network"]["objective"]]


WANTED = ising_path(X, [0.1]).objective.tolist()


def test_answers(tmp_path):
    words = np.where(X == 1, "agree", "disagree")
    table = write_csv(tmp_path / "a.csv", NAMES, words.tolist())
    assert objectives(table, "--encode", "agree=1,disagree=0") == pytest.approx(WANTED)
    assert "--encode" in data_error("fit", table)
    for wrong in ("agree", "agree=two,disagree=0", "agree=1,agree=0"):
        run("fit", table, "--encode", wrong, code=2)
    run("fit", table, "--encode", "agree=2,disagree=0", code=3)  # of columns of categories alone


def test_missing(tmp_path):
    cells = X.astype(object)
    cells[5, 2] = cells[9, 0] = "-9"
    table = write_csv(tmp_path / "m.csv", NAMES, cells.tolist())
    line = data_error("fit", table, "--na", "-9")
    assert "--missing zero" in line
    assert "line 7" in line or "line 11" in line
    zero = X.copy()
    zero[5, 2] = zero[9, 0] = 0
    assert objectives(table, "--na", "-9", "--missing", "zero") == pytest.approx(ising_path(zero, [0.1]).objective)
    rest = np.delete(X, [5, 9], axis=0)
    assert objectives(table, "--na", "-9", "--missing", "drop") == pytest.approx(ising_path(rest, [0.1]).objective)
    assert objectives(table, "--encode", "0=0,1=1,-9=", "--missing", "drop") == pytest.approx(
        ising_path(rest, [0.1]).objective
    )


def test_spins_and_thresholds(tmp_path):
    spins = write_csv(tmp_path / "s.csv", NAMES, (2 * X.astype(int) - 1).tolist())
    assert objectives(spins, "--encode", "-1=0,1=1") == pytest.approx(WANTED)
    assert "use --encode auto" in data_error("fit", spins)
    numbers = write_csv(tmp_path / "n.csv", NAMES, (3.5 * X).tolist())
    assert objectives(numbers, "--binarize", "2") == pytest.approx(WANTED)


def test_columns_rows_and_delimiters(tmp_path):
    plain = "\n".join(";".join(map(str, row)) for row in X.tolist()) + "\n"
    (tmp_path / "p.txt").write_text(plain)
    assert objectives(tmp_path / "p.txt", "--no-header", "--delimiter", ";") == pytest.approx(WANTED)
    extra = [[f"r{k}", 18 + k, *row] for k, row in enumerate(X.tolist())]
    table = write_csv(tmp_path / "e.csv", ["id", "age", *NAMES], extra)
    assert objectives(table, "--id-column", "id", "--drop", "age") == pytest.approx(WANTED)
    assert objectives(table, "--id-column", "#1", "--drop", "#1") == pytest.approx(WANTED)
    kept = [word for name in NAMES for word in ("--columns", f'"{name}"')]
    assert objectives(table, *kept) == pytest.approx(WANTED)
    assert "'nobody'" in data_error("fit", table, "--drop", "nobody")


def test_compressed_and_binary_files(tmp_path, table):
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(table.read_bytes()))
    assert objectives(tmp_path / "t.csv.gz") == pytest.approx(WANTED)
    np.save(tmp_path / "t.npy", X)
    assert objectives(tmp_path / "t.npy") == pytest.approx(WANTED)
    assert objectives("-", stdin=gzip.compress(table.read_bytes())) == pytest.approx(WANTED)


# ------------------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("command", ["fit", "info", "bootstrap"])
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"a,b\n",
        b"a,b\n1,0\n1\n",
        b"a,b\n1,2\n0,1\n",
        b"a,b\n1,1e300\n0,1\n",
        b"a,b\n1,NaN\n0,maybe\n",
        b"a,b\nyes,no\nno,yes\n",
        b"a,a\n1,0\n0,1\n",
        b"\x89PNG\r\n\x1a\n\x00\x00",
        b"\xff\xfea\x00,\x00",
        b"a,b\n1,\xff\n",
    ],
)
def test_bad_tables_give_one_line(command, content):
    if command == "info" and content in (b"a,b\n1,2\n0,1\n", b"a,b\n1,1e300\n0,1\n", b"a,b\nyes,no\nno,yes\n"):
        assert "Fit needs  --encode auto" in run(command, "-", stdin=content).stdout  # it guesses
        return
    if command == "info" and b"maybe" in content:
        assert "maybe" in run(command, "-", stdin=content).stdout
        return
    assert data_error(command, "-", stdin=content).startswith("Error: standard input: ")


@pytest.mark.parametrize("command", ["fit", "bootstrap"])
def test_one_column_is_no_network(command):
    assert "two columns" in data_error(command, "-", stdin="a\n1\n0\n1\n")
    assert "1, 0 pairs" in run("info", "-", stdin="a\n1\n0\n").stdout


def test_columns_that_are_not_there_are_bad_data(table):
    """The option is right for some tables and not for this one; the message names the option, and counts the rest."""
    for option in ("--drop", "--weights", "--columns", "--id-column"):
        line = data_error("fit", table, option, "gin")
        assert f"{option} must name a column" in line
        assert "The table has " in line


def test_answers_without_a_meaning_are_named(tmp_path):
    line = data_error("fit", "-", "--encode", "Yes=1,No=0", stdin="a,b\nYes,No\nNo,maybe\n")
    assert "got 'maybe' in column 'b' (first in row 2, line 3)" in line


def test_poor_tables_have_no_edges():
    result = run("fit", "-", stdin="a,b\n1,1\n1,1\n1,1\n")
    assert result.stdout == "source,target,coupling,sign,weight,refitted,std_error\n"


def test_odd_names_survive(tmp_path):
    names = ['"quoted"', "line\nbreak", "=1+1", "ünï 😀", " ", "x" * 300]
    table = write_csv(tmp_path / "odd.csv", names, X.tolist())
    rows = read_csv(run("fit", table, "--alpha", "0.05").stdout)
    found = {row["source"] for row in rows} | {row["target"] for row in rows}
    record = read_json(run("fit", table, "--alpha", "0.05", "--json").stdout, "fit")
    assert found <= {node["name"] for node in record["nodes"]}
    assert "ünï 😀" in found
    assert "x" * 300 in found


@pytest.mark.parametrize("weights", ["-1", "x", "", "inf"])
def test_bad_weights(weights):
    line = data_error("fit", "-", "--weights", "w", stdin=f"a,b,w\n1,0,1\n0,1,{weights}\n1,1,1\n")
    assert "weights" in line


def test_the_options_that_fit_needs_say_which_column_names_the_rows(tmp_path):
    table = write_csv(tmp_path / "t.csv", ["p1", 1, 0], [[f"p{k}", k % 5, k % 2] for k in range(2, 40)])
    needed = next(line for line in run("info", table).stdout.splitlines() if line.startswith("Fit needs"))
    assert needed.split()[2:] == ["--ordinal", "'#1'", "--id-column", "'#1'"]
    run("fit", table, "--ordinal", "#1", "--id-column", "#1", "--alpha", "0.1")


def test_no_such_file(tmp_path):
    assert "does not exist" in error_line(run("fit", tmp_path / "no.csv", code=2))


def test_a_folder_is_no_table(tmp_path):
    assert "is a directory" in error_line(run("fit", tmp_path, code=2))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_may_not_be_read(table, tmp_path):
    locked = tmp_path / "locked.csv"
    locked.write_bytes(table.read_bytes())
    locked.chmod(0)
    assert "not readable" in error_line(run("fit", locked, code=2))


def test_weights_of_zero_are_called_by_their_option():
    line = error_line(run("fit", "-", "--weights", "w", stdin="a,b,w\n0,1,0\n1,1,0\n1,0,0\n", code=3))
    assert "--weights must have a positive sum" in line


@pytest.mark.parametrize("words", [["--delimiter", ";;"], ["--encoding", "nope"], ["--weight-kind", "counts"]])
def test_options_that_no_file_can_be_read_with_are_wrong_usage(table, words):
    assert words[0] in error_line(run("fit", table, *words, code=2))
