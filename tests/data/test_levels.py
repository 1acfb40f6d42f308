"""Reading columns of categories: kinds, order, scores, labels, missing cells, and what is refused."""

import io
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from isinglass import (
    Table,
    as_table,
    exact_path,
    read_table,
)
from isinglass.errors import ArgumentError, CellTypeError, DataError

rng = np.random.default_rng(0)
MOODS = ["low", "mid", "high"]


def survey(n=60):
    """A frame with a column of every type."""
    return pd.DataFrame(
        {
            "mood": pd.Categorical(np.resize(MOODS, n), MOODS, ordered=True),
            "party": pd.Categorical(np.resize(["red", "blue", "red", "green", "blue"], n)),
            "vote": np.resize([0, 1, 1], n),
            "home": pd.Categorical(np.resize(["yes", "no"], n)),
        }
    )


def lookup(frame, table):
    """Slow twin: the source value of every cell, back from its number."""
    return [[table.variables.categories[s][code] for s, code in enumerate(row)] for row in table.codes.tolist()]


def test_types_declare_kinds():
    frame = survey()
    for source in (frame, pa.Table.from_pandas(frame), pl.from_arrow(pa.Table.from_pandas(frame))):
        table = as_table(source)
        assert isinstance(table, Table)
        assert table.names == ("mood", "party", "vote", "home")
        assert set(table.variables.kinds[2:]) == {"binary"}
        assert table.variables.kinds[1] == "nominal"
        assert table.variables.categories[3] == ("no", "yes")  # words of known meaning
        assert lookup(frame, table) == frame.astype(object).values.tolist()
    table = as_table(frame)
    assert table.variables.kinds[0] == "ordinal"
    assert table.variables.categories[:2] == (("low", "mid", "high"), ("blue", "green", "red"))
    enum = as_table(pl.DataFrame({"m": pl.Series(MOODS * 3, dtype=pl.Enum(MOODS))}))
    assert (enum.variables.kinds, enum.variables.categories) == (("ordinal",), (tuple(MOODS),))


def test_what_is_said_comes_before_the_type():
    frame = survey()
    table = as_table(frame, kinds={"mood": "nominal"})
    assert table.variables.kinds == ("nominal", "nominal", "binary", "binary")
    assert table.variables.categories[0] == ("low", "mid", "high")
    with pytest.raises(DataError, match="categories without an order"):
        as_table(frame, kinds={"party": "ordinal"})
    with pytest.raises(DataError, match="must hold only 0 and 1"):
        as_table(frame, kinds={"party": "binary"})
    yes = {"low": 0, "mid": 0, "high": 1, "red": 1, "blue": 0, "green": None, "yes": 1, "no": 0}
    coded = as_table(frame, encode=yes, missing="impute")  # all values have a meaning: the types do not count
    assert isinstance(coded, Table)
    assert as_table(frame[["vote", "home"]], encode="auto").encoding == {"home": ("no", "yes")}


@pytest.mark.parametrize("is_ordered", [False, True])
@pytest.mark.parametrize("others", [[], ["party"]])
def test_a_type_of_two_categories_declares_them_beside_any_columns(is_ordered, others):
    frame = survey()[["vote", *others]]
    frame["size"] = pd.Categorical(np.resize(["small", "large"], len(frame)), ["small", "large"], ordered=is_ordered)
    for reverse, pair in (([], ("small", "large")), (["size"], ("large", "small"))):
        table = as_table(frame, reverse=reverse)
        assert table.variables.kinds[-1] == "binary"
        assert table.encoding["size"] == pair
        assert lookup(frame, table) == frame.astype(object).values.tolist()


def test_numbers_lie_where_they_are():
    frame = pd.DataFrame({"a": [1, 2, 5, 2], "b": [10, 20, 30, 10], "c": [0.5, 1.5, 1.0, 0.5], "d": [3, 4, 3, 3]})
    table = as_table(frame, kinds="ordinal")
    assert table.variables.categories == ((1, 2, 5), (10, 20, 30), (0.5, 1, 1.5), (3, 4))
    assert table.variables.scores == ((0, 1, 4), (0, 1, 2), (0, 1, 2), (0, 1))
    assert table.variables.kinds == ("ordinal", "ordinal", "ordinal", "binary")
    nominal = as_table(frame, kinds=["nominal"] * 4)
    assert nominal.variables.kinds == ("nominal",) * 3 + ("binary",)
    given = as_table(frame, kinds="ordinal", scores={"a": [0, 1, 10], 1: {10: 3, 20: 1, 30: 2}})
    assert given.variables.scores[0] == (0, 1, 10)
    assert (given.variables.categories[1], given.variables.scores[1]) == ((20, 30, 10), (0, 1, 2))
    only = as_table(frame[["a", "d"]] - [0, 3], scores={"a": [0, 1, 2]})  # scores say that it is ordinal
    assert only.variables.kinds == ("ordinal", "binary")


