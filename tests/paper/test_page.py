"""The page: numbers, tables, links, and that it is what the stored rows say."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import paper
from paper import evidence, page, printed
from paper.evidence import Verdict
from paper.files import ROOT, read_rows
from paper.study import Config, name_of


@pytest.fixture(scope="module")
def stored():
    """Return the page that the stored rows of the full study give."""
    return page.render(
        [(item, read_rows(Config.out / f"{name_of(item)}.csv")) for item in paper.load_items()], Config()
    )


def test_page_in_the_documentation_is_what_the_stored_rows_say(stored):
    assert (ROOT / "docs" / "paper.md").read_text(encoding="utf-8") == stored


def test_every_claim_of_the_paper_is_judged_by_a_stated_rule(stored):
    claims = re.findall(r"^- \*\*", stored, re.MULTILINE)
    text = " ".join(stored.split())
    judged = re.findall(r"Rule: [^*]+\*(Reproduced with a remark|Reproduced|Not reproduced)\*: ", text)
    assert len(claims) == len(judged) == 29
    assert f"29 claims: {judged.count('Reproduced')} reproduced" in text


def test_page_has_every_item_its_figure_and_its_rows(stored):
    for name in paper.ITEMS:
        assert f"## {page.title_of(name)}\n" in stored
        assert f"](paper/{name}.png)" in stored
        assert f"Rows: `paper/{name}.csv`." in stored
    assert not re.search(r"\bnan\b", stored)


def test_links_lead_to_headings_and_named_tests_exist(stored):
    anchors = set(re.findall(r"\]\(#([^)]+)\)", stored))
    headings = [line[3:] for line in stored.splitlines() if line.startswith("## ")]
    made = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert anchors <= made
    proofs = re.findall(r"`(tests/[^`]+)::(\w+)`", stored)
    assert len(proofs) == 3
    for file, name in proofs:
        assert f"def {name}(" in (ROOT / file).read_text()


def test_paths_follow_the_folder_of_the_page():
    rows = read_rows(Config.out / "senate_network.csv")
    config = Config(out=ROOT / "build" / "paper-quick")
    text, _ = page.item_section(*paper.load_items(["senate_network"]), rows, config)
    assert "](paper-quick/senate_network.gexf)" in text
    rows = read_rows(Config.out / "timing.csv")
    text, _ = page.item_section(*paper.load_items(["timing"]), rows, config)
    assert "](../docs/comparators.md)" in text


def test_numbers_are_shown_with_their_digits():
    shown = [page.number(value) for value in (0.0, 0.02016, 1.0, 123.4, 9.93e-4, 2.5e7, float("nan"))]
    assert shown == ["0", "0.0202", "1.00", "123", "9.93e-4", "2.50e7", "–"]
    assert [page.seconds(value) for value in (1.5, 0.0123, 2e-5, float("nan"))] == ["1.50 s", "12.3 ms", "20.0 µs", "–"]


def test_tables_put_text_to_the_left_and_numbers_to_the_right():
    frame = pd.DataFrame({"x": [1, 2]}, pd.MultiIndex.from_tuples([("a", 5), ("b", 6)], names=["name", None]))
    assert page.table(frame, "p = {}").splitlines() == [
        "| name |  | p = x |",
        "| --- | ---: | ---: |",
        "| a | 5 | 1 |",
        "| b | 6 | 2 |",
    ]


def test_paragraphs_are_set_anew_and_tables_are_not():
    text = "one\ntwo , three\n\n\n- a\n  b\n- c\n\n| x   y |\n| --- |\n"
    assert page.refill(text) == "one two, three\n\n- a b\n- c\n\n| x   y |\n| --- |\n"


def test_a_verdict_that_is_none_is_refused(monkeypatch, tmp_path):
    (tmp_path / "odd.md").write_text(
        '## Odd\n\n{% call claim("a", "b", verdict) %}\nRule: c\n\nFinding: d\n{% endcall %}\n'
    )
    monkeypatch.setattr(page, "TEXTS", tmp_path)
    monkeypatch.setattr(page.ENVIRONMENT.loader, "searchpath", [str(tmp_path)])
    text, (claim,) = page.write_section("odd", {"verdict": Verdict.NOT}, Config())
    assert text == "## Odd\n\n- **a** (b). Rule: c *Not reproduced*: d\n"
    assert (claim.rule, claim.finding, claim.evidence) == ("c", "d", "odd")
    with pytest.raises(ValueError, match="perhaps"):
        page.write_section("odd", {"verdict": "perhaps"}, Config())


def test_interval_of_a_mean_covers_it_as_often_as_it_says():
    rng = np.random.default_rng(0)
    samples = [pd.Series(rng.normal(3.0, 2.0, 5)) for _ in range(2000)]
    inside = [abs(sample.mean() - 3.0) <= evidence.half_width(sample) for sample in samples]
    assert 0.93 < sum(inside) / len(inside) < 0.97


def test_node_wise_lambdas_are_half_of_the_joint_ones_but_for_the_misprint():
    gap = (printed.GRID["lambda_joint"] / 2 - printed.GRID["lambda_nodewise"]).abs()
    assert gap[gap > 0.6e-6].index.tolist() == [printed.MISPRINT]  # printed to six decimals
    assert printed.GRID.index.tolist() == [(p, P) for p in (5, 10, 15, 20, 25) for P in (0.2, 0.3, 0.4, 0.5)]
    assert printed.GRID.loc[(5, 0.5), "epsilon"] == printed.GRID.loc[(10, 0.2), "epsilon"] == 12.601e-4
    assert printed.GRID["epsilon"].nunique() == 19


def test_stored_rows_have_the_number_that_was_recorded():
    recorded = json.loads((Config.out / "config.json").read_text())["items"]
    assert {name: entry["rows"] for name, entry in recorded.items()} == {
        name: len(read_rows(Config.out / f"{name}.csv")) for name in paper.ITEMS
    }
