import itertools
import math
import pickle
import re
import warnings
from dataclasses import FrozenInstanceError
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from isinglass.data import Table, as_table
from isinglass.errors import DataError
from isinglass.network import Network
from isinglass.pairs import pair_keys, pairs_of, symmetric_matrix, values_at
from isinglass.results import Solution, as_network, fit_of
from isinglass.select.method import Method
from isinglass.select.selector import Fixed
from isinglass.simulate import category_network
from isinglass.variables import Variables

seeds = st.integers(0, 2**31)


def random_model(seed, p=None, scale=1.0):
    rng = np.random.default_rng(seed)
    p = int(rng.integers(1, 6)) if p is None else p
    upper = np.triu(rng.normal(scale=scale, size=(p, p)), 1)
    return Network.from_couplings(upper + upper.T, rng.normal(scale=scale, size=p))


def naive_energy(model, x):
    total = 0.0
    for s in range(model.n_features):
        total -= model.fields[s] * x[s]
        for t in range(s + 1, model.n_features):
            total -= model.couplings[s, t] * x[s] * x[t]
    return total


def naive_conditional(model, x, s):
    """P(x_s = 1 | rest) from the two energies, not from the logit."""
    with_one, with_zero = list(x), list(x)
    with_one[s], with_zero[s] = 1, 0
    one, zero = math.exp(-naive_energy(model, with_one)), math.exp(-naive_energy(model, with_zero))
    return one / (one + zero)


@settings(deadline=None, max_examples=30)
@given(seed=seeds)
def test_energy_conditionals_and_pseudolikelihood_against_loops(seed):
    model = random_model(seed)
    states = list(itertools.product([0, 1], repeat=model.n_features))
    conditionals = np.array([[naive_conditional(model, x, s) for s in range(model.n_features)] for x in states])
    cell = np.where(np.array(states) == 1, conditionals, 1 - conditionals)
    np.testing.assert_allclose(model.energy(states), [naive_energy(model, x) for x in states], atol=1e-12)
    np.testing.assert_allclose(model.conditional_probabilities(states), conditionals, rtol=1e-10)
    np.testing.assert_allclose(model.log_pseudolikelihood(states), np.log(cell).sum(axis=1), rtol=1e-10)


@settings(deadline=None, max_examples=30)
@given(seed=seeds)
def test_both_codings_have_identical_conditionals(seed):
    model = random_model(seed)
    J, h = model.to_spins()
    states = np.array(list(itertools.product([0, 1], repeat=model.n_features)))
    spins = 2 * states - 1
    # In ±1 coding P(z_s = 1 | rest) has logit 2 (h_s + Σ_t J_st z_t).
    in_spins = 1 / (1 + np.exp(-2 * (h + spins @ J)))
    np.testing.assert_allclose(model.conditional_probabilities(states), in_spins, rtol=1e-12)
    spin_energy = -(spins @ h + 0.5 * ((spins @ J) * spins).sum(axis=1))
    shift = model.energy(states) - spin_energy
    np.testing.assert_allclose(shift, shift[0], atol=1e-12)  # the same distribution
    back = Network.from_spins(J, h)
    np.testing.assert_allclose(back.theta, model.theta, atol=1e-14)


def test_spin_formula_by_hand():
    model = Network.from_spins([[0, 0.5], [0.5, 0]], [1.0, -1.0])
    assert model.couplings[0, 1] == 2.0
    assert model.fields.tolist() == [2 * 1.0 - 2 * 0.5, 2 * -1.0 - 2 * 0.5]


@pytest.mark.parametrize("size", [709.0, 800.0, 1e4])
def test_no_overflow_for_large_logits(size):
    model = Network.from_couplings([[0, 2 * size], [2 * size, 0]], [-size, -size])
    X = [[0, 0], [0, 1], [1, 1]]
    np.testing.assert_allclose(model.conditional_probabilities(X), [[0, 0], [1, 0], [1, 1]], atol=1e-300)
    np.testing.assert_allclose(model.log_pseudolikelihood(X), [0.0, -2 * size, 0.0], atol=1e-300)
    assert model.energy(X).tolist() == [0.0, size, 0.0]


