"""Where the parts of a table are: in this process, or on the workers of a Dask cluster.

A backend keeps every part, one bit per cell, with what computations keep beside it, and runs functions of parts. What
it loses it reads again; what was kept beside a lost part is gone, and the computation has to make it again.
"""

# ruff: noqa: D102 - the methods of Cluster are those of Here

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from isinglass.arguments import Options
from isinglass.data.meaning.coding import Coding
from isinglass.data.parts.blocks import Block
from isinglass.errors import ArgumentError, DataError, LimitError
from isinglass.machine.memory import available_memory
from isinglass.machine.threads import MAX_THREADS

if TYPE_CHECKING:
    from distributed import Client, Future

logger = logging.getLogger("isinglass")

SHARE = 0.5
"""Of the memory of a process or worker, for what computations keep beside the parts."""
BYTES_OF_A_CELL = 2.25
"""Of a part with its compiled rows, predictors aside."""
RARE = 0.03
"""Share of ones below which computations keep lists of ones instead of cells."""
BYTES_OF_A_ONE = 8
"""Of such a list."""

Function = Callable[..., Any]
Answers = list[Any]  # Any: what the function returns
Found = TypeVar("Found")


@dataclass(eq=False)
class Part:
    """One part of a table where it is worked on."""

    number: int
    bits: NDArray[np.uint8]  # the cells, eight to a byte
    n_columns: int
    weight: NDArray[np.float64] | None
    n_missing: NDArray[np.intp]  # cells of each column
    n_empty: int  # rows without another cell
    n_dropped: int  # rows
    room: float = 0.0  # bytes that computations may keep here
    n_threads: int = MAX_THREADS  # the most that they may use here
    kept: dict[str, Any] = field(default_factory=dict)  # what they keep

    @classmethod
    def read(cls, block: Block, coding: Coding) -> Part:
        """Read a block as a coding wants it."""
        found = block.read(coding)
        if found is None:
            p = len(coding.columns)
            return cls(block.number, np.packbits(np.empty((0, p), bool), axis=1), p, None, np.zeros(p, np.intp), 0, 0)
        table, weight = found
        codes, (n_rows, n_columns) = table.codes, table.shape
        gone = np.empty((0, n_columns), dtype=bool) if table.missing_cells is None else table.missing_cells
        if table.holes is not None:
            complete = ~gone.any(axis=1)
            codes, weight = codes[complete], None if weight is None else weight[complete]
        n_missing, n_empty = gone.sum(axis=0), int(gone.all(axis=1).sum())
        bits = np.packbits(codes, axis=1)
        return cls(block.number, bits, n_columns, weight, n_missing, n_empty, n_dropped=n_rows - len(codes))

    def __getstate__(self) -> Options:
        """Return what is sent to another process: without what computations keep, which they make again."""
        return vars(self) | {"kept": {}}

    def __sizeof__(self) -> int:
        return self.bits.nbytes  # for Dask, which decides by it where to run a task

    def codes(self) -> NDArray[np.uint8]:
        """Return its cells as bytes."""
        return np.unpackbits(self.bits, axis=1, count=self.n_columns)


class Here:
    """The parts one after the other in this process.

    What computations keep beside the parts is dropped after each call where it would not fit; where not even the bits
    do, parts are read again for each call.
    """

    coding: Coding
    is_whole = True  # all parts are in memory...
    is_roomy = True  # ...with what is kept beside them

    def __init__(self, blocks: list[Block]) -> None:
        self.blocks = blocks
        self.parts: dict[int, Part] = {}

    def __repr__(self) -> str:
        return "in this process" if self.is_whole else "in this process, read again each time"

    def read(self, function: Callable[[Block], Found], blocks: Iterable[Block]) -> list[Found]:
        """Return ``function(block)`` of blocks, before parts are made of them."""
        return [function(block) for block in blocks]

    def load(self, coding: Coding) -> None:
        """Make parts of the blocks."""
        self.coding = coding
        for block in self.blocks:
            first = self.parts[block.number] = Part.read(block, coding)
            if len(first.bits):  # one without rows says nothing of the others
                break
        codes = first.codes()
        share = float(codes.sum() / max(codes.size, 1))
        bytes_of_a_cell = BYTES_OF_A_CELL if share >= RARE else 1 / 8 + BYTES_OF_A_ONE * share
        needed, free = first.bits.nbytes * len(self.blocks), available_memory()
        with_rows = 8 * needed * bytes_of_a_cell
        self.is_whole = needed <= SHARE * free
        self.is_roomy = with_rows <= SHARE * free
        if not self.is_whole and not any(block.is_file or block.is_task for block in self.blocks):
            raise LimitError(
                f"The table needs about {needed:.3g} bytes of memory in addition to the blocks, one bit per cell, and "
                f"{free:.3g} are free. Write the blocks to files and pass their names, or start a Dask cluster."
            )
        if not self.is_roomy:
            logger.warning(
                "%.3g bytes of memory are free, and %.3g would keep all parts ready: parts are made again in "
                "each round, which is slow; a Dask cluster has more memory",
                *(free, with_rows / SHARE),
            )
        self.settle()

    def each(self, function: Function, arguments: tuple[object, ...], only: Iterable[int] | None = None) -> Answers:
        """Return ``function(part, *arguments)`` of every part, or of those numbered, in this order."""
        answers = []
        for k in range(len(self.blocks)) if only is None else only:
            if k not in self.parts:
                self.parts[k] = Part.read(self.blocks[k], self.coding)
                self.parts[k].room = self.room
            answers.append(function(self.parts[k], *arguments))
            if not self.is_whole:
                self.parts.clear()
            elif not self.is_roomy:
                self.parts[k].kept.clear()
        return answers

    def settle(self) -> None:
        """Divide the memory among the parts, or distribute the parts evenly, before a long computation."""
        held = sum(sum(getattr(kept, "n_bytes", 0) for kept in part.kept.values()) for part in self.parts.values())
        self.room = SHARE * (available_memory() + held) / len(self.blocks) if self.is_roomy else 0.0
        for part in self.parts.values():
            part.room = self.room


