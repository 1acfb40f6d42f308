"""Holes in tables of categories: the same rounds, and the same rules of pooling, as for tables of 0 and 1."""

import sys

import numpy as np
import pytest
from choices import two_stage
from networks import make_network, make_table, split_fields

from isinglass import Fixed, Method, Table, as_table, impute, load
from isinglass.errors import DataError
from isinglass.select import ImputationSettings, Run, pool
from isinglass.select.stochastic_em import distance, mean_network
from isinglass.simulate.gibbs import Chains

P = 6
LINE = [-1.5, -0.5, 0.5, 1.5]
SCORES = [*[LINE] * (P - 1), [0, 1]]
CHAIN = make_network(
    [np.zeros(len(score)) for score in SCORES],
    SCORES,
    [[k, k + 1] for k in range(P - 1)],
    [0.6, 0.6, -0.5, 0.6, 1.5],
)
KINDS = [*["ordinal"] * (P - 1), "binary"]


def draw(n, seed):
    chains = Chains(np.zeros((n, P), dtype=np.uint8), random_state=seed)
    chains.sweep(CHAIN, 60)
    return chains.table


CODES = draw(700, 0)
GONE = np.random.default_rng(0).random(CODES.shape) < 0.2
GONE[11] = True
WHOLE = make_table(CODES, KINDS, scores=SCORES)
HOLES = make_table(np.where(GONE, 0, CODES), KINDS, scores=SCORES, holes=GONE, n_missing=int(GONE.sum()))


@pytest.fixture(scope="module")
def completed():
    return impute(HOLES, n_imputations=5)


def test_observed_cells_stay_and_drawn_ones_are_categories(completed):
    table = completed.table
    assert isinstance(table, Table)
    assert (table.variables.kinds, table.variables.categories) == (HOLES.variables.kinds, HOLES.variables.categories)
    seen = ~GONE[table.rows]
    np.testing.assert_array_equal(table.codes[seen], CODES[table.rows][seen])
    assert table.codes[:, :-1].max() == 3
    assert completed.converged
    assert completed.record.n_left_out == 1
    assert table.sample_weight.sum() == pytest.approx(699)
    for one in completed.tables():
        np.testing.assert_array_equal(one.codes[~GONE[one.rows]], CODES[one.rows][~GONE[one.rows]])


def test_cells_follow_the_network(completed):
    """The scores of drawn cells have the mean that the network gives them, row by row."""
    table, column = completed.table, 2
    drawn = GONE[table.rows, column]
    chances = completed.network.probabilities(table)[column][drawn]
    means, squares = chances @ LINE, chances @ np.square(LINE)
    seen = np.asarray(LINE)[table.codes[drawn, column]]
    assert drawn.sum() > 500
    assert abs((seen - means).sum()) < 4 * np.sqrt((squares - means**2).sum())


def test_the_chain_is_found_again(completed):
    imputed, whole = two_stage(completed.table).solution, two_stage(WHOLE).solution
    assert imputed.edge_index.tolist() == whole.edge_index.tolist() == CHAIN.edge_index.tolist()
    np.testing.assert_allclose(imputed.edge_values, whole.edge_values, atol=0.35)
    np.testing.assert_array_equal(np.sign(imputed.edge_values), np.sign(CHAIN.edge_values))


def test_same_seed_same_bits(completed):
    again = impute(HOLES, n_imputations=5, run=Run(n_threads=2))
    np.testing.assert_array_equal(again.table.codes, completed.table.codes)


def test_nothing_missing_is_the_table_itself():
    found = impute(WHOLE)
    assert found.table is WHOLE
    assert found.network is None


def test_pooled_errors_know_of_the_holes(completed):
    support = two_stage(WHOLE).solution
    pooled, plain = pool(completed, support), Method().fit(WHOLE).refits.edge_errors
    assert pooled.edge_errors.mean() > plain.mean()
    assert ((pooled.edge_information > 0.02) & (pooled.edge_information < 0.9)).all()
    assert np.isnan(pooled.column_information).all()  # no single field
    low, high = pooled.edge_intervals().T
    assert ((low < CHAIN.edge_values) & (CHAIN.edge_values < high)).sum() >= 4


def test_a_fit_keeps_the_record(tmp_path):
    fit = Method(selector=Fixed(0.05)).fit(HOLES)
    fit.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    assert again.missing.n_left_out == 1
    np.testing.assert_array_equal(again.missing.edge_information, fit.missing.edge_information)
    np.testing.assert_allclose(again.missing.column_shares, GONE[~GONE.all(axis=1)].mean(axis=0))


