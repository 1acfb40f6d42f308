"""What the fuzzing scripts share: starting atheris with a corpus of valid inputs.

A script calls `fuzz(check, seeds, packages)`, where ``check(data)`` raises if the program misbehaves on these bytes,
and ``packages`` are the ones whose branches guide the search.

Options of libFuzzer go on the command line, for example ``-runs=20000 -max_total_time=60``.
"""

import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FunctionType

MISSING = "atheris is not installed; it is available for Linux and macOS: python -m pip install atheris"


def fuzz(check: Callable[[bytes], None], seeds: Iterable[bytes], packages: tuple[str, ...]) -> None:
    """Run libFuzzer on ``check``, starting from ``seeds``; a crash leaves its input in the current folder."""
    try:
        import atheris
    except ImportError:
        sys.exit(MISSING)
    for function in functions_of(packages):
        atheris.instrument_func(function)
    with tempfile.TemporaryDirectory() as corpus:
        for number, seed in enumerate(seeds):
            (Path(corpus) / f"seed{number}").write_bytes(seed)
        atheris.Setup([*sys.argv, corpus], check)
        atheris.Fuzz()


def functions_of(packages: tuple[str, ...]) -> list[FunctionType]:
    """Return the functions and methods of loaded packages; instrumenting everything that is loaded takes minutes."""
    found = []
    for name, module in list(sys.modules.items()):
        if name.startswith(packages):
            owners = [module, *(value for value in vars(module).values() if isinstance(value, type))]
            found += [
                member
                for owner in owners
                for member in vars(owner).values()
                if isinstance(member, FunctionType) and member.__module__ == name
            ]
    return found
