"""Covariates from a frame or a file to estimators, tables, pictures, pages and files."""

import csv
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from commands import run
from reports import build_report

from isinglass import (
    IsingLasso,
    IsingLassoCV,
    IsingLassoEBIC,
    IsingLassoStARS,
    IsingNetwork,
    Method,
    NodewiseIsing,
    NodewiseIsingEBIC,
    Run,
    as_table,
    bootstrap,
    compare_groups,
    ising_path,
    load,
    metrics,
    read_table,
    refit,
)
from isinglass.errors import DataError, DataWarning
from isinglass.export import to_networkx

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
    [
        (["height"], "a column of the table; got .height"),
        ([True], "a column of the table; got True"),
        (range(6), r"must leave a column that is modeled"),
    ],
)
def test_what_is_no_covariate_is_refused(given, message):
    with pytest.raises(DataError, match=message):
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
        NodewiseIsingEBIC(penalty_weights=None),
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
    assert len(net.covariate_edges()["covariate"]) == 8
    assert "among 4 columns" in repr(net)
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
    assert metrics.centrality(net)["name"].tolist() == ITEMS
    assert metrics.node_table(data, net)["name"].tolist() == ITEMS
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
    assert "Adjusted for: age, sex (couplings unpenalized" in net.summary()


def test_texts_count_nodes_without_covariates():
    table = as_table(frame(), kinds={"age": "continuous"}, encode="auto", covariates=["age", "sex"])
    found = Method().choose(table)
    for text in (repr(found), repr(refit(table, found.solution))):
        assert "among 4 nodes" in text, text


def test_resamples_and_groups_are_about_the_variables():
    data = frame()
    found = bootstrap(data, IsingNetwork(covariates=["age", "sex"]), n_boot=5, random_state=0)
    assert found.names == tuple(ITEMS)
    assert len(found.nodes()["name"]) == 4
    same = bootstrap(data, IsingNetwork(covariates=["age", "sex"]), n_boot=2, random_state=0, run=Run(n_jobs=2))
    assert np.array_equal(found.fields[:2], same.fields)
    table = as_table(data, covariates=["age", "sex"])
    compared = compare_groups(table, ["x", "y"] * 200, 0.02, n_permutations=9, random_state=0)
    assert compared.names == tuple(ITEMS)


def test_missing_answers_are_drawn_given_the_covariates():
    data = frame().astype(dict.fromkeys(ITEMS, float))
    data.iloc[::7, 1] = np.nan
    net = IsingNetwork(covariates=["age", "sex"], missing="impute").fit(data)
    assert net.fit_.imputation.converged
    assert ["a", "b"] in [list(pair) for pair in zip(net.edges()["source"], net.edges()["target"], strict=True)]


def robust_regression(y, x):
    """Return intercept and slope of a logistic regression by Newton's method, with sandwich standard errors."""
    Z, found = np.column_stack([np.ones(len(y)), x]), np.zeros(2)
    for _ in range(30):
        p = 1 / (1 + np.exp(-Z @ found))
        inverse = np.linalg.inv((Z.T * (p * (1 - p))) @ Z)
        found += inverse @ Z.T @ (y - p)
    return found, np.sqrt(np.diag(inverse @ (Z.T * (y - p) ** 2) @ Z @ inverse))


def test_couplings_with_covariates_have_standard_errors(tmp_path):
    data = frame()[["c", "d", "age"]]
    fit = IsingNetwork(covariates=["age"]).fit(data).fit_
    assert fit.network.n_edges == 0  # so that each variable is a regression on age alone
    columns, sd = fit.covariate_edges(), fit.network.variables.units[2]
    for k, name in enumerate(columns["variable"]):
        (_, slope), (_, error) = robust_regression(data[name].to_numpy(), data["age"].to_numpy())
        for column in ("coupling", "refitted"):
            assert columns[column][k] / sd == pytest.approx(slope, abs=0.1 * error)  # steps of the grid
        assert columns["std_error"][k] / sd == pytest.approx(error, rel=0.01)
    fit.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz").covariate_edges()
    assert again["std_error"].tolist() == columns["std_error"].tolist()
    page = build_report(fit)
    said = json.loads(page.split('id="report-data">')[1].split("</script>")[0])["covariates"]["age"]
    assert said.startswith(f"c +{columns['coupling'][0]:.3g} ({columns['std_error'][0]:.2g})")


