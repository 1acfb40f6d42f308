"""Run fuzz suites by name: ``python tests/fuzz certificates --minutes 5 --seed 1``.

A suite is a module of this folder with ``run(seconds, seed, **options) -> (counts, cases)`` and ``complaints(counts,
cases) -> list of sentences``. Time is shared equally. Exit status 1 if a suite complains.
"""

import argparse
import importlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import isolated

SUITES = ("certificates", "categories", "readers", "models", "bombs", "resume", "interrupts")


def main(arguments=None):
    """Run the chosen suites and print counts and complaints."""
    parser = argparse.ArgumentParser(prog="python tests/fuzz", description=__doc__.split("\n\n")[0])
    parser.add_argument("suites", nargs="*", help=f"some of: {', '.join(SUITES)}")
    parser.add_argument("--minutes", type=float, default=4.0, help="for all suites together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--cases", type=int, help="number of cases, if the time allows")
    chosen = parser.parse_args(arguments)
    names = chosen.suites or SUITES
    failed = False
    for name in names:
        suite = importlib.import_module(name)
        seconds = 60.0 * chosen.minutes / len(names)
        counts, cases = suite.run(seconds, chosen.seed, first=chosen.first, most=chosen.cases)
        wrong = suite.complaints(counts, cases)
        summary = isolated.summary(counts) if hasattr(suite, "run_numbered") else []
        lines = [f"{name}:", *(f"  {' '.join(key):<60} {counts[key]}" for key in sorted(counts))]
        lines += [f"  {line}" for line in summary]
        sys.stdout.write("\n".join([*lines, *(f"  WRONG: {sentence}" for sentence in wrong), ""]))
        failed = failed or bool(wrong)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
