"""isinglass info: what a table holds, what fitting it will cost, and which options a fit needs."""

from __future__ import annotations

import functools
import shlex
import textwrap
import warnings
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from isinglass.cli.command import command
from isinglass.cli.console import Console
from isinglass.cli.grammar import is_by_column, spell_option
from isinglass.cli.info_text import WIDTH, advice_in_words, facts_in_words, table_lines, wrap_facts
from isinglass.cli.models import Loaded
from isinglass.cli.option_table import OPTIONS, TABLE_OR_MODEL
from isinglass.cli.reading import READING, Reading, kinds_by_key, spell_reading
from isinglass.cli.table_info import ColumnInfo, TableInfo, describe_columns
from isinglass.errors import DataError, MeaningWarning, plural
from isinglass.json_text import JsonObject
from isinglass.names import name_ranges
from isinglass.storage import holds_record

if TYPE_CHECKING:
    from isinglass.data import Table

BATTERY, BATTERY_SHARE = 5, 0.6  # columns, and share of all columns, that make a battery of items


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


def options_needed(columns: Sequence[ColumnInfo], reading: Reading, n_missing: int) -> str:
    """Return the options that fit needs, where something was guessed or cells are missing."""
    keys = [column.key for column in columns]
    weights = _weights(columns, reading)
    kinds = {j: column.kind for j, column in enumerate(columns) if not column.stated and j != weights}
    said: JsonObject = {
        "kinds": kinds_by_key(keys, kinds),
        "drop": [keys[j] for j, kind in kinds.items() if kind is None],
    }
    if weights is not None:
        said["weights"] = keys[weights]
    answers = reading.said.get("encode", {})
    if "binary" in kinds.values() and is_by_column(answers) and None not in answers:
        said["encode"] = "auto"
    if n_missing and "missing" not in reading.said:
        said["missing"] = "impute"
    return shlex.join(spell_reading(said))


def options_to_consider(columns: Sequence[ColumnInfo], reading: Reading) -> dict[str, str]:
    """Return options that may be wanted, each with its reason."""
    keys, places, weights = [column.key for column in columns], _noted(columns), _weights(columns, reading)
    places["covariates"] = [] if "covariates" in reading.said else _unlike_the_others(columns, weights)
    places["continuous"] = [] if weights is None else [weights]
    maybe = [] if "weights" in reading.said else places["maybe_weights"]
    places["weights"] = [j for j in maybe if not columns[j].missing]
    reasons = {
        "continuous": "instead of --weights, if it is a variable",
        "weights": "if these are sampling weights",
        "covariates": "to adjust for columns unlike the others (or leave them out with --drop)",
        "reverse": "if the wording is reversed",
        "normal_scores": "because couplings are linear in the values, and these have a long tail",
    }
    found = {}
    for option, reason in reasons.items():
        if places[option]:
            called = keys[places[option][0]] if option == "weights" else name_ranges(keys, places[option])
            found[shlex.join(spell_option(OPTIONS[option], called))] = reason
    return found


def _noted(columns: Sequence[ColumnInfo]) -> dict[str, list[int]]:
    """Return the places of columns with a note, by the option that it calls for."""
    from isinglass.data.meaning.guards import LONG_TAIL, MAYBE_WEIGHTS, REVERSED, WEIGHTS

    notes = {"weights": WEIGHTS, "maybe_weights": MAYBE_WEIGHTS, "reverse": REVERSED, "normal_scores": LONG_TAIL}
    return {option: [j for j, column in enumerate(columns) if note in column.notes] for option, note in notes.items()}


def _weights(columns: Sequence[ColumnInfo], reading: Reading) -> int | None:
    """Return the place of the column that seems to hold row weights, if `fit` can take it for them.

    It takes none with missing cells, and needs two other columns.
    """
    kept = [column for column in columns if column.kind is not None]
    if "weights" in reading.said or len(kept) < 3:
        return None
    return next((j for j in _noted(columns)["weights"] if columns[j].kind and not columns[j].missing), None)


def _unlike_the_others(columns: Sequence[ColumnInfo], weights: int | None) -> list[int]:
    """Return the places of columns that are no items, if most columns are items of a battery.

    Those with missing cells are left out: `fit` takes no such covariates.
    """
    kept = [j for j, column in enumerate(columns) if column.kind is not None and j != weights]
    looks = {j: _look(columns[j]) for j in kept}
    most, size = Counter(looks.values()).most_common(1)[0] if looks else (None, 0)
    is_battery = size >= max(BATTERY, BATTERY_SHARE * len(kept))
    return [j for j in kept if is_battery and looks[j] != most and not columns[j].missing]


def _look(column: ColumnInfo) -> tuple[str | None, str]:
    """Return what items of a battery share: kind and values; numbers, the name without the number at its end."""
    is_number = column.kind == "continuous"
    return column.kind, column.name.rstrip("0123456789") if is_number else str(sorted(map(str, column.values)))
