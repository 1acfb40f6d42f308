"""Read one file of Stata or SPSS and write it as JSON.

`surveys` runs this as a program of its own: a damaged file can crash the library that reads it, and then only this
program ends. It imports nothing of the package, so that it starts fast.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

__all__ = ["read_survey"]


def read_survey(reader: str, path: Path, max_rows: int, max_columns: int) -> dict[str, Any]:
    """Return shape, names, columns and value labels, or an error; a table beyond the limits comes without columns."""
    import pyreadstat

    try:
        read = getattr(pyreadstat, reader)
        _, meta = read(path, metadataonly=True)
        shape = [meta.number_rows or 0, meta.number_columns or 0]
        if shape[0] > max_rows or shape[1] > max_columns:
            return {"shape": shape}
        columns, meta = read(path, output_format="dict", row_limit=max_rows + 1)
    except Exception as error:  # whatever it is, the parent reports it
        return {"error": str(error) or type(error).__name__}
    return {
        "shape": shape,
        "names": [name or "" for name in columns],  # damaged files can have columns without a name
        "columns": [list(column) for column in columns.values()],
        "labels": [list(meta.variable_value_labels.get(name, {}).items()) for name in columns],
    }


def _plain(value: Any) -> Any:
    """Return numbers of NumPy as numbers, and dates as text."""
    return value.item() if hasattr(value, "item") else str(value)


if __name__ == "__main__":
    reader, source, target, max_rows, max_columns = sys.argv[1:]
    survey = read_survey(reader, Path(source), int(max_rows), int(max_columns))
    Path(target).write_text(json.dumps(survey, default=_plain), encoding="utf-8")
