"""isinglass demo: the commands that it shows are run, and give what the functions give."""

import json
import re
import shlex

import numpy as np
import pytest
from commands import read_csv, run

from isinglass import IsingNetwork, load
from isinglass.datasets import load_senate109


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Return what is said, and the folder that is filled."""
    folder = tmp_path_factory.mktemp("demo") / "demo"
    return run("demo", "-o", folder).stderr, folder


def test_commands_are_shown_and_can_be_given_again(demo):
    said, folder = demo
    lines = [shlex.split(line)[2:] for line in said.splitlines() if line.startswith("$ isinglass ")]
    assert [words[0] for words in lines] == ["fit", "report", "fit", "report"]
    before = (folder / "survey" / "edges.csv").read_bytes()
    run(*lines[2])
    assert (folder / "survey" / "edges.csv").read_bytes() == before


def test_the_senate(demo):
    said, folder = demo
    senate = load_senate109()
    expected = IsingNetwork().fit(senate.X).network_
    network = load(folder / "senate" / "model.npz").network
    assert network.names == senate.names
    np.testing.assert_array_equal(network.edge_index, expected.edge_index)
    np.testing.assert_array_equal(network.edge_values, expected.edge_values)
    nodes = read_csv((folder / "senate" / "nodes.csv").read_text())
    assert [node["party"] for node in nodes] == list(senate.parties)
    assert re.search(rf"Network +{expected.n_edges} of 4950 possible edges", said)
    assert "CHAFEE (R RI)" in (folder / "senate.html").read_text(encoding="utf-8")


def test_the_questionnaire(demo):
    _, folder = demo
    edges = read_csv((folder / "survey" / "edges.csv").read_text())
    couplings = {frozenset((edge["source"], edge["target"])): float(edge["coupling"]) for edge in edges}
    assert couplings[frozenset(("party", "vote"))] > 0  # Republicans vote for Dole
    assert couplings[frozenset(("Clinton", "vote"))] < 0  # and so do those who find Clinton liberal
    assert "Clinton" in (folder / "survey.html").read_text(encoding="utf-8")


def test_files_of_others_stay(tmp_path):
    (tmp_path / "senate.csv").write_text("mine")
    assert "was not written by this command" in run("demo", "-o", tmp_path, code=2).stderr
    assert (tmp_path / "senate.csv").read_text() == "mine"
    assert not (tmp_path / "run.json").exists()


def test_the_folder_says_what_was_run(demo):
    record = json.loads((demo[1] / "run.json").read_text())
    assert record["command"] == "isinglass demo"
    assert set(record["files"]) == {"senate.csv", "senators.csv", "survey.csv"}
