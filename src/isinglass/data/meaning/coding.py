"""`Coding`: how the values of a table are read, and which columns of another table it means."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from isinglass.arguments import require
from isinglass.data.meaning.rules import BITS, Cut, Levels, Rule, Steps
from isinglass.data.meaning.values import Value
from isinglass.variables import Variables

MISSING_CHOICES = ("error", "impute", "zero", "drop")


@dataclass(frozen=True)
class Layout:
    """What was found out about the file or array that a coding was made for, and holds for others."""

    # where the columns were, from 0, and how many there were, row names apart; None if these are all, in their order
    numbers: tuple[int, ...] | None = None
    width: int | None = None
    names: tuple[str, ...] | None = None  # what the columns were called, if the user gave them other names
    id_column: str | int | None = None  # name or number of the column that names the rows
    weights: str | None = None  # name of the column of row weights
    has_header: bool | None = None  # whether the first line of a text names the columns
    delimiter: str | None = None  # what separates the fields of a text
    decimal: str | None = None  # what separates the decimals of its numbers

    def number_in_file(self, number: int) -> int:
        """Return the number of a column without name in the file, row names included."""
        return number + (isinstance(self.id_column, int) and number >= self.id_column)


NO_FILE = Layout()


@dataclass(frozen=True)
class Guess:
    """A column about which nothing was stated, and which is not 0 and 1."""

    place: int  # among the columns, left out ones included
    kind: str | None  # what it is taken for; None: it is left out
    note: str  # why it is left out
    values: tuple[Value, ...]  # that occur
    n_missing: int


@dataclass(frozen=True)
class Coding:
    """How the values of a table were read. ``as_table(X, encode=coding)`` reads another table in the same way.

    Parameters
    ----------
    names : tuple of str, optional
        Names of the columns; None if the table had none.
    columns : tuple of Levels, Cut or Steps
        What the values of each column mean.
    missing : {"error", "impute", "zero", "drop"}
        How missing cells were treated.
    covariate : tuple of bool, optional
        Which columns are covariates; none by default.
    layout : Layout, optional
        What was found out about the file, if the table came from one.
    indicators : tuple of mappings, optional
        The indicator columns that each column was made of, with the category for which each stands; empty for a column
        that is itself in the source.
    """

    names: tuple[str, ...] | None
    columns: tuple[Rule, ...]
    missing: str = "error"
    covariate: tuple[bool, ...] = ()
    layout: Layout = NO_FILE
    indicators: tuple[Mapping[str, str], ...] = ()

    def __post_init__(self) -> None:
        n = len(self.columns)
        require(len(self.covariate) in (0, n), "A coding says of every column whether it is a covariate.")
        require(
            len(self.indicators) == 0 or (len(self.indicators) == n and self.names is not None),
            "A coding has names, and says of every column which indicators it was made of.",
        )
        is_choice = self.missing in MISSING_CHOICES
        require(is_choice, f"Missing cells are read as 'error', 'impute', 'zero' or 'drop', not as {self.missing!r}.")
        numbers, width = self.layout.numbers, self.layout.width
        if numbers is not None:
            fits = len(numbers) == n and width is not None and all(0 <= j < width for j in numbers)
            require(fits, "A coding has a number below the width of its table for every column, or none.")

    @classmethod
    def of(cls, variables: Variables) -> Coding:
        """Return the coding of a table that holds the categories of these variables."""
        rules = (
            Steps.around(values, scores or ())
            if kind == "continuous"
            else Levels({value: k for k, value in enumerate(values) if value is not None}, kind, scores)
            for kind, values, scores in zip(variables.kinds, variables.categories, variables.scores, strict=True)
        )
        columns = (BITS,) * variables.n_features if variables.is_plain else tuple(rules)
        covariate = variables.covariate if variables.has_covariates else ()
        return cls(variables.names if variables.named else None, columns, covariate=covariate)

    @property
    def variables(self) -> Variables:
        """The variables of a table that is read with this coding."""
        if all(rule.is_plain or isinstance(rule, Cut) for rule in self.columns):
            variables = Variables.binary(len(self.columns) if self.names is None else self.names)
        else:
            kinds, scores, values = zip(*((rule.kind, rule.scores, rule.values) for rule in self.columns), strict=True)
            variables = Variables.of(values, kinds, scores, self.names)
        covariates = [j for j, is_covariate in enumerate(self.covariate) if is_covariate]
        return variables.with_covariates(covariates) if covariates else variables

    def take(self, columns: Sequence[int]) -> Coding:
        """Return the coding of some of the columns."""

        def some(entries: Sequence[Any] | None) -> tuple[Any, ...]:  # Any: of any type
            return tuple(entries[j] for j in columns) if entries else ()

        layout = replace(self.layout, names=some(self.layout.names) or None)
        if not self.has_indicators:
            width = layout.width or len(self.columns)
            layout = replace(layout, numbers=some(layout.numbers or range(len(self.columns))), width=width)
        covariate, indicators = some(self.covariate), some(self.indicators)
        return Coding(some(self.names) or None, some(self.columns), self.missing, covariate, layout, indicators)

    def with_names(self, names: Sequence[str]) -> Coding:
        """Return the coding with other names of the columns; tables may still have those that they had."""
        return replace(self, names=tuple(names), layout=replace(self.layout, names=self.layout.names or self.names))

    def without_weights(self) -> Coding:
        """Return the coding by which no column is taken for row weights."""
        return replace(self, layout=replace(self.layout, weights=None))

    @property
    def has_indicators(self) -> bool:
        """Whether a column was made of indicators."""
        return any(self.indicators)

    @property
    def called_here(self) -> list[tuple[str, ...]]:
        """What the columns may be called: as in the source, before the user gave names, or as here."""
        return [names for names in (self.layout.names, self.names) if names]

    @property
    def called(self) -> list[tuple[str, ...]]:
        """What the columns of another table may be called, indicators included."""
        if not self.has_indicators:
            return self.called_here
        return [
            tuple(word for name, made_of in zip(names, self.indicators, strict=True) for word in made_of or (name,))
            for names in self.called_here
        ]

    @property
    def width(self) -> int:
        """How many columns the source had, row names apart."""
        return self.layout.width or (len(self.called[0]) if self.has_indicators else len(self.columns))

    @property
    def encoding(self) -> dict[Hashable, tuple[Value, Value]]:
        """The values that stand for 0 and 1, for each binary column of other values than 0 and 1 or a threshold."""
        labels: Sequence[Hashable] = range(len(self.columns)) if self.names is None else self.names
        levels = {label: rule for label, rule in zip(labels, self.columns, strict=True) if isinstance(rule, Levels)}
        return {label: rule.pair for label, rule in levels.items() if rule.kind == "binary" and not rule.is_plain}
