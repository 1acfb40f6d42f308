"""Imputation: cells come from the network, nothing observed changes, bad tables have a defined result or message."""

from dataclasses import replace

import numpy as np
import pytest
from choices import cross_validate, select_ebic, stars, two_stage
from networks import make_table

from isinglass import (
    Fixed,
    Method,
    TwoStage,
    as_table,
    bootstrap,
    impute,
    ising_path,
    refit,
    simulate,
)
from isinglass.errors import (
    ArgumentError,
    ConstantColumnWarning,
    ConvergenceWarning,
    DataError,
    LimitError,
    suppress_warnings,
)
from isinglass.select import ImputationSettings, Run, ebic, imputation, stochastic_em
from isinglass.select.imputation import complete_table
from isinglass.select.pooling import redraw
from isinglass.select.task import Task
from isinglass.select.two_stage import FixedStages

CHAIN = simulate.chain_network(6, strength=2.0, fields="balanced")
X = simulate.exact_sample(CHAIN, 400, random_state=0)
GONE = np.random.default_rng(0).random(X.shape) < 0.2
HOLES = np.where(GONE, np.nan, X)
FOUND = impute(HOLES, n_imputations=4)


def test_a_time_limit_ends_the_rounds(monkeypatch):
    clock, limits = iter(np.arange(0.0, 1000.0, 2.0).tolist()), []
    monkeypatch.setattr(stochastic_em.time, "monotonic", lambda: next(clock))
    choose = TwoStage.choose

    def listen(selector, task):
        limits.append(task.deadline)
        return choose(selector, task)

    monkeypatch.setattr(TwoStage, "choose", listen)
    with pytest.warns(ConvergenceWarning, match=r"not converged after \d rounds\. Raise max_time"):
        cut = impute(HOLES, n_imputations=2, run=Run(max_time=60.0))
    assert cut.record.is_cut
    assert not cut.converged
    assert 1 <= cut.record.n_rounds < 10
    assert limits[0] == 60.0  # all rounds have the same end
    with pytest.warns(ConvergenceWarning, match="after 1 round. Raise"):
        assert impute(HOLES, n_imputations=2, run=Run(max_time=1.0)).record.n_rounds == 1
    with pytest.warns(ConvergenceWarning, match="Raise max_time"):
        fit = Method().fit(as_table(HOLES, missing="impute"), run=Run(max_time=60.0))
    assert fit.selection.left_out.startswith("rounds of imputation")


def test_without_time_the_network_is_sparse_and_not_empty(monkeypatch):
    """Where the time is spent in the first round, cells are drawn from a network with edges, and one is returned."""
    monkeypatch.setattr(Task, "is_late", True)
    table = as_table(HOLES, missing="impute")
    with pytest.warns(ConvergenceWarning, match="after 1 round. Raise max_time"):
        fit = Method().fit(table, run=Run(max_time=1e-9))
    assert fit.selection.left_out == "rounds of imputation, further networks and standard errors"
    assert np.isfinite(fit.refits.edges).any()
    assert np.isnan(fit.refits.edge_errors).all()
    assert fit.imputation.network.n_edges > 0
    assert fit.network.n_edges > 0


def test_standard_errors_are_left_out_only_where_there_would_be_some():
    table = as_table(HOLES[:, :3], missing="impute")
    method = Method(selector=TwoStage(alphas=[5.0]), imputation=ImputationSettings(n_imputations=2))
    fit = method.fit(table, run=Run(max_time=100.0))
    assert (fit.network.n_edges, fit.selection.left_out) == (0, "")


def test_an_empty_network_for_lack_of_time_is_said(monkeypatch):
    monkeypatch.setattr(Task, "is_late", True)
    independent = np.random.default_rng(0).integers(0, 2, (200, 4))
    with pytest.warns(ConvergenceWarning, match="before a network with edges was found"):
        assert Method().fit(independent, run=Run(max_time=1e-9)).network.n_edges == 0


def test_observed_cells_stay_and_weights_add_up():
    table = FOUND.table
    seen = ~GONE[table.rows]
    np.testing.assert_array_equal(table.codes[seen], X[table.rows][seen])
    sums = np.bincount(table.rows, weights=table.sample_weight)
    np.testing.assert_allclose(sums, 1.0)
    assert table.units is table.rows
    assert FOUND.converged
    assert FOUND.record.n_rounds == len(FOUND.record.changes)
    assert FOUND.record.settled >= 4
    np.testing.assert_allclose(FOUND.record.column_shares, GONE.mean(axis=0), atol=1e-12)
    assert 0 < FOUND.record.noise < 0.5
    assert "imputed 4 times" in repr(FOUND)


