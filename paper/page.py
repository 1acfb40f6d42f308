"""Fill the texts of ``text/`` with numbers from the rows: every number on the page comes from a CSV file beside it.

A text is a Jinja template in Markdown. It knows its item's constants and ``facts``, and the names in ``WORDS``. Claims
are written as blocks, and gathered for the table of verdicts::

    {% call claim("PLG is much faster than BMN", "Abstract", verdicts.faster) %}
    Rule: reproduced if ...

    Finding: ...
    {% endcall %}
"""

from __future__ import annotations

import json
import math
import os
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import jinja2
import pandas as pd

from paper import figures, printed
from paper.data import N_SAMPLES
from paper.evidence import Verdict
from paper.files import ROOT
from paper.study import Config, name_of

TEXTS = Path(__file__).with_name("text")
Show = Callable[[Any], str]


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, where it stands, the rule for the verdict, and the numbers it was applied to."""

    text: str
    where: str
    verdict: Verdict
    rule: str
    finding: str
    evidence: str
    """Name of the text that judges it."""


# ------------------------------------------------------------------------------------------- numbers and tables


def number(value: float, digits: int = 3) -> str:
    """Return a value with significant digits, tiny and huge ones with a power of ten; – for none."""
    if math.isnan(value):
        return "–"
    if value == 0 or 1e-3 <= abs(value) < 1e6:
        decimals = digits - 1 - math.floor(math.log10(abs(value))) if value else 0
        return f"{value:.{max(decimals, 0)}f}"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def seconds(value: float) -> str:
    """Return a duration in a readable unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{number(value / size)} {unit}"
    return f"{value * 1e6:.2g} µs" if value == value else "–"


def show(spec: str) -> Show:
    """Return the function that formats a value."""
    return lambda value: format(value, spec)


def digits(count: int) -> Show:
    """Return the function that writes a value with the given number of significant digits."""
    return lambda value: number(value, count)


def listed(values: Any, shown: Show = str) -> str:
    """Return values with commas between them."""
    return ", ".join(map(shown, values))


def table(frame: pd.DataFrame, header: str | Sequence[str] = "{}") -> str:
    """Return a Markdown table: the index as first columns, then the cells; text to the left, numbers to the right.

    ``header`` names the columns, or is a pattern that their names are put into.
    """
    keys = [frame.index.get_level_values(k) for k in range(frame.index.nlevels)]
    marks = ["---" if pd.api.types.is_string_dtype(key) else "---:" for key in keys] + ["---:"] * frame.shape[1]
    names = [header.format(name) for name in frame.columns] if isinstance(header, str) else header
    cells = [frame.iloc[:, k] for k in range(frame.shape[1])]
    lines = [[*(key.name or "" for key in keys), *names], marks, *zip(*keys, *cells, strict=True)]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


# ------------------------------------------------------------------------------------------- text


def title_of(name: str) -> str:
    """Return the heading of a text: its first line."""
    with (TEXTS / f"{name}.md").open(encoding="utf-8") as file:
        return file.readline().removeprefix("## ").strip()


def link(name: str) -> str:
    """Return a link to the section of a text, with the anchor that the documentation gives its heading."""
    title = title_of(name)
    anchor = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -_").replace(" ", "-")
    return f"[{title}](#{anchor})"


def refill(text: str) -> str:
    """Set paragraphs and list items anew, so that templates may break lines where they like."""
    return "\n\n".join(_fill(block) for block in re.split(r"\n\s*\n", text.strip())) + "\n"


def _fill(block: str) -> str:
    block = block.strip("\n")
    if block.startswith(("|", "#", "!")):
        return block
    parts = [_tidy(part) for part in re.split(r"\n(?=- )", block)]
    options: dict[str, Any] = {"width": 120, "break_long_words": False, "break_on_hyphens": False}
    return "\n".join(
        textwrap.fill(part, subsequent_indent="  " if part.startswith("- ") else "", **options) for part in parts
    )


