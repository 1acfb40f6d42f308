"""What can be done to a table before it is read, whatever it came in; headers and row names by stated rules."""

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from isinglass import as_table, read_table
from isinglass.data.containers import open_source
from isinglass.data.files.documents import Limits
from isinglass.data.files.header import find_row_names, lay_out
from isinglass.data.files.text import find_delimiter, read_records
from isinglass.data.meaning.conversion import convert_source
from isinglass.data.options import ReadOptions
from isinglass.errors import DataError

BITS = np.array([[0, 1, 1, 0], [1, 0, 1, 1], [0, 0, 1, 0]])
NAMES = ["a", "b", "c", "d"]


def sheet_of(table):
    return open_source(table).of_file()


def text_sheet(table):
    text = "\n".join([",".join(NAMES), *[",".join(map(str, row)) for row in table]])
    return lay_out(read_records(text.encode(), ",", Limits()), True)


KINDS = {
    "text": text_sheet,
    "array": sheet_of,
    "sparse": lambda table: sheet_of(sparse.csr_array(table)),
    "frame": lambda table: sheet_of(pd.DataFrame(table, columns=NAMES)),
    "mixed": lambda table: sheet_of(pd.DataFrame(table, columns=NAMES).astype({"b": "Int64", "d": object})),
}


def read(sheet, **options):
    return convert_source(sheet, ReadOptions(**options))


@pytest.mark.parametrize("kind", KINDS)
def test_columns(kind):
    sheet = KINDS[kind](BITS)
    assert read(sheet).codes.tolist() == BITS.tolist()
    assert read(sheet.take([2, 0])).codes.tolist() == BITS[:, [2, 0]].tolist()
    assert read(sheet.without(1)).codes.tolist() == BITS[:, [0, 2, 3]].tolist()
    assert read(sheet.take([3, 2, 1]).take([0, 2])).codes.tolist() == BITS[:, [3, 1]].tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_that_stand_for_missing_cells(kind):
    table = np.where(BITS == 0, -9, BITS)
    raw = KINDS[kind](table)
    sheet = raw.mark_missing(dict.fromkeys(range(raw.shape[1]), (-9,)))
    result = read(sheet, missing="zero")
    assert result.codes.tolist() == BITS.tolist()
    assert result.n_missing == 6
    assert read(sheet, missing="zero", encode={1: 0}).codes.tolist() == np.zeros_like(BITS).tolist()


def test_names_go_with_their_columns():
    sheet = KINDS["frame"](BITS)
    sheet = replace(sheet.without(0), row_names=list(map(str, sheet.column(0).as_given)))
    assert (sheet.names, sheet.row_names) == (["b", "c", "d"], ["0", "1", "0"])


def test_finding_columns():
    sheet = text_sheet(BITS)
    assert [sheet.origin.find(key, "drop") for key in ("c", 2, -2, np.int64(2))] == [2, 2, 2, 2]
    with pytest.raises(DataError, match=r"drop must name a column of the table; got 'z'\. The table has 'a', 'b'"):
        sheet.origin.find("z", "drop")
    with pytest.raises(DataError, match=r"got 'gendr'\. Did you mean 'gender'\?"):
        replace(sheet, names=["age", "gender", "c", "d"]).origin.find("gendr", "groups")
    with pytest.raises(DataError, match="drop must name a column of the table, which has 4; got number 4"):
        sheet.origin.find(4, "drop")
    with pytest.raises(DataError, match=r"got 'a'\. The table has no names"):
        sheet_of(BITS).origin.find("a", "drop")
    with pytest.raises(DataError, match="must leave at least one column"):
        sheet.take([])


@pytest.mark.parametrize("kinds", [{"q1": "nominal", "q*": "ordinal"}, {"q*": "ordinal", "q1": "nominal"}])
def test_an_exact_name_goes_before_a_range_or_pattern(kinds):
    frame = pd.DataFrame(np.arange(60).reshape(20, 3) % 5, columns=["q1", "q2", "r"])
    more = {"r": "nominal"}
    assert as_table(frame, kinds=kinds | more).variables.kinds == ("nominal", "ordinal", "nominal")
    in_range = {key.replace("q*", "q1:q2"): kind for key, kind in kinds.items()}
    assert as_table(frame, kinds=in_range | more).variables.kinds == ("nominal", "ordinal", "nominal")


