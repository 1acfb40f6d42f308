"""The container of model files: same content, same bytes; sizes, types and shapes checked before anything is made."""

import io
import json
import stat
import zipfile

import numpy as np
import pytest

from isinglass import archive as module
from isinglass.archive import Archive, DamagedError, OversizedError, most_unpacked, write_archive
from isinglass.errors import DataError

ARRAYS = {"a": np.arange(6.0).reshape(2, 3), "b": np.array([True, False]), "none": np.empty((0, 2), dtype=np.int32)}


def opened(content, max_bytes=10**6):
    return Archive(io.BytesIO(content), max_bytes)


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


def test_there_and_back(tmp_path):
    write_archive(tmp_path / "file", {"words": ["ä", "\ud800"], "number": 0.1}, ARRAYS)
    with (tmp_path / "file").open("rb") as file:
        found = Archive(file, 10**6)
        assert found.header == {"words": ["ä", "\ud800"], "number": 0.1}
        assert found.has("a")
        for name, array in ARRAYS.items():
            read = found.array(name, array.dtype.str.lstrip("<|"), array.shape)
            assert read.dtype == array.dtype
            np.testing.assert_array_equal(read, array)
            assert not found.has(name)
        found.refuse_rest()
    with np.load(tmp_path / "file", allow_pickle=False) as plain:  # it is an .npz for everybody
        np.testing.assert_array_equal(plain["a"], ARRAYS["a"])
        assert json.loads(plain["header.json"])["number"] == 0.1


def test_the_same_content_has_the_same_bytes(tmp_path, monkeypatch):
    write_archive(tmp_path / "one", {"b": 1, "a": 2}, ARRAYS)
    monkeypatch.setattr("time.time", lambda: 2e9)
    swapped = {name: np.asfortranarray(array.astype(array.dtype.newbyteorder(">"))) for name, array in ARRAYS.items()}
    write_archive(tmp_path / "two", {"a": 2, "b": 1}, swapped)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_file_is_whole_or_not_there(tmp_path):
    target = tmp_path / "file"
    target.write_bytes(b"old")
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        write_archive(target, {}, {"bad": np.array([{}], dtype=object)})
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    (tmp_path / "link").symlink_to(target)
    write_archive(tmp_path / "link", {}, {})
    assert (tmp_path / "link").is_symlink()
    assert zipfile.is_zipfile(target)
    assert stat.S_IMODE(target.stat().st_mode) & 0o400


@pytest.mark.parametrize("place", [".", "missing/file"])
def test_places_that_are_no_file(tmp_path, place):
    with pytest.raises(DataError, match="path must be a file in a folder that exists"):
        write_archive(tmp_path / place, {}, {})


HEADER = ("header.json", "{}")
FOREIGN = [
    (zipped([("other", "")]), "it has no header.json"),
    (zipped([("header.json", "[1]")]), "not an object"),
    (zipped([("header.json", '{"a": NaN}')]), "holds NaN"),
    (zipped([HEADER, *((f"{k}", "") for k in range(100))]), "101 entries"),
    (zipped([HEADER], compression=zipfile.ZIP_LZMA), "compressed in another way"),
]


@pytest.mark.parametrize(("content", "message"), FOREIGN)
def test_foreign_archives(content, message):
    with pytest.raises(DamagedError, match=message):
        assert not opened(content).header


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_entries_of_one_name():
    with pytest.raises(DamagedError, match="two of one name"):
        opened(zipped([HEADER, HEADER]))


