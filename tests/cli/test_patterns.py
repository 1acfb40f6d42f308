"""Tables in several files on the command line: a pattern is one table, on a cluster if there is one."""

import json

import numpy as np
import pytest
from cluster import two_workers
from commands import run

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


def test_a_part_that_disagrees_is_named_and_nothing_is_written(folder):
    (folder / "p1.csv").write_text("a,b,d,c\n0,1,0,1\n", encoding="utf-8")
    assert "p1.csv" in run("fit", folder / "p*.csv", "-o", folder / "out", code=3).stderr
    assert not (folder / "out").exists()
    assert "nothing*.csv" in run("fit", folder / "nothing*.csv", code=2).stderr


def test_a_cluster_holds_the_parts(folder):
    alone = run("fit", folder / "p*.csv", "--alpha", "0.1").stdout
    with two_workers():
        import distributed

        address = distributed.get_client().scheduler.address
        assert run("fit", folder / "p*.csv", "--alpha", "0.1", "--cluster", address).stdout == alone
