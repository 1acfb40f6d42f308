import functools
import itertools
import pickle
import re
import sys

import numpy as np
import pandas as pd
import pytest
from choices import ByFunction, two_stage
from networks import make_table

from isinglass import (
    EBIC,
    CrossValidation,
    Fixed,
    IsingLasso,
    IsingLassoCV,
    IsingLassoEBIC,
    IsingLassoStARS,
    Method,
    NodewiseIsingEBIC,
    PerNode,
    Run,
    Solution,
    StARS,
    TwoStage,
    bootstrap,
    ising_path,
    simulate,
)
from isinglass.arguments import spawn_seeds
from isinglass.data import as_table
from isinglass.errors import ConvergenceWarning, DataError, FewColumnsWarning
from isinglass.select.method import as_method

CHAIN = simulate.chain_network(4, strength=1.2, fields="balanced")
ISING_FIT = Method("nodewise", PerNode(), penalty_weights="standardized")
METHODS = {
    "default": None,
    "alpha": 0.05,
    "ebic": EBIC(),
    "two stages": Method(selector=TwoStage(gamma=0.5)),
    "cv": CrossValidation(n_folds=3),
    "stars": StARS(n_subsamples=5, threshold=0.12),
    "IsingFit": ISING_FIT,
    "IsingFit estimator": NodewiseIsingEBIC(),
    "estimator": IsingLassoEBIC(alphas=10),
    "StARS estimator": IsingLassoStARS(alphas=10, n_subsamples=5, threshold=0.12, random_state=0),
    "CV estimator": IsingLassoCV(alphas=10, cv=3, random_state=0),
}


@pytest.fixture(scope="module")
def table():
    return simulate.exact_sample(CHAIN, 200, random_state=1)


@pytest.fixture
def drop(monkeypatch):
    def drop_shares(*shares):
        monkeypatch.setattr(sys.modules["isinglass.select.bootstrap"], "DROP_SHARES", shares)
        return {"kind": "case-drop"}

    return drop_shares


def rows_of_resamples(n_rows, n_boot, random_state, share=0.0):
    """Return the rows of every resample, in full: those drawn twice twice."""
    for seed in spawn_seeds(random_state, n_boot):
        rng = np.random.default_rng(seed)
        if share:
            kept = n_rows - round(share * n_rows)
            times = rng.multivariate_hypergeometric([1] * n_rows, kept, method="marginals")
        else:
            times = rng.multinomial(n_rows, [1 / n_rows] * n_rows)
        yield np.array([row for row in range(n_rows) for _ in range(times[row])])


def resampled(X, fit, n_boot, random_state, share=0.0):
    """Return the couplings of every resample, each from a table of repeated rows."""
    rows = rows_of_resamples(len(X), n_boot, random_state, share)
    return np.array([fit(X[some]).couplings for some in rows])


def test_summaries_by_plain_loops(table):
    path_function = functools.partial(ising_path, tol=1e-11)
    found = bootstrap(table, ByFunction(lambda X: path_function(X, [0.08])[0]), n_boot=20, random_state=0)
    couplings = resampled(table, lambda X: path_function(X, [0.08])[0], 20, 0)
    network = path_function(table, [0.08])[0]
    pairs = list(itertools.combinations(range(4), 2))
    seen = [(s, t) for s, t in pairs if couplings[:, s, t].any() or network.couplings[s, t]]
    assert found.edge_index.tolist() == [list(pair) for pair in seen]
    means = {(row[0], row[1]): row[3] for row in zip(*found.edges().values(), strict=True)}
    for k, (s, t) in enumerate(seen):
        values = couplings[:, s, t]
        assert found.edge_values[k] == network.couplings[s, t]
        assert means[f"x{s}", f"x{t}"] == pytest.approx(values.mean(), rel=1e-12)
        assert found.inclusion[k] == (values != 0).mean()
        np.testing.assert_allclose(found.edge_quantiles[:, k], np.quantile(values, [0.025, 0.5, 0.975]), rtol=1e-12)
    strengths = np.abs(couplings).sum(axis=2)
    np.testing.assert_allclose(found.node_draws(), strengths, rtol=1e-12)
    np.testing.assert_allclose(found.nodes()["strength"], np.abs(network.couplings).sum(axis=0), rtol=1e-12)
    nodes = found.nodes()
    quantiles = [nodes[name] for name in ("q2.5", "q50", "q97.5")]
    np.testing.assert_allclose(quantiles, np.quantile(strengths, [0.025, 0.5, 0.975], axis=0))
    assert found.n_boot == 20
    assert not found.dropped.any()