def test_construction_copies_freezes_and_names():
    couplings, fields = np.array([[0, 1.0], [1.0, 0]]), np.array([1, 2])
    model = Network.from_couplings(couplings, fields)
    couplings[0, 1] = 5
    assert model.couplings[0, 1] == 1
    assert model.fields.dtype == np.float64
    assert model.names == ("x0", "x1")
    assert (model.n_features, model.n_edges) == (2, 1)
    for array in (model.couplings, model.fields):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(FrozenInstanceError):
        model.names = ("a", "b")


def test_rounding_asymmetry_is_repaired_from_the_upper_triangle():
    model = Network.from_couplings([[0, 1.0], [1.0 + 1e-13, 0]], [0, 0])
    assert model.couplings[1, 0] == model.couplings[0, 1] == 1.0
    tiny = Network.from_couplings([[0, 5e-324], [5e-324, 0]], [0, 0])
    assert tiny.n_edges == 1


def test_theta_round_trip_and_solution():
    theta = np.array([[1.0, 2.0], [2.0, -1.0]])
    model = Network.from_theta(theta, names=["a", "b"])
    np.testing.assert_array_equal(model.theta, theta)
    assert theta[0, 0] == 1.0  # the argument is not changed
    found = Solution.from_dense(0.1, model.couplings, model.fields)
    assert found.network.with_names(["a", "b"]) == model
    assert found.network.names == ("x0", "x1")


def test_edges_strongest_first():
    couplings = np.zeros((4, 4))
    for s, t, value in [(0, 1, 0.5), (1, 3, -2.0), (2, 3, 0.5)]:
        couplings[s, t] = couplings[t, s] = value
    model = Network.from_couplings(couplings, np.zeros(4), names=list("abcd"))
    assert {name: column.tolist() for name, column in model.edges().items()} == {
        "source": ["b", "a", "c"],
        "target": ["d", "b", "d"],
        "coupling": [-2.0, 0.5, 0.5],
        "sign": [-1, 1, 1],
        "weight": [2.0, 0.5, 0.5],
    }
    assert repr(model) == "Network(4 nodes, 3 edges: b–d -2, a–b +0.5, c–d +0.5)"
    assert repr(Network.from_couplings([[0]], [1])) == "Network(1 node, 0 edges)"
    assert repr(random_model(0, p=4)).endswith(", …)")


def test_equality_and_no_hash():
    model = random_model(3, p=3)
    assert model == Network.from_couplings(model.couplings, model.fields)
    assert model != Network.from_couplings(model.couplings, model.fields + 1)
    assert model != Network.from_couplings(model.couplings, model.fields, names=["a", "b", "c"])
    assert model != random_model(3, p=4)
    assert model != "model"
    with pytest.raises(TypeError, match="unhashable"):
        hash(model)


def test_one_node():
    model = Network.from_couplings([[0.0]], [0.0])
    assert len(model.edges()["source"]) == 0
    assert model.conditional_probabilities([[0], [1]]).tolist() == [[0.5], [0.5]]


OK = [[0.0, 1.0], [1.0, 0.0]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ([[0, 1], [2, 0]], [0, 0]),
            r"couplings must be symmetric; got 1\.0 at \(0, 1\) and 2\.0 at \(1, 0\). Average",
        ),
        (([[0, 1], [-1, 0]], [0, 0]), "couplings must be symmetric"),
        (([[1, 0], [0, 0]], [0, 0]), r"couplings must be zero on the diagonal; got 1\.0. Put .*from_theta"),
        (([[0, np.nan], [np.nan, 0]], [0, 0]), "couplings must be finite; got nan"),
        (([[0, np.inf], [np.inf, 0]], [0, 0]), "couplings must be finite; got inf"),
        ((np.zeros((2, 3)), [0, 0]), r"couplings must be a square matrix with at least one row; got shape \(2, 3\)"),
        ((np.zeros(2), [0, 0]), "couplings must be a square matrix"),
        ((OK, [0, 0, 0]), r"couplings must have one row per field \(3\); got 2"),
        ((OK, [0, -np.inf]), "fields must be finite; got -inf"),
        ((OK, [[0, 0]]), r"fields must be a vector; got shape \(1, 2\)"),
        ((np.zeros((0, 0)), []), "couplings must be a square matrix with at least one row"),
        ((OK, ["a", "b"]), "fields must be an array of numbers; got"),
        (([[0], [1, 2]], [0, 0]), "couplings must be an array of numbers; got"),
        ((OK, [0, 0], ["a", "a"]), "names must be different from each other; got 'a' twice"),
        ((OK, [0, 0], ["a"]), r"names must have one entry per variable \(2\); got 1"),
        ((OK, [0, 0], ["a", 1]), "names must be strings; got 1. Use"),
        ((OK, [0, 0], "ab"), "names must be a list of strings, one per variable; got 'ab'"),
    ],
)
def test_bad_models_are_explained(arguments, message):
    with pytest.raises(DataError, match=message):
        Network.from_couplings(*arguments)


