"""Running the study: cells that resume, files that are complete or absent, and the whole command."""

import json
import os
import signal
import subprocess
import sys
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

import paper
from paper import __main__ as command
from paper import files, page, study
from paper.study import Config

ITEM = """
import os, signal
from pathlib import Path
VERSION, TIMED = 1, {timed}
LOG = Path({log!r})

def cells(config):
    return [{{"k": k, "seed": config.seed}} for k in range(6)]

def run_cell(cell):
    with LOG.open("a") as log:
        log.write(f"{{cell['k']}}\\n")
    if (LOG.parent / "broken").exists() and cell["k"] == 3:
        raise RuntimeError("broken")
    if (LOG.parent / "deadly").exists() and cell["k"] == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return [{{"k": cell["k"], "half": h, "value": cell["k"] / 3 + h, "pid": os.getpid()}} for h in (0, 1)]
"""


@pytest.fixture
def make_item(tmp_path, monkeypatch):
    """Return a function that writes an item of six cells to a module of its own and imports it."""
    monkeypatch.syspath_prepend(str(tmp_path))
    made = []

    def make(*, timed=False):
        name = f"fake_item_{len(made)}_{abs(hash(str(tmp_path)))}"
        (tmp_path / f"{name}.py").write_text(ITEM.format(timed=timed, log=str(tmp_path / "log")))
        made.append(name)
        return import_module(name)

    yield make
    for name in made:
        sys.modules.pop(name, None)


def calls(tmp_path):
    """Return which cells the fake item has computed, in order."""
    log = tmp_path / "log"
    return [int(line) for line in log.read_text().split()] if log.exists() else []


def test_finished_cells_are_not_computed_again(make_item, tmp_path):
    item, settings = make_item(), Config(cache=tmp_path / "cache")
    first = study.run(item, settings)
    assert [(row["k"], row["half"]) for row in first] == [(k, h) for k in range(6) for h in (0, 1)]
    assert study.run(item, settings) == first
    assert calls(tmp_path) == list(range(6))


def test_failure_keeps_what_was_finished_and_names_the_cell(make_item, tmp_path):
    item, settings = make_item(), Config(cache=tmp_path / "cache")
    (tmp_path / "broken").touch()
    with pytest.raises(RuntimeError, match="broken") as caught:
        study.run(item, settings)
    assert "'k': 3" in caught.value.__notes__[0]
    (tmp_path / "broken").unlink()
    assert len(study.run(item, settings)) == 12
    assert calls(tmp_path) == [0, 1, 2, 3, 3, 4, 5]


@pytest.mark.long
def test_killed_run_resumes_where_it_was(make_item, tmp_path):
    item, cache = make_item(), tmp_path / "cache"
    script = (
        f"import sys; sys.path[:0] = [{str(files.ROOT)!r}, {str(tmp_path)!r}]\n"
        f"import {item.__name__} as item; from pathlib import Path\n"
        f"from paper import study\n"
        f"study.run(item, study.Config(cache=Path({str(cache)!r})))"
    )
    (tmp_path / "deadly").touch()
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == -signal.SIGKILL
    (tmp_path / "deadly").unlink()
    kept = [json.loads(file.read_text()) for file in (cache / item.__name__).glob("*.json")]
    assert sorted(content["cell"]["k"] for content in kept) == [0, 1, 2]
    assert len(study.run(item, Config(cache=cache))) == 12
    assert calls(tmp_path) == [0, 1, 2, 3, 3, 4, 5]


def test_rows_do_not_depend_on_the_number_of_jobs(make_item, tmp_path):
    item = make_item()
    alone, shared = (study.run(item, Config(jobs=jobs, cache=tmp_path / str(jobs))) for jobs in (1, 2))
    assert [{**row, "pid": 0} for row in alone] == [{**row, "pid": 0} for row in shared]
    assert {row["pid"] for row in alone} == {os.getpid()}
    assert os.getpid() not in {row["pid"] for row in shared}


