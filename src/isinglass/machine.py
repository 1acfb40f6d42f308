"""What the machine gives: memory, with one error where more is needed, threads, locks, processes, and signals.

The only module that asks the operating system for what not all of them have. Where something is missing, as on Windows,
memory is taken to be enough unless ISINGLASS_MAX_MEMORY is set, and files are not locked.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ContextDecorator, ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from isinglass.errors import DataError, LimitError, setting

try:
    import fcntl
    import resource
except ImportError:  # Windows
    fcntl = resource = None  # type: ignore[assignment]

ON_WINDOWS = os.name == "nt"
HAS_LOCKS = fcntl is not None

UNCHECKED_BYTES = 50_000_000
"""Below this size, skip the check of free memory; it costs as much as a small fit."""

MAX_THREADS = 256
INTERRUPT = signal.SIGINT
SIGNALS = (INTERRUPT, signal.SIGTERM)
OWN_GROUP: dict[str, Any] = {"creationflags": 0x200} if ON_WINDOWS else {"start_new_session": True}
"""Arguments of Popen for a process that Ctrl-C does not reach; the number is CREATE_NEW_PROCESS_GROUP."""

SIGNAL_SECONDS = 0.1  # between two looks for signals, where waiting for a thread does not hear them
Result = TypeVar("Result")
_running: list[threading.Thread] = []  # of `call_interruptibly`, also after an interrupt

_CGROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def available_memory() -> int:
    """Return how many bytes this process can still allocate without swapping; a very large number if this is unknown.

    The smallest of what the system has left, what a container leaves, what ``ulimit -v`` leaves, and what the variable
    ISINGLASS_MAX_MEMORY leaves: bytes, or GiB with a G behind the number.
    """
    free = [sys.maxsize, _free_of_system(), _free_of_limit(), _free_of_cap()]
    for limit, used in _CGROUPS:
        with suppress(OSError, ValueError):  # no such group, or "max"
            free.append(int(Path(limit).read_text()) - int(Path(used).read_text()))
    return max(min(free), 0)


def memory_for(n_bytes: int) -> int:
    """Return the memory that work of at most ``n_bytes`` may take; without a limit if that is little."""
    return sys.maxsize if n_bytes <= UNCHECKED_BYTES else available_memory()


class within_memory:  # noqa: N801 - used as a function; a generator would take longer than the fit of few columns
    """Turn the refusal of a kernel to take more memory than there is, or its failure to get it, into a LimitError."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, MemoryError):
            raise LimitError(str(error)) from error
        if type(error).__name__ == "OutOfMemoryError":  # PyTorch's, which is not loaded here
            raise LimitError(f"{str(error).partition('. GPU')[0]}. Use {setting('device', 'cpu')}.") from error


