"""isinglass score, predict, export, plot and report: what can be done with a model."""

import csv
import importlib
import io
import json
from pathlib import Path

import numpy as np
import pytest
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

from isinglass import IsingLasso, load, save, simulate
from isinglass import bootstrap as resample
from isinglass.cli.presentation import KINDS, USED_BY

X = draw_rows()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a table, its fit by StARS in stars/, at one alpha in given/, and groups."""
    place = tmp_path_factory.mktemp("models")
    table = write_table(place / "table.csv")
    run("fit", table, "--select", "stars", "--alphas", "8", "-o", place / "stars")
    run("fit", table, "--alpha", "0.05", "-o", place / "given")
    write_csv(place / "groups.csv", ["drink", "kind"], [[name, "hot" if name < "m" else "cold"] for name in NAMES])
    return place


@pytest.fixture(scope="module")
def model(folder):
    return folder / "given" / "model.npz"


@pytest.fixture(scope="module")
def network(model):
    return load(model).network


# ------------------------------------------------------------------------------------------- score


def score(*words, **options):
    return run("predict", "--score", *words, **options)


def score_error(*words):
    return data_error("predict", "--score", *words)


def test_score_is_the_mean_log_pseudolikelihood(folder, model, network):
    rows = network.log_pseudolikelihood(X)
    assert score(model, folder / "table.csv").stdout == f"{rows.mean():.6g}\n"
    record = read_json(score(model, folder / "table.csv", "--json").stdout, "score")
    assert record["mean"] == pytest.approx(rows.mean(), rel=1e-14)


def test_columns_may_come_in_any_order(tmp_path, folder, model):
    order = [3, 0, 5, 1, 2, 4]
    shuffled = write_csv(tmp_path / "s.csv", [NAMES[k] for k in order], X[:, order].tolist())
    assert score(model, shuffled).stdout == score(model, folder / "table.csv").stdout


def test_weights_count_in_the_score(tmp_path, model, network):
    weight = 1 + np.arange(300) % 4
    weighted = write_csv(tmp_path / "w.csv", [*NAMES, "w"], np.column_stack([X, weight]).tolist())
    wanted = np.average(network.log_pseudolikelihood(X), weights=weight)
    assert float(score(model, weighted, "--weights", "w").stdout) == pytest.approx(wanted, rel=1e-5)


def test_other_columns_are_refused(tmp_path, model):
    fewer = write_csv(tmp_path / "f.csv", NAMES[1:], X[:, 1:].tolist())
    assert "'tea'" in score_error(model, fewer)
    more = write_csv(tmp_path / "m.csv", ["who", *NAMES, "age"], [["Ann", *row, 17.5] for row in X.tolist()])
    same = write_csv(tmp_path / "s.csv", NAMES, X.tolist())
    assert score(model, more).stdout == score(model, same).stdout  # others are ignored
    nameless = tmp_path / "n.csv"
    nameless.write_text("0,1\n1,0\n")
    assert "the 6 columns of the fitted table or network; got 2" in score_error(model, nameless)


def test_answers_mean_what_they_meant_in_the_fit(tmp_path):
    """With --encode auto a new table in which only one answer occurs could mean anything: the model knows."""
    words = np.where(X == 1, "agree", "disagree")
    table = write_csv(tmp_path / "a.csv", NAMES, words.tolist())
    run("fit", table, "--encode", "auto", "--alpha", "0.05", "-o", tmp_path / "net")
    fitted = load(tmp_path / "net" / "model.npz")
    zero, one = fitted.coding.encoding["tea"]
    one_answer = write_csv(tmp_path / "b.csv", NAMES, [["agree"] * 6] * 3)
    wanted = fitted.network.log_pseudolikelihood([["agree"] * 6])[0]
    assert {zero, one} == {"agree", "disagree"}
    other = write_csv(tmp_path / "c.csv", ["a", "b"], [["agree", "disagree"]] * 3)
    assert "columns of the fitted table; 'tea' cannot be found" in data_error(
        "predict", "--score", tmp_path / "net" / "model.npz", other
    )
    assert float(score(tmp_path / "net" / "model.npz", one_answer).stdout) == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("content", [b"", b"not a model", b"PK\x03\x04 truncated"])
def test_what_is_not_a_model_is_refused(tmp_path, folder, content):
    bad = tmp_path / "bad.npz"
    bad.write_bytes(content)
    assert "bad.npz" in score_error(bad, folder / "table.csv")


def test_a_damaged_model_is_refused(tmp_path, folder, model):
    content = bytearray(model.read_bytes())
    content[len(content) // 2] ^= 0xFF
    bad = tmp_path / "bad.npz"
    bad.write_bytes(bytes(content[:-30]))
    data_error("export", bad)


# ------------------------------------------------------------------------------------------- predict


def test_predict_prints_conditional_probabilities(folder, model, network, tmp_path):
    rows = list(csv.reader(io.StringIO(run("predict", model, folder / "table.csv").stdout)))
    assert rows[0] == NAMES
    chances = network.conditional_probabilities(X)
    assert np.allclose(np.array(rows[1:], dtype=float), chances, rtol=1e-5, atol=0.0)
    assert max(len(cell.rpartition(".")[2]) for cell in rows[1]) <= 7  # six that are significant
    run("predict", model, folder / "table.csv", "-o", tmp_path / "p.csv")
    assert list(csv.reader(io.StringIO((tmp_path / "p.csv").read_text()))) == rows
    words = ["predict", model, folder / "table.csv", "--json"]
    record = read_json(run(*words).stdout, "predict")
    assert np.allclose(record["cells"], chances, rtol=1e-5, atol=0.0)
    assert read_json(run(*words, "-o", tmp_path / "both.csv").stdout, "predict") == record
    assert (tmp_path / "both.csv").read_bytes() == (tmp_path / "p.csv").read_bytes()


def holes(tmp_path):
    cells = X[:40].astype(object)
    cells[3, 1] = cells[7, 4] = cells[7, 5] = "NA"
    rows = [[f"r{k}", *row] for k, row in enumerate(cells.tolist())]
    return write_csv(tmp_path / "holes.csv", ["who", *NAMES], rows)


def test_impute_fills_only_what_is_missing(tmp_path, model, network):
    table = holes(tmp_path)
    rows = read_csv(run("predict", model, table, "--impute").stdout)
    assert [row["row"] for row in rows] == [f"r{k}" for k in range(40)]
    found = np.array([[int(row[name]) for name in NAMES] for row in rows])
    observed = np.ones((40, 6), dtype=bool)
    observed[3, 1] = observed[7, 4] = observed[7, 5] = False
    assert np.array_equal(found[observed], X[:40][observed])
    alone = network.conditional_probabilities(found)[3, 1]  # the only missing cell of its row
    assert found[3, 1] == (alone > 0.5)
    share = read_csv(run("predict", model, table).stdout)
    for row, name in ((3, "milk, cold"), (7, "rum & cola"), (7, "water")):
        assert int(rows[row][name]) == (float(share[row][name]) > 0.5)


@pytest.mark.parametrize("missing", ["zero", "drop", "impute"])
def test_a_model_of_python_reads_tables_as_its_fit_did(tmp_path, missing):
    import pandas as pd

    cells = np.where(X == 1, "yes", "no").astype(object)
    cells[::29, 1] = None
    frame = pd.DataFrame(cells, columns=NAMES)
    net = IsingLasso(0.05, missing=missing, encode="auto").fit(frame)
    save(net, tmp_path / "net.npz")
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert float(score(tmp_path / "net.npz", tmp_path / "t.csv").stdout) == pytest.approx(net.score(frame), rel=1e-5)
    run("report", tmp_path / "net.npz", tmp_path / "t.csv", "-o", tmp_path / "page.html")


def test_answers_stay_the_words_of_the_table(tmp_path):
    """In what is filled in, as in Python."""
    words = np.where(X == 1, "yes", "no").astype(object)
    words[::17, 2] = words[5::23, 4] = None
    table = write_csv(tmp_path / "words.csv", NAMES, [["" if cell is None else cell for cell in row] for row in words])
    run("fit", table, "--encode", "auto", "--missing", "impute", "--alpha", "0.05", "-o", tmp_path / "net")
    rows = read_csv(run("predict", tmp_path / "net", table, "--impute").stdout)
    found = np.array([list(row.values()) for row in rows])
    assert set(found.ravel()) == {"yes", "no"}
    seen = np.array([[cell is not None for cell in row] for row in words])
    assert (found[seen] == words[seen]).all()
    fit = load(tmp_path / "net" / "model.npz")
    assert (found == fit.impute(words)).all()
    assert set(fit.predict(words).ravel()) == {"yes", "no"}


def test_rows_with_holes_are_predicted_by_averaging_over_them(tmp_path, model):
    filled = run("predict", model, holes(tmp_path)).stdout.splitlines()
    complete = run("predict", model, holes(tmp_path), "--missing", "zero").stdout.splitlines()
    assert len(filled) == len(complete)
    assert filled != complete
    cells = [float(cell) for line in filled[1:] for cell in line.split(",")[1:]]
    assert all(0.0 < cell < 1.0 for cell in cells)


def test_a_network_by_itself_imputes(tmp_path):
    network = simulate.random_network(6, 0.5, random_state=0)
    save(network, tmp_path / "truth.npz")
    table = write_csv(tmp_path / "t.csv", [f"x{k}" for k in range(6)], [[0, 1, "NA", 0, 1, 1], [1] * 6, [0] * 6])
    first, *others = read_csv(run("predict", tmp_path / "truth.npz", table, "--impute").stdout)
    chance = network.conditional_probabilities([[0, 1, 0, 0, 1, 1]])[0, 2]
    assert list(first.values()) == ["0", "1", str(int(chance > 0.5)), "0", "1", "1"]
    assert [set(row.values()) for row in others] == [{"1"}, {"0"}]


@pytest.mark.parametrize("words", [[], ["--impute"]])
def test_the_labels_of_rows_have_a_name_of_their_own(tmp_path, words):
    table = write_csv(
        tmp_path / "ids.csv", ["id", "row", "b", "c"], [[f"r{k}", *x[:3]] for k, x in enumerate(X.tolist())]
    )
    run("fit", table, "--alpha", "0.05", "-o", tmp_path / "net")
    head, first, *_ = csv.reader(io.StringIO(run("predict", tmp_path / "net", table, *words).stdout))
    assert (head, first[0]) == (["row (2)", "row", "b", "c"], "r0")


# ------------------------------------------------------------------------------------------- export


@pytest.mark.parametrize("name", ["edges", "nodes", "matrix", "gexf", "json"])
def test_export_to_stdout_and_to_a_file_agree(tmp_path, folder, name):
    words = ["export", folder / "stars" / "model.npz", "--format", name, "--attributes", folder / "groups.csv"]
    printed = run(*words).stdout
    run(*words, "-o", tmp_path / "out")
    assert (tmp_path / "out").read_text(encoding="utf-8") == printed


def test_export_by_the_ending(tmp_path, model, network):
    import networkx

    run("export", model, "-o", tmp_path / "net.gexf")
    assert networkx.read_gexf(tmp_path / "net.gexf").number_of_edges() == network.n_edges
    run("export", model, "-o", tmp_path / "net.json")
    assert len(json.loads((tmp_path / "net.json").read_text())["nodes"]) == 6
    assert "net.doc" in error_line(run("export", model, "-o", tmp_path / "net.doc", code=2))


def test_exported_matrix_is_that_of_the_model(model, network):
    rows = list(csv.reader(io.StringIO(run("export", model, "--format", "matrix").stdout)))
    assert np.array_equal(np.array([row[1:] for row in rows[1:]], dtype=float), network.couplings)


def test_export_refuses_a_file_as_folder_and_its_own_input(tmp_path, model):
    (tmp_path / "file").write_text("")
    assert "not a folder" in error_line(run("export", model, "-o", tmp_path / "file" / "net.gexf", code=2))
    before = model.read_bytes()
    assert "also read" in error_line(run("export", model, "--format", "json", "-o", model, code=2))
    assert model.read_bytes() == before


# ------------------------------------------------------------------------------------------- plot


@pytest.fixture(scope="module")
def resampled(folder, tmp_path_factory):
    """Return a folder with resamples of both kinds of the fit at a given penalty."""
    place = tmp_path_factory.mktemp("resampled") / "boot"
    words = ["--alpha", "0.05", "-B", "12", "--kind", "all", "--checkpoint", place.parent / "finished"]
    run("bootstrap", folder / "table.csv", *words, "-o", place)
    assert {each.name for each in (place.parent / "finished").iterdir()} == {"rows", "case-drop"}
    return place


def refuse_to_resample(monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("resampled again")

    monkeypatch.setattr(importlib.import_module("isinglass.select.bootstrap"), "run_tasks", refuse)


@pytest.mark.parametrize("kind", KINDS)
def test_every_figure(folder, resampled, kind, monkeypatch):
    """An option changes the figure or is refused, and nothing is resampled again."""
    refuse_to_resample(monkeypatch)
    table = [folder / "table.csv"] if kind in USED_BY["TABLE"] else []
    words = ["plot", kind, folder / "given" / "model.npz", *table]
    needs = [] if kind in ("network", "centrality", "path", "check") else ["--bootstrap", resampled]
    figures = {run(*words, *needs, "-o", "-").stdout_bytes}
    assert next(iter(figures)).startswith(b"\x89PNG")
    for option in (["--attributes", folder / "groups.csv"], ["--bootstrap", resampled]):
        if option != needs:
            used = (option[0] == "--attributes" and kind == "network") or kind == "centrality"
            answer = run(*words, *needs, *option, "-o", "-", code=0 if used else 2)
            if used:
                figures.add(answer.stdout_bytes)
            else:
                assert f"{option[0]} is for" in error_line(answer)
    assert len(figures) == {"network": 2, "centrality": 3}.get(kind, 1)


def test_why_there_is_no_path_to_draw(tmp_path, folder, network):
    save(network, tmp_path / "net.npz")
    run("fit", folder / "table.csv", "--method", "nodewise", "-o", tmp_path / "nodewise")
    alone, per_node = (error_line(run("plot", "path", tmp_path / name, code=2)) for name in ("net.npz", "nodewise"))
    for line in (alone, per_node):
        assert "network alone, or has a penalty for each node" in line
        assert "--method joint" in line


def test_blanks_around_attributes_do_not_count(tmp_path, model):
    """Two colors would both be labeled red."""
    place = tmp_path / "groups.csv"
    for blank in ("", " "):
        place.write_text(f"name,{blank}kind{blank}\nwater,red\nlemon{blank},{blank}red\n", encoding="utf-8")
        run("report", model, "--attributes", place, "-o", tmp_path / f"a{blank}.html")
    assert [data_in(tmp_path / f"a{blank}.html")["groups"] for blank in ("", " ")] == [
        [{"name": "red", "color": data_in(tmp_path / "a.html")["groups"][0]["color"]}]
    ] * 2


@pytest.mark.parametrize("words", [["report"], ["plot", "network"], ["export"]])
def test_attributes_have_names(tmp_path, model, words):
    (tmp_path / "groups.csv").write_text("name, ,kind\nwater,1,red\n", encoding="utf-8")
    message = data_error(*words, model, "--attributes", tmp_path / "groups.csv", "-o", "-")
    assert "must have a header with different names of attributes after that of the nodes; got '', 'kind'." in message


@pytest.mark.parametrize("name", ["degree", "x"])
def test_an_attribute_that_has_the_name_of_a_column_is_refused_with_its_file(tmp_path, model, name):
    (tmp_path / "groups.csv").write_text(f"name,{name}\nwater,1\n", encoding="utf-8")
    message = data_error("export", model, "--attributes", tmp_path / "groups.csv")
    assert f"groups.csv: an attribute of nodes cannot be called {name!r}: isinglass, Gephi," in message


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_figures_are_the_same_bytes_every_time(tmp_path, model, ending):
    for name in "ab":
        run("plot", "network", model, "-o", tmp_path / f"{name}.{ending}")
    first, second = files_of(tmp_path).values()
    assert first == second


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [("path", "TABLE"), ("bootstrap", "--kind rows"), ("stability", "--kind case-drop")],
)
def test_figures_say_what_they_need(tmp_path, model, kind, wanted):
    assert wanted in error_line(run("plot", kind, model, "-o", tmp_path / "a.png", code=2))
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_said_of_a_table_that_is_not_read(tmp_path, folder, model):
    for words in (["report", model], ["plot", "path", model]):
        line = error_line(run(*words, "--weights", "nope", "--missing", "drop", "-o", "-", code=2))
        assert line == "Error: No TABLE is given that could be read with --missing and --weights."
    line = error_line(run("plot", "network", model, folder / "table.csv", "-o", tmp_path / "a.png", code=2))
    assert line == "Error: TABLE is for path, check; the figure network does not use it."


def test_the_path_can_be_made_from_the_table(tmp_path, folder, model):
    run("plot", "path", model, folder / "table.csv", "-o", tmp_path / "a.png")
    assert (tmp_path / "a.png").exists()
    other = write_csv(tmp_path / "f.csv", NAMES, (1 - X).tolist())
    assert "fitted to" in data_error("plot", "path", model, other, "-o", tmp_path / "b.png")


def test_the_fit_warned_about_its_table_already(tmp_path):
    rows = [["" if k % 3 else x[0], *x[1:], 100.5] for k, x in enumerate(X.tolist())]
    table = write_csv(tmp_path / "table.csv", [*NAMES, "w"], rows)
    how = ["--missing", "drop", "--weights", "w", "--alpha", "0.05", "-o", tmp_path / "net"]
    said = run("fit", table, *how).stderr
    assert "--missing drop left out" in said
    assert "--weight-kind sampling" in said
    for words, ending in ((["report"], "html"), (["plot", "check"], "png")):
        assert "Warning" not in run(*words, tmp_path / "net", table, "-o", tmp_path / f"net.{ending}").stderr


def test_the_report_does_not_resample_again(tmp_path, folder, resampled, monkeypatch):
    """As the figures above, it shows what was computed once."""
    refuse_to_resample(monkeypatch)
    model = folder / "given" / "model.npz"
    run("report", model, "--bootstrap", resampled, "-o", tmp_path / "a.html")
    assert "12 bootstrap resamples of rows" in data_in(tmp_path / "a.html")["methods"]


def test_resamples_of_one_penalty_per_node(tmp_path, folder):
    how = ["--method", "nodewise", "--select", "ebic"]
    run("fit", folder / "table.csv", *how, "-o", tmp_path / "net")
    run("bootstrap", folder / "table.csv", *how, "-B", "3", "-o", tmp_path / "boot")
    words = ["plot", "bootstrap", tmp_path / "net" / "model.npz", "--bootstrap", tmp_path / "boot"]
    run(*words, "-o", tmp_path / "a.png")
    assert (tmp_path / "a.png").exists()


@pytest.fixture(scope="module")
def weighted(tmp_path_factory):
    """Return a table with weights and missing cells, and its fit."""
    place = tmp_path_factory.mktemp("weighted")
    cells = np.column_stack([X, 0.5 + np.arange(300) % 3]).astype(object)
    cells[5, 2] = cells[90, 0] = "NA"
    table = write_csv(place / "table.csv", [*NAMES, "w"], cells.tolist())
    run("fit", table, "--weights", "w", "--missing", "drop", "--alpha", "0.05", "-o", place / "net")
    return table, place / "net" / "model.npz"


def test_resamples_must_be_those_of_the_model(tmp_path, weighted, resampled):
    _, model = weighted
    words = ["plot", "bootstrap", model, "--bootstrap", resampled, "-o", tmp_path / "a.png"]
    assert "other edges" in error_line(run(*words, code=3))
    (tmp_path / "empty").mkdir()
    message = error_line(run(*words[:4], tmp_path / "empty", "-o", tmp_path / "a.png", code=2))
    assert "has no resamples.npz, which `isinglass bootstrap TABLE --kind rows -o FOLDER` writes" in message
    assert not (tmp_path / "a.png").exists()


def test_wrong_values_of_plot_are_wrong_usage(tmp_path, folder, model):
    words = ["plot", "network", model, "-o", tmp_path / "a.PNG"]
    assert "20<=x<=1000" in error_line(run(*words, "--width", "5", code=2))
    run(*words[:4], tmp_path / "new" / "folder" / "a.PNG")
    assert (tmp_path / "new" / "folder" / "a.PNG").read_bytes().startswith(b"\x89PNG")


def test_plot_knows_its_formats(tmp_path, model):
    assert ".svg" in error_line(run("plot", "network", model, "-o", tmp_path / "a.jpg", code=2))


def test_plot_without_matplotlib_says_what_to_install(tmp_path, model, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for module in ("isinglass.show.plot", "isinglass.show.plot.canvas"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    assert "isinglass[plot]" in error_line(run("plot", "network", model, "-o", tmp_path / "a.png", code=1))


def test_a_named_file_is_replaced(tmp_path, folder, model):
    commands = {
        "a.csv": ["predict", model, folder / "table.csv"],
        "a.tex": ["export", model],
        "a.png": ["plot", "network", model],
        "a.html": ["report", model],
    }
    for name, words in commands.items():
        (tmp_path / name).write_text("old")
        run(*words, "-o", tmp_path / name)
        assert (tmp_path / name).read_bytes() != b"old"
    assert files_of(tmp_path).keys() == commands.keys()  # no temporary files


def test_a_figure_on_stdout(tmp_path, model, monkeypatch):
    run("plot", "network", model, "-o", tmp_path / "a.png")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert run("plot", "network", model, "-o", "-").stdout_bytes == (tmp_path / "a.png").read_bytes()
    assert list(Path().iterdir()) == []
    run("plot", "network", model)
    assert Path("network.png").read_bytes() == (tmp_path / "a.png").read_bytes()


# ------------------------------------------------------------------------------------------- report


def test_report(tmp_path, folder):
    page = tmp_path / "page.html"
    words = ["report", folder / "stars" / "model.npz", folder / "table.csv", "--attributes", folder / "groups.csv"]
    run(*words, "-o", page)
    text = page.read_text(encoding="utf-8")
    assert "<title>stars" in text  # the name of the folder
    assert "isinglass report" in text
    assert "isinglass fit" in text  # the folder of the model tells how it was made
    assert "<sugar>" not in text
    run(*words, "-o", tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == text


def test_a_report_on_stdout(tmp_path, model, monkeypatch):
    run("report", model, "-o", tmp_path / "a.html")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert run("report", model, "-o", "-").stdout_bytes == (tmp_path / "a.html").read_bytes()
    assert list(Path().iterdir()) == []
    run("report", model)
    assert Path("report.html").read_bytes() == (tmp_path / "a.html").read_bytes()


def test_a_page_never_replaces_a_table(tmp_path, folder):
    table = write_table(tmp_path / "table.csv")
    before = table.read_bytes()
    answer = run("report", folder / "given", "-o", table, code=2)
    assert "table.csv' must end in .html, .htm." in error_line(answer)
    assert table.read_bytes() == before
    run("report", folder / "given", "-o", tmp_path / "a.HTM")
    answer = run("export", folder / "given", "-o", tmp_path / "a.html", code=2)
    assert error_line(answer).endswith("or add --format.")


def test_the_folder_of_a_fit_is_no_bootstrap(tmp_path, folder):
    run("fit", folder / "table.csv", "--alpha", "0.05", "-o", tmp_path / "net")
    answer = run("report", tmp_path / "net", "--bootstrap", tmp_path / "net", "-o", tmp_path / "a.html", code=2)
    assert "isinglass bootstrap TABLE --kind rows" in " ".join(answer.stderr.split())
    assert not (tmp_path / "a.html").exists()


def test_report_shows_what_the_bootstrap_wrote(tmp_path, folder, model):
    run("bootstrap", folder / "table.csv", "--alpha", "0.05", "-B", "12", "-o", tmp_path / "boot")
    words = ["report", model, folder / "table.csv", "--bootstrap", tmp_path / "boot"]
    run(*words, "-o", tmp_path / "a.html")
    data = data_in(tmp_path / "a.html")
    found = resample(X, 0.05, n_boot=12, random_state=0)
    columns = {column["label"]: column["values"] for column in data["edge_columns"]}
    assert {"n11", "q2.5", "q97.5", "inclusion"} <= columns.keys()
    place = {pair: k for k, pair in enumerate(zip(data["path"]["s"], data["path"]["t"], strict=True))}
    for k, pair in enumerate(found.edge_index.tolist()):
        if tuple(pair) in place:
            assert columns["inclusion"][place[tuple(pair)]] == pytest.approx(found.inclusion[k], rel=1e-4)
            assert columns["q2.5"][place[tuple(pair)]] == pytest.approx(found.edge_quantiles[0, k], rel=1e-4)
    nodes = {column["label"]: column["values"] for column in data["nodes"]["columns"]}
    assert nodes["bootstrap strength q97.5"] == pytest.approx(found.nodes()["q97.5"], rel=1e-4)
    assert "accuracy" in nodes
    assert data["settings"]["Bootstrap"] == "12 resamples, kind rows"

    run("bootstrap", folder / "table.csv", "--alpha", "0.1", "-B", "2", "-o", tmp_path / "other")
    assert "other edges" in data_error(*words[:-1], tmp_path / "other", "-o", tmp_path / "b.html")
    assert "bootstrap" in error_line(run(*words[:-1], folder, "-o", tmp_path / "b.html", code=2))
    assert not (tmp_path / "b.html").exists()


def test_report_makes_the_slider_of_a_single_fit_from_the_table(tmp_path, folder, model):
    run("report", model, "-o", tmp_path / "alone.html")
    run("report", model, folder / "table.csv", "-o", tmp_path / "both.html")
    alone, both = (alphas_in(tmp_path / name) for name in ("alone.html", "both.html"))
    assert len(alone) == 1
    assert len(both) == 31  # the fit's own alpha is among them
    assert 0.05 in both


def test_report_is_about_the_table_of_the_fit(tmp_path, folder, model, weighted):
    """Forgotten weights would give other certificates and predictions under the name of this model."""
    table, other = weighted
    words = ["report", other, table, "--missing", "drop", "-o", tmp_path / "a.html"]
    assert "options of the fit" in data_error(*words, "--weights", "none")
    flipped = write_csv(tmp_path / "f.csv", NAMES, (1 - X).tolist())
    assert "has other shares of its values" in data_error("report", model, flipped, "-o", tmp_path / "b.html")
    for kind in ("path", "check"):
        assert "has other shares of its values" in data_error("plot", kind, model, flipped, "-o", tmp_path / "c.png")
    run(*words, "--weights", "w")


def test_nothing_has_to_be_said_twice(tmp_path, weighted):
    table, model = weighted
    said = ["--missing", "drop", "--weights", "w"]
    assert score(model, table).stdout == score(model, table, *said).stdout
    for words in (["report", model, table], ["plot", "path", model, table]):
        ending = "png" if words[0] == "plot" else "html"
        run(*words, "-o", tmp_path / f"a.{ending}")
        run(*words, *said, "-o", tmp_path / f"b.{ending}")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    pages = [data_in(tmp_path / f"{name}.html") for name in "ab"]
    for page in pages:
        del page["command"]
    assert pages[0] == pages[1]
    assert run("predict", model, table).stdout.count("\n") == 301  # every row has an answer here: none is dropped
    assert run("predict", model, table, "--impute").stdout.count("\n") == 301


def test_report_of_weighted_rows(tmp_path, weighted):
    table, model = weighted
    run("report", model, table, "--missing", "drop", "--weights", "w", "-o", tmp_path / "a.html")
    data = data_in(tmp_path / "a.html")
    kept = np.delete(np.arange(300), [5, 90])
    weight = (0.5 + np.arange(300) % 3)[kept]
    means = np.average(X[kept], axis=0, weights=weight)
    effective = pytest.approx(weight.sum() ** 2 / (weight**2).sum())
    assert (data["n_rows"], data["effective_rows"]) == (298, effective)
    entropy = -(means * np.log(means) + (1 - means) * np.log(1 - means)).sum()
    assert data["certificate"]["null_objective"] == pytest.approx(entropy)
    run("report", model, "-o", tmp_path / "b.html")
    alone = data_in(tmp_path / "b.html")
    assert (alone["n_rows"], alone["effective_rows"]) == (298, effective)
    assert alone["certificate"]["null_objective"] == pytest.approx(entropy)


def test_report_tells_the_settings_of_the_fit(tmp_path, weighted):
    """Not the defaults of a class that the user never saw."""
    _, model = weighted
    run("report", model, "-o", tmp_path / "a.html")
    settings = data_in(tmp_path / "a.html")["settings"]
    assert settings["Penalty"] == "0.05 (given)"
    assert settings["Values"] == "0 and 1"
    assert "None" not in settings.values()
    alone = tmp_path / "moved.npz"
    alone.write_bytes(model.read_bytes())
    run("report", alone, "-o", tmp_path / "b.html")
    settings = data_in(tmp_path / "b.html")["settings"]
    assert (settings["Penalty"], settings["Method"]) == ("0.05 (given)", "joint pseudo-likelihood")


@pytest.mark.parametrize(("method", "kind"), [("joint", "joint"), ("nodewise", "nodewise")])
def test_report_knows_what_its_certificate_is_about(tmp_path, folder, method, kind):
    run("fit", folder / "table.csv", "--method", method, "--alpha", "0.1", "-o", tmp_path / "net")
    run("report", tmp_path / "net" / "model.npz", folder / "table.csv", "-o", tmp_path / "a.html")
    data = data_in(tmp_path / "a.html")
    assert data["certificate"]["kind"] == kind
    assert data["certificate"]["rule"] == ("and" if method == "nodewise" else None)
    assert 0.1 in data["path"]["alphas"]
    assert data["certificate"]["kkt_residual"][data["path"]["selected"]] is not None
    assert data["command"].endswith(" -o {page}")  # the page puts its own name there


def data_in(page) -> dict:
    """Return the data in a page."""
    text = page.read_text(encoding="utf-8")
    start = text.index(">", text.index('type="application/json"')) + 1
    return json.loads(text[start : text.index("</script>", start)])


def alphas_in(page) -> list[float]:
    """Return the alphas of the slider."""
    return data_in(page)["path"]["alphas"]


def test_a_model_with_a_penalty_per_node_has_no_path(tmp_path, folder):
    run("fit", folder / "table.csv", "--method", "nodewise", "-o", tmp_path / "net")
    for words in ([], [folder / "table.csv"]):
        line = error_line(run("plot", "path", tmp_path / "net", *words, "-o", tmp_path / "a.png", code=2))
        assert "has a penalty for each node" in line
        assert "--alpha" not in line


def test_exported_json_has_alpha_and_certificate(model):
    exported = json.loads(run("export", model, "--format", "json").stdout)
    solution = load(model).solution
    assert exported["graph"]["alpha"] == solution.alpha
    assert exported["graph"]["kkt_residual"] == solution.kkt_residual
    assert exported["graph"]["converged"] is True


def test_summaries_count_columns_as_the_file_does(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("".join(f"p{k},{k % 5 + 1},{k % 2},{k % 3 % 2}\n" for k in range(60)))
    said = run("fit", file, "--ordinal", "#1", "--alpha", "0.1", "-o", tmp_path / "net").stderr
    assert "column 1" in said.split("id column")[1].split("\n")[0]


def test_resamples_are_no_model(tmp_path, resampled):
    line = error_line(run("export", resampled / "resamples.npz", code=3))
    assert "must hold a network, as the model.npz of `isinglass fit` does; got the record Bootstrap" in line
