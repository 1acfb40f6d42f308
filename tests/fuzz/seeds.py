"""Small valid files of every kind, from which the fuzzers start."""

import bz2
import gzip
import io
import lzma
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

BITS = np.array([[0, 1, 1], [1, 0, 1], [0, 0, 1], [1, 1, 0]])

TEXTS = {
    "csv": b"a,b,c\n0,1,1\n1,0,1\n0,0,1\n",
    "csv with ids": b'"","a","b"\r\n"r1",0,1\r\n"r2",NA,1\r\n"r3",1,0\r\n',
    "answers": 'wer;"raucht; viel";singt\nÄnne;ja;nein\nBob;nein;nein\nEve;?;ja\n'.encode(),
    "blanks": b'"a" "b"\n"r1" 0 1\n"r2" 1 1\n',
    "quotes": b'"a ""x""","b\ny"\n0,1\n1.0,TRUE\n',
    "mark": b"\xef\xbb\xbfx\ty\n-1\t1\n1\t-1\n",
}


def _written(write: Callable[..., Any], *args: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    write(file, *args, **options)
    return file.getvalue()


def numpy_files() -> dict[str, bytes]:
    """Return files of NumPy."""
    return {
        "npy": _written(np.save, BITS.astype(np.uint8)),
        "npy text": _written(np.save, np.where(BITS, "Yes", "No")),
        "npz": _written(np.savez_compressed, X=BITS.astype(np.int8)),
    }


def arrow_files() -> dict[str, bytes]:
    """Return files of Arrow."""
    import pyarrow as pa
    from pyarrow import feather, parquet

    columns = {"who": ["w", "x", "y", "z"], "q": ["Yes", None, "No", "No"], "r": [True, False, None, True]}
    table = pa.table({**columns, "s": pa.array(columns["q"]).dictionary_encode()})
    return {
        "parquet": _written(lambda file: parquet.write_table(table, file, compression="none")),
        "feather": _written(lambda file: feather.write_feather(table, file, compression="lz4")),
    }


def survey_files() -> dict[str, bytes]:
    """Return files of Stata and SPSS."""
    import pandas as pd
    import pyreadstat

    frame = pd.DataFrame({"who": ["x", "y", "z"], "q": [1.0, 2.0, np.nan], "r": [0.0, 1.0, 1.0]})
    labels = {"q": {1: "Yes", 2: "No"}}
    files = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind, options in (("sav", {}), ("zsav", {"compress": True}), ("dta", {})):
            path = Path(folder) / f"t.{kind}"
            write = pyreadstat.write_dta if kind == "dta" else pyreadstat.write_sav
            write(frame, path, variable_value_labels=labels, **options)
            files[kind] = path.read_bytes()
    return files


def packed_files() -> dict[str, bytes]:
    """Return compressed text."""
    return {f"csv {pack.__module__}": pack(TEXTS["csv"]) for pack in (gzip.compress, bz2.compress, lzma.compress)}


def table_files() -> dict[str, bytes]:
    """Return a file of every kind that `read_table` knows."""
    return {**TEXTS, **packed_files(), **numpy_files(), **arrow_files(), **survey_files()}
