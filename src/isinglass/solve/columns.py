"""Rows and columns that cannot be estimated, or hardly: which they are, and the warnings that name them."""

from __future__ import annotations

import numpy as np

from isinglass.arrays import FloatArray
from isinglass.data import AnyTable, category_counts
from isinglass.data.counts import varying_among
from isinglass.errors import ConstantColumnWarning, DataWarning, listed, warn
from isinglass.network import Network
from isinglass.penalties import NEGLIGIBLE
from isinglass.variables import Variables

# Log odds of two neighboring categories from one end of a covariate to the other, from which it is said to determine
# the variable. Between the ends of the variable, two normal columns with a correlation of 0.5 already exceed this.
DETERMINED = 12.0


def without_negligible(table: AnyTable) -> AnyTable:
    """Leave out rows whose weight cannot matter."""
    return table.above(NEGLIGIBLE * table.weight_range[1])


def warn_constant(variables: Variables, counts: FloatArray) -> None:
    """Name the columns with one category in one warning, given the weight of every category."""
    constant = np.flatnonzero(~varying_among(counts, variables)).tolist()
    if not constant:
        return
    ends = variables.starts + variables.sizes
    first = [(s, int(counts[variables.starts[s] : ends[s]].argmax())) for s in constant]
    shown = listed([f"{variables.called(s)} (always {_value(variables.categories[s][k], k)})" for s, k in first])
    one = len(constant) == 1
    what = f"column {shown} is constant: it gets" if one else f"columns {shown} are constant: they get"
    warn(ConstantColumnWarning(f"{what} no edges."))


def _value(value: object, code: int) -> str:
    return str(value if isinstance(value, str | int | float) else code)


def name_constant(table: AnyTable) -> None:
    """Name constant columns in one warning."""
    warn_constant(table.variables, category_counts(without_negligible(table)))


def warn_determined(network: Network) -> None:
    """Name covariates that almost determine variables, one warning each: only the ridge keeps such couplings finite."""
    if not network.variables.has_covariates:
        return
    variables, index = network.variables, network.covariate_pairs
    is_first = np.array(variables.covariate)[index[:, 0]]
    covariates, others_of = np.where(is_first, index.T, index.T[::-1])
    steps = np.where(variables.has_scores, variables.ranges / (variables.sizes - 1), 1.0)
    reach = np.abs(network.covariate_values) * variables.ranges[covariates] * steps[others_of]
    determined: dict[tuple[int, bool], list[int]] = {}  # by the covariate, and whether the column is ordered
    is_determined = reach > DETERMINED
    for given, other in zip(covariates[is_determined].tolist(), others_of[is_determined].tolist(), strict=True):
        determined.setdefault((given, bool(variables.has_scores[other])), []).append(other)
    for (given, is_ordered), others in determined.items():
        shown = listed([variables.called(other) for other in others])
        remedy = "Leave one of them out, or merge rare categories."
        if len(others) > 1:
            remedy = (
                "If it was computed from these columns, such as their sum, compute it from others, or leave it out."
            )
        what = f"column {shown}" if len(others) == 1 else f"columns {shown}"
        what = what if is_ordered else f"a category of {what}"  # which may be a rare one
        finite = "only a ridge of 1e-9 keeps the coupling finite"
        warn(DataWarning(f"The covariate {variables.called(given)} almost determines {what}: {finite}. {remedy}"))
