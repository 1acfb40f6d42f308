"""The logistic lasso path: optimality, independent solvers, and glmnet itself where R has it."""

import shutil
import subprocess
import warnings

import numpy as np
import oracles
import pytest
import reference
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from isinglass.errors import DataError
from paper.published.glm import GlmPath, logistic_path
from paper.published.stacked import stacked_design

TIGHT = {"thresh": 1e-16}


def regression(seed=0, n=120, q=8, density=0.5):
    """A small sparse design whose columns have different means and sizes, and a 0/1 response."""
    rng = np.random.default_rng(seed)
    design = rng.normal(1.0, 1.0, (n, q)) * (rng.random((n, q)) < density) * np.linspace(0.5, 2.0, q)
    eta = design[:, 0] - 1.5 * design[:, 1] + 0.3
    return design, (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(float)


def violation(design, y, b, b0, penalty, weight=None):
    """Largest violation of the optimality conditions, the intercept's included."""
    weight = np.full(len(y), 1 / len(y)) if weight is None else weight / weight.sum()
    r = weight * (1 / (1 + np.exp(-(design @ b + b0))) - y)
    g = design.T @ r
    at = np.where(b != 0, np.abs(g + penalty * np.sign(b)), np.maximum(np.abs(g) - penalty, 0))
    return at.max(), abs(r.sum())


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("standardize", [False, True])
def test_solutions_are_optimal(intercept, standardize):
    design, y = regression()
    path = logistic_path(design, y, [0.1, 0.03, 0.01], intercept=intercept, standardize=standardize, **TIGHT)
    assert path.converged.all()
    assert (path.n_iter >= path.n_outer).all()
    assert (path.n_outer >= 1).all()
    scale = design.std(axis=0) if standardize else 1.0
    for lam, b, b0, deviance in zip(path.lambdas, path.coefficients, path.intercepts, path.deviance, strict=True):
        edge, level = violation(design, y, b, b0, lam * scale * np.ones(8))
        assert edge < 1e-7
        assert level < 1e-7 if intercept else b0 == 0.0
        eta = design @ b + b0
        assert deviance == pytest.approx(2 * np.sum(np.logaddexp(0, eta) - y * eta), rel=1e-12)


@pytest.mark.parametrize("intercept", [False, True])
def test_equals_the_slow_twin(intercept):
    design, y = regression(1, q=5)
    factor = np.array([1.0, 0.0, 2.0, 0.5, 1.0])
    path = logistic_path(design, y, 0.02, penalty_factor=factor, rescale_factors=False, intercept=intercept, **TIGHT)
    b, b0 = reference.logistic_lasso(design, y, 0.02 * factor, intercept=intercept)
    np.testing.assert_allclose(path.coefficients[0], b, atol=1e-6)
    assert path.intercepts[0] == pytest.approx(b0, abs=1e-6)


def test_equals_scikit_learn():
    design, y = regression(2)
    lam = 0.02
    settings = {"solver": "saga", "fit_intercept": False, "tol": 1e-10, "max_iter": 100_000}
    model = LogisticRegression(penalty="l1", l1_ratio=1.0, C=1 / (len(y) * lam), **settings)
    with warnings.catch_warnings():  # old versions want the one parameter, new ones the other
        warnings.simplefilter("ignore")
        expected = model.fit(design, y).coef_[0]
    path = logistic_path(design, y, lam, intercept=False, **TIGHT)
    np.testing.assert_allclose(path.coefficients[0], expected, atol=1e-6)


def test_factors_are_rescaled_to_the_number_of_columns():
    design, y = regression(3, q=4)
    factor = np.array([1.0, 2.0, 0.0, 3.0])
    rescaled = logistic_path(design, y, 0.03, penalty_factor=factor, **TIGHT)
    plain = logistic_path(design, y, 0.03, penalty_factor=factor * 4 / 6, rescale_factors=False, **TIGHT)
    np.testing.assert_allclose(rescaled.coefficients, plain.coefficients, rtol=1e-12)


def test_a_column_of_factor_zero_is_always_free():
    design, y = regression(4)
    factor = np.ones(8)
    factor[5] = 0.0
    b = logistic_path(design, y, 10.0, penalty_factor=factor, rescale_factors=False, **TIGHT).coefficients[0]
    assert np.flatnonzero(b).tolist() == [5]


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("standardize", [False, True])
def test_dense_equals_sparse(intercept, standardize):
    design, y = regression(5)
    options = {"intercept": intercept, "standardize": standardize}
    dense = logistic_path(design, y, [0.05, 0.01], **options)
    for kind in (sp.csc_array, sp.csr_array, sp.csc_matrix, sp.coo_array):
        sparse = logistic_path(kind(design), y, [0.05, 0.01], **options)
        np.testing.assert_allclose(sparse.coefficients, dense.coefficients, rtol=1e-9, atol=1e-12)
        assert sparse.n_iter.tolist() == dense.n_iter.tolist()


def test_designs_of_ones_take_the_short_way_to_the_same_place():
    design, y = regression(6)
    ones = (design != 0).astype(float)
    short = logistic_path(sp.csc_array(ones), y, 0.01)
    np.testing.assert_allclose(short.coefficients, logistic_path(ones, y, 0.01).coefficients, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("standardize", [False, True])
def test_weights_equal_repeated_rows(standardize):
    design, y = regression(7)
    weight = np.random.default_rng(7).integers(0, 4, len(y))
    weighted = logistic_path(design, y, 0.02, sample_weight=weight, standardize=standardize, **TIGHT)
    repeated = logistic_path(
        np.repeat(design, weight, axis=0), np.repeat(y, weight), 0.02, standardize=standardize, **TIGHT
    )
    np.testing.assert_allclose(weighted.coefficients, repeated.coefficients, atol=1e-9)
    np.testing.assert_allclose(weighted.intercepts, repeated.intercepts, atol=1e-9)
    assert weighted.deviance[0] == pytest.approx(repeated.deviance[0], rel=1e-10)


def test_screening_changes_nothing_and_screens():
    design, y = stacked_design(oracles.cases()[4].X)
    q, p = design.shape[1], 15
    factor = np.r_[np.ones(q - p), np.zeros(p)]
    lambdas = np.geomspace(0.004, 0.001, 5)
    on, off = (
        logistic_path(design, y, lambdas, penalty_factor=factor, intercept=False, screen=screen, thresh=1e-13)
        for screen in (True, False)
    )
    np.testing.assert_allclose(on.coefficients, off.coefficients, atol=1e-5)
    assert (on.n_strong < q).all()
    assert (off.n_strong == q).all()


def test_screening_is_repaired():
    # The first lambda has no predecessor: the rule keeps columns above 2 lambda only, and drops needed ones.
    design, y = regression(8, q=30)
    path = logistic_path(design, y, 0.02, **TIGHT)
    slopes = np.abs((design - design.mean(axis=0)).T @ (y - y.mean())) / len(y)
    assert ((slopes <= 0.04) & (path.coefficients[0] != 0)).any()
    assert violation(design, y, path.coefficients[0], path.intercepts[0], 0.02)[0] < 1e-7


def test_a_path_equals_its_single_solutions():
    design, y = regression(9)
    path = logistic_path(design, y, [0.01, 0.1, 0.03], **TIGHT)
    assert path.lambdas.tolist() == [0.1, 0.03, 0.01]
    for lam, b in zip(path.lambdas, path.coefficients, strict=True):
        np.testing.assert_allclose(logistic_path(design, y, lam, **TIGHT).coefficients[0], b, atol=1e-7)


def test_constant_and_empty_columns_get_zero():
    design, y = regression(10, q=3)
    wide = np.column_stack([design, np.full(len(y), 0.1), np.zeros(len(y))])
    path = logistic_path(wide, y, 0.01, penalty_factor=[1, 1, 1, 0, 0], rescale_factors=False)
    assert path.coefficients[0, 3:].tolist() == [0.0, 0.0]
    without = logistic_path(wide, y, 0.01, intercept=False)
    assert without.coefficients[0, 3:].tolist()[1] == 0.0


def test_separable_rows_saturate_without_overflow():
    x = np.linspace(-1, 1, 20)[:, None]
    path = logistic_path(x, (x[:, 0] > 0).astype(float), [0.1, 1e-6, 0.0], max_iter=2000)
    assert np.isfinite(path.coefficients).all()
    assert path.converged[0]


def test_passes_run_out():
    design, y = regression(11)
    path = logistic_path(design, y, [0.05, 0.001], max_iter=3, thresh=1e-15)
    assert not path.converged.any()
    assert path.n_iter.sum() <= 5


def test_results_are_frozen():
    design, y = regression(12)
    path = logistic_path(design, y, [0.05, 0.01])
    assert isinstance(path, GlmPath)
    assert len(path) == 2
    assert "2 of 2 converged" in repr(path)
    with pytest.raises(ValueError, match="read-only"):
        path.coefficients[0, 0] = 1.0


BAD = [
    ({"design": [1.0, 2.0]}, "design must have at least one row and one column"),
    ({"design": [["a"], ["b"]]}, "design must hold numbers"),
    ({"design": [[np.nan], [1.0]]}, "design must be finite; got .*nan"),
    ({"response": [0.0]}, "response must have one value per row"),
    ({"response": [0.0, 2.0]}, "response must be between 0 and 1; got 2.0"),
    ({"response": [1.0, 1.0]}, "response must take more than one value"),
    ({"lambdas": []}, "lambdas must be a number or a list of numbers"),
    ({"lambdas": [-1.0]}, "lambdas must be finite and not negative; got -1.0"),
    ({"penalty_factor": [1.0, 1.0]}, "penalty_factor must have one value per column"),
    ({"penalty_factor": [-1.0]}, "penalty_factor must be finite and not negative"),
    ({"penalty_factor": [0.0]}, "penalty_factor must not be 0 everywhere"),
    ({"sample_weight": [0.0, 0.0]}, "row weights must have a positive sum"),
    ({"thresh": 0.0}, "thresh must be a positive number; got 0.0"),
    ({"max_iter": 0}, "max_iter must be an integer of at least 1; got 0"),
    ({"min_probability": 0.5}, "min_probability must be between 0 and 0.5"),
]


@pytest.mark.parametrize(("change", "message"), BAD)
def test_bad_input_is_named(change, message):
    arguments = {"design": [[0.0], [1.0]], "response": [0.0, 1.0], "lambdas": 0.1, **change}
    with pytest.raises(DataError, match=message):
        logistic_path(**arguments)


# ---------------------------------------------------------------- glmnet itself

SCRIPT = """
suppressMessages(library(glmnet))
x <- as.matrix(read.csv("{folder}/x.csv", header = FALSE)); y <- scan("{folder}/y.csv", quiet = TRUE)
w <- scan("{folder}/w.csv", quiet = TRUE); f <- scan("{folder}/f.csv", quiet = TRUE)
fit <- glmnet(Matrix(x, sparse = TRUE), y, family = "binomial", weights = w, lambda = c({lambdas}), penalty.factor = f,
              intercept = {intercept}, standardize = {standardize}, thresh = {thresh})
write.table(format(rbind(fit$a0, as.matrix(fit$beta)), digits = 17), "{folder}/b.csv", quote = FALSE,
            row.names = FALSE, col.names = FALSE)
cat(fit$npasses)
"""


@pytest.fixture(scope="module")
def rscript():
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("Rscript is not installed: no glmnet to compare with")
    probe = subprocess.run([program, "-e", "library(glmnet)"], capture_output=True, check=False)
    if probe.returncode:
        pytest.skip("R is installed without glmnet")
    return program


def run_glmnet(rscript, folder, design, y, weight, factor, **options):
    for name, values in (("x", design), ("y", y), ("w", weight), ("f", factor)):
        np.savetxt(folder / f"{name}.csv", values, delimiter="," if np.ndim(values) == 2 else " ", fmt="%.17g")
    (folder / "fit.R").write_text(SCRIPT.format(folder=folder, **options))
    done = subprocess.run([rscript, folder / "fit.R"], capture_output=True, text=True, check=True)
    return np.loadtxt(folder / "b.csv", ndmin=2), int(done.stdout)


@pytest.mark.parametrize(
    ("intercept", "standardize"),
    [(True, True), *(pytest.param(*each, marks=pytest.mark.long) for each in ((False, True), (True, False)))],
)
def test_equals_glmnet_pass_by_pass(rscript, tmp_path, intercept, standardize):
    design, y = regression(13)
    weight, factor = 1.0 + np.arange(len(y)) % 3, np.array([1.0, 0.5, 0.0, 2.0, 1.0, 1.0, 1.0, 1.0])
    settings = {"intercept": str(intercept).upper(), "standardize": str(standardize).upper()}
    expected, passes = run_glmnet(
        rscript, tmp_path, design, y, weight, factor, lambdas="0.05, 0.02, 0.01", thresh="1e-7", **settings
    )
    path = logistic_path(
        sp.csc_array(design),
        y,
        [0.05, 0.02, 0.01],
        sample_weight=weight,
        penalty_factor=factor,
        intercept=intercept,
        standardize=standardize,
    )
    np.testing.assert_allclose(path.coefficients.T, expected[1:], atol=1e-10)
    np.testing.assert_allclose(path.intercepts, expected[0], atol=1e-10)
    assert path.n_iter.sum() == passes


def test_equals_glmnet_on_a_stacked_design(rscript, tmp_path):
    case = oracles.cases()[0]
    design, y = stacked_design(case.X)
    p = case.X.shape[1]
    factor = np.r_[np.ones(p * (p - 1) // 2), np.zeros(p)]
    lam = case.alpha * (p - 1) / (p * (p + 1))
    expected, passes = run_glmnet(
        *(rscript, tmp_path, design.toarray(), y, np.ones(len(y)), factor),
        **{"lambdas": repr(lam), "thresh": "1e-7", "intercept": "FALSE", "standardize": "FALSE"},
    )
    path = logistic_path(design, y, lam, penalty_factor=factor, intercept=False)
    np.testing.assert_allclose(path.coefficients[0], expected[1:, 0], atol=1e-10)
    assert path.n_iter[0] == passes
