"""How a table is read: records of options, whose fields are the keyword arguments of the public functions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, fields
from inspect import signature
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeGuard, TypeVar

from isinglass.arguments import Options
from isinglass.data.meaning.coding import Coding
from isinglass.data.meaning.values import Value, rank, read_word
from isinglass.data.table import Kinds, Scores
from isinglass.errors import ArgumentError

if TYPE_CHECKING:
    from isinglass.data.source import Source

Fields = ParamSpec("Fields")
First = TypeVar("First")
Record = TypeVar("Record")
Result = TypeVar("Result")
Encode = Coding | Mapping[Value, Value] | str | None
Binarize = float | Mapping[Hashable, float] | None
MissingValues = Collection[Value] | Mapping[Any, Collection[Value]]  # Any: by name or number of a column, None for all


@dataclass(frozen=True, eq=False, kw_only=True)
class TwoValueOptions:
    """What columns of two values and these values mean, also those of a table in parts."""

    weight_kind: str | None = None
    encode: Encode = None
    binarize: Binarize = None
    missing: str = "error"
    na_values: MissingValues = ()
    names: Sequence[str] | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class ValueOptions(TwoValueOptions):
    """What columns and their values mean. `as_table` describes these options."""

    kinds: Kinds | None = None
    scores: Scores | None = None
    reverse: Collection[str | int] = ()
    covariates: Sequence[str | int] | str = ()
    combine_indicators: bool = False
    guess: bool = False

    def __post_init__(self) -> None:
        _make_tuples(self, "covariates", "reverse", "na_values")
        if by_column(self.encode):
            object.__setattr__(self, "encode", {key: _as_mapping(entry) for key, entry in self.encode.items()})

    @property
    def missing_everywhere(self) -> Collection[Value]:
        """The values that stand for a missing cell in all columns."""
        return self.na_values.get(None, ()) if isinstance(self.na_values, Mapping) else self.na_values

    @property
    def words_for_missing(self) -> list[str]:
        """The words, other than numbers, that stand for a missing cell in some column."""
        lists = self.na_values.values() if isinstance(self.na_values, Mapping) else [self.na_values]
        return [value for values in lists for value in values if isinstance(read_word(value, ","), str)]

    def missing_in(self, source: Source) -> dict[int, list[Value]]:
        """Return the values that stand for a missing cell, of every column that has some; equal ones are one list."""
        stated = dict(self.na_values) if isinstance(self.na_values, Mapping) else {}
        stated.pop(None, None)  # what holds for all columns
        everywhere = list(self.missing_everywhere)
        missing = dict.fromkeys(range(source.shape[1]), everywhere) if everywhere else {}
        return missing | {j: [*everywhere, *values] for j, values in source.locate(stated, "na_values").items()}


@dataclass(frozen=True, eq=False, kw_only=True)
class FileOptions:
    """How a file becomes a table, and which of its columns. `read_table` describes these options."""

    format: str | None = None
    delimiter: str | None = None
    header: bool | str = "auto"
    id_column: str | int | None = "auto"
    weights: str | int | None = None
    columns: Sequence[str | int] | None = None
    drop: Sequence[str | int] | None = None
    encoding: str = "utf-8"
    decimal: str | None = None
    sheet: str | int | None = None
    max_rows: int = 10_000_000
    max_columns: int = 100_000
    max_bytes: int | None = None

    def __post_init__(self) -> None:
        _make_tuples(self, "columns", "drop")
        if self.header != "auto" and not isinstance(self.header, bool):
            raise ArgumentError("header", 'must be True, False or "auto"', self.header)
        if self.decimal not in (None, ".", ","):
            raise ArgumentError("decimal", 'must be "." or ","', self.decimal)
        if isinstance(self.sheet, bool):
            raise ArgumentError("sheet", "must be a name, or a number from 0", self.sheet)
        if not isinstance(self.delimiter, str | None):
            raise ArgumentError("delimiter", "must be text", self.delimiter)


@dataclass(frozen=True, eq=False, kw_only=True)
class ReadOptions(ValueOptions, FileOptions):
    """All options of `read_table`."""

    labels: Sequence[str | int] = ()
    value_labels: Mapping[Any, Mapping[Value, str]] | None = None  # Any: name or number of a column

    def __post_init__(self) -> None:
        ValueOptions.__post_init__(self)
        FileOptions.__post_init__(self)
        _make_tuples(self, "labels")
        labels = {} if self.value_labels is None else self.value_labels
        if not isinstance(labels, Mapping) or not all(isinstance(each, Mapping) for each in labels.values()):
            raise ArgumentError("value_labels", 'must be such as {"gender": {1: "men", 2: "women"}}', labels)

    @classmethod
    def of(cls, options: TwoValueOptions | FileOptions) -> ReadOptions:
        """Return the options of another record that are also here."""
        names = {field.name for field in fields(cls)} & {field.name for field in fields(options)}
        return cls(**{name: getattr(options, name) for name in names})

    @property
    def for_files(self) -> Options:
        """The options given here that are about a file and its columns."""
        values = [(field, getattr(self, field.name)) for field in fields(FileOptions)]
        return {field.name: value for field, value in values if value not in (field.default, (), [])}


def by_column(encode: object) -> TypeGuard[Mapping[Hashable, Any]]:  # Any: a mapping, or a pair (zero, one)
    """Tell whether ``encode`` says something about single columns; under None is what holds for the others."""
    return isinstance(encode, Mapping) and all(
        isinstance(entry, Mapping | tuple) or (key is None and entry == "auto") for key, entry in encode.items()
    )


def _make_tuples(options: TwoValueOptions | FileOptions, *names: str) -> None:
    """Make tuples of fields that are one column or value, several, or a mapping to these; None is the default."""
    defaults = {field.name: field.default for field in fields(options)}
    for name in names:
        value = getattr(options, name)
        value = defaults[name] if value is None else value
        if isinstance(value, Mapping):
            object.__setattr__(options, name, {key: _as_tuple(values) for key, values in value.items()})
        else:
            object.__setattr__(options, name, None if value is None else _as_tuple(value))


def _as_tuple(value: object) -> tuple[Any, ...]:  # Any: columns, or values
    """Return one column or value, or several, as a tuple; those of a set in ascending order."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return (value,)
    return tuple(sorted(value, key=rank) if isinstance(value, Set) else value)


