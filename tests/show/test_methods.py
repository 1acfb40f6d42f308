"""The methods text says what the fit did: every sentence is checked against the fit, for every way to choose."""

import re
import warnings
from dataclasses import dataclass, fields, replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from isinglass import (
    EBIC,
    CrossValidation,
    Fixed,
    IsingNetwork,
    Method,
    PerNode,
    Run,
    StARS,
    TwoStage,
    bootstrap,
    compare_groups,
    load,
    plot,
    read_table,
    save,
    simulate,
)
from isinglass.data import as_table
from isinglass.data.options import ReadOptions
from isinglass.errors import IsinglassWarning
from isinglass.select import ImputationSettings, sample_size
from isinglass.show.report.methods import describe_comparison, describe_fit
from isinglass.version import YEAR

N = 300


def methods_text(fit, *bootstraps):
    return describe_fit(fit, *bootstraps).text


def citation(fit, *bootstraps):
    return describe_fit(fit, *bootstraps).references


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsinglassWarning)
        yield


def chain(strength=1.5, n=N):
    return simulate.exact_sample(simulate.chain_network(6, strength=strength, fields="balanced"), n, random_state=1)


def likert(n=N):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(n, 1))
    return pd.DataFrame(np.clip(np.round(z + rng.normal(size=(n, 5)) + 3), 1, 5), columns=list("abcde"))


def mixed():
    rng = np.random.default_rng(2)
    base = rng.integers(0, 3, N)
    codes = np.column_stack([base > 0, base, (base + (rng.random(N) < 0.3)) % 3]).astype(np.uint8)
    return as_table(codes, kinds=["binary", "ordinal", "nominal"])


def holes(frame, share=0.05):
    return frame.where(np.random.default_rng(3).random(frame.shape) > share)


