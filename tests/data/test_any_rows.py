"""A coding is all that another table needs: any rows, read by the coding of the whole table, are these rows of it."""

import io

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from isinglass import as_table, read_parts, read_table
from isinglass.errors import IsinglassWarning, suppress_warnings

N = 60
LABELS = {"labeled": {1: "no", 2: "yes"}, "mood": {0: "never", 1: "rarely", 2: "often"}, "bit": {0: "off", 1: "on"}}
FRACTIONS = [k / 8 for k in range(40)]
COLUMNS = {
    # the values that a column may have, and what is stated about it
    "bit": ([0, 1], {}),
    "word": (["no", "yes"], {}),
    "code": ([1, 2], {}),
    "labeled": ([1, 2], {}),
    "mood": ([0, 1, 2], {"kinds": "ordinal"}),
    "likert": ([1, 2, 3, 4, 5, 99], {"kinds": "ordinal", "na_values": [99]}),
    "turned": ([1, 2, 4, 5], {"kinds": "ordinal", "reverse": True}),
    "scored": ([1, 2, 3], {"scores": [0, 1, 5]}),
    "party": (["red", "blue", "None", "green"], {"kinds": "nominal"}),
    "size": (FRACTIONS, {"kinds": "continuous"}),
    "normal": (FRACTIONS, {"scores": "normal"}),
    "dose": (FRACTIONS, {"binarize": 2.5}),
    "pain": (["none", "?", "some", "much"], {"encode": {"none": 0, "?": 1, "some": 1, "much": 2}, "kinds": "ordinal"}),
    "asked": (["y", "n", "-"], {"encode": {"y": 1, "n": 0, "-": None}}),
    "a_1": (None, {}),  # indicators of one variable, see below
    "a_2": (None, {}),
    "a_3": (None, {}),
    "age": (list(range(20, 80)), {"covariates": True}),
}
TWO = ("word", "code", "labeled")  # need encode="auto", which takes no mappings
MAPPED = ("pain", "asked")
INDICATORS = ("a_1", "a_2", "a_3")


def draw(seed):
    """Return a table of a few columns, and the options that describe it, by the names of its columns."""
    rng = np.random.default_rng(seed)
    left_out = (MAPPED, TWO)[rng.integers(2)]
    known = [name for name in COLUMNS if name not in left_out and name not in INDICATORS]
    names = [name for name in known if rng.random() < 0.5] or ["bit"]
    has_indicators = "age" not in names and rng.random() < 0.4
    frame = pd.DataFrame(index=range(N))
    options = {"missing": "impute", "encode": "auto"} if left_out is MAPPED else {"missing": "impute", "encode": {}}
    for name in names:
        values, stated = COLUMNS[name]
        cells = pd.Series([values[k] for k in rng.integers(0, len(values), N)], dtype=object)
        frame[name] = cells if name == "age" else cells.mask(rng.random(N) < 0.1)
        for option, value in stated.items():
            if value is True:
                options.setdefault(option, []).append(name)
            else:
                options.setdefault(option, {})[name] = value
    if has_indicators:
        group = rng.integers(0, 3, N)
        for k, name in enumerate(INDICATORS):
            frame[name] = (group == k).astype(int)
        options["combine_indicators"] = True  # of tables with names
    options["value_labels"] = {name: labels for name, labels in LABELS.items() if name in names}
    frame.insert(0, "last", rng.integers(0, 2, N))
    if rng.random() < 0.5:
        frame.insert(0, "who", [f"p{k}" for k in rng.permutation(N)])
    return frame, {name: value for name, value in options.items() if value not in ({}, [])}, rng


def by_number(options, names):
    """Return options that name columns by their numbers, row names apart."""
    place = {name: k for k, name in enumerate(name for name in names if name != "who")}
    moved = {}
    for option, value in options.items():
        moved[option] = value
        if isinstance(value, dict):
            moved[option] = {place[name]: each for name, each in value.items()}
        elif isinstance(value, list):
            moved[option] = [place[name] for name in value]
    return moved


def of_text(delimiter, decimal, header, choose=None):
    def make(frame, options):
        stated = dict(options) if header else by_number(options, frame.columns)
        if not header:
            stated.pop("combine_indicators", None)
        if choose is not None:
            places = choose.permutation(len([name for name in frame if name != "who"])).tolist()
            stated["columns"] = places[: max(1, len(places) - int(choose.integers(3)))]

        def read(rows, **again):
            text = frame.iloc[rows].to_csv(sep=delimiter, decimal=decimal, header=header, index=False, na_rep="NA")
            return read_table(io.StringIO(text), **again)

        return read, stated

    return make


