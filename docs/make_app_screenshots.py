"""Take the pictures of the app that the documentation shows: ``python docs/make_app_screenshots.py``.

Needs playwright and Chromium. It opens the app as a person does, with the made-up questionnaire.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from pathlib import Path

from make_screenshots import IMAGES, QUIET
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from isinglass.app.server import start


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
    page.wait_for_selector("#weight-kind")
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
    page.wait_for_timeout(1500)
    page.evaluate("() => scrollTo(0, document.getElementById('network').offsetTop - 60)")
    page.wait_for_timeout(500)
    save(page, "app_network", "#network")
    page.click("#run-bootstrap")
    page.wait_for_function(
        "() => /[3-9]\\d\\d of 1000.* left/.test(document.querySelector('.job')?.textContent)", timeout=300_000
    )
    save(page, "app_progress", "#jobs")
    page.click(".job button")


def main() -> None:
    """Start a server, walk through it in light, and look at it once on a dark phone."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = start(Path(folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=QUIET)
        page = browser.new_page(viewport={"width": 1280, "height": 1100}, color_scheme="light", reduced_motion="reduce")
        walk(page, server.address)
        phone = browser.new_page(viewport={"width": 390, "height": 844}, color_scheme="dark", device_scale_factor=1.5)
        phone.goto(server.address)
        phone.wait_for_selector("#rows tr")
        phone.evaluate("() => scrollTo(0, document.getElementById('columns').offsetTop - 60)")
        phone.screenshot(path=IMAGES / "app_phone.png")
        browser.close()
        server.shutdown()
        server.session.jobs.close()
        server.server_close()


if __name__ == "__main__":
    main()
