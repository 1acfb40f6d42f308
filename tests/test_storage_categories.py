"""Model files of networks with categories: what comes back, the counts in them, and damaged files."""

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from networks import make_network
from test_categories import mixed_network
from test_storage import forged

from isinglass import Fit, IsingNetwork, Network, as_table, ising_path, load, save
from isinglass.errors import DataError, DataWarning, suppress_warnings
from isinglass.results import Path, Solution
from isinglass.select import EBIC, Choice, Fixed, Method

rng = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "mood": pd.Categorical(rng.choice(["low", "mid", "high"], 80), ["low", "mid", "high", "never"], ordered=True),
        "age": rng.integers(1, 6, 80),
        "vote": rng.integers(0, 2, 80),
        "home": rng.choice(["yes", "no"], 80),
    }
)
TABLE = as_table(FRAME, kinds={"age": "ordinal", "home": "nominal"})


def fit_of(table=TABLE, n_alphas=3):
    path = ising_path(table, n_alphas)
    return Fit.of(Method(selector=EBIC()), Choice(path, len(path) - 1), table)


def nominal_path():
    """A made-up path whose networks have blocks, and none at its sparse end."""
    dense = mixed_network()[0]
    empty = Network(dense.fields, [], [], variables=dense.variables)
    return Path((Solution(empty, 0.3), Solution(dense, 0.1)), tol=1e-7)