def test_refits_of_edges_and_covariates_are_in_their_places():
    fit = IsingNetwork(covariates=["age", "sex"]).fit(frame()).fit_
    free = refit(as_table(frame(), covariates=["age", "sex"]), fit.solution)
    assert fit.refits.edges == pytest.approx(free.edge_values, abs=1e-3)
    free_network = free.solution.network
    assert (free_network.covariate_pairs == fit.network.covariate_pairs).all()
    assert fit.refits.covariates == pytest.approx(free_network.covariate_values, abs=1e-3)
    assert (fit.refits.covariate_errors > 0).all()


def test_errors_of_covariates_know_of_missing_answers():
    data = frame().astype(dict.fromkeys(ITEMS, float))
    whole = IsingNetwork(covariates=["age", "sex"]).fit(data).fit_
    data.loc[data.index % 2 == 1, "c"] = np.nan
    holed = IsingNetwork(covariates=["age", "sex"], missing="impute").fit(data).fit_
    errors = {}
    for name, fit in {"whole": whole, "holed": holed}.items():
        columns = fit.covariate_edges()
        pairs = zip(columns["covariate"], columns["variable"], columns["std_error"], strict=True)
        errors[name] = {(covariate, variable): error for covariate, variable, error in pairs}
    assert errors["holed"]["age", "c"] > 1.1 * errors["whole"]["age", "c"]
    assert errors["holed"]["age", "d"] == pytest.approx(errors["whole"]["age", "d"], rel=0.1)


def test_a_covariate_reaches_to_its_extremes_unless_these_are_wild():
    rng = np.random.default_rng(0)
    items = {"a": rng.integers(0, 2, 2000), "b": rng.integers(0, 2, 2000)}
    numbers = rng.standard_t(3, 2000)
    wild = np.append(numbers[1:], 1e4)
    plain, cut = (
        as_table(pd.DataFrame({**items, "x": each}), covariates=["x"]).coding.columns[2] for each in (numbers, wild)
    )
    assert plain.ends == pytest.approx((numbers.min(), numbers.max()))
    assert plain.beyond == (0, 0)
    assert cut.ends[1] < 10.0
    assert cut.beyond[1] >= 1


def test_groups_are_compared_given_covariates(tmp_path):
    data = frame().assign(group=["x", "y"] * 200)
    data.to_csv(tmp_path / "table.csv", index=False)
    call = ["compare", str(tmp_path / "table.csv"), "--groups", "group", "--covariates", "age,sex", "--alpha", "0.02"]
    outcome = run(*call, "--resamples", "9", "-o", str(tmp_path / "compared"))
    assert "Adjusted for  age, sex" in outcome.stderr
    with (tmp_path / "compared" / "nodes.csv").open() as stream:
        assert {row["name"] for row in csv.DictReader(stream)} == set(ITEMS)
    page = (tmp_path / "compared" / "report.html").read_text()
    assert "It is adjusted for age and sex (conditioned on and not modeled" in page
    table = as_table(data.drop(columns="group"), covariates=["age", "sex"])
    found = compare_groups(table, data["group"], 0.02, n_permutations=9, random_state=0)
    assert found.covariates == ("age", "sex")
    for group, solution in zip(found.groups, found.solutions, strict=True):  # each group is adjusted for its own rows
        alone = ising_path(table[np.flatnonzero(data["group"] == group)], [0.02])[0]
        assert solution.edge_values == pytest.approx(alone.edge_values, abs=1e-5)