@pytest.mark.parametrize("share", [0.0, 0.4])
def test_weights_are_repeated_rows(table, share, drop):
    """The table with whole weights gives the networks of the tables with repeated rows."""
    fit = Method(selector=EBIC(alphas=[0.2, 0.05, 0.02, 0.005]), tol=1e-10)
    kind = drop(share) if share else {}
    found = bootstrap(table, fit, n_boot=8, random_state=0, **kind)
    chosen = [fit.choose(table[rows]) for rows in rows_of_resamples(len(table), 8, 0, share)]
    assert found.alphas.tolist() == [choice.alpha for choice in chosen]
    couplings = np.array([[choice.solution.couplings[s, t] for s, t in found.edge_index] for choice in chosen])
    np.testing.assert_allclose(found.draws.toarray(), couplings, atol=1e-6)
    np.testing.assert_allclose(found.fields, [choice.solution.fields for choice in chosen], atol=1e-6)


@pytest.mark.parametrize("name", METHODS)
def test_any_fit_can_be_resampled(table, name):
    """The network that is resampled is the one that the method gives, and each resample chooses its penalty."""
    method = METHODS[name]
    found = bootstrap(table, method, n_boot=3, random_state=0)
    if hasattr(method, "predict"):
        network = method.fit(table).fit_.solution
        again = bootstrap(table, method, n_boot=3, random_state=0)  # it makes no difference that it is fitted now
        assert again.node_draws().tobytes() == found.node_draws().tobytes()
    else:
        network = as_method(method).choose(table).solution
    assert found.solution.edge_index.tolist() == network.edge_index.tolist()
    assert found.solution.edge_values.tobytes() == network.edge_values.tobytes()
    # Two stages look at steps from the penalty of the whole table, and may come to the same.
    if name not in ("alpha", "default", "two stages") and "IsingFit" not in name:
        assert len(set(found.alphas)) == 3
    pickle.loads(pickle.dumps(found))


@pytest.mark.parametrize("name", [name for name in METHODS if "IsingFit" not in name])
def test_the_penalty_can_be_kept(table, name):
    found = bootstrap(table, METHODS[name], n_boot=3, random_state=0, reselect=False)
    assert found.alphas.tolist() == [found.solution.alpha] * 3
    if name not in ("default", "two stages"):
        couplings = resampled(table, lambda X: ising_path(X, [found.solution.alpha])[0], 3, 0)
        np.testing.assert_allclose(found.node_draws(), np.abs(couplings).sum(axis=2), atol=1e-5)


@pytest.mark.parametrize("keep", [0.0, 1.0])
def test_kept_stages_give_the_network_of_the_whole_table(keep):
    """With every row once, both stages at the penalties they chose are what the two-stage estimate found."""
    X = simulate.gibbs_sample(simulate.random_network(12, 0.3, random_state=0), 300, random_state=0)
    found = two_stage(X, keep=keep)
    again = Method(selector=TwoStage(keep=keep)).at(found).choose(X).solution
    assert again.edge_index.tolist() == found.solution.edge_index.tolist()
    np.testing.assert_allclose(again.edge_values, found.solution.edge_values, atol=1e-5)


