"""Where the rows of a table in parts come from: arrays and frames, files, or a Dask collection."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from os import PathLike
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from isinglass.arrays import FloatArray
from isinglass.data.files.read_table import open_file
from isinglass.data.meaning.coding import Coding
from isinglass.data.meaning.conversion import convert_source, open_memory
from isinglass.data.options import ReadOptions
from isinglass.data.source import Source
from isinglass.data.table import Table
from isinglass.data.weights import check_sample_weight
from isinglass.errors import (
    ArgumentError,
    DataError,
    IsinglassError,
    IsinglassWarning,
    MeaningWarning,
    suppress_warnings,
)

Files = str | PathLike[str] | Sequence[str | PathLike[str]]
BlockWeights = ArrayLike | Iterable[ArrayLike]
"""Row weights, a block per part, or of Dask."""


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows that can be read, and read again if they are lost."""

    number: int
    label: str  # what messages call it
    what: Any  # an array or frame, the path of a file, or a task of Dask that gives one of the first
    is_file: bool = False
    options: ReadOptions = field(default_factory=ReadOptions)
    sample_weight: Any = None  # the weights themselves

    @property
    def is_task(self) -> bool:
        """Whether Dask has to compute it first."""
        return _is_lazy(self.what)

    def open(self) -> Source | None:
        """Return the rows before their values have a meaning, None if there are none.

        What becomes of columns is said of the first part.
        """
        with self._named(hidden=(MeaningWarning,) if self.number else ()):
            return self._open(self.options)

    def read(self, coding: Coding) -> tuple[Table, FloatArray | None] | None:
        """Return the rows, as a coding wants them, and their weights, which may all be 0; None if there are no rows.

        Rows to be dropped are still there: a table must have a row, and a part may have none that is complete.
        """
        missing = "impute" if coding.missing == "drop" else coding.missing
        options = replace(self.options, encode=coding, binarize=None, missing=missing)
        is_alike = not isinstance(self.options.encode, Coding)  # to the part in which the coding was found
        if is_alike:
            has_header = coding.layout.has_header
            header = options.header if has_header is None else has_header
            options = replace(options, encode=replace(coding, names=None), header=header)
        with self._named():
            source = self._open(options)
            if source is None:
                return None
            if is_alike:
                _check_names(None if source.names is None else tuple(source.names), coding.names)
            table = convert_source(replace(source, weight=None), options)
            _check_names(table.names if table.variables.named else None, coding.names)
            return table, source.weight

    @contextmanager
    def _named(self, hidden: tuple[type[IsinglassWarning], ...] = (MeaningWarning,)) -> Iterator[None]:
        """Let messages name the block, and no warning judge a part, which shows less than the table."""
        try:
            with suppress_warnings(*hidden):
                yield
        except IsinglassError as error:  # one of the system names the file itself
            error.where = self.label
            raise

    def _open(self, options: ReadOptions) -> Source | None:
        what = self.what.compute() if self.is_task else self.what
        shape: tuple[int, ...] = getattr(what, "shape", ())
        if len(shape) == 2 and shape[0] == 0 < shape[1]:  # as a partition of a Dask frame may be after a filter
            check_sample_weight(self.sample_weight, 0, is_part=True)
            return None
        source = open_file(what, options) if self.is_file else open_memory(what, options)
        if self.sample_weight is not None:
            source = replace(source, weight=check_sample_weight(self.sample_weight, source.shape[0], is_part=True))
        return replace(source, is_part=True)


def is_in_parts(X: object) -> bool:
    """Tell whether something is a table in parts: a Dask collection, files, or a sequence of row blocks."""
    if _is_lazy(X) or are_files(X) or isinstance(X, Iterator):
        return True
    try:
        return isinstance(X, list | tuple) and len(X) > 0 and np.ndim(X[0]) == 2
    except ValueError:  # a row with lists of different lengths
        return False


def _is_lazy(X: object) -> bool:
    """Tell whether something is an array or a frame of Dask, or a task that gives a part of one."""
    return hasattr(X, "__dask_graph__")


