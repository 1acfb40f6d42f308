"""isinglass fit and bootstrap: what Python gives."""

import numpy as np
import pytest
from choices import two_stage
from commands import NAMES, draw_rows, error_line, files_of, read_csv, read_json, run, write_csv, write_table

from isinglass import IsingNetwork, load, metrics
from isinglass import bootstrap as resample

X = draw_rows()


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write_table(tmp_path_factory.mktemp("runs") / "table.csv")


def test_fit_and_python_give_one_network(table, tmp_path):
    run("fit", table, "-o", tmp_path / "fit")
    fitted = load(tmp_path / "fit" / "model.npz")
    net, found = IsingNetwork().fit(X), two_stage(X)
    for other in (net.fit_.solution, found.solution):
        assert fitted.solution.edge_index.tolist() == other.edge_index.tolist()
        assert fitted.solution.edge_values.tobytes() == other.edge_values.tobytes()
    edges = read_csv((tmp_path / "fit" / "edges.csv").read_text())
    written = {frozenset((edge["source"], edge["target"])): float(edge["std_error"]) for edge in edges}
    for (s, t), error in zip(found.solution.edge_index.tolist(), net.fit_.refits.edge_errors, strict=True):
        assert written[frozenset((NAMES[s], NAMES[t]))] == error


# ------------------------------------------------------------------------------------------- bootstrap


def test_bootstrap_is_that_of_the_function(table):
    rows = read_csv(run("bootstrap", table, "--alpha", "0.1", "-B", "25", "--seed", "5", "-j", "1").stdout)
    found = resample(X, 0.1, n_boot=25, random_state=5)
    assert len(rows) == len(found.edge_values)
    by_pair = {(row["source"], row["target"]): row for row in rows}
    for k, (s, t) in enumerate(found.edge_index.tolist()):
        row = by_pair[NAMES[s], NAMES[t]]
        assert float(row["coupling"]) == found.edge_values[k]
        assert [float(row[q]) for q in ("q2.5", "q50", "q97.5")] == found.edge_quantiles[:, k].tolist()
        assert float(row["inclusion"]) == found.inclusion[k]
    strengths = [abs(float(row["coupling"])) for row in rows]
    assert strengths == sorted(strengths, reverse=True)


def test_bootstrap_files_do_not_depend_on_jobs(table, tmp_path):
    for name, jobs in (("a", "1"), ("b", "2")):
        words = ["--method", "nodewise", "--alpha", "0.05", "-B", "10", "-j", jobs]
        run("bootstrap", table, *words, "-o", tmp_path / name)
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")
    rows = read_csv((tmp_path / "a" / "nodes.csv").read_text())
    found = load(tmp_path / "a" / "resamples.npz")
    for of in ("strength", "expected_influence", "closeness", "betweenness"):
        wanted = found.nodes(of)
        assert [row["name"] for row in rows if row["measure"] == of] == NAMES
        for column, name in (("value", of), ("mean", "mean"), ("q97.5", "q97.5")):
            assert [float(row[column]) for row in rows if row["measure"] == of] == wanted[name].tolist()


def test_bridges_are_those_between_groups_of_nodes(table, tmp_path):
    domains = write_csv(tmp_path / "domains.csv", ["node", "kind"], [[name, k % 2] for k, name in enumerate(NAMES)])
    words = ["--alpha", "0.02", "--attributes", domains]
    run("fit", table, *words, "-o", tmp_path / "net")
    run("bootstrap", table, *words, "-B", "5", "-o", tmp_path / "boot")
    network, found = load(tmp_path / "net" / "model.npz").network, load(tmp_path / "boot" / "resamples.npz")
    groups = [k % 2 for k in range(len(NAMES))]
    measured, rows = metrics.centrality(network, groups), read_csv((tmp_path / "boot" / "nodes.csv").read_text())
    nodes = read_csv((tmp_path / "net" / "nodes.csv").read_text())
    for of in ("bridge_strength", "bridge_expected_influence"):
        assert [float(row[of]) for row in nodes] == measured[of].tolist()
        wanted = found.nodes(of, groups)
        assert [float(row["q2.5"]) for row in rows if row["measure"] == of] == wanted["q2.5"].tolist()
    for of in ("closeness", "betweenness"):
        assert [float(row[of]) for row in nodes] == measured[of].tolist()
    shared = [float(row["bridge_strength"]) < float(row["strength"]) for row in nodes]
    assert any(shared)


def test_bootstrap_case_drop(table, tmp_path):
    record = read_json(
        run("bootstrap", table, "--alpha", "0.1", "-B", "14", "--kind", "case-drop", "--json").stdout, "bootstrap"
    )
    found = resample(X, 0.1, n_boot=14, kind="case-drop", random_state=0)
    assert record["cs_coefficients"] == found.cs_coefficients()
    assert [row["dropped"] for row in record["drops"]] == np.unique(found.dropped).tolist()
    run("bootstrap", table, "--alpha", "0.1", "-B", "10", "--kind", "case-drop", "-o", tmp_path / "d")
    assert (tmp_path / "d" / "drops.csv").exists()
    run("fit", table, "--alpha", "0.1", "-o", tmp_path / "net")
    run("report", tmp_path / "net", "--bootstrap", tmp_path / "d", "-o", tmp_path / "net.html")
    assert '"n_resamples":{"case-drop":10}' in (tmp_path / "net.html").read_text()
    deep = ["bootstrap", table, "--alpha", "0.1", "-B", "10", "--checkpoint", tmp_path / "no" / "such"]
    assert "must be in a folder that exists" in run(*deep, code=2).stderr
    empty = ["bootstrap", table, "--alpha", "5", "-B", "10", "--kind", "case-drop"]
    assert "CS-coefficients: none, because the network has no edges" in run(*empty).stderr
    record = read_json(run(*empty, "--json").stdout, "bootstrap")
    assert record["cs_coefficients"] is None
    assert all(row["strength"] is row["edges_q5"] is None for row in record["drops"])
    assert {row["strength"] for row in read_csv(run(*empty).stdout)} == {""}


