"""The tables of the study: networks drawn as the paper draws them, and rows sampled from them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from experiments import published
from isinglass import IsingModel, simulate

Table = NDArray[np.uint8]


def paper_table(
    p: int,
    probability: float,
    trial: int,
    seed: int,
    *,
    n_samples: int = published.N_SAMPLES,
    unbalanced: bool = False,
) -> tuple[IsingModel, Table]:
    """Return a network and rows of it as the paper makes them; a trial is the same table in every item.

    Each element of Θ, diagonal included, is non-zero with one probability and then uniform on [−1, 1]. One chain of the
    Gibbs sampler gives the rows: 1000 sweeps are discarded, each of the next ``n_samples`` is a row.
    """
    network_seed, chain_seed = np.random.SeedSequence([seed, p, round(1000 * probability), trial]).spawn(2)
    model = simulate.random_network(p, probability, unbalanced=unbalanced, random_state=network_seed)
    table = simulate.gibbs_sample(model, n_samples, burn_in=published.BURN_IN, random_state=chain_seed, n_threads=1)
    return model, table
