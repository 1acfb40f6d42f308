"""The page in a real browser: it opens from a file, asks nobody for anything, and does what its controls say."""

import csv
import re
import shlex
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from choices import stars
from chromium import Tabs, launched, needs_browser
from networks import make_network, make_table
from PIL import Image

from isinglass import (
    Fixed,
    IsingLasso,
    IsingLassoStARS,
    IsingNetwork,
    Method,
    Network,
    Path,
    Solution,
    Variables,
    bootstrap,
    compare_groups,
    ising_path,
    metrics,
    simulate,
)
from isinglass.data import Table, as_table
from isinglass.estimators import IsingLassoCV, IsingLassoEBIC
from isinglass.show.report import write_comparison, write_report

pytestmark = needs_browser

HOSTILE = "</script><script>alert(1)</script>"
NAMES = ["ada", HOSTILE, '<img src=x onerror="alert(2)">', 'comma, "quote"', "eve", "fay", "gus", "hal"]


@pytest.fixture(scope="module")
def browser():
    with launched() as found:
        yield found


@pytest.fixture(scope="module")
def tabs(browser):
    return Tabs(browser, reduced_motion="reduce")


@pytest.fixture
def visit(tabs):
    """Open a page from its file; fail afterwards if it complained, asked for something, or opened a dialog."""

    def open_page(file, **options):
        page = tabs.open(file.as_uri(), **options)
        page.wait_for_function("() => globalThis.isinglassReport !== undefined")
        assert page.requests == [file.as_uri()]
        return page

    yield open_page
    pages = tabs.leave()
    assert [trouble for page in pages for trouble in page.trouble] == []
    assert [url for page in pages for url in page.requests[1:] if not url.startswith("blob:")] == []


@pytest.fixture(scope="module")
def table():
    couplings = np.zeros((8, 8))
    for s, t, value in [
        (0, 1, 2),
        (1, 2, 1.5),
        (2, 3, -1.5),
        (3, 4, 2),
        (4, 5, -1),
        (5, 6, 1.5),
        (6, 7, 2),
        (0, 7, -2),
    ]:
        couplings[s, t] = couplings[t, s] = value
    return simulate.exact_sample(Network.from_couplings(couplings, -couplings.sum(axis=1) / 2), 600, random_state=0)


@pytest.fixture(scope="module")
def path(table):
    found = ising_path(table, 20)
    assert (found[14].edge_values < 0).any()
    assert (found[14].edge_values > 0).any()
    return found


@pytest.fixture(scope="module")
def stability(table):
    return stars(table, alphas=20, n_subsamples=4, threshold=0.1, random_state=0)


@pytest.fixture(scope="module")
def file(tmp_path_factory, path, stability, table):
    fit = Method(selector=Fixed(path[14].alpha), standard_errors=False).fit(as_table(table, names=NAMES))
    selection = replace(fit.selection, path=path, stability=stability)
    return write(
        replace(fit, solution=path[14].with_names(NAMES), selection=selection),
        tmp_path_factory.mktemp("report") / "report with space.html",
        X=table,
        groups=["red", "blue", HOSTILE, None, "red", "blue", "red", "blue"],
        title=HOSTILE,
        settings={HOSTILE: HOSTILE},
        command=HOSTILE,
    )


def write(result, file, **options):
    write_report(result, file, **options)
    return file


def drawn(page):
    return page.evaluate("() => isinglassReport.drawn()")


