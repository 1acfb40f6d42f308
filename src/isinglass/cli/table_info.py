"""What `isinglass info` finds out about a table, as records that its text, its advice and its JSON are made of."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from isinglass.cli.descriptions import describe_table
from isinglass.cli.reading import call_columns
from isinglass.errors import MeaningWarning
from isinglass.json_text import JsonObject

if TYPE_CHECKING:
    from isinglass.arrays import FloatArray
    from isinglass.data import Table
    from isinglass.data.values import Value

RARE = 0.05  # share of the rows below which the rarer value of a column is listed
SHOWN = 10  # names listed before the rest is counted
TRIAL = 2.0  # seconds of trial fits after which no further one begins
TRIAL_ROWS = 250  # of the first trial fit


@dataclass(frozen=True)
class ColumnInfo:
    """A column of the file."""

    name: str
    kind: str | None  # None: it is left out
    stated: bool  # whether the user said its kind
    values: Sequence[Value]
    missing: float  # share of its cells
    notes: Sequence[str]  # what is doubtful
    key: str | int  # what options call it: its name, or its number from 0
    range: tuple[float, float] | None = None  # the smallest and the largest number of a continuous column


@dataclass(frozen=True)
class Trial:
    """A fit of the default network to some of the rows."""

    n_rows: int
    n_edges: int
    seconds: float
    finished: bool  # False: it was stopped


@dataclass(frozen=True)
class Cost:
    """What a fit will take."""

    bytes: int | None  # with few edges; None where some pairs have several parameters
    bytes_dense: int | None  # with all pairs
    trial_fits: Sequence[Trial]
    seconds: float  # a lower bound, if the last trial was stopped


@dataclass(frozen=True, eq=False)
class TableInfo:
    """What a table holds, and what fitting it will cost."""

    data: Table
    columns: Sequence[ColumnInfo]  # of the file
    missing: JsonObject | None  # None: no cell is missing
    n_distinct_rows: int
    constant_columns: list[str]
    share_of_ones: float | None  # of the observed cells; None where columns have categories
    rare_categories: dict[str, float]  # the rarest of every column, if it is rare, with its share of the observed cells
    never_chosen: dict[str, list[Value]]  # categories that do not occur
    equal_columns: list[list[str]]
    indicator_sets: list[list[str]]
    alpha_max: float | None  # None where cells are missing: it depends on how they are imputed
    estimate: Cost

    @classmethod
    def of(cls, data: Table, columns: Sequence[ColumnInfo], n_jobs: int) -> TableInfo:
        """Examine a table and try to fit it."""
        import numpy as np

        from isinglass.data import category_counts
        from isinglass.data.redundancy import dependent_columns, indicator_sets
        from isinglass.solve.path import alpha_max

        names, cells, two_values = data.names, data.codes, data.variables.is_binary
        holes, has_weight = data.holes, slice(None) if data.sample_weight is None else data.sample_weight > 0
        counted, lacking = cells[has_weight], None if holes is None else holes[has_weight]
        counts = data.variables.split(category_counts(data))
        is_binary = np.array([kind == "binary" for kind in data.variables.kinds])
        sets = indicator_sets(counted, is_binary, names if data.variables.named else None)
        answers = np.packbits(cells, axis=1) if two_values else cells
        answers = answers if holes is None else np.hstack([answers, np.packbits(holes, axis=1)])
        n_distinct = len(np.unique(answers, axis=0))
        rare, never = _rare_categories(data, counts)
        largest = alpha_max(data) if holes is None else None
        varied = [np.count_nonzero(count) > 1 for count in counts]
        trials = _try_fits(data, n_jobs) if any(varied) and largest != 0 else []
        return cls(
            data=data,
            columns=columns,
            missing=_find_holes(data),
            n_distinct_rows=n_distinct,
            constant_columns=[name for name, varies in zip(names, varied, strict=True) if not varies],
            share_of_ones=float(sum(count[1] for count in counts) / np.sum(counts)) if two_values else None,
            rare_categories=dict(sorted(rare.items(), key=lambda item: item[1])),
            never_chosen=never,
            equal_columns=[[names[k] for k in group] for group in dependent_columns(counted, is_binary, lacking)],
            indicator_sets=[[names[k] for k in group] for group, _ in sets],
            alpha_max=largest,
            estimate=_estimate_cost(data, n_distinct, trials),
        )

    def as_json(self) -> JsonObject:
        """Return it as --json prints it: the fields of the table and of missing cells are beside the others."""
        found = {name: value for name, value in vars(self).items() if name not in ("data", "missing")}
        return {**describe_table(self.data), **(self.missing or {}), **found}


def describe_columns(data: Table, doubts: Sequence[MeaningWarning]) -> list[ColumnInfo]:
    """Return a description of every column, in the order of the file; ``doubts`` are the warnings about them."""
    import numpy as np

    from isinglass.data.coding import Steps
    from isinglass.data.values import is_number

    notes_of: dict[Hashable, list[str]] = {}
    for warning in doubts:
        for label in warning.columns:
            notes_of.setdefault(label, []).append(warning.note)
    gone, variables = data.holes if data.holes is not None else data.filled, data.variables
    shares = [0.0] * data.shape[1] if gone is None else gone.mean(axis=0).tolist()
    labels = data.names if variables.named else data.column_labels or range(data.shape[1])
    each = zip(labels, variables.kinds, variables.categories, shares, data.coding.columns, strict=True)
    found: list[tuple[Hashable, ColumnInfo]] = []
    for number, (label, kind, values, share, rule) in enumerate(each):
        notes, ends = list(notes_of.get(label, ())), None
        if isinstance(rule, Steps):
            if sum(rule.beyond):
                notes.append(f"grid {rule.values[0]:g} … {rule.values[-1]:g}, {sum(rule.beyond)} beyond")
            if data.numbers is not None:
                numbers = data.numbers[:, number]
                ends = float(np.nanmin(numbers)), float(np.nanmax(numbers))
        stated = label not in data.guesses
        found.append((label, ColumnInfo("", kind, stated, list(values), share, notes, "", ends)))
    for label, guess in data.guesses.items():  # in the order of their places
        if guess.kind is None:
            notes = [guess.note, *notes_of.get(label, ())]
            shown = sorted(guess.values) if all(map(is_number, guess.values)) else guess.values
            left_out = ColumnInfo("", None, False, shown[:SHOWN], guess.n_missing / len(data), notes, "")
            found.insert(guess.place, (label, left_out))
    if variables.named:
        names = [str(label) for label, _ in found]
        keys = call_columns(names)
    else:
        keys = [number for number, _ in found if isinstance(number, int)]
        names = [f"#{number + 1}" for number, _ in found if isinstance(number, int)]
    return [
        replace(column, name=name, key=key, notes=list(dict.fromkeys(column.notes)))
        for name, key, (_, column) in zip(names, keys, found, strict=True)
    ]


def _rare_categories(data: Table, counts: Sequence[FloatArray]) -> tuple[dict[str, float], dict[str, list[Value]]]:
    """Return the share of every column's rarest category, where it is rare, and the categories that never occur."""
    import numpy as np

    rarest, never, variables = {}, {}, data.variables
    for name, kind, values, count in zip(data.names, variables.kinds, variables.categories, counts, strict=True):
        if kind == "continuous":  # steps, not answers
            continue
        seen = np.flatnonzero(count)
        least = min(seen.tolist(), key=lambda k: count[k], default=0)
        share = float(count[least] / max(count.sum(), np.finfo(np.float64).tiny))
        if len(seen) > 1 and share < RARE:
            rarest[f"{name}={values[least]}"] = share
        if not count.all() and kind != "binary":
            never[name] = [values[k] for k in np.flatnonzero(count == 0).tolist()]
    return rarest, never


