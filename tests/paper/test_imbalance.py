"""The factorial on unbalanced tables: its tables, its counts, and the interventions behind its explanation."""

import numpy as np
import pandas as pd
import pytest

from isinglass import errors, nodewise_path, simulate
from paper import glmnet, imbalance, methods, page, published, study, unbalanced
from paper.data import paper_table, sample
from paper.evidence import Verdict
from paper.files import read_rows, write_rows
from paper.methods import fit_nlr, fit_plg
from paper.study import Config

SEED = Config.seed


@pytest.fixture(scope="module")
def needs_r():
    if glmnet.versions()["glmnet"] is None:
        pytest.skip("glmnet is not installed")


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Rows of the miniature; fits that fail do so after fewer passes than in the paper."""
    folder = tmp_path_factory.mktemp("imbalance")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(methods, "MAX_ITER", 5000)
        write_rows(folder / "rows.csv", study.run(imbalance, Config(quick=True, cache=folder / "cache")))
        yield read_rows(folder / "rows.csv")


def colliding_table():
    """Two rare columns that share one of their rare rows, and three that toss coins."""
    X = np.random.default_rng(0).integers(0, 2, (1000, 5)).astype(np.uint8)
    X[:, 0] = X[:, 1] = 1
    X[:8, 0] = 0
    X[7:12, 1] = 0
    return X


# ------------------------------------------------------------------------------------------- tables


def test_one_rare_node_is_the_papers_table():
    network_seed, chain_seed = np.random.SeedSequence([SEED, 10, 300, 3]).spawn(2)
    model = simulate.random_network(10, 0.3, unbalanced=True, random_state=network_seed)
    np.testing.assert_array_equal(imbalance.make_table(3, SEED), sample(model, 1000, chain_seed))
    _, balanced = paper_table(10, 0.3, 3, SEED)
    np.testing.assert_array_equal(imbalance.make_table(3, SEED, n_rare=0), balanced)
    several = imbalance.make_table(3, SEED, n_rare=5)
    assert (several[:, :5].mean(axis=0) > 0.9).all()


def test_rare_nodes_are_drawn_until_glmnet_accepts_them(monkeypatch):
    """The first chains of these tables have a rare node that is constant or nearly so; others do not repeat them."""
    found = {}
    for trial in range(3):
        X, n_redraws = imbalance.make_rare_table(trial, SEED, field=7.0)
        assert imbalance.minorities(X)[0] >= 2
        first = [imbalance.make_table(trial, SEED, field=7.0, attempt=k) for k in range(n_redraws)]
        assert all(imbalance.minorities(table)[0] < 2 for table in first)
        assert len({table.tobytes() for table in first}) == n_redraws  # every chain is another one
        found[trial] = n_redraws
    assert max(found.values()) > 1
    accepted, n_redraws = imbalance.make_rare_table(3, SEED)
    assert n_redraws == 0
    np.testing.assert_array_equal(accepted, imbalance.make_table(3, SEED))
    monkeypatch.setattr(imbalance, "MAX_REDRAWS", 1)
    with pytest.raises(errors.LimitError, match="in each of 2 chains"):
        imbalance.make_rare_table(0, SEED, field=50.0)


def test_constant_columns_are_left_out():
    X = np.array([[1, 0, 1], [1, 1, 0]], dtype=np.uint8)
    kept, n_constant = imbalance.drop_constant(X)
    assert (kept.tolist(), n_constant) == ([[0, 1], [1, 0]], 1)


def test_separation_is_what_it_says():
    design = np.array([[0.0, 1], [0, 1], [1, 1], [1, 1]])
    assert imbalance.is_separated(design, np.array([0, 0, 1, 1]))
    assert imbalance.is_separated(design, np.array([0, 0, 0, 1]))  # quasi-separated: never a 1 where x = 0
    assert not imbalance.is_separated(design, np.array([0, 1, 0, 1]))


def test_rare_nodes_and_the_rows_they_share():
    X = colliding_table()
    rare, meeting = imbalance.rare_nodes(X)
    assert rare.tolist() == [True, True, False, False, False]
    assert meeting.tolist() == rare.tolist()
    X[7, 1] = 1
    rare, meeting = imbalance.rare_nodes(X)
    assert (rare[:2].tolist(), meeting.any()) == ([True, True], False)


# ------------------------------------------------------------------------------------------- the explanation


def test_a_shared_rare_row_makes_the_newton_steps_overshoot():
    """The explanation, on a table made for it: NLR fails, from zero it does not, and PLG fails from its fields."""
    X, alpha, limit = colliding_table(), 1e-5, 5000
    stuck = fit_nlr(X, alpha, max_iter=limit)
    assert stuck.met.tolist() == [False, False, True, True, True]
    assert np.abs(stuck.theta).max() > 1e3
    assert fit_nlr(X, alpha, max_iter=limit, swap=True).converged
    assert fit_plg(X, alpha, max_iter=limit).converged
    assert not fit_plg(X, alpha, max_iter=limit, swap=True).converged
    apart = X.copy()
    apart[7, 1] = 1  # the same table without the shared row
    assert fit_nlr(apart, alpha, max_iter=limit).converged
    assert nodewise_path(X, [alpha / 2])[0].converged  # Newton steps that are checked do not mind


def test_the_library_warns_where_the_published_method_fails():
    X = colliding_table()
    assert published.plg(X, [1e-5])[0].converged
    with pytest.warns(errors.ConvergenceWarning, match="did not meet"):
        published.plg(X, [1e3, 1e-5], max_iter=5000)  # the fields come first


@pytest.mark.usefixtures("needs_r")
def test_glmnet_agrees_pass_for_pass_and_fails_too():
    X = colliding_table()
    session = glmnet.session()
    session.load(X)
    found = session.fit("nodewise", 1e-5, maxit=5000)
    ours = fit_nlr(X, 1e-5, max_iter=5000)
    assert ((found.jerr == 0) == ours.met).all()
    np.testing.assert_array_equal(found.passes[2:], ours.iterations[2:])
    one_rare_row = X[:, :4].copy()
    one_rare_row[:, 0] = 1
    one_rare_row[3, 0] = 0
    session.load(one_rare_row)
    found = session.fit("nodewise", 1e-2)
    assert found.jerr.tolist() == [glmnet.REFUSED, 0, 0, 0]
    assert session.fit("stacked", 1e-2).jerr.tolist() == [0]


# ------------------------------------------------------------------------------------------- rows, page, verdicts


def text_of(item, rows):
    return " ".join(page.item_section(item, pd.DataFrame(rows), Config())[0].split())


@pytest.mark.long
def test_rows_are_the_same_again(rows):
    cell = imbalance.cells(Config(quick=True))[2]
    again = pd.DataFrame(imbalance.run_cell(cell))
    found = rows[
        (rows[["data", "variant", "trial"]] == [cell[key] for key in ("data", "variant", "trial")]).all(axis=1)
    ]
    np.testing.assert_allclose(found["table_passes"], again["table_passes"], rtol=1e-5)
    np.testing.assert_allclose(found["epsilon"], again["epsilon"], rtol=1e-4, atol=1e-12)


def test_page_from_the_miniature(rows):
    text = text_of(imbalance, rows)
    assert "| the paper's: θ_11 = 5 | " in text
    assert "nan" not in text
    assert imbalance.draw(rows).axes


def make_row(data, variant, method, converged=True, passes=10.0, **more):
    row = {"data": data, "variant": variant, "method": method, "alpha": 1e-5, "trial": 0, "converged": converged}
    counts = {"table_passes": passes, "rare_passes": passes, "newton_steps": 9, "n_refused": 0, "epsilon": 0.1}
    facts = {"node_separated": True, "joint_separated": True, "minority": 5, "n_failed_accepted": int(not converged)}
    meeting = {"n_alone": 0, "n_failed_alone": 0, "n_meeting": 1, "n_failed_meeting": 0, "n_failed_common": 0}
    return row | counts | facts | meeting | {"n_redraws": 0} | more


def base(nlr=None, plg=None):
    """Return the rows that the text cannot do without: the paper's design by all methods, with some values changed."""
    changed = {"nlr": nlr or {}, "plg": plg or {}, "isinglass": {"epsilon": 1e-8}}
    return [make_row("paper", "published", method, **more) for method, more in changed.items()]