def test_different_entries_of_one_rank_are_refused():
    frame = pd.DataFrame(np.arange(60).reshape(20, 3) % 5, columns=["q1", "q2", "r"])
    with pytest.raises(DataError, match=r"'q1' must have one kind; got 'q\*': 'ordinal' and '\*1': 'nominal'"):
        as_table(frame, kinds={"q*": "ordinal", "*1": "nominal", "r": "nominal"})
    with pytest.raises(DataError, match="column 'q1' must have one kind; got 'q1': 'ordinal' and 0: 'nominal'"):
        as_table(frame, kinds={"q1": "ordinal", 0: "nominal"})
    with pytest.raises(DataError, match=r"must have one entry in na_values; got 'q\*': \(0,\) and 'q1:q2': \(1,\)"):
        as_table(frame, kinds="ordinal", na_values={"q*": 0, "q1:q2": 1})
    agreed = as_table(frame, kinds={"q*": "ordinal", "*1": "ordinal", "q2": "nominal", 1: "nominal", "r": "nominal"})
    assert agreed.variables.kinds == ("ordinal", "nominal", "nominal")


def test_messages_count_columns_as_the_file_does():
    text = "".join(f"{','.join(map(str, row))}\n" for row in BITS * 3)
    for options in ({"id_column": 0}, {"drop": [0]}):
        with pytest.raises(DataError, match=r"got 3 in column 2 of the file \(first in row 1, line 1\)"):
            read_table(io.StringIO(text), header=False, **options)


def test_a_repeated_name_is_dropped_by_its_number():
    text = "id,a,b,a\n" + "x,0,1,1\ny,1,1,0\n"
    with pytest.raises(DataError, match=r"got 'a' twice\. Rename a column, or use drop=\[2\]"):
        read_table(io.StringIO(text))
    assert read_table(io.StringIO(text), drop=[2]).names == ("a", "b")


def sheet_of_text(text, header="auto"):
    data = text.encode()
    return lay_out(read_records(data, find_delimiter(data), Limits()), header)


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("a,b\n0,1\n", ["a", "b"]),
        ("0,1\n1,1\n", None),
        ("Q1,Q2\nYes,No\nNo,No\n", ["Q1", "Q2"]),
        ("Yes,No\nNo,No\nYes,Yes\n", None),  # its words come again below
        ("a,b\nc,a\nd,c\nc,c\n", ["a", "b"]),
        ("who,a,b,c\na,0,1,1\nb,1,0,1\nc,1,1,0\n", ["who", "a", "b", "c"]),  # row names may be those of the columns
        (",a,b\na,0,1\nb,1,0\n", ["", "a", "b"]),
        ("a,,\n0,1,0\n0,1,1\n", ["a", "", ""]),
        (",,\n0,1,1\n", None),
        ("r1,0,1\nr2,1,1\n", None),  # the first column may hold row names
        ("who,a,b\nr1,0,1\nr2,1,1\n", ["who", "a", "b"]),
        ("1,2,3\n0,1,1\n1,1,0\n", None),
        ("0.3,1.5\n0.1,2.5\n", None),  # numbers to be cut
        ("2,3\n3,2\n", None),
        (",a\n0,1\n1,0\n", ["", "a"]),
        ("NA,1\n1,0\n", None),
        ("id,b,c,Yes\n0,1,1,Yes\n1,1,0,No\n", ["id", "b", "c", "Yes"]),  # row names have a header
        ("a\n0\n1\n", ["a"]),
        ("TRUE,FALSE\nFALSE,TRUE\n", None),
        ('"  a\n b ",c\n0,1\n', ["a b", "c"]),
        ("a b\nr1 0 1\nr2 1 1\n", ["", "a", "b"]),
    ],
)
def test_header(text, header):
    assert sheet_of_text(text).names == header


def test_the_remedy_for_years_that_are_names_is_said():
    with pytest.raises(
        DataError, match=r"got 1990 in column 2 .* If the first line names the columns, use header=True"
    ):
        read_table(io.StringIO("country,1990,1991\nChad,0,1\nPeru,1,1\nMali,1,0\n"))