def test_files_of_an_earlier_run_do_not_stay_beside_new_ones(table, tmp_path):
    words = ["bootstrap", table, "--alpha", "0.1", "-B", "10", "-o", tmp_path / "b"]
    run(*words)
    (tmp_path / "b" / "mine.txt").write_text("kept")
    run(*words, "--kind", "case-drop")
    assert set(files_of(tmp_path / "b")) == {"drops.csv", "case_drop.npz", "run.json", "mine.txt"}


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--alphas", "8", "--gamma", "0.5"],
        ["--penalty-weights", "standardized"],
        ["--alpha", "0.1"],
        ["--select", "ebic"],
        ["--select", "ebic", "--alphas", "12"],
        ["--select", "cv", "--folds", "3", "--seed", "3"],
        ["--select", "stars", "--alphas", "8"],
        ["--method", "nodewise"],
        ["--method", "nodewise", "--penalty-weights", "standardized"],
        ["--method", "nodewise", "--select", "cv", "--folds", "3"],
        ["--method", "nodewise", "--alpha", "0.05"],
    ],
    ids=" ".join,
)
def test_bootstrap_resamples_the_network_of_fit(table, words):
    """The options of a fit give the same network in both commands, whatever the method and the criterion."""
    fitted = {
        (row["source"], row["target"]): float(row["coupling"])
        for row in read_csv(run("fit", table, *words, "-qq").stdout)
    }
    rows = read_csv(run("bootstrap", table, *words, "-B", "2", "-qq").stdout)
    found = {(row["source"], row["target"]): float(row["coupling"]) for row in rows if float(row["coupling"])}
    assert fitted.keys() == found.keys()
    assert [found[pair] for pair in fitted] == pytest.approx(list(fitted.values()), abs=1e-4)


def test_bootstrap_says_what_was_chosen(table):
    assert "two-stage" in run("bootstrap", table, "-B", "2").stderr
    assert "selected again" in run("bootstrap", table, "--select", "ebic", "-B", "2").stderr
    assert "kept" in run("bootstrap", table, "--select", "ebic", "--keep-penalty", "-B", "2").stderr
    assert "EBIC of every node" in run("bootstrap", table, "--method", "nodewise", "-B", "2").stderr
    assert "kept" in run("bootstrap", table, "--method", "nodewise", "--keep-penalty", "-B", "2").stderr


def test_bootstrap_differences(table, tmp_path):
    words = ["bootstrap", table, "--alpha", "0.05", "-B", "20"]
    assert "-o FOLDER" in error_line(run(*words, "--kind", "all", code=2))
    run(*words, "-o", tmp_path / "b")
    found = resample(X, 0.05, n_boot=20, random_state=0)
    rows = read_csv((tmp_path / "b" / "edge_differences.csv").read_text())
    assert len(rows) == found.solution.n_edges * (found.solution.n_edges - 1) // 2
    assert [row["different"] == "true" for row in rows] == found.differences()["different"].tolist()
    assert len(read_csv((tmp_path / "b" / "node_differences.csv").read_text())) == len(NAMES) * (len(NAMES) - 1) // 2


def test_bootstrap_says_that_there_is_too_much_to_compare(table, tmp_path, monkeypatch):
    monkeypatch.setattr("isinglass.select.bootstrap_result.MAX_COMPARED", 3)
    done = run("bootstrap", table, "--alpha", "0.05", "-B", "2", "-o", tmp_path / "b")
    assert "node_differences.csv is not written. At most 3 nodes can be compared with each other" in done.stderr
    assert not (tmp_path / "b" / "node_differences.csv").exists()


def test_bootstrap_resumes(table, tmp_path):
    words = ["bootstrap", table, "--alpha", "0.1", "-B", "8", "--checkpoint", tmp_path / "c"]
    first = run(*words).stdout
    assert (tmp_path / "c").exists()
    assert run(*words).stdout == first
    assert "checkpoint" in error_line(run(*words, "--seed", "1", code=3))


def test_bootstrap_takes_weights(tmp_path):
    weights = 0.5 + np.arange(len(X)) % 3
    table = write_csv(tmp_path / "w.csv", [*NAMES, "w"], np.column_stack([X, weights]).tolist())
    rows = read_csv(run("bootstrap", table, "--alpha", "0.1", "--weights", "w", "-B", "5").stdout)
    found = resample(X, 0.1, n_boot=5, random_state=0, sample_weight=weights).edges()
    assert [float(row["coupling"]) for row in rows] == found["coupling"].tolist()
    assert [float(row["mean"]) for row in rows] == found["mean"].tolist()


def test_row_weights_equal_repeated_rows(tmp_path):
    rows = draw_rows(40).tolist()
    weighted = write_csv(tmp_path / "w.csv", [*NAMES, "n"], [[*row, 1 + k % 3] for k, row in enumerate(rows)])
    repeated = write_csv(tmp_path / "r.csv", NAMES, [row for k, row in enumerate(rows) for _ in range(1 + k % 3)])
    one = read_json(run("fit", weighted, "--weights", "n", "--alpha", "0.05", "--json").stdout, "fit")
    two = read_json(run("fit", repeated, "--alpha", "0.05", "--json").stdout, "fit")
    assert one["network"]["objective"] == pytest.approx(two["network"]["objective"], abs=1e-8)
