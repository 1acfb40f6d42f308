"""isinglass compare and power."""

import numpy as np
import pytest
from commands import draw_rows, error_line, files_of, read_csv, read_json, run, write_csv

from isinglass import compare_groups, load, read_table, save, simulate
from isinglass.errors import DataError
from isinglass.report import write_comparison
from isinglass.select import sample_size

X = draw_rows()
NAMES = [f"item {k}" for k in range(X.shape[1])]
SEX = np.where(np.arange(len(X)) % 2, "women", "men")
WORDS = ["--groups", "sex", "--alpha", "0.02", "-B", "19", "--seed", "3"]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    file = tmp_path_factory.mktemp("groups") / "table.csv"
    subject = np.arange(len(X)) // 2
    rows = [[*cells, sex, f"p{k}"] for cells, sex, k in zip(X.tolist(), SEX, subject, strict=True)]
    return write_csv(file, [*NAMES, "sex", "who"], rows)


def test_labels_are_read_beside_the_table(table, tmp_path):
    data = read_table(table, labels=["sex", "who"])
    assert data.names == tuple(NAMES)
    assert data.labels["sex"] == tuple(SEX)
    assert data[[3, 1]].labels == {"sex": ("women", "women"), "who": ("p1", "p0")}
    (tmp_path / "holes.csv").write_text("a,b,sex\n0,1,m\n,1,m\n1,0,\n1,1,f\n")
    dropped = read_table(tmp_path / "holes.csv", labels=["sex"], missing="drop")
    assert dropped.labels["sex"] == ("m", "f")
    assert (dropped.rows.tolist(), dropped.n_dropped, dropped.n_missing, dropped.n_unlabeled) == ([0, 3], 2, 1, 1)
    with pytest.raises(DataError, match="labels must name a column of the table; got 'gender'"):
        read_table(table, labels=["gender"])
    with pytest.raises(DataError, match="weights and labels must be different columns"):
        read_table(tmp_path / "holes.csv", labels=["a"], weights="a")


def test_compare_is_that_of_the_function(table):
    rows = read_csv(run("compare", table, *WORDS, "--drop", "who").stdout)
    found = compare_groups(X, SEX, 0.02, n_permutations=19, random_state=3)
    wanted = found.edges()
    assert list(rows[0]) == list(wanted)
    assert [float(row["difference"]) for row in rows] == wanted["difference"].tolist()
    assert [float(row["p_family"]) for row in rows] == wanted["p_family"].tolist()
    assert rows[0]["source"].startswith("item ")


