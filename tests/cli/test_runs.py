"""isinglass path, select, bootstrap and simulate."""

import numpy as np
import pytest
from choices import stars, two_stage
from commands import NAMES, draw_rows, error_line, files_of, read_csv, read_json, run, write_csv, write_table

from isinglass import IsingNetwork, ising_path, load, nodewise_path
from isinglass import bootstrap as resample
from isinglass.select import compare_criteria

X = draw_rows()


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write_table(tmp_path_factory.mktemp("runs") / "table.csv")


# ------------------------------------------------------------------------------------------- path


def test_path_is_that_of_the_function(table):
    rows = read_csv(run("fit", "--path", table, "--alphas", "7").stdout)
    path = ising_path(X, 7)
    assert [float(row["alpha"]) for row in rows] == path.alphas.tolist()
    assert [int(row["n_edges"]) for row in rows] == path.n_edges.tolist()
    assert [float(row["objective"]) for row in rows] == path.objective.tolist()
    assert {row["converged"] for row in rows} == {"True"}
    assert all(int(row["n_positive"]) + int(row["n_negative"]) == int(row["n_edges"]) for row in rows)


def test_path_writes_the_edges_of_every_alpha(table, tmp_path):
    run("fit", "--path", table, "--alphas", "0.2,0.05", "-o", tmp_path / "p")
    edges = read_csv((tmp_path / "p" / "edges.csv").read_text())
    path = ising_path(X, [0.2, 0.05])
    for solution in path:
        found = [row for row in edges if float(row["alpha"]) == solution.alpha]
        expected = solution.network.with_names(NAMES).edges()
        assert [(row["source"], row["target"]) for row in found] == list(
            zip(expected["source"], expected["target"], strict=True)
        )
        assert [float(row["coupling"]) for row in found] == expected["coupling"].tolist()
    assert len(read_csv((tmp_path / "p" / "path.csv").read_text())) == 2


def test_path_of_other_methods_and_as_json(table):
    words = ["--alphas", "4", "--alpha-min-ratio", "0.2", "--method", "nodewise", "--rule", "max"]
    record = read_json(run("fit", "--path", table, *words, "--json").stdout, "path")
    path = nodewise_path(X, 4, alpha_min_ratio=0.2, rule="max")
    assert [row["alpha"] for row in record["solutions"]] == path.alphas.tolist()
    assert record["method"] == {"name": "nodewise", "rule": "max"}


def test_path_strict(table):
    run("fit", "--path", table, "--alphas", "0.001", "--tol", "1e-15", "--max-iter", "1", "--strict", code=4)


# ------------------------------------------------------------------------------------------- select


@pytest.mark.filterwarnings("ignore::isinglass.errors.GridEndWarning")
def test_select_compares_the_criteria(table):
    words = ["--folds", "3", "--subsamples", "4", "--alphas", "0.3,0.2,0.1,0.05,0.02,0.01", "--seed", "2"]
    rows = {row["criterion"]: row for row in read_csv(run("select", table, *words).stdout)}
    grid = [0.3, 0.2, 0.1, 0.05, 0.02, 0.01]
    chosen = stars(X, alphas=grid, n_subsamples=4, random_state=2)
    others = {"StARS": chosen.alpha, "two-stage": two_stage(X, alphas=grid, n_folds=3, random_state=2)}
    wanted = compare_criteria(X, alphas=grid, n_folds=3, random_state=2, others=others)
    assert wanted.criterion[0] == "two-stage"
    for name, alpha, held_out in zip(wanted.criterion, wanted.alpha, wanted.held_out, strict=True):
        assert float(rows[name]["alpha"]) == alpha
        assert float(rows[name]["held_out"]) == held_out
    relaxed = read_csv(run("select", table, *words, "--relaxed").stdout)
    assert "EBIC γ=0.25 relaxed" in {row["criterion"] for row in relaxed}


