"""Scripts run with the kernels of one instruction set, which a process chooses when it starts."""

import os
import subprocess
import sys

import pytest

INSTRUCTION_SETS = ["portable", "v3", "v4"]


def run_with_kernels(name, script, *arguments):
    """Return what a script prints; skip the test if the processor lacks these instructions."""
    done = subprocess.run(
        [sys.executable, "-c", f"{script}\nfrom isinglass import _core\nprint(_core.instruction_set)", *arguments],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "ISINGLASS_KERNELS": name},
    )
    *printed, used = done.stdout.splitlines()
    if used != name:
        pytest.skip(f"this processor has no {name} instructions")
    return "\n".join(printed)
