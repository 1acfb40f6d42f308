"""Where the parts of a table are: in this process, or on the workers of a Dask cluster.

A host keeps every part, one bit per cell, with whatever computations left beside it, and runs functions of parts. What
it loses it reads again; what was kept beside a lost part is gone, and whoever left it there has to notice.
"""

# ruff: noqa: D102 - the methods of Here and Cluster are those of Host

from __future__ import annotations

import logging
import sys
import uuid
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from isinglass.data.blocks import Block
from isinglass.data.coding import Coding
from isinglass.data.conversion import refuse_holes
from isinglass.errors import DataError, LimitError
from isinglass.machine import MAX_THREADS, available_memory

logger = logging.getLogger("isinglass")

SHARE = 0.5
"""Of the memory of a process or worker, for what computations keep beside the parts."""
BYTES_OF_A_CELL = 2.25
"""Of a part with its compiled rows, predictors aside."""
RARE = 0.03
"""Share of ones below which computations keep lists of ones instead of cells."""
BYTES_OF_A_ONE = 8
"""Of such a list."""
ATTEMPTS = 5
"""How often a part may be lost in a row before we give up."""


@dataclass(eq=False)
class Part:
    """One part of a table where it is worked on.

    Parameters
    ----------
    number : int
        Which part it is.
    bits : ndarray of uint8, shape (n_rows, n_columns / 8)
        The cells.
    n_columns : int
        Columns.
    weight : ndarray, optional
        Row weights.
    n_missing, n_dropped : int
        As of a `BinaryTable`.
    room : float
        Bytes that computations may keep here.
    n_threads : int
        The most that computations may use here.
    kept : dict
        What they keep.
    """

    number: int
    bits: NDArray[np.uint8]
    n_columns: int
    weight: NDArray[np.float64] | None
    n_missing: int
    n_dropped: int
    room: float = 0.0
    n_threads: int = MAX_THREADS
    kept: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, block: Block, coding: Coding) -> Part:
        """Read a block as a coding wants it."""
        table = refuse_holes(block.read(coding))
        bits = np.packbits(table.X, axis=1)
        return cls(block.number, bits, table.shape[1], table.sample_weight, table.n_missing, table.n_dropped)

    @property
    def n_rows(self) -> int:
        """Rows."""
        return len(self.bits)

    @property
    def bytes_of_a_cell(self) -> float:
        """What a cell takes with the compiled rows, predictors aside."""
        share = float(self.table().mean())
        return BYTES_OF_A_CELL if share >= RARE else 1 / 8 + BYTES_OF_A_ONE * share

    def table(self) -> NDArray[np.uint8]:
        """Return its cells as bytes."""
        return np.unpackbits(self.bits, axis=1, count=self.n_columns)


Function = Callable[..., Any]


class Host(Protocol):
    """Keeps parts and runs functions of them."""

    blocks: list[Block]

    def open(self, blocks: Sequence[Block]) -> None:
        """Take the blocks of a table."""

    def read(self, function: Callable[[Block], Any], only: Iterable[int] | None = None) -> list[Any]:
        """Return ``function(block)`` of every block, before parts are made of them."""

    def load(self, coding: Coding) -> None:
        """Make parts of the blocks."""

    def each(self, function: Function, arguments: tuple[Any, ...], only: Iterable[int] | None = None) -> list[Any]:
        """Return ``function(part, *arguments)`` of every part, or of those numbered, in this order."""

    def settle(self) -> None:
        """Spread the parts evenly, before a long computation."""


def find_host(client: Any = None) -> Host:
    """Return the workers of a client, by default of the current one if there is one, else this process."""
    if client is False:
        return Here()
    if client is None and "distributed" in sys.modules:
        try:
            client = sys.modules["distributed"].get_client()
        except ValueError:  # there is none
            return Here()
    return Here() if client is None else Cluster(client)


# ------------------------------------------------------------------------------------------- this process


