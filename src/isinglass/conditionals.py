"""The distributions of cells given the rest of their row, from the logits of their categories.

Arrays have one row per category, in the flat layout of the variables, and one column per row of the table; several
networks are worked on at once if there is an axis in front.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isinglass.arrays import Bytes, FloatArray, Mask
from isinglass.variables import Variables


def category_logits(variables: Variables, fields: FloatArray, eta: FloatArray) -> FloatArray:
    """Return the field of every category plus what the rest of the row adds to it; ``eta``: a row per coordinate."""
    return np.asarray(fields[..., None] + variables.factor[:, None] * eta[..., variables.coordinate, :])


def log_sums(variables: Variables, logits: FloatArray) -> FloatArray:
    """Return log Σ exp over the categories of every variable, shape (p, n)."""
    top = np.maximum.reduceat(logits, variables.starts, axis=-2)
    total = np.add.reduceat(np.exp(logits - top[..., variables.column, :]), variables.starts, axis=-2)
    return np.asarray(top + np.log(total))


def log_probabilities(variables: Variables, logits: FloatArray, codes: Bytes) -> FloatArray:
    """Return log P of every category given the rest of the row, which sum to 1 within every variable.

    Those of a covariate are 0 for the category of the row and −inf for others.
    """
    logs = np.asarray(logits - log_sums(variables, logits)[variables.column])
    if variables.has_covariates:
        logs[~variables.is_modelled[variables.column]] = -np.inf
        flat = variables.flat(codes)[~variables.is_modelled]
        logs[flat, np.broadcast_to(np.arange(len(codes)), flat.shape)] = 0.0
    return logs


def cell_scores(
    variables: Variables, logits: FloatArray, flat: NDArray[np.intp], possible: Mask | None = None
) -> FloatArray:
    """Return the log-probability of the categories that cells have, given by `Variables.flat`, shape (p, n).

    ``possible`` tells which categories have a probability at all; None: all. ``logits`` may be overwritten.
    """
    if possible is not None:
        logits[..., ~possible, :] = -np.inf
    places = np.broadcast_to(flat, (*logits.shape[:-2], *flat.shape))
    scores = np.asarray(np.take_along_axis(logits, places, axis=-2) - log_sums(variables, logits))
    if variables.has_covariates:
        scores[..., ~variables.is_modelled, :] = 0.0
    return scores
