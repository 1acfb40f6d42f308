"""Tables that do not mean what they say: what is warned about, what is not, and whether the advice mends it."""

import ast
import io
import json
import re
import shlex
import warnings

import numpy as np
import pandas as pd
import pytest
from commands import error_line, run

from isinglass import as_table, read_table
from isinglass.data.meaning.grid import equal_steps
from isinglass.data.meaning.recognition import missing_codes, no_answers
from isinglass.errors import DataError, MeaningWarning, suppress_warnings

N = 200


def battery(n_items=6, seed=0, points=5):
    """Answers from 1 on to items that have a trait in common."""
    rng = np.random.default_rng(seed)
    trait = rng.normal(size=(N, 1))
    raw = trait + rng.normal(size=(N, n_items))
    cells = np.clip(np.round(raw + (points + 1) / 2), 1, points).astype(int)
    return pd.DataFrame(cells, columns=[f"i{k}" for k in range(n_items)])


def said(frame, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        as_table(frame, **{"kinds": "ordinal", "missing": "impute", **options})
    return [str(warning.message) for warning in caught if issubclass(warning.category, MeaningWarning)]


@pytest.mark.parametrize("seed", range(20))
def test_an_ordinary_battery_is_not_suspected(seed):
    frame = battery(seed=seed)
    counts = frame.apply(lambda column: column.value_counts().min())
    assert said(frame.loc[:, counts >= 5]) == []


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        (range(1, 6), ()),
        ([*range(1, 6), 99], (99,)),
        ([-9, *range(5)], (-9,)),
        ([-99, -9, *range(5)], (-99, -9)),
        ([1, 2, 9], (9,)),
        ([0, 1, -1], ()),  # may be a scale
        ([-1, 1, 2, 3], (-1,)),
        ([*range(1, 6), 7, 8, 9], (7, 8, 9)),
        ([*range(1, 6), 7], ()),
        (range(1, 10), ()),
        (range(-3, 4), ()),
        ([18, 30, 45, 67, 80, 99], ()),  # ages
        ([18, 30, 45, 67, 80, 999], (999,)),
        ([0.5, 1, 99], (99,)),
        ([-999, *np.linspace(18.5, 40.5, 30)], (-999,)),
        ([-9, *np.linspace(19.37, 9000.5, 30)], (-9,)),
        ([-99, -9, 0.5, 1.0, 1.5], (-99, -9)),
        ([-9.5, -9, *np.linspace(0.5, 8.5, 30)], ()),  # measurements
        (["a", "b"], ()),
        ([0, 1, float("inf")], ()),
    ],
)
def test_numbers_that_stand_apart(values, codes):
    assert missing_codes(values) == codes


def test_words_for_no_answer():
    words = [
        "Refused",
        "don’t know",
        "Weiß nicht",
        "keine  Angabe",
        "K.A.",
        "N/A",
        "n.a.",
        "Not stated",
        "agree",
        "no",
        9,
    ]
    assert no_answers(words) == tuple(words[:8])
    assert [no_answers(["yes", "no", "-"]), no_answers(["+", "-"])] == [("-",), ()]
    assert [no_answers([1, 2, 3, "x"]), no_answers([1, 2, 3, "4+"])] == [("x",), ()]  # a word with a digit is an answer


@pytest.mark.parametrize("code", [99, -9])
def test_a_missing_code_is_named_with_its_remedy(code, tmp_path):
    frame = battery()
    frame.iloc[::10, [1, 3]] = code
    (text,) = said(frame)
    assert (
        f"Columns 'i1', 'i3': {code} besides 1, 2, 3, 4, 5. If it stands for a missing answer, use "
        f"na_values=[{code}]" in text
    )
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    with pytest.warns(MeaningWarning, match="for a missing answer"):
        read_table(path, kinds="ordinal")
    table = read_table(path, kinds="ordinal", na_values=[code], missing="impute")  # the advice, and no warning
    assert table.n_missing == 40


@pytest.mark.parametrize("stated", [{"income": "continuous"}, {}])
def test_a_code_that_is_an_answer_elsewhere_is_made_missing_in_its_columns_only(stated, tmp_path):
    frame = battery().assign(income=np.resize(np.arange(4, 30), N))
    for columns, advice, words in (
        ([1], "na_values={'i1': [9]}", "--na i1=9"),
        ([1, 2, 3, 5], "na_values={'i1:i3': [9], 'i5': [9]}", "--na i1:i3=9 --na i5=9"),
    ):
        frame.iloc[::10, columns] = 9
        options = {"kinds": dict.fromkeys(frame.columns[:6], "ordinal") | stated}
        if not stated:
            options["binarize"] = {"income": 20}
        (text,) = said(frame, **options)
        assert text.endswith(f"If it stands for a missing answer, use {advice}.")
        table = as_table(frame, missing="impute", na_values=ast.literal_eval(advice.partition("=")[2]), **options)
        assert table.n_missing == 20 * len(columns)
        frame.to_csv(tmp_path / "t.csv", index=False)
        assert f"use {words}.\n" in (shown := run("info", tmp_path / "t.csv").stderr)
        assert shown.count("--na") == words.count("--na")
        again = json.loads(run("info", tmp_path / "t.csv", *words.split(), "--json").stdout)
        assert [column["missing"] for column in again["columns"]].count(0.1) == len(columns)
    with pytest.raises(DataError, match=r"use na_values=\{'i1': \[9\]\}\."):
        as_table(frame[["i1", "income"]], kinds={"income": "continuous"})


def test_a_code_is_not_merged_with_answers():
    frame = battery()
    frame["i1"] = np.resize([1, 2, 3, 4], N)
    frame.loc[:2, "i1"], frame.loc[3:5, "i1"] = 5, 9
    (code, rare) = said(frame[["i1", "i2"]], kinds={"i1": "ordinal", "i2": "ordinal"})[:2]
    assert "na_values=[9]" in code
    assert "fewer than 5 rows: 5 of column 'i1' (3 rows). " in rare
    frame["i1"] = frame["i1"].replace(5, 4)
    assert not any("fewer than" in text for text in said(frame[["i1", "i2"]]))


def test_a_guess_never_leaves_a_column_out_without_a_word():
    frame = pd.DataFrame(
        {
            "several": np.resize(["1,2", "1,3", 1, 2], 60),
            "share": [f"{k % 40}%" for k in range(60)],
            "day": np.resize(["2020-01-02", "2020-02-03", "2021-01-01"], 60),
            "a": np.resize([0, 1], 60),
            "b": np.resize([0, 1, 1], 60),
        }
    )
    texts = said(frame, kinds=None, guess=True)
    for column, why in (("several", "text and numbers"), ("share", "numbers as text"), ("day", "dates")):
        (text,) = [text for text in texts if text.startswith(f"Column '{column}': left out ({why}).")]
        assert ("To keep a column, state its kind" in text) == (column != "day")
        assert ("If '1,2' is a number with a decimal comma" in text) == (column == "several")
    short = pd.DataFrame({"who": list("abcdefgh"), "a": [0, 1] * 4, "b": [0, 0, 1, 1] * 2})
    (text,) = said(short, kinds=None, guess=True)
    assert text.startswith("Column 'who': left out (a different value in almost every row")


