"""Options that say the same as parameters of the library, and the forms their values take."""

import dataclasses
import inspect
import shlex

import click
import numpy as np
import pandas as pd
import pytest
from commands import data_error, draw_rows, error_line, read_csv, read_json, run, write_csv, write_table
from hypothesis import given
from hypothesis import strategies as st

from isinglass import load
from isinglass.cli import COMMANDS, main
from isinglass.cli.command import command_line
from isinglass.cli.grammar import ValueType, name_of, spell_option
from isinglass.cli.info import info
from isinglass.cli.options import OPTIONS
from isinglass.cli.resampling import LEAST_DROPS
from isinglass.cli.settings import (
    CRITERIA,
    ESTIMATE,
    READING,
    READING_AGAIN,
    Reading,
    column_keys,
    kinds_by_key,
    spell_reading,
)
from isinglass.column_keys import read_column
from isinglass.data import as_table
from isinglass.data.files.read_table import read_table
from isinglass.select import SELECTORS, Method, Run
from isinglass.select.bootstrap import DROP_SHARES


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write_table(tmp_path_factory.mktemp("options") / "table.csv")


def every_option() -> list[tuple[str, click.Option]]:
    """Return the options of all commands and of the program, each with its command; help and version left out."""
    commands = {"": main, **{name: main.get_command(None, name) for name in COMMANDS}}
    return [
        (name, option)
        for name, command in commands.items()
        for option in command.params
        if isinstance(option, click.Option) and option.name not in ("help", "version")
    ]


def test_there_are_at_most_eleven_commands_and_55_options():
    assert list(COMMANDS) == main.list_commands(None)
    assert len(COMMANDS) <= 11
    assert len({max(option.opts, key=len) for _, option in every_option()}) <= 55


def test_an_option_means_the_same_in_every_command():
    """One help, one type, one library parameter: for every spelling, the short ones and those that say no included."""
    for attribute in ("help", "name", "type", "default", "show_default", "metavar", "multiple"):
        meanings = {}
        for command, option in every_option():
            for spelling in (*option.opts, *option.secondary_opts):
                meanings.setdefault(spelling, {}).setdefault(repr(getattr(option, attribute)), []).append(command)
        assert {spelling: found for spelling, found in meanings.items() if len(found) > 1} == {}


def settings_of(record) -> dict[str, object]:
    return {field.name: field.default for field in dataclasses.fields(record)}


def test_settings_are_fields_of_their_selectors_with_the_defaults_that_the_help_states():
    criteria = {name: settings_of(SELECTORS[name]) for name in CRITERIA}
    chosen = [name for name in ESTIMATE.options if any(name in known for known in criteria.values())]
    assert {"alphas", "gamma", "n_folds", "random_state"} <= set(chosen)
    for name in set(chosen) - {"random_state"}:
        of = [criterion for criterion, known in criteria.items() if name in known]
        assert len(of) == len(criteria) or OPTIONS[name].help.startswith(f"{', '.join(of)}: ")
        first, *others = (str(criteria[one][name]) for one in of)
        assert OPTIONS[name].show_default.startswith(first)
        assert all(default in OPTIONS[name].show_default for default in others)


def test_every_option_of_an_estimate_sets_something():
    known = settings_of(Method).keys() | settings_of(Run).keys() | {"method", "alpha", "select"}
    for record in SELECTORS.values():
        known |= settings_of(record).keys()
    assert set(ESTIMATE.options) <= known


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["--select", "stars", "--gamma", "1"], "--gamma needs --select two-stage or ebic, not --select stars."),
        (["--select", "ebic", "--folds", "3"], "--folds needs --select two-stage or cv, not --select ebic."),
        (["--method", "nodewise", "--folds", "3"], "--folds needs --select two-stage or cv, not --select ebic."),
        (
            ["--alpha", "0.1", "--gamma", "1"],
            "--gamma needs --select two-stage or ebic, not --alpha.",
        ),
        (["--alpha", "0.1", "--select", "cv"], "Use either --alpha or --select, not both."),
        (["--method", "nodewise", "--select", "two-stage"], "--select two-stage needs --method joint, not nodewise."),
    ],
)
@pytest.mark.parametrize("command", ["fit", "bootstrap"])
def test_a_setting_of_another_criterion_is_refused_before_the_table_is_read(tmp_path, command, words, wanted):
    (tmp_path / "broken.csv").write_text("a,b\n1\n")
    assert error_line(run(command, tmp_path / "broken.csv", *words, code=2)) == f"Error: {wanted}"


