"""Estimators: the same bits as the functions they wrap, whatever the table comes in; scikit-learn's company."""

import contextlib
import inspect
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import sklearn
from choices import cross_validate, isingfit, select_ebic, stars, two_stage
from networks import make_table
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    LeaveOneGroupOut,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer
from sklearn.utils.estimator_checks import check_dataframe_column_names_consistency

import isinglass
from isinglass import (
    ExactIsing,
    Fixed,
    IsingLasso,
    IsingLassoCV,
    IsingLassoEBIC,
    IsingLassoStARS,
    IsingNetwork,
    Method,
    NodewiseIsing,
    NodewiseIsingEBIC,
    exact,
    ising_path,
    load,
    save,
    simulate,
)
from isinglass.data import as_table
from isinglass.errors import (
    ConstantColumnWarning,
    ConvergenceWarning,
    DataError,
    DataWarning,
    GridEndWarning,
    LimitError,
    suppress_warnings,
)

MODEL = simulate.grid_network(2, 3, couplings="mixed", strength=1.5, fields="balanced", random_state=4)
X = simulate.exact_sample(MODEL, 400, random_state=0)
NAMES = ["Zoë", "a<b>", "mid", "", "b", "A"]  # neither sorted nor tame: the order is that of the input
FRAME = pd.DataFrame(X, columns=NAMES)
GRID = [0.2, 0.1, 0.05, 0.02, 0.01, 0.0]

ESTIMATORS = [
    IsingLasso(0.05),
    IsingLassoStARS(12, n_subsamples=6, random_state=0, threshold=0.1),
    IsingLassoEBIC(GRID),
    IsingLassoCV(GRID, cv=4, random_state=0),
    NodewiseIsingEBIC(),
    IsingNetwork(),
    NodewiseIsing(0.03, rule="or"),
    ExactIsing(0.02),
]
every = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)


def fitted(estimator, table=X, **options):
    return clone(estimator).fit(table, **options)


def bits(net):
    return (
        net.couplings_.tobytes(),
        net.network_.fields.tobytes(),
        repr(net.alpha_),
        np.array(net.fit_.data.pair_counts).tobytes(),
    )


@contextlib.contextmanager
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


# --- the functions behind them ----------------------------------------------------------------------------------------


def assert_same_solution(net, solution):
    np.testing.assert_array_equal(net.couplings_, solution.couplings)
    np.testing.assert_array_equal(net.network_.fields, solution.fields)
    assert (net.alpha_, net.converged_, net.n_iter_) == pytest.approx(
        (solution.alpha, solution.converged, solution.n_iter), rel=0, nan_ok=True
    )
    for name in ("kkt_residual", "duality_gap"):
        np.testing.assert_equal(getattr(net.fit_.solution, name), getattr(solution, name))


def test_each_is_its_function():
    assert_same_solution(fitted(ESTIMATORS[0]), ising_path(X, [0.05])[0])
    assert_same_solution(fitted(ESTIMATORS[2]), select_ebic(X, alphas=GRID).solution)
    assert_same_solution(fitted(ESTIMATORS[3]), cross_validate(X, alphas=GRID, n_folds=4, random_state=0).solution)
    assert_same_solution(fitted(ESTIMATORS[4]), isingfit(X))
    assert_same_solution(fitted(ESTIMATORS[5]), two_stage(X).solution)


def test_stars_is_its_function():
    net = fitted(ESTIMATORS[1])
    found = stars(X, alphas=12, n_subsamples=6, random_state=0, threshold=0.1)
    path = ising_path(X, found.alphas[: len(found.edge_frequencies)])
    assert_same_solution(net, path[found.index])
    assert net.alpha_ == found.alpha
    assert net.fit_.selection.stability.alphas.tolist() == found.alphas.tolist()
    assert net.fit_.selection.stability.instability.tobytes() == found.instability.tobytes()
    assert len(net.fit_.selection.path) == len(net.fit_.selection.stability.edge_frequencies)


def test_options_reach_the_functions():
    weights = np.where(np.eye(6, dtype=bool), 0.0, 2.0)
    net = IsingLasso(0.05, penalty_weights=weights, tol=1e-9, max_iter=50, n_threads=1).fit(X)
    assert_same_solution(net, ising_path(X, [0.05], penalty_weights=weights, tol=1e-9)[0])
    net = IsingLassoEBIC(5, gamma=0.5, penalty_weights="standardized").fit(X)
    path = ising_path(X, 5, penalty_weights="standardized")
    assert net.fit_.selection.path.alphas.tolist() == path.alphas.tolist()
    with pytest.warns(ConvergenceWarning):
        IsingLasso(0.02, max_iter=1, tol=1e-12).fit(X)


def test_attributes_of_the_selectors():
    ebic, cv, nodes = (fitted(ESTIMATORS[k]) for k in (2, 3, 4))
    assert ebic.fit_.selection.evidence.values.tolist() == select_ebic(X, alphas=GRID).evidence.values.tolist()
    assert [net.fit_.selection.evidence.alphas.tolist() for net in (ebic, cv)] == [GRID, GRID]
    assert [len(net.fit_.selection.path) for net in (ebic, cv)] == [6, 6]
    assert nodes.fit_.solution.alphas_per_node.shape == (6,)
    assert np.isnan(nodes.alpha_)
    by_node = nodes.fit_.choice.path.asymmetric_couplings[0].toarray()
    both = (by_node != 0) & (by_node.T != 0)
    np.testing.assert_allclose(nodes.couplings_, np.where(both, (by_node + by_node.T) / 2, 0.0), rtol=1e-15)


# --- tables of any kind -----------------------------------------------------------------------------------------------

KINDS = {
    "pandas": FRAME,
    "pandas bool": FRAME.astype(bool),
    "pandas nullable": FRAME.astype("Int8"),
    "polars": pl.DataFrame({name: X[:, k] for k, name in enumerate(NAMES)}),
    "pyarrow": pa.table({name: X[:, k] for k, name in enumerate(NAMES)}),
    "Table": as_table(FRAME),
    "float, Fortran order": np.asfortranarray(X, dtype=float),
    "list": X.tolist(),
    "csr": sp.csr_array(X),
    "coo matrix": sp.coo_matrix(X.astype(float)),
}


@every
def test_identical_bits_from_every_kind_of_table(estimator):
    expected = bits(fitted(estimator))
    for name, table in KINDS.items():
        net = fitted(estimator, table)
        assert bits(net) == expected, name
        named = name.split(" ")[0].rstrip(",") in ("pandas", "polars", "pyarrow", "Table")
        assert list(net.network_.names) == (NAMES if named else [f"x{k}" for k in range(6)])
        assert (list(net.feature_names_in_) == NAMES) if named else not hasattr(net, "feature_names_in_")
        assert net.n_features_in_ == 6
        assert net.score(table) == net.score_samples(table).mean()


def test_memory_maps_are_read(tmp_path):
    np.save(tmp_path / "table.npy", X)
    table = np.load(tmp_path / "table.npy", mmap_mode="r")
    assert bits(fitted(ESTIMATORS[0], table)) == bits(fitted(ESTIMATORS[0]))


