"""Output folders: whole or not there, and nobody else's file is ever lost."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading

import click
import pytest
from commands import error_line, files_of, run, write_table

from isinglass.cli.output import SCHEMA, OutputFolder


@pytest.fixture
def context():
    with click.Context(click.Command("fit", params=[]), info_name="fit"):
        yield


def fill(folder, **files):
    with folder.filling() as here:
        for name, text in files.items():
            (here / name).write_text(text)


def write_and_interrupt(path):
    path.write_text("half")
    raise KeyboardInterrupt


def claim(folder, *files, command="isinglass fit x"):
    """Write a run.json that claims files with their true digests."""
    digests = {str(name): hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in files}
    record = {"schema": SCHEMA, "version": "x", "command": command, "files": digests}
    (folder / "run.json").write_text(json.dumps(record))


def test_folder_appears_whole_or_not_at_all(tmp_path, context):
    folder = OutputFolder(tmp_path / "out", ["a", "b"])
    with pytest.raises(KeyboardInterrupt), folder.filling() as here:
        write_and_interrupt(here / "a")
    assert list(tmp_path.iterdir()) == []
    fill(folder, a="1")
    assert set(files_of(tmp_path / "out")) == {"a", "run.json"}  # what was not written is not claimed
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["files"] == {"a": hashlib.sha256(b"1").hexdigest()}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    fill(OutputFolder(tmp_path / "out", ["a", "b"]), a="2", b="3")
    assert files_of(tmp_path / "out").keys() == {"a", "b", "run.json"}


RECORDS = [
    *("", "[]", "{}", "[" * 10_000, '{"schema": 3, "files": ["a"]}', '{"schema": "x", "files": ["a"]}'),
    '{"schema": "isinglass/run/1", "command": "isinglass fit", "files": ["a"]}',  # of version 0.1: names alone
    json.dumps({"schema": SCHEMA, "command": "isinglass fit", "files": ["a"]}),
    json.dumps({"schema": SCHEMA, "command": "isinglass fit", "files": {"a": ["x"]}}),
    json.dumps({"schema": SCHEMA, "command": "isinglass fit", "files": {"b": "x"}, "summary": " " * 2**21}),
]


@pytest.mark.parametrize("record", RECORDS)
def test_fault_01_a_foreign_record_protects_the_files(tmp_path, context, record):
    (tmp_path / "run.json").write_text(record)
    (tmp_path / "a").write_text("precious")
    with pytest.raises(click.BadParameter, match="not written by this command"):
        OutputFolder(tmp_path, ["a"])


def test_fault_01_a_hostile_record_removes_no_file(tmp_path):
    """The reproduction: the table that is read, named by a run.json that somebody else wrote."""
    table = write_table(tmp_path / "data.csv")
    before = table.read_bytes()
    record = {"schema": "isinglass/run/1", "version": "x", "command": "isinglass fit x", "files": ["data.csv"]}
    (tmp_path / "run.json").write_text(json.dumps(record))
    run("fit", table, "--alpha", "0.05", "-o", tmp_path, code=2)
    assert table.read_bytes() == before
    run("fit", table, "--alpha", "0.05", "-o", tmp_path, "--force")
    assert table.read_bytes() == before


def test_fault_01_not_even_with_the_right_digest(tmp_path):
    table = write_table(tmp_path / "data.csv")
    (tmp_path / "diary.txt").write_text("precious")
    before = files_of(tmp_path)
    claim(tmp_path, "data.csv", "diary.txt")
    run("fit", table, "--alpha", "0.05", "-o", tmp_path)
    assert before.items() <= files_of(tmp_path).items()


def test_fault_01_a_record_reaches_no_other_folder(tmp_path, context):
    (tmp_path / "precious").write_text("kept")
    out = tmp_path / "out"
    out.mkdir()
    claim(out, "../precious")
    fill(OutputFolder(out, ["a", "b"]), a="new")
    assert files_of(tmp_path) == {"out/a": b"new", "out/run.json": (out / "run.json").read_bytes(), "precious": b"kept"}


def test_fault_01_an_input_is_not_removed_although_we_wrote_it(tmp_path, context):
    fill(OutputFolder(tmp_path / "out", ["a", "b"]), a="1", b="2")
    with pytest.raises(click.BadParameter, match="also read by this command"):
        OutputFolder(tmp_path / "out", ["a", "b"], inputs=[str(tmp_path / "out" / "b")], force=True)
    assert (tmp_path / "out" / "b").read_text() == "2"
    fill(OutputFolder(tmp_path / "out", ["a", "b"]), a="3")
    assert files_of(tmp_path / "out").keys() == {"a", "run.json"}  # what we wrote and do not write again


def test_fault_01_a_file_that_was_edited_is_kept(tmp_path, context):
    fill(OutputFolder(tmp_path / "out", ["a", "b"]), a="1", b="2")
    (tmp_path / "out" / "a").write_text("notes of mine")
    with pytest.raises(click.BadParameter, match="has changed since"):
        OutputFolder(tmp_path / "out", ["a", "b"])
    fill(OutputFolder(tmp_path / "out", ["a", "b"], force=True), b="3")
    assert files_of(tmp_path / "out").keys() == {"a", "b", "run.json"}
    assert (tmp_path / "out" / "a").read_text() == "notes of mine"


def test_fault_01_links_are_not_followed(tmp_path, context):
    out, precious = tmp_path / "out", tmp_path / "precious"
    fill(OutputFolder(out, ["a", "b"]), a="1", b="2")
    precious.write_text("1")  # the content that the record claims for a
    (out / "a").unlink()
    (out / "a").symlink_to(precious)
    with pytest.raises(click.BadParameter, match="has changed"):
        OutputFolder(out, ["a", "b"])
    fill(OutputFolder(out, ["a", "b"], force=True), a="3", b="4")
    assert precious.read_text() == "1"
    assert not (out / "a").is_symlink()
    (tmp_path / "record").write_bytes((out / "run.json").read_bytes())
    (out / "run.json").unlink()
    (out / "run.json").symlink_to(tmp_path / "record")
    with pytest.raises(click.BadParameter, match="exists and was not written"):
        OutputFolder(out, ["a", "b"])


def test_fault_01_a_folder_is_never_removed(tmp_path, context):
    """A folder with the name of a file that an earlier run wrote, and one that a hostile record names."""
    out = tmp_path / "out"
    fill(OutputFolder(out, ["a", "b"]), a="1", b="2")
    (out / "b").unlink()
    for name in ("b", "c"):
        (out / name).mkdir()
        (out / name / "precious").write_text("kept")
    record = json.loads((out / "run.json").read_text())
    record["files"] |= {"c": record["files"]["a"], "c/precious": hashlib.sha256(b"kept").hexdigest()}
    (out / "run.json").write_text(json.dumps(record))
    with pytest.raises(click.BadParameter, match="is a folder"):
        OutputFolder(out, ["a", "b"], force=True)
    fill(OutputFolder(out, ["a"]), a="3")
    assert (out / "a").read_text() == "3"
    assert [(out / name / "precious").read_text() for name in ("b", "c")] == ["kept", "kept"]


WRITER = """
import pathlib, sys, click
from isinglass.cli.output import OutputFolder
with click.Context(click.Command("fit", params=[]), info_name="fit"):
    for _ in range(40):
        with OutputFolder(pathlib.Path(sys.argv[1]), ["a", "b"]).filling() as here:
            (here / "a").write_text(sys.argv[2]), (here / "b").write_text(sys.argv[2])
