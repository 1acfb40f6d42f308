"""A file that is read by the coding of another means the same, whichever rows it has."""

import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from isinglass import IsingLasso, as_table, load, read_parts, read_table, save
from isinglass.errors import DataError

LABELS = {"a": {1: "no", 2: "yes"}}


def read(text, **options):
    return read_table(io.StringIO(text), **options)


def write_labelled(path, frame, labels):
    pyreadstat = pytest.importorskip("pyreadstat")
    write = pyreadstat.write_dta if path.suffix == ".dta" else pyreadstat.write_sav
    write(frame.astype(float), str(path), variable_value_labels=labels)
    return path


@pytest.mark.parametrize("kind", ["dta", "sav"])
@pytest.mark.parametrize("value", [1, 2])
def test_one_value_of_a_labelled_column(kind, value, tmp_path):
    frame = pd.DataFrame({"a": [1, 2, 2, 1], "b": [0, 0, 1, 1]})
    table = read_table(write_labelled(tmp_path / f"all.{kind}", frame, LABELS), encode="auto")
    assert table.codes[:, 0].tolist() == [0, 1, 1, 0]
    rows = write_labelled(tmp_path / f"some.{kind}", frame[frame["a"] == value], LABELS)
    assert read_table(rows, encode=table.coding).codes[:, 0].tolist() == [value - 1] * 2
    assert read_table(rows, encode="auto").codes[:, 0].tolist() == [value - 1] * 2  # the labels name both values


@pytest.mark.parametrize("value", [1, 2])
def test_one_value_of_a_column_with_given_labels(value):
    table = read_table(io.StringIO("a,b\n1,0\n2,0\n2,1\n"), value_labels=LABELS, encode="auto")
    assert table.codes[:, 0].tolist() == [0, 1, 1]
    row = io.StringIO(f"a,b\n{value},0\n")
    assert read_table(row, value_labels=LABELS, encode=table.coding).codes.tolist() == [[value - 1, 0]]


def test_labelled_parts_with_one_value_each(tmp_path):
    for value in (1, 2):
        frame = pd.DataFrame({"a": [value] * 3, "b": [0, 1, 1]})
        write_labelled(tmp_path / f"part{value}.sav", frame, LABELS)
    for encode in ("auto", {"no": 0, "yes": 1}):
        table = read_parts(str(tmp_path / "part*.sav"), encode=encode).gather()
        assert table.codes[:, 0].tolist() == [0, 0, 0, 1, 1, 1]


def test_labels_are_applied_as_they_were_in_the_fitted_table(tmp_path):
    labels = {"a": {0: "never", 1: "rarely", 2: "often"}}
    three, two = pd.DataFrame({"a": [0, 1, 2] * 4, "b": [0, 1] * 6}), pd.DataFrame({"a": [0, 1] * 6, "b": [1, 0] * 6})
    of_three = read_table(write_labelled(tmp_path / "three.sav", three, labels), kinds={"a": "ordinal"})
    of_two = read_table(write_labelled(tmp_path / "two.sav", two, labels))
    assert of_three.variables.categories[0] == ("never", "rarely", "often")
    assert of_two.variables.categories[0] == (0, 1)
    assert np.array_equal(read_table(tmp_path / "two.sav", encode=of_three.coding).codes, two)
    with pytest.raises(DataError, match="got 2 in column 'a'"):
        read_table(tmp_path / "three.sav", encode=of_two.coding)


def test_a_value_without_a_label_is_refused_by_a_coding_with_labels(tmp_path):
    frame = pd.DataFrame({"a": [1, 2, 2, 1], "b": [0, 0, 1, 1]})
    table = read_table(write_labelled(tmp_path / "all.sav", frame, LABELS), encode="auto")
    other = write_labelled(tmp_path / "other.sav", frame.replace({"a": {2: 3}}), LABELS)
    with pytest.raises(DataError, match="got 3 in column 'a'"):
        read_table(other, encode=table.coding)


