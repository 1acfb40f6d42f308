import io

import numpy as np
import pandas as pd
import pytest
from choices import cross_validate, gain, select_ebic, two_stage
from networks import make_table

from benchmarks import coverage
from isinglass import Method, PerNode, as_table, compare_groups, ising_path, read_parts, read_table, refit, simulate
from isinglass.data import check_sample_weight
from isinglass.data.weights import scale_weights
from isinglass.errors import DataError, DataWarning
from isinglass.penalties import check_penalty_weights
from isinglass.select.folds import split_rows


def test_sample_weight_is_returned_raw():
    assert check_sample_weight(None, 3) is None
    weight = check_sample_weight([0, 2, 1], 3)
    assert weight is not None
    assert weight.dtype == np.float64
    assert weight.tolist() == [0, 2, 1]


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 2], r"one value per row \(3,\); got shape \(2,\)"),
        ([[1, 2, 3]], r"got shape \(1, 3\)"),
        (1.0, r"got shape \(\)"),
        ([1, -2, 3], "finite and not negative; got .*-2"),
        ([1, np.nan, 3], "finite and not negative; got .*nan"),
        ([1, np.inf, 3], "finite and not negative; got .*inf"),
        (np.ma.array([1, 999, 1], mask=[0, 1, 0]), "must hold real numbers, none of them masked; got masked_array"),
        (np.array(["2020", "2021", "2022"], "M8[Y]"), "must hold real numbers"),
        (np.array([1, 2, 3], "m8[D]"), "must hold real numbers"),
        (np.array([1 + 2j, 1, 1]), "must hold real numbers"),
        ([0, 0, 0], "row weights must have a positive sum; got only weights of zero"),
    ],
)
def test_bad_sample_weight(weight, message):
    with pytest.raises(DataError, match=message):
        check_sample_weight(weight, 3)


def test_penalty_weights_pass_through():
    assert check_penalty_weights(None, 2) is None
    assert check_penalty_weights("standardized", 2) == "standardized"
    matrix = [[np.nan, np.inf], [np.inf, -1.0]]  # the diagonal means nothing and is not looked at
    assert check_penalty_weights(matrix, 2)[0, 1] == np.inf


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("standardised", "must be None, \"standardized\" or a symmetric matrix; got 'standardised'"),
        (np.ones((3, 3)), r"shape \(2, 2\); got \(3, 3\)"),
        ([1.0], r"shape \(2, 2\); got \(1,\)"),
        ([[0, -1], [-1, 0]], r"in \[0, inf\]"),
        ([[0, np.nan], [np.nan, 0]], r"in \[0, inf\]"),
        ([[0, 1], [2, 0]], r"must be symmetric and in \[0, inf\]; got 1\.0 at \(0, 1\) and 2\.0 at \(1, 0\)\."),
    ],
)
def test_bad_penalty_weights(weights, message):
    with pytest.raises(DataError, match=message):
        check_penalty_weights(weights, 2)


def test_names_of_penalty_weights_are_refused_and_numbers_are_not_names():
    """The names may be in another order than the columns."""
    X, weights = np.array([[0, 1], [1, 1], [0, 0], [1, 0], [1, 1]]), np.ones((2, 2))
    named = pd.DataFrame(weights, columns=["b", "a"])
    with pytest.raises(DataError, match="penalty_weights must be a matrix without names; got 'DataFrame'"):
        ising_path(pd.DataFrame(X, columns=["a", "b"]), [0.01], penalty_weights=named)
    assert ising_path(X, [0.01], penalty_weights=pd.DataFrame(weights))[0].n_edges == 1


CELLS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.uint8)
COUNTS = np.array([40, 10, 10, 40])


def counted(counts=COUNTS):
    return make_table(CELLS, sample_weight=counts, weight_kind="counts")


@pytest.mark.filterwarnings("ignore::isinglass.errors.GridEndWarning")
def test_folds_divide_the_equal_rows_that_a_count_stands_for():
    rows = np.repeat(CELLS, 10 * COUNTS, axis=0)
    for n_folds in (2, 5):
        one, other = (two_stage(X, n_folds=n_folds) for X in (counted(10 * COUNTS), rows))
        assert one.solution.edge_index.tolist() == other.solution.edge_index.tolist() == [[0, 1]]
        assert one.solution.edge_values == pytest.approx(other.solution.edge_values, abs=1e-6)
        assert gain(one) == pytest.approx(gain(other), abs=0.01)  # other folds of the same rows
    errors = [Method().fit(X).refits.edge_errors for X in (counted(10 * COUNTS), rows)]
    np.testing.assert_allclose(*errors, rtol=1e-6)
    chosen = cross_validate(counted(), n_folds=10, alphas=[0.4, 0.1, 0.01], random_state=0)  # more folds than rows
    assert chosen.fold_weights.tolist() == [10.0] * 10
    assert chosen.alpha == 0.01


def test_each_fold_holds_out_whole_numbers_of_equal_rows_and_together_they_hold_all():
    def divide(weight, n_folds):
        table = as_table(np.eye(len(weight), dtype=np.uint8), np.array(weight))
        return [held for _, held in split_rows(table, None, n_folds, np.random.default_rng(0))]

    folds = divide([7.0, 0.0, 3.0, 1.0], 3)
    np.testing.assert_array_equal(sum(folds), [7, 0, 3, 1])
    assert [fold.sum() for fold in folds] == [3, 4, 4]
    assert sorted(map(list, divide([1.0, 0.0, 1.0], 2))) == [[0], [2]]  # rows as they are, by number
    assert sorted(map(list, divide([1.5, 2.0], 2))) == [[0], [1]]
    many = divide([3e12, 1e12], 4)
    np.testing.assert_allclose(many, np.tile([0.75e12, 0.25e12], (4, 1)), rtol=1e-4)