def test_bad_theta_and_spins_are_called_by_their_name():
    with pytest.raises(DataError, match="theta must be symmetric"):
        Network.from_theta([[0, 1], [0, 0]])
    with pytest.raises(DataError, match="J must be symmetric"):
        Network.from_spins([[0, 1], [0, 0]], [0, 0])
    with pytest.raises(DataError, match="h must be finite"):
        Network.from_spins(OK, [0, np.nan])


def test_fields_are_found_by_the_names_of_a_matrix():
    matrix = pd.DataFrame([[0, 1.5], [1.5, 0]], ["a", "b"], ["a", "b"])
    fields = pd.Series({"b": 2.0, "a": 1.0})
    assert Network.from_couplings(matrix, fields).fields.tolist() == [1.0, 2.0]
    assert Network.from_couplings(matrix, fields.to_numpy()).fields.tolist() == [2.0, 1.0]
    assert Network.from_couplings(matrix.to_numpy(), fields).fields.tolist() == [2.0, 1.0]  # there are no names
    assert Network.from_spins(matrix, fields) == Network.from_spins(matrix, fields[["a", "b"]])
    with pytest.raises(DataError, match="fields must be labeled by the names of the nodes"):
        Network.from_couplings(matrix, fields.rename({"a": "c"}))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"pair_parameters": 5}, r"pair_parameters must be a vector; got shape \(\)"),
        ({"pair_parameters": np.array(5)}, r"pair_parameters must be a vector; got shape \(\)"),
        ({"pair_parameters": [[1, 2, 3]]}, r"pair_parameters must have one block .* got \(3,\) in place of \(3, 1\)"),
        ({"pair_values": [[1]]}, r"pair_values must be a vector; got shape \(1, 1\)"),
        ({"pair_values": [1], "variables": "nominal"}, "variables must be a Variables, as Variables.of returns it"),
    ],
)
def test_what_a_network_is_made_of_is_checked(given, message):
    kinds = ["binary" if "pair_values" in given else "nominal", "binary"]
    sizes = [2 if "pair_values" in given else 3, 2]
    with pytest.raises(DataError, match=message):
        Network([0] * (sum(sizes) - 2), [[0, 1]], **{"variables": Variables.of(sizes, kinds), **given})


def test_what_needs_two_values_names_what_takes_categories():
    network = Network(
        [0, 0, 0], [[0, 1]], pair_parameters=[1.0, -1.0, 0.0], variables=Variables.of([3, 2], ["nominal", "binary"])
    )
    with pytest.raises(DataError, match=r"3 categories\. Use coordinate_couplings and category_fields"):
        network.theta  # noqa: B018
    with pytest.raises(DataError, match="Use coordinate_couplings"):
        network.to_spins()
    with pytest.raises(DataError, match=r"Use probabilities\(X\), which takes categories"):
        network.conditional_probabilities([[0, 0]])


