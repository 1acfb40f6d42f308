"""Delimiters and records of delimited text; the fast paths equal the slow one, bit for bit, or stand aside."""

import csv
import io
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isinglass.data import files as reader
from isinglass.data.documents import Limits
from isinglass.data.text import find_delimiter, read_named_rows, read_records, read_uniform, to_utf8
from isinglass.errors import DataError, LimitError


def rows_of(records):
    return [records.first, *[[records.words[code] for code in row] for row in records.codes]]


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b\n0,1\n", ","),
        ("a\tb\n0\t1\n", "\t"),
        ("a;b\n0;1\n", ";"),
        ("a|b\n0|1\n", "|"),
        ("a b\n0 1\n", " "),
        ("a   b\n0 \t 1\n", " "),
        ("a x,b\n0,1\n", ","),
        ("a\n0\n1\n", ","),
        ("01\n10\n", ""),
        ("0?1\n1.0\n", ""),
        ("012\n102\n", ","),
        ("01\n1\n", ","),
        ('"a,b";c\n0;1\n', ";"),
        ('"a;b";"c;d"\n0;1\n1;0\n', ";"),
        ("a,b\n0,1\n1,0,1\n", ","),  # one ragged row does not hide the delimiter
        ("a b\nr1 0 1\nr2 1 1\n", " "),  # R leaves the corner out
        ("a,b,c;d\n0,1,0;1\n", ","),
    ],
)
def test_delimiters(text, delimiter):
    assert find_delimiter(text.encode()) == delimiter


cells = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\x00"), max_size=4)


@given(st.integers(2, 4).flatmap(lambda p: st.lists(st.lists(cells, min_size=p, max_size=p), min_size=1)))
def test_whatever_the_csv_module_writes_is_read_back(rows):
    rows = [row if row[0].strip() else ["x", *row[1:]] for row in rows]
    for delimiter in ",;\t|":
        for end in ("\n", "\r\n"):
            file = io.StringIO(newline="")
            csv.writer(file, delimiter=delimiter, lineterminator=end).writerows(rows)
            assert rows_of(read_records(file.getvalue().encode(), delimiter, Limits())) == rows


def test_quotes_newlines_and_line_numbers():
    text = 'a,"b ""x"""\r\n\r\n0,"1\n2"\r\n   \r\n3,4'
    records = read_records(text.encode(), ",", Limits())
    assert rows_of(records) == [["a", 'b "x"'], ["0", "1\n2"], ["3", "4"]]
    assert [records.line_of(i) for i in range(3)] == [1, 4, 6]


def test_blank_lines_of_one_column():
    assert rows_of(read_records(b'a\n\n0\n""\n1\n', ",", Limits())) == [["a"], ["0"], [""], ["1"]]


def test_old_line_ends():
    assert rows_of(read_records(b"a,b\r0,1\r", ",", Limits())) == [["a", "b"], ["0", "1"]]


def test_the_corner_that_r_leaves_out():
    records = read_records(b'"a" "b"\n"r 1" 0 1\n', " ", Limits())
    assert records.first == ["a", "b"]
    assert records.codes.shape == (1, 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\x1f\n\x1f", "the file must be a table; got only blank lines"),
        ("a,b\n0,1\n0\n", r"rows must have equal length; got 1 field\(s\) in line 3, where 2 are expected"),
        ("a,b\n0,1\n0,1,1\n", r"got 3 field\(s\) in line 3"),
        ("a,b\n0,1,1,1\n", r"got 4 field\(s\) in line 2, where 2"),
        ('a,b\n0,"1"x\n', "broken field in line 2"),
        ('a,b\n0,"1\n', "broken field in line 2: unexpected end of data"),
        (f"a,b\n0,{'x' * 200_000}\n", "broken field in line 2: field larger than field limit"),
    ],
)
def test_broken_text(text, message):
    with pytest.raises(DataError, match=message):
        read_records(text.encode(), ",", Limits())


def test_wrong_encoding_names_the_line():
    text = ("a,b\n" + "0,1\n" * 50_000 + "0,é\n").encode("latin-1")
    with pytest.raises(DataError, match=r"line 50002 holds the byte 0xe9.*encoding=\"cp1252\""):
        read_records(text, ",", Limits())


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16", "utf-16-le", "cp1252", "UTF_8"])
def test_encodings(encoding):
    assert to_utf8("é,b\n".encode(encoding), encoding, Limits()) == "é,b\n".encode()


@pytest.mark.parametrize(
    ("data", "encoding", "message"),
    [
        ("a".encode("utf-16"), "utf-8", r'starts like utf-16. Pass encoding="utf-16"'),
        (b"a\x00b", "utf-8", "got NUL bytes"),
        (b"a", "klingon", "a text encoding that Python knows; got 'klingon'"),
        (b"a", None, "encoding must be the name of a text encoding; got None"),
        (b"\xff\xfe\x00", "utf-16", "that of the file; got 'utf-16': .*truncated"),
        (b"a,b", "hex", "encoding must be"),
    ],
)
def test_bad_encodings(data, encoding, message):
    with pytest.raises(DataError, match=message):
        to_utf8(data, encoding, Limits())


