"""Edges with an error rate: Wald's test of every pair in the complete network, and the false discovery rate.

Tests on the edges of a chosen network would ignore how it was chosen. So all pairs are estimated at once, almost
without penalty, and each is tested given all others with the sandwich errors of `refit`, widened for the number of
parameters that every column's regression has. A pair whose estimate is infinite is not tested, and claims nothing.
Benjamini and Hochberg's rule turns the probabilities into q-values.
"""

from __future__ import annotations

import numpy as np
import scipy  # its parts are loaded when they are needed
from numpy.typing import ArrayLike, NDArray

from isinglass.arrays import FloatArray, Mask
from isinglass.data import AnyTable, TableLike, as_table, category_counts
from isinglass.data.counts import dimensions_of, varying_among
from isinglass.errors import ConstantColumnWarning, DataError, LimitError, suppress_warnings
from isinglass.network import Network
from isinglass.pairs import all_pairs, pair_keys
from isinglass.select.refit import MAX_PARAMETERS, nearly_free, observed
from isinglass.select.sandwich import Support, sandwich_errors
from isinglass.text_tables import Columns

LEAST_ROWS = 5
"""Rows per parameter of a column's regression: with fewer rows the tests have little power and were not evaluated."""
LEAST_EXPECTED = 5.0
"""Rows in which two columns would both not have their most frequent value if they were independent: with fewer, Wald's
test finds too much."""


def edge_tests(X: TableLike, *, sample_weight: ArrayLike | None = None, n_threads: int | None = None) -> Columns:
    """Test every pair of columns given all others, with q-values for the false discovery rate.

    No network is chosen first, so the p-values are not biased by selection. With few rows the tests have little power;
    at least five rows per parameter of a column's regression are needed.

    Parameters
    ----------
    X : table
        A 0/1 or categorical table without missing cells, or anything that is read as one.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights; by default those of the table.
    n_threads : int, optional
        Threads of the kernels.

    Returns
    -------
    Columns
        One row per pair of columns that are no covariates and not both too rare, the smallest p first: ``source``,
        ``target``, ``refitted`` (the coupling in the complete network; a norm where a pair has more parameters),
        ``std_error`` (NaN where the estimate is exactly zero), ``p`` (Wald's test) and ``q`` (the smallest false
        discovery rate at which the pair is found). All are NaN where the estimate is infinite; these pairs come last.

    Examples
    --------
    >>> from isinglass import simulate
    >>> X = simulate.exact_sample(simulate.chain_network(6, strength=1.5, fields="balanced"), 800, random_state=0)
    >>> tests = edge_tests(X)
    >>> found = tests["q"] <= 0.1
    >>> sorted(zip(tests["source"][found], tests["target"][found]))
    [('x0', 'x1'), ('x1', 'x2'), ('x2', 'x3'), ('x3', 'x4'), ('x4', 'x5')]
    """
    table = observed(as_table(X, sample_weight), "Tests of all pairs").counted(quiet=True)
    n_rows, n_regressed = table.total_weight, _check_size(table)
    with suppress_warnings(ConstantColumnWarning):
        network = nearly_free(table, None, n_threads=n_threads).network
    sandwich = sandwich_errors(Support.of(table, network), network, table, nearly_free=True)
    # Residuals are smaller than errors: the square is what the jackknife gives in a regression (HC3), on average.
    freedom = n_rows - n_regressed
    share = (freedom / n_rows) ** 2
    p, pairs = table.shape[1], all_pairs(table.shape[1])
    values, errors, p_values = np.zeros(len(pairs)), np.full(len(pairs), np.nan), np.ones(len(pairs))
    place = np.searchsorted(pair_keys(pairs, p), pair_keys(network.pairs, p))
    errors[place] = sandwich.pairs / np.sqrt(share)
    values[place] = np.where(np.isnan(sandwich.pairs), np.nan, sandwich.network.pair_values)
    p_values[place] = scipy.special.fdtrc(sandwich.dimensions, freedom, share * sandwich.chi2 / sandwich.dimensions)
    source, target = np.array(network.names, dtype=object)[pairs.T]
    columns = Columns(source=source, target=target, refitted=values, std_error=errors, p=p_values)
    columns = columns.take(np.flatnonzero(_has_enough_rows(table, pairs)))
    columns["q"] = false_discovery(columns["p"]) if len(columns["p"]) else np.empty(0)
    return columns.take(np.argsort(columns["p"], kind="stable"))


def edge_q(tests: Columns, network: Network) -> FloatArray:
    """Return the q-values of the edges of a network, as `edge_tests` found them; NaN for one that was not tested."""
    q_by_pair = dict(zip(zip(tests["source"], tests["target"], strict=True), tests["q"], strict=True))
    ends = np.array(network.names, dtype=object)[network.edge_index]
    return np.array([q_by_pair.get((source, target), np.nan) for source, target in ends], dtype=np.float64)


def _check_size(table: AnyTable) -> int:
    """Refuse too many parameters and too few rows; return the parameters of the largest regression of a column."""
    counts, variables = category_counts(table), table.variables
    dimensions, varies = dimensions_of(counts, variables), varying_among(counts, variables)
    n_parameters = int((variables.sizes - 1).sum() + (dimensions.sum() ** 2 - (dimensions**2).sum()) // 2)
    if n_parameters > MAX_PARAMETERS:
        raise LimitError(
            f"Tests of all pairs need at most {MAX_PARAMETERS} parameters; got {n_parameters}. Leave columns out."
        )
    own = dimensions[varies & variables.is_modeled].min(initial=dimensions.max())
    n_regressed = 1 + int(dimensions[varies].sum() - own)  # one field, and the couplings with all other columns
    if table.total_weight < LEAST_ROWS * n_regressed:
        raise DataError(
            f"Tests of all pairs need at least {LEAST_ROWS * n_regressed} rows for these columns ({LEAST_ROWS} per "
            f"parameter of a column's regression); got {table.total_weight:.0f}. Leave columns out, or use inclusion "
            "frequencies (bootstrap)."
        )
    return n_regressed


def _has_enough_rows(table: AnyTable, pairs: NDArray[np.int32]) -> Mask:
    """Tell which pairs, of columns that are no covariates, are expected in enough rows without the frequent values."""
    others = 1.0 - np.maximum.reduceat(category_counts(table) / table.total_weight, table.variables.starts)
    expected = table.total_weight * others[pairs].prod(axis=1)
    return np.asarray(table.variables.is_modeled[pairs].all(axis=1) & (expected >= LEAST_EXPECTED))


def false_discovery(p_values: FloatArray) -> FloatArray:
    """Return the rates of Benjamini and Hochberg; a pair without a test, NaN, is one that may be found, but is not."""
    from scipy.stats import false_discovery_control  # 0.4 s to import, and needed only here

    return np.where(np.isnan(p_values), np.nan, false_discovery_control(np.nan_to_num(p_values, nan=1.0)))
