"""With more rows the selected network comes closer to the true one: a quick version of examples/recovery.py."""

import numpy as np
import pytest

from isinglass import simulate
from isinglass.evaluate.metrics import f1_score
from isinglass.select import select_ebic

MIXED = {"couplings": "mixed", "strength": 1.0, "fields": "balanced", "random_state": 0}
NETWORKS = {
    "chain": simulate.chain_network(12, **MIXED),
    "grid": simulate.grid_network(3, 4, **MIXED),
    "regular": simulate.random_regular_network(12, 3, **MIXED),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_f1_rises_with_the_number_of_rows(name):
    model, scores = NETWORKS[name], []
    for n_rows in (100, 400, 3200):
        tables = [simulate.exact_sample(model, n_rows, random_state=seed) for seed in range(4)]
        choices = [select_ebic(X, alphas=25, relaxed=True).solution for X in tables]
        scores.append(float(np.mean([f1_score(choice, model) for choice in choices])))
    assert scores[0] < scores[1] <= scores[2]
    assert scores[2] >= 0.98
