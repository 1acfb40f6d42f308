"""Tables of Stata and SPSS, with their value labels."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from isinglass.binary.sources import Column, Source
from isinglass.errors import DataError
from isinglass.tables.limits import Limits
from isinglass.tables.sheet import Sheet

__all__ = ["load_spss", "load_stata"]


def load_stata(data: bytes, limits: Limits) -> Sheet:
    """Read a ``.dta`` file with pyreadstat."""
    return _load("read_dta", ".dta", data, limits)


def load_spss(data: bytes, limits: Limits) -> Sheet:
    """Read a ``.sav`` or ``.zsav`` file with pyreadstat."""
    return _load("read_sav", ".sav", data, limits)


def _load(reader: str, suffix: str, data: bytes, limits: Limits) -> Sheet:
    try:
        import pyreadstat
    except ImportError:
        raise ImportError('reading this format needs pyreadstat: pip install "isinglass[io]"') from None
    read = getattr(pyreadstat, reader)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table{suffix}"  # the library wants a file
        path.write_bytes(data)
        try:
            _, meta = read(path, metadataonly=True)
            limits.check_shape(meta.number_rows or 0, meta.number_columns or 0)
            columns, meta = read(path, output_format="dict", row_limit=limits.max_rows + 1)
        except Exception as error:
            if type(error).__module__.startswith("isinglass"):
                raise
            raise DataError(
                f"the file must be a sound {suffix} file; got one that cannot be read: {str(error)[:200].rstrip('.')}."
            ) from None
    return _build_sheet(columns, meta.variable_value_labels, limits)


def _build_sheet(columns: dict[str, Any], labels: dict[str, dict[Any, str]], limits: Limits) -> Sheet:
    names = list(columns)
    n_rows = len(columns[names[0]]) if names else 0
    if n_rows == 0:
        raise DataError(f"the file must be a table with rows; got {len(names)} column(s) and none.")
    limits.check_shape(n_rows, len(names))
    return Sheet(
        Source((n_rows, len(names)), lambda j: _labelled(columns[names[j]], labels.get(names[j], {}))), header=names
    )


def _labelled(cells: Any, labels: dict[Any, str]) -> Column:
    """Return a column; labels replace its values if all have one and they are not 0 and 1 themselves."""
    values = np.empty(len(cells), dtype=object)
    values[:] = [None if isinstance(cell, float) and np.isnan(cell) else cell for cell in cells]
    present = set(values) - {None}
    if present <= {0, 1} or not present <= set(labels):
        return Column(values)
    values[:] = [labels.get(cell) for cell in values]
    return Column(values, categories=tuple(dict.fromkeys(labels[code] for code in sorted(labels, key=_rank))))


def _rank(code: Any) -> tuple[bool, Any]:
    return isinstance(code, str), code
