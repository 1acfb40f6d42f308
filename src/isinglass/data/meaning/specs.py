"""What is known about the columns of a table before their values have a meaning."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from isinglass.arrays import FloatArray
from isinglass.data.column import Column
from isinglass.data.meaning.coding import by_column
from isinglass.data.meaning.recognition import MANY_LEVELS
from isinglass.data.meaning.rules import Cut, Levels, Rule
from isinglass.data.meaning.values import Value, as_float, is_bit, is_finite, is_number, read_cell, read_word
from isinglass.data.options import ValueOptions
from isinglass.data.source import Source
from isinglass.errors import ArgumentError, DataError, called, setting
from isinglass.variables import check_kind


@dataclass(frozen=True, eq=False)
class ColumnSpec:
    """What is known about a column before its values have a meaning: what the user states, and what it is itself.

    The option ``encode`` says what values mean, in one of three ways: ``{"a": {"Yes": 1, "No": 0}}`` speaks of column
    a (``is_encoded_by_name``); ``{"Yes": 1, "No": 0}`` of every column in which these values occur; ``"auto"`` of
    every column of two values (``is_encoded_auto``).
    """

    source: Source
    place: int  # in the source
    label: Hashable  # name or number
    kind: str | None  # stated by the user, or implied by the scores
    scores: Value  # numbers, a mapping of values to numbers, or "normal"
    encode: Mapping[Value, Value] | None  # what is said about its values
    is_encoded_by_name: bool  # whether `encode` speaks of this column by its name
    is_encoded_auto: bool  # whether `encode` leaves it to the package which of two values is 1
    cut: Cut | None  # a threshold
    is_reversed: bool
    missing: Collection[Value]  # values that `na_values` makes missing
    is_covariate: bool = False

    @cached_property
    def meaning(self) -> Mapping[Value, Value] | None:
        """What `encode` says about its values; words are read as its cells are."""
        if self.encode is None or self.source.column(self.place).declared is not None:
            return self.encode
        decimal = self.source.decimal or "."
        return {read_cell(word, decimal) if isinstance(word, str) else word: bit for word, bit in self.encode.items()}

    @cached_property
    def column(self) -> Column:
        """Its cells, with labels in place of the values if all have one.

        0 and 1 keep their values, unless `encode` speaks of the labels. Of labels for 1 and 2, 1 is the first category,
        also where 2 never occurs. Numbers beside texts in a nominal column are texts, too: 170, 171a.
        """
        column = self._raw.labeled() if self.category_labels else self._raw
        if self.kind != "nominal" or self.is_encoded_by_name or column.values is None:
            return column
        are_numbers = {is_number(value) for value in column.distinct if is_number(value) or isinstance(value, str)}
        return column.spelled() if len(are_numbers) > 1 else column

    @cached_property
    def _raw(self) -> Column:
        """Its cells as the source has them; words that `encode` speaks of are not blank."""
        column = self.source.column(self.place)
        meant = column.blanks.intersection(self.meaning or ())
        return replace(column, blanks=column.blanks - meant) if meant else column

    @cached_property
    def category_labels(self) -> Mapping[Value, Value]:
        """The values with their labels, where the labels are the categories: 1 is "men", 2 "women"; else nothing."""
        raw = self._raw
        if not raw.labels:
            return {}
        if self._means_labels:
            return raw.answers if raw.are_all_labeled else {}
        return raw.answers if raw.has_named_categories and not self._means_values else {}

    @property
    def _means_labels(self) -> bool:
        """Whether `encode` speaks of labels of its values."""
        return self.meaning is not None and any(label in self.meaning for label in self._raw.answers.values())

    @property
    def _means_values(self) -> bool:
        """Whether `encode` speaks of all values that occur."""
        return self.meaning is not None and set(self._raw.distinct) <= self.meaning.keys()

    def finish(self, rule: Rule) -> Rule:
        """Return a rule with all that holds for other tables: labels, and values that stand for a missing cell."""
        if isinstance(rule, Levels) and self.category_labels:
            rule = replace(rule, labels=self.category_labels)
        if isinstance(rule, Levels) and not self.is_encoded and rule.has_words:
            rule = replace(rule, has_found_words=True)
        return self.with_missing(rule).with_missing(self.encoded_missing)

    def with_missing(self, rule: Rule) -> Rule:
        """Return a rule with the values that `na_values` declares missing; the same rule if it has them."""
        return rule.with_missing([read_word(value, self.source.decimal) for value in self.missing])

    @cached_property
    def values(self) -> list[Value]:
        """The values that occur."""
        return self.column.distinct

    @property
    def where(self) -> str:
        """What messages call it."""
        return self.source.where(self.place)

    @property
    def remark(self) -> str:
        """What messages add about its values, sentences or nothing."""
        return self.source.remark_column(self.place)

    @property
    def source_kind(self) -> str | None:
        """The kind that its type in the source declares, such as a categorical of pandas; numbers declare none."""
        return None if self.source.block is not None else self.column.declared

    @property
    def known_kind(self) -> str | None:
        """The kind that is stated; else that of its type in the source, unless something is said about its values."""
        is_open = self.kind is None and self.cut is None and self.meaning is None
        return self.source_kind if is_open else self.kind

    @property
    def must_be_numeric(self) -> bool:
        """Whether it can only be numbers: nothing is stated, and it has fractions, and too many for categories."""
        if (
            self.known_kind is not None
            or self.cut is not None
            or self.is_encoded_by_name
            or not self.column.has_fractions
        ):
            return False
        has_many = len(self.values) > MANY_LEVELS and all(map(is_number, self.values))
        return has_many and not all(as_float(value).is_integer() for value in self.values)

    @property
    def is_encoded(self) -> bool:
        """Whether `encode` speaks of its values, by the name of the column or because they occur in it."""
        return self.is_encoded_by_name or (
            self.meaning is not None and any(value in self.meaning for value in self.values)
        )

    @property
    def encoded_missing(self) -> list[Value]:
        """The values that `encode` makes missing: those of ``{"refused": None}``."""
        return [value for value, number in (self.meaning or {}).items() if number is None]

    @property
    def kept_values(self) -> list[Value]:
        """The values that occur, without those that `encode` makes missing."""
        missing = self.encoded_missing
        return [value for value in self.values if value not in missing]

    @property
    def numbers(self) -> FloatArray:
        """The numbers among its cells, row by row."""
        return np.array([cell for cell in self.column.entries.tolist() if is_number(cell)], dtype=np.float64)

    @property
    def numbers_by_value(self) -> dict[Value, Value] | None:
        """What `encode` or `scores` say about the values of a column with categories, which are not missing."""
        if isinstance(self.scores, Mapping):
            return dict(self.scores)
        if not self.is_encoded:
            return None
        numbers = {value: number for value, number in (self.meaning or {}).items() if number is not None}
        if self.is_encoded_by_name or len(set(numbers.values())) == len(numbers):
            return numbers
        # For columns of several kinds, yes=1 and often=1: the categories of this one are those that occur in it.
        return {value: number for value, number in numbers.items() if value in self.values}


def specify(source: Source, stated: ValueOptions) -> list[ColumnSpec]:
    """Return what is stated about every column."""
    _check_forms(stated)
    p, kinds = source.shape[1], stated.kinds
    binarize = stated.binarize
    if binarize is not None and not isinstance(binarize, Mapping):
        binarize = dict.fromkeys(range(p), binarize)
    kinds_of_columns = _list_kinds({} if kinds is None else kinds, source)
    scores = source.locate(stated.scores or {}, "scores")
    normal = {j for j, given in scores.items() if isinstance(given, str) and given == "normal"}
    implied = {j: "continuous" if j in normal else "ordinal" for j, given in scores.items() if given is not None}
    by_key = dict(stated.encode) if by_column(stated.encode) else {None: stated.encode}
    others = by_key.pop(None, None)  # what holds for columns that are not named
    named = source.locate(by_key, "encode")
    cuts = {j: _read_cut(cut) for j, cut in source.locate(binarize or {}, "binarize").items()}
    missing = stated.missing_in(source)
    reversed_columns = source.locate(dict.fromkeys(stated.reverse), "reverse")
    covariates = source.locate(dict.fromkeys(stated.covariates), "covariates")
    specs = [
        ColumnSpec(
            source,
            place=j,
            label=label,
            kind=kinds_of_columns[j] or implied.get(j),
            scores=scores.get(j),
            encode=named.get(j, None if others == "auto" else others),
            is_encoded_by_name=j in named,
            is_encoded_auto=others == "auto" and j not in named,
            cut=cuts.get(j),
            is_reversed=j in reversed_columns,
            missing=missing.get(j, ()),
            is_covariate=j in covariates,
        )
        for j, label in enumerate(source.labels)
    ]
    return [replace(spec, kind=_covariate_kind(spec)) if spec.is_covariate else spec for spec in specs]


def _check_forms(stated: ValueOptions) -> None:
    """Refuse options of the wrong form, and a threshold for all columns beside what values mean."""
    encode = stated.encode
    if stated.scores is not None and not isinstance(stated.scores, Mapping):
        raise ArgumentError("scores", 'must be a mapping of columns to numbers or "normal"', stated.scores)
    if encode is not None and encode != "auto" and (not isinstance(encode, Mapping) or not encode):
        allowed = 'None, "auto", a mapping such as {"Yes": 1, "No": 0}, or one of these per column'
        raise ArgumentError("encode", f"must be {allowed}", encode)
    if isinstance(encode, Mapping) and not by_column(encode):
        of_columns = [key for key, entry in encode.items() if isinstance(entry, Mapping | tuple)]
        others = [key for key in encode if key not in of_columns]
        if of_columns:
            raise ArgumentError(
                "encode",
                "must speak of columns, each with a mapping or a pair of values, or of values, each with a number",
                encode,
                f"It says what the values of column {of_columns[0]!r} mean, but gives {encode[others[0]]!r} to "
                f"{others[0]!r}.",
            )
    if encode is not None and stated.binarize is not None and not isinstance(stated.binarize, Mapping):
        raise DataError(
            f"{setting('encode', *(['auto'] if encode == 'auto' else []))} and {setting('binarize')} must not be "
            f"combined, unless {setting('binarize')} names columns."
        )


def _covariate_kind(spec: ColumnSpec) -> str | None:
    """Return the kind of a covariate; where nothing is said, numbers are numbers and texts have no order."""
    is_stated = spec.known_kind is not None or spec.cut is not None or spec.is_encoded_by_name
    if is_stated or all(map(is_bit, spec.values)):
        return spec.kind
    return "continuous" if len(spec.values) > 2 and all(map(is_number, spec.values)) else "nominal"


def _read_cut(binarize: object) -> Cut:
    if isinstance(binarize, bool | np.bool_) or not is_finite(binarize):
        raise ArgumentError("binarize", "must be None or a finite number", binarize)
    return Cut(float(binarize))


def _list_kinds(stated: Value, source: Source) -> list[Value]:
    """Return a kind per column, from one word, one entry each, or a mapping of columns."""
    p = source.shape[1]
    if isinstance(stated, Mapping):
        by_place = source.locate(stated, "kinds")
        kinds = [by_place.get(j) for j in range(p)]
    elif not hasattr(stated, "__len__"):
        raise ArgumentError("kinds", "must be one word, one entry per column, or a mapping", stated)
    else:
        kinds = [stated] * p if isinstance(stated, str) else list(stated)
        if len(kinds) != p:
            raise ArgumentError("kinds", f"must have one entry per column ({p})", len(kinds), _remark_row_names(source))
    for kind in kinds:
        if kind is not None:
            check_kind(kind)
    return kinds


def _remark_row_names(source: Source) -> str:
    """Return which column of a file was taken for row names, a sentence or nothing."""
    name = source.layout.id_column
    if name is None:
        return ""
    return f"Column {called(name)} is taken for row names; if it is a variable, pass {setting('id_column', None)}."
