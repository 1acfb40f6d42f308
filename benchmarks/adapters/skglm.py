"""skglm on the stacked design, in the rivals' own virtual environment."""

from __future__ import annotations

from adapters.process import RIVALS_PYTHON, WORKERS, ProcessRival

QUESTION = "import skglm; from importlib.metadata import version; print('skglm', version('skglm'))"
PROBE = (str(RIVALS_PYTHON), "-c", QUESTION)


def rivals() -> list[ProcessRival]:
    """Return skglm's prox-Newton solver at its default tolerance and at a tight one."""
    command = (str(RIVALS_PYTHON), str(WORKERS / "fit.py"))
    install = ".venv-rivals/bin/pip install -r benchmarks/rivals.txt"

    def make(name: str, label: str, tol: float, max_iter: int) -> ProcessRival:
        options = {"solver": "skglm", "tol": tol, "max_iter": max_iter}
        return ProcessRival(name, label, command, PROBE, stacked=True, options=options, install=install)

    return [
        make("skglm", "skglm on (X̃, ỹ), default 1e-4", 1e-4, 20),
        make("skglm-tight", "skglm on (X̃, ỹ), tol 1e-9", 1e-9, 200),
    ]