def wait_for_paint(page):
    """Wait for two frames: what a page wants to draw is drawn at the beginning of the next one."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def position(page, name):
    return page.evaluate("name => isinglassReport.positionOf(name)", name)


def set_range(page, selector, value):
    page.eval_on_selector(
        selector, "(input, value) => { input.value = value; input.dispatchEvent(new Event('input')); }", str(value)
    )


def cells(page, table, column):
    return page.locator(f"#{table}-table tbody tr td:nth-child({column + 1})").all_text_contents()


def number(text):
    return float(text.replace("\u2212", "-"))


def download(page, button):
    with page.expect_download() as waiting:
        page.click(button)
    with waiting.value.path().open(encoding="utf-8", newline="") as stream:
        return waiting.value.suggested_filename, list(csv.DictReader(stream))


# ------------------------------------------------------------------------------------------- the slider


def test_slider_shows_each_network_of_the_path(visit, file, path):
    page = visit(file)
    assert page.get_attribute("#slider", "max") == str(len(path) - 1)
    for k in np.linspace(0, len(path) - 1, 10).astype(int):
        set_range(page, "#slider", k)
        n_edges = path[k].n_edges
        assert drawn(page)["edges"] == n_edges
        assert page.text_content("#edge-count") == f"{n_edges} edge" + ("" if n_edges == 1 else "s")
        assert number(page.text_content("#alpha")) == pytest.approx(path[k].alpha, rel=1e-3)
        assert int(page.text_content("#count-positive")) == (path[k].edge_values > 0).sum()
        assert int(page.text_content("#count-negative")) == (path[k].edge_values < 0).sum()
        assert len([cell for cell in cells(page, "edges", 2) if cell]) == n_edges


def test_selected_alpha_is_marked_and_found_again(visit, file, path):
    page = visit(file)
    assert drawn(page)["k"] == 14
    assert page.is_disabled("#back")
    assert page.text_content("#mark-label") == f"selected: α = {path[14].alpha:.4g}"
    slider, mark = page.locator("#slider").bounding_box(), page.locator("#mark").bounding_box()
    thumb = slider["x"] + 9 + (slider["width"] - 18) * 14 / 19
    assert mark["x"] == pytest.approx(thumb, abs=2)
    set_range(page, "#slider", 3)
    assert drawn(page)["k"] == 3
    page.click("#back")
    assert drawn(page)["k"] == 14
    assert drawn(page)["edges"] == path[14].n_edges


def test_path_plays_to_its_end(visit, file, path):
    page = visit(file)
    set_range(page, "#slider", 17)
    page.click("#play")
    page.wait_for_function("() => isinglassReport.drawn().k === 19")
    page.wait_for_selector("#play[aria-pressed=false]")
    assert drawn(page)["edges"] == path[19].n_edges


# ------------------------------------------------------------------------------------------- search and filters


def triples(network):
    table = network.edges()
    return list(zip(table["source"], table["target"], table["coupling"], strict=True))


def test_search_finds_a_node(visit, file, path):
    page = visit(file)
    page.fill("#query", "EV")
    assert drawn(page)["focus"] is None  # not a whole name yet
    page.press("#query", "Enter")
    assert drawn(page)["focus"] == "eve"
    assert page.text_content("#detail-name") == "eve"
    model = path[14].network.with_names(NAMES)
    expected = [edge for edge in triples(model) if "eve" in edge[:2]]
    shown = page.locator("#detail-list button:not(.table)").all()
    assert [item.locator("span").first.text_content() for item in shown] == [
        target if source == "eve" else source for source, target, _ in expected
    ]
    assert [number(item.locator("span").last.text_content()) for item in shown] == pytest.approx(
        [coupling for *_, coupling in expected], abs=0.005
    )
    shown[0].click()  # from neighbor to neighbor
    assert drawn(page)["focus"] in expected[0][:2]
    assert drawn(page)["focus"] != "eve"
    page.keyboard.press("Escape")
    assert drawn(page)["focus"] is None
    page.fill("#query", "nobody")
    page.press("#query", "Enter")
    assert "nobody" in page.text_content("#status")


def test_a_name_from_the_list_is_found_at_once(visit, file):
    page = visit(file)
    assert page.locator("#names option").count() == len(NAMES)
    page.fill("#query", HOSTILE)
    assert drawn(page)["focus"] == HOSTILE
    assert page.text_content("#detail-name") == HOSTILE


def test_sign_filters(visit, file, path):
    page = visit(file)
    positive, negative = ((sign * path[14].edge_values > 0).sum() for sign in (1, -1))
    page.uncheck("#show-positive")
    assert drawn(page)["edges"] == negative
    assert all(number(cell) < 0 for cell in cells(page, "edges", 2))
    page.check("#show-positive")
    page.check("#positive-only")
    assert drawn(page)["edges"] == positive
    assert not page.is_checked("#show-negative")
    assert page.text_content("#edge-count") == f"{positive} of {path[14].n_edges} edges shown"
    page.uncheck("#positive-only")
    assert drawn(page)["edges"] == path[14].n_edges
    page.uncheck("#show-negative")
    assert page.is_checked("#positive-only")


def test_strength_filter(visit, file, path):
    page = visit(file)
    strongest = max(np.abs(solution.edge_values).max(initial=0.0) for solution in path)
    for value in (60, 100, 150, 200):
        set_range(page, "#strength", value)
        least = strongest * (value / 200) ** 2
        near = np.isclose(np.abs(path[14].edge_values), least, rtol=1e-4)
        assert not near.any()
        assert drawn(page)["edges"] == (np.abs(path[14].edge_values) >= least).sum()
    set_range(page, "#strength", 7)
    assert number(page.text_content("#strength-value").split()[-1]) == pytest.approx(strongest * 0.035**2, rel=0.05)


def test_groups_have_a_legend_that_highlights(visit, file):
    page = visit(file)
    buttons = page.locator("#groups button")
    assert [text[:-1] for text in buttons.all_text_contents()] == ["red", "blue", HOSTILE]
    wait_for_paint(page)
    before = page.locator("#canvas").screenshot()
    buttons.first.click()
    assert buttons.first.get_attribute("aria-pressed") == "true"
    page.mouse.move(5, 5)
    wait_for_paint(page)
    assert page.locator("#canvas").screenshot() != before
    buttons.first.click()
    wait_for_paint(page)
    assert page.locator("#canvas").screenshot() == before


# ------------------------------------------------------------------------------------------- tables


def test_edge_table_sorts(visit, file, path):
    page = visit(file)
    heads = page.locator("#edges-table th")
    assert heads.nth(3).get_attribute("aria-sort") == "descending"
    by_strength = sorted(np.abs(path[14].edge_values), reverse=True)
    assert [number(cell) for cell in cells(page, "edges", 3)] == pytest.approx(by_strength, abs=0.0006)
    heads.nth(2).locator("button").click()
    heads.nth(2).locator("button").click()
    assert heads.nth(2).get_attribute("aria-sort") == "ascending"
    assert heads.nth(3).get_attribute("aria-sort") is None
    assert [number(cell) for cell in cells(page, "edges", 2)] == pytest.approx(sorted(path[14].edge_values), abs=0.0006)


def test_edge_table_downloads_with_all_digits(visit, file, path, stability):
    page = visit(file)
    name, rows = download(page, "#edges-csv")
    assert name == f"edges_alpha_{path[14].alpha:.4g}.csv"
    model = path[14].network.with_names(NAMES)
    assert [(row["source"], row["target"], float(row["coupling"])) for row in rows] == triples(model)
    set_range(page, "#slider", 8)
    page.check("#positive-only")
    _, rows = download(page, "#edges-csv")
    expected = {(NAMES[s], NAMES[t]): v for (s, t), v in zip(path[8].edge_index, path[8].edge_values, strict=True)}
    expected = {pair: value for pair, value in expected.items() if value > 0}
    found = {(row["source"], row["target"]): float(row["coupling"]) for row in rows}
    assert found.keys() == expected.keys()
    assert all(found[pair] == pytest.approx(value, rel=1e-5) for pair, value in expected.items())


def test_node_table_follows_the_slider_and_downloads(visit, file, path, table):
    page = visit(file)
    set_range(page, "#slider", 8)
    _, rows = download(page, "#nodes-csv")
    here, selected = (metrics.node_table(table, path[k]) for k in (8, 14))
    rows.sort(key=lambda row: NAMES.index(row["name"]))
    assert [row["name"] for row in rows] == NAMES
    assert [int(row["degree"]) for row in rows] == here["degree"].tolist()
    assert [float(row["strength"]) for row in rows] == pytest.approx(here["strength"], rel=1e-5)
    assert [float(row["accuracy"]) for row in rows] == selected["accuracy"].tolist()
    assert [row["group"] for row in rows][:4] == ["red", "blue", HOSTILE, ""]


def test_tables_filter_by_name(visit, file):
    page = visit(file)
    page.fill("#nodes-filter", "AL")
    assert set(cells(page, "nodes", 0)) == {name for name in NAMES if "al" in name.lower()}
    page.fill("#nodes-filter", "nobody")
    assert cells(page, "nodes", 0) == ["No nodes to show."]
    page.fill("#edges-filter", "eve")
    assert all("eve" in pair for pair in zip(cells(page, "edges", 0), cells(page, "edges", 1), strict=True))


def test_picture_can_be_saved(visit, file):
    page = visit(file)
    with page.expect_download() as waiting:
        page.click("#save-image")
    assert waiting.value.suggested_filename.endswith(".png")
    assert waiting.value.path().read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


@pytest.mark.parametrize("ratio", [pytest.param(1, marks=pytest.mark.long), 2])
def test_picture_is_twice_as_large_and_white(visit, file, ratio):
    page = visit(file, color_scheme="dark", device_scale_factor=ratio)
    before = page.evaluate("() => [canvas.width, canvas.height]")
    with page.expect_download() as waiting:
        page.click("#save-image")
    picture = Image.open(waiting.value.path()).convert("RGB")
    assert picture.size == tuple(2 * side for side in before)
    assert picture.getpixel((3, 3)) == (255, 255, 255)
    assert picture.convert("L").getextrema()[0] < 120  # something is drawn
    assert page.evaluate("() => [canvas.width, canvas.height]") == before
    assert brightness(page, CORNER) < 60  # the page is dark again


# ------------------------------------------------------------------------------------------- text stays text


def test_hostile_labels_stay_text(visit, file):
    page = visit(file)
    assert page.title() == HOSTILE
    assert page.text_content("h1") == HOSTILE
    assert page.text_content("#command") == HOSTILE
    assert page.locator("#settings dd").all_text_contents() == [HOSTILE]
    assert set(NAMES) == set(cells(page, "nodes", 0))
    assert page.locator("script").count() == 2
    assert page.locator("img").count() == 0
    page.mouse.move(*position(page, HOSTILE))
    page.wait_for_selector("#tooltip:not([hidden])")
    assert page.text_content("#tooltip strong") == HOSTILE


def test_policy_stops_what_should_not_be_there(browser, file, tmp_path):
    """A script that somebody adds to the file does not run: the test that the policy is in force."""
    text = file.read_text(encoding="utf-8").replace("</body>", "<script>document.title = 'changed'</script></body>")
    changed = tmp_path / "changed.html"
    changed.write_text(text, encoding="utf-8")
    context = browser.new_context()
    page = context.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(changed.as_uri())
    title = page.title()
    context.close()
    assert title == HOSTILE
    assert any("Content Security Policy" in text for text in complaints)


# ------------------------------------------------------------------------------------------- pointer and keyboard


def test_drag_moves_a_node_and_its_friends(visit, file, path):
    page = visit(file)
    couplings = path[14].couplings
    s, t = np.unravel_index(couplings.argmax(), couplings.shape)
    start, friend = position(page, NAMES[s]), position(page, NAMES[t])
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(start[0] + 60, start[1] + 40, steps=8)
    page.wait_for_function(
        "([name, x]) => isinglassReport.positionOf(name)[0] > x", arg=[NAMES[t], friend[0]]
    )  # a friend follows from frame to frame
    page.mouse.up()
    assert position(page, NAMES[s]) == pytest.approx([start[0] + 60, start[1] + 40], abs=1)
    moved = np.subtract(position(page, NAMES[t]), friend)
    assert 0 < moved[0] < 60
    assert drawn(page)["focus"] is None  # a drag is not a click
    page.click("#reset")
    assert position(page, NAMES[s]) == pytest.approx(start, abs=1)


def test_click_highlights_and_background_clears(visit, file):
    page = visit(file)
    on_top = "([x, y]) => document.elementFromPoint(x, y)?.id"
    free = [name for name in ("ada", "eve", "fay", "gus") if page.evaluate(on_top, position(page, name)) == "canvas"]
    page.mouse.click(*position(page, free[0]))  # a node that lies below no button
    assert drawn(page)["focus"] == free[0]
    box = page.locator("#canvas").bounding_box()
    page.mouse.click(box["x"] + 8, box["y"] + 8)
    assert drawn(page)["focus"] is None


def test_background_drag_and_zoom(visit, file):
    page = visit(file)
    start, scale = position(page, "ada"), drawn(page)["scale"]
    box = page.locator("#canvas").bounding_box()
    corner = box["x"] + 8, box["y"] + 8
    page.mouse.move(*corner)
    page.mouse.down()
    page.mouse.move(corner[0] + 30, corner[1] + 20, steps=4)
    page.mouse.up()
    assert position(page, "ada") == pytest.approx([start[0] + 30, start[1] + 20], abs=1)
    page.click("#zoom-in")
    assert drawn(page)["scale"] > scale
    page.click("#zoom-fit")
    assert drawn(page)["scale"] == pytest.approx(scale)
    assert position(page, "ada") == pytest.approx(start, abs=1)


def test_wheel_zooms_once_the_network_is_active(visit, file):
    page = visit(file)
    scale = drawn(page)["scale"]
    box = page.locator("#canvas").bounding_box()
    page.mouse.move(box["x"] + 10, box["y"] + 10)
    page.mouse.wheel(0, -200)
    page.wait_for_selector("#wheel-hint:not([hidden])")
    assert drawn(page)["scale"] == scale
    page.focus("#canvas")
    page.mouse.wheel(0, -200)
    page.wait_for_function("scale => isinglassReport.drawn().scale > scale", arg=scale)


def test_touch_pinches(visit, file):
    page = visit(file, has_touch=True)
    scale = drawn(page)["scale"]
    box = page.locator("#canvas").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + 12
    session = page.context.new_cdp_session(page)
    for kind, gap in (("touchStart", 20), ("touchMove", 40), ("touchMove", 80), ("touchEnd", None)):
        points = [] if gap is None else [{"x": x - gap, "y": y, "id": 1}, {"x": x + gap, "y": y, "id": 2}]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    page.wait_for_function("scale => isinglassReport.drawn().scale > 1.5 * scale", arg=scale)


def test_keyboard_reaches_and_works_everything(visit, file, path):
    page = visit(file)
    reached = []
    for _ in range(80):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("() => document.activeElement.id || document.activeElement.tagName"))
    wanted = {"query", "canvas", "slider", "play", "zoom-in", "show-positive", "positive-only", "strength", "edges-csv"}
    assert wanted <= set(reached)
    page.focus("#slider")
    page.keyboard.press("ArrowLeft")
    assert drawn(page)["k"] == 13
    assert f"{path[13].n_edges} edge" in page.get_attribute("#slider", "aria-valuetext")
    page.keyboard.press("Home")
    assert drawn(page)["k"] == 0
    page.keyboard.press("End")
    assert drawn(page)["k"] == 19
    page.focus("#canvas")
    scale, start = drawn(page)["scale"], position(page, "ada")
    page.keyboard.press("ArrowLeft")
    assert position(page, "ada") == pytest.approx([start[0] + 40, start[1]])
    page.keyboard.press("+")
    assert drawn(page)["scale"] == pytest.approx(1.25 * scale)
    page.keyboard.press("-")
    page.keyboard.press("0")
    assert drawn(page)["scale"] == pytest.approx(scale)
    head = page.locator("#nodes-table th button").first
    head.focus()
    page.keyboard.press("Enter")
    assert page.locator("#nodes-table th").first.get_attribute("aria-sort") == "ascending"
    for table, drawn_as in (("nodes", "focus"), ("edges", "edge")):
        before = drawn(page)[drawn_as]
        page.locator(f"#{table}-table tbody button").first.focus()
        page.keyboard.press("Enter")
        assert drawn(page)[drawn_as] != before
    page.focus("#positive-only")
    page.keyboard.press("Space")
    assert page.is_checked("#positive-only")


def test_every_control_has_a_name(visit, file):
    page = visit(file)
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll("button, input, select, canvas")].filter((element) =>
            !element.getAttribute("aria-label") && !element.textContent.trim() && !element.labels?.length
        ).map((element) => element.outerHTML)"""
    )
    assert unnamed == []
    assert page.get_attribute("#canvas", "aria-label").startswith("Network of 8 nodes")
    duplicates = page.evaluate(
        "() => { const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);"
        " return ids.filter((id, k) => ids.indexOf(id) !== k); }"
    )
    assert duplicates == []


