"""Take the pictures of the report that the documentation shows: ``python docs/make_screenshots.py``.

Needs playwright and Chromium. A copy of the page and its printed version are left in the folder that is given, if any.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from live_report import write_senate
from PIL import Image
from playwright.sync_api import Browser

IMAGES = Path(__file__).resolve().parent / "images"
sys.path.insert(0, str(IMAGES.parents[1] / "tests"))
from chromium import launched  # noqa: E402 - the browser of the tests


def take(browser: Browser, page_file: Path, scheme: str) -> None:
    """Photograph the first screen, in 255 colors: a third of the bytes, and no difference to see."""
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
    with tempfile.TemporaryDirectory() as temporary, launched() as browser:
        file = Path(temporary) / "senate.html"
        write_senate(file)
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


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