def test_one_code_of_one_digit_needs_a_gap():
    frame = battery()
    frame.iloc[::12, :5] = 7
    frame.iloc[1::12, :5] = 8
    (text,) = said(frame)
    assert "Columns 'i0', 'i1', 'i2', 'i3' and 1 more: 7, 8 besides" in text
    once = battery()
    once.iloc[::12, 0] = 7  # an answer that was rarely given, perhaps
    assert said(once) == []
    once.iloc[::12, 0] = 9
    assert "column 'i0': 9" in said(once)[0].lower()


def test_words_in_categories():
    frame = pd.DataFrame({"a": np.resize(["red", "blue", "green", "keine Angabe"], N), "b": np.resize([0, 1, 1], N)})
    (text,) = said(frame, kinds={"a": "nominal"})
    assert "Column 'a': 'keine Angabe' besides 'blue', 'green', 'red'" in text


def test_columns_of_two_values_get_the_advice_too(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "0,1\n1,0\n1,99\n" * 10)
    for encode in ("--encode=auto", "-q"):
        assert "99. If it stands for a missing answer, use --na 99" in error_line(run("fit", path, encode, code=3))
    assert "99 missing?" in run("info", path).stdout
    assert "missing?" not in run("info", path, "--na", "99").stdout
    with pytest.raises(DataError, match=r"99\. If it stands for a missing answer, use na_values=\[99\]\."):
        read_table(path)


def test_strict_makes_warnings_errors(tmp_path):
    frame = battery()
    frame.iloc[::10] = 99
    frame.to_csv(tmp_path / "t.csv", index=False)
    args = ("fit", tmp_path / "t.csv", "--ordinal", "*", "--alpha", "0.1")
    assert "use --na 99" in run(*args).stderr
    assert "use --na 99" in error_line(run(*args, "--strict", code=3))
    run(*args, "--strict", "--na", "99", "--missing", "drop")


@pytest.mark.parametrize("turned", [["i2"], ["i0", "i4"]])
def test_reversed_items(turned, tmp_path):
    frame = battery(seed=3, n_items=7)
    plain = as_table(frame, kinds="ordinal")
    frame[turned] = 6 - frame[turned]
    (text,) = said(frame)
    assert re.search(r"against the direction of the others.*recode with reverse=", text)
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    table = read_table(path, kinds="ordinal", reverse=turned)  # no warning any more
    np.testing.assert_array_equal(table.codes, plain.codes)
    assert table.variables.categories[int(turned[0][1])] == (5, 4, 3, 2, 1)
    again = read_table(path, encode=table.coding)
    np.testing.assert_array_equal(again.codes, table.codes)


def test_only_columns_with_an_order_can_be_turned(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "0,x\n1,y\n1,z\n" * 10)
    for column in "ab":
        with pytest.raises(DataError, match=f"reverse must name columns of ordered categories; got column '{column}'"):
            read_table(path, kinds={"b": "nominal"}, reverse=[column])
    with pytest.raises(DataError, match=r"which is nominal. Declare it as one \(kinds=\{'b': 'ordinal'\}\)"):
        read_table(path, kinds={"b": "nominal"}, reverse=["b"])
    numbers = {"b": {"x": 0, "y": 1, "z": 2}}
    assert read_table(path, kinds={"b": "ordinal"}, encode=numbers, reverse=["b"]).variables.categories[1][0] == "z"


def test_unrelated_items_are_not_reversed():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.integers(1, 6, size=(N, 8)), columns=list("abcdefgh"))
    assert said(frame) == []


def test_numbers_dates_and_rare_categories():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {"age": rng.integers(20, 40, N), "day": np.resize(["2020-01-02", "2020-02-03", "2021-01-01"], N)}
    )
    frame["mood"] = np.resize([1, 2, 3], N)
    frame.loc[:2, "mood"] = 4
    texts = " | ".join(said(frame, kinds={"age": "ordinal", "day": "nominal", "mood": "ordinal"}))
    assert "Column 'age': ordered values that are up to 19 steps apart, and couplings are per step" in texts
    assert "Column 'day': dates. Leave out what is no variable (drop=['day'] in read_table" in texts
    assert "4 of column 'mood' (3 rows)" in texts


