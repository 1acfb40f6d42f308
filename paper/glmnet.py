"""glmnet itself, through one Rscript process that stays: what the paper calls PLG and NLR, where R is installed.

Seconds are taken inside R around each call of glmnet; starting R, its first small fits, reading files and building the
stacked design are not part of them.
"""

from __future__ import annotations

import select
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from multiprocessing.util import Finalize
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paper.published import stacked_design
from paper.published.stacked import unvectorize

SCRIPT = Path(__file__).with_suffix(".R")
START_LIMIT = 120.0  # seconds for R to start on a busy machine
REFUSED = 9999  # our code for a regression that glmnet would not begin
FEWEST = 2
"""Rows of either kind that a response must have: glmnet refuses one with fewer."""

FloatArray = NDArray[np.float64]


class GlmnetError(Exception):
    """glmnet refused the problem; the message is its own."""


@dataclass(frozen=True)
class GlmnetFits:
    """What glmnet returned for a list of penalties: one regression (stacked) or one per node.

    ``theta`` has shape (n_alphas, p, p), as ``methods.Fit.theta``; alphas that glmnet did not reach repeat the last one
    it solved. The others have one entry per regression: ``passes`` of all alphas together; ``jerr`` is 0 if there was
    no complaint, −k if alpha number k did not converge, ``REFUSED`` if one value of the node occurs in fewer than two
    rows; ``solved`` is the number of alphas with coefficients.
    """

    theta: FloatArray
    seconds: FloatArray
    passes: NDArray[np.int32]
    jerr: NDArray[np.int32]
    solved: NDArray[np.int32]


class Session:
    """A running R that knows one table at a time."""

    def __init__(self) -> None:
        self.scratch = tempfile.TemporaryDirectory(prefix="glmnet-")
        self.folder = Path(self.scratch.name)
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            ["Rscript", "--vanilla", str(SCRIPT)], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, bufsize=0
        )
        self.pending = b""
        self.shape = (0, 0)
        try:
            self._read_line(START_LIMIT)
        except BaseException:
            self.close()
            raise

    def load(self, X: ArrayLike, *, stacked: bool = True, max_bytes: int | None = None) -> None:
        """Hand over a table of 0 and 1, and its stacked design unless only node-wise fits will follow."""
        table = np.asarray(X, dtype=np.uint8)
        self._clear()
        self.shape = table.shape
        table.ravel(order="F").tofile(self.folder / "X.bin")
        if stacked:
            design, _ = stacked_design(table, max_bytes=max_bytes)
            design.indptr.astype(np.int32).tofile(self.folder / "indptr.bin")
            design.indices.astype(np.int32).tofile(self.folder / "indices.bin")
        self._ask({"do": "load", "n": table.shape[0], "p": table.shape[1]}, None)

    def fit(
        self,
        mode: str,
        alphas: float | ArrayLike,
        *,
        thresh: float = 1e-7,
        maxit: int = 100_000,
        hessian: str = "Newton",
        timeout: float | None = None,
    ) -> GlmnetFits:
        """Fit the loaded table: ``mode`` is "stacked" (PLG) or "nodewise" (NLR), ``alphas`` the joint penalties.

        glmnet gets α(p−1)/(p(p+1)) in the one case and α/2 in the other, columns as they are, and goes to the end
        of a list of penalties. ``hessian`` is glmnet's type.logistic, "Newton" or "modified.Newton". A fit that takes
        longer than ``timeout`` seconds ends the session and raises TimeoutError.
        """
        self._clear()
        values = np.sort(np.atleast_1d(np.asarray(alphas, dtype=np.float64)))[::-1]
        values.tofile(self.folder / "alphas.bin")
        self._ask({"do": "fit", "mode": mode, "thresh": thresh, "maxit": maxit, "hessian": hessian}, timeout)
        return self._read_answer(mode == "stacked", len(values))

    def close(self) -> None:
        """End R and remove the files."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            pipe.close()
        self.scratch.cleanup()

    def _clear(self) -> None:
        for file in self.folder.iterdir():
            file.unlink()

    def _ask(self, job: dict[str, object], timeout: float | None) -> None:
        (self.folder / "job.txt").write_text("".join(f"{key}={value}\n" for key, value in job.items()))
        self.process.stdin.write(f"{self.folder}\n".encode())
        verdict = self._read_line(timeout)
        if verdict.startswith("error"):
            raise GlmnetError(verdict[6:])

    def _read_line(self, timeout: float | None) -> str:
        """Read one line, or end the session if it does not come in time."""
        while b"\n" not in self.pending:
            if not select.select([self.process.stdout], [], [], timeout)[0]:
                self.close()
                raise TimeoutError(f"R did not answer within {timeout:g} s")
            chunk = self.process.stdout.read(4096)
            if not chunk:
                raise GlmnetError(f"R ended with status {self.process.wait()}")
            self.pending += chunk
        line, self.pending = self.pending.split(b"\n", 1)
        return line.decode()

    def _read_answer(self, stacked: bool, n_alphas: int) -> GlmnetFits:
        """Read coefficients as (fit, column, alpha, value), column 0 being the intercept, and the counts."""
        names = ("fit", "column", "alpha", "passes", "jerr", "solved")
        read = {name: np.fromfile(self.folder / f"{name}.bin", dtype=np.int32) for name in names}
        p = self.shape[1]
        n_fits, width = (1, p * (p + 1) // 2) if stacked else (p, p - 1)
        found = np.zeros((n_fits, n_alphas, width + 1))
        found[read["fit"], read["alpha"], read["column"]] = np.fromfile(self.folder / "value.bin")
        for k, solved in enumerate(read["solved"]):
            found[k, solved:] = found[k, solved - 1] if solved else 0.0
        if stacked:
            theta = np.array([unvectorize(vector) for vector in found[0, :, 1:]])
        else:
            theta = np.stack([np.insert(found[s, :, 1:], s, found[s, :, 0], axis=1) for s in range(p)], axis=1)
        counts = {name: read[name] for name in ("passes", "jerr", "solved")}
        return GlmnetFits(theta, np.fromfile(self.folder / "times.bin"), **counts)


_running: list[Session] = []


def session() -> Session | None:
    """Return the session of this process, started when it is first asked for; None where glmnet is not installed."""
    if not versions()["glmnet"]:
        return None
    if _running and _running[0].process.poll() is not None:
        end_session()
    if not _running:
        _running.append(Session())
    return _running[0]


def end_session() -> None:
    """End the session of this process if there is one."""
    while _running:
        _running.pop().close()


# Not atexit, which worker processes leave out.
Finalize(None, end_session, exitpriority=10)


@cache
def versions() -> dict[str, str | None]:
    """Return the versions of R and glmnet, None where they are not installed."""
    nothing: dict[str, str | None] = {"R": None, "glmnet": None}
    if shutil.which("Rscript") is None:
        return nothing
    question = "cat(as.character(getRversion()), as.character(packageVersion('glmnet')), requireNamespace('Matrix'))"
    try:
        done = subprocess.run(
            ["Rscript", "--vanilla", "-e", question], capture_output=True, text=True, timeout=START_LIMIT, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return nothing
    return dict(zip(("R", "glmnet"), done.stdout.split(), strict=False))