def are_files(X: object) -> TypeGuard[Files]:
    """Tell whether something names files."""
    names = X if isinstance(X, list | tuple) and len(X) > 0 else [X]
    return all(isinstance(name, str | PathLike) for name in names)


def find_blocks(X: object, options: ReadOptions, sample_weight: BlockWeights | None) -> list[Block]:
    """Return the blocks of a table in parts, in order."""
    blocks = _find_files(X, options) if are_files(X) else _find_rows(X, options)
    if not blocks:
        raise ArgumentError("X", "must have at least one part", X)
    if sample_weight is None:
        return blocks
    if options.weights is not None:
        raise DataError("sample_weight and a column of weights cannot both be given.")
    weights = [part.compute() if hasattr(part, "compute") else part for part in _split_collection(sample_weight)]
    if len(weights) != len(blocks):
        raise DataError(
            f"sample_weight must have a block for each of the {len(blocks)} parts; got {len(weights)} entries."
        )
    return [replace(block, sample_weight=weight) for block, weight in zip(blocks, weights, strict=True)]


def _find_files(X: Files, options: ReadOptions) -> list[Block]:
    """Return the files that a name, a pattern or a list of them stands for; those of a pattern in order of name."""
    files: list[str] = []
    for name in [X] if isinstance(X, str | PathLike) else X:
        text = os.fspath(name)
        is_pattern = glob.has_magic(text) and not os.path.exists(text)  # noqa: PTH110 - any text
        matches = sorted(glob.glob(text)) if is_pattern else [text]  # noqa: PTH207 - may be absolute
        if not matches:
            raise DataError(f"X must name files; no file matches {text!r}.")
        if Path(text).is_dir():
            raise DataError(f"X must name files; {text!r} is a folder. Pass a pattern, such as '{text}/*.csv'.")
        files += matches
    return [Block(k, f"part {k} ({name})", name, is_file=True, options=options) for k, name in enumerate(files)]


def _find_rows(X: object, options: ReadOptions) -> list[Block]:
    """Return the blocks of a sequence of arrays or frames, or of a Dask collection."""
    rows = _split_collection(X)
    for number, entry in enumerate(rows):
        if not _is_table(entry):
            raise DataError(
                f"X must be names of files, or blocks of rows, each of them a table; got {type(X).__name__}, whose "
                f"entry {number} is of type {type(entry).__name__}. as_table takes one table."
            )
    for name in options.for_files:
        raise DataError(f"{name} applies only to parts that are files; these are arrays or frames.")
    return [Block(k, f"part {k}", what, options=options) for k, what in enumerate(rows)]


def _split_collection(X: object) -> list[object]:
    """Return the blocks of rows of a sequence, or those of a Dask array or frame as tasks."""
    if not hasattr(X, "to_delayed"):
        return list(X) if isinstance(X, Iterable) else [X]
    blocks: Sequence[int] = getattr(X, "numblocks", ())
    is_split = len(blocks) == 2 and blocks[1] > 1  # between columns
    delayed = (X.rechunk({1: -1}) if is_split and hasattr(X, "rechunk") else X).to_delayed()
    return list(delayed.ravel()) if isinstance(delayed, np.ndarray) else list(delayed)


def _is_table(block: object) -> bool:
    """Tell whether a block may be a table: not a row, or the name of a column of a frame."""
    if isinstance(block, list | tuple):
        return len(block) > 0 and not np.isscalar(block[0])
    return _is_lazy(block) or not (block is None or np.isscalar(block) or len(getattr(block, "shape", (0, 0))) != 2)


def _check_names(got: tuple[str, ...] | None, wanted: tuple[str, ...] | None) -> None:
    """Refuse a part with other columns than the first."""
    if got != wanted:
        pairs = zip_longest(got or (), wanted or (), fillvalue="no column")
        own, first = next(pair for pair in pairs if pair[0] != pair[1])
        raise DataError(
            f"its columns must be those of part 0 in the same order; got {own!r} where part 0 has {first!r}."
        )
