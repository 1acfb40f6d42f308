"""Columns that depend on each other exactly: indicators of one variable, copies and opposites."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from commands import error_line, run

from isinglass import IsingLasso, as_table, load, read_table
from isinglass.data.meaning.known_columns import split_names
from isinglass.data.meaning.redundancy import dependent_columns, indicator_sets, linear_relations
from isinglass.errors import DataError, DataWarning, MeaningWarning

N = 300


def said(function, *arguments, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*arguments, **options)
    return result, [str(warning.message) for warning in caught if issubclass(warning.category, MeaningWarning)]


def people(seed=0):
    """A color, a plain answer, and a size whose first level has no column."""
    rng = np.random.default_rng(seed)
    answers = pd.DataFrame({"color": rng.choice(["blue", "green", "red"], N), "rain": rng.integers(0, 2, N)})
    answers["size"] = rng.choice(["l", "m", "s", "xl"], N, p=[0.4, 0.3, 0.2, 0.1])
    color = pd.get_dummies(answers["color"], prefix="color", dtype=int)
    size = pd.get_dummies(answers["size"], prefix="size", dtype=int, drop_first=True)
    return answers, pd.concat([color, answers[["rain"]], size], axis=1)


def test_sets_are_found_with_and_without_names():
    _, frame = people()
    assert indicator_sets(frame.to_numpy().astype(np.uint8), np.ones(7, dtype=bool)) == [[0, 1, 2], [4, 5, 6]]
    _, texts = said(as_table, frame)
    assert "indicators of 2 variables, of which at most one is 1 in any row" in texts[0]
    assert "'color_blue' to 'color_red' (3); 'size_m' to 'size_xl' (3)" in texts[0]
    assert "combine_indicators=True" in texts[0]


def test_sets_are_found_among_many_rows():
    codes = np.eye(5, dtype=np.uint8)[np.random.default_rng(0).integers(0, 5, 20_000)]
    assert indicator_sets(codes, np.ones(5, dtype=bool)) == [[0, 1, 2, 3, 4]]
    codes[-1, :2] = 1  # beyond the rows of the first look
    assert [0, 1, 2, 3, 4] not in indicator_sets(codes, np.ones(5, dtype=bool))


@pytest.mark.parametrize("seed", range(30))
def test_independent_columns_are_no_set(seed):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(20, 2000)), int(rng.integers(3, 60))
    codes = (rng.random((n, p)) < rng.beta(0.7, 4.0, size=p)).astype(np.uint8)
    assert indicator_sets(codes, np.ones(p, dtype=bool)) == []


def test_copies_and_opposites_are_named(tmp_path):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.integers(0, 2, size=(N, 4)), columns=list("abcd"))
    frame["not a"], frame["b again"] = 1 - frame["a"], frame["b"]
    _, (text,) = said(as_table, frame)
    assert text.startswith("Columns 'a', 'not a', 'b', 'b again': as read, they determine each other in every row")
    assert ": 'a' = 'not a'; 'b' = 'b again'." in text
    assert "drop=['not a', 'b again'] in read_table" in text
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    assert "--drop 'not a,b again'" in run("info", path).stderr
    assert said(read_table, path, drop=["not a", "b again"])[1] == []


def test_columns_with_other_words_for_the_same_are_found():
    rng = np.random.default_rng(4)
    mood = rng.integers(0, 3, N)
    codes = np.stack([mood, (2, 0, 1) @ np.eye(3, dtype=int)[:, mood], rng.integers(0, 3, N)], axis=1).astype(np.uint8)
    assert dependent_columns(codes, np.zeros(3, dtype=bool)) == [[0, 1]]


def test_linear_combinations_of_several_columns_are_found_and_copies_of_one_are_not():
    x, y, z = np.random.default_rng(0).normal(size=(3, 100))
    assert linear_relations(np.column_stack([x, y, z, 2 * x, x - y])) == [[4, 0, 1]]


def test_a_few_large_numbers_are_no_relation_and_hide_none():
    noise = np.random.default_rng(0).normal(size=(500, 4))
    noise[:2] *= 1e7
    assert linear_relations(noise) == []
    assert linear_relations(np.column_stack([noise, noise[:, 2] - noise[:, 3]])) == [[4, 2, 3]]


def test_sums_are_no_relation_of_normal_scores():
    a, b = np.random.default_rng(1).normal(size=(2, N))
    frame = pd.DataFrame({"a": a.round(3), "b": b.round(3), "total": a.round(3) + b.round(3)})
    assert any("can be computed" in text for text in said(as_table, frame, kinds="continuous")[1])
    normal = said(as_table, frame, kinds="continuous", scores=dict.fromkeys(frame, "normal"))[1]
    assert not any("can be computed" in text for text in normal)


def test_copies_have_the_same_missing_cells():
    rng = np.random.default_rng(4)
    x, y = rng.integers(0, 2, (2, N)).astype(np.uint8)
    codes, holes = np.stack([x, x, y, y, 1 - x], axis=1), np.zeros((N, 5), dtype=bool)
    holes[:10, [0, 1, 4]] = holes[5:20, 2] = True
    codes[holes] = 0
    assert dependent_columns(codes, np.ones(5, dtype=bool), holes) == [[0, 1, 4]]


def test_rows_with_huge_numbers_are_no_relation():
    noise = np.random.default_rng(0).normal(size=(500, 4))
    noise[0, [0, 2]] *= 1e16
    noise[1, [1, 2]] *= 1e16
    assert linear_relations(noise) == []


def test_columns_that_vary_in_a_few_rows_only_are_no_relation():
    cells = np.zeros((500, 4))
    cells[[3, 4]] = [[1, 5, 2, 7], [1, 8, 9, 4]]
    assert linear_relations(cells) == []
    cells[:12, :2] = np.random.default_rng(0).normal(size=(12, 2))
    cells[:, 3] = cells[:, 0] + cells[:, 1]
    assert linear_relations(cells) == [[3, 0, 1]]


def test_many_sums_of_many_columns_are_found():
    rng = np.random.default_rng(0)
    items = rng.normal(size=(800, 60))
    sums = items @ rng.uniform(0.5, 1.0, (60, 60))
    assert linear_relations(np.hstack([items, sums])) == [[60 + k, *range(60)] for k in range(60)]


@pytest.mark.parametrize("kind", ["number", "name"])
def test_an_identifier_is_recognized(kind, tmp_path):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.integers(1, 6, size=(N, 3)), columns=list("abc"))
    order = rng.permutation(N)
    frame.insert(1, "user", order + 7000 if kind == "number" else [f"u{k}" for k in order])
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    for options in (["--ordinal", "a,b,c"], ["--ordinal", "a,b,c", "--nominal", "user"]):
        line = error_line(run("fit", path, *options, code=3))
        assert "leave the column out (--drop" in line or "leave it out (--drop user)" in line
    run("fit", path, "--ordinal", "a,b,c", "--drop", "user", "--alpha", "0.1")


def test_decimal_commas_are_recognized(tmp_path):
    rng = np.random.default_rng(6)
    frame = pd.DataFrame(rng.integers(0, 2, size=(N, 2)), columns=list("ab"))
    frame["w"] = [f"{w:.2f}".replace(".", ",") for w in rng.gamma(2.0, size=N)]
    frame["x"] = [f"{k / 2:.1f}".replace(".", ",") for k in rng.integers(1, 6, N)]
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    line = error_line(run("fit", path, "--weights", "w", code=3))
    assert re.search("If '.*' is a number with a decimal comma, use --decimal ,", line)
    line = error_line(run("fit", path, "--drop", "w", "--ordinal", "x", code=3))
    assert re.search("If '.*' is a number with a decimal comma, use --decimal ,", line)
    table = read_table(path, weights="w", decimal=",", kinds={"x": "ordinal"})
    assert table.variables.categories[2] == (0.5, 1, 1.5, 2, 2.5)
    with pytest.raises(DataError, match='use decimal="," to read_table, or turn the texts of a frame into numbers'):
        as_table(frame[["a", "b", "x"]], kinds={"x": "ordinal"})


def test_what_depends_on_others_is_what_those_before_it_do_not_explain():
    """Sums, copies and sums of sums, in any order: as many columns are left as are independent."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        items = rng.integers(0, 5, (200, 5)).astype(float)
        sums = np.column_stack(
            [items[:, :2].sum(axis=1), items[:, 1:4].sum(axis=1), items.sum(axis=1), 3 * items[:, 0]]
        )
        table = np.hstack([items, sums])[:, rng.permutation(9)]
        found = linear_relations(table)
        assert len(found) in (3, 4)  # a copy of one column alone is no sum
        for first, *others in found:
            known = np.column_stack([table[:, others], np.ones(200)])
            assert np.abs(known @ np.linalg.lstsq(known, table[:, first])[0] - table[:, first]).max() < 1e-9


