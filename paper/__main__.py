"""Repeat the paper's tables and figures, and render the page about them."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from types import ModuleType

from paper.study import SINGLE

if __name__ == "__main__" and any(os.environ.get(name) != value for name, value in SINGLE.items()):
    # Every method is timed on one thread, and NumPy's libraries read the environment when they are loaded, which has
    # happened by now: start again.
    os.execve(sys.executable, [sys.executable, "-m", "paper", *sys.argv[1:]], {**os.environ, **SINGLE})

from paper import ITEMS, figures, load_items, page, printed, study
from paper.files import ROOT, read_rows, write_rows, write_text
from paper.study import Config, name_of


def main(arguments: list[str] | None = None) -> None:
    """Parse, run, draw, render."""
    options = parse(arguments)
    out = options.out or ROOT / ("build/paper-quick" if options.quick else "docs/paper")
    # The cells of the small version take less time than starting workers for them.
    jobs = options.jobs or (1 if options.quick else study.available_cores())
    config = Config(options.quick, options.seed, jobs, out.resolve(), options.cache.resolve())
    if not options.draw_only:
        for item in load_items(options.only):
            run_and_record(item, config)
    finish(load_items(), config)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="python -m paper", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small version of the study, in build/paper-quick")
    parser.add_argument("--only", nargs="+", metavar="ITEM", choices=ITEMS, default=list(ITEMS), help=", ".join(ITEMS))
    parser.add_argument("--out", type=Path, help="folder for tables and figures; the page is written beside it")
    parser.add_argument("--jobs", type=int, help="cells to run at the same time (default: one per core; --quick: 1)")
    parser.add_argument("--seed", type=int, default=Config.seed, help=f"default {Config.seed}")
    parser.add_argument("--cache", type=Path, default=Config.cache, help="folder for finished cells")
    parser.add_argument("--draw-only", action="store_true", help="figures and page from the tables that are there")
    return parser.parse_args(arguments)


def run_and_record(item: ModuleType, config: Config) -> None:
    """Run one item; write its table, and in config.json what it was measured with (other items keep their entries)."""
    started = time.monotonic()
    rows = study.run(item, config)
    elapsed = time.monotonic() - started
    write_rows(config.out / f"{name_of(item)}.csv", rows)
    entry = {"version": item.VERSION, "rows": len(rows), "seconds_this_run": round(elapsed, 1)}
    file = config.out / "config.json"
    before = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    facts = {
        "quick": config.quick,
        "seed": config.seed,
        "software": study.describe_software(),
        "hardware": study.describe_hardware(),
        "items": {**before.get("items", {}), name_of(item): entry | study.describe_cells(item, config)},
    }
    write_text(file, json.dumps(facts, indent=2) + "\n")


def finish(items: list[ModuleType], config: Config) -> None:
    """Draw the figures and render the page, from the tables as they were written."""
    write_text(config.out / printed.FILE.name, printed.FILE.read_text(encoding="utf-8"))
    files = [(item, config.out / f"{name_of(item)}.csv") for item in items]
    measured = [(item, read_rows(file)) for item, file in files if file.exists()]
    with figures.look():
        for item, rows in measured:
            figures.save(item.draw(rows), config.out / f"{name_of(item)}.png")
            if hasattr(item, "write_files"):
                item.write_files(rows, config.out)
    write_text(config.page, page.render(measured, config))
    print(f"wrote {config.page} and {len(measured)} tables in {config.out}", file=sys.stderr)


if __name__ == "__main__":
    main()