def test_ticked_boxes_keep_1(tmp_path):
    frame = pd.DataFrame({"a": [1, np.nan, 1], "b": [0, 1, 1]})
    file = write_labelled(tmp_path / "ticked.sav", frame, {"a": {1: "ticked", 9: "no answer"}})
    assert read_table(file, missing="zero").codes[:, 0].tolist() == [1, 0, 1]


def test_0_and_1_are_not_taken_for_other_values():
    table = as_table(pd.DataFrame({"a": ["no", "yes"], "b": [0, 1]}), encode="auto")
    with pytest.raises(DataError, match="got 0, 1 in column 'a'"):
        as_table(pd.DataFrame({"a": [0, 1], "b": [0, 1]}), encode=table.coding)


WORDS = pd.DataFrame({"i1": ["y", "?", "n"] * 4, "i2": ["n", "y", "n"] * 4, "i3": ["?", "n", "?"] * 4})
MEANING = {"y": 1, "n": 0, "?": 1}


def write_words(path, frame):
    {".csv": frame.to_csv, ".parquet": frame.to_parquet, ".xlsx": frame.to_excel}[path.suffix](path, index=False)
    return path


@pytest.mark.parametrize("kind", ["csv", "parquet", "xlsx"])
@pytest.mark.parametrize("missing", ["error", "impute", "zero", "drop"])
def test_words_that_encode_gives_a_meaning_keep_it(kind, missing, tmp_path):
    file, expected = write_words(tmp_path / f"t.{kind}", WORDS), (WORDS != "n").to_numpy()
    table = read_table(file, encode=MEANING)
    again = read_table(file, encode=table.coding, missing=missing)
    assert np.array_equal(table.codes, expected)
    assert np.array_equal(again.codes, expected)
    assert again.n_missing == 0
    if missing != "impute":
        parts = read_parts([str(file)] * 2, encode=MEANING, missing=missing)
        assert np.array_equal(parts.gather().codes, np.vstack([expected] * 2))
    stated = read_table(file, encode=table.coding, missing="zero", na_values=["?"])
    assert np.array_equal(stated.codes, WORDS == "y")


def test_a_column_of_the_coding_does_not_name_rows():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"likert": rng.integers(1, 6, 60), "b": rng.integers(0, 2, 60)})
    kinds = {"likert": "ordinal"}
    named = read_table(io.StringIO(frame.to_csv(index=False)), kinds=kinds)
    bare = read_table(io.StringIO(frame.to_csv(index=False, header=False)), kinds={0: "ordinal"})
    for order in ([1, 3, 5], [3, 1, 5]):
        rows = pd.DataFrame({"likert": order, "b": [0, 1, 1]})
        expected = [[value - 1, bit] for value, bit in zip(order, [0, 1, 1], strict=True)]
        assert read_table(io.StringIO(rows.to_csv(index=False)), encode=named.coding).codes.tolist() == expected
        headless = io.StringIO(rows.to_csv(index=False, header=False))
        assert read_table(headless, encode=bare.coding).codes.tolist() == expected
        numbered = io.StringIO(rows.assign(who=["x", "y", "z"])[["who", "likert", "b"]].to_csv(index=False))
        table = read_table(numbered, encode=named.coding)
        assert (table.codes.tolist(), table.row_names) == (expected, ("x", "y", "z"))


def test_a_first_column_of_words_that_differ_does_not_name_rows():
    table = as_table(pd.DataFrame({"mood": list("abcabc"), "b": [0, 1] * 3}), kinds={"mood": "nominal"})
    rows = read_table(io.StringIO("mood,b\nc,0\na,1\nb,1\n"), encode=table.coding)
    assert rows.codes.tolist() == [[2, 0], [0, 1], [1, 1]]


def test_parts_whose_first_column_ascends(tmp_path):
    first, second = tmp_path / "0.csv", tmp_path / "1.csv"
    first.write_text("a,b\n3,1\n1,0\n5,1\n")
    second.write_text("a,b\n1,1\n3,0\n5,1\n")
    table = read_parts([str(first), str(second)], encode={"a": {1: 0, 3: 0, 5: 1}})
    assert table.gather().codes.tolist() == [[0, 1], [0, 0], [1, 1], [0, 1], [0, 0], [1, 1]]


