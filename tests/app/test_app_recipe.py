"""What the app shows is what it does: its commands, its Python code and its own results agree."""

import itertools
import json
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import write_csv

from isinglass.app import worker
from isinglass.app.controls import LABELS, OPTIONS, name_control
from isinglass.app.recipe import FIGURES, Choices, Recipe
from isinglass.app.server import SCRIPTS
from isinglass.app.worker import run
from isinglass.cli.console import Page
from isinglass.data.files.read_table import read_table

HOSTILE = ["a,b", 'say "hi"', "x=1", "#2", "A:B", "star*", "none", "-o", " blank ", "</script>", "new\nline", "é", ""]


def run_command(words):
    return worker.run_command(words, Page(name_control))


def see(recipe):
    """Return the recipe with what the worker sees of its table."""
    (words,) = recipe.commands("look")
    table = json.loads(run_command(words))
    return replace(recipe, table=table), table


def chosen_for(recipe, record):
    """Return the recipe with what was chosen, and seen again."""
    return see(replace(recipe, choices=Choices.read(record, len(recipe.table["columns"]))))[0]


def words_of(recipe, job="fit"):
    """Return the options about the table of the command of a fit, or of a comparison."""
    ((_, _, *words), *_) = recipe.commands(job)
    return words[: words.index("--resamples" if job == "compare" else "-o")]


def warnings_of(*words):
    """Return what a command warned of."""
    page = Page(name_control)
    worker.run_command([*words], page)
    return " ".join(page.warnings)


def parse(words):
    """Return the arguments of `read_table` that the command line makes of options."""
    from isinglass.cli.info import info
    from isinglass.cli.resampling import compare
    from isinglass.cli.settings import READING

    command = compare if "--groups" in words else info
    with command.make_context("", list(words)) as ctx:
        said = READING.make(**{name: ctx.params[name] for name in READING.options}).said
        said |= {"labels": [ctx.params["groups"]]} if command is compare else {}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in said.items()}


@pytest.fixture
def survey(tmp_path, monkeypatch):
    """A table with everything: names of rows, weights, groups, kinds, codes, holes."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    n = 150
    mood = rng.normal(size=n)
    likert = np.clip(np.round(3 + 1.2 * mood[:, None] + 0.7 * rng.normal(size=(n, 4))), 1, 5).astype(int).astype(object)
    likert[rng.random((n, 4)) < 0.03] = 99
    likert[rng.random((n, 4)) < 0.02] = ""
    rows = [
        [f"p{k}", round(float(rng.uniform(0.5, 2)), 2), "fm"[k % 2], *likert[k], "yes" if mood[k] > 0 else "no", color]
        for k, color in enumerate(rng.choice(["red", "blue", "green"], n).tolist())
    ]
    for row, noise in zip(rows, rng.normal(size=n).tolist(), strict=True):
        row.append(round(noise, 3))
    header = ["person", "w", "sex", "L1", "L2", "L3", "L4", "glad", "color", "score"]
    return write_csv(tmp_path / "survey.csv", header, rows)


CHOICES = {
    "as it is": {},
    "codes": {"codes": {"-1": ["99"]}},
    "codes of columns": {"codes": {"2": ["99"], "3": ["99", "0"], "4": ["99"], "5": ["99"], "-1": ["x"]}},
    "weights and groups": {
        "weights": 0,
        "weight_kind": "sampling",
        "groups": 1,
        "codes": {"-1": ["99"]},
        "missing": "drop",
    },
    "kinds": {"kinds": {"2": "nominal", "8": "continuous", "7": "nominal"}, "left_out": [0, 3], "missing": "drop"},
    "covariates": {"covariates": [1, 6], "left_out": [8], "weights": 0},
    "groups alone": {"groups": 6, "left_out": [1, 8], "missing": "zero"},
}


@pytest.mark.parametrize("chosen", CHOICES.values(), ids=CHOICES)
def test_the_command_line_says_what_the_arguments_say(survey, chosen):
    recipe, _ = see(Recipe(survey.name))
    recipe = chosen_for(recipe, chosen)
    for job in ("fit", "compare") if "groups" in chosen else ("fit",):
        assert parse([survey.name, *words_of(recipe, job)]) == recipe.arguments(job)


@pytest.mark.parametrize(
    ("chosen", "figures"),
    [
        pytest.param(CHOICES["codes of columns"], [*FIGURES], marks=pytest.mark.long, id="codes"),
        pytest.param({**CHOICES["weights and groups"], "left_out": [7, 8]}, ["network", "stability"], id="groups"),
    ],
)
def test_commands_code_and_app_find_the_same(survey, chosen, figures):
    """The app runs the commands; the code that it shows must find the same edges, differences and figures."""
    pytest.importorskip("matplotlib")
    first, _ = see(Recipe(survey.name))
    numbers = {"resamples": 10, "permutations": 3, "ending": "svg"}
    recipe = chosen_for(first, {"left_out": [0, 7, 8], "covariates": [6], **chosen, **numbers})
    jobs = ["fit", "bootstrap", *(["compare"] if "groups" in chosen else [])]
    drawn = [replace(recipe, choices=replace(recipe.choices, figure=kind)) for kind in figures]
    for words in itertools.chain(*(recipe.commands(job) for job in jobs), *(one.commands("figure") for one in drawn)):
        run_command(words)
    check = """
