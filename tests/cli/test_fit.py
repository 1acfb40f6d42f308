"""isinglass fit: every method and criterion, the files, and what is on which stream."""

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from choices import cross_validate, isingfit, select_ebic, stars, two_stage
from commands import (
    NAMES,
    data_error,
    draw_rows,
    error_line,
    files_of,
    read_csv,
    read_json,
    run,
    write_csv,
    write_table,
)

from isinglass import ising_path, load, metrics, read_table
from isinglass.solve.nodewise import nodewise_path

FILES = {"edges.csv", "nodes.csv", "model.npz", "network.gexf", "methods.txt", "run.json"}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write_table(tmp_path_factory.mktemp("fit") / "table.csv")


def edges_of(text: str) -> dict[tuple[str, str], float]:
    return {(row["source"], row["target"]): float(row["coupling"]) for row in read_csv(text)}


def expected(solution) -> dict[tuple[str, str], float]:
    return {
        (NAMES[s], NAMES[t]): value
        for (s, t), value in zip(solution.edge_index.tolist(), solution.edge_values.tolist(), strict=True)
    }


X = draw_rows()


@pytest.mark.parametrize(
    ("words", "solution"),
    [
        (["--alpha", "0.1"], lambda: ising_path(X, [0.1])[0]),
        (
            ["--alpha", "0.1", "--penalty-weights", "standardized"],
            lambda: ising_path(X, [0.1], penalty_weights="standardized")[0],
        ),
        (["--method", "nodewise", "--alpha", "0.05"], lambda: nodewise_path(X, [0.05])[0]),
        (
            ["--method", "nodewise", "--alpha", "0.05", "--penalty-weights", "standardized"],
            lambda: nodewise_path(X, [0.05], standardize=True)[0],
        ),
        ([], lambda: two_stage(X).solution),
        (
            ["--alphas", "12", "--gamma", "0.5", "--folds", "3", "--seed", "4"],
            lambda: two_stage(X, alphas=12, gamma=0.5, n_folds=3, random_state=4).solution,
        ),
        (["--select", "ebic"], lambda: select_ebic(X).solution),
        (
            ["--select", "ebic", "--alphas", "12", "--gamma", "0"],
            lambda: select_ebic(X, alphas=12, gamma=0.0).solution,
        ),
        (
            ["--select", "cv", "--alphas", "12", "--folds", "4", "--seed", "3"],
            lambda: cross_validate(X, alphas=12, n_folds=4, random_state=3).solution,
        ),
        (
            ["--select", "stars", "--alphas", "8", "--seed", "3"],
            lambda: ising_path(X, [stars(X, alphas=8, random_state=3).alpha])[0],
        ),
        (
            ["--method", "nodewise", "--select", "ebic", "--alphas", "40"],
            lambda: isingfit(X, 40, penalty_weights=None),
        ),
        (["--method", "nodewise", "--penalty-weights", "standardized"], lambda: isingfit(X)),  # as IsingFit does
        (
            ["--method", "nodewise", "--select", "cv", "--folds", "3", "--alphas", "9"],
            lambda: cross_validate(X, alphas=9, n_folds=3, estimator="nodewise").solution,
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::isinglass.errors.GridEndWarning")
def test_edges_are_those_of_the_function(table, words, solution):
    result = run("fit", table, *words)
    found, wanted = edges_of(result.stdout), expected(solution())
    assert found.keys() == wanted.keys()
    assert found == pytest.approx(wanted, abs=1e-6)
    assert len(found) > 0
    assert "Network" in result.stderr


def test_files(table, tmp_path):
    kinds = write_csv(tmp_path / "kinds.csv", ["drink", "kind", "price"], [["tea", "hot", 2], ["water", "cold", 0]])
    folder = tmp_path / "deep" / "net"
    result = run("fit", table, "--select", "stars", "--alphas", "8", "--attributes", kinds, "-o", folder)
    assert result.stdout == ""
    assert set(files_of(folder)) == FILES
    edges = read_csv((folder / "edges.csv").read_text())
    assert list(edges[0])[:3] == ["source", "target", "coupling"]
    assert all(0 <= float(row["stability"]) <= 1 for row in edges)
    nodes = read_csv((folder / "nodes.csv").read_text())
    assert [row["name"] for row in nodes] == NAMES
    assert [row["kind"] for row in nodes] == ["hot", "", "", "", "", "cold"]
    assert {"accuracy", "strength", "price"} <= nodes[0].keys()
    network = load(folder / "model.npz")
    assert network.network == network.solution.network.with_names(NAMES)
    assert len(edges) == network.network.n_edges
    gexf = (folder / "network.gexf").read_text()
    assert "&lt;sugar&gt;" in gexf
    assert 'value="hot"' in gexf
    record = json.loads((folder / "run.json").read_text())
    assert set(record["files"]) == FILES - {"run.json"}
    assert record["command"].startswith("isinglass fit ")
    assert "--select stars" in record["command"]
    assert "--output" not in record["command"]


def test_recorded_command_gives_the_same_files(tmp_path, monkeypatch):
    rows = [["Yes" if cell else "No" for cell in row] for row in draw_rows(60).tolist()]
    write_csv(tmp_path / "t.csv", NAMES, rows)
    monkeypatch.chdir(tmp_path)
    words = ["--encode", "Yes=1,No=0", "--drop", "#2", "--alphas", "5", "--header"]
    run("fit", "t.csv", *words, "-o", "one", "-qq")
    command = json.loads((tmp_path / "one" / "run.json").read_text())["command"]
    run(*shlex.split(command)[1:], "-o", "two", "-qq")
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")


@pytest.mark.parametrize("jobs", [["1", "2"], ["2", "-1"]])
def test_one_seed_gives_identical_bytes(table, tmp_path, jobs):
    for name, job in zip("ab", jobs, strict=True):
        words = ["--select", "stars", "--alphas", "8", "--seed", "7", "-j", job]
        run("fit", table, *words, "-o", tmp_path / name, "-q" if name == "a" else "-v")
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")


def test_another_seed_gives_other_subsamples(table, tmp_path):
    for seed in "12":
        run("fit", table, "--select", "stars", "--alphas", "8", "--seed", seed, "-o", tmp_path / seed)
    first, second = (load(tmp_path / seed / "model.npz").selection.stability for seed in "12")
    assert not np.array_equal(first.instability, second.instability, equal_nan=True)


def test_stdin(table):
    from_file = run("fit", table, "--alpha", "0.1").stdout
    assert run("fit", "-", "--alpha", "0.1", stdin=table.read_bytes()).stdout == from_file


def test_json(table):
    result = run("fit", table, "--alpha", "0.1", "--json")
    record = read_json(result.stdout, "fit")
    solution = ising_path(X, [0.1])[0]
    assert record["network"]["n_edges"] == solution.n_edges == len(record["edges"])
    assert record["network"]["converged"] is True
    assert [node["name"] for node in record["nodes"]] == NAMES
    assert record["method"] == {"name": "joint"}
    assert record["selection"]["criterion"] is None
    assert record["table"]["n_rows"] == 300
    assert run("fit", table, "--alpha", "0.1", "--json").stdout == result.stdout


def test_nodewise_alpha_is_null_in_json(table):
    record = read_json(run("fit", table, "--method", "nodewise", "--select", "ebic", "--json").stdout, "fit")
    assert record["network"]["alpha"] is None


def test_quiet_and_verbose(table):
    assert run("fit", table, "--alpha", "0.1", "-q").stderr == ""
    assert "Solution(alpha=0.1" in run("fit", table, "--alpha", "0.1", "-v").stderr


def test_warnings_are_one_line_each_and_in_the_json(tmp_path):
    constant = write_csv(tmp_path / "c.csv", ["a", "b", "c"], [[0, 0, 1], [1, 1, 1], [0, 1, 1]])
    result = run("fit", constant, "--alpha", "0.1", "--json", "-q")
    (line,) = result.stderr.splitlines()
    assert line == "Warning: column 'c' (always 1) is constant: it gets no edges."
    for words in ([], ["--select", "ebic"], ["--method", "nodewise"]):
        (said,) = run("fit", constant, *words, "-q").stderr.splitlines()
        assert said == line
    assert read_json(result.stdout, "fit")["warnings"] == [line.removeprefix("Warning: ")]
    assert run("fit", constant, "--alpha", "0.1", "-qq").stderr == ""


# ------------------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    "words",
    [
        ["--alpha", "-1"],
        ["--alpha", "nonsense"],
        ["--alpha", "nan"],
        ["--alpha", "inf"],
        ["--tol", "nan"],
        ["--binarize", "nan"],
        ["--alpha", "0.1", "--alphas", "5"],
        ["--select", "ebic", "--folds", "3"],
        ["--select", "stars", "--gamma", "0.5"],
        ["--alpha", "0.1", "--select", "cv"],
        ["--select", "bic"],
        ["--method", "magic"],
        ["--gamma", "nan"],
        ["--folds", "1"],
        ["--alphas", "many"],
        ["--alphas", "0"],
        ["--alphas", "-3"],
        ["--alphas", "0.1,0.05"],
        ["--tol", "0"],
        ["--unknown"],
    ],
)
def test_wrong_usage(table, words):
    result = run("fit", table, *words, code=2)
    assert result.stdout == ""
    assert error_line(result)


def test_alpha_zero_where_the_optimum_is_infinite(tmp_path):
    same = write_csv(tmp_path / "same.csv", ["a", "b"], [[0, 0], [1, 1], [0, 0]])
    assert "must be finite" in data_error("fit", same, "--alpha", "0")


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ("drink\ntea\n", "header"),
        ("drink,kind\ncoffee,hot\n", "'coffee'"),
        ("drink,kind\ntea,hot\ntea,cold\n", "got 'tea' twice"),
        ("drink,kind\ntea\n", "must have 2 cells in every line; got 'tea'"),
        (b"drink,kind\n\xff,hot\n", "UTF-8"),
        ("drink,kind,closeness\ntea,hot,2\n", "cannot be called 'closeness'"),
        ("drink,Bridge_Strength\ntea,2\n", "cannot be called 'Bridge_Strength'"),
        ("drink,Accuracy\ntea,2\n", "cannot be called 'Accuracy'"),
        (
            "drink,Label\ntea,2\n",
            "cannot be called 'Label': isinglass, Gephi, networkx or Cytoscape give",
        ),
        ("drink,id,degree\ntea,2,3\n", "cannot be called 'id'"),
        ("drink,kind,Kind\ntea,2,3\n", "different names of attributes after that of the nodes; got 'kind', 'Kind'."),
        ("drink,kind\n\ntea\n", "must have 2 cells in every line; got 'tea'."),
        ("drink,kind,\ntea,2,3\n", "kinds.csv must have a header with different names"),
    ],
)
def test_bad_attributes(table, tmp_path, content, wanted, monkeypatch):
    """They are refused before anything is fitted."""
    monkeypatch.setattr("isinglass.select.Method.fit", None)
    kinds = tmp_path / "kinds.csv"
    kinds.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert wanted in data_error("fit", table, "--alpha", "0.1", "--attributes", kinds)


