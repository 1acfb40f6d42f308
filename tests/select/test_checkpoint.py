"""The folder of finished tasks: whole files or refused ones, never of other data or of another function."""

import json
import os
import subprocess
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest

from isinglass import EBIC, Method, StARS, as_table
from isinglass.errors import DataError
from isinglass.select import checkpoint
from isinglass.select.checkpoint import Checkpoint
from isinglass.select.settings import identify

DATA = {"X": np.eye(3, dtype=np.uint8), "alphas": np.array([0.2, 0.1]), "n_subsamples": 20}


@pytest.fixture
def folder(tmp_path):
    store = Checkpoint(tmp_path / "run", DATA)
    store.put("a/0", {"edges": np.arange(4), "name": np.array("é")})
    store.put("a/1", {"edges": np.zeros(0), "name": np.array("")})
    return tmp_path / "run"


def contents(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_what_was_put_comes_back(folder):
    store = Checkpoint(folder, DATA)
    assert store.get("a/2") is None
    assert store.get("a/0")["edges"].tolist() == [0, 1, 2, 3]
    assert str(store.get("a/0")["name"]) == "é"
    assert store.get("a/1")["edges"].dtype == np.float64
    assert contents(folder).keys() == {"checkpoint.json", "a%2F0.npz", "a%2F1.npz"}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"X": np.zeros((3, 3), np.uint8)}, r"differs in X \(\|u1 \(3, 3\) sha256:\w{8}… there, "),
        ({"alphas": np.array([0.2, 0.1 + 1e-16])}, "differs in alphas"),
        ({"n_subsamples": 21}, r"differs in n_subsamples \(20 there, 21 here\)\. Remove it"),
        ({"gamma": 0.5}, r"differs in gamma \(absent there, 0.5 here\)"),
        ({"X": np.zeros((2, 3), np.uint8), "n_subsamples": 1}, "differs in X .*; n_subsamples"),
    ],
)
def test_other_data_or_settings_are_refused_by_name(folder, change, named):
    before = contents(folder)
    with pytest.raises(DataError, match=named):
        Checkpoint(folder, {**DATA, **change})
    assert contents(folder) == before


def test_a_run_killed_while_it_wrote_the_first_file_can_be_resumed(tmp_path):
    folder = tmp_path / "run"
    script = """if True:
        import os, pathlib, signal, sys
        from isinglass.select.checkpoint import Checkpoint
        pathlib.Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
        Checkpoint(sys.argv[1], {"n": 1})"""
    ended = subprocess.run([sys.executable, "-c", script, str(folder)], check=False)
    assert ended.returncode == -9
    (left,) = folder.iterdir()
    assert left.suffix == ".tmp"
    Checkpoint(folder, {"n": 1}).put("a", {"edges": np.arange(2)})
    assert Checkpoint(folder, {"n": 1}).get("a")["edges"].tolist() == [0, 1]


def test_a_folder_with_a_file_of_the_user_is_refused(tmp_path):
    (tmp_path / ".isinglass-notes.tmp").write_text("mine")
    with pytest.raises(DataError, match="not the folder of a checkpoint"):
        Checkpoint(tmp_path, DATA)
    assert contents(tmp_path) == {".isinglass-notes.tmp": b"mine"}


def test_a_truncated_file_is_one_clear_error(folder):
    file = folder / "a%2F0.npz"
    whole = file.read_bytes()
    for length in {0, 1, 10, *range(30, len(whole), 97), len(whole) - 1}:
        file.write_bytes(whole[:length])
        with pytest.raises(DataError, match=r"of the checkpoint cannot be read .*Remove it to compute"):
            Checkpoint(folder, DATA).get("a/0")


def test_damaged_bytes_are_one_clear_error_or_harmless(folder):
    file = folder / "a%2F0.npz"
    whole = bytearray(file.read_bytes())
    for place in range(0, len(whole), 41):
        damaged = whole.copy()
        damaged[place] ^= 0xFF
        file.write_bytes(damaged)
        try:
            found = Checkpoint(folder, DATA).get("a/0")
        except DataError:
            continue
        assert found["edges"].tolist() == [0, 1, 2, 3]


def test_the_file_of_another_task_is_refused(folder):
    (folder / "a%2F0.npz").write_bytes((folder / "a%2F1.npz").read_bytes())
    with pytest.raises(DataError, match="it is of another task"):
        Checkpoint(folder, DATA).get("a/0")


def test_pickles_are_never_loaded(folder):
    np.savez(folder / "a%2F5.npz", **{"0": np.array([{"kind": "pickle"}], dtype=object)})
    with pytest.raises(DataError, match="cannot be read"):
        Checkpoint(folder, DATA).get("a/5")


def test_foreign_folders_and_files_are_refused(tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "diary").write_text("precious")
    with pytest.raises(DataError, match="not the folder of a checkpoint"):
        Checkpoint(tmp_path / "notes", DATA)
    assert contents(tmp_path / "notes") == {"diary": b"precious"}
    np.savez(tmp_path / "old.npz", header=np.zeros(1))
    with pytest.raises(DataError, match="A checkpoint is a folder"):
        Checkpoint(tmp_path / "old.npz", DATA)
    with pytest.raises(DataError, match="folder that exists"):
        Checkpoint(tmp_path / "nowhere" / "run", DATA)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"kind": 1, "version": 2, "fingerprint": 3}', "[" * 100_000])