# ------------------------------------------------------------------------------------------- light, dark, paper, phone


def brightness(page, expression):
    color = page.evaluate(expression)
    return sum(map(int, re.findall(r"\d+", color)[:3])) / 3


BODY = "() => getComputedStyle(document.body).backgroundColor"
CORNER = """() => {
    const copy = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    copy.drawImage(document.getElementById("canvas"), 2, 2, 1, 1, 0, 0, 1, 1);
    return copy.getImageData(0, 0, 1, 1).data.slice(0, 3).join(",");
}"""


def test_dark_follows_the_system_and_the_button(visit, file):
    page = visit(file, color_scheme="dark")
    assert brightness(page, BODY) < 60
    assert brightness(page, CORNER) < 60
    page.click("#theme")
    assert brightness(page, BODY) > 200
    assert brightness(page, CORNER) > 200
    page.emulate_media(color_scheme="light")
    page.click("#theme")
    assert brightness(page, BODY) < 60
    assert brightness(page, CORNER) < 60
    light = visit(file)
    assert brightness(light, BODY) > 200
    light.emulate_media(color_scheme="dark")
    wait_for_paint(light)
    assert brightness(light, BODY) < 60
    assert brightness(light, CORNER) < 60


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_have_contrast(visit, file, scheme):
    """WCAG AA: 4.5 to 1 for text on the surfaces it stands on."""
    page = visit(file, color_scheme=scheme)

    def luminance(name):
        color = page.evaluate(
            "name => { const e = document.createElement('i'); document.body.append(e);"
            " e.style.color = `var(--${name})`; const c = getComputedStyle(e).color; e.remove(); return c; }",
            name,
        )
        parts = np.array([int(part) for part in re.findall(r"\d+", color)[:3]]) / 255
        return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]

    for text in ("ink", "muted", "accent", "good", "bad", "negative-ink"):
        for ground in ("bg", "surface", "sunken"):
            low, high = sorted((luminance(text), luminance(ground)))
            assert (high + 0.05) / (low + 0.05) >= 4.5, (text, ground)


