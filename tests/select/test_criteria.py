import numpy as np
import pytest
from choices import cross_validate, select_ebic

from isinglass import EBIC, CrossValidation, Method, PerNode, StARS, simulate
from isinglass.errors import ConstantColumnWarning, DataError
from isinglass.select import Run, compare_criteria, ebic

GRID = [0.2, 0.1, 0.05, 0.02, 0.01, 0.0]


@pytest.fixture(scope="module")
def table():
    return simulate.exact_sample(simulate.chain_network(6, strength=1.5, fields="balanced"), 300, random_state=3)


def test_rows_are_the_choices(table):
    methods = {f"γ={gamma}": EBIC(GRID, gamma=gamma) for gamma in (0.0, 0.25, 0.5)}
    methods |= {rule: CrossValidation(GRID, n_folds=5, rule=rule) for rule in ("best", "1se")}
    found = compare_criteria(table, methods, n_folds=5)
    cv = cross_validate(table, alphas=GRID, n_folds=5, random_state=0)
    numbers = [select_ebic(table, alphas=GRID, gamma=gamma).index for gamma in (0.0, 0.25, 0.5)]
    numbers += [cv.best("best"), cv.best("1se")]
    assert list(found) == ["criterion", "alpha", "edges", "positive_edges", "ebic", "held_out"]
    assert found["criterion"].tolist() == list(methods)
    assert found["alpha"].tolist() == cv.path.alphas[numbers].tolist()
    assert found["edges"].tolist() == [cv.path[k].n_edges for k in numbers]
    assert found["positive_edges"].tolist() == [int((cv.path[k].edge_values > 0).sum()) for k in numbers]
    np.testing.assert_allclose(found["ebic"], ebic(table, cv.path)[numbers])
    np.testing.assert_allclose(found["held_out"], cv.mean[numbers], rtol=1e-6)  # of the same folds


def test_every_method_gets_a_row(table):
    methods = {"mine": 0.05, "IsingFit": Method("nodewise", PerNode(), penalty_weights="standardized")}
    found = compare_criteria(table, methods, n_folds=3)
    np.testing.assert_array_equal(found["alpha"], [0.05, np.nan])
    assert np.isfinite(found["held_out"]).all()
    by_default = compare_criteria(table, n_folds=3)
    assert by_default["criterion"].tolist() == ["two-stage", "EBIC", "CV best", "CV 1se"]


def test_constant_columns_are_named_once(table):
    with pytest.warns(ConstantColumnWarning, match=r"column 6 \(always 1\) is constant") as caught:
        compare_criteria(np.column_stack([table, np.ones(len(table), int)]), n_folds=3)
    assert len([warning for warning in caught if warning.category is ConstantColumnWarning]) == 1


@pytest.mark.filterwarnings("ignore::isinglass.errors.IsinglassWarning")
def test_the_default_criteria_have_the_folds_of_the_comparison(table):
    found = compare_criteria(table[:8], n_folds=3)
    assert len(found["criterion"]) == 4


def test_weights_count_rows(table):
    weight = np.arange(len(table)) % 3
    repeated = np.repeat(table, weight, axis=0)
    one, two = (compare_criteria(X, {"mine": 0.05}, sample_weight=w) for X, w in ((table, weight), (repeated, None)))
    assert one["ebic"] == pytest.approx(two["ebic"], rel=1e-9)
    assert one["held_out"] == pytest.approx(two["held_out"], rel=0.02)  # other folds of the same rows


@pytest.mark.filterwarnings("ignore::isinglass.errors.FewColumnsWarning")
def test_identical_bits_for_any_number_of_jobs(table):
    methods = {"StARS": StARS(10, n_subsamples=4, threshold=0.2), "CV": CrossValidation(10, n_folds=3)}
    runs = [compare_criteria(table, methods, n_folds=3, run=Run(n_jobs=n)) for n in (1, 2)]
    assert runs[0]["held_out"].tobytes() == runs[1]["held_out"].tobytes()


def test_functions_and_lists_are_refused(table):
    for wrong in ([EBIC()], {}):
        with pytest.raises(DataError, match="methods must be a dict of one or more methods by name; got"):
            compare_criteria(table, wrong)
    with pytest.raises(DataError, match="method must be a Method"):
        compare_criteria(table, {"mine": lambda X: Method().choose(X).solution})
