"""The Senate paper against the facts, recomputed here from the votes without the code under test."""

import itertools
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
import scipy.sparse as sp
from matplotlib.colors import to_hex

from isinglass import Solution, ising_path, stars
from isinglass.datasets import load_senate109
from isinglass.results import symmetrise
from paper import (
    figures,
    published,
    senate_findings,
    senate_findings_report,
    senate_lambda,
    senate_network,
    senate_time,
    senators,
    study,
)
from paper.contract import Config, Verdict
from paper.tables import read_rows, write_rows

SENATE = load_senate109()
ALPHA = published.SENATE_LAMBDA


def quick_rows(item, folder):
    write_rows(folder / "rows.csv", study.run_item(item, Config(quick=True, cache=folder / "cache")))
    return read_rows(folder / "rows.csv")


@pytest.fixture(scope="module")
def couplings():
    return ising_path(SENATE.X, [ALPHA])[0].couplings


@pytest.fixture(scope="module")
def findings(tmp_path_factory):
    return quick_rows(senate_findings, tmp_path_factory.mktemp("findings"))


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    return quick_rows(senate_network, tmp_path_factory.mktemp("network"))


# ------------------------------------------------------------------------------------------- findings


def test_facts_of_the_network(findings, couplings):
    """The numbers the issue states, and the same numbers pair by pair."""
    pairs = list(itertools.combinations(range(100), 2))
    positive = {(s, t) for s, t in pairs if couplings[s, t] > 0}
    party = {pair for pair in pairs if SENATE.parties[pair[0]] == SENATE.parties[pair[1]]}
    state = {pair for pair in pairs if SENATE.states[pair[0]] == SENATE.states[pair[1]]}

    def found(what):
        row = senate_findings_report.pick(findings, what)
        return row["value"], row["of"]

    assert found("edges") == (562, 4950) == (sum(couplings[pair] != 0 for pair in pairs), len(pairs))
    assert found("positive edges") == (548, 562) == (len(positive), 562)
    assert found("edges within a party") == (len(positive & party), 548)
    assert round(1000 * len(positive & party) / 548) == 958
    assert found("same party joined") == (len(positive & party), len(party))
    assert found("same state joined") == (len(positive & state), len(state)) == (31, 50)
    assert found("same party and state joined") == (len(positive & state & party), len(state & party)) == (30, 36)
    shares = {
        name: senate_findings_report.share(senate_findings_report.pick(findings, f"{name} joined"))
        for name in ("all pairs", "same party", "same state", "same party and state")
    }
    assert [round(100 * value) for value in shares.values()] == [11, 22, 62, 83]


def test_chafee_and_nelson(findings, couplings):
    positive = np.maximum(couplings, 0)
    republican = np.array(SENATE.parties) == "R"
    away = {}
    for s in range(100):
        other = ~republican if republican[s] else republican
        away[SENATE.names[s]] = (
            positive[s, other].sum() / positive[s].sum(),
            (positive[s, other] > 0).sum() / (positive[s] > 0).sum(),
        )
    for row in senate_findings_report.senators(findings):
        assert (row["value"], row["edge_share"]) == pytest.approx(away[row["what"]], rel=1e-5)
    chafee, nelson = (senate_findings_report.pick(findings, name) for name in (senators.CHAFEE, senators.NELSON))
    assert (round(100 * chafee["value"]), round(100 * chafee["edge_share"])) == (57, 40)
    assert round(100 * nelson["value"]) == 72
    over_half = [row["what"] for row in senate_findings_report.senators(findings) if row["value"] > 0.5]
    assert sorted(over_half) == sorted([senators.CHAFEE, senators.NELSON])
    assert (chafee["rank"], chafee["peers"], nelson["rank"], nelson["peers"]) == (1, 55, 1, 44)
    assert (chafee["rank_p"], nelson["rank_p"]) == pytest.approx((1 / 55, 1 / 44), rel=1e-5)
    for row in (chafee, nelson):
        peers = [
            away[other["what"]][1]
            for other in senate_findings_report.senators(findings)
            if other["party"] == row["party"]
        ]
        assert row["edge_rank_p"] == pytest.approx(np.mean(np.array(peers) >= away[row["what"]][1] - 1e-12), rel=1e-5)


