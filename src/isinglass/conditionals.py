"""The distributions of cells given the rest of their row: what the methods of a network compute.

A cell of two values has a predictor η_s = θ_ss + Σ_t θ_st x_t, a cell with categories a logit per category. Arrays have
one row per category, in the flat layout of the variables, and one column per row of the table.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import Bytes, FloatArray, Mask
from isinglass.variables import Variables

if TYPE_CHECKING:
    from isinglass.network import Network

CELLS_AT_ONCE = 4_000_000
"""Entries of such an array that exist at a time where only sums over rows are asked for: some 30 bytes each."""


def blocks_of_rows(n_rows: int, n_entries: int) -> Iterator[slice]:
    """Yield blocks of rows with `CELLS_AT_ONCE` entries, ``n_entries`` for each row."""
    step = max(CELLS_AT_ONCE // n_entries, 1)
    return (slice(first, first + step) for first in range(0, n_rows, step))


def expit(eta: FloatArray) -> FloatArray:
    """Return 1/(1+exp(−η)), which keeps its digits on either side; scipy's takes longer to import than a small fit."""
    with np.errstate(over="ignore"):
        return np.asarray(1.0 / (1.0 + np.exp(-eta)))


def predictors(network: Network, codes: Bytes) -> FloatArray:
    """Return θ_ss + Σ_t θ_st x_t of every cell of two-valued columns, shape (p, n)."""
    if not network.n_edges:
        return np.broadcast_to(network.fields[:, None], codes.T.shape)
    return np.asarray(network.fields[:, None] + network.couplings_sparse @ codes.T.astype(np.float64))


def ones_given_rest(network: Network, codes: Bytes) -> FloatArray:
    """Return P(x_s = 1 | the rest of the row) of every cell of two-valued columns, shape (n, p)."""
    return expit(predictors(network, codes).T)


def neighbor_sums(network: Network, codes: Bytes) -> FloatArray:
    """Return Σ_t θ_st x_t for every coordinate of the variables, shape (n_coordinates, n)."""
    return np.asarray(network.coordinate_couplings @ network.variables.place(network.variables.flat(codes)))


def logits(network: Network, codes: Bytes) -> FloatArray:
    """Return μ_s(k) plus what the rest of the row adds to it for every category, shape (T, n)."""
    variables, sums = network.variables, neighbor_sums(network, codes)
    return np.asarray(network.category_fields[:, None] + variables.factor[:, None] * sums[variables.coordinate])


def log_conditionals(network: Network, codes: Bytes) -> FloatArray:
    """Return log P(x_s = k | the rest of the row) for every category, shape (T, n)."""
    if not network.variables.is_binary:
        return log_probabilities(network.variables, logits(network, codes), codes)
    eta = predictors(network, codes)
    return -np.logaddexp(0.0, np.stack([eta, -eta], axis=1)).reshape(-1, len(codes))


def conditionals_of_blocks(
    codes: Bytes, weight: FloatArray | None, network: Network
) -> Iterator[tuple[Bytes, FloatArray, FloatArray]]:
    """Yield some rows at a time: their codes, weights, and log P(x_s = k | the rest) in the flat layout."""
    unit = np.ones(len(codes)) if weight is None else weight
    for rows in blocks_of_rows(len(codes), len(network.variables.column)):
        yield codes[rows], unit[rows], log_conditionals(network, codes[rows])


def log_scores(network: Network, codes: Bytes, possible: Mask | None = None) -> FloatArray:
    """Return log P(x_s | the rest of the row) of every cell, shape (p, n).

    ``possible`` tells which categories of columns that have any have a probability at all; None: all.
    """
    if network.variables.is_binary:
        # log P(x_s | rest) = −log(1 + exp(∓η)); logaddexp has no overflow where exp(η) would.
        return -np.logaddexp(0.0, (1.0 - 2.0 * codes.T) * predictors(network, codes))
    variables, each = network.variables, logits(network, codes)
    if possible is not None:
        each[~possible] = -np.inf
    scores = np.take_along_axis(each, variables.flat(codes), axis=0) - log_sums(variables, each)
    scores[~variables.is_modeled] = 0.0
    return np.asarray(scores)


def row_scores(
    network: Network,
    codes: Bytes,
    possible: Mask | None = None,
    columns: NDArray[np.intp] | slice = slice(None),
) -> FloatArray:
    """Return Σ_s log P(x_s | the rest) of every row, over all columns s or over those given; see `log_scores`."""
    scores = np.empty(len(codes))
    for rows in blocks_of_rows(len(codes), len(network.fields)):
        scores[rows] = log_scores(network, codes[rows], possible)[columns].sum(axis=0)
    return scores


def energies(network: Network, codes: Bytes) -> FloatArray:
    """Return the energy of every row, shape (n,): each pair is in two logits, each field in one."""
    if network.variables.is_binary:
        sums = predictors(network, codes) + network.fields[:, None]
        return np.asarray(-0.5 * np.einsum("sn,ns->n", sums, codes))
    flat = network.variables.flat(codes)
    chosen = np.take_along_axis(logits(network, codes), flat, axis=0)
    return np.asarray(-0.5 * (chosen + network.category_fields[flat]).sum(axis=0))


def log_sums(variables: Variables, logits: FloatArray) -> FloatArray:
    """Return log Σ exp over the categories of every variable, shape (p, n)."""
    top = np.maximum.reduceat(logits, variables.starts, axis=0)
    total = np.add.reduceat(np.exp(logits - top[variables.column]), variables.starts, axis=0)
    return np.asarray(top + np.log(total))


def log_probabilities(variables: Variables, logits: FloatArray, codes: Bytes) -> FloatArray:
    """Return log P of every category given the rest of the row, which sum to 1 within every variable.

    Those of a covariate are 0 for the category of the row and −inf for others.
    """
    logs = np.asarray(logits - log_sums(variables, logits)[variables.column])
    if variables.has_covariates:
        logs[~variables.is_modeled[variables.column]] = -np.inf
        flat = variables.flat(codes)[~variables.is_modeled]
        logs[flat, np.broadcast_to(np.arange(len(codes)), flat.shape)] = 0.0
    return logs