def _as_mapping(entry: object) -> object:
    """Return what `encode` says about a column as a mapping; a tuple has the values, or tuples of them, in order."""
    if not isinstance(entry, tuple):
        return entry
    groups = [group if isinstance(group, tuple) else () if group is None else (group,) for group in entry]
    return {value: number for number, group in enumerate(groups) for value in group}


def takes(
    record: Callable[Fields, Record],
) -> Callable[[Callable[[First, Record], Result]], Callable[Concatenate[First, Fields], Result]]:
    """Make a function of one argument and a record one whose keyword arguments are the fields of the record."""

    def decorate(function: Callable[[First, Record], Result]) -> Callable[Concatenate[First, Fields], Result]:
        table, _ = signature(function).parameters.values()
        parameters = [table, *signature(record).parameters.values()]
        public = signature(function).replace(parameters=parameters)

        @functools.wraps(function)
        def called(*args: Any, **fields: Any) -> Result:  # Any: as `takes` declares them
            try:
                given = public.bind(*args, **fields).arguments
            except TypeError as error:
                raise TypeError(f"{function.__name__}() {error}") from None
            return function(given.pop(table.name), record(**given))  # type: ignore[call-arg] # the fields

        called.__signature__ = public  # type: ignore[attr-defined] # for help() and notebooks
        return called

    return decorate


def for_another_file(options: Options) -> Options:
    """Return the options of a reading that hold for another file: a coding knows its columns and their values."""
    kept = {"weight_kind", *(field.name for field in fields(FileOptions))} - {"columns", "drop"}
    return {name: value for name, value in options.items() if name in kept}