def test_another_record_is_refused(folder, text):
    (folder / "checkpoint.json").write_text(text)
    with pytest.raises(DataError, match=r"has no checkpoint.json that can be read"):
        Checkpoint(folder, DATA)


def test_another_layout_is_refused(folder):
    header = {"kind": checkpoint.KIND, "version": 99, "fingerprint": {}}
    (folder / "checkpoint.json").write_text(json.dumps(header))
    with pytest.raises(DataError, match="another version of isinglass, with layout 99"):
        Checkpoint(folder, {})


def test_a_failed_write_leaves_what_is_finished(folder, monkeypatch):
    before = contents(folder)
    store = Checkpoint(folder, DATA)

    def fail(*args, **options):
        raise OSError("disk full")

    monkeypatch.setattr("zipfile.ZipFile.open", fail)
    with pytest.raises(OSError, match="disk full"):
        store.put("a/2", {"edges": np.arange(2)})
    assert contents(folder) == before


# --- links, and company -----------------------------------------------------------------------------------------------


def test_fault_10_no_link_is_followed(folder, tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("kept")
    (folder / f"run.npz.{os.getpid()}.tmp").symlink_to(precious)  # the name that could be guessed
    (folder / "a%2F7.npz").symlink_to(precious)
    store = Checkpoint(folder, DATA)
    with pytest.raises(DataError, match="cannot be read"):
        store.get("a/7")
    store.put("a/7", {"edges": np.arange(2)})
    assert precious.read_text() == "kept"
    assert store.get("a/7")["edges"].tolist() == [0, 1]


def test_fault_10_threads_share_a_folder(tmp_path):
    errors = []

    def work(number):
        try:
            store = Checkpoint(tmp_path / "run", DATA)
            for k in range(40):
                if store.get(f"a/{k}") is None:
                    store.put(f"a/{k}", {"edges": np.full(1000, k)})
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    store = Checkpoint(tmp_path / "run", DATA)
    assert all((store.get(f"a/{k}")["edges"] == k).all() for k in range(40))
    assert len(contents(tmp_path / "run")) == 41


RACE = """
import sys
import numpy as np
from isinglass.errors import DataError
from isinglass.select.checkpoint import Checkpoint

try:
    store = Checkpoint(sys.argv[1], {"seed": int(sys.argv[2])})
except DataError:
    sys.exit(7)
for k in range(30):
    store.put(f"a/{k}", {"x": np.full(500, k)})
"""


def test_fault_10_processes_share_a_folder_or_are_refused(tmp_path):
    command = [sys.executable, "-c", RACE, tmp_path / "run"]
    runs = [subprocess.Popen([*command, str(seed)]) for seed in (1, 1, 2)]
    codes = [process.wait(60) for process in runs]
    assert codes in ([0, 0, 7], [7, 7, 0])
    assert len(contents(tmp_path / "run")) == 31


# --- what tells settings and data apart -------------------------------------------------------------------------------


def test_identities_tell_apart_what_matters():
    table = np.arange(6).reshape(2, 3)
    assert identify(table) == identify(np.asfortranarray(table))
    others = (table, table.T, table.astype(float), table.reshape(3, 2), table + 1)
    assert len({identify(value) for value in others}) == 5
    assert identify(np.float64(0.5)) == identify(0.5)
    assert len({identify(value) for value in (1, 1.0, "1", True, (1,), {1: 1}, None)}) == 7
    assert identify({"a": 1, "b": 2}) == identify({"b": 2, "a": 1})
    assert len(identify(list(range(100_000)))) < 200
    assert identify(EBIC(gamma=1)) == identify(EBIC(gamma=np.float64(1.0)))
    assert EBIC(gamma=1) == EBIC(gamma=1.0)
    methods = [Method(), Method(selector=EBIC()), Method(selector=EBIC(gamma=0.5)), Method(tol=1e-9)]
    methods += [Method(penalty_weights=np.full((3, 3), k)) for k in (1.0, 2.0)]
    assert len({identify(method) for method in methods}) == len(set(methods)) == 6
    assert Method(penalty_weights=np.ones((3, 3))) == Method(penalty_weights=np.ones((3, 3)).tolist())


def test_tables_are_known_by_their_content():
    table = as_table(np.eye(3, dtype=np.uint8))
    again = as_table(np.eye(3, dtype=np.uint8))
    weighted = replace(table, sample_weight=np.array([1.0, 2.0, 1.0]))
    named = table.with_names(["a", "b", "c"])
    assert identify(table) == identify(again)
    assert len({identify(one) for one in (table, weighted, named, as_table(1 - np.eye(3, dtype=np.uint8)))}) == 4


@pytest.mark.parametrize("value", [np.random.default_rng(0), lambda x: x, object()])
def test_what_has_no_identity_is_refused(value, tmp_path):
    with pytest.raises(DataError, match=r"cannot tell one .* from another"):
        Checkpoint(tmp_path / "run", {"method": Method(selector=StARS(random_state=value))})


def test_the_setting_that_differs_is_named(tmp_path):
    Checkpoint(tmp_path / "run", {"method": Method(selector=EBIC())})
    with pytest.raises(DataError, match=r"differs in method\.selector\.gamma \(0\.25 there, 0\.5 here\)\. Remove it"):
        Checkpoint(tmp_path / "run", {"method": Method(selector=EBIC(gamma=0.5))})
