"""Continuous columns: how numbers are placed on a grid, and how another table is read by it."""

import io
import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, rankdata

from isinglass import IsingNetwork, as_table, ising_path, load, read_table, save
from isinglass.data import Coding
from isinglass.data.meaning import conversion
from isinglass.data.meaning.grid import MOST_KEPT, equal_steps, n_steps, normal_steps
from isinglass.errors import DataError, MeaningWarning
from isinglass.variables import Variables

RNG = np.random.default_rng(0)
GAUSS = RNG.normal(100.0, 15.0, 1000)


def frame(n=400, seed=1):
    rng = np.random.default_rng(seed)
    x, y, z = rng.normal(size=(3, n))
    return pd.DataFrame({"a": 40.0 + 10.0 * x, "b": 5.0 * (x + y), "c": z, "sick": (x + z > 0).astype(int)})


def test_a_grid_has_equal_steps_and_scores_in_standard_deviations():
    table = as_table(GAUSS[:, None], kinds="continuous")
    (rule,), codes = table.coding.columns, table.codes[:, 0]
    q = n_steps(1000)
    assert (n_steps(50), q, n_steps(10**6)) == (16, 20, 32)  # as measured in docs/notebook.md
    assert table.variables.kinds == ("continuous",)
    assert rule.n_categories == q
    width = np.diff(rule.bounds)
    assert width == pytest.approx(np.full(q - 2, width[0]))
    assert np.abs(GAUSS - np.array(rule.values)[codes])[(codes > 0) & (codes < q - 1)].max() <= width[0] / 2 + 1e-9
    assert rule.scores[0] == 0.0
    assert np.array(rule.scores)[codes].std() == pytest.approx(1.0)
    # Tails are in the end steps, and counted.
    low, high = rule.ends
    assert (rule.beyond, sum(low > GAUSS), sum(high < GAUSS)) == ((5, 5), 5, 5)
    # A unit of the scores is the standard deviation of what was coded, in the numbers of the source.
    assert table.variables.units[0] == pytest.approx(np.array(rule.values)[codes].std())


@pytest.mark.parametrize(
    "numbers", [RNG.poisson(3.0, 500), RNG.integers(0, MOST_KEPT, 2000) / 2, RNG.integers(0, 30, 500) / 10]
)
def test_whole_numbers_are_kept_as_they_are(numbers):
    rule = equal_steps(numbers.astype(float))
    unit = np.diff(rule.values)
    assert unit == pytest.approx(np.full(len(unit), unit[0]))
    assert np.array(rule.values)[rule.convert(numbers.astype(float))] == pytest.approx(numbers)
    assert rule.beyond == (0, 0)


def test_more_whole_numbers_are_as_many_to_a_step():
    years = np.arange(18, 98).repeat(10)
    rule = equal_steps(years.astype(float))
    counts = np.bincount(rule.convert(years))
    assert len(set(counts[:-1])) == 1
    assert rule.n_categories <= n_steps(len(years))
    assert (np.array(rule.values) * 2).tolist() == np.rint(np.array(rule.values) * 2).tolist()


def test_an_outlier_does_not_stretch_the_grid():
    counts = np.append(RNG.poisson(3.0, 999), 10**6).astype(float)
    rule = equal_steps(counts)
    assert rule.values[-1] <= 20
    assert rule.beyond[1] >= 1
    assert rule.convert(counts)[-1] == rule.n_categories - 1


@pytest.mark.parametrize("scores", [None, {"age": "normal"}])
def test_a_typing_error_leaves_predictions_alone(scores):
    rng = np.random.default_rng(0)
    age = rng.integers(20, 80, 400).astype(float)
    table = pd.DataFrame({"age": age, "y": age / 10 + rng.normal(size=400)})
    asked = pd.DataFrame({"age": [np.nan] * 3, "y": [2.0, 5.0, 8.0]})
    typed = table.assign(age=table["age"].where(table.index != 7, 10000.0))
    right, wrong = (
        IsingNetwork(kinds="continuous", scores=scores).fit(each).impute(asked)["age"] for each in (table, typed)
    )
    np.testing.assert_allclose(wrong, right, atol=3.0)


@pytest.mark.parametrize(
    "numbers", [[0.0] * 997 + [1.0, 2.0, 500.0], [0.0] * 997 + [0.1234567, 2.0, 1e12], [1.0, 1.0, 1.0, 2.0, 1e-9]]
)
@pytest.mark.parametrize("place", [equal_steps, normal_steps])
def test_nearly_constant_columns_have_a_grid(numbers, place):
    rule = place(np.array(numbers))
    codes = rule.convert(np.array(numbers))
    assert codes.min() == 0
    assert codes.max() == rule.n_categories - 1


