"""Whether a network reproduces its table, as numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import FloatArray, Frozen, Mask
from isinglass.simulate.mixing import MixingDiagnostics
from isinglass.text_tables import join_words


@dataclass(frozen=True, eq=False)
class Comparison(Frozen):
    """Shares of rows with a property, in the data and in rows simulated from a network."""

    what: str  #: "means", "pairs", "triples" or "counts"
    columns: NDArray[np.int64]  #: the columns that are all 1, one row per property; of "counts", how many at least
    observed: FloatArray  #: share of the rows of the data
    expected: FloatArray  #: share of the simulated rows
    half_width: FloatArray  #: of the interval around ``expected`` that holds all ``observed`` of a right network
    p_values: FloatArray  #: two-sided, of one share
    level: float  #: of the whole comparison

    @property
    def flagged(self) -> Mask:
        """Which shares are not reproduced."""
        return np.asarray(self.p_values <= self.level / max(len(self.p_values), 1))

    @property
    def n_flagged(self) -> int:
        """How many are not reproduced."""
        return int(self.flagged.sum())


@dataclass(frozen=True, eq=False, repr=False)
class ModelCheck(Frozen):
    """Whether a network reproduces its table; made by `isinglass.metrics.check_model`.

    Examples
    --------
    >>> from isinglass import metrics, simulate
    >>> model = simulate.chain_network(6, strength=1.5, fields="balanced")
    >>> X = simulate.exact_sample(model, 500, random_state=0)
    >>> metrics.check_model(X, model).passed
    True
    >>> print(metrics.check_model(X, simulate.chain_network(6)).sentence)
    Rows simulated from the network do not reproduce 6 of 6 means (x2: 0.82 simulated, 0.49 in the data), ...
    """

    comparisons: tuple[Comparison, ...]
    names: tuple[str, ...]  #: of the columns
    score_range: tuple[int, int]  #: fewest and most ones in a row of the data
    simulated_range: tuple[int, int]  #: the same of the simulated rows
    n_rows: float  #: of the data
    n_simulated: int
    effective_size: float  #: number of independent rows that the simulated ones are worth
    mixing: MixingDiagnostics | None = None  #: of the chains; None where rows were drawn without chains
    is_split: bool = False  #: whether columns of more than two values were made into ones and zeros

    @property
    def mixed(self) -> bool:
        """Whether the chains agree with each other."""
        return self.mixing is None or self.mixing.mixed

    @property
    def passed(self) -> bool:
        """Whether the chains have mixed and everything that was compared is reproduced."""
        return self.mixed and not any(comparison.n_flagged for comparison in self.comparisons)

    def __getitem__(self, what: str) -> Comparison:
        return next(comparison for comparison in self.comparisons if comparison.what == what)

    @cached_property
    def sentence(self) -> str:
        """What is reproduced and what is not, in words."""
        missed = [comparison for comparison in self.comparisons if comparison.n_flagged]
        kept = [comparison for comparison in self.comparisons if not comparison.n_flagged]
        text = "Rows simulated from the network"
        if missed:
            text += f" do not reproduce {join_words([self._describe(comparison) for comparison in missed])}"
            text += f". They reproduce the {join_words([comparison.what for comparison in kept])}." if kept else "."
        else:
            text += f" reproduce the {join_words([comparison.what for comparison in kept])} of the data."
        (least, most), (fewest, largest) = self.score_range, self.simulated_range
        if self["counts"].n_flagged and self.score_range != self.simulated_range:
            text += f" Simulated rows have {fewest} to {largest} ones, rows of the data {least} to {most}."
        if self.is_split:
            text += (
                " A cell of a column with more than two values counts as 1 if it is above the median of the column or, "
                "where values have no order, if it is the most frequent one."
            )
        if not self.mixed:
            text += " The chains have not mixed, so the samples depend on their starting values."
        return text

    @property
    def consequence(self) -> str:
        """What a failed check means for the use of the network; nothing if it passed."""
        if self.passed:
            return ""
        curved = ", or couplings that are not linear in the scores of categories" if self.is_split else ""
        return (
            "The edges still say which columns help to predict each other, and predictions of single columns remain "
            "valid. Do not simulate rows from this network, and do not use its probabilities of several values "
            f"together. A possible reason is a common cause that is not in the table{curved}."
        )

    def _describe(self, comparison: Comparison) -> str:
        worst = int(np.argmax(np.where(comparison.flagged, np.abs(comparison.observed - comparison.expected), -1.0)))
        if comparison.what == "counts":
            example = f"rows with {comparison.columns[worst, 0]} or more ones"
        else:
            example = "–".join(self.names[column] for column in comparison.columns[worst])
        shares = f"{comparison.expected[worst]:.2g} simulated, {comparison.observed[worst]:.2g} in the data"
        return f"{comparison.n_flagged} of {len(comparison.p_values)} {comparison.what} ({example}: {shares})"

    def __repr__(self) -> str:
        return f"ModelCheck({self.sentence})"
