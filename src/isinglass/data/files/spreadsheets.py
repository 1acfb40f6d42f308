"""Sheets of spreadsheets, as the records of a text."""

from __future__ import annotations

import functools
import io
import re
import zipfile
from typing import TYPE_CHECKING

from isinglass.data.column import number_distinct
from isinglass.data.files.documents import BYTES_PER_OBJECT, Limits
from isinglass.data.files.text import Records
from isinglass.data.meaning.values import Value
from isinglass.errors import ArgumentError, DataError

if TYPE_CHECKING:
    from python_calamine import CalamineSheet, CalamineWorkbook

_CELL = re.compile(rb'<c [^>]*?r="([A-Z]{1,3})([0-9]{1,7})"')


def load_excel(data: bytes, limits: Limits, sheet: str | int | None, decimal: str) -> Records:
    """Read a sheet of a spreadsheet as text; numbers are written with the ``decimal`` separator of its texts."""
    try:
        from python_calamine import CalamineWorkbook
    except ImportError:
        raise ImportError('reading this format needs python-calamine: pip install "isinglass[io]"') from None
    if data.startswith(b"PK"):
        _check_members(data, limits)
    if "EncryptedPackage".encode("utf-16-le") in data:  # the name of the stream that holds the workbook
        raise DataError("the workbook is protected by a password. Save it without one first.")
    page = _choose_sheet(CalamineWorkbook.from_filelike(io.BytesIO(data)), sheet)
    rows = page.to_python()
    if not rows:
        raise DataError(f"the sheet {page.name!r} is empty.")
    limits.check_shape(len(rows), len(rows[0]))
    first, *others = ([_spell(cell, decimal) for cell in row] for row in rows)
    columns = list(map(number_distinct, zip(*others, strict=True))) or [number_distinct(()) for _ in first]
    top = (page.start or (0, 0))[0] + 1
    return Records(first, columns, lambda record: record + top, detected={"sheet": page.name})


def _choose_sheet(book: CalamineWorkbook, sheet: str | int | None) -> CalamineSheet:
    """Return the sheet of this name or number, or the first that may be a table: one column explains the others."""
    names = book.sheet_names
    if isinstance(sheet, int) and 0 <= sheet < len(names):
        sheet = names[sheet]
    if sheet is not None and sheet not in names:
        raise ArgumentError(
            "sheet", "must be a sheet of the file", sheet, f"The file has {', '.join(map(repr, names))}."
        )
    pages = list(map(book.get_sheet_by_name, names if sheet is None else [sheet]))
    return next((page for page in pages if min(page.height, page.width) > 1), pages[-1])


def _spell(cell: Value, decimal: str) -> str:
    """Return a cell of a spreadsheet as a text file has it."""
    if not isinstance(cell, float):
        return str(cell)
    return str(int(cell)) if cell.is_integer() else str(cell).replace(".", decimal)


def _check_members(data: bytes, limits: Limits) -> None:
    """Unpack every member of a spreadsheet once, counting, and find the cell that is farthest from the first."""
    archive, left = zipfile.ZipFile(io.BytesIO(data)), limits.n_bytes
    for entry in archive.infolist():
        n_rows = n_columns = 0
        rest = b""
        with archive.open(entry) as member:
            while piece := member.read(1 << 20):
                left -= len(piece)
                if left < 0:
                    limits.check_bytes(limits.n_bytes + 1, "a spreadsheet")
                for letters, row in _CELL.findall(rest + piece):
                    n_rows = max(n_rows, int(row))
                    n_columns = max(n_columns, functools.reduce(lambda n, c: 26 * n + c - 64, letters, 0))
                rest = piece[-100:]
        limits.check_shape(n_rows, n_columns)
        limits.check_bytes(BYTES_PER_OBJECT * n_rows * n_columns, "the cells of a spreadsheet")