def test_completed_tables_are_whole():
    tables = list(FOUND.tables())
    assert len(tables) == 4
    for table in tables:
        assert table.sample_weight is None
        np.testing.assert_array_equal(table.rows, np.arange(len(X)))
        np.testing.assert_array_equal(table.codes[~GONE], X[~GONE])
    assert any((one.codes != tables[0].codes).any() for one in tables[1:])
    np.testing.assert_array_equal(tables[0].drawn, GONE)


def test_copies_keep_the_labels_of_their_row():
    sex = np.where(np.arange(len(X)) % 2, "f", "m")
    table = replace(as_table(HOLES, missing="impute"), labels={"sex": tuple(sex)})
    completed = impute(table, n_imputations=2).table
    assert completed.labels["sex"] == tuple(sex[completed.rows])


def test_rows_may_come_in_any_order():
    order = np.random.default_rng(1).permutation(len(X))
    found = impute(as_table(HOLES, missing="impute")[order], n_imputations=2)
    np.testing.assert_array_equal(found.table.drawn, GONE[found.table.rows])
    for table in found.tables():
        np.testing.assert_array_equal(table.codes[~GONE], X[~GONE])


def test_what_cannot_draw_cells_is_refused_before_any_is_drawn():
    for wrong in (None, 3):
        with pytest.raises(ArgumentError, match="imputation must be an instance of ImputationSettings"):
            Method(imputation=wrong)


def test_groups_follow_their_rows():
    """Whatever rows of a table are imputed: copies know the group, and the number that the row had at first."""
    some = np.random.default_rng(2).permutation(len(X))[:200]
    few = ImputationSettings(n_imputations=2, max_rounds=1)
    labels = np.arange(200) % 40
    with pytest.warns(ConvergenceWarning, match="1 round"):
        assert "imputed once, 1 round, NOT" in repr(impute(HOLES, n_imputations=1, max_rounds=1))
    with pytest.warns(ConvergenceWarning, match="1 round"):
        table, groups, found = complete_table(as_table(HOLES, missing="impute")[some], labels, few)
    assert table is found.table
    np.testing.assert_array_equal(groups, labels[np.argsort(some)[np.searchsorted(np.sort(some), table.rows)]])
    assert set(table.rows) <= set(some.tolist())


def test_rounds_start_at_the_last_choice_and_end_when_only_noise_is_left(monkeypatch):
    calls = []

    def watch(choose):
        def watched(selector, task):
            found = choose(selector, task)
            calls.append((selector, task.warm_start, found))
            return found

        return watched

    for kind in (TwoStage, FixedStages):
        monkeypatch.setattr(kind, "choose", watch(kind.choose))
    found = impute(HOLES, n_imputations=4)
    assert found.record.n_rounds == len(calls) == found.record.settled + stochastic_em.AVERAGED + 1
    last = None
    for number, (selector, start, choice) in enumerate(calls):
        assert start.solution is (last and last.solution)
        chooses = number == 0 or number % stochastic_em.LOOK_BACK == 2
        assert isinstance(selector, TwoStage if chooses else FixedStages)
        if chooses:  # without folds
            assert (choice.reason, choice.n_folds) == ("ebic", 0)
            last = choice


def test_cells_follow_the_network():
    """The share of ones among imputed cells whose two neighbors were seen is their conditional probability."""
    table = FOUND.table
    gone = GONE[table.rows]
    alone = gone[:, 2] & ~gone[:, 1] & ~gone[:, 3]
    both = alone & (table.codes[:, 1] == 1) & (table.codes[:, 3] == 1)
    chance = FOUND.network.conditional_probabilities(table.codes[both])[:, 2].mean()
    assert both.sum() > 40
    assert abs(table.codes[both, 2].mean() - chance) < 5 * np.sqrt(chance * (1 - chance) / both.sum())


def test_imputing_recovers_the_chain_and_zero_does_not():
    edges = two_stage(FOUND.table).solution
    assert edges.edge_index.tolist() == [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]]
    zero = two_stage(np.where(GONE, 0, X).astype(np.uint8)).solution
    whole = two_stage(X).solution

    def error(solution):
        return np.abs(solution.couplings - whole.couplings).max()

    assert error(edges) < 0.5 * error(zero)


def test_nothing_missing_gives_the_same_bits():
    found = impute(X)
    assert found.converged
    assert found.network is None
    assert repr(found).endswith("columns: no cell missing)")
    assert found.record is None
    assert found.table.sample_weight is None
    np.testing.assert_array_equal(next(found.tables()).codes, X)
    assert repr(ImputationSettings(2).complete(as_table(X))) == repr(found)
    one, other = two_stage(found.table), two_stage(X)
    np.testing.assert_array_equal(one.solution.edge_values, other.solution.edge_values)
    np.testing.assert_array_equal(Method().fit(found.table).refits.edge_errors, Method().fit(X).refits.edge_errors)