def test_reading_options_are_parameters_of_read_table():
    named, passed_on = (inspect.signature(function).parameters.keys() for function in (read_table, as_table))
    # Several options for one parameter: --ordinal, --nominal and --continuous are its kinds, --normal-scores scores.
    assert set(READING.options) - {"ordinal", "nominal", "continuous", "normal_scores"} <= named | passed_on
    assert set(READING_AGAIN.options) < set(READING.options)


def test_every_help_is_clean(capsys):
    for name in COMMANDS:
        command = main.get_command(None, name)
        with click.Context(command, info_name=name) as ctx:
            text = command.get_help(ctx)
        assert max(map(len, text.splitlines())) <= 80
        assert "] [default:" not in " ".join(text.split())
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                assert parameter.help.endswith("."), parameter.name


# ------------------------------------------------------------------------------------------- lists, cases, folders


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("a,b", ["a", "b"]), ("#2,a", [1, "a"]), ("a, b", ["a", "b"]), ('"milk, cold",c', ["milk, cold", "c"])],
)
def test_columns_are_separated_by_commas(text, wanted):
    assert OPTIONS["drop"].type.read(text) == wanted


WORDS = st.text(st.characters(exclude_categories=("C",)), max_size=6)
COLUMN_KEYS = st.integers(0, 99) | WORDS.filter(lambda word: word and "=" not in word and read_column(word) == word)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
CODES = st.dictionaries(WORDS, st.none() | st.integers(-9, 9) | st.sampled_from([0.5, -1.25]), min_size=1, max_size=4)
FORMS = {
    "encode": st.just((None, "auto")) | st.tuples(st.none() | COLUMN_KEYS, CODES),
    "binarize": NUMBERS | st.dictionaries(COLUMN_KEYS, NUMBERS, min_size=1, max_size=4),
    "rows": st.lists(st.integers(1, 99), min_size=1, max_size=4, unique=True),
    "groups": COLUMN_KEYS,
    "drop": st.lists(COLUMN_KEYS, min_size=1, max_size=4),
    "na_values": st.tuples(st.none() | COLUMN_KEYS, WORDS.filter(bool)),
}


def test_every_form_that_is_spelled_is_known_to_the_test_below():
    forms = {option.type for option in OPTIONS.values() if isinstance(option.type, ValueType)}
    assert forms == {OPTIONS[name].type for name in FORMS}


@pytest.mark.parametrize("name", FORMS)
@given(data=st.data())
def test_values_are_read_as_they_are_spelled(name, data):
    """Summaries and messages show options, which must mean what was meant."""
    option, meaning = OPTIONS[name], data.draw(FORMS[name])
    again = option.type.convert(spell_option(option, meaning)[1], None, None)
    assert (type(again), again) == (type(meaning), meaning)


@pytest.mark.parametrize(
    ("name", "meaning", "text"),
    [
        ("encode", (None, {"a=b": 1, "c": 0}), "=a=b=1,c=0"),
        ("encode", (None, {"x,y": 1, "z": None}), '"x,y=1",z='),
        ("encode", (None, {"Yes, often": 1, "No": 0}), '"Yes, often=1",No=0'),
        ("encode", (None, {"a=1, b": 1, "c": 0}), '="a=1, b=1",c=0'),
        ("encode", ("a,b", {"m": 1, "f": 0}), "a,b=m=1,f=0"),
        ("encode", ("q=1", {"Yes": 1, "No": 0}), '"q=1"=Yes=1,No=0'),
        ("binarize", {"age": 40.0, 2: 2e4}, "age=40,#3=20000"),
        ("drop", ["a,b", 2], '"a,b",#3'),
    ],
)
def test_forms_that_are_easily_confused(name, meaning, text):
    option = OPTIONS[name]
    assert spell_option(option, meaning)[1] == text
    assert option.type.convert(text, None, None) == meaning


@pytest.mark.parametrize(
    ("name", "meaning", "text"),
    [
        ("encode", ('"q', {"m": 1}), '"""q"=m=1'),
        ("encode", ("Yes", {"1, No": 0}), 'Yes="1, No=0"'),
        ("alphas", 30, "30"),
    ],
)
def test_forms_that_are_spelled_in_another_way(name, meaning, text):
    assert OPTIONS[name].type.convert(text, None, None) == meaning


