"""Signals: deferred, noted, or heard during a long call of a library; and the end of the process."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn, TypeVar

INTERRUPT = signal.SIGINT
SIGNALS = (INTERRUPT, signal.SIGTERM)
OWN_GROUP: dict[str, Any] = {"creationflags": 0x200} if os.name == "nt" else {"start_new_session": True}
"""Arguments of Popen for a process that Ctrl-C does not reach; the number is CREATE_NEW_PROCESS_GROUP."""

SIGNAL_SECONDS = 0.1  # between two looks for signals, where waiting for a thread does not hear them
AGAIN_SECONDS = 0.02  # until a signal is sent again that came at a moment when its exception can be lost
Result = TypeVar("Result")
_running: list[threading.Thread] = []  # of `call_interruptibly`, also after an interrupt


class Interrupted(KeyboardInterrupt):
    """What SIGINT raises in a command.

    If KeyboardInterrupt itself passes through the `exec` of a text, ``python -m`` ends by the signal although it was
    caught, and its exit code is lost.
    """


@contextmanager
def _handled(
    handler: Callable[[int, FrameType | None], object],
) -> Iterator[dict[signal.Signals, Any]]:  # Any: functions, or constants of Python
    """Call a function for signals inside the block, and yield what handles them after it.

    What is ignored stays ignored, as SIGINT is in the background of a script, and so is what was not set from Python.
    """
    if threading.current_thread() is not threading.main_thread():
        yield {}
        return
    after = {number: signal.getsignal(number) for number in SIGNALS}
    after = {number: known for number, known in after.items() if known not in (signal.SIG_IGN, None)}
    for number in after:
        signal.signal(number, handler)
    try:
        yield after
    finally:
        for number, known in after.items():
            signal.signal(number, known)


@contextmanager
def defer_signals() -> Iterator[None]:
    """Let a signal that arrives inside the block take effect at its end; Python handles signals in its main thread."""
    deferred: list[int] = []
    try:
        with _handled(lambda number, frame: deferred.append(number)):
            yield
    finally:
        if deferred:
            signal.raise_signal(deferred[0])


def call_interruptibly(work: Callable[[], Result]) -> Result:
    """Return what a long call of a library returns; a signal ends the wait for it at once.

    Python handles signals between its own instructions, and a library that computes for minutes holds them up. The call
    goes on in the background until it ends by itself or with the process.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    answer: Future[Result] = Future()

    def run() -> None:
        try:
            answer.set_result(work())
        except BaseException as error:
            answer.set_exception(error)

    thread = threading.Thread(target=run, daemon=True)  # which does not hold up the end of the process
    _running.append(thread)
    thread.start()
    while thread.is_alive():
        thread.join(SIGNAL_SECONDS)
    _running.remove(thread)
    return answer.result()


def end_process(code: int) -> NoReturn:
    """End the process; at once if an interrupted call goes on, whose thread Python could only end by a crash."""
    if any(thread.is_alive() for thread in _running):
        with suppress(OSError, ValueError):  # a reader that went away
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


@contextmanager
def signals_noted() -> Iterator[list[int]]:
    """Let SIGINT and SIGTERM raise an exception inside the block, and yield the list in which they are noted.

    An exception may turn into another one on its way, such as an ImportError; the list still tells what happened. An
    import can lose it: a signal takes effect when all imports that began inside the block have ended. Where Python
    discards it, in a destructor or a callback, the signal is sent again.
    """
    noted: list[int] = []
    hook, before = sys.unraisablehook, _count_imports(sys._getframe())

    def note(number: int, frame: FrameType | None) -> None:
        if _count_imports(frame) > before:
            _send_later(number)
            return
        noted.append(number)
        raise Interrupted if number == INTERRUPT else SystemExit(128 + number)

    def send_again(discarded: sys.UnraisableHookArgs) -> None:
        if noted and isinstance(discarded.exc_value, KeyboardInterrupt | SystemExit):
            _send_later(noted[-1])
        else:
            hook(discarded)

    with _handled(note) as after:
        sys.unraisablehook = send_again if after else hook
        try:
            yield noted
        finally:
            sys.unraisablehook = hook
            if noted:  # the process ends, and is not to be disturbed
                after.update(dict.fromkeys(after, signal.SIG_IGN))


def _count_imports(frame: FrameType | None) -> int:
    """Return how many frames of the import system called this one."""
    count = 0
    while frame is not None:
        count += frame.f_code.co_filename.startswith("<frozen importlib")
        frame = frame.f_back
    return count


def _send_later(number: int) -> None:
    """Send a signal to this process in a moment; os.kill wakes the main thread, but ends the process on Windows."""
    again = (signal.raise_signal, [number]) if os.name == "nt" else (os.kill, [os.getpid(), number])
    timer = threading.Timer(AGAIN_SECONDS, *again)
    timer.daemon = True
    timer.start()
