"""Hostile files just below 10 MB, of every format: each is read or refused within 1 GB and ten seconds.

A kind is a function that draws one file of its kind and the options to read it with. Every file is read by a process of
its own with the default limits.
"""

import bz2
import functools
import gzip
import io
import itertools
import json
import lzma
import random
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from pathlib import Path
from time import monotonic

import numpy as np

LARGEST = 10**7  # bytes of a file
MEMORY, SECONDS = 10**9, 10.0
GUARD = 6 * 2**30  # no process may take more: the computer is needed
MEASURE = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[3]),) * 2)
resource.setrlimit(resource.RLIMIT_CPU, (100, 100))
from isinglass import load, read_table
from isinglass.errors import DataError, LimitError
try:
    found = load(sys.argv[1]) if sys.argv[2] == '"model"' else read_table(sys.argv[1], **json.loads(sys.argv[2]))
    outcome = "read"
except (DataError, LimitError) as error:
    outcome = type(error).__name__
status = open("/proc/self/status").read().split()
own = int(status[status.index("VmHWM:") + 1]) * 1024
uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
seconds = sum(use.ru_utime + use.ru_stime for use in uses)
print(json.dumps([outcome, own + uses[1].ru_maxrss * 1024, seconds]))
"""
OPTIONS = (
    *({}, {"encode": "auto"}, {"encode": "auto", "missing": "zero"}, {"missing": "drop", "header": False}),
    *({"encode": "auto", "missing": "zero"}, {"binarize": 0.5}),
    *({"id_column": None, "missing": "zero"}, {"columns": [0], "encode": "auto"}, {"weights": 0}, {"labels": [0]}),
    *({"delimiter": "blank"}, {"encoding": "utf-16", "encode": "auto"}, {"na_values": [0, 1]}),
)


def measure(path, options):
    """Return how reading a file ended, the largest memory in bytes, and the time of the processors."""
    command = [sys.executable, "-c", MEASURE, str(path), json.dumps(options), str(GUARD)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return [f"exit code {done.returncode}: {done.stderr[-300:]}", 0, 0.0]
    return json.loads(done.stdout)


def written(write):
    file = io.BytesIO()
    write(file)
    return file.getvalue()


def zipped(entries):
    def write(file):
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in entries.items():
                archive.writestr(name, content)

    return written(write)


def repeat(piece, size):
    """Return a piece as often as it fits."""
    return piece * (size // len(piece))


# ----------------------------------------------------------------------------------------- text


def words_of(n):
    return ("".join(word) for word in itertools.islice(itertools.product("abcdefghijklmnop", repeat=6), n))


def distinct(width, size):
    """Return a table in which no two cells are equal."""
    words = words_of(size // 7)
    return "\n".join(",".join(row) for row in iter(lambda: list(itertools.islice(words, width)), [])).encode()


def wide(source, size):
    width = source.choice([1000, 30_000, 99_000])
    cell = source.choice([b"0,", b"n,", b"1.0,", b"?,"])
    head = ",".join(words_of(width)).encode()
    row = cell * (width - 1) + b"1\n"
    return head + b"\n" + repeat(row, max(size - len(head), len(row)))


def ragged(source, size):
    lines, total, step = [], 0, source.choice([1, 7])
    while total < size:
        lines.append(b"0," * (step * len(lines)) + b"1")
        total += len(lines[-1]) + 1
    return b"\n".join(lines)


PIECES = (
    *(b"0", b"0,", b"0\n", b"0,1\n", b"1;0;1\n", b"0\t1\n", b"0|1\n", b"0 1\n", b"01\n", b"\n", b"\r", b"\r\n", b" "),
    *(
        b",",
        b'"',
        b'""',
        b'"a","b"\n',
        b'"a\n',
        b'"0",',
        b"NA,",
        b"?\n",
        b"\x00",
        b"\xff",
        b"-1,1\n",
        b"1e5,",
        b"=1+1,",
    ),
    *(b"a,b;c\td|e f\n", b"0." + b"0" * 5000 + b",1\n", b"9" * 400 + b",", b"TRUE,FALSE\n", "\U0001f600,".encode()),
    *(b"1.0,0.0\n", b"0.1234567,", b"x" * 70_000 + b",0\n", b'"x\ny",1\n', b"\xef\xbb\xbf0,1\n", "ä,ö\n".encode()),
    b"\xff\xfe0\x00\n\x00",
)


def text(source, size):
    """Return a text of one piece again and again, perhaps after another beginning, or one in which cells differ."""
    how = source.random()
    if how < 0.15:
        return wide(source, size)
    if how < 0.2:
        return ragged(source, size)
    if how < 0.35:
        return distinct(source.choice([1, 2, 50, 5000]), size)
    if how < 0.4:
        return ("a,b\n" + "".join(f"{word},1\n" for word in words_of(size // 9))).encode()
    start = source.choice([b"", b"a,b\n0,1\n", b'"', b"name,x\n", source.choice(PIECES) * 50])
    return start + repeat(source.choice(PIECES), size - len(start))


def draw_text(source):
    return text(source, source.randint(LARGEST // 2, LARGEST - 1)), source.choice(OPTIONS)


def draw_packed(source):
    """Compressed text around the limit of what a small file may unpack to: many short streams one after the other."""
    block = text(source, source.choice([2**14, 2**20]))
    pack = source.choice([functools.partial(gzip.compress, compresslevel=1), bz2.compress, lzma.compress])
    times = source.choice([100, 255, 300, 1000]) * 2**20 // max(len(block), 1)
    stream = pack(block)
    if source.random() < 0.5:  # as one stream, where that is quick to make
        block, times = block * min(times, 60 * 2**20 // len(block)), 1
        stream = gzip.compress(block, 1)
    return repeat(stream, min(times * len(stream), LARGEST - 1)) or stream[: LARGEST - 1], source.choice(OPTIONS)


def draw_empty_streams(source):
    pack = source.choice([gzip.compress, bz2.compress, lzma.compress])
    return repeat(pack(b""), LARGEST - 100) + pack(b"a,b\n0,1\n"), {}


# ----------------------------------------------------------------------------------------- arrays


DTYPES = ("u1", "b1", "i8", "f8", "f2", "c16", "U1", "U100", "S1", "S1000", "M8[s]", "m8[D]", ">f8")


def array_of(source, n_bytes):
    """Return zeros, ones or noise of some type and shape that takes about so many bytes."""
    dtype = np.dtype(source.choice(DTYPES))
    cells = max(n_bytes // dtype.itemsize, 1)
    width = source.choice([1, 3, 100, 90_000, cells])
    shape = source.choice([(max(cells // width, 1), width)] * 4 + [(cells,), (max(cells // 8, 1), 2, 4)])
    array = np.zeros(shape, dtype)
    if dtype.kind in "US":
        array[...] = source.choice(["0", "y", ""])
    elif dtype.kind in "uf" and source.random() < 0.5:
        array[...] = np.random.default_rng(source.randint(0, 99)).integers(0, 3, 1 if array.size > 10**7 else shape)
    return np.asfortranarray(array) if source.random() < 0.3 else array


def draw_npy(source):
    data = written(lambda file: np.save(file, array_of(source, source.randint(LARGEST // 2, LARGEST - 1000))))
    if source.random() < 0.3:  # a head that promises more than there is
        data = data.replace(b"'shape': (", b"'shape': (9999999, ", 1)
    return data, source.choice(OPTIONS)


def draw_npz(source):
    size = source.choice([LARGEST, 100 * 2**20, 255 * 2**20, 300 * 2**20])
    arrays = {"X": array_of(source, size // 2), "Y": array_of(source, 1000)}
    return written(lambda file: np.savez_compressed(file, **arrays)), source.choice(OPTIONS)


def draw_archive(source):
    """Zip archives that are no arrays: spreadsheets, thousands of entries, entries within entries."""
    zeros = bytes(source.choice([10**6, 10**8, 3 * 10**8]))
    how = source.choice(["sheet", "many", "nested", "named"])
    if how == "sheet":
        return zipped({"[Content_Types].xml": b"", "xl/worksheets/sheet1.xml": zeros}), {}
    if how == "many":
        return zipped({f"{k}.npy": b"" for k in range(60_000)}), {}
    if how == "nested":
        return zipped({"X.npy": zipped({"X.npy": zeros})}), {}
    return zipped({"X.npy": zeros, "y" * 60_000: zeros[:10]}), {}


# ----------------------------------------------------------------------------------------- other programs


def arrow_table(source):
    import pyarrow as pa

    rows = source.choice([10**4, 10**5, 10**6])
    long = "x" * source.choice([1, 1000, 2**20])
    codes = pa.array(np.zeros(rows, np.int32))
    columns = {
        "dictionary": lambda: {"a": pa.DictionaryArray.from_arrays(codes, [long])},
        "zeros": lambda: {f"c{k}": np.zeros(rows) for k in range(min(40, 4 * 10**7 // rows))},
        "flags": lambda: {f"c{k}": np.zeros(rows, bool) for k in range(30)},
        "nothing": lambda: {"a": pa.nulls(10 * rows), "b": pa.nulls(10 * rows, pa.string())},
        "columns": lambda: {f"c{k}": [0, 1] for k in range(source.choice([2000, 20_000]))},
        "texts": lambda: {"a": list(words_of(rows)), "b": list(words_of(rows))},
        "one text": lambda: {"a": ["y" * (LARGEST // 2), "n"]},
        "lists": lambda: {"a": pa.array([[0] * 100] * (rows // 100))},
        "decimals": lambda: {"a": pa.array([0, 1] * (rows // 20)).cast(pa.decimal128(38, 10))},
        "dates": lambda: {"a": pa.array(np.zeros(rows, "M8[s]"))},
        "structs": lambda: {"a": pa.array([{"b": 1}] * (rows // 10))},
    }
    return pa.table(columns[source.choice(list(columns))]())


def draw_arrow(source):
    from pyarrow import feather, parquet

    table = arrow_table(source)
    if source.random() < 0.4:
        pack = source.choice(["zstd", "lz4", "uncompressed"])
        return written(lambda file: feather.write_feather(table, file, compression=pack)), source.choice(OPTIONS)
    many = len(table) // 2000 or None
    settings = {
        "compression": source.choice(["zstd", "gzip", "brotli", "snappy", "none"]),
        "use_dictionary": source.choice([True, False]),
        "row_group_size": source.choice([many, None, None]),
    }
    return written(lambda file: parquet.write_table(table, file, **settings)), source.choice(OPTIONS)


def draw_survey(source):
    import pandas as pd
    import pyreadstat

    kind = source.choice(["dta", "sav", "zsav"])
    rows, width = source.choice([(200_000, 6), (3000, 400), (20, 20_000), (100_000, 60)])
    values = source.choice([np.zeros((rows, width)), np.full((rows, min(width, 6)), "y" * source.choice([1, 250]))])
    frame = pd.DataFrame(values, columns=[f"c{k}" for k in range(values.shape[1])])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"t.{kind}"
        if kind == "dta":
            pyreadstat.write_dta(frame.iloc[:, :6], path)
        else:
            pyreadstat.write_sav(frame, path, compress=kind == "zsav")
        return path.read_bytes(), source.choice(OPTIONS)


# ----------------------------------------------------------------------------------------- models


def header_bomb(source):
    size = source.choice([2**24 - 100, 85 * 3 * 10**6, 10**6])
    pieces = {
        "objects": b'{"a":[' + repeat(b"{},", size) + b"{}]}",
        "depth": b'{"a":' + b"[" * size,
        "closed": b'{"a":' + b"[" * (size // 2) + b"]" * (size // 2) + b"}",
        "keys": b"{" + b",".join(b'"%d":1' % k for k in range(size // 12)) + b"}",
        "number": b'{"a":' + b"9" * size + b"}",
        "text": b'{"a":"' + b"\\u0000" * (size // 6) + b'"}',
        "names": b'{"names":[' + repeat(b'"a",', size) + b'"b"]}',
    }
    text = source.choice(list(pieces.values()))
    return zipped({"header.npy": written(lambda file: np.save(file, np.frombuffer(text, dtype=np.uint8)))})


def read_in_order(tree):
    """Yield the records of a header in the order in which they are read, by which others refer to them."""
    if isinstance(tree, dict):
        for kind, content in tree.items():
            yield from read_in_order(content)
            if kind[0].isupper():
                yield tree
    elif isinstance(tree, list):
        for item in tree:
            yield from read_in_order(item)


def longer_model(name, times, n_numbers=0):
    """Return a model whose path or stability has very many entries, and so many numbers for their arrays."""
    import fuzz_load

    entries = dict(fuzz_load.ENTRIES[1])
    header = json.loads(np.load(io.BytesIO(entries["header.npy"])).tobytes())
    kind, field = {"path": ("Path", "solutions"), "stability": ("Stability", "edge_frequencies")}[name]
    records = list(read_in_order(header["content"]))
    (many,) = [record[kind][field] for record in records if kind in record]
    place = next((place for place, record in enumerate(records) if record is many[0]), None)
    many += [many[0] if place is None else {"same": place}] * times
    for member in ("a0.npy", "a1.npy") if n_numbers else ():
        array = np.resize(np.load(io.BytesIO(entries[member])), n_numbers)
        entries[member] = written(lambda file, array=array: np.save(file, array))
    text = json.dumps(header).encode()
    entries["header.npy"] = written(lambda file: np.save(file, np.frombuffer(text, dtype=np.uint8)))
    return zipped(entries)


def model_bomb(source):
    """A model of many networks, whose header and arrays compress well."""
    times, numbers = source.choice([10**3, 10**4, 10**5]), source.choice([0, 10**6, 3 * 10**7])
    return longer_model(source.choice(["path", "stability"]), times, numbers)


def draw_model(source):
    return source.choice([header_bomb, model_bomb, model_bomb])(source), "model"


DRAWS = (
    *(draw_text, draw_packed, draw_text, draw_packed, draw_empty_streams, draw_npy, draw_npz),
    *(draw_archive, draw_arrow, draw_model, draw_arrow, draw_survey, draw_model),
)


def draw(seed, number):
    """Return kind, content and options of the case with this number; None for content that came out too large."""
    source = random.Random(f"{seed}/{number}")
    kind = DRAWS[number % len(DRAWS)]
    data, options = kind(source)
    return kind.__name__.removeprefix("draw_"), data if len(data) < LARGEST else None, options


# ----------------------------------------------------------------------------------------- what once took too much


def gzipped(piece, times):
    """Return many times the same, compressed without ever being in memory."""

    def write(file):
        with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=1) as stream:
            for _ in range(times):
                stream.write(piece)

    return written(write)


def arrow_of(table, **options):
    from pyarrow import feather, parquet

    if options.pop("kind", "parquet") == "feather":
        return written(lambda file: feather.write_feather(table, file, **options))
    return written(lambda file: parquet.write_table(table, file, **options))


def repeated_text(rows):
    import pyarrow as pa

    return pa.table({"a": pa.DictionaryArray.from_arrays(np.zeros(rows, dtype=np.int32), ["x" * 2**20])})


def zeros_table():
    import pyarrow as pa

    return pa.table({f"c{k}": np.zeros(10**6) for k in range(40)})


def zipped_header(content):
    return zipped({"header.npy": written(lambda file: np.save(file, np.frombuffer(content, dtype=np.uint8)))})


AUTO = {"encode": "auto"}
QUICK = {
    "parquet, a long text 6000 times": (lambda: arrow_of(repeated_text(6000)), {}),
    "parquet, 60 000 times": (lambda: arrow_of(repeated_text(60_000)), {}),
    "parquet of zeros": (lambda: arrow_of(zeros_table(), compression="zstd"), {}),
    "feather of zeros": (lambda: arrow_of(zeros_table(), kind="feather", compression="zstd"), {}),
    "gzip, one line of zeros": (lambda: gzipped(b"0" * 2**20, 300), {}),
    "gzip, one line of zeros just allowed": (lambda: gzipped(b"0," * 2**19, 255), {}),
    "gzip, a large table": (lambda: gzipped((b"n," * 999 + b"?\n") * 500, 200), {"encode": "auto", "missing": "zero"}),
    "gzip, short rows": (lambda: gzipped(b"abc,0\n" * 2**17, 255), {}),
    "npz of text": (lambda: written(lambda f: np.savez_compressed(f, X=np.full((300, 10**5), "y"))), AUTO),
    "model with a long name": (lambda: zipped_header(b'{"a":[' + b"{}," * (5 * 10**6) + b"{}]}"), "model"),
    "model with many networks": (lambda: longer_model("path", 20_000, 2 * 10**7), "model"),
}  # fmt: skip
SLOW = {
    "gzip, empty members": (lambda: gzip.compress(b"") * 490_000 + gzip.compress(b"a,b\n0,1\n"), {}),
    "different words": (lambda: "\n".join(f"{w},{w[::-1]}" for w in words_of(700_000)).encode(), {}),
    "names of rows": (lambda: "".join(f"{w},0\n" for w in words_of(1_000_000)).encode(), {}),
    "wide, of words": (lambda: (",".join(words_of(99_000)) + "\n" + ("n," * 98_999 + "y\n") * 40).encode(), AUTO),
    "bzip2, wide, with names again": (
        lambda: bz2.compress(",".join(words_of(99_000)).encode() + b"\n" + b"1.0," * 98_999 + b"1\n") * 104,
        {"na_values": [0, 1]},
    ),
    "npz of zeros": (lambda: written(lambda f: np.savez_compressed(f, X=np.zeros((2600, 10**5), np.uint8))), {}),
    "model with a long header": (lambda: zipped_header(b'{"a":[' + b"{}," * (85 * 10**6) + b"{}]}"), "model"),
    "model with a long path": (lambda: longer_model("path", 10**6), "model"),
    "model with a long stability": (lambda: longer_model("stability", 10**6), "model"),
}  # fmt: skip
"""Files that once took too much: the tests read the quick ones, `run` begins with the slow ones."""


def complain(outcome, n_bytes, seconds):
    """Return what is wrong with a reading, or nothing."""
    wrong = [] if outcome in ("read", "DataError", "LimitError") else [outcome]
    wrong += [f"{n_bytes / 1e6:.0f} MB"] if n_bytes >= MEMORY else []
    return "; ".join([*wrong, *([f"{seconds:.1f} s"] if seconds >= SECONDS else [])])


def files(seed, first, most):
    """Yield number, kind, content and options: first what is written out, unless a number of cases is given."""
    if most is None and first == 0:
        for kind, (make, options) in SLOW.items():
            yield kind, "written out", make(), options
    for number in itertools.islice(itertools.count(first), most):
        yield number, *draw(seed, number)


def run(seconds, seed, *, first=0, most=None, **options):
    """Read one file after the other until the time is over."""
    counts, cases, end = Counter(), [], monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bomb"
        for number, kind, data, settings in files(seed, first, most):
            if monotonic() > end:
                break
            if data is None:
                counts[kind, "too large to try"] += 1
                continue
            path.write_bytes(data)
            outcome, n_bytes, taken = measure(path, settings)
            counts[kind, outcome[:40]] += 1
            counts["largest, MB",] = max(counts["largest, MB",], n_bytes // 10**6)
            counts["longest, ms",] = max(counts["longest, ms",], round(1000 * taken))
            if wrong := complain(outcome, n_bytes, taken):
                cases.append(f"case {number} ({kind}, {len(data)} bytes, {settings}): {wrong}")
    return counts, cases


def complaints(counts, cases):
    """Return what must not be."""
    return cases if counts else ["nothing was tried"]