def test_parts_keep_the_values_that_stand_for_a_missing_cell():
    parts = [
        pd.DataFrame({"a": ["no", "no", "-"], "b": [0, 1, 9]}),
        pd.DataFrame({"a": ["yes", "-", "no"], "b": [9, 1, 0]}),
    ]
    table = read_parts(parts, encode="auto", na_values={"a": ["-"], "b": [9]}, missing="zero")
    assert table.gather().codes.tolist() == [[0, 0], [0, 1], [0, 0], [1, 0], [0, 1], [0, 0]]
    again = as_table(parts[1], encode=table.coding, missing="drop")
    assert again.rows.tolist() == [2]


def test_parts_whose_labels_have_a_meaning_though_the_first_has_only_0_and_1(tmp_path):
    labels = {"a": {0: "never", 1: "rarely", 2: "often"}}
    for k, answers in enumerate(([0, 1, 1], [2, 0, 1])):
        write_labelled(tmp_path / f"part{k}.sav", pd.DataFrame({"a": answers, "b": [0, 1, 1]}), labels)
    encode = {"a": {"never": 0, "rarely": 0, "often": 1}}
    table = read_parts(str(tmp_path / "part*.sav"), encode=encode).gather()
    assert table.codes[:, 0].tolist() == [0, 0, 0, 1, 0, 0]


def test_a_coding_by_labels_reads_the_values_without_labels(tmp_path):
    frame = pd.DataFrame({"a": [1, 2, 2, 1], "b": [0, 0, 1, 1]})
    table = read_table(write_labelled(tmp_path / "all.sav", frame, LABELS), encode="auto")
    for other in (frame, frame.replace({"a": {1: "no", 2: "yes"}})):
        assert np.array_equal(as_table(other, encode=table.coding).codes, table.codes)
    turned = write_labelled(tmp_path / "turned.sav", frame, {"a": {1: "yes", 2: "no"}})
    assert read_table(turned, encode=table.coding).codes[:, 0].tolist() == [1, 0, 0, 1]


def test_columns_without_names_are_found_by_their_numbers_in_the_file():
    rows = "".join(f"p{k},{k % 5 + 1},{k % 2},{k % 3}\n" for k in range(20))
    table = read_table(io.StringIO(rows), kinds={0: "ordinal", 2: "ordinal"}, drop=[1])
    assert table.coding.layout.numbers == (0, 2)
    again = read_table(io.StringIO("x,5,1,0\ny,1,0,2\n"), encode=table.coding)
    assert (again.codes.tolist(), again.row_names) == ([[4, 0], [0, 2]], ("x", "y"))
    for rows in ([[5, 0], [1, 2]], [[5, 7, 0], [1, 7, 2]]):  # the columns alone, and all but the row names
        assert as_table(rows, encode=table.coding).codes.tolist() == [[4, 0], [0, 2]]
    with pytest.raises(DataError, match="got 4"):
        as_table([[5, 0, 0, 1], [1, 2, 0, 1]], encode=table.coding)


ROWS = np.random.default_rng(0).integers(0, 2, (40, 4))


def spell(rows):
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


def read_bare(rows, **options):
    return read_table(io.StringIO(spell(rows)), header=False, id_column=None, **options)


@pytest.mark.parametrize("columns", [[2, 1, 0], [0, 1, 2], [2, 0], [1]])
def test_chosen_columns_of_a_file_without_names_are_found_again(columns):
    rows = ROWS[:, :3]
    table = read_bare(rows, columns=columns)
    assert np.array_equal(read_bare(rows, encode=table.coding).codes, rows[:, columns])
    assert np.array_equal(read_bare(rows, encode=table.coding, columns=columns).codes, rows[:, columns])
    assert np.array_equal(as_table(rows[:, columns], encode=table.coding).codes, rows[:, columns])
    with pytest.raises(DataError, match=rf"the {len(columns)} columns of the fitted table.*; got 4\. .* equal width"):
        read_bare(ROWS, encode=table.coding)
    with pytest.raises(DataError, match=rf"the {len(columns)} columns of the fitted table.*; got 4\. .* equal width"):
        as_table(ROWS, encode=table.coding)
    chosen = range(len(columns))
    assert np.array_equal(read_bare(ROWS, encode=table.coding, columns=chosen).codes, ROWS[:, chosen])


