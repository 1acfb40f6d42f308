"""Fuzz read_table: whatever the bytes, it returns a table or raises a documented error.

python tests/fuzz/fuzz_tables.py -runs=20000

The first byte of an input chooses the options, the others are the file. Files of Stata and SPSS are left out,
because pyreadstat reads from disk, which is slow. ``--surveys`` puts them in.
"""

import io
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from harness import fuzz
from seeds import TEXTS, arrow_files, numpy_files, packed_files, table_files

from isinglass.data import Table
from isinglass.data.files.read_table import read_table
from isinglass.errors import DataError, LimitError

LIMITS = {"max_rows": 1000, "max_columns": 200, "max_bytes": 2**20}
OPTIONS = (
    {},
    {"encode": "auto", "missing": "zero"},
    {"missing": "drop", "encode": {"Yes": 1, "No": 0, "ja": 1, "nein": 0}},
    {"binarize": 0.5, "missing": "zero", "id_column": None, "header": False},
    {"encode": {-1: 0, 1: 1}, "columns": [0], "header": True},
    {"weights": 0, "missing": "zero", "na_values": [1], "encode": "auto"},
    {"encoding": "latin-1", "delimiter": "blank"},
    {"format": "npz"},
)


def read(data: bytes) -> Table | None:
    """Return the table in these bytes, or None if they are refused with a documented error."""
    options = OPTIONS[data[0] % len(OPTIONS)]
    try:
        return read_table(io.BytesIO(data[1:]), **LIMITS, **options)
    except (DataError, LimitError) as error:
        if not str(error):
            raise AssertionError("an error without a message") from error
        return None


def check(data: bytes) -> None:
    """Read a table, and look at it if there is one."""
    table = read(data) if data else None
    if table is not None:
        n_rows, n_columns = table.shape
        sound = table.codes.dtype == np.uint8 and table.codes.max() <= 1 and n_rows <= LIMITS["max_rows"]
        if not sound or (table.names is not None and len(table.names) != n_columns):
            raise AssertionError(f"{table!r} is not a binary table")


if __name__ == "__main__":
    files = table_files() if "--surveys" in sys.argv else {**TEXTS, **numpy_files(), **arrow_files(), **packed_files()}
    sys.argv = [argument for argument in sys.argv if argument != "--surveys"]
    seeds = [bytes([choice]) + data for data in files.values() for choice in range(len(OPTIONS))]
    fuzz(check, seeds, ("isinglass.data.files.read_table", "isinglass.data"))
