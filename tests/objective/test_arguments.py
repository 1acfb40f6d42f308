"""What the objective takes for a network, and how it is shown."""

import numpy as np
import pytest

from isinglass import IsingLasso, Network, ising_path, objective
from isinglass.errors import DataError

X = np.random.default_rng(0).integers(0, 2, (60, 3)).astype(np.uint8)


def test_whatever_has_a_network_is_judged():
    problem, solution = objective.Objective(X), ising_path(X, [0.05])[0]
    network = Network.from_couplings(solution.couplings, np.zeros(3))
    for ask in (
        lambda source: problem.value(source, 0.05),
        lambda source: problem.gradient(source)[0].tolist(),
        lambda source: problem.edge_slopes(source).tolist(),
        lambda source: problem.kkt_residual(source, 0.05),
        lambda source: problem.duality_gap(source, 0.05),
        lambda source: problem.relative_gap(source, 0.05),
        lambda source: problem.optimum(0.05, source).n_edges,
    ):
        assert ask(solution) == ask(IsingLasso(0.05).fit(X)) == ask(solution.network)
        assert ask(solution.couplings) == ask(network)
    with pytest.raises(DataError, match="network must be a Network, a Solution"):
        problem.value("net")


def test_an_objective_shows_its_table():
    assert repr(objective.Objective(X)) == "Objective(60 rows, 3 columns)"