def test_parts_of_a_network_of_reordered_columns_are_scored_by_number(tmp_path):
    rows = ROWS[:, :3]
    (tmp_path / "a.csv").write_text(spell(rows))
    files = [str(tmp_path / "a.csv")]
    table = read_parts(files, header=False, id_column=None, columns=[2, 1, 0], client=False)
    again = read_parts(files, header=False, id_column=None, encode=table.coding, client=False)
    assert np.array_equal(again.gather().codes, rows[:, ::-1])


@pytest.mark.parametrize("first", ["id", "w"])
def test_an_array_is_not_shifted_by_row_names_or_weights_of_the_file(first):
    names = "".join(
        f"{'r' if first == 'id' else ''}{k % 3 + 1 if first == 'w' else k},{a},{b},{c}\n"
        for k, (a, b, c, _) in enumerate(ROWS)
    )
    options = {"weights": "w"} if first == "w" else {}
    table = read_table(io.StringIO(f"{first},a,b,c\n{names}"), drop=["c"], **options)
    assert np.array_equal(as_table(ROWS[:, :2], encode=table.coding).codes, ROWS[:, :2])
    if first == "id":
        assert np.array_equal(as_table(ROWS[:, :3], encode=table.coding).codes, ROWS[:, :2])
        assert np.array_equal(read_bare(ROWS[:, :3], encode=table.coding).codes, ROWS[:, :2])
    else:
        with pytest.raises(DataError, match=r"the 2 columns of the fitted table.*, or all 4 that these .*; got 3\."):
            as_table(ROWS[:, :3], encode=table.coding)


def test_parts_with_another_number_of_columns_without_names_are_refused(tmp_path):
    (tmp_path / "1.csv").write_text(spell(ROWS[:, 1:]))
    (tmp_path / "2.csv").write_text(spell(ROWS))
    files = [str(tmp_path / "1.csv"), str(tmp_path / "2.csv")]
    with pytest.raises(DataError, match="the 3 columns of the table that was read first; got 4"):
        read_parts(files, header=False, id_column=None, client=False)
    table = read_parts(files, header=False, id_column=None, columns=[0, 2], client=False)  # stated for all files
    assert np.array_equal(table.gather().codes, np.vstack([ROWS[:, [1, 3]], ROWS[:, [0, 2]]]))


def test_options_name_chosen_columns_of_parts_by_their_numbers_in_the_files(tmp_path):
    (tmp_path / "1.csv").write_text("1,5,0\n0,6,1\n1,5,1\n")
    encode = {1: {5: 0, 6: 1}, 2: {0: 0, 1: 1}}
    table = read_parts([str(tmp_path / "1.csv")], header=False, id_column=None, drop=[0], encode=encode, client=False)
    assert table.gather().codes.tolist() == [[0, 0], [1, 1], [0, 1]]


@pytest.mark.parametrize("encode", [None, {"b": {"few": 0, "some": 1, "many": 2}}])
def test_none_that_only_the_other_table_has_is_an_error(encode):
    text = "a,b\n0,few\n1,some\n0,many\n1,some\n0,many\n1,few\n"
    kinds = {"b": "nominal"} if encode is None else {"b": "ordinal"}
    coding = read_table(io.StringIO(text), kinds=kinds, encode=encode, missing="impute").coding
    other = io.StringIO("a,b\n0,None\n1,few\n")
    with pytest.raises(DataError, match="got 'None' in column 'b'"):
        read_table(other, encode=coding, missing="impute")


