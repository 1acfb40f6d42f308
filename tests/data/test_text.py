"""Delimiters, comments and records of delimited text."""

import csv
import io

import numpy as np
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isinglass import read_table
from isinglass._core import Words
from isinglass.data.files.documents import Limits, to_utf8
from isinglass.data.files.text import _add_words, _split_columns, find_delimiter, read_records, separate, split
from isinglass.errors import DataError, LimitError


def read(text, delimiter, **limits):
    data = to_utf8(text if isinstance(text, bytes) else text.encode(), "utf-8", Limits())
    return read_records(data, delimiter, Limits(**limits))


def rows_of(read):
    columns = [[words[code] for code in codes] for codes, words in read.columns]
    return [read.first, *map(list, zip(*columns, strict=True))]


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
        ("012\n102\n", ","),
        ("01\n1\n", ","),
        ('"a,b";c\n0;1\n', ";"),
        ('"a;b";"c;d"\n0;1\n1;0\n', ";"),
        ("a,b\n0,1\n1,0,1\n", ","),  # one ragged row does not hide the delimiter
        ("q 1,q 2\nnot at all,very much\nnot at all,a little\n", ","),  # more blanks than commas in every row
        ("a b\nr1 0 1\nr2 1 1\n", " "),  # R leaves the corner out
        ("a,b,c;d\n0,1,0;1\n", ","),
        ("a\tb\twhen\n0\t1\t5 May\n1\t1\t6 May\n", "\t"),
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
            assert rows_of(read(file.getvalue(), delimiter)) == rows


def test_quotes_newlines_and_line_numbers():
    text = 'a,"b ""x"""\r\n\r\n0,"1\n2"\r\n   \r\n3,4'
    table = read(text, ",")
    assert rows_of(table) == [["a", 'b "x"'], ["0", "1\n2"], ["3", "4"]]
    assert [table.line_of(i) for i in range(3)] == [1, 4, 6]


def test_blank_lines_of_one_column():
    assert rows_of(read('a\n\n0\n""\n1\n', ",")) == [["a"], ["0"], [""], ["1"]]


def test_blank_lines_above_one_column_are_no_cells():
    table = read("  \nscore\n1\n  \n0\n", ",")
    assert rows_of(table) == [["score"], ["1"], ["  "], ["0"]]
    assert [table.line_of(k) for k in range(4)] == [2, 3, 4, 5]
    assert read_table(io.StringIO("  \n1\n0\n0\n")).codes.tolist() == [[1], [0], [0]]


fields = st.sampled_from(["0", "1", "a", "", " ", "\t", "é", '""', '"x,y"', '"x\ty"', '"x\ny"', '"a""b"', " 1", "1 "])
blank_lines = st.sampled_from(["", " ", "\t", "\t\t", "  "])


@st.composite
def texts(draw, delimiter):
    """Draw blank lines and records, most of which have the same number of fields."""
    width = draw(st.integers(1, 3))
    widths = st.sampled_from([width] * 9 + [width + 1])
    record = widths.flatmap(lambda n: st.lists(fields, min_size=n, max_size=n)).map(delimiter.join)
    lines = draw(st.lists(st.tuples(record | blank_lines, st.sampled_from(["\n", "\r\n", "\r"])), max_size=6))
    return "".join(map("".join, lines)) + "\n"


@pytest.mark.parametrize("delimiter", [",", "\t", " "])
@given(st.data())
def test_records_are_split_as_the_csv_module_does(delimiter, data):
    text = data.draw(texts(delimiter)).encode()
    records = list(split(separate(text, delimiter), delimiter))
    if len({len(record) for _, record in records}) != 1:
        return  # refused, or a header without a corner
    table = read(text, delimiter)
    assert rows_of(table) == [record for _, record in records]
    assert [table.line_of(k) for k in range(len(records))] == [line for line, _ in records]


def test_old_line_ends():
    assert rows_of(read("a,b\r0,1\r", ",")) == [["a", "b"], ["0", "1"]]


def test_blanks_within_quotes_are_kept_where_blanks_separate():
    text = '"g"   "b"\n"u  v" 1\n "u v"  0\n"a ""b  c""" 1\n'
    assert [row[0] for row in rows_of(read(text, " "))] == ["g", "u  v", "u v", 'a "b  c"']


def test_the_corner_that_r_leaves_out():
    table = read('"a" "b"\n"r 1" 0 1\n', " ")
    assert table.first == ["a", "b"]
    assert rows_of(table)[1] == ["r 1", "0", "1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file has only blank lines"),  # as of a byte order mark alone
        ("\x1f\n\x1f", "the file has only blank lines"),
        ("a,b\n0,1\n0\n", r"rows must have equal length; got 1 field in line 3, where 2 are expected"),
        ("a,b\n0,1\n0,1,1\n", r"got 3 fields in line 3"),
        ("a,b\n0,1,1,1\n", r"got 4 fields in line 2, where 2"),
        ('"a"x,b\n0,1\n', "has a broken field in its first record: ',' expected"),
        ('a,b\n0,"1\n', "broken field after line 1: unexpected end of data"),
    ],
)
def test_broken_text(text, message):
    with pytest.raises(DataError, match=message):
        read(text, ",")