def test_answers_are_the_same_for_every_kind_of_table():
    net = fitted(ESTIMATORS[0], FRAME)
    for name in ("pandas", "polars", "pyarrow", "Table"):
        np.testing.assert_array_equal(net.predict_proba(KINDS[name]), net.predict_proba(FRAME))


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "Table"])
def test_other_columns_are_refused(kind):
    net = fitted(ESTIMATORS[0], FRAME)
    renamed = FRAME.set_axis(["Zoë", "a<b>", "other", "", "b", "A"], axis=1)
    convert = {"pandas": lambda f: f, "polars": pl.from_pandas, "pyarrow": pa.table, "Table": as_table}[kind]
    for frame, word in ((FRAME[NAMES[::-1]], "order"), (renamed, "other"), (FRAME[NAMES[:4]], "fit")):
        for method in (net.predict, net.score, net.score_samples, net.impute):
            with pytest.raises(ValueError, match=word):
                method(convert(frame))


@every
@pytest.mark.filterwarnings("ignore::isinglass.errors.GridEndWarning")
def test_scikit_learn_checks_the_names(estimator):
    check_dataframe_column_names_consistency(type(estimator).__name__, clone(estimator).set_params(binarize=0.5))


def test_tables_without_names_where_there_were_names():
    net = fitted(ESTIMATORS[0], FRAME)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        net.predict(X)
    with pytest.raises(ValueError, match="X has 5 features, but IsingLasso is expecting 6"):
        fitted(ESTIMATORS[0]).predict(X[:, :5])
    with pytest.raises(ValueError, match="X has 5 features, but IsingLasso is expecting 6"):
        fitted(ESTIMATORS[0]).predict(X[:, :5].tolist())
    with pytest.raises(DataError, match="Reshape your data"):
        fitted(ESTIMATORS[0]).predict(X[0])


def test_numbered_columns_of_pandas_are_no_names():
    frame = FRAME.set_axis([10, 20, 30, 40, 50, 60], axis=1)
    net = fitted(ESTIMATORS[0], frame)
    assert not hasattr(net, "feature_names_in_")
    assert net.network_.names[0] == "10"
    with pytest.raises(TypeError, match="string names"):
        fitted(ESTIMATORS[0], FRAME.set_axis(["a", 1, 2, 3, 4, 5], axis=1))


# --- answers ----------------------------------------------------------------------------------------------------------


@every
def test_probabilities_are_ratios_of_the_joint_distribution(estimator):
    net = fitted(estimator)
    probabilities = net.predict_proba(X[:20])
    chances = exact.state_probabilities(net.network_)
    state = 1 << np.arange(6)
    for n, row in enumerate(X[:20]):
        for s in range(6):
            one = chances[(np.where(np.arange(6) == s, 1, row) * state).sum()]
            zero = chances[(np.where(np.arange(6) == s, 0, row) * state).sum()]
            assert probabilities[n, s] == pytest.approx(one / (one + zero), rel=1e-10)
    np.testing.assert_array_equal(net.predict(X[:20]), probabilities > 0.5)
    np.testing.assert_array_equal(probabilities, net.network_.conditional_probabilities(X[:20]))
    logs = np.where(X[:20] == 1, np.log(probabilities), np.log1p(-probabilities)).sum(axis=1)
    np.testing.assert_allclose(net.score_samples(X[:20]), logs, rtol=1e-12)
    assert net.score(X[:20]) == pytest.approx(logs.mean(), rel=1e-12)


def test_scores_with_weights():
    net, weight = fitted(ESTIMATORS[0]), np.arange(400) % 3
    repeated = np.repeat(X, weight, axis=0)
    assert net.score(X, sample_weight=weight) == pytest.approx(net.score(repeated), rel=1e-12)
    assert net.score(make_table(X, sample_weight=weight)) == net.score(X, sample_weight=weight)


def test_samples_have_the_moments_of_the_network(unseeded_draws):
    net = fitted(ESTIMATORS[0])
    rows = net.sample(20_000, random_state=1)
    means, pairs = exact.moments(net.network_)
    assert rows.dtype == np.uint8
    np.testing.assert_allclose(rows.mean(axis=0), means, atol=5 * 0.5 / np.sqrt(20_000))
    np.testing.assert_allclose(rows.T @ rows.astype(float) / 20_000, pairs, atol=5 * 0.5 / np.sqrt(20_000))
    np.testing.assert_array_equal(net.sample(5, random_state=1), net.sample(5, random_state=1))
    assert net.sample().shape == (1, 6)


def test_wide_networks_are_sampled_by_a_chain():
    model = simulate.chain_network(25, strength=1.0, fields="balanced")
    net = IsingLasso(0.1).fit(simulate.gibbs_sample(model, 300, random_state=0))
    rows = net.sample(100, random_state=0, burn_in=50, thin=2)
    np.testing.assert_array_equal(rows, simulate.gibbs_sample(net.network_, 100, burn_in=50, thin=2, random_state=0))


