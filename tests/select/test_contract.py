"""What selection asks of a path function."""

import functools

import numpy as np
import pytest

from isinglass import exact_path, ising_path, nodewise_path, objective
from isinglass.errors import DataError
from isinglass.select.contract import alpha_max_of, fixed_option, with_option
from isinglass.solve.published import baselines

X = np.random.default_rng(0).integers(0, 2, (60, 4), dtype=np.uint8)


@pytest.mark.parametrize("function", [ising_path, nodewise_path, exact_path, baselines.plg, baselines.bmn])
def test_every_path_function_knows_where_its_grid_starts(function):
    top = alpha_max_of(function)(X)
    assert function(X, [1.000001 * top])[0].n_edges == 0
    assert top == alpha_max_of(functools.partial(function, alpha_min_ratio=0.1))(X)


def test_fixed_options_reach_alpha_max():
    weights = 2.0 + np.zeros((4, 4))
    heavier = functools.partial(functools.partial(ising_path, penalty_weights=weights), tol=1e-9)
    assert alpha_max_of(heavier)(X) == pytest.approx(objective.alpha_max(X) / 2)


def test_no_alpha_max():
    with pytest.raises(DataError, match="must have an attribute alpha_max"):
        alpha_max_of(lambda X, alphas: None)


def test_options_are_set_where_there_is_such_a_parameter():
    assert with_option(ising_path, "n_threads", None) is ising_path
    assert with_option(ising_path, "n_threads", 1).keywords == {"n_threads": 1}
    assert with_option(baselines.plg, "n_threads", 1) is baselines.plg
    chosen = functools.partial(nodewise_path, n_threads=2)
    assert with_option(chosen, "n_threads", 1) is chosen
    assert with_option(np.add, "n_threads", 1) is np.add
    assert (fixed_option(chosen, "n_threads"), fixed_option(nodewise_path, "n_threads")) == (2, None)
