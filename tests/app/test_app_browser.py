"""The app in a real browser: the whole way from a file to a network, for ordinary and for hostile files."""

import io
import itertools
import json
import re
import threading
import urllib.error
import urllib.request
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from chromium import Tabs, launched, needs_browser
from commands import write_csv

from isinglass.app.server import Server

pytestmark = needs_browser

HOSTILE = ["</script><script>alert(1)</script>", '<img src=x onerror="alert(2)">', 'comma, "quote"', "=1+1", "a&b"]
SLOW = 60_000  # milliseconds, on a busy machine


@pytest.fixture(scope="module")
def browser():
    with launched() as found:
        yield found


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """One server for all tests, as a person has; every test opens a table of its own."""
    with Server(tmp_path_factory.mktemp("session")) as found:
        threading.Thread(target=found.serve_forever, args=(0.05,), daemon=True).start()
        yield found
        found.shutdown()


@pytest.fixture(scope="module")
def tabs(browser):
    found = Tabs(browser)
    found.context.set_default_timeout(SLOW)
    return found


@pytest.fixture
def visit(tabs, server):
    """Open a tab; fail afterwards if a page complained, asked another server, or opened a dialog."""

    def open_tab(**options):
        page = tabs.open(server.address, **options)
        page.wait_for_selector("#examples button")
        return page

    yield open_tab
    with server.session.changes:
        server.session.queue.clear()
        server.session.shown.results = {}
    pages = tabs.leave()
    assert [trouble for page in pages for trouble in page.trouble] == []
    assert [url for page in pages for url in page.requests if not url.startswith((server.address, "data:"))] == []


def give(page, file, name=None):
    """Hand a file to the page, under a name that no test before has used, and wait for its columns."""
    name = name or file.name
    page.set_input_files("#file", {"name": name, "mimeType": "text/plain", "buffer": file.read_bytes()})
    page.wait_for_function("name => document.getElementById('file-name').textContent === name", arg=name)
    page.wait_for_selector("#rows tr")


def fit(page):
    page.click("#run-fit")
    page.wait_for_selector("#network", state="visible")
    page.locator("#report").wait_for()
    frame = page.frame_locator("#report")
    frame.locator("#edge-count:not(:empty)").wait_for(state="attached")  # Chromium lays out frames when it likes
    return frame


def edges_of(page, name):
    with page.expect_download() as download:
        page.click(f"#files a:text-is('{name}')")
    return download.value.path().read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def votes(tmp_path_factory):
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 2, (200, 1)) ^ (rng.random((200, 5)) < 0.15)
    words = np.where(rows == 1, "yes", "no").tolist()
    return write_csv(tmp_path_factory.mktemp("votes") / "votes.csv", ["ann", "bob", "cyd", "dan", "eve"], words)