@pytest.mark.parametrize("n_columns", [4, 24])  # by enumeration, and by a chain
def test_categories_that_never_occurred_are_not_drawn(n_columns):
    answers = np.random.default_rng(0).integers(1, 3, (60, n_columns))  # neither the first nor the last
    table = make_table(answers.astype(np.uint8), "nominal", categories=[(0, 1, 2, 3)] * n_columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = np.asarray(IsingLasso(0.1).fit(table).sample(100, random_state=0, burn_in=20, thin=1))
    assert set(np.unique(rows)) == {1, 2}


@every
def test_unfitted(estimator):
    for method in ("predict", "predict_proba", "score", "score_samples", "impute"):
        with pytest.raises(NotFittedError):
            getattr(clone(estimator), method)(X)
    for method in ("edges", "sample"):
        with pytest.raises(NotFittedError):
            getattr(clone(estimator), method)()


def test_sparse_tables_are_not_made_dense_unasked():
    net = fitted(ESTIMATORS[0])
    for method in (net.predict, net.predict_proba):
        with pytest.raises(DataError, match=r"X must be dense here.* got a sparse csr_array.*X\.toarray\(\)"):
            method(sp.csr_array(X))


# --- missing cells ----------------------------------------------------------------------------------------------------

HOLES = np.where(np.random.default_rng(2).random(X.shape) < 0.1, np.nan, X)


@pytest.mark.parametrize("method", ["conditional", "gibbs"])
def test_imputation_leaves_observed_cells(method):
    net = fitted(ESTIMATORS[0])
    seen = ~np.isnan(HOLES)
    filled = net.impute(HOLES, method=method, random_state=0)
    assert filled.dtype == np.uint8
    np.testing.assert_array_equal(filled[seen], HOLES[seen])
    assert set(np.unique(filled)) == {0, 1}
    if method == "conditional":
        chances = net.fit_.predict_proba(HOLES)
        np.testing.assert_array_equal(filled[~seen], chances[~seen] > 0.5)
        alone = (~seen).sum(axis=1) == 1
        whole = np.where(np.isnan(HOLES), 0, HOLES)[alone].astype(int)
        np.testing.assert_allclose(chances[alone][~seen[alone]], net.predict_proba(whole)[~seen[alone]], rtol=1e-12)


def test_imputation_is_better_than_the_marginals():
    net, gone = fitted(ESTIMATORS[0]), np.isnan(HOLES)
    chances = net.fit_.predict_proba(HOLES)
    marginal = np.broadcast_to(net.fit_.data.shares[1::2], X.shape)
    assert ((chances - X)[gone] ** 2).mean() < 0.9 * ((marginal - X)[gone] ** 2).mean()


@pytest.mark.filterwarnings("ignore::isinglass.errors.DataWarning")
def test_imputation_returns_what_it_was_given():
    net = fitted(ESTIMATORS[0], FRAME)
    frame = pd.DataFrame(HOLES, columns=NAMES, index=[f"row {k}" for k in range(400)])
    expected = net.impute(frame)
    assert isinstance(expected, pd.DataFrame)
    assert list(expected.columns) == NAMES
    assert list(expected.index) == list(frame.index)
    from_polars = net.impute(pl.DataFrame({n: HOLES[:, k] for k, n in enumerate(NAMES)}).fill_nan(None))
    assert isinstance(from_polars, pl.DataFrame)
    assert from_polars.columns == NAMES
    from_arrow = net.impute(pa.table({n: pa.array(HOLES[:, k], from_pandas=True) for k, n in enumerate(NAMES)}))
    assert isinstance(from_arrow, pa.Table)
    for other in (from_polars, from_arrow.to_pandas()):
        np.testing.assert_array_equal(np.asarray(other), expected)
    np.testing.assert_array_equal(net.impute(KINDS["Table"]), X)
    np.testing.assert_array_equal(net.impute(as_table(frame, missing="zero")), expected)


@pytest.mark.filterwarnings("ignore::isinglass.errors.DataWarning")
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_imputation_keeps_every_column_where_it_is(library):
    fit = fitted(ESTIMATORS[0], FRAME).fit_
    frame = pd.DataFrame(HOLES, columns=NAMES, index=np.arange(400) // 2)
    expected = fit.impute(frame)
    mixed = frame[NAMES[::-1]]
    mixed.insert(1, "id", [f"person {k}" for k in range(400)])
    cells = mixed.to_dict("list")
    kinds = {"pandas": lambda: mixed, "polars": lambda: pl.DataFrame(cells), "pyarrow": lambda: pa.table(cells)}
    filled = fit.impute(kinds[library]())
    found = filled if library == "pandas" else filled.to_pandas()
    assert list(found.columns) == list(mixed.columns)
    assert list(found["id"]) == list(mixed["id"])
    for name in NAMES:
        np.testing.assert_array_equal(found[name], expected[name])
        seen = frame[name].notna().to_numpy()
        np.testing.assert_array_equal(found[name].to_numpy()[seen], frame[name].to_numpy()[seen])


def test_imputation_says_what_to_do_with_combined_columns():
    k = np.arange(60) % 3
    frame = pd.DataFrame({"y": k % 2, "c_a": k == 0, "c_b": k == 1, "c_c": k == 2}).astype(int)
    table = as_table(frame, combine_indicators=True)
    fit = IsingLasso(0.05).fit(table).fit_
    with pytest.raises(DataError, match=r"combined from indicator columns. Pass as_table\(X, encode=fit.coding\)"):
        fit.impute(frame)
    assert fit.impute(as_table(frame, encode=fit.coding)).shape == (60, 2)


@pytest.mark.filterwarnings("ignore::isinglass.errors.DataWarning")
def test_what_missing_means():
    zeros = np.where(np.isnan(HOLES), 0, HOLES)
    complete = HOLES[~np.isnan(HOLES).any(axis=1)]
    with pytest.raises(DataError, match="got NaN in column 0"):
        IsingLasso().fit(HOLES)
    assert bits(IsingLasso(missing="zero").fit(HOLES)) == bits(IsingLasso().fit(zeros))
    strict = IsingLasso().fit(zeros)
    for method in (strict.predict, strict.predict_proba, strict.score_samples, strict.score):
        with pytest.raises(DataError, match="got NaN in column 0"):
            method(HOLES)
    assert not strict.__sklearn_tags__().input_tags.allow_nan
    assert strict.fit_.predict(HOLES).shape == strict.impute(HOLES).shape == HOLES.shape
    dropping = IsingLasso(missing="drop").fit(HOLES)
    assert bits(dropping) == bits(IsingLasso().fit(complete))
    assert dropping.fit_.data.n_rows == len(complete)
    weight = np.arange(1.0, 401.0)
    kept = ~np.isnan(HOLES).any(axis=1)
    weighted = IsingLasso(missing="drop").fit(HOLES, sample_weight=weight)
    assert bits(weighted) == bits(IsingLasso().fit(complete, sample_weight=weight[kept]))
    assert dropping.score(HOLES, sample_weight=weight) == dropping.score(complete, sample_weight=weight[kept])
    assert dropping.score_samples(HOLES).shape == (400,)  # every row has an answer, and none is dropped
    with pytest.raises(DataError, match=r"one value per row \(400,\)"):
        IsingLasso(missing="drop").fit(HOLES, sample_weight=weight[kept])


def test_what_was_found_in_fit_holds_for_other_tables():
    words = FRAME.replace({0: "Nay", 1: "Yea"})
    net = IsingLasso(encode="auto").fit(words)
    assert bits(net) == bits(fitted(ESTIMATORS[0]))
    assert net.fit_.coding.encoding["mid"] == ("Nay", "Yea")
    only_one = words[words["mid"] == "Yea"][:1]  # by itself, nobody could tell what these mean
    assert (
        net.predict_proba(only_one).tobytes()
        == net.predict_proba(as_table(words, encode="auto"))[only_one.index].tobytes()
    )
    with pytest.raises(DataError, match="'Perhaps'"):
        net.predict(words.replace({"Yea": "Perhaps"}))
    assert bits(IsingLasso(encode={-1: 0, 1: 1}).fit(2 * X.astype(int) - 1)) == bits(net)
    assert bits(IsingLasso(encode={"Nay": 0, "Yea": 1}).fit(words)) == bits(net)
    assert bits(IsingLasso(binarize=3.5).fit(X + 3.0)) == bits(net)


def test_what_a_table_says_about_its_values_holds_after_fit():
    words = FRAME.replace({0: "Nay", 1: "Yea"})
    table = as_table(words, encode={"Yea": 1, "Nay": 0})
    expected = IsingLasso().fit(X).predict_proba(X)
    net = IsingLasso().fit(table)
    assert net.predict_proba(words).tobytes() == expected.tobytes()
    assert net.predict_proba(table).tobytes() == expected.tobytes()
    spins = 2 * X.astype(int) - 1
    net = IsingLasso().fit(as_table(spins, encode={-1: 0, 1: 1}))
    assert net.predict_proba(spins).tobytes() == expected.tobytes()
    net = IsingLasso().fit(as_table(X + 3.0, binarize=3.5))
    assert net.predict_proba(X + 3.0).tobytes() == expected.tobytes()


def test_a_value_that_fit_did_not_have_is_explained():
    frame = pd.DataFrame({"a": X[:, 0], "b": ["Low"] * 200 + ["High"] * 200, "c": X[:, 2]})
    with pytest.warns(ConstantColumnWarning):
        net = IsingLasso(encode="auto").fit(frame[:200])
    message = "values that were declared or fitted, 'Low'; got 'High' in column 'b' .* Say before the fit what every"
    with pytest.raises(DataError, match=message):
        net.score(frame[200:])


# --- weights and constant columns -------------------------------------------------------------------------------------


@every
def test_weights_are_repeated_rows(estimator):
    weight = np.arange(400) % 4
    repeated = np.repeat(X, weight, axis=0)
    options = {}, {}
    if isinstance(estimator, IsingLassoCV):  # a row is held out as a whole, so that the folds have to be given
        options = (
            {"cv": list(LeaveOneGroupOut().split(X, groups=np.arange(400) % 3))},
            {"cv": list(LeaveOneGroupOut().split(repeated, groups=np.repeat(np.arange(400) % 3, weight)))},
        )
    with suppress_warnings(GridEndWarning):
        one = clone(estimator).set_params(tol=1e-10, **options[0]).fit(X, sample_weight=weight)
        two = clone(estimator).set_params(tol=1e-10, **options[1]).fit(repeated)
    np.testing.assert_allclose(one.couplings_, two.couplings_, atol=1e-8)
    np.testing.assert_allclose(one.network_.fields, two.network_.fields, atol=1e-8)
    assert one.fit_.data.n_rows == two.fit_.data.n_rows
    np.testing.assert_array_equal(one.fit_.data.pair_counts, two.fit_.data.pair_counts)
    assert all(counts.dtype == np.int64 for counts in one.fit_.data.pair_counts)


def test_weights_come_once():
    table = make_table(X, sample_weight=np.arange(1.0, 401.0))
    assert bits(IsingLasso().fit(table)) == bits(IsingLasso().fit(X, sample_weight=np.arange(1.0, 401.0)))
    with pytest.raises(DataError, match="must not be given with a table that has its own weights"):
        IsingLasso().fit(table, sample_weight=np.ones(400))
    with pytest.raises(DataError, match="row weights must have a positive sum"):
        IsingLasso().fit(X, sample_weight=np.zeros(400))


@every
def test_constant_columns_keep_their_place_and_are_named_once(estimator):
    table = FRAME.assign(always=1, never=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        net = fitted(estimator, table)
    ours = [
        str(w.message) for w in caught if w.category is ConstantColumnWarning and "subsamples" not in str(w.message)
    ]
    assert ours == ["columns 'always' (always 1), 'never' (always 0) are constant: they get no edges."]
    assert net.couplings_.shape == (8, 8)
    assert not net.couplings_[6:].any()
    np.testing.assert_allclose(net.predict_proba(table)[:, 6:], [[400.5 / 401, 0.5 / 401]] * 400, rtol=1e-12)
    assert np.isfinite(net.score(table))


@pytest.mark.parametrize("estimator", [IsingLassoEBIC(GRID), NodewiseIsingEBIC(5)])
def test_the_ebic_says_what_weights_are_taken_for(estimator):
    weight = np.random.default_rng(0).uniform(0.5, 1.5, 400)
    expected = fitted(estimator, sample_weight=weight)  # no warning
    for scale in (0.1, 10.0):
        with pytest.warns(DataWarning, match=r"sum .* over 400 rows and are treated as sampling weights"):
            found = fitted(estimator, sample_weight=scale * weight)
        np.testing.assert_allclose(found.couplings_, expected.couplings_, atol=1e-6)
        assert found.fit_.data.n_rows == pytest.approx(weight.sum() ** 2 / (weight**2).sum())
    with pytest.warns(DataWarning, match=r"sum 2000 over 400 rows and are treated as counts"):
        fitted(estimator, sample_weight=np.full(400, 5))
    for kind, n_rows in (("counts", 2000), ("sampling", 400)):
        stated = clone(estimator).set_params(weight_kind=kind)
        assert stated.fit(X, sample_weight=np.full(400, 5)).fit_.data.n_rows == n_rows


def test_a_column_may_vary_in_rows_without_weight_only():
    table = np.column_stack([X, np.arange(400) == 0])
    with pytest.warns(ConstantColumnWarning, match=r"column 6 \(always 0\)"):
        net = IsingLasso().fit(table, sample_weight=np.arange(400) > 0)
    assert net.fit_.data.shares[1::2][6] == 0.0


@pytest.mark.parametrize("k", [1, 3])
def test_the_number_of_jobs_does_not_matter(k):
    expected = bits(fitted(ESTIMATORS[k]))
    for options in ({"n_jobs": 2}, {"n_jobs": -1}):
        assert bits(clone(ESTIMATORS[k]).set_params(**options).fit(X)) == expected


# --- the table of edges -----------------------------------------------------------------------------------------------


@every
def test_edges_by_hand(estimator):
    net = fitted(estimator, FRAME)
    table = pd.DataFrame(net.edges())
    columns = ["source", "target", "coupling", "sign", "weight", "n11", "n10", "n01", "n00", "log_odds_ratio"]
    assert [name for name in table.columns if name not in ("stability", "refitted", "std_error")] == columns
    assert ("std_error" in table.columns) == isinstance(estimator, IsingNetwork)
    assert ("stability" in table.columns) == isinstance(estimator, IsingLassoStARS)
    assert len(table) == net.network_.n_edges > 0
    assert (table["coupling"].abs().diff().dropna() <= 0).all()
    pd.testing.assert_frame_equal(pd.DataFrame(net.network_.edges()), table[columns[:5]])
    for edge in table.itertuples():
        counts = pd.crosstab(FRAME[edge.source], FRAME[edge.target])
        assert [edge.n11, edge.n10, edge.n01, edge.n00] == [
            counts.loc[i, j] for i, j in ((1, 1), (1, 0), (0, 1), (0, 0))
        ]
        a, b, c, d = (n + 0.5 for n in (edge.n11, edge.n10, edge.n01, edge.n00))
        assert edge.log_odds_ratio == pytest.approx(np.log(a * d / (b * c)))
        assert edge.sign == np.sign(edge.coupling)
        s, t = NAMES.index(edge.source), NAMES.index(edge.target)
        assert net.couplings_[s, t] == edge.coupling
        if "stability" in table.columns:
            assert edge.stability == net.fit_.selection.stability.frequencies()[s, t]


def test_edges_have_one_shape_whatever_the_table():
    expected = pd.DataFrame(fitted(ESTIMATORS[1], FRAME).edges())
    for kind in ("polars", "pyarrow", "Table", "csr"):
        frame = pd.DataFrame(fitted(ESTIMATORS[1], KINDS[kind]).edges())
        if kind == "csr":
            frame = frame.replace({f"x{k}": name for k, name in enumerate(NAMES)})
        pd.testing.assert_frame_equal(frame, expected, check_dtype=False)


def test_edges_with_weights_that_are_not_whole():
    weight = np.random.default_rng(0).uniform(0.5, 1.5, 400)
    table = fitted(ESTIMATORS[0], sample_weight=weight).edges()
    whole = fitted(ESTIMATORS[0]).edges()
    assert table["n11"].dtype == float
    assert whole["n11"].dtype == np.int64
    counts = sum(table[name] for name in ("n11", "n10", "n01", "n00"))
    np.testing.assert_allclose(counts, weight.sum() ** 2 / (weight**2).sum())


def test_no_edges_is_an_empty_table():
    for table in (X, FRAME, KINDS["polars"], KINDS["pyarrow"]):
        edges = pd.DataFrame(IsingLasso(10.0).fit(table).edges())
        assert len(edges) == 0
        assert list(edges.columns) == list(IsingLasso(0.01).fit(table).edges())


# --- what a fitted estimator and its file can do ----------------------------------------------------------------------


@every
def test_a_loaded_fit_answers_like_the_estimator(estimator, tmp_path):
    net = fitted(estimator, FRAME)
    save(net, tmp_path / "net.npz")
    again = load(tmp_path / "net.npz")
    holes = pd.DataFrame(HOLES, columns=NAMES)
    for question in (
        lambda one: one.predict(FRAME),
        lambda one: one.predict_proba(FRAME),
        lambda one: one.score_samples(FRAME),
        lambda one: np.array(one.score(FRAME)),
        lambda one: one.sample(5, random_state=0),
        lambda one: one.impute(holes, method="gibbs", random_state=0).to_numpy(),
    ):
        assert question(again).tobytes() == question(net).tobytes()
    assert again.summary() == net.summary()
    assert again._repr_html_() in net._repr_html_()


def test_summary_repr_plot_and_report(tmp_path):
    net = IsingLasso(0.05)
    assert repr(net) == "IsingLasso()"
    assert "IsingLasso" in net._repr_html_()
    net.fit(FRAME)
    assert repr(net) == f"IsingLasso(), fitted: {net.network_.n_edges} edges among 6 columns, converged"
    pair = IsingLasso(1e-3).fit(np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [4, 1, 1, 4], axis=0))
    assert "fitted: 1 edge among 2 columns" in repr(pair)
    lines = net.summary(3).splitlines()
    assert lines[0].startswith(f"Network: {net.network_.n_edges} of 15 possible edges")
    assert lines[4].split()[:3] == ["source", "target", "coupling"]
    assert f"{net.edges()['coupling'][0]:.3f}" in lines[5]
    assert lines[-1] == f"… and {net.network_.n_edges - 3} more edges"
    net.report(tmp_path / "net.html", FRAME, title="Tea")
    assert "<title>Tea" in (tmp_path / "net.html").read_text(encoding="utf-8")
    assert {"network_", "alpha_", "couplings_", "n_iter_", "converged_"} <= set(dir(net))
    for method in ("summary", "plot", "edges", "sample"):
        with pytest.raises(NotFittedError):
            getattr(IsingLasso(), method)()


def test_answers_are_in_the_words_of_the_table():
    words = pd.DataFrame(np.where(X == 1, "yes", "no"), columns=NAMES)
    net = IsingLasso(0.05, encode="auto", missing="impute").fit(words)
    plain = IsingLasso(0.05).fit(X)
    assert (net.predict(words) == np.where(plain.predict(X) == 1, "yes", "no")).all()
    holed = words.mask(np.isnan(HOLES))
    filled = net.transform(holed)
    assert list(filled.columns) == NAMES
    assert set(np.unique(filled.to_numpy())) == {"yes", "no"}
    assert (filled.to_numpy() == words.to_numpy())[~np.isnan(HOLES)].all()
    assert net.get_feature_names_out().tolist() == NAMES
    assert np.isfinite(net.predict_proba(holed)).all()


@pytest.mark.parametrize(("library", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_completed_tables_come_in_the_frames_that_are_asked_for(library, frame):
    net = IsingLasso(0.05, missing="impute").fit(HOLES)
    expected = net.transform(HOLES)
    assert isinstance(expected, np.ndarray)
    found = net.set_output(transform=library).transform(HOLES)
    assert isinstance(found, frame)
    assert list(found.columns) == net.get_feature_names_out().tolist()
    assert (found.to_numpy() == expected).all()
    table = pd.DataFrame(HOLES, columns=list("abcdef"))
    named = make_pipeline(net).set_output(transform=library).fit(table)
    assert list(named.transform(table).columns) == list("abcdef")
    assert named.get_feature_names_out().tolist() == list("abcdef")


def test_a_search_over_how_a_table_is_read():
    search = GridSearchCV(IsingLasso(0.05), {"binarize": [0.5, 0.9], "alpha": [0.02, 0.1]}, cv=2)
    search.fit(X.astype(float) + np.random.default_rng(0).uniform(0, 0.4, X.shape))
    assert search.best_params_["binarize"] in (0.5, 0.9)


@pytest.mark.filterwarnings("ignore::isinglass.errors.DataWarning")
def test_values_that_stand_for_a_missing_cell():
    marked = np.where(np.isnan(HOLES), 99, HOLES)
    net = IsingLasso(0.05, na_values=[99], missing="zero")
    expected = bits(IsingLasso(0.05, missing="zero").fit(HOLES))
    for table in (marked, pd.DataFrame(marked), pl.DataFrame(marked.astype(int)), marked.astype(int).tolist()):
        assert bits(net.fit(table)) == expected


def test_a_fitted_estimator_draws_its_network():
    pytest.importorskip("matplotlib")
    assert IsingLasso(0.05).fit(FRAME).plot().get_figure() is not None


def test_mistyped_parameters_are_refused():
    with pytest.raises(TypeError, match="gama"):
        IsingNetwork(gama=1)


# --- scikit-learn's company -------------------------------------------------------------------------------------------


def test_grid_search_finds_what_our_cross_validation_finds():
    folds = list(KFold(4).split(X))
    search = GridSearchCV(IsingLasso(), {"alpha": GRID}, cv=folds).fit(FRAME)
    ours = IsingLassoCV(GRID, cv=folds).fit(FRAME)
    theirs, found = search.cv_results_, ours.cv_results_
    assert search.best_params_ == {"alpha": ours.alpha_}
    for key in ("mean_test_score", "std_test_score", *(f"split{k}_test_score" for k in range(4))):
        np.testing.assert_allclose(found[key], theirs[key], rtol=1e-6)
    assert found["rank_test_score"].tolist() == theirs["rank_test_score"].tolist()
    assert found["params"] == theirs["params"]
    assert np.ma.isMaskedArray(found["param_alpha"])
    assert found["param_alpha"].tolist() == theirs["param_alpha"].tolist()
    assert set(found) - set(theirs) == {"standard_error_test_score"}


@pytest.mark.filterwarnings("ignore::isinglass.errors.GridEndWarning")
def test_splits_of_any_kind():
    grid = [0.2, 0.05]
    random = IsingLassoCV(grid, cv=list(ShuffleSplit(3, random_state=0).split(X))).fit(X)
    assert "split2_test_score" in random.cv_results_
    default = IsingLassoCV(grid, cv=None, random_state=0).fit(X)
    assert (
        default.cv_results_["mean_test_score"].tolist() == cross_validate(X, alphas=grid, random_state=0).mean.tolist()
    )


@pytest.mark.filterwarnings("ignore::isinglass.errors.DataWarning")
def test_splits_where_rows_were_dropped():
    complete = np.flatnonzero(~np.isnan(HOLES).any(axis=1))
    y = X[:, 0]
    pairs = list(StratifiedKFold(3).split(X[complete], y[complete]))
    expected = IsingLassoCV(GRID, cv=pairs).fit(X[complete])
    with pytest.raises(DataError, match="Drop these rows first"):
        IsingLassoCV(GRID, cv=pairs, missing="drop").fit(HOLES)
    table = as_table(HOLES, missing="drop")  # dropped before: its row numbers are those of the pairs
    for options in ({}, {"missing": "drop"}):
        net = IsingLassoCV(GRID, cv=pairs, **options).fit(table)
        assert net.cv_results_["mean_test_score"].tolist() == expected.cv_results_["mean_test_score"].tolist()


def test_pipelines_and_scores():
    continuous = X + np.random.default_rng(0).uniform(-0.4, 0.4, X.shape)
    pipeline = make_pipeline(Binarizer(threshold=0.5), IsingLasso(0.05)).fit(continuous)
    assert pipeline.score(continuous) == fitted(ESTIMATORS[0]).score(X)
    np.testing.assert_array_equal(pipeline.predict_proba(continuous), fitted(ESTIMATORS[0]).predict_proba(X))
    scores = cross_val_score(IsingLasso(0.05), FRAME, cv=3)
    expected = [IsingLasso(0.05).fit(X[a]).score(X[b]) for a, b in KFold(3).split(X)]
    np.testing.assert_allclose(scores, expected, rtol=1e-12)


def test_weights_are_routed():
    weight = np.arange(400) % 3
    with routing():
        estimator = IsingLasso().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        scores = cross_val_score(estimator, X, cv=KFold(3), params={"sample_weight": weight})
        pipeline = make_pipeline(Binarizer(), estimator).fit(X, sample_weight=weight)
    expected = [
        IsingLasso().fit(X[a], sample_weight=weight[a]).score(X[b], sample_weight=weight[b])
        for a, b in KFold(3).split(X)
    ]
    np.testing.assert_allclose(scores, expected, rtol=1e-12)
    assert bits(pipeline[-1]) == bits(IsingLasso().fit(X, sample_weight=weight))


@every
def test_copies(estimator):
    net = fitted(estimator, FRAME)
    again = pickle.loads(pickle.dumps(net))
    assert bits(again) == bits(net)
    pd.testing.assert_frame_equal(pd.DataFrame(again.edges()), pd.DataFrame(net.edges()))
    assert not hasattr(clone(net), "network_")
    assert clone(net).get_params() == net.get_params() == estimator.get_params()
    assert type(estimator).__name__ in net._repr_html_()
    assert repr(estimator).startswith(type(estimator).__name__)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_the_documentation_of_a_class_describes_every_parameter(estimator):
    text = inspect.getdoc(type(estimator)).partition("Parameters\n----------\n")[2]
    parameters, *attributes = re.split(r"\n(?:Attributes|Examples)\n-+\n", text)
    heads = re.findall(r"^(\w[\w, ]*?)(?: : .*)?$", parameters, re.MULTILINE)
    described = [name for head in heads for name in head.split(", ")]
    assert sorted(described) == sorted(estimator.get_params())
    assert "fit_, network_, alpha_, converged_, …" in attributes[0] or "ttributes" in parameters  # those of a sibling


def test_parameters_are_kept_as_they_are():
    alphas, weights = [0.1, 0.0], np.ones((6, 6))
    net = IsingLassoEBIC(alphas, penalty_weights=weights, gamma=0.0)
    assert net.alphas is alphas
    assert net.penalty_weights is weights
    net.fit(X)
    assert net.alphas is alphas
    assert alphas == [0.1, 0.0]


def test_a_second_fit_forgets_the_first():
    net = IsingLasso(missing="drop").fit(FRAME)
    assert hasattr(net, "feature_names_in_")
    net.set_params(alpha=0.1).fit(X[:, :4])
    assert net.n_features_in_ == 4
    assert not hasattr(net, "feature_names_in_")
    with pytest.raises(DataError):
        net.set_params(alpha=-1).fit(X)
    with pytest.raises(NotFittedError):
        net.predict(X)


def test_tags():
    tags = sklearn.utils.get_tags(IsingLasso())
    assert tags.input_tags.sparse
    assert not tags.input_tags.allow_nan
    assert not tags.target_tags.required
    assert sklearn.utils.get_tags(IsingLasso(missing="drop")).input_tags.allow_nan


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda net: net.methods_text(3), "bootstraps must be a Bootstrap, as bootstrap returns it; got 'int'"),
        (lambda net: net.methods_text(check=3), "check must be a ModelCheck"),
        (lambda net: net.report(3), "filename must be a path; got 3"),
        (lambda net: net.save(3), "path must be a path; got 3"),
        (lambda net: isinglass.load(3), "path must be a path; got 3"),
    ],
)
def test_arguments_of_another_type_are_refused_by_name(ask, message):
    with pytest.raises(DataError, match=message):
        ask(IsingLasso(0.1).fit([[0, 0], [1, 1], [0, 1], [1, 1]]))


def test_no_penalty_is_refused_in_the_words_of_one_alpha():
    table = as_table([[0, 0], [1, 2], [2, 2], [2, 1], [0, 1]], kinds="ordinal")
    for method in (Method(selector=Fixed(0)), Method("nodewise", Fixed(0))):
        with pytest.raises(DataError, match=r"^alpha must be positive .*where columns have categories; got 0\.0"):
            method.fit(table)
    with pytest.raises(DataError, match=r"^alpha must be positive for the exact likelihood; got 0\.0"):
        Method("exact", Fixed(0)).fit([[0, 0], [1, 1], [0, 1], [1, 1]])


# --- bad input --------------------------------------------------------------------------------------------------------

BAD = [
    (IsingLasso(-0.1), "alpha must be finite and not negative; got -0.1"),
    (IsingLasso("0.1"), "alpha must be finite and not negative; got '0.1'"),
    (IsingLasso([0.1]), "alpha must be finite and not negative"),
    (IsingLasso(True), "alpha must be finite and not negative"),
    *(
        (
            estimator(alphas=1),
            r"alphas must not be one value at the largest alpha, .* got 1\. Pass \[1\.0\] for the value",
        )
        for estimator in (IsingNetwork, IsingLassoEBIC, IsingLassoCV, IsingLassoStARS)
    ),
    (NodewiseIsingEBIC(alphas=1), "alphas must be an integer of at least 2"),
    (IsingLasso(float("nan")), "alpha must be finite"),
    (IsingLasso(tol=0), "tol must be a positive number; got 0"),
    (IsingLasso(max_iter=1.5), "max_iter must be an integer of at least 1"),
    (IsingLasso(penalty_weights="large"), "penalty_weights must be None"),
    (IsingLasso(penalty_weights=np.ones((5, 5))), "penalty_weights must have shape"),
    (
        IsingLasso(penalty_weights=pd.DataFrame(np.ones((6, 6)), NAMES, NAMES)),
        "penalty_weights must be a matrix without names; got 'DataFrame'. Pass its numbers in the order of the columns",
    ),
    (IsingLasso(n_threads=0), "n_threads must be"),
    (IsingLasso(missing="fill"), 'missing must be "error", "impute", "zero" or "drop"'),
    (IsingLasso(binarize="x"), "binarize must be None or a finite number"),
    (IsingLasso(encode=3), "encode must be"),
    (IsingLassoStARS(n_subsamples=1), "n_subsamples must be an integer of at least 2"),
    (IsingLassoStARS(subsample_size=400), "subsample_size must be from 2 to 399"),
    (IsingLassoStARS(threshold=2), "threshold must be"),
    (IsingLassoStARS(alphas="many"), "alphas must be a count"),
    (IsingLassoStARS(random_state="seed"), "random_state must be"),
    (IsingLassoStARS(n_jobs=0), "n_jobs must be"),
    (IsingLassoEBIC(gamma=-1), "gamma must be finite and not negative"),
    (IsingLassoEBIC(alphas=[]), r"alphas must be a count, a value or a list of values; got \[\]"),
    (IsingLassoCV(cv=1), r"cv must be an integer of at least 2; got 1"),
    (IsingLassoCV(cv=401), r"\(n_samples=400\); got 401"),
    (IsingLassoCV(cv="five"), "cv must be a number of folds, or pairs"),
    (IsingLassoCV(cv=2.5), "cv must be a number of folds"),
    (IsingLassoCV(cv=True), "cv must be a number of folds"),
    (IsingLassoCV(cv=[1, 2]), "splits must be pairs of row numbers"),
    (IsingLassoCV(cv=[3]), "splits must be pairs of row numbers"),
    (IsingLassoCV(cv=[(np.arange(9), np.arange(9, 20))]), "folds must be at least 2 pairs; got 1"),
    (IsingLassoCV(rule="2se"), 'rule must be one of "best", "1se"'),
    (NodewiseIsingEBIC(rule="xor"), "rule must be one of"),
    (NodewiseIsingEBIC(penalty_weights="unit"), "penalty_weights must be"),
    (NodewiseIsingEBIC(gamma=-1), "gamma must be"),
    (NodewiseIsingEBIC([0.1]), "alphas must be an integer"),
    (IsingLasso(max_iter=0), "max_iter must be"),
]


@pytest.mark.parametrize(("estimator", "message"), BAD)
def test_bad_parameters_are_named_by_fit(estimator, message):
    with pytest.raises(DataError, match=message):
        estimator.fit(X)


@pytest.mark.filterwarnings("ignore::isinglass.errors.DataWarning")
def test_bad_tables_and_requests():
    with pytest.raises(DataError, match=r"got 2 in column 'mid' \(first in row 7\)"):
        IsingLasso().fit(FRAME.assign(mid=np.where(np.arange(400) == 7, 2, X[:, 2])))
    with pytest.raises(DataError, match="lazy frame"):
        IsingLasso().fit(KINDS["polars"].lazy())
    with pytest.raises(LimitError, match="at most 20"):
        Method("exact", Fixed(0.1)).fit(np.tile(X, (1, 4)))
    with pytest.raises(DataError, match="n_samples=2"):
        IsingLassoStARS().fit([[0, 1], [1, 0]])
    with pytest.raises(DataError, match="row numbers have changed"):
        IsingLassoCV(missing="drop", cv=[([0], [1]), ([1], [0])]).fit(HOLES)
    with pytest.raises(DataError, match="row numbers have changed"):
        IsingLassoCV(missing="drop", cv=iter([([0], [1]), ([1], [0])])).fit(HOLES)
    net = fitted(ESTIMATORS[0])
    with pytest.raises(DataError, match='method must be "conditional" or "gibbs"; got \'mean\''):
        net.impute(X, method="mean")
    with pytest.raises(DataError, match="n_samples must be"):
        net.sample(0)
    with pytest.raises(DataError, match="random_state must be"):
        net.sample(1, random_state="seed")


@pytest.mark.parametrize("estimator", [IsingLasso(device="cuda"), IsingLassoEBIC(device="cuda")], ids=str)
def test_estimators_hand_the_device_on(estimator, monkeypatch):
    monkeypatch.setattr("isinglass.solve.device.has_package", lambda name: False)
    with pytest.raises(DataError, match=r'device="cuda" needs PyTorch'):
        estimator.fit(np.eye(4, dtype=int))


def test_holes_are_imputed():
    truth = simulate.chain_network(5, strength=2.0, fields="balanced")
    table = simulate.exact_sample(truth, 300, random_state=0)
    holes = np.where(np.random.default_rng(0).random(table.shape) < 0.2, np.nan, table)
    net = IsingNetwork(missing="impute").fit(holes)
    assert net.fit_.imputation.converged
    assert net.fit_.data.n_rows == pytest.approx(300)
    assert net.fit_.solution.edge_index.tolist() == [[0, 1], [1, 2], [2, 3], [3, 4]]
    assert (net.fit_.refits.edge_errors > IsingNetwork().fit(table).fit_.refits.edge_errors).mean() > 0.5
    chances = net.predict_proba(holes)
    assert ((chances > 0) & (chances < 1)).all()
    # Averaged over missing cells, a row says less about each of its cells than a complete one.
    assert net.score_samples(holes).mean() / (~np.isnan(holes)).sum(axis=1).mean() < net.score(table) / 5
    whole = np.isnan(holes).sum(axis=1) == 0
    np.testing.assert_allclose(chances[whole], net.network_.conditional_probabilities(table[whole]))
    with pytest.raises(DataError, match="Folds must be random, given by their number, where missing cells are imputed"):
        IsingLassoCV(3, cv=list(KFold(3).split(holes)), missing="impute").fit(holes)


def test_a_reversed_item_can_be_turned_where_the_warning_says():
    rng = np.random.default_rng(0)
    common = rng.normal(size=(400, 1))
    answers = np.clip(np.round(2 + common + rng.normal(size=(400, 5))), 0, 4).astype(int)
    items = pd.DataFrame(answers, columns=list("abcde")).assign(e=4 - answers[:, 4])
    with pytest.warns(DataWarning, match=r"recode with reverse=\['e'\]"):
        IsingLasso(0.01, kinds="ordinal").fit(items)
    turned = IsingLasso(0.01, kinds="ordinal", reverse=["e"]).fit(items)
    recoded = IsingLasso(0.01, kinds="ordinal").fit(items.assign(e=answers[:, 4]))
    assert np.array_equal(turned.couplings_, recoded.couplings_)
    assert np.array_equal(turned.predict(items)[:, 0], recoded.predict(items.assign(e=answers[:, 4]))[:, 0])


def test_what_is_asked_of_an_estimator_before_it_is_fitted_is_named():
    with pytest.raises(NotFittedError, match="This IsingLasso instance is not fitted yet"):
        IsingLasso().couplings_  # noqa: B018
    assert not hasattr(IsingLasso(), "couplings_")


@pytest.mark.parametrize("labels", [[10, 20, 30, 40, 50], [0, 1, 2, 3, 4]])
@pytest.mark.parametrize("turned", [False, True])
def test_labels_that_are_no_text_are_compared_too(labels, turned):
    """scikit-learn compares names that are text; other labels in another order would be other columns."""
    first, second = np.random.default_rng(0).integers(0, 2, (2, 200, 5))
    frame = pd.DataFrame(first | second * np.array([0, 1, 0, 1, 0]), columns=labels)
    one, other = (frame[labels[::-1]], frame) if turned else (frame, frame[labels[::-1]])
    net = IsingLasso(0.01, missing="impute").fit(one)
    for ask in (net.transform, net.score, net.score_samples, net.predict, net.predict_proba, net.impute):
        with pytest.raises(DataError, match="columns of fit in the same order"):
            ask(other)
    pd.testing.assert_frame_equal(net.transform(one), one, check_dtype=False)
    assert net.score(one) == pytest.approx(net.score_samples(one).mean())
    assert net.score(one.to_numpy()) == net.score(one)


@pytest.mark.parametrize(("cv", "weight", "got"), [(None, None, 10), (9, [2.0] * 6, 9)])
def test_too_many_folds_are_those_of_cv(cv, weight, got):
    """Also those that are not given, and where whole numbers are no counts."""
    table = as_table(np.array([[0, 1], [1, 0], [0, 0], [1, 1], [0, 1], [1, 0]]), weight, weight_kind="sampling")
    with pytest.raises(DataError, match=rf"cv must be from 2 to .* \(n_samples=6\); got {got}"):
        IsingLassoCV(cv=cv).fit(table)


def test_reading_options_beside_a_table_that_was_not_read_by_them_are_refused():
    frame = pd.DataFrame({"a": [1, 2, 3, 1, 2, 3], "b": [0, 1, 0, 1, 1, 0]})
    table = as_table(frame, kinds={"a": "ordinal"})
    assert IsingLasso(kinds="ordinal").fit(table).network_.variables.kinds == ("ordinal", "binary")
    for options in (
        *({"kinds": "nominal"}, {"binarize": 1.0}, {"na_values": [3]}, {"encode": {1: 0, 2: 1, 3: 1}}),
        *({"reverse": ["a"]},),
    ):
        with pytest.raises(DataError, match=f"{next(iter(options))} must be given where the table is read"):
            IsingLasso(**options).fit(table)
    assert IsingLasso(kinds={"a*": "ordinal"}).fit(table).network_.n_nodes == 2
    words = as_table(frame.replace({0: "no", 1: "yes", 2: "no", 3: "yes"}), encode={"yes": 1, "no": 0})
    with pytest.raises(DataError, match="encode must be given where"):
        IsingLasso(encode={"yes": 0, "no": 1}).fit(words)
    assert IsingLasso(encode="auto").fit(words).network_.n_nodes == 2
    with pytest.raises(DataError, match="kinds must be given where"):
        IsingLasso(kinds="continuous").fit(as_table(frame, binarize={"a": 1}))
    assert IsingLasso(kinds="binary").fit(as_table(frame, binarize={"a": 1})).network_.n_nodes == 2


@pytest.mark.filterwarnings("ignore:.*(became 0|left out)")
def test_another_treatment_of_missing_cells_than_that_of_a_table_is_refused():
    frame = pd.DataFrame({"a": [0, 1, None, 1, 0, 1, 0, 1], "b": [0, 1, 0, 1, 1, 0, 0, 1]})
    frame = pd.concat([frame] * 3, ignore_index=True)
    for treatment in ("zero", "drop", "impute"):
        table = as_table(frame, missing=treatment)
        for other in {"zero", "drop", "impute"} - {treatment}:
            with pytest.raises(DataError, match=f'missing must be given where.*read with missing="{treatment}"'):
                IsingLasso(missing=other).fit(table)
        for same in ("error", treatment):
            assert IsingLasso(missing=same).fit(table).network_.n_nodes == 2


def test_filled_columns_keep_their_type():
    rng = np.random.default_rng(0)
    words = np.array(["lo", "mid", "hi"])[rng.integers(0, 3, 60)].tolist()
    flags = rng.integers(0, 2, 60).astype(bool)
    words[3] = None
    ordered = pd.CategoricalDtype(["lo", "mid", "hi"], ordered=True)
    frame = pd.DataFrame({"o": pd.Categorical(words, dtype=ordered), "b": flags})
    net = IsingLasso(missing="impute").fit(frame)
    for filled in (net.transform(frame), net.impute(frame)):
        assert filled.dtypes.tolist() == [ordered, np.dtype(bool)]
        assert (filled["o"].drop(3) == frame["o"].drop(3)).all()
    assert make_pipeline(IsingLasso(missing="impute"), IsingLasso()).fit(frame)[-1].network_.categories[0] == (
        *("lo", "mid", "hi"),
    )
    enum = pl.Enum(["lo", "mid", "hi"])
    of_polars = pl.DataFrame({"o": pl.Series(words, dtype=enum), "b": flags})
    assert IsingLasso(missing="impute").fit(of_polars).transform(of_polars).dtypes == [enum, pl.Boolean]


def test_names_of_features_that_are_not_those_of_fit():
    frame = pd.DataFrame({"a": [0, 1, 0, 1], "b": [0, 1, 1, 0]})
    net = IsingLasso().fit(frame)
    assert net.get_feature_names_out(["a", "b"]).tolist() == ["a", "b"]
    blank = IsingLasso().fit(frame.rename(columns={"a": " a"}))  # names are read without blanks around them
    assert blank.get_feature_names_out(blank.feature_names_in_).tolist() == [" a", "b"]
    for wrong in (["b", "a"], ["a"], ["q", "r"]):
        with pytest.raises(ValueError, match="input_features must be the 2 columns of fit in the same order"):
            net.get_feature_names_out(wrong)
    unnamed = IsingLasso().fit(frame.to_numpy())
    assert unnamed.get_feature_names_out(["q", "r"]).tolist() == ["q", "r"]
    with pytest.raises(ValueError, match="must be the 2 columns of fit"):
        unnamed.get_feature_names_out(["q"])