@pytest.mark.parametrize(
    ("name", "text", "meaning"),
    [
        ("rows", "100, 200", [100, 200]),
        (
            "encode",
            'Yes=1, No=0, Unknown=, "Yes, often=1"',
            (None, {"Yes": 1, "No": 0, "Unknown": None, "Yes, often": 1}),
        ),
        ("drop", "tea, water", ["tea", "water"]),
        ("encode", "sex=male=1,  female=0", ("sex", {"male": 1, "female": 0})),
        ("binarize", "age=40, income=2e4", {"age": 40.0, "income": 2e4}),
    ],
)
def test_blanks_may_follow_commas(name, text, meaning):
    assert OPTIONS[name].type.convert(text, None, None) == meaning


def test_arguments_of_several_columns_are_spelled_as_several_options():
    words = spell_reading({"kinds": {"a": "ordinal", "b": "nominal"}, "na_values": {None: ["?"], "sex": ["x"]}})
    assert words == ["--ordinal", "a", "--nominal", "b", "--na", "?", "--na", "sex=x"]


@pytest.mark.parametrize(
    ("words", "codes"),
    [
        (["=a=b", "x=="], {None: ["a=b"], "x": ["="]}),
        (['say "hi"=a=b'], {'say "hi"': ["a=b"]}),
        (['"x=1"=9', '"x=1"=='], {"x=1": ["9", "="]}),
        (["#3==9"], {2: ["=9"]}),
        (['"""x"""=9'], {'"x"': ["9"]}),
    ],
)
def test_a_missing_text_may_have_an_equals_sign(words, codes):
    assert spell_reading({"na_values": codes})[1::2] == words
    found = tuple(OPTIONS["na_values"].type.convert(word, None, None) for word in words)
    assert Reading(na_values=found).said["na_values"] == codes


def test_columns_that_share_a_name_or_are_called_like_a_word_go_by_number():
    assert column_keys(["age", "a,b", "none", "sex", "sex"]) == ["age", "a,b", 2, 3, 4]
    kinds = {0: "ordinal", 1: "ordinal", 2: "ordinal", 3: "nominal"}
    assert kinds_by_key(["a", "b", 2, "d"], kinds) == {"a:#3": "ordinal", "d": "nominal"}


def test_options_that_messages_suggest_mean_the_columns_of_the_message(tmp_path):
    rows = np.random.default_rng(0).integers(1, 6, (60, 5))
    named = [[f"r{k}", *row] for k, row in enumerate(rows.tolist())]
    table = write_csv(tmp_path / "a.csv", ["id", "#3", "lead", "A:B", "none", "q"], named)
    said = data_error("fit", table)
    assert "State its kind (--ordinal, --nominal or --continuous), say what its values mean (--encode)" in said
    needed = read_json(run("info", table, "--json").stdout, "info")["options"]
    assert shlex.split(needed) == ["--ordinal", "#1:q"]
    assert "5 columns" in run("fit", table, *shlex.split(needed), "--alpha", "0.1").stderr
    said = data_error("fit", table, "--ordinal", "lead:q", "--alpha", "0.1")
    words = shlex.split(said.partition("leave the column out (")[2].partition(")")[0])
    assert "4 columns" in run("fit", table, *words, "--ordinal", "lead:q", "--alpha", "0.1").stderr


def test_every_command_line_is_repeated_as_it_was_written():
    words = shlex.split(
        "--missing drop --encode auto --encode a=x=1,y=0 --binarize b=2 --weights none --weight-kind counts --drop c "
        "--columns a:e --ordinal a --nominal b --continuous d --reverse a --covariates d --no-header --id-column none "
        "--na ? --na a=9 --delimiter tab --normal-scores d --combine-indicators "
        "--encoding latin-1 --decimal , --sheet two"
    )
    assert {option for word in words if (option := word.removeprefix("--")) != word} >= {
        name_of(OPTIONS[name]).removeprefix("--") for name in READING.options if name != "header"
    }
    with info.make_context("info", ["-", "-qv", "--json", *words]):
        again = command_line()
    assert again[:3] == ["isinglass", "info", "-"]
    assert sorted(again[3:]) == sorted(words)


def test_one_column_is_spelled_as_a_list_of_one():
    """Messages name the column that they are about."""
    assert spell_option(OPTIONS["drop"], 98) == spell_option(OPTIONS["drop"], [98]) == ["--drop", "#99"]
    assert spell_option(OPTIONS["drop"], "age") == ["--drop", "age"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("alphas", text) for text in ("0", "-1", "1,1.0", "nan", "", "a")),
        *(("encode", text) for text in ("yes", "yes=1,yes=0", "yes=x", '"a,b=m=1",f=0', "")),
        *(("binarize", text) for text in ("a", "a=b", "inf", "a=1,a=2")),
        *(("rows", text) for text in ("10,10", "1.5", "")),
        *(("drop", text) for text in ("a\nb", "")),
    ],
)
def test_other_words_are_refused(name, text):
    with pytest.raises(click.BadParameter):
        OPTIONS[name].type.convert(text, None, None)


