"""Files of NumPy, Parquet, Feather, Stata and SPSS, written by others and broken by us."""

import datetime
import gzip
import io
import pickle
import struct
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pyreadstat
import pytest
from scipy import sparse

from isinglass import read_table
from isinglass.errors import DataError, LimitError, MeaningWarning

BITS = np.array([[0, 1, 1], [1, 0, 1]])
FRAME = pd.DataFrame(BITS, columns=["a", "b", "c"])


def written(write, *args, **options):
    file = io.BytesIO()
    write(file, *args, **options)
    return file.getvalue()


FILES = {
    "npy": written(np.save, BITS),
    "npy bool": written(np.save, BITS.astype(bool)),
    "npy big endian, Fortran": written(np.save, np.asfortranarray(BITS.astype(">f4"))),
    "npz": written(np.savez, X=BITS, other=np.eye(5)),
    "npz compressed": written(np.savez_compressed, table=BITS, weights=np.ones(2)),
    "parquet": written(lambda file: FRAME.to_parquet(file)),
    "parquet bool": written(lambda file: FRAME.astype(bool).to_parquet(file, compression="zstd")),
    "feather": written(lambda file: FRAME.to_feather(file)),
    "feather plain": written(lambda file: feather.write_feather(pa.table(FRAME), file, compression="uncompressed")),
}  # fmt: skip


@pytest.mark.parametrize("kind", FILES)
def test_tables_come_back(kind, tmp_path):
    data = FILES[kind]
    table = read_table(io.BytesIO(data))
    assert table.codes.tolist() == BITS.tolist()
    assert table.names == (("a", "b", "c") if kind.startswith(("parquet", "feather")) else ("x0", "x1", "x2"))
    assert read_table(io.BytesIO(data), columns=[2, 0]).codes.tolist() == BITS[:, [2, 0]].tolist()
    path = tmp_path / "without an ending"
    path.write_bytes(data)
    assert read_table(path, format=kind.split()[0]).codes.tolist() == BITS.tolist()


@pytest.mark.parametrize("kind", FILES)
def test_limits_hold(kind):
    with pytest.raises(LimitError, match="max_rows"):
        read_table(io.BytesIO(FILES[kind]), max_rows=1)
    with pytest.raises(LimitError, match="max_columns"):
        read_table(io.BytesIO(FILES[kind]), max_columns=2)


@pytest.mark.parametrize("kind", FILES)
def test_truncated_files_are_one_clear_error(kind):
    data = FILES[kind]
    for stop in (len(data) - 1, len(data) // 2, 40):
        with pytest.raises((DataError, LimitError), match=r"^the stream: "):
            read_table(io.BytesIO(data[:stop]), format=kind.split()[0])


def test_text_in_an_array():
    answers = np.array([["Yes", "No"], ["NA", "Yes"]])
    table = read_table(io.BytesIO(written(np.save, answers)), encode="auto", missing="zero")
    assert table.codes.tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("point", [0x110000, 0xFFFFFFFF, 0xD800])
def test_numbers_that_are_no_characters(order, point):
    answers = np.array([["Yes", "No"], ["No", "Yes"]], dtype=f"{order}U3")
    data = written(np.save, answers)
    assert read_table(io.BytesIO(data), encode="auto").codes.tolist() == [[1, 0], [0, 1]]
    broken = data.replace(
        np.array(["Y"], dtype=f"{order}U1").tobytes(), np.array([point], dtype=f"{order}u4").tobytes()
    )
    with pytest.raises(DataError, match="text with invalid characters"):
        read_table(io.BytesIO(broken), encode="auto")


def test_nothing_is_unpickled():
    objects = written(np.save, BITS.astype(object), allow_pickle=True)
    with pytest.raises(DataError, match="an array of type object, not of numbers or text"):
        read_table(io.BytesIO(objects))
    with pytest.raises(DataError, match="an array of type object, not of numbers or text"):
        read_table(io.BytesIO(written(np.savez, X=BITS.astype(object))))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (written(np.save, BITS[0]), r"1 dimension\(s\)"),
        (written(np.save, np.zeros(2, dtype=[("a", int)])), "not of numbers or text"),
        (written(np.savez, a=BITS, b=BITS), r"one called X; got \['a', 'b'\]"),
        (written(np.save, BITS).replace(b"<i8", b"|S0"), "not of numbers or text"),
        (written(np.save, BITS).replace(b"(2, 3)", b"(2,-3)"), "cannot read this npy file"),
        (written(np.save, BITS).replace(b"descr", b"descx"), "cannot read this npy file"),
        (b"PK\x03\x04" + b"\x00" * 50, "cannot read this npz file"),
        (b"PAR1" + b"\x00" * 50, "cannot read this parquet file"),
        (b"ARROW1" + b"\x00" * 50, "cannot read this feather file"),
    ],
)
def test_bad_files(data, message):
    with pytest.raises(DataError, match=message):
        read_table(io.BytesIO(data))