@pytest.fixture(scope="module")
def likert(tmp_path_factory):
    """An SPSS file of ratings with labels, holes, a code for missing answers, and groups."""
    pandas, pyreadstat = pytest.importorskip("pandas"), pytest.importorskip("pyreadstat")
    rng = np.random.default_rng(2)
    n = 300
    mood = rng.normal(size=(n, 1))
    answers = np.clip(np.round(3 + mood + rng.normal(size=(n, 4))), 1, 5)
    answers[rng.random(answers.shape) < 0.04] = np.nan
    frame = pandas.DataFrame(answers, columns=["calm", "glad", "warm", "open"])
    frame.loc[frame.index[:9], "open"] = 99
    frame["sex"] = np.tile([1.0, 2.0], n // 2)
    file = tmp_path_factory.mktemp("likert") / "likert.sav"
    labels = {"sex": {1: "woman", 2: "man"}}
    pyreadstat.write_sav(frame, file, variable_value_labels=labels, column_labels={"calm": "I feel calm"})
    return file


def test_yes_and_no_from_a_file_to_a_network(visit, votes):
    page = visit()
    give(page, votes)
    assert page.locator("#rows tr").count() == 5
    assert page.locator("#rows tr").first.locator("td").nth(1).inner_text() == "two values"
    page.uncheck("#use-4")
    assert "4 columns" in page.inner_text("#chosen")  # at once
    page.wait_for_function("() => document.querySelector('#fit pre').textContent.includes('--drop eve')")
    command = page.inner_text("#fit pre")
    assert command.startswith("isinglass fit votes.csv --drop eve --encode auto -o votes\n")
    page.click("#python-fit")
    assert "read_table('votes.csv', drop=['eve'], encode='auto')" in page.inner_text("#fit pre")
    frame = fit(page)
    assert frame.locator("h1").inner_text() == "votes"
    text = edges_of(page, "edges.csv")
    assert text.startswith("source,target,coupling")
    assert "eve" not in text
    assert "Certificate" in page.inner_text("#facts")
    with page.expect_download() as download:
        page.click("#zip")
    with zipfile.ZipFile(download.value.path()) as archive:
        assert archive.read("votes/edges.csv").decode() == text
        assert archive.read("commands.sh").decode().strip() == command
    page.check("#use-4")
    page.wait_for_selector("#stale", state="visible")
    assert page.is_disabled("#run-bootstrap")


def test_missing_answers_of_two_values_may_be_zeros_and_numbers_keep_their_digits(visit, tmp_path):
    rows = [[("", "yes", "no")[k % 3], ("yes", "no")[k % 2], 1234567.25 + k] for k in range(20)]
    page = visit()
    give(page, write_csv(tmp_path / "zeros.csv", ["ann", "bob", "size"], rows))
    assert "read them as 0" in page.locator("#missing option").all_inner_texts()
    assert "1234567.25 … 1234586.25" in page.locator("#rows tr").nth(2).inner_text()
    assert ", from 20 rows." in page.inner_text("#chosen")
    page.select_option("#missing", "drop")
    assert ", from those of 20 rows that have no missing cell." in page.inner_text("#chosen")
    page.uncheck("#use-0")  # the only column with missing cells
    assert ", from 20 rows." in page.inner_text("#chosen")


def test_warnings_of_every_job_are_shown(visit, tmp_path):
    rng = np.random.default_rng(3)
    rows = (rng.integers(0, 2, (120, 1)) ^ (rng.random((120, 3)) < 0.2)).astype(int)
    rows[::2, 2] = 1  # the same answer in one group
    named = [[*row, "xy"[k % 2]] for k, row in enumerate(rows.tolist())]
    page = visit()
    give(page, write_csv(tmp_path / "constant.csv", ["ann", "bob", "cyd", "group"], named))
    page.select_option("#groups", "3")
    fit(page)
    page.fill("#permutations", "3")
    page.press("#permutations", "Enter")
    page.click("#run-compare")
    told = page.locator("[data-warnings=compare] li")
    told.first.wait_for()
    assert "cyd" in told.first.inner_text()
    assert page.locator("[data-warnings=fit] li").count() == 0


def test_ratings_of_an_spss_file_with_holes_and_groups(visit, likert):
    page = visit()
    give(page, likert)
    rows = page.locator("#rows tr")
    assert rows.count() == 5
    assert "99 missing?" in rows.nth(3).inner_text()
    page.click("#value-3-99")
    page.wait_for_selector("#value-3-99[aria-pressed=true]")
    page.wait_for_function("() => !document.querySelector('#rows').textContent.includes('99 missing?')")
    assert page.evaluate("() => document.activeElement.id") == "value-3-99"  # the keyboard stays where it was
    page.select_option("#groups", "4")
    page.wait_for_function("() => document.querySelector('#fit pre').textContent.includes('--drop sex')")
    assert "--na open=99" in page.inner_text("#fit pre")
    assert "--missing impute" in page.inner_text("#fit pre")
    assert page.locator("#missing option").all_inner_texts() == ["impute them", "leave out their rows"]
    page.select_option("#kind-0", "nominal")
    page.wait_for_function("() => document.querySelector('#fit pre').textContent.includes('--nominal calm')")
    page.select_option("#kind-0", "ordinal")
    page.wait_for_function("() => !document.querySelector('#fit pre').textContent.includes('--nominal')")
    fit(page)
    assert "Imputed" in page.inner_text("#facts")
    for name, number in (("resamples", "12"), ("permutations", "7")):
        page.fill(f"#{name}", number)
        page.press(f"#{name}", "Enter")
    page.wait_for_function("() => document.querySelector('#text-compare').textContent.includes('--resamples 7')")
    assert "--resamples 12" in page.inner_text("#text-bootstrap")
    page.click("#run-compare")
    page.click("#run-bootstrap")
    page.wait_for_selector("[data-files=compare] a.button")
    assert "woman" in page.inner_text("[data-facts=compare]") or "1 (150 rows)" in page.inner_text(
        "[data-facts=compare]"
    )
    page.wait_for_selector("[data-files=bootstrap] a")
    told = page.inner_text("[data-facts=bootstrap]")
    assert "CS-coefficients: strength" in told
    assert "take more" in told
    page.frame_locator("#report").locator("text=Inclusion").first.wait_for(state="attached")
    for kind in ("network", "stability"):
        page.select_option("#figure", kind)
        page.select_option("#ending", "svg")
        page.wait_for_function(
            "kind => document.querySelector('[data-step=figure] pre').textContent.includes(`/${kind}.svg`)", arg=kind
        )
        page.click("#run-figure")
        page.wait_for_selector(f"#drawn a:text-is('{kind}.svg')")
    page.wait_for_function(
        "() => [...document.querySelectorAll('#drawn img')].every((image) => image.naturalWidth > 100)"
    )


@pytest.fixture(scope="module")
def ratings(tmp_path_factory):
    rows = np.random.default_rng(4).integers(1, 7, (200, 4)).tolist()
    return write_csv(tmp_path_factory.mktemp("ratings") / "ratings.csv", ["ann", "bob", "cyd", "dan"], rows)


def codes_of(page):
    return page.evaluate("() => state.choices.codes")


ALL_SIXES = {str(place): ["6"] for place in range(4)}
PRESSED = "place => document.getElementById(`value-${place}-6`).ariaPressed === 'true'"


def test_choices_that_follow_each_other_are_all_kept(visit, ratings):
    page = visit()
    give(page, ratings, "quick.csv")
    page.evaluate("() => [0, 1].forEach((place) => document.getElementById(`value-${place}-6`).click())")
    page.click("#value-2-6")  # while the table is read again
    page.click("#value-3-6")
    page.uncheck("#use-3")
    fit(page)
    assert codes_of(page) == ALL_SIXES
    assert all(page.evaluate(PRESSED, place) for place in range(4))
    with page.expect_download() as download:
        page.click("#zip")
    with zipfile.ZipFile(download.value.path()) as archive:
        command = archive.read("commands.sh").decode()
    assert all(f"{name}=6" in command for name in ("ann", "bob", "cyd", "dan"))
    assert "--drop dan" in command
    page.wait_for_function("() => !document.querySelector('#busy').textContent")
    assert page.is_hidden("#stale")
    page.click("#value-0-6")  # an answer again
    assert page.get_attribute("#value-0-6", "aria-pressed") == "false"
    assert page.evaluate("() => document.activeElement.id") == "value-0-6"
    page.wait_for_function("() => !document.querySelector('#fit pre').textContent.includes('ann=6')")


def test_a_state_from_before_a_choice_does_not_undo_it(visit, ratings):
    page = visit()
    give(page, ratings, "late.csv")
    page.evaluate(
        """async () => {
          const [real, late] = [fetch, await (await fetch("state/0")).text()];
          globalThis.late = 3; // answers from now on
          globalThis.fetch = async (where, ...more) =>
            where.startsWith("state/") && globalThis.late-- > 0 ? new Response(late) : real(where, ...more);
        }"""
    )
    page.click("#value-0-6")
    page.wait_for_function("() => globalThis.late < 0")
    page.click("#value-1-6")
    page.wait_for_function("() => document.querySelector('#fit pre').textContent.includes('bob=6')")
    assert codes_of(page) == {"0": ["6"], "1": ["6"]}


def change_in_another_tab(page, server, changes, shown):
    """Choose something elsewhere, and wait until the page knows it: until an expression of it is true."""
    server.session.choose(changes)
    page.wait_for_function(f"() => {shown}")


def test_a_button_is_not_replaced_while_it_is_pressed(visit, server, ratings):
    page = visit()
    give(page, ratings, "held.csv")
    page.hover("#value-0-6")
    page.mouse.down()
    change_in_another_tab(page, server, {"codes": {"1": ["6"]}}, "state.codes_read[1]")
    page.mouse.up()
    page.wait_for_function(PRESSED, arg=0)
    page.wait_for_function(PRESSED, arg=1)
    page.wait_for_function("() => document.querySelector('#fit pre').textContent.includes('ann=6')")
    assert codes_of(page) == {"0": ["6"], "1": ["6"]}


def test_what_is_being_typed_is_not_replaced(visit, ratings, server):
    page = visit()
    give(page, ratings, "typed.csv")
    page.focus("#codes")
    page.keyboard.type("99, ")
    change_in_another_tab(page, server, {"left_out": [0]}, "!document.getElementById('use-0').checked")
    page.keyboard.type("98")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('#fit pre').textContent.includes('--na 99 --na 98 --drop')")


def test_the_file_that_was_chosen_last_is_opened(visit, tabs, votes):
    """Though the one before it, which is larger, arrives later."""
    page, kept = visit(), []
    give(page, votes, "first.csv")
    tabs.context.route("**/upload/slow.csv", lambda route: kept.append(route), times=1)
    page.set_input_files("#file", {"name": "slow.csv", "mimeType": "text/plain", "buffer": votes.read_bytes()})
    page.wait_for_function("() => document.getElementById('busy').textContent.startsWith('Sending')")
    page.evaluate("show")  # as happens every second
    assert page.inner_text("#busy").startswith("Sending")
    assert page.is_disabled("#run-fit")  # of a table that is to be discarded
    give(page, votes, "fast.csv")
    page.wait_for_function("() => document.getElementById('busy').textContent === ''")
    assert page.is_enabled("#run-fit")
    kept[0].continue_()
    page.uncheck("#use-0")  # what comes after works
    page.wait_for_function("() => document.querySelector('#fit pre').textContent.includes('fast.csv --drop ann')")
    assert page.is_hidden("#problem")


def refuse_first_question(page):
    """Answer no to the first question of a page and yes to all others, and keep them in ``asked``."""
    page.evaluate("() => { globalThis.asked = []; globalThis.confirm = (text) => asked.push(text) > 1; }")


def test_results_are_not_replaced_without_a_question(visit, votes):
    page = visit()
    give(page, votes, "asked.csv")
    fit(page)
    refuse_first_question(page)
    page.click("#examples button >> nth=0")
    said = "Opening mood.csv discards the results of asked.csv and stops its jobs. Open it?"
    assert page.evaluate("() => [asked, requests.sending]") == [[said], None]
    assert page.is_visible("#network")
    page.click("#examples button >> nth=0")
    page.wait_for_function("() => state.file === 'mood.csv'")
    assert page.is_hidden("#network")


def test_a_fit_that_discards_results_asks_and_one_that_changes_nothing_is_not_offered(visit, votes):
    page = visit()
    give(page, votes, "discards.csv")
    fit(page)
    page.click("#run-figure")
    page.wait_for_selector("#drawn a")
    page.wait_for_selector("#run-fit:disabled")
    assert page.inner_text("#chosen").endswith("It is fitted.")
    refuse_first_question(page)
    page.uncheck("#use-4")
    page.click("#run-fit")
    said = "A new fit discards what was made from the one before: Figure: nodes and edges. Start it?"
    assert page.evaluate("() => [asked, state.jobs.some(isOpen)]") == [[said], False]
    page.click("#run-fit")
    page.wait_for_selector("#drawn a", state="detached")
    page.wait_for_selector("#stale", state="hidden")


def test_a_long_value_is_cut_on_the_page_alone(visit, tmp_path):
    answer = "I would rather not say " * 10
    rows = [[k % 2, k % 3 % 2, ("x", "y", answer.strip())[k % 3]] for k in range(60)]
    page = visit()
    give(page, write_csv(tmp_path / "long.csv", ["ann", "bob", "cyd"], rows))
    button = page.locator("#rows button", has_text="I would rather")
    assert len(button.inner_text()) == 100
    button.click()
    page.wait_for_function("() => document.querySelectorAll('#rows tr')[2].textContent.includes('33.3 %')")


def test_a_constant_column_is_not_one_of_two_values(visit, tmp_path):
    page = visit()
    rows = [[k % 2, k % 3 % 2, "x", 1] for k in range(60)]
    give(page, write_csv(tmp_path / "one.csv", ["ann", "bob", "cyd", "dan"], rows))
    for place in (2, 3):
        row = page.locator("#rows tr").nth(place).inner_text()
        assert "one value" in row
        assert "the same in all rows" in row
    assert "(two values: 2, one value: 2)" in page.inner_text("#chosen")


def test_an_alert_is_said_once(visit, votes):
    page = visit()
    give(page, votes, "alert.csv")
    page.wait_for_function("() => !document.querySelector('#busy').textContent")
    page.evaluate(
        """() => {
          const job = { kind: "fit", key: "fit", sources: [], count: 0, total: null, left: null, error: "why" };
          state.jobs = [{ ...job, number: -1, state: "failed" }, { ...job, number: -2, state: "running", seconds: 1 }];
          show();
          globalThis.alert_shown = document.querySelector(".job[role=alert]");
        }"""
    )
    page.wait_for_selector(".job:has-text('3 s so far')")
    assert page.evaluate("() => alert_shown.isConnected")


def test_a_double_click_does_what_one_does(visit, votes):
    page = visit()
    give(page, votes, "twice.csv")
    page.dblclick("#run-fit")
    page.frame_locator("#report").locator("#edge-count:not(:empty)").wait_for(state="attached")
    page.evaluate("() => { for (const _ of [1, 2]) document.getElementById('run-figure').click(); }")
    page.wait_for_selector("#drawn a")
    assert page.is_hidden("#problem")


def test_the_first_column_is_a_variable_on_request(visit, tmp_path):
    rows = [[f"p{k}", k % 2, k % 3, k % 5] for k in range(60)]
    page = visit()
    give(page, write_csv(tmp_path / "moving.csv", ["person", "ann", "bob", "cyd"], rows))
    fit(page)
    refuse_first_question(page)
    page.click("#row-names")
    page.wait_for_function("() => asked.length === 1 && document.getElementById('row-names').checked")
    page.fill("#find", "bob")
    page.click("#row-names")
    page.wait_for_function("() => state.table.columns[0].name === 'person'")
    assert page.evaluate("() => [asked.length, state.results]") == [2, {}]
    assert not page.is_checked("#row-names")
    assert page.locator("#rows tr").count() == 4  # all are listed again
    page.uncheck("#use-2")
    page.wait_for_function("() => document.querySelector('#fit pre').textContent.match(/--drop .*bob/)")


def test_another_table_is_shown_whole(visit, votes, ratings):
    page = visit()
    give(page, votes, "whole.csv")
    page.fill("#find", "eve")
    page.wait_for_function("() => document.querySelectorAll('#rows tr').length === 1")
    page.fill("#find", "nobody")
    assert "No column" in page.inner_text("#none-found")
    for place in range(1, 5):
        page.evaluate("place => choose({ left_out: [...state.choices.left_out, place] })", place)
    assert page.inner_text("#chosen").startswith("A network needs at least two columns.")
    give(page, ratings, "next.csv")
    assert page.input_value("#find") == ""
    assert page.locator("#rows tr").count() == 4
    assert page.is_hidden("#none-found")


def test_the_time_goes_on_while_a_job_reports_nothing(visit, votes):
    page = visit()
    said = page.evaluate("() => [0.4, 59.7, 119.7, 150, 3599.7].map(inWords)")
    assert said == ["a second", "1 min 0 s", "2 min 0 s", "2 min 30 s", "1.0 h"]
    give(page, votes, "time.csv")
    page.wait_for_function("() => !state.jobs.some(isOpen)")
    assert (
        page.evaluate("() => { tab.hasEnded = true; show(); return byId('busy').textContent; }") == "The app has ended."
    )
    page.evaluate(
        """() => {
          const job = { kind: "fit", key: "fit", number: 0, state: "running", text: "fit", total: null, left: null };
          state.jobs = [{ ...job, count: 0, seconds: 65 }];
          state.came = performance.now() - 61_000;
        }"""
    )
    page.wait_for_selector(".job:has-text('Fitting: 2 min ')")


def test_a_network_stays_while_another_is_fitted(visit, votes):
    page = visit()
    give(page, votes, "stays.csv")
    fit(page)
    page.uncheck("#use-4")
    page.wait_for_selector("#stale", state="visible")
    shown = page.evaluate("() => state.results.fit.made")
    page.click("#run-fit")
    page.wait_for_function("made => state.results.fit.made !== made || state.jobs.some(isOpen)", arg=shown)
    assert page.is_visible("#network")
    page.wait_for_selector("#stale", state="hidden")
    assert page.evaluate("() => state.results.fit.made") > shown


def test_a_column_without_answers_is_left_out_until_it_has_some(visit, ratings):
    page = visit()
    give(page, ratings, "answers.csv")
    page.fill("#codes", "1, 2, 3, 4, 5")
    page.press("#codes", "Enter")
    page.wait_for_function("() => !document.querySelector('#busy').textContent && state.table.columns[0].n_values < 2")
    page.click("#value-0-6")
    page.wait_for_selector("#use-0:not(:checked):disabled")
    page.wait_for_function("() => document.querySelector('#fit pre').textContent.includes('--drop ann')")
    assert "3 columns" in page.inner_text("#chosen")
    page.click("#value-0-6")
    page.wait_for_selector("#use-0:checked:enabled")
    assert "4 columns" in page.inner_text("#chosen")


def test_groups_stay_chosen_when_no_answers_are_left(visit, votes):
    page = visit()
    give(page, votes, "chosen.csv")
    page.select_option("#groups", "4")
    for value in ("yes", "no"):
        page.click(f"#value-4-{value}")
    page.wait_for_function("() => state.table.columns[4].kind === null")
    assert page.input_value("#groups") == "4"


def test_codes_of_a_file_with_decimal_commas_are_separated_by_semicolons(visit, tmp_path):
    rows = [f"{k % 2};{k % 3 % 2};{('1,5', '2,5', '99,5')[k % 3]}" for k in range(60)]
    file = tmp_path / "comma.csv"
    file.write_text("\n".join(["ann;bob;cyd", *rows]))
    page = visit()
    give(page, file)
    assert page.get_attribute("#codes", "placeholder") == "such as 99; -1"
    page.fill("#codes", "99,5; 77")
    page.press("#codes", "Enter")
    page.wait_for_function("() => document.querySelector('#fit pre').textContent.includes('--na 99,5 --na 77')")
    assert page.input_value("#codes") == "99,5; 77"
    assert "33.3 %" in page.locator("#rows tr").nth(2).inner_text()


def test_a_figure_of_the_bootstrap_is_not_offered_without_one(visit, server, votes):
    page = visit()
    give(page, votes, "needs.csv")
    fit(page)
    assert page.is_enabled("#run-figure")
    change_in_another_tab(page, server, {"figure": "stability"}, "byId('figure').value === 'stability'")
    assert page.is_disabled("#run-figure")
    assert page.is_visible("#figure-hint")


def test_a_number_that_is_none_is_not_replaced_by_another(visit, votes):
    page = visit()
    give(page, votes, "number.csv")
    fit(page)
    for typed in ("", "0", "1.5", "100001"):
        page.fill("#permutations", typed)
        page.press("#permutations", "Tab")
        page.wait_for_selector("#problem:has-text('permutations must be a whole number from 1 to 100000')")
        assert page.input_value("#permutations") == "1000"
        assert page.evaluate("() => [requests.confirmed.permutations, requests.confirmed.resamples]") == [1000, 1000]
        page.evaluate("() => refuse('')")


def test_a_refused_choice_is_taken_back(visit, ratings):
    page = visit()
    give(page, ratings, "refused.csv")
    with page.expect_event("console"):  # Chromium says that a request was refused
        page.evaluate("() => choose({ codes: { '-1': [' '] } })")
    page.wait_for_selector("#problem", state="visible")
    page.wait_for_function("() => !requests.confirmed.codes[-1] && state.choices === requests.confirmed")
    assert "400" in page.trouble.pop()


def test_a_hostile_file_is_text(visit, tmp_path):
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (150, 1)) ^ (rng.random((150, 5)) < 0.2)
    words = np.where(bits == 1, "<b>yes</b>", "<i onclick=alert(3)>no").tolist()
    file = write_csv(tmp_path / "evil <script>.csv", HOSTILE, words)
    page = visit()
    page.set_input_files("#file", file)
    page.wait_for_function("() => document.getElementById('file-name').textContent === 'evil <script>.csv'")
    page.wait_for_selector("#rows tr")
    assert page.locator("#rows th").all_inner_texts() == HOSTILE
    assert page.locator("#rows b, #rows i, #rows img, #rows script").count() == 0
    frame = fit(page)
    assert frame.locator("body script").count() == 2  # its data and its own script
    # A page that is made of a table cannot reach the server, whatever is in it.
    inside = next(found for found in page.frames if "files/" in found.url)
    assert inside.evaluate("() => self.origin") == "null"
    page.evaluate("() => { globalThis.confirm = () => true; }")
    with page.expect_event("console"):  # Chromium says that a request was refused
        page.set_input_files("#file", {"name": "bomb.csv", "mimeType": "text/csv", "buffer": b"\0\xff" * 1000})
    page.wait_for_selector("#problem", state="visible")
    assert page.inner_text("#problem")
    assert "400" in page.trouble.pop()
    assert page.inner_text("#file-name") == "evil <script>.csv"
    assert page.is_visible("#network")


