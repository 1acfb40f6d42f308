"""The Senate items against the facts, recomputed here from the votes without the code under test."""

import itertools
import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest
from choices import stars
from matplotlib.colors import to_hex

from isinglass import Solution, ising_path, nodewise_path
from isinglass.datasets import load_senate109
from paper import methods, page, printed, senate_findings, senate_lambda, senate_network, senate_time, study
from paper.evidence import Verdict
from paper.files import read_rows, write_rows
from paper.study import Config

SENATE = load_senate109()
ALPHA = printed.SENATE_LAMBDA
CHAFEE, NELSON = senate_findings.CHAFEE, senate_findings.NELSON


def quick_rows(item, folder):
    write_rows(folder / "rows.csv", study.run(item, Config(quick=True, cache=folder / "cache")))
    return read_rows(folder / "rows.csv")


def claims_of(item, rows):
    return page.item_section(item, pd.DataFrame(rows), Config())[1]


def text_of(item, rows):
    return " ".join(page.item_section(item, pd.DataFrame(rows), Config())[0].split())


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
    pairs = list(itertools.combinations(range(100), 2))
    positive = {(s, t) for s, t in pairs if couplings[s, t] > 0}
    party = {pair for pair in pairs if SENATE.parties[pair[0]] == SENATE.parties[pair[1]]}
    state = {pair for pair in pairs if SENATE.states[pair[0]] == SENATE.states[pair[1]]}
    counts = senate_findings.counts_of(findings).loc[ALPHA]

    def found(what):
        return tuple(counts.loc[what, ["value", "of"]])

    assert found("edges") == (562, 4950) == (sum(couplings[pair] != 0 for pair in pairs), len(pairs))
    assert found("positive edges") == (548, 562) == (len(positive), 562)
    assert found("edges within a party") == (len(positive & party), 548)
    assert round(1000 * len(positive & party) / 548) == 958
    assert found("same party joined") == (len(positive & party), len(party))
    assert found("same state joined") == (len(positive & state), len(state)) == (31, 50)
    assert found("same party and state joined") == (len(positive & state & party), len(state & party)) == (30, 36)
    shares = counts["share"][[f"{name} joined" for name in senate_findings.JOINED]]
    assert (100 * shares).round().tolist() == [11, 22, 62, 83]


def test_chafee_and_nelson(findings, couplings):
    positive = np.maximum(couplings, 0)
    republican = np.array(SENATE.parties) == "R"
    away = {}
    for s in range(100):
        other = ~republican if republican[s] else republican
        by_weight = positive[s, other].sum() / positive[s].sum()
        away[SENATE.names[s]] = by_weight, (positive[s, other] > 0).sum() / (positive[s] > 0).sum()
    found = senate_findings.senators_of(findings).loc[ALPHA]
    shares = found["share"].unstack("by")
    for name in SENATE.names:
        assert tuple(shares.loc[name, ["weight", "edges"]]) == pytest.approx(away[name], rel=1e-5)
    assert (100 * shares.loc[CHAFEE, ["weight", "edges"]]).round().tolist() == [57, 40]
    assert round(100 * shares.loc[NELSON, "weight"]) == 72
    assert sorted(shares.index[shares["weight"] > 0.5]) == sorted([CHAFEE, NELSON])
    for name, members in ((CHAFEE, 55), (NELSON, 44)):
        row = found.loc[name, "weight"]
        assert (row["rank"], row["peers"]) == (1, members)
        assert row["rank_p"] == pytest.approx(1 / members, rel=1e-5)
        peers = [away[other][1] for other in SENATE.names if other.split("(")[1][0] == row["party"]]
        assert found.loc[name, "edges"]["rank_p"] == pytest.approx(
            np.mean(np.array(peers) >= away[name][1] - 1e-12), rel=1e-5
        )