def zipped(name):
    """Return an archive with one member."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, "<document/>")
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("photo.png", b"\x89PNG\r\n\x1a\n\0\0\0\r", "neither text in UTF-8 nor a file of a known format"),
        ("paper.pdf", b"%PDF-1.7\n\0", "neither text in UTF-8 nor a file of a known format"),
        ("x.json", b'[{"a": 1}]', "got a web page, XML, JSON"),
        ("x.docx", zipped("word/document.xml"), "not a table: it is an archive without arrays of NumPy"),
        ("x.db", b"SQLite format 3\0\x10\0", "not a table: it is neither text in UTF-8 nor a file of a known format"),
        ("x.xlsx", b"PK\x03\x04" + b"\0" * 50, "cannot read this excel file"),
        (
            "x.xlsx",
            bytes.fromhex("d0cf11e0a1b11ae1") + "EncryptedPackage".encode("utf-16-le"),
            "protected by a password",
        ),
    ],
)
def test_files_that_are_no_table_are_named(tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(DataError, match=message):
        read_table(tmp_path / name)


def test_files_that_claim_to_be_huge_are_not_allocated():
    header = {"descr": "<i8", "fortran_order": False, "shape": (10**9, 10**9)}
    data = written(np.lib.format.write_array_header_1_0, header)
    with pytest.raises(DataError, match="does not have the bytes that follow it"):
        read_table(io.BytesIO(data))


@pytest.mark.parametrize(
    "data",
    [
        b"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1\n",
        b"@RELATION votes\n@ATTRIBUTE a {yes,no}\n@DATA\nyes\n",
        b"% who made it\n%\n@relation votes\n@ATTRIBUTE a {yes,no}\n@DATA\nyes\n",
        b'[\n {"a": 1},\n {"a": 0}]',
        b"<!DOCTYPE html>\n<html>",
    ],
)
def test_texts_that_are_no_table_are_refused(data):
    with pytest.raises(DataError, match=r"got a web page, XML, JSON, .* or an ARFF file\. Save it as CSV"):
        read_table(io.BytesIO(data))


def test_a_pickle_is_not_read():
    with pytest.raises(DataError, match="neither text in UTF-8 nor a file of a known format"):
        read_table(io.BytesIO(pickle.dumps(pd.DataFrame(BITS))))


def test_archives_with_a_sparse_matrix_are_named():
    with pytest.raises(DataError, match=r"got a sparse matrix\. Pass scipy\.sparse\.load_npz"):
        read_table(io.BytesIO(written(sparse.save_npz, sparse.csr_matrix(BITS))))


def test_an_archive_that_unpacks_to_too_much():
    data = written(np.savez_compressed, X=np.zeros((3000, 1000)))
    assert len(data) < 2**16
    with pytest.raises(LimitError, match="it unpacks to 24000128 bytes"):
        read_table(io.BytesIO(data), max_bytes=2**20)


def test_the_index_of_pandas_names_the_rows():
    frame = FRAME.set_index(pd.Index(["x", "y"], name="who"))
    for data in (written(lambda file: frame.to_parquet(file)), written(lambda file: frame.to_feather(file))):
        table = read_table(io.BytesIO(data))
        assert (table.names, table.row_names) == (("a", "b", "c"), ("x", "y"))
        assert table.codes.tolist() == BITS.tolist()


def test_answers_in_parquet():
    frame = pd.DataFrame({"who": ["x", "y", "z"], "q": pd.Categorical(["No", None, "Yes"]), "r": [True, False, None]})
    table = read_table(io.BytesIO(written(lambda file: frame.to_parquet(file))), encode="auto", missing="drop")
    assert table.codes.tolist() == [[0, 1]]
    assert (table.row_names, table.encoding) == (("x",), {"q": ("No", "Yes")})
    text = pd.DataFrame({"q": ["a", "", "b"], "r": ["n", "y", "?"]})
    table = read_table(io.BytesIO(written(lambda file: text.to_parquet(file))), encode="auto", missing="zero")
    assert table.codes.tolist() == [[0, 0], [0, 1], [1, 0]]


def test_texts_that_are_stored_as_bytes():
    frame = pa.table({"a": [b"Yes", b"No", None], "b": [1, 0, 1]})
    data = written(lambda file: parquet.write_table(frame, file))
    assert read_table(io.BytesIO(data), encode="auto", missing="drop").encoding == {"a": ("No", "Yes")}


def test_lists_in_cells():
    data = written(lambda file: pd.DataFrame({"a": [[0], [1]], "b": [0, 1]}).to_parquet(file))
    with pytest.raises(DataError, match=r"column 'a' holds list<.*, not single values"):
        read_table(io.BytesIO(data))


def test_many_row_groups():
    frame = pa.table({"a": np.arange(50_000) % 2, "b": np.ones(50_000, dtype=int)})
    data = written(lambda file: parquet.write_table(frame, file, row_group_size=7_000))
    assert read_table(io.BytesIO(data)).codes.sum() == 75_000
    assert len(data) < 100_000
    with pytest.raises(LimitError, match=r"max_bytes must be .* for the columns in memory of 8"):
        read_table(io.BytesIO(data), max_bytes=700_000)


SURVEY = pd.DataFrame(
    {
        "person": ["Ann", "Bob", "Eve", "Joe"],
        "votes": [1.0, 2.0, 2.0, 1.0],
        "smokes": [0.0, 1.0, 1.0, 0.0],
        "sings": [1.0, np.nan, 2.0, 2.0],
    }
)
LABELS = {"votes": {1: "Yes", 2: "No"}, "smokes": {0: "No", 1: "Yes"}, "sings": {1: "never", 2: "often"}}


@pytest.fixture(params=["sav", "zsav", "dta"])
def survey(request, tmp_path):
    path = tmp_path / f"survey.{request.param}"
    if request.param == "dta":
        pyreadstat.write_dta(SURVEY, path, variable_value_labels=LABELS)
    else:
        pyreadstat.write_sav(SURVEY, path, variable_value_labels=LABELS, compress=request.param == "zsav")
    return path


def test_labels_say_which_value_is_one(survey):
    table = read_table(survey, encode="auto", missing="drop")
    assert table.row_names == ("Ann", "Eve", "Joe")
    # Yes is 1 although its code is the smaller one; 0/1 stays; of "never" and "often" the smaller code is 0.
    assert table.encoding == {"votes": ("No", "Yes"), "sings": ("never", "often")}
    assert table.codes.tolist() == [[1, 0, 0], [0, 1, 1], [1, 0, 1]]


def test_values_can_be_mapped_by_their_labels(survey):
    table = read_table(survey, encode={"Yes": 1, "No": 0}, columns=["votes", "smokes"])
    assert table.codes.tolist() == [[1, 0], [0, 1], [0, 1], [1, 0]]


def test_without_instructions_the_error_shows_the_labels(survey):
    with pytest.raises(DataError, match=r"got 'No', 'Yes' in column 'votes' \(first in row 1\)"):
        read_table(survey)


def test_compressed_once_more(survey, tmp_path):
    packed = tmp_path / f"{survey.name}.gz"
    packed.write_bytes(gzip.compress(survey.read_bytes()))
    assert read_table(packed, columns=["smokes"]).codes.tolist() == [[0], [1], [1], [0]]


def test_limits_and_damage(survey):
    with pytest.raises(LimitError, match="max_rows"):
        read_table(survey, max_rows=3)
    with pytest.raises(LimitError, match="max_columns"):
        read_table(survey, max_columns=3)
    survey.write_bytes(survey.read_bytes()[:300])
    with pytest.raises(DataError, match=r"cannot read this (spss|stata) file"):
        read_table(survey)


def test_values_without_a_label_stay_numbers(tmp_path):
    path = tmp_path / "t.sav"
    frame = pd.DataFrame({"q": [1.0, 9.0, 2.0], "r": [0.0, 1.0, 1.0]})
    pyreadstat.write_sav(frame, path, variable_value_labels={"q": {1: "Yes", 2: "No"}})
    with pytest.raises(DataError, match="got 2, 9 in column 'q'"):
        read_table(path)
    assert read_table(path, encode={1: 1, 2: 0, 9: None, 0: 0}, missing="zero").codes.tolist() == [
        [1, 0],
        [0, 1],
        [0, 1],
    ]


@pytest.mark.parametrize("suffix", ["csv", "sav", "dta", "parquet"])
def test_row_names_and_groups_are_the_same_from_any_format(suffix, tmp_path):
    path = tmp_path / f"t.{suffix}"
    frame = pd.DataFrame({"case": [1001.0, 1002.0], "group": [1.0, 2.0], "a": [0.0, 1.0], "b": [1.0, 1.0]})
    if suffix == "csv":
        frame.astype(int).to_csv(path, index=False)
    elif suffix == "parquet":
        frame.to_parquet(path)
    else:
        getattr(pyreadstat, f"write_{suffix}")(frame, path)
    table = read_table(path, id_column="case", labels=["group"])
    assert table.row_names == ("1001", "1002")
    assert repr(table.labels["group"]) == "(1, 2)"


def test_labels_of_no_answer_that_never_occur_are_no_categories(tmp_path):
    path = tmp_path / "t.sav"
    frame = pd.DataFrame({"day": [1.0, 2.0, 3.0, 9.0], "mood": [1.0, 2.0, 3.0, 8.0]})
    labels = {1: "SUNDAY", 2: "MON   DAY", 3: "TUESDAY", 8: "REFUSED", 9: "MISSING"}
    missing = {"day": [{"lo": 9, "hi": 9}]}
    pyreadstat.write_sav(frame, path, variable_value_labels=dict.fromkeys(frame, labels), missing_ranges=missing)
    with pytest.warns(MeaningWarning, match="'mood': 'REFUSED' besides 'MON DAY', 'SUNDAY', 'TUESDAY'"):
        table = read_table(path, kinds="ordinal", missing="impute")
    days = ("SUNDAY", "MON DAY", "TUESDAY")
    assert table.variables.categories == (days, (*days, "REFUSED"))
    assert table.holes.sum() == 1


def test_dates_are_text(tmp_path):
    path = tmp_path / "t.sav"
    pyreadstat.write_sav(pd.DataFrame({"q": [0, 1], "day": [datetime.date(2020, 1, 2)] * 2}), path)
    with pytest.raises(DataError, match="got '2020-01-02' in column 'day'"):
        read_table(path)
    assert read_table(path, drop=["day"]).codes.tolist() == [[0], [1]]


def test_an_empty_survey(tmp_path):
    path = tmp_path / "t.sav"
    pyreadstat.write_sav(SURVEY[["smokes"]].iloc[:0], path)
    with pytest.raises(DataError, match="no rows"):
        read_table(path)


def workbook(*sheets):
    """Return an Excel file of sheets, each a name and rows."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets:
        page = book.create_sheet(name)
        for row in rows:
            page.append(row)
    return written(book.save)