def test_a_file_may_be_chosen_before_the_page_knows_the_state(visit, tabs, votes):
    kept = []
    for where in ("state/*", "upload/early.csv"):  # these are answered below
        tabs.context.route(f"**/{where}", lambda route: kept.append(route), times=1)
    page = visit()
    page.set_input_files("#file", {"name": "early.csv", "mimeType": "text/plain", "buffer": votes.read_bytes()})
    page.wait_for_function("() => document.getElementById('busy').textContent.startsWith('Sending')")
    while len(kept) < 2:
        page.wait_for_timeout(10)
    for route in kept:
        route.continue_()
    page.wait_for_function("() => document.getElementById('file-name').textContent === 'early.csv'")
    page.wait_for_selector("#rows tr")


def test_a_job_is_stopped(visit, votes):
    page = visit()
    give(page, votes, "stop.csv")
    fit(page)
    page.fill("#resamples", "50000")
    page.press("#resamples", "Enter")
    page.wait_for_function("() => document.querySelector('#more pre').textContent.includes('50000')")
    page.click("#run-bootstrap")
    page.wait_for_function("() => /of 50000.* left/.test(document.querySelector('.job')?.textContent)")
    page.click(".job button")
    page.wait_for_selector("text=Stopped. Nothing was kept.")
    assert page.locator("[data-files=bootstrap] a").count() == 0
    page.click("#run-figure")  # what comes after works
    page.wait_for_selector("#drawn a")