@pytest.mark.parametrize("method", ["conditional_probabilities", "log_pseudolikelihood", "energy"])
def test_bad_tables(method):
    model = Network.from_couplings(OK, [0, 0])
    with pytest.raises(DataError, match="X must have the 2 columns of the fitted table or network; got 3"):
        getattr(model, method)(np.zeros((1, 3)))
    with pytest.raises(DataError, match="X must hold only 0 and 1; got -1"):
        getattr(model, method)([[-1, 1]])


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_columns_of_frames_are_found_by_name(library):
    module, states = pytest.importorskip(library), np.array(list(itertools.product([0, 1], repeat=3)))
    model = random_model(3, p=3).with_names(["a", "b", "c"])
    cells = {name: states[:, "abc".index(name)].tolist() if name in "abc" else [7] * 8 for name in "cbxa"}
    frame = module.table(cells) if library == "pyarrow" else module.DataFrame(cells)
    np.testing.assert_array_equal(model.conditional_probabilities(frame), model.conditional_probabilities(states))
    unnamed = random_model(3, p=4)
    expected = unnamed.energy(states[:, [2, 1, 0, 0]])
    cells["x"] = cells["a"]
    frame = module.table(cells) if library == "pyarrow" else module.DataFrame(cells)
    np.testing.assert_array_equal(unnamed.energy(frame), expected)
    with pytest.raises(DataError, match="'d' cannot be found"):
        model.with_names(["a", "b", "d"]).energy(frame)


def test_columns_of_tables_are_found_by_name():
    states = np.array(list(itertools.product([0, 1], repeat=3)))
    model = random_model(3, p=3).with_names(["a", "b", "c"])
    table = as_table(states[:, [2, 0, 1, 0]], names=["c", "a", "b", "x"])
    np.testing.assert_array_equal(model.energy(table), model.energy(states))
    assert model.table(table).names == ("a", "b", "c")
    with pytest.raises(DataError, match="'b' cannot be found"):
        model.energy(table.take([0, 1, 3]))


@pytest.mark.parametrize("kind", ["ordinal", "nominal"])
def test_tables_of_other_categories_are_refused(kind):
    """A code beyond the categories of its column would be a place of the next column."""
    model = category_network(random_model(0, 2), [kind, "binary"], 3, random_state=0)
    variables = Variables.of([("a", "b", "c"), 2], [kind, "binary"], names=["n", "x"])
    labelled = Network.trusted(variables, model.fields, model.pairs, model.pair_parameters)
    codes = np.array([[0, 1], [2, 0], [1, 1]], dtype=np.uint8)

    def table(*values):
        return Table(codes, Variables.of([values, 2], [kind, "binary"], names=["n", "x"]))

    wanted = r"column 'n' must have the categories of the network, 'a', 'b', 'c'; got "
    for values, got in (("abcde", "'a', 'b', 'c', 'd', 'e'"), ("xyz", "'x', 'y', 'z'")):
        with pytest.raises(DataError, match=wanted + got):
            labelled.log_pseudolikelihood(table(*values))
    np.testing.assert_array_equal(labelled.energy(table(*"abc")), model.energy(codes))
    reversed_codes = np.column_stack([2 - codes[:, 0], codes[:, 1]])
    np.testing.assert_array_equal(labelled.energy(table(*"cba")), model.energy(reversed_codes))  # found by value
    np.testing.assert_array_equal(labelled.energy(table(0, 1, 2)), model.energy(codes))  # numbers of categories
    np.testing.assert_array_equal(model.with_names(["n", "x"]).energy(table(*"xyz")), model.energy(codes))


@pytest.mark.parametrize("kind", ["ordinal", "nominal"])
def test_forms_of_two_values_refuse_categories(kind):
    model = category_network(random_model(0, 3), ["binary", kind, "binary"], 3, random_state=0)
    for form in (lambda: model.theta, model.to_spins):
        with pytest.raises(DataError, match=f"The network must have columns of two values here; got the {kind} column"):
            form()


# --- sparse -----------------------------------------------------------------------------------------------------------


