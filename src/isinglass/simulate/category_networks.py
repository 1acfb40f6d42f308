"""Networks of columns with categories to draw rows from: categories put on the nodes of a network of yes/no columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isinglass.arguments import check_count
from isinglass.arrays import FloatArray
from isinglass.categories import CategoryNetwork, block_scale
from isinglass.data.category_table import MOST_CATEGORIES, Kinds, per_column
from isinglass.errors import ArgumentError
from isinglass.network import Network
from isinglass.randomness import RandomSource, as_generator


def category_network(
    network: Network,
    kinds: Kinds = "ordinal",
    n_categories: int | Sequence[int] = 5,
    *,
    random_state: RandomSource = None,
) -> CategoryNetwork:
    """Put categories on the nodes of a network, with the same edges and couplings that are as easy to find.

    An edge of coupling θ becomes ‖Θ_st‖ = |θ| √(m_s m_t) / (4 sd_s sd_t), with sd the standard deviation of the points
    of a column whose categories are equally frequent and m its number of coordinates: one row then says as much about
    the edge as about a coupling θ of two balanced yes/no columns. Two columns on a line keep its sign. Where one is
    nominal, a random direction is drawn. Fields make up for the mean of the neighbors' scores: no end of a line is
    preferred, and categories are about equally frequent unless couplings are strong.

    Parameters
    ----------
    network : Network
        The edges and their couplings, such as a chain, a grid or a random network; its fields are not used.
    kinds : {"binary", "ordinal", "nominal"}, a sequence of them, or a mapping by name or number
        Kind of every column; those that a mapping leaves out are binary.
    n_categories : int or sequence of int, default 5
        Number of categories, of all columns or of each; binary columns have two.
    random_state : int, Generator, RandomState, SeedSequence or None
        Seed of the directions.


    Examples
    --------
    >>> from isinglass.simulate import chain_network
    >>> category_network(chain_network(3, strength=2.0), n_categories=3).edge_values
    array([0.75, 0.75])
    """
    p, rng = network.n_features, as_generator(random_state)
    words = per_column("kinds", kinds, network.names, p, "binary")
    given = [n_categories] * p if isinstance(n_categories, int | np.integer) else list(n_categories)
    if len(given) != p:
        raise ArgumentError("n_categories", f"must be one number, or one per node ({p})", n_categories)
    sizes = [
        2 if word == "binary" else check_count("n_categories", q, least=2, most=MOST_CATEGORIES)
        for word, q in zip(words, given, strict=True)
    ]
    scores = [
        None if word == "nominal" and q > 2 else np.arange(float(q)) for word, q in zip(words, sizes, strict=True)
    ]
    # Variance per coordinate of equally frequent categories: (1 − 1/q)/2 over q − 1 of them, or (q² − 1)/12.
    spread = [0.5 / q if score is None else (q * q - 1) / 12.0 for score, q in zip(scores, sizes, strict=True)]
    blocks, fields = [], [np.zeros(q) for q in sizes]
    for (s, t), theta in zip(network.edge_index.tolist(), network.edge_values.tolist(), strict=True):
        norm = theta / (4.0 * np.sqrt(spread[s] * spread[t]))
        block = _block(scores[s], scores[t], sizes[s], sizes[t], rng) * norm / block_scale(scores[s], scores[t])
        blocks.append(block)
        for here, there, table in ((s, t, block), (t, s, block.T)):
            middle = 0.0 if scores[there] is None else (sizes[there] - 1) / 2.0
            fields[here] -= middle * (table[:, 0] if scores[here] is None else scores[here] * table[0, 0])
    fields = [field - field[0] for field in fields]
    known = ["binary" if q == 2 else word for word, q in zip(words, sizes, strict=True)]
    return CategoryNetwork(fields, scores, network.edge_index, names=network.names, kinds=known, blocks=blocks)


def _block(
    score_s: FloatArray | None, score_t: FloatArray | None, q_s: int, q_t: int, rng: np.random.Generator
) -> FloatArray:
    """Return a block of norm 1: the number 1, or a random table that sums to zero over the categories of a side."""
    if score_s is not None and score_t is not None:
        return np.ones((1, 1))
    block = rng.normal(size=(q_s if score_s is None else 1, q_t if score_t is None else 1))
    if score_s is None:
        block -= block.mean(axis=0)
    if score_t is None:
        block -= block.mean(axis=1, keepdims=True)
    return np.asarray(block / np.linalg.norm(block))
