import functools
import math

import numpy as np
import pytest
from choices import cross_validate

from isinglass import CrossValidation, Method, Path, Solution, TwoStage, as_table, ising_path, simulate
from isinglass.arguments import spawn_seeds
from isinglass.errors import DataError, GridEndWarning
from isinglass.select import CrossValidationChoice


def count_ones_path(table, alphas):
    """Fields of (1 + ones) / (2 + rows), scaled down by alpha: a path whose scores can be written down."""
    weight, X = table.unit_weight, np.asarray(table)
    share = (1 + weight @ X) / (2 + weight.sum())
    grid = [0.5, 0.25, 0.0] if isinstance(alphas, int) else sorted(alphas, reverse=True)
    p = X.shape[1]
    return Path(tuple(Solution.from_dense(a, np.zeros((p, p)), (1 - a) * np.log(share / (1 - share))) for a in grid))


TINY = np.array([[1, 0], [1, 1], [0, 1], [1, 0], [1, 1], [1, 0], [0, 0]])


def scores_by_hand(n_folds, random_state, weights):
    """Return held-out scores and fold weights by plain loops."""
    scores, held = [], []
    (seed,) = spawn_seeds(random_state, 1)
    for fold in np.array_split(np.random.default_rng(seed).permutation(len(TINY)), n_folds):
        train = [n for n in range(len(TINY)) if n not in fold]
        fold_scores = []
        for alpha in (0.5, 0.25, 0.0):
            total = 0.0
            for s in range(2):
                ones = sum(weights[n] for n in train if TINY[n, s])
                share = (1 + ones) / (2 + sum(weights[n] for n in train))
                q = 1 / (1 + math.exp(-(1 - alpha) * math.log(share / (1 - share))))
                total += sum(weights[n] * math.log(q if TINY[n, s] else 1 - q) for n in fold)
            fold_scores.append(total / sum(weights[n] for n in fold))
        scores.append(fold_scores)
        held.append(sum(weights[n] for n in fold))
    return np.array(scores), np.array(held, dtype=float)


@pytest.mark.parametrize("weights", [None, [1, 2, 1, 3, 1, 1, 2]])
def test_scores_by_hand(weights):
    # Rows are held out as a whole, counts or not.
    options = {"function": count_ones_path, "sample_weight": weights, "groups": range(7), "random_state": 5}
    found = cross_validate(TINY, n_folds=3, **options)
    scores, held = scores_by_hand(3, 5, weights or [1] * 7)
    np.testing.assert_allclose(found.scores, scores, rtol=1e-13)
    np.testing.assert_allclose(found.fold_weights, held)
    mean = [np.average(scores[:, k], weights=held) for k in range(3)]
    variance = [np.average((scores[:, k] - mean[k]) ** 2, weights=held) / 2 for k in range(3)]
    np.testing.assert_allclose(found.mean, mean, rtol=1e-13)
    np.testing.assert_allclose(found.standard_error, np.sqrt(variance), rtol=1e-12)
    assert found.path.alphas.tolist() == [0.5, 0.25, 0.0]
    assert found.index == found.mean.argmax()


def test_scores_of_the_real_path_by_hand():
    X = simulate.exact_sample(simulate.chain_network(3, strength=1.0), 40, random_state=0)
    found = cross_validate(X, alphas=[0.2, 0.05, 0.0], n_folds=4, random_state=1)
    (seed,) = spawn_seeds(1, 1)
    for k, fold in enumerate(np.array_split(np.random.default_rng(seed).permutation(40), 4)):
        path = ising_path(np.delete(X, fold, axis=0), [0.2, 0.05, 0.0])
        for a, point in enumerate(path):
            total = 0.0
            for row in X[fold]:
                for s in range(3):
                    logit = point.fields[s] + sum(point.couplings[s, t] * row[t] for t in range(3))
                    total -= math.log(1 + math.exp(-logit if row[s] else logit))
            assert found.scores[k, a] == pytest.approx(total / len(fold), rel=1e-7)


def test_one_standard_error_rule():
    path = ising_path([[0, 0], [0, 1], [1, 0], [1, 1]], [0.4, 0.3, 0.2, 0.1])

    def scored(*folds):
        return CrossValidationChoice(path, scores=np.array(folds), fold_weights=np.ones(len(folds)))

    # Means −4, −2.15, −2.1, −2.15; the best is number 2, its standard error sqrt(0.1² / (2 − 1)).
    found = scored([-4.0, -2.1, -2.0, -2.1], [-4.0, -2.2, -2.2, -2.2])
    np.testing.assert_allclose(found.mean, [-4, -2.15, -2.1, -2.15])
    assert found.standard_error[2] == pytest.approx(0.1)
    assert (found.best("best"), found.best("1se")) == (2, 1)
    assert scored([-3.0, -2.05, -1.9, -3.0], [-3.0, -2.05, -2.1, -3.0]).best("1se") == 1
    assert scored([-3.0, -2.15, -1.9, -3.0], [-3.0, -2.15, -2.1, -3.0]).best("1se") == 2


