"""isinglass itself, in its own process like everybody else, on all cores and on one."""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from problems import Problem

from adapters.process import WORKERS, ProcessRival
from adapters.protocol import Measurement, SkippedError

PROBE = (sys.executable, "-c", "import isinglass as i; i.ising_path; print('isinglass', i.__version__)")


class OurRival(ProcessRival):
    """The version is not enough while developing: the kernels' and the driver's contents are part of the key."""

    def version(self) -> str:
        """Return the version and a digest of the installed solver."""
        return f"{super().version()} ({solver_digest()})"


class BmnRival(OurRival):
    """Höfling and Tibshirani's algorithm as re-created in ``paper.published``, without the certificate."""

    def run(self, problem: Problem, repeats: int, budget: float) -> Measurement:
        """Single alphas of small tables only."""
        if len(problem.alphas) > 1 or problem.X.shape[1] > 100:
            raise SkippedError("every alpha starts afresh and takes seconds; measured for single alphas, p ≤ 100")
        return super().run(problem, repeats, budget)


@cache
def solver_digest() -> str:
    """Digest of the compiled kernels and the Python that drives them."""
    # An editable install keeps the Python in src and the kernels in site-packages: ask where each is loaded from.
    python = ("path", "alphas", "nodewise", "regressions")
    names = (*(f"isinglass.solve.{name}" for name in python), "isinglass._core._native")
    contents = [Path(find_spec(name).origin).read_bytes() for name in names]
    # A build for profiling is compiled with other flags; its times must not pass for those of a release.
    mark = ", DEBUG SYMBOLS: not a release build" if b".debug_info" in contents[-1] else ""
    return hashlib.sha256(b"".join(contents)).hexdigest()[:8] + mark


def rivals() -> list[ProcessRival]:
    """Return our settings; the first is the reference of every ratio."""
    command = (sys.executable, str(WORKERS / "fit.py"))
    return [
        OurRival("isinglass", "isinglass", command, PROBE, options={"solver": "isinglass"}, install="pip install ."),
        OurRival(
            "isinglass-1",
            "isinglass, one thread",
            command,
            PROBE,
            options={"solver": "isinglass", "n_threads": 1},
            install="pip install .",
        ),
        OurRival(
            "isinglass-nodewise",
            "isinglass, one regression per node",
            command,
            PROBE,
            nodewise=True,
            options={"solver": "isinglass", "mode": "nodewise"},
            install="pip install .",
        ),
        BmnRival(
            "bmn",
            "BMN's algorithm, re-created",
            command,
            PROBE,
            options={"solver": "isinglass", "mode": "bmn"},
            install="pip install .",
        ),
    ]
