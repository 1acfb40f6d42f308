"""read_table on arbitrary bytes and on damaged files: a table, or a documented error, and nothing else.

tests/fuzz/fuzz_tables.py looks deeper, with coverage, where atheris is installed.
"""

import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))

from fuzz_tables import OPTIONS, check, read
from seeds import table_files

FILES = table_files()
SURVEYS = ("sav", "zsav", "dta")
choices = st.integers(0, len(OPTIONS) - 1)
pieces = st.one_of(
    st.binary(max_size=8),
    st.sampled_from([b"\n", b",", b'"', b"\x00", b"\xff" * 4, b"1e999", b"9" * 400, b"NA", b"-1", b"0,1\n" * 50]),
)


@st.composite
def damaged(draw, data):
    """Return a file in which a few stretches were replaced, removed, repeated or cut off."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        stop = min(len(data), start + draw(st.sampled_from([0, 1, 4, 30])))
        how = draw(st.sampled_from(["replace", "repeat", "cut"]))
        if how == "replace":
            data = data[:start] + draw(pieces) + data[stop:]
        elif how == "repeat":
            data = data[:stop] + data[start:stop] + data[stop:]
        else:
            data = data[:start]
    return data


@given(choices, st.binary(max_size=200))
@example(0, b"a,b\n0,\xff\n")
@example(0, b'"')
@example(3, b"1e400,1\n0,1\n")
def test_arbitrary_bytes(choice, data):
    check(bytes([choice]) + data)


@given(choices, st.text(st.sampled_from('01,;\t" \n\r.?aNé-'), max_size=60))
def test_arbitrary_text(choice, text):
    check(bytes([choice]) + text.encode())


@pytest.mark.parametrize("kind", [kind for kind in FILES if kind not in SURVEYS])
@given(st.data())
def test_damaged_files(kind, data):
    check(bytes([data.draw(choices)]) + data.draw(damaged(FILES[kind])))


@pytest.mark.parametrize("kind", SURVEYS)
@settings(max_examples=5)  # each writes a temporary file
@given(st.data())
def test_damaged_surveys(kind, data):
    check(bytes([data.draw(choices)]) + data.draw(damaged(FILES[kind])))


@pytest.mark.parametrize("kind", FILES)
def test_undamaged_files_are_read_with_some_option(kind):
    """Without this, the tests above could pass because everything is refused."""
    assert any(read(bytes([choice]) + FILES[kind]) is not None for choice in range(len(OPTIONS)))