def test_normal_scores_are_the_quantiles_of_ranks():
    wide = np.exp(GAUSS / 10)
    rule = normal_steps(wide)
    scores = np.array(rule.scores)[rule.convert(wide)]
    expected = norm.ppf((rankdata(wide) - 0.5) / len(wide))
    assert scores.std() == pytest.approx(1.0)
    assert np.corrcoef(scores, expected)[0, 1] > 0.99
    # Any other increasing function of the column has the same codes.
    assert normal_steps(GAUSS).convert(GAUSS).tolist() == rule.convert(wide).tolist()
    assert np.isnan(as_table(wide[:, None], scores={0: "normal"}).variables.units[0])


def test_ties_have_one_normal_score():
    tied = np.repeat([0.0, 1.0, 5.0], [600, 300, 100])
    rule = normal_steps(tied)
    assert rule.n_categories == 3
    steps = np.array(rule.scores) / rule.scores[1]
    wanted = norm.ppf([0.3, 0.75, 0.95])
    assert steps[2] == pytest.approx((wanted[2] - wanted[0]) / (wanted[1] - wanted[0]), rel=0.15)


def test_normal_scores_of_few_values_are_means_of_their_rows():
    steps = normal_steps(np.repeat([1.0, 2.0, 3.0], 100))
    assert steps.scores == pytest.approx((0.0, np.sqrt(1.5), np.sqrt(6.0)), abs=1e-12)
    assert "np.float64" not in repr(steps)
    shares = np.array([0.05, 0.15, 0.1, 0.3, 0.25, 0.15])
    steps = normal_steps(np.repeat(np.arange(6.0), (1000 * shares).astype(int)))
    exact = norm.ppf(np.cumsum(shares) - shares / 2)
    exact -= exact[0]
    exact /= np.sqrt(np.average((exact - np.average(exact, weights=shares)) ** 2, weights=shares))
    assert steps.scores == pytest.approx(exact, abs=exact[-1] / 254)


@pytest.mark.parametrize("points", [3, 7, 40, 10**6])
def test_a_column_and_its_negative_have_opposite_couplings(points):
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 400))
    table = pd.DataFrame({"a": np.round(points * norm.cdf(x)), "b": (x + y > 0).astype(int)})
    both = [as_table(table.assign(a=sign * table["a"]), scores={"a": "normal"}) for sign in (1, -1)]
    one, other = (ising_path(each, [0.01], tol=1e-10)[0].couplings[0, 1] for each in both)
    assert one == pytest.approx(-other, rel=1e-6)


def test_numbers_with_infinite_differences_are_refused():
    with pytest.raises(
        DataError, match="numbers whose differences are finite to be continuous; got -1e\\+308, 0, 1e\\+308"
    ):
        as_table(pd.DataFrame({"a": [-1e308, 0.0, 1e308]}), kinds="continuous")


@pytest.mark.parametrize("scores", [None, {"a": "normal"}])
def test_the_advice_about_infinite_numbers_is_python(scores):
    rows = pd.DataFrame({"a": [1.5, 2.5, np.inf, 4.5] * 5})
    with pytest.raises(DataError) as refused:
        as_table(rows, kinds="continuous", scores=scores)
    advice = re.search(r"\((na_values=.*?\])\)", str(refused.value))[1]
    options = eval(f"dict({advice})")
    assert as_table(rows, kinds="continuous", scores=scores, missing="impute", **options).n_missing == 5


def test_fractions_far_down_make_a_column_of_numbers_in_a_frame_as_in_a_file():
    numbers = np.r_[np.tile(np.arange(20.0), 750), np.arange(5000) / 100]
    rows = pd.DataFrame({"a": numbers, "b": np.tile([0, 1], 10_000)})
    with pytest.warns(MeaningWarning, match="read as continuous"):
        one = as_table(rows)
    with pytest.warns(MeaningWarning, match="read as continuous"):
        other = read_table(io.StringIO(rows.to_csv(index=False)))
    assert one.variables.kinds == other.variables.kinds == ("continuous", "binary")
    assert np.array_equal(one.codes, other.codes)