import csv
def edges(file, name):
    return {(row["source"], row["target"]): float(row[name]) for row in csv.DictReader(open(file, encoding="utf-8"))}
def same(file, found, name):
    ours = dict(zip(zip(found["source"], found["target"]), map(float, found[name])))
    assert ours == edges(file, name) and ours, (ours, edges(file, name))
same("survey/edges.csv", fit.edges(), "coupling")
same("survey-bootstrap/edges.csv", resamples.edges(), "inclusion")
"""
    if "compare" in jobs:
        check += 'same("survey-groups/edges.csv", comparison.edges(), "p")\n'
    Path("survey.html").unlink()
    code = "\n".join([*(recipe.code(job) for job in jobs), *(one.code("figure") for one in drawn), check])
    subprocess.run([sys.executable, "-c", code], check=True)
    assert Path("survey.html").stat().st_size > 10_000
    assert ("compare" in jobs) == Path("survey-groups.html").exists()
    for kind in figures:
        ours, theirs = (Path(folder, f"{kind}.svg").stat().st_size for folder in ("survey-figures", "."))
        assert theirs == pytest.approx(ours, rel=0.5)


def test_hostile_names_are_quoted_or_become_numbers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    names = ["id", *HOSTILE]
    rows = [[f"p{k}", *rng.integers(1, 5, len(HOSTILE)).tolist()] for k in range(60)]
    write_csv(tmp_path / "table.csv", names, rows)
    recipe, table = see(Recipe("table.csv"))
    keys = [column["key"] for column in table["columns"]]
    assert keys == [j if name in ("#2", "none", "-o", "") else " ".join(name.split()) for j, name in enumerate(HOSTILE)]
    places = range(len(HOSTILE))
    for weights, groups in [(None, None), (2, 5), (7, 0)]:
        left_out = {1, 3, 9, 12} - {weights, groups}
        kinds = {str(j): "nominal" if j % 2 else "ordinal" for j in places}
        record = {
            "left_out": sorted(left_out),
            "weights": weights,
            "groups": groups,
            "kinds": kinds,
            "codes": {str(j): ["4"] for j in (0, 1, 2, 4, 8, 10) if j != weights},
        }
        chosen = chosen_for(recipe, record)
        for job in ("fit", "compare") if groups is not None else ("fit",):
            said = chosen.arguments(job)
            assert parse(["table.csv", *words_of(chosen, job)]) == said
            data = read_table("table.csv", **said)
            kept = [j for j in places if j not in left_out | {weights, groups}]
            assert data.names == tuple(table["columns"][j]["name"] for j in kept)
            assert list(data.variables.kinds) == ["nominal" if j % 2 else "ordinal" for j in kept]
            assert (data.sample_weight is None) == (weights is None)
        assert shlex.split(chosen.command_text("fit").splitlines()[0])[1:] == chosen.commands("fit")[0]


def test_columns_without_names_have_numbers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savetxt("plain.csv", np.random.default_rng(0).integers(0, 3, (50, 6)), fmt="%d", delimiter=",")
    recipe, table = see(Recipe("plain.csv"))
    assert [column["key"] for column in table["columns"]] == list(range(6))
    assert table["file"] == ["header 'none'"]
    chosen = chosen_for(recipe, {"left_out": [1], "weights": 0})
    said = chosen.arguments()
    assert parse(["plain.csv", *words_of(chosen)]) == said
    assert read_table("plain.csv", **said).shape == (50, 4)


def test_numbers_of_columns_do_not_count_row_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(0).integers(0, 3, (50, 5)).tolist()
    Path("plain.csv").write_text("".join(f"p{k},{','.join(map(str, row))}\n" for k, row in enumerate(rows)))
    recipe, found = see(Recipe("plain.csv"))
    assert found["has_row_names"]
    said = chosen_for(recipe, {"left_out": [1], "weights": 0}).arguments()
    assert said["id_column"] == 0
    assert parse(["plain.csv", *words_of(chosen_for(recipe, {"left_out": [1], "weights": 0}))]) == said
    assert read_table("plain.csv", **said).shape == (50, 3)


def test_a_column_that_names_rows_can_be_used(survey):
    recipe, table = see(Recipe(survey.name, row_names=False))
    assert table["columns"][0]["name"] == "person"
    assert table["columns"][0]["kind"] is None
    assert recipe.arguments()["id_column"] is None
    assert "--id-column none" in recipe.command_text("fit")


BAD = [
    {"kinds": {"0": "binary"}},
    {"kinds": {"9": "ordinal"}},
    {"kinds": {"x": "ordinal"}},
    {"kinds": ["ordinal"]},
    {"kinds": {"0": ["ordinal"]}},
    {"left_out": [True]},
    {"left_out": [-1]},
    {"covariates": [4]},
    {"covariates": 1},
    {"left_out": 3},
    {"left_out": ["0"]},
    {"codes": {"0": [""]}},
    {"codes": {"0": [" "]}},
    {"codes": {"-2": ["99"]}},
    {"codes": {"0": [99]}},
    {"missing": "error"},
    {"missing": None},
    {"weights": 1.0},
    {"weight_kind": "other"},
    {"row_names": False},
    {"resamples": 9},
    {"resamples": 10**9},
    {"resamples": True},
    {"permutations": 0},
    {"figure": "../network"},
    {"ending": "exe"},
    {"other": 1},
    [],
    None,
    "text",
]


@pytest.mark.parametrize("record", BAD, ids=str)
def test_choices_are_checked(record):
    with pytest.raises(ValueError, match=r"\S"):
        Choices.read(record, 4)


def test_choices_go_to_the_page_and_back():
    record = {
        "kinds": {"1": "ordinal"},
        "left_out": [0, 2],
        "covariates": [1],
        "codes": {"-1": ["99"], "3": ["x"]},
        "weights": 3,
        "resamples": 17,
    }
    found = Choices.read(record, 4)
    again = json.loads(json.dumps(vars(found)))
    assert vars(Choices.read(again, 4)) == {**vars(found), "left_out": [0, 2]}


def test_kinds_and_codes_are_sent_for_single_columns():
    before = Choices.read({"kinds": {"1": "ordinal", "2": "nominal"}, "codes": {"-1": ["99"]}}, 4)
    found = Choices.read({"kinds": {"0": "nominal", "2": None}, "codes": {"3": ["x"]}}, 4, before)
    assert (found.kinds, found.codes) == ({0: "nominal", 1: "ordinal"}, {-1: ["99"], 3: ["x"]})


def test_the_page_offers_the_figures_that_commands_draw():
    from isinglass.cli.presentation import KINDS

    assert {*FIGURES} == {*KINDS} - {"check"}  # which needs the table
    assert all(figure["title"] for figure in FIGURES.values())


def test_messages_name_controls_of_the_page_and_else_options_of_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    trait = rng.normal(size=(300, 1)) * [1, 1, 1, 1, -1] + rng.normal(size=(300, 5))
    frame = pd.DataFrame(np.clip(np.round(1.5 * trait) + 4, 1, 7).astype(int), columns=list("abcde"))
    frame.to_csv("items.csv", index=False)
    said = warnings_of("look", "items.csv", "--ordinal", "a:e")
    assert "--reverse e on the command line" in said
    frame.mask(frame == 7).to_csv("items.csv", index=False)
    with pytest.raises(Exception, match="“Missing cells: impute them”"):
        run_command(["fit", "items.csv", "--ordinal", "a:e"])
    frame.assign(f=frame["a"], weight=0.5).to_csv("items.csv", index=False)
    said = warnings_of("look", "items.csv")
    assert "untick f" in said
    assert "--" not in said.replace("--reverse e", "")
    items = frame.assign(a=np.resize([1, 2, 3, 4, 5, 99], 300))
    items.to_csv("items.csv", index=False)
    assert "use “Codes for missing answers: 99”." in warnings_of("look", "items.csv")
    items.assign(f=np.arange(300) % 120).to_csv("items.csv", index=False)
    assert "use “99 is missing in a”." in warnings_of("look", "items.csv")


def test_a_control_without_a_value_is_called_by_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "one.csv", ["a", "b"], [[k % 2, k % 3 % 2] for k in range(20)])
    wanted = "“Use”, “Weights of the rows” and “The first column names the rows” must leave at least one column; none"
    with pytest.raises(Exception, match=wanted):
        run_command(["fit", "one.csv", "--drop", "a,b"])


def test_groups_are_called_by_their_control(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "one.csv", ["a", "b", "g"], [[k % 2, k % 3 % 2, "x"] for k in range(20)])
    with pytest.raises(Exception, match="“Groups to compare” must name at least two groups"):
        run_command(["compare", "one.csv", "--groups", "g"])


def test_the_words_of_controls_are_written_once():
    page, *scripts = (files("isinglass.app").joinpath(name).read_text("utf-8") for name in ("app.html", *SCRIPTS))
    script = "".join(scripts)
    assert re.findall(r'src="(\w+\.js)"', page) == ["elements.js", *SCRIPTS]
    words = [*LABELS.values(), *(word for options in OPTIONS.values() for word in options.values())]
    assert [word for word in words if f">{word}<" in page or f'"{word}"' in script] == []


def test_missing_groups_are_treated_as_chosen(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(
        "\n".join(["a,b,g", *(f"{k % 2},{k % 3 % 2},{'xy'[k % 2]}" for k in range(30)), "0,1,"])
    )
    recipe = chosen_for(see(Recipe("t.csv"))[0], {"groups": 2, "missing": "drop"})
    assert recipe.arguments("compare")["missing"] == "drop"
    assert "missing" not in recipe.arguments("fit")  # which leaves the column out


@pytest.mark.parametrize("name", ["My data (2020).csv", 'it\'s "x".csv', "-o.csv", "a;rm -rf $(x).csv", "größe.csv"])
def test_commands_and_code_to_copy_name_the_file_as_the_user_does(name):
    """Commands that are run name the file on disk, which cannot be read as an option."""
    columns = [{"key": name, "kind": "binary", "stated": True, "missing": 0.0} for name in "ab"]
    recipe = Recipe(name, table={"columns": columns})
    for line, words in zip(recipe.command_text("fit").splitlines(), recipe.commands("fit"), strict=True):
        typed = shlex.split(line)[1:]
        assert Path(typed[typed.index(words[-1]) - 2 if words[0] == "report" else 1]).name == name
        assert not any(word.startswith("-") for word in typed if name in word)
        assert recipe.file in words
    assert f"read_table({name!r})" in recipe.code("fit")
    assert recipe.file[0].isalnum()


def test_the_name_on_disk_keeps_what_says_the_format():
    kept = ["My data (2020).csv", "nltcs.train.csv.gz", "größe.sav", "wave 1’s – 100%.csv", "it's [1].csv"]
    assert [Recipe(name).file for name in kept] == kept
    assert Recipe("Data <final>.CSV.gz").file == "Data -final-.CSV.gz"
    assert [Recipe(name).file for name in ("../../etc/passwd", "-o.csv", "..")] == ["passwd.txt", "o.csv", "table.txt"]
    assert len(Recipe("x" * 5000 + ".csv").file) <= 64
    assert Recipe("My data (2020).csv").fill("{stem}.html") == "My-data-2020.html"


@pytest.mark.parametrize("name", ["survey", "survey.npz", "survey.html"])
def test_no_result_is_called_as_the_file(name):
    columns = [{"key": name, "kind": "binary", "stated": True, "missing": 0.0} for name in "ab"]
    recipe = Recipe(name, table={"columns": columns})
    for words in recipe.commands("fit", name):
        assert words[words.index("-o") + 1] != name
    assert recipe.code("fit").count(name + '"') == 0  # as the code calls its results


def test_a_message_is_not_cut_at_words_of_the_user(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "t.csv", ["Error: rate", "b"], [["xyz"[k % 3], k % 2] for k in range(30)])
    sent = []
    run(str(tmp_path), [["look", "t.csv", "--ordinal", "Error: rate"]], send=lambda **news: sent.append(news))
    assert sent[-1]["state"] == "failed"
    assert "column 'Error: rate'" in sent[-1]["error"]


def test_a_column_without_answers_is_left_out_until_it_has_some(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "t.csv", ["a", "b", "c"], [[k % 2, k % 3 % 2, 98 + k % 2] for k in range(30)])
    first = see(Recipe("t.csv"))[0]
    for more in ({}, {"kinds": {"2": "nominal"}}):
        marked = chosen_for(first, {"codes": {"2": ["98", "99"]}, **more})
        assert marked.arguments()["drop"] == ["c"]
        assert "kinds" not in marked.arguments()
        run_command(marked.commands("fit")[0])
    assert "drop" not in chosen_for(marked, {"codes": {"2": ["98"]}}).arguments()


def test_values_keep_their_digits_so_that_a_click_finds_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{k % 2},{(1234567.5, 1234568.5, 1234570.5)[k % 3]}" for k in range(12)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b", *rows]))
    recipe = chosen_for(see(Recipe("t.csv"))[0], {"kinds": {"1": "ordinal"}})
    assert recipe.table["columns"][1]["values"] == ["1234567.5", "1234568.5", "1234570.5"]
