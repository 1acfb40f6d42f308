"""Take the pictures of the report that the documentation shows: ``python docs/make_screenshots.py``.

Needs playwright and Chromium. A copy of the page and its printed version are left in the folder that is given, if any.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from isinglass import ising_path, stars
from isinglass.datasets import load_senate109
from isinglass.show.report import write_report

IMAGES = Path(__file__).resolve().parent / "images"
QUIET = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
PARTIES = {"R": "Republican", "D": "Democrat", "I": "Independent"}


def write_senate(file: Path) -> None:
    """Write the report on the Senate at the paper's alpha, on a path of 50 others."""
    senate = load_senate109()
    grid = ising_path(senate.X, 50, alpha_min_ratio=0.05).alphas
    path = ising_path(senate.X, np.append(grid, 0.06))
    selected = int(np.flatnonzero(path.alphas == 0.06)[0])
    write_report(
        path[selected],
        file,
        path=path,
        stability=stars(senate.X, alphas=path.alphas, random_state=0, progress=False),
        X=senate.X,
        names=senate.names,
        groups=[PARTIES[party] for party in senate.parties],
        group_colors={"Republican": "red", "Democrat": "blue", "Independent": "green"},
        title="Who votes with whom: the U.S. Senate in 2006",
        notes="279 roll calls of the 109th Congress, second session. A senator who did not vote counts as nay.",
        settings={"method": "joint pseudo-likelihood", "tol": path.tol, "missing votes": "counted as nay"},
        command="python docs/make_screenshots.py",
    )


def take(browser: Browser, page_file: Path, scheme: str) -> None:
    """Photograph the first screen, in 255 colours: a third of the bytes, and no difference to see."""
    context = browser.new_context(
        viewport={"width": 1280, "height": 1080}, color_scheme=scheme, reduced_motion="reduce", device_scale_factor=1.25
    )
    page = context.new_page()
    page.goto(page_file.as_uri())
    page.wait_for_timeout(500)
    target = IMAGES / f"report_{scheme}.png"
    page.screenshot(path=target)
    context.close()
    with Image.open(target) as picture:
        small = picture.convert("RGB").quantize(255, Image.Quantize.MAXCOVERAGE)
    small.save(target, optimize=True)


def main(folder: Path | None) -> None:
    """Write the page and take its pictures."""
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        file = Path(temporary) / "senate.html"
        write_senate(file)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=QUIET)
        for scheme in ("light", "dark"):
            take(browser, file, scheme)
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, folder)
            page = browser.new_page()
            page.goto(file.as_uri())
            page.pdf(
                path=folder / "senate.pdf",
                format="A4",
                margin=dict.fromkeys(("top", "bottom", "left", "right"), "15mm"),
            )
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