def test_timed_cells_run_one_after_the_other_in_this_process(make_item, tmp_path):
    rows = study.run(make_item(timed=True), Config(jobs=4, cache=tmp_path / "cache"))
    assert {row["pid"] for row in rows} == {os.getpid()}
    assert calls(tmp_path) == list(range(6))


def test_key_of_a_cell_is_all_of_it_and_the_version(make_item, tmp_path):
    item = make_item()
    found = {study.cell_file(item, cell, tmp_path) for cell in ({"a": 1, "b": 2.0}, {"b": 2.0, "a": 1})}
    assert len(found) == 1
    found |= {study.cell_file(item, cell, tmp_path) for cell in ({"a": 1, "b": 2.5}, {"a": 1}, {"a": 1, "b": "2.0"})}
    item.VERSION = 2
    found.add(study.cell_file(item, {"a": 1, "b": 2.0}, tmp_path))
    assert len(found) == 5


def test_command_starts_again_with_one_thread_for_every_library(tmp_path):
    """And so do the workers, which inherit it."""
    environment = os.environ | {"OMP_NUM_THREADS": "7", "PYTHONPATH": str(tmp_path)}
    (tmp_path / "sitecustomize.py").write_text(
        "import atexit, os\natexit.register(lambda: print(os.environ.get('OMP_NUM_THREADS')))"
    )
    done = subprocess.run(
        [sys.executable, "-m", "paper", "--help"], env=environment, cwd=files.ROOT, capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-1] == "1"


def test_rows_come_back_from_their_file(tmp_path):
    rows = [{"p": 5, "P": 0.2, "name": "plg", "ok": True}, {"p": 10, "P": 1 / 3, "ok": False, "why": "time: too much"}]
    files.write_rows(tmp_path / "x.csv", rows)
    assert (tmp_path / "x.csv").read_text() == "p,P,name,ok,why\n5,0.2,plg,True,\n10,0.333333,,False,time: too much\n"
    found = files.read_rows(tmp_path / "x.csv")
    assert found["p"].tolist() == [5, 10]
    assert found["ok"].tolist() == [True, False]
    assert pd.isna(found["name"][1])


def test_page_says_which_tables_were_made_with_something_else(make_item, tmp_path):
    item, settings = make_item(), Config(cache=tmp_path / "cache")
    study.run(item, settings)
    entry = study.describe_cells(item, settings)
    assert (entry["cells"], entry["cells_without_facts"]) == (6, 0)
    assert entry["made_with"]["numpy"] == [np.__version__]
    software = {name: values[0] for name, values in entry["made_with"].items()}
    facts = {"software": software, "hardware": {}, "items": {"fake": entry}}
    assert page.exceptions(facts) == {}
    facts["software"] = software | {"numpy": "0.1"}
    assert page.exceptions(facts) == {f"numpy {np.__version__}": ["`fake`"]}


def test_command_writes_tables_figure_page_and_draws_again(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "load_items", lambda names=("exact",): paper.load_items(names))
    arguments = ["--quick", "--only", "exact", "--jobs", "1", "--out", str(tmp_path / "paper")]
    command.main([*arguments, "--cache", str(tmp_path / "cache")])
    names = {"exact.csv", "exact.png", "config.json", "published.csv"}
    assert {file.name for file in (tmp_path / "paper").iterdir()} == names
    text = (tmp_path / "paper.md").read_text()
    rows = files.read_rows(tmp_path / "paper" / "exact.csv")
    (claim,) = page.item_section(import_module("paper.exact"), rows, Config())[1]
    assert claim.finding in " ".join(text.split())
    assert "![Beyond the paper: accuracy against the exact likelihood](paper/exact.png)" in text
    assert "This is the small version of the study" in text
    facts = json.loads((tmp_path / "paper" / "config.json").read_text())
    assert facts["seed"] == 2017
    assert {"python", "numpy", "scipy", "isinglass", "R", "glmnet"} <= set(facts["software"])
    assert facts["items"]["exact"]["rows"] == len(rows)
    (tmp_path / "paper.md").unlink()
    command.main([*arguments, "--draw-only"])
    assert (tmp_path / "paper.md").read_text() == text