def test_couplings_are_per_standard_deviation():
    data = frame(3000).drop(columns="sick")
    table = as_table(data, kinds="continuous")
    solution = ising_path(table, [1e-4])[0]
    precision = np.linalg.inv(np.corrcoef(data.to_numpy().T))
    assert solution.couplings[0, 1] == pytest.approx(-precision[0, 1], rel=0.1)
    assert abs(solution.couplings[0, 2]) < 0.1
    # The unit of a column does not matter.
    other = as_table(data * [1000.0, 0.001, 1.0], kinds="continuous")
    assert other.codes.tolist() == table.codes.tolist()
    assert ising_path(other, [1e-4])[0].couplings == pytest.approx(solution.couplings)


@pytest.mark.parametrize("offset", [1e5, 1e8, 1e12])
def test_units_of_scores_are_known_far_from_0(offset):
    numbers = np.random.default_rng(0).normal(size=200)
    near, far = (as_table(numbers[:, None] + mean, kinds="continuous").variables.units[0] for mean in (0.0, offset))
    assert far == pytest.approx(near, rel=0.1)  # whose grids differ a little, by rounding
    assert np.isnan(as_table(numbers[:, None] + offset, kinds="continuous", scores={0: "normal"}).variables.units[0])


def test_an_estimator_reads_new_rows_as_the_fit_did(tmp_path):
    data = frame()
    net = IsingNetwork(kinds=dict.fromkeys("abc", "continuous")).fit(data)
    assert net.network_.kinds == ("continuous",) * 3 + ("binary",)
    save(net, tmp_path / "net.npz")
    coding = load(tmp_path / "net.npz").coding
    assert coding == net.fit_.coding
    wide = data.assign(a=data["a"] + 1000.0)
    codes = as_table(wide, encode=coding).codes
    assert set(codes[:, 0]) == {len(coding.columns[0].values) - 1}
    assert codes[:, 1:].tolist() == as_table(data, kinds=dict.fromkeys("abc", "continuous")).codes[:, 1:].tolist()
    assert net.score(data) > net.score(wide)


@pytest.mark.parametrize("make", [pd.DataFrame, "polars", "pyarrow"])
def test_floats_of_a_frame_that_can_be_nothing_else_are_continuous(make):
    data = frame()
    if isinstance(make, str):
        library = pytest.importorskip(make)
        given = library.from_pandas(data) if make == "polars" else library.Table.from_pandas(data)
    else:
        given = data
    with pytest.warns(MeaningWarning, match=r"Columns 'a', 'b', 'c': read as continuous"):
        table = as_table(given)
    assert table.variables.kinds == ("continuous",) * 3 + ("binary",)
    assert table.codes.tolist() == as_table(data, kinds=dict.fromkeys("abc", "continuous")).codes.tolist()


def test_floats_of_an_array_are_not():
    with pytest.raises(DataError, match=r'State its kind .*"continuous"'):
        as_table(frame().to_numpy())


@pytest.mark.parametrize("values", [[0.0, 1.0, 1.0], [0.5, 1.5, 0.5], [0.5, 0.5, 0.5]])
def test_one_or_two_numbers_are_binary(values):
    table = as_table(pd.DataFrame({"a": values, "b": [0, 1, 1]}), kinds={"a": "continuous"})
    assert table.variables.kinds == ("binary", "binary")


def test_missing_cells_and_numbers_that_stand_for_them():
    data = frame()
    data.loc[[3, 5], "a"] = [np.nan, -99.0]
    kinds = dict.fromkeys("abc", "continuous")
    table = as_table(data, kinds=kinds, missing="impute", na_values=[-99])
    assert np.flatnonzero(table.holes[:, 0]).tolist() == [3, 5]
    assert table.coding.columns[0].ends[0] > -99
    again = as_table(data, encode=table.coding, missing="impute")
    assert np.flatnonzero(again.holes[:, 0]).tolist() == [3, 5]
    with pytest.raises(DataError, match="no missing cells"):
        as_table(data, kinds=kinds)


@pytest.mark.parametrize(("bad", "match"), [(np.inf, "finite numbers to be continuous; got inf"), ("x", "got 'x'")])
def test_what_is_no_finite_number_is_refused(bad, match):
    data = frame().astype({"a": object})
    data.loc[2, "a"] = bad
    with pytest.raises(DataError, match=match):
        as_table(data, kinds=dict.fromkeys("abc", "continuous"))


