"""Small files that would take all memory: each is read or refused within 1 GB and ten seconds."""

import gzip
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))

from bombs import complain, longer_model, measure, words_of, written, zipped

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux does")


def gzipped(piece, times):
    """Return many times the same, compressed without ever being in memory."""

    def write(file):
        with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=1) as stream:
            for _ in range(times):
                stream.write(piece)

    return written(write)


def repeated_text(rows):
    long = pa.DictionaryArray.from_arrays(np.zeros(rows, dtype=np.int32), ["x" * 2**20])
    return pa.table({"a": long})


def zipped_header(content):
    return zipped({"header.npy": written(lambda file: np.save(file, np.frombuffer(content, dtype=np.uint8)))})


AUTO = {"encode": "auto"}
ZEROS = pa.table({f"c{k}": np.zeros(10**6) for k in range(40)})
BOMBS = {
    "parquet, a long text 6000 times": (lambda: written(lambda f: parquet.write_table(repeated_text(6000), f)), {}),
    "parquet, 60 000 times": (lambda: written(lambda f: parquet.write_table(repeated_text(60_000), f)), {}),
    "parquet of zeros": (lambda: written(lambda f: parquet.write_table(ZEROS, f, compression="zstd")), {}),
    "feather of zeros": (lambda: written(lambda f: feather.write_feather(ZEROS, f, compression="zstd")), {}),
    "gzip, one line of zeros": (lambda: gzipped(b"0" * 2**20, 300), {}),
    "gzip, one line of zeros just allowed": (lambda: gzipped(b"0," * 2**19, 255), {}),
    "gzip, a large table": (lambda: gzipped((b"n," * 999 + b"?\n") * 500, 200), {"encode": "auto", "missing": "zero"}),
    "gzip, short rows": (lambda: gzipped(b"abc,0\n" * 2**17, 255), {}),
    "gzip, empty members": (lambda: gzip.compress(b"") * 490_000 + gzip.compress(b"a,b\n0,1\n"), {}),
    "different words": (lambda: "\n".join(f"{w},{w[::-1]}" for w in words_of(700_000)).encode(), {}),
    "names of rows": (lambda: "".join(f"{w},0\n" for w in words_of(1_000_000)).encode(), {}),
    "wide, of words": (lambda: (",".join(words_of(99_000)) + "\n" + ("n," * 98_999 + "y\n") * 40).encode(), AUTO),
    "npz of zeros": (lambda: written(lambda f: np.savez_compressed(f, X=np.zeros((2600, 10**5), np.uint8))), {}),
    "npz of text": (lambda: written(lambda f: np.savez_compressed(f, X=np.full((300, 10**5), "y"))), AUTO),
    "model with a long header": (lambda: zipped_header(b'{"a":[' + b"{}," * (85 * 10**6) + b"{}]}"), "model"),
    "model with a long name": (lambda: zipped_header(b'{"a":[' + b"{}," * (5 * 10**6) + b"{}]}"), "model"),
}  # fmt: skip


BOMBS |= {
    "model with many networks": (lambda: longer_model("path", 20_000, 2 * 10**7), "model"),
    "model with a long path": (lambda: longer_model("path", 10**6), "model"),
    "model with a long stability": (lambda: longer_model("stability", 10**6), "model"),
}


@pytest.mark.parametrize("kind", BOMBS)
def test_fault_02_small_files_take_little_memory(kind, tmp_path):
    make, options = BOMBS[kind]
    (tmp_path / "bomb").write_bytes(make())
    assert (tmp_path / "bomb").stat().st_size < 10**7
    outcome, n_bytes, _ = measure(tmp_path / "bomb", options)  # `make fuzz` looks at the time
    assert complain(outcome, n_bytes, 0.0) == ""


def test_fault_02_what_is_too_large_has_one_exit_code(tmp_path):
    from commands import data_error

    files = {
        "zeros.gz": gzipped(b"0" * 2**20, 260),
        "zeros.npz": written(lambda f: np.savez_compressed(f, X=np.zeros((280, 10**6), np.uint8))),
        "zeros.parquet": written(lambda f: parquet.write_table(ZEROS, f)),
        "zeros.feather": written(lambda f: feather.write_feather(ZEROS, f)),
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
        assert "max_bytes" in data_error("info", tmp_path / name, code=5)


def test_the_limit_can_be_raised(tmp_path):
    (tmp_path / "t.gz").write_bytes(gzipped((b"0," * 999 + b"1\n") * 500, 280))
    assert measure(tmp_path / "t.gz", {})[0] == "LimitError"
    assert measure(tmp_path / "t.gz", {"max_bytes": 2**31})[0] == "read"
