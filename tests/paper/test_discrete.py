"""Other discrete networks: the stacked design against definitions."""

import itertools

import numpy as np
import pandas as pd
import pytest

from isinglass import Network
from paper import discrete
from paper.evidence import Verdict
from paper.published import stacked_design
from paper.study import Config


def test_pairs_alone_are_the_papers_design():
    X = np.random.default_rng(0).integers(0, 2, (20, 4))
    terms = sorted(itertools.combinations(range(4), 2), key=lambda pair: (pair[1], pair[0]))
    design, response = discrete.stack_terms(X.astype(float), terms)
    expected, ys = stacked_design(X)
    np.testing.assert_array_equal(design.toarray(), expected.toarray())
    np.testing.assert_array_equal(response, ys)


def test_direct_loss_is_the_pseudo_likelihood():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (30, 4))
    terms = list(itertools.combinations(range(4), 2))
    couplings = np.zeros((4, 4))
    point = rng.normal(size=10)
    for value, (s, t) in zip(point, terms, strict=False):
        couplings[s, t] = couplings[t, s] = value
    expected = -Network.from_couplings(couplings, point[6:]).log_pseudolikelihood(X).mean()
    assert discrete.direct_loss(X.astype(float), terms, point) == pytest.approx(expected)


def test_rows_and_verdict():
    rows = pd.DataFrame([row for cell in discrete.cells(Config(quick=True)) for row in discrete.run_cell(cell)])
    differences = rows.set_index(["network", "what"])["difference"]
    assert differences[discrete.BINARY, "loss"] < 1e-12
    assert differences[discrete.BINARY, "penalized minimum"] < 1e-8
    assert differences[discrete.STATES, "softmax loss"] < 1e-12
    assert discrete.facts(rows)["verdicts"] == {"applies": Verdict.REMARK}
    assert discrete.facts(rows.assign(difference=1.0))["verdicts"] == {"applies": Verdict.NOT}


def test_the_minimum_uses_an_interaction_of_three():
    """Otherwise the comparison would say nothing about them."""
    (_, _, _), (_, minimum, _) = discrete.check_binary(5, np.random.default_rng([Config.seed, 5]))
    rng = np.random.default_rng([Config.seed, 5])
    X = rng.integers(0, 2, (500, 5)).astype(float)
    X[:, -1] = X[:, 0] * X[:, 1] + rng.random(500) > 0.7
    pairs_only = discrete.minimize_directly(X, list(itertools.combinations(range(5), 2)), 0.02)
    assert pairs_only > minimum + 1e-3
