"""The two identities that the paper states, on random tables and parameters."""

import numpy as np
import objectives as objective
import pytest

from paper.published import stacked_design


def random_problem(seed, p=6):
    """Return a table, a symmetric matrix of couplings and fields."""
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=(p, p))
    theta = theta + theta.T
    fields = theta.diagonal().copy()
    return rng.integers(0, 2, (40, p)).astype(np.uint8), theta - np.diag(fields), fields


@pytest.mark.parametrize("seed", range(5))
def test_node_wise_objectives_at_half_lambda_sum_to_the_joint_one(seed):
    X, couplings, fields = random_problem(seed)
    margins = X @ couplings + fields
    losses = (np.logaddexp(0.0, margins) - X * margins).mean(axis=0)
    nodes = losses + 0.3 / 2 * np.abs(couplings).sum(axis=1)
    assert nodes.sum() == pytest.approx(objective.value(X, couplings, fields, 0.3), rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_stacked_objective_is_the_joint_one_only_with_every_pair_counted_once(seed):
    X, couplings, fields = random_problem(seed)
    design, response = stacked_design(X)
    linear = design @ np.r_[couplings[np.tril_indices(len(fields), -1)], fields]
    loss = (np.logaddexp(0.0, linear) - response * linear).sum() / len(X)
    joint = objective.value(X, couplings, fields, 0.3)
    once, twice = (loss + 0.3 * np.abs(pairs).sum() for pairs in (np.triu(couplings), couplings))
    assert once == pytest.approx(joint, rel=1e-12)
    assert twice > joint * 1.01  # as the paper prints it
