"""The only conversion of tables to 0/1 bytes and of row and pair weights to checked arrays."""

from isinglass.data.coding import Coding
from isinglass.data.conversion import read_binary, read_categories, scaled_weights_of, to_binary, weights_of
from isinglass.data.parts import (
    PartedTable,
    bare_rows,
    counted_table,
    over_rows,
    read_parts,
    read_rows,
    to_counted,
    to_weighted,
)
from isinglass.data.table import BinaryTable, CategoryTable, hole_patterns, holes_of, units_of
from isinglass.data.tallies import (
    column_spread,
    count_categories,
    count_columns,
    count_rows,
    which_vary,
)
from isinglass.data.weights import are_counts, check_penalty_weights, check_sample_weight

__all__ = [
    "BinaryTable",
    "CategoryTable",
    "Coding",
    "PartedTable",
    "are_counts",
    "bare_rows",
    "check_penalty_weights",
    "check_sample_weight",
    "column_spread",
    "count_categories",
    "count_columns",
    "count_rows",
    "counted_table",
    "hole_patterns",
    "holes_of",
    "over_rows",
    "read_binary",
    "read_categories",
    "read_parts",
    "read_rows",
    "scaled_weights_of",
    "to_binary",
    "to_counted",
    "to_weighted",
    "units_of",
    "weights_of",
    "which_vary",
]