class Here:
    """The parts one after the other in this process.

    What computations keep beside the parts is dropped after each call where it would not fit; where not even the bits
    do, parts are read again for each call.
    """

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.parts: dict[int, Part] = {}
        self.coding: Coding | None = None
        self.is_whole = True  # all parts are in memory...
        self.is_roomy = True  # ...with what is kept beside them

    def __repr__(self) -> str:
        return "in this process" if self.is_whole else "in this process, read again each time"

    def open(self, blocks: Sequence[Block]) -> None:
        self.blocks = list(blocks)

    def read(self, function: Callable[[Block], Any], only: Iterable[int] | None = None) -> list[Any]:
        return [function(self.blocks[k]) for k in (range(len(self.blocks)) if only is None else only)]

    def load(self, coding: Coding) -> None:
        self.coding = coding
        first = Part.read(self.blocks[0], coding)
        needed, free = first.bits.nbytes * len(self.blocks), available_memory()
        with_rows = 8 * needed * first.bytes_of_a_cell
        self.is_whole = needed <= SHARE * free
        self.is_roomy = with_rows <= SHARE * free
        if not self.is_whole and not any(block.is_file or block.is_task for block in self.blocks):
            raise LimitError(
                f"memory must hold one bit per cell: about {needed:.3g} bytes beside the blocks; got {free:.3g}. Write "
                "them to files and pass their names, or start a Dask cluster."
            )
        if not self.is_roomy:
            logger.warning(
                "memory holds %.3g bytes where %.3g would keep all parts at hand: they are made again in each round, "
                "which is slow; a Dask cluster holds more",
                *(free, with_rows / SHARE),
            )
        self.parts[0] = first
        self._share()

    def each(self, function: Function, arguments: tuple[Any, ...], only: Iterable[int] | None = None) -> list[Any]:
        answers = []
        for k in range(len(self.blocks)) if only is None else only:
            answers.append(function(self._part(k), *arguments))
            if not self.is_whole:
                self.parts.clear()
            elif not self.is_roomy:
                self.parts[k].kept.clear()
        return answers

    def settle(self) -> None:
        self._share()

    def _share(self) -> None:
        held = sum(sum(getattr(kept, "n_bytes", 0) for kept in part.kept.values()) for part in self.parts.values())
        self.room = SHARE * (available_memory() + held) / len(self.blocks) if self.is_roomy else 0.0
        for part in self.parts.values():
            part.room = self.room

    def _part(self, number: int) -> Part:
        if number not in self.parts:
            assert self.coding is not None
            self.parts[number] = Part.read(self.blocks[number], self.coding)
            self.parts[number].room = self.room
        return self.parts[number]


# ------------------------------------------------------------------------------------------- workers of Dask

_HELD: dict[str, dict[int, Part]] = {}
"""On a worker: the parts of every table that it holds."""
_ABSENT = "part is not here"