def test_limits_hold_while_reading():
    with pytest.raises(LimitError, match="max_rows"):
        read_records(b"a,b\n" + b"0,1\n" * 9, ",", Limits(max_rows=8))
    with pytest.raises(LimitError, match="max_columns"):
        read_records(b"a,b,c\n", ",", Limits(max_columns=2))


def test_codes_are_small():
    records = read_records(b"a,b\n" + b"no,yes\n" * 100, ",", Limits())
    assert records.codes.dtype == np.int32
    assert records.words == ["no", "yes"]


@st.composite
def texts(draw):
    """Return text that is nearly always a rectangle of single characters."""
    n_rows, n_columns = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    characters = draw(st.sampled_from(["01", "01?", "01. ", 'yn"', "01\u00e9", "0,;\t", "01\r"]))
    cell = st.sampled_from(characters)
    delimiter = draw(st.sampled_from([",", ";", "\t", " ", "|", ""]))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    names = draw(
        st.sampled_from([[""], ["r1", "r20"], ['"r1"', '"r20"'], ['"r,1"', "x"], ['"r""1"'], ["é"], ["", " "]])
    )
    lines = [
        delimiter.join([name] * (names != [""]) + draw(st.lists(cell, min_size=n_columns, max_size=n_columns)))
        for name in (names * n_rows)[:n_rows]
    ]
    header = draw(st.sampled_from([[], [delimiter.join(f"q{j}" for j in range(n_columns))], ['"a"'], [""]]))
    text = end.join([*header, *lines]) + draw(st.sampled_from(["", end, end + end, end + " " + end]))
    position = draw(st.integers(0, len(text)))
    return (text[:position] + draw(st.sampled_from(["", "", "", "\n", "x", ","])) + text[position:]).encode(), delimiter


@pytest.mark.parametrize("read", [read_uniform, read_named_rows])
@given(texts())
def test_it_reads_what_the_slow_path_reads_or_stands_aside(read, case):
    data, delimiter = case
    try:
        fast = read(data, delimiter, Limits())
    except DataError as error:  # a broken header: the slow path says the same
        with pytest.raises(DataError, match=re.escape(str(error))):
            read_records(data, delimiter, Limits())
        return
    if fast is not None:
        slow = read_records(data, delimiter, Limits())
        assert rows_of(fast) == rows_of(slow)
        n_records = len(fast.codes) + 1
        assert [fast.line_of(i) for i in range(n_records)] == [slow.line_of(i) for i in range(n_records)]


def sample(end, header, names):
    cells = np.random.default_rng(0).choice(list("01?"), size=(40, 7))
    lines = [",".join([f"name {i}"] * names + list(row)) for i, row in enumerate(cells)]
    return end.join([",".join([""] * names + [f"q {j}" for j in range(7)])] * header + lines).encode() + end.encode()


@pytest.mark.filterwarnings("ignore:missing=:isinglass.errors.DataWarning")  # most cells are missing, on purpose
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("header", [False, True])
@pytest.mark.parametrize("names", [False, True])
@pytest.mark.parametrize("encode", [None, {"0": 1, "1": 0}, "auto"])
def test_it_is_taken_and_the_tables_agree(end, header, names, encode, tmp_path, monkeypatch):
    data = sample(end, header, names)
    path = tmp_path / "t.csv"
    path.write_bytes(data)
    assert (read_uniform(data, ",", Limits()) is None) == names
    assert not names or read_named_rows(data, ",", Limits()) is not None
    fast = reader.read_table(path, missing="zero", encode=encode)
    monkeypatch.setattr(reader, "read_uniform", lambda *args: None)
    monkeypatch.setattr(reader, "read_named_rows", lambda *args: None)
    slow = reader.read_table(path, missing="zero", encode=encode)
    assert fast.X.tobytes() == slow.X.tobytes()
    assert (fast.names, fast.row_names) == (slow.names, slow.row_names)
    assert (fast.row_names is not None) == names
    assert fast.n_missing == slow.n_missing > 0


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b\n0,1\n10,1\n", ","),
        ("a,b\n0,\n1,1\n", ","),
        ('a,b\n0,"\n1,1\n', ","),
        ('"a\n0,1\n1,1\n', ","),
        ("a,b\n0,é\n", ","),
        ("a b\n0   1\n", " "),
        ("a,b\n0;1\n", ","),
        ("a,b,c\n0,1\n", ","),
        ("0,1", ","),
        ("a,b\r0,1\r", ","),
        ("a\n\n", ","),
    ],
)
def test_it_stands_aside(text, delimiter):
    assert read_uniform(text.encode(), delimiter, Limits()) is None


def test_limits_hold():
    with pytest.raises(LimitError, match="max_rows"):
        read_uniform(b"a,b\n" + b"0,1\n" * 9, ",", Limits(max_rows=8))