def _free_of_system() -> int:
    with suppress(OSError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            name, _, rest = line.partition(":")
            if name == "MemAvailable":
                return int(rest.split()[0]) * 1024
    with suppress(AttributeError, ValueError, OSError):  # elsewhere: all there is
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return sys.maxsize


def _free_of_limit() -> int:
    if resource is None:
        return sys.maxsize
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return sys.maxsize
    with suppress(OSError):
        return limit - int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return limit


def _free_of_cap() -> int:
    said = os.environ.get("ISINGLASS_MAX_MEMORY", "").strip().upper()
    if not said:
        return sys.maxsize
    try:
        cap = float(said[:-1]) * 2**30 if said.endswith("G") else float(said)
    except ValueError:
        raise DataError(f"ISINGLASS_MAX_MEMORY must be bytes, or GiB such as 8G; got {said!r}.") from None
    with suppress(OSError):
        return int(cap) - int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return int(cap)


def thread_count(n_threads: int | None = None) -> int:
    """Return ``n_threads``, or what the environment or the machine says.

    None means ISINGLASS_NUM_THREADS if that is set, else OMP_NUM_THREADS, else the available cores.
    """
    if n_threads is None:
        for variable in ("ISINGLASS_NUM_THREADS", "OMP_NUM_THREADS"):
            if os.environ.get(variable, "").isdecimal():
                return min(max(int(os.environ[variable]), 1), MAX_THREADS)
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    from isinglass.arguments import check_count  # loads NumPy, which the help of a command does without

    if check_count("n_threads", n_threads, most=None) > MAX_THREADS:
        raise DataError(
            f"n_threads must be at most {MAX_THREADS}; got {n_threads}. More threads than cores are no faster."
        )
    return int(n_threads)


class _OneBlasThread(ContextDecorator):
    """Keeps BLAS to one thread inside the block, for the whole process.

    Threads of a BLAS wait for their next product in a loop, which takes a core from the threads of the kernels. Of
    blocks that overlap in several threads, the one that was entered first sets the limit. It restores what was set
    before when it is left, which costs the others nothing but time.
    """

    def __init__(self) -> None:
        self._lock, self._limit = threading.Lock(), ExitStack()
        self._owner, self._depth = 0, 0  # the thread that has set the limit, and its blocks

    def __enter__(self) -> None:
        with self._lock:
            if self._depth == 0:
                self._limit.enter_context(_blas().limit(limits=1))
                self._owner = threading.get_ident()
            self._depth += self._owner == threading.get_ident()

    def __exit__(self, *error: object) -> None:
        with self._lock:
            if self._depth and self._owner == threading.get_ident():
                self._depth -= 1
                if self._depth == 0:
                    self._limit.close()


one_blas_thread = _OneBlasThread()


@cache
def _blas() -> Any:  # Any: of a library without types
    from threadpoolctl import ThreadpoolController  # finding the libraries takes some milliseconds, once

    return ThreadpoolController().select(user_api="blas")


def lock(handle: int, *, wait: bool) -> None:
    """Lock an open file or folder until it is closed; without ``wait``, an OSError if another process holds the lock.

    Does nothing on a system without file locks.
    """
    if HAS_LOCKS:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


@contextmanager
def locked(path: str | Path, *, wait: bool) -> Iterator[None]:
    """Hold the lock of a file or folder, which is not a link, inside the block."""
    if not HAS_LOCKS:
        yield
        return
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        lock(handle, wait=wait)
        yield
    finally:
        os.close(handle)


@contextmanager
def defer_signals() -> Iterator[None]:
    """Let a signal that arrives inside the block take effect at its end; Python handles signals in its main thread.

    Examples
    --------
    >>> try:
    ...     with defer_signals():
    ...         signal.raise_signal(signal.SIGINT)
    ...         done = True
    ... except KeyboardInterrupt:
    ...     done
    True
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    deferred: list[int] = []
    previous = {number: signal.getsignal(number) for number in SIGNALS}
    for number, handler in previous.items():
        if handler is not signal.SIG_IGN and handler is not None:  # None: not set from Python
            signal.signal(number, lambda number, frame: deferred.append(number))
    try:
        yield
    finally:
        for number, handler in previous.items():
            if handler is not None:
                signal.signal(number, handler)
        if deferred:
            signal.raise_signal(deferred[0])


def call_interruptibly(work: Callable[[], Result]) -> Result:
    """Return what a long call of a library returns; a signal ends the wait for it at once.

    Python handles signals between its own instructions, and a library that computes for minutes holds them up. The call
    goes on in the background until it ends by itself or with the process.

    Examples
    --------
    >>> call_interruptibly(lambda: 6 * 7)
    42
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)  # which does not hold up the end of the process
    _running.append(thread)
    thread.start()
    while thread.is_alive():
        thread.join(SIGNAL_SECONDS)
    _running.remove(thread)
    if errors:
        raise errors[0]
    return results[0]


def end_process(code: int) -> NoReturn:
    """End the process; at once if an interrupted call goes on, whose thread Python could only end by a crash."""
    if any(thread.is_alive() for thread in _running):
        with suppress(OSError, ValueError):  # a reader that went away
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


@contextmanager
def signals_noted(wanted: bool) -> Iterator[list[int]]:
    """Let SIGINT and SIGTERM raise an exception inside the block, and yield the list in which they are noted.

    An exception may turn into another one on its way, such as an ImportError; the list still tells what happened. What
    is ignored stays ignored, as SIGINT is in the background of a script. Python handles signals in its main thread.
    """
    noted: list[int] = []
    if not wanted or threading.current_thread() is not threading.main_thread():
        yield noted
        return

    def note(number: int, frame: object) -> None:
        noted.append(number)
        raise KeyboardInterrupt if number == INTERRUPT else SystemExit(128 + number)

    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, note)
    try:
        yield noted
    finally:
        for number, handler in before.items():  # after a signal the process ends, and is not to be disturbed
            signal.signal(number, signal.SIG_IGN if noted else handler)
