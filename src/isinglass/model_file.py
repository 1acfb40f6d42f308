"""Reading the files that `isinglass.fit.save` writes: a `Fit` or a `Network`, checked."""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path
from typing import IO, Any

from isinglass.arguments import check_count
from isinglass.errors import DataError, LimitError, setting
from isinglass.fit import KIND, VERSION, Fit
from isinglass.network import Network
from isinglass.storage import DamagedError, OversizedError, default_limit, read_record

MAX_UNPACKED_BYTES = 1 << 31
CLASSES = (Fit, Network)


def load(path: str | PathLike[str], *, max_bytes: int | None = None) -> Any:
    """Read what `save` wrote: a `Fit` or a `Network`, the same to the bit.

    Nothing is unpickled, and everything is checked: a file that is truncated, damaged, of another kind or of another
    layout gives one error. Still, a model file says what a network is, not that it is true: take it from people you
    trust.

    Parameters
    ----------
    path : path
        The file.
    max_bytes : int, optional
        Limit of what the file unpacks to. By default 2 GiB, or 25 times the size of the file or 256 MiB, if that is
        less. A larger file is a LimitError, one that is not a model file, or not whole, a DataError.
    """
    if max_bytes is not None:
        check_count("max_bytes", max_bytes, most=None)
    if Path(path).is_dir():
        raise DataError(f"{os.fspath(path)!r} is a folder, not a model file.")
    with Path(path).open("rb") as stream:
        return read_model(stream, os.fspath(path), max_bytes)


def read_model(stream: IO[bytes], shown: str, max_bytes: int | None = None) -> Any:
    """Read a model from an open file; ``shown`` is its name in messages."""
    size = stream.seek(0, os.SEEK_END)
    limit = default_limit(size, MAX_UNPACKED_BYTES) if max_bytes is None else max_bytes
    try:
        if size > (max_bytes or MAX_UNPACKED_BYTES):
            raise OversizedError(f"it has {size} bytes")
        found = read_record(stream, KIND, VERSION, limit, CLASSES)
        if not isinstance(found, CLASSES):
            raise DamagedError(f"it holds a {type(found).__name__} by itself")
        return found
    except OversizedError as error:
        raise LimitError(
            f"The model file {shown!r} is too large: {error}, and the limit is {limit} bytes when unpacked. If you "
            f"trust the file, pass a larger {setting('max_bytes')}."
        ) from None
    except DamagedError as error:
        raise DataError(
            f"{shown!r} is not a model file, or it is damaged: {str(error)[:200].rstrip('.')}. Take another copy of "
            "the file, or fit the table again."
        ) from error
