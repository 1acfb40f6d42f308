"""The check by prediction: a step returns a new record, and results do not depend on the order of steps."""

import numpy as np
import pytest

from isinglass import Method, as_table, simulate
from isinglass.select.folds import split_rows
from isinglass.select.prediction_check import PredictionCheck
from isinglass.select.scoring import edge_price
from isinglass.select.stage_search import first_stage, second_stage
from isinglass.select.task import Task

X = simulate.exact_sample(simulate.chain_network(6, strength=0.8, fields="balanced"), 200, random_state=2)


@pytest.fixture(scope="module")
def check():
    task = Task(as_table(X))
    price = edge_price(task.table, 0.25)
    first = first_stage(task).search(30)
    second = second_stage(task, first.solution, 1.0, price).search()
    folds = split_rows(task.table, None, 3, np.random.default_rng(0))
    return PredictionCheck.of(task, folds, price, 0.95, first, second)


def gains(check):
    return [stage.held_out for stage in check.stages]


def test_a_step_leaves_the_record_as_it_was(check):
    first, second = check.stages
    judged = check.judge({0: [first.index], 1: [second.index]})
    assert np.isnan(np.concatenate(gains(check))).all()
    assert np.isfinite(gains(judged)[0][first.index])
    assert (~np.isnan(np.concatenate(gains(judged)))).sum() == 2
    assert judged.judge({0: [first.index]}) is judged  # nothing is judged twice


def test_the_order_of_steps_does_not_matter(check):
    first, second = check.stages
    together = check.judge({0: [first.index], 1: [second.index]})
    one = check.judge({0: [first.index]}).judge({1: [second.index]})
    other = check.judge({1: [second.index]}).judge({0: [first.index]})
    for each in (one, other):
        for found, expected in zip(gains(each), gains(together), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_a_verdict_is_the_same_again(check):
    one, two = check.decide(), check.decide()
    assert (one.number, one.index, one.reason) == (two.number, two.index, two.reason)
    assert [stage.held_out.tobytes() for stage in one.stages] == [stage.held_out.tobytes() for stage in two.stages]


def test_pairs_without_a_penalty_stay_where_nothing_predicts():
    weights = np.ones((4, 4))
    weights[0, 1] = weights[1, 0] = 0.0
    fit = Method(penalty_weights=weights).fit(np.random.default_rng(0).integers(0, 2, (40, 4)))
    assert fit.selection.stages.reason == "empty"
    assert fit.network.edge_index.tolist() == [[0, 1]]
    assert "without edges. The network therefore has only pairs that were not penalized." in fit.methods_text()
