"""Files of other programs against a codebook written beforehand: each opens with at most one option.

``python benchmarks/codebook.py`` needs R with the packages psych, MASS, vcd, foreign, haven and readr.
Five files are those of the packages, byte for byte: SPSS (foreign), SPSS, Stata and SAS (haven), CSV packed by bzip2
(readr). The others hold published data, written by R, openpyxl and pyarrow. The kinds that `read_table` guesses, the
columns that it leaves out, the missing cells and the codes that it warns about are compared with the codebook.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow.csv
import pyarrow.parquet

from isinglass import read_table
from isinglass.errors import MeaningWarning

WRITE = """
suppressMessages({library(haven); library(foreign)})
data(bfi, package = "psych"); data(Arthritis, package = "vcd"); data(survey, Pima.tr2, package = "MASS")
copy <- function(name, package) file.copy(system.file(name, package = package), ".")
copy("files/electric.sav", "foreign"); copy("extdata/mtcars.csv.bz2", "readr")
for (ending in c("sav", "dta", "sas7bdat")) copy(paste0("examples/iris.", ending), "haven")
write.csv(bfi, gzfile("bfi.csv.gz"))
coded <- bfi; coded[is.na(coded)] <- 99; write.csv(coded, "bfi-99.csv", row.names = FALSE)
names(survey)[12] <- "Alter_f\\u00fcr"; con <- file("survey.csv", encoding = "latin1")
write.csv2(survey, con, row.names = FALSE)
write.table(Pima.tr2, "pima.txt"); write.csv(Pima.tr2, "pima.csv", row.names = FALSE, na = "")
write.csv(Arthritis, "arthritis.csv", row.names = FALSE)
item <- labelled_spss(rep(c(1:5, 8, 9), 30), c(never = 1, rarely = 2, sometimes = 3, often = 4, always = 5,
  "don't know" = 8, refused = 9), na_values = c(8, 9))