def test_permutations_leave_chance_alone():
    """On networks that know nothing of parties and states, the tests find something as often as they may."""
    rng = np.random.default_rng(0)
    p_values = []
    for _ in range(60):
        drawn = np.triu(rng.random((100, 100)) < 0.1, 1) * rng.exponential(1.0, (100, 100))
        found = Solution.from_dense(0.1, drawn + drawn.T, np.zeros(100))
        p_values.append([row["p_value"] for row in senate_findings.test_groups(found, SENATE, 39, rng)])
    small = (np.array(p_values) <= 0.05).mean(axis=0)
    assert (small <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / 60)).all()
    assert (np.mean(p_values, axis=0) > 0.35).all()


def test_share_test_against_all_permutations():
    """Four others, two of either party: the share of his weight on the other side over all six deals."""
    weights, parties = np.array([0.0, 4.0, 2.0, 1.0, 0.5]), np.array(["R", "D", "R", "D", "R"])
    deals = [sum(weights[1:][list(chosen)]) for chosen in itertools.combinations(range(4), 2)]  # where the D sit
    exact = np.mean(np.array(deals) >= 5.0)  # observed: 4 + 1
    ties = np.column_stack([weights, weights > 0])
    by_weight, by_edges = senate_findings.share_test(ties, parties, 0, 20_000, np.random.default_rng(0))
    assert by_weight == pytest.approx(exact, abs=0.02)
    assert by_edges == 1.0  # he is tied to everybody, so any deal gives two edges


def test_rank_test_is_exact_for_exchangeable_members():
    """Over who of five he is, the p-value is at most k/5 for k of them, and ties count against him."""
    shares = np.array([0.4, 0.1, 0.3, 0.3, 0.0])
    names = ("share", "rank", "next", "p")
    found = [senate_findings.compare(shares[s], np.delete(shares, s), names) for s in range(5)]
    assert [row["p"] for row in found] == pytest.approx([1 / 5, 4 / 5, 3 / 5, 3 / 5, 1.0])
    assert [row["rank"] for row in found] == [1, 4, 2, 2, 5]
    assert [row["next"] for row in found] == [0.3, 0.4, 0.4, 0.4, 0.4]


def test_findings_verdicts(findings):
    verdicts = [claim.verdict for claim in claims_of(senate_findings, findings)]
    assert verdicts == [Verdict.REPRODUCED, Verdict.REMARK, Verdict.REPRODUCED, Verdict.REPRODUCED]
    blind = claims_of(senate_findings, findings.assign(p_value=0.5))
    assert [claim.verdict for claim in blind][::3] == [Verdict.NOT, Verdict.NOT]
    assert "| 0.06 | edges within a party | 525 of 548 | 95.8% |" in text_of(senate_findings, findings)
    lone = findings.copy()
    lone.loc[lone["what"] == CHAFEE, ["edges", "value", "edge_share"]] = 0
    chafee = claims_of(senate_findings, lone)[1]
    assert (chafee.verdict, chafee.finding) == (Verdict.NOT, "He has no positive edge at λ = 0.06.")
    text = text_of(senate_findings, lone)
    assert "| 0.06 | CHAFEE (R RI) | weight | no edge | – |" in text
    assert "CHAFEE (R RI) has no positive edge at all at λ = 0.06." in text


def test_senators_are_described_by_their_rows(findings):
    """Chafee first by weight and second by edges would not be called the first by both."""
    changed = {"rank": 1, "next": 0.1, "rank_p": 0.01, "p_value": 0.5}
    changed |= {"edge_rank": 2, "edge_next": 0.9, "edge_rank_p": 0.2, "edge_p_value": 0.01}

    def finding(**values):
        rows = findings.copy()
        for name, value in (changed | values).items():
            rows.loc[rows["what"] == CHAFEE, name] = value
        return claims_of(senate_findings, rows)[1].finding

    found = finding()
    assert "he ranks first by weight, where the next has 10% (p = 0.010), and number 2 by edges" in found
    assert "by edges, where the largest other share is 90% (p = 0.200)." in found
    assert "unusual by weight, and by edges it is more than expected if ties did not depend on party" in found
    assert "not unusual; it is not more than expected" in finding(rank_p=0.3, edge_p_value=0.4)