def test_whole_weights_are_counts_and_others_sampling_weights_unless_it_is_stated():
    whole, broken = np.array([1.0, 2.0, 0.0, 3.0]), np.array([0.5, 1.0, 0.0, 1.5])
    assert make_table(CELLS, sample_weight=whole).counted(quiet=True).sample_weight.sum() == 6.0
    effective = 3.0**2 / 3.5
    for weight, kind in ((broken, None), (broken, "sampling"), (whole, "sampling"), (1e-200 * whole, None)):
        scaled = make_table(CELLS, sample_weight=weight, weight_kind=kind).counted(quiet=True).sample_weight
        assert scaled.sum() == pytest.approx(effective, rel=1e-14)
        np.testing.assert_allclose(scaled / scaled[0], weight / weight[0], rtol=1e-14)
        assert scale_weights(scaled)[0] is scaled  # the same bits, however often it is asked for
    with pytest.raises(DataError, match=r"counts must be whole numbers; got a weight of 0\.5"):
        make_table(CELLS, sample_weight=broken, weight_kind="counts")
    with pytest.raises(DataError, match=r'weight_kind must be "sampling", "counts" or None; got \'frequency\''):
        as_table(CELLS, weight_kind="frequency")


def ising_fit(X, sample_weight):
    method = Method("nodewise", PerNode(), penalty_weights="standardized")
    return method.fit(X, sample_weight=sample_weight)


@pytest.mark.filterwarnings("ignore::isinglass.errors.GridEndWarning")
@pytest.mark.parametrize("choose", [two_stage, select_ebic, ising_fit])
def test_the_scale_of_sampling_weights_means_nothing_to_any_method_and_is_said(choose):
    X = simulate.exact_sample(simulate.chain_network(8, strength=1.0, fields="balanced"), 300, random_state=0)
    weight = np.random.default_rng(0).exponential(size=300)
    expected = _edges(choose(X, sample_weight=weight))
    with pytest.warns(DataWarning, match="are treated as sampling weights: they are not whole numbers, so their scale"):
        assert _edges(choose(X, sample_weight=50.0 * weight)) == expected
    stated = as_table(X, weight_kind="sampling")
    assert _edges(choose(stated, sample_weight=np.ceil(1e6 * weight))) == expected  # whole, and no warning
    with pytest.warns(DataWarning, match=r"are treated as counts of equal rows: .* count as \d+ rows\. State what"):
        assert len(_edges(choose(X, sample_weight=np.ceil(50 * weight)))) > len(expected)


def _edges(found):
    return getattr(found, "solution", found).edge_index.tolist()


def test_the_sandwich_of_sampling_weights_has_their_squares_whatever_the_table():
    rng = np.random.default_rng(1)
    X = simulate.exact_sample(simulate.chain_network(4, strength=1.2, fields="balanced"), 300, random_state=1)
    weight = rng.exponential(size=300)
    network = two_stage(X).solution
    whole = refit(X, network, sample_weight=weight)
    parts = refit(read_parts(np.split(X, 3), sample_weight=np.split(weight, 3)), network)
    np.testing.assert_allclose(parts.edge_errors, whole.edge_errors, rtol=1e-10)
    assert (whole.edge_errors > 1.1 * refit(X, network).edge_errors).all()  # as if there were half as many rows
    ordinal = make_table(X, ["ordinal"] * 4, scores=[(0.0, 2.0)] * 4)
    found = refit(ordinal, two_stage(ordinal).solution, sample_weight=weight)
    np.testing.assert_allclose(4.0 * found.edge_errors, whole.edge_errors, rtol=1e-5)


def test_groups_of_counted_rows_are_compared_as_the_rows_themselves():
    rng = np.random.default_rng(0)
    X, groups, counts = rng.integers(0, 2, (40, 3)), np.arange(40) % 2, rng.integers(0, 6, 40)
    rows = np.repeat(np.arange(40), counts)
    settings = {"n_permutations": 20, "random_state": 0}
    one = compare_groups(as_table(X), groups, 0.02, sample_weight=counts, **settings)
    other = compare_groups(X[rows], groups[rows], 0.02, **settings)
    assert one.n_rows == other.n_rows == tuple(np.bincount(groups[rows]))
    np.testing.assert_array_equal(one.null_structure, other.null_structure)


def test_intervals_hold_the_true_value_with_weights_of_either_kind():
    covered = {kind: coverage.measure(kind, n_tables=60, seed=0) for kind in ("sampling", "informative", "counts")}
    assert all(0.91 <= share <= 0.985 for share in covered.values()), covered  # of 300 intervals each


def test_the_kind_of_weights_is_that_of_the_whole_table_wherever_it_comes_from():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (300, 2)), columns=["a", "b"])
    weight = np.r_[np.full(150, 2.0), rng.uniform(0.5, 1.5, 150)]
    text = io.StringIO(frame.assign(w=weight).to_csv(index=False))
    tables = [
        as_table(frame, weight),
        as_table(frame.to_numpy(np.uint8), weight),
        as_table(as_table(frame), weight),
        read_table(text, weights="w"),
    ]
    assert [table[:150].counted().total_weight for table in tables] == [150.0] * 4