class Cluster:
    """The parts on the workers of a Dask client, which reads a part again where its worker is lost."""

    coding: Coding

    def __init__(self, blocks: list[Block], client: Client) -> None:
        self.blocks, self.client = blocks, client
        self.parts: dict[int, Future[Part]] = {}
        self.home: dict[int, str] = {}  # the worker that has each part, with what computations keep beside it

    def __repr__(self) -> str:
        return f"on {len(set(self.home.values()))} workers"

    def read(self, function: Callable[[Block], Found], blocks: Iterable[Block]) -> list[Found]:
        return list(self.client.gather([self._submit(function, block) for block in blocks]))

    def load(self, coding: Coding) -> None:
        self.coding = coding
        self.settle()

    def each(self, function: Function, arguments: tuple[object, ...], only: Iterable[int] | None = None) -> Answers:
        from distributed import KilledWorker

        numbers = list(range(len(self.blocks)) if only is None else only)
        at_home: dict[str, list[int]] = {}
        for k in numbers:
            at_home.setdefault(self.home[k], []).append(k)
        n_parts = Counter(self.home.values())
        futures = [  # one for each worker: what has begun is not moved to another one
            self.client.submit(
                *(_run, [self.parts[k] for k in some], n_parts[worker], function, arguments), **_at(worker), pure=False
            )
            for worker, some in at_home.items()
        ]
        try:
            gathered = self.client.gather(futures)
        except KilledWorker as error:
            raise DataError(
                f"a part was lost several times in a row, each time with its worker: {error} "
                f"Give the workers more memory, or make smaller parts."
            ) from None
        answers: dict[int, Any] = {}
        for some, (worker, answers_of_worker) in zip(at_home.values(), gathered, strict=True):
            answers |= zip(some, answers_of_worker, strict=True)
            self.home |= dict.fromkeys(some, worker)  # another one if that was lost
        return [answers[k] for k in numbers]

    def settle(self) -> None:
        self.client.wait_for_workers(1)
        load = dict.fromkeys(self.client.nthreads(), 0)
        most = -(-len(self.blocks) // len(load))
        for k in range(len(self.blocks)):
            if self.home.get(k) in load and load[self.home[k]] < most:
                load[self.home[k]] += 1
            else:
                self.home.pop(k, None)
        for k, block in enumerate(self.blocks):  # the others, to workers that have the fewest
            if k not in self.home:
                worker = self.home[k] = min(load, key=lambda each: load[each])
                load[worker] += 1
                self.parts[k] = self._submit(Part.read, block, self.coding, worker=worker)

    def _submit(
        self, function: Callable[..., Found], block: Block, *arguments: object, worker: str | None = None
    ) -> Future[Found]:
        place = {} if worker is None else _at(worker)
        what = self.client.compute(block.what, **place) if block.is_task else block.what
        return self.client.submit(
            _call_with_block, function, replace(block, what=None), what, *arguments, pure=False, **place
        )


def _at(worker: str) -> Options:
    """Return the options by which a task runs on this worker, or on another one if that is lost."""
    return {"workers": [worker], "allow_other_workers": True}


Backend = Here | Cluster


def find_backend(blocks: list[Block], client: Client | Literal[False] | None = None) -> Backend:
    """Return the workers of a client, by default of the current one if there is one, else this process."""
    if client is None and "distributed" in sys.modules:
        try:
            client = sys.modules["distributed"].get_client()
        except ValueError:  # there is none
            return Here(blocks)
    if client is None or client is False:
        return Here(blocks)
    if not hasattr(client, "wait_for_workers"):
        raise ArgumentError("client", "must be a client of Dask, False or None", client)
    return Cluster(blocks, client)


def _call_with_block(function: Callable[..., Found], block: Block, what: object, *arguments: object) -> Found:
    """On a worker: call a function of a block, whose rows Dask may have computed."""
    return function(replace(block, what=what), *arguments)


def _run(
    parts: Sequence[Part], n_parts: int, function: Function, arguments: tuple[object, ...]
) -> tuple[str, list[object]]:
    """On a worker: run a function on some of the parts that it has; return which worker it is, and the answers."""
    from distributed import get_worker

    worker = get_worker()
    room = SHARE * (worker.memory_manager.memory_limit or available_memory()) / n_parts
    for part in parts:
        part.room, part.n_threads = room - part.bits.nbytes, worker.state.nthreads
    return str(worker.address), [function(part, *arguments) for part in parts]