def test_a_sheet_of_what_is_no_spreadsheet_is_refused():
    with pytest.raises(DataError, match="sheet must be left out for text files; got 'x'"):
        read_table(io.StringIO("a,b\n0,1\n1,0\n"), sheet="x")


def test_a_spreadsheet_is_read_like_text():
    rows = [["who", "a", "b", "w"], ["x", 1, "Yes", 1.5], ["y", 0, None, 2], ["z", 1, "No", 0.5]]
    data = workbook(("first", rows), ("second", [["a", "b"], [0, 1], [True, False]]))
    table = read_table(io.BytesIO(data), encode="auto", missing="zero", weights="w")
    assert (table.names, table.row_names, table.codes.tolist()) == (
        ("a", "b"),
        ("x", "y", "z"),
        [[1, 1], [0, 0], [1, 0]],
    )
    assert table.sample_weight.tolist() == [1.5, 2, 0.5]
    assert table.detected == {"sheet": "first", "header": "first line", "id_column": "who"}
    for sheet in ("second", 1):
        assert read_table(io.BytesIO(data), sheet=sheet).codes.tolist() == [[0, 1], [1, 0]]
    with pytest.raises(DataError, match=r"sheet must be a sheet of the file; got 'x'. The file has 'first', 'second'"):
        read_table(io.BytesIO(data), sheet="x")
    with pytest.raises(DataError, match=r"got one in column 'b' \(row 2, line 3"):
        read_table(io.BytesIO(data), encode={"Yes": 1, "No": 0}, weights="w")


