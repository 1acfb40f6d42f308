"""Rows as CSV files, and files that are either complete or absent."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]


def fill_whole(path: Path, fill: Callable[[Path], object]) -> None:
    """Let ``fill`` write a temporary file in the same folder, then rename it: readers never see half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        fill(scratch)
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)


def write_whole(path: Path, content: str) -> None:
    """Write a text file in one go."""
    fill_whole(path, lambda scratch: scratch.write_text(content, encoding="utf-8"))


def write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write rows as CSV, floats with six digits: more than any of them means, and files stay small."""
    fill_whole(path, lambda scratch: pd.DataFrame(rows).to_csv(scratch, index=False, float_format="%.6g"))


def read_rows(path: Path) -> pd.DataFrame:
    """Read what ``write_rows`` wrote."""
    return pd.read_csv(path)