@given(seed=seeds, p=st.integers(1, 7))
def test_sparse_and_dense_say_the_same(seed, p):
    rng = np.random.default_rng(seed)
    dense = np.triu(rng.normal(size=(p, p)) * (rng.random((p, p)) < 0.5), 1)
    dense = dense + dense.T
    pairs = [(s, t) for s in range(p) for t in range(s + 1, p) if dense[s, t]]
    shuffled = [pairs[k][:: rng.choice([-1, 1])] for k in rng.permutation(len(pairs))]
    network = Network(rng.normal(size=p), shuffled, [dense[pair] for pair in shuffled])
    assert network.edge_index.tolist() == [list(pair) for pair in pairs]
    np.testing.assert_array_equal(network.couplings, dense)
    np.testing.assert_array_equal(network.couplings_sparse.toarray(), dense)
    np.testing.assert_allclose(network.strength, np.abs(dense).sum(axis=1))
    np.testing.assert_allclose(network.expected_influence, dense.sum(axis=1), atol=1e-12)
    assert network.degree.tolist() == (dense != 0).sum(axis=1).tolist()
    assert network == Network.from_couplings(dense, network.fields) == Network.from_theta(network.theta)
    assert network == Network.from_couplings(sp.csr_array(dense), network.fields)
    assert network == as_network(sp.coo_array(network.theta))


def test_zero_couplings_are_no_edges():
    network = Network(np.zeros(3), [[0, 1], [1, 2]], [0.0, 2.0])
    assert network.edge_index.tolist() == [[1, 2]]


def test_a_large_network_does_not_become_dense():
    p = 200_000  # dense: 320 GB
    network = Network(np.zeros(p), [[0, p - 1]], [2.0])
    assert network.degree.sum() == 2
    assert network.log_pseudolikelihood(np.ones((1, p), dtype=np.uint8)).shape == (1,)
    assert network.edges()["target"].tolist() == [f"x{p - 1}"]


@pytest.mark.parametrize(
    ("pairs", "values", "message"),
    [
        ([[0, 3]], [1.0], r"pairs must name nodes from 0 to 2; got \[0, 3\]"),
        ([[-1, 1]], [1.0], "pairs must name nodes"),
        ([[1, 1]], [1.0], r"two different nodes, each pair once; got \[1, 1\]"),
        ([[0, 1], [1, 0]], [1.0, 2.0], r"two different nodes, each pair once; got \[0, 1\]"),
        ([[0, 1]], [1.0, 2.0], r"pair_values must have one value per pair \(1\); got 2"),
        ([0, 1], [1.0], r"pairs must be integers of shape \(n_pairs, 2\)"),
        ([[0.0, 1.0]], [1.0], "pairs must be integers"),
        ([[0, 1]], [np.nan], "pair_values must be finite"),
    ],
)
def test_bad_edges_are_explained(pairs, values, message):
    with pytest.raises(DataError, match=message):
        Network(np.zeros(3), pairs, values)


def test_every_kind_of_result_is_read():
    network = random_model(1, p=5)
    solution = Solution(network, 0.1)
    for source in (network, solution, SimpleNamespace(network_=network), network.theta, sp.csr_array(network.theta)):
        assert as_network(source) == network
    assert as_network(network) is network


def test_a_fit_is_found_in_what_has_one_and_nowhere_else():
    table = as_table([[0, 0], [1, 1], [0, 0], [1, 1], [0, 1]])
    fit = Method(selector=Fixed(0.1)).fit(table)
    assert fit_of(fit) is fit_of(SimpleNamespace(fit_=fit)) is fit
    for other in (table, fit.solution, fit.network, fit.choice, fit.coding, fit.method):
        assert fit_of(other) is None


@pytest.mark.parametrize("source", [SimpleNamespace(), None, "model", {"a": 1}, [[0, 1], [2, 0]], np.zeros((2, 3)), []])
def test_what_is_no_network_is_refused(source):
    with pytest.raises(DataError, match="network must be"):
        as_network(source)


@given(st.integers(2, 8), st.integers(0, 2**31))
def test_pairs_against_a_dense_matrix(p, seed):
    rng = np.random.default_rng(seed)
    dense = np.triu(rng.normal(size=(p, p)) * (rng.random((p, p)) < 0.5), 1)
    pairs = np.argwhere(dense).astype(np.int32)
    keys = pair_keys(pairs, p)
    assert (np.diff(keys) > 0).all()
    np.testing.assert_array_equal(pairs_of(keys, p).reshape(-1, 2), pairs)
    matrix = symmetric_matrix(pairs, dense[tuple(pairs.T)], p)
    np.testing.assert_array_equal(matrix.toarray(), dense + dense.T)
    assert matrix.has_sorted_indices
    over = np.unique(rng.integers(0, p * p, 10))
    np.testing.assert_array_equal(values_at(dense[tuple(pairs.T)], keys, over), dense.ravel()[over])