def test_fit_select_and_python_give_one_network(table, tmp_path):
    run("fit", table, "-o", tmp_path / "fit")
    fitted = load(tmp_path / "fit" / "model.npz")
    net, found = IsingNetwork().fit(X), two_stage(X)
    for other in (net.solution_, found.solution):
        assert fitted.solution_.edge_index.tolist() == other.edge_index.tolist()
        assert fitted.solution_.edge_values.tobytes() == other.edge_values.tobytes()
    row = read_csv(run("select", table, "--subsamples", "3").stdout)[0]
    assert row["criterion"] == "two-stage"
    assert (float(row["alpha"]), int(row["n_edges"])) == (found.alpha, found.solution.n_edges)
    assert float(row["held_out"]) == found.held_out
    edges = read_csv((tmp_path / "fit" / "edges.csv").read_text())
    written = {frozenset((edge["source"], edge["target"])): float(edge["std_error"]) for edge in edges}
    for (s, t), error in zip(found.solution.edge_index.tolist(), net.edge_errors_, strict=True):
        assert written[frozenset((NAMES[s], NAMES[t]))] == error


def test_select_json_has_the_curve(table):
    words = ["--folds", "2", "--subsamples", "3", "--alphas", "5"]
    record = read_json(run("select", table, *words, "--json").stdout, "select")
    assert len(record["stability"]["alphas"]) == len(record["stability"]["instability"]) == 5
    assert {row["criterion"] for row in record["criteria"]} >= {"StARS", "CV best", "CV 1se"}


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
    assert len(read_csv((tmp_path / "a" / "nodes.csv").read_text())) == len(NAMES)


def test_bootstrap_case_drop(table, tmp_path):
    record = read_json(
        run("bootstrap", table, "--alpha", "0.1", "-B", "14", "--kind", "case-drop", "--json").stdout, "bootstrap"
    )
    found = resample(X, 0.1, n_boot=14, kind="case-drop", random_state=0)
    assert record["cs_coefficient"] == found.cs_coefficient()
    assert [row["dropped"] for row in record["drops"]] == np.unique(found.dropped).tolist()
    run("bootstrap", table, "--alpha", "0.1", "-B", "7", "--kind", "case-drop", "-o", tmp_path / "d")
    assert (tmp_path / "d" / "drops.csv").exists()


def test_files_of_an_earlier_run_do_not_stay_beside_new_ones(table, tmp_path):
    words = ["bootstrap", table, "--alpha", "0.1", "-B", "7", "-o", tmp_path / "b"]
    run(*words)
    (tmp_path / "b" / "mine.txt").write_text("kept")
    run(*words, "--kind", "case-drop")
    assert set(files_of(tmp_path / "b")) == {"drops.csv", "run.json", "mine.txt"}


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--alphas", "0.2,0.1,0.05", "--gamma", "0.5"],
        ["--keep", "0"],
        ["--penalty-weights", "standardized"],
        ["--alpha", "0.1"],
        ["--select", "ebic"],
        ["--select", "ebic", "--no-relaxed", "--alphas", "12"],
        ["--select", "cv", "--folds", "3", "--cv-rule", "1se", "--seed", "3"],
        ["--select", "stars", "--subsamples", "5", "--threshold", "0.1"],
        ["--method", "nodewise"],
        ["--method", "nodewise", "--rule", "or", "--penalty-weights", "standardized"],
        ["--method", "nodewise", "--select", "cv", "--folds", "3"],
        ["--method", "nodewise", "--alpha", "0.05"],
        ["--method", "exact", "--alphas", "5"],
        ["--method", "plg", "--alpha", "0.1"],
        ["--method", "bmn", "--alphas", "5"],
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
    assert "selected anew" in run("bootstrap", table, "--select", "ebic", "-B", "2").stderr
    assert "kept" in run("bootstrap", table, "--select", "ebic", "--keep-penalty", "-B", "2").stderr
    assert "EBIC of every node" in run("bootstrap", table, "--method", "nodewise", "-B", "2").stderr
    assert "kept" in run("bootstrap", table, "--method", "nodewise", "--keep-penalty", "-B", "2").stderr


def test_bootstrap_differences(table, tmp_path):
    words = ["bootstrap", table, "--alpha", "0.05", "-B", "20", "--differences"]
    assert "-o FOLDER" in error_line(run(*words, code=2))
    run(*words, "-o", tmp_path / "b")
    found = resample(X, 0.05, n_boot=20, random_state=0)
    rows = read_csv((tmp_path / "b" / "edge_differences.csv").read_text())
    assert len(rows) == found.solution.n_edges * (found.solution.n_edges - 1) // 2
    assert [row["different"] == "True" for row in rows] == found.differences().table()["different"].tolist()
    assert len(read_csv((tmp_path / "b" / "node_differences.csv").read_text())) == len(NAMES) * (len(NAMES) - 1) // 2


