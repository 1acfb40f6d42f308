"""Estimators on tables in parts: the fit, scores and predictions of the whole table."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from isinglass import IsingLasso, IsingLassoEBIC, IsingNetwork, ising_path
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
    counts, names = whole.fit_.data.pair_counts, whole.feature_names_in_.tolist()
    parted = estimator.fit(PARTS, sample_weight=WEIGHTS)
    np.testing.assert_allclose(parted.couplings_, expected[0], atol=1e-6)
    np.testing.assert_allclose(parted.fit_.data.pair_counts, counts)
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


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_scores_and_predictions_take_what_fit_took(kind, tmp_path):
    frames = [part.assign(w=weight) for part, weight in zip(PARTS, WEIGHTS, strict=True)]
    for k, frame in enumerate(frames):
        frame.to_parquet(tmp_path / f"{k}.parquet")
        frame.to_csv(tmp_path / f"{k}.csv", index=False)
    files, pattern = [tmp_path / f"{k}.{kind}" for k in range(3)], str(tmp_path / f"*.{kind}")
    net = IsingLasso(0.05).fit(read_parts(pattern, weights="w"))
    again = IsingLasso(0.05).fit(read_parts(files, weights="w"))
    expected = net.score(FRAME, sample_weight=WEIGHT)
    # Each part of a Parquet table starts a process: there, one way is enough.
    for given in (pattern, files) if kind == "csv" else (pattern,):
        assert net.score(given) == pytest.approx(expected, rel=1e-12)
    assert again.score(pattern) == net.score(pattern)
    assert net.score(PARTS) == pytest.approx(net.score(FRAME), rel=1e-12)  # without the column: weights of 1
    assert net.score(PARTS, sample_weight=WEIGHTS) == pytest.approx(expected, rel=1e-12)
    for given in (pattern, PARTS) if kind == "csv" else (pattern,):
        np.testing.assert_array_equal(np.concatenate(net.predict(given)), net.predict(FRAME))
    with pytest.raises(DataError, match=r"part 1.*columns"):
        net.predict([PARTS[0], PARTS[1].drop(columns="b")])


@pytest.mark.parametrize("header", [True, False])
def test_parts_of_which_columns_were_dropped_are_scored_again(header, tmp_path):
    for k, part in enumerate(PARTS):
        part.assign(note=range(5, 5 + len(part)))[["note", *part]].to_csv(
            tmp_path / f"{k}.csv", index=False, header=header
        )
    files = str(tmp_path / "*.csv")
    net = IsingLasso(0.05).fit(read_parts(files, drop=["note" if header else 0], header=header, id_column=None))
    assert net.score(files) == pytest.approx(IsingLasso(0.05).fit(PARTS).score(PARTS), rel=1e-12)


def test_blocks_of_a_generator_and_of_dask():
    expected = IsingLasso(0.05).fit(PARTS)
    found = IsingLasso(0.05).fit(part for part in PARTS)
    assert found.fit_.network.edge_values.tobytes() == expected.fit_.network.edge_values.tobytes()
    arrays, frames = (
        pytest.importorskip(f"dask.{name}", reason="Dask is not installed (extra: dask)")
        for name in ("array", "dataframe")
    )
    frame = frames.from_pandas(FRAME.assign(w=WEIGHT), npartitions=3)
    net = IsingLasso(0.05).fit(read_parts(frame.drop(columns="w"), sample_weight=frame["w"]))
    expected = net.score(FRAME, sample_weight=WEIGHT)
    assert net.score(frame.drop(columns="w"), sample_weight=frame["w"]) == pytest.approx(expected, rel=1e-12)
    array = arrays.from_array(X, chunks=(150, 3))
    assert net.score(array) == pytest.approx(net.score(FRAME), rel=1e-12)


def test_missing_cells_are_dropped_in_a_fit_and_refused_where_every_row_has_an_answer():
    holes = FRAME.astype(float)
    holes.loc[120, "b"] = np.nan
    net = IsingLasso(0.05, missing="drop").fit([holes[:100], holes[100:]])
    assert net.fit_.data.n_rows == 399
    assert net.score([holes[:100], holes[100:]]) == pytest.approx(net.score(FRAME.drop(index=120)), rel=1e-12)
    with pytest.raises(DataError, match=r"part 1: .*missing"):
        net.predict([holes[:100], holes[100:]])


def test_columns_with_categories_are_refused_in_parts():
    answers = FRAME.assign(a=RNG.integers(0, 3, 400))
    with pytest.raises(DataError, match=r"part 0: .*only 0 and 1.* need one table in memory"):
        IsingLasso(0.05).fit([answers[:200], answers[200:]])
    with pytest.raises(DataError, match=r"kinds.* must not be given for a table in parts"):
        ising_path([answers[:200], answers[200:]], [0.05], kinds={"a": "ordinal"})
    with pytest.raises(DataError, match=r"kinds.* must not be given for a table in parts"):
        IsingLasso(0.05, kinds={"a": "ordinal"}).fit([answers[:200], answers[200:]])


def test_values_that_stand_for_bits():
    words = FRAME.replace({0: "No", 1: "Yes"})
    net = IsingLasso(0.05, encode="auto").fit([words[:300], words[300:]])
    assert net.fit_.coding.encoding["a"] == ("No", "Yes")
    assert net.score([words[:300], words[300:]]) == pytest.approx(net.score(words), rel=1e-12)


@pytest.mark.filterwarnings("ignore::isinglass.errors.ConstantColumnWarning")
@pytest.mark.parametrize("estimator", [IsingLasso(0.05), IsingLassoEBIC(alphas=8), IsingNetwork()], ids=repr)
def test_a_constant_table_in_parts_has_the_empty_network_of_the_whole_one(estimator):
    whole = clone(estimator).fit(np.ones((7, 3), dtype=np.uint8))
    parted = clone(estimator).fit([np.ones((4, 3), dtype=np.uint8), np.ones((3, 3), dtype=np.uint8)])
    assert (parted.network_.n_edges, parted.converged_, parted.alpha_) == (0, True, whole.alpha_)
    np.testing.assert_allclose(parted.network_.fields, whole.network_.fields)
