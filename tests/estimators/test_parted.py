"""Estimators on tables in parts: the fit, scores and predictions of the whole table."""

import numpy as np
import pandas as pd
import pytest

from isinglass import IsingLasso, IsingLassoEBIC, IsingNetwork
from isinglass.data import read_parts
from isinglass.errors import DataError

RNG = np.random.default_rng(0)
X = RNG.integers(0, 2, (400, 6), dtype=np.uint8)
X[:, 1] = X[:, 0] ^ (RNG.random(400) < 0.1)
FRAME = pd.DataFrame(X, columns=list("abcdef"))
PARTS = [FRAME[:100], FRAME[100:250], FRAME[250:]]
WEIGHT = RNG.random(400) + 0.5
WEIGHTS = [WEIGHT[:100], WEIGHT[100:250], WEIGHT[250:]]


@pytest.mark.parametrize("estimator", [IsingLasso(0.05), IsingLassoEBIC(alphas=8), IsingNetwork(keep=0)], ids=repr)
def test_fit_score_and_predict_in_parts(estimator):
    whole = estimator.fit(FRAME, sample_weight=WEIGHT)
    expected = (whole.couplings_, whole.score(FRAME, sample_weight=WEIGHT), whole.predict_proba(FRAME))
    counts, names = whole.edge_counts_, whole.feature_names_in_.tolist()
    parted = estimator.fit(PARTS, sample_weight=WEIGHTS)
    np.testing.assert_allclose(parted.couplings_, expected[0], atol=1e-6)
    np.testing.assert_allclose(parted.edge_counts_, counts)
    assert parted.feature_names_in_.tolist() == names
    assert parted.score(PARTS, sample_weight=WEIGHTS) == pytest.approx(expected[1], abs=1e-6)
    found = parted.predict_proba(PARTS)
    assert [len(part) for part in found] == [100, 150, 150]
    np.testing.assert_allclose(np.concatenate(found), expected[2], atol=1e-6)
    np.testing.assert_array_equal(np.concatenate(parted.predict(PARTS)), parted.predict(FRAME))
    np.testing.assert_allclose(np.concatenate(parted.score_samples(PARTS)), parted.score_samples(FRAME))


def test_other_columns_are_refused_and_leave_nothing():
    net = IsingLasso(0.05).fit(PARTS)
    with pytest.raises(DataError, match="columns of fit in the same order"):
        net.score([part[list("bacdef")] for part in PARTS])
    with pytest.raises(DataError, match="given to read_parts"):
        net.score(read_parts(PARTS), sample_weight=WEIGHTS)
    fresh = IsingLasso(0.05)
    with pytest.raises(DataError, match="part 1: "):
        fresh.fit([PARTS[0], PARTS[1] + 1])
    assert not hasattr(fresh, "fit_")


def test_values_that_stand_for_bits():
    words = FRAME.replace({0: "No", 1: "Yes"})
    net = IsingLasso(0.05, reading={"encode": "auto"}).fit([words[:300], words[300:]])
    assert net.encoding_["a"] == ("No", "Yes")
    assert net.score([words[:300], words[300:]]) == pytest.approx(net.score(words), rel=1e-12)