def test_a_decimal_point_where_the_fit_had_commas_is_named():
    ordered = read("a;b\n0;1,5\n1;2,5\n1;3,5\n0;1,5\n", kinds={"b": "ordinal"})
    grid = read("a;b\n" + "".join(f"{k % 2};{k // 7},{k % 7}\n" for k in range(40)), kinds={"b": "continuous"})
    for table in (ordered, grid):
        with pytest.raises(
            DataError, match=r"If '1\.5' is a number with a decimal point, use decimal=\"\.\" to read_table"
        ):
            read("a;b\n0;1.5\n1;2.5\n", encode=table.coding)


def test_a_header_where_the_fit_had_none_is_named():
    coding = read("0,1\n1,1\n0,0\n", header=False).coding
    text = "a,b\n0,1\n1,1\n0,0\n"
    with pytest.raises(DataError, match="If the first line names the columns, use header=True"):
        read(text, encode=coding)
    assert read(text, encode=coding, header=True).codes.tolist() == [[0, 1], [1, 1], [0, 0]]


def test_columns_that_were_renamed_are_found_by_either_name():
    text = "a,b,c\n0,1,1\n1,1,0\n0,0,0\n"
    table = read(text, names=["x", "y"], drop=["b"])
    assert table.take([1]).coding.layout.names == ("c",)
    for again in (text, "c,b,a\n1,1,0\n0,1,1\n0,0,0\n", "y,x\n1,0\n0,1\n0,0\n"):
        found = read(again, encode=table.coding)
        assert (found.names, found.codes.tolist()) == (("x", "y"), [[0, 1], [1, 0], [0, 0]])
    frame = pd.DataFrame({"a": [0, 1, 0], "b": [1, 1, 0]})
    renamed = as_table(frame, names=["x", "y"])
    assert as_table(frame[["b", "a"]], encode=renamed.coding).codes.tolist() == frame.to_numpy().tolist()


def test_names_of_the_file_come_before_names_that_were_given():
    text = "a,b,c\n0,1,1\n1,1,0\n0,0,0\n"
    for options in ({"names": ["c", "a", "b"]}, {"columns": ["a", "b"], "names": ["a", "c"]}):
        table = read(text, **options)
        again = read(text, encode=table.coding)
        assert (again.names, again.codes.tolist()) == (table.names, table.codes.tolist())


def test_row_names_are_not_taken_for_the_weights_of_the_fit():
    coding = read("A,2.5,0,1\nB,1,1,1\nC,1,1,0\nD,1.5,0,0\n", header=False, weights=0, id_column=0).coding
    with pytest.raises(DataError, match=r"must have the 2 columns of the fitted table.*, or all 3 .* got 1 of 2\."):
        read("E,0,1\nF,1,1\nG,1,0\nH,0,0\n", encode=coding, weights=0)
    again = read("I,2.5,0,1\nJ,1,1,1\n", encode=coding, weights=0)
    assert (again.codes.tolist(), again.sample_weight.tolist()) == ([[0, 1], [1, 1]], [2.5, 1.0])


@pytest.mark.parametrize("header", ["1,2,3", "age,b,c"])
def test_columns_that_were_renamed_are_recognized_by_their_names_in_the_file(header):
    """Also where the names look like cells, or the first column looks like row names."""
    lines = [f"{20 + 7 * k % 31},{k % 2},{k // 2 % 2}" for k in range(40)]
    text = "\n".join([header, *lines, ""])
    kinds, names = {0: "continuous"}, ["x", "y", "z"]
    table = read_table(io.StringIO(text), header=True, id_column=None, kinds=kinds, names=names)
    again = read_table(io.StringIO(text), encode=table.coding)
    assert again.names == ("x", "y", "z")
    assert np.array_equal(again.codes, table.codes)
    rising = "\n".join([header, "20,0,1", "30,1,1", "40,0,0", "45,1,0", ""])
    assert read_table(io.StringIO(rising), encode=table.coding).shape == (4, 3)


