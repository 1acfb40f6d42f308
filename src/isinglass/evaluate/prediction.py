"""Probabilities, scores and imputed values of the cells of a table with missing cells; expected numbers, intervals.

``possible`` marks the categories that a missing cell may take, in the flat layout of the variables: those that occur in
the table of the fit; by default all. ``rules`` say what the numbers of steps of continuous columns are: those of the
coding of the fit; by default those by which the table was read. ``chance`` has an array (n_samples, n_categories) of
probabilities for every variable.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isinglass.arguments import RandomSource, as_generator, check_count, check_level
from isinglass.arrays import AnyArray, Bytes, FloatArray, IntArray, Mask
from isinglass.conditionals import ones_given_rest, row_scores
from isinglass.data import Table
from isinglass.data.meaning.rules import Rule, Steps
from isinglass.evaluate.marginals import category_logs
from isinglass.network import Network
from isinglass.simulate.gibbs import Chains, restrict_to, start_values
from isinglass.variables import Variables

_ROUNDING = 1e-9  # of probabilities, and of quarters of a step


def cell_probabilities(table: Table, network: Network, possible: Mask | None = None) -> FloatArray | list[FloatArray]:
    """Return P(x_s = k | the observed cells of the other columns of the row) for every cell, missing or not.

    The probability of a 1, shape (n_samples, n_features), for two values; otherwise one array (n_samples, categories)
    per column.
    """
    two_values = network.variables.is_binary
    if two_values and table.holes is None:
        return ones_given_rest(network, np.asarray(table))
    flat = np.exp(category_logs(np.asarray(table), table.holes, network, possible))
    if two_values:
        return np.ascontiguousarray(flat[1::2].T)
    return [np.ascontiguousarray(part.T) for part in network.variables.split(flat)]


def score_rows(table: Table, network: Network, possible: Mask | None = None) -> FloatArray:
    """Return the log pseudo-likelihood of the observed cells of every row."""
    codes = np.asarray(table)
    if table.holes is None:
        return row_scores(network, codes)
    logs = category_logs(codes, table.holes, network, possible)
    own = np.take_along_axis(logs, network.variables.flat(np.where(table.holes, 0, codes)), axis=0)
    return np.asarray(np.where(table.holes.T, 0.0, own).sum(axis=0))


def fill_most_probable(
    table: Table, network: Network, possible: Mask | None = None, rules: Sequence[Rule] | None = None
) -> AnyArray:
    """Return the cells, in values of the source, with the most probable value or the expected number in missing ones.

    Observed cells of the source that stand for one category are equal here: `complete` has them as they came.
    """
    codes, missing = np.asarray(table), table.missing_cells
    if missing is None:
        return _values_of(table, codes, network, rules)
    chance = network.variables.split(np.exp(category_logs(codes, missing, network, possible)))
    best = np.column_stack([part.argmax(axis=0) for part in chance])
    return _values_of(table, np.where(missing, best, codes).astype(np.uint8), network, rules, chance)


def fill_drawn(
    table: Table,
    network: Network,
    possible: Mask | None = None,
    rules: Sequence[Rule] | None = None,
    *,
    n_sweeps: int = 200,
    random_state: RandomSource = None,
) -> AnyArray:
    """Return the same with Gibbs draws in the missing cells, given the observed cells of their row."""
    codes, missing = np.asarray(table), table.missing_cells
    check_count("n_sweeps", n_sweeps)
    if missing is not None:
        rng = as_generator(random_state)
        start = start_values(np.where(missing, 0, codes), missing, np.ones(len(codes), dtype=bool), rng)
        chains = Chains(start, missing, random_state=rng)
        chains.sweep(network if possible is None else restrict_to(possible, network), n_sweeps)
        codes = chains.table
    return _values_of(table, codes, network, rules)


def _values_of(
    table: Table, codes: Bytes, network: Network, rules: Sequence[Rule] | None, chance: Sequence[FloatArray] = ()
) -> AnyArray:
    """Return the values of the source that codes stand for.

    Of continuous columns, observed numbers; in missing cells expected ones, given the probabilities, or means of steps,
    with as many decimals as the column of the fit had.
    """
    variables, missing = network.variables, table.missing_cells
    if variables.is_plain:
        return codes
    numbers = np.full(codes.shape, np.nan)
    for s, rule in enumerate(rules or table.coding.columns):
        if isinstance(rule, Steps):
            means = np.array(rule.means)
            found = means[codes[:, s]]
            if chance and missing is not None:
                found = np.where(missing[:, s], means @ chance[s], found)
            numbers[:, s] = found if rule.decimals is None else found.round(rule.decimals)
    if table.numbers is not None:
        known = table.numbers if missing is None else np.where(missing, np.nan, table.numbers)
        numbers = np.where(np.isnan(known), numbers, known)
    return put_numbers(label_cells(codes, variables), numbers)


def label_cells(codes: IntArray, variables: Variables) -> AnyArray:
    """Return the values of the source that codes stand for."""
    cells = np.empty(codes.shape, dtype=object)
    for s, values in enumerate(variables.categories):
        listed = np.empty(len(values), dtype=object)
        listed[:] = values
        cells[:, s] = listed[codes[:, s]]
    every = [value for values in variables.categories for value in values]
    if not all(isinstance(value, int | float) for value in every):
        return cells
    return cells.astype(np.float64 if any(isinstance(value, float) for value in every) else np.int64)


def among_occurring(chance: Sequence[FloatArray], variables: Variables, occurs: Mask | None) -> list[FloatArray]:
    """Return the probabilities of categories, given that a cell has one that occurs in the table of the fit."""
    if occurs is None or occurs.all():
        return list(chance)
    kept = [part * there for part, there in zip(chance, variables.split(occurs), strict=True)]
    return [part / np.maximum(part.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny) for part in kept]


def expected_values(chance: Sequence[FloatArray], rules: Sequence[Rule]) -> FloatArray:
    """Return the expected number of every cell, shape (n_samples, n_features); NaN in columns that hold no numbers."""
    expected = np.full((len(chance[0]), len(rules)), np.nan)
    for s, rule in enumerate(rules):
        if isinstance(rule, Steps):
            expected[:, s] = chance[s] @ np.array(rule.means)
    return expected


def central_intervals(chance: Sequence[FloatArray], rules: Sequence[Rule], level: float) -> FloatArray:
    """Return between which numbers a cell lies with the probability ``level`` or a little more.

    The result has the shape (n_samples, n_features, 2), NaN in columns that hold no numbers. The probability below the
    interval is at most (1 - level) / 2, and so is that above, if the numbers of a step are distributed as in the table
    of the fit: the ends are numbers of that table, quartiles of a step.
    """
    ends = 0.5 + np.array([-0.5, 0.5]) * check_level(level)
    intervals = np.full((len(chance[0]), len(rules), 2), np.nan)
    for s, rule in enumerate(rules):
        if not isinstance(rule, Steps):
            continue
        share = chance[s] / chance[s].sum(axis=1, keepdims=True)
        up_to = np.cumsum(share, axis=1)
        for side, end in enumerate(ends.tolist()):
            step = np.minimum((up_to < end - _ROUNDING).sum(axis=1), rule.n_categories - 1)[:, None]
            above, mass = (np.take_along_axis(each, step, axis=1)[:, 0] for each in (up_to - end, share))
            quarters = 4.0 * np.clip(1.0 - above / np.maximum(mass, 1e-300), 0.0, 1.0)
            place = np.ceil(quarters - _ROUNDING) if side else np.floor(quarters + _ROUNDING)
            intervals[:, s, side] = np.array(rule.quartiles)[step[:, 0], place.astype(np.intp)]
    return intervals


def put_numbers(cells: AnyArray, numbers: FloatArray) -> AnyArray:
    """Return cells of the source with numbers in place of some of them; where there is no number they stay."""
    there = ~np.isnan(numbers)
    if not there.any():
        return cells
    if cells.dtype.kind != "O":
        return np.where(there, numbers, cells)
    filled = cells.copy()
    for s in np.flatnonzero(there.any(axis=0)).tolist():
        found = numbers[there[:, s], s].tolist()
        whole = all(isinstance(cell, int) for cell in cells[:, s]) and all(map(float.is_integer, found))
        filled[there[:, s], s] = list(map(int, found)) if whole else found
    return filled
