"""The default estimate: what it chooses, that it proves it, and that it has an answer for every table."""

import itertools
import pickle
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import objectives as objective
import pytest
from choices import cross_validate, gain, select_ebic, stars, two_stage
from networks import make_table, refit_edges

from isinglass import (
    EBIC,
    IsingNetwork,
    Method,
    Run,
    Solution,
    TwoStage,
    as_table,
    bootstrap,
    ising_path,
    refit,
    simulate,
)
from isinglass.data import Table
from isinglass.data.parts.read_parts import cut_into_parts
from isinglass.errors import ConstantColumnWarning, DataError, DataWarning, suppress_warnings
from isinglass.select import ebic, stages
from isinglass.select.progress import tell
from isinglass.select.scoring import prediction_scores
from isinglass.select.stages import Scored, Stage, StageSearch
from isinglass.select.task import LOOSE, Task

CHAIN = simulate.chain_network(8, strength=1.2, fields="balanced")
X = simulate.exact_sample(CHAIN, 1500, random_state=1)


def spread_thin(n_rows, n_columns, seed=0):
    """Return rows that depend on a few hidden traits: every pair is a little dependent, none strongly."""
    rng = np.random.default_rng(seed)
    traits, loadings = rng.normal(size=(n_rows, 8)), rng.normal(size=(8, n_columns)) * 0.7
    return (rng.random((n_rows, n_columns)) < 1 / (1 + np.exp(-traits @ loadings))).astype(np.uint8)


# ------------------------------------------------------------------------------------------- what it chooses


def test_finds_the_network_with_couplings_that_are_hardly_shrunken():
    found = two_stage(X)
    assert found.reason == "ebic"
    assert (found.solution.couplings != 0).tolist() == (CHAIN.couplings != 0).tolist()
    free = refit(X, found.solution)
    plain = select_ebic(X).solution
    values, best = np.abs(found.solution.edge_values), np.abs(free.edge_values)
    assert (values > 0.9 * best).all()
    s, t = found.solution.edge_index.T
    assert (np.abs(plain.couplings[s, t]) < 0.9 * best).all()


def test_every_stage_is_the_optimum_it_says():
    found = two_stage(X)
    first, second = found.stages
    assert (first.criterion, second.criterion) == ("aic", "ebic")
    assert objective.kkt_residual(X, first.solution.couplings, first.solution.fields, first.solution.alpha) < 1e-6
    weights = np.full((8, 8), np.inf)
    s, t = first.solution.edge_index.T
    weights[s, t] = weights[t, s] = 1.0 / np.abs(first.solution.edge_values)
    for solution, least in ((second.solution, 1e-6), (second.path[3], 1e-4)):  # the others are only compared
        residual = objective.kkt_residual(
            X, solution.couplings, solution.fields, solution.alpha, penalty_weights=weights
        )
        assert residual < least
        assert solution.converged


def test_the_scores_are_aic_and_ebic():
    found = two_stage(X, gamma=0.5)
    first, second = found.stages
    np.testing.assert_allclose(second.scores, ebic(X, second.path, gamma=0.5), rtol=1e-9)
    price = 2 * (np.log(len(X)) + 2 * 0.5 * np.log(7))
    plain = ebic(X, first.path, gamma=0.5) - first.path.n_edges * price
    np.testing.assert_allclose(first.scores, plain + 4.0 * first.path.n_edges, rtol=1e-9)
    assert first.index == first.scores.argmin()
    assert second.index == second.scores.argmin()


def test_the_folds_that_there_were_are_named():
    assert "30 folds" in Method(selector=TwoStage(n_folds=400)).fit(X[:30]).facts()["Penalty"]
    with pytest.warns(DataWarning, match="not checked by prediction, which needs two rows or groups"):
        alone = Method().choose(X, groups=np.zeros(len(X)))
    assert alone.n_folds == 0
    noise = Method().fit(np.tile([[0, 0], [0, 1], [1, 0], [1, 1]], (50, 1)))  # without edges, nothing is checked
    assert "no check by prediction" in noise.facts()["Penalty"]
    assert "no check by prediction" in repr(noise)


