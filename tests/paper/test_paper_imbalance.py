"""The factorial on unbalanced tables: its tables, its counts, and the interventions behind its explanation."""

import numpy as np
import pytest

from isinglass import nodewise_path
from isinglass.errors import ConvergenceWarning, LimitError
from isinglass.solve.published.baselines import plg
from isinglass.solve.published.glm import logistic_path
from paper import glmnet, imbalance, imbalance_report, regressions, study, unbalanced
from paper.contract import Config, Verdict
from paper.data import paper_table
from paper.tables import read_rows, write_rows

PUBLISHED = imbalance.VARIANTS["published"]
SEED = Config.seed

needs_r = pytest.mark.skipif(glmnet.versions()["glmnet"] is None, reason="glmnet is not installed")


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    folder = tmp_path_factory.mktemp("imbalance")
    config = Config(quick=True, cache=folder / "cache")
    found = study.run_item(imbalance, config)
    write_rows(folder / "rows.csv", found)
    return read_rows(folder / "rows.csv")


def colliding_table():
    """Two rare columns that share one of their rare rows, and three that toss coins."""
    X = np.random.default_rng(0).integers(0, 2, (1000, 5)).astype(np.uint8)
    X[:, 0] = X[:, 1] = 1
    X[:8, 0] = 0
    X[7:12, 1] = 0
    return X


# ------------------------------------------------------------------------------------------- tables


def test_one_rare_node_is_the_papers_table():
    _, expected = paper_table(10, 0.3, 3, SEED, unbalanced=True)
    np.testing.assert_array_equal(imbalance.make_table(3, SEED), expected)
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
    with pytest.raises(LimitError, match="in each of 2 chains"):
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


# ------------------------------------------------------------------------------------------- fits


def test_fits_are_those_of_the_library():
    X = imbalance.make_table(0, SEED)
    joint = plg(X, [1e-2])[0]
    found = regressions.fit_stacked(X, 1e-2, PUBLISHED)
    np.testing.assert_array_equal(found.theta, joint.couplings + np.diag(joint.fields))
    assert found.passes.tolist() == [joint.n_iter]
    nodes = regressions.fit_nodes(X, 1e-2, PUBLISHED)
    one = logistic_path(np.delete(X, 4, axis=1), X[:, 4], 5e-3)
    assert nodes.passes[4] == one.n_iter[0]
    np.testing.assert_array_equal(np.delete(nodes.theta[4], 4), one.coefficients[0])
    assert nodes.theta[4, 4] == one.intercepts[0]


def test_variants_solve_the_same_problem():
    X = imbalance.make_table(1, SEED, n_rare=0)  # balanced: every variant converges quickly
    tight = {"thresh": 1e-14}
    for fit, measure in (
        (regressions.fit_nodes, regressions.node_accuracy),
        (regressions.fit_stacked, regressions.joint_accuracy),
    ):
        for variant in (
            regressions.Variant(tight),
            regressions.Variant(tight, warm=True),
            regressions.Variant(tight, swap=True),
            regressions.Variant({**tight, "min_probability": 1e-5}),
        ):
            excess, epsilon = measure(X, fit(X, 1e-2, variant).theta, 1e-2)
            assert abs(excess) < 1e-9
            assert epsilon < 1e-4


def test_accuracy_is_measured_against_the_certified_optimum():
    X = imbalance.make_table(1, SEED)
    path = nodewise_path(X, [5e-3], tol=1e-9)
    theta = path.asymmetric_couplings[0].toarray() + np.diag(path.fields[0])
    assert regressions.node_accuracy(X, theta, 1e-2) == (pytest.approx(0, abs=1e-12), pytest.approx(0, abs=1e-12))
    worse = theta + 0.1 * np.eye(len(theta))
    excess, epsilon = regressions.node_accuracy(X, worse, 1e-2)
    assert excess > 1e-4
    assert epsilon == pytest.approx(0.1 * np.sqrt(len(theta)) / np.linalg.norm(theta))


