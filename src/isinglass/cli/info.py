"""isinglass info: what a table holds, and what fitting it will cost."""

from __future__ import annotations

import functools
import textwrap
import warnings
from typing import TYPE_CHECKING

import click

from isinglass.cli.advice import options_needed, options_to_consider
from isinglass.cli.command import command
from isinglass.cli.console import Console
from isinglass.cli.info_text import WIDTH, advice_in_words, facts_in_words, table_lines, wrap_facts
from isinglass.cli.models import Loaded
from isinglass.cli.option_table import TABLE_OR_MODEL
from isinglass.cli.reading import READING, Reading
from isinglass.cli.table_info import ColumnInfo, TableInfo, describe_columns
from isinglass.errors import DataError, MeaningWarning, plural
from isinglass.storage import holds_record

if TYPE_CHECKING:
    from isinglass.data import Table


@command("info", TABLE_OR_MODEL, bundles=[READING], general="strict as_json")
def info(console: Console, table: str, n_jobs: int, reading: Reading) -> None:
    """Check TABLE before fitting, or describe how a MODEL was fitted.

    Lists the columns with their kinds, values, missing cells and anything doubtful. Then prints the size of the table,
    columns that are constant, the smallest penalty without edges, and the memory and time that a fit will take. The
    kind of a column that is not 0 and 1 is guessed unless you state it, and the options that `fit` needs are shown.
    TABLE may be - for stdin. With --strict, everything is printed, and the exit code is 3 if anything is doubtful.

    For a MODEL, the folder or the model.npz that `fit` wrote, it prints a paragraph for the methods section of a paper,
    with its references.
    """
    if holds_record(table):
        if reading.said:
            raise click.UsageError("Options for reading a table do not apply to a MODEL. Leave them out.")
        _describe_model(console, table)
        return
    data, columns = look(console, table, reading)
    with console.progress("Trial fits"):
        found = TableInfo.of(data, columns, n_jobs)
    needed, consider = options_needed(columns, reading, data.n_missing), options_to_consider(columns, reading)
    if console.as_json:
        console.write_json({**found.as_json(), "options": needed, "suggestions": consider})
    else:
        facts = {**facts_in_words(found, reading.describe_file(data)), **advice_in_words(columns, needed, consider)}
        console.write("".join(f"{line}\n" for line in (*table_lines(columns), "", *wrap_facts(facts))))
    if console.doubts and console.strict:
        raise DataError(f"{plural(len(console.doubts), 'warning')} about the table; --strict treats them as errors.")


def _describe_model(console: Console, path: str) -> None:
    """Print how a model was fitted, as a paper would say it, and what to cite."""
    from isinglass.show.report.methods import describe_fit

    fit = Loaded.open(path).fit
    if fit is None:
        raise DataError(f"{path!r} holds a network without the record of a fit, so its method cannot be described.")
    draft = describe_fit(fit)
    if console.as_json:
        console.write_json({"model": path, "methods": draft.text, "citation": draft.references}, "model")
        return
    console.say_facts(fit.facts())
    wrap = functools.partial(textwrap.fill, width=WIDTH, break_on_hyphens=False)
    references = "\n".join(wrap(one, subsequent_indent="  ") for one in draft.references.split("\n"))
    console.write(f"{wrap(draft.text)}\n\n{references}\n")


def look(console: Console, table: str, reading: Reading) -> tuple[Table, list[ColumnInfo]]:
    """Return a table, and a description of every column of its file; kinds that are not stated are guessed."""
    from isinglass.data.meaning.conversion import missing_cells

    reading = reading.with_defaults(missing="impute", guess=True)
    with warnings.catch_warnings():
        warnings.simplefilter("always", MeaningWarning)  # under --strict, an error when everything is printed
        if reading.said["missing"] != "drop":
            data = reading.read(console, table)
            return data, describe_columns(data, console.doubts, data.gone)
        source, data = reading.read_source(console, table)
    return data, describe_columns(data, console.doubts, missing_cells(source, data.coding))