def started(nlr, plg):
    """Rows of five rare nodes: whether NLR and PLG converge from their own start and from the other one's."""
    flags = zip(("nlr", "plg"), (nlr, plg), strict=True)
    return base() + [
        make_row("5 rare", variant, method, good)
        for method, pair in flags
        for variant, good in zip(("published", "start swapped"), pair, strict=True)
    ]


@pytest.mark.parametrize(
    ("nlr", "plg", "verdict", "words"),
    [
        ((False, True), (True, False), Verdict.NOT, "exchanges the failures: on 1 tables"),
        ((False, False), (True, True), Verdict.REPRODUCED, "leaves the failures as they are: "),
        ((False, True), (True, True), Verdict.REMARK, "changes the failures, but does not exchange them: "),
        ((True, True), (True, True), Verdict.REMARK, "There are no failures that an exchange"),
    ],
)
def test_the_reason_is_judged_by_its_rule(nlr, plg, verdict, words):
    rows = pd.DataFrame(started(nlr, plg))
    assert imbalance.facts(rows)["verdicts"] == {"reason": verdict}
    (claim,) = page.item_section(imbalance, rows, Config())[1]
    assert words in claim.finding


def test_conditions_are_kinds_of_unbalanced_tables():
    """Balanced tables are no condition under which NLR has trouble with imbalance."""
    rows = base({"passes": 10.0}, {"passes": 20.0}) + [
        make_row(data, "published", method, passes=passes)
        for data in ("balanced", "p = 25")
        for method, passes in (("nlr", 30.0), ("plg", 20.0))
    ]
    found = text_of(imbalance, rows)
    assert "1 of the 2 kinds of unbalanced tables: the paper's, p = 25 (30 against 20 passes, 0 of 1 failed)." in found
    assert "It does not with: the paper's: θ_11 = 5" in found
    assert "The same happens with balanced tables" in found
    assert "It also does" not in text_of(imbalance, [row for row in rows if row["data"] != "balanced"])


