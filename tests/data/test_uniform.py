"""The fast path equals the slow one, bit for bit, or stands aside."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isinglass.data import files as reader
from isinglass.data.limits import Limits
from isinglass.data.text import read_records
from isinglass.data.uniform import read_named_rows, read_uniform
from isinglass.errors import DataError, LimitError


def rows_of(records):
    return [records.first, *[[records.words[code] for code in row] for row in records.codes]]


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
