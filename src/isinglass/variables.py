"""What the columns of a table are: names, kinds, categories, scores, and how categories lie in flat arrays.

Tables, codings and networks share this record. A variable with *scores* is binary, ordinal or continuous: its
categories are points on a line, and others see a cell by its score, one coordinate. A nominal variable has a coordinate
per category: 1 for that of the cell, 0 for the others. Flat arrays have one entry per category, variable after variable
(length T).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from isinglass.arguments import is_whole
from isinglass.arrays import FloatArray, Mask, copy_unchecked, read_only
from isinglass.errors import ArgumentError, DataError, called
from isinglass.locating import Origin, choose_places
from isinglass.names import check_names, default_names

KINDS = ("binary", "ordinal", "nominal", "continuous")
MAX_CATEGORIES = 256  # codes are bytes
_FEWER_CATEGORIES = (
    "Leave the column out, or merge its categories into two; ising_path, the choice of the penalty, IsingNetwork and "
    "the report take categories."
)
_BITS, _BIT_SCORES = (0, 1), (0.0, 1.0)

Integers = NDArray[np.intp]
Entry = TypeVar("Entry", bound=np.generic)


@dataclass(frozen=True, repr=False)
class Variables:
    """The variables of a table or network. Immutable; equal if their content is.

    Parameters
    ----------
    names : tuple of str
        One distinct name per variable.
    kinds : tuple of {"binary", "ordinal", "nominal", "continuous"}
        Binary: two categories with the scores 0 and 1. Ordinal: categories with any other scores. Nominal: three or
        more categories without scores. Continuous: a number on a grid of three or more steps, whose scores are in
        standard deviations of the column.
    categories : tuple of tuples
        The value of the source that stands for each category, in the order of their codes; (0, 1) where the source
        holds 0 and 1; the middle of each step of a continuous variable. None for a category that has no value there,
        which only a binary variable may have.
    scores : tuple
        The points on a line that the categories lie at; None for a nominal variable.
    covariate : tuple of bool, optional
        Which variables are covariates: conditioned on, not modeled. Default none.
    named : bool
        Whether the names come from the source. Otherwise they count the columns, and others are joined by position.
        Not part of comparisons.
    wording : tuple of str, optional
        What the source says about each variable, such as the text of a question; empty where it says nothing. Not part
        of comparisons.

    Examples
    --------
    >>> Variables.of([2, ("low", "mid", "high"), 4], ["binary", "ordinal", "nominal"], names=["a", "b", "c"])
    Variables(3: 'a', 'b', 'c'; 1 binary, 1 ordinal, 1 nominal)
    """

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    categories: tuple[tuple[Any, ...], ...]  # values of the source: numbers, text, dates
    scores: tuple[tuple[float, ...] | None, ...]
    covariate: tuple[bool, ...] = ()
    named: bool = field(default=True, compare=False)
    wording: tuple[str, ...] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", check_names(self.names, len(self.kinds)))
        if not len(self.kinds) == len(self.categories) == len(self.scores) > 0:
            raise DataError("names, kinds, categories and scores must have one entry per variable.")
        object.__setattr__(self, "covariate", tuple(map(bool, self.covariate)) or (False,) * len(self.kinds))
        for name in ("wording", "covariate"):
            given = getattr(self, name)
            if given is not None and len(given) != len(self.kinds):
                raise DataError(f"{name} must have one entry per variable.")
        if all(self.covariate):
            raise DataError("covariates must leave a column that is modeled.")
        for s, (kind, values, points) in enumerate(zip(self.kinds, self.categories, self.scores, strict=True)):
            check_variable(self.called(s), kind, len(values), points)
            known = [value for value in values if value is not None]
            if len(set(known)) < len(known):
                raise DataError(f"column {self.called(s)} must have distinct categories; got {values!r}.")

    @classmethod
    def binary(cls, names: Sequence[str] | int) -> Variables:
        """Return p variables of 0 and 1, of these names or without."""
        if is_whole(names) and names > 0:
            return _unnamed_bits(int(names))
        if not isinstance(names, Iterable) or len(names) == 0:
            raise ArgumentError("names", "must be a list of strings, or a number of variables", names)
        checked = check_names(names, len(names))
        return _unnamed_bits(len(checked))._with(names=checked, named=True)

    @classmethod
    def of(
        cls,
        categories: Sequence[int | Sequence[object]],
        kinds: str | Sequence[str],
        scores: Sequence[Sequence[float] | None] | None = None,
        names: Sequence[str] | None = None,
    ) -> Variables:
        """Return variables given their categories, or the numbers of categories, with defaults for the rest.

        One kind may hold for all. A variable of two categories is binary unless it has other scores than 0 and 1, and
        an ordinal one has the scores 0, 1, 2, …. The scores of a continuous one are divided by the standard deviation
        that it has if all categories are equally frequent.
        """
        if not isinstance(categories, Iterable) or len(categories) == 0:
            raise ArgumentError("categories", "must have an entry for every variable", categories)
        p = len(categories)
        words = [kinds] * p if isinstance(kinds, str) or not isinstance(kinds, Iterable) else list(kinds)
        points = [None] * p if scores is None else list(scores) if isinstance(scores, Iterable) else []
        for name, given, entries in (("kinds", kinds, words), ("scores", scores, points)):
            if len(entries) != p:
                raise ArgumentError(name, f"must have one entry per variable ({p})", given)
        values = list(map(_list_categories, categories))
        found = [_complete(*each) for each in zip(words, map(len, values), points, strict=True)]
        return cls(
            names=check_names(names, p),
            kinds=tuple(kind for kind, _ in found),
            categories=tuple(values),
            scores=tuple(score for _, score in found),
            named=names is not None,
        )

    def _with(self, **changes: object) -> Variables:
        """Return a copy with other entries, unchecked."""
        return copy_unchecked(self, **changes)

    def with_names(self, names: Sequence[str] | None) -> Variables:
        """Return the same variables with other names; None keeps those they have."""
        if names is None:
            return self
        checked = check_names(names, self.n_features)
        if self.named and checked == self.names:
            return self
        renamed = self._with(names=checked, named=True)
        for name, layout in vars(self).items():  # what was computed holds for any names
            if name not in self.__dataclass_fields__:
                object.__setattr__(renamed, name, layout)
        return renamed

    def take(self, columns: Sequence[int] | NDArray[np.generic]) -> Variables:
        """Return some of the variables, in this order."""
        chosen = choose_places(columns, self.n_features).tolist()
        if self.is_plain and not self.named:
            return _unnamed_bits(len(chosen))._with(names=tuple(self.names[s] for s in chosen))
        entries = ("names", "kinds", "categories", "scores", "covariate", *(["wording"] if self.wording else []))
        return self._with(**{name: tuple(getattr(self, name)[s] for s in chosen) for name in entries})

    def with_wording(self, texts: Mapping[str, str]) -> Variables:
        """Return the same variables with what a source says about them, by name."""
        found = tuple(texts.get(name, "") for name in self.names)
        return self._with(wording=found) if any(found) else self

    def with_covariates(self, columns: Sequence[int | str] | str | int | None) -> Variables:
        """Return the same variables, of which these are covariates, named as in options; None keeps those they have.

        Examples
        --------
        >>> Variables.binary(["rain", "umbrella", "month"]).with_covariates(["month"]).covariate
        (False, False, True)
        """
        if columns is None:
            return self
        here = Origin(self.n_features, self.names, has_number_labels=False, places=range(self.n_features))
        keys = [columns] if isinstance(columns, str) or not isinstance(columns, Iterable) else columns
        chosen = {place for key in keys for place in here.find_all(key, "covariates")}
        if len(chosen) == self.n_features:
            named = list(self.names if self.named else range(self.n_features))
            raise ArgumentError("covariates", "must leave a column that is modeled", named)
        return self._with(covariate=tuple(s in chosen for s in range(self.n_features)))

    @property
    def n_features(self) -> int:
        """Number of variables, covariates included."""
        return len(self.names)

    @cached_property
    def is_modeled(self) -> Mask:
        """Which variables are modeled, shape (p,): those that are no covariates."""
        return read_only(~np.array(self.covariate))

    @property
    def has_covariates(self) -> bool:
        """Whether some variables are conditioned on and not modeled."""
        return any(self.covariate)

    @property
    def covariates(self) -> tuple[str, ...]:
        """Names of the covariates."""
        return tuple(name for name, is_given in zip(self.names, self.covariate, strict=True) if is_given)

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of the others, which are the nodes of a network."""
        return tuple(name for name, is_given in zip(self.names, self.covariate, strict=True) if not is_given)

    def called(self, column: int) -> str:
        """Return what messages call a variable: its name in quotes, or its number if the source had no names."""
        return called(self.names[column] if self.named else int(column))

    @cached_property
    def is_binary(self) -> bool:
        """Whether every variable has two categories with the scores 0 and 1, and is modeled."""
        return self.kinds.count("binary") == len(self.kinds) and not self.has_covariates

    @cached_property
    def is_plain(self) -> bool:
        """Whether every variable is 0 and 1 in the source, too."""
        return self.is_binary and all(values is _BITS or values == _BITS for values in self.categories)

    def require_no_covariates(self, what: str) -> None:
        """Raise DataError if there is a covariate; ``what`` begins the sentence."""
        if self.has_covariates:
            raise DataError(
                f"{what} needs a distribution of every column, and the covariate {self.covariates[0]!r} has "
                f"none. Leave the covariates out, or model them as variables."
            )

    def require_two_values(self, what: str, remedy: str = _FEWER_CATEGORIES) -> None:
        """Raise DataError unless every variable is binary; ``what`` begins the sentence, and ``remedy`` ends it."""
        if self.has_covariates:
            raise DataError(
                f"{what} must have no covariates here; got {self.covariates[0]!r}. Leave the covariates out, or model "
                "them as variables."
            )
        if not self.is_binary:
            s = next(s for s, kind in enumerate(self.kinds) if kind != "binary")
            raise DataError(
                f"{what} must have columns of two values here; got the {self.kinds[s]} column {self.called(s)} with "
                f"{self.sizes[s]} categories. {remedy}"
            )

    @property
    def labels(self) -> tuple[tuple[str, ...], ...]:
        """The categories as texts."""
        return tuple(tuple(map(str, values)) for values in self.categories)

    @cached_property
    def sizes(self) -> Integers:
        """Number of categories of every variable, shape (p,)."""
        return read_only(np.array([len(values) for values in self.categories], dtype=np.intp))

    @cached_property
    def has_scores(self) -> Mask:
        """Which variables have scores, shape (p,)."""
        return read_only(np.array([points is not None for points in self.scores]))

    @cached_property
    def widths(self) -> Integers:
        """Number of coordinates of every variable, shape (p,): 1 with scores, else one per category."""
        return read_only(np.where(self.has_scores, 1, self.sizes))

    @cached_property
    def starts(self) -> Integers:
        """First category of every variable in flat arrays, shape (p,)."""
        return read_only(np.cumsum(self.sizes) - self.sizes)

    @cached_property
    def first(self) -> Integers:
        """First coordinate of every variable, shape (p,)."""
        return read_only(np.cumsum(self.widths) - self.widths)

    @cached_property
    def column(self) -> Integers:
        """Variable of every category, shape (T,)."""
        return read_only(np.repeat(np.arange(self.n_features), self.sizes))

    @cached_property
    def is_later(self) -> Mask:
        """Which categories are not the first of their variable, shape (T,): those with a field of their own."""
        later = np.ones(len(self.column), dtype=bool)
        later[self.starts] = False
        return read_only(later)

    @cached_property
    def coordinate(self) -> Integers:
        """Coordinate of every category, shape (T,)."""
        within = np.arange(len(self.column)) - self.starts[self.column]
        return read_only(self.first[self.column] + np.where(self.has_scores[self.column], 0, within))

    @cached_property
    def factor(self) -> FloatArray:
        """Score of every category, 1 for those of nominal variables, shape (T,)."""
        each = zip(self.scores, self.sizes.tolist(), strict=True)
        return read_only(np.array([x for points, q in each for x in ((1.0,) * q if points is None else points)]))

    @cached_property
    def ranges(self) -> FloatArray:
        """Largest distance of two categories of every variable, shape (p,); 1 for a nominal one."""
        high, low = (extreme.reduceat(self.factor, self.starts) for extreme in (np.maximum, np.minimum))
        return read_only(np.where(self.has_scores, high - low, 1.0))

    @cached_property
    def continuous(self) -> Integers:
        """Numbers of the continuous variables."""
        return read_only(np.flatnonzero([kind == "continuous" for kind in self.kinds]))

    @cached_property
    def units(self) -> FloatArray:
        """What a unit of the scores is in the source, shape (p,): the standard deviation of a continuous variable.

        NaN for other kinds, and where scores are no multiple of the values, as normal scores are not.
        """
        found = np.full(self.n_features, np.nan)
        for s in self.continuous.tolist():
            values, points = np.array(self.categories[s], dtype=float), np.array(self.scores[s])
            factor = (values[-1] - values[0]) / (points[-1] - points[0])
            rounding = 1e-9 * (values[-1] - values[0]) + 8.0 * np.finfo(np.float64).eps * np.abs(values).max()
            if np.abs(values[0] + factor * (points - points[0]) - values).max() <= rounding:
                found[s] = factor
        return read_only(found)

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates of all variables."""
        return int(self.widths.sum())

    def score(self, column: int) -> FloatArray | None:
        """Return the scores of one variable; None if it is nominal."""
        return np.array(self.scores[column]) if self.scores[column] is not None else None

    def split(self, flat: NDArray[Entry]) -> list[NDArray[Entry]]:
        """Return views of the parts of a flat array that belong to each variable."""
        ends = np.cumsum(self.sizes).tolist()
        return [flat[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]

    def flat(self, codes: NDArray[np.uint8]) -> Integers:
        """Return the place of every cell's category in flat arrays, shape (p, n)."""
        return np.asarray(self.starts[:, None] + codes.T)

    def place(self, flat: Integers) -> FloatArray:
        """Return the coordinates of cells given by `flat`, shape (n_coordinates, n)."""
        placed = np.zeros((self.n_coordinates, flat.shape[1]))
        placed[self.coordinate[flat], np.arange(flat.shape[1])] = self.factor[flat]
        return placed

    def has_sign(self, pairs: NDArray[np.integer]) -> Mask:
        """Tell which pairs, shape (n, 2), have one parameter, and so a sign."""
        return np.asarray(self.has_scores[pairs].all(axis=1))

    def block_shape(self, s: int, t: int) -> tuple[int, int]:
        """Return the shape of B_st: a row or column per category of a nominal variable, one of any other."""
        return int(self.widths[s]), int(self.widths[t])

    def block_sizes(self, pairs: NDArray[np.integer]) -> Integers:
        """Return the number of entries of B_st of every pair."""
        return np.asarray(self.widths[pairs].prod(axis=1, dtype=np.intp))

    def block_scale(self, pairs: NDArray[np.integer]) -> FloatArray:
        """Return ‖Θ_st‖ / ‖B_st‖ of every pair: 2 for two nominal variables, √2 for one, else 1."""
        return np.asarray(np.sqrt(2.0) ** (~self.has_scores[pairs]).sum(axis=1))

    def split_blocks(self, pairs: NDArray[np.integer], parameters: FloatArray) -> list[FloatArray]:
        """Return views of the blocks of these pairs, which lie one after the other."""
        ends = np.cumsum(self.block_sizes(pairs)).tolist()
        shapes = self.widths[pairs].tolist()
        bounds = zip([0, *ends[:-1]], ends, shapes, strict=True) if shapes else ()
        return [parameters[start:end].reshape(shape) for start, end, shape in bounds]

    def block_values(self, pairs: NDArray[np.integer], parameters: FloatArray) -> FloatArray:
        """Return what stands for the blocks of pairs: the coupling of one with one parameter, ‖Θ‖ of any other."""
        if self.has_scores.all() or not len(pairs):
            return parameters
        sizes = self.block_sizes(pairs)
        norms = np.sqrt(np.add.reduceat(parameters * parameters, np.cumsum(sizes) - sizes))
        signed = self.has_sign(pairs)
        values = self.block_scale(pairs) * norms
        values[signed] = parameters[np.cumsum(sizes)[signed] - 1]
        return values

    def describe_kinds(self) -> str:
        """Say how many variables there are of each kind."""
        return ", ".join(f"{self.kinds.count(kind)} {kind}" for kind in KINDS if kind in self.kinds)

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self.names[:3])) + (", …" if self.n_features > 3 else "")
        return f"Variables({self.n_features}: {shown}; {self.describe_kinds()})"


