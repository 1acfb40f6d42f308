"""Small files that would take all memory: each is read or refused within 1 GB; `make fuzz` has more of them."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))

from bombs import QUICK, arrow_of, complain, gzipped, measure, written, zeros_table

from isinglass import read_table
from isinglass.errors import LimitError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux does")


FEW = ["parquet of zeros", "gzip, one line of zeros just allowed", "npz of text", "model with a long name"]


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=[] if kind in FEW else pytest.mark.long) for kind in QUICK])
def test_fault_02_small_files_take_little_memory(kind, tmp_path):
    make, options = QUICK[kind]
    (tmp_path / "bomb").write_bytes(make())
    assert (tmp_path / "bomb").stat().st_size < 10**7
    outcome, n_bytes, _ = measure(tmp_path / "bomb", options)
    assert complain(outcome, n_bytes, 0.0) == ""


LARGE = {
    "zeros.gz": lambda: gzipped(b"0" * 2**20, 260),
    "zeros.feather": lambda: arrow_of(zeros_table(), kind="feather"),
    "zeros.npz": lambda: written(lambda f: np.savez_compressed(f, X=np.zeros((280, 10**6), np.uint8))),
    "zeros.parquet": lambda: arrow_of(zeros_table()),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == "zeros.gz" else pytest.mark.long) for name in LARGE]
)
def test_fault_02_what_is_too_large_has_one_exit_code(name, tmp_path):
    from commands import data_error

    (tmp_path / name).write_bytes(LARGE[name]())
    assert "max_bytes" in data_error("info", tmp_path / name, code=5)


def test_the_limit_can_be_raised(tmp_path):
    (tmp_path / "t.gz").write_bytes(gzipped((b"0," * 99 + b"1\n") * 500, 20))  # 2 MB
    with pytest.raises(LimitError):
        read_table(tmp_path / "t.gz", max_bytes=2**20)
    assert read_table(tmp_path / "t.gz", max_bytes=2**24).shape == (10_000, 100)
