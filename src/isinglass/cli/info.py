"""isinglass info: what a table holds, and what fitting it will cost."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from isinglass.cli.console import Console, format_seconds, plural
from isinglass.cli.descriptions import describe_table, format_bytes, shares_of
from isinglass.cli.exits import printable
from isinglass.cli.options import TABLE, Option, command
from isinglass.cli.reading import READING, Reading, describe_coding, describe_weights
from isinglass.cli.values import Number

if TYPE_CHECKING:
    from isinglass.data import Table

SHOWN = 10  # names listed before the rest is counted
TRIAL = 1.0  # seconds of trial fits after which no further one begins
TRIAL_DEPTHS = (2, 4, 8)  # the trial alphas are alpha_max divided by these


@command(
    "info",
    TABLE,
    Option("--rare", Number(0, 0.5), "List columns whose rarer value has a smaller share of the rows.", default=0.05),
    bundles=[READING],
)
def info(console: Console, table: str, rare: float, reading: Reading) -> None:
    """Check TABLE before fitting.

    Shows its size, missing cells, columns that are constant, rare or duplicates, the penalty at which all edges vanish,
    and the memory and time that a fit will take. Missing cells are counted by column and pattern, and
    read as 0 for the rest unless --missing says otherwise. TABLE may be - for stdin.
    """
    data = reading.with_defaults(missing="impute").read(console, table)
    found = _describe(data, rare)
    with console.progress("Trial fits"):
        found["estimate"] = _estimate(data, found)
    if console.as_json:
        console.write_json(found)
    else:
        weights = "" if data.sample_weight is None else describe_weights(data)
        file = reading.describe_file(data)
        values = ({"File": ", ".join(file)} if file else {}) | describe_coding(data.coding)
        console.write("".join(f"{line}\n" for line in _lines(found, rare, values, weights)))


def _describe(data: Any, rare: float) -> dict[str, Any]:
    """Return what the table holds."""
    import numpy as np

    from isinglass.solve.path import alpha_max

    names, weight, categorical = data.names, data.sample_weight, not data.variables.is_binary
    cells = data.codes
    counted = cells if weight is None else cells[weight > 0]
    is_constant = (counted == counted[:1]).all(axis=0)
    varied = np.flatnonzero(~is_constant)
    values = _describe_categories(data, rare) if categorical else _describe_bits(data, rare, varied)
    return {
        **describe_table(data),
        **_describe_holes(data, names),
        "n_distinct_rows": len(np.unique(cells if categorical else np.packbits(cells, axis=1), axis=0)),
        "constant_columns": [names[k] for k in np.flatnonzero(is_constant)],
        **values,
        "equal_columns": _equal_columns(counted[:, varied], [names[k] for k in varied]),
        "alpha_max": alpha_max(_to_fit(data)),
    }


def _to_fit(data: Table) -> Table:
    """Return the table of a trial, where missing cells are what they were read as."""
    return replace(data, holes=None)


def _describe_bits(data: Table, rare: float, varied: Any) -> dict[str, Any]:
    """Return the share of ones, and columns with few of them or few others."""
    import numpy as np

    names, share = data.names, np.average(data.codes, axis=0, weights=data.sample_weight)
    rarer = np.minimum(share, 1.0 - share)
    found = sorted((k for k in varied if rarer[k] < rare), key=lambda k: rarer[k])
    return {"share_of_ones": float(share.mean()), "rare_columns": {names[k]: float(share[k]) for k in found}}


def _describe_categories(data: Any, rare: float) -> dict[str, Any]:
    """Return the categories that are rare, and those that nobody chose."""
    import numpy as np

    rarest, never = {}, {}
    variables = data.variables
    for name, values, share in zip(data.names, variables.categories, variables.split(shares_of(data)), strict=True):
        seen = np.flatnonzero(share)
        least = int(seen[share[seen].argmin()])
        if len(seen) > 1 and share[least] < rare:
            rarest[f"{name}={values[least]}"] = float(share[least])
        if not share.all():
            never[name] = [values[k] for k in np.flatnonzero(share == 0).tolist()]
    return {"rare_columns": dict(sorted(rarest.items(), key=lambda item: item[1])), "never_chosen": never}


def _describe_holes(data: Table, names: Sequence[str]) -> dict[str, Any]:
    """Return the missing cells by column and by pattern: the columns that are missing together."""
    import numpy as np

    from isinglass.data import hole_patterns

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


def _equal_columns(X: Any, names: Sequence[str]) -> list[list[str]]:
    """Return the groups of columns that are equal, or opposite, in every row."""
    groups: dict[bytes, list[str]] = {}
    for name, column in zip(names, (X ^ X[:1]).T, strict=True):
        groups.setdefault(column.tobytes(), []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def _estimate(data: Table, found: Mapping[str, Any]) -> dict[str, Any]:
    """Return an estimate of memory and time: by formula, and by trial fits at some alphas, as far as they are quick."""
    import warnings

    from isinglass._core import path_bytes
    from isinglass.solve.path import ising_path

    n, p, alpha_max = found["n_distinct_rows"], found["n_columns"], found["alpha_max"]
    trials: list[dict[str, Any]] = []
    start = time.perf_counter()
    for depth in TRIAL_DEPTHS if alpha_max > 0 else ():
        begin = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a trial: the fit itself will say it
            solution = ising_path(_to_fit(data), [alpha_max / depth])[0]
        now = time.perf_counter()
        trials.append({"alpha": solution.alpha, "n_edges": solution.n_edges, "seconds": now - begin})
        if now - start > TRIAL:
            break
    sizes = {"bytes": path_bytes(n, p, 0), "bytes_dense": path_bytes(n, p, p * (p - 1) // 2)}
    if not data.variables.has_scores.all():  # known for one number per pair only
        sizes = {}
    return {**sizes, "trial_fits": trials}


def _lines(found: dict[str, Any], rare: float, values: dict[str, str], weights: str) -> list[str]:
    """Return the description in words."""
    n, p = found["n_rows"], found["n_columns"]
    facts = {
        "Rows": f"{n}, {found['n_distinct_rows']} distinct",
        "Columns": f"{p}, {plural(p * (p - 1) // 2, 'pair')}",
        **_cells(found),
        "Missing": plural(found["n_missing"], "cell"),
    }
    if "missing_by_column" in found:
        cells, rows, empty = (found[key] for key in ("n_missing", "n_rows_with_holes", "n_rows_without_answer"))
        facts["Missing"] = (
            f"{plural(cells, 'cell')} ({cells / (n * p):.1%}) in {plural(rows, 'row')}, {empty} of them without any "
            "answer"
        )
        facts["  by column"] = _list([f"{name} {share:.1%}" for name, share in found["missing_by_column"].items()])
        facts["  together"] = _list(
            [
                f"{' + '.join(pattern['columns'][:SHOWN])} ({plural(pattern['n_rows'], 'row')})"
                for pattern in found["missing_patterns"]
            ]
        )
    if found["weight_kind"] is not None:
        facts["Weights"] = weights
    facts |= values
    facts["Constant"] = _list(found["constant_columns"])
    what = "" if "kinds" in found else " ones"
    facts["Rare"] = _list([f"{name} ({share:.1%}{what})" for name, share in found["rare_columns"].items()])
    facts["Rare"] += f" [rarer value below {rare:.0%}]" if found["rare_columns"] else f" below {rare:.0%}"
    facts["Duplicates"] = _list([" = ".join(group) for group in found["equal_columns"]])
    facts["alpha_max"] = f"{found['alpha_max']:.6g}, where all edges vanish"
    estimate = found["estimate"]
    if "bytes" in estimate:
        facts["Memory"] = (
            f"about {format_bytes(estimate['bytes'])} with few edges, "
            f"{format_bytes(estimate['bytes_dense'])} if every pair is one (estimated)"
        )
    trials = [
        f"{format_seconds(trial['seconds'])} at alpha {trial['alpha']:.3g} ({plural(trial['n_edges'], 'edge')})"
        for trial in estimate["trial_fits"]
    ]
    facts["Time"] = "one fit " + ", ".join(trials) + " (measured now)" if trials else "nothing to fit"
    width = max(map(len, facts))
    return [f"{name:<{width}}  {printable(value)}" for name, value in facts.items()]


def _cells(found: dict[str, Any]) -> dict[str, str]:
    """Say in words what stands in the cells."""
    if "kinds" not in found:
        return {"Ones": f"{found['share_of_ones']:.1%} of the cells"}
    kinds = list(found["kinds"].values())
    counts = [f"{kinds.count(kind)} {kind}" for kind in ("binary", "ordinal", "nominal") if kind in kinds]
    never = [f"{name}: {', '.join(map(str, values))}" for name, values in found["never_chosen"].items()]
    return {"Kinds": ", ".join(counts), **({"Never chosen": _list(never)} if never else {})}


def _list(items: Sequence[str]) -> str:
    more = f" and {len(items) - SHOWN} more" if len(items) > SHOWN else ""
    return (f"{len(items)}: " + ", ".join(items[:SHOWN]) + more) if items else "none"