def test_held_out_gains_are_those_of_a_slow_twin():
    found = two_stage(X, n_folds=3, random_state=5)
    first, second = found.stages
    parts = np.array_split(np.random.default_rng(5).permutation(len(X)), 3)
    gains, base = 0.0, 0.0
    for part in parts:
        train = np.delete(X, part, axis=0)
        lasso = ising_path(train, [first.solution.alpha])[0]
        weights = np.full((8, 8), np.inf)
        s, t = lasso.edge_index.T
        weights[s, t] = weights[t, s] = 1.0 / np.abs(lasso.edge_values)
        again = ising_path(train, [second.solution.alpha], penalty_weights=weights)[0]
        for row in X[part].astype(float):
            eta = again.fields + again.couplings @ row
            gains -= np.logaddexp(0.0, (1 - 2 * row) * eta).sum()
            ones = train.sum(axis=0)
            fields = np.log((ones + 0.5) / (len(train) - ones + 0.5))
            base -= np.logaddexp(0.0, (1 - 2 * row) * fields).sum()
    assert second.held_out[second.index] == pytest.approx((gains - base) / len(X), rel=1e-4)  # solved loosely


def test_where_dependence_is_spread_thin_the_network_must_still_predict():
    table = spread_thin(850, 30)
    train, test = table[:250], table[250:]
    alone, found = two_stage(train, keep=0), two_stage(train)
    assert (alone.reason, found.reason) == ("ebic", "prediction")
    assert found.solution.n_edges > alone.solution.n_edges

    def score(solution):
        eta = solution.fields + test @ solution.couplings
        return -np.logaddexp(0.0, (1.0 - 2.0 * test) * eta).sum(axis=1).mean()

    independent = score(ising_path(train, 1)[0])
    best = max(score(solution) for solution in ising_path(train, 50))
    assert score(found.solution) - independent > 0.9 * (best - independent)
    assert score(alone.solution) - independent < 0.9 * (best - independent)
    gains = np.concatenate([stage.held_out for stage in found.stages])
    chosen = found.stages[found.stage].held_out[found.index]
    assert chosen >= 0.95 * np.nanmax(gains)
    assert found.solution.kkt_residual <= 1e-7  # whichever it is, it is solved in full
    assert found.solution is found.stages[found.stage].path.solutions[found.index]


@pytest.mark.parametrize(("seed", "reason"), [(8, "ebic"), (90, "ebic"), (4, "prediction")])
def test_no_network_that_the_check_computes_has_a_smaller_ebic_than_the_choice(seed, reason):
    """The EBIC rises where edges enter that are shrunken, and may be smaller beyond the end of the search."""
    rng = np.random.default_rng(seed)
    trait = np.outer(rng.normal(size=90), [0.7] * 5 + [0.0] * 2)
    table = (rng.normal(size=(90, 7)) + trait > 0.3).astype(np.uint8)
    found, unchecked = two_stage(table), two_stage(table, keep=0)
    second, short = found.stages[1], unchecked.stages[1]
    assert second.solution.alpha < stages.TURNED * short.solution.alpha
    assert second.scores == pytest.approx(ebic(table, second.path), rel=1e-6)
    assert second.scores[second.index] == second.scores.min() < short.scores.min()
    assert second.solution.kkt_residual <= 1e-7
    near = second.path.alphas[second.index - 1 : second.index + 2]
    assert near[1:] / near[:-1] == pytest.approx(stages.SECOND.ratio)  # as fine as in the search itself
    assert found.reason == reason
    assert (found.solution is second.solution) == (reason == "ebic")
    held_out = [stage.held_out[stage.index] for stage in found.stages[:2]]
    assert np.isfinite(held_out).all()  # it was checked in its turn


def one_factor(n_rows, n_columns, loading, seed=0):
    rng = np.random.default_rng(seed)
    noise = np.sqrt(1.0 - loading**2) * rng.normal(size=(n_rows, n_columns))
    return loading * rng.normal(size=(n_rows, 1)) + noise


@pytest.mark.long
def test_continuous_columns_with_thin_dependence_must_still_be_predicted():
    table = as_table(one_factor(1500, 30, 0.5), kinds="continuous")
    codes, variables = np.asarray(table), table.variables
    train = Table(codes[:150], variables)
    alone, found = two_stage(train, keep=0), two_stage(train)
    assert (alone.reason, found.reason) == ("ebic", "prediction")
    gains = [prediction_scores(codes[150:], one.solution.network, np.ones(1350)).mean() for one in (alone, found)]
    assert gains[1] > 1.2 * gains[0] > 0.0


