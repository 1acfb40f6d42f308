"""One table with a column of every kind, two-valued, ordered, nominal, continuous and counts, through everything."""

import csv
import io
import json
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from reports import build_report

from isinglass import (
    Fixed,
    IsingLasso,
    IsingNetwork,
    Method,
    Network,
    Variables,
    as_table,
    bootstrap,
    compare_groups,
    ising_path,
    load,
    metrics,
    plot,
    refit,
    save,
)
from isinglass.data import Table
from isinglass.data.meaning.rules import Steps
from isinglass.errors import DataError, MeaningWarning
from isinglass.evaluate.partial_correlations import conditional_variances, partial_correlations, warn_beyond_one
from isinglass.evaluate.prediction import central_intervals
from isinglass.export import write_network
from isinglass.select import TwoStage, sample_size

KINDS = {
    "age": "continuous",
    "pressure": "continuous",
    "visits": "continuous",
    "pain": "ordinal",
    "region": "nominal",
}


def people(n=400, seed=0):
    """Age – pressure – visits – pain – sick, and region by age; counts in the visits."""
    rng = np.random.default_rng(seed)
    age = np.round(rng.normal(45.0, 12.0, n), 1)
    pressure = 120.0 + 0.6 * (age - 45.0) + rng.normal(0.0, 6.0, n)
    visits = rng.poisson(np.exp(0.5 + 0.05 * (pressure - 120.0)))
    pain = np.digitize(visits + rng.normal(0.0, 1.5, n), [1.0, 2.5, 4.0])
    sick = (pain + rng.normal(0.0, 1.0, n) > 1.8).astype(int)
    region = np.array(["north", "east", "south"])[np.digitize(age + rng.normal(0.0, 10.0, n), [38.0, 52.0])]
    return pd.DataFrame(
        {"age": age, "pressure": pressure, "visits": visits, "pain": pain, "sick": sick, "region": region}
    )


FRAME = people()
TABLE = as_table(FRAME, kinds=KINDS)
TRUE = {("age", "pressure"), ("pressure", "visits"), ("visits", "pain"), ("pain", "sick"), ("age", "region")}
CHAIN = [("age", "pressure"), ("pain", "sick"), ("age", "region")]  # strong enough for any method


@pytest.fixture(scope="module")
def net():
    return IsingNetwork(kinds=KINDS).fit(FRAME)


def values(s):
    return np.array(TABLE.variables.categories[s], dtype=float)


def means(s):
    return np.array(TABLE.coding.columns[s].means)


def pairs(edges):
    return set(zip(edges["source"], edges["target"], strict=True))


def brute_conditionals(network, codes, s):
    """Return P(x_s = k | rest) of every row from the joint distribution itself."""
    size = len(network.categories[s])
    rows = np.repeat(codes, size, axis=0)
    rows[:, s] = np.tile(np.arange(size), len(codes))
    logs = -network.energy(Table(rows, network.variables)).reshape(-1, size)
    found = np.exp(logs - logs.max(axis=1, keepdims=True))
    return found / found.sum(axis=1, keepdims=True)


def check_path(net, tmp_path):
    path = ising_path(TABLE, 8)
    assert path[0].n_edges == 0
    assert {3, 4} <= {int(k) for k in path[-1].edge_index.ravel()}
    assert all(solution.converged for solution in path)


def check_default_choice(net, tmp_path):
    assert net.network_.kinds == ("continuous", "continuous", "continuous", "ordinal", "binary", "nominal")
    found = pairs(net.edges())
    assert found >= set(CHAIN)
    assert len(found - TRUE) <= 1


def check_nodewise(net, tmp_path):
    found = Method("nodewise", Fixed(0.025)).fit(as_table(FRAME, kinds=KINDS))
    assert pairs(found.edges()) >= set(CHAIN)
    r = found.edges()["partial_correlation"]
    assert 0.4 < r[[p == ("age", "pressure") for p in zip(*list(found.edges().values())[:2], strict=True)]].item() < 0.9


def check_refit(net, tmp_path):
    free = refit(TABLE, net.fit_.solution)
    k = [tuple(edge) for edge in free.edge_index.tolist()].index((0, 1))
    assert abs(free.edge_values[k]) >= abs(net.network_.couplings[0, 1])  # without a penalty it is larger
    low, high = free.edge_intervals()[k]
    assert 0 < low < free.edge_values[k] < high
    assert net.fit_.refits.edge_errors[k] == pytest.approx(free.edge_errors[k], rel=0.05)


def check_bootstrap(net, tmp_path):
    found = bootstrap(TABLE, net, n_boot=4, reselect=False, random_state=0)
    assert found.edges()["inclusion"][:2].tolist() == [1.0, 1.0]
    assert (found.edges()["q2.5"][:2] < found.edges()["q97.5"][:2]).all()


