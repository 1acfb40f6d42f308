"""Run the benchmark: every installed rival on every problem, ours measured before and after each of them.

``python benchmarks/run.py [--quick] [--problems a,b] [--rivals a,b] [--repeats 5] [--budget 300] [--fresh]``
writes docs/benchmarks/{results.csv, index.md, time_against_p.png}; ``--quick`` writes to benchmarks/.cache/quick.
Finished pairs are kept in benchmarks/.cache/results and not measured again until a version changes or ``--fresh``.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import machine
import numpy as np
import report
from adapters import Measurement, Rival, SkippedError, all_rivals
from problems import CACHE, DATA_VERSION, QUICK, Problem, all_problems
from scoring import Score, score, theta_error

DOCS = Path(__file__).parents[1] / "docs" / "benchmarks"
OURS = "isinglass"
SLOW = 5.0  # seconds beyond which ours is not measured again around every rival

QUICK_RIVALS = "isinglass,glmnet,glmnet-nodewise,adelie"
EVERYBODY = tuple(name for name in all_rivals() if name != OURS)
FEW = {  # growth is about us; a few rivals for scale. On dense tables the stacked design does not fit in memory
    "dense": ("isinglass-1", "isinglass-nodewise", "glmnet-nodewise"),
    "growth_p": ("isinglass-1", "glmnet", "glmnet-nodewise", "adelie"),
    "growth_n": ("isinglass-1", "glmnet"),
}


def plan(problem: Problem) -> list[str]:
    """Who runs on the problem, ours first; tight settings of rivals on single alphas only."""
    names = FEW.get(problem.group, EVERYBODY)
    return [OURS, *(name for name in names if problem.mode == "single" or not name.endswith("-tight"))]


@dataclass
class Session:
    """Settings of one invocation and our latest measurement of the current problem."""

    repeats: int
    budget: float
    fresh: bool
    store: Path
    rivals: dict[str, Rival]
    latest: Measurement | None = None
    reference: Score | None = None

    def run_problem(self, problem: Problem, wanted: list[str]) -> None:
        """Measure ours, then each rival with ours again after it, so that both sides see the same machine."""
        self.latest = self.reference = None
        names = [name for name in wanted if not self.cached(problem, name)]
        if not names:
            print(f"{problem.name}: everything measured already")
            return
        ours = self.rivals[OURS]
        if ours.available() is None:
            self.measure_ours(problem, ours, store=OURS in names)
        elif OURS in names:
            self.save_reason(problem, ours, str(ours.available()))
        for name in names:
            if name != OURS:
                self.measure_rival(problem, self.rivals[name])

    def measure_ours(self, problem: Problem, ours: Rival, *, store: bool) -> None:
        """Take our first measurement; its score is the reference of everybody's relative error."""
        self.latest = ours.run(problem, self.repeats, self.budget)
        self.reference = score(problem, self.latest)
        if store:
            row = describe(problem, ours, self.latest, self.reference, self.reference, self.latest.times)
            if problem.name.endswith("p10000"):
                row["gemm_seconds"] = machine.gemm_seconds(problem.X)
            self.save(problem, ours, row)

    def measure_rival(self, problem: Problem, rival: Rival) -> None:
        """Measure one rival, and ours again; a reason instead where it cannot run."""
        before = self.latest
        try:
            if reason := rival.available():
                raise SkippedError(reason)
            found = rival.run(problem, self.repeats, self.budget)
        except SkippedError as reason:
            self.save_reason(problem, rival, str(reason))
            return
        times = list(before.times) if before else []
        if before and before.median < SLOW:
            self.latest = self.rivals[OURS].run(problem, self.repeats, self.budget)
            times += self.latest.times
        row = describe(problem, rival, found, score(problem, found), self.reference, times)
        self.save(problem, rival, row | {"theta_error": theta_error(found, before)})

    def save_reason(self, problem: Problem, rival: Rival, reason: str) -> None:
        """Keep why there is no number."""
        self.save(problem, rival, {**identify(problem, rival), "status": "skipped", "reason": reason})

    def file(self, problem: Problem, name: str) -> Path:
        """Where the result of a pair is kept: any change of versions or of the problem gives another name."""
        rival = self.rivals[name]
        ours = self.rivals[OURS].version() if self.rivals[OURS].available() is None else ""
        parts = [DATA_VERSION, problem.alphas.tolist(), rival.version(), getattr(rival, "options", {}), ours]
        digest = hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()[:12]
        return self.store / f"{problem.name}--{name}--{digest}.json"

    def cached(self, problem: Problem, name: str) -> bool:
        """Whether the pair was measured before; a rival that was missing then is tried again."""
        file = self.file(problem, name)
        if self.fresh or not file.exists():
            return False
        return "not installed" not in json.loads(file.read_text()).get("reason", "")

    def save(self, problem: Problem, rival: Rival, row: dict[str, Any]) -> None:
        """Keep the row and say it in one line."""
        file = self.file(problem, rival.name)
        file.parent.mkdir(parents=True, exist_ok=True)
        scratch = file.with_suffix(".tmp")
        scratch.write_text(json.dumps(row, indent=1))
        scratch.replace(file)
        if row["status"] == "ok":
            print(
                f"{problem.name} {rival.name}: {1e3 * row['median']:.3g} ms, {row['ratio']:.3g}x ours, "
                f"error {row['relative_error']:.1e}, gap {row['relative_gap']:.1e}, {row['edges']} edges",
                flush=True,
            )
        else:
            print(f"{problem.name} {rival.name}: {row['reason']}", flush=True)

    def rows(self, problems: dict[str, Problem]) -> list[dict[str, Any]]:
        """Every stored row of the current versions, in the order of the report."""
        files = [
            self.file(problem, name)
            for problem in problems.values()
            for name in plan(problem)
            if list(self.store.glob(f"{problem.name}--*"))
        ]
        return [json.loads(file.read_text()) for file in files if file.exists()]


