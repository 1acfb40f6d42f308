"""Networks with categories: the conditionals of the slow twin, blocks, signs, and what is refused."""

from itertools import product

import numpy as np
import pytest
from networks import log_probabilities, make_network, make_table
from reference_discrete import Discrete

from isinglass import Network, ising_path
from isinglass.errors import DataError
from isinglass.select.sandwich import _points
from isinglass.solve.path import alpha_max

KINDS = ["nominal", "ordinal", "binary", "nominal"]
LEVELS = [3, 4, 2, 4]


def mixed_network(seed=0):
    """A random network of all kinds, with the twin's Theta; the twin has the scores of its rows."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.permuted(np.resize(np.arange(q), 40)) for q in LEVELS])
    twin = Discrete(X, KINDS, LEVELS)
    theta = {pair: rng.normal(size=block.shape) for pair, block in twin.null()[0].items()}
    fields = [np.append(0.0, rng.normal(size=q - 1)) for q in LEVELS]
    lines = [KINDS[s] != "nominal" for s in range(4)]
    corners = [np.ones((1, 1)) if lines[s] else twin.scores[s] for s in range(4)]
    blocks = [corners[s] @ theta[s, t] @ corners[t].T for s, t in twin.pairs]
    scores = [twin.scores[s][:, 0] if lines[s] else None for s in range(4)]
    return make_network(fields, scores, twin.pairs, blocks=blocks), twin, theta, fields


def test_conditionals_are_those_of_the_slow_twin():
    network, twin, theta, fields = mixed_network()
    expected = twin.probabilities(theta, fields)
    for mine, logs, other in zip(
        network.probabilities(twin.X), log_probabilities(network, twin.X), expected, strict=True
    ):
        np.testing.assert_allclose(mine, other, atol=1e-13)
        np.testing.assert_allclose(logs, np.log(other), atol=1e-12)
    assert -network.log_pseudolikelihood(twin.X).mean() == pytest.approx(twin.loss(theta, fields), rel=1e-13)


@pytest.mark.parametrize("q", [2, 3, 7])
def test_corners_of_a_simplex_are_apart_by_1_and_centered(q):
    points = _points(None, np.ones(q, dtype=bool))
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    np.testing.assert_allclose(distances, 1.0 - np.eye(q), atol=1e-14)
    np.testing.assert_allclose(points.sum(axis=0), 0.0, atol=1e-14)


def test_values_are_what_is_penalized():
    network, _, theta, _ = mixed_network(1)
    assert network.kinds == tuple(KINDS)
    for pair, value, signed in zip(network.edge_index.tolist(), network.edge_values, network.edge_signs, strict=True):
        block = theta[tuple(pair)]
        assert (signed != 0) == (block.size == 1)
        assert value == pytest.approx(block.item() if signed else np.linalg.norm(block), rel=1e-12)
    signs = network.edges()["sign"]
    assert (signs == 0).sum() == 5
    only = np.full(4, np.nan)  # nominal nodes have no edge with a sign
    only[[1, 2]] = theta[1, 2].item()
    np.testing.assert_allclose(network.expected_influence, only)


def test_the_energy_gives_the_conditionals():
    network, twin, *_ = mixed_network(2)
    rows = np.array(list(product(*map(range, LEVELS))))
    joint = np.exp(-network.energy(rows)).reshape(LEVELS)
    row = twin.X[:1]
    for s, P in enumerate(network.probabilities(row)):
        place = tuple(slice(None) if t == s else row[0, t] for t in range(4))
        np.testing.assert_allclose(P[0], joint[place] / joint[place].sum(), rtol=1e-12)


def test_pairs_are_put_in_order_and_zeros_left_out():
    block = np.array([[1.0], [0.0], [-1.0]])
    fields, scores = [[0, 0], [0, 0, 0], [0, 1]], [[0, 1], None, [0, 1]]
    network = make_network(fields, scores, [[1, 0], [2, 0], [2, 1]], blocks=[block, [[0.0]], block.T])
    assert network.edge_index.tolist() == [[0, 1], [1, 2]]
    assert [B.shape for B in network.blocks] == [(1, 3), (3, 1)]
    np.testing.assert_allclose(network.edge_values, 2.0)
    other = network.with_names(["a", "b", "c"])
    assert other.names == ("a", "b", "c")
    assert other.kinds == network.kinds
    assert other != network
    assert other.with_names(network.names) == network
    assert network != Network([0, 0, 0], network.edge_index, network.edge_values)
    assert repr(network) == "Network(3 nodes, 2 edges: x0–x1 2, x1–x2 2)"


def test_a_flat_list_of_parameters_is_a_flat_vector():
    one, other = (Network([0, 0], [[0, 1]], pair_parameters=given) for given in ([2.0], np.array([2.0])))
    assert one == other
    assert one.edge_values.tolist() == [2.0]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"blocks": None, "edge_values": [1.0]}, "pair_parameters must be given"),
        ({"blocks": None}, "Exactly one of pair_values and pair_parameters must be given"),
        ({"edge_values": [3.0]}, "Exactly one of pair_values and pair_parameters must be given"),
        ({"blocks": [[[1.0, 0.0, -1.0]]] * 2}, "one block per pair"),
        ({"blocks": np.ones(4)}, "entries of all blocks"),
        ({"blocks": [[[1.0]]]}, r"in place of \(1, 3\)"),
        ({"blocks": [[[1.0, np.nan, 0.0]]]}, "finite"),
        ({"categories": [(0, 1), ("a", "b")]}, "one value per node"),
        ({"edge_index": [[0, 0]]}, "two different nodes"),
        ({"edge_index": [[0, 7]]}, "nodes from 0 to 1"),
        ({"edge_index": [[0], [1]]}, r"pairs must be integers of shape \(n_pairs, 2\); got int\d+ \(2, 1\)"),
        ({"edge_index": [[0.9, 1.0]]}, r"pairs must be integers of shape \(n_pairs, 2\); got float64"),
    ],
)
def test_bad_networks(changed, message):
    parts = {
        "category_fields": [[0, 0], [0, 0, 0]],
        "scores": [[0, 1], None],
        "edge_index": [[0, 1]],
        "blocks": [[[1.0, 0.0, -1.0]]],
    }
    make_network(**parts)
    with pytest.raises(DataError, match=message):
        make_network(**{**parts, **changed})


def test_a_path_keeps_what_categories_are_called():
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.integers(0, q, 60) for q in (3, 2)]).astype(np.uint8)
    table = make_table(codes, "ordinal", categories=[("low", "mid", "high"), ("no", "yes")], names=("a", "b"))
    path = ising_path(table, 3)
    assert path[0].network.categories == (("low", "mid", "high"), ("no", "yes"))
    assert path[0].network.kinds == ("ordinal", "binary")
    assert path.alphas[0] == alpha_max(table)
    same = ising_path(codes, 3, kinds="ordinal")
    assert path[-1].edge_values.tobytes() == same[-1].edge_values.tobytes()
    weight = rng.integers(1, 4, 60).astype(float)
    weighted = ising_path(make_table(codes, "ordinal", sample_weight=weight), path.alphas)
    expected = ising_path(table[np.repeat(np.arange(60), weight.astype(int))], path.alphas)
    np.testing.assert_allclose(weighted[-1].couplings, expected[-1].couplings, atol=1e-6)
    with pytest.raises(DataError, match="kinds must be given where the table is read"):
        ising_path(table, 3, kinds="nominal")
    with pytest.raises(DataError, match="device"):
        ising_path(table, 3, device="cuda")


# ------------------------------------------------------------------------------------------- units of other packages


def dummy_coefficients(block):
    """What a multinomial lasso with hardly any penalty finds for dummies of all columns but the first."""
    D = block[:, 1:] - block[:, :1]
    return D - np.median(D, axis=0)


def test_units_of_mgm():
    block = np.array([[1.1, -0.5, -0.6], [-0.3, 1.0, -0.7], [-0.8, -0.5, 1.3]])
    beta = dummy_coefficients(block)
    # What R's glmnet 4.1.6 returns for the table of these probabilities at lambda = 1e-7.
    np.testing.assert_allclose(beta, [[-1.9, -1.3], [1.0, 0.0], [0.0, 2.5]], atol=1e-12)
    fields = [np.array([0.0, 0.2, -0.3]), np.zeros(3)]
    network = make_network(fields, [None, None], [(0, 1)], None, ["s", "t"], blocks=[block])
    X = np.array([[0, 0], [0, 1], [0, 2]], dtype=np.uint8)
    ours = network.probabilities(X)[0]
    logits = fields[0] + block[:, 0] + np.vstack([np.zeros(3), beta.T])  # rows: categories of t
    np.testing.assert_allclose(np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True), ours, rtol=1e-12)
    for shift in (-0.3, -1e-3, 1e-3, 0.3):  # no other way to write the same probabilities has a smaller sum
        assert (np.abs(beta + shift).sum(axis=0) >= np.abs(beta).sum(axis=0)).all()
    theta = 1.2  # two yes/no columns: half of the coupling
    np.testing.assert_allclose(np.abs(dummy_coefficients(theta * np.outer([0, 1], [0, 1]))), theta / 2)


def test_units_of_bgms():
    theta, fields = 0.4, [np.array([0.0, 0.3, -0.2]), np.array([0.0, 0.1, 0.5, 0.2])]
    scores = [np.arange(3.0), np.arange(4.0)]
    network = make_network(fields, scores, [(0, 1)], [theta], ["s", "t"])
    X = np.array([[0, j] for j in range(4)], dtype=np.uint8)
    omega = theta / 2
    logits = fields[0] + 2 * omega * np.outer(np.arange(4), np.arange(3))
    expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(network.probabilities(X)[0], expected, rtol=1e-12)
