"""What an adapter promises: say whether it can run, run, and hand back seconds and coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from problems import Problem


class SkippedError(Exception):
    """The rival cannot do this problem here; the message is the reason printed in the tables."""


@dataclass(frozen=True)
class Measurement:
    """Seconds and solutions of one rival on one problem.

    Parameters
    ----------
    times : list of float
        Seconds of the fit alone, taken inside the rival's process, first run discarded.
    setup_time : float
        Seconds from starting the process until its libraries are loaded.
    design_time : float
        Seconds to build the stacked design; 0 where none is needed.
    couplings : list of csr_array
        One matrix per alpha; not symmetric for node-wise methods.
    fields : ndarray of shape (n_alphas, n_features)
    version : str
    threads : str
    peak_bytes : float
        Peak resident memory of the rival's process, NaN where unknown.
    n_fitted : int
        Alphas the rival solved; it may end a path early, the rest repeats its last solution.
    certificate : ndarray of shape (3, n_alphas) or None
        Objective, gap and KKT residual as reported by the solver itself (ours only).
    """

    times: list[float]
    setup_time: float
    design_time: float
    couplings: list[sp.csr_array]
    fields: NDArray[np.float64]
    version: str
    threads: str = "1"
    peak_bytes: float = float("nan")
    n_fitted: int = 0
    certificate: NDArray[np.float64] | None = None

    @property
    def median(self) -> float:
        """Median seconds."""
        return float(np.median(self.times))


class Rival(Protocol):
    """One system at one setting."""

    name: str
    label: str
    nodewise: bool

    def available(self) -> str | None:
        """Return why it cannot run on this machine, or None."""

    def version(self) -> str:
        """Return what is installed; part of the key of cached results."""

    def run(self, problem: Problem, repeats: int, budget: float) -> Measurement:
        """Fit and measure; raise Skipped with the reason where the problem is out of reach."""
