import warnings

import numpy as np
import pytest

from isinglass import Network, Path, Solution, ising_path, simulate
from isinglass.data import as_table
from isinglass.errors import GridEndWarning
from isinglass.select import scoring as choice


def solution(alpha, n_edges):
    couplings = np.zeros((4, 4))
    couplings[np.triu_indices(4, 1)] = np.arange(6) < n_edges
    return Solution.from_dense(alpha, couplings + couplings.T, np.zeros(4))


def test_row_scores_are_the_models():
    model = simulate.random_network(6, 0.5, random_state=0)
    X = simulate.exact_sample(model, 30, random_state=1)
    network = Solution.from_dense(0.1, model.couplings, model.fields)
    np.testing.assert_allclose(choice.row_scores(network, X), model.log_pseudolikelihood(X), rtol=1e-13)
    parts = sum(choice.row_scores(network, X, np.array([column])) for column in range(6))
    np.testing.assert_allclose(parts, model.log_pseudolikelihood(X), rtol=1e-13)


@pytest.mark.parametrize("kinds", ["ordinal", "nominal", "binary"])
def test_scores_of_a_path_are_those_of_its_networks(kinds, monkeypatch):
    X = np.random.default_rng(2).integers(0, 2 if kinds == "binary" else 3, (40, 5))
    path = ising_path(X, 6, kinds=kinds)
    table = as_table(X, kinds=kinds)
    expected = [choice.row_scores(solution, table) for solution in path]
    monkeypatch.setattr(choice, "CELLS_AT_ONCE", 1500)  # several networks at a time, not all
    np.testing.assert_allclose(choice.path_scores(path.solutions, table), expected, rtol=1e-12)


def test_row_scores_do_not_overflow():
    model = Network.from_couplings([[0, 1e4], [1e4, 0]], [-5e3, -5e3])
    network = Solution.from_dense(0.0, model.couplings, model.fields)
    assert choice.row_scores(network, np.array([[0, 1]], dtype=np.uint8)).tolist() == [-1e4]


@pytest.mark.parametrize(
    ("grid", "index", "end"),
    [
        ([(0.3, 0), (0.2, 1), (0.1, 2)], 1, None),
        ([(0.3, 0), (0.2, 1), (0.1, 2)], 2, "dense"),
        ([(0.3, 1), (0.2, 1), (0.1, 2)], 0, "sparse"),
        ([(0.3, 0), (0.2, 1), (0.1, 2)], 0, None),  # empty: every larger alpha gives the same
        ([(0.3, 0), (0.2, 1), (0.0, 2)], 2, None),  # nothing below 0
        ([(0.3, 2)], 0, None),  # no choice
    ],
)
def test_warning_at_the_ends(grid, index, end):
    path = Path(tuple(solution(*point) for point in grid))
    if end is None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            choice.warn_at_grid_end(path, index, "EBIC")
        return
    with pytest.warns(GridEndWarning, match=f"EBIC choice alpha=0.[13] is the {end} end"):
        choice.warn_at_grid_end(path, index, "EBIC")