class Cluster:
    """The parts on the workers of a Dask client, each on one of them until that is lost."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.key = f"isinglass-{uuid.uuid4().hex}"
        self.blocks: list[Block] = []
        self.home: dict[int, str] = {}
        self.coding: Coding | None = None
        self._finalizer = weakref.finalize(self, _release, client, self.key)

    def __repr__(self) -> str:
        return f"on {len(set(self.home.values()))} workers"

    def open(self, blocks: Sequence[Block]) -> None:
        self.blocks = list(blocks)

    def read(self, function: Callable[[Block], Any], only: Iterable[int] | None = None) -> list[Any]:
        numbers = list(range(len(self.blocks)) if only is None else only)
        return list(self.client.gather([self._submit_block(_read_block, k, function) for k in numbers]))

    def load(self, coding: Coding) -> None:
        self.coding = coding
        self.settle()

    def each(self, function: Function, arguments: tuple[Any, ...], only: Iterable[int] | None = None) -> list[Any]:
        numbers = list(range(len(self.blocks)) if only is None else only)
        answers: dict[int, Any] = {}
        sent = self._send(arguments)
        for _ in range(ATTEMPTS):
            missing = [k for k in numbers if k not in answers]
            if not missing:
                return [answers[k] for k in numbers]
            self._place([k for k in missing if k not in self.home])
            by_worker: dict[str, list[int]] = {}
            for k in missing:
                by_worker.setdefault(self.home[k], []).append(k)
            futures = [
                self.client.submit(
                    _run, self.key, some, function, sent, workers=[worker], allow_other_workers=True, pure=False
                )
                for worker, some in by_worker.items()
            ]
            for some, found in zip(by_worker.values(), self.client.gather(futures), strict=True):
                for k, answer in zip(some, found, strict=True):
                    if isinstance(answer, str) and answer == _ABSENT:
                        logger.warning("part %d was lost with its worker %s and is read again", k, self.home[k])
                        del self.home[k]
                    else:
                        answers[k] = answer
        raise DataError(
            f"the workers must hold their parts; lost {self.blocks[missing[0]].label} {ATTEMPTS} times in a row. "
            "Give the workers more memory, or make smaller parts."
        )

    def settle(self) -> None:
        workers = self._workers()
        self.home = {k: worker for k, worker in self.home.items() if worker in workers}
        most = -(-len(self.blocks) // len(workers))
        for worker in workers:
            moved = [k for k, home in self.home.items() if home == worker][most:]  # to a worker that has been added
            if moved:
                self.client.run(_forget, self.key, moved, workers=[worker], on_error="ignore")
            for k in moved:
                del self.home[k]
        self._place([k for k in range(len(self.blocks)) if k not in self.home])

    def _workers(self) -> list[str]:
        self.client.wait_for_workers(1)
        return list(self.client.nthreads())

    def _place(self, numbers: Sequence[int]) -> None:
        """Read parts on the workers that have the fewest."""
        if not numbers:
            return
        workers = self._workers()
        load = {worker: sum(home == worker for home in self.home.values()) for worker in workers}
        futures = {}
        for k in numbers:
            worker = min(workers, key=lambda each: load[each])
            load[worker] += 1
            futures[k] = self._submit_block(_load, k, self.key, self.coding, worker=worker)
        self.home |= dict(zip(numbers, self.client.gather(list(futures.values())), strict=True))

    def _submit_block(self, function: Function, number: int, *arguments: Any, worker: str | None = None) -> Any:
        block = self.blocks[number]
        place = {} if worker is None else {"workers": [worker], "allow_other_workers": True}
        what = self.client.compute(block.what, **place) if block.is_task else block.what
        return self.client.submit(function, replace(block, what=None), what, *arguments, pure=False, **place)

    def _send(self, arguments: tuple[Any, ...]) -> Any:
        """Send large arguments to the workers once instead of with every task."""
        size = sum(each.nbytes for each in _arrays(arguments))
        if size < 1_000_000:
            return arguments
        return self.client.scatter([arguments], broadcast=True, hash=False)[0]


def _arrays(value: Any) -> Iterable[NDArray[Any]]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _arrays(each)


def _read_block(block: Block, what: Any, function: Callable[[Block], Any]) -> Any:
    return function(replace(block, what=what))


def _load(block: Block, what: Any, key: str, coding: Coding) -> str:
    """On a worker: read a part and keep it; return where."""
    from distributed import get_worker

    _HELD.setdefault(key, {})[block.number] = Part.read(replace(block, what=what), coding)
    return str(get_worker().address)


def _run(key: str, numbers: Sequence[int], function: Function, arguments: tuple[Any, ...]) -> list[Any]:
    """On a worker: run a function on parts that should be here."""
    from distributed import get_worker

    held = _HELD.get(key, {})
    worker = get_worker()
    room = SHARE * (worker.memory_manager.memory_limit or available_memory()) / max(len(held), 1)
    n_threads = worker.state.nthreads
    answers: list[Any] = []
    for number in numbers:
        part = held.get(number)
        if part is None:
            answers.append(_ABSENT)
        else:
            part.room, part.n_threads = room - part.bits.nbytes, n_threads
            answers.append(function(part, *arguments))
    return answers


def _release(client: Any, key: str) -> None:
    """Forget the parts of a table that nobody uses any more."""
    if client.status == "running":
        try:
            client.run(_forget_all, key, wait=False, on_error="ignore")
        except Exception:  # at the end of the process nothing needs to be forgotten
            logger.debug("the workers could not be told to forget %s", key)


def _forget(key: str, numbers: Sequence[int]) -> None:
    """On a worker: forget some parts of a table."""
    for number in numbers:
        _HELD.get(key, {}).pop(number, None)


async def _forget_all(key: str) -> None:
    """On a worker: forget a table. Dask waits for everything that is not asynchronous."""
    _HELD.pop(key, None)