def test_a_few_values_far_apart_are_taken_for_numbers():
    """Ages of 20 and 42 are 22 steps apart: a coupling per step is small beside one of a rating."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"age": rng.choice([17.5, 22, 27, 32, 37, 42], N), "mood": rng.integers(1, 8, N)})
    (text,) = said(frame, kinds="ordinal")
    assert "Column 'age': ordered values that are up to 49 steps apart" in text
    assert "use kinds={'age': 'continuous'}" in text
    table = as_table(frame, guess=True)
    assert table.variables.kinds == ("continuous", "ordinal")


def test_a_code_of_a_missing_answer_makes_no_number_of_a_scale():
    frame = pd.DataFrame({"mood": np.resize([1, 2, 3, 4, 5, 99], N), "calm": np.resize([0, 1, 2, 3, -99], N)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MeaningWarning)
        assert as_table(frame, guess=True).variables.kinds == ("ordinal", "ordinal")


def test_info_shows_what_was_detected_and_what_is_doubtful(tmp_path):
    frame = battery()
    frame.iloc[::10, 2] = 99
    frame.insert(0, "who", [f"p{k}" for k in range(N)])
    frame.to_csv(tmp_path / "t.csv", sep=";", index=False)
    shown = run("info", tmp_path / "t.csv", "--ordinal", "i*")
    assert "File delimiter 'semicolon', id column 'who'" in " ".join(shown.stdout.split())
    assert (
        "Warning: Column 'i2': 99 besides 1, 2, 3, 4, 5. If it stands for a missing answer, use --na 99."
        in shown.stderr
    )


def test_info_of_answers_about_which_nothing_was_stated(tmp_path):
    frame = battery()
    frame.iloc[::10, 2] = 99
    rng = np.random.default_rng(0)
    frame["party"] = rng.choice(["red", "green", "blue"], N)
    frame.insert(3, "number", rng.permutation(N) + 1000)
    frame["weight"] = rng.uniform(0.2, 1.8, size=N).round(1)
    frame["smokes"] = rng.choice(["yes", "no"], N)
    frame.loc[::20, "smokes"] = None
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    shown = run("info", path)
    lines = shown.stdout.splitlines()
    assert all(len(line) <= 80 or line.startswith(("Fit needs", "  patterns")) for line in lines)
    shown_as = {line.split()[0]: line.split()[1] for line in lines[1:11]}
    assert shown_as == {
        **dict.fromkeys(("i0", "i1", "i2", "i3", "i4", "i5"), "ordinal?"),
        "number": "left",
        "party": "nominal?",
        "weight": "continuous?",
        "smokes": "binary?",
    }
    assert lines[3].split()[-2:] == ["99", "missing?"]
    assert lines[10].endswith("5.0%")
    assert "use --na 99" in shown.stderr
    needs = "--ordinal i0:i2,i3:i5 --nominal party --drop number --weights weight --encode auto --missing impute"
    assert needs in " ".join(shown.stdout.split())
    record = json.loads(run("info", path, "--json").stdout)
    assert [column["stated"] for column in record["columns"]] == [False] * 10
    assert record["columns"][2]["notes"] == ["99 missing?"]
    assert record["options"] == needs
    run("fit", path, *needs.split(), "--alpha", "0.2", "--na", "99")


@pytest.mark.parametrize(
    ("name", "low", "high", "is_proposed"),
    [
        ("weight", 0.3, 1.7, True),
        ("Freq", 2, 60, True),
        ("wt", 4e3, 4e4, True),
        ("Weight", 45, 110, False),
        ("wt", 1.5, 5.4, False),
    ],
)
def test_info_proposes_weights_where_values_are_no_measurements(tmp_path, name, low, high, is_proposed):
    frame = battery().assign(height=170, age=44, **{name: np.linspace(low, high, N)})
    frame[["height", "age"]] += np.random.default_rng(0).integers(-20, 20, (N, 2))
    frame.to_csv(tmp_path / "t.csv", index=False)
    record = json.loads(run("info", tmp_path / "t.csv", "--json").stdout)
    assert (f"--weights {name}" in record["options"]) == is_proposed
    assert any(f"--weights {name}" in warning for warning in record["warnings"]) == is_proposed


def test_info_of_dropped_rows_has_the_shares_of_missing_cells(tmp_path):
    frame = battery().assign(empty=None).mask(np.random.default_rng(0).random((N, 7)) < 0.02)
    frame.to_csv(tmp_path / "t.csv", index=False)
    for missing in ("drop", "impute"):
        columns = json.loads(run("info", tmp_path / "t.csv", "--missing", missing, "--json").stdout)["columns"]
        assert [column["missing"] for column in columns] == pytest.approx(frame.isna().mean().tolist())
    n_dropped = int(frame.drop(columns="empty").isna().any(axis=1).sum())
    assert f"in {n_dropped} rows, which are left out" in run("info", tmp_path / "t.csv", "--missing", "drop").stdout


def _few(column):
    text = ", ".join(map(str, sorted(set(column))))
    return f"{text[:23]}…"


def _grid(column):
    return f"{column.min():g} … {column.max():g} ({equal_steps(column.to_numpy()).n_categories} steps)"


def test_info_fits_a_terminal_whatever_the_names(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(1, 4, size=(60, 40)), columns=[f"{'long ' * 12}{k}" for k in range(40)])
    frame.iloc[::9, ::3] = 999
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = run("info", tmp_path / "t.csv").stdout.partition("\n\n")[0]
    assert max(map(len, table.splitlines())) <= 80


def test_the_word_none_is_an_answer_that_is_asked_about(tmp_path):
    path = tmp_path / "survey.csv"
    rows = [["None", "None"], ["Some", "1"], ["Often", "0"]] * 10
    path.write_text("exercise,smokes\n" + "".join(",".join(row) + "\n" for row in rows))
    with pytest.warns(MeaningWarning, match=r"'exercise': 'None' besides 'Often', 'Some'.*na_values=\['None'\]"):
        table = read_table(path, kinds={"exercise": "nominal"}, drop=["smokes"])
    assert table.variables.categories[0] == ("None", "Often", "Some")
    with pytest.raises(DataError, match=r"must hold only 0 and 1; got 'None'.*use na_values=\['None'\]"):
        read_table(path, drop=["exercise"], missing="impute")
    stated = read_table(path, kinds={"exercise": "nominal"}, missing="impute", na_values=["None"])
    assert stated.holes.sum(axis=0).tolist() == [10, 10]
    pd.read_csv(path, keep_default_na=False)[["exercise"]].to_parquet(tmp_path / "survey.parquet")
    with pytest.warns(MeaningWarning, match="'None'"):
        typed = read_table(tmp_path / "survey.parquet", kinds="nominal")
    assert typed.variables.categories[0] == ("None", "Often", "Some")


def test_info_warns_about_names_of_rows_and_ends_with_an_error_under_strict(tmp_path):
    path = tmp_path / "table.csv"
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 2, (40, 3)).astype(str)
    path.write_text(
        "a,b,c,subject\n" + "".join(f"{','.join(row)},{n}\n" for row, n in zip(cells, rng.permutation(40), strict=True))
    )
    shown = run("info", path)
    assert "Warning: Column 'subject': left out (a different value in almost every row" in shown.stderr
    strict = run("info", path, "--strict", code=3)
    assert strict.stdout.startswith("Column")
    assert "1 warning about the table" in error_line(strict)
    assert run("info", path, "--strict", "--drop", "subject").stdout.startswith("Column")


@pytest.mark.parametrize("command", [["info"], ["fit", "--alpha", "0.1"]])
def test_the_sum_of_weights_is_a_warning_wherever_a_file_is_read(tmp_path, command):
    path = tmp_path / "table.csv"
    rng = np.random.default_rng(0)
    cells, weights = rng.integers(0, 2, (40, 3)).astype(str), rng.gamma(2.0, 300.0, 40)
    path.write_text("a,b,c,w\n" + "".join(f"{','.join(row)},{w}\n" for row, w in zip(cells, weights, strict=True)))
    name, *more = command
    shown = run(name, path, *more, "--weights", "w", "--strict", code=3).stderr
    assert "The weights have the sum" in shown
    assert "--weight-kind sampling" in shown
    assert "counts" not in shown
    assert (
        "have the sum" not in run(name, path, *more, "--weights", "w", "--weight-kind", "sampling", "--strict").stderr
    )


def write_rows(path, header, rows):
    path.write_text("\n".join(",".join(map(str, row)) for row in [header, *rows]) + "\n")
    return path


@pytest.mark.parametrize("code", ["*", "-", "..", r"\N", "x"])
def test_a_word_beside_numbers_is_a_missing_answer_perhaps(code, tmp_path):
    rows = [[code if n % 9 == 0 else n % 5, code if n % 7 == 0 and code in "*-.." else "ny"[n % 2]] for n in range(40)]
    path = write_rows(tmp_path / "t.csv", ["a", "b"], rows)
    assert f"--na {shlex.quote(code)}" in run("info", path).stderr
    kinds = json.loads(run("info", path, "--na", code, "--json").stdout)["columns"]
    assert [column["kind"] for column in kinds] == ["ordinal", "binary"]
    line = error_line(run("fit", path, "--ordinal", "a", "--encode", "auto", code=3))
    assert "If it stands for a missing answer, use --na " in line


def test_a_word_with_a_digit_beside_numbers_is_a_category():
    text = "livch,x\n" + "0,0\n1,1\n2,0\n3+,1\n" * 10
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = read_table(io.StringIO(text), guess=True)
    assert table.variables.kinds[0] == "nominal"
    assert table.variables.categories[0] == ("0", "1", "2", "3+")


def test_a_code_far_from_fractions():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(40, 9, 50).round(2), "a": rng.integers(0, 2, 50)})
    assert said(frame, kinds={"age": "continuous"}) == []
    frame.loc[3, "age"] = -999
    (message, *_) = said(frame, kinds={"age": "continuous"})
    assert ": -999 besides" in message
    assert "na_values=[-999]" in message


def test_rare_categories_can_be_merged(tmp_path):
    rows = [[n % 3 if n else 3, n % 2, n % 5] for n in range(40)]
    path = write_rows(tmp_path / "t.csv", ["a", "b", "c"], rows)
    shown = run("info", path, "--ordinal", "a,c").stderr
    assert "fewer than 5 rows: 3 of column 'a' (1 row)." in shown
    assert "give them the same number (--encode)" in shown
    merged = run("info", path, "--ordinal", "a,c", "--encode", "a=0=0,1=1,2=2,3=2")
    assert "fewer than" not in merged.stderr


def test_columns_without_names_are_counted_as_options_count_them(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "".join(f"{n % 2},{99 if n == 7 else 6 if n == 8 else 1 + n % 5},{n // 2 % 2}\n" for n in range(40))
    )
    shown = run("info", path, "--ordinal", "#2").stderr
    assert "Column #2: 99 besides 1, 2, 3, 4, 5, …" in shown
    assert "fewer than 5 rows: 6 of column #2 (1 row)." in shown
    with pytest.warns(MeaningWarning, match="Column 1: 99 besides"):
        read_table(path, kinds={1: "ordinal"})


def test_a_refused_table_says_what_settles_its_meaning(tmp_path):
    """Fractions are taken for numbers; whole numbers need a word, and `info` and a guess propose one."""
    rng = np.random.default_rng(0)
    columns = [rng.normal(size=60).round(3), rng.permutation(60) // 2 + 70, rng.integers(1, 4, 60), np.arange(60) % 2]
    path = write_rows(tmp_path / "t.csv", ["ash", "magnesium", "target", "red"], zip(*columns, strict=True))
    message = error_line(run("fit", path, "-o", tmp_path / "net", code=3))
    assert "in column 'magnesium' (first in row 1, line 2). State its kind (--ordinal, --nominal or --contin" in message
    assert message.endswith("`isinglass info FILE` proposes a kind for every column.")
    run("fit", path, "-o", tmp_path / "net", *json.loads(run("info", path, "--json").stdout)["options"].split())
    with pytest.raises(DataError, match=r'State its kind \(kinds="ordinal", "nominal" or "continuous"\), say what'):
        as_table(pd.read_csv(path))
    with suppress_warnings(MeaningWarning):
        table = as_table(pd.read_csv(path), guess=True)
    assert table.variables.kinds == ("continuous", "continuous", "ordinal", "binary")


ODD = np.random.default_rng(0)
GUESSED = {
    "years": {
        "jobs": ODD.normal(60_000, 1000, 16).round(),
        "gnp": ODD.permutation(16) + 80.5,
        "year": range(1947, 1963),
    },
    "names and holes": {
        "survived": ODD.integers(0, 2, 60),
        "class": ODD.integers(1, 4, 60),
        "sex": ODD.choice(["male", "female"], 60),
        "age": np.where(ODD.random(60) < 0.2, np.nan, ODD.integers(1, 80, 60)),
        "port": ODD.choice(["S", "C", "Q"], 60),
        "name": [f"person {k}" for k in range(60)],
    },
    "a pair first": {"sex": ODD.choice(["m", "f"], 60), "size": ODD.integers(1, 6, 60), "tip": ODD.normal(3, 1, 60)},
    "dates first": {"day": [f"2020-01-{k % 28 + 1:02}" for k in range(60)], "a": ODD.integers(1, 5, 60)},
    "nothing but holes": {"a": ODD.integers(1, 6, 60), "b": [np.nan] * 60},
}
KINDS = {
    "years": ("continuous", "continuous"),
    "names and holes": ("binary", "ordinal", "binary", "continuous", "nominal"),
    "a pair first": ("binary", "ordinal", "continuous"),
    "dates first": ("ordinal",),
    "nothing but holes": ("ordinal",),
}


@pytest.mark.filterwarnings("ignore::isinglass.errors.IsinglassWarning")
@pytest.mark.parametrize("name", GUESSED)
def test_a_guess_reads_what_is_refused(name, tmp_path):
    frame = pd.DataFrame(GUESSED[name])
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(DataError, match=r"leave the column out|two answers"):
        as_table(frame)
    assert as_table(frame, guess=True, missing="impute").variables.kinds == KINDS[name]
    read = read_table(tmp_path / "t.csv", id_column=None, guess=True, missing="impute")
    assert read.variables.kinds == KINDS[name]


def test_texts_that_are_numbers_with_a_comma_have_a_remedy():
    with pytest.raises(DataError, match=r"in column 'a' \(first in row 0\)\. .* decimal comma, use decimal=\","):
        as_table(pd.DataFrame({"a": ["-0,01", "1,5", "2,25"] * 9, "b": [1, 2, 3] * 9}))


def test_dates_are_refused_in_a_word():
    dated = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=30), "a": np.arange(30) % 2})
    with pytest.raises(DataError, match=r"got dates in column 'day' "):
        as_table(dated)


def test_info_asks_about_a_column_called_like_weights(tmp_path):
    rows = [[["no", "yes"][n % 2], "xy"[n // 2 % 2], 17 * n % 89] for n in range(40)]
    path = write_rows(tmp_path / "t.csv", ["a", "b", "Freq"], rows)
    assert "use --weights Freq; if it is a variable, use --continuous Freq" in run("info", path).stderr
    for said in (["--continuous", "Freq"], ["--weights", "Freq", "--weight-kind", "counts"]):
        assert "looks like row weights" not in run("info", path, *said).stderr


@pytest.mark.parametrize("name", ["weight", "freq"])
def test_texts_are_not_called_row_weights(tmp_path, name):
    rows = [[n % 2, n // 2 % 2, f"{50 + n} kg"] for n in range(30)]
    said = run("info", write_rows(tmp_path / "t.csv", ["a", "b", name], rows)).stderr
    assert f"--drop {name}" in said
    assert "looks like row weights" not in said


@pytest.mark.parametrize("names", [["dweight", "pspwght", "anweight"], ["w1", "w2", "w3"]])
def test_info_says_that_one_of_several_weights_is_enough(tmp_path, names):
    numbers = np.random.default_rng(0).gamma(20, 0.05, (60, 3)).round(3)
    rows = [["uv"[k % 2], "xy"[k // 2 % 2], *each] for k, each in enumerate(numbers.tolist())]
    done = run("info", write_rows(tmp_path / "t.csv", ["a", "b", *names], rows))
    said, found = " ".join(done.stderr.split()), " ".join(done.stdout.split())
    are_weights = names[0] == "dweight"
    assert ("--weights dweight and leave the others out (--drop pspwght,anweight)" in said) == are_weights
    assert ("--weights dweight" in found and "--drop pspwght,anweight" in found) == are_weights
    assert ("--continuous" in found) != are_weights


def test_info_advises_weights_only_where_fit_takes_them(tmp_path):
    """With two other columns and without missing cells."""
    numbers = [[n % 2, n * n % 7 % 2, 17 * n % 89] for n in range(40)]
    tables = {
        "--weights weight": (["a", "b", "weight"], numbers),
        "--continuous weight": (["a", "weight"], [row[1:] for row in numbers]),
        "--continuous weight --missing impute": (["a", "b", "weight"], [*numbers[1:], [0, 1, ""]]),
    }
    for advice, (header, rows) in tables.items():
        path = write_rows(tmp_path / "t.csv", header, rows)
        found = json.loads(run("info", path, "--json").stdout)
        assert found["options"] == advice
        run("fit", path, *advice.split(), "--alpha", "0.2")


def test_texts_that_name_rows_are_not_proposed_as_numbers(tmp_path):
    rows = [[n % 2, n // 2 % 2, f"p{n}"] for n in range(40)]
    shown = run("info", write_rows(tmp_path / "t.csv", ["a", "b", "who"], rows)).stderr
    assert "--drop who" in shown
    assert "--continuous" not in shown


def test_a_column_without_answers_in_the_rows_that_are_looked_at(monkeypatch):
    """Every second row is looked at, and the last item has answers in the others only."""
    monkeypatch.setattr("isinglass.data.meaning.recognition.MOST_ROWS", N // 2)
    frame = battery().astype(float)
    frame.loc[::2, "i5"] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MeaningWarning)
        warnings.simplefilter("error", RuntimeWarning)
        as_table(frame, kinds="ordinal", missing="impute")


def test_a_guess_names_the_other_decimal_separator_of_a_file():
    rng = np.random.default_rng(0)
    lines = [f"{k % 2};{rng.normal():.2f};".replace(".", ",") + f"{rng.normal():.4f}" for k in range(N)]
    with pytest.warns(
        MeaningWarning, match=r"If '.*' is a number with a decimal point, use decimal=\"\.\" to read_table"
    ):
        read_table(io.StringIO("\n".join(["a;b;c", *lines])), guess=True)


@pytest.mark.parametrize(("decimal", "other"), [(",", "."), (".", ",")])
@pytest.mark.parametrize("values", [("17{}5", "22", "30"), ("17{}5", "22{}5", "30{}5")])
def test_numbers_with_the_other_decimal_separator_are_no_categories(decimal, other, values):
    cells = np.resize([value.format(other) for value in values], 60)
    rows = [f"{k % 2};{1 + k % 4}{decimal}5;{cell}" for k, cell in enumerate(cells)]
    with pytest.warns(MeaningWarning, match=r"'b': left out .* is a number with a decimal") as caught:
        table = read_table(io.StringIO("\n".join(["c;a;b", *rows])), guess=True, decimal=decimal)
    assert f'decimal="{other}"' in str(caught[0].message)
    assert table.names == ("c", "a")


@pytest.mark.parametrize("cells", [["10%", "20%", "30%"], ["$10", "$20", "€5", "refused"], ["1,200", "2,300", "800 "]])
def test_amounts_are_no_categories(cells):
    frame = pd.DataFrame({"a": np.resize(cells, 60), "b": np.resize([0, 1], 60), "c": np.resize([0, 0, 1], 60)})
    (text,) = (text for text in said(frame, kinds=None, guess=True) if "left out" in text)
    assert text.startswith("Column 'a': left out (")
    assert f"{cells[0]!r} is a number" in text
    with suppress_warnings(MeaningWarning):
        for kept in (frame["a"].where(frame["a"] == cells[0], cells[1]), frame["a"].map(lambda cell: f"over {cell}")):
            assert as_table(frame.assign(a=kept), guess=True).names == ("a", "b", "c")


def test_cells_that_are_neither_numbers_nor_text_are_left_out_by_a_guess():
    frame = pd.DataFrame({"a": [0, 1] * 20, "b": pd.to_timedelta(np.arange(40), unit="h")})
    (message,) = said(frame, kinds=None, guess=True)
    assert message == "Column 'b': left out (neither numbers nor text). To keep a column, state its kind."


def test_numbers_without_a_bound_are_left_out_by_a_guess():
    frame = pd.DataFrame({"a": [0, 1] * 20, "b": [1.5, np.inf, -np.inf, 2.0] * 10, "c": [0, 10**400] * 20})
    frame["d"] = [*np.linspace(0.5, 9.7, 39), np.inf]
    table = as_table(frame, guess=True)
    assert table.names == ("a",)
    assert {name: guess.note for name, guess in table.guesses.items()} == dict.fromkeys("bcd", "not finite")


def test_columns_without_names_keep_the_numbers_by_which_options_call_them(tmp_path):
    """They count all columns of the file: what is left out by an option or as row names does not change them."""
    answers = np.random.default_rng(0).integers(1, 6, (60, 4))
    answers[::7, 3] = 99
    (tmp_path / "answers.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in answers))
    for drop in ([], [0], [0, 2]):
        with pytest.warns(MeaningWarning, match="[Cc]olumn 3: 99") as caught:
            read_table(tmp_path / "answers.csv", header=False, id_column=None, kinds="ordinal", drop=drop)
        assert caught[0].message.columns == (3,)
    copies = answers % 2
    copies[:, 3] = copies[:, 1]
    text = "".join(f"r{k}," + ",".join(map(str, row)) + "\n" for k, row in enumerate(copies))
    (tmp_path / "copies.csv").write_text(text)
    with pytest.warns(MeaningWarning, match=r"1 = 3\. Leave .* \(drop=\[3\] in read_table"):
        read_table(tmp_path / "copies.csv", header=False, drop=[0])
    shown = run("info", tmp_path / "answers.csv", "--no-header", "--drop", "#1").stdout
    assert [line.split()[0] for line in shown.splitlines() if "99 missing?" in line] == ["#4"]


def test_reversed_items_are_found_within_scales():
    """Two scales that have nothing to do with each other are no battery; each by itself is one."""
    rng = np.random.default_rng(1)
    scales = []
    for turned in ([1], [3, 4]):
        items = rng.normal(size=(400, 1)) + rng.normal(size=(400, 5))
        items[:, turned] *= -1
        scales.append(np.clip(np.round(items + 3), 1, 5))
    frame = pd.DataFrame(np.hstack(scales), columns=[f"{s}{k}" for s in "ab" for k in range(1, 6)])
    with pytest.warns(MeaningWarning, match=r"reverse=\['a2', 'b4', 'b5'\]") as caught:
        as_table(frame, kinds="ordinal")
    assert caught[0].message.note == "reversed?"


def test_a_whole_scale_against_the_others_is_not_reversed():
    """Neuroticism beside traits that are keyed in the other direction."""
    rng = np.random.default_rng(1)
    items = rng.normal(size=(400, 1)) + rng.normal(size=(400, 16))
    items[:, 12:] *= -1
    codes = np.clip(np.round(items + 3), 1, 5)
    frame = pd.DataFrame(codes, columns=[f"{s}{k}" for s in "aeon" for k in range(1, 5)])
    with warnings.catch_warnings():
        warnings.simplefilter("error", MeaningWarning)
        as_table(frame, kinds="ordinal")
    with pytest.warns(MeaningWarning, match=r"reverse=\['q13', 'q14', 'q15', 'q16'\]"):  # one scale of 16 items
        as_table(frame.set_axis([f"q{k}" for k in range(1, 17)], axis=1), kinds="ordinal")


def test_many_columns_of_different_numbers_do_not_name_rows(tmp_path):
    """Counts of species differ in almost every row."""
    rng = np.random.default_rng(0)
    counts = np.round(np.exp(rng.normal(6, 1.5, (60, 4)))).astype(int)
    species = write_rows(tmp_path / "t.csv", ["s1", "s2", "s3", "s4"], counts.tolist())
    shown = run("info", species)
    assert "Fit needs --continuous s1:s4" in " ".join(shown.stdout.split())
    assert "--normal-scores s" in shown.stderr


def test_info_leaves_constant_columns_out(tmp_path):
    rows = [[n % 2, n // 2 % 2, "wave 1", 3, 0] for n in range(40)]
    path = write_rows(tmp_path / "t.csv", ["a", "b", "version", "level", "zero"], rows)
    needs = json.loads(run("info", path, "--json").stdout)["options"]
    assert needs == "--drop version,level"  # 0 and 1 are never guessed
    run("fit", path, *needs.split(), "--alpha", "0.2")


@pytest.mark.parametrize(
    ("column", "name", "kind"),
    [
        ("amounts", "crimes", "continuous"),
        ("amounts", "area code", None),
        ("amounts", "caseID", None),
        ("amounts", "CASEID", None),  # of electric.sav in the R package foreign
        ("amounts", "candid", "continuous"),  # ends with "id", which is no word of it
        ("ascending", "crimes", None),
        ("ranks", "wealth", "continuous"),
    ],
)
def test_whole_numbers_that_differ_in_every_row_are_names_only_for_a_reason(column, name, kind):
    rng = np.random.default_rng(3)
    amounts = rng.choice(100_000, 60, replace=False)
    numbers = {"amounts": amounts, "ascending": np.sort(amounts), "ranks": rng.permutation(60) + 1}[column]
    frame = pd.DataFrame({"b": rng.integers(0, 2, 60), name: numbers})
    with suppress_warnings(MeaningWarning):
        assert as_table(frame, guess=True).guesses[name].kind == kind


def test_an_identifier_that_occurs_in_several_rows_is_left_out():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"id": np.repeat(np.arange(30), 4), "idea": rng.integers(0, 30, 120)})
    guesses = as_table(frame.assign(b=rng.integers(0, 2, 120)), guess=True).guesses
    assert (guesses["id"].kind, guesses["id"].note, guesses["idea"].kind) == (None, "names rows?", "continuous")


def test_codes_are_found_behind_any_number_of_values():
    many = list(range(200_000))  # one look at all values for each of them would take hours
    assert missing_codes(many) == ()
    assert missing_codes([*range(1, 40), 99, 999]) == (99, 999)


def test_columns_of_months_of_many_words_or_without_answers_are_left_out():
    rng = np.random.default_rng(6)
    months = [f"19{year}-{month:02d}" for year in (49, 50) for month in range(1, 13)]
    frame = pd.DataFrame(
        {
            "b": rng.integers(0, 2, 120),
            "month": rng.choice(months, 120),
            "day": pd.date_range("2026-01-01", periods=120),
            "school years": rng.choice(["2010-11", "2011-12", "2012-13"], 120),
            "town": [f"town {k % 30}" for k in range(120)],
            "trade": [f"trade {k % 20}" for k in range(120)],
            "empty": np.full(120, np.nan),
        }
    )
    with suppress_warnings(MeaningWarning):
        guesses = as_table(frame, guess=True).guesses
    found = {name: (guess.kind, guess.note) for name, guess in guesses.items()}
    assert found == {
        "month": (None, "dates"),
        "day": (None, "dates"),
        "school years": ("nominal", ""),
        "town": (None, "too many values"),
        "trade": ("nominal", ""),
        "empty": (None, "no answers"),
    }


def test_a_reversed_item_without_a_name_is_reversed_by_its_number(tmp_path):
    rng = np.random.default_rng(0)
    items = np.clip(np.round(3 + rng.normal(size=(200, 1)) + 0.5 * rng.normal(size=(200, 6))), 1, 5).astype(int)
    items[:, 4] = 6 - items[:, 4]
    (tmp_path / "items.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in items))
    options = {"header": False, "id_column": None, "kinds": "ordinal", "drop": [0]}
    with pytest.warns(MeaningWarning, match=r"[Cc]olumn 4: against .* with reverse=\[4\]"):
        read_table(tmp_path / "items.csv", **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_table(tmp_path / "items.csv", reverse=[4], **options)


def test_the_label_of_a_single_number_may_be_a_refusal(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    age = np.random.default_rng(0).integers(18, 80, 60)
    age[5] = 99
    frame = pd.DataFrame({"age": age, "x": [0, 1] * 30})
    pyreadstat.write_sav(frame, tmp_path / "t.sav", variable_value_labels={"age": {99: "refused"}})
    told = r"column 'age': 99 \('refused'\) besides .*\. If it stands for a missing answer, use .*na_values=\[99"
    with pytest.warns(MeaningWarning, match=f"(?i){told}"):
        read_table(tmp_path / "t.sav", kinds={"age": "continuous"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = read_table(tmp_path / "t.sav", kinds={"age": "continuous"}, na_values=[99], missing="impute")
    assert table.n_missing == 1


def test_a_refusal_names_a_code_with_the_label_that_is_shown():
    rows = "".join(f"{value},{k % 2}\n" for k, value in enumerate([1, 2, 9] * 20))
    labels = {"a": {1: "female", 2: "male", 9: "refused"}}
    told = r"got 'female', 'male', 'refused' .*It has 9 \('refused'\)\. If it stands .* use na_values=\[9\]"
    with pytest.raises(DataError, match=told):
        read_table(io.StringIO(f"a,b\n{rows}"), value_labels=labels, binarize={"b": 0})


@pytest.mark.parametrize("guess", [True, False])
def test_names_above_numbers_are_no_missing_answers(guess, tmp_path):
    """The first line of scikit-learn's iris.csv has numbers and names, and is not seen to be a header."""
    path = tmp_path / "iris.csv"
    rng = np.random.default_rng(0)
    rows = [[*rng.normal(5, 1, 3).round(1), k % 3] for k in range(60)]
    lines = ["60,3.5,setosa,versicolor", *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines))
    if guess:
        shown = " ".join(run("info", path).stderr.split())
        assert "Columns #3, #4: text in the first row only ('setosa', 'versicolor'). If the first line" in shown
    else:
        shown = error_line(run("fit", path, "--ordinal", "#4", code=3))
    assert "If the first line names the columns, use --header." in shown
    assert "missing answer" not in shown
    assert "text in the first row" not in run("info", path, "--header").stderr