def test_the_older_rule_is_compared_on_the_same_tables():
    rows = [*base(), make_row("paper", "published", "nlr", passes=1000.0, trial=1)]  # not tried with the older rule
    older = [make_row("paper", "older glmnet", method, passes=11.0) for method in ("nlr", "plg")]
    found = text_of(imbalance, rows + older)
    assert "older versions of glmnet does not matter" in found
    assert "NLR takes 11 instead of 10 passes and fails on 0 instead of 0 of 1 tables." in found
    failing = [make_row("paper", "older glmnet", method, converged=method == "plg") for method in ("nlr", "plg")]
    assert "older versions of glmnet matters" in text_of(imbalance, rows + failing)
    assert "older versions of glmnet" not in text_of(imbalance, rows)


@pytest.mark.parametrize(
    ("nlr", "plg", "words"),
    [
        ({"n_meeting": 4, "n_alone": 4, "n_failed_meeting": 3, "n_failed_alone": 1}, {}, "That is the case: "),
        ({"n_meeting": 4, "n_alone": 4, "n_failed_meeting": 1, "n_failed_alone": 3}, {}, "That is not the case: "),
        ({"joint_separated": True}, {}, "The stacked problem is affected as well: "),
        ({"joint_separated": False}, {}, "The stacked problem is not affected: "),
        ({}, {"passes": 5.0, "epsilon": 0.5}, "too early to come as close"),
        ({}, {"passes": 50.0, "epsilon": 0.01}, "and comes at least as close"),
    ],
)
def test_conclusions_follow_the_rows(nlr, plg, words):
    assert words in text_of(imbalance, base(nlr, plg))


