"""The search along a path: it finds the best alpha whatever the count, and stops before the dense end."""

from dataclasses import replace

import numpy as np
import objectives as objective
import pytest

from isinglass import as_table, simulate
from isinglass.errors import DataError
from isinglass.select import PathSettings, TwoStage
from isinglass.select.scoring import EdgePrice
from isinglass.select.stages import Descent, Scored, StageSearch
from isinglass.select.task import LOOSE, Task
from isinglass.solve.exact_likelihood import exact_alpha_max
from isinglass.solve.nodewise import nodewise_alpha_max

X = simulate.exact_sample(simulate.chain_network(6, strength=1.0, fields="balanced"), 400, random_state=3)
WIDE = simulate.gibbs_sample(simulate.random_network(40, 0.1, random_state=0), 300, random_state=0)
TOP = objective.alpha_max(X)
GRID = Descent("here", 0.9, stride=1, floor=1e-4, ends_at_rise=False, usual_steps=20)


def search_by(score_of, task=None, grid=GRID):
    """Return the search of a task by a function that scores networks."""

    class Search(StageSearch):
        def score(self, solution):
            return score_of(solution)

    return Search(task or Task(as_table(X)), EdgePrice(0.0, 0.0), grid)


def search(task, alphas, score, grid):
    """Search by a score in which edges have no price."""
    return search_by(lambda solution: Scored(solution, score(solution)), task, grid).search(alphas)


def bowl(target):
    """Return a smooth criterion with its minimum at one alpha."""
    return lambda solution: (np.log(solution.alpha) - np.log(target)) ** 2


@pytest.mark.parametrize("count", [2, 5, 20, 30, 50, 100, 1000])
@pytest.mark.parametrize("steps", [0, 1, 17, 60])
def test_the_count_does_not_matter(count, steps):
    target = TOP * 0.9**steps
    found = search(Task(as_table(X)), count, bowl(target), GRID)
    assert found.path[found.index].alpha == pytest.approx(target, rel=1e-12)
    assert found.scores[found.index] == found.scores.min()
    assert (np.diff(found.path.alphas) < 0).all()
    assert found.path.tol == LOOSE
    assert max(solution.kkt_residual for solution in found.path) <= LOOSE
    assert found.path[found.index].kkt_residual <= 1e-7  # what is returned is solved in full


@pytest.mark.parametrize("alphas", [30, [0.2, 0.01, 0.05]])
def test_every_network_is_judged_once_and_keeps_its_score(alphas):
    judged = []

    def score_of(solution):
        judged.append(solution)
        return Scored(solution, bowl(0.1 * TOP)(solution) + 0.5 * solution.n_edges)

    found = search_by(score_of).search(alphas)
    assert len({id(solution) for solution in judged}) == len(judged)
    assert {id(solution) for solution in found.path} <= {id(solution) for solution in judged}
    assert found.scores.tolist() == [bowl(0.1 * TOP)(solution) + 0.5 * solution.n_edges for solution in found.path]


def test_the_choice_is_solved_in_full_where_that_makes_another_one_the_best():
    def score_of(solution):
        worse = 0.1 if solution.kkt_residual <= 1e-7 else 0.0
        return Scored(solution, bowl(0.1 * TOP)(solution) + worse)

    found = search_by(score_of).search(30)
    assert found.path[found.index].kkt_residual <= 1e-7


def test_the_dense_end_is_not_visited():
    target = 0.3 * objective.alpha_max(WIDE)
    found = search(Task(as_table(WIDE)), 30, bowl(target), GRID)
    assert found.path.alphas.min() > 0.5 * 0.3 * objective.alpha_max(WIDE) * 0.8
    assert found.path[-1].n_edges < 0.6 * 780


@pytest.mark.parametrize(
    ("gain", "rise", "ends_at_rise", "n_after"),
    [(50.0, 1e-3, True, 1), (50.0, 1e3, False, 7), (0.0, 1e3, False, 1), (0.0, 10.0, False, 7)],
)
def test_where_the_descent_ends(gain, rise, ends_at_rise, n_after):
    def criterion(solution):
        """Fall in ten steps, and rise with each step after that."""
        step = round(np.log(solution.alpha / TOP) / np.log(GRID.ratio))
        return -gain * min(step, 10) + rise * max(step - 10 * (gain > 0), 0)

    found = search(Task(as_table(X)), 1000, criterion, replace(GRID, ends_at_rise=ends_at_rise))
    assert found.index == (10 if gain else 0)
    assert len(found.path) == found.index + 1 + n_after  # 0.9 ** 7 < 0.5


@pytest.mark.parametrize(("steps", "is_found"), [(3, True), (4, False)])
def test_an_empty_network_is_believed_after_three_strides(steps, is_found):
    def criterion(solution):
        """Rise from the empty network, fall below it after some steps, and rise again."""
        step = round(np.log(solution.alpha / TOP) / np.log(GRID.ratio))
        return step - (steps + 1.0 if step >= steps else 0.0)

    found = search(Task(as_table(X)), 1000, criterion, replace(GRID, ends_at_rise=True))
    assert (found.solution.n_edges > 0) == is_found
    assert len(found.path) == (5 if is_found else 4)  # one after the best, or three after the empty network


def test_a_level_curve_ends_the_search():
    found = search(Task(as_table(X)), 30, lambda solution: -1.0 if solution.n_edges else 0.0, GRID)
    assert found.path.alphas.min() > 0.2 * TOP
    slow = search(Task(as_table(X)), 30, lambda solution: np.log(solution.alpha), GRID)
    assert slow.path[slow.index].alpha < 2e-4 * TOP  # it never stands still, so it goes to the floor


@pytest.mark.parametrize(("estimator", "alpha_max"), [("nodewise", nodewise_alpha_max), ("exact", exact_alpha_max)])
def test_paths_of_other_estimators_are_searched_too(estimator, alpha_max):
    top = alpha_max(X)
    found = search(Task(as_table(X), PathSettings(estimator)), 30, bowl(0.1 * top), GRID)
    assert found.path[found.index].alpha == pytest.approx(0.1 * top, rel=0.06)
    assert found.path[-1].alpha > 0.04 * top


def test_given_alphas_are_tried_as_they_are():
    found = search(Task(as_table(X)), [0.2, 0.01, 0.05], bowl(1e-3), GRID)
    assert found.path.alphas.tolist() == [0.2, 0.05, 0.01]
    assert found.index == 2
    assert search(Task(as_table(X)), 0.07, bowl(1.0), GRID).path.alphas.tolist() == [0.07]


def test_a_table_in_which_nothing_varies_together():
    constant = np.ones((5, 3), dtype=np.uint8)
    found = search(Task(as_table(constant)), 30, lambda solution: 0.0, GRID)
    assert [solution.n_edges for solution in found.path] == [0]


def test_a_count_that_is_none_is_refused():
    with pytest.raises(DataError, match="alphas must be a count"):
        TwoStage(alphas=0)
