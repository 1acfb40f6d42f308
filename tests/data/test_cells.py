import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isinglass import read_table
from isinglass.data.column import BLANKS
from isinglass.data.files.header import find_decimal
from isinglass.data.files.read_table import open_file
from isinglass.data.meaning.recognition import other_decimal
from isinglass.data.meaning.values import is_among, read_cell, spell_out
from isinglass.data.options import ReadOptions
from isinglass.errors import DataError


def read_word(word, missing=BLANKS, decimal="."):
    """Return what a word stands for, None for a missing cell."""
    value = read_cell(word, decimal)
    return None if value in missing else value


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("0", 0), ("1", 1), (" 1 ", 1), ("1.0", 1), ("+1", 1), ("1e0", 1), (".5", 0.5), ("-1", -1), ("007", 7),
        ("9007199254740993", 2**53 + 1), ("-9007199254740993", -(2**53) - 1), ("1e16", 1e16), ("0" * 5000 + "7", 7),
        ("TRUE", True), ("False", False), ("true", True),
        ("Yes", "Yes"), ("None", "None"), ("T", "T"), ("-9", -9), ("1_0", "1_0"), ("0x1", "0x1"), ("inf", "inf"),
        ("1e", "1e"), ("-", "-"), ("--1", "--1"), ("1,0", "1,0"), ("١", "١"),
        *((word, None) for word in sorted(BLANKS)), ("  ", None), (" NA ", None),
    ],
)  # fmt: skip
def test_words(word, value):
    read = read_word(word)
    assert read == value
    assert type(read) is type(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_that_python_writes_is_read_back(number):
    assert read_word(repr(number)) == number


@given(st.text())
def test_nothing_breaks_it(word):
    value = read_word(word)
    assert value is None or isinstance(value, bool | int | float) or value == word.strip()


def test_more_spellings():
    spelled = spell_out([-9, "refused", "99"])
    assert all(is_among(value, spelled) for value in (-9.0, 99, " refused", "99", "-9", np.int8(99)))
    assert not any(is_among(value, spelled) for value in (1, "9", "Refused", "", None))
    words = ("-9", "-9.0", "refused", "99.00", "NA", "9")
    assert [read_word(word, BLANKS | spelled) for word in words] == [None] * 5 + [9]
    assert ReadOptions(na_values="refused").na_values == ("refused",)


@pytest.mark.parametrize("encode", [{"?": 1, "n": 0}, {"b": {"?": 1, "n": 0}}])
def test_what_encode_names_is_not_missing(encode):
    table = read_table(io.StringIO("a,b\n1,?\n0,n\n1,?\n"), encode=encode)
    assert table.codes.tolist() == [[1, 1], [0, 0], [1, 1]]


def test_words_in_encode_are_read_like_cells():
    numbers, words = {"1": 0, "2": 1}, {"x": None, "y": 1, "z": 0}
    for encode in ({**numbers, **words}, {"a": numbers, "b": words}):
        table = read_table(io.StringIO("a,b\n1,x\n2,y\n1,z\n"), encode=encode, missing="zero")
        assert table.codes.tolist() == [[0, 0], [1, 1], [0, 0]]


def test_decimal_commas():
    assert [read_word(word, decimal=",") for word in ("1,5", "-,5", "2", "1.5", "1,5e1", "1,2,3")] == [
        1.5,
        -0.5,
        2,
        "1.5",
        15,
        "1,2,3",
    ]
    assert find_decimal([["0", "1"], ["a", "1,5"], ["1", "2,5", "NA"]]) == ","
    assert find_decimal([["0", "1"], ["a", "1,5"], ["1,2,3", "1,2"]]) == "."
    assert find_decimal([["950", "1,200", "NA"], ["0,125", "3"]]) == ","


def test_thousands_are_not_read_as_decimals():
    text = "a\tb\tc\n" + "950\t1.5\t0\n1,200\t2.5\t1\n2,500\t3.5\t0\n3,100\t4.5\t1\n" * 10
    assert read_table(io.StringIO(text), guess=True).names == ("b", "c")
    assert read_table(io.StringIO(text), guess=True, decimal=",").names == ("a", "c")
    with pytest.raises(DataError, match="marks that group thousands have to be removed"):
        read_table(io.StringIO(text), kinds={"a": "ordinal"})


@pytest.mark.parametrize("first", ["None,0", "some,1", "many,0"])
def test_the_first_row_is_read_as_the_others_are(first):
    rows = [first, *(row for row in ("None,0", "some,1", "many,0") if row != first)]
    table = read_table(io.StringIO("\n".join(rows)), header=False, id_column=None, kinds={0: "nominal"})
    assert table.variables.categories[0] == ("None", "many", "some")
    assert [table.variables.categories[0][code] for code in table.codes[:, 0]] == [row.split(",")[0] for row in rows]


def test_the_only_word_of_a_column_in_the_first_row():
    table = read_table(io.StringIO("some,1\nNone,0\nNone,1"), header=False, encode={0: ("None", "some")})
    assert table.codes.tolist() == [[1, 1], [0, 0], [0, 1]]
    auto = read_table(io.StringIO("some,1\nNone,0\nNone,1"), header=False, encode="auto")
    assert set(auto.coding.columns[0].entries) == {"None", "some"}


@pytest.mark.parametrize(
    "header",
    [
        "rownames,Card,Ad,None",  # words for cells and for missing ones
        "kind,Card,Ad,Joke",  # indicators of the categories of the first column
    ],
)
def test_a_header_is_one_whatever_words_are_below(header):
    words = ("Card", "Ad", "Joke")
    rows = [f"{words[k % 3]},{int(k % 3 == 0)},{int(k % 3 == 1)},{int(k % 3 == 2)}" for k in range(12)]
    if header.startswith("rownames"):
        rows = [f"{k},{words[k % 3]},{10 * k},{words[(k // 3) % 3]}" for k in range(12)]
    table = read_table(io.StringIO("\n".join([header, *rows])), guess=True)
    assert len(table) == 12
    assert set(table.names) <= set(header.split(","))


def test_a_row_of_texts_and_decimals_is_not_a_header():
    rows = [f"{k % 3},school {k},{k}.25,{k * k}" for k in range(1, 30)]
    table = read_table(io.StringIO("\n".join(rows)), guess=True)
    assert (len(table), table.detected["header"]) == (29, "none")


@pytest.mark.parametrize(
    ("lines", "has_header"),
    [
        (["1,Bay,351,605", "2,Beaufort,95,134", "3,Brown,7,12"], False),  # rows are counted
        (["A1,Portugal,12,7737,3330", "A2,Vizca,14,6567,1937", "A3,Castilla,14,8714,2458"], False),
        (["country,code,population", "Chad,TD,745", "Peru,PE,377", "Mali,ML,21"], True),
        (["Chad,TD,745", "Peru,PE,377", "Mali,ML,21"], False),
        (["id,1999,2000", "Chad,745,2666", "Chad,377,804", "Mali,21,13"], True),
        (["1,2,3", "4,5,6", "7,8,9", "10,11,12"], False),
        (["country,1999,2000", "Chad,745,2666", "Peru,377,804", "Mali,21,13"], False),  # as documented
        ([",0,1,2,3", "0,1,2,3,2", "1,3,0,1,2", "2,0,1,2,3"], True),  # each of them occurs below
        ([",1,2,3,4", "Ann,1,2,3,4", "Ann,4,1,2,2", "Cy,2,3,1,4"], False),  # no row names
        (["yes,no,NA", "no,yes,yes", "yes,no,no"], False),
        (["TRUE,rain", "FALSE,snow"], False),
        ([",NA,.", "a,b,c"], False),
    ],
)
def test_the_first_record_is_a_header_or_a_row(lines, has_header):
    source = open_file(io.StringIO("\n".join(lines)), ReadOptions(id_column=None))
    assert source.layout.has_header == has_header


@pytest.mark.parametrize(
    ("pattern", "names_rows"),
    [
        ("${},886", False),
        ("{},5 €", False),
        ("{}.855,4", False),
        ("{}%", False),
        ("1.{}.000", False),
        ("31.12.2{}", True),  # dates
        ("{}.1.2", True),
        ("{}a", True),
    ],
)
def test_amounts_do_not_name_the_rows(pattern, names_rows):
    rows = [f"{pattern.format(100 + 7 * k % 60)};{k % 2};{k % 3 % 2}" for k in range(60)]
    source = open_file(io.StringIO("\n".join(["a;b;c", *rows])), ReadOptions())
    assert (source.detected.get("id_column") == "a") == names_rows


def test_numbers_with_another_decimal_separator_are_found():
    assert [other_decimal(["x", "0,5"]), other_decimal(["1.5"], ","), other_decimal(["1.5"])] == ["0,5", "1.5", None]


def test_a_word_for_missing_cells_of_one_column_hides_no_decimal_comma():
    weights = ["k.A." if k % 10 == 0 else f"{50 + k % 17},5" for k in range(80)]
    text = "age;kg;x\n" + "".join(f"{20 + k % 30};{word};{k % 2}\n" for k, word in enumerate(weights))
    for words in (["k.A."], {"kg": ["k.A."]}, {"kg": "k.A.", None: [99]}):
        table = read_table(io.StringIO(text), guess=True, na_values=words, missing="impute")
        assert dict(zip(table.names, table.variables.kinds, strict=True))["kg"] == "continuous"


@pytest.mark.parametrize("names", [["0"], ["0", "1"], ["0", "1", "2"], ["1990", "1995", "1998"], ["16.5", "17.75"]])
@pytest.mark.parametrize("highest", [1, 5, 99])
def test_numbers_below_an_empty_corner_name_the_columns(names, highest):
    cells = np.random.default_rng(0).integers(0, highest, (40, len(names)), endpoint=True)
    table = read_table(io.StringIO(pd.DataFrame(cells, columns=names).to_csv()), guess=True)
    assert (table.names, len(table), table.row_names[-1]) == (tuple(names), 40, "39")


def test_a_row_whose_first_cell_is_missing_is_no_header():
    for text in (",1,2\n1,1,2\n2,2,1\n2,1,1\n", ",1,2\n1,1,2\n,2,1\n3,1,1\n", ",2,2\n1,1,2\n2,2,1\n3,1,1\n"):
        assert open_file(io.StringIO(text), ReadOptions(id_column=None)).shape == (4, 3)


def test_a_header_with_one_name_too_few_has_row_names_below_it_or_is_refused():
    named = read_table(io.StringIO("rain,snow\nAnn,0,1\nBob,1,1\nEve,1,0\n"))
    assert named.names == ("rain", "snow")
    assert named.row_names == ("Ann", "Bob", "Eve")
    ended = read_table(io.StringIO("a,b\n1,0,\n0,1,\n1,1,\n"))  # lines end with a delimiter
    assert ended.names == ("a", "b")
    assert ended.codes.tolist() == [[1, 0], [0, 1], [1, 1]]
    with pytest.raises(DataError, match=r"got 3 names above 4 fields, of which the first does not differ"):
        read_table(io.StringIO("rain,snow,hail\n1,0,0,1\n0,1,1,1\n1,1,0,0\n"))
    with pytest.raises(DataError, match=r"got 1 name above 2 fields.*or pass delimiter if something else separates"):
        read_table(io.StringIO("drink\n" + "green tea\nblack coffee\n" * 5), encode="auto")
    with pytest.raises(DataError, match="got 2 names above 3 fields"):
        read_table(io.StringIO("a,b\nAnn,0,1\n,1,1\nEve,1,0\n"))  # a row without name