def identify(problem: Problem, rival: Rival) -> dict[str, Any]:
    """Describe the problem and the rival: the first columns of the table."""
    n, p = problem.X.shape
    return {
        "problem": problem.name,
        "group": problem.group,
        "mode": problem.mode,
        "n": n,
        "p": p,
        "n_alphas": len(problem.alphas),
        "alpha_last": float(problem.alphas[-1]),
        "description": problem.description,
        "rival": rival.name,
        "label": rival.label,
        "nodewise": rival.nodewise,
        "version": rival.version(),
        "cpu": machine.cpu_model(),
        "date": machine.now(),
        "load": machine.load_average(),
    }


def describe(
    problem: Problem, rival: Rival, found: Measurement, scored: Score, reference: Score | None, ours: list[float]
) -> dict[str, Any]:
    """Make the row of a finished pair."""
    own = float(np.median(ours)) if ours else float("nan")
    return {
        **identify(problem, rival),
        "status": "ok",
        "reason": "",
        "median": found.median,
        "min": min(found.times),
        "max": max(found.times),
        "repeats": len(found.times),
        "setup": found.setup_time,
        "design": found.design_time,
        "ours_median": own,
        "ratio": found.median / own,
        "relative_error": scored.relative_error(reference),
        "relative_gap": float(scored.relative_gap.max()),
        "edges": scored.edges,
        "n_fitted": found.n_fitted,
        "threads": found.threads,
        "peak_bytes": found.peak_bytes,
        "fit_version": found.version,
    }


def matching(pattern: str | None, names: list[str]) -> list[str]:
    """Names that match one of the comma-separated patterns; all without a pattern."""
    if pattern is None:
        return names
    patterns = pattern.split(",")
    chosen = [name for name in names if any(fnmatch.fnmatch(name, part) for part in patterns)]
    if not chosen:
        raise SystemExit(f"nothing matches {pattern!r}; choose from: {', '.join(names)}")
    return chosen


def main() -> None:
    """Parse the command line, measure, write the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", help="names or patterns, comma-separated")
    parser.add_argument("--rivals", help="names or patterns, comma-separated")
    parser.add_argument("--repeats", type=int, default=5, help="runs per measurement (default 5)")
    parser.add_argument("--budget", type=float, default=300.0, help="seconds one rival may take on one problem")
    parser.add_argument("--quick", action="store_true", help="a small subset in a minute or two")
    parser.add_argument("--fresh", action="store_true", help="measure again what is in the cache")
    parser.add_argument("--report-only", action="store_true", help="render what has been measured")
    options = parser.parse_args()

    rivals, problems = all_rivals(), all_problems()
    if options.quick:
        problems = {name: problems[name] for name in QUICK}
    session = Session(
        repeats=3 if options.quick else options.repeats,
        budget=20.0 if options.quick else options.budget,
        fresh=options.fresh,
        store=CACHE / ("quick" if options.quick else "results"),
        rivals=rivals,
    )
    wanted_rivals = set(matching(options.rivals or (QUICK_RIVALS if options.quick else None), list(rivals)))
    if not options.report_only:
        for name in matching(options.problems, list(problems)):
            problem = problems[name]
            session.run_problem(problem, [rival for rival in plan(problem) if rival in wanted_rivals])
    report.write(session.rows(problems), CACHE / "quick-report" if options.quick else DOCS)


if __name__ == "__main__":
    main()
