"""Ctrl-C and SIGTERM end a command within half a second, whatever it is doing, and leave nothing half done.

The way out is an exception. Kernels look for it several times a second, but a library in between may not return for
seconds, or turn the exception into one of its own. So the signal is noted down, and a thread that hears of it from the
system ends the process when the time for the orderly way out is over.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

from isinglass.atomic import remove_unfinished
from isinglass.machine import SIGNALS, held_back

GRACE = 0.25
"""Seconds for the orderly way out; the rest of the half second is the system's, which takes back the memory."""

_moving = threading.Lock()


class _Terminated(SystemExit):
    """SIGTERM came: what is open is closed on the way out."""


@contextmanager
def undivided() -> Iterator[None]:
    """Hold signals back for the moment in which old files and new ones would be side by side."""
    with _moving, held_back():
        yield


@contextmanager
def listening(wanted: bool) -> Iterator[list[int]]:
    """Let the first SIGINT or SIGTERM end the block, and with it the process; yield the list that notes it down.

    What is ignored stays ignored, as SIGINT is in the background of a script. Only the main thread can listen.
    """
    heard: list[int] = []
    if not wanted or threading.current_thread() is not threading.main_thread():
        yield heard
        return
    ended = False

    def hear(number: int, frame: object) -> None:
        heard.append(number)
        if not ended and len(heard) == 1:
            raise KeyboardInterrupt if number == signal.SIGINT else _Terminated

    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, hear)
    stop_watching = _watch_signals()
    try:
        try:
            yield heard
        finally:
            ended = True
    finally:
        if heard:
            _leave(heard[0])
        stop_watching()
        for number, handler in before.items():
            signal.signal(number, handler)


def _watch_signals() -> Callable[[], None]:
    """Start the thread; return what ends it."""
    if os.name != "posix":  # a console of Windows sends Ctrl-C only, and pipes cannot be told of it
        return lambda: None
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reader,), daemon=True).start()

    def stop() -> None:
        signal.set_wakeup_fd(before)
        os.close(writer)

    return stop


def _watch(reader: int) -> None:
    while number := os.read(reader, 1):
        if number[0] in SIGNALS:
            time.sleep(GRACE)
            _leave(number[0])
    os.close(reader)


def _leave(number: int) -> NoReturn:
    """End the process as a signal does, without the interpreter: it would wait for kernels in other threads."""
    with _moving:  # for good: whoever comes second waits here
        remove_unfinished()
        if number == signal.SIGINT:
            shown = b"\x1b[?25h" if os.isatty(2) else b""  # a bar has hidden the cursor
            with suppress(OSError):
                os.write(2, shown + b"Interrupted.\n")
        os._exit(128 + number)
