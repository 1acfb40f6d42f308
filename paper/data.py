"""The simulated tables: networks drawn as the paper draws them, and rows sampled from them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isinglass import Network, simulate

Table = NDArray[np.uint8]

N_SAMPLES = 1000
BURN_IN = 1000
"""Rows of the paper's tables, and the sweeps of its sampler that are discarded before them."""


def paper_table(
    p: int, probability: float, trial: int, seed: int, *, n_samples: int = N_SAMPLES
) -> tuple[Network, Table]:
    """Return a network and rows of it as the paper makes them; a trial is the same table in every item.

    Each element of Θ, diagonal included, is non-zero with one probability and then uniform on [−1, 1]. One chain of the
    Gibbs sampler gives the rows: 1000 sweeps are discarded, each of the next ``n_samples`` is a row.
    """
    network_seed, chain_seed = np.random.SeedSequence([seed, p, round(1000 * probability), trial]).spawn(2)
    model = simulate.random_network(p, probability, random_state=network_seed)
    return model, sample(model, n_samples, chain_seed)


def sample(model: Network, n_samples: int, seed: np.random.SeedSequence) -> Table:
    """Return rows of a network, from one chain."""
    return simulate.gibbs_sample(model, n_samples, burn_in=BURN_IN, random_state=seed, n_threads=1)


def sparse_table(p: int, trial: int, seed: int, *, n_samples: int, degree: float) -> Table:
    """Return rows of a network with a given expected number of neighbors, drawn as in the paper otherwise.

    The fields make every column 1 in half of the rows, so that no column of a large table is rare.
    """
    network_seed, chain_seed = np.random.SeedSequence([seed, p, 10_000 + round(degree), trial]).spawn(2)
    drawn = simulate.random_network(p, min(degree / (p - 1), 1.0), random_state=network_seed)
    model = Network.from_couplings(drawn.couplings, -0.5 * np.asarray(drawn.couplings.sum(axis=1)).ravel())
    # One chain per hundred rows: independent starts, and the sampler is done in a moment.
    return simulate.gibbs_sample(
        model, n_samples, burn_in=200, n_chains=max(n_samples // 100, 1), random_state=chain_seed
    )