def test_permutations_leave_chance_alone():
    """On networks that know nothing of parties and states, the tests find something as often as they may."""
    rng = np.random.default_rng(0)
    p_values = []
    for _ in range(60):
        network = np.triu(rng.random((100, 100)) < 0.1, 1) * rng.exponential(1.0, (100, 100))
        rows = senate_findings.test_groups(as_solution(network + network.T), SENATE, 39, rng)
        p_values.append([row["p_value"] for row in rows])
    small = (np.array(p_values) <= 0.05).mean(axis=0)
    assert (small <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / 60)).all()
    assert (np.mean(p_values, axis=0) > 0.35).all()


def as_solution(matrix):
    return Solution.from_dense(0.1, matrix, np.zeros(len(matrix)))


def test_share_test_against_all_permutations():
    """Four others, two of either party: the share of his weight on the other side over all six deals."""
    weights, parties = np.array([0.0, 4.0, 2.0, 1.0, 0.5]), np.array(["R", "D", "R", "D", "R"])
    deals = [sum(weights[1:][list(chosen)]) for chosen in itertools.combinations(range(4), 2)]  # where the D sit
    exact = np.mean(np.array(deals) >= 5.0)  # observed: 4 + 1
    ties = np.column_stack([weights, weights > 0])
    by_weight, by_edges = senate_findings.share_test(ties, parties, 0, 20_000, np.random.default_rng(0))
    assert by_weight == pytest.approx(exact, abs=0.02)
    assert by_edges == 1.0  # he is tied to everybody, so that any deal gives two edges


def test_rank_test_is_exact_for_exchangeable_members():
    """Over who of five is he, the p-value is at most k/5 for k of them, and ties count against him."""
    shares = np.array([0.4, 0.1, 0.3, 0.3, 0.0])
    names = ("share", "rank", "next", "p")
    found = [senate_findings.compare(shares[s], np.delete(shares, s), names) for s in range(5)]
    assert [row["p"] for row in found] == pytest.approx([1 / 5, 4 / 5, 3 / 5, 3 / 5, 1.0])
    assert [row["rank"] for row in found] == [1, 4, 2, 2, 5]
    assert [row["next"] for row in found] == [0.3, 0.4, 0.4, 0.4, 0.4]


def test_findings_verdicts(findings):
    verdicts = [claim.verdict for claim in senate_findings.claims(findings)]
    assert verdicts == [Verdict.REPRODUCED, Verdict.REMARK, Verdict.REPRODUCED, Verdict.REPRODUCED]
    blind = [dict(row, p_value=0.5) for row in findings]
    assert [claim.verdict for claim in senate_findings.claims(blind)][::3] == [Verdict.NOT, Verdict.NOT]
    assert "| 0.06 | edges within a party | 525 of 548 | 95.8 % |" in senate_findings.section(findings)
    assert senate_findings.draw(findings).axes
    lone = [
        dict(row, edges=0, value=0.0, edge_share=0.0) if row["what"] == senators.CHAFEE else row for row in findings
    ]
    chafee = senate_findings.claims(lone)[1]
    assert (chafee.verdict, chafee.finding) == (Verdict.NOT, "He has no positive edge at λ = 0.06.")
    assert "| 0.06 | CHAFEE (R RI) | weight | no edge | – |" in senate_findings.section(lone)
    assert "No positive edge at all: CHAFEE (R RI) at λ = 0.06." in senate_findings.section(lone)