def test_compare_paired_and_as_json(table):
    record = read_json(run("compare", table, *WORDS, "--paired", "who", "--json").stdout, "compare")
    found = compare_groups(X, SEX, 0.02, n_permutations=19, random_state=3, paired=np.arange(len(X)) // 2)
    assert record["paired"] is True
    assert record["p_structure"] == found.p_structure
    assert record["strength"] == found.strength
    assert [group["group"] for group in record["groups"]] == ["men", "women"]
    assert len(record["nodes"]) == len(NAMES)


def test_compare_writes_tables_and_a_page(table, tmp_path):
    result = run("compare", table, *WORDS, "--drop", "who", "-o", tmp_path / "out", "--reselect")
    assert list(files_of(tmp_path / "out")) == [
        "edges.csv",
        "groups.csv",
        "methods.txt",
        "nodes.csv",
        "report.html",
        "run.json",
    ]
    assert "Networks by sex" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "men (" in result.stderr


def test_a_numbered_column_of_groups_keeps_its_number(table):
    number = f"#{len(X[0]) + 1}"
    shown = run("compare", table, "--drop", "who", "--groups", number, *WORDS[2:])
    assert f"{number}: men" in " ".join(shown.stderr.split())


def test_bad_groups_are_named(table, tmp_path):
    line = error_line(run("compare", table, "--groups", "gender", "--alpha", "0.1", code=3))
    assert ": --groups must name a column of the table; got 'gender'" in line
    line = error_line(run("compare", table, "--groups", "sex", "--paired", "subject", "--alpha", "0.1", code=3))
    assert ": --groups/--paired must name a column of the table; got 'subject'" in line
    line = error_line(run("compare", table, "--groups", "#9", "--paired", "#10", "--alpha", "0.1", code=3))
    assert ": --groups/--paired must name a column of the table, which has 8; got #9." in line
    line = error_line(run("compare", table, *WORDS, "--paired", "who", "--weights", "who", code=3))
    assert ": --weights and --groups/--paired must be different columns; got 'who'." in line
    line = error_line(run("compare", table, *WORDS, "--paired", "sex", code=2))
    assert line == "Error: --groups and --paired must be different columns."
    (tmp_path / "one.csv").write_text("a,b,sex\n0,1,m\n1,1,m\n1,0,m\n")
    assert "at least two groups" in error_line(run("compare", tmp_path / "one.csv", *WORDS, code=3))
    (tmp_path / "hole.csv").write_text("a,b,sex\n0,1,m\n1,1,m\n1,0,\n1,1,f\n0,0,f\n0,1,f\n")
    line = error_line(run("compare", tmp_path / "hole.csv", *WORDS, code=3))
    assert "--groups must have an entry for every row; got none in 1 of 6 rows (row 3)." in line
    assert "or read the table with --missing drop or --missing impute, which do so." in line
    dropped = read_json(run("compare", tmp_path / "hole.csv", *WORDS, "--missing", "drop", "--json").stdout, "compare")
    assert [group["n_rows"] for group in dropped["groups"]] == [3, 2]
    assert "Rows with 1 missing group label were left out (1 of 6)." in dropped["methods"]
    (tmp_path / "two.csv").write_text("a,b,sex\n0,1,m\n1,1,m\n,0,\n1,1,f\n0,0,f\n0,1,f\n")  # both in one row
    dropped = read_json(run("compare", tmp_path / "two.csv", *WORDS, "--missing", "drop", "--json").stdout, "compare")
    assert "Rows with 1 missing cell (8.3%) and 1 missing group label were left out (" in dropped["methods"]


def test_groups_that_are_separated_are_told_to_set_a_penalty(tmp_path):
    """All rows are independent, for which the selected penalty is 0."""
    table = write_csv(tmp_path / "a.csv", ["a", "b", "g"], [[i % 2, int(i % 3 == 0), int(i < 5)] for i in range(1, 9)])
    line = error_line(run("compare", table, "--groups", "g", "-B", "1", code=3))
    assert "It has no penalty, as asked or as selected: use --alpha > 0" in line
    run("compare", table, "--groups", "g", "-B", "1", "--alpha", "0.1")


@pytest.mark.parametrize("missing", ["impute", "drop"])
def test_rows_without_a_group_or_a_subject_are_left_out(tmp_path, missing):
    rows = [
        [*cells, sex, k // 2]
        for k, (cells, sex) in enumerate(zip(X.tolist(), np.tile(["m", "f"], len(X)), strict=False))
    ]
    rows[0][0] = rows[1][0] = ""
    rows[2][-2] = rows[3][-1] = ""
    table = write_csv(tmp_path / "holes.csv", [*NAMES, "sex", "who"], rows)
    words = ["compare", table, "--groups", "sex", "-B", "2", "--alpha", "0.1", "--missing", missing]
    done = run(*words, "--paired", "who", "--json")
    n_gone = 2 if missing == "impute" else 4
    assert [group["n_rows"] for group in read_json(done.stdout, "compare")["groups"]] == [(len(X) - n_gone) // 2] * 2
    said = "left out 2 of" if missing == "impute" else "2 missing group labels. The"
    assert " ".join(done.stderr.split()).count(said) == 1
    assert "; paired; 2 rows without a label left out" in run(*words, "--paired", "who").stderr


def test_groups_with_different_shares_of_missing_cells_are_bad_data(tmp_path):
    rows = [[*cells, sex] for cells, sex in zip(X.tolist(), SEX, strict=True)]
    for k in range(1, len(rows), 2):  # of women
        rows[k][0] = ""
    table = write_csv(tmp_path / "holes.csv", [*NAMES, "sex"], rows)
    done = run("compare", table, *WORDS[:4], "-B", "2", "--missing", "impute", code=3)
    assert "--groups must have similar shares of missing cells" in " ".join(done.stderr.split())


@pytest.fixture(scope="module")
def pilot(tmp_path_factory):
    """Return a model file that was saved in Python."""
    file = tmp_path_factory.mktemp("pilot") / "pilot.npz"
    save(simulate.chain_network(5, strength=1.0), file)
    return file


def test_power_is_that_of_the_function(pilot, tmp_path):
    words = ["--rows", "50,200", "-B", "3", "--alpha", "0.05", "--seed", "2"]
    rows = read_csv(run("power", pilot, *words).stdout)
    assert [int(row["rows"]) for row in rows] == [50, 200]
    found = sample_size(load(pilot), [50, 200], 0.05, n_repeats=3, random_state=2)
    assert [float(row["correlation"]) for row in rows] == found.sizes()["correlation"].tolist()
    run("power", pilot, *words, "-o", tmp_path / "out")
    assert list(files_of(tmp_path / "out")) == ["power.csv", "power.pdf", "power.png", "run.json"]
    record = read_json(run("power", pilot, *words, "--json").stdout, "power")
    assert [size["rows"] for size in record["power"]] == [50, 200]


def test_power_refuses_what_is_no_list_of_numbers(pilot):
    assert "such as 100,200,400" in error_line(run("power", pilot, "--rows", "100,many", code=2))


# ------------------------------------------------------------------------------------------- figures for print


@pytest.mark.parametrize("kind", ["network", "centrality", "path"])
def test_a_figure_for_print(table, tmp_path, kind):
    net = tmp_path / "net"
    run("fit", table, "--drop", "who,sex", "-o", net)
    run("plot", kind, net, "--width", "85", "-o", tmp_path / "one.png")
    start = (tmp_path / "one.png").read_bytes()
    assert int.from_bytes(start[16:20], "big") == pytest.approx(85 / 25.4 * 300, abs=1)  # dots of the width


def test_wording_of_items_reaches_the_report(table, tmp_path):
    run("fit", table, "--drop", "who,sex", "--alpha", "0.05", "-o", tmp_path / "net")
    (tmp_path / "items.csv").write_text("name,wording\nitem 1,I sleep well.\n")
    run("report", tmp_path / "net", "--attributes", tmp_path / "items.csv", "-o", tmp_path / "page.html")
    assert "I sleep well." in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("n_permutations", "is_cautioned"), [(18, True), (19, False)])
def test_too_few_permutations_to_find_anything_are_said(table, tmp_path, n_permutations, is_cautioned):
    words = [*WORDS[:4], "-B", str(n_permutations), "--drop", "who", "-o", str(tmp_path / "out")]
    printed = run("compare", table, *words)
    assert ("Caution" in printed.stdout + printed.stderr) == is_cautioned
    data = read_table(table, labels=["sex"], drop=["who"])
    found = compare_groups(data, "sex", 0.02, n_permutations=n_permutations)
    assert ("no p-value can be below 0.053" in found.methods_text()) == is_cautioned
    assert ("corrected for all" in found.methods_text()) != is_cautioned
    write_comparison(found, tmp_path / "page.html")
    assert ("too few permutations" in (tmp_path / "page.html").read_text()) == is_cautioned