def test_columns_are_left_out_by_what_works_for_the_table():
    bits = np.random.default_rng(0).integers(0, 2, (60, 2))
    frame = pd.DataFrame({"a": bits[:, 0], "who": [f"w{k}" for k in range(60)], "c": bits[:, 1]})
    (text,) = said(frame, kinds=None, guess=True)
    remedy = re.search(r"read_table, (X\.drop\(.*\)) of a frame", text)[1]
    assert as_table(eval(remedy, {"X": frame})).names == ("a", "c")
    many = frame.assign(**{f"id{k}": frame["who"] + str(k) for k in range(6)}).drop(columns="who")
    (text,) = said(many, kinds=None, guess=True)
    assert "drop=['id0', 'id1', 'id2', 'id3', …] in read_table" in text
    cells = bits[:, [0, 0, 1]]
    (text,) = said(cells, kinds=None)
    remedy = re.search(r"read_table, (np\.delete\(.*\)) of an array", text)[1]
    assert as_table(eval(remedy, {"X": cells, "np": np})).shape == (60, 2)


def test_codes_that_encode_declares_missing_are_not_doubted():
    frame = pd.DataFrame({"trust": np.resize([1, 2, 3, 9], 60), "x": [0, 1] * 30})
    options = {"kinds": {"trust": "ordinal"}, "missing": "impute"}
    assert any("9 besides 1, 2, 3" in text for text in said(frame, **options))
    assert said(frame, **options, encode={"trust": {1: 0, 2: 1, 3: 2, 9: None}}) == []


