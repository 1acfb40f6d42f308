"""Tables in several files on the command line: a pattern is one table."""

import json

import numpy as np
import pytest
from commands import error_line, run

RNG = np.random.default_rng(0)
X = RNG.integers(0, 2, (300, 4))
X[:, 1] = X[:, 0] ^ (RNG.random(300) < 0.1)


@pytest.fixture
def folder(tmp_path):
    for name, rows in (("p0", X[:100]), ("p1", X[100:]), ("whole", X)):
        np.savetxt(tmp_path / f"{name}.csv", rows, fmt="%d", delimiter=",", header="a,b,c,d", comments="")
    return tmp_path


def test_a_pattern_is_one_table(folder):
    whole = json.loads(run("fit", folder / "whole.csv", "--json").stdout)
    parts = json.loads(run("fit", folder / "p*.csv", "--json", "-o", folder / "out").stdout)
    assert parts["table"] == whole["table"]
    for one, two in zip(whole["edges"], parts["edges"], strict=True):
        assert (one["source"], one["target"]) == (two["source"], two["target"])
        assert two["coupling"] == pytest.approx(one["coupling"], abs=1e-6)
    assert (folder / "out" / "model.npz").exists()


def test_weights_named_at_the_fit_hold_for_predictions(folder):
    rng = np.random.default_rng(1)
    for name, rows in (("w0", X[:100]), ("w1", X[100:])):
        cells = np.column_stack([rows, rng.integers(1, 5, len(rows))])
        np.savetxt(folder / f"{name}.csv", cells, fmt="%d", delimiter=",", header="a,b,c,d,w", comments="")
    assert "whole.csv" in run("fit", folder / "w*.csv", "--weights", "w", code=3).stderr  # it has none
    run("fit", folder / "w?.csv", "--weights", "w", "--alpha", "0.05", "-o", folder / "weighted")
    (folder / "both.csv").write_text(
        (folder / "w0.csv").read_text() + (folder / "w1.csv").read_text().partition("\n")[2], encoding="utf-8"
    )
    both = json.loads(run("predict", folder / "weighted", folder / "both.csv", "--score", "--json").stdout)
    one, two = (
        json.loads(run("predict", folder / "weighted", folder / f"w{k}.csv", "--score", "--json").stdout)
        for k in (0, 1)
    )
    weights = [np.loadtxt(folder / f"w{k}.csv", delimiter=",", skiprows=1)[:, 4].sum() for k in (0, 1)]
    assert both["mean"] == pytest.approx(np.average([one["mean"], two["mean"]], weights=weights), rel=1e-12)
    assert len(X) == both["n_rows"]


def test_a_part_that_disagrees_is_named_and_nothing_is_written(folder):
    (folder / "p1.csv").write_text("a,b,d,c\n0,1,0,1\n", encoding="utf-8")
    assert "p1.csv" in run("fit", folder / "p*.csv", "-o", folder / "out", code=3).stderr
    assert not (folder / "out").exists()
    assert "nothing*.csv" in run("fit", folder / "nothing*.csv", code=2).stderr


def test_missing_cells_of_parts_are_read_as_zero_or_dropped(tmp_path):
    rng = np.random.default_rng(0)
    for k in range(2):
        rows = [["" if rng.random() < 0.05 else str(rng.integers(2)) for _ in "abc"] for _ in range(60)]
        (tmp_path / f"p{k}.csv").write_text("a,b,c\n" + "\n".join(map(",".join, rows)) + "\n")
    for option, done in (("zero", "read as 0"), ("drop", "dropped with")):
        assert f"missing cells {done}" in run("fit", tmp_path / "p*.csv", "--missing", option).stderr


@pytest.mark.parametrize("weights", [(1, 2, 3), (0.5, 1.5, 2.5)])
def test_the_weights_of_parts_are_described_as_those_of_a_file(tmp_path, weights):
    cells = np.column_stack([X, np.resize(weights, len(X))])
    for name, rows in (("p0", cells[:100]), ("p1", cells[100:]), ("whole", cells)):
        np.savetxt(tmp_path / f"{name}.csv", rows, fmt="%g", delimiter=",", header="a,b,c,d,w", comments="")
    words = ["--weights", "w", "--weight-kind", "counts" if weights[0] == 1 else "sampling"]
    whole, parts = (run("fit", tmp_path / name, *words, "--json") for name in ("whole.csv", "p*.csv"))
    (said,) = [line.partition("weights 'w': ")[2] for line in whole.stderr.splitlines() if "weights 'w'" in line]
    assert f"{sum(weights) * 100:g}" in said
    assert f"weights 'w': {said}" in parts.stderr
    known, found = (json.loads(each.stdout)["table"]["sum_of_weights"] for each in (whole, parts))
    assert found == pytest.approx(known, rel=1e-12)


def test_other_commands_read_one_file(folder):
    run("fit", folder / "whole.csv", "--alpha", "0.05", "-o", folder / "out")
    for command in (["report", folder / "out"], ["predict", folder / "out"], ["info"]):
        line = error_line(run(*command, folder / "p*.csv", code=2))
        assert line.endswith("p*.csv' does not exist.")
