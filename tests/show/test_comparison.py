"""The page about a comparison of groups, the methods paragraph, and wording."""

import base64
import json
import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
from matplotlib.legend import Legend
from matplotlib.pyplot import close
from networks import make_table
from reports import build_comparison, build_report

from isinglass import IsingNetwork, compare_groups, plot, report, simulate
from isinglass.errors import DataError
from isinglass.show.plot.comparison import permutation_test
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
        if tag not in {"meta", "link", "br", "img"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def read(page):
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    return reader


def test_the_page_has_all_parts_and_nothing_from_outside(found):
    page = build_comparison(found, title="A & B", wording={"x0": "I feel <sad>."})
    reader = read(page)
    assert reader.seen.count("img") == 2 + 1 + 2  # groups, difference, tests
    assert reader.seen.count("table") == 2
    assert "script" not in reader.seen
    assert not [name for name, _ in reader.attributes if name.startswith("on") or name == "style"]
    assert "<b>women" not in page
    assert "&lt;b&gt;women" in page
    assert "I feel &lt;sad&gt;." in page
    assert "A &amp; B" in page
    assert not re.search(r'(src|href)="(?!#|data:)', page)
    assert f"p = {found.p_structure:.3g}" in page
    for picture in re.findall(r'<figure>.*?base64,(.*?)">', page):
        assert b"<svg" in base64.b64decode(picture)


def test_the_same_comparison_is_the_same_page(found):
    assert build_comparison(found) == build_comparison(found)


def test_tables_have_the_headings_and_numbers_of_the_report(found):
    page = build_comparison(found)
    edges, nodes = re.findall(r"<table>.*?</table>", page, re.S)
    heads = [re.findall(r"<th(?: [^>]*)?>(.*?)</th>", table) for table in (edges, nodes)]
    assert heads[0][:4] == ["Node", "Neighbor", "Edge weight in &lt;b&gt;women", "Edge weight in men"]
    assert (heads[0][4:], heads[1][0]) == (["Difference", "p", "p (max-T)", "q (FDR)"], "Node")
    cells = [cell for table in (edges, nodes) for cell in re.findall(r"<td>(.*?)</td>", table)]
    assert all(re.fullmatch(r"(−?\d+|&lt; 0)\.\d{3}", cell) for cell in cells)
    assert any(cell.startswith("−") for cell in cells)


def test_without_matplotlib_the_page_says_what_to_install():
    """In a process of its own, in which nothing has imported matplotlib."""
    code = (
        "import io, sys; sys.modules['matplotlib'] = None\n"
        "import numpy as np, isinglass\n"
        "from isinglass.report import write_comparison\n"
        "X = np.random.default_rng(0).integers(0, 2, (80, 3))\n"
        "found = isinglass.compare_groups(X, ['a', 'b'] * 40, 0.02, n_permutations=3, random_state=0)\n"
        "page = io.StringIO(); write_comparison(found, page); print(page.getvalue())"
    )
    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    reader = read(ran.stdout)
    assert (reader.seen.count("img"), reader.seen.count("table")) == (0, 2)
    assert ran.stdout.count("matplotlib is not installed. Install it: pip install &quot;isinglass[plot]&quot;.") == 3


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
    assert "the difference is the norm of the difference of the tables, without a sign" in page
    cells = re.findall(r"<td>(.*?)</td>", re.search(r"<table>.*?</table>", page, re.S)[0])
    assert cells[2] == f"{found.structure:.3f}"
    ax = plot.group_difference(found)
    texts = [text.get_text() for legend in ax.findobj(Legend) for text in legend.get_texts()]
    assert "differs: norm of a table" in texts
    assert not [text for text in texts if "larger" in text]
    close("all")


@pytest.mark.parametrize("of", ["structure", "strength"])
def test_permutations_are_counted_beside_what_was_observed(found, of):
    ax = permutation_test(found, of=of)
    assert sum(bar.get_height() for bar in ax.patches) == found.n_permutations
    assert ax.lines[0].get_xdata()[0] == getattr(found, of)
    close("all")


def test_three_groups_have_a_table_of_pairs():
    X = simulate.exact_sample(simulate.chain_network(4, strength=1.0), 300, random_state=0)
    found = compare_groups(X, np.tile([1, 2, 3], 100), 0.03, n_permutations=9, random_state=0)
    reader = read(build_comparison(found))
    assert reader.seen.count("table") == 3
    assert reader.seen.count("img") == 3 + 3 + 2


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