@pytest.fixture(scope="module")
def table():
    return simulate.exact_sample(simulate.chain_network(6, strength=1.5, fields="balanced"), 300, random_state=3)


def test_choice_and_rules(table):
    best = cross_validate(table, alphas=20, n_folds=5, random_state=0)
    sparse = cross_validate(table, alphas=20, n_folds=5, rule="1se", random_state=0)
    assert best.scores.tobytes() == sparse.scores.tobytes()
    assert (best.index, sparse.index) == (best.best("best"), best.best("1se"))
    assert sparse.alpha > best.alpha
    assert sparse.solution.n_edges <= best.solution.n_edges
    assert f"alpha={best.alpha:.6g}, number {best.index + 1} of {len(best.path)}, " in repr(best)
    assert best.solution is best.path[best.index]
    truth = {(k, k + 1) for k in range(5)}
    assert truth <= {tuple(pair) for pair in best.solution.edge_index.tolist()}


def test_identical_bits_for_any_number_of_jobs(table):
    run = functools.partial(cross_validate, table, alphas=8, n_folds=4, random_state=7)
    one, two = run(n_jobs=1), run(n_jobs=2)
    assert one.scores.tobytes() == two.scores.tobytes()
    assert one.index == two.index


def test_seeds(table):
    run = functools.partial(cross_validate, table, alphas=[0.1, 0.02, 0.01, 0.0], n_folds=3)
    assert run(random_state=1).scores.tobytes() == run(random_state=1).scores.tobytes()
    assert run(random_state=1).scores.tobytes() != run(random_state=2).scores.tobytes()
    generator = np.random.default_rng(0)
    assert run(random_state=generator).scores.tobytes() != run(random_state=generator).scores.tobytes()


def test_column_that_is_constant_in_a_training_part():
    X = simulate.exact_sample(simulate.chain_network(3, fields="balanced"), 60, random_state=0)
    X = np.column_stack([X, np.zeros(60, dtype=np.uint8)])
    X[17, 3] = 1  # the part without row 17 sees zeros only
    found = cross_validate(X, alphas=[0.5, 0.1, 0.05, 0.01, 0.0001], n_folds=5, random_state=0)
    assert np.isfinite(found.scores).all()


def test_zero_weights_are_never_held_out(table):
    weights = np.r_[np.ones(200), np.zeros(100)]
    found = cross_validate(table, alphas=[0.1, 0.02, 0.0], n_folds=4, sample_weight=weights, random_state=0)
    alone = cross_validate(table[:200], alphas=[0.1, 0.02, 0.0], n_folds=4, random_state=0)
    np.testing.assert_allclose(found.scores, alone.scores, rtol=1e-7)
    assert found.fold_weights.tolist() == [50.0] * 4


def test_any_estimator(table):
    found = cross_validate(table, alphas=10, n_folds=3, estimator="nodewise", random_state=0)
    assert found.scores.shape == (3, 10)


def test_dense_end_is_reported(table):
    with pytest.warns(GridEndWarning, match="dense end"):
        cross_validate(table, alphas=[0.3, 0.2], n_folds=3, random_state=0)


def test_checkpoint_resumes_and_refuses(table, tmp_path):
    file = tmp_path / "cv.npz"
    run = functools.partial(cross_validate, table, n_folds=3, checkpoint=file)
    first = run(alphas=[0.1, 0.02, 0.0], random_state=0)
    changed = file.stat().st_mtime_ns
    assert run(alphas=[0.1, 0.02, 0.0], random_state=0).scores.tobytes() == first.scores.tobytes()
    assert file.stat().st_mtime_ns == changed  # nothing was computed again
    with pytest.raises(DataError, match="differs in random_state"):
        run(alphas=[0.1, 0.02, 0.0], random_state=1)
    with pytest.raises(DataError, match=r"differs in paths\.penalty_weights"):
        run(alphas=[0.1, 0.02, 0.0], random_state=0, penalty_weights="standardized")


def test_given_splits_are_used_and_random_ones_can_be_given(table):
    options = {"alphas": [0.1, 0.02, 0.0]}
    random = cross_validate(table, n_folds=3, random_state=4, **options)
    (seed,) = spawn_seeds(4, 1)
    folds = np.array_split(np.random.default_rng(seed).permutation(len(table)), 3)
    splits = [(np.setdiff1d(np.arange(len(table)), f), np.sort(f)) for f in folds]
    given = cross_validate(table, splits=splits, **options)
    assert given.scores.tobytes() == random.scores.tobytes()
    assert given.fold_weights.tolist() == random.fold_weights.tolist()


