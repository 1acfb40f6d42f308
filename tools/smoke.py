"""Use an installed wheel as a newcomer would: fit, certificate, files, command line. No network, no compiler."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import isinglass
from isinglass import IsingNetwork, ising_path
from isinglass.datasets import load_senate109

SOURCES = Path(__file__).resolve().parents[1] / "src"


def main() -> None:
    """Fail with a traceback at the first thing that does not work."""
    assert SOURCES not in Path(isinglass.__file__).resolve().parents, "this is the checkout, not the wheel"
    senate = load_senate109()
    (solution,) = ising_path(senate.X, [0.06])
    assert solution.converged
    assert solution.n_edges == 562
    network = IsingNetwork().fit(senate.X[:, :20])
    assert network.network_.n_edges > 0
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "votes.csv"
        np.savetxt(table, senate.X[:, :12], fmt="%d", delimiter=",", header=",".join("abcdefghijkl"), comments="")
        for arguments in (["--version"], ["fit", str(table), "-o", f"{folder}/net"]):
            subprocess.run([Path(sys.executable).with_name("isinglass"), *arguments], check=True, cwd=folder)
        assert (Path(folder) / "net" / "edges.csv").stat().st_size > 0
    sys.stdout.write(f"isinglass {isinglass.__version__} works: {Path(isinglass.__file__).parent}\n")


if __name__ == "__main__":
    main()
