"""Fuzz load: whatever the bytes, it returns a network or raises a documented error.

python tests/fuzz/fuzz_load.py -runs=20000

The first byte of an input chooses what the others are: a whole file, or one entry of a valid file, whose checksum is
then made right. Without the second kind hardly any input would get past the checksums.
"""

import io
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from harness import fuzz

from isinglass import (
    Fixed,
    IsingLasso,
    IsingLassoCV,
    IsingLassoEBIC,
    IsingLassoStARS,
    IsingNetwork,
    Method,
    Network,
    NodewiseIsingEBIC,
    as_table,
    save,
)
from isinglass.data import Table
from isinglass.errors import DataError, LimitError
from isinglass.model_file import read_model

MAX_BYTES = 2**22


def model_files() -> list[bytes]:
    """Return a small valid file of every class."""
    a = np.arange(60) % 2
    X = np.column_stack([a, a ^ (np.arange(60) % 7 == 0), np.arange(60) % 3 == 0])
    three = np.column_stack([(a + np.arange(60) % 5) % 3, np.arange(60) % 4, a])
    kinds = {"kinds": ["nominal", "ordinal", "binary"]}
    nets: list[Any] = [
        IsingLasso(0.05, encode="auto").fit(np.where(X, "Yes", "No")),
        IsingLassoStARS([0.3, 0.2, 0.1, 0.0], n_subsamples=3, random_state=0, threshold=0.5).fit(X),
        IsingLassoEBIC([0.2, 0.05, 0.0]).fit(X),
        IsingLassoCV([0.2, 0.05, 0.0], cv=2, random_state=0).fit(X),
        NodewiseIsingEBIC(penalty_weights=None).fit(X),
        Method("exact", Fixed(0.05)).fit(X),
        IsingLasso(0.01, **kinds).fit(three),
        IsingNetwork(kinds="nominal").fit(np.where(three == 2, "often", three.astype(str))),
        Method("nodewise", Fixed(0.01)).fit(as_table(three, **kinds)),
        Network.from_couplings([[0, 1.0], [1.0, 0]], [0.5, -0.5], names=["<a>", "\ud800"]),
    ]
    files = []
    with tempfile.TemporaryDirectory() as folder:
        for net in nets:
            save(getattr(net, "fit_", net), Path(folder) / "net.npz")
            files.append((Path(folder) / "net.npz").read_bytes())
    return files


FILES = model_files()
ENTRIES = [
    {entry.filename: archive.read(entry) for entry in archive.infolist()}
    for archive in (zipfile.ZipFile(io.BytesIO(file)) for file in FILES)
]
PLACES = [(which, name) for which, entries in enumerate(ENTRIES) for name in entries]


def assemble(data: bytes) -> bytes:
    """Return the file that an input stands for."""
    if data[0] == 0:
        return data[1:]
    which, changed = PLACES[int.from_bytes(data[1:3], "big") % len(PLACES)]
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in ENTRIES[which].items():
            archive.writestr(name, data[3:] if name == changed else content)
    return file.getvalue()


def check(data: bytes) -> None:
    """Load a network, and ask it something if there is one."""
    if not data:
        return
    try:
        found = read_model(io.BytesIO(assemble(data)), "fuzz", MAX_BYTES)
    except (DataError, LimitError) as error:
        if "model file" not in str(error):
            raise AssertionError("an error without a message") from error
        return
    model = found if isinstance(found, Network) else found.network
    first = Table(np.zeros((1, model.n_features), dtype=np.uint8), model.variables)
    chances = model.probabilities(first)
    if not all(np.isfinite(column).all() for column in chances):
        raise AssertionError(f"{model!r} has probabilities that are not finite")
    if found is not model:
        found.edges()


def seeds() -> list[bytes]:
    """Return inputs that stand for valid files."""
    changed = [
        b"\x01" + number.to_bytes(2, "big") + ENTRIES[which][name] for number, (which, name) in enumerate(PLACES)
    ]
    return [b"\x00" + file for file in FILES] + changed


if __name__ == "__main__":
    fuzz(check, seeds(), ("isinglass.model_file", "isinglass.storage"))
