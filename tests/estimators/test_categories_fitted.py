"""Estimators of tables with categories: the functions behind them, predictions as labels, missing cells."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from networks import make_table
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from test_categories import mixed_network

from isinglass import (
    Fixed,
    IsingLasso,
    IsingLassoCV,
    IsingLassoEBIC,
    IsingLassoStARS,
    IsingNetwork,
    Method,
    Table,
    as_table,
    ising_path,
    load,
)
from isinglass.conditionals import log_conditionals
from isinglass.errors import ConstantColumnWarning, DataError
from isinglass.evaluate.marginals import category_logs
from isinglass.evaluate.prediction import fill_drawn, fill_most_probable, score_rows

READING = {"kinds": {"age": "ordinal", "work": "ordinal"}}


def category_probabilities(*asked):
    return np.exp(category_logs(*asked))


def survey(n=300, seed=0):
    rng = np.random.default_rng(seed)
    trait = rng.normal(size=n)
    cut = lambda *cuts: np.digitize(trait + rng.normal(size=n), cuts)  # noqa: E731
    moods = ["low", "mid", "high"]
    return pd.DataFrame(
        {
            "age": cut(-1, 0, 1) + 1,
            "work": cut(-0.5, 0.5),
            "mood": pd.Categorical(np.array(moods)[cut(-0.7, 0.7)], moods, ordered=True),
            "vote": cut(0),
        }
    )


FRAME = survey()
TABLE = as_table(FRAME, **READING)


def test_the_estimator_gives_what_the_path_gives():
    net = IsingLasso(0.1, **READING).fit(FRAME)
    solution = ising_path(TABLE, [0.1])[0]
    assert net.network_ == solution.network
    assert net.network_.names == tuple(FRAME)
    assert IsingLasso(0.1).fit(TABLE).network_ == solution.network
    assert clone(net).fit(FRAME).network_ == solution.network
    assert net.score(FRAME) == pytest.approx(solution.network.log_pseudolikelihood(TABLE).mean(), rel=1e-13)
    np.testing.assert_allclose(net.score_samples(FRAME[:5]), solution.network.log_pseudolikelihood(TABLE[:5]))
    assert list(net.edges()) == ["source", "target", "coupling", "sign", "weight"]


def test_predictions_are_labels():
    net = IsingLasso(0.02, **READING).fit(FRAME)
    chances = net.predict_proba(FRAME)
    assert [P.shape for P in chances] == [(300, 4), (300, 3), (300, 3), (300, 2)]
    for P in chances:
        np.testing.assert_allclose(P.sum(axis=1), 1.0)
    labels = net.predict(FRAME)
    for s, P in enumerate(chances):
        values = net.network_.categories[s]
        assert labels[:, s].tolist() == [values[k] for k in P.argmax(axis=1)]
    assert set(labels[:, 2]) <= {"low", "mid", "high"}
    numbers = IsingLasso(0.02, kinds="ordinal").fit(FRAME[["age", "work", "vote"]])
    assert numbers.predict(FRAME[["age", "work", "vote"]]).dtype == np.int64


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "net",
    [
        IsingLassoEBIC(8, **READING),
        IsingNetwork(**READING),
        IsingLassoCV(8, cv=3, random_state=0, **READING),
        IsingLassoStARS(8, n_subsamples=4, random_state=0, **READING),
    ],
    ids=lambda net: type(net).__name__,
)
def test_every_way_to_choose(net, tmp_path):
    net.fit(FRAME)
    assert not net.network_.variables.is_binary
    assert net.converged_
    net.fit_.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    assert again.network == net.network_
    assert again.read(FRAME).codes.tobytes() == TABLE.codes.tobytes()
    assert len(net.edges()["source"]) == net.network_.n_edges


def test_other_tables_are_read_in_the_same_way():
    net = IsingLasso(0.1, **READING).fit(FRAME)
    assert net.predict(FRAME[:1]).shape == (1, 4)
    with pytest.raises(DataError, match=r"got 9 in column"):
        net.score(FRAME.assign(age=9))
    other = as_table(FRAME.assign(age=5 - FRAME["age"]), kinds={"age": "ordinal", "work": "nominal"})
    assert net.score(other) is not None  # the same categories, in the same order
    with pytest.raises(DataError, match="categories of the network"):
        net.score(as_table(FRAME.assign(age=FRAME["age"] * 2), **READING))
    with pytest.raises(DataError, match="categories of the network"):
        IsingLasso(0.1).fit(TABLE).predict(make_table(TABLE.codes, TABLE.variables.kinds, names=TABLE.names))
    scores = cross_val_score(IsingLasso(0.1), TABLE, cv=3)  # some rows of a table keep its categories
    assert np.isfinite(scores).all()


def test_cells_of_a_table_of_0_and_1_are_values():
    rng = np.random.default_rng(0)
    fit = IsingLasso(0.1, kinds="ordinal").fit(rng.integers(1, 6, size=(200, 3))).fit_
    bits = np.array([[1, 1, 1], [0, 1, 0]])
    for X in (bits, make_table(bits), make_table(np.ones((2, 3), int))):  # whose 1 is not the second category
        with pytest.raises(DataError, match=r"fitted, 1, 2, 3, 4, 5; got 0 in column 0|categories of the network"):
            fit.score_samples(X)
    binary = IsingLasso(0.1).fit(rng.integers(0, 2, size=(200, 3))).fit_
    with pytest.raises(DataError, match="must have the categories of the network"):
        binary.score_samples(as_table(rng.integers(1, 6, size=(200, 3)), kinds="ordinal"))


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float64, object])
def test_arrays_hold_values_whatever_their_type(dtype):
    X = np.random.default_rng(0).integers(1, 4, size=(200, 3))
    net = IsingLasso(0.05, kinds="ordinal").fit(X)
    codes = Table((X - 1).astype(np.uint8), net.network_.variables)
    for ask in (net.score_samples, net.fit_.score_samples, net.network_.log_pseudolikelihood, net.network_.energy):
        np.testing.assert_array_equal(ask(X.astype(dtype)), ask(codes))
        with pytest.raises(DataError, match="got 0 in column 0"):
            ask((X - 1).astype(dtype))


def test_weights_are_repeated_rows():
    weight = np.random.default_rng(1).integers(1, 4, 300)
    one = IsingLasso(0.1, tol=1e-10, **READING).fit(FRAME, sample_weight=weight)
    two = IsingLasso(0.1, tol=1e-10, **READING).fit(FRAME.loc[np.repeat(np.arange(300), weight)])
    np.testing.assert_allclose(one.couplings_, two.couplings_, atol=1e-8)
    assert one.fit_.data.n_rows == two.fit_.data.n_rows == weight.sum()
    assert one.score(FRAME, sample_weight=weight) == pytest.approx(
        two.score(FRAME.loc[np.repeat(np.arange(300), weight)])
    )


def test_constant_columns_are_named_by_their_value():
    frame = FRAME.assign(mood=pd.Categorical(["mid"] * 300, ["low", "mid", "high"], ordered=True))
    with pytest.warns(ConstantColumnWarning, match=r"'mood' \(always mid\)"):
        net = IsingLasso(0.05, **READING).fit(frame)
    assert not (net.network_.edge_index == 2).any()


def test_methods_for_two_values_say_so():
    with pytest.raises(DataError, match="columns of two values here; got the ordinal column 'age'"):
        Method("exact", Fixed(0.1)).fit(as_table(FRAME, **READING))
    with pytest.raises(DataError, match="device"):
        IsingLasso(**READING, device="cuda").fit(FRAME)


# --- missing cells ----------------------------------------------------------------------------------------------------


def exact_marginals(network, row, gone):
    """Slow twin: P(x_s = k | the observed cells of the others) by summing over all states."""
    sizes = network.variables.sizes.tolist()
    states = np.array(list(product(*map(range, sizes))))
    weights = np.exp(-network.energy(states))
    answers = []
    for s, q in enumerate(sizes):
        held = [t for t in range(len(sizes)) if t != s and not gone[t]]
        fits = (states[:, held] == row[held]).all(axis=1)
        answers.append(np.array([weights[fits & (states[:, s] == k)].sum() for k in range(q)]))
    return [answer / answer.sum() for answer in answers]


def test_missing_cells_are_summed_over():
    network, twin, *_ = mixed_network(3)
    row = twin.X[:1].astype(np.uint8)
    gone = np.array([[True, False, True, False]])
    found = network.variables.split(category_probabilities(row, gone, network))
    expected = exact_marginals(network, row[0], gone[0])
    for mine, exact in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine[:, 0], exact, rtol=1e-10)
    holed = replace(network.table(row), holes=gone)
    filled = fill_most_probable(holed, network)
    assert filled[0, 1] == row[0, 1]
    assert filled[0, 0] == expected[0].argmax()
    observed = np.log(expected[1][row[0, 1]]) + np.log(expected[3][row[0, 3]])
    assert score_rows(holed, network)[0] == pytest.approx(observed)
    many = replace(network.table(row.repeat(4000, axis=0)), holes=gone.repeat(4000, axis=0))
    draws = fill_drawn(many, network, random_state=0, n_sweeps=20)
    np.testing.assert_allclose(np.bincount(draws[:, 0], minlength=3) / 4000, expected[0], atol=0.03)


def test_tables_with_holes_are_fitted_and_filled():
    frame = survey(200, 1).astype(object)
    hidden = frame.where(np.random.default_rng(2).random(frame.shape) > 0.05)
    hidden["mood"] = hidden["mood"].astype(FRAME["mood"].dtype)
    net = IsingNetwork(**READING, missing="impute").fit(hidden)
    assert not net.network_.variables.is_binary
    assert net.fit_.missing.treatment == "impute"
    assert np.isfinite(net.score(hidden))
    filled = net.impute(hidden)
    assert list(filled.columns) == list(hidden.columns)
    known = hidden.notna().to_numpy()
    assert (filled.to_numpy()[known] == hidden.astype(object).to_numpy()[known]).all()
    assert not filled.isna().any().any()
    assert net.impute(hidden, method="gibbs", random_state=0).shape == hidden.shape


@pytest.mark.filterwarnings("ignore::isinglass.errors.IsinglassWarning")
def test_missing_cells_get_only_categories_of_the_fit():
    """A category that no row of the fit has is neither drawn nor given a probability."""
    rng = np.random.default_rng(0)
    answers = pd.DataFrame(
        {"a": pd.Categorical(rng.choice(["x", "y"], 40), ["x", "y", "never"]), "b": rng.integers(2, size=40)}
    )
    fit = IsingLasso(0.1).fit(answers).fit_
    many = pd.concat([answers] * 50, ignore_index=True)
    many["a"] = pd.Categorical([None] * len(many), ["x", "y", "never"])
    assert set(fit.impute(many, method="gibbs", random_state=0)["a"]) == {"x", "y"}
    chance = fit.read(many[:10], missing="impute")
    np.testing.assert_array_equal(category_probabilities(chance.codes, chance.holes, fit.network, fit.occurs)[2], 0.0)
    assert (log_conditionals(fit.network, chance.codes)[2] > -10).all()  # the network by itself would draw it

    constant = pd.DataFrame(
        {"a": ["maybe"] * 30, "b": rng.choice(["Yes", "No"], 30), "c": rng.choice(["Yes", "No"], 30)}
    )
    fit = IsingLasso(0.1, encode="auto").fit(constant).fit_
    many = pd.concat([constant] * 40, ignore_index=True)
    many["a"] = None
    assert set(fit.impute(many, method="gibbs", random_state=0)["a"]) == {"maybe"}
    assert set(fit.impute(many)["a"]) == {"maybe"}