def test_networks_come_back(tmp_path):
    labeled = make_network(
        [[0, 1, -1], [0, 2]],
        [None, [0, 1]],
        [[0, 1]],
        blocks=[[[0.5], [0.25], [-0.75]]],
        names=["party", "vote"],
        categories=[("red", "blue", "gräe n"), (0, None)],
    )
    for network in (mixed_network()[0], labeled, ising_path(TABLE, 3)[-1].network):
        save(network, tmp_path / "net.npz")
        again = load(tmp_path / "net.npz")
        assert again == network
        assert [B.tobytes() for B in again.blocks] == [B.tobytes() for B in network.blocks]
        save(again, tmp_path / "two.npz")
        assert (tmp_path / "net.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


def test_fits_come_back(tmp_path):
    fit = fit_of()
    assert fit.network.n_edges
    fit.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    assert again.network == fit.network
    assert again.coding == fit.coding
    assert [solution.network for solution in again.selection.path] == [
        solution.network for solution in fit.selection.path
    ]
    for one, two in zip(
        (fit.data.shares, *fit.data.pair_counts), (again.data.shares, *again.data.pair_counts), strict=True
    ):
        assert one.dtype == two.dtype
        assert np.array_equal(one, two)
    read = again.read(FRAME.iloc[::-1].assign(other="?"))
    assert np.array_equal(read.codes, TABLE.codes[::-1])
    assert list(again.edges()) == ["source", "target", "coupling", "sign", "weight"]


def test_paths_with_blocks_come_back(tmp_path):
    path, (_, twin, *_) = nominal_path(), mixed_network()
    table = as_table(twin.X, kinds=["nominal", "ordinal", "binary", "nominal"])
    fit = Fit.of(Method(selector=Fixed(path[1].alpha)), Choice(path, 1), table)
    fit.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    assert [solution.network for solution in again.selection.path] == [
        solution.network for solution in fit.selection.path
    ]


@pytest.mark.parametrize("weight", [None, rng.integers(0, 3, 80).astype(float), rng.random(80)])
def test_counts_are_those_of_the_rows(weight):
    table = as_table(FRAME, kinds={"age": "ordinal", "home": "nominal"})
    object.__setattr__(table, "sample_weight", weight)
    fit = fit_of(table)
    unit = np.ones(80) if weight is None else weight
    if (unit % 1).any():  # sampling weights count as many rows as they are worth
        unit = unit * unit.sum() / (unit @ unit)
    assert fit.data.n_rows == pytest.approx(unit.sum())
    for s, shares in enumerate(fit.network.variables.split(fit.data.shares)):
        expected = [unit[table.codes[:, s] == k].sum() / unit.sum() for k in range(len(shares))]
        np.testing.assert_allclose(shares, expected)
    for (s, t), counts in zip(fit.network.edge_index.tolist(), fit.data.pair_counts, strict=True):
        seen = Counter()
        for row, w in zip(table.codes.tolist(), unit.tolist(), strict=True):
            seen[row[s], row[t]] += w
        expected = [[seen[k, m] for m in range(counts.shape[1])] for k in range(counts.shape[0])]
        np.testing.assert_allclose(counts, expected)
        assert counts.dtype.kind == ("f" if weight is not None and (weight % 1).any() else "i")


def test_labels_that_a_file_cannot_hold(tmp_path):
    network = make_network([[0, 1]], [[0, 1]], np.empty((0, 2), int), [], categories=[(pd.Timestamp(0), "b")])
    with pytest.raises(DataError, match="numbers and text"):
        save(network, tmp_path / "net.npz")
    assert list(tmp_path.iterdir()) == []


def test_tuples_come_back(tmp_path):
    labels = [((1, 2), ("a", ("b",)))]
    network = make_network([[0, 1]], [[0, 1]], np.empty((0, 2), int), [], categories=labels)
    save(network, tmp_path / "net.npz")
    assert load(tmp_path / "net.npz").categories == tuple(labels)


@pytest.mark.parametrize(
    "column",
    [
        pd.cut(np.arange(90) % 7, 3),  # what a message recommends for numbers
        pd.cut(np.r_[np.arange(89) % 7, 99.0], [0, 2, 4, 6]),  # with a missing cell and rows outside
        pd.Categorical([(1, 2), (3, 4), (5, 6)] * 30),
        pd.Categorical(pd.to_datetime(["2020-01-01", "2021-01-01", "2022-01-01"] * 30)),
    ],
)
def test_categories_that_are_no_numbers_or_text_are_called_by_their_text(tmp_path, column):
    frame = pd.DataFrame({"a": column, "b": np.arange(90) % 2})
    with suppress_warnings(DataWarning):
        fit = IsingNetwork(missing="drop").fit(frame).fit_
    assert fit.network.categories[0] == tuple(map(str, pd.Series(column).cat.categories))
    save(fit, tmp_path / "net.npz")
    again = load(tmp_path / "net.npz")
    assert again.network.categories == fit.network.categories
    with suppress_warnings(DataWarning):
        np.testing.assert_array_equal(again.read(frame, missing="drop").codes, fit.read(frame, missing="drop").codes)


NODES = "solution.network.variables"
WRONG = [
    (f"{NODES}.kinds", ("ordinal",), "one entry per"),
    (f"{NODES}.kinds", ("cardinal",) * 4, 'kinds must be one of "binary"'),
    (f"{NODES}.kinds", None, "Variables.kinds is not tuple"),
    (f"{NODES}.kinds", ("nominal",) * 4, "is nominal"),
    (f"{NODES}.kinds", ("binary",) * 4, "is binary"),
    (f"{NODES}.categories", (("a",),) * 4, "2 to 256"),
    (f"{NODES}.categories", (tuple(range(257)),) * 4, "2 to 256"),
    (f"{NODES}.categories", (("a", "b"),) * 4, "scores"),
    (f"{NODES}.categories", (("a", "b"),) * 3, "one entry per variable"),
    (f"{NODES}.categories", (3,) * 4, "Variables.categories is not"),
    (f"{NODES}.scores.0", (0.0, 1.0, math.inf, 2.0), "one finite number"),
    (f"{NODES}.names", ("a",) * 4, "twice"),
    ("solution.network.fields", lambda a: a[:-1], "fields must be a vector"),
    ("solution.network.fields", lambda a: a * np.nan, "fields must be finite"),
    ("solution.network.pair_parameters", np.ones(99), "parameters"),
    ("selection.path.solutions.2.network.pair_parameters", np.ones(99), "parameters"),
    ("selection.path.solutions.0.network.fields", lambda a: a[1:], "fields must be a vector"),
    ("data.pair_counts", lambda parts: parts[:-1], "counts of a fit"),
    ("coding.columns.0.kind", "cardinal", "got 'cardinal'"),
    ("coding.columns.0.entries", lambda entries: dict.fromkeys(entries, 0), "2 to 256 categories"),
    ("coding.columns.0.scores", None, "one finite number for each"),
    ("coding.columns.0.scores", (0.0, 1.0, 2.0), "one finite number for each"),
]


@pytest.mark.parametrize(("place", "value", "message"), WRONG)
def test_records_that_do_not_fit_together(place, value, message, tmp_path):
    save(forged(fit_of(), place, value), tmp_path / "damaged.npz")
    with pytest.raises(DataError, match=message):
        load(tmp_path / "damaged.npz")