def test_attributes_of_a_page_may_have_the_names_of_columns_in_other_files(table, tmp_path):
    (tmp_path / "kinds.csv").write_text("drink,Label\ntea,hot ones\n")
    run("fit", table, "--alpha", "0.1", "-o", tmp_path / "net")
    known = ["--attributes", tmp_path / "kinds.csv", "-o"]
    run("report", tmp_path / "net", *known, tmp_path / "page.html")
    assert "hot ones" in (tmp_path / "page.html").read_text(encoding="utf-8")
    run("plot", "network", tmp_path / "net", *known, tmp_path / "figure.svg")
    assert "cannot be called 'Label'" in data_error("export", tmp_path / "net", *known[:2])


# ------------------------------------------------------------------------------------------- what is overwritten


def test_own_files_are_replaced_and_foreign_ones_are_not(table, tmp_path):
    folder = tmp_path / "net"
    run("fit", table, "--alpha", "0.1", "-o", folder)
    before = files_of(folder)
    run("fit", table, "--alpha", "0.05", "-o", folder)
    assert files_of(folder)["edges.csv"] != before["edges.csv"]
    foreign = tmp_path / "mine"
    foreign.mkdir()
    (foreign / "nodes.csv").write_text("precious")
    (foreign / "other.txt").write_text("untouched")
    line = error_line(run("fit", table, "--alpha", "0.1", "-o", foreign, code=2))
    assert "--force" in line
    assert files_of(foreign) == {"nodes.csv": b"precious", "other.txt": b"untouched"}
    run("fit", table, "--alpha", "0.1", "-o", foreign, "--force")
    assert set(files_of(foreign)) == FILES | {"other.txt"}
    assert (foreign / "other.txt").read_text() == "untouched"


