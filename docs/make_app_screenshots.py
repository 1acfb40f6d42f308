"""Take the pictures of the app that the documentation shows: ``python docs/make_app_screenshots.py``.

Needs playwright and Chromium. It opens the app as a person does, with the made-up questionnaire.
"""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path

from make_screenshots import IMAGES, launched
from PIL import Image
from playwright.sync_api import Page

from isinglass.app.server import Server


def save(page: Page, name: str, selector: str) -> None:
    """Photograph a part of the page, in 255 colors."""
    target = IMAGES / f"{name}.png"
    page.locator(selector).screenshot(path=target)
    with Image.open(target) as picture:
        small = picture.convert("RGB").quantize(255, Image.Quantize.MAXCOVERAGE)
    small.save(target, optimize=True)


def walk(page: Page, address: str) -> None:
    """Go from the example to a bootstrap, and take a picture at every step."""
    page.goto(address)
    page.click("text=Questionnaire")
    page.wait_for_selector("#rows tr")
    page.select_option("#weights", "0")
    page.wait_for_selector("#weight_kind")
    page.click("#value-3-no")  # and back: the mouse is nowhere else
    page.wait_for_selector("#value-3-no[aria-pressed=true]")
    page.click("#value-3-no")
    page.wait_for_selector("#value-3-no[aria-pressed=false]")
    page.mouse.move(0, 0)
    save(page, "app_columns", "#columns")
    save(page, "app_fit", "#fit")
    page.click("#run-fit")
    page.wait_for_selector("#network", state="visible", timeout=120_000)
    page.frame_locator("#report").locator("#edge-count").wait_for()
    page.evaluate("() => document.getElementById('report').scrollIntoView()")
    page.wait_for_timeout(5000)
    page.evaluate("() => scrollTo(0, document.getElementById('network').offsetTop - 60)")
    page.wait_for_timeout(3000)
    save(page, "app_network", "#network")
    page.click("#run-bootstrap")
    page.wait_for_function(
        "() => /[3-9]\\d\\d of 1000.* left/.test(document.querySelector('.job')?.textContent)", timeout=300_000
    )
    save(page, "app_progress", "#cards")
    page.click("button:text-is('Stop')")
    page.wait_for_selector("button:text-is('Close')")


def main() -> None:
    """Start a server, walk through it in light, and look at it once on a dark phone."""
    with tempfile.TemporaryDirectory() as folder, Server(Path(folder)) as server, launched() as browser:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = browser.new_page(viewport={"width": 1280, "height": 1100}, color_scheme="light", reduced_motion="reduce")
        walk(page, server.address)
        phone = browser.new_page(viewport={"width": 390, "height": 844}, color_scheme="dark", device_scale_factor=1.5)
        phone.goto(server.address)
        phone.click("button:text-is('Close')")  # the bootstrap that was stopped
        phone.mouse.move(0, 0)
        phone.evaluate("() => scrollTo(0, document.getElementById('columns').offsetTop - 60)")
        phone.screenshot(path=IMAGES / "app_phone.png")
        server.shutdown()


if __name__ == "__main__":
    main()