def test_a_sheet_that_begins_further_down():
    data = workbook(("s", [[], [None, "a", "b"], [None, 0, 1], [None, 1, 7]]))
    with pytest.raises(DataError, match=r"got 7 in column 'b' \(first in row 2, line 4\)"):
        read_table(io.BytesIO(data))


def test_a_spreadsheet_of_two_cells_that_are_far_apart_takes_no_memory():
    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1048576"] = 0, 1
    with pytest.raises(LimitError, match="max_bytes"):
        read_table(io.BytesIO(written(book.save)), max_columns=10**6)


def test_an_empty_sheet():
    with pytest.raises(DataError, match="the sheet 'nothing' is empty"):
        read_table(io.BytesIO(workbook(("nothing", []))))


def test_missing_codes_of_a_survey_are_those_of_its_numbers_too(survey):
    labels = {**LABELS, "sings": {1: "never", 2: "often", 99: "no answer"}}
    frame = SURVEY.assign(sings=[1.0, 99.0, 2.0, 2.0])
    if survey.suffix == ".dta":
        pyreadstat.write_dta(frame, survey, variable_value_labels=labels)
    else:
        pyreadstat.write_sav(frame, survey, variable_value_labels=labels)
    for gone in ([99], ["no answer"], {"sings": ["99"]}):
        table = read_table(survey, na_values=gone, columns=["sings"], encode="auto", missing="drop")
        assert (table.codes[:, 0].tolist(), table.encoding) == ([0, 1, 1], {"sings": ("never", "often")})


