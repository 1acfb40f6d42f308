"""Which options a fit of a table needs, and which are worth a thought."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence

from isinglass.cli.grammar import is_by_column, spell_option
from isinglass.cli.option_table import OPTIONS
from isinglass.cli.reading import Reading, kinds_by_key, spell_reading
from isinglass.cli.table_info import ColumnInfo
from isinglass.json_text import JsonObject
from isinglass.names import name_ranges

BATTERY, BATTERY_SHARE = 5, 0.6  # columns, and share of all columns, that make a battery of items


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