def test_words_get_an_order_from_encode():
    words = pd.DataFrame({"a": ["never", "often", "rarely", "?"], "b": ["often", "never", "rarely", "rarely"]})
    how = {"never": 0, "rarely": 1, "often": 3, "?": None}
    table = as_table(words, kinds="ordinal", encode=how, missing="impute")
    assert table.variables.categories == (("never", "rarely", "often"),) * 2
    assert table.variables.scores[0] == (0, 1, 3)
    assert table.holes.tolist() == [[False, False], [False, False], [False, False], [True, False]]
    by_column = as_table(
        words.iloc[:3],
        kinds="ordinal",
        encode={"a": ("never", "rarely", "often"), "b": {"never": 0, "rarely": 2, "often": 1}},
    )
    assert by_column.variables.categories == (("never", "rarely", "often"), ("never", "often", "rarely"))
    mixed = as_table(words.assign(c=[0, 1, 1, 0]), kinds={"a": "ordinal", "b": "ordinal"}, encode=how, missing="drop")
    assert mixed.variables.kinds == ("ordinal", "ordinal", "binary")  # numbers above 1 are for columns of categories
    for bad, message in (
        ({"never": 0, "rarely": 1}, "every value"),
        ({**how, "rarely": "x"}, "to a number"),
    ):
        with pytest.raises(DataError, match=message):
            as_table(words, kinds="ordinal", encode=bad, missing="impute")
    with pytest.raises(DataError, match="needs an order"):
        as_table(words, kinds="ordinal")


def test_equal_numbers_put_categories_together():
    answers = np.array([[1], [2], [3], [4], [5]])
    table = as_table(answers, encode={1: 0, 2: 1, 3: 2, 4: 3, 5: 3}, kinds="ordinal")
    assert table.codes.ravel().tolist() == [0, 1, 2, 3, 3]
    assert table.variables.categories == ((1, 2, 3, 4),)
    assert table.variables.scores == ((0.0, 1.0, 2.0, 3.0),)
    again = as_table(np.array([[5], [1]]), encode=table.coding)
    assert again.codes.ravel().tolist() == [3, 0]
    two = as_table(answers, encode={1: 0, 2: 0, 3: 0, 4: 7, 5: 7}, kinds="ordinal")
    assert two.variables.is_binary
    assert two.codes.ravel().tolist() == [0, 0, 0, 1, 1]
    party = pd.DataFrame({"party": ["red", "rose", "blue", "green"] * 5})
    colors = {"red": 0, "rose": 0, "blue": 1, "green": 2}
    assert as_table(party, encode=colors, kinds="nominal").codes.ravel().tolist() == [0, 0, 1, 2] * 5
    with pytest.raises(DataError, match="scores must be different numbers"):
        as_table(answers, scores={0: {1: 0, 2: 1, 3: 1, 4: 2, 5: 3}})


def test_a_table_without_more_than_two_categories_is_binary():
    frame = pd.DataFrame({"a": ["x", "y", "y"], "b": [1, 2, 1], "c": [0, 0, 0], "d": ["z", "z", "z"]})
    table = as_table(frame, kinds="nominal")
    assert isinstance(table, Table)
    assert table.codes.tolist() == [[0, 0, 0, 0], [1, 1, 0, 0], [1, 0, 0, 0]]
    assert table.encoding == {"a": ("x", "y"), "b": (1, 2), "d": ("z", None)}
    again = as_table(pd.DataFrame({"a": ["y"], "b": [2], "c": [1], "d": ["z"]}), encode=table.coding)
    assert again.codes.tolist() == [[1, 1, 1, 0]]
    masked = as_table(pd.DataFrame({"a": ["x", "y", None], "b": [0, 1, 1]}), kinds="nominal", missing="impute")
    assert masked.holes.tolist() == [[False, False], [False, False], [True, False]]
    with pytest.raises(DataError, match="declared or fitted"):
        as_table(pd.DataFrame({"a": ["w"], "b": [2], "c": [1], "d": ["z"]}), encode=table.coding)


