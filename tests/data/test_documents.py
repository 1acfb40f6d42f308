"""Bytes from paths, streams and the standard input; limits, and decompression that cannot be abused."""

import bz2
import codecs
import gzip
import io
import lzma
import sys
import tempfile
import tracemalloc

import pandas as pd
import pytest

from isinglass import read_table
from isinglass.data.files.documents import Limits, open_document
from isinglass.errors import DataError, LimitError

TEXT = b"a,b\n0,1\n"
PACK = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.mark.parametrize("ending", PACK)
def test_compression_is_told_by_the_content(ending, tmp_path):
    for name in (f"t.csv.{ending}", "t.csv"):
        path = tmp_path / name
        path.write_bytes(PACK[ending](TEXT))
        document = open_document(path, Limits())
        assert (document.data, document.suffix) == (TEXT, ".csv")


@pytest.mark.parametrize("ending", PACK)
def test_streams_that_follow_each_other_are_one_file(ending):
    data = PACK[ending](b"0,1\n") + PACK[ending](b"1,1\n")
    assert open_document(io.BytesIO(data), Limits()).data == b"0,1\n1,1\n"


@pytest.mark.parametrize("ending", PACK)
def test_a_bomb_is_stopped_before_it_fills_the_memory(ending):
    bomb = PACK[ending](bytes(2**26))
    assert len(bomb) < 2**17
    tracemalloc.start()
    with pytest.raises(LimitError, match=r"max_bytes must be .*a decompressed file"):
        open_document(io.BytesIO(bomb), Limits(max_bytes=2**20))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**24


@pytest.mark.parametrize("ending", PACK)
def test_broken_compression(ending):
    data = PACK[ending](TEXT * 50)
    for broken in (data[:-6], data[:20], data[:12] + b"\xff" * 20):
        with pytest.raises(DataError, match=r"the \w+ file is incomplete or damaged and cannot be"):
            open_document(io.BytesIO(broken), Limits())


def test_a_path_without_a_name_is_no_folder():
    with pytest.raises(FileNotFoundError, match="No such file or directory: ''"):
        read_table("")


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT)))
    assert open_document("-", Limits()).data == TEXT
    monkeypatch.setattr(sys, "stdin", io.StringIO(TEXT.decode()))  # as in a notebook
    assert open_document("-", Limits()).data == TEXT


def test_open_files_stay_open(tmp_path):
    (tmp_path / "t.tsv").write_bytes(TEXT)
    with (tmp_path / "t.tsv").open("rb") as stream:
        assert open_document(stream, Limits()).suffix == ".tsv"
        assert not stream.closed
    with (tmp_path / "t.tsv").open() as stream:
        assert open_document(stream, Limits()).data == TEXT


def test_a_large_file_is_refused():
    with pytest.raises(LimitError, match=r"max_bytes must be .* got 7 for a file of 8 bytes"):
        open_document(io.BytesIO(TEXT), Limits(max_bytes=7))


@pytest.mark.parametrize("data", [b"", b" \n\r\n\t", gzip.compress(b"", mtime=0)])
def test_nothing_in_it(data):
    with pytest.raises(DataError, match="the file is empty"):
        open_document(io.BytesIO(data), Limits())


def test_what_is_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.csv"):
        open_document(tmp_path / "nowhere.csv", Limits())
    with pytest.raises(OSError, match=str(tmp_path)):
        open_document(tmp_path, Limits())
    for what in (3, None, b"a,b", pd.DataFrame({"a": [0, 1]})):
        with pytest.raises(
            DataError, match=r'^path must be a path, "-" or an open file; got \w+\. Pass a table in memory'
        ):
            read_table(what)


def test_streams_without_a_name_are_called_streams():
    with tempfile.TemporaryFile() as by_number, tempfile.SpooledTemporaryFile() as unnamed:
        for stream in (io.StringIO("a\n"), io.BytesIO(b"a\n"), by_number, unnamed):
            with pytest.raises(DataError, match=r"^the stream: the file (is empty|has a header and no rows)\."):
                read_table(stream)


def test_an_open_text_is_decoded_already(tmp_path):
    (tmp_path / "t.csv").write_text("größe,b\n0,1\n1,0\n", encoding="latin-1")
    with (tmp_path / "t.csv").open(encoding="latin-1") as stream:
        assert read_table(stream, encoding="latin-1").names == ("größe", "b")
    with codecs.open(str(tmp_path / "t.csv"), encoding="latin-1") as stream:
        assert read_table(stream, encoding="latin-1").names == ("größe", "b")
    with tempfile.NamedTemporaryFile("w+", encoding="utf-8") as stream:
        stream.write("größe,b\n0,1\n1,0\n")
        stream.seek(0)
        assert read_table(stream, encoding="latin-1").names == ("größe", "b")
    with pytest.raises(DataError, match=r"^the stream: path must be a file .* half a character"):
        read_table(io.StringIO("a,b\ud800\n0,1\n"))


def test_the_limits_themselves_are_allowed():
    limits = Limits(max_rows=10, max_columns=5, max_bytes=50)
    limits.check_shape(10, 5)
    limits.check_bytes(50, "a file")


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((11, 1), "max_rows must be at least the number of rows; got 10 for a table of 11"),
        ((1, 6), "max_columns must be at least the number of columns; got 5 for a table of 6"),
        ((10, 5), "max_bytes must be at least the size of the data; got 49 for a table with one byte per cell of 50"),
    ],
)
def test_more_is_refused(shape, message):
    with pytest.raises(LimitError, match=message):
        Limits(10, 5, 49).check_shape(*shape)


@pytest.mark.parametrize("value", [0, -1, 1.5, True, None, "9"])
def test_limits_are_counts(value):
    with pytest.raises(DataError, match=r"max_rows must be an integer of at least 1; got"):
        Limits(max_rows=value)