def test_print_is_light_and_without_controls(visit, file):
    page = visit(file, color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    page.wait_for_selector(":root[data-printing]")
    assert brightness(page, BODY) == 255
    assert brightness(page, CORNER) == 255
    for hidden in ("#slider", "#query", "#edges-csv", "#theme", "#zoom-in", "#save-image", "#strength", "nav"):
        assert not page.is_visible(hidden), hidden
    for shown in (
        "#canvas",
        "#edges-table",
        "#nodes-table",
        "#choice-chart",
        "#certificate-facts",
        "#command",
        "#groups",
    ):
        assert page.is_visible(shown), shown
    page.emulate_media(media="screen", color_scheme="dark")
    page.wait_for_selector(":root:not([data-printing])")
    assert brightness(page, CORNER) < 60
    assert page.pdf(format="A4").startswith(b"%PDF")
    assert brightness(page, CORNER) < 60


@pytest.mark.parametrize(
    "width", [320, 1280, *(pytest.param(width, marks=pytest.mark.long) for width in (390, 768, 1920))]
)
def test_page_fits_every_width(visit, file, width):
    page = visit(file, viewport={"width": width, "height": 800})
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    box = page.locator("#canvas").bounding_box()
    assert box["width"] > 0.5 * min(width, 1280)
    for name in ("ada", "hal"):
        x, y = position(page, name)
        assert box["x"] < x < box["x"] + box["width"]
        assert box["y"] < y < box["y"] + box["height"]


# ------------------------------------------------------------------------------------------- sections


def test_certificate_and_choice_are_told(visit, file, path, stability):
    page = visit(file)
    facts = page.text_content("#certificate-facts")
    assert f"{path[14].kkt_residual:.1e}".split("e")[0] in facts
    assert f"{path[14].duality_gap:.1e}".split("e")[0] in facts
    assert f"{len(path)} of {len(path)}" in facts
    assert page.get_attribute("#verdict", "class") == "verdict good"
    assert f"α = {stability.alpha:.4g}" in page.text_content("#choice-text")
    assert page.locator("#choice-chart .limit").count() == 1
    assert page.locator("#choice-chart .choice").count() == 1
    assert page.locator("#bars li").count() == 8
    set_range(page, "#slider", 3)
    assert f"{path[3].kkt_residual:.1e}".split("e")[0] in page.text_content("#certificate-facts")
    assert "the other columns belong to the selected network" in page.text_content("#edges-note")


def test_unconverged_networks_are_said_to_be(visit, tmp_path):
    bad = Solution(Network([0.0, 0.0], [[0, 1]], [1.0]), 0.1, kkt_residual=0.5, duality_gap=0.5)
    page = visit(write(bad, tmp_path / "bad.html"))
    assert "NOT reached" in page.text_content("#verdict")
    assert "not at the optimum" in page.text_content("#figures")


@pytest.mark.parametrize("p", [1, 2, 6])
def test_a_model_alone_makes_a_small_page(visit, tmp_path, p):
    couplings = np.diag(np.ones(p - 1), 1) + np.diag(np.ones(p - 1), -1)
    page = visit(write(Network.from_couplings(couplings, np.zeros(p)), tmp_path / "small.html"))
    assert drawn(page)["edges"] == p - 1
    boxes = ("#group-box", "#settings-box", "#command-box")
    for absent in ("#path", "#choice", "#missing", "#predictability", "#capped", *boxes):
        assert not page.is_visible(absent)
    assert "without a certificate" in page.text_content("#verdict")
    assert not page.is_visible("#certificate-note")  # which says what is proved
    assert len(cells(page, "nodes", 0)) == p


def test_other_criteria_draw_their_curves(visit, tmp_path, table):
    page = visit(write(IsingLassoCV(6, random_state=0).fit(table), tmp_path / "cv.html"))
    assert page.locator("#choice-chart .band").count() == 1
    assert "cross-validation" in page.text_content("#choice-title")
    fit = IsingLassoEBIC(6).fit(table).fit_
    page = visit(write(fit, tmp_path / "ebic.html"))
    assert "BIC" in page.text_content("#choice-title")
    evidence = replace(fit.selection.evidence, values=2e5 + 10 * fit.selection.evidence.values)  # of a large table
    page = visit(write(replace(fit, selection=replace(fit.selection, evidence=evidence)), tmp_path / "large.html"))
    ticks = page.locator("#choice-chart text[text-anchor=end]").all_text_contents()[:-1]
    assert len(set(ticks)) == len(ticks) > 2


def test_labels_of_a_chart_lie_on_no_line(visit, tmp_path, table):
    file = write(IsingLassoEBIC().fit(table), tmp_path / "ebic.html")
    for width in (360, 390, 1280):
        page = visit(file, viewport={"width": width, "height": 844})
        covered = page.evaluate(
            """() => {
              const svg = document.querySelector("#choice-chart svg");
              const line = svg.querySelector("polyline.main");
              const length = line.getTotalLength();
              const points = Array.from({ length: 400 }, (_, k) => line.getPointAtLength((k / 399) * length));
              const labels = [...svg.querySelectorAll("text")].filter((text) => /α =|slider/.test(text.textContent));
              return labels.map((label) => {
                const { x, y, width, height } = label.getBBox();
                const lies = (at) => at.x > x && at.x < x + width && at.y > y + 2 && at.y < y + height - 2;
                return points.filter(lies).length;
              });
            }"""
        )
        assert covered == [0, 0], width


def test_missing_cells_are_a_share_of_all_columns(visit, tmp_path, table):
    gone = np.random.default_rng(0).random(table.shape) < 0.1
    gone[:, 0] = False
    data = make_table(np.asarray(table), holes=gone)
    data = replace(data, variables=data.variables.with_covariates([data.names[0]]))
    fit = Method(selector=Fixed(0.05)).fit(data)
    share = gone.mean()
    assert f"Missing cells ({gone.sum()}, {share:.1%})" in fit.methods_text()
    facts = visit(write(fit, tmp_path / "covariate.html")).text_content("#missing-facts")
    assert f"{100 * share:.1f} % of {len(gone)} rows × {gone.shape[1]} columns." in facts


def test_missing_cells_have_a_panel(visit, tmp_path, table):
    gone = np.random.default_rng(0).random(table.shape) < np.linspace(0.0, 0.3, 8)
    gone[3] = True
    fit = Method(selector=Fixed(0.05)).fit(make_table(np.asarray(table), holes=gone))
    page = visit(write(fit, tmp_path / "holes.html"))
    missing = fit.missing
    facts = page.text_content("#missing-facts")
    assert f"{missing.n_cells:,}" in facts
    assert f"converged in round {missing.settled + 1}" in facts
    assert f"{100 * missing.edge_information.mean():.1f} %" in facts
    said = page.text_content("#missing-text")
    assert "drawn from an imputation model" in said
    assert f"given the observed cells of their row, {missing.n_imputations} times" in said
    bars = page.locator("#missing-bars li")
    assert bars.count() == (missing.column_shares > 0).sum()
    emptiest = missing.column_shares.argmax()
    assert fit.network.names[emptiest] in bars.first.text_content()
    assert f"{100 * missing.column_shares.max():.1f} %" in bars.first.text_content()
    assert page.locator("#missing-bars .tick").count() == bars.count()
    assert page.locator("#missing-patterns dt").count() == len(missing.patterns)
    assert f"{missing.n_patterns - len(missing.patterns)} other patterns" in page.text_content("#missing-rest")
    assert page.is_visible("nav a[href='#missing']")


def test_dropped_rows_are_told(visit, tmp_path, table):
    rows = np.where(np.random.default_rng(0).random(table.shape) < 0.01, np.nan, table)
    fit = Method(selector=Fixed(0.05)).fit(as_table(rows, missing="drop"))
    page = visit(write(fit, tmp_path / "dropped.html"))
    assert "were left out" in page.text_content("#missing-text")
    assert f"{fit.missing.n_left_out}" in page.text_content("#missing-facts")
    assert not page.is_visible("#missing-columns")
    assert not page.is_visible("#missing-together")


# ------------------------------------------------------------------------------------------- large networks


@pytest.fixture(scope="module")
def large():
    """A path of 15 networks among 500 nodes that grows to 3 000 edges."""
    rng = np.random.default_rng(0)
    n_nodes, n_edges = 500, 3000
    group = rng.integers(0, 5, n_nodes)
    s, t = np.triu_indices(n_nodes, 1)
    chance = np.where(group[s] == group[t], 1.0, 0.05)
    kept = np.sort(rng.choice(len(s), n_edges, replace=False, p=chance / chance.sum()))
    index = np.column_stack([s, t])[kept].astype(np.int32)
    strength, entry = rng.normal(size=n_edges), rng.integers(1, 15, n_edges)

    def network(k):
        there = entry <= k
        values = (strength * (k - entry + 1) / 15)[there]
        return Solution(Network(np.zeros(n_nodes), index[there], values), float(0.5 * 0.8**k), converged=True)

    return Path(tuple(network(k) for k in range(15))), group


@pytest.mark.long
def test_five_hundred_nodes_load_and_move(visit, tmp_path, large):
    path, group = large
    assert path[14].n_edges == 3000
    page = visit(write(path[14], tmp_path / "large.html", path=path, groups=group.tolist()))
    for k in (0, 7, 14):
        set_range(page, "#slider", k)
        assert drawn(page)["edges"] == path[k].n_edges
    names = [f"x{k}" for k in range(500)]
    places = page.evaluate("names => names.map((name) => isinglassReport.positionOf(name))", names)
    leftmost = min(range(500), key=lambda k: places[k])
    x, y = places[leftmost]
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y + 30, steps=10)
    page.mouse.up()
    assert position(page, names[leftmost]) == pytest.approx([x + 40, y + 30], abs=1)
    page.click("#edges-more button")
    assert len(cells(page, "edges", 0)) == 3000