def test_combined_columns_are_what_the_indicators_came_from():
    answers, frame = people()
    table, texts = said(as_table, frame, combine_indicators=True)
    assert texts == []
    assert table.names == ("color", "rain", "size")
    assert table.variables.kinds == ("nominal", "binary", "nominal")
    assert table.variables.categories == (("blue", "green", "red"), (0, 1), ("m", "s", "xl", "other"))
    for name, other in (("color", {}), ("size", {"l": "other"})):
        k = table.names.index(name)
        words = np.array(table.variables.categories[k], dtype=object)[table.codes[:, k]]
        assert words.tolist() == answers[name].replace(other).tolist()


def test_the_coding_combines_another_table():
    _, frame = people()
    table = as_table(frame, combine_indicators=True)
    reversed_columns, array = frame[frame.columns[::-1]], frame.to_numpy()
    for X in (frame, reversed_columns, array):  # columns are found by name, or by number if there are no names
        some = as_table(X[20:40], encode=table.coding)
        assert np.array_equal(some.codes, table.codes[20:40])
        assert some.names == table.names
    for wrong in (frame.copy(), array.copy()):
        cells = wrong if wrong is not frame and not hasattr(wrong, "iloc") else wrong.iloc
        cells[3, :2] = 1
        with pytest.raises(DataError, match=r"exactly one 1.*got several in row 3"):
            as_table(wrong, encode=table.coding)
        cells[3, :3] = 0
        with pytest.raises(DataError, match="got none in row 3"):
            as_table(wrong, encode=table.coding)
        cells[3, 0] = 7
        with pytest.raises(DataError, match="got other values in row 3"):
            as_table(wrong, encode=table.coding)


