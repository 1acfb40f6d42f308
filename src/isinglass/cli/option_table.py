"""Every option of the command line, once: a command names those it takes, so that an option means the same everywhere.

An option is called as the library calls the parameter or the field that it sets.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from isinglass.cli.grammar import ALPHAS, ANSWERS, COLUMN, COLUMNS, COUNTS, CUTS, MISSING, VALUE_LABELS
from isinglass.cli.parameter_types import IN_FILE, MODEL_FILE, TABLES, Number, OutputType, one_of

GENERAL, ADVANCED = "General", "Advanced"
SELECTING, METHOD, READING = "Selecting the penalty", "Method", "Reading the table"


class Option(click.Option):
    """An option, and its default in words.

    ``names`` are as click has them, separated by blanks. ``otherwise`` is what the library does if the option is not
    given.
    """

    section = "Options"  # the heading under which the help lists it; "Advanced" ones are listed by --help-all only

    def __init__(
        self,
        names: str,
        type: object,
        help: str,
        *,
        otherwise: object = None,
        **attributes: Any,  # Any: those of click.Option
    ) -> None:
        if isinstance(type, click.IntRange | click.FloatRange):
            attributes.setdefault("metavar", "N")
        attributes.setdefault("show_default", "default" in attributes)
        default = "" if otherwise is None else f"  [default: {otherwise}]"
        super().__init__(names.split(), type=type, help=help + default, **attributes)

    def get_help_extra(self, ctx: click.Context) -> click.types.OptionHelpExtra:
        """Leave out the range, which the message about a wrong value states."""
        extra = super().get_help_extra(ctx)
        extra.pop("range", None)
        return extra


def _flag(names: str, help: str, **attributes: Any) -> Option:  # Any: those of click.Option
    return Option(names, None, help, is_flag=True, **attributes)


def _columns(names: str, help: str) -> Option:
    return Option(names, COLUMNS, help, multiple=True)


def _show_all(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        ctx.meta["help_all"] = True
        click.echo(ctx.get_help())
        ctx.exit()


SECTIONS = {
    "Options": [
        Option(
            "-o --output",
            OutputType(),
            "Where to write: a folder, or one file for export, plot, predict and report; - is stdout.",
            metavar="PATH",
        ),
        _flag("--force", "Replace files in the folder -o that isinglass did not write."),
        Option("--alpha", Number(min=0), "Use this penalty instead of selecting one.", metavar="A"),
        Option(
            "--select",
            one_of("two-stage", "stars", "ebic", "cv"),
            "Criterion: two-stage estimate, stability (stars), information (ebic) or prediction (cv).",
            otherwise="two-stage; nodewise: ebic",
        ),
        Option("--device", str, "joint: where to fit, cpu or a GPU such as cuda.", metavar="NAME", otherwise="cpu"),
        Option(
            "--max-time",
            Number(min=0, min_open=True),
            "two-stage: stop the search after this time and return the best network found; the summary says what was "
            "left out. Standard errors come after it, and take longest where cells are imputed.",
            metavar="SECONDS",
        ),
        Option(
            "--fdr",
            Number(min=0),
            "Also test every pair given all others: q-values, and the number of edges found at this false discovery "
            "rate, such as 0.1. The network does not change.",
            metavar="RATE",
        ),
        Option("--groups", COLUMN, "Column with the group of each row.", required=True),
        Option(
            "--paired",
            COLUMN,
            "Paired designs, such as before and after: column with the subject of each row; one row per subject "
            "and group.",
        ),
        Option(
            "-B --resamples n_resamples",
            click.IntRange(1),
            "Number of resamples (case-drop: divided among ten shares), permutations (compare), or tables per size "
            "(power).",
            otherwise="1000; power: 20",
        ),
        Option(
            "--kind",
            one_of("rows", "case-drop", "all"),
            "rows: draw rows with replacement; case-drop: leave out a share of the rows; all: both (needs -o).",
            default="rows",
        ),
        Option(
            "--reselect/--keep-penalty",
            None,
            "Select the penalty again in every resample, or keep the one selected on all rows.",
            default=None,
            otherwise="reselect; compare: keep",
        ),
        Option(
            "--checkpoint",
            click.Path(file_okay=False),
            "Folder for finished fits; run the same command again to resume.",
            metavar="FOLDER",
        ),
        Option("--rows", COUNTS, "Numbers of rows to try, such as 100,200,400.", required=True),
        Option(
            "--bootstrap",
            click.Path(exists=True, file_okay=False, path_type=Path),
            "Resamples to show: the folder that `isinglass bootstrap -o FOLDER` wrote.",
            metavar="FOLDER",
        ),
        Option(
            "--format",
            one_of("edges", "blocks", "nodes", "fields", "matrix", "gexf", "graphml", "json"),
            "What to write.",
            otherwise="by the ending of -o",
        ),
        Option("--title", str, "Heading of the page.", metavar="TEXT", otherwise="the name of the folder of MODEL"),
        Option("--width", Number(20, 1000), "Width of the figure in print, such as 85 or 180.", metavar="MM"),
        _flag("--impute", "Fill in the missing cells and keep the others."),
        Option(
            "--tables",
            click.IntRange(1, 100),
            "With --impute and -o: write this number of tables, each with its own draws, to a folder.",
        ),
        _flag("--score", "Print the mean log pseudo-likelihood of a row; 0 is perfect."),
        Option("--port", click.IntRange(0, 65535), "Port of the server.", otherwise="a free one"),
        _flag("--browser/--no-browser", "Whether to open the page in the browser.", default=True),
        Option(
            "--attributes",
            click.Path(exists=True, dir_okay=False),
            "CSV file with node names, then attributes: the first gives the colors and the communities of bridge "
            "measures, `wording` the text of an item.",
            metavar="FILE",
        ),
    ],
    SELECTING: [
        Option(
            "--alphas",
            ALPHAS,
            "Number of penalties, log-spaced from alpha_max down, or a list of them.",
            otherwise="30; nodewise with ebic: 100 per node",
        ),
        Option("--gamma", Number(min=0), "two-stage, ebic: higher values select fewer edges.", otherwise=0.25),
        Option("--folds n_folds", click.IntRange(2), "two-stage, cv: number of folds.", otherwise="5; cv: 10"),
    ],
    METHOD: [
        Option(
            "--method",
            one_of("joint", "nodewise"),
            "joint: pseudo-likelihood, certified optimal; nodewise: one regression per column, like IsingFit.",
            default="joint",
        ),
        Option(
            "--penalty-weights", one_of("standardized"), "Penalize as if columns were standardized: rare columns less."
        ),
        Option("--tol", Number(min=0, min_open=True), "Tolerance of the certificate.", otherwise="1e-7"),
    ],
    READING: [
        Option(
            "--missing",
            one_of("error", "impute", "zero", "drop"),
            "Missing cells: refuse them, impute them from the network, read them as 0, or drop their rows.",
            otherwise="error, or as in the fit of MODEL",
        ),
        Option(
            "--encode",
            ANSWERS,
            "What the answers mean (Unknown= is missing), everywhere or in one column; auto: detect the two answers "
            "of each column.",
            multiple=True,
        ),
        Option("--binarize", CUTS, "Numbers above CUT become 1, others 0; or one cut per column: age=40,income=2e4."),
        Option("--weights", COLUMN, 'Column with the weights of the rows, or "none".'),
        _columns("--drop", "Leave these columns out: names, ranges A1:A5, patterns, or #3 for the third one."),
        _columns(
            "--columns",
            "Keep only these columns: names, ranges, patterns, or #3. Quote a name with a comma: '\"a,b\",c'.",
        ),
        _columns(
            "--ordinal", "Columns of ordered categories, such as 1 to 5: names, ranges A1:A5, patterns 'A*', or #3."
        ),
        _columns("--nominal", "Columns of categories without an order: names, ranges, patterns, or #3."),
        _columns("--continuous", "Columns of numbers, such as age or counts: names, ranges, patterns, or #3."),
        _columns("--reverse", "Ordered columns with reversed wording: the last category comes first."),
        _columns("--covariates", "Columns to adjust for: conditioned on, not part of the network."),
    ],
    ADVANCED: [
        Option(
            "--weight-kind",
            one_of("sampling", "counts"),
            "What the weights are: sampling weights, or counts of equal rows.",
            otherwise="counts if they are whole numbers",
        ),
        Option(
            "--header/--no-header",
            None,
            "Whether the first line holds column names.",
            default=None,
            otherwise="detected",
        ),
        Option("--id-column", COLUMN, 'Column with row labels, or "none".', otherwise="detected"),
        Option(
            "--na na_values",
            MISSING,
            "Also read TEXT as missing, everywhere or in one column.",
            multiple=True,
        ),
        Option(
            "--delimiter", str, "Field separator: a character, tab or blank.", metavar="CHARACTER", otherwise="detected"
        ),
        _columns("--normal-scores", "Columns of numbers to be replaced by normal scores, ranks as normal quantiles."),
        _flag("--combine-indicators", "Turn each set of indicator columns into one nominal column.", default=None),
        Option(
            "--value-labels",
            VALUE_LABELS,
            "What the values of a column, such as the groups of compare, are called; repeat it for other columns.",
            multiple=True,
        ),
        _flag("--transpose", "The file has one line per variable.", default=None),
        Option("--encoding", str, "Text encoding of the file.", otherwise="utf-8"),
        Option("--decimal", one_of(".", ","), "Decimal separator of numbers in a text file.", otherwise="detected"),
        Option("--sheet", str, "Sheet of a spreadsheet.", otherwise="the first with a table"),
    ],
    GENERAL: [
        Option("--seed random_state", click.IntRange(0), "Random seed.", default=0),
        Option(
            "-j --n-jobs",
            int,
            "Fits to run in parallel; -1: one per core. Results do not depend on it.",
            default=-1,
            metavar="N",
        ),
        _flag("--strict", "Fail if a column is doubtful (exit code 3) or a fit misses its tolerance (exit code 4)."),
        _flag("--json as_json", "Print the result as one JSON object."),
        Option("-q --quiet", None, "No summary or progress; -qq: no warnings.", count=True),
        Option("-v --verbose", None, "Show the log; -vv: details and tracebacks.", count=True),
        _flag(
            "--help-all",
            "Show this help with the advanced options.",
            is_eager=True,
            expose_value=False,
            callback=_show_all,
        ),
    ],
}
OPTIONS: dict[str, Option] = {str(option.name): option for options in SECTIONS.values() for option in options}
"""By the names of their parameters."""
for heading in SECTIONS:
    for option in SECTIONS[heading]:
        option.section = heading


def under(*headings: str) -> list[str]:
    """Return the names of the options under some headings."""
    return [str(option.name) for heading in headings for option in SECTIONS[heading]]


TABLE = click.Argument(["table"], type=IN_FILE)
MAYBE_TABLE = click.Argument(["table"], type=IN_FILE, required=False)
TABLE_OR_PATTERN = click.Argument(["table"], type=TABLES)
MODEL = click.Argument(["model"], type=MODEL_FILE)