def test_another_table_is_read_the_same_way():
    frame = survey()
    table = as_table(frame)
    shuffled = frame[["vote", "home", "party", "mood"]].iloc[::-1].astype(object).assign(more="?")
    again = as_table(shuffled, encode=table.coding)
    assert np.array_equal(again.codes, table.codes[::-1])
    assert again.variables.categories == table.variables.categories
    one = as_table(frame.iloc[:1], encode=table.coding)  # a level may be absent
    assert one.variables.sizes.tolist() == [3, 3, 2, 2]
    with pytest.raises(
        DataError, match=r"declared or fitted, 'blue', 'green', 'red'; got 'pink' in column 'party' \(first in row 2\)"
    ):
        as_table(frame.astype(object).replace({"green": "pink"}).iloc[1:].reset_index(drop=True), encode=table.coding)
    with pytest.raises(DataError, match="'vote'"):
        as_table(frame.assign(vote=3), encode=table.coding)
    with pytest.raises(DataError, match="kinds must be given where the table is read"):
        as_table(frame, encode=table.coding, kinds="ordinal")


def test_missing_cells():
    frame = survey()
    frame.loc[3, "mood"] = None
    frame.loc[5, "vote"] = np.nan
    with pytest.raises(DataError, match=r"column 'mood' \(row 3; 2 missing"):
        as_table(frame)
    with pytest.raises(DataError, match="column 'mood', which has categories"):
        as_table(frame, missing="zero")
    holes = as_table(frame, missing="impute")
    assert np.argwhere(holes.holes).tolist() == [[3, 0], [5, 2]]
    assert holes.n_missing == 2
    dropped = as_table(frame, missing="drop")
    assert (len(dropped), dropped.n_dropped, dropped.rows[:4].tolist()) == (58, 2, [0, 1, 2, 4])
    zero = as_table(frame.drop(columns="mood"), missing="zero")  # in a column of 0 and 1
    assert zero.codes[5, 1] == 0


