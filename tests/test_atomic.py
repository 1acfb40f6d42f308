"""Files appear whole or not at all."""

import io
import os
import sys
import threading

import pytest

from isinglass import atomic
from isinglass.atomic import replacing, temporary_directory, write_lines
from isinglass.errors import DataError


def write_and_interrupt(file):
    file.write(b"half")
    raise KeyboardInterrupt


def test_file_appears_whole_or_not_at_all(tmp_path):
    target = tmp_path / "figure.png"
    target.write_text("old")
    with pytest.raises(KeyboardInterrupt), replacing(target) as file:
        write_and_interrupt(file)
    assert [path.name for path in tmp_path.iterdir()] == ["figure.png"]
    assert target.read_text() == "old"
    with replacing(target) as file:
        file.write(b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["figure.png"]
    assert target.read_text() == "new"


def test_errors_name_what_the_user_chose(tmp_path):
    gone = tmp_path / "gone"
    for opening in (replacing(gone / "net.csv"), temporary_directory(gone)):
        with pytest.raises(FileNotFoundError) as caught, opening:
            pass
        assert caught.value.filename == str(gone)
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError) as caught, replacing(tmp_path / "folder"):
        pass
    assert caught.value.filename == str(tmp_path / "folder")


def test_bytes_do_not_depend_on_the_system(tmp_path):
    write_lines(["a", "ü\r"], tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b"a\n\xc3\xbc\r\n"


def test_standard_output(capsys):
    write_lines(["one", "two"], "-")
    assert capsys.readouterr().out == "one\ntwo\n"


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files")
@pytest.mark.parametrize("size", [10, 100_000])  # less and more than a buffer
def test_fault_14_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path, size):
    import resource

    path = tmp_path / "edges.csv"
    path.write_text("old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5, limits[1]))  # a write beyond fails as one to a full disk does
    try:
        with pytest.raises(OSError, match="File too large"):
            write_lines(["x" * size], path)
        with pytest.raises(OSError, match="File too large"), replacing(path) as file:
            file.write(b"x" * size)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [entry.name for entry in tmp_path.iterdir()] == ["edges.csv"]
    assert path.read_text() == "old"


def test_the_content_is_on_the_disk_before_the_file_has_its_name(tmp_path, monkeypatch):
    synced = []

    def fsync(handle):
        synced.append((os.fstat(handle).st_size, (tmp_path / "a").exists()))

    monkeypatch.setattr(atomic.os, "fsync", fsync)
    write_lines(["12345"], tmp_path / "a")
    assert synced == [(6, False)]


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
    with pytest.raises(DataError, match=r"is a folder|its folder does not exist"):
        write_lines([], tmp_path / name)


def test_a_stream_is_not_closed():
    stream = io.StringIO()
    write_lines(["a"], stream)
    write_lines(["b"], stream)
    assert stream.getvalue() == "a\nb\n"