def test_wrong_encoding_names_the_line():
    text = ("a,b\n" + "0,1\n" * 50_000 + "0,é\n").encode("latin-1")
    with pytest.raises(DataError, match=r"line 50002 holds the byte 0xe9.*encoding=\"cp1252\""):
        read(text, ",")


@pytest.mark.parametrize("n_rows", [0, 3, 2000])
def test_wrong_encoding_of_the_header_alone(n_rows):
    with pytest.raises(DataError, match="line 1 holds the byte 0xf6"):
        read(("größe,b\n" + "0,1\n" * n_rows).encode("latin-1"), ",")


def test_a_character_on_the_border_of_two_pieces():
    text = "x" * (2**20 - 1) + "é\n0\n"
    assert to_utf8(text.encode(), "utf-8", Limits()) == text.encode()
    with pytest.raises(DataError, match="line 1 holds the byte 0xc3"):
        to_utf8(text.encode().replace("é".encode(), b"\xc3("), "utf-8", Limits())
    with pytest.raises(DataError, match="line 3 holds the byte 0xc3"):
        to_utf8(text.encode() + b"\xc3", "utf-8", Limits())


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16", "utf-16-le", "cp1252", "UTF_8"])
def test_encodings(encoding):
    assert to_utf8("é,b\n".encode(encoding), encoding, Limits()) == "é,b\n".encode()


def test_a_byte_order_mark_tells_utf_16():
    assert to_utf8("é,b\n".encode("utf-16"), "utf-8", Limits()) == "é,b\n".encode()