@pytest.mark.parametrize(
    "dates",
    [
        pd.date_range("2020", periods=80),
        pd.date_range("2020", periods=80).date,
        pd.timedelta_range("1 day", periods=80),
        pd.period_range("2020-01", periods=80, freq="M"),
        np.resize(pd.date_range("2020", periods=4), 80),
    ],
)
def test_dates_are_left_out_by_a_guess(dates):
    frame = pd.DataFrame({"d": dates, "x": [0, 1] * 40})
    with suppress_warnings(MeaningWarning):
        assert as_table(frame, guess=True).names == ("x",)
    with pytest.raises(DataError, match=r"must hold finite numbers to be continuous; got .*\. Leave the column out"):
        as_table(frame, kinds={"d": "continuous"})


@pytest.mark.parametrize(
    ("computed", "others"),
    [
        (lambda items: items.sum(axis=1), "'i0', 'i1', 'i2', 'i3'"),
        (lambda items: items[["i0", "i1", "i2"]].mean(axis=1), "'i0', 'i1', 'i2'"),
        (lambda items: items["i4"] - items["i1"], "'i1', 'i4'"),
    ],
)
@pytest.mark.parametrize("with_holes", [False, True])
def test_totals_means_and_differences_of_others_are_named(computed, others, with_holes):
    items = battery().astype(float)
    frame = items.assign(late=computed(items))
    if with_holes:
        frame = frame.mask(np.random.default_rng(1).random(frame.shape) < 0.05)
    (text,) = (text for text in said(frame, kinds={"i*": "ordinal", "late": "continuous"}) if "computed" in text)
    assert f"'late' from {others}" in text
    assert "drop=['late']" in text
    rest = frame.drop(columns="late")
    assert not any("computed" in text for text in said(rest))