def test_each_column_has_its_own_answers(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("sex,vote\n" + "m,yes\nf,no\nm,no\nf,yes\nm,yes\n")
    words = ["--encode", "sex=m=1,f=0", "--encode", "#2=yes=0,no=1"]
    described = read_json(run("info", file, *words, "--json").stdout, "info")
    assert described["encoding"] == {"sex": ["f", "m"], "vote": ["yes", "no"]}
    assert "must say one thing about a column" in run("info", file, *words, "--encode", "sex=m=0,f=1", code=2).stderr


def test_a_column_is_cut_by_its_number(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("1,50\n0,30\n1,20\n0,60\n")
    described = read_json(run("info", file, "--no-header", "--binarize", "#2=40", "--json").stdout, "info")
    assert described["columns"][1]["kind"] == "binary"


def test_several_columns_are_dropped_at_once(table):
    said = read_csv(run("fit", table, "--alpha", "0.01", "--drop", "tea,water").stdout)
    repeated = read_csv(run("fit", table, "--alpha", "0.01", "--drop", "tea", "--drop", "water").stdout)
    kept = read_csv(run("fit", table, "--alpha", "0.01", "--columns", '"milk, cold",<sugar>,lemon,rum & cola').stdout)
    assert said == repeated == kept
    assert not {row[side] for row in said for side in ("source", "target")} & {"tea", "water"}


def test_words_may_be_in_upper_case(table):
    words = ["fit", table, "--alphas", "5", "--select"]
    assert run(*words, "EBIC").stdout == run(*words, "ebic").stdout != run(*words, "STARS").stdout


def test_a_folder_stands_for_its_model(table, tmp_path):
    run("fit", table, "--alpha", "0.05", "-o", tmp_path / "net")
    for words in (["predict", "--score"], ["export"]):
        rest = [] if words == ["export"] else [table]
        assert run(*words, tmp_path / "net", *rest).stdout == run(*words, tmp_path / "net" / "model.npz", *rest).stdout
    run("report", tmp_path / "net", table, "-o", tmp_path / "page.html")
    assert (tmp_path / "page.html").exists()
    (tmp_path / "empty").mkdir()
    assert "has no model.npz" in error_line(run("export", tmp_path / "empty", code=2))


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_attributes_may_be_separated_by_semicolons_or_tabs(table, tmp_path, mark):
    run("fit", table, "--alpha", "0.05", "-o", tmp_path / "net")
    lines = [["name", "kind"], *(["tea", "hot"], ['"milk, cold"', "cold"])]
    (tmp_path / "g.csv").write_text("".join(mark.join(line) + "\n" for line in lines))
    rows = read_csv(run("export", tmp_path / "net", "--format", "nodes", "--attributes", tmp_path / "g.csv").stdout)
    assert [row["kind"] for row in rows[:3]] == ["hot", "cold", ""]


def test_attributes_end_their_lines_as_csv_does(table, tmp_path):
    """Python counts more characters as ends of lines."""
    run("fit", table, "--alpha", "0.05", "-o", tmp_path / "net")
    (tmp_path / "g.csv").write_text("name,kind\ntea,a\x0cb\x85c\u2028d\n", encoding="utf-8")
    rows = read_csv(run("export", tmp_path / "net", "--format", "nodes", "--attributes", tmp_path / "g.csv").stdout)
    assert rows[0]["kind"] == "a\x0cb\x85c\u2028d"


# ------------------------------------------------------------------------------------------- what became 1


def numbers(tmp_path):
    bits = draw_rows(200, 3)
    rows = np.column_stack([bits[:, 0] * 30 + 20, bits[:, 1] * 1e4 + 1.5e4, bits[:, 2]])
    return write_csv(tmp_path / "n.csv", ["age", "income", "owns"], rows.tolist()), bits


def test_every_column_may_have_its_own_cut(tmp_path):
    table, bits = numbers(tmp_path)
    plain = write_csv(tmp_path / "b.csv", ["age", "income", "owns"], bits.tolist())
    result = run("fit", table, "--binarize", "age=40,income=2e4", "--alpha", "0.05")
    assert read_csv(result.stdout) == read_csv(run("fit", plain, "--alpha", "0.05").stdout)
    assert "age: 1 above 40; income: 1 above 20000" in result.stderr
    assert "--binarize" in data_error("fit", table, "--binarize", "height=2,age=1")
    for wrong in ("age=x", "age=1,age=2", "age", "=3", "1,2"):
        assert "float range" not in error_line(run("fit", table, "--binarize", wrong, code=2))


def test_cuts_and_answers_mix(tmp_path):
    """A survey has both: words of which two are detected, and numbers with a cut each."""
    bits = draw_rows(200, 3)
    rows = [[("no", "yes")[a], 20 + 30 * b, ("left", "right")[c]] for a, b, c in bits.tolist()]
    table = write_csv(tmp_path / "s.csv", ["smokes", "age", "hand"], rows)
    result = run("fit", table, "--encode", "auto", "--binarize", "age=40", "--alpha", "0.05", "-o", tmp_path / "net")
    assert "smokes: yes = 1, no = 0; age: 1 above 40; hand: right = 1, left = 0" in result.stderr
    plain = write_csv(tmp_path / "b.csv", ["smokes", "age", "hand"], bits.tolist())
    printed = run("fit", plain, "--alpha", "0.05").stdout
    assert (tmp_path / "net" / "edges.csv").read_text() == printed
    assert float(run("predict", "--score", tmp_path / "net", table).stdout) < 0
    assert "--encode auto" in data_error("fit", table, "--encode", "auto", "--binarize", "40")


def test_a_model_remembers_the_cuts(tmp_path):
    table, _ = numbers(tmp_path)
    run("fit", table, "--binarize", "age=40,income=2e4", "--alpha", "0.05", "-o", tmp_path / "net")
    assert float(run("predict", "--score", tmp_path / "net", table).stdout) < 0
    command = (tmp_path / "net" / "run.json").read_text()
    assert "--binarize age=40,income=20000" in command


def test_fit_says_what_became_one(tmp_path):
    words = np.where(draw_rows(60, 3) == 1, "yes", "no")
    few = write_csv(tmp_path / "few.csv", ["a", "b", "c"], words.tolist())
    assert "a, b, c: yes = 1, no = 0" in run("fit", few, "--encode", "auto", "--alpha", "0.1").stderr
    words = np.where(draw_rows(60, 15) == 1, "yes", "no")
    many = write_csv(tmp_path / "many.csv", [f"q{k}" for k in range(15)], words.tolist())
    assert "15 columns: yes = 1, no = 0" in run("fit", many, "--encode", "auto", "--alpha", "0.1").stderr
    read_as = ["--encode", "auto", "--encode", "q3=yes=0,no=1"]
    assert "q3: no = 1, yes = 0" in run("fit", many, *read_as, "--alpha", "0.1").stderr
    one = write_csv(tmp_path / "one.csv", ["a", "b", "k"], [[k % 2, k % 3 % 2, 7.5] for k in range(60)])
    assert "k: always 7.5" in run("fit", one, "--continuous", "k", "--alpha", "0.1").stderr
    assert "Values" not in run("fit", write_table(tmp_path / "bits.csv"), "--alpha", "0.1").stderr


def test_a_score_is_a_prediction(table, tmp_path):
    run("fit", table, "--alpha", "0.1", "-o", tmp_path / "net")
    record = read_json(run("predict", tmp_path / "net", table, "--score", "--json").stdout, "score")
    assert run("predict", tmp_path / "net", table, "--score").stdout == f"{record['mean']:.6g}\n"
    run("predict", tmp_path / "net", table, "--score", "--impute", code=2)


def test_a_single_column_is_no_network(tmp_path):
    rows = [[k % 2, 1 + k % 3, "xy"[k % 2]] for k in range(12)]
    table = write_csv(tmp_path / "t.csv", ["a", "w", "g"], rows)
    for words in (["fit", table, "--weights", "w", "--drop", "g"], ["compare", table, "--groups", "g", "--drop", "w"]):
        message = data_error(*words)
        assert "t.csv: a network needs at least two columns" in message
        assert "got 1" in message
    lone = write_csv(tmp_path / "lone.csv", ["a|b"], [["1|0"], ["0|1"], ["1|1"]])
    assert "Is --delimiter right?" in data_error("fit", lone, "--nominal", "#1", "--delimiter", ";")


def test_groups_and_pairs_are_called_by_their_options(tmp_path):
    rows = [[k % 2, k // 2 % 2, "xy"[k % 2], k // 3] for k in range(12)]
    table = write_csv(tmp_path / "t.csv", ["a", "b", "g", "person"], rows)
    said = data_error("compare", table, "--groups", "g", "--paired", "person")
    assert "--paired must name subjects" in said
    assert "leave out --paired to compare independent groups" in said
    for changed, problem in (("z", "must have at least two rows each"), (None, "must name at least two groups")):
        labeled = [[*row[:2], "x" if changed is None else changed if k == 0 else row[2]] for k, row in enumerate(rows)]
        said = data_error("compare", write_csv(tmp_path / "g.csv", ["a", "b", "g"], labeled), "--groups", "g")
        assert f"--groups {problem}" in said


def test_covariates_are_not_predicted(table, tmp_path):
    run("fit", table, "--covariates", "#1,#2", "--alpha", "0.1", "-o", tmp_path / "net")
    first = read_csv(run("predict", tmp_path / "net", table).stdout)[0]
    assert [*first] == [f"{name}={k}" for name in ("<sugar>", "lemon", "rum & cola", "water") for k in (0, 1)]


def test_only_categories_with_a_value_are_predicted_and_listed(tmp_path):
    """A column that is always 7.5 has another category, of which no cell is."""
    rows = [[k % 2, k // 2 % 2, 7.5, ["red", "blue", "green"][k % 3]] for k in range(60)]
    table = write_csv(tmp_path / "t.csv", ["a", "b", "d", "color"], rows)
    run("fit", table, "--encode", "auto", "--nominal", "color", "--alpha", "0.1", "-o", tmp_path / "net")
    header = run("predict", tmp_path / "net", table).stdout.splitlines()[0]
    assert header == "a=0,a=1,b=0,b=1,d=7.5,color=blue,color=green,color=red"
    nodes = {row["name"]: row["categories"] for row in read_csv((tmp_path / "net" / "nodes.csv").read_text())}
    assert nodes["d"] == "7.5"


def test_columns_of_a_prediction_have_different_names(tmp_path):
    numbers = np.random.default_rng(0).normal(size=(60, 2)).round(3)
    rows = [[*pair, "red" if k % 3 else "blue"] for k, pair in enumerate(numbers.tolist())]
    table = write_csv(tmp_path / "t.csv", ["age", "age_lower", "x"], rows)
    kinds = ["--continuous", "age,age_lower", "--nominal", "x"]
    run("fit", table, *kinds, "--alpha", "0.1", "-o", tmp_path / "net")
    header = run("predict", tmp_path / "net", table).stdout.splitlines()[0]
    assert header == "age,age_lower (2),age_upper,age_lower,age_lower_lower,age_lower_upper,x=blue,x=red"


def test_predicted_numbers_keep_their_digits(tmp_path):
    """Far from 0, six digits would not tell one number from another."""
    rng = np.random.default_rng(0)
    time = 1.6e9 + np.round(rng.normal(scale=100, size=60), 2)
    table = write_csv(tmp_path / "t.csv", ["time", "x"], [[t, int(t > 1.6e9)] for t in time.tolist()])
    run("fit", table, "--continuous", "time", "--alpha", "0.05", "-o", tmp_path / "net")
    rows = read_csv(run("predict", tmp_path / "net", table).stdout)
    expected = load(tmp_path / "net" / "model.npz").predict(pd.read_csv(table))[:, 0]
    np.testing.assert_allclose([float(row["time"]) for row in rows], expected, rtol=0, atol=1e-3)
    assert {float(row["time_lower"]) for row in rows} <= set(time.tolist())


# --- where to fit -----------------------------------------------------------------------------------------------------


def test_a_device_that_cannot_be_had_is_named(table, monkeypatch):
    monkeypatch.setattr("isinglass.solve.device.has_package", lambda name: False)
    message = data_error("fit", table, "--device", "cuda")
    assert "--device cuda needs PyTorch, which is not installed. Install isinglass[gpu]." in message


def test_the_processor_is_a_device(table):
    plain = run("fit", table, "--alpha", "0.1").stdout
    assert run("fit", table, "--alpha", "0.1", "--device", "cpu").stdout == plain


def test_every_share_of_dropped_rows_has_a_resample(table):
    assert len(DROP_SHARES) == LEAST_DROPS
    line = error_line(run("bootstrap", table, "--kind", "case-drop", "-B", "9", code=2))
    assert line == "Error: --kind case-drop needs at least 10 --resamples; got 9."
