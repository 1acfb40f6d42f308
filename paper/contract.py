"""What an item is: a module with these names, and the settings it is run with."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Cell = dict[str, Any]
"""Plain values (text, numbers, flags) that say what one cell computes, its seed included: the key of the cache."""
Row = dict[str, Any]
"""One line of an item's table: plain values by column."""

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Config:
    """Settings of one run of the study.

    Parameters
    ----------
    quick : bool
        Whether to run the miniature.
    seed : int
        What every table of the study is drawn from.
    jobs : int
        Cells at the same time, where they are not timed.
    out : Path
        Folder of tables and figures; the page has its name with ``.md`` appended.
    cache : Path
        Folder of the finished cells.
    """

    quick: bool = False
    seed: int = 2017
    jobs: int = 1
    out: Path = ROOT / "docs" / "paper"
    cache: Path = ROOT / "paper" / ".cache"

    @property
    def page(self) -> Path:
        """Where the rendered page goes."""
        return self.out.with_name(f"{self.out.name}.md")


class Verdict(StrEnum):
    """What became of a claim."""

    REPRODUCED = "reproduced"
    REMARK = "reproduced with a remark"
    NOT = "not reproduced"


@dataclass(frozen=True)
class Claim:
    """A statement of the paper and what the rows say about it.

    Parameters
    ----------
    text : str
        What the paper claims, in one sentence.
    where : str
        The section, table or figure that claims it.
    verdict : Verdict
        Derived from the rows by the rule that ``rule`` states.
    finding : str
        One or two sentences with the numbers behind the verdict, as Markdown.
    rule : str
        What would have been called reproduced, reproduced with a remark, and not reproduced.
    """

    text: str
    where: str
    verdict: Verdict
    finding: str
    rule: str


class Item(Protocol):
    """A module of this package that measures one table or figure."""

    __name__: str
    NAME: str
    """Stem of its files."""
    TITLE: str
    """Heading of its section."""
    VERSION: int
    """Part of the key of every cell: raise it when a change of the code changes the rows."""
    TIMED: bool
    """Whether its cells are timed and therefore run one at a time in the main process."""

    def cells(self, config: Config) -> list[Cell]:
        """Return what has to be computed, in the order of the rows."""

    def run_cell(self, cell: Cell) -> list[Row]:
        """Compute one cell; nothing but the cell and the installed software may enter."""

    def run(self, config: Config) -> list[Row]:
        """Return the rows of all cells, finished ones from the cache: ``study.run_item`` of the module."""

    def draw(self, rows: list[Row]) -> Figure:
        """Draw the figure."""

    def section(self, rows: list[Row]) -> str:
        """Return its part of the page in Markdown, without heading, figure and claims."""

    def claims(self, rows: list[Row]) -> list[Claim]:
        """Return the paper's claims that its rows can judge."""