def _tidy(text: str) -> str:
    """Return text in one line, without the spaces before commas that line breaks in a template leave."""
    return re.sub(r" ([,;.])(?= |$)", r"\1", " ".join(text.split()))


WORDS: dict[str, Any] = {
    "N_SAMPLES": N_SAMPLES,
    "digits": digits,
    "label": figures.label,
    "link": link,
    "listed": listed,
    "number": number,
    "printed": printed,
    "seconds": seconds,
    "show": show,
}
"""What every text may use, besides the filters ``label``, ``number``, ``seconds``, ``table`` and ``to``."""
ENVIRONMENT = jinja2.Environment(
    loader=jinja2.FileSystemLoader(TEXTS), undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
)
ENVIRONMENT.globals |= WORDS
ENVIRONMENT.filters |= {
    "apply": lambda value, macro: macro(value),
    "label": figures.label,
    "number": number,
    "seconds": seconds,
    "table": table,
    "to": format,
}


def write_section(name: str, facts: Mapping[str, Any], config: Config) -> tuple[str, list[Claim]]:
    """Return a text filled with facts, and the claims it judges."""
    claims: list[Claim] = []

    def claim(text: str, where: str, verdict: Verdict, caller: Callable[[], str]) -> str:
        rule, finding = map(_tidy, caller().split("Finding:"))
        claims.append(Claim(text, where, Verdict(verdict), rule.removeprefix("Rule: "), finding, name))
        return f"\n- **{text}** ({where}). {rule} *{str(verdict).capitalize()}*: {finding}\n"

    folder, docs = config.out.name, Path(os.path.relpath(ROOT / "docs", config.page.parent)).as_posix()
    figure = f"![{title_of(name)}]({folder}/{name}.png)\n\nRows: `{folder}/{name}.csv`."
    places = {"folder": folder, "docs": "" if docs == "." else f"{docs}/", "figure": figure, "claim": claim}
    return refill(ENVIRONMENT.get_template(f"{name}.md").render(**places, **facts)), claims


def item_section(item: ModuleType, rows: pd.DataFrame, config: Config) -> tuple[str, list[Claim]]:
    """Return the section of an item, and the claims it judges."""
    constants = {name: value for name, value in vars(item).items() if name.isupper()}
    return write_section(name_of(item), constants | item.facts(rows), config)


def render(items: Sequence[tuple[ModuleType, pd.DataFrame]], config: Config) -> str:
    """Return the whole page for the items that have rows."""
    sections = [item_section(item, rows, config) for item, rows in items]
    sections.append(write_section("theorems", {}, config))
    claims = pd.DataFrame([claim for _, found in sections for claim in found])
    verdicts = claims[["text", "where"]].rename(columns={"text": "claim of the paper"})
    verdicts = verdicts.assign(verdict="**" + claims["verdict"] + "**", evidence=claims["evidence"].map(link))
    file = config.out / "config.json"
    facts = json.loads(file.read_text(encoding="utf-8")) if file.exists() else None
    counts = {verdict: int((claims["verdict"] == verdict).sum()) for verdict in Verdict}
    page = ENVIRONMENT.get_template("page.md").render(
        config=facts, exceptions=exceptions(facts), counts=counts, verdicts=verdicts.set_index(list(verdicts))
    )
    return "\n".join([refill(page), *(text for text, _ in sections)])


def exceptions(facts: Mapping[str, Any] | None) -> dict[str, list[str]]:
    """Return what tables were computed with other than what the last run had, and which tables these are."""
    if facts is None:
        return {}
    now = {**facts["software"], **facts["hardware"]}
    found: dict[str, list[str]] = {}
    for name, entry in facts["items"].items():
        made = entry.get("made_with", {})
        other = [f"{key} {listed(made[key])}" for key in now if made.get(key) not in (None, [], [now[key]])]
        if other:
            found.setdefault("; ".join(other), []).append(f"`{name}`")
    return found