def test_select_uses_one_grid_for_all(table):
    words = ["select", table, "--alphas", "5", "--alpha-min-ratio", "0.5", "--subsamples", "3", "--folds", "3"]
    record = read_json(run(*words, "--json").stdout, "select")
    largest = ising_path(X, 2)[0].alpha
    assert all(row["alpha"] >= 0.499 * largest for row in record["criteria"] if row["criterion"] != "two-stage")
    assert {"CV best", "CV 1se"} < {row["criterion"] for row in record["criteria"]}
    assert "--cv-rule" in error_line(run(*words, "--cv-rule", "1se", code=2))  # it shows both


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


# ------------------------------------------------------------------------------------------- simulate


@pytest.mark.parametrize("kind", ["random", "chain"])
def test_simulate_writes_the_truth_and_a_table(kind, tmp_path):
    words = ["--network", kind, "--nodes", "8", "--rows", "50", "--seed", "4"]
    run("simulate", *words, "-o", tmp_path / "a")
    run("simulate", *words, "-o", tmp_path / "b")
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")
    truth = load(tmp_path / "a" / "truth.npz")
    rows = read_csv((tmp_path / "a" / "table.csv").read_text())
    assert len(rows) == 50
    assert tuple(rows[0]) == truth.names
    assert {cell for row in rows for cell in row.values()} == {"0", "1"}
    assert len(read_csv((tmp_path / "a" / "edges.csv").read_text())) == truth.n_edges
    assert run("simulate", *words).stdout == (tmp_path / "a" / "table.csv").read_text()


def test_simulated_table_has_the_moments_of_its_model(tmp_path):
    from isinglass.solve import exact

    words = ["--network", "chain", "--nodes", "6", "--rows", "4000", "--strength", "1.5", "--mixed"]
    run("simulate", *words, "-o", tmp_path / "s")
    truth = load(tmp_path / "s" / "truth.npz")
    rows = read_csv((tmp_path / "s" / "table.csv").read_text())
    table = np.array([[int(cell) for cell in row.values()] for row in rows])
    assert set(truth.edges()["weight"]) == {1.5}
    assert np.abs(table.mean(axis=0) - exact.moments(truth).means).max() < 0.05


def test_simulate_warns_where_the_sampler_is_slow():
    result = run("simulate", "--network", "chain", "--strength", "12", "--rows", "5", "--burn-in", "3", "--thin", "1")
    assert "Warning: " in result.stderr
    assert "--burn-in" in result.stderr


def test_simulate_json():
    record = read_json(run("simulate", "--nodes", "4", "--rows", "3", "--json").stdout, "simulate")
    assert np.array(record["rows"]).shape == (3, 4)
    assert len(record["nodes"]) == len(record["fields"]) == 4


def test_impossible_networks_are_refused():
    assert "finite" in error_line(run("simulate", "--strength", "nan", code=2))


def test_a_simulated_network_is_found_again(tmp_path):
    run("simulate", "--network", "chain", "--nodes", "8", "--rows", "2000", "--strength", "2", "-o", tmp_path / "s")
    found = {(row["source"], row["target"]) for row in read_csv(run("fit", tmp_path / "s" / "table.csv").stdout)}
    assert found == {(f"x{k}", f"x{k + 1}") for k in range(7)}


def test_row_weights_equal_repeated_rows(tmp_path):
    rows = draw_rows(40).tolist()
    weighted = write_csv(tmp_path / "w.csv", [*NAMES, "n"], [[*row, 1 + k % 3] for k, row in enumerate(rows)])
    repeated = write_csv(tmp_path / "r.csv", NAMES, [row for k, row in enumerate(rows) for _ in range(1 + k % 3)])
    one = read_csv(run("fit", "--path", weighted, "--weights", "n", "--alphas", "0.1,0.05").stdout)
    two = read_csv(run("fit", "--path", repeated, "--alphas", "0.1,0.05").stdout)
    assert [float(row["objective"]) for row in one] == pytest.approx([float(row["objective"]) for row in two], abs=1e-8)