def test_cap_is_announced(visit, tmp_path, large):
    path, _ = large
    page = visit(write(path[14], tmp_path / "capped.html", path=path, max_edges=1000))
    assert page.is_visible("#capped")
    assert "1,000 of the 3,000 pairs" in page.text_content("#capped")
    assert drawn(page)["edges"] == 1000
    assert page.text_content("#edge-count") == "1,000 of 3,000 edges shown"


# ------------------------------------------------------------------------------------------- what the words say


def test_the_page_says_what_is_proved(visit, file):
    """The fit is optimal for its table and penalty: the network itself is not proved."""
    figures = visit(file).text_content("#figures")
    assert "Computationexact optimumfor this table and penalty" in figures
    assert "proved" not in figures


def test_regressions_are_not_one_proof(visit, tmp_path, table):
    net = Method("nodewise", Fixed(0.05)).fit(table)
    page = visit(write(net, tmp_path / "nodewise.html"))
    assert "Each of the 8 regressions reached its optimum" in page.text_content("#verdict")
    note = page.text_content("#certificate-note")
    assert "rule “and”" in note
    assert "no other couplings" not in note
    assert "exact optima" in page.text_content("#figures")


def test_rows_and_weights_are_told_apart(visit, tmp_path, table):
    weight = 0.25 + np.arange(600) % 2
    effective = f"{weight.sum() ** 2 / (weight**2).sum():.5g}"
    weighted = make_table(table, sample_weight=weight)
    net = IsingLasso(0.05).fit(weighted)
    text = visit(write(net, tmp_path / "a.html", X=weighted)).text_content("#figures")
    assert f"Rows600effective number with their weights {effective}" in text
    text = visit(write(net, tmp_path / "b.html")).text_content("#figures")
    assert f"Rows600effective number with their weights {effective}" in text


