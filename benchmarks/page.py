"""How fast a large report opens and moves: 500 nodes and 3 000 edges in a headless browser without a graphics card.

``python benchmarks/page.py`` prints the time to write the page, to open it, and of the frames while a node is dragged,
the view is moved, and the slider runs. Needs playwright and Chromium.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path as FilePath

import numpy as np
from playwright.sync_api import Page

from isinglass import Network, Path, Solution
from isinglass.show.report import write_report

sys.path.insert(0, str(FilePath(__file__).resolve().parents[1] / "tests"))
from chromium import launched

RECORD = """() => {
    globalThis.ticks = [];
    const step = (now) => { ticks.push(now); requestAnimationFrame(step); };
    requestAnimationFrame(step);
}"""


def make_path(n_nodes: int, n_edges: int, n_alphas: int = 30) -> Path:
    """Return networks in five groups that grow to ``n_edges``, half of them negative."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 5, n_nodes)
    s, t = np.triu_indices(n_nodes, 1)
    chance = np.where(group[s] == group[t], 1.0, 0.05)
    kept = np.sort(rng.choice(len(s), n_edges, replace=False, p=chance / chance.sum()))
    index = np.column_stack([s, t])[kept].astype(np.int32)
    strength, entry = rng.normal(size=n_edges), rng.integers(1, n_alphas, n_edges)

    def network(k: int) -> Solution:
        there = entry <= k
        values = (strength * (k - entry + 1) / n_alphas)[there]
        return Solution(Network(np.zeros(n_nodes), index[there], values), float(0.5 * 0.9**k), converged=True)

    return Path(tuple(network(k) for k in range(n_alphas)))


def frames(page: Page, what: str) -> str:
    """Describe the frames since the last call."""
    gaps = np.diff(page.evaluate("() => ticks.splice(0)"))
    middle, late = np.median(gaps), np.quantile(gaps, 0.95)
    return f"{what:<18} {len(gaps):4d} frames, median {middle:5.1f} ms, 95 % below {late:5.1f} ms"


def main() -> None:
    """Measure and print."""
    path = make_path(500, 3000)
    with tempfile.TemporaryDirectory() as folder, launched() as browser:
        start = time.perf_counter()
        file = FilePath(folder) / "page.html"
        write_report(path[-1], file, path=path)
        print(f"written in {time.perf_counter() - start:.2f} s, {file.stat().st_size / 1e6:.2f} MB")
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.goto(file.as_uri())
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        ready = page.evaluate("() => performance.getEntriesByType('navigation')[0].domComplete")
        print(f"open after {ready:.0f} ms, first frames after {page.evaluate('() => performance.now()'):.0f} ms")
        page.evaluate(RECORD)
        x, y = page.evaluate("() => isinglassReport.positionOf('x0')")
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 150, y + 100, steps=120)
        page.mouse.up()
        print(frames(page, "dragging a node"))
        box = page.locator("#canvas").bounding_box()
        page.mouse.move(box["x"] + 5, box["y"] + 5)
        page.mouse.down()
        page.mouse.move(box["x"] + 150, box["y"] + 100, steps=120)
        page.mouse.up()
        print(frames(page, "moving the view"))
        page.focus("#slider")
        for key in ["ArrowLeft"] * 29 + ["ArrowRight"] * 29:
            page.keyboard.press(key)
        print(frames(page, "along the slider"))


if __name__ == "__main__":
    main()