def test_keys_do_not_overflow():
    p = 100_000
    assert pair_keys(np.array([[p - 2, p - 1]], dtype=np.int32), p).tolist() == [(p - 2) * p + p - 1]


def test_rows_of_a_network_are_not_asked_what_their_columns_mean():
    network = Network.from_couplings(np.zeros((3, 3)))
    rows = np.repeat(np.random.default_rng(0).integers(0, 2, (400, 1)), 3, axis=1)  # copies of one column
    for X in (rows.astype(np.uint8), rows.astype(float), rows.tolist()):
        with warnings.catch_warnings(action="error"):
            np.testing.assert_allclose(network.log_pseudolikelihood(X), -3 * np.log(2))


def test_edges_print_as_a_table_and_are_a_dict_of_arrays():
    edges = Network([0, 0, 0], [[0, 1], [1, 2]], [0.5, -1.25], names=["tea", "rain", "sun"]).edges()
    assert repr(edges).splitlines() == [
        "source  target  coupling  sign  weight",
        "rain       sun    -1.250    -1   1.250",
        "tea       rain     0.500     1   0.500",
    ]
    assert dict(edges)["source"].tolist() == ["rain", "tea"]
    assert pickle.loads(pickle.dumps(edges)).keys() == edges.keys()


def test_categories_are_distinct():
    with pytest.raises(DataError, match=r"column .* must have distinct categories; got \('a', 'b', 'a'\)"):
        Variables.of([["a", "b", "a"]], "nominal")


def test_matrices_with_labels_name_the_nodes():
    frame = pd.DataFrame([[0, 2.0], [2.0, 0]], columns=["rain", "snow"], index=["rain", "snow"])
    for read in (Network.from_couplings, Network.from_theta, lambda J: Network.from_spins(J, [0, 0])):
        assert read(frame).names == ("rain", "snow")
        assert read(frame.reset_index(drop=True)).names == ("rain", "snow")
        with pytest.raises(DataError, match="names of its columns, rain, snow; got snow, rain"):
            read(frame.set_axis(["snow", "rain"]))
    assert Network.from_couplings(frame, names=["a", "b"]).names == ("a", "b")
    assert not Network.from_couplings(pd.DataFrame(frame.to_numpy())).variables.named


def test_blocks_are_centered_and_the_distribution_stays():
    """Otherwise the strength of an edge would depend on how its block is written."""
    rng = np.random.default_rng(0)
    variables = Variables.of([3, 4, 3], ["nominal", "nominal", "ordinal"])
    pairs, blocks = [[0, 1], [2, 0], [1, 2]], [rng.normal(size=shape) for shape in ((3, 4), (1, 3), (4, 1))]
    fields = [rng.normal(size=size) for size in (2, 3, 2)]
    network = Network(fields, pairs, variables=variables, pair_parameters=blocks)
    states = np.array(list(itertools.product(range(3), range(4), range(3))), dtype=np.uint8)
    a, b, c = states.T
    logits = sum(np.r_[0.0, own][column] for own, column in zip(fields, states.T, strict=True))
    logits = logits + blocks[0][a, b] + blocks[1][0, a] * c + blocks[2][b, 0] * c
    expected, found = np.exp(logits), np.exp(-network.energy(states))
    np.testing.assert_allclose(found / found.sum(), expected / expected.sum(), rtol=1e-12)
    for block, (s, t) in zip(network.blocks, network.edge_index.tolist(), strict=True):
        for axis, node in enumerate((s, t)):
            if variables.kinds[node] == "nominal":
                np.testing.assert_allclose(block.sum(axis=axis), 0.0, atol=1e-14)
    again = Network(network.fields, network.pairs, variables=variables, pair_parameters=network.pair_parameters)
    assert again == network
    shifted = [block + shift for block, shift in zip(blocks, (2.0, -3.0, 1.0), strict=True)]
    other = Network(fields, pairs, variables=variables, pair_parameters=shifted)
    np.testing.assert_allclose(other.edge_values, network.edge_values, rtol=1e-12)