@pytest.mark.parametrize("method", [ISING_FIT, NodewiseIsingEBIC(penalty_weights=None)])
def test_penalties_of_nodes_can_be_kept(table, method):
    wanted = as_method(method)
    found = wanted.choose(table)
    kept = wanted.at(found).choose(table).solution
    np.testing.assert_allclose(kept.couplings, found.solution.couplings, atol=1e-6)
    np.testing.assert_array_equal(kept.alphas_per_node, found.solution.alphas_per_node)
    halved = wanted.at(found, 0.5).choose(table).solution
    np.testing.assert_array_equal(halved.alphas_per_node, 0.5 * found.solution.alphas_per_node)


@pytest.fixture
def seen(monkeypatch):
    """Collect the tables and groups that a method is given."""
    calls, real = [], Method.choose

    def spy(self, X, *, groups=None, **options):
        calls.append((X.sample_weight, groups))
        return real(self, X, groups=groups, **options)

    monkeypatch.setattr(Method, "choose", spy)
    return calls


def test_a_resample_is_the_table_with_other_weights(table, seen):
    """Folds inside a resample are made of original rows: a row is never held out from its own copies."""
    bootstrap(table, 0.1, n_boot=2, random_state=0)
    assert seen[0][0] is None
    for (weight, _), rows in zip(seen[1:], rows_of_resamples(200, 2, 0), strict=True):
        np.testing.assert_array_equal(weight, np.bincount(rows, minlength=200))


def test_weights_are_how_often_rows_are_drawn(table):
    tables = []

    def fit(X):
        tables.append(np.asarray(X))
        return ising_path(X, [0.1])[0]

    bootstrap(table, ByFunction(fit), n_boot=2, random_state=0)
    for X, rows in zip(tables[1:], rows_of_resamples(200, 2, 0), strict=True):
        np.testing.assert_array_equal(X, table[rows])


def test_a_resample_without_an_incomplete_row_is_fitted_as_it_is(table):
    holed = table[:60].astype(float)
    holed[7, 2] = np.nan
    found = bootstrap(as_table(holed, missing="impute"), CrossValidation(alphas=5), n_boot=8, random_state=0)
    whole = bootstrap(table[:60], CrossValidation(alphas=5), n_boot=8, random_state=0)
    complete = [7 not in rows for rows in rows_of_resamples(60, 8, 0)]
    assert 0 < sum(complete) < 8
    np.testing.assert_allclose(found.fields[complete], whole.fields[complete], atol=1e-6)


def test_groups_are_drawn_together(table, seen):
    groups = np.arange(200) // 4
    bootstrap(table, 0.1, n_boot=3, random_state=0, groups=groups)
    for weight, labels in seen[1:]:
        np.testing.assert_array_equal(labels, groups)
        assert (weight.reshape(50, 4) == weight[::4, None]).all()
        assert weight.sum() == 200
    with pytest.raises(DataError, match="groups must have one entry per row"):
        bootstrap(table, 0.1, n_boot=2, groups=groups[:-1])


@pytest.mark.parametrize("groups", [np.r_[np.full(100, np.nan), np.arange(100)], [None] * 100 + list("ab") * 50])
def test_rows_without_a_group_are_refused(table, groups):
    with pytest.raises(DataError, match="got none in 100 of 200 rows"):
        bootstrap(table, 0.1, n_boot=2, groups=groups)
    with pytest.raises(DataError, match="got none in 100 of 200 rows"):
        Method().choose(table, groups=groups)


