"""The check by prediction: nothing is scored twice, and results do not depend on the order of steps."""

import numpy as np
import pytest

from isinglass import Method, as_table, simulate
from isinglass.select.folds import split_rows
from isinglass.select.prediction_check import PredictionCheck
from isinglass.select.scoring import edge_price
from isinglass.select.stages import first_stage, second_stage
from isinglass.select.task import Task

X = simulate.exact_sample(simulate.chain_network(6, strength=0.8, fields="balanced"), 200, random_state=2)


@pytest.fixture(scope="module")
def start():
    """Return a function that begins a check in which nothing is scored yet."""
    task = Task(as_table(X))
    price = edge_price(task.table, 0.25)
    first = first_stage(task).search(30)
    second = second_stage(task, first.solution, 1.0, price).search()
    folds = split_rows(task.table, None, 3, np.random.default_rng(0))
    return lambda: PredictionCheck(task, folds, price, 0.95, first, second)


def test_networks_are_scored_once(start):
    check, (first, second) = start(), start().stages
    check.score([(0, first.index), (1, second.index)])
    assert check.held_out.gains.keys() == {(0, first.index), (1, second.index)}
    assert np.isfinite(list(check.held_out.gains.values())).all()
    fits = check.held_out.fits
    check.score([(0, first.index)])
    assert check.held_out.fits is fits


def test_the_order_of_steps_does_not_matter(start):
    one, two = [(0, start().stages[0].index)], [(1, start().stages[1].index)]
    checks = [start() for _ in range(3)]
    for check, order in zip(checks, ([one + two], [one, two], [two, one]), strict=True):
        for step in order:
            check.score(step)
    assert checks[0].held_out.gains == checks[1].held_out.gains == checks[2].held_out.gains


def test_pairs_without_a_penalty_stay_where_nothing_predicts():
    weights = np.ones((4, 4))
    weights[0, 1] = weights[1, 0] = 0.0
    fit = Method(penalty_weights=weights).fit(np.random.default_rng(0).integers(0, 2, (40, 4)))
    assert fit.selection.stages.reason == "empty"
    assert fit.network.edge_index.tolist() == [[0, 1]]
    assert "without edges. The network therefore has only pairs that were not penalized." in fit.methods_text()