def test_the_files_of_another_command_are_not_replaced(table, tmp_path):
    run("fit", table, "--alpha", "0.1", "-o", tmp_path / "net")
    before = files_of(tmp_path / "net")
    line = error_line(run("bootstrap", table, "--alpha", "0.1", "-B", "2", "-o", tmp_path / "net", code=2))
    assert "was not written by this command" in line  # and its model would be lost
    assert files_of(tmp_path / "net") == before


def test_an_input_is_never_replaced(tmp_path):
    table = write_table(tmp_path / "edges.csv")
    before = table.read_bytes()
    line = error_line(run("fit", table, "--alpha", "0.1", "-o", tmp_path, "--force", code=2))
    assert "also read" in line
    assert table.read_bytes() == before


def test_output_that_is_a_file(table, tmp_path):
    (tmp_path / "file").write_text("")
    run("fit", table, "--alpha", "0.1", "-o", tmp_path / "file", code=2)


def test_failure_while_writing_leaves_the_old_files(table, tmp_path, monkeypatch):
    from isinglass import model_file

    folder = tmp_path / "net"
    run("fit", table, "--alpha", "0.1", "-o", folder)
    before = files_of(folder)

    def fail(*arguments):
        raise OSError(28, "No space left on device", "model.npz")

    monkeypatch.setattr(model_file, "save", fail)
    assert "No space left" in error_line(run("fit", table, "--alpha", "0.05", "-o", folder, code=1))
    assert files_of(folder) == before
    assert [path.name for path in tmp_path.iterdir()] == ["net"]