@lru_cache(maxsize=64)
def _unnamed_bits(p: int) -> Variables:
    one = Variables(default_names(1), ("binary",), (_BITS,), (_BIT_SCORES,), named=False)
    entries = {name: getattr(one, name) * p for name in ("kinds", "categories", "scores", "covariate")}
    return one._with(names=default_names(p), **entries)


def _list_categories(given: object) -> tuple[Any, ...]:  # Any: values of the source
    """Return the categories of a variable, given themselves or their number."""
    values = range(min(int(given), MAX_CATEGORIES + 1)) if is_whole(given) else given
    if (
        isinstance(values, str)
        or not isinstance(values, Iterable)
        or not 2 <= len(listed := tuple(values)) <= MAX_CATEGORIES
    ):
        constraint = f"must be 2 to {MAX_CATEGORIES} categories of every variable, or their number"
        raise ArgumentError("categories", constraint, given)
    if not all(isinstance(value, Hashable) for value in listed):
        raise ArgumentError("categories", "must be numbers or text", given)
    return listed


def _complete(kind: str, n_categories: int, scores: Sequence[float] | None) -> tuple[str, tuple[float, ...] | None]:
    """Return the kind and the scores of a variable, given its number of categories and what was said about it."""
    check_kind(kind)
    points = None if scores is None else _floats(scores)
    if n_categories == 2:
        points = points or _BIT_SCORES
        return ("binary" if points == _BIT_SCORES else "ordinal"), points
    if points is None and kind != "nominal":
        sd = math.sqrt((n_categories**2 - 1) / 12) if kind == "continuous" else 1.0
        points = tuple(k / sd for k in range(n_categories))
    return kind, points