def test_sizes_are_checked_in_the_directory(monkeypatch):
    bomb = zipped([HEADER, ("zeros.npy", bytes(10**6))], compression=zipfile.ZIP_DEFLATED)
    assert len(bomb) < 3000
    with pytest.raises(OversizedError, match="unpacks to 1000002 bytes"):
        opened(bomb)
    monkeypatch.setattr(module, "LONGEST_HEADER", 1)
    with pytest.raises(OversizedError, match="its header has 2 bytes"):
        assert not opened(zipped([HEADER])).header


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
@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_arrays_are_those_that_numpy_reads(array, version):
    content = npy(array, version=version)
    found = opened(zipped([("a.npy", content)])).array("a")
    wanted = np.load(io.BytesIO(content))
    assert found.tolist() == wanted.tolist()
    assert found.dtype == wanted.dtype.newbyteorder("=")
    assert found.flags.c_contiguous


BAD_ARRAYS = [
    (npy(np.zeros(3)), "f8", (2,), r"shape \(3,\), not \(2,\)"),
    (npy(np.zeros(3)), "f8", (3, None), "shape"),
    (npy(np.zeros(3)), "i8", (3,), "type <f8, not i8"),
    (npy(np.zeros(3, dtype=">f8")), "f8", (3,), "type >f8, not f8"),
    (npy(np.array([None]), allow_pickle=True), "f8", (1,), "got dtype .O"),
    (npy(np.array([(1, 2.0)], dtype="i4,f8")), "f8", (1,), "damaged, or of objects"),
    (npy(np.zeros(3)).replace(b"<f8", b"<f9"), "f8", (3,), "unknown type '<f9'"),
    (npy(np.zeros(3)).replace(b"<f8", b"<V8"), "f8", (3,), "numbers or text; got dtype <V8"),
    (npy(np.zeros(3)).replace(b"(3,)", b"(3L,)"), "f8", (3,), "head of an array is damaged"),  # as Python 2 wrote it
    (npy(np.zeros(3)).replace(b"(3,)", b"(,3)"), "f8", (3,), "shape"),
    (npy(np.zeros(3)).replace(b"descr", b"shape"), "f8", (3,), "damaged"),
    (npy(np.zeros(3))[:9], "f8", (3,), "damaged"),
    (npy(np.zeros(3))[:5], "f8", (3,), "not an array of NumPy"),
    (b"\x93NUMPY\x09\x00\xff\xff" + npy(np.zeros(3))[10:], "f8", (3,), "not an array of NumPy"),
    (b"\x93NUMPY\x01\x00\xff\xff" + npy(np.zeros(3))[10:], "f8", (3,), "damaged"),
    (b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + npy(np.zeros(3))[10:], "f8", (3,), "damaged"),
    (npy(np.array(["x"])), "f8", (1,), "type <U1, not f8"),
    (npy(np.array(["x"])).replace(b"x\0\0\0", b"\0\0\xff\0"), "U1", (1,), "invalid characters"),
    (npy(np.zeros(3))[:-1], "f8", (3,), "23 bytes"),
    (npy(np.zeros(3)) + b"x", "f8", (3,), "bytes, not the 24 of its shape"),
    (npy(np.zeros(3)).replace(b"(3,)", b"(9,)"), "f8", (None,), "24 bytes"),
    (npy(np.zeros(3)).replace(b"(3,), }", b"(9,9),}"), "f8", (None,), "takes 648 bytes"),
]


@pytest.mark.parametrize(("content", "dtype", "shape", "message"), BAD_ARRAYS)
def test_bad_arrays(content, dtype, shape, message):
    found = opened(zipped([HEADER, ("a.npy", content)]))
    with pytest.raises(DamagedError, match=message):
        found.array("a", dtype, shape)


def test_nothing_else_may_hide_there():
    found = opened(zipped([HEADER, ("a.npy", npy(np.zeros(1)))]))
    with pytest.raises(DamagedError, match=r"it has no b\.npy"):
        found.array("b", "f8", (1,))
    with pytest.raises(DamagedError, match=r"an entry 'a\.npy' that does not belong there"):
        found.refuse_rest()


def test_how_much_a_file_may_unpack_to():
    sizes = (1000, 10**8, 10**9, 2**33)
    assert [most_unpacked(size, 2**32) for size in sizes] == [2**28, 25 * 10**8, 2**32, 2**33]