def of_frame(frame, options):
    kept = frame.drop(columns=[name for name in ("who", *options.pop("value_labels", {})) if name in frame])
    chosen = {
        option: {name: each for name, each in value.items() if name in kept} if isinstance(value, dict) else value
        for option, value in options.items()
    }
    return lambda rows, **again: as_table(kept.iloc[rows].reset_index(drop=True), **again), chosen


def of_parquet(frame, options):
    def read(rows, **again):
        file = io.BytesIO()
        frame.iloc[rows].to_parquet(file, index=False)
        return read_table(io.BytesIO(file.getvalue()), **again)

    return read, options


def of_survey(tmp_path):
    def make(frame, options):
        labels = options.pop("value_labels", {})
        typed = frame.copy()
        for name in typed:
            if not any(isinstance(cell, str) for cell in typed[name]):
                typed[name] = typed[name].astype(float)

        def read(rows, **again):
            file = tmp_path / "some.sav"
            pyreadstat.write_sav(typed.iloc[rows].reset_index(drop=True), file, variable_value_labels=labels)
            return read_table(file, **again)

        return read, options

    return make


def assert_same_rows(some, table, rows):
    expected = table[rows]
    holes = np.zeros(expected.shape, bool) if expected.holes is None else expected.holes
    assert (some.holes is None) == (expected.holes is None)
    assert some.holes is None or np.array_equal(some.holes, holes)
    assert np.array_equal(np.where(holes, 0, some.codes), np.where(holes, 0, expected.codes))
    assert some.variables == table.variables
    assert some.row_names == expected.row_names
    if expected.numbers is not None:
        np.testing.assert_array_equal(some.numbers, expected.numbers)


@pytest.mark.parametrize(
    "kind", ["comma", "semicolon", "bare", "bare semicolon", "chosen", "frame", "parquet", "survey"]
)
@pytest.mark.parametrize("seed", range(6))
def test_any_rows_mean_the_same(kind, seed, tmp_path):
    make = {
        "comma": of_text(",", ".", header=True),
        "semicolon": of_text(";", ",", header=True),
        "bare": of_text(",", ".", header=False),
        "bare semicolon": of_text(";", ",", header=False),
        "chosen": of_text(",", ".", header=False, choose=np.random.default_rng(seed)),
        "frame": of_frame,
        "parquet": of_parquet,
        "survey": of_survey(tmp_path),
    }[kind]
    frame, options, rng = draw(seed)
    with suppress_warnings(IsinglassWarning):
        read, stated = make(frame, dict(options))
        table = read(np.arange(N), **stated)
        assert table.shape[0] == N
        for size in (1, 1, 1, 2, 3, 10, N // 2):
            rows = rng.permutation(N)[:size]
            assert_same_rows(read(rows, encode=table.coding, missing="impute"), table, rows)


@pytest.mark.parametrize("kind", ["frames", "files", "files without names"])
@pytest.mark.parametrize("encode", ["auto", {"no": 0, "yes": 1, 1: 0, 2: 1, "?": 1, "-": None}])
def test_parts_mean_the_same_as_the_whole(kind, encode, tmp_path):
    rng = np.random.default_rng(0)
    values = {"word": ["no", "yes"], "code": [1, 2], "late": [2, 2, 1], "blank": ["no", "yes", None], "bit": [1, 2, 9]}
    if encode != "auto":
        values |= {"asked": ["no", "?", "-", "yes"]}
    drawn = {name: [some[k] for k in rng.integers(0, len(some), N)] for name, some in values.items()}
    frame = pd.DataFrame(drawn, dtype=object).sort_values("late", ascending=False, ignore_index=True)
    parts = [frame[:1], frame[1:40], frame[40:41], frame[41:]]
    options = {"encode": encode, "missing": "zero", "na_values": [9]}
    files = [tmp_path / f"{k}.csv" for k in range(len(parts))]
    for file, part in zip(files, parts, strict=True):
        part.to_csv(file, index=False, header=kind == "files")
    with suppress_warnings(IsinglassWarning):
        whole = as_table(frame, **options)
        of_files = {"header": False} if kind == "files without names" else {}  # one row of words could be names
        table = read_parts(parts if kind == "frames" else files, **options, **of_files)
        assert np.array_equal(table.gather().codes, whole.codes)
        assert table.n_missing == whole.n_missing
        assert [rule.missing for rule in table.coding.columns] == [rule.missing for rule in whole.coding.columns]
        assert table.encoding == {
            (name if kind != "files without names" else k): whole.encoding[name]
            for k, name in enumerate(frame)
            if name in whole.encoding
        }