def test_a_column_may_hold_the_groups(table, seen):
    frame = pd.DataFrame(table).add_prefix("x").assign(person=[f"{n // 4:02d}" for n in range(200)])
    found = bootstrap(frame, 0.1, n_boot=2, groups="person")
    assert found.solution.network.names == ("x0", "x1", "x2", "x3")
    for _, labels in seen:
        np.testing.assert_array_equal(labels, np.arange(200) // 4)


@pytest.mark.parametrize("scale", [1.0, 0.7])
def test_groups_without_weight_are_not_drawn(table, seen, scale):
    groups = np.arange(200) // 4
    weight = np.where(groups < 3, 1.0 + (scale - 1.0) * (np.arange(200) % 2), 0.0)  # 3 of 50
    bootstrap(table, 0.1, n_boot=20, random_state=0, groups=groups, sample_weight=weight)
    assert len(seen) == 21
    for drawn, labels in seen[1:]:
        assert set(labels[drawn > 0]) <= {0, 1, 2}


@pytest.mark.parametrize("scale", [1.0, 0.7])
def test_copies_of_a_row_are_drawn_together_with_their_weight(table, monkeypatch, scale):
    """Completed rows: the last 40 rows four times, each copy with a quarter of the weight."""
    origin = np.concatenate([np.arange(160), np.tile(np.arange(160, 200), 4)])
    whole = np.where(np.arange(200) % 2, 1.0, scale)
    share = np.where(origin < 160, 1.0, 0.25) * whole[origin]
    completed, seen, real = make_table(table[origin], rows=origin, sample_weight=share), [], Method.choose

    def spy(self, X, *, groups=None, **options):
        seen.append((X.counted(), groups))
        return real(self, X, groups=groups, **options)

    monkeypatch.setattr(Method, "choose", spy)
    bootstrap(completed, 0.1, n_boot=3, random_state=0)
    assert seen[0][0].total_weight == pytest.approx(whole.sum() ** 2 / (whole**2).sum())
    for (resample, labels), rows in zip(seen[1:], rows_of_resamples(200, 3, 0), strict=True):
        drawn = np.bincount(rows, minlength=200)
        weight = np.bincount(labels, resample.sample_weight, minlength=200)
        np.testing.assert_allclose(weight / weight.sum(), drawn * whole / (drawn @ whole))
        assert resample.total_weight == pytest.approx((drawn @ whole) ** 2 / (drawn @ whole**2))


def test_whole_weights_are_drawn_and_others_stay_with_their_rows(table, seen):
    whole = np.arange(200) % 3.0
    bootstrap(make_table(table, sample_weight=whole), 0.1, n_boot=20, random_state=0)
    drawn = np.array([weight for weight, _ in seen[1:]])
    assert (drawn.sum(axis=1) == whole.sum()).all()
    assert not drawn[:, whole == 0].any()
    assert drawn[:, whole == 2].mean() == pytest.approx(2 * drawn[:, whole == 1].mean(), rel=0.1)
    seen.clear()
    bootstrap(table, 0.1, n_boot=5, random_state=0, sample_weight=whole / 2 + 0.25)
    weights = [weight for weight, _ in seen]
    for resample in weights[1:]:
        np.testing.assert_array_equal(np.unique(resample), np.unique(weights[0]))
        assert len(resample) == 200
        assert (np.unique(resample, return_counts=True)[1] != np.unique(weights[0], return_counts=True)[1]).any()
    with pytest.raises(DataError, match="must not be given with a table that has its own weights"):
        bootstrap(make_table(table, sample_weight=whole), 0.1, n_boot=2, sample_weight=whole)


def test_names_are_kept(table):
    frame = pd.DataFrame(table, columns=["rain", "umbrella", "mud", "boots"])
    found = bootstrap(frame, 0.05, n_boot=5, random_state=0)
    assert found.names == ("rain", "umbrella", "mud", "boots")
    edges = pd.DataFrame(found.edges())
    assert set(edges["source"]) | set(edges["target"]) == set(found.names)
    assert list(edges.columns) == ["source", "target", "coupling", "mean", "q2.5", "q50", "q97.5", "inclusion"]
    assert (edges["coupling"].abs().diff().dropna() <= 0).all()
    assert re.search(r"^rain +umbrella ", repr(found), re.M)
    nodes = pd.DataFrame(found.nodes()).set_index("name")
    assert nodes.loc["mud", "strength"] == found.solution.network.strength[2]
    assert bootstrap(table, 0.05, n_boot=2, random_state=0).names == ("x0", "x1", "x2", "x3")
    fitted = IsingLasso(0.05).fit(frame)  # which knows the names, although the table does not
    assert bootstrap(table, fitted, n_boot=2, random_state=0).names == found.names


def test_an_estimator_reads_the_table_its_way(table):
    words = pd.DataFrame(np.where(table, "Yes", "No"), columns=list("abcd"))
    words.iloc[3, 2] = None
    estimator = IsingLasso(0.05, encode="auto", missing="drop")
    found = bootstrap(words, estimator, n_boot=4, random_state=0)
    plain = bootstrap(np.delete(table, 3, axis=0), 0.05, n_boot=4, random_state=0)
    assert found.names == tuple("abcd")
    np.testing.assert_allclose(found.node_draws(), plain.node_draws(), atol=1e-12)


def test_pairs_never_seen_are_not_stored(table):
    found = bootstrap(table, 0.12, n_boot=10, random_state=0)
    assert 0 < len(found.edge_index) < 6
    empty = bootstrap(table, 2.0, n_boot=5, random_state=0)
    assert empty.edge_index.shape == (0, 2)
    assert empty.edge_quantiles.shape == (3, 0)
    assert np.isnan(empty.correlations()).all()
    assert np.isnan(empty.correlations("edges")).all()
    assert len(empty.differences()["first"]) == 0
    assert repr(empty).startswith('Bootstrap("rows": 5 resamples, 0 pairs')


def test_identical_bits_for_any_number_of_jobs(table):
    for kind, method in (("rows", None), ("case-drop", 0.05), ("rows", IsingLassoCV(alphas=5, cv=2, random_state=0))):
        one, two = (bootstrap(table, method, n_boot=10, kind=kind, random_state=3, run=Run(n_jobs=n)) for n in (1, 2))
        for name in ("edge_index", "fields", "alphas", "edge_quantiles", "inclusion", "dropped"):
            assert getattr(one, name).tobytes() == getattr(two, name).tobytes()


def test_seeds(table):
    run = functools.partial(bootstrap, table, 0.05, n_boot=5)
    assert run(random_state=1).node_draws().tobytes() == run(random_state=1).node_draws().tobytes()
    assert run(random_state=1).node_draws().tobytes() != run(random_state=2).node_draws().tobytes()
    longer = bootstrap(table, 0.05, n_boot=8, random_state=1)  # resample k does not depend on how many there are
    assert longer.node_draws()[:5].tobytes() == run(random_state=1).node_draws().tobytes()


def test_case_drop_keeps_distinct_rows(table, drop):
    sizes, whole = [], len(table)

    def fit(X):
        sizes.append(len(X))
        return ising_path(X, [0.05])[0]

    found = bootstrap(table, ByFunction(fit), n_boot=6, random_state=0, **drop(0.25, 0.5))
    assert sizes == [whole, 150, 100, 150, 100, 150, 100]
    assert found.dropped.tolist() == [0.25, 0.5] * 3

    numbered = ((np.arange(64)[:, None] >> np.arange(6)) & 1).astype(np.uint8)
    rows = []

    def number(X):
        rows.append(np.asarray(X) @ (1 << np.arange(6)))
        return Solution.from_dense(1.0, np.zeros((6, 6)), np.zeros(6))

    bootstrap(numbered, ByFunction(number), n_boot=10, random_state=0, **drop(0.05, 0.75))
    assert all(len(set(kept)) == len(kept) for kept in rows)


def test_rows_are_drawn_alike(table):
    """Counts of a row are binomial with mean 1, and variance 1 − 1/n."""
    numbered = ((np.arange(200)[:, None] >> np.arange(8)) & 1).astype(np.uint8)
    counts = []

    def fit(X):
        counts.append(np.bincount(np.asarray(X) @ (1 << np.arange(8)), minlength=200))
        return Solution.from_dense(1.0, np.zeros((8, 8)), np.zeros(8))

    bootstrap(numbered, ByFunction(fit), n_boot=500, random_state=0)
    drawn = np.array(counts[1:])
    assert drawn.mean(axis=0) == pytest.approx(np.ones(200), abs=4.5 / np.sqrt(500))
    assert drawn.var() == pytest.approx(1 - 1 / 200, rel=0.02)


def test_column_that_is_constant_in_a_resample_has_no_edges_there(table):
    X = np.column_stack([table, np.zeros(len(table), dtype=np.uint8)])
    X[17, 4] = 1
    found = bootstrap(X, 1e-4, n_boot=30, random_state=0)
    rare = (found.edge_index == 4).any(axis=1)
    assert 0 < found.inclusion[rare].max() < 1  # the row is absent with probability 1/e


def test_billions_of_counted_rows_are_drawn(drop):
    cells, counts = [[0, 0], [0, 1], [1, 0], [1, 1]], np.array([4, 1, 1, 4]) * 10**9
    found = bootstrap(cells, 0.05, n_boot=2, sample_weight=counts, **drop(0.25, 0.75))
    assert found.draws.toarray() == pytest.approx(np.full((2, 1), found.edge_values[0]), rel=1e-3)


def test_a_checkpoint_needs_a_seed(table, tmp_path):
    with pytest.raises(DataError, match="A checkpoint needs a random_state"):
        bootstrap(table, 0.1, n_boot=2, random_state=None, run=Run(checkpoint=tmp_path / "run"))


@pytest.mark.parametrize(
    ("selector", "setting"), [(TwoStage, {"keep": "x"}), (StARS, {"threshold": "x"}), (StARS, {"threshold": None})]
)
def test_settings_that_are_no_numbers_are_refused(selector, setting):
    with pytest.raises(DataError, match=r"must be (from 0 to|finite and not negative)"):
        selector(**setting)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": np.zeros(7)}, "at least 2 groups; got 1"),
        ({"sample_weight": np.eye(7)[0]}, "at least 2 rows of positive weight; got 1"),
    ],
)
def test_what_cannot_be_resampled_is_refused(table, options, message):
    with pytest.raises(DataError, match=message):
        bootstrap(table[:7], 0.1, n_boot=3, **options)