def test_a_table_with_the_names_of_the_file_is_one_of_a_renamed_fit():
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (200, 3)), columns=["a", "b", "c"])
    net = IsingLasso(0.01).fit(as_table(frame, names=["x", "y", "z"]))
    expected = net.fit_.score(frame.to_numpy())
    renamed = frame.set_axis(["x", "y", "z"], axis=1)
    for same in (frame, renamed, as_table(frame), as_table(renamed)):
        assert net.score(same) == net.fit_.score(same) == expected
    assert net.fit_.score(as_table(frame[["c", "a", "b"]])) == expected
    for other in (frame[["c", "a", "b"]], as_table(frame[["c", "a", "b"]]), frame.rename(columns={"a": "q"})):
        with pytest.raises(ValueError, match=r"same order|should match"):
            net.score(other)


def test_texts_of_numbers_and_numbers_of_texts_are_known():
    frame = pd.DataFrame({"a": [1, 2, 3] * 4, "b": [1, 2] * 6, "c": ["1", "2", "3"] * 4, "d": np.arange(12) / 4})
    kinds = {"a": "ordinal", "c": "nominal", "d": "continuous"}
    table = as_table(frame, kinds=kinds, encode={"b": (1, 2)})
    for column in frame:
        for dtype in (str, float, object):
            if column != "c" or dtype is not float:  # 1.0 is no spelling of "1"
                again = as_table(frame.assign(**{column: frame[column].astype(dtype)}), encode=table.coding)
                assert np.array_equal(again.codes, table.codes)
    assert np.array_equal(as_table(frame.assign(c=frame["a"]), encode=table.coding).codes, table.codes)
    bools = pd.DataFrame({"a": [True, False, True]})
    spelled = as_table(bools.astype(str), encode={"False": 0, "True": 1})
    assert as_table(bools, encode=spelled.coding).codes.tolist() == [[1], [0], [1]]
    message = r"must hold the values that were declared or fitted, 1, 2, 3; got 4 .* missing \(na_values=\[.?4.?\]\)"
    with pytest.raises(DataError, match=message):
        as_table(frame.assign(a="4"), encode=table.coding)


def test_the_column_of_weights_of_the_fit_weights_the_rows_of_another_table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (200, 3)), columns=["a", "b", "c"]).assign(w=rng.integers(1, 9, 200))
    frame.to_csv(tmp_path / "w.csv", index=False)
    table = read_table(tmp_path / "w.csv", weights="w", weight_kind="sampling")
    fit = IsingLasso(0.01).fit(table).fit_
    weighted = fit.score(frame[["a", "b", "c"]], sample_weight=frame["w"])
    assert weighted != fit.score(frame[["a", "b", "c"]])
    save(fit, tmp_path / "fit.npz")
    assert fit.score(table) == fit.score(frame) == load(tmp_path / "fit.npz").score(frame) == weighted
    assert read_table(tmp_path / "w.csv", encode=fit.coding).sample_weight.tolist() == frame["w"].tolist()
    assert fit.score(frame, sample_weight=np.ones(200)) == pytest.approx(fit.score(frame[["a", "b", "c"]]), rel=1e-12)
    with pytest.raises(DataError, match=r"weights must be finite and not negative; got -1 in column 'w' \(row 0\)"):
        fit.score(frame.assign(w=-1))


@pytest.mark.parametrize("kind", ["csv", "stata", "parquet", "frame", "array"])
def test_single_precision_means_the_numbers_it_is_written_as(tmp_path, kind):
    tenths = np.random.default_rng(0).integers(1, 5, 100) / 10
    tenths[:5] = -99.9
    rows = pd.DataFrame({"f": tenths.astype(np.float32), "b": np.float32([0, 1] * 50)})

    def read(**options):
        if kind in ("frame", "array"):
            options = {name: {0: value["f"]} for name, value in options.items()} if kind == "array" else options
            X = rows if kind == "frame" else rows.to_numpy()
            return as_table(X, na_values=[-99.9], missing="impute", **options)
        path = tmp_path / f"t.{kind}"
        write = {"csv": rows.to_csv, "stata": rows.to_stata, "parquet": rows.to_parquet}[kind]
        write(path, **({"write_index": False} if kind == "stata" else {"index": False}))
        return read_table(path, format={"csv": "text"}.get(kind, kind), na_values=[-99.9], missing="impute", **options)

    ordinal, grid = read(kinds={"f": "ordinal"}), read(kinds={"f": "continuous"})
    assert (ordinal.n_missing, grid.n_missing) == (5, 5)
    assert ordinal.variables.categories[0] == grid.variables.categories[0] == (0.1, 0.2, 0.3, 0.4)
    cut = read(binarize={"f": 0.2})
    assert cut.codes[5:, 0].tolist() == (tenths[5:] > 0.2).astype(int).tolist()
    again = as_table(pd.DataFrame({"f": tenths, "b": [0, 1] * 50}), encode=grid.coding, missing="impute")
    assert np.array_equal(again.codes, grid.codes)


