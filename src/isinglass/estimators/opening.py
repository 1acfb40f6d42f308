"""Tables of estimators: opened with their weights, whole or in parts, and asked about their rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils.validation import _num_samples

from isinglass.arrays import Bytes, FloatArray
from isinglass.data import BinaryTable, PartedTable, check_sample_weight, read_parts, read_rows
from isinglass.data.blocks import Block, is_in_parts
from isinglass.data.parts import read_like
from isinglass.data.table import RowTable
from isinglass.errors import DataError, setting
from isinglass.network import Network


def open_table(X: Any, sample_weight: ArrayLike | None, like: Block | None = None, **reading: Any) -> BinaryTable:
    """Return a table, whole or in parts, with the weights of its rows; the options are not for a BinaryTable.

    ``like``: how the parts of another table were read, if it came in parts.
    """
    if is_in_parts(X):
        if like is None:
            return read_parts(X, sample_weight=sample_weight, **reading)  # type: ignore[return-value]
        return read_like(X, like, sample_weight, **reading)  # type: ignore[return-value]
    if isinstance(X, PartedTable) and sample_weight is not None:
        raise DataError(f"{setting('sample_weight')} must be given to read_parts for a table in parts.")
    return _weigh(X, read_rows(X, **({} if isinstance(X, RowTable) else reading)), sample_weight)


def check_categories(network: Network, table: Any) -> None:
    """Refuse a table that was read in another way than that of the fit."""
    mine, theirs = getattr(network, "categories", None), getattr(table, "categories", None)
    if mine != theirs:
        raise DataError(
            f"{setting('X')} must have the categories of fit in the same order; got others. Read it with the coding of "
            "the fit: read_categories(frame, encode=net.coding_)."
        )


def sum_rows(table: Bytes, weight: FloatArray | None, network: Network) -> float:
    """Return the log pseudo-likelihood of some rows under their weights."""
    rows = network.log_pseudolikelihood(table)
    return float(rows.sum() if weight is None else weight @ rows)


def ask_rows(table: BinaryTable, question: str, network: Network) -> Any:
    """Return what a network says about the rows of a table: an array, or a list of arrays of its parts."""
    if isinstance(table, PartedTable):
        return table.each(_answer_rows, question, network)
    return getattr(network, question)(table.X)


def _answer_rows(table: Bytes, weight: FloatArray | None, question: str, network: Network) -> Any:
    return getattr(network, question)(table)


def _weigh(X: Any, table: BinaryTable, sample_weight: ArrayLike | None) -> BinaryTable:
    """Return the table with the weights of the rows that were read."""
    if sample_weight is None:
        return table
    if table.sample_weight is not None:
        raise DataError(
            f"{setting('sample_weight')} must be given once; got it beside a table that has weights of its own."
        )
    if isinstance(X, RowTable) or table.rows is None:
        return replace(table, sample_weight=check_sample_weight(sample_weight, len(table)))
    weight = check_sample_weight(sample_weight, _num_samples(X))
    assert weight is not None
    return replace(table, sample_weight=weight[table.rows])