def test_two_tabs_show_the_same_and_a_closed_one_loses_nothing(visit, votes):
    one, two = visit(), visit()
    give(one, votes, "tabs.csv")
    two.wait_for_selector("#rows tr")
    one.uncheck("#use-0")
    two.wait_for_selector("#use-0:not(:checked)")
    one.click("#run-fit")
    one.close()
    two.wait_for_selector("#network", state="visible")
    three = visit()
    three.wait_for_selector("#network", state="visible")
    assert not three.is_checked("#use-0")


def test_a_wrong_token_opens_nothing(browser, server):
    context = browser.new_context()
    page = context.new_page()
    answer = page.goto(server.address.replace(server.token, "guess"))
    assert answer.status == 403
    assert page.locator("script").count() == 0
    context.close()


def test_another_page_can_do_nothing(browser, server, tmp_path):
    """A page of another origin in the same browser knows the address, and still neither reads nor changes anything."""
    before = server.session.changes.version
    evil = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=tmp_path))
    threading.Thread(target=evil.serve_forever, args=(0.05,), daemon=True).start()
    (tmp_path / "evil.txt").touch()
    address = f"http://127.0.0.1:{evil.server_port}/evil.txt"  # another origin: another port
    context = browser.new_context()
    page = context.new_page()
    page.goto(address)
    attack = """async (address) => {
      const example = { method: "POST", body: "{}" };
      const json = { ...example, headers: { "Content-Type": "application/json" } };
      await fetch(address + "example/mood.csv", { ...example, mode: "no-cors" }).catch(() => null);
      const tries = await Promise.allSettled([fetch(address + "state/0"), fetch(address + "example/mood.csv", json)]);
      return tries.map((one) => one.status);
    }"""
    assert page.evaluate(attack, server.address) == ["rejected", "rejected"]
    page.goto(address)
    page.evaluate(
        "(src) => document.body.append(Object.assign(document.createElement('iframe'), { src }))",
        server.address,
    )
    page.wait_for_timeout(300)
    assert not any(frame.url.startswith(server.address) and frame.locator("#examples").count() for frame in page.frames)
    assert server.session.changes.version == before
    context.close()
    evil.shutdown()
    evil.server_close()