def test_command_names_the_page(visit, tmp_path, table):
    net = IsingLasso(0.05).fit(table)
    page = visit(write(net, tmp_path / "it's mine.html", command="isinglass report net/model.npz -o {page}"))
    (word,) = shlex.split(page.text_content("#command"))[4:]
    assert word == "it's mine.html"


def test_counts_are_whole_and_explained(visit, tmp_path, table):
    net = IsingLasso(0.05).fit(table)
    page = visit(write(net, tmp_path / "a.html"))
    heads = page.locator("#edges-table th").evaluate_all("heads => heads.map((head) => head.dataset.label)")
    s, t = (net.network_.names.index(cells(page, "edges", k)[0]) for k in (0, 1))
    both = int((table[:, s] & table[:, t]).sum())
    assert cells(page, "edges", heads.index("n11"))[0] == str(both)
    assert "n11" in page.text_content("#edges-note")
    assert "whole" not in page.text_content("#edges-note")
    assert page.is_visible("#meaning dt:has-text('Log odds ratio')")
    _, rows = download(page, "#edges-csv")
    assert list(rows[0])[:4] == ["source", "target", "coupling", "weight"]


def test_q_values_and_tolerances_are_explained(visit, tmp_path, table):
    for fdr in (None, 0.1):
        net = IsingNetwork(fdr=fdr).fit(table)
        page = visit(write(net, tmp_path / "a.html"))
        assert page.locator("#edges-table th[data-label=Q]").count() == (fdr is not None)
        assert page.locator("#meaning dt", has_text=re.compile("^q$")).is_visible() == (fdr is not None)
    tol = net.fit_.selection.path.tol
    assert tol == 0.001
    set_range(page, "#slider", 3)
    assert page.text_content("#verdict").endswith(f"within a tolerance of {tol:g}.")


def test_counts_of_imputed_rows_have_one_decimal_and_a_reason(visit, tmp_path, table):
    holes = table.astype(float)
    holes[::9, 0] = np.nan
    net = IsingLasso(0.05, missing="impute").fit(holes)
    page = visit(write(net, tmp_path / "a.html"))
    heads = page.locator("#edges-table th").evaluate_all("heads => heads.map((head) => head.dataset.label)")
    shown = cells(page, "edges", heads.index("n11"))
    assert all(re.fullmatch(r"\d+\.\d", cell) for cell in shown)
    assert "imputed several times" in page.text_content("#edges-note")
    _, rows = download(page, "#edges-csv")
    edges = net.edges()
    assert [float(row["n11"]) for row in rows] == pytest.approx(edges["n11"])


def test_curve_ends_where_it_is_known(visit, file, stability):
    """StARS stops once it is sure: the rest of the path has no instability, and would leave the chart empty."""
    last = np.flatnonzero(np.isfinite(stability.monotone))[-1]
    assert last < len(stability.alphas) - 1
    page = visit(file)
    box = page.locator("#choice-chart svg").bounding_box()
    ends = page.locator("#choice-chart .main").bounding_box()
    assert ends["x"] + ends["width"] > box["x"] + 0.93 * box["width"]


def test_tables_fit_on_paper(visit, tmp_path, table):
    net = IsingLassoStARS(20, n_subsamples=4, threshold=0.1, random_state=0)
    net.fit(pd.DataFrame(table, columns=[f"{k} a rather long name of a question" for k in range(8)]))
    page = visit(write(net, tmp_path / "a.html", X=table), viewport={"width": 718, "height": 1000})
    page.emulate_media(media="print")
    page.wait_for_selector(":root[data-printing]")
    for place in ("#edges-table", "#nodes-table"):
        assert page.locator(place).bounding_box()["width"] <= 718, place
    drawing = page.locator("#canvas").bounding_box()
    names = net.network_.names
    heights = [position(page, name)[1] for name in names]
    assert max(heights) - min(heights) > drawing["height"] - 110  # no empty bands around it


@pytest.fixture(scope="module")
def full_file(tmp_path_factory, table):
    """A report with all that can be computed: resamples, dropped rows, communities, wording."""
    names = [f"how often in the last two weeks {k}" for k in range(8)]
    frame = pd.DataFrame(table, columns=names)
    net = IsingLasso(0.01).fit(frame)
    resampled = bootstrap(frame, 0.01, n_boot=10, random_state=0)
    return write(
        net,
        tmp_path_factory.mktemp("full") / "full.html",
        X=frame,
        bootstrap=[resampled, bootstrap(frame, 0.01, n_boot=28, kind="case-drop", random_state=0)],
        groups=["first part", "second part"] * 4,
        wording=dict.fromkeys(names, "a question of some length that was asked"),
    )


def test_the_ends_of_the_slider_are_named_where_they_are(visit, tmp_path, path):
    page = visit(write(path[0], tmp_path / "empty.html", path=path))  # the selected network is at the left end
    label, more = (page.locator(place).bounding_box() for place in ("#mark-label", ".ends span:last-child"))
    assert label["x"] + label["width"] < more["x"]


def test_a_long_name_leaves_room_for_the_button_beside_it(visit, full_file):
    page = visit(full_file)
    page.locator("#nodes-table tbody tr").first.click()
    page.wait_for_selector("#detail-list button.table")
    fits = "() => [...document.querySelectorAll('#detail-list li')].every((row) => row.scrollWidth <= row.clientWidth)"
    assert page.evaluate(fits)


def test_what_was_computed_about_nodes_is_shown(visit, full_file, table):
    page = visit(full_file)
    heads = page.locator("#nodes-table th button").all_inner_texts()
    wanted = {"Closeness", "Betweenness", "Bridge strength", "Accuracy", "Group"}
    assert wanted <= set(heads)
    assert page.locator("#nodes-table td.name small").all_inner_texts() == 8 * [
        "a question of some length that was asked"
    ]
    net = IsingLasso(0.01).fit(table)
    cells = page.locator(f"#nodes-table tbody td:nth-child({1 + heads.index('Betweenness')})").all_inner_texts()
    assert sorted(map(float, cells)) == sorted(round(x, 3) for x in metrics.centrality(net)["betweenness"])
    drops = bootstrap(table, 0.01, n_boot=28, kind="case-drop", random_state=0)
    for of, value in drops.cs_coefficients().items():
        assert f"{of.replace('_', ' ')} {value:.2f}" in page.inner_text("#cs")


def test_what_was_not_computed_is_not_mentioned(visit, file):
    page = visit(file)
    assert not page.is_visible("#cs")
    assert "Community" not in page.locator("#nodes-table th button").all_inner_texts()


def test_the_table_of_nodes_fits_a_laptop(visit, full_file):
    page = visit(full_file)
    region = page.locator("#nodes .scroll")
    assert region.evaluate("(box) => box.scrollWidth - box.clientWidth") == 0


