"""A start that leads nowhere costs time, and no certificate."""

import numpy as np
import pytest

from isinglass import Method, Run, as_table
from isinglass.solve import path


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_copies_of_a_column_mislead_no_start(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    place = np.repeat(rng.normal(size=30), 5)
    height = np.round(40.0 * place + 450.0)
    others = rng.poisson(np.exp(place / 2.0)), np.repeat(np.arange(30), 5)
    table = as_table(np.column_stack([height, height - 450.0, *others]), kinds="continuous")
    solutions, follow = [], path._follow

    def noted(*arguments):
        for solution in follow(*arguments):
            solutions.append(solution)
            yield solution

    monkeypatch.setattr(path, "_follow", noted)
    Method().fit(table, run=Run(n_threads=1, n_jobs=1))
    assert len(solutions) > 20
    assert all(solution.converged for solution in solutions)
