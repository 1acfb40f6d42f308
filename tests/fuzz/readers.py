"""Damaged and hostile tables under a memory limit: each is read, or refused with a documented error, in time.

Batches of random inputs run in a process of their own, which may take so much memory and no more. The inputs are small
and so are the limits; files of the largest size are those of the suite ``bombs``.
"""

import json
import random
import resource
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

BATCH, MEMORY, SECONDS = 60, 10**9, 10.0
GUARD = 2 * 2**30  # of addresses, which libraries take before they use them
PIECES = (
    b"\n",
    b",",
    b'"',
    b"\x00",
    b"\xff" * 4,
    b"1e999",
    b"9" * 400,
    b"NA",
    b"-1",
    b"0,1\n" * 5000,
    b"\x7f\xff\xff\xff",
)


def damage(data, random_source):
    """Return a file in which a few stretches were replaced, repeated or cut off."""
    for _ in range(random_source.randint(1, 6)):
        start = random_source.randint(0, len(data))
        stop = min(len(data), start + random_source.choice([0, 1, 4, 30]))
        how = random_source.random()
        if how < 0.6:
            piece = random_source.choice([random_source.randbytes(random_source.randint(1, 8)), *PIECES])
            data = data[:start] + piece + data[stop:]
        elif how < 0.9:
            data = data[:stop] + data[start:stop] * random_source.choice([1, 50]) + data[stop:]
        else:
            data = data[:start]
    return data


def suite_inputs(name):
    """Return the valid inputs that a suite starts from, and its check."""
    if name == "models":
        import fuzz_load

        return fuzz_load.seeds(), fuzz_load.check
    import fuzz_tables
    import seeds

    files = {**seeds.TEXTS, **seeds.packed_files(), **seeds.numpy_files()}
    rare = seeds.arrow_files() | seeds.survey_files()
    chosen = [bytes([option]) + data for data in files.values() for option in range(len(fuzz_tables.OPTIONS))]
    return chosen + [bytes([option]) + data for data in rare.values() for option in (0, 1)], fuzz_tables.check


def run_batch(name, seed, first):
    """Check one batch, and return how many there were, what went wrong, and the slowest in seconds."""
    valid, check = suite_inputs(name)
    resource.setrlimit(resource.RLIMIT_AS, (GUARD, GUARD))
    wrong, slowest = [], 0.0
    for number in range(first, first + BATCH):
        source = random.Random(f"{seed}/{number}")
        data = damage(source.choice(valid), source)
        start = time.process_time()
        try:
            check(data)
        except Exception as error:
            wrong.append(f"case {number}: {type(error).__name__}: {str(error)[:200]}")
        slowest = max(slowest, time.process_time() - start)
    # Not what getrusage says, which counts the process that started this one.
    status = Path("/proc/self/status").read_text(encoding="ascii").split()
    largest = 1024 * int(status[status.index("VmHWM:") + 1])
    return {"cases": BATCH, "wrong": wrong, "slowest": slowest, "largest": largest}


def run(seconds, seed, *, first=0, most=None, name="readers", **options):
    """Run batches until the time is over."""
    counts, cases = Counter(), []
    end = time.monotonic() + seconds
    while time.monotonic() < end and (most is None or counts["inputs",] < most):
        command = [sys.executable, __file__, name, str(seed), str(first)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        found = json.loads(done.stdout) if done.returncode == 0 else {}
        counts["inputs",] += BATCH
        if not found:
            cases.append(f"the batch from case {first} on ended with {done.returncode}: {done.stderr[-300:]}")
        cases += found.get("wrong", [])
        if found.get("slowest", 0.0) > SECONDS:
            cases.append(f"a case of the batch from {first} on took {found['slowest']:.1f} s")
        if found.get("largest", 0) > MEMORY:
            cases.append(f"the batch from {first} on took {found['largest'] / 1e6:.0f} MB")
        first += BATCH
    return counts, cases


def complaints(counts, cases):
    """Return what must not be."""
    return cases if counts["inputs",] else ["nothing was tried"]


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    sys.stdout.write(json.dumps(run_batch(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