def test_same_seed_same_bits_on_any_threads():
    again = impute(HOLES, n_imputations=4, run=Run(n_threads=3))
    np.testing.assert_array_equal(again.table.codes, FOUND.table.codes)
    other = impute(HOLES, n_imputations=4, random_state=1)
    assert (other.table.codes != FOUND.table.codes).any()


def test_weights_of_the_table_are_shared_by_the_copies():
    weight = np.random.default_rng(2).integers(0, 3, len(X)) * 0.7
    weight *= weight.sum() / (weight**2).sum()  # the effective number of rows, to which sampling weights are scaled
    found = impute(make_table(X, holes=GONE, sample_weight=weight), n_imputations=3)
    sums = np.bincount(found.table.rows, weights=found.table.sample_weight, minlength=len(X))
    np.testing.assert_allclose(sums, weight)
    assert not np.isin(found.table.rows, np.flatnonzero(weight == 0)).any()
    assert sum(table.sample_weight.sum() for table in found.tables()) == pytest.approx(3 * weight.sum())


def test_every_criterion_takes_the_completed_table_and_keeps_copies_together(monkeypatch):
    table = FOUND.table
    held = []
    from isinglass.select import path_selectors

    plain = path_selectors._score_path
    monkeypatch.setattr(path_selectors, "_score_path", lambda *a: held.append(a[-2:]) or plain(*a))
    choice = cross_validate(table, alphas=5, n_folds=4, random_state=0)
    assert choice.solution.n_edges >= 5
    assert len(held) == 4
    for train, out in held:
        assert not np.intersect1d(table.rows[train], table.rows[out]).size
    assert select_ebic(table).solution.n_edges >= 5
    assert select_ebic(table).path.alphas[0] == pytest.approx(ising_path(table, 5).alphas[0])
    with pytest.warns(match="columns"):
        assert stars(table, alphas=5, n_subsamples=4, random_state=0).subsample_size == 200  # of 400 rows


def test_a_table_with_holes_is_refused_where_it_would_be_read_as_zeros():
    table = as_table(HOLES, missing="impute")
    assert table.holes.sum() == table.n_missing == GONE.sum()
    network = ising_path(X, [0.1])[0]
    for function in (lambda table: ising_path(table, [0.1]), lambda table: ebic(table, network)):
        with pytest.raises(DataError, match=r"still to be imputed.*impute\(table\)\.table"):
            function(table)
        function(FOUND.table)  # as the message says
    with pytest.raises(DataError, match=r"pool\(isinglass\.impute\(X\), solution\)"):
        refit(table, network)
    assert table[:10].n_missing == GONE[:10].sum()


def test_bootstrap_imputes_in_every_resample():
    penalty = np.where(CHAIN.couplings != 0, 1.0, np.inf)
    fixed = Method(selector=Fixed(0.01 / len(X)), penalty_weights=penalty)
    method = fixed.replace(imputation=ImputationSettings(n_imputations=3))
    holes = as_table(HOLES, missing="impute")
    options = {"n_boot": 16, "random_state": 0}
    found = bootstrap(holes, method, **options)
    several = bootstrap(holes, method, n_boot=3, random_state=0, run=Run(n_jobs=2))
    np.testing.assert_array_equal(found.fields[:3], several.fields)
    low, high = found.edge_quantiles[0], found.edge_quantiles[-1]
    assert ((low < 2.0 + 0.8) & (high > 2.0 - 0.8)).all()
    whole = bootstrap(X, fixed, **options)
    assert (high - low).mean() > (whole.edge_quantiles[-1] - whole.edge_quantiles[0]).mean()
    # A table that says that it wants to be imputed needs no more words.
    plain = bootstrap(holes, 0.05, n_boot=2, random_state=0, run=Run(progress=False))
    assert plain.solution.n_edges >= 5
    kept = bootstrap(holes, n_boot=2, reselect=False, random_state=0, run=Run(progress=False))
    assert kept.solution.n_edges >= 5


# ------------------------------------------------------------------------------------------- bad input


def test_a_column_without_an_answer_is_named():
    bad = HOLES.copy()
    bad[:, 3] = np.nan
    with pytest.raises(DataError, match=r"got none in 'x3'. Leave out"):
        impute(bad)


@pytest.mark.filterwarnings("ignore::isinglass.errors.DataWarning")
def test_a_value_that_was_not_observed_is_not_drawn():
    cells = np.column_stack([X[:60], np.ones(60), np.zeros(60)]).astype(float)
    cells[np.random.default_rng(1).random(cells.shape) < 0.4] = np.nan
    with suppress_warnings(ConstantColumnWarning, ConvergenceWarning):
        found = impute(cells, n_imputations=5)
        solution, seeds = ising_path(found.table, [0.05])[0], np.random.SeedSequence(0).spawn(5)
        again = [redraw(one, solution, found.network, seeds[k])[0] for k, one in enumerate(found.tables())]
    for table in (found.table, *again):
        assert np.unique(table.codes[:, 6]).tolist() == [1]
        assert np.unique(table.codes[:, 7]).tolist() == [0]