def test_a_column_without_an_answer_is_named():
    gone = GONE.copy()
    gone[:, 4] = True
    with pytest.raises(DataError, match="got none in 'x4'"):
        impute(make_table(CODES, KINDS, scores=SCORES, holes=gone))


def test_networks_are_averaged_and_compared_by_blocks():
    """A mean of two nominal networks: blocks that only one has count half, and distances are those of all numbers."""
    block = np.array([[0.8], [-0.4], [-0.4]])
    one = make_network([[0, 1, 0], [0, 2]], [None, [0, 1]], [[0, 1]], blocks=[block])
    other = make_network([[0, 0, 0], [0, 0]], [None, [0, 1]], np.empty((0, 2)), blocks=[])
    mean = mean_network([one, other])
    np.testing.assert_allclose(mean.blocks[0], block / 2)
    np.testing.assert_allclose(split_fields(mean)[1], [0, 1])
    numbers = np.r_[1, 0, 2, block.ravel()]
    assert distance(one, other) == pytest.approx(np.sqrt((numbers**2).mean()))


@pytest.mark.parametrize("kind", ["ordinal", "nominal"])
@pytest.mark.parametrize("shift", [0, 1, 3])
@pytest.mark.filterwarnings("ignore::isinglass.errors.IsinglassWarning")
def test_categories_that_never_occur_are_not_drawn(kind, shift):
    codes = draw(60, 1)[:, : P - 1] + np.uint8(shift)
    gone = np.random.default_rng(1).random(codes.shape) < 0.4
    gone[:, 0] = False
    table = make_table(codes, kind, categories=[7] * (P - 1), holes=gone, n_missing=int(gone.sum()))
    drawn = impute(table, n_imputations=10, max_rounds=5).table
    assert {*np.unique(drawn.codes)} <= {*np.unique(codes[~gone])}


def test_nominal_columns_are_drawn_too():
    """Nominal, ordinal and binary columns in one table: the network is found again, and drawn cells follow it."""
    block = np.where(np.eye(3), 1.2, -0.6)
    truth = make_network(
        [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0]],
        [None, None, [-1, 0, 1], [0, 1]],
        [[0, 1], [1, 2], [2, 3]],
        blocks=[block, [[0.9], [0.0], [-0.9]], [[1.5]]],
    )
    chains = Chains(np.zeros((800, 4), dtype=np.uint8), random_state=0)
    chains.sweep(truth, 50)
    gone = np.random.default_rng(1).random(chains.table.shape) < 0.2
    parts = {"scores": truth.variables.scores, "holes": gone}
    found = impute(make_table(np.where(gone, 0, chains.table), truth.kinds, **parts), n_imputations=5)
    seen = ~gone[found.table.rows]
    np.testing.assert_array_equal(found.table.codes[seen], chains.table[found.table.rows][seen])
    solution = two_stage(found.table).solution
    assert solution.edge_index.tolist() == truth.edge_index.tolist()
    whole = two_stage(make_table(chains.table, truth.kinds, scores=truth.variables.scores)).solution
    np.testing.assert_allclose(solution.edge_values, whole.edge_values, rtol=0.2)
    drawn = gone[found.table.rows, 0]
    chances = found.network.probabilities(found.table)[0][drawn]
    counts, spread = chances.sum(axis=0), np.sqrt((chances * (1 - chances)).sum(axis=0))
    assert (abs(np.bincount(found.table.codes[drawn, 0], minlength=3) - counts) < 4 * spread).all()
    pooled = pool(found, solution)
    assert ((pooled.edge_information > 0.02) & (pooled.edge_information < 0.9)).all()


def test_no_table_is_imputed_again_for_errors_that_are_not_computed(monkeypatch):
    """The limit counts the parameters of blocks, not edges."""
    rng = np.random.default_rng(3)
    one = rng.integers(0, 4, 300)
    answers = np.column_stack([one, (one + (rng.random(300) < 0.2)) % 4, rng.integers(0, 4, 300)]).astype(float)
    answers[rng.random(answers.shape) < 0.1] = np.nan
    table = as_table(answers, kinds="nominal", missing="impute")
    monkeypatch.setattr(sys.modules["isinglass.select.refit"], "MAX_FOR_ERRORS", 8)  # of 9 fields and 9 entries
    monkeypatch.setattr("isinglass.select.pooling.pool", lambda *_, **__: pytest.fail("imputed again"))
    fit = Method(imputation=ImputationSettings(n_imputations=2)).fit(table)
    assert fit.network.n_edges == 1
    assert np.isnan(fit.refits.edge_errors).all()
