"""A frame of answers 1 to 5 means the same to every function: what it means to the fit."""

import warnings

import numpy as np
import pandas as pd
import pytest
from reports import build_report

import isinglass as ig
from isinglass import metrics

N = 160


def answers(points=5, seed=0):
    rng = np.random.default_rng(seed)
    raw = rng.normal(size=(N, 1)) + rng.normal(size=(N, 4)) + (points + 1) / 2
    return pd.DataFrame(np.clip(np.round(raw), 1, points).astype(int), columns=list("abcd"))


FRAME = answers()
TABLE = ig.as_table(FRAME, kinds="ordinal")
NET = ig.IsingLasso(0.05, kinds="ordinal").fit(FRAME)
HOLES = FRAME.astype(float).mask(np.random.default_rng(1).random(FRAME.shape) < 0.1)
METHOD = NET.method

FUNCTIONS = {
    "fit": lambda X: ig.IsingLasso(0.05, kinds="ordinal").fit(X).couplings_,
    "fit with a method": lambda X: METHOD.fit(NET.as_table(X)).network.couplings,
    "score": lambda X: NET.score(X),
    "score_samples": lambda X: NET.score_samples(X),
    "predict": lambda X: NET.predict(X),
    "predict_proba": lambda X: np.hstack(NET.predict_proba(X)),
    "transform": lambda X: np.asarray(NET.transform(X)),
    "score of the record": lambda X: NET.fit_.score(X),
    "predict of the record": lambda X: NET.fit_.predict(X),
    "predict_proba of the record": lambda X: np.hstack(NET.fit_.predict_proba(X)),
    "node_table with the estimator": lambda X: metrics.node_table(X, NET)["accuracy"],
    "node_table with the record": lambda X: metrics.node_table(X, NET.fit_)["accuracy"],
    "node_table with the network": lambda X: metrics.node_table(X, NET.network_)["accuracy"],
    "node_table with the solution": lambda X: metrics.node_table(X, NET.fit_.solution)["accuracy"],
    "refit": lambda X: ig.refit(X, NET.fit_.solution).solution.couplings,
    "refit of the record": lambda X: ig.refit(X, NET.fit_).solution.couplings,
    "refit of the estimator": lambda X: ig.refit(X, NET).solution.couplings,
    "bootstrap": lambda X: ig.bootstrap(X, NET, n_boot=5, random_state=0).edges()["coupling"],
    "compare_groups": lambda X: ig.compare_groups(X, np.arange(N) % 2, NET, n_permutations=3, random_state=0).strength,
    "report": lambda X: build_report(NET, X=X),
    "report of the network": lambda X: build_report(NET.network_, X=X),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_frame_is_what_the_fit_makes_of_it(name, library):
    frame = FRAME
    if library != "pandas":
        module = pytest.importorskip(library)
        frame = module.DataFrame(FRAME.to_dict("list")) if library == "polars" else module.table(FRAME.to_dict("list"))
    function = FUNCTIONS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, found = function(TABLE), function(frame)
    if isinstance(expected, str):
        assert found == expected
    elif name == "transform":
        np.testing.assert_array_equal(np.asarray(found), FRAME.to_numpy())
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["node_table with the network", "refit"])
def test_answers_are_not_taken_for_category_numbers(name):
    """Answers from 1 to 4 would be category numbers, too."""
    frame = answers(points=5).clip(upper=4)
    frame.iloc[0] = 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = FUNCTIONS[name](ig.as_table(frame, encode=NET.fit_.coding))
        np.testing.assert_array_equal(FUNCTIONS[name](frame), expected)


def test_missing_answers_are_filled_with_answers():
    filled = NET.impute(HOLES)
    known = HOLES.notna().to_numpy()
    assert np.array_equal(filled.to_numpy()[known], FRAME.to_numpy()[known])
    assert set(np.unique(filled)) <= {1, 2, 3, 4, 5}
    assert NET.fit_.impute(HOLES).equals(filled)


