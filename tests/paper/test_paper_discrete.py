"""Other discrete networks: the stacked design against definitions."""

import itertools

import numpy as np
import pytest

from isinglass import Network
from isinglass.solve.published.stacked import stacked_design
from paper import discrete
from paper.contract import Config, Verdict
from paper.tables import read_rows, write_rows


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


def test_rows_and_verdict(tmp_path):
    write_rows(
        tmp_path / "rows.csv", [row for cell in discrete.cells(Config(quick=True)) for row in discrete.run_cell(cell)]
    )
    rows = read_rows(tmp_path / "rows.csv")
    differences = {(row["network"], row["what"]): row["difference"] for row in rows}
    assert differences[discrete.BINARY, "loss"] < 1e-12
    assert differences[discrete.BINARY, "penalised minimum"] < 1e-8
    assert differences[discrete.STATES, "softmax loss"] < 1e-12
    assert [claim.verdict for claim in discrete.claims(rows)] == [Verdict.REMARK]
    assert discrete.draw(rows).axes
    assert "three states" in discrete.section(rows)
    wrong = [dict(row, difference=1.0) for row in rows]
    assert discrete.claims(wrong)[0].verdict is Verdict.NOT


def test_the_minimum_uses_an_interaction_of_three():
    """Otherwise the comparison would say nothing about them."""
    rng = np.random.default_rng([Config.seed, 5])
    (_, _, _), (_, minimum, _) = discrete.check_binary(5, rng)
    rng = np.random.default_rng([Config.seed, 5])
    X = rng.integers(0, 2, (500, 5)).astype(float)
    X[:, -1] = (X[:, 0] * X[:, 1] + rng.random(500) > 0.7).astype(float)
    pairs_only = discrete.minimise_directly(X, list(itertools.combinations(range(5), 2)), 0.02)
    assert pairs_only > minimum + 1e-3
