"""Warnings about drawn rows: their chain has not mixed, or they do not look like the table of the fit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isinglass.arrays import AnyArray, Bytes, FloatArray
from isinglass.errors import MixingWarning, setting, suppress_warnings, warn
from isinglass.network import Network
from isinglass.simulate.gibbs import gibbs_diagnostics

_PROBED_ROWS = 100  # of each chain that looks whether samples depend on the start
_COMPARED_ROWS, _FAR = 200, 5.0  # rows that a chain is taken to be worth, and standard errors that are too many


def warn_unless_mixed(network: Network, burn_in: int, thin: int) -> None:
    """Compare a few other chains, from different starts, with each other."""
    with suppress_warnings(MixingWarning):  # what is said here is about the sample
        found = gibbs_diagnostics(network, n_samples=_PROBED_ROWS, burn_in=burn_in, thin=thin)
    if not found.mixed:
        warn(
            MixingWarning(
                f"The chain has not mixed after {burn_in} sweeps: {found.words} of {4 * _PROBED_ROWS} "
                f"rows of four other chains. The rows depend on its starting values. Raise {setting('burn_in')}, or "
                "fit a sparser network."
            )
        )


def warn_if_unlike(
    rows: Bytes, network: Network, shares: FloatArray, pair_counts: Sequence[AnyArray], n_rows: float
) -> None:
    """Compare the shares of categories, and of both ones at the edges, with those of the table of the fit.

    The table has ``n_rows`` rows, these ``shares``, and for every edge ``pair_counts`` by the categories of its ends.
    """
    if len(rows) < _COMPARED_ROWS:
        return
    variables, edges = network.variables, network.edge_index
    found = np.bincount(variables.flat(rows).ravel(), minlength=len(shares)) / len(rows)
    where, known = [variables.called(int(s)) for s in variables.column], np.minimum(shares, 1.0)
    if variables.is_binary and len(edges):
        pairs = np.array([counts[1, 1] / counts.sum() for counts in pair_counts])
        together = np.array([np.mean(rows[:, s] & rows[:, t]) for s, t in edges.tolist()])
        where += [" and ".join(variables.called(int(node)) for node in pair) for pair in edges]
        found, known = np.r_[found, together], np.r_[known, pairs]
    pooled = (found + known) / 2
    size = min(_COMPARED_ROWS, n_rows)  # rows of a chain are worth fewer than they are
    far = np.abs(found - known) > _FAR * np.sqrt(2 * pooled * (1 - pooled) / size)
    if far.any():
        worst = int(np.argmax(np.where(far, np.abs(found - known), 0.0)))
        warn(
            MixingWarning(
                f"The samples do not look like the table of the fit: {where[worst]} has a share of "
                f"{found[worst]:.3g}, in the table {known[worst]:.3g} ({int(far.sum())} of {len(far)} shares "
                "differ). Such a network may predict single cells well, but it does not reproduce the "
                "table. Fit a sparser one, and run check(X)."
            )
        )