def test_rare_steps_and_long_tails_do_not_overrule_the_ebic():
    strong = as_table(one_factor(30, 7, 0.8).round(1), kinds="continuous")  # most steps do not occur in a fold
    found = two_stage(strong)
    assert found.reason == "ebic"
    assert found.solution.n_edges >= 7
    with suppress_warnings(DataWarning):
        skewed = as_table(np.exp(1.2 * one_factor(150, 8, 0.7)), kinds="continuous")
    assert two_stage(skewed).reason == "ebic"


def test_no_edges_where_there_is_no_structure():
    rng, n_edges, n_pairs = np.random.default_rng(0), 0, 0
    for _ in range(10):
        p = int(rng.integers(5, 25))
        noise = (rng.random((int(rng.integers(500, 1500)), p)) < rng.uniform(0.1, 0.9, p)).astype(np.uint8)
        n_edges += two_stage(noise).solution.n_edges
        n_pairs += p * (p - 1) // 2
    assert n_edges <= 0.005 * n_pairs


@pytest.mark.parametrize("count", [20, 100])
def test_the_number_of_alphas_does_not_matter(count):
    table = simulate.gibbs_sample(simulate.random_network(20, 0.2, random_state=2), 800, burn_in=500, random_state=2)
    one, other = two_stage(table, alphas=count).solution, two_stage(table).solution
    assert other.n_edges > 10
    assert one.edge_index.tolist() == other.edge_index.tolist()


# ------------------------------------------------------------------------------------------- rows and weights


def test_whole_weights_are_repeated_rows_up_to_the_folds():
    weight = np.random.default_rng(0).integers(0, 4, len(X)).astype(float)
    rows = np.repeat(np.arange(len(X)), weight.astype(int))
    by_weight = two_stage(X, sample_weight=weight, keep=0)
    repeated = two_stage(X[rows], keep=0)
    assert by_weight.solution.edge_index.tolist() == repeated.solution.edge_index.tolist()
    np.testing.assert_allclose(by_weight.solution.edge_values, repeated.solution.edge_values, atol=1e-6)
    weighted = Method(selector=TwoStage(keep=0)).fit(X, sample_weight=weight).refits.edge_errors
    np.testing.assert_allclose(weighted, Method(selector=TwoStage(keep=0)).fit(X[rows]).refits.edge_errors, rtol=1e-5)


def test_groups_stay_together():
    rows = np.sort(np.random.default_rng(0).integers(0, len(X), len(X)))
    apart, together = two_stage(X[rows]), two_stage(X[rows], groups=rows)
    leaked = apart.stages[0].held_out[apart.stages[0].index]
    honest = together.stages[0].held_out[together.stages[0].index]
    assert leaked > honest  # a row whose copy is in the training part is easier
    relabeled = two_stage(X[rows], groups=rows + 10_000)
    assert gain(relabeled) == gain(together)
    with pytest.raises(DataError, match="groups must have one entry per row"):
        two_stage(X, groups=[1, 2])


def test_jobs_and_threads_do_not_matter():
    one = two_stage(X, n_jobs=2)
    two = two_stage(X, n_threads=1)
    for stage, other in zip(one.stages, two.stages, strict=True):
        assert stage.scores.tobytes() == other.scores.tobytes()
        assert stage.held_out.tobytes() == other.held_out.tobytes()
    assert one.solution.edge_values.tobytes() == two.solution.edge_values.tobytes()


@pytest.mark.filterwarnings("ignore::isinglass.errors.GridEndWarning")
@pytest.mark.parametrize(
    "function",
    [
        lambda table, **more: two_stage(table, **more).solution,
        lambda table, **more: select_ebic(table, alphas=5, **more).solution,
        lambda table, **more: cross_validate(table, alphas=[0.2, 0.02], random_state=0, **more).solution,
        lambda table, **more: ising_path(table, [0.05], **more)[0],
        lambda table, **more: refit(table, ising_path(X, [0.1])[0], **more).solution,
        lambda table, **more: ising_path(
            table, [stars(table, alphas=[0.3, 0.12, 0.05], threshold=0.4, random_state=0, **more).alpha], **more
        )[0],
    ],
)
def test_a_table_brings_its_weights_along(function):
    weight = np.random.default_rng(1).random(len(X)) + 0.5
    weight /= weight.mean()
    carried = function(make_table(X, sample_weight=weight))
    given = function(X, sample_weight=weight)
    assert carried.edge_values.tobytes() == given.edge_values.tobytes()
    assert carried.edge_values.tobytes() != function(X).edge_values.tobytes()
    with pytest.raises(DataError, match="must not be given with a table that has its own weights"):
        function(make_table(X, sample_weight=weight), sample_weight=weight)