def check_groups(net, tmp_path):
    other = people(seed=1)
    rng = np.random.default_rng(0)
    other["pressure"] = rng.permutation(other["pressure"])  # not related to age there
    both = as_table(pd.concat([FRAME, other]), kinds=KINDS)
    found = compare_groups(both, ["a"] * len(FRAME) + ["b"] * len(other), net, n_permutations=19, reselect=False)
    edges = found.edges()
    k = [p == ("age", "pressure") for p in zip(edges["source"], edges["target"], strict=True)].index(True)
    assert edges["p"][k] == edges["p"].min() == pytest.approx(1 / 20)


def holed():
    frame = FRAME.copy()
    rng = np.random.default_rng(3)
    gone = rng.random(len(frame)) < 0.2
    frame.loc[gone, "pressure"] = np.nan
    visits = frame["visits"].astype(float)
    visits[rng.random(len(frame)) < 0.1] = np.nan
    return frame.assign(visits=visits), gone


def check_imputation(net, tmp_path):
    frame, gone = holed()
    filled = net.impute(frame)
    # What was observed stays as it is, to the bit, and is not moved to the middle of its step.
    pd.testing.assert_series_equal(filled["age"], FRAME["age"])
    assert (filled["pressure"][~gone] == FRAME["pressure"][~gone]).all()
    error = filled["pressure"][gone] - FRAME["pressure"][gone]
    assert error.std() < 0.8 * FRAME["pressure"].std()
    assert abs(error.mean()) < 2.0
    assert not set(filled["pressure"][gone]) & set(means(1))  # expected numbers, not steps
    assert filled["visits"].tolist() == filled["visits"].round().tolist()
    drawn = net.impute(frame, method="gibbs", random_state=0)
    assert set(drawn["pressure"][gone]) <= set(net.fit_.coding.columns[1].means)
    assert drawn["pressure"][gone].std() > filled["pressure"][gone].std()
    assert (drawn["pressure"][~gone] == FRAME["pressure"][~gone]).all()


def check_imputed_fit(net, tmp_path):
    frame, _ = holed()
    found = IsingNetwork(kinds=KINDS, missing="impute").fit(frame)
    assert pairs(found.edges()) >= set(CHAIN)
    assert found.fit_.imputation.table.numbers is None  # its cells are steps


def check_prediction(net, tmp_path):
    found, chance = net.predict(FRAME), net.predict_proba(FRAME)
    for i, s in [(0, 0), (5, 1), (9, 2)]:
        (p,) = brute_conditionals(net.network_, TABLE.codes[[i]], s)
        assert chance[s][i] == pytest.approx(p)
        assert found[i, s] == pytest.approx(p @ means(s))
    assert np.corrcoef(found[:, 1].astype(float), FRAME["pressure"])[0, 1] > 0.6
    assert set(found[:, 5]) <= {"north", "east", "south"}
    intervals = net.predict_interval(FRAME, 0.8)
    inside = (intervals[..., 0] <= FRAME.iloc[:, :3].reindex(columns=FRAME.columns).to_numpy()) & (
        intervals[..., 1] >= FRAME.iloc[:, :3].reindex(columns=FRAME.columns).to_numpy()
    )
    assert np.isnan(intervals[:, 3:]).all()
    assert inside[:, :2].mean(axis=0) == pytest.approx([0.83, 0.83], abs=0.06)  # a little more than the level
    assert inside[:, 2].mean() > 0.75  # whole numbers: at least
    assert (intervals[:, 2] == intervals[:, 2].round()).all()
    wide = net.predict_interval(FRAME, 0.99)
    assert (wide[:, :3, 0] <= intervals[:, :3, 0]).all()
    assert (wide[:, :3, 1] >= intervals[:, :3, 1]).all()
    assert (wide[:, :2, 1] > intervals[:, :2, 1]).mean() > 0.9


def check_node_table(net, tmp_path):
    table = metrics.node_table(FRAME, net)
    for s in range(3):
        expected = brute_conditionals(net.network_, TABLE.codes, s) @ values(s)
        observed = values(s)[TABLE.codes[:, s]]
        assert table["r_squared"][s] == pytest.approx(1 - ((observed - expected) ** 2).mean() / observed.var())
    assert (
        np.isnan(table["accuracy"]).tolist()
        == np.isnan(table["normalized_accuracy"]).tolist()
        == [True] * 3 + [False] * 3
    )
    assert np.isnan(table["r_squared"]).tolist() == [False] * 5 + [True]


