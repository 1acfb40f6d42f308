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


class Tabs:
    """Tabs that tests use one after the other: opening a new one takes longer than most tests.

    A page has ``trouble``, what it complained about, and ``requests``, the addresses that it asked for.
    """

    def __init__(self, browser, **media):
        self.browser, self.media = browser, {"color_scheme": "light", "reduced_motion": "no-preference"} | media
        self.context = browser.new_context()
        self.idle, self.busy, self.special = [], [], []

    def open(self, address, viewport=None, **options):
        """Open an address; options that a tab cannot change, such as touch, get a new one."""
        media = {name: options.pop(name, value) for name, value in self.media.items()}
        if options:
            self.special.append(watched(self.browser.new_context(**options)))
        else:
            self.busy.append(self.idle.pop() if self.idle else watched(self.context))
        page = self.special[-1] if options else self.busy[-1]
        page.trouble.clear()
        page.requests.clear()
        page.set_viewport_size(viewport or {"width": 1280, "height": 1000})
        page.emulate_media(media="screen", **media)
        page.goto(address)
        return page

    def leave(self):
        """Leave the pages that are open, and return them for what they noted."""
        left, self.busy, self.special = (self.busy, self.special), [], []
        for page in left[0]:
            if not page.is_closed():
                page.goto("about:blank")
                page.mouse.move(0, 0)
                self.idle.append(page)
        for page in left[1]:
            page.context.close()
        return [*left[0], *left[1]]


def watched(context):
    """Return a new tab that notes what happens in it."""
    page = context.new_page()
    page.trouble, page.requests = [], []
    page.on("console", lambda message: page.trouble.append(f"console {message.type}: {message.text}"))
    page.on("pageerror", lambda error: page.trouble.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (page.trouble.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda request: page.requests.append(request.url))
    return page
