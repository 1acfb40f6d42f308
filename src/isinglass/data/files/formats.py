"""Which format a file has, and the function that reads it.

The libraries that read files trust them, so the sizes that a file declares are checked first, and what they return is
counted.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from isinglass.data.files.arrow_files import load_feather, load_parquet
from isinglass.data.files.documents import Document, Limits
from isinglass.data.files.numpy_files import load_npy, load_npz
from isinglass.data.files.surveys import SURVEYS, load_survey
from isinglass.data.source import Source
from isinglass.errors import ArgumentError, DataError, LimitError, setting
from isinglass.storage import OversizedError

_LOADERS: dict[str, Callable[[bytes, Limits], Source]] = {
    "npy": load_npy,
    "npz": load_npz,
    "parquet": load_parquet,
    "feather": load_feather,
    **{kind: functools.partial(load_survey, kind) for kind in SURVEYS},
}
FORMATS = ("text", *_LOADERS, "excel")
FORMATS_OF = {
    "delimiter": ("text",),
    "encoding": ("text",),
    "header": ("text", "excel"),
    "decimal": ("text", "excel"),
    "sheet": ("excel",),
}
"""The formats that an option is about, if these are not all."""
_MAGIC = (
    (b"\x93NUMPY", "npy"),
    (b"PK\x03\x04", "npz"),
    (b"PAR1", "parquet"),
    (b"ARROW1", "feather"),
    (b"<stata_dta>", "stata"),
    (b"$FL2", "spss"),
    (b"$FL3", "spss"),
    (b"\xd0\xcf\x11\xe0", "excel"),
    (b"\0" * 12 + b"\xc2\xea\x81\x60", "sas"),
    (b"HEADER RECORD*******LIB", "xport"),
)
_FOREIGN: tuple[tuple[tuple[bytes, ...], str], ...] = (
    ((b"rdx", b"x\n\x00\x00", b"a\n2\n", b"a\n3\n"), "a file of R. Save it with write.csv first"),
    ((b"%%matrixmarket",), "a Matrix Market file. Pass scipy.io.mmread(path) to as_table"),
    ((b"\x80\x03", b"\x80\x04", b"\x80\x05"), "a pickle of Python. Save the table as CSV or Parquet first"),
    ((b"<!doctype", b"<html", b"<?xml"), "a web page or XML"),
    ((b"\x89png", b"\xff\xd8\xff", b"gif8"), "a picture"),
    ((b"%pdf-",), "a PDF document"),
)
_ARFF, _JSON = re.compile(rb"(\s*%[^\n]*\n)*\s*@relation", re.IGNORECASE), re.compile(rb'[\[{]\s*["{\[]')
_SUFFIXES = {".dta": "stata", ".sav": "spss", ".zsav": "spss", ".tsv": "text", ".csv": "text", ".txt": "text"}


def find_format(document: Document, format: str | None) -> str:
    """Return the format of a file: as stated, or by its first bytes and its ending."""
    if format is not None:
        if format not in FORMATS:
            raise ArgumentError("format", f"must be one of {FORMATS}", format)
        return format
    for magic, kind in _MAGIC:
        if document.data.startswith(magic):
            is_sheet = kind == "npz" and (document.suffix == ".xlsx" or b"xl/workbook" in document.data)
            return "excel" if is_sheet else kind
    start = document.data[:64].lstrip().lower()
    for magics, what in _FOREIGN:
        if start.startswith(magics):
            raise DataError(f"the file must be a table; got {what}.")
    if _ARFF.match(document.data[: 2**14]):
        remedy = "Pass pandas.DataFrame(scipy.io.arff.loadarff(path)[0]) to as_table."
        raise DataError(f"the file must be a table; got an ARFF file. {remedy}")
    if document.suffix == ".json" or _JSON.match(start):
        raise DataError("the file must be a table; got JSON. Save it as CSV first.")
    return _SUFFIXES.get(document.suffix, "text")


def load_table(kind: str, document: Document) -> Source:
    """Read a file of a format that is neither text nor a spreadsheet."""
    with explain_damage(kind, document.limits):
        return _LOADERS[kind](document.data, document.limits)


@contextmanager
def explain_damage(kind: str, limits: Limits) -> Iterator[None]:
    """Turn any exception that a damaged file causes into one clear error; our own errors pass unchanged."""
    try:
        yield
    except (DataError, LimitError, ImportError):
        raise
    except OversizedError as error:
        raise LimitError(
            f"{setting('max_bytes')} must be at least the size of the data; got {limits.n_bytes}, and "
            f"{error}. Raise {setting('max_bytes')} if you trust the file."
        ) from None
    except Exception as error:
        reason = [*str(error).splitlines(), type(error).__name__][0][:200].rstrip(".")
        raise DataError(f"cannot read this {kind} file: {reason}.") from None