def test_what_needs_a_distribution_of_every_column_says_what_to_do():
    fit = IsingNetwork(covariates=["age", "sex"]).fit(frame()).fit_
    with pytest.raises(DataError, match=r"covariate 'age' has none.*Leave the covariates out, or model them"):
        fit.sample(10)
    halves = [frame().iloc[:200], frame().iloc[200:]]
    with pytest.raises(DataError, match=r"covariates need a table in memory.*Read it into memory"):
        IsingNetwork(covariates=["age"]).fit(halves)


def test_a_covariate_that_determines_a_column_is_named():
    data = frame().assign(copy=lambda each: each["a"])
    with pytest.warns(DataWarning, match="The covariate 'copy' almost determines column 'a'"):
        Method().fit(as_table(data.drop(columns=["age", "sex"]), covariates=["copy"]))


def test_a_covariate_that_determines_a_rare_category_alone_says_so():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.integers(0, 2, (300, 2)), columns=list("ab")).assign(age=rng.normal(size=300))
    data["party"] = np.where(data["age"] >= data["age"].nlargest(3).min(), "rare", rng.choice(["red", "blue"], 300))
    table = as_table(data, kinds={"party": "nominal", "age": "continuous"}, covariates=["age"])
    with pytest.warns(DataWarning, match="The covariate 'age' almost determines column 'party' or a category"):
        Method().fit(table)


def test_a_covariate_with_an_ordinary_correlation_is_not_named():
    rng = np.random.default_rng(0)
    age = rng.normal(size=1000)
    data = pd.DataFrame({name: 0.5 * age + np.sqrt(0.75) * rng.normal(size=1000) for name in "abc"}).assign(age=age)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        Method().fit(as_table(data, kinds="continuous", covariates=["age"]))
    copied = data.assign(age=data["a"])
    with pytest.warns(DataWarning, match="The covariate 'age' almost determines column 'a'"):
        Method().fit(as_table(copied, kinds="continuous", covariates=["age"]))


def test_covariates_stay_when_columns_are_chosen(tmp_path):
    file = tmp_path / "table.csv"
    frame().to_csv(file, index=False)
    chosen = read_table(file, columns=["a", "b"], covariates=["age"])
    assert chosen.names == ("a", "b", "age")
    assert chosen.variables.covariate == (False, False, True)
    assert read_table(file, columns=["age", "a"], covariates=["age"]).names == ("age", "a")
    with pytest.raises(DataError, match="covariates names 'age', which is left out"):
        read_table(file, drop=["age"], covariates=["age"])


def test_a_covariate_that_is_the_sum_of_the_columns_is_named_once():
    items = np.random.default_rng(0).integers(0, 2, (300, 3))
    data = pd.DataFrame(items, columns=list("abc")).assign(total=items.sum(axis=1))
    said = "The covariate 'total' almost determines column 'a', 'b', 'c' .* compute the covariate from other columns"
    with pytest.warns(DataWarning, match=said) as caught:
        Method().fit(as_table(data, covariates=["total"]))
    assert len(caught) == 1


def test_the_command_line_takes_covariates(tmp_path):
    frame().to_csv(tmp_path / "table.csv", index=False)
    table = read_table(tmp_path / "table.csv", covariates=["age", "sex"])
    assert table.variables.covariate == (False,) * 4 + (True, True)
    run("fit", str(tmp_path / "table.csv"), "--covariates", "age,sex", "-o", str(tmp_path / "net"))
    with (tmp_path / "net" / "covariates.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert {row["covariate"] for row in rows} == {"age", "sex"}
    assert len(rows) == 8
    assert all(float(row["std_error"]) > 0 for row in rows)
    edges = (tmp_path / "net" / "edges.csv").read_text()
    assert "age" not in edges
    assert "sex" not in (tmp_path / "net" / "nodes.csv").read_text()
    run("report", str(tmp_path / "net"), str(tmp_path / "table.csv"), "-o", str(tmp_path / "page.html"))
    assert "Covariates" in (tmp_path / "page.html").read_text()
    run("info", str(tmp_path / "table.csv"), "--covariates", "age,sex")
    run("plot", "network", str(tmp_path / "net"), "-o", str(tmp_path / "net.png"))
    run("predict", str(tmp_path / "net"), str(tmp_path / "table.csv"))