def check_partial_correlations(net, tmp_path):
    network = net.network_
    variance = np.full(6, np.nan)
    for s in range(3):
        points = np.array(network.variables.scores[s])
        chance = brute_conditionals(network, TABLE.codes, s)
        each = chance @ points**2 - (chance @ points) ** 2
        variance[s] = np.exp(np.log(np.maximum(each, (points[1] - points[0]) ** 2 / 12)).mean())
    assert net.fit_.data.conditional_variances == pytest.approx(variance, nan_ok=True)
    edges = net.edges()
    for s, t, coupling, r in zip(
        edges["source"], edges["target"], edges["coupling"], edges["partial_correlation"], strict=True
    ):
        both = KINDS.get(s) == KINDS.get(t) == "continuous"
        a, b = (network.names.index(name) for name in (s, t))
        assert np.isnan(r) == (not both)
        if both:
            assert r == pytest.approx(coupling * np.sqrt(variance[a] * variance[b]))


def check_simulation(net, tmp_path):
    rows = net.sample(300, random_state=0, thin=2)
    cells = np.array([values(s)[rows.codes[:, s]] for s in range(3)]).T
    assert np.corrcoef(cells[:, 0], cells[:, 1])[0, 1] == pytest.approx(
        FRAME[["age", "pressure"]].corr().iloc[0, 1], abs=0.15
    )
    assert cells.mean(axis=0) == pytest.approx(FRAME.iloc[:, :3].mean().to_numpy(), rel=0.1, abs=0.3)
    assert rows.variables.categories == TABLE.variables.categories


def written(net, form, **options):
    stream = io.StringIO()
    write_network(net, stream, form, edge_attributes=net.fit_.edge_attributes, **options)
    return stream.getvalue()


def check_export(net, tmp_path):
    r = net.edges()["partial_correlation"]
    rows = list(csv.DictReader(io.StringIO(written(net, "edges"))))
    assert [float(row["partial_correlation"] or "nan") for row in rows] == pytest.approx(r, nan_ok=True)
    graph = json.loads(written(net, "json"))
    assert [edge["partial_correlation"] is None for edge in graph["edges"]] == np.isnan(r).tolist()
    assert graph["nodes"][2]["categories"][:3] == ["0", "1", "2"]
    xml = ElementTree.fromstring(written(net, "gexf"))
    titles = [element.get("title") for element in xml.iter("{http://www.gexf.net/1.2draft}attribute")]
    assert "partial_correlation" in titles
    for form in ("blocks", "fields", "nodes", "matrix"):
        stream = io.StringIO()
        write_network(net, stream, form)
        listed = list(csv.reader(io.StringIO(stream.getvalue())))
        n_edges, n_steps = net.network_.n_edges, int(net.network_.variables.sizes.sum())
        assert len(listed) - 1 == {"blocks": n_edges + 2, "fields": n_steps, "nodes": 6, "matrix": 6}[form]
    write_network(net, tmp_path / "edges.md", edge_attributes=net.fit_.edge_attributes)
    assert "Partial r" in (tmp_path / "edges.md").read_text().splitlines()[0]


def check_plots(net, tmp_path):
    ax = plot.network(net)
    texts = {text.get_text() for text in ax.texts}
    assert set(FRAME) <= texts
    assert plot.path(net).get_lines()


def check_report(net, tmp_path):
    page = build_report(net, X=FRAME)
    start = page.index('id="report-data">') + len('id="report-data">')
    data, _ = json.JSONDecoder().raw_decode(page[start:])
    assert data["categories"]["kinds"][:3] == ["continuous"] * 3
    column = next(column for column in data["edge_columns"] if column["label"] == "partial_correlation")
    assert sum(value is not None for value in column["values"]) == 2
    shown = [table for table in data["edge_tables"] if table is not None]
    with_numbers = [tuple(edge) for edge in net.network_.edge_index.tolist() if min(edge) < 3]
    assert sum(table["means"] is not None for table in shown) == len(with_numbers)
    assert all(
        len(table["means"]) in (3, 4, *map(len, TABLE.variables.categories)) for table in shown if table["means"]
    )
    assert data["categories"]["units"][0] == pytest.approx(values(0)[TABLE.codes[:, 0]].std(), rel=1e-6)
    names = {column["label"] for column in data["nodes"]["columns"]}
    assert "r_squared" in names


def check_methods_text(net, tmp_path):
    text = net.methods_text()
    assert "3 continuous variables" in text
    assert "standard deviation" in text
    assert "categories)" not in text.split("continuous variables")[1].split("was estimated")[0]


def check_sample_size(net, tmp_path):
    found = sample_size(net.network_, [20, 300], Method(), n_repeats=2, random_state=0)
    few, many = found.sizes()["sensitivity"]
    assert many > few


