"""Rows as CSV files, and files that are whole or absent."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from paper.contract import Row

DIGITS = ".6g"
"""Floats are written with so many digits: far beyond what any of them means, and files stay small."""


def write_whole(path: Path, content: str | bytes) -> None:
    """Write to a temporary name in the same folder and rename, so that a reader never sees half a file."""
    fill_whole(path, lambda scratch: scratch.write_bytes(content if isinstance(content, bytes) else content.encode()))


def fill_whole(path: Path, fill: Callable[[Path], object]) -> None:
    """Let ``fill`` write a temporary file in the same folder and rename it to ``path``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        fill(scratch)
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)


def write_rows(path: Path, rows: list[Row]) -> None:
    """Write a CSV file; its columns are the keys of all rows, in the order in which they first occur."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _to_text(value) for key, value in row.items()} for row in rows)
    write_whole(path, text.getvalue())


def read_rows(path: Path) -> list[Row]:
    """Read a CSV file; numbers and flags get their types back, an empty cell is None."""
    with path.open(newline="", encoding="utf-8") as file:
        return [{key: _to_value(text) for key, text in row.items()} for row in csv.DictReader(file)]


def _to_text(value: Any) -> str:
    if value is None:
        return ""
    return format(value, DIGITS) if isinstance(value, float) else str(value)


def _to_value(text: str) -> Any:
    if text in ("", "True", "False"):
        return {"": None, "True": True, "False": False}[text]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
