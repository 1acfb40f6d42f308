"""Row weights: the column that holds them, whether they are valid, and what they stand for.

Counts say how many equal rows a row stands for. Sampling weights say how many members of a population a row stands for:
it is one row all the same, and their scale means nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import FloatArray
from isinglass.data.meaning.advice import remark_numbers
from isinglass.data.meaning.coding import Coding
from isinglass.data.meaning.values import is_number, show_value
from isinglass.errors import ArgumentError, DataError, MeaningWarning, setting, warn

if TYPE_CHECKING:
    from isinglass.data.source import Source

WEIGHT_KINDS = ("sampling", "counts")
SUM_RATIO, MEAN_COUNT = 2.0, 5.0
"""Ratios beyond which weights of unstated kind get a warning: sum of sampling weights to rows, and mean count."""
NO_WEIGHT = f"{setting('weights', python='row weights')} must have a positive sum; got only weights of zero."


def check_sample_weight(sample_weight: ArrayLike | None, n_samples: int, *, is_part: bool = False) -> FloatArray | None:
    """Return finite, non-negative row weights, or None for equal weights; all 0 only for a part of a table."""
    if sample_weight is None:
        return None
    weight = as_floats("sample_weight", sample_weight)
    if weight.shape != (n_samples,):
        raise DataError(f"sample_weight must have one value per row ({n_samples},); got shape {weight.shape}.")
    if not np.isfinite(weight).all() or (weight < 0).any():
        value = weight[~(np.isfinite(weight) & (weight >= 0))][0]
        raise ArgumentError("sample_weight", "must be finite and not negative", float(value))
    if not is_part and not weight.any():
        raise DataError(NO_WEIGHT)
    if weight.max(initial=0.0) > np.finfo(np.float64).max / max(n_samples, 1):
        raise DataError(f"sample_weight must have a finite sum; got values up to {weight.max():g}. Rescale them.")
    return weight


def find_known_weights(source: Source, coding: object) -> int | None:
    """Return the column of row weights that the table of a coding had, if it is here."""
    known = coding.layout.weights if isinstance(coding, Coding) else None
    names = list(source.names or ())
    return names.index(known) if known in names else None


def read_weights(source: Source, place: int) -> FloatArray:
    """Return a column of row weights."""
    values = source.column(place).entries
    for row, value in enumerate(values):
        if not is_number(value) or not np.isfinite(float(value)) or value < 0:
            shown = "a missing cell" if value is None else show_value(value)
            raise DataError(
                f"{setting('weights')} must be finite and not negative; got {shown} in column {source.labels[place]!r} "
                f"({source.describe_row(row)}).{remark_numbers([value], source.decimal)}"
            )
    return np.asarray(values, dtype=np.float64)


def check_weight_kind(kind: str | None, weight: FloatArray | None) -> None:
    """Refuse an unknown kind of row weights, and counts that are not whole numbers."""
    if kind is not None and kind not in WEIGHT_KINDS:
        raise ArgumentError("weight_kind", 'must be "sampling", "counts" or None', kind)
    if kind == "counts" and weight is not None and not are_counts(weight):
        refuse_counts(f"a weight of {weight[~are_whole(weight)][0]:g}")


def refuse_counts(got: str) -> NoReturn:
    """Refuse counts that are not whole numbers."""
    raise DataError(f"counts must be whole numbers; got {got}. Pass {setting('weight_kind', 'sampling')}.")


def are_whole(weight: FloatArray) -> NDArray[np.bool_]:
    """Tell which weights are whole numbers, up to rounding: copies of a row share its count."""
    return np.isclose(weight, np.rint(weight), rtol=1e-9, atol=0.0)


def are_counts(weight: FloatArray | None) -> bool:
    """Tell whether scaled weights are counts.

    Scaled sampling weights are not whole, or all 1: their mean under themselves is 1, and whole numbers that are not
    all 1 have a larger one.
    """
    return weight is None or bool(are_whole(weight).all())


@dataclass(frozen=True)
class WeightSums:
    """Sums over rows that say what their weights stand for; relative to the largest, whose square may overflow."""

    n_positive: int
    n_broken: int  # weights that are not whole
    largest: float
    relative: float  # the sum of the weights relative to the largest, and of their squares
    squares: float

    @property
    def total(self) -> float:
        """The sum of the weights."""
        return self.largest * self.relative

    @classmethod
    def of(cls, weight: FloatArray) -> WeightSums:
        """Return the sums over these weights."""
        largest = float(weight.max(initial=0.0))
        relative = weight / (largest or 1.0)
        n_positive, n_broken = (int(np.count_nonzero(some)) for some in (weight, ~are_whole(weight)))
        return cls(n_positive, n_broken, largest, float(relative.sum()), float(relative @ relative))

    def __add__(self, other: WeightSums) -> WeightSums:
        largest = max(self.largest, other.largest)
        a, b = (sums.largest / (largest or 1.0) for sums in (self, other))
        return WeightSums(
            self.n_positive + other.n_positive,
            self.n_broken + other.n_broken,
            largest,
            a * self.relative + b * other.relative,
            a * a * self.squares + b * b * other.squares,
        )

    def find_scale(self, kind: str | None = None, *, quiet: bool = False) -> tuple[str, float | None]:
        """Return the kind of the weights, and what weights relative to the largest are multiplied by; None: nothing.

        Counts stay as they are, sampling weights are rescaled to their effective number. Whole numbers are counts and
        others sampling weights, unless the kind is stated. ``quiet``: say nothing of how they were understood.
        """
        kind_found = kind or ("sampling" if self.n_broken else "counts")
        effective = self.total if kind_found == "counts" else self.relative**2 / self.squares
        if kind is None and not quiet:
            _warn_of_kind(kind_found, self.total, effective, self.n_positive)
        return kind_found, None if abs(self.total - effective) <= 1e-9 * effective else effective / self.relative


def _warn_of_kind(kind: str, total: float, effective: float, n_rows: int) -> None:
    """Say how weights of unknown kind are understood, where their sum is far from the number of rows."""
    is_near = n_rows / SUM_RATIO <= total <= SUM_RATIO * n_rows or abs(total - effective) <= 1e-9 * effective
    if total < MEAN_COUNT * n_rows if kind == "counts" else is_near:
        return
    taken = {
        "counts": f"counts of equal rows: they are whole numbers and count as {total:.6g} rows",
        "sampling": "sampling weights: they are not whole numbers, so their scale is ignored and they count as "
        f"{effective:.6g} rows",
    }
    kinds = ["counts", "sampling"] if kind == "counts" else ["sampling"]
    remedy = " or ".join(setting("weight_kind", each) for each in kinds)
    warn(
        MeaningWarning(
            f"The weights have the sum {total:.6g} over {n_rows} rows and are treated as {taken[kind]}. "
            f"State what they are where the table is read: {remedy}."
        )
    )


def scale_weights(
    weight: FloatArray, kind: str | None = None, units: NDArray[np.intp] | None = None, *, quiet: bool = False
) -> tuple[FloatArray, str]:
    """Return row weights whose sum is N, and their kind, as `WeightSums.find_scale` understands them.

    ``units``: rows with equal entries are copies of one row that share its weight.
    """
    shared = per_unit(weight, units)
    check_weight_kind(kind, shared)
    sums = WeightSums.of(shared)
    kind_found, factor = sums.find_scale(kind, quiet=quiet)
    return weight if factor is None else np.asarray(weight / sums.largest * factor), kind_found


def settle_kind(weight: FloatArray | None, kind: str | None) -> str | None:
    """Return the kind of row weights: as stated, else the one that is found; None for none, or weights of 0 alone."""
    if weight is None or kind is not None or not weight.any():
        return kind
    return scale_weights(weight)[1]


def per_unit(weight: FloatArray, units: NDArray[np.intp] | None) -> FloatArray:
    """Return the weight of every row, of which there may be copies that share it."""
    if units is None:
        return weight
    return np.asarray(np.bincount(np.unique(units, return_inverse=True)[1], weight), dtype=np.float64)


def as_floats(name: str, values: ArrayLike) -> FloatArray:
    """Return an argument as an array of real numbers."""
    try:
        given = np.asanyarray(values)
        if given.dtype.kind not in "cmM" and not np.ma.is_masked(given):  # NumPy would convert these, too
            return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        pass
    raise ArgumentError(name, "must hold real numbers, none of them masked", values)
