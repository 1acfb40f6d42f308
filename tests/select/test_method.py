"""A method is its settings: what it does with them, and that it prints, pickles and compares by them."""

import math
import pickle
import re
import subprocess
import sys
import warnings
from dataclasses import fields, replace

import numpy as np
import objectives as objective
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from isinglass import (
    EBIC,
    CrossValidation,
    Fixed,
    IsingLassoEBIC,
    Method,
    PerNode,
    Run,
    StARS,
    TwoStage,
    as_table,
    impute,
    ising_path,
    load,
    save,
)
from isinglass.errors import ConstantColumnWarning, DataError
from isinglass.select import SELECTORS, ImputationSettings, PathSettings, Selector
from isinglass.select.criteria import compare_criteria
from isinglass.select.method import as_method
from isinglass.select.task import Task
from isinglass.select.two_stage import FixedStages

X = np.random.default_rng(0).integers(0, 2, (60, 4), dtype=np.uint8)
EVERY = ("joint", "nodewise", "exact")


@pytest.mark.parametrize("estimator", EVERY)
def test_every_estimator_knows_where_its_grid_starts(estimator):
    task = Task(as_table(X), PathSettings(estimator))
    top = task.alpha_max()
    assert task.path([1.000001 * top])[0].n_edges == 0
    assert task.path([0.999 * top])[0].n_edges > 0


def test_penalty_weights_reach_alpha_max():
    heavier = PathSettings(penalty_weights=np.full((4, 4), 2.0), tol=1e-9)
    assert Task(as_table(X), heavier).alpha_max() == pytest.approx(objective.alpha_max(X) / 2)


@pytest.mark.parametrize("estimator", EVERY)
def test_settings_reach_the_path(estimator):
    loose, strict = (Task(as_table(X), PathSettings(estimator, tol=tol)).path([0.01]) for tol in (1e-2, 1e-9))
    assert loose.tol == 1e-2
    assert strict[0].kkt_residual <= loose[0].kkt_residual


METHODS = [
    Method(),
    Method(selector=Fixed(0.1)),
    Method("nodewise", PerNode(gamma=0.5), rule="or", penalty_weights="standardized"),
    Method(selector=EBIC(alphas=[0.3, 0.1]), tol=1e-9, max_iter=7),
    Method(selector=CrossValidation(n_folds=3, rule="1se", random_state=4)),
    Method(selector=StARS(threshold=0.1, n_subsamples=5)),
    Method(selector=TwoStage(keep=0.5), penalty_weights=np.full((4, 4), 2.0)),
    Method(imputation=ImputationSettings(n_imputations=3)),
]


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_a_method_is_its_fields(method):
    again = pickle.loads(pickle.dumps(method))
    assert again == method
    assert hash(again) == hash(method)
    assert sum(method == other for other in METHODS) == 1


class Halved(Selector):
    """A selector that is no dataclass."""

    name = "halved"

    def __init__(self, share):
        super().__init__()
        object.__setattr__(self, "share", share)


def test_settings_are_equal_by_all_that_they_hold(tmp_path):
    assert Run(checkpoint=tmp_path) == Run(checkpoint=tmp_path) == Run(checkpoint=str(tmp_path))
    assert Halved(0.5) == Halved(0.5) != Halved(0.6)
    assert (PathSettings(tol=1), EBIC(gamma=np.int64(1))) == (PathSettings(tol=1.0), EBIC(gamma=1.0))
    weights = np.ones((4, 4))
    settings = PathSettings(penalty_weights=weights)
    before = hash(settings)
    weights[0, 1] = 2.0
    assert hash(settings) == before


def test_repr_says_what_was_set():
    assert repr(METHODS[2]) == (
        "Method(estimator='nodewise', penalty_weights='standardized', rule='or', selector=PerNode(gamma=0.5))"
    )


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_a_fit_remembers_its_method_in_a_file(method, tmp_path):
    fit = replace(Method(selector=Fixed(0.1)).fit(X), method=method)
    save(fit, tmp_path / "model.npz")
    assert load(tmp_path / "model.npz").method == method