@pytest.mark.parametrize("text", ["Ann,Yes,No\nBob,No,Yes\nEve,Yes,Yes\nJon,No,No\n", "a,Yes\n0,Yes\n1,No\n"])
def test_a_first_line_that_may_be_a_header_or_a_row_is_refused(text):
    with pytest.raises(DataError, match=r"got '(Yes|No)', which occurs again .* Pass header=True .*header=False if"):
        read_table(io.StringIO(text), encode="auto")
    n_rows = text.count("\n")
    assert [sheet_of_text(text, header=each).shape[0] for each in (True, False)] == [n_rows - 1, n_rows]


def test_header_can_be_said():
    assert sheet_of_text("0,1\n1,1\n", header=True).names == ["0", "1"]
    sheet = sheet_of_text("a,b\n0,1\n", header=False)
    assert sheet.names is None
    assert sheet.column(0).as_given.tolist() == ["a", "0"]
    assert sheet.describe_row(1) == "row 2, line 2"
    assert sheet_of_text("a,b\n0,1\n").describe_row(0) == "row 1, line 2"


def test_a_header_without_rows():
    for text in ("a,b\n", "a,b"):
        with pytest.raises(DataError, match=r"the file has a header and no rows\. Pass header=False"):
            sheet_of_text(text)
    assert sheet_of_text("0,1").shape == (1, 2)


def test_trailing_delimiters():
    assert sheet_of_text("a,b,\n0,1,\n1,0,\n").names == ["a", "b"]
    assert sheet_of_text("0,1,\n1,0,\n").shape == (2, 2)
    assert sheet_of_text("a,b,\n0,1,\n1,0,1\n").names == ["a", "b", ""]  # it holds something
    assert sheet_of_text("a,b,c\n0,1,\n1,0,\n").names == ["a", "b", "c"]  # it has a name


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (",a\n0,1\n1,0\n", 0),
        ("id,a\n0,1\n1,0\n", 0),
        ("ID,a\n5,1\n5,0\n", 0),
        ("who,a\nx,1\ny,0\nz,0\n", 0),
        ("who,a\nx,1\ny,0\n", None),  # two values could be data
        ("who,a\nx,1\ny,0\nx,0\n", None),  # not all different
        ("who,a\nx,1\nNA,0\nz,0\n", None),
        ("nr,a\n11,1\n12,0\n13,1\n", None),  # numbers may be data
        ("x1,x2\n0.1,1\n0.2,0\n0.3,1\n", None),
        ("a,who\n1,x\n0,y\n0,z\n", None),  # only the first column is looked at
        ("who\nx\ny\nz\n", None),  # nothing would be left
        ("a b\nr1 0 1\nr2 1 1\n", 0),
        ("price,a\n1.5,1\n2.7,0\n>10,1\n", None),  # numbers, one of which cannot be read
        ("end,a\n7,1\n9,0\ninf,1\n", None),
        ('price,a\n"1,243",1\n"2,100",0\n"3,917",1\n', None),
        ("who,a\n7,1\nx,0\ny,1\n", 0),
    ],
)
def test_row_names(text, found):
    assert find_row_names(sheet_of_text(text), ReadOptions()) == found


@pytest.mark.parametrize(
    ("labels", "key", "place"),
    [((1, 2, 3), 1, 0), ((2019, 2020, 2021), 2020, 1), ((2019, 2020, 2021), 2, 2), ((2, 0, 1), 0, 1)],
)
def test_a_number_is_the_label_of_a_column_before_its_place(labels, key, place):
    cells = np.tile([[0], [1], [2]], (1, 3))
    frame = pd.DataFrame(cells, columns=labels)
    kinds = as_table(frame, kinds={key: "nominal"}, binarize={str(each): 0 for each in labels if each != labels[place]})
    assert kinds.variables.kinds.index("nominal") == place
    missing = as_table(frame, kinds="ordinal", na_values={key: [0]}, missing="impute")
    assert missing.holes.any(axis=0).tolist() == [j == place for j in range(3)]
    again = as_table(frame, encode=as_table(frame, kinds="ordinal").coding, na_values={key: [0]}, missing="impute")
    np.testing.assert_array_equal(again.holes, missing.holes)
    renamed = as_table(frame, names=list("abc"), kinds="ordinal", na_values={0: [0]}, missing="impute")
    assert renamed.holes.any(axis=0).tolist() == [True, False, False]