def test_columns_that_are_nearly_computed_or_copied_are_not_named():
    items = battery().astype(float)
    noise = np.random.default_rng(2).normal(scale=1e-2, size=N)
    for late in (items.sum(axis=1) + noise, 2 * items["i0"] + 1, items["i0"] * items["i1"], items.max(axis=1)):
        frame = items.assign(late=late)
        assert not any("computed" in text for text in said(frame, kinds={"i*": "ordinal", "late": "continuous"}))


def computed(frame, kinds):
    """The columns that are said to be computed, as the remedy names them."""
    texts = [text for text in said(frame, kinds=kinds) if "can be computed" in text]
    return [name for text in texts for name in ast.literal_eval(re.search(r"drop=(\[.*?\])", text)[1])]


def test_a_total_is_found_beside_columns_with_missing_cells():
    items, rng = battery().astype(float), np.random.default_rng(4)
    items["total"] = items.sum(axis=1)
    items["rarely"] = np.where(np.arange(N) < 10, rng.normal(size=N), np.nan)
    assert computed(items, {"i*": "ordinal", "total": "continuous", "rarely": "continuous"}) == ["total"]


def test_a_relation_must_hold_in_all_rows_that_have_its_columns():
    items, rng = battery().astype(float), np.random.default_rng(5)
    items["late"] = np.where(np.arange(N) < 150, items["i0"] + items["i1"], rng.normal(size=N))
    items["gone"] = np.where(np.arange(N) < 150, rng.normal(size=N), np.nan)  # hides the other rows
    assert computed(items, {"i*": "ordinal", "late": "continuous", "gone": "continuous"}) == []


