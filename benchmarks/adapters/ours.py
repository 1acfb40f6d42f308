"""isinglass itself, in its own process like everybody else, on all cores and on one."""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from pathlib import Path

from adapters.process import WORKERS, ProcessRival

PROBE = (sys.executable, "-c", "import isinglass as i; i.ising_path; print('isinglass', i.__version__)")


class OurRival(ProcessRival):
    """The version is not enough while developing: the kernels' and the driver's contents are part of the key."""

    def version(self) -> str:
        """Return the version and a digest of the installed solver."""
        return f"{super().version()} ({solver_digest()})"


@cache
def solver_digest() -> str:
    """Digest of the compiled kernels and the Python that drives them."""
    import isinglass

    package = Path(isinglass.__file__).parent
    spec = __import__("importlib.util").util.find_spec("isinglass._core")
    files = [package / name for name in ("path.py", "screening.py")]
    if spec is not None and spec.origin:
        files += sorted(Path(spec.origin).parent.glob("*.so"))
    digest = hashlib.sha256()
    for file in files:
        if file.exists():
            digest.update(file.read_bytes())
    return digest.hexdigest()[:8]


def rivals() -> list[ProcessRival]:
    """Return our settings; the first is the reference of every ratio."""
    command = (sys.executable, str(WORKERS / "fit.py"))
    return [
        OurRival("isinglass", "isinglass", command, PROBE, options={"solver": "isinglass"}, install="pip install ."),
        OurRival(
            "isinglass-1",
            "isinglass, one thread",
            command,
            PROBE,
            options={"solver": "isinglass", "n_threads": 1},
            install="pip install .",
        ),
    ]
