"""With more rows the selected network comes closer to the true one: a quick version of examples/recovery.py."""

import networkx
import numpy as np
import pytest

from isinglass import Method, metrics, simulate
from isinglass.errors import DataError
from isinglass.metrics import edge_confusion

MIXED = {"couplings": "mixed", "strength": 1.0, "fields": "balanced", "random_state": 0}
NETWORKS = {
    "chain": simulate.chain_network(12, **MIXED),
    "grid": simulate.grid_network(3, 4, **MIXED),
    "regular": simulate.graph_network(networkx.random_regular_graph(3, 12, seed=0), **MIXED),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_f1_rises_with_the_number_of_rows(name):
    model, scores = NETWORKS[name], []
    for n_rows in (100, 400, 3200):
        tables = [simulate.exact_sample(model, n_rows, random_state=seed) for seed in range(4)]
        choices = [Method().choose(X).solution for X in tables]
        scores.append(float(np.mean([edge_confusion(choice, model).f1 for choice in choices])))
    assert scores[0] < scores[1] <= scores[2]
    assert scores[2] >= 0.98


def test_networks_with_categories_are_compared_by_their_blocks():
    chain = simulate.chain_network(4, strength=1.0)
    kinds = ["nominal", "ordinal", "ordinal", "nominal"]
    one, two = (simulate.category_network(chain, kinds, 3, random_state=seed) for seed in (0, 1))
    assert metrics.relative_difference(one, one) == 0.0
    total, size = 0.0, 0.0
    for a, b, (s, t) in zip(one.blocks, two.blocks, one.edge_index.tolist(), strict=True):
        factor = 2.0 ** sum(one.variables.scores[node] is None for node in (s, t))  # ‖Θ‖² over ‖B‖²
        total, size = total + factor * ((a - b) ** 2).sum(), size + factor * (b**2).sum()
    fields = [network.category_fields for network in (one, two)]
    total, size = total + ((fields[0] - fields[1]) ** 2).sum(), size + (fields[1] ** 2).sum()
    assert metrics.relative_difference(one, two) == pytest.approx(np.sqrt(total / size))
    assert metrics.edge_confusion(one, two).f1 == 1.0
    with pytest.raises(DataError, match="same categories"):
        metrics.relative_difference(one, chain)