def test_findings_figure_has_one_point_per_senator(findings):
    bars, points = senate_findings.draw(findings).axes
    assert sum(len(line.get_xdata()) for line in points.lines if line.get_marker() == "o") == 100
    assert [round(bar.get_width()) for bar in bars.patches] == [11, 22, 62, 83]


# ------------------------------------------------------------------------------------------- network


def test_network_rows_hold_every_method(network, couplings):
    theta = {method: senate_network.theta_of(network, method) for method in ("isinglass", "bmn", "plg")}
    upper = np.triu_indices(100, 1)
    np.testing.assert_allclose(theta["isinglass"][upper], couplings[upper], atol=1e-5)
    assert ((theta["bmn"] != 0) == (theta["isinglass"] != 0))[upper].all()
    assert abs(theta["plg"] - theta["isinglass"]).max() < 0.05
    assert (theta["isinglass"] == theta["isinglass"].T).all()


def test_rules_are_those_of_the_library():
    X = SENATE.X[:, :12]
    theta = methods.nodewise_theta(nodewise_path(X, [0.05]))
    for rule, merged in zip(("and", "or"), senate_network.merge(theta), strict=True):
        expected = nodewise_path(X, [0.05], rule=rule)[0]
        np.testing.assert_allclose(merged, expected.couplings + np.diag(expected.fields), atol=1e-12)


def test_gephi_file_holds_the_positive_edges(network, tmp_path):
    senate_network.write_files(network, tmp_path)
    tree = ElementTree.parse(tmp_path / senate_network.GEXF)
    names = [element.tag.split("}")[1] for element in tree.iter()]
    assert (names.count("node"), names.count("edge")) == (100, 548)
    text = (tmp_path / senate_network.GEXF).read_text(encoding="utf-8")
    assert "CHAFEE (R RI)" in text
    assert str(tmp_path) not in text


def test_network_figure_colors_by_party(network):
    axes = senate_network.draw(network).axes[0]
    lines = axes.collections[0]
    assert len(lines.get_segments()) == 548
    colors = [to_hex(color) for color in lines.get_colors()]
    parties = senate_network.PARTY_COLORS.values()
    assert sum(color in parties for color in colors) == 525
    assert len(set(colors) - set(parties)) == 1  # one more color, for ties between parties
    assert {to_hex(color) for nodes in axes.collections[1:] for color in nodes.get_facecolors()} == set(parties)
    assert {"Chafee", "Nelson (NE)"} <= {text.get_text() for text in axes.texts}


def test_network_table_and_verdict(network):
    (claim,) = claims_of(senate_network, network)
    assert claim.verdict is Verdict.REMARK  # PLG's stopping rule costs it a few edges
    assert "| isinglass | 562 | 548 | 562 | 0 |" in text_of(senate_network, network)
    (claim,) = claims_of(senate_network, network.assign(plg=network["bmn"]))
    assert claim.verdict is Verdict.REPRODUCED
    (claim,) = claims_of(senate_network, network.assign(plg=1.0))
    assert claim.verdict is Verdict.NOT


def test_names_are_distinct_and_readable():
    names = senate_network.short_names(SENATE.names)
    assert len(set(names)) == 100
    assert {"Chafee", "Nelson (NE)", "Nelson (FL)", "McCain", "Jeffords"} <= set(names)


# ------------------------------------------------------------------------------------------- λ and time


