"""Render the page from the tables: every number in it is computed from rows that lie beside it as CSV."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from paper import markdown, theorems
from paper.contract import ROOT, Claim, Config, Item, Row, Verdict

DOCS = ROOT / "docs"
THEOREMS = "Theorems and slips of the paper"

INTRODUCTION = """\
# The paper, reproduced

Geng, Kuang and Page, *An Efficient Pseudo-likelihood Method for Sparse Binary Pairwise Markov Network Estimation*
(2017), proposed to fit the L1-regularised pseudo-likelihood as one logistic regression (PLG), and compared it with
Höfling and Tibshirani's algorithm (BMN) and with one regression per node (NLR). This page repeats every table and
every figure, and judges every claim.

{provenance}

`make paper` runs the study and writes this page; `make paper-quick` runs a miniature. A verdict is the outcome of a
rule that is stated with the claim and applied to the rows of a table; nothing on this page is typed in by hand except
the numbers that the paper prints and the times that its BMN took elsewhere (`published.csv`).

"""


def render(items: list[tuple[Item, list[Row]]], config: Config) -> str:
    """Return the whole page for the items that have rows."""
    claims = {item.NAME: item.claims(rows) for item, rows in items}
    found = [(item.TITLE, claim) for item, _ in items for claim in claims[item.NAME]]
    parts = [INTRODUCTION.format(provenance=provenance(config.out / "config.json"))]
    parts.append(verdict_table([*found, *((THEOREMS, claim) for claim in theorems.claims())]))
    for item, rows in items:
        parts.append(section(item, rows, claims[item.NAME], config.out))
    parts.append(theorem_section())
    return place_links("\n".join(part.rstrip("\n") + "\n" for part in parts), config)


def place_links(text: str, config: Config) -> str:
    """Let links to files of the study and to other pages of the documentation lead there from where the page is."""
    here = config.page.parent
    text = text.replace("](paper/", f"]({config.out.name}/")
    return re.sub(r"\]\(([\w-]+\.md)\)", lambda m: f"]({Path(os.path.relpath(DOCS / m[1], here)).as_posix()})", text)


def provenance(path: Path) -> str:
    """Return what the numbers were measured with, as ``study`` recorded it."""
    facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if not facts:
        return ""
    versions = ", ".join(f"{name} {version}" for name, version in facts["software"].items() if version)
    mode = "The miniature, which shows that everything runs and nothing else. " if facts["quick"] else ""
    hardware = facts["hardware"]
    return (
        f"{mode}Seed {facts['seed']}; {versions}; {hardware['cpu']}, {hardware['cores']} cores. {exceptions(facts)}"
        "Dates, versions, processor and load of every table: `config.json`."
    )


def exceptions(facts: dict[str, Any]) -> str:
    """Name the tables with cells that were computed with something else than the last run had."""
    now = {**facts["software"], **facts["hardware"]}
    parts = []
    for name, entry in facts["items"].items():
        made = entry.get("made_with", {})
        other = [
            f"{key} {', '.join(map(str, made[key]))}"
            for key in now
            if key in made and made[key] not in ([], [now[key]])
        ]
        if other:
            parts.append(f"`{name}` with {'; '.join(other)}")
    return f"Computed with other versions: {'. '.join(parts)}. " if parts else ""


def verdict_table(found: list[tuple[str, Claim]]) -> str:
    """Return all claims with their verdicts and the heading of their evidence, and how many there are of each."""
    counts = {verdict: sum(claim.verdict == verdict for _, claim in found) for verdict in Verdict}
    summary = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    rows = [[claim.text, claim.where, f"**{claim.verdict}**", f"[{title}](#{anchor(title)})"] for title, claim in found]
    return f"## Verdicts\n\n{len(found)} claims: {summary}.\n\n" + markdown.table(
        ["claim of the paper", "where", "verdict", "evidence"], rows, text_columns=4
    )


def theorem_section() -> str:
    """Return what needs no measurement: the paper's identities with the tests that check them, and its slips."""
    listed = "".join(f"- {slip}\n" for slip in theorems.slips())
    claims = "\n".join(describe_claim(claim) for claim in theorems.claims())
    return f"## {THEOREMS}\n\n{claims}\nSlips that matter to a reader who computes:\n\n{listed}"


def section(item: Item, rows: list[Row], claims: list[Claim], out: Path) -> str:
    """Return one item's part: text and tables, figure, claims with findings and rules."""
    parts = [f"## {item.TITLE}\n", item.section(rows)]
    if (out / f"{item.NAME}.png").exists():
        parts.append(f"![{item.TITLE}]({out.name}/{item.NAME}.png)\n")
    parts.append(f"Rows: `{out.name}/{item.NAME}.csv`.\n")
    parts += [describe_claim(claim) for claim in claims]
    return "\n".join(parts)


def describe_claim(claim: Claim) -> str:
    """Return one claim: the rule first, then the verdict and the finding that the rule was applied to."""
    return (
        f"- **{claim.text}** ({claim.where}). Rule: {claim.rule} *{str(claim.verdict).capitalize()}*: {claim.finding}\n"
    )


def anchor(title: str) -> str:
    """Return the anchor that the documentation gives a heading (GitHub's rule)."""
    kept = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -_")
    return kept.replace(" ", "-")