@pytest.mark.parametrize(
    ("words", "categories"),
    [
        (["4", "f", "r"], ("4", "f", "r")),
        (['"170"', '"171a"', "172"], ("170", "171a", "172")),
        (["true", "false", "maybe"], ("false", "maybe", "true")),
        (["007", "7", "7b"], ("007", "7", "7b")),
    ],
)
def test_numbers_beside_words_are_words_in_a_nominal_column(words, categories):
    text = "code,x\n" + "".join(f"{word},{k % 2}\n" for k, word in enumerate(words * 10))
    table = read_table(io.StringIO(text), kinds={"code": "nominal"})
    assert table.variables.categories[0] == categories
    assert [categories[code] for code in table.codes[:3, 0]] == [word.strip('"') for word in words]
    frame = pd.read_csv(io.StringIO(text), dtype={"code": str})
    for again in (read_table(io.StringIO(text), encode=table.coding), as_table(frame, encode=table.coding)):
        assert np.array_equal(again.codes, table.codes)
    mixed = as_table(pd.DataFrame({"a": ["a", 1, "b", 1] * 5}, dtype=object), kinds="nominal")
    assert mixed.variables.categories == (("1", "a", "b"),)


def test_blanks_around_words_and_truth_values_are_those_of_the_file():
    frame = pd.DataFrame(
        {"who": ["Jo ", "Al", " Cy"] * 4, "b": ["True", "False", "True"] * 4, "c": ["1", "0", "1"] * 4}
    )
    text = frame.to_csv(index=False)
    coding = read_table(io.StringIO(text), kinds={"who": "nominal"}).coding
    for again in (frame, pd.read_csv(io.StringIO(text))):
        table = as_table(again, encode=coding)
        assert table.codes[:3].tolist() == [[2, 1, 1], [0, 0, 0], [1, 1, 1]]
    words = as_table(frame[["who"]], kinds="nominal")
    assert words.variables.categories == (("Al", "Cy", "Jo"),)
    codes = read_table(io.StringIO(text), columns=["who"], id_column=None, encode=words.coding).codes
    assert np.array_equal(codes, words.codes)


def test_a_table_whose_values_mean_something_else_is_refused_by_a_fit():
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 6, (200, 2)), columns=["a", "b"])
    fit = IsingLasso(0.05, binarize=2).fit(frame).fit_
    assert fit.score(as_table(frame, binarize=2)) == fit.score(frame)
    assert fit.score(as_table((frame > 2).astype(int))) == fit.score(frame)
    for other in ({"binarize": 4}, {"binarize": {"a": 2, "b": 3}}, {"encode": {k: int(k > 2) for k in range(6)}}):
        with pytest.raises(DataError, match=r"the values of column '[ab]' stand for something else"):
            fit.score(as_table(frame, **other))
    ordered = IsingLasso(0.05, kinds="ordinal").fit(frame).fit_
    with pytest.raises(DataError, match="stand for something else"):
        ordered.score(as_table(frame, binarize=4))
    merged = [as_table(frame, encode={0: 0, 5: 1, **dict.fromkeys(range(1, 5), bit)}) for bit in (0, 1)]
    fit = IsingLasso(0.05).fit(merged[0]).fit_
    with pytest.raises(DataError, match="stand for something else"):
        fit.score(merged[1])