def test_a_phone_shows_many_edges_with_their_couplings(visit, full_file):
    page = visit(full_file, viewport={"width": 390, "height": 844})
    region = page.locator("#edges .scroll")
    region.scroll_into_view_if_needed()
    seen = region.evaluate(
        """(box) => {
          const [frame, bar] = [box.getBoundingClientRect(), box.querySelector("thead").getBoundingClientRect()];
          const rows = [...box.querySelectorAll("tbody tr")].map((row) => row.getBoundingClientRect());
          const coupling = box.querySelector("tbody td:nth-child(3)").getBoundingClientRect();
          return [rows.filter((row) => row.top >= bar.bottom - 1 && row.bottom <= frame.bottom).length, coupling.right];
        }"""
    )
    assert seen[0] >= 8
    assert seen[1] <= 390


def test_bars_are_printed(visit, full_file):
    page = visit(full_file)
    page.emulate_media(media="print")
    for place in ("#bars .guess", "#bars .gain", "#bars .meter"):
        style = page.locator(place).first.evaluate("(part) => getComputedStyle(part).printColorAdjust")
        assert style == "exact", place


# ------------------------------------------------------------------------------------------- categories

LABELS = [["cat", HOSTILE, "none"], ["no", "yes"], [1, 2, 3, 4], ["p", "q", "r"]]
BLOCKS = {
    (0, 1): [[1.5], [-0.5], [-1.0]],
    (0, 3): [[0.5, -0.25, -0.25], [-0.5, 0.25, 0.25], [0.0, 0.0, 0.0]],
    (1, 2): [[-0.5]],
}


@pytest.fixture(scope="module")
def mixed():
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.integers(0, len(labels), 200) for labels in LABELS]).astype(np.uint8)
    network = make_network(
        [np.zeros(len(labels)) for labels in LABELS],
        [None, [0, 1], [0, 1, 2, 3], None],
        list(BLOCKS),
        names=["pet", "rain", "mood", "route"],
        categories=LABELS,
        blocks=list(BLOCKS.values()),
    )
    return network, make_table(codes, network.kinds, categories=LABELS, names=network.names)


@pytest.fixture(scope="module")
def mixed_file(tmp_path_factory, mixed):
    network, table = mixed
    return write(network, tmp_path_factory.mktemp("mixed") / "mixed.html", X=table, title="Pets")


def heat(page, number):
    table = page.locator("#edge-tables table.heat").nth(number)
    return [[cell.inner_text() for cell in row.locator("td").all()] for row in table.locator("tbody tr").all()]


def click_edge(page, one, other):
    (x0, y0), (x1, y1) = position(page, one), position(page, other)
    page.mouse.click((x0 + x1) / 2, (y0 + y1) / 2)


def test_a_clicked_edge_shows_its_table_and_its_rows(visit, mixed_file, mixed):
    page, table = visit(mixed_file), mixed[1]
    assert page.locator("#edge").is_hidden()
    click_edge(page, "pet", "route")
    assert page.inner_text("#edge-title") == "pet – route"
    assert page.inner_text("#edge-facts") == "norm 1.732 · nominal – nominal"
    assert heat(page, 0) == [["+0.50", "−0.25", "−0.25"], ["−0.50", "+0.25", "+0.25"], ["0.00", "0.00", "0.00"]]
    counts = [[str(((table.codes[:, 0] == a) & (table.codes[:, 3] == b)).sum()) for b in range(3)] for a in range(3)]
    assert heat(page, 1) == counts
    heads = page.locator("#edge-tables table.heat").first.locator("tbody th")
    assert heads.all_inner_texts() == LABELS[0]  # the hostile one as text
    assert "sum to zero" in page.inner_text("#edge-reading")
    page.keyboard.press("Escape")
    assert page.locator("#edge").is_hidden()


def test_nodes_without_an_edge_that_has_a_sign_have_no_expected_influence(visit, mixed_file):
    page = visit(mixed_file)
    found = {row.locator("td").first.inner_text(): row for row in page.locator("#nodes-table tbody tr").all()}
    place = page.locator("#nodes-table th").all_inner_texts().index("Expected influence")
    shown = {name: row.locator("td").nth(place).inner_text() for name, row in found.items()}
    assert shown == {"pet": "–", "route": "–", "rain": "−0.500", "mood": "−0.500"}


def test_an_edge_with_one_number_is_a_sentence(visit, mixed_file):
    page = visit(mixed_file)
    click_edge(page, "rain", "mood")
    assert page.inner_text("#edge-facts") == "coupling −0.500 · binary – ordinal"
    assert "“rain” is “yes” rather than “no”" in page.inner_text("#edge-reading")
    assert "exp(−0.50) = 0.61" in page.inner_text("#edge-reading")
    assert len(heat(page, 0)) == 2  # the rows only
    page.click("#edge-close")
    assert page.locator("#edge").is_hidden()


def test_small_odds_are_not_zero(visit, tmp_path):
    page = visit(write(Network([0.0, 0.0], [[0, 1]], [-6.0], ["tea", "rain"]), tmp_path / "odds.html"))
    click_edge(page, "tea", "rain")
    assert f"exp(−6) = {np.exp(-6):.2g};" in page.inner_text("#edge-reading")


def test_the_table_of_an_edge_is_reached_by_keyboard(visit, mixed_file):
    page = visit(mixed_file)
    page.fill("#query", "pet")
    page.locator("#detail-list button.table").first.focus()
    page.keyboard.press("Enter")
    assert page.inner_text("#edge-title") == "pet – rain"
    assert page.evaluate("document.activeElement.id") == "edge-close"
    assert [cell for (cell,) in heat(page, 0)] == ["+1.50", "−0.50", "−1.00"]


def test_nodes_show_the_shares_of_their_categories(visit, mixed_file, mixed):
    page, table = visit(mixed_file), mixed[1]
    page.fill("#query", "mood")
    shown = page.locator("#detail-shares li")
    assert [item.locator(".name").inner_text() for item in shown.all()] == ["1", "2", "3", "4"]
    shares = np.bincount(table.codes[:, 2]) / len(table)
    for item, share in zip(shown.all(), shares, strict=True):
        assert float(item.locator(".figure").inner_text().split()[0]) == pytest.approx(100 * share, abs=0.51)
    headings = [head.inner_text() for head in page.locator("#nodes-table th button").all()]
    assert {"Kind", "Categories"} <= set(headings)
    assert "Field" not in headings


def test_edges_without_a_sign_have_their_own_filter(visit, mixed_file):
    page = visit(mixed_file)
    assert page.inner_text("#count-unsigned") == "2"
    page.uncheck("#show-unsigned")
    assert drawn(page)["edges"] == 1
    page.check("#positive-only")
    assert drawn(page)["edges"] == 0
    page.uncheck("#positive-only")
    assert drawn(page)["edges"] == 3
    assert page.is_checked("#show-unsigned")


