"""Every option and argument of the command line, once: a command names those it takes, with one meaning everywhere.

An option is called as the library calls the parameter or the field that it sets. Where the library has a default of its
own, the option has none, and ``show_default`` says it in words.
"""

from __future__ import annotations

import glob
from os import PathLike
from pathlib import Path
from typing import Any

import click

from isinglass.cli.grammar import ANSWERS, COLUMN, COLUMNS, COUNTS, CUTS, MISSING

OWN, SELECTING, METHOD = "Options", "Selecting the penalty", "Method"
READING, FILE, GENERAL = "Columns and their values", "The file", "General"
FILE_NAME = click.Path(exists=True, dir_okay=False)
FOLDER, OLD_FOLDER = click.Path(file_okay=False), click.Path(exists=True, file_okay=False, path_type=Path)
POSITIVE, SHARE = click.FloatRange(min=0, min_open=True), click.FloatRange(0, 1, min_open=True)
FORMATS = ("edges", "blocks", "nodes", "fields", "matrix", "gexf", "graphml", "json")
DETECTED: dict[str, Any] = {"default": None, "show_default": "detected"}  # Any: as click has it


Word = str | PathLike[str]


def one_of(*choices: str) -> click.Choice[str]:
    """Return the type of one of several words, in upper or lower case."""
    return click.Choice(choices, case_sensitive=False)


