"""The browser that tests of pages run in: the system's Chromium, or none."""

import shutil
from contextlib import contextmanager

import pytest

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_browser = pytest.mark.skipif(
    BROWSER is None, reason="no Chromium is installed (Debian: apt-get install chromium)"
)

# A browser that does nothing of its own accord; no sandbox, which containers do not offer.
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def launched():
    """Yield a browser."""
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=BROWSER, args=QUIET)
        yield found
        found.close()
