"""isinglass info: what a table holds, and what fitting it will cost."""

from __future__ import annotations

import itertools
import math
import shlex
import textwrap
import time
import warnings
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from isinglass.cli.command import command
from isinglass.cli.console import Console, format_seconds, plural
from isinglass.cli.descriptions import describe_table, describe_weights, format_bytes, shares_of
from isinglass.cli.exits import longest, printable
from isinglass.cli.models import Loaded
from isinglass.cli.options import OPTIONS, TABLE_OR_MODEL
from isinglass.cli.reading import READING, Reading, call_columns, call_kinds, spell_reading
from isinglass.cli.values import spell_value
from isinglass.errors import DataError, MeaningWarning
from isinglass.json_text import JsonObject
from isinglass.names import name_ranges
from isinglass.storage import holds_record

if TYPE_CHECKING:
    from isinglass.data import Table

RARE = 0.05  # share of the rows below which the rarer value of a column is listed
SHOWN = 10  # names listed before the rest is counted
WIDTH = 80  # of a terminal
INDENT = "    "  # of notes below the line of a column
MOST_LINES = 60  # of the table of columns
BATTERY, BATTERY_SHARE = 5, 0.6  # columns, and share of all columns, that make a battery of items
TRIAL = 2.0  # seconds of trial fits after which no further one begins
TRIAL_ROWS = 250  # of the first trial fit


@command("info", TABLE_OR_MODEL, "n_jobs", bundles=[READING], general="strict as_json")
def info(console: Console, table: str, n_jobs: int, reading: Reading) -> None:
    """Check TABLE before fitting, or describe how a MODEL was fitted.

    Lists the columns with their kinds, values, missing cells and anything doubtful. Then prints the size of the table,
    columns that are constant, rare or duplicated, the smallest penalty without edges, and the memory and time that a
    fit will take. The kind of a column that is not 0 and 1 is guessed unless you state it, and the options that `fit`
    needs are shown. TABLE may be - for stdin. With --strict, everything is printed, and the exit code is 3 if
    anything is doubtful.

    For a MODEL, the folder or the model.npz that `fit` wrote, it prints a paragraph for the methods section of a paper,
    with its references.
    """
    if holds_record(table):
        if reading.said:
            raise click.UsageError("Options for reading a table do not apply to a MODEL. Leave them out.")
        _describe_model(console, table)
        return
    data, columns = look(console, table, reading)
    found = {**_describe(data), "columns": columns}
    found["options"] = _options(columns, reading, data.n_missing)
    found["suggestions"] = _suggestions(columns, reading)
    with console.progress("Trial fits"):
        found["estimate"] = _estimate(data, found, n_jobs)
    if console.as_json:
        console.write_json(found)
    else:
        _print(console, reading, data, found)
    if console.doubts and console.strict:
        raise DataError(f"{plural(len(console.doubts), 'warning')} about the table; --strict treats them as errors.")


def _print(console: Console, reading: Reading, data: Table, found: JsonObject) -> None:
    """Print the table of the columns, and the description in words."""
    weights = "" if data.sample_weight is None else describe_weights(data)
    facts = _facts(found, weights, reading.describe_file(data))
    console.write("".join(f"{line}\n" for line in (*_table_lines(found["columns"]), "", *_wrap(facts))))


def _describe_model(console: Console, path: str) -> None:
    """Print how a model was fitted, as a paper would say it, and what to cite."""
    from isinglass.show.report.methods import describe_fit

    fit = Loaded.open(path).fit
    if fit is None:
        raise DataError(f"{path!r} holds a network without the record of a fit, so its method cannot be described.")
    draft = describe_fit(fit)
    texts = {"methods": draft.text, "citation": draft.references}
    if console.as_json:
        console.write_json({"model": path, **texts}, "model")
        return
    console.say_facts(fit.facts())
    paragraphs = [texts["methods"], "", *texts["citation"].split("\n")]
    indents = [""] * 2 + ["  "] * len(paragraphs)
    lines = [
        textwrap.fill(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False)
        for text, indent in zip(paragraphs, indents, strict=False)
    ]
    console.write("".join(f"{line}\n" for line in lines))