def test_a_saved_fit_reads_alike(tmp_path):
    NET.fit_.save(tmp_path / "m.npz")
    again = ig.load(tmp_path / "m.npz")
    assert again.score(FRAME) == NET.score(FRAME)
    assert np.array_equal(again.network.couplings, NET.couplings_)


def test_codes_of_missing_answers_are_known_to_the_fit(tmp_path):
    frame = FRAME.copy()
    frame.iloc[::10, 1] = 99
    holes = frame.replace(99, np.nan)
    table = ig.as_table(frame, kinds="ordinal", na_values=[99], missing="impute")
    assert np.array_equal(table.holes, holes.isna())
    assert ig.as_table(frame, encode=table.coding, missing="impute").n_missing == table.n_missing
    net = ig.IsingLasso(0.05, kinds="ordinal", na_values=[99], missing="impute").fit(frame)
    net.fit_.save(tmp_path / "m.npz")
    again = ig.load(tmp_path / "m.npz")
    expected = net.score(holes)
    assert [net.score(frame), net.fit_.score(frame), again.score(frame)] == [expected] * 3
    frame.to_csv(tmp_path / "t.csv", index=False)
    from_file = ig.read_table(tmp_path / "t.csv", kinds="ordinal", na_values=["99"], missing="impute")
    assert from_file.coding.columns == table.coding.columns


def test_codes_of_missing_answers_among_bits_and_numbers():
    frame = pd.DataFrame({"a": [0, 1, 9, 1], "age": [20, 60, 99, 30]})
    table = ig.as_table(frame, binarize={"age": 40}, na_values=[9, 99], missing="impute")
    assert table.codes[[0, 1, 3]].tolist() == [[0, 0], [1, 1], [1, 0]]
    assert table.holes.tolist() == [[False, False], [False, False], [True, True], [False, False]]
    assert table.encoding == {}
    again = ig.as_table(frame, encode=table.coding, missing="impute")
    assert np.array_equal(again.holes, table.holes)


@pytest.mark.parametrize("given", ["a fit", "a fitted estimator"])
def test_resamples_and_groups_are_read_like_the_table_of_the_fit(given):
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (200, 3)), columns=list("abc"))
    frame["b"] = np.where(np.arange(200) % 9, frame["a"], 1 - frame["a"])
    net = ig.IsingLasso(0.02).fit(ig.as_table(frame[["a", "b"]], encode={"a": {0: 1, 1: 0}}))
    method = net.fit_ if given == "a fit" else net
    assert net.couplings_[0, 1] < 0
    assert ig.bootstrap(frame, method, n_boot=2).edges()["coupling"][0] == pytest.approx(net.couplings_[0, 1])
    groups = ig.compare_groups(frame, np.arange(200) % 2, method, n_permutations=2).networks
    assert [group.n_nodes for group in groups] == [2, 2]
    assert all(group.couplings[0, 1] < 0 for group in groups)


def test_blanks_around_names_of_columns_do_not_matter(tmp_path):
    frame = FRAME.set_axis(["a", " b", "c ", "the  last"], axis=1)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    kinds = {" b": "nominal", "the  last": "nominal", "a": "ordinal", "c": "ordinal"}
    tables = [ig.read_table(tmp_path / name, kinds=kinds) for name in ("t.csv", "t.parquet")]
    for table in (*tables, ig.as_table(frame, kinds=kinds)):
        assert table.names == ("a", "b", "c", "the last")
        assert table.variables.kinds == ("ordinal", "nominal", "ordinal", "nominal")
    net = ig.IsingLasso(0.05, kinds=kinds).fit(frame)
    assert net.network_.names == tables[0].names
    holed = frame.astype(float).mask(np.random.default_rng(1).random(frame.shape) < 0.1)
    assert list(net.fit_.impute(holed).columns) == list(frame.columns)
    assert net.score(frame) == net.fit_.score(tables[0])
    with pytest.raises(ig.errors.DataError, match="different from each other; got 'b' twice"):
        ig.as_table(frame.set_axis(["a", "b", " b", "d"], axis=1), kinds="ordinal")
