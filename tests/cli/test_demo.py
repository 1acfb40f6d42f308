"""isinglass demo: what it prints agrees with an independent solution of the Senate network."""

import json
import re

import pytest
from commands import files_of, read_csv, run

FILES = {"report.html", "survey.html", "senate.png", "network.gexf", "edges.csv", "nodes.csv", "model.npz", "run.json"}


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Return what is printed, and the folder that is filled."""
    folder = tmp_path_factory.mktemp("demo") / "demo"
    return run("demo", "-o", folder), folder


def test_the_senate(demo):
    senate, default = demo[0].stdout.partition("American National Election Study")[0].split("By default")
    for part in (
        "562 of 4950 possible edges (548 positive, 14 negative)",
        "converged",
        "95.8% of the positive edges join two senators of one party",
        "NELSON (D NE)    72% of the weight",
        "CHAFEE (R RI)    57% of the weight, 40% of the edges to non-Republicans",
        "62% of pairs from the same state, 11% of all pairs",
        "83% of pairs from the same state and party, 22% of pairs from the same party",
    ):
        assert part in senate
    assert senate.count(" to non-Republicans") == 1
    assert "By StARS, fitted in" in default
    assert re.search(r"fitted in [\d.]+ m?s", senate)


def test_the_questionnaire(demo):
    text = demo[0].stdout.partition("American National Election Study")[2]
    assert "944 respondents, 9 questions" in text
    assert "\n  Certificate: converged" in text
    assert re.search(r"\n +party +vote +\d", text)  # Republicans vote for Dole
    assert re.search(r"\n +Clinton +vote +-\d", text)  # and so do those who find Clinton liberal
    assert "Clinton" in (demo[1] / "survey.html").read_text(encoding="utf-8")


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