def test_it_can_be_resampled_and_pickled():
    found = bootstrap(X[:300], pickle.loads(pickle.dumps(Method())), n_boot=3, random_state=0)
    assert found.solution.edge_values.tobytes() == two_stage(X[:300]).solution.edge_values.tobytes()
    assert found.n_boot == 3


# ------------------------------------------------------------------------------------------- beside a similar table


@pytest.mark.parametrize("table", [X[:400], spread_thin(250, 30)], ids=["by EBIC", "by prediction"])
def test_what_is_chosen_does_not_depend_on_the_start(table):
    part = table[: len(table) * 4 // 5]
    fresh, warm = Method().choose(part), Method().choose(part, warm_start=two_stage(table).warm_start)
    assert (warm.reason, warm.alpha, warm.n_folds) == (fresh.reason, fresh.alpha, fresh.n_folds)
    assert warm.solution.edge_values.tobytes() == fresh.solution.edge_values.tobytes()


def test_kept_penalties_do_not_depend_on_the_start():
    whole = two_stage(X)
    kept, part = Method().at(whole), X[:1200]
    cold, warm = kept.choose(part).solution, kept.choose(part, warm_start=whole.warm_start).solution
    assert warm.edge_index.tolist() == cold.edge_index.tolist()
    np.testing.assert_allclose(warm.edge_values, cold.edge_values, atol=1e-5)


@pytest.mark.parametrize("keep", [None, 1.0])  # 1: the best prediction
def test_a_long_table_in_parts_is_searched_in_a_sample(monkeypatch, keep):
    table, method = cut_into_parts(np.asarray(X), None, 4000), Method(selector=TwoStage(keep=keep))
    whole = method.choose(table)
    assert whole.n_sampled == 0
    monkeypatch.setattr("isinglass.select.two_stage.MOST_SEARCHED", 800)
    sizes, search = [], StageSearch.search

    def note(stage, *given, **more):
        sizes.extend([] if stage.exponent else [len(stage.task.table)])
        return search(stage, *given, **more)

    monkeypatch.setattr(StageSearch, "search", note)
    found = method.choose(table)
    assert np.isfinite(found.evidence.values).all()
    assert sizes == [found.n_sampled, 1500]
    assert found.n_sampled == 750
    assert (found.n_folds, found.reason) == (5, whole.reason)
    for stage, other in zip(found.stages[:2], whole.stages, strict=False):  # of the lattice of the whole table
        assert stage.solution.alpha == pytest.approx(other.solution.alpha, rel=1e-5)
        assert stage.solution.kkt_residual <= 1e-7
        assert len(stage.path) < len(other.path)
    assert found.solution.kkt_residual <= 1e-7
    assert keep or found.solution.edge_index.tolist() == whole.solution.edge_index.tolist()
    said = method.fit(table).methods_text()
    assert "searched in a random sample of 750 rows, and then near those in all rows" in said
    assert "5-fold cross-validation of 750 sampled rows" in said
    with pytest.raises(DataError, match="groups cannot be given for a table in parts"):
        method.choose(table, groups=np.arange(1500))


@pytest.mark.parametrize("alpha", [0.0, 0.02])  # of its stage in the sample
def test_a_sample_that_chose_no_penalty_is_followed(alpha):
    found = two_stage(X)
    own, free = (Scored(Solution(found.solution.network, each), 0.0) for each in (alpha, 0.0))
    second = Stage((own, free), 1.0, LOOSE)
    sampled = replace(found, path=second.path, index=1, stages=(found.stages[0], second), stage=1, reason="prediction")
    selector, task = TwoStage(), Task(as_table(X))
    again = selector._conclude(task, selector._follow(task, sampled, 1.0))
    assert again.solution.converged
    assert again.solution.n_edges >= found.solution.n_edges


def test_short_parts_are_searched_whole(monkeypatch):
    table = cut_into_parts(np.asarray(X), None, 746 * X.shape[1])
    assert table.sizes == (746, 746, 8)
    monkeypatch.setattr("isinglass.select.two_stage.MOST_SEARCHED", 800)  # 4 rows of the last part for 5 folds
    found = two_stage(table)
    assert found.n_sampled == 0
    assert found.solution.n_edges > 0


@pytest.mark.parametrize("looks", [5, 30, 43, 51])  # in both stages of the sample, and in those of all rows
def test_a_time_that_is_spent_in_a_sample_or_after_it_is_said(monkeypatch, looks):
    table = cut_into_parts(np.asarray(X), None, 4000)
    monkeypatch.setattr("isinglass.select.two_stage.MOST_SEARCHED", 800)
    whole = two_stage(table)
    assert (whole.n_sampled, whole.left_out) == (750, ())
    late = iter([False] * looks)
    monkeypatch.setattr(Task, "is_late", property(lambda task: next(late, True)))
    found = two_stage(table)
    assert (found.reason, found.solution.n_edges > 0) == ("time", True)
    assert found.left_out == ("further networks",)
    assert found.solution.kkt_residual <= 1e-7


# ------------------------------------------------------------------------------------------- no more time


@pytest.mark.parametrize(
    ("looks", "number"),
    [(3, 0), (25, 1)],
)
def test_a_time_that_is_spent_leaves_the_best_so_far(monkeypatch, looks, number):
    asked = []
    monkeypatch.setattr(Task, "is_late", property(lambda task: len(asked) > looks or asked.append(0)))
    fit = Method(standard_errors=False).fit(X, run=Run(max_time=60))
    assert fit.selection.stages.number == number
    assert fit.selection.left_out == "further networks"
    assert fit.solution.kkt_residual <= 1e-7
    assert "Left out" in fit.summary()
    assert "the time limit was reached" in fit.summary()


@pytest.mark.parametrize("looks", [(60, 95), pytest.param(range(60, 120, 7), marks=pytest.mark.long)])
def test_the_check_is_cut_where_the_time_is_spent(looks):
    table = spread_thin(250, 30)
    whole = two_stage(table)
    assert whole.left_out == ()
    for n_looks in looks:
        late = iter([False] * n_looks)

        def is_late(task, late=late):
            return next(late, True)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Task, "is_late", property(is_late))
            found = two_stage(table)
        assert found.left_out or found.reason == whole.reason
        assert found.solution.kkt_residual <= 1e-7


