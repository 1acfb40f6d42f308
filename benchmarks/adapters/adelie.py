"""adelie on the stacked design, in the rivals' own virtual environment."""

from __future__ import annotations

from adapters.process import RIVALS_PYTHON, WORKERS, ProcessRival

QUESTION = "import adelie; from importlib.metadata import version; print('adelie', version('adelie'))"
PROBE = (str(RIVALS_PYTHON), "-c", QUESTION)


def rivals() -> list[ProcessRival]:
    """Return adelie at its default tolerance and at a tight one."""
    command = (str(RIVALS_PYTHON), str(WORKERS / "fit.py"))
    install = ".venv-rivals/bin/pip install -r benchmarks/rivals.txt"

    def make(name: str, label: str, tol: float) -> ProcessRival:
        options = {"solver": "adelie", "tol": tol}
        return ProcessRival(name, label, command, PROBE, stacked=True, options=options, install=install)

    return [
        make("adelie", "adelie on (X̃, ỹ), default 1e-7", 1e-7),
        make("adelie-tight", "adelie on (X̃, ỹ), tol 1e-13", 1e-13),
    ]