def test_indicators_need_the_names_of_the_table():
    _, frame = people()
    _, (text, *_) = said(as_table, frame.to_numpy())
    assert "give the columns names, and combine each set into one column" in text
    for X, names in ((frame.to_numpy(), None), (frame, list("abcdefg"))):
        with pytest.raises(DataError, match="combine_indicators needs the names of the columns as the table has them"):
            as_table(X, names=names, combine_indicators=True)
    named = as_table(frame.to_numpy(), names=list(frame), combine_indicators=True)
    assert named.names == ("color", "rain", "size")
    some = named.coding.take([2, 1]).with_names(["how large", "wet"])
    assert np.array_equal(as_table(frame, encode=some).codes, named.codes[:, [2, 1]])
    assert as_table(frame, encode=some).names == ("how large", "wet")


def test_codes_of_missing_indicators_are_known_to_the_coding():
    _, frame = people()
    coded = frame.copy()
    coded.iloc[4] = 99
    table = as_table(coded, combine_indicators=True, na_values=[99], missing="impute")
    assert table.variables.kinds == ("nominal", "binary", "nominal")
    assert np.array_equal(as_table(coded, encode=table.coding, missing="impute").holes, table.holes)


def test_missing_indicators():
    _, frame = people()
    holes = frame.astype(float)
    whole = as_table(frame, combine_indicators=True)
    holes.iloc[2, :3] = np.nan  # the color is not known
    one = int(np.flatnonzero(frame.iloc[5, :3])[0])
    holes.iloc[5, [k for k in range(3) if k != one]] = np.nan  # it is: one indicator is 1
    table = as_table(holes, combine_indicators=True, missing="impute")
    assert np.argwhere(table.holes).tolist() == [[2, 0]]
    assert table.n_missing == 1
    assert np.array_equal(table.codes[5], whole.codes[5])
    assert table.variables.categories == whole.variables.categories


def test_nothing_to_combine_is_said():
    rng = np.random.default_rng(0)
    with pytest.warns(DataWarning, match="found no set of indicator columns"):
        as_table(pd.DataFrame(rng.integers(0, 2, size=(100, 4)), columns=list("abcd")), combine_indicators=True)