def test_encode_may_name_the_codes_of_a_labelled_column():
    text = "a,b\n1,0\n2,1\n2,0\n"
    labels = {"a": {1: "no", 2: "yes"}}
    for encode in ({"a": {1: 0, 2: 1}}, {"a": {"no": 0, "yes": 1}}, {"no": 0, "yes": 1}):
        table = read_table(io.StringIO(text), value_labels=labels, encode=encode)
        assert table.codes.tolist() == [[0, 0], [1, 1], [1, 0]]
        assert np.array_equal(read_table(io.StringIO(text), encode=table.coding).codes, table.codes)


TEXTS = {
    "grade": ["1", "2", "3.0", " 2", "+1", "NA"],
    "sex": ["f", "m", ".", "f ", "m", ""],
    "seen": ["True", "false", "TRUE", "False", "?", "true"],
    "age": ["31.5", "4e1", "27", " ", "61.25", "33"],
    "kids": ["0", "1", "2", "3+", "None", "1"],
}


@pytest.mark.parametrize("container", ["pandas", "objects", "polars", "arrow", "list", "parquet", "feather", "dta"])
def test_texts_mean_in_memory_what_they_spell_in_a_file(container, tmp_path):
    frame = pd.DataFrame({name: column * 8 for name, column in TEXTS.items()})
    kinds = {"grade": "ordinal", "sex": "nominal", "age": "continuous", "kids": "nominal"}
    options = {"kinds": kinds, "missing": "impute"}
    expected = read_table(io.StringIO(frame.to_csv(index=False, na_rep="")), **options)
    assert expected.variables.kinds == ("ordinal", "binary", "binary", "continuous", "nominal")
    assert expected.holes[:6].sum(axis=0).tolist() == [1, 2, 1, 1, 0]
    if container in ("parquet", "feather", "dta"):
        path = tmp_path / f"table.{container}"
        getattr(frame, {"dta": "to_stata"}.get(container, f"to_{container}"))(
            path, **({"write_index": False} if container == "dta" else {})
        )
        found = read_table(path, **options)
    else:
        containers = {
            "pandas": frame,
            "objects": frame.to_numpy(dtype=object),
            "list": frame.to_numpy(dtype=object).tolist(),
            "polars": pl.DataFrame(TEXTS)[list(range(6)) * 8],
            "arrow": pa.Table.from_pandas(frame),
        }
        found = as_table(containers[container], names=list(frame), **options)
    assert np.array_equal(found.codes, expected.codes)
    assert np.array_equal(found.holes, expected.holes)
    assert found.coding.columns == expected.coding.columns


def test_declared_categories_are_not_read():
    cells = pd.Categorical(["1", "NA", "2", "1"] * 6, categories=["2", "NA", "1"])
    table = as_table(pd.DataFrame({"a": cells, "b": [0, 1] * 12}))
    assert table.variables.categories[0] == ("2", "NA", "1")
    merged = as_table(
        pd.DataFrame({"a": cells, "b": [0, 1] * 12}), encode={"a": {"1": 0, "2": 1, "NA": None}}, missing="impute"
    )
    assert merged.encoding == {"a": ("1", "2")}
    assert merged.n_missing == 6


def test_numbers_of_single_precision_are_those_of_their_spelling_as_objects():
    numbers = np.array([0.1, 0.7, 1.3, 2.9], dtype=np.float32)
    typed, objects = (
        as_table(
            pd.DataFrame({"a": pd.Series(list(numbers) * 6, dtype=dtype)}), kinds="ordinal", scores={"a": [0, 1, 2, 3]}
        )
        for dtype in (np.float32, object)
    )
    assert typed.variables.categories == objects.variables.categories == ((0.1, 0.7, 1.3, 2.9),)


def test_the_coding_of_a_comma_file_reads_decimal_commas_of_a_semicolon_file():
    frame = pd.DataFrame({"a": np.arange(40) / 8, "b": np.arange(40) % 2})
    table = read_table(io.StringIO(frame.to_csv(index=False)), kinds={"a": "continuous"})
    again = read_table(io.StringIO(frame.to_csv(index=False, sep=";", decimal=",")), encode=table.coding)
    assert np.array_equal(again.codes, table.codes)
