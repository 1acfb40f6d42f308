"""How a table is read: one record of all options, whose fields are the keyword arguments of the public functions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from isinglass.arguments import Options
from isinglass.data.coding import Coding, Value
from isinglass.data.table import Kinds, Scores
from isinglass.errors import ArgumentError

if TYPE_CHECKING:
    from isinglass.data.preview import Guess
    from isinglass.data.source import Source

Fields = ParamSpec("Fields")
First = TypeVar("First")
Record = TypeVar("Record")
Result = TypeVar("Result")
Encode = Coding | Mapping[Value, Value] | str | None
Binarize = float | Mapping[Hashable, float] | None
MissingValues = Collection[Value] | Mapping[Any, Collection[Value]]  # Any: by name or number of a column, None for all


@dataclass(frozen=True, eq=False, kw_only=True)
class FileOptions:
    """Options that hold for another file of the same kind; a coding says what its columns and values mean."""

    format: str | None = None
    delimiter: str | None = None
    header: bool | str = "auto"
    id_column: str | int | None = "auto"
    transpose: bool = False
    weights: str | int | None = None
    weight_kind: str | None = None
    na_values: MissingValues = ()
    encoding: str = "utf-8"
    decimal: str | None = None
    sheet: str | int | None = None
    max_rows: int = 10_000_000
    max_columns: int = 100_000
    max_bytes: int | None = None

    def __post_init__(self) -> None:
        if self.header != "auto" and not isinstance(self.header, bool):
            raise ArgumentError("header", 'must be True, False or "auto"', self.header)
        if self.decimal not in (None, ".", ","):
            raise ArgumentError("decimal", 'must be "." or ","', self.decimal)
        if isinstance(self.na_values, str):
            raise ArgumentError("na_values", "must be a sequence of values", self.na_values)
        if not isinstance(self.na_values, Mapping):
            object.__setattr__(self, "na_values", tuple(self.na_values))


@dataclass(frozen=True, eq=False, kw_only=True)
class ReadOptions(FileOptions):
    """All options of `as_table`, `read_table` and `read_parts`, where they are described."""

    columns: Sequence[str | int] | None = None
    drop: Sequence[str | int] | None = None
    labels: Sequence[str | int] = ()
    kinds: Kinds | None = None
    scores: Scores | None = None
    reverse: Collection[str | int] = ()
    covariates: Sequence[str | int] | str = ()
    encode: Encode = None
    binarize: Binarize = None
    missing: str = "error"
    combine_indicators: bool = False
    names: Sequence[str] | None = None
    guesses: dict[Hashable, Guess] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.covariates, str):
            object.__setattr__(self, "covariates", (self.covariates,))

    @property
    def about_columns(self) -> bool:
        """Whether anything is stated about columns and their values, except what becomes of missing cells."""
        given = (self.kinds, self.scores, self.encode, self.binarize, self.names)
        return any(each is not None for each in given) or bool(
            self.combine_indicators or self.na_values or self.covariates
        )

    @property
    def for_files(self) -> Options:
        """The options given here that are about a file and its columns."""
        known = (*FILE_OPTIONS, "columns", "drop", "labels", "reverse")
        every = [(field, getattr(self, field.name)) for field in fields(self) if field.name in known]
        return {field.name: value for field, value in every if value not in (field.default, (), [])}

    @property
    def missing_everywhere(self) -> Collection[Value]:
        """The values that stand for a missing cell in all columns."""
        return self.na_values.get(None, ()) if isinstance(self.na_values, Mapping) else self.na_values

    def missing_in(self, source: Source) -> dict[int, list[Value]]:
        """Return the values that stand for a missing cell, of every column that has some."""
        given = self.na_values if isinstance(self.na_values, Mapping) else {}
        own = source.locate({key: values for key, values in given.items() if key is not None}, "na_values")
        found = ([*self.missing_everywhere, *own.get(j, ())] for j in range(source.shape[1]))
        return {j: values for j, values in enumerate(found) if values}


def takes(
    record: Callable[Fields, Record],
) -> Callable[[Callable[[First, Record], Result]], Callable[Concatenate[First, Fields], Result]]:
    """Make a function of one argument and a record one whose keyword arguments are the fields of the record."""

    def decorate(function: Callable[[First, Record], Result]) -> Callable[Concatenate[First, Fields], Result]:
        @functools.wraps(function)
        def called(first: First, /, *args: Fields.args, **fields: Fields.kwargs) -> Result:
            return function(first, record(*args, **fields))

        shown = inspect.signature(function)  # what help() and notebooks show; type checkers see it by themselves
        own = next(iter(shown.parameters.values())).replace(kind=inspect.Parameter.POSITIONAL_ONLY)
        both = [own, *inspect.signature(record).parameters.values()]
        vars(called)["__signature__"] = shown.replace(parameters=both)
        return called

    return decorate


def for_another_file(given: Options, coding: Coding) -> Options:
    """Return the options of a reading that hold for another file, which is read by the coding that was found.

    A coding with names finds its columns itself; without, the columns of the file are chosen as before.
    """
    again = FILE_OPTIONS if coding.names is not None else (*FILE_OPTIONS, "columns", "drop")
    return {name: value for name, value in given.items() if name in again}


FILE_OPTIONS = tuple(field.name for field in fields(FileOptions))