def test_a_saved_fit_combines_again(tmp_path):
    _, frame = people()
    table = as_table(frame, combine_indicators=True)
    net = IsingLasso(0.05).fit(table)
    net.fit_.save(tmp_path / "m.npz")
    again = load(tmp_path / "m.npz")
    assert again.coding == table.coding
    assert again.score(frame) == net.score(table)


def test_from_the_shell(tmp_path):
    _, frame = people()
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert re.search(r"color_red .* indicator", run("info", tmp_path / "t.csv").stdout)
    warned = run("fit", tmp_path / "t.csv", "--alpha", "0.1")
    assert "combine each set into one column with --combine-indicators." in warned.stderr
    assert "--combine-indicators" in error_line(run("fit", tmp_path / "t.csv", "--alpha", "0.1", "--strict", code=3))
    mended = run(
        "fit", tmp_path / "t.csv", "--alpha", "0.1", "--combine-indicators", "-o", tmp_path / "net", "--strict"
    )
    assert "indicator" not in mended.stderr
    score = float(run("predict", tmp_path / "net", tmp_path / "t.csv", "--score").stdout)
    assert score == pytest.approx(load(tmp_path / "net" / "model.npz").score(frame), rel=1e-5)


@pytest.mark.parametrize(
    ("names", "common", "words"),
    [
        (["cap-shape=bell", "cap-shape=flat"], "cap-shape", ["bell", "flat"]),
        (["size_10", "size_12"], "size", ["10", "12"]),
        (["income_low", "income_lower"], "income", ["low", "lower"]),
        (["colorRed", "colorBlue"], "color", ["Red", "Blue"]),
        (["red", "green"], "red:green", ["red", "green"]),
        (["a_", "a_b"], "a_:a_b", ["a_", "a_b"]),
    ],
)
def test_names_of_sets(names, common, words):
    assert split_names(names) == (common, words)


def test_the_category_of_rows_without_an_indicator_is_not_called_like_another():
    kind = np.random.default_rng(3).integers(0, 4, 60)
    names = ["c_red", "c_other", "c_other (2)"]
    frame = pd.DataFrame((kind[:, None] == range(3)).astype(int), columns=names).assign(x=np.arange(60) % 2)
    table = as_table(frame, combine_indicators=True)
    assert table.variables.categories[0] == ("red", "other", "other (2)", "other (3)")


def test_a_combined_column_is_not_called_like_another():
    """Columns that stay keep their names, by which other tables are read."""
    answers, _ = people()
    kinds, more = (pd.get_dummies(answers[name], prefix="color", dtype=int) for name in ("color", "size"))
    frame = pd.concat([kinds, answers["rain"].rename("color"), more, answers["rain"].rename("color (2)") ^ 1], axis=1)
    table = as_table(frame, combine_indicators=True)
    assert table.names == ("color (3)", "color", "color (4)", "color (2)")
    np.testing.assert_array_equal(as_table(frame, encode=table.coding).codes, table.codes)


def test_an_estimator_reads_the_frame_whose_columns_were_combined():
    rng = np.random.default_rng(0)
    color = rng.integers(0, 3, 200)
    frame = pd.DataFrame({f"color_{word}": (color == k).astype(int) for k, word in enumerate(["red", "blue", "green"])})
    frame["x"] = (color + rng.normal(size=200) > 1).astype(int)
    net = IsingLasso(0.02).fit(as_table(frame, combine_indicators=True))
    assert net.network_.names == ("color", "x")
    assert net.score(frame) == net.fit_.score(frame)
    assert "color was made of 3 indicator columns." in net.fit_.methods_text()
    np.testing.assert_array_equal(net.predict_proba(frame)[0], net.fit_.predict_proba(frame)[0])
    with pytest.raises(ValueError, match="feature names"):
        net.score(frame.rename(columns={"x": "y"}))


def test_rows_whose_indicators_are_filled_with_zeros_have_the_other_category():
    cells = np.eye(3)[np.arange(60) % 3]
    cells[5] = np.nan
    frame = pd.DataFrame(cells, columns=["c_r", "c_g", "c_b"]).assign(y=[0, 1] * 30)
    table = as_table(frame, missing="zero", combine_indicators=True)
    assert table.variables.categories[0] == ("r", "g", "b", "other")
    assert table.codes[:, 0].tolist() == [3 if k == 5 else k % 3 for k in range(60)]
