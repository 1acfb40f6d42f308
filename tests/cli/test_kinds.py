"""Columns of categories on the command line: --ordinal and --nominal, and what a model remembers of them."""

import base64
import csv
import io
import json
import re
import shlex

import numpy as np
import pytest
from commands import invoke, run, write_csv

from isinglass import compare_groups, load, read_table
from isinglass._core import path_bytes
from isinglass.show.palette import SIGNS

HEADER = ["a1", "a2", "a3", "party", "vote"]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    trait = rng.normal(size=240)
    columns = [np.digitize(trait + rng.normal(size=240), [-1, 0, 1]) + 1 for _ in range(3)]
    party = np.array(["blue", "green", "red"])[np.digitize(trait + rng.normal(size=240), [-0.5, 0.5])]
    vote = (trait + rng.normal(size=240) > 0).astype(int)
    file = tmp_path_factory.mktemp("kinds") / "survey.csv"
    rows = zip(*(column.tolist() for column in (*columns, party, vote)), strict=True)
    file.write_text("\n".join([",".join(HEADER), *(",".join(map(str, row)) for row in rows)]) + "\n")
    return file


KINDS = ("--ordinal", "a1:a3", "--nominal", "party")


def test_ranges_patterns_names_and_numbers(table):
    expected = ("ordinal", "ordinal", "ordinal", "nominal", "binary")
    for keys in (["a1:a3"], ["a*"], ["#1:#3"], ["a1", "a2", "a3"], [0, 1, 2]):
        kinds = {**dict.fromkeys(keys, "ordinal"), "party": "nominal"}
        assert read_table(table, kinds=kinds).variables.kinds == expected
    kept = read_table(table, kinds={3: "nominal", "a?": "ordinal"}, columns=["party", "a2"])  # numbers of the file
    assert kept.variables.kinds == ("nominal", "ordinal")


def test_advice_holds_where_another_option_names_the_row_labels(tmp_path):
    """Numbers of columns would shift by one: row labels are not counted unless an option uses them."""
    rng = np.random.default_rng(0)
    answers = rng.choice(["red", "blue", "green"], (60, 2)).tolist()
    rows = [[f"p{k}", *both, k % 2, k // 2 % 2] for k, both in enumerate(answers)]
    file = write_csv(tmp_path / "shift.csv", ["id", "a, b", "c, d", "e", "f"], rows)
    advice = json.loads(run("info", file, "--json").stdout)["options"]
    assert advice == """--nominal '"a, b","c, d"'"""
    for more in ([], ["--drop", "id"]):
        done = run("fit", file, *shlex.split(advice), *more, "--alpha", "0.1", "-o", tmp_path / "net", "--force")
        assert done.exit_code == 0, done.stderr
        assert load(tmp_path / "net" / "model.npz").network.kinds == ("nominal", "nominal", "binary", "binary")


def test_a_model_remembers_them(table, tmp_path):
    assert run("fit", table, *KINDS, "--alpha", "0.1", "-o", tmp_path / "net").exit_code == 0
    fit = load(tmp_path / "net" / "model.npz")
    assert fit.network.kinds == ("ordinal", "ordinal", "ordinal", "nominal", "binary")
    answer = run("predict", tmp_path / "net", table)
    assert answer.exit_code == 0
    header, first, *_ = csv.reader(io.StringIO(answer.stdout))
    assert header[:4] == ["a1=1", "a1=2", "a1=3", "a1=4"]
    assert header[12:] == ["party=blue", "party=green", "party=red", "vote=0", "vote=1"]
    P = np.array(first, dtype=float)
    np.testing.assert_allclose([P[:4].sum(), P[12:15].sum(), P[15:].sum()], 1.0, atol=5e-6)
    score = run("predict", tmp_path / "net", table, "--score")
    expected = fit.network.log_pseudolikelihood(fit.read(read_frame(table))).mean()
    assert float(score.stdout) == pytest.approx(expected, rel=1e-5)


def test_blocks_are_written_and_go_when_there_are_none(table, tmp_path):
    net = tmp_path / "net"
    first = run("fit", table, *KINDS, "--alpha", "0.05", "-o", net)
    assert "blocks.csv" in first.stderr
    lines = list(csv.DictReader(io.StringIO((net / "blocks.csv").read_text(encoding="utf-8"))))
    network = load(net / "model.npz").network
    assert len(lines) == sum(block.size for block in network.blocks)
    by_party = [float(line["coupling"]) for line in lines if (line["source"], line["target"]) == ("a1", "party")]
    assert len(by_party) == 3
    assert sum(by_party) == pytest.approx(0.0, abs=1e-12)
    again = run("fit", table, "--drop", "a2,a3,party", "--binarize", "a1=2", "-o", net)
    assert "blocks.csv" not in again.stderr
    assert not (net / "blocks.csv").exists()


def test_an_exact_name_goes_before_a_pattern(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("q1,q2,q3\n" + "".join(f"{k % 3},{k % 5},{k % 2}\n" for k in range(60)))
    printed = run("info", file, "--ordinal", "q1", "--nominal", "q*", "--json").stdout
    assert [column["kind"] for column in json.loads(printed)["columns"]] == ["ordinal", "nominal", "binary"]
    refused = run("info", file, "--ordinal", "q*", "--nominal", "*1", code=3).stderr
    assert "column 'q1' must have one kind; got 'q*': 'ordinal' and '*1': 'nominal'." in refused


def test_indicator_columns_are_one_node_of_the_model(tmp_path):
    rng = np.random.default_rng(1)
    color = rng.integers(0, 3, 200)
    rows = np.column_stack([color == 1, rng.integers(0, 2, 200), *(color == k for k in range(3))]).astype(int)
    file = tmp_path / "indicators.csv"
    header = "a,b,color_red,color_green,color_blue"
    file.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows.tolist())]) + "\n")
    run("fit", file, "--combine-indicators", "--alpha", "0.02", "-o", tmp_path / "net")
    assert "green" in (tmp_path / "net" / "blocks.csv").read_text()
    first = run("predict", tmp_path / "net", file, "--impute").stdout.splitlines()[:2]
    assert first == ["a,b,color", f"{rows[0, 0]},{rows[0, 1]},{('red', 'green', 'blue')[color[0]]}"]