def weak():
    """Return many weak dependencies on one hidden column: the EBIC finds too little of what can be predicted."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(400, 1))
    return (rng.normal(size=(400, 40)) + 0.9 * hidden > 0).astype(np.uint8)


def number(pattern, text):
    return float(re.search(pattern, text)[1])


def check_everywhere(fit, text):
    """Check what every text says: sizes, kinds, edges, certificate."""
    assert f"was estimated from {fit.data.n_observations} observations" in text
    for kind in set(fit.network.kinds):
        assert f"{fit.network.kinds.count(kind)} {kind} variable" in text
    assert ("Ising" in text.split(".")[0]) == (set(fit.network.kinds) == {"binary"})
    assert f"has {fit.solution.n_edges} of {fit.network.n_pairs} possible edge" in text
    assert ("reached the optimum" in text) == fit.solution.converged
    assert ("Standard errors" in text) == (fit.refits is not None and np.isfinite(fit.refits.edge_errors).any())
    assert ("issing cells" in text) == (fit.missing is not None)
    assert ("sampling weights, with" in text) == (fit.data.weight_kind == "sampling")
    assert ("counts of equal observations" in text) == (fit.data.weight_kind == "counts")
    assert ("AND rule" in text) == (fit.method.estimator == "nodewise")
    assert ("equally spaced" in text) == ("ordinal" in fit.network.kinds)
    assert ("its norm (√2 times the Frobenius norm, 2 times" in text) == ("nominal" in fit.network.kinds)
    assert ("put on" in text) == ("continuous" in fit.network.kinds)
    assert ("A time limit" in text) == bool(fit.selection.left_out)
    # What the text cites is what is listed, and the other way around.
    cited = re.findall(r"[(;] ?((?:van )?[A-ZÖ][^();]*?), ((?:19|20)\d\d)(?=[;)])", text)
    listed = citation(fit).split("\n")[1:]
    assert len(set(cited)) == len(listed)
    assert all(any(author.split()[0] in line and f"({year})" in line for line in listed) for author, year in cited)
    if not np.isnan(fit.solution.alpha) and "(α = " in text.rpartition("possible edge")[0]:
        alphas = [float(found) for found in re.findall(r"α = ([\d.e-]+)", text)]
        assert any(alpha == pytest.approx(fit.solution.alpha, rel=1e-3) for alpha in alphas)


SELECTORS = {
    "ebic": EBIC(gamma=0.5),
    "cv": CrossValidation(n_folds=4, random_state=7),
    "stars": StARS(n_subsamples=10, random_state=3),
    "given": Fixed(0.05),
}
SAID = {
    "ebic": ["chosen by the extended BIC (EBIC, gamma 0.5;"],
    "cv": ["chosen by the mean log pseudo-likelihood of held-out rows (cross-validation, 4 folds, rule"],
    "stars": ["stability of edges over subsamples", "10 subsamples", "seed 3"],
    "given": ["The penalty was given (α = 0.05)."],
}
CITED = {"ebic": "Barber", "stars": "Roeder"}


@pytest.mark.parametrize("name", SELECTORS)
def test_every_selector_says_what_it_did(name):
    fit = Method(selector=SELECTORS[name]).fit(chain())
    text = methods_text(fit)
    check_everywhere(fit, text)
    for words in SAID[name]:
        assert words in text
    others = [words for other in SAID if other != name for words in SAID[other][:1] if words not in SAID[name]]
    assert not any(words in text for words in others)
    cited = citation(fit)
    assert ("Barber" in cited, "Roeder" in cited) == (CITED.get(name) == "Barber", CITED.get(name) == "Roeder")


def test_regressions():
    fit = Method("nodewise", selector=PerNode(gamma=0.5)).fit(chain())
    text = methods_text(fit)
    check_everywhere(fit, text)
    assert "regression of every variable on all others (logistic; Ravikumar" in text
    assert "chosen for every node by the extended BIC (EBIC of every node, gamma 0.5; van Borkulo et al., 2014)" in text
    assert "reached the optimum for this table and penalty" in text
    assert "Ravikumar" in citation(fit)
    said = methods_text(Method("nodewise", selector=Fixed(0.2)).fit(mixed()))
    assert "(logistic, adjacent-category logistic, multinomial logistic; Haslbeck & Waldorp, 2020)" in said


def test_an_exact_estimate_has_standard_errors_of_the_pseudo_likelihood():
    text = methods_text(Method("exact").fit(chain()))
    assert "maximizing the L1-penalized likelihood, computed by enumeration" in text
    assert "errors of the unpenalized pseudo-likelihood estimate on these edges" in text


def test_a_pair_has_a_table_or_one_coupling():
    """Tables of nominal variables are a sentence of their own, also where nothing comes before it."""
    assert "with one coupling per pair of variables, using isinglass" in methods_text(
        Method(selector=Fixed(0.05)).fit(chain())
    )
    mixed_text = methods_text(Method(selector=Fixed(0.05)).fit(mixed()))
    assert "one coupling per pair" not in mixed_text
    nominal = as_table(np.random.default_rng(0).integers(0, 3, (N, 3)).astype(np.uint8), kinds="nominal")
    nominal_text = methods_text(Method(selector=Fixed(0.05)).fit(nominal))
    assert "one coupling per pair" not in nominal_text
    regressions = methods_text(Method("nodewise", selector=Fixed(0.2)).fit(mixed()))
    assert ". A pair with a nominal variable has a table of couplings, penalized by its norm (" in nominal_text
    for text in (mixed_text, regressions):
        assert ". A pair with a nominal variable has a table of couplings, penalized by its norm (" in text


def test_a_single_pair_is_one_possible_edge():
    fit = Method().fit(np.tile([[0, 0], [1, 1], [0, 1], [1, 1], [0, 0]], (20, 1)))
    assert "1 of 1 possible edge." in describe_fit(fit).text
    assert fit.facts()["Network"].startswith("1 of 1 possible edge (")


def test_one_of_something_is_singular():
    cells = chain(strength=4.0)[:, :2].astype(float)
    cells[3, 0] = np.nan
    text = methods_text(Method().fit(as_table(cells, missing="drop")))
    assert "Rows with 1 missing cell (0.2%) were left out (1 of 300)." in text
    assert "The lasso of the first stage has 1 edge (α = " in text


def test_one_resample_and_one_permutation_are_singular():
    X, fixed = chain(), Fixed(0.05)
    found = bootstrap(X, fixed, n_boot=1, random_state=0)
    assert "from 1 bootstrap resample of rows" in methods_text(Method(selector=fixed).fit(X), found)
    assert plot.bootstrap_intervals(found).child_axes[0].get_ylabel() == "share of 1 resample\nwith the edge"
    compared = describe_comparison(compare_groups(X, np.tile(["b", "a"], N // 2), fixed, n_permutations=1)).text
    assert "with 1 permutation" in compared
    assert "With 1 permutation no p-value" in compared
    assert "did not reach the tolerance" not in compared
    assert "1 permutations" not in compared
    study = sample_size(simulate.chain_network(3, strength=2.0), [60], n_repeats=1)
    assert plot.sample_size(study).get_ylabel() == "mean of 1 repeat"


def test_two_stages_that_the_ebic_decided():
    fit = Method(selector=TwoStage(n_folds=4, random_state=5)).fit(chain())
    assert fit.choice.reason == "ebic"
    text = methods_text(fit)
    check_everywhere(fit, text)
    assert "has the smallest extended BIC" in text
    assert "In 4-fold cross-validation, no network predicted held-out observations clearly better" in text
    assert "5% of the gain" in text
    first = fit.selection.stages.each[0]
    assert number(r"edges? \(α = ([\d.e-]+)\)", text) == pytest.approx(first.alpha, rel=1e-3)
    assert f"has {first.n_edges} edges (" in text
    assert "Zou" in citation(fit)


def test_two_stages_without_a_check():
    text = methods_text(Method(selector=TwoStage(keep=0.0)).fit(chain()))
    assert "has the smallest extended BIC" in text
    assert "cross-validation" not in text


def test_folds_are_those_that_there_were():
    """Four rows have four folds."""
    rows = np.array([[0, 0, 1], [1, 1, 0], [0, 0, 0], [1, 1, 1]])
    fit = Method(selector=TwoStage(n_folds=10)).fit(rows)
    assert fit.selection.stages.n_folds < 10
    assert "10 folds" not in methods_text(fit)
    assert fit.chosen_by in methods_text(fit)


@dataclass(frozen=True, eq=False, repr=False)
class Doubled(EBIC):
    """A selector of the user."""

    words = "EBIC, doubled"


def test_a_selector_of_the_user_is_named():
    assert "The penalty was chosen by a rule of our own (EBIC, doubled) (α" in methods_text(
        Method(selector=Doubled()).fit(chain())
    )


def test_two_stages_that_prediction_decided(tmp_path):
    fit = Method().fit(weak())
    assert fit.choice.reason == "prediction"
    text = methods_text(fit)
    check_everywhere(fit, text)
    assert "The network has the smallest extended BIC" not in text
    assert f"keeps {fit.choice.keep:.0%} of the largest gain" in text
    taken = fit.choice.stages[fit.choice.stage]
    stage = {0.0: "the first stage", 1.0: "the second stage", 0.5: "square root"}[taken.exponent]
    assert stage in text.partition("of the largest gain")[2].partition("(α")[0]
    # The claim itself, recomputed: sparsest among those that keep the share of the best gain.
    stages = fit.choice.stages
    best = max(np.nanmax(each.held_out) for each in stages)
    good = [
        each.path[k].n_edges
        for each in stages
        for k in np.flatnonzero(each.held_out >= fit.choice.keep * best).tolist()
    ]
    assert fit.solution.n_edges == min(good)
    fit.save(tmp_path / "net.npz")
    assert load(tmp_path / "net.npz").methods_text() == text


def test_two_stages_without_edges():
    rng = np.random.default_rng(0)
    fit = Method().fit(rng.integers(0, 2, (80, 5)))
    assert fit.solution.n_edges == 0
    text = methods_text(fit)
    check_everywhere(fit, text)
    said = {"empty": ("found no edges", "better than a network without edges"), "ebic": ("smallest extended BIC",)}
    assert any(words in text for words in said[fit.choice.reason])


def test_an_empty_first_stage_is_not_called_a_prediction():
    """All rows once: no pair has an association, so stage 1 is empty, and no rows are held out."""
    fit = Method().fit(np.array(list(product([0, 1], repeat=6))))
    assert (fit.selection.stages.reason, fit.selection.stages.n_folds, len(fit.selection.stages.each)) == (
        "empty",
        0,
        1,
    )
    assert fit.facts()["Stages"] == "AIC: 0 edges, so there was no second stage"
    assert "so no second stage was needed" in fit.methods_text()


def test_categories():
    net = IsingNetwork(kinds="ordinal").fit(likert())
    text = net.methods_text()
    check_everywhere(net.fit_, text)
    assert "5 ordinal variables (5 categories)" in text
    assert "Goodman" in citation(net.fit_)
    assert "Hastie" not in citation(net.fit_)
    fit = Method().fit(mixed())
    text = methods_text(fit)
    check_everywhere(fit, text)
    assert "1 binary variable, 1 ordinal variable (3 categories) and 1 nominal variable (3 categories)" in text
    assert "Hastie" in citation(fit)


def test_other_spacing_of_scores_is_not_called_equal():
    fit = Method(selector=Fixed(0.05)).fit(
        as_table(likert(), kinds="ordinal", scores={key: [0, 1, 2, 4, 8] for key in "abcde"})
    )
    assert "whose scores are not all equally spaced" in methods_text(fit)


def test_observations_are_counted_once():
    """Completed copies are one person, sampling weights change no number of people, and counts add up."""
    frame = likert()
    imputed = IsingNetwork(kinds="ordinal", missing="impute").fit(holes(frame)).fit_
    assert imputed.data.n_observations == N
    text = methods_text(imputed)
    check_everywhere(imputed, text)
    n_cells = int(holes(frame).isna().to_numpy().sum())
    assert f"Missing cells ({n_cells}, {n_cells / frame.size:.1%}) were imputed 10 times" in text
    assert "Rubin" in citation(imputed)
    assert "Rubin's rules" in text

    weight = np.random.default_rng(5).exponential(size=N)
    weighted = Method().fit(chain(), sample_weight=weight)
    assert weighted.data.n_observations == N
    text = methods_text(weighted)
    check_everywhere(weighted, text)
    assert number(r"effective number of ([\d.]+) \(Kish", text) == pytest.approx(
        weight.sum() ** 2 / (weight @ weight), abs=0.06
    )
    assert "Kish" in citation(weighted)

    counts = np.random.default_rng(5).integers(1, 4, N)
    counted = Method().fit(chain(), sample_weight=counts)
    assert counted.data.n_observations == counts.sum()
    check_everywhere(counted, methods_text(counted))

    dropped = IsingNetwork(kinds="ordinal", missing="drop").fit(holes(frame)).fit_
    left = int(holes(frame).isna().any(axis=1).sum())
    assert dropped.data.n_observations == N - left
    assert f"were left out ({left} of {N})" in methods_text(dropped)


def test_continuous_columns():
    rng = np.random.default_rng(4)
    age = rng.integers(18, 60, N)
    frame = pd.DataFrame({"age": age, "income": np.exp(age / 20 + rng.normal(size=N)), "owner": age > 40})
    frame["height"] = rng.normal(170, 10, N)
    frame.loc[7, "height"] = 1700.0
    kinds = {"age": "continuous", "height": "continuous"}
    net = IsingNetwork(kinds=kinds, scores={"income": "normal"}).fit(frame)
    text = net.methods_text()
    check_everywhere(net.fit_, text)
    assert "network (Lee & Hastie, 2015) of 1 binary variable and 3 continuous variables was estimated" in text
    rules = dict(zip(frame.columns, net.fit_.coding.columns, strict=True))
    assert f"age in {len(np.unique(age))} steps from {age.min()} to {age.max()};" in text  # whole numbers are kept
    assert f"height in {rules['height'].n_categories} steps from" in text
    assert "The scores of income are normal scores" in text
    low, high = rules["height"].ends
    outside = int((frame["height"] < low).sum()), int((frame["height"] > high).sum())
    assert sum(outside) > 0
    assert f"Of the values, {outside[0]} below and {outside[1]} above the grid of their variable were" in text
    cited = citation(net.fit_)
    assert all(name in cited for name in ("Yang", "Hastie", "nonparanormal", "Chen, J."))
    assert not any(name in cited for name in ("Barber", "Goodman", "Geng"))

    equal = as_table(np.random.default_rng(0).normal(size=(N, 2)), kinds="continuous", names=["x", "y"])
    text = methods_text(Method(selector=Fixed(0.05)).fit(equal))
    assert re.search(r"grids \(x in \d+ steps from −[\d.]+ to [\d.]+; y in \d+ steps from −[\d.]+ to", text)

    plain = IsingNetwork(kinds="continuous").fit(frame[["age", "height"]])
    text = plain.methods_text()
    assert "grids" in text
    assert "normal scores" not in text
    assert "Hastie" not in citation(plain.fit_)
    regressions = Method("nodewise", selector=Fixed(0.1)).fit(
        as_table(frame[["age", "owner"]], kinds={"age": "continuous"})
    )
    said = methods_text(regressions)
    check_everywhere(regressions, said)
    assert f"grids (age in {len(np.unique(age))} steps from {age.min()} to {age.max()}), with a free" in said
    assert "(logistic, adjacent-category logistic on a grid; Haslbeck & Waldorp, 2020)" in said


def test_covariates_are_no_variables_of_the_network():
    X = pd.DataFrame(chain(), columns=list("abcdef")).assign(age=np.random.default_rng(0).integers(18, 60, N))
    table = as_table(X, kinds={"age": "continuous"})
    table = replace(table, variables=table.variables.with_covariates(["age"]))
    fit = Method(selector=Fixed(0.05)).fit(table)
    text = methods_text(fit)
    assert "A pairwise Markov network (Ising model) of 6 binary variables was estimated" in text
    assert "adjusted for age (conditioned on and not modeled" in text
    assert "put on" not in text
    assert f"has {fit.solution.n_edges} of 15 possible edges" in text
    assert not any(name in citation(fit) for name in ("Hastie", "Yang"))


def test_a_limit_of_time_is_mentioned():
    fit = Method().fit(weak(), run=Run(max_time=1e-9))
    assert (fit.choice.reason, fit.choice.stage) == ("time", 0)
    text = methods_text(fit)
    check_everywhere(fit, text)
    assert f"A time limit ended the search before it reached {fit.selection.left_out}." in text
    assert "The penalty was chosen in two stages: a lasso with the smallest AIC" in text
    assert "The network has the smallest AIC of those that were compared" in text
    whole = Method().fit(chain())
    stages = replace(whole.selection.stages, reason="time", n_folds=0)
    text = methods_text(
        replace(whole, selection=replace(whole.selection, stages=stages, left_out="the check by prediction"))
    )
    assert "The network has the smallest extended BIC of those that were compared" in text
    assert "of the largest gain" not in text
    assert "-fold cross-validation" not in text


def test_reversed_items_are_mentioned(tmp_path):
    likert().to_csv(tmp_path / "items.csv", index=False)
    table = read_table(tmp_path / "items.csv", kinds="ordinal", reverse=["b", "d"])
    fit = Method(selector=Fixed(0.05)).fit(table)
    assert "The categories of b and d were taken in reverse order." in methods_text(fit)
    words = {"b": {1: "never", 2: "rarely", 3: "sometimes", 4: "often", 5: "always"}}
    table = read_table(tmp_path / "items.csv", kinds="ordinal", value_labels=words, reverse=["b:c", 4])
    save(Method(selector=Fixed(0.05)).fit(table), tmp_path / "net.npz")
    assert "The categories of b, c and e were taken in reverse order." in load(tmp_path / "net.npz").methods_text()


def test_what_stands_for_one():
    answers = pd.DataFrame(np.where(chain() == 1, "yes", "no"), columns=list("abcdef"))
    said = IsingNetwork(encode="auto").fit(answers).methods_text()
    assert "In a, b, c, d, e and f, 1 stands for 'yes' and 0 for 'no'." in said
    answers["f"] = np.where(answers["f"] == "yes", "agree", "disagree")
    said = IsingNetwork(encode="auto").fit(answers).methods_text()
    assert "In f, 1 stands for 'agree' and 0 for 'disagree'." in said
    assert "In a, b, c, d and e, 1 stands for 'yes'" in said
    answers = answers.rename(columns={"a": "Sad"}).replace({"no": "NO", "yes": "YES"})
    said = IsingNetwork(encode="auto").fit(answers).methods_text()
    assert "In Sad, b, c, d and e, 1 stands for 'YES' and 0 for 'NO'." in said  # spelled as in the table
    said = IsingNetwork(binarize=3).fit(likert()).methods_text()
    assert "In a, b, c, d and e, 1 stands for values above 3." in said
    assert "stands for" not in methods_text(Method(selector=Fixed(0.05)).fit(chain()))


def test_a_bootstrap_is_mentioned():
    X = chain()
    fit = Method(selector=Fixed(0.05)).fit(X)
    found = bootstrap(X, Fixed(0.05), n_boot=12, random_state=0)
    text = methods_text(fit, found)
    assert "from 12 bootstrap resamples of rows, with the penalty of the whole table" in text
    again = bootstrap(X, EBIC(alphas=5), n_boot=4, random_state=0)
    assert "4 bootstrap resamples of rows, with the penalty chosen again" in methods_text(fit, again)
    again = bootstrap(X, EBIC(alphas=[0.05]), n_boot=2, random_state=0)  # which always finds the same one
    assert "of rows, with the penalty chosen again" in methods_text(fit, again)
    nodewise = Method("nodewise", selector=PerNode())
    for reselect, said in ((True, "with the penalty chosen again"), (False, "with the penalty of the whole")):
        per_node = bootstrap(X, nodewise, n_boot=2, random_state=0, reselect=reselect)
        assert f"2 bootstrap resamples of rows, {said}" in methods_text(nodewise.fit(X), per_node)
    drops = bootstrap(X, Fixed(0.05), n_boot=20, kind="case-drop", random_state=0)
    text = methods_text(fit, found, drops)
    assert "12 bootstrap resamples" in text
    n_shares, ends = len(set(drops.dropped.tolist())), f"{drops.dropped.min():.0%} to {drops.dropped.max():.0%}"
    assert f"20 subsets of the rows, about {20 // n_shares} for each of {n_shares} shares from {ends}" in text
    for of, value in drops.cs_coefficients().items():
        assert f"{value:.2f} ({of.replace('_', ' ')})" in text
    empty = bootstrap(X, Fixed(5.0), n_boot=10, kind="case-drop", random_state=0)
    assert "There are no CS-coefficients, because the network has no edges." in methods_text(fit, empty)
    assert "Epskamp" in citation(fit, found)
    assert "Epskamp" not in citation(fit)


def test_groups_name_the_estimator():
    X = chain()
    labels = np.tile(["b", "a"], N // 2)
    found = compare_groups(X, labels, n_permutations=9, random_state=0)
    draft = describe_comparison(found)
    text = draft.text
    assert f"a (n = {N // 2}), b (n = {N // 2})" in text
    assert "by maximizing the L1-penalized pseudo-likelihood" in text
    assert "9 permutations, seed 0, reassigning rows to groups at random" in text
    assert found.methods_text() == text
    assert "The computation reached the optimum in every group" in text
    assert "chosen for all rows together in two stages: a lasso with the smallest AIC, then an adaptive" in text
    assert "5 folds, seed 0; Zou, 2006; Barber & Drton, 2015), and rescaled to the noise in 1/2 of the rows" in text
    assert number(r"\(α = ([\d.e-]+)\)", text) == pytest.approx(found.solutions[0].alpha, rel=1e-3)
    assert "van Borkulo" in draft.references
    few = compare_groups(X, labels, 0.03, n_permutations=9, random_state=0)
    given = describe_comparison(few).text
    assert "used the same penalty (α = 0.03)" in given
    # What did not converge is told also where the permutations are too few to find anything.
    assert "2 of the permutations did not reach" in describe_comparison(replace(few, n_unconverged=2)).text
    again = compare_groups(X, labels, EBIC(alphas=5), reselect=True, n_permutations=9, random_state=0)
    assert (
        "again in every permutation by the extended BIC (EBIC, gamma 0.25; Barber & Drton, 2015)."
        in describe_comparison(again).text
    )


def test_a_comparison_tells_of_weights():
    X, labels, rng = chain(), np.tile(["b", "a"], N // 2), np.random.default_rng(5)
    standardized = Method(selector=Fixed(0.03), penalty_weights="standardized")
    options = {"n_permutations": 3, "random_state": 0}
    text = compare_groups(X, labels, standardized, sample_weight=rng.exponential(size=N), **options).methods_text()
    assert "Observations had sampling weights, which stayed with their rows in every permutation." in text
    assert "Penalties were weighted by the standard deviations of the variables." in text
    counts = rng.integers(1, 4, N)
    text = compare_groups(X, labels, 0.03, sample_weight=counts, **options).methods_text()
    assert f"(n = {counts[1::2].sum()})" in text
    assert "Row weights were counts of equal observations." in text
    plain = compare_groups(X, labels, 0.03, **options).methods_text()
    assert "weight" not in plain


def test_a_comparison_says_what_became_of_cells_and_items(tmp_path):
    frame, labels = likert(), np.tile(["b", "a"], N // 2)
    n_cells = int(holes(frame).isna().to_numpy().sum())
    n_rows = int(holes(frame).isna().any(axis=1).sum())
    options = {"kinds": "ordinal", "reverse": ["b", "d"]}
    for missing, words in (
        ("impute", f"Missing cells ({n_cells}, {n_cells / frame.size:.1%}) were imputed 5 times by stochastic EM"),
        (
            "drop",
            f"({n_cells / frame.size:.1%}) were left out ({n_rows} of {N})",
        ),
    ):
        table = as_table(holes(frame), missing=missing, **options)
        found = compare_groups(table, labels, 0.05, n_permutations=3, random_state=7)
        text = found.methods_text()
        assert words in text
        assert ("for all rows together, ignoring groups" in text) == (missing == "impute")
        assert "The categories of b and d were taken in reverse order." in text
        assert "3 permutations, seed 7" in text
        assert "With 3 permutations no p-value can be below 0.25: nothing could be found." in text
    save(found, tmp_path / "found.npz")
    assert load(tmp_path / "found.npz").methods_text() == text
    whole = compare_groups(frame > 3, labels, 0.05, n_permutations=3, random_state=np.random.default_rng(0))
    assert "missing" not in whole.methods_text()
    assert "seed" not in whole.methods_text()


def test_a_check_is_mentioned_whether_it_passes_or_not():
    X = chain()
    fit = Method().fit(X)
    passed = fit.check(X)
    assert passed.passed
    assert passed.consequence == ""
    assert "simulated" not in fit.methods_text()
    failed = Method(selector=Fixed(1.0)).fit(X).check(X)
    assert not failed.passed
    for check in (passed, failed):
        text = fit.methods_text(check=check)
        assert f"{check.n_simulated} rows were simulated from the network. {check.sentence}" in text
    assert "Do not simulate rows" in failed.consequence


def test_resamples_say_what_is_repeated_in_them():
    X = chain()
    fit = Method().fit(X)
    again = bootstrap(X, n_boot=3, random_state=0)
    assert "of rows, with the penalty chosen again (Epskamp" in methods_text(fit, again)
    frame = as_table(holes(likert()), kinds="ordinal", missing="impute")
    method = Method(selector=Fixed(0.05))
    text = methods_text(method.fit(frame), bootstrap(frame, method, n_boot=2, random_state=0))
    assert "with the penalty of the whole table and missing cells imputed again" in text


# ------------------------------------------------------------------------------------------- nothing is left out


def survey():
    """Return columns of every kind, indicators, holes, weights and two groups."""
    rng = np.random.default_rng(8)
    mood = rng.normal(size=N)
    items = np.clip(np.round(3 + mood[:, None] + rng.normal(size=(N, 3))), 1, 5).astype(object)
    items[rng.random((N, 3)) < 0.02] = None
    color = rng.integers(0, 3, N)
    frame = pd.DataFrame(items, columns=list("abc")).assign(
        glad=np.where(mood > 0, "yes", "no"), age=rng.integers(18, 60, N) + np.round(5 * mood)
    )
    for k, name in enumerate(("red", "green", "blue")):
        frame[f"color_{name}"] = (color == k).astype(int)
    return frame.assign(w=rng.integers(1, 4, N), group=np.tile(["x", "y"], N // 2))


READ_AS = {
    "kinds": {"a": "ordinal", "b": "ordinal", "c": "ordinal", "age": "continuous"},
    "encode": "auto",
    "missing": "drop",
    "labels": ["group"],
    "drop": ["w"],
}
READ_DIFFERENTLY = {
    "kinds": {**READ_AS["kinds"], "a": "nominal"},
    "scores": {"a": [0, 1, 2, 4, 8]},
    "encode": {"glad": {"yes": 0, "no": 1}},
    "binarize": {"age": 40},
    "reverse": ["b"],
    "missing": "impute",
    "na_values": {"a": ["5.0"]},
    "covariates": ["age"],
    "combine_indicators": True,
    "weights": "w",
    "weight_kind": "sampling",
    "columns": ["a", "b", "glad", "age", "group"],
    "drop": ["w", "glad"],
    "value_labels": {"glad": {"yes": "agree", "no": "disagree"}},
}
ABOUT_FILES = {"format", "delimiter", "header", "id_column", "encoding", "decimal", "sheet"}
ABOUT_FILES |= {"max_rows", "max_columns", "max_bytes"}
READ_ALIKE = {
    **dict.fromkeys(ABOUT_FILES, "says how the file is written, not what its values mean"),
    "labels": "names columns that are no variables",
    "names": "is what variables are called",
    "guess": "is for `info`, which fits nothing that is reported",
}


@pytest.fixture(scope="module")
def texts_of_reading(tmp_path_factory):
    """Return a function of options of `read_table`: the paragraphs of a fit and of a comparison."""
    file = tmp_path_factory.mktemp("methods") / "survey.csv"
    survey().to_csv(file, index=False)

    def describe(**options):
        table = read_table(file, **{**READ_AS, **options})
        found = compare_groups(table, "group", 0.05, n_permutations=2, random_state=0)
        return Method(selector=Fixed(0.05)).fit(table).methods_text(), found.methods_text()

    return describe


@pytest.fixture(scope="module")
def texts_before(texts_of_reading):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsinglassWarning)
        return texts_of_reading()


def test_options_of_reading_are_all_listed():
    assert {field.name for field in fields(ReadOptions)} == READ_DIFFERENTLY.keys() | READ_ALIKE.keys()


@pytest.mark.parametrize("name", READ_DIFFERENTLY)
def test_how_a_table_was_read_is_told_of_a_fit_and_of_a_comparison(texts_of_reading, texts_before, name):
    options = {name: READ_DIFFERENTLY[name]}
    before = texts_before
    if name == "binarize":
        options["kinds"] = {key: kind for key, kind in READ_AS["kinds"].items() if key != "age"}
    elif name in ("weights", "columns"):
        options["drop"] = []
    elif name == "weight_kind":
        options |= {"weights": "w", "drop": []}
        before = texts_of_reading(weights="w", drop=[])
    after = texts_of_reading(**options)
    assert after[0] != before[0]
    assert after[1] != before[1]


METHOD_CHANGED = {
    "estimator": "exact",
    "penalty_weights": "standardized",
    "rule": "or",
    "selector": EBIC(alphas=5),
    "fdr": 0.1,
    "imputation": ImputationSettings(n_imputations=3),
    "standard_errors": False,
}
METHOD_ALIKE = dict.fromkeys(["tol", "max_iter"], "shows in the certificate, which is told")
OF_FITS_ONLY = {
    "fdr": "a comparison has tests of its own",
    "standard_errors": "a comparison has none",
    "imputation": "a comparison completes every row five times",
}


def test_settings_of_a_method_are_all_listed():
    assert {field.name for field in fields(Method)} == METHOD_CHANGED.keys() | METHOD_ALIKE.keys()


@pytest.mark.parametrize("name", METHOD_CHANGED)
def test_how_networks_were_estimated_is_told_of_a_fit_and_of_a_comparison(name):
    method = Method("nodewise" if name == "rule" else "joint", selector=Fixed(0.05))
    table = chain()
    if name == "imputation":
        table = as_table(holes(pd.DataFrame(table)), missing="impute")
    elif name == "standard_errors":
        method = Method()
    pairs = [method, method.replace(**{name: METHOD_CHANGED[name]})]
    before, after = (each.fit(table).methods_text() for each in pairs)
    assert before != after
    labels = np.tile(["b", "a"], N // 2)
    before, after = (compare_groups(table, labels, each, n_permutations=2).methods_text() for each in pairs)
    assert (before == after) == (name in OF_FITS_ONLY)


SETTINGS_CHANGED = {
    EBIC: {"gamma": 1.0},
    PerNode: {"gamma": 1.0},
    CrossValidation: {
        "n_folds": 3,
        "rule": "1se",
        "random_state": 9,
        "splits": [([0], [1]), ([1], [0])],
    },
    StARS: {"n_subsamples": 7, "threshold": 0.1, "random_state": 9},
    TwoStage: {"gamma": 1.0, "n_folds": 3, "random_state": 9, "keep": 0.0},
}
SETTINGS_ALIKE = dict.fromkeys(["alphas", "alpha_min_ratio", "subsample_size"], "where is searched, not what is sought")


@pytest.mark.parametrize("selector", SETTINGS_CHANGED)
def test_settings_of_a_selector_are_told_of_a_fit_and_of_a_comparison(selector):
    """The texts are those of records, so nothing has to be chosen again; two stages of a fit are tested above."""
    changed = SETTINGS_CHANGED[selector]
    assert {field.name for field in fields(selector)} - SETTINGS_ALIKE.keys() == changed.keys()
    estimator = "nodewise" if selector is PerNode else "joint"
    fit = Method(selector=Fixed(0.05)).fit(chain())
    found = compare_groups(chain(), np.tile(["b", "a"], N // 2), 0.05, n_permutations=2)
    for subject in [found] if selector is TwoStage else [fit, found]:
        before = replace(subject, method=Method(estimator, selector())).methods_text()
        for name, value in changed.items():
            assert replace(subject, method=Method(estimator, selector(**{name: value}))).methods_text() != before, name


def test_a_comparison_tells_when_prediction_decided():
    X = weak()
    found = compare_groups(X, np.resize(["a", "b"], len(X)), n_permutations=2, random_state=0)
    assert found.stages.reason == "prediction"
    text, stages = found.methods_text(), Method().fit(X).selection.stages
    assert found.stages == stages
    stage = {0.0: "the first stage.", 1.0: "the second stage."}.get(stages.chosen.exponent, "root of the couplings.")
    said = text.partition(f"keeps {stages.keep:.0%} of the largest gain")[2]
    assert stage in said.partition("The largest difference")[0]


def test_a_comparison_tells_how_many_folds_there_were(tmp_path):
    labels, X = ["a", "b"] * 6, np.tile([[0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]], (3, 1))
    options = {"n_permutations": 2, "random_state": 0}
    found = compare_groups(X, labels, TwoStage(n_folds=20), **options)
    assert found.stages.n_folds == 12
    assert "12 folds, seed 0; Zou, 2006; Barber & Drton, 2015), and rescaled" in found.methods_text()
    save(found, tmp_path / "found.npz")
    assert load(tmp_path / "found.npz").methods_text() == found.methods_text()
    again = compare_groups(X, labels, TwoStage(n_folds=20), reselect=True, **options)
    assert "20 folds, seed 0; Zou, 2006; Barber & Drton, 2015)." in again.methods_text()
    alone = np.repeat(list(product([0, 1], repeat=3)), 6, axis=0)
    found = compare_groups(alone, ["a", "b"] * 24, TwoStage(), **options)
    assert found.stages.ended_first
    assert "-fold cross-validation" not in found.methods_text()


def test_cells_that_were_imputed_once():
    method = Method(selector=Fixed(0.05), imputation=ImputationSettings(n_imputations=1))
    text = method.fit(as_table(holes(likert()), kinds="ordinal", missing="impute")).methods_text()
    assert "were imputed once by stochastic EM" in " ".join(text.split())


def test_isingfit_is_named():
    method = Method("nodewise", selector=PerNode(), penalty_weights="standardized")
    text = methods_text(method.fit(chain()))
    assert "van Borkulo et al., 2014)." in text
    assert "one coupling per pair" not in text
    assert "one coupling per pair" in methods_text(Method(selector=Fixed(0.05)).fit(chain()))


def test_the_reference_of_the_package_has_its_year():
    license_text = (Path(__file__).parents[2] / "LICENSE").read_text(encoding="utf-8")
    assert f"Copyright (c) {YEAR}, the isinglass developers" in license_text
    assert citation(Method(selector=Fixed(0.05)).fit(chain())).startswith(f"The isinglass developers. ({YEAR}).")


def test_names_of_the_user_are_no_markup():
    """Brackets and parentheses of names stay as they are, and cite nothing."""
    labels = np.tile(["men (m)", "see [@x] [@kish]"], N // 2)
    frame = pd.DataFrame(chain(), columns=["a (b) (c)", "[@stars]", *"cdef"])
    table = as_table(frame, covariates=["a (b) (c)", "[@stars]"])
    draft = describe_comparison(compare_groups(table, labels, 0.05, n_permutations=2, random_state=0))
    assert f"men (m) (n = {N // 2}), see [@x] [@kish] (n = {N // 2})" in draft.text
    assert "adjusted for a (b) (c) and [@stars] (conditioned" in draft.text
    assert "Kish" not in draft.references
    words = frame.replace({0: "no (n) (0)", 1: "[@yes]"})
    draft = describe_fit(Method(selector=Fixed(0.05)).fit(as_table(words, encode={"[@yes]": 1, "no (n) (0)": 0})))
    assert "1 stands for '[@yes]' and 0 for 'no (n) (0)'" in draft.text


def test_the_imputation_model_is_named():
    """Cells are drawn from a network of two stages, whatever chooses the penalty of the fit."""
    table = as_table(holes(pd.DataFrame(chain(), columns=list("abcdef"))), missing="impute")
    for method in (Method(selector=Fixed(0.05)), Method("nodewise", selector=PerNode())):
        text = methods_text(method.fit(table))
        assert "from a network whose edges were selected in two stages: a lasso with the smallest AIC" in text
        assert "and refitted almost without a penalty" in text
    labels = np.tile(["b", "a"], N // 2)
    text = compare_groups(table, labels, 0.05, n_permutations=2, random_state=0).methods_text()
    assert "refitted almost without a penalty, for all rows together, ignoring groups" in text


def test_penalties_of_nodes_are_not_called_one_penalty():
    labels, method = np.tile(["b", "a"], N // 2), Method("nodewise", selector=PerNode())
    for reselect, words in (
        (False, "chosen for all rows together for every node by"),
        (True, "and again in every permutation for every node by"),
    ):
        found = compare_groups(chain(), labels, method, reselect=reselect, n_permutations=2, random_state=0)
        assert words in found.methods_text()


def test_a_bootstrap_of_nodes_tells_of_imputed_cells():
    table = as_table(holes(pd.DataFrame(chain(), columns=list("abcdef"))), missing="impute")
    method = Method("nodewise", selector=PerNode())
    text = methods_text(method.fit(table), bootstrap(table, method, n_boot=2, random_state=0))
    assert "with the penalty chosen again and missing cells imputed again (Epskamp" in text
