"""The items on the paper's grid: cells that are the paper's, rows that repeat, rules that can say no."""

import json
import warnings
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

import paper
from paper import epsilon, exact, glmnet, lambdas, page, printed, roc, scaling, study, timing
from paper.evidence import Verdict
from paper.files import read_rows
from paper.study import Config

YES, REMARK, NO = Verdict.REPRODUCED, Verdict.REMARK, Verdict.NOT
LONG = pytest.mark.long
MEASURED = ("seconds", "design_seconds", "rounds", "peak_mb", "before_mb")
"""Columns that are never the same twice."""


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    """Settings of a miniature whose cells all tests share, with the λ that were chosen for the page."""
    folder = tmp_path_factory.mktemp("paper")
    settings = Config(quick=True, jobs=1, out=folder / "out", cache=folder / "cache")
    chosen = pd.DataFrame(lambdas.cells(settings)).merge(read_rows(Config.out / "lambdas.csv"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study, "run", lambda item, config: chosen)
        yield settings
    glmnet.end_session()


@pytest.mark.parametrize("name", paper.ITEMS)
def test_cells_are_plain_distinct_and_seeded(name, config):
    cells = import_module(f"paper.{name}").cells(config)
    texts = [json.dumps(cell, sort_keys=True, allow_nan=False) for cell in cells]
    assert len(set(texts)) == len(texts) > 0
    assert all(cell["seed"] == config.seed for cell in cells)
    assert [json.loads(text) for text in texts] == cells


def test_full_study_has_the_cells_of_the_paper():
    assert len(lambdas.cells(Config())) == 5 * 4 * 20
    assert {(cell["p"], cell["P"]) for cell in roc.cells(Config())} == {(15, p) for p in (0.2, 0.3, 0.4, 0.5)}
    assert len(roc.cells(Config())) == 4 * 20


@pytest.mark.parametrize(
    "name", ["timing", "epsilon", "exact", *(pytest.param(name, marks=LONG) for name in ("lambdas", "roc", "scaling"))]
)
def test_cell_repeats_but_for_what_is_measured_and_has_the_stored_columns(name, config):
    item = import_module(f"paper.{name}")
    cell = item.cells(config)[0]
    if name == "scaling":
        cell = {**cell, "sizes": [20]}

    def run():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return item.run_cell(dict(cell))

    rows = run()
    stored = set(pd.read_csv(Config.out / f"{name}.csv", nrows=0))
    optional = {"plg_from_glmnet"} if not glmnet.versions()["glmnet"] else set()
    assert set().union(*rows) == stored - optional
    assert json.loads(json.dumps(rows)) == rows
    same = [[{key: row[key] for key in row if key not in MEASURED} for row in found] for found in (rows, run())]
    assert same[0] == same[1]


def test_roc_of_one_network_is_that_of_its_edges():
    coefficients = np.array([[0, 1.0, 0], [0, 0, 2.0], [0, 3.0, 0]])
    assert np.argwhere(np.triu(roc.merge(coefficients, both=True))).tolist() == [[1, 2]]
    assert np.argwhere(np.triu(roc.merge(coefficients, both=False))).tolist() == [[0, 1], [1, 2]]


# ------------------------------------------------------------------------------------------- verdicts can go either way


def verdicts(item, rows):
    """Return the verdicts of an item on some rows, in the order of its text."""
    return list(item.facts(pd.DataFrame(rows))["verdicts"].values())


def text_of(item, rows):
    """Return the section of an item in one line."""
    return " ".join(page.item_section(item, pd.DataFrame(rows), Config())[0].split())


@pytest.mark.parametrize(("shift", "expected"), [(0.0, YES), (0.03, REMARK), (0.2, NO)])
def test_roc_verdict_follows_the_difference(shift, expected):
    shifts = {"bmn": 0.0, "plg": 0.0, "nlr-and": shift, "nlr-or": 0.0, "isinglass": 0.0}
    rows = [{"P": 0.2, "trial": t, "method": m, "auc": 0.7 + 0.01 * t + s} for t in range(3) for m, s in shifts.items()]
    assert verdicts(roc, rows) == [expected]


def test_two_readings_of_node_wise_regression_are_not_two_methods():
    shifts = {"bmn": 0.0, "plg": 0.0, "nlr-and": 0.006, "nlr-or": -0.006, "isinglass": 0.0}
    rows = [{"P": 0.2, "trial": t, "method": m, "auc": 0.7 + s} for t in range(3) for m, s in shifts.items()]
    assert verdicts(roc, rows) == [YES]


def timing_rows(bmn, nlr=1.0, **more):
    seconds = {"plg": 1.0, "nlr": nlr, "bmn": 1.0, "isinglass": 0.1}
    common = {"P": 0.2, "trial": 0, "converged": True, "design_seconds": 0.0}
    return [
        {"p": p, "source": source, "method": method, "seconds": value, **common, **more}
        for p, factor in zip((5, 25), bmn, strict=True)
        for source in ("paper", "selected")
        for method, value in {**seconds, "bmn-plain": factor}.items()
    ]


@pytest.mark.parametrize(
    ("bmn", "nlr", "expected"),
    [
        ((6.0, 20.0), 1.0, [YES, YES, YES, YES]),
        ((0.5, 2.0), 0.1, [REMARK, YES, YES, NO]),
        ((2.0, 0.5), 2.0, [NO, NO, NO, YES]),
    ],
)
def test_timing_verdicts_follow_the_ratios(bmn, nlr, expected):
    assert verdicts(timing, timing_rows(bmn, nlr)) == expected


def test_plg_in_r_is_charged_with_its_design():
    rows = [{**row, "design_seconds": 3.0 if row["method"] == "plg" else 0.0} for row in timing_rows((2.0, 8.0))]
    rows += [{**row, "method": "plg-glmnet"} for row in rows if row["method"] == "plg"]
    times = timing.times_of(pd.DataFrame(rows))
    assert timing.ratios_of(times, "bmn-plain", "plg-glmnet").loc[25, "paper"] == pytest.approx(8.0 / (1.0 + 3.0))
    assert timing.ratios_of(times, "bmn-plain", "plg").loc[25, "paper"] == pytest.approx(8.0)
    assert timing.facts(pd.DataFrame(rows))["plg"] == "plg-glmnet"


@pytest.mark.parametrize(("bmn", "off"), [((0.03, 5.0), 1.0), ((0.06, 5.0), 2.0), ((0.03, 18.0), 3.0)])
def test_bmn_is_compared_with_the_times_of_the_r_package(bmn, off):
    rows = timing_rows(bmn)
    assert timing.calibration(pd.DataFrame(rows))["off"].max() == pytest.approx(off)
    words = "within that range" if off == 1 else f"outside that range by a factor of at most {off:.0f}"
    assert words in text_of(timing, rows)


def test_growth_is_also_told_without_the_fits_that_had_no_end():
    rows = timing_rows((2.0, 8.0))
    assert "ran out of steps" not in text_of(timing, rows)
    stuck = [{**row, "trial": 1, "converged": row["method"] != "bmn-plain"} for row in timing_rows((900.0, 900.0))]
    found = text_of(timing, rows + stuck)
    assert (
        "Without the 4 fits in which BMN ran out of steps, for BMN (plain NumPy): 2, 8 (the paper's λ); 2, 8" in found
    )


def epsilon_rows(scale=1.0, excess=1e-8, bmn=1e-3, rising=True, other=0, wrong=None):
    return [
        {
            **{"p": p, "P": P, "trial": 0, "source": source, "eps": scale * value, "bmn": bmn},
            **{"excess_plg": excess, "excess_bmn": 0.0, "bmn_converged": True},
            **{"other_edges_plg": other, "other_edges_bmn": 0},
            **{f"plg_{t:.0e}": wrong or p * t**0.5 for t in epsilon.PLG_THRESHOLDS},
            **{f"plg_passes_{t:.0e}": round(-10 * np.log10(t)) for t in epsilon.PLG_THRESHOLDS},
            **{f"bmn_{t:.0e}": t for t in epsilon.BMN_TOLERANCES},
            **{f"bmn_steps_{t:.0e}": round(-50 * np.log10(t)) for t in epsilon.BMN_TOLERANCES},
            **dict.fromkeys(("objective", "objective_plg", "objective_bmn"), 3.0),
        }
        for source in ("paper", "selected")
        for p in (5, 25)
        for P in printed.PROBABILITIES
        for value in [printed.GRID.at[(p if rising else 30 - p, P), "epsilon"]]
    ]


def test_epsilon_verdicts_follow_the_numbers():
    near = (5 * 25) ** 0.5 * 1e-7**0.5  # the geometric mean of PLG's distances with the default threshold
    assert verdicts(epsilon, epsilon_rows(bmn=1.01 * near)) == [YES, YES, YES, YES, YES]
    assert verdicts(epsilon, epsilon_rows(bmn=near / 1.9, scale=10.0, excess=1e-4)) == [NO, REMARK, YES, YES, REMARK]
    assert verdicts(epsilon, epsilon_rows(bmn=near / 2.1))[-1] == NO
    assert verdicts(epsilon, epsilon_rows(bmn=near, other=1))[-1] == NO
    assert verdicts(epsilon, epsilon_rows(excess=0.1, rising=False, wrong=1e-2))[1:] == [NO, NO, NO, NO]


def test_price_of_losing_no_accuracy_is_counted_in_passes():
    near = (5 * 25) ** 0.5 * 1e-8**0.5
    rows = pd.DataFrame(epsilon_rows(bmn=1.01 * near))
    assert epsilon.sufficient_threshold(rows) == 1e-8
    assert epsilon.passes_factor(rows, 1e-8) == pytest.approx(80 / 70)
    assert "it needs a threshold of 1e-08, which takes 1.1 times the passes" in text_of(epsilon, rows)
    assert epsilon.sufficient_threshold(pd.DataFrame(epsilon_rows(bmn=1e-12))) is None
    assert "No threshold down to 1e-14 brings it as close" in text_of(epsilon, epsilon_rows(bmn=1e-12))
    for p in (5, 25):  # the distance is p times the root of the threshold
        assert epsilon.threshold_for(rows, p, 1e-4) == pytest.approx((1e-4 / p) ** 2)


def test_fits_in_which_bmn_stopped_too_early_count_for_plg_alone():
    rows = epsilon_rows()
    rows[0] |= {"bmn_converged": False, "plg_1e-07": 1.0, "bmn": 1.0}
    means = epsilon.means_of(pd.DataFrame(rows), ["p"])
    assert means.loc[5, "plg_1e-07"] > 0.25
    assert means.loc[5, "bmn"] == pytest.approx(1e-3)
    text = text_of(epsilon, [{**row, "bmn_cycles": not row["bmn_converged"]} for row in rows])
    assert "In 1 of 16 fits BMN ran out of its 10000 steps, in 1 of them because it alternated" in text
    assert "glmnet in R was not installed" in text
    found = epsilon.facts(pd.DataFrame(rows))
    assert found["powers"] == {"plg": pytest.approx(0.5, abs=0.02), "bmn": pytest.approx(1.0)}


def lambda_rows(factor, half=0.5):
    rows = []
    for (p, P), value in lambdas.paper_lambda().items():
        common = {"p": p, "P": P, "trial": 0, "B": 20, "instability_at_paper": 0.3}
        for b, scale in ((316, factor), (800, 1.0)):
            chosen = {f"beta_{beta}": scale * value * (1 + abs(beta - 0.05)) for beta in lambdas.BETAS}
            rows.append({**common, "method": "joint", "b": b, **chosen})
        for rule in ("and", "or"):
            rows.append({**common, "method": f"nodewise-{rule}", "b": 316, "beta_0.05": half * factor * value})
    return rows


def test_lambda_verdicts_and_the_nearest_setting():
    assert verdicts(lambdas, lambda_rows(1.1)) == [YES, YES]
    assert verdicts(lambdas, lambda_rows(4.0, half=0.7)) == [REMARK, REMARK]
    found = lambdas.facts(pd.DataFrame(lambda_rows(4.0)))
    assert (found["nearest"]["b"], found["nearest"]["beta"]) == (800, 0.05)
    assert found["standard"].distance == pytest.approx(np.log(4.0))
    assert found["standard"].ratio == pytest.approx(4.0)
    assert found["odd"].tolist() == [0.01408, 0.012]  # not whole multiples of 0.0009/20, as the others are


def test_number_of_subsamples_is_compared_on_the_same_tables():
    rows = lambda_rows(1.1)
    assert lambdas.subsample_ratios(pd.DataFrame(rows)) == {}
    few = [row for row in rows if (row["method"], row["b"], row["p"]) == ("joint", 316, 5)]
    rows += [
        {**row, "B": 100, "beta_0.05": factor * row["beta_0.05"]} for row, factor in zip(few, (1, 1, 2, 8), strict=True)
    ]
    found = lambdas.subsample_ratios(pd.DataFrame(rows))
    assert {b: ratios.round(9).tolist() for b, ratios in found.items()} == {316: [1, 1, 2, 8]}
    assert "a geometric mean of 2.000 for b = 316 (between 1.00 and 8.00, 4 tables)." in text_of(lambdas, rows)


def test_settings_that_end_at_the_grid_are_marked():
    rows = lambda_rows(1.1)
    cells = [row for row in rows if (row["method"], row["b"]) == ("joint", 316)]
    for row in cells[:3]:
        row["beta_0.3"] = float(lambdas.GRID[-1])
    for row in cells[:2]:
        row["beta_0.25"] = float(lambdas.GRID[0])
    found = lambdas.scan(pd.DataFrame(rows)).loc[20, 316]
    assert found.loc[0.3, ["ends", "choices"]].tolist() == [3, 20]
    shown = lambdas.facts(pd.DataFrame(rows))["distances"].loc["b = 316, B = 20"]
    assert shown[0.3].endswith("*")
    assert not shown[0.25].endswith("*")  # a tenth is not more than a tenth


def test_exact_verdict_follows_the_errors():
    rows = [
        {"p": 5, "N": 100, "trial": 0, "method": m, "error": e, "auc": 0.5, "f1": 0.5, "from_exact": 0.0}
        for m, e in (("exact", 1.0), ("isinglass", 1.2), ("isinglass-nodewise", 1.0))
    ]
    assert verdicts(exact, rows) == [REMARK]
    rows[1]["error"] = 1.01
    assert verdicts(exact, rows) == [YES]
    rows[1]["error"] = 1.3
    assert verdicts(exact, rows) == [NO]


def scaling_rows(plg, sizes=(100, 300, 1000, 3000)):
    common = {"trial": 0, "N": 1000, "lambda": 0.03, "limit_seconds": 60.0, "limit_gb": 8.0, "n_edges": 10}
    return [
        {"method": m, "p": p, "reason": None if p <= top else "memory: much", **common}
        | {"seconds": 1.0 if p <= top else None, "peak_mb": 1.0}
        for m, top in (("isinglass", 3000), ("plg", plg))
        for p in sizes
    ]


def test_scaling_verdict_follows_the_sizes_reached():
    assert verdicts(scaling, scaling_rows(300)) == [REMARK]
    assert verdicts(scaling, scaling_rows(300, sizes=(100, 300))) == [YES]
    assert verdicts(scaling, scaling_rows(50)) == [NO]
    text = text_of(scaling, scaling_rows(300))
    assert "manages p = 300 within the limits and stops at p = 1000 (memory: much); isinglass manages p = 3000." in text
    assert "stops at" not in text_of(scaling, scaling_rows(3000))


@pytest.mark.parametrize(("plg", "crosses"), [(300, 2), (3000, 0)])
def test_scaling_figure_has_a_cross_where_a_method_was_stopped(plg, crosses):
    axes = scaling.draw(pd.DataFrame(scaling_rows(plg))).axes[0]
    assert sum(line.get_marker() in "x+" for line in axes.lines) == crosses