def _floats(scores: Sequence[float]) -> tuple[float, ...]:
    try:
        return tuple(float(point) for point in scores)
    except (TypeError, ValueError):
        raise ArgumentError("scores", "must be a list of numbers, or None, for every variable", scores) from None


def check_kind(kind: object) -> None:
    """Refuse what is no kind of variable."""
    if kind not in KINDS:
        raise ArgumentError("kinds", f"must be {', '.join(KINDS[:-1])} or {KINDS[-1]}", kind)


def check_variable(called: str, kind: str, n_categories: int, scores: tuple[float, ...] | None) -> None:
    """Refuse a variable whose kind, categories and scores do not fit together."""
    check_kind(kind)
    if not 2 <= n_categories <= MAX_CATEGORIES:
        raise DataError(f"column {called} must have 2 to {MAX_CATEGORIES} categories; got {n_categories}.")
    if kind == "binary" and (n_categories != 2 or scores != _BIT_SCORES):
        raise DataError(
            f"column {called} is binary and must hold 0 and 1; got {n_categories} categories with the scores {scores}. "
            "Declare it as ordinal if its categories have an order, as nominal if they have none."
        )
    if kind == "continuous" and n_categories == 2:
        raise DataError(f"column {called} has two categories, and a continuous column three or more.")
    if kind == "nominal" and (scores is not None or n_categories == 2):
        raise DataError(f"scores must be None for the nominal column {called}; got {n_categories} categories.")
    if kind in ("ordinal", "continuous"):
        check_scores(scores, n_categories, f"column {called}")


def check_scores(scores: Iterable[float] | None, n_categories: int, where: str) -> list[float]:
    """Return the points on a line where categories lie: one finite number for each, all different."""
    try:
        points = [] if scores is None else [float(point) for point in scores]
    except (TypeError, ValueError):
        points = []
    if len(set(points)) != n_categories or len(points) != n_categories or not all(map(math.isfinite, points)):
        rule = f"must be one finite number for each of the {n_categories} categories of {where}, all different"
        raise ArgumentError("scores", rule, scores)
    return points
