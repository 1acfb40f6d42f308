"""read_parts: blocks of rows as a table in parts; and tables in memory that are cut into such blocks."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from isinglass.arguments import Options
from isinglass.arrays import Bytes, FloatArray
from isinglass.data.meaning.coding import Coding
from isinglass.data.meaning.finding import find_coding
from isinglass.data.meaning.known_columns import take_columns
from isinglass.data.meaning.refusals import refuse_incomplete, warn_dropped, warn_zeroed
from isinglass.data.options import FileOptions, ReadOptions, TwoValueOptions, for_another_file, takes
from isinglass.data.parts.backends import RARE, Backend, Part, find_backend
from isinglass.data.parts.blocks import Block, BlockWeights, are_files, find_blocks
from isinglass.data.parts.parted_table import NO_COVARIATES, AnyTable, PartedTable, add_up
from isinglass.data.source import Source, join_values
from isinglass.data.weights import NO_WEIGHT, WeightSums, check_sample_weight
from isinglass.errors import ArgumentError, DataError, MeaningWarning, setting, suppress_warnings

if TYPE_CHECKING:
    import scipy.sparse as sp
    from distributed import Client


LARGE = 500_000_000  # cells from which a table is worked on in parts, which takes 2 bytes per cell instead of 20
SMALL = 10_000_000  # cells up to which it is not, however few ones it has
SPARSE_COLUMNS = 1000  # columns from which on a table with few ones is worked on in parts too, as lists of ones
CELLS_OF_A_PART = 50_000_000

_NO_ROW = "X must have at least one row; got none in all parts."


@dataclass(frozen=True, eq=False, kw_only=True)
class PartOptions(TwoValueOptions, FileOptions):
    """All options of `read_parts`."""

    sample_weight: BlockWeights | None = None
    client: Client | Literal[False] | None = None


@takes(PartOptions)
def read_parts(X: object, options: PartOptions) -> PartedTable:
    """Open a table that consists of blocks of rows: files, a Dask array or frame, or a sequence of arrays or frames.

    The parts are read and kept, one bit per cell, on the workers of Dask's current client, or in this process if there
    is none. All parts have the same coding: names and order of the columns are those of the first part, and with
    ``encode`` the values are those of all parts, which are read once more. A part with other columns or values is an
    error, and the message names it.

    Parameters
    ----------
    X : str, path, list of these, Dask array or frame, or sequence of row blocks
        Files of any kind that `read_table` reads; a pattern such as ``"parts/*.parquet"`` stands for all that fit, in
        order of name.
    weights : str or int, optional
        The column of the files that holds row weights.
    sample_weight : sequence of arrays, or Dask array, optional
        The row weights of arrays or frames, a block per part.
    weight_kind : {"sampling", "counts"}, optional
        What these weights stand for, as for `as_table`.
    client : dask.distributed.Client, optional
        Client whose workers are used; by default the current one, if there is one. False uses this process.
    missing, encode, binarize, na_values, names
        How values are read, as for `as_table`. The other parameters are for files, as for `read_table`.

    Returns
    -------
    PartedTable

    Raises
    ------
    DataError
        If a part is no table, is an empty file, has other columns, another order of columns, or a value that the coding
        does not know. The message names the part.
    OSError
        If a file does not exist or cannot be opened.

    Examples
    --------
    >>> read_parts([np.eye(3), np.ones((2, 3))])
    PartedTable(5 rows × 3 columns in 2 parts, in this process)
    """
    return open_parts(X, ReadOptions.of(options), options.sample_weight, options.client)


def open_parts(
    X: object, options: ReadOptions, sample_weight: BlockWeights | None, client: Client | Literal[False] | None = None
) -> PartedTable:
    """Open a table in parts, as `read_parts` does; options of tables in memory are refused."""
    if options.missing not in ("error", "zero", "drop"):
        constraint = 'must be "error", "zero" or "drop" for a table in parts'
        remedy = "Impute a table in memory." if options.missing == "impute" else ""
        raise ArgumentError("missing", constraint, options.missing, remedy)
    if options.covariates:
        raise DataError(NO_COVARIATES)
    for name in ("kinds", "scores", "reverse", "combine_indicators", "guess"):
        if getattr(options, name) is not getattr(ReadOptions, name):  # its default
            raise DataError(
                f"{setting(name)} must not be given for a table in parts, whose columns have two values. Read it into "
                "memory."
            )
    blocks = find_blocks(X, replace(options, weight_kind=None, names=None), sample_weight)
    return _load(blocks, client).with_weight_kind(options.weight_kind).with_names(options.names)


def read_like(
    X: object, reading: Options, sample_weight: BlockWeights | None, coding: Coding, missing: str
) -> PartedTable:
    """Open a table in parts as one that was read before: by its coding, and by its options of `read_table`."""
    again = dict(for_another_file(reading) if are_files(X) else {})
    kind = again.pop("weight_kind", None)
    if sample_weight is not None or isinstance(again.get("weights"), str):  # the coding knows it by name
        again["weights"] = None
    known = coding if sample_weight is None else coding.without_weights()
    blocks = find_blocks(X, ReadOptions(**again, encode=known, missing=missing), sample_weight)
    return _load(blocks).with_weight_kind(kind if sample_weight is None else None)


def split_sparse(X: object, sample_weight: ArrayLike | None) -> PartedTable | None:
    """Return a large sparse matrix as a table in parts, never dense as a whole; None if it is something else."""
    if not (hasattr(X, "tocsr") and hasattr(X, "nnz") and hasattr(X, "shape")):
        return None
    if len(X.shape) != 2 or not _is_large(X.shape, lambda: X.nnz):  # `as_table` refuses what is no table
        return None
    return cut_into_parts(X.tocsr(), check_sample_weight(sample_weight, X.shape[0]), CELLS_OF_A_PART)


def cut_if_large(table: AnyTable) -> AnyTable:
    """Return a table of two-valued columns in parts, if it is better worked on like that."""
    if table.is_whole and _is_large(table.shape, lambda: int(np.count_nonzero(table.codes))):
        return cut_into_parts(table.codes, table.sample_weight, CELLS_OF_A_PART)
    return table


def _is_large(shape: tuple[int, int], count_ones: Callable[[], int]) -> bool:
    """Tell whether a table is better worked on in parts: it is large, or ones are rare.

    Free memory has no say: sums over parts round differently, and equal tables give equal bits.
    """
    size = math.prod(shape)
    if SMALL < size <= LARGE:
        return shape[1] >= SPARSE_COLUMNS and count_ones() < RARE * size
    return size > LARGE


def cut_into_parts(cells: Bytes | sp.csr_array, weight: FloatArray | None, most: int) -> PartedTable:
    """Split a 0/1 table, of bytes or sparse by rows, into parts of at most ``most`` cells, in this process."""
    step = max(most // cells.shape[1], 1)
    cuts = range(0, cells.shape[0], step)
    weights = None if weight is None else [weight[k : k + step] for k in cuts]
    return _load(find_blocks([cells[k : k + step] for k in cuts], ReadOptions(), weights), client=False)


def _load(blocks: list[Block], client: Client | Literal[False] | None = None) -> PartedTable:
    """Find one coding for all blocks, make parts of them where these are kept, and check what they add up to."""
    backend = find_backend(blocks, client)
    coding = _find_coding(blocks, backend)
    coding.variables.require_two_values("A table in parts", "Read the table, or a sample of its rows, into memory.")
    backend.load(coding)
    each = backend.each(_count, ())
    n_missing, n_empty, n_dropped, n_weighted, weights = functools.reduce(add_up, (sums for _, sums in each))
    sizes = tuple(size for size, _ in each)
    if not any(sizes):
        refuse_incomplete("none. Leave out columns of all parts.")
    if coding.missing == "drop":
        warn_dropped((sum(sizes) + n_dropped, len(coding.columns)), n_dropped, int(n_missing.sum()))
    if coding.missing == "zero":
        warn_zeroed(sum(sizes), n_missing, n_empty, lambda j: f"column {coding.variables.called(j)}")
    if not weights.n_positive:
        raise DataError(NO_WEIGHT)
    return PartedTable(backend, coding, sizes, int(n_missing.sum()), n_dropped, weights if n_weighted else None)


def _find_coding(blocks: list[Block], backend: Backend) -> Coding:
    """Return one coding for all blocks: the one that is given, or that of the first, or of the values of all."""
    options = blocks[0].options
    if options.encode is None or isinstance(options.encode, Coding):  # the same in all parts
        for block in blocks:
            (coding,) = backend.read(_find_coding_of, [block])
            if coding is not None:  # the block has rows
                return coding
        raise DataError(_NO_ROW)
    sources = [source for source in backend.read(_condense, blocks) if source is not None]
    if not sources:
        raise DataError(_NO_ROW)
    values = join_values(sources)
    with suppress_warnings(MeaningWarning):
        found = find_coding(values, replace(options, missing="error"))  # values are no rows that could be dropped
    return replace(found.coding, missing=options.missing)


def _find_coding_of(block: Block) -> Coding | None:
    """Return the coding of a block that has rows: of its 0 and 1, or the one that is given, with its names."""
    source, options = block.open(), block.options
    if source is None:
        return None
    if not isinstance(options.encode, Coding):
        with suppress_warnings(MeaningWarning):
            return find_coding(source, options).coding
    names = take_columns(source, options.encode).names
    return replace(options.encode, names=None if names is None else tuple(names), missing=options.missing)


def _condense(block: Block) -> Source | None:
    source = block.open()
    return None if source is None else source.condensed()


def _count(part: Part) -> tuple[int, tuple[object, ...]]:
    """Return the rows of a part, and what it adds to a table; its weights are 1 where it has none."""
    weight = np.ones(len(part.bits)) if part.weight is None else part.weight
    has_weights = int(part.weight is not None)
    return len(weight), (part.n_missing, part.n_empty, part.n_dropped, has_weights, WeightSums.of(weight))
