"""Real tables bundled with the package, with their provenance."""

from __future__ import annotations

import csv
import datetime
from collections import Counter
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import Frozen
from isinglass.data import Table, as_table
from isinglass.errors import MeaningWarning, suppress_warnings

__all__ = ["Anes96", "RollCall", "Senate109", "load_anes96", "load_senate109"]


@dataclass(frozen=True)
class RollCall:
    """One recorded vote of the Senate."""

    number: int  #: number within the session, from 1
    date: datetime.date  #: day of the vote
    bill: str  #: bill, resolution or nomination it belongs to
    question: str  #: what was put to the vote
    result: str  #: outcome as recorded
    yea: int  #: totals as recorded
    nay: int


@dataclass(frozen=True, eq=False, repr=False)
class Senate109(Frozen):
    """Votes of the U.S. Senate in 2006; the arrays are read-only."""

    X: NDArray[np.uint8]  #: (279, 100), 1 for yea, 0 for nay or no vote: the table of the paper's experiment
    votes: NDArray[np.float64]  #: (279, 100), 1 for yea, 0 for nay, NaN where the senator did not vote
    names: tuple[str, ...]  #: one entry per senator, in the order of the columns
    states: tuple[str, ...]
    parties: tuple[str, ...]  #: R, D or I
    rollcalls: tuple[RollCall, ...]  #: one entry per row
    description: str  #: where the data come from and what was left out

    def __repr__(self) -> str:
        n_rollcalls, n_senators = self.votes.shape
        parties = ", ".join(f"{count} {party}" for party, count in Counter(self.parties).most_common())
        missing = int(np.isnan(self.votes).sum())
        return f"Senate109({n_rollcalls} roll calls × {n_senators} senators: {parties}; {missing} votes missing)"


@dataclass(frozen=True, eq=False, repr=False)
class Anes96(Frozen):
    """Answers to nine questions before the presidential election of 1996; the array is read-only."""

    answers: NDArray[np.int64]  #: (944, 9), one row per respondent
    names: tuple[str, ...]  #: one entry per question, in the order of the columns
    description: str  #: where the data come from, and what the numbers mean

    @property
    def table(self) -> Table:
        """The answers as a table: age and income are numbers, the vote has two values, the others are ordered."""
        kinds = {name: "continuous" if name in ("age", "income") else "ordinal" for name in self.names}
        with suppress_warnings(MeaningWarning):  # about items that run against the others, as the one on Clinton does
            return as_table(self.answers, names=self.names, kinds=kinds).whole()

    def __repr__(self) -> str:
        n_respondents, n_questions = self.answers.shape
        return f"Anes96({n_respondents} respondents × {n_questions} questions)"


def load_anes96() -> Anes96:
    """Load a questionnaire: a part of the American National Election Study of 1996.

    Returns
    -------
    Anes96
        The answers, the names of the questions, and what the numbers mean.

    Examples
    --------
    >>> study = load_anes96()
    >>> study
    Anes96(944 respondents × 9 questions)
    >>> study.table
    Table(944 rows × 9 columns: 'TV news', 'age', 'education', …; 1 binary, 6 ordinal, 2 continuous)
    """
    header, *rows = csv.reader(_read("anes96", "answers.csv").splitlines())
    return Anes96(np.array(rows, dtype=np.int64), tuple(header), _read("anes96", "PROVENANCE.md"))


def load_senate109() -> Senate109:
    """Load the roll calls of the U.S. Senate, 109th Congress, second session (2006).

    Returns
    -------
    Senate109
        The 0/1 table, the votes with their missing cells, the senators and the roll calls.

    Examples
    --------
    >>> senate = load_senate109()
    >>> senate
    Senate109(279 roll calls × 100 senators: 55 R, 44 D, 1 I; 801 votes missing)
    >>> senate.names[0], senate.states[0], senate.parties[0]
    ('SESSIONS (R AL)', 'AL', 'R')
    >>> senate.rollcalls[1].question, int(senate.X[1].sum())
    ('On the Nomination', 58)
    """
    cells = np.array([list(line) for line in _read("senate109", "votes.txt").splitlines()])
    members = list(csv.DictReader(_read("senate109", "members.csv").splitlines()))
    return Senate109(
        X=(cells == "1").astype(np.uint8),
        votes=np.where(cells == "-", np.nan, cells == "1"),
        names=tuple(member["name"] for member in members),
        states=tuple(member["state"] for member in members),
        parties=tuple(member["party"] for member in members),
        rollcalls=tuple(
            _parse_rollcall(row) for row in csv.DictReader(_read("senate109", "rollcalls.csv").splitlines())
        ),
        description=_read("senate109", "PROVENANCE.md"),
    )


def _read(folder: str, name: str) -> str:
    return files(__name__).joinpath(folder, name).read_text(encoding="utf-8")


def _parse_rollcall(row: dict[str, str]) -> RollCall:
    date = datetime.date.fromisoformat(row["date"])
    number, yea, nay = (int(row[name]) for name in ("number", "yea", "nay"))
    return RollCall(number, date, row["bill"], row["question"], row["result"], yea, nay)
