"""isinglass demo: what it prints agrees with an independent solution of the Senate network."""

import json
import re

import pytest
from commands import files_of, read_csv, read_json, run, run_process

FILES = {"report.html", "senate.png", "network.gexf", "edges.csv", "nodes.csv", "model.npz", "run.json"}


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Return what a process prints, and the folder it fills."""
    folder = tmp_path_factory.mktemp("demo") / "demo"
    return run_process("demo", "-o", folder), folder


@pytest.fixture(scope="module")
def again(tmp_path_factory):
    """Return another folder, filled by this process, with what it reported."""
    folder = tmp_path_factory.mktemp("again") / "demo"
    return read_json(run("demo", "--json", "-o", folder, "-j", "1").stdout, "demo"), folder


@pytest.fixture(scope="module")
def found(again):
    return again[0]


def test_findings(found):
    network, joined = found["network"], found["joined"]
    assert network["alpha"] == 0.06
    assert network["n_edges"] == 562
    assert network["n_positive"] == 548
    assert network["converged"] is True
    assert round(100 * found["within_party"]["share"], 1) == 95.8
    assert {name: round(100 * share) for name, share in joined.items()} == {
        "all_pairs": 11,
        "same_state": 62,
        "same_party": 22,
        "same_state_and_party": 83,
    }


def test_who_votes_with_the_other_side(found):
    across = {row["name"]: row for row in found["across"]}
    republicans = [row["name"] for row in found["across"] if row["party"] == "R"]
    assert republicans == ["CHAFEE (R RI)"]
    assert round(100 * across["CHAFEE (R RI)"]["share_of_weight"]) == 57
    assert round(100 * across["CHAFEE (R RI)"]["share_of_edges"]) == 40
    assert round(100 * across["NELSON (D NE)"]["share_of_weight"]) == 72


def test_what_is_printed(demo):
    text = demo[0].stdout
    for part in (
        "562 edges among 4950 pairs, 548 of them positive",
        "converged",
        "95.8% of the positive edges join two senators of one party",
        "57% of the weight, 40% of the edges to non-Republicans",
        "72% of the weight",
        "62% of the pairs of one state, 11% of all pairs",
        "83% of those of one state and one party, 22% of those of one party",
        "By StARS: alpha ",
    ):
        assert part in text
    assert re.search(r"fitted in \d+ m?s", text)


def test_files(demo):
    _, folder = demo
    assert set(files_of(folder)) == FILES
    edges = read_csv((folder / "edges.csv").read_text())
    assert len(edges) == 562
    assert sum(float(edge["coupling"]) > 0 for edge in edges) == 548
    nodes = read_csv((folder / "nodes.csv").read_text())
    assert [node["party"] for node in nodes].count("R") == 55
    assert (folder / "senate.png").read_bytes().startswith(b"\x89PNG")
    assert "CHAFEE (R RI)" in (folder / "report.html").read_text(encoding="utf-8")
    assert json.loads((folder / "run.json").read_text())["command"] == "isinglass demo"


def test_two_runs_write_the_same_bytes(demo, again):
    assert files_of(demo[1]) == files_of(again[1])