def _find_holes(data: Table) -> JsonObject | None:
    """Return the shares of missing cells by column, the largest first, and the columns that are missing together."""
    import numpy as np

    from isinglass.missing_record import Missing

    gone, names = data.holes if data.holes is not None else data.filled, data.names
    if gone is None:
        return None
    found = Missing.count(gone)
    shares, each = found["column_shares"], zip(found["patterns"], found["pattern_counts"].tolist(), strict=True)
    return {
        "missing_by_column": {
            names[k]: float(shares[k]) for k in np.argsort(-shares, kind="stable").tolist() if shares[k] > 0
        },
        "missing_patterns": [
            {"columns": [names[j] for j in np.flatnonzero(pattern).tolist()], "n_rows": n} for pattern, n in each
        ],
        "n_missing_patterns": found["n_patterns"],
        "n_rows_with_holes": found["n_holed"],
        "n_rows_without_answer": int(gone.all(axis=1).sum()),
    }


def _estimate_cost(data: Table, n_distinct: int, trials: Sequence[Trial]) -> Cost:
    """Estimate the memory, by formula, and the time of the default fit, by fits of some of the rows."""
    from isinglass._core import path_bytes

    p = data.shape[1]
    sizes = [path_bytes(n_distinct, p, n_pairs) for n_pairs in (0, p * (p - 1) // 2)]
    few, dense = sizes if data.variables.has_scores.all() else (None, None)
    return Cost(few, dense, trials, _extrapolate(trials, len(data)))


def _try_fits(data: Table, n_jobs: int) -> list[Trial]:
    """Fit the default network to some rows, twice as many each time, until all are fitted or the time is up."""
    import numpy as np

    from isinglass.select import Method, Run

    # Those of imputed tables can take most of the time, and no limit stops them.
    method, trials = Method(standard_errors=data.holes is None), list[Trial]()
    n_rows, size, start = len(data), min(len(data), TRIAL_ROWS), time.perf_counter()
    while True:
        rows = data[np.linspace(0, n_rows - 1, size).astype(np.intp)] if size < n_rows else data
        begin = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a trial: the fit itself will say it
            fit = method.fit(rows, run=Run(n_jobs=n_jobs, max_time=TRIAL))
        now = time.perf_counter()
        trials.append(Trial(size, fit.solution.n_edges, now - begin, finished=not fit.selection.left_out))
        if size == n_rows or now - start > TRIAL or fit.selection.left_out:
            return trials
        size = min(2 * size, n_rows)


def _extrapolate(trials: Sequence[Trial], n_rows: int) -> float:
    """Extrapolate the time for all rows by a power law through the last two trials; one that was stopped is a bound."""
    if not trials or not trials[-1].finished:
        return trials[-1].seconds if trials else 0.0
    last, power = trials[-1], 1.0
    if len(trials) > 1:
        before = trials[-2]
        power = math.log(last.seconds / before.seconds) / math.log(last.n_rows / before.n_rows)
    return float(last.seconds * (n_rows / last.n_rows) ** min(max(power, 0.5), 1.5))
