"""The pages of the documentation: notebooks run, inventories name what exists, the reference names all that is public.

The gallery and the tutorials are run by the documentation build (``make docs``), which fails if one of them does.
"""

import ast
import dataclasses
import importlib
import inspect
import json
import re

import pytest
from test_readme import ROOT

import isinglass

NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
INVENTORIES = sorted((ROOT / "docs" / "inventories").glob("*.txt"))
SCRIPTS = sorted((ROOT / "examples").glob("*/*.py"))


def run_cells(notebook: dict) -> dict:
    """Run the code cells from top to bottom, as a fresh kernel would; magics are not Python and fail."""
    names = {"__name__": "__main__"}
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] == "code":
            source = "".join(cell["source"])
            exec(compile(ast.parse(source), f"cell {number}", "exec"), names)
    return names


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_notebooks_run(file, monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    monkeypatch.chdir(file.parent)
    before = set(file.parent.iterdir())
    names = run_cells(json.loads(file.read_text(encoding="utf-8")))
    plt.close("all")
    assert names["net"].converged_
    assert set(file.parent.iterdir()) == before  # readers run it in a clone


def test_notebooks_are_stored_without_output():
    assert len(NOTEBOOKS) == 2
    for file in NOTEBOOKS:
        notebook = json.loads(file.read_text(encoding="utf-8"))
        assert (notebook["nbformat"], notebook["metadata"]["language_info"]["name"]) == (4, "python")
        code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


def test_broken_cells_are_noticed():
    with pytest.raises(ZeroDivisionError):
        run_cells({"cells": [{"cell_type": "code", "source": ["x = 1\n", "x / 0"]}]})


@pytest.mark.parametrize("file", INVENTORIES, ids=lambda file: file.stem)
def test_inventories_name_what_exists(file):
    head, *lines = file.read_text(encoding="utf-8").splitlines()
    assert head == "# Sphinx inventory version 1"
    for line in lines[2:]:
        name, kind, location = line.split()
        module, _, attribute = name.rpartition(".")
        item = getattr(importlib.import_module(module), attribute)
        assert inspect.isclass(item) == (kind == "class"), name
        assert location.endswith(".html")


def test_reference_has_a_page_for_everything_public():
    reference = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    entries = set(re.findall(r"^   ([\w.]+)$", reference, re.MULTILINE))
    wanted = set(isinglass._HOME)
    for name in isinglass._SUBMODULES:
        wanted |= {f"{name}.{item}" for item in getattr(isinglass, name).__all__ if item not in isinglass._HOME}
    assert wanted - entries == {"exact.MAX_NODES", "exact.exact_sample"}  # a number; listed as simulate.exact_sample


def test_help_names_what_records_hold():
    records = [item for item in map(isinglass.__getattr__, isinglass._HOME) if dataclasses.is_dataclass(item)]
    assert isinglass.Solution in records
    for record in records:
        words = set(re.findall(r"\w+", " ".join(base.__doc__ or "" for base in record.__mro__)))
        assert {field.name for field in dataclasses.fields(record)} <= words, record


def test_every_page_has_a_title_and_says_what_it_does():
    names = [file.name for file in SCRIPTS]
    assert len([file for file in SCRIPTS if file.parent.name == "gallery"]) >= 12
    for file in SCRIPTS:
        first, title, underline, *_ = file.read_text(encoding="utf-8").splitlines()
        assert (first, underline) == ('"""', "=" * len(title)), file.name
    assert len(set(names)) == len(names)
