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
from isinglass.data.files.array_files import load_feather, load_npy, load_npz, load_parquet
from isinglass.data.files.documents import Document, Limits
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
_NO_TABLE = re.compile(
    rb'\s*(?:<(?:!doctype|html|\?xml)|[\[{]\s*["{\[]|%%matrixmarket|(?:%[^\n]*\n\s*)*@relation)', re.IGNORECASE
)
"""How web pages, XML, JSON, Matrix Market and ARFF files begin."""


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
    if _NO_TABLE.match(document.data[: 2**14]):
        raise DataError(
            "the file must be a table; got a web page, XML, JSON, a Matrix Market or an ARFF file. Save it as CSV."
        )
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