def test_rows_without_an_answer_are_left_out_and_counted():
    bad = np.vstack([HOLES, np.full((7, 6), np.nan)])
    found = impute(bad, n_imputations=2)
    assert found.record.n_left_out == 7
    assert found.table.rows.max() < len(HOLES)
    assert found.table.sample_weight.sum() == pytest.approx(len(HOLES))
    with pytest.raises(DataError, match="answer in every column"):
        impute(np.full((5, 3), np.nan))


def test_a_column_that_one_person_answered_is_named_and_has_no_certain_edge():
    bad = HOLES.copy()
    bad[1:, 3] = np.nan
    bad[0, 3] = 1.0
    with pytest.warns(UserWarning, match=r"fewer than 10 answers.*'x3' \(1 answer\)"):
        found = impute(bad, n_imputations=2)
    assert found.table.codes.shape[1] == 6
    assert np.isfinite(found.network.edge_values).all()


def test_most_cells_missing_has_a_defined_result():
    gone = np.random.default_rng(3).random(X.shape) < 0.95
    found = impute(np.where(gone, np.nan, X), n_imputations=2, max_rounds=12)
    assert found.record.column_shares.min() > 0.5
    assert found.record.n_left_out > 200
    assert np.isfinite(two_stage(found.table).solution.couplings).all()


def test_limits_and_rounds(monkeypatch):
    with pytest.warns(ConvergenceWarning, match="has not converged after 2 rounds"):
        found = impute(HOLES, n_imputations=2, max_rounds=2)
    assert not found.converged
    assert np.isnan(found.record.noise)
    assert "NOT converged" in repr(found)
    with pytest.raises(DataError, match="n_imputations must be"):
        impute(HOLES, n_imputations=0)
    monkeypatch.setattr(imputation, "MOST_CELLS", 1000)
    with pytest.raises(LimitError, match="fewer imputations"):
        impute(HOLES)


def test_the_rows_of_a_count_are_imputed_one_by_one():
    holes = as_table(HOLES[:60, :3], missing="impute")
    times = np.arange(60) % 4
    counted = as_table(HOLES[:60, :3], sample_weight=times, weight_kind="counts", missing="impute")
    rows = np.repeat(np.arange(60), times)
    each = as_table(HOLES[:60, :3][rows], missing="impute")
    for n_rows, found in ((len(rows), impute(counted)), (60, impute(holes))):
        assert found.record.n_rows == n_rows
    assert impute(counted).table.codes.tobytes() == impute(each).table.codes.tobytes()
    one, other = Method().fit(counted), Method().fit(each)
    assert one.network.edge_values.tobytes() == other.network.edge_values.tobytes()
    assert one.refits.edge_errors.tobytes() == other.refits.edge_errors.tobytes()
    labels = np.arange(60) // 2
    together = Method().choose(counted, groups=labels), Method().choose(each, groups=labels[rows])
    assert together[0].solution.edge_values.tobytes() == together[1].solution.edge_values.tobytes()


def test_origins_are_rows_of_the_given_table():
    few = np.arange(20)
    holed = X[:20].astype(float)
    holed[[5, 10], 1] = np.nan
    for weight, kind in (((few > 2) * 1.0, "counts"), (few % 4, "counts"), ((few > 2) * 0.7, "sampling")):
        table = as_table(holed, sample_weight=weight, weight_kind=kind, missing="impute")
        with suppress_warnings(ConvergenceWarning):
            found = impute(table, n_imputations=2, max_rounds=2)
            _, labels, _ = complete_table(table, few, ImputationSettings(2, 2))
        assert set(found.origin.tolist()) == set(np.flatnonzero(weight).tolist())
        assert set(found.origin[found.copies >= 0].tolist()) == {5, 10}
        np.testing.assert_array_equal(labels, found.origin)
        seen = ~table.holes[found.origin]
        np.testing.assert_array_equal(found.table.codes[seen], table.codes[found.origin][seen])
    outside = as_table(holed, sample_weight=(few % 5 > 0) * 1.0, weight_kind="counts", missing="impute")
    found = impute(outside)
    assert found.network is None
    assert found.origin.tolist() == [k for k in range(20) if k % 5]


def test_a_row_without_any_answer_and_no_other_hole():
    """Nothing is drawn: the row is left out."""
    X = np.random.default_rng(0).integers(0, 2, (200, 5)).astype(float)
    with_blank = np.insert(X, 3, np.nan, axis=0)
    fit, without = (Method().fit(as_table(table, missing="impute")) for table in (with_blank, X))
    np.testing.assert_allclose(fit.network.fields, without.network.fields, atol=1e-6)
    assert len(fit.imputation.table) == 200
