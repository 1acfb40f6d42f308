"""The command line of the study: run the items, write tables, figures and the page."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from paper.study import SINGLE

if __name__ == "__main__" and any(os.environ.get(name) != value for name, value in SINGLE.items()):
    # Every method is timed on one thread, and NumPy's libraries look at the environment when they are loaded, which has
    # happened by now: start again.
    os.execve(sys.executable, [sys.executable, "-m", "paper", *sys.argv[1:]], {**os.environ, **SINGLE})

from paper import ITEMS, figures, load_items, machine, page, published, study
from paper.contract import ROOT, Config, Item
from paper.tables import read_rows, write_rows, write_whole


def main(arguments: list[str] | None = None) -> None:
    """Parse, run, draw, render."""
    options = parse(arguments)
    out = options.out or ROOT / ("build/paper-quick" if options.quick else "docs/paper")
    config = Config(options.quick, options.seed, options.jobs, out.resolve(), options.cache.resolve())
    for item in load_items(options.only):
        if not options.draw_only:
            run_and_record(item, config)
    finish(load_items(), config)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="python -m paper", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a miniature of the study, in build/paper-quick")
    parser.add_argument("--only", nargs="+", metavar="ITEM", choices=ITEMS, default=list(ITEMS), help=", ".join(ITEMS))
    parser.add_argument("--out", type=Path, help="folder of tables and figures; the page is written beside it")
    parser.add_argument("--jobs", type=int, default=machine.available_cores(), help="cells at the same time")
    parser.add_argument("--seed", type=int, default=Config.seed, help=f"default {Config.seed}")
    parser.add_argument("--cache", type=Path, default=Config.cache, help="folder of finished cells")
    parser.add_argument("--draw-only", action="store_true", help="figures and page from the tables that are there")
    return parser.parse_args(arguments)


def run_and_record(item: Item, config: Config) -> None:
    """Run one item; write its table and what it was measured with."""
    started = time.monotonic()
    rows = item.run(config)
    elapsed = time.monotonic() - started
    write_rows(config.out / f"{item.NAME}.csv", rows)
    entry = {"version": item.VERSION, "rows": len(rows), "seconds_this_run": round(elapsed, 1)}
    record(config, item.NAME, entry | study.describe_cells(item, config))


def record(config: Config, name: str, entry: dict[str, Any]) -> None:
    """Write config.json; entries of items that did not run now are kept."""
    file = config.out / "config.json"
    before = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    facts = {
        "quick": config.quick,
        "seed": config.seed,
        "software": machine.describe_software(),
        "hardware": machine.describe_hardware(),
        "items": {**before.get("items", {}), name: entry},
    }
    write_whole(file, json.dumps(facts, indent=2) + "\n")


def finish(items: list[Item], config: Config) -> None:
    """Draw the figures and render the page, from the tables as they were written."""
    write_rows(config.out / "published.csv", [*published.rows(), *published.reference_rows()])
    found = [(item, config.out / f"{item.NAME}.csv") for item in items]
    measured = [(item, read_rows(file)) for item, file in found if file.exists()]
    with figures.look():
        for item, rows in measured:
            figures.save(item.draw(rows), config.out / f"{item.NAME}.png")
            if hasattr(item, "write_files"):
                item.write_files(rows, config.out)
    write_whole(config.page, page.render(measured, config))
    print(f"wrote {config.page} and {len(measured)} tables in {config.out}", file=sys.stderr)


if __name__ == "__main__":
    main()
