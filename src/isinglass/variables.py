"""What the columns of a table are: names, kinds, categories and scores. Tables, codings and networks share this.

A flat array has an entry per category, variable after variable (length T). A variable with *scores* is seen by others
by the score of its category: it has one coordinate, and its categories differ by a factor. A nominal variable has a
coordinate per category: 1 for that of the cell, 0 for the others. The block B_st of a pair has a row per coordinate of
s and a column per coordinate of t.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import compress
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from isinglass.arguments import as_ordered, check_word, is_real, is_whole
from isinglass.arrays import FloatArray, Mask, copy_unchecked, read_only, rounding_error
from isinglass.errors import ArgumentError, DataError, called
from isinglass.names import Origin, check_names, choose_places, default_names

Integers = NDArray[np.intp]
Entry = TypeVar("Entry", bound=np.generic)
KINDS = ("binary", "ordinal", "nominal", "continuous")
MAX_CATEGORIES = 256  # codes are bytes
_FEWER_CATEGORIES = "Leave the column out, or merge its categories into two."
_ONLY_COVARIATES = "covariates must leave a column that is modeled."
_BITS, _BIT_SCORES = (0, 1), (0.0, 1.0)


@dataclass(frozen=True, repr=False)
class Variables:
    """The variables of a table or network. Immutable; equal if their content is, ``named`` and ``wording`` apart.

    Parameters
    ----------
    names : tuple of str
        One distinct name per variable.
    kinds : tuple of {"binary", "ordinal", "nominal", "continuous"}
        Binary: two categories with the scores 0 and 1. Ordinal: categories with any other scores. Nominal: three or
        more categories without scores. Continuous: a number on a grid of three or more steps, whose scores are in
        standard deviations of the column.
    categories : tuple of tuples
        The value of the source that stands for each category, in the order of their codes; the middle of each step of a
        continuous variable. None for a category that has no value there, which only a binary variable may have.
    scores : tuple
        The points on a line that the categories lie at; None for a nominal variable.
    covariate : tuple of bool, optional
        Which variables are covariates: conditioned on, not modeled. Default none.
    named : bool
        Whether the names come from the source. Otherwise they count the columns, and others are joined by position.
    wording : tuple of str, optional
        What the source says about each variable, such as the text of a question; empty where it says nothing.

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
        object.__setattr__(self, "covariate", tuple(map(bool, self.covariate)) or (False,) * len(self.kinds))
        entries = (self.names, self.categories, self.scores, self.covariate, self.wording or self.names)
        if not self.kinds or any(len(each) != len(self.kinds) for each in entries):
            raise DataError("names, kinds, categories, scores and covariate must have one entry per variable.")
        if all(self.covariate):
            raise DataError(_ONLY_COVARIATES)
        for s, (kind, values, points) in enumerate(zip(self.kinds, self.categories, self.scores, strict=True)):
            check_variable(self.called(s), kind, len(values), points)
            self._check_categories(s, kind, values)

    def _check_categories(self, s: int, kind: str, values: tuple[Any, ...]) -> None:  # Any: values of the source
        known = [value for value in values if value is not None]
        problem = ""
        if len(set(known)) < len(known):
            problem = "must have distinct categories"
        elif (len(known) < len(values) and kind != "binary") or not all(value == value for value in known):
            problem = "must have a value for every category"
        elif kind == "continuous" and not (all(map(is_real, values)) and list(values) == sorted(values)):
            problem = "is continuous and must have numbers in ascending order"
        if problem:
            raise DataError(f"column {self.called(s)} {problem}; got {values!r}.")

    @classmethod
    def binary(cls, names: Sequence[str] | int) -> Variables:
        """Return p variables of 0 and 1, of these names or without."""
        if is_whole(names) and names > 0:
            return _unnamed_bits(int(names))
        constraint = "must be a list of strings, or a number of variables"
        listed = as_ordered("names", names, constraint)
        if not listed:
            raise ArgumentError("names", constraint, names)
        return copy_unchecked(_unnamed_bits(len(listed)), names=check_names(listed, len(listed)), named=True)

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
        constraint = "must be a list with an entry for every variable"
        values = tuple(map(_list_categories, as_ordered("categories", categories, constraint)))
        p = len(values)
        if p == 0:
            raise ArgumentError("categories", constraint, categories)
        constraint = f"must have one entry per variable ({p})"
        is_one = isinstance(kinds, str) or not isinstance(kinds, Iterable)
        words = [kinds] * p if is_one else as_ordered("kinds", kinds, constraint, p)
        points = [None] * p if scores is None else as_ordered("scores", scores, constraint, p)
        known_kinds, known_scores = zip(*map(_complete, range(p), words, map(len, values), points), strict=True)
        return cls(check_names(names, p), known_kinds, values, known_scores, named=names is not None)

    def with_names(self, names: Sequence[str] | None) -> Variables:
        """Return the same variables with other names; None keeps those they have."""
        if names is None:
            return self
        checked = check_names(names, self.n_features)
        if self.named and checked == self.names:
            return self
        renamed = copy.copy(self)  # with the layout, which holds for any names
        vars(renamed).update(names=checked, named=True)
        return renamed

    def take(self, columns: Sequence[int] | NDArray[np.generic]) -> Variables:
        """Return some of the variables, in this order."""
        chosen = choose_places(columns, self.n_features).tolist()
        if chosen and all(self.covariate[s] for s in chosen):
            raise DataError(_ONLY_COVARIATES)
        entries = ("names", "kinds", "categories", "scores", "covariate", *(["wording"] if self.wording else []))
        return copy_unchecked(self, **{name: tuple(getattr(self, name)[s] for s in chosen) for name in entries})

    def with_wording(self, texts: Mapping[str, str]) -> Variables:
        """Return the same variables with what a source says about them, by name."""
        found = tuple(texts.get(name, "") for name in self.names)
        return copy_unchecked(self, wording=found) if any(found) else self

    def with_covariates(self, columns: Sequence[int | str] | str | int) -> Variables:
        """Return the same variables, of which these are covariates, named as in options."""
        here = Origin(self.n_features, self.names, has_number_labels=False, places=range(self.n_features))
        keys = [columns] if isinstance(columns, str) or not isinstance(columns, Iterable) else columns
        chosen = {place for key in keys for place in here.find_all(key, "covariates")}
        if len(chosen) == self.n_features:
            raise DataError(_ONLY_COVARIATES)
        return copy_unchecked(self, covariate=tuple(s in chosen for s in range(self.n_features)))

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
        return tuple(compress(self.names, self.covariate))

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of the others, which are the nodes of a network."""
        return tuple(compress(self.names, self.is_modeled))

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
                f"{what} needs a distribution of every column, and the covariate {self.covariates[0]!r} has none. "
                "Leave the covariates out, or model them as variables."
            )

    def require_two_values(self, what: str, remedy: str = _FEWER_CATEGORIES) -> None:
        """Raise DataError unless every variable is binary; ``what`` begins the sentence, and ``remedy`` ends it."""
        self.require_no_covariates(what)
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
            rounding = 1e-9 * (values[-1] - values[0]) + rounding_error(values)
            if np.abs(values[0] + factor * (points - points[0]) - values).max() <= rounding:
                found[s] = factor
        return read_only(found)

    def score(self, column: int) -> FloatArray | None:
        """Return the scores of one variable; None if it is nominal."""
        return np.array(self.scores[column]) if self.scores[column] is not None else None

    def describe_kinds(self) -> str:
        """Say how many variables there are of each kind."""
        return ", ".join(f"{self.kinds.count(kind)} {kind}" for kind in KINDS if kind in self.kinds)

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self.names[:3])) + (", …" if self.n_features > 3 else "")
        return f"Variables({self.n_features}: {shown}; {self.describe_kinds()})"

    # Where categories, and the blocks of pairs, are in flat arrays: see the beginning of this module.

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
        return read_only(np.repeat(np.arange(len(self.sizes)), self.sizes))

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

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates of all variables."""
        return int(self.widths.sum())

    def split(self, flat: NDArray[Entry]) -> list[NDArray[Entry]]:
        """Return views of the parts of a flat array that belong to each variable."""
        ends = np.cumsum(self.sizes).tolist()
        return [flat[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]

    def fields_of(self, flat: FloatArray) -> FloatArray:
        """Return the fields of a network whose categories have these logits: the first of each variable has none."""
        return np.asarray((flat - flat[self.starts][self.column])[self.is_later])

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


@lru_cache(maxsize=64)
def _unnamed_bits(p: int) -> Variables:
    one = Variables(default_names(1), ("binary",), (_BITS,), (_BIT_SCORES,), named=False)
    entries = {name: getattr(one, name) * p for name in ("kinds", "categories", "scores", "covariate")}
    return copy_unchecked(one, names=default_names(p), **entries)


def _list_categories(given: object) -> tuple[Any, ...]:  # Any: values of the source
    """Return the categories of a variable, given themselves or their number."""
    constraint = f"must be a list of 2 to {MAX_CATEGORIES} categories of every variable, or their number"
    values = range(min(int(given), MAX_CATEGORIES + 1)) if is_whole(given) else given
    listed = tuple(as_ordered("categories", values, constraint))
    if not 2 <= len(listed) <= MAX_CATEGORIES or not all(isinstance(value, Hashable) for value in listed):
        raise ArgumentError("categories", constraint, given)
    return listed


def _complete(
    s: int, kind: str, n_categories: int, scores: Sequence[float] | None
) -> tuple[str, tuple[float, ...] | None]:
    """Return the kind and the scores of variable s, given its number of categories and what was said about it."""
    check_word("kinds", kind, KINDS)
    points = None if scores is None else tuple(check_scores(scores, n_categories, f"column {s}"))
    if n_categories == 2:
        points = points or _BIT_SCORES
        return ("binary" if points == _BIT_SCORES else "ordinal"), points
    if points is None and kind != "nominal":
        sd = math.sqrt((n_categories**2 - 1) / 12) if kind == "continuous" else 1.0
        points = tuple(k / sd for k in range(n_categories))
    return kind, points


def check_variable(called: str, kind: str, n_categories: int, scores: tuple[float, ...] | None) -> None:
    """Refuse a variable whose kind, categories and scores do not fit together."""
    check_word("kinds", kind, KINDS)
    problem = ""
    if not 2 <= n_categories <= MAX_CATEGORIES:
        problem = f"must have 2 to {MAX_CATEGORIES} categories; got {n_categories}"
    elif kind == "binary" and (n_categories != 2 or scores != _BIT_SCORES):
        problem = f"is binary and must hold 0 and 1; got {n_categories} categories with the scores {scores}"
    elif kind in ("nominal", "continuous") and n_categories == 2:
        problem = f"has two categories, and a {kind} column three or more"
    elif kind == "nominal" and scores is not None:
        problem = f"is nominal and must have no scores; got {scores}"
    elif kind in ("ordinal", "continuous"):
        points = check_scores(scores, n_categories, f"column {called}")
        if kind == "continuous" and points != sorted(points):
            problem = f"is continuous and must have ascending scores; got {scores}"
    if problem:
        raise DataError(f"column {called} {problem}.")


def check_scores(scores: Iterable[float] | None, n_categories: int, where: str) -> list[float]:
    """Return the points on a line where categories lie: one finite number for each, all different."""
    rule = f"must be a list of one finite number for each of the {n_categories} categories of {where}, all different"
    listed = as_ordered("scores", scores, rule, n_categories)
    try:
        points = list(map(float, listed))
    except (TypeError, ValueError, OverflowError):
        points = []
    if len(set(points)) < n_categories or not all(map(math.isfinite, points)):
        raise ArgumentError("scores", rule, scores)
    return points
