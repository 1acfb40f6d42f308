"""Kill a run at a random moment, resume it, and compare: the result has the same bytes, and nothing is left over."""

import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

RUN = """
import sys
import numpy as np
from isinglass import Method, Run, StARS
X = np.random.default_rng(int(sys.argv[2])).integers(0, 2, (300, 12))
settings = {"alphas": [0.1, 0.07, 0.05, 0.03, 0.02], "n_subsamples": 30, "random_state": 1, "threshold": 0.3}
found = Method(selector=StARS(**settings)).choose(X, run=Run(n_jobs=2, checkpoint=sys.argv[1])).stability
sys.stdout.buffer.write(found.instability.tobytes() + np.float64(found.alpha).tobytes())
"""


def start(folder, seed):
    """Start a run whose warnings do not matter here."""
    command = [sys.executable, "-W", "ignore", "-c", RUN, str(folder), str(seed)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def run(seconds, seed, *, first=0, most=None, **options):
    """Kill and resume until the time is over."""
    counts, cases, source = Counter(), [], random.Random(seed)
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as place:
        begun = time.monotonic()
        whole, _ = start(Path(place) / "whole", seed).communicate()
        duration = time.monotonic() - begun
        while time.monotonic() < end and (most is None or counts["runs",] < most):
            folder = Path(place) / f"run{counts['runs',]}"
            for _ in range(source.randint(1, 3)):
                process = start(folder, seed)
                time.sleep(duration * source.uniform(0.3, 1.0))
                process.kill()
                process.communicate()
                counts["kills",] += 1
            process = start(folder, seed)
            found, errors = process.communicate()
            counts["runs",] += 1
            if process.returncode or found != whole:
                cases.append(f"run {counts['runs',]} ended with {process.returncode}: {errors[-200:]!r}")
    return counts, cases


def complaints(counts, cases):
    """Return what must not be."""
    return cases if counts["runs",] else ["nothing was tried"]