@pytest.mark.filterwarnings("ignore::isinglass.errors.GridEndWarning")
def test_a_warning_about_the_columns_is_not_repeated_by_resamples(table):
    with pytest.warns(FewColumnsWarning) as caught:
        bootstrap(table, StARS([0.2, 0.1, 0.05], n_subsamples=4), n_boot=3)
    assert sum(warning.category is FewColumnsWarning for warning in caught) == 1


def test_resamples_that_do_not_converge_are_counted(table):
    method = IsingLasso(1e-4, max_iter=1)
    with pytest.warns(ConvergenceWarning) as caught:
        found = bootstrap(table, method, n_boot=4, random_state=0)
    assert found.n_unconverged == 4
    assert "4 of 4 resamples did not reach the tolerance" in str(caught[-1].message)


CALLS = []


class Counted(Fixed):
    def choose(self, task):
        CALLS.append(len(task.table))
        return super().choose(task)


def test_checkpoint_resumes_refuses_and_prolongs(table, tmp_path):
    file = tmp_path / "boot"
    CALLS.clear()
    first = bootstrap(table, Counted(), n_boot=5, random_state=0, run=Run(checkpoint=file))
    assert len(CALLS) == 6
    longer = bootstrap(table, Counted(), n_boot=8, random_state=0, run=Run(checkpoint=file))
    assert len(CALLS) == 6 + 1 + 3  # the whole table, and the three new resamples
    assert longer.node_draws()[:5].tobytes() == first.node_draws().tobytes()
    with pytest.raises(DataError, match="random_state"):
        bootstrap(table, Counted(), n_boot=5, random_state=1, run=Run(checkpoint=file))
    with pytest.raises(DataError, match="differs in X"):
        bootstrap(table[:-1], Counted(), n_boot=5, random_state=0, run=Run(checkpoint=file))