@pytest.mark.parametrize(
    ("data", "encoding", "message"),
    [
        (b"a\x00b\x00c,d", "utf-8", "not a table: it is neither text in UTF-8 nor a file of a known format"),
        ("a,b\n0,1\n".encode("utf-16-le"), "utf-8", 'pass encoding="utf-16"'),
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
        read("a,b\n" + "0,1\n" * 9, ",", max_rows=8)
    with pytest.raises(LimitError, match="max_columns"):
        read("a,b,c\n", ",", max_columns=2)


def test_a_record_longer_than_a_block():
    long = "x\n" * 30_000
    text = "\n".join(",".join([cell] * 80) for cell in ("a", f'"{long}"', "y"))
    assert rows_of(read(text, ",")) == [["a"] * 80, [long] * 80, ["y"] * 80]


def test_a_quote_that_is_never_closed_does_not_swallow_the_rest():
    with pytest.raises(DataError, match="broken field after line 2"):
        read('a,b\n0,1\n0,"1\n0,1\n0,1\n', ",")
    assert rows_of(read('a,b\n5" pipe,1\n', ","))[1] == ['5" pipe', "1"]


def test_no_thread_of_pyarrow_holds_the_text_when_it_has_been_read():
    """One that lets go of it while the interpreter ends aborts the process."""
    for _ in range(40):
        data = bytearray(b"0,1,0\n0,1,a\n" * 2500)
        body = memoryview(data)
        assert len(list(_split_columns(body, ",", 3, 10, quoted=False, limits=Limits()))) == 3
        body.release()
        data.append(0)  # a BufferError if somebody holds it


@pytest.mark.parametrize(
    "late",
    [
        *("", "256", "1.0", "0x1", '"a,b"'),
        *(
            pytest.param(late, marks=pytest.mark.long)
            for late in ("10", "255", "-9", "NA", "+1", "0X1", "é", '"3"', '""')
        ),
    ],
)
def test_columns_that_begin_with_digits_keep_every_word(late):
    """What the csv module reads is the slow twin."""
    lines = ["a,b,c", "1,,y", "7,0,", *["3,2,5"] * 40_000]
    text = "\n".join([*lines, f"{late},{late},4", "9,1,8"]) + "\n"
    assert rows_of(read(text, ",")) == list(csv.reader(io.StringIO(text)))


def test_the_longest_line_is_found_in_any_piece():
    for place in (0, 150_000, 299_999):
        lines = ["0,1,0"] * 300_000
        lines[place] = "1," * 250_000 + "1"
        with pytest.raises(LimitError, match="max_columns"):
            read("\n".join(lines), ",", max_columns=60_000)


def test_a_column_with_every_byte_and_a_blank():
    words = ["1", "2", *["3"] * 40_000, "", *map(str, range(256)), "7"]  # a field that is not blank, in every line
    text = "".join(f"{word},4\n" for word in ["a", *words])
    assert rows_of(read(text, ",")) == list(csv.reader(io.StringIO(text)))


@pytest.mark.parametrize("blank", ["", '""'])
def test_blanks_among_digits_of_a_long_file(blank):
    """In several blocks: pyarrow cannot unify dictionaries that have nulls."""
    lines = ["a,b", *["3,4", f"{blank},5"] * 300_000, f"255,{blank}"]
    text = "\n".join(lines) + "\n"
    assert len(text) > 2 * 2**20
    assert rows_of(read(text, ",")) == list(csv.reader(io.StringIO(text)))


def test_different_words_are_counted_while_the_file_is_read():
    text = "a,b\n" + "".join(f"{k} é,{k}x\n" for k in range(100_000))
    assert rows_of(read(text, ",")) == list(csv.reader(io.StringIO(text)))
    with pytest.raises(LimitError, match="different words"):
        read(text + "a row with one field\n", ",", max_bytes=10**7)  # which pyarrow would refuse at the end


def number(blocks):
    """The slow twin of Words."""
    numbers = {}
    return [numbers.setdefault(word or "", len(numbers)) for block in blocks for word in block], list(numbers)


short = st.none() | st.text(max_size=9) | st.sampled_from(["", "é" * 4, "é" * 8, "x" * 16, "x" * 17, "x" * 5000])


@given(st.lists(st.lists(short, max_size=30), max_size=5), st.integers(0, 3))
def test_words_are_numbered_as_a_dictionary_does_it(blocks, start):
    """Of every block a slice; a null of pyarrow is an empty text."""
    words = Words()
    for block in blocks:
        _add_words(words, pyarrow.array(block, pyarrow.string())[start:])
    codes, expected = number(block[start:] for block in blocks)
    assert (words.codes.tolist(), words.words, len(words)) == (codes, expected, len(expected))


@pytest.mark.parametrize("n_words", [254, 255, 256, 70_000])
def test_codes_are_bytes_while_one_more_word_fits(n_words):
    cells = [f"{k * k % n_words:x}" for k in range(2 * n_words)] + [f"{k:x}" for k in range(n_words)]
    words = Words()
    for k in range(0, len(cells), 100):
        _add_words(words, pyarrow.array(cells[k : k + 100]))
    assert (words.codes.tolist(), words.words) == number([cells])
    assert words.codes.dtype == (np.uint8 if n_words < 255 else np.int32)


@pytest.mark.parametrize("offsets", [[0, 4], [-1, 2], [2, 1], [0, 3, 1, 3], [4, 4]])
def test_words_outside_their_text_are_refused(offsets):
    words = Words()
    with pytest.raises(ValueError, match="offsets must increase and lie within the text"):
        words.add(np.array(offsets, np.int32), np.frombuffer(b"abc", np.uint8))
    assert (len(words), words.codes.tolist()) == (0, [])


def test_words_that_are_no_text_are_refused():
    words = Words()
    words.add(np.array([0, 1], np.int32), np.frombuffer(b"\xff", np.uint8))
    with pytest.raises(UnicodeDecodeError):
        words.words  # noqa: B018 - they are decoded here
    with pytest.raises(TypeError):
        words.add(np.array([0, 1]), np.frombuffer(b"a", np.uint8))  # offsets of a large_string


def test_a_delimiter_of_the_header_comes_before_a_decimal_comma():
    assert find_delimiter(b"a;b\n0;1,5\n1;2,5\n") == ";"
    assert find_delimiter(b"a\nr1,0\nr2,1\n") == ","  # R leaves the corner of the header out


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_a_quote_within_a_field_changes_no_cell(delimiter):
    def read(broken):
        lines = ["a,b", *["1,x", '0,"y"'] * 10]
        lines[7] = broken
        return read_table(io.StringIO("\n".join(lines).replace(",", delimiter)), guess=True, delimiter=delimiter)

    for broken in ('"1"0,x', '1,"x"y', '"1" ,x', '1,"x" '):
        with pytest.raises(DataError, match="has a broken field after line 7"):
            read(broken)
    for whole in ('1,"a ""quoted"", word"', '1,"two\nlines"', '"1",""""', '1,x"'):
        assert len(read(whole)) == 20


@pytest.mark.parametrize("n_rows", [4, 2000])
def test_a_broken_quote_below_the_header_hides_no_delimiter(n_rows):
    text = "a\tb\n" + "1\t0\n" * n_rows + '1\t"0\n' + "0\t1\n" * n_rows
    with pytest.raises(DataError, match=f"broken field after line {n_rows + 1}: unexpected end"):
        read_table(io.StringIO(text))
    assert find_delimiter(b'a,b;c\n"1,0";"2"\n') == ";"
