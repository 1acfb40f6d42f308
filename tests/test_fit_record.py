import copy
import json
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from reports import build_report

from isinglass import (
    ExactIsing,
    Fit,
    IsingLasso,
    IsingLassoCV,
    IsingLassoEBIC,
    IsingLassoStARS,
    IsingNetwork,
    Network,
    NodewiseIsing,
    NodewiseIsingEBIC,
    as_table,
    bootstrap,
    load,
    read_parts,
    simulate,
)
from isinglass.errors import ArgumentError, DataError

NAMES = ["tea", "milk", "rain", "sun", "rum"]
X = simulate.exact_sample(simulate.chain_network(5, strength=1.5, fields="balanced"), 300, random_state=0)
FRAME = pd.DataFrame(X, columns=NAMES)
ESTIMATORS = [
    IsingNetwork(alphas=8),
    IsingLasso(0.05),
    IsingLassoStARS(alphas=8, n_subsamples=6, threshold=0.2, random_state=0),
    IsingLassoEBIC(alphas=8),
    IsingLassoCV(alphas=8, cv=4, random_state=0),
    NodewiseIsing(0.03),
    NodewiseIsingEBIC(penalty_weights=None, alphas=20),
    ExactIsing(0.03),
]
every = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)


@every
def test_a_fit_says_what_gave_it(estimator):
    """Resampling a fit is resampling its estimator."""
    net = estimator.fit(FRAME)
    found = bootstrap(X, net.fit_, n_boot=2, random_state=0)
    np.testing.assert_allclose(found.solution.couplings, net.couplings_, atol=1e-5)


@every
def test_pages_of_a_fit_and_of_its_estimator_agree(estimator):
    net = estimator.fit(FRAME)
    settings = {"settings": {}}
    assert build_report(net.fit_, **settings) == build_report(net, **settings)


@pytest.mark.parametrize("parts", [False, True])
def test_columns_of_other_tables_are_found_by_name(parts):
    """Such as those of a second wave, whose file has another order."""
    fit = IsingLasso(0.05).fit(FRAME).fit_
    order = ["rum", "tea", "snow", "sun", "milk", "rain"]
    frame = FRAME.assign(snow=1)[order]
    table = read_parts([frame[:100], frame[100:]]) if parts else as_table(frame)
    assert fit.read(table).names == tuple(NAMES)
    answers = fit.predict_proba(table)
    np.testing.assert_array_equal(np.concatenate(answers) if parts else answers, fit.predict_proba(X))
    assert fit.score(table) == pytest.approx(fit.score(X))
    with pytest.raises(DataError, match="'sun' cannot be found"):
        fit.read(table.take(np.array([0, 1, 2, 4, 5])))


def test_attributes_of_an_estimator_are_those_of_its_fit():
    net = IsingLasso(0.05).fit(FRAME)
    fit = net.fit_
    assert net.fit_.solution is fit.solution
    assert net.network_ is fit.network
    assert (net.alpha_, net.converged_, net.fit_.data.n_rows) == (
        fit.solution.alpha,
        fit.solution.converged,
        fit.data.n_rows,
    )
    np.testing.assert_array_equal(net.fit_.data.shares[1::2], X.mean(axis=0))
    assert net.fit_.selection.path is None


@pytest.mark.filterwarnings("ignore::isinglass.errors.IsinglassWarning")
def test_without_edges_the_stability_is_an_empty_column():
    fit = IsingLassoStARS([0.6, 0.55], n_subsamples=2, random_state=0).fit(X).fit_
    assert fit.network.n_edges == 0
    assert {len(column) for column in fit.edges().values()} == {0}
    assert len(fit.edge_attributes["stability"]) == 0


@pytest.mark.parametrize("kind", ["sampling", "counts"])
def test_weights_have_a_kind_only_if_there_are_any(kind):
    net = IsingLasso(0.1, weight_kind=kind)
    for table in (X, as_table(X, weight_kind=kind), read_parts([X[:100], X[100:]])):
        fit = net.fit(table).fit_
        assert (fit.data.weight_kind, fit.data.n_observations) == (None, len(X))
    assert net.fit(X, sample_weight=1 + np.arange(len(X)) % 2).fit_.data.weight_kind == kind


SCRIPT = """
import json, sys
from isinglass.cli import main
for words in json.loads(sys.argv[1]):
    try:
        main(words, standalone_mode=False)
    except SystemExit as stop:
        assert not stop.code, stop.code
loaded = [name for name in ("sklearn", "pandas", "matplotlib") if name in sys.modules]
assert not loaded, loaded
"""