def test_a_forged_origin_is_refused(server):
    for origin in ("http://evil.example", "null"):
        request = urllib.request.Request(
            server.address + "example/mood.csv", b"{}", {"Origin": origin, "Content-Type": "application/json"}
        )
        with pytest.raises(urllib.error.HTTPError) as error:
            urllib.request.urlopen(request)
        assert error.value.code == 403
        assert "other web pages" in json.load(io.TextIOWrapper(error.value))["error"]


def test_everything_has_a_name_and_fits_a_phone(visit, votes):
    page = visit(viewport={"width": 390, "height": 800}, color_scheme="dark")
    give(page, votes, "phone.csv")
    fit(page)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll("button, select, input, a, iframe, progress")]
          .filter((e) => !(e.textContent.trim() || e.getAttribute("aria-label") || e.title || e.labels?.length))
          .map((e) => e.outerHTML)"""
    )
    assert unnamed == []
    ids = page.evaluate("() => [...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids))
    light = re.findall(r"\d+", page.evaluate("() => getComputedStyle(document.body).backgroundColor"))
    assert max(map(int, light[:3])) < 60
    page.click("#theme")
    light = re.findall(r"\d+", page.evaluate("() => getComputedStyle(document.body).backgroundColor"))
    assert min(map(int, light[:3])) > 200


CONTROLS = {"button", "checkbox", "combobox", "link", "progressbar", "searchbox", "spinbutton", "textbox"}


def controls_of(page):
    """Return role and name of every control, as Chromium tells them to a screen reader."""
    nodes = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    shown = [node for node in nodes if not node["ignored"]]
    return [(node["role"]["value"], node["name"]["value"]) for node in shown if node["role"]["value"] in CONTROLS]


@pytest.mark.long
def test_a_screen_reader_hears_names_and_progress(visit, votes):
    page = visit()
    give(page, votes, "unfitted.csv")
    sections = ["Skip to the content", "Table", "Columns", "Fit"]
    assert [name for role, name in controls_of(page) if role == "link"] == sections
    page.evaluate(
        """() => {
          globalThis.heard = [];
          const status = document.querySelector("[role=status]");
          new MutationObserver(() => heard.push(status.textContent)).observe(status, { childList: true });
        }"""
    )
    give(page, votes, "reader.csv")
    page.wait_for_function("() => heard.includes('reader.csv: 200 rows, 5 columns')")
    fit(page)
    page.wait_for_function("() => heard.includes('The network is fitted')")
    page.fill("#resamples", "50000")
    page.press("#resamples", "Enter")
    page.wait_for_function("() => document.querySelector('#more pre').textContent.includes('50000')")
    page.click("#run-bootstrap")
    page.wait_for_function("() => document.querySelector('.job progress')?.value > 10")
    controls = controls_of(page)
    assert ("progressbar", "Bootstrap") in controls
    assert ("button", "no is missing in ann") in controls
    assert all(name.strip() for _, name in controls)
    assert len(set(controls)) == len(controls)
    page.wait_for_function("() => heard.some((text) => /Bootstrap: .* of 50000: .* left/.test(text))")
    page.focus("button:text-is('Stop')")
    page.keyboard.press("Enter")
    page.wait_for_selector("[role=alert]:has-text('Stopped')")
    assert page.evaluate("() => document.activeElement.id") == "run-bootstrap"  # the button is gone
    page.click("button:text-is('Close')")
    page.wait_for_selector(".job", state="detached")


def test_the_focus_goes_down_the_page(visit, votes):
    page = visit()
    give(page, votes, "order.csv")
    fit(page)
    page.wait_for_selector(".job", state="detached")  # it is at the bottom of the window, not in its place
    page.focus("#file")
    where = """() => {
        const element = document.activeElement;
        return [element.id, element.getBoundingClientRect().top + scrollY];
    }"""
    name, place = page.evaluate(where)
    places = [place]
    while name != "report":  # each place as it is then: the page may be drawn again later
        page.keyboard.press("Tab")
        page.wait_for_function("() => document.activeElement !== document.body")  # frames take the focus later
        name, place = page.evaluate(where)
        places.append(place)
    assert len(places) > 30
    assert all(after > before - 30 for before, after in itertools.pairwise(places))  # some stand beside each other


def test_the_keyboard_is_enough(visit, votes):
    page = visit()
    give(page, votes, "keys.csv")
    page.focus("#use-0")
    page.keyboard.press("Space")
    page.focus("#run-fit")  # it takes the focus before the choice has been answered
    page.keyboard.press("Enter")
    page.wait_for_selector("#network", state="visible")
    assert "fitted" in page.inner_text("#status")


def test_a_fit_is_of_the_choices_before_it(visit, ratings):
    page = visit()
    give(page, ratings, "hasty.csv")
    page.evaluate("() => ['value-0-6', 'value-1-6', 'run-fit'].forEach((id) => document.getElementById(id).click())")
    page.wait_for_function("() => state.results.fit && !state.stale")
    assert page.is_hidden("#problem")
    with page.expect_download() as download:
        page.click("#zip")
    with zipfile.ZipFile(download.value.path()) as archive:
        assert "--na ann=6 --na bob=6" in archive.read("commands.sh").decode()


def test_no_fit_follows_a_refused_choice(visit, ratings):
    page = visit()
    give(page, ratings, "none.csv")
    with page.expect_event("console"):  # Chromium says that a request was refused
        page.evaluate("() => { choose({ codes: { '-1': [' '] } }); document.getElementById('run-fit').click(); }")
    page.wait_for_selector("#problem", state="visible")
    page.evaluate("() => requests.posts")
    assert page.evaluate("() => state.jobs") == []
    assert "400" in page.trouble.pop()


def test_a_column_of_groups_is_not_adjusted_for(visit, votes):
    """The sentence above the button says what the command does."""
    page = visit()
    give(page, votes, "roles.csv")
    page.check("#adjust-4")
    page.wait_for_function("() => document.getElementById('chosen').textContent.includes('adjusted for eve')")
    page.select_option("#groups", "4")
    page.wait_for_function("() => document.getElementById('adjust-4').disabled")
    assert "A network of 4 columns" in page.inner_text("#chosen")
    assert "adjusted for" not in page.inner_text("#chosen")
    assert not page.is_checked("#adjust-4")
