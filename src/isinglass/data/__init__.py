"""Tables: codes of categories with their variables, weights and missing cells, how they are read, sums over rows."""

from isinglass.data.as_table import TableLike, as_table
from isinglass.data.counts import category_counts, column_sd, pair_counts, which_occur, which_vary
from isinglass.data.meaning.coding import Coding
from isinglass.data.parts.parted_table import AnyTable, PartedTable
from isinglass.data.parts.read_parts import read_parts
from isinglass.data.table import Table
from isinglass.data.weights import are_counts, check_sample_weight

__all__ = [
    "AnyTable",
    "Coding",
    "PartedTable",
    "Table",
    "TableLike",
    "are_counts",
    "as_table",
    "category_counts",
    "check_sample_weight",
    "column_sd",
    "pair_counts",
    "read_parts",
    "which_occur",
    "which_vary",
]