def read_frame(table):
    import pandas as pd

    return pd.read_csv(table)


def test_missing_cells_are_filled_with_categories(table, tmp_path):
    run("fit", table, *KINDS, "--alpha", "0.1", "-o", tmp_path / "net")
    holed = tmp_path / "holed.csv"
    lines = table.read_text().splitlines()
    holed.write_text("\n".join([lines[0], ",2,1,red,1", "3,,2,,0", *lines[3:10]]) + "\n")
    answer = run("predict", tmp_path / "net", holed, "--impute")
    assert answer.exit_code == 0
    rows = list(csv.reader(io.StringIO(answer.stdout)))
    assert rows[0] == HEADER
    assert rows[1][1:] == ["2", "1", "red", "1"]
    assert rows[1][0] in "1234"
    assert rows[2][3] in ("blue", "green", "red")
    assert rows[3:] == [line.split(",") for line in lines[3:10]]


def test_a_level_that_the_fit_did_not_see(table, tmp_path):
    run("fit", table, *KINDS, "--alpha", "0.1", "-o", tmp_path / "net")
    other = tmp_path / "other.csv"
    other.write_text("\n".join([",".join(HEADER), "1,2,3,pink,0"]) + "\n")
    answer = run("predict", tmp_path / "net", other, code=3)
    assert "got 'pink' in column 'party'" in answer.stderr
    assert "'blue', 'green', 'red'" in answer.stderr


def test_normal_scores_of_ordered_categories_are_refused_by_the_name_of_the_option(table):
    said = run("fit", table, *KINDS, "--normal-scores", "a1", code=3).stderr
    assert "--normal-scores must be for continuous columns; got column 'a1', which is ordinal." in said
    said = run("fit", table, *KINDS, "--normal-scores", "vote", code=3).stderr
    assert "must be for continuous columns; got column 'vote', which has fewer than three values." in said


def test_info_shows_kinds_and_levels(table):
    answer = run("info", table, *KINDS)
    assert answer.exit_code == 0
    assert "1 binary, 3 ordinal, 1 nominal" in answer.stdout
    assert "party   nominal  blue, green, red" in answer.stdout
    assert "a1      ordinal  1 < 2 < 3 < 4" in answer.stdout
    record = json.loads(run("info", table, *KINDS, "--json").stdout)
    assert record["kinds"]["party"] == "nominal"
    assert record["categories"]["a1"] == [1, 2, 3, 4]
    assert record["estimate"]["bytes"] is None  # not known where a pair has a table
    alone = run("info", table, "--ordinal", "a1:a3", "--drop", "party")
    assert "Memory  " in alone.stdout
    record = json.loads(run("info", table, "--ordinal", "a1:a3", "--drop", "party", "--json").stdout)
    assert record["estimate"]["bytes_dense"] == path_bytes(record["n_distinct_rows"], 4, 6)