write_sav(data.frame(item = item, yes = rep(0:1, 105)), "missing.sav")
tagged <- labelled(rep(c(1, 2, 3, tagged_na("a")), 50), c(low = 1, middle = 2, high = 3, refused = tagged_na("a")))
write_dta(data.frame(tagged = tagged, yes = rep(0:1, 100)), "tagged.dta")
"""
BIG_FIVE = {f"{trait}{k}": "ordinal" for trait in "ACENO" for k in range(1, 6)}
BIG_FIVE |= {"gender": "binary", "education": "ordinal", "age": "continuous"}
PIMA = dict.fromkeys(["npreg", "glu", "bp", "skin", "bmi", "ped", "age"], "continuous") | {"type": "binary"}
ARTHRITIS = {"Treatment": "binary", "Sex": "binary", "Age": "continuous", "Improved": "nominal"}
SURVEY = {"Sex": "binary", "Wr.Hnd": "continuous", "NW.Hnd": "continuous", "W.Hnd": "binary", "Fold": "nominal"}
SURVEY |= {"Pulse": "continuous", "Clap": "nominal", "Exer": "nominal", "Smoke": "nominal", "Height": "continuous"}
SURVEY |= {"M.I": "binary", "Alter_für": "continuous"}
CARS = {"mpg": "continuous", "cyl": "ordinal", **dict.fromkeys(["disp", "hp", "drat", "wt", "qsec"], "continuous")}
CARS |= {"vs": "binary", "am": "binary", "gear": "ordinal", "carb": "ordinal"}
HEART = {"CASEID": None, "FIRSTCHD": "nominal", "AGE": "continuous", "DBP58": "continuous", "EDUYR": "continuous"}
HEART |= {"CHOL58": "continuous", "CGT58": "continuous", "HT58": "continuous", "WT58": "continuous"}
HEART |= {"DAYOFWK": "nominal", "VITAL10": "binary", "FAMHXCVR": "binary", "CHD": "binary"}


def iris(names: str, nominal: str) -> dict[str, str | None]:
    """Return the kinds of the columns of iris under their names in a file."""
    return dict.fromkeys(names.split(), "continuous") | {nominal: "nominal"}


# The file, at most one option, the kind of every column (None: no variable), missing cells, codes to be warned about.
CODEBOOK: list[tuple[str, dict[str, Any], dict[str, str | None], int, str]] = [
    ("electric.sav", {"kinds": {"FIRSTCHD": "nominal", "DAYOFWK": "nominal"}}, HEART, 160, ""),
    (
        "iris.sav",
        {"kinds": {"Species": "nominal"}},
        iris("Sepal.Length Sepal.Width Petal.Length Petal.Width", "Species"),
        0,
        "",
    ),
    ("iris.dta", {}, iris("sepallength sepalwidth petallength petalwidth", "species"), 0, ""),
    ("iris.sas7bdat", {}, iris("Sepal_Length Sepal_Width Petal_Length Petal_Width", "Species"), 0, ""),
    ("mtcars.csv.bz2", {}, CARS, 0, ""),
    ("bfi.csv.gz", {}, BIG_FIVE, 731, ""),
    ("bfi-99.csv", {"na_values": [99]}, BIG_FIVE, 731, ""),
    ("bfi-99.csv", {}, BIG_FIVE, 0, "99"),
    ("survey.csv", {"encoding": "latin-1"}, SURVEY, 107, "'None'"),
    ("pima.txt", {}, PIMA, 114, ""),
    ("pima.parquet", {}, PIMA, 114, ""),
    ("arthritis.xlsx", {}, ARTHRITIS, 0, "'None'"),
    ("missing.sav", {}, {"item": "ordinal", "yes": "binary"}, 60, ""),
    ("tagged.dta", {}, {"tagged": "ordinal", "yes": "binary"}, 50, ""),
]


def write_files(folder: Path) -> None:
    """Write all files."""
    subprocess.run(["Rscript", "-e", WRITE], cwd=folder, check=True)
    pyarrow.parquet.write_table(pyarrow.csv.read_csv(folder / "pima.csv"), folder / "pima.parquet")
    book = openpyxl.Workbook()
    book.active.append(["The table is on the second sheet."])
    sheet = book.create_sheet("answers")
    sheet.append(["Koch and Edwards (1988)"])
    for line in (folder / "arthritis.csv").read_text().splitlines():
        sheet.append([int(word) if word.isdecimal() else word for word in line.replace('"', "").split(",")])
    book.save(folder / "arthritis.xlsx")


def compare(path: Path, options: dict[str, Any], kinds: dict[str, str | None], n_missing: int, codes: str) -> str:
    """Return how a file differs from its codebook, or nothing."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = read_table(path, guess=True, missing="impute", **options)
    found = dict(zip(table.names, table.variables.kinds, strict=True))
    found |= {name: guess.kind for name, guess in table.guesses.items() if guess.kind is None}
    notes = {each.message.note for each in caught if isinstance(each.message, MeaningWarning)}
    warned = ", ".join(sorted(note.removesuffix(" missing?") for note in notes if note.endswith(" missing?")))
    wrong = {name: found.get(name, "absent") for name in {**kinds, **found} if found.get(name) != kinds.get(name)}
    said = [f"kinds {wrong}"] if wrong else []
    said += [f"{table.n_missing} missing cells, not {n_missing}"] if table.n_missing != n_missing else []
    said += [f"codes {warned!r}, not {codes!r}"] if warned != codes else []
    return "; ".join(said)


def main() -> None:
    """Write, read and compare; the exit code is the number of files that differ."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder))
        for name, options, *expected in CODEBOOK:
            difference = compare(Path(folder) / name, options, *expected)
            failed += bool(difference)
            print(f"{name:16} {next(iter(options), '')!s:10} {difference or 'as in the codebook'}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