def test_checkpoint_names_the_setting_that_differs(table, tmp_path):
    bootstrap(table, 0.05, n_boot=3, random_state=0, run=Run(checkpoint=tmp_path / "boot"))
    with pytest.raises(DataError, match=r"differs in method\.selector\.alpha \(0\.05 there, 0\.06 here\)"):
        bootstrap(table, 0.06, n_boot=3, random_state=0, run=Run(checkpoint=tmp_path / "boot"))


def test_checkpoint_does_not_depend_on_how_a_method_is_run(table, tmp_path):
    kept = Run(checkpoint=tmp_path / "boot")
    first = bootstrap(table, IsingLassoCV(alphas=5, cv=2, random_state=0), n_boot=2, run=kept)
    again = IsingLassoCV(alphas=5, cv=2, random_state=0, n_jobs=2)
    longer = bootstrap(table, again, n_boot=3, run=kept.replace(n_jobs=2))
    assert longer.node_draws()[:2].tobytes() == first.node_draws().tobytes()
    with pytest.raises(DataError, match=r"differs in method\.selector\.n_folds"):
        bootstrap(table, IsingLassoCV(alphas=5, cv=3, random_state=0), n_boot=2, run=kept)


def test_a_time_limit_is_refused(table):
    with pytest.raises(DataError, match="max_time must be left out where many networks are estimated"):
        bootstrap(table, n_boot=2, run=Run(max_time=1.0))


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        (0.05, {"n_boot": 0}, "n_boot must be"),
        (0.05, {"kind": "pairs"}, 'kind must be one of "rows", "case-drop"'),
        (0.05, {"kind": "case-drop", "n_boot": 9}, "n_boot must be at least 10, one for each share of rows"),
        (0.05, {"kind": "case-drop", "n_boot": 10, "groups": np.arange(200) % 2}, "need at least 3 groups; got 2"),
        (-0.05, {}, "method must be a Method, a selector, an estimator, or a penalty"),
        ("0.05", {}, "method must be a Method, a selector, an estimator, or a penalty"),
        (True, {}, "method must be a Method, a selector, an estimator, or a penalty"),
        (IsingLasso, {}, "method must be a Method, a selector, an estimator, or a penalty"),
        (lambda X: ising_path(X, [0.1])[0], {}, "a penalty that is not negative; .* Make a selector"),
    ],
)
def test_bad_inputs(table, method, options, message):
    with pytest.raises(DataError, match=message):
        bootstrap(table, method, **({"n_boot": 2} | options))


def one_edge(n_rows, seed):
    """Return five columns of which the first two depend on each other."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_rows, 5))
    X[:, 1] = X[:, 0] ^ (rng.random(n_rows) < 0.2)
    return X


@pytest.mark.parametrize("share", [0.0, 0.25])
@pytest.mark.parametrize(
    "X",
    [one_edge(500, 0), one_edge(500, 1), simulate.exact_sample(CHAIN, 200, random_state=1), one_edge(60, 0)],
    ids=["one edge", "another", "chain", "few rows"],
)
def test_a_resample_is_fitted_as_a_fresh_table_of_its_rows(X, share, drop):
    how = drop(share) if share else {}
    found = bootstrap(X, n_boot=4, random_state=3, **how)
    for k, rows in enumerate(rows_of_resamples(len(X), 4, 3, share)):
        fresh = Method().choose(X[rows], groups=rows).solution  # copies of a row stay in one fold
        drawn = found.draws[[k]].tocoo()
        edges = {tuple(found.edge_index[place]) for place in drawn.coords[1]}
        assert edges == set(map(tuple, fresh.edge_index))
        np.testing.assert_allclose(found.alphas[k], fresh.alpha, rtol=1e-9)