"""


def test_fault_01_two_processes_leave_the_files_of_one_and_those_of_others(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "diary").write_text("precious")
    command = [sys.executable, "-c", WRITER, str(tmp_path / "out")]
    writers = [subprocess.Popen([*command, word], stderr=subprocess.PIPE) for word in ("one", "two")]
    assert [writer.communicate()[1] for writer in writers] == [b"", b""]
    files = files_of(tmp_path / "out")
    assert files.keys() == {"a", "b", "diary", "run.json"}
    assert files["a"] == files["b"]
    assert files["diary"] == b"precious"
    assert json.loads(files["run.json"])["files"]["a"] == hashlib.sha256(files["a"]).hexdigest()


def test_fault_01_two_writers_leave_the_files_of_one(tmp_path, context):
    """Many pairs of threads fill one folder: what is there at the end is of one of them, and its record fits."""
    base = click.get_current_context()

    def write(number):
        with click.Context(base.command, info_name="fit"):
            fill(OutputFolder(tmp_path / "out", ["a", "b", "c"]), a=f"{number}", b=f"{number}", c=f"{number}")

    for _ in range(20):
        threads = [threading.Thread(target=write, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        files = files_of(tmp_path / "out")
        record = json.loads(files.pop("run.json"))
        assert len(set(files.values())) == 1
        assert record["files"] == {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
        assert "replaced" not in record


def test_fault_01_files_of_a_killed_run_are_still_ours(tmp_path, context):
    """Killed between the old files and the new ones, a run leaves a folder that the next run can fill."""
    fill(OutputFolder(tmp_path / "out", ["a", "b"]), a="1", b="2")
    code = (
        "import os, sys, pathlib, click\nfrom isinglass.cli.output import OutputFolder\n"
        "replace = pathlib.Path.replace\n"
        "def fail(path, target):\n    os.kill(os.getpid(), 9) if target.name == 'b' else replace(path, target)\n"
        "pathlib.Path.replace = fail\n"
        "with click.Context(click.Command('fit', params=[])):\n"
        "    with OutputFolder(pathlib.Path(sys.argv[1]), ['a', 'b']).filling() as here:\n"
        "        (here / 'a').write_text('3'), (here / 'b').write_text('4')\n"
    )
    result = subprocess.run([sys.executable, "-c", code, tmp_path / "out"], check=False)
    assert result.returncode == -signal.SIGKILL
    assert (tmp_path / "out" / "a").read_text() == "3"
    assert (tmp_path / "out" / "b").read_text() == "2"
    fill(OutputFolder(tmp_path / "out", ["a", "b"]), a="5", b="6")
    assert (tmp_path / "out" / "b").read_text() == "6"


def test_an_empty_name_is_refused(tmp_path):
    """It would be the current folder."""
    line = error_line(run("fit", write_table(tmp_path / "table.csv"), "-o", "", code=2))
    assert line == "Error: Invalid value for '-o' / '--output': the name is empty."


def test_force_needs_a_folder(tmp_path):
    line = error_line(run("fit", write_table(tmp_path / "table.csv"), "--force", code=2))
    assert line == "Error: --force needs -o FOLDER."


@pytest.mark.parametrize("words", [[], ["--force"]])
def test_fault_11_a_folder_in_place_of_a_file_is_refused_first(tmp_path, words):
    table = write_table(tmp_path / "table.csv")
    (tmp_path / "net" / "nodes.csv").mkdir(parents=True)
    line = error_line(run("fit", table, "--alpha", "0.1", "-o", tmp_path / "net", *words, code=2))
    assert "is a folder" in line
    assert [path.name for path in (tmp_path / "net").iterdir()] == ["nodes.csv"]


@pytest.mark.parametrize("words", [["fit", "{table}", "-o", "{locked}/net"], ["fit", "{table}", "-o", "{locked}"]])
def test_a_folder_that_cannot_be_written_to_is_refused_first(tmp_path, monkeypatch, words):
    table, locked = write_table(tmp_path / "table.csv"), tmp_path / "locked"
    locked.mkdir()
    access = os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode: access(path, mode) and path != locked
    )  # root may write anywhere
    monkeypatch.setattr("isinglass.cli.settings.Reading.read", None)  # nothing is read or computed
    line = error_line(run(*(word.format(table=table, locked=locked) for word in words), code=2))
    assert line == f"Error: Invalid value for '-o': '{locked}' cannot be written to."