def test_a_shared_rare_row_makes_the_newton_steps_overshoot():
    """The explanation, on a table made for it: NLR fails, from zero it does not, and PLG fails from its fields."""
    X, alpha = colliding_table(), 1e-5
    limit = {"max_iter": 5000}
    stuck = regressions.fit_nodes(X, alpha, regressions.Variant(limit))
    assert stuck.converged.tolist() == [False, False, True, True, True]
    assert np.abs(stuck.theta).max() > 1e3
    assert regressions.fit_nodes(X, alpha, regressions.Variant(limit, swap=True)).converged.all()
    assert regressions.fit_stacked(X, alpha, regressions.Variant(limit)).converged.all()
    assert not regressions.fit_stacked(X, alpha, regressions.Variant(limit, swap=True)).converged.any()
    apart = X.copy()
    apart[7, 1] = 1  # the same table without the shared row
    assert regressions.fit_nodes(apart, alpha, regressions.Variant(limit)).converged.all()
    path = nodewise_path(X, [alpha / 2])  # Newton steps that are checked do not mind
    assert path[0].converged


def test_the_library_warns_where_the_published_method_fails():
    X = colliding_table()
    assert plg(X, [1e-5])[0].converged
    with pytest.warns(ConvergenceWarning, match="did not meet"):
        plg(X, [1e3, 1e-5], max_iter=5000)  # the fields come first


@needs_r
def test_glmnet_agrees_pass_for_pass_and_fails_too():
    X = colliding_table()
    session = glmnet.session()
    session.load(X)
    found = session.fit("nodewise", 1e-5, maxit=5000)
    ours = regressions.fit_nodes(X, 1e-5, regressions.Variant({"max_iter": 5000}))
    assert ((found.jerr == 0) == ours.converged).all()
    np.testing.assert_array_equal(found.passes[2:], ours.passes[2:])
    one_rare_row = X[:, :4].copy()
    one_rare_row[:, 0] = 1
    one_rare_row[3, 0] = 0
    session.load(one_rare_row)
    found = session.fit("nodewise", 1e-2)
    assert found.jerr.tolist() == [glmnet.REFUSED, 0, 0, 0]
    assert session.fit("stacked", 1e-2).jerr.tolist() == [0]


# ------------------------------------------------------------------------------------------- rows, page, verdicts


def test_rows_are_the_same_again(rows):
    cell = imbalance.cells(Config(quick=True))[3]
    again = imbalance.run_cell(cell)
    found = [row for row in rows if all(row[key] == cell[key] for key in ("data", "variant", "trial"))]
    assert [row["table_passes"] for row in found] == [row.get("table_passes") for row in again]