def test_the_text_does_not_tell_what_the_rows_do_not():
    found = text_of(imbalance, base({"joint_separated": None}))
    assert "The stacked problem" not in found
    assert "used up their passes spent" not in found
    assert "spent them on 9 to 9 Newton steps" in text_of(imbalance, base({"converged": False}))


# ------------------------------------------------------------------------------------------- the timed figure


def test_timed_cell_has_every_method():
    cells = unbalanced.cells(Config(quick=True))
    ends = [*cells[:2], *cells[-2:]]  # the largest and the smallest λ of either kind
    assert {(cell["data"], cell["alpha"]) for cell in ends} == {
        (data, alpha) for data in unbalanced.KINDS for alpha in (0.1, 1e-5)
    }
    rows = pd.DataFrame([row for cell in ends for row in unbalanced.run_cell(cell)])
    here = [method for method in unbalanced.METHODS if "glmnet" not in method or glmnet.versions()["glmnet"]]
    assert rows["method"].tolist() == here * 4
    assert rows["converged"][(rows["data"] == "paper") | rows["method"].str.contains("isinglass")].all()
    assert (rows["seconds"] > 0).all()
    assert (
        rows["table_passes"] * rows["method"].isin(unbalanced.NODEWISE).map({True: 10, False: 1}) == rows["n_iter"]
    ).all()
    assert "PLG (re-implemented)" in text_of(unbalanced, rows)
    assert unbalanced.draw(rows).axes


def timed_rows(paper, several, failing=None):
    """Seconds of (NLR, PLG) at the largest and at the smallest λ, for both kinds of tables."""
    return pd.DataFrame(
        {
            **{"data": data, "trial": 0, "alpha": alpha, "method": method, "seconds": seconds, "minority": 4},
            **{"table_passes": seconds, "converged": (data, method) != failing, "n_refused": 0},
        }
        for data, times in (("paper", paper), ("5 rare", several))
        for method, pair in zip(("nlr", "plg", "isinglass"), (*times, (0.1, 0.1)), strict=True)
        for alpha, seconds in zip((0.1, 1e-5), pair, strict=True)
    )


def test_timed_verdicts_follow_their_rules():
    def verdicts(*arguments):
        return list(unbalanced.facts(timed_rows(*arguments))["verdicts"].values())

    slow_nlr, slow_plg, even = ((1.0, 9.0), (1.0, 1.5)), ((1.0, 1.0), (1.5, 9.0)), ((1.0, 1.0), (9.0, 9.0))
    assert verdicts(slow_nlr, slow_plg) == [Verdict.REPRODUCED] * 3
    assert verdicts(slow_plg, slow_nlr) == [Verdict.NOT, Verdict.NOT, Verdict.REPRODUCED]  # five nodes do not count
    assert verdicts(even, even) == [Verdict.NOT, Verdict.REMARK, Verdict.NOT]
    assert verdicts(even, even, ("5 rare", "nlr")) == verdicts(even, even)
    assert verdicts(even, even, ("paper", "nlr"))[0] is Verdict.REMARK
    assert verdicts(slow_nlr, slow_nlr, ("paper", "plg"))[1] is Verdict.REMARK
    assert verdicts(even, even, ("paper", "plg"))[1] is Verdict.NOT


def test_the_compiled_ratio_stands_beside_that_of_r():
    rows = timed_rows(((2.0, 2.0), (1.0, 1.0)), ((2.0, 2.0), (1.0, 1.0)))
    assert "times if both are re-implemented" not in text_of(unbalanced, rows)
    in_r = [
        rows[rows["method"] == method].assign(method=f"{method}-glmnet", seconds=value)
        for method, value in (("nlr", 9.0), ("plg", 3.0))
    ]
    found = text_of(unbalanced, pd.concat([rows, *in_r]))
    assert "takes 3 times as long as PLG (glmnet in R) (2 times if both are re-implemented)" in found