def test_senators_are_described_by_their_rows(findings):
    """Chafee first by weight and second by edges would not be called the first by both."""
    row = dict(senate_findings_report.pick(findings, senators.CHAFEE))
    row |= {"rank": 1, "next": 0.1, "rank_p": 0.01, "p_value": 0.5}
    row |= {"edge_rank": 2, "edge_next": 0.9, "edge_rank_p": 0.2, "edge_p_value": 0.01}
    found = senate_findings_report.lean_finding(row, "others")
    assert "by weight the first, the next has 10 % (p = 0.010)" in found
    assert "by edges number 2, the largest other share is 90 % (p = 0.200)" in found
    assert "unusual by weight, and by edges it is more than ties blind to party would show" in found
    usual = row | {"rank_p": 0.3, "edge_p_value": 0.4}
    assert "usual; it is no more than ties" in senate_findings_report.lean_finding(usual, "others")


# ------------------------------------------------------------------------------------------- network


def test_network_rows_hold_every_method(network, couplings):
    theta = {method: senate_network.couplings_of(network, method, SENATE) for method in ("isinglass", "bmn", "plg")}
    upper = np.triu_indices(100, 1)
    np.testing.assert_allclose(theta["isinglass"][upper], couplings[upper], atol=1e-5)
    assert ((theta["bmn"] != 0) == (theta["isinglass"] != 0))[upper].all()
    assert abs(theta["plg"] - theta["isinglass"]).max() < 0.05
    assert (theta["isinglass"] == theta["isinglass"].T).all()


def test_rules_are_those_of_the_library():
    rng = np.random.default_rng(1)
    theta = rng.normal(size=(6, 6)) * (rng.random((6, 6)) < 0.6)
    np.fill_diagonal(theta, rng.normal(size=6))
    bare = theta - np.diag(theta.diagonal())
    for rule, merged in zip(("and", "or"), senate_network.merge(theta), strict=True):
        edges, values = symmetrise(sp.csr_array(bare), rule)
        expected = np.zeros((6, 6))
        expected[tuple(edges.T)] = values
        np.testing.assert_allclose(np.triu(merged, 1), expected)
        np.testing.assert_allclose(merged.diagonal(), theta.diagonal())


def test_gephi_file_holds_the_positive_edges(network, tmp_path):
    senate_network.write_files(network, tmp_path)
    tree = ElementTree.parse(tmp_path / senate_network.GEXF)
    names = [element.tag.split("}")[1] for element in tree.iter()]
    assert (names.count("node"), names.count("edge")) == (100, 548)
    text = (tmp_path / senate_network.GEXF).read_text(encoding="utf-8")
    assert "CHAFEE (R RI)" in text
    assert str(tmp_path) not in text


def test_network_figure_colours_by_party(network):
    axes = senate_network.draw(network).axes[0]
    lines = axes.collections[0]
    assert len(lines.get_segments()) == 548
    colors = [to_hex(color) for color in lines.get_colors()]
    within = {party: colors.count(color) for party, color in senators.PARTY_COLORS.items()}
    assert sum(within.values()) == 525
    assert len(set(colors) - set(senators.PARTY_COLORS.values())) == 1  # one more colour, for ties between parties
    nodes = {to_hex(color) for nodes in axes.collections[1:] for color in nodes.get_facecolors()}
    assert nodes == set(senators.PARTY_COLORS.values())
    assert {"Chafee", "Nelson (NE)"} <= {text.get_text() for text in axes.texts}
    claim = senate_network.claims(network)[0]
    assert claim.verdict is Verdict.REMARK  # PLG's stopping rule costs it a few edges
    assert "| isinglass | 562 | 548 | 562 | 0 |" in senate_network.section(network)


def test_names_are_distinct_and_readable():
    names = senators.short_names(SENATE.names)
    assert len(set(names)) == 100
    assert {"Chafee", "Nelson (NE)", "Nelson (FL)", "McCain", "Jeffords"} <= set(names)


# ------------------------------------------------------------------------------------------- λ and time


