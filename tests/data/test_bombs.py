"""Small files that would take all memory: each is read or refused within 1 GB and ten seconds."""

import gzip
import io
import itertools
import json
import subprocess
import sys
import zipfile

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

GUARD = 6 * 2**30
MEASURE = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[3]),) * 2)
from isinglass import load, read_table
from isinglass.errors import DataError, LimitError
try:
    found = load(sys.argv[1]) if sys.argv[2] == "model" else read_table(sys.argv[1], **json.loads(sys.argv[2]))
    outcome = "read"
except (DataError, LimitError) as error:
    outcome = type(error).__name__
status = open("/proc/self/status").read().split()
own = int(status[status.index("VmHWM:") + 1]) * 1024
uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
seconds = sum(use.ru_utime + use.ru_stime for use in uses)
print(json.dumps([outcome, own + uses[1].ru_maxrss * 1024, seconds]))
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux does")


def measure(path, options=None):
    """Return how it ended, the largest memory in bytes of it and its worker, and the time of the processors."""
    words = [str(path), options if isinstance(options, str) else json.dumps(options or {}), str(GUARD)]
    done = subprocess.run([sys.executable, "-c", MEASURE, *words], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def written(write):
    file = io.BytesIO()
    write(file)
    return file.getvalue()


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


def zipped(name, content):
    def write(file):
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(name, content)

    return written(write)


def words_of(n):
    return ("".join(word) for word in itertools.islice(itertools.product("abcdefghijklmnop", repeat=6), n))


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
    "model with a long header": (lambda: zipped("header.json", b'{"a":[' + b"{}," * (85 * 10**6) + b"{}]}"), "model"),
    "model with a long name": (lambda: zipped("header.json", b'{"a":[' + b"{}," * (5 * 10**6) + b"{}]}"), "model"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BOMBS)
def test_fault_02_small_files_take_little_memory(kind, tmp_path):
    make, options = BOMBS[kind]
    (tmp_path / "bomb").write_bytes(make())
    assert (tmp_path / "bomb").stat().st_size < 10**7
    outcome, n_bytes, seconds = measure(tmp_path / "bomb", options)
    assert outcome in ("read", "DataError", "LimitError")
    assert n_bytes < 10**9
    assert seconds < 10


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
        assert "--max-bytes" in data_error("info", tmp_path / name, code=5)


def test_the_limit_can_be_raised(tmp_path):
    (tmp_path / "t.gz").write_bytes(gzipped((b"0," * 999 + b"1\n") * 500, 280))
    assert measure(tmp_path / "t.gz")[0] == "LimitError"
    assert measure(tmp_path / "t.gz", {"max_bytes": 2**29})[0] == "read"
