"""Rows as CSV files, and files that are either complete or absent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pandas as pd

from isinglass.atomic import replacing

ROOT = Path(__file__).resolve().parents[1]


@contextmanager
def whole(path: Path) -> Iterator[IO[bytes]]:
    """Yield a file that takes its place, in a folder that is made for it, once it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        yield file


def write_text(path: Path, content: str) -> None:
    """Write a text file in one go."""
    with whole(path) as file:
        file.write(content.encode())


def write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write rows as CSV, floats with six digits: more than any of them means, and files stay small."""
    with whole(path) as file:
        pd.DataFrame(rows).to_csv(file, index=False, float_format="%.6g", lineterminator="\n")


def read_rows(path: Path) -> pd.DataFrame:
    """Read what ``write_rows`` wrote."""
    return pd.read_csv(path)
