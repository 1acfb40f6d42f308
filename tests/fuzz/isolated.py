"""Cases of a suite in a process of their own: one that kills the interpreter is counted, and the next one follows.

The suite has ``run_numbered(seed, index) -> {key: count}``, keys being (way of fitting, family, word), and
``family_of(seed, index)``.
"""

import importlib
import json
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

# Table, weights, penalty and tolerance say so before anything is fitted (docs/math.md); counted for itself.
BELOW = "penalty below rounding"
PATIENCE = 300.0  # seconds for one case
CRASH, HANG = "FALSE: crash of the interpreter", "FALSE: no end"


def run_cases(suite, seconds, seed, *, first=0, most=None):
    """Run cases until the time is over; return (counts, numbers of the cases with a false claim)."""
    counts, bad, stop = Counter(), [], time.monotonic() + seconds
    last = None if most is None else first + most
    while time.monotonic() < stop and (last is None or first < last):
        command = [sys.executable, __file__, suite, str(seed), str(first)]
        with tempfile.TemporaryFile() as log:  # not a pipe: a child whose warnings fill that waits for ever
            child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log)
            try:
                for found in _lines(child, stop):
                    counts.update({tuple(key): count for key, count in found})
                    if any("FALSE" in key[-1] for key, _ in found):
                        bad.append(first)
                    first += 1
                    if first == last:
                        break
            finally:
                ended = child.poll()
                child.kill()
                child.communicate()
                log.seek(0)
                message = log.read().decode(errors="replace")
        if first == last or time.monotonic() > stop:
            break
        if ended is not None and ended > 0:
            raise RuntimeError(f"case {first} of {suite} ended with {ended}: {message[-2000:]}")
        word = HANG if ended is None else f"{CRASH} ({signal.Signals(-ended).name})"
        counts["all", importlib.import_module(suite).family_of(seed, first), word] += 1
        bad.append(first)
        first += 1
    return counts, bad


def _lines(child, stop):
    """Yield what a child says about each case, until it is silent for too long or has ended."""
    ready, rest = selectors.DefaultSelector(), b""
    ready.register(child.stdout, selectors.EVENT_READ)
    while time.monotonic() < stop and ready.select(PATIENCE):
        piece = child.stdout.read1(1 << 20)
        if not piece:
            child.wait()
            return
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield json.loads(line)


def summary(counts):
    """Return a line for every family of tables and way of fitting."""
    lines = []
    for family, path in sorted({(family, path) for path, family, word in counts if word == "solutions"}):
        here = {word: count for (p, f, word), count in counts.items() if (p, f) == (path, family)}
        whole = {word: count for (p, f, word), count in counts.items() if (p, f) == ("all", family)}
        false = sum(count for word, count in here.items() if "FALSE" in word)
        crashes = sum(count for word, count in whole.items() if "FALSE" in word)
        lines.append(
            f"{family + ', ' + path:<22} {whole['tables']:>7} tables {here['solutions']:>8} solutions {false:>5} false "
            f"{here.get('not converged', 0):>5} not converged {here.get('open', 0):>5} open {crashes:>3} crashes"
        )
    return lines


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    name, seed, index = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    run_numbered = importlib.import_module(name).run_numbered
    while True:
        found = [[*item] for item in run_numbered(seed, index).items()]
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()
        index += 1
