import io
import os
import threading

import pytest

from isinglass.errors import DataError
from isinglass.export.streams import write_lines


def test_bytes_do_not_depend_on_the_system(tmp_path):
    write_lines(["a", "ü\r"], tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b"a\n\xc3\xbc\r\n"


def test_standard_output(capsys):
    write_lines(["one", "two"], "-")
    assert capsys.readouterr().out == "one\ntwo\n"


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def lines():
        yield "new"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_lines(lines(), path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_file_is_not_there_before_it_is_whole(tmp_path):
    path, there = tmp_path / "file", []

    def lines():
        there.append(path.exists())
        yield "line"
        there.append(path.exists())

    write_lines(lines(), path)
    assert there == [False, False]
    assert path.exists()


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_lines(["new"], tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_written_to(tmp_path):
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()
    write_lines(["through"], pipe)
    reader.join(timeout=10)
    assert found == ["through\n"]


def test_permissions_are_those_of_a_new_file(tmp_path):
    (tmp_path / "plain").touch()
    write_lines([], tmp_path / "written")
    assert (tmp_path / "written").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("name", ["", "missing/file"])
def test_folders_must_exist(tmp_path, name):
    with pytest.raises(DataError, match="path must be a file in a folder that exists"):
        write_lines([], tmp_path / name)


def test_a_stream_is_not_closed():
    stream = io.StringIO()
    write_lines(["a"], stream)
    write_lines(["b"], stream)
    assert stream.getvalue() == "a\nb\n"