def check_model_file(net, tmp_path):
    save(net, tmp_path / "net.npz")
    again = load(tmp_path / "net.npz")
    shown, known = again.edges()["partial_correlation"], net.edges()["partial_correlation"]
    assert shown == pytest.approx(known, abs=0, nan_ok=True)
    assert again.predict(FRAME[:5]).tolist() == net.predict(FRAME[:5]).tolist()
    assert again.predict_interval(FRAME[:5]).tolist() == pytest.approx(net.predict_interval(FRAME[:5]), nan_ok=True)


CHECKS = {name.removeprefix("check_"): check for name, check in list(globals().items()) if name.startswith("check_")}


@pytest.mark.parametrize("name", CHECKS)
def test_everything_takes_every_kind_of_column(name, net, tmp_path):
    CHECKS[name](net, tmp_path)


def test_partial_correlations_are_those_of_the_precision_matrix():
    rng = np.random.default_rng(4)
    precision = np.eye(4) + np.diag([0.4, -0.3, 0.2], 1) + np.diag([0.4, -0.3, 0.2], -1)
    X = rng.multivariate_normal(np.zeros(4), np.linalg.inv(precision), 20_000) * [1.0, 50.0, 0.01, 3.0] + 7.0
    K = np.linalg.inv(np.corrcoef(X.T))
    expected = -K / np.sqrt(np.outer(np.diag(K), np.diag(K)))
    table = as_table(X, kinds="continuous")
    network = ising_path(table, [1e-4])[0].network
    assert network.n_edges == 6
    found = partial_correlations(network, conditional_variances(table, network))
    s, t = network.edge_index.T
    assert found == pytest.approx(expected[s, t], abs=0.01)
    assert network.edge_values == pytest.approx(-K[s, t], abs=0.02)  # per standard deviation of both


def test_long_tails_do_not_inflate_partial_correlations():
    rng = np.random.default_rng(0)
    precision = np.eye(6) - 0.3 * (np.eye(6, k=1) + np.eye(6, k=-1))
    X = np.exp(rng.multivariate_normal(np.zeros(6), np.linalg.inv(precision), 500))
    table = as_table(X, kinds="continuous")
    network = Method(selector=TwoStage(keep=0)).choose(table).solution.network
    assert network.n_edges >= 4
    found = partial_correlations(network, conditional_variances(table, network))
    s, t = network.edge_index.T
    assert (np.abs(found) < 0.8).all()
    assert (found[t - s == 1] > 0.0).all()


def test_a_partial_correlation_beyond_one_is_told_and_kept():
    steps = Variables.of([3, 3], "continuous", [(0.0, 1.0, 2.0)] * 2, names=["a", "b"])
    network = Network([-30.0, -18.0, -30.0, -18.0], [[0, 1]], [9.0], variables=steps)
    table = network.table([[1, 1], [1, 1], [0, 0]])
    variances = conditional_variances(table, network)
    found = partial_correlations(network, variances)
    assert found[0] > 1
    with pytest.warns(MeaningWarning, match=r"partial correlation of 'a' and 'b' is \d\.\d\d, beyond 1"):
        warn_beyond_one(network, found)


def test_intervals_have_at_least_the_probability_that_they_claim():
    rng = np.random.default_rng(0)
    rule = Steps.around(tuple(np.arange(20) * 2.5), tuple(np.arange(20.0)))
    chance = rng.dirichlet(np.ones(20), 50)
    low, high = central_intervals([chance], [rule], 0.7)[:, 0].T
    edges = -1.25 + 2.5 * np.arange(21)
    for p, a, b in zip(chance, low, high, strict=True):
        total = np.concatenate([[0.0], np.cumsum(p)])
        exact = np.interp([0.15, 0.85], total, edges)
        assert exact[0] - 2.5 / 4 <= a <= exact[0] + 1e-6  # by at most a quarter of a step
        assert exact[1] - 1e-6 <= b <= exact[1] + 2.5 / 4
        below = np.interp([a, b], edges, total)
        assert below[0] <= 0.15 + 1e-6
        assert below[1] >= 0.85 - 1e-6
    with pytest.raises(DataError, match="level must be between 0 and 1"):
        central_intervals([chance], [rule], 1.0)


def test_a_summary_leaves_out_columns_that_say_nothing():
    rng = np.random.default_rng(0)
    a, c = rng.integers(0, 2, 300), rng.normal(size=300)
    X = np.column_stack([a, a ^ (rng.random(300) < 0.05), c, c + rng.normal(size=300)])
    net = IsingLasso(alpha=0.02, kinds={2: "continuous", 3: "continuous"}).fit(X)
    assert "partial_correlation" not in net.summary(1)  # two columns of 0 and 1
    assert "partial_correlation" in net.summary(4)