@pytest.mark.parametrize(
    ("column", "kind", "message"),
    [
        (np.arange(300), "ordinal", "at most 256 categories; got 300"),
        ([f"id{k}" for k in range(300)], "nominal", "at most 256"),
        ([f"id{k}" for k in range(60)], "nominal", "at least two rows for each of its categories; got"),
        ([str(k // 2) for k in range(60)] + ["last"], "nominal", "at least two rows for each of its categories; got"),
        (["a", 1, "b", 2], "ordinal", "numbers or text, not both"),
        ([(1, 2), (3, 4), (5, 6)], "nominal", r"of type tuple\. Turn the cells into these, or leave the column out"),
        ([0, 1, np.inf], "ordinal", "finite numbers"),
        ([0, 1, np.pi], "ordinal", "multiples of one step"),
        ([0, 1, 1000], "ordinal", "multiples of one step"),
        (["a", "b", "c"], "ordinal", "needs an order"),
        (["a", "b", "c"], "cardinal", '"binary", "ordinal", "nominal", "continuous"; got .cardinal.'),
    ],
)
def test_bad_columns(column, kind, message):
    frame = pd.DataFrame({"a": pd.Series(list(column), dtype=object), "b": np.resize([0, 1], len(column))})
    with pytest.raises(DataError, match=message) as found:
        as_table(frame, kinds={"a": kind})
    assert isinstance(found.value, CellTypeError) == ("tuple" in message)


def test_the_error_about_other_values_says_which_option_to_use():
    with pytest.raises(DataError, match=r'State its kind \(kinds="ordinal", "nominal" or "continuous"\)'):
        as_table([[0, 1], [1, 2], [1, 3]])
    with pytest.raises(DataError, match='"nominal"'):
        as_table([["a"], ["b"], ["c"]], encode="auto")


def test_a_value_without_a_score_is_told_of_scores():
    with pytest.raises(DataError, match=r"^scores must say what every value means; got 4 in column 'a'"):
        as_table(pd.DataFrame({"a": [1, 2, 3, 4] * 5}), scores={"a": {1: 0, 2: 1, 3: 5}})


def test_bad_arguments():
    frame = pd.DataFrame({"a": [0, 1, 2], "b": [0, 1, 1]})
    for options, message in (
        ({"kinds": ["ordinal"]}, "one entry per column"),
        ({"kinds": 3}, "one word, an entry per column, or a mapping"),
        ({"kinds": {"c": "ordinal"}}, "must name a column of the table; got 'c'"),
        ({"kinds": {"a": "ordinal"}, "binarize": {"a": 1}}, "not name the same column"),
        ({"scores": [0, 1, 2]}, "mapping of columns"),
        ({"scores": {"a": "norm"}}, "scores must be numbers or \"normal\" for column 'a'; got 'norm'"),
        ({"scores": {"a": [0, 1]}}, "one finite number for each of the 3"),
        ({"scores": {"a": [0, 1, 1]}}, "of column 'a', all different"),
        ({"kinds": {"a": "nominal"}, "scores": {"a": [0, 1, 2]}}, "which is nominal"),
    ):
        with pytest.raises(DataError, match=message):
            as_table(frame, **options)
    table = as_table(frame, kinds="ordinal")
    assert as_table(table) is table
    assert as_table(table, names=["x", "y"]).names == ("x", "y")
    assert as_table(table, kinds="ordinal") is table
    with pytest.raises(DataError, match="kinds must be given where the table is read"):
        as_table(table, kinds="nominal")


def test_functions_of_two_values_say_so():
    frame = survey()
    with pytest.raises(DataError, match="columns of two values here; got the ordinal column 'mood'"):
        exact_path(frame)
    with pytest.raises(DataError, match="for a table in parts"):
        as_table([frame, frame], kinds="ordinal")


def test_files(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("age,party,vote\n" + "".join(f"{1 + k % 4},{'rgb'[k % 3]},{k % 2}\n" for k in range(24)))
    table = read_table(file, kinds={"age": "ordinal", "party": "nominal"})
    assert table.variables.kinds == ("ordinal", "nominal", "binary")
    assert table.variables.categories == ((1, 2, 3, 4), ("b", "g", "r"), (0, 1))
    assert table.codes[:3].tolist() == [[0, 2, 0], [1, 1, 1], [2, 0, 0]]
    again = read_table(file, encode=table.coding)
    assert np.array_equal(again.codes, table.codes)
    with pytest.raises(DataError, match="got 2, 3, 4 in column 'age'"):
        read_table(file)


@pytest.mark.parametrize("kind", ["dta", "sav"])
def test_value_labels_are_categories(kind, tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pd.DataFrame({"mood": [1.0, 2.0, 3.0, 2.0] * 5, "vote": [0.0, 1.0] * 10})
    file = tmp_path / f"table.{kind}"
    write = pyreadstat.write_dta if kind == "dta" else pyreadstat.write_sav
    write(
        frame,
        str(file),
        variable_value_labels={"mood": {0: "always", 1: "often", 2: "rarely", 3: "never", 9: "no answer"}},
    )
    for gone in (["no answer"], {"mood": ["no answer"]}):
        table = read_table(file, kinds={"mood": "ordinal"}, na_values=gone)
        assert table.variables.categories == (("always", "often", "rarely", "never"), (0, 1))
        assert table.codes[:4, 0].tolist() == [1, 2, 3, 2]
    with_unused = read_table(file, kinds={"mood": "nominal"})  # an answer that nobody gave is one
    assert with_unused.variables.categories[0] == ("always", "often", "rarely", "never")


def test_a_common_step_is_found_where_no_two_values_are_one_step_apart():
    frame = pd.DataFrame({"x": [4.5, 5.2, 6.5, 6.7] * 5})
    table = as_table(frame, kinds={"x": "ordinal"})
    assert table.variables.scores[0] == (0.0, 7.0, 20.0, 22.0)
    with pytest.raises(DataError, match="multiples of one step, at most 255 of them"):
        as_table(pd.DataFrame({"x": [0.0, 1.0, 2.0**0.5] * 5}), kinds={"x": "ordinal"})


def test_frames_are_described_by_range_and_pattern_too():
    frame = pd.DataFrame(np.arange(24).reshape(6, 4) % 3, columns=["A1", "A2", "A3", "b"])
    table = as_table(
        frame, kinds={"A1:A2": "ordinal", "A3": "nominal", "b": "ordinal"}, na_values={"A*": [2]}, missing="impute"
    )
    assert table.n_missing == 6
    assert as_table(frame, kinds={"*": "ordinal"}, covariates=["A*"]).variables.covariates == ("A1", "A2", "A3")


def test_scores_of_a_column_stated_as_binary_are_refused():
    with pytest.raises(DataError, match="scores must be for ordinal columns; got column 0, which is binary"):
        as_table(np.eye(3), kinds=["binary"] * 3, scores={0: [0.0, 2.0]})


def test_an_option_that_names_a_column_goes_before_one_for_all():
    frame = pd.DataFrame({"a": [1, 2, 3] * 20, "b": [1, 2, 2] * 20, "c": np.linspace(0, 1, 60)})
    scored = as_table(frame[["a", "b"]], kinds="nominal", scores={"a": [0, 1, 3]})
    assert scored.variables.kinds == ("ordinal", "binary")
    assert as_table(frame, kinds="continuous", binarize={"c": 0.5}).variables.kinds == (
        "continuous",
        "binary",
        "binary",
    )
    assert as_table(frame, binarize=1.5, kinds={"c": "continuous"}).variables.kinds == (
        "binary",
        "binary",
        "continuous",
    )
    with pytest.raises(DataError, match="binarize and kinds must not name the same column"):
        as_table(frame, kinds={"c": "continuous"}, binarize={"c": 0.5})


@pytest.mark.parametrize("gone", [99, "99", "verweigert!", {"q": [99]}])
@pytest.mark.parametrize("kind", ["csv", "sav"])
def test_the_label_of_a_missing_value_is_no_category(gone, kind, tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    labels = {1: "low", 2: "mid", 3: "high", 99: "verweigert!"}
    frame, file = pd.DataFrame({"q": [1.0, 2.0, 3.0, 99.0] * 5, "b": [0.0, 1.0] * 10}), tmp_path / f"table.{kind}"
    if kind == "sav":
        pyreadstat.write_sav(frame, str(file), variable_value_labels={"q": labels})
    else:
        frame.to_csv(file, index=False)
    stated = {} if kind == "sav" else {"value_labels": {"q": labels}}
    table = read_table(file, kinds={"q": "ordinal"}, missing="impute", na_values=gone, **stated)
    assert table.variables.categories[0] == ("low", "mid", "high")
    assert (table.holes[:, 0] == (frame["q"] == 99)).all()
    again = read_table(file, encode=table.coding, missing="impute", na_values=gone, **stated)
    assert (again.codes == table.codes).all()
    assert (again.holes == table.holes).all()


@pytest.mark.parametrize("kind", ["ordinal", "nominal"])
@pytest.mark.parametrize("number", [Decimal, Fraction])
def test_exact_numbers_are_those_of_a_text_file(kind, number):
    cells = [number(text) for text in ("0.1", "0.2", "0.3")] * 10
    table = as_table(pd.DataFrame({"a": cells, "b": [0, 1, 1] * 10}), kinds={"a": kind})
    assert table.variables.categories[0] == (0.1, 0.2, 0.3)


@pytest.mark.parametrize("kind", ["ordinal", "nominal", "continuous"])
def test_a_whole_number_beyond_doubles_is_refused(kind):
    frame = pd.DataFrame({"a": [10**400, 1, 0, 0.5] * 10, "b": [0, 1] * 20}, dtype=object)
    with pytest.raises(DataError, match=r"must hold finite numbers to .*; got .*10000"):
        as_table(frame, kinds={"a": kind})
    with pytest.raises(DataError, match="must hold finite numbers to be continuous"):
        as_table(frame.assign(a=[10**400, *np.linspace(0.1, 3, 39)]))


def test_scores_by_value_are_different_numbers():
    frame = pd.DataFrame({"a": [0, 1, 2] * 10, "b": [0, 1, 1] * 10})
    for scores, message in (
        ({0: [1], 1: 2, 2: 3}, r"scores must map 0 to a number; got \[1\]"),
        ({0: None, 1: 2, 2: 3}, "scores must map 0 to a number; got None"),
        ({0: 1, 1: 1, 2: 3}, "scores must be different numbers for column 'a'"),
        ([1, 1, 3], "scores must be a list of one finite number for each of the 3 categories of column 'a', all"),
    ):
        with pytest.raises(ArgumentError, match=message):
            as_table(frame, kinds={"a": "ordinal"}, scores={"a": scores})


def test_text_with_half_a_surrogate_pair_is_text():
    """As files read with ``surrogateescape`` have it; Arrow has no such text."""
    frame = pd.DataFrame({"v": ["a\udce9", "b", "c", "b"]}, dtype=object)
    assert as_table(frame, kinds="nominal").variables.categories == (("a\udce9", "b", "c"),)


def test_kinds_of_row_names_are_explained():
    file = io.StringIO("mood,b\nlow,1\nmid,0\nhigh,1\n")
    with pytest.raises(DataError, match=r"got 2\. Column 'mood' names the rows, unless id_column=None"):
        read_table(file, kinds=["ordinal", "binary"])


def test_missing_whole_numbers_beyond_doubles_are_those_alone():
    numbers = [2**60, 2**60 + 1, 1] * 10
    frame = pd.DataFrame({"a": numbers, "b": [0, 1, 1] * 10})
    for container in (frame, frame.to_numpy()):
        table = as_table(container, kinds={0: "nominal"}, na_values=[2**60, 0.5], missing="impute")
        assert table.holes[:, 0].tolist() == [number == 2**60 for number in numbers]
        assert table.variables.categories[0] == (1, 2**60 + 1)


@pytest.mark.parametrize("kind", ["ordinal", "nominal", "continuous"])
def test_large_numbers_are_written_in_few_digits(kind):
    numbers = np.arange(60) % (3 if kind != "continuous" else 60) * 1e300
    table = as_table(pd.DataFrame({"a": numbers, "b": [0, 1] * 30}), kinds={"a": kind})
    assert max(map(len, map(str, table.variables.categories[0]))) < 30


def test_texts_that_are_meant_as_numbers_are_not_binary():
    frame = pd.DataFrame({"a": ["1,5", "2,5"] * 10, "b": [0, 1, 1, 0] * 5})
    with pytest.raises(
        DataError, match=r"'a' must hold finite numbers to be continuous; got '1,5', '2,5'.*decimal=\",\""
    ):
        as_table(frame, kinds={"a": "continuous"})
    for kinds, encode in (({"a": "nominal"}, None), ({"a": "continuous"}, {"a": {"1,5": 0, "2,5": 1}})):
        assert as_table(frame, kinds=kinds, encode=encode).variables.kinds == ("binary", "binary")
    words = frame.replace({"1,5": "low", "2,5": "high"})
    assert as_table(words, kinds={"*": "continuous"}).variables.kinds == ("binary", "binary")


def test_values_declared_missing_are_named_where_missing_cells_are_refused():
    frame = pd.DataFrame({"a": [0, 1, 9] * 10, "b": [0, 1, 1] * 10})
    with pytest.raises(DataError, match=r"got 9, which stands for one, in column 'a' \(row"):
        as_table(frame, na_values=[9])


def test_an_entry_of_a_column_counts_alone_among_values_for_a_missing_cell():
    frame = pd.DataFrame({"a1": [0, 1, 8, 9] * 5, "a2": [0, 1, 0, 9] * 5})
    kinds = {"a1": "ordinal"}
    table = as_table(frame, kinds=kinds, na_values={"a*": [9], "a1": [8]}, missing="impute")
    assert table.variables.categories == ((0, 1, 9), (0, 1))


@pytest.mark.parametrize("kind", ["ordinal", "continuous"])
def test_amounts_with_signs_are_refused_with_what_to_keep(kind):
    frame = pd.DataFrame({"a": ["10%", "20%", "30%"] * 10, "b": [0, 1, 1] * 10})
    with pytest.raises(DataError, match=r"If '10%' is a number, keep only its digits and its decimal separator"):
        as_table(frame, kinds={"a": kind})


def test_two_texts_are_binary_under_any_kind():
    frame = pd.DataFrame({"a": ["no", "yes"] * 10, "b": [0, 1] * 10})
    for kinds in ({"a": "continuous"}, {"*": "continuous"}, "continuous", {"a:b": "continuous"}):
        table = as_table(frame, kinds=kinds)
        assert (table.variables.is_binary, table.encoding["a"]) == (True, ("no", "yes"))
