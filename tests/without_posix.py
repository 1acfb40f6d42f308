"""Hide from isinglass, before it is imported, what only POSIX systems have; other packages still see it."""

import builtins
import os
import pathlib
import signal
from types import ModuleType

GONE = {"fcntl", "resource", "posix", "pwd", "grp", "termios", "tty", "pty", "syslog"}
CALLS = {  # https://docs.python.org/3/library/os.html: "Availability: Unix"
    *("fork", "forkpty", "killpg", "nice", "sysconf", "sched_getaffinity", "sched_setaffinity", "getuid", "geteuid"),
    *("getgid", "getegid", "getpgid", "setsid", "uname", "chown", "fchown", "fchmod", "mkfifo", "mknod", "pread"),
    *("preadv", "pwrite", "statvfs", "fstatvfs", "wait3", "wait4", "getloadavg", "sync", "lockf", "openpty"),
    *("O_NOFOLLOW", "O_NONBLOCK", "O_DIRECTORY", "O_CLOEXEC", "O_SYNC", "O_DSYNC"),
}
SIGNALS = {"SIGABRT", "SIGFPE", "SIGILL", "SIGINT", "SIGSEGV", "SIGTERM"}  # those that Windows knows


def _reduced(module: ModuleType, gone: set[str]) -> ModuleType:
    copy = ModuleType(module.__name__)
    copy.__dict__.update({name: value for name, value in vars(module).items() if name not in gone})
    return copy


_OTHERS = {name for name in vars(signal) if name.startswith("SIG") and not name.startswith("SIG_")} - SIGNALS
_SEEN = {"os": _reduced(os, CALLS), "signal": _reduced(signal, _OTHERS | {"pthread_kill", "setitimer", "alarm"})}
_SEEN["os"].name = "nt"
_import, _read_text = builtins.__import__, pathlib.Path.read_text


def _import_some(name, globals=None, locals=None, fromlist=(), level=0):
    if not (globals or {}).get("__name__", "").startswith("isinglass"):
        return _import(name, globals, locals, fromlist, level)
    if name in GONE:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return _SEEN.get(name) or _import(name, globals, locals, fromlist, level)


def _read_some(self, *arguments, **options):
    if str(self).startswith(("/proc/", "/sys/")):
        raise FileNotFoundError(2, "No such file or directory", str(self))
    return _read_text(self, *arguments, **options)


def hide() -> None:
    """Let every module of isinglass that is imported from now on see a system like Windows."""
    builtins.__import__ = _import_some
    pathlib.Path.read_text = _read_some