def test_groups_are_compared(table, tmp_path):
    rows = table.read_text().splitlines()
    by = tmp_path / "by.csv"
    by.write_text("\n".join([f"{rows[0]},sex", *(f"{row},{'fm'[k % 2]}" for k, row in enumerate(rows[1:]))]) + "\n")
    words = ["--groups", "sex", *KINDS, "--alpha", "0.02", "-B", "19", "--seed", "3"]
    record = json.loads(run("compare", by, *words, "--json").stdout)
    data = read_table(table, kinds={"a1:a3": "ordinal", "party": "nominal"})
    sex = np.where(np.arange(len(data.codes)) % 2, "m", "f")
    found = compare_groups(data, sex, 0.02, n_permutations=19, random_state=3)
    assert (record["p_structure"], record["strength"]) == (found.p_structure, found.strength)
    run("compare", by, *words, "-o", tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "the edge weight is the norm of a table" in page
    assert "3 ordinal variables (4 categories) and 1 nominal variable (3 categories)" in page
    figures = [base64.b64decode(each).decode() for each in re.findall(r"data:image/svg\+xml;base64,([^\"]+)", page)]
    drawn = [f"stroke: {SIGNS[0]}" in figure for figure in figures[:2]]
    assert drawn == [bool((network.edge_signs == 0).any()) for network in found.networks]
    assert any(drawn)  # edges of party have no sign
    lines = list(csv.DictReader(io.StringIO((tmp_path / "out" / "edges.csv").read_text())))
    at = {(line["source"], line["target"]): float(line["coupling in f"]) for line in lines}
    network = found.networks[0]
    for (s, t), value in zip(network.edge_index.tolist(), network.edge_values.tolist(), strict=True):
        assert at[network.names[s], network.names[t]] == value
    assert min(value for pair, value in at.items() if "party" in pair) >= 0.0


def test_bad_groups_of_categories(table, tmp_path):
    header, *rows = table.read_text().splitlines()
    words = ["--groups", "sex", *KINDS, "--alpha", "0.02", "-B", "3"]

    def written(labels, changed=rows):
        text = [f"{header},sex", *(f"{row},{label}" for row, label in zip(changed, labels, strict=True))]
        (tmp_path / "by.csv").write_text("\n".join(text) + "\n")
        return tmp_path / "by.csv"

    for labels, message in (
        (["m"] * 240, "at least two groups; got 'm' in all 240 rows"),
        (["m"] * 239 + ["f"], "at least two rows each; got one row in 'f'"),
        (["m"] * 120 + [""] * 2 + ["f"] * 118, "got none in 2 of 240 rows"),
    ):
        assert message in " ".join(run("compare", written(labels), *words, code=3).stderr.split())
    constant = [row.replace("green", "blue").replace("red", "blue") if k < 120 else row for k, row in enumerate(rows)]
    answer = run("compare", written(["m"] * 120 + ["f"] * 120, constant), *words)
    assert "constant in group 'm': column 'party' (always blue)" in " ".join(answer.stderr.split())
    lines = list(csv.DictReader(io.StringIO(answer.stdout)))
    assert all(float(line["coupling in m"]) == 0.0 for line in lines if "party" in (line["source"], line["target"]))


def test_words_get_an_order(tmp_path):
    file = tmp_path / "words.csv"
    file.write_text("a,b\n" + "never,0\noften,1\nrarely,1\nnever,1\n" * 5)
    answer = run("info", file, "--ordinal", "a", code=3)
    assert "needs an order" in answer.stderr
    assert "--encode" in answer.stderr
    answer = run("info", file, "--ordinal", "a", "--encode", "never=0,rarely=1,often=2")
    assert "never < rarely < often" in answer.stdout
    file.write_text("a,b\n" + "never,no\noften,yes\nrarely,yes\nnever,yes\n" * 5)  # one mapping, two kinds of columns
    answer = run("info", file, "--ordinal", "a", "--encode", "never=0,rarely=1,often=2,no=0,yes=1")
    assert "never < rarely < often" in answer.stdout
    assert "1 binary, 1 ordinal" in answer.stdout


def test_clear_errors(table):
    for words, message, code in (
        (["--ordinal", "z1:a3"], "--ordinal must name a column of the table; got 'z1'", 3),
        (["--ordinal", "a3:a1"], "--ordinal must name a range from left to right", 3),
        (["--nominal", "z*"], "--nominal must name a column of the table; got 'z*'", 3),
        (["--nominal", "#99"], "got #99", 3),
        (["--drop", "#99"], "got #99", 3),
        (["--weights", "#99"], "got #99", 3),
        (["--ordinal", "a1", "--nominal", "a1"], "two about a1", 2),
        ([], "State its kind (--ordinal, --nominal or --continuous), ", 3),
    ):
        answer = invoke("info" if words else "fit", table, *words)
        assert answer.exit_code == code
        assert message in " ".join(answer.stderr.split())


def test_numbers_of_a_column_that_is_left_out_are_shown_in_order(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{k % 2},{30 - k},{k % 3}" for k in range(30)]
    path.write_text("\n".join(["a,id,b", *rows]) + "\n")
    out = run("info", path).stdout
    assert re.search(r"^id +left out +1, 2, 3, 4", out, re.MULTILINE), out


def test_encode_says_what_to_do_instead():
    text = "a,b\n1,x\n2,y\n3,x\n"
    line = run("fit", "-", "--encode", "a=1=0,2=1,3=2", stdin=text, code=3).stderr
    assert "Columns with more categories are declared with --ordinal." in line
    assert "to 0, 1 or missing (--encode 3=); got 2" in line
    line = run("fit", "-", "--encode", "x=1", stdin=text, code=3).stderr
    assert "the table must hold only 0 and 1; got 2, 3 in column 'a'" in line
    rows = "".join(f"{k % 3},{'xy'[k % 2]}\n" for k in range(30))
    line = run("fit", "-", stdin=f"a,b\n{rows}", code=3).stderr
    assert "`isinglass info FILE` proposes a kind for every column." in line
    line = run("fit", "-", "--ordinal", "a", "--binarize", "a=1", stdin=text, code=3).stderr
    assert "--binarize and --ordinal, --nominal or --continuous must not name the same column" in line
    said = run("fit", "-", "--encode", "a=1=0,2=1", "--encode", "a=1=0,2=2", stdin=text, code=2).stderr
    assert "must say one thing about a column; got two about a" in " ".join(said.split())


@pytest.mark.parametrize("others", ["auto", "yes=1,no=0"])
def test_encode_of_a_column_leaves_the_others_to_encode_of_all(others, tmp_path):
    rows = ["good,yes", "bad,no", "fair,yes", "good,no", "bad,no", "fair,yes"]
    table = tmp_path / "t.csv"
    table.write_text("\n".join(["opinion,vote", *rows]))
    words = ["--ordinal", "opinion", "--encode", "opinion=bad=0,fair=1,good=2"]
    advised = " ".join(run("info", table, *words).stdout.split())
    assert "Fit needs --encode auto" in advised
    run("fit", table, *words, "--encode", others, "-o", tmp_path / "net")
    variables = load(tmp_path / "net" / "model.npz").network.variables
    assert variables.categories == (("bad", "fair", "good"), ("no", "yes"))


def test_the_table_of_a_model_without_its_weights_is_told_how_to_do_without(tmp_path):
    rows = [f"{k % 2},{k // 2 % 2},{1 + k % 3}" for k in range(12)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,w", *rows]))
    (tmp_path / "u.csv").write_text("\n".join(["a,b", *(row[:3] for row in rows)]))
    run("fit", tmp_path / "t.csv", "--weights", "w", "-o", tmp_path / "net")
    line = run("predict", tmp_path / "net", tmp_path / "u.csv", "--score", code=3).stderr
    assert "must have the row weights of the fit, 'w'. If it has none, pass --weights none." in " ".join(line.split())
    run("predict", tmp_path / "net", tmp_path / "u.csv", "--score", "--weights", "none")


def test_weights_of_zero_are_refused_in_one_line(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,w\n1,0,0\n0,1,0\n0,0,0\n")
    said = run("fit", tmp_path / "t.csv", "--weights", "w", code=3).stderr
    assert said.count("\n") == 1
    assert "--weights must have a positive sum" in said
