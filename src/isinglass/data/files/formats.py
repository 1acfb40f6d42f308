"""Which format a file has, and the function that reads it.

The libraries that read files trust them, so the sizes that a file declares are checked first, and what they return is
counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from isinglass.arguments import Options
from isinglass.data.files.arrow_files import load_feather, load_parquet
from isinglass.data.files.documents import Document, Limits
from isinglass.data.files.numpy_files import load_npy, load_npz
from isinglass.data.files.surveys import load_survey
from isinglass.data.source import Source
from isinglass.errors import ArgumentError, DataError, LimitError, setting
from isinglass.storage import OversizedError


@dataclass(frozen=True)
class Format:
    """A format of files: how one is recognized and read, and the options that are about such files alone."""

    start: bytes | tuple[bytes, ...] = ()  # the first bytes of a file
    load: Callable[[bytes, Limits], Source] | None = None  # None: as the records of a text
    endings: tuple[str, ...] = ()
    options: frozenset[str] = frozenset()


FORMATS = {
    "text": Format(options=frozenset({"delimiter", "encoding", "header", "decimal"})),
    "npy": Format(b"\x93NUMPY", load_npy),
    "npz": Format(b"PK\x03\x04", load_npz),
    "parquet": Format(b"PAR1", load_parquet),
    "feather": Format(b"ARROW1", load_feather),
    "stata": Format(b"<stata_dta>", partial(load_survey, "read_dta"), (".dta",)),
    "spss": Format((b"$FL2", b"$FL3"), partial(load_survey, "read_sav"), (".sav", ".zsav")),
    "sas": Format(b"\0" * 12 + b"\xc2\xea\x81\x60", partial(load_survey, "read_sas7bdat")),
    "xport": Format(b"HEADER RECORD*******LIB", partial(load_survey, "read_xport")),
    "excel": Format(b"\xd0\xcf\x11\xe0", options=frozenset({"sheet", "header", "decimal"})),
}
_FOREIGN: tuple[tuple[tuple[bytes, ...], str], ...] = (
    ((b"rdx", b"x\n\x00\x00", b"a\n2\n", b"a\n3\n"), "a file of R. Save it with write.csv first"),
    ((b"%%matrixmarket",), "a Matrix Market file. Pass scipy.io.mmread(path) to as_table"),
    ((b"\x80\x03", b"\x80\x04", b"\x80\x05"), "a pickle of Python. Save the table as CSV or Parquet first"),
    ((b"<!doctype", b"<html", b"<?xml"), "a web page or XML"),
    ((b"\x89png", b"\xff\xd8\xff", b"gif8"), "a picture"),
    ((b"%pdf-",), "a PDF document"),
)
_ARFF, _JSON = re.compile(rb"(\s*%[^\n]*\n)*\s*@relation", re.IGNORECASE), re.compile(rb'[\[{]\s*["{\[]')


def find_format(document: Document, stated: str | None, options: Options) -> str:
    """Return the format of a file, as stated, or by its first bytes and its ending; refuse options of other formats."""
    if stated is not None and stated not in FORMATS:
        raise ArgumentError("format", f"must be one of {tuple(FORMATS)}", stated)
    kind = stated or _recognize(document)
    for name, value in options.items():
        if name not in FORMATS[kind].options and any(name in other.options for other in FORMATS.values()):
            raise ArgumentError(name, f"must be left out for {kind} files", value)
    return kind


def _recognize(document: Document) -> str:
    for kind, format in FORMATS.items():
        if format.start and document.data.startswith(format.start):
            is_sheet = kind == "npz" and (document.suffix == ".xlsx" or b"xl/workbook" in document.data)
            return "excel" if is_sheet else kind
    start = document.data[:64].lstrip().lower()
    for starts, what in _FOREIGN:
        if start.startswith(starts):
            raise DataError(f"the file must be a table; got {what}.")
    if _ARFF.match(document.data[: 2**14]):
        remedy = "Pass pandas.DataFrame(scipy.io.arff.loadarff(path)[0]) to as_table."
        raise DataError(f"the file must be a table; got an ARFF file. {remedy}")
    if document.suffix == ".json" or _JSON.match(start):
        raise DataError("the file must be a table; got JSON. Save it as CSV first.")
    return next((kind for kind, format in FORMATS.items() if document.suffix in format.endings), "text")


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
