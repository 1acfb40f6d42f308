"""The tables of the study: networks drawn as the paper draws them, and rows sampled from them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isinglass import Network, simulate
from paper import published

Table = NDArray[np.uint8]


def paper_table(
    p: int,
    probability: float,
    trial: int,
    seed: int,
    *,
    n_samples: int = published.N_SAMPLES,
    unbalanced: bool = False,
) -> tuple[Network, Table]:
    """Return a network and rows of it as the paper makes them; a trial is the same table in every item.

    Each element of Θ, diagonal included, is non-zero with one probability and then uniform on [−1, 1]. One chain of the
    Gibbs sampler gives the rows: 1000 sweeps are discarded, each of the next ``n_samples`` is a row.
    """
    network_seed, chain_seed = np.random.SeedSequence([seed, p, round(1000 * probability), trial]).spawn(2)
    model = simulate.random_network(p, probability, unbalanced=unbalanced, random_state=network_seed)
    table = simulate.gibbs_sample(model, n_samples, burn_in=published.BURN_IN, random_state=chain_seed, n_threads=1)
    return model, table


def sparse_table(
    p: int, trial: int, seed: int, *, n_samples: int = published.N_SAMPLES, degree: float = 5.0
) -> tuple[Network, Table]:
    """Return a network with a given expected number of neighbours, drawn as in the paper otherwise, and rows of it.

    The fields are those that make every column 1 in half of the rows, so that no column of a large table is rare.
    """
    network_seed, chain_seed = np.random.SeedSequence([seed, p, 10_000 + round(degree), trial]).spawn(2)
    drawn = simulate.random_network(p, min(degree / (p - 1), 1.0), random_state=network_seed)
    model = Network.from_couplings(drawn.couplings, -0.5 * np.asarray(drawn.couplings.sum(axis=1)).ravel())
    # One chain per hundred rows: independent starts, and the sampler is done in a moment.
    table = simulate.gibbs_sample(
        model, n_samples, burn_in=200, n_chains=max(n_samples // 100, 1), random_state=chain_seed
    )
    return model, table