def test_totals_in_single_precision_are_computed():
    numbers = np.random.default_rng(6).normal(650.0, 20.0, size=(N, 2)).astype(np.float32)
    frame = pd.DataFrame(numbers, columns=["reading", "math"])
    frame["score"] = (frame["reading"] + frame["math"]) / np.float32(2.0)
    assert computed(frame, "continuous") == ["score"]


def test_the_columns_of_few_rows_are_not_said_to_be_computed():
    frame = pd.DataFrame(np.random.default_rng(3).normal(size=(25, 40)).round(3))
    assert not any("computed" in text for text in said(frame, kinds="continuous"))


def test_covariates_and_binary_columns_may_be_computed():
    items = battery().astype(float)
    frame = items.assign(total=items.sum(axis=1))
    kinds = {"i*": "ordinal"}
    assert not any("computed" in text for text in said(frame, kinds=kinds, covariates=["total"]))
    bits = (items > 3).astype(int)
    assert not any("computed" in text for text in said(bits.assign(b=bits["i0"] * bits["i1"]), kinds="binary"))


def test_a_refusal_is_a_missing_answer_like_not_knowing():
    frame = pd.DataFrame({"q": np.resize(["Yes", "No", "Maybe"], N), "b": np.resize([0, 1], N)})
    frame.loc[:1, "q"], frame.loc[2:4, "q"] = "Refuse to Answer", "Don't Know"
    (text,) = said(frame, kinds={"q": "nominal"})
    assert "\"Don't Know\", 'Refuse to Answer' besides 'Maybe', 'No', 'Yes'" in text


def test_numbers_that_differ_by_rounding_have_no_order():
    frame = pd.DataFrame({"g": np.resize([0.1, 0.2, 0.3, 0.1 + 0.2], N), "b": np.resize([0, 1, 1], N)})
    with pytest.raises(DataError, match=r"column 'g' must hold numbers that differ by more than rounding"):
        as_table(frame, kinds={"g": "ordinal"})
    with pytest.raises(DataError, match=r"must differ by more than rounding for column 'g'"):
        as_table(frame, kinds={"g": "ordinal"}, scores={"g": [0.1, 0.2, 0.3, 0.1 + 0.2]})


def test_a_column_without_answers_is_named_where_its_rows_would_be_dropped():
    frame = pd.DataFrame({"A1": [None] * 30, "b": [0, 1] * 15})
    with pytest.raises(DataError, match=r"got none: column 'A1' has no answers at all\. Leave out columns first"):
        as_table(frame, missing="drop")


