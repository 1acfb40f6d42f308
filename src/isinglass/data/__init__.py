"""The only conversion of tables to 0/1 bytes and of row and pair weights to checked arrays."""

from isinglass.data.coding import Coding
from isinglass.data.reading import read_binary, to_binary, to_weighted
from isinglass.data.table import BinaryTable
from isinglass.data.weights import check_penalty_weights, check_sample_weight

__all__ = [
    "BinaryTable",
    "Coding",
    "check_penalty_weights",
    "check_sample_weight",
    "read_binary",
    "to_binary",
    "to_weighted",
]
