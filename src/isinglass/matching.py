"""Whether a table belongs to a network: as many columns, of the same names if both have some, with the same categories.

Columns of tables and frames are found by name when they are read; these functions decide about tables as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isinglass.arrays import Bytes
from isinglass.errors import DataError, listed, setting
from isinglass.variables import Variables

Values = tuple[Any, ...]  # Any: cells of the source


def check_width(n_columns: int, network: Variables) -> None:
    """Refuse a table that does not have a column per variable of a network."""
    if n_columns != network.n_features:
        raise DataError(
            f"{setting('X')} must have one column per node ({network.n_features}); got {n_columns}. Pass the columns "
            "the network was made from, in the same order."
        )


def require_same_names(table: Variables, network: Variables) -> None:
    """Refuse a table whose columns are not those of a network in the same order, if both have names."""
    check_width(table.n_features, network)
    if table.named and network.named and table.names != network.names:
        got, wanted = next(names for names in zip(table.names, network.names, strict=True) if names[0] != names[1])
        raise DataError(
            f"{setting('X')} must have the columns of the network in the same order; got {got!r} in place of "
            f"{wanted!r}. Pass the columns network.names."
        )


def match_categories(table: Variables, network: Variables) -> dict[int, Bytes]:
    """Return what the codes of a table become in a network, by column; none where the same codes mean the same there.

    Values come first: if all categories of a column are categories of the network, they are found there by their
    values. If none is, and those of one side are the numbers 0, 1, 2, …, these are codes, but not of the steps of a
    continuous column. Everything else is refused.
    Codes above the last of the network stay what they are: they must not occur (`Table.with_variables`).
    """
    check_width(table.n_features, network)
    if table.categories == network.categories:
        return {}
    found = {}
    for column, (given, wanted) in enumerate(zip(table.categories, network.categories, strict=True)):
        codes = list(range(len(given))) if given == wanted else _codes_of(given, wanted)
        if codes is None or (network.kinds[column] == "continuous" and wanted[codes[0]] != given[0]):
            shown, got = (listed([repr(value) for value in values]) for values in (wanted, given))
            raise DataError(
                f"column {network.called(column)} must have the categories of the network, {shown}; got {got}. Read "
                "the table as that of the fit was read, as_table(frame, encode=fit.coding)."
            )
        if codes != list(range(len(wanted))):
            found[column] = np.array(codes, dtype=np.uint8)
    return found


def _codes_of(given: Values, wanted: Values) -> list[int] | None:
    """Return the places of some categories among others; None if there is no telling which they are."""
    are_codes, are_wanted_codes = (values == tuple(range(len(values))) for values in (given, wanted))
    if are_codes and are_wanted_codes:
        return list(range(len(given)))
    place = {value: code for code, value in enumerate(wanted) if value is not None}
    known = [place[value] for value in given if value in place]
    if not known:
        fits = len(given) <= len(wanted) if are_codes else are_wanted_codes and len(given) == len(wanted)
        return list(range(len(given))) if fits else None
    if len(known) < sum(value is not None for value in given):
        return None
    rest = iter(sorted({*range(len(wanted))} - {*known}))  # for a category without a value, which does not occur
    return [place[value] if value is not None else next(rest) for value in given]


def require_same(table: Variables, network: Variables) -> None:
    """Refuse variables with other categories or scores, for which the parameters of a network mean something else."""
    if match_categories(table, network) or table.scores != network.scores:
        raise DataError("the network must have the categories and scores of the table; got others.")
