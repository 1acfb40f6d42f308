"""Twelve files with a codebook made beforehand: each opens with at most one option, and means what the codebook says.

Two are real files that come with scikit-learn: images of digits, compressed and without a header, and the exercises of
Linnerud, separated by blanks. The others are written by pandas, polars, openpyxl and pyreadstat.
"""

import csv
import gzip
from importlib.resources import files

import numpy as np
import pandas as pd
import polars as pl
import pyreadstat
import pytest
from commands import run
from sklearn import datasets

from isinglass import load, plot, read_table

N = 120
rng = np.random.default_rng(5)
MOODS = {1.0: "nie", 2.0: "selten", 3.0: "häufig"}
ANSWERS = pd.DataFrame(
    {
        "müde": rng.integers(1, 4, N).astype(float),
        "allein": rng.integers(0, 2, N).astype(float),
        "weight": rng.integers(1, 30, N) / 2 + 0.25,
    }
)
GAPS = ANSWERS.copy()
GAPS.loc[::10, "müde"] = 9.0
ASCII = {"müde": "muede"}
ORDINAL = {"kinds": {"m*": "ordinal"}}


def semicolons(path):
    ANSWERS.to_csv(path, sep=";", decimal=",", index=False, encoding="latin-1")


def spss(path):
    pyreadstat.write_sav(
        GAPS, path, variable_value_labels={"müde": {**MOODS, 9.0: "keine Angabe"}}, missing_ranges={"müde": [9.0]}
    )


def stata(path):
    pyreadstat.write_dta(ANSWERS.rename(columns=ASCII), path, variable_value_labels={"muede": MOODS})


def packed(path):
    path.write_bytes(gzip.compress(ANSWERS.to_csv(index=False).encode()))


FILES = {
    "comma.csv": (lambda path: ANSWERS.to_csv(path, index=False), {}),
    "semicolon-latin1.csv": (semicolons, {"encoding": "latin-1"}),
    "semicolon.csv": (lambda path: ANSWERS.to_csv(path, sep=";", decimal=",", index=False), {}),
    "utf16.txt": (lambda path: ANSWERS.to_csv(path, sep="\t", index=False, encoding="utf-16"), {}),
    "packed.csv.gz": (packed, {}),
    "table.parquet": (lambda path: pl.from_pandas(ANSWERS).write_parquet(path), {}),
    "table.feather": (lambda path: ANSWERS.to_feather(path), {}),
    "table.xlsx": (lambda path: ANSWERS.to_excel(path, index=False), {}),
    "labelled.sav": (spss, {}),
    "labelled.dta": (stata, {}),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_means_what_its_codebook_says(name, tmp_path):
    write, options = FILES[name]
    write(tmp_path / name)
    missing = "impute" if name.endswith(".sav") else "error"
    table = read_table(tmp_path / name, weights="weight", missing=missing, **ORDINAL, **options)
    labelled = name.startswith("labelled")
    assert table.variables.kinds == ("ordinal", "binary")
    assert table.variables.categories[0][:3] == (tuple(MOODS.values()) if labelled else (1, 2, 3))
    np.testing.assert_array_equal(table.sample_weight, ANSWERS["weight"])
    known = np.ones(N, bool) if table.holes is None else ~table.holes[:, 0]
    assert known.sum() == (N - 12 if name.endswith(".sav") else N)  # 9 is declared missing in the file
    np.testing.assert_array_equal(table.codes[known, 0], ANSWERS["müde"][known] - 1)
    np.testing.assert_array_equal(table.codes[:, 1], ANSWERS["allein"])


@pytest.mark.parametrize(
    ("name", "load", "threshold"),
    [("digits.csv.gz", datasets.load_digits, 8), ("linnerud_exercise.csv", datasets.load_linnerud, 50)],
)
def test_published_files_as_they_are(name, load, threshold):
    table = read_table(files("sklearn.datasets.data") / name, binarize=threshold)
    cells = load().data
    np.testing.assert_array_equal(np.asarray(table)[:, : cells.shape[1]], cells > threshold)


@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_variable_labels_reach_tables_figures_and_reports(ending, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame((rng.normal(size=(200, 1)) + rng.normal(size=(200, 3)) > 0).astype(float), columns=list("abc"))
    texts = ["I felt sad", "I felt tired", ""]
    write = pyreadstat.write_sav if ending == "sav" else pyreadstat.write_dta
    write(frame, str(tmp_path / f"t.{ending}"), column_labels=texts)
    table = read_table(tmp_path / f"t.{ending}")
    assert table.variables.wording == tuple(texts)
    assert table.take([1, 0]).variables.wording == ("I felt tired", "I felt sad")
    run("fit", tmp_path / f"t.{ending}", "--alpha", "0.05", "-o", tmp_path / "net")
    network = load(tmp_path / "net" / "model.npz").network
    assert network.variables.wording == tuple(texts)
    with (tmp_path / "net" / "nodes.csv").open(encoding="utf-8") as file:
        assert [row["wording"] for row in csv.DictReader(file)] == texts
    run("report", tmp_path / "net", "-o", tmp_path / "r.html")
    assert "I felt tired" in (tmp_path / "r.html").read_text(encoding="utf-8")
    axes = pytest.importorskip("matplotlib.figure").Figure().subplots()
    assert {text.get_text() for text in plot.network(network, axes, labels="wording").texts} >= {*texts[:2], "c"}