def test_fit_and_its_company_do_without_scikit_learn(tmp_path):
    FRAME.to_csv(tmp_path / "table.csv", index=False)
    folder, table = tmp_path / "net", tmp_path / "table.csv"
    commands = [
        ["fit", table, "-o", folder],
        ["predict", "--score", folder / "model.npz", table],
        ["predict", folder / "model.npz", table],
        ["export", folder / "model.npz", "-o", tmp_path / "net.gexf"],
        ["report", folder / "model.npz", table, "-o", tmp_path / "page.html"],
    ]
    words = json.dumps(commands, default=str)
    subprocess.run([sys.executable, "-c", SCRIPT, words], check=True, capture_output=True, timeout=120)
    assert isinstance(load(folder / "model.npz"), Fit)


def test_each_table_and_network_is_converted_once(tmp_path, monkeypatch):
    """From file to report: the text is converted to 0 and 1 once, and no network becomes dense."""
    from isinglass.cli import main
    from isinglass.data.meaning import conversion

    FRAME.to_csv(tmp_path / "table.csv", index=False)
    converted, dense = [], []
    convert = conversion.convert_source
    for module in ("isinglass.data.meaning.conversion", "isinglass.data.files.read_table"):
        monkeypatch.setattr(f"{module}.convert_source", lambda *a, **k: converted.append(1) or convert(*a, **k))
    couplings = Network.couplings.func
    monkeypatch.setattr(Network, "couplings", property(lambda self: dense.append(1) or couplings(self)))

    # Rows of few columns are drawn by a matrix.
    monkeypatch.setattr("isinglass.show.report.page_data.MOST_SIMULATED", 0)

    def run(*words):
        main([str(word) for word in words], standalone_mode=False)

    run("fit", tmp_path / "table.csv", "--alpha", "0.05", "-o", tmp_path / "net", "-q")
    assert sum(converted) == 1
    run("report", tmp_path / "net" / "model.npz", tmp_path / "table.csv", "-o", tmp_path / "page.html", "-q")
    assert sum(converted) == 2
    assert not dense


def test_labels_that_are_counts_are_names_where_they_are_in_another_order():
    """The labels 0, 1, 2, … of pandas are no names in order; in another order they say which column is which."""
    frame = pd.DataFrame(X)
    turned = frame[frame.columns[::-1]]
    for one, other in ((frame, turned), (turned, frame)):
        fit = IsingLasso(0.05).fit(one).fit_
        assert fit.score(other) == fit.score(one)
        np.testing.assert_array_equal(fit.predict_proba(other), fit.predict_proba(one))
        np.testing.assert_array_equal(fit.network.energy(other), fit.network.energy(one))
        holed = other.astype(float).mask(np.arange(other.size).reshape(other.shape) % 7 == 0)
        filled = fit.impute(holed)
        assert list(filled) == list(other)
        kept = holed.notna().to_numpy()
        np.testing.assert_array_equal(filled.to_numpy()[kept], other.to_numpy()[kept])
    assert IsingLasso(0.05).fit(turned).fit_.score(X[:, ::-1]) == IsingLasso(0.05).fit(turned).fit_.score(turned)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda record: pickle.loads(pickle.dumps(record))])
def test_arrays_of_copies_are_read_only(copied):
    """What was computed from them is kept."""
    fit = copied(IsingLasso(0.05).fit(FRAME).fit_)
    for array in (fit.data.shares, fit.network.fields, fit.network.pairs, fit.network.pair_values):
        assert not array.flags.writeable


def test_arguments_without_a_meaning_are_refused():
    fit = IsingLasso(0.05).fit(FRAME).fit_
    with pytest.raises(ArgumentError, match="n_edges must be an integer of at least 0; got -1"):
        fit.summary(-1)
    assert "source" not in fit.summary(0)


def test_a_fit_of_complete_rows_answers_for_rows_with_missing_cells():
    """An estimator refuses them, as its parameter says."""
    net = IsingLasso(0.05).fit(FRAME)
    holed = FRAME.astype(float).mask(np.arange(FRAME.size).reshape(FRAME.shape) % 7 == 0)
    filling = IsingLasso(0.05, missing="impute").fit(FRAME)
    assert filling.network_ == net.network_
    for name in ("predict", "predict_proba", "score_samples", "score"):
        np.testing.assert_array_equal(getattr(net.fit_, name)(holed), getattr(filling, name)(holed))
        with pytest.raises(DataError, match="must have no missing cells"):
            getattr(net, name)(holed)
    with pytest.raises(DataError, match=r"Pass isinglass.impute\(table\).table of the table that"):
        net.fit_.log_likelihood(holed)
