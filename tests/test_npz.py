"""Files of NumPy from anywhere: sizes and types are checked before anything is made, and nothing is unpickled."""

import io
import stat
import zipfile

import numpy as np
import pytest

from isinglass import storage
from isinglass.errors import DataError
from isinglass.storage import (
    DamagedError,
    OversizedError,
    default_limit,
    read_arrays,
    read_record,
    write_record,
)


def opened(content, max_bytes=10**6):
    return read_arrays(io.BytesIO(content), max_bytes)


def zipped(entries, **options):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", **options) as file:
        for name, content in entries:
            file.writestr(name, content)
    return buffer.getvalue()


def npy(array, **options):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, **options)
    return buffer.getvalue()


def test_a_file_is_whole_or_not_there(tmp_path):
    target = tmp_path / "file"
    target.write_bytes(b"old")
    with pytest.raises(storage.NotStorableError, match="an array of type object"):
        write_record(target, [np.array([{}], dtype=object)], "test", 1)
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    (tmp_path / "link").symlink_to(target)
    write_record(tmp_path / "link", [], "test", 1)
    assert (tmp_path / "link").is_symlink()
    assert zipfile.is_zipfile(target)
    assert stat.S_IMODE(target.stat().st_mode) & 0o400


@pytest.mark.parametrize("place", [".", "missing/file"])
def test_places_that_are_no_file(tmp_path, place):
    with pytest.raises(DataError, match=r"is a folder|its folder does not exist"):
        write_record(tmp_path / place, [], "test", 1)


def header(text):
    return "header.npy", npy(np.frombuffer(text.encode(), dtype=np.uint8))


FOREIGN = [
    (zipped([("other", "")]), "it has no header"),
    (zipped([("header.npy", npy(np.zeros(3)))]), "it has no header"),
    (zipped([header("[1]")]), "list indices"),
    (zipped([header("{}"), *((f"{k}", "") for k in range(100))]), "101 members"),
    (zipped([header("{}")], compression=zipfile.ZIP_LZMA), "compressed in another way"),
]


@pytest.mark.parametrize(("content", "message"), FOREIGN)
def test_foreign_archives(content, message, monkeypatch):
    monkeypatch.setattr(storage, "MAX_MEMBERS", 100)
    with pytest.raises(DamagedError, match=message):
        read_record(io.BytesIO(content), "test", 1, 10**6)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_one_name():
    with pytest.raises(DamagedError, match="two of one name"):
        opened(zipped([header("{}"), header("{}")]))


def test_sizes_are_checked_in_the_directory(monkeypatch):
    bomb = zipped([("zeros.npy", bytes(10**6 + 1))], compression=zipfile.ZIP_DEFLATED)
    assert len(bomb) < 3000
    with pytest.raises(OversizedError, match="unpacks to 1000001 bytes"):
        opened(bomb)
    monkeypatch.setattr(storage, "MAX_HEADER_BYTES", 1)
    with pytest.raises(OversizedError, match="its header has 2 bytes"):
        read_record(io.BytesIO(zipped([header("{}")])), "test", 1, 10**6)


GOOD_ARRAYS = [
    np.zeros(3),
    np.zeros((2, 2, 2)),
    np.array(7),
    np.arange(6, dtype=">i4").reshape(2, 3, order="F"),
    np.array(["é", ""]),
    np.array([b"x"]),
    np.zeros((0, 2), dtype=bool),
    np.array(["2001-01-01"], dtype="M8[ns]"),
]


@pytest.mark.parametrize("array", GOOD_ARRAYS, ids=str)
@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
def test_arrays_are_those_that_numpy_reads(array, version):
    content = npy(array, version=version)
    found = opened(zipped([("a.npy", content)]))["a"]
    wanted = np.load(io.BytesIO(content))
    assert found.tolist() == wanted.tolist()
    assert found.dtype == wanted.dtype.newbyteorder("=")
    assert found.shape == wanted.shape
    assert found.flags.c_contiguous


BAD_ARRAYS = [
    (npy(np.array([None]), allow_pickle=True), DamagedError, "type object, not of numbers"),
    (npy(np.array([(1, 2.0)], dtype="i4,f8")), DamagedError, "not of numbers or text"),
    (npy(np.zeros(3)).replace(b"<f8", b"<f9"), ValueError, "descr"),
    (npy(np.zeros(3)).replace(b"<f8", b"<V8"), DamagedError, "not of numbers or text"),
    (npy(np.zeros(3)).replace(b"(3,)", b"(,3)"), ValueError, "header"),
    (npy(np.zeros(3)).replace(b"descr", b"shape"), ValueError, "keys"),
    (npy(np.zeros(3))[:9], ValueError, "EOF"),
    (npy(np.zeros(3))[:5], ValueError, "EOF"),
    (b"\x93NUMPY\x09\x00\xff\xff" + npy(np.zeros(3))[10:], DamagedError, "later version"),
    (b"\x93NUMPY\x01\x00\xff\xff" + npy(np.zeros(3))[10:], ValueError, "EOF"),
    (npy(np.array(["x"])).replace(b"x\0\0\0", b"\0\0\xff\0"), DamagedError, "invalid characters"),
    (npy(np.zeros(3))[:-1], DamagedError, "does not have the bytes"),
    (npy(np.zeros(3)) + b"x", DamagedError, "does not have the bytes"),
    (npy(np.zeros(3)).replace(b"(3,)", b"(9,)"), DamagedError, "does not have the bytes"),
    (npy(np.zeros(3)).replace(b"(3,), }", b"(-3,),}"), DamagedError, "does not have the bytes"),
    (npy(np.zeros(3)).replace(b"(3,), }          ", b"(9999999999999,),}"), DamagedError, "does not have the bytes"),
]


@pytest.mark.parametrize(("content", "error", "message"), BAD_ARRAYS)
def test_bad_arrays(content, error, message):
    with pytest.raises(error, match=message):
        opened(zipped([("a.npy", content)]))


def test_how_much_a_file_may_unpack_to():
    sizes = (1000, 10**8, 10**9, 2**33)
    assert [default_limit(size, 2**32) for size in sizes] == [2**28, 25 * 10**8, 2**32, 2**33]
