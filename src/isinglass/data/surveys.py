"""Tables of Stata and SPSS, with their value labels."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from isinglass.data import survey_worker
from isinglass.data.limits import Limits
from isinglass.data.sheet import Sheet
from isinglass.data.sources import Column, Source
from isinglass.errors import DataError

__all__ = ["load_spss", "load_stata"]


def load_stata(data: bytes, limits: Limits) -> Sheet:
    """Read a ``.dta`` file with pyreadstat."""
    return _load("read_dta", ".dta", data, limits)


def load_spss(data: bytes, limits: Limits) -> Sheet:
    """Read a ``.sav`` or ``.zsav`` file with pyreadstat."""
    return _load("read_sav", ".sav", data, limits)


def _load(reader: str, suffix: str, data: bytes, limits: Limits) -> Sheet:
    if find_spec("pyreadstat") is None:
        raise ImportError('reading this format needs pyreadstat: pip install "isinglass[io]"')
    survey = _read_apart(reader, suffix, data, limits)
    if "error" in survey:
        reason = survey["error"].splitlines()[0][:200].rstrip(".")
        raise DataError(f"the file must be a sound {suffix} file; got one that cannot be read: {reason}.")
    limits.check_shape(*survey["shape"])
    columns, labels = survey["columns"], [dict(pairs) for pairs in survey["labels"]]
    n_rows = len(columns[0]) if columns else 0
    if n_rows == 0:
        raise DataError(f"the file must be a table with rows; got {len(columns)} column(s) and none.")
    limits.check_shape(n_rows, len(columns))
    source = Source((n_rows, len(columns)), lambda j: _labelled(columns[j], labels[j]))
    return Sheet(source, header=[str(name) for name in survey["names"]])


def _read_apart(reader: str, suffix: str, data: bytes, limits: Limits) -> Any:
    """Let another process read the file, so that a file that crashes the library does not end this one."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / f"table{suffix}", Path(folder) / "table.json"
        source.write_bytes(data)
        command = [sys.executable, "-P", survey_worker.__file__, reader, source, target]
        subprocess.run(
            [*map(str, command), str(limits.max_rows), str(limits.max_columns)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True,
            check=False,
        )
        if not target.exists():
            return {"error": "it ends the program that reads it"}
        try:
            return json.loads(target.read_text(encoding="utf-8"))
        except ValueError as error:
            return {"error": f"its text is damaged: {error}"}


def _labelled(cells: list[Any], labels: dict[Any, str]) -> Column:
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