def test_weights_of_a_frame_are_advised_as_sample_weight(tmp_path):
    frame = pd.DataFrame({"a": np.resize([0, 1], 60), "b": np.resize([0, 0, 1], 60)})
    frame["weight"] = np.linspace(0.8, 1.2, 60)
    (in_memory,) = [text for text in said(frame, kinds=None, guess=True) if "row weights" in text]
    assert "pass it as sample_weight and leave it out (" in in_memory
    assert 'weights="weight"' not in in_memory
    frame["wt"] = frame["weight"][::-1].to_numpy()
    (in_memory,) = [text for text in said(frame, kinds=None, guess=True) if "row weights" in text]
    assert "pass it as sample_weight and leave it out (" in in_memory
    frame.drop(columns="wt").to_csv(tmp_path / "w.csv", index=False)
    with pytest.warns(MeaningWarning, match='use weights="weight"; if it is a variable'):
        read_table(tmp_path / "w.csv", guess=True)


def test_a_column_with_infinite_cells_is_kept_as_advised():
    frame = pd.DataFrame({name: np.resize(values, 60) for name, values in {"a": [0, 1], "b": [0, 1, 1]}.items()})
    frame["x"] = np.resize([1.0, 2.0, np.inf, 3.0, -np.inf], 60)
    (text,) = [text for text in said(frame, kinds=None, guess=True) if "(not finite)" in text]
    assert "To keep a column, make such cells missing (na_values=[float('-inf'), float('inf')])." in text
    options = {"guess": True, "missing": "drop", "na_values": [float("-inf"), float("inf")]}
    assert not any("left out" in text for text in said(frame, kinds=None, **options))


def test_reverse_names_the_kind_that_it_needs():
    frame = pd.DataFrame({"a": np.resize(np.arange(5), 60), "b": np.resize([0, 1, 1], 60)})
    with pytest.raises(DataError, match=r"got column 'a', which is binary\. .* or leave reverse out\."):
        as_table(frame, binarize={"a": 2}, reverse="a")
    with pytest.raises(
        DataError, match=r"got column 'b', which is binary\. Declare it as one \(kinds={'b': 'ordinal'}\)"
    ):
        as_table(frame, kinds={"a": "ordinal"}, reverse="b")
    as_table(frame, kinds={"a": "ordinal", "b": "ordinal"}, reverse="b")


def test_many_copies_are_counted():
    frame = pd.DataFrame(dict.fromkeys("abcdef", np.resize([0, 1, 1], 60)) | {"g": np.resize([0, 1], 60)})
    (text,) = said(frame, kinds=None)
    assert "'a' = 'b' = 'c' = 'd' and 2 more. Leave out" in text


def test_a_value_that_encode_forgets_is_added_or_made_missing():
    frame = pd.DataFrame({"a": ["f", "m", "x"] * 20, "b": [0, 1, 1] * 20})
    for encode in ({"a": ("f", "m")}, {"a": {"f": 0, "m": 1}}):
        with pytest.raises(DataError, match=r"got 'x' in column 'a' .* or make these missing \(na_values=\['x'\]\)\.$"):
            as_table(frame, encode=encode)


def test_too_many_categories_are_left_out_by_one_sentence():
    frame = pd.DataFrame({"who": [f"n{k}" for k in range(300)], "b": [0, 1, 1] * 100})
    for rows in (frame, frame[:100]):
        with pytest.raises(DataError) as refused:
            as_table(rows, kinds={"who": "nominal"})
        assert str(refused.value).count("drop=") == 1


def test_a_label_for_no_answer_has_one_remedy(tmp_path):
    codes = np.resize([0, 1, 2, 2], 60)
    frame = pd.DataFrame({"g": pd.Categorical.from_codes(codes, ["female", "refused", "male"]), "b": codes % 2})
    frame.to_stata(tmp_path / "g.dta", write_index=False)
    advice = r"'refused'.* If it stands for a missing answer, use na_values="
    with pytest.raises(DataError, match=advice):
        read_table(tmp_path / "g.dta")
    with pytest.warns(MeaningWarning, match=advice):
        read_table(tmp_path / "g.dta", kinds={"g": "nominal"})


def test_a_column_called_identifier_is_one():
    numbers = np.random.default_rng(0).permutation(9000)[:60] + 4
    frame = pd.DataFrame({"identifier": numbers, "a": np.resize([0, 1], 60), "b": np.resize([0, 1, 1], 60)})
    (text,) = said(frame, kinds=None, guess=True)
    assert text.startswith("Column 'identifier': left out (a different value in almost every row")
    assert "To keep a column, use kinds={'identifier': 'continuous'}" in text


def test_a_guess_that_leaves_no_column_says_why():
    days = pd.date_range("2020-01-01", periods=60)
    frame = pd.DataFrame(
        {"day": days, "share": np.resize(["10%", "20%", "15%"], 60), "far": np.resize([np.inf, 2, 3.5], 60)}
    )
    with pytest.raises(
        DataError, match=r"'day' \(dates\), 'share' \(numbers as text\), 'far' \(not finite\)"
    ) as caught:
        as_table(frame, guess=True)
    assert "If '10%' is a number" in str(caught.value)


@pytest.mark.parametrize("power", [400, 5000])
@pytest.mark.parametrize("options", [{"guess": True}, {"kinds": {"x": "continuous"}}])
def test_whole_numbers_of_many_digits_are_shortened_in_advice(power, options):
    frame = pd.DataFrame({"x": pd.Series([10**power, 1, 2, 5] * 15, dtype=object), "y": [0, 1] * 30})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            as_table(frame, **options)
        except DataError as error:
            texts = [str(error)]
        else:
            texts = [str(warning.message) for warning in caught]
    (text,) = texts
    assert "na_values=[" in text
    assert len(text) < 300
    kept = as_table(frame, na_values=[10**power], missing="impute", kinds={"x": "ordinal"})
    assert kept.variables.categories[0] == (1, 2, 5)


def test_one_infinite_number_makes_no_row_names():
    numbers = np.random.default_rng(0).normal(size=60)
    frame = pd.DataFrame({"x": [np.inf, *numbers[1:]], "y": [0, 1] * 30})
    with pytest.raises(DataError, match="must hold finite numbers") as caught:
        as_table(frame, kinds={"x": "continuous"})
    assert "row names" not in str(caught.value)


def test_columns_are_looked_at_for_remarks_only_where_there_is_an_error(monkeypatch):
    monkeypatch.setattr("isinglass.data.meaning.levels.remark_column", lambda *_: pytest.fail("no error"))
    assert as_table(battery(), kinds="ordinal").shape == (N, 6)


def test_a_column_of_one_word_is_read_as_advised():
    frame = pd.DataFrame({"x": ["a"] * 60, "y": [0, 1] * 30, "z": [0, 1, 1] * 20})
    with pytest.raises(DataError, match=r'got .a. in column .x. .* use encode="auto"'):
        as_table(frame)
    assert as_table(frame, encode="auto").encoding == {"x": ("a", None)}


def test_labels_that_are_numbers_are_listed():
    frame = pd.DataFrame(np.resize([0, 1, 1], (60, 3)), columns=[10, 20, 30])
    with pytest.raises(DataError, match=r"got number 25\. Its labels are 10, 20, 30\."):
        as_table(frame, kinds={25: "nominal"})