def test_blocks_are_centered_also_where_their_means_cancel():
    variables = Variables.of([3, 2, 3], ["nominal", "binary", "nominal"])
    blocks = [[[2.0], [0.0], [1.0]], [[-2.0, 0.0, -1.0]]]  # means 1 and -1, both a field of the node in the middle
    network = Network([0.0] * 5, [[0, 1], [1, 2]], variables=variables, pair_parameters=blocks)
    assert [block.ravel().tolist() for block in network.blocks] == [[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0]]
    assert not network.fields.any()
    np.testing.assert_allclose(network.edge_values, 2.0)


@pytest.mark.parametrize("method", ["energy", "probabilities", "log_conditionals", "log_pseudolikelihood"])
def test_rows_are_values_in_every_container(method):
    variables = Variables.of([(1, 2, 3), ("no", "yes")], ["ordinal", "binary"], names=["a", "b"])
    network = Network([0.3, 0.7, 0.2], [[0, 1]], [1.0], variables=variables)
    ask, numbers, words = getattr(network, method), np.array([[0, 0], [1, 1]], dtype=np.uint8), [[1, "no"], [2, "yes"]]
    by_number = ask(Table(numbers, variables))
    for rows in (words, np.array(words, dtype=object), pd.DataFrame(words, columns=["a", "b"])):
        for value, number in zip(ask(rows), by_number, strict=True):
            np.testing.assert_array_equal(value, number)
    with pytest.raises(DataError, match=r"1, 2, 3; got 0 in column 0"):
        ask(numbers)


def test_bytes_are_values_as_they_are_for_a_fit():
    X = np.random.default_rng(0).integers(1, 5, (200, 3), dtype=np.uint8)  # of five answers, the last never occurs
    fit = Method(selector=Fixed(0.05)).fit(as_table(X, kinds="ordinal"))
    np.testing.assert_array_equal(fit.network.log_pseudolikelihood(X), fit.score_samples(X))


@pytest.mark.parametrize("cell", [np.nan, 2])
def test_messages_about_rows_of_a_network_advise_no_options_of_a_reader(cell):
    with pytest.raises(DataError) as raised:
        Network.from_couplings(OK, [0, 0]).energy([[0, cell]])
    assert not re.search("missing=|encode=|binarize=|drop=", str(raised.value))


def test_names_may_be_an_index_or_an_array():
    matrix = np.array([[0.0, 1.0], [1.0, 0.0]])
    for names in (pd.Index(["a", "b"]), np.array(["a", "b"])):
        assert Network.from_couplings(matrix, names=names).names == ("a", "b")
        assert Network.from_theta(matrix, names=names).names == ("a", "b")
        assert Network.from_spins(matrix, [0.0, 0.0], names=names).names == ("a", "b")


def test_fields_of_a_series_are_found_by_name():
    series, names = pd.Series([1.0, 2.0], index=["b", "a"]), ["a", "b"]
    assert Network(series, [[0, 1]], [1.0], names).fields.tolist() == [2.0, 1.0]
    assert Network(series, [[0, 1]], [1.0], variables=Variables.binary(names)).fields.tolist() == [2.0, 1.0]
    assert Network(series.reset_index(drop=True), [[0, 1]], [1.0], names).fields.tolist() == [1.0, 2.0]
    with pytest.raises(DataError, match="fields must be labeled by the names of the nodes"):
        Network(series, [[0, 1]], [1.0], ["a", "c"])


def test_spins_without_names_are_nodes_without_names():
    J = [[0, 0.25], [0.25, 0]]
    assert not Network.from_spins(J, [0, 0]).variables.named
    assert Network.from_spins(J, [0, 0], ["a", "b"]).names == ("a", "b")
    assert not category_network(Network.from_spins(J, [0, 0])).variables.named
    frame = pd.DataFrame([[0, 1]], columns=["rain", "snow"])  # found by position
    assert Network.from_spins(J, [0, 0]).conditional_probabilities(frame).shape == (1, 2)