class ModelType(click.Path):
    """A model file, or the folder that `fit` wrote."""

    def convert(self, value: Word, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Find the model in a folder."""
        path = Path(str(super().convert(value, param, ctx)))
        if not path.is_dir():
            return str(path)
        if not (path / "model.npz").is_file():
            self.fail(f"the folder {str(value)!r} has no model.npz. `isinglass fit TABLE -o FOLDER` writes one.")
        return str(path / "model.npz")


class PatternType(click.Path):
    """A file or -, or a pattern that stands for several files."""

    def convert(self, value: Word, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name or the pattern; all files must be readable."""
        for file in files_of(str(value)):
            super().convert(file, param, ctx)
        return str(value)


class OutputType(click.Path):
    """A file or a folder to write, or - for stdout."""

    def convert(  # type: ignore[override]  # click takes what comes
        self, value: Word, param: click.Parameter | None, ctx: click.Context | None
    ) -> Path | None:
        """Return a path, or None for stdout; an empty name, such as that of a variable, would be this folder."""
        if not str(value):
            self.fail("the name is empty.", param, ctx)
        return None if str(value) == "-" else Path(str(super().convert(value, param, ctx)))


def files_of(table: str) -> list[str]:
    """Return the files that a name or a pattern stands for, in order of name; a name that is none stands for itself."""
    if table == "-" or Path(table).exists():
        return [table]
    return sorted(glob.glob(table)) or [table]  # noqa: PTH207 - a pattern may be absolute


def _option(names: str, type: object, help: str, **attributes: Any) -> click.Option:  # Any: those of click.Option
    is_number = type in (int, float) or isinstance(type, click.IntRange | click.FloatRange)
    return click.Option(
        names.split(),
        type=type,
        help=help,
        metavar="N" if is_number else None,
        **{"show_default": attributes.get("default") is not None} | attributes,
    )


def _flag(names: str, help: str, **attributes: Any) -> click.Option:  # Any: as above
    return _option(names, None, help, is_flag=True, **attributes)


def _columns(names: str, help: str) -> click.Option:
    return _option(names, COLUMNS, f"{help}: names, ranges A1:A5, patterns 'A*', or #3 for the third.", multiple=True)


SECTIONS = {
    OWN: [
        _option("-o --output", OutputType(), "Folder, or for some commands file, to write; - is stdout."),
        _flag("--force", "Replace files in the folder -o that isinglass did not write."),
        _option("--device", str, "joint: where to fit, cpu or a GPU such as cuda.", show_default="cpu"),
        _option("--max-time", POSITIVE, "two-stage: seconds after which the best network found is returned."),
        _option("--fdr", SHARE, "Also test every pair given all others, at this false discovery rate, such as 0.1."),
        _option("--groups", COLUMN, "Column with the group of each row.", required=True),
        _option("--paired", COLUMN, "Column with the subject of each row: one row per subject and group."),
        _option(
            "-B --resamples n_resamples",
            click.IntRange(1),
            "Number of resamples, permutations (compare), or tables per size (power).",
            show_default="1000; power: 20",
        ),
        _option(
            "--kind",
            one_of("rows", "case-drop", "all"),
            "rows: draw rows with replacement; case-drop: leave out a share of the rows; all: both (needs -o).",
            default="rows",
        ),
        _option(
            "--reselect/--keep-penalty",
            None,
            "Select the penalty again in every resample, or keep the one selected on all rows.",
            show_default="reselect; compare: keep",
            default=None,
        ),
        _option("--checkpoint", FOLDER, "Folder for finished fits; run the same command again to resume."),
        _option("--rows", COUNTS, "Numbers of rows to try, such as 100,200,400.", required=True),
        _option("--bootstrap", OLD_FOLDER, "Folder with resamples, which `isinglass bootstrap -o FOLDER` wrote."),
        _option("--format", one_of(*FORMATS), "What to write.", show_default="by the ending of -o"),
        _option("--width", click.FloatRange(20, 1000), "Width of the figure in print in mm, such as 85 or 180."),
        _flag("--impute", "Fill in the missing cells and keep the others."),
        _flag("--score", "Print the mean log pseudo-likelihood of a row; 0 is perfect."),
        _option("--port", click.IntRange(0, 65535), "Port of the server.", show_default="a free one"),
        _flag("--browser/--no-browser", "Whether to open the page in the browser.", default=True),
        _option(
            "--attributes",
            FILE_NAME,
            "CSV file with node names, then attributes: the first gives the colors and the communities of bridge "
            "measures, `wording` the text of an item.",
        ),
    ],
    SELECTING: [
        _option("--alpha", float, "Use this penalty instead of selecting one."),
        _option(
            "--select",
            one_of("two-stage", "stars", "ebic", "cv"),
            "Criterion: two-stage estimate, stability (stars), information (ebic) or prediction (cv).",
            show_default="two-stage; nodewise: ebic",
        ),
        _option(
            "--alphas",
            click.IntRange(1),
            "Number of penalties, log-spaced from alpha_max down.",
            show_default="30; nodewise with ebic: 100 per node",
        ),
        _option("--gamma", float, "two-stage, ebic: higher values select fewer edges.", show_default="0.25"),
        _option("--folds n_folds", click.IntRange(2), "two-stage, cv: number of folds.", show_default="5; cv: 10"),
    ],
    METHOD: [
        _option(
            "--method",
            one_of("joint", "nodewise"),
            "joint: pseudo-likelihood, certified optimal; nodewise: one regression per column, like IsingFit.",
            default="joint",
        ),
        _option("--penalty-weights", one_of("standardized"), "Penalize as if columns were standardized."),
        _option("--tol", float, "Tolerance of the certificate.", show_default="1e-7"),
    ],
    READING: [
        _option(
            "--missing",
            one_of("error", "impute", "zero", "drop"),
            "Missing cells: refuse them, impute them from the network, read them as 0, or drop their rows.",
            show_default="error, or as in the fit of MODEL",
        ),
        _option(
            "--encode",
            ANSWERS,
            "What the answers mean (Unknown= is missing), everywhere or in one column; auto: detect the two answers "
            "of each column.",
            multiple=True,
        ),
        _option("--binarize", CUTS, "Numbers above CUT become 1, others 0; or one cut per column: age=40,income=2e4."),
        _option("--na na_values", MISSING, "Also read TEXT as missing, everywhere or in one column.", multiple=True),
        _option("--weights", COLUMN, 'Column with the weights of the rows, or "none".'),
        _option(
            "--weight-kind",
            one_of("sampling", "counts"),
            "What the weights are: sampling weights, or counts of equal rows.",
            show_default="counts if they are whole numbers",
        ),
        _columns("--drop", "Leave these columns out"),
        _columns("--columns", "Keep only these columns (quote a name with a comma: '\"a,b\",c')"),
        _columns("--ordinal", "Columns of ordered categories, such as 1 to 5"),
        _columns("--nominal", "Columns of categories without an order"),
        _columns("--continuous", "Columns of numbers, such as age or counts"),
        _columns("--normal-scores", "Columns of numbers to be replaced by normal scores, ranks as normal quantiles"),
        _columns("--reverse", "Ordered columns with reversed wording, whose last category comes first"),
        _columns("--covariates", "Columns to adjust for, which are not part of the network"),
        _flag("--combine-indicators", "Turn each set of indicator columns into one nominal column.", default=None),
    ],
    FILE: [
        _option("--header/--no-header", None, "Whether the first line holds column names.", **DETECTED),
        _option("--id-column", COLUMN, 'Column with row labels, or "none".', **DETECTED),
        _option("--delimiter", str, "Field separator: a character, tab or blank.", **DETECTED),
        _option("--decimal", one_of(".", ","), "Decimal separator of numbers in a text file.", **DETECTED),
        _option("--encoding", str, "Text encoding of the file.", show_default="utf-8"),
        _option("--sheet", str, "Sheet of a spreadsheet.", show_default="the first with a table"),
    ],
    GENERAL: [
        _option("--seed random_state", click.IntRange(0), "Random seed.", default=0),
        _option(
            "-j --n-jobs", int, "Fits to run in parallel; -1: one per core. Results do not depend on it.", default=-1
        ),
        _flag("--strict", "Fail if a column is doubtful (exit code 3) or a fit misses its tolerance (exit code 4)."),
        _flag("--json as_json", "Print the result as one JSON object."),
        _option("-q --quiet", None, "No summary or progress; -qq: no warnings.", count=True),
        _option("-v --verbose", None, "Show the log; -vv: details and tracebacks.", count=True),
    ],
}
OPTIONS = {str(option.name): option for options in SECTIONS.values() for option in options}
"""By the names of their parameters."""


def under(*headings: str) -> list[str]:
    """Return the names of the options under some headings."""
    return [str(option.name) for heading in headings for option in SECTIONS[heading]]


_FILE = click.Path(exists=True, dir_okay=False, allow_dash=True)
TABLE = click.Argument(["table"], type=_FILE)
MAYBE_TABLE = click.Argument(["table"], type=_FILE, required=False)
TABLE_OR_PATTERN = click.Argument(["table"], type=PatternType(exists=True, dir_okay=False, allow_dash=True))
MODEL = click.Argument(["model"], type=ModelType(exists=True))