def test_a_column_of_words_is_not_advised_to_be_missing():
    data = frame().assign(a=np.resize(["east", "north", "south"], len(frame())))
    with pytest.raises(DataError, match=r"got 'east', 'north', 'south'\. Leave .* declare it as nominal"):
        as_table(data, kinds=dict.fromkeys("abc", "continuous"))


def test_a_new_value_that_is_no_finite_number_is_refused():
    table = as_table(frame(), kinds=dict.fromkeys("abc", "continuous"))
    with pytest.raises(DataError, match="must hold finite numbers in a continuous column; got inf in column 'a'"):
        as_table(frame().assign(a=np.inf), encode=table.coding)


def test_a_file_is_read_like_a_frame():
    data = frame()
    text = data.to_csv(index=False, sep=";", decimal=",")
    with pytest.warns(MeaningWarning, match="read as continuous"):
        table = read_table(io.StringIO(text))
    assert table.codes.tolist() == as_table(data, kinds=dict.fromkeys("abc", "continuous")).codes.tolist()
    normal = read_table(io.StringIO(text), kinds={"a:b": "continuous"}, scores={"c": "normal"})
    assert normal.variables.kinds == table.variables.kinds
    assert normal.coding.columns[2].is_normal


def test_scores_of_a_continuous_column_are_normal_or_none():
    for scores in ([1, 2, 3], np.array([1.0, 2.0, 3.0])):
        with pytest.raises(DataError, match="scores must be for ordinal columns; got column"):
            as_table(frame(), kinds=dict.fromkeys("abc", "continuous"), scores={"a": scores})
    with pytest.raises(DataError, match="which is ordinal"):
        as_table(frame(), kinds={"a": "ordinal"}, scores={"a": "normal"})
    with pytest.raises(DataError, match='must be a mapping of columns to numbers or "normal"; got'):
        as_table(frame(), kinds="continuous", scores="normal")


def test_numbers_are_the_nearest_of_the_values_of_variables():
    variables = Variables.of([(0, 10, 20)], "continuous", names=["a"])
    table = as_table(pd.DataFrame({"a": [-5.0, 4.0, 6.0, 14.0, 99.0]}), encode=Coding.of(variables))
    assert table.codes[:, 0].tolist() == [0, 0, 1, 1, 2]
    with pytest.raises(DataError, match="two categories"):
        Variables(("a",), ("continuous",), ((0, 1),), ((0.0, 1.0),))


def test_tables_in_parts_refuse_them():
    with pytest.raises(DataError, match="kinds must not be given for a table in parts"):
        as_table([frame(), frame(seed=2)], kinds={"a": "continuous"})


def test_a_long_tail_is_told_unless_scores_are_normal():
    data = frame().assign(
        income=lambda f: np.exp(f["c"]), loss=lambda f: -np.exp(f["b"] / 5), flat=lambda f: f["a"] ** 2
    )
    kinds = dict.fromkeys(data.columns.drop("sick"), "continuous")
    with pytest.warns(MeaningWarning, match=r"Columns 'income', 'loss': a long tail.*'income': 'normal'"):
        as_table(data, kinds=kinds)
    as_table(data, kinds=kinds, scores={"income": "normal", "loss": "normal"})  # warnings are errors here
    counts = pd.DataFrame({"n": np.random.default_rng(0).poisson(3.0, 300), "sick": 1 - np.arange(300) % 2})
    as_table(counts, kinds={"n": "continuous"})


def test_one_column_is_it():
    with pytest.warns(
        MeaningWarning, match=r"Column 'a': read as continuous .* otherwise choose thresholds .* or leave out"
    ):
        as_table(frame()[["a", "sick"]])


@pytest.mark.parametrize("kind", ["counts", "sampling"])
def test_weights_leave_the_grid_alone_and_count_in_everything_else(kind):
    data, weight = frame(), np.where(np.arange(400) < 200, 2, 0 if kind == "counts" else 1)
    kinds = dict.fromkeys("abc", "continuous")
    weighted = as_table(data, weight, weight_kind=kind, kinds=kinds)
    plain = as_table(data, kinds=kinds)
    for ours, theirs in list(zip(weighted.coding.columns, plain.coding.columns, strict=True))[:3]:
        for name in ("bounds", "values", "scores", "ends", "beyond"):
            assert getattr(ours, name) == getattr(theirs, name)
        assert ours.means != theirs.means
    fit = IsingNetwork().fit(weighted)
    if kind == "counts":
        again = IsingNetwork().fit(plain[np.repeat(np.arange(200), 2)])
        assert fit.couplings_ == pytest.approx(again.couplings_, abs=1e-6)
        assert fit.fit_.data.conditional_variances == pytest.approx(
            again.fit_.data.conditional_variances, nan_ok=True, rel=1e-6
        )
    else:
        assert fit.couplings_[0, 1] != pytest.approx(IsingNetwork().fit(plain).couplings_[0, 1], rel=1e-6)