@pytest.mark.long
def test_selection_from_the_curve_is_stars_choice(tmp_path):
    rows = quick_rows(senate_lambda, tmp_path)
    assert rows["instability"][rows["alpha"] == max(senate_lambda.GRID)].max() == 0.0
    assert rows["n_edges"][rows["alpha"] == ALPHA].tolist() == [562, 562]
    cell = senate_lambda.cells(Config(quick=True))[0]
    found = stars(
        SENATE.X,
        alphas=senate_lambda.GRID,
        n_subsamples=cell["B"],
        subsample_size=cell["b"],
        threshold=0.05,
        random_state=np.random.SeedSequence([cell["seed"], cell["draw"]]),
    )
    chosen = senate_lambda.choices(rows).loc[(cell["B"], cell["b"]), 0.05]
    assert chosen.tolist() == [pytest.approx(found.alpha, rel=1e-6)]
    assert senate_lambda.draw(rows).axes
    (claim,) = claims_of(senate_lambda, rows)
    assert "nan" not in claim.finding


def test_runs_that_never_exceed_the_threshold_are_counted():
    rows = pd.DataFrame(
        {"b": 223, "B": n, "draw": k, "alpha": alpha, "instability": value}
        for n, k, values in ((20, 0, (0.01, 0.09)), (20, 1, (0.01, 0.02)), (100, 0, (0.09, 0.09)))
        for alpha, value in zip((0.2, 0.1), values, strict=True)
    )
    chosen = senate_lambda.choices(rows)[0.05]
    assert senate_lambda.show(chosen[20, 223]) == "0.200; 1 of 2 never exceed β"  # runs with 100 subsamples are others
    assert senate_lambda.show(pd.Series([np.nan] * 3)) == "3 of 3 never exceed β"
    assert senate_lambda.show(pd.Series([0.1, 0.2])) == "0.141 (0.100…0.200)"


def test_timed_cell_of_the_senate():
    cell = senate_time.cells(Config(quick=True))[-1]
    cell |= {"methods": ["isinglass", "isinglass-nodewise", "plg", "nlr", "bmn"]}
    rows = pd.DataFrame(senate_time.run_cell(cell))
    found = rows.set_index("method")
    assert found["n_edges"][["isinglass", "bmn"]].tolist() == [562, 562]
    assert (found["n_different"][["isinglass", "isinglass-nodewise", "bmn", "nlr"]] == 0).all()
    assert found["epsilon"]["bmn"] < 1e-3 < found["epsilon"]["plg"] < 1e-2
    assert (found["seconds"] > 0).all()
    assert (found["excess"] > -1e-9).all()
    assert "279 roll calls and 100 senators" in text_of(senate_time, rows)


def senate_times(**seconds):
    common = {
        "epsilon": 1e-3,
        "converged": True,
        "rounds": 1,
        "n_iter": 1,
        "n_edges": 1,
        "n_different": 0,
        "excess": 0.0,
    }
    return pd.DataFrame(
        {"alpha": alpha, "method": method.replace("_", "-"), "seconds": value, **common}
        for method, value in seconds.items()
        for alpha in (0.3, ALPHA)
    )


def test_time_verdicts_follow_their_rules():
    def verdicts(plg, nlr, bmn):
        return list(senate_time.facts(senate_times(plg=plg, nlr=nlr, bmn=bmn))["verdicts"].values())

    assert verdicts(1.0, 1.2, 20.0) == [Verdict.REPRODUCED, Verdict.REPRODUCED]
    assert verdicts(4.0, 1.0, 12.0) == [Verdict.REMARK, Verdict.REMARK]
    assert verdicts(9.0, 1.0, 9.0) == [Verdict.NOT, Verdict.NOT]


def test_plain_bmn_is_the_one_that_is_judged():
    claim = claims_of(senate_time, senate_times(plg=1.0, nlr=1.0, bmn=0.5, bmn_plain=20.0))[1]
    assert claim.verdict is Verdict.REPRODUCED
    assert "0.5 times as long as PLG" in claim.finding
    claim = claims_of(senate_time, senate_times(plg=1.0, nlr=1.0, bmn=20.0, bmn_plain=0.5))[1]
    assert claim.verdict is Verdict.NOT
