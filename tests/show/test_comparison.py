"""The page about a comparison of groups, the methods paragraph, and wording."""

import itertools
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from matplotlib.legend import Legend
from matplotlib.pyplot import close
from networks import make_table
from reports import build_comparison, build_report

from isinglass import IsingNetwork, compare_groups, plot, report, simulate
from isinglass.data import as_table
from isinglass.errors import DataError
from isinglass.show.report import comparison
from isinglass.show.report.methods import describe_fit


@pytest.fixture(scope="module")
def found():
    X = np.vstack([simulate.exact_sample(simulate.chain_network(5, strength=s), 150, random_state=1) for s in (2, -2)])
    return compare_groups(X, np.repeat(["<b>women", "men"], 150), 0.03, n_permutations=19, random_state=0)


class Reader(HTMLParser):
    """Collects tags and checks that they are closed."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.attributes = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.attributes += attrs
        if tag not in {"meta", "link", "br", "line", "rect"}:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        if tag not in {"line"}:
            assert self.open.pop() == tag


def read(page):
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    return reader


def test_the_page_has_all_parts_and_nothing_from_outside(found):
    page = build_comparison(found, title="A & B", wording={"x0": "I feel <sad>."})
    reader = read(page)
    assert reader.seen.count("svg") == 2 + 1 + 2  # groups, difference, histograms
    assert reader.seen.count("table") == 2
    assert reader.seen.count("circle") == 3 * 5
    assert "script" not in reader.seen
    assert not [name for name, _ in reader.attributes if name.startswith("on") or name == "style"]
    assert "<b>women" not in page
    assert "&lt;b&gt;women" in page
    assert "I feel &lt;sad&gt;." in page
    assert "A &amp; B" in page
    assert not re.search(r'(src|href)="(?!#|data:,)', page)
    assert f"p = {found.p_structure:.3g}" in page


def test_tables_have_the_headings_and_numbers_of_the_report(found):
    page = build_comparison(found)
    edges, nodes = re.findall(r"<table>.*?</table>", page, re.S)
    heads = [re.findall(r"<th(?: [^>]*)?>(.*?)</th>", table) for table in (edges, nodes)]
    assert heads[0][:4] == ["Node", "Neighbor", "Edge weight in &lt;b&gt;women", "Edge weight in men"]
    assert (heads[0][4:], heads[1][0]) == (["Difference", "p", "p (max-T)", "q (FDR)"], "Node")
    cells = [cell for table in (edges, nodes) for cell in re.findall(r"<td>(.*?)</td>", table)]
    assert all(re.fullmatch(r"(−?\d+|&lt; 0)\.\d{3}", cell) for cell in cells)
    assert any(cell.startswith("−") for cell in cells)
    titles = re.findall(r"<title>x\d – x\d: (.*?)</title>", page)
    assert {title[0] for title in titles} == {"+", "−"}


def widths(page, caption):
    """Return kind and width of the edges of the figure with a caption."""
    figure = re.search(rf"<figcaption>{caption}.*?</figure>", page, re.S)[0]
    return [
        (kind, float(width)) for kind, width in re.findall(r'<line class="(\w+)".*?stroke-width="([\d.]+)"', figure)
    ]


def test_differences_that_were_not_found_are_thin_and_gray(found):
    """Only what is found at the family-wise level has a color."""
    n_found = int((found.edge_p_family <= 0.05).sum())
    assert 0 < n_found < len(found.edge_index)
    drawn = widths(build_comparison(found), "&lt;b&gt;women minus men: .* at family-wise p ≤ 0.05")
    assert {kind for kind, _ in drawn} == {"up", "level"}
    assert {width for kind, width in drawn if kind == "level"} == {comparison.THIN}
    assert len([kind for kind, _ in drawn if kind == "up"]) == n_found
    X = simulate.exact_sample(simulate.chain_network(5, strength=1.0), 300, random_state=0)
    same = compare_groups(X, np.tile(["a", "b"], 150), 0.01, n_permutations=19, random_state=0)
    assert (same.edge_p_family > 0.05).all()
    page = build_comparison(same)
    assert {kind for kind, _ in widths(page, "a minus b: no edge differs at family-wise p ≤ 0.05")} == {"level"}
    assert "dashed vermillion" in page


def test_differences_of_tables_have_no_direction():
    """Where columns have no order, what differs is a pattern, also where its norm is smaller in the first group."""
    rng, groups = np.random.default_rng(0), np.repeat(["a", "b"], 200)
    first = rng.integers(0, 3, 400)
    second = np.where(rng.random(400) < np.where(groups == "a", 0.4, 0.8), first, rng.integers(0, 3, 400))
    table = make_table(np.column_stack([first, second]), "nominal")
    found = compare_groups(table, groups, 0.02, n_permutations=19, random_state=0)
    assert found.couplings()[0, 0] < found.couplings()[1, 0]
    assert found.edge_p_family[0] <= 0.05
    page = build_comparison(found)
    ((kind, width),) = widths(page, "a minus b: one edge differs")
    assert kind == "level"
    assert width > comparison.THIN
    cells = re.findall(r"<td>(.*?)</td>", re.search(r"<table>.*?</table>", page, re.S)[0])
    assert cells[2] == f"{found.structure:.3f}"
    assert f"<title>x0 – x1: {found.structure:.3g}</title>" in page
    ax = plot.group_difference(found)
    texts = [text.get_text() for legend in ax.findobj(Legend) for text in legend.get_texts()]
    assert "differs: norm of a table" in texts
    assert not [text for text in texts if "larger" in text]
    close("all")


def test_widths_are_on_one_scale_in_networks_and_differences():
    truths = [simulate.chain_network(4, strength=strength, fields="balanced") for strength in (2, -2)]
    X = np.vstack([simulate.exact_sample(truth, 150, random_state=1) for truth in truths])
    found = compare_groups(X, np.repeat(["a", "b"], 150), 0.03, n_permutations=19, random_state=0)
    difference = found.difference("a", "b")
    most = difference.weights.max()
    assert most > max(one.weights.max() for one in found.networks)
    page = build_comparison(found)
    for group, network in zip("ab", found.networks, strict=True):
        expected = comparison.THIN + 4.4 * np.sort(network.weights) / most
        drawn = widths(page, f"{group} [(]150 rows")
        assert sorted(width for _, width in drawn) == pytest.approx(expected.tolist(), abs=0.006)
    colored = [width for kind, width in widths(page, "a minus b") if kind != "level"]
    largest = np.sort(difference.weights)[-len(colored) :]
    assert len(colored) >= 3
    assert sorted(colored) == pytest.approx((comparison.THIN + 4.4 * largest / most).tolist(), abs=0.006)


def test_labels_do_not_overlap():
    X = simulate.exact_sample(simulate.chain_network(20, strength=1.0), 300, random_state=0)
    names = [f"a longer name {k}" for k in range(20)]
    groups = np.tile(["a", "b"], 150)
    found = compare_groups(as_table(X, names=names), groups, 0.03, n_permutations=1, random_state=0)
    for figure in re.findall(r"<figure>.*?</figure>", build_comparison(found), re.S)[:3]:
        labels = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*font-size="(\d+)">(.*?)</text>', figure)
        assert len(labels) > 6
        for (x, y, size, text), (x2, y2, _, _) in itertools.combinations(labels, 2):
            wide = 0.55 * int(size) * len(text)
            assert abs(float(x) - float(x2)) > wide or abs(float(y) - float(y2)) > int(size)


def test_drawings_are_in_the_middle_of_their_frames():
    """Also those that are higher than wide, as of nodes without edges."""
    X = np.random.default_rng(0).integers(0, 2, (60, 3))
    page = build_comparison(compare_groups(X, ["a", "b"] * 30, 1.0, n_permutations=3, random_state=0))
    places = [float(x) for x in re.findall(r'cx="([\d.]+)"', page)]
    assert min(places) + max(places) == pytest.approx(comparison.SIZE, abs=0.2)


def test_three_groups_have_a_table_of_pairs():
    X = simulate.exact_sample(simulate.chain_network(4, strength=1.0), 300, random_state=0)
    found = compare_groups(X, np.tile([1, 2, 3], 100), 0.03, n_permutations=9, random_state=0)
    reader = read(build_comparison(found))
    assert reader.seen.count("table") == 3
    assert reader.seen.count("svg") == 3 + 3 + 2


def test_long_tables_say_what_is_left_out(found, monkeypatch):
    monkeypatch.setattr(comparison, "MOST_ROWS", 2)
    page = build_comparison(found)
    assert f"{len(found.edge_index) - 2} with smaller differences are not listed" in page


def test_written_to_a_file(found, tmp_path):
    report.write_comparison(found, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8").rstrip("\n") == build_comparison(found).rstrip("\n")


def test_bad_arguments(found):
    with pytest.raises(DataError, match="must be a GroupComparison"):
        build_comparison(found.networks[0])


def test_the_report_has_wording_methods_and_citation():
    X = simulate.exact_sample(simulate.chain_network(3, strength=2.0), 200, random_state=1)
    fitted = IsingNetwork().fit(X)
    page = build_report(fitted, wording={"x1": "I sleep well."})
    data = json.loads(re.search(r'id="report-data">(.*?)</script>', page, re.S)[1])
    assert data["methods"] == describe_fit(fitted.fit_).text
    assert data["citation"] == describe_fit(fitted.fit_).references
    column = next(column for column in data["nodes"]["columns"] if column["label"] == "wording")
    assert column["values"] == ["", "I sleep well.", ""]
    assert (
        json.loads(re.search(r'id="report-data">(.*?)</script>', build_report(fitted.network_), re.S)[1])["methods"]
        is None
    )
