"""Small pieces of the page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[object]], *, text_columns: int = 1) -> str:
    """Return a Markdown table; the columns after the first ``text_columns`` are aligned to the right."""
    marks = ["---" if k < text_columns else "---:" for k in range(len(header))]
    lines = [header, marks, *([str(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def number(value: float | None, digits: int = 3) -> str:
    """Return a value with so many significant digits, tiny and huge ones with a power of ten; – for none."""
    if value is None or math.isnan(value):
        return "–"
    if value == 0 or 1e-3 <= abs(value) < 1e6:
        decimals = digits - 1 - math.floor(math.log10(abs(value))) if value else 0
        return f"{value:.{max(decimals, 0)}f}"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def seconds(value: float | None) -> str:
    """Return a duration in a readable unit."""
    if value is None or math.isnan(value):
        return "–"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{number(value / size)} {unit}"
    return f"{value * 1e6:.2g} µs"


def share(part: int, whole: int) -> str:
    """Return "part of whole"."""
    return f"{part} of {whole}"