def test_selection_from_the_curve_is_stars_choice(tmp_path):
    rows = quick_rows(senate_lambda, tmp_path)
    assert max(row["instability"] for row in rows if row["alpha"] == max(senate_lambda.GRID)) == 0.0
    assert [row["n_edges"] for row in rows if row["alpha"] == ALPHA] == [562, 562]
    cell = senate_lambda.cells(Config(quick=True))[0]
    found = stars(
        SENATE.X,
        alphas=senate_lambda.GRID,
        n_subsamples=cell["B"],
        subsample_size=cell["b"],
        threshold=0.05,
        random_state=np.random.SeedSequence([cell["seed"], cell["draw"]]),
    )
    chosen = senate_lambda.choices(rows, 0.05, b=cell["b"], B=cell["B"])
    assert chosen == [pytest.approx(found.alpha, rel=1e-6)]
    assert senate_lambda.draw(rows).axes
    (claim,) = senate_lambda.claims(rows)
    assert "nan" not in claim.finding
    assert f"instability at {ALPHA}" in senate_lambda.section(rows)


def test_timed_cell_of_the_senate():
    cell = senate_time.cells(Config(quick=True))[-1] | {
        "methods": ["isinglass", "isinglass-nodewise", "plg", "nlr", "bmn"]
    }
    rows = {row["method"]: row for row in senate_time.run_cell(cell)}
    assert [rows[method]["n_edges"] for method in ("isinglass", "bmn")] == [562, 562]
    assert [rows[method]["n_different"] for method in ("isinglass", "isinglass-nodewise", "bmn", "nlr")] == [0, 0, 0, 0]
    assert rows["bmn"]["epsilon"] < 1e-3 < rows["plg"]["epsilon"] < 1e-2
    assert "279 roll calls and 100 senators" in senate_time.section(list(rows.values()))
    assert all(row["seconds"] > 0 and row["excess"] > -1e-9 for row in rows.values())


def test_time_verdicts_follow_their_rules():
    def rows(plg, nlr, bmn):
        return [
            {"alpha": alpha, "method": method, "seconds": seconds, "epsilon": 1e-3, "converged": True}
            for method, seconds in (("plg", plg), ("nlr", nlr), ("bmn", bmn))
            for alpha in (0.3, ALPHA)
        ]

    def verdicts(*seconds):
        return [claim.verdict for claim in senate_time.claims(rows(*seconds))]

    assert verdicts(1.0, 1.2, 20.0) == [Verdict.REPRODUCED, Verdict.REPRODUCED]
    assert verdicts(4.0, 1.0, 12.0) == [Verdict.REMARK, Verdict.REMARK]
    assert verdicts(9.0, 1.0, 9.0) == [Verdict.NOT, Verdict.NOT]


def test_runs_that_never_exceed_the_threshold_are_counted():
    rows = [
        {"b": 223, "B": n, "draw": k, "alpha": alpha, "instability": value}
        for n, k, values in ((20, 0, (0.01, 0.09)), (20, 1, (0.01, 0.02)), (100, 0, (0.09, 0.09)))
        for alpha, value in zip((0.2, 0.1), values, strict=True)
    ]
    chosen = senate_lambda.choices(rows, 0.05, b=223, B=20)  # runs with 100 subsamples are others
    assert chosen == [0.2]
    assert senate_lambda.show(chosen, senate_lambda.count_runs(rows, b=223, B=20)) == "0.200; 1 of 2 never exceed β"
    assert senate_lambda.show([], 3) == "3 of 3 never exceed β"


def test_plain_bmn_is_the_one_that_is_judged():
    def rows(plain, ours):
        seconds = {"plg": 1.0, "nlr": 1.0, "bmn": ours, "bmn-plain": plain}
        common = {"alpha": ALPHA, "epsilon": 1e-3, "converged": True}
        return [{"method": method, "seconds": value, **common} for method, value in seconds.items()]

    claim = senate_time.claims(rows(20.0, 0.5))[1]
    assert claim.verdict is Verdict.REPRODUCED
    assert "0.5 times as long as PLG" in claim.finding
    assert senate_time.claims(rows(0.5, 20.0))[1].verdict is Verdict.NOT


def test_figures_are_written(findings, network, tmp_path):
    for item, rows in ((senate_findings, findings), (senate_network, network)):
        with figures.look():
            figures.save(item.draw(rows), tmp_path / f"{item.NAME}.png")
        assert (tmp_path / f"{item.NAME}.png").stat().st_size > 20_000