@pytest.mark.parametrize(
    "table",
    [X, as_table(X[:400], kinds="ordinal"), cut_into_parts(np.asarray(X), None, 4000)],
    ids=["one after the other", "in threads", "in parts"],
)
def test_one_line_shows_stages_folds_and_steps_ahead(table, capsys, monkeypatch):
    told = []

    def listen(text, ahead):
        told.append((text, ahead))
        tell(text, ahead)

    monkeypatch.setattr(stages, "tell", listen)
    Method().choose(table, run=Run(progress=True, n_jobs=1, n_threads=2))
    text, ahead = told[0]
    assert text == "Stage 1, 0 edges"
    assert ahead > 30  # the rest of both stages, and the folds
    assert any(text.startswith("Stage 2, ") for text, _ in told)
    assert all(later < earlier for (_, earlier), (_, later) in pairwise(told) if earlier > 30)
    shown = capsys.readouterr().err
    assert "Cross-validation" in shown
    done, total = map(int, re.findall(r"(\d+)/(\d+)", shown)[-1])
    assert done == total == len(told) + 5


def test_time_is_for_two_stages_that_are_not_resumed():
    assert Method().fit(X, run=Run(max_time=1000)).selection.left_out == ""
    with pytest.raises(DataError, match="max_time must be a positive number of seconds"):
        Run(max_time=0)
    with pytest.raises(DataError, match="max_time must be left out where a checkpoint"):
        Run(max_time=1, checkpoint="here")
    with pytest.raises(DataError, match="max_time must be left out unless two stages choose the penalty"):
        Method(selector=EBIC()).fit(X, run=Run(max_time=1))


# ------------------------------------------------------------------------------------------- standard errors


