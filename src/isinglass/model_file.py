"""Model files: fits, networks, bootstraps and comparisons of groups, written and read, the same to the bit."""

from __future__ import annotations

import os
import platform
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np

from isinglass.arguments import check_count, check_path
from isinglass.errors import DataError, LimitError, setting
from isinglass.fit import Fit
from isinglass.network import Network
from isinglass.select.bootstrap_result import Bootstrap
from isinglass.select.group_comparison_result import GroupComparison
from isinglass.storage import DamagedError, NotStorableError, OversizedError, default_limit, read_record, write_record
from isinglass.version import __version__

KIND, VERSION = "isinglass model", 20  # in the header of a file
MAX_UNPACKED_BYTES = 1 << 31
CLASSES = (Fit, Network, Bootstrap, GroupComparison)


def save(fitted: object, path: str | PathLike[str]) -> None:
    """Write a `Fit`, a fitted estimator, a `Network`, `Bootstrap` or `GroupComparison` to a file that `load` reads.

    The same content gives the same bytes, and the file appears only when it is complete. Settings that a file cannot
    hold, such as a generator as ``random_state``, are left out, and the header lists them under
    ``not_stored``. Values of the table that the coding needs must be numbers, text, or tuples or intervals of these.

    Parameters
    ----------
    fitted : Fit, estimator, Network, Bootstrap or GroupComparison
        The result to store; for an estimator, its ``fit_``.
    path : path
        The file, usually ``something.npz``; one that exists is replaced.

    Examples
    --------
    >>> import tempfile
    >>> from isinglass import IsingLasso, load, save
    >>> net = IsingLasso(alpha=0.1).fit([[0, 0], [1, 1], [0, 0], [1, 1], [0, 1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(net, f"{folder}/net.npz")
    ...     again = load(f"{folder}/net.npz")
    >>> bool((again.network.couplings == net.couplings_).all()), again.method.estimator, again.solution.alpha
    (True, 'joint', 0.1)
    """
    record = getattr(fitted, "fit_", fitted)
    if not isinstance(record, CLASSES):
        hint = " Fit it first." if hasattr(fitted, "get_params") else ""
        raise DataError(
            f"Only a fit, a fitted estimator, a network, a bootstrap or a comparison of groups can be saved; got "
            f"{type(fitted).__name__}.{hint}"
        )
    versions = {"isinglass": __version__, "numpy": np.__version__, "python": platform.python_version()}
    try:
        write_record(check_path("path", path), record, KIND, VERSION, versions=versions)
    except NotStorableError as error:
        raise DataError(
            f"This cannot be saved, because {error}, and a file holds numbers and text only. Turn the values of the "
            "table into text before the fit."
        ) from None


def load(path: str | PathLike[str], *, max_bytes: int | None = None) -> Any:  # Any: what was saved
    """Read what `save` wrote: a `Fit`, `Network`, `Bootstrap` or `GroupComparison`, the same to the bit.

    Nothing is unpickled, and all content is checked: a file that is truncated, damaged, or of another kind or layout
    raises an error. A valid file can still hold wrong numbers, so load only files from sources that you trust.

    Parameters
    ----------
    path : path
        The file.
    max_bytes : int, optional
        Largest unpacked size. By default 2 GiB, or 25 times the size of the file but at least 256 MiB, if that is less.
        A larger file raises a LimitError; a file that is incomplete or not a model file raises a DataError.
    """
    if max_bytes is not None:
        check_count("max_bytes", max_bytes, most=None)
    shown = check_path("path", path)
    if Path(shown).is_dir():
        raise DataError(f"{shown!r} is a folder, not a model file.")
    with Path(shown).open("rb") as stream:
        return read_model(stream, shown, max_bytes)


def read_model(stream: IO[bytes], shown: str, max_bytes: int | None = None) -> object:
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
