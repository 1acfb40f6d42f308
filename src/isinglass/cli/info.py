"""isinglass info: what a table holds, and what fitting it will cost."""

from __future__ import annotations

import math
import textwrap
import time
import warnings
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from isinglass.cli.advice import options_needed, options_to_consider
from isinglass.cli.command import command
from isinglass.cli.console import Console, plural
from isinglass.cli.descriptions import describe_table, describe_weights, shares_of
from isinglass.cli.info_text import RARE, SHOWN, WIDTH, facts_in_words, table_lines, wrap_facts
from isinglass.cli.models import Loaded
from isinglass.cli.options import TABLE_OR_MODEL
from isinglass.cli.reading import READING, Reading, call_columns
from isinglass.errors import DataError, MeaningWarning
from isinglass.json_text import JsonObject
from isinglass.storage import holds_record

if TYPE_CHECKING:
    from isinglass.data import Table

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
    found["options"] = options_needed(columns, reading, data.n_missing)
    found["suggestions"] = options_to_consider(columns, reading)
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
    facts = facts_in_words(found, weights, reading.describe_file(data))
    console.write("".join(f"{line}\n" for line in (*table_lines(found["columns"]), "", *wrap_facts(facts))))


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
        is_whole = not fit.left_out
        trials.append({"n_rows": size, "n_edges": fit.solution.n_edges, "seconds": now - begin, "finished": is_whole})
        if size == n_rows or now - start > TRIAL or not is_whole:
            return trials
        size = min(2 * size, n_rows)


def _extrapolate(trials: Sequence[JsonObject], n_rows: int) -> float:
    """Extrapolate the time for all rows by a power law through the last two trials; one cut short is a lower bound."""
    if not trials:
        return 0.0
    last = trials[-1]
    if not last["finished"]:
        return float(last["seconds"])
    power = 1.0
    if len(trials) > 1:
        before = trials[-2]
        power = math.log(last["seconds"] / before["seconds"]) / math.log(last["n_rows"] / before["n_rows"])
    return float(last["seconds"] * (n_rows / last["n_rows"]) ** min(max(power, 0.5), 1.5))