def test_errors_are_those_of_the_refit():
    found = Method().fit(X)
    again = refit(X, found.solution)
    np.testing.assert_allclose(found.refits.edges, again.edge_values, rtol=1e-3)  # nearly free beside free
    np.testing.assert_allclose(found.refits.edge_errors, again.edge_errors, rtol=1e-3)
    assert np.isnan(Method(standard_errors=False).fit(X).refits.edge_errors).all()


def test_errors_are_unknown_exactly_where_the_estimate_is_infinite():
    table = np.column_stack(
        [X, X[:, 0], np.where(X[:, 3] == 1, X[:, 5], 0)]
    )  # a copy, and a column that implies another
    network = ising_path(table, [0.05])[0]
    values, errors = refit_edges(as_table(table), network)
    infinite = [tuple(pair) in {(0, 8), (3, 9), (5, 9)} for pair in network.edge_index.tolist()]
    assert sum(infinite) >= 2
    assert np.isnan(errors)[infinite].all()
    np.testing.assert_array_equal(np.isnan(values), np.isnan(errors))
    assert not np.isnan(errors)[~np.array(infinite)].all()


# ------------------------------------------------------------------------------------------- tables of every kind


@pytest.mark.filterwarnings("ignore::isinglass.errors.ConstantColumnWarning")
@pytest.mark.parametrize(
    "table",
    [
        np.zeros((10, 4)),
        np.ones((1, 3)),
        np.array([[0, 1], [1, 0]]),
        np.array([[0, 1, 1], [1, 0, 1]]),
        np.array([[0], [1], [1]]),
        np.zeros((1, 1)),
        np.repeat([[0, 0], [1, 1]], 30, axis=0),
        np.array([[0, 0], [0, 1], [1, 0], [1, 1]]),
        np.eye(6),
        np.tri(20, 30),
    ],
    ids=[
        "constant",
        "one row",
        "two rows",
        "two rows, a constant",
        "one column",
        "one cell",
        "copies",
        "independent",
        "identity",
        "triangle",
    ],
)
def test_every_table_has_a_finite_answer(table):
    found = two_stage(table)
    assert np.isfinite(found.solution.fields).all()
    assert np.isfinite(found.solution.edge_values).all()
    assert found.solution.network.n_features == table.shape[1]
    assert found.solution.converged
    net = IsingNetwork().fit(table)
    assert len(net.fit_.refits.edge_errors) == net.fit_.solution.n_edges == found.solution.n_edges


def test_copies_are_joined_where_rows_are_enough():
    assert two_stage(np.repeat([[0, 0], [1, 1]], 30, axis=0)).solution.edge_index.tolist() == [[0, 1]]


def test_a_constant_column_is_named_once():
    with pytest.warns(ConstantColumnWarning) as caught:
        two_stage(np.column_stack([X, np.zeros(len(X))]))
    assert len(caught) == 1


def test_alphas_by_hand():
    found = two_stage(X, alphas=[0.3, 0.1, 0.02])
    assert found.stages[0].path.alphas.tolist() == [0.3, 0.1, 0.02]
    assert len(found.stages[1].path) > 10
    assert two_stage(X, alphas=0.02).solution.n_edges == 7
    assert two_stage(X, alphas=[10.0]).reason == "empty"


def test_free_and_forbidden_pairs_stay_so():
    weights = np.ones((8, 8))
    weights[0, 1] = weights[1, 0] = np.inf
    weights[0, 7] = weights[7, 0] = 0.0
    found = two_stage(X, penalty_weights=weights)
    assert found.solution.couplings[0, 1] == 0.0
    assert found.solution.couplings[0, 7] != 0.0
    scaled = two_stage(X, penalty_weights=np.full((8, 8), 2.0))
    np.testing.assert_allclose(scaled.solution.couplings, two_stage(X).solution.couplings, atol=1e-6)


def numbers_and_answers(unit):
    """Two numbers, a scale from 0 to 4 in some unit, an answer that few give and one that is constant."""
    rng = np.random.default_rng(5)
    trait = rng.normal(size=400)
    scale = np.digitize(trait + rng.normal(size=400), [-1.5, -0.5, 0.5, 1.5])
    columns = [trait + rng.normal(size=400), scale, trait + rng.normal(size=400) > 2.0, np.zeros(400), trait]
    kinds = {0: "continuous", 1: "ordinal", 4: "continuous"}
    return as_table(np.column_stack(columns), kinds=kinds, scores={1: [unit * k for k in range(5)]})


