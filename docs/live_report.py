"""The report on the Senate that the documentation embeds and photographs."""

from pathlib import Path

import numpy as np

from isinglass import as_table, ising_path
from isinglass.datasets import load_senate109
from isinglass.show.report import write_report

PARTIES = {"R": "Republican", "D": "Democrat", "I": "Independent"}


def write_senate(file: Path) -> None:
    """Write the report on the Senate at the paper's alpha, on a path of 50 others."""
    senate = load_senate109()
    votes = as_table(senate.X, names=senate.names)
    grid = ising_path(votes, 50, alpha_min_ratio=0.05).alphas
    path = ising_path(votes, np.append(grid, 0.06))
    selected = int(np.flatnonzero(path.alphas == 0.06)[0])
    write_report(
        path[selected],
        file,
        path=path,
        X=votes,
        groups=[PARTIES[party] for party in senate.parties],
        group_colors={"Republican": "red", "Democrat": "blue", "Independent": "green"},
        title="Who votes with whom: the U.S. Senate in 2006",
        settings={"method": "joint pseudo-likelihood", "tol": path.tol, "missing votes": "counted as nay"},
        command="python docs/make_screenshots.py",
    )