@pytest.mark.parametrize("place", [0, 3, 99, 2**30, -1])
def test_value_labels_for_a_variable_that_an_spss_file_does_not_have(place, tmp_path):
    """The library ends the interpreter."""
    frame = pd.DataFrame({"who": ["a name of 20 letters"] * 3, "mood": [1.0, 2.0, 3.0]})  # three segments, then the 4th
    labels = {"mood": {1.0: "never", 2.0: "rarely", 3.0: "often"}}
    pyreadstat.write_sav(frame, str(tmp_path / "t.sav"), variable_value_labels=labels)
    assert read_table(tmp_path / "t.sav", drop=["who"], kinds="ordinal").variables.categories[0][0] == "never"
    data, named = (tmp_path / "t.sav").read_bytes(), struct.pack("<3i", 4, 1, 4)
    assert data.count(named) == 1
    (tmp_path / "t.sav").write_bytes(data.replace(named, struct.pack("<3i", 4, 1, place)))
    with pytest.raises(DataError, match="value labels for variables that do not exist"):
        read_table(tmp_path / "t.sav")


def test_labelled_texts_that_are_not_in_the_encoding_of_an_spss_file(tmp_path):
    """The library ends the interpreter."""
    frame = pd.DataFrame({"town": ["Bern", "Chur"], "q": [0.0, 1.0]})
    pyreadstat.write_sav(frame, str(tmp_path / "t.sav"), variable_value_labels={"town": {"Bern": "B", "Chur": "C"}})
    (tmp_path / "t.sav").write_bytes((tmp_path / "t.sav").read_bytes().replace(b"Chur    \1C", b"Ch\xfcr    \1C"))
    with pytest.raises(DataError, match="labeled texts that are not in UTF-8"):
        read_table(tmp_path / "t.sav", encode="auto")


