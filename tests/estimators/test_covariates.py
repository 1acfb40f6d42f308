"""Covariates from a frame or a file to estimators, tables, pictures, pages and files."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from commands import run

from isinglass import (
    IsingLasso,
    IsingLassoCV,
    IsingLassoEBIC,
    IsingLassoStARS,
    IsingNetwork,
    Method,
    NodewiseIsing,
    as_table,
    bootstrap,
    compare_groups,
    load,
    metrics,
    read_table,
)
from isinglass.errors import ArgumentError, DataError, DataWarning
from isinglass.export import to_networkx
from isinglass.show.report import build_report

ITEMS = ["a", "b", "c", "d"]


def frame(n=400, seed=0):
    """Four yes/no items that follow age and sex, two of them joined beyond that."""
    rng = np.random.default_rng(seed)
    age, sex = rng.normal(45.0, 12.0, n).round(1), rng.integers(0, 2, n)
    push = (age - 45) / 10 + 0.8 * sex - 0.4
    items = (rng.random((n, 4)) < 1 / (1 + np.exp(-push[:, None]))).astype(int)
    items[:, 1] = np.where(rng.random(n) < 0.5, items[:, 0], items[:, 1])
    return pd.DataFrame({**dict(zip(ITEMS, items.T, strict=True)), "age": age, "sex": np.where(sex, "f", "m")})


def test_covariates_are_read_as_what_they_are():
    table = as_table(frame(), covariates=["age", "sex"])
    assert table.variables.covariate == (False,) * 4 + (True, True)
    assert table.variables.kinds[4:] == ("continuous", "binary")
    assert 64 < table.variables.sizes[4] <= 255  # no step of a covariate costs a parameter
    rounded = frame().assign(age=lambda each: each["age"] // 10)
    stated = as_table(rounded, covariates=["age"], kinds={"sex": "nominal", "age": "ordinal"}).variables
    assert (stated.kinds[4:], stated.covariate[4:]) == (("ordinal", "binary"), (True, False))
    coded = frame().assign(sex=lambda each: (each["sex"] == "f") + 1)
    assert as_table(coded, covariates=["age", "sex"]).variables.kinds[4:] == ("continuous", "binary")


def test_another_table_is_read_alike():
    table = as_table(frame(), covariates=["age", "sex"])
    again = as_table(frame(seed=1), encode=table.coding)
    assert again.variables == table.variables
    assert table.take([0, 4]).variables.covariate == (False, True)


@pytest.mark.parametrize(
    ("given", "message"),
    [(["height"], "must be names or numbers"), ([True], "must be names or numbers"), (range(6), "must leave a column")],
)
def test_what_is_no_covariate_is_refused(given, message):
    with pytest.raises(ArgumentError, match=message):
        as_table(frame(), covariates=given)


def test_missing_covariates_are_refused_and_dropped_on_demand():
    holed = frame()
    holed.loc[[3, 5], "age"] = np.nan
    with pytest.raises(DataError, match=r"a covariate must have no missing cells; got 2 in column 'age'"):
        as_table(holed, covariates=["age", "sex"], missing="impute")
    assert len(as_table(holed, covariates=["age", "sex"], missing="drop")) == 398


@pytest.mark.parametrize(
    "estimator",
    [
        IsingNetwork(),
        IsingLasso(alpha=0.02),
        IsingLassoEBIC(),
        IsingLassoCV(cv=3),
        IsingLassoStARS(n_subsamples=5),
        NodewiseIsing(alpha=0.02),
        NodewiseIsing(criterion="ebic"),
    ],
    ids=lambda each: type(each).__name__,
)
@pytest.mark.filterwarnings("ignore::isinglass.errors.FewColumnsWarning", "ignore::isinglass.errors.GridEndWarning")
def test_every_estimator_takes_covariates(estimator):
    data = frame()
    net = estimator.set_params(covariates=["age", "sex"]).fit(data)
    assert net.converged_
    assert not (net.network_.edge_index >= 4).any()
    assert net.network_.n_pairs == 6
    assert len(net.fit_.covariate_edges()["covariate"]) == 8
    assert np.isfinite(net.score(data))


def test_a_covariate_is_input_and_is_not_predicted():
    data = frame()
    net = IsingNetwork(covariates=["age", "sex"]).fit(data)
    older = data.assign(age=data["age"].max())
    before, after = (np.array([P[:, 1] for P in net.predict_proba(each)[:4]]) for each in (data, older))
    assert (after >= before - 1e-9).all()
    assert (after.mean(axis=1) > before.mean(axis=1)).all()
    assert set(net.predict(data)[:, 5]) == {"f", "m"}
    assert (net.predict(data)[:, 5] == data["sex"]).all()
    with pytest.raises(DataError, match="cannot be found"):
        net.fit_.predict(data.drop(columns="age"))


def test_nodes_and_pictures_leave_covariates_out(tmp_path):
    data = frame()
    net = IsingNetwork(covariates=["age", "sex"]).fit(data)
    assert list(metrics.centrality(net).names) == ITEMS
    assert list(metrics.node_table(data, net).names) == ITEMS
    assert len(metrics.communities(net)) == 4
    assert sorted(to_networkx(net).nodes) == ITEMS
    page = build_report(net, X=data)
    content = json.loads(page.split('id="report-data">')[1].split("</script>")[0])
    assert content["nodes"]["names"] == ITEMS
    assert set(content["covariates"]) == {"age", "sex"}
    assert "adjusted for age and sex" in content["methods"]
    assert content["check"] is None  # rows cannot be simulated
    net.fit_.save(tmp_path / "model.npz")
    assert load(tmp_path / "model.npz").network == net.network_
    assert "Adjusted for: age, sex (couplings without a penalty" in net.summary()


def test_resamples_and_groups_are_about_the_variables():
    data = frame()
    found = bootstrap(data, IsingNetwork(covariates=["age", "sex"]), n_boot=5, random_state=0)
    assert found.names == tuple(ITEMS)
    assert len(found.nodes()["name"]) == 4
    same = bootstrap(data, IsingNetwork(covariates=["age", "sex"]), n_boot=5, random_state=0, n_jobs=2)
    assert np.array_equal(found.draws.toarray(), same.draws.toarray())
    table = as_table(data, covariates=["age", "sex"])
    compared = compare_groups(table, ["x", "y"] * 200, 0.02, n_permutations=9, random_state=0)
    assert compared.names == tuple(ITEMS)


def test_missing_answers_are_drawn_given_the_covariates():
    data = frame().astype(dict.fromkeys(ITEMS, float))
    data.iloc[::7, 1] = np.nan
    net = IsingNetwork(covariates=["age", "sex"], missing="impute").fit(data)
    assert net.imputation_.converged
    assert ["a", "b"] in [list(pair) for pair in zip(net.edges()["source"], net.edges()["target"], strict=True)]


def test_a_covariate_that_determines_a_column_is_named():
    data = frame().assign(copy=lambda each: each["a"])
    with pytest.warns(DataWarning, match="the covariate 'copy' all but determines column 'a'"):
        Method().fit(as_table(data.drop(columns=["age", "sex"]), covariates=["copy"]))


def test_the_command_line_takes_covariates(tmp_path):
    frame().to_csv(tmp_path / "table.csv", index=False)
    table = read_table(tmp_path / "table.csv", covariates=["age", "sex"])
    assert table.variables.covariate == (False,) * 4 + (True, True)
    run("fit", str(tmp_path / "table.csv"), "--covariates", "age,sex", "-o", str(tmp_path / "net"))
    with (tmp_path / "net" / "covariates.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert {row["covariate"] for row in rows} == {"age", "sex"}
    assert len(rows) == 8
    edges = (tmp_path / "net" / "edges.csv").read_text()
    assert "age" not in edges
    assert "sex" not in (tmp_path / "net" / "nodes.csv").read_text()
    run("report", str(tmp_path / "net"), str(tmp_path / "table.csv"), "-o", str(tmp_path / "page.html"))
    assert "Covariates" in (tmp_path / "page.html").read_text()
    run("info", str(tmp_path / "table.csv"), "--covariates", "age,sex")
    run("plot", "network", str(tmp_path / "net"), "-o", str(tmp_path / "net.png"))
    run("predict", str(tmp_path / "net"), str(tmp_path / "table.csv"))