@pytest.mark.parametrize(
    "selector",
    [
        CrossValidation(splits=[(range(30), range(30, 60)), (range(30, 60), range(30))]),
        TwoStage(random_state=np.random.default_rng(0)),
        StARS(random_state=np.random.default_rng(0)),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_a_file_claims_no_folds_or_seed_that_were_not_used(selector, tmp_path):
    save(Method(selector=selector).fit(X), tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    assert again.method.selector.words == selector.words
    assert "seed" not in selector.words
    assert "seed" not in again.methods_text()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"estimator": "bayes"}, 'estimator must be one of "joint", "nodewise"'),
        ({"rule": "xor"}, 'rule must be one of "and", "or", "mean"'),
        ({"selector": "ebic"}, "selector must be an instance of Selector"),
        ({"tol": "a"}, "tol must be a positive number"),
        ({"max_iter": 0.5}, "max_iter must be an integer of at least 1"),
        ({"standard_errors": "no"}, "standard_errors must be True or False"),
        ({"penalty_weights": "std"}, 'penalty_weights must be None, "standardized" or a symmetric matrix'),
        ({"rule": "or"}, 'rule must be left out unless the estimator is "nodewise"'),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(DataError, match=message):
        Method(**settings)


def test_bad_selectors_are_named_before_a_fit():
    for selector in (EBIC, TwoStage, PerNode):
        with pytest.raises(DataError, match="gamma must be finite and not negative; got -1"):
            selector(gamma=-1)
    with pytest.raises(DataError, match="alphas must be an integer of at least 2; got -3"):
        PerNode(alphas=-3)
    for selector in (EBIC, TwoStage, CrossValidation, StARS):
        for alphas in (0, True, "30", None, [], [0.1, 0.1], float("nan")):
            with pytest.raises(DataError, match="alphas must be"):
                selector(alphas=alphas)
    for splits in ("abc", 5):
        with pytest.raises(DataError, match=r"splits must be pairs .* random folds is n_folds"):
            CrossValidation(splits=splits)


def test_standard_errors_and_tests_obey_the_number_of_threads(monkeypatch):
    asked = []

    def listen(*given, n_threads=None, **options):
        asked.append(n_threads)
        return ising_path(*given, n_threads=n_threads, **options)

    monkeypatch.setattr(sys.modules["isinglass.select.refit"], "ising_path", listen)
    rows = np.column_stack([X[:, 0], X[:, 0] ^ (np.arange(60) % 5 == 0), X[:, 1]])
    fit = Method(fdr=0.1).fit(rows, run=Run(n_threads=1))
    assert np.isfinite(fit.refits.edge_errors).all()
    assert len(fit.edge_q)
    assert asked == [1, 1]


def test_a_checkpoint_is_for_what_can_be_resumed(tmp_path):
    run = Run(checkpoint=tmp_path / "run")
    for compute in (Method().fit, Method(selector=EBIC()).choose, compare_criteria, impute):
        with pytest.raises(DataError, match="checkpoint must be left out where nothing can be resumed"):
            compute(X, run=run)
    Method(selector=CrossValidation(n_folds=3)).fit(X, run=run)


def test_combinations_that_do_not_work_are_named():
    with pytest.raises(DataError, match='must be "joint" or "exact" for two stages'):
        Method("nodewise").fit(X)
    with pytest.raises(DataError, match='must be "nodewise" for a penalty per node'):
        Method(selector=PerNode()).fit(X)
    with pytest.raises(DataError, match='must be None or "standardized" for node-wise'):
        Method("nodewise", Fixed(0.1), penalty_weights=np.ones((4, 4))).fit(X)
    for selector in (Fixed(0.1), PerNode()):
        with pytest.raises(DataError, match="device must be left out for the estimator 'nodewise'"):
            Method("nodewise", selector).fit(X, run=Run(device="cuda"))
    with pytest.raises(DataError, match='device must be "cpu", "cuda" or "cuda:" and a number; got 5'):
        Run(device=5)
    with pytest.raises(DataError, match="progress must be True or False; got 'no'"):
        Run(progress="no")
    with pytest.raises(DataError, match="n_jobs must be"):
        Run(n_jobs=0)
    with pytest.raises(DataError, match="n_threads must be an integer of at least 1; got 0"):
        Run(n_threads=0)


def test_selectors_are_known_by_name_and_have_words_for_their_settings():
    assert {"two-stage", "ebic", "cv", "stars", "given"} <= SELECTORS.keys()
    for selector in SELECTORS.values():
        assert {field.name for field in fields(selector)} <= set(re.findall(r"\w+", selector.__doc__))
        assert selector().words


@pytest.mark.parametrize("wrong", ["a", -1.0, math.nan, ("a",), (0.1, -1.0), (math.inf,)])
def test_given_penalties_are_checked(wrong):
    with pytest.raises(DataError, match="alpha must be finite and not negative"):
        Fixed(wrong)
    with pytest.raises(DataError, match="lasso must be finite and not negative"):
        FixedStages(wrong)
    assert Fixed((0.1, math.nan)).alpha[0] == 0.1  # NaN: a constant column


def test_what_stands_for_a_method():
    assert as_method(None) == Method()
    assert as_method(0.1) == as_method(Fixed(0.1)) == Method(selector=Fixed(0.1))
    assert as_method(IsingLassoEBIC(gamma=0.5)).selector == EBIC(gamma=0.5)
    fit = Method(selector=Fixed(0.1)).fit(X)
    assert as_method(fit) == fit.method == Method(selector=Fixed(0.1))
    for wrong in ("ebic", len):
        with pytest.raises(DataError, match="method must be a Method"):
            as_method(wrong)


def test_a_choice_can_be_repeated_at_its_penalty(tmp_path):
    method = Method(selector=TwoStage(keep=0))
    choice = method.choose(X)
    again = method.at(choice).fit(X)
    assert again.solution.alpha == choice.alpha
    np.testing.assert_allclose(again.network.couplings, choice.solution.couplings, atol=1e-6)
    save(again, tmp_path / "model.npz")
    assert load(tmp_path / "model.npz").method == method.at(choice)
    linked = np.column_stack([X, X ^ (np.random.default_rng(1).random(X.shape) < 0.1)])
    choice, fit = method.choose(linked), method.fit(linked)
    again = method.at(choice).fit(linked)
    assert again.solution.n_edges
    lasso = f"in inverse proportion to the couplings of a lasso with penalty {choice.stages[0].solution.alpha:.4g}"
    assert f"The penalty was given, {lasso} (α = {choice.alpha:.4g})." in again.methods_text()
    np.testing.assert_allclose(again.refits.edge_errors, fit.refits.edge_errors, rtol=1e-6)


def test_constant_columns_are_named_once():
    table = np.column_stack([X, np.ones(60, dtype=np.uint8)])
    for selector in (TwoStage(), EBIC(alphas=[0.3, 0.01]), CrossValidation(alphas=[0.3, 0.01], n_folds=3), Fixed(0.1)):
        with pytest.warns(ConstantColumnWarning, match="column 4") as caught:
            Method(selector=selector).fit(table)
        assert len([warning for warning in caught if warning.category is ConstantColumnWarning]) == 1


def blas_threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture
def two_blas_threads():
    with threadpool_limits(2, user_api="blas"):
        if blas_threads() != {2}:
            pytest.skip("this BLAS cannot be told its number of threads")
        yield


def test_products_of_matrices_take_no_core_from_the_kernels(two_blas_threads, monkeypatch):
    noted = {}

    def note(owner, name):
        function = getattr(owner, name)
        monkeypatch.setattr(
            owner, name, lambda *args, **more: noted.setdefault(name, blas_threads()) and function(*args, **more)
        )

    note(TwoStage, "choose")
    note(sys.modules["isinglass.select.refit"], "sandwich_errors")
    note(sys.modules["isinglass.select.pooling"], "free_estimate")
    linked = np.column_stack([X, X ^ (np.random.default_rng(1).random(X.shape) < 0.1)])
    Method().fit(linked)
    Method().fit(as_table(np.where(np.eye(60, 8), np.nan, linked), missing="impute"))
    assert noted == {"choose": {1}, "sandwich_errors": {1}, "free_estimate": {1}}
    assert blas_threads() == {2}
    with pytest.raises(DataError):
        Method(selector=EBIC(gamma=-1.0)).fit(X)
    assert blas_threads() == {2}


def test_a_blas_that_is_loaded_later_is_limited_as_well():
    code = """
from isinglass.machine.threads import one_blas_thread
with one_blas_thread:
    import numpy, scipy.linalg
from threadpoolctl import threadpool_info, threadpool_limits
with threadpool_limits(2, user_api="blas"), one_blas_thread:
    print({library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"} <= {1})
"""
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout.split() == [b"True"]


@pytest.mark.parametrize("selector", [Fixed(0.1), StARS(), EBIC(), TwoStage(), PerNode()])
def test_every_choice_has_its_number_on_its_path(selector):
    X = np.random.default_rng(0).integers(0, 2, (60, 3))
    X[:50, 1] = X[:50, 0]
    estimator = "nodewise" if isinstance(selector, PerNode) else "joint"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        choice = Method(estimator, selector).choose(X)
    assert choice.solution is choice.path[choice.index]
    assert (choice.selection.path is None) == isinstance(selector, Fixed | PerNode)
    assert ("a penalty per node, 1 edge)" in repr(choice)) == isinstance(selector, PerNode)


def test_a_given_penalty_is_always_shown():
    assert repr(Fixed()) == repr(Fixed(0.05)) == "Fixed(alpha=0.05)"
    assert repr(Method()) == "Method()"