@pytest.mark.parametrize("seed", range(40))
def test_the_largest_number_is_not_above_a_grid_that_reaches_to_it(seed):
    numbers = np.random.default_rng(seed).random(60) * 3.0
    rule = equal_steps(numbers)
    assert rule.beyond == (0, 0)
    assert rule.ends == (numbers.min(), numbers.max())


@pytest.mark.parametrize("first", [20.123456, 1e-5, 20.1])
def test_numbers_of_many_decimals_whose_distances_have_few_are_kept(first):
    numbers = first + np.arange(30).repeat(5) / 1000
    rule = equal_steps(numbers)
    assert np.abs(np.array(rule.values)[rule.convert(numbers)] - numbers).max() < 1e-12


@pytest.mark.parametrize("missing", ["error", "zero", "impute", "drop"])
def test_transform_keeps_the_numbers_that_are_there(missing, monkeypatch):
    table = frame()
    filled = IsingNetwork(kinds={"a": "continuous", "b": "continuous", "c": "continuous"}, missing=missing).fit(table)
    read, read_again = [], conversion._read_again
    monkeypatch.setattr(conversion, "_read_again", lambda *given: read.append(1) or read_again(*given))
    assert np.array_equal(filled.transform(table).to_numpy(), table.to_numpy())
    assert read == [1]  # read once
    table.loc[3, "sick"] = np.nan
    if missing == "error":
        with pytest.raises(DataError, match="must have no missing cells; got NaN in column 'sick'"):
            filled.transform(table)
        return
    whole = filled.transform(table)
    assert np.array_equal(whole[["a", "b", "c"]].to_numpy(), table[["a", "b", "c"]].to_numpy())
    assert whole.loc[3, "sick"] in ((0,) if missing == "zero" else (0, 1))


def test_steps_that_do_not_occur_have_no_part_in_predictions():
    rng = np.random.default_rng(5)
    table = pd.DataFrame({"a": rng.normal(size=200), "b": np.append(rng.normal(size=194), np.full(6, 60.5))})
    fit = IsingNetwork(kinds="continuous").fit(table)
    assert not fit.fit_.occurs.all()
    found, holed = fit.predict(table), table.copy()
    holed.loc[3:30, "b"] = np.nan
    np.testing.assert_allclose(fit.impute(holed).loc[3:30, "b"], found[3:31, 1], rtol=1e-9)
    # without neighbors the rows of each step decide alone
    assert fit.network_.n_edges == 0
    np.testing.assert_allclose(found[:, 1], table["b"].mean(), rtol=1e-6)
    assert (fit.predict_interval(table, 0.9)[:, 1, 1] < 10).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("numbers", [[2**60 + k for k in range(4)], [0.3, 0.1 + 0.2, 0.3000000000000001]])
def test_numbers_that_differ_by_rounding_alone_are_refused(numbers):
    table = pd.DataFrame({"a": numbers * 12, "b": [0, 1] * (6 * len(numbers))})
    for options in ({"kinds": {"a": "continuous"}}, {"scores": {"a": "normal"}}):
        with pytest.raises(DataError, match=r"'a' must hold numbers that differ by more than rounding to be contin"):
            as_table(table, **options)
    if isinstance(numbers[0], int):
        with pytest.raises(DataError, match="'a' must hold numbers that differ by more than rounding to be ordinal"):
            as_table(table, kinds={"a": "ordinal"})


def test_the_smallest_numbers_have_no_grid():
    with pytest.raises(DataError, match="must hold numbers that differ by more than rounding"):
        as_table(np.array([[1, 0], [2, 1], [3, 0], [4, 1]] * 3) * [5e-324, 1.0], kinds=["continuous", "binary"])


def test_numbers_that_come_as_text_stay_as_they_are():
    table = frame()[["a", "b"]]
    fit = IsingNetwork(kinds="continuous").fit(table)
    for filled in (fit.impute(table.astype(str)), fit.transform(table.astype(str))):
        assert np.array_equal(filled.to_numpy(float), table.to_numpy())