@pytest.mark.parametrize("kind", ["csv", "feather", "parquet"])
def test_texts_mean_the_same_in_every_format(tmp_path, kind):
    rows = pd.DataFrame({"party": ["red", "blue", "green", "red"] * 10, "x": [0, 1, 1, 0] * 10})
    path = tmp_path / f"t.{kind}"
    rows.to_csv(path, index=False) if kind == "csv" else getattr(rows, f"to_{kind}")(path)
    with pytest.raises(DataError, match="column 'party'"):
        read_table(path)
    names = rows.assign(party=[f"name {k}" for k in range(40)])
    names.to_csv(path, index=False) if kind == "csv" else getattr(names, f"to_{kind}")(path)
    assert read_table(path, guess=True, id_column=None).names == ("x",)
    if kind != "csv":
        declared = rows.assign(party=pd.Categorical(rows.party))
        getattr(declared, f"to_{kind}")(path)
        assert read_table(path).variables.kinds == ("nominal", "binary")


def test_numbers_of_a_sheet_stay_numbers_beside_texts_with_a_decimal_comma(tmp_path):
    rows = [(f"{k},5", k + 0.5, f"{k},5" if k % 2 else k + 0.5) for k in range(1, 9)] * 3
    path = tmp_path / "t.xlsx"
    pd.DataFrame(rows, columns=list("abc")).to_excel(path, index=False)
    table = read_table(path, kinds="ordinal", decimal=",")
    assert set(table.variables.categories) == {tuple(k + 0.5 for k in range(1, 9))}


def test_labels_of_text_codes_have_no_order(tmp_path):
    frame = pd.DataFrame({"state": ["NY", "CA", "TX"] * 20, "mood": [1.0, 2.0, 3.0] * 20, "b": [0.0, 1.0] * 30})
    labels = {
        "state": {"NY": "New York", "CA": "California", "TX": "Texas"},
        "mood": {1: "low", 2: "middle", 3: "high"},
    }
    pyreadstat.write_sav(frame, tmp_path / "t.sav", variable_value_labels=labels)
    table = read_table(tmp_path / "t.sav", guess=True)
    assert table.variables.kinds == ("nominal", "ordinal", "binary")
    assert set(table.variables.categories[0]) == {"New York", "California", "Texas"}


def test_options_that_a_format_has_no_use_for_are_refused(tmp_path):
    frame = pd.DataFrame({"a": [0, 1, 1], "b": [1, 0, 1]})
    np.save(tmp_path / "t.npy", frame.to_numpy())
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_stata(tmp_path / "t.dta", write_index=False)
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    options = {"delimiter": "tab", "encoding": "cp1252", "header": True, "decimal": ",", "sheet": 0}
    for path in tmp_path.iterdir():
        for name, value in options.items():
            if path.suffix == ".xlsx" and name in ("header", "decimal", "sheet"):
                assert len(read_table(path, **{name: value})) == 3
                continue
            with pytest.raises(DataError, match=rf"{name} must be left out for \w+ files; got"):
                read_table(path, **{name: value})
        table = read_table(path)
        assert read_table(path, encode=table.coding, **options | {"sheet": None}).codes.tolist() == table.codes.tolist()
    with pytest.raises(DataError, match=r"sheet must be a name, or a number from 0; got True"):
        read_table(tmp_path / "t.xlsx", sheet=True)