@pytest.mark.parametrize("width", [320, 1280])
def test_tables_of_edges_fit_every_width(visit, mixed_file, width):
    page = visit(mixed_file, viewport={"width": width, "height": 900})
    page.locator("#edges-table tbody tr").first.click()
    assert page.locator("#edge").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


# ------------------------------------------------------------------------------------------- numbers


@pytest.fixture(scope="module")
def numbers():
    """Age on steps of ten years, with a coupling of ln 2 per ten years to a yes/no column and to a copy of age."""
    variables = Variables.of(
        [(10, 20, 30), (10, 20, 30), ("no", "yes")],
        ["continuous", "continuous", "binary"],
        [(0.0, 1.0, 2.0), (0.0, 1.0, 2.0), None],
        names=["age", "other", "rain"],
    )
    network = Network(np.zeros(5), [[0, 1], [0, 2]], [np.log(2), np.log(2)], variables=variables)
    rng = np.random.default_rng(0)
    return network, Table(np.column_stack([rng.integers(0, q, 200, np.uint8) for q in (3, 3, 2)]), variables)


@pytest.fixture(scope="module")
def numbers_file(tmp_path_factory, numbers):
    network, table = numbers
    return write(network, tmp_path_factory.mktemp("numbers") / "numbers.html", X=table)


def test_an_edge_between_numbers_is_a_scatter_with_the_expected_mean(visit, numbers_file, numbers):
    page, codes = visit(numbers_file), numbers[1].codes
    click_edge(page, "age", "other")
    assert "one standard deviation (10" in page.inner_text("#edge-reading")
    discs = page.locator("#edge-tables circle.rows").all()
    assert len(discs) == len({tuple(row) for row in codes[:, :2].tolist()})
    counts = {(a, b): ((codes[:, 0] == a) & (codes[:, 1] == b)).sum() for a in range(3) for b in range(3)}
    areas = sorted(float(disc.get_attribute("r")) ** 2 for disc in discs)
    assert areas == pytest.approx(sorted(np.array(list(counts.values())) / max(counts.values()) * areas[-1]), rel=0.01)
    points = page.locator("#edge-tables polyline.mean").get_attribute("points").split()
    heights = [float(point.split(",")[1]) for point in points]
    # The mean of 10, 20 and 30 with the odds 1 : 1 : 1, 1 : 2 : 4 and 1 : 4 : 16; y grows downwards on the page.
    means = [20.0, 170 / 7, 570 / 21]
    assert (heights[0] - heights[1]) / (heights[0] - heights[2]) == pytest.approx(
        (means[1] - means[0]) / (means[2] - means[0]), abs=0.02
    )


def test_an_edge_between_a_number_and_answers_has_a_mean_for_each(visit, numbers_file):
    page = visit(numbers_file)
    click_edge(page, "age", "rain")
    lines = page.locator("#edge-tables line.mean")
    assert lines.count() == 2
    low, high = (float(line.get_attribute("y1")) for line in lines.all())
    assert high < low  # higher on the page
    assert page.locator("#edge-tables table.heat").count() == 0


def test_the_line_of_a_scatter_says_of_which_network_it_is(visit, tmp_path, numbers):
    network, table = numbers
    weaker = Network(np.zeros(5), network.pairs, 0.5 * network.pair_values, variables=network.variables)
    path = Path((Solution(weaker, 0.2), Solution(network, 0.1)))
    page = visit(write(path[1], tmp_path / "page.html", X=table, path=path))
    click_edge(page, "age", "other")
    assert page.inner_text("#edge-tables figcaption").endswith("; line: expected by the network")
    set_range(page, "#slider", 0)
    assert page.inner_text("#edge-tables figcaption").endswith("expected by the network at the selected α = 0.1")


def test_numbers_have_a_share_of_variance_instead_of_an_accuracy(visit, numbers_file, numbers):
    page, (network, table) = visit(numbers_file), numbers
    shown = dict(zip(*(page.locator(f"#bars .{part}").all_inner_texts() for part in ("name", "figure")), strict=True))
    r_squared = dict(zip(network.names, metrics.node_table(table, network)["r_squared"], strict=True))
    for name in ("age", "other"):
        assert number(shown[name].removeprefix("R² ")) == pytest.approx(r_squared[name], abs=0.006)
    assert shown["rain"].endswith("%")


def test_a_column_of_numbers_shows_its_density(visit, numbers_file, numbers):
    page = visit(numbers_file)
    page.fill("#query", "age")
    bars = page.locator("#detail-shares svg.density rect").all()
    shares = np.bincount(numbers[1].codes[:, 0]) / 200
    heights = [float(bar.get_attribute("height")) for bar in bars]
    assert heights == pytest.approx(shares / shares.max() * max(heights), rel=0.01)


def test_the_page_says_what_was_not_assessed_and_what_follows_from_a_failed_check(visit, tmp_path, table):
    fit = Method(selector=Fixed(1.0)).fit(table)  # no edges: pairs are not reproduced
    write_report(fit, tmp_path / "a.html", X=table)
    page = visit(tmp_path / "a.html")
    assert "Sampling uncertainty\nnot assessed" in page.inner_text("#figures")
    assert "isinglass bootstrap" in page.inner_text("#certificate-note")
    assert page.inner_text("#check-consequence") == fit.check(table).consequence != ""
    assert fit.check(table).sentence in page.inner_text("#methods")
    fit = Method(selector=Fixed(0.02)).fit(table)
    found = [bootstrap(table, Fixed(0.02), n_boot=30, kind=kind, random_state=0) for kind in ("rows", "case-drop")]
    write_report(fit, tmp_path / "b.html", X=table, bootstrap=found)
    page = visit(tmp_path / "b.html")
    assert "Sampling uncertainty\n30 resamples" in page.inner_text("#figures")
    assert "Bootstrap q2.5" in page.inner_text("#edges-table thead")
    assert "about 3 subsets per share. That is too few" in page.inner_text("#cs")
    assert page.is_visible("text=Closeness, betweenness")
    write_report(fit, tmp_path / "c.html", X=table, bootstrap=found[1])
    page = visit(tmp_path / "c.html")
    assert "Sampling uncertainty\n30 subsets" in page.inner_text("#figures")
    assert "Bootstrap" not in page.inner_text("#edges-table thead")


@pytest.mark.parametrize("width", [500, 1200, 1600])
def test_figures_of_groups_have_one_size(tabs, tmp_path, table, width):
    found = compare_groups(table, np.arange(len(table)) % 4, 0.05, n_permutations=2, random_state=0)
    write_comparison(found, tmp_path / "groups.html")
    page = tabs.open((tmp_path / "groups.html").as_uri())
    page.set_viewport_size({"width": width, "height": 900})
    sizes = page.evaluate("[...document.querySelector('.row').querySelectorAll('img')].map((e) => e.clientWidth)")
    tabs.leave()
    assert len(sizes) == 4
    assert len(set(sizes)) == 1
