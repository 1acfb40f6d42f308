"""The file of finished tasks: whole or refused, and never of other data."""

import functools
import json

import numpy as np
import pytest

from isinglass import ising_path, nodewise_path
from isinglass.errors import DataError
from isinglass.select import checkpoint
from isinglass.select.checkpoint import Checkpoint, describe

DATA = {"X": np.eye(3, dtype=np.uint8), "alphas": np.array([0.2, 0.1]), "n_subsamples": 20}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "run.npz"
    with Checkpoint(path, DATA) as store:
        store.put("a/0", {"edges": np.arange(4), "name": np.array("é")})
        store.put("a/1", {"edges": np.zeros(0), "name": np.array("")})
    return path


def test_what_was_put_comes_back(file):
    store = Checkpoint(file, DATA)
    assert store.get("a/2") is None
    assert store.get("a/0")["edges"].tolist() == [0, 1, 2, 3]
    assert str(store.get("a/0")["name"]) == "é"
    assert store.get("a/1")["edges"].dtype == np.float64


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
def test_other_data_or_settings_are_refused_by_name(file, change, named):
    before = file.read_bytes()
    with pytest.raises(DataError, match=named):
        Checkpoint(file, {**DATA, **change})
    assert file.read_bytes() == before


def test_a_truncated_file_is_one_clear_error(file):
    whole = file.read_bytes()
    for length in {0, 1, 10, *range(30, len(whole), 97), len(whole) - 1}:
        file.write_bytes(whole[:length])
        with pytest.raises(
            DataError, match=r"checkpoint must be a file that an earlier run wrote, and whole; .*Remove it"
        ):
            Checkpoint(file, DATA)


def test_damaged_bytes_are_one_clear_error_or_harmless(file):
    whole = bytearray(file.read_bytes())
    for place in range(0, len(whole), 41):
        damaged = whole.copy()
        damaged[place] ^= 0xFF
        file.write_bytes(damaged)
        try:
            store = Checkpoint(file, DATA)
        except DataError:
            continue
        assert store.get("a/0")["edges"].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("content", [{"other": np.arange(3)}, {"header": np.arange(3)}])
def test_another_archive_is_refused(tmp_path, content):
    np.savez(tmp_path / "other.npz", **content)
    with pytest.raises(DataError, match="cannot be read"):
        Checkpoint(tmp_path / "other.npz", DATA)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        Checkpoint(tmp_path, DATA)


def test_pickles_are_never_loaded(tmp_path):
    np.savez(tmp_path / "evil.npz", header=np.array([{"kind": "pickle"}], dtype=object))
    with pytest.raises(DataError, match="allow_pickle=False"):
        Checkpoint(tmp_path / "evil.npz", DATA)


def test_another_layout_is_refused(tmp_path):
    header = {"kind": checkpoint.KIND, "version": 99, "fingerprint": {}, "results": {}}
    np.savez(tmp_path / "new.npz", header=np.frombuffer(json.dumps(header).encode(), np.uint8))
    with pytest.raises(DataError, match="has layout 99"):
        Checkpoint(tmp_path / "new.npz", {})


def test_a_missing_folder_is_noticed_before_the_work(tmp_path):
    with pytest.raises(DataError, match="folder that exists"):
        Checkpoint(tmp_path / "nowhere" / "run.npz", DATA)


def test_a_failed_write_leaves_the_last_whole_file(file, monkeypatch):
    before = file.read_bytes()
    store = Checkpoint(file, DATA)

    def fail(handle, **arrays):
        handle.write(b"half of it")
        raise OSError("disk full")

    monkeypatch.setattr(checkpoint.np, "savez_compressed", fail)
    with pytest.raises(OSError, match="disk full"):
        store.put("a/2", {"edges": np.arange(2)})
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


def test_writing_takes_a_small_share_of_the_time(tmp_path, monkeypatch):
    clock, writes = [100.0], []
    monkeypatch.setattr(checkpoint.time, "monotonic", lambda: clock[0])

    def slow(handle, **arrays):
        clock[0] += 1.0
        writes.append(len(arrays) - 1)

    monkeypatch.setattr(checkpoint.np, "savez_compressed", slow)
    with Checkpoint(tmp_path / "run.npz", DATA) as store:
        for k in range(25):
            clock[0] += 1.0
            store.put(f"a/{k}", {"edges": np.arange(2)})
    assert writes == [1, 11, 21, 25]


def test_descriptions_tell_apart_what_matters():
    table = np.arange(6).reshape(2, 3)
    assert describe(table) == describe(np.asfortranarray(table))
    assert (
        len({describe(value) for value in (table, table.T, table.astype(float), table.reshape(3, 2), table + 1)}) == 5
    )
    assert describe(ising_path) == "isinglass.solve.path.ising_path"
    options = [functools.partial(nodewise_path, rule=rule, tol=1e-9) for rule in ("and", "or")]
    assert describe(options[0]) == "isinglass.solve.nodewise.nodewise_path(rule='and', tol=1e-09)"
    assert describe(options[0]) != describe(options[1])
    assert describe(np.float64(0.5)) == describe(0.5)
    assert describe(1) != describe(1.0)
