"""Model files of networks with categories: what comes back, the counts in them, and damaged files."""

import io
import json
import zipfile
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from networks import make_network
from test_categories import mixed_network

from isinglass import Fit, Network, ising_path, load, read_categories, save
from isinglass.errors import DataError
from isinglass.results import Path, Solution

rng = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "mood": pd.Categorical(rng.choice(["low", "mid", "high"], 80), ["low", "mid", "high", "never"], ordered=True),
        "age": rng.integers(1, 6, 80),
        "vote": rng.integers(0, 2, 80),
        "home": rng.choice(["yes", "no"], 80),
    }
)
TABLE = read_categories(FRAME, kinds={"age": "ordinal", "home": "nominal"})


def fit_of(table=TABLE, n_alphas=3):
    path = ising_path(table, n_alphas)
    asked = {"method": "joint", "settings": {}, "criterion": "ebic", "choice": {}, "chosen": "ebic", "tol": 1e-7}
    return Fit.of(path[-1], table, path=path, **asked)


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
    assert [solution.network for solution in again.path] == [solution.network for solution in fit.path]
    for one, two in zip((*fit.marginals, *fit.edge_counts), (*again.marginals, *again.edge_counts), strict=True):
        assert one.dtype == two.dtype
        assert np.array_equal(one, two)
    read = again.read(FRAME.iloc[::-1].assign(other="?"))
    assert np.array_equal(read.codes, TABLE.codes[::-1])
    assert list(again.edges()) == ["source", "target", "coupling", "sign", "weight"]


def test_paths_with_blocks_come_back(tmp_path):
    path, (_, twin, *_) = nominal_path(), mixed_network()
    table = read_categories(twin.X, kinds=["nominal", "ordinal", "binary", "nominal"])
    asked = {"method": "joint", "settings": {}, "criterion": None, "choice": {}, "chosen": "given", "tol": 1e-7}
    fit = Fit.of(path[1], table, path=path, **asked)
    fit.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    assert [solution.network for solution in again.path] == [solution.network for solution in fit.path]


@pytest.mark.parametrize("weight", [None, rng.integers(0, 3, 80).astype(float), rng.random(80)])
def test_counts_are_those_of_the_rows(weight):
    table = read_categories(FRAME, kinds={"age": "ordinal", "home": "nominal"})
    object.__setattr__(table, "sample_weight", weight)
    fit = fit_of(table)
    unit = np.ones(80) if weight is None else weight
    if (unit % 1).any():  # sampling weights count as many rows as they are worth
        unit = unit * unit.sum() / (unit @ unit)
    assert fit.n_rows == pytest.approx(unit.sum())
    for s, shares in enumerate(fit.marginals):
        expected = [unit[table.codes[:, s] == k].sum() / unit.sum() for k in range(len(shares))]
        np.testing.assert_allclose(shares, expected)
    for (s, t), counts in zip(fit.network.edge_index.tolist(), fit.edge_counts, strict=True):
        seen = Counter()
        for row, w in zip(table.codes.tolist(), unit.tolist(), strict=True):
            seen[row[s], row[t]] += w
        expected = [[seen[k, m] for m in range(counts.shape[1])] for k in range(counts.shape[0])]
        np.testing.assert_allclose(counts, expected)
        assert counts.dtype.kind == ("f" if weight is not None and (weight % 1).any() else "i")


def test_labels_that_a_file_cannot_hold(tmp_path):
    network = make_network([[0, 1]], [[0, 1]], np.empty((0, 2), int), [], categories=[(pd.Timestamp(0), "b")])
    with pytest.raises(DataError, match="numbers or text"):
        save(network, tmp_path / "net.npz")


def entries(fitted, folder):
    save(fitted, folder / "model.npz")
    with zipfile.ZipFile(folder / "model.npz") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def changed_header(part, **changes):
    def change(found):
        header = json.loads(found["header.json"])
        header[part] = {**header[part], **changes}
        return {**found, "header.json": json.dumps(header).encode()}

    return change


def changed_array(name, edit):
    def change(found):
        buffer = io.BytesIO()
        np.lib.format.write_array(buffer, edit(np.load(io.BytesIO(found[f"{name}.npy"]))), version=(1, 0))
        return {**found, f"{name}.npy": buffer.getvalue()}

    return change


def coding_of(rule):
    """Replace the rule of the first column."""

    def change(found):
        header = json.loads(found["header.json"])
        parts = dict(header["coding"]["mapping"])
        parts["columns"] = [[0, {"tuple": rule}]]
        header["coding"] = {"mapping": list(parts.items())}
        return {**found, "header.json": json.dumps(header).encode()}

    return change


SCORES = {"tuple": [0.0, 1.0, 2.0]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (changed_header("categories", kinds=["ordinal"]), "one word per column"),
        (changed_header("categories", kinds=["cardinal"] * 4), "kinds must be binary"),
        (changed_header("categories", kinds=None), "no kinds"),
        (changed_header("categories", labels=[["a"]] * 4), "2 to 256"),
        (changed_header("categories", labels=[["a"] * 257] * 4), "2 to 256"),
        (changed_header("categories", labels=[["a", "b"]] * 4), "scores has shape"),
        (changed_header("categories", labels=[["a", "b"]] * 3), "not called by numbers or text"),
        (changed_header("categories", labels=[3] * 4), "not called by numbers or text"),
        (changed_header("categories", kinds=["nominal"] * 4), "nominal column"),
        (changed_header("categories", kinds=["binary"] * 4), "is binary"),
        (changed_array("fields", lambda a: a[:-1]), "fields has shape"),
        (changed_array("fields", lambda a: a * np.nan), "fields is not finite"),
        (changed_array("scores", lambda a: a[:-1]), "scores has shape"),
        (changed_array("scores", lambda a: a + np.inf), "scores is not finite"),
        (changed_array("parameters", lambda a: np.ones(99)), "parameters has shape"),
        (changed_array("path.parameters", lambda a: np.ones(99)), "path.parameters has shape"),
        (changed_array("path.fields", lambda a: a[:, 1:]), "path.fields has shape"),
        (changed_array("marginals", lambda a: a + 1), "not in"),
        (changed_array("edge_counts", lambda a: a - 99), "not counts"),
        (changed_array("edge_counts", lambda a: a[:-1]), "edge_counts has shape"),
        (coding_of(["ordinal", {"tuple": ["a", "b", "c"]}, SCORES]), "cannot be read"),
        (coding_of(["cardinal", {"tuple": ["a", "b", "c"]}, SCORES, {"tuple": []}]), "coding is not one"),
        (coding_of(["ordinal", {"tuple": ["a", "a", "c"]}, SCORES, {"tuple": []}]), "categories that are none"),
        (coding_of(["ordinal", {"tuple": ["a", "b", "c"]}, None, {"tuple": []}]), "categories that are none"),
        (coding_of(["ordinal", {"tuple": ["a", "b", "c", "d"]}, SCORES, {"tuple": []}]), "scores that are none"),
    ],
)
def test_damaged_files(change, message, tmp_path):
    found = entries(fit_of(), tmp_path)
    path = tmp_path / "damaged.npz"
    for part, fine in ((found, True), (change(dict(found)), False)):
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in part.items():
                archive.writestr(name, data)
        if fine:
            load(path)
    with pytest.raises(DataError, match=message):
        load(path)


def test_blocks_must_match_their_norms(tmp_path):
    found = entries(mixed_network()[0], tmp_path)
    path = tmp_path / "damaged.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in changed_array("parameters", lambda a: a * 2)(found).items():
            archive.writestr(name, data)
    with pytest.raises(DataError, match="those of the parameters"):
        load(path)