def look(console: Console, table: str, reading: Reading) -> tuple[Table, list[JsonObject]]:
    """Return a table, and a description of every column of its file; kinds that are not stated are guessed."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", MeaningWarning)  # under --strict, an error when everything is printed
        data = reading.with_defaults(missing="impute", guess=True).read(console, table)
    return data, _describe_columns(data, console.doubts)


def _describe_columns(data: Table, doubts: Sequence[MeaningWarning]) -> list[JsonObject]:
    """Return a description of every column, in the order of the file."""
    import numpy as np

    from isinglass.data.coding import Steps

    notes_of: dict[Hashable, list[str]] = {}
    for warning in doubts:
        for label in warning.columns:
            notes_of.setdefault(label, []).append(warning.note)
    gone = data.holes if data.holes is not None else data.filled
    shares = [0.0] * data.shape[1] if gone is None else gone.mean(axis=0).tolist()
    variables, n_rows = data.variables, len(data)
    columns = []
    labels = data.names if variables.named else data.column_labels or range(data.shape[1])
    each = zip(labels, variables.kinds, variables.categories, shares, strict=True)
    for number, (label, kind, values, share) in enumerate(each):
        stated, notes = label not in data.guesses, list(dict.fromkeys(notes_of.get(label, ())))
        described = {"name": label, "kind": kind, "stated": stated, "values": list(values), "missing": share}
        rule = data.coding.columns[number]
        if isinstance(rule, Steps):
            ends, n_beyond = f"{rule.values[0]:.3g} … {rule.values[-1]:.3g}", sum(rule.beyond)
            notes += [f"grid {ends}, {n_beyond} beyond"] if n_beyond else []
            if data.numbers is not None:
                described["range"] = [float(end(data.numbers[:, number])) for end in (np.nanmin, np.nanmax)]
        columns.append({**described, "notes": notes})
    for label, guess in data.guesses.items():  # in the order of their places
        if guess.kind is None:
            record = {"name": label, "kind": None, "stated": False, "values": list(guess.values[:SHOWN])}
            notes = list(dict.fromkeys([guess.note, *notes_of.get(label, ())]))
            columns.insert(guess.place, record | {"missing": guess.n_missing / n_rows, "notes": notes})
    keys = call_columns([column["name"] for column in columns]) if variables.named else None
    for number, column in enumerate(columns):
        name = column["name"]
        column |= {"name": f"#{name + 1}", "key": name} if keys is None else {"key": keys[number]}
    return columns


def _options(columns: Sequence[JsonObject], reading: Reading, n_missing: int) -> str:
    """Return the options that fit needs, where something was guessed or cells are missing."""
    keys = [column["key"] for column in columns]
    weights = [] if "weights" in reading.said else _noted(columns)["weights"]
    kinds = {j: column["kind"] for j, column in enumerate(columns) if not column["stated"] and j not in weights}
    said = {"kinds": call_kinds(keys, kinds), "drop": [keys[j] for j, kind in kinds.items() if kind is None]}
    if weights:
        said["weights"] = keys[weights[0]]
    if "binary" in kinds.values() and "encode" not in reading.said:
        said["encode"] = "auto"
    if n_missing and "missing" not in reading.said:
        said["missing"] = "impute"
    return shlex.join(spell_reading(said))


def _suggestions(columns: Sequence[JsonObject], reading: Reading) -> dict[str, str]:
    """Return options that may be wanted, each with its reason."""
    keys, places = [column["key"] for column in columns], _noted(columns)
    places["covariates"] = [] if "covariates" in reading.said else _unlike_the_others(columns, places["weights"])
    reasons = {
        "covariates": "to adjust for columns unlike the others (or leave them out with --drop)",
        "reverse": "if the wording is reversed",
        "normal_scores": "because couplings are linear in the values, and these have a long tail",
    }
    found = {}
    for option, reason in reasons.items():
        if places[option]:
            called = name_ranges(keys, places[option])
            found[shlex.join([longest(OPTIONS[option].opts), spell_value(OPTIONS[option], called)])] = reason
    return found


def _noted(columns: Sequence[JsonObject]) -> dict[str, list[int]]:
    """Return the places of columns with a note, by the option that it calls for."""
    from isinglass.data.guards import LONG_TAIL, REVERSED, WEIGHTS

    notes = {"weights": WEIGHTS, "reverse": REVERSED, "normal_scores": LONG_TAIL}
    return {
        option: [j for j, column in enumerate(columns) if note in column["notes"]] for option, note in notes.items()
    }


def _unlike_the_others(columns: Sequence[JsonObject], weights: Sequence[int]) -> list[int]:
    """Return the places of columns that are no items, if most columns are items of a battery."""
    kept = [j for j, column in enumerate(columns) if column["kind"] is not None and j not in weights]
    looks = {j: _look(columns[j]) for j in kept}
    most, size = Counter(looks.values()).most_common(1)[0] if looks else (None, 0)
    is_battery = size >= max(BATTERY, BATTERY_SHARE * len(kept))
    return [j for j in kept if is_battery and looks[j] != most]


def _look(column: JsonObject) -> tuple[str, str]:
    """Return what items of a battery share: kind and values; numbers, the name without the number at its end."""
    same = (
        column["name"].rstrip("0123456789")
        if column["kind"] == "continuous"
        else str(sorted(map(str, column["values"])))
    )
    return column["kind"], same


def _table_lines(columns: Sequence[JsonObject]) -> list[str]:
    """Return a table of the columns; adjacent columns with the same description share a line."""
    described = ("kind", "stated", "values", "range", "notes")
    groups = [list(alike) for _, alike in itertools.groupby(columns, lambda column: [*map(column.get, described)])]
    rows = [("Column", "Kind", "Values", "Missing", "Notes")]
    for group in groups[:MOST_LINES]:
        first, last = group[0], group[-1]
        name = first["name"]
        if len(group) > 1:
            name = f"{_short(name, 10)} … {_short(last['name'], 10)} ({len(group)})"
        kind = "left out" if first["kind"] is None else first["kind"] + ("" if first["stated"] else "?")
        shares = sorted(column["missing"] for column in group)
        low, high = (f"{100 * share:.1f}" for share in (shares[0], shares[-1]))
        missing = "" if not shares[-1] else f"{high}%" if low == high else f"{low}–{high}%"
        rows.append((_short(name, 28), kind, _values(first), missing, ", ".join(first["notes"])))
    if len(groups) > MOST_LINES:
        rows.append((f"and {len(groups) - MOST_LINES} more", "", "", "", ""))
    cells = [[printable(str(cell)) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for number, (*row, notes) in enumerate(cells):
        head = "".join(f"{cell:<{width}}  " for cell, width in zip(row, widths, strict=False))
        if len(head) + len(notes) <= WIDTH:
            lines.append((head + notes).rstrip())
        elif number == 0:
            lines.append(head.rstrip())
        else:  # on lines of their own
            lines += [head.rstrip(), *textwrap.wrap(notes, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT)]
    return lines


def _values(column: JsonObject, most: int = 24) -> str:
    """Return the values of a column in a few characters."""
    whole = (int(value) if isinstance(value, float) and value.is_integer() else value for value in column["values"])
    words = [str(value) for value in whole if value is not None]
    if column["kind"] == "continuous":
        first, last = column.get("range", [column["values"][0], column["values"][-1]])
        return f"{first:.4g} … {last:.4g} ({len(words)} steps)"
    text = (" < " if column["kind"] == "ordinal" else ", ").join(words)
    if len(text) <= most and column["kind"] is not None:
        return text
    if column["kind"] is None:
        return _short(", ".join(words), most)
    return f"{_short(words[0], 10)} … {_short(words[-1], 10)} ({len(words)})"


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _describe(data: Table) -> JsonObject:
    """Return what the table holds."""
    import numpy as np

    from isinglass.data.redundancy import dependent_columns, indicator_sets
    from isinglass.solve.path import alpha_max

    names, weight, categorical = data.names, data.sample_weight, not data.variables.is_binary
    cells = data.codes
    counted = cells if weight is None else cells[weight > 0]
    is_constant = (counted == counted[:1]).all(axis=0)
    varied = np.flatnonzero(~is_constant)
    is_binary = np.array([kind == "binary" for kind in data.variables.kinds])
    sets = indicator_sets(counted, is_binary, names if data.variables.named else None)
    values = _describe_categories(data) if categorical else _describe_bits(data, varied)
    return {
        **describe_table(data),
        **_describe_holes(data, names),
        "n_distinct_rows": len(np.unique(cells if categorical else np.packbits(cells, axis=1), axis=0)),
        "constant_columns": [names[k] for k in np.flatnonzero(is_constant)],
        **values,
        "equal_columns": [[names[k] for k in group] for group in dependent_columns(counted, is_binary)],
        "indicator_sets": [[names[k] for k in group] for group, _ in sets],
        "alpha_max": alpha_max(_to_fit(data)),
    }


def _to_fit(data: Table) -> Table:
    """Return the table for a trial fit, in which missing cells have the codes they were read as."""
    return replace(data, holes=None)


def _describe_bits(data: Table, varied: Iterable[int]) -> JsonObject:
    """Return the share of ones, and the columns in which ones or zeros are rare."""
    import numpy as np

    names, share = data.names, np.average(data.codes, axis=0, weights=data.sample_weight)
    rarer = np.minimum(share, 1.0 - share)
    found = sorted((k for k in varied if rarer[k] < RARE), key=lambda k: rarer[k])
    return {"share_of_ones": float(share.mean()), "rare_columns": {names[k]: float(share[k]) for k in found}}


def _describe_categories(data: Table) -> JsonObject:
    """Return the rare categories, and those that never occur."""
    import numpy as np

    rarest, never = {}, {}
    variables, shares = data.variables, data.variables.split(shares_of(data))
    for name, kind, values, share in zip(data.names, variables.kinds, variables.categories, shares, strict=True):
        if kind == "continuous":  # steps, not answers
            continue
        seen = np.flatnonzero(share)
        least = int(seen[share[seen].argmin()])
        if len(seen) > 1 and share[least] < RARE:
            rarest[f"{name}={values[least]}"] = float(share[least])
        if not share.all():
            never[name] = [values[k] for k in np.flatnonzero(share == 0).tolist()]
    return {"rare_columns": dict(sorted(rarest.items(), key=lambda item: item[1])), "never_chosen": never}


def _describe_holes(data: Table, names: Sequence[str]) -> JsonObject:
    """Return the missing cells by column and by pattern: the columns that are missing together."""
    import numpy as np

    from isinglass.results import hole_patterns

    gone = data.holes if data.holes is not None else data.filled
    if gone is None:
        return {}
    shares, (patterns, counts, n_patterns) = gone.mean(axis=0), hole_patterns(gone, SHOWN)
    return {
        "missing_by_column": {
            names[k]: float(shares[k]) for k in np.argsort(-shares, kind="stable").tolist() if shares[k] > 0
        },
        "missing_patterns": [
            {"columns": [names[j] for j in np.flatnonzero(pattern).tolist()], "n_rows": int(count)}
            for pattern, count in zip(patterns, counts, strict=True)
        ],
        "n_missing_patterns": n_patterns,
        "n_rows_with_holes": int(gone.any(axis=1).sum()),
        "n_rows_without_answer": int(gone.all(axis=1).sum()),
    }


def _estimate(data: Table, found: JsonObject, n_jobs: int) -> JsonObject:
    """Return an estimate of memory, by formula, and of the time of the default fit, by fits of some of the rows."""
    from isinglass._core import path_bytes

    n, p = found["n_distinct_rows"], found["n_columns"]
    sizes = {"bytes": path_bytes(n, p, 0), "bytes_dense": path_bytes(n, p, p * (p - 1) // 2)}
    if not data.variables.has_scores.all():  # known for one number per pair only
        sizes = {}
    trials = _try_fits(data, n_jobs) if found["alpha_max"] > 0 else []
    return {**sizes, "trial_fits": trials, "seconds": _extrapolate(trials, len(data))}


def _try_fits(data: Table, n_jobs: int) -> list[JsonObject]:
    """Fit the default network to some rows, twice as many each time, until all are fitted or the time is up."""
    import numpy as np

    from isinglass.select import Method, Run

    trials: list[JsonObject] = []
    n_rows, size, start = len(data), min(len(data), TRIAL_ROWS), time.perf_counter()
    while True:
        rows = data[np.linspace(0, n_rows - 1, size).astype(np.intp)] if size < n_rows else data
        begin = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a trial: the fit itself will say it
            fit = Method().fit(rows, run=Run(n_jobs=n_jobs, max_time=TRIAL))
        now = time.perf_counter()
        trials.append({"n_rows": size, "n_edges": fit.solution.n_edges, "seconds": now - begin})
        if size == n_rows or now - start > TRIAL:
            return trials
        size = min(2 * size, n_rows)


def _extrapolate(trials: Sequence[JsonObject], n_rows: int) -> float:
    """Extrapolate the time for all rows by a power law through the last two trials."""
    if not trials:
        return 0.0
    last = trials[-1]
    power = 1.0
    if len(trials) > 1:
        before = trials[-2]
        power = math.log(last["seconds"] / before["seconds"]) / math.log(last["n_rows"] / before["n_rows"])
    return float(last["seconds"] * (n_rows / last["n_rows"]) ** min(max(power, 0.5), 1.5))


def _facts(found: JsonObject, weights: str, file: Sequence[str]) -> dict[str, str]:
    """Return the description in words."""
    p = found["n_columns"]
    return {
        "Rows": f"{found['n_rows']}, {found['n_distinct_rows']} distinct",
        "Columns": f"{p}, {plural(p * (p - 1) // 2, 'pair')}",
        **_cells(found),
        **_missing(found),
        **({"Weights": weights} if weights else {}),
        **({"File": ", ".join(file)} if file else {}),
        **_special_columns(found),
        "alpha_max": f"{found['alpha_max']:.6g}, the smallest penalty without edges",
        **_cost(found["estimate"], found["n_rows"]),
        **_advice(found),
    }


def _missing(found: JsonObject) -> dict[str, str]:
    """Say how many cells are missing, and in which columns together."""
    n_cells = found["n_missing"]
    if "missing_by_column" not in found:
        return {"Missing": plural(n_cells, "cell")}
    patterns = [
        f"{' + '.join(pattern['columns'][:SHOWN])} ({plural(pattern['n_rows'], 'row')})"
        for pattern in found["missing_patterns"]
    ]
    return {
        "Missing": f"{plural(n_cells, 'cell')} ({n_cells / (found['n_rows'] * found['n_columns']):.1%}) in "
        f"{plural(found['n_rows_with_holes'], 'row')}, {found['n_rows_without_answer']} of them without any answer",
        "  patterns": _list(patterns, found["n_missing_patterns"]),
    }


def _special_columns(found: JsonObject) -> dict[str, str]:
    """Name the columns that are constant, rare, duplicated, or indicators of one variable."""
    what = "" if "kinds" in found else " ones"
    rare = _list([f"{name} ({share:.1%}{what})" for name, share in found["rare_columns"].items()])
    sets = [f"{group[0]} to {group[-1]} ({len(group)})" for group in found["indicator_sets"]]
    return {
        "Constant": _list(found["constant_columns"]),
        "Rare": rare + (f" [rarer value below {RARE:.0%}]" if found["rare_columns"] else f" below {RARE:.0%}"),
        "Duplicates": _list([" = ".join(group) for group in found["equal_columns"]]),
        **({"Indicators": _list(sets)} if sets else {}),
    }


def _cost(estimate: JsonObject, n_rows: int) -> dict[str, str]:
    """Say what memory and time a fit will take."""
    facts = {}
    if "bytes" in estimate:
        few, all_pairs = (format_bytes(estimate[name]) for name in ("bytes", "bytes_dense"))
        facts["Memory"] = f"about {few} with few edges, {all_pairs} with all pairs (estimated)"
    trials = estimate["trial_fits"]
    if not trials:
        return facts | {"Time": "nothing to fit"}
    tried = trials[-1]["n_rows"]
    how = f" (estimated from a fit to {tried} rows)" if tried < n_rows else ""
    return facts | {"Time": f"about {format_seconds(estimate['seconds'])} for the default fit{how}"}


def _advice(found: JsonObject) -> dict[str, str]:
    """Say which options a fit needs, and which are worth a thought."""
    facts = {}
    if found["options"]:
        guessed = any(not column["stated"] for column in found["columns"])
        is_binary = all(column["kind"] == "binary" for column in found["columns"])
        other = "or drop, or zero" if is_binary else "or drop"
        facts["Fit needs"] = f"{found['options']} ({'change the kinds that were guessed wrong' if guessed else other})"
    if found["suggestions"]:
        said = [f"{words} {why}" for words, why in found["suggestions"].items()]
        facts["Consider"] = "; ".join(said)
    return facts


def _wrap(facts: Mapping[str, str]) -> list[str]:
    """Return facts as lines of a terminal, the names on the left."""
    width = max(map(len, facts))
    lines = []
    for name, value in facts.items():
        head = f"{name:<{width}}  "
        wrap = textwrap.TextWrapper(WIDTH, initial_indent=head, subsequent_indent=" " * len(head))
        wrap.break_on_hyphens = wrap.break_long_words = False
        lines += wrap.wrap(printable(value)) or [head.rstrip()]
    return lines


def _cells(found: JsonObject) -> dict[str, str]:
    """Describe the values of the cells in words."""
    from isinglass.variables import KINDS

    if "kinds" not in found:
        return {"Ones": f"{found['share_of_ones']:.1%} of the cells"}
    kinds = list(found["kinds"].values())
    counts = [f"{kinds.count(kind)} {kind}" for kind in KINDS if kind in kinds]
    never = [f"{name}: {', '.join(map(str, values))}" for name, values in found["never_chosen"].items()]
    return {"Kinds": ", ".join(counts), **({"Never chosen": _list(never)} if never else {})}


def _list(items: Sequence[str], total: int | None = None) -> str:
    """Return the first items with the number of all, of which some may not be given."""
    total = len(items) if total is None else total
    more = f" and {total - SHOWN} more" if total > SHOWN else ""
    return (f"{total}: " + ", ".join(items[:SHOWN]) + more) if items else "none"