def test_page_and_figure_from_the_rows(rows, tmp_path):
    from paper import figures

    figures.save(imbalance.draw(rows), tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000
    text = imbalance.section(rows)
    assert "| the paper's: θ_11 = 5 | " in text
    assert "nan" not in text
    assert [claim.verdict in Verdict for claim in imbalance.claims(rows)] == [True]


def make_row(data, variant, method, converged=True, passes=10.0, **more):
    row = {"data": data, "variant": variant, "method": method, "alpha": 1e-5, "trial": 0, "converged": converged}
    counts = {"table_passes": passes, "rare_passes": passes, "newton_steps": 9, "n_refused": 0, "epsilon": 0.1}
    facts = {"node_separated": True, "joint_separated": True, "minority": 5, "n_failed_accepted": int(not converged)}
    meeting = {"n_alone": 0, "n_failed_alone": 0, "n_meeting": 1, "n_failed_meeting": 0, "n_failed_common": 0}
    return row | counts | facts | meeting | {"n_redraws": 0} | more


def started(nlr, plg):
    """Rows of five rare nodes: whether NLR and PLG converge from their own start and from the other one's."""
    flags = zip(("nlr", "plg"), (nlr, plg), strict=True)
    variants = ("published", "start swapped")
    return [
        make_row("5 rare", variant, method, good)
        for method, pair in flags
        for variant, good in zip(variants, pair, strict=True)
    ]


def test_the_reason_is_judged_by_its_rule():
    def verdict(nlr, plg):
        (claim,) = imbalance_report.claims(started(nlr, plg))
        return claim.verdict, claim.finding.split(":")[0]

    assert verdict((False, True), (True, False)) == (Verdict.NOT, imbalance_report.SWAP_WORDS["exchanged"])
    assert verdict((False, False), (True, True)) == (Verdict.REPRODUCED, imbalance_report.SWAP_WORDS["untouched"])
    assert verdict((False, True), (True, True)) == (Verdict.REMARK, imbalance_report.SWAP_WORDS["partly"])
    assert verdict((True, True), (True, True)) == (Verdict.REMARK, imbalance_report.SWAP_WORDS["unknown"])


def test_conditions_are_kinds_of_unbalanced_tables():
    """Balanced tables are no condition under which NLR has trouble with imbalance."""
    rows = [
        make_row(data, "published", method, passes=passes)
        for data, pair in (("balanced", (30.0, 20.0)), ("paper", (10.0, 20.0)), ("p = 25", (30.0, 20.0)))
        for method, passes in zip(("nlr", "plg"), pair, strict=True)
    ]
    found = imbalance_report.conditions_sentence(rows)
    assert "on 1 of 2: the paper's, p = 25 (30 against 20 passes, 0 of 1 failed)." in found
    assert "It does not on: the paper's: θ_11 = 5" in found
    assert "on balanced tables as well" in found
    without = [row for row in rows if row["data"] != "balanced"]
    assert "balanced tables as well" not in imbalance_report.conditions_sentence(without)


def test_the_older_rule_is_compared_on_the_same_tables():
    rows = [
        make_row("paper", "published", "nlr", passes=10.0),
        make_row("paper", "published", "nlr", passes=1000.0, trial=1),  # not tried with the older rule
        make_row("paper", "older glmnet", "nlr", passes=11.0),
    ]
    assert "does not matter" in imbalance_report.older_sentence(rows)
    assert "11 instead of 10 passes and fails on 0 instead of 0 of 1" in imbalance_report.older_sentence(rows)
    failing = [*rows[:2], make_row("paper", "older glmnet", "nlr", converged=False)]
    assert "glmnet matters" in imbalance_report.older_sentence(failing)
    assert imbalance_report.older_sentence(rows[:2]) == ""


def test_conclusions_follow_the_rows():
    def meeting(n_failed_meeting, n_failed_alone):
        counts = {"n_meeting": 4, "n_alone": 4, "n_failed_meeting": n_failed_meeting, "n_failed_alone": n_failed_alone}
        return imbalance_report.meeting_sentence([make_row("paper", "published", "nlr", **counts)])

    assert meeting(3, 1).startswith("It is so: ")
    assert meeting(1, 3).startswith("It is not so: ")

    def stacked(joint):
        return imbalance_report.separation_sentence([make_row("paper", "published", "nlr", joint_separated=joint)])

    assert "does not escape" in stacked(True)
    assert "problem escapes:" in stacked(False)
    assert "stacked" not in stacked(None)

    def stopping(passes, epsilon):
        rows = [make_row("paper", "published", "nlr"), make_row("paper", "published", "isinglass", epsilon=1e-8)]
        return imbalance_report.stopping_sentence(
            [*rows, make_row("paper", "published", "plg", passes=passes, epsilon=epsilon)]
        )

    assert "too early" in stopping(5.0, 0.5)
    assert "too early" not in stopping(5.0, 0.01)
    assert "too early" in stopping(50.0, 0.5)


def test_every_variant_is_explained():
    assert list(imbalance_report.VARIANTS) == [*imbalance.VARIANTS, *imbalance.IN_R]
    assert tuple(imbalance_report.VARIED) == imbalance.VARIED
    assert list(imbalance_report.KINDS) == list(imbalance.DATA)


# ------------------------------------------------------------------------------------------- the timed figure


def test_timed_cell_has_every_method(tmp_path):
    cells = unbalanced.cells(Config(quick=True))
    ends = [*cells[:2], *cells[-2:]]  # the largest and the smallest λ of either kind
    assert {(cell["data"], cell["alpha"]) for cell in ends} == {
        (data, alpha) for data in unbalanced.KINDS for alpha in (0.1, 1e-5)
    }
    rows = [row for cell in ends for row in unbalanced.run_cell(cell)]
    here = [method for method in unbalanced.METHODS if "glmnet" not in method or glmnet.versions()["glmnet"]]
    assert [row["method"] for row in rows] == here * 4
    assert all(row["converged"] for row in rows if row["data"] == "paper" or "isinglass" in row["method"])
    assert all(row["seconds"] > 0 for row in rows)
    by_method = {row["method"]: row for row in rows[: len(here)]}
    assert by_method["nlr"]["table_passes"] == by_method["nlr"]["n_iter"] / 10
    write_rows(tmp_path / "rows.csv", rows)
    found = read_rows(tmp_path / "rows.csv")
    assert "PLG (re-implemented)" in unbalanced.section(found)
    assert unbalanced.draw(found).axes
    assert len(unbalanced.claims(found)) == 3


def test_timed_verdicts_follow_their_rules():
    def rows(paper, several, failing=None):
        """Seconds of (NLR, PLG) at the largest and at the smallest λ, for both kinds of tables."""
        return [
            {
                **{"data": data, "trial": 0, "alpha": alpha, "method": method, "seconds": seconds},
                **{"table_passes": seconds, "converged": (data, method) != failing},
            }
            for data, times in (("paper", paper), ("5 rare", several))
            for method, pair in zip(("nlr", "plg", "isinglass"), (*times, (0.1, 0.1)), strict=True)
            for alpha, seconds in zip((0.1, 1e-5), pair, strict=True)
        ]

    def verdicts(*arguments):
        return [claim.verdict for claim in unbalanced.claims(rows(*arguments))]

    slow_nlr, slow_plg, even = ((1.0, 9.0), (1.0, 1.5)), ((1.0, 1.0), (1.5, 9.0)), ((1.0, 1.0), (9.0, 9.0))
    assert verdicts(slow_nlr, slow_plg) == [Verdict.REPRODUCED] * 3
    assert verdicts(slow_plg, slow_nlr) == [Verdict.NOT, Verdict.NOT, Verdict.REPRODUCED]  # five nodes do not count
    assert verdicts(even, even) == [Verdict.NOT, Verdict.REMARK, Verdict.NOT]
    assert verdicts(even, even, ("5 rare", "nlr")) == verdicts(even, even)
    assert verdicts(even, even, ("paper", "nlr"))[0] is Verdict.REMARK
    assert verdicts(slow_nlr, slow_nlr, ("paper", "plg"))[1] is Verdict.REMARK
    assert verdicts(even, even, ("paper", "plg"))[1] is Verdict.NOT


def test_the_compiled_ratio_stands_beside_that_of_r():
    seconds = {"nlr": 2.0, "plg": 1.0, "nlr-glmnet": 9.0, "plg-glmnet": 3.0}
    rows = [
        {"alpha": alpha, "method": method, "seconds": value, "table_passes": 1.0, "converged": True}
        for method, value in seconds.items()
        for alpha in (0.1, 1e-5)
    ]
    found = unbalanced.compare(rows, "nlr-glmnet", "plg-glmnet")
    assert "takes 3 times as long as PLG (glmnet in R) (2 times if both are re-implemented)" in found