def test_model_file_is_not_pickled(table, tmp_path):
    run("fit", table, "--alpha", "0.1", "-o", tmp_path / "net")
    with np.load(tmp_path / "net" / "model.npz", allow_pickle=False) as members:
        header = json.loads(members["header"].tobytes())
    method = header["content"]["Fit"]["method"]["Method"]
    assert (method["estimator"], method["selector"]["Fixed"]["alpha"]) == ("joint", 0.1)


def test_a_file_that_begins_with_a_hyphen_is_no_option_when_repeated(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("-y.csv").write_bytes(Path(table).read_bytes())
    run("fit", "--alpha", "0.05", "-o", "net", "--", "-y.csv")
    words = shlex.split(json.loads(Path("net/run.json").read_text())["command"])
    assert words[1:3] == ["fit", "./-y.csv"]
    assert run(*words[1:]).stdout == Path("net/edges.csv").read_text()


def test_measures_of_nodes_know_which_categories_occur(tmp_path):
    rng = np.random.default_rng(0)
    cells = np.clip(rng.integers(1, 4, (60, 1)) + rng.integers(-1, 2, (60, 3)), 1, 3)
    table = write_csv(tmp_path / "t.csv", list("abc"), cells.tolist())
    words = ["--encode", "a=1=0,2=1,3=2,4=3,5=4", "--ordinal", "a:c", "--alpha", "0.05"]
    run("fit", table, *words, "-o", tmp_path / "net")
    fit = load(tmp_path / "net" / "model.npz")
    wanted = metrics.node_table(read_table(table, encode=fit.coding), fit)
    found = read_csv((tmp_path / "net" / "nodes.csv").read_text())
    for name in ("deviance_explained", "r_squared"):
        assert [float(row[name]) for row in found] == wanted[name].tolist()
    run("report", tmp_path / "net", table, "-o", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert all(repr(value) in page for value in wanted["deviance_explained"].tolist())