def test_beside_numbers_stage_1_does_not_depend_on_units():
    """The penalty of a pair is α times 4 sd_s sd_t, which is α for two answers that half of the rows give."""
    with suppress_warnings(ConstantColumnWarning):
        plain, wide = (Method().choose(numbers_and_answers(unit)) for unit in (1.0, 16.0))
        table = numbers_and_answers(1.0)
        codes = np.asarray(table)
        sd = np.array([1.0, codes[:, 1].std(), codes[:, 2].std(), 0.5, 1.0])
        first = plain.stages[0].solution
        again = ising_path(table, [first.alpha], penalty_weights=4.0 * np.outer(sd, sd))[0]
    np.testing.assert_allclose(first.couplings, again.couplings, atol=1e-5)
    assert first.n_edges >= 3
    unit = np.array([1.0, 16.0, 1.0, 1.0, 1.0])
    for one, other in zip(plain.stages, wide.stages, strict=True):
        np.testing.assert_allclose(other.solution.couplings * np.outer(unit, unit), one.solution.couplings, atol=1e-5)


@pytest.mark.parametrize("stage", [0, 1])
def test_penalties_of_a_stage_beside_numbers_can_be_kept(stage):
    with suppress_warnings(ConstantColumnWarning):
        table = numbers_and_answers(1.0)
        found = Method().choose(table)
        chosen = found.stages[stage]
        kept = replace(found, path=chosen.path, index=chosen.index, stage=stage).fixed()
        given = {type(value) for value in kept.items().values() if value is not None}
        assert given == {float}  # their repr is that of plain numbers
        assert (kept.alpha is None) == (stage == 0)
        again = Method(selector=kept).choose(table).solution
    np.testing.assert_allclose(again.couplings, found.stages[stage].solution.couplings, atol=1e-5)


def test_penalties_are_rescaled_to_what_fewer_rows_would_choose():
    """A sixteenth of the rows: four times the noise, and sixteen times the penalty of stage 2."""
    model, ratios = simulate.random_network(10, 0.25, random_state=3), []
    method = Method(selector=TwoStage(keep=0.0))
    for seed in range(10):
        X = simulate.exact_sample(model, 16_000, random_state=seed)
        whole, part = method.choose(X), method.choose(X[:1000])
        kept = whole.fixed(4.0)
        ratios.append([kept.lasso / part.stages[0].solution.alpha, kept.alpha / part.alpha])
    assert np.abs(np.log(ratios).mean(axis=0)).max() < np.log(2.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keep": 1.5}, "keep must be from 0 to 1"),
        ({"gamma": -1}, "gamma must be finite and not negative"),
        ({"n_folds": 1}, "n_folds must be an integer of at least 2"),
        ({"alphas": []}, "alphas must be"),
        ({"alphas": [-1.0]}, "alphas must be finite and not negative"),
        ({"sample_weight": np.zeros(1500)}, "positive sum"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(DataError, match=message):
        two_stage(X, **options)


def test_repr_says_what_each_stage_chose():
    text = repr(two_stage(X))
    assert text.splitlines()[0] == "TwoStageChoice(7 edges among 8 nodes, by ebic)"
    assert "Stage(aic" in text
    assert "Stage(ebic" in text


def test_the_exact_likelihood_pays_once_for_an_edge():
    """Its criterion is −2 log L + |E| (log N + 2γ log(p − 1)), with log L summed over all states here."""
    chain = simulate.chain_network(8, strength=0.8, fields="balanced")
    table = simulate.exact_sample(chain, 250, random_state=4)
    found = Method("exact", TwoStage(keep=0)).choose(table)
    network, rows = found.solution.network, np.asarray(table, dtype=float)
    states = np.array(list(itertools.product([0.0, 1.0], repeat=8)))
    energy = [
        cells @ network.fields + ((cells @ network.couplings) * cells).sum(axis=1) / 2 for cells in (rows, states)
    ]
    log_likelihood = energy[0].sum() - len(rows) * np.log(np.exp(energy[1]).sum())
    price = np.log(250) + 2 * 0.25 * np.log(7)
    assert found.evidence.values[found.index] == pytest.approx(price * network.n_edges - 2 * log_likelihood, rel=1e-9)
    joint = Method("joint", TwoStage(keep=0)).choose(table).solution
    assert found.solution.edge_index.tolist() == joint.edge_index.tolist()