def test_splits_leave_out_rows_of_weight_zero():
    weights = [0, 1, 2, 1, 1, 1, 0]
    found = cross_validate(
        TINY,
        splits=[([0, 1, 2, 6], [3, 4, 6]), ([3, 4], [0, 1, 5])],
        function=count_ones_path,
        sample_weight=weights,
    )
    assert found.fold_weights.tolist() == [2.0, 2.0]
    fewer = cross_validate(
        TINY[1:6],
        splits=[([0, 1], [2, 3]), ([2, 3], [0, 4])],
        function=count_ones_path,
        sample_weight=weights[1:6],
    )
    np.testing.assert_allclose(found.scores, fewer.scores, rtol=1e-14)


def test_a_checkpoint_of_other_groups_is_refused(table, tmp_path):
    options = {"n_folds": 3, "checkpoint": tmp_path / "cv.npz"}
    cross_validate(table, groups=np.arange(len(table)) // 2, **options)
    with pytest.raises(DataError, match="differs in groups"):
        cross_validate(table, groups=np.arange(len(table)) // 3, **options)


def test_words_of_folds_that_are_given_or_not_used_have_no_seed():
    assert TwoStage(keep=0).words == "two-stage, gamma 0.25, no check by prediction"
    assert TwoStage().words == "two-stage, gamma 0.25, 5 folds, seed 0"
    assert CrossValidation(splits=[([0], [1]), ([1], [0])]).words == 'cross-validation, given folds, rule "best"'
    assert CrossValidation().words == 'cross-validation, 10 folds, rule "best", seed 0'


def test_given_folds_are_refused_where_rows_have_copies():
    """They would count rows of the completed table, whose copies of one row would be on both sides."""
    holes = np.array([[0, 1], [1, np.nan], [1, 1], [0, 0], [1, 0], [0, 1], [1, 1]])
    splits = [([0, 1, 2], [3, 4, 5, 6]), ([3, 4, 5, 6], [0, 1, 2])]
    method = Method(selector=CrossValidation(alphas=[0.1], splits=splits))
    with pytest.raises(DataError, match="because copies of a row must stay together"):
        method.fit(as_table(holes, missing="impute"))


def test_a_checkpoint_of_other_splits_is_refused(tmp_path):
    options = {"function": count_ones_path, "checkpoint": tmp_path / "cv.npz"}
    cross_validate(TINY, splits=[([0, 1], [2]), ([2], [0, 1])], **options)
    with pytest.raises(DataError, match="differs in random_state"):
        cross_validate(TINY, splits=[([0, 1], [3]), ([2], [0, 1])], **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"splits": 3}, r"splits must be pairs of row numbers, .*; got 3\. Pass list\(splitter.split\(X\)\)"),
        ({"splits": [([0, 1], [2])]}, "folds must be at least 2 pairs; got 1"),
        ({"splits": [([0, 1], [2]), ([0, 1], [7])]}, "row numbers from 0 to 6, .* got others in pair 1"),
        ({"splits": [([0, 1], [2]), ([0, 1], [-1])]}, "row numbers from 0 to 6, .* got others in pair 1"),
        ({"splits": [([0.0, 1.0], [2]), ([0, 1], [2])]}, "row numbers from 0 to 6, .* got others in pair 0"),
        ({"splits": [([0, 1], [2]), ([0, 1], np.empty(0, int))]}, "got others in pair 1"),
        ({"splits": [([0], [2]), ([1], [2])], "sample_weight": [0, 1, 1, 1, 1, 1, 1]}, "got others in pair 0"),
        (
            {"splits": [([0, 1], [2]), ([0, 1, 2], [2, 1])]},
            "must not hold out training rows; got some of them in pair 1",
        ),
        ({"n_folds": 1}, "n_folds must be an integer of at least 2"),
        ({"n_folds": 8}, "n_folds must be at most the number of rows with a positive weight \\(7\\)"),
        ({"rule": "2se"}, 'rule must be one of "best", "1se"'),
        ({"n_folds": 7, "sample_weight": [0, 1, 1, 1, 1, 1, 1]}, r"\(6\)"),
        ({"random_state": "x"}, "random_state must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(DataError, match=message):
        cross_validate(TINY, function=count_ones_path, **({"n_folds": 3} | options))


def test_folds_of_groups_are_counted_in_groups():
    with pytest.raises(DataError, match=r"n_folds must be at most the number of groups \(2\); got 3"):
        cross_validate(np.eye(8), groups=[0, 1] * 4, n_folds=3)