def test_extreme_whole_numbers_within_a_step_are_part_of_the_grid():
    numbers = np.random.default_rng(0).integers(0, 300, 1000).astype(float)
    rule = equal_steps(numbers)
    assert rule.beyond == (0, 0)
    assert rule.ends[0] <= numbers.min() <= numbers.max() <= rule.ends[1]


@pytest.mark.filterwarnings("ignore:.*left out")
@pytest.mark.parametrize("scores", [None, {"a": "normal"}])
def test_dropped_rows_do_not_shape_the_grid(scores):
    table = frame()
    table.loc[:150, "c"] = np.nan
    table.loc[:100, "a"] *= 5.0
    table.loc[30:60, "sick"] = np.nan
    options = {"kinds": dict.fromkeys("abc", "continuous"), "scores": scores}
    dropped = as_table(table, missing="drop", **options)
    before = as_table(table.dropna(), **options)
    assert dropped.coding.columns == before.coding.columns
    assert np.array_equal(dropped.codes, before.codes)
    with pytest.warns(MeaningWarning, match=f"read as continuous .*{before.coding.columns[1].in_words}"):
        as_table(table, missing="drop")


@pytest.mark.parametrize("steps", [equal_steps, normal_steps])
@pytest.mark.parametrize("seed", range(4))
def test_steps_know_the_weighted_mean_and_quartiles_of_their_numbers(steps, seed):
    rng = np.random.default_rng(seed)
    numbers = [rng.exponential(size=300), rng.integers(0, 400, 300) + 0.0, rng.poisson(0.4, 300) * 7.3, GAUSS][seed]
    weight = rng.integers(0, 3, len(numbers)) + 0.0
    weight[numbers == numbers.max()] = 0.0  # a step may have rows without weight only
    for weights in (None, weight, weight / 4, weight * 0.3):
        rule = steps(numbers, weights)
        codes, times = rule.convert(numbers), (np.ones(len(numbers)) if weights is None else weight).astype(int)
        for k in set(codes.tolist()):
            there = np.sort(
                numbers[codes == k] if not times[codes == k].any() else np.repeat(numbers, times * (codes == k))
            )
            mean = np.clip(np.clip(there, *rule.ends).mean(), there[0], there[-1])
            assert rule.means[k] == pytest.approx(mean, rel=1e-12, abs=1e-12)
            quartiles = np.quantile(there, [0.0, 0.25, 0.5, 0.75, 1.0], method="inverted_cdf")
            assert rule.quartiles[k] == tuple(quartiles)


@pytest.mark.parametrize("weighted", [False, True])
def test_numbers_at_the_lower_end_of_a_step_are_predicted_by_their_mean(weighted, tmp_path):
    rng = np.random.default_rng(3)
    attempts = np.where(rng.random(400) < 0.6, 0, rng.exponential(40.0, 400).round())  # most are 0, steps are wide
    table = pd.DataFrame({"attempts": attempts, "age": rng.normal(50.0, 10.0, 400)})
    weight = np.where(attempts > 0, 0.5, 2.0) if weighted else None
    fit = IsingNetwork(kinds="continuous").fit(table, sample_weight=weight)
    assert fit.network_.n_edges == 0
    mean = np.average(np.clip(attempts, *fit.fit_.coding.columns[0].ends), weights=weight)
    holed = table.assign(attempts=table["attempts"].mask(table.index < 9))
    save(fit, tmp_path / "fit.npz")
    for model in (fit, load(tmp_path / "fit.npz")):
        np.testing.assert_allclose(model.predict(table)[:, 0], mean, rtol=1e-6)
        assert (model.impute(holed)["attempts"][:9] == mean.round()).all()  # all numbers of the column are whole
        low, high = model.predict_interval(table, 0.9)[0, 0]
        share = [np.average(there, weights=weight) for there in (attempts < low, attempts > high)]
        assert max(share) <= 0.05
        assert {low, high} <= set(attempts)
    drawn = fit.impute(holed, method="gibbs", random_state=0)["attempts"][:9]
    assert set(drawn) <= set(np.round(fit.fit_.coding.columns[0].means))


def test_a_covariate_of_huge_numbers_is_read():
    numbers = GAUSS * 1e300
    frame = pd.DataFrame({"x": numbers, "a": np.arange(len(numbers)) % 2, "b": np.arange(len(numbers)) % 3 % 2})
    table = as_table(frame, covariates=["x"])
    assert table.codes[:, 0].tolist() == as_table(frame.assign(x=GAUSS), covariates=["x"]).codes[:, 0].tolist()
