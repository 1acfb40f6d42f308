"""Bootstraps and comparisons of groups come back from a file as they were."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp

from isinglass import EBIC, bootstrap, compare_groups, load, save, simulate
from isinglass.errors import DataError

X = simulate.exact_sample(simulate.chain_network(5, strength=1.5, fields="balanced"), 150, random_state=1)


def same(one, two):
    if sp.issparse(one):
        return one.format == two.format and (abs(one - two)).nnz == 0
    if isinstance(one, np.ndarray):
        return one.dtype == two.dtype and np.array_equal(one, two, equal_nan=one.dtype.kind == "f")
    if isinstance(one, tuple):
        return len(one) == len(two) and all(map(same, one, two))
    if dataclasses.is_dataclass(one) and not hasattr(one, "changed"):  # settings compare by their fields
        return all(same(getattr(one, f.name), getattr(two, f.name)) for f in dataclasses.fields(one))
    return one == two or (one != one and two != two)


@pytest.mark.parametrize("kind", ["rows", "case-drop"])
def test_a_bootstrap_comes_back(kind, tmp_path):
    found = bootstrap(X, EBIC(alphas=5), n_boot=12, kind=kind, random_state=0)
    save(found, tmp_path / "b.npz")
    again = load(tmp_path / "b.npz")
    assert same(found, again)
    assert repr(again) == repr(found)
    for name, column in found.edges().items():
        np.testing.assert_array_equal(again.edges()[name], column)


def test_a_comparison_comes_back(tmp_path):
    found = compare_groups(X, np.tile(["a", "b"], 75), EBIC(alphas=5), n_permutations=9, random_state=0)
    save(found, tmp_path / "c.npz")
    again = load(tmp_path / "c.npz")
    assert same(found, again)
    assert again.method == found.method
    assert (again.p_structure, again.p_strength) == (found.p_structure, found.p_strength)


@pytest.mark.parametrize(
    "change",
    [
        lambda b: {"kind": "columns"},
        lambda b: {"dropped": b.dropped[1:]},
        lambda b: {"edge_index": b.edge_index + 4},
        lambda b: {"draws": b.draws[:, 1:]},
    ],
)
def test_parts_that_do_not_fit_are_refused(change):
    found = bootstrap(X, 0.05, n_boot=4, random_state=0)
    with pytest.raises(DataError, match=r"bootstrap|edge_index must name nodes"):
        dataclasses.replace(found, **change(found))


def test_what_cannot_be_saved(tmp_path):
    with pytest.raises(DataError, match="Only a fit, a fitted estimator, a network, a bootstrap"):
        save([1, 2], tmp_path / "x.npz")
